// Private to motion: the size of a body whatever its rest pose.
#ifndef TROUPE_MOTION_STATURE_H
#define TROUPE_MOTION_STATURE_H

#include "motion/motion.h"

int tr_limb_kind_count( const tr_skeleton *skeleton, tr_limb_kind kind );

// Standing height of a body on two legs, judged by its rest pose within what its bones allow: rest poses lie
// down, raise their arms or are stretched along one axis. Height of the rest pose for any other body.
double tr_stature( const tr_skeleton *skeleton );

#endif
