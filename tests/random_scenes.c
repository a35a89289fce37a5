// Random scenes through the whole library, each in a process of its own: see trial.h for what is checked.
#include "shrink.h"
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// What a scene may cost, far above what any should: these find loops without a bound, they tune nothing. Its
// memory is at most twice the program's estimate.
#if defined( __has_feature )
#define SANITIZED ( __has_feature( address_sanitizer ) || __has_feature( thread_sanitizer ) )
#elif defined( __SANITIZE_ADDRESS__ ) || defined( __SANITIZE_THREAD__ )
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#if SANITIZED
#define SLOWER 6.0 // times, under the sanitizers
#else
#define SLOWER 1.0
#endif
// Times what is said before a scene starts: the matrix of a mesh grows with the square of the joints in a
// window, which that does not know.
#define MORE 2.0
// A trial solves its scene some ten times with one thread: every method, layers and drags; and as often again
// where the bits of 3 threads are compared.
#define HANG_SECONDS                                                                                         \
    ( 60 * SLOWER ) // seconds of processor time after which the process is ended, unless --limit is given
#define SLOW_MS      ( 4000 * SLOWER ) // for a scene of nothing with one thread, and
#define SLOW_MS_UNIT ( 0.5 * SLOWER )  // for each joint in each frame under each rule

typedef struct options {
    uint64_t first, count;
    double seconds; // 0: no limit
    double limit;   // seconds of processor time after which a scene is given up
    int parts;
    bool examples; // scenes in which every character has some
    const char *through, *method, *out;
    bool threads, shrink, write, verbose, untimed;
} options;

typedef struct outcome { // outcome of a trial in its process
    trial_outcome trial;
    size_t peak; // bytes
    char failure[24];
    double cpu_ms;
} outcome;

typedef struct summary {
    uint64_t run, refused, failed, beyond;
    double cpu_ms, worst_ms, worst_ms_unit, worst_mb, worst_mb_unit;
    uint64_t worst_ms_seed, worst_unit_seed, worst_mb_seed, worst_mb_unit_seed;
} summary;

static generate_what wanted( const options *o )
{
    return o->examples                ? GENERATE_EXAMPLES
           : o->parts == TRIAL_DRAGS  ? GENERATE_DRAGS
           : o->parts == TRIAL_LAYERS ? GENERATE_LAYERS
                                      : GENERATE_ANY;
}

static bool make_scene( const options *o, uint64_t seed, generated *g )
{
    choices c = choices_from_seed( seed );
    return generate( g, &c, wanted( o ) );
}

// ------------------------------------------------------------------------------------------------ processes

static void limit_processor_time( double seconds )
{
    double whole = floor( seconds );
    struct itimerval timer = {
        .it_value = { .tv_sec = (time_t)whole, .tv_usec = (suseconds_t)( 1e6 * ( seconds - whole ) ) } };
    setitimer( ITIMER_PROF, &timer, NULL ); // SIGPROF ends the process
}

// In the child: makes the scene where none is given, runs it, and writes the outcome into the pipe.
static _Noreturn void run_child( const options *o, uint64_t seed, const generated *given, const char *folder,
                                 int pipe )
{
    limit_processor_time( o->limit );
    generated made = { 0 };
    outcome result = { 0 };
    tr_error error;
    if ( given == NULL && !make_scene( o, seed, &made ) )
        _exit( 3 );
    const generated *g = given != NULL ? given : &made;
    if ( !tr_scene_check( &g->scene, "scene.json", &error ) ) {
        snprintf( result.trial.failure, sizeof result.trial.failure, "invalid" );
        tr_error_print( &error, result.trial.message, sizeof result.trial.message );
    } else if ( !generated_write( g, folder, &error ) )
        _exit( 3 );
    else {
        trial_def def = { o->parts, o->method, o->threads, seed };
        trial_run( &result.trial, folder, &def );
    }
    result.peak = tr_memory_peak();
    ssize_t size = write( pipe, &result, sizeof result );
    _exit( size == sizeof result ? 0 : 3 );
}

