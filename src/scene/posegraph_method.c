// The pose-graph method. Characters and props that rules link form clusters; each cluster is deformed as one
// system of graphs, then skeletons are fitted to the graphs, exactly, and what hands and props achieved is
// agreed upon:
//
//   copy ─► transfer (hard feet) ─► deformation (all rules) ─► fit ─► meet ─► fit ─► … until links agree
//
// Frames never look at one another, but for the root, whose way from the copied path is steadied before the
// fit. Whatever no skeleton can reach shows as residual after the last fit.
#include "scene/cluster.h"

static bool prop_has_rules( const tr_stage *stage, int prop )
{
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].a.prop == prop || stage->rules[r].b.prop == prop )
            return true;
    return false;
}

// Frames that go through the graphs together: few, so that their vertices stay near the processor, but
// enough for all threads. Whole blocks of lanes, so no bit depends on how many.
static int frames_at_once( const tr_stage *stage )
{
    int blocks = 2 * tr_parallel_threads(), frames = 8 * ( blocks < 4 ? 4 : blocks );
    return frames < stage->frame_count ? frames : stage->frame_count;
}

static bool solve_cluster( const tr_stage *stage, tr_result *result, const bool *nodes, tr_graph_store *store,
                           tr_graphs *graphs, tr_error *error )
{
    tr_cluster_work work = { .stage = stage,
                             .store = store,
                             .result = result,
                             .last = stage->frame_count - 1,
                             .chunk = frames_at_once( stage ),
                             .stride = 1,
                             .def = tr_default_cluster_def() };
    bool ok = tr_cluster_work_build( &work, nodes, error );
    for ( int f = 0; ok && f <= work.last; f += work.chunk ) {
        int to = f + work.chunk - 1;
        ok = tr_cluster_work_run( &work, true, NULL, graphs, f, to < work.last ? to : work.last, error );
    }
    tr_cluster_work_free( &work );
    return ok;
}

// Every cluster on its own; `part` says which cluster a node is in.
static bool solve_clusters( const tr_stage *stage, tr_result *result, const int *part, int part_count,
                            tr_graphs *graphs, tr_error *error )
{
    int node_count = stage->actor_count + stage->prop_count;
    tr_graph_store store = { 0 };
    bool *nodes = tr_alloc( (size_t)node_count, sizeof( bool ) );
    bool ok = ( nodes != NULL || tr_error_memory( error ) ) && tr_graph_store_build( &store, stage, error );
    for ( int p = 0; ok && p < part_count; ++p ) {
        int count = 0, last = 0;
        for ( int n = 0; n < node_count; ++n )
            if ( ( nodes[n] = part[n] == p ) ) {
                count++;
                last = n;
            }
        bool idle = count == 1 && last >= stage->actor_count &&
                    !prop_has_rules( stage, last - stage->actor_count );        // stays on its track
        ok = tr_progress_report( stage->progress, p, 2 * part_count, error ) && // the other half is the fit
             ( idle || solve_cluster( stage, result, nodes, &store, graphs, error ) );
    }
    tr_graph_store_free( &store );
    tr_free( nodes );
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

// The copied pose: where the graphs start.
static bool copy_pose( const tr_stage *stage, tr_result *result, tr_error *error )
{
    if ( !tr_solve_copy( stage, result, error ) )
        return false;
    for ( int i = 0; i < stage->actor_count; ++i )
        if ( !tr_world_build( &result->worlds[i], &result->motions[i], error ) )
            return false;
    return true;
}

bool tr_solve_posegraph( const tr_stage *stage, tr_result *result, tr_error *error )
{
    tr_graphs graphs;
    int *part = tr_alloc( (size_t)( stage->actor_count + stage->prop_count ), sizeof( int ) );
    int parts = part != NULL ? tr_stage_partition( stage, false, part ) : -1;
    bool ok = tr_graphs_build( &graphs, stage, NULL, error ) && ( parts >= 0 || tr_error_memory( error ) );
    ok = ok && copy_pose( stage, result, error ) &&
         solve_clusters( stage, result, part, parts, &graphs, error ) && fit( stage, result, &graphs, error );
    tr_graphs_free( &graphs );
    tr_free( part );
    return ok;
}
