// Folders that are one unit.
//
// The new folder is written as a draft, on the same disk as the old one. How it takes the old one's place
// depends on what the old one is:
//
// - Nothing there: the draft lies beside it and is renamed.
// - A folder that holds nothing but what is to be replaced: the draft lies beside it, and both swap their
//   names in one step (renameat2, RENAME_EXCHANGE). Readers see the old folder or the new one. Of the old
//   folder only the files of the old results are removed, by their names. If other files have appeared in it
//   meanwhile, the folder stays beside the new one as NAME.old-1.
// - Anything else: foreign files in it, a mount point, the working folder, a parent that is not writable,
//   another owner, a file system that cannot swap. Then the draft lies inside it. When it is complete it is
//   renamed to .troupe-results, in one step; from then on the folder counts as the new one. Its files are
//   moved to their places one by one. If that is interrupted, the next reader or writer of the folder
//   continues it first (tr_folder_recover). Foreign files stay where they are.
//
// Swaps and moves happen under a lock on the folder (flock), so that two writers take turns. Only names
// relative to open folders are used and links are never followed, so nothing outside can be reached.
#include "io/steps.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const char pending[] = ".troupe-results";    // a complete draft whose files are being moved
static const char gone_list[] = ".troupe-obsolete"; // in it: names of old files to remove, one per line

// ----------------------------------------------------------------------------------------------------- names

bool tr_names_add( tr_names *names, const char *name )
{
    char *copy = tr_string_copy( name );
    if ( copy == NULL || !tr_array_reserve( (void **)&names->items, &names->capacity, names->count + 1,
                                            sizeof *names->items ) ) {
        tr_free( copy );
        return false;
    }
    names->items[names->count++] = copy;
    return true;
}

void tr_names_free( tr_names *names )
{
    for ( int i = 0; i < names->count; ++i )
        tr_free( names->items[i] );
    tr_free( names->items );
    *names = ( tr_names ){ 0 };
}

static int compare( const void *a, const void *b )
{
    return strcmp( *(char *const *)a, *(char *const *)b );
}

static void sort( tr_names *names )
{
    if ( names->count > 0 )
        qsort( names->items, (size_t)names->count, sizeof *names->items, compare );
}

static bool has( const tr_names *sorted, const char *name )
{
    return sorted->count > 0 &&
           bsearch( &name, sorted->items, (size_t)sorted->count, sizeof *sorted->items, compare ) != NULL;
}

// "file" or "folder/file", nothing outside of the folder.
static bool is_name( const char *name )
{
    const char *slash = strchr( name, '/' ), *leaf = slash != NULL ? slash + 1 : name;
    return name[0] != 0 && name[0] != '/' && leaf[0] != 0 && strchr( leaf, '/' ) == NULL &&
           strncmp( name, "./", 2 ) != 0 && strncmp( name, "../", 3 ) != 0 && strcmp( leaf, "." ) != 0 &&
           strcmp( leaf, ".." ) != 0;
}

static bool is_folder( int parent, const char *name )
{
    struct stat info;
    return fstatat( parent, name, &info, AT_SYMLINK_NOFOLLOW ) == 0 && S_ISDIR( info.st_mode );
}

// Visits the files of a folder and of the folders in it, and folders that are empty, by their names relative
// to it; false when `visit` says so or the folder cannot be read, with errno set.
typedef bool visit_file( void *context, int folder, const char *leaf, const char *name );

static bool visit_below( DIR *dir, const char *prefix, visit_file *visit, void *context, bool *empty )
{
    bool ok = true;
    *empty = true;
    for ( struct dirent *entry; ok && ( entry = tr_folder_next( dir ) ) != NULL; *empty = false ) {
        char name[2 * NAME_MAX + 2];
        snprintf( name, sizeof name, "%s%s%s", prefix, prefix[0] != 0 ? "/" : "", entry->d_name );
        bool leaf = true;
        DIR *sub = prefix[0] == 0 && is_folder( dirfd( dir ), entry->d_name )
                       ? tr_folder_list( dirfd( dir ), entry->d_name )
                       : NULL;
        if ( sub != NULL ) {
            ok = visit_below( sub, entry->d_name, visit, context, &leaf );
            closedir( sub );
        }
        ok = ok && ( !leaf || visit( context, dirfd( dir ), entry->d_name, name ) );
    }
    return ok && errno == 0; // the list was read to its end
}

