// Random events for the editor.
//
//   random_events --seed S --count N [--scene WHAT[:CAST]] [--seconds T] [--keep FILE] [--shrink T]
//   [--pictures] random_events --replay FILE
//
// Opens real scenes in an editor without a screen, sends it mouse, wheel, keys, letters, files and sizes
// through the window's queue, and checks after every frame that the document is valid and that what is shown
// is finite. The solver works on its own thread meanwhile.
//
// Every so many events comes a round: all is undone, which must give the opened document back, and redone,
// which must give the last one back; then the scene is opened again, which must take as much memory as the
// first time. When the editor closes, no memory of it is left.
//
// The run is cut into episodes, each in a process of its own. Its log has one line for each event, with the
// places resolved, so that it can be played again. When an episode fails, lines are left out of its log as
// long as it fails in the same way, and what remains is printed. Scripts of `troupe edit --hands` do not
// serve here: they name things instead of points, wait for the solver, and end with the first message.
//
// No file outside a temporary folder is written: the editor's folders are in it, dialogs that leave it are
// closed, and where the kernel has Landlock, it refuses everything else. One folder beside it can only be
// read, so that saving fails there.
#include "random_events.h"

#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define EPISODE_LEAST 250  // events: fewer would mostly open scenes
#define EPISODE_MOST  2500 // events: a log that can still be shrunk
#define ROUND_EVENTS  500  // events between two rounds

typedef struct episode {
    const options *options;
    const char *base;
    step scene;
    uint64_t seed;
    long count;
    double end;             // end of the run, 0 = none
    const step_list *lines; // to be played, NULL = at random
    const char *log;        // to be written, NULL = none
} episode;

static void play( const episode *e, figures *f )
{
    desk d = { .options = e->options, .figures = f, .base = e->base, .scene = e->scene };
    player p = { .d = &d, .seed = e->seed };
    if ( e->log != NULL ) {
        d.log = fopen( e->log, "w" );
        check_that( d.log != NULL, "files: %s cannot be written", e->log );
    }
    files_move_in( e->base, d.folder );
    desk_restore_files( &d );
    desk_start( &d );
    if ( d.log != NULL )
        step_print( d.log, &d.scene );
    if ( e->lines != NULL ) {
        for ( int i = 1; i < e->lines->count; ++i )
            desk_send( &d, &e->lines->items[i] );
    } else {
        desk_send( &d, &( step ){ .kind = STEP_ROUND } );
        for ( long next = ROUND_EVENTS; f->events < e->count && ( e->end == 0 || seconds_now() < e->end ); ) {
            player_act( &p );
            if ( f->events >= next ) {
                desk_send( &d, &( step ){ .kind = STEP_ROUND } );
                next = f->events + ROUND_EVENTS;
            }
        }
        desk_send( &d, &( step ){ .kind = STEP_ROUND } );
    }
    alarm( HANG_SECONDS );
    desk_stop( &d );
    if ( d.log != NULL )
        fclose( d.log );
}

// What the first telling line of the child's report says; the signal where there is none.
static void read_failure( const char *path, int status, char *out, size_t size )
{
    char line[1000];
    FILE *file = fopen( path, "r" );
    if ( WIFSIGNALED( status ) )
        snprintf( out, size, "signal %d", WTERMSIG( status ) );
    else
        snprintf( out, size, "exit code %d", WEXITSTATUS( status ) );
    bool found = false;
    while ( file != NULL && !found && fgets( line, sizeof line, file ) != NULL ) {
        const char *says = strstr( line, "FAILED " ), *colon = says != NULL ? strchr( says, ':' ) : NULL;
        found = says != NULL || strstr( line, "SUMMARY:" ) != NULL ||
                strstr( line, "runtime error:" ) != NULL || strstr( line, "Assertion" ) != NULL;
        if ( strstr( line, "leaked" ) != NULL )
            snprintf( out, size, "leak" );
        else if ( found )
            snprintf( out, size, "%.*s", colon != NULL ? (int)( colon - line ) : (int)strcspn( line, "\n" ),
                      line );
    }
    if ( file != NULL )
        fclose( file );
}

