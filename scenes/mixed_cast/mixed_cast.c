// Two people carry a long crate sideways over a step; a spider climbs the step below the crate, and a wolf
// trots around them. Bodies with two, four and eight legs in one scene, and a box.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define FRAME_COUNT 241
#define DURATION    ( ( FRAME_COUNT - 1 ) / FPS )
#define STAND       1.27 // metres from the crate's middle to either carrier

static const vec3 crate_size = { 1.5, 0.30, 0.44 };

typedef struct carrier {
    int index;
    tr_stepper steps;
} carrier;

// ------------------------------------------------------------------------------------------------- carrying

// A slow walk sideways, in step with the spider below; both ends of the crate go the same way.
static double along( double time )
{
    return 0.15 + 1.75 * smooth_step5( ( time - 0.6 ) / ( DURATION - 1.2 ) );
}

static rigid crate_at( const void *context, double time )
{
    (void)context;
    double dip = 0.012 * tr_noise( 5u, time, 0.6 );
    return ( rigid ){ q_axis_angle( v3_z, 0.012 * tr_noise( 6u, time, 0.4 ) ),
                      v3( 0, 0.98 + dip, along( time ) ) };
}

// The first stands at the crate's -x end and looks along +x.
static tr_gait_place place_at( const void *context, double time )
{
    const carrier *c = context;
    double side = c->index == 0 ? -1.0 : 1.0;
    return ( tr_gait_place ){ v3( side * STAND, 0, along( time ) ), -side * 0.5 * TR_PI };
}

static bool plan( carrier *c, int index, tr_error *error )
{
    c->index = index;
    tr_stepper_def def = tr_default_stepper_def();
    def.path = place_at;
    def.context = c;
    def.end = DURATION;
    def.cycle = 0.95;
    def.start_phase = 0.2 + 0.45 * index;
    def.width = 0.16;
    def.roll = 8 * TR_DEGREE;
    def.seed = 21u + (unsigned)index;
    return tr_stepper_plan( &c->steps, &def, error );
}

// Palms on the crate's long sides near its end, in the crate's frame.
static vec3 grip( int person, int side )
{
    double end = person == 0 ? -1.0 : 1.0, left = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    return v3( 0.66 * end, -0.02, 0.5 * crate_size.z * left * end );
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const carrier *c = (const carrier *)context + person;
    tr_human_targets out = tr_stepper_at( &c->steps, time );
    rigid crate = crate_at( NULL, time ), body = tr_stepper_body( &c->steps, time );
    double end = person == 0 ? -1.0 : 1.0;
    out.spine = v3_add( out.spine, v3( 3 * TR_DEGREE, 0, 0 ) );
    out.look =
        v3( -end * 0.2, 0.3 + 0.9 * tr_pulse( time, 0, 2.2, 1, 1 ), along( time ) + 0.1 ); // the spider
    for ( int side = 0; side < 2; ++side ) {
        double left = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
        vec3 fingers = q_rotate( body.rotation, v3( 0, -0.25, 1 ) );
        vec3 palm = q_rotate( body.rotation, v3( -left, 0, 0 ) );
        out.hands[side] = ( tr_human_hand ){ .rest = rigid_identity, .grip = 1.0, .firm = 1.0 };
        out.hands[side].hold = ( rigid ){ tr_human_hand_rotation( side, fingers, palm ),
                                          rigid_apply( crate, grip( person, side ) ) };
        out.hands[side].elbow = v3( 0.5 * left, -0.8, -0.4 );
    }
    return out;
}

static bool add_grips( tr_scene *scene, tr_error *error )
{
    for ( int i = 0; i < 4; ++i ) {
        tr_id id;
        snprintf( id, sizeof id, "%s_%c_crate", scene->cast[i / 2].id, i % 2 == TR_HUMAN_LEFT ? 'l' : 'r' );
        tr_constraint hold = tr_default_constraint( id, TR_CONSTRAINT_RELATIVE );
        hold.a = tr_crowd_palm( scene->cast[i / 2].id, i % 2 );
        hold.b = tr_point_prop( "crate", grip( i / 2, i % 2 ) );
        hold.first = scene->first;
        hold.last = scene->last;
        if ( tr_scene_add_constraint( scene, &hold ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

static bool add_carriers( tr_scene *scene, tr_library *library, tr_error *error )
{
    static const double sizes[2] = { 0.85, 1.12 };
    carrier carriers[2] = { 0 };
    if ( !tr_crowd_add( scene, 12, sizes, 2, error ) )
        return false;
    bool ok = tr_thing_add( scene, library, "crate", crate_size, tr_thing_yellow, crate_at, NULL, error ) &&
              add_grips( scene, error ) && plan( &carriers[0], 0, error ) && plan( &carriers[1], 1, error ) &&
              tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, carriers, NULL, error );
    for ( int i = 0; i < 2; ++i )
        tr_stepper_free( &carriers[i].steps );
    return ok;
}

// ------------------------------------------------------------------------------------------------- animals

typedef bool builder( int cast, tr_scene *scene, tr_library *library, tr_error *error );

// The cast, furniture and clips of another built-in scene join this one, moved by `by`.
static bool join( tr_scene *scene, tr_library *library, builder *build, vec3 by, tr_error *error )
{
    tr_scene guest = tr_default_scene();
    tr_library clips = { 0 };
    bool ok = build( 1, &guest, &clips, error );
    for ( int i = 0; ok && i < guest.cast_count; ++i ) {
        guest.cast[i].position = v3_add( guest.cast[i].position, by );
        ok = tr_scene_add_cast( scene, &guest.cast[i] ) != NULL || tr_error_memory( error );
    }
    for ( int i = 0; ok && i < guest.obstacle_count; ++i ) {
        guest.obstacles[i].position = v3_add( guest.obstacles[i].position, by );
        ok = tr_scene_add_obstacle( scene, &guest.obstacles[i] ) != NULL || tr_error_memory( error );
    }
    for ( int i = 0; ok && i < clips.count; ++i )
        ok = tr_library_add( library, clips.items[i].path, &clips.items[i].motion, error );
    tr_scene_free( &guest );
    tr_library_free( &clips );
    return ok;
}

bool tr_mixed_cast_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always four
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    return add_carriers( scene, library, error ) && join( scene, library, tr_spider_build, v3_zero, error ) &&
           join( scene, library, tr_wolf_build, v3( -2.45, 0, -0.75 ), error );
}
