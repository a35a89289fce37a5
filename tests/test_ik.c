#include "check_motion.h"

#include <string.h>

// Root at the origin, upper arm of 3 along +X, forearm of 4, a finger of 1, and a side branch on the root.
static posed make_arm( void )
{
    posed p = { 0 };
    tr_skeleton_add( &p.skeleton, "root", -1, v3_zero );
    tr_skeleton_add( &p.skeleton, "upper", 0, v3_zero );
    tr_skeleton_add( &p.skeleton, "lower", 1, v3( 3, 0, 0 ) );
    tr_skeleton_add( &p.skeleton, "side", 0, v3( 0, 0, 1 ) );
    tr_skeleton_add( &p.skeleton, "hand", 2, v3( 4, 0, 0 ) );
    tr_skeleton_add( &p.skeleton, "finger", 4, v3( 1, 0, 0 ) );
    posed_start( &p );
    return p;
}

static void refresh_by_hand( void **state )
{
    (void)state;
    posed p = make_arm();
    // A quarter turn of the upper arm about +Z and one of the forearm about -Z: (0,3) then along +X again.
    p.local[1] = q_axis_angle( v3_z, 90 * TR_DEGREE );
    p.local[2] = q_axis_angle( v3_z, -90 * TR_DEGREE );
    p.pose.positions[3] = v3( 7, 7, 7 ); // not below joint 1: must stay as it is
    tr_pose_refresh( &p.skeleton, p.local, p.pose, 1 );
    check_v3( p.pose.positions[2], v3( 0, 3, 0 ), 1e-15 );
    check_v3( p.pose.positions[4], v3( 4, 3, 0 ), 1e-15 );
    check_v3( p.pose.positions[5], v3( 5, 3, 0 ), 1e-15 );
    check_v3( p.pose.positions[3], v3( 7, 7, 7 ), 0 );
    posed_end( &p );
}

static const tr_limb_chain arm = { 1, 2, 4, true }; // chain of make_arm

static void two_bones_at_known_angles( void **state )
{
    (void)state;
    posed p = make_arm();
    // 3-4-5: with the hand 5 away the elbow is at a right angle. Pole up: elbow above the line.
    double left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3( 5, 0, 0 ), v3_y );
    check_near( left, 0, 1e-14 );
    check_v3( p.pose.positions[4], v3( 5, 0, 0 ), 1e-14 );
    check_v3( p.pose.positions[2], v3( 9.0 / 5, 12.0 / 5, 0 ), 1e-14 ); // foot of the height: 3²/5, 3·4/5
    check_near( q_angle( q_identity, p.local[2] ), 90 * TR_DEGREE, 1e-12 );
    check_pose_is_consistent( &p );

    // Without a pole the elbow stays in its plane and on its side.
    left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3( 0, 5, 0 ), v3_zero );
    check_near( left, 0, 1e-14 );
    check_v3( p.pose.positions[2], v3( -12.0 / 5, 9.0 / 5, 0 ), 1e-14 );

    // The pole swings it about the line from shoulder to hand.
    left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3( 0, 5, 0 ), v3( 0, 3, 2 ) );
    check_near( left, 0, 1e-14 );
    check_v3( p.pose.positions[2], v3( 0, 9.0 / 5, 12.0 / 5 ), 1e-14 );
    check_pose_is_consistent( &p );
    posed_end( &p );
}

static void unreachable_targets_stretch_or_fold( void **state )
{
    (void)state;
    posed p = make_arm();
    double left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3( 0, 0, 10 ), v3_y );
    check_near( left, 3, 1e-14 );
    check_v3( p.pose.positions[2], v3( 0, 0, 3 ), 1e-14 );
    check_v3( p.pose.positions[4], v3( 0, 0, 7 ), 1e-14 );
    // Too near: folded, the hand 4 − 3 = 1 away from the shoulder.
    left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3( 0, 0, 0.25 ), v3_y );
    check_near( left, 0.75, 1e-14 );
    check_v3( p.pose.positions[4], v3( 0, 0, 1 ), 1e-14 );
    left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3_zero, v3_zero ); // on the shoulder itself
    check_near( left, 1, 1e-12 );
    check_pose_is_consistent( &p );
    posed_end( &p );
}

static void straight_limb_bends_without_a_pole( void **state )
{
    (void)state;
    posed p = make_arm();
    double left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3( 5, 0, 0 ), v3_zero );
    check_near( left, 0, 1e-14 );
    check_pose_is_consistent( &p );
    posed_end( &p );
}

