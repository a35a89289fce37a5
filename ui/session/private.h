// Private to the session's files. The session is made of a few parts with one job each; a function takes the
// part it needs, and the session only where several parts change together.
#ifndef TROUPE_UI_SESSION_PRIVATE_H
#define TROUPE_UI_SESSION_PRIVATE_H

#include "ui/session/live_drag.h"
#include "ui/session/session.h"
#include "ui/session/worker.h"

#include <pthread.h>
#include <stdatomic.h>

// ------------------------------------------------------------------------------------------------ lines.c

typedef struct tr_lines {
    char **items;
    int count;
} tr_lines;

void tr_lines_free( tr_lines *lines );
bool tr_lines_copy( tr_lines *out, char *const *text, int count ); // frees what was there
bool tr_lines_same( const tr_lines *lines, char *const *text, int count );
bool tr_lines_add( tr_lines *lines, const char *text );
char *tr_lines_take( tr_lines *lines ); // removes the first line and returns it; the caller frees it

// ---------------------------------------------------------------------------------------------- message.c

typedef struct tr_message { // a sentence for the user, until the interface has picked it up
    char text[640];
    bool waiting, bad, warns;
} tr_message;

void tr_message_say( tr_message *message, bool bad, const char *format, ... ) TR_PRINTF( 3 );
void tr_message_warn( tr_message *message, const char *text ); // neither good news nor an error
void tr_message_error( tr_message *message, const tr_error *error );

// --------------------------------------------------------------------------------------------- document.c

typedef struct tr_open_document { // what is being edited, and its files
    tr_document *document;        // NULL until something is open
    tr_scene empty;               // shown until then
    tr_library library;
    pthread_mutex_t library_lock; // the worker's thread builds stages, which reads files into the library
    char *base;                   // file that references are relative to, NULL = all is in the library
    char *file;                   // where it is saved
    char *what;                   // what was opened, and with how many characters; 0 = its own number
    int cast;
    bool lone;         // a single motion file
    unsigned revision; // changes with the document
    unsigned opened;   // documents opened so far
    int saved;         // length of the op log when it was saved, -1: that state cannot be reached any more
    tr_log warnings;   // warnings of opening it
} tr_open_document;

// A copy of the document's scene with some more lines applied.
bool tr_open_document_draft( const tr_open_document *open, char *const *text, int count, tr_scene *out,
                             tr_error *error );
tr_stage_files tr_open_document_files( tr_open_document *open );
void tr_open_document_close( tr_open_document *open );

// ------------------------------------------------------------------------------------------------ solve.c

typedef struct tr_solving {
    tr_outcome *shown;       // the last solve, NULL = none yet
    tr_outcome *below;       // the last solve of the motion below the cages, NULL = none
    tr_outcome *running;     // borrowed from the worker's job while it is solved; may be `shown` already
    unsigned serial;         // number of the last solve
    const tr_method *method; // NULL: the one the scene asks for
    bool wanted;             // the document, its preview or the method changed
    bool stale;              // `shown` is older than the document: the last solve failed or was cancelled
    tr_lines preview;        // solved on top of the document
    double changed_ms;       // when the document changed; 0: that change is solved
    tr_log told;             // warnings after the last solve
    char failure[640];       // why the last solve failed, "" = it did not
} tr_solving;

void tr_solving_show( tr_solving *solving, tr_outcome *outcome );
// The result of `shown`, NULL while it is being solved.
const tr_result *tr_solving_solution( const tr_solving *solving );
void tr_solving_clear( tr_solving *solving );
// The outcome whose stage this one stands on, with one more user; NULL for none.
tr_outcome *tr_outcome_root( tr_outcome *outcome );

// ------------------------------------------------------------------------------------------------- drag.c

#define TR_MAX_WAITS 128

typedef struct tr_dragging {
    tr_live *live;   // the drag that runs, or its poses until they are solved
    tr_live *next;   // to be started
    tr_live *last;   // shown until `live` has poses
    bool running;    // the worker computes poses of `live`
    uint64_t base;   // hash of the lines it began with
    uint64_t failed; // the same of one that could not begin, so that it is not tried again and again
    bool let_go;     // the button is up
    bool keep;       // its poses stay until they are solved
    tr_waits waits;
    double waited[TR_MAX_WAITS]; // the last moves of the last drag, in a ring
} tr_dragging;

