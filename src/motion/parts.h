// Private to motion: what a joint seems to be, from its name (parts.c) or from the skeleton's shape
// (structure.c), before classify.c makes roles and limbs of it.
#ifndef TROUPE_MOTION_PARTS_H
#define TROUPE_MOTION_PARTS_H

#include "motion/motion.h"

typedef enum part {
    PART_NONE,
    PART_CARRIER, // a frame above the body: "root", "reference"
    PART_ROOT,    // pelvis
    PART_SPINE,
    PART_NECK,
    PART_HEAD,
    PART_FACE,
    PART_EAR,
    PART_CLAVICLE,
    PART_SHOULDER, // the clavicle or the upper arm: depends on what is below
    PART_ARM,      // the upper arm, or a forearm when one is above
    PART_UPPER_ARM,
    PART_FOREARM,
    PART_HAND,
    PART_FINGER,
    PART_HIP,  // with a side: the thigh, or a connector when the thigh is below
    PART_COXA, // an insect's or spider's hip: part of the leg
    PART_LEG,  // the thigh, or a shin when a thigh is above
    PART_THIGH,
    PART_SHIN,
    PART_FOOT,
    PART_TOE,
    PART_TIP, // end of whatever it hangs on
    PART_TAIL,
    PART_FEELER, // limbs that are neither arms nor legs: antennae, wings, fins
    PART_COUNT
} part;

typedef struct guess {
    part part;
    tr_side side;
    bool end; // a marker at the end of a bone
} guess;

guess tr_part_from_name( const char *name );

// Hash of a name without its side: that of "LeftArm" is that of "RightArm". Returns the side.
tr_side tr_name_without_side( const char *name, uint64_t *hash );

// Fills guesses[joint_count] from the rest pose alone. Sides are left open.
bool tr_parts_from_structure( const tr_skeleton *skeleton, const tr_classify_def *def, const vec3 *rest,
                              guess *guesses, tr_error *error );

#endif
