// A layer while its handles are dragged: the layer's own pipeline, a block of frames at a time.
#include "scene/layer.h"

#include <assert.h>
#include <string.h>

struct tr_drag {
    tr_stage stage; // as given, but for the scene
    tr_scene scene; // as given, but for the handles, which ticks move
    const tr_result *below;
    const tr_grab *grab;
    tr_result result;
    tr_cage_layer layer;
    bool *affected; // [(actor_count + prop_count) * frame_count] what is being settled
    bool *solved;   // [frame_count] as the last tick has it
    tr_drag_tick tick;
    int first, last; // frames that tick has to settle, none: last < first
};

// -------------------------------------------------------------------------------------------------- begin

static bool copy_result( tr_result *out, const tr_stage *stage, const tr_result *in, tr_error *error )
{
    if ( !tr_result_alloc( out, stage, error ) )
        return false;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        if ( !tr_motion_copy( &out->motions[i], &in->motions[i], error ) ||
             !tr_world_build( &out->worlds[i], &out->motions[i], error ) )
            return false;
        size_t frames = (size_t)stage->frame_count,
               cells = frames * (size_t)stage->actors[i].target.joint_count;
        if ( ( in->steps[i] != NULL && tr_result_steps( out, stage, i ) == NULL ) ||
             ( in->turns[i] != NULL && tr_result_turns( out, i ) == NULL ) )
            return tr_error_memory( error );
        if ( in->steps[i] != NULL )
            memcpy( out->steps[i], in->steps[i], cells * sizeof( tr_step ) );
        if ( in->turns[i] != NULL )
            memcpy( out->turns[i], in->turns[i], frames * sizeof( double ) );
    }
    for ( int p = 0; p < stage->prop_count; ++p )
        memcpy( out->tracks[p], in->tracks[p], (size_t)stage->frame_count * sizeof( rigid ) );
    return true;
}

static const tr_grab *find_grab( const tr_stage *stage, int layer )
{
    for ( int g = 0; g < stage->grab_count; ++g )
        if ( stage->grabs[g].layer == layer )
            return &stage->grabs[g];
    return NULL;
}

static bool build( tr_drag *drag, tr_error *error )
{
    const tr_scene *scene = drag->stage.scene;
    size_t nodes = (size_t)( drag->stage.actor_count + drag->stage.prop_count ),
           frames = (size_t)drag->stage.frame_count;
    drag->scene = *scene;
    drag->scene.handles = tr_alloc( (size_t)scene->handle_count, sizeof( tr_handle ) );
    drag->affected = tr_alloc( nodes * frames, sizeof( bool ) );
    drag->solved = tr_alloc( frames, sizeof( bool ) );
    if ( drag->scene.handles == NULL || drag->affected == NULL || drag->solved == NULL )
        return tr_error_memory( error );
    memcpy( drag->scene.handles, scene->handles, (size_t)scene->handle_count * sizeof( tr_handle ) );
    drag->stage.scene = &drag->scene;
    return copy_result( &drag->result, &drag->stage, drag->below, error );
}

