// Clusters at work: one list of jobs, clusters × blocks of frames, the longest first. Frames know nothing of
// each other, so a block goes from copied poses to what the graphs say without waiting for others. Memory of
// its frames belongs to the thread.
#include "cluster/private.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

static const tr_posegraph *graph_of( const tr_cluster_work *work, int graph )
{
    return work->rows.cluster.graphs[graph];
}

static bool is_prop( const tr_cluster_work *work, int graph )
{
    return work->nodes[graph] >= work->stage->actor_count;
}

static int prop_of( const tr_cluster_work *work, int graph )
{
    return work->nodes[graph] - work->stage->actor_count;
}

// -------------------------------------------------------------------------------------------------- scratch

typedef struct tr_thread_scratch { // of one thread, for a block of frames of the job at hand
    vec3 **reference;              // [node_count][frames * 3 * joint_count]
    vec3 **vertices;               // the same
    quat **rotations;              // [node_count][frames * joint_count], NULL where they are not wanted
    tr_goal *goals, *contacts;     // [frames * row_count]
    bool *still;                   // [node_count] the node is affected in none of the frames
    tr_graph_kept *kept;           // [frames * node_count]
    tr_cluster_scratch *graphs;    // of all threads
    char *memory;
} tr_thread_scratch;

// Points the scratch into its memory and returns the end of what it needs.
static char *open_scratch( tr_thread_scratch *scratch, const tr_cluster_work *work )
{
    size_t graphs = (size_t)work->node_count, frames = (size_t)tr_lanes_count( work->def.lanes );
    char *at = scratch->memory;
    scratch->reference = tr_carve( &at, graphs * sizeof( vec3 * ) );
    scratch->vertices = tr_carve( &at, graphs * sizeof( vec3 * ) );
    scratch->rotations = tr_carve( &at, graphs * sizeof( quat * ) );
    scratch->goals = tr_carve( &at, frames * (size_t)work->rows.cluster.row_count * sizeof( tr_goal ) );
    scratch->contacts = tr_carve( &at, frames * (size_t)work->rows.cluster.row_count * sizeof( tr_goal ) );
    scratch->still = tr_carve( &at, graphs * sizeof( bool ) );
    scratch->kept = tr_carve( &at, frames * graphs * sizeof( tr_graph_kept ) );
    for ( size_t g = 0; g < graphs; ++g ) {
        size_t cells = frames * (size_t)graph_of( work, (int)g )->joint_count;
        scratch->reference[g] = tr_carve( &at, TR_GRAPH_CORNERS * cells * sizeof( vec3 ) );
        scratch->vertices[g] = tr_carve( &at, TR_GRAPH_CORNERS * cells * sizeof( vec3 ) );
        scratch->rotations[g] = work->turns[g] ? tr_carve( &at, cells * sizeof( quat ) ) : NULL;
    }
    return at;
}

static size_t scratch_bytes( const tr_cluster_work *work )
{
    size_t graphs = (size_t)work->node_count, frames = (size_t)tr_lanes_count( work->def.lanes );
    size_t cells = frames * (size_t)work->joint_count;
    return graphs * ( 3 * sizeof( void * ) + sizeof( bool ) + frames * sizeof( tr_graph_kept ) ) +
           2 * frames * (size_t)work->rows.cluster.row_count * sizeof( tr_goal ) +
           cells * ( 2 * TR_GRAPH_CORNERS * sizeof( vec3 ) + sizeof( quat ) ) + ( 3 * graphs + 7 ) * TR_CARVE;
}

// Scratch for the frames in which most is asked for: which rows are on does not depend on poses. A run may
// begin anywhere, so that a block of lanes may see any frames as far apart as the first and last of it: all
// of these lie in two spans of that length, and what is on anywhere in the two counts as on.
static bool measure_scratch( const tr_cluster_work *work, tr_cluster_need *need, tr_error *error )
{
    int span = tr_lanes_count( work->def.lanes ) * work->reach, rows = work->rows.cluster.row_count,
        spans = ( work->last - work->first ) / span + 1;
    tr_goal *goals = tr_alloc( (size_t)spans * (size_t)rows, sizeof( tr_goal ) );
    bool *on = tr_alloc( (size_t)rows, sizeof( bool ) ), ok = goals != NULL && on != NULL;
    for ( int s = 0; ok && s < spans; ++s ) {
        int from = work->first + s * span, to = from + 2 * span - 1;
        memset( on, 0, (size_t)rows * sizeof( bool ) );
        tr_cluster_rows_on( &work->rows, from, to < work->last ? to : work->last, on );
        for ( int r = 0; r < rows; ++r )
            if ( !on[r] )
                goals[(size_t)s * (size_t)rows + (size_t)r] = tr_goal_off();
    }
    tr_cluster_job job = {
        .cluster = &work->rows.cluster, .def = work->def, .frame_count = spans, .goals = goals };
    ok = ( ok || tr_error_memory( error ) ) && tr_cluster_measure( &job, 1, need, error );
    tr_free( goals );
    tr_free( on );
    return ok;
}

