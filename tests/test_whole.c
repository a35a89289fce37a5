// A folder of results is one unit: killed at any moment, failed by the disk at any call, or written by
// several at once, it is the old one or the new one.
//
//   test_whole [MOMENTS [SEED [FOLDER]]]
//
// How many writers are killed at random moments (40 by default), and where: a disk in memory by
// default, since everything is brought to the disk after every step.
#include "folder.h"
#include "io/io.h"
#include "scenes/scenes.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int moments = 40;
static uint64_t seed = 1;

// Stands before the C library's own: listings fail from one number to another.
static long listings, first_unlisted, last_unlisted;

struct dirent *readdir( DIR *dir )
{
    static struct dirent *( *original )( DIR * );
    if ( original == NULL )
        original = ( struct dirent * (*)(DIR *)) dlsym( RTLD_NEXT, "readdir" );
    if ( ++listings < first_unlisted || listings > last_unlisted )
        return original( dir );
    errno = EIO;
    return NULL;
}

// As well: something happens just before two folders are swapped.
static const char *before_swap; // a command, once; NULL = nothing

int renameat2( int old_folder, const char *old, int new_folder, const char *new, unsigned flags )
{
    static int ( *original )( int, const char *, int, const char *, unsigned );
    if ( original == NULL )
        original =
            (int ( * )( int, const char *, int, const char *, unsigned ))dlsym( RTLD_NEXT, "renameat2" );
    if ( flags == RENAME_EXCHANGE && before_swap != NULL ) {
        const char *command = before_swap;
        before_swap = NULL;
        assert_int_equal( system( command ), 0 );
    }
    return original( old_folder, old, new_folder, new, flags );
}

typedef struct take { // a solved scene of a few frames
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
    char folder[200]; // as it is saved
} take;

static const char *place = "/dev/shm";
static char base[120];
static take takes[2];

static bool save( const take *x, const char *folder, tr_error *error )
{
    return tr_result_save( &x->stage, &x->result, "copy", folder, error );
}

static void make_take( take *x, const char *name, const char *folder )
{
    tr_error error;
    check_ok( tr_scene_build( tr_scene_entry_find( name ), 0, &x->scene, &x->library, &error ), &error );
    x->scene.last = x->scene.first + 2;
    check_ok( tr_stage_build( &x->stage, &x->scene, NULL, &x->library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &x->result, &x->stage, tr_method_find( "copy" ), &error ), &error );
    snprintf( x->folder, sizeof x->folder, "%s/%s", base, folder );
    check_ok( save( x, x->folder, &error ), &error );
}

static int set_up( void **state )
{
    (void)state;
    tr_parallel_set_threads( 1 ); // writers are forked: only the thread that forks goes on
    snprintf( base, sizeof base, "%.90s/troupe_test_XXXXXX", access( place, W_OK ) == 0 ? place : "/tmp" );
    assert_non_null( mkdtemp( base ) );
    make_take( &takes[0], "high_five", "first" );
    make_take( &takes[1], "car_entry", "second" );
    return 0;
}

static int clean_up( void **state )
{
    (void)state;
    for ( int i = 0; i < 2; ++i ) {
        tr_result_free( &takes[i].result );
        tr_stage_free( &takes[i].stage );
        tr_library_free( &takes[i].library );
        tr_scene_free( &takes[i].scene );
    }
    remove_folder( base );
    assert_int_equal( tr_memory_live(), 0 );
    return 0;
}

// ------------------------------------------------------------------------------------------ looking at
// folders

static const char *inside( char out[200], const char *name )
{
    snprintf( out, 200, "%s/%s", base, name );
    return out;
}

static void shell( const char *format, ... ) TR_PRINTF( 1 );
static void shell( const char *format, ... )
{
    char command[1000];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( command, sizeof command, format, arguments );
    va_end( arguments );
    assert_int_equal( system( command ), 0 );
}

