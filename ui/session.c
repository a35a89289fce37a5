// The session's life, its frames, and what can be seen of it.
#include "ui/session_private.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ takes

void tr_outcome_release( tr_outcome *take )
{
    if ( take == NULL || --take->users > 0 )
        return;
    tr_result_free( &take->copied );
    tr_result_free( &take->solved );
    tr_stage_free( &take->stage );
    tr_scene_free( &take->scene );
    tr_log_free( &take->warnings );
    tr_losses_free( &take->losses );
    tr_outcome_release( take->root ); // after the stage
    tr_free( take );
}

tr_outcome *tr_outcome_root( tr_outcome *take )
{
    tr_outcome *root = take != NULL && take->root != NULL ? take->root : take;
    if ( root != NULL )
        ++root->users;
    return root;
}

void tr_session_show( tr_session *session, tr_outcome *take )
{
    if ( take == session->take )
        return;
    if ( take != NULL )
        ++take->users;
    tr_outcome_release( session->take );
    session->take = take;
}

const tr_outcome *tr_session_outcome( const tr_session *session )
{
    return session->take;
}

// While a take is being solved only what was delivered before may be looked at.
const tr_result *tr_session_solution( const tr_session *session )
{
    const tr_outcome *take = session->take;
    bool in_work = session->job.kind == TR_JOB_SOLVE && session->job.take == take;
    return take != NULL && !in_work && take->has_solved ? &take->solved : NULL;
}

const tr_result *tr_session_result( const tr_session *session, const tr_stage **stage )
{
    const tr_outcome *take = session->take;
    const tr_live *lives[] = { session->live, session->last_live };
    for ( int i = 0; i < 2; ++i ) {
        const tr_result *live = lives[i] != NULL ? tr_live_result( lives[i], stage ) : NULL;
        if ( live != NULL )
            return live;
    }
    const tr_result *solved = tr_session_solution( session );
    *stage = solved != NULL || ( take != NULL && take->has_copied ) ? &take->stage : NULL;
    return solved != NULL ? solved : *stage != NULL ? &take->copied : NULL;
}

const tr_cage_outline *tr_session_cage( const tr_session *session, const char *layer )
{
    const tr_stage *stage;
    const tr_result *result = tr_session_result( session, &stage ), *solved = tr_session_solution( session );
    const tr_live *lives[] = { session->live, session->last_live };
    for ( int i = 0; i < 2; ++i ) {
        const tr_result *live = lives[i] != NULL ? tr_live_result( lives[i], &stage ) : NULL;
        const tr_cage_outline *shape = live != NULL && live == result ? tr_live_cage( lives[i] ) : NULL;
        if ( shape != NULL && strcmp( shape->layer, layer ) == 0 )
            return shape;
    }
    for ( int i = 0; solved != NULL && i < solved->cage_count; ++i )
        if ( strcmp( solved->cages[i].layer, layer ) == 0 )
            return &solved->cages[i];
    return NULL;
}

// Of opening, of the stage, and of what was put onto it since: those of `index` and after, in this order.
static const tr_log *warnings_with( const tr_session *session, int *index )
{
    const tr_outcome *take = tr_session_solution( session ) != NULL ? session->take : NULL;
    const tr_log *logs[] = { &session->warnings,
                             take != NULL && take->root != NULL ? &take->root->warnings : NULL,
                             take != NULL ? &take->warnings : NULL };
    for ( int i = 0; i < 3; ++i ) {
        int count = logs[i] != NULL ? logs[i]->count : 0;
        if ( *index < count )
            return logs[i];
        *index -= count;
    }
    return NULL;
}

int tr_session_warning_count( const tr_session *session )
{
    int rest = INT_MAX;
    warnings_with( session, &rest );
    return INT_MAX - rest;
}

const char *tr_session_warning( const tr_session *session, int index )
{
    const tr_log *log = warnings_with( session, &index );
    return log != NULL ? log->lines[index] : "";
}

bool tr_session_solved( const tr_session *session )
{
    const tr_stage *stage;
    const tr_result *result = tr_session_result( session, &stage );
    return result != NULL && result == tr_session_solution( session );
}

bool tr_session_current( const tr_session *session )
{
    return session->take != NULL && session->take->revision == session->revision && !session->want_solve &&
           session->preview.count == 0 && session->job.kind != TR_JOB_SOLVE;
}

// ---------------------------------------------------------------------------------------------- messages

void tr_session_say( tr_session *session, bool bad, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( session->message, sizeof session->message, format, arguments );
    va_end( arguments );
    session->message_bad = bad;
    session->message_warns = false;
    session->has_message = true;
}

void tr_session_warn( tr_session *session, const char *text )
{
    tr_session_say( session, false, "%s", text );
    session->message_warns = true;
}

void tr_session_say_error( tr_session *session, const tr_error *error )
{
    char text[1400];
    tr_error_print( error, text, sizeof text );
    tr_session_say( session, true, "%s", text );
}

bool tr_session_message( tr_session *session, char *out, size_t size, bool *bad, bool *warns )
{
    if ( !session->has_message )
        return false;
    snprintf( out, size, "%s", session->message );
    *bad = session->message_bad;
    *warns = session->message_warns;
    session->has_message = false;
    return true;
}

