// The pose-graph method. Characters and props that rules link form clusters; each cluster is deformed as one
// system of graphs, then skeletons are fitted to the graphs, exactly, and what hands and props achieved is
// agreed upon:
//
//   copy ─► transfer (hard feet) ─► deformation (all rules) ─► fit ─► meet ─► fit ─► … until links agree
//
// Frames never look at one another, but for the root, whose way from the copied path is steadied before the
// fit, and where the result jumps: there it is calmed (cluster/calm.c). Whatever no skeleton can reach shows
// as residual after the last fit.
#include "scene/cluster/cluster.h"

#include <stdlib.h>

typedef struct clusters {
    const tr_stage *stage;
    tr_result *result;
    int *part;              // [node_count] the cluster a node is in
    int part_count;         //
    int *rule_begin;        // [part_count + 2] where its rules begin in `rules`
    int *rules;             // [rule_count] by cluster: that of their first point
    bool *nodes;            // [node_count] of the cluster that is being built
    tr_graph_store store;   //
    tr_cluster_work *works; // [work_count] the longest first
    int work_count;
} clusters;

static int node_count( const tr_stage *stage )
{
    return stage->actor_count + stage->prop_count;
}

static bool build_lists( clusters *c )
{
    const tr_stage *stage = c->stage;
    size_t nodes = (size_t)node_count( stage );
    c->part = tr_alloc( nodes, sizeof( int ) );
    c->nodes = tr_alloc( nodes, sizeof( bool ) );
    c->rules = tr_alloc( (size_t)stage->rule_count, sizeof( int ) );
    c->part_count = c->part != NULL ? tr_stage_partition( stage, false, c->part ) : -1;
    if ( c->part_count < 0 || c->nodes == NULL || c->rules == NULL )
        return false;
    c->rule_begin = tr_alloc( (size_t)c->part_count + 2, sizeof( int ) );
    c->works = tr_alloc( (size_t)c->part_count, sizeof( tr_cluster_work ) );
    if ( c->rule_begin == NULL || c->works == NULL )
        return false;
    for ( int r = 0; r < stage->rule_count; ++r ) { // two places ahead: filling moves each by one
        int node = tr_anchor_node( stage, &stage->rules[r].a );
        if ( node >= 0 )
            c->rule_begin[c->part[node] + 2]++;
    }
    for ( int p = 0; p <= c->part_count; ++p )
        c->rule_begin[p + 1] += c->rule_begin[p];
    for ( int r = 0; r < stage->rule_count; ++r ) {
        int node = tr_anchor_node( stage, &stage->rules[r].a );
        if ( node >= 0 )
            c->rules[c->rule_begin[c->part[node] + 1]++] = r;
    }
    return true;
}

// Nobody is in it but a prop that no rule speaks of: it stays on its track.
static bool is_idle( const clusters *c, int part )
{
    bool idle = c->rule_begin[part] == c->rule_begin[part + 1];
    for ( int n = 0; idle && n < c->stage->actor_count; ++n )
        idle = c->part[n] != part;
    return idle;
}

static bool build_work( clusters *c, int part, tr_error *error )
{
    for ( int n = 0; n < node_count( c->stage ); ++n )
        c->nodes[n] = c->part[n] == part;
    tr_cluster_work *work = &c->works[c->work_count++];
    *work = ( tr_cluster_work ){ .stage = c->stage,
                                 .store = &c->store,
                                 .result = c->result,
                                 .last = c->stage->frame_count - 1,
                                 .joints = true,
                                 .stride = 1,
                                 .reach = 1,
                                 .def = tr_default_cluster_def() };
    int begin = c->rule_begin[part];
    return tr_cluster_work_build( work, c->nodes, c->rules + begin, c->rule_begin[part + 1] - begin, error );
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
    tr_free( c->rule_begin );
    tr_free( c->rules );
    tr_free( c->nodes );
    tr_free( c->works );
}

static bool solve_clusters( const tr_stage *stage, tr_result *result, tr_graphs *graphs, tr_error *error )
{
    clusters c = { .stage = stage, .result = result };
    tr_work_rooms rooms = { 0 };
    bool ok = ( build_lists( &c ) || tr_error_memory( error ) ) &&
              tr_graph_store_build( &c.store, stage, error ) && build_works( &c, error ) &&
              tr_work_rooms_build( &rooms, c.works, c.work_count, error );
    ok = ok && tr_cluster_works_run( &( tr_deform_run ){ .works = c.works,
                                                         .count = c.work_count,
                                                         .transfer = true,
                                                         .graphs = graphs,
                                                         .to = stage->frame_count - 1,
                                                         .progress = stage->progress },
                                     &rooms, error );
    tr_work_rooms_free( &rooms );
    clusters_free( &c );
    return ok;
}

// -------------------------------------------------------------------------------------------------- method

static bool fit( const tr_stage *stage, tr_result *result, const tr_graphs *graphs, tr_error *error )
{
    tr_cluster_fit_def def = tr_default_cluster_fit_def( stage, result, graphs );
    tr_cluster_fitter *fitter = tr_cluster_fitter_create( &def, error );
    bool ok = fitter != NULL && tr_cluster_fitter_run( fitter, 0, stage->frame_count - 1, error );
    tr_cluster_fitter_destroy( fitter );
    return ok;
}

bool tr_copy_pose( const tr_stage *stage, tr_result *result, tr_error *error )
{
    return tr_solve_copy( stage, result, error ) &&
           tr_worlds_build( result->worlds, result->motions, stage->actor_count, error ) &&
           tr_bodies_lift( stage, result, error );
}

bool tr_solve_frames( const tr_stage *stage, tr_result *result, tr_error *error )
{
    tr_graphs graphs;
    bool ok = tr_graphs_build( &graphs, stage, NULL, NULL, error ) && tr_copy_pose( stage, result, error ) &&
              solve_clusters( stage, result, &graphs, error ) && fit( stage, result, &graphs, error );
    tr_graphs_free( &graphs );
    return ok;
}

bool tr_solve_posegraph( const tr_stage *stage, tr_result *result, tr_error *error )
{
    return tr_solve_frames( stage, result, error ) && tr_calm( stage, result, error );
}
