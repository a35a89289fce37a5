// fit: poses of a skeleton that meet goals. Inverse kinematics moves a single limb; the skeleton fit poses a
// whole body, frame by frame or over a window. The module does not know scenes.
#ifndef TROUPE_FIT_H
#define TROUPE_FIT_H

#include "motion/motion.h"

// ----------------------------------------------------------------------------------- inverse kinematics

typedef struct tr_limb_chain { // shoulder or hip, elbow or knee, wrist or ankle
    int root, middle, end;
    bool two_bones; // otherwise the whole chain root … end bends
} tr_limb_chain;

typedef struct tr_ik_def { // options of tr_ik_chain
    int iterations;        // at most
    double stretch;        // share of its length that a chain stretches to: a straight chain has no gradient
    double nudge;          // radians: a straight chain is bent by this much to give it a gradient
} tr_ik_def;

tr_ik_def tr_default_ik_def( void );

// Analytic solution for a chain of two bones, root–middle–end. Each joint is the parent of the next; joints
// of zero length may lie between them. Turns root and middle so that `end` reaches `target`. The limb keeps
// the plane it bends in, unless `pole` (a world direction for the middle joint to point to) is not zero. A
// chain that is too short stretches towards the target. Changes `local` (rotations of the whole skeleton in
// this frame) and updates `pose`. Returns the distance that remains, in metres.
double tr_ik_two_bone( const tr_skeleton *skeleton, quat *local, tr_pose pose, const tr_limb_chain *chain,
                       vec3 target, vec3 pole );

// A chain of any length from `root` down to `end`: damped least squares on the rotations of its joints, near
// the given pose. Returns the distance that remains, in metres.
double tr_ik_chain( const tr_skeleton *skeleton, quat *local, tr_pose pose, int root, int end, vec3 target,
                    const tr_ik_def *def );

// Finds the chain that moves a joint of an arm or leg. It goes from the first long bone of the limb to the
// hand or foot, or to the joint itself in a limb without hand and foot. False if there is no such chain.
bool tr_limb_chain_find( const tr_skeleton *skeleton, int joint, tr_limb_chain *out );
// Moves the end of the chain to `target` with one of the two functions above, then gives it the world
// rotation `rotation`. Returns the distance that remains, in metres.
double tr_ik_limb( const tr_skeleton *skeleton, quat *local, tr_pose pose, const tr_limb_chain *chain,
                   vec3 target, quat rotation, const tr_ik_def *def );

// Several demands on the end of one limb, merged to one shift. On each axis the hard ones share by strength;
// soft ones, averaged by weight, get what the hard ones leave: nothing at their full strength, more as they
// fade.
typedef struct tr_limb_demand {
    vec3 miss;       // from where the end is to where it is wanted
    bool axis[3];    // on which it acts
    bool hard;       // wants its whole miss; otherwise the share of its weight, all of it from 1 on
    double strength; // 0 … 1: it fades in and out
    double weight;   // weight of soft demands
} tr_limb_demand;

typedef struct tr_limb_sum {         // several demands on one axis, summed
    double shift, weight, strongest; // Σ pull · miss, Σ pull, the largest share of a miss
} tr_limb_sum;

typedef struct tr_limb_pull { // starts with zeros
    tr_limb_chain chain;
    tr_limb_sum sums[2][3]; // hard and soft, by axis
} tr_limb_pull;

void tr_limb_pull_add( tr_limb_pull *pull, const tr_limb_demand *demand );
vec3 tr_limb_pull_shift( const tr_limb_pull *pull );

// Turns `joint` so that its world rotation becomes `rotation`, and updates the pose below it.
void tr_ik_orient( const tr_skeleton *skeleton, quat *local, tr_pose pose, int joint, quat rotation );

// Recomputes the pose of `joint` and of everything below it from `local`.
void tr_pose_refresh( const tr_skeleton *skeleton, const quat *local, tr_pose pose, int joint );

