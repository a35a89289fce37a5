// Delaunay tetrahedra against their definition, against Qhull, and on everything a point cloud can be.
#include "check.h"
#include "geometry/geometry.h"
#include "motion/motion.h"
#include "scenes/scenes.h"

#include <libqhull_r/qhull_ra.h>

#include <string.h>

static double draw( uint64_t *random ) // uniform in [-1, 1]
{
    return (double)( random_bits( random ) >> 11 ) / (double)( 1ull << 52 ) - 1.0;
}

static void draw_points( vec3 *points, int count, uint64_t seed )
{
    for ( int i = 0; i < count; ++i ) {
        points[i].x = draw( &seed );
        points[i].y = draw( &seed );
        points[i].z = draw( &seed );
    }
}

// ------------------------------------------------------------------------------------------------- checker

static double volume6( vec3 a, vec3 b, vec3 c, vec3 d )
{
    return v3_dot( v3_sub( b, a ), v3_cross( v3_sub( c, a ), v3_sub( d, a ) ) );
}

// How far p is inside the sphere through four points, as a length; negative outside. Slivers: -infinity.
static double inside_sphere( const vec3 *points, const int *tet, vec3 p )
{
    vec3 a = points[tet[0]];
    vec3 u = v3_sub( points[tet[1]], a ), v = v3_sub( points[tet[2]], a ), w = v3_sub( points[tet[3]], a );
    double det = 2 * v3_dot( u, v3_cross( v, w ) );
    if ( fabs( det ) < 1e-9 )
        return -HUGE_VAL;
    vec3 sum = v3_scale( v3_dot( u, u ), v3_cross( v, w ) );
    sum = v3_mad( sum, v3_dot( v, v ), v3_cross( w, u ) );
    sum = v3_mad( sum, v3_dot( w, w ), v3_cross( u, v ) );
    vec3 centre = v3_scale( 1 / det, sum );
    return v3_length( centre ) - v3_distance( v3_add( a, centre ), p );
}

static bool are_neighbours( const tr_delaunay *d, int a, int b )
{
    for ( int i = d->start[a]; i < d->start[a + 1]; ++i )
        if ( d->neighbours[i] == b )
            return true;
    return false;
}

static void check_neighbours( const tr_delaunay *d )
{
    for ( int a = 0; a < d->point_count; ++a ) {
        assert_true( d->twin[a] >= 0 && d->twin[a] <= a );
        assert_true( d->twin[d->twin[a]] == d->twin[a] );
        for ( int i = d->start[a]; i < d->start[a + 1]; ++i ) {
            int b = d->neighbours[i];
            assert_true( b >= 0 && b < d->point_count && b != a );
            assert_true( i == d->start[a] || d->neighbours[i - 1] < b );
            assert_true( are_neighbours( d, b, a ) );
        }
        if ( d->twin[a] != a )
            assert_int_equal( d->start[a], d->start[a + 1] );
    }
    for ( int t = 0; t < d->tet_count; ++t )
        for ( int i = 0; i < 4; ++i )
            for ( int k = 0; k < i; ++k )
                assert_true( are_neighbours( d, d->tets[t][i], d->tets[t][k] ) );
}

// Every invariant; returns six times the volume. `grid` is what rounding may do to a place.
static double check_delaunay( const tr_delaunay *d, const vec3 *points, double grid )
{
    double volume = 0;
    check_neighbours( d );
    for ( int t = 0; t < d->tet_count; ++t ) {
        const int *v = d->tets[t];
        double own = volume6( points[v[0]], points[v[1]], points[v[2]], points[v[3]] );
        assert_true( own > -100 * grid );
        volume += own;
        for ( int i = 0; i < d->point_count; ++i )
            if ( i != v[0] && i != v[1] && i != v[2] && i != v[3] && d->twin[i] == i )
                assert_true( inside_sphere( points, v, points[i] ) < 1e4 * grid );
    }
    return volume;
}

// Six times the volume of the convex hull as Qhull sees it, and how many tetrahedra it makes.
static double qhull_volume( const vec3 *points, int count, int *tets )
{
    qhT state, *qh = &state;
    coordT *copy = tr_alloc( 3 * (size_t)count, sizeof( coordT ) );
    for ( int i = 0; i < count; ++i )
        copy[3 * i] = points[i].x, copy[3 * i + 1] = points[i].y, copy[3 * i + 2] = points[i].z;
    FILE *quiet = fopen( "/dev/null", "w" );
    qh_zero( qh, quiet );
    char command[] = "qhull d Qt Qbb Qc Qz Q12";
    assert_int_equal( qh_new_qhull( qh, 3, count, copy, False, command, NULL, quiet ), 0 );
    double volume = 0;
    *tets = 0;
    facetT *facet;
    vertexT *vertex, **vertexp;
    FORALLfacets
    {
        // cppcheck-suppress uninitvar; Qhull's loop sets it
        if ( facet->upperdelaunay )
            continue;
        vec3 v[4];
        int k = 0;
        FOREACHvertex_( facet->vertices ) v[k++ & 3] = points[qh_pointid( qh, vertex->point )];
        volume += fabs( volume6( v[0], v[1], v[2], v[3] ) );
        ++*tets;
    }
    qh_freeqhull( qh, !qh_ALL );
    int blocks, bytes;
    qh_memfreeshort( qh, &blocks, &bytes );
    fclose( quiet );
    tr_free( copy );
    return volume;
}

