// Interaction meshes: their energy against sparse QR, what must not move, what must follow, and everything
// that could go wrong with a point cloud of people.
#include "duet_fixture.h"

// ---------------------------------------------------------------------------------------------------- webs

// A point in the middle of four at distances 1, 1, 2 and 4, the last one joined to it by a bone: weights 1 :
// 1 : ½ over 2.5.
static void weights_by_hand( void **state )
{
    (void)state;
    vec3 points[] = {
        { 0, 0, 0 }, { 1, 0, 0 }, { -0.6, 0.8, 0 }, { -0.4, -0.8, sqrt( 3.2 ) }, { 0, -0.4, -3.98 } };
    const int bones[1][2] = { { 4, 0 } };
    tr_imesh_web web;
    tr_delaunay scratch = { 0 };
    tr_error error;
    check_ok( tr_imesh_web_build( &web, &scratch, &( tr_imesh_points ){ points, 5, bones, 1, 0.02 }, &error ),
              &error );
    assert_int_equal( web.tet_count, 4 );
    assert_int_equal( web.start[1], 3 );
    static const double weights[] = { 0.4, 0.4, 0.2 };
    vec3 mean = v3_zero;
    for ( int i = 0; i < 3; ++i ) {
        assert_int_equal( web.neighbours[i], i + 1 );
        check_near( web.weights[i], weights[i], 1e-12 );
        mean = v3_mad( mean, weights[i], points[i + 1] );
    }
    check_v3( tr_imesh_laplacian( &web, points, 0 ), v3_negate( mean ), 1e-12 );
    tr_imesh_web_free( &web );
    tr_delaunay_free( &scratch );
}

// ------------------------------------------------------------------------------------------------ the energy

static void same_sizes_stay_where_they_are( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1, 1, 1 );
    d.cast.ground = 0;
    duet_solve( &d );
    check_near( farthest( &d.mesh, d.mesh.source, 1 ), 0, 1e-6 );
    check_near( d.report.energy, 0, 1e-12 );
    assert_int_equal( d.report.flipped, 0 );
    assert_int_equal( d.report.no_room_count + d.report.lost_count, 0 );
    duet_end( &d );
}

// Everything half as large again, everything between them too: the same motion, half as large again.
static void growth_of_all_is_similarity( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.5, 1.5, 1.5 );
    d.def.relations = 1.5;
    d.def.touch_reach = -1; // what touches would stay as near as it was,
    d.def.collision = 1e-9; // and what overlaps, as deep
    d.def.tolerance = 0;    // where the rounds lead to, not where they are good enough
    d.def.settle = 200;
    duet_solve( &d );
    check_near( farthest( &d.mesh, d.mesh.source, 1.5 ), 0, 2e-3 );
    check_bound( d.report.bone_error, MESH_BONE_CONVERGED );
    duet_end( &d );
}

static void bones_have_their_length( void **state )
{
    (void)state;
    static const double sizes[][2] = { { 1.3, 0.85 }, { 0.8, 1.4 }, { 1, 0.6 } };
    for ( int i = 0; i < 3; ++i ) {
        duet d;
        duet_start( &d, sizes[i][0], sizes[i][1], 1 );
        duet_solve( &d );
        check_bound( d.report.bone_error, MESH_BONE );
        check_bound( d.report.after.deepest, MESH_DEEP_M );
        duet_end( &d );
    }
}

