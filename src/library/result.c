// Results: solved, saved, read back, and their poses as arrays.
#include "library.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

// Positions and rotations are handed out without a copy.
_Static_assert( sizeof( vec3 ) == 3 * sizeof( double ), "a vector is three numbers in a row" );
_Static_assert( sizeof( quat ) == 4 * sizeof( double ), "a rotation is four numbers in a row" );
_Static_assert( offsetof( quat, x ) == 0 && offsetof( quat, w ) == 3 * sizeof( double ), "x, y, z, w" );
_Static_assert( sizeof( rigid ) == 7 * sizeof( double ) && offsetof( rigid, rotation ) == 0,
                "a transform is a rotation, then a position" );

static bool body_build( tr_library_body *body, const tr_skeleton *skeleton, tr_error *error )
{
    size_t count = (size_t)skeleton->joint_count;
    body->parents = tr_alloc( count, sizeof *body->parents );
    body->offsets = tr_alloc( 3 * count, sizeof *body->offsets );
    body->names = tr_alloc( count, sizeof *body->names );
    if ( body->parents == NULL || body->offsets == NULL || body->names == NULL )
        return tr_error_memory( error );
    for ( size_t j = 0; j < count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        body->parents[j] = joint->parent;
        body->names[j] = joint->name;
        memcpy( body->offsets + 3 * j, &joint->offset, sizeof joint->offset );
    }
    return true;
}

bool tr_library_bodies_build( troupe_result *result, tr_error *error )
{
    const tr_result *motion = result->motion;
    result->bodies = tr_alloc( (size_t)motion->actor_count, sizeof *result->bodies );
    bool ok = result->bodies != NULL || tr_error_memory( error );
    for ( int i = 0; ok && i < motion->actor_count; ++i )
        ok = body_build( &result->bodies[i], &motion->motions[i].skeleton, error );
    return ok;
}

void tr_library_result_free( troupe_result *result )
{
    for ( int i = 0; result->bodies != NULL && i < result->motion->actor_count; ++i ) {
        tr_free( result->bodies[i].parents );
        tr_free( result->bodies[i].offsets );
        tr_free( result->bodies[i].names );
    }
    tr_free( result->bodies );
    tr_result_free( &result->own );
}

static troupe_result *result_create( const troupe_stage *stage, tr_error *error )
{
    troupe_result *result = tr_alloc( 1, sizeof *result );
    if ( result == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    result->stage = stage;
    result->motion = &result->own;
    result->below = -1;
    return result;
}

// Ends a call that made a result; frees the result on failure.
static troupe_result *result_done( tr_call *c, troupe_result *result, bool ok, troupe_error *error )
{
    ok = ok && tr_library_bodies_build( result, &c->error );
    if ( !ok )
        troupe_result_destroy( result );
    return tr_call_end( c, ok, error ) ? result : NULL;
}

void troupe_result_destroy( troupe_result *result )
{
    if ( result == NULL )
        return;
    tr_library_result_free( result );
    tr_free( result );
}

// --------------------------------------------------------------------------------------------------- solving

troupe_solve_def troupe_default_solve_def( void )
{
    return ( troupe_solve_def ){ .work = troupe_default_work() };
}

static bool solve( tr_call *c, troupe_result *result, const char *below )
{
    tr_stage stage = tr_call_stage( c, result->stage );
    if ( below == NULL )
        return tr_pipeline_run( &result->own, &stage, result->method, &c->error );
    result->below = tr_scene_find_layer( &result->stage->scene, below );
    if ( result->below < 0 )
        return tr_error_set( &c->error, "there is no layer '%s'", below );
    return tr_pipeline_run_below( &result->own, &stage, result->method, result->below, &c->error );
}

troupe_result *troupe_solve( const troupe_stage *stage, const troupe_solve_def *def, troupe_error *error )
{
    assert( stage != NULL );
    troupe_solve_def chosen = def != NULL ? *def : troupe_default_solve_def();
    tr_call c;
    tr_call_begin( &c, &chosen.work );
    troupe_result *result = result_create( stage, &c.error );
    bool ok = result != NULL;
    if ( ok ) {
        result->method = tr_pipeline_method( chosen.method, &stage->scene, &c.error );
        ok = result->method != NULL && solve( &c, result, chosen.below );
    }
    return result_done( &c, result, ok, error );
}

troupe_result *troupe_source( const troupe_stage *stage, troupe_error *error )
{
    assert( stage != NULL );
    tr_call c;
    tr_call_begin( &c, NULL );
    troupe_result *result = result_create( stage, &c.error );
    bool ok = result != NULL && tr_result_from_source( &result->own, &stage->stage, &c.error );
    return result_done( &c, result, ok, error );
}

// ----------------------------------------------------------------------------------------------------- files

bool troupe_result_save( const troupe_result *result, const char *folder, const troupe_work *work,
                         troupe_error *error )
{
    assert( result != NULL && folder != NULL );
    tr_call c;
    tr_call_begin( &c, work );
    bool ok = result->motion == &result->own && result->below < 0;
    if ( ok ) {
        tr_stage stage = tr_call_stage( &c, result->stage );
        const char *method = result->method != NULL ? result->method->name : "none";
        ok = tr_result_save( &stage, &result->own, method, folder, &c.error );
    } else
        tr_error_set( &c.error, "the result of a drag, or below a layer, is not whole; solve the scene" );
    return tr_call_end( &c, ok, error );
}

troupe_result *troupe_result_load( const troupe_stage *stage, const char *folder, troupe_error *error )
{
    assert( stage != NULL && folder != NULL );
    tr_call c;
    tr_call_begin( &c, NULL );
    troupe_result *result = result_create( stage, &c.error );
    bool ok = result != NULL && tr_folder_recover( folder, &c.error ) &&
              tr_result_load( &result->own, &stage->stage, folder, &c.error );
    return result_done( &c, result, ok, error );
}

// ----------------------------------------------------------------------------------------------------- poses

int troupe_result_clip_count( const troupe_result *result )
{
    assert( result != NULL );
    return result->motion->actor_count;
}

troupe_clip troupe_result_clip( const troupe_result *result, int index )
{
    assert( index >= 0 && index < troupe_result_clip_count( result ) );
    const tr_clip *clip = &result->motion->motions[index].clip;
    const tr_world *world = &result->motion->worlds[index];
    const tr_library_body *body = &result->bodies[index];
    return ( troupe_clip ){
        .id = result->stage->scene.cast[index].id,
        .frame_count = clip->frame_count,
        .joint_count = clip->joint_count,
        .fps = clip->fps,
        .positions = (const double *)world->positions,
        .rotations = (const double *)clip->rotations,
        .world_rotations = (const double *)world->rotations,
        .translations = (const double *)clip->translations,
        .parents = body->parents,
        .offsets = body->offsets,
        .names = body->names,
    };
}

int troupe_result_find_clip( const troupe_result *result, const char *id )
{
    assert( result != NULL && id != NULL );
    return tr_scene_find_cast( &result->stage->scene, id );
}

int troupe_result_track_count( const troupe_result *result )
{
    assert( result != NULL );
    return result->motion->prop_count;
}

troupe_track troupe_result_track( const troupe_result *result, int index )
{
    assert( index >= 0 && index < troupe_result_track_count( result ) );
    return ( troupe_track ){
        .id = result->stage->scene.props[index].id,
        .frame_count = result->motion->frame_count,
        .fps = result->stage->stage.fps,
        .transforms = (const double *)result->motion->tracks[index],
    };
}
