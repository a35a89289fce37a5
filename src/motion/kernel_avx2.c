#define KERNEL( name ) tr_fit_##name##_avx2
#include "motion/kernel.h"

#include "motion/kernel_forward.h"