// ---------------------------------------------------------------------------------------- skeleton fit
// Poses a skeleton so that it meets goals: points at places in the world, joints at world rotations. Bone
// lengths are exact, because the unknowns are rotations and the root's position. Frames are independent: the
// result of a frame depends on its own input only, and continuously.
//
// The unknowns are the turn δ_j of every joint from its centre, a rotation vector in the parent's frame
// (local rotation = exp(δ_j) · centre), and the shift of the root. The centre is the starting pose. Where a
// frame gives positions or rotations of all joints, it is the starting pose with its bones aimed along them.
// The fit minimises
//
//   E = ½ Σ_j ( |z_j|² + stop · over_j² + ⅔ taut · tight_j³ / slack ) + ½ root_stiffness |shift / size|²
//       + Σ_goals ρ( |c| ),   δ_j = S_j z_j,
//
// where
//   S_j      are the axes of the joint (tr_fit_joint_axes);
//   over_j   is the distance of z_j.x beyond the limits of a hinge;
//   tight_j  is how much straighter a hinge is than both its centre and `slack`. Near straight the bend is as
//            the square root of the change in length, so its speed has no bound; this term lets the rest of
//            the body give way a little before;
//   c        is the error of a goal in its axes. Position: the vector from place to point. Rotation: the
//            rotation vector from wanted to actual, times the length `arm`.
// A soft goal has ρ(c) = ½ weight c². A hard goal has
//
//   ρ(c) = F ( √(ε² + c²) − ε ) + F ( √(size² + c²) − size ),
//   F = pull · priority_ratio^priority / size,  ε = softness:
//
// a spring that is stiff enough to meet a goal within reach far below ε, and whose pull never exceeds 2 F
// however far away the goal is. If two goals contradict each other, the one with the higher priority is met
// to 2 ε / priority_ratio at any distance, and the other has a residual; goals of equal priority share the
// difference. The solution stays bounded and continuous: an arm straightens towards a goal out of reach.

typedef enum tr_fit_kind { TR_FIT_POSITION, TR_FIT_ROTATION } tr_fit_kind;

enum { TR_FIT_X = 1, TR_FIT_Y = 2, TR_FIT_Z = 4, TR_FIT_XYZ = 7 };
#define TR_FIT_PRIORITIES 6

typedef struct tr_fit_goal {
    tr_fit_kind kind;
    int joint;
    int axes;    // TR_FIT_X | …: world axes of a position, components of the rotation vector of a rotation
    vec3 offset; // position: the point, in the joint's frame
    vec3 place;  // position: its target in the world
    quat rotation; // rotation: the target world rotation of the joint
    bool at_least; // position: on its axes the point is to be at `place` or above it
    bool hard;
    int priority; // hard: 0 … TR_FIT_PRIORITIES - 1; higher wins
    double ease; // 0 (off) … 1 (full): the share of its error that the goal removes when it is the only one
    double weight; // soft, ≥ 0: per m² (rotation: of angle times `arm`); joints have 1 per rad²
    double force;  // hard: factor of F, above 0
} tr_fit_goal;

tr_fit_goal tr_fit_position( int joint, vec3 place );    // hard, priority 0, all axes, offset 0, ease 1
tr_fit_goal tr_fit_rotation( int joint, quat rotation ); // likewise

typedef struct tr_fit_step_def { // steps of Newton's method
    double longest; // radians: limit of a joint's turn in one step, the range of the quadratic model
    double known;   // radians: assumed length of the step before the first, in a frame with a known memory
    double shrink;  // factor of the step length after a step that did not lower the energy
    double ending;  // share of the tolerance: the solve ends when the step length falls below it
    double sharp;   // radians: after a shorter step, goals that do not come nearer get their exact curvature
    double nearer;  // a goal comes nearer if its squared error falls below this share of the previous one
    double kept_bend;    // share of its bend that a hinge keeps in a step that would carry it past straight
    double overstretch;  // radians that one step may carry a hinge past straight
    double least_pivot;  // share of a joint's stiffness: smaller pivots count as zero
    double convex_pivot; // the same in blocks that must be positive definite
    double raise;        // share of a joint's stiffness that is first added to make a block positive definite
    int most_raises;     // limit of such additions; each doubles the last
} tr_fit_step_def;

