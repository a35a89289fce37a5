#include "folder.h"
#include "io/io.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int files_in_folder( void )
{
    char command[100];
    snprintf( command, sizeof command, "ls -A '%s' | wc -l", group_folder );
    FILE *pipe = popen( command, "r" );
    int count = -1;
    if ( pipe == NULL || fscanf( pipe, "%d", &count ) != 1 )
        count = -1;
    if ( pipe != NULL )
        pclose( pipe );
    return count;
}

static void check_file( const char *path, const char *expected )
{
    char *data;
    size_t size;
    tr_error error;
    check_ok( tr_file_read( path, &data, &size, &error ), &error );
    assert_int_equal( size, strlen( expected ) );
    assert_string_equal( data, expected );
    tr_free( data );
}

// --------------------------------------------------------------------------------------------------- files

static void files_are_replaced_whole( void **state )
{
    (void)state;
    char path[128];
    tr_error error;
    int before = files_in_folder();
    in_folder( path, "a.txt" );
    check_ok( tr_file_write( path, "old", 3, &error ), &error );
    check_file( path, "old" );
    assert_int_equal( chmod( path, 0640 ), 0 );
    check_ok( tr_file_write( path, "newer", 5, &error ), &error );
    check_file( path, "newer" );
    struct stat info;
    assert_int_equal( stat( path, &info ), 0 );
    assert_int_equal( info.st_mode & 07777, 0640 );
    assert_int_equal( files_in_folder(), before + 1 ); // no temporary file stays behind
    check_ok( tr_file_write( path, "", 0, &error ), &error );
    check_file( path, "" );
}

// Removes drafts of runs that were killed while they wrote, not of runs that still hold a lock on theirs.
static void drafts_left_behind_are_swept( void **state )
{
    (void)state;
    static const struct {
        const char *name;
        bool held, stays;
    } cases[] = { { ".troupe-1073741823-0.tmp", false, false },
                  { ".troupe-1073741823-1.tmp", true, true },
                  { ".troupe-1-0.tmp", false, false },
                  { ".troupe-1-1.tmp", true, true },
                  { ".troupe-1073741823-0.tmpx", false, true } };
    enum { CASES = sizeof cases / sizeof cases[0] };
    char path[128];
    int files[CASES];
    tr_error error;
    for ( int i = 0; i < CASES; ++i ) {
        files[i] = open( in_folder( path, cases[i].name ), O_CREAT | O_WRONLY, 0666 );
        assert_true( files[i] >= 0 );
        if ( cases[i].held )
            assert_int_equal( flock( files[i], LOCK_EX ), 0 );
    }
    in_folder( path, "swept.txt" );
    check_ok( tr_file_write( path, "x", 1, &error ), &error );
    for ( int i = 0; i < CASES; ++i ) {
        in_folder( path, cases[i].name );
        assert_true( tr_file_exists( path ) == cases[i].stays );
        unlink( path );
        close( files[i] );
    }
}

static void links_are_followed( void **state )
{
    (void)state;
    char target[128], link[128];
    tr_error error;
    in_folder( target, "target.txt" );
    in_folder( link, "link.txt" );
    assert_int_equal( symlink( "target.txt", link ), 0 );
    check_ok( tr_file_write( link, "first", 5, &error ), &error ); // nothing there yet
    check_file( target, "first" );
    check_ok( tr_file_write( link, "second", 6, &error ), &error );
    check_file( target, "second" );
    struct stat info;
    assert_int_equal( lstat( link, &info ), 0 );
    assert_true( S_ISLNK( info.st_mode ) );
}

static void file_troubles_are_told( void **state )
{
    (void)state;
    char path[128], *data;
    size_t size;
    tr_error error;
    assert_false( tr_file_read( in_folder( path, "absent.txt" ), &data, &size, &error ) );
    assert_non_null( strstr( error.message, "No such file" ) );
    assert_string_equal( error.file, path );
    assert_false( tr_file_read( group_folder, &data, &size, &error ) );
    assert_non_null( strstr( error.message, "is a folder" ) );
    assert_false( tr_file_write( group_folder, "x", 1, &error ) );
    assert_non_null( strstr( error.message, "is a folder" ) );
    assert_false( tr_file_write( in_folder( path, "no/such/folder.txt" ), "x", 1, &error ) );
    assert_non_null( strstr( error.message, "No such file" ) );
    check_ok( tr_file_write( "/dev/null", "x", 1, &error ), &error ); // a device is written to, not replaced
    struct stat info;
    assert_int_equal( stat( "/dev/null", &info ), 0 );
    assert_true( S_ISCHR( info.st_mode ) );
}

