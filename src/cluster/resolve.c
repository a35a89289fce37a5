// Resolver: graphs and fit of some characters and props, in any order of frames, repeatedly.
#include "cluster/private.h"

#include <string.h>

struct tr_resolver {
    tr_resolve_def def;
    tr_graph_store store;
    tr_cluster_work *works; // [set_count]
    tr_work_scratch scratch;
    tr_graphs graphs;
    tr_cluster_fitter *fitter;
};

tr_resolving tr_default_resolving( void )
{
    return ( tr_resolving ){ .graph = tr_default_cluster_def(),
                             .stride = 1,
                             .fit = tr_default_fit_def(),
                             .rounds = 8,
                             .repeat_steps = 800 };
}

// -------------------------------------------------------------------------------------------------- build

static bool build_fitter( tr_resolver *s, tr_error *error )
{
    const tr_resolve_def *def = &s->def;
    tr_cluster_fit_def fit = tr_default_cluster_fit_def( def->stage, def->result, &s->graphs );
    fit.set_of = def->set_of;
    fit.set_count = def->set_count;
    fit.affected = def->affected;
    fit.first = def->first;
    fit.last = def->last;
    fit.remembers = def->kept > 0;
    fit.progress = def->progress;
    s->fitter = tr_cluster_fitter_create( &fit, error );
    return s->fitter != NULL;
}

static int node_count( const tr_stage *stage )
{
    return stage->actor_count + stage->prop_count;
}

typedef struct building { // works of sets
    tr_resolver *s;
    tr_lists nodes, rules; // of each set: tr_rules_by_set
    tr_first_failure failure;
} building;

static void build_some( void *context, int begin, int end )
{
    building *b = context;
    const tr_resolve_def *def = &b->s->def;
    for ( int set = begin; set < end; ++set ) {
        const int *nodes = b->nodes.first + set, *rules = b->rules.first + set;
        tr_error error;
        bool joints = tr_resolver_needs_joints( b->s, set );
        b->s->works[set] = ( tr_cluster_work ){ .stage = def->stage,
                                                .store = &b->s->store,
                                                .result = def->result,
                                                .first = def->first,
                                                .last = def->last,
                                                .def = tr_default_cluster_def(),
                                                .joints = joints,
                                                .reach = def->reach,
                                                .kept = joints && def->kept > 0 ? 1 : def->kept };
        if ( !tr_cluster_work_build( &b->s->works[set], b->nodes.items + nodes[0], nodes[1] - nodes[0],
                                     b->rules.items + rules[0], rules[1] - rules[0], &error ) )
            tr_first_failure_note( &b->failure, set, &error );
    }
}

// Builds the graphs of all bodies first, so that works can be built in parallel.
static bool build_works( tr_resolver *s, tr_error *error )
{
    const tr_resolve_def *def = &s->def;
    int nodes = node_count( def->stage );
    for ( int n = 0; n < nodes; ++n )
        if ( def->set_of[n] >= 0 && tr_graph_store_find( &s->store, n, error ) == NULL )
            return false;
    building b = { .s = s, .failure.job = -1 };
    s->works = tr_alloc( (size_t)def->set_count, sizeof( tr_cluster_work ) );
    bool ok = ( s->works != NULL && tr_lists_build( &b.nodes, def->set_of, nodes, def->set_count ) &&
                tr_rules_by_set( def->stage, def->set_of, def->set_count, &b.rules ) ) ||
              tr_error_memory( error );
    if ( ok )
        tr_parallel_for( def->set_count, 1, build_some, &b );
    if ( ok && b.failure.job >= 0 ) {
        *error = b.failure.error;
        ok = false;
    }
    tr_lists_free( &b.nodes );
    tr_lists_free( &b.rules );
    return ok;
}

static bool build_graphs( tr_resolver *s, tr_error *error )
{
    bool *joints = tr_alloc( (size_t)s->def.set_count, sizeof( bool ) );
    for ( int set = 0; joints != NULL && set < s->def.set_count; ++set )
        joints[set] = tr_resolver_needs_joints( s, set );
    bool ok = joints != NULL ? tr_graphs_build( &s->graphs, s->def.stage, s->def.set_of, joints, error )
                             : tr_error_memory( error );
    tr_free( joints );
    return ok;
}

