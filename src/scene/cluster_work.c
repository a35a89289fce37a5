// A cluster at work: graphs, rows and memory of frames, built once, run as often as poses change.
#include "scene/cluster.h"

#include <assert.h>

// -------------------------------------------------------------------------------------------------- build

static bool is_prop( const tr_cluster_work *work, int graph )
{
    return work->nodes[graph] >= work->stage->actor_count;
}

static int prop_of( const tr_cluster_work *work, int graph )
{
    return work->nodes[graph] - work->stage->actor_count;
}

void tr_cluster_work_free( tr_cluster_work *work )
{
    tr_cluster_scratch_destroy( work->scratch );
    tr_cluster_rows_free( &work->rows );
    for ( int g = 0; g < work->node_count; ++g ) {
        if ( work->graphs != NULL )
            tr_posegraph_free( &work->graphs[g] );
        if ( work->reference != NULL )
            tr_free( work->reference[g] );
        if ( work->vertices != NULL )
            tr_free( work->vertices[g] );
        if ( work->rotations != NULL )
            tr_free( work->rotations[g] );
    }
    tr_free( work->nodes );
    tr_free( work->graph_of_node );
    tr_free( work->graphs );
    tr_free( work->reference );
    tr_free( work->vertices );
    tr_free( work->rotations );
    tr_free( work->goals );
    *work = ( tr_cluster_work ){ 0 };
}

static bool build_graph( tr_cluster_work *work, int g, tr_error *error )
{
    tr_posegraph_def def = tr_default_posegraph_def();
    if ( is_prop( work, g ) ) {
        const tr_stage_prop *prop = &work->stage->props[prop_of( work, g )];
        return tr_posegraph_build_box( &work->graphs[g], v3_scale( prop->scale, prop->size ), &def, error );
    }
    const tr_actor *actor = &work->stage->actors[work->nodes[g]];
    return tr_posegraph_build( &work->graphs[g], &actor->target, &actor->body, &def, error );
}

static bool allocate_frames( tr_cluster_work *work, int g )
{
    size_t joints = (size_t)work->graphs[g].joint_count, frames = (size_t)work->chunk;
    work->reference[g] = tr_alloc( frames * 3 * joints, sizeof( vec3 ) );
    work->vertices[g] = tr_alloc( frames * 3 * joints, sizeof( vec3 ) );
    work->rotations[g] = tr_alloc( frames * joints, sizeof( quat ) );
    return work->reference[g] != NULL && work->vertices[g] != NULL && work->rotations[g] != NULL;
}

static bool find_nodes( tr_cluster_work *work, const bool *nodes )
{
    int count = work->stage->actor_count + work->stage->prop_count;
    work->nodes = tr_alloc( (size_t)count, sizeof( int ) );
    work->graph_of_node = tr_alloc( (size_t)count, sizeof( int ) );
    if ( work->nodes == NULL || work->graph_of_node == NULL )
        return false;
    for ( int n = 0; n < count; ++n ) {
        work->graph_of_node[n] = nodes[n] ? work->node_count : -1;
        if ( nodes[n] )
            work->nodes[work->node_count++] = n;
    }
    return true;
}

static bool build_graphs( tr_cluster_work *work, tr_error *error )
{
    size_t count = (size_t)work->node_count;
    work->graphs = tr_alloc( count, sizeof( tr_posegraph ) );
    work->reference = tr_alloc( count, sizeof( vec3 * ) );
    work->vertices = tr_alloc( count, sizeof( vec3 * ) );
    work->rotations = tr_alloc( count, sizeof( quat * ) );
    if ( work->graphs == NULL || work->reference == NULL || work->vertices == NULL ||
         work->rotations == NULL )
        return tr_error_memory( error );
    for ( int g = 0; g < work->node_count; ++g )
        if ( !build_graph( work, g, error ) )
            return false;
        else if ( tr_cluster_add_graph( &work->rows.cluster, &work->graphs[g] ) < 0 ||
                  !allocate_frames( work, g ) )
            return tr_error_memory( error );
    return true;
}

static tr_cluster_job job_of( const tr_cluster_work *work, int frame_count )
{
    return ( tr_cluster_job ){ .cluster = &work->rows.cluster,
                               .def = work->def,
                               .frame_count = frame_count,
                               .reference = (const vec3 *const *)work->reference,
                               .goals = work->goals,
                               .vertices = work->vertices,
                               .rotations = work->rotations,
                               .scratch = work->scratch };
}

// Scratch for the frames in which most is asked for: which rows are on does not depend on poses.
static bool build_scratch( tr_cluster_work *work, tr_error *error )
{
    int frames = work->last - work->first + 1;
    tr_goal *goals = tr_alloc( (size_t)frames * (size_t)work->rows.cluster.row_count, sizeof( tr_goal ) );
    if ( goals == NULL )
        return tr_error_memory( error );
    tr_cluster_rows_goals( &work->rows, work->result, false, work->first, work->last, goals );
    tr_cluster_job job = job_of( work, frames );
    job.goals = goals;
    work->scratch = tr_cluster_scratch_create( &job, error );
    tr_free( goals );
    return work->scratch != NULL;
}

bool tr_cluster_work_build( tr_cluster_work *work, const bool *nodes, tr_error *error )
{
    if ( !find_nodes( work, nodes ) )
        return tr_error_memory( error );
    work->rows = ( tr_cluster_rows ){ .stage = work->stage,
                                      .first = work->first,
                                      .frame_count = work->last - work->first + 1,
                                      .graph_of_node = work->graph_of_node };
    if ( !build_graphs( work, error ) || !tr_cluster_rows_build( &work->rows, error ) )
        return false;
    work->goals = tr_alloc( (size_t)work->chunk * (size_t)work->rows.cluster.row_count, sizeof( tr_goal ) );
    return work->goals != NULL ? build_scratch( work, error ) : tr_error_memory( error );
}

