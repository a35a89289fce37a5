// Requests that wait for a worker: what is to be opened, to join the cast, to be tried, to be written.
#include "ui/session/private.h"

#include "exchange/exchange.h"

#include <string.h>
#include <sys/stat.h>

bool tr_requests_any( const tr_requests *r )
{
    return r->open != NULL || r->joins.count > 0 || r->trial_count > 0 || r->exports.count > 0 ||
           r->picture_count > 0;
}

bool tr_requests_add_trial( tr_requests *r, char *const *text, int count )
{
    tr_lines lines = { 0 };
    bool ok = tr_lines_copy( &lines, text, count ) &&
              tr_array_reserve( (void **)&r->trials, &r->trial_capacity, r->trial_count + 1, sizeof lines );
    if ( ok )
        r->trials[r->trial_count++] = lines;
    else
        tr_lines_free( &lines );
    return ok;
}

tr_lines tr_requests_take_trial( tr_requests *r )
{
    tr_lines first = r->trials[0];
    memmove( r->trials, r->trials + 1, (size_t)--r->trial_count * sizeof first );
    return first;
}

bool tr_requests_add_picture( tr_requests *r, const tr_picture_job *picture )
{
    tr_picture_job copy = *picture;
    copy.path = tr_string_copy( picture->path );
    bool ok = copy.path != NULL && tr_array_reserve( (void **)&r->pictures, &r->picture_capacity,
                                                     r->picture_count + 1, sizeof copy );
    if ( ok )
        r->pictures[r->picture_count++] = copy;
    else
        tr_free( copy.path );
    return ok;
}

tr_picture_job tr_requests_take_picture( tr_requests *r )
{
    tr_picture_job first = r->pictures[0];
    memmove( r->pictures, r->pictures + 1, (size_t)--r->picture_count * sizeof first );
    return first;
}

int tr_requests_take_thumb( tr_requests *r )
{
    int count;
    tr_scene_table( &count );
    for ( int i = 0; i < count && i < TR_MAX_THUMBS; ++i ) {
        if ( !r->thumbs[i] )
            continue;
        r->thumbs[i] = false;
        return i;
    }
    return -1;
}

void tr_requests_end_restore( tr_requests *r )
{
    tr_scene_free( &r->restore );
    tr_free( r->restore_file );
    r->restore_file = NULL;
    r->restoring = false;
}

bool tr_requests_clear( tr_requests *r )
{
    bool files = r->exports.count > 0 || r->picture_count > 0;
    for ( int i = 0; i < r->picture_count; ++i )
        tr_free( r->pictures[i].path );
    for ( int i = 0; i < r->trial_count; ++i )
        tr_lines_free( &r->trials[i] );
    r->picture_count = r->trial_count = 0;
    tr_lines_free( &r->exports );
    tr_picks_free( &r->joins );
    return files;
}

void tr_requests_free( tr_requests *r )
{
    tr_requests_clear( r );
    tr_requests_end_restore( r );
    tr_free( r->pictures );
    tr_free( r->trials );
    tr_free( r->open );
    tr_picks_free( &r->open_picks );
}

static bool is_file( const char *base, const char *file, const struct stat *status )
{
    struct stat other;
    char *path = base != NULL ? tr_path_beside( base, file ) : tr_string_copy( file );
    bool same = path != NULL && file[0] != 0 && stat( path, &other ) == 0 && other.st_dev == status->st_dev &&
                other.st_ino == status->st_ino;
    tr_free( path );
    return same;
}

// The document is read from this file.
static bool is_source( tr_open_document *open, const char *path )
{
    struct stat status;
    if ( open->document == NULL || stat( path, &status ) != 0 )
        return false;
    const tr_scene *scene = tr_document_scene( open->document );
    bool found = open->what != NULL && is_file( NULL, open->what, &status );
    for ( int i = 0; i < scene->cast_count && !found; ++i )
        found = is_file( open->base, tr_cast_meshes( &scene->cast[i] )->file, &status );
    pthread_mutex_lock( &open->library_lock );
    for ( int i = 0; i < open->library.count && !found; ++i )
        found =
            open->library.items[i].from_file && is_file( open->base, open->library.items[i].path, &status );
    pthread_mutex_unlock( &open->library_lock );
    return found;
}

void tr_session_export( tr_session *session, const char *path )
{
    tr_exchange_format format;
    if ( tr_exchange_format_of( path, &format ) && is_source( &session->open, path ) )
        tr_message_say( &session->message, true,
                        "%s is a file that the scene is read from; choose another name", path );
    else
        tr_lines_add( &session->requests.exports, path );
}

void tr_session_draw( tr_session *session, const tr_picture_job *picture )
{
    tr_requests_add_picture( &session->requests, picture );
}

const tr_thumb *tr_session_thumb( tr_session *session, int entry )
{
    if ( entry < 0 || entry >= TR_MAX_THUMBS )
        return NULL;
    session->requests.thumbs[entry] |= session->thumbs[entry].rgb == NULL && !session->thumbs[entry].failed;
    return &session->thumbs[entry];
}
