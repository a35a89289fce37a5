// maker: motion files in the manner of optical captures, made by the generators of the built-in scenes. They
// stand in this folder, so that tests of captures run without files from elsewhere.
//
// What they share with captures: 120 frames a second, an artificial T-pose as frame 0, rotations in ZYX
// order, bones of length zero, a rest pose that is not the T-pose, few decimals, and noise in every channel.
#ifndef TROUPE_TESTS_MAKER_H
#define TROUPE_TESTS_MAKER_H

#include "io/io.h"
#include "scenes/kit/kit.h"

#define CAPTURE_FPS  120.0
#define CAPTURE_SEED 2026u // seed of the noise and of the gaits

typedef enum capture_take {
    CAPTURE_WALK,    // ahead at 1 m/s
    CAPTURE_LIFT,    // a step, then a box is lifted from knee height to the chest
    CAPTURE_SHAKE_A, // takes the right hand of B, and lays the left one on B's upper arm
    CAPTURE_SHAKE_B,
    CAPTURE_COUNT
} capture_take;

typedef struct capture_info {
    const char *file;
    double unit; // metres
    double size; // size of the body, times the built-in human
    int frames;  // frame 0 is the T-pose, frame 1 is the time 0
} capture_info;

const capture_info *capture_info_of( capture_take take );

// Joints of the built-in human without noise, times `size`: what frame 1 + time · CAPTURE_FPS shows.
bool capture_pose( capture_take take, double time, vec3 positions[TR_HUMAN_JOINTS], tr_error *error );

// The whole file.
bool capture_print( capture_take take, tr_text *out, tr_error *error );

#endif
