// Private to cluster: the stage's rules as rows of a cluster, and graphs at work.
#ifndef TROUPE_CLUSTER_PRIVATE_H
#define TROUPE_CLUSTER_PRIVATE_H

#include "cluster/cluster.h"

#include <stdatomic.h>

// The row of the cluster that serves a rule; rules on the same points share one.
typedef struct tr_rule_row {
    int rule, row;
    int corner;    // orientation: 0 or 1, the corner of the joint's triangle it holds; -1: a position
    int graphs[2]; // graphs that it joins; the second may be -1
} tr_rule_row;

// Props are carried the way the source turns them: two corners of each keep their direction.
typedef struct tr_prop_row {
    int prop, row, graph, corner;
} tr_prop_row;

typedef struct tr_rows_def {
    double lowered; // share of its horizontal way that a centre of mass gives up where only its height counts
    int most_at_once; // rows of rules that act on one graph at one frame. A block of rows costs the cube of
                      // their number. A graph is where the fit begins, and the fit knows every rule: three
                      // points at each of a dozen large parts of a body hold all that a graph can follow
} tr_rows_def;

tr_rows_def tr_default_rows_def( void );

typedef struct tr_cluster_rows {
    const tr_stage *stage;
    tr_rows_def def;        // set by build
    int first, frame_count; // frames at work: first … first + frame_count − 1
    const int *nodes;       // [node_count] of the stage, ascending: those of the graphs
    int node_count;
    const int *rules; // [rule_count] of the stage that may act on it; NULL: all. Read by build alone
    int rule_count;
    tr_cluster cluster;
    tr_rule_row *items; // [count] in order of priority: the first win where hard ones contradict each other
    int count, capacity;
    tr_prop_row *props; // [prop_count]
    int prop_count, prop_capacity;
} tr_cluster_rows;

// Adds a row for every rule that acts on the cluster's graphs (which have been added already) in the frames
// at work.
bool tr_cluster_rows_build( tr_cluster_rows *rows, tr_error *error );
void tr_cluster_rows_free( tr_cluster_rows *rows );
int tr_cluster_rows_graph( const tr_cluster_rows *rows,
                           int node ); // `node`: of the stage; -1: it is not in the cluster

typedef struct tr_goal_frames { // from, from + stride, … to
    int from, to, stride;
    tr_goal *goals;    // out, [frames * row_count]
    tr_goal *contacts; // out, the same shape: what the transfer step takes; NULL: not wanted
} tr_goal_frames;

// `now` is the result so far: partners' rotations and props' places are read from it. still [graph_count]:
// graphs that stay as they are; NULL: none.
void tr_cluster_rows_goals( const tr_cluster_rows *rows, const tr_result *now, const bool *still,
                            const tr_goal_frames *out );

// on [row_count]: sets what has something to ask for in frames from … to. That does not depend on poses.
void tr_cluster_rows_on( const tr_cluster_rows *rows, int from, int to, bool *on );

// How far a pelvis is moved so that a centre of mass comes to its place, at one frame. A fit knows joints
// only: the shift is corrected from fit to fit by the secant of what the last one achieved.
typedef struct tr_lean {
    vec3 shift; // shift of the pelvis from its place in the graph
    vec3 free;  // centre of mass without it
    vec3 error, step;
    bool begun;
} tr_lean;

// Whether it is only for the height of a centre of mass. There are many ways down, forwards on the knees or
// backwards: the body stays over its feet then.
bool tr_rule_lowers( const tr_rule *rule );
// The hard centre of mass that counts most for an actor at a frame, NULL for none; `rules` are the actor's.
const tr_rule *tr_lean_rule( const tr_stage *stage, const int *rules, int count, int frame );
// Corrects a lean after a fit, of a body that was copied as in `copied` and moved by `moved` by its graph.
// True: it changed, fit again.
bool tr_lean_correct( tr_lean *lean, const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                      int frame, tr_pose copied, vec3 moved );

typedef enum tr_end {
    TR_END_NONE,
    TR_END_TURNS, // back
    TR_END_BELOW  // a descendant of a joint that turns back
} tr_end;

// Free heads, tails and hands: which joints turn back to their copied world rotations [joint_count] (rules of
// other actors are ignored), and that turn of a frame's local rotations [joint_count], posed as in `pose`.
// False: nothing turns.
void tr_ends_find( const tr_stage *stage, int actor, const int *rules, int rule_count, tr_end *ends );
bool tr_ends_turn_back( const tr_cluster_fit_def *def, const tr_skeleton *skeleton, const tr_end *ends,
                        const quat *copied, tr_pose pose, quat *local );

// Raises copied poses, motions and worlds, that are deeper in the ground than the source is; see
// cluster/lift.c.
bool tr_bodies_lift( const tr_stage *stage, tr_result *result, tr_error *error );

// What is out of reach is brought within reach before it is asked for; see cluster/reach.c. Of the graphs:
// where the rule's first end, on a character, goes instead of `place`, if feet stay on the ground.
vec3 tr_reach_place( const tr_stage *stage, const tr_result *now, const tr_rule *rule, int frame,
                     vec3 place );
// The fit: places of goals, as far as the goals before them allow, soft ones last. The body is posed
// as in `pose`, moved by `shift`.
void tr_reach_goals( const tr_skeleton *skeleton, tr_pose pose, vec3 shift, tr_fit_goal *goals, int count );
// How far a body may be moved from its pose in `now`, of what a graph would move it, for its feet to follow.
vec3 tr_reach_shift( const tr_stage *stage, const tr_result *now, int actor, int frame, vec3 shift );
// Centres of mass, for a standing body posed as in `pose`: where the rule's target is brought to, and
// how far the pelvis may be moved for it, of `lean`, where it is `moved` already. Legs become neither too
// short nor folded up.
vec3 tr_reach_mass( const tr_stage *stage, const tr_result *now, const tr_rule *rule, int frame,
                    tr_pose pose );
