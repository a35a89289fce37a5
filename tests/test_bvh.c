#include "check.h"
#include "io/io.h"

#include <string.h>
#include <unistd.h>

static const char *file_path( char out[300], const char *name )
{
    snprintf( out, 300, "%s/tests/files/%s", SOURCE_DIR, name );
    return out;
}

static bool load_file( tr_bvh *bvh, const char *name, tr_log *log, tr_error *error )
{
    char path[300];
    return tr_bvh_load( bvh, file_path( path, name ), log, error );
}

static bool parse( tr_bvh *bvh, const char *text, tr_error *error )
{
    return tr_bvh_parse( bvh, text, strlen( text ), "test.bvh", NULL, error );
}

static void parse_ok( tr_bvh *bvh, const char *text )
{
    tr_error error;
    check_ok( parse( bvh, text, &error ), &error );
}

static bool same_bits( const double *a, const double *b, size_t count )
{
    return count == 0 || memcmp( a, b, count * sizeof( double ) ) == 0;
}

static size_t value_count( const tr_bvh *bvh )
{
    return (size_t)bvh->frame_count * (size_t)bvh->channel_count;
}

// Same joints, layout, rate and values, to the last bit.
static void check_same_bvh( const tr_bvh *a, const tr_bvh *b )
{
    assert_int_equal( a->skeleton.joint_count, b->skeleton.joint_count );
    assert_int_equal( a->channel_count, b->channel_count );
    assert_int_equal( a->frame_count, b->frame_count );
    assert_true( a->frame_time == b->frame_time );
    for ( int j = 0; j < a->skeleton.joint_count; ++j ) {
        const tr_joint *p = &a->skeleton.joints[j], *q = &b->skeleton.joints[j];
        assert_string_equal( p->name, q->name );
        assert_int_equal( p->parent, q->parent );
        assert_int_equal( p->end_site, q->end_site );
        assert_true( same_bits( &p->offset.x, &q->offset.x, 3 ) );
        assert_int_equal( a->layouts[j].count, b->layouts[j].count );
        assert_memory_equal( a->layouts[j].channels, b->layouts[j].channels, a->layouts[j].count );
    }
    assert_true( same_bits( a->values, b->values, value_count( a ) ) );
}

static void check_round_trip( const tr_bvh *bvh )
{
    tr_text text = { 0 };
    tr_bvh_print( bvh, &text );
    assert_false( text.failed );
    tr_bvh again;
    tr_error error;
    check_ok( tr_bvh_parse( &again, text.data, text.size, "again.bvh", NULL, &error ), &error );
    check_same_bvh( bvh, &again );
    tr_bvh_free( &again );
    tr_text_free( &text );
}

// ------------------------------------------------------------------------------------------------- reading

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
    memset( name, 0xfc, sizeof name ); // of twice that many bytes
    name[sizeof name - 1] = 0;
    snprintf( text, sizeof text, format, name );
    assert_false( parse( &bvh, text, &error ) );
    assert_string_equal( error.message,
                         "expected a joint name of at most 255 bytes, found one of 398 once it is UTF-8" );
}

