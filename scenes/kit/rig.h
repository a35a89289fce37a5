// rig: builds a skeleton from places in the rest pose and a clip frame by frame.
// Rest rotations are the identity: a joint's frame is the world's when the body stands in its rest pose.
#ifndef TROUPE_KIT_RIG_H
#define TROUPE_KIT_RIG_H

#include "fit/fit.h"

#define TR_RIG_JOINTS 160

typedef struct tr_rig {
    tr_motion motion;
    vec3 rest[TR_RIG_JOINTS]; // place of every joint in the rest pose
    // The pose at work, see tr_rig_begin.
    quat local[TR_RIG_JOINTS];
    quat rotations[TR_RIG_JOINTS];
    vec3 positions[TR_RIG_JOINTS];
    tr_pose pose; // rotations and positions
    vec3 root;
    double worst_reach; // largest distance left by any tr_rig_reach so far
    bool failed;        // out of memory; seen by tr_rig_finish
} tr_rig;

// Do not copy a rig: its pose points into it.
void tr_rig_start( tr_rig *rig );
// Joint at a place in the rest pose; parent -1 for the root. Returns its index.
int tr_rig_joint( tr_rig *rig, const char *name, int parent, vec3 place );
// Last of a chain, named <parent>_End as motion files have it.
int tr_rig_tip( tr_rig *rig, int parent, vec3 place );
// Guesses the roles and makes room for the frames.
bool tr_rig_finish( tr_rig *rig, int frame_count, double fps, tr_error *error );
void tr_rig_free( tr_rig *rig );

// One frame: begin (rest pose at a place), turn and reach in any order, store.
void tr_rig_begin( tr_rig *rig, rigid root );
// Turns a joint, on top of what it has, by a rotation given in the rest pose's axes.
void tr_rig_turn( tr_rig *rig, int joint, quat turn );
// Moves the whole pose.
void tr_rig_move( tr_rig *rig, vec3 by );
// Two-bone reach, see tr_ik_two_bone.
void tr_rig_reach( tr_rig *rig, int upper, int middle, int end, vec3 target, vec3 pole );
// Gives a joint a world rotation.
void tr_rig_orient( tr_rig *rig, int joint, quat rotation );
void tr_rig_store( tr_rig *rig, int frame );

#endif
