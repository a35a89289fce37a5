// Solving the document in the background, and the outcome that is shown.
#include "ui/session/private.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------- outcomes

void tr_outcome_release( tr_outcome *outcome )
{
    if ( outcome == NULL || --outcome->users > 0 )
        return;
    tr_result_free( &outcome->copied );
    tr_result_free( &outcome->solved );
    tr_stage_free( &outcome->stage );
    tr_scene_free( &outcome->scene );
    tr_log_free( &outcome->warnings );
    tr_losses_free( &outcome->losses );
    tr_outcome_release( outcome->root ); // after the stage that stands on it
    tr_free( outcome );
}

tr_outcome *tr_outcome_root( tr_outcome *outcome )
{
    tr_outcome *root = outcome != NULL && outcome->root != NULL ? outcome->root : outcome;
    if ( root != NULL )
        ++root->users;
    return root;
}

void tr_solving_show( tr_solving *solving, tr_outcome *outcome )
{
    if ( outcome == solving->shown )
        return;
    if ( outcome != NULL )
        ++outcome->users;
    tr_outcome_release( solving->shown );
    solving->shown = outcome;
}

const tr_result *tr_solving_solution( const tr_solving *solving )
{
    const tr_outcome *shown = solving->shown;
    return shown != NULL && shown != solving->running && shown->has_solved ? &shown->solved : NULL;
}

void tr_solving_clear( tr_solving *solving )
{
    tr_solving_show( solving, NULL );
    tr_outcome_release( solving->below );
    solving->below = NULL;
    tr_lines_free( &solving->preview );
    tr_log_free( &solving->told );
    solving->failure[0] = 0;
}

// ----------------------------------------------------------------------------------- on the worker's thread

// Whether `below` is the motion below the cages of this solve; releases it if not.
static bool is_below( tr_job *j )
{
    if ( j->below != NULL && j->below->method == j->method &&
         tr_scene_same_below( &j->below->scene, &j->outcome->scene ) )
        return true;
    tr_outcome_release( j->below );
    j->below = NULL;
    return false;
}

// Solves the motion below the cages, for this and for coming solves.
static bool solve_below( tr_job *j )
{
    tr_outcome *below = tr_alloc( 1, sizeof *below );
    if ( below == NULL )
        return tr_error_memory( &j->error );
    below->users = 1;
    below->method = j->method;
    if ( !tr_scene_copy( &below->scene, &j->outcome->scene, &j->error ) ||
         !tr_pipeline_run_below( &below->solved, &j->outcome->stage, j->method, 0, &j->error ) ) {
        tr_outcome_release( below );
        return false;
    }
    j->below = below;
    return true;
}

// While only cages change, only they are solved again; when the last one is removed, nothing is. On release
// of a drag its result is taken where it equals the pipeline's (tr_live_finish, layer/drag_release.c).
static bool solve_or_take_drag( tr_job *j )
{
    tr_outcome *outcome = j->outcome;
    bool below = is_below( j );
    tr_drag *drag = j->live != NULL ? tr_live_finish( j->live, &outcome->stage, j->method ) : NULL;
    outcome->released = drag != NULL;
    if ( drag != NULL )
        return tr_pipeline_run_released( &outcome->solved, &outcome->stage, j->method, drag, &j->error );
    if ( below || ( outcome->stage.grab_count > 0 && solve_below( j ) ) )
        return tr_pipeline_run_above( &outcome->solved, &outcome->stage, j->method, &j->below->solved,
                                      &j->error );
    if ( outcome->stage.grab_count > 0 )
        return false;
    if ( !tr_pipeline_run( &outcome->solved, &outcome->stage, j->method, &j->error ) )
        return false;
    j->below = outcome;
    ++outcome->users;
    return true;
}

static bool solve_outcome( tr_job *j, tr_worker *worker )
{
    tr_outcome *outcome = j->outcome;
    tr_progress link = tr_worker_link( worker );
    if ( j->root != NULL && tr_stage_carries( &j->root->stage, &outcome->scene ) ) {
        outcome->root = j->root; // only cages changed: the stage of the last solve serves
        j->root = NULL;
    }
    if ( !tr_stage_files_build( &j->files, outcome->root, &outcome->scene, &outcome->stage,
                                &outcome->warnings, &j->error ) )
        return false;
    if ( j->copy_first ) {
        outcome->has_copied =
            tr_pipeline_run( &outcome->copied, &outcome->stage, tr_method_find( "copy" ), &j->error );
        if ( !outcome->has_copied )
            return false;
        atomic_store( &j->shown, true );
    }
    double start = tr_clock_ms();
    outcome->stage.progress = &link;
    bool ok = j->lone ? tr_result_from_source( &outcome->solved, &outcome->stage, &j->error )
                      : solve_or_take_drag( j );
    outcome->stage.progress = NULL;
    ok = ok && tr_losses_find( &outcome->losses, &outcome->stage, &outcome->solved, &j->error );
    outcome->solve_ms = tr_clock_ms() - start;
    outcome->has_solved = ok;
    return ok;
}

static void run_solve( void *context, tr_worker *worker )
{
    tr_job *j = context;
    j->ok = solve_outcome( j, worker );
}

// ------------------------------------------------------------------------------------- start and finish

// The outcome of before stays on show, and is stale until something can be solved again.
static void fail( tr_session *session, const tr_error *error )
{
    session->solving.stale = true;
    tr_message_error( &session->message, error );
    memcpy( session->solving.failure, session->message.text, sizeof session->solving.failure );
}

