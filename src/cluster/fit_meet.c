// What moves after a fit: partners and props meet where everybody came to, feet and hands are lifted out of
// the ground, means of several joints and centres of mass are corrected by what they missed.
#include "cluster/fit.h"

#define AGREED       5e-4 // metres: links closer than this are met
#define DIP          1e-3 // metres: a foot this much deeper in the ground than the source's is lifted
#define NEAR         0.08 // of the body's height: hands nearer to the ground than this are lifted gradually
#define LEAST_CHANGE 0.25 // of how far ends are apart, by the way their place is moved
#define FOLLOWS      0.02 // metres: so near hands stay to a prop that they can follow
#define PATIENCE     2    // rounds in which they come nearer
#define NEARER       0.8  // of what was missing before: more is no progress
#define LEADS        0.1  // metres a place takes a meeting along in a round, at most
#define LIFT         1e-4 // metres: less is not worth a fit

static void mark_stale( const fitter *s, const tr_anchor *anchor, int frame )
{
    fit_body *body = fitter_body( s, anchor->actor );
    if ( body != NULL )
        body->stale[fitter_cell( s, frame )] = true;
}

// Where a rule is only fading in or out it is not meant to be met: what is missing there says nothing about
// reach.
static bool in_full( const tr_rule *rule, int frame )
{
    return rule->hard && frame >= rule->first && frame <= rule->last;
}

vec3 tr_fitter_half_way( const fitter *s, const tr_result *achieved, const tr_rule *rule, int frame,
                         vec3 *apart )
{
    vec3 a = tr_anchor_position( s->def.stage, achieved, &rule->a, frame );
    vec3 b = v3_add( tr_anchor_position( s->def.stage, achieved, &rule->b, frame ),
                     tr_rule_target( s->def.stage, achieved, rule, frame ) );
    *apart = tr_rule_masked( rule, v3_sub( a, b ) );
    return v3_lerp( a, b, 0.5 );
}

// Ends that both come to their place are met half way at once. Where one gives less than the other, half of
// what is missing remains each time: so how far the ends were apart before and after the place was moved by a
// step s tells how far to move it, by the secant −g s·s / (g′ − g)·s. Where moving it changes little, nobody
// gets there: half way is as good as it gets.
static vec3 secant( const fit_meeting *meeting, vec3 apart, vec3 half_way )
{
    double ss = v3_dot( meeting->step, meeting->step );
    double change = v3_dot( v3_sub( apart, meeting->apart ), meeting->step );
    if ( !( ss > 0 ) || !( fabs( change ) > LEAST_CHANGE * ss ) )
        return half_way;
    return v3_mad( meeting->place, -ss / change, apart );
}

// A place that is asked of somebody leads what that hand holds on to: both ends of the link could be there,
// and what the graphs agreed upon is as good as any other place. So the meeting goes along by what is
// missing, as long as the ends come after it and it helps. It is the link that is kept where they do not.
static bool lead_meeting( const fitter *s, const tr_rule *link, fit_meeting *meeting, vec3 missing,
                          int frame )
{
    vec3 apart;
    tr_fitter_half_way( s, s->def.result, link, frame, &apart );
    double far = v3_length( missing );
    if ( ( in_full( link, frame ) && v3_length( apart ) > FOLLOWS ) || meeting->waited >= PATIENCE )
        return false;
    meeting->waited += meeting->missed > 0 && far > NEARER * meeting->missed;
    meeting->missed = far;
    meeting->step = v3_scale( fmin( 1, LEADS / far ), missing );
    meeting->place = v3_add( meeting->place, meeting->step );
    meeting->apart = apart;
    meeting->led = true;
    mark_stale( s, &link->a, frame );
    mark_stale( s, &link->b, frame );
    return true;
}

// The links of whatever a place is asked for.
static bool lead_meetings( const fitter *s, const tr_rule *place, int frame )
{
    const tr_stage *stage = s->def.stage;
    bool led = false;
    vec3 missing =
        tr_rule_masked( place, v3_sub( tr_rule_target( stage, s->def.result, place, frame ),
                                       tr_anchor_position( stage, s->def.result, &place->a, frame ) ) );
    for ( int k = 0; v3_length( missing ) > AGREED && k < s->rule_count; ++k ) {
        const tr_rule *link = fitter_rule( s, k );
        if ( s->agreed[k] != NULL && tr_rule_strength( link, frame ) > 0 &&
             fitter_affects( s, link->a.actor, frame ) && fitter_affects( s, link->b.actor, frame ) &&
             tr_rule_holds( stage, link, place->a.actor, place->a.joints[0] ) )
            led = lead_meeting( s, link, &s->agreed[k][fitter_cell( s, frame )], missing, frame ) || led;
    }
    return led;
}

