// Files that are none, that change, whose names are long or odd, and that hold something else than they
// should: every reader refuses them in one sentence, at once, and without telling what is in them.
#include "folder.h"
#include "format/format.h"
#include "scenes/scenes.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void put( const char *path, const char *text )
{
    tr_error error;
    check_ok( tr_file_write( path, text, strlen( text ), &error ), &error );
}

static const char small_bvh[] = "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 90 0\n"
                                "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                                "  End Site\n  {\n    OFFSET 0 80 0\n  }\n}\n"
                                "MOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0 10 20 30\n1 0 0.5 11 21 31\n";

// ------------------------------------------------------------------------------------------------- readers

static bool read_whole( const char *path, tr_error *error )
{
    char *data;
    size_t size;
    bool ok = tr_file_read( path, &data, &size, error );
    tr_free( data );
    return ok;
}

static bool read_bvh( const char *path, tr_error *error )
{
    tr_bvh bvh;
    bool ok = tr_bvh_load( &bvh, path, NULL, error );
    tr_bvh_free( &bvh );
    return ok;
}

static bool read_obj( const char *path, tr_error *error )
{
    tr_trimesh mesh;
    tr_obj_import import = { .unit = 1, .up = 'y' };
    bool ok = tr_obj_load( &mesh, path, &import, error );
    tr_trimesh_free( &mesh );
    return ok;
}

static bool read_scene( const char *path, tr_error *error )
{
    tr_scene scene;
    bool ok = tr_scene_load( &scene, path, error );
    tr_scene_free( &scene );
    return ok;
}

// A scene that names the file in `field` of its only character.
static bool read_by_scene( const char *format, const char *path, tr_error *error )
{
    char file[128], good[128], text[6000];
    put( in_folder( good, "good.bvh" ), small_bvh );
    snprintf( text, sizeof text, format, path );
    put( in_folder( file, "naming.json" ), text );
    tr_scene scene;
    tr_library library = { 0 };
    tr_stage stage = { 0 };
    bool ok =
        tr_scene_load( &scene, file, error ) && tr_stage_build( &stage, &scene, file, &library, NULL, error );
    tr_stage_free( &stage );
    tr_library_free( &library );
    tr_scene_free( &scene );
    return ok;
}

static bool read_source( const char *path, tr_error *error )
{
    return read_by_scene(
        "{\"version\": 1, \"range\": [0, 1], \"cast\": [{\"id\": \"a\", \"source\": {\"file\": \"%s\"}}]}",
        path, error );
}

static bool read_skeleton( const char *path, tr_error *error )
{
    return read_by_scene(
        "{\"version\": 1, \"range\": [0, 1], \"cast\": [{\"id\": \"a\", \"source\": {\"file\": "
        "\"good.bvh\"}, \"target\": {\"skeleton\": {\"file\": \"%s\"}}}]}",
        path, error );
}

static bool read_map( const char *path, tr_error *error )
{
    return read_by_scene(
        "{\"version\": 1, \"range\": [0, 1], \"cast\": [{\"id\": \"a\", \"source\": {\"file\": "
        "\"good.bvh\"}, \"mapping\": \"%s\"}]}",
        path, error );
}

static bool read_mesh( const char *path, tr_error *error )
{
    return read_by_scene(
        "{\"version\": 1, \"range\": [0, 1], \"cast\": [{\"id\": \"a\", \"source\": {\"file\": "
        "\"good.bvh\"}}], \"props\": [{\"id\": \"m\", \"shape\": \"mesh\", \"mesh\": {\"file\": \"%s\"}}]}",
        path, error );
}

static bool read_script( const char *path, tr_error *error )
{
    char *data;
    size_t size;
    bool ok = tr_file_read_piped( path, &data, &size, error );
    tr_free( data );
    return ok;
}

static bool read_opened( const char *path, tr_error *error )
{
    tr_opened opened;
    bool ok = tr_open( &opened, path, 0, error );
    tr_opened_free( &opened );
    return ok;
}

static const struct {
    const char *name;
    bool ( *read )( const char *path, tr_error *error );
} readers[] = { { "file", read_whole },   { "bvh", read_bvh },       { "obj", read_obj },
                { "scene", read_scene },  { "source", read_source }, { "skeleton", read_skeleton },
                { "map", read_map },      { "mesh", read_mesh },     { "script", read_script },
                { "opened", read_opened } };