// ---------------------------------------------------------------------------------------------------- run

static void pose_reference( const tr_cluster_work *work, int from, int to )
{
    for ( int g = 0; g < work->node_count; ++g ) {
        size_t stride = 3 * (size_t)work->graphs[g].joint_count;
        for ( int f = from; f <= to; ++f ) {
            vec3 *vertices = work->reference[g] + (size_t)( f - from ) * stride;
            if ( is_prop( work, g ) )
                tr_posegraph_pose_box( &work->graphs[g], work->result->tracks[prop_of( work, g )][f],
                                       vertices );
            else
                tr_posegraph_pose( &work->graphs[g],
                                   tr_world_pose( &work->result->worlds[work->nodes[g]], f ), vertices );
        }
    }
}

static bool deform( const tr_cluster_work *work, bool transfer, int from, int to, tr_error *error )
{
    pose_reference( work, from, to );
    tr_cluster_job job = job_of( work, to - from + 1 );
    if ( transfer ) {
        tr_cluster_rows_goals( &work->rows, work->result, true, from, to, work->goals );
        if ( !tr_cluster_transfer( &job, error ) )
            return false;
        job.reference = (const vec3 *const *)work->vertices;
    }
    tr_cluster_rows_goals( &work->rows, work->result, false, from, to, work->goals );
    return tr_cluster_deform( &job, error );
}

// Props take the place their graph came to, turned as before.
static void place_prop( const tr_cluster_work *work, int g, const bool *affected, int from, int to )
{
    size_t stride = 3 * (size_t)work->graphs[g].joint_count;
    rigid *track = work->result->tracks[prop_of( work, g )];
    if ( affected != NULL )
        affected += (size_t)work->nodes[g] * (size_t)work->stage->frame_count;
    for ( int f = from; f <= to; ++f ) {
        size_t at = (size_t)( f - from ) * stride;
        if ( affected == NULL || affected[f] )
            track[f].position =
                tr_posegraph_box( work->reference[g] + at, work->vertices[g] + at, track[f] ).position;
    }
}

// What the graph says about a character's joints: centroids, and the copied rotations turned with their
// cells.
static void read_graph( const tr_cluster_work *work, int g, tr_graphs *out, int from, int to )
{
    int actor = work->nodes[g];
    size_t joints = (size_t)work->graphs[g].joint_count;
    for ( int f = from; f <= to; ++f ) {
        tr_pose copied = tr_world_pose( &work->result->worlds[actor], f ),
                pose = tr_world_pose( &out->worlds[actor], f );
        const vec3 *vertices = work->vertices[g] + (size_t)( f - from ) * 3 * joints;
        const quat *turns = work->rotations[g] + (size_t)( f - from ) * joints;
        for ( size_t j = 0; j < joints; ++j ) {
            pose.positions[j] = tr_posegraph_joint( vertices, (int)j );
            pose.rotations[j] = q_unit( q_mul( turns[j], copied.rotations[j] ) );
        }
        out->shifts[actor][f] = v3_sub( pose.positions[0], copied.positions[0] );
    }
}

bool tr_cluster_work_run( tr_cluster_work *work, bool transfer, const bool *affected, tr_graphs *graphs,
                          int from, int to, tr_error *error )
{
    assert( from >= work->first && to <= work->last && to - from < work->chunk );
    if ( !deform( work, transfer, from, to, error ) )
        return false;
    for ( int g = 0; g < work->node_count; ++g )
        if ( is_prop( work, g ) )
            place_prop( work, g, affected, from, to );
        else
            read_graph( work, g, graphs, from, to );
    return true;
}

// -------------------------------------------------------------------------------------------------- graphs

static bool build_world( tr_world *out, int joint_count, int frame_count )
{
    size_t cells = (size_t)joint_count * (size_t)frame_count;
    *out = ( tr_world ){ .joint_count = joint_count, .frame_count = frame_count };
    out->rotations = tr_alloc( cells, sizeof( quat ) );
    out->positions = tr_alloc( cells, sizeof( vec3 ) );
    return out->rotations != NULL && out->positions != NULL;
}

bool tr_graphs_build( tr_graphs *out, const tr_stage *stage, const bool *nodes, tr_error *error )
{
    *out = ( tr_graphs ){ .actor_count = stage->actor_count };
    out->worlds = tr_alloc( (size_t)stage->actor_count, sizeof( tr_world ) );
    out->shifts = tr_alloc( (size_t)stage->actor_count, sizeof( vec3 * ) );
    bool ok = out->worlds != NULL && out->shifts != NULL;
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        if ( nodes == NULL || nodes[i] ) {
            out->shifts[i] = tr_alloc( (size_t)stage->frame_count, sizeof( vec3 ) );
            ok = out->shifts[i] != NULL &&
                 build_world( &out->worlds[i], stage->actors[i].target.joint_count, stage->frame_count );
        }
    return ok || tr_error_memory( error );
}

void tr_graphs_free( tr_graphs *graphs )
{
    for ( int i = 0; graphs->worlds != NULL && i < graphs->actor_count; ++i )
        tr_world_free( &graphs->worlds[i] );
    for ( int i = 0; graphs->shifts != NULL && i < graphs->actor_count; ++i )
        tr_free( graphs->shifts[i] );
    tr_free( graphs->worlds );
    tr_free( graphs->shifts );
    *graphs = ( tr_graphs ){ 0 };
}
