// Stances: what one foot does on a surface between landing and leaving, and where on the stage that is.
#include "stage/footing.h"

#include <stdlib.h>

#define LONGEST_EASE 0.8 // seconds in which a foot comes from its copied path into a stance, or leaves it
#define HARDLY_LEFT  0.1 // seconds between contacts that are one stance
#define CLIMB_TIME   0.3 // seconds in which a foot is lifted onto a box, or let down

static int by_first_frame( const void *a, const void *b )
{
    const tr_rule *p = *(const tr_rule *const *)a, *q = *(const tr_rule *const *)b;
    if ( p->first != q->first )
        return p->first < q->first ? -1 : 1;
    return p < q ? -1 : p > q;
}

static double ease_of( const tr_footing_work *w, const tr_rule *rule, double asked )
{
    return rule->constraint >= 0 ? asked : ceil( LONGEST_EASE * w->stage->fps );
}

static void begin_stance( tr_footing_work *w, int r )
{
    const tr_rule *rule = w->rules[r];
    w->stances[w->stance_count++] = ( tr_stance ){ .first = rule->first,
                                                   .last = rule->last,
                                                   .ease_in = ease_of( w, rule, rule->ease_in ),
                                                   .ease_out = ease_of( w, rule, rule->ease_out ),
                                                   .floor = rule->floor,
                                                   .on = rule,
                                                   .rule = r,
                                                   .rule_count = 1 };
}

static bool goes_on( const tr_footing_work *w, const tr_stance *s, const tr_rule *rule )
{
    bool overlap = rule->first <= s->last, soon = rule->first - s->last - 1 <= HARDLY_LEFT * w->stage->fps;
    bool same = rule->floor == s->floor || ( rule->obstacle >= 0 && rule->obstacle == s->on->obstacle );
    return overlap || ( soon && same && rule->constraint < 0 );
}

void tr_stances_find( tr_footing_work *w )
{
    qsort( w->rules, (size_t)w->rule_count, sizeof *w->rules, by_first_frame );
    for ( int r = 0; r < w->rule_count; ++r ) {
        const tr_rule *rule = w->rules[r];
        tr_stance *s = w->stance_count > 0 ? &w->stances[w->stance_count - 1] : NULL;
        if ( s == NULL || !goes_on( w, s, rule ) ) {
            begin_stance( w, r );
            continue;
        }
        s->rule_count++;
        if ( tr_rule_floor( w->stage, rule ) > tr_rule_floor( w->stage, s->on ) ) { // partly on a step: on it
            s->floor = rule->floor;
            s->on = rule;
        }
        if ( rule->last > s->last ) {
            s->last = rule->last;
            s->ease_out = ease_of( w, rule, rule->ease_out );
        }
    }
    for ( int i = 1; i < w->stance_count; ++i ) { // no stance reaches into another
        tr_stance *before = &w->stances[i - 1], *after = &w->stances[i];
        double gap = fmax( after->first - before->last - 1, 0 );
        before->ease_out = fmin( before->ease_out, gap );
        after->ease_in = fmin( after->ease_in, gap );
    }
}

// The ankle's mean place in the source; where nothing drives the ankle, that of what touches.
static vec3 mean_place( const tr_footing_work *w, const tr_stance *s )
{
    const tr_stage *stage = w->stage;
    tr_anchor ankle = {
        .actor = w->actor, .prop = -1, .joints = { w->footing->joint }, .weights = { 1 }, .count = 1 };
    bool driven = stage->actors[w->actor].map[w->footing->joint] >= 0;
    tr_rule span = { .first = s->first, .last = s->last };
    int first, last;
    tr_rule_frames( stage, &span, &first, &last );
    vec3 sum = v3_zero;
    for ( int f = first; f <= last; ++f )
        sum = v3_add( sum, tr_anchor_source( stage, driven ? &ankle : &w->rules[s->rule]->a, f ) );
    return v3_scale( 1.0 / ( last - first + 1 ), sum );
}

// A foot of a body with another number of legs has its own place under that body: where it would be in the
// middle of the stance if it only copied the source's turns.
static vec3 copied_place( const tr_footing_work *w, const tr_stance *s )
{
    tr_rule span = { .first = s->first, .last = s->last };
    int first, last;
    tr_rule_frames( w->stage, &span, &first, &last );
    vec3 sum = v3_zero;
    for ( int f = first; f <= last; ++f )
        sum = v3_add( sum, tr_world_pose( &w->copied, f ).positions[w->footing->joint] );
    return v3_scale( 1.0 / ( last - first + 1 ), sum );
}

bool tr_footing_is_foot( const tr_footing_work *w )
{
    tr_role role = w->stage->actors[w->actor].target.joints[w->footing->joint].role;
    return role == TR_ROLE_FOOT || role == TR_ROLE_TOE;
}

