// Parts of bodies, and how a body would show its source.
#include "measure/private.h"

#include <string.h>

tr_part tr_part_of( tr_role role )
{
    switch ( role ) {
    case TR_ROLE_ROOT:
    case TR_ROLE_SPINE: return TR_PART_TRUNK;
    case TR_ROLE_NECK:
    case TR_ROLE_HEAD: return TR_PART_HEAD;
    case TR_ROLE_CLAVICLE:
    case TR_ROLE_UPPER_ARM:
    case TR_ROLE_FOREARM: return TR_PART_ARM;
    case TR_ROLE_HAND: return TR_PART_HAND;
    case TR_ROLE_THIGH:
    case TR_ROLE_SHIN: return TR_PART_LEG;
    case TR_ROLE_FOOT: return TR_PART_FOOT;
    default: return TR_PART_OTHER;
    }
}

// World rotations of a frame: mapped joints follow their source, others keep what they do by themselves.
static void show_frame( const tr_performer *performer, const tr_performer *source, int frame, quat *world )
{
    const tr_skeleton *skeleton = performer->skeleton;
    const tr_actor *actor = performer->actor;
    const quat *turns = tr_world_pose( source->world, frame ).rotations;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        quat alone =
            actor->own.frame_count > 0 ? tr_clip_frame( &actor->own, frame )[j] : skeleton->joints[j].rest;
        world[j] = actor->map[j] >= 0 ? tr_actor_source_turn( actor, j, turns )
                   : parent < 0       ? alone
                                      : q_mul( world[parent], alone );
    }
}

// Children first, since they need their parents' world rotations.
static void make_local( const tr_skeleton *skeleton, quat *rotations )
{
    for ( int j = skeleton->joint_count - 1; j > 0; --j )
        rotations[j] = q_unit( q_mul( q_conj( rotations[skeleton->joints[j].parent] ), rotations[j] ) );
}

quat *tr_shown_rotations( const tr_performer *performer, const tr_performer *source, bool local )
{
    size_t joints = (size_t)performer->skeleton->joint_count, frames = (size_t)performer->world->frame_count;
    quat *shown = tr_alloc( joints * frames, sizeof( quat ) );
    if ( shown == NULL )
        return NULL;
    if ( performer->actor == NULL ) { // the source shows itself
        memcpy( shown, local ? performer->clip->rotations : performer->world->rotations,
                joints * frames * sizeof( quat ) );
        return shown;
    }
    for ( size_t f = 0; f < frames; ++f ) {
        show_frame( performer, source, (int)f, shown + f * joints );
        if ( local )
            make_local( performer->skeleton, shown + f * joints );
    }
    return shown;
}