enum { READERS = sizeof readers / sizeof readers[0] };

// ----------------------------------------------------------------------------------------- what is no file

static void test_no_files( void **state )
{
    (void)state;
    char pipe[128], bare[128], loop[128], socket_path[128], nothing[128];
    assert_int_equal( mkfifo( in_folder( pipe, "pipe.bvh" ), 0666 ), 0 );
    assert_int_equal( mkfifo( in_folder( bare, "pipe" ), 0666 ), 0 );
    assert_int_equal( symlink( "loop.bvh", in_folder( loop, "loop.bvh" ) ), 0 );
    assert_int_equal( mknod( in_folder( socket_path, "socket.bvh" ), S_IFSOCK | 0666, 0 ), 0 );
    in_folder( nothing, "nothing.bvh" );
    const struct {
        const char *path, *says;
    } cases[] = { { pipe, "is a pipe; a file is needed here" },
                  { bare, "is a pipe; a file is needed here" },
                  { "/dev/zero", "is a device; a file is needed here" },
                  { "/dev/tty", "" },
                  { socket_path, "is a device; a file is needed here" },
                  { group_folder, "is a folder; a file is needed here" },
                  { loop, "symbolic links" },
                  { nothing, "o such file" } };
    for ( size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c )
        for ( int r = 0; r < READERS; ++r ) {
            tr_error error = { 0 };
            size_t before = tr_memory_live();
            bool folders = strcmp( readers[r].name, "opened" ) == 0 && cases[c].path == group_folder;
            if ( readers[r].read( cases[c].path, &error ) )
                fail_msg( "%s as %s is read", cases[c].path, readers[r].name );
            if ( !folders && strstr( error.message, cases[c].says ) == NULL )
                fail_msg( "%s as %s: %s", cases[c].path, readers[r].name, error.message );
            assert_true( error.message[0] != 0 );
            assert_int_equal( tr_memory_live(), before );
        }
}

// Refused before anything of it is read.
static void test_devices_take_no_memory( void **state )
{
    (void)state;
    tr_error error;
    size_t before = tr_memory_peak();
    assert_false( read_bvh( "/dev/zero", &error ) );
    assert_false( read_script( "/dev/zero", &error ) );
    assert_int_equal( tr_memory_peak(), before );
}

// A pipe is read where the shell has opened it for a script.
static void test_pipes_of_the_shell( void **state )
{
    (void)state;
    int ends[2];
    char path[64], *data;
    size_t size;
    tr_error error;
    assert_int_equal( pipe( ends ), 0 );
    assert_int_equal( write( ends[1], "open scene=wolf\n", 16 ), 16 );
    close( ends[1] );
    snprintf( path, sizeof path, "/dev/fd/%d", ends[0] );
    assert_false( tr_file_read( path, &data, &size, &error ) );
    check_ok( tr_file_read_piped( path, &data, &size, &error ), &error );
    assert_string_equal( data, "open scene=wolf\n" );
    tr_free( data );
    close( ends[0] );
    // a named pipe whose writer has ended already, and which does not wait
    char name[128];
    assert_int_equal( mkfifo( in_folder( name, "in.pipe" ), 0666 ), 0 );
    int reader = open( name, O_RDONLY | O_NONBLOCK ), writer = open( name, O_WRONLY );
    assert_true( reader >= 0 && writer >= 0 );
    assert_int_equal( write( writer, "open scene=wolf\n", 16 ), 16 );
    close( writer );
    snprintf( path, sizeof path, "/dev/fd/%d", reader );
    alarm( 60 );
    check_ok( tr_file_read_piped( path, &data, &size, &error ), &error );
    alarm( 0 );
    assert_string_equal( data, "open scene=wolf\n" );
    tr_free( data );
    close( reader );
    unlink( name );
}

