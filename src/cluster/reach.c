// What no limb can reach is brought within reach before anything is solved. A hand pinned a kilometre away
// would pull with all its might on a body that its feet hold back: every joint ends taut, nothing says any
// more how the body is turned about the line it hangs on, and Newton's method goes astray. So the place is
// moved along the line from where the limb hangs on the trunk, the shoulder, to the pin: the arm still
// stretches out that way.
//
// How far. What is held at a place q lets a point p come no farther from it than all bones between the two,
// laid end to end, and hardly that far. Of the way from the shoulder that stays within all these balls the
// last part is approached and never reached, however far the pin; up to there, places stay what they are.
// What is held more lightly, as a foot that lands, has a ball as much larger. What nothing holds goes
// wherever it is pinned, body and all.
#include "cluster/private.h"

#define STRAIGHT  0.97 // of the bones between two points: how far a body stretches
#define KEPT      0.95 // of the way within reach: places on it stay
#define BELOW     0.25 // of the limb's length: how deep below all that is held it reaches
#define LEG_KEPT  0.85 // of a leg, or what the copied pose has: so far graphs move a hip away from its foot …
#define LEG_MOST  0.95 // … and no farther than this
#define LEG_ROOM  0.02
#define LEG_BENT  0.4  // of a leg, or what the copied pose has: so near to its foot a hip may come …
#define LEG_LEAST 0.3  // … and no nearer than this
#define LEAN_KEPT 0.2  // of a leg: so far to a side a centre of mass is moved of a body that stands …
#define LEAN_MOST 0.35 // … and no farther than this
#define PARTNERS  16   // equals that a place is compared with

typedef struct limb_end { // a point of a body that has a place
    const tr_skeleton *skeleton;
    int joint;
    vec3 base;             // where its limb hangs on, in the world
    double offset, length; // from its joint; from the base along the bones
    vec3 along;            // unit vector from the base to the place
    double far, most;      // how far that is, and how far it may be
    double own;            // how far the pose has the point: that is within reach in any case
} limb_end;

// Of a body posed as in `pose`, moved by `shift`.
static limb_end end_of( const tr_skeleton *skeleton, tr_pose pose, vec3 shift, int joint, vec3 offset,
                        vec3 place )
{
    int at = tr_limb_base( skeleton, joint );
    limb_end end = { skeleton, joint, v3_add( pose.positions[at], shift ), .most = INFINITY };
    end.offset = v3_length( offset );
    end.length = tr_limb_way( skeleton, at, joint ) + end.offset;
    end.far = v3_distance( place, end.base );
    end.own = v3_distance( v3_add( pose.positions[joint], q_rotate( pose.rotations[joint], offset ) ),
                           pose.positions[at] );
    end.along = v3_unit( v3_sub( place, end.base ) );
    return end;
}

// Identity up to `kept`, never more than `most`, and smooth.
static double limited( double x, double kept, double most )
{
    double room = most - kept, over = x - kept;
    return over > 0 ? kept + room * over / ( room + over ) : x;
}

// How far one may go from `from` along the unit vector `along` without leaving a ball.
static double way_out( vec3 from, vec3 along, vec3 centre, double radius )
{
    vec3 d = v3_sub( from, centre );
    double b = v3_dot( d, along ), c = v3_dot( d, d ) - radius * radius;
    return c < 0 ? sqrt( b * b - c ) - b : 0;
}

// What a joint that is held at a place leaves of the way. The arm itself may always be stretched.
static void hold_back( limb_end *end, int joint, double offset, vec3 place, double strength )
{
    double radius = STRAIGHT * tr_limb_way( end->skeleton, end->joint, joint ) + end->offset + offset;
    double way = way_out( end->base, end->along, place, radius / strength );
    double depth = ( end->base.y - place.y + BELOW * end->length ) / strength;
    bool stands = end->skeleton->limbs[end->skeleton->joints[joint].limb].kind == TR_LIMB_LEG;
    if ( stands && end->along.y < 0 && depth > 0 )
        way = fmin( way, depth / -end->along.y );
    end->most = fmin( end->most, fmax( way, STRAIGHT * end->length ) );
}

