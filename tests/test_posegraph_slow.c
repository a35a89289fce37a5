// Pose graphs: the two steps, alone and linked, against sparse QR, and where they come to rest.
#include "posegraph_fixture.h"

// ----------------------------------------------------------------------------------------------- reference
// The same problem written out as one big least-squares problem per frame and axis, solved by sparse QR with
// the constraints eliminated, and rotations by eigenvectors: everything the fast path does not use.

typedef struct slow {
    const tr_cluster *cluster;
    const vec3 *const *reference;
    const tr_goal *goals;
    int frame, begin[9];
    vec3 *v; // [total] where the vertices are
    quat *r; // [total / 3]
    tr_sparse a, h;
    vec3 *b, *want;
    int b_capacity, want_capacity;
} slow;

static const vec3 *slow_reference( const slow *s, int graph )
{
    return s->reference[graph] + (size_t)s->frame * 3 * (size_t)s->cluster->graphs[graph]->joint_count;
}

static void slow_right( slow *s, vec3 value )
{
    assert_true( tr_array_reserve( (void **)&s->b, &s->b_capacity, s->a.row_count + 1, sizeof( vec3 ) ) );
    s->b[s->a.row_count] = value;
}

// w ‖(v_a − v_b) − R ē‖²
static void slow_edge( slow *s, int graph, int a, int b, quat r, double weight )
{
    const vec3 *ref = slow_reference( s, graph );
    double root = sqrt( weight );
    slow_right( s, v3_scale( root, q_rotate( r, v3_sub( ref[a], ref[b] ) ) ) );
    int columns[2] = { s->begin[graph] + a, s->begin[graph] + b };
    assert_true( tr_sparse_add( &s->a, columns, ( double[] ){ root, -root }, 2 ) );
}

static void slow_length( slow *s, int graph, int j, double weight )
{
    const tr_posegraph *g = s->cluster->graphs[graph];
    const vec3 *v = s->v + s->begin[graph];
    int p = g->parents[j], columns[6];
    vec3 bone = v3_sub( tr_posegraph_joint( v, j ), tr_posegraph_joint( v, p ) );
    double root = sqrt( weight ), values[6];
    bool real_bone = v3_length( bone ) > 1e-6;
    slow_right( s, v3_scale( real_bone ? root * g->lengths[j] / v3_length( bone ) : root, bone ) );
    for ( int k = 0; k < 6; ++k ) {
        columns[k] = s->begin[graph] + ( k < 3 ? 3 * j + k : 3 * p + k - 3 );
        values[k] = k < 3 ? root / 3 : -root / 3;
    }
    assert_true( tr_sparse_add( &s->a, columns, values, 6 ) );
}

static void slow_graph( slow *s, int graph, bool deform )
{
    const tr_posegraph *g = s->cluster->graphs[graph];
    const quat *r = s->r + s->begin[graph] / 3;
    for ( int j = 0; j < g->joint_count; ++j ) {
        int p = g->parents[j];
        for ( int k = 0; k < 3; ++k ) {
            slow_edge( s, graph, 3 * j + k, 3 * j + ( k + 1 ) % 3, r[j],
                       deform ? 2 * g->def.edge : g->def.edge );
            if ( p >= 0 )
                slow_edge( s, graph, 3 * j + k, 3 * p + k, r[j], g->def.edge );
            if ( p >= 0 && deform )
                slow_edge( s, graph, 3 * j + k, 3 * p + k, r[p], g->def.edge );
        }
        if ( p >= 0 && deform )
            slow_length( s, graph, j, g->def.length );
        for ( int k = 0; k < 3; ++k ) {
            double root = sqrt( g->def.anchor );
            int column = s->begin[graph] + 3 * j + k;
            slow_right( s, v3_scale( root, slow_reference( s, graph )[3 * j + k] ) );
            assert_true( tr_sparse_add( &s->a, &column, &root, 1 ) );
        }
    }
}