// ------------------------------------------------------------------------------------------------- work

const tr_method *tr_session_method( const tr_session *session )
{
    if ( session->method != NULL || session->document == NULL )
        return session->method != NULL ? session->method : tr_method_find( NULL );
    return tr_method_default( tr_document_scene( session->document ) );
}

void tr_session_set_method( tr_session *session, const tr_method *method )
{
    session->want_solve |= method != tr_session_method( session );
    session->method = method;
}

bool tr_session_busy( const tr_session *session )
{
    return session->job.kind != TR_JOB_NONE || session->writing.kind != TR_JOB_NONE ||
           session->open_what != NULL || session->joins.count > 0 || session->trial_count > 0 ||
           session->want_solve || session->exports.count > 0 || session->picture_count > 0;
}

bool tr_session_stale( const tr_session *session )
{
    return session->cancelled;
}

const char *tr_session_failure( const tr_session *session )
{
    return session->failure;
}

const char *tr_session_task( const tr_session *session, float *progress )
{
    static const char *const names[] = {
        [TR_JOB_NONE] = NULL,          [TR_JOB_OPEN] = "Opening", [TR_JOB_SOLVE] = "Solving",
        [TR_JOB_EXPORT] = "Exporting", [TR_JOB_DRAW] = "Drawing", [TR_JOB_THUMB] = NULL,
        [TR_JOB_DRAG] = NULL,          [TR_JOB_JOIN] = "Opening", [TR_JOB_TRY] = "Opening" };
    bool writes = names[session->job.kind] == NULL;
    *progress = tr_worker_progress( writes ? session->writer : session->worker );
    return names[writes ? session->writing.kind : session->job.kind];
}

// What tr_session_task speaks of.
void tr_session_cancel( tr_session *session )
{
    tr_job_kind kind = session->job.kind;
    bool works = kind == TR_JOB_OPEN || kind == TR_JOB_SOLVE || kind == TR_JOB_JOIN || kind == TR_JOB_TRY;
    tr_worker_cancel( works || session->writing.kind == TR_JOB_NONE ? session->worker : session->writer );
}

void tr_session_solve( tr_session *session )
{
    session->want_solve = session->document != NULL;
}

// ------------------------------------------------------------------------------------------------- life

static bool finish( tr_session *session )
{
    bool news = false;
    if ( session->job.kind != TR_JOB_NONE && !tr_worker_running( session->worker ) ) {
        tr_session_finish_job( session, &session->job );
        news = true;
    }
    if ( session->writing.kind != TR_JOB_NONE && !tr_worker_running( session->writer ) ) {
        tr_session_finish_job( session, &session->writing );
        news = true;
    }
    return news;
}

bool tr_session_poll( tr_session *session )
{
    bool news = session->live != NULL && tr_live_poll( session->live );
    tr_session_note_waits( session );
    if ( news && session->last_live != NULL ) {
        tr_live_destroy( session->last_live );
        session->last_live = NULL;
    }
    tr_job *j = &session->job;
    if ( j->kind == TR_JOB_SOLVE && session->take == NULL && atomic_load( &j->shown ) ) {
        tr_session_show( session, j->take );
        news = true;
    }
    news |= finish( session );
    tr_session_start_next( session );
    news |= finish( session ); // some do not take long
    return tr_session_poll_figures( session ) || news;
}

tr_session *tr_session_create( bool synchronous, tr_error *error )
{
    tr_session *session = tr_alloc( 1, sizeof *session );
    if ( session == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    pthread_mutex_init( &session->library_lock, NULL );
    session->empty = tr_default_scene();
    session->synchronous = synchronous;
    session->worker = tr_worker_create( false, error );
    session->writer = session->worker != NULL ? tr_worker_create( false, error ) : NULL;
    session->measurer = session->writer != NULL ? tr_worker_create( !synchronous, error ) : NULL;
    if ( session->measurer != NULL )
        return session;
    tr_worker_destroy( session->writer );
    tr_worker_destroy( session->worker );
    tr_free( session );
    return NULL;
}

static void forget_job( tr_job *j )
{
    tr_opened_free( &j->opened );
    tr_outcome_release( j->take );
    tr_outcome_release( j->below );
    tr_outcome_release( j->root );
    tr_free( j->what );
    tr_free( j->picture.path );
    tr_free( j->thumb.rgb );
    tr_lines_free( &j->lines );
    tr_scene_free( &j->draft );
}

void tr_session_destroy( tr_session *session )
{
    if ( session == NULL )
        return;
    if ( session->live != NULL )
        tr_live_stop( session->live );
    tr_worker_destroy( session->worker );
    tr_worker_destroy( session->writer );
    tr_session_end_figures( session );
    forget_job( &session->job );
    forget_job( &session->writing );
    tr_session_forget( session );
    for ( int i = 0; i < TR_MAX_THUMBS; ++i )
        tr_free( session->thumbs[i].rgb );
    tr_free( session->pictures );
    tr_free( session->trials );
    tr_free( session->open_what );
    tr_free( session->restore_file );
    tr_scene_free( &session->restore );
    pthread_mutex_destroy( &session->library_lock );
    tr_free( session );
}
