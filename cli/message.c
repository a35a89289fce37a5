#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cli_fail( const tr_error *error )
{
    char text[4096];
    if ( !tr_work_wanted() ) { // cancelled, whatever failed
        fputs( "troupe: cancelled\n", stderr );
        return CLI_CANCELLED;
    }
    tr_error_print( error, text, sizeof text );
    fprintf( stderr, "troupe: %s\n", text );
    return CLI_FAILED;
}

// Names of files, characters and joints may hold control characters.
void cli_say( const char *format, ... )
{
    char text[8192], safe[16384];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( text, sizeof text, format, arguments );
    va_end( arguments );
    tr_print_safe( safe, sizeof safe, text, "\n\t" );
    fputs( safe, stdout );
}

int cli_wrong( const char *format, ... )
{
    char text[2048], safe[4096];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( text, sizeof text, format, arguments );
    va_end( arguments );
    tr_print_safe( safe, sizeof safe, text, "" );
    fprintf( stderr, "troupe: %s\n", safe );
    return CLI_USAGE;
}

int cli_wrong_word( const char *what, const char *word, const char *const *words )
{
    const char *nearest = tr_nearest_word( word, words );
    if ( nearest != NULL )
        return cli_wrong( "there is no %s '%s'; did you mean '%s'?", what, word, nearest );
    char list[512] = "";
    for ( int i = 0; words[i] != NULL; ++i ) {
        size_t used = strlen( list );
        snprintf( list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", words[i] );
    }
    return cli_wrong( "there is no %s '%s'; choose one of %s", what, word, list );
}

void cli_print_warnings( const cli_call *call, const tr_log *warnings )
{
    for ( int i = 0; !call->quiet && i < warnings->count; ++i ) {
        char safe[4096];
        tr_print_safe( safe, sizeof safe, warnings->lines[i], "" );
        fprintf( stderr, "troupe: warning: %s\n", safe );
    }
}

int cli_output_written( int code )
{
    tr_error error = { 0 };
    if ( fflush( stdout ) == 0 && !ferror( stdout ) )
        return code;
    tr_error_set( &error, "the output could not be written" );
    return cli_fail( &error );
}

// When jansson runs out of memory parts of the text may be missing: prints all of it or nothing.
int cli_print_json( json_t *json )
{
    tr_error error = { 0 };
    char *text = json != NULL ? json_dumps( json, JSON_INDENT( 2 ) | JSON_REAL_PRECISION( 12 ) ) : NULL;
    bool ok = !tr_json_ran_out() && text != NULL;
    if ( ok )
        printf( "%s\n", text );
    else
        tr_error_memory( &error );
    tr_free( text );
    json_decref( json );
    return ok ? CLI_OK : cli_fail( &error );
}

const char *cli_plural( int count )
{
    return count == 1 ? "" : "s";
}

int cli_print_text( tr_text *text, bool ok, const tr_error *error )
{
    tr_error memory = { 0 };
    if ( ok && text->failed ) {
        ok = tr_error_memory( &memory );
        error = &memory;
    }
    if ( ok && text->size > 0 )
        fwrite( text->data, 1, text->size, stdout );
    tr_text_free( text );
    return ok ? CLI_OK : cli_fail( error );
}

// -------------------------------------------------------------------------------------------- progress

#define BAR_WIDTH     32
#define BAR_AFTER_MS  1000.0
#define BAR_PERIOD_MS 100.0

void cli_progress_begin( cli_progress *progress, const cli_call *call, const char *label )
{
    *progress = ( cli_progress ){ .label = label, .start = tr_clock_ms() };
    progress->enabled = !call->quiet && isatty( STDERR_FILENO );
}

void cli_progress_step( cli_progress *progress, int done, int total )
{
    if ( !progress->enabled || total <= 0 )
        return;
    double now = tr_clock_ms();
    if ( now - progress->start < BAR_AFTER_MS || now - progress->last < BAR_PERIOD_MS )
        return;
    int filled = (int)( (long long)BAR_WIDTH * done / total );
    fprintf( stderr, "\r%s [%.*s%.*s] %3d %%", progress->label, filled, "################################",
             BAR_WIDTH - filled, "--------------------------------", (int)( 100LL * done / total ) );
    progress->last = now;
    progress->shown = true;
}

void cli_progress_wait( cli_progress *progress )
{
    if ( !progress->enabled )
        return;
    fprintf( stderr, "\r%s …", progress->label );
    progress->shown = true;
}

void cli_progress_end( cli_progress *progress )
{
    if ( progress->shown )
        fputs( "\r\033[K", stderr );
    progress->shown = false;
}

static bool report_step( void *context, int done, int total )
{
    cli_progress_step( context, done, total );
    return true;
}

tr_progress cli_progress_link( cli_progress *progress )
{
    return ( tr_progress ){ report_step, progress };
}