static bool visit_files( int folder, visit_file *visit, void *context )
{
    DIR *dir = tr_folder_list( folder, "." );
    if ( dir == NULL )
        return false;
    bool empty, ok = visit_below( dir, "", visit, context, &empty );
    int reason = errno;
    closedir( dir );
    errno = reason;
    return ok;
}

// ------------------------------------------------------------------------------------------------------ lock

enum { LOCK_WAIT = 5000000 }; // nanoseconds between two attempts

// Opens the folder and locks it; -1 with errno set, also when the work is cancelled meanwhile. Opens without
// a lock where the file system has none.
static int lock_folder( const char *path )
{
    while ( tr_work_wanted() ) {
        struct stat held, named;
        int handle = open( path, O_RDONLY | O_DIRECTORY | O_CLOEXEC );
        if ( handle < 0 )
            return -1;
        while ( flock( handle, LOCK_EX | LOCK_NB ) != 0 && ( errno == EINTR || errno == EWOULDBLOCK ) &&
                tr_work_wanted() )
            nanosleep( &( struct timespec ){ .tv_nsec = LOCK_WAIT }, NULL );
        // another folder may have been renamed to this path meanwhile
        if ( fstat( handle, &held ) == 0 && stat( path, &named ) == 0 && held.st_ino == named.st_ino &&
             held.st_dev == named.st_dev && tr_work_wanted() )
            return handle;
        close( handle );
    }
    errno = ECANCELED;
    return -1;
}

// --------------------------------------------------------------------------------------------------- moving

// The files of one folder to another.
static bool move_files( int from, int to )
{
    DIR *dir = tr_folder_list( from, "." );
    bool ok = dir != NULL;
    for ( struct dirent *entry; ok && ( entry = tr_folder_next( dir ) ) != NULL; )
        ok = tr_file_step() && renameat( from, entry->d_name, to, entry->d_name ) == 0;
    ok = ok && errno == 0; // the list was read to its end
    int reason = errno;
    if ( dir != NULL )
        closedir( dir );
    errno = reason;
    return ok && tr_folder_sync( to );
}

// Moves a folder of the draft: as a whole if the target does not exist, else file by file. Replaces a link of
// its name.
static bool move_folder( int from, int to, const char *name )
{
    if ( !is_folder( to, name ) ) {
        if ( tr_file_step() && unlinkat( to, name, 0 ) != 0 && errno != ENOENT )
            return false;
        return tr_file_step() && renameat( from, name, to, name ) == 0;
    }
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int source = openat( from, name, flags ), target = openat( to, name, flags );
    bool ok = source >= 0 && target >= 0 && move_files( source, target );
    int reason = errno;
    if ( source >= 0 )
        close( source );
    if ( target >= 0 )
        close( target );
    errno = reason;
    return ok && tr_file_step() && unlinkat( from, name, AT_REMOVEDIR ) == 0;
}

static bool move_folders( int from, int to )
{
    bool ok = true, moved = true;
    while ( ok && moved ) { // list again after each move, which changes the folder
        DIR *dir = tr_folder_list( from, "." );
        ok = dir != NULL;
        moved = false;
        for ( struct dirent *entry; ok && !moved && ( entry = tr_folder_next( dir ) ) != NULL; )
            if ( is_folder( from, entry->d_name ) ) {
                ok = move_folder( from, to, entry->d_name );
                moved = true;
            }
        ok = ok && ( moved || errno == 0 );
        int reason = errno;
        if ( dir != NULL )
            closedir( dir );
        errno = reason;
    }
    return ok;
}

// Removes one file of a folder, and the file's own folder if it is then empty.
static bool remove_obsolete( int folder, char *name )
{
    char *slash = strchr( name, '/' );
    if ( !is_name( name ) )
        return true;
    if ( slash == NULL )
        return ( tr_file_step() && unlinkat( folder, name, 0 ) == 0 ) || errno == ENOENT;
    *slash = 0;
    int sub = openat( folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC );
    bool ok = sub < 0 || ( tr_file_step() && unlinkat( sub, slash + 1, 0 ) == 0 ) || errno == ENOENT;
    int reason = errno;
    if ( sub >= 0 )
        close( sub );
    if ( ok && tr_file_step() )
        unlinkat( folder, name, AT_REMOVEDIR );
    *slash = '/';
    errno = reason;
    return ok;
}

