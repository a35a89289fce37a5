#define KERNEL( name ) tr_kernel_##name##_avx2
#include "posegraph/kernel.h"

#include "posegraph/kernel_pose.h"
