#include "scenes/builders.h"
#include "scenes/corridor/walker.h"

#define WALL_HEIGHT 1.05
#define WALL_DEPTH  0.16

static bool add_walls( tr_scene *scene, tr_error *error )
{
    static const float stone[3] = { 0.70f, 0.68f, 0.64f };
    for ( int side = -1; side <= 1; side += 2 ) {
        tr_obstacle wall = tr_default_obstacle( side > 0 ? "wall_front" : "wall_back" );
        wall.size = v3( CORRIDOR_LENGTH, WALL_HEIGHT, WALL_DEPTH );
        wall.position = v3( 0, 0.5 * WALL_HEIGHT, side * 0.5 * ( CORRIDOR_WIDTH + WALL_DEPTH ) );
        for ( int c = 0; c < 3; ++c )
            wall.colour[c] = stone[c];
        if ( tr_scene_add_obstacle( scene, &wall ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

// Bodies keep the source's paths: with a pace of its own for every size people would run into each other.
static bool add_walkers( tr_scene *scene, const walker *walkers, int count, tr_error *error )
{
    for ( int i = 0; i < count; ++i ) {
        tr_cast cast = tr_crowd_member( 3, i, 0.8, 1.2 );
        cast.position = walkers[i].start.position;
        cast.heading = tr_crowd_heading( walkers[i].start );
        cast.target.path_scale = 1.0;
        if ( tr_scene_add_cast( scene, &cast ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

static tr_human_targets walker_targets( const void *context, int person, double time )
{
    const walker *walkers = context;
    return walker_at( &walkers[person], time );
}

bool tr_corridor_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    walker *walkers = tr_alloc( (size_t)cast, sizeof( walker ) );
    if ( walkers == NULL )
        return tr_error_memory( error );
    bool ok = true;
    for ( int i = 0; ok && i < cast; ++i ) {
        walkers[i] = walker_plan( cast, i );
        ok = walker_step( &walkers[i], error );
    }
    scene->fps = CORRIDOR_FPS;
    scene->first = 0;
    scene->last = CORRIDOR_FRAMES - 1;
    ok = ok && add_walls( scene, error ) && add_walkers( scene, walkers, cast, error ) &&
         tr_crowd_perform( scene, library, CORRIDOR_FRAMES, walker_targets, walkers, NULL, error );
    for ( int i = 0; i < cast; ++i )
        tr_gait_free( &walkers[i].gait );
    tr_free( walkers );
    return ok;
}
