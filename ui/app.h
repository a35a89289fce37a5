// Private to the files of ui/ itself: the app that puts the modules below together, its viewport and its
// files.
#ifndef TROUPE_UI_APP_H
#define TROUPE_UI_APP_H

#include "ui/panels/panels.h"
#include "ui/timeline/timeline.h"
#include "ui/ui.h"

// -------------------------------------------------------------------------------------------------- viewport

typedef struct tr_viewport { // the picture of the stage, kept while nothing changes
    tr_renderer *renderer;
    tr_draw_list list;
    tr_view_mark *marks;
    int mark_capacity;
    unsigned framebuffer, colour;
    int width, height;
    tr_quality quality;
    double cost[3]; // milliseconds of a picture, smoothed, by quality
    double rest;    // cost of a frame besides the viewport
    double changed; // when it was last drawn again
    uint64_t key;   // hash of what is in the framebuffer
} tr_viewport;

bool tr_viewport_create( tr_viewport *viewport, bool has_gl, tr_error *error );
void tr_viewport_destroy( tr_viewport *viewport );
// Draws the stage into the window where the viewport is.
bool tr_viewport_draw( tr_viewport *viewport, tr_ui *ui, const tr_shown *shown, const tr_window *window,
                       tr_error *error );
// Pointer events that belong to the viewport.
void tr_viewport_hover( tr_ui *ui, const tr_shown *shown ); // what the pointer is on, at this frame
void tr_viewport_hold( tr_ui *ui, const tr_shown *shown, tr_ops *ops ); // every frame: previews the drag
void tr_viewport_input( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_event *event );

// ----------------------------------------------------------------------------------------------- state files

typedef struct tr_state_files { // recovery files and recently used ones
    char *folder;               // NULL = there is none
    char *recovery;             // this run's file
    char *found;                // left behind by a crash, NULL = none
    char found_what[200];       // its scene, and when it was written
    char *recent[11];           // NULL-terminated
    unsigned kept;              // revision that is in the recovery file
    double period, next;        // seconds
} tr_state_files;

void tr_state_files_open( tr_state_files *files, const char *folder, double period );
void tr_state_files_close( tr_state_files *files );                  // the run ended well
void tr_state_files_note( tr_state_files *files, const char *path ); // was opened or saved
// Writes the recovery file from time to time, while something is unsaved.
void tr_state_files_tick( tr_state_files *files, const tr_session *session, double now );
bool tr_state_files_restore( tr_state_files *files, tr_session *session, tr_error *error );
void tr_state_files_discard( tr_state_files *files );

// ------------------------------------------------------------------------------------------------------- app

struct tr_app {
    tr_window *window;
    struct nk_context nk;
    struct nk_context over; // what is drawn over all panels
    tr_paint paint;
    tr_ui ui;
    tr_session *session;
    tr_viewport viewport;
    tr_state_files state_files;
    tr_ops ops;
    unsigned thumbs[TR_MAX_THUMBS];
    char *report;
    uint64_t reported;
    unsigned revision, opened, joined;
    bool asks;           // which skeleton and take of a file is meant
    bool look_at_joined; // as soon as it is on the stage
    int shown_frames;
    bool wait;
    double last;
    unsigned idle;    // frames without anything new
    unsigned buttons; // buttons that are down
    char title[256];
};

// Takes from the window's queue what fits into one frame (at most one change of a button), hands it to
// Nuklear and to the viewport. True when there was anything.
bool tr_input_frame( tr_app *app, const tr_shown *shown );
tr_shown tr_app_look( const tr_app *app );
void tr_app_carry_out( tr_app *app ); // what was asked for in this frame
void tr_app_report( tr_app *app );    // into the report file, when something changed
void tr_layout( tr_ui *ui );

#endif
