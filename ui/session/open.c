// Opening a scene, a file or a folder in the background; it then becomes the document.
#include "ui/session/private.h"

#include <math.h>

static void set_string( char **out, const char *text )
{
    char *copy = text != NULL ? tr_string_copy( text ) : NULL;
    tr_free( *out );
    *out = copy;
}

void tr_session_open( tr_session *session, const char *what, int cast )
{
    set_string( &session->requests.open, what );
    session->requests.open_cast = cast;
    tr_picks_free( &session->requests.open_picks );
    tr_worker_cancel( session->worker.worker );
}

void tr_session_open_picks( tr_session *session, const tr_picks *picks )
{
    bool ok = true;
    tr_session_open( session, picks->items[0].path, 0 );
    for ( int i = 0; ok && i < picks->count; ++i )
        ok = tr_picks_add( &session->requests.open_picks, &picks->items[i] );
}

void tr_session_restore( tr_session *session, const char *what, int cast, const char *file, tr_scene *scene )
{
    tr_requests *r = &session->requests;
    tr_scene_free( &r->restore );
    r->restore = *scene;
    *scene = ( tr_scene ){ 0 };
    r->restoring = true;
    set_string( &r->restore_file, file );
    tr_session_open( session, what, cast );
}

bool tr_open_pick( tr_opened *out, const char *path, const tr_pick *pick, tr_error *error )
{
    tr_import_def def = { .skeleton = pick->skeleton, .take = pick->take };
    return tr_open_motion( out, path, &def, !pick->one, error );
}

// Somebody else of the same file comes onto the same stage.
static bool add_opened( tr_opened *opened, tr_opened *more, tr_error *error )
{
    const tr_cast *cast = &more->scene.cast[0];
    double frames = more->scene.last * opened->scene.fps / more->scene.fps;
    opened->scene.last = tr_int_clamped( fmax( opened->scene.last, frames ), 0, 1 << 30 );
    opened->lone = false;
    return tr_library_add_file( &opened->library, &cast->source, &more->library.items[0].motion, error ) &&
           ( tr_scene_add_cast( &opened->scene, cast ) != NULL || tr_error_memory( error ) );
}

static bool open_others( tr_job *j )
{
    bool ok = true;
    for ( int i = 0; ok && i < j->others.count; ++i ) {
        tr_opened more;
        ok = tr_open_pick( &more, j->what, &j->others.items[i], &j->error ) &&
             add_opened( &j->opened, &more, &j->error );
        tr_opened_free( &more );
    }
    return ok;
}

static bool open_job( tr_job *j )
{
    if ( !j->pick.chosen )
        return tr_open( &j->opened, j->what, j->cast, &j->error );
    return tr_open_pick( &j->opened, j->what, &j->pick, &j->error ) && open_others( j );
}

static void run_open( void *context, tr_worker *worker )
{
    tr_job *j = context;
    (void)worker;
    bool asks = !j->pick.chosen && !j->restores && tr_scene_entry_find( j->what ) == NULL;
    j->ok = ( !asks || tr_choice_find( &j->choice, j->what, true, &j->error ) ) &&
            ( j->choice.path != NULL || open_job( j ) );
    if ( j->ok && j->choice.path == NULL )
        tr_opened_skip_front( &j->opened );
}

void tr_session_start_open( tr_session *session )
{
    tr_requests *r = &session->requests;
    session->worker.job =
        ( tr_job ){ .kind = TR_JOB_OPEN, .what = r->open, .cast = r->open_cast, .restores = r->restoring };
    r->open = NULL;
    if ( r->open_picks.count > 0 )
        session->worker.job.pick = tr_picks_take( &r->open_picks );
    session->worker.job.others = r->open_picks;
    r->open_picks = ( tr_picks ){ 0 };
    tr_runner_start( &session->worker, run_open );
}

// What was opened becomes the document. A folder of results stands for its scene.
static bool adopt( tr_session *session, tr_job *j )
{
    tr_opened *o = &j->opened;
    tr_open_document *open = &session->open;
    const tr_scene *scene = j->restores ? &session->requests.restore : &o->scene;
    tr_document *document = tr_document_create( scene, &j->error );
    char *file = j->restores ? session->requests.restore_file : o->file;
    char *copy = file != NULL ? tr_string_copy( file ) : NULL;
    if ( document == NULL || ( file != NULL && copy == NULL ) ) {
        tr_document_destroy( document );
        tr_free( copy );
        return tr_error_memory( &j->error );
    }
    tr_session_close( session );
    open->document = document;
    open->library = o->library;
    o->library = ( tr_library ){ 0 };
    open->base = o->file;
    o->file = NULL;
    open->file = copy;
    open->what = j->what;
    open->cast = j->cast;
    j->what = NULL;
    open->lone = o->lone;
    open->saved = j->restores ? -1 : 0;
    open->warnings = o->warnings;
    o->warnings = ( tr_log ){ 0 };
    ++open->revision;
    ++open->opened;
    session->solving.wanted = true;
    session->solving.stale = false;
    return true;
}

void tr_session_finish_open( tr_session *session, tr_job *j )
{
    if ( j->ok && j->choice.path != NULL )
        tr_session_ask( session, &j->choice );
    else if ( !j->ok || !adopt( session, j ) )
        tr_message_error( &session->message, &j->error );
    if ( j->restores ) // else another request may be waiting for it
        tr_requests_end_restore( &session->requests );
}