bool tr_dragging_active( const tr_dragging *drag ); // runs or is about to
// Picks up new poses and how long they took; true when there are any.
bool tr_dragging_poll( tr_dragging *drag );
// Poses of the drag and the stage they are on; NULL = none.
const tr_result *tr_dragging_result( const tr_dragging *drag, const tr_stage **stage );
const tr_cage_outline *tr_dragging_cage( const tr_dragging *drag, const char *layer );
void tr_dragging_clear( tr_dragging *drag ); // the poses; waits stay

// ---------------------------------------------------------------------------------------------- figures.c

typedef struct tr_figures { // how good a solve is
    tr_strips strips;
    tr_imesh_pairs links;
    tr_measures measures;
} tr_figures;

typedef struct tr_figures_of {            // the solve that a part of the figures belongs to
    unsigned serial;                      // 0 = there are none
    int actors, props, obstacles, frames; // figures are indexed by these
} tr_figures_of;

typedef struct tr_figuring { // the measurement that runs
    tr_outcome *outcome;     // what is measured, NULL = nothing
    tr_figures found;
    atomic_int ready; // parts of `found` that are finished
    int delivered;
} tr_figuring;

typedef struct tr_measuring {
    tr_worker *worker;
    bool synchronous;
    bool wanted;
    tr_figuring now;
    tr_figures figures;  // the last ones
    tr_figures_of of[3]; // strips, links, measures: each may be of another solve
} tr_measuring;

bool tr_measuring_create( tr_measuring *measuring, bool synchronous, tr_error *error );
// Begins to measure what is shown when that is wanted and nothing more urgent runs (`calm`); true when there
// are new figures.
bool tr_measuring_poll( tr_measuring *measuring, const tr_solving *solving, bool calm );
void tr_measuring_stop( tr_measuring *measuring );
void tr_measuring_clear( tr_measuring *measuring );
void tr_measuring_destroy( tr_measuring *measuring );

// ----------------------------------------------------------------------------------------------- choice.c

typedef struct tr_pick { // a motion file, and what of it
    char *path;
    bool chosen; // skeleton and take were asked for, or need not be
    bool one;    // it has one skeleton
    tr_choice_word skeleton, take;
} tr_pick;

typedef struct tr_picks {
    tr_pick *items;
    int count, capacity;
} tr_picks;

void tr_pick_free( tr_pick *pick );
bool tr_picks_add( tr_picks *picks, const tr_pick *pick ); // a copy
tr_pick tr_picks_take( tr_picks *picks );                  // removes the first; free it
void tr_picks_free( tr_picks *picks );
bool tr_open_pick( tr_opened *out, const char *path, const tr_pick *pick, tr_error *error );
// What of a file can be chosen; without a path where there is nothing to choose.
bool tr_choice_find( tr_choice *out, const char *path, bool opens, tr_error *error );
void tr_choice_free( tr_choice *choice );

// ------------------------------------------------------------------------------------------------- jobs.c

typedef enum tr_job_kind {
    TR_JOB_NONE,
    TR_JOB_OPEN,
    TR_JOB_SOLVE,
    TR_JOB_EXPORT,
    TR_JOB_DRAW,
    TR_JOB_THUMB,
    TR_JOB_DRAG,
    TR_JOB_JOIN,
    TR_JOB_TRY
} tr_job_kind;

