// Motion files: those of tests/captures, and real ones where TROUPE_DATA_DIR names their folder; the latter
// are no part of the project.
#include "captures.h"
#include "check.h"
#include "format/format.h"

#include <ftw.h>
#include <string.h>

static void load_data( tr_bvh *bvh, const char *name )
{
    char path[CAPTURE_PATH];
    tr_error error;
    check_ok( tr_bvh_load( bvh, capture_path( path, name ), NULL, &error ), &error );
}

// ------------------------------------------------------------------------------------- published positions

static const char *next_number( const char *at, const char *end, double *value )
{
    while ( at < end && ( *at == ' ' || *at == ',' || *at == '\n' || *at == '\r' ) )
        ++at;
    return tr_number_parse( at, end, value );
}

// What the maker of tests/captures put where is compared in test_make_captures.
static void walk01_stands_where_it_was_published( void **state )
{
    (void)state;
    if ( !have_capture( "bvh-quirks/walk01.bvh" ) )
        skip();
    char path[CAPTURE_PATH], *csv;
    size_t size;
    tr_bvh bvh;
    tr_motion motion;
    tr_world world;
    tr_error error;
    load_data( &bvh, "bvh-quirks/walk01.bvh" );
    tr_bvh_import import = { .unit = 1, .up = 'y', .first = 0, .last = -1 }; // in its own unit
    check_ok( tr_bvh_to_motion( &motion, &bvh, &import, &error ), &error );
    check_ok( tr_world_build( &world, &motion, &error ), &error );
    check_ok( tr_file_read( capture_path( path, "bvh-quirks/walk01_pos.csv" ), &csv, &size, &error ),
              &error );
    const char *at = strchr( csv, '\n' ), *end = csv + size;
    double worst = 0, time;
    for ( int f = 0; f < world.frame_count; ++f ) {
        at = next_number( at, end, &time );
        for ( int j = 0; j < world.joint_count; ++j ) {
            double p[3];
            for ( int i = 0; i < 3; ++i )
                assert_non_null( at = next_number( at, end, &p[i] ) );
            worst =
                fmax( worst, v3_distance( v3( p[0], p[1], p[2] ), tr_world_pose( &world, f ).positions[j] ) );
        }
    }
    print_message( "largest distance from the published positions: %.2g units\n", worst );
    assert_true( worst < 1e-5 );
    tr_free( csv );
    tr_world_free( &world );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

// --------------------------------------------------------------------------------------------- every file

// What becomes of the files that were damaged on purpose; every other one loads.
typedef struct expected {
    const char *name;
    bool loads;
    const char *word; // in the error, or in a warning
} expected;

static const expected damaged[] = {
    { "binary_garbage.bvh", false, "expected HIERARCHY" },
    { "comma_decimals.bvh", false, "expected a number, found \"0,000000\"" },
    { "deep_5000_joints.bvh", true, NULL },
    { "duplicate_names.bvh", true, "has the name of another" },
    { "empty.bvh", false, "found the end of the file" },
    { "frames_negative.bvh", false, "found \"-3\"" },
    { "frames_zero.bvh", true, "declares 0 frames but holds 3" },
    { "frametime_missing.bvh", false, "expected Frame Time" },
    { "frametime_zero.bvh", false, "expected a time of one frame" },
    { "long_name_100k.bvh", false, "at most 255 bytes, found one of 100000" },
    { "lowercase_keywords.bvh", true, NULL },
    { "missing_close_brace.bvh", false, "found \"MOTION\"" },
    { "nan_inf_values.bvh", false, "found \"nan\"" },
    { "no_motion_section.bvh", false, "expected MOTION" },
    { "truncated_hierarchy.bvh", false, "expected OFFSET" },
    { "unknown_channel.bvh", false, "found \"Wrotation\"" },
    { "utf8_bom.bvh", true, NULL },
};

static expected expectation( const char *path )
{
    const char *name = strrchr( path, '/' ) + 1;
    for ( size_t i = 0; i < sizeof damaged / sizeof *damaged; ++i )
        if ( strcmp( damaged[i].name, name ) == 0 )
            return damaged[i];
    return ( expected ){ name, true, NULL };
}

// Writing and reading reproduces layout and values: 1e-9 would do, shortest-exact numbers give every bit.
static void check_written( const tr_bvh *bvh )
{
    tr_text text = { 0 };
    tr_bvh again;
    tr_error error;
    tr_bvh_print( bvh, &text );
    check_ok( tr_bvh_parse( &again, text.data, text.size, "again.bvh", NULL, &error ), &error );
    assert_int_equal( again.skeleton.joint_count, bvh->skeleton.joint_count );
    assert_int_equal( again.channel_count, bvh->channel_count );
    assert_int_equal( again.frame_count, bvh->frame_count );
    for ( int j = 0; j < bvh->skeleton.joint_count; ++j ) {
        assert_string_equal( again.skeleton.joints[j].name, bvh->skeleton.joints[j].name );
        assert_int_equal( again.skeleton.joints[j].parent, bvh->skeleton.joints[j].parent );
        assert_memory_equal( &again.layouts[j], &bvh->layouts[j], sizeof( tr_bvh_layout ) );
    }
    size_t values = (size_t)bvh->frame_count * (size_t)bvh->channel_count;
    assert_memory_equal( again.values, bvh->values, values * sizeof( double ) );
    tr_bvh_free( &again );
    tr_text_free( &text );
}

// To metres and Y up and back: an unedited motion keeps every bit of its channels.
static void check_converted( const tr_bvh *bvh )
{
    tr_motion motion;
    tr_bvh back;
    tr_error error;
    check_ok( tr_bvh_to_motion( &motion, bvh, NULL, &error ), &error );
    check_ok( tr_motion_check( &motion, &error ), &error );
    check_ok( tr_bvh_from_motion( &back, &motion, bvh, NULL, &error ), &error );
    assert_int_equal( back.channel_count, bvh->channel_count );
    assert_true( back.frame_time == bvh->frame_time );
    size_t values = (size_t)bvh->frame_count * (size_t)bvh->channel_count;
    assert_memory_equal( back.values, bvh->values, values * sizeof( double ) );
    tr_bvh_free( &back );
    tr_motion_free( &motion );
}

static bool any_line_holds( const tr_log *log, const char *word )
{
    for ( int i = 0; i < log->count; ++i )
        if ( strstr( log->lines[i], word ) != NULL )
            return true;
    return false;
}

static void check_data_file( const char *path )
{
    expected e = expectation( path );
    tr_bvh bvh;
    tr_log log = { 0 };
    tr_error error = { 0 };
    if ( !e.loads ) {
        assert_false( tr_bvh_load( &bvh, path, &log, &error ) );
        assert_non_null( strstr( error.message, e.word ) );
        assert_true( error.line > 0 && error.column > 0 );
        assert_int_equal( log.count, 0 );
        return;
    }
    check_ok( tr_bvh_load( &bvh, path, &log, &error ), &error );
    assert_true( e.word == NULL ? log.count == 0 : any_line_holds( &log, e.word ) );
    check_written( &bvh );
    check_converted( &bvh );
    tr_log_free( &log );
    tr_bvh_free( &bvh );
}

static int files_seen; // nftw has no context to pass

static int visit( const char *path, const struct stat *info, int kind, struct FTW *where )
{
    (void)info;
    (void)where;
    size_t length = strlen( path );
    if ( kind == FTW_F && length > 4 && strcmp( path + length - 4, ".bvh" ) == 0 ) {
        check_data_file( path );
        files_seen++;
    }
    return 0;
}

static void every_file_loads_or_is_refused_with_a_reason( void **state )
{
    (void)state;
    files_seen = 0;
    assert_int_equal( nftw( CAPTURES_FOLDER, visit, 16, FTW_PHYS ), 0 );
    assert_true( files_seen >= 4 );
    if ( data_folder() != NULL )
        assert_int_equal( nftw( data_folder(), visit, 16, FTW_PHYS ), 0 );
    print_message( "%d files\n", files_seen );
}

static void check_alike( tr_bvh *lf, tr_bvh *crlf )
{
    assert_int_equal( lf->skeleton.joint_count, crlf->skeleton.joint_count );
    for ( int j = 0; j < lf->skeleton.joint_count; ++j ) {
        assert_string_equal( lf->skeleton.joints[j].name, crlf->skeleton.joints[j].name );
        check_v3( lf->skeleton.joints[j].offset, crlf->skeleton.joints[j].offset, 0 );
    }
    assert_int_equal( lf->frame_count, crlf->frame_count );
    assert_int_equal( lf->channel_count, crlf->channel_count );
    assert_memory_equal( lf->values, crlf->values,
                         (size_t)lf->frame_count * (size_t)lf->channel_count * sizeof( double ) );
    tr_bvh_free( lf );
    tr_bvh_free( crlf );
}

static void line_ends_do_not_matter( void **state )
{
    (void)state;
    char path[CAPTURE_PATH], *text;
    size_t size;
    tr_bvh lf, crlf;
    tr_error error;
    tr_text wide = { 0 }; // the same with the line ends of Windows
    load_data( &lf, "lift.bvh" );
    check_ok( tr_file_read( capture_path( path, "lift.bvh" ), &text, &size, &error ), &error );
    for ( const char *at = text; *at != 0; ) {
        size_t length = strcspn( at, "\n" );
        tr_text_add( &wide, "%.*s\r\n", (int)length, at );
        at += length + ( at[length] != 0 );
    }
    assert_true( wide.size > size );
    check_ok( tr_bvh_parse( &crlf, wide.data, wide.size, "wide.bvh", NULL, &error ), &error );
    check_alike( &lf, &crlf );
    tr_text_free( &wide );
    tr_free( text );
    if ( !have_capture( "bvh-quirks/bvhanim_test_mocapbank_lf.bvh" ) )
        return;
    load_data( &lf, "bvh-quirks/bvhanim_test_mocapbank_lf.bvh" );
    load_data( &crlf, "bvh-quirks/bvhpython_test_mocapbank_crlf.bvh" );
    check_alike( &lf, &crlf );
}

// ------------------------------------------------------------------------------------------------- guesses

static void units_and_up_axes_are_right( void **state )
{
    (void)state;
    const struct {
        const char *name;
        double unit;
        char up;
        double fps;
    } files[] = { { "walk.bvh", 0.05644, 'y', 120 },
                  { "shake_b.bvh", 0.05644, 'y', 120 },
                  { "lift.bvh", 0.01, 'y', 120 },
                  { "cmu-pairs/18_01.bvh", 0.05644, 'y', 120 },
                  { "cmu-single/49_06.bvh", 0.05644, 'y', 120 },
                  { "human-misc/jumping_jacks.bvh", 0.05644, 'y', 30 },
                  { "human-misc/xia_rest.bvh", 0.05644, 'y', 24 },
                  { "human-misc/pirouette.bvh", 0.01, 'y', 120 },
                  { "human-misc/AV_8Walk_Meredith_HVHA_Rep1.bvh", 0.0254, 'y', 120 },
                  { "human-misc/dab.bvh", 0.0254, 'z', 30 },
                  { "bandai-nc/dataset-1_walk_giant_001.bvh", 0.01, 'y', 30 },
                  { "bvh-quirks/pybvh_test1_mixed_orders.bvh", 0.0254, 'z', 30 },
                  { "bvh-quirks/pybvh_full_precision_frame_time.bvh", 0.01, 'y', 23.976 },
                  { "bvh-quirks/walk01.bvh", 0.01, 'y', 24 },
                  { "trio-perfume/A_test.bvh", 0.01, 'y', 40 },
                  { "geno/Geno_bind.bvh", 0.01, 'y', 60 } };
    for ( size_t i = 0; i < sizeof files / sizeof *files; ++i ) {
        tr_bvh bvh;
        tr_motion motion;
        tr_error error;
        if ( !have_capture( files[i].name ) )
            continue;
        load_data( &bvh, files[i].name );
        tr_bvh_import import = tr_default_bvh_import();
        tr_bvh_guess( &bvh, &import );
        check_near( import.unit, files[i].unit, 0 );
        assert_int_equal( import.up, files[i].up );
        check_ok( tr_bvh_to_motion( &motion, &bvh, &import, &error ), &error );
        check_near( motion.clip.fps, files[i].fps, 1e-3 );
        tr_motion_free( &motion );
        tr_bvh_free( &bvh );
    }
}

// A walker's head is above its hips and its hips are above its feet, whatever the file's axes.
static void people_stand_upright( void **state )
{
    (void)state;
    const struct {
        const char *file, *head, *hips, *foot;
    } people[] = {
        { "walk.bvh", "Head", "Hips", "LeftFoot" },
        { "lift.bvh", "Head", "Hips", "LeftAnkle" },
        { "cmu-pairs/18_01.bvh", "Head", "Hips", "LeftFoot" },
        { "human-misc/dab.bvh", "Head", "Hips", "LeftFoot" },
        { "bvh-quirks/pybvh_test1_mixed_orders.bvh", "Head", "Hips", "LeftFoot" },
        { "bandai-nc/dataset-1_walk_normal_001.bvh", "Head", "Hips", "Foot_L" },
        { "geno/Geno_stance.bvh", "Head", "Hips", "LeftFoot" },
        { "human-misc/AV_8Walk_Meredith_HVHA_Rep1.bvh", "Head", "Hips", "LeftFoot" },
    };
    for ( size_t i = 0; i < sizeof people / sizeof *people; ++i ) {
        char path[CAPTURE_PATH];
        tr_motion motion;
        tr_world world;
        tr_error error;
        if ( !have_capture( people[i].file ) )
            continue;
        check_ok( tr_motion_load( &motion, capture_path( path, people[i].file ), NULL, NULL, &error ),
                  &error );
        check_ok( tr_world_build( &world, &motion, &error ), &error );
        int head = tr_skeleton_find( &motion.skeleton, people[i].head );
        int hips = tr_skeleton_find( &motion.skeleton, people[i].hips );
        int foot = tr_skeleton_find( &motion.skeleton, people[i].foot );
        assert_true( head > 0 && hips >= 0 && foot > 0 );
        const vec3 *at = tr_world_pose( &world, 0 ).positions;
        assert_true( at[head].y > at[hips].y + 0.25 && at[hips].y > at[foot].y + 0.25 );
        assert_true( at[head].y - at[foot].y > 0.8 && at[head].y - at[foot].y < 2.0 );
        tr_world_free( &world );
        tr_motion_free( &motion );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( walk01_stands_where_it_was_published ),
        TEST( every_file_loads_or_is_refused_with_a_reason ),
        TEST( line_ends_do_not_matter ),
        TEST( units_and_up_axes_are_right ),
        TEST( people_stand_upright ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
