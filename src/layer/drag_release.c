// The end of a drag: what the pipeline would make of the same document, taken from the drag. Frames that are
// refined are copied. The others are refined here, on the drag's own cage, graphs and resolver.
#include "layer/drag.h"

#include <assert.h>
#include <string.h>

static bool is_affected( const tr_drag *drag, int node )
{
    size_t frames = (size_t)drag->stage.frame_count;
    return memchr( drag->layer.affected + (size_t)node * frames, 1, frames ) != NULL;
}

// How the graphs of a set are solved: the fit reads all joints, or there is a prop, or roots will do.
static int kind_of( const tr_drag *drag, int set )
{
    bool prop = false;
    for ( int n = 0; n < drag->sets[set].count; ++n )
        prop = prop || drag->sets[set].nodes[n] >= drag->stage.actor_count;
    return tr_resolver_needs_joints( drag->resolver, set ) ? 2 : prop ? 1 : 0;
}

// The pipeline resolves all members that are affected as one set. That gives the same bits if all members of
// the drag's sets are affected, and all sets are of one kind.
static bool is_resolved_alike( const tr_drag *drag )
{
    int kind = -1;
    for ( int s = 0; s < drag->set_count; ++s ) {
        const tr_drag_set *set = &drag->sets[s];
        int affected = 0;
        for ( int n = 0; n < set->count; ++n )
            affected += is_affected( drag, set->nodes[n] );
        if ( affected == 0 )
            continue;
        if ( affected < set->count || ( kind >= 0 && kind != kind_of( drag, s ) ) )
            return false;
        kind = kind_of( drag, s );
    }
    return true;
}

static bool matches( const tr_drag *drag, const tr_scene *scene )
{
    return drag->layer.built && !tr_row_is_empty( drag->range ) && tr_scene_equal( &drag->scene, scene ) &&
           tr_grab_asks( &drag->stage, drag->grab ) && tr_cage_layer_is_as_built( &drag->layer );
}

// Poses all frames: that fills `affected`.
static bool pose_all( tr_drag *drag )
{
    tr_layer_handles_begin( &drag->layer );
    drag->refining = drag->yielding = drag->calming = false;
    tr_drag_start( drag, &drag->layer_def.solve, false );
    return tr_drag_pose( drag );
}

bool tr_drag_finish( tr_drag *drag, const tr_scene *scene, const tr_progress *progress )
{
    if ( !matches( drag, scene ) )
        return false;
    drag->tick.latest = NULL;
    drag->progress = progress;
    bool begins = !drag->final && ( !drag->refining || drag->interrupted ),
         ok = !begins || ( pose_all( drag ) && is_resolved_alike( drag ) );
    drag->solved = drag->range; // previews are not needed any more
    while ( ok && !drag->final && tr_drag_refine( drag, drag->stage.frame_count ) )
        ;
    drag->progress = NULL;
    return ok && drag->final && is_resolved_alike( drag );
}

// Reports and cages of the layers below.
static bool copy_edits( const tr_result *below, tr_result *out, tr_error *error )
{
    assert( below->handle_count <= out->handle_count );
    for ( int i = 0; i < below->handle_count; ++i )
        out->handles[i] = below->handles[i];
    out->leak_mm = below->leak_mm;
    if ( !tr_array_reserve( (void **)&out->cages, &out->cage_capacity, below->cage_count + 1,
                            sizeof *out->cages ) )
        return tr_error_memory( error );
    for ( int i = 0; i < below->cage_count; ++i )
        if ( !tr_cage_outline_copy( &out->cages[out->cage_count++], &below->cages[i], error ) )
            return false;
    return true;
}

bool tr_drag_take( tr_drag *drag, const tr_stage *stage, tr_result *out, tr_error *error )
{
    assert( drag->final );
    tr_cage_layer *l = &drag->layer;
    if ( !tr_result_copy( out, stage, &drag->work, error ) )
        return false;
    bool ok = copy_edits( drag->below, out, error );
    if ( ok ) {
        l->result = out;
        tr_layer_report( l );
        ok = tr_layer_keep_cage( out, l, error );
        l->result = &drag->work;
    }
    if ( !ok )
        tr_result_free( out );
    return ok;
}

bool tr_drag_holds( const tr_drag *drag, int handle, vec3 move, vec3 turn )
{
    const tr_handle *now = &drag->scene.handles[handle];
    return v3_distance( now->move, move ) == 0 && v3_distance( now->turn, turn ) == 0;
}

int tr_drag_layer( const tr_drag *drag )
{
    return drag->grab->layer;
}

const tr_result *tr_drag_below( const tr_drag *drag )
{
    return drag->below;
}

long tr_drag_steps( const tr_drag *drag )
{
    return drag->work.fit_steps;
}