static vec3 within_reach( const limb_end *end, vec3 place )
{
    double most = fmax( end->most, end->own / KEPT ), kept = KEPT * most;
    return end->far > kept ? v3_mad( end->base, limited( end->far, kept, most ), end->along ) : place;
}

// -------------------------------------------------------------------------------------------- in the graphs

static vec3 footing_place( const tr_stage *stage, const tr_result *now, const tr_footing *footing, int frame,
                           tr_pose pose )
{
    return tr_stance_place( stage, now, &stage->rules[footing->rule[frame]], frame, pose );
}

vec3 tr_reach_place( const tr_stage *stage, const tr_result *now, const tr_rule *rule, int frame, vec3 place )
{
    const tr_actor *actor = &stage->actors[rule->a.actor];
    tr_pose pose = tr_world_pose( &now->worlds[rule->a.actor], frame );
    limb_end end = end_of( &actor->target, pose, v3_zero, rule->a.joints[0], rule->a.offset, place );
    for ( int i = 0; i < actor->footing_count; ++i ) {
        const tr_footing *footing = &actor->footings[i];
        double strength = footing->strength[frame];
        if ( strength > 0 && !tr_rule_holds( stage, rule, rule->a.actor, footing->joint ) )
            hold_back( &end, footing->joint, 0, footing_place( stage, now, footing, frame, pose ), strength );
    }
    return within_reach( &end, place );
}

// How far a hip may be from its foot, of `far`.
static double leg_length( double far, double own, double leg, bool bends )
{
    double kept = fmax( own, LEG_KEPT * leg ), bent = fmin( own, LEG_BENT * leg );
    if ( far > kept )
        return limited( far, kept, fmax( own, LEG_MOST * leg ) + LEG_ROOM * leg );
    double room = bent - fmin( own, LEG_LEAST * leg ) + LEG_ROOM * leg;
    return bends && far < bent ? bent - limited( bent - far, 0, room ) : far;
}

static vec3 reach_shift( const tr_stage *stage, const tr_result *now, int actor, int frame, tr_pose pose,
                         vec3 shift, bool bends )
{
    const tr_actor *a = &stage->actors[actor];
    for ( int i = 0; i < a->footing_count; ++i ) {
        const tr_footing *footing = &a->footings[i];
        int foot = footing->joint, hip = tr_limb_base( &a->target, foot );
        double leg = tr_limb_way( &a->target, hip, foot );
        double own = v3_distance( pose.positions[hip], pose.positions[foot] );
        vec3 way =
            v3_sub( v3_add( pose.positions[hip], shift ), footing_place( stage, now, footing, frame, pose ) );
        double far = v3_length( way ), to = leg_length( far, own, leg, bends );
        if ( to != far && far > 0 )
            shift = v3_mad( shift, footing->strength[frame] * ( to / far - 1.0 ), way );
    }
    return shift;
}

vec3 tr_reach_shift( const tr_stage *stage, const tr_result *now, int actor, int frame, vec3 shift )
{
    return reach_shift( stage, now, actor, frame, tr_world_pose( &now->worlds[actor], frame ), shift, false );
}

vec3 tr_reach_lean( const tr_stage *stage, const tr_result *now, const tr_rule *rule, int frame, tr_pose pose,
                    vec3 moved, vec3 lean )
{
    vec3 both = reach_shift( stage, now, rule->a.actor, frame, pose, v3_add( moved, lean ), true );
    return tr_rule_masked( rule, v3_sub( both, moved ) );
}

