#include "motion/motion.h"

#include <assert.h>
#include <string.h>

void tr_skeleton_free( tr_skeleton *skeleton )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        tr_free( skeleton->joints[j].name );
    tr_free( skeleton->joints );
    tr_free( skeleton->limbs );
    *skeleton = ( tr_skeleton ){ 0 };
}

int tr_skeleton_add( tr_skeleton *skeleton, const char *name, int parent, vec3 offset )
{
    int index = skeleton->joint_count;
    assert( parent < index && ( parent >= 0 || index == 0 ) );
    char *copy = tr_string_copy( name );
    if ( copy == NULL || !tr_array_reserve( (void **)&skeleton->joints, &skeleton->joint_capacity, index + 1,
                                            sizeof( tr_joint ) ) ) {
        tr_free( copy );
        return -1;
    }
    skeleton->joints[index] =
        ( tr_joint ){ .name = copy, .parent = parent, .offset = offset, .rest = q_identity };
    skeleton->joint_count++;
    return index;
}

bool tr_skeleton_copy( tr_skeleton *out, const tr_skeleton *in, tr_error *error )
{
    *out = ( tr_skeleton ){ 0 };
    for ( int j = 0; j < in->joint_count; ++j ) {
        const tr_joint *from = &in->joints[j];
        if ( tr_skeleton_add( out, from->name, from->parent, from->offset ) < 0 )
            goto failed;
        char *name = out->joints[j].name;
        out->joints[j] = *from;
        out->joints[j].name = name;
    }
    if ( in->limb_count > 0 ) {
        out->limbs = tr_alloc( (size_t)in->limb_count, sizeof( tr_limb ) );
        if ( out->limbs == NULL )
            goto failed;
        memcpy( out->limbs, in->limbs, (size_t)in->limb_count * sizeof( tr_limb ) );
        out->limb_count = in->limb_count;
    }
    return true;
failed:
    tr_skeleton_free( out );
    return tr_error_memory( error );
}

int tr_skeleton_find( const tr_skeleton *skeleton, const char *name )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( strcmp( skeleton->joints[j].name, name ) == 0 )
            return j;
    return -1;
}

int tr_skeleton_find_limb( const tr_skeleton *skeleton, const char *name )
{
    for ( int i = 0; i < skeleton->limb_count; ++i )
        if ( strcmp( skeleton->limbs[i].name, name ) == 0 )
            return i;
    return -1;
}

int tr_skeleton_find_role( const tr_skeleton *skeleton, tr_role role, tr_side side, int *joints,
                           int capacity )
{
    int count = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        if ( skeleton->joints[j].role != role || skeleton->joints[j].side != side )
            continue;
        if ( count < capacity )
            joints[count] = j;
        count++;
    }
    return count;
}

double tr_bone_length( const tr_skeleton *skeleton, int joint )
{
    return v3_length( skeleton->joints[joint].offset );
}
