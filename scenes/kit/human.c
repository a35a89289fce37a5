#include "scenes/kit/human.h"

#include "fit/fit.h"

#include <assert.h>
#include <string.h>

// -------------------------------------------------------------------------------------------- skeleton
// Segment lengths follow the usual proportions of an adult: hip joints at 0.52, knees at 0.28, shoulders at
// 0.82 of the height; upper arm 0.17, forearm 0.15, hand 0.105 of it.

typedef struct joint_row {
    const char *name;
    int parent; // index; within limbs: counted from the limb's first joint, -1 = what the limb hangs on
    vec3 offset;
} joint_row;

static const joint_row trunk[] = {
    { "Hips", -1, { 0, TR_HUMAN_HIP_HEIGHT, 0 } },
    { "Spine", 0, { 0, 0.085, -0.010 } },
    { "Spine1", 1, { 0, 0.085, -0.005 } },
    { "Spine2", 2, { 0, 0.080, 0.000 } },
    { "Chest", 3, { 0, 0.080, 0.005 } },
    { "Neck", 4, { 0, 0.200, -0.010 } },
    { "Head", 5, { 0, 0.085, 0.020 } },
    { "Head_End", 6, { 0, 0.170, 0.010 } },
};

// The left side; the right one is mirrored in x.
static const joint_row arm[TR_HUMAN_ARM_JOINTS] = {
    { "Shoulder", -1, { 0.030, 0.145, 0.005 } },
    { "Arm", TR_HUMAN_SHOULDER, { 0.150, 0, -0.010 } },
    { "ForeArm", TR_HUMAN_ARM, { 0.300, 0, 0 } },
    { "Hand", TR_HUMAN_FOREARM, { 0.260, 0, 0 } },
    { "Thumb", TR_HUMAN_HAND, { 0.035, -0.008, 0.028 } },
    { "Thumb_End", TR_HUMAN_THUMB, { 0.055, -0.005, 0.035 } },
    { "Hand_End", TR_HUMAN_HAND, { 0.180, 0, 0 } },
};

static const joint_row leg[TR_HUMAN_LEG_JOINTS] = {
    { "UpLeg", -1, { 0.090, -0.050, 0 } },
    { "Leg", TR_HUMAN_UP_LEG, { 0, -0.425, 0 } },
    { "Foot", TR_HUMAN_LEG, { 0, -0.410, 0 } },
    { "Toe", TR_HUMAN_FOOT, { 0, -0.058, 0.130 } },
    { "Toe_End", TR_HUMAN_TOE, { 0, -0.004, 0.070 } },
};

static const vec3 ankle_over_sole = { 0, 0.080, 0 }, ball_over_sole = { 0, 0.022, 0.130 },
                  heel_over_sole = { 0, 0, -0.050 };

static bool add_limb( tr_skeleton *skeleton, const joint_row *rows, int count, int side, int stem )
{
    int first = skeleton->joint_count;
    for ( int i = 0; i < count; ++i ) {
        char name[32] = { 0 };
        strcat( strcpy( name, side == TR_HUMAN_LEFT ? "Left" : "Right" ), rows[i].name );
        vec3 offset = rows[i].offset;
        if ( side == TR_HUMAN_RIGHT )
            offset.x = -offset.x;
        int parent = rows[i].parent < 0 ? stem : first + rows[i].parent;
        if ( tr_skeleton_add( skeleton, name, parent, offset ) < 0 )
            return false;
    }
    return true;
}

static bool add_joints( tr_skeleton *out )
{
    for ( int i = 0; i <= TR_HUMAN_HEAD_END; ++i )
        if ( tr_skeleton_add( out, trunk[i].name, trunk[i].parent, trunk[i].offset ) < 0 )
            return false;
    return add_limb( out, arm, TR_HUMAN_ARM_JOINTS, TR_HUMAN_LEFT, TR_HUMAN_CHEST ) &&
           add_limb( out, arm, TR_HUMAN_ARM_JOINTS, TR_HUMAN_RIGHT, TR_HUMAN_CHEST ) &&
           add_limb( out, leg, TR_HUMAN_LEG_JOINTS, TR_HUMAN_LEFT, TR_HUMAN_HIPS ) &&
           add_limb( out, leg, TR_HUMAN_LEG_JOINTS, TR_HUMAN_RIGHT, TR_HUMAN_HIPS );
}

