// A cluster of characters and props: its graphs, the rows of its rules, and its solutions for warm runs.
#include "cluster/private.h"

#include <assert.h>

bool tr_rules_by_set( const tr_stage *stage, const int *set_of, int set_count, tr_lists *out )
{
    int *sets = tr_alloc( (size_t)stage->rule_count, sizeof( int ) );
    for ( int r = 0; sets != NULL && r < stage->rule_count; ++r ) {
        int node = tr_anchor_node( stage, &stage->rules[r].a );
        sets[r] = node >= 0 ? set_of[node] : -1;
    }
    bool ok = sets != NULL && tr_lists_build( out, sets, stage->rule_count, set_count );
    tr_free( sets );
    return ok;
}

static const tr_posegraph *graph_of( const tr_cluster_work *work, int graph )
{
    return work->rows.cluster.graphs[graph];
}

void tr_cluster_work_free( tr_cluster_work *work )
{
    tr_cluster_rows_free( &work->rows );
    for ( int g = 0; g < work->node_count; ++g ) {
        if ( work->moved != NULL )
            tr_free( work->moved[g] );
        if ( work->turned != NULL )
            tr_free( work->turned[g] );
    }
    tr_free( work->nodes );
    tr_free( work->turns );
    tr_free( work->moved );
    tr_free( work->turned );
    *work = ( tr_cluster_work ){ 0 };
}

// Nothing has moved yet.
static bool allocate_kept( tr_cluster_work *work )
{
    size_t frames = (size_t)( work->last / work->kept - work->first / work->kept + 1 ),
           count = (size_t)work->node_count;
    work->moved = tr_alloc( count, sizeof( float * ) );
    work->turned = tr_alloc( count, sizeof( float * ) );
    for ( size_t g = 0; work->moved != NULL && work->turned != NULL && g < count; ++g ) {
        size_t cells = frames * (size_t)graph_of( work, (int)g )->joint_count;
        work->moved[g] = tr_alloc( TR_KEPT_PLACES * cells, sizeof( float ) );
        work->turned[g] = tr_alloc( TR_KEPT_TURN * cells, sizeof( float ) );
        if ( work->moved[g] == NULL || work->turned[g] == NULL )
            return false;
        for ( size_t j = 0; j < cells; ++j )
            work->turned[g][TR_KEPT_TURN * j + 3] = 1;
    }
    return work->moved != NULL && work->turned != NULL;
}

static bool copy_nodes( tr_cluster_work *work, const int *nodes, int node_count )
{
    work->nodes = tr_alloc( (size_t)node_count, sizeof( int ) );
    work->turns = tr_alloc( (size_t)node_count, sizeof( bool ) );
    if ( work->nodes == NULL || work->turns == NULL )
        return false;
    for ( int n = 0; n < node_count; ++n ) {
        assert( n == 0 || nodes[n] > nodes[n - 1] );
        work->nodes[work->node_count++] = nodes[n];
    }
    return true;
}

// If a rule joins two characters, the fit needs the rotations of their graphs, too.
static void find_turns( tr_cluster_work *work )
{
    for ( int i = 0; i < work->rows.rule_count; ++i ) {
        const tr_rule *rule = &work->stage->rules[work->rows.rules != NULL ? work->rows.rules[i] : i];
        for ( int e = 0; rule->a.actor >= 0 && rule->b.actor >= 0 && e < 2; ++e ) {
            int graph = tr_cluster_rows_graph( &work->rows, e == 0 ? rule->a.actor : rule->b.actor );
            if ( graph >= 0 )
                work->turns[graph] = true;
        }
    }
}

static bool build_graphs( tr_cluster_work *work, tr_error *error )
{
    for ( int g = 0; g < work->node_count; ++g ) {
        const tr_posegraph *graph = tr_graph_store_find( work->store, work->nodes[g], error );
        if ( graph == NULL )
            return false;
        if ( tr_cluster_add_graph( &work->rows.cluster, graph ) < 0 )
            return tr_error_memory( error );
        work->joint_count += graph->joint_count;
    }
    return work->kept == 0 || allocate_kept( work ) || tr_error_memory( error );
}

bool tr_cluster_work_build( tr_cluster_work *work, const int *nodes, int node_count, const int *rules,
                            int rule_count, tr_error *error )
{
    if ( !copy_nodes( work, nodes, node_count ) )
        return tr_error_memory( error );
    work->rows = ( tr_cluster_rows ){ .stage = work->stage,
                                      .first = work->first,
                                      .frame_count = work->last - work->first + 1,
                                      .nodes = work->nodes,
                                      .node_count = work->node_count,
                                      .rules = rules,
                                      .rule_count = rules != NULL ? rule_count : work->stage->rule_count };
    find_turns( work );
    bool ok = build_graphs( work, error ) && tr_cluster_rows_build( &work->rows, error );
    work->rows.rules = NULL; // borrowed for building only
    return ok;
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

bool tr_graphs_build( tr_graphs *out, const tr_stage *stage, const int *set_of, const bool *joints,
                      tr_error *error )
{
    *out = ( tr_graphs ){ .actor_count = stage->actor_count };
    out->worlds = tr_alloc( (size_t)stage->actor_count, sizeof( tr_world ) );
    out->shifts = tr_alloc( (size_t)stage->actor_count, sizeof( vec3 * ) );
    bool ok = out->worlds != NULL && out->shifts != NULL;
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        if ( set_of == NULL || set_of[i] >= 0 ) {
            bool wanted = joints == NULL || set_of == NULL || joints[set_of[i]];
            out->shifts[i] = tr_alloc( (size_t)stage->frame_count, sizeof( vec3 ) );
            ok = out->shifts[i] != NULL &&
                 ( !wanted ||
                   build_world( &out->worlds[i], stage->actors[i].target.joint_count, stage->frame_count ) );
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
