#include "geometry/geometry.h"
