// The editor without a screen: events go into its window, frames are run, the state is checked.
#include "random_events.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#define LONG_SECONDS 60 // seconds of solving before it is cancelled
// What the interface may keep when a scene is opened again: arrays of widgets, of selected items and of looks
// grow to the largest number seen, Nuklear keeps a page per window, lists of recent files fill up. Lists of
// what is drawn, which grow to the fullest picture seen, are not counted at all.
#define INTERFACE_BYTES ( (size_t)256 << 10 )

double seconds_now( void )
{
    struct timespec now;
    clock_gettime( CLOCK_MONOTONIC, &now );
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

_Noreturn void give_up( const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    fprintf( stderr, "FAILED " );
    vfprintf( stderr, format, arguments );
    fprintf( stderr, "\n" );
    va_end( arguments );
    fflush( stderr );
    _exit( 3 );
}

static tr_text print_document( const desk *d )
{
    tr_text text = { 0 };
    tr_error error = { 0 };
    check_that( tr_scene_print( tr_app_scene( d->app ), &text, &error ), "printing the document: %s",
                error.message );
    return text;
}

// ---------------------------------------------------------------------------------------------------- checks

static void check_frame_of( const tr_result *result, int frame )
{
    for ( int i = 0; i < result->actor_count; ++i ) {
        const tr_world *world = &result->worlds[i];
        size_t first = (size_t)frame * (size_t)world->joint_count;
        bool ok = true;
        for ( size_t k = first; k < first + (size_t)world->joint_count; ++k ) {
            vec3 t = world->positions[k];
            quat q = world->rotations[k];
            ok = ok && isfinite( t.x + t.y + t.z + q.w + q.x + q.y + q.z );
        }
        check_that( ok, "not a number: character %d of what is shown, frame %d", i, frame );
    }
    for ( int i = 0; i < result->prop_count; ++i ) {
        rigid place = result->tracks[i][frame];
        vec3 t = place.position;
        quat q = place.rotation;
        check_that( isfinite( t.x + t.y + t.z + q.w + q.x + q.y + q.z ),
                    "not a number: prop %d of what is shown, frame %d", i, frame );
    }
}

static void check_result( const desk *d )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    for ( int f = 0; result != NULL && f < result->frame_count; ++f )
        check_frame_of( result, f );
}

static void check_state( desk *d )
{
    const tr_ui *ui = ui_of( d );
    tr_error error = { 0 };
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    if ( tr_app_revision( d->app ) != d->revision ) {
        d->revision = tr_app_revision( d->app );
        ++d->figures->changes;
        check_that( tr_scene_check( tr_app_scene( d->app ), NULL, &error ), "document: %s: %s", error.path,
                    error.message );
    }
    if ( tr_app_opened( d->app ) != d->opened ) {
        d->opened = tr_app_opened( d->app );
        ++d->figures->opened;
        tr_text_free( &d->document );
        if ( tr_app_ops( d->app ) == 0 )
            d->document = print_document( d );
        else // it was changed within the frame that opened it
            d->document.failed = true;
    }
    int last = ui->frame_count > 0 ? ui->frame_count - 1 : 0;
    check_that( ui->frame >= 0 && ui->frame <= last, "frame: %d of %d is shown", ui->frame, ui->frame_count );
    check_that( ui->loop_first >= 0 && ui->loop_first <= ui->loop_last && ui->loop_last <= last,
                "range: %d to %d plays, of %d", ui->loop_first, ui->loop_last, ui->frame_count );
    if ( result != NULL && ui->frame < result->frame_count )
        check_frame_of( result, ui->frame );
}

// ---------------------------------------------------------------------------------------------------- frames

void desk_start( desk *d )
{
    tr_error error = { 0 };
    tr_app_def def = tr_default_app_def();
    d->window = tr_window_pretend( 1280, 800, 1.0, d->options->pictures, &error );
    check_that( d->window != NULL, "window: %s", error.message );
    tr_window_advance( d->window, 1e5 );
    def.window = d->window;
    def.open = d->scene.path;
    def.cast = d->scene.a;
    def.autosave = 5.0; // often enough to happen
    def.wait = false;
    d->app = tr_app_create( &def, &error );
    check_that( d->app != NULL, "editor: %s", error.message );
    d->opened = d->revision = d->buttons = 0;
}

void desk_stop( desk *d )
{
    tr_app_destroy( d->app );
    d->app = NULL;
    tr_text_free( &d->document );
    check_that( tr_memory_live() == 0, "memory after closing: %zu bytes", tr_memory_live() );
}

