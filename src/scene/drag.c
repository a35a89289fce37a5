// A layer while its handles are dragged: the layer's own pipeline, at preview quality, on a growing row of
// frames around the one that is looked at.
//
//   cage ─► posed  ─► graphs  ─► fit ─► shown
//           └ of the row and as many frames beside it as the fit looks at ┘
//
// Everything is laid out when the drag begins; those whom rules join are solved together, the others side by
// side. `shown` gets frames that are done only.
#include "scene/layer.h"

#include <assert.h>
#include <string.h>

#define CHUNK          4 // blocks that are solved at the same time, at most
#define CAGE_ROUNDS    30
#define CAGE_REST      1e-4 // metres
#define GRAPH_ROUNDS   6
#define GRAPH_REST     1e-3 // metres
#define MEETING_ROUNDS 3

typedef struct row { // frames first … last; none: last < first
    int first, last;
} row;

struct tr_drag {
    tr_stage stage; // as given, but for the scene
    tr_scene scene; // as given, but for the handles, which ticks move
    const tr_result *below;
    const tr_grab *grab;
    tr_result work, shown;
    tr_cage_layer layer;
    tr_cage_outline shape;
    tr_settler **settlers; // [settler_count] one for each set of linked characters and props
    int settler_count;
    row range;            // what a tick may change
    row prepared, solved; // how far the last one came: graphs, all
    tr_drag_tick tick;
};

// -------------------------------------------------------------------------------------------------- begin

static const tr_grab *find_grab( const tr_stage *stage, int layer )
{
    for ( int g = 0; g < stage->grab_count; ++g )
        if ( stage->grabs[g].layer == layer )
            return &stage->grabs[g];
    return NULL;
}

// The fit averages roots over the span: it does not see what they do within a third of it.
static int graph_stride( const tr_drag *drag )
{
    int stride = 2 * tr_steady_span( &drag->stage ) / 3;
    return stride > 1 ? stride : 1;
}

// Frames beside those to be fitted that need graphs.
static int margin( const tr_drag *drag )
{
    return tr_steady_span( &drag->stage ) + graph_stride( drag ) - 1;
}

static int chunk_frames( const tr_drag *drag )
{
    return CHUNK * TR_DRAG_BLOCK + 2 * margin( drag );
}

static tr_settle_def settle_def( tr_drag *drag, const bool *nodes )
{
    tr_settle_def def = { .stage = &drag->layer.edited,
                          .result = &drag->work,
                          .nodes = nodes,
                          .affected = drag->layer.affected,
                          .first = drag->range.first,
                          .last = drag->range.last,
                          .graph = tr_default_cluster_def(),
                          .warm = true,
                          .stride = graph_stride( drag ),
                          .fit = tr_preview_fit_def(),
                          .rounds = MEETING_ROUNDS };
    def.graph.max_iterations = GRAPH_ROUNDS;
    def.graph.tolerance = GRAPH_REST;
    return def;
}

// Everybody whom rules join to the node anywhere in the range, out of those who are left. `set` is what a
// frame adds.
static void find_partners( const tr_drag *drag, int node, bool *nodes )
{
    memset( nodes, 0, (size_t)( drag->stage.actor_count + drag->stage.prop_count ) * sizeof( bool ) );
    nodes[node] = true;
    for ( bool grown = true; grown; ) {
        grown = false;
        for ( int r = 0; r < drag->stage.rule_count; ++r ) {
            const tr_rule *rule = &drag->stage.rules[r];
            int a = tr_anchor_node( &drag->stage, &rule->a ), b = tr_anchor_node( &drag->stage, &rule->b );
            b = rule->surface_prop >= 0 ? drag->stage.actor_count + rule->surface_prop : b;
            bool acts = false;
            for ( int f = drag->range.first;
                  a >= 0 && b >= 0 && nodes[a] != nodes[b] && !acts && f <= drag->range.last; ++f )
                acts = tr_rule_strength( rule, f ) > 0;
            if ( acts )
                nodes[a] = nodes[b] = grown = true;
        }
    }
}

static bool build_settlers( tr_drag *drag, tr_error *error )
{
    int count = drag->stage.actor_count + drag->stage.prop_count;
    bool *left = tr_alloc( (size_t)count, sizeof( bool ) ),
         *nodes = tr_alloc( (size_t)count, sizeof( bool ) );
    drag->settlers = tr_alloc( (size_t)count, sizeof( tr_settler * ) );
    bool ok = ( left != NULL && nodes != NULL && drag->settlers != NULL ) || tr_error_memory( error );
    if ( ok )
        memcpy( left, drag->layer.linked, (size_t)count * sizeof( bool ) );
    for ( int n = 0; ok && n < count; ++n ) {
        if ( !left[n] )
            continue;
        find_partners( drag, n, nodes );
        for ( int i = 0; i < count; ++i )
            left[i] = left[i] && !nodes[i];
        tr_settle_def def = settle_def( drag, nodes );
        drag->settlers[drag->settler_count] = tr_settler_create( &def, error );
        ok = drag->settlers[drag->settler_count] != NULL;
        drag->settler_count += ok;
    }
    tr_free( left );
    tr_free( nodes );
    return ok;
}

