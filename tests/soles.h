// How flat feet stand, shared by the tests of methods and of edits.
#ifndef TROUPE_TESTS_SOLES_H
#define TROUPE_TESTS_SOLES_H

#include "scene/scene.h"

// Largest tilt of a standing foot against the source's, in degrees.
static inline double sole_tilt( const tr_stage *stage, const tr_result *result )
{
    double most = 0;
    for ( int a = 0; a < stage->actor_count; ++a ) {
        const tr_actor *actor = &stage->actors[a];
        for ( int j = 0; j < actor->target.joint_count; ++j )
            for ( int c = 0; c < actor->contacts.count; ++c ) {
                const tr_contact *contact = &actor->contacts.items[c];
                if ( actor->target.joints[j].role != TR_ROLE_FOOT || actor->map[j] != contact->joint ||
                     contact->surface == TR_SURFACE_PROP )
                    continue;
                for ( int f = contact->first; f <= contact->last; ++f ) {
                    quat now = tr_world_pose( &result->worlds[a], f ).rotations[j];
                    quat source = tr_world_pose( &actor->world, f ).rotations[contact->joint];
                    quat change = q_mul( now, q_conj( q_mul( source, actor->align[j] ) ) );
                    double up = q_rotate( change, v3_y ).y;
                    most = fmax( most, acos( clampd( up, -1, 1 ) ) / TR_DEGREE );
                }
            }
    }
    return most;
}

#endif
