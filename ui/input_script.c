// Plays an input script: mouse and keys as lines of text, without a screen. The pictures of the docs are made
// with it.
#include "ui/ui.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef struct player {
    tr_app *app;
    tr_window *window;
    const char *path; // path of the script: pictures go beside it
    int line;
    bool begun;         // a line was valid
    double x, y;        // pointer
    unsigned modifiers; // held with the mouse
    tr_error *error;
} player;

static bool complain( player *p, const char *format, const char *what )
{
    return tr_error_at( p->error, p->path, p->line, 0, format, what );
}

// ---------------------------------------------------------------------------------------------------- frames

static bool frames( player *p, int count )
{
    for ( int i = 0; i < count; ++i ) {
        tr_window_advance( p->window, 1.0 / 60.0 );
        if ( !tr_app_frame( p->app ) )
            return complain( p, "the editor has closed%s", "" );
    }
    return true;
}

// Work is done between frames, so this is soon; a held frame stays held.
static bool rest( player *p )
{
    for ( int i = 0; i < 60 && ( i < 3 || !tr_app_settled( p->app ) ); ++i )
        if ( !frames( p, 1 ) )
            return false;
    const tr_ui *ui = tr_app_ui( p->app );
    return !ui->message_bad || ui->message[0] == 0 || complain( p, "%s", ui->message );
}

