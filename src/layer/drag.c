// A layer while its handles are dragged: what a drag begins with, and which frames come next.
#include "layer/drag.h"

#include <assert.h>
#include <string.h>

tr_drag_def tr_default_drag_def( void )
{
    return ( tr_drag_def ){ .cage_rounds = 30,
                            .cage_rest = 5e-4,
                            .far_rounds = 6,
                            .far_rest = 1e-3,
                            .far_meetings = 3,
                            .far_fit = tr_preview_fit_def(),
                            .near_rounds = 60,
                            .near_rest = 6e-4,
                            .root_rounds = 2,
                            .few = 4,
                            .far_blocks = { 16, 4 },
                            .exact_blocks = { 4, 1 },
                            .mixed_span = 2.0 / 3 };
}

// -------------------------------------------------------------------------------------------------- begin

static const tr_grab *find_grab( const tr_stage *stage, int layer )
{
    for ( int g = 0; g < stage->grab_count; ++g )
        if ( stage->grabs[g].layer == layer )
            return &stage->grabs[g];
    return NULL;
}

// The fit averages roots over the span to either side: it does not see what they do within a third of that.
// Blocks begin with keys, so strides are powers of two.
static int graph_stride( const tr_drag *drag )
{
    int most = (int)( drag->def.mixed_span * tr_steady_span( &drag->stage ) ), stride = 1;
    while ( 2 * stride <= most && 2 * stride <= TR_DRAG_BLOCK )
        stride *= 2;
    return stride;
}

static int grabbed_count( const tr_drag *drag )
{
    int count = 0;
    for ( int i = 0; i < drag->stage.actor_count; ++i )
        count += drag->grab->joints[i] != NULL;
    return count;
}

static bool is_grabbed( const tr_drag *drag, int node )
{
    int prop = node - drag->stage.actor_count;
    return prop < 0 ? drag->grab->joints[node] != NULL : drag->grab->props[prop];
}

// Whether rules join a grabbed member to another one in the layer's window.
static bool is_joined( const tr_drag *drag )
{
    bool joined = false;
    for ( int r = 0; !joined && r < drag->stage.rule_count; ++r ) {
        const tr_rule *rule = &drag->stage.rules[r];
        int nodes[2];
        tr_layer_link_nodes( &drag->stage, rule, nodes );
        joined = nodes[0] >= 0 && nodes[1] >= 0 && nodes[0] != nodes[1] && rule->first <= drag->grab->last &&
                 rule->last >= drag->grab->first &&
                 ( is_grabbed( drag, nodes[0] ) || is_grabbed( drag, nodes[1] ) );
    }
    return joined;
}

// Interpolation between keys is good enough for a body without links. Hands that reach for a partner, take
// hold and let go change from frame to frame: where few members are dragged and links join them, every frame
// is a key.
static int key_stride( const tr_drag *drag )
{
    int stride = 2 * graph_stride( drag );
    if ( drag->few && is_joined( drag ) )
        return 1;
    return stride <= TR_DRAG_BLOCK ? stride : TR_DRAG_BLOCK;
}

static void plan( tr_drag *drag )
{
    bool few = drag->few = grabbed_count( drag ) <= drag->def.few;
    int stride = graph_stride( drag );
    const tr_resolving *exact = &drag->layer_def.resolving;
    tr_resolving preview = *exact;
    preview.warm = preview.warm_fits = true;
    preview.stride = stride;
    drag->how[TR_DRAG_NEAR] = drag->how[TR_DRAG_FAR] = preview;
    drag->how[TR_DRAG_NEAR].graph.max_iterations = drag->def.near_rounds;
    drag->how[TR_DRAG_NEAR].graph.tolerance = drag->def.near_rest;
    drag->how[TR_DRAG_FAR].graph.max_iterations = drag->def.far_rounds;
    drag->how[TR_DRAG_FAR].graph.tolerance = drag->def.far_rest;
    drag->how[TR_DRAG_FAR].fit = drag->def.far_fit;
    drag->how[TR_DRAG_FAR].rounds = drag->def.far_meetings;
    drag->how[TR_DRAG_FAR].stride = key_stride( drag );
    drag->how[TR_DRAG_EXACT] = drag->how[TR_DRAG_SEEN] = *exact;
    drag->how[TR_DRAG_SEEN].warm_fits = true;
    drag->quick = drag->layer_def.solve;
    drag->quick.max_iterations = drag->def.cage_rounds;
    drag->quick.tolerance = drag->def.cage_rest;
    drag->quick.warm = true;
    drag->blocks[TR_DRAG_NEAR] = drag->blocks[TR_DRAG_SEEN] = 1;
    drag->blocks[TR_DRAG_FAR] = drag->def.far_blocks[few ? 0 : 1];
    drag->blocks[TR_DRAG_EXACT] = drag->def.exact_blocks[few ? 0 : 1];
}

