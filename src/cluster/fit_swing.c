// Limbs that the document pins far from where they are begin near their pins (cluster/swing.c). Which way
// that is depends on what the trunk does to bring the limb within reach, so that is found first, by a fit in
// which shoulders take the place of hands: without arms there is but one way. Then the limb is turned as it
// hangs on that trunk. The pose is what the fits begin with; of it, the turn of the limb alone goes into what
// they stay near.
#include "cluster/fit.h"

#include <string.h>

#define REACHED 0.95 // of a limb's length: so near to a place the trunk brings where it hangs on

// A place that the document gives a point of a limb.
static bool is_pin( const tr_stage *stage, const tr_rule *rule, int actor )
{
    return rule->kind == TR_CONSTRAINT_ABSOLUTE && rule->hard && !tr_rule_stays( rule ) &&
           rule->a.actor == actor && rule->a.count > 0 && !tr_anchor_mixes( stage, &rule->a );
}

// Shoulder or hip of the limb that a rule pins, -1: it is no pin, or one of the trunk.
static int pinned_base( const tr_stage *stage, const tr_rule *rule, int actor )
{
    if ( !is_pin( stage, rule, actor ) )
        return -1;
    int base = tr_limb_base( &stage->actors[actor].target, rule->a.joints[0] );
    return base == 0 || base == rule->a.joints[0] ? -1 : base;
}

bool tr_fit_body_find_pins( fit_body *body, const tr_stage *stage, const int *rules, int rule_count )
{
    const tr_skeleton *skeleton = &stage->actors[body->actor].target;
    size_t joints = (size_t)skeleton->joint_count;
    bool *pinned = tr_alloc( joints, sizeof( bool ) );
    tr_pose rest = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    for ( int i = 0; pinned != NULL && i < rule_count; ++i ) {
        int base = pinned_base( stage, &stage->rules[rules[i]], body->actor );
        if ( base >= 0 && !pinned[base] ) {
            pinned[base] = true;
            body->pin_count++;
        }
    }
    body->pins = tr_alloc( (size_t)body->pin_count, sizeof( int ) );
    body->middles = tr_alloc( (size_t)body->pin_count, sizeof( vec3 ) );
    bool ok = pinned != NULL && rest.rotations != NULL && rest.positions != NULL && body->pins != NULL &&
              body->middles != NULL;
    if ( ok )
        tr_forward_rest( skeleton, rest );
    for ( int j = 0, n = 0; ok && j < skeleton->joint_count; ++j )
        if ( pinned[j] ) {
            body->middles[n] = tr_swing_middle( skeleton, rest, j );
            body->pins[n++] = j;
        }
    tr_free( pinned );
    tr_free( rest.rotations );
    tr_free( rest.positions );
    return ok;
}

// What all pins of a limb ask for together, of a body posed as in `pose` and moved by `shift`. False:
// nothing.
static bool find_swing( const fitter *s, const fit_body *body, int pin, int frame, tr_pose pose, vec3 shift,
                        tr_swing *swing )
{
    const tr_skeleton *skeleton = fitter_skeleton( s, body );
    int base = body->pins[pin];
    double sum = 0;
    *swing = ( tr_swing ){ .hinge = v3_add( pose.positions[base], shift ) };
    swing->middle = q_rotate( pose.rotations[skeleton->joints[base].parent], body->middles[pin] );
    for ( int i = 0; i < body->rule_count; ++i ) {
        const tr_rule *rule = fitter_rule( s, body->rules[i] );
        double strength = tr_rule_strength( rule, frame );
        if ( !( strength > 0 ) || pinned_base( s->def.stage, rule, body->actor ) != base )
            continue;
        int joint = rule->a.joints[0];
        vec3 offset = q_rotate( pose.rotations[joint], rule->a.offset );
        vec3 point = v3_add( v3_add( pose.positions[joint], shift ), offset );
        vec3 way = v3_sub( tr_rule_target( s->def.stage, s->def.result, rule, frame ), point );
        swing->point = v3_mad( swing->point, strength, point );
        swing->place = v3_mad( swing->place, strength, v3_add( point, tr_rule_masked( rule, way ) ) );
        swing->length += strength * ( tr_limb_way( skeleton, base, joint ) + v3_length( offset ) );
        swing->strength = fmax( swing->strength, strength );
        sum += strength;
    }
    if ( !( sum > 0 ) )
        return false;
    swing->point = v3_scale( 1.0 / sum, swing->point );
    swing->place = v3_scale( 1.0 / sum, swing->place );
    swing->length /= sum;
    return true;
}

// --------------------------------------------------------------------------------------------------- trunk

