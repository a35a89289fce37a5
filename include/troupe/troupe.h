// libtroupe: edit and retarget the motion of groups of characters. docs/library.md shows how.
//
// This is version 0.x: names, structs and results may change from one minor version to the next until 1.0.
//
// Units and axes: metres, seconds, radians; right-handed, Y up. Frames of a stage and of all arrays count
// from 0, the first frame of the scene. Ops use the scene's own frame numbers.
//
// Failure: a function that can fail returns false or NULL and fills *error, which may be NULL. Calls that
// break the rules of this header (a NULL object, an index out of range) end the program by assert.
//
// Threads: objects have no locks. Calls that take different scenes, stages, results and drags may run at the
// same time. Of one object, calls that take it as const may run at the same time; one that takes it without
// const must be alone with it.
//
// The library changes no setting of the process: no environment, no locale, no signals, no threads of BLAS,
// no allocator of jansson.
#ifndef TROUPE_TROUPE_H
#define TROUPE_TROUPE_H

#include <stdbool.h>
#include <stddef.h>

#if defined( __GNUC__ )
#define TROUPE_API __attribute__( ( visibility( "default" ) ) )
#else
#define TROUPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Version of the library that runs, such as "0.1.0".
// Lifetime: the text is static.
// Threads: any.
TROUPE_API const char *tr_version( void );

// ---------------------------------------------------------------------------------------------- errors

typedef struct troupe_error {
    char message[1024]; // one sentence a user can act on, without a final newline
    char file[512];     // the file with the error, "" when there is none; a longer path is cut at the front
    char path[160];     // JSON path such as cast[3].target.scale, "" when there is none
    int line, column;   // 1-based, in the file or in the text of ops; 0 when unknown
    bool cancelled;     // a callback of troupe_work asked to stop
} troupe_error;

// Writes "walk.bvh:12:7: expected …" as one line of at most `size` bytes, fit for a terminal.
// Threads: any.
TROUPE_API void troupe_error_print( const troupe_error *error, char *out, size_t size );

// ------------------------------------------------------------------------------------------- long work

// How a call that may take long is run. The number of threads changes no bit of a result.
typedef struct troupe_work {
    int threads; // threads of this call; 0: one per processor
    // How far the call is: done of total. A call of several parts counts from 0 more than once. False
    // cancels. Called by the thread that made the call. NULL: not called.
    bool ( *progress )( void *context, int done, int total );
    // False cancels, and must be the answer from then on. Called very often and by any thread of the call, so
    // it must be quick and thread-safe. NULL: always wanted.
    bool ( *wanted )( void *context );
    void *context; // for both
} troupe_work;

// One thread per processor, no callbacks. Functions take NULL for the same.
// Threads: any.
TROUPE_API troupe_work troupe_default_work( void );

// --------------------------------------------------------------------------------------------- scenes

// A document: cast, props, environment, constraints, layers, and the history of its ops.
typedef struct troupe_scene troupe_scene;

// An empty scene at 30 frames per second. Files that ops name are seen from the working folder.
// Errors: out of memory.
// Lifetime: until troupe_scene_destroy.
// Threads: any.
TROUPE_API troupe_scene *troupe_scene_create( troupe_error *error );

// A built-in scene by its name, a FILE.json, a folder with a scene.json, or a FILE.bvh, which becomes a scene
// of one character. `cast`: number of characters of a built-in scene, 0: as many as it has; 0 for files.
// Errors: no such scene or file; a file that cannot be read (file, line, column or path); out of memory.
// Lifetime: until troupe_scene_destroy.
// Threads: any.
TROUPE_API troupe_scene *troupe_scene_open( const char *what, int cast, troupe_error *error );

// NULL is fine. Stages of the scene stay valid.
// Threads: alone with the scene.
TROUPE_API void troupe_scene_destroy( troupe_scene *scene );

// Name of a built-in scene; NULL behind the last.
// Lifetime: the text is static.
// Threads: any.
TROUPE_API const char *troupe_builtin_scene( int index );

// Applies ops, one a line: "cast_scale id=p03 scale=1.25"; blank lines and # comments are skipped.
// docs/scene-format.md lists them. Stops at the first line that fails; the lines before it stay applied.
// Errors: an op that is unknown or does not fit (line and column in `ops`); out of memory.
// Threads: alone with the scene.
TROUPE_API bool troupe_scene_apply( troupe_scene *scene, const char *ops, troupe_error *error );

// Takes back the last op, or does it again. False when there is none.
// Threads: alone with the scene.
TROUPE_API bool troupe_scene_undo( troupe_scene *scene );
TROUPE_API bool troupe_scene_redo( troupe_scene *scene );

// Writes the scene as FILE.json. Motions that exist in memory alone go into a folder beside it: FILE_motion.
// An old file is replaced in one step.
// Errors: the file cannot be written; out of memory.
// Threads: beside calls that take the scene as const.
TROUPE_API bool troupe_scene_save( const troupe_scene *scene, const char *path, troupe_error *error );