// Rows must act on all axes alike here.
static void slow_rows( slow *s )
{
    for ( int r = 0; r < s->cluster->row_count; ++r ) {
        const tr_goal *goal = &s->goals[s->frame * s->cluster->row_count + r];
        double c = goal->compliance[0];
        if ( c < 0 )
            continue;
        tr_sparse *to = c == 0 ? &s->h : &s->a;
        double root = c == 0 ? 1 : 1 / sqrt( c );
        if ( c == 0 ) {
            assert_true(
                tr_array_reserve( (void **)&s->want, &s->want_capacity, to->row_count + 1, sizeof( vec3 ) ) );
            s->want[to->row_count] = goal->target;
        } else
            slow_right( s, v3_scale( root, goal->target ) );
        assert_true( tr_sparse_add( to, NULL, NULL, 0 ) );
        const tr_port_row *row = &s->cluster->rows[r];
        for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
            const tr_sparse *points = &s->cluster->points[row->tree[e]];
            for ( int k = points->start[row->port[e]]; k < points->start[row->port[e] + 1]; ++k )
                assert_true( tr_sparse_extend( to, s->begin[row->tree[e]] + points->columns[k],
                                               ( e == 0 ? root : -root ) * points->values[k] ) );
        }
    }
}

static double axis_of( vec3 v, int axis )
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static void slow_global( slow *s, bool deform )
{
    int total = s->begin[s->cluster->graph_count];
    s->a = ( tr_sparse ){ .column_count = total };
    s->h = ( tr_sparse ){ .column_count = total };
    for ( int g = 0; g < s->cluster->graph_count; ++g )
        slow_graph( s, g, deform );
    slow_rows( s );
    double *b = tr_alloc( 3 * (size_t)s->a.row_count, sizeof( double ) ),
           *h = tr_alloc( 3 * (size_t)s->h.row_count, sizeof( double ) ),
           *x = tr_alloc( 3 * (size_t)total, sizeof( double ) );
    for ( int c = 0; c < 3; ++c ) {
        for ( int i = 0; i < s->a.row_count; ++i )
            b[c * s->a.row_count + i] = axis_of( s->b[i], c );
        for ( int i = 0; i < s->h.row_count; ++i )
            h[c * s->h.row_count + i] = axis_of( s->want[i], c );
    }
    tr_error error;
    check_ok( tr_least_squares( &s->a, b, &s->h, h, 3, x, &error ), &error );
    for ( int i = 0; i < total; ++i )
        s->v[i] = v3( x[i], x[total + i], x[2 * total + i] );
    tr_sparse_free( &s->a );
    tr_sparse_free( &s->h );
    tr_free( b );
    tr_free( h );
    tr_free( x );
}

static void slow_add( mat3 *m, vec3 now, vec3 before, double weight )
{
    m->cx = v3_mad( m->cx, weight * before.x, now );
    m->cy = v3_mad( m->cy, weight * before.y, now );
    m->cz = v3_mad( m->cz, weight * before.z, now );
}

static void slow_local( slow *s )
{
    for ( int graph = 0; graph < s->cluster->graph_count; ++graph ) {
        const tr_posegraph *g = s->cluster->graphs[graph];
        const vec3 *v = s->v + s->begin[graph], *ref = slow_reference( s, graph );
        for ( int j = 0; j < g->joint_count; ++j ) {
            mat3 m = { 0 };
            for ( int k = 0; k < 3; ++k ) {
                int a = 3 * j + k, b = 3 * j + ( k + 1 ) % 3;
                slow_add( &m, v3_sub( v[a], v[b] ), v3_sub( ref[a], ref[b] ), 2 );
                for ( int c = 1; c < g->joint_count; ++c ) {
                    int p = g->parents[c];
                    if ( c == j || p == j )
                        slow_add( &m, v3_sub( v[3 * c + k], v[3 * p + k] ),
                                  v3_sub( ref[3 * c + k], ref[3 * p + k] ), 1 );
                }
            }
            s->r[s->begin[graph] / 3 + j] = q_fit( m );
        }
    }
}

