#include "motion/kernel_forward.h"
