// Private to bench: input for the editor. It runs as it does for a user, with a window that has no screen;
// events are put into its queue, and frames have the rate of a screen.
#ifndef TROUPE_BENCH_INPUT_H
#define TROUPE_BENCH_INPUT_H

#include "ui/ui.h"

typedef struct hands {
    tr_app *app;
    tr_window *window; // the app's
    char folder[256];  // the editor's own, removed at the end
    bool paced;        // frames wait for the screen
    double next;       // when the next frame is due, by tr_clock_ms
    double last;       // when the window's time was last set
} hands;

// Opens a relay of `cast` people and waits until it is solved. With `imesh` the scene asks for interaction
// meshes; with `pictures` the window is drawn, and frames come as fast as they can.
bool hands_open( hands *h, int cast, bool imesh, bool pictures, tr_error *error );
void hands_close( hands *h );
// One frame of the editor, not before it is due on a screen of 60 Hz. False when the editor has closed.
bool hands_frame( hands *h, tr_error *error );
bool hands_settle( hands *h, tr_error *error ); // waits until everything is solved, measured or not
void hands_move( hands *h, double x, double y );
void hands_button( hands *h, int button, bool down, double x, double y );
void hands_key( hands *h, int key, unsigned modifiers );
// Moves the pointer to the first of the joints, in order, that a click would pick.
bool hands_find( hands *h, const char *const *names, int count, double *x, double *y, tr_error *error );

#endif