// Plays an episode in a process of its own. True when nothing failed; `failure` says what did.
static bool run_episode( const episode *e, figures *f, char *failure, size_t size )
{
    char report[PATH_LENGTH + 32], command[3 * PATH_LENGTH];
    int status = 0;
    snprintf( report, sizeof report, "%s/report.txt", e->base );
    snprintf( command, sizeof command, "rm -rf '%s/desk' && mkdir '%s/desk'", e->base, e->base );
    check_that( system( command ) == 0, "files: %s", command );
    fflush( NULL );
    pid_t child = fork();
    if ( child == 0 ) {
        int to = open( report, O_WRONLY | O_CREAT | O_TRUNC, 0644 );
        dup2( to, 2 );
        close( to );
        play( e, f );
        exit( 0 ); // leaks are looked for
    }
    check_that( child > 0 && waitpid( child, &status, 0 ) == child, "fork: %s", strerror( errno ) );
    if ( WIFEXITED( status ) && WEXITSTATUS( status ) == 0 )
        return true;
    read_failure( report, status, failure, size );
    return false;
}

// Files are written by a process of its own, too: this one never starts a thread, so that it can fork.
static void prepare( const char *base )
{
    int status = 0;
    fflush( NULL );
    pid_t child = fork();
    if ( child == 0 ) {
        files_write( base );
        exit( 0 );
    }
    check_that( child > 0 && waitpid( child, &status, 0 ) == child && status == 0,
                "files: cannot be prepared" );
}

// ------------------------------------------------------------------------------------------------- shrinking

// Leaves out half of the lines, then quarters, eighths and so on, as long as the rest fails in the same way.
// A thread may be late once: each try has a second one.
static void shrink( const episode *failed, const char *failure, step_list *lines, figures *f )
{
    int tries = 0;
    const int most_tries = 400;
    double end = seconds_now() + failed->options->shrink;
    for ( int size = ( lines->count / 2 ); size > 0; size = size > 1 ? ( size + 1 ) / 2 : 0 ) {
        for ( int first = 1; first < lines->count && tries < most_tries && seconds_now() < end; ) {
            step_list rest = { 0 };
            char other[400];
            int stop = first + size < lines->count ? first + size : lines->count;
            for ( int i = 0; i < lines->count; ++i )
                if ( i < first || i >= stop )
                    step_list_add( &rest, &lines->items[i] );
            episode e = *failed;
            e.lines = &rest;
            e.log = NULL;
            bool same = false;
            for ( int i = 0; i < 2 && !same; ++i, ++tries )
                same = !run_episode( &e, f, other, sizeof other ) && strcmp( other, failure ) == 0;
            if ( same ) {
                free( lines->items );
                *lines = rest;
            } else {
                free( rest.items );
                first = stop;
            }
        }
    }
    printf( "shrunk to %d lines in %d tries\n", lines->count, tries );
}

static void show_file( const char *path, int most )
{
    char line[1000];
    FILE *file = fopen( path, "r" );
    while ( file != NULL && most-- > 0 && fgets( line, sizeof line, file ) != NULL )
        fputs( line, stdout );
    if ( file != NULL )
        fclose( file );
}

static void report_failure( const episode *e, const char *failure, step_list *lines, figures *f )
{
    char report[PATH_LENGTH + 32], again[400];
    snprintf( report, sizeof report, "%s/report.txt", e->base );
    printf( "FAILED: %s\n", failure );
    show_file( report, 60 );
    episode last = *e;
    last.lines = lines;
    last.log = NULL;
    if ( run_episode( &last, f, again, sizeof again ) || strcmp( again, failure ) != 0 )
        printf( "when played again it does not fail in this way: threads were on another way\n" );
    else
        shrink( e, failure, lines, f );
    const char *path = e->options->keep;
    FILE *kept = path != NULL ? fopen( path, "w" ) : NULL;
    for ( int i = 0; i < lines->count; ++i ) {
        if ( kept != NULL )
            step_print( kept, &lines->items[i] );
        if ( i < 200 )
            step_print( stdout, &lines->items[i] );
    }
    if ( kept != NULL )
        fclose( kept );
    printf( "play these lines with --replay FILE%s%s\n", path != NULL ? ": " : "", path != NULL ? path : "" );
}

// ------------------------------------------------------------------------------------------------------ runs

static void add_figures( figures *sum, const figures *f )
{
    sum->events += f->events;
    sum->frames += f->frames;
    sum->changes += f->changes;
    sum->rounds += f->rounds;
    sum->undone += f->undone;
    sum->opened += f->opened;
    sum->unsettled += f->unsettled;
}

static void print_figures( const char *name, const figures *f )
{
    printf( "%-28s %7ld events %7ld frames %6ld changes %4ld rounds %6ld undone %4ld opened %3ld cancelled",
            name, f->events, f->frames, f->changes, f->rounds, f->undone, f->opened, f->unsettled );
    if ( f->live_first > 0 )
        printf( "  opened again: %zu kB first, %zu kB most, %zu kB last", f->live_first >> 10,
                f->live_most >> 10, f->live_last >> 10 );
    printf( "\n" );
    fflush( stdout );
}

