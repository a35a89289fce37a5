// A live drag of a cage, or of a held frame: poses follow the pointer, computed on the worker's thread and
// handed over a block of frames at a time.
#ifndef TROUPE_UI_LIVE_DRAG_H
#define TROUPE_UI_LIVE_DRAG_H

#include "ui/session/session.h"
#include "ui/session/worker.h"

#include <pthread.h>

typedef struct tr_stage_files { // what a stage is built from, besides its scene; borrowed
    const char *base;           // file that references are relative to, NULL = all is in the library
    tr_library *library;
    pthread_mutex_t *lock; // lock of the library
} tr_stage_files;

// root: an outcome whose stage carries the scene (tr_stage_carries), NULL = none. May run on any thread.
bool tr_stage_files_build( const tr_stage_files *files, const tr_outcome *root, const tr_scene *scene,
                           tr_stage *out, tr_log *warnings, tr_error *error );

typedef struct tr_live_def {
    tr_scene scene; // with the layer and the handle in it; taken over
    tr_stage_files files;
    const tr_method *method;
    tr_outcome *root;           // its stage may carry the drag's, NULL = none; taken over
    tr_outcome *below;          // the motion below the layer if it is known already; else NULL
    const char *layer, *handle; // ids
    tr_live_hold hold;          // instead of them, on `below`, which must be known; who "" = none
} tr_live_def;

typedef struct tr_live tr_live;

tr_live *tr_live_create( tr_live_def *def, tr_error *error ); // takes scene and root over, also on failure
void tr_live_destroy( tr_live *live );                        // when its work has ended
void tr_live_work( tr_live *live, tr_worker *worker );        // on the worker's thread, until it is stopped
// On the worker's thread, after its work has ended: the drag, refined, if it has the result of the stage for
// tr_pipeline_run_released; else NULL.
tr_drag *tr_live_finish( tr_live *live, const tr_stage *stage, const tr_method *method );

// Where the handle is now, the frame being looked at, and when (tr_clock_ms) the mouse asked for it. A held
// frame: `move` is the place of the joint.
void tr_live_move( tr_live *live, vec3 move, vec3 turn, int frame, double asked_ms );
void tr_live_stop( tr_live *live );
bool tr_live_poll( tr_live *live ); // picks up new poses; true when there are any
// Poses of all frames, NULL until there are some. Worlds and tracks only.
const tr_result *tr_live_result( const tr_live *live, const tr_stage **stage );
const tr_cage_outline *tr_live_cage( const tr_live *live ); // the same for the cage that is pulled
// A held frame: the ops of the last move, a line each; NULL until its poses are there.
const char *tr_live_ops( const tr_live *live );
bool tr_live_failed( const tr_live *live, tr_error *error ); // after its work has ended
// Milliseconds from the last move to its poses; false: it was returned before.
bool tr_live_latency( tr_live *live, double *ms );

#endif