static bool remove_all_obsolete( int folder, int draft )
{
    int file = openat( draft, gone_list, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC );
    if ( file < 0 )
        return true; // it was done before
    FILE *list = fdopen( file, "r" );
    if ( list == NULL ) {
        close( file );
        return false;
    }
    bool ok = true;
    char line[2 * NAME_MAX + 4];
    while ( ok && fgets( line, sizeof line, list ) != NULL ) {
        line[strcspn( line, "\n" )] = 0;
        ok = remove_obsolete( folder, line );
    }
    int reason = errno;
    fclose( list );
    errno = reason;
    return ok && tr_file_step() && unlinkat( draft, gone_list, 0 ) == 0;
}

// Continues the moves of a complete draft. Obsolete files and their list are removed first, so that no moved
// file is mistaken for one of them.
static bool finish_moves( int folder )
{
    int draft = openat( folder, pending, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC );
    if ( draft < 0 )
        return errno == ENOENT;
    bool ok =
        remove_all_obsolete( folder, draft ) && move_folders( draft, folder ) && move_files( draft, folder );
    int reason = errno;
    close( draft );
    errno = reason;
    return ok && tr_file_step() && unlinkat( folder, pending, AT_REMOVEDIR ) == 0;
}

static bool fail_unfinished( const char *path, tr_error *error )
{
    return tr_file_fail(
        error, path,
        "new files for this folder are in its .troupe-results and could not be moved to their "
        "places" );
}

bool tr_folder_recover( const char *path, tr_error *error )
{
    struct stat info;
    char *name = tr_string_format( "%s/%s", path, pending );
    if ( name == NULL )
        return tr_error_memory( error );
    bool there = lstat( name, &info ) == 0;
    tr_free( name );
    if ( !there )
        return true;
    int folder = lock_folder( path );
    bool ok = folder >= 0 && finish_moves( folder );
    if ( !ok )
        fail_unfinished( path, error );
    if ( folder >= 0 )
        close( folder );
    return ok;
}

// ------------------------------------------------------------------------------------------------- swapping

static bool is_own( void *context, int folder, const char *leaf, const char *name )
{
    (void)folder, (void)leaf;
    return has( context, name );
}

static bool is_working_folder( const char *target )
{
    char here[PATH_MAX];
    size_t length = strlen( target );
    return getcwd( here, sizeof here ) == NULL ||
           ( strncmp( here, target, length ) == 0 && ( here[length] == 0 || here[length] == '/' ) );
}

static bool is_mount_point( int folder )
{
    struct stat here, above;
    struct statx inner = { 0 }, outer = { 0 };
    if ( fstat( folder, &here ) != 0 || fstatat( folder, "..", &above, 0 ) != 0 ||
         here.st_dev != above.st_dev )
        return true;
    return statx( folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &inner ) == 0 &&
           statx( folder, "..", 0, STATX_MNT_ID, &outer ) == 0 &&
           ( inner.stx_mask & outer.stx_mask & STATX_MNT_ID ) != 0 && inner.stx_mnt_id != outer.stx_mnt_id;
}

// The new folder has the owner, the group and the kinds of extended attributes (access lists) of the old one.
static bool is_alike( int folder, int draft )
{
    struct stat old, made;
    return fstat( folder, &old ) == 0 && fstat( draft, &made ) == 0 && old.st_uid == made.st_uid &&
           old.st_gid == made.st_gid && flistxattr( folder, NULL, 0 ) == flistxattr( draft, NULL, 0 );
}

static bool can_swap( int folder, const char *target, const tr_names *own )
{
    return !is_mount_point( folder ) && !is_working_folder( target ) &&
           visit_files( folder, is_own, (void *)own );
}

// -------------------------------------------------------------------------------------------------- opening

