#include "ui/session.h"
#include "ui/live.h"
#include "ui/worker.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define THUMB_WIDTH  248
#define THUMB_HEIGHT 140

typedef enum job_kind { JOB_NONE, JOB_OPEN, JOB_SOLVE, JOB_EXPORT, JOB_DRAW, JOB_THUMB, JOB_DRAG } job_kind;

typedef struct job { // what the worker is doing; its own until it has finished
    job_kind kind;
    char *what; // to open, or the folder to write
    int cast;
    tr_opened opened;
    tr_outcome *take;
    tr_live *live; // borrowed
    const tr_method *method;
    const char *base; // borrowed: the scene's own path
    tr_library *library;
    pthread_mutex_t *library_lock;
    bool lone, copy_first;
    tr_picture_job picture;
    int entry;
    tr_thumb thumb;
    atomic_bool shown; // solve: the copied result is there
    bool ok;
    tr_error error;
} job;

typedef struct lines {
    char **items;
    int count;
} lines;

struct tr_session {
    tr_worker *worker;
    job job;

    tr_document *document;
    tr_scene empty;
    tr_library library;
    pthread_mutex_t library_lock; // stages are built, and with them files read, on the worker's thread
    char *base;                   // the file references are relative to, NULL = all is in the library
    char *file;                   // where it is saved
    char *what;
    bool lone;
    unsigned revision, saved, opened;
    tr_outcome *take; // shown
    const tr_method *method;
    bool want_solve, cancelled, synchronous;
    lines preview;

    tr_live *live;      // a drag, or its poses until they are solved
    tr_live *next_live; // to be started
    bool let_go, keep_live;
    double latency;

    char *open_what; // asked for
    int open_cast;
    tr_scene restore; // to take the place of what is opened
    bool restoring;
    char *restore_file;
    char *export_folder;
    tr_picture_job *pictures;
    int picture_count, picture_capacity;
    tr_thumb thumbs[TR_MAX_THUMBS];
    bool thumb_wanted[TR_MAX_THUMBS];

    char message[640];
    bool has_message, message_bad;
};

// ------------------------------------------------------------------------------------------------ takes

static void release_take( tr_outcome *take )
{
    if ( take == NULL || --take->users > 0 )
        return;
    tr_measures_free( &take->measures );
    tr_strips_free( &take->strips );
    tr_result_free( &take->copied );
    tr_result_free( &take->solved );
    tr_stage_free( &take->stage );
    tr_scene_free( &take->scene );
    tr_log_free( &take->warnings );
    tr_free( take );
}

static void show_take( tr_session *session, tr_outcome *take )
{
    if ( take == session->take )
        return;
    if ( take != NULL )
        ++take->users;
    release_take( session->take );
    session->take = take;
}

const tr_outcome *tr_session_outcome( const tr_session *session )
{
    return session->take;
}

// While a take is being solved only what was delivered before may be looked at.
static const tr_result *solved_of( const tr_session *session )
{
    const tr_outcome *take = session->take;
    bool in_work = session->job.kind == JOB_SOLVE && session->job.take == take;
    return take != NULL && !in_work && take->has_solved ? &take->solved : NULL;
}

const tr_outcome *tr_session_figures( const tr_session *session )
{
    return solved_of( session ) != NULL ? session->take : NULL;
}

const tr_result *tr_session_result( const tr_session *session, const tr_stage **stage )
{
    const tr_outcome *take = session->take;
    const tr_result *live = session->live != NULL ? tr_live_result( session->live, stage ) : NULL;
    if ( live != NULL )
        return live;
    const tr_result *solved = solved_of( session );
    *stage = solved != NULL || ( take != NULL && take->has_copied ) ? &take->stage : NULL;
    return solved != NULL ? solved : *stage != NULL ? &take->copied : NULL;
}

bool tr_session_solved( const tr_session *session )
{
    const tr_stage *stage;
    const tr_result *result = tr_session_result( session, &stage );
    return result != NULL && result == solved_of( session );
}

// ---------------------------------------------------------------------------------------------- messages

static void say( tr_session *session, bool bad, const char *format, ... ) TR_PRINTF( 3 );

static void say( tr_session *session, bool bad, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( session->message, sizeof session->message, format, arguments );
    va_end( arguments );
    session->message_bad = bad;
    session->has_message = true;
}