// What is asked of a limb becomes: bring the limb within reach.
static void ask_trunk( const fitter *s, const fit_body *body, int base, int frame, tr_fit_goal *goals,
                       int count )
{
    const tr_skeleton *skeleton = fitter_skeleton( s, body );
    vec3 hinge =
        v3_add( fitter_copied_pose( s, body, frame ).positions[base], tr_fitter_shift( s, body, frame ) );
    for ( int g = 0; g < count; ++g ) {
        tr_fit_goal *goal = &goals[g];
        if ( goal->joint == base || tr_limb_base( skeleton, goal->joint ) != base )
            continue;
        vec3 way = v3_sub( goal->place, hinge );
        double far = v3_length( way ),
               reach = REACHED * ( tr_limb_way( skeleton, base, goal->joint ) + v3_length( goal->offset ) );
        if ( goal->kind != TR_FIT_POSITION || goal->axes != TR_FIT_XYZ || far <= reach ) {
            goal->ease = 0;
            continue;
        }
        goal->joint = base;
        goal->offset = v3_zero;
        goal->place = v3_mad( hinge, 1.0 - reach / far, way );
    }
}

// Whether any limb is far from its pin.
static bool is_far( const fitter *s, const fit_body *body, int frame )
{
    tr_pose pose = fitter_copied_pose( s, body, frame );
    vec3 shift = tr_fitter_shift( s, body, frame );
    tr_swing swing;
    for ( int p = 0; p < body->pin_count; ++p )
        if ( find_swing( s, body, p, frame, pose, shift, &swing ) && !tr_swing_is_near( &swing ) )
            return true;
    return false;
}

static int gather_trunks( const fitter *s, const fit_body *body )
{
    const fit_batch *batch = &s->batch;
    int count = 0;
    for ( int f = s->from; f <= s->to; ++f ) {
        if ( !fitter_affects( s, body->actor, f ) || !is_far( s, body, f ) )
            continue;
        tr_fit_goal *goals = batch->goals + (size_t)count * (size_t)body->most_goals;
        batch->frames[count] = tr_fitter_frame( s, body, f, goals );
        for ( int p = 0; p < body->pin_count; ++p )
            ask_trunk( s, body, body->pins[p], f, goals, batch->frames[count].goal_count );
        batch->stage_frames[count++] = f;
    }
    return count;
}

// --------------------------------------------------------------------------------------------------- limbs

// Hands that are pinned keep their palms as copied while that is near where the arm brings them.
static void lead_hands( const fitter *s, const fit_body *body, int base, int frame, tr_pose pose )
{
    const tr_skeleton *skeleton = fitter_skeleton( s, body );
    const quat *warm = body->warm + fitter_cell( s, frame ) * (size_t)skeleton->joint_count;
    quat *copied = fitter_copied_pose( s, body, frame ).rotations;
    for ( int i = 0; i < body->rule_count; ++i ) {
        const tr_rule *rule = fitter_rule( s, body->rules[i] );
        double strength = tr_rule_strength( rule, frame );
        if ( !( strength > 0 ) || pinned_base( s->def.stage, rule, body->actor ) != base )
            continue;
        int hand = tr_extremity_carrier( skeleton, rule->a.joints[0] );
        quat turn = q_identity;
        for ( int j = hand; j >= base; j = skeleton->joints[j].parent )
            turn = q_mul( warm[j], turn );
        turn = q_mul( pose.rotations[skeleton->joints[base].parent], turn );
        copied[hand] = tr_swing_back( turn, copied[hand], strength );
    }
}

static void swing_limb( const fitter *s, const fit_body *body, int pin, int frame, tr_pose pose )
{
    size_t row = fitter_cell( s, frame ) * (size_t)fitter_skeleton( s, body )->joint_count;
    int base = body->pins[pin];
    tr_swing swing;
    if ( !find_swing( s, body, pin, frame, pose, v3_zero, &swing ) )
        return;
    quat above = pose.rotations[fitter_skeleton( s, body )->joints[base].parent], wanted;
    quat turn = tr_swing_turn( &swing, &wanted ), *start = body->start + row + base,
         *warm = body->warm + row + base;
    *start = q_unit( q_mul( q_conj( above ), q_mul( wanted, q_mul( above, *start ) ) ) );
    *warm = q_unit( q_mul( q_conj( above ), q_mul( turn, q_mul( above, *warm ) ) ) );
    lead_hands( s, body, base, frame, pose );
}

bool tr_fitter_swing( fitter *s, fit_body *body, tr_error *error )
{
    size_t joints = (size_t)fitter_skeleton( s, body )->joint_count;
    const tr_clip *clip = &s->def.result->motions[body->actor].clip;
    int count = body->pin_count > 0 ? gather_trunks( s, body ) : 0;
    if ( !tr_fitter_solve( s, body, count, error ) )
        return false;
    for ( int n = 0; n < count; ++n ) {
        int f = s->batch.stage_frames[n];
        size_t cell = fitter_cell( s, f );
        tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], f );
        memcpy( body->warm + cell * joints, tr_clip_frame( clip, f ), joints * sizeof( quat ) );
        body->warm_root[cell] = clip->root[f];
        body->warmed[cell] = true;
        tr_pose copied = fitter_copied_pose( s, body, f );
        for ( int p = 0; p < body->pin_count; ++p )
            swing_limb( s, body, p, f, pose );
        memcpy( pose.rotations, copied.rotations, joints * sizeof( quat ) ); // partners look at it
        memcpy( pose.positions, copied.positions, joints * sizeof( vec3 ) );
    }
    return true;
}
