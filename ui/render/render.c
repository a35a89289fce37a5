#include "ui/render/render.h"
