#include "check.h"
#include "geometry/geometry.h"

typedef struct random_source {
    uint64_t state;
} random_source;

static double draw( random_source *random ) // uniform in [-1, 1], the same sequence everywhere
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (double)( random->state >> 11 ) / (double)( 1ull << 52 ) - 1.0;
}

static vec3 draw_point( random_source *random )
{
    double x = draw( random ), y = draw( random ), z = draw( random );
    return v3( x, y, z );
}

static rigid draw_rigid( random_source *random )
{
    quat q = q_from_vector( v3_scale( 3, draw_point( random ) ) );
    return ( rigid ){ q, draw_point( random ) };
}

// -------------------------------------------------------------------------------------------- distances

static void segments_by_hand( void **state )
{
    (void)state;
    double s, t;
    // A cross: the x axis from -1 to 1 and a line along z two above its middle.
    double d = tr_segment_distance( v3( -1, 0, 0 ), v3( 1, 0, 0 ), v3( 0, 2, -1 ), v3( 0, 2, 3 ), &s, &t );
    check_near( d, 2, 1e-15 );
    check_near( s, 0.5, 1e-15 );
    check_near( t, 0.25, 1e-15 );
    // Nearest at an end: (1,0,0) to (2,1,0), √2 apart.
    d = tr_segment_distance( v3_zero, v3_x, v3( 2, 1, 0 ), v3( 5, 9, 0 ), &s, &t );
    check_near( d, sqrt( 2 ), 1e-15 );
    check_near( s, 1, 0 );
    check_near( t, 0, 0 );
    // Parallel side by side, parallel one behind the other (gap 3), on one line, and the same twice.
    check_near( tr_segment_distance( v3_zero, v3_x, v3( 0.5, 1, 0 ), v3( 9, 1, 0 ), NULL, NULL ), 1, 0 );
    check_near( tr_segment_distance( v3_zero, v3_x, v3( 4, 4, 0 ), v3( 9, 4, 0 ), NULL, NULL ), 5, 1e-15 );
    check_near( tr_segment_distance( v3_zero, v3_x, v3( 5, 0, 0 ), v3( 4, 0, 0 ), NULL, NULL ), 3, 0 );
    check_near( tr_segment_distance( v3_zero, v3_one, v3_zero, v3_one, NULL, NULL ), 0, 0 );
    // Points instead of segments.
    check_near( tr_segment_distance( v3_one, v3_one, v3_zero, v3_zero, &s, &t ), sqrt( 3 ), 1e-15 );
    check_near( tr_segment_distance( v3_y, v3_y, v3( -1, 0, 0 ), v3_x, &s, &t ), 1, 0 );
    check_near( t, 0.5, 0 );
    check_near( tr_point_segment_distance( v3( 3, 4, 0 ), v3( -1, 0, 0 ), v3_zero, &t ), 5, 0 );
    check_near( t, 1, 0 );
}

static void capsules_by_hand( void **state )
{
    (void)state;
    // Axes 2 apart; radii 0.5 and 0.25 leave 1.25, radii 1.5 and 0.75 overlap by 0.25.
    vec3 a0 = { -1, 0, 0 }, a1 = { 1, 0, 0 }, b0 = { 0, 2, -1 }, b1 = { 0, 2, 3 };
    check_near( tr_capsule_distance( a0, a1, 0.5, b0, b1, 0.25 ), 1.25, 1e-15 );
    check_near( tr_capsule_distance( a0, a1, 1.5, b0, b1, 0.75 ), -0.25, 1e-15 );
}

