// The program: finds the command, takes its arguments apart, runs it.
#include "cli.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_command *const commands[] = {
    &cli_command_edit, &cli_command_scenes,   &cli_command_info,    &cli_command_convert,
    &cli_command_make, &cli_command_retarget, &cli_command_measure, &cli_command_render,
    &cli_command_map,  &cli_command_examples, &cli_command_links,   &cli_command_run,
    &cli_command_ops,  &cli_command_bench,
};
#define COMMAND_COUNT ( (int)( sizeof commands / sizeof commands[0] ) )

static const cli_command *command_find( const char *name )
{
    for ( int i = 0; i < COMMAND_COUNT; ++i )
        if ( strcmp( commands[i]->name, name ) == 0 )
            return commands[i];
    return NULL;
}

static void print_overview( FILE *out )
{
    fprintf( out, "Troupe edits and retargets the motion of groups of characters.\n\n"
                  "usage: troupe COMMAND …\n\n" );
    for ( int i = 0; i < COMMAND_COUNT; ++i )
        fprintf( out, "  %-10s %s\n", commands[i]->name, commands[i]->summary );
    fprintf( out,
             "\n'troupe help COMMAND' or 'troupe COMMAND --help' says more; 'troupe --version' prints the "
             "version.\n" );
}

static int unknown_command( const char *name )
{
    const char *names[COMMAND_COUNT + 2];
    for ( int i = 0; i < COMMAND_COUNT; ++i )
        names[i] = commands[i]->name;
    names[COMMAND_COUNT] = "help";
    names[COMMAND_COUNT + 1] = NULL;
    return cli_wrong_word( "command", name, names );
}

static int help( const char *name )
{
    if ( name == NULL || strcmp( name, "help" ) == 0 ) {
        print_overview( stdout );
        return CLI_OK;
    }
    const cli_command *command = command_find( name );
    if ( command == NULL )
        return unknown_command( name );
    cli_print_help( command );
    return CLI_OK;
}

// Threads that wait for work shall sleep: gcc's OpenMP lets them spin, which on a busy machine makes two
// threads several times slower than one; so does the pool of OpenBLAS, which we never need, being parallel
// above it. Both read their settings from the environment before main, so the program starts itself once more
// with them; where that is not possible it goes on as it is.
static void let_idle_threads_sleep( char **arguments )
{
    if ( getenv( "OMP_WAIT_POLICY" ) == NULL && setenv( "OMP_WAIT_POLICY", "passive", 0 ) == 0 &&
         setenv( "OPENBLAS_NUM_THREADS", "1", 0 ) == 0 )
        execv( "/proc/self/exe", arguments );
}

// TROUPE_KERNELS limits the kernels, so that their results can be compared.
static int limit_kernels( void )
{
    const char *words[] = { "plain", "avx2", "avx512", NULL }, *word = getenv( "TROUPE_KERNELS" );
    for ( int i = 0; word != NULL && words[i] != NULL; ++i )
        if ( strcmp( word, words[i] ) == 0 ) {
            tr_kernels_limit( (tr_kernels)i );
            return CLI_OK;
        }
    return word == NULL ? CLI_OK : cli_wrong_word( "kind of kernels (TROUPE_KERNELS)", word, words );
}

// Ctrl-C and SIGTERM cancel the command: it prints one sentence and leaves nothing half
// done. The second time the program ends at once. Every thread asks for the signal that came first; 0: none.
static_assert( ATOMIC_INT_LOCK_FREE == 2, "a signal handler may not wait for a lock" );
static atomic_int interrupted;

static void interrupt( int number )
{
    int none = 0;
    atomic_compare_exchange_strong( &interrupted, &none, number );
    signal( number, SIG_DFL );
}

static bool is_wanted( void *context )
{
    (void)context;
    return atomic_load( &interrupted ) == 0;
}

static int run_cancellable( const cli_command *command, const cli_call *call )
{
    tr_work work;
    if ( signal( SIGINT, interrupt ) == SIG_IGN )
        signal( SIGINT, SIG_IGN ); // the parent asked to ignore it (nohup)
    signal( SIGTERM, interrupt );
    tr_work_begin( &work, is_wanted, NULL );
    int code = command->run( call );
    tr_work_end( &work );
    return code == CLI_CANCELLED ? 128 + atomic_load( &interrupted ) : code;
}

static int run( int count, char **arguments )
{
    int kernels = limit_kernels();
    if ( kernels != CLI_OK )
        return kernels;
    const char *name = count > 1 ? arguments[1] : NULL;
    if ( name == NULL ) {
        print_overview( stderr );
        return CLI_USAGE;
    }
    if ( strcmp( name, "--version" ) == 0 ) {
        printf( "troupe %s\n", TROUPE_VERSION );
        return CLI_OK;
    }
    bool helps = strcmp( name, "help" ) == 0 || strcmp( name, "--help" ) == 0 || strcmp( name, "-h" ) == 0;
    if ( helps && count > 3 )
        return cli_wrong( "help takes one command, and '%s' is one argument too many", arguments[3] );
    if ( helps )
        return help( count > 2 ? arguments[2] : NULL );
    const cli_command *command = command_find( name );
    if ( command == NULL )
        return unknown_command( name );
    cli_call call;
    int code = cli_parse( &call, command, count - 2, arguments + 2 );
    if ( code == CLI_OK && call.help )
        cli_print_help( command );
    else if ( code == CLI_OK )
        code = run_cancellable( command, &call );
    return code;
}

int main( int count, char **arguments )
{
    let_idle_threads_sleep( arguments );
    return cli_output_written( run( count, arguments ) );
}
