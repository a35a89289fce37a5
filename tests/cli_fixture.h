// The program itself, run as a user runs it: in a folder of its own, judged by exit code, stdout, stderr and
// the files it leaves.
#ifndef TROUPE_TESTS_CLI_FIXTURE_H
#define TROUPE_TESTS_CLI_FIXTURE_H

#include "folder.h"

#include "io/io.h"

#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_SIZE ( 1 << 20 )

typedef struct fixture {
    char folder[64];
    int code;                // exit code of the last run; 128 + signal when it was killed
    char out[OUTPUT_SIZE];   // its stdout
    char error[OUTPUT_SIZE]; // its stderr
} fixture;

// ------------------------------------------------------------------------------------------------- running

static inline void read_stream( FILE *file, char out[OUTPUT_SIZE] )
{
    assert_non_null( file );
    out[fread( out, 1, OUTPUT_SIZE - 1, file )] = 0;
}

// Runs `troupe <arguments>` by the shell, inside the test's folder.
static inline int troupe( fixture *f, const char *format, ... )
{
    char arguments[2048], command[8192], path[128];
    va_list list;
    va_start( list, format );
    vsnprintf( arguments, sizeof arguments, format, list );
    va_end( list );
    snprintf( command, sizeof command, "cd '%s' && '%s' %s 2>stderr.txt", f->folder, TROUPE_BINARY,
              arguments );
    FILE *pipe = popen( command, "r" );
    read_stream( pipe, f->out );
    int status = pclose( pipe );
    f->code = WIFEXITED( status ) ? WEXITSTATUS( status ) : 128 + WTERMSIG( status );
    snprintf( path, sizeof path, "%s/stderr.txt", f->folder );
    FILE *file = fopen( path, "rb" );
    read_stream( file, f->error );
    fclose( file );
    return f->code;
}

static inline void expect_at( const fixture *f, int code, const char *text, const char *file, int line )
{
    bool found = strstr( code == 0 ? f->out : f->error, text ) != NULL;
    if ( f->code == code && found )
        return;
    print_error( "exit code %d, expected %d with '%s'\nstdout: %.2000s\nstderr: %.2000s\n", f->code, code,
                 text, f->out, f->error );
    _fail( file, line );
}
// The last run ended with this code and said `text`: on stdout if it went well, else in one line on stderr.
#define expect( f, code, text ) expect_at( f, code, text, __FILE__, __LINE__ )

static inline void expect_sentence( const fixture *f )
{
    assert_true( strncmp( f->error, "troupe: ", 8 ) == 0 );
    const char *end = strchr( f->error, '\n' );
    assert_true( end != NULL && end[1] == 0 );
}

static inline void write_file( const fixture *f, const char *name, const char *text )
{
    char path[256];
    snprintf( path, sizeof path, "%s/%s", f->folder, name );
    FILE *file = fopen( path, "wb" );
    assert_non_null( file );
    assert_int_equal( fwrite( text, 1, strlen( text ), file ), strlen( text ) );
    assert_int_equal( fclose( file ), 0 );
}

static inline bool has_file( const fixture *f, const char *name )
{
    char path[256];
    snprintf( path, sizeof path, "%s/%s", f->folder, name );
    return access( path, F_OK ) == 0;
}

static inline bool same_file( const fixture *f, const char *a, const char *b )
{
    char command[512];
    snprintf( command, sizeof command, "cd '%s' && cmp -s '%s' '%s'", f->folder, a, b );
    return system( command ) == 0;
}

static inline json_t *parse_output( const fixture *f )
{
    json_error_t error;
    json_t *json = json_loads( f->out, 0, &error );
    if ( json == NULL )
        print_error( "line %d: %s in %.2000s\n", error.line, error.text, f->out );
    assert_non_null( json );
    return json;
}

static inline int set_up( void **state )
{
    fixture *f = calloc( 1, sizeof *f );
    *state = f;
    if ( f == NULL )
        return -1;
    new_folder( f->folder );
    return 0;
}

static inline int clean_up( void **state )
{
    fixture *f = *state;
    remove_folder( f->folder );
    free( f );
    return 0;
}

#endif