static void draft_free( tr_folder_draft *draft )
{
    if ( draft->handle >= 0 )
        close( draft->handle );
    tr_free( draft->path );
    tr_free( draft->target );
    tr_free( draft->name );
    tr_free( draft->parent );
    *draft = ( tr_folder_draft ){ .handle = -1 };
}

// Path of the folder, which need not exist yet, without links.
static bool find_target( tr_folder_draft *draft, tr_error *error )
{
    char found[PATH_MAX];
    struct stat info;
    char *path = draft->path;
    for ( size_t end = strlen( path ); end > 1 && path[end - 1] == '/'; --end )
        path[end - 1] = 0;
    draft->exists = stat( path, &info ) == 0;
    if ( draft->exists && !S_ISDIR( info.st_mode ) )
        return tr_error_at( error, path, 0, 0, "is a file; a folder is needed here" );
    if ( draft->exists ) {
        if ( access( path, W_OK ) != 0 || realpath( path, found ) == NULL )
            return tr_file_fail( error, path, "cannot write" );
        draft->target = tr_string_copy( found );
        return draft->target != NULL || tr_error_memory( error );
    }
    if ( errno != ENOENT )
        return tr_file_fail( error, path, "cannot make this folder" );
    if ( lstat( path, &info ) == 0 )
        return tr_error_at( error, path, 0, 0, "is a link to something that is not there" );
    char *parent = tr_path_beside( path, "." ), *slash = strrchr( path, '/' );
    bool ok = parent != NULL ? tr_folder_make( parent, error ) : tr_error_memory( error );
    if ( ok && realpath( parent, found ) == NULL )
        ok = tr_file_fail( error, path, "cannot make this folder" );
    if ( ok ) {
        draft->target = tr_string_format( "%s/%s", strcmp( found, "/" ) == 0 ? "" : found,
                                          slash != NULL ? slash + 1 : path );
        ok = draft->target != NULL || tr_error_memory( error );
    }
    tr_free( parent );
    return ok;
}

// A new, locked folder in the folder `parent`.
static bool make_draft( tr_folder_draft *draft, const char *parent, mode_t mode )
{
    for ( int attempt = 0; attempt < TR_DRAFT_ATTEMPTS; ++attempt ) {
        tr_draft_leaf( draft->leaf, attempt );
        char *name = tr_string_format( "%s/%s", parent, draft->leaf );
        if ( name == NULL ) {
            errno = ENOMEM;
            return false;
        }
        int handle = -1;
        if ( tr_file_step() && mkdir( name, mode ) == 0 ) {
            handle = open( name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC );
            if ( handle >= 0 && tr_draft_lock( handle ) ) {
                draft->name = name;
                draft->handle = handle;
                return true;
            }
            errno = EEXIST; // swept before it was locked
        }
        int reason = errno;
        if ( handle >= 0 )
            close( handle );
        tr_free( name );
        errno = reason;
        if ( reason != EEXIST )
            return false;
    }
    return false;
}

static bool make_beside( tr_folder_draft *draft, mode_t mode )
{
    const char *slash = strrchr( draft->target, '/' );
    draft->parent =
        tr_string_format( "%.*s", slash > draft->target ? (int)( slash - draft->target ) : 1, draft->target );
    if ( draft->parent == NULL ) {
        errno = ENOMEM;
        return false;
    }
    int handle = open( draft->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC );
    if ( handle >= 0 ) {
        tr_draft_sweep( handle );
        close( handle );
    }
    return make_draft( draft, draft->parent, mode );
}

static bool make_inside( tr_folder_draft *draft )
{
    draft->inside = true;
    tr_free( draft->parent );
    draft->parent = tr_string_copy( draft->target );
    if ( draft->parent != NULL )
        return make_draft( draft, draft->target, 0777 );
    errno = ENOMEM;
    return false;
}

// A draft beside the folder, if a swap looks possible. Its permissions are those of the folder.
static bool try_beside( tr_folder_draft *draft, int folder )
{
    tr_names own = { 0 };
    struct stat old;
    bool ok = draft->owned != NULL && draft->owned( draft->target, &own );
    sort( &own );
    ok = ok && can_swap( folder, draft->target, &own ) && fstat( folder, &old ) == 0 &&
         make_beside( draft, old.st_mode & 0777 );
    tr_names_free( &own );
    if ( ok && !is_alike( folder, draft->handle ) ) {
        rmdir( draft->name );
        close( draft->handle );
        tr_free( draft->name );
        draft->name = NULL;
        draft->handle = -1;
        ok = false;
    }
    return ok;
}

