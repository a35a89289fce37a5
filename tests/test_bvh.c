// BVH files read: plain, odd and broken ones, names, depth and memory, and any wrong byte.
#include "bvh_fixture.h"

static void a_plain_file( void **state )
{
    (void)state;
    tr_bvh bvh;
    tr_error error;
    tr_log log = { 0 };
    check_ok( load_file( &bvh, "plain.bvh", &log, &error ), &error );
    assert_int_equal( log.count, 0 );
    assert_int_equal( bvh.skeleton.joint_count, 3 );
    const tr_joint *joints = bvh.skeleton.joints;
    assert_string_equal( joints[0].name, "Hips" );
    assert_string_equal( joints[1].name, "Spine" );
    assert_string_equal( joints[2].name, "Spine_End" );
    assert_int_equal( joints[0].parent, -1 );
    assert_int_equal( joints[2].parent, 1 );
    assert_true( !joints[1].end_site && joints[2].end_site );
    check_v3( joints[1].offset, v3( 0, 10, 0 ), 0 );
    const unsigned char zxy[] = { TR_BVH_Z_ROTATION, TR_BVH_X_ROTATION, TR_BVH_Y_ROTATION };
    assert_memory_equal( bvh.layouts[0].channels + 3, zxy, 3 );
    assert_int_equal( bvh.layouts[1].first, 6 );
    assert_int_equal( bvh.layouts[2].count, 0 );
    assert_int_equal( bvh.channel_count, 9 );
    assert_int_equal( bvh.frame_count, 2 );
    assert_true( bvh.frame_time == 0.0083333 );
    const double expected[18] = { 1, 90, 2, 0, 0, 0, 10, 20, 30, 2, 91, 3, 5, 6, 7, 11, 21, 31 };
    assert_true( same_bits( bvh.values, expected, 18 ) );
    check_round_trip( &bvh );
    tr_bvh_free( &bvh );
}

// The same motion in other clothes.
static void odd_files_load_the_same( void **state )
{
    (void)state;
    const struct {
        const char *name, *warning;
    } files[] = { { "odd_crlf_tabs_no_newline.bvh", NULL },
                  { "odd_old_mac_newlines.bvh", NULL },
                  { "odd_bom_and_case.bvh", NULL },
                  { "odd_one_line_hierarchy.bvh", NULL },
                  { "odd_more_frames_than_declared.bvh", "declares 1 frames but holds 2" },
                  { "odd_fewer_frames_than_declared.bvh", "declares 99999999 frames but holds 2" } };
    tr_bvh plain;
    tr_error error;
    check_ok( load_file( &plain, "plain.bvh", NULL, &error ), &error );
    for ( size_t i = 0; i < sizeof files / sizeof *files; ++i ) {
        tr_bvh bvh;
        tr_log log = { 0 };
        check_ok( load_file( &bvh, files[i].name, &log, &error ), &error );
        check_same_bvh( &plain, &bvh );
        assert_int_equal( log.count, files[i].warning != NULL );
        if ( log.count > 0 )
            assert_non_null( strstr( log.lines[0], files[i].warning ) );
        tr_log_free( &log );
        tr_bvh_free( &bvh );
    }
    tr_bvh_free( &plain );
}

static void names_exponents_and_slow_rates( void **state )
{
    (void)state;
    tr_bvh bvh;
    tr_error error;
    tr_log log = { 0 };
    check_ok( load_file( &bvh, "odd_names.bvh", &log, &error ), &error );
    assert_string_equal( bvh.skeleton.joints[0].name, "rig:Left  Hip" );
    assert_string_equal( bvh.skeleton.joints[1].name, "Wirbelsäule: 1 }" );
    check_round_trip( &bvh );
    tr_bvh_free( &bvh );
    check_ok( load_file( &bvh, "odd_exponents.bvh", &log, &error ), &error );
    const double expected[9] = { 1, 90, 2, -0.0, 0, 0, 10, 20, 30 };
    assert_true( same_bits( bvh.values, expected, 9 ) );
    check_round_trip( &bvh );
    tr_bvh_free( &bvh );
    assert_int_equal( log.count, 0 );
    check_ok( load_file( &bvh, "odd_frame_time_one.bvh", &log, &error ), &error );
    assert_non_null( strstr( log.lines[0], "1 second" ) );
    tr_bvh_free( &bvh );
    tr_log_free( &log );
}