static char *read_text( const char *name, size_t *size )
{
    char path[300], *data;
    tr_error error;
    check_ok( tr_file_read( file_path( path, name ), &data, size, &error ), &error );
    return data;
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

// ---------------------------------------------------------------------------------------------- conversion

static tr_bvh_import plain_import( double unit, char up )
{
    tr_bvh_import import = tr_default_bvh_import();
    import.unit = unit;
    import.up = up;
    return import;
}

static vec3 joint_at( const tr_motion *motion, int frame, int joint )
{
    quat rotations[64];
    vec3 positions[64];
    assert_true( motion->skeleton.joint_count <= 64 );
    tr_forward( &motion->skeleton, &motion->clip, frame, ( tr_pose ){ rotations, positions } );
    return positions[joint];
}

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

// -------------------------------------------------------------------------------------------------- export

static void unedited_values_keep_their_bits( void **state )
{
    (void)state;
    const char *names[] = { "plain.bvh", "odd_channels.bvh", "odd_exponents.bvh", "odd_names.bvh" };
    for ( int i = 0; i < 4; ++i ) {
        tr_bvh bvh, back;
        tr_motion motion;
        tr_error error;
        check_ok( load_file( &bvh, names[i], NULL, &error ), &error );
        check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
        check_ok( tr_bvh_from_motion( &back, &motion, &bvh, NULL, &error ), &error );
        check_same_bvh( &back, &bvh );
        tr_bvh_free( &back );
        tr_motion_free( &motion );
        tr_bvh_free( &bvh );
    }
}

static void an_edit_changes_only_what_it_touches( void **state )
{
    (void)state;
    tr_bvh bvh, back;
    tr_motion motion;
    tr_error error;
    check_ok( load_file( &bvh, "plain.bvh", NULL, &error ), &error );
    check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
    quat *spine = &tr_clip_frame( &motion.clip, 1 )[1];
    double angles[3] = { 12 * TR_DEGREE, 22 * TR_DEGREE, 32 * TR_DEGREE };
    *spine = q_from_euler( "zxy", angles );
    motion.skeleton.joints[1].offset.y = 0.125;
    check_ok( tr_bvh_from_motion( &back, &motion, &bvh, NULL, &error ), &error );
    assert_true( same_bits( back.values, bvh.values, 15 ) );
    for ( int c = 15; c < 18; ++c )
        check_near( back.values[c], bvh.values[c] + 1, 1e-9 );
    check_near( back.skeleton.joints[1].offset.y, 12.5, 1e-12 );
    check_v3( back.skeleton.joints[2].offset, bvh.skeleton.joints[2].offset, 0 );
    tr_bvh_free( &back );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

static void missing_channels_are_added( void **state )
{
    (void)state;
    tr_bvh bvh, back;
    tr_motion motion, again;
    tr_error error;
    check_ok( load_file( &bvh, "odd_channels.bvh", NULL, &error ), &error );
    check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
    tr_clip_frame( &motion.clip, 1 )[0] = q_from_vector( v3( 0.1, -0.7, 0.3 ) );
    tr_clip_frame( &motion.clip, 1 )[3] = q_from_vector( v3( 1, 2, -1 ) );
    motion.clip.root[0] = v3( 4, 5, 6 );
    check_ok( tr_bvh_from_motion( &back, &motion, &bvh, NULL, &error ), &error );
    assert_int_equal( back.layouts[0].count, 6 );
    assert_int_equal( back.layouts[0].channels[0], TR_BVH_Y_ROTATION ); // the order of the file comes first
    assert_int_equal( back.layouts[1].count, 2 );
    assert_int_equal( back.layouts[2].count, 0 );
    assert_int_equal( back.layouts[3].count, 3 );
    tr_bvh_import import = tr_default_bvh_import();
    tr_bvh_guess( &bvh, &import );
    check_ok( tr_bvh_to_motion( &again, &back, &import, &error ), &error );
    for ( int f = 0; f < 2; ++f )
        for ( int j = 0; j < 5; ++j )
            check_v3( joint_at( &again, f, j ), joint_at( &motion, f, j ), 1e-9 );
    tr_motion_free( &again );
    tr_bvh_free( &back );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

// A motion made by hand, its joints not in depth-first order, turning several times round.
static void make_spinner( tr_motion *motion, bool translations )
{
    tr_error error;
    *motion = ( tr_motion ){ 0 };
    tr_skeleton *skeleton = &motion->skeleton;
    assert_int_equal( tr_skeleton_add( skeleton, "root", -1, v3( 0, 1, 0 ) ), 0 );
    assert_int_equal( tr_skeleton_add( skeleton, "left", 0, v3( 0.5, 0, 0 ) ), 1 );
    assert_int_equal( tr_skeleton_add( skeleton, "right", 0, v3( -0.5, 0, 0 ) ), 2 );
    assert_int_equal( tr_skeleton_add( skeleton, "left hand", 1, v3( 0.3, 0, 0.1 ) ), 3 );
    assert_int_equal( tr_skeleton_add( skeleton, "tip", 2, v3( -0.3, 0, 0 ) ), 4 );
    skeleton->joints[4].end_site = true;
    check_ok( tr_skeleton_classify( skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion->clip, 200, 5, 60, translations, &error ), &error );
    for ( int f = 0; f < 200; ++f ) {
        quat *local = tr_clip_frame( &motion->clip, f );
        motion->clip.root[f] = v3( 0.01 * f, 1 + 0.1 * sin( 0.1 * f ), -0.02 * f );
        for ( int j = 0; j < 4; ++j )
            local[j] = q_mul( q_axis_angle( v3_y, 0.11 * f * ( j - 1 ) ),
                              q_axis_angle( v3( 1, 0.2, 0.5 * j ), 1.3 * sin( 0.05 * f + j ) ) );
        for ( int j = 0; j < 5 && translations; ++j )
            motion->clip.translations[5 * f + j] =
                j == 4 ? skeleton->joints[j].offset : v3_mad( skeleton->joints[j].offset, 0.001 * f, v3_one );
    }
}

static void check_same_motion( const tr_motion *a, const tr_motion *b )
{
    assert_int_equal( a->clip.frame_count, b->clip.frame_count );
    check_near( a->clip.fps, b->clip.fps, 1e-9 );
    for ( int j = 0; j < a->skeleton.joint_count; ++j ) {
        const char *name = a->skeleton.joints[j].name;
        int k = a->skeleton.joints[j].end_site ? tr_skeleton_find( &b->skeleton, "right_End" )
                                               : tr_skeleton_find( &b->skeleton, name );
        assert_true( k >= 0 );
        for ( int f = 0; f < a->clip.frame_count; ++f )
            check_v3( joint_at( a, f, j ), joint_at( b, f, k ), 1e-10 );
    }
}

static void any_motion_survives_a_file( void **state )
{
    (void)state;
    for ( int translations = 0; translations < 2; ++translations ) {
        tr_motion motion, again;
        tr_error error;
        char path[64];
        snprintf( path, sizeof path, "/tmp/troupe-test-%ld.bvh", (long)getpid() );
        make_spinner( &motion, translations != 0 );
        check_ok( tr_motion_save( &motion, path, &error ), &error );
        tr_bvh_import import = plain_import( 0.01, 'y' );
        check_ok( tr_motion_load( &again, path, &import, NULL, &error ), &error );
        unlink( path );
        check_same_motion( &motion, &again );
        assert_int_equal( again.clip.translations != NULL, translations );
        tr_motion_free( &again );
        tr_motion_free( &motion );
    }
}

static void angles_do_not_jump( void **state )
{
    (void)state;
    tr_motion motion;
    tr_bvh bvh;
    tr_error error;
    make_spinner( &motion, false );
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    assert_int_equal( bvh.channel_count, 6 + 3 * 3 );
    for ( int f = 1; f < bvh.frame_count; ++f )
        for ( int c = 3; c < bvh.channel_count; ++c )
            assert_true( fabs( bvh.values[f * 15 + c] - bvh.values[( f - 1 ) * 15 + c] ) < 180 );
    tr_bvh_free( &bvh );
    tr_motion_free( &motion );
}

// Names that a file cannot hold are written in a way it can.
static void harmful_names_are_tamed( void **state )
{
    (void)state;
    tr_bvh bvh, again;
    tr_error error;
    tr_motion motion = { 0 };
    assert_int_equal( tr_skeleton_add( &motion.skeleton, " a{b\nc ", -1, v3_zero ), 0 );
    assert_int_equal( tr_skeleton_add( &motion.skeleton, "", 0, v3_x ), 1 );
    check_ok( tr_skeleton_classify( &motion.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion.clip, 1, 2, 30, false, &error ), &error );
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    tr_text text = { 0 };
    tr_bvh_print( &bvh, &text );
    check_ok( tr_bvh_parse( &again, text.data, text.size, "tamed.bvh", NULL, &error ), &error );
    assert_string_equal( again.skeleton.joints[0].name, "_a_b_c_" );
    assert_string_equal( again.skeleton.joints[1].name, "joint" );
    tr_bvh_free( &again );
    tr_bvh_free( &bvh );
    tr_text_free( &text );
    tr_motion_free( &motion );
}

static void threads_do_not_change_a_bit( void **state )
{
    (void)state;
    tr_motion motion, first = { 0 };
    tr_bvh bvh;
    tr_error error;
    make_spinner( &motion, true );
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    for ( int threads = 1; threads <= 8; threads *= 2 ) {
        tr_bvh other;
        tr_motion back;
        tr_parallel_set_threads( threads );
        check_ok( tr_bvh_from_motion( &other, &motion, NULL, NULL, &error ), &error );
        assert_true( same_bits( other.values, bvh.values, value_count( &bvh ) ) );
        check_ok( tr_bvh_to_motion( &back, &other, NULL, &error ), &error );
        if ( threads == 1 )
            first = back;
        else {
            assert_memory_equal( back.clip.rotations, first.clip.rotations, 200 * 5 * sizeof( quat ) );
            tr_motion_free( &back );
        }
        tr_bvh_free( &other );
    }
    tr_parallel_set_threads( 0 );
    tr_motion_free( &first );
    tr_bvh_free( &bvh );
    tr_motion_free( &motion );
}

// ------------------------------------------------------------------------------------------ out of memory

static bool whole_way_round( const char *text, size_t size, tr_error *error )
{
    tr_bvh bvh, back = { 0 };
    tr_motion motion = { 0 };
    tr_log log = { 0 };
    tr_text printed = { 0 };
    bool ok = tr_bvh_parse( &bvh, text, size, "test.bvh", &log, error ) &&
              tr_bvh_to_motion( &motion, &bvh, NULL, error ) &&
              tr_bvh_from_motion( &back, &motion, &bvh, NULL, error );
    if ( ok ) {
        tr_bvh_print( &back, &printed );
        ok = !printed.failed || tr_error_memory( error );
    }
    tr_text_free( &printed );
    tr_log_free( &log );
    tr_motion_free( &motion );
    tr_bvh_free( &back );
    tr_bvh_free( &bvh );
    return ok;
}

static void memory_may_run_out( void **state )
{
    (void)state;
    const char *names[] = { "odd_channels.bvh", "odd_more_frames_than_declared.bvh" };
    for ( int i = 0; i < 2; ++i ) {
        size_t size;
        char *text = read_text( names[i], &size );
        size_t before = tr_memory_live();
        bool ok = false;
        for ( long n = 1; !ok && n < 10000; ++n ) {
            tr_error error = { 0 };
            tr_memory_fail_from( n );
            ok = whole_way_round( text, size, &error );
            tr_memory_fail_from( 0 );
            if ( !ok )
                assert_string_equal( error.message, "out of memory" );
            assert_int_equal( tr_memory_live(), before );
        }
        assert_true( ok );
        tr_free( text );
    }
}

// Reading a file and writing one: the old file stays whole until the new one is.
static void memory_may_run_out_with_files( void **state )
{
    (void)state;
    char source[300], target[64];
    file_path( source, "plain.bvh" );
    snprintf( target, sizeof target, "/tmp/troupe-test-%ld.bvh", (long)getpid() );
    tr_error error;
    check_ok( tr_file_write( target, "old", 3, &error ), &error );
    bool ok = false;
    for ( long n = 1; !ok && n < 10000; ++n ) {
        tr_motion motion;
        tr_memory_fail_from( n );
        ok = tr_motion_load( &motion, source, NULL, NULL, &error ) &&
             tr_motion_save( &motion, target, &error );
        tr_memory_fail_from( 0 );
        tr_motion_free( &motion );
        if ( !ok )
            assert_string_equal( error.message, "out of memory" );
        assert_int_equal( tr_memory_live(), 0 );
        char *data;
        size_t size;
        check_ok( tr_file_read( target, &data, &size, &error ), &error );
        assert_int_equal( memcmp( data, ok ? "HIE" : "old", 3 ), 0 );
        tr_free( data );
    }
    assert_true( ok );
    unlink( target );
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
        TEST( channels_by_hand ),
        TEST( every_subset_of_channels ),
        TEST( z_up_becomes_y_up ),
        TEST( rates_are_what_was_meant ),
        TEST( units_and_up_axis_are_guessed ),
        TEST( frames_out_of_range ),
        TEST( unedited_values_keep_their_bits ),
        TEST( an_edit_changes_only_what_it_touches ),
        TEST( missing_channels_are_added ),
        TEST( any_motion_survives_a_file ),
        TEST( angles_do_not_jump ),
        TEST( harmful_names_are_tamed ),
        TEST( threads_do_not_change_a_bit ),
        TEST( memory_may_run_out ),
        TEST( memory_may_run_out_with_files ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
