// The document: changes, drafts of changes, drags, files.
#include "ui/session_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ----------------------------------------------------------------------------------------------- drafts

void tr_lines_free( tr_lines *l )
{
    for ( int i = 0; i < l->count; ++i )
        tr_free( l->items[i] );
    tr_free( l->items );
    *l = ( tr_lines ){ 0 };
}

bool tr_lines_copy( tr_lines *out, char *const *text, int count )
{
    tr_lines_free( out );
    out->items = count > 0 ? tr_alloc( (size_t)count, sizeof( char * ) ) : NULL;
    for ( int i = 0; out->items != NULL && i < count; ++i ) {
        char *copy = tr_string_copy( text[i] );
        if ( copy != NULL )
            out->items[out->count++] = copy;
    }
    return out->count == count;
}

bool tr_lines_add( tr_lines *l, const char *text )
{
    char **items = tr_alloc( (size_t)l->count + 1, sizeof *items ), *copy = tr_string_copy( text );
    if ( items == NULL || copy == NULL ) {
        tr_free( items );
        tr_free( copy );
        return false;
    }
    for ( int i = 0; i < l->count; ++i )
        items[i] = l->items[i];
    items[l->count++] = copy;
    tr_free( l->items );
    l->items = items;
    return true;
}

char *tr_lines_take( tr_lines *l )
{
    char *first = l->items[0];
    memmove( l->items, l->items + 1, (size_t)--l->count * sizeof *l->items );
    return first;
}

