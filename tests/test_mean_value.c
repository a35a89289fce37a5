// Mean value coordinates: by hand, the fast way against the exact one, and on meshes without volume.
#include "cage_fixture.h"

typedef struct mesh {
    vec3 vertices[TR_CAGE_MAX_VERTICES];
    int triangles[800][3];
    int vertex_count, triangle_count;
} mesh;

static mesh make_octahedron( void )
{
    mesh m = { .vertex_count = 6, .triangle_count = 8 };
    for ( int i = 0; i < 6; ++i )
        m.vertices[i] = v3( i == 0   ? 1
                            : i == 1 ? -1
                                     : 0,
                            i == 2   ? 1
                            : i == 3 ? -1
                                     : 0,
                            i == 4   ? 1
                            : i == 5 ? -1
                                     : 0 );
    for ( int t = 0; t < 8; ++t ) {
        int x = t & 1, y = 2 + ( t >> 1 & 1 ), z = 4 + ( t >> 2 ), flip = ( x + y + z ) & 1;
        m.triangles[t][0] = x, m.triangles[t][1] = flip ? z : y, m.triangles[t][2] = flip ? y : z;
    }
    return m;
}

static mesh mesh_of( const tr_cage *cage, vec3 size, vec3 place )
{
    mesh m = { .vertex_count = cage->vertex_count, .triangle_count = cage->triangle_count };
    memcpy( m.triangles, cage->triangles, (size_t)m.triangle_count * sizeof m.triangles[0] );
    for ( int i = 0; i < m.vertex_count; ++i )
        m.vertices[i] = v3_add( place, v3_mul( size, cage->shape[i] ) );
    return m;
}

static tr_mean_value coordinates_of( const mesh *m )
{
    tr_mean_value out;
    tr_error error;
    check_ok( tr_mean_value_build( &out, m->vertices, m->vertex_count, (const int( * )[3])m->triangles,
                                   m->triangle_count, &error ),
              &error );
    return out;
}

static void check_weights( const mesh *m, const double *w, vec3 point, double tolerance )
{
    double largest = 1;
    double sum = 0;
    vec3 at = v3_zero;
    for ( int i = 0; i < m->vertex_count; ++i ) {
        sum += w[i];
        at = v3_mad( at, w[i], m->vertices[i] );
        largest = fmax( largest, fabs( w[i] ) );
    }
    check_near( sum, 1, 1e-5 * largest );
    check_v3( at, point, tolerance );
}

static void weights_by_hand( void **state )
{
    (void)state;
    mesh m = make_octahedron();
    tr_mean_value c = coordinates_of( &m );
    double w[6];
    tr_mean_value_exact( &c, v3_zero, w ); // symmetry
    for ( int i = 0; i < 6; ++i )
        check_near( w[i], 1.0 / 6, 1e-12 );
    tr_mean_value_exact( &c, v3( 0, 1, 0 ), w ); // a vertex
    for ( int i = 0; i < 6; ++i )
        check_near( w[i], i == 2, 1e-12 );
    tr_mean_value_exact( &c, v3( 0.25, 0.75, 0 ), w ); // on an edge: as on a line
    check_near( w[0], 0.25, 1e-9 );
    check_near( w[2], 0.75, 1e-9 );
    tr_mean_value_exact( &c, v3( 0.2, 0.5, 0.3 ), w ); // on a face: areas
    check_near( w[0], 0.2, 1e-9 );
    check_near( w[2], 0.5, 1e-9 );
    check_near( w[4], 0.3, 1e-9 );
    // On the x axis the four vertices around it weigh the same.
    tr_mean_value_exact( &c, v3( 0.3, 0, 0 ), w );
    for ( int i = 3; i < 6; ++i )
        check_near( w[i], w[2], 1e-12 );
    check_near( w[0] - w[1], 0.3, 1e-12 );
    tr_mean_value_free( &c );
}

// Inside, outside, and ever nearer to a vertex, an edge, a face.
static vec3 tricky_point( const mesh *m, int i, uint64_t *seed )
{
    const int *t = m->triangles[random_bits( seed ) % (uint64_t)m->triangle_count];
    vec3 a = m->vertices[t[0]], b = m->vertices[t[1]], c = m->vertices[t[2]];
    double near = pow( 10, -( i % 15 ) );
    switch ( i / 15 % 5 ) {
    case 0: return v3_mad( a, near, random_vector( seed, 1 ) );
    case 1: return v3_mad( v3_lerp( a, b, 0.3 ), near, random_vector( seed, 1 ) );
    case 2: return v3_mad( v3_lerp( v3_lerp( a, b, 0.4 ), c, 0.3 ), near, random_vector( seed, 1 ) );
    case 3: return v3_add( a, random_vector( seed, 5 ) );
    default: return v3_lerp( v3_lerp( a, b, 2.0 ), c, -1.5 ); // in the plane of a face, outside
    }
}

