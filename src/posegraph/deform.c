// Transfer and deformation of a cluster: frames into blocks of lanes, part by part, and back.
#include "posegraph/private.h"

#include <assert.h>
#include <string.h>

tr_cluster_def tr_default_cluster_def( void )
{
    return ( tr_cluster_def ){ .lanes = tr_lanes_best(),
                               .max_iterations = 200,
                               .fit_steps = 1,
                               .newton = true,
                               .tolerance = 6e-4,
                               .rods = { .corner_stiffness = 0.7,
                                         .turn_max = 0.7,
                                         .stale = 20,
                                         .kept_rounds = 4,
                                         .share_min = 0.05,
                                         .share_growth = 1.25,
                                         .pivot_min = 1e-3,
                                         .row_give = 1e-4,
                                         .row_pivot = 0.1,
                                         .spring_give = 1e-5 } };
}

tr_goal tr_goal_off( void )
{
    return ( tr_goal ){ v3_zero, { TR_ROW_OFF, TR_ROW_OFF, TR_ROW_OFF } };
}

// -------------------------------------------------------------------------------------------- in and out

typedef struct solver {
    const tr_cluster_job *job;
    tr_cluster_scratch *scratch;
    bool deform;
    atomic_bool too_small;
} solver;

// The kernels of each kind of lanes.
typedef struct kernels {
    void ( *deform )( tr_block_work *work );
    void ( *load )( const tr_graph_lanes *g, const vec3 *const frames[] );
    void ( *begin )( const tr_graph_lanes *g, const tr_graph_kept from[] );
    void ( *keep )( const tr_graph_lanes *g, int frame_count, const bool finite[], const tr_graph_kept to[] );
    void ( *store )( const tr_graph_lanes *g, const vec3 *const from[], int frame_count, int joint_count,
                     vec3 *const to[], bool finite[] );
    void ( *rotations )( const tr_graph_lanes *g, int frame_count, const bool finite[], quat *const to[] );
} kernels;

#define KERNELS_OF( kind )                                                                                   \
    {                                                                                                        \
        tr_kernel_deform_##kind, tr_kernel_load_##kind, tr_kernel_begin_##kind, tr_kernel_keep_##kind,       \
            tr_kernel_store_##kind, tr_kernel_rotations_##kind                                               \
    }

static const kernels kinds[TR_LANES_KINDS] = {
    [TR_LANES_DOUBLE] = KERNELS_OF( double ),
    [TR_LANES_FLOAT] = KERNELS_OF( float ),
    [TR_LANES_AVX2] = KERNELS_OF( avx2 ),
    [TR_LANES_AVX512] = KERNELS_OF( avx512 ),
};

void tr_graph_kept_clear( const tr_graph_kept *kept, int joint_count )
{
    memset( kept->moved, 0, 9 * (size_t)joint_count * sizeof( float ) );
    for ( int k = 0; k < 4 * joint_count; ++k )
        kept->turned[k] = k % 4 == 3 ? 1 : 0;
}

// The lanes for a block, which may be too short to fill the job's.
static tr_lanes lanes_of( const tr_cluster_job *job, int begin, int end )
{
    return tr_lanes_for( job->def.lanes, end - begin );
}

static const vec3 *frame_of( const vec3 *const *arrays, const tr_cluster_job *job, int graph, int frame )
{
    return arrays[graph] + (size_t)frame * 3 * (size_t)job->cluster->graphs[graph]->joint_count;
}

static vec3 point_value( const tr_sparse *points, int point, const vec3 *vertices )
{
    vec3 sum = v3_zero;
    for ( int e = points->start[point]; e < points->start[point + 1]; ++e )
        sum = v3_mad( sum, points->values[e], vertices[points->columns[e]] );
    return sum;
}

