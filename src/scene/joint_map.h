// Pieces of the joint map: what drives every joint of a target body.
#ifndef TROUPE_SCENE_JOINT_MAP_H
#define TROUPE_SCENE_JOINT_MAP_H

#include "scene/scene_private.h"

// Is `above` the joint itself or one of its ancestors?
bool tr_joint_is_above( const tr_skeleton *skeleton, int above, int joint );
// Drives the joints of the target's chain by those of the source's and keeps the chain in the actor's list.
bool tr_joint_map_spread( tr_actor *actor, const tr_map_chain *chain, tr_error *error );
// Chains for the limbs that both bodies have, with different numbers of joints.
bool tr_joint_map_suggest_chains( tr_actor *actor, tr_error *error );

#endif
