// The pose-graph method. Characters and props that rules link form clusters. Each cluster is deformed as one
// system of graphs; then skeletons are fitted to the graphs exactly, and linked hands and props meet where
// all can reach:
//
//   copy ─► transfer (hard feet) ─► deformation (all rules) ─► fit ─► meet ─► fit ─► … until links agree
//
// Frames are independent, with two exceptions: the shift of the root from the copied path is averaged over
// time before the fit, and jumps of the result are smoothed (cluster/calm.c). The residual after the last fit
// is what no skeleton can reach.
#include "cluster/private.h"

#include <stdlib.h>

typedef struct clusters {
    const tr_stage *stage;
    tr_result *result;
    int *part;              // [node_count] the cluster a node is in
    int part_count;         //
    bool *joints;           // [part_count] the fit reads all joints of its graphs
    tr_lists nodes;         // of each cluster
    tr_lists rules;         // of each cluster, by their first point
    tr_graph_store store;   //
    tr_cluster_work *works; // [work_count] the longest first
    int work_count;
} clusters;

static int node_count( const tr_stage *stage )
{
    return stage->actor_count + stage->prop_count;
}

static bool find_clusters( clusters *c )
{
    c->part = tr_alloc( (size_t)node_count( c->stage ), sizeof( int ) );
    c->part_count = c->part != NULL ? tr_stage_partition( c->stage, false, c->part ) : -1;
    if ( c->part_count < 0 )
        return false;
    c->joints = tr_alloc( (size_t)c->part_count, sizeof( bool ) );
    c->works = tr_alloc( (size_t)c->part_count, sizeof( tr_cluster_work ) );
    return c->joints != NULL && c->works != NULL &&
           tr_sets_find_joint_needs( c->stage, c->part, c->part_count, c->joints ) &&
           tr_lists_build( &c->nodes, c->part, node_count( c->stage ), c->part_count ) &&
           tr_rules_by_set( c->stage, c->part, c->part_count, &c->rules );
}

// Whether a cluster is a single prop without rules: it stays on its track.
static bool is_idle( const clusters *c, int part )
{
    return c->rules.first[part] == c->rules.first[part + 1] &&
           c->nodes.items[c->nodes.first[part]] >= c->stage->actor_count;
}

static bool build_work( clusters *c, int part, tr_error *error )
{
    tr_cluster_work *work = &c->works[c->work_count++];
    *work = ( tr_cluster_work ){ .stage = c->stage,
                                 .store = &c->store,
                                 .result = c->result,
                                 .last = c->stage->frame_count - 1,
                                 .joints = c->joints[part],
                                 .stride = 1,
                                 .reach = 1,
                                 .def = tr_default_cluster_def() };
    const int *nodes = c->nodes.first + part, *rules = c->rules.first + part;
    return tr_cluster_work_build( work, c->nodes.items + nodes[0], nodes[1] - nodes[0],
                                  c->rules.items + rules[0], rules[1] - rules[0], error );
}

static int by_cost( const void *a, const void *b ) // then by the first node
{
    const tr_cluster_work *p = a, *q = b;
    return p->joint_count != q->joint_count ? q->joint_count - p->joint_count : p->nodes[0] - q->nodes[0];
}

static bool build_works( clusters *c, tr_error *error )
{
    for ( int p = 0; p < c->part_count; ++p )
        if ( !is_idle( c, p ) && !build_work( c, p, error ) )
            return false;
    if ( c->work_count > 0 )
        qsort( c->works, (size_t)c->work_count, sizeof( tr_cluster_work ), by_cost );
    return true;
}

static void clusters_free( clusters *c )
{
    for ( int w = 0; w < c->work_count; ++w )
        tr_cluster_work_free( &c->works[w] );
    if ( c->store.stage != NULL )
        tr_graph_store_free( &c->store );
    tr_free( c->part );
    tr_free( c->joints );
    tr_lists_free( &c->nodes );
    tr_lists_free( &c->rules );
    tr_free( c->works );
}

static bool solve_clusters( const tr_stage *stage, tr_result *result, tr_graphs *graphs, tr_error *error )
{
    clusters c = { .stage = stage, .result = result };
    tr_work_scratch scratch = { 0 };
    bool ok = ( find_clusters( &c ) || tr_error_memory( error ) ) &&
              tr_graphs_build( graphs, stage, c.part, c.joints, error ) &&
              tr_graph_store_build( &c.store, stage, error ) && build_works( &c, error ) &&
              tr_work_scratch_build( &scratch, c.works, c.work_count, error );
    ok = ok && tr_cluster_works_run( &( tr_deform_run ){ .works = c.works,
                                                         .count = c.work_count,
                                                         .transfer = true,
                                                         .graphs = graphs,
                                                         .to = stage->frame_count - 1,
                                                         .progress = stage->progress },
                                     &scratch, error );
    tr_work_scratch_free( &scratch );
    clusters_free( &c );
    return ok;
}

// -------------------------------------------------------------------------------------------------- method

static bool fit( const tr_stage *stage, tr_result *result, const tr_graphs *graphs, bool in_time,
                 tr_error *error )
{
    tr_cluster_fit_def def = tr_default_cluster_fit_def( stage, result, graphs );
    def.in_time = in_time;
    tr_cluster_fitter *fitter = tr_cluster_fitter_create( &def, error );
    bool ok = fitter != NULL && tr_cluster_fitter_run( fitter, 0, stage->frame_count - 1, error );
    tr_cluster_fitter_destroy( fitter );
    return ok;
}

bool tr_copy_pose( const tr_stage *stage, tr_result *result, tr_error *error )
{
    return tr_result_copy_source( stage, result, error ) && tr_bodies_lift( stage, result, error );
}

static bool solve( const tr_stage *stage, tr_result *result, bool in_time, tr_error *error )
{
    tr_graphs graphs = { 0 };
    bool ok = tr_copy_pose( stage, result, error ) && solve_clusters( stage, result, &graphs, error ) &&
              fit( stage, result, &graphs, in_time, error );
    tr_graphs_free( &graphs );
    return ok;
}

bool tr_solve_frames( const tr_stage *stage, tr_result *result, tr_error *error )
{
    return solve( stage, result, false, error );
}

bool tr_solve_in_time( const tr_stage *stage, tr_result *result, tr_error *error )
{
    return solve( stage, result, true, error );
}
