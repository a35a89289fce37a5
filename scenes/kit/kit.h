// kit: what the builders of scenes share. One header per tool, all of them here.
#ifndef TROUPE_KIT_H
#define TROUPE_KIT_H

#include "scenes/kit/animator.h"
#include "scenes/kit/crowd.h"
#include "scenes/kit/elephant.h"
#include "scenes/kit/follow.h"
#include "scenes/kit/gait.h"
#include "scenes/kit/human.h"
#include "scenes/kit/parade.h"
#include "scenes/kit/rabbit.h"
#include "scenes/kit/rig.h"
#include "scenes/kit/stepper.h"
#include "scenes/kit/things.h"
#include "scenes/kit/tracks.h"

#endif
