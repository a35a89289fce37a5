// library: the functions that libtroupe exports. Each checks its arguments, opens the opaque struct and calls
// the modules below; it computes nothing. Public and internal names meet only here.
#ifndef TROUPE_LIBRARY_H
#define TROUPE_LIBRARY_H

#include "scenes/scenes.h"
#include "troupe.h"

#include <stdatomic.h>
#include <troupe/troupe.h>

struct troupe_scene {
    tr_document *document;
    tr_library library; // files that were read, motions that exist only in memory
    tr_log warnings;    // warnings of opening it
    char *file;         // its own path; NULL: paths are relative to the working folder
};

struct troupe_stage {
    tr_scene scene; // copy of the document when it was staged
    tr_stage stage; // borrows the scene
    tr_log warnings;
};

typedef struct tr_library_body { // parts of a skeleton as arrays
    int *parents;                // [joint_count]
    double *offsets;             // [joint_count * 3]
    const char **names;          // [joint_count] borrowed from the skeleton
} tr_library_body;

struct troupe_result {
    const troupe_stage *stage;
    tr_result own;
    const tr_result *motion; // its own, or that of a drag
    tr_library_body *bodies; // [actor_count of the motion]
    const tr_method *method; // the method that solved it, NULL for a loaded result
    int below;               // the layer below which it was solved, -1: all layers are in it
};

struct troupe_measures {
    troupe_figure *figures; // [count]
    int count;
};

struct troupe_drag {
    troupe_result shown; // has the motion of the drag
    tr_drag *drag;
    int layer, threads;
};

// ------------------------------------------------------------------------------------------------- calls
// Every public function that can fail runs between these two, which handle progress, cancelling and errors.

typedef struct tr_call {
    troupe_work def;
    tr_work work;
    tr_progress progress; // for tr_stage.progress
    atomic_bool stopped;  // a callback asked to stop
    int threads;          // own threads of the caller before the call
    tr_error error;
} tr_call;

void tr_call_begin( tr_call *c, const troupe_work *work ); // NULL: default
// Returns `ok`; fills *error if it is false.
bool tr_call_end( tr_call *c, bool ok, troupe_error *error );

// A copy of the stage with the call's progress. The copy borrows everything.
tr_stage tr_call_stage( tr_call *c, const troupe_stage *stage );

// Builds the arrays of troupe_clip for every motion of result->motion. Frees nothing on failure.
bool tr_library_bodies_build( troupe_result *result, tr_error *error );
void tr_library_result_free( troupe_result *result ); // all but the struct

#endif
