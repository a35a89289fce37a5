#define KERNEL( name ) tr_fit_##name##_double
#include "fit/kernel.h"