static void say_error( tr_session *session, const tr_error *error )
{
    char text[1400];
    tr_error_print( error, text, sizeof text );
    say( session, true, "%s", text );
}

bool tr_session_message( tr_session *session, char *out, size_t size, bool *bad )
{
    if ( !session->has_message )
        return false;
    snprintf( out, size, "%s", session->message );
    *bad = session->message_bad;
    session->has_message = false;
    return true;
}

// ------------------------------------------------------------------------------------- work: open, solve

static void run_open( void *context, tr_worker *worker )
{
    job *j = context;
    (void)worker;
    j->ok = tr_open( &j->opened, j->what, j->cast, &j->error );
}

static bool solve_take( job *j, tr_worker *worker )
{
    tr_outcome *take = j->take;
    tr_progress link = tr_worker_link( worker );
    pthread_mutex_lock( j->library_lock );
    bool built =
        tr_stage_build( &take->stage, &take->scene, j->base, j->library, &take->warnings, &j->error );
    pthread_mutex_unlock( j->library_lock );
    if ( !built )
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
    bool ok = j->lone ? tr_result_from_source( &take->solved, &take->stage, &j->error )
                      : tr_pipeline_run( &take->solved, &take->stage, j->method, &j->error );
    take->stage.progress = NULL;
    take->solve_ms = tr_clock_ms() - start;
    take->has_solved = ok;
    if ( ok )
        take->has_strips = tr_strips_measure( &take->strips, &take->stage, &take->solved, NULL );
    if ( ok )
        take->has_measures = tr_measure( &take->measures, &take->stage, &take->solved, NULL );
    return ok;
}

static void run_solve( void *context, tr_worker *worker )
{
    job *j = context;
    j->ok = solve_take( j, worker );
}

static void run_export( void *context, tr_worker *worker )
{
    job *j = context;
    tr_progress link = tr_worker_link( worker );
    tr_stage stage = j->take->stage; // a look at it with a progress of its own
    stage.progress = &link;
    j->ok = tr_result_save( &stage, &j->take->solved, j->method->name, j->what, &j->error );
}

// -------------------------------------------------------------------------------------- work: pictures

typedef struct studio { // draws without the window, on the worker's thread
    tr_headless *headless;
    tr_renderer *renderer;
    tr_draw_list list;
    unsigned char *rgb;
} studio;

static bool studio_open( studio *s, int width, int height, tr_error *error )
{
    *s = ( studio ){ .rgb = tr_alloc( (size_t)width * (size_t)height, 3 ) };
    if ( s->rgb == NULL )
        return tr_error_memory( error );
    s->headless = tr_headless_create( error );
    s->renderer = s->headless != NULL ? tr_renderer_create( error ) : NULL;
    return s->renderer != NULL;
}

static void studio_close( studio *s )
{
    tr_renderer_destroy( s->renderer );
    tr_headless_destroy( s->headless );
    tr_draw_free( &s->list );
    tr_free( s->rgb );
}

static bool draw_frame( studio *s, const job *j, int frame, tr_error *error )
{
    const tr_picture_job *p = &j->picture;
    tr_view_fill( &s->list, &j->take->stage, &j->take->solved, frame, &p->view );
    return tr_renderer_picture( s->renderer, &s->list, &p->camera, p->width, p->height, s->rgb, error );
}

static bool draw_video( studio *s, job *j, tr_worker *worker )
{
    const tr_picture_job *p = &j->picture;
    tr_video *video = tr_video_open( p->path, p->width, p->height, j->take->stage.fps, &j->error );
    tr_progress link = tr_worker_link( worker );
    bool ok = video != NULL;
    for ( int f = p->first; ok && f <= p->last; ++f )
        ok = tr_progress_report( &link, f - p->first, p->last - p->first + 1, &j->error ) &&
             draw_frame( s, j, f, &j->error ) && tr_video_frame( video, s->rgb, &j->error );
    if ( video == NULL || ok )
        return ok && tr_video_close( video, &j->error );
    tr_video_discard( video );
    return false;
}

static void run_draw( void *context, tr_worker *worker )
{
    job *j = context;
    const tr_picture_job *p = &j->picture;
    studio s;
    j->ok = studio_open( &s, p->width, p->height, &j->error );
    if ( j->ok && p->first != p->last )
        j->ok = draw_video( &s, j, worker );
    else if ( j->ok ) {
        tr_renderer_set_still( s.renderer, true );
        j->ok = draw_frame( &s, j, p->first, &j->error ) &&
                tr_picture_save( p->path, p->width, p->height, s.rgb, &j->error );
    }
    studio_close( &s );
}