static void zero_length_joints_between( void **state )
{
    (void)state;
    posed p = { 0 };
    tr_skeleton_add( &p.skeleton, "hips", -1, v3( 0, 1, 0 ) );
    tr_skeleton_add( &p.skeleton, "thigh", 0, v3_zero );
    tr_skeleton_add( &p.skeleton, "twist", 1, v3_zero );
    tr_skeleton_add( &p.skeleton, "shin", 2, v3( 0, -0.5, 0 ) );
    tr_skeleton_add( &p.skeleton, "twist", 3, v3_zero );
    tr_skeleton_add( &p.skeleton, "foot", 4, v3( 0, -0.5, 0 ) );
    posed_start( &p );
    double left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &( tr_limb_chain ){ 1, 3, 5, true },
                                  v3( 0, 0.4, 0.3 ), v3_z );
    check_near( left, 0, 1e-14 );
    assert_true( p.pose.positions[3].z > p.pose.positions[5].z * 0.5 );
    check_pose_is_consistent( &p );
    // Both bones without length: nothing to turn, nothing but numbers.
    left = tr_ik_two_bone( &p.skeleton, p.local, p.pose, &( tr_limb_chain ){ 0, 1, 2, true }, v3( 0, 3, 0 ),
                           v3_zero );
    check_near( left, 2, 1e-14 );
    assert_true( q_finite( p.local[0] ) && q_finite( p.local[1] ) );
    posed_end( &p );
}

static void orient_sets_the_world_rotation( void **state )
{
    (void)state;
    posed p = make_arm();
    quat turn = q_axis_angle( v3_z, 40 * TR_DEGREE ), wanted = q_axis_angle( v3_y, 90 * TR_DEGREE );
    tr_ik_orient( &p.skeleton, p.local, p.pose, 0, turn );
    tr_ik_orient( &p.skeleton, p.local, p.pose, 4, wanted );
    check_rotation( p.pose.rotations[4], wanted, 1e-12 );
    check_v3( v3_sub( p.pose.positions[5], p.pose.positions[4] ), v3( 0, 0, -1 ), 1e-14 );
    check_v3( p.pose.positions[4], v3_scale( 7, q_rotate( turn, v3_x ) ), 1e-14 );
    check_pose_is_consistent( &p );
    posed_end( &p );
}

// A pose whose bones are longer than the skeleton's (a clip with joint translations) keeps its own bones.
static void solvers_keep_translated_bones( void **state )
{
    (void)state;
    posed p = make_arm();
    p.pose.positions[4] = v3( 8, 0, 0 );
    p.pose.positions[5] = v3( 9, 0, 0 );
    check_near( tr_ik_two_bone( &p.skeleton, p.local, p.pose, &arm, v3( 0, 0, 7 ), v3_y ), 0, 1e-14 );
    check_near( v3_distance( p.pose.positions[2], p.pose.positions[4] ), 5, 1e-14 );
    check_near( v3_distance( p.pose.positions[5], p.pose.positions[4] ), 1, 1e-14 );
    posed_end( &p );
}

static posed make_chain( int count, double length, vec3 direction )
{
    posed p = { 0 };
    for ( int j = 0; j < count; ++j )
        tr_skeleton_add( &p.skeleton, "link", j - 1, j == 0 ? v3_zero : v3_scale( length, direction ) );
    posed_start( &p );
    return p;
}

static double chain( posed *p, int end, vec3 target, int iterations )
{
    tr_ik_def def = tr_default_ik_def();
    def.iterations = iterations;
    return tr_ik_chain( &p->skeleton, p->local, p->pose, 0, end, target, &def );
}

static void chain_reaches_and_stays_near( void **state )
{
    (void)state;
    posed p = make_chain( 9, 0.1, v3_x );
    for ( int j = 1; j < 8; ++j )
        p.local[j] = q_axis_angle( v3_z, 0.1 );
    tr_pose_refresh( &p.skeleton, p.local, p.pose, 0 );
    vec3 target = v3( 0.3, 0.4, 0.2 );
    check_near( chain( &p, 8, target, 50 ), 0, 1e-9 );
    check_v3( p.pose.positions[8], target, 1e-9 );
    for ( int j = 1; j < 9; ++j )
        check_near( v3_distance( p.pose.positions[j], p.pose.positions[j - 1] ), 0.1, 1e-12 );
    for ( int j = 0; j < 8; ++j ) // no joint does all the work
        assert_true( q_angle( p.local[j], q_identity ) < 1.2 );
    check_pose_is_consistent( &p );

    // Already there: not a bit changes.
    quat before = p.local[3];
    chain( &p, 8, p.pose.positions[8], 50 );
    assert_memory_equal( &before, &p.local[3], sizeof before );
    posed_end( &p );
}

