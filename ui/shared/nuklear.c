// The one place where Nuklear's implementation is compiled.
#define NK_IMPLEMENTATION
#include "ui/shared/nk.h"
