// things: props and furniture of built-in scenes.
#ifndef TROUPE_KIT_THINGS_H
#define TROUPE_KIT_THINGS_H

#include "troupe.h"

extern const float tr_thing_yellow[3], tr_thing_grey[3], tr_thing_steel[3], tr_thing_red[3],
    tr_thing_black[3];

// Where a prop is at a time, seconds.
typedef rigid tr_thing_path( const void *context, double time );

// A box that moves along a path for all of the scene's frames: a prop, and its track in the library as
// <id>.bvh.
bool tr_thing_add( tr_scene *scene, tr_library *library, const char *id, vec3 size, const float colour[3],
                   tr_thing_path *path, const void *context, tr_error *error );
// A box that stands where it is; `position` is its centre, `heading` in degrees.
bool tr_furniture_add( tr_scene *scene, const char *id, vec3 size, vec3 position, double heading,
                       const float colour[3], tr_error *error );
// A polyline of bars with round ends that stands where it is; `points` [count] in the world.
bool tr_bar_add( tr_scene *scene, const char *id, const vec3 *points, int count, double thickness,
                 const float colour[3], tr_error *error );

#endif