static bool build( tr_drag *drag, tr_error *error )
{
    const tr_scene *scene = drag->stage.scene;
    drag->scene = *scene;
    drag->scene.handles = tr_alloc( (size_t)scene->handle_count, sizeof( tr_handle ) );
    if ( drag->scene.handles == NULL )
        return tr_error_memory( error );
    if ( scene->handle_count > 0 )
        memcpy( drag->scene.handles, scene->handles, (size_t)scene->handle_count * sizeof( tr_handle ) );
    drag->stage.scene = &drag->scene;
    if ( !tr_result_copy( &drag->work, &drag->stage, drag->below, error ) ||
         !tr_cage_layer_build( &drag->layer, &drag->stage, drag->grab, drag->below, &drag->work,
                               chunk_frames( drag ), error ) ||
         !tr_result_copy( &drag->shown, &drag->stage, &drag->work, error ) )
        return false;
    drag->range = drag->solved = ( row ){ 0, -1 };
    if ( !drag->layer.built )
        return true;
    tr_cage_layer_range( &drag->layer, &drag->range.first, &drag->range.last );
    return tr_cage_outline_build( &drag->shape, &drag->layer, error ) && build_settlers( drag, error );
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
    if ( build( drag, error ) )
        return drag;
    tr_drag_end( drag );
    return NULL;
}

void tr_drag_end( tr_drag *drag )
{
    if ( drag == NULL )
        return;
    for ( int i = 0; i < drag->settler_count; ++i )
        tr_settler_destroy( drag->settlers[i] );
    if ( drag->layer.stage != NULL )
        tr_cage_layer_free( &drag->layer );
    tr_cage_outline_free( &drag->shape );
    tr_result_free( &drag->work );
    tr_result_free( &drag->shown );
    tr_free( drag->settlers );
    tr_free( drag->scene.handles );
    tr_free( drag );
}

// ---------------------------------------------------------------------------------------------------- frames

static bool is_superseded( const tr_drag *drag )
{
    return drag->tick.latest != NULL && atomic_load( drag->tick.latest ) != drag->tick.number;
}

static row cut( row r, row to )
{
    return ( row ){ r.first > to.first ? r.first : to.first, r.last < to.last ? r.last : to.last };
}

typedef struct settling {
    tr_drag *drag;
    row frames;
    bool fit; // otherwise graphs
    atomic_bool failed;
} settling;

static void settle_sets( void *context, int begin, int end )
{
    settling *s = context;
    tr_error error;
    for ( int i = begin; i < end; ++i ) {
        tr_settler *settler = s->drag->settlers[i];
        bool ok = s->fit ? tr_settler_fit( settler, s->frames.first, s->frames.last, &error )
                         : tr_settler_deform( settler, s->frames.first, s->frames.last, &error );
        if ( !ok )
            s->failed = true;
    }
}

static bool settle( tr_drag *drag, row frames, bool fit )
{
    settling s = { .drag = drag, .frames = frames, .fit = fit };
    if ( frames.last >= frames.first )
        tr_parallel_for( drag->settler_count, 1, settle_sets, &s );
    return !s.failed;
}

// Poses and graphs of further frames, which lie beside those that are prepared.
static bool prepare( tr_drag *drag, row frames )
{
    tr_error error;
    if ( drag->prepared.last >= drag->prepared.first ) {
        if ( frames.first >= drag->prepared.first )
            frames.first = drag->prepared.last + 1;
        else
            frames.last = drag->prepared.first - 1;
    }
    if ( frames.last < frames.first )
        return true;
    if ( !tr_cage_layer_frames( &drag->layer, frames.first, frames.last, &error ) ||
         !settle( drag, frames, false ) )
        return false;
    if ( drag->prepared.last < drag->prepared.first )
        drag->prepared = frames;
    drag->prepared.first = frames.first < drag->prepared.first ? frames.first : drag->prepared.first;
    drag->prepared.last = frames.last > drag->prepared.last ? frames.last : drag->prepared.last;
    return true;
}

static void show_actor( tr_drag *drag, int i, row frames )
{
    size_t count = (size_t)( frames.last - frames.first + 1 ), first = (size_t)frames.first,
           joints = (size_t)drag->work.worlds[i].joint_count;
    const tr_clip *in = &drag->work.motions[i].clip, *out = &drag->shown.motions[i].clip;
    tr_pose from = tr_world_pose( &drag->work.worlds[i], frames.first ),
            to = tr_world_pose( &drag->shown.worlds[i], frames.first );
    memcpy( tr_clip_frame( out, frames.first ), tr_clip_frame( in, frames.first ),
            count * joints * sizeof( quat ) );
    memcpy( out->root + first, in->root + first, count * sizeof( vec3 ) );
    memcpy( to.rotations, from.rotations, count * joints * sizeof( quat ) );
    memcpy( to.positions, from.positions, count * joints * sizeof( vec3 ) );
    if ( drag->work.turns[i] != NULL )
        memcpy( drag->shown.turns[i] + first, drag->work.turns[i] + first, count * sizeof( double ) );
    if ( drag->work.steps[i] != NULL )
        memcpy( drag->shown.steps[i] + first * joints, drag->work.steps[i] + first * joints,
                count * joints * sizeof( tr_step ) );
}

