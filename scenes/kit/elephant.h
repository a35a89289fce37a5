// elephant: a body of 36 bones, 2.6 m tall, and how it is posed after a person: legs go in diagonal pairs
// with the person's, the trunk of eight bones with the right arm, ears with the left one.
#ifndef TROUPE_KIT_ELEPHANT_H
#define TROUPE_KIT_ELEPHANT_H

#include "scenes/kit/animator.h"

#define TR_ELEPHANT_TRUNK 8

typedef struct tr_elephant {
    int hips, spine[3], neck, head;
    int trunk[TR_ELEPHANT_TRUNK];
    int ears[2][2]; // left, right
    int tail[2];
    int legs[4][4]; // front left, front right, hind left, hind right: upper, lower, ankle, foot
} tr_elephant;

void tr_elephant_add( tr_elephant *body, tr_rig *rig );
void tr_elephant_pose( const void *body, tr_rig *rig, const tr_person_view *view ); // a tr_animator_pose
// Gives a cast member, whose source is in the library, the body and so many pairs, posed so; the right arm
// drives the trunk with this aim.
bool tr_elephant_cast( tr_scene *scene, tr_library *library, int cast, tr_animator_pose *pose, int pairs,
                       double aim, tr_error *error );

#endif
