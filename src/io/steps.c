#include "io/steps.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// -------------------------------------------------------------------------------------------------- faults

static atomic_long steps, break_at;
static atomic_int break_kind;

void tr_file_break( tr_file_fault kind, long n )
{
    atomic_store( &steps, 0 );
    atomic_store( &break_at, n );
    atomic_store( &break_kind, kind );
}

long tr_file_steps( void )
{
    return atomic_load( &steps );
}

bool tr_file_step( void )
{
    long step = atomic_fetch_add( &steps, 1 ) + 1, at = atomic_load( &break_at );
    int kind = atomic_load( &break_kind );
    if ( kind == TR_FILE_SOUND || step < at || ( kind == TR_FILE_FAILS_ONCE && step > at ) )
        return true;
    if ( kind == TR_FILE_KILLS )
        raise( SIGKILL );
    errno = EIO;
    return false;
}

bool tr_file_fail( tr_error *error, const char *path, const char *what )
{
    return errno == ENOMEM ? tr_error_memory( error )
                           : tr_error_at( error, path, 0, 0, "%s: %s", what, strerror( errno ) );
}

// ------------------------------------------------------------------------------------------------- folders

DIR *tr_folder_list( int parent, const char *name )
{
    int handle = openat( parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC );
    DIR *dir = handle >= 0 ? fdopendir( handle ) : NULL;
    if ( dir == NULL && handle >= 0 ) {
        int reason = errno;
        close( handle );
        errno = reason;
    }
    return dir;
}

struct dirent *tr_folder_next( DIR *dir )
{
    struct dirent *entry;
    do {
        errno = 0;
        entry = readdir( dir );
    } while ( entry != NULL && ( strcmp( entry->d_name, "." ) == 0 || strcmp( entry->d_name, ".." ) == 0 ) );
    return entry;
}

static void remove_below( int parent, const char *name, int depth )
{
    DIR *dir = depth > 0 ? tr_folder_list( parent, name ) : NULL;
    for ( struct dirent *entry; dir != NULL && ( entry = tr_folder_next( dir ) ) != NULL; )
        if ( tr_file_step() && unlinkat( dirfd( dir ), entry->d_name, 0 ) != 0 )
            remove_below( dirfd( dir ), entry->d_name, depth - 1 );
    if ( dir != NULL )
        closedir( dir );
    if ( tr_file_step() )
        unlinkat( parent, name, AT_REMOVEDIR );
}

void tr_folder_remove( int parent, const char *name )
{
    remove_below( parent, name, 3 );
}

bool tr_folder_sync( int handle )
{
    return ( tr_file_step() && fsync( handle ) == 0 ) || errno == EINVAL || errno == EBADF ||
           errno == ENOTSUP || errno == EROFS;
}

// -------------------------------------------------------------------------------------------------- drafts

void tr_draft_leaf( char *out, int number )
{
    snprintf( out, 64, ".troupe-%ld-%d.tmp", (long)getpid(), number );
}

// Whether a path begins with the name of a draft.
static bool is_draft( const char *path )
{
    long process = 0;
    int number = 0, length = 0;
    return path[0] == '.' && sscanf( path, ".troupe-%ld-%d.tmp%n", &process, &number, &length ) == 2 &&
           length > 0 && ( path[length] == 0 || path[length] == '/' );
}

bool tr_draft_holds( const char *path )
{
    bool holds = is_draft( path );
    for ( const char *slash = strchr( path, '/' ); slash != NULL && !holds; slash = strchr( slash + 1, '/' ) )
        holds = is_draft( slash + 1 );
    return holds;
}

// On file systems without locks drafts are not locked, and those left behind stay.
bool tr_draft_lock( int handle )
{
    struct stat info;
    return ( flock( handle, LOCK_EX | LOCK_NB ) == 0 || errno != EWOULDBLOCK ) &&
           fstat( handle, &info ) == 0 && info.st_nlink > 0;
}

// The lock is kept until the draft is removed, so that its name cannot be reused meanwhile.
static void sweep_one( int folder, const char *name )
{
    struct stat held, named;
    int handle = openat( folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC );
    if ( handle < 0 && errno == EISDIR )
        handle = openat( folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC );
    if ( handle < 0 )
        return;
    if ( flock( handle, LOCK_EX | LOCK_NB ) == 0 && fstat( handle, &held ) == 0 &&
         fstatat( folder, name, &named, AT_SYMLINK_NOFOLLOW ) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev ) {
        if ( S_ISDIR( held.st_mode ) )
            tr_folder_remove( folder, name );
        else if ( S_ISREG( held.st_mode ) && tr_file_step() )
            unlinkat( folder, name, 0 );
    }
    close( handle );
}

void tr_draft_sweep( int folder )
{
    DIR *dir = tr_folder_list( folder, "." );
    for ( struct dirent *entry; dir != NULL && ( entry = tr_folder_next( dir ) ) != NULL; )
        if ( is_draft( entry->d_name ) )
            sweep_one( folder, entry->d_name );
    if ( dir != NULL )
        closedir( dir );
}