// During a drag the worker follows, then refines its poses.
static bool follow( player *p )
{
    for ( int i = 0; i < 200; ++i ) {
        if ( !frames( p, 1 ) )
            return false;
        usleep( 5000 );
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------- events

static void push( player *p, tr_event event )
{
    tr_window_push( p->window, &event );
}

static bool move( player *p, double x, double y )
{
    p->x = x;
    p->y = y;
    push( p, ( tr_event ){ .kind = TR_EVENT_MOTION, .x = x, .y = y } );
    return frames( p, 1 );
}

static bool button( player *p, int which, bool down )
{
    push( p, ( tr_event ){ .kind = TR_EVENT_BUTTON,
                           .button = which,
                           .down = down,
                           .x = p->x,
                           .y = p->y,
                           .modifiers = p->modifiers } );
    return frames( p, 2 );
}

static bool glide( player *p, double dx, double dy )
{
    const int steps = 12;
    double x = p->x, y = p->y;
    for ( int i = 1; i <= steps; ++i )
        if ( !move( p, x + dx * i / steps, y + dy * i / steps ) )
            return false;
    return true;
}

static bool key( player *p, int which, unsigned modifiers )
{
    push( p, ( tr_event ){ .kind = TR_EVENT_KEY, .key = which, .down = true, .modifiers = modifiers } );
    push( p, ( tr_event ){ .kind = TR_EVENT_KEY, .key = which, .modifiers = modifiers } );
    return frames( p, 2 );
}

static bool type( player *p, const char *text )
{
    for ( ; *text != 0; ++text )
        push( p, ( tr_event ){ .kind = TR_EVENT_TEXT, .text = (unsigned char)*text } );
    while ( p->window->queue.count > 0 )
        if ( !frames( p, 1 ) )
            return false;
    return true;
}

// ----------------------------------------------------------------------------------------------------- words

// A button or field of a panel, or a joint, character or prop in the viewport; "box03@20,-10" is so many
// points to the right and down of it.
static bool go_to( player *p, const char *words )
{
    char name[64];
    double x, y, right = 0, down = 0;
    snprintf( name, sizeof name, "%.*s", (int)strcspn( words, "@" ), words );
    sscanf( words + strcspn( words, "@" ), "@%lf,%lf", &right, &down );
    const tr_spot *spot = tr_ui_spot( tr_app_ui( p->app ), name );
    if ( spot != NULL )
        return move( p, spot->area.x + 0.5 * spot->area.width + right,
                     spot->area.y + 0.5 * spot->area.height + down );
    if ( tr_app_locate( p->app, name, &x, &y ) )
        return move( p, x + right, y + down );
    return complain( p, "there is no %s to be seen", name );
}

static int key_of( const char *name )
{
    static const struct {
        const char *name;
        int key;
    } table[] = { { "Space", TR_KEY_SPACE }, { "Esc", TR_KEY_ESCAPE }, { "Enter", TR_KEY_ENTER },
                  { "Tab", TR_KEY_TAB },     { "Left", TR_KEY_LEFT },  { "Right", TR_KEY_RIGHT },
                  { "Home", TR_KEY_HOME },   { "End", TR_KEY_END },    { "Delete", TR_KEY_DELETE },
                  { "F1", TR_KEY_F1 },       { "Up", TR_KEY_UP },      { "Down", TR_KEY_DOWN },
                  { "Num", TR_KEY_PAD_0 } };
    if ( name[0] != 0 && name[1] == 0 )
        return toupper( (unsigned char)name[0] );
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i )
        if ( strncasecmp( name, table[i].name, strlen( table[i].name ) ) == 0 )
            return table[i].key + ( table[i].key == TR_KEY_PAD_0 ? atoi( name + 3 ) : 0 );
    return 0;
}

// "Ctrl+Shift+Z", "Num1"
static bool run_key( player *p, const char *words )
{
    static const struct {
        const char *name;
        unsigned modifier;
    } table[] = { { "Ctrl+", TR_MOD_CTRL }, { "Shift+", TR_MOD_SHIFT }, { "Alt+", TR_MOD_ALT } };
    unsigned modifiers = 0;
    for ( size_t i = 0; i < 3; ++i )
        if ( strncasecmp( words, table[i].name, strlen( table[i].name ) ) == 0 ) {
            modifiers |= table[i].modifier;
            words += strlen( table[i].name );
        }
    int which = key_of( words );
    return which != 0 ? key( p, which, modifiers ) && ( modifiers == 0 || rest( p ) )
                      : complain( p, "there is no key %s", words );
}

static bool run_click( player *p, const char *words )
{
    return go_to( p, words ) && button( p, TR_BUTTON_LEFT, true ) && button( p, TR_BUTTON_LEFT, false ) &&
           rest( p );
}

static bool hold_by( player *p, const char *words )
{
    char name[64];
    double dx, dy;
    if ( sscanf( words, "%63s %lf %lf", name, &dx, &dy ) != 3 )
        return complain( p, "what to pull and how many points to the right and down: %s", words );
    return go_to( p, name ) && button( p, TR_BUTTON_LEFT, true ) && glide( p, dx, dy );
}

static bool run_hold( player *p, const char *words )
{
    return hold_by( p, words ) && follow( p );
}

// Keys that are down while the mouse is used: "with Ctrl", and "with" for none.
static bool run_with( player *p, const char *words )
{
    p->modifiers = ( strstr( words, "Ctrl" ) != NULL ? TR_MOD_CTRL : 0u ) |
                   ( strstr( words, "Shift" ) != NULL ? TR_MOD_SHIFT : 0u ) |
                   ( strstr( words, "Alt" ) != NULL ? TR_MOD_ALT : 0u );
    push( p, ( tr_event ){ .kind = TR_EVENT_KEY, .down = true, .modifiers = p->modifiers } );
    return frames( p, 1 );
}

static bool run_release( player *p, const char *words )
{
    (void)words;
    return button( p, TR_BUTTON_LEFT, false ) && rest( p );
}

static bool run_drag( player *p, const char *words )
{
    return hold_by( p, words ) && run_release( p, "" );
}

static bool in_the_middle( player *p )
{
    tr_area v = tr_app_ui( p->app )->viewport;
    return move( p, v.x + 0.5 * v.width, v.y + 0.5 * v.height );
}

static bool run_orbit( player *p, const char *words )
{
    double dx, dy;
    if ( sscanf( words, "%lf %lf", &dx, &dy ) != 2 )
        return complain( p, "how many points to the right and down: %s", words );
    return in_the_middle( p ) && button( p, TR_BUTTON_MIDDLE, true ) && glide( p, dx, dy ) &&
           button( p, TR_BUTTON_MIDDLE, false );
}

static bool run_zoom( player *p, const char *words )
{
    bool ok = in_the_middle( p );
    push( p, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = atof( words ), .modifiers = p->modifiers } );
    return ok && frames( p, 1 );
}