// A built-in scene as it is before solving: enough for a picture the size of a stamp.
static bool draw_thumb( job *j )
{
    tr_opened opened = { 0 };
    tr_stage stage = { 0 };
    tr_result result = { 0 };
    studio s = { 0 };
    int count;
    const tr_scene_entry *entry = &tr_scene_table( &count )[j->entry];
    int w = j->thumb.width, h = j->thumb.height;
    tr_view_def view = tr_default_view_def();
    tr_camera camera;
    bool ok = tr_open( &opened, entry->name, 0, &j->error ) &&
              tr_stage_build( &stage, &opened.scene, NULL, &opened.library, NULL, &j->error ) &&
              tr_pipeline_run( &result, &stage, tr_method_find( "copy" ), &j->error );
    int middle = result.frame_count / 2;
    ok = ok &&
         tr_view_camera( &camera, &stage, &result, 1, middle, middle, "auto", (double)w / h, &j->error ) &&
         studio_open( &s, w, h, &j->error );
    if ( ok ) {
        tr_renderer_set_still( s.renderer, true );
        tr_view_fill( &s.list, &stage, &result, middle, &view );
        ok = tr_renderer_picture( s.renderer, &s.list, &camera, w, h, s.rgb, &j->error );
    }
    if ( ok ) {
        j->thumb.rgb = s.rgb;
        s.rgb = NULL;
    }
    studio_close( &s );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_opened_free( &opened );
    return ok;
}

static void run_thumb( void *context, tr_worker *worker )
{
    job *j = context;
    (void)worker;
    j->ok = draw_thumb( j );
}

const tr_thumb *tr_session_thumb( tr_session *session, int entry )
{
    if ( entry < 0 || entry >= TR_MAX_THUMBS )
        return NULL;
    session->thumb_wanted[entry] |= session->thumbs[entry].rgb == NULL && !session->thumbs[entry].failed;
    return &session->thumbs[entry];
}

// --------------------------------------------------------------------------------------- starting work

static void start_work( tr_session *session, void ( *run )( void *context, tr_worker *worker ), job *j )
{
    tr_worker_start( session->worker, run, j );
    if ( session->synchronous && j->kind != JOB_DRAG ) // a drag ends when it is let go
        tr_worker_wait( session->worker );
}

static void free_lines( lines *l )
{
    for ( int i = 0; i < l->count; ++i )
        tr_free( l->items[i] );
    tr_free( l->items );
    *l = ( lines ){ 0 };
}