bool tr_human_skeleton( tr_skeleton *out, tr_error *error )
{
    *out = ( tr_skeleton ){ 0 };
    if ( !add_joints( out ) ) {
        tr_skeleton_free( out );
        return tr_error_memory( error );
    }
    assert( out->joint_count == TR_HUMAN_JOINTS );
    out->joints[TR_HUMAN_HEAD_END].end_site = true;
    for ( int side = 0; side < 2; ++side ) {
        out->joints[tr_human_arm( side, TR_HUMAN_THUMB_END )].end_site = true;
        out->joints[tr_human_arm( side, TR_HUMAN_HAND_END )].end_site = true;
        out->joints[tr_human_leg( side, TR_HUMAN_TOE_END )].end_site = true;
    }
    if ( tr_skeleton_classify( out, error ) )
        return true;
    tr_skeleton_free( out );
    return false;
}

// ------------------------------------------------------------------------------------------------ hands

static double outward( int side ) // sign of the side's x
{
    return side == TR_HUMAN_LEFT ? 1.0 : -1.0;
}

// At rest fingers point along ±X, the palm faces -Y and the thumb is at +Z.
quat tr_human_hand_rotation( int side, vec3 fingers, vec3 palm )
{
    vec3 x = v3_unit_or( v3_scale( outward( side ), fingers ), v3_x );
    vec3 z = v3_unit_or( v3_cross( palm, x ), v3_perpendicular( x ) ); // x × y with y = -palm
    return q_from_mat3( ( mat3 ){ x, v3_cross( z, x ), z } );
}

static vec3 palm_offset( int side ) // from the wrist, in the hand's frame
{
    double along = TR_HUMAN_PALM_CENTRE * arm[TR_HUMAN_HAND_END].offset.x;
    return v3( outward( side ) * along, -TR_HUMAN_PALM_DEPTH, 0 );
}

vec3 tr_human_palm( int side, vec3 hand, quat rotation )
{
    return v3_add( hand, q_rotate( rotation, palm_offset( side ) ) );
}

// Upper arm and forearm with the elbow bent by β span √(a² + b² + 2ab cos β); the line from shoulder to wrist
// runs ahead of the upper arm by about β b / (a + b), the hand by nearly β.
rigid tr_human_hang( int side, double swing, double out, double bend )
{
    double a = arm[TR_HUMAN_FOREARM].offset.x, b = arm[TR_HUMAN_HAND].offset.x;
    double span = sqrt( a * a + b * b + 2.0 * a * b * cos( bend ) );
    quat aside = q_axis_angle( v3_z, outward( side ) * out );
    quat reach = q_mul( aside, q_axis_angle( v3_x, -( swing + bend * b / ( a + b ) ) ) );
    quat point = q_mul( aside, q_axis_angle( v3_x, -( swing + 0.9 * bend ) ) );
    vec3 shoulder = v3_add( arm[TR_HUMAN_SHOULDER].offset, arm[TR_HUMAN_ARM].offset );
    shoulder.x *= outward( side );
    vec3 wrist = v3_add( shoulder, q_rotate( reach, v3( 0, -span, 0 ) ) );
    vec3 palm = q_rotate( point, v3( -outward( side ), 0, -0.35 ) );
    quat rotation = tr_human_hand_rotation( side, q_rotate( point, v3( 0, -1, 0 ) ), palm );
    return ( rigid ){ rotation, tr_human_palm( side, wrist, rotation ) };
}

// ------------------------------------------------------------------------------------------------- feet

static quat foot_rotation( const tr_human_foot *foot )
{
    return q_mul( q_axis_angle( v3_y, foot->heading ), q_axis_angle( v3_x, foot->roll ) );
}

static vec3 ankle_of( const tr_human_foot *foot )
{
    vec3 pivot = foot->roll > 0 ? ball_over_sole : heel_over_sole;
    vec3 rolled =
        v3_add( pivot, q_rotate( q_axis_angle( v3_x, foot->roll ), v3_sub( ankle_over_sole, pivot ) ) );
    return v3_add( foot->position, q_rotate( q_axis_angle( v3_y, foot->heading ), rolled ) );
}

// ------------------------------------------------------------------------------------------------ trunk