// --------------------------------------------------------------------------------------------------- tests

static void random_clouds_agree_with_qhull( void **state )
{
    (void)state;
    tr_delaunay d = { 0 };
    tr_error error;
    vec3 points[200];
    for ( int round = 0; round < 40; ++round ) {
        int count = 5 + round * 5 - round % 2, tets;
        draw_points( points, count, 1000 + (uint64_t)round );
        check_ok( tr_delaunay_build( &d, points, count, &error ), &error );
        assert_int_equal( d.dimension, 3 );
        double volume = check_delaunay( &d, points, 0x1p-22 );
        check_near( volume, qhull_volume( points, count, &tets ), 1e-5 );
        assert_int_equal( d.tet_count, tets );
    }
    tr_delaunay_free( &d );
}

// Joints of the people of a built-in scene, all frames of the first seconds: many lie in one plane or on top
// of each other.
static void poses_agree_with_qhull( void **state )
{
    (void)state;
    tr_error error;
    tr_library library = { 0 };
    tr_scene scene = { 0 };
    tr_stage stage = { 0 };
    check_ok( tr_scene_build( tr_scene_entry_find( "squat_chain" ), 0, &scene, &library, &error ), &error );
    check_ok( tr_stage_build( &stage, &scene, NULL, &library, NULL, &error ), &error );
    tr_delaunay d = { 0 };
    vec3 points[256];
    for ( int f = 0; f < stage.frame_count; f += 7 ) {
        int count = 0, tets;
        for ( int i = 0; i < stage.actor_count && i < 3; ++i ) {
            tr_pose pose = tr_world_pose( &stage.actors[i].world, f );
            for ( int j = 0; j < stage.actors[i].world.joint_count && count < 256; ++j )
                points[count++] = pose.positions[j];
        }
        check_ok( tr_delaunay_build( &d, points, count, &error ), &error );
        check_near( check_delaunay( &d, points, 0x1p-20 ), qhull_volume( points, count, &tets ), 1e-4 );
    }
    tr_delaunay_free( &d );
    tr_stage_free( &stage );
    tr_library_free( &library );
    tr_scene_free( &scene );
}

