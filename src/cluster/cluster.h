// cluster: pose graphs and skeleton fit of characters and props that rules join.
#ifndef TROUPE_CLUSTER_H
#define TROUPE_CLUSTER_H

#include "fit/fit.h"
#include "posegraph/posegraph.h"
#include "result/result.h"

// The method up to its last pass: copied poses, the graphs of all clusters, and the fit of skeletons to them.
// Frames stand alone; tr_calm smooths what jumps between them.
bool tr_solve_frames( const tr_stage *stage, tr_result *result, tr_error *error );
// Smooths a result where it jumps; what cannot be met continuously gives way. One that does not jump keeps
// its bits. See cluster/calm.c.
bool tr_calm( const tr_stage *stage, tr_result *result, tr_error *error );

// What graphs say about characters.
typedef struct tr_graphs {
    tr_world
        *worlds;   // [actor_count] joints, of those in a cluster only; rotations, of those linked to others
    vec3 **shifts; // [actor_count][frame_count] how far roots are from the poses the graphs began with
    int actor_count;
} tr_graphs;

// set_of [actor_count + prop_count]: for whom, those that are in a set (not -1); NULL: everybody. joints: by
// set, whether there are more than shifts; NULL: there are. Zero as yet.
bool tr_graphs_build( tr_graphs *out, const tr_stage *stage, const int *set_of, const bool *joints,
                      tr_error *error );
void tr_graphs_free( tr_graphs *graphs );
// The fit reads shifts of as many frames before and after its own.
int tr_steady_span( const tr_stage *stage );

// Split by cost, so that a drag may solve again and again without allocating: create → run. Frames are the
// stage's.

// Fits skeletons, from the motions in `result`, to graphs: joints and rotations the graphs came to. Motions,
// worlds and props' tracks of `result` are changed.
typedef struct tr_cluster_fit_def {
    const tr_stage *stage;
    tr_result *result;
    const tr_graphs *graphs;
    const int *set_of; // [actor_count + prop_count] who is at work, and in which set: sets that no rule joins
                       // may be run for themselves; -1: not at work. Read while building; NULL: all in set 0
    int set_count;     // at least 1
    const bool *affected; // [(actor_count + prop_count) * frame_count] what may change; NULL: everything
    int first, last;      // frames that may be asked for
    tr_fit_def fit;
    int rounds;       // of meeting and fitting again, at most
    double palm;      // per rad²: stiffness of a holding hand's direction, that of a wrist being 1
    double wish_pull; // largest pull of a soft goal, in F of the least hard goals at a distance of one size
    double end_turn;  // radians: free heads, tails and hands turn back by less than this, see free_ends.c …
    double end_far;   // … and by less and less where they are off by more than this
    // [actor_count][footings * frame_count] who is on the way to or from a stance is where he should be in
    // the pose it starts from, but for so much; NULL: he goes where rules say
    vec3 *const *lags;
    bool remembers;              // what frames came to, for warm runs
    bool warm;                   // each frame begins with what the last run had come to there
    const tr_progress *progress; // told of the second half of the work; NULL: nobody asks
} tr_cluster_fit_def;

typedef struct tr_cluster_fitter tr_cluster_fitter;

// Whether a result that is resolved in rounds, to become smoother, may be resolved once more: since it had
// taken `since` steps of Newton's method, it took fewer than tr_resolving allows.
bool tr_may_resolve_again( const tr_stage *stage, const tr_result *result, long since );

tr_cluster_fit_def tr_default_cluster_fit_def( const tr_stage *stage, tr_result *result,
                                               const tr_graphs *graphs ); // everybody, at once, to the end
tr_cluster_fitter *tr_cluster_fitter_create( const tr_cluster_fit_def *def, tr_error *error );
bool tr_cluster_fitter_run( tr_cluster_fitter *fitter, int from, int to, tr_error *error );
// Of one set alone; sets may be run at the same time, by different threads.
bool tr_cluster_fitter_run_set( tr_cluster_fitter *fitter, int set, int from, int to, tr_error *error );
// From the next run on.
void tr_cluster_fitter_set( tr_cluster_fitter *fitter, const tr_fit_def *fit, int rounds, bool warm );
// needs [set_count], all false: sets of whose graphs a fitter reads more than shifts. set_of as in the def.
// False when out of memory.
bool tr_sets_find_joint_needs( const tr_stage *stage, const int *set_of, int set_count, bool *needs );
// The same of a fitter's sets.
bool tr_cluster_fitter_needs_joints( const tr_cluster_fitter *fitter, int set );
void tr_cluster_fitter_destroy( tr_cluster_fitter *fitter ); // NULL is fine