typedef struct solver {
    const tr_skeleton *human;
    const tr_human_targets *targets;
    quat *local;
    vec3 pelvis, spine; // as targeted, then moved for reach
    quat rotations[TR_HUMAN_JOINTS];
    vec3 positions[TR_HUMAN_JOINTS];
} solver;

static tr_pose pose_of( solver *s )
{
    return ( tr_pose ){ s->rotations, s->positions };
}

// Where a hand shall be as the chest is now: its rotation and, as position, the wrist.
static rigid wrist_of( const solver *s, int side )
{
    const tr_human_hand *hand = &s->targets->hands[side];
    rigid chest = { s->rotations[TR_HUMAN_CHEST], s->positions[TR_HUMAN_CHEST] };
    rigid rest = rigid_mul( chest, hand->rest );
    quat rotation = q_slerp( rest.rotation, hand->hold.rotation, hand->grip );
    vec3 palm = v3_lerp( rest.position, hand->hold.position, hand->grip );
    return ( rigid ){ rotation, v3_sub( palm, q_rotate( rotation, palm_offset( side ) ) ) };
}

static void place_trunk( solver *s )
{
    // Breathing in straightens the back by a degree at the level of the ribs.
    vec3 share = v3_scale( 0.25, s->spine );
    vec3 ribs = v3_add( share, v3( -0.012 * s->targets->breath, 0, 0 ) );
    s->local[TR_HUMAN_HIPS] = s->targets->pelvis_rotation;
    s->local[TR_HUMAN_SPINE] = q_from_vector( share );
    s->local[TR_HUMAN_SPINE1] = q_from_vector( share );
    s->local[TR_HUMAN_SPINE2] = q_from_vector( ribs );
    s->local[TR_HUMAN_CHEST] = q_from_vector( share );
    s->positions[TR_HUMAN_HIPS] = s->pelvis;
    s->rotations[TR_HUMAN_HIPS] = s->local[TR_HUMAN_HIPS];
    tr_pose_refresh( s->human, s->local, pose_of( s ), TR_HUMAN_HIPS );
}

// max(x, 0) with a soft knee of width `knee`, so that help sets in and fades without a kink.
static double soft_excess( double x, double knee )
{
    return 0.5 * ( x + sqrt( x * x + knee * knee ) );
}

// One round of leaning: what a shoulder lacks to its hand turns the spine (ω = r × e / |r|², the least
// rotation that moves the shoulder by e) and carries the pelvis along; what a hip lacks to its foot pulls the
// pelvis towards that foot. Only firm hands ask for it.
static void lean_once( solver *s )
{
    vec3 carry = v3_zero, turn = v3_zero;
    for ( int side = 0; side < 2; ++side ) {
        vec3 shoulder = s->positions[tr_human_arm( side, TR_HUMAN_ARM )];
        vec3 reach = v3_sub( wrist_of( s, side ).position, shoulder );
        double excess = soft_excess( v3_length( reach ) - 0.93 * TR_HUMAN_ARM_LENGTH, 0.012 );
        vec3 pull = v3_scale( 0.5 * s->targets->hands[side].firm * excess, v3_unit( reach ) );
        vec3 lever = v3_sub( shoulder, s->positions[TR_HUMAN_SPINE] );
        turn = v3_mad( turn, 1.0 / v3_dot( lever, lever ), v3_cross( lever, pull ) );
        carry = v3_mad( carry, 0.5, pull );
    }
    for ( int side = 0; side < 2; ++side ) {
        vec3 hip = s->positions[tr_human_leg( side, TR_HUMAN_UP_LEG )];
        vec3 reach = v3_sub( ankle_of( &s->targets->feet[side] ), hip );
        double excess = soft_excess( v3_length( reach ) - 0.99 * TR_HUMAN_LEG_LENGTH, 0.005 );
        carry = v3_mad( carry, excess, v3_unit( reach ) );
    }
    s->pelvis = v3_add( s->pelvis, carry );
    s->spine = v3_add( s->spine, q_unrotate( s->targets->pelvis_rotation, turn ) );
    place_trunk( s );
}

static double soft_limit( double x, double limit )
{
    return limit * tanh( x / limit );
}

// To look for something behind, the person turns neither way.
static double look_yaw( double yaw )
{
    return soft_limit( yaw, 80 * TR_DEGREE ) * clampd( ( TR_PI - fabs( yaw ) ) / ( 60 * TR_DEGREE ), 0, 1 );
}