// Mean places of the source's foot in a stance: the lowest of its joints, and the middle between the first
// and the last of them.
static void foot_places( const tr_footing_work *w, const tr_stance *s, vec3 *lowest, vec3 *middle )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    tr_rule span = { .first = s->first, .last = s->last };
    int first, last;
    tr_rule_frames( w->stage, &span, &first, &last );
    *lowest = *middle = v3_zero;
    for ( int f = first; f <= last; ++f ) {
        const vec3 *source = tr_world_pose( &actor->world, f ).positions;
        vec3 low = v3( 0, INFINITY, 0 ), begin = v3_zero, end = v3_zero;
        for ( int j = w->footing->joint; j < actor->target.joint_count; ++j ) {
            if ( actor->map[j] < 0 || tr_extremity_carrier( &actor->target, j ) != w->footing->joint )
                continue;
            end = tr_actor_source_place( actor, j, source );
            begin = isfinite( low.y ) ? begin : end;
            low = end.y < low.y ? end : low;
        }
        double share = 1.0 / ( last - first + 1 );
        *lowest = v3_mad( *lowest, share, isfinite( low.y ) ? low : end );
        *middle = v3_mad( *middle, share, v3_lerp( begin, end, 0.5 ) );
    }
}

// Brings the stance onto what is there: see surfaces.c.
static vec3 find_floor( const tr_footing_work *w, tr_stance *s, vec3 c, vec3 landing )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    double rise = w->footing->rise, floor = tr_rule_floor( w->stage, s->on );
    vec3 onto = v3_zero, lowest, middle;
    if ( w->stage->scene->obstacle_count == 0 )
        return onto;
    if ( tr_footing_is_foot( w ) ) {
        foot_places( w, s, &lowest, &middle );
        s->floor = tr_foot_source_floor( w->stage, s->on, s->floor, lowest );
        onto.y = tr_foot_climb( w->stage, actor, s->on, floor, v3_mad( landing, rise, v3_sub( middle, c ) ) );
    } else
        onto = tr_hand_onto( w->stage, actor, s->on,
                             v3( landing.x, floor + rise * ( c.y - s->floor ), landing.z ) );
    for ( int r = s->rule; r < s->rule + s->rule_count; ++r ) {
        w->rules[r]->onto = onto;
        w->rules[r]->floor = s->floor;
    }
    return onto;
}

void tr_stance_put( const tr_footing_work *w, tr_stance *s )
{
    double rise = w->footing->rise;
    vec3 c = mean_place( w, s );
    vec3 landing = w->copied.frame_count > 0 ? copied_place( w, s ) : tr_rule_landing( w->stage, s->on, c );
    s->shift = v3_mad( v3_add( landing, find_floor( w, s, c, landing ) ), -rise, c );
    tr_sole sole =
        w->held_by >= 0 ? tr_actor_sole( &w->stage->actors[w->actor], w->held_by ) : ( tr_sole ){ 0 };
    double floor = tr_rule_floor( w->stage, s->on ), ground = w->stage->ground;
    s->onto = s->on->onto.y;
    s->shift.y = floor - s->onto + sole.target - rise * ( s->floor + sole.source );
    s->lift = floor - ground - w->stage->actors[w->actor].leg_ratio * ( s->floor - ground );
}

// ------------------------------------------------------------------------------------------------- climbing

// Is the middle of the foot over a box that is at least that much higher than the floor of the stance?
static bool is_over_step( const tr_footing_work *w, const tr_stance *from, double step, int frame )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    tr_stance moment = { .first = frame, .last = frame };
    vec3 lowest, middle;
    foot_places( w, &moment, &lowest, &middle );
    double floor = tr_rule_floor( w->stage, from->on ) - from->onto;
    vec3 place = v3_mad( w->footing->shift[frame], w->footing->rise, middle );
    return tr_foot_climb( w->stage, actor, from->on, floor, place ) >= step - 1e-6;
}

// A foot is up when it comes over the box, and not down before it has left it; but it moves only between its
// stances, over CLIMB_TIME at least if there is so much. A stance of which only the ease is on the stage lies
// outside of it.
static void climb( const tr_footing_work *w, const tr_stance *from, const tr_stance *to )
{
    double swing = to->first - from->last, time = fmin( ceil( CLIMB_TIME * w->stage->fps ), swing );
    bool up = to->onto > from->onto;
    const tr_stance *low = up ? from : to;
    double step = fmax( from->onto, to->onto ) - low->onto, begin = up ? to->first - time : from->last;
    int first = from->last + 1 > 0 ? from->last + 1 : 0,
        end = to->first < w->stage->frame_count ? to->first : w->stage->frame_count;
    for ( int f = first; f < end; ++f )
        if ( is_over_step( w, low, step, f ) ) {
            begin = up ? f - time : f;
            if ( up )
                break;
        }
    begin = clampd( begin, from->last, to->first - time );
    for ( int f = first; f < end; ++f ) {
        double share = smooth_step5( ( f - begin ) / fmax( time, 1 ) );
        w->footing->shift[f].y += from->onto + share * ( to->onto - from->onto );
    }
}

void tr_stances_climb( const tr_footing_work *w )
{
    for ( int i = 0; i < w->stance_count; ++i ) {
        const tr_stance *s = &w->stances[i], *next = i + 1 < w->stance_count ? s + 1 : NULL;
        int first = i == 0 ? 0 : s->first, last = next == NULL ? w->stage->frame_count - 1 : s->last;
        for ( int f = first; f <= last; ++f )
            w->footing->shift[f].y += s->onto;
        if ( next != NULL && ( s->onto != 0 || next->onto != 0 ) )
            climb( w, s, next );
    }
}
