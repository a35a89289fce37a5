#define KERNEL( name ) tr_kernel_##name##_float
#include "solve/kernel.h"
