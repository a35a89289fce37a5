// Drags: poses that follow the pointer, before the change is an op and solved; how long the user waits.
#include "ui/session/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tr_dragging_active( const tr_dragging *drag )
{
    return drag->next != NULL || drag->running;
}

void tr_dragging_clear( tr_dragging *drag )
{
    tr_live_destroy( drag->live );
    tr_live_destroy( drag->next );
    tr_live_destroy( drag->last );
    drag->live = drag->next = drag->last = NULL;
}

// The drag whose poses are shown, NULL = none has any.
static const tr_live *find_shown( const tr_dragging *drag )
{
    const tr_stage *stage;
    if ( drag->live != NULL && tr_live_result( drag->live, &stage ) != NULL )
        return drag->live;
    return drag->last != NULL && tr_live_result( drag->last, &stage ) != NULL ? drag->last : NULL;
}

const tr_result *tr_dragging_result( const tr_dragging *drag, const tr_stage **stage )
{
    const tr_live *live = find_shown( drag );
    return live != NULL ? tr_live_result( live, stage ) : NULL;
}

const tr_cage_outline *tr_dragging_cage( const tr_dragging *drag, const char *layer )
{
    const tr_live *live = find_shown( drag );
    const tr_cage_outline *outline = live != NULL ? tr_live_cage( live ) : NULL;
    return outline != NULL && strcmp( outline->layer, layer ) == 0 ? outline : NULL;
}

// ------------------------------------------------------------------------------------------------ waits

static int by_size( const void *a, const void *b )
{
    double x = *(const double *)a, y = *(const double *)b;
    return ( x > y ) - ( x < y );
}

static void note_wait( tr_dragging *drag )
{
    tr_waits *w = &drag->waits;
    double sorted[TR_MAX_WAITS];
    if ( drag->live == NULL || !tr_live_latency( drag->live, &w->last ) )
        return;
    drag->waited[w->moves++ % TR_MAX_WAITS] = w->last;
    int count = w->moves < TR_MAX_WAITS ? w->moves : TR_MAX_WAITS;
    memcpy( sorted, drag->waited, (size_t)count * sizeof *sorted );
    qsort( sorted, (size_t)count, sizeof *sorted, by_size );
    w->p95 = sorted[( 95 * count + 99 ) / 100 - 1];
}

bool tr_dragging_poll( tr_dragging *drag )
{
    bool news = drag->live != NULL && tr_live_poll( drag->live );
    note_wait( drag );
    if ( news ) {
        tr_live_destroy( drag->last );
        drag->last = NULL;
    }
    return news;
}

tr_waits tr_session_waits( const tr_session *session )
{
    return session->drag.waits;
}

// ------------------------------------------------------------------------------------- as the tools ask

bool tr_session_dragging( const tr_session *session )
{
    return tr_dragging_active( &session->drag );
}

static uint64_t base_of( char *const *text, int count )
{
    uint64_t key = TR_HASH_START;
    for ( int i = 0; i + 1 < count; ++i )
        key = tr_hash_bytes( key, text[i], strlen( text[i] ) );
    return key;
}

static bool begin( tr_session *session, tr_live_def *def, uint64_t base )
{
    tr_dragging *drag = &session->drag;
    tr_error error = { 0 };
    drag->base = base;
    drag->let_go = drag->keep = false;
    drag->waits.moves = 0;
    drag->next = tr_live_create( def, &error );
    if ( drag->next == NULL )
        tr_message_error( &session->message, &error );
    return drag->next != NULL;
}