// A dialog that leaves the temporary folder goes back into it.
static void guard_files( desk *d )
{
    const tr_ui *ui = ui_of( d );
    if ( strncmp( ui->folder, d->base, strlen( d->base ) ) != 0 && ui->folder[0] != 0 )
        tr_app_set_folder( d->app, d->folder );
    if ( ui->dialog == TR_DIALOG_NONE || ( ui->field[0] != '/' && strstr( ui->field, ".." ) == NULL ) )
        return;
    tr_event_queue *queue = &d->window->queue;
    for ( int i = 0; i < queue->count; ++i )
        tr_free( queue->items[i].path );
    queue->count = 0;
    tr_window_push( d->window, &( tr_event ){ .kind = TR_EVENT_KEY, .key = TR_KEY_ESCAPE, .down = true } );
}

static void desk_frames( desk *d, int count )
{
    for ( int i = 0; i < count; ++i ) {
        alarm( HANG_SECONDS );
        guard_files( d );
        tr_window_advance( d->window, 1.0 / 60.0 );
        ++d->figures->frames;
        if ( tr_app_frame( d->app ) ) {
            check_state( d );
        } else { // somebody has quit
            desk_stop( d );
            desk_start( d );
        }
    }
}

// While a drag or a held frame is on, its thread goes on for ever.
static bool desk_settle( desk *d, double seconds )
{
    double end = seconds_now() + seconds;
    for ( int i = 0; i < 3 || ( !tr_app_settled( d->app ) && seconds_now() < end ); ++i ) {
        desk_frames( d, 1 );
        usleep( 2000 );
    }
    check_result( d );
    return tr_app_settled( d->app );
}

// ---------------------------------------------------------------------------------------------------- rounds

static void push( desk *d, tr_event event )
{
    tr_window_push( d->window, &event );
}

static void type_key( desk *d, int key, unsigned modifiers )
{
    push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = key, .down = true, .modifiers = modifiers } );
    push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = key, .modifiers = modifiers } );
    desk_frames( d, 1 );
}

// Nothing is held, typed or asked any more.
static void calm( desk *d )
{
    for ( int b = 0; b < TR_BUTTON_COUNT; ++b )
        if ( d->buttons >> b & 1 )
            push( d, ( tr_event ){ .kind = TR_EVENT_BUTTON, .button = b } );
    d->buttons = 0;
    while ( d->window->queue.count > 0 )
        desk_frames( d, 1 );
    for ( int i = 0; i < 8; ++i )
        type_key( d, TR_KEY_ESCAPE, 0 );
    check_that( ui_of( d )->dialog == TR_DIALOG_NONE && !tr_ui_typing( ui_of( d ) ) &&
                    !ui_of( d )->drag.active,
                "escape: leaves dialog %d, typing %d", ui_of( d )->dialog, tr_ui_typing( ui_of( d ) ) );
}

// Nothing is solved any more. What takes very long is cancelled: that must work.
static void come_to_rest( desk *d )
{
    for ( int i = 0; !desk_settle( d, LONG_SECONDS ); ++i ) {
        const char *task = ui_of( d )->task;
        check_that( i < HANG_SECONDS / LONG_SECONDS, "hang: %s does not end when it is cancelled",
                    task[0] != 0 ? task : "something" );
        ++d->figures->unsettled;
        tr_app_cancel( d->app );
    }
}

static void compare( const desk *d, const tr_text *expected, const char *what )
{
    tr_text now = print_document( d );
    bool same =
        !expected->failed && now.size == expected->size && memcmp( now.data, expected->data, now.size ) == 0;
    if ( !same && !expected->failed ) {
        size_t at = 0;
        while ( at < now.size && at < expected->size && now.data[at] == expected->data[at] )
            ++at;
        at -= at < 60 ? at : 60;
        give_up( "%s: another document: ...%.160s... instead of ...%.160s...", what, now.data + at,
                 expected->data + at );
    }
    tr_text_free( &now );
}

// As fast as a keyboard that repeats, and faster: one frame for many.
static void storm_of( desk *d, int key, int count )
{
    for ( int i = 0; i < count && i < 50; ++i )
        push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = key, .down = true, .modifiers = TR_MOD_CTRL } );
    type_key( d, key, TR_MOD_CTRL );
}