// All nodes that rules join to the node anywhere in the range, directly or not. Appends them to `set` and
// takes them out of `left`.
static void gather_set( const tr_drag *drag, bool *left, int *nodes, tr_drag_set *set )
{
    const tr_cage_layer *l = &drag->layer;
    for ( int n = 0; n < set->count; ++n )
        for ( int i = 0; i < l->link_count; ++i ) {
            const tr_rule *rule = &drag->stage.rules[l->links[i]];
            int ends[2];
            tr_layer_link_nodes( &drag->stage, rule, ends );
            int other = ends[0] == nodes[n] ? ends[1] : ends[1] == nodes[n] ? ends[0] : -1;
            bool acts = false;
            for ( int f = drag->range.first; other >= 0 && left[other] && !acts && f <= drag->range.last;
                  ++f )
                acts = tr_rule_strength( rule, f ) > 0;
            if ( !acts )
                continue;
            left[other] = false;
            nodes[set->count++] = other;
        }
}

static bool find_sets( tr_drag *drag )
{
    int count = drag->stage.actor_count + drag->stage.prop_count, used = 0;
    bool *left = tr_alloc( (size_t)count, sizeof( bool ) );
    drag->nodes = tr_alloc( (size_t)count, sizeof( int ) );
    drag->sets = tr_alloc( (size_t)count, sizeof( tr_drag_set ) );
    bool ok = left != NULL && drag->nodes != NULL && drag->sets != NULL;
    for ( int n = 0; ok && n < count; ++n )
        left[n] = true;
    for ( int n = 0; ok && n < count; ++n ) {
        if ( !left[n] || !drag->layer.linked[n] )
            continue;
        int *nodes = drag->nodes + used;
        tr_drag_set *set = &drag->sets[drag->set_count++];
        *set = ( tr_drag_set ){ .nodes = nodes, .count = 1 };
        nodes[0] = n;
        left[n] = false;
        gather_set( drag, left, nodes, set );
        used += set->count;
    }
    tr_free( left );
    return ok;
}

static int largest_stride( const tr_drag *drag )
{
    int near = drag->how[TR_DRAG_NEAR].stride, far = drag->how[TR_DRAG_FAR].stride;
    return near > far ? near : far;
}

static bool is_wanted( void *context, int done, int total )
{
    const tr_drag *drag = context;
    return !tr_drag_is_superseded( drag ) &&
           ( drag->progress == NULL || drag->progress->report( drag->progress->context, done, total ) );
}

static bool build_resolver( tr_drag *drag, tr_error *error )
{
    int nodes = drag->stage.actor_count + drag->stage.prop_count;
    int *set_of = tr_alloc( (size_t)nodes, sizeof( int ) );
    if ( set_of == NULL )
        return tr_error_memory( error );
    for ( int n = 0; n < nodes; ++n )
        set_of[n] = -1;
    for ( int s = 0; s < drag->set_count; ++s )
        for ( int n = 0; n < drag->sets[s].count; ++n )
            set_of[drag->sets[s].nodes[n]] = s;
    tr_resolve_def def = { .stage = &drag->layer.edited,
                           .result = drag->layer.result,
                           .set_of = set_of,
                           .set_count = drag->set_count,
                           .affected = drag->layer.affected,
                           .first = drag->range.first,
                           .last = drag->range.last,
                           .reach = largest_stride( drag ),
                           .kept = drag->how[TR_DRAG_NEAR].stride,
                           .progress = &drag->wanted };
    drag->resolver = tr_resolver_create( &def, error );
    tr_free( set_of );
    return drag->resolver != NULL;
}

