// Random events for the editor.
//
//   random_events --seed S --count N [--scene WHAT[:CAST]] [--seconds T] [--keep FILE] [--shrink T]
//   [--pictures] random_events --replay FILE
//
// Opens real scenes in an editor without a screen, sends it mouse, wheel, keys, letters, files and sizes
// through the window's queue, and checks after every frame that the document is valid and that what is shown
// is finite. The solver works on its own thread meanwhile.
//
// Every so many events comes a round: all is undone, which must give the opened document back, and redone,
// which must give the last one back; then the scene is opened again, which must take as much memory as the
// first time. When the editor closes, no memory of it is left.
//
// The run is cut into episodes, each in a process of its own. Its log has one line for each event, with the
// places resolved, so that it can be played again. When an episode fails, lines are left out of its log as
// long as it fails in the same way, and what remains is printed. Scripts of `troupe edit --hands` do not
// serve here: they name things instead of points, wait for the solver, and end with the first message.
//
// No file outside a temporary folder is written: the editor's folders are in it, dialogs that leave it are
// closed, and where the kernel has Landlock, it refuses everything else. One folder beside it can only be
// read, so that saving fails there.
#include "check.h"
#include "folder.h"

#include "scenes/scenes.h"
#include "ui/app.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#if __has_include( <linux/landlock.h>)
#include <linux/landlock.h>
#endif
#endif

#define EPISODE_LEAST 250  // events: fewer would mostly open scenes
#define EPISODE_MOST  2500 // events: a log that can still be shrunk
#define ROUND_EVENTS  500  // events between two rounds
#define PATH_LENGTH   200
#define HANG_SECONDS  600 // within a frame: a watchdog, far beyond the longest solve under a sanitizer
#define LONG_SECONDS  60  // of solving before it is cancelled
// What the interface may keep when a scene is opened again: arrays of widgets, of selected items and of looks
// grow to the largest number seen, Nuklear keeps a page per window, lists of recent files fill up. Its
// buffers for drawing, which grow to the fullest frame seen, are not counted at all.
#define INTERFACE_BYTES ( (size_t)256 << 10 )

// ----------------------------------------------------------------------------------------------------- lines

typedef enum step_kind {
    STEP_OPEN,    // path, a = cast
    STEP_MOVE,    // x y
    STEP_PRESS,   // a = button, x y, b = modifiers
    STEP_RELEASE, // the same
    STEP_WHEEL,   // x y notches, b = modifiers
    STEP_KEY,     // a = key, b = modifiers
    STEP_KEY_UP,  // the same
    STEP_TEXT,    // a = character
    STEP_DROP,    // path
    STEP_SIZE,    // a × b points, x pixels per point
    STEP_CLOSE,
    STEP_FRAMES, // a
    STEP_SETTLE,
    STEP_ROUND,
    STEP_KINDS
} step_kind;

typedef struct step {
    step_kind kind;
    int a, b;
    double x, y;
    char path[PATH_LENGTH];
} step;

static const char *const step_names[STEP_KINDS] = {
    [STEP_OPEN] = "open",     [STEP_MOVE] = "move",  [STEP_PRESS] = "press",  [STEP_RELEASE] = "release",
    [STEP_WHEEL] = "wheel",   [STEP_KEY] = "key",    [STEP_KEY_UP] = "keyup", [STEP_TEXT] = "text",
    [STEP_DROP] = "drop",     [STEP_SIZE] = "size",  [STEP_CLOSE] = "close",  [STEP_FRAMES] = "frames",
    [STEP_SETTLE] = "settle", [STEP_ROUND] = "round" };

static bool is_event( const step *s )
{
    return s->kind != STEP_OPEN && s->kind < STEP_FRAMES;
}

// Every line has all fields: what a kind does not use is 0.
static void print_step( FILE *out, const step *s )
{
    fprintf( out, "%s %d %d %.17g %.17g%s%s\n", step_names[s->kind], s->a, s->b, s->x, s->y,
             s->path[0] != 0 ? " " : "", s->path );
}

static bool parse_step( const char *line, step *s )
{
    char name[16];
    int end = 0;
    *s = ( step ){ 0 };
    if ( sscanf( line, "%15s %d %d %lf %lf%n", name, &s->a, &s->b, &s->x, &s->y, &end ) != 5 )
        return false;
    for ( s->kind = 0; s->kind < STEP_KINDS && strcmp( step_names[s->kind], name ) != 0; )
        ++s->kind;
    line += end + ( line[end] == ' ' );
    snprintf( s->path, sizeof s->path, "%.*s", (int)strcspn( line, "\n" ), line );
    return s->kind < STEP_KINDS;
}

typedef struct step_list {
    step *items;
    int count, capacity;
} step_list;

static void add_step( step_list *list, const step *s )
{
    if ( list->count == list->capacity ) {
        list->capacity = 2 * list->capacity + 256;
        list->items = realloc( list->items, (size_t)list->capacity * sizeof *s );
        if ( list->items == NULL )
            abort();
    }
    list->items[list->count++] = *s;
}

static bool load_steps( const char *path, step_list *list )
{
    char line[512];
    step s;
    FILE *file = fopen( path, "r" );
    if ( file == NULL )
        return false;
    while ( fgets( line, sizeof line, file ) != NULL )
        if ( parse_step( line, &s ) )
            add_step( list, &s );
    fclose( file );
    return list->count > 0 && list->items[0].kind == STEP_OPEN;
}

// --------------------------------------------------------------------------------------------------- options

typedef struct options {
    uint64_t seed;
    long count;
    double seconds; // 0: until all events are sent
    double shrink;  // seconds for that
    const char *scene, *replay, *keep;
    bool pictures;
} options;

typedef struct figures { // shared with the process that plays
    long events, frames, changes, rounds, undone, opened, unsettled;
    size_t live_first, live_last, live_most; // bytes after the scene was opened again
    long rss_kb;                             // most of the process
    bool closed;
} figures;

// ------------------------------------------------------------------------------------------------------ desk

typedef struct desk {
    const options *options;
    figures *figures;
    step scene; // STEP_OPEN
    FILE *log;
    tr_app *app;
    tr_window *window;
    const char *base; // the temporary folder
    char folder[PATH_LENGTH];
    unsigned opened, revision;
    tr_text document; // as it was opened; failed: not known
    unsigned buttons; // that are down
    double started;
} desk;