static void undo_and_redo( desk *d )
{
    int ops = tr_app_ops( d->app );
    unsigned opened = d->opened;
    tr_text last = print_document( d );
    for ( int before = ops + 1; tr_app_ops( d->app ) > 0 && tr_app_ops( d->app ) < before; ) {
        before = tr_app_ops( d->app );
        storm_of( d, 'Z', before );
    }
    d->figures->undone += ops;
    check_that( opened == d->opened && tr_app_ops( d->app ) == 0, "undo: %d of %d changes remain",
                tr_app_ops( d->app ), ops );
    compare( d, &d->document, "undo" );
    for ( int before = -1; tr_app_ops( d->app ) < ops && tr_app_ops( d->app ) > before; ) {
        before = tr_app_ops( d->app );
        bool all = tr_app_undone( d->app ) == ops - before;
        storm_of( d, 'Y', all ? ops - before : 0 );
    }
    check_that( tr_app_ops( d->app ) == ops, "redo: %d of %d changes came back", tr_app_ops( d->app ), ops );
    compare( d, &last, "redo" );
    tr_text_free( &last );
}

static void resize( desk *d, const step *s )
{
    if ( d->options->pictures ) // it draws into a picture of the first size
        return;
    d->window->width = s->a;
    d->window->height = s->b;
    d->window->scale = s->x;
    d->window->pixel_width = (int)( s->a * s->x );
    d->window->pixel_height = (int)( s->b * s->x );
}

void desk_restore_files( const desk *d )
{
    char command[3 * PATH_LENGTH];
    snprintf( command, sizeof command, "cp -R '%s/files/.' '%s'", d->base, d->folder );
    check_that( system( command ) == 0, "files: %s", command );
}

// The scene again, with the method it asks for and its own files, in a window of the first size: fonts are
// kept for its scale.
static void open_again( desk *d )
{
    figures *f = d->figures;
    desk_restore_files( d );
    resize( d, &( step ){ .a = 1280, .b = 800, .x = 1 } );
    tr_app_open( d->app, d->scene.path, d->scene.a );
    come_to_rest( d );
    if ( tr_app_stale( d->app ) ) // cancelled or refused: what is there differs in size
        return;
    f->live_last = tr_memory_live() - tr_app_drawing_bytes( d->app );
    if ( f->live_first == 0 )
        f->live_first = f->live_last;
    f->live_most = f->live_last > f->live_most ? f->live_last : f->live_most;
    check_that( f->live_last <= f->live_first + INTERFACE_BYTES,
                "memory of the scene opened again: %zu bytes, at first %zu", f->live_last, f->live_first );
}

static void run_round( desk *d )
{
    calm( d );
    come_to_rest( d ); // a file that is still being read would open or join the cast while all is undone
    if ( d->opened > 0 )
        undo_and_redo( d );
    open_again( d );
    ++d->figures->rounds;
}

// --------------------------------------------------------------------------------------------------- sending

static void perform( desk *d, const step *s )
{
    tr_event e = { .x = s->x, .y = s->y, .modifiers = (unsigned)s->b };
    switch ( s->kind ) {
    case STEP_MOVE: e.kind = TR_EVENT_MOTION; break;
    case STEP_PRESS:
    case STEP_RELEASE:
        e.kind = TR_EVENT_BUTTON;
        e.button = s->a;
        e.down = s->kind == STEP_PRESS;
        d->buttons = e.down ? d->buttons | 1u << s->a : d->buttons & ~( 1u << s->a );
        break;
    case STEP_WHEEL: e.kind = TR_EVENT_SCROLL; break;
    case STEP_KEY:
    case STEP_KEY_UP:
        e.kind = TR_EVENT_KEY;
        e.key = s->a;
        e.down = s->kind == STEP_KEY;
        break;
    case STEP_TEXT:
        e.kind = TR_EVENT_TEXT;
        e.text = (unsigned)s->a;
        break;
    case STEP_DROP:
        e.kind = TR_EVENT_DROP;
        e.path = tr_string_copy( s->path );
        break;
    case STEP_CLOSE: e.kind = TR_EVENT_CLOSE; break;
    case STEP_SIZE: resize( d, s ); return;
    case STEP_FRAMES: desk_frames( d, s->a ); return;
    case STEP_SETTLE: desk_settle( d, 3 ); return;
    case STEP_ROUND: run_round( d ); return;
    case STEP_OPEN:
    case STEP_KINDS: return;
    }
    push( d, e );
}

void desk_send( desk *d, const step *s )
{
    if ( d->log != NULL ) {
        step_print( d->log, s );
        fflush( d->log );
    }
    d->figures->events += step_is_event( s );
    perform( d, s );
}