static bool is_other( const char *name )
{
    return strcmp( name, "notes.txt" ) == 0 || strcmp( name, "mine" ) == 0;
}

// How many drafts and journals are in a folder.
static int count_drafts( const char *folder )
{
    int count = 0;
    DIR *dir = opendir( folder );
    assert_non_null( dir );
    for ( struct dirent *entry; ( entry = readdir( dir ) ) != NULL; )
        count += strncmp( entry->d_name, ".troupe", 7 ) == 0;
    closedir( dir );
    return count;
}

static bool same_file( const char *a, const char *b )
{
    char *one = NULL, *two = NULL;
    size_t one_size, two_size;
    bool same = tr_file_read( a, &one, &one_size, NULL ) && tr_file_read( b, &two, &two_size, NULL ) &&
                one_size == two_size && memcmp( one, two, one_size ) == 0;
    tr_free( one );
    tr_free( two );
    return same;
}

static int count_entries( const char *folder, bool drafts )
{
    int count = 0;
    DIR *dir = opendir( folder );
    for ( struct dirent *entry; dir != NULL && ( entry = readdir( dir ) ) != NULL; )
        count += strcmp( entry->d_name, "." ) != 0 && strcmp( entry->d_name, ".." ) != 0 &&
                 !is_other( entry->d_name ) && ( drafts || strncmp( entry->d_name, ".troupe", 7 ) != 0 );
    if ( dir != NULL )
        closedir( dir );
    return count;
}

// Has `folder` the files of `whole`, and no others but other people's?
static bool is_same( const char *folder, const char *whole, bool drafts )
{
    bool same = count_entries( folder, drafts ) == count_entries( whole, true );
    DIR *dir = opendir( whole );
    assert_non_null( dir );
    for ( struct dirent *entry; same && ( entry = readdir( dir ) ) != NULL; ) {
        char a[400], b[400];
        struct stat info;
        if ( entry->d_name[0] == '.' )
            continue;
        snprintf( a, sizeof a, "%s/%s", folder, entry->d_name );
        snprintf( b, sizeof b, "%s/%s", whole, entry->d_name );
        assert_int_equal( stat( b, &info ), 0 );
        same = S_ISDIR( info.st_mode ) ? is_same( a, b, true ) : same_file( a, b );
    }
    closedir( dir );
    return same;
}

// Which take a folder holds as a whole; -1: none, or parts of both.
static int which( const char *folder, bool drafts )
{
    return is_same( folder, takes[0].folder, drafts )   ? 0
           : is_same( folder, takes[1].folder, drafts ) ? 1
                                                        : -1;
}

// ------------------------------------------------------------------------------------------------ set-ups

typedef enum setting { NOTHING, OWN, OTHERS, SETTINGS } setting;

// A folder with the first take, or none, or with files of other people in it.
static void prepare( setting s, char folder[200] )
{
    inside( folder, "out" );
    shell( "rm -rf '%s' '%s'.old-*", folder, folder );
    if ( s != NOTHING )
        shell( "cp -a '%s' '%s'", takes[0].folder, folder );
    if ( s == OTHERS )
        shell( "echo mine >'%s/notes.txt'; mkdir '%s/mine'; echo too >'%s/mine/more.txt'; echo three "
               ">'%s/source/notes.txt'",
               folder, folder, folder, folder );
}

static void check_others( setting s, const char *folder )
{
    if ( s == OTHERS )
        shell( "cd '%s' && grep -q mine notes.txt && grep -q too mine/more.txt && grep -q three "
               "source/notes.txt",
               folder );
}

// Old or new, whole; where other people's files are in the way, as soon as the program looks.
static int check_whole( setting s, const char *folder )
{
    tr_error error;
    struct stat info;
    if ( s == NOTHING && stat( folder, &info ) != 0 )
        return 0;
    if ( s == OTHERS )
        check_ok( tr_folder_recover( folder, &error ), &error );
    int found = which( folder, s != OTHERS );
    assert_true( s == NOTHING ? found == 1 : found >= 0 );
    check_others( s, folder );
    return found;
}