static void judge( const options *o, outcome *out, int status )
{
    const trial_outcome *t = &out->trial;
    const tr_memory_def memory = tr_default_stage_def().memory;
    const tr_memory_load load = { .frames = 1, .joints = t->units, .use = TR_MEMORY_MESHES };
    if ( WIFSIGNALED( status ) && WTERMSIG( status ) == SIGPROF )
        snprintf( out->failure, sizeof out->failure, "hang" );
    else if ( WIFSIGNALED( status ) )
        snprintf( out->failure, sizeof out->failure, "signal %d", WTERMSIG( status ) );
    else if ( WEXITSTATUS( status ) != 0 )
        snprintf( out->failure, sizeof out->failure, "exit %d", WEXITSTATUS( status ) );
    else if ( t->failure[0] != 0 )
        snprintf( out->failure, sizeof out->failure, "%s", t->failure );
    else if ( !o->untimed && t->staged &&
              out->cpu_ms > ( o->threads ? 2 : 1 ) * ( SLOW_MS + SLOW_MS_UNIT * t->work ) )
        snprintf( out->failure, sizeof out->failure, "slow" );
    else if ( t->staged && (double)out->peak > MORE * tr_memory_needed( &memory, &load ) )
        snprintf( out->failure, sizeof out->failure, "large" );
}

static outcome run_forked( const options *o, uint64_t seed, const generated *given, const char *folder,
                           bool quiet )
{
    outcome out = { 0 };
    int ends[2];
    if ( pipe( ends ) != 0 ) {
        perror( "pipe" );
        exit( 2 );
    }
    fflush( NULL );
    pid_t child = fork();
    if ( child == 0 ) {
        close( ends[0] );
        int nowhere = quiet ? open( "/dev/null", O_WRONLY ) : -1;
        if ( nowhere >= 0 )
            dup2( nowhere, 2 );
        run_child( o, seed, given, folder, ends[1] );
    }
    close( ends[1] );
    ssize_t size = 0;
    while ( ( size = read( ends[0], &out, sizeof out ) ) < 0 && errno == EINTR )
        ;
    if ( size != sizeof out )
        out = ( outcome ){ 0 };
    close( ends[0] );
    struct rusage usage = { 0 };
    int status = 0;
    wait4( child, &status, 0, &usage );
    out.cpu_ms = 1e3 * (double)( usage.ru_utime.tv_sec + usage.ru_stime.tv_sec ) +
                 1e-3 * (double)( usage.ru_utime.tv_usec + usage.ru_stime.tv_usec );
    judge( o, &out, status );
    return out;
}

static int remove_entry( const char *path, const struct stat *status, int kind, struct FTW *where )
{
    (void)status, (void)kind, (void)where;
    return remove( path );
}

static void make_folder( char *out, size_t size ) // in memory where there is such a place
{
    bool shared = access( "/dev/shm", W_OK ) == 0;
    snprintf( out, size, "%s/random_scenes_XXXXXX", shared ? "/dev/shm" : "/tmp" );
    if ( mkdtemp( out ) == NULL ) {
        perror( out );
        exit( 2 );
    }
}

// -------------------------------------------------------------------------------------------------- many
// seeds

static void keep_worst( double value, uint64_t seed, double *worst, uint64_t *worst_seed )
{
    if ( value > *worst ) {
        *worst = value;
        *worst_seed = seed;
    }
}

static void count( summary *s, const outcome *out, uint64_t seed )
{
    const trial_outcome *t = &out->trial;
    double mb = (double)out->peak / 1048576;
    s->run++;
    s->cpu_ms += out->cpu_ms;
    s->failed += out->failure[0] != 0;
    s->refused += out->failure[0] == 0 && !t->staged;
    keep_worst( out->cpu_ms, seed, &s->worst_ms, &s->worst_ms_seed );
    keep_worst( mb, seed, &s->worst_mb, &s->worst_mb_seed );
    if ( t->work > 0 ) {
        keep_worst( out->cpu_ms / t->work, seed, &s->worst_ms_unit, &s->worst_unit_seed );
        keep_worst( mb / t->units, seed, &s->worst_mb_unit, &s->worst_mb_unit_seed );
    }
}

