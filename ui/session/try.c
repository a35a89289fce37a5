// Changes that name files: a stage is built with them in the background first, so that a file that cannot be
// used changes nothing.
#include "ui/session/private.h"

void tr_session_try( tr_session *session, char *const *text, int count )
{
    tr_error error = { 0 };
    if ( session->open.document == NULL || tr_requests_add_trial( &session->requests, text, count ) )
        return;
    tr_error_memory( &error );
    tr_message_error( &session->message, &error );
}

static void run_try( void *context, tr_worker *worker )
{
    tr_job *j = context;
    tr_stage stage = { 0 };
    (void)worker;
    j->ok = tr_stage_files_build( &j->files, NULL, &j->draft, &stage, NULL, &j->error );
    tr_stage_free( &stage );
}

// While the document as it is cannot be staged, lines are not tried: they may be what mends it.
void tr_session_start_try( tr_session *session )
{
    tr_job *j = &session->worker.job;
    *j = ( tr_job ){ .kind = TR_JOB_TRY,
                     .files = tr_open_document_files( &session->open ),
                     .lines = tr_requests_take_trial( &session->requests ) };
    j->ok = tr_open_document_draft( &session->open, j->lines.items, j->lines.count, &j->draft, &j->error );
    if ( j->ok && session->solving.failure[0] == 0 )
        tr_runner_start( &session->worker, run_try );
}

void tr_session_finish_try( tr_session *session, tr_job *j )
{
    if ( !j->ok || !tr_session_apply( session, j->lines.items, j->lines.count, &j->error ) )
        tr_message_error( &session->message, &j->error );
}
