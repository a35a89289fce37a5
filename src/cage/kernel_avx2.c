#define KERNEL( name ) tr_kernel_##name##_avx2
#include "cage/kernel.h"