static int node_count( const tr_drag *drag )
{
    return drag->stage.actor_count + drag->stage.prop_count;
}

// Whether a rule keeps a character that may move in balance: its target depends on the feet in the frames
// around.
static bool balances( const tr_drag *drag )
{
    bool any = false;
    for ( int r = 0; !any && r < drag->stage.rule_count; ++r ) {
        const tr_rule *rule = &drag->stage.rules[r];
        any = rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && !rule->given && drag->layer.linked[rule->a.actor];
    }
    return any;
}

static bool build( tr_drag *drag, const tr_stage *stage, int handle, tr_error *error )
{
    const tr_scene *scene = stage->scene;
    drag->scene = *scene;
    drag->scene.handles = tr_alloc( (size_t)scene->handle_count, sizeof( tr_handle ) );
    if ( drag->scene.handles == NULL )
        return tr_error_memory( error );
    if ( scene->handle_count > 0 )
        memcpy( drag->scene.handles, scene->handles, (size_t)scene->handle_count * sizeof( tr_handle ) );
    drag->stage.scene = &drag->scene;
    plan( drag );
    tr_cage_layer_def def = { .how = &drag->layer_def,
                              .stage = &drag->stage,
                              .grab = drag->grab,
                              .below = drag->below,
                              .result = &drag->work,
                              .chunk = tr_drag_chunk( drag ),
                              .late = true,
                              .dragged = handle };
    if ( !tr_result_copy( &drag->work, &drag->stage, drag->below, error ) ||
         !tr_cage_layer_build( &drag->layer, &def, error ) ||
         !tr_result_copy( &drag->shown, &drag->stage, &drag->work, error ) )
        return false;
    drag->shows = tr_alloc( (size_t)( node_count( drag ) * drag->stage.frame_count ), sizeof( bool ) );
    if ( drag->shows == NULL )
        return tr_error_memory( error );
    if ( !tr_drag_above_build( drag, stage, error ) )
        return false;
    drag->range = drag->solved = drag->refined = ( tr_row ){ 0, -1 };
    if ( !drag->layer.built )
        return true;
    tr_cage_layer_range( &drag->layer, &drag->range.first, &drag->range.last );
    drag->balances = balances( drag );
    return tr_cage_outline_build( &drag->shape, &drag->layer, error ) &&
           ( find_sets( drag ) || tr_error_memory( error ) ) && build_resolver( drag, error );
}

tr_drag *tr_drag_begin( const tr_stage *stage, const tr_result *below, int layer, int handle,
                        tr_error *error )
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
    drag->def = tr_default_drag_def();
    drag->layer_def = tr_default_layer_def();
    drag->stage = *stage;
    drag->below = below;
    drag->grab = grab;
    drag->wanted = ( tr_progress ){ is_wanted, drag };
    if ( build( drag, stage, handle, error ) )
        return drag;
    tr_drag_end( drag );
    return NULL;
}

void tr_drag_end( tr_drag *drag )
{
    if ( drag == NULL )
        return;
    tr_resolver_destroy( drag->resolver );
    if ( drag->layer.stage != NULL )
        tr_cage_layer_free( &drag->layer );
    tr_cage_outline_free( &drag->shape );
    tr_result_free( &drag->work );
    tr_result_free( &drag->shown );
    tr_drag_above_free( drag );
    tr_free( drag->sets );
    tr_free( drag->shows );
    tr_free( drag->nodes );
    tr_free( drag->scene.handles );
    tr_free( drag );
}

// ------------------------------------------------------------------------------------------------------ tick

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

// The block a frame lies in.
static tr_row block_of( const tr_drag *drag, int frame )
{
    int first = frame / TR_DRAG_BLOCK * TR_DRAG_BLOCK;
    return tr_row_cut( ( tr_row ){ first, first + TR_DRAG_BLOCK - 1 }, drag->range );
}

static int visible_frame( const tr_drag *drag )
{
    int frame = drag->tick.frame > drag->range.last ? drag->range.last : drag->tick.frame;
    return frame < drag->range.first ? drag->range.first : frame;
}