static void folders_are_made( void **state )
{
    (void)state;
    char path[128];
    tr_error error;
    in_folder( path, "one/two/three" );
    check_ok( tr_folder_make( path, &error ), &error );
    check_ok( tr_folder_make( path, &error ), &error );
    assert_true( tr_file_exists( path ) );
    check_ok( tr_file_write( in_folder( path, "plain" ), "x", 1, &error ), &error );
    assert_false( tr_folder_make( in_folder( path, "plain/below" ), &error ) );
    assert_non_null( strstr( error.message, "cannot make this folder" ) );
}

static void check_beside( const char *base, const char *path, const char *expected )
{
    char *joined = tr_path_beside( base, path );
    assert_string_equal( joined, expected );
    tr_free( joined );
}

static void paths_beside_a_file( void **state )
{
    (void)state;
    check_beside( "scenes/a/scene.json", "walk.bvh", "scenes/a/walk.bvh" );
    check_beside( "scene.json", "walk.bvh", "walk.bvh" );
    check_beside( "/scene.json", "walk.bvh", "/walk.bvh" );
    check_beside( "scenes/a/scene.json", "/abs/walk.bvh", "/abs/walk.bvh" );
}

static void text_grows( void **state )
{
    (void)state;
    tr_text text = { 0 };
    for ( int i = 0; i < 300; ++i ) {
        tr_text_add( &text, "%d", i % 10 );
        tr_text_append( &text, " ", 1 );
    }
    tr_text_number( &text, 1.23456, 2 );
    tr_text_exact( &text, 0.1 );
    assert_int_equal( text.size, 607 );
    assert_string_equal( text.data + 600, "1.230.1" );
    tr_text_free( &text );
    tr_memory_fail_from( 1 );
    tr_text_add( &text, "%s", "lost" );
    tr_memory_fail_from( 0 );
    tr_text_append( &text, "also lost", 9 );
    assert_true( text.failed && text.size == 0 );
    tr_text_free( &text );
}

// ---------------------------------------------------------------------------------------------------- JSON

// Whatever bytes go in, what comes out is JSON.
static void quoted_text_is_utf8( void **state )
{
    (void)state;
    const struct {
        const char *in, *out;
    } cases[] = {
        { "a\"b\\c\n\t\x01", "\"a\\\"b\\\\c\\n\\t\\u0001\"" },
        { "\xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x90\xBA", "\"\xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x90\xBA\"" },
        { "caf\xE9", "\"caf\xEF\xBF\xBD\"" },                           // Latin-1
        { "\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },                 // overlong
        { "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" }, // surrogate
        { "\xF4\x90\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" }, // beyond U+10FFFF, cut
        { "\xE4\xB8x", "\"\xEF\xBF\xBD\xEF\xBF\xBDx\"" },               // cut
    };
    for ( size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i ) {
        tr_text text = { 0 };
        tr_error error;
        json_t *json = NULL;
        tr_text_append( &text, "[", 1 );
        tr_text_quoted( &text, cases[i].in, strlen( cases[i].in ) );
        assert_string_equal( text.data + 1, cases[i].out );
        tr_text_append( &text, "]", 1 );
        check_ok( tr_json_parse( &json, text.data, text.size, "text", &error ), &error );
        json_decref( json );
        tr_text_free( &text );
        json_t *string = tr_json_text( cases[i].in );
        tr_json_print( string, &text );
        assert_memory_equal( text.data, cases[i].out, strlen( cases[i].out ) );
        json_decref( string );
        tr_text_free( &text );
    }
}

static void check_syntax_error( const char *text, int line, int column )
{
    json_t *json;
    tr_error error;
    assert_false( tr_json_parse( &json, text, strlen( text ), "scene.json", &error ) );
    assert_null( json );
    assert_string_equal( error.file, "scene.json" );
    assert_int_equal( error.line, line );
    assert_int_equal( error.column, column );
    assert_true( error.message[0] != 0 );
}

static void syntax_errors_have_a_place( void **state )
{
    (void)state;
    check_syntax_error( "", 1, 1 );
    check_syntax_error( "{\n  \"a\": 1,\n  \"b\" 2\n}", 3, 7 );
    check_syntax_error( "{\"a\": 1, \"a\": 2}", 1, 12 );
    check_syntax_error( "[1, 2", 1, 5 );
    check_syntax_error( "[NaN]", 1, 4 );
    check_syntax_error( "[1e999]", 1, 6 );
}

static void broken_numbers_are_named( void **state )
{
    (void)state;
    static const char *const numbers[] = { "0.8.1", "1e+", "1-2", "3..5" };
    for ( size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i ) {
        char text[64];
        json_t *json;
        tr_error error;
        snprintf( text, sizeof text, "{\n  \"size\": [1, %s]\n}", numbers[i] );
        assert_false( tr_json_parse( &json, text, strlen( text ), "scene.json", &error ) );
        assert_non_null( strstr( error.message, numbers[i] ) );
        assert_non_null( strstr( error.message, "is no number" ) );
        assert_int_equal( error.line, 2 );
        assert_int_equal( error.column, 15 );
    }
}

static void nesting_is_bounded( void **state )
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc( DEPTH );
    assert_non_null( text );
    memset( text, '[', DEPTH );
    json_t *json;
    tr_error error;
    assert_false( tr_json_parse( &json, text, DEPTH, "deep.json", &error ) );
    assert_non_null( strstr( error.message, "depth" ) );
    free( text );
}

