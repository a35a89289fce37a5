#include "scenes/kit/things.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const float tr_thing_yellow[3] = { 0.93f, 0.74f, 0.20f }, tr_thing_grey[3] = { 0.62f, 0.60f, 0.57f },
            tr_thing_steel[3] = { 0.70f, 0.74f, 0.80f }, tr_thing_red[3] = { 0.72f, 0.24f, 0.20f },
            tr_thing_black[3] = { 0.20f, 0.20f, 0.21f };

static bool add_track( const tr_scene *scene, tr_library *library, const char *file, tr_thing_path *path,
                       const void *context, tr_error *error )
{
    tr_motion motion = { 0 };
    int frames = scene->last - scene->first + 1;
    bool ok = tr_skeleton_add( &motion.skeleton, "Box", -1, v3_zero ) == 0 || tr_error_memory( error );
    ok = ok && tr_skeleton_classify( &motion.skeleton, error ) &&
         tr_clip_alloc( &motion.clip, frames, 1, scene->fps, false, error );
    for ( int f = 0; ok && f < frames; ++f ) {
        rigid at = path( context, f / scene->fps );
        motion.clip.root[f] = at.position;
        motion.clip.rotations[f] = at.rotation;
    }
    if ( ok )
        return tr_library_add( library, file, &motion, error );
    tr_motion_free( &motion );
    return false;
}

bool tr_thing_add( tr_scene *scene, tr_library *library, const char *id, vec3 size, const float colour[3],
                   tr_thing_path *path, const void *context, tr_error *error )
{
    tr_prop prop = tr_default_prop( id );
    prop.size = size;
    snprintf( prop.track.file, sizeof prop.track.file, "%s.bvh", id );
    memcpy( prop.colour, colour, sizeof prop.colour );
    if ( tr_scene_add_prop( scene, &prop ) == NULL )
        return tr_error_memory( error );
    return add_track( scene, library, prop.track.file, path, context, error );
}

static bool add_obstacle( tr_scene *scene, tr_obstacle *obstacle, const float colour[3], tr_error *error )
{
    memcpy( obstacle->colour, colour, sizeof obstacle->colour );
    return tr_scene_add_obstacle( scene, obstacle ) != NULL || tr_error_memory( error );
}

bool tr_furniture_add( tr_scene *scene, const char *id, vec3 size, vec3 position, double heading,
                       const float colour[3], tr_error *error )
{
    tr_obstacle obstacle = tr_default_obstacle( id );
    obstacle.size = size;
    obstacle.position = position;
    obstacle.heading = heading;
    return add_obstacle( scene, &obstacle, colour, error );
}

bool tr_bar_add( tr_scene *scene, const char *id, const vec3 *points, int count, double thickness,
                 const float colour[3], tr_error *error )
{
    assert( count >= 2 && count <= TR_ROWS_MAX );
    tr_obstacle obstacle = tr_default_obstacle( id );
    obstacle.shape = TR_SHAPE_POLYLINE;
    memcpy( obstacle.form.points, points, (size_t)count * sizeof *points );
    obstacle.form.point_count = count;
    obstacle.form.thickness = thickness;
    return add_obstacle( scene, &obstacle, colour, error );
}
