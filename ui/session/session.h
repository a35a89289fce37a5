// The document being edited, where it is saved, and what was computed from it. Opening, solving, measuring
// and exporting run on other threads; tr_session_poll picks up their results. drag.c follows the mouse while
// a handle is dragged, and solve.c solves the document, also on release of a drag.
#ifndef TROUPE_UI_SESSION_H
#define TROUPE_UI_SESSION_H

#include "scenes/scenes.h"
#include "ui/render/render.h"

#include <stdatomic.h>

// A solve: a copy of the document, and the result. Nothing in it changes once it is shown.
typedef struct tr_outcome {
    tr_scene scene; // what the stage refers to
    tr_stage stage;
    tr_result copied, solved; // copied: rotations of the source, shown until the rest is there
    bool has_copied, has_solved;
    tr_log warnings;
    tr_losses losses; // what gave way in `solved`
    double solve_ms;
    bool released; // a drag had the result
    const tr_method *method;
    unsigned revision;       // revision of the session's document
    unsigned serial;         // number of this solve, from 1
    struct tr_outcome *root; // its stage carries this one's, NULL = none
    atomic_int users;
} tr_outcome;

void tr_outcome_release( tr_outcome *take ); // one user less; NULL is fine

typedef struct tr_picture_job { // a picture or a video to be made in the background
    char *path;                 // .png, .mp4, .gif
    tr_camera camera;
    tr_view_def view;
    int first, last; // frames; a picture has one
    int width, height;
} tr_picture_job;

typedef struct tr_live_hold { // a joint at one frame, moved to a place in the world
    char who[TR_ID_MAX], joint[TR_JOINT_MAX];
    int frame;          // frame of the stage
    int document_frame; // the same in the document
    char id[TR_ID_MAX]; // id of the rule it becomes
    double ease;        // frames over which that fades
} tr_live_hold;

#define TR_MAX_THUMBS 16

typedef struct tr_thumb { // picture of a built-in scene, made in the background
    int width, height;
    unsigned char *rgb; // [height * width * 3]; NULL = not there (yet)
    bool failed;
} tr_thumb;

typedef struct tr_session tr_session;

tr_session *tr_session_create( bool synchronous, tr_error *error );
void tr_session_destroy( tr_session *session );
// Once a frame. True when something new is to be seen.
bool tr_session_poll( tr_session *session );

// The document.
const tr_document *tr_session_document( const tr_session *session ); // NULL until something is open
const tr_scene *tr_session_scene( const tr_session *session ); // never NULL; empty until something is open
unsigned tr_session_revision( const tr_session *session );     // changes with the document
unsigned tr_session_opened( const tr_session *session );       // changes when another scene is open
// All lines as one step of the history; all or nothing.
bool tr_session_apply( tr_session *session, char *const *lines, int count, tr_error *error );
bool tr_session_undo( tr_session *session );
bool tr_session_redo( tr_session *session );
// Solves the document as if these lines had been applied, without changing it; 0 lines: as it is.
void tr_session_preview( tr_session *session, char *const *lines, int count );

// Drags a handle of a cage: `lines` make the layer and, last, the handle in a draft of the document. The
// poses follow, in tr_session_result. Call it every frame; a change of lines before the last begins a new
// drag. End it with `keep` when the same was applied as ops: the poses stay until those are solved.
bool tr_session_dragging( const tr_session *session );
void tr_session_drag( tr_session *session, char *const *lines, int count, const char *layer,
                      const char *handle );
void tr_session_drag_move( tr_session *session, vec3 move, vec3 turn, int frame, double asked_ms );
void tr_session_drag_end( tr_session *session, bool keep );
// Holds a frame of the solution and moves a joint in it to a place; members that are close follow, in
// tr_session_result. Call it every frame, as above, and end it by tr_session_drag_end; it pauses for other
// work. tr_session_held: its ops, NULL while the last move is not solved.
void tr_session_hold( tr_session *session, const tr_live_hold *hold, vec3 place, double asked_ms );
const char *tr_session_held( const tr_session *session );

// How long the user waited, milliseconds.
typedef struct tr_waits {
    double last, p95; // from a move of the mouse to poses of the visible frame: the last one; the last drag's
    int moves;        // moves of the last drag that were answered so far
    double settle;    // from the last change of the document to the whole clip solved
    unsigned settles; // changes answered so far
} tr_waits;

tr_waits tr_session_waits( const tr_session *session );

