// Private to what calms a result: see cluster/calm.c.
//
//   cluster/jumps.c   where a result jumps
//   cluster/smooth.c  poses as the average of those around them
//   cluster/calm.c    what gives way, and the rounds of smoothing and settling
#ifndef TROUPE_CLUSTER_CALM_H
#define TROUPE_CLUSTER_CALM_H

#include "cluster/private.h"

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

#endif