typedef struct measuring {
    const tr_cluster_work *works;
    tr_cluster_need *needs; // [count of works]
    tr_first_failure failure;
} measuring;

static void measure_some( void *context, int begin, int end )
{
    measuring *m = context;
    tr_error error;
    for ( int w = begin; w < end; ++w )
        if ( !measure_scratch( &m->works[w], &m->needs[w], &error ) )
            tr_first_failure_note( &m->failure, w, &error );
}

// The largest need of the works.
static bool measure_all( const tr_cluster_work *works, int count, tr_cluster_need *need, tr_error *error )
{
    measuring m = { works, tr_alloc( (size_t)count, sizeof( tr_cluster_need ) ), .failure.job = -1 };
    if ( m.needs == NULL )
        return tr_error_memory( error );
    tr_parallel_for( count, 1, measure_some, &m );
    for ( int w = 0; w < count; ++w ) {
        need->lists = m.needs[w].lists > need->lists ? m.needs[w].lists : need->lists;
        need->part = m.needs[w].part > need->part ? m.needs[w].part : need->part;
    }
    tr_free( m.needs );
    if ( m.failure.job >= 0 )
        *error = m.failure.error;
    return m.failure.job < 0;
}

bool tr_work_scratch_build( tr_work_scratch *out, const tr_cluster_work *works, int count, tr_error *error )
{
    *out = ( tr_work_scratch ){ 0 };
    tr_cluster_need need = { 0 };
    size_t bytes = 0;
    if ( !measure_all( works, count, &need, error ) )
        return false;
    for ( int w = 0; w < count; ++w )
        bytes = scratch_bytes( &works[w] ) > bytes ? scratch_bytes( &works[w] ) : bytes;
    int threads = tr_parallel_threads();
    out->threads = tr_alloc( (size_t)threads, sizeof( tr_thread_scratch ) );
    out->graphs = tr_cluster_scratch_build( &need, error );
    if ( out->graphs == NULL || out->threads == NULL )
        return tr_error_memory( error );
    out->count = threads;
    for ( int t = 0; t < threads; ++t ) {
        out->threads[t] = ( tr_thread_scratch ){ .graphs = out->graphs, .memory = tr_alloc( bytes, 1 ) };
        if ( out->threads[t].memory == NULL )
            return tr_error_memory( error );
    }
    return true;
}

void tr_work_scratch_free( tr_work_scratch *scratch )
{
    for ( int t = 0; t < scratch->count; ++t )
        tr_free( scratch->threads[t].memory );
    tr_free( scratch->threads );
    tr_cluster_scratch_destroy( scratch->graphs );
    *scratch = ( tr_work_scratch ){ 0 };
}

// ---------------------------------------------------------------------------------------------------- run

typedef struct run { // frames first, first + stride, … of a work
    int first, stride, count;
} run;

static int frame_at( run r, int n )
{
    return r.first + n * r.stride;
}

static void pose_reference( const tr_cluster_work *work, tr_thread_scratch *scratch, run r )
{
    for ( int g = 0; g < work->node_count; ++g ) {
        size_t stride = TR_GRAPH_CORNERS * (size_t)graph_of( work, g )->joint_count;
        for ( int n = 0; !scratch->still[g] && n < r.count; ++n ) {
            vec3 *vertices = scratch->reference[g] + (size_t)n * stride;
            int f = frame_at( r, n );
            if ( is_prop( work, g ) )
                tr_posegraph_pose_box( graph_of( work, g ), work->result->tracks[prop_of( work, g )][f],
                                       vertices );
            else
                tr_posegraph_pose( graph_of( work, g ),
                                   tr_world_pose( &work->result->worlds[work->nodes[g]], f ), vertices );
        }
    }
}