// Files.
void tr_session_open( tr_session *session, const char *what, int cast ); // in the background
// Which skeleton and which take of a file is meant; there are several. Opening such a file, and letting it
// join, ask first.
typedef char tr_choice_word[TR_JOINT_MAX]; // a name, or a number from 1

typedef struct tr_choice {
    char *path;
    bool opens;                        // it becomes the document; else it joins the cast
    tr_choice_word *skeletons, *takes; // [skeleton_count], [take_count]
    int skeleton_count, take_count;
    bool *moves; // [take_count * skeleton_count] does the take move the skeleton? See tr_choice_moves
} tr_choice;

const tr_choice *tr_session_choice( const tr_session *session ); // the first that waits; NULL: none
static inline bool *tr_choice_moves( const tr_choice *choice, int take, int skeleton )
{
    return &choice->moves[(size_t)take * (size_t)choice->skeleton_count + (size_t)skeleton];
}
// Answers it. skeleton -1: all that the take moves; take -1: the first that moves each.
void tr_session_choose( tr_session *session, int skeleton, int take );
void tr_session_forget( tr_session *session ); // answers it by doing nothing
// Reads a motion file in the background; it becomes a member of the cast if it can be used.
void tr_session_join( tr_session *session, const char *path );
unsigned tr_session_joined( const tr_session *session,
                            tr_id id ); // how many joined so far; the last one's id
// Tries in the background whether the document can be staged with these lines, which name files. If so they
// become one step of the history; else nothing changes, and the message says why.
void tr_session_try( tr_session *session, char *const *lines, int count );
// Opens `what` with `cast` characters for its motions, and puts `scene` (taken over) in the place of its
// scene, as unsaved changes.
void tr_session_restore( tr_session *session, const char *what, int cast, const char *file, tr_scene *scene );
bool tr_session_save( tr_session *session, const char *path, tr_error *error ); // NULL = where it was
const char *tr_session_file( const tr_session *session ); // where it is saved, NULL = nowhere yet
const char *tr_session_name( const tr_session *session ); // for the title
const char *tr_session_what( const tr_session *session ); // what was opened
int tr_session_cast( const tr_session *session );         // with how many characters, 0 = its own number
bool tr_session_unsaved( const tr_session *session );
// A folder gets the BVH of every character and the report; a name that ends in .glb, .usda or .npz becomes
// such a file.
void tr_session_export( tr_session *session, const char *path );
void tr_session_draw( tr_session *session, const tr_picture_job *job ); // path is copied
const tr_thumb *tr_session_thumb( tr_session *session,
                                  int entry ); // `entry`: of the built-in scenes; asks for the picture

// What was computed.
const tr_outcome *tr_session_outcome( const tr_session *session ); // the last solve, NULL = none yet
const tr_result *tr_session_solution( const tr_session *session ); // its result once that is whole, or NULL
// Figures of what is shown, measured after the solve; until then those of the solve before, or NULL. Fresh:
// they belong to the last solve.
const tr_strips *tr_session_strips( const tr_session *session, bool *fresh );
const tr_imesh_pairs *tr_session_links( const tr_session *session ); // pairs that are close
const tr_measures *tr_session_measures( const tr_session *session );
// What to show, and its stage: the last solve or the drag. NULL = nothing yet.
const tr_result *tr_session_result( const tr_session *session, const tr_stage **stage );
// The cage of a layer as it is shown, NULL: none is known (yet).
const tr_cage_outline *tr_session_cage( const tr_session *session, const char *layer );
// Warnings of opening and staging the scene, one sentence each.
int tr_session_warning_count( const tr_session *session );
const char *tr_session_warning( const tr_session *session, int index );
bool tr_session_solved( const tr_session *session );  // what is shown is solved, not merely copied or dragged
bool tr_session_current( const tr_session *session ); // the last solve is that of the current document
const tr_method *tr_session_method( const tr_session *session );
void tr_session_set_method( tr_session *session, const tr_method *method );
bool tr_session_busy( const tr_session *session );
bool tr_session_measuring( const tr_session *session );      // figures are being found
bool tr_session_stale( const tr_session *session );          // the last solve failed or was cancelled
const char *tr_session_failure( const tr_session *session ); // why it failed, "" = it did not
const char *tr_session_task( const tr_session *session, float *progress ); // NULL = idle
void tr_session_cancel( tr_session *session );                             // what is going on
void tr_session_solve( tr_session *session );                              // again, after it was cancelled
// A sentence about what failed or finished last, once. False when there is none.
bool tr_session_message( tr_session *session, char *out, size_t size, bool *bad, bool *warns );

#endif
