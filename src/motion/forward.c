// Forward kinematics: world(j) = world(parent) · (translation, rotation)(j), parents before children.
#include "motion/forward.h"

#include <assert.h>
#include <stdatomic.h>

static void place_child( const tr_joint *joint, vec3 offset, quat rotation, tr_pose pose, int j )
{
    int p = joint->parent;
    pose.positions[j] = v3_add( pose.positions[p], q_rotate( pose.rotations[p], offset ) );
    pose.rotations[j] = q_mul( pose.rotations[p], rotation );
}

void tr_forward( const tr_skeleton *skeleton, const tr_clip *clip, int frame, tr_pose pose )
{
    assert( frame >= 0 && frame < clip->frame_count && clip->joint_count == skeleton->joint_count );
    const quat *local = tr_clip_frame( clip, frame );
    const vec3 *moved =
        clip->translations != NULL ? clip->translations + (size_t)frame * clip->joint_count : NULL;
    pose.positions[0] = clip->root[frame];
    pose.rotations[0] = local[0];
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        place_child( joint, moved != NULL ? moved[j] : joint->offset, local[j], pose, j );
    }
}

static bool goes_four_at_once( const tr_skeleton *skeleton, const tr_clip *clip )
{
    return skeleton->joint_count <= TR_FORWARD_JOINTS && clip->translations == NULL &&
           tr_processor_has_avx2();
}

void tr_forward_frames( const tr_skeleton *skeleton, const tr_clip *clip, const int *frames, int count,
                        tr_world *world )
{
    int n = 0, whole = goes_four_at_once( skeleton, clip ) ? count - count % TR_FORWARD_FRAMES : 0;
    for ( ; n < whole; n += TR_FORWARD_FRAMES ) {
        const quat *local[TR_FORWARD_FRAMES];
        vec3 root[TR_FORWARD_FRAMES];
        tr_pose poses[TR_FORWARD_FRAMES];
        for ( int l = 0; l < TR_FORWARD_FRAMES; ++l ) {
            int f = frames[n + l];
            assert( f >= 0 && f < clip->frame_count );
            local[l] = tr_clip_frame( clip, f );
            root[l] = clip->root[f];
            poses[l] = tr_world_pose( world, f );
        }
        tr_forward_four_avx2( skeleton, local, root, poses );
    }
    for ( ; n < count; ++n )
        tr_forward( skeleton, clip, frames[n], tr_world_pose( world, frames[n] ) );
}

void tr_forward_rest( const tr_skeleton *skeleton, tr_pose pose )
{
    pose.positions[0] = skeleton->joints[0].offset;
    pose.rotations[0] = skeleton->joints[0].rest;
    for ( int j = 1; j < skeleton->joint_count; ++j )
        place_child( &skeleton->joints[j], skeleton->joints[j].offset, skeleton->joints[j].rest, pose, j );
}

typedef struct batch {
    const tr_motion *motion;
    tr_world *world;
} batch;

static void forward_frames( void *context, int begin, int end )
{
    batch *b = context;
    for ( int f = begin; f < end; f += TR_FORWARD_FRAMES ) {
        const int frames[TR_FORWARD_FRAMES] = { f, f + 1, f + 2, f + 3 };
        int count = end - f < TR_FORWARD_FRAMES ? end - f : TR_FORWARD_FRAMES;
        tr_forward_frames( &b->motion->skeleton, &b->motion->clip, frames, count, b->world );
    }
}

bool tr_world_build( tr_world *out, const tr_motion *motion, tr_error *error )
{
    size_t cells = (size_t)motion->clip.frame_count * (size_t)motion->clip.joint_count;
    *out = ( tr_world ){ .joint_count = motion->clip.joint_count, .frame_count = motion->clip.frame_count };
    out->rotations = tr_alloc( cells, sizeof( quat ) );
    out->positions = tr_alloc( cells, sizeof( vec3 ) );
    if ( out->rotations == NULL || out->positions == NULL ) {
        tr_world_free( out );
        return tr_error_memory( error );
    }
    batch b = { motion, out };
    enum { JOINTS_AT_ONCE = 16384 }; // some 0.2 ms of work: less is not worth waking a thread
    int block = 1 + JOINTS_AT_ONCE / out->joint_count;
    tr_parallel_for( out->frame_count, block, forward_frames, &b );
    return true;
}

typedef struct crowd {
    const tr_motion *motions;
    tr_world *worlds;
    atomic_bool failed;
} crowd;

static void build_worlds( void *context, int begin, int end )
{
    crowd *c = context;
    tr_error error;
    for ( int i = begin; i < end; ++i )
        if ( !tr_world_build( &c->worlds[i], &c->motions[i], &error ) )
            c->failed = true;
}

// Whole motions at a time: most are too short to be worth sharing.
bool tr_worlds_build( tr_world *worlds, const tr_motion *motions, int count, tr_error *error )
{
    crowd c = { .motions = motions, .worlds = worlds };
    tr_parallel_for( count, 1, build_worlds, &c );
    return !c.failed || tr_error_memory( error );
}

void tr_world_free( tr_world *world )
{
    tr_free( world->rotations );
    tr_free( world->positions );
    *world = ( tr_world ){ 0 };
}
