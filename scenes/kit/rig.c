#include "scenes/kit/rig.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void tr_rig_start( tr_rig *rig )
{
    memset( rig, 0, sizeof *rig );
    rig->pose = ( tr_pose ){ rig->rotations, rig->positions };
}

void tr_rig_free( tr_rig *rig )
{
    tr_motion_free( &rig->motion );
    tr_rig_start( rig );
}

int tr_rig_joint( tr_rig *rig, const char *name, int parent, vec3 place )
{
    tr_skeleton *skeleton = &rig->motion.skeleton;
    assert( skeleton->joint_count < TR_RIG_JOINTS && tr_skeleton_find( skeleton, name ) < 0 );
    if ( rig->failed )
        return 0;
    vec3 offset = parent < 0 ? place : v3_sub( place, rig->rest[parent] );
    int joint = tr_skeleton_add( skeleton, name, parent, offset );
    if ( joint < 0 ) {
        rig->failed = true;
        return 0;
    }
    rig->rest[joint] = place;
    return joint;
}

int tr_rig_tip( tr_rig *rig, int parent, vec3 place )
{
    if ( rig->failed )
        return 0;
    char name[64];
    snprintf( name, sizeof name, "%s_End", rig->motion.skeleton.joints[parent].name );
    int joint = tr_rig_joint( rig, name, parent, place );
    rig->motion.skeleton.joints[joint].end_site = !rig->failed;
    return joint;
}

bool tr_rig_finish( tr_rig *rig, int frame_count, double fps, tr_error *error )
{
    if ( rig->failed )
        return tr_error_memory( error );
    tr_skeleton *skeleton = &rig->motion.skeleton;
    return tr_skeleton_classify( skeleton, error ) &&
           tr_clip_alloc( &rig->motion.clip, frame_count, skeleton->joint_count, fps, false, error );
}

void tr_rig_begin( tr_rig *rig, rigid root )
{
    int count = rig->motion.skeleton.joint_count;
    for ( int j = 0; j < count; ++j )
        rig->local[j] = q_identity;
    rig->local[0] = root.rotation;
    rig->root = rig->positions[0] = root.position;
    tr_pose_refresh( &rig->motion.skeleton, rig->local, rig->pose, 0 );
}

void tr_rig_turn( tr_rig *rig, int joint, quat turn )
{
    rig->local[joint] = q_mul( rig->local[joint], turn );
    tr_pose_refresh( &rig->motion.skeleton, rig->local, rig->pose, joint );
}

void tr_rig_move( tr_rig *rig, vec3 by )
{
    rig->root = v3_add( rig->root, by );
    for ( int j = 0; j < rig->motion.skeleton.joint_count; ++j )
        rig->positions[j] = v3_add( rig->positions[j], by );
}

void tr_rig_reach( tr_rig *rig, int upper, int middle, int end, vec3 target, vec3 pole )
{
    double left = tr_ik_two_bone( &rig->motion.skeleton, rig->local, rig->pose,
                                  &( tr_limb_chain ){ upper, middle, end, true }, target, pole );
    rig->worst_reach = fmax( rig->worst_reach, left );
}

void tr_rig_orient( tr_rig *rig, int joint, quat rotation )
{
    tr_ik_orient( &rig->motion.skeleton, rig->local, rig->pose, joint, rotation );
}

// Neighbouring frames take the nearer of the two quaternions of a rotation.
void tr_rig_store( tr_rig *rig, int frame )
{
    tr_clip *clip = &rig->motion.clip;
    quat *out = tr_clip_frame( clip, frame ), *before = frame > 0 ? tr_clip_frame( clip, frame - 1 ) : NULL;
    for ( int j = 0; j < clip->joint_count; ++j ) {
        quat q = q_unit( rig->local[j] );
        out[j] = before != NULL && q_dot( q, before[j] ) < 0 ? q_negate( q ) : q;
    }
    clip->root[frame] = rig->root;
}