bool tr_session_draft( const tr_session *session, char *const *text, int count, tr_scene *out,
                       tr_error *error )
{
    const tr_scene *scene = tr_document_scene( session->document );
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

// ------------------------------------------------------------------------------------------------- life

void tr_session_forget_live( tr_session *session )
{
    tr_live_destroy( session->live );
    tr_live_destroy( session->next_live );
    tr_live_destroy( session->last_live );
    session->live = session->next_live = session->last_live = NULL;
}

// What was to be written of a scene that is no longer open.
static void forget_files( tr_session *session )
{
    for ( int i = 0; i < session->picture_count; ++i )
        tr_free( session->pictures[i].path );
    if ( session->exports.count > 0 || session->picture_count > 0 )
        tr_session_say( session, true, "Another scene is open: what was to be exported of %s is not written",
                        tr_session_name( session ) );
    session->picture_count = 0;
    tr_lines_free( &session->exports );
}

void tr_session_forget( tr_session *session )
{
    forget_files( session );
    tr_session_forget_live( session );
    tr_session_show( session, NULL );
    tr_session_stop_figures( session );
    tr_session_forget_figures( session );
    session->want_figures = false;
    tr_outcome_release( session->below );
    session->below = NULL;
    tr_document_destroy( session->document );
    session->document = NULL;
    tr_library_free( &session->library );
    tr_free( session->base );
    tr_free( session->file );
    tr_free( session->what );
    session->base = session->file = session->what = NULL;
    tr_lines_free( &session->preview );
    tr_log_free( &session->warnings );
    tr_log_free( &session->told );
    tr_lines_free( &session->joins );
    tr_session_forget_trials( session );
    session->failure[0] = 0;
}

// --------------------------------------------------------------------------------------------- document

const tr_document *tr_session_document( const tr_session *session )
{
    return session->document;
}

const tr_scene *tr_session_scene( const tr_session *session )
{
    return session->document != NULL ? tr_document_scene( session->document ) : &session->empty;
}

unsigned tr_session_revision( const tr_session *session )
{
    return session->revision;
}

unsigned tr_session_opened( const tr_session *session )
{
    return session->opened;
}

static void changed( tr_session *session )
{
    ++session->revision;
    session->changed_ms = tr_clock_ms();
    session->want_solve = true;
    tr_lines_free( &session->preview );
}

bool tr_session_apply( tr_session *session, char *const *text, int count, tr_error *error )
{
    if ( session->document == NULL )
        return tr_error_set( error, "nothing is open" );
    tr_scene draft = { 0 }; // what fails half way would have forgotten what could be redone
    bool ok = count == 1 || tr_session_draft( session, text, count, &draft, error );
    tr_scene_free( &draft );
    bool behind = tr_document_log_count( session->document ) < session->saved;
    for ( int i = 0; ok && i < count; ++i )
        ok = tr_document_apply( session->document, text[i], error );
    if ( !ok )
        return false;
    if ( behind ) // what was saved can be redone no more
        session->saved = -1;
    tr_document_join( session->document, count );
    changed( session );
    return true;
}

bool tr_session_undo( tr_session *session )
{
    bool ok = session->document != NULL && tr_document_undo( session->document );
    if ( ok )
        changed( session );
    return ok;
}

bool tr_session_redo( tr_session *session )
{
    bool ok = session->document != NULL && tr_document_redo( session->document );
    if ( ok )
        changed( session );
    return ok;
}

static bool same_lines( const tr_lines *l, char *const *text, int count )
{
    if ( l->count != count )
        return false;
    for ( int i = 0; i < count; ++i )
        if ( strcmp( l->items[i], text[i] ) != 0 )
            return false;
    return true;
}

void tr_session_preview( tr_session *session, char *const *text, int count )
{
    if ( session->document == NULL || same_lines( &session->preview, text, count ) )
        return;
    tr_lines_copy( &session->preview, text, count );
    session->want_solve = true;
}

// ------------------------------------------------------------------------------------------------- drag

bool tr_session_dragging( const tr_session *session )
{
    return session->next_live != NULL || session->job.kind == TR_JOB_DRAG;
}

static uint64_t base_of( char *const *text, int count )
{
    uint64_t key = TR_HASH_START;
    for ( int i = 0; i + 1 < count; ++i )
        key = tr_hash_bytes( key, text[i], strlen( text[i] ) );
    return key;
}

void tr_session_drag( tr_session *session, char *const *text, int count, const char *layer,
                      const char *handle )
{
    tr_error error = { 0 };
    const tr_outcome *take = session->take;
    bool ready = session->document != NULL && take != NULL && tr_session_solution( session ) != NULL;
    if ( tr_session_dragging( session ) && base_of( text, count ) != session->drag_base )
        tr_session_drag_end( session, true );
    if ( !ready || tr_session_dragging( session ) || base_of( text, count ) == session->drag_failed )
        return;
    session->drag_base = base_of( text, count );
    tr_live_def def = { .base = session->base,
                        .library = &session->library,
                        .library_lock = &session->library_lock,
                        .method = tr_session_method( session ),
                        .root = tr_outcome_root( session->take ),
                        .layer = layer,
                        .handle = handle };
    bool fresh = tr_scene_find_layer( tr_document_scene( session->document ), layer ) < 0;
    if ( fresh && take->revision == session->revision ) // on top of all: what is there is what it acts on
        def.below = session->take;
    if ( !tr_session_draft( session, text, count, &def.scene, &error ) ) {
        tr_outcome_release( def.root );
        tr_session_say_error( session, &error );
        return;
    }
    session->let_go = session->keep_live = false;
    session->waits.moves = 0;
    session->next_live = tr_live_create( &def, &error );
    if ( session->next_live == NULL )
        tr_session_say_error( session, &error );
}

static unsigned base_of_hold( const tr_live_hold *hold )
{
    char text[TR_ID_MAX + TR_JOINT_MAX + 64];
    char *const lines[] = { text, text };
    snprintf( text, sizeof text, "%s.%s %d %d %g %s", hold->who, hold->joint, hold->frame,
              hold->document_frame, hold->ease, hold->id );
    return base_of( lines, 2 );
}

void tr_session_hold( tr_session *session, const tr_live_hold *hold, vec3 place, double asked_ms )
{
    tr_error error = { 0 };
    unsigned base = base_of_hold( hold );
    bool other = session->open_what != NULL || session->want_solve;
    if ( tr_session_dragging( session ) ) {
        if ( other || base != session->drag_base )
            tr_session_drag_end( session, true );
        else
            tr_session_drag_move( session, place, v3_zero, hold->frame, asked_ms );
        return;
    }
    if ( other || session->job.kind != TR_JOB_NONE || tr_session_solution( session ) == NULL ||
         !tr_session_current( session ) || base == session->drag_failed )
        return;
    tr_live_def def = { .method = tr_session_method( session ), .below = session->take, .hold = *hold };
    session->drag_base = base;
    session->let_go = session->keep_live = false;
    session->waits.moves = 0;
    session->next_live = tr_live_create( &def, &error );
    if ( session->next_live == NULL )
        tr_session_say_error( session, &error );
    else
        tr_live_move( session->next_live, place, v3_zero, hold->frame, asked_ms );
}

const char *tr_session_held( const tr_session *session )
{
    bool held = session->live != NULL && session->next_live == NULL && !session->let_go;
    return held ? tr_live_ops( session->live ) : NULL;
}

void tr_session_drag_move( tr_session *session, vec3 move, vec3 turn, int frame, double asked_ms )
{
    tr_live *live = session->next_live != NULL ? session->next_live : session->live;
    if ( live != NULL )
        tr_live_move( live, move, turn, frame, asked_ms );
}

void tr_session_drag_end( tr_session *session, bool keep )
{
    session->drag_failed = 0;
    bool solving = session->want_solve || session->job.kind == TR_JOB_SOLVE;
    if ( !tr_session_dragging( session ) && !keep && !solving ) // what was kept while other work was done
        tr_session_forget_live( session );
    if ( !tr_session_dragging( session ) || session->let_go )
        return;
    session->let_go = true;
    session->keep_live = keep;
    if ( session->job.kind == TR_JOB_DRAG )
        tr_live_stop( session->live );
    tr_live_destroy( session->next_live ); // it had not even begun
    session->next_live = NULL;
}

static int by_size( const void *a, const void *b )
{
    double x = *(const double *)a, y = *(const double *)b;
    return ( x > y ) - ( x < y );
}

void tr_session_note_waits( tr_session *session )
{
    tr_waits *w = &session->waits;
    double sorted[TR_MAX_WAITS];
    if ( session->live == NULL || !tr_live_latency( session->live, &w->last ) )
        return;
    session->waited[w->moves++ % TR_MAX_WAITS] = w->last;
    int count = w->moves < TR_MAX_WAITS ? w->moves : TR_MAX_WAITS;
    memcpy( sorted, session->waited, (size_t)count * sizeof *sorted );
    qsort( sorted, (size_t)count, sizeof *sorted, by_size );
    w->p95 = sorted[( 95 * count + 99 ) / 100 - 1];
}

tr_waits tr_session_waits( const tr_session *session )
{
    return session->waits;
}

// ------------------------------------------------------------------------------------------------ files

static bool set_string( char **out, const char *text )
{
    char *copy = text != NULL ? tr_string_copy( text ) : NULL;
    tr_free( *out );
    *out = copy;
    return copy != NULL;
}

void tr_session_open( tr_session *session, const char *what, int cast )
{
    set_string( &session->open_what, what );
    session->open_cast = cast;
    tr_worker_cancel( session->worker );
}

void tr_session_restore( tr_session *session, const char *what, int cast, const char *file, tr_scene *scene )
{
    tr_scene_free( &session->restore );
    session->restore = *scene;
    *scene = ( tr_scene ){ 0 };
    session->restoring = true;
    set_string( &session->restore_file, file );
    tr_session_open( session, what, cast );
}

bool tr_session_save( tr_session *session, const char *path, tr_error *error )
{
    if ( session->document == NULL )
        return tr_error_set( error, "nothing is open that could be saved" );
    char *target = tr_string_copy( path != NULL ? path : session->file );
    if ( target == NULL )
        return tr_error_memory( error );
    pthread_mutex_lock( &session->library_lock );
    bool ok = tr_scene_save_beside( tr_document_scene( session->document ), &session->library, session->base,
                                    target, error );
    pthread_mutex_unlock( &session->library_lock );
    if ( !ok ) {
        tr_free( target );
        return false;
    }
    tr_free( session->file );
    session->file = target;
    session->saved = tr_document_log_count( session->document );
    tr_session_say( session, false, "Saved %s", target );
    return true;
}

const char *tr_session_file( const tr_session *session )
{
    return session->file;
}

const char *tr_session_what( const tr_session *session )
{
    return session->what;
}

int tr_session_cast( const tr_session *session )
{
    return session->cast;
}

const char *tr_session_name( const tr_session *session )
{
    const char *path = session->file != NULL ? session->file : session->what;
    const char *slash = path != NULL ? strrchr( path, '/' ) : NULL;
    return path == NULL ? "" : slash != NULL ? slash + 1 : path;
}

bool tr_session_unsaved( const tr_session *session )
{
    return session->document != NULL && session->saved != tr_document_log_count( session->document );
}

void tr_session_export( tr_session *session, const char *folder )
{
    tr_lines_add( &session->exports, folder );
}
