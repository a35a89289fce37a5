// Private to io: what the parts of BVH share.
#ifndef TROUPE_IO_BVH_H
#define TROUPE_IO_BVH_H

#include "io/io.h"

enum { TR_BVH_LONGEST_NAME = 255 }; // bytes
// Positions in units, angles in degrees: nothing a body does is larger, and sums of it stay far from
// infinity. Ten thousand kilometres in centimetres.
#define TR_BVH_LARGEST 1e9

extern const char *const tr_bvh_channel_names[6]; // by tr_bvh_channel

// A file with Z up becomes one with Y up by a quarter turn C of the world about X, applied to every local
// frame: offsets become C·o and rotations C·q·C⁻¹, so that the rest pose stays a rest pose. C only swaps
// components and signs and costs no precision.
vec3 tr_bvh_to_y_up( vec3 v, char up );
vec3 tr_bvh_from_y_up( vec3 v, char up );
quat tr_bvh_turn_from_y_up( quat q, char up );

double tr_bvh_fps( double frame_time );
const double *tr_bvh_row( const tr_bvh *bvh, int frame );
bool tr_bvh_is_rotation( int channel );
double *tr_bvh_component( vec3 *v, int axis );

// The rotation channels of a joint: order as letters, angles in degrees; returns how many there are.
int tr_bvh_rotation_channels( const tr_bvh_layout *layout, const double *row, char order[3],
                              double degrees[3] );

// One joint at one frame in file units and axes. Axes without a channel are not turned about; position
// channels replace the components of the offset they stand for.
quat tr_bvh_local_rotation( const tr_bvh_layout *layout, const double *row );
vec3 tr_bvh_local_translation( const tr_bvh_layout *layout, const double *row, vec3 offset );

// The same in metres with Y up; `import` without open guesses.
quat tr_bvh_rotation( const tr_bvh *bvh, const tr_bvh_import *import, int frame, int joint );
vec3 tr_bvh_translation( const tr_bvh *bvh, const tr_bvh_import *import, int frame, int joint );

// Fills in unit and up axis where they are open and says how; false when out of memory.
bool tr_bvh_try_guess( const tr_bvh *bvh, tr_bvh_import *import, const char **how );

// Fills in the guesses and the last frame; an error when the frames asked for are not there.
bool tr_bvh_resolve( const tr_bvh *bvh, const tr_bvh_import *wanted, tr_bvh_import *out, tr_error *error );

#endif