static void boxes_by_hand( void **state )
{
    (void)state;
    rigid box = { q_axis_angle( v3_y, 90 * TR_DEGREE ), { 10, 0, 0 } };
    vec3 size = { 2, 4, 6 }; // turned a quarter: 6 along world x, 4 along y, 2 along z
    check_near( tr_point_box_distance( v3( 10, 0, 0 ), box, size ), -1, 1e-14 );
    check_near( tr_point_box_distance( v3( 12.5, 0, 0 ), box, size ), -0.5, 1e-14 );
    check_near( tr_point_box_distance( v3( 17, 2, 1 ), box, size ), 4, 1e-14 );
    check_near( tr_point_box_distance( v3( 16, 6, 1 ), box, size ), 5, 1e-14 );
    // Above the top face by 0.5, radius 0.2; and straight through the middle, 1 deep.
    check_near( tr_capsule_box_distance( v3( 0, 2.5, 0 ), v3( 20, 2.5, 0 ), 0.2, box, size ), 0.3, 1e-14 );
    check_near( tr_capsule_box_distance( v3( 10, -9, 0 ), v3( 10, 9, 0 ), 0.2, box, size ), -1.2, 1e-14 );
    // A zero-length axis is a ball, a zero-size box a point.
    check_near( tr_capsule_box_distance( v3( 10, 0, 4 ), v3( 10, 0, 4 ), 1, box, size ), 2, 1e-14 );
    check_near( tr_capsule_box_distance( v3( 9, 3, 0 ), v3( 11, 3, 0 ), 1, box, v3_zero ), 2, 1e-14 );
    // Past an edge along a diagonal: (12,-1)…(-1,12) keeps 11/√2 from the origin, the unit box's edge reaches
    // 1/√2 towards it.
    check_near( tr_capsule_box_distance( v3( 12, -1, 0 ), v3( -1, 12, 0 ), 0, rigid_identity, v3_one ),
                10 / sqrt( 2 ), 1e-13 );
}

static double sampled_segment_distance( vec3 a0, vec3 a1, vec3 b0, vec3 b1 )
{
    double least = HUGE_VAL;
    for ( int i = 0; i <= 400; ++i )
        least = fmin( least, tr_point_segment_distance( v3_lerp( a0, a1, i / 400.0 ), b0, b1, NULL ) );
    return least;
}

static void segments_against_samples( void **state )
{
    (void)state;
    random_source random = { 1 };
    for ( int n = 0; n < 1000; ++n ) {
        vec3 p[4];
        for ( int i = 0; i < 4; ++i )
            p[i] = draw_point( &random );
        if ( n % 4 == 1 ) // parallel, but for rounding
            p[3] = v3_mad( p[2], draw( &random ), v3_sub( p[1], p[0] ) );
        if ( n % 4 == 2 ) // nearly parallel
            p[3] = v3_add( v3_add( p[2], v3_sub( p[1], p[0] ) ), v3_scale( 1e-6, draw_point( &random ) ) );
        if ( n % 40 == 3 )
            p[1] = p[0];
        double s, t, d = tr_segment_distance( p[0], p[1], p[2], p[3], &s, &t );
        check_near( d, v3_distance( v3_lerp( p[0], p[1], s ), v3_lerp( p[2], p[3], t ) ), 1e-14 );
        double sampled = sampled_segment_distance( p[0], p[1], p[2], p[3] );
        assert_true( d <= sampled + 1e-12 );
        // a sample lies within 1/800 of the length of the true nearest point
        assert_true( d >= sampled - v3_distance( p[0], p[1] ) / 800 );
        check_near( tr_segment_distance( p[2], p[3], p[0], p[1], NULL, NULL ), d, 1e-12 );
        check_near( tr_segment_distance( p[1], p[0], p[2], p[3], NULL, NULL ), d, 1e-12 );
        rigid m = draw_rigid( &random );
        check_near( tr_segment_distance( rigid_apply( m, p[0] ), rigid_apply( m, p[1] ),
                                         rigid_apply( m, p[2] ), rigid_apply( m, p[3] ), NULL, NULL ),
                    d, 1e-12 );
    }
}

