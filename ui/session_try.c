// Changes that name files: tried in the background first, so that a file that is of no use changes nothing.
#include "ui/session_private.h"

#include <string.h>

void tr_session_try( tr_session *session, char *const *text, int count )
{
    tr_error error = { 0 };
    tr_lines lines = { 0 };
    if ( session->document == NULL )
        return;
    if ( tr_lines_copy( &lines, text, count ) &&
         tr_array_reserve( (void **)&session->trials, &session->trial_capacity, session->trial_count + 1,
                           sizeof lines ) ) {
        session->trials[session->trial_count++] = lines;
        return;
    }
    tr_lines_free( &lines );
    tr_error_memory( &error );
    tr_session_say_error( session, &error );
}

void tr_session_forget_trials( tr_session *session )
{
    for ( int i = 0; i < session->trial_count; ++i )
        tr_lines_free( &session->trials[i] );
    session->trial_count = 0;
}

// A document that cannot be put on stage as it is says nothing about the lines: they may be what mends it.
bool tr_session_begin_try( tr_session *session, tr_job *j )
{
    j->lines = session->trials[0];
    memmove( session->trials, session->trials + 1, (size_t)--session->trial_count * sizeof j->lines );
    j->ok = tr_session_draft( session, j->lines.items, j->lines.count, &j->draft, &j->error );
    return j->ok && session->failure[0] == 0;
}

void tr_job_try( void *context, tr_worker *worker )
{
    tr_job *j = context;
    tr_stage stage = { 0 };
    (void)worker;
    pthread_mutex_lock( j->library_lock );
    j->ok = tr_stage_build( &stage, &j->draft, j->base, j->library, NULL, &j->error );
    pthread_mutex_unlock( j->library_lock );
    tr_stage_free( &stage );
}

void tr_session_finish_try( tr_session *session, tr_job *j )
{
    if ( !j->ok || !tr_session_apply( session, j->lines.items, j->lines.count, &j->error ) )
        tr_session_say_error( session, &j->error );
}