void tr_drag_start( tr_drag *drag, const tr_cage_solve_def *cage, bool preview )
{
    drag->prepared = ( tr_row ){ 0, -1 };
    tr_cage_layer_solve( &drag->layer, cage,
                         !preview || drag->layer.body_count <= drag->layer.def.heeded_bodies );
    tr_cage_outline_read( &drag->shape, &drag->layer.cage );
}

static bool yields( tr_cage_layer *l )
{
    return tr_layer_handles_yield( l ) || tr_layer_handles_soften_again( l );
}

// How far handles can be followed shows in their own frames: these are solved alone, as the pipeline does, so
// that it comes to the same; then the block.
static bool solve_strained( tr_drag *drag, tr_row held, tr_row block )
{
    bool strained = true;
    while ( strained ) {
        tr_drag_start( drag, &drag->layer_def.solve, true );
        if ( !tr_drag_try( drag, TR_DRAG_EXACT, held ) )
            return false;
        strained = yields( &drag->layer );
        drag->strained = drag->strained || strained;
    }
    drag->prepared = ( tr_row ){ 0, -1 };
    return tr_drag_solve( drag, TR_DRAG_EXACT, block );
}

// Solves the block being looked at: of a few so well that it stays when it is let go, of many at preview
// quality; and again for handles that could not be followed there: on release only so much of their ways is
// left, and a drag shows that. Handles of other moments, whole sections of many, and jolts that cannot be
// calmed, are known once all frames are.
static bool solve_visible( tr_drag *drag, tr_row block )
{
    tr_row held = block;
    bool asks = tr_layer_handles_within( &drag->layer, drag->few, &held.first, &held.last ),
         again = asks && drag->strained;
    drag->strained = false;
    if ( again )
        return solve_strained( drag, held, block );
    tr_drag_start( drag, &drag->quick, true );
    if ( !tr_drag_solve( drag, drag->few ? TR_DRAG_SEEN : TR_DRAG_NEAR, block ) )
        return false;
    drag->strained = asks && yields( &drag->layer );
    if ( drag->strained )
        tr_layer_handles_ask( &drag->layer ); // from the beginning
    return !drag->strained || solve_strained( drag, held, block );
}

bool tr_drag_visible( tr_drag *drag, const tr_drag_tick *tick )
{
    drag->tick = *tick;
    move_handles( drag );
    drag->solved = drag->refined = ( tr_row ){ 0, -1 };
    drag->refining = drag->yielding = drag->calming = drag->interrupted = drag->final = false;
    if ( tr_drag_is_superseded( drag ) )
        return false;
    if ( tr_row_is_empty( drag->range ) )
        return true;
    tr_row block = block_of( drag, visible_frame( drag ) );
    tr_layer_handles_ask( &drag->layer );
    if ( !solve_visible( drag, block ) )
        return false;
    drag->solved = block;
    return true;
}

static bool is_left( const tr_drag *drag, tr_row done )
{
    return done.first > drag->range.first || done.last < drag->range.last;
}

// The side on which the nearest frame is not done yet, grown by some blocks and, after the frame, the first
// of the next: rows end with keys.
static tr_row next_frames( const tr_drag *drag, tr_row done, int blocks )
{
    int frame = visible_frame( drag );
    bool before = done.first > drag->range.first, after = done.last < drag->range.last;
    if ( after && ( !before || done.last - frame <= frame - done.first ) ) {
        int last =
            block_of( drag, done.last + 1 ).first / TR_DRAG_BLOCK * TR_DRAG_BLOCK + blocks * TR_DRAG_BLOCK;
        return tr_row_cut( ( tr_row ){ done.last + 1, last }, drag->range );
    }
    int first = ( done.first - 1 ) / TR_DRAG_BLOCK * TR_DRAG_BLOCK - ( blocks - 1 ) * TR_DRAG_BLOCK;
    return tr_row_cut( ( tr_row ){ first, done.first - 1 }, drag->range );
}

