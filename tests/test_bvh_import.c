// From a BVH file to a motion: channels in any order, axes, rates, units and ranges.
#include "bvh_fixture.h"
#include "captures.h"

static void channels_by_hand( void **state )
{
    (void)state;
    tr_bvh bvh;
    tr_error error;
    check_ok( load_file( &bvh, "odd_channels.bvh", NULL, &error ), &error );
    check_round_trip( &bvh );
    tr_motion motion;
    tr_bvh_import import = plain_import( 0.01, 'y' );
    check_ok( tr_bvh_to_motion( &motion, &bvh, &import, &error ), &error );
    check_ok( tr_motion_check( &motion, &error ), &error );
    check_near( motion.clip.fps, 25, 0 );
    // Frame 0: Base stays at its offset (1, 2, 3) and turns a quarter about Y: x ↦ -z, z ↦ x. Slider's
    // Zposition 7 replaces the 6 of its offset: (4, 5, 7) ↦ (7, 5, -4), so it stands at (8, 7, -1).
    check_v3( joint_at( &motion, 0, 1 ), v3( 0.08, 0.07, -0.01 ), 1e-15 );
    // Slider turns a quarter about X: Fixed's offset (0, 1, 0) ↦ (0, 0, 1) ↦ (1, 0, 0).
    check_v3( joint_at( &motion, 0, 2 ), v3( 0.09, 0.07, -0.01 ), 1e-15 );
    // Leaf: positions (2, 4, 6) between its rotations; ↦ X turn (2, -6, 4) ↦ Y turn (4, -6, -2).
    check_v3( joint_at( &motion, 0, 4 ), v3( 0.13, 0.01, -0.03 ), 1e-15 );
    double angles[3] = { 1 * TR_DEGREE, 3 * TR_DEGREE, 5 * TR_DEGREE }; // in order of the file: X Y Z
    check_rotation( motion.clip.rotations[4], q_from_euler( "xyz", angles ), 1e-7 );
    // Frame 1: only Leaf moves, to (0, 1, 0): its own offset; so it stands there.
    check_v3( joint_at( &motion, 1, 4 ), v3( 0.05, 0.09, 0.09 ), 1e-15 );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

// One joint with these channels and the values 10, 20, …; positions replace its offset (7, 8, 9).
static void check_layout( const int *picked, int count )
{
    const char *names[6] = { "Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation" };
    const vec3 axes[3] = { v3_x, v3_y, v3_z };
    quat turn = q_identity;
    double place[3] = { 7, 8, 9 };
    tr_text text = { 0 };
    tr_text_add( &text, "HIERARCHY\nROOT r\n{\nOFFSET 7 8 9\nCHANNELS %d", count );
    for ( int i = 0; i < count; ++i )
        tr_text_add( &text, " %s", names[picked[i]] );
    tr_text_add( &text, "\n}\nMOTION\nFrames: 1\nFrame Time: 0.5\n" );
    for ( int i = 0; i < count; ++i ) {
        double value = 10 * ( i + 1 );
        tr_text_add( &text, "%g ", value );
        if ( picked[i] < 3 )
            place[picked[i]] = value;
        else
            turn = q_mul( turn, q_axis_angle( axes[picked[i] - 3], value * TR_DEGREE ) );
    }
    tr_bvh bvh;
    tr_motion motion;
    tr_error error;
    tr_bvh_import import = plain_import( 1, 'y' );
    parse_ok( &bvh, text.data );
    check_ok( tr_bvh_to_motion( &motion, &bvh, &import, &error ), &error );
    check_v3( motion.clip.root[0], v3( place[0], place[1], place[2] ), 1e-15 );
    check_near( fabs( q_dot( motion.clip.rotations[0], turn ) ), 1, 1e-15 );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
    tr_text_free( &text );
}

// Every ordered choice of 1 … 6 channels, as numbers of `count` digits to the base 6 with no digit twice.
static void every_subset_of_channels( void **state )
{
    (void)state;
    int layouts = 0;
    for ( int count = 1, words = 6; count <= 6; ++count, words *= 6 )
        for ( int word = 0; word < words; ++word ) {
            int picked[6];
            unsigned used = 0;
            for ( int i = 0, rest = word; i < count; ++i, rest /= 6 ) {
                picked[i] = rest % 6;
                used |= 1u << picked[i];
            }
            if ( __builtin_popcount( used ) != count )
                continue;
            check_layout( picked, count );
            layouts++;
        }
    assert_int_equal( layouts, 6 + 30 + 120 + 360 + 720 + 720 );
}

static void z_up_becomes_y_up( void **state )
{
    (void)state;
    tr_bvh bvh;
    parse_ok( &bvh, "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation "
                    "Yrotation Xrotation\nEnd Site\n{\nOFFSET 0 1 2\n}\n}\nMOTION\nFrames: 1\nFrame Time: "
                    "0.1\n1 2 3 90 0 0\n" );
    tr_motion motion;
    tr_error error;
    tr_bvh_import import = plain_import( 1, 'z' );
    check_ok( tr_bvh_to_motion( &motion, &bvh, &import, &error ), &error );
    // Z up (x, y, z) is Y up (x, z, -y). The tip, turned a quarter about Z, is at (1 - 1, 2, 3 + 2) in the
    // file.
    check_v3( motion.clip.root[0], v3( 1, 3, -2 ), 0 );
    check_v3( motion.skeleton.joints[1].offset, v3( 0, 2, -1 ), 0 );
    check_v3( joint_at( &motion, 0, 1 ), v3( 0, 5, -2 ), 1e-15 );
    check_rotation( motion.clip.rotations[0], q_axis_angle( v3_y, 90 * TR_DEGREE ), 1e-7 );
    tr_bvh back;
    check_ok( tr_bvh_from_motion( &back, &motion, &bvh, &import, &error ), &error );
    check_same_bvh( &back, &bvh );
    tr_bvh_free( &back );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

static void rates_are_what_was_meant( void **state )
{
    (void)state;
    const struct {
        const char *time;
        double fps;
    } rates[] = { { "0.0083333", 120 },
                  { "0.008333", 120 },
                  { "0.033333", 30 },
                  { "0.0416667", 24 },
                  { "0.0417083750417", 23.976 },
                  { "0.033366667", 29.97 },
                  { "1.0", 1 },
                  { "0.016667", 60 },
                  { "2.5", 0.4 } };
    for ( size_t i = 0; i < sizeof rates / sizeof *rates; ++i ) {
        char text[200];
        snprintf(
            text, sizeof text,
            "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 1\nFrame Time: "
            "%s\n0\n",
            rates[i].time );
        tr_bvh bvh;
        tr_motion motion;
        tr_error error;
        parse_ok( &bvh, text );
        check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
        check_near( motion.clip.fps, rates[i].fps, rates[i].fps == nearbyint( rates[i].fps ) ? 0 : 1e-3 );
        tr_motion_free( &motion );
        tr_bvh_free( &bvh );
    }
}

// A little person of the given height, standing along `up`, with the usual names.
static tr_text make_person( double height, char up, const char *hip )
{
    tr_text text = { 0 };
    const char *along = up == 'z' ? "0 0 %.6f\n" : "0 %.6f 0\n";
    char down[64], high[64];
    snprintf( down, sizeof down, along, -height / 4 );
    snprintf( high, sizeof high, along, height / 4 );
    tr_text_add( &text, "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n" );
    tr_text_add( &text,
                 "JOINT %s\n{\nOFFSET 0 0 0\nJOINT Knee\n{\nOFFSET %sJOINT Foot\n{\nOFFSET %s}\n}\n}\n", hip,
                 down, down );
    tr_text_add(
        &text,
        "JOINT LowerBack\n{\nOFFSET %sJOINT Head\n{\nOFFSET %s}\nJOINT Hand\n{\nOFFSET 0.1 0 0\n}\n}\n}\n",
        high, high );
    tr_text_add( &text, "MOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n" );
    return text;
}

static void units_and_up_axis_are_guessed( void **state )
{
    (void)state;
    const struct {
        double height;
        char up;
        const char *hip;
        double unit;
    } cases[] = { { 1.7, 'y', "LeftUpLeg", 1 },      { 1.7, 'z', "LeftUpLeg", 1 },
                  { 170, 'y', "LeftUpLeg", 0.01 },   { 120, 'z', "LeftUpLeg", 0.01 },
                  { 1700, 'y', "LeftUpLeg", 0.001 }, { 65, 'y', "LeftUpLeg", 0.0254 },
                  { 27, 'y', "LHipJoint", 0.05644 }, { 150, 'y', "LHipJoint", 0.01 } };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        tr_text text = make_person( cases[i].height, cases[i].up, cases[i].hip );
        tr_bvh bvh;
        parse_ok( &bvh, text.data );
        tr_bvh_import import = tr_default_bvh_import();
        const char *why = tr_bvh_guess( &bvh, &import );
        check_near( import.unit, cases[i].unit, 0 );
        assert_int_equal( import.up, cases[i].up );
        assert_non_null( strstr( why, cases[i].up == 'z' ? "Z up" : "Y up" ) );
        import = plain_import( 3, 'z' );
        tr_bvh_guess( &bvh, &import ); // what is given stays
        assert_true( import.unit == 3 && import.up == 'z' );
        tr_bvh_free( &bvh );
        tr_text_free( &text );
    }
}

static void frames_out_of_range( void **state )
{
    (void)state;
    tr_bvh bvh;
    tr_motion motion;
    tr_error error;
    check_ok( load_file( &bvh, "plain.bvh", NULL, &error ), &error );
    tr_bvh_import import = tr_default_bvh_import();
    import.first = 1;
    check_ok( tr_bvh_to_motion( &motion, &bvh, &import, &error ), &error );
    assert_int_equal( motion.clip.frame_count, 1 );
    check_v3( motion.clip.root[0], v3( 0.02, 0.91, 0.03 ), 1e-15 );
    tr_motion_free( &motion );
    import.first = 2;
    assert_false( tr_bvh_to_motion( &motion, &bvh, &import, &error ) );
    assert_string_equal( error.message, "frames 2 to 1 are not in the file, which has 0 to 1" );
    tr_bvh_free( &bvh );
    char path[300];
    assert_false( tr_motion_load( &motion, file_path( path, "plain.bvh" ), &import, NULL, &error ) );
    assert_string_equal( error.file, path );
}

// Saved by a program with Z up: the rest pose looks Y up, and the root stands the body up along Z.
static void a_body_that_stands_along_z_is_turned( void **state )
{
    (void)state;
    char path[CAPTURE_PATH];
    tr_error error = { 0 };
    tr_motion motion, turned, again;
    tr_bvh bvh;
    tr_world a = { 0 }, b = { 0 };
    check_ok( tr_motion_load( &motion, capture_path( path, "walk.bvh" ), NULL, NULL, &error ), &error );
    check_ok( tr_motion_copy( &turned, &motion, &error ), &error );
    tr_clip_place( &turned.clip, ( rigid ){ q_axis_angle( v3_x, TR_PI / 2 ), v3_zero } );
    check_ok( tr_bvh_from_motion( &bvh, &turned, NULL, NULL, &error ), &error );
    tr_bvh_import import = tr_default_bvh_import();
    assert_non_null( tr_bvh_guess( &bvh, &import ) );
    assert_int_equal( import.up, 'z' );
    check_ok( tr_bvh_to_motion( &again, &bvh, &import, &error ), &error );
    check_ok( tr_world_build( &a, &motion, &error ) && tr_world_build( &b, &again, &error ), &error );
    double most = 0;
    for ( int f = 0; f < motion.clip.frame_count; ++f )
        for ( int j = 0; j < motion.skeleton.joint_count; ++j )
            most = fmax( most, v3_distance( tr_world_pose( &a, f ).positions[j],
                                            tr_world_pose( &b, f ).positions[j] ) );
    check_near( most, 0, 1e-4 );
    tr_bvh_free( &bvh );
    // A body that lies on its back in every frame, far from the origin, is no such file.
    tr_clip_place( &turned.clip, ( rigid ){ q_identity, v3( 0, 1, 5 ) } );
    check_ok( tr_bvh_from_motion( &bvh, &turned, NULL, NULL, &error ), &error );
    import = tr_default_bvh_import();
    assert_non_null( tr_bvh_guess( &bvh, &import ) );
    assert_int_equal( import.up, 'y' );
    tr_bvh_free( &bvh );
    tr_world_free( &a );
    tr_world_free( &b );
    tr_motion_free( &motion );
    tr_motion_free( &turned );
    tr_motion_free( &again );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( channels_by_hand ),
        TEST( every_subset_of_channels ),
        TEST( z_up_becomes_y_up ),
        TEST( rates_are_what_was_meant ),
        TEST( units_and_up_axis_are_guessed ),
        TEST( frames_out_of_range ),
        TEST( a_body_that_stands_along_z_is_turned ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