// Points without bones: the rounds are one linear solve, and sparse QR gives the same answer.
static void loose_points_solve_like_sparse_qr( void **state )
{
    (void)state;
    enum { POINTS = 7, TIMES = 6 };
    tr_skeleton skeleton = { 0 };
    tr_error error;
    tr_body ball;
    uint64_t random = 9;
    tr_world worlds[POINTS], places[POINTS];
    tr_imesh_body bodies[POINTS];
    assert_int_equal( tr_skeleton_add( &skeleton, "ball", -1, v3_zero ), 0 );
    check_ok( tr_skeleton_classify( &skeleton, &error ), &error );
    check_ok( tr_body_build( &ball, &skeleton, NULL, 0, &error ), &error );
    ball.capsules[0].radius = 1e-3;
    vec3 from[POINTS][TIMES], to[POINTS][TIMES];
    quat still[TIMES];
    for ( int f = 0; f < TIMES; ++f )
        still[f] = q_identity;
    for ( int i = 0; i < POINTS; ++i ) {
        vec3 at = v3_scale( 1e-19, v3( (double)random_bits( &random ), (double)random_bits( &random ),
                                       (double)random_bits( &random ) ) );
        for ( int f = 0; f < TIMES; ++f ) {
            from[i][f] = v3_mad( at, 0.1 * f, v3( sin( i ), cos( i + f ), sin( 2 * i + f ) ) );
            to[i][f] = v3_mad( from[i][f], 0.3, v3( cos( i + f ), i % 2, sin( f ) ) );
        }
        worlds[i] = ( tr_world ){ 1, TIMES, still, from[i] };
        places[i] = ( tr_world ){ 1, TIMES, still, to[i] };
        bodies[i] = ( tr_imesh_body ){ &skeleton, &skeleton, &ball, &ball, &worlds[i], NULL, &places[i] };
    }
    tr_imesh_cast cast = {
        .bodies = bodies, .body_count = POINTS, .frame_count = TIMES, .ground = -INFINITY };
    tr_imesh_def def = tr_default_imesh_def();
    def.relations = 1.2;
    def.place = 0.3;
    tr_imesh mesh;
    check_ok( tr_imesh_build( &mesh, &cast, &def, &error ), &error );
    check_ok( tr_imesh_solve( &mesh, NULL, &error ), &error );
    assert_int_equal( mesh.vertex_count, POINTS );
    // Rows in the unknown positions x: M x = 1.2 δ, √w_p x = √w_p r, √w_a A x = √w_a A x̄.
    int rows = ( 2 * TIMES + TIMES - 2 ) * POINTS, row = 0;
    tr_sparse a = { .column_count = TIMES * POINTS };
    double *b = tr_alloc( 3 * (size_t)rows, sizeof( double ) ),
           *x = tr_alloc( 3 * TIMES * POINTS, sizeof( double ) );
    for ( int f = 0; f < TIMES; ++f )
        for ( int i = 0; i < POINTS; ++i, row += 2 ) {
            const tr_imesh_web *web = &mesh.webs[f];
            int columns[POINTS + 1] = { f * POINTS + i }, count = 1;
            double values[POINTS + 1] = { 1 };
            for ( int k = web->start[i]; k < web->start[i + 1]; ++k ) {
                columns[count] = f * POINTS + web->neighbours[k];
                values[count++] = -web->weights[k];
            }
            assert_true( tr_sparse_add( &a, columns, values, count ) );
            vec3 delta = v3_scale( 1.2, tr_imesh_laplacian( web, mesh.source + f * POINTS, i ) );
            vec3 place = v3_scale( sqrt( 0.3 ), to[i][f] );
            assert_true( tr_sparse_add( &a, columns, ( double[] ){ sqrt( 0.3 ) }, 1 ) );
            b[row] = delta.x, b[rows + row] = delta.y, b[2 * rows + row] = delta.z;
            b[row + 1] = place.x, b[rows + row + 1] = place.y, b[2 * rows + row + 1] = place.z;
        }
    for ( int f = 1; f + 1 < TIMES; ++f )
        for ( int i = 0; i < POINTS; ++i, ++row ) {
            double w = sqrt( def.acceleration );
            int columns[3] = { ( f - 1 ) * POINTS + i, f * POINTS + i, ( f + 1 ) * POINTS + i };
            assert_true( tr_sparse_add( &a, columns, ( double[] ){ w, -2 * w, w }, 3 ) );
            vec3 s = v3_add( v3_sub( from[i][f - 1], v3_scale( 2, from[i][f] ) ), from[i][f + 1] );
            b[row] = w * s.x, b[rows + row] = w * s.y, b[2 * rows + row] = w * s.z;
        }
    assert_int_equal( row, rows );
    check_ok( tr_least_squares( &a, b, NULL, NULL, 3, x, &error ), &error );
    for ( int i = 0; i < TIMES * POINTS; ++i )
        check_v3( mesh.positions[i], v3( x[i], x[TIMES * POINTS + i], x[2 * TIMES * POINTS + i] ), 1e-5 );
    tr_sparse_free( &a );
    tr_free( b );
    tr_free( x );
    tr_imesh_free( &mesh );
    tr_body_free( &ball );
    tr_skeleton_free( &skeleton );
}

static void threads_make_no_difference( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.2, 0.8, 1 );
    tr_parallel_set_threads( 1 );
    duet_solve( &d );
    size_t bytes = (size_t)d.mesh.frame_count * (size_t)d.mesh.vertex_count * sizeof( vec3 );
    vec3 *alone = tr_alloc( bytes, 1 );
    memcpy( alone, d.mesh.positions, bytes );
    tr_imesh_free( &d.mesh );
    tr_parallel_set_threads( 4 );
    duet_solve( &d );
    assert_memory_equal( alone, d.mesh.positions, bytes );
    check_ok( tr_imesh_solve( &d.mesh, NULL, &d.error ), &d.error ); // and again from the start
    assert_memory_equal( alone, d.mesh.positions, bytes );
    if ( d.def.lanes != TR_LANES_FLOAT ) {
        d.mesh.def.lanes = TR_LANES_FLOAT;
        check_ok( tr_imesh_solve( &d.mesh, NULL, &d.error ), &d.error );
        assert_memory_equal( alone, d.mesh.positions, bytes );
    }
    tr_parallel_set_threads( 0 );
    tr_free( alone );
    duet_end( &d );
}

// -------------------------------------------------------------------------------------------------- oddities

