// An elephant takes a box from a pedestal with its trunk and hands it to a person, who turns and hands it to
// a rabbit. Performers of elephant and rabbit are people who reach for where the box is in their own size:
// their arms are to the other bodies' trunk and arms as short as they are long.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define FRAME_COUNT 256
#define PAIRS       16

enum { ELLA, PAT, ROB };

// When the next one touches the box, and when the one before lets go.
#define TAKE   1.5
#define LIFT   1.8
#define GIVE   3.6
#define TAKEN  4.1
#define PASS   5.7
#define PASSED 6.2
#define KEPT   7.1

static const double rabbit_size = 1.3, rabbit_palm = 0.013;
static const vec3 box_size = { 0.30, 0.20, 0.22 }, pedestal_size = { 0.22, 0.60, 0.30 };

// ------------------------------------------------------------------------------------------------- places

static const vec3 on_pedestal = { -1.00, 0.70, 0.34 }, given = { -0.36, 1.04, 0.34 },
                  passed = { 0.46, 0.72, 0.43 };

static rigid ella_at( void ) // where its hips are
{
    return tr_crowd_place( v3( -3.48, 0, 0.34 ), 0.5 * TR_PI );
}

static rigid rob_at( void ) // on the other side of the box from the person
{
    vec3 way = v3_unit( v3_horizontal( passed ) );
    return tr_crowd_place( v3_mad( v3_horizontal( passed ), 0.305, way ), atan2( -way.x, -way.z ) );
}

// The middle of the box and its turn, from place to place on minimum-jerk curves.
static rigid box_at( const void *context, double time )
{
    (void)context;
    tr_track3 way = { 0 };
    tr_track turn = { 0 };
    vec3 kept = rigid_apply( rob_at(), v3( 0, 0.61, 0.25 ) );
    tr_track3_add( &way, LIFT - 0.1, on_pedestal );
    tr_track3_add( &way, LIFT + 0.75, v3( -0.92, 1.10, 0.36 ) );
    tr_track3_add( &way, GIVE, given );
    tr_track3_add( &way, TAKEN, given );
    tr_track3_add( &way, 0.5 * ( TAKEN + PASS ), v3( 0.02, 0.98, 0.46 ) );
    tr_track3_add( &way, PASS, passed );
    tr_track3_add( &way, PASSED, passed );
    tr_track3_add( &way, KEPT, kept );
    tr_track_add( &turn, LIFT - 0.1, -0.5 * TR_PI );
    tr_track_add( &turn, GIVE, atan2( given.x, given.z ) );
    tr_track_add( &turn, TAKEN, atan2( given.x, given.z ) );
    tr_track_add( &turn, PASS, atan2( passed.x, passed.z ) );
    return ( rigid ){ q_axis_angle( v3_y, tr_track_at( &turn, time ) ), tr_track3_at( &way, time ) };
}

// Where bones of hands are that hold the box: the person's at the near side, the rabbit's at the other.
static vec3 grip( int who, int side )
{
    double s = side == TR_HUMAN_LEFT ? 1 : -1;
    return who == PAT ? v3( s * ( 0.5 * box_size.x + TR_HUMAN_PALM_DEPTH ), -0.02, -0.045 )
                      : v3( -s * ( 0.5 * box_size.x + rabbit_palm ), 0.0, 0.05 );
}

static const vec3 box_front = { 0, 0.04, 0.225 }; // where the bone of the trunk ends that holds it

// ----------------------------------------------------------------------------------------------- elephant

static const vec3 trunk_base = { 0, 2.104, 1.97 }; // from the ground below the hips, legs a little bent
static const double trunk_length = 1.62, arm_length = TR_HUMAN_ARM_LENGTH;

// The tip of the trunk, seen from its base where the elephant looks.
static vec3 trunk_way( double time )
{
    rigid ella = ella_at();
    vec3 hanging = v3( 0, -1.50, -0.08 );
    vec3 box = v3_sub( rigid_apply( rigid_inverse( ella ), rigid_apply( box_at( NULL, time ), box_front ) ),
                       trunk_base );
    double on = tr_pulse( time, TAKE, TAKEN, 1.1, 1.4 );
    vec3 over = v3( 0, -1.35, 0.30 ); // on the way
    vec3 from = v3_lerp( hanging, over, 2.0 * on * ( 1.0 - on ) );
    return v3_lerp( from, box, on );
}

