// Promises that the object code itself can show: nothing of ours opens a connection, loads code from a file
// or hands text to a shell. docs/reliability.md makes them. Libraries that talk to the display have their own
// sockets, and a pair of them joins the program to ffmpeg; nothing leaves the machine.
#include "check.h"

#include <string.h>

// Reads what `nm` says the modules and the program ask of other libraries. Each line ends with a name.
static FILE *open_names( const char *pattern )
{
    char command[1024];
    snprintf( command, sizeof command, "nm -u %s 2>/dev/null", pattern );
    return popen( command, "r" );
}

static int count_name( const char *name )
{
    FILE *names =
        open_names( "\"" BINARY_DIR "\"/libtroupe_*.a \"" BINARY_DIR "\"/CMakeFiles/troupe.dir/cli/*.o" );
    assert_non_null( names );
    char line[512];
    int count = 0;
    while ( fgets( line, sizeof line, names ) != NULL ) {
        line[strcspn( line, "\n" )] = 0;
        const char *last = strrchr( line, ' ' );
        count += last != NULL && strcmp( last + 1, name ) == 0;
    }
    assert_int_equal( pclose( names ), 0 );
    return count;
}

static void check_absent( const char *const *names, size_t count )
{
    for ( size_t i = 0; i < count; ++i )
        if ( count_name( names[i] ) != 0 )
            fail_msg( "the program calls %s", names[i] );
}

static void names_are_found( void **state )
{
    (void)state;
    assert_true( count_name( "posix_spawnp" ) == 1 ); // ffmpeg, in one place
    assert_true( count_name( "jansson_is_not_called_this" ) == 0 );
}

static void there_is_no_network( void **state )
{
    (void)state;
    static const char *const names[] = { "socket", "connect", "bind",        "listen",
                                         "accept", "sendto",  "getaddrinfo", "gethostbyname" };
    check_absent( names, sizeof names / sizeof *names );
}

static void no_code_comes_from_files( void **state )
{
    (void)state;
    static const char *const names[] = { "dlopen", "dlmopen", "system", "popen",   "wordexp",
                                         "execl",  "execlp",  "execle", "mprotect" };
    check_absent( names, sizeof names / sizeof *names );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test( names_are_found ),
        cmocka_unit_test( there_is_no_network ),
        cmocka_unit_test( no_code_comes_from_files ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
