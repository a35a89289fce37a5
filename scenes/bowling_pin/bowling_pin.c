// A person hops on the spot, bends and swings the left forearm; a bowling pin hops and bends by it, and its
// neck and head go with the forearm. Fifteen pairs of poses define how.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define FRAME_COUNT 211
#define HOPS        3
#define HOP         0.8 // seconds: the first take-off
#define BEAT        1.3 // seconds from hop to hop
#define AIR         0.4 // seconds off the ground
#define PAIRS       15
#define BELLY       6

// ------------------------------------------------------------------------------------------------- person

static double hop_height( double time ) // height of the feet
{
    for ( int i = 0; i < HOPS; ++i ) {
        double u = ( time - HOP - BEAT * i ) / AIR;
        if ( u > 0 && u < 1 )
            return 0.20 * ( 16 * u * u * ( 1 - u ) * ( 1 - u ) );
    }
    return 0;
}

static double squat( double time ) // 0 … 1 before and after each hop
{
    double most = 0;
    for ( int i = 0; i < HOPS; ++i ) {
        double begin = HOP + BEAT * i;
        most = fmax( most, tr_pulse( time, begin - 0.16, begin - 0.12, 0.30, 0.12 ) );
        most = fmax( most, 0.8 * tr_pulse( time, begin + AIR + 0.08, begin + AIR + 0.10, 0.10, 0.30 ) );
    }
    return most;
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    (void)context;
    (void)person;
    double bow = tr_pulse( time, 5.1, 5.6, 0.6, 0.6 ), lean = tr_pulse( time, 3.7, 3.9, 0.4, 0.5 ),
           down = squat( time ), up = hop_height( time );
    tr_human_targets out = { .look = v3( 0, 1.5 - 0.8 * bow, 3 ), .look_weight = 0.8 };
    out.pelvis = v3( 0.06 * lean, TR_HUMAN_HIP_HEIGHT - 0.025 - 0.14 * down + up, -0.10 * bow );
    out.pelvis_rotation = q_axis_angle( v3_x, 0.12 * down + 0.35 * bow );
    out.spine = v3( 0.2 * down + 0.65 * bow, 0, -0.35 * lean );
    out.breath = sin( 2.0 * TR_PI * 0.27 * time );
    for ( int side = 0; side < 2; ++side ) {
        double s = side == TR_HUMAN_LEFT ? 1 : -1;
        out.feet[side] = ( tr_human_foot ){ .position = v3( 0.12 * s, up, 0 ), .heading = 8 * s * TR_DEGREE };
        double swing = side == TR_HUMAN_LEFT ? 0.9 * sin( 2.0 * TR_PI * time / 1.6 ) : 0;
        out.hands[side].rest =
            tr_human_hang( side, 0.25 + 0.2 * swing, 0.25, side == TR_HUMAN_LEFT ? 1.25 + 0.5 * swing : 0.5 );
        out.hands[side].hold = rigid_identity;
    }
    return out;
}

// ---------------------------------------------------------------------------------------------------- pin

typedef struct pin {
    int base, belly[BELLY], neck[2], head, cheeks[2], feet[2];
} pin;

static void add_pin( pin *p, tr_rig *rig )
{
    p->base = tr_rig_joint( rig, "Hips", -1, v3( 0, 0.14, 0 ) );
    int parent = p->base;
    for ( int i = 0; i < BELLY; ++i ) {
        char name[16];
        snprintf( name, sizeof name, "Spine%d", i + 1 );
        parent = p->belly[i] = tr_rig_joint( rig, name, parent, v3( 0, 0.24 + 0.1 * i, 0 ) );
    }
    parent = p->neck[0] = tr_rig_joint( rig, "Neck1", parent, v3( 0, 0.84, 0 ) );
    parent = p->neck[1] = tr_rig_joint( rig, "Neck2", parent, v3( 0, 0.93, 0 ) );
    p->head = tr_rig_joint( rig, "Head", parent, v3( 0, 1.02, 0 ) );
    tr_rig_tip( rig, p->head, v3( 0, 1.20, 0 ) );
    for ( int i = 0; i < 2; ++i ) {
        double s = i == 0 ? 1 : -1;
        p->cheeks[i] =
            tr_rig_joint( rig, i == 0 ? "LeftCheek" : "RightCheek", p->head, v3( 0.06 * s, 1.06, 0.05 ) );
        tr_rig_tip( rig, p->cheeks[i], v3( 0.07 * s, 1.05, 0.09 ) );
        p->feet[i] =
            tr_rig_joint( rig, i == 0 ? "LeftFoot" : "RightFoot", p->base, v3( 0.10 * s, 0.05, 0.02 ) );
        tr_rig_tip( rig, p->feet[i], v3( 0.11 * s, 0, 0.12 ) );
    }
}

// The belly bends with the back, more than the back does; the neck with the forearm. A stub foot can only
// point down, when the pin is in the air.
static void pose_pin( const void *context, tr_rig *rig, const tr_person_view *view )
{
    const pin *p = context;
    double bow = atan2( view->back.z, view->back.y ), side = atan2( view->back.x, view->back.y );
    for ( int i = 0; i < BELLY; ++i ) {
        double share = i < 3 ? 0.16 : 0.22;
        tr_rig_turn( rig, p->belly[i], q_from_vector( v3( share * bow, 0, -share * 1.2 * side ) ) );
    }
    vec3 turn =
        q_to_vector( q_between( v3_y, v3_unit( v3_add( v3_y, v3_scale( 0.8, view->forearms[0] ) ) ) ) );
    const int neck[] = { p->neck[0], p->neck[1], p->head };
    for ( int i = 0; i < 3; ++i )
        tr_rig_turn( rig, neck[i], q_from_vector( v3_scale( i < 2 ? 0.42 : 0.16, turn ) ) );
    for ( int i = 0; i < 2; ++i )
        tr_rig_orient( rig, p->feet[i], q_identity );
}

static bool add_pairs( tr_scene *scene, tr_library *library, tr_error *error )
{
    static const char *const forearm[2] = { "LeftForeArm", "LeftHand" }, *const neck[2] = { "Neck1", "Head" };
    pin p;
    tr_rig *rig = tr_alloc( 1, sizeof *rig );
    if ( rig == NULL )
        return tr_error_memory( error );
    tr_rig_start( rig );
    add_pin( &p, rig );
    bool ok = tr_animator_part( scene, "neck", "pin", forearm, neck, 0, error ) &&
              tr_animator_add( scene, library, 0, rig, &p, pose_pin, PAIRS, error );
    tr_rig_free( rig );
    tr_free( rig );
    return ok;
}

bool tr_bowling_pin_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always one
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    tr_cast member = tr_default_cast( "pin" );
    snprintf( member.source.file, sizeof member.source.file, "pin.bvh" );
    snprintf( member.target.skeleton.file, sizeof member.target.skeleton.file, "pin_poses.bvh" );
    member.target.girths[member.target.girth_count++] = ( tr_limb_value ){ "torso", 1.7 };
    member.colour[0] = 0.93f;
    member.colour[1] = 0.90f;
    member.colour[2] = 0.84f;
    bool ok = tr_scene_add_cast( scene, &member ) != NULL || tr_error_memory( error );
    return ok && tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, NULL, NULL, error ) &&
           add_pairs( scene, library, error );
}