// The cast, in the order of the clips of every result.
// Lifetime: an id is valid until the scene is changed.
// Threads: beside calls that take the scene as const.
TROUPE_API int troupe_scene_cast_count( const troupe_scene *scene );
TROUPE_API const char *troupe_scene_cast_id( const troupe_scene *scene, int index );

// ---------------------------------------------------------------------------------------------- stage

// A scene with its files loaded, lined up in time and space, and its constraints bound to joints.
typedef struct troupe_stage troupe_stage;

// Stages the scene as it is now; later changes of the scene do not reach the stage. Motion files that were
// read are kept with the scene, so its next stage is faster. Of `work`, which may be NULL, progress is not
// called.
// Errors: a file or a joint is missing (file, line and column, or path); not enough memory; cancelled.
// Lifetime: until troupe_stage_destroy; must outlive its results and drags. The scene may go first.
// Threads: alone with the scene.
TROUPE_API troupe_stage *troupe_stage_create( troupe_scene *scene, const troupe_work *work,
                                              troupe_error *error );

// NULL is fine.
// Threads: alone with the stage.
TROUPE_API void troupe_stage_destroy( troupe_stage *stage );

// Warnings of staging, a sentence each; NULL behind the last.
// Lifetime: that of the stage.
// Threads: beside calls that take the stage as const.
TROUPE_API const char *troupe_stage_warning( const troupe_stage *stage, int index );

// --------------------------------------------------------------------------------------------- solving

// The motion of every character and prop of a stage.
typedef struct troupe_result troupe_result;

typedef struct troupe_solve_def {
    const char *method; // a row of `troupe help retarget`; NULL: the one that the scene asks for
    const char *below;  // id of a layer: leaves it and those above it out, for a drag; NULL: all layers act
    troupe_work work;
} troupe_solve_def;

// The scene's own method, all layers, troupe_default_work.
// Threads: any.
TROUPE_API troupe_solve_def troupe_default_solve_def( void );

// Solves for the motion of the target bodies. `def` may be NULL. Constraints that cannot be met are no error:
// troupe_measure says how far they are off.
// Errors: no such method or layer; not enough memory; cancelled.
// Lifetime: until troupe_result_destroy; the stage must outlive it.
// Threads: beside calls that take the stage as const, so several may solve one stage.
TROUPE_API troupe_result *troupe_solve( const troupe_stage *stage, const troupe_solve_def *def,
                                        troupe_error *error );

// The source motion of the same characters, as the stage has it.
// Errors: out of memory.
// Lifetime: until troupe_result_destroy; the stage must outlive it.
// Threads: beside calls that take the stage as const.
TROUPE_API troupe_result *troupe_source( const troupe_stage *stage, troupe_error *error );

// NULL is fine.
// Threads: alone with the result.
TROUPE_API void troupe_result_destroy( troupe_result *result );

// Writes a folder: <id>.bvh of every character and prop, source/<id>.bvh, scene.json, report.json. Old
// results in the folder are replaced in one step, and so are files of these names: choose another folder than
// the one the scene was read from. `work` may be NULL.
// Errors: a file cannot be written; the result is of a drag or below a layer; cancelled.
// Threads: beside calls that take the result as const.
TROUPE_API bool troupe_result_save( const troupe_result *result, const char *folder, const troupe_work *work,
                                    troupe_error *error );

// Reads such a folder back, for a stage of the same scene.
// Errors: a file is missing or does not fit the stage; out of memory.
// Lifetime: until troupe_result_destroy; the stage must outlive it.
// Threads: beside calls that take the stage as const.
TROUPE_API troupe_result *troupe_result_load( const troupe_stage *stage, const char *folder,
                                              troupe_error *error );

// --------------------------------------------------------------------------------------- poses as arrays

// The motion of one character. Arrays are contiguous, the last index runs fastest. They belong to the result:
// they are valid until it is destroyed, and must not be written to. Rotations are unit quaternions in the
// order x, y, z, w.
typedef struct troupe_clip {
    const char *id; // id of the cast member
    int frame_count, joint_count;
    double fps;
    const double *positions;       // [frame_count][joint_count][3] of the joints in the world
    const double *rotations;       // [frame_count][joint_count][4] against the parent; the root's: world
    const double *world_rotations; // [frame_count][joint_count][4]
    const double *translations;    // [frame_count][joint_count][3] in place of the offsets, or NULL: none
    const int *parents;            // [joint_count] -1 of joint 0, else smaller than the joint's own index
    const double *offsets;         // [joint_count][3] from the parent, in its frame; of joint 0 unused
    const char *const *names;      // [joint_count]
} troupe_clip;

