// Private to motion: what the parts of the skeleton fit share. See motion.h for the energy.
#ifndef TROUPE_MOTION_FIT_H
#define TROUPE_MOTION_FIT_H

#include "motion/motion.h"

// ---------------------------------------------------------------------------------------- fit_limb.c

#define TR_FIT_NO_CHILD ( -1 )
#define TR_FIT_SEVERAL  ( -2 )

// How a joint may turn. Bones are unit vectors, zero when the joint has no bone there that tells a direction.
typedef struct tr_fit_limb {
    double stiffness; // per rad²; INFINITY for end sites
    vec3 bone_in;     // from the parent, in the parent's frame; of knees and elbows only
    vec3 bone_out;    // to the next joint of the limb, in the joint's own frame
    vec3 bend;        // normal of the plane the rest pose suggests to bend in, in the parent's frame, or zero
    double span;      // length of the two bones together
    int only_child;   // the joint's only child with a bone of its own, or one of the two below
} tr_fit_limb;

void tr_fit_limbs_build( tr_fit *fit, tr_pose rest );

// ----------------------------------------------------------------------------------------- fit_aim.c

// Local rotations whose bones point along frame->positions.
void tr_fit_aim( const tr_fit *fit, const tr_fit_frame *frame, mat3 *moments /* [joint_count] */,
                 quat *world /* [joint_count] */, quat *local /* [joint_count] */ );

// ------------------------------------------------------------------------------------- working memory

typedef struct fit_joint { // one of the joints between a goal and the root
    int joint, parent;     // parent: index among these, -1 for the root
    int mover;             // nearest joint above that is not locked, -1 when there is none
    int first_row, row_count;
    bool locked;
    tr_fit_axes axes;
    mat3 centre; // local rotation
    vec3 offset; // from the parent
    vec3 z, trial, kept;
    mat3 world; // as posed last
    vec3 position;
    mat3 turning; // T, columns: angular velocity in the world per unit of z
    // At the current state.
    mat3 inverse;   // T⁻¹
    mat3 stiffness; // A
    vec3 moment;    // q
    // Of the factor at work.
    mat3 hessian; // H, then L of H = L D Lᵀ
    vec3 pivots;  // 1 / D
    mat3 upwards; // E L⁻ᵀ D⁻¹, E the block towards the mover
    vec3 gradient;
    vec3 turn; // a, the answer
} fit_joint;

typedef struct fit_task { // a goal that has something to say
    const tr_fit_goal *goal;
    int carrier; // index of the fit_joint whose frame moves the goal, -1 for the root's shift alone
    vec3 point;  // position: in the carrier's frame
    vec3 mask;   // 1 on the axes that count
    double force, softness,
        steady;    // ρ(c) = force · soft( softness, c ) + steady · soft( size, c ) + ½ spring c²
    double spring; // with soft( e, c ) = √(e² + c²) − e
    double weight, stretch; // ρ'(c) / c; that over ρ''(c), less 1
    vec3 c, trial;          // off by; as posed last
    double before;          // |c|² one step ago
    vec3 reached;           // position: the point as posed last; rotation: the error in radians
    vec3 pull, pull_trial;  // λ
} fit_task;

typedef struct fit_row { // how a task's c changes with a joint's turn: three rows of the Jacobian
    int task, joint;
    int below; // the task's row of the next joint towards the goal, -1 when there is none
    vec3 bone; // position: from the joint to the next one towards the goal
    mat3 y;    // L⁻¹ ( Nᵀ − E H⁻¹ … ), a column per row
} fit_row;

typedef struct tr_fit_slot {
    int *place;        // [joint_count] index among joints, -1 when not involved
    quat *centre;      // [joint_count] local
    quat *world;       // [joint_count]
    mat3 *moments;     // [joint_count]
    fit_joint *joints; // [joint_count]
    fit_task *tasks;   // [goal_count]
    fit_row *rows;     // [goal_count * depth], joint by joint, tasks in order
    double *normal;    // [9 * goal_count²]
    double *rhs;       // [3 * goal_count]
    int joint_count, task_count, row_count;
    vec3 root, shift, shift_trial, shift_kept; // shift in z: metres times √stiffness
    double shift_scale;                        // 1 / √stiffness
    double share;                              // of the last step that was taken
    bool sharp;                                // the step uses ρ'' along c
} tr_fit_slot;

// How far z is below (negative) or above the limits of the joint's hinge.
static inline double tr_fit_over( const fit_joint *joint, vec3 z )
{
    if ( !joint->axes.hinged )
        return 0;
    return z.x < joint->axes.least ? z.x - joint->axes.least : fmax( z.x - joint->axes.most, 0.0 );
}

// ---------------------------------------------------------------------------------------- fit_step.c

// Makes the trial, as posed last, the current state.
void tr_fit_take( tr_fit_slot *slot );
// Everything a step needs to know of the current state, while the pose is still its own.
void tr_fit_linearise( const tr_fit *fit, tr_fit_slot *slot );
// Fills normal and rhs at the current state. Returns the number of negative pivots, 0 when `convex`; -1 when
// H has no factor.
int tr_fit_assemble( const tr_fit *fit, tr_fit_slot *slot, bool convex );
// Compliance of the body at a task, mean over its axes; after tr_fit_assemble.
double tr_fit_give( const tr_fit_slot *slot, int task );
// A step from the current state to a trial. Returns its length: radians, sizes of shift. -1 when there is
// none: never when `convex`.
double tr_fit_step( const tr_fit *fit, tr_fit_slot *slot, double reach, bool convex );

// Mends the trial of the last step, which must have been exact, once it is posed.
void tr_fit_correct( tr_fit_slot *slot );

// --------------------------------------------------------------------------------------- fit_solve.c

void tr_fit_frame_solve( const tr_fit *fit, tr_fit_slot *slot, const tr_fit_frame *frame,
                         tr_fit_result *result );

#endif
