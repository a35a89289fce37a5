// What is done in the background: opening, solving, exporting, dragging; how it starts and what becomes of
// it.
#include "ui/session_private.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------- work: open, solve

static void run_open( void *context, tr_worker *worker )
{
    tr_job *j = context;
    (void)worker;
    j->ok = tr_open( &j->opened, j->what, j->cast, &j->error );
    if ( j->ok )
        tr_opened_skip_front( &j->opened );
}

// Whether `below` is what the cages of this solve act on; if not it is let go.
static bool is_below( tr_job *j )
{
    if ( j->below != NULL && j->below->method == j->method &&
         tr_scene_same_below( &j->below->scene, &j->take->scene ) )
        return true;
    tr_outcome_release( j->below );
    j->below = NULL;
    return false;
}

// Solves what cages act on for this and for coming solves.
static bool solve_below( tr_job *j )
{
    tr_outcome *below = tr_alloc( 1, sizeof *below );
    if ( below == NULL )
        return tr_error_memory( &j->error );
    below->users = 1;
    below->method = j->method;
    if ( !tr_scene_copy( &below->scene, &j->take->scene, &j->error ) ||
         !tr_pipeline_run_below( &below->solved, &j->take->stage, j->method, 0, &j->error ) ) {
        tr_outcome_release( below );
        return false;
    }
    j->below = below;
    return true;
}

// While somebody works on cages, only these have to be solved again; when the last is gone, nothing.
static bool run_method( tr_job *j )
{
    tr_outcome *take = j->take;
    if ( is_below( j ) || ( take->stage.grab_count > 0 && solve_below( j ) ) )
        return tr_pipeline_run_above( &take->solved, &take->stage, j->method, &j->below->solved, &j->error );
    if ( take->stage.grab_count > 0 )
        return false;
    if ( !tr_pipeline_run( &take->solved, &take->stage, j->method, &j->error ) )
        return false;
    j->below = take;
    ++take->users;
    return true;
}

// What was built for the last solve serves as long as nothing but cages has changed.
static bool build_stage( tr_job *j )
{
    tr_outcome *take = j->take;
    if ( j->root != NULL && tr_stage_carries( &j->root->stage, &take->scene ) ) {
        take->root = j->root;
        j->root = NULL;
        return tr_stage_build_on( &take->stage, &take->root->stage, &take->scene, &take->warnings,
                                  &j->error );
    }
    pthread_mutex_lock( j->library_lock );
    bool ok = tr_stage_build( &take->stage, &take->scene, j->base, j->library, &take->warnings, &j->error );
    pthread_mutex_unlock( j->library_lock );
    return ok;
}

static bool solve_take( tr_job *j, tr_worker *worker )
{
    tr_outcome *take = j->take;
    tr_progress link = tr_worker_link( worker );
    if ( !build_stage( j ) )
        return false;
    if ( j->copy_first ) {
        take->has_copied =
            tr_pipeline_run( &take->copied, &take->stage, tr_method_find( "copy" ), &j->error );
        if ( !take->has_copied )
            return false;
        atomic_store( &j->shown, true );
    }
    double start = tr_clock_ms();
    take->stage.progress = &link;
    bool ok = j->lone ? tr_result_from_source( &take->solved, &take->stage, &j->error ) : run_method( j );
    take->stage.progress = NULL;
    ok = ok && tr_losses_find( &take->losses, &take->stage, &take->solved, &j->error );
    take->solve_ms = tr_clock_ms() - start;
    take->has_solved = ok;
    return ok;
}

static void run_solve( void *context, tr_worker *worker )
{
    tr_job *j = context;
    j->ok = solve_take( j, worker );
}

static void run_export( void *context, tr_worker *worker )
{
    tr_job *j = context;
    tr_progress link = tr_worker_link( worker );
    tr_stage stage = j->take->stage; // a look at it with a progress of its own
    stage.progress = &link;
    j->ok = tr_result_save( &stage, &j->take->solved, j->method->name, j->what, &j->error );
}

// --------------------------------------------------------------------------------------- starting work

static void start_work( tr_session *session, void ( *run )( void *context, tr_worker *worker ), tr_job *j )
{
    tr_worker_start( session->worker, run, j );
    if ( session->synchronous && j->kind != TR_JOB_DRAG ) // a drag ends when it is let go
        tr_worker_wait( session->worker );
}

// What is shown is of before, and stays so until something can be solved again.
static void fail( tr_session *session, const tr_error *error )
{
    session->cancelled = true;
    tr_session_say_error( session, error );
    memcpy( session->failure, session->message, sizeof session->failure );
}

