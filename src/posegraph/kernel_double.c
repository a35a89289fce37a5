#define LANES_OF_DOUBLES
#define KERNEL( name ) tr_kernel_##name##_double
#include "posegraph/kernel.h"
