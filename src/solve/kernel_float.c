#define KERNEL( name ) tr_kernel_##name##_float
#include "solve/kernel.h"
#include "solve/kernel_band.h"
#include "solve/kernel_sweep.h"