static void start_solve( tr_session *session )
{
    tr_error error = { 0 };
    tr_outcome *take = tr_alloc( 1, sizeof *take );
    session->want_solve = false;
    if ( take == NULL )
        return;
    take->users = 1;
    take->revision = session->revision;
    take->serial = ++session->serial;
    take->method = tr_session_method( session );
    tr_session_stop_figures( session );
    if ( !tr_session_draft( session, session->preview.items, session->preview.count, &take->scene,
                            &error ) ) {
        tr_outcome_release( take );
        fail( session, &error );
        return;
    }
    session->job = ( tr_job ){ .kind = TR_JOB_SOLVE,
                               .take = take,
                               .root = tr_outcome_root( session->take ),
                               .below = session->below,
                               .method = take->method,
                               .base = session->base,
                               .library = &session->library,
                               .library_lock = &session->library_lock,
                               .lone = session->lone && tr_document_log_count( session->document ) == 0 &&
                                       session->preview.count == 0,
                               .copy_first = session->take == NULL };
    session->below = NULL; // the job's, until it has finished
    start_work( session, run_solve, &session->job );
}

static void start_open( tr_session *session )
{
    session->job = ( tr_job ){ .kind = TR_JOB_OPEN,
                               .what = session->open_what,
                               .cast = session->open_cast,
                               .restores = session->restoring };
    session->open_what = NULL;
    start_work( session, run_open, &session->job );
}

static void start_join( tr_session *session )
{
    session->job = ( tr_job ){ .kind = TR_JOB_JOIN, .what = tr_lines_take( &session->joins ) };
    start_work( session, tr_job_join, &session->job );
}

static void start_try( tr_session *session )
{
    session->job = ( tr_job ){ .kind = TR_JOB_TRY,
                               .base = session->base,
                               .library = &session->library,
                               .library_lock = &session->library_lock };
    if ( tr_session_begin_try( session, &session->job ) )
        start_work( session, tr_job_try, &session->job );
}

// Writes what the last solve has come to.
static void start_writing( tr_session *session, void ( *run )( void *context, tr_worker *worker ) )
{
    session->writing.take = session->take;
    ++session->take->users;
    tr_worker_start( session->writer, run, &session->writing );
    if ( session->synchronous )
        tr_worker_wait( session->writer );
}

static void start_export( tr_session *session )
{
    session->writing = ( tr_job ){ .kind = TR_JOB_EXPORT,
                                   .what = tr_lines_take( &session->exports ),
                                   .method = tr_session_method( session ) };
    start_writing( session, run_export );
}

static void start_draw( tr_session *session )
{
    session->writing = ( tr_job ){ .kind = TR_JOB_DRAW, .picture = session->pictures[0] };
    memmove( session->pictures, session->pictures + 1,
             (size_t)--session->picture_count * sizeof *session->pictures );
    start_writing( session, tr_job_draw );
}

static bool start_thumb( tr_session *session )
{
    int count;
    tr_scene_table( &count );
    for ( int i = 0; i < count && i < TR_MAX_THUMBS; ++i ) {
        if ( !session->thumb_wanted[i] )
            continue;
        session->thumb_wanted[i] = false;
        session->job = ( tr_job ){ .kind = TR_JOB_THUMB, .entry = i };
        start_work( session, tr_job_thumb, &session->job );
        return true;
    }
    return false;
}

static void run_drag( void *context, tr_worker *worker )
{
    tr_job *j = context;
    tr_live_work( j->live, worker );
    j->ok = !tr_live_failed( j->live, &j->error );
}

static void start_drag( tr_session *session )
{
    tr_live_destroy( session->last_live );
    session->last_live = session->live;
    session->live = session->next_live;
    session->next_live = NULL;
    session->job = ( tr_job ){ .kind = TR_JOB_DRAG, .live = session->live, .take = session->take };
    ++session->take->users;
    tr_session_stop_figures( session );
    start_work( session, run_drag, &session->job );
}

static void start_next_job( tr_session *session )
{
    if ( session->open_what != NULL )
        start_open( session );
    else if ( session->next_live != NULL )
        start_drag( session );
    else if ( session->joins.count > 0 && session->document != NULL )
        start_join( session );
    else if ( session->trial_count > 0 && session->document != NULL )
        start_try( session );
    else if ( session->want_solve && session->document != NULL )
        start_solve( session );
    else
        start_thumb( session );
}

// What is written is the document's last state, as far as it is solved, nothing that is only being tried.
static void start_next_file( tr_session *session )
{
    bool ready = tr_session_solution( session ) != NULL && !session->want_solve &&
                 session->open_what == NULL && session->preview.count == 0 &&
                 session->job.kind != TR_JOB_SOLVE && session->job.kind != TR_JOB_OPEN;
    if ( ready && session->exports.count > 0 )
        start_export( session );
    else if ( ready && session->picture_count > 0 )
        start_draw( session );
}

void tr_session_start_next( tr_session *session )
{
    if ( session->job.kind == TR_JOB_NONE )
        start_next_job( session );
    if ( session->writing.kind == TR_JOB_NONE )
        start_next_file( session );
}

// --------------------------------------------------------------------------------------- finished work

