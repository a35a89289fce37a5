// Graphs and fit of some characters and props, frames in any order, again and again.
#include "scene/cluster.h"

#include <string.h>

struct tr_settler {
    tr_settle_def def;
    tr_graph_store store;
    tr_cluster_work work;
    tr_work_rooms rooms;
    tr_graphs graphs;
    tr_cluster_fitter *fitter;
};

tr_settling tr_default_settling( void )
{
    return ( tr_settling ){ .graph = tr_default_cluster_def(),
                            .stride = 1,
                            .fit = tr_default_fit_def(),
                            .rounds = TR_MEETING_ROUNDS };
}

static bool build_fitter( tr_settler *s, tr_error *error )
{
    const tr_settle_def *def = &s->def;
    tr_cluster_fit_def fit = tr_default_cluster_fit_def( def->stage, def->result, &s->graphs );
    fit.nodes = def->nodes;
    fit.affected = def->affected;
    fit.first = def->first;
    fit.last = def->last;
    s->fitter = tr_cluster_fitter_create( &fit, error );
    return s->fitter != NULL;
}

static bool build( tr_settler *s, tr_error *error )
{
    const tr_settle_def *def = &s->def;
    if ( !build_fitter( s, error ) || !tr_graph_store_build( &s->store, def->stage, error ) )
        return false;
    bool joints = tr_settler_needs_joints( s );
    s->work = ( tr_cluster_work ){ .stage = def->stage,
                                   .store = &s->store,
                                   .result = def->result,
                                   .first = def->first,
                                   .last = def->last,
                                   .def = tr_default_cluster_def(),
                                   .joints = joints,
                                   .reach = def->reach,
                                   .kept = joints && def->kept > 0 ? 1 : def->kept };
    return tr_graphs_build( &s->graphs, def->stage, def->nodes, joints, error ) &&
           tr_cluster_work_build( &s->work, def->nodes, NULL, 0, error ) &&
           tr_work_rooms_build( &s->rooms, &s->work, 1, error );
}

tr_settler *tr_settler_create( const tr_settle_def *def, tr_error *error )
{
    tr_settler *s = tr_alloc( 1, sizeof *s );
    if ( s == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    s->def = *def;
    bool ok = build( s, error );
    s->def.nodes = NULL; // not needed any more, and not ours
    if ( ok )
        return s;
    tr_settler_destroy( s );
    return NULL;
}

void tr_settler_destroy( tr_settler *s )
{
    if ( s == NULL )
        return;
    tr_cluster_fitter_destroy( s->fitter );
    tr_work_rooms_free( &s->rooms );
    tr_cluster_work_free( &s->work );
    tr_graph_store_free( &s->store );
    tr_graphs_free( &s->graphs );
    tr_free( s );
}

bool tr_settler_needs_joints( const tr_settler *s )
{
    return tr_cluster_fitter_needs_joints( s->fitter );
}

bool tr_settler_deform( tr_settler *s, const tr_settling *how, int from, int to, tr_error *error )
{
    s->work.def = how->graph;
    s->work.warm = how->warm;
    s->work.stride = how->stride;
    return tr_cluster_works_run( &( tr_deform_run ){ .works = &s->work,
                                                     .count = 1,
                                                     .affected = s->def.affected,
                                                     .graphs = &s->graphs,
                                                     .from = from,
                                                     .to = to },
                                 &s->rooms, error );
}

bool tr_settler_fit( tr_settler *s, const tr_settling *how, int from, int to, tr_error *error )
{
    tr_cluster_fitter_set( s->fitter, &how->fit, how->rounds );
    return tr_cluster_fitter_run( s->fitter, from, to, error );
}

// ---------------------------------------------------------------------------------------------------- once

bool tr_cluster_settle( const tr_stage *stage, tr_result *result, const bool *affected, int first, int last,
                        tr_error *error )
{
    size_t count = (size_t)( stage->actor_count + stage->prop_count ), frames = (size_t)stage->frame_count;
    bool *nodes = tr_alloc( count, sizeof( bool ) ), any = false;
    if ( nodes == NULL )
        return tr_error_memory( error );
    for ( size_t n = 0; n < count; ++n ) {
        nodes[n] = memchr( affected + n * frames, 1, frames ) != NULL;
        any = any || nodes[n];
    }
    tr_settling how = tr_default_settling();
    tr_settle_def def = { .stage = stage,
                          .result = result,
                          .nodes = nodes,
                          .affected = affected,
                          .first = first,
                          .last = last,
                          .reach = 1 };
    tr_settler *settler = any ? tr_settler_create( &def, error ) : NULL;
    bool ok = !any || ( settler != NULL && tr_settler_deform( settler, &how, first, last, error ) &&
                        tr_settler_fit( settler, &how, first, last, error ) );
    tr_settler_destroy( settler );
    tr_free( nodes );
    return ok;
}
