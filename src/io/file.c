#include "io/steps.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// ------------------------------------------------------------------------------------------------- reading

// Reads until the end, or until there are more than `most` bytes. *data has space for a final NUL.
static bool read_up_to( int file, size_t guess, size_t most, char **data, size_t *size )
{
    size_t capacity = guess + 1;
    *size = 0;
    *data = tr_alloc( capacity, 1 );
    while ( *data != NULL ) {
        ssize_t got = read( file, *data + *size, capacity - *size );
        if ( got < 0 && errno == EINTR )
            continue;
        if ( got < 0 && errno == EAGAIN && // a pipe in non-blocking mode
             ( poll( &( struct pollfd ){ .fd = file, .events = POLLIN }, 1, -1 ) >= 0 || errno == EINTR ) )
            continue;
        if ( got < 0 )
            return false;
        *size += (size_t)got;
        if ( got == 0 || *size > most ) // one byte of the capacity is always left for the NUL then
            return true;
        if ( *size == capacity ) {
            char *bigger = tr_realloc( *data, capacity *= 2, 1 );
            if ( bigger == NULL )
                tr_free( *data );
            *data = bigger;
        }
    }
    errno = ENOMEM;
    return false;
}

static bool is_same_time( struct timespec a, struct timespec b )
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool refuse_size( const char *path, tr_error *error )
{
    return tr_error_at( error, path, 0, 0, "is larger than 1 GiB; split it first" );
}

// Detects a file that is written while it is read, by its size and time.
static bool read_file( int file, const struct stat *before, const char *path, char **data, size_t *size,
                       tr_error *error )
{
    struct stat after;
    size_t expected = (size_t)before->st_size;
    if ( before->st_size > (off_t)TR_MAX_FILE_BYTES )
        return refuse_size( path, error );
    if ( !read_up_to( file, expected, expected, data, size ) || fstat( file, &after ) != 0 )
        return tr_file_fail( error, path, "cannot read" );
    return ( *size == expected && after.st_size == before->st_size &&
             is_same_time( after.st_mtim, before->st_mtim ) ) ||
           tr_error_at( error, path, 0, 0, "changed while it was read; try again when it is finished" );
}

static bool read_pipe( int file, const char *path, char **data, size_t *size, tr_error *error )
{
    if ( !read_up_to( file, 65536, TR_MAX_FILE_BYTES, data, size ) )
        return tr_file_fail( error, path, "cannot read" );
    return *size <= TR_MAX_FILE_BYTES || refuse_size( path, error );
}

static bool refuse_kind( const struct stat *info, const char *path, tr_error *error )
{
    const char *kind = S_ISDIR( info->st_mode )    ? "a folder"
                       : S_ISFIFO( info->st_mode ) ? "a pipe"
                                                   : "a device";
    return tr_error_at( error, path, 0, 0, "is %s; a file is needed here", kind );
}

// N of /dev/fd/N, or -1.
static int descriptor_of( const char *path )
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if ( strcmp( path, "/dev/stdin" ) == 0 )
        return STDIN_FILENO;
    for ( int i = 0; i < 2; ++i ) {
        size_t length = strlen( folders[i] );
        const char *digits = path + length;
        if ( strncmp( path, folders[i], length ) == 0 && digits[0] != 0 && strlen( digits ) < 8 &&
             strspn( digits, "0123456789" ) == strlen( digits ) )
            return atoi( digits );
    }
    return -1;
}

// A file is opened again, to read it from its beginning. A pipe is not: a named pipe whose writer has ended
// would wait for another writer.
static int open_input( const char *path, int descriptor )
{
    struct stat info;
    if ( descriptor >= 0 && fstat( descriptor, &info ) == 0 && S_ISFIFO( info.st_mode ) )
        return fcntl( descriptor, F_DUPFD_CLOEXEC, 0 );
    return open( path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK );
}

// Opens without waiting for a pipe's other end. Reads only what is known to end: a file, or a pipe that the
// shell has opened, by its descriptor.
static bool read_any( const char *path, int descriptor, char **data, size_t *size, tr_error *error )
{
    *data = NULL;
    *size = 0;
    struct stat info;
    int file = open_input( path, descriptor );
    if ( file < 0 )
        return errno == ENXIO ? tr_error_at( error, path, 0, 0, "is a device; a file is needed here" )
                              : tr_file_fail( error, path, "cannot open" );
    bool ok;
    if ( fstat( file, &info ) != 0 )
        ok = tr_file_fail( error, path, "cannot read" );
    else if ( S_ISREG( info.st_mode ) )
        ok = read_file( file, &info, path, data, size, error );
    else if ( descriptor >= 0 && S_ISFIFO( info.st_mode ) )
        ok = read_pipe( file, path, data, size, error );
    else
        ok = refuse_kind( &info, path, error );
    close( file );
    if ( ok )
        ( *data )[*size] = 0;
    else {
        tr_free( *data );
        *data = NULL;
        *size = 0;
    }
    return ok;
}

bool tr_file_read( const char *path, char **data, size_t *size, tr_error *error )
{
    return read_any( path, -1, data, size, error );
}

bool tr_file_read_piped( const char *path, char **data, size_t *size, tr_error *error )
{
    return read_any( path, descriptor_of( path ), data, size, error );
}

bool tr_file_check( const char *path, tr_error *error )
{
    struct stat info;
    if ( stat( path, &info ) != 0 )
        return tr_file_fail( error, path, "cannot open" );
    return S_ISREG( info.st_mode ) || refuse_kind( &info, path, error );
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
        ssize_t put = tr_file_step() ? write( file, data, size ) : -1;
        if ( put < 0 && errno == EINTR )
            continue;
        if ( put < 0 )
            return false;
        data += put;
        size -= (size_t)put;
    }
    return true;
}