// The head turns towards `look` as far as a neck can: yaw and pitch against the chest, limited softly, two
// fifths of them in the neck.
static void turn_head( solver *s )
{
    vec3 eyes =
        v3_add( s->positions[TR_HUMAN_HEAD], q_rotate( s->rotations[TR_HUMAN_CHEST], v3( 0, 0.08, 0.08 ) ) );
    vec3 d = q_unrotate( s->rotations[TR_HUMAN_CHEST], v3_sub( s->targets->look, eyes ) );
    double w = s->targets->look_weight;
    double yaw = w * look_yaw( atan2( d.x, d.z ) );
    double pitch = 0.75 * w * soft_limit( -atan2( d.y, hypot( d.x, d.z ) ), 55 * TR_DEGREE );
    const double share[2] = { 0.4, 0.6 };
    for ( int i = 0; i < 2; ++i )
        s->local[TR_HUMAN_NECK + i] =
            q_mul( q_axis_angle( v3_y, share[i] * yaw ), q_axis_angle( v3_x, share[i] * pitch ) );
    tr_pose_refresh( s->human, s->local, pose_of( s ), TR_HUMAN_NECK );
}

// ------------------------------------------------------------------------------------------------ limbs

// The shoulder girdle follows the hand: forward and up when it is far out in front or above.
static void move_clavicle( solver *s, int side )
{
    int clavicle = tr_human_arm( side, TR_HUMAN_SHOULDER );
    vec3 shoulder = s->positions[tr_human_arm( side, TR_HUMAN_ARM )];
    vec3 wrist = wrist_of( s, side ).position;
    vec3 d = v3_scale( 1.0 / TR_HUMAN_ARM_LENGTH,
                       q_unrotate( s->rotations[TR_HUMAN_CHEST], v3_sub( wrist, shoulder ) ) );
    double forward = 16 * TR_DEGREE * soft_limit( soft_excess( d.z - 0.2, 0.2 ), 1.0 );
    double across = -8 * TR_DEGREE * soft_limit( outward( side ) * d.x, 1.0 );
    double up = 14 * TR_DEGREE * soft_limit( soft_excess( d.y + 0.3, 0.3 ), 1.0 ) +
                1.2 * TR_DEGREE * s->targets->breath;
    // A droop of 3° at rest: in the T-pose the girdle is raised.
    quat lift = q_axis_angle( v3_z, outward( side ) * ( up - 3 * TR_DEGREE ) );
    quat protract = q_axis_angle( v3_y, -outward( side ) * ( forward + across ) );
    s->local[clavicle] = q_mul( protract, lift );
    tr_pose_refresh( s->human, s->local, pose_of( s ), clavicle );
}

// Half of the hand's twist against the forearm belongs to the forearm: radius and ulna cross. Of more than a
// third of a turn less and less, and of half a turn nothing: there it is as much to the one side as to the
// other.
static double forearm_share( double twist )
{
    return fabs( twist ) <= 120 * TR_DEGREE ? 0.5 * twist : copysign( TR_PI - fabs( twist ), twist );
}

static void share_twist( solver *s, int side )
{
    int forearm = tr_human_arm( side, TR_HUMAN_FOREARM ), hand = tr_human_arm( side, TR_HUMAN_HAND );
    quat swing, twist;
    q_swing_twist( s->local[hand], v3_x, &swing, &twist );
    quat share = q_axis_angle( v3_x, forearm_share( q_to_vector( twist ).x ) );
    s->local[forearm] = q_mul( s->local[forearm], share );
    s->local[hand] = q_mul( q_conj( share ), s->local[hand] );
    tr_pose_refresh( s->human, s->local, pose_of( s ), forearm );
}

// A hand that is not firm stays short of a straight arm, softly.
static vec3 within_reach( const solver *s, int side, vec3 wrist )
{
    vec3 shoulder = s->positions[tr_human_arm( side, TR_HUMAN_ARM )], reach = v3_sub( wrist, shoulder );
    double distance = v3_length( reach ) / TR_HUMAN_ARM_LENGTH;
    if ( distance <= 0.88 )
        return wrist;
    double shorter = ( 0.88 + soft_limit( distance - 0.88, 0.08 ) ) / distance;
    return v3_mad( shoulder, lerpd( shorter, 1.0, s->targets->hands[side].firm ), reach );
}