static void both_ways_give_the_same_weights( void **state )
{
    (void)state;
    enum { COUNT = 300 };
    bundle b = make_bundle( 3, 1, stand );
    tr_cage_def def = tr_default_cage_def();
    uint64_t seed = 7;
    for ( int kind = 0; kind < 6; ++kind ) {
        def.detail = 1 + kind % 4;
        tr_cage cage = make_cage( &b, 0, 2, &def );
        vec3 size = kind == 4 ? v3( 3, 0.001, 1 ) : kind == 5 ? v3( 200, 100, 150 ) : v3( 1, 0.5, 2 );
        mesh m = kind == 3 ? make_octahedron() : mesh_of( &cage, size, v3( 5, 1, -3 ) );
        tr_mean_value c = coordinates_of( &m );
        vec3 points[COUNT];
        static float fast[COUNT * TR_CAGE_MAX_VERTICES], twin[COUNT * TR_CAGE_MAX_VERTICES];
        for ( int i = 0; i < COUNT; ++i )
            points[i] = tricky_point( &m, i, &seed );
        tr_mean_value_weights( &c, points, COUNT, TR_LANES_FLOAT, fast );
        if ( tr_lanes_supported( TR_LANES_AVX2 ) ) {
            tr_mean_value_weights( &c, points, COUNT, TR_LANES_AVX2, twin );
            assert_memory_equal( fast, twin, (size_t)COUNT * (size_t)m.vertex_count * sizeof( float ) );
        }
        for ( int i = 0; i < COUNT; ++i ) {
            double exact[TR_CAGE_MAX_VERTICES], rounded[TR_CAGE_MAX_VERTICES], largest = 1;
            tr_mean_value_exact( &c, points[i], exact );
            check_weights( &m, exact, points[i], 1e-9 * ( 1 + c.size ) );
            for ( int v = 0; v < m.vertex_count; ++v )
                largest = fmax( largest, fabs( exact[v] ) );
            for ( int v = 0; v < m.vertex_count; ++v ) {
                rounded[v] = fast[i * m.vertex_count + v];
                check_near( rounded[v], exact[v], 1e-4 * largest );
            }
            check_weights( &m, rounded, points[i], 1e-5 * ( 1 + c.size ) * largest );
        }
        tr_mean_value_free( &c );
        tr_cage_free( &cage );
    }
    tr_free( b.points );
}

static void triangles_without_area( void **state )
{
    (void)state;
    mesh m = make_octahedron();
    m.vertices[5] = m.vertices[4]; // flat below, two vertices in one place
    tr_mean_value c = coordinates_of( &m );
    uint64_t seed = 3;
    double w[6];
    for ( int i = 0; i < 200; ++i ) {
        vec3 p = i < 100 ? random_vector( &seed, 1.5 ) : tricky_point( &m, i, &seed );
        tr_mean_value_exact( &c, p, w );
        check_weights( &m, w, p, 1e-8 );
    }
    tr_mean_value_free( &c );
    for ( int i = 0; i < 6; ++i ) // a disc: weights still add up, and give back what lies in its plane
        m.vertices[i].z = 0;
    c = coordinates_of( &m );
    for ( int i = 0; i < 200; ++i ) {
        vec3 p = random_vector( &seed, 1.5 );
        p.z = i % 2 == 0 ? 0 : p.z;
        tr_mean_value_exact( &c, p, w );
        vec3 at = v3_zero;
        double sum = 0;
        for ( int v = 0; v < 6; ++v ) {
            sum += w[v];
            at = v3_mad( at, w[v], m.vertices[v] );
        }
        check_near( sum, 1, 1e-9 );
        check_v3( at, v3( p.x, p.y, 0 ), 1e-8 );
    }
    tr_mean_value_free( &c );
}

static void meshes_that_will_not_do( void **state )
{
    (void)state;
    mesh m = make_octahedron();
    tr_mean_value c;
    tr_error error;
    assert_false( tr_mean_value_build( &c, m.vertices, 6, (const int( * )[3])m.triangles, 7, &error ) );
    assert_string_equal( error.message, "mean value coordinates need a closed mesh" );
    m.triangles[2][1] = 6;
    assert_false( tr_mean_value_build( &c, m.vertices, 6, (const int( * )[3])m.triangles, 8, &error ) );
    assert_false( tr_mean_value_build( &c, m.vertices, 1000, (const int( * )[3])m.triangles, 8, &error ) );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( weights_by_hand ),
        TEST( both_ways_give_the_same_weights ),
        TEST( triangles_without_area ),
        TEST( meshes_that_will_not_do ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
