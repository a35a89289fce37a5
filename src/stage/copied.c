// The motion of a target body that copies its source: joint rotations, and a root path in its own size.
#include "stage/private.h"

// Root path: the group scales it horizontally; the length of the legs scales its height above the ankles.
static vec3 body_place( const tr_stage *stage, const tr_actor *actor, vec3 source, int frame )
{
    vec3 place = tr_group_place( &stage->groups[actor->group], source );
    tr_sole ankles = tr_actor_ankles( actor );
    place.y = stage->ground + ankles.target + actor->leg_ratio * ( source.y - stage->ground - ankles.source );
    if ( actor->lift != NULL )
        place.y += actor->lift[frame];
    return place;
}

// From the root to a joint, in world axes.
static vec3 from_root( const tr_skeleton *skeleton, const quat *world, int joint )
{
    vec3 sum = v3_zero;
    for ( int j = joint; j > 0; j = skeleton->joints[j].parent )
        sum = v3_add( sum, q_rotate( world[skeleton->joints[j].parent], skeleton->joints[j].offset ) );
    return sum;
}

// The joints that carry the body. In a skeleton from another file these are the hips, since its pelvis may
// lie elsewhere between the legs. Otherwise, and if nothing drives the legs, it is the pelvis.
static int carriers( const tr_actor *actor, int joints[2] )
{
    int pelvis = tr_actor_pelvis( actor ), count = 0;
    for ( int j = 0; actor->foreign && j < actor->target.joint_count && count < 2; ++j )
        if ( actor->target.joints[j].role == TR_ROLE_THIGH && actor->target.joints[j].parent == pelvis &&
             actor->map[j] >= 0 )
            joints[count++] = j;
    if ( count < 2 )
        joints[0] = pelvis;
    return count < 2 ? 1 : 2;
}

bool tr_actor_copy( tr_motion *out, const tr_stage *stage, const tr_actor *actor, tr_error *error )
{
    quat *world = tr_alloc( (size_t)actor->target.joint_count, sizeof( quat ) );
    int hips[2], hip_count = carriers( actor, hips );
    bool ok = world != NULL || tr_error_memory( error );
    ok = ok && tr_skeleton_copy( &out->skeleton, &actor->target, error ) &&
         tr_clip_alloc( &out->clip, stage->frame_count, actor->target.joint_count, stage->fps, false, error );
    for ( int f = 0; ok && f < stage->frame_count; ++f ) {
        tr_actor_copy_frame( actor, f, NULL, tr_clip_frame( &out->clip, f ), world );
        if ( actor->map[0] < 0 && actor->own.frame_count > 0 ) { // it goes its own way
            out->clip.root[f] = actor->own.root[f];
            continue;
        }
        vec3 source = v3_zero, from = v3_zero;
        for ( int h = 0; h < hip_count; ++h ) {
            source = v3_mad(
                source, 1.0 / hip_count,
                tr_actor_source_place( actor, hips[h], tr_world_pose( &actor->world, f ).positions ) );
            from = v3_mad( from, 1.0 / hip_count, from_root( &actor->target, world, hips[h] ) );
        }
        out->clip.root[f] = v3_sub( body_place( stage, actor, source, f ), from );
    }
    tr_free( world );
    return ok;
}

bool tr_copied_world( tr_world *out, const tr_stage *stage, int actor, tr_error *error )
{
    tr_motion motion = { 0 };
    *out = ( tr_world ){ 0 };
    bool ok = tr_actor_copy( &motion, stage, &stage->actors[actor], error ) &&
              tr_world_build( out, &motion, error );
    tr_motion_free( &motion );
    return ok;
}
