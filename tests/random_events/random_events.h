// What the parts of random_events share.
#ifndef TROUPE_TESTS_RANDOM_EVENTS_H
#define TROUPE_TESTS_RANDOM_EVENTS_H

#include "check.h"

#include "scenes/scenes.h"
#include "ui/ui.h"

#include <string.h>
#include <unistd.h>

#define PATH_LENGTH  200
#define HANG_SECONDS 600 // within a frame: a watchdog, far beyond the longest solve under a sanitizer

double seconds_now( void );
// The first words, up to a colon, say what kind of failure it is.
#define check_that( truth, ... ) ( ( truth ) ? (void)0 : give_up( __VA_ARGS__ ) )
_Noreturn void give_up( const char *format, ... ) TR_PRINTF( 1 );

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

bool step_is_event( const step *s );
void step_print( FILE *out, const step *s );

typedef struct step_list {
    step *items;
    int count, capacity;
} step_list;

void step_list_add( step_list *list, const step *s );
bool step_list_load( step_list *list, const char *path );

// ------------------------------------------------------------------------------------------------------ desk

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
} figures;

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
    unsigned buttons; // buttons that are down
} desk;

static inline const tr_ui *ui_of( const desk *d )
{
    return tr_app_ui( d->app );
}

void desk_start( desk *d );
void desk_stop( desk *d ); // nothing of the editor is left
void desk_send( desk *d, const step *s );
void desk_restore_files( const desk *d );

// ---------------------------------------------------------------------------------------------------- player

typedef struct player {
    desk *d;
    uint64_t seed;
    double x, y; // pointer
} player;

void player_act( player *p ); // does something at random

// ----------------------------------------------------------------------------------------------------- files

void files_write( const char *base );
// From here on only <base>/desk can be written, by this process and those it starts; `folder` is its path.
void files_move_in( const char *base, char folder[PATH_LENGTH] );

typedef struct scene_list { // STEP_OPEN each
    step items[64];
    int count;
} scene_list;

void scene_list_fill( scene_list *list, const options *o );

#endif
