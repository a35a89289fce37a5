// rabbit: an upright body of 31 bones, 0.9 m tall, that goes by the joint map; a person's arms drive its
// ears.
#ifndef TROUPE_KIT_RABBIT_H
#define TROUPE_KIT_RABBIT_H

#include "scenes/kit/animator.h"

#define TR_RABBIT_EAR 4

typedef struct tr_rabbit {
    int ears[2][TR_RABBIT_EAR]; // left, right
} tr_rabbit;

void tr_rabbit_add( tr_rabbit *body, tr_rig *rig );
void tr_rabbit_pose( const void *body, tr_rig *rig, const tr_person_view *view ); // a tr_animator_pose
// Gives a cast member, whose source is in the library, the body and so many pairs.
bool tr_rabbit_cast( tr_scene *scene, tr_library *library, int cast, int pairs, tr_error *error );

#endif
