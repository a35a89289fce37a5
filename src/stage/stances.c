// Stances: what one foot does on a surface between landing and leaving, and where on the stage that is.
#include "stage/footing.h"

#include <stdlib.h>

// ------------------------------------------------------------------------------------------------- finding

static int by_first_frame( const void *a, const void *b )
{
    const tr_rule *p = *(const tr_rule *const *)a, *q = *(const tr_rule *const *)b;
    if ( p->first != q->first )
        return p->first < q->first ? -1 : 1;
    return p < q ? -1 : p > q;
}

static bool goes_on( const tr_stage *stage, const tr_stance *s, const tr_rule *rule, bool of_footing )
{
    bool overlap = rule->first <= s->last,
         soon = rule->first - s->last - 1 <= stage->def.footings.one_stance * stage->fps;
    bool same = rule->floor == s->on->floor || ( rule->obstacle >= 0 && rule->obstacle == s->on->obstacle );
    return overlap || ( soon && ( !of_footing || ( same && rule->constraint < 0 ) ) );
}

int tr_stances_find( const tr_stage *stage, tr_rule **rules, int count, bool of_footing, tr_stance *stances )
{
    int found = 0;
    if ( count > 0 )
        qsort( rules, (size_t)count, sizeof *rules, by_first_frame );
    for ( int r = 0; r < count; ++r ) {
        const tr_rule *rule = rules[r];
        tr_stance *s = found > 0 ? &stances[found - 1] : NULL;
        if ( s == NULL || !goes_on( stage, s, rule, of_footing ) ) {
            stances[found++] = ( tr_stance ){ rule->first, rule->last, r, 1, rule };
            continue;
        }
        s->rule_count++;
        if ( tr_rule_floor( stage, rule ) > tr_rule_floor( stage, s->on ) )
            s->on = rule;
        s->last = rule->last > s->last ? rule->last : s->last;
    }
    return found;
}

static double ease_of( const tr_stage *stage, const tr_rule *rule, double asked )
{
    return rule->constraint >= 0 ? asked : ceil( stage->def.footings.longest_ease * stage->fps );
}

void tr_footing_stances( tr_footing_work *w )
{
    w->stance_count = tr_stances_find( w->stage, w->rules, w->rule_count, true, w->spans );
    for ( int i = 0; i < w->stance_count; ++i ) {
        const tr_stance *span = &w->spans[i];
        tr_rule *const *rules = w->rules + span->rule, *const *last = rules;
        for ( int r = 1; r < span->rule_count; ++r )
            last = rules[r]->last > ( *last )->last ? &rules[r] : last;
        w->stances[i] = ( tr_placed_stance ){ .span = *span,
                                              .ease_in = ease_of( w->stage, *rules, ( *rules )->ease_in ),
                                              .ease_out = ease_of( w->stage, *last, ( *last )->ease_out ) };
    }
    for ( int i = 1; i < w->stance_count; ++i ) { // no stance reaches into another
        tr_placed_stance *before = &w->stances[i - 1], *after = &w->stances[i];
        double gap = fmax( after->span.first - before->span.last - 1, 0 );
        before->ease_out = fmin( before->ease_out, gap );
        after->ease_in = fmin( after->ease_in, gap );
    }
}

// ------------------------------------------------------------------------------------------------- placing

// Its frames on the stage, or the nearest one where only its ease reaches onto it.
static void stance_frames( const tr_stage *stage, const tr_stance *span, int *first, int *last )
{
    tr_rule_frames( stage, &( tr_rule ){ .first = span->first, .last = span->last }, first, last );
}

// The ankle's mean place in the source; where nothing drives the ankle, that of the joints that touch.
static vec3 mean_place( const tr_footing_work *w, const tr_stance *span )
{
    const tr_stage *stage = w->stage;
    tr_anchor ankle = {
        .actor = w->actor, .prop = -1, .joints = { w->footing->joint }, .weights = { 1 }, .count = 1 };
    bool driven = stage->actors[w->actor].map[w->footing->joint] >= 0;
    int first, last;
    stance_frames( stage, span, &first, &last );
    vec3 sum = v3_zero;
    for ( int f = first; f <= last; ++f )
        sum = v3_add( sum, tr_anchor_source( stage, driven ? &ankle : &w->rules[span->rule]->a, f ) );
    return v3_scale( 1.0 / ( last - first + 1 ), sum );
}

