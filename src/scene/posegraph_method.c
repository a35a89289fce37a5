// The pose-graph method. Characters and props that rules link form clusters; each cluster is deformed as one
// system of graphs, then skeletons are fitted to the graphs, exactly, and what hands and props achieved is
// agreed upon:
//
//   copy ─► transfer (hard feet) ─► deformation (all rules) ─► fit ─► meet ─► fit ─► … until links agree to a
//   millimetre
//
// Frames never look at one another, but for the root, whose way from the copied path is steadied before the
// fit. Whatever no skeleton can reach shows as residual after the last fit.
#include "scene/cluster.h"

// ------------------------------------------------------------------------------------------------ clusters

typedef struct cluster_work {
    const tr_stage *stage;
    tr_result *result;      // worlds and tracks hold the state so far: copied, then fitted
    int first, frame_count; // frames at work
    int *nodes;             // [node_count] of the stage that belong to it; the cluster's graphs in this order
    int node_count;
    tr_posegraph *graphs; // [node_count]
    tr_cluster_rows rows;
    tr_goal *goals;   // [frame_count * row_count]
    vec3 **reference; // [node_count][frame_count * 3 * joint_count]
    vec3 **vertices;  // the same
    quat **rotations; // [node_count][frame_count * joint_count]
} cluster_work;

static bool is_prop( const cluster_work *work, int graph )
{
    return work->nodes[graph] >= work->stage->actor_count;
}

static int prop_of( const cluster_work *work, int graph )
{
    return work->nodes[graph] - work->stage->actor_count;
}

static void cluster_free( cluster_work *work )
{
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
    tr_free( work->graphs );
    tr_free( work->reference );
    tr_free( work->vertices );
    tr_free( work->rotations );
    tr_free( work->goals );
}

static bool build_graph( cluster_work *work, int g, tr_error *error )
{
    tr_posegraph_def def = tr_default_posegraph_def();
    if ( is_prop( work, g ) ) {
        const tr_stage_prop *prop = &work->stage->props[prop_of( work, g )];
        return tr_posegraph_build_box( &work->graphs[g], v3_scale( prop->scale, prop->size ), &def, error );
    }
    const tr_actor *actor = &work->stage->actors[work->nodes[g]];
    return tr_posegraph_build( &work->graphs[g], &actor->target, &actor->body, &def, error );
}

static bool allocate_frames( cluster_work *work, int g )
{
    size_t joints = (size_t)work->graphs[g].joint_count, frames = (size_t)work->frame_count;
    work->reference[g] = tr_alloc( frames * 3 * joints, sizeof( vec3 ) );
    work->vertices[g] = tr_alloc( frames * 3 * joints, sizeof( vec3 ) );
    work->rotations[g] = tr_alloc( frames * joints, sizeof( quat ) );
    return work->reference[g] != NULL && work->vertices[g] != NULL && work->rotations[g] != NULL;
}

static bool cluster_build( cluster_work *work, const int *graph_of_node, tr_error *error )
{
    size_t count = (size_t)work->node_count;
    work->graphs = tr_alloc( count, sizeof( tr_posegraph ) );
    work->reference = tr_alloc( count, sizeof( vec3 * ) );
    work->vertices = tr_alloc( count, sizeof( vec3 * ) );
    work->rotations = tr_alloc( count, sizeof( quat * ) );
    if ( work->graphs == NULL || work->reference == NULL || work->vertices == NULL ||
         work->rotations == NULL )
        return tr_error_memory( error );
    work->rows = ( tr_cluster_rows ){ .stage = work->stage,
                                      .first = work->first,
                                      .frame_count = work->frame_count,
                                      .graph_of_node = graph_of_node };
    for ( int g = 0; g < work->node_count; ++g )
        if ( !build_graph( work, g, error ) )
            return false;
        else if ( tr_cluster_add_graph( &work->rows.cluster, &work->graphs[g] ) < 0 ||
                  !allocate_frames( work, g ) )
            return tr_error_memory( error );
    if ( !tr_cluster_rows_build( &work->rows, error ) )
        return false;
    work->goals =
        tr_alloc( (size_t)work->frame_count * (size_t)work->rows.cluster.row_count, sizeof( tr_goal ) );
    return work->goals != NULL || tr_error_memory( error );
}

// --------------------------------------------------------------------------------------------- deformation

