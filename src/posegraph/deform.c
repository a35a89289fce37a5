// Transfer and deformation of a cluster: frames into blocks of lanes, and back.
#include "posegraph/private.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

tr_cluster_def tr_default_cluster_def( void )
{
    return ( tr_cluster_def ){
        .lanes = tr_lanes_best(), .max_iterations = 200, .fit_steps = 1, .newton = true, .tolerance = 3e-4 };
}

tr_goal tr_goal_off( void )
{
    return ( tr_goal ){ v3_zero, { TR_ROW_OFF, TR_ROW_OFF, TR_ROW_OFF } };
}

// ------------------------------------------------------------------------------------------------- scratch

struct tr_cluster_scratch {
    int slot_count; // one per thread
    size_t slot_bytes, block_bytes, rod_bytes;
    char *memory, *slots; // the second is aligned
    atomic_flag *busy;    // [slot_count]
};

static size_t whole_lanes( size_t bytes )
{
    return ( bytes + TR_LANE_BYTES - 1 ) / TR_LANE_BYTES * TR_LANE_BYTES;
}

// reference, displacement, next; quats; turns; rods
#define LANES_PER_JOINT ( 3 * 9 + 4 + 9 + TR_ROD_LANES )

static size_t graph_bytes( const tr_cluster *cluster )
{
    size_t joints = 0;
    for ( int g = 0; g < cluster->graph_count; ++g )
        joints += (size_t)cluster->graphs[g]->joint_count;
    return ( joints * LANES_PER_JOINT + (size_t)cluster->graph_count * TR_DEFORM_ROUNDS_LANES ) *
           TR_LANE_BYTES;
}

static bool goal_is_on( const tr_goal *goal )
{
    return goal->compliance[0] >= 0 || goal->compliance[1] >= 0 || goal->compliance[2] >= 0;
}

static void find_on( const tr_cluster_job *job, int begin, int end, bool *on )
{
    int rows = job->cluster->row_count;
    memset( on, 0, (size_t)rows * sizeof( bool ) );
    for ( int f = begin; f < end; ++f )
        for ( int r = 0; r < rows; ++r )
            on[r] = on[r] || goal_is_on( &job->goals[(size_t)f * (size_t)rows + (size_t)r] );
}

// For the rows of the rods' step: two starts, a part and a flag per row, three forces, the paths of its ends,
// the factor; notes per graph.
static size_t rod_bytes( const tr_cluster *cluster, const bool *on, int entries )
{
    size_t rows = 0, joints = 0;
    for ( int r = 0; r < cluster->row_count; ++r )
        for ( int e = 0; on[r] && e < 2 && cluster->rows[r].tree[e] >= 0; ++e ) {
            rows += e == 0;
            joints += (size_t)cluster->paths[cluster->rows[r].tree[e]][cluster->rows[r].port[e]].count;
        }
    return whole_lanes( rows * sizeof( bool ) ) + whole_lanes( 2 * rows * sizeof( int ) ) +
           whole_lanes( rows * sizeof( int ) ) + whole_lanes( (size_t)cluster->graph_count * sizeof( int ) ) +
           ( 3 * rows + 18 * joints + 9 * (size_t)entries ) * TR_LANE_BYTES;
}

// The most that a block of this job needs for its rows; false when out of memory.
static bool measure_blocks( const tr_cluster_job *job, tr_cluster_scratch *out )
{
    const tr_cluster *cluster = job->cluster;
    int lanes = tr_lanes_count( job->def.lanes ), entries;
    bool *on = tr_alloc( (size_t)cluster->row_count, sizeof( bool ) );
    out->block_bytes = on != NULL ? tr_block_scratch( &cluster->deform, on, &entries ) : 0;
    bool ok = out->block_bytes > 0;
    for ( int begin = 0; ok && begin < job->frame_count; begin += lanes ) {
        find_on( job, begin, begin + lanes < job->frame_count ? begin + lanes : job->frame_count, on );
        size_t bytes = tr_block_scratch( &cluster->deform, on, &entries );
        size_t rods = rod_bytes( cluster, on, entries );
        ok = bytes > 0;
        out->block_bytes = bytes > out->block_bytes ? bytes : out->block_bytes;
        out->rod_bytes = rods > out->rod_bytes ? rods : out->rod_bytes;
    }
    tr_free( on );
    return ok;
}

