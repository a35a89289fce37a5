// Private to format: shared by the parts of BVH.
#ifndef TROUPE_FORMAT_BVH_H
#define TROUPE_FORMAT_BVH_H

#include "format/format.h"

enum { TR_BVH_LONGEST_NAME = 255 }; // bytes
// Limit of positions, in units, and of angles, in degrees: ten thousand kilometres in centimetres. Sums of
// such values stay far from infinity.
#define TR_BVH_LARGEST 1e9

// Assumptions about files that do not state their unit, axes and rate. Sizes are the largest extent of the
// rest pose in file units.
typedef struct tr_bvh_def {
    double metres;           // a smaller body is in metres,
    double millimetres;      // a larger one in millimetres, others in centimetres; except:
    double inches[2];        // a person between these sizes is in inches,
    double cmu[2], cmu_unit; // and a body with CMU's joint names in this unit (metres)
    double upright;          // Z is up where legs extend this many times farther along Z than along Y
    int standing_frames;     // most frames that are looked at to find head and feet
    double standing;         // share of them in which the head is above the feet that decides
    double floor;            // share of the body's size: feet within this height are on the floor
    int leg_joints;          // joints between a foot and its hip at most
    int body_joints;         // a skeleton with more joints is a body; a lone child of its root is the pelvis
    double whole_rate;       // relative: a rate this near to a whole number is rounded to it
    double same;             // relative: smaller changes do not count as edits, values of the file are kept
    double decimals;         // exported values are rounded to 1 / decimals …
    double decimals_below;   // … up to this size, where a double resolves it
} tr_bvh_def;

tr_bvh_def tr_default_bvh_def( void );

extern const char *const tr_bvh_channel_names[6]; // indexed by tr_bvh_channel

// A file with Z up is converted to Y up by a quarter turn C of the world about X, applied to every local
// frame: offsets become C·o and rotations C·q·C⁻¹, so that the rest pose stays a rest pose. C only swaps
// components and signs, which is exact.
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

// One joint at one frame in file units and axes. Position channels replace the components of the offset; a
// missing rotation channel counts as 0.
quat tr_bvh_local_rotation( const tr_bvh_layout *layout, const double *row );
vec3 tr_bvh_local_translation( const tr_bvh_layout *layout, const double *row, vec3 offset );

// The same in metres with Y up; `import` is resolved.
quat tr_bvh_rotation( const tr_bvh *bvh, const tr_bvh_import *import, int frame, int joint );
vec3 tr_bvh_translation( const tr_bvh *bvh, const tr_bvh_import *import, int frame, int joint );

// Guesses unit and up axis where they are not given, with the reason; false when out of memory.
bool tr_bvh_try_guess( const tr_bvh *bvh, tr_bvh_import *import, const char **how );

// Fills in the guesses and the last frame; fails when the file lacks the requested frames.
bool tr_bvh_resolve( const tr_bvh *bvh, const tr_bvh_import *wanted, tr_bvh_import *out, tr_error *error );

#endif
