// The goals of one character at one frame: its stances, heights to keep, a pelvis to shift, and the targets
// of rules for hands and other joints.
#include "cluster/fit.h"
#include <string.h>

static const double least_arm_squared = 1e-6; // m²: arms of tiny bodies count as a millimetre long

bool tr_rule_links_actors( const tr_rule *rule )
{
    return tr_rule_links( rule ) && rule->a.actor >= 0 && rule->b.actor >= 0;
}

// A target fixed in the axes of b is a point of b, at the end of a lever. Otherwise b's end would chase a
// place that turns with b itself, one fit behind, and with a lever longer than the body it would diverge.
bool tr_fitter_has_lever( const fitter *s, int k )
{
    const tr_rule *rule = fitter_rule( s, k );
    return rule->partner_space && tr_rule_links( rule ) && rule->b.actor >= 0 && s->nudges[2 * k + 1] == NULL;
}

vec3 tr_fitter_wanted( const fitter *s, int k, bool is_a, int frame )
{
    const tr_rule *rule = fitter_rule( s, k );
    vec3 target = tr_rule_target( s->def.stage, s->def.result, rule, frame );
    if ( !tr_rule_links( rule ) )
        return target;
    if ( tr_rule_links_actors( rule ) ) {
        vec3 meet = s->agreed[k][fitter_cell( s, frame )].place;
        return is_a || tr_fitter_has_lever( s, k ) ? meet : v3_sub( meet, target );
    }
    const tr_anchor *prop = is_a ? &rule->b : &rule->a;
    vec3 place = tr_anchor_position( s->def.stage, s->def.result, prop, frame );
    if ( is_a )
        return v3_add( place, target );
    return tr_fitter_has_lever( s, k ) ? place : v3_sub( place, target );
}

static int fit_axes( const tr_rule *rule )
{
    vec3 acts = tr_rule_masked( rule, v3_one );
    return ( acts.x != 0 ? TR_FIT_X : 0 ) | ( acts.y != 0 ? TR_FIT_Y : 0 ) | ( acts.z != 0 ? TR_FIT_Z : 0 );
}

// Several joints whose mean has a place: all of them move alike, from where the graph has them.
static int mix_goals( const fitter *s, int k, bool is_a, int frame, const tr_fit_goal *like,
                      tr_fit_goal *goals )
{
    const tr_rule *rule = fitter_rule( s, k );
    const tr_anchor *anchor = is_a ? &rule->a : &rule->b;
    const vec3 *graph = fitter_graph_pose( s, anchor->actor, frame ).positions;
    const quat *turns = tr_world_pose( &s->def.result->worlds[anchor->actor], frame ).rotations;
    vec3 mean = q_rotate( turns[anchor->joints[0]], anchor->offset );
    for ( int i = 0; i < anchor->count; ++i )
        mean = v3_mad( mean, anchor->weights[i], graph[anchor->joints[i]] );
    vec3 miss = v3_add( v3_sub( like->place, mean ), s->nudges[2 * k + !is_a][fitter_cell( s, frame )] );
    for ( int i = 0; i < anchor->count; ++i ) {
        goals[i] = *like;
        goals[i].joint = anchor->joints[i];
        goals[i].place = v3_add( graph[anchor->joints[i]], miss );
    }
    return anchor->count;
}

// The anchor as a point fixed to its first joint, in the pose the character has now.
vec3 tr_fitter_point_on_joint( const fitter *s, const tr_anchor *anchor, int frame )
{
    if ( anchor->count == 1 )
        return anchor->offset;
    tr_pose pose = tr_world_pose( &s->def.result->worlds[anchor->actor], frame );
    vec3 at = tr_anchor_position( s->def.stage, s->def.result, anchor, frame );
    return q_unrotate( pose.rotations[anchor->joints[0]], v3_sub( at, pose.positions[anchor->joints[0]] ) );
}

// From b's end to the point that has to meet a, in the axes of b's joint.
vec3 tr_fitter_lever( const fitter *s, const tr_rule *rule, int frame )
{
    quat turn = tr_world_pose( &s->def.result->worlds[rule->b.actor], frame ).rotations[rule->b.joints[0]];
    return q_unrotate( turn, tr_rule_target( s->def.stage, s->def.result, rule, frame ) );
}