// The next writer leaves nothing behind.
static void check_next( setting s, const char *folder )
{
    tr_error error;
    check_ok( save( &takes[1], folder, &error ), &error );
    assert_int_equal( which( folder, true ), 1 );
    check_others( s, folder );
    assert_int_equal( count_drafts( folder ), 0 );
    assert_int_equal( count_drafts( base ), 0 );
}

// ------------------------------------------------------------------------------------------------ being
// killed

// Saves in a child that is killed at the n-th call; false: there are fewer calls, and all went well.
static bool killed_while_saving( const char *folder, long n )
{
    tr_file_break( TR_FILE_KILLS, n );
    pid_t child = fork();
    assert_true( child >= 0 );
    if ( child == 0 )
        _exit( save( &takes[1], folder, NULL ) ? 0 : 1 );
    tr_file_break( TR_FILE_SOUND, 0 );
    int status;
    assert_int_equal( waitpid( child, &status, 0 ), child );
    bool killed = !WIFEXITED( status );
    assert_true( killed ? WTERMSIG( status ) == SIGKILL : WEXITSTATUS( status ) == 0 );
    return killed;
}

static void test_killed_at_every_step( void **state )
{
    (void)state;
    for ( setting s = 0; s < SETTINGS; ++s ) {
        bool through = false, seen[2] = { false, false };
        long n = 0;
        while ( !through ) {
            char folder[200];
            prepare( s, folder );
            through = !killed_while_saving( folder, ++n );
            seen[check_whole( s, folder )] = true;
            check_next( s, folder );
        }
        print_message( "killed at each of %ld calls\n", n - 1 );
        assert_true( n > 30 && seen[0] && seen[1] );
    }
}

// New results of a private folder are private before they take its place, too.
static void test_private_draft( void **state )
{
    (void)state;
    int found = 0;
    long n = 0;
    for ( bool through = false; !through; ) {
        char folder[200];
        prepare( OWN, folder );
        shell( "chmod 700 '%s'", folder );
        through = !killed_while_saving( folder, ++n );
        found += count_drafts( base );
        shell( "cd '%s' && ! find . -maxdepth 1 -name '.troupe-*' -perm /077 | grep .", base );
    }
    assert_true( found > 20 );
}

// Writers that go on and on, killed somewhere in it.
static void test_killed_at_random_moments( void **state )
{
    (void)state;
    int seen[2] = { 0, 0 };
    double start = tr_clock_ms();
    tr_error error;
    check_ok( save( &takes[0], takes[0].folder, &error ), &error );
    check_ok( save( &takes[1], takes[1].folder, &error ), &error );
    double span = 1.5 * ( tr_clock_ms() - start ); // one and a half times the time of two writers
    for ( int i = 0; i < moments; ++i ) {
        setting s = i % 2 == 0 ? OWN : OTHERS;
        char folder[200];
        if ( i < 2 || i % 50 < 2 )
            prepare( s, folder );
        else // the last result, with everything it has left behind
            inside( folder, s == OWN ? "own" : "others" );
        pid_t child = fork();
        assert_true( child >= 0 );
        for ( int k = i / 2; child == 0; ++k )
            if ( !save( &takes[k & 1], folder, NULL ) )
                _exit( 1 );
        double wait = 1e-3 * span * (double)( random_bits( &seed ) % 10000 ) / 10000;
        nanosleep( &( struct timespec ){ (time_t)wait, (long)( 1e9 * ( wait - floor( wait ) ) ) }, NULL );
        kill( child, SIGKILL );
        int status;
        assert_int_equal( waitpid( child, &status, 0 ), child );
        assert_true( WIFSIGNALED( status ) );
        ++seen[check_whole( s, folder )];
        char kept[200];
        inside( kept, s == OWN ? "own" : "others" );
        if ( strcmp( folder, kept ) != 0 )
            shell( "rm -rf '%s'; mv '%s' '%s'", kept, folder, kept );
    }
    char folder[200];
    check_next( OWN, inside( folder, "own" ) );
    check_next( OTHERS, inside( folder, "others" ) );
    shell( "rm -rf '%s/own' '%s/others'", base, base );
    print_message( "killed at %d moments: %d times the one, %d times the other\n", moments, seen[0],
                   seen[1] );
}