tr_resolver *tr_resolver_create( const tr_resolve_def *def, tr_error *error )
{
    tr_resolver *s = tr_alloc( 1, sizeof *s );
    if ( s == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    s->def = *def;
    bool ok = build_fitter( s, error ) && tr_graph_store_build( &s->store, def->stage, error ) &&
              build_graphs( s, error ) && build_works( s, error ) &&
              tr_work_scratch_build( &s->scratch, s->works, def->set_count, error );
    s->def.set_of = NULL; // borrowed for building only
    if ( ok )
        return s;
    tr_resolver_destroy( s );
    return NULL;
}

void tr_resolver_destroy( tr_resolver *s )
{
    if ( s == NULL )
        return;
    tr_cluster_fitter_destroy( s->fitter );
    tr_work_scratch_free( &s->scratch );
    for ( int set = 0; s->works != NULL && set < s->def.set_count; ++set )
        tr_cluster_work_free( &s->works[set] );
    tr_free( s->works );
    tr_graph_store_free( &s->store );
    tr_graphs_free( &s->graphs );
    tr_free( s );
}

// -------------------------------------------------------------------------------------------------- resolve

bool tr_resolver_needs_joints( const tr_resolver *s, int set )
{
    return tr_cluster_fitter_needs_joints( s->fitter, set );
}

bool tr_resolver_deform( tr_resolver *s, int set, const tr_resolving *how, int from, int to, tr_error *error )
{
    tr_cluster_work *work = &s->works[set];
    work->def = how->graph;
    work->warm = how->warm;
    work->stride = how->stride;
    return tr_cluster_works_run( &( tr_deform_run ){ .works = work,
                                                     .count = 1,
                                                     .affected = s->def.affected,
                                                     .graphs = &s->graphs,
                                                     .from = from,
                                                     .to = to,
                                                     .progress = s->def.progress },
                                 &s->scratch, error );
}

void tr_resolver_set_fit( tr_resolver *s, const tr_resolving *how )
{
    tr_cluster_fitter_set( s->fitter, &how->fit, how->rounds, how->warm_fits );
}

bool tr_resolver_fit( tr_resolver *s, int set, int from, int to, tr_error *error )
{
    return tr_cluster_fitter_run_set( s->fitter, set, from, to, error );
}

void tr_resolver_forget( tr_resolver *s )
{
    size_t bytes = (size_t)s->def.stage->frame_count * sizeof( vec3 );
    for ( int i = 0; i < s->graphs.actor_count; ++i )
        if ( s->graphs.shifts[i] != NULL )
            memset( s->graphs.shifts[i], 0, bytes );
}

// ---------------------------------------------------------------------------------------------------- once

bool tr_cluster_resolve( const tr_stage *stage, tr_result *result, const bool *affected, int first, int last,
                         tr_error *error )
{
    size_t count = (size_t)( stage->actor_count + stage->prop_count ), frames = (size_t)stage->frame_count;
    int *set_of = tr_alloc( count, sizeof( int ) );
    bool any = false;
    if ( set_of == NULL )
        return tr_error_memory( error );
    for ( size_t n = 0; n < count; ++n ) {
        set_of[n] = memchr( affected + n * frames, 1, frames ) != NULL ? 0 : -1;
        any = any || set_of[n] == 0;
    }
    tr_resolving how = tr_default_resolving();
    tr_resolve_def def = { .stage = stage,
                           .result = result,
                           .set_of = set_of,
                           .set_count = 1,
                           .affected = affected,
                           .first = first,
                           .last = last,
                           .reach = 1 };
    tr_resolver *resolver = any ? tr_resolver_create( &def, error ) : NULL;
    bool ok = !any || ( resolver != NULL && tr_resolver_deform( resolver, 0, &how, first, last, error ) &&
                        tr_resolver_fit( resolver, 0, first, last, error ) );
    tr_resolver_destroy( resolver );
    tr_free( set_of );
    return ok;
}
