// The open document: its changes, drafts of changes, and where it is saved.
#include "ui/session/private.h"

#include <string.h>

bool tr_open_document_draft( const tr_open_document *open, char *const *text, int count, tr_scene *out,
                             tr_error *error )
{
    const tr_scene *scene = tr_document_scene( open->document );
    if ( count == 0 )
        return tr_scene_copy( out, scene, error );
    tr_document *draft = tr_document_create( scene, error );
    bool ok = draft != NULL;
    for ( int i = 0; ok && i < count; ++i )
        ok = tr_document_apply( draft, text[i], error );
    ok = ok && tr_scene_copy( out, tr_document_scene( draft ), error );
    tr_document_destroy( draft );
    return ok;
}

tr_stage_files tr_open_document_files( tr_open_document *open )
{
    return ( tr_stage_files ){ .base = open->base, .library = &open->library, .lock = &open->library_lock };
}

void tr_open_document_close( tr_open_document *open )
{
    tr_document_destroy( open->document );
    open->document = NULL;
    tr_library_free( &open->library );
    tr_free( open->base );
    tr_free( open->file );
    tr_free( open->what );
    open->base = open->file = open->what = NULL;
    tr_log_free( &open->warnings );
}

const tr_document *tr_session_document( const tr_session *session )
{
    return session->open.document;
}

const tr_scene *tr_session_scene( const tr_session *session )
{
    const tr_open_document *open = &session->open;
    return open->document != NULL ? tr_document_scene( open->document ) : &open->empty;
}

unsigned tr_session_revision( const tr_session *session )
{
    return session->open.revision;
}

unsigned tr_session_opened( const tr_session *session )
{
    return session->open.opened;
}

// ---------------------------------------------------------------------------------------------- changes

static void changed( tr_session *session )
{
    ++session->open.revision;
    session->solving.changed_ms = tr_clock_ms();
    session->solving.wanted = true;
    tr_lines_free( &session->solving.preview );
}

bool tr_session_apply( tr_session *session, char *const *text, int count, tr_error *error )
{
    tr_open_document *open = &session->open;
    if ( open->document == NULL )
        return tr_error_set( error, "nothing is open" );
    tr_scene draft = { 0 }; // a failure half way would have dropped the ops that can be redone
    bool ok = count == 1 || tr_open_document_draft( open, text, count, &draft, error );
    tr_scene_free( &draft );
    bool behind = tr_document_log_count( open->document ) < open->saved;
    for ( int i = 0; ok && i < count; ++i )
        ok = tr_document_apply( open->document, text[i], error );
    if ( !ok )
        return false;
    if ( behind ) // the saved state was ahead, and can be redone no more
        open->saved = -1;
    tr_document_join( open->document, count );
    changed( session );
    return true;
}

bool tr_session_undo( tr_session *session )
{
    bool ok = session->open.document != NULL && tr_document_undo( session->open.document );
    if ( ok )
        changed( session );
    return ok;
}

bool tr_session_redo( tr_session *session )
{
    bool ok = session->open.document != NULL && tr_document_redo( session->open.document );
    if ( ok )
        changed( session );
    return ok;
}

// ------------------------------------------------------------------------------------------------ files

bool tr_session_save( tr_session *session, const char *path, tr_error *error )
{
    tr_open_document *open = &session->open;
    if ( open->document == NULL )
        return tr_error_set( error, "nothing is open that could be saved" );
    char *target = tr_string_copy( path != NULL ? path : open->file );
    if ( target == NULL )
        return tr_error_memory( error );
    pthread_mutex_lock( &open->library_lock );
    bool ok = tr_scene_save_beside( tr_document_scene( open->document ), &open->library, open->base, target,
                                    error );
    pthread_mutex_unlock( &open->library_lock );
    if ( !ok ) {
        tr_free( target );
        return false;
    }
    tr_free( open->file );
    open->file = target;
    open->saved = tr_document_log_count( open->document );
    tr_message_say( &session->message, false, "Saved %s", target );
    return true;
}

const char *tr_session_file( const tr_session *session )
{
    return session->open.file;
}

const char *tr_session_what( const tr_session *session )
{
    return session->open.what;
}

int tr_session_cast( const tr_session *session )
{
    return session->open.cast;
}

const char *tr_session_name( const tr_session *session )
{
    const char *path = session->open.file != NULL ? session->open.file : session->open.what;
    const char *slash = path != NULL ? strrchr( path, '/' ) : NULL;
    return path == NULL ? "" : slash != NULL ? slash + 1 : path;
}

bool tr_session_unsaved( const tr_session *session )
{
    const tr_open_document *open = &session->open;
    return open->document != NULL && open->saved != tr_document_log_count( open->document );
}