// Where a row stands: point a, or point a − point b.
static vec3 row_value( const tr_cluster_job *job, const vec3 *const *arrays, int row, int frame )
{
    const tr_port_row *r = &job->cluster->rows[row];
    vec3 value = point_value( &job->cluster->points[r->tree[0]], r->port[0],
                              frame_of( arrays, job, r->tree[0], frame ) );
    if ( r->tree[1] >= 0 )
        value = v3_sub( value, point_value( &job->cluster->points[r->tree[1]], r->port[1],
                                            frame_of( arrays, job, r->tree[1], frame ) ) );
    return value;
}

static const tr_goal *goal_at( const tr_cluster_job *job, int row, int frame )
{
    return &job->goals[(size_t)frame * (size_t)job->cluster->row_count + (size_t)row];
}

static void load_rows( const tr_cluster_job *job, const tr_part *part, tr_block *block, int frame, int lane )
{
    for ( int r = 0; r < part->cluster.row_count; ++r ) {
        const tr_goal *goal = goal_at( job, part->rows[r], frame );
        if ( !tr_goal_is_on( goal ) )
            continue;
        vec3 miss = v3_sub( goal->target, row_value( job, job->reference, part->rows[r], frame ) );
        const double axes[3] = { miss.x, miss.y, miss.z };
        for ( int c = 0; c < 3; ++c )
            tr_block_set( block, r, c, lane, goal->compliance[c], axes[c] );
    }
}

// Graphs that rows join at this frame, directly or not, share the index of the first of them.
static void find_components( const tr_cluster_job *job, const tr_part *part, int frame, int *component )
{
    int graphs = part->cluster.graph_count;
    for ( int g = 0; g < graphs; ++g )
        component[g] = g;
    for ( int r = 0; r < part->cluster.row_count; ++r )
        if ( tr_goal_is_on( goal_at( job, part->rows[r], frame ) ) )
            tr_join_graphs( &part->cluster.rows[r], component );
    for ( int g = 0; g < graphs; ++g )
        component[g] = tr_set_find( component, g );
}

// Transfer turns nothing.
static bool rotations_wanted( const solver *s, int graph )
{
    return s->deform && s->job->rotations != NULL && s->job->rotations[graph] != NULL;
}

static const tr_graph_kept *kept_at( const tr_cluster_job *job, int graph, int frame )
{
    return &job->kept[(size_t)frame * (size_t)job->cluster->graph_count + (size_t)graph];
}

static void keep_graph( const tr_cluster_job *job, const tr_graph_lanes *g, int graph, const bool finite[],
                        int begin, int end )
{
    tr_graph_kept to[TR_BLOCK_FRAMES_MAX];
    for ( int f = begin; f < end; ++f )
        to[f - begin] = *kept_at( job, graph, f );
    kinds[lanes_of( job, begin, end )].keep( g, end - begin, finite, to );
}

// `graph` is that of the whole cluster, here and below.
static void store_graph( const solver *s, const tr_graph_lanes *g, int graph, int begin, int end )
{
    const tr_cluster_job *job = s->job;
    const kernels *k = &kinds[lanes_of( job, begin, end )];
    size_t joints = (size_t)g->graph->joint_count;
    const vec3 *from[TR_BLOCK_FRAMES_MAX];
    vec3 *to[TR_BLOCK_FRAMES_MAX];
    bool finite[TR_BLOCK_FRAMES_MAX];
    for ( int f = begin; f < end; ++f ) {
        from[f - begin] = frame_of( job->reference, job, graph, f );
        to[f - begin] = job->vertices[graph] + (size_t)f * 3 * joints;
    }
    k->store( g, from, end - begin, job->roots_only ? 1 : g->graph->joint_count, to, finite );
    if ( s->deform && job->kept != NULL )
        keep_graph( job, g, graph, finite, begin, end );
    if ( !rotations_wanted( s, graph ) )
        return;
    quat *turns[TR_BLOCK_FRAMES_MAX];
    for ( int f = begin; f < end; ++f )
        turns[f - begin] = job->rotations[graph] + (size_t)f * joints;
    k->rotations( g, end - begin, finite, turns );
}

