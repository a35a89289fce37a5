// Pose graphs: their shape on any skeleton, and constraints of every kind.
#include "posegraph_fixture.h"
#include "scenes/scenes.h"

// -------------------------------------------------------------------------------------------------- graphs

static tr_skeleton make_star( int rays )
{
    tr_skeleton skeleton = { 0 };
    tr_skeleton_add( &skeleton, "hub", -1, v3_zero );
    char name[32];
    for ( int j = 0; j < rays; ++j ) {
        snprintf( name, sizeof name, "r%d", j );
        tr_skeleton_add( &skeleton, name, 0, v3( cos( j ), sin( 2.0 * j ), sin( j ) ) );
    }
    return skeleton;
}

// Corners around their joint, perpendicular to a bone, as thick as asked for, corresponding ones side by
// side.
static void check_graph( const tr_skeleton *skeleton )
{
    tr_error error;
    tr_body body;
    tr_posegraph g;
    tr_posegraph_def def = tr_default_posegraph_def();
    check_ok( tr_body_build( &body, skeleton, NULL, 0, &error ), &error );
    check_ok( tr_posegraph_build( &g, skeleton, &body, &def, &error ), &error );
    assert_int_equal( g.joint_count, skeleton->joint_count );
    size_t n = (size_t)g.joint_count;
    tr_pose rest = { tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    vec3 *v = tr_alloc( 3 * n, sizeof( vec3 ) );
    tr_forward_rest( skeleton, rest );
    tr_posegraph_pose( &g, rest, v );
    for ( int j = 0; j < g.joint_count; ++j ) {
        check_v3( tr_posegraph_joint( v, j ), rest.positions[j], 1e-12 );
        vec3 bone = q_rotate( rest.rotations[j], g.bones[j] );
        double radius = v3_length( g.corners[3 * j] ), beside = 0;
        assert_true( radius >= 1e-3 );
        for ( int k = 0; k < 3; ++k ) {
            vec3 corner = v3_sub( v[3 * j + k], rest.positions[j] );
            check_near( v3_length( corner ), radius, 1e-12 );
            check_near( v3_dot( corner, bone ), 0, 1e-12 );
            check_near( v3_distance( v[3 * j + k], v[3 * j + ( k + 1 ) % 3] ), sqrt( 3.0 ) * radius, 1e-12 );
            if ( j > 0 )
                beside += v3_dot( corner, v3_sub( v[3 * g.parents[j] + k], rest.positions[g.parents[j]] ) );
        }
        if ( j > 0 ) // three rails cannot cross: at worst the planes are at right angles
            assert_true( beside > 1.4 * radius * v3_length( g.corners[3 * g.parents[j]] ) );
    }
    tr_free( rest.rotations );
    tr_free( rest.positions );
    tr_free( v );
    tr_posegraph_free( &g );
    tr_body_free( &body );
}

// However it is computed: the same bits, and nothing beyond the last corner.
static void corners_of_a_pose( void **state )
{
    (void)state;
    tr_error error;
    tr_posegraph g;
    tr_posegraph_def def = tr_default_posegraph_def();
    tr_skeleton skeleton = make_star( 6 );
    check_ok( tr_posegraph_build( &g, &skeleton, NULL, &def, &error ), &error );
    quat turns[7];
    vec3 places[7], v[22] = { [21] = { 1, 2, 3 } };
    uint64_t seed = 11;
    for ( int j = 0; j < 7; ++j ) {
        turns[j] = q_from_vector( random_vector( &seed, 3 ) );
        places[j] = random_vector( &seed, 100 );
    }
    tr_posegraph_pose( &g, ( tr_pose ){ turns, places }, v );
    for ( int k = 0; k < 21; ++k ) {
        vec3 at = v3_add( places[k / 3], m3_mulv( m3_from_quat( turns[k / 3] ), g.corners[k] ) );
        assert_memory_equal( &v[k], &at, sizeof at );
    }
    assert_true( v[21].x == 1 && v[21].y == 2 && v[21].z == 3 );
    tr_posegraph_free( &g );
    tr_skeleton_free( &skeleton );
}

static void graphs_of_built_in_bodies( void **state )
{
    (void)state;
    static const char *const names[] = { "box_relay", "spider", "wolf" };
    for ( int i = 0; i < 3; ++i ) {
        tr_scene scene = tr_default_scene();
        tr_library library = { 0 };
        tr_error error;
        const tr_scene_entry *entry = tr_scene_entry_find( names[i] );
        check_ok( tr_scene_build( entry, entry->min_cast, &scene, &library, &error ), &error );
        int largest = 0; // the most characters and props in a cluster
        for ( int k = 1; k < library.count; ++k )
            if ( library.items[k].motion.skeleton.joint_count >
                 library.items[largest].motion.skeleton.joint_count )
                largest = k;
        assert_true( library.items[largest].motion.skeleton.joint_count > 30 );
        check_graph( &library.items[largest].motion.skeleton );
        tr_library_free( &library );
        tr_scene_free( &scene );
    }
}

static void graphs_of_strange_skeletons( void **state )
{
    (void)state;
    tr_skeleton skeletons[6] = { make_chain( 1, 0 ),
                                 make_chain( 200, 0.05 ),
                                 make_star( 20 ),
                                 make_figure( 1 ),
                                 make_chain( 5, 0 ) /* all in one place */,
                                 make_figure( 0.001 ) };
    for ( int i = 0; i < 6; ++i ) {
        tr_error error;
        check_ok( tr_skeleton_classify( &skeletons[i], &error ), &error );
        check_graph( &skeletons[i] );
        tr_skeleton_free( &skeletons[i] );
    }
}

// ---------------------------------------------------------------------------------------------- one figure

static void transfer_without_rows_is_the_posed_body( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.5, v3( 100, 0, -50 ) );
    ready( &r );
    tr_error error;
    check_ok( tr_cluster_transfer( &r.job, &error ), &error );
    size_t bytes = FRAMES * 3 * (size_t)r.actors[0].graph.joint_count * sizeof( vec3 );
    assert_memory_equal( r.out[0], r.reference[0], bytes );
    // And deformation finds nothing to do: lengths are the target's up to the rounding of a float.
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        for ( int j = 0; j < r.actors[0].graph.joint_count; ++j )
            check_v3( after( &r, 0, j, f ), before( &r, 0, j, f ), 1e-6 );
        assert_true( r.iterations[f] <= 2 );
        check_rotation( r.turns[0][f], q_identity, 1e-5 );
    }
    end_rig( &r );
}

