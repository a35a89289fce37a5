// The session: its life, its poll, and what the interface asks of more than one of its parts.
#include "ui/session/private.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- what is shown

const tr_result *tr_session_result( const tr_session *session, const tr_stage **stage )
{
    const tr_outcome *shown = session->solving.shown;
    const tr_result *dragged = tr_dragging_result( &session->drag, stage );
    if ( dragged != NULL )
        return dragged;
    const tr_result *solved = tr_session_solution( session );
    *stage = solved != NULL || ( shown != NULL && shown->has_copied ) ? &shown->stage : NULL;
    return solved != NULL ? solved : *stage != NULL ? &shown->copied : NULL;
}

const tr_cage_outline *tr_session_cage( const tr_session *session, const char *layer )
{
    const tr_cage_outline *dragged = tr_dragging_cage( &session->drag, layer );
    if ( dragged != NULL )
        return dragged;
    const tr_result *solved = tr_session_solution( session );
    for ( int i = 0; solved != NULL && i < solved->cage_count; ++i )
        if ( strcmp( solved->cages[i].layer, layer ) == 0 )
            return &solved->cages[i];
    return NULL;
}

bool tr_session_solved( const tr_session *session )
{
    const tr_stage *stage;
    const tr_result *result = tr_session_result( session, &stage );
    return result != NULL && result == tr_session_solution( session );
}

// ------------------------------------------------------------------------------------------------- work

bool tr_session_busy( const tr_session *session )
{
    return session->worker.job.kind != TR_JOB_NONE || session->writer.job.kind != TR_JOB_NONE ||
           session->solving.wanted || tr_requests_any( &session->requests );
}

const char *tr_session_task( const tr_session *session, float *progress )
{
    static const char *const names[] = {
        [TR_JOB_NONE] = NULL,          [TR_JOB_OPEN] = "Opening", [TR_JOB_SOLVE] = "Solving",
        [TR_JOB_EXPORT] = "Exporting", [TR_JOB_DRAW] = "Drawing", [TR_JOB_THUMB] = NULL,
        [TR_JOB_DRAG] = NULL,          [TR_JOB_JOIN] = "Opening", [TR_JOB_TRY] = "Opening" };
    const tr_runner *runner = names[session->worker.job.kind] != NULL ? &session->worker : &session->writer;
    *progress = tr_worker_progress( runner->worker );
    return names[runner->job.kind];
}

// The task that tr_session_task names.
void tr_session_cancel( tr_session *session )
{
    tr_job_kind kind = session->worker.job.kind;
    bool works = kind == TR_JOB_OPEN || kind == TR_JOB_SOLVE || kind == TR_JOB_JOIN || kind == TR_JOB_TRY;
    bool writes = session->writer.job.kind != TR_JOB_NONE;
    tr_worker_cancel( works || !writes ? session->worker.worker : session->writer.worker );
}

// ------------------------------------------------------------------------------------------------- life

static bool finish( tr_session *session )
{
    bool news = false;
    tr_runner *const runners[] = { &session->worker, &session->writer };
    for ( int i = 0; i < 2; ++i ) {
        if ( runners[i]->job.kind == TR_JOB_NONE || tr_worker_running( runners[i]->worker ) )
            continue;
        tr_session_finish_job( session, runners[i] );
        news = true;
    }
    return news;
}

bool tr_session_poll( tr_session *session )
{
    tr_solving *solving = &session->solving;
    bool news = tr_dragging_poll( &session->drag );
    if ( solving->running != NULL && solving->shown == NULL && atomic_load( &session->worker.job.shown ) ) {
        tr_solving_show( solving, solving->running );
        news = true;
    }
    news |= finish( session );
    tr_session_start_next( session );
    news |= finish( session ); // some do not take long
    bool calm = solving->running == NULL && !session->drag.running;
    return tr_measuring_poll( &session->measuring, solving, calm ) || news;
}

static bool create_runner( tr_runner *runner, bool synchronous, tr_error *error )
{
    runner->synchronous = synchronous;
    runner->worker = tr_worker_create( false, error );
    return runner->worker != NULL;
}

tr_session *tr_session_create( bool synchronous, tr_error *error )
{
    tr_session *session = tr_alloc( 1, sizeof *session );
    if ( session == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    pthread_mutex_init( &session->open.library_lock, NULL );
    session->open.empty = tr_default_scene();
    if ( create_runner( &session->worker, synchronous, error ) &&
         create_runner( &session->writer, synchronous, error ) &&
         tr_measuring_create( &session->measuring, synchronous, error ) )
        return session;
    tr_session_destroy( session );
    return NULL;
}

void tr_session_close( tr_session *session )
{
    if ( tr_requests_clear( &session->requests ) )
        tr_message_say( &session->message, true,
                        "Another scene is open: what was to be exported of %s is not written",
                        tr_session_name( session ) );
    tr_dragging_clear( &session->drag );
    tr_measuring_clear( &session->measuring );
    tr_solving_clear( &session->solving );
    tr_open_document_close( &session->open );
}

void tr_session_destroy( tr_session *session )
{
    if ( session == NULL )
        return;
    if ( session->drag.live != NULL )
        tr_live_stop( session->drag.live );
    tr_worker_destroy( session->worker.worker );
    tr_worker_destroy( session->writer.worker );
    tr_measuring_destroy( &session->measuring );
    tr_job_free( &session->worker.job );
    tr_job_free( &session->writer.job );
    tr_session_close( session );
    for ( int i = 0; i < TR_MAX_THUMBS; ++i )
        tr_free( session->thumbs[i].rgb );
    tr_requests_free( &session->requests );
    while ( session->choices.count > 0 )
        tr_session_forget( session );
    tr_free( session->choices.items );
    pthread_mutex_destroy( &session->open.library_lock );
    tr_free( session );
}