static void broken_files_are_refused( void **state )
{
    (void)state;
    const struct {
        const char *name;
        int line, column;
        const char *message;
    } files[] = {
        { "broken_second_root.bvh", 16, 1,
          "expected MOTION, found a second ROOT; put each character into a file of its own" },
        { "broken_short_row.bvh", 20, 19, "expected 9 values in frame 1, found 8" },
        { "broken_long_row.bvh", 19, 23,
          "expected the end of the line after the 9 values of frame 0, found \"40\"" },
        { "broken_letters_in_number.bvh", 20, 17, "expected a number, found \"2l\"" },
        { "broken_hexadecimal.bvh", 20, 17, "expected a number, found \"0x21\"" },
        { "broken_infinite.bvh", 20, 17, "\"1e999\" is larger than any motion needs (at most 1e9)" },
        { "broken_huge_value.bvh", 20, 17, "\"1e10\" is larger than any motion needs (at most 1e9)" },
        { "broken_frames_absurd.bvh", 17, 9,
          "\"99999999999999999999\" is larger than any motion needs (at most 1e9)" },
        { "broken_frames_fraction.bvh", 17, 9,
          "expected the number of frames, 0 to 100000000, found \"2.5\"" },
        { "broken_frame_time_negative.bvh", 18, 13,
          "expected a time of one frame between a microsecond and an hour, found \"-0.0083333\"" },
        { "broken_frame_time_tiny.bvh", 18, 13,
          "expected a time of one frame between a microsecond and an hour, found \"1e-300\"" },
        { "broken_frame_time_line.bvh", 18, 23, "expected the end of the line, found \"7\"" },
        { "broken_no_frames.bvh", 19, 1,
          "expected the values of at least one frame, found the end of the file" },
        { "broken_seven_channels.bvh", 9, 12, "expected the number of channels, 0 to 6, found \"7\"" },
        { "broken_doubled_channel.bvh", 9, 24, "Zrotation stands twice among the channels of one joint" },
        { "broken_no_channels.bvh", 6, 1,
          "expected CHANNELS on at least one joint, found none: nothing moves" },
        { "broken_no_name.bvh", 6, 8, "expected a joint name, found the end of the line" },
        { "broken_nul_in_name.bvh", 6, 8, "expected a joint name, found a zero byte in it" },
        { "broken_offset.bvh", 9, 3, "expected one of the three numbers of OFFSET, found \"CHANNELS\"" },
        { "broken_end_site_channels.bvh", 13, 4,
          "expected } after the OFFSET of an end site, found \"CHANNELS\"" },
        { "broken_joint_in_end_site.bvh", 13, 4,
          "expected } after the OFFSET of an end site, found \"JOINT\"" },
        { "broken_trailing_words.bvh", 21, 1, "expected a number, found \"the\"" },
        { "broken_extra_brace.bvh", 16, 1, "expected MOTION, found \"}\"" },
    };
    for ( size_t i = 0; i < sizeof files / sizeof *files; ++i ) {
        char path[300];
        tr_bvh bvh;
        tr_error error;
        assert_false( load_file( &bvh, files[i].name, NULL, &error ) );
        assert_string_equal( error.message, files[i].message );
        assert_string_equal( error.file, file_path( path, files[i].name ) );
        assert_int_equal( error.line, files[i].line );
        assert_int_equal( error.column, files[i].column );
        assert_null( bvh.values );
    }
}

static void joints_without_names_in_common( void **state )
{
    (void)state;
    tr_bvh bvh;
    tr_error error;
    tr_log log = { 0 };
    const char *text =
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nJOINT b\n{\nOFFSET 1 0 0\n}\n"
        "JOINT b\n{\nOFFSET 1 0 0\n}\nJOINT a\n{\nOFFSET 1 0 0\n}\n}\nMOTION\nFrames: 1\nFrame "
        "Time: 0.1\n5";
    check_ok( tr_bvh_parse( &bvh, text, strlen( text ), "test.bvh", &log, &error ), &error );
    assert_int_equal( log.count, 1 );
    assert_string_equal( log.lines[0], "test.bvh: 2 joints have the name of another, \"b\" for one" );
    check_round_trip( &bvh );
    tr_log_free( &log );
    tr_bvh_free( &bvh );
}

// A chain of `count` joints, freed with tr_text_free.
static tr_text make_chain( int count )
{
    tr_text text = { 0 };
    tr_text_add( &text, "HIERARCHY\nROOT j\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n" );
    for ( int i = 1; i < count; ++i )
        tr_text_add( &text, "JOINT j%d\n{\nOFFSET 0 1 0\n", i );
    for ( int i = 0; i < count; ++i )
        tr_text_add( &text, "}\n" );
    tr_text_add( &text, "MOTION\nFrames: 1\nFrame Time: 0.1\n45\n" );
    return text;
}

static void deep_chains_need_no_stack( void **state )
{
    (void)state;
    tr_bvh bvh;
    tr_error error;
    tr_motion motion;
    tr_text text = make_chain( 5001 );
    check_ok( tr_bvh_parse( &bvh, text.data, text.size, "deep.bvh", NULL, &error ), &error );
    assert_int_equal( bvh.skeleton.joint_count, 5001 );
    check_round_trip( &bvh );
    check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
    check_ok( tr_motion_check( &motion, &error ), &error );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
    tr_text_free( &text );
    text = make_chain( TR_MAX_JOINTS + 1 );
    assert_false( tr_bvh_parse( &bvh, text.data, text.size, "deep.bvh", NULL, &error ) );
    assert_string_equal( error.message, "there are more than 20000 joints" );
    tr_text_free( &text );
}

