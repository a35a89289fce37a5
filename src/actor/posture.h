// Pieces of the alignment of rest poses.
#ifndef TROUPE_ACTOR_POSTURE_H
#define TROUPE_ACTOR_POSTURE_H

#include "actor/joint_map.h"

typedef struct tr_rest_pair {
    const tr_posture_def *def;
    const tr_actor *actor;
    tr_pose source, target; // rest poses, or what stands in for them
    vec3 lateral;           // from the source's right hip to its left one, unit; zero when it has none
} tr_rest_pair;

// How far bones had to turn against those above them. The body as a whole may be turned in any way.
typedef struct tr_effort {
    double sum;   // sum of squares
    bool too_far; // for the pose to show how limbs are twisted
} tr_effort;

// From the right hip to the left one, unit; zero for a body that has none.
vec3 tr_lateral_axis( const tr_skeleton *skeleton, const vec3 *positions );
// Postures of bodies with different numbers of legs, see standing.c. Fills postures [target joints].
tr_effort tr_stand_alike( const tr_rest_pair *rest, quat *postures );

#endif
