// cluster: rules as rows; pose graphs and skeleton fit of the characters and props that rules join.
#ifndef TROUPE_CLUSTER_H
#define TROUPE_CLUSTER_H

#include "fit/fit.h"
#include "posegraph/posegraph.h"
#include "result/result.h"

// The pose-graph method except for its last pass: copies poses, deforms the graphs of all clusters, fits
// skeletons to them. Frames are independent; tr_calm then smooths jumps between them.
bool tr_solve_frames( const tr_stage *stage, tr_result *result, tr_error *error );
// The same with a fit of all frames at once, cluster/fit_window.c: nothing is left to smooth.
bool tr_solve_in_time( const tr_stage *stage, tr_result *result, tr_error *error );
// Smooths a result where it jumps; what cannot be met continuously gives way. One that does not jump keeps
// its bits. See cluster/calm.c.
bool tr_calm( const tr_stage *stage, tr_result *result, tr_error *error );

// Deformed graphs of characters, as joints.
typedef struct tr_graphs {
    tr_world
        *worlds;   // [actor_count] places of joints; rotations only of characters that are linked to others
    vec3 **shifts; // [actor_count][frame_count] of roots, from the poses before the deformation
    int actor_count;
} tr_graphs;

// Memory, all zero. set_of [actor_count + prop_count]: the set of a node, -1: not needed; NULL: all are
// needed. joints: by set, whether worlds are needed besides shifts; NULL: they are.
bool tr_graphs_build( tr_graphs *out, const tr_stage *stage, const int *set_of, const bool *joints,
                      tr_error *error );
void tr_graphs_free( tr_graphs *graphs );
// Number of frames before and after each frame whose shifts the fit reads.
int tr_steady_span( const tr_stage *stage );

// Split by cost: create allocates, run does not, so that a drag can solve repeatedly. Frames are those of the
// stage.

// Fits skeletons to deformed graphs, starting from the motions in `result`. Changes motions, worlds and
// tracks of `result`.
typedef struct tr_cluster_fit_def {
    const tr_stage *stage;
    tr_result *result;
    const tr_graphs *graphs;
    const int *set_of;    // [actor_count + prop_count] the set of a node, -1: not fitted. Sets that no rule
                          // joins can be run separately. Read by create only; NULL: all nodes are in set 0
    int set_count;        // at least 1
    const bool *affected; // [(actor_count + prop_count) * frame_count] what may change; NULL: everything
    int first, last;      // range of the frames of runs
    tr_fit_def fit;
    int rounds;        // limit of rounds of meeting and fitting
    double palm;       // per rad²: stiffness of a holding hand's direction, that of a wrist being 1
    double least_mass; // of a body's mass: lighter joints are not moved for its centre of mass
    double wish_pull;  // largest pull of a soft goal, in F of the least hard goals at a distance of one size
    double end_turn; // radians: free heads, tails and hands turn back by less than this, see free_ends.c …
    double end_far;  // … and by less and less where they are off by more than this
    // [actor_count][footings * frame_count] offsets from the starting pose, targets of feet on the way to or
    // from a stance; NULL: feet follow the rules
    vec3 *const *lags;
    bool in_time;                // all frames are fitted at once, see cluster/fit_window.c
    tr_window_def window;        // how
    bool remembers;              // stores solutions, for warm runs
    bool warm;                   // each frame starts from its solution in the last run
    const tr_progress *progress; // for the second half of the work; may be NULL
} tr_cluster_fit_def;

typedef struct tr_cluster_fitter tr_cluster_fitter;

// Whether a result that is resolved repeatedly may be resolved once more: whether it took fewer Newton steps
// since its count was `since` than tr_resolving allows.
bool tr_may_resolve_again( const tr_stage *stage, const tr_result *result, long since );

tr_cluster_fit_def tr_default_cluster_fit_def( const tr_stage *stage, tr_result *result,
                                               const tr_graphs *graphs ); // all nodes and frames
tr_cluster_fitter *tr_cluster_fitter_create( const tr_cluster_fit_def *def, tr_error *error );
bool tr_cluster_fitter_run( tr_cluster_fitter *fitter, int from, int to, tr_error *error );
// The same for one set. Different threads may run different sets at the same time.
bool tr_cluster_fitter_run_set( tr_cluster_fitter *fitter, int set, int from, int to, tr_error *error );
// From the next run on.
void tr_cluster_fitter_set( tr_cluster_fitter *fitter, const tr_fit_def *fit, int rounds, bool warm );
// Fills needs [set_count], all false before: true where a fitter reads the joints of the set's graphs, not
// only their shifts. set_of as in the def. False when out of memory.
bool tr_sets_find_joint_needs( const tr_stage *stage, const int *set_of, int set_count, bool *needs );
// The same of a fitter's sets.
bool tr_cluster_fitter_needs_joints( const tr_cluster_fitter *fitter, int set );
void tr_cluster_fitter_destroy( tr_cluster_fitter *fitter ); // NULL is fine

// Brings changed poses back in line with the rules: graphs, then fit, of all affected characters and props
// together. Everything else keeps its bits. Nodes that a rule joins to an affected node at a frame must be
// affected too: tr_stage_reach.
typedef struct tr_resolve_def {
    const tr_stage *stage;
    tr_result *result;    // motions, worlds, tracks
    const int *set_of;    // [actor_count + prop_count] the set of a node that may be affected, else -1
    int set_count;        // sets that no rule joins are resolved separately
    const bool *affected; // [(actor_count + prop_count) * frame_count] borrowed; read by each run
    int first, last;      // range of the frames of runs
    int reach;            // the largest stride of a run
    int kept;             // graphs are stored for warm runs in frames at most this far apart; 0: in none
    const tr_progress *progress; // asked every few frames whether to continue; may be NULL
} tr_resolve_def;

typedef struct tr_resolver tr_resolver;

// Quality of a run.
typedef struct tr_resolving {
    tr_cluster_def graph;
    bool warm;      // graphs start from the last run
    bool warm_fits; // fits start from the last run
    int stride;     // only graphs of frames that it divides are deformed
    tr_fit_def fit;
    int rounds;       // limit of rounds of meeting and fitting
    int repeat_steps; // Newton steps per character and frame: a result that took more is not resolved again.
                      // Edits that bodies can follow take less than 100
} tr_resolving;

tr_resolving tr_default_resolving( void ); // converged

tr_resolver *tr_resolver_create( const tr_resolve_def *def, tr_error *error );
// Whether the fit reads the joints of a set's graphs in every frame. Otherwise it reads only roots, which may
// be interpolated between graphs some frames apart.
bool tr_resolver_needs_joints( const tr_resolver *resolver, int set );
// Sets the quality of fits from now on.
void tr_resolver_set_fit( tr_resolver *resolver, const tr_resolving *how );
// Deforms the graphs of some frames; then fits skeletons in frames whose graphs, and those of tr_steady_span
// frames around them, are deformed. Different threads may resolve different sets at the same time.
bool tr_resolver_deform( tr_resolver *resolver, int set, const tr_resolving *how, int from, int to,
                         tr_error *error );
bool tr_resolver_fit( tr_resolver *resolver, int set, int from, int to, tr_error *error );
// Forgets the graphs of earlier runs.
void tr_resolver_forget( tr_resolver *resolver );
void tr_resolver_destroy( tr_resolver *resolver ); // NULL is fine
// Resolves once, with a resolver of its own, to convergence.
bool tr_cluster_resolve( const tr_stage *stage, tr_result *result, const bool *affected, int first, int last,
                         tr_error *error );

typedef struct tr_calm_cell { // a character or prop at a frame
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