static void print_summary( const options *o, const summary *s )
{
    printf( "%llu scenes from seed %llu through %s: %llu refused with a sentence, %llu failures\n",
            (unsigned long long)s->run, (unsigned long long)o->first, o->through,
            (unsigned long long)s->refused, (unsigned long long)s->failed );
    printf( "processor time: %.1f s, mean %.1f ms, most %.0f ms (seed %llu), most %.4f ms a joint, frame and "
            "rule "
            "(seed %llu)\n",
            s->cpu_ms / 1e3, s->cpu_ms / (double)( s->run > 0 ? s->run : 1 ), s->worst_ms,
            (unsigned long long)s->worst_ms_seed, s->worst_ms_unit, (unsigned long long)s->worst_unit_seed );
    printf( "memory: most %.1f MB (seed %llu), most %.4f MB a joint and frame (seed %llu)\n", s->worst_mb,
            (unsigned long long)s->worst_mb_seed, s->worst_mb_unit,
            (unsigned long long)s->worst_mb_unit_seed );
}

static int run_seeds( const options *o )
{
    char folder[64];
    summary s = { 0 };
    double begin = tr_clock_ms();
    make_folder( folder, sizeof folder );
    for ( uint64_t n = 0; n < o->count && ( o->seconds == 0 || tr_clock_ms() - begin < 1e3 * o->seconds );
          ++n ) {
        uint64_t seed = o->first + n;
        outcome out = run_forked( o, seed, NULL, folder, false );
        count( &s, &out, seed );
        if ( out.failure[0] != 0 )
            printf( "seed %llu: %s: %s (%.0f ms, %.1f MB, %.0f joints × frames)\n", (unsigned long long)seed,
                    out.failure, out.trial.message, out.cpu_ms, (double)out.peak / 1048576, out.trial.units );
        else if ( o->verbose )
            printf( "seed %llu: %s %.1f ms %.1f MB %.0f units %.0f work %s\n", (unsigned long long)seed,
                    out.trial.staged ? "run" : "refused", out.cpu_ms, (double)out.peak / 1048576,
                    out.trial.units, out.trial.work, out.trial.message );
    }
    nftw( folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS );
    print_summary( o, &s );
    return s.failed > 0;
}

// ---------------------------------------------------------------------------------------------------- one
// seed

typedef struct search {
    options o; // as few methods and parts as show the failure
    const char *folder, *failure;
    uint64_t seed;
    int tries;
} search;

static bool fails_alike( void *context, const generated *g )
{
    search *s = context;
    s->tries++;
    outcome out = run_forked( &s->o, s->seed, g, s->folder, true );
    bool fails = strcmp( out.failure, s->failure ) == 0;
    if ( fails ) // the smallest so far: a search may be given up
        generated_write( g, s->o.out, NULL );
    return fails;
}

// Keeps the narrower options if the failure stays.
static bool try_options( search *s, options less, const generated *g )
{
    options before = s->o;
    s->o = less;
    bool fails = fails_alike( s, g );
    if ( !fails )
        s->o = before;
    return fails;
}

// Fewer parts and methods first: what is left names the command that shows the failure.
static void narrow( search *s, const generated *g )
{
    int count;
    const tr_method *methods = tr_method_table( &count );
    for ( int part = TRIAL_METHODS; part <= TRIAL_DRAGS; part *= 2 ) {
        options less = s->o;
        less.parts = part;
        if ( s->o.parts != part && ( s->o.parts & part ) != 0 && try_options( s, less, g ) )
            break;
    }
    for ( int m = 0; m < count && s->o.method == NULL; ++m ) {
        options less = s->o;
        less.method = methods[m].name;
        try_options( s, less, g );
    }
    options less = s->o;
    less.threads = false;
    try_options( s, less, g );
}

static int run_one( const options *o )
{
    char folder[64], first[24];
    generated g;
    tr_error error;
    if ( !make_scene( o, o->first, &g ) )
        return 2;
    make_folder( folder, sizeof folder );
    mkdir( o->out, 0777 );
    outcome out = { 0 };
    if ( o->shrink ) {
        out = run_forked( o, o->first, &g, folder, false );
        printf( "seed %llu: %s %s (%.0f ms)\n", (unsigned long long)o->first,
                out.failure[0] != 0 ? out.failure : "no failure", out.trial.message, out.cpu_ms );
    }
    if ( out.failure[0] != 0 ) {
        snprintf( first, sizeof first, "%s", out.failure );
        search s = { .o = *o, .folder = folder, .failure = first, .seed = o->first };
        narrow( &s, &g );
        shrink( &g, fails_alike, &s );
        out = run_forked( &s.o, o->first, &g, folder, false );
        printf( "shrunk in %d runs: %s %s (%.0f ms), parts %d%s%s%s\n", s.tries, out.failure,
                out.trial.message, out.cpu_ms, s.o.parts, s.o.method != NULL ? ", method " : "",
                s.o.method != NULL ? s.o.method : "", s.o.threads ? ", 1 and 3 threads" : "" );
    }
    bool ok = generated_write( &g, o->out, &error );
    printf( ok ? "written to %s/scene.json\n" : "cannot write to %s\n", o->out );
    generated_free( &g );
    nftw( folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS );
    return out.failure[0] != 0;
}