tr_drag *tr_drag_begin( const tr_stage *stage, const tr_result *below, int layer, tr_error *error )
{
    const tr_grab *grab = find_grab( stage, layer );
    if ( grab == NULL ) {
        tr_error_set( error, "there is no cage to drag: the layer is muted, or of another kind" );
        return NULL;
    }
    tr_drag *drag = tr_alloc( 1, sizeof *drag );
    if ( drag == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    drag->stage = *stage;
    drag->below = below;
    drag->grab = grab;
    drag->last = -1;
    if ( build( drag, error ) )
        return drag;
    tr_drag_end( drag );
    return NULL;
}

void tr_drag_end( tr_drag *drag )
{
    if ( drag == NULL )
        return;
    if ( drag->layer.stage != NULL )
        tr_cage_layer_free( &drag->layer );
    tr_result_free( &drag->result );
    tr_free( drag->scene.handles );
    tr_free( drag->affected );
    tr_free( drag->solved );
    tr_free( drag );
}

// --------------------------------------------------------------------------------------------------- tick

static bool is_superseded( const tr_drag *drag )
{
    return drag->tick.latest != NULL && atomic_load( drag->tick.latest ) != drag->tick.number;
}

static void move_handles( tr_drag *drag )
{
    for ( int i = 0; i < drag->tick.move_count; ++i ) {
        const tr_drag_move *move = &drag->tick.moves[i];
        assert( move->handle >= 0 && move->handle < drag->scene.handle_count );
        if ( !v3_finite( move->move ) || !v3_finite( move->turn ) )
            continue;
        drag->scene.handles[move->handle].move = move->move;
        drag->scene.handles[move->handle].turn = move->turn;
    }
}

// Back to the result below.
static bool restore( tr_drag *drag, tr_error *error )
{
    tr_result_free( &drag->result );
    return copy_result( &drag->result, &drag->stage, drag->below, error );
}

static bool move_bodies( tr_drag *drag, tr_error *error )
{
    if ( drag->layer.stage != NULL )
        tr_cage_layer_free( &drag->layer );
    memset( drag->solved, 0, (size_t)drag->stage.frame_count * sizeof( bool ) );
    drag->first = 0, drag->last = -1;
    return restore( drag, error ) &&
           tr_cage_layer_build( &drag->layer, &drag->stage, drag->grab, &drag->result, error ) &&
           ( !drag->layer.built || tr_cage_layer_move( &drag->layer, &drag->first, &drag->last, error ) );
}

static bool solve_block( tr_drag *drag, int block )
{
    int frames = drag->stage.frame_count, nodes = drag->stage.actor_count + drag->stage.prop_count,
        first = block * TR_DRAG_BLOCK, last = first + TR_DRAG_BLOCK - 1;
    tr_error error;
    last = last < frames ? last : frames - 1;
    memset( drag->affected, 0, (size_t)nodes * (size_t)frames * sizeof( bool ) );
    for ( int n = 0; n < nodes; ++n ) {
        size_t at = (size_t)n * (size_t)frames + (size_t)first;
        memcpy( drag->affected + at, drag->layer.affected + at, (size_t)( last - first + 1 ) );
    }
    bool ok = last < drag->first || first > drag->last ||
              tr_cluster_settle( &drag->layer.edited, &drag->result, drag->affected, first, last, &error );
    for ( int f = first; f <= last; ++f )
        drag->solved[f] = ok;
    return ok;
}

bool tr_drag_visible( tr_drag *drag, const tr_drag_tick *tick )
{
    tr_error error;
    assert( tick->frame >= 0 && tick->frame < drag->stage.frame_count );
    drag->tick = *tick;
    move_handles( drag );
    return !is_superseded( drag ) && move_bodies( drag, &error ) && !is_superseded( drag ) &&
           solve_block( drag, tick->frame / TR_DRAG_BLOCK );
}

// The unsolved block nearest to the frame that is looked at, -1: none.
static int next_block( const tr_drag *drag )
{
    int count = ( drag->stage.frame_count - 1 ) / TR_DRAG_BLOCK + 1,
        visible = drag->tick.frame / TR_DRAG_BLOCK;
    for ( int away = 0; away < count; ++away )
        for ( int side = 1; side >= -1; side -= 2 ) {
            int block = visible + side * away;
            if ( block >= 0 && block < count && !drag->solved[block * TR_DRAG_BLOCK] )
                return block;
        }
    return -1;
}

bool tr_drag_more( tr_drag *drag, int blocks )
{
    for ( int i = 0; i < blocks; ++i ) {
        int block = is_superseded( drag ) ? -1 : next_block( drag );
        if ( block < 0 || !solve_block( drag, block ) )
            return false;
    }
    return next_block( drag ) >= 0;
}

const tr_result *tr_drag_result( const tr_drag *drag )
{
    return &drag->result;
}

bool tr_drag_is_solved( const tr_drag *drag, int frame )
{
    return drag->solved[frame];
}

double tr_drag_error( const tr_drag *drag, int handle )
{
    for ( int h = 0; h < drag->layer.handle_count; ++h )
        if ( drag->layer.handle_index[h] == handle )
            return drag->layer.handle_errors[h];
    return 0;
}
