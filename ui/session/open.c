// Opening a scene, a file or a folder in the background; it then becomes the document.
#include "ui/session/private.h"

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
    tr_worker_cancel( session->worker.worker );
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

static void run_open( void *context, tr_worker *worker )
{
    tr_job *j = context;
    (void)worker;
    j->ok = tr_open( &j->opened, j->what, j->cast, &j->error );
    if ( j->ok )
        tr_opened_skip_front( &j->opened );
}

void tr_session_start_open( tr_session *session )
{
    tr_requests *r = &session->requests;
    session->worker.job =
        ( tr_job ){ .kind = TR_JOB_OPEN, .what = r->open, .cast = r->open_cast, .restores = r->restoring };
    r->open = NULL;
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
    if ( !j->ok || !adopt( session, j ) )
        tr_message_error( &session->message, &j->error );
    if ( j->restores ) // else another request may be waiting for it
        tr_requests_end_restore( &session->requests );
}
