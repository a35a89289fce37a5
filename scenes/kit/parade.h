// parade: any number of people who walk straight ahead in rows, and nothing that links them. What benchmarks
// and tests of large casts are made of.
#ifndef TROUPE_KIT_PARADE_H
#define TROUPE_KIT_PARADE_H

#include "troupe.h"

#define TR_PARADE_FPS 30.0

typedef struct tr_parade_def {
    int people, frames;
    double spacing; // metres from a person to the next, to the side and ahead
} tr_parade_def;

// Fills an empty scene and puts a clip for every person into an empty library under <id>.bvh. Bodies differ,
// clips are copies of a few walks.
bool tr_parade_build( const tr_parade_def *def, tr_scene *scene, tr_library *library, tr_error *error );

#endif
