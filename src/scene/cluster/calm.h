// Private to what calms a result: see cluster/calm.c.
//
//   cluster/jumps.c   where a result jumps
//   cluster/smooth.c  poses as the average of those around them
//   cluster/calm.c    what gives way, and the rounds of smoothing and settling
#ifndef TROUPE_SCENE_CLUSTER_CALM_H
#define TROUPE_SCENE_CLUSTER_CALM_H

#include "scene/cluster/cluster.h"

typedef struct tr_jump_search {
    const tr_stage *stage;
    const tr_result *result;
    const int *begin, *rules; // of the stage, by actor: tr_rules_by_actor
    const tr_result *copied;  // poses before anything was asked for, NULL: not known
    const bool *affected;     // [(actor_count + prop_count) * frame_count] where less counts as a jump; NULL:
                              // nowhere
} tr_jump_search;

// jumps [actor_count * frame_count], out: how much a character jumps from a frame to the next, in radians or,
// of speeds, what counts as much; 0 where it does not. False: nobody jumps.
bool tr_jumps_find( const tr_jump_search *of, double *jumps );

typedef struct tr_calm_cell { // of a character or prop at a frame
    double span;              // frames to either side that its pose is averaged over
    double share;             // 0 … 1: how much of that average it takes
    double back;              // 0 … 1: how much nearer to the copied pose it comes
    double places, links;     // 0 … 1: how much of what rules ask of it is given up
    double towards;           // 0 … 1: how much it goes along with what …
    int held;                 // … this frame is off the average around it
} tr_calm_cell;

typedef struct tr_smoothing {
    const tr_stage *stage;
    const tr_calm_cell *cells; // [(actor_count + prop_count) * frame_count]
    const tr_result *copied;   // what poses deviate from: that is averaged
    tr_result *result;         // motions, worlds, tracks
    bool stepped;              // feet that stand keep the turn they have, not the copied one
    quat *chains;              // [tr_smooth_room] to work in
} tr_smoothing;

size_t tr_smooth_room( const tr_stage *stage );
void tr_smooth( const tr_smoothing *smoothing );

#endif