static void pose_reference( cluster_work *work )
{
    for ( int g = 0; g < work->node_count; ++g ) {
        size_t stride = 3 * (size_t)work->graphs[g].joint_count;
        for ( int f = 0; f < work->frame_count; ++f ) {
            vec3 *vertices = work->reference[g] + (size_t)f * stride;
            int at = work->first + f;
            if ( is_prop( work, g ) )
                tr_posegraph_pose_box( &work->graphs[g], work->result->tracks[prop_of( work, g )][at],
                                       vertices );
            else
                tr_posegraph_pose( &work->graphs[g],
                                   tr_world_pose( &work->result->worlds[work->nodes[g]], at ), vertices );
        }
    }
}

// The transfer brings copied poses to their contacts; poses that were solved before are there already.
static bool deform( cluster_work *work, bool transfer, tr_error *error )
{
    pose_reference( work );
    tr_cluster_job job = { .cluster = &work->rows.cluster,
                           .def = tr_default_cluster_def(),
                           .frame_count = work->frame_count,
                           .reference = (const vec3 *const *)work->reference,
                           .goals = work->goals,
                           .vertices = work->vertices,
                           .rotations = work->rotations };
    if ( transfer ) {
        tr_cluster_rows_goals( &work->rows, work->result, true, work->goals );
        if ( !tr_cluster_transfer( &job, error ) )
            return false;
        job.reference = (const vec3 *const *)work->vertices;
    }
    tr_cluster_rows_goals( &work->rows, work->result, false, work->goals );
    return tr_cluster_deform( &job, error );
}

static bool is_affected( const cluster_work *work, const bool *affected, int node, int frame )
{
    return affected == NULL || affected[(size_t)node * (size_t)work->stage->frame_count + (size_t)frame];
}

// Props take the place their graph came to, turned as before.
static void place_props( cluster_work *work, const bool *affected )
{
    for ( int g = 0; g < work->node_count; ++g ) {
        if ( !is_prop( work, g ) )
            continue;
        size_t stride = 3 * (size_t)work->graphs[g].joint_count;
        rigid *track = work->result->tracks[prop_of( work, g )];
        for ( int f = 0; f < work->frame_count; ++f ) {
            rigid *place = &track[work->first + f];
            if ( is_affected( work, affected, work->nodes[g], work->first + f ) )
                place->position = tr_posegraph_box( work->reference[g] + (size_t)f * stride,
                                                    work->vertices[g] + (size_t)f * stride, *place )
                                      .position;
        }
    }
}

// What the graph says about a character's joints: centroids, and the copied rotations turned with their
// cells.
static void read_graph( const cluster_work *work, int g, tr_world *out )
{
    size_t joints = (size_t)work->graphs[g].joint_count;
    for ( int f = 0; f < work->frame_count; ++f ) {
        tr_pose copied = tr_world_pose( &work->result->worlds[work->nodes[g]], work->first + f ),
                pose = tr_world_pose( out, work->first + f );
        const vec3 *vertices = work->vertices[g] + (size_t)f * 3 * joints;
        const quat *turns = work->rotations[g] + (size_t)f * joints;
        for ( size_t j = 0; j < joints; ++j ) {
            pose.positions[j] = tr_posegraph_joint( vertices, (int)j );
            pose.rotations[j] = q_unit( q_mul( turns[j], copied.rotations[j] ) );
        }
    }
}

static bool solve_cluster( cluster_work *work, const int *graph_of_node, const bool *affected,
                           tr_world *graph_worlds, tr_error *error )
{
    bool ok = cluster_build( work, graph_of_node, error ) && deform( work, affected == NULL, error );
    for ( int g = 0; ok && g < work->node_count; ++g )
        if ( !is_prop( work, g ) )
            read_graph( work, g, &graph_worlds[work->nodes[g]] );
    if ( ok )
        place_props( work, affected );
    cluster_free( work );
    return ok;
}

static bool prop_has_rules( const tr_stage *stage, int prop )
{
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].a.prop == prop || stage->rules[r].b.prop == prop )
            return true;
    return false;
}