static bool run_frame( player *p, const char *words )
{
    bool ok = key( p, '\\', 0 ) && key( p, TR_KEY_HOME, 0 );
    for ( int i = atoi( words ); ok && i > 0; --i )
        ok = key( p, TR_KEY_RIGHT, 0 );
    return ok;
}

static bool run_type( player *p, const char *words )
{
    return type( p, words );
}

// The pointer stays where it is; smooth edges and shadows come back after a moment.
static bool run_picture( player *p, const char *words )
{
    size_t pixels = (size_t)p->window->pixel_width * (size_t)p->window->pixel_height;
    char *path = tr_path_beside( p->path, words );
    unsigned char *rgb = tr_alloc( pixels, 3 );
    bool ok = ( path != NULL && rgb != NULL ) || tr_error_memory( p->error );
    ok = ok && frames( p, 30 ) &&
         ( tr_window_picture( p->window, rgb ) || complain( p, "%s cannot be drawn", words ) ) &&
         tr_picture_save( path, p->window->pixel_width, p->window->pixel_height, rgb, p->error );
    tr_free( path );
    tr_free( rgb );
    return ok;
}

static bool run_move( player *p, const char *words )
{
    return go_to( p, words );
}

static const struct {
    const char *name;
    bool ( *run )( player *p, const char *words );
} verbs[] = { { "key", run_key },         { "with", run_with },   { "move", run_move },
              { "click", run_click },     { "drag", run_drag },   { "hold", run_hold },
              { "release", run_release }, { "orbit", run_orbit }, { "zoom", run_zoom },
              { "frame", run_frame },     { "type", run_type },   { "picture", run_picture } };

static bool run_line( player *p, char *line )
{
    char *hash = strchr( line, '#' );
    if ( hash != NULL )
        *hash = 0;
    line += strspn( line, " \t" );
    for ( size_t end = strlen( line ); end > 0 && isspace( (unsigned char)line[end - 1] ); )
        line[--end] = 0;
    size_t length = strcspn( line, " \t" );
    if ( length == 0 )
        return true;
    for ( size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i )
        if ( strlen( verbs[i].name ) == length && strncmp( verbs[i].name, line, length ) == 0 ) {
            p->begun = true;
            return verbs[i].run( p, line + length + strspn( line + length, " \t" ) );
        }
    // a file that does not begin like a script may be anything, so it is not quoted
    return p->begun ? complain( p, "hands cannot do this: %.60s", line )
                    : complain( p, "there is no action of this name%s", "" );
}

bool tr_input_script_play( const char *path, const tr_app_def *def, tr_error *error )
{
    char *text;
    size_t size;
    tr_app_def own = *def;
    player p = { .path = path, .window = def->window, .error = error };
    if ( !tr_file_read( path, &text, &size, error ) ) {
        tr_window_close( def->window );
        return false;
    }
    own.wait = false;
    own.synchronous = true;
    p.app = tr_app_create( &own, error );
    bool ok = p.app != NULL && rest( &p );
    for ( char *at = text; ok && at < text + size; ) {
        char *end = strchr( at, '\n' );
        if ( end != NULL )
            *end = 0;
        ++p.line;
        ok = run_line( &p, at );
        at = end != NULL ? end + 1 : text + size;
    }
    tr_app_destroy( p.app );
    tr_free( text );
    return ok;
}