// A foot of a body with another number of legs has its own place under that body: its place in the middle of
// the stance in the copied motion.
static vec3 copied_place( const tr_footing_work *w, const tr_stance *span )
{
    int first, last;
    stance_frames( w->stage, span, &first, &last );
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
static void foot_places( const tr_footing_work *w, const tr_stance *span, vec3 *lowest, vec3 *middle )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    int first, last;
    stance_frames( w->stage, span, &first, &last );
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
static vec3 find_floor( tr_footing_work *w, const tr_stance *span, vec3 c, vec3 landing )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    double rise = w->footing->rise, floor = tr_rule_floor( w->stage, span->on ), source = span->on->floor;
    vec3 onto = v3_zero, lowest, middle;
    if ( w->stage->scene->obstacle_count == 0 )
        return onto;
    if ( tr_footing_is_foot( w ) ) {
        foot_places( w, span, &lowest, &middle );
        source = tr_foot_source_floor( w->stage, span->on, source, lowest );
        onto.y =
            tr_foot_climb( w->stage, actor, span->on, floor, v3_mad( landing, rise, v3_sub( middle, c ) ) );
    } else
        onto = tr_hand_onto( w->stage, actor, span->on,
                             v3( landing.x, floor + rise * ( c.y - source ), landing.z ) );
    for ( int r = span->rule; r < span->rule + span->rule_count; ++r ) {
        w->rules[r]->onto = onto;
        w->rules[r]->floor = source;
    }
    return onto;
}

void tr_stance_put( tr_footing_work *w, tr_placed_stance *s )
{
    const tr_rule *on = s->span.on;
    double rise = w->footing->rise;
    vec3 c = mean_place( w, &s->span );
    vec3 landing =
        w->copied.frame_count > 0 ? copied_place( w, &s->span ) : tr_rule_landing( w->stage, on, c );
    s->shift = v3_mad( v3_add( landing, find_floor( w, &s->span, c, landing ) ), -rise, c );
    tr_sole sole =
        w->held_by >= 0 ? tr_actor_sole( &w->stage->actors[w->actor], w->held_by ) : ( tr_sole ){ 0 };
    double floor = tr_rule_floor( w->stage, on ), ground = w->stage->ground;
    s->onto = on->onto.y;
    s->shift.y = floor - s->onto + sole.target - rise * ( on->floor + sole.source );
    s->lift = floor - ground - w->stage->actors[w->actor].leg_ratio * ( on->floor - ground );
}

// ------------------------------------------------------------------------------------------------- climbing

// Whether the middle of the foot is over a box that is at least that much higher than the floor of the
// stance.
static bool is_over_step( const tr_footing_work *w, const tr_placed_stance *from, double step, int frame )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    tr_stance moment = { .first = frame, .last = frame };
    vec3 lowest, middle;
    foot_places( w, &moment, &lowest, &middle );
    double floor = tr_rule_floor( w->stage, from->span.on ) - from->onto;
    vec3 place = v3_mad( w->footing->shift[frame], w->footing->rise, middle );
    const double rounding = 1e-6; // metres, more than sums of heights lose
    return tr_foot_climb( w->stage, actor, from->span.on, floor, place ) >= step - rounding;
}

// A foot is up before it is over the box and comes down after it has left the box. It rises and sinks only
// between stances, in `climb_time` if the swing is that long. A stance may lie outside the stage, with only
// its ease on it.
static void climb( tr_footing_work *w, const tr_placed_stance *from, const tr_placed_stance *to )
{
    double swing = to->span.first - from->span.last,
           time = fmin( ceil( w->stage->def.footings.climb_time * w->stage->fps ), swing );
    bool up = to->onto > from->onto;
    const tr_placed_stance *low = up ? from : to;
    double step = fmax( from->onto, to->onto ) - low->onto,
           begin = up ? to->span.first - time : from->span.last;
    int first = from->span.last + 1 > 0 ? from->span.last + 1 : 0,
        end = to->span.first < w->stage->frame_count ? to->span.first : w->stage->frame_count;
    for ( int f = first; f < end; ++f )
        if ( is_over_step( w, low, step, f ) ) {
            begin = up ? f - time : f;
            if ( up )
                break;
        }
    begin = clampd( begin, from->span.last, to->span.first - time );
    for ( int f = first; f < end; ++f ) {
        double share = smooth_step5( ( f - begin ) / fmax( time, 1 ) );
        w->footing->shift[f].y += from->onto + share * ( to->onto - from->onto );
    }
}

void tr_stances_climb( tr_footing_work *w )
{
    for ( int i = 0; i < w->stance_count; ++i ) {
        const tr_placed_stance *s = &w->stances[i], *next = i + 1 < w->stance_count ? s + 1 : NULL;
        int first = i == 0 ? 0 : s->span.first,
            last = next == NULL ? w->stage->frame_count - 1 : s->span.last;
        for ( int f = first; f <= last; ++f )
            w->footing->shift[f].y += s->onto;
        if ( next != NULL && ( s->onto != 0 || next->onto != 0 ) )
            climb( w, s, next );
    }
}