bool tr_folder_draft_open( tr_folder_draft *out, const char *path, tr_folder_owned *owned, bool inside,
                           tr_error *error )
{
    *out = ( tr_folder_draft ){ .handle = -1, .owned = owned };
    out->path = tr_string_copy( path );
    bool ok = out->path != NULL ? find_target( out, error ) : tr_error_memory( error );
    if ( ok && !out->exists )
        ok = make_beside( out, 0777 ) || tr_file_fail( error, path, "cannot make this folder" );
    else if ( ok ) {
        int folder = lock_folder( out->target );
        if ( folder < 0 )
            ok = tr_file_fail( error, path, "cannot write" );
        else if ( !finish_moves( folder ) )
            ok = fail_unfinished( path, error );
        else {
            tr_draft_sweep( folder );
            ok = ( !inside && try_beside( out, folder ) ) || make_inside( out ) ||
                 tr_file_fail( error, path, "cannot write" );
        }
        if ( folder >= 0 )
            close( folder );
    }
    if ( !ok )
        draft_free( out );
    return ok;
}

// -------------------------------------------------------------------------------------------------- keeping

typedef struct replaced { // what the draft's files replace
    int folder;
    const tr_folder_draft *draft;
    tr_error *error;
} replaced;

// A file that exists has to be writable; the new file gets its permissions.
static bool check_file( void *context, int draft, const char *leaf, const char *name )
{
    const replaced *r = context;
    struct stat info;
    const char *slash = strchr( name, '/' );
    char sub[NAME_MAX + 1] = "";
    if ( is_folder( draft, leaf ) ) // an empty one
        return true;
    if ( slash != NULL )
        snprintf( sub, sizeof sub, "%.*s", (int)( slash - name ), name );
    char *path = tr_string_format( "%s/%s", r->draft->path, name );
    bool ok = path != NULL || tr_error_memory( r->error );
    if ( ok && sub[0] != 0 && fstatat( r->folder, sub, &info, AT_SYMLINK_NOFOLLOW ) == 0 &&
         !S_ISDIR( info.st_mode ) && !S_ISLNK( info.st_mode ) )
        ok = tr_error_at( r->error, path, 0, 0, "\"%s\" is a file; a folder is needed there", sub );
    else if ( ok && ( sub[0] == 0 || is_folder( r->folder, sub ) ) &&
              fstatat( r->folder, name, &info, AT_SYMLINK_NOFOLLOW ) == 0 && !S_ISLNK( info.st_mode ) ) {
        if ( S_ISDIR( info.st_mode ) )
            ok = tr_error_at( r->error, path, 0, 0, "is a folder; a file name is needed here" );
        else if ( faccessat( r->folder, name, W_OK, 0 ) != 0 ||
                  ( S_ISREG( info.st_mode ) && fchmodat( draft, leaf, info.st_mode & 07777, 0 ) != 0 ) )
            ok = tr_file_fail( r->error, path, "cannot write" );
    }
    tr_free( path );
    return ok;
}

static bool check_files( const tr_folder_draft *draft, int folder, tr_error *error )
{
    replaced r = { folder, draft, error };
    tr_error inner = { 0 };
    r.error = error != NULL ? error : &inner;
    r.error->message[0] = 0;
    return visit_files( draft->handle, check_file, &r ) ||
           ( r.error->message[0] == 0 ? tr_file_fail( error, draft->path, "cannot write" ) : false );
}

static bool sync_parent( const tr_folder_draft *draft, tr_error *error )
{
    int parent = open( draft->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC );
    if ( parent < 0 )
        return true;
    bool ok =
        tr_folder_sync( parent ) ||
        tr_file_fail( error, draft->path,
                      "is written, but the folder it is in could not be brought to the disk, and it may "
                      "be lost when the power fails" );
    close( parent );
    return ok;
}