static void capsule_box_against_samples( void **state )
{
    (void)state;
    random_source random = { 2 };
    for ( int n = 0; n < 500; ++n ) {
        vec3 a = draw_point( &random ), b = draw_point( &random ), size = draw_point( &random );
        size = v3( 1 + size.x, 1 + size.y, n % 10 == 0 ? 0 : 1 + size.z );
        rigid box = draw_rigid( &random ), m = draw_rigid( &random );
        double d = tr_capsule_box_distance( a, b, 0.1, box, size ), sampled = HUGE_VAL;
        for ( int i = 0; i <= 1000; ++i )
            sampled = fmin( sampled, tr_point_box_distance( v3_lerp( a, b, i / 1000.0 ), box, size ) - 0.1 );
        assert_true( d <= sampled + 1e-14 && d >= sampled - v3_distance( a, b ) / 2000 );
        check_near( tr_capsule_box_distance( b, a, 0.1, box, size ), d, 1e-13 );
        check_near( tr_capsule_box_distance( rigid_apply( m, a ), rigid_apply( m, b ), 0.1,
                                             rigid_mul( m, box ), size ),
                    d, 1e-13 );
    }
}

// ---------------------------------------------------------------------------------------------- linking

static void linking_by_hand( void **state )
{
    (void)state;
    // Two opposite edges' worth of a cube seen from its centre: a along x at height ½, b along y at height
    // -½, both of length 1. r covers the unit square at height -1, seen from the origin like the face of a
    // cube of edge 2 cut in four about its middle: Ω = 4 asin(¼ / (¼ + 1)) for the half edges ½ and
    // distance 1. Viewed from above, a (nearer) turns counterclockwise onto b: positive.
    double whole = 4 * asin( 0.25 / 1.25 ) / ( 4 * TR_PI );
    vec3 a0 = { -0.5, 0, 0.5 }, a1 = { 0.5, 0, 0.5 }, b0 = { 0, -0.5, -0.5 }, b1 = { 0, 0.5, -0.5 };
    check_near( tr_segment_linking( a0, a1, b0, b1 ), whole, 1e-15 );
    check_near( tr_segment_linking( a1, a0, b0, b1 ), -whole, 1e-15 );
    check_near( tr_segment_linking( a0, a1, b1, b0 ), -whole, 1e-15 );
    // Near each other they fill almost half the sphere: 4 asin( 1 / (1 + h²) ) with half edges 1, distance h.
    double h = 1e-6, near = tr_segment_linking( v3( -1, 0, h ), v3( 1, 0, h ), v3( 0, -1, 0 ), v3_y );
    check_near( near, 0.5 - sqrt( 2 ) * h / TR_PI, 1e-10 );
    assert_true( near < 0.5 );
}

static void linking_of_degenerate_segments_is_zero( void **state )
{
    (void)state;
    vec3 o = v3_zero, far = { 2, 0, 0 };
    check_near( tr_segment_linking( o, o, v3_x, v3_y ), 0, 0 );                           // a point
    check_near( tr_segment_linking( o, o, o, o ), 0, 0 );                                 // all one point
    check_near( tr_segment_linking( o, v3_x, v3_x, v3_one ), 0, 0 );                      // joined at an end
    check_near( tr_segment_linking( o, v3_x, v3_y, v3( 1, 1, 0 ) ), 0, 0 );               // parallel
    check_near( tr_segment_linking( o, v3_x, far, v3( 3, 0, 0 ) ), 0, 0 );                // on one line
    check_near( tr_segment_linking( v3( -1, 0, 0 ), v3_x, v3( 0, -1, 0 ), v3_y ), 0, 0 ); // cutting
    check_near( tr_segment_linking( o, far, v3_x, v3_y ), 0, 0 );                         // end on the other
    check_near( tr_segment_linking( o, v3_one, o, v3_one ), 0, 0 );                       // the same twice
}

