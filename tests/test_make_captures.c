// The files of tests/captures: the maker writes them byte for byte, and they show what was performed, in the
// manner of captures.
#include "captures.h"
#include "captures/maker.h"
#include "check.h"

// Angles are rounded to 0.01 degree. Other mathematical libraries differ in the last bit, 1e-14 degree.
static void files_are_what_the_maker_writes( void **state )
{
    (void)state;
    for ( int take = 0; take < CAPTURE_COUNT; ++take ) {
        char path[CAPTURE_PATH], *data;
        size_t size;
        tr_text text = { 0 };
        tr_error error;
        check_ok( capture_print( take, &text, &error ), &error );
        check_ok( tr_file_read( capture_path( path, capture_info_of( take )->file ), &data, &size, &error ),
                  &error );
        if ( size != text.size || memcmp( data, text.data, size ) != 0 )
            fail_msg( "%s is not what make_captures writes", path );
        tr_free( data );
        tr_text_free( &text );
    }
}

static void load( tr_bvh *bvh, capture_take take )
{
    char path[CAPTURE_PATH];
    tr_error error;
    tr_log warnings = { 0 };
    check_ok( tr_bvh_load( bvh, capture_path( path, capture_info_of( take )->file ), &warnings, &error ),
              &error );
    assert_int_equal( warnings.count, 0 );
}

static const struct {
    int human;
    const char *names[2]; // names of laboratory and studio
} shared_joints[] = {
    { TR_HUMAN_HIPS, { "Hips", "Hips" } },
    { TR_HUMAN_HEAD_END, { "Head_End", "Head_End" } },
    { TR_HUMAN_ARMS + TR_HUMAN_HAND, { "LeftHand", "LeftWrist" } },
    { TR_HUMAN_ARMS + TR_HUMAN_ARM_JOINTS + TR_HUMAN_HAND, { "RightHand", "RightWrist" } },
    { TR_HUMAN_ARMS + TR_HUMAN_HAND_END, { "LeftHandIndex1_End", "LeftWrist_End" } },
    { TR_HUMAN_LEGS + TR_HUMAN_LEG, { "LeftLeg", "LeftKnee" } },
    { TR_HUMAN_LEGS + TR_HUMAN_TOE_END, { "LeftToeBase_End", "LeftToe_End" } },
    { TR_HUMAN_LEGS + TR_HUMAN_LEG_JOINTS + TR_HUMAN_FOOT, { "RightFoot", "RightAnkle" } },
};

// Read by the program, joints are where the generator put them but for the noise: a joint has at most ten
// others between it and the root, and each of these turns by 0.1 degree at most, so it is off by less than 1
// cm.
static void captures_show_what_was_performed( void **state )
{
    (void)state;
    for ( int take = 0; take < CAPTURE_COUNT; ++take ) {
        const capture_info *info = capture_info_of( take );
        tr_bvh bvh;
        tr_motion motion;
        tr_world world;
        tr_error error;
        double worst = 0;
        load( &bvh, take );
        check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error ); // the unit as guessed
        check_ok( tr_world_build( &world, &motion, &error ), &error );
        for ( int f = 1; f < world.frame_count; f += 30 ) {
            vec3 positions[TR_HUMAN_JOINTS];
            check_ok( capture_pose( take, ( f - 1 ) / CAPTURE_FPS, positions, &error ), &error );
            for ( size_t i = 0; i < sizeof shared_joints / sizeof *shared_joints; ++i ) {
                int j = tr_skeleton_find( &motion.skeleton, shared_joints[i].names[take == CAPTURE_LIFT] );
                assert_true( j >= 0 );
                worst = fmax( worst, v3_distance( tr_world_pose( &world, f ).positions[j],
                                                  positions[shared_joints[i].human] ) );
            }
        }
        print_message( "%s: joints are up to %.2f mm from where they were put\n", info->file, 1e3 * worst );
        assert_true( worst < 0.01 );
        assert_true( worst > 0.0005 ); // there is noise
        tr_world_free( &world );
        tr_motion_free( &motion );
        tr_bvh_free( &bvh );
    }
}

// Frame 0 has the arms level and the legs upright, and the file's rest pose is another one.
static void captures_begin_with_a_t_pose( void **state )
{
    (void)state;
    for ( int take = 0; take < CAPTURE_COUNT; ++take ) {
        bool studio = take == CAPTURE_LIFT;
        tr_bvh bvh;
        tr_motion motion;
        tr_world world;
        tr_error error;
        load( &bvh, take );
        check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
        check_ok( tr_world_build( &world, &motion, &error ), &error );
        const tr_skeleton *s = &motion.skeleton;
        const vec3 *at = tr_world_pose( &world, 0 ).positions;
        int hand = tr_skeleton_find( s, studio ? "LeftWrist" : "LeftHand" );
        int arm = tr_skeleton_find( s, studio ? "LeftShoulder" : "LeftArm" );
        int foot = tr_skeleton_find( s, studio ? "LeftAnkle" : "LeftFoot" );
        int thigh = tr_skeleton_find( s, studio ? "LeftHip" : "LeftUpLeg" );
        assert_true( at[hand].x > at[arm].x + 0.4 );
        check_near( at[hand].y, at[arm].y, 1e-3 );
        check_near( at[foot].x, at[thigh].x, 1e-3 );
        quat rotations[64];
        vec3 rest[64];
        tr_forward_rest( s, ( tr_pose ){ rotations, rest } );
        vec3 limb = studio ? v3_sub( rest[hand], rest[arm] ) : v3_sub( rest[foot], rest[thigh] );
        assert_true( studio ? limb.y < -0.4 : limb.x > 0.2 );
        assert_int_equal( tr_bvh_first_frame( &bvh ), studio ? 0 : 1 ); // what is known from CMU's names
        tr_world_free( &world );
        tr_motion_free( &motion );
        tr_bvh_free( &bvh );
    }
}

static void captures_are_written_as_captures_are( void **state )
{
    (void)state;
    static const unsigned char zyx[] = { TR_BVH_Z_ROTATION, TR_BVH_Y_ROTATION, TR_BVH_X_ROTATION };
    for ( int take = 0; take < CAPTURE_COUNT; ++take ) {
        tr_bvh bvh;
        int points = 0; // bones of length zero
        load( &bvh, take );
        check_near( bvh.frame_time, 1 / CAPTURE_FPS, 1e-6 );
        assert_int_equal( bvh.frame_count, capture_info_of( take )->frames );
        for ( int j = 0; j < bvh.skeleton.joint_count; ++j ) {
            const tr_bvh_layout *layout = &bvh.layouts[j];
            points += j > 0 && v3_length( bvh.skeleton.joints[j].offset ) == 0;
            if ( !bvh.skeleton.joints[j].end_site )
                assert_memory_equal( layout->channels + layout->count - 3, zyx, 3 );
        }
        assert_int_equal( points, take == CAPTURE_LIFT ? 1 : 5 );
        tr_bvh_free( &bvh );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( files_are_what_the_maker_writes ),
        TEST( captures_show_what_was_performed ),
        TEST( captures_begin_with_a_t_pose ),
        TEST( captures_are_written_as_captures_are ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