// Rows that are off have no error, and no round was needed yet.
static void clear_report( const tr_cluster_job *job, int frame )
{
    size_t rows = (size_t)job->cluster->row_count, at = (size_t)frame * rows;
    for ( size_t r = 0; r < rows && job->errors != NULL; ++r )
        job->errors[at + r] = 0;
    for ( size_t r = 0; r < rows && job->relaxed != NULL; ++r )
        job->relaxed[at + r] = false;
    if ( job->iterations != NULL )
        job->iterations[frame] = 0;
    if ( job->change != NULL )
        job->change[frame] = 0;
}

static void report_row( const tr_cluster_job *job, const tr_block *block, int row, int whole_row, int frame,
                        int lane )
{
    const tr_goal *goal = goal_at( job, whole_row, frame );
    if ( !tr_goal_is_on( goal ) )
        return;
    vec3 miss =
        v3_sub( row_value( job, (const vec3 *const *)job->vertices, whole_row, frame ), goal->target );
    const double axes[3] = { miss.x, miss.y, miss.z };
    double square = 0;
    bool relaxed = false;
    for ( int c = 0; c < 3; ++c )
        if ( goal->compliance[c] >= 0 ) {
            square += axes[c] * axes[c];
            relaxed = relaxed || tr_block_dropped( block, row, c, lane );
        }
    size_t at = (size_t)frame * (size_t)job->cluster->row_count + (size_t)whole_row;
    if ( job->errors != NULL )
        job->errors[at] = sqrt( square );
    if ( job->relaxed != NULL )
        job->relaxed[at] = relaxed;
}

// The most rounds and the largest change of any part.
static void store_report( const tr_cluster_job *job, const tr_part *part, const tr_block_work *work,
                          int frame, int lane )
{
    bool wanted = job->errors != NULL || job->relaxed != NULL;
    for ( int r = 0; wanted && r < part->cluster.row_count; ++r )
        report_row( job, &work->block, r, part->rows[r], frame, lane );
    if ( job->iterations != NULL && work->iterations[lane] > job->iterations[frame] )
        job->iterations[frame] = work->iterations[lane];
    if ( job->change != NULL )
        job->change[frame] = fmax( job->change[frame], work->change[lane] );
}

// --------------------------------------------------------------------------------------------------- solve

// Without rotations, rows alone cause the displacement: one solve from zero.
static void transfer_block( tr_block_work *work )
{
    tr_block_factor( &work->block );
    for ( int i = 0; i < work->graph_count; ++i ) {
        const tr_graph_lanes *g = &work->graphs[i];
        memset( g->displacement, 0, (size_t)g->graph->joint_count * 9 * tr_lane_bytes( work->def.lanes ) );
        tr_block_tree_solve( &work->block, i, g->displacement );
    }
    tr_block_rows_solve( &work->block );
    for ( int i = 0; i < work->graph_count; ++i )
        tr_block_tree_correct( &work->block, i, work->graphs[i].displacement );
}

static void load_graph( const tr_cluster_job *job, const tr_graph_lanes *g, bool warm, int graph, int begin,
                        int end )
{
    const kernels *k = &kinds[lanes_of( job, begin, end )];
    const vec3 *frames[TR_BLOCK_FRAMES_MAX];
    tr_graph_kept kept[TR_BLOCK_FRAMES_MAX];
    for ( int l = 0; l < tr_lanes_count( lanes_of( job, begin, end ) ); ++l ) {
        int f = begin + l < end ? begin + l : end - 1;
        frames[l] = frame_of( job->reference, job, graph, f );
        if ( warm )
            kept[l] = *kept_at( job, graph, f );
    }
    k->load( g, frames );
    if ( warm )
        k->begin( g, kept );
}

