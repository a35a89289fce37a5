#define KERNEL( name ) tr_kernel_##name##_float
#include "posegraph/kernel.h"
