// Private to scene/: one layer of kind cage at work on the result below it.
//
//   members' joints and props' corners ─► cage ─► moved points ─► aimed poses, moved props, steps of feet,
//   paths of handles ─► pose graphs and fit of everybody whom rules join to them (tr_cluster_settle)
#ifndef TROUPE_SCENE_LAYER_H
#define TROUPE_SCENE_LAYER_H

#include "cage/cage.h"
#include "scene/cluster.h"

typedef struct tr_bound_point { // what a point of the cage is
    int node;                   // actor, or actor_count + prop
    int part;                   // joint, or corner of the box 0 … 7
} tr_bound_point;

typedef struct tr_moved_foot { // a hand or foot that stands
    int actor, joint;          // the joint that carries it
    double *turns;             // [frame_count of the stage] radians about the vertical, of this layer alone
} tr_moved_foot;

typedef struct tr_cage_layer {
    const tr_stage *stage;
    const tr_grab *grab;
    const tr_layer *layer;
    tr_result *result;
    int begin, frame_count; // stage frames the cage covers: window and ease
    tr_bound_point *bound;  // [point_count] members in the stage's order
    int point_count;
    vec3 *before, *after; // [frame_count * point_count]
    tr_cage cage;
    bool built;
    tr_cage_handle *handles; // [handle_count]
    int *handle_index;       // [handle_count] in the document
    int held_count;          // behind them in `handles`: what keeps limbs on bodies and bodies upright
    double *handle_errors;   // [handle_count] metres
    int handle_count;
    tr_moved_foot *feet; // [foot_count] in the order of their actors
    int foot_count;
    bool *affected;  // [(actor_count + prop_count) * frame_count of the stage]
    tr_stage edited; // the stage with the layer's own rules behind the others; nothing else of it is owned
    vec3 *paths;     // [path_count * frame_count of the stage] where those rules want their points
    int path_count;
    bool *linked;  // [actor_count + prop_count] grabbed, or joined to somebody who is, anywhere in the window
    vec3 **misses; // [rule_count of the stage] NULL, or [frame_count of the stage]
} tr_cage_layer;

// Builds the cage around what the grab holds in `result`, moves it by the layer's handles, and computes
// `after`. Nothing is built (built false) when no handle moves anything.
bool tr_cage_layer_build( tr_cage_layer *out, const tr_stage *stage, const tr_grab *grab, tr_result *result,
                          tr_error *error );
void tr_cage_layer_free( tr_cage_layer *l );

// The first point of a node in `bound`, -1 when it is not grabbed; *count how many there are.
int tr_cage_layer_points( const tr_cage_layer *l, int node, int *count );
// Index of the point that is this joint of an actor, -1 when it is not grabbed.
int tr_cage_layer_joint( const tr_cage_layer *l, int actor, int joint );
bool tr_cage_layer_holds_several( const tr_cage_layer *l ); // characters or props, not one alone
// Whether the cage moves anything of a node at a stage frame.
bool tr_cage_layer_moves( const tr_cage_layer *l, int node, int frame );
// The last frame before, and the first after, the frames an edit may touch; beyond the stage where an end is
// held or there is nothing beyond.
void tr_cage_layer_limits( const tr_cage_layer *l, int *before, int *after );

// Sets whole bodies and props upright where the cage leans. With `turn`, turns bodies and props (their points
// in `after`) about the vertical as the direction of their way changed.
bool tr_cage_layer_turn( tr_cage_layer *l, tr_error *error );
// The turn of a grabbed body at a stage frame, as its points were moved: about all axes.
quat tr_cage_layer_rotation( const tr_cage_layer *l, int node, int frame );
// Moves on the steps of every foot that stands and is grabbed: see layer_steps.c.
bool tr_cage_layer_steps( tr_cage_layer *l, tr_error *error );
// Copies the stage's rules into `edited`, in such a way that the result below meets them all. Comes before
// anything of it is changed.
bool tr_cage_layer_rules( tr_cage_layer *l, tr_error *error );
// Poses bodies and props as the moved points say and adds the rules that hold what handles hold.
bool tr_cage_layer_pose( tr_cage_layer *l, tr_error *error );

// All of these in their order: bodies and props are moved, `affected` says who has to be settled, in frames
// *first … *last (none: last < first).
bool tr_cage_layer_move( tr_cage_layer *l, int *first, int *last, tr_error *error );

// The part of a rotation that is about the vertical, radians.
double tr_yaw( quat rotation );

#endif
