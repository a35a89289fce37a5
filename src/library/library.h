// library: what libtroupe exports, and nothing else. Every function here checks its arguments, opens the
// opaque struct and calls the modules below; it computes nothing. The one place where public and internal
// names meet.
#ifndef TROUPE_LIBRARY_H
#define TROUPE_LIBRARY_H

#include "scenes/scenes.h"
#include "troupe.h"

#include <stdatomic.h>
#include <troupe/troupe.h>

struct troupe_scene {
    tr_document *document;
    tr_library library; // files that were read, motions that exist in memory alone
    tr_log warnings;    // of opening it
    char *file;         // its own path, NULL: relative paths are seen from the working folder
};

struct troupe_stage {
    tr_scene scene; // as it was when it was staged
    tr_stage stage; // borrows it
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
    const tr_result *motion; // own, or what a drag shows
    tr_library_body *bodies; // [actor_count of the motion]
    const tr_method *method; // that solved it, NULL: none did
    int below;               // layer that it was solved below, -1: it is whole
};

struct troupe_measures {
    troupe_figure *figures; // [count]
    int count;
};

struct troupe_drag {
    troupe_result shown; // its motion is the drag's
    tr_drag *drag;
    int layer, threads;
};

// ------------------------------------------------------------------------------------------------- calls
// Every public function that can fail runs between these two. They hold what it may be asked and how it
// ended.

typedef struct tr_call {
    troupe_work def;
    tr_work work;
    tr_progress progress; // for tr_stage.progress
    atomic_bool stopped;  // a callback asked for it
    int threads;          // of the thread before the call
    tr_error error;
} tr_call;

void tr_call_begin( tr_call *c, const troupe_work *work ); // NULL: default
// `ok`, and *error filled where it is false.
bool tr_call_end( tr_call *c, bool ok, troupe_error *error );

// The stage as a call works on it, with its progress. The copy borrows everything.
tr_stage tr_call_stage( tr_call *c, const troupe_stage *stage );

// Makes the arrays of troupe_clip for every motion of result->motion. Frees nothing on failure.
bool tr_library_bodies_build( troupe_result *result, tr_error *error );
void tr_library_result_free( troupe_result *result ); // all but the struct

#endif