// Whoever is held with partners is where the hold had them already.
static bool follow_places( const fitter *s )
{
    bool led = false;
    for ( int k = 0; k < s->rule_count; ++k ) {
        const tr_rule *place = fitter_rule( s, k );
        bool asked = place->kind == TR_CONSTRAINT_ABSOLUTE && place->constraint >= 0 && !place->direction &&
                     place->a.actor >= 0 && !place->partners;
        for ( int f = s->from; asked && f <= s->to; ++f )
            if ( in_full( place, f ) && fitter_affects( s, place->a.actor, f ) )
                led = lead_meetings( s, place, f ) || led;
    }
    return led;
}

static bool meet_actors( const fitter *s, int k, int frame )
{
    const tr_rule *rule = fitter_rule( s, k );
    if ( !tr_rule_links_actors( rule ) || !in_full( rule, frame ) ||
         !fitter_affects( s, rule->a.actor, frame ) )
        return false;
    if ( s->agreed[k][fitter_cell( s, frame )].led ) {
        s->agreed[k][fitter_cell( s, frame )].led = false;
        return true;
    }
    vec3 apart, half_way = tr_fitter_half_way( s, s->def.result, rule, frame, &apart );
    if ( v3_length( apart ) <= AGREED )
        return false;
    fit_meeting *meeting = &s->agreed[k][fitter_cell( s, frame )];
    vec3 next = secant( meeting, apart, half_way );
    meeting->step = v3_sub( next, meeting->place );
    meeting->place = next;
    meeting->apart = apart;
    mark_stale( s, &rule->a, frame );
    mark_stale( s, &rule->b, frame );
    return true;
}

// What a rule asks of the prop it holds on to: how far the body's end is from where the prop has it.
static bool prop_pull( const fitter *s, const tr_rule *rule, int prop, int frame, vec3 *pull )
{
    const tr_stage *stage = s->def.stage;
    vec3 target = tr_rule_target( stage, s->def.result, rule, frame );
    vec3 a = tr_anchor_position( stage, s->def.result, &rule->a, frame );
    bool placed = rule->kind == TR_CONSTRAINT_ABSOLUTE || rule->kind == TR_CONSTRAINT_CONTACT;
    if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->surface_prop == prop )
        *pull = v3_sub( a, target );
    else if ( placed && rule->a.prop == prop )
        *pull = v3_sub( target, a );
    else if ( tr_rule_links( rule ) && ( rule->b.prop == prop || rule->a.prop == prop ) ) {
        vec3 b = v3_add( tr_anchor_position( stage, s->def.result, &rule->b, frame ), target );
        *pull = rule->b.prop == prop ? v3_sub( a, b ) : v3_sub( b, a );
    } else
        return false;
    *pull = tr_rule_masked( rule, *pull );
    return true;
}

typedef struct level_pull { // what rules of one priority that hold a prop fully ask of it
    vec3 sum;               // the farther off, the more it counts: who is there already follows
    double weight, most;
    int count;
} level_pull;

static void pull_prop( const fitter *s, const fit_prop *held, int frame, level_pull *levels )
{
    for ( int i = 0; i < held->rule_count; ++i ) {
        const tr_rule *rule = fitter_rule( s, held->rules[i] );
        level_pull *level = &levels[tr_rule_priority( rule )];
        vec3 pull;
        if ( !in_full( rule, frame ) || !prop_pull( s, rule, held->prop, frame, &pull ) )
            continue;
        double far = v3_length( pull );
        level->sum = v3_mad( level->sum, far, pull );
        level->weight += far;
        level->most = fmax( level->most, far );
        level->count++;
    }
}

static double most_above( const level_pull *levels, int level )
{
    double most = 0;
    for ( int l = level + 1; l < TR_FIT_PRIORITIES; ++l )
        most = fmax( most, levels[l].most );
    return most;
}

