// Pose graphs by body.
#include "scene/cluster/cluster.h"

#include <string.h>

bool tr_graph_store_build( tr_graph_store *out, const tr_stage *stage, tr_error *error )
{
    *out = ( tr_graph_store ){ .stage = stage };
    out->graphs = tr_alloc( (size_t)( stage->actor_count + stage->prop_count ), sizeof( tr_posegraph ) );
    return out->graphs != NULL || tr_error_memory( error );
}

void tr_graph_store_free( tr_graph_store *store )
{
    for ( int n = 0; store->graphs != NULL && n < store->stage->actor_count + store->stage->prop_count; ++n )
        tr_posegraph_free( &store->graphs[n] );
    tr_free( store->graphs );
    *store = ( tr_graph_store ){ 0 };
}

static vec3 box_size( const tr_stage *stage, int prop )
{
    return tr_stage_prop_shape( stage, prop, false ).size;
}

// Do the two have the same skeleton and volume, to the last bit?
static bool same_body( const tr_actor *a, const tr_actor *b )
{
    const tr_skeleton *s = &a->target, *t = &b->target;
    bool same = s->joint_count == t->joint_count && a->body.capsule_count == b->body.capsule_count;
    for ( int j = 0; same && j < s->joint_count; ++j ) {
        const tr_joint *i = &s->joints[j], *k = &t->joints[j];
        same = i->parent == k->parent && memcmp( &i->offset, &k->offset, sizeof( vec3 ) ) == 0 &&
               memcmp( &i->rest, &k->rest, sizeof( quat ) ) == 0;
    }
    for ( int c = 0; same && c < a->body.capsule_count; ++c ) {
        const tr_capsule *i = &a->body.capsules[c], *k = &b->body.capsules[c];
        same = i->joint == k->joint && i->parent == k->parent && i->radius == k->radius &&
               memcmp( &i->a, &k->a, sizeof( vec3 ) ) == 0 && memcmp( &i->b, &k->b, sizeof( vec3 ) ) == 0;
    }
    return same;
}

static bool same_kind( const tr_stage *stage, int n, int m )
{
    int actors = stage->actor_count;
    if ( n < actors || m < actors )
        return n < actors && m < actors && same_body( &stage->actors[n], &stage->actors[m] );
    vec3 a = box_size( stage, n - actors ), b = box_size( stage, m - actors );
    return memcmp( &a, &b, sizeof a ) == 0;
}

const tr_posegraph *tr_graph_store_find( tr_graph_store *store, int node, tr_error *error )
{
    const tr_stage *stage = store->stage;
    int actors = stage->actor_count;
    for ( int n = 0; n < actors + stage->prop_count; ++n )
        if ( store->graphs[n].joint_count > 0 && same_kind( stage, n, node ) )
            return &store->graphs[n];
    tr_posegraph *out = &store->graphs[node];
    tr_posegraph_def def = tr_default_posegraph_def();
    bool ok = node < actors ? tr_posegraph_build( out, &stage->actors[node].target, &stage->actors[node].body,
                                                  &def, error )
                            : tr_posegraph_build_box( out, box_size( stage, node - actors ), &def, error );
    return ok ? out : NULL;
}