// A file of the kernel says it is empty and is not, as one that has grown since it was opened. Lines of the
// other one divide a page: a write that crosses pages is seen in two parts.
static void test_files_that_grow( void **state )
{
    (void)state;
    enum { LINE = 16 };
    tr_error error;
    assert_false( read_whole( "/proc/self/maps", &error ) );
    assert_non_null( strstr( error.message, "changed while it was read" ) );
    char path[128], begin[sizeof small_bvh + LINE];
    size_t length = ( strlen( small_bvh ) + LINE - 1 ) / LINE * LINE;
    snprintf( begin, sizeof begin, "%s%*s", small_bvh, (int)( length - strlen( small_bvh ) ), "" );
    put( in_folder( path, "grows.bvh" ), begin );
    pid_t child = fork();
    assert_true( child >= 0 );
    if ( child == 0 ) { // ends by itself, also where the test fails
        int file = open( path, O_WRONLY | O_APPEND );
        for ( int i = 0; i < 1000000 && write( file, "0 0 0 0 0 0.000\n", LINE ) == LINE; ++i )
            ;
        _exit( 0 );
    }
    for ( int i = 0; i < 300; ++i ) {
        char *data;
        size_t size;
        bool ok = tr_file_read( path, &data, &size, &error );
        assert_true( ok ? ( size - length ) % LINE == 0 // between two writes
                        : strstr( error.message, "changed while it was read" ) != NULL );
        tr_free( data );
    }
    kill( child, SIGKILL );
    waitpid( child, NULL, 0 );
    assert_int_equal( truncate( path, (off_t)TR_MAX_FILE_BYTES + 1 ), 0 );
    assert_false( read_whole( path, &error ) );
    assert_non_null( strstr( error.message, "is larger than 1 GiB" ) );
    unlink( path );
}

// A pipe without a reader does not keep a writer waiting, and a loop of links is not replaced.
static void test_odd_outputs( void **state )
{
    (void)state;
    char path[128];
    tr_error error;
    struct stat info;
    assert_int_equal( mkfifo( in_folder( path, "out.pipe" ), 0666 ), 0 );
    assert_false( tr_file_write( path, "x", 1, &error ) );
    assert_non_null( strstr( error.message, "is a pipe that no program reads" ) );
    assert_int_equal( symlink( "out.loop", in_folder( path, "out.loop" ) ), 0 );
    assert_false( tr_file_write( path, "x", 1, &error ) );
    assert_non_null( strstr( error.message, "symbolic links" ) );
    assert_true( lstat( path, &info ) == 0 && S_ISLNK( info.st_mode ) );
}

// --------------------------------------------------------------------------------------------------- names

// Paths of thousands of bytes work, and messages keep their ends.
static void test_long_paths( void **state )
{
    (void)state;
    char path[4000], *data;
    size_t size;
    tr_error error;
    int length = snprintf( path, sizeof path, "%s", group_folder );
    while ( length < 3000 ) {
        length += snprintf( path + length, sizeof path - (size_t)length, "/%0200d", 0 );
        assert_int_equal( mkdir( path, 0777 ), 0 );
    }
    snprintf( path + length, sizeof path - (size_t)length, "/walk.bvh" );
    put( path, small_bvh );
    check_ok( tr_file_read( path, &data, &size, &error ), &error );
    assert_string_equal( data, small_bvh );
    tr_free( data );
    check_ok( read_bvh( path, &error ), &error );
    check_ok( read_opened( path, &error ), &error );
    snprintf( path + length, sizeof path - (size_t)length, "/other.bvh" );
    assert_false( read_bvh( path, &error ) );
    assert_true( strncmp( error.file, "…", 3 ) == 0 );
    assert_string_equal( error.file + strlen( error.file ) - 10, "/other.bvh" );
    assert_false( read_source( path, &error ) ); // a scene may not name it
    assert_string_equal( error.path, "cast[0].source.file" );
    assert_string_equal( error.message, "is longer than 255 bytes" );
    memset( path + length + 1, 'n', 300 );
    path[length + 301] = 0;
    assert_false( tr_file_write( path, "x", 1, &error ) );
    assert_non_null( strstr( error.message, "too long" ) );
    path[length] = 0;
    tr_draft draft;
    assert_false( tr_draft_open( &draft, path, &error ) );
}

static void check_safe( const char *text, const char *expected )
{
    char out[100];
    tr_print_safe( out, sizeof out, text, "\n" );
    assert_string_equal( out, expected );
}