typedef struct tr_fit_def {
    // Per rad² of turn; INFINITY locks. Joints that move much of the body are stiff, so that others move
    // first.
    double stiffness[TR_ROLE_COUNT];
    double root_stiffness; // stiffness of the root's shift, per (shift / size)²
    // Knees and elbows, as factors of their stiffness in the plane they bend in:
    double hinge; // sideways
    double stop;  // beyond straight or folded
    double taut;  // within `slack` of straight, if that is straighter than the centre
    double slack; // radians
    double twist; // long bones of limbs: stiffness about the bone, as a factor of that across it
    double pull;  // see F above
    double priority_ratio;
    double softness;  // ε above, metres
    double arm;       // in sizes: length that turns angles into metres
    double tolerance; // ends when joints turn by less (radians) and the root moves by less (sizes) in a step
    int max_iterations; // steps of Newton's method at most
    double reference;   // weight of the reference rotation where several bones aim a joint: it decides only
                        // the rotation about bones that places do not determine
    double straight;    // sine of the bend: below it the limb's own plane is noise and the rest pose decides
    double plane_onset; // share of straight², see b in kernel_aim.h: a limb with less of a plane is no hinge
    double
        least_toes;   // sine of the angle between shin and toes: below it toes give no direction for the knee
    double folded;    // radians: bend of a folded hinge, calf against thigh
    double most_hint; // radians: limit of the bend that a straight limb gets before the first step
    double hint_slack; // in softnesses: a limb bent backwards is bent forwards only if a goal asks it to
                       // become shorter by more
    double bent_back; // radians: a hinge that ends bent backwards by more is solved again from the other side
    tr_fit_step_def steps;
    bool portable; // do not use wide vector instructions: slower, the same bits
} tr_fit_def;

tr_fit_def tr_default_fit_def( void );
// For the preview of a drag: the same energy with a larger tolerance and fewer steps. With a hand or foot of
// the built-in figures dragged by 5 or 10 mm at a time, 99 frames in 100 are within 1.3 mm and 0.3 degrees of
// the default's result; limbs that are pulled straight sometimes are not. Use the default for motion that is
// kept.
tr_fit_def tr_preview_fit_def( void );

typedef struct tr_fit {          // for one skeleton; constant once built, shared by any number of solves
    const tr_skeleton *skeleton; // borrowed
    tr_fit_def def;
    double size; // metres: half the longest path from the root along the bones; 1 if that is zero
    int depth;   // joints on the longest path from the root
    struct tr_fit_limb *limbs; // [joint_count]
} tr_fit;

// Needs the roles of tr_skeleton_classify. The skeleton must outlive the fit.
bool tr_fit_build( tr_fit *out, const tr_skeleton *skeleton, const tr_fit_def *def, tr_error *error );
void tr_fit_free( tr_fit *fit );

// How a joint turns near its centre, in its parent's frame. Its compliance S Sᵀ is 1 / stiffness; it is less
// about the bone and, for knees and elbows, across the plane they bend in. This is the plane of the centre
// pose. The straighter the limb is, the more the plane of the skeleton's rest pose counts instead.
typedef struct tr_fit_axes {
    mat3 factor; // S; the first column is along the hinge
    bool hinged;
    double bend;  // hinge: angle between its bones, negative if bent backwards
    double least; // hinge: z.x where it is straight; 0 if the centre is bent backwards
    double most;  // hinge: z.x where it is folded
} tr_fit_axes;

tr_fit_axes tr_fit_joint_axes( const tr_fit *fit, int joint, quat centre );

typedef struct tr_fit_scratch { // working memory, reused by one caller at a time
    int joint_count, depth, goal_count, slot_count;
    size_t slot_bytes;
    char *slots;  // [slot_count * slot_bytes] one per parallel part of the frames; points into `memory`
    void *memory; // allocated
} tr_fit_scratch;

// Serves every fit with at most as many joints and levels as this one, and frames of at most max_goals goals.
bool tr_fit_scratch_build( tr_fit_scratch *out, const tr_fit *fit, int max_goals, int slots,
                           tr_error *error );
void tr_fit_scratch_free( tr_fit_scratch *scratch );

// The solution of a fit, from which the next fit with almost the same goals starts. It stores the pulls of
// the goals too, so that the first step is a full Newton step.
typedef struct tr_fit_memory {
    bool known;   // false: only written
    vec3 shift;   // shift of the root
    float *turns; // [3 * joint_count] δ: rotation vectors in the parent's frame, from the centre
    float *pulls; // [3 * joint_count] of the position goal of each joint
} tr_fit_memory;

