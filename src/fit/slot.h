// Private to the fit's kernel: its working memory, the slot. The layout depends on the width of the lanes, so
// each kernel lays it out anew in every call.
#ifndef TROUPE_FIT_SLOT_H
#define TROUPE_FIT_SLOT_H

#include "fit/private.h"
#include "math/lanes3.h"

// Up to this many goals (leaders), a step solves for the pulls of the goals (kernel_step.h); with more, for
// the turns of the joints (kernel_turns.h). Here both cost the same: (3 · 40)³ / 6 products for the pulls, 27
// · depth² / 2 per joint and goal for the turns, in a body of a hundred joints and twelve levels.
enum { FEW_GOALS = 40 };

typedef struct fit_joint { // a joint between a goal and the root
    int joint;             // joint of the skeleton
    int parent;            // index among fit_joints, -1 for the root
    int mover;             // nearest joint above that is not locked, or -1
    int first_row, row_count;
    bool locked;
    int level;          // number of joints above that are not locked; see kernel_turns.h
    size_t first_block; // first of level + 2 blocks
    vec3 offset;        // from the parent
    lane33 factor;      // S; this and hinged … most are as in tr_fit_axes
    lane3 stiffness;    // 1 / the squares of the columns of S
    lane_mask hinged;
    lane bend, least, most;
    lane taut, tightening; // z.x below which the hinge resists straightening; the growth of that force
    lane_quat centre;
    lane3 z;     // current state
    lane3 trial; // next state
    lane3 kept;  // trial before its correction
    lane3 first; // z before the other side of straight was tried
    // Pose of the last trial.
    lane_quat local, world;
    lane33 frame; // world as a matrix
    lane3 position;
    lane3 delta; // S z
    lane rate;   // k of delta, see lane_exp_of
    // Factors of the current step.
    lane33 dual;      // T⁻ᵀ
    lane_sym hessian; // contributions of the joints below to the joint's block of H
    lane3 lower;      // L of H = L D Lᵀ: yx, zx, zy
    lane3 pivots;     // 1 / D
    lane33 upwards;   // E L⁻ᵀ D⁻¹, where E is the block that couples the joint with its mover
    lane3 gradient;
    lane3 turn; // a, the solution
} fit_joint;

typedef struct fit_task { // a goal that takes part, in all lanes
    const tr_fit_goal *goals[LANES];
    tr_fit_kind kind;
    int carrier;      // the fit_joint whose frame moves the goal; -1: only the root's shift moves it
    int leader;       // index of the first task on the same point; its own index if that is itself
    int followers;    // leader: number of other tasks that share its rows
    int row;          // leader: row of the nearest joint that moves it; -1: only the root's shift does
    lane3 point;      // position: in the carrier's frame
    lane3 place;      // position: target
    lane_quat wanted; // rotation: target
    lane3 mask;       // 1 on the goal's axes, else 0
    lane most; // largest c on every axis: 0 for one-sided goals, which ask for at least their place, else
               // INFINITY
    lane force, softness,
        steady;     // ρ(c) = force · soft( softness, c ) + steady · soft( size, c ) + ½ spring c²
    lane spring;    // with soft( e, c ) = √(e² + c²) − e
    lane weight;    // ρ'(c) / c
    lane stretch;   // weight / ρ''(c) − 1
    lane3 c, trial; // error of the current state, of the trial
    lane before;    // |c|² one step ago
    lane3 reached;  // in the trial; position: the point; rotation: the error in radians
    lane3 pull, pull_trial; // λ
    // Leader with followers: sums over all of them, see gather_groups.
    lane_sym give;   // W⁻¹
    lane3 push, sum; // W⁻¹ Σ ρ', Σ λ
} fit_task;

typedef struct fit_row { // three rows of the Jacobian: how the c of a task changes with the turn of a joint
    int task, joint;
    int below;  // row of the same task at the next joint towards the goal, or -1
    int above;  // row of the same task at the next joint towards the root, or -1
    lane3 bone; // position: from the joint to the next one towards the goal
    lane33 y;   // L⁻¹ ( Nᵀ − E H⁻¹ … ), one column per row
} fit_row;

typedef struct fit_slot {
    const tr_fit_step_def *steps;
    int *place;        // [joint_count of the skeleton] index into joints, -1: not between a goal and the root
    lane_quat *centre; // [joint_count of the skeleton] local; only if bones are aimed
    lane_quat *world;  // the same in the world
    fit_joint *joints; // [joint_count]
    fit_task *tasks;   // [task_count], capacity goal_count; leaders first
    fit_row *rows;     // [row_count], capacity goal_count * depth; joint by joint, tasks in order
    lane *normal;      // [9 * leader_count²], capacity for FEW_GOALS
    lane *rhs;         // [3 * leader_count], capacity for FEW_GOALS
    // For frames with more goals, see kernel_turns.h:
    lane33 *blocks;                                              // [joint_count * (depth + 1) + 1]
    lane3 shift_gradient, shift_lower, shift_pivots, shift_turn; // the same for the root's shift
    int *table;     // [table_size] hash table of goals by their point; -1: free
    int table_size; // a power of two, at least twice the number of goals
    int joint_count, task_count, row_count;
    int leader_count;                           // tasks with rows of their own
    lane3 root, shift, shift_trial, shift_kept; // shift as z: metres times √stiffness
    double shift_scale;                         // 1 / √stiffness
    lane share;                                 // share of the whole step that was made last
    lane_mask sharp;                            // the step uses ρ'' along c
} fit_slot;

// A block of frames with the same kinds of goals. Lanes beyond count repeat the first frame.
typedef struct fit_block {
    const tr_fit_frame *frames[LANES];
    tr_fit_result *results[LANES];
    int count;
} fit_block;

// ------------------------------------------------------------------------------------------------ layout

// Addresses are numbers here, so that a slot can be laid out at 0 to measure it.
static inline void *carve( uintptr_t *at, size_t count, size_t size )
{
    void *out = (void *)*at;
    *at += ( count * size + LANE_BYTES - 1 ) / LANE_BYTES * LANE_BYTES;
    return out;
}

// Points the arrays of the slot into the memory at `at`. Returns the end of that memory.
static inline uintptr_t lay_out( fit_slot *slot, uintptr_t at, const tr_fit_scratch *scratch )
{
    size_t joints = (size_t)scratch->joint_count, goals = (size_t)scratch->goal_count;
    slot->place = carve( &at, joints, sizeof( int ) );
    slot->centre = carve( &at, joints, sizeof( lane_quat ) );
    slot->world = carve( &at, joints, sizeof( lane_quat ) );
    slot->joints = carve( &at, joints, sizeof( fit_joint ) );
    slot->tasks = carve( &at, goals, sizeof( fit_task ) );
    slot->rows = carve( &at, goals * (size_t)scratch->depth, sizeof( fit_row ) );
    size_t few = goals < FEW_GOALS ? goals : FEW_GOALS;
    slot->normal = carve( &at, 9 * few * few, sizeof( lane ) );
    slot->rhs = carve( &at, 3 * few, sizeof( lane ) );
    size_t blocks = goals > FEW_GOALS ? joints * ( (size_t)scratch->depth + 1 ) + 1 : 0;
    slot->blocks = carve( &at, blocks, sizeof( lane33 ) );
    slot->table_size = 2;
    while ( (size_t)slot->table_size < 2 * goals )
        slot->table_size *= 2;
    slot->table = carve( &at, (size_t)slot->table_size, sizeof( int ) );
    return at;
}

#endif
