// crowd: what makes the people of a built-in scene different from each other, and a clip per person.
#ifndef TROUPE_KIT_CROWD_H
#define TROUPE_KIT_CROWD_H

#include "scenes/kit/human.h"
#include "troupe.h"

// Cast member number `index` (from 0): id p01 …, source <id>.bvh, a colour, and a target body between `small`
// and `tall` times the source with its own girth, some with long arms or short legs.
tr_cast tr_crowd_member( uint64_t seed, int index, double small, double tall );

// Adds members 0 … count − 1 to the scene: bodies of these sizes [count], times the source.
bool tr_crowd_add( tr_scene *scene, uint64_t seed, const double *sizes, int count, tr_error *error );

// A frame on the ground, to the millimetre and the hundredth of a degree: what stands in the document is what
// the builder reckons with. `heading` in radians.
rigid tr_crowd_place( vec3 position, double heading );
double tr_crowd_heading( rigid place ); // heading of such a frame, in degrees as documents have it

// Ground frame of person `index` in a line of people who stand side by side, `spacing` metres apart, on a
// circle whose centre they look at: +Z ahead, the next person to the left. The line turns by `bend` radians
// at most over its length, and its middle is at the origin.
rigid tr_crowd_line( int people, int index, double spacing, double bend );

// Where every part of a person shall be at a time (seconds), in the frame of the person's clip.
typedef tr_human_targets tr_crowd_targets( const void *context, int person, double time );

// One clip per person of the scene's cast, put into the library under its source's name; people in parallel.
// `worst`, if not NULL, is the largest distance any hand or foot kept from its target.
bool tr_crowd_perform( const tr_scene *scene, tr_library *library, int frame_count, tr_crowd_targets *targets,
                       const void *context, double *worst, tr_error *error );

// A point of a hand for constraints: the middle of the palm's bones.
tr_point tr_crowd_palm( const char *who, int side );

#endif