// ------------------------------------------------------------------------------------------------ bad disks

// One call fails: the writer says so, the old folder stays and the draft goes. Behind the point where the new
// folder counts it is the new one that stays.
static void test_one_failure( void **state )
{
    (void)state;
    for ( setting s = 0; s < SETTINGS; ++s ) {
        int failures = 0;
        bool reached = true;
        for ( long n = 1; reached; ++n ) {
            char folder[200];
            tr_error error = { 0 };
            prepare( s, folder );
            tr_file_break( TR_FILE_FAILS_ONCE, n );
            bool ok = save( &takes[1], folder, &error );
            reached = tr_file_steps() >= n;
            tr_file_break( TR_FILE_SOUND, 0 );
            failures += !ok;
            if ( !ok )
                assert_true( error.message[0] != 0 && strstr( error.file, ".troupe" ) == NULL );
            int found = check_whole( s, folder );
            if ( ok )
                assert_int_equal( found, 1 );
            if ( !ok && found == 1 )
                assert_true( strstr( error.message, "may be lost when the power fails" ) != NULL ||
                             strstr( error.message, "could not be moved to their places" ) != NULL );
            if ( !ok && found == 0 ) // nothing new is there
                assert_true( strstr( error.message, "is written" ) == NULL );
            if ( !ok ) // where it went well, a call that was to tidy up may have failed
                assert_int_equal( count_drafts( base ), 0 );
            if ( !ok && s != NOTHING )
                assert_int_equal( count_drafts( folder ), 0 );
            check_next( s, folder );
        }
        assert_true( failures > 20 );
    }
}

// Entries of a folder cannot be listed, one or all from there on: not taken for the end of the list.
static void test_unlisted( void **state )
{
    (void)state;
    for ( int i = 0; i < 2 * SETTINGS; ++i ) {
        setting s = (setting)( i / 2 );
        bool reached = true;
        for ( long n = 1; reached; ++n ) {
            char folder[200];
            tr_error error = { 0 };
            prepare( s, folder );
            listings = 0;
            first_unlisted = n;
            last_unlisted = i % 2 == 0 ? n : INT32_MAX;
            bool ok = save( &takes[1], folder, &error );
            reached = listings >= n;
            last_unlisted = 0;
            assert_true( ok || error.message[0] != 0 );
            struct stat info;
            if ( s != NOTHING || stat( folder, &info ) == 0 ) { // a draft that cannot be listed stays
                check_ok( tr_folder_recover( folder, &error ), &error );
                int found = which( folder, false );
                assert_true( ok || s == NOTHING ? found == 1 : found >= 0 );
                check_others( s, folder );
            }
            check_next( s, folder );
        }
    }
}

static void test_disk_that_is_gone( void **state )
{
    (void)state;
    for ( setting s = 0; s < SETTINGS; ++s ) {
        bool reached = true;
        for ( long n = 1; reached; n += 3 ) {
            char folder[200];
            tr_error error = { 0 };
            prepare( s, folder );
            tr_file_break( TR_FILE_FAILS_FROM, n );
            bool ok = save( &takes[1], folder, &error );
            reached = tr_file_steps() >= n;
            tr_file_break( TR_FILE_SOUND, 0 );
            assert_true( ok || error.message[0] != 0 );
            check_whole( s, folder );
            check_next( s, folder );
        }
    }
}