// Not if another folder has its name by now: after the swap, the old one.
static void remove_draft( const tr_folder_draft *draft )
{
    struct stat held, named;
    int parent = open( draft->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC );
    if ( parent < 0 )
        return;
    if ( fstat( draft->handle, &held ) == 0 &&
         fstatat( parent, draft->leaf, &named, AT_SYMLINK_NOFOLLOW ) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev )
        tr_folder_remove( parent, draft->leaf );
    close( parent );
}

void tr_folder_draft_rename_error( const tr_folder_draft *draft, tr_error *error )
{
    size_t length = strlen( draft->name );
    if ( error == NULL || strncmp( error->file, draft->name, length ) != 0 )
        return;
    char file[sizeof error->file];
    snprintf( file, sizeof file, "%s%s", draft->path, error->file + length );
    memcpy( error->file, file, sizeof file );
}

void tr_folder_draft_discard( tr_folder_draft *draft )
{
    if ( draft->name != NULL )
        remove_draft( draft );
    draft_free( draft );
}

typedef enum outcome { KEPT, FAILED, CANNOT_SWAP, TRY_AGAIN } outcome;

static outcome place_new( const tr_folder_draft *draft, tr_error *error )
{
    if ( tr_file_step() &&
         renameat2( AT_FDCWD, draft->name, AT_FDCWD, draft->target, RENAME_NOREPLACE ) == 0 )
        return sync_parent( draft, error ) ? KEPT : FAILED;
    // rename alone replaces nothing but an empty folder
    if ( ( errno == EINVAL || errno == ENOSYS ) && rename( draft->name, draft->target ) == 0 )
        return sync_parent( draft, error ) ? KEPT : FAILED;
    if ( errno == EEXIST || errno == ENOTEMPTY )
        return TRY_AGAIN;
    tr_file_fail( error, draft->path, "cannot make this folder" );
    return FAILED;
}

// Own files, and empty folders of own files.
static bool is_left( void *context, int folder, const char *leaf, const char *name )
{
    const tr_names *own = context;
    size_t length = strlen( name );
    bool held = false;
    for ( int i = 0; !held && is_folder( folder, leaf ) && i < own->count; ++i )
        held = strncmp( own->items[i], name, length ) == 0 && own->items[i][length] == '/';
    return held || has( own, name );
}

// Renames the old folder to NAME.old-1, or the next free number. Takes no memory.
static void set_aside( const tr_folder_draft *draft, char leaf[NAME_MAX + 1] )
{
    const char *name = strrchr( draft->target, '/' ) + 1;
    int parent = open( draft->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC );
    bool tried = true, moved = false;
    for ( int n = 1; parent >= 0 && tried && !moved && n < TR_DRAFT_ATTEMPTS; ++n ) {
        snprintf( leaf, NAME_MAX + 1, "%.*s.old-%d", NAME_MAX - 8, name, n );
        moved = tr_file_step() && renameat2( parent, draft->leaf, parent, leaf, RENAME_NOREPLACE ) == 0;
        tried = moved || errno == EEXIST;
    }
    if ( !moved )
        snprintf( leaf, NAME_MAX + 1, "%s", draft->leaf );
    if ( parent >= 0 )
        close( parent );
}

// After a swap the old folder has the draft's name. Only its own files are removed, by their names, once the
// swap is on the disk. If other files have appeared in it, they and the folder stay.
static outcome clear_old( const tr_folder_draft *draft, int folder, const tr_names *own, tr_error *error )
{
    char leaf[NAME_MAX + 1] = "";
    if ( !visit_files( folder, is_own, (void *)own ) )
        set_aside( draft, leaf );
    bool synced = sync_parent( draft, error );
    for ( int i = 0; i < own->count; ++i )
        remove_obsolete( folder, own->items[i] );
    // the next sweep removes own files that could not be removed
    if ( leaf[0] == 0 && ( !tr_file_step() || rmdir( draft->name ) != 0 ) &&
         !visit_files( folder, is_left, (void *)own ) )
        set_aside( draft, leaf );
    if ( leaf[0] != 0 && synced )
        tr_error_at(
            error, draft->path, 0, 0,
            "is written; the old folder holds other files by now, or cannot be read, and is kept beside it "
            "as %s",
            leaf );
    return leaf[0] == 0 && synced ? KEPT : FAILED;
}