// What was opened becomes the document. A folder of results stands for its scene.
static bool adopt( tr_session *session, tr_job *j )
{
    tr_opened *o = &j->opened;
    const tr_scene *scene = j->restores ? &session->restore : &o->scene;
    tr_document *document = tr_document_create( scene, &j->error );
    char *file = j->restores ? session->restore_file : o->file;
    char *copy = file != NULL ? tr_string_copy( file ) : NULL;
    if ( document == NULL || ( file != NULL && copy == NULL ) ) {
        tr_document_destroy( document );
        tr_free( copy );
        return tr_error_memory( &j->error );
    }
    tr_session_forget( session );
    session->document = document;
    session->library = o->library;
    o->library = ( tr_library ){ 0 };
    session->base = o->file;
    o->file = NULL;
    session->file = copy;
    session->what = j->what;
    session->cast = j->cast;
    j->what = NULL;
    session->lone = o->lone;
    session->saved = j->restores ? -1 : 0;
    session->warnings = o->warnings;
    o->warnings = ( tr_log ){ 0 };
    ++session->revision;
    ++session->opened;
    session->want_solve = true;
    session->cancelled = false;
    return true;
}

static void finish_open( tr_session *session, tr_job *j )
{
    if ( !j->ok || !adopt( session, j ) )
        tr_session_say_error( session, &j->error );
    tr_opened_free( &j->opened );
    if ( !j->restores ) // another one may be waiting for that
        return;
    tr_scene_free( &session->restore );
    tr_free( session->restore_file );
    session->restore_file = NULL;
    session->restoring = false;
}

static bool was_told( const tr_session *session, const char *warning )
{
    for ( int i = 0; i < session->told.count; ++i )
        if ( strcmp( session->told.lines[i], warning ) == 0 )
            return true;
    return false;
}

// The first of the warnings that were not there the last time.
static void tell_warnings( tr_session *session )
{
    tr_log now = { 0 };
    int count = tr_session_warning_count( session ), fresh = 0;
    const char *first = NULL;
    for ( int i = 0; i < count; ++i ) {
        const char *warning = tr_session_warning( session, i );
        tr_log_add( &now, "%s", warning );
        if ( was_told( session, warning ) )
            continue;
        first = first != NULL ? first : warning;
        ++fresh;
    }
    char text[sizeof session->message];
    if ( fresh > 1 )
        snprintf( text, sizeof text, "%s (%d more in the report)", first, fresh - 1 );
    else
        snprintf( text, sizeof text, "%s", first != NULL ? first : "" );
    if ( fresh > 0 )
        tr_session_warn( session, text );
    tr_log_free( &session->told );
    session->told = now;
}

static void finish_solve( tr_session *session, tr_job *j )
{
    session->below = j->below;
    j->below = NULL;
    if ( j->ok ) {
        tr_session_show( session, j->take );
        session->want_figures = true;
    } else if ( tr_worker_cancelled( session->worker ) ) {
        session->cancelled = !session->want_solve;
        tr_session_say(
            session, false,
            "Solving was cancelled; what you see is from before. Solve again from the Edit menu." );
    } else {
        fail( session, &j->error );
    }
    if ( j->ok ) {
        session->cancelled = false;
        session->failure[0] = 0;
    }
    if ( j->ok && session->changed_ms > 0 && j->take->revision == session->revision ) {
        session->waits.settle = tr_clock_ms() - session->changed_ms;
        ++session->waits.settles;
        session->changed_ms = 0;
    }
    if ( session->next_live == NULL ) // what was dragged is solved now, or never will be
        tr_session_forget_live( session );
}

static void finish_drag( tr_session *session, const tr_job *j )
{
    if ( !j->ok ) {
        tr_session_say_error( session, &j->error );
        session->drag_failed = session->drag_base;
    }
    if ( !j->ok || !session->keep_live )
        tr_session_forget_live( session );
}

static void finish_file( tr_session *session, const tr_job *j, const char *path )
{
    if ( j->ok )
        tr_session_say( session, false, "Wrote %s", path );
    else if ( tr_worker_cancelled( session->writer ) )
        tr_session_say( session, false, "Cancelled; %s was not written", path );
    else
        tr_session_say_error( session, &j->error );
}

void tr_session_finish_job( tr_session *session, tr_job *j )
{
    bool solved = j->kind == TR_JOB_SOLVE && j->ok;
    switch ( j->kind ) {
    case TR_JOB_OPEN: finish_open( session, j ); break;
    case TR_JOB_SOLVE: finish_solve( session, j ); break;
    case TR_JOB_DRAG: finish_drag( session, j ); break;
    case TR_JOB_JOIN: tr_session_finish_join( session, j ); break;
    case TR_JOB_TRY: tr_session_finish_try( session, j ); break;
    case TR_JOB_EXPORT: finish_file( session, j, j->what ); break;
    case TR_JOB_DRAW: finish_file( session, j, j->picture.path ); break;
    case TR_JOB_THUMB:
        session->thumbs[j->entry] = j->thumb;
        session->thumbs[j->entry].failed = !j->ok;
        break;
    case TR_JOB_NONE: break;
    }
    tr_outcome_release( j->take );
    tr_outcome_release( j->root );
    tr_free( j->what );
    tr_free( j->picture.path );
    tr_lines_free( &j->lines );
    tr_scene_free( &j->draft );
    *j = ( tr_job ){ 0 };
    if ( solved )
        tell_warnings( session );
}