typedef struct tr_job { // belongs to the worker's thread until it has finished
    tr_job_kind kind;
    char *what;      // to open, to join the cast, or to write: a folder, or a file for another program
    char *base;      // export: the scene's file, for paths in it; NULL: none
    tr_log warnings; // export
    int cast;
    tr_opened opened;
    tr_pick pick;     // open and join: what of the file
    tr_picks others;  // open: what else of it
    tr_choice choice; // open and join: what is to be asked instead
    bool restores;    // requests.restore takes the place of the opened scene
    tr_outcome *outcome;
    tr_live *live; // borrowed: the drag that runs, or the last one, which may have the result of a solve
    const tr_method *method;
    tr_stage_files files;
    bool lone, copy_first;
    tr_outcome *root;  // its stage may serve this solve too, NULL = none
    tr_outcome *below; // may be NULL: a solve without cages, see tr_pipeline_run_above
    tr_picture_job picture;
    int entry;
    tr_thumb thumb;
    tr_lines lines;    // to be tried
    tr_scene draft;    // the document with them
    atomic_bool shown; // solve: the copied result is there
    bool ok;
    tr_error error;
} tr_job;

typedef struct tr_runner { // a thread and its job
    tr_worker *worker;
    tr_job job;
    bool synchronous; // starting a job waits for its end
} tr_runner;

void tr_job_free( tr_job *job );
// Starts the runner's job.
void tr_runner_start( tr_runner *runner, void ( *run )( void *context, tr_worker *worker ) );

// --------------------------------------------------------------------------------------------- requests.c

typedef struct tr_requests { // what waits for a worker
    char *open;              // NULL = nothing is to be opened
    int open_cast;
    bool restoring; // it is opened for its motions: this scene takes the place of its own
    tr_scene restore;
    char *restore_file;
    tr_picks joins;      // motion files that are to join the cast
    tr_picks open_picks; // what of `open` is meant; none: all of it
    tr_lines *trials;    // each a step of the history that names files
    int trial_count, trial_capacity;
    tr_lines exports; // folders and files to be written
    tr_picture_job *pictures;
    int picture_count, picture_capacity;
    bool thumbs[TR_MAX_THUMBS]; // pictures of built-in scenes
} tr_requests;

bool tr_requests_any( const tr_requests *requests ); // thumbs do not count
bool tr_requests_add_trial( tr_requests *requests, char *const *text, int count );
tr_lines tr_requests_take_trial( tr_requests *requests );
bool tr_requests_add_picture( tr_requests *requests, const tr_picture_job *picture );
tr_picture_job tr_requests_take_picture( tr_requests *requests );
int tr_requests_take_thumb( tr_requests *requests ); // an entry of the table of scenes, -1 = none
void tr_requests_end_restore( tr_requests *requests );
// Drops what was asked of a document that is closed. True: files were to be written of it.
bool tr_requests_clear( tr_requests *requests );
void tr_requests_free( tr_requests *requests );

// ------------------------------------------------------------------------------------------------ session.c

struct tr_session {
    tr_open_document open;
    tr_solving solving;
    tr_dragging drag;
    tr_measuring measuring;
    tr_requests requests;
    struct {
        tr_choice *items;
        int count, capacity;
    } choices; // that wait for an answer
    tr_message message;
    tr_thumb thumbs[TR_MAX_THUMBS];
    struct {
        tr_id id; // id of the last that joined the cast
        unsigned count;
    } joined;
    tr_runner worker;
    tr_runner writer; // exports take long: the worker goes on with the document meanwhile
};

void tr_session_close( tr_session *session ); // the document and all that was computed from it

// start: begins a job on the worker; finish: picks up what it did. The last two are jobs on its thread.
void tr_session_start_next( tr_session *session );
void tr_session_finish_job( tr_session *session, tr_runner *runner );
void tr_session_start_open( tr_session *session );
void tr_session_finish_open( tr_session *session, tr_job *job );
void tr_session_start_solve( tr_session *session );
void tr_session_finish_solve( tr_session *session, tr_job *job );
void tr_session_start_drag( tr_session *session );
void tr_session_finish_drag( tr_session *session, const tr_job *job );
void tr_session_start_join( tr_session *session );
void tr_session_finish_join( tr_session *session, tr_job *job );
void tr_session_ask( tr_session *session, tr_choice *choice ); // takes it over
void tr_session_open_picks( tr_session *session, const tr_picks *picks );
void tr_session_start_try( tr_session *session );
void tr_session_finish_try( tr_session *session, tr_job *job );
void tr_job_draw( void *context, tr_worker *worker );
void tr_job_thumb( void *context, tr_worker *worker );

#endif