typedef struct tr_fit_frame {
    const quat *start; // [joint_count] local rotations to stay near
    vec3 root;         // position of the root to stay near
    // Optional, may be NULL: positions and world rotations of all joints of a deformed body. Bones are aimed
    // along `positions`, which need not keep bone lengths, and the root starts at positions[0]. `rotations`
    // give the twist of the bones; without them it is that of the starting pose.
    const vec3 *positions;    // [joint_count]
    const quat *rotations;    // [joint_count]
    const tr_fit_goal *goals; // [goal_count]
    int goal_count;
    // Optional, may be NULL: the pose to iterate from, such as the last result while a goal is dragged. It
    // does not change the energy, so a fit that converges has the same result after fewer steps. If the goals
    // can be met with a knee or an elbow bent either way, the bend nearer to this pose is more likely.
    const quat *warm; // [joint_count]
    vec3 warm_root;
    // Optional, may be NULL: in and out. A known memory is where the iteration starts; if its first step is
    // short enough, it is the only one. The solution is written back.
    tr_fit_memory *memory;
} tr_fit_frame;

typedef struct tr_fit_result {
    quat *local;       // out: [joint_count], the caller's
    double *residuals; // out: [goal_count], the caller's or NULL: metres or radians, in the goal's axes
    vec3 root;
    double worst; // metres: largest residual of a hard position goal of full ease
    int iterations;
    bool converged; // the fit converged to the tolerance
} tr_fit_result;

// Solves frames in parallel and allocates nothing. False if a number of the input is not finite, a rotation
// is not of unit length, or a goal has an invalid field; then nothing is written.
bool tr_fit_solve( const tr_fit *fit, tr_fit_scratch *scratch, const tr_fit_frame *frames,
                   tr_fit_result *results, int count, tr_error *error );

// --------------------------------------------------------------------------------------- fit over a window
// The fit of several bodies in all frames of a window at once. x_f is what a frame turns every joint of a
// body by, against the proposed motion x̂, and moves the root by: rotation vectors in the parent's frame, in
// the metric of E above.
//
//   min Σ_f E_f( x_f ) + ½ λ Σ_f | x_{f−1} − 2 x_f + x_{f+1} |²,   λ = ( smooth · fps )⁴,
//   no joint faster than `speed` against x̂, none below its floor
//
// Bodies share points: where two hands meet, or a prop. A point p has a way p̂ of its own and a term in time
// like that of the joints, with the weight `point_bend` λ. A tie holds a place on a body to a point.
//
// The split (ADMM, scaled): frames meet in z, and u is what they still pull with; each tie has a u of its
// own.
//
//   local   every frame of every body alone, drawn to z − u with weight ρ: the fit above with the centre
//           ρ/(1+ρ) ( z − u ), all its forces divided by 1 + ρ; a tie is a soft goal at p − u
//   global  ( ρ + λ D₂ᵀ D₂ + D₁ᵀ μ D₁ ) z = ρ ( x + u ), one chain (solve.h) for all coordinates of a body;
//           μ grows where a joint is too fast
//           ( Σ_ties σ + λ_p D₂ᵀ D₂ ) ( p − p̂ ) = Σ_ties σ ( y + u − p̂ ), y being where the bodies are
//   dual    u += x − z for bodies, u += y − p for ties, bounded by the force of the tie's priority
//
// A body whose frames alone would jump from one answer to another begins anew from x̂, all frames together.
// Last, every frame is fitted exactly about z, which is smooth: a goal or a tie that is nearly met is asked
// for in full, any other for where z has it. The error that remains is reported: goals of higher priority or
// the smoothness in time caused it. What comes first (`strict`) is judged by x instead: closed where the
// frame by itself closed it.

