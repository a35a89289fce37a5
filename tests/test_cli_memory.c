// Commands that print JSON print all of it or fail, whichever allocation fails.
#include "cli.h"
#include "folder.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int set_up( void **state )
{
    tr_parallel_set_threads( 1 ); // every run asks for memory in the same order
    return set_up_folder( state );
}

// Runs a command, its output and its messages going to files, with the n-th allocation failing (0: none).
// *out is allocated.
static int run( const cli_command *command, int count, char **words, long n, char **out )
{
    char path[64];
    snprintf( path, sizeof path, "%s/out", group_folder );
    int kept[2] = { dup( 1 ), dup( 2 ) }, file = open( path, O_RDWR | O_CREAT | O_TRUNC, 0666 ),
        nowhere = open( "/dev/null", O_WRONLY );
    assert_true( kept[0] >= 0 && kept[1] >= 0 && file >= 0 && nowhere >= 0 );
    fflush( stdout );
    dup2( file, 1 );
    dup2( nowhere, 2 );
    cli_call call;
    int code = cli_parse( &call, command, count, words );
    tr_memory_fail_from( n );
    if ( code == CLI_OK )
        code = command->run( &call );
    tr_memory_fail_from( 0 );
    fflush( stdout );
    dup2( kept[0], 1 );
    dup2( kept[1], 2 );
    close( kept[0] );
    close( kept[1] );
    close( nowhere );
    off_t size = lseek( file, 0, SEEK_END );
    *out = calloc( (size_t)size + 1, 1 );
    assert_non_null( *out );
    assert_int_equal( pread( file, *out, (size_t)size, 0 ), size );
    close( file );
    return code;
}

// Each allocation up to the 200th, then ever fewer, and each of the last ones, while the text is printed: all
// parts of a run are met.
static void check_command( const cli_command *command, int count, char **words )
{
    char *whole, *out;
    size_t before = tr_memory_live();
    assert_int_equal( run( command, count, words, 0, &whole ), CLI_OK );
    assert_true( strlen( whole ) > 2 );
    int failures = 0;
    long last = 1;
    for ( bool ok = false; !ok; last += 1 + last / 200 ) { // how many there are, and a few more
        ok = run( command, count, words, last, &out ) == CLI_OK;
        free( out );
    }
    for ( long n = 1;; n += 1 + ( n < last - 100 - last / 50 ? n / 200 : 0 ) ) {
        int code = run( command, count, words, n, &out );
        assert_int_equal( tr_memory_live(), before );
        bool same = strcmp( out, whole ) == 0;
        if ( code == CLI_OK && !same )
            print_error( "allocation %ld: %s\n", n, out );
        assert_true( code == CLI_OK ? same : out[0] == 0 );
        free( out );
        if ( code == CLI_OK )
            break;
        ++failures;
    }
    print_message( "%s: %d failures\n", command->name, failures );
    assert_true( failures > 20 );
    free( whole );
}

// Doubled names and a wrong number of frames: warnings.
static const char motion[] =
    "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 0 0\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    "  JOINT Chest\n  {\n    OFFSET 0 80 0\n    CHANNELS 3 Yrotation Xrotation Zrotation\n"
    "    JOINT Chest\n    {\n    OFFSET 0 80 0\n    CHANNELS 3 Yrotation Xrotation Zrotation\n"
    "    End Site\n    {\n      OFFSET 0 90 0\n    }\n  }\n }\n}\n"
    "MOTION\nFrames: 4\nFrame Time: 1\n"
    "0 0 0 10 20 30 1.5 2.25 3 0 0 0\n1 0 0.5 11 21 31 4 5 6.125 0 0 0\n2 0.125 1 12 22 32 7 8 9 0 0 0\n";

static void test_info_of_a_motion( void **state )
{
    (void)state;
    char path[64];
    tr_error error;
    snprintf( path, sizeof path, "%s/walk.bvh", group_folder );
    check_ok( tr_file_write( path, motion, strlen( motion ), &error ), &error );
    check_command( &cli_command_info, 2, ( char *[] ){ path, "--json" } );
}

static void test_info_of_a_scene( void **state )
{
    (void)state;
    check_command( &cli_command_info, 2, ( char *[] ){ "judo_pair", "--json" } );
}

static void test_measure( void **state )
{
    (void)state;
    tr_scene scene = tr_default_scene();
    tr_library library = { 0 };
    tr_error error;
    check_ok( tr_scene_build( tr_scene_entry_find( "high_five" ), 0, &scene, &library, &error ), &error );
    scene.last = scene.first + 9;
    tr_stage stage;
    tr_result result;
    check_ok( tr_stage_build( &stage, &scene, NULL, &library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &result, &stage, tr_method_find( "copy" ), &error ), &error );
    char results[64];
    snprintf( results, sizeof results, "%s/results", group_folder );
    check_ok( tr_result_save( &stage, &result, "copy", results, &error ), &error );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_library_free( &library );
    tr_scene_free( &scene );
    check_command( &cli_command_measure, 4, ( char *[] ){ results, "--json", "-j", "1" } );
    check_command( &cli_command_links, 4, ( char *[] ){ results, "--json", "-j", "1" } );
    tr_parallel_set_threads( 0 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( test_info_of_a_motion ),
        TEST( test_info_of_a_scene ),
        TEST( test_measure ),
    };
    return cmocka_run_group_tests( tests, set_up, remove_group_folder );
}
