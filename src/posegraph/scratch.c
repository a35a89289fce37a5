// Working memory of a cluster: one slot per thread, each with room for the largest part that any block needs.
#include "posegraph/private.h"

// ----------------------------------------------------------------------------------------------------- size

// As lay_out_graphs carves: reference, displacement, next, turns; quats; rods; rounds.
static size_t graph_bytes( const tr_cluster *part, size_t lane_bytes )
{
    size_t graphs = (size_t)part->graph_count;
    size_t sum = tr_carve_bytes( graphs * sizeof( tr_graph_lanes ) ) +
                 tr_carve_bytes( graphs * TR_BLOCK_FRAMES_MAX * sizeof( int ) );
    for ( size_t g = 0; g < graphs; ++g ) {
        size_t joint_bytes = (size_t)part->graphs[g]->joint_count * lane_bytes;
        sum += 4 * tr_carve_bytes( 9 * joint_bytes ) + tr_carve_bytes( 4 * joint_bytes ) +
               tr_carve_bytes( TR_ROD_LANES * joint_bytes ) +
               tr_carve_bytes( TR_DEFORM_ROUNDS_LANES * lane_bytes );
    }
    return sum;
}

// As lay_out_rods carves, for the rows of the rods' step: two starts, a pair and a flag per row, three
// forces, the factor, the paths of its ends.
static size_t rod_bytes( const tr_cluster *part, int entries, size_t lane_bytes )
{
    size_t rows = (size_t)part->row_count, joints = 0;
    for ( int r = 0; r < part->row_count; ++r )
        for ( int e = 0; e < 2 && part->rows[r].tree[e] >= 0; ++e )
            joints += (size_t)part->paths[part->rows[r].tree[e]][part->rows[r].port[e]].count;
    return tr_carve_bytes( rows * sizeof( bool ) ) + tr_carve_bytes( rows * sizeof( int ) ) +
           tr_carve_bytes( 2 * rows * sizeof( int ) ) + tr_carve_bytes( 3 * rows * lane_bytes ) +
           tr_carve_bytes( 9 * (size_t)entries * lane_bytes ) + tr_carve_bytes( 18 * joints * lane_bytes );
}

// The most that a part of a block of this job needs; false when out of memory.
static bool measure( const tr_cluster_job *job, int block, tr_parts *parts, tr_cluster_need *need )
{
    size_t lane_bytes = tr_lane_bytes( job->def.lanes );
    for ( int begin = 0; begin < job->frame_count; begin += block ) {
        tr_parts_find( parts, job, begin,
                       begin + block < job->frame_count ? begin + block : job->frame_count );
        for ( int p = 0; p < parts->count; ++p ) {
            tr_part part = tr_parts_view( parts, p, true );
            int entries;
            size_t rows = tr_block_scratch( &part.system, job->def.lanes, NULL, &entries );
            if ( rows == 0 )
                return false;
            size_t bytes = graph_bytes( &part.cluster, lane_bytes ) + rows +
                           rod_bytes( &part.cluster, entries, lane_bytes );
            need->part = bytes > need->part ? bytes : need->part;
        }
    }
    return true;
}

// ------------------------------------------------------------------------------------------ create, destroy

bool tr_cluster_measure( const tr_cluster_job *job, int block, tr_cluster_need *need, tr_error *error )
{
    size_t list_bytes = tr_parts_bytes( job->cluster );
    char *lists = tr_alloc( list_bytes, 1 );
    bool ok = lists != NULL;
    if ( ok ) {
        tr_parts parts;
        tr_parts_lay_out( &parts, job->cluster, lists );
        ok = measure( job, block, &parts, need );
    }
    tr_free( lists );
    need->lists = list_bytes > need->lists ? list_bytes : need->lists;
    return ok || tr_error_memory( error );
}

tr_cluster_scratch *tr_cluster_scratch_build( const tr_cluster_need *need, tr_error *error )
{
    tr_cluster_scratch *out = tr_alloc( 1, sizeof *out );
    bool ok = out != NULL;
    if ( ok ) {
        out->slot_count = tr_parallel_threads();
        out->part_bytes = need->part;
        out->slot_bytes = need->lists + need->part;
        out->busy = tr_alloc( (size_t)out->slot_count, sizeof( atomic_flag ) );
        out->memory = tr_alloc( (size_t)out->slot_count * out->slot_bytes + TR_LANE_BYTES_MAX, 1 );
        ok = out->busy != NULL && out->memory != NULL;
    }
    if ( !ok ) {
        tr_cluster_scratch_destroy( out );
        tr_error_memory( error );
        return NULL;
    }
    out->slots = out->memory + ( TR_LANE_BYTES_MAX - (uintptr_t)out->memory % TR_LANE_BYTES_MAX );
    for ( int s = 0; s < out->slot_count; ++s )
        atomic_flag_clear( &out->busy[s] );
    return out;
}

tr_cluster_scratch *tr_cluster_scratch_create( const tr_cluster_job *job, tr_error *error )
{
    tr_cluster_need need = { 0 };
    return tr_cluster_measure( job, tr_lanes_count( job->def.lanes ), &need, error )
               ? tr_cluster_scratch_build( &need, error )
               : NULL;
}