static json_t *parse( const char *text )
{
    json_t *json;
    tr_error error;
    check_ok( tr_json_parse( &json, text, strlen( text ), "scene.json", &error ), &error );
    return json;
}

static void printing_is_readable_and_exact( void **state )
{
    (void)state;
    const char *expected = "{\n"
                           "  \"name\": \"a \\\"box\\\"\\n\\u0001é\",\n"
                           "  \"at\": [0.1, -2, 0.30000000000000004],\n"
                           "  \"empty\": {},\n"
                           "  \"list\": [\n"
                           "    [],\n"
                           "    {\n"
                           "      \"on\": true\n"
                           "    }\n"
                           "  ],\n"
                           "  \"none\": null\n"
                           "}\n";
    json_t *json = parse( expected );
    char path[128];
    tr_error error;
    check_ok( tr_json_save( json, in_folder( path, "scene.json" ), &error ), &error );
    check_file( path, expected );
    json_t *again;
    check_ok( tr_json_load( &again, path, &error ), &error );
    assert_true( json_equal( json, again ) );
    json_decref( again );
    json_decref( json );
}

typedef struct body {
    int scale, frames;
} body;

// Reads {"cast": [body, …]} and returns whether all went well; the last body read is in *out.
static bool read_cast( const char *text, body *out, tr_error *error )
{
    json_t *json = parse( text );
    bool ok = true;
    tr_json root = tr_json_root( json, "scene.json", &ok, error );
    tr_json_keys( &root, ( const char *const[] ){ "cast", NULL } );
    tr_json cast = tr_json_member( &root, "cast", true );
    for ( int i = 0; i < tr_json_count( &cast ); ++i ) {
        tr_json item = tr_json_item( &cast, i );
        tr_json_keys( &item, ( const char *const[] ){ "scale", "frames", NULL } );
        tr_json_int( &item, "scale", true, 1, 100, &out->scale );
        tr_json_int( &item, "frames", false, 0, 1000, &out->frames );
    }
    json_decref( json );
    return ok;
}

static void meaning_is_read( void **state )
{
    (void)state;
    body b = { .frames = 5 };
    tr_error error;
    check_ok( read_cast( "{\"cast\": [{\"scale\": 7}, {\"scale\": 2e0}]}", &b, &error ), &error );
    assert_int_equal( b.scale, 2 );
    assert_int_equal( b.frames, 5 );
    check_ok( read_cast( "{\"cast\": [{\"scale\": 1, \"frames\": 1000}]}", &b, &error ), &error );
    assert_int_equal( b.frames, 1000 );
}

static void check_meaning_error( const char *text, const char *path, const char *message )
{
    body b = { 0 };
    tr_error error;
    assert_false( read_cast( text, &b, &error ) );
    assert_string_equal( error.file, "scene.json" );
    assert_string_equal( error.path, path );
    assert_string_equal( error.message, message );
}

static void errors_of_meaning_have_a_path( void **state )
{
    (void)state;
    check_meaning_error( "{}", "cast", "is missing" );
    check_meaning_error( "[]", "", "expected an object, found a list" );
    check_meaning_error( "{\"cast\": 3}", "cast", "expected a list, found a number" );
    check_meaning_error( "{\"cast\": [], \"csat\": 1}", "csat", "is no known key; did you mean \"cast\"?" );
    check_meaning_error( "{\"cast\": [7]}", "cast[0]", "expected an object, found a number" );
    check_meaning_error( "{\"cast\": [{\"scale\": 1}, {\"Scale\": 1}]}", "cast[1].Scale",
                         "is no known key; did you mean \"scale\"?" );
    check_meaning_error( "{\"cast\": [{\"wobble\": 1}]}", "cast[0].wobble",
                         "is no known key; expected one of scale, frames" );
    check_meaning_error( "{\"cast\": [{\"frames\": 1}]}", "cast[0].scale", "is missing" );
    check_meaning_error( "{\"cast\": [{\"scale\": 0}]}", "cast[0].scale",
                         "expected a number from 1 to 100, found 0" );
    check_meaning_error( "{\"cast\": [{\"scale\": \"big\"}]}", "cast[0].scale",
                         "expected a number, found a text" );
    check_meaning_error( "{\"cast\": [{\"scale\": 1, \"frames\": 1.5}]}", "cast[0].frames",
                         "expected a whole number, found 1.5" );
    check_meaning_error( "{\"cast\": [{\"scale\": 0}, {\"scale\": true}]}", "cast[0].scale", // the first
                         "expected a number from 1 to 100, found 0" );
}