// Where the last run left a graph in each frame, if it noted that: there this one begins.
static const tr_graph_kept *recall( tr_cluster_work *work, tr_thread_scratch *scratch, run r )
{
    if ( !work->warm || work->kept == 0 || r.stride % work->kept != 0 )
        return NULL;
    for ( int n = 0; n < r.count; ++n )
        for ( int g = 0; g < work->node_count; ++g ) {
            size_t joints = (size_t)graph_of( work, g )->joint_count,
                   at = (size_t)( frame_at( r, n ) / work->kept - work->first / work->kept ) * joints;
            scratch->kept[n * work->node_count + g] = ( tr_graph_kept ){
                work->moved[g] + TR_KEPT_PLACES * at, work->turned[g] + TR_KEPT_TURN * at };
        }
    return scratch->kept;
}

// Whether only the roots of the graphs are wanted.
static bool moves_roots_only( const tr_cluster_work *work )
{
    bool roots = !work->joints;
    for ( int g = 0; roots && g < work->node_count; ++g )
        roots = !is_prop( work, g );
    return roots;
}

static tr_cluster_job job_of( const tr_cluster_work *work, tr_thread_scratch *scratch, int frame_count )
{
    return ( tr_cluster_job ){ .cluster = &work->rows.cluster,
                               .def = work->def,
                               .frame_count = frame_count,
                               .reference = (const vec3 *const *)scratch->reference,
                               .goals = scratch->goals,
                               .vertices = scratch->vertices,
                               .rotations = scratch->rotations,
                               .scratch = scratch->graphs,
                               .still = scratch->still };
}

// A node that is affected in none of the frames is joined to none that is: its graph stays as it is.
static void find_still( const tr_cluster_work *work, tr_thread_scratch *scratch, const bool *affected, run r )
{
    for ( int g = 0; g < work->node_count; ++g ) {
        const bool *own =
            affected != NULL ? affected + (size_t)work->nodes[g] * (size_t)work->stage->frame_count : NULL;
        scratch->still[g] = own != NULL;
        for ( int n = 0; scratch->still[g] && n < r.count; ++n )
            scratch->still[g] = !own[frame_at( r, n )];
    }
}

static bool deform( tr_cluster_work *work, tr_thread_scratch *scratch, bool transfer, run r, tr_error *error )
{
    pose_reference( work, scratch, r );
    tr_cluster_rows_goals( &work->rows, work->result, scratch->still,
                           &( tr_goal_frames ){ .from = r.first,
                                                .to = frame_at( r, r.count - 1 ),
                                                .stride = r.stride,
                                                .goals = scratch->goals,
                                                .contacts = transfer ? scratch->contacts : NULL } );
    tr_cluster_job job = job_of( work, scratch, r.count );
    if ( transfer ) {
        job.goals = scratch->contacts;
        if ( !tr_cluster_transfer( &job, error ) )
            return false;
        job.goals = scratch->goals;
        job.reference = (const vec3 *const *)scratch->vertices;
    }
    job.kept = recall( work, scratch, r );
    job.roots_only = moves_roots_only( work );
    return tr_cluster_deform( &job, error );
}

// Props move to the places of their graphs and keep their rotations.
static void place_prop( tr_cluster_work *work, const tr_thread_scratch *scratch, int g, const bool *affected,
                        run r )
{
    size_t stride = TR_GRAPH_CORNERS * (size_t)graph_of( work, g )->joint_count;
    rigid *track = work->result->tracks[prop_of( work, g )];
    if ( affected != NULL )
        affected += (size_t)work->nodes[g] * (size_t)work->stage->frame_count;
    for ( int n = 0; !scratch->still[g] && n < r.count; ++n ) {
        size_t at = (size_t)n * stride;
        int f = frame_at( r, n );
        if ( affected == NULL || affected[f] )
            track[f].position =
                tr_posegraph_box( scratch->reference[g] + at, scratch->vertices[g] + at, track[f] ).position;
    }
}

// A character's joints by its graph: centroids, and the copied rotations turned with their cells. Frames in
// which the character is not affected stay, although they are solved in the same block.
static void read_graph( const tr_cluster_work *work, const tr_thread_scratch *scratch, int g,
                        const bool *affected, tr_graphs *out, run r )
{
    int actor = work->nodes[g];
    size_t joints = (size_t)graph_of( work, g )->joint_count;
    if ( affected != NULL )
        affected += (size_t)actor * (size_t)work->stage->frame_count;
    for ( int n = 0; n < r.count; ++n ) {
        int f = frame_at( r, n );
        out->shifts[actor][f] = v3_zero;
        if ( scratch->still[g] || ( affected != NULL && !affected[f] ) )
            continue;
        tr_pose copied = tr_world_pose( &work->result->worlds[actor], f );
        const vec3 *vertices = scratch->vertices[g] + (size_t)n * TR_GRAPH_CORNERS * joints;
        vec3 shift = v3_sub( tr_posegraph_joint( vertices, 0 ), copied.positions[0] );
        out->shifts[actor][f] = tr_reach_shift( work->stage, work->result, actor, f, shift );
        if ( !work->joints )
            continue;
        tr_pose pose = tr_world_pose( &out->worlds[actor], f );
        for ( size_t j = 0; j < joints; ++j )
            pose.positions[j] = tr_posegraph_joint( vertices, (int)j );
        if ( !work->turns[g] )
            continue;
        const quat *turns = scratch->rotations[g] + (size_t)n * joints;
        for ( size_t j = 0; j < joints; ++j )
            pose.rotations[j] = q_mul( turns[j], copied.rotations[j] );
    }
}