tr_cluster_scratch *tr_cluster_scratch_create( const tr_cluster_job *job, tr_error *error )
{
    const tr_cluster *cluster = job->cluster;
    tr_cluster_scratch *out = tr_alloc( 1, sizeof *out );
    if ( out != NULL && measure_blocks( job, out ) ) {
        out->slot_count = tr_parallel_threads();
        out->slot_bytes = whole_lanes( (size_t)cluster->row_count * sizeof( bool ) ) +
                          whole_lanes( (size_t)cluster->graph_count * sizeof( tr_graph_lanes ) ) +
                          whole_lanes( (size_t)cluster->graph_count * TR_BLOCK_FRAMES_MAX * sizeof( int ) ) +
                          graph_bytes( cluster ) + whole_lanes( out->block_bytes ) + out->rod_bytes;
        out->busy = tr_alloc( (size_t)out->slot_count, sizeof( atomic_flag ) );
        out->memory = tr_alloc( (size_t)out->slot_count * out->slot_bytes + TR_LANE_BYTES, 1 );
        if ( out->busy != NULL && out->memory != NULL ) {
            out->slots = out->memory + ( TR_LANE_BYTES - (uintptr_t)out->memory % TR_LANE_BYTES );
            for ( int s = 0; s < out->slot_count; ++s )
                atomic_flag_clear( &out->busy[s] );
            return out;
        }
    }
    tr_cluster_scratch_destroy( out );
    tr_error_memory( error );
    return NULL;
}

void tr_cluster_scratch_destroy( tr_cluster_scratch *scratch )
{
    if ( scratch == NULL )
        return;
    tr_free( scratch->busy );
    tr_free( scratch->memory );
    tr_free( scratch );
}

// A piece no other thread is using; there are as many as threads. What lies in it from before is never read.
static int take_slot( tr_cluster_scratch *scratch )
{
    for ( int s = 0;; s = ( s + 1 ) % scratch->slot_count )
        if ( !atomic_flag_test_and_set( &scratch->busy[s] ) )
            return s;
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
    void ( *load )( const tr_graph_lanes *g, const vec3 *vertices, int l );
    void ( *begin )( const tr_graph_lanes *g, const vec3 *from, const vec3 *vertices, const quat *rotations,
                     int l );
    bool ( *store )( const tr_graph_lanes *g, const vec3 *from, int l, vec3 *vertices );
    quat ( *rotation )( const tr_graph_lanes *g, int joint, int l );
} kernels;

static const kernels kinds[TR_LANES_KINDS] = {
    [TR_LANES_DOUBLE] = { tr_kernel_deform_double, tr_kernel_load_double, tr_kernel_begin_double,
                          tr_kernel_store_double, tr_kernel_rotation_double },
    [TR_LANES_FLOAT] = { tr_kernel_deform_float, tr_kernel_load_float, tr_kernel_begin_float,
                         tr_kernel_store_float, tr_kernel_rotation_float },
    [TR_LANES_AVX2] = { tr_kernel_deform_avx2, tr_kernel_load_avx2, tr_kernel_begin_avx2,
                        tr_kernel_store_avx2, tr_kernel_rotation_avx2 },
};

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

static void load_rows( const tr_cluster_job *job, tr_block *block, int frame, int lane )
{
    for ( int i = 0; i < block->active_count; ++i ) {
        int row = block->active[i];
        const tr_goal *goal = &job->goals[(size_t)frame * (size_t)job->cluster->row_count + (size_t)row];
        if ( !goal_is_on( goal ) )
            continue;
        vec3 miss = v3_sub( goal->target, row_value( job, job->reference, row, frame ) );
        const double axes[3] = { miss.x, miss.y, miss.z };
        for ( int c = 0; c < 3; ++c )
            tr_block_set( block, row, c, lane, goal->compliance[c], axes[c] );
    }
}

// Joins the graphs a row joins: whoever shares the index of one of them, `stride` apart, gets the smaller.
static void join_graphs( const tr_port_row *row, int graph_count, int stride, int *index )
{
    if ( row->tree[1] < 0 )
        return;
    int a = index[row->tree[0] * stride], b = index[row->tree[1] * stride], first = a < b ? a : b;
    for ( int g = 0; a != b && g < graph_count; ++g ) {
        int *c = &index[g * stride];
        *c = *c == a || *c == b ? first : *c;
    }
}

// Graphs that rows join at this frame, directly or not, share the index of the first of them.
static void find_components( const tr_cluster_job *job, const tr_block *block, int frame, int lane,
                             int *component )
{
    int graphs = job->cluster->graph_count;
    for ( int g = 0; g < graphs; ++g )
        component[g * TR_BLOCK_FRAMES_MAX + lane] = g;
    for ( int i = 0; i < block->active_count; ++i ) {
        size_t at = (size_t)frame * (size_t)job->cluster->row_count + (size_t)block->active[i];
        if ( goal_is_on( &job->goals[at] ) )
            join_graphs( &job->cluster->rows[block->active[i]], graphs, TR_BLOCK_FRAMES_MAX,
                         component + lane );
    }
}

