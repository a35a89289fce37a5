// A desk to sit at: the editor without a screen. Events go into the likeness of a window, frames are run, the
// state is read.
#ifndef TROUPE_TESTS_DESK_H
#define TROUPE_TESTS_DESK_H

#include "folder.h"

#include "scenes/scenes.h"
#include "ui/ui.h"

#include <unistd.h>

#define WIDTH  1280
#define HEIGHT 800

typedef struct desk { // an editor with a folder of its own
    tr_app *app;
    tr_window *window;
    char folder[64];
    tr_error error;
} desk;

static inline const tr_ui *ui_of( const desk *d )
{
    return tr_app_ui( d->app );
}

static inline void frames( desk *d, int count )
{
    for ( int i = 0; i < count; ++i ) {
        tr_window_advance( d->window, 1.0 / 60.0 );
        assert_true( tr_app_frame( d->app ) );
    }
}

#define PATIENCE 8000 // looks, 5 ms apart or more, before a test gives up: busy machines take their time

static inline void settle( desk *d )
{
    for ( int i = 0; i < PATIENCE && ( !tr_app_settled( d->app ) || i < 3 ); ++i ) {
        frames( d, 1 );
        if ( i > 30 ) // a drag ends on its own thread, on a busy machine late
            usleep( 5000 );
    }
    assert_true( tr_app_settled( d->app ) );
}

static inline void make_folder( desk *d )
{
    new_folder( d->folder );
}

static inline void open_app( desk *d, const char *what, int cast, bool pictures )
{
    tr_app_def def = tr_default_app_def();
    d->window = tr_window_pretend( WIDTH, HEIGHT, 1.0, pictures, &d->error );
    assert_non_null( d->window );
    tr_window_advance( d->window, 1e5 ); // clocks do not begin with the editor
    def.window = d->window;
    def.open = what;
    def.cast = cast;
    def.state_dir = d->folder;
    def.synchronous = true;
    def.wait = false;
    d->app = tr_app_create( &def, &d->error );
    check_ok( d->app != NULL, &d->error );
    settle( d );
}

static inline void begin( desk *d, const char *what, int cast )
{
    *d = ( desk ){ 0 };
    make_folder( d );
    open_app( d, what, cast, false );
}

// A short relay of `cast` people as files: quick to open and to solve.
static inline void write_relay( desk *d, int cast, char path[256] )
{
    tr_opened relay;
    snprintf( path, 256, "%s/relay%d.json", d->folder, cast );
    check_ok( tr_open( &relay, "box_relay", cast, &d->error ), &d->error );
    relay.scene.last = relay.scene.first + 60;
    check_ok( tr_scene_save_beside( &relay.scene, &relay.library, NULL, path, &d->error ), &d->error );
    tr_opened_free( &relay );
}

static inline void begin_relay( desk *d, int cast )
{
    char path[256];
    *d = ( desk ){ 0 };
    make_folder( d );
    write_relay( d, cast, path );
    open_app( d, path, 0, false );
}

static inline void end( desk *d )
{
    tr_app_destroy( d->app );
    remove_folder( d->folder );
}

// ---------------------------------------------------------------------------------------------------- hands

static inline void push( desk *d, tr_event event )
{
    tr_window_push( d->window, &event );
}

static inline void move_to( desk *d, double x, double y )
{
    push( d, ( tr_event ){ .kind = TR_EVENT_MOTION, .x = x, .y = y } );
    frames( d, 1 );
}

static inline void button( desk *d, int which, bool down, double x, double y, unsigned modifiers )
{
    push( d, ( tr_event ){ .kind = TR_EVENT_BUTTON,
                           .button = which,
                           .down = down,
                           .x = x,
                           .y = y,
                           .modifiers = modifiers } );
}

// Both changes of the button arrive within one frame, as with a quick finger and a slow machine.
static inline void click( desk *d, double x, double y, unsigned modifiers )
{
    move_to( d, x, y );
    button( d, TR_BUTTON_LEFT, true, x, y, modifiers );
    button( d, TR_BUTTON_LEFT, false, x, y, modifiers );
    frames( d, 3 );
}

static inline void drag( desk *d, int which, double x0, double y0, double x1, double y1, unsigned modifiers )
{
    move_to( d, x0, y0 );
    button( d, which, true, x0, y0, modifiers );
    frames( d, 1 );
    for ( int i = 1; i <= 4; ++i )
        move_to( d, x0 + ( x1 - x0 ) * i / 4, y0 + ( y1 - y0 ) * i / 4 );
    button( d, which, false, x1, y1, modifiers );
    frames( d, 2 );
}