// Solves at most so many blocks more. True as long as frames are left.
static bool go_on( tr_drag *drag, tr_drag_pass pass, int blocks, tr_row *done )
{
    while ( blocks > 0 && is_left( drag, *done ) ) {
        int most = drag->blocks[pass] < blocks ? drag->blocks[pass] : blocks;
        tr_row frames = next_frames( drag, *done, most );
        if ( tr_drag_is_superseded( drag ) || !tr_drag_solve( drag, pass, frames ) )
            return false;
        *done = tr_row_join( *done, frames );
        blocks -= most;
    }
    return is_left( drag, *done );
}

bool tr_drag_more( tr_drag *drag, int blocks )
{
    assert( blocks > 0 );
    return !tr_row_is_empty( drag->solved ) && go_on( drag, TR_DRAG_FAR, blocks, &drag->solved );
}

static bool refine_visible( tr_drag *drag )
{
    tr_row block = block_of( drag, visible_frame( drag ) );
    if ( !drag->refining )
        tr_layer_handles_begin( &drag->layer );
    drag->refining = true;
    drag->yielding = false;
    tr_drag_start( drag, &drag->layer_def.solve, false );
    drag->interrupted =
        ( drag->balances && !tr_drag_pose( drag ) ) || !tr_drag_solve( drag, TR_DRAG_EXACT, block );
    if ( drag->interrupted )
        return false;
    drag->refined = block;
    return true;
}

// The next frames. False: all are refined, or the tick was superseded.
static bool refine_more( tr_drag *drag, int blocks )
{
    if ( !drag->refining || drag->yielding )
        return refine_visible( drag );
    return !tr_row_is_empty( drag->refined ) && is_left( drag, drag->refined ) &&
           ( go_on( drag, TR_DRAG_EXACT, blocks, &drag->refined ) || !is_left( drag, drag->refined ) );
}

// A round of calming what jolts; then handles may yield for what is left of that. False when it is over, or
// was superseded.
static bool calm( tr_drag *drag )
{
    tr_row row;
    if ( tr_row_is_empty( drag->refined ) )
        return false;
    if ( tr_layer_calm( &drag->layer, &row.first, &row.last ) ) {
        drag->interrupted = !tr_drag_resolve( drag, row );
        if ( drag->interrupted )
            drag->refined = ( tr_row ){ 0, -1 };
        return !drag->interrupted;
    }
    tr_drag_show( drag, drag->range ); // as far as it was solved
    drag->calming = false;
    drag->yielding = tr_layer_handles_soften( &drag->layer );
    drag->final = !drag->yielding;
    return drag->yielding;
}

// Once all frames are refined, handles that no body can follow yield, and all frames are refined again; then
// jolts are calmed, as in the pipeline.
bool tr_drag_refine( tr_drag *drag, int blocks )
{
    assert( blocks > 0 );
    if ( tr_row_is_empty( drag->solved ) || is_left( drag, drag->solved ) || tr_drag_is_superseded( drag ) )
        return false;
    if ( drag->calming )
        return calm( drag );
    if ( !refine_more( drag, blocks ) )
        return false;
    if ( is_left( drag, drag->refined ) )
        return true;
    drag->yielding = tr_layer_handles_yield( &drag->layer );
    drag->calming = !drag->yielding;
    return true;
}

const tr_result *tr_drag_result( const tr_drag *drag )
{
    return &drag->shown;
}

static bool is_done( const tr_drag *drag, tr_row done, int frame )
{
    bool in_range = frame >= drag->range.first && frame <= drag->range.last;
    return !in_range || ( frame >= done.first && frame <= done.last );
}

bool tr_drag_is_solved( const tr_drag *drag, int frame )
{
    return is_done( drag, drag->solved, frame );
}

bool tr_drag_is_refined( const tr_drag *drag, int frame )
{
    return is_done( drag, drag->refined, frame );
}

const tr_cage_outline *tr_drag_cage( const tr_drag *drag )
{
    return drag->layer.built ? &drag->shape : NULL;
}

double tr_drag_error( const tr_drag *drag, int handle )
{
    for ( int h = 0; h < drag->layer.handle_count; ++h )
        if ( drag->layer.handle_index[h] == handle )
            return 1e-3 * tr_handle_judge( &drag->layer, &drag->work, h ).error_mm;
    return 0;
}