static void test_one_failure_of_a_file( void **state )
{
    (void)state;
    char path[200];
    inside( path, "one.txt" );
    bool folder_told = false;
    bool reached = true;
    for ( long n = 1; reached; ++n ) {
        tr_error error = { 0 };
        check_ok( tr_file_write( path, "old", 3, &error ), &error );
        tr_file_break( TR_FILE_FAILS_ONCE, n );
        bool ok = tr_file_write( path, "new", 3, &error );
        reached = tr_file_steps() >= n;
        tr_file_break( TR_FILE_SOUND, 0 );
        assert_true(
            ok == !reached ); // open, write, fsync, close, rename, fsync of the folder: none is left untold
        char *data;
        size_t size;
        bool late = strstr( error.message, "may be lost when the power fails" ) != NULL;
        check_ok( tr_file_read( path, &data, &size, NULL ), &error );
        assert_string_equal( data, late || ok ? "new" : "old" );
        tr_free( data );
        folder_told = folder_told || late;
        assert_int_equal( count_drafts( base ), 0 );
    }
    assert_true( folder_told );
    unlink( path );
}

static void test_out_of_memory( void **state )
{
    (void)state;
    size_t before = tr_memory_live();
    for ( setting s = OWN; s < SETTINGS; ++s ) {
        bool ok = false;
        for ( long n = 1; !ok; n += 1 + n / 100 ) {
            char folder[200];
            tr_error error = { 0 };
            if ( n == 1 )
                prepare( s, folder );
            inside( folder, "out" );
            tr_memory_fail_from( n );
            ok = save( &takes[1], folder, &error );
            tr_memory_fail_from( 0 );
            assert_int_equal( tr_memory_live(), before );
            assert_int_equal( check_whole( s, folder ), ok ? 1 : 0 );
            if ( !ok )
                assert_string_equal( error.message, "out of memory" );
            assert_int_equal( count_drafts( base ) + count_drafts( folder ), 0 );
        }
    }
}

// ------------------------------------------------------------------------------------------- several at once

static bool is_early( void *context )
{
    return tr_clock_ms() < *(double *)context;
}

// Another program keeps the folder locked: waiting for it can be cancelled.
static void test_cancelled_wait( void **state )
{
    (void)state;
    tr_error error = { 0 };
    tr_work work;
    char folder[200];
    prepare( OWN, folder );
    int handle = open( folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC );
    assert_true( handle >= 0 && flock( handle, LOCK_EX ) == 0 );
    alarm( 60 );
    double end = tr_clock_ms() + 500;
    tr_work_begin( &work, is_early, &end );
    assert_false( save( &takes[1], folder, &error ) );
    tr_work_end( &work );
    alarm( 0 );
    close( handle );
    assert_int_equal( check_whole( OWN, folder ), 0 );
    check_next( OWN, folder );
}

// A link to nothing comes to be where the folder is to be.
static void test_late_link( void **state )
{
    (void)state;
    tr_error error = { 0 };
    tr_folder_draft draft;
    bool cannot_swap;
    char folder[200];
    prepare( NOTHING, folder );
    check_ok( tr_folder_draft_open( &draft, folder, NULL, false, &error ), &error );
    assert_int_equal( symlink( "nowhere", folder ), 0 );
    alarm( 60 );
    assert_false( tr_folder_draft_keep( &draft, &cannot_swap, &error ) );
    alarm( 0 );
    assert_false( cannot_swap );
    assert_non_null( strstr( error.message, "cannot make this folder" ) );
    assert_int_equal( count_drafts( base ), 0 );
    unlink( folder );
}

