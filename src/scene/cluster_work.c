// A cluster at work: graphs, rows and memory of frames, built once, run as often as poses change.
#include "scene/cluster.h"

#include <assert.h>
#include <string.h>

// -------------------------------------------------------------------------------------------------- store

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
    return v3_scale( stage->props[prop].scale, stage->props[prop].size );
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

// The graph of a node, built if none of its kind is there yet. NULL and an error when out of memory.
static const tr_posegraph *graph_of_kind( tr_graph_store *store, int node, tr_error *error )
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

// -------------------------------------------------------------------------------------------------- build

static const tr_posegraph *graph_of( const tr_cluster_work *work, int graph )
{
    return work->rows.cluster.graphs[graph];
}

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
        if ( work->reference != NULL )
            tr_free( work->reference[g] );
        if ( work->vertices != NULL )
            tr_free( work->vertices[g] );
        if ( work->rotations != NULL )
            tr_free( work->rotations[g] );
        if ( work->moved != NULL )
            tr_free( work->moved[g] );
        if ( work->turned != NULL )
            tr_free( work->turned[g] );
    }
    tr_free( work->nodes );
    tr_free( work->graph_of_node );
    tr_free( work->reference );
    tr_free( work->vertices );
    tr_free( work->rotations );
    tr_free( work->moved );
    tr_free( work->turned );
    tr_free( work->goals );
    *work = ( tr_cluster_work ){ 0 };
}

// Does a rule join the character to another? Then the fit asks where the graph had the two meet.
static bool is_linked( const tr_stage *stage, int actor )
{
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        if ( rule->a.actor >= 0 && rule->b.actor >= 0 &&
             ( rule->a.actor == actor || rule->b.actor == actor ) )
            return true;
    }
    return false;
}

static bool allocate_frames( tr_cluster_work *work, int g )
{
    size_t joints = (size_t)graph_of( work, g )->joint_count, frames = (size_t)work->chunk;
    bool turns = work->warm || ( !is_prop( work, g ) && is_linked( work->stage, work->nodes[g] ) );
    work->reference[g] = tr_alloc( frames * 3 * joints, sizeof( vec3 ) );
    work->vertices[g] = tr_alloc( frames * 3 * joints, sizeof( vec3 ) );
    work->rotations[g] = turns ? tr_alloc( frames * joints, sizeof( quat ) ) : NULL;
    return work->reference[g] != NULL && work->vertices[g] != NULL &&
           ( !turns || work->rotations[g] != NULL );
}