static void show( tr_drag *drag, row frames )
{
    for ( int i = 0; i < drag->stage.actor_count; ++i )
        if ( drag->layer.linked[i] )
            show_actor( drag, i, frames );
    for ( int p = 0; p < drag->stage.prop_count; ++p )
        if ( drag->layer.linked[drag->stage.actor_count + p] )
            memcpy( drag->shown.tracks[p] + frames.first, drag->work.tracks[p] + frames.first,
                    (size_t)( frames.last - frames.first + 1 ) * sizeof( rigid ) );
}

// Solves further frames, which lie beside those that are.
static bool solve( tr_drag *drag, row frames )
{
    row around = cut( ( row ){ frames.first - margin( drag ), frames.last + margin( drag ) }, drag->range );
    if ( !prepare( drag, around ) || is_superseded( drag ) || !settle( drag, frames, true ) )
        return false;
    show( drag, frames );
    if ( drag->solved.last < drag->solved.first )
        drag->solved = frames;
    drag->solved.first = frames.first < drag->solved.first ? frames.first : drag->solved.first;
    drag->solved.last = frames.last > drag->solved.last ? frames.last : drag->solved.last;
    return true;
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
static row block_of( const tr_drag *drag, int frame )
{
    int first = frame / TR_DRAG_BLOCK * TR_DRAG_BLOCK;
    return cut( ( row ){ first, first + TR_DRAG_BLOCK - 1 }, drag->range );
}

static int visible_frame( const tr_drag *drag )
{
    int frame = drag->tick.frame > drag->range.last ? drag->range.last : drag->tick.frame;
    return frame < drag->range.first ? drag->range.first : frame;
}

bool tr_drag_visible( tr_drag *drag, const tr_drag_tick *tick )
{
    drag->tick = *tick;
    move_handles( drag );
    drag->prepared = drag->solved = ( row ){ 0, -1 };
    if ( is_superseded( drag ) )
        return false;
    if ( drag->range.last < drag->range.first )
        return true;
    tr_cage_solve_def def = { .max_iterations = CAGE_ROUNDS, .tolerance = CAGE_REST, .warm = true };
    tr_cage_layer_solve( &drag->layer, &def );
    tr_cage_outline_read( &drag->shape, &drag->layer.cage );
    return !is_superseded( drag ) && solve( drag, block_of( drag, visible_frame( drag ) ) );
}

static bool is_left( const tr_drag *drag )
{
    return drag->solved.first > drag->range.first || drag->solved.last < drag->range.last;
}

// The side on which the nearest frame is not solved yet, grown by some blocks.
static row next_frames( const tr_drag *drag, int blocks )
{
    int frame = visible_frame( drag ), more = blocks < CHUNK ? blocks : CHUNK;
    bool before = drag->solved.first > drag->range.first, after = drag->solved.last < drag->range.last;
    if ( after && ( !before || drag->solved.last - frame <= frame - drag->solved.first ) ) {
        row last = block_of( drag, drag->solved.last + 1 );
        last.last = last.first + more * TR_DRAG_BLOCK - 1;
        return cut( last, ( row ){ drag->solved.last + 1, drag->range.last } );
    }
    row first = block_of( drag, drag->solved.first - 1 );
    first.first = first.last - more * TR_DRAG_BLOCK + 1;
    return cut( first, ( row ){ drag->range.first, drag->solved.first - 1 } );
}

bool tr_drag_more( tr_drag *drag, int blocks )
{
    assert( blocks > 0 );
    if ( drag->solved.last < drag->solved.first || is_superseded( drag ) || !is_left( drag ) )
        return false;
    for ( ; blocks > 0 && is_left( drag ); blocks -= CHUNK )
        if ( is_superseded( drag ) || !solve( drag, next_frames( drag, blocks ) ) )
            return false;
    return is_left( drag );
}

const tr_result *tr_drag_result( const tr_drag *drag )
{
    return &drag->shown;
}

bool tr_drag_is_solved( const tr_drag *drag, int frame )
{
    bool in_range = frame >= drag->range.first && frame <= drag->range.last;
    return !in_range || ( frame >= drag->solved.first && frame <= drag->solved.last );
}

const tr_cage_outline *tr_drag_cage( const tr_drag *drag )
{
    return drag->layer.built ? &drag->shape : NULL;
}

double tr_drag_error( const tr_drag *drag, int handle )
{
    for ( int h = 0; h < drag->layer.handle_count; ++h )
        if ( drag->layer.handle_index[h] == handle )
            return drag->layer.handle_errors[h];
    return 0;
}
