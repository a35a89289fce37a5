// Private to motion: forward kinematics of several frames at once, see kernel_forward.h.
#ifndef TROUPE_MOTION_FORWARD_H
#define TROUPE_MOTION_FORWARD_H

#include "motion/motion.h"

enum {
    TR_FORWARD_FRAMES = 4,   // a lane each
    TR_FORWARD_JOINTS = 128, // most joints of a body that is posed by lanes: their poses lie on the stack
};

// local [4][joint_count], root [4], poses [4]; no joint has translations of its own.
void tr_forward_four_avx2( const tr_skeleton *skeleton, const quat *const local[], const vec3 root[],
                           const tr_pose poses[] );

#endif