// The tip of the trunk is where it shall be at the pair's frame.
static void pose_ella( const void *context, tr_rig *rig, const tr_person_view *view )
{
    const tr_elephant *body = context;
    tr_elephant_pose( body, rig, view );
    vec3 goal = v3_add( trunk_base, trunk_way( view->frame / FPS ) );
    goal.z += rig->rest[body->hips].z;
    int tip = body->trunk[TR_ELEPHANT_TRUNK - 1] + 1; // the end of the last one
    tr_pull_def def = tr_default_pull_def();
    tr_pose_pull( &def, &rig->motion.skeleton, rig->local, rig->root, body->trunk[0], tip, goal );
    tr_pose_refresh( &rig->motion.skeleton, rig->local, rig->pose, body->trunk[0] );
}

// ------------------------------------------------------------------------------------------------- people

static tr_human_targets standing( rigid at, double time, double phase )
{
    double sway = sin( 2.0 * TR_PI * 0.21 * time + phase );
    tr_human_targets out = { .look_weight = 0.9 };
    out.pelvis = rigid_apply( at, v3( 0.012 * sway, TR_HUMAN_HIP_HEIGHT - 0.03, 0 ) );
    out.pelvis_rotation = at.rotation;
    out.breath = sin( 2.0 * TR_PI * 0.27 * time + phase );
    for ( int side = 0; side < 2; ++side ) {
        double s = side == TR_HUMAN_LEFT ? 1 : -1;
        out.feet[side].position = rigid_apply( at, v3( 0.13 * s, 0, 0 ) );
        out.feet[side].heading = tr_crowd_heading( at ) * TR_DEGREE + 0.15 * s;
        out.hands[side].rest = tr_human_hang( side, 0.1, 0.16, 0.3 );
        out.hands[side].hold = rigid_identity;
    }
    return out;
}

// A hand whose palm is so far from its shoulder, seen from where the person faces.
static void reach( tr_human_targets *out, rigid at, int side, vec3 way, double grip )
{
    double s = side == TR_HUMAN_LEFT ? 1 : -1, beyond = 0.085; // from the wrist to the palm
    vec3 shoulder = v3( 0.18 * s, 1.40, -0.012 ), wrist = v3_add( shoulder, way );
    vec3 fingers = v3_unit( way ), palm = v3_add( wrist, v3_scale( beyond, fingers ) );
    vec3 facing = v3_unit( v3_sub( v3( -s, 0, 0 ), v3_scale( v3_dot( v3( -s, 0, 0 ), fingers ), fingers ) ) );
    out->hands[side].hold = ( rigid ){ q_mul( at.rotation, tr_human_hand_rotation( side, fingers, facing ) ),
                                       rigid_apply( at, v3_mad( palm, TR_HUMAN_PALM_DEPTH, facing ) ) };
    out->hands[side].grip = grip;
    out->hands[side].elbow = v3( 0.6 * s, -0.8, -0.4 );
}

static tr_human_targets ella_targets( double time )
{
    rigid at = ella_at();
    tr_human_targets out = standing( at, time, 0 );
    vec3 way = v3_scale( arm_length / trunk_length, trunk_way( time ) );
    reach( &out, at, TR_HUMAN_RIGHT, way, 1 );
    out.look = rigid_apply( box_at( NULL, time ), v3_zero );
    out.look_weight = 0.5;
    return out;
}

static tr_human_targets rob_targets( double time )
{
    rigid at = rob_at(), box = box_at( NULL, time );
    tr_human_targets out = standing( at, time, 2.0 );
    double on = tr_pulse( time, PASS, 60.0, 0.9, 1.0 ), longer = TR_HUMAN_ARM_LENGTH / ( 0.2 * rabbit_size );
    for ( int side = 0; side < 2; ++side ) {
        double s = side == TR_HUMAN_LEFT ? 1 : -1;
        vec3 shoulder = v3_scale( rabbit_size, v3( 0.075 * s, 0.458, -0.006 ) ); // knees a little bent
        vec3 way =
            v3_sub( rigid_apply( rigid_inverse( at ), rigid_apply( box, grip( ROB, side ) ) ), shoulder );
        way = v3_sub( way, v3_scale( 0.03, v3_unit( way ) ) ); // from the palm to the wrist
        reach( &out, at, side, v3_scale( longer, way ), on );
    }
    out.look = v3_lerp( rigid_apply( at, v3( 0, 1.5, 2 ) ), rigid_apply( at, v3( 0, 1.2, 0.8 ) ), on );
    return out;
}

