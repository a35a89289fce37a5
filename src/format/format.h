// format: BVH motion and OBJ meshes, read and written.
#ifndef TROUPE_FORMAT_H
#define TROUPE_FORMAT_H

#include "geometry/geometry.h"
#include "io/io.h"
#include "motion/motion.h"

// -------------------------------------------------------------------------------------------------- BVH
// A tr_bvh is the file as it is: its own units, axes, channel layout and channel values. A tr_motion is in
// the program's units: metres, Y up, quaternions. Values of unedited frames are exported bit for bit.

typedef enum tr_bvh_channel {
    TR_BVH_X_POSITION,
    TR_BVH_Y_POSITION,
    TR_BVH_Z_POSITION,
    TR_BVH_X_ROTATION,
    TR_BVH_Y_ROTATION,
    TR_BVH_Z_ROTATION
} tr_bvh_channel;

typedef struct tr_bvh_layout { // channels of one joint in file order
    unsigned char count;       // 0 for end sites
    unsigned char channels[6]; // tr_bvh_channel
    int first;                 // index of the first within a frame
} tr_bvh_layout;

typedef struct tr_bvh {
    tr_skeleton skeleton;   // offsets in file units and file axes; end sites are joints named <parent>_End
    tr_bvh_layout *layouts; // [joint_count]
    int channel_count, frame_count;
    double frame_time; // seconds
    double *values;    // [frame_count * channel_count] degrees and file units
} tr_bvh;

bool tr_bvh_load( tr_bvh *out, const char *path, tr_log *warnings, tr_error *error );
// `name` is the file's name in messages.
bool tr_bvh_parse( tr_bvh *out, const char *text, size_t size, const char *name, tr_log *warnings,
                   tr_error *error );
bool tr_bvh_save( const tr_bvh *bvh, const char *path, tr_error *error );
void tr_bvh_print( const tr_bvh *bvh, tr_text *out );
void tr_bvh_free( tr_bvh *bvh );

// Conversion of a file to metres and Y up.
typedef struct tr_bvh_import {
    double unit; // metres per file unit; 0 = guess (CMU joint names: 0.05644; else by the size of the rest
                 // pose: metres, a person in inches, centimetres or millimetres)
    char up; // 'y', 'z', or 0 = guess from where head and feet are over the clip; where that is not clear,
             // from the way the legs point in rest pose and first frame
    int first,
        last; // frames to take, last -1 = to the end. CMU files: frame 0 is an artificial T-pose, take 1 … -1
} tr_bvh_import;

tr_bvh_import tr_default_bvh_import( void );
// Metres per unit of a body that is this large, by its size alone.
double tr_unit_of_size( double size, bool person );
// Guesses unit and up, and gives the reason in one sentence (borrowed literal). NULL when out of memory.
const char *tr_bvh_guess( const tr_bvh *bvh, tr_bvh_import *import );

// The first recorded frame: 1 in files of the CMU library, which begin with an artificial T-pose.
int tr_bvh_first_frame( const tr_bvh *bvh );

bool tr_bvh_to_motion( tr_motion *out, const tr_bvh *bvh, const tr_bvh_import *import, tr_error *error );
// Channels for a motion. Layout and values of `like` are kept where it has the same joints and the pose is
// the same to rounding; other angles are chosen near the frame before. like = NULL: root 6 channels, others
// ZXY rotations, centimetres (unit 0.01), positions on every joint only if the clip has translations.
bool tr_bvh_from_motion( tr_bvh *out, const tr_motion *motion, const tr_bvh *like,
                         const tr_bvh_import *like_import, tr_error *error );

// Both steps in one.
bool tr_motion_load( tr_motion *out, const char *path, const tr_bvh_import *import, tr_log *warnings,
                     tr_error *error );
bool tr_motion_save( const tr_motion *motion, const char *path, tr_error *error ); // centimetres, Y up

// -------------------------------------------------------------------------------------------------- OBJ
// Points and faces of a Wavefront file; the rest is skipped.

typedef struct tr_obj_import {
    double unit; // metres per file unit
    char up;     // 'y' or 'z'
} tr_obj_import;

bool tr_obj_load( tr_trimesh *out, const char *path, const tr_obj_import *import, tr_error *error );
bool tr_obj_parse( tr_trimesh *out, const char *text, size_t size, const char *name,
                   const tr_obj_import *import, tr_error *error );
bool tr_obj_save( const tr_trimesh *mesh, const char *path, tr_error *error ); // in metres, Y up
void tr_obj_print( const tr_trimesh *mesh, tr_text *out );

#endif
