#define LANES_WIDE
#define KERNEL( name ) tr_fit_##name##_avx512
#include "fit/kernel.h"
