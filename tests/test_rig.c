// Rigs and followers of the scene kit.
#include "check.h"

#include "scenes/kit/kit.h"

// Without damping to speak of the weight swings on: after half a period it is as far on the other side.
static void follower_by_hand( void **state )
{
    (void)state;
    tr_follow f = { 1, 0 };
    tr_follow_step( &f, 0, 2, 1e-9, 0.25 );
    check_near( f.value, -1, 1e-6 );
    check_near( f.velocity, 0, 1e-6 );
    // Critically damped: (1 + ωt) e^(−ωt).
    f = ( tr_follow ){ 1, 0 };
    tr_follow_step( &f, 0, 1, 1, 0.1 );
    double w = 2 * TR_PI * 0.1;
    check_near( f.value, ( 1 + w ) * exp( -w ), 1e-12 );
}

// The step is exact, so that many small ones and a large one lead to the same.
static void follower_does_not_mind_the_step( void **state )
{
    (void)state;
    tr_follow fine = { 0.3, -2 }, coarse = fine;
    for ( int i = 0; i < 100; ++i )
        tr_follow_step( &fine, 1, 3, 0.4, 0.01 );
    tr_follow_step( &coarse, 1, 3, 0.4, 1 );
    check_near( fine.value, coarse.value, 1e-12 );
    check_near( fine.velocity, coarse.velocity, 1e-12 );
    for ( int i = 0; i < 20; ++i )
        tr_follow_step( &coarse, 1, 3, 0.4, 1 );
    check_near( coarse.value, 1, 1e-12 );
}

static void make_arm( tr_rig *rig, int joints[4] )
{
    tr_rig_start( rig );
    joints[0] = tr_rig_joint( rig, "Hips", -1, v3( 0, 1, 0 ) );
    joints[1] = tr_rig_joint( rig, "LeftArm", joints[0], v3( 0.2, 1.4, 0 ) );
    joints[2] = tr_rig_joint( rig, "LeftForeArm", joints[1], v3( 0.5, 1.4, 0 ) );
    joints[3] = tr_rig_tip( rig, joints[2], v3( 0.8, 1.4, 0 ) );
}

static void rig_poses_and_stores( void **state )
{
    (void)state;
    tr_error error;
    tr_rig rig;
    int arm[4];
    make_arm( &rig, arm );
    check_ok( tr_rig_finish( &rig, 2, 30, &error ), &error );
    assert_string_equal( rig.motion.skeleton.joints[arm[3]].name, "LeftForeArm_End" );
    assert_true( rig.motion.skeleton.joints[arm[3]].end_site );
    tr_rig_begin( &rig, ( rigid ){ q_axis_angle( v3_y, 90 * TR_DEGREE ), v3( 0, 1, 0 ) } );
    check_v3( rig.positions[arm[3]], v3( 0, 1.4, -0.8 ), 1e-12 ); // left is now at -Z
    tr_rig_store( &rig, 0 );
    vec3 target = v3( 0.3, 1.5, -0.4 );
    tr_rig_reach( &rig, arm[1], arm[2], arm[3], target, v3( 0, -1, 0 ) );
    tr_rig_move( &rig, v3( 1, 0, 0 ) );
    tr_rig_store( &rig, 1 );
    check_near( rig.worst_reach, 0, 1e-9 );
    tr_world world;
    check_ok( tr_motion_check( &rig.motion, &error ), &error );
    check_ok( tr_world_build( &world, &rig.motion, &error ), &error );
    check_v3( tr_world_pose( &world, 1 ).positions[arm[3]], v3_add( target, v3_x ), 1e-9 );
    tr_world_free( &world );
    tr_rig_free( &rig );
}

static void rig_reports_lack_of_memory( void **state )
{
    (void)state;
    for ( long n = 1; n < 30; ++n ) {
        tr_error error;
        tr_rig rig;
        int arm[4];
        tr_memory_fail_from( n );
        make_arm( &rig, arm );
        tr_rig_finish( &rig, 2, 30, &error );
        tr_rig_free( &rig );
        tr_memory_fail_from( 0 );
        assert_int_equal( tr_memory_live(), 0 );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( follower_by_hand ),
        TEST( follower_does_not_mind_the_step ),
        TEST( rig_poses_and_stores ),
        TEST( rig_reports_lack_of_memory ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
