#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool fail( tr_error *error, const char *path, const char *what )
{
    return tr_error_at( error, path, 0, 0, "%s: %s", what, strerror( errno ) );
}

// ------------------------------------------------------------------------------------------------- reading

// Reads to the end of the file; `guess` is the size it is expected to have.
static bool read_all( int file, size_t guess, const char *path, char **data, size_t *size, tr_error *error )
{
    size_t capacity = guess + 1, filled = 0;
    char *buffer = tr_alloc( capacity, 1 );
    while ( buffer != NULL ) {
        ssize_t got = read( file, buffer + filled, capacity - filled );
        if ( got < 0 && errno == EINTR )
            continue;
        if ( got < 0 || filled > TR_MAX_FILE_BYTES ) {
            tr_free( buffer );
            return got < 0 ? fail( error, path, "cannot read" )
                           : tr_error_at( error, path, 0, 0, "is larger than 1 GiB; split it first" );
        }
        filled += (size_t)got;
        if ( got == 0 ) {
            buffer[filled] = 0;
            *data = buffer;
            *size = filled;
            return true;
        }
        if ( filled == capacity ) {
            char *bigger = tr_realloc( buffer, capacity *= 2, 1 );
            if ( bigger == NULL )
                tr_free( buffer );
            buffer = bigger;
        }
    }
    return tr_error_memory( error );
}

bool tr_file_read( const char *path, char **data, size_t *size, tr_error *error )
{
    *data = NULL;
    *size = 0;
    int file = open( path, O_RDONLY | O_CLOEXEC );
    if ( file < 0 )
        return fail( error, path, "cannot open" );
    struct stat info;
    bool ok;
    if ( fstat( file, &info ) != 0 )
        ok = fail( error, path, "cannot read" );
    else if ( S_ISDIR( info.st_mode ) )
        ok = tr_error_at( error, path, 0, 0, "is a folder; a file is needed here" );
    else if ( info.st_size > (off_t)TR_MAX_FILE_BYTES )
        ok = tr_error_at( error, path, 0, 0, "is larger than 1 GiB; split it first" );
    else
        ok =
            read_all( file, S_ISREG( info.st_mode ) ? (size_t)info.st_size : 65536, path, data, size, error );
    close( file );
    return ok;
}

bool tr_file_exists( const char *path )
{
    struct stat info;
    return stat( path, &info ) == 0;
}

// ------------------------------------------------------------------------------------------------- writing

static bool write_all( int file, const char *data, size_t size )
{
    while ( size > 0 ) {
        ssize_t put = write( file, data, size );
        if ( put < 0 && errno == EINTR )
            continue;
        if ( put < 0 )
            return false;
        data += put;
        size -= (size_t)put;
    }
    return true;
}

// Where a chain of symbolic links ends, also when nothing is there yet. Allocated.
static char *follow_links( const char *path )
{
    char *target = tr_string_copy( path );
    for ( int hops = 0; target != NULL && hops < 40; ++hops ) {
        char link[PATH_MAX];
        ssize_t length = readlink( target, link, sizeof link - 1 );
        if ( length < 0 )
            break;
        link[length] = 0;
        char *next = tr_path_beside( target, link );
        tr_free( target );
        target = next;
    }
    return target;
}

// What a run that was killed left behind: its process is gone, and nobody has written to it for a while (on a
// shared disk the process may be on another machine).
static bool is_left_behind( int folder, const char *name )
{
    long process = 0;
    int number = 0, length = 0;
    struct stat info;
    return sscanf( name, ".troupe-%ld-%d.tmp%n", &process, &number, &length ) == 2 && length > 0 &&
           name[length] == 0 && process > 0 && kill( (pid_t)process, 0 ) != 0 && errno == ESRCH &&
           fstatat( folder, name, &info, AT_SYMLINK_NOFOLLOW ) == 0 && S_ISREG( info.st_mode ) &&
           time( NULL ) - info.st_mtime > 600;
}

static void sweep_beside( const char *target )
{
    char *folder = tr_path_beside( target, "." );
    DIR *dir = folder != NULL ? opendir( folder ) : NULL;
    for ( struct dirent *entry; dir != NULL && ( entry = readdir( dir ) ) != NULL; )
        if ( entry->d_name[0] == '.' && is_left_behind( dirfd( dir ), entry->d_name ) )
            unlinkat( dirfd( dir ), entry->d_name, 0 );
    if ( dir != NULL )
        closedir( dir );
    tr_free( folder );
}

// A new file in the folder of `target`, under a name nobody uses. *name is allocated.
static int open_temporary( const char *target, char **name )
{
    for ( int attempt = 0; attempt < 1000; ++attempt ) {
        char leaf[64];
        snprintf( leaf, sizeof leaf, ".troupe-%ld-%d.tmp", (long)getpid(), attempt );
        *name = tr_path_beside( target, leaf );
        if ( *name == NULL ) {
            errno = ENOMEM;
            return -1;
        }
        int file = open( *name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666 );
        if ( file >= 0 )
            return file;
        int reason = errno;
        tr_free( *name );
        *name = NULL;
        errno = reason;
        if ( reason != EEXIST )
            return -1;
    }
    return -1;
}

