#define KERNEL( name ) tr_kernel_##name##_float
#include "cage/kernel.h"