static inline void key( desk *d, int which, unsigned modifiers )
{
    push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = which, .down = true, .modifiers = modifiers } );
    push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = which, .modifiers = modifiers } );
    frames( d, 2 );
}

static inline void type( desk *d, const char *text )
{
    for ( ; *text != 0; ++text )
        push( d, ( tr_event ){ .kind = TR_EVENT_TEXT, .text = (unsigned char)*text } );
    while ( d->window->queue.count > 0 ) // a few letters a frame
        frames( d, 1 );
}

static inline tr_area area_of( const desk *d, const char *name )
{
    const tr_spot *spot = tr_ui_spot( ui_of( d ), name );
    if ( spot == NULL )
        fail_msg( "there is no %s on the window", name );
    return spot->area;
}

static inline void press( desk *d, const char *name )
{
    tr_area a = area_of( d, name );
    click( d, a.x + 0.5 * a.width, a.y + 0.5 * a.height, 0 );
}

static inline void click_thing( desk *d, const char *name, unsigned modifiers )
{
    double x, y;
    assert_true( tr_app_locate( d->app, name, &x, &y ) );
    click( d, x, y, modifiers );
}

static inline const tr_cast *cast_of( const desk *d, const char *id )
{
    const tr_scene *scene = tr_app_scene( d->app );
    return &scene->cast[tr_scene_find_cast( scene, id )];
}

static inline const tr_constraint *constraint_of( const desk *d, const char *id )
{
    const tr_scene *scene = tr_app_scene( d->app );
    int i = tr_scene_find_constraint( scene, id );
    assert_true( i >= 0 );
    return &scene->constraints[i];
}

static inline void drag_thing( desk *d, const char *name, double dx, double dy, unsigned modifiers )
{
    double x, y;
    assert_true( tr_app_locate( d->app, name, &x, &y ) );
    drag( d, TR_BUTTON_LEFT, x, y, x + dx, y + dy, modifiers );
    settle( d );
}

// Types into a field what is to stand in it.
static inline void enter( desk *d, const char *spot, const char *text )
{
    press( d, spot );
    key( d, 'A', TR_MOD_CTRL );
    type( d, text );
    key( d, TR_KEY_ENTER, 0 );
    settle( d );
}

static inline void choose( desk *d, const char *spot, const char *word )
{
    char item[96];
    press( d, spot );
    snprintf( item, sizeof item, "%s.%s", spot, word );
    press( d, item );
    settle( d );
}

// Runs frames until the poses of a drag have moved the joint, as the other thread delivers them.
static inline bool follows( desk *d, const char *name, double x, double y )
{
    for ( int i = 0; i < PATIENCE; ++i ) {
        double now_x, now_y;
        frames( d, 1 );
        if ( tr_app_locate( d->app, name, &now_x, &now_y ) && hypot( now_x - x, now_y - y ) > 4.0 )
            return true;
        usleep( 5000 );
    }
    return false;
}

static inline void hold( desk *d, const char *name, double dx, double dy, double *x, double *y )
{
    assert_true( tr_app_locate( d->app, name, x, y ) );
    move_to( d, *x, *y );
    button( d, TR_BUTTON_LEFT, true, *x, *y, 0 );
    frames( d, 1 );
    move_to( d, *x + 0.5 * dx, *y + 0.5 * dy );
    move_to( d, *x + dx, *y + dy );
}

// Until all that was asked for in the background is done.
static inline void rest( desk *d )
{
    for ( int i = 0; i < PATIENCE && ( i < 3 || !tr_app_settled( d->app ) ); ++i ) {
        frames( d, 1 );
        usleep( 5000 );
    }
    assert_true( tr_app_settled( d->app ) );
}

// An editor that solves on a thread of its own, as on a screen.
static inline void open_behind( desk *d, const char *what, int cast )
{
    tr_app_def def = tr_default_app_def();
    d->window = tr_window_pretend( WIDTH, HEIGHT, 1.0, false, &d->error );
    assert_non_null( d->window );
    def.window = d->window;
    def.open = what;
    def.cast = cast;
    def.state_dir = d->folder;
    def.wait = false;
    d->app = tr_app_create( &def, &d->error );
    check_ok( d->app != NULL, &d->error );
    rest( d );
}

#endif