// Returns how many goals a rule makes of one of its ends.
static int make_goals( const fitter *s, int k, bool is_a, int frame, tr_fit_goal *goals )
{
    const tr_rule *rule = fitter_rule( s, k );
    const tr_anchor *anchor = is_a ? &rule->a : &rule->b;
    bool bone = rule->kind == TR_CONSTRAINT_LENGTH && !tr_rule_links( rule ); // exact by construction
    double strength = tr_rule_strength( rule, frame );
    if ( anchor->count == 0 || bone || rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS || strength <= 0 )
        return 0;
    tr_fit_goal goal;
    if ( rule->kind == TR_CONSTRAINT_ORIENTATION )
        goal = tr_fit_rotation( anchor->joints[0],
                                tr_rule_rotation( s->def.stage, s->def.result, rule, frame ) );
    else {
        goal = tr_fit_position( anchor->joints[0], tr_fitter_wanted( s, k, is_a, frame ) );
        goal.axes = fit_axes( rule );
    }
    goal.hard = rule->hard;
    goal.priority = tr_rule_priority( rule );
    goal.ease = strength;
    goal.weight = rule->weight;
    if ( goal.kind == TR_FIT_POSITION && s->nudges[2 * k + !is_a] != NULL )
        return mix_goals( s, k, is_a, frame, &goal, goals );
    goal.offset = tr_fitter_point_on_joint( s, anchor, frame );
    if ( !is_a && tr_fitter_has_lever( s, k ) )
        goal.offset = v3_add( goal.offset, tr_fitter_lever( s, rule, frame ) );
    goals[0] = goal;
    return 1;
}

vec3 tr_fitter_moved( const fitter *s, const fit_body *body, const tr_rule *rule, int frame )
{
    vec3 copied = fitter_copied_pose( s, body, frame ).positions[0],
         moved = v3_sub( fitter_graph_pose( s, body->actor, frame ).positions[0], copied );
    return tr_rule_lowers( rule ) ? v3( 0, moved.y, 0 ) : moved;
}

// The pelvis goes where the centre of mass needs it, unless feet or hands need it elsewhere.
static int add_lean( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals, int count )
{
    const tr_rule *rule = tr_lean_rule( s->def.stage, body->masses, body->mass_count, frame );
    if ( rule == NULL || s->def.in_time )
        return count;
    vec3 root =
        v3_add( fitter_copied_pose( s, body, frame ).positions[0], tr_fitter_moved( s, body, rule, frame ) );
    goals[count] = tr_fit_position( 0, v3_add( root, body->leans[fitter_cell( s, frame )].shift ) );
    goals[count].axes = tr_rule_lowers( rule ) ? TR_FIT_XYZ : fit_axes( rule );
    goals[count].priority = tr_rule_priority( rule );
    goals[count].ease = tr_rule_strength( rule, frame );
    return count + 1;
}

static vec3 lag_of( const fitter *s, const tr_rule *rule, int frame )
{
    const vec3 *lags = s->def.lags[rule->a.actor];
    return rule->footing >= 0 ? lags[rule->footing * s->def.stage->frame_count + frame] : v3_zero;
}

// A foot on the ground is held in place and turned as it was copied; soles are flat then if the source's
// were. Of several rules that ask for one foot, the strongest speaks. A leg that ends in a tip is held by the
// tip.
static int add_stance( const fitter *s, const fit_body *body, const tr_rule *rule, int frame,
                       tr_fit_goal *goals, int count )
{
    const tr_stage *stage = s->def.stage;
    double strength = tr_rule_pull( stage, rule, frame );
    const tr_skeleton *skeleton = fitter_skeleton( s, body );
    if ( strength <= 0 )
        return count;
    int foot = tr_stance_foot( stage, rule ), at = 0;
    while ( at < count && !( goals[at].joint == foot && goals[at].kind == TR_FIT_POSITION ) )
        at++;
    if ( at < count && goals[at].ease >= strength )
        return count;
    tr_pose copied = fitter_copied_pose( s, body, frame );
    bool sole = skeleton->joints[foot].role == TR_ROLE_FOOT || skeleton->joints[foot].role == TR_ROLE_HAND;
    tr_fit_goal place = tr_fit_position( foot, tr_stance_place( stage, s->def.result, rule, frame, copied ) );
    if ( !sole ) { // the tip's own place, whichever way the leg turns
        vec3 tip = copied.positions[rule->a.joints[0]];
        place.offset = q_unrotate( copied.rotations[foot], v3_sub( tip, copied.positions[foot] ) );
        place.place = tr_rule_target( stage, s->def.result, rule, frame );
    }
    if ( s->def.lags != NULL && strength < 1 )
        place.place = v3_add(
            lag_of( s, rule, frame ),
            rigid_apply( ( rigid ){ copied.rotations[foot], copied.positions[foot] }, place.offset ) );
    place.priority = tr_rule_priority( rule );
    place.hard = rule->hard;
    place.weight = rule->weight;
    place.ease = strength;
    goals[at] = place;
    if ( at < count )
        count -= sole ? 2 : 1;
    if ( sole ) {
        goals[at + 1] = place;
        goals[at + 1].kind = TR_FIT_ROTATION;
        goals[at + 1].rotation = copied.rotations[foot];
    }
    return count + ( sole ? 2 : 1 );
}

// Every foot by its footing, then those the document puts somewhere else.
static int add_stances( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals )
{
    const tr_actor *a = &s->def.stage->actors[body->actor];
    int count = 0;
    for ( int i = 0; i < a->footing_count; ++i )
        count = add_stance( s, body, &s->def.stage->rules[a->footings[i].rule[frame]], frame, goals, count );
    for ( int i = 0; i < body->rule_count; ++i ) {
        const tr_rule *rule = fitter_rule( s, body->rules[i] );
        if ( tr_rule_is_stance( rule ) && rule->footing < 0 )
            count = add_stance( s, body, rule, frame, goals, count );
    }
    return count;
}

