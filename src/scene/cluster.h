// Pieces of the pose-graph method: the stage's rules as rows of a cluster, and the fit of skeletons to
// graphs.
#ifndef TROUPE_SCENE_CLUSTER_H
#define TROUPE_SCENE_CLUSTER_H

#include "posegraph/posegraph.h"
#include "scene/scene_private.h"

// A stance is held by the foot as a whole: heel, sole and toes of one foot ask for the same thing (see
// automatic.c), so one row on the joint that carries them serves them all, and toes cannot pull against each
// other.
bool tr_rule_is_stance( const tr_rule *rule ); // contact of a joint with ground or environment
// Strength of a rule as the solvers see it: a stance's is that of its footing, which lasts through the swing.
double tr_rule_pull( const tr_stage *stage, const tr_rule *rule, int frame );
// Where the foot of a stance has to be for what touches to come to its place, if it keeps the rotation it has
// in `pose`. The same for all rules of a footing.
vec3 tr_stance_place( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame,
                      tr_pose pose );

// Which row of the cluster a rule speaks through; rules on the same points share one.
typedef struct tr_rule_row {
    int rule, row;
    int corner; // orientation: 0 or 1, the corner of the joint's triangle it holds; -1: a position
} tr_rule_row;

// Props are carried the way the source turns them: two corners of each keep their direction.
typedef struct tr_prop_row {
    int prop, row, graph, corner;
} tr_prop_row;

typedef struct tr_cluster_rows {
    const tr_stage *stage;
    int first, frame_count;   // frames at work: first … first + frame_count − 1
    const int *graph_of_node; // [actor_count + prop_count] index in the cluster, -1: not in it
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
// goals [frame_count * row_count]. `now` is the result so far: partners' rotations and props' places are read
// from it. contacts_only: what the transfer step takes.
void tr_cluster_rows_goals( const tr_cluster_rows *rows, const tr_result *now, bool contacts_only,
                            tr_goal *goals );

// How far a pelvis is moved so that a centre of mass comes to its place, at one frame. A fit knows joints
// only: the shift is corrected from fit to fit by the secant of what the last one achieved.
typedef struct tr_lean {
    vec3 shift; // of the pelvis, from where the graph has it
    vec3 free;  // centre of mass without it
    vec3 error, step;
    bool begun;
} tr_lean;

// The hard centre of mass that counts most for an actor at a frame, NULL for none; `rules` are the actor's.
const tr_rule *tr_lean_rule( const tr_stage *stage, const int *rules, int count, int frame );
// Corrects a lean after a fit. True: it changed, fit again.
bool tr_lean_correct( tr_lean *lean, const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                      int frame );

// Fits every character's skeleton, from the motions in `result`, to graphs [actor_count]: joints and
// rotations the graphs came to. Motions, worlds and props' tracks of `result` are changed. With `affected`
// [(actor_count + prop_count) * frame_count], only those that are set there; a character that never is needs
// no graph.
bool tr_cluster_fit( const tr_stage *stage, tr_result *result, const tr_world *graphs, const bool *affected,
                     tr_error *error );

// Brings poses somebody changed back in line with the rules: deforms the graphs of all affected characters
// and props together, around what `result` has (motions, worlds, tracks), then fits. Everything else keeps
// its bits. Whoever a rule joins to somebody affected at a frame has to be so too: tr_stage_reach.
bool tr_cluster_settle( const tr_stage *stage, tr_result *result, const bool *affected, int first, int last,
                        tr_error *error );

// Parts of an actor that none of its rules speaks of turn back to their copied world rotations. Motion and
// world of `result` are changed, at `frames` [frame_count] only, unless it is NULL.
bool tr_ends_turn_back( const tr_stage *stage, tr_result *result, int actor, const int *rules, int rule_count,
                        const tr_world *copied, const bool *frames, tr_error *error );

#endif