void tr_session_start_solve( tr_session *session )
{
    tr_error error = { 0 };
    tr_solving *solving = &session->solving;
    tr_outcome *outcome = tr_alloc( 1, sizeof *outcome );
    solving->wanted = false;
    if ( outcome == NULL )
        return;
    outcome->users = 1;
    outcome->revision = session->open.revision;
    outcome->serial = ++solving->serial;
    outcome->method = tr_session_method( session );
    tr_measuring_stop( &session->measuring );
    if ( !tr_open_document_draft( &session->open, solving->preview.items, solving->preview.count,
                                  &outcome->scene, &error ) ) {
        tr_outcome_release( outcome );
        fail( session, &error );
        return;
    }
    session->worker.job =
        ( tr_job ){ .kind = TR_JOB_SOLVE,
                    .outcome = outcome,
                    .root = tr_outcome_root( solving->shown ),
                    .below = solving->below,
                    .live = session->drag.live,
                    .method = outcome->method,
                    .files = tr_open_document_files( &session->open ),
                    .lone = session->open.lone && tr_document_log_count( session->open.document ) == 0 &&
                            solving->preview.count == 0,
                    .copy_first = solving->shown == NULL };
    solving->below = NULL; // the job's, until it has finished
    solving->running = outcome;
    tr_runner_start( &session->worker, run_solve );
}

// The log with the warning `index`, which becomes an index into it: logs of opening, of the stage, and of
// what was put onto it since.
static const tr_log *warnings_with( const tr_session *session, int *index )
{
    const tr_outcome *outcome = tr_session_solution( session ) != NULL ? session->solving.shown : NULL;
    const tr_log *logs[] = { &session->open.warnings,
                             outcome != NULL && outcome->root != NULL ? &outcome->root->warnings : NULL,
                             outcome != NULL ? &outcome->warnings : NULL };
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

static bool was_told( const tr_log *told, const char *warning )
{
    for ( int i = 0; i < told->count; ++i )
        if ( strcmp( told->lines[i], warning ) == 0 )
            return true;
    return false;
}

// Tells the first of the warnings that the last solve did not have.
static void tell_warnings( tr_session *session )
{
    tr_log now = { 0 };
    int count = tr_session_warning_count( session ), fresh = 0;
    const char *first = NULL;
    for ( int i = 0; i < count; ++i ) {
        const char *warning = tr_session_warning( session, i );
        tr_log_add( &now, "%s", warning );
        if ( was_told( &session->solving.told, warning ) )
            continue;
        first = first != NULL ? first : warning;
        ++fresh;
    }
    char text[sizeof session->message.text];
    if ( fresh > 1 )
        snprintf( text, sizeof text, "%s (%d more in the report)", first, fresh - 1 );
    else
        snprintf( text, sizeof text, "%s", first != NULL ? first : "" );
    if ( fresh > 0 )
        tr_message_warn( &session->message, text );
    tr_log_free( &session->solving.told );
    session->solving.told = now;
}

void tr_session_finish_solve( tr_session *session, tr_job *j )
{
    tr_solving *solving = &session->solving;
    tr_waits *waits = &session->drag.waits;
    solving->running = NULL;
    solving->below = j->below;
    j->below = NULL;
    if ( j->ok ) {
        tr_solving_show( solving, j->outcome );
        session->measuring.wanted = true;
        solving->stale = false;
        solving->failure[0] = 0;
        tell_warnings( session );
    } else if ( tr_worker_cancelled( session->worker.worker ) ) {
        solving->stale = !solving->wanted;
        tr_message_say(
            &session->message, false,
            "Solving was cancelled; what you see is from before. Solve again from the Edit menu." );
    } else {
        fail( session, &j->error );
    }
    if ( j->ok && solving->changed_ms > 0 && j->outcome->revision == session->open.revision ) {
        waits->settle = tr_clock_ms() - solving->changed_ms;
        ++waits->settles;
        solving->changed_ms = 0;
    }
    if ( session->drag.next == NULL ) // what was dragged is solved now, or never will be
        tr_dragging_clear( &session->drag );
}

// ------------------------------------------------------------------------------------- as the panels ask

const tr_outcome *tr_session_outcome( const tr_session *session )
{
    return session->solving.shown;
}

const tr_result *tr_session_solution( const tr_session *session )
{
    return tr_solving_solution( &session->solving );
}

bool tr_session_current( const tr_session *session )
{
    const tr_solving *solving = &session->solving;
    return solving->shown != NULL && solving->shown->revision == session->open.revision && !solving->wanted &&
           solving->preview.count == 0 && solving->running == NULL;
}

bool tr_session_stale( const tr_session *session )
{
    return session->solving.stale;
}

const char *tr_session_failure( const tr_session *session )
{
    return session->solving.failure;
}

const tr_method *tr_session_method( const tr_session *session )
{
    const tr_method *method = session->solving.method;
    if ( method != NULL || session->open.document == NULL )
        return method != NULL ? method : tr_method_find( NULL );
    return tr_method_default( tr_document_scene( session->open.document ) );
}

void tr_session_set_method( tr_session *session, const tr_method *method )
{
    session->solving.wanted |= method != tr_session_method( session );
    session->solving.method = method;
}

void tr_session_solve( tr_session *session )
{
    session->solving.wanted = session->open.document != NULL;
}

void tr_session_preview( tr_session *session, char *const *text, int count )
{
    tr_solving *solving = &session->solving;
    if ( session->open.document == NULL || tr_lines_same( &solving->preview, text, count ) )
        return;
    tr_lines_copy( &solving->preview, text, count );
    solving->wanted = true;
}