// Names are bytes: any work, and messages are fit for a terminal.
static void test_odd_names( void **state )
{
    (void)state;
    static const char *const names[] = { "w\xE4lk.bvh",     "w\x1B[31mlk.bvh", "w\nlk.bvh",  "\xFF\xFE.bvh",
                                         "w\xC2\x9Blk.bvh", "wälk.bvh",        "w\"l\\k.bvh" };
    for ( size_t i = 0; i < sizeof names / sizeof names[0]; ++i ) {
        char path[128], text[3000];
        tr_error error;
        put( in_folder( path, names[i] ), small_bvh );
        check_ok( read_bvh( path, &error ), &error );
        check_ok( read_opened( path, &error ), &error );
        unlink( path );
        assert_false( read_bvh( path, &error ) );
        tr_error_print( &error, text, sizeof text );
        assert_true( tr_utf8_valid( text, strlen( text ) ) );
        for ( const char *c = text; *c != 0; ++c )
            assert_true( (unsigned char)*c >= 0x20 && *c != 0x7F );
        assert_null( strstr( text, "\xC2\x9B" ) );
    }
    check_safe( "plain wälk 歩", "plain wälk 歩" );
    check_safe( "a\x1B[2Jb\tc\nd", "a\\x1B[2Jb\\x09c\nd" );
    check_safe( "\xE4\xFF\xC2", "\\xE4\\xFF\\xC2" );
    check_safe( "\xC2\x9Bm\x7F", "\\xC2\\x9Bm\\x7F" );
    char small[4];
    tr_print_safe( small, sizeof small, "\x01\x02", "" );
    assert_string_equal( small, "\\x0" );
}

// A scene is saved with references that JSON can hold, or not at all.
static void test_scene_in_an_odd_folder( void **state )
{
    (void)state;
    char odd[128], from[200], to[128];
    tr_error error;
    assert_int_equal( mkdir( in_folder( odd, "odd\xFF" ), 0777 ), 0 );
    snprintf( from, sizeof from, "%s/walk.bvh", odd );
    put( from, small_bvh );
    snprintf( from, sizeof from, "%s/scene.json", odd );
    put( from, "{\"version\": 1, \"range\": [0, 1], \"cast\": [{\"id\": \"a\", \"source\": {\"file\": "
               "\"walk.bvh\"}}]}" );
    tr_scene scene;
    tr_library library = { 0 };
    check_ok( tr_scene_load( &scene, from, &error ), &error );
    assert_false( tr_scene_save_beside( &scene, &library, from, in_folder( to, "elsewhere.json" ), &error ) );
    assert_non_null( strstr( error.message, "its path must be valid UTF-8" ) );
    assert_false( tr_file_exists( to ) );
    check_ok( tr_scene_save_beside( &scene, &library, from, from, &error ), &error );
    tr_scene_free( &scene );
}

// --------------------------------------------------------------------------------------------------- secrets

// What a file holds that is not what it is taken for stays untold.
static void test_secrets( void **state )
{
    (void)state;
    static const char *const texts[] = {
        "root:$y$j9T$SECRET:19000:0:99999:7:::\nSECRET2:x:1:1\n",
        "SECRET\n",
        "SECRET = {\"a\": 1}\n",
        "v SECRET SECRET SECRET\nf SECRET\n",
        "12345678 SECRET\n",
        "f 123456789 SECRET\n",
        "\"SECRET\": 1",
        "-----BEGIN SECRET KEY-----\nSECRET\n",
    };
    for ( size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t )
        for ( int r = 0; r < READERS; ++r ) {
            static const char *const names[] = { "secret.bvh", "secret.json" };
            for ( int k = 0; k < 2; ++k ) {
                char path[128], text[3000];
                tr_error error = { 0 };
                put( in_folder( path, names[k] ), texts[t] );
                readers[r].read( path, &error );
                tr_error_print( &error, text, sizeof text );
                if ( strstr( text, "SECRET" ) != NULL || strstr( text, "12345678" ) != NULL ||
                     strstr( text, "root" ) != NULL )
                    fail_msg( "as %s: %s", readers[r].name, text );
            }
        }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( test_no_files ),
        TEST( test_devices_take_no_memory ),
        TEST( test_pipes_of_the_shell ),
        TEST( test_files_that_grow ),
        TEST( test_odd_outputs ),
        TEST( test_long_paths ),
        TEST( test_odd_names ),
        TEST( test_scene_in_an_odd_folder ),
        TEST( test_secrets ),
    };
    return cmocka_run_group_tests( tests, set_up_folder, remove_group_folder );
}