// A hand that holds something keeps its palm to it: the wrist makes up for what the arm turns, softly. Of
// rules that hold one hand the strongest counts: a hold that only begins takes nothing from a pull at full
// strength.
static int add_palm( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals, int count )
{
    const tr_fit_goal *held = &goals[count - 1];
    const tr_fit *fit = &body->fit;
    if ( held->kind != TR_FIT_POSITION || fit->skeleton->joints[held->joint].role != TR_ROLE_HAND )
        return count;
    double arm = fit->def.arm * fit->size;
    tr_fit_goal palm =
        tr_fit_rotation( held->joint, fitter_copied_pose( s, body, frame ).rotations[held->joint] );
    palm.hard = false;
    palm.weight = held->ease * s->def.palm / fmax( arm * arm, least_arm_squared );
    for ( int g = 0; g < count; ++g )
        if ( goals[g].kind == TR_FIT_ROTATION && goals[g].joint == held->joint ) {
            if ( !goals[g].hard && memcmp( &goals[g].rotation, &palm.rotation, sizeof( quat ) ) == 0 )
                goals[g].weight = fmax( goals[g].weight, palm.weight );
            return count;
        }
    goals[count] = palm;
    return count + 1;
}

static int add_holds( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals, int count )
{
    for ( int i = 0; i < body->foot_count; ++i ) {
        vec3 place = *fitter_hold( s, body, i, frame );
        bool hand = fitter_is_hand( s, body, i );
        if ( place.y == INFINITY )
            continue;
        goals[count] = tr_fit_position( body->feet[i], place );
        goals[count].axes = hand ? TR_FIT_XYZ : TR_FIT_Y; // an arm bends, it does not swing aside
        goals[count++].priority = hand ? TR_PRIORITY_REST : TR_PRIORITY_LINK;
    }
    return count;
}

// Two places for one point, both in full.
static bool contradict( const tr_fit_goal *a, const tr_fit_goal *b )
{
    return a->kind == TR_FIT_POSITION && b->kind == TR_FIT_POSITION && a->hard && b->hard && a->ease >= 1 &&
           b->ease >= 1 && a->joint == b->joint && a->axes == b->axes &&
           v3_distance( a->offset, b->offset ) == 0;
}

// Where goals contradict each other the first in priority is kept, and goals of equal priority meet in the
// middle. The fit would find the same place, but against large forces. Returns how many goals are left.
static int agree( tr_fit_goal *goals, int count )
{
    for ( int g = 0; g < count; ++g ) {
        int equals = 1;
        for ( int h = g + 1; h < count; ++h ) {
            if ( !contradict( &goals[g], &goals[h] ) )
                continue;
            tr_fit_goal *first = &goals[g], *other = &goals[h];
            if ( other->priority == first->priority )
                first->place = v3_lerp( first->place, other->place, 1.0 / ++equals );
            else if ( other->priority > first->priority ) {
                *first = *other;
                equals = 1;
            }
            memmove( other, other + 1, (size_t)( --count - h ) * sizeof *other );
            --h;
        }
    }
    return count;
}

// A soft goal is a spring, a hard one never pulls harder than by its F (motion.h): however much is made of a
// wish, it must not move what is hard. Within reach it is met to half a millimetre all the same.
static void limit_wishes( const fitter *s, const tr_fit *fit, tr_fit_goal *goals, int count )
{
    double most = s->def.wish_pull * fit->def.pull / ( fit->size * fit->size );
    for ( int g = 0; g < count; ++g )
        goals[g].weight = fmin( goals[g].weight, most );
}

int tr_fitter_goals( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals )
{
    int count = add_stances( s, body, frame, goals ); // first, so that their pairs stand together
    count = add_holds( s, body, frame, goals, count );
    count = add_lean( s, body, frame, goals, count );
    for ( int i = 0; i < body->rule_count; ++i ) {
        int k = body->rules[i];
        const tr_rule *rule = fitter_rule( s, k );
        bool sole = rule->constraint < 0 && rule->kind == TR_CONSTRAINT_ORIENTATION; // a stance sees to it
        if ( tr_rule_is_stance( rule ) || sole )
            continue;
        for ( int end = 0; end < 2; ++end ) {
            bool mine = ( end == 0 ? rule->a.actor : rule->b.actor ) == body->actor;
            bool tied = mine && tr_fitter_ties( s, k, end == 0 );
            int made = mine && !( tied && s->nudges[2 * k + end] != NULL )
                           ? make_goals( s, k, end == 0, frame, &goals[count] )
                           : 0,
                before = count;
            count = made == 1 ? add_palm( s, body, frame, goals, count + 1 ) : count + made;
            if ( made == 1 && tied ) // of a tie the palm alone
                memmove( &goals[before], &goals[before + 1], (size_t)( --count - before ) * sizeof *goals );
        }
    }
    limit_wishes( s, &body->fit, goals, count );
    return agree( goals, count );
}