// Iterations ≥ 1 of the deformation at one frame, or the transfer (0); the largest distance to what `out`
// holds.
static double slow_distance( const tr_cluster_job *job, int frame, int iterations )
{
    slow s = { .cluster = job->cluster, .reference = job->reference, .goals = job->goals, .frame = frame };
    int total = 0;
    for ( int g = 0; g < job->cluster->graph_count; ++g )
        s.begin[g + 1] = total += 3 * job->cluster->graphs[g]->joint_count;
    s.v = tr_alloc( (size_t)total, sizeof( vec3 ) );
    s.r = tr_alloc( (size_t)total / 3, sizeof( quat ) );
    for ( int i = 0; i < total / 3; ++i )
        s.r[i] = q_identity;
    for ( int g = 0; g < job->cluster->graph_count; ++g )
        memcpy( s.v + s.begin[g], slow_reference( &s, g ),
                (size_t)( s.begin[g + 1] - s.begin[g] ) * sizeof( vec3 ) );
    if ( iterations == 0 )
        slow_global( &s, false );
    for ( int i = 0; i < iterations; ++i ) {
        if ( i > 0 )
            slow_local( &s );
        slow_global( &s, true );
    }
    double most = 0;
    for ( int g = 0; g < job->cluster->graph_count; ++g )
        for ( int i = s.begin[g]; i < s.begin[g + 1]; ++i ) {
            const vec3 *out = job->vertices[g] + (size_t)frame * (size_t)( s.begin[g + 1] - s.begin[g] );
            most = fmax( most, v3_distance( s.v[i], out[i - s.begin[g]] ) );
        }
    tr_free( s.v );
    tr_free( s.r );
    tr_free( s.b );
    tr_free( s.want );
    return most;
}

// ---------------------------------------------------------------------------------------------- comparison

static void steps_agree_with_sparse_qr( void **state )
{
    (void)state;
    tr_error error;
    for ( int shape = 0; shape < 2; ++shape ) {
        rig r = { 0 };
        make_reaching( &r, shape == 0 ? make_figure( 1 ) : make_chain( 30, 0.1 ),
                       shape == 0 ? extremities : ( int[4] ){ 29, 3, 12, 20 } );
        r.job.def.fit_steps = 8;
        r.job.def.newton = false;
        r.job.def.tolerance = 0;
        for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes )
            for ( int iterations = 0; iterations <= 4; iterations += 2 ) {
                if ( !tr_lanes_supported( lanes ) )
                    continue;
                r.job.def.lanes = lanes;
                r.job.def.max_iterations = iterations;
                check_ok( iterations == 0 ? tr_cluster_transfer( &r.job, &error )
                                          : tr_cluster_deform( &r.job, &error ),
                          &error );
                for ( int f = 0; f < FRAMES; f += 4 )
                    check_near( slow_distance( &r.job, f, iterations ), 0,
                                lanes == TR_LANES_DOUBLE ? 1e-9 : 1e-5 );
            }
        end_rig( &r );
    }
}

// Cells turned together come to rest where cells turned one by one do, in far fewer steps.
static void newton_finds_the_same_rest( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    r.job.def.lanes = TR_LANES_DOUBLE;
    r.job.def.tolerance = 1e-9;
    r.job.def.max_iterations = 400;
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( r.iterations[f] < 40 );
    size_t count = FRAMES * 3 * (size_t)r.actors[0].graph.joint_count;
    vec3 *kept = tr_alloc( count, sizeof( vec3 ) );
    memcpy( kept, r.out[0], count * sizeof( vec3 ) );
    r.job.def.newton = false;
    r.job.def.max_iterations = 4000;
    r.job.def.tolerance = 1e-10;
    deform( &r );
    for ( size_t i = 0; i < count; ++i )
        check_v3( r.out[0][i], kept[i], 1e-6 );
    // In floats, no further from it than the tolerance says.
    r.job.def = tr_default_cluster_def();
    deform( &r );
    for ( size_t i = 0; i < count; ++i )
        check_v3( r.out[0][i], kept[i], r.job.def.tolerance );
    tr_free( kept );
    end_rig( &r );
}

static void links_agree_with_sparse_qr( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    m.r.job.def.fit_steps = 8;
    m.r.job.def.newton = false;
    m.r.job.def.tolerance = 0;
    m.r.job.def.max_iterations = 3;
    for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        m.r.job.def.lanes = lanes;
        deform( &m.r );
        for ( int f = 0; f < FRAMES; f += 3 )
            check_near( slow_distance( &m.r.job, f, 3 ), 0, lanes == TR_LANES_DOUBLE ? 1e-9 : 1e-5 );
    }
    end_meeting( &m );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( steps_agree_with_sparse_qr ),
        TEST( newton_finds_the_same_rest ),
        TEST( links_agree_with_sparse_qr ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