static void test_several_writers( void **state )
{
    (void)state;
    enum { WRITERS = 4 };
    for ( setting s = 0; s < SETTINGS; ++s ) {
        char folder[200];
        pid_t writers[WRITERS];
        prepare( s, folder );
        for ( int i = 0; i < WRITERS; ++i ) {
            writers[i] = fork();
            assert_true( writers[i] >= 0 );
            for ( int k = 0; writers[i] == 0 && k < 12; ++k ) {
                tr_error error;
                if ( !save( &takes[( i + k ) & 1], folder, &error ) ) {
                    fprintf( stderr, "%s: %s\n", error.file, error.message );
                    _exit( 1 );
                }
            }
            if ( writers[i] == 0 )
                _exit( 0 );
        }
        for ( int i = 0; i < WRITERS; ++i ) {
            int status;
            assert_int_equal( waitpid( writers[i], &status, 0 ), writers[i] );
            assert_true( WIFEXITED( status ) && WEXITSTATUS( status ) == 0 );
        }
        assert_true( which( folder, true ) >= 0 );
        assert_int_equal( count_drafts( folder ) + count_drafts( base ), 0 );
        check_others( s, folder );
    }
}

// --------------------------------------------------------------------------------------------- odd folders

// Files of others that come into the folder between the last look at it and the swap: beside the results,
// in a folder of theirs, several folders deep, and an empty folder.
static void test_late_files( void **state )
{
    (void)state;
    static const char *const late[] = { "notes.txt", "p09.bvh", "source/notes.txt", "mine/deep/more/a.txt",
                                        "empty/" };
    char folder[200];
    for ( int i = 0; i < 5; ++i ) {
        tr_error error = { 0 };
        char command[600], name[40];
        int number = 1 + ( i == 2 ); // the first may be taken
        prepare( OWN, folder );
        if ( number == 2 )
            shell( "mkdir '%s.old-1'", folder );
        snprintf( command, sizeof command,
                  "cd '%s' && mkdir -p \"$(dirname '%sx')\" && { test -d '%s' || echo mine >'%s'; }", folder,
                  late[i], late[i], late[i] );
        before_swap = command;
        assert_false( save( &takes[1], folder, &error ) );
        assert_null( before_swap );
        snprintf( name, sizeof name, "is kept beside it as out.old-%d", number );
        assert_non_null( strstr( error.message, name ) );
        assert_int_equal( which( folder, true ), 1 );
        shell( "cd '%s.old-%d' && { test -d '%s' || grep -q mine '%s'; } && test \"$(find . -type f | wc "
               "-l)\" -le 1",
               folder, number, late[i], late[i] );
        check_next( OWN, folder );
    }
    prepare( OWN, folder );
}

// Links inside the folder are replaced, not written through; the folder itself may be one.
static void test_links( void **state )
{
    (void)state;
    tr_error error;
    char folder[200], link[200];
    struct stat info;
    prepare( OWN, folder );
    inside( link, "link" );
    shell( "cd '%s' && mkdir -p away && echo untouched >away/file && cp away/file away/p01.bvh && ln -s out "
           "link && "
           "cd out && rm -r p01.bvh source && ln -s ../away/file p01.bvh && ln -s ../away source",
           base );
    check_ok( save( &takes[0], link, &error ), &error );
    assert_true( lstat( link, &info ) == 0 && S_ISLNK( info.st_mode ) );
    assert_int_equal( which( folder, true ), 0 );
    shell( "cd '%s' && test ! -L out/p01.bvh -a ! -L out/source && grep -q untouched away/file && "
           "grep -q untouched away/p01.bvh && test $(ls -A away | wc -l) = 2",
           base );
    shell( "cd '%s' && rm -r link away && ln -s nowhere link", base );
    assert_false( save( &takes[0], link, &error ) );
    assert_non_null( strstr( error.message, "is a link to something that is not there" ) );
    shell( "cd '%s' && rm link && ln -s link link", base );
    assert_false( save( &takes[0], link, &error ) );
    assert_non_null( strstr( error.message, "symbolic links" ) );
    shell( "rm '%s/link'", base );
}

