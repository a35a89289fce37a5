// Copies of the poses of a result.
#include "ui/session/poses.h"

#include <string.h>

static bool copy_world( tr_world *out, const tr_world *in )
{
    size_t count = (size_t)in->frame_count * (size_t)in->joint_count;
    *out = ( tr_world ){ in->joint_count, in->frame_count, tr_alloc( count, sizeof( quat ) ),
                         tr_alloc( count, sizeof( vec3 ) ) };
    if ( out->rotations == NULL || out->positions == NULL )
        return false;
    memcpy( out->rotations, in->rotations, count * sizeof( quat ) );
    memcpy( out->positions, in->positions, count * sizeof( vec3 ) );
    return true;
}

bool tr_poses_copy( tr_result *out, const tr_result *in )
{
    *out = ( tr_result ){
        .actor_count = in->actor_count, .prop_count = in->prop_count, .frame_count = in->frame_count };
    out->worlds = tr_alloc( (size_t)in->actor_count, sizeof( tr_world ) );
    out->tracks = tr_alloc( (size_t)in->prop_count, sizeof( rigid * ) );
    bool ok = out->worlds != NULL && out->tracks != NULL;
    for ( int i = 0; ok && i < in->actor_count; ++i )
        ok = copy_world( &out->worlds[i], &in->worlds[i] );
    for ( int p = 0; ok && p < in->prop_count; ++p ) {
        out->tracks[p] = tr_alloc( (size_t)in->frame_count, sizeof( rigid ) );
        ok = out->tracks[p] != NULL;
        if ( ok )
            memcpy( out->tracks[p], in->tracks[p], (size_t)in->frame_count * sizeof( rigid ) );
    }
    return ok;
}

void tr_poses_copy_frame( tr_result *out, const tr_result *in, int frame )
{
    for ( int i = 0; i < in->actor_count; ++i ) {
        size_t joints = (size_t)in->worlds[i].joint_count;
        tr_pose from = tr_world_pose( &in->worlds[i], frame ), to = tr_world_pose( &out->worlds[i], frame );
        memcpy( to.rotations, from.rotations, joints * sizeof( quat ) );
        memcpy( to.positions, from.positions, joints * sizeof( vec3 ) );
    }
    for ( int p = 0; p < in->prop_count; ++p )
        out->tracks[p][frame] = in->tracks[p][frame];
}
