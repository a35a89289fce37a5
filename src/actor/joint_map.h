// Pieces of the joint map: what drives every joint of a target body.
#ifndef TROUPE_ACTOR_JOINT_MAP_H
#define TROUPE_ACTOR_JOINT_MAP_H

#include "actor/actor.h"

// Drives the joints of the target's chain by those of the source's and keeps the chain in the actor's list.
bool tr_joint_map_spread( tr_actor *actor, const tr_map_chain *chain, tr_error *error );

// Is it on a thumb? And the source's joint for a finger's joint of the target, -1 when there is none; see
// fingers.c.
bool tr_joint_is_thumb( const tr_skeleton *skeleton, int joint );
int tr_find_finger( const tr_skeleton *source, const tr_skeleton *target, int joint );

// Which limbs go together where the bodies have different numbers of legs; see limb_pairs.c.
typedef struct tr_limb_pairs {
    const tr_skeleton *target, *source;
    bool differ;    // in their numbers of legs
    bool arms_walk; // the arms of the one go with the front legs of the other
} tr_limb_pairs;

int tr_leg_count( const tr_skeleton *skeleton );
tr_limb_pairs tr_limb_pairs_of( const tr_skeleton *target, const tr_skeleton *source );
// The role of a joint among legs: an upper arm is a thigh where arms walk.
tr_role tr_limb_pairs_role( const tr_limb_pairs *pairs, tr_role role );
bool tr_limbs_pair( const tr_limb_pairs *pairs, int target_limb, int source_limb );

// Chains for the limbs that both bodies have, with different numbers of joints.
bool tr_joint_map_suggest_chains( tr_actor *actor, const tr_limb_pairs *pairs, tr_error *error );

#endif
