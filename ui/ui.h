// ui: the editor. A window (in tests a pretended one) delivers events; every frame the panels read
// the document, draw themselves and ask for changes as ops; a thread in the background solves. Everything the
// interface remembers is in one struct, tr_ui, which tests read.
#ifndef TROUPE_UI_H
#define TROUPE_UI_H

#include "ui/shared/state.h"

typedef struct tr_app tr_app;

typedef struct tr_app_def {
    tr_window *window;     // taken over, also on failure
    const char *open;      // scene, file or folder to begin with; NULL = the box relay
    int cast;              // number of characters of a built-in scene, 0 = its own
    const char *state_dir; // recovery files and recently used ones; NULL = the user's
    const char *report;    // file for the state of the interface, written whenever it changes; NULL = none
    double autosave;       // seconds between recovery files while something is unsaved
    bool wait;             // sleep while there is nothing to do
    bool synchronous;      // solve between frames instead of in the background: for tests
} tr_app_def;

tr_app_def tr_default_app_def( void );
tr_app *tr_app_create( const tr_app_def *def, tr_error *error );
bool tr_app_frame( tr_app *app ); // false when the editor has been closed
void tr_app_destroy( tr_app *app );
const tr_ui *tr_app_ui( const tr_app *app );
const tr_scene *tr_app_scene( const tr_app *app ); // the document
const tr_result *tr_app_result( const tr_app *app,
                                const tr_stage **stage ); // what is shown, NULL = nothing yet
bool tr_app_settled( const tr_app *app );                 // nothing is being opened or solved
bool tr_app_stale( const tr_app *app );                   // the solve of the document was cancelled
// Pairs of members that are close; until they are measured those of the solve before, if it had the same
// members. NULL = none are known.
const tr_imesh_pairs *tr_app_links( const tr_app *app );
// Where a joint ("p03.LeftHand") or a thing ("box01") is on the window now, in points. False: not to be seen.
bool tr_app_locate( const tr_app *app, const char *name, double *x, double *y );
bool tr_app_unsaved( const tr_app *app );
int tr_app_ops( const tr_app *app );       // done and not undone
bool tr_app_released( const tr_app *app ); // the result that is shown was taken from a drag, not solved again
int tr_app_undone( const tr_app *app );    // undone, to be done again
unsigned tr_app_revision( const tr_app *app ); // changes with the document
unsigned tr_app_opened( const tr_app *app );   // changes when another scene is open, 0 = none was yet
// Bytes of the lists of what is drawn, which grow to the fullest picture so far and stay.
size_t tr_app_drawing_bytes( const tr_app *app );
// In the background, with the method the scene asks for. Unsaved changes are lost without a question.
void tr_app_open( tr_app *app, const char *what, int cast );
void tr_app_cancel( tr_app *app );                         // what is being opened, solved or written
void tr_app_set_folder( tr_app *app, const char *folder ); // folder that file dialogs show
// Plays an input script (docs/editor.md) on a window made by tr_window_pretend; pictures go beside the
// script.
bool tr_input_script_play( const char *script, const tr_app_def *def, tr_error *error );
void tr_help_print( tr_text *out );                  // every tool and key, as Markdown: what F1 shows
const tr_losses *tr_app_losses( const tr_app *app ); // losses of the last solve, NULL = none yet

// The keys of the tables of tools and commands, 0 = none; for tests that press all of them.
int tr_app_tool_count( void );
int tr_app_tool_key( int i );
int tr_app_command_count( void );
int tr_app_command_key( int i, unsigned *modifiers );

#endif