static double seconds_now( void )
{
    struct timespec now;
    clock_gettime( CLOCK_MONOTONIC, &now );
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// The first words, up to a colon, say what kind of failure it is.
#define check_that( truth, ... ) ( ( truth ) ? (void)0 : give_up( __VA_ARGS__ ) )

static _Noreturn void give_up( const char *format, ... )
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

static const tr_ui *ui_of( const desk *d )
{
    return &d->app->ui;
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
    if ( tr_session_revision( d->app->session ) != d->revision ) {
        d->revision = tr_session_revision( d->app->session );
        ++d->figures->changes;
        check_that( tr_scene_check( tr_app_scene( d->app ), NULL, &error ), "document: %s: %s", error.path,
                    error.message );
    }
    if ( tr_session_opened( d->app->session ) != d->opened ) {
        d->opened = tr_session_opened( d->app->session );
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

// -----------------------------------------------------------------------------------------------------
// frames

static void start_app( desk *d )
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

static void stop_app( desk *d )
{
    tr_app_destroy( d->app );
    d->app = NULL;
    tr_text_free( &d->document );
    check_that( tr_memory_live() == 0, "memory after closing: %zu bytes", tr_memory_live() );
}

// A dialog that leaves the temporary folder goes back into it.
static void guard_files( desk *d )
{
    tr_ui *ui = &d->app->ui;
    if ( strncmp( ui->folder, d->base, strlen( d->base ) ) != 0 && ui->folder[0] != 0 )
        snprintf( ui->folder, sizeof ui->folder, "%s", d->folder );
    if ( ui->dialog == TR_DIALOG_NONE || ( ui->field[0] != '/' && strstr( ui->field, ".." ) == NULL ) )
        return;
    tr_event_queue *queue = &d->window->queue;
    for ( int i = 0; i < queue->count; ++i )
        tr_free( queue->items[i].path );
    queue->count = 0;
    tr_window_push( d->window, &( tr_event ){ .kind = TR_EVENT_KEY, .key = TR_KEY_ESCAPE, .down = true } );
}

static void frames( desk *d, int count )
{
    for ( int i = 0; i < count; ++i ) {
        alarm( HANG_SECONDS );
        guard_files( d );
        tr_window_advance( d->window, 1.0 / 60.0 );
        ++d->figures->frames;
        if ( tr_app_frame( d->app ) ) {
            check_state( d );
        } else { // somebody has quit
            stop_app( d );
            start_app( d );
        }
    }
}

// While a drag or a held frame is on, its thread goes on for ever.
static bool settle( desk *d, double seconds )
{
    double end = seconds_now() + seconds;
    for ( int i = 0; i < 3 || ( !tr_app_settled( d->app ) && seconds_now() < end ); ++i ) {
        frames( d, 1 );
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
    frames( d, 1 );
}

// Nothing is held, typed or asked any more.
static void calm( desk *d )
{
    for ( int b = 0; b < TR_BUTTON_COUNT; ++b )
        if ( d->buttons >> b & 1 )
            push( d, ( tr_event ){ .kind = TR_EVENT_BUTTON, .button = b } );
    d->buttons = 0;
    while ( d->window->queue.count > 0 )
        frames( d, 1 );
    for ( int i = 0; i < 8; ++i )
        type_key( d, TR_KEY_ESCAPE, 0 );
    check_that( ui_of( d )->dialog == TR_DIALOG_NONE && !tr_ui_typing( ui_of( d ) ) &&
                    !ui_of( d )->drag.active,
                "escape: leaves dialog %d, typing %d", ui_of( d )->dialog, tr_ui_typing( ui_of( d ) ) );
}

// Nothing is solved any more. What takes very long is cancelled: that must work.
static void come_to_rest( desk *d )
{
    for ( int i = 0; !settle( d, LONG_SECONDS ); ++i ) {
        float progress;
        const char *task = tr_session_task( d->app->session, &progress );
        check_that( i < HANG_SECONDS / LONG_SECONDS, "hang: %s does not end when it is cancelled",
                    task != NULL ? task : "something" );
        ++d->figures->unsettled;
        tr_session_cancel( d->app->session );
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
        bool all = tr_document_redo_count( tr_session_document( d->app->session ) ) == ops - before;
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

static void restore_files( const desk *d )
{
    char command[3 * PATH_LENGTH];
    snprintf( command, sizeof command, "cp -R '%s/files/.' '%s'", d->base, d->folder );
    check_that( system( command ) == 0, "files: %s", command );
}

static size_t buffer_bytes( const tr_app *app )
{
    const struct nk_buffer *buffers[] = { &app->nk.memory, &app->over.memory, &app->paint.commands,
                                          &app->paint.vertices, &app->paint.elements };
    const tr_draw_list *l = &app->viewport.list;
    size_t sum = (size_t)l->capsule_capacity * sizeof *l->capsules +
                 (size_t)l->box_capacity * sizeof *l->boxes +
                 (size_t)l->triangle_capacity * sizeof *l->triangles +
                 (size_t)l->line_capacity * sizeof *l->lines + (size_t)l->disc_capacity * sizeof *l->discs;
    for ( size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i )
        sum += buffers[i]->memory.size;
    return sum;
}

// The scene again, with the method it asks for and its own files, in a window of the first size: fonts are
// kept for its scale.
static void open_again( desk *d )
{
    figures *f = d->figures;
    restore_files( d );
    resize( d, &( step ){ .a = 1280, .b = 800, .x = 1 } );
    tr_session_set_method( d->app->session, NULL );
    tr_session_open( d->app->session, d->scene.path, d->scene.a );
    come_to_rest( d );
    if ( tr_session_stale( d->app->session ) ) // cancelled or refused: what is there differs in size
        return;
    f->live_last = tr_memory_live() - buffer_bytes( d->app );
    if ( f->live_first == 0 )
        f->live_first = f->live_last;
    f->live_most = f->live_last > f->live_most ? f->live_last : f->live_most;
    check_that( f->live_last <= f->live_first + INTERFACE_BYTES,
                "memory of the scene opened again: %zu bytes, at first %zu", f->live_last, f->live_first );
}

static void run_round( desk *d )
{
    calm( d );
    if ( tr_session_document( d->app->session ) != NULL )
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
    case STEP_FRAMES: frames( d, s->a ); return;
    case STEP_SETTLE: settle( d, 3 ); return;
    case STEP_ROUND: run_round( d ); return;
    case STEP_OPEN:
    case STEP_KINDS: return;
    }
    push( d, e );
}

static void send( desk *d, const step *s )
{
    if ( d->log != NULL ) {
        print_step( d->log, s );
        fflush( d->log );
    }
    d->figures->events += is_event( s );
    perform( d, s );
}

// -------------------------------------------------------------------------------------------------- choosing

typedef struct player {
    desk *d;
    uint64_t seed;
    double x, y; // of the pointer
} player;

static int below( player *p, int count )
{
    return (int)( random_bits( &p->seed ) % (uint64_t)( count > 0 ? count : 1 ) );
}

static double between( player *p, double low, double high )
{
    return low + ( high - low ) * (double)( random_bits( &p->seed ) >> 11 ) * 0x1p-53;
}

static bool chance( player *p, int percent )
{
    return below( p, 100 ) < percent;
}

static int modifiers( player *p )
{
    return chance( p, 75 ) ? 0 : below( p, 8 );
}

static void frame( player *p, int count )
{
    send( p->d, &( step ){ .kind = STEP_FRAMES, .a = count } );
}

static void in_area( player *p, tr_area a )
{
    p->x = a.x + between( p, 0, a.width );
    p->y = a.y + between( p, 0, a.height );
}

static tr_area whole( const tr_ui *ui )
{
    return ( tr_area ){ 0, 0, (float)ui->width, (float)ui->height };
}

// A button, field or list entry of a part of the window; of a dialog while there is one.
static bool choose_spot( player *p, tr_area part )
{
    const tr_ui *ui = ui_of( p->d );
    bool asked = ui->dialog != TR_DIALOG_NONE;
    for ( int i = 0; i < 40 && ui->spot_count > 0; ++i ) {
        const tr_spot *spot = &ui->spots[below( p, ui->spot_count )];
        if ( asked && i < 30 && strncmp( spot->name, "dialog", 6 ) != 0 &&
             strncmp( spot->name, "find", 4 ) != 0 )
            continue;
        if ( !asked && i < 30 && !tr_area_has( part, spot->area.x + 1, spot->area.y + 1 ) )
            continue;
        in_area( p, spot->area );
        return true;
    }
    return false;
}

static bool choose_thing( player *p )
{
    const tr_stage *stage;
    if ( tr_app_result( p->d->app, &stage ) == NULL )
        return false;
    char name[TR_ID_MAX + TR_JOINT_MAX + 2];
    const tr_scene *scene = stage->scene;
    int i = below( p, scene->cast_count + scene->prop_count + scene->obstacle_count );
    if ( i < scene->cast_count ) {
        const tr_skeleton *s = &stage->actors[i].target;
        snprintf( name, sizeof name, "%s.%s", scene->cast[i].id, s->joints[below( p, s->joint_count )].name );
    } else if ( i < scene->cast_count + scene->prop_count ) {
        snprintf( name, sizeof name, "%s", scene->props[i - scene->cast_count].id );
    } else if ( scene->obstacle_count > 0 ) {
        snprintf( name, sizeof name, "%s", scene->obstacles[i - scene->cast_count - scene->prop_count].id );
    } else {
        return false;
    }
    return tr_app_locate( p->d->app, name, &p->x, &p->y );
}

static void choose_place( player *p )
{
    const tr_ui *ui = ui_of( p->d );
    int kind = below( p, 100 );
    if ( kind < 45 && choose_spot( p, whole( ui ) ) )
        return;
    if ( kind < 70 && choose_thing( p ) )
        return;
    if ( kind < 80 )
        in_area( p, ui->timeline );
    else if ( kind < 94 )
        in_area( p, ui->viewport );
    else // anywhere, and a little outside
        in_area( p, ( tr_area ){ -20, -20, (float)ui->width + 40, (float)ui->height + 40 } );
}

static void move( player *p )
{
    send( p->d, &( step ){ .kind = STEP_MOVE, .x = p->x, .y = p->y } );
}

static void press( player *p, int button, int mods )
{
    send( p->d, &( step ){ .kind = STEP_PRESS, .a = button, .b = mods, .x = p->x, .y = p->y } );
}

static void release( player *p, int button, int mods )
{
    send( p->d, &( step ){ .kind = STEP_RELEASE, .a = button, .b = mods, .x = p->x, .y = p->y } );
}

static void strike( player *p, int key, int mods )
{
    send( p->d, &( step ){ .kind = STEP_KEY, .a = key, .b = mods } );
    send( p->d, &( step ){ .kind = STEP_KEY_UP, .a = key, .b = mods } );
}

// --------------------------------------------------------------------------------------------------- actions

static void write_letters( player *p, const char *text, size_t length )
{
    for ( size_t i = 0; i < length; ++i )
        send( p->d, &( step ){ .kind = STEP_TEXT, .a = (unsigned char)text[i] } );
}

// What belongs into a field, what does not, and what is in no alphabet.
static void write_something( player *p )
{
    static const char words[] =
        "0|1|-1|0.5|1.7|12|1e9|-1e300|nan|inf|99999999999|0x10|1,2,3|0 0 1|p01|box01|Hips|"
        "LeftHand|%s%n|a=b c=\"d\"|scene.json|walk|out|ramp|x|.|..|wall1|id with spaces|30|45|"
        "-0.001|180|#ff0000|";
    static const int letters[] = { 0xE9, 0x2BB4, 0x4E2D, 0x1F600, 0x7F, 0x200B, 0xD800, 0x10FFFF, '"', '=' };
    int kind = below( p, 10 );
    if ( kind < 7 ) {
        const char *word = words + below( p, (int)sizeof words - 2 ); // the rest of one of them is another
        write_letters( p, word, strcspn( word, "|" ) );
    } else if ( kind < 9 ) {
        for ( int i = 1 + below( p, 6 ); i > 0; --i )
            send( p->d, &( step ){ .kind = STEP_TEXT,
                                   .a = chance( p, 50 ) ? letters[below( p, 10 )] : ' ' + below( p, 95 ) } );
    } else {
        for ( int i = chance( p, 5 ) ? 600 : 20 + below( p, 40 ); i > 0; --i )
            send( p->d, &( step ){ .kind = STEP_TEXT, .a = 'a' + below( p, 26 ) } );
    }
}

static void fill_field( player *p )
{
    static const int endings[] = { TR_KEY_ENTER, TR_KEY_ENTER, TR_KEY_TAB, TR_KEY_ESCAPE, 0 };
    if ( chance( p, 70 ) )
        strike( p, 'A', TR_MOD_CTRL );
    if ( chance( p, 10 ) )
        strike( p, "XCV"[below( p, 3 )], TR_MOD_CTRL );
    write_something( p );
    if ( chance( p, 10 ) )
        strike( p, TR_KEY_BACKSPACE, 0 );
    frame( p, 2 );
    int key = endings[below( p, 5 )];
    if ( key != 0 )
        strike( p, key, 0 );
    frame( p, 1 );
}

static void click_somewhere( player *p )
{
    int button = chance( p, 85 ) ? TR_BUTTON_LEFT : below( p, TR_BUTTON_COUNT ), mods = modifiers( p );
    choose_place( p );
    move( p );
    if ( chance( p, 80 ) )
        frame( p, 1 );
    for ( int i = chance( p, 10 ) ? 2 : 1; i > 0; --i ) {
        press( p, button, mods );
        release( p, button, mods );
    }
    frame( p, 2 + below( p, 2 ) );
    if ( tr_ui_typing( ui_of( p->d ) ) && chance( p, 70 ) )
        fill_field( p );
}

static void strike_something( player *p );
static void drop_something( player *p );
static void resize_somehow( player *p );

// What comes between while a button is down.
static void meddle( player *p )
{
    switch ( below( p, 6 ) ) {
    case 0: strike( p, TR_KEY_ESCAPE, 0 ); break;
    case 1: strike_something( p ); break;
    case 2:
        send( p->d, &( step ){ .kind = STEP_WHEEL, .y = between( p, -3, 3 ), .b = modifiers( p ) } );
        break;
    case 3: press( p, below( p, TR_BUTTON_COUNT ), modifiers( p ) ); break;
    case 4: resize_somehow( p ); break;
    default: drop_something( p ); break;
    }
}

static void drag_from_here( player *p, int button, int mods, double reach )
{
    move( p );
    frame( p, 1 );
    press( p, button, mods );
    frame( p, 1 );
    double from_x = p->x, from_y = p->y, to_x = from_x + between( p, -reach, reach ),
           to_y = from_y + between( p, -reach, reach );
    int steps = 1 + below( p, 6 );
    for ( int i = 1; i <= steps; ++i ) {
        p->x = lerpd( from_x, to_x, (double)i / steps );
        p->y = lerpd( from_y, to_y, (double)i / steps );
        move( p );
        if ( chance( p, 80 ) )
            frame( p, 1 );
        if ( chance( p, 3 ) )
            meddle( p );
    }
    if ( chance( p, 15 ) ) // a thread follows
        frame( p, 20 );
    if ( chance( p, 97 ) )
        release( p, button, mods );
    frame( p, 2 );
}

static void drag_something( player *p )
{
    int button = chance( p, 80 ) ? TR_BUTTON_LEFT : below( p, TR_BUTTON_COUNT );
    choose_place( p );
    drag_from_here( p, button, modifiers( p ), chance( p, 10 ) ? 2000 : 120 );
}

static void click_here( player *p, int mods )
{
    move( p );
    frame( p, 1 );
    press( p, TR_BUTTON_LEFT, mods );
    release( p, TR_BUTTON_LEFT, mods );
    frame( p, 2 + below( p, 2 ) );
}

// What people come for: a tool on a joint or a prop.
static void edit_something( player *p )
{
    strike( p, TR_KEY_ESCAPE, 0 );
    frame( p, 1 );
    if ( chance( p, 40 ) && choose_thing( p ) )
        click_here( p, chance( p, 20 ) ? TR_MOD_CTRL : 0 );
    if ( chance( p, 70 ) )
        strike( p, tr_tool_get( below( p, tr_tool_count() ) )->key, 0 );
    if ( chance( p, 30 ) )
        strike( p, chance( p, 50 ) ? TR_KEY_LEFT : TR_KEY_RIGHT, 0 );
    frame( p, 1 );
    bool handle = chance( p, 25 ) && choose_spot( p, ui_of( p->d )->viewport );
    if ( handle || choose_thing( p ) )
        drag_from_here( p, TR_BUTTON_LEFT, chance( p, 90 ) ? 0 : modifiers( p ), chance( p, 5 ) ? 1000 : 80 );
    if ( chance( p, 20 ) )
        strike( p, chance( p, 50 ) ? 'P' : TR_KEY_ENTER, 0 );
    frame( p, 1 );
}

// Numbers, sliders, lists and switches of the panels.
static void use_panel( player *p )
{
    const tr_ui *ui = ui_of( p->d );
    tr_area parts[] = { ui->right, ui->right, ui->left, ui->timeline, ui->bar };
    if ( chance( p, 50 ) && choose_thing( p ) )
        click_here( p, 0 );
    if ( !choose_spot( p, parts[below( p, 5 )] ) )
        return;
    if ( chance( p, 40 ) )
        drag_from_here( p, TR_BUTTON_LEFT, 0, 60 );
    else
        click_here( p, 0 );
    if ( tr_ui_typing( ui ) )
        fill_field( p );
    else if ( tr_ui_popup( ui ) && choose_spot( p, whole( ui ) ) )
        click_here( p, 0 );
}

static void scrub( player *p )
{
    in_area( p, ui_of( p->d )->timeline );
    press( p, TR_BUTTON_LEFT, 0 );
    for ( int i = 1 + below( p, 8 ); i > 0; --i ) {
        p->x += between( p, -200, 200 );
        move( p );
        frame( p, 1 );
    }
    release( p, TR_BUTTON_LEFT, 0 );
    frame( p, 1 );
}

static void strike_something( player *p )
{
    int count, kind = below( p, 10 );
    const tr_command *commands = tr_command_table( &count );
    if ( kind < 5 ) {
        const tr_command *c = &commands[below( p, count )];
        bool quits = c->key == 'Q' && !chance( p, 5 );
        if ( c->key != 0 && !quits )
            strike( p, c->key, (int)c->modifiers );
    } else if ( kind < 8 ) {
        strike( p, tr_tool_get( below( p, tr_tool_count() ) )->key, 0 );
    } else {
        int key = below( p, TR_KEY_COUNT );
        if ( key != 'Q' )
            strike( p, key, modifiers( p ) );
    }
    frame( p, 1 );
}

static void storm( player *p )
{
    static const int most[] = { 3, 12, 60 };
    for ( int i = most[below( p, 3 )]; i > 0; --i ) {
        strike( p, chance( p, 60 ) ? 'Z' : 'Y', TR_MOD_CTRL );
        if ( chance( p, 30 ) )
            frame( p, 1 );
    }
    frame( p, 1 );
}

static void turn_wheel( player *p )
{
    choose_place( p );
    move( p );
    frame( p, 1 );
    for ( int i = 1 + below( p, 4 ); i > 0; --i )
        send( p->d, &( step ){ .kind = STEP_WHEEL,
                               .x = chance( p, 10 ) ? between( p, -2, 2 ) : 0,
                               .y = chance( p, 5 ) ? between( p, -1e4, 1e4 ) : between( p, -3, 3 ),
                               .b = modifiers( p ) } );
    frame( p, 1 );
}

static const char *const dropped[] = { "person.bvh",     "person.bvh",
                                       "still.bvh",      "broken.bvh",
                                       "empty.bvh",      "broken.json",
                                       "note.txt",       "nobody.json",
                                       "one_frame.json", "high_five.json",
                                       "wolf.json",      "../readonly/duet.json",
                                       "no such file",   "." };

static void drop_something( player *p )
{
    step s = { .kind = STEP_DROP };
    snprintf( s.path, sizeof s.path, "%s", dropped[below( p, (int)( sizeof dropped / sizeof *dropped ) )] );
    send( p->d, &s );
    frame( p, 2 );
}

static void resize_somehow( player *p )
{
    static const int sizes[][2] = { { 1280, 800 }, { 1280, 800 }, { 900, 560 },  { 2560, 1440 },
                                    { 640, 480 },  { 300, 200 },  { 1, 1 },      { 0, 0 },
                                    { 4000, 300 }, { 400, 2000 }, { 1920, 1080 } };
    static const double scales[] = { 1, 1, 1.25, 2 };
    int i = below( p, (int)( sizeof sizes / sizeof *sizes ) );
    send( p->d,
          &( step ){ .kind = STEP_SIZE, .a = sizes[i][0], .b = sizes[i][1], .x = scales[below( p, 4 )] } );
    frame( p, 2 );
    if ( chance( p, 60 ) )
        send( p->d, &( step ){ .kind = STEP_SIZE, .a = 1280, .b = 800, .x = 1 } );
}

static void wait_for_it( player *p )
{
    if ( chance( p, 50 ) )
        send( p->d, &( step ){ .kind = STEP_SETTLE } );
    else
        frame( p, 1 + below( p, 30 ) );
}

static void close_window( player *p )
{
    send( p->d, &( step ){ .kind = STEP_CLOSE } );
    frame( p, 1 );
}

// By name: what random clicks reach too seldom.
static void open_panel( player *p )
{
    static const char *const names[] = {
        "tab.Cast", "tab.Scenes", "tab.Layers", "tab.Inspect", "tab.Constraints", "tab.Report", "tab.History",
        "File",     "Edit",       "View",       "Show",        "method" };
    const tr_spot *spot =
        tr_ui_spot( ui_of( p->d ), names[below( p, (int)( sizeof names / sizeof *names ) )] );
    if ( spot == NULL )
        return;
    in_area( p, spot->area );
    move( p );
    frame( p, 1 );
    press( p, TR_BUTTON_LEFT, 0 );
    release( p, TR_BUTTON_LEFT, 0 );
    frame( p, 2 );
}

static const struct {
    int weight;
    void ( *run )( player *p );
} actions[] = {
    { 150, click_somewhere },  { 100, drag_something }, { 200, edit_something }, { 200, use_panel },
    { 120, strike_something }, { 60, open_panel },      { 50, scrub },           { 40, turn_wheel },
    { 40, wait_for_it },       { 20, storm },           { 12, drop_something },  { 10, resize_somehow },
    { 10, write_something },   { 2, close_window } };

static void act( player *p )
{
    int total = 0, i = 0;
    for ( size_t k = 0; k < sizeof actions / sizeof *actions; ++k )
        total += actions[k].weight;
    for ( total = below( p, total ); total >= actions[i].weight; ++i )
        total -= actions[i].weight;
    actions[i].run( p );
}

// ------------------------------------------------------------------------------------------------- the
// folder

static void write_file( const char *path, const char *text )
{
    tr_error error = { 0 };
    check_that( tr_file_write( path, text, strlen( text ), &error ), "files: %s", error.message );
}

static void write_cut( const char *name, int cast, int frame_count, const char *path )
{
    tr_opened o;
    tr_error error = { 0 };
    check_that( tr_open( &o, name, cast, &error ), "files: %s", error.message );
    int middle = ( o.scene.first + o.scene.last ) / 2;
    o.scene.first = middle - frame_count / 2;
    o.scene.last = o.scene.first + frame_count - 1;
    check_that( tr_scene_save_beside( &o.scene, &o.library, NULL, path, &error ), "files: %s: %s", path,
                error.message );
    tr_opened_free( &o );
}

static void write_person( const char *path, int frame_count )
{
    static const char skeleton[] =
        "HIERARCHY\nROOT Hips {\nOFFSET 0 0 0\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "JOINT LeftUpLeg { OFFSET 9 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftLeg { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftFoot { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 -6 14 } } } }\n"
        "JOINT RightUpLeg { OFFSET -9 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT RightLeg { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT RightFoot { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 -6 14 } } } }\n"
        "JOINT Spine { OFFSET 0 12 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT Head { OFFSET 0 36 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 18 0 } }\n"
        "JOINT LeftArm { OFFSET 14 26 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftForeArm { OFFSET 26 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftHand { OFFSET 24 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 8 0 0 } } } } } }\n";
    tr_text text = { 0 };
    tr_text_add( &text, "%sMOTION\nFrames: %d\nFrame Time: 0.0333333\n", skeleton, frame_count );
    for ( int f = 0; f < frame_count; ++f ) {
        tr_text_add( &text, "0 90 %d", 3 * f );
        for ( int c = 0; c < 36; ++c )
            tr_text_add( &text, " %g", 8 * sin( 0.2 * f + c ) );
        tr_text_add( &text, "\n" );
    }
    write_file( path, text.data );
    tr_text_free( &text );
}

// Some captures that people work with, where they are.
static const char *const captures[] = { "human-misc/xia_neutral_16_000.bvh", "bvh-quirks/walk01.bvh",
                                        "cmu-single/49_06.bvh" };

static void write_files( const char *base )
{
    static const char empty[] =
        "{\"version\": 1, \"fps\": 30, \"range\": [0, %d], \"cast\": [], \"props\": [],\n"
        "\"environment\": {\"ground\": 0, \"boxes\": [%s]}, \"constraints\": [], "
        "\"layers\": []}\n";
    char text[600], command[3 * PATH_LENGTH];
    check_that( chdir( base ) == 0 && mkdir( "files", 0755 ) == 0 && mkdir( "readonly", 0755 ) == 0 &&
                    mkdir( "desk", 0755 ) == 0 && mkdir( "home", 0755 ) == 0,
                "files: no folder in %s", base );
    int count;
    const tr_scene_entry *entries = tr_scene_table( &count );
    for ( int i = 0; i < count; ++i ) {
        char path[PATH_LENGTH];
        snprintf( path, sizeof path, "files/%s.json", entries[i].name );
        write_cut( entries[i].name, entries[i].min_cast, 16, path );
    }
    write_cut( "box_relay", 3, 1, "files/one_frame.json" );
    write_cut( "car_entry", 0, 1, "files/one_frame_car.json" );
    write_cut( "high_five", 0, 10, "readonly/duet.json" );
    snprintf( text, sizeof text, empty, 14, "" );
    write_file( "files/nobody.json", text );
    snprintf( text, sizeof text, empty, 0,
              "{\"id\": \"wall\", \"size\": [1, 1, 1], \"position\": [0, 0.5, 0], \"heading\": 41}" );
    write_file( "files/nobody_one_frame.json", text );
    snprintf( text, sizeof text, empty, 14,
              "{\"id\": \"ramp\", \"shape\": \"mesh\", \"mesh\": {\"file\": \"gone.obj\"}, "
              "\"position\": [3, 0, 0], \"heading\": 41}" );
    write_file( "files/nobody_gone.json", text );
    write_person( "files/person.bvh", 40 );
    write_person( "files/still.bvh", 1 );
    write_file( "files/broken.bvh", "HIERARCHY\nROOT Hips { OFFSET 0 0" );
    write_file( "files/empty.bvh", "" );
    write_file( "files/broken.json", "{ \"version\": " );
    write_file( "files/note.txt", "no scene\n" );
    for ( size_t i = 0; i < sizeof captures / sizeof *captures; ++i ) {
        snprintf( command, sizeof command, "cp '%s/%s' files/", TROUPE_DATA_DIR, captures[i] );
        snprintf( text, sizeof text, "%s/%s", TROUPE_DATA_DIR, captures[i] );
        check_that( !tr_file_exists( text ) || system( command ) == 0, "files: %s", command );
    }
}

// ---------------------------------------------------------------------------------------------------- scenes

typedef struct scene_list {
    step items[64];
    int count;
} scene_list;

static void add_scene( scene_list *list, const char *what, int cast )
{
    step *s = &list->items[list->count];
    *s = ( step ){ .kind = STEP_OPEN, .a = cast };
    snprintf( s->path, sizeof s->path, "%s", what );
    ++list->count;
}

// Built-in scenes as they are, with a small cast where they have many; the same cut short, which are solved
// within moments; scenes of nobody and of one frame; lone motions.
static void list_scenes( scene_list *list, const options *o )
{
    static const char *const others[] = { "nobody.json",          "one_frame.json", "person.bvh",
                                          "nobody_gone.json",     "still.bvh",      "one_frame_car.json",
                                          "nobody_one_frame.json" };
    char what[PATH_LENGTH];
    int count;
    const tr_scene_entry *entries = tr_scene_table( &count );
    if ( o->scene != NULL ) {
        const char *colon = strrchr( o->scene, ':' );
        snprintf( what, sizeof what, "%.*s", colon != NULL ? (int)( colon - o->scene ) : PATH_LENGTH - 1,
                  o->scene );
        add_scene( list, what, colon != NULL ? atoi( colon + 1 ) : 0 );
        return;
    }
    for ( int i = 0; i < count; ++i ) {
        const tr_scene_entry *e = &entries[i];
        int few = e->min_cast > 4 ? e->min_cast : 4;
        add_scene( list, e->name, e->default_cast > few ? few : 0 );
        snprintf( what, sizeof what, "%s.json", e->name );
        add_scene( list, what, 0 );
        if ( i < (int)( sizeof others / sizeof *others ) )
            add_scene( list, others[i], 0 );
        if ( i < (int)( sizeof captures / sizeof *captures ) ) {
            snprintf( what, sizeof what, "%s/%s", TROUPE_DATA_DIR, captures[i] );
            if ( tr_file_exists( what ) )
                add_scene( list, strrchr( captures[i], '/' ) + 1, 0 );
        }
    }
}

// --------------------------------------------------------------------------------------------------- sandbox

// Only `folder` and devices can be written from here on, by this process and those it starts.
static void lock_files( const char *folder )
{
#ifdef LANDLOCK_ACCESS_FS_WRITE_FILE
    const char *const open_to_all[] = { folder, "/dev" };
    struct landlock_ruleset_attr rules = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM };
    int set = (int)syscall( SYS_landlock_create_ruleset, &rules, sizeof rules, 0 );
    if ( set < 0 )
        return;
    for ( int i = 0; i < 2; ++i ) {
        struct landlock_path_beneath_attr rule = { .allowed_access = rules.handled_access_fs,
                                                   .parent_fd = open( open_to_all[i], O_PATH | O_CLOEXEC ) };
        syscall( SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0 );
        close( rule.parent_fd );
    }
    check_that( prctl( PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0 ) == 0 &&
                    syscall( SYS_landlock_restrict_self, set, 0 ) == 0,
                "files: cannot be protected" );
    close( set );
#else
    (void)folder;
#endif
}

static void move_in( const char *base, char folder[PATH_LENGTH] )
{
    static const char *const names[] = { "HOME",          "XDG_STATE_HOME",  "XDG_CACHE_HOME",
                                         "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR" };
    snprintf( folder, PATH_LENGTH, "%s/desk", base );
    for ( size_t i = 0; i < sizeof names / sizeof *names; ++i )
        setenv( names[i], folder, 1 );
    check_that( chdir( folder ) == 0, "files: no folder %s", folder );
    lock_files( folder );
}

// ------------------------------------------------------------------------------------------------- processes

typedef struct episode {
    const options *options;
    const char *base;
    step scene;
    uint64_t seed;
    long count;
    double end;             // of the run, 0 = none
    const step_list *lines; // to be played, NULL = at random
    const char *log;        // to be written, NULL = none
} episode;

static void play( const episode *e, figures *f )
{
    desk d = { .options = e->options, .figures = f, .base = e->base, .scene = e->scene };
    player p = { .d = &d, .seed = e->seed };
    if ( e->log != NULL ) {
        d.log = fopen( e->log, "w" );
        check_that( d.log != NULL, "files: %s cannot be written", e->log );
    }
    move_in( e->base, d.folder );
    restore_files( &d );
    start_app( &d );
    if ( d.log != NULL )
        print_step( d.log, &d.scene );
    if ( e->lines != NULL ) {
        for ( int i = 1; i < e->lines->count; ++i )
            send( &d, &e->lines->items[i] );
    } else {
        send( &d, &( step ){ .kind = STEP_ROUND } );
        for ( long next = ROUND_EVENTS; f->events < e->count && ( e->end == 0 || seconds_now() < e->end ); ) {
            act( &p );
            if ( f->events >= next ) {
                send( &d, &( step ){ .kind = STEP_ROUND } );
                next = f->events + ROUND_EVENTS;
            }
        }
        send( &d, &( step ){ .kind = STEP_ROUND } );
    }
    alarm( HANG_SECONDS );
    stop_app( &d );
    f->closed = true;
    if ( d.log != NULL )
        fclose( d.log );
}

// What the first telling line of the child's report says; the signal where there is none.
static void read_failure( const char *path, int status, char *out, size_t size )
{
    char line[1000];
    FILE *file = fopen( path, "r" );
    if ( WIFSIGNALED( status ) )
        snprintf( out, size, "signal %d", WTERMSIG( status ) );
    else
        snprintf( out, size, "exit code %d", WEXITSTATUS( status ) );
    bool found = false;
    while ( file != NULL && !found && fgets( line, sizeof line, file ) != NULL ) {
        const char *says = strstr( line, "FAILED " ), *colon = says != NULL ? strchr( says, ':' ) : NULL;
        found = says != NULL || strstr( line, "SUMMARY:" ) != NULL ||
                strstr( line, "runtime error:" ) != NULL || strstr( line, "Assertion" ) != NULL;
        if ( strstr( line, "leaked" ) != NULL )
            snprintf( out, size, "leak" );
        else if ( found )
            snprintf( out, size, "%.*s", colon != NULL ? (int)( colon - line ) : (int)strcspn( line, "\n" ),
                      line );
    }
    if ( file != NULL )
        fclose( file );
}

// Plays an episode in a process of its own. True when nothing failed; `failure` says what did.
static bool run_episode( const episode *e, figures *f, char *failure, size_t size )
{
    char report[PATH_LENGTH + 32], command[3 * PATH_LENGTH];
    int status = 0;
    snprintf( report, sizeof report, "%s/report.txt", e->base );
    snprintf( command, sizeof command, "rm -rf '%s/desk' && mkdir '%s/desk'", e->base, e->base );
    check_that( system( command ) == 0, "files: %s", command );
    fflush( NULL );
    pid_t child = fork();
    if ( child == 0 ) {
        int to = open( report, O_WRONLY | O_CREAT | O_TRUNC, 0644 );
        dup2( to, 2 );
        close( to );
        play( e, f );
        exit( 0 ); // leaks are looked for
    }
    check_that( child > 0 && waitpid( child, &status, 0 ) == child, "fork: %s", strerror( errno ) );
    if ( WIFEXITED( status ) && WEXITSTATUS( status ) == 0 )
        return true;
    read_failure( report, status, failure, size );
    return false;
}

// Files are written by a process of its own, too: this one never starts a thread, so that it can fork.
static void prepare( const char *base )
{
    int status = 0;
    fflush( NULL );
    pid_t child = fork();
    if ( child == 0 ) {
        write_files( base );
        exit( 0 );
    }
    check_that( child > 0 && waitpid( child, &status, 0 ) == child && status == 0,
                "files: cannot be prepared" );
}

// ------------------------------------------------------------------------------------------------- shrinking

// Leaves out half of the lines, then quarters, eighths and so on, as long as the rest fails in the same way.
// A thread may be late once: each try has a second one.
static void shrink( const episode *failed, const char *failure, step_list *lines, figures *f )
{
    int tries = 0;
    const int most_tries = 400;
    double end = seconds_now() + failed->options->shrink;
    for ( int size = ( lines->count / 2 ); size > 0; size = size > 1 ? ( size + 1 ) / 2 : 0 ) {
        for ( int first = 1; first < lines->count && tries < most_tries && seconds_now() < end; ) {
            step_list rest = { 0 };
            char other[400];
            int stop = first + size < lines->count ? first + size : lines->count;
            for ( int i = 0; i < lines->count; ++i )
                if ( i < first || i >= stop )
                    add_step( &rest, &lines->items[i] );
            episode e = *failed;
            e.lines = &rest;
            e.log = NULL;
            bool same = false;
            for ( int i = 0; i < 2 && !same; ++i, ++tries )
                same = !run_episode( &e, f, other, sizeof other ) && strcmp( other, failure ) == 0;
            if ( same ) {
                free( lines->items );
                *lines = rest;
            } else {
                free( rest.items );
                first = stop;
            }
        }
    }
    printf( "shrunk to %d lines in %d tries\n", lines->count, tries );
}

static void show_file( const char *path, int most )
{
    char line[1000];
    FILE *file = fopen( path, "r" );
    while ( file != NULL && most-- > 0 && fgets( line, sizeof line, file ) != NULL )
        fputs( line, stdout );
    if ( file != NULL )
        fclose( file );
}

static void report_failure( const episode *e, const char *failure, step_list *lines, figures *f )
{
    char report[PATH_LENGTH + 32], again[400];
    snprintf( report, sizeof report, "%s/report.txt", e->base );
    printf( "FAILED: %s\n", failure );
    show_file( report, 60 );
    episode last = *e;
    last.lines = lines;
    last.log = NULL;
    if ( run_episode( &last, f, again, sizeof again ) || strcmp( again, failure ) != 0 )
        printf( "when played again it does not fail in this way: threads were on another way\n" );
    else
        shrink( e, failure, lines, f );
    const char *path = e->options->keep;
    FILE *kept = path != NULL ? fopen( path, "w" ) : NULL;
    for ( int i = 0; i < lines->count; ++i ) {
        if ( kept != NULL )
            print_step( kept, &lines->items[i] );
        if ( i < 200 )
            print_step( stdout, &lines->items[i] );
    }
    if ( kept != NULL )
        fclose( kept );
    printf( "play these lines with --replay FILE%s%s\n", path != NULL ? ": " : "", path != NULL ? path : "" );
}

// ------------------------------------------------------------------------------------------------------ runs

static void add_figures( figures *sum, const figures *f )
{
    sum->events += f->events;
    sum->frames += f->frames;
    sum->changes += f->changes;
    sum->rounds += f->rounds;
    sum->undone += f->undone;
    sum->opened += f->opened;
    sum->unsettled += f->unsettled;
}

static void print_figures( const char *name, const figures *f )
{
    printf( "%-28s %7ld events %7ld frames %6ld changes %4ld rounds %6ld undone %4ld opened %3ld cancelled",
            name, f->events, f->frames, f->changes, f->rounds, f->undone, f->opened, f->unsettled );
    if ( f->live_first > 0 )
        printf( "  opened again: %zu kB first, %zu kB most, %zu kB last", f->live_first >> 10,
                f->live_most >> 10, f->live_last >> 10 );
    printf( "\n" );
    fflush( stdout );
}

static bool run_random( const options *o, const char *base, figures *shared )
{
    scene_list scenes = { 0 };
    figures sum = { 0 };
    char log[PATH_LENGTH + 32], failure[400];
    bool ok = true;
    list_scenes( &scenes, o );
    long each = o->count / scenes.count + 1;
    if ( o->scene == NULL ) // else one long episode
        each = each < EPISODE_LEAST ? EPISODE_LEAST : each > EPISODE_MOST ? EPISODE_MOST : each;
    snprintf( log, sizeof log, "%s/events.txt", base );
    episode e = {
        .options = o, .base = base, .log = log, .end = o->seconds > 0 ? seconds_now() + o->seconds : 0 };
    for ( long i = 0; ok && sum.events < o->count && ( e.end == 0 || seconds_now() < e.end ); ++i ) {
        uint64_t seed = o->seed + 0x9E3779B9u * (uint64_t)i;
        e.scene = scenes.items[( o->seed + (uint64_t)i ) % (uint64_t)scenes.count];
        e.seed = random_bits( &seed );
        e.count = o->count - sum.events < each ? o->count - sum.events : each;
        *shared = ( figures ){ 0 };
        ok = run_episode( &e, shared, failure, sizeof failure );
        add_figures( &sum, shared );
        print_figures( e.scene.path, shared );
        if ( ok )
            continue;
        step_list lines = { 0 };
        if ( load_steps( log, &lines ) )
            report_failure( &e, failure, &lines, shared );
        free( lines.items );
    }
    print_figures( "all", &sum );
    return ok;
}

static bool run_replay( const options *o, const char *base, figures *shared )
{
    step_list lines = { 0 };
    char failure[400], report[PATH_LENGTH + 32];
    if ( !load_steps( o->replay, &lines ) ) {
        printf( "%s is no list of events\n", o->replay );
        return false;
    }
    episode e = { .options = o, .base = base, .scene = lines.items[0], .lines = &lines };
    bool ok = run_episode( &e, shared, failure, sizeof failure );
    print_figures( e.scene.path, shared );
    snprintf( report, sizeof report, "%s/report.txt", base );
    if ( !ok ) {
        printf( "FAILED: %s\n", failure );
        show_file( report, 60 );
    }
    free( lines.items );
    return ok;
}

static bool read_options( options *o, int argc, char **argv )
{
    static const struct option names[] = {
        { "seed", 1, NULL, 's' },    { "count", 1, NULL, 'c' },    { "scene", 1, NULL, 'o' },
        { "seconds", 1, NULL, 't' }, { "replay", 1, NULL, 'r' },   { "keep", 1, NULL, 'k' },
        { "shrink", 1, NULL, 'h' },  { "pictures", 0, NULL, 'p' }, { 0 } };
    *o = ( options ){ .seed = 1, .count = 1000, .shrink = 300 };
    for ( int c; ( c = getopt_long( argc, argv, "", names, NULL ) ) != -1; )
        switch ( c ) {
        case 's': o->seed = strtoull( optarg, NULL, 10 ); break;
        case 'c': o->count = atol( optarg ); break;
        case 'o': o->scene = optarg; break;
        case 't': o->seconds = atof( optarg ); break;
        case 'r': o->replay = optarg; break;
        case 'k': o->keep = optarg; break;
        case 'h': o->shrink = atof( optarg ); break;
        case 'p': o->pictures = true; break;
        default: return false;
        }
    return optind == argc;
}

int main( int argc, char **argv )
{
    options o;
    char base[FOLDER_SIZE] = FOLDER_PATTERN;
    if ( !read_options( &o, argc, argv ) ) {
        printf(
            "random_events --seed S --count N [--scene WHAT[:CAST]] [--seconds T] [--keep FILE] [--shrink T] "
            "[--pictures]\n"
            "random_events --replay FILE\n" );
        return 2;
    }
    figures *shared = mmap( NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0 );
    if ( shared == MAP_FAILED || mkdtemp( base ) == NULL )
        return 2;
    prepare( base );
    bool ok = o.replay != NULL ? run_replay( &o, base, shared ) : run_random( &o, base, shared );
    nftw( base, remove_entry, 16, FTW_DEPTH | FTW_PHYS );
    return ok ? 0 : 1;
}
