// Motion of the target bodies: its memory.
#include "result/private.h"

#include <string.h>

bool tr_result_alloc( tr_result *result, const tr_stage *stage, tr_error *error )
{
    *result = ( tr_result ){ .actor_count = stage->actor_count,
                             .prop_count = stage->prop_count,
                             .frame_count = stage->frame_count,
                             .rule_count = stage->rule_count,
                             .handle_count = stage->scene->handle_count };
    result->motions = tr_alloc( (size_t)stage->actor_count, sizeof( tr_motion ) );
    result->worlds = tr_alloc( (size_t)stage->actor_count, sizeof( tr_world ) );
    result->tracks = tr_alloc( (size_t)stage->prop_count, sizeof( rigid * ) );
    result->reports = tr_alloc( (size_t)stage->rule_count, sizeof( tr_rule_report ) );
    result->steps = tr_alloc( (size_t)stage->actor_count, sizeof( tr_step * ) );
    result->turns = tr_alloc( (size_t)stage->actor_count, sizeof( double * ) );
    result->handles = tr_alloc( (size_t)result->handle_count, sizeof( tr_handle_report ) );
    bool ok = result->motions != NULL && result->worlds != NULL && result->tracks != NULL &&
              result->reports != NULL && result->steps != NULL && result->turns != NULL &&
              result->handles != NULL;
    for ( int p = 0; ok && p < stage->prop_count; ++p ) {
        result->tracks[p] = tr_alloc( (size_t)stage->frame_count, sizeof( rigid ) );
        ok = result->tracks[p] != NULL;
    }
    if ( ok )
        return true;
    tr_result_free( result );
    return tr_error_memory( error );
}

void tr_result_free( tr_result *result )
{
    for ( int i = 0; result->motions != NULL && i < result->actor_count; ++i )
        tr_motion_free( &result->motions[i] );
    for ( int i = 0; result->worlds != NULL && i < result->actor_count; ++i )
        tr_world_free( &result->worlds[i] );
    for ( int p = 0; result->tracks != NULL && p < result->prop_count; ++p )
        tr_free( result->tracks[p] );
    for ( int i = 0; result->steps != NULL && i < result->actor_count; ++i )
        tr_free( result->steps[i] );
    for ( int i = 0; result->turns != NULL && i < result->actor_count; ++i )
        tr_free( result->turns[i] );
    tr_meshes_free( result );
    for ( int i = 0; i < result->cage_count; ++i )
        tr_cage_outline_free( &result->cages[i] );
    tr_free( result->cages );
    tr_free( result->steps );
    tr_free( result->turns );
    tr_free( result->handles );
    tr_free( result->motions );
    tr_free( result->worlds );
    tr_free( result->tracks );
    tr_free( result->reports );
    *result = ( tr_result ){ 0 };
}

bool tr_result_pose( tr_result *result, tr_error *error )
{
    for ( int i = 0; i < result->actor_count; ++i )
        tr_world_free( &result->worlds[i] );
    return tr_worlds_build( result->worlds, result->motions, result->actor_count, error );
}

static bool copy_source( tr_result *out, const tr_stage *stage, tr_error *error )
{
    for ( int i = 0; i < stage->actor_count; ++i )
        if ( !tr_motion_copy( &out->motions[i], &stage->actors[i].source, error ) ||
             !tr_world_build( &out->worlds[i], &out->motions[i], error ) )
            return false;
    for ( int p = 0; p < stage->prop_count; ++p )
        memcpy( out->tracks[p], stage->props[p].track, (size_t)stage->frame_count * sizeof( rigid ) );
    return true;
}

bool tr_result_from_source( tr_result *out, const tr_stage *stage, tr_error *error )
{
    if ( !tr_result_alloc( out, stage, error ) )
        return false;
    out->of_source = true;
    if ( copy_source( out, stage, error ) )
        return true;
    tr_result_free( out );
    return false;
}

tr_step *tr_result_steps( tr_result *result, const tr_stage *stage, int actor )
{
    if ( result->steps[actor] == NULL )
        result->steps[actor] = tr_alloc(
            (size_t)stage->frame_count * (size_t)stage->actors[actor].target.joint_count, sizeof( tr_step ) );
    return result->steps[actor];
}

double *tr_result_turns( tr_result *result, int actor )
{
    if ( result->turns[actor] == NULL )
        result->turns[actor] = tr_alloc( (size_t)result->frame_count, sizeof( double ) );
    return result->turns[actor];
}

// ------------------------------------------------------------------------------------------------------ copy

typedef struct copying {
    const tr_stage *stage;
    tr_result *out;
    const tr_result *in;
    atomic_bool failed;
} copying;

static bool copy_world( tr_world *out, const tr_world *in )
{
    size_t cells = (size_t)in->frame_count * (size_t)in->joint_count;
    *out = ( tr_world ){ .joint_count = in->joint_count, .frame_count = in->frame_count };
    out->rotations = tr_alloc( cells, sizeof( quat ) );
    out->positions = tr_alloc( cells, sizeof( vec3 ) );
    if ( out->rotations == NULL || out->positions == NULL )
        return false;
    memcpy( out->rotations, in->rotations, cells * sizeof( quat ) );
    memcpy( out->positions, in->positions, cells * sizeof( vec3 ) );
    return true;
}

static bool copy_actor( const copying *c, int i )
{
    size_t frames = (size_t)c->stage->frame_count,
           cells = frames * (size_t)c->stage->actors[i].target.joint_count;
    tr_error error;
    if ( !tr_motion_copy( &c->out->motions[i], &c->in->motions[i], &error ) ||
         !copy_world( &c->out->worlds[i], &c->in->worlds[i] ) ||
         ( c->in->steps[i] != NULL && tr_result_steps( c->out, c->stage, i ) == NULL ) ||
         ( c->in->turns[i] != NULL && tr_result_turns( c->out, i ) == NULL ) )
        return false;
    if ( c->in->steps[i] != NULL )
        memcpy( c->out->steps[i], c->in->steps[i], cells * sizeof( tr_step ) );
    if ( c->in->turns[i] != NULL )
        memcpy( c->out->turns[i], c->in->turns[i], frames * sizeof( double ) );
    return true;
}

static void copy_actors( void *context, int begin, int end )
{
    copying *c = context;
    for ( int i = begin; i < end; ++i )
        if ( !copy_actor( c, i ) )
            c->failed = true;
}

enum { FRAMES_AT_ONCE = 4096 }; // copied by a task: enough to be worth one

bool tr_result_copy( tr_result *out, const tr_stage *stage, const tr_result *in, tr_error *error )
{
    copying c = { .stage = stage, .out = out, .in = in };
    if ( !tr_result_alloc( out, stage, error ) )
        return false;
    tr_parallel_for( stage->actor_count, 1 + FRAMES_AT_ONCE / stage->frame_count, copy_actors, &c );
    for ( int p = 0; p < stage->prop_count; ++p )
        memcpy( out->tracks[p], in->tracks[p], (size_t)stage->frame_count * sizeof( rigid ) );
    if ( !c.failed )
        return true;
    tr_result_free( out );
    return tr_error_memory( error );
}