// The motion of one prop: its middle. Lifetime as above.
typedef struct troupe_track {
    const char *id;
    int frame_count;
    double fps;
    const double *transforms; // [frame_count][7] rotation x, y, z, w, then position x, y, z
} troupe_track;

// Clips of the cast and tracks of the props, in the order of the scene; find gives -1 when there is none.
// Lifetime: arrays and texts are valid as long as the result.
// Threads: beside calls that take the result as const.
TROUPE_API int troupe_result_clip_count( const troupe_result *result );
TROUPE_API troupe_clip troupe_result_clip( const troupe_result *result, int index );
TROUPE_API int troupe_result_find_clip( const troupe_result *result, const char *id );
TROUPE_API int troupe_result_track_count( const troupe_result *result );
TROUPE_API troupe_track troupe_result_track( const troupe_result *result, int index );

// -------------------------------------------------------------------------------------------- measures

// A figure of quality, of the result and of its source. docs/metrics.md defines each. The texts are static.
typedef struct troupe_figure {
    const char *key;   // "foot_skate_mm_s"
    const char *field; // "mean", "max", …
    const char *unit;  // "mm/s"; "" for a plain number
    double value, source;
    bool value_known, source_known; // false: it cannot be computed, and the number is 0
    bool worse;                     // than the source, and beyond what is acceptable
} troupe_figure;

typedef struct troupe_measures troupe_measures;

// `work` may be NULL.
// Errors: the result is of a drag or below a layer; out of memory; cancelled.
// Lifetime: until troupe_measures_destroy; result and stage may go first.
// Threads: beside calls that take the result as const.
TROUPE_API troupe_measures *troupe_measure( const troupe_result *result, const troupe_work *work,
                                            troupe_error *error );

// NULL is fine.
// Threads: alone with the measures.
TROUPE_API void troupe_measures_destroy( troupe_measures *measures );

// The figures; find gives -1 when there is none, and the first of the key where `field` is NULL.
// Threads: beside calls that take the measures as const.
TROUPE_API int troupe_measures_count( const troupe_measures *measures );
TROUPE_API troupe_figure troupe_measures_figure( const troupe_measures *measures, int index );
TROUPE_API int troupe_measures_find( const troupe_measures *measures, const char *key, const char *field );

// --------------------------------------------------------------------------------------------- dragging

// A layer of kind cage while one of its handles is held: poses at preview quality, quick enough for a mouse.
// To keep the edit when the handle is let go, apply the op "handle_set id=… move=…" to the scene and solve.
//
//   troupe_drag *drag = troupe_drag_begin( below, "grip", NULL, &error ); // slow
//   for each move of the mouse
//       troupe_drag_move( drag, "grip", move, frame ); // the frames around this one
//       while ( troupe_drag_more( drag, 4 ) ) …        // the others, the nearest first
//   while ( troupe_drag_refine( drag, 1 ) ) …          // at rest: as troupe_solve has them
//   troupe_drag_end( drag );
typedef struct troupe_drag troupe_drag;

// `below`: solved with def.below, the layer of this handle. Of `work`, which may be NULL, threads holds for
// the whole drag and wanted for this call; progress is not called.
// Errors: no such handle; not its layer; the layer is muted or moves nothing; out of memory; cancelled.
// Lifetime: until troupe_drag_end; stage and `below` must outlive it.
// Threads: beside calls that take `below` as const.
TROUPE_API troupe_drag *troupe_drag_begin( const troupe_result *below, const char *handle,
                                           const troupe_work *work, troupe_error *error );

// NULL is fine.
// Threads: alone with the drag.
TROUPE_API void troupe_drag_end( troupe_drag *drag );

// Moves a pinned handle of the layer by x, y, z metres from where the motion below has it, and solves the
// frames around `frame` of the stage. Other handles stay where they are. Allocates nothing. False: the layer
// has no such handle.
// Threads: alone with the drag.
TROUPE_API bool troupe_drag_move( troupe_drag *drag, const char *handle, const double move[3], int frame );

// Solves up to 8 · `blocks` further frames, those next to the frame of the last move first; refine does the
// same once more, exactly as troupe_solve will have them. Allocates nothing. False: all are done.
// Threads: alone with the drag.
TROUPE_API bool troupe_drag_more( troupe_drag *drag, int blocks );
TROUPE_API bool troupe_drag_refine( troupe_drag *drag, int blocks );

// Distance in metres between the place that the last move asked for and the place that was reached. 0 for a
// handle of another layer.
// Threads: beside calls that take the drag as const.
TROUPE_API double troupe_drag_error( const troupe_drag *drag, const char *handle );

// The motion during the drag. Frames that are not solved yet show an earlier move.
// Lifetime: that of the drag; troupe_drag_move, more and refine write to its arrays.
// Threads: beside calls that take the drag as const.
TROUPE_API const troupe_result *troupe_drag_result( const troupe_drag *drag );

#ifdef __cplusplus
}
#endif

#endif
