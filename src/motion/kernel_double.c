#define KERNEL( name ) tr_fit_##name##_double
#include "motion/kernel.h"
