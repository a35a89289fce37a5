// Rest poses of source and target, brought together.
//
// World rotation of a target joint = that of its source joint · (source's rest)⁻¹ · posture · target's rest.
// Skeletons of different files rest in different postures (arms out, arms down, lying). The posture of a
// joint is the turn that lays the target's bones along the source's in the rest pose: the parent's posture,
// turned on by the least angle that brings the joint's own bone in line; where two or more bones hang on a
// joint, the first two fix the turn.

#include "scene/scene_private.h"

typedef struct rest_pair {
    const tr_actor *actor;
    tr_pose source, target; // rest poses
} rest_pair;

// Directions from a joint to the next mapped joint below each of its children, on both bodies. Returns how
// many.
static int bone_pairs( const rest_pair *rest, int joint, vec3 source[2], vec3 target[2] )
{
    const tr_actor *actor = rest->actor;
    int count = 0;
    for ( int c = joint + 1; c < actor->target.joint_count && count < 2; ++c ) {
        if ( actor->target.joints[c].parent != joint || actor->map[c] < 0 || actor->map[joint] < 0 )
            continue;
        vec3 s = v3_sub( rest->source.positions[actor->map[c]], rest->source.positions[actor->map[joint]] );
        vec3 t = v3_sub( rest->target.positions[c], rest->target.positions[joint] );
        bool parallel = count == 1 && v3_length( v3_cross( v3_unit( t ), v3_unit( target[0] ) ) ) < 0.2;
        if ( v3_length( s ) < 1e-3 || v3_length( t ) < 1e-3 || parallel )
            continue;
        source[count] = s;
        target[count++] = t;
    }
    return count;
}

static quat frame_of( vec3 first, vec3 second )
{
    return q_look( first, v3_cross( first, second ) );
}

static quat posture( const rest_pair *rest, int joint, quat above )
{
    vec3 s[2], t[2];
    int bones = bone_pairs( rest, joint, s, t );
    if ( bones == 2 && v3_length( v3_cross( v3_unit( s[0] ), v3_unit( s[1] ) ) ) > 0.2 )
        return q_mul( frame_of( s[0], s[1] ), q_conj( frame_of( t[0], t[1] ) ) );
    if ( bones >= 1 )
        return q_mul( q_between( q_rotate( above, t[0] ), s[0] ), above );
    return above;
}

static void fill_align( tr_actor *actor, const rest_pair *rest, bool other_file )
{
    quat *align = actor->align; // holds postures until every child has read its parent's
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        int parent = actor->target.joints[j].parent;
        align[j] = other_file ? posture( rest, j, parent < 0 ? q_identity : align[parent] ) : q_identity;
    }
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        quat from = rest->source.rotations[actor->map[j] < 0 ? 0 : actor->map[j]];
        align[j] = q_mul( q_conj( from ), q_mul( align[j], rest->target.rotations[j] ) );
    }
}

bool tr_actor_align( tr_actor *actor, bool other_file, tr_error *error )
{
    int targets = actor->target.joint_count, sources = actor->source.skeleton.joint_count;
    actor->align = tr_alloc( (size_t)targets, sizeof( quat ) );
    quat *rotations = tr_alloc( (size_t)( sources + targets ), sizeof( quat ) );
    vec3 *positions = tr_alloc( (size_t)( sources + targets ), sizeof( vec3 ) );
    bool ok = actor->align != NULL && rotations != NULL && positions != NULL;
    if ( ok ) {
        rest_pair rest = { actor, { rotations, positions }, { rotations + sources, positions + sources } };
        tr_forward_rest( &actor->source.skeleton, rest.source );
        tr_forward_rest( &actor->target, rest.target );
        fill_align( actor, &rest, other_file );
    }
    tr_free( rotations );
    tr_free( positions );
    return ok || tr_error_memory( error );
}