// What the document's scene would be with some more lines.
static bool draft_scene( const tr_session *session, char *const *text, int count, tr_scene *out,
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

static void start_solve( tr_session *session )
{
    tr_error error = { 0 };
    tr_outcome *take = tr_alloc( 1, sizeof *take );
    session->want_solve = false;
    if ( take == NULL )
        return;
    take->users = 1;
    take->revision = session->revision;
    if ( !draft_scene( session, session->preview.items, session->preview.count, &take->scene, &error ) ) {
        release_take( take );
        say_error( session, &error );
        return;
    }
    session->job = ( job ){ .kind = JOB_SOLVE,
                            .take = take,
                            .method = session->method,
                            .base = session->base,
                            .library = &session->library,
                            .library_lock = &session->library_lock,
                            .lone = session->lone && tr_document_log_count( session->document ) == 0 &&
                                    session->preview.count == 0,
                            .copy_first = session->take == NULL };
    start_work( session, run_solve, &session->job );
}

static void start_open( tr_session *session )
{
    session->job = ( job ){ .kind = JOB_OPEN, .what = session->open_what, .cast = session->open_cast };
    session->open_what = NULL;
    start_work( session, run_open, &session->job );
}

static void start_export( tr_session *session )
{
    session->job = ( job ){ .kind = JOB_EXPORT, .what = session->export_folder, .method = session->method };
    session->export_folder = NULL;
    session->job.take = session->take;
    ++session->take->users;
    start_work( session, run_export, &session->job );
}

static void start_draw( tr_session *session )
{
    session->job = ( job ){ .kind = JOB_DRAW, .picture = session->pictures[0], .take = session->take };
    memmove( session->pictures, session->pictures + 1,
             (size_t)--session->picture_count * sizeof *session->pictures );
    ++session->take->users;
    start_work( session, run_draw, &session->job );
}

static bool start_thumb( tr_session *session )
{
    int count;
    tr_scene_table( &count );
    for ( int i = 0; i < count && i < TR_MAX_THUMBS; ++i ) {
        if ( !session->thumb_wanted[i] )
            continue;
        session->thumb_wanted[i] = false;
        session->job = ( job ){
            .kind = JOB_THUMB, .entry = i, .thumb = { .width = THUMB_WIDTH, .height = THUMB_HEIGHT } };
        start_work( session, run_thumb, &session->job );
        return true;
    }
    return false;
}

static void run_drag( void *context, tr_worker *worker )
{
    job *j = context;
    tr_live_work( j->live, worker );
    j->ok = !tr_live_failed( j->live, &j->error );
}

static void start_drag( tr_session *session )
{
    tr_live_destroy( session->live ); // what was still shown of the one before
    session->live = session->next_live;
    session->next_live = NULL;
    session->job = ( job ){ .kind = JOB_DRAG, .live = session->live, .take = session->take };
    ++session->take->users;
    start_work( session, run_drag, &session->job );
}

static void start_next( tr_session *session )
{
    bool solved = session->take != NULL && session->take->has_solved;
    if ( session->open_what != NULL )
        start_open( session );
    else if ( session->next_live != NULL )
        start_drag( session );
    else if ( session->want_solve && session->document != NULL )
        start_solve( session );
    else if ( session->export_folder != NULL && solved )
        start_export( session );
    else if ( session->picture_count > 0 && solved )
        start_draw( session );
    else
        start_thumb( session );
}

// --------------------------------------------------------------------------------------- finished work

static void forget_live( tr_session *session )
{
    tr_live_destroy( session->live );
    tr_live_destroy( session->next_live );
    session->live = session->next_live = NULL;
}

static void forget_document( tr_session *session )
{
    forget_live( session );
    show_take( session, NULL );
    tr_document_destroy( session->document );
    session->document = NULL;
    tr_library_free( &session->library );
    tr_free( session->base );
    tr_free( session->file );
    tr_free( session->what );
    session->base = session->file = session->what = NULL;
    free_lines( &session->preview );
}

// What was opened becomes the document. A folder of results stands for its scene.
static bool adopt( tr_session *session, job *j )
{
    tr_opened *o = &j->opened;
    const tr_scene *scene = session->restoring ? &session->restore : &o->scene;
    tr_document *document = tr_document_create( scene, &j->error );
    char *file = session->restoring ? session->restore_file : o->file;
    char *copy = file != NULL ? tr_string_copy( file ) : NULL;
    if ( document == NULL || ( file != NULL && copy == NULL ) ) {
        tr_document_destroy( document );
        tr_free( copy );
        return tr_error_memory( &j->error );
    }
    forget_document( session );
    session->document = document;
    session->library = o->library;
    o->library = ( tr_library ){ 0 };
    session->base = o->file;
    o->file = NULL;
    session->file = copy;
    session->what = j->what;
    j->what = NULL;
    session->lone = o->lone;
    session->saved = ++session->revision;
    if ( session->restoring )
        ++session->revision;
    ++session->opened;
    session->want_solve = true;
    session->cancelled = false;
    return true;
}

static void finish_open( tr_session *session, job *j )
{
    if ( !j->ok || !adopt( session, j ) )
        say_error( session, &j->error );
    else if ( j->opened.warnings.count > 0 )
        say( session, false, "%s", j->opened.warnings.lines[0] );
    tr_opened_free( &j->opened );
    tr_scene_free( &session->restore );
    tr_free( session->restore_file );
    session->restore_file = NULL;
    session->restoring = false;
}

static void finish_solve( tr_session *session, job *j )
{
    if ( j->ok )
        show_take( session, j->take );
    else if ( tr_worker_cancelled( session->worker ) ) {
        session->cancelled = !session->want_solve;
        say( session, false,
             "Solving was cancelled; what you see is from before. Solve again from the Edit menu." );
    } else {
        session->cancelled = true;
        say_error( session, &j->error );
    }
    if ( j->ok )
        session->cancelled = false;
    if ( session->next_live == NULL ) // what was dragged is solved now, or never will be
        forget_live( session );
}

static void finish_drag( tr_session *session, const job *j )
{
    if ( !j->ok )
        say_error( session, &j->error );
    else
        session->latency = tr_live_latency( session->live );
    if ( !j->ok || !session->keep_live )
        forget_live( session );
}

static void finish_file( tr_session *session, const job *j, const char *path )
{
    if ( j->ok )
        say( session, false, "Wrote %s", path );
    else if ( tr_worker_cancelled( session->worker ) )
        say( session, false, "Cancelled; %s was not written", path );
    else
        say_error( session, &j->error );
}

static void finish_job( tr_session *session )
{
    job *j = &session->job;
    switch ( j->kind ) {
    case JOB_OPEN: finish_open( session, j ); break;
    case JOB_SOLVE: finish_solve( session, j ); break;
    case JOB_DRAG: finish_drag( session, j ); break;
    case JOB_EXPORT: finish_file( session, j, j->what ); break;
    case JOB_DRAW: finish_file( session, j, j->picture.path ); break;
    case JOB_THUMB:
        session->thumbs[j->entry] = j->thumb;
        session->thumbs[j->entry].failed = !j->ok;
        break;
    case JOB_NONE: break;
    }
    release_take( j->take );
    tr_free( j->what );
    tr_free( j->picture.path );
    session->job = ( job ){ 0 };
}

bool tr_session_poll( tr_session *session )
{
    bool news = session->live != NULL && tr_live_poll( session->live );
    job *j = &session->job;
    if ( j->kind == JOB_SOLVE && session->take == NULL && atomic_load( &j->shown ) ) {
        show_take( session, j->take );
        news = true;
    }
    if ( j->kind != JOB_NONE && !tr_worker_running( session->worker ) ) {
        finish_job( session );
        news = true;
    }
    if ( j->kind == JOB_NONE )
        start_next( session );
    if ( j->kind != JOB_NONE && !tr_worker_running( session->worker ) ) { // it did not take long
        finish_job( session );
        news = true;
    }
    return news;
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
    session->want_solve = true;
    free_lines( &session->preview );
}

bool tr_session_apply( tr_session *session, char *const *text, int count, tr_error *error )
{
    if ( session->document == NULL )
        return tr_error_set( error, "nothing is open" );
    int done = 0;
    while ( done < count && tr_document_apply( session->document, text[done], error ) )
        ++done;
    if ( done == count ) {
        tr_document_join( session->document, count );
        changed( session );
        return true;
    }
    while ( done-- > 0 )
        tr_document_undo( session->document );
    return false;
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

static bool same_lines( const lines *l, char *const *text, int count )
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
    free_lines( &session->preview );
    session->preview.items = count > 0 ? tr_alloc( (size_t)count, sizeof( char * ) ) : NULL;
    for ( int i = 0; session->preview.items != NULL && i < count; ++i ) {
        char *copy = tr_string_copy( text[i] );
        if ( copy != NULL )
            session->preview.items[session->preview.count++] = copy;
    }
    session->want_solve = true;
}

// ------------------------------------------------------------------------------------------------- drag

bool tr_session_dragging( const tr_session *session )
{
    return session->next_live != NULL || session->job.kind == JOB_DRAG;
}

void tr_session_drag( tr_session *session, char *const *text, int count, const char *layer,
                      const char *handle )
{
    tr_error error = { 0 };
    const tr_outcome *take = session->take;
    bool ready = session->document != NULL && take != NULL && solved_of( session ) != NULL;
    if ( !ready || tr_session_dragging( session ) )
        return;
    tr_live_def def = { .base = session->base,
                        .library = &session->library,
                        .library_lock = &session->library_lock,
                        .method = session->method,
                        .layer = layer,
                        .handle = handle };
    bool fresh = tr_scene_find_layer( tr_document_scene( session->document ), layer ) < 0;
    if ( fresh && take->revision == session->revision ) // on top of all: what is there is what it acts on
        def.below = session->take;
    if ( !draft_scene( session, text, count, &def.scene, &error ) ) {
        say_error( session, &error );
        return;
    }
    session->let_go = session->keep_live = false;
    session->next_live = tr_live_create( &def, &error );
    if ( session->next_live == NULL )
        say_error( session, &error );
}

void tr_session_drag_move( tr_session *session, vec3 move, int frame )
{
    tr_live *live = session->next_live != NULL ? session->next_live : session->live;
    if ( live != NULL )
        tr_live_move( live, move, frame );
}

void tr_session_drag_end( tr_session *session, bool keep )
{
    if ( !tr_session_dragging( session ) || session->let_go )
        return;
    session->let_go = true;
    session->keep_live = keep;
    if ( session->job.kind == JOB_DRAG )
        tr_live_stop( session->live );
    tr_live_destroy( session->next_live ); // it had not even begun
    session->next_live = NULL;
}

double tr_session_latency( const tr_session *session )
{
    return session->live != NULL ? tr_live_latency( session->live ) : session->latency;
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

void tr_session_restore( tr_session *session, const char *what, const char *file, tr_scene *scene )
{
    tr_scene_free( &session->restore );
    session->restore = *scene;
    *scene = ( tr_scene ){ 0 };
    session->restoring = true;
    set_string( &session->restore_file, file );
    tr_session_open( session, what, 0 );
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
    session->saved = session->revision;
    say( session, false, "Saved %s", target );
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

const char *tr_session_name( const tr_session *session )
{
    const char *path = session->file != NULL ? session->file : session->what;
    const char *slash = path != NULL ? strrchr( path, '/' ) : NULL;
    return path == NULL ? "" : slash != NULL ? slash + 1 : path;
}

bool tr_session_unsaved( const tr_session *session )
{
    return session->document != NULL && session->saved != session->revision;
}

void tr_session_export( tr_session *session, const char *folder )
{
    set_string( &session->export_folder, folder );
}

void tr_session_draw( tr_session *session, const tr_picture_job *picture )
{
    tr_picture_job copy = *picture;
    copy.path = tr_string_copy( picture->path );
    if ( copy.path != NULL && tr_array_reserve( (void **)&session->pictures, &session->picture_capacity,
                                                session->picture_count + 1, sizeof copy ) )
        session->pictures[session->picture_count++] = copy;
    else
        tr_free( copy.path );
}

// ------------------------------------------------------------------------------------------------- work

const tr_method *tr_session_method( const tr_session *session )
{
    return session->method;
}

void tr_session_set_method( tr_session *session, const tr_method *method )
{
    session->want_solve |= method != session->method;
    session->method = method;
}

bool tr_session_busy( const tr_session *session )
{
    return session->job.kind != JOB_NONE || session->open_what != NULL || session->want_solve ||
           session->export_folder != NULL || session->picture_count > 0;
}

bool tr_session_stale( const tr_session *session )
{
    return session->cancelled;
}

const char *tr_session_task( const tr_session *session, float *progress )
{
    static const char *const names[] = {
        [JOB_NONE] = NULL,      [JOB_OPEN] = "Opening", [JOB_SOLVE] = "Solving", [JOB_EXPORT] = "Exporting",
        [JOB_DRAW] = "Drawing", [JOB_THUMB] = NULL,     [JOB_DRAG] = NULL };
    *progress = tr_worker_progress( session->worker );
    return names[session->job.kind];
}

void tr_session_cancel( tr_session *session )
{
    tr_worker_cancel( session->worker );
}

void tr_session_solve( tr_session *session )
{
    session->want_solve = session->document != NULL;
}

// ------------------------------------------------------------------------------------------------- life

tr_session *tr_session_create( bool synchronous, tr_error *error )
{
    tr_session *session = tr_alloc( 1, sizeof *session );
    if ( session == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    pthread_mutex_init( &session->library_lock, NULL );
    session->empty = tr_default_scene();
    session->method = tr_method_find( NULL );
    session->synchronous = synchronous;
    session->worker = tr_worker_create( error );
    if ( session->worker != NULL )
        return session;
    tr_free( session );
    return NULL;
}

void tr_session_destroy( tr_session *session )
{
    if ( session == NULL )
        return;
    if ( session->live != NULL )
        tr_live_stop( session->live );
    tr_worker_destroy( session->worker );
    job *j = &session->job;
    tr_opened_free( &j->opened );
    release_take( j->take );
    tr_free( j->what );
    tr_free( j->picture.path );
    tr_free( j->thumb.rgb );
    forget_document( session );
    for ( int i = 0; i < TR_MAX_THUMBS; ++i )
        tr_free( session->thumbs[i].rgb );
    for ( int i = 0; i < session->picture_count; ++i )
        tr_free( session->pictures[i].path );
    tr_free( session->pictures );
    tr_free( session->open_what );
    tr_free( session->export_folder );
    tr_free( session->restore_file );
    tr_scene_free( &session->restore );
    pthread_mutex_destroy( &session->library_lock );
    tr_free( session );
}
