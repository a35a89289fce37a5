// Private to the session's files: the struct itself, the job the worker is doing, and what they call of each
// other.
#ifndef TROUPE_UI_SESSION_PRIVATE_H
#define TROUPE_UI_SESSION_PRIVATE_H

#include "ui/live.h"
#include "ui/session.h"
#include "ui/worker.h"

#include <pthread.h>
#include <stdatomic.h>

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

typedef struct tr_lines {
    char **items;
    int count;
} tr_lines;

typedef struct tr_job { // what the worker is doing; its own until it has finished
    tr_job_kind kind;
    char *what; // to open, to join the cast, or the folder to write
    int cast;
    tr_opened opened;
    bool restores; // what was kept takes the place of what is opened
    tr_outcome *take;
    tr_live *live; // borrowed
    const tr_method *method;
    const char *base; // borrowed: the scene's own path
    tr_library *library;
    pthread_mutex_t *library_lock;
    bool lone, copy_first;
    tr_outcome *root;  // whose stage may carry this one, NULL = none
    tr_outcome *below; // may be NULL: a solve without cages, see tr_pipeline_run_above
    tr_picture_job picture;
    int entry;
    tr_thumb thumb;
    tr_lines lines;    // to be tried
    tr_scene draft;    // what they would make of the document
    atomic_bool shown; // solve: the copied result is there
    bool ok;
    tr_error error;
} tr_job;

typedef struct tr_figures { // how good a solve is
    tr_strips strips;
    tr_imesh_pairs links;
    tr_measures measures;
} tr_figures;

typedef struct tr_figures_of {            // the solve that a part of the figures belongs to
    unsigned serial;                      // 0 = there are none
    int actors, props, obstacles, frames; // they count members and frames by these
} tr_figures_of;

typedef struct tr_figuring { // figures being found
    tr_outcome *take;        // of this, NULL = none are
    tr_figures found;
    atomic_int ready; // parts of `found` that are there
    int delivered;
} tr_figuring;

#define TR_MAX_WAITS 128

struct tr_session {
    tr_worker *worker;
    tr_job job;
    tr_worker *writer; // exports take long: the other one goes on with the document meanwhile
    tr_job writing;    // what it is doing

    tr_document *document;
    tr_scene empty;
    tr_library library;
    pthread_mutex_t library_lock; // stages are built, and with them files read, on the worker's thread
    char *base;                   // the file references are relative to, NULL = all is in the library
    char *file;                   // where it is saved
    char *what;
    int cast; // that `what` was opened with, 0 = its own number
    bool lone;
    unsigned revision, opened;
    int saved;         // ops of the history that were done when it was saved, -1: that state is no more
    tr_log warnings;   // of opening it
    tr_log told;       // warnings there were after the last solve
    tr_outcome *take;  // shown
    tr_outcome *below; // the last solve of what cages act on, NULL = none
    unsigned serial;   // of the last solve
    tr_worker *measurer;
    tr_figuring figuring;
    tr_figures figures;          // the last ones
    tr_figures_of figures_of[3]; // strips, links, measures: each may be of another solve
    bool want_figures;
    const tr_method *method; // NULL: what the scene asks for
    bool want_solve, cancelled, synchronous;
    tr_lines preview;

    tr_live *live;        // a drag, or its poses until they are solved
    tr_live *next_live;   // to be started
    tr_live *last_live;   // whose poses are shown until there are some of `live`
    uint64_t drag_base;   // of the lines it began with
    uint64_t drag_failed; // the same of one that could not begin: it is not tried again and again
    bool let_go, keep_live;
    tr_waits waits;
    double waited[TR_MAX_WAITS]; // the last drag's last moves, in a ring
    double changed_ms;           // when the document changed; 0: that is solved

    char *open_what; // asked for
    int open_cast;
    tr_lines joins;   // motion files that are to join the cast
    tr_id joined;     // who did at last
    tr_lines *trials; // to be tried, one after the other
    int trial_count, trial_capacity;
    unsigned joined_count;
    tr_scene restore; // to take the place of what is opened
    bool restoring;
    char *restore_file;
    tr_lines exports; // folders to be written
    tr_picture_job *pictures;
    int picture_count, picture_capacity;
    tr_thumb thumbs[TR_MAX_THUMBS];
    bool thumb_wanted[TR_MAX_THUMBS];

    char message[640];
    bool has_message, message_bad, message_warns;
    char failure[640]; // of the last solve, "" = none
};

// ------------------------------------------------------------------------------------------------ session.c

void tr_session_show( tr_session *session, tr_outcome *take );
// The one whose stage it stands on, with a user more; NULL for none.
tr_outcome *tr_outcome_root( tr_outcome *take );
void tr_session_say( tr_session *session, bool bad, const char *format, ... ) TR_PRINTF( 3 );
void tr_session_warn( tr_session *session, const char *text ); // neither good nor an error
void tr_session_say_error( tr_session *session, const tr_error *error );

// --------------------------------------------------------------------------------------- session_document.c

void tr_lines_free( tr_lines *lines );
bool tr_lines_copy( tr_lines *out, char *const *text, int count ); // takes the place of what was there
bool tr_lines_add( tr_lines *lines, const char *text );
char *tr_lines_take( tr_lines *lines ); // the first of them, from now on the caller's
// What the document's scene would be with some more lines.
bool tr_session_draft( const tr_session *session, char *const *text, int count, tr_scene *out,
                       tr_error *error );
void tr_session_forget( tr_session *session ); // the document and all that came of it
void tr_session_forget_live( tr_session *session );
void tr_session_note_waits( tr_session *session ); // what the drag at hand took

// ------------------------------------------------------------------------------------------- session_jobs.c

// Both for what the worker does and for what the writer does.
void tr_session_start_next( tr_session *session );
void tr_session_finish_job( tr_session *session, tr_job *job );

// ------------------------------------------------------------------------------------------- session_join.c

void tr_job_join( void *context, tr_worker *worker );
void tr_session_finish_join( tr_session *session, tr_job *job );

// -------------------------------------------------------------------------------------------- session_try.c

bool tr_session_begin_try( tr_session *session,
                           tr_job *job ); // takes the first; false: it is answered already
void tr_session_forget_trials( tr_session *session );
void tr_job_try( void *context, tr_worker *worker );
void tr_session_finish_try( tr_session *session, tr_job *job );

// ---------------------------------------------------------------------------------------- session_figures.c

bool tr_session_poll_figures( tr_session *session ); // true when there are new ones
void tr_session_stop_figures( tr_session *session );
void tr_session_forget_figures( tr_session *session );
void tr_session_end_figures( tr_session *session );

// --------------------------------------------------------------------------------------- session_pictures.c

void tr_job_draw( void *context, tr_worker *worker );
void tr_job_thumb( void *context, tr_worker *worker );

#endif