// Frames begin … end − 1 are one block; lanes beyond its end repeat its last frame.
static bool solve_part( const solver *s, const tr_part *part, char *memory, int begin, int end )
{
    const tr_cluster_job *job = s->job;
    int graphs = part->cluster.graph_count;
    tr_block_work work = {
        .cluster = &part->cluster, .def = job->def, .warm = job->kept != NULL && s->deform };
    work.def.lanes = lanes_of( job, begin, end );
    if ( !tr_scratch_lay_out( &work, &part->system, memory, s->scratch->part_bytes ) )
        return false;
    for ( int g = 0; g < graphs; ++g )
        work.graphs[g].rotations_wanted = work.warm || rotations_wanted( s, part->graphs[g] );
    for ( int l = 0; l < tr_lanes_count( work.def.lanes ); ++l ) {
        int frame = begin + l < end ? begin + l : end - 1;
        load_rows( job, part, &work.block, frame, l );
        find_components( job, part, frame, work.component + (size_t)l * (size_t)graphs );
    }
    for ( int g = 0; g < graphs; ++g )
        load_graph( job, &work.graphs[g], work.warm, part->graphs[g], begin, end );
    if ( s->deform )
        kinds[work.def.lanes].deform( &work );
    else
        transfer_block( &work );
    for ( int g = 0; g < graphs; ++g )
        store_graph( s, &work.graphs[g], part->graphs[g], begin, end );
    for ( int f = begin; f < end; ++f )
        store_report( job, part, &work, f, f - begin );
    return true;
}

static bool is_still( const tr_cluster_job *job, const tr_part *part )
{
    bool still = job->still != NULL;
    for ( int g = 0; still && g < part->cluster.graph_count; ++g )
        still = job->still[part->graphs[g]];
    return still;
}

static bool solve_block( const solver *s, char *slot, int begin, int end )
{
    tr_parts parts;
    char *memory = tr_parts_lay_out( &parts, s->job->cluster, slot );
    if ( (size_t)( memory - slot ) + s->scratch->part_bytes > s->scratch->slot_bytes )
        return false;
    tr_parts_find( &parts, s->job, begin, end );
    for ( int f = begin; f < end; ++f )
        clear_report( s->job, f );
    bool ok = true;
    for ( int p = 0; p < parts.count; ++p ) {
        tr_part part = tr_parts_view( &parts, p, s->deform );
        ok = ( is_still( s->job, &part ) || solve_part( s, &part, memory, begin, end ) ) && ok;
    }
    return ok;
}

static void solve_task( void *context, int begin, int end )
{
    solver *s = context;
    int slot = tr_scratch_take( s->scratch );
    if ( !solve_block( s, s->scratch->slots + (size_t)slot * s->scratch->slot_bytes, begin, end ) )
        s->too_small = true;
    atomic_flag_clear( &s->scratch->busy[slot] );
}

static bool solve( const tr_cluster_job *job, bool deform, tr_error *error )
{
    assert( job->cluster->deform_ports != NULL && tr_lanes_supported( job->def.lanes ) );
    solver s = { .job = job, .deform = deform, .scratch = job->scratch };
    if ( s.scratch == NULL )
        s.scratch = tr_cluster_scratch_create( job, error );
    if ( s.scratch == NULL )
        return false;
    tr_parallel_for( job->frame_count, tr_lanes_count( job->def.lanes ), solve_task, &s );
    if ( job->scratch == NULL )
        tr_cluster_scratch_destroy( s.scratch );
    return ( !s.too_small ||
             tr_error_set( error, "more constraints are on than there was memory set aside for" ) ) &&
           tr_work_go_on( error );
}

bool tr_cluster_transfer( const tr_cluster_job *job, tr_error *error )
{
    return solve( job, false, error );
}

bool tr_cluster_deform( const tr_cluster_job *job, tr_error *error )
{
    return solve( job, true, error );
}