static void memory_follows_the_file_not_its_claims( void **state )
{
    (void)state;
    const char *text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\nMOTION\n"
                       "Frames: 100000000\nFrame Time: 0.1\n5\n6\n";
    size_t before = tr_memory_peak();
    tr_bvh bvh;
    parse_ok( &bvh, text );
    assert_int_equal( bvh.frame_count, 2 );
    assert_true( tr_memory_peak() - before < 4096 );
    tr_bvh_free( &bvh );
}

// Few channels, many joints, many frames: a small file must not become a large motion.
static void sparse_files_do_not_explode( void **state )
{
    (void)state;
    tr_text text = make_chain( 5000 );
    for ( int f = 0; f < 2000; ++f )
        tr_text_append( &text, "0\n", 2 );
    tr_bvh bvh;
    tr_motion motion;
    tr_error error;
    check_ok( tr_bvh_parse( &bvh, text.data, text.size, "sparse.bvh", NULL, &error ), &error );
    assert_false( tr_bvh_to_motion( &motion, &bvh, NULL, &error ) );
    assert_non_null( strstr( error.message, "too many" ) );
    tr_bvh_free( &bvh );
    tr_text_free( &text );
}

static void long_names_are_refused( void **state )
{
    (void)state;
    char name[300], text[600];
    for ( int length = 255; length <= 256; ++length ) {
        memset( name, 'n', sizeof name );
        name[length] = 0;
        snprintf( text, sizeof text,
                  "HIERARCHY\nROOT %s\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 1 "
                  "0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1e-2\n5",
                  name );
        tr_bvh bvh;
        tr_error error;
        bool ok = parse( &bvh, text, &error );
        assert_int_equal( ok, length == 255 );
        if ( ok )
            check_round_trip( &bvh );
        else
            assert_string_equal( error.message,
                                 "expected a joint name of at most 255 bytes, found one of 256" );
        tr_bvh_free( &bvh );
    }
}

static void names_in_latin_1_become_utf_8( void **state )
{
    (void)state;
    const char *format = "HIERARCHY\nROOT %s\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 1 "
                         "0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1e-2\n5";
    char text[600], name[200];
    tr_bvh bvh;
    tr_error error;
    snprintf( text, sizeof text, format,
              "H\xfc\xff"
              "fte" ); // ü, ÿ
    check_ok( parse( &bvh, text, &error ), &error );
    assert_string_equal( bvh.skeleton.joints[0].name, "Hüÿfte" );
    check_round_trip( &bvh );
    tr_bvh_free( &bvh );
    memset( name, 0xfc, sizeof name ); // a name of twice that many bytes
    name[sizeof name - 1] = 0;
    snprintf( text, sizeof text, format, name );
    assert_false( parse( &bvh, text, &error ) );
    assert_string_equal( error.message,
                         "expected a joint name of at most 255 bytes, found one of 398 once it is UTF-8" );
}

// Parses a copy that ends where its memory ends; whatever loads must survive the whole way round.
static void check_any_input( const char *text, size_t size )
{
    char *copy = malloc( size + 1 );
    assert_non_null( copy );
    memcpy( copy, text, size );
    char *exact = realloc( copy, size > 0 ? size : 1 );
    tr_bvh bvh;
    tr_error error = { 0 };
    tr_motion motion;
    if ( tr_bvh_parse( &bvh, exact, size, "any.bvh", NULL, &error ) ) {
        check_round_trip( &bvh );
        if ( tr_bvh_to_motion( &motion, &bvh, NULL, &error ) )
            check_ok( tr_motion_check( &motion, &error ), &error );
        tr_motion_free( &motion );
    } else
        assert_true( error.message[0] != 0 && error.line > 0 && error.column > 0 );
    tr_bvh_free( &bvh );
    free( exact );
}

static void every_truncation_and_every_wrong_byte( void **state )
{
    (void)state;
    const char *names[] = { "odd_channels.bvh", "odd_crlf_tabs_no_newline.bvh", "odd_exponents.bvh" };
    const char wrong[] = { 0, '\n', ' ', '-', '.', '9', 'e', '{', '}', (char)0xFF };
    for ( int n = 0; n < 3; ++n ) {
        size_t size;
        char *text = read_text( names[n], &size );
        for ( size_t i = 0; i < size; ++i ) {
            check_any_input( text, i );
            char kept = text[i];
            for ( size_t w = 0; w < sizeof wrong; ++w ) {
                text[i] = wrong[w];
                check_any_input( text, size );
            }
            text[i] = kept;
        }
        tr_free( text );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_plain_file ),
        TEST( odd_files_load_the_same ),
        TEST( names_exponents_and_slow_rates ),
        TEST( broken_files_are_refused ),
        TEST( joints_without_names_in_common ),
        TEST( deep_chains_need_no_stack ),
        TEST( memory_follows_the_file_not_its_claims ),
        TEST( sparse_files_do_not_explode ),
        TEST( long_names_are_refused ),
        TEST( names_in_latin_1_become_utf_8 ),
        TEST( every_truncation_and_every_wrong_byte ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