// Every cluster on its own; `part` says which cluster a node is in.
static bool solve_clusters( const tr_stage *stage, tr_result *result, const int *part, int part_count,
                            tr_world *graph_worlds, tr_error *error )
{
    int node_count = stage->actor_count + stage->prop_count;
    int *nodes = tr_alloc( (size_t)node_count, sizeof( int ) );
    int *graph_of_node = tr_alloc( (size_t)node_count, sizeof( int ) );
    bool ok = ( nodes != NULL && graph_of_node != NULL ) || tr_error_memory( error );
    for ( int p = 0; ok && p < part_count; ++p ) {
        cluster_work work = {
            .stage = stage, .result = result, .frame_count = stage->frame_count, .nodes = nodes };
        for ( int n = 0; n < node_count; ++n ) {
            graph_of_node[n] = part[n] == p ? work.node_count : -1;
            if ( part[n] == p )
                nodes[work.node_count++] = n;
        }
        bool idle = work.node_count == 1 && nodes[0] >= stage->actor_count &&
                    !prop_has_rules( stage, nodes[0] - stage->actor_count );    // stays on its track
        ok = tr_progress_report( stage->progress, p, 2 * part_count, error ) && // the other half is the fit
             ( idle || solve_cluster( &work, graph_of_node, NULL, graph_worlds, error ) );
    }
    tr_free( nodes );
    tr_free( graph_of_node );
    return ok;
}

// -------------------------------------------------------------------------------------------------- method

static void free_worlds( tr_world *worlds, int count )
{
    for ( int i = 0; worlds != NULL && i < count; ++i )
        tr_world_free( &worlds[i] );
    tr_free( worlds );
}

// The copied pose: where the graphs start, and what `graphs` is allocated like.
static bool copy_pose( const tr_stage *stage, tr_result *result, tr_world *graphs, tr_error *error )
{
    if ( graphs == NULL )
        return tr_error_memory( error );
    if ( !tr_solve_copy( stage, result, error ) )
        return false;
    for ( int i = 0; i < stage->actor_count; ++i )
        if ( !tr_world_build( &result->worlds[i], &result->motions[i], error ) ||
             !tr_world_build( &graphs[i], &result->motions[i], error ) )
            return false;
    return true;
}

bool tr_solve_posegraph( const tr_stage *stage, tr_result *result, tr_error *error )
{
    tr_world *graphs = tr_alloc( (size_t)stage->actor_count, sizeof( tr_world ) );
    int *part = tr_alloc( (size_t)( stage->actor_count + stage->prop_count ), sizeof( int ) );
    int parts = part != NULL ? tr_stage_partition( stage, false, part ) : -1;
    bool ok = parts >= 0 || tr_error_memory( error );
    ok = ok && copy_pose( stage, result, graphs, error ) &&
         solve_clusters( stage, result, part, parts, graphs, error ) &&
         tr_cluster_fit( stage, result, graphs, NULL, error );
    free_worlds( graphs, stage->actor_count );
    tr_free( part );
    return ok;
}

// -------------------------------------------------------------------------------------------------- settle

static bool ever_affected( const tr_stage *stage, const bool *affected, int node )
{
    const bool *frames = affected + (size_t)node * (size_t)stage->frame_count;
    for ( int f = 0; f < stage->frame_count; ++f )
        if ( frames[f] )
            return true;
    return false;
}

static bool settle( cluster_work *work, const bool *affected, int *graph_of_node, tr_world *graphs,
                    tr_error *error )
{
    const tr_stage *stage = work->stage;
    for ( int n = 0; n < stage->actor_count + stage->prop_count; ++n ) {
        graph_of_node[n] = -1;
        if ( !ever_affected( stage, affected, n ) )
            continue;
        graph_of_node[n] = work->node_count;
        work->nodes[work->node_count++] = n;
        if ( n < stage->actor_count && !tr_world_build( &graphs[n], &work->result->motions[n], error ) )
            return false;
    }
    return work->node_count == 0 || ( solve_cluster( work, graph_of_node, affected, graphs, error ) &&
                                      tr_cluster_fit( stage, work->result, graphs, affected, error ) );
}

bool tr_cluster_settle( const tr_stage *stage, tr_result *result, const bool *affected, int first, int last,
                        tr_error *error )
{
    size_t nodes = (size_t)( stage->actor_count + stage->prop_count );
    cluster_work work = { .stage = stage, .result = result, .first = first, .frame_count = last - first + 1 };
    work.nodes = tr_alloc( nodes, sizeof( int ) );
    int *graph_of_node = tr_alloc( nodes, sizeof( int ) );
    tr_world *graphs = tr_alloc( (size_t)stage->actor_count, sizeof( tr_world ) );
    bool ok = ( work.nodes != NULL && graph_of_node != NULL && graphs != NULL ) || tr_error_memory( error );
    ok = ok && settle( &work, affected, graph_of_node, graphs, error );
    free_worlds( graphs, stage->actor_count );
    tr_free( work.nodes );
    tr_free( graph_of_node );
    return ok;
}
