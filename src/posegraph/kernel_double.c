#define LANES_OF_DOUBLES
#define LANES_UNFUSED
#define KERNEL( name ) tr_kernel_##name##_double
#include "posegraph/kernel.h"