// The rename is on the disk only when the folder is. Some file systems cannot sync folders: not an error.
static void sync_folder( const char *file )
{
    char *folder = tr_path_beside( file, "." );
    int handle = folder != NULL ? open( folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC ) : -1;
    if ( handle >= 0 ) {
        fsync( handle );
        close( handle );
    }
    tr_free( folder );
}

static void draft_free( tr_draft *draft )
{
    tr_free( draft->path );
    tr_free( draft->target );
    tr_free( draft->name );
    *draft = ( tr_draft ){ .file = -1 };
}

bool tr_draft_open( tr_draft *out, const char *path, tr_error *error )
{
    *out = ( tr_draft ){ .file = -1 };
    struct stat info;
    bool exists = stat( path, &info ) == 0;
    if ( exists && S_ISDIR( info.st_mode ) )
        return tr_error_at( error, path, 0, 0, "is a folder; a file name is needed here" );
    if ( exists && !S_ISREG( info.st_mode ) )
        return tr_error_at( error, path, 0, 0, "is a device or a pipe; a file name is needed here" );
    if ( exists && access( path, W_OK ) != 0 )
        return fail( error, path, "cannot write" );
    out->path = tr_string_copy( path );
    out->target = follow_links( path );
    if ( out->path == NULL || out->target == NULL )
        errno = ENOMEM;
    else {
        sweep_beside( out->target );
        out->file = open_temporary( out->target, &out->name );
    }
    if ( out->file >= 0 )
        return true;
    bool memory = errno == ENOMEM;
    if ( !memory )
        fail( error, path, "cannot write" );
    draft_free( out );
    return memory ? tr_error_memory( error ) : false;
}

bool tr_draft_keep( tr_draft *draft, tr_error *error )
{
    struct stat old;
    bool ok = ( stat( draft->target, &old ) != 0 || fchmod( draft->file, old.st_mode & 07777 ) == 0 ) &&
              fsync( draft->file ) == 0;
    ok = close( draft->file ) == 0 && ok && rename( draft->name, draft->target ) == 0;
    if ( !ok ) {
        fail( error, draft->path, "cannot write" );
        unlink( draft->name );
    } else
        sync_folder( draft->target );
    draft_free( draft );
    return ok;
}

void tr_draft_discard( tr_draft *draft )
{
    close( draft->file );
    unlink( draft->name );
    draft_free( draft );
}

// Devices and pipes cannot be replaced, only written to.
static bool write_through( const char *path, const char *data, size_t size, tr_error *error )
{
    int file = open( path, O_WRONLY | O_CLOEXEC );
    if ( file < 0 )
        return fail( error, path, "cannot write" );
    bool ok = write_all( file, data, size );
    ok = close( file ) == 0 && ok;
    return ok || fail( error, path, "cannot write" );
}

bool tr_file_write( const char *path, const char *data, size_t size, tr_error *error )
{
    struct stat info;
    if ( stat( path, &info ) == 0 && !S_ISREG( info.st_mode ) && !S_ISDIR( info.st_mode ) )
        return write_through( path, data, size, error );
    tr_draft draft;
    if ( !tr_draft_open( &draft, path, error ) )
        return false;
    if ( write_all( draft.file, data, size ) )
        return tr_draft_keep( &draft, error );
    fail( error, path, "cannot write" );
    tr_draft_discard( &draft );
    return false;
}

// ------------------------------------------------------------------------------------------------- folders

bool tr_folder_make( const char *path, tr_error *error )
{
    char *part = tr_string_copy( path );
    if ( part == NULL )
        return tr_error_memory( error );
    bool ok = true;
    for ( char *c = part + 1; ok && part[0] != 0 && c[-1] != 0; ++c ) {
        char kept = *c;
        if ( kept != '/' && kept != 0 )
            continue;
        *c = 0;
        struct stat info;
        if ( mkdir( part, 0777 ) != 0 ) {
            int reason = errno; // "there already" is fine, if it is a folder
            bool there = stat( part, &info ) == 0 && S_ISDIR( info.st_mode );
            errno = reason;
            ok = there || fail( error, part, "cannot make this folder" );
        }
        *c = kept;
    }
    tr_free( part );
    return ok;
}

char *tr_path_beside( const char *base_file, const char *path )
{
    const char *slash = strrchr( base_file, '/' );
    if ( path[0] == '/' || slash == NULL )
        return tr_string_copy( path );
    return tr_string_format( "%.*s/%s", (int)( slash - base_file ), base_file, path );
}
