// Drags of a layer's handle.
#include "library.h"

#include <assert.h>

// The handle's layer has to be the one for which `below` was solved.
static bool check( const troupe_result *below, const char *handle, tr_error *error )
{
    const tr_scene *scene = &below->stage->scene;
    int index = tr_scene_find_handle( scene, handle );
    if ( index < 0 )
        return tr_error_set( error, "there is no handle '%s'", handle );
    const char *layer = scene->handles[index].layer;
    if ( below->below < 0 || below->below != tr_scene_find_layer( scene, layer ) )
        return tr_error_set( error, "handle '%s' is of layer '%s'; solve with below = \"%s\" first", handle,
                             layer, layer );
    return true;
}

static bool begin( troupe_drag *drag, const troupe_result *below, const char *handle, tr_error *error )
{
    if ( !check( below, handle, error ) )
        return false;
    const troupe_stage *stage = below->stage;
    drag->layer = below->below;
    drag->drag = tr_drag_begin( &stage->stage, &below->own, drag->layer,
                                tr_scene_find_handle( &stage->scene, handle ), error );
    if ( drag->drag == NULL )
        return false;
    drag->shown = ( troupe_result ){
        .stage = stage, .motion = tr_drag_result( drag->drag ), .method = below->method, .below = -1 };
    return tr_library_bodies_build( &drag->shown, error );
}

troupe_drag *troupe_drag_begin( const troupe_result *below, const char *handle, const troupe_work *work,
                                troupe_error *error )
{
    assert( below != NULL && handle != NULL );
    tr_call c;
    tr_call_begin( &c, work );
    troupe_drag *drag = tr_alloc( 1, sizeof *drag );
    bool ok = drag != NULL || tr_error_memory( &c.error );
    if ( ok ) {
        drag->threads = c.def.threads;
        ok = begin( drag, below, handle, &c.error );
    }
    if ( !ok )
        troupe_drag_end( drag );
    return tr_call_end( &c, ok, error ) ? drag : NULL;
}

void troupe_drag_end( troupe_drag *drag )
{
    if ( drag == NULL )
        return;
    tr_library_result_free( &drag->shown );
    tr_drag_end( drag->drag );
    tr_free( drag );
}

// A pinned handle of the dragged layer, -1 for none.
static int own_handle( const troupe_drag *drag, const char *id )
{
    const tr_scene *scene = &drag->shown.stage->scene;
    int index = tr_scene_find_handle( scene, id );
    bool own = index >= 0 && scene->handles[index].pinned &&
               tr_scene_find_layer( scene, scene->handles[index].layer ) == drag->layer;
    return own ? index : -1;
}

bool troupe_drag_move( troupe_drag *drag, const char *handle, const double move[3], int frame )
{
    assert( drag != NULL && handle != NULL && move != NULL );
    assert( frame >= 0 && frame < drag->shown.motion->frame_count );
    int index = own_handle( drag, handle );
    if ( index < 0 )
        return false;
    tr_drag_move held = { .handle = index, .move = v3( move[0], move[1], move[2] ) };
    held.turn = drag->shown.stage->scene.handles[index].turn;
    int threads = tr_parallel_set_own_threads( drag->threads );
    tr_drag_visible( drag->drag, &( tr_drag_tick ){ .moves = &held, .move_count = 1, .frame = frame } );
    tr_parallel_set_own_threads( threads );
    return true;
}

static bool go_on( troupe_drag *drag, int blocks, bool ( *step )( tr_drag *drag, int blocks ) )
{
    assert( drag != NULL && blocks > 0 );
    int threads = tr_parallel_set_own_threads( drag->threads );
    bool more = step( drag->drag, blocks );
    tr_parallel_set_own_threads( threads );
    return more;
}

bool troupe_drag_more( troupe_drag *drag, int blocks )
{
    return go_on( drag, blocks, tr_drag_more );
}

bool troupe_drag_refine( troupe_drag *drag, int blocks )
{
    return go_on( drag, blocks, tr_drag_refine );
}

double troupe_drag_error( const troupe_drag *drag, const char *handle )
{
    assert( drag != NULL && handle != NULL );
    int index = own_handle( drag, handle );
    return index >= 0 ? tr_drag_error( drag->drag, index ) : 0;
}

const troupe_result *troupe_drag_result( const troupe_drag *drag )
{
    assert( drag != NULL );
    return &drag->shown;
}