// A process that works in the folder goes on seeing it.
static void test_working_folder( void **state )
{
    (void)state;
    tr_error error;
    char folder[200], before[200];
    prepare( OWN, folder );
    assert_non_null( getcwd( before, sizeof before ) );
    assert_int_equal( chdir( folder ), 0 );
    check_ok( save( &takes[1], ".", &error ), &error );
    assert_int_equal( which( ".", true ), 1 );
    assert_int_equal( chdir( before ), 0 );
    assert_int_equal( which( folder, true ), 1 );
}

// Results whose files were replaced by hand, and files in the place of a folder.
static void test_odd_contents( void **state )
{
    (void)state;
    tr_error error;
    char folder[200];
    prepare( OWN, folder );
    shell( "cd '%s' && rm -r source && echo mine >source", folder );
    assert_false( save( &takes[1], folder, &error ) );
    assert_non_null( strstr( error.message, "\"source\" is a file; a folder is needed there" ) );
    shell( "cd '%s' && grep -q mine source && cmp p01.bvh ../first/p01.bvh", folder );
    assert_int_equal( count_drafts( folder ), 0 );
    prepare( OWN, folder );
    shell( "cd '%s' && echo '{' >scene.json && echo more >old.bvh",
           folder ); // nothing shows which files were its own
    check_ok( save( &takes[0], folder, &error ), &error );
    shell( "cd '%s' && grep -q more old.bvh && rm old.bvh", folder );
    assert_int_equal( which( folder, true ), 0 );
    prepare( OWN, folder );
    shell( "mkdir '%s/empty'; chmod 750 '%s'; chmod 640 '%s/p01.bvh'", folder, folder, folder );
    check_ok( save( &takes[0], folder, &error ), &error );
    shell( "cd '%s' && rmdir empty && test $(stat -c %%a .) = 750 -a $(stat -c %%a p01.bvh) = 640", folder );
    check_ok( save( &takes[0], folder, &error ), &error );
    shell( "cd '%s' && test $(stat -c %%a .) = 750 -a $(stat -c %%a p01.bvh) = 640", folder );
}

// The list of obsolete files in a journal names nothing outside its folder.
static void test_hostile_journal( void **state )
{
    (void)state;
    tr_error error;
    char folder[200];
    prepare( OWN, folder );
    shell(
        "cd '%s' && echo kept >kept && ln -s .. out/up && mkdir out/.troupe-results && printf "
        "'../kept\\n%s/kept\\nup/kept\\nsource/../../kept\\n..\\n\\n' >out/.troupe-results/.troupe-obsolete",
        base, base );
    check_ok( tr_folder_recover( folder, &error ), &error );
    shell( "cd '%s' && grep -q kept kept && rm kept out/up", base );
    assert_int_equal( which( folder, true ), 0 );
}

int main( int count, char **arguments )
{
    moments = count > 1 ? atoi( arguments[1] ) : moments;
    seed = count > 2 ? strtoull( arguments[2], NULL, 10 ) : seed;
    place = count > 3 ? arguments[3] : place;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test( test_killed_at_every_step ),
        cmocka_unit_test( test_killed_at_random_moments ),
        cmocka_unit_test( test_one_failure ),
        cmocka_unit_test( test_disk_that_is_gone ),
        cmocka_unit_test( test_one_failure_of_a_file ),
        cmocka_unit_test( test_out_of_memory ),
        cmocka_unit_test( test_several_writers ),
        cmocka_unit_test( test_links ),
        cmocka_unit_test( test_working_folder ),
        cmocka_unit_test( test_odd_contents ),
        cmocka_unit_test( test_hostile_journal ),
        cmocka_unit_test( test_unlisted ),
        cmocka_unit_test( test_private_draft ),
        cmocka_unit_test( test_cancelled_wait ),
        cmocka_unit_test( test_late_link ),
        cmocka_unit_test( test_late_files ),
    };
    return cmocka_run_group_tests( tests, set_up, clean_up );
}
