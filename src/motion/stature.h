// Private to motion: counting limbs.
#ifndef TROUPE_MOTION_STATURE_H
#define TROUPE_MOTION_STATURE_H

#include "motion/motion.h"

int tr_limb_kind_count( const tr_skeleton *skeleton, tr_limb_kind kind );

#endif
