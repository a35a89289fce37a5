#define LANES_WIDE
#define KERNEL( name ) tr_kernel_##name##_avx512
#include "solve/kernel.h"
#include "solve/kernel_sweep.h"
