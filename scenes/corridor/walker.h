// One walker of the corridor: a path that keeps clear of walls and people, the steps along it, the body
// above.
#ifndef TROUPE_CORRIDOR_WALKER_H
#define TROUPE_CORRIDOR_WALKER_H

#include "scenes/kit/kit.h"

#define CORRIDOR_LENGTH 12.0 // along x, about the origin
#define CORRIDOR_WIDTH  5.1
#define CORRIDOR_LANES  3 // lanes of each stream
#define CORRIDOR_FPS    30.0
#define CORRIDOR_FRAMES 301

typedef struct walker {
    int people; // in the whole scene
    int index;
    int direction;        // 1 walks along +x, -1 along -x; all keep to the right
    int lane, row;        // lane 0 is at the middle, the last at the wall; row 0 goes first
    rigid start, inverse; // frame of the clip: place and heading at time 0
    tr_gait gait;
} walker;

// Fills all but the gait.
walker walker_plan( int people, int index );
// Plans the steps; `w` must stay where it is, the plan refers to it.
bool walker_step( walker *w, tr_error *error );
tr_gait_place walker_place( const void *walker, double time ); // a tr_gait_path, in the world
tr_human_targets walker_at( const walker *w, double time );    // in the frame of the clip

#endif