// Nothing has moved yet.
static bool allocate_warm( tr_cluster_work *work )
{
    size_t frames = (size_t)( work->last - work->first + 1 ), count = (size_t)work->node_count;
    work->moved = tr_alloc( count, sizeof( vec3 * ) );
    work->turned = tr_alloc( count, sizeof( quat * ) );
    for ( size_t g = 0; work->moved != NULL && work->turned != NULL && g < count; ++g ) {
        size_t cells = frames * (size_t)graph_of( work, g )->joint_count;
        work->moved[g] = tr_alloc( 3 * cells, sizeof( vec3 ) );
        work->turned[g] = tr_alloc( cells, sizeof( quat ) );
        if ( work->moved[g] == NULL || work->turned[g] == NULL )
            return false;
        for ( size_t j = 0; j < cells; ++j )
            work->turned[g][j] = q_identity;
    }
    return work->moved != NULL && work->turned != NULL;
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
    work->reference = tr_alloc( count, sizeof( vec3 * ) );
    work->vertices = tr_alloc( count, sizeof( vec3 * ) );
    work->rotations = tr_alloc( count, sizeof( quat * ) );
    if ( work->reference == NULL || work->vertices == NULL || work->rotations == NULL )
        return tr_error_memory( error );
    for ( int g = 0; g < work->node_count; ++g ) {
        const tr_posegraph *graph = graph_of_kind( work->store, work->nodes[g], error );
        if ( graph == NULL )
            return false;
        if ( tr_cluster_add_graph( &work->rows.cluster, graph ) < 0 || !allocate_frames( work, g ) )
            return tr_error_memory( error );
    }
    return !work->warm || allocate_warm( work ) || tr_error_memory( error );
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
    int frames = ( work->last - work->first ) / work->stride + 1;
    tr_goal *goals = tr_alloc( (size_t)frames * (size_t)work->rows.cluster.row_count, sizeof( tr_goal ) );
    if ( goals == NULL )
        return tr_error_memory( error );
    tr_cluster_rows_goals( &work->rows, NULL, false, work->first, work->last, work->stride, goals );
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

typedef struct run { // frames first, first + stride, … of a work
    int first, stride, count;
} run;

static int frame_at( run r, int n )
{
    return r.first + n * r.stride;
}

static void pose_reference( const tr_cluster_work *work, run r )
{
    for ( int g = 0; g < work->node_count; ++g ) {
        size_t stride = 3 * (size_t)graph_of( work, g )->joint_count;
        for ( int n = 0; n < r.count; ++n ) {
            vec3 *vertices = work->reference[g] + (size_t)n * stride;
            int f = frame_at( r, n );
            if ( is_prop( work, g ) )
                tr_posegraph_pose_box( graph_of( work, g ), work->result->tracks[prop_of( work, g )][f],
                                       vertices );
            else
                tr_posegraph_pose( graph_of( work, g ),
                                   tr_world_pose( &work->result->worlds[work->nodes[g]], f ), vertices );
        }
    }
}

// Where the last run left a graph, moved along with its reference; and, the other way round, notes it.
static void recall( const tr_cluster_work *work, int g, run r, bool notes )
{
    size_t joints = (size_t)graph_of( work, g )->joint_count;
    for ( int n = 0; n < r.count; ++n ) {
        size_t row = (size_t)n * joints, kept = (size_t)( frame_at( r, n ) - work->first ) * joints;
        const vec3 *reference = work->reference[g] + 3 * row;
        vec3 *vertices = work->vertices[g] + 3 * row, *moved = work->moved[g] + 3 * kept;
        quat *rotations = work->rotations[g] + row, *turned = work->turned[g] + kept;
        for ( size_t i = 0; notes && i < 3 * joints; ++i )
            moved[i] = v3_sub( vertices[i], reference[i] );
        for ( size_t i = 0; !notes && i < 3 * joints; ++i )
            vertices[i] = v3_add( reference[i], moved[i] );
        memcpy( notes ? turned : rotations, notes ? rotations : turned, joints * sizeof( quat ) );
    }
}

static bool deform( const tr_cluster_work *work, bool transfer, run r, tr_error *error )
{
    int last = frame_at( r, r.count - 1 );
    pose_reference( work, r );
    tr_cluster_job job = job_of( work, r.count );
    if ( transfer ) {
        tr_cluster_rows_goals( &work->rows, work->result, true, r.first, last, r.stride, work->goals );
        if ( !tr_cluster_transfer( &job, error ) )
            return false;
        job.reference = (const vec3 *const *)work->vertices;
    }
    tr_cluster_rows_goals( &work->rows, work->result, false, r.first, last, r.stride, work->goals );
    job.warm = work->warm;
    for ( int g = 0; work->warm && g < work->node_count; ++g )
        recall( work, g, r, false );
    if ( !tr_cluster_deform( &job, error ) )
        return false;
    for ( int g = 0; work->warm && g < work->node_count; ++g )
        recall( work, g, r, true );
    return true;
}

// Props take the place their graph came to, turned as before.
static void place_prop( const tr_cluster_work *work, int g, const bool *affected, run r )
{
    size_t stride = 3 * (size_t)graph_of( work, g )->joint_count;
    rigid *track = work->result->tracks[prop_of( work, g )];
    if ( affected != NULL )
        affected += (size_t)work->nodes[g] * (size_t)work->stage->frame_count;
    for ( int n = 0; n < r.count; ++n ) {
        size_t at = (size_t)n * stride;
        int f = frame_at( r, n );
        if ( affected == NULL || affected[f] )
            track[f].position =
                tr_posegraph_box( work->reference[g] + at, work->vertices[g] + at, track[f] ).position;
    }
}

// What the graph says about a character's joints: centroids, and the copied rotations turned with their
// cells.
static void read_graph( const tr_cluster_work *work, int g, tr_graphs *out, run r )
{
    int actor = work->nodes[g];
    size_t joints = (size_t)graph_of( work, g )->joint_count;
    for ( int n = 0; n < r.count; ++n ) {
        int f = frame_at( r, n );
        tr_pose copied = tr_world_pose( &work->result->worlds[actor], f ),
                pose = tr_world_pose( &out->worlds[actor], f );
        const vec3 *vertices = work->vertices[g] + (size_t)n * 3 * joints;
        for ( size_t j = 0; r.stride == 1 && j < joints; ++j )
            pose.positions[j] = tr_posegraph_joint( vertices, (int)j );
        vec3 shift = v3_sub( tr_posegraph_joint( vertices, 0 ), copied.positions[0] );
        out->shifts[actor][f] = tr_reach_shift( work->stage, work->result, actor, f, shift );
        if ( work->rotations[g] == NULL || r.stride != 1 )
            continue;
        const quat *turns = work->rotations[g] + (size_t)n * joints;
        for ( size_t j = 0; j < joints; ++j )
            pose.rotations[j] = q_unit( q_mul( turns[j], copied.rotations[j] ) );
    }
}

// Shifts of the frames that were left out. Beyond the last that is there, nothing is known better.
static void mix_shifts( const tr_cluster_work *work, vec3 *shifts, int from, int to )
{
    int stride = work->stride;
    for ( int f = from; f <= to; ++f ) {
        int before = f - f % stride, after = before + stride;
        if ( before < work->first )
            shifts[f] = after <= work->last ? shifts[after] : v3_zero;
        else if ( f != before )
            shifts[f] = after <= work->last
                            ? v3_lerp( shifts[before], shifts[after], (double)( f - before ) / stride )
                            : shifts[before];
    }
}

bool tr_cluster_work_run( tr_cluster_work *work, bool transfer, const bool *affected, tr_graphs *graphs,
                          int from, int to, tr_error *error )
{
    assert( from >= work->first && to <= work->last && to - from < work->chunk );
    int stride = work->stride, first = ( from + stride - 1 ) / stride * stride;
    run r = { first, stride, to < first ? 0 : ( to - first ) / stride + 1 };
    if ( r.count > 0 && !deform( work, transfer, r, error ) )
        return false;
    for ( int g = 0; g < work->node_count; ++g )
        if ( is_prop( work, g ) )
            place_prop( work, g, affected, r );
        else
            read_graph( work, g, graphs, r );
    for ( int g = 0; stride > 1 && g < work->node_count; ++g )
        mix_shifts( work, graphs->shifts[work->nodes[g]],
                    from - stride > work->first ? from - stride : work->first, to );
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