static bool rotations_wanted( const tr_cluster_job *job, int graph )
{
    return job->rotations != NULL && job->rotations[graph] != NULL;
}

static void store_frame( const solver *s, const tr_graph_lanes *g, int graph, int frame, int lane )
{
    const tr_cluster_job *job = s->job;
    const kernels *k = &kinds[job->def.lanes];
    int joints = g->graph->joint_count;
    vec3 *to = job->vertices[graph] + (size_t)frame * 3 * (size_t)joints;
    bool finite = k->store( g, frame_of( job->reference, job, graph, frame ), lane, to );
    for ( int j = 0; rotations_wanted( job, graph ) && j < joints; ++j ) {
        quat turn = s->deform ? k->rotation( g, j, lane ) : q_identity;
        job->rotations[graph][(size_t)frame * (size_t)joints + (size_t)j] =
            finite && q_finite( turn ) ? q_unit( turn ) : q_identity;
    }
}

static void store_report( const tr_cluster_job *job, const tr_block_work *work, int frame, int lane )
{
    int rows = job->cluster->row_count;
    for ( int r = 0; r < rows; ++r ) {
        size_t at = (size_t)frame * (size_t)rows + (size_t)r;
        const tr_goal *goal = &job->goals[at];
        double square = 0;
        bool relaxed = false;
        if ( goal_is_on( goal ) && ( job->errors != NULL || job->relaxed != NULL ) ) {
            vec3 miss =
                v3_sub( row_value( job, (const vec3 *const *)job->vertices, r, frame ), goal->target );
            const double axes[3] = { miss.x, miss.y, miss.z };
            for ( int c = 0; c < 3; ++c )
                if ( goal->compliance[c] >= 0 ) {
                    square += axes[c] * axes[c];
                    relaxed = relaxed || tr_block_dropped( &work->block, r, c, lane );
                }
        }
        if ( job->errors != NULL )
            job->errors[at] = sqrt( square );
        if ( job->relaxed != NULL )
            job->relaxed[at] = relaxed;
    }
    if ( job->iterations != NULL )
        job->iterations[frame] = work->iterations[lane];
    if ( job->change != NULL )
        job->change[frame] = work->change[lane];
}

// --------------------------------------------------------------------------------------------------- solve

static void *carve( char **at, size_t bytes )
{
    void *out = *at;
    *at += whole_lanes( bytes );
    return out;
}

static void lay_out_graphs( tr_block_work *work, const tr_cluster *cluster, char **at )
{
    work->graphs = carve( at, (size_t)cluster->graph_count * sizeof( tr_graph_lanes ) );
    work->component = carve( at, (size_t)cluster->graph_count * TR_BLOCK_FRAMES_MAX * sizeof( int ) );
    work->graph_count = cluster->graph_count;
    for ( int i = 0; i < cluster->graph_count; ++i ) {
        tr_graph_lanes *g = &work->graphs[i];
        g->graph = cluster->graphs[i];
        size_t joint_bytes = (size_t)g->graph->joint_count * TR_LANE_BYTES;
        g->reference = carve( at, 9 * joint_bytes );
        g->displacement = carve( at, 9 * joint_bytes );
        g->next = carve( at, 9 * joint_bytes );
        g->quats = carve( at, 4 * joint_bytes );
        g->turns = carve( at, 9 * joint_bytes );
        g->rods = carve( at, TR_ROD_LANES * joint_bytes );
        g->rounds = carve( at, TR_DEFORM_ROUNDS_LANES * TR_LANE_BYTES );
    }
}

// Memory for the rows of the rods' step; false when there is not enough.
static bool lay_out_rods( tr_block_work *work, const bool *on, char *at, size_t bytes )
{
    const tr_block *block = &work->block;
    size_t rows = (size_t)block->active_count;
    if ( rod_bytes( work->cluster, on, block->begin[rows] ) > bytes )
        return false;
    work->rod_counts = carve( &at, rows * sizeof( bool ) );
    work->rod_begin = carve( &at, 2 * rows * sizeof( int ) );
    work->rod_part = carve( &at, rows * sizeof( int ) );
    int *part = carve( &at, (size_t)work->graph_count * sizeof( int ) ), joints = 0;
    work->rod_force = carve( &at, 3 * rows * TR_LANE_BYTES );
    work->rod_factor = carve( &at, 9 * (size_t)block->begin[rows] * TR_LANE_BYTES );
    work->rod_ends = at;
    for ( int g = 0; g < work->graph_count; ++g )
        part[g] = g;
    for ( size_t i = 0; i < rows; ++i )
        join_graphs( &work->cluster->rows[block->active[i]], work->graph_count, 1, part );
    for ( size_t i = 0; i < rows; ++i ) {
        const tr_port_row *row = &work->cluster->rows[block->active[i]];
        work->rod_part[i] = part[row->tree[0]];
        for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
            work->rod_begin[2 * i + (size_t)e] = joints;
            joints += work->cluster->paths[row->tree[e]][row->port[e]].count;
        }
    }
    return true;
}