enum { MOST_LINKS = 40 }; // in a chain, as in Linux

// The end of a chain of symbolic links, which need not exist yet. Allocated; NULL with errno set.
static char *follow_links( const char *path )
{
    char *target = tr_string_copy( path );
    for ( int hops = 0; target != NULL && hops < MOST_LINKS; ++hops ) {
        char link[PATH_MAX];
        ssize_t length = readlink( target, link, sizeof link - 1 );
        if ( length < 0 )
            return target;
        link[length] = 0;
        char *next = tr_path_beside( target, link );
        tr_free( target );
        target = next;
    }
    errno = target != NULL ? ELOOP : ENOMEM;
    tr_free( target );
    return NULL;
}

// Opens the folder of a file; -1 on failure. Takes no memory, since folders are also synced without any left.
static int open_folder_of( const char *file )
{
    const char *slash = strrchr( file, '/' );
    char folder[PATH_MAX];
    int length =
        snprintf( folder, sizeof folder, "%.*s.", slash != NULL ? (int)( slash - file ) + 1 : 0, file );
    return length < (int)sizeof folder ? open( folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC ) : -1;
}

// Not in a folder that is a draft itself: it is new, and listing it for each of its files takes quadratic
// time.
static void sweep_beside( const char *target )
{
    int folder = tr_draft_holds( target ) ? -1 : open_folder_of( target );
    if ( folder < 0 )
        return;
    tr_draft_sweep( folder );
    close( folder );
}

// Creates a file in the folder of `target` under a free name. *name is allocated.
static int open_temporary( const char *target, char **name )
{
    for ( int attempt = 0; attempt < TR_DRAFT_ATTEMPTS; ++attempt ) {
        char leaf[64];
        tr_draft_leaf( leaf, attempt );
        *name = tr_path_beside( target, leaf );
        if ( *name == NULL ) {
            errno = ENOMEM;
            return -1;
        }
        int file = tr_file_step() ? open( *name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666 ) : -1;
        if ( file >= 0 && tr_draft_lock( file ) )
            return file;
        int reason = file >= 0 ? EEXIST : errno;
        if ( file >= 0 )
            close( file );
        tr_free( *name );
        *name = NULL;
        errno = reason;
        if ( reason != EEXIST )
            return -1;
    }
    return -1;
}

static bool sync_folder_of( const char *file )
{
    int folder = open_folder_of( file );
    if ( folder < 0 )
        return true; // it may be written to but not read
    bool ok = tr_folder_sync( folder );
    int reason = errno;
    close( folder );
    errno = reason;
    return ok;
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
        return tr_file_fail( error, path, "cannot write" );
    out->path = tr_string_copy( path );
    out->target = follow_links( path );
    if ( out->path == NULL )
        errno = ENOMEM;
    else if ( out->target != NULL ) {
        sweep_beside( out->target );
        out->file = open_temporary( out->target, &out->name );
    }
    if ( out->file >= 0 )
        return true;
    tr_file_fail( error, path, "cannot write" );
    draft_free( out );
    return false;
}

// Closes in any case.
static bool close_written( int file )
{
    bool ok = tr_file_step();
    return close( file ) == 0 && ok;
}

// The lock ends when the file is closed, before the draft is renamed: a sweep in between would remove the
// draft. A second handle holds the lock until then.
bool tr_draft_keep( tr_draft *draft, tr_error *error )
{
    struct stat old;
    int lock = fcntl( draft->file, F_DUPFD_CLOEXEC, 0 );
    bool ok = ( stat( draft->target, &old ) != 0 || fchmod( draft->file, old.st_mode & 07777 ) == 0 ) &&
              tr_file_step() && fsync( draft->file ) == 0;
    int reason = errno;
    bool closed = close_written( draft->file );
    errno = ok ? errno : reason; // the error of the first failure
    ok = ok && closed && tr_file_step() && rename( draft->name, draft->target ) == 0;
    if ( !ok ) {
        tr_file_fail( error, draft->path, "cannot write" );
        unlink( draft->name );
    } else if ( !sync_folder_of( draft->target ) )
        ok = tr_file_fail( error, draft->path,
                           tr_draft_holds( draft->target ) // the draft is given up now
                               ? "cannot write"
                               : "is written, but its folder could not be brought to the disk, and it may be "
                                 "lost when the power fails" );
    if ( lock >= 0 )
        close( lock );
    draft_free( draft );
    return ok;
}

void tr_draft_discard( tr_draft *draft )
{
    unlink( draft->name );
    close( draft->file );
    draft_free( draft );
}

// Devices and pipes cannot be replaced, only written to. Does not wait for the reader of a pipe.
static bool write_through( const char *path, const char *data, size_t size, tr_error *error )
{
    int file = open( path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK );
    if ( file < 0 )
        return errno == ENXIO ? tr_error_at( error, path, 0, 0, "is a pipe that no program reads" )
                              : tr_file_fail( error, path, "cannot write" );
    bool ok = fcntl( file, F_SETFL, 0 ) == 0 && write_all( file, data, size );
    ok = close( file ) == 0 && ok;
    return ok || tr_file_fail( error, path, "cannot write" );
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
    tr_file_fail( error, path, "cannot write" );
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
        if ( !tr_file_step() || mkdir( part, 0777 ) != 0 ) {
            int reason = errno; // "there already" is fine, if it is a folder
            bool there = stat( part, &info ) == 0 && S_ISDIR( info.st_mode );
            errno = reason;
            ok = there || tr_file_fail( error, part, "cannot make this folder" );
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

bool tr_path_ends_with( const char *path, const char *ending )
{
    size_t length = strlen( path ), tail = strlen( ending );
    return length >= tail && strcasecmp( path + length - tail, ending ) == 0;
}
