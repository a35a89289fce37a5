// Pose graphs by body.
#include "cluster/private.h"

#include <string.h>

bool tr_graph_store_build( tr_graph_store *out, const tr_stage *stage, tr_error *error )
{
    *out = ( tr_graph_store ){ .stage = stage };
    size_t nodes = (size_t)stage->actor_count + (size_t)stage->prop_count;
    out->slot_count = 2; // a power of two, at least half of which stays free
    while ( out->slot_count < 2 * nodes )
        out->slot_count *= 2;
    out->graphs = tr_alloc( nodes, sizeof( tr_posegraph ) );
    out->slots = tr_alloc( out->slot_count, sizeof( int ) );
    return ( out->graphs != NULL && out->slots != NULL ) || tr_error_memory( error );
}

void tr_graph_store_free( tr_graph_store *store )
{
    for ( int n = 0; store->graphs != NULL && n < store->stage->actor_count + store->stage->prop_count; ++n )
        tr_posegraph_free( &store->graphs[n] );
    tr_free( store->graphs );
    tr_free( store->slots );
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

// Nodes of the same kind have the same hash.
static size_t hash_of( const tr_stage *stage, int node )
{
    uint64_t hash = TR_HASH_START;
    if ( node >= stage->actor_count ) {
        vec3 size = box_size( stage, node - stage->actor_count );
        return (size_t)tr_hash_bytes( hash, &size, sizeof size );
    }
    const tr_skeleton *skeleton = &stage->actors[node].target;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        hash = tr_hash_bytes( hash, &skeleton->joints[j].offset, sizeof( vec3 ) );
        hash = tr_hash_bytes( hash, &skeleton->joints[j].rest, sizeof( quat ) );
    }
    return (size_t)hash;
}

const tr_posegraph *tr_graph_store_find( tr_graph_store *store, int node, tr_error *error )
{
    const tr_stage *stage = store->stage;
    int actors = stage->actor_count;
    size_t at = hash_of( stage, node ) & ( store->slot_count - 1 );
    for ( ; store->slots[at] > 0; at = ( at + 1 ) & ( store->slot_count - 1 ) )
        if ( same_kind( stage, store->slots[at] - 1, node ) )
            return &store->graphs[store->slots[at] - 1];
    tr_posegraph *out = &store->graphs[node];
    tr_posegraph_def def = tr_default_posegraph_def();
    bool ok = node < actors ? tr_posegraph_build( out, &stage->actors[node].target, &stage->actors[node].body,
                                                  &def, error )
                            : tr_posegraph_build_box( out, box_size( stage, node - actors ), &def, error );
    store->slots[at] = ok ? node + 1 : 0;
    return ok ? out : NULL;
}
