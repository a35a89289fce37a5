// Private to the fit's kernel: what it works on. Everything lies in one piece of memory, the slot, and is
// laid out anew for every call: how wide lanes are is nobody else's business.
#ifndef TROUPE_FIT_SLOT_H
#define TROUPE_FIT_SLOT_H

#include "fit/private.h"
#include "math/lanes3.h"

// Goals with rows of their own that are solved for their pulls; more are solved for the joints' turns. There
// both cost the same: (3 · 40)³ / 6 products for the pulls, 27 · depth² / 2 for each joint and goal of a body
// of a hundred joints, twelve deep.
enum { FEW_GOALS = 40 };

typedef struct fit_joint { // one of the joints between a goal and the root
    int joint, parent;     // parent: index among these, -1 for the root
    int mover;             // nearest joint above that is not locked, -1 when there is none
    int first_row, row_count;
    bool locked;
    int level;          // of one that is not locked: how many above it are not; see kernel_turns.h
    size_t first_block; // of its level + 2
    vec3 offset;        // from the parent
    lane33 factor;      // S, as tr_fit_axes
    lane3 stiffness;    // 1 / the squares of its columns
    lane_mask hinged;   // and so on
    lane bend, least, most;
    lane taut, tightening; // z.x below which the hinge resists being straightened, and how it grows
    lane_quat centre;
    lane3 z, trial;
    lane3 kept;  // the trial before it is corrected
    lane3 first; // z on the first side of straight
    // As posed last.
    lane_quat local, world;
    lane33 frame; // world as a matrix
    lane3 position;
    lane3 delta; // S z
    lane rate;   // k of it, see lane_exp_of
    // Of the factor at work.
    lane33 dual;      // T⁻ᵀ: its columns take angular velocity in the world to z
    lane_sym hessian; // what H is before its own part is added: gathered from the joints below
    lane3 lower;      // L of H = L D Lᵀ: yx, zx, zy
    lane3 pivots;     // 1 / D
    lane33 upwards;   // E L⁻ᵀ D⁻¹, E the block towards the mover
    lane3 gradient;
    lane3 turn; // a, the answer
} fit_joint;

typedef struct fit_task { // a goal that has something to say
    const tr_fit_goal *goals[LANES];
    tr_fit_kind kind;
    int carrier;      // index of the fit_joint whose frame moves the goal, -1 for the root's shift alone
    int leader;       // the first task on the same point, itself where it is that
    int followers;    // of a leader: how many share its rows
    int row;          // of a leader: that of the nearest joint that moves it, -1: the root's shift alone does
    lane3 point;      // position: in the carrier's frame
    lane3 place;      // position
    lane_quat wanted; // rotation
    lane3 mask;       // 1 on the axes that count
    lane force, softness,
        steady;           // ρ(c) = force · soft( softness, c ) + steady · soft( size, c ) + ½ spring c²
    lane spring;          // with soft( e, c ) = √(e² + c²) − e
    lane weight, stretch; // ρ'(c) / c; that over ρ''(c), less 1
    lane3 c, trial;       // off by; as posed last
    lane before;          // |c|² one step ago
    lane3 reached;        // position: the point as posed last; rotation: the error in radians
    lane3 pull, pull_trial; // λ
    // Of a leader with followers: all of them as one, see gather_groups.
    lane_sym give;   // W⁻¹
    lane3 push, sum; // W⁻¹ Σ ρ', Σ λ
} fit_task;

typedef struct fit_row { // how a task's c changes with a joint's turn: three rows of the Jacobian
    int task, joint;
    int below;  // the task's row of the next joint towards the goal, -1 when there is none
    int above;  // and towards the root
    lane3 bone; // position: from the joint to the next one towards the goal
    lane33 y;   // L⁻¹ ( Nᵀ − E H⁻¹ … ), a column per row
} fit_row;

typedef struct fit_slot {
    const tr_fit_step_def *steps; // of the fit at work
    int *place;                   // [joint_count] index among joints, -1 when not involved
    lane_quat *centre;            // [joint_count] local, of all joints when bones are aimed
    lane_quat *world;             // [joint_count]
    fit_joint *joints;            // [joint_count]
    fit_task *tasks;              // [task_count] leaders first; room for goal_count
    fit_row *rows;                // [goal_count * depth], joint by joint, tasks in order
    lane *normal;                 // [9 * leader_count²], room for FEW_GOALS
    lane *rhs;                    // [3 * leader_count], likewise
    lane33 *blocks; // [joint_count * (depth + 1) + 1] the matrix of more goals, see kernel_turns.h
    lane3 shift_gradient, shift_lower, shift_pivots, shift_turn; // and what it has for the root's shift
    int *table;     // [table_size] goals by the point they are on; -1: free
    int table_size; // a power of two, at least twice as many as goals
    int joint_count, task_count, row_count;
    int leader_count;                           // tasks with rows of their own
    lane3 root, shift, shift_trial, shift_kept; // shift in z: metres times √stiffness
    double shift_scale;                         // 1 / √stiffness
    lane share;                                 // of the last step that was taken
    lane_mask sharp;                            // the step uses ρ'' along c
} fit_slot;

// Frames of one block: alike in what they ask for. Lanes beyond count repeat the first.
typedef struct fit_block {
    const tr_fit_frame *frames[LANES];
    tr_fit_result *results[LANES];
    int count;
} fit_block;

// ------------------------------------------------------------------------------------------------ layout

// Addresses are numbers here: to measure a slot, one is laid out at 0.
static inline void *carve( uintptr_t *at, size_t count, size_t size )
{
    void *out = (void *)*at;
    *at += ( count * size + LANE_BYTES - 1 ) / LANE_BYTES * LANE_BYTES;
    return out;
}

// Points the slot into the memory behind it; returns the end of what it needs.
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