static void four_points_and_fewer( void **state )
{
    (void)state;
    tr_delaunay d = { 0 };
    tr_error error;
    vec3 points[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for ( int count = 0; count <= 4; ++count ) {
        check_ok( tr_delaunay_build( &d, points, count, &error ), &error );
        assert_int_equal( d.dimension, count - 1 );
        assert_int_equal( d.tet_count, count == 4 );
        assert_int_equal( d.start[count], count * ( count - 1 ) ); // all are neighbours
        check_neighbours( &d );
    }
    check_near( check_delaunay( &d, points, 1e-12 ), 1, 1e-12 );
    tr_delaunay_free( &d );
}

static void points_of_a_plane_give_its_triangles( void **state )
{
    (void)state;
    tr_delaunay d = { 0 };
    tr_error error;
    // A kite in a tilted plane: the short diagonal (0, 2) is an edge, the long one (1, 3) is not.
    vec3 points[] = { { 0, 1, 1 }, { 3, 0, 0 }, { 0, -1, -1 }, { -3, 0, 0 }, { 3, 0, 0 } };
    check_ok( tr_delaunay_build( &d, points, 5, &error ), &error );
    assert_int_equal( d.dimension, 2 );
    assert_int_equal( d.tet_count, 0 );
    assert_true( are_neighbours( &d, 0, 2 ) );
    assert_false( are_neighbours( &d, 1, 3 ) );
    assert_int_equal( d.start[5], 10 );
    assert_int_equal( d.twin[4], 1 );
    // 100 random ones: every edge of a triangulation, 3 n − 3 − hull; at least that of a convex hull of all.
    vec3 many[100];
    draw_points( many, 100, 7 );
    for ( int i = 0; i < 100; ++i )
        many[i].y = 0.5; // exact, whatever x and z
    check_ok( tr_delaunay_build( &d, many, 100, &error ), &error );
    assert_int_equal( d.dimension, 2 );
    int edges = d.start[100] / 2;
    assert_true( edges >= 2 * 100 - 3 && edges <= 3 * 100 - 6 );
    check_neighbours( &d );
    tr_delaunay_free( &d );
}

static void points_of_a_line_form_a_chain( void **state )
{
    (void)state;
    tr_delaunay d = { 0 };
    tr_error error;
    vec3 points[16];
    for ( int i = 0; i < 16; ++i )
        points[i] = v3_scale( ( 5 * i ) % 16, v3( 1, 2, 3 ) );
    check_ok( tr_delaunay_build( &d, points, 16, &error ), &error );
    assert_int_equal( d.dimension, 1 );
    assert_int_equal( d.start[16], 30 ); // fifteen edges, each from both ends
    for ( int i = 0; i < 16; ++i )
        for ( int k = d.start[i]; k < d.start[i + 1]; ++k )
            check_near( v3_distance( points[i], points[d.neighbours[k]] ), sqrt( 14 ), 1e-12 );
    for ( int i = 0; i < 16; ++i )
        points[i] = v3( 4, 5, 6 );
    check_ok( tr_delaunay_build( &d, points, 16, &error ), &error );
    assert_int_equal( d.dimension, 0 );
    assert_int_equal( d.start[16], 0 );
    for ( int i = 0; i < 16; ++i )
        assert_int_equal( d.twin[i], 0 );
    tr_delaunay_free( &d );
}

// A lattice: eight points on every sphere, and everything in common planes.
static void cospherical_points_fill_their_hull( void **state )
{
    (void)state;
    tr_delaunay d = { 0 };
    tr_error error;
    vec3 points[125];
    for ( int i = 0; i < 125; ++i )
        points[i] = v3( i % 5, i / 5 % 5, i / 25 );
    check_ok( tr_delaunay_build( &d, points, 125, &error ), &error );
    check_near( check_delaunay( &d, points, 1e-12 ), 6 * 64, 1e-9 );
    for ( int t = 0; t < d.tet_count; ++t ) // none of them flat
        assert_true( volume6( points[d.tets[t][0]], points[d.tets[t][1]], points[d.tets[t][2]],
                              points[d.tets[t][3]] ) > 0.5 );
    // On one sphere, all of them.
    uint64_t random = 3;
    for ( int i = 0; i < 60; ++i )
        points[i] = v3_unit( v3( draw( &random ), draw( &random ), draw( &random ) ) );
    check_ok( tr_delaunay_build( &d, points, 60, &error ), &error );
    int tets;
    check_near( check_delaunay( &d, points, 1e-6 ), qhull_volume( points, 60, &tets ), 1e-5 );
    tr_delaunay_free( &d );
}

static void doubled_points_have_twins( void **state )
{
    (void)state;
    tr_delaunay d = { 0 };
    tr_error error;
    vec3 points[64];
    draw_points( points, 32, 11 );
    for ( int i = 0; i < 32; ++i )
        points[32 + i] = points[31 - i];
    check_ok( tr_delaunay_build( &d, points, 64, &error ), &error );
    for ( int i = 0; i < 32; ++i ) {
        assert_int_equal( d.twin[i], i );
        assert_int_equal( d.twin[32 + i], 31 - i );
    }
    int tets;
    check_near( check_delaunay( &d, points, 0x1p-22 ), qhull_volume( points, 32, &tets ), 1e-5 );
    assert_int_equal( d.tet_count, tets );
    tr_delaunay_free( &d );
}

// Flat up to noise, very far away, very small, very unequal: an answer in every case.
static void scales_and_noise( void **state )
{
    (void)state;
    tr_delaunay d = { 0 };
    tr_error error;
    vec3 points[50];
    static const double sizes[][3] = { { 1, 1e-9, 1 },
                                       { 1e300, 1e300, 1e300 },
                                       { 1e-300, 1e-300, 1e-300 },
                                       { 1, 1e-4, 1e4 },
                                       { 0, 0, 1e-320 } };
    for ( size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s ) {
        draw_points( points, 50, 40 + s );
        for ( int i = 0; i < 50; ++i )
            points[i] = v3_mul( points[i], v3( sizes[s][0], sizes[s][1], sizes[s][2] ) );
        check_ok( tr_delaunay_build( &d, points, 50, &error ), &error );
        check_neighbours( &d );
    }
    draw_points( points, 50, 90 );
    points[7].y = NAN;
    assert_false( tr_delaunay_build( &d, points, 50, &error ) );
    assert_non_null( strstr( error.message, "7" ) );
    tr_delaunay_free( &d );
}

static void running_out_of_memory_is_an_error( void **state )
{
    (void)state;
    vec3 points[40];
    draw_points( points, 40, 5 );
    bool ok = false;
    for ( long n = 1; !ok && n < 200; ++n ) {
        tr_delaunay d = { 0 };
        tr_error error;
        tr_memory_fail_from( n );
        ok = tr_delaunay_build( &d, points, 40, &error );
        tr_memory_fail_from( 0 );
        tr_delaunay_free( &d );
    }
    assert_true( ok );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( random_clouds_agree_with_qhull ),
        TEST( poses_agree_with_qhull ),
        TEST( four_points_and_fewer ),
        TEST( points_of_a_plane_give_its_triangles ),
        TEST( points_of_a_line_form_a_chain ),
        TEST( cospherical_points_fill_their_hull ),
        TEST( doubled_points_have_twins ),
        TEST( scales_and_noise ),
        TEST( running_out_of_memory_is_an_error ),
    };
    return cmocka_run_group_tests_name( "delaunay", tests, NULL, NULL );
}