// The rules that lead a prop: the last in priority, and those before them follow, its place before its
// holders. Once these do not come after it, far off or not for some rounds, they lead. NULL: everybody
// agrees.
static const level_pull *leading_pull( const level_pull *levels, fit_lead *lead )
{
    for ( ; lead->level < TR_FIT_PRIORITIES; lead->level++, lead->waited = 0 ) {
        const level_pull *pull = &levels[lead->level];
        double above = most_above( levels, lead->level );
        if ( pull->count == 0 || above > FOLLOWS || ( above > AGREED && lead->waited >= PATIENCE ) )
            continue;
        lead->waited += above > AGREED;
        return above > AGREED || pull->most > AGREED ? pull : NULL;
    }
    lead->level = TR_FIT_PRIORITIES - 1;
    return NULL;
}

static bool meet_prop( const fitter *s, const fit_prop *held, int frame )
{
    if ( !fitter_affects( s, s->def.stage->actor_count + held->prop, frame ) )
        return false;
    level_pull levels[TR_FIT_PRIORITIES] = { 0 };
    pull_prop( s, held, frame, levels );
    const level_pull *pull = leading_pull( levels, &held->leads[fitter_cell( s, frame )] );
    if ( pull == NULL )
        return false;
    rigid *place = &s->def.result->tracks[held->prop][frame];
    if ( pull->most > AGREED )
        place->position = v3_mad( place->position, 1.0 / pull->weight, pull->sum );
    for ( int i = 0; i < held->rule_count; ++i ) {
        const tr_rule *rule = fitter_rule( s, held->rules[i] );
        if ( tr_rule_strength( rule, frame ) > 0 ) {
            mark_stale( s, &rule->a, frame );
            mark_stale( s, &rule->b, frame );
        }
    }
    return true;
}

// The lowest joint of a foot; `map` NULL: its own joints in `pose`, else those that drive them.
static double lowest_of( const fit_body *body, int foot, tr_pose pose, const int *map )
{
    double lowest = INFINITY;
    for ( int i = body->part_begin[foot]; i < body->part_begin[foot + 1]; ++i ) {
        int at = map != NULL ? map[body->parts[i]] : body->parts[i];
        if ( at >= 0 && pose.positions[at].y < lowest )
            lowest = pose.positions[at].y;
    }
    return lowest;
}

// A foot that is on its way to or from a stance of other size may dip into the ground: there its height is
// held. The source, which may allow it to, is asked only where it does: its pose is far away in memory.
static bool lift_foot( const fitter *s, const fit_body *body, int foot, int frame )
{
    const tr_actor *a = &s->def.stage->actors[body->actor];
    int joint = body->feet[foot];
    tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], frame );
    double ground = s->def.stage->ground, lowest = lowest_of( body, foot, pose, NULL );
    if ( !( ground - lowest > DIP ) )
        return false;
    double source = lowest_of( body, foot, tr_world_pose( &a->world, frame ), a->map ) - ground;
    if ( !isfinite( source ) ) // nothing drives it: its own animation is right as it is
        return false;
    double allowed = ground + fmin( source, 0 ) * tr_part_ratio( a, joint );
    double missing = allowed - lowest;
    if ( !( missing > DIP ) )
        return false;
    *fitter_hold( s, body, foot, frame ) = v3_mad( pose.positions[joint], missing, v3_y );
    body->stale[fitter_cell( s, frame )] = true;
    return true;
}

// How far the rules hold a hand or foot, 0 … 1: what they say about its height goes before the ground.
static double held( const fitter *s, const fit_body *body, int joint, int frame )
{
    double most = 0;
    for ( int i = 0; i < body->rule_count; ++i ) {
        const tr_rule *rule = fitter_rule( s, body->rules[i] );
        if ( tr_rule_holds( s->def.stage, rule, body->actor, joint ) )
            most = fmax( most, tr_rule_pull( s->def.stage, rule, frame ) );
    }
    return most;
}