vec3 tr_reach_mass( const tr_stage *stage, const tr_result *now, const tr_rule *rule, int frame,
                    tr_pose pose )
{
    const tr_actor *a = &stage->actors[rule->a.actor];
    double stands = 0, leg = tr_skeleton_leg_length( &a->target );
    for ( int i = 0; i < a->footing_count; ++i )
        stands = fmax( stands, a->footings[i].strength[frame] );
    vec3 centre = tr_body_centre_of_mass( &a->body, &a->target, pose );
    vec3 shift = tr_rule_masked( rule, v3_sub( tr_rule_target( stage, now, rule, frame ), centre ) ),
         level = v3_horizontal( shift );
    double far = v3_length( level ), to = limited( far, LEAN_KEPT * leg, LEAN_MOST * leg );
    if ( far > to )
        shift = v3_mad( shift, stands * ( to / far - 1.0 ), level );
    return v3_add( centre, tr_reach_lean( stage, now, rule, frame, pose, v3_zero, shift ) );
}

// ----------------------------------------------------------------------------------------------- in the fit

static bool has_place( const tr_fit_goal *goal )
{
    return goal->kind == TR_FIT_POSITION && goal->axes == TR_FIT_XYZ && goal->ease > 0;
}

// Soft ones hold nothing, and give way to all that are hard.
static bool comes_before( const tr_fit_goal *first, const tr_fit_goal *other )
{
    return has_place( first ) && first->hard && ( !other->hard || first->priority > other->priority );
}

static void reach_goal( const tr_skeleton *skeleton, tr_pose pose, vec3 shift, tr_fit_goal *goals, int count,
                        int g )
{
    tr_fit_goal *goal = &goals[g];
    limb_end end = end_of( skeleton, pose, shift, goal->joint, goal->offset, goal->place );
    for ( int h = 0; h < count; ++h )
        if ( comes_before( &goals[h], goal ) )
            hold_back( &end, goals[h].joint, v3_length( goals[h].offset ), goals[h].place, goals[h].ease );
    goal->place = within_reach( &end, goal->place );
}

// Places of two equals that are farther from each other than all bones between them come nearer, each half of
// the way; those of two points of one joint come to be as far from each other as the points are.
static void bring_together( const tr_skeleton *skeleton, tr_fit_goal *a, tr_fit_goal *b )
{
    bool one = a->joint == b->joint;
    double most =
        one ? v3_distance( a->offset, b->offset )
            : tr_limb_way( skeleton, a->joint, b->joint ) + v3_length( a->offset ) + v3_length( b->offset );
    vec3 way = v3_sub( b->place, a->place );
    double far = v3_length( way ), over = far - most;
    if ( !( far > 1e-9 ) || ( over <= 0 && !one ) )
        return;
    vec3 half = v3_scale( 0.5 * fmin( a->ease, b->ease ) * over / far, way );
    a->place = v3_add( a->place, half );
    b->place = v3_sub( b->place, half );
}

static bool is_of_level( const tr_fit_goal *goal, int level )
{
    return has_place( goal ) && ( goal->hard ? goal->priority : -1 ) == level;
}

// Each with a few of those that follow it: what is asked of many is contradictory enough for fewer to tell.
static void bring_equals_together( const tr_skeleton *skeleton, tr_fit_goal *goals, int count, int level )
{
    for ( int g = 0; g < count; ++g )
        for ( int h = g + 1, met = 0; h < count && met < PARTNERS && is_of_level( &goals[g], level ); ++h )
            if ( is_of_level( &goals[h], level ) ) {
                bring_together( skeleton, &goals[g], &goals[h] );
                met++;
            }
}

void tr_reach_goals( const tr_skeleton *skeleton, tr_pose pose, vec3 shift, tr_fit_goal *goals, int count )
{
    for ( int level = TR_FIT_PRIORITIES - 2; level >= -1; --level ) { // what comes first is where it stays
        if ( level == TR_PRIORITY_PLACE )
            bring_equals_together( skeleton, goals, count, level );
        for ( int g = 0; g < count; ++g )
            if ( is_of_level( &goals[g], level ) )
                reach_goal( skeleton, pose, shift, goals, count, g );
        if ( level == TR_PRIORITY_PLACE )
            bring_equals_together( skeleton, goals, count, level );
    }
}