// Brings poses somebody changed back in line with the rules: graphs, then fit, of all affected characters and
// props together. Everything else keeps its bits. Whoever a rule joins to somebody affected at a frame has to
// be so too: tr_stage_reach.
typedef struct tr_resolve_def {
    const tr_stage *stage;
    tr_result *result;    // motions, worlds, tracks
    const int *set_of;    // [actor_count + prop_count] who may be affected, and in which set; -1: nobody
    int set_count;        // sets that no rule joins are resolved for themselves
    const bool *affected; // [(actor_count + prop_count) * frame_count] borrowed; read by each run
    int first, last;      // frames that may be asked for
    int reach;            // the largest stride of a run
    int kept;             // graphs are noted, for warm runs, in frames this far apart, at most; 0: in none
    const tr_progress *progress; // asked every few frames whether they are still wanted; NULL: they are
} tr_resolve_def;

typedef struct tr_resolver tr_resolver;

// How well, and how soon.
typedef struct tr_resolving {
    tr_cluster_def graph;
    bool warm;      // graphs begin with what the last run had come to
    bool warm_fits; // so do fits
    int stride;     // only graphs of frames this divides are deformed
    tr_fit_def fit;
    int rounds;       // of meeting and fitting again, at most
    int repeat_steps; // of Newton's method for each character and frame: a result that took more is not
                      // resolved again. Edits that can be followed take less than 100
} tr_resolving;

tr_resolving tr_default_resolving( void ); // converged

tr_resolver *tr_resolver_create( const tr_resolve_def *def, tr_error *error );
// Whether the fit asks for the joints of a set's graphs, in every frame it fits; otherwise roots will do, and
// those may be mixed from graphs some frames apart.
bool tr_resolver_needs_joints( const tr_resolver *resolver, int set );
// How well skeletons are fitted from now on.
void tr_resolver_set_fit( tr_resolver *resolver, const tr_resolving *how );
// The graphs of some frames; then, where they and those tr_steady_span around are done, the fit. Sets may be
// resolved at the same time, by different threads.
bool tr_resolver_deform( tr_resolver *resolver, int set, const tr_resolving *how, int from, int to,
                         tr_error *error );
bool tr_resolver_fit( tr_resolver *resolver, int set, int from, int to, tr_error *error );
// Graphs of earlier runs count no more: a resolver as it was created.
void tr_resolver_forget( tr_resolver *resolver );
void tr_resolver_destroy( tr_resolver *resolver ); // NULL is fine
// All of it once: converged.
bool tr_cluster_resolve( const tr_stage *stage, tr_result *result, const bool *affected, int first, int last,
                         tr_error *error );

typedef struct tr_calm_cell { // of a character or prop at a frame
    double span;              // frames to either side that its pose is averaged over
    double share;             // 0 … 1: how much of that average it takes
    double back;              // 0 … 1: how much nearer to the copied pose it comes
    double places, links;     // 0 … 1: how much of what rules ask of it is given up
    double towards;           // 0 … 1: how much it goes along with what …
    int held;                 // … this frame is off the average around it
} tr_calm_cell;

typedef struct tr_smoothing {
    const tr_stage *stage;
    const tr_calm_cell *cells; // [(actor_count + prop_count) * frame_count]
    const tr_result *copied;   // what poses deviate from: that is averaged
    tr_result *result;         // motions, worlds, tracks
    bool stepped;              // feet that stand keep the turn they have, not the copied one
    quat *chains;              // [tr_smooth_room] to work in
} tr_smoothing;

size_t tr_smooth_room( const tr_stage *stage );
void tr_smooth( const tr_smoothing *smoothing );

#endif