// A hand that passes near the floor on longer arms or shorter legs would go through it. With h its height and
// b the least it may have, that of the source or the floor, it is lifted by
//
//   (w − (h − b))² / 4w  for |h − b| < w,   b − h below,
//
// smooth in h and so in time, but never higher than the source has it in the target's size. From the fit that
// knew nothing of it, once.
static bool lift_hand( const fitter *s, const fit_body *body, int hand, int frame )
{
    const tr_actor *a = &s->def.stage->actors[body->actor];
    int joint = body->feet[hand];
    tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], frame );
    double ground = s->def.stage->ground, height = lowest_of( body, hand, pose, NULL ) - ground;
    double near = NEAR * body->height;
    if ( !( height < near ) )
        return false;
    double source = lowest_of( body, hand, tr_world_pose( &a->world, frame ), a->map ) - ground;
    double own = source * a->height_ratio, over = height - fmin( own, 0 );
    if ( !isfinite( source ) || !( over < near && height < own ) ||
         fitter_hold( s, body, hand, frame )->y < INFINITY )
        return false;
    double lift = over > -near ? ( near - over ) * ( near - over ) / ( 4 * near ) : -over;
    lift = fmin( lift, own - height ) * ( 1.0 - held( s, body, joint, frame ) );
    if ( !( lift > LIFT ) )
        return false;
    *fitter_hold( s, body, hand, frame ) = v3_mad( pose.positions[joint], lift, v3_y );
    body->stale[fitter_cell( s, frame )] = true;
    return true;
}

static bool lift( const fitter *s, const fit_body *body, int end, int frame )
{
    return fitter_is_hand( s, body, end ) ? lift_hand( s, body, end, frame )
                                          : lift_foot( s, body, end, frame );
}

static bool lift_all( const fitter *s )
{
    bool lifted = false;
    for ( int i = 0; i < s->body_count; ++i ) {
        const fit_body *body = &s->bodies[i];
        bool minds_ground = s->def.stage->scene->cast[body->actor].contacts;
        for ( int j = 0; minds_ground && j < body->foot_count; ++j )
            for ( int f = s->from; f <= s->to; ++f )
                lifted = ( fitter_affects( s, body->actor, f ) && lift( s, body, j, f ) ) || lifted;
    }
    return lifted;
}

// The fit brings every joint of a mixture to a place of its own; what their mean is off by goes into the
// next.
static bool nudge( const fitter *s, int k, int frame )
{
    const tr_rule *rule = fitter_rule( s, k );
    bool nudged = false;
    for ( int e = 0; e < 2 && in_full( rule, frame ); ++e ) {
        const tr_anchor *anchor = e == 0 ? &rule->a : &rule->b;
        vec3 *nudges = s->nudges[2 * k + e];
        if ( nudges == NULL || rule->kind == TR_CONSTRAINT_ORIENTATION ||
             !fitter_affects( s, anchor->actor, frame ) )
            continue;
        vec3 off = v3_sub( tr_fitter_wanted( s, k, e == 0, frame ),
                           tr_anchor_position( s->def.stage, s->def.result, anchor, frame ) );
        off = tr_rule_masked( rule, off );
        if ( v3_length( off ) <= AGREED )
            continue;
        nudges[fitter_cell( s, frame )] = v3_add( nudges[fitter_cell( s, frame )], off );
        mark_stale( s, anchor, frame );
        nudged = true;
    }
    return nudged;
}

static bool lean( const fitter *s, const fit_body *body, int frame )
{
    const tr_rule *rule = tr_lean_rule( s->def.stage, body->masses, body->mass_count, frame );
    if ( rule == NULL )
        return false;
    tr_pose copied = fitter_copied_pose( s, body, frame );
    vec3 moved = tr_fitter_moved( s, body, rule, frame );
    if ( !tr_lean_correct( &body->leans[fitter_cell( s, frame )], s->def.stage, s->def.result, rule, frame,
                           copied, moved ) )
        return false;
    body->stale[fitter_cell( s, frame )] = true;
    return true;
}

bool tr_fitter_meet( const fitter *s )
{
    bool moved = lift_all( s );
    moved = follow_places( s ) || moved;
    for ( int p = 0; p < s->prop_count; ++p )
        for ( int f = s->from; s->props[p].rule_count > 0 && f <= s->to; ++f )
            moved = meet_prop( s, &s->props[p], f ) || moved;
    for ( int k = 0; k < s->rule_count; ++k ) {
        bool meets = s->agreed[k] != NULL || s->nudges[2 * k] != NULL || s->nudges[2 * k + 1] != NULL;
        for ( int f = s->from; meets && f <= s->to; ++f ) {
            bool nudged = nudge( s, k, f ), met = meet_actors( s, k, f );
            moved = moved || nudged || met;
        }
    }
    for ( int i = 0; i < s->body_count; ++i )
        for ( int f = s->from; s->bodies[i].leans != NULL && f <= s->to; ++f )
            moved = ( fitter_affects( s, s->bodies[i].actor, f ) && lean( s, &s->bodies[i], f ) ) || moved;
    return moved;
}