static void extremes_are_survived( void **state )
{
    (void)state;
    static const double sizes[][2] = { { 0.2, 1 }, { 5, 1 }, { 5, 0.2 }, { 0.01, 1 } };
    for ( int i = 0; i < 4; ++i ) {
        duet d;
        duet_start( &d, sizes[i][0], sizes[i][1], 1 );
        d.cast.ground = 0;
        duet_solve( &d ); // finite
        assert_true( isfinite( d.report.energy ) && isfinite( d.report.bone_error ) );
        duet_end( &d );
    }
    duet d; // into each other from the start
    duet_start( &d, 1.2, 1, 1 );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 0; j < d.players[1].source_world.joint_count; ++j ) {
            int at = f * d.players[1].source_world.joint_count + j;
            d.players[1].source_world.positions[at] = d.players[0].source_world.positions[at];
            d.players[1].source_world.rotations[at] = d.players[0].source_world.rotations[at];
        }
    duet_solve( &d );
    duet_end( &d );
}

static void empty_casts_are_fine( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.3, 1, 1 );
    d.cast.frame_count = 0;
    duet_solve( &d );
    tr_imesh_free( &d.mesh );
    d.cast.frame_count = FRAMES;
    d.cast.body_count = 0;
    duet_solve( &d );
    tr_imesh_free( &d.mesh );
    rigid at = rigid_identity;
    tr_imesh_box wall = { &at, &at, 1, v3_one, v3_one, false };
    d.cast.boxes = &wall;
    d.cast.box_count = 1;
    duet_solve( &d ); // nothing that could move
    tr_imesh_free( &d.mesh );
    d.cast.body_count = 1;
    d.cast.box_count = 0;
    duet_solve( &d ); // one body alone: it keeps its own relations
    check_bound( d.report.bone_error, MESH_BONE );
    duet_end( &d );
}

// A body all of whose joints lie in one plane, one line, and one place.
static void flat_bodies_are_fine( void **state )
{
    (void)state;
    for ( int dimension = 0; dimension < 3; ++dimension ) {
        duet d;
        duet_start( &d, 1.1, 1.1, 1 );
        for ( int i = 0; i < 2; ++i )
            for ( int k = 0; k < FRAMES * d.players[i].source_world.joint_count; ++k ) {
                vec3 *p = &d.players[i].source_world.positions[k];
                *p = v3( dimension > 0 ? p->x : 0, dimension > 1 ? p->y : 0, 0 );
            }
        duet_solve( &d );
        duet_end( &d );
    }
}

static void memory_may_run_out( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.2, 0.9, 1 );
    d.cast.frame_count = 3;
    tr_parallel_set_threads( 1 );
    bool ok = false;
    for ( long n = 1; !ok && n < 400; ++n ) {
        tr_memory_fail_from( n );
        ok = tr_imesh_build( &d.mesh, &d.cast, &d.def, &d.error );
        ok = ok && tr_imesh_solve( &d.mesh, &d.report, &d.error );
        tr_memory_fail_from( 0 );
        tr_imesh_free( &d.mesh );
    }
    assert_true( ok );
    tr_parallel_set_threads( 0 );
    duet_end( &d );
}

// ----------------------------------------------------------------------------------------------------- poses

static void poses_come_back( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1, 1, 1 );
    duet_solve( &d );
    int joints = d.players[0].target.joint_count;
    quat rotations[32];
    vec3 positions[32];
    tr_pose out = { rotations, positions };
    for ( int f = 0; f < FRAMES; f += 10 ) { // nothing moved: the pose it was
        tr_pose like = tr_world_pose( &d.players[1].place, f );
        tr_imesh_pose( &d.mesh, 1, f, like, out );
        for ( int j = 0; j < joints; ++j ) {
            check_v3( positions[j], like.positions[j], 1e-5 );
            check_rotation( rotations[j], like.rotations[j], 1e-4 );
        }
    }
    // The whole mesh turned: every joint turned, but for the feet, whose soles stay.
    quat turn = q_from_vector( v3( 0.4, -0.7, 0.2 ) );
    for ( int i = 0; i < d.mesh.frame_count * d.mesh.vertex_count; ++i )
        d.mesh.positions[i] = q_rotate( turn, d.mesh.positions[i] );
    tr_pose like = tr_world_pose( &d.players[0].place, 3 );
    tr_imesh_pose( &d.mesh, 0, 3, like, out );
    for ( int j = 0; j < joints; ++j ) {
        if ( strstr( d.players[0].target.joints[j].name, "Toe" ) != NULL )
            continue;
        bool foot = strstr( d.players[0].target.joints[j].name, "Foot" ) != NULL;
        check_v3( positions[j], q_rotate( turn, like.positions[j] ), 1e-4 );
        check_rotation( rotations[j], foot ? like.rotations[j] : q_mul( turn, like.rotations[j] ), 0.05 );
    }
    duet_end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( weights_by_hand ),
        TEST( same_sizes_stay_where_they_are ),
        TEST( growth_of_all_is_similarity ),
        TEST( bones_have_their_length ),
        TEST( loose_points_solve_like_sparse_qr ),
        TEST( threads_make_no_difference ),
        TEST( extremes_are_survived ),
        TEST( empty_casts_are_fine ),
        TEST( flat_bodies_are_fine ),
        TEST( memory_may_run_out ),
        TEST( poses_come_back ),
    };
    return cmocka_run_group_tests_name( "imesh", tests, NULL, NULL );
}