static void hard_rows_are_met( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int k = 0; k < 4; ++k ) {
            const tr_goal *goal = goal_at( &r, k, f );
            double miss = v3_distance( after( &r, 0, extremities[k], f ), goal->target );
            if ( goal->compliance[0] == 0 )
                check_near( miss, 0, 1e-5 );
            if ( goal->compliance[0] >= 0 )
                check_near( error_at( &r, k, f ), miss, 1e-9 );
            else
                assert_true( error_at( &r, k, f ) == 0 );
            if ( k == 3 ) // soft: part of the way
                assert_true( miss > 1e-3 && miss < 0.06 );
            assert_false( r.relaxed[f * 4 + k] );
        }
    end_rig( &r );
}

static void axes_and_strength( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.2, v3_zero );
    int row = add_joint_row( &r, 0, LEFT_HAND );
    ready( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        vec3 target = v3_add( before( &r, 0, LEFT_HAND, f ), v3( 0.5, 0.04, 0.5 ) );
        set_goal( &r, row, f, target, TR_ROW_OFF );
        goal_at( &r, row, f )->compliance[1] = tr_cluster_compliance( &r.cluster, row, true, 0, f / 10.0 );
    }
    r.job.def.max_iterations = 1; // linear: exactly the fraction
    r.job.def.newton = false;
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        vec3 moved = v3_sub( after( &r, 0, LEFT_HAND, f ), before( &r, 0, LEFT_HAND, f ) );
        check_v3( moved, v3( 0, 0.04 * fmin( f / 10.0, 1 ), 0 ), 1e-6 );
    }
    assert_true( tr_cluster_compliance( &r.cluster, row, true, 0, 0 ) == TR_ROW_OFF );
    assert_true( tr_cluster_compliance( &r.cluster, row, false, 0, 1 ) == TR_ROW_OFF );
    check_near( tr_cluster_compliance( &r.cluster, row, false, 4, 1 ), 0.25, 0 );
    end_rig( &r );
}