// Without rotations to find, the displacement is what the rows alone pull: one solve from zero.
static void transfer_block( tr_block_work *work )
{
    tr_block_factor( &work->block );
    for ( int i = 0; i < work->graph_count; ++i ) {
        const tr_graph_lanes *g = &work->graphs[i];
        memset( g->displacement, 0, (size_t)g->graph->joint_count * 9 * TR_LANE_BYTES );
        tr_block_tree_solve( &work->block, i, g->displacement );
    }
    tr_block_rows_solve( &work->block );
    for ( int i = 0; i < work->graph_count; ++i )
        tr_block_tree_correct( &work->block, i, work->graphs[i].displacement );
}

static void load_frame( const tr_cluster_job *job, const tr_block_work *work, int graph, int frame, int lane )
{
    const kernels *k = &kinds[job->def.lanes];
    const vec3 *reference = frame_of( job->reference, job, graph, frame );
    k->load( &work->graphs[graph], reference, lane );
    if ( work->warm )
        k->begin( &work->graphs[graph], reference,
                  frame_of( (const vec3 *const *)job->vertices, job, graph, frame ),
                  job->rotations[graph] + (size_t)frame * (size_t)job->cluster->graphs[graph]->joint_count,
                  lane );
}

// Frames begin … end − 1 are one block; lanes beyond its end repeat its last frame.
static bool solve_block( const solver *s, char *slot, int begin, int end )
{
    const tr_cluster_job *job = s->job;
    const tr_cluster *cluster = job->cluster;
    tr_block_work work = { .cluster = cluster, .def = job->def, .warm = job->warm && s->deform };
    bool *on = carve( &slot, (size_t)cluster->row_count * sizeof( bool ) );
    find_on( job, begin, end, on );
    lay_out_graphs( &work, cluster, &slot );
    for ( int g = 0; g < cluster->graph_count; ++g )
        work.graphs[g].rotations_wanted = rotations_wanted( job, g );
    if ( !tr_block_start( &work.block, s->deform ? &cluster->deform : &cluster->transfer, job->def.lanes, on,
                          slot, s->scratch->block_bytes ) )
        return false;
    slot += whole_lanes( s->scratch->block_bytes );
    if ( s->deform && job->def.newton && !lay_out_rods( &work, on, slot, s->scratch->rod_bytes ) )
        return false;
    for ( int l = 0; l < tr_lanes_count( job->def.lanes ); ++l ) {
        int frame = begin + l < end ? begin + l : end - 1;
        load_rows( job, &work.block, frame, l );
        find_components( job, &work.block, frame, l, work.component );
        for ( int g = 0; g < cluster->graph_count; ++g )
            load_frame( job, &work, g, frame, l );
    }
    if ( s->deform )
        kinds[job->def.lanes].deform( &work );
    else
        transfer_block( &work );
    for ( int f = begin; f < end; ++f ) {
        for ( int g = 0; g < cluster->graph_count; ++g )
            store_frame( s, &work.graphs[g], g, f, f - begin );
        store_report( job, &work, f, f - begin );
    }
    return true;
}

static void solve_task( void *context, int begin, int end )
{
    solver *s = context;
    int slot = take_slot( s->scratch );
    if ( !solve_block( s, s->scratch->slots + (size_t)slot * s->scratch->slot_bytes, begin, end ) )
        s->too_small = true;
    atomic_flag_clear( &s->scratch->busy[slot] );
}

static bool solve( const tr_cluster_job *job, bool deform, tr_error *error )
{
    assert( job->cluster->deform_ports != NULL && tr_lanes_supported( job->def.lanes ) );
    assert( !job->warm || job->rotations != NULL );
    solver s = { .job = job, .deform = deform, .scratch = job->scratch };
    if ( s.scratch == NULL )
        s.scratch = tr_cluster_scratch_create( job, error );
    if ( s.scratch == NULL )
        return false;
    tr_parallel_for( job->frame_count, tr_lanes_count( job->def.lanes ), solve_task, &s );
    if ( job->scratch == NULL )
        tr_cluster_scratch_destroy( s.scratch );
    return !s.too_small ||
           tr_error_set( error, "more constraints are on than there was memory set aside for" );
}

bool tr_cluster_transfer( const tr_cluster_job *job, tr_error *error )
{
    return solve( job, false, error );
}

bool tr_cluster_deform( const tr_cluster_job *job, tr_error *error )
{
    return solve( job, true, error );
}