// -----------------------------------------------------------------------------------------------------
// options

static const char help[] =
    "random_scenes [--first SEED] [--count N] [--seconds S] [--through PART] [--method NAME] [--one-thread] "
    "[-v]\n"
    "    Makes a scene from each seed and runs it in a process of its own. PART: methods, layers, drags, "
    "all,\n"
    "    or examples: methods of scenes in which every character has examples.\n"
    "    Scenes are solved with 1 and 3 threads, and their bits compared, but for --one-thread. A scene is "
    "given\n"
    "    up after --limit seconds of processor time; --untimed: one that merely is slow does not fail.\n"
    "random_scenes --shrink SEED | --write SEED [-o FOLDER]\n"
    "    Writes the scene of one seed, for `troupe`: as small as the failure allows, or as it is.\n";

static bool parse_parts( options *o, const char *text )
{
    static const struct {
        const char *name;
        int parts;
    } table[] = { { "methods", TRIAL_METHODS },
                  { "layers", TRIAL_LAYERS },
                  { "drags", TRIAL_DRAGS },
                  { "examples", TRIAL_METHODS },
                  { "all", TRIAL_ALL } };
    for ( size_t i = 0; i < sizeof table / sizeof *table; ++i )
        if ( strcmp( text, table[i].name ) == 0 ) {
            o->parts = table[i].parts;
            o->through = table[i].name;
            o->examples = strcmp( text, "examples" ) == 0;
            return true;
        }
    return false;
}

static bool parse_value( options *o, const char *name, const char *value )
{
    if ( strcmp( name, "--first" ) == 0 )
        o->first = strtoull( value, NULL, 0 );
    else if ( strcmp( name, "--count" ) == 0 )
        o->count = strtoull( value, NULL, 0 );
    else if ( strcmp( name, "--seconds" ) == 0 )
        o->seconds = strtod( value, NULL );
    else if ( strcmp( name, "--limit" ) == 0 )
        o->limit = strtod( value, NULL );
    else if ( strcmp( name, "--method" ) == 0 )
        o->method = value;
    else if ( strcmp( name, "-o" ) == 0 )
        o->out = value;
    else if ( strcmp( name, "--through" ) == 0 )
        return parse_parts( o, value );
    else if ( strcmp( name, "--shrink" ) == 0 || strcmp( name, "--write" ) == 0 ) {
        o->first = strtoull( value, NULL, 0 );
        o->shrink = name[2] == 's';
        o->write = !o->shrink;
    } else
        return false;
    return true;
}

// Threads that wait must not spin: there are many more of them than processors. OpenMP asks once, at the
// start.
static void wait_passively( char **argv )
{
    if ( getenv( "OMP_WAIT_POLICY" ) == NULL && setenv( "OMP_WAIT_POLICY", "passive", 1 ) == 0 )
        execv( "/proc/self/exe", argv );
}

int main( int argc, char **argv )
{
    wait_passively( argv );
    options o = { .first = 1,
                  .count = 100,
                  .parts = TRIAL_ALL,
                  .through = "all",
                  .out = "shrunk",
                  .threads = true,
                  .limit = HANG_SECONDS };
    setvbuf( stdout, NULL, _IOLBF, 0 );
    bool ok = true;
    for ( int i = 1; ok && i < argc; ++i )
        if ( strcmp( argv[i], "--one-thread" ) == 0 )
            o.threads = false;
        else if ( strcmp( argv[i], "--untimed" ) == 0 )
            o.untimed = true;
        else if ( strcmp( argv[i], "-v" ) == 0 )
            o.verbose = true;
        else if ( i + 1 < argc )
            ok = parse_value( &o, argv[i], argv[i + 1] ), ++i;
        else
            ok = false;
    if ( !ok ) {
        fputs( help, stderr );
        return 2;
    }
    return o.shrink || o.write ? run_one( &o ) : run_seeds( &o );
}