void tr_session_drag( tr_session *session, char *const *text, int count, const char *layer,
                      const char *handle )
{
    tr_error error = { 0 };
    tr_open_document *open = &session->open;
    tr_outcome *shown = session->solving.shown;
    uint64_t base = base_of( text, count );
    bool ready = open->document != NULL && tr_solving_solution( &session->solving ) != NULL;
    if ( tr_session_dragging( session ) && base != session->drag.base )
        tr_session_drag_end( session, true );
    if ( !ready || tr_session_dragging( session ) || base == session->drag.failed )
        return;
    tr_live_def def = { .files = tr_open_document_files( open ),
                        .method = tr_session_method( session ),
                        .root = tr_outcome_root( shown ),
                        .layer = layer,
                        .handle = handle };
    bool fresh = tr_scene_find_layer( tr_document_scene( open->document ), layer ) < 0;
    if ( fresh && shown->revision == open->revision ) // the new layer is on top of all that is shown
        def.below = shown;
    if ( !tr_open_document_draft( open, text, count, &def.scene, &error ) ) {
        tr_outcome_release( def.root );
        tr_message_error( &session->message, &error );
        return;
    }
    begin( session, &def, base );
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
    unsigned base = base_of_hold( hold );
    bool other = session->requests.open != NULL || session->solving.wanted;
    if ( tr_session_dragging( session ) ) {
        if ( other || base != session->drag.base )
            tr_session_drag_end( session, true );
        else
            tr_session_drag_move( session, place, v3_zero, hold->frame, asked_ms );
        return;
    }
    if ( other || session->worker.job.kind != TR_JOB_NONE ||
         tr_solving_solution( &session->solving ) == NULL || !tr_session_current( session ) ||
         base == session->drag.failed )
        return;
    tr_live_def def = {
        .method = tr_session_method( session ), .below = session->solving.shown, .hold = *hold };
    if ( begin( session, &def, base ) )
        tr_session_drag_move( session, place, v3_zero, hold->frame, asked_ms );
}

const char *tr_session_held( const tr_session *session )
{
    const tr_dragging *drag = &session->drag;
    bool held = drag->live != NULL && drag->next == NULL && !drag->let_go;
    return held ? tr_live_ops( drag->live ) : NULL;
}

void tr_session_drag_move( tr_session *session, vec3 move, vec3 turn, int frame, double asked_ms )
{
    tr_live *live = session->drag.next != NULL ? session->drag.next : session->drag.live;
    if ( live != NULL )
        tr_live_move( live, move, turn, frame, asked_ms );
}

void tr_session_drag_end( tr_session *session, bool keep )
{
    tr_dragging *drag = &session->drag;
    bool solving = session->solving.wanted || session->solving.running != NULL;
    drag->failed = 0;
    if ( !tr_dragging_active( drag ) && !keep && !solving ) // poses that were kept during other work
        tr_dragging_clear( drag );
    if ( !tr_dragging_active( drag ) || drag->let_go )
        return;
    drag->let_go = true;
    drag->keep = keep;
    if ( drag->running )
        tr_live_stop( drag->live );
    tr_live_destroy( drag->next ); // it had not even begun
    drag->next = NULL;
}

// ------------------------------------------------------------------------------------ on the worker

static void run_drag( void *context, tr_worker *worker )
{
    tr_job *j = context;
    tr_live_work( j->live, worker );
    j->ok = !tr_live_failed( j->live, &j->error );
}

void tr_session_start_drag( tr_session *session )
{
    tr_dragging *drag = &session->drag;
    tr_live_destroy( drag->last );
    drag->last = drag->live;
    drag->live = drag->next;
    drag->next = NULL;
    drag->running = true;
    session->worker.job =
        ( tr_job ){ .kind = TR_JOB_DRAG, .live = drag->live, .outcome = session->solving.shown };
    ++session->solving.shown->users;
    tr_measuring_stop( &session->measuring );
    tr_runner_start( &session->worker, run_drag );
}

void tr_session_finish_drag( tr_session *session, const tr_job *j )
{
    tr_dragging *drag = &session->drag;
    drag->running = false;
    if ( !j->ok ) {
        tr_message_error( &session->message, &j->error );
        drag->failed = drag->base;
    }
    if ( !j->ok || !drag->keep )
        tr_dragging_clear( drag );
}
