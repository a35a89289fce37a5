// Two people walk up to each other, swing their right hands up, clap them together above their heads, and
// step back. The hands touch for a moment only: the shortest contact there is.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#define FPS         30.0
#define FRAME_COUNT 166
#define DURATION    ( ( FRAME_COUNT - 1 ) / FPS )
#define APART       1.02 // metres between the pelvises when the hands meet
#define CLAP        2.60 // seconds
#define TOUCH       0.10 // seconds the palms stay together

typedef struct friend
{
    int index;
    tr_track along; // distance from the middle
    tr_stepper steps;
}
friend;

typedef struct meeting {
    tr_skeleton human;
    friend friends[2];
} meeting;

// ------------------------------------------------------------------------------------------------- path

// Face to face, right hand to right hand: each stands a little to the left of the line between them.
static tr_gait_place place_at( const void *context, double time )
{
    const friend *f = context;
    double side = f->index == 0 ? -1.0 : 1.0;
    vec3 position = v3( -0.16 * side, 0, side * tr_track_at( &f->along, time ) );
    return ( tr_gait_place ){ position, f->index == 0 ? 0.0 : TR_PI };
}

static bool plan( friend *f, int index, tr_error *error )
{
    *f = ( friend ){ .index = index };
    double late = 0.12 * index;
    tr_track_add( &f->along, late, 2.25 );
    tr_track_add( &f->along, CLAP - 0.35, 0.5 * APART );
    tr_track_add( &f->along, CLAP + 0.75 + late, 0.5 * APART );
    tr_track_add( &f->along, CLAP + 2.1 + late, 0.5 * APART + 0.42 );
    tr_stepper_def def = tr_default_stepper_def();
    def.path = place_at;
    def.context = f;
    def.end = DURATION;
    def.start_phase = 0.5 * index;
    def.seed = 3u + (unsigned)index;
    return tr_stepper_plan( &f->steps, &def, error );
}

// ------------------------------------------------------------------------------------------------- hands

// The right hand's way, in the frame of the ground under its owner: up beside the head, through the other's
// palm, down and back.
static vec3 swing_at( const friend *f, double time )
{
    double late = 0.05 * f->index;
    tr_track3 way = { 0 };
    vec3 meet = v3( -0.16, 1.66, 0.5 * APART );
    tr_track3_add( &way, CLAP - 1.15 + late, v3( -0.30, 0.95, 0.16 ) );
    tr_track3_add( &way, CLAP - 0.42, v3( -0.34, 1.72, 0.08 ) );
    tr_track3_add( &way, CLAP - 0.5 * TOUCH, meet );
    tr_track3_add( &way, CLAP + 0.5 * TOUCH, meet );
    tr_track3_add( &way, CLAP + 0.40 + late, v3( -0.30, 1.30, 0.36 ) );
    tr_track3_add( &way, CLAP + 1.00 + late, v3( -0.28, 0.88, 0.14 ) );
    return tr_track3_at( &way, time );
}

static void raise_hand( const friend *f, double time, tr_human_targets *out )
{
    double late = 0.05 * f->index;
    double up = tr_pulse( time, CLAP - 0.55, CLAP + 0.25, 0.55, 0.60 );
    rigid body = tr_stepper_body( &f->steps, time );
    vec3 fingers = v3_lerp( v3( 0, -1, 0.3 ), v3( 0.05, 1, 0.12 ), up );
    vec3 palm = v3_lerp( v3( 1, 0, 0.2 ), v3( 0, -0.1, 1 ), up );
    tr_human_hand *hand = &out->hands[TR_HUMAN_RIGHT];
    hand->hold.rotation = q_mul( body.rotation, tr_human_hand_rotation( TR_HUMAN_RIGHT, fingers, palm ) );
    hand->hold.position = rigid_apply( body, swing_at( f, time ) );
    hand->grip = tr_pulse( time, CLAP - 0.75 + late, CLAP + 0.55, 0.40, 0.60 );
    hand->firm = tr_pulse( time, CLAP - 0.5 * TOUCH, CLAP + 0.5 * TOUCH, 0.30, 0.30 );
    hand->elbow = v3_lerp( v3( -0.25, -0.3, -1.0 ), v3( -1.0, -0.25, -0.35 ), hand->grip );
}

// -------------------------------------------------------------------------------------------------- body

// A twist back before the clap and through it after, the eyes on the hands, then on each other.
static tr_human_targets targets_at( const void *context, int person, double time )
{
    const meeting *m = context;
    const friend *f = &m->friends[person];
    tr_human_targets out = tr_stepper_at( &f->steps, time );
    double wind = tr_pulse( time, CLAP - 0.45, CLAP - 0.35, 0.50, 0.30 );
    double through = tr_pulse( time, CLAP, CLAP + 0.15, 0.28, 0.60 );
    out.spine = v3_add( out.spine, v3( ( -5 * wind + 4 * through ) * TR_DEGREE,
                                       ( -14 * wind + 16 * through ) * TR_DEGREE, 0 ) );
    out.pelvis.y += 0.012 * through - 0.012 * wind;
    double watch = tr_pulse( time, CLAP - 0.35, CLAP + 0.1, 0.35, 0.45 );
    double side = f->index == 0 ? 1.0 : -1.0;
    vec3 face = v3( -0.16 * side, 1.6, side * ( tr_track_at( &m->friends[1 - person].along, time ) ) );
    out.look = v3_lerp( face, v3( 0, 1.68, 0 ), watch );
    raise_hand( f, time, &out );
    return out;
}

// ------------------------------------------------------------------------------------------------- scene

static bool add_people( tr_scene *scene, tr_error *error )
{
    static const double sizes[2] = { 0.78, 1.18 };
    if ( !tr_crowd_add( scene, 8, sizes, 2, error ) )
        return false;
    tr_constraint clap = tr_default_constraint( "clap", TR_CONSTRAINT_RELATIVE );
    clap.a = tr_crowd_palm( scene->cast[0].id, TR_HUMAN_RIGHT );
    clap.b = tr_crowd_palm( scene->cast[1].id, TR_HUMAN_RIGHT );
    clap.first = tr_nearest_frame( ( CLAP - 0.5 * TOUCH ) * FPS );
    clap.last = tr_nearest_frame( ( CLAP + 0.5 * TOUCH ) * FPS );
    clap.ease_in = clap.ease_out = 18;
    return tr_scene_add_constraint( scene, &clap ) != NULL || tr_error_memory( error );
}

bool tr_high_five_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always two
    meeting m = { 0 };
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    bool ok = add_people( scene, error ) && tr_human_skeleton( &m.human, error ) &&
              plan( &m.friends[0], 0, error ) && plan( &m.friends[1], 1, error ) &&
              tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &m, NULL, error );
    for ( int i = 0; i < 2; ++i )
        tr_stepper_free( &m.friends[i].steps );
    tr_skeleton_free( &m.human );
    return ok;
}