// Shifts of the frames that were left out. Beyond the last that is there, nothing is known better.
static void mix_shifts( const tr_cluster_work *work, vec3 *shifts, int from, int to )
{
    int stride = work->stride;
    for ( int f = from; f <= to; ++f ) {
        int before = f - f % stride, after = before + stride;
        if ( before < work->first )
            shifts[f] = after <= work->last ? shifts[after] : v3_zero;
        else if ( f != before )
            shifts[f] = after <= work->last
                            ? v3_lerp( shifts[before], shifts[after], (double)( f - before ) / stride )
                            : shifts[before];
    }
}

// ----------------------------------------------------------------------------------------------------- jobs

typedef struct crew { // all threads at work
    const tr_deform_run *run;
    tr_work_scratch *scratch;
    int block_count, frames; // of each cluster; frames to a block, but for the last
    int first, count;        // the first frame, all frames
    int job_count;
    atomic_int done;
    atomic_bool stopped;
    tr_first_failure failure;
} crew;

static bool run_block( const crew *c, tr_thread_scratch *scratch, tr_cluster_work *work, int block,
                       tr_error *error )
{
    int before = block * c->frames, left = c->count - before;
    run r = { c->first + before * work->stride, work->stride, left < c->frames ? left : c->frames };
    open_scratch( scratch, work );
    find_still( work, scratch, c->run->affected, r );
    if ( !deform( work, scratch, c->run->transfer, r, error ) )
        return false;
    for ( int g = 0; g < work->node_count; ++g )
        if ( is_prop( work, g ) )
            place_prop( work, scratch, g, c->run->affected, r );
        else
            read_graph( work, scratch, g, c->run->affected, c->run->graphs, r );
    return true;
}

static void run_jobs( void *context, int begin, int end )
{
    crew *c = context;
    int thread = tr_parallel_thread();
    tr_thread_scratch *scratch = &c->scratch->threads[thread];
    for ( int j = begin; j < end && !c->stopped; ++j ) {
        int done = atomic_fetch_add( &c->done, 1 );
        tr_error error;
        bool ok = tr_work_go_on( &error ) &&
                  ( thread != 0 || // progress is reported from one thread only
                    tr_progress_report( c->run->progress, done, 2 * c->job_count, &error ) );
        if ( !ok ||
             !run_block( c, scratch, &c->run->works[j / c->block_count], j % c->block_count, &error ) ) {
            tr_first_failure_note( &c->failure, j, &error );
            c->stopped = true;
        }
    }
}

bool tr_cluster_works_run( const tr_deform_run *todo, tr_work_scratch *scratch, tr_error *error )
{
    if ( todo->count == 0 )
        return true;
    const tr_cluster_work *like = todo->works; // all have the same frames
    assert( todo->from >= like->first && todo->to <= like->last && like->stride <= like->reach );
    int stride = like->stride, first = ( todo->from + stride - 1 ) / stride * stride;
    crew c = { .run = todo, .scratch = scratch, .first = first, .frames = tr_lanes_count( like->def.lanes ) };
    c.count = todo->to < first ? 0 : ( todo->to - first ) / stride + 1;
    c.block_count = ( c.count + c.frames - 1 ) / c.frames;
    c.job_count = todo->count * c.block_count;
    c.failure.job = -1;
    tr_parallel_for( c.job_count, 1, run_jobs, &c );
    if ( c.failure.job >= 0 ) {
        *error = c.failure.error;
        return false;
    }
    for ( int w = 0; stride > 1 && w < todo->count; ++w )
        for ( int g = 0; g < todo->works[w].node_count; ++g )
            if ( !is_prop( &todo->works[w], g ) )
                mix_shifts( &todo->works[w], todo->graphs->shifts[todo->works[w].nodes[g]],
                            todo->from - stride > like->first ? todo->from - stride : like->first, todo->to );
    return true;
}
