// Queries about the target joints of an actor: which source joints drive them, and how they turn.
#include "actor/actor.h"

tr_seam_def tr_default_seam_def( void )
{
    return ( tr_seam_def ){ .blend = 0.3,
                            .swing = 0.3,
                            .step = 0.2,
                            .step_height = 0.15,
                            .stretch = 0.999,
                            .most_sink = 0.15,
                            .same_bone = 0.02,
                            .pelvis_weight = 1.0 };
}

tr_posture_def tr_default_posture_def( void )
{
    return ( tr_posture_def ){ .most_turn = 120 * TR_DEGREE,
                               .most_lean = 60 * TR_DEGREE,
                               .least_spread = 0.2,
                               .least_plane = 0.3,
                               .least_lateral = 0.3,
                               .steepest = 0.9,
                               .source_frames = 48,
                               .target_frames = 12 };
}

tr_lead_def tr_default_lead_def( void )
{
    return ( tr_lead_def ){
        .tether = 1.0, .smooth = 0.1, .ramp = 0.1, .least_path = 1e-4, .swing_weight = 1e-6 };
}

// The target joint of a source joint: one that it drives alone, otherwise one that it drives with another.
static int driven_by( const tr_actor *actor, int source_joint )
{
    int joint = tr_actor_target_joint( actor, source_joint );
    for ( int j = 0; joint < 0 && actor->blends != NULL && j < actor->target.joint_count; ++j )
        if ( tr_joint_blends( actor, j ) &&
             ( actor->map[j] == source_joint || actor->blends[j].next == source_joint ) )
            joint = j;
    return joint;
}

bool tr_actor_find_joint( const tr_actor *actor, const char *name, int *joint, vec3 *beyond )
{
    const tr_skeleton *source = &actor->source.skeleton;
    *beyond = v3_zero;
    *joint = tr_skeleton_find( &actor->target, name );
    int from = *joint < 0 ? tr_skeleton_find( source, name ) : -1;
    for ( ; from >= 0 && *joint < 0; from = source->joints[from].parent ) {
        *joint = driven_by( actor, from );
        if ( *joint < 0 )
            *beyond = v3_add( *beyond, source->joints[from].offset );
    }
    return *joint >= 0;
}

// How much longer the part below a joint is on the target: bones to its children, or its own where it has
// none.
double tr_part_ratio( const tr_actor *actor, int joint )
{
    double target = 0, source = 0;
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        bool below = actor->target.joints[j].parent == joint;
        if ( below && actor->map[j] >= 0 && !tr_joint_blends( actor, j ) ) {
            target += tr_bone_length( &actor->target, j );
            source += tr_bone_length( &actor->source.skeleton, actor->map[j] );
        }
    }
    if ( source < TR_NO_SIZE && joint > 0 && actor->map[joint] >= 0 ) {
        target = tr_bone_length( &actor->target, joint );
        source = tr_bone_length( &actor->source.skeleton, actor->map[joint] );
    }
    return tr_size_ratio( target, source, actor->height_ratio );
}

static bool is_identity( quat q )
{
    return q_dot( q, q_identity ) == 1.0;
}

// Whether joint and parent correspond in source and target, so that the local rotation can be copied.
static bool copies_locally( const tr_actor *actor, int joint )
{
    int parent = actor->target.joints[joint].parent;
    return actor->source.skeleton.joints[joint].parent == parent && is_identity( actor->align[joint] ) &&
           !tr_joint_blends( actor, joint ) &&
           ( parent < 0 || ( actor->map[parent] == parent && is_identity( actor->align[parent] ) &&
                             !tr_joint_blends( actor, parent ) ) );
}

// World rotation of every mapped joint = the source's · align; joints that nothing drives keep their own
// animation or their rest rotation. Where source and target hierarchies agree this is the source's local
// rotation up to rounding; the exact one is taken then.
void tr_actor_copy_frame( const tr_actor *actor, int frame, const bool *made, quat *local, quat *world )
{
    const tr_skeleton *target = &actor->target;
    tr_pose source = tr_world_pose( &actor->world, frame );
    const quat *source_local = tr_clip_frame( &actor->source.clip, frame );
    for ( int j = 0; j < target->joint_count; ++j ) {
        int from = actor->map[j], parent = target->joints[j].parent;
        quat above = parent < 0 ? q_identity : world[parent];
        if ( made != NULL && made[j] )
            local[j] = q_unit( local[j] );
        else if ( from == j && copies_locally( actor, j ) )
            local[j] = source_local[from];
        else if ( from >= 0 )
            local[j] = q_unit( q_mul( q_conj( above ), tr_actor_source_turn( actor, j, source.rotations ) ) );
        else
            local[j] =
                actor->own.frame_count > 0 ? tr_clip_frame( &actor->own, frame )[j] : target->joints[j].rest;
        world[j] = q_mul( above, local[j] );
    }
}

int tr_actor_pelvis( const tr_actor *actor )
{
    for ( int j = 0; j < actor->target.joint_count; ++j )
        if ( actor->target.joints[j].role == TR_ROLE_ROOT && actor->map[j] >= 0 )
            return j;
    return 0;
}
