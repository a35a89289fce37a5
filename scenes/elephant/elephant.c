// A person strolls along, raises the right arm and waves; an elephant walks by it, and its trunk goes with
// the arm. Eleven pairs of poses define how.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define FRAME_COUNT 241
#define DURATION    ( ( FRAME_COUNT - 1 ) / FPS )
#define WAVE        4.2 // seconds: the arm is up
#define PAIRS       11

typedef struct stroll {
    tr_track along;
    tr_stepper steps;
} stroll;

static tr_gait_place place_at( const void *context, double time )
{
    const stroll *s = context;
    return ( tr_gait_place ){ v3( 0, 0, tr_track_at( &s->along, time ) ), 0 };
}

static bool plan( stroll *s, tr_error *error )
{
    tr_track_add_moving( &s->along, -3.0, -5.2, 1.0 );
    tr_track_add_moving( &s->along, 2.6, 0.4, 1.0 );
    tr_track_add( &s->along, 4.2, 1.3 );
    tr_track_add( &s->along, 6.0, 1.3 );
    tr_track_add_moving( &s->along, 7.6, 2.2, 1.0 );
    tr_track_add_moving( &s->along, 11.0, 5.6, 1.0 );
    tr_stepper_def def = tr_default_stepper_def();
    def.path = place_at;
    def.context = s;
    def.end = DURATION;
    def.seed = 61;
    return tr_stepper_plan( &s->steps, &def, error );
}

// In the frame of the ground under the person: up beside the head, to and fro, down again.
static vec3 wave_at( double time )
{
    tr_track3 way = { 0 };
    tr_track3_add( &way, WAVE - 1.3, v3( -0.30, 0.92, 0.12 ) );
    tr_track3_add( &way, WAVE - 0.6, v3( -0.34, 1.30, 0.42 ) );
    for ( int i = 0; i < 3; ++i ) {
        tr_track3_add( &way, WAVE + 0.6 * i, v3( -0.56, 1.80, 0.14 ) );
        tr_track3_add( &way, WAVE + 0.3 + 0.6 * i, v3( -0.16, 1.86, 0.18 ) );
    }
    tr_track3_add( &way, WAVE + 2.3, v3( -0.36, 1.25, 0.44 ) );
    tr_track3_add( &way, WAVE + 3.0, v3( -0.30, 0.92, 0.12 ) );
    return tr_track3_at( &way, time );
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const stroll *s = context;
    (void)person;
    tr_human_targets out = tr_stepper_at( &s->steps, time );
    rigid body = tr_stepper_body( &s->steps, time );
    double up = tr_pulse( time, WAVE - 0.3, WAVE + 1.9, 0.9, 0.9 );
    tr_human_hand *hand = &out.hands[TR_HUMAN_RIGHT];
    vec3 fingers = v3_lerp( v3( 0, -1, 0.3 ), v3( 0, 1, 0.1 ), up ),
         palm = v3_lerp( v3( 1, 0, 0.2 ), v3( 0.1, 0, 1 ), up );
    hand->hold = ( rigid ){ q_mul( body.rotation, tr_human_hand_rotation( TR_HUMAN_RIGHT, fingers, palm ) ),
                            rigid_apply( body, wave_at( time ) ) };
    hand->grip = tr_pulse( time, WAVE - 0.8, WAVE + 2.3, 0.7, 0.8 );
    hand->elbow = v3_lerp( v3( -0.25, -0.3, -1.0 ), v3( -1.0, -0.5, -0.2 ), hand->grip );
    out.look = rigid_apply( body, v3( -0.8 * up, 1.55 + 0.25 * up, 3.0 ) );
    return out;
}

bool tr_elephant_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always one
    stroll s = { 0 };
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    tr_cast member = tr_default_cast( "ella" );
    snprintf( member.source.file, sizeof member.source.file, "ella.bvh" );
    member.colour[0] = 0.56f;
    member.colour[1] = 0.58f;
    member.colour[2] = 0.64f;
    bool ok = tr_scene_add_cast( scene, &member ) != NULL || tr_error_memory( error );
    ok = ok && plan( &s, error ) &&
         tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &s, NULL, error ) &&
         tr_elephant_cast( scene, library, 0, tr_elephant_pose, PAIRS, 0.5, error );
    tr_stepper_free( &s.steps );
    return ok;
}