vec3 tr_reach_lean( const tr_stage *stage, const tr_result *now, const tr_rule *rule, int frame, tr_pose pose,
                    vec3 moved, vec3 lean );

// The way of limbs to pins far away; see cluster/swing.c.
typedef struct tr_swing {
    vec3 hinge;        // where the limb hangs on
    vec3 middle;       // middle of the directions it reaches, a unit vector
    double length;     // length of the limb, up to the pinned joint
    vec3 point, place; // where that is, where it shall be
    double strength;   // strength of the pin, 0 … 1
} tr_swing;

// The middle of what the limb reaches that hangs on at a joint, in the frame of that joint's parent.
vec3 tr_swing_middle( const tr_skeleton *skeleton, tr_pose rest, int base );
// Whether the limb hangs so near its pin that the fit finds the way itself.
bool tr_swing_is_near( const tr_swing *swing );
// The turn of the whole limb, in the world, towards the pin, and its part that is wanted of a pose to stay
// near.
quat tr_swing_turn( const tr_swing *swing, quat *wanted );
// A rotation to return to, however far it is from where a hand came to: the way back when it is up to a
// radian, less beyond, nothing at half a turn.
quat tr_swing_back( quat from, quat to, double strength );

enum {
    TR_GRAPH_CORNERS = 3,                  // corners of a joint: a triangle
    TR_KEPT_PLACES = 3 * TR_GRAPH_CORNERS, // floats: where the corners of a joint are
    TR_KEPT_TURN = 4                       // floats: a quaternion
};

// Graphs by body: characters with the same skeleton and volume share one, and with it the factors of K; so do
// boxes of the same size.
typedef struct tr_graph_store {
    const tr_stage *stage;
    tr_posegraph *graphs; // [actor_count + prop_count] at the first node of its kind, empty at others
    int *slots;           // [slot_count] hash table of those nodes, each + 1; 0: free
    size_t slot_count;
} tr_graph_store;

bool tr_graph_store_build( tr_graph_store *out, const tr_stage *stage, tr_error *error ); // empty
void tr_graph_store_free( tr_graph_store *store );
// The graph of a node, built if none of its kind is there yet. NULL and an error when out of memory.
const tr_posegraph *tr_graph_store_find( tr_graph_store *store, int node, tr_error *error );

// Lists the rules whose first point is on a node of each set. set_of [actor_count + prop_count]: -1 for none.
bool tr_rules_by_set( const tr_stage *stage, const int *set_of, int set_count, tr_lists *out );

// Graphs of some characters and props, deformed together around what `result` has.
typedef struct tr_cluster_work {
    const tr_stage *stage;
    tr_graph_store *store; // graphs are taken from it and added to it; has to live as long
    tr_result *result;     // worlds and tracks hold the state so far: copied, then fitted
    int first, last;       // frames that may be asked for
    tr_cluster_def def;    // how well; this, stride and warm may change from run to run
    int *nodes;            // [node_count] of the stage that belong to it, ascending; so are the graphs
    int node_count;        //
    int joint_count;       // joints of all graphs: the cost of a frame
    tr_cluster_rows rows;  //
    bool *turns;           // [node_count] its cells' rotations are asked for
    bool joints;           // are wanted, not shifts alone
    int stride;    // only frames this far apart are deformed, those it divides; between them shifts are mixed
    int reach;     // the largest stride there will be
    bool warm;     // each frame begins with the last run's solution there
    int kept;      // interval of frames for which that is kept; 0: for none
    float **moved; // [node_count][frames kept * 9 * joint_count] that, from its reference
    float **turned; // [node_count][frames kept * 4 * joint_count] and its cells' rotations
} tr_cluster_work;

// `nodes` [node_count]: those that belong to it, ascending; `rules` [rule_count]: those whose first point is
// on them, NULL: look for them. Fill stage, store, result, frames, joints, reach, kept and def before.
bool tr_cluster_work_build( tr_cluster_work *work, const int *nodes, int node_count, const int *rules,
                            int rule_count, tr_error *error );
void tr_cluster_work_free( tr_cluster_work *work );

typedef struct tr_work_scratch {       // memory of frames at work
    struct tr_thread_scratch *threads; // [count]
    int count;
    tr_cluster_scratch *graphs;
} tr_work_scratch;

bool tr_work_scratch_build( tr_work_scratch *out, const tr_cluster_work *works, int count, tr_error *error );
void tr_work_scratch_free( tr_work_scratch *scratch ); // also when building failed

typedef struct tr_deform_run {
    tr_cluster_work *works; // [count] all with the same frames, stride and lanes; best the longest first
    int count;
    bool transfer; // poses are copied and have to be brought to their contacts first; those that were solved
                   // before are there already
    const bool *affected; // as above
    tr_graphs *graphs;    // out: their solution
    int from, to;
    const tr_progress *progress; // for the first half of the work; may be NULL
} tr_deform_run;

// Deforms the frames, moves props along with their graphs, and writes joints and shifts. Different works may
// be run in the same scratch at the same time, each by one task of a parallel loop.
bool tr_cluster_works_run( const tr_deform_run *todo, tr_work_scratch *scratch, tr_error *error );

// Copied poses, as rules and bodies let them be: where graphs start.
bool tr_copy_pose( const tr_stage *stage, tr_result *result, tr_error *error );

#endif
