// Private to motion: what the parts of the skeleton fit share. See motion.h for the energy.
//
// Frames that ask for the same things are solved four at a time, one in each lane (fit_lanes.h). What is the
// same for all of them, who moves and which rows there are, is found once per block by fit_block.c; the
// numbers are the kernel's (kernel.h). No lane ever sees another.
#ifndef TROUPE_MOTION_FIT_H
#define TROUPE_MOTION_FIT_H

#include "motion/fit_lanes.h"
#include "motion/motion.h"

// ---------------------------------------------------------------------------------------- fit_limb.c

#define TR_FIT_NO_CHILD ( -1 )
#define TR_FIT_SEVERAL  ( -2 )

// Below this sine of the bend a limb counts as straight: its own plane is noise, the rest pose's is better.
#define TR_FIT_STRAIGHT 0.06

// How a joint may turn. Bones are unit vectors, zero when the joint has no bone there that tells a direction.
typedef struct tr_fit_limb {
    double stiffness; // per rad²; INFINITY for end sites
    vec3 bone_in;     // from the parent, in the parent's frame; of knees and elbows only
    vec3 bone_out;    // to the next joint of the limb, in the joint's own frame
    vec3 bend;        // normal of the plane the rest pose suggests to bend in, in the parent's frame, or zero
    double span;      // length of the two bones together
    int only_child;   // the joint's only child with a bone of its own, or one of the two above
    int first_child, next_child; // of the joint; of its parent after it; -1 when there is none
} tr_fit_limb;

void tr_fit_limbs_build( tr_fit *fit, tr_pose rest );

// ------------------------------------------------------------------------------------- working memory

typedef struct fit_joint { // one of the joints between a goal and the root
    int joint, parent;     // parent: index among these, -1 for the root
    int mover;             // nearest joint above that is not locked, -1 when there is none
    int first_row, row_count;
    bool locked;
    vec3 offset;      // from the parent
    lane33 factor;    // S, as tr_fit_axes
    lane3 stiffness;  // 1 / the squares of its columns
    lane_mask hinged; // and so on
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
    lane3 bone; // position: from the joint to the next one towards the goal
    lane33 y;   // L⁻¹ ( Nᵀ − E H⁻¹ … ), a column per row
} fit_row;

#define TR_FIT_BLOCKS 8 // of memory

typedef struct tr_fit_slot {
    void *memory[TR_FIT_BLOCKS]; // as allocated; the arrays below lie aligned in it
    int *place;                  // [joint_count] index among joints, -1 when not involved
    lane_quat *centre;           // [joint_count] local, of all joints when bones are aimed
    lane_quat *world;            // [joint_count]
    fit_joint *joints;           // [joint_count]
    fit_task *tasks;             // [task_count] leaders first; room for goal_count
    fit_row *rows;               // [goal_count * depth], joint by joint, tasks in order
    lane *normal;                // [9 * leader_count²], room for as many goals
    lane *rhs;                   // [3 * leader_count]
    int joint_count, task_count, row_count;
    int leader_count;                           // tasks with rows of their own
    lane3 root, shift, shift_trial, shift_kept; // shift in z: metres times √stiffness
    double shift_scale;                         // 1 / √stiffness
    lane share;                                 // of the last step that was taken
    lane_mask sharp;                            // the step uses ρ'' along c
} tr_fit_slot;

// ---------------------------------------------------------------------------------------- fit_block.c

// Frames of one block: alike in what they ask for. Lanes beyond count repeat the first.
typedef struct fit_block {
    const tr_fit_frame *frames[LANES];
    tr_fit_result *results[LANES];
    int count;
} fit_block;

// Whether the goal takes part at all.
bool tr_fit_has_a_say( const tr_fit_goal *goal );
// Next block out of the frames that are not `taken` yet; false when all are. Every array is [count]; `kinds`
// is what tr_fit_kind_of gives for each frame.
bool tr_fit_block_next( const tr_fit *fit, const tr_fit_frame *frames, tr_fit_result *results, int count,
                        const uint64_t *kinds, bool *taken, fit_block *out );
// Equal for frames that ask for the same things, almost never for others.
uint64_t tr_fit_kind_of( const tr_fit *fit, const tr_fit_frame *frame );
// Tasks, joints and rows of a block; nothing that differs from frame to frame but the tasks' goals.
void tr_fit_gather( const tr_fit *fit, tr_fit_slot *slot, const fit_block *block );

// ------------------------------------------------------------------------------------------ kernel_*.c

#define TR_FIT_KERNELS( kind )                                                                               \
    void tr_fit_solve_block_##kind( const tr_fit *fit, tr_fit_slot *slot, const fit_block *block );          \
    tr_fit_axes tr_fit_axes_##kind( const tr_fit *fit, int joint, quat centre );

TR_FIT_KERNELS( double ) // any processor
TR_FIT_KERNELS( avx2 )   // the same bits, sooner

#endif