// The double integral by the midpoint rule, for segments a good way apart.
static double integrated_linking( vec3 a0, vec3 a1, vec3 b0, vec3 b1 )
{
    enum { steps = 60 };
    vec3 n = v3_cross( v3_sub( a1, a0 ), v3_sub( b1, b0 ) );
    double sum = 0;
    for ( int i = 0; i < steps; ++i )
        for ( int j = 0; j < steps; ++j ) {
            vec3 r = v3_sub( v3_lerp( a0, a1, ( i + 0.5 ) / steps ), v3_lerp( b0, b1, ( j + 0.5 ) / steps ) );
            sum += v3_dot( r, n ) / pow( v3_length( r ), 3 );
        }
    return sum / ( steps * steps ) / ( 4 * TR_PI );
}

static vec3 mirrored( vec3 p )
{
    return v3( -p.x, p.y, p.z );
}

static void linking_against_the_integral( void **state )
{
    (void)state;
    random_source random = { 3 };
    for ( int n = 0; n < 400; ++n ) {
        vec3 p[4], m[4];
        rigid move = draw_rigid( &random );
        for ( int i = 0; i < 4; ++i )
            p[i] = draw_point( &random );
        double gli = tr_segment_linking( p[0], p[1], p[2], p[3] );
        assert_true( fabs( gli ) < 0.5 );
        if ( tr_segment_distance( p[0], p[1], p[2], p[3], NULL, NULL ) > 0.3 )
            check_near( gli, integrated_linking( p[0], p[1], p[2], p[3] ), 2e-4 );
        check_near( tr_segment_linking( p[2], p[3], p[0], p[1] ), gli, 1e-12 );
        check_near(
            tr_segment_linking( mirrored( p[0] ), mirrored( p[1] ), mirrored( p[2] ), mirrored( p[3] ) ),
            -gli, 1e-12 );
        for ( int i = 0; i < 4; ++i )
            m[i] = rigid_apply( move, v3_scale( 1e3, p[i] ) ); // moved and a thousand times as large
        check_near( tr_segment_linking( m[0], m[1], m[2], m[3] ), gli, 1e-10 );
        // cutting a segment in two changes nothing
        vec3 middle = v3_lerp( p[0], p[1], 0.3 );
        check_near( tr_segment_linking( p[0], middle, p[2], p[3] ) +
                        tr_segment_linking( middle, p[1], p[2], p[3] ),
                    gli, 1e-12 );
    }
}

enum { ring_points = 14 };

static void ring( vec3 *points, vec3 centre, vec3 u, vec3 v )
{
    for ( int i = 0; i < ring_points; ++i ) {
        double angle = 2 * TR_PI * i / ( ring_points - 1 );
        points[i] = v3_mad( v3_mad( centre, cos( angle ), u ), sin( angle ), v );
    }
    points[ring_points - 1] = points[0];
}

static void closed_chains_link_by_integers( void **state )
{
    (void)state;
    vec3 a[ring_points], b[ring_points];
    ring( a, v3_zero, v3_x, v3_y );
    ring( b, v3( 1.1, 0, 0 ), v3_x, v3_z );
    double link = tr_chain_linking( a, ring_points, b, ring_points );
    check_near( fabs( link ), 1, 1e-12 );
    ring( b, v3( 1.1, 0, 0 ), v3_x, v3_negate( v3_z ) ); // run the other way
    check_near( tr_chain_linking( a, ring_points, b, ring_points ), -link, 1e-12 );
    ring( b, v3( 2.5, 0, 0 ), v3_x, v3_z ); // apart
    check_near( tr_chain_linking( a, ring_points, b, ring_points ), 0, 1e-12 );
    check_near( tr_chain_linking( a, 1, b, ring_points ), 0, 0 );
    check_near( tr_chain_linking( a, 0, b, 0 ), 0, 0 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( segments_by_hand ),
        TEST( capsules_by_hand ),
        TEST( boxes_by_hand ),
        TEST( segments_against_samples ),
        TEST( capsule_box_against_samples ),
        TEST( linking_by_hand ),
        TEST( linking_of_degenerate_segments_is_zero ),
        TEST( linking_against_the_integral ),
        TEST( closed_chains_link_by_integers ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