typedef struct tr_window_def {
    double fps;
    double smooth;       // seconds: how long a correction takes to come and to go
    double speed;        // radians per second, of a joint against x̂
    double speed_force;  // seconds: μ is at most ρ ( speed_force · fps )², begins with a share …
    double speed_begin;  // … of that, this one, …
    double speed_growth; // … and grows in a round by the square of the excess over `speed`, of this at most
    double jump;         // radians per second: a body whose frames disagree by more begins anew
    double draw;         // ρ of the first round
    double growth;       // growth of ρ, from round to round
    int rounds;          // at most
    double rest;         // radians, sizes: a frame of a body whose x and z differ by less is at rest, if …
    double rest_tie; // metres: … its ties are closed to this, their points have not moved by more in the
                     // last round, and nothing is left to do within `smooth` of it
    int strict; // priority from which goals pull with all their force from the first round on. Those below it
                // begin with less. Where they are missed they pull harder from round to round, as
                // long as no joint is faster than `speed` or accelerates more than `acceleration` around
                // there, and as long as it brings them nearer
    double effort;       // share of the force that they begin with
    double least_effort; // share of the force that such goals keep, however fast joints are
    double spread;       // seconds: effort changes by no more than twice in this time
    double gain; // share of what is missed: a goal that came nearer by less in the last round is out of reach
    double acceleration; // radians / s², of a joint against x̂
    double tie_weight;   // σ, per (distance / size)²
    double tie_most;     // σ at most, per metre²: tiny bodies
    double end_held;     // times σ: weight of a tie whose body may not move
    double mass_force;   // times F of its priority: what a mean of joints pulls with, at most
    double point_bend;   // times λ: of the way of a point, per (distance / size)²
    double point_rest;   // times σ: what keeps a prop there in frames in which nothing holds or pulls it
    double point_near;   // per (distance / size)²: what draws a prop to its `near`
    double point_none;   // times σ: of a point on which nothing acts; it keeps the matrix regular
    double point_held;   // times σ: of a frame in which the point stays
    double point_faded;  // times σ: of a tie that fades, at least
    int firm;            // priority from which goals of full ease are asked for in full at the end
    double near;         // metres (radians / 2): a goal this near at the end is asked for in full, one three
                         // times as far not at all
    double near_tie;     // metres: the same of ties
    double dip;          // metres: a joint that is deeper below its floor is kept above it, with the force of
                         // what is just strict
    double tolerance;    // tolerance of the fits in the rounds
    int iterations;      // iterations of these fits, at most
    int exact_rounds;    // rounds of the exact fit, where means of several joints or the floor must be met
} tr_window_def;

tr_window_def tr_default_window_def( double fps );

// Frames of a window count from its first. What the caller gives stays the caller's and has to outlive the
// window.
typedef struct tr_window_body {
    const tr_fit *fit;
    const quat *start;        // [frame_count * joint_count] x̂: local rotations
    const vec3 *root;         // [frame_count]
    const bool *held;         // [frame_count] keeps x̂, and draws its neighbours to it; NULL: none does
    const tr_fit_goal *goals; // [frame_count * goal_limit], of each row the first …
    const int *goal_count;    // … [frame_count] of each frame count; NULL: none
    int goal_limit;
    const float *floor; // [frame_count * joint_count] no joint goes below this height; NULL: it may
    const int *carrier; // [joint_count] with a floor: the joint that is raised instead, a foot for its toes
    tr_clip clip;       // out: [frame_count]; nothing is written to frames that are held
    tr_world world;     // out: [frame_count] its joints; of frames that are held, in
} tr_window_body;

typedef struct tr_window_pull { // a place that a point is asked to be at
    const vec3 *place;          // [frame_count]
    const double *strength;     // [frame_count] 0 … 1
    int axes, priority;
} tr_window_pull;

typedef struct tr_window_point {
    vec3 *place;      // [frame_count] in: where it begins; out: where it ends
    const vec3 *way;  // [frame_count] p̂
    const vec3 *near; // [frame_count] a prop: where it is when nothing holds it; NULL: the ties alone say
    const bool *held; // [frame_count] stays where it is; NULL: it does not
    bool fixed;       // it stays where it is in all frames: a place in the world
    const tr_window_pull *pulls;
    int pull_count;
} tr_window_point;

typedef struct tr_window_tie {
    int body, point;
    int count; // number of joints whose weighted mean is held, plus an offset in the frame of the first
    const int *joints;
    const double *weights; // their sum is 1
    const vec3 *offset;    // [frame_count] NULL: none
    const vec3 *away; // [frame_count] where it is to be, from the point, in the world's axes; NULL: there
    const double *strength; // [frame_count] 0 … 1
    int axes, priority;
} tr_window_tie;

typedef struct tr_window_job {
    int frame_count;
    tr_window_body *bodies; // [body_count]
    int body_count;
    tr_window_point *points; // [point_count]
    int point_count;
    const tr_window_tie *ties; // [tie_count]
    int tie_count;
    // Called after every round: goals, ways, offsets and places of fixed points that depend on poses may be
    // written anew. NULL: none do.
    void ( *follow )( void *context );
    void *context;
} tr_window_job;

typedef struct tr_window tr_window;

// Lays out and allocates.
tr_window *tr_window_create( const tr_window_job *job, const tr_window_def *def, tr_error *error );
// Allocates nothing. Depends on nothing but its input. False as tr_fit_solve is; the answer is unusable then.
bool tr_window_solve( tr_window *window, tr_error *error );
long tr_window_steps( const tr_window *window ); // steps of Newton's method in the last solve
void tr_window_destroy( tr_window *window );     // NULL is fine

#endif