static outcome swap( const tr_folder_draft *draft, int folder, const tr_names *own, tr_error *error )
{
    struct stat old;
    if ( !can_swap( folder, draft->target, own ) || fstat( folder, &old ) != 0 ||
         fchmod( draft->handle, old.st_mode & 07777 ) != 0 )
        return CANNOT_SWAP;
    if ( !tr_file_step() ) {
        tr_file_fail( error, draft->path, "cannot write" );
        return FAILED;
    }
    if ( renameat2( AT_FDCWD, draft->name, AT_FDCWD, draft->target, RENAME_EXCHANGE ) != 0 )
        return CANNOT_SWAP;
    return clear_old( draft, folder, own, error );
}

static bool list_obsolete( const tr_folder_draft *draft, const tr_names *own, tr_error *error )
{
    tr_text list = { 0 };
    tr_error inner = { 0 };
    struct stat info;
    for ( int i = 0; i < own->count; ++i )
        if ( is_name( own->items[i] ) &&
             fstatat( draft->handle, own->items[i], &info, AT_SYMLINK_NOFOLLOW ) != 0 )
            tr_text_add( &list, "%s\n", own->items[i] );
    char *path = tr_string_format( "%s/%s", draft->name, gone_list );
    bool memory = path == NULL || list.failed;
    bool ok = !memory && ( list.size == 0 || tr_file_write( path, list.data, list.size, &inner ) );
    if ( memory )
        tr_error_memory( error );
    else if ( !ok )
        tr_error_at( error, draft->path, 0, 0, "%s", inner.message );
    tr_free( path );
    tr_text_free( &list );
    return ok;
}

static outcome move_in( const tr_folder_draft *draft, int folder, const tr_names *own, tr_error *error )
{
    if ( !list_obsolete( draft, own, error ) )
        return FAILED;
    if ( !tr_folder_sync( draft->handle ) || !tr_file_step() ||
         renameat( folder, draft->leaf, folder, pending ) != 0 ) {
        tr_file_fail( error, draft->path, "cannot write" );
        return FAILED;
    }
    if ( tr_folder_sync( folder ) && finish_moves( folder ) )
        return KEPT;
    fail_unfinished( draft->path, error );
    return FAILED;
}

// With the folder present and locked.
static outcome replace( const tr_folder_draft *draft, int folder, tr_error *error )
{
    tr_names own = { 0 };
    if ( !finish_moves( folder ) ) {
        fail_unfinished( draft->path, error );
        return FAILED;
    }
    if ( !check_files( draft, folder, error ) )
        return FAILED;
    bool known = draft->owned != NULL && draft->owned( draft->target, &own );
    if ( !known )
        tr_names_free( &own );
    sort( &own );
    outcome end = draft->inside ? move_in( draft, folder, &own, error )
                  : known       ? swap( draft, folder, &own, error )
                                : CANNOT_SWAP;
    tr_names_free( &own );
    return end;
}

static outcome keep_once( const tr_folder_draft *draft, tr_error *error )
{
    int folder = lock_folder( draft->target );
    if ( folder < 0 && errno == ENOENT && !draft->inside )
        return place_new( draft, error );
    if ( folder < 0 ) {
        tr_file_fail( error, draft->path, "cannot write" );
        return FAILED;
    }
    outcome end = replace( draft, folder, error );
    remove_draft( draft );
    close( folder );
    return end;
}

bool tr_folder_draft_keep( tr_folder_draft *draft, bool *cannot_swap, tr_error *error )
{
    outcome end = FAILED;
    if ( !tr_folder_sync( draft->handle ) )
        tr_file_fail( error, draft->path, "cannot write" );
    else {
        end = TRY_AGAIN;
        for ( int attempt = 0; end == TRY_AGAIN && attempt < TR_DRAFT_ATTEMPTS; ++attempt )
            end = keep_once( draft, error );
        if ( end == TRY_AGAIN ) { // a dangling link, say, which can be neither opened nor replaced
            errno = EEXIST;
            tr_file_fail( error, draft->path, "cannot make this folder" );
            end = FAILED;
        }
    }
    if ( end == FAILED )
        remove_draft( draft );
    draft_free( draft );
    *cannot_swap = end == CANNOT_SWAP;
    return end == KEPT;
}