// Both elbow and knee start out bent about their hinge, so that the chain's plane is the hinge's plane.
static double place_arm( solver *s, int side )
{
    const tr_human_hand *target = &s->targets->hands[side];
    rigid wrist = wrist_of( s, side );
    int upper = tr_human_arm( side, TR_HUMAN_ARM ), hand = tr_human_arm( side, TR_HUMAN_HAND );
    move_clavicle( s, side );
    s->local[upper] = q_identity;
    s->local[upper + 1] = q_axis_angle( v3_y, -outward( side ) * 90 * TR_DEGREE );
    tr_pose_refresh( s->human, s->local, pose_of( s ), upper );
    vec3 elbow =
        v3_dot( target->elbow, target->elbow ) > 0 ? target->elbow : v3( outward( side ) * 0.55, -0.6, -0.6 );
    double left = tr_ik_two_bone(
        s->human, s->local, pose_of( s ), &( tr_limb_chain ){ upper, upper + 1, hand, true },
        within_reach( s, side, wrist.position ), q_rotate( s->rotations[TR_HUMAN_CHEST], elbow ) );
    tr_ik_orient( s->human, s->local, pose_of( s ), hand, wrist.rotation );
    share_twist( s, side );
    return left;
}

static double place_leg( solver *s, int side )
{
    const tr_human_foot *target = &s->targets->feet[side];
    int thigh = tr_human_leg( side, TR_HUMAN_UP_LEG ), foot = tr_human_leg( side, TR_HUMAN_FOOT );
    s->local[thigh] = q_identity;
    s->local[thigh + 1] = q_axis_angle( v3_x, 90 * TR_DEGREE );
    tr_pose_refresh( s->human, s->local, pose_of( s ), thigh );
    vec3 toes = q_rotate( q_axis_angle( v3_y, target->heading + outward( side ) * target->knee ), v3_z );
    vec3 ahead = v3_unit_or( v3_horizontal( q_rotate( s->targets->pelvis_rotation, v3_z ) ), v3_z );
    vec3 pole = v3_dot( target->knee_to, target->knee_to ) > 0
                    ? target->knee_to
                    : v3_add( v3_scale( 0.75, toes ), v3_scale( 0.25, ahead ) );
    double left =
        tr_ik_two_bone( s->human, s->local, pose_of( s ), &( tr_limb_chain ){ thigh, thigh + 1, foot, true },
                        ankle_of( target ), pole );
    tr_ik_orient( s->human, s->local, pose_of( s ), foot, foot_rotation( target ) );
    // Toes stay on the ground while the heel is up, and straighten when the foot leaves it.
    double grounded = 1.0 - smooth_step5( target->position.y / 0.06 );
    double roll = remainder( target->roll, 2.0 * TR_PI ); // a somersault brings it round
    double bend = -grounded * fmax( roll, 0.0 );
    s->local[foot + 1] = q_axis_angle( v3_x, bend );
    tr_pose_refresh( s->human, s->local, pose_of( s ), foot );
    return left;
}

static void stand_and_lean( solver *s )
{
    s->pelvis = s->targets->pelvis;
    s->spine = s->targets->spine;
    for ( int j = 0; j < TR_HUMAN_JOINTS; ++j )
        s->local[j] = q_identity;
    place_trunk( s );
    for ( int round = 0; round < 10; ++round )
        lean_once( s );
}

rigid tr_human_chest( const tr_skeleton *human, const tr_human_targets *targets )
{
    quat local[TR_HUMAN_JOINTS];
    solver s = { .human = human, .targets = targets, .local = local };
    stand_and_lean( &s );
    return ( rigid ){ s.rotations[TR_HUMAN_CHEST], s.positions[TR_HUMAN_CHEST] };
}

double tr_human_solve( const tr_skeleton *human, const tr_human_targets *targets, quat *local, vec3 *root )
{
    assert( human->joint_count == TR_HUMAN_JOINTS );
    solver s = { .human = human, .targets = targets, .local = local };
    stand_and_lean( &s );
    turn_head( &s );
    double worst = 0.0;
    for ( int side = 0; side < 2; ++side ) {
        worst = fmax( worst, place_leg( &s, side ) );
        worst = fmax( worst, place_arm( &s, side ) );
    }
    *root = s.pelvis;
    return worst;
}
