// Shapes against each other, against sampling, and against the Open Dynamics Engine.
#include "check.h"
#include "geometry/geometry.h"

#include <ode/ode.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- meshes

static const int cube_faces[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
                                       { 0, 1, 5 }, { 0, 5, 4 }, { 2, 6, 7 }, { 2, 7, 3 },
                                       { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };

static void build( tr_trimesh *mesh, const vec3 *points, int point_count, const int ( *faces )[3], int count )
{
    tr_error error;
    check_ok( tr_trimesh_build( mesh, points, point_count, faces, count, &error ), &error );
}

static void build_box( tr_trimesh *mesh, vec3 size )
{
    vec3 corners[8];
    for ( int k = 0; k < 8; ++k )
        corners[k] = v3_mul( size, v3( k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5 ) );
    build( mesh, corners, 8, cube_faces, 12 );
}

enum { around = 24, across = 12 };

// Not convex, and with a hole.
static void build_ring( tr_trimesh *mesh, double radius, double thickness )
{
    vec3 points[around * across];
    int faces[2 * around * across][3];
    for ( int i = 0; i < around * across; ++i ) {
        double u = 2 * TR_PI * ( i / across ) / around, v = 2 * TR_PI * ( i % across ) / across;
        double r = radius + thickness * cos( v );
        points[i] = v3( r * cos( u ), thickness * sin( v ), r * sin( u ) );
        int a = i, b = i / across * across + ( i + 1 ) % across, c = ( a + across ) % ( around * across ),
            d = ( b + across ) % ( around * across );
        memcpy( faces[2 * i], ( int[3] ){ a, b, d }, sizeof *faces );
        memcpy( faces[2 * i + 1], ( int[3] ){ a, d, c }, sizeof *faces );
    }
    build( mesh, points, around * across, (const int( * )[3])faces, 2 * around * across );
}

static void a_mesh_of_a_box_is_that_box( void **state )
{
    (void)state;
    tr_trimesh mesh;
    vec3 size = v3( 1, 0.4, 0.7 );
    build_box( &mesh, size );
    assert_true( mesh.closed );
    tr_shape solid = tr_shape_mesh( &mesh, 0.1 ), box = tr_shape_box( size );
    check_v3( solid.size, size, 1e-15 );
    uint64_t seed = 5;
    rigid at = { q_unit( ( quat ){ 0.1, 0.3, -0.2, 0.9 } ), v3( 0.3, 1, -2 ) };
    for ( int i = 0; i < 4000; ++i ) {
        vec3 a = v3_add( at.position, random_vector( &seed, 0.9 ) ),
             b = v3_add( a, random_vector( &seed, i % 3 == 0 ? 0 : 0.4 ) );
        double expected = tr_shape_distance( &box, at, a, b, 0.05 ),
               found = tr_shape_distance( &solid, at, a, b, 0.05 );
        check_near( found, expected, expected > -0.05 ? 1e-12 : 2e-6 );
        tr_touch touch = tr_shape_touch( &solid, at, a, b );
        check_near( v3_length( touch.normal ), 1, 1e-12 );
        check_near( touch.distance - 0.05, found, 1e-12 );
        vec3 p = rigid_apply( rigid_inverse( at ), v3_lerp( a, b, touch.t ) );
        check_v3( v3_mad( touch.place, touch.distance, touch.normal ), p, 1e-9 );
    }
    tr_trimesh_free( &mesh );
}

// Inside out, with points of its own for every triangle, and with triangles that are none.
static void files_of_all_kinds_are_the_same_mesh( void **state )
{
    (void)state;
    tr_trimesh mesh, loose;
    build_box( &mesh, v3( 1, 2, 3 ) );
    vec3 points[39];
    int faces[13][3];
    for ( int t = 0; t < 13; ++t )
        for ( int i = 0; i < 3; ++i ) {
            points[3 * t + i] = t < 12 ? mesh.points[mesh.triangles[t][2 - i]] : v3( 1, 1, 1 );
            faces[t][i] = 3 * t + i;
        }
    build( &loose, points, 39, (const int( * )[3])faces, 13 );
    assert_true( loose.closed );
    assert_int_equal( loose.point_count, 8 );
    assert_int_equal( loose.triangle_count, 12 );
    uint64_t seed = 9;
    for ( int i = 0; i < 500; ++i ) {
        vec3 a = random_vector( &seed, 2 );
        check_near( tr_segment_trimesh_touch( a, a, &loose ).distance,
                    tr_segment_trimesh_touch( a, a, &mesh ).distance, 1e-14 );
    }
    tr_trimesh_free( &mesh );
    tr_trimesh_free( &loose );
    tr_error error;
    assert_false( tr_trimesh_build( &mesh, points, 3, (const int( * )[3])faces + 1, 1, &error ) );
    assert_non_null( strstr( error.message, "no point" ) );
    points[1].y = NAN;
    assert_false( tr_trimesh_build( &mesh, points, 39, (const int( * )[3])faces, 13, &error ) );
    assert_non_null( strstr( error.message, "not finite" ) );
    assert_false( tr_trimesh_build( &mesh, points, 1, NULL, 0, &error ) );
    assert_non_null( strstr( error.message, "no triangle" ) );
}

// Distances of all triangles, one by one, and the sign by counting how often a ray comes out.
static double by_counting( const tr_trimesh *mesh, vec3 p )
{
    double best = INFINITY;
    for ( int t = 0; t < mesh->triangle_count; ++t ) {
        tr_trimesh one;
        const int corners[1][3] = { { 0, 1, 2 } };
        const int *c = mesh->triangles[t];
        vec3 points[3] = { mesh->points[c[0]], mesh->points[c[1]], mesh->points[c[2]] };
        build( &one, points, 3, corners, 1 );
        assert_false( one.closed );
        best = fmin( best, tr_segment_trimesh_touch( p, p, &one ).distance );
        tr_trimesh_free( &one );
    }
    int crossings = 0;
    vec3 way = v3_unit( v3( 0.31, 0.87, 0.23 ) ), from = p;
    for ( double s; isfinite( s = tr_trimesh_ray( mesh, from, way, NULL ) ); ++crossings )
        from = v3_mad( from, s + 1e-9, way );
    return crossings % 2 != 0 ? -best : best;
}

static void a_ring_has_an_inside_and_a_hole( void **state )
{
    (void)state;
    tr_trimesh ring;
    build_ring( &ring, 0.5, 0.2 );
    assert_true( ring.closed );
    uint64_t seed = 3;
    for ( int i = 0; i < 60; ++i ) {
        vec3 p = random_vector( &seed, 0.8 );
        p.y *= 0.3;
        check_near( tr_segment_trimesh_touch( p, p, &ring ).distance, by_counting( &ring, p ), 1e-12 );
    }
    assert_true( tr_segment_trimesh_touch( v3_zero, v3_zero, &ring ).distance > 0.27 );
    tr_touch through = tr_segment_trimesh_touch( v3( -1, 0.01, 0 ), v3( 0, 0.01, 0 ), &ring );
    assert_true( through.distance < -0.17 && fabs( through.t - 0.5 ) < 0.05 );
    tr_trimesh_free( &ring );
}

// Along segments: no place of a thousand is deeper or nearer.
static void a_copy_answers_alike( void **state )
{
    (void)state;
    tr_trimesh mesh, copy;
    tr_error error;
    double before[50];
    uint64_t seed = 3, again = 3;
    build_ring( &mesh, 1, 0.3 );
    check_ok( tr_trimesh_copy( &copy, &mesh, &error ), &error );
    for ( int i = 0; i < 50; ++i ) {
        vec3 a = random_vector( &seed, 1.5 ), b = random_vector( &seed, 1.5 );
        before[i] = tr_segment_trimesh_touch( a, b, &mesh ).distance;
    }
    tr_trimesh_free( &mesh );
    for ( int i = 0; i < 50; ++i ) {
        vec3 a = random_vector( &again, 1.5 ), b = random_vector( &again, 1.5 );
        assert_true( tr_segment_trimesh_touch( a, b, &copy ).distance == before[i] );
    }
    tr_trimesh_free( &copy );
}

static void no_place_along_an_axis_is_nearer( void **state )
{
    (void)state;
    tr_trimesh ring;
    build_ring( &ring, 0.5, 0.2 );
    uint64_t seed = 13;
    for ( int i = 0; i < 150; ++i ) {
        vec3 a = random_vector( &seed, 0.9 ), b = v3_add( a, random_vector( &seed, 0.3 ) );
        double found = tr_segment_trimesh_touch( a, b, &ring ).distance, sampled = INFINITY;
        for ( int k = 0; k <= 1000; ++k ) {
            vec3 p = v3_lerp( a, b, k / 1000.0 );
            sampled = fmin( sampled, tr_segment_trimesh_touch( p, p, &ring ).distance );
        }
        assert_true( found <= sampled + 1e-4 && found >= sampled - 1e-3 );
    }
    tr_trimesh_free( &ring );
}

// -------------------------------------------------------------------------------------------------- others

static void balls_and_rails_are_capsules( void **state )
{
    (void)state;
    vec3 rail[3] = { { 5, 1, 0 }, { 6, 1.5, 0 }, { 6, 2, 1 } };
    tr_shape line = tr_shape_polyline( rail, 3, 0.1 ), ball = tr_shape_sphere( 0.5 );
    vec3 middle = v3( 5.5, 1.5, 0.5 );
    check_v3( line.middle, middle, 1e-15 );
    check_v3( line.size, v3( 1.1, 1.1, 1.1 ), 1e-15 );
    uint64_t seed = 4;
    for ( int i = 0; i < 500; ++i ) {
        rigid at = { q_from_vector( random_vector( &seed, 2 ) ), random_vector( &seed, 1 ) };
        vec3 a = v3_add( at.position, random_vector( &seed, 1 ) ), b = random_vector( &seed, 1 ), c[3];
        double factor = i % 2 == 0 ? 1 : 1.7;
        for ( int k = 0; k < 3; ++k )
            c[k] = rigid_apply( at, v3_scale( factor, v3_sub( rail[k], middle ) ) );
        tr_shape larger = tr_shape_scaled( &line, factor ), boxed = tr_shape_in( &line, larger.size );
        double expected = fmin( tr_capsule_distance( a, b, 0.02, c[0], c[1], 0.05 * factor ),
                                tr_capsule_distance( a, b, 0.02, c[1], c[2], 0.05 * factor ) );
        check_near( tr_shape_distance( &larger, at, a, b, 0.02 ), expected, 1e-12 );
        check_near( tr_shape_distance( &boxed, at, a, b, 0.02 ), expected, 1e-12 );
        check_near( tr_shape_distance( &ball, at, a, b, 0.02 ),
                    tr_capsule_distance( a, b, 0.02, at.position, at.position, 0.25 ), 1e-12 );
    }
}

static void an_open_mesh_is_a_board( void **state )
{
    (void)state;
    const vec3 points[4] = { { 0, 0, 0 }, { 2, 1, 0 }, { 2, 1, 2 }, { 0, 0, 2 } };
    const int faces[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    tr_trimesh mesh;
    build( &mesh, points, 4, faces, 2 );
    assert_false( mesh.closed );
    tr_shape board = tr_shape_mesh( &mesh, 0.04 );
    rigid at = { q_identity, v3( 1, 0.5, 1 ) }; // as in the points' own coordinates
    vec3 up = v3_unit( v3( -1, 2, 0 ) ), on = v3( 1, 0.5, 1 );
    for ( int side = -1; side <= 1; side += 2 ) {
        vec3 p = v3_mad( on, 0.3 * side, up );
        tr_touch touch = tr_shape_touch( &board, at, p, p );
        check_near( touch.distance, 0.28, 1e-12 );
        check_v3( touch.normal, v3_scale( side, up ), 1e-12 );
    }
    check_near( tr_shape_height( &board, at, v3( 1, 1, 1 ), 0, 0 ), 0.48, 1e-12 );
    assert_true( isinf( tr_shape_height( &board, at, v3( 1, 0.4, 1 ), 0.05, 0 ) ) ); // below it
    tr_trimesh_free( &mesh );
}

static void heights_are_above_what_is_below( void **state )
{
    (void)state;
    tr_trimesh mesh, ring;
    build_box( &mesh, v3( 1, 0.4, 0.7 ) );
    build_ring( &ring, 0.5, 0.2 );
    tr_shape solid = tr_shape_mesh( &mesh, 0 ), box = tr_shape_box( v3( 1, 0.4, 0.7 ) ),
             hoop = tr_shape_mesh( &ring, 0 ), ball = tr_shape_sphere( 1 );
    vec3 rail[2] = { { 0, 0, 0 }, { 2, 1, 0 } };
    tr_shape line = tr_shape_polyline( rail, 2, 0.2 );
    rigid at = { q_axis_angle( v3_y, 0.4 ), v3( 3, 1, 2 ) };
    vec3 p = v3( 3.1, 1.5, 2.05 );
    check_near( tr_shape_height( &box, at, p, 0.1, 0 ), 0.3, 1e-12 );
    check_near( tr_shape_height( &solid, at, p, 0.1, 0 ), 0.3, 1e-12 );
    p.y = 1.15; // inside by 5 cm
    check_near( tr_shape_height( &solid, at, p, 0.1, 0 ), -0.05, 1e-12 );
    p.y = 0.9; // deep inside
    assert_true( isinf( tr_shape_height( &solid, at, p, 0.1, 0 ) ) );
    check_near( tr_shape_exit( &solid, v3( 0.1, -0.1, 0.05 ), v3_y ), 0.3, 2e-4 );
    check_near( tr_shape_exit( &ball, v3( 0.3, 0, 0 ), v3_y ), 0.4, 2e-4 );
    check_near( tr_shape_height( &hoop, at, v3( 3.5, 9, 2 ), 0.1, 0 ), 9 - 1.2, 0.01 );
    assert_true( isinf( tr_shape_height( &hoop, at, v3( 3, 9, 2 ), 0.1, 0 ) ) ); // through its hole
    check_near( tr_shape_height( &ball, at, v3( 3.3, 2, 2 ), 0, 0 ), 0.6, 1e-9 );
    assert_true( isinf( tr_shape_height( &ball, at, v3( 3.6, 2, 2 ), 0, 0 ) ) );
    assert_true( isinf( tr_shape_height( &ball, at, v3( 3, 1.2, 2 ), 0.1, 0 ) ) ); // its top is higher
    rigid flat = { q_identity, v3( 1, 0.5, 0 ) };
    check_near( tr_shape_height( &line, flat, v3( 1, 2, 0 ), 0, 0 ), 1.5 - 0.1 * sqrt( 5 ) / 2, 1e-9 );
    tr_trimesh_free( &mesh );
    tr_trimesh_free( &ring );
}

// ----------------------------------------------------------------------------------------- a second opinion

typedef struct opinion {
    bool touches;
    double depth;
} opinion;

// A capsule against the mesh as the engine has it: whether they overlap, and the deepest of its contacts.
static opinion ask_engine( dGeomID mesh, vec3 a, vec3 b, double radius )
{
    dContactGeom contacts[64];
    vec3 axis = v3_sub( b, a ), middle = v3_lerp( a, b, 0.5 );
    quat turn = q_between( v3_z, axis );
    dGeomID capsule = dCreateCapsule( NULL, radius, v3_length( axis ) );
    dGeomSetPosition( capsule, middle.x, middle.y, middle.z );
    dGeomSetQuaternion( capsule, ( dQuaternion ){ turn.w, turn.x, turn.y, turn.z } );
    int count = dCollide( mesh, capsule, 64, contacts, sizeof *contacts );
    opinion out = { count > 0, 0 };
    for ( int i = 0; i < count; ++i )
        out.depth = fmax( out.depth, contacts[i].depth );
    dGeomDestroy( capsule );
    return out;
}

static void an_engine_agrees( void **state )
{
    (void)state;
    tr_trimesh ring;
    build_ring( &ring, 0.5, 0.2 );
    dInitODE2( 0 );
    static double vertices[around * across][3];
    static dTriIndex indices[2 * around * across][3];
    for ( int i = 0; i < ring.point_count; ++i )
        memcpy( vertices[i], &ring.points[i], sizeof vertices[i] );
    for ( int t = 0; t < ring.triangle_count; ++t )
        for ( int i = 0; i < 3; ++i )
            indices[t][i] = (dTriIndex)ring.triangles[t][i];
    dTriMeshDataID data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble( data, vertices, sizeof *vertices, ring.point_count, indices,
                                 3 * ring.triangle_count, sizeof *indices );
    dGeomID mesh = dCreateTriMesh( NULL, data, NULL, NULL, NULL );
    uint64_t seed = 21;
    int touching = 0, shallow = 0;
    for ( int i = 0; i < 3000; ++i ) {
        vec3 a = random_vector( &seed, 0.9 ), b = v3_add( a, random_vector( &seed, 0.25 ) );
        tr_touch touch = tr_segment_trimesh_touch( a, b, &ring );
        double distance = touch.distance - 0.08;
        opinion engine = ask_engine( mesh, a, b, 0.08 );
        // The engine knows surfaces only: what is inside as a whole does not touch for it.
        if ( touch.distance > 0 && fabs( distance ) > 2e-3 ) {
            touching += distance < 0;
            assert_int_equal( engine.touches, distance < 0 );
        }
        if ( touch.distance > 0.02 && distance < -2e-3 ) { // where its axis is outside, depths agree
            shallow += fabs( engine.depth + distance ) < 5e-3;
        }
    }
    print_message( "%d touch, %d of them agree about the depth to 5 mm\n", touching, shallow );
    assert_true( touching > 200 && shallow > touching / 2 );
    dGeomDestroy( mesh );
    dGeomTriMeshDataDestroy( data );
    dCloseODE();
    tr_trimesh_free( &ring );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_mesh_of_a_box_is_that_box ),
        TEST( files_of_all_kinds_are_the_same_mesh ),
        TEST( a_ring_has_an_inside_and_a_hole ),
        TEST( no_place_along_an_axis_is_nearer ),
        TEST( balls_and_rails_are_capsules ),
        TEST( an_open_mesh_is_a_board ),
        TEST( heights_are_above_what_is_below ),
        TEST( an_engine_agrees ),
        TEST( a_copy_answers_alike ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
