// The invariants of skeletons and clips: what every loader promises and every test, fuzzer and debug build
// asks.
#include "motion/motion.h"

#include <string.h>

static bool check_joint( const tr_skeleton *skeleton, int j, tr_error *error )
{
    const tr_joint *joint = &skeleton->joints[j];
    if ( joint->name == NULL )
        return tr_error_set( error, "joint %d has no name", j );
    if ( j == 0 ? joint->parent != -1 : joint->parent < 0 || joint->parent >= j )
        return tr_error_set( error,
                             "joint %d (%.100s) has parent %d; parents must come before their children", j,
                             joint->name, joint->parent );
    if ( !v3_finite( joint->offset ) )
        return tr_error_set( error, "joint %d (%.100s) has an offset that is no number", j, joint->name );
    if ( !q_is_unit( joint->rest ) )
        return tr_error_set( error, "joint %d (%.100s) has a rest rotation that is no unit quaternion", j,
                             joint->name );
    if ( (unsigned)joint->role >= TR_ROLE_COUNT || (unsigned)joint->side > TR_SIDE_RIGHT )
        return tr_error_set( error, "joint %d (%.100s) has an unknown role or side", j, joint->name );
    int limbs = skeleton->limb_count > 0 ? skeleton->limb_count : 1; // 0 before tr_skeleton_classify
    if ( joint->limb < 0 || joint->limb >= limbs )
        return tr_error_set( error, "joint %d (%.100s) belongs to limb %d, but there are %d", j, joint->name,
                             joint->limb, skeleton->limb_count );
    return true;
}

static bool check_limbs( const tr_skeleton *skeleton, tr_error *error )
{
    if ( skeleton->limb_count < 0 || skeleton->limb_count > TR_MAX_LIMBS ||
         ( skeleton->limb_count > 0 && skeleton->limbs == NULL ) )
        return tr_error_set( error, "the skeleton has %d limbs; 0 to %d are possible", skeleton->limb_count,
                             TR_MAX_LIMBS );
    for ( int i = 0; i < skeleton->limb_count; ++i ) {
        const tr_limb *limb = &skeleton->limbs[i];
        if ( limb->name[0] == 0 || memchr( limb->name, 0, sizeof limb->name ) == NULL )
            return tr_error_set( error, "limb %d has no name", i );
        if ( (unsigned)limb->kind > TR_LIMB_OTHER || (unsigned)limb->side > TR_SIDE_RIGHT )
            return tr_error_set( error, "limb %d (%s) has an unknown kind or side", i, limb->name );
        if ( tr_skeleton_find_limb( skeleton, limb->name ) != i )
            return tr_error_set( error, "two limbs are called %s", limb->name );
    }
    return true;
}

bool tr_skeleton_check( const tr_skeleton *skeleton, tr_error *error )
{
    if ( skeleton->joint_count < 1 || skeleton->joint_count > TR_MAX_JOINTS || skeleton->joints == NULL )
        return tr_error_set( error, "a skeleton has 1 to %d joints; this one has %d", TR_MAX_JOINTS,
                             skeleton->joint_count );
    if ( !check_limbs( skeleton, error ) )
        return false;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( !check_joint( skeleton, j, error ) )
            return false;
    return true;
}

static bool check_frame( const tr_clip *clip, int frame, tr_error *error )
{
    if ( !v3_finite( clip->root[frame] ) )
        return tr_error_set( error, "frame %d has a root position that is no number", frame );
    size_t at = (size_t)frame * clip->joint_count;
    for ( int j = 0; j < clip->joint_count; ++j ) {
        if ( !q_is_unit( clip->rotations[at + j] ) )
            return tr_error_set( error, "frame %d has a rotation of joint %d that is no unit quaternion",
                                 frame, j );
        if ( clip->translations != NULL && !v3_finite( clip->translations[at + j] ) )
            return tr_error_set( error, "frame %d has a translation of joint %d that is no number", frame,
                                 j );
    }
    return true;
}

bool tr_clip_check( const tr_clip *clip, const tr_skeleton *skeleton, tr_error *error )
{
    if ( clip->joint_count != skeleton->joint_count )
        return tr_error_set( error, "the clip has %d joints, its skeleton %d", clip->joint_count,
                             skeleton->joint_count );
    if ( clip->frame_count < 0 || clip->rotations == NULL || clip->root == NULL )
        return tr_error_set( error, "the clip has no frames" );
    if ( !isfinite( clip->fps ) || clip->fps <= 0 )
        return tr_error_set( error, "the clip has a frame rate of %g; it must be above zero", clip->fps );
    for ( int f = 0; f < clip->frame_count; ++f )
        if ( !check_frame( clip, f, error ) )
            return false;
    return true;
}

bool tr_motion_check( const tr_motion *motion, tr_error *error )
{
    return tr_skeleton_check( &motion->skeleton, error ) &&
           tr_clip_check( &motion->clip, &motion->skeleton, error );
}