static void contradictions_give_way_and_are_told( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.2, v3_zero );
    int hand = tr_cluster_add_joint( &r.cluster, 0, LEFT_HAND );
    assert_int_equal( hand, tr_cluster_add_joint( &r.cluster, 0, LEFT_HAND ) );
    const int both[2] = { LEFT_HAND, RIGHT_HAND };
    const double half[2] = { 0.5, 0.5 };
    int middle = tr_cluster_add_point( &r.cluster, 0, both, half, 2, v3_zero );
    tr_cluster_add_row( &r.cluster, 0, hand, -1, -1 );
    tr_cluster_add_row( &r.cluster, 0, hand, -1, -1 );
    add_joint_row( &r, 0, RIGHT_HAND );
    tr_cluster_add_row( &r.cluster, 0, middle, -1, -1 );
    ready( &r );
    assert_int_equal( r.cluster.deform.rank, 2 );
    for ( int f = 0; f < FRAMES; ++f ) {
        vec3 left = before( &r, 0, LEFT_HAND, f ), right = before( &r, 0, RIGHT_HAND, f );
        set_goal( &r, 0, f, v3_add( left, v3( 0.05, 0, 0 ) ), 0 );
        set_goal( &r, 1, f, v3_add( left, v3( 0.05, 0.03, 0 ) ), f == 0 ? TR_ROW_OFF : 0 );
        set_goal( &r, 2, f, right, f % 2 == 0 ? 0 : TR_ROW_OFF );
        set_goal( &r, 3, f, v3_lerp( left, right, 0.5 ), 0 );
    }
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        check_near( error_at( &r, 0, f ), 0, 1e-5 );
        check_near( error_at( &r, 1, f ), f == 0 ? 0 : 0.03, 1e-5 );
        assert_int_equal( r.relaxed[f * 4 + 1], f > 0 );
        // The middle of both hands is one hand too many only while both are held.
        assert_int_equal( r.relaxed[f * 4 + 3], f % 2 == 0 );
        check_near( error_at( &r, 3, f ), f % 2 == 0 ? 0.025 : 0, 1e-5 );
    }
    end_rig( &r );
}

static void orientation_offset_and_mass( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.3, v3_zero );
    const double one = 1;
    const int arm = 7; // the left forearm, whose triangle faces the hand
    vec3 palm = v3( 0.1, 0.03, -0.02 );
    for ( int k = 0; k < 2; ++k )
        tr_cluster_add_row( &r.cluster, 0, tr_cluster_add_corner( &r.cluster, 0, LEFT_FOOT, k ), -1, -1 );
    tr_cluster_add_row( &r.cluster, 0, tr_cluster_add_point( &r.cluster, 0, &arm, &one, 1, palm ), -1, -1 );
    tr_cluster_add_row( &r.cluster, 0, tr_cluster_add_mass( &r.cluster, 0, r.actors[0].body.masses ), -1,
                        -1 );
    ready( &r );
    tr_world world;
    tr_error error;
    check_ok( tr_world_build( &world, &r.actors[0].motion, &error ), &error );
    for ( int f = 0; f < FRAMES; ++f ) {
        tr_pose pose = tr_world_pose( &world, f );
        // The point on the arm is where forward kinematics puts it: asking for just that moves nothing.
        vec3 there = v3_add( pose.positions[arm], q_rotate( pose.rotations[arm], palm ) );
        set_goal( &r, 2, f, f == 0 ? there : v3_add( there, v3( 0, 0.05, 0 ) ), 0 );
        vec3 centre = tr_body_centre_of_mass( &r.actors[0].body, &r.actors[0].skeleton, pose );
        set_goal( &r, 3, f, v3_add( centre, v3( 0.02, 0, 0 ) ), f == 0 ? TR_ROW_OFF : 0 );
        for ( int k = 0; k < 2; ++k )
            set_goal( &r, k, f, r.actors[0].graph.corners[3 * LEFT_FOOT + k], f == 0 ? TR_ROW_OFF : 0 );
    }
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        for ( int row = 0; row < 4; ++row )
            check_near( error_at( &r, row, f ), 0, 1e-5 );
        size_t at = (size_t)f * 3 * (size_t)r.actors[0].graph.joint_count;
        quat turn = tr_posegraph_turn( r.reference[0] + at, r.out[0] + at, LEFT_FOOT );
        quat foot = q_mul( turn, tr_world_pose( &world, f ).rotations[LEFT_FOOT] );
        if ( f == 0 )
            check_v3( after( &r, 0, arm, 0 ), before( &r, 0, arm, 0 ), 1e-6 );
        else
            check_rotation( foot, q_identity, 1e-4 );
    }
    tr_world_free( &world );
    end_rig( &r );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( corners_of_a_pose ),
        TEST( graphs_of_built_in_bodies ),
        TEST( graphs_of_strange_skeletons ),
        TEST( transfer_without_rows_is_the_posed_body ),
        TEST( hard_rows_are_met ),
        TEST( axes_and_strength ),
        TEST( contradictions_give_way_and_are_told ),
        TEST( orientation_offset_and_mass ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