static tr_human_targets pat_targets( double time )
{
    rigid at = tr_crowd_place( v3_zero, 0 ), box = box_at( NULL, time );
    tr_human_targets out = standing( at, time, 1.0 );
    double on = tr_pulse( time, GIVE, PASSED, 0.9, 0.9 ), low = tr_pulse( time, PASS, PASSED, 1.0, 0.9 );
    double side_way = tr_pulse( time, GIVE - 0.1, TAKEN + 0.1, 1.0, 1.2 ),
           turned = atan2( box.position.x, box.position.z );
    double twist = on * turned + ( 1 - on ) * -0.5 * side_way;
    out.pelvis = v3_add( out.pelvis, v3( 0.05 * low, -0.20 * low, -0.06 * low ) );
    out.pelvis_rotation = q_axis_angle( v3_y, 0.35 * twist );
    out.spine = v3( 0.18 * on + 0.42 * low, 0.55 * twist, 0 );
    out.look = box.position;
    for ( int side = 0; side < 2; ++side ) {
        double s = side == TR_HUMAN_LEFT ? 1 : -1;
        vec3 fingers = q_rotate( box.rotation, v3( 0, 0.1, 1 ) ),
             palm = q_rotate( box.rotation, v3( -s, 0, 0 ) );
        vec3 skin = v3_sub( grip( PAT, side ), v3( s * TR_HUMAN_PALM_DEPTH, 0, 0 ) );
        out.hands[side].hold =
            ( rigid ){ tr_human_hand_rotation( side, fingers, palm ), rigid_apply( box, skin ) };
        out.hands[side].grip = on;
        out.hands[side].firm = on;
        out.hands[side].elbow = v3( 0.7 * s, -0.8, -0.4 );
    }
    return out;
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    (void)context;
    return person == ELLA ? ella_targets( time ) : person == PAT ? pat_targets( time ) : rob_targets( time );
}

// ------------------------------------------------------------------------------------------------- holds

static bool hold( tr_scene *scene, const char *id, tr_point a, vec3 at, double touch, double release,
                  tr_error *error )
{
    tr_constraint c = tr_default_constraint( id, TR_CONSTRAINT_RELATIVE );
    c.a = a;
    c.b = tr_point_prop( "box", at );
    c.first = tr_frames_in( touch, FPS );
    c.last = release > 0 ? tr_frames_in( release, FPS ) : FRAME_COUNT - 1;
    c.ease_in = 16;
    c.ease_out = 16;
    return tr_scene_add_constraint( scene, &c ) != NULL || tr_error_memory( error );
}

static bool add_holds( tr_scene *scene, tr_error *error )
{
    return hold( scene, "trunk", tr_point_joint( "ella", "Trunk8_End" ), box_front, TAKE, TAKEN, error ) &&
           hold( scene, "pat_l", tr_crowd_palm( "pat", 0 ), grip( PAT, 0 ), GIVE, PASSED, error ) &&
           hold( scene, "pat_r", tr_crowd_palm( "pat", 1 ), grip( PAT, 1 ), GIVE, PASSED, error ) &&
           hold( scene, "rob_l", tr_crowd_palm( "rob", 0 ), grip( ROB, 0 ), PASS, 0, error ) &&
           hold( scene, "rob_r", tr_crowd_palm( "rob", 1 ), grip( ROB, 1 ), PASS, 0, error );
}

// ------------------------------------------------------------------------------------------------- scene

static bool add_cast( tr_scene *scene, tr_error *error )
{
    static const char *const names[] = { "ella", "pat", "rob" };
    static const float colours[][3] = {
        { 0.56f, 0.58f, 0.64f }, { 0.30f, 0.56f, 0.70f }, { 0.80f, 0.70f, 0.58f } };
    for ( int i = 0; i < 3; ++i ) {
        tr_cast member = tr_default_cast( names[i] );
        snprintf( member.source.file, sizeof member.source.file, "%s.bvh", names[i] );
        for ( int c = 0; c < 3; ++c )
            member.colour[c] = colours[i][c];
        if ( tr_scene_add_cast( scene, &member ) == NULL )
            return tr_error_memory( error );
    }
    scene->cast[ROB].target.scale = rabbit_size;
    return true;
}

bool tr_menagerie_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always three
    vec3 pedestal = v3( on_pedestal.x, 0.5 * pedestal_size.y, on_pedestal.z );
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    return add_cast( scene, error ) &&
           tr_thing_add( scene, library, "box", box_size, tr_thing_yellow, box_at, NULL, error ) &&
           tr_furniture_add( scene, "pedestal", pedestal_size, pedestal, 0, tr_thing_grey, error ) &&
           add_holds( scene, error ) &&
           tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, NULL, NULL, error ) &&
           tr_elephant_cast( scene, library, ELLA, pose_ella, PAIRS, 0, error ) &&
           tr_rabbit_cast( scene, library, ROB, PAIRS, error );
}