static void nearest_words( void **state )
{
    (void)state;
    const char *const words[] = { "version", "fps", "range", "cast", "constraints", NULL };
    assert_string_equal( tr_nearest_word( "verison", words ), "version" );
    assert_string_equal( tr_nearest_word( "constraint", words ), "constraints" );
    assert_string_equal( tr_nearest_word( "FPS", words ), "fps" );
    assert_null( tr_nearest_word( "gravity", words ) );
    assert_null( tr_nearest_word( "", words ) );
}

// Every allocation in turn fails: a clear error, no crash, no leak.
static void memory_may_run_out( void **state )
{
    (void)state;
    const char *text =
        "{\"cast\": [{\"id\": \"ann\", \"at\": [1, 2.5, 3]}, {\"id\": \"bob\", \"deep\": {\"a\": "
        "{\"b\": [[], {}]}}}], \"word\": \"a\\u00e9 long enough text to grow a buffer\"}";
    bool loaded = false;
    for ( long n = 1; !loaded && n < 1000; ++n ) {
        json_t *json;
        tr_error error = { 0 };
        tr_memory_fail_from( n );
        loaded = tr_json_parse( &json, text, strlen( text ), "scene.json", &error );
        tr_memory_fail_from( 0 );
        if ( loaded )
            json_decref( json );
        else
            assert_string_equal( error.message, "out of memory" );
        assert_int_equal( tr_memory_live(), 0 );
    }
    assert_true( loaded );
}

static void saving_may_run_out_of_memory( void **state )
{
    (void)state;
    char path[128];
    in_folder( path, "kept.json" );
    tr_error error;
    check_ok( tr_file_write( path, "old", 3, &error ), &error );
    json_t *json = parse( "{\"a\": [1, 2, 3]}" );
    bool saved = false;
    for ( long n = 1; !saved && n < 100; ++n ) {
        tr_memory_fail_from( n );
        saved = tr_json_save( json, path, &error );
        tr_memory_fail_from( 0 );
        if ( !saved ) {
            assert_string_equal( error.message, "out of memory" );
            check_file( path, "old" );
        }
    }
    assert_true( saved );
    check_file( path, "{\n  \"a\": [1, 2, 3]\n}\n" );
    json_decref( json );
}

// The limit refuses a large request and grants small ones after it. jansson's reader crashed then.
static void long_texts_may_not_fit( void **state )
{
    (void)state;
    enum { SIZE = 6000000 };
    size_t live = tr_memory_live();
    char *text = malloc( SIZE + 3 );
    assert_non_null( text );
    memset( text, 'x', SIZE + 3 );
    memcpy( text, "[\"", 2 );
    memcpy( text + SIZE, "\"]", 3 );
    bool ok = false;
    for ( size_t limit = 1000000; !ok; limit += 1000000 ) {
        tr_error error = { 0 };
        json_t *json;
        tr_memory_set_limit( limit );
        ok = tr_json_parse( &json, text, SIZE + 2, "long.json", &error );
        tr_memory_set_limit( 0 );
        assert_true( ok ? json_string_length( json_array_get( json, 0 ) ) == SIZE - 2
                        : strstr( error.message, "out of memory" ) != NULL );
        json_decref( json );
        assert_int_equal( tr_memory_live(), live );
    }
    free( text );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( files_are_replaced_whole ),
        TEST( drafts_left_behind_are_swept ),
        TEST( links_are_followed ),
        TEST( file_troubles_are_told ),
        TEST( folders_are_made ),
        TEST( paths_beside_a_file ),
        TEST( text_grows ),
        TEST( quoted_text_is_utf8 ),
        TEST( syntax_errors_have_a_place ),
        TEST( broken_numbers_are_named ),
        TEST( nesting_is_bounded ),
        TEST( printing_is_readable_and_exact ),
        TEST( meaning_is_read ),
        TEST( errors_of_meaning_have_a_path ),
        TEST( nearest_words ),
        TEST( memory_may_run_out ),
        TEST( saving_may_run_out_of_memory ),
        TEST( long_texts_may_not_fit ),
    };
    return cmocka_run_group_tests( tests, set_up_folder, remove_group_folder );
}