static void chain_degenerate_targets( void **state )
{
    (void)state;
    posed p = make_chain( 5, 0.25, v3_y );
    // On the chain's own line, nearer: no gradient, must still bend and arrive.
    check_near( chain( &p, 4, v3( 0, 0.5, 0 ), 100 ), 0, 1e-9 );
    // Out of reach: stretches, the residual is the missing metre.
    check_near( chain( &p, 4, v3( 2, 0, 0 ), 300 ), 1, 1e-3 );
    // The root itself.
    double left = chain( &p, 4, v3_zero, 100 );
    assert_true( isfinite( left ) && left < 1e-3 );
    check_pose_is_consistent( &p );
    posed_end( &p );

    p = make_chain( 4, 0, v3_y ); // no length at all
    check_near( chain( &p, 3, v3_x, 10 ), 1, 0 );
    assert_true( q_finite( p.local[0] ) );
    posed_end( &p );
}

// Targets just out of reach: a hair's difference of the target stays a hair's difference of the pose, and the
// chain ends up stretched towards it.
static void chain_settles_out_of_reach( void **state )
{
    (void)state;
    for ( int i = 0; i < 40; ++i ) {
        double far = 1.0 + 0.001 * i, angle = 0.02 * i;
        quat bent[2][5];
        for ( int k = 0; k < 2; ++k ) {
            posed p = make_chain( 5, 0.25, v3_y );
            const double bends[4] = { 0.3, -0.6, 0.5, -0.3 };
            for ( int j = 0; j < 4; ++j )
                p.local[j] = q_axis_angle( v3_x, bends[j] );
            tr_pose_refresh( &p.skeleton, p.local, p.pose, 0 );
            vec3 target = v3( 1e-9 * k, far * cos( angle ), far * sin( angle ) );
            double left = chain( &p, 4, target, 30 );
            check_near( left, far - 1.0, 2e-3 );
            memcpy( bent[k], p.local, sizeof bent[k] );
            posed_end( &p );
        }
        for ( int j = 0; j < 4; ++j )
            assert_true( q_angle( bent[0][j], bent[1][j] ) < 1e-6 );
    }
}

static void long_chain( void **state )
{
    (void)state;
    posed p = make_chain( 5000, 0.001, v3_x );
    double left = chain( &p, 4999, v3( 3, 2, 1 ), 40 );
    check_near( left, 0, 1e-6 );
    posed_end( &p );
}

static void pulls_by_hand( void **state )
{
    (void)state;
    static const tr_limb_demand demands[] = {
        { .miss = { 2, 1, 9 }, .axis = { true, false, false }, .hard = true, .strength = 0.5 },
        { .miss = { 9, 1, 9 }, .axis = { false, true, false }, .hard = true, .strength = 1 },
        { .miss = { 9, 3, 9 }, .axis = { false, true, false }, .hard = true, .strength = 1 },
        { .miss = { 3, 7, 9 }, .axis = { true, true, false }, .strength = 1, .weight = 2 },
        { .miss = { 9, 9, 4 }, .axis = { false, false, true }, .strength = 1, .weight = 0.25 } };
    tr_limb_pull pull = { 0 };
    for ( size_t i = 0; i < sizeof demands / sizeof demands[0]; ++i )
        tr_limb_pull_add( &pull, &demands[i] );
    // x: half of the hard 2, then half of the soft 3; y: the mean of the hard ones; z: a quarter of 4
    check_v3( tr_limb_pull_shift( &pull ), v3( 0.5 * 2 + 0.5 * 3, 2, 1 ), 0 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( refresh_by_hand ),
        TEST( two_bones_at_known_angles ),
        TEST( unreachable_targets_stretch_or_fold ),
        TEST( straight_limb_bends_without_a_pole ),
        TEST( zero_length_joints_between ),
        TEST( orient_sets_the_world_rotation ),
        TEST( solvers_keep_translated_bones ),
        TEST( chain_reaches_and_stays_near ),
        TEST( chain_degenerate_targets ),
        TEST( chain_settles_out_of_reach ),
        TEST( long_chain ),
        TEST( pulls_by_hand ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