static bool run_random( const options *o, const char *base, figures *shared )
{
    scene_list scenes = { 0 };
    figures sum = { 0 };
    char log[PATH_LENGTH + 32], failure[400];
    bool ok = true;
    scene_list_fill( &scenes, o );
    long each = o->count / scenes.count + 1;
    if ( o->scene == NULL ) // else one long episode
        each = each < EPISODE_LEAST ? EPISODE_LEAST : each > EPISODE_MOST ? EPISODE_MOST : each;
    snprintf( log, sizeof log, "%s/events.txt", base );
    episode e = {
        .options = o, .base = base, .log = log, .end = o->seconds > 0 ? seconds_now() + o->seconds : 0 };
    for ( long i = 0; ok && sum.events < o->count && ( e.end == 0 || seconds_now() < e.end ); ++i ) {
        uint64_t seed = o->seed + 0x9E3779B9u * (uint64_t)i;
        e.scene = scenes.items[( o->seed + (uint64_t)i ) % (uint64_t)scenes.count];
        e.seed = random_bits( &seed );
        e.count = o->count - sum.events < each ? o->count - sum.events : each;
        *shared = ( figures ){ 0 };
        ok = run_episode( &e, shared, failure, sizeof failure );
        add_figures( &sum, shared );
        print_figures( e.scene.path, shared );
        if ( ok )
            continue;
        step_list lines = { 0 };
        if ( step_list_load( &lines, log ) )
            report_failure( &e, failure, &lines, shared );
        free( lines.items );
    }
    print_figures( "all", &sum );
    return ok;
}

static bool run_replay( const options *o, const char *base, figures *shared )
{
    step_list lines = { 0 };
    char failure[400], report[PATH_LENGTH + 32];
    if ( !step_list_load( &lines, o->replay ) ) {
        printf( "%s is no list of events\n", o->replay );
        return false;
    }
    episode e = { .options = o, .base = base, .scene = lines.items[0], .lines = &lines };
    bool ok = run_episode( &e, shared, failure, sizeof failure );
    print_figures( e.scene.path, shared );
    snprintf( report, sizeof report, "%s/report.txt", base );
    if ( !ok ) {
        printf( "FAILED: %s\n", failure );
        show_file( report, 60 );
    }
    free( lines.items );
    return ok;
}

static bool read_options( options *o, int argc, char **argv )
{
    static const struct option names[] = {
        { "seed", 1, NULL, 's' },    { "count", 1, NULL, 'c' },    { "scene", 1, NULL, 'o' },
        { "seconds", 1, NULL, 't' }, { "replay", 1, NULL, 'r' },   { "keep", 1, NULL, 'k' },
        { "shrink", 1, NULL, 'h' },  { "pictures", 0, NULL, 'p' }, { 0 } };
    *o = ( options ){ .seed = 1, .count = 1000, .shrink = 300 };
    for ( int c; ( c = getopt_long( argc, argv, "", names, NULL ) ) != -1; )
        switch ( c ) {
        case 's': o->seed = strtoull( optarg, NULL, 10 ); break;
        case 'c': o->count = atol( optarg ); break;
        case 'o': o->scene = optarg; break;
        case 't': o->seconds = atof( optarg ); break;
        case 'r': o->replay = optarg; break;
        case 'k': o->keep = optarg; break;
        case 'h': o->shrink = atof( optarg ); break;
        case 'p': o->pictures = true; break;
        default: return false;
        }
    return optind == argc;
}

int main( int argc, char **argv )
{
    options o;
    char base[FOLDER_SIZE] = FOLDER_PATTERN;
    if ( !read_options( &o, argc, argv ) ) {
        printf(
            "random_events --seed S --count N [--scene WHAT[:CAST]] [--seconds T] [--keep FILE] [--shrink T] "
            "[--pictures]\n"
            "random_events --replay FILE\n" );
        return 2;
    }
    figures *shared = mmap( NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0 );
    if ( shared == MAP_FAILED || mkdtemp( base ) == NULL )
        return 2;
    prepare( base );
    bool ok = o.replay != NULL ? run_replay( &o, base, shared ) : run_random( &o, base, shared );
    nftw( base, remove_entry, 16, FTW_DEPTH | FTW_PHYS );
    return ok ? 0 : 1;
}
