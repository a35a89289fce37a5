// A person walks and raises one arm after the other, then both; a rabbit copies the walk by the joint map,
// and its ears go with the arms.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define FRAME_COUNT 211
#define DURATION    ( ( FRAME_COUNT - 1 ) / FPS )
#define PAIRS       8

typedef struct outing {
    tr_track along;
    tr_stepper steps;
} outing;

static tr_gait_place place_at( const void *context, double time )
{
    const outing *o = context;
    return ( tr_gait_place ){ v3( 0, 0, tr_track_at( &o->along, time ) ), 0 };
}

static bool plan( outing *o, tr_error *error )
{
    tr_track_add_moving( &o->along, -3.0, -4.2, 0.8 );
    tr_track_add_moving( &o->along, 3.6, 1.08, 0.8 );
    tr_track_add( &o->along, 5.0, 1.7 );
    tr_stepper_def def = tr_default_stepper_def();
    def.path = place_at;
    def.context = o;
    def.end = DURATION;
    def.seed = 71;
    return tr_stepper_plan( &o->steps, &def, error );
}

// How far an arm is up: the left one first, then the right one, then both.
static double raised( int side, double time )
{
    double own = 0.8 + 1.7 * side;
    return fmax( tr_pulse( time, own + 0.5, own + 0.9, 0.6, 0.7 ), tr_pulse( time, 5.2, 5.9, 0.8, 0.8 ) );
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const outing *o = context;
    (void)person;
    tr_human_targets out = tr_stepper_at( &o->steps, time );
    rigid body = tr_stepper_body( &o->steps, time );
    for ( int side = 0; side < 2; ++side ) {
        double s = side == TR_HUMAN_LEFT ? 1 : -1, up = raised( side, time );
        vec3 fingers = v3_lerp( v3( 0, -1, 0.3 ), v3( 0.1 * s, 1, 0 ), up ),
             palm = v3_lerp( v3( -s, 0, 0.2 ), v3( -s, 0, 0.3 ), up );
        // Past the side, not through the chest.
        vec3 low = v3( 0.30 * s, 0.90, 0.10 ), wide = v3( 0.66 * s, 1.35, 0.20 ),
             high = v3( 0.38 * s, 1.86, 0.10 );
        vec3 place = v3_lerp( v3_lerp( low, wide, up ), v3_lerp( wide, high, up ), up );
        tr_human_hand *hand = &out.hands[side];
        hand->hold = ( rigid ){ q_mul( body.rotation, tr_human_hand_rotation( side, fingers, palm ) ),
                                rigid_apply( body, place ) };
        hand->grip = smooth_step5( 3.0 * up );
        hand->elbow = v3( s, -0.3, -0.5 );
    }
    return out;
}

bool tr_rabbit_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always one
    outing o = { 0 };
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    tr_cast member = tr_default_cast( "rob" );
    snprintf( member.source.file, sizeof member.source.file, "rob.bvh" );
    member.colour[0] = 0.80f;
    member.colour[1] = 0.70f;
    member.colour[2] = 0.58f;
    bool ok = tr_scene_add_cast( scene, &member ) != NULL || tr_error_memory( error );
    ok = ok && plan( &o, error ) &&
         tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &o, NULL, error ) &&
         tr_rabbit_cast( scene, library, 0, PAIRS, error );
    tr_stepper_free( &o.steps );
    return ok;
}
