#define KERNEL( name ) tr_fit_##name##_avx2
#include "fit/kernel.h"
