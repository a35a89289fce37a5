// Jobs in the background: which is next, how one starts, and what is freed when it has finished.
#include "ui/session/private.h"

#include "compose/compose.h"

void tr_runner_start( tr_runner *runner, void ( *run )( void *context, tr_worker *worker ) )
{
    tr_worker_start( runner->worker, run, &runner->job );
    if ( runner->synchronous && runner->job.kind != TR_JOB_DRAG ) // a drag ends when the button is let go
        tr_worker_wait( runner->worker );
}

// -------------------------------------------------------------------------------------------------- files

// For another program: what 'troupe convert' writes.
static bool write_exchange( tr_job *j, tr_exchange_format format )
{
    tr_exchange x;
    tr_exchange_def how = { 0 };
    tr_compose_def def = tr_default_compose_def();
    def.figures = def.looks = format == TR_EXCHANGE_GLB;
    def.file = j->base;
    bool ok = tr_compose( &x, &j->outcome->stage, &j->outcome->solved, &def, &j->warnings, &j->error ) &&
              tr_exchange_save( &x, j->what, &how, &j->error );
    tr_exchange_free( &x );
    return ok;
}

static void run_export( void *context, tr_worker *worker )
{
    tr_job *j = context;
    tr_exchange_format format;
    tr_progress link = tr_worker_link( worker );
    tr_stage stage = j->outcome->stage; // a shallow copy with its own progress
    stage.progress = &link;
    if ( tr_exchange_format_of( j->what, &format ) )
        j->ok = write_exchange( j, format );
    else
        j->ok = tr_result_save( &stage, &j->outcome->solved, j->method->name, j->what, &j->error );
}

// Writes the last state of the document, once it is solved, without what is only a preview.
static void start_next_file( tr_session *session )
{
    tr_requests *r = &session->requests;
    tr_solving *solving = &session->solving;
    tr_job *j = &session->writer.job;
    bool exports = r->exports.count > 0, draws = r->picture_count > 0;
    bool ready = tr_solving_solution( solving ) != NULL && !solving->wanted && solving->running == NULL &&
                 solving->preview.count == 0 && r->open == NULL && session->worker.job.kind != TR_JOB_OPEN;
    if ( !ready || ( !exports && !draws ) )
        return;
    if ( exports )
        *j = ( tr_job ){ .kind = TR_JOB_EXPORT,
                         .what = tr_lines_take( &r->exports ),
                         .base = session->open.base != NULL ? tr_string_copy( session->open.base ) : NULL,
                         .method = tr_session_method( session ) };
    else
        *j = ( tr_job ){ .kind = TR_JOB_DRAW, .picture = tr_requests_take_picture( r ) };
    j->outcome = solving->shown;
    ++j->outcome->users;
    tr_runner_start( &session->writer, exports ? run_export : tr_job_draw );
}

static void finish_file( tr_session *session, const tr_job *j, const char *path )
{
    if ( j->ok && j->warnings.count > 0 )
        tr_message_say( &session->message, false, "Wrote %s: %s", path, j->warnings.lines[0] );
    else if ( j->ok )
        tr_message_say( &session->message, false, "Wrote %s", path );
    else if ( tr_worker_cancelled( session->writer.worker ) )
        tr_message_say( &session->message, false, "Cancelled; %s was not written", path );
    else
        tr_message_error( &session->message, &j->error );
}

// -------------------------------------------------------------------------------------------------- thumbs

static void start_thumb( tr_session *session )
{
    int entry = tr_requests_take_thumb( &session->requests );
    if ( entry < 0 )
        return;
    session->worker.job = ( tr_job ){ .kind = TR_JOB_THUMB, .entry = entry };
    tr_runner_start( &session->worker, tr_job_thumb );
}

static void finish_thumb( tr_session *session, tr_job *j )
{
    session->thumbs[j->entry] = j->thumb;
    j->thumb.rgb = NULL;
    session->thumbs[j->entry].failed = !j->ok;
}

// --------------------------------------------------------------------------------------------- all of them

static void start_next_job( tr_session *session )
{
    const tr_requests *r = &session->requests;
    bool open = session->open.document != NULL;
    if ( r->open != NULL )
        tr_session_start_open( session );
    else if ( session->drag.next != NULL )
        tr_session_start_drag( session );
    else if ( r->joins.count > 0 && open )
        tr_session_start_join( session );
    else if ( r->trial_count > 0 && open )
        tr_session_start_try( session );
    else if ( session->solving.wanted && open )
        tr_session_start_solve( session );
    else
        start_thumb( session );
}

void tr_session_start_next( tr_session *session )
{
    if ( session->worker.job.kind == TR_JOB_NONE )
        start_next_job( session );
    if ( session->writer.job.kind == TR_JOB_NONE )
        start_next_file( session );
}

void tr_job_free( tr_job *j )
{
    tr_opened_free( &j->opened );
    tr_pick_free( &j->pick );
    tr_picks_free( &j->others );
    tr_choice_free( &j->choice );
    tr_outcome_release( j->outcome );
    tr_outcome_release( j->below );
    tr_outcome_release( j->root );
    tr_free( j->what );
    tr_free( j->base );
    tr_log_free( &j->warnings );
    tr_free( j->picture.path );
    tr_free( j->thumb.rgb );
    tr_lines_free( &j->lines );
    tr_scene_free( &j->draft );
    *j = ( tr_job ){ 0 };
}

void tr_session_finish_job( tr_session *session, tr_runner *runner )
{
    tr_job *j = &runner->job;
    switch ( j->kind ) {
    case TR_JOB_OPEN: tr_session_finish_open( session, j ); break;
    case TR_JOB_SOLVE: tr_session_finish_solve( session, j ); break;
    case TR_JOB_DRAG: tr_session_finish_drag( session, j ); break;
    case TR_JOB_JOIN: tr_session_finish_join( session, j ); break;
    case TR_JOB_TRY: tr_session_finish_try( session, j ); break;
    case TR_JOB_EXPORT: finish_file( session, j, j->what ); break;
    case TR_JOB_DRAW: finish_file( session, j, j->picture.path ); break;
    case TR_JOB_THUMB: finish_thumb( session, j ); break;
    case TR_JOB_NONE: break;
    }
    tr_job_free( j );
}