void tr_cluster_scratch_destroy( tr_cluster_scratch *scratch )
{
    if ( scratch == NULL )
        return;
    tr_free( scratch->busy );
    tr_free( scratch->memory );
    tr_free( scratch );
}

// What lies in a slot from before is never read. A thread that finds its own free takes that: it is in its
// cache.
int tr_scratch_take( tr_cluster_scratch *scratch )
{
    for ( int s = tr_parallel_thread() % scratch->slot_count;; s = ( s + 1 ) % scratch->slot_count )
        if ( !atomic_flag_test_and_set( &scratch->busy[s] ) )
            return s;
}

// --------------------------------------------------------------------------------------------------- layout

static void lay_out_graphs( tr_block_work *work, char **at )
{
    const tr_cluster *part = work->cluster;
    size_t lane_bytes = tr_lane_bytes( work->def.lanes );
    work->graphs = tr_carve( at, (size_t)part->graph_count * sizeof( tr_graph_lanes ) );
    work->component = tr_carve( at, (size_t)part->graph_count * TR_BLOCK_FRAMES_MAX * sizeof( int ) );
    work->graph_count = part->graph_count;
    for ( int i = 0; i < part->graph_count; ++i ) {
        tr_graph_lanes *g = &work->graphs[i];
        g->graph = part->graphs[i];
        size_t joint_bytes = (size_t)g->graph->joint_count * lane_bytes;
        g->reference = tr_carve( at, 9 * joint_bytes );
        g->displacement = tr_carve( at, 9 * joint_bytes );
        g->next = tr_carve( at, 9 * joint_bytes );
        g->quats = tr_carve( at, 4 * joint_bytes );
        g->turns = tr_carve( at, 9 * joint_bytes );
        g->rods = tr_carve( at, TR_ROD_LANES * joint_bytes );
        g->rounds = tr_carve( at, TR_DEFORM_ROUNDS_LANES * lane_bytes );
    }
}

// The joint a row holds and no other; NULL when there are several, or it joins two graphs.
static const tr_path_node *held_joint( const tr_block_work *work, int i )
{
    const tr_port_row *row = &work->cluster->rows[work->block.active[i]];
    const tr_port_path *path = &work->cluster->paths[row->tree[0]][row->port[0]];
    return row->tree[1] < 0 && path->lone >= 0 ? &path->nodes[path->lone] : NULL;
}

static bool pulls_first_corner( const tr_path_node *node )
{
    return node->soft[0] > node->soft[1] && node->soft[0] > node->soft[2];
}

// Whether a row has a pair does not depend on which others are on: one that is off has no effect.
static int find_pair( const tr_block_work *work, int i )
{
    const tr_path_node *own = held_joint( work, i );
    if ( own == NULL || pulls_first_corner( own ) )
        return -1;
    int graph = work->cluster->rows[work->block.active[i]].tree[0];
    for ( int k = 0; k < work->block.active_count; ++k ) {
        const tr_path_node *other = held_joint( work, k );
        if ( other != NULL && work->cluster->rows[work->block.active[k]].tree[0] == graph &&
             other->joint == own->joint && pulls_first_corner( other ) )
            return k;
    }
    return -1;
}

// Memory for the rows of the rods' step.
static void lay_out_rods( tr_block_work *work, char *at )
{
    const tr_block *block = &work->block;
    size_t rows = (size_t)block->active_count, lane_bytes = tr_lane_bytes( block->lanes );
    work->rod_counts = tr_carve( &at, rows * sizeof( bool ) );
    work->rod_pair = tr_carve( &at, rows * sizeof( int ) );
    work->rod_begin = tr_carve( &at, 2 * rows * sizeof( int ) );
    work->rod_force = tr_carve( &at, 3 * rows * lane_bytes );
    work->rod_factor = tr_carve( &at, 9 * (size_t)block->begin[rows] * lane_bytes );
    work->rod_ends = at;
    int joints = 0;
    for ( size_t i = 0; i < rows; ++i ) {
        const tr_port_row *row = &work->cluster->rows[block->active[i]];
        work->rod_pair[i] = find_pair( work, (int)i );
        for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
            work->rod_begin[2 * i + (size_t)e] = joints;
            joints += work->cluster->paths[row->tree[e]][row->port[e]].count;
        }
    }
}

bool tr_scratch_lay_out( tr_block_work *work, const tr_system *system, char *at, size_t bytes )
{
    size_t lane_bytes = tr_lane_bytes( work->def.lanes ), graphs = graph_bytes( work->cluster, lane_bytes );
    if ( graphs > bytes )
        return false;
    char *rest = at + graphs;
    lay_out_graphs( work, &at );
    if ( !tr_block_start( &work->block, system, work->def.lanes, NULL, rest, bytes - graphs ) )
        return false;
    size_t block = work->block.bytes,
           rods = rod_bytes( work->cluster, work->block.begin[work->block.active_count], lane_bytes );
    if ( graphs + block + rods > bytes )
        return false;
    lay_out_rods( work, rest + block );
    return true;
}
