#include "motion/motion.h"

#include <assert.h>
#include <string.h>

void tr_clip_free( tr_clip *clip )
{
    tr_free( clip->rotations );
    tr_free( clip->root );
    tr_free( clip->translations );
    *clip = ( tr_clip ){ 0 };
}

bool tr_clip_alloc( tr_clip *clip, int frame_count, int joint_count, double fps, bool translations,
                    tr_error *error )
{
    assert( frame_count >= 0 && joint_count > 0 );
    size_t cells = (size_t)frame_count * (size_t)joint_count;
    *clip = ( tr_clip ){ .joint_count = joint_count, .frame_count = frame_count, .fps = fps };
    clip->rotations = tr_alloc( cells, sizeof( quat ) );
    clip->root = tr_alloc( (size_t)frame_count, sizeof( vec3 ) );
    clip->translations = translations ? tr_alloc( cells, sizeof( vec3 ) ) : NULL;
    if ( clip->rotations == NULL || clip->root == NULL || ( translations && clip->translations == NULL ) ) {
        tr_clip_free( clip );
        return tr_error_memory( error );
    }
    for ( size_t i = 0; i < cells; ++i )
        clip->rotations[i] = q_identity;
    return true;
}

bool tr_clip_copy( tr_clip *out, const tr_clip *in, tr_error *error )
{
    if ( !tr_clip_alloc( out, in->frame_count, in->joint_count, in->fps, in->translations != NULL, error ) )
        return false;
    size_t cells = (size_t)in->frame_count * (size_t)in->joint_count;
    memcpy( out->rotations, in->rotations, cells * sizeof( quat ) );
    memcpy( out->root, in->root, (size_t)in->frame_count * sizeof( vec3 ) );
    if ( in->translations != NULL )
        memcpy( out->translations, in->translations, cells * sizeof( vec3 ) );
    return true;
}

void tr_motion_free( tr_motion *motion )
{
    tr_skeleton_free( &motion->skeleton );
    tr_clip_free( &motion->clip );
}

bool tr_motion_copy( tr_motion *out, const tr_motion *in, tr_error *error )
{
    *out = ( tr_motion ){ 0 };
    if ( tr_skeleton_copy( &out->skeleton, &in->skeleton, error ) &&
         tr_clip_copy( &out->clip, &in->clip, error ) )
        return true;
    tr_motion_free( out );
    return false;
}

void tr_clip_place( tr_clip *clip, rigid placement )
{
    for ( int f = 0; f < clip->frame_count; ++f ) {
        clip->root[f] = rigid_apply( placement, clip->root[f] );
        quat *root = tr_clip_frame( clip, f );
        *root = q_mul( placement.rotation, *root );
    }
}
