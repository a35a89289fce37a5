// fit: poses of a skeleton that meet goals. Small inverse kinematics of single limbs, and the skeleton fit of
// whole bodies. Knows no scene.
#ifndef TROUPE_FIT_H
#define TROUPE_FIT_H

#include "motion/motion.h"

// ----------------------------------------------------------------------------------- inverse kinematics

typedef struct tr_limb_chain { // shoulder or hip, elbow or knee, wrist or ankle
    int root, middle, end;
    bool two_bones; // otherwise the whole chain root … end bends
} tr_limb_chain;

typedef struct tr_ik_def { // of chains that are not two bones
    int iterations;        // at most
    double stretch;        // share of its length to which a chain aims: stretched out, it has no gradient
    double nudge;          // radians by which a straight chain is bent to get a gradient
} tr_ik_def;

tr_ik_def tr_default_ik_def( void );

// Analytic two-bone chain root–middle–end (three joints, each the parent of the next, zero-length joints
// between them allowed): turns root and middle so that `end` comes to `target`, keeping the elbow's plane;
// `pole` (a world direction the middle joint shall point to, zero = keep) steers it. Straight and too short
// chains stretch towards the target. Changes `local` (rotations of the whole skeleton at this frame),
// refreshes `pose`. Returns the distance left.
double tr_ik_two_bone( const tr_skeleton *skeleton, quat *local, tr_pose pose, const tr_limb_chain *chain,
                       vec3 target, vec3 pole );

// Chain of any length from `root` down to `end`: damped least squares on the joints' rotations, staying near
// the given pose. Returns the distance left.
double tr_ik_chain( const tr_skeleton *skeleton, quat *local, tr_pose pose, int root, int end, vec3 target,
                    const tr_ik_def *def );

// The chain that moves a joint of an arm or leg: from the first long bone of its limb down to the hand or
// foot (or the joint itself in a limb that has neither). False: there is none.
bool tr_limb_chain_find( const tr_skeleton *skeleton, int joint, tr_limb_chain *out );
// Brings the end of the chain to a place and gives it a world rotation, by one of the two above. Returns the
// distance left.
double tr_ik_limb( const tr_skeleton *skeleton, quat *local, tr_pose pose, const tr_limb_chain *chain,
                   vec3 target, quat rotation, const tr_ik_def *def );

// Turns joint so that its world rotation becomes `rotation`; refreshes the pose below it.
void tr_ik_orient( const tr_skeleton *skeleton, quat *local, tr_pose pose, int joint, quat rotation );

// Recomputes `pose` of joint and everything below it from `local`; positions above stay.
void tr_pose_refresh( const tr_skeleton *skeleton, const quat *local, tr_pose pose, int joint );

// ---------------------------------------------------------------------------------------- skeleton fit
// Poses a skeleton so that it meets goals: points of it at places, joints at world rotations. Bone lengths
// are exact, the answer being rotations and the root's place. Every frame stands alone: the answer depends on
// nothing but the frame's own input, and continuously so.
//
// Unknown are the turn δ_j of every joint against its centre, a rotation vector in the parent's frame (local
// rotation = exp(δ_j) · centre), and the shift of the root. The centre is the starting pose or, where joints
// have places and rotations to follow, the starting pose aimed at them bone by bone. Minimised is
//
//   E = ½ Σ_j ( |z_j|² + stop · over_j² + ⅔ taut · tight_j³ / slack ) + ½ root_stiffness |shift / size|²
//       + Σ_goals ρ( |c| ),   δ_j = S_j z_j,
//
// with S_j the joint's axes (tr_fit_joint_axes), over_j how far z_j.x is below or above the limits of a
// hinge, tight_j how far the hinge is both straighter than its centre and less bent than `slack`: a limb that
// comes to be straight and bends again turns its hinge as a square root does, at once, so the body gives a
// little before; and c what a goal is off by: for a position, the vector from place to point; for a rotation,
// the rotation vector from wanted to actual times the length `arm`; only the goal's axes count. A soft goal
// has ρ(c) = ½ weight c². A hard one has
//
//   ρ(c) = F ( √(ε² + c²) − ε ) + F ( √(size² + c²) − size ),
//   F = pull · priority_ratio^priority / size,  ε = softness:
//
// a spring so stiff that a goal within reach is met far below ε, whose pull yet never exceeds 2 F however far
// away the goal is. Of two goals that contradict each other the one with the higher priority is therefore met
// to 2 ε / priority_ratio, whatever the distance; the other shows its residual. Nothing explodes or flips: an
// arm straightens towards what it cannot reach. Equals share the difference.

typedef enum tr_fit_kind { TR_FIT_POSITION, TR_FIT_ROTATION } tr_fit_kind;

enum { TR_FIT_X = 1, TR_FIT_Y = 2, TR_FIT_Z = 4, TR_FIT_XYZ = 7 };
#define TR_FIT_PRIORITIES 6

typedef struct tr_fit_goal {
    tr_fit_kind kind;
    int joint;
    int axes; // world axes that count: TR_FIT_X | …; of a rotation goal, components of the rotation vector
    vec3 offset;   // position: point in the joint's frame
    vec3 place;    // position: where in the world the point shall be
    quat rotation; // rotation: the joint's wanted world rotation
    bool hard;
    int priority; // hard: 0 … TR_FIT_PRIORITIES - 1, the higher wins
    double ease; // 0 (not there) … 1 (full); a lone goal removes this share of what it would remove in full
    double weight; // soft, ≥ 0: per m² (rotation: of angle times `arm`), joints having 1 per rad²
    double force;  // hard: times F, above 0
} tr_fit_goal;

tr_fit_goal tr_fit_position( int joint, vec3 place );    // hard, priority 0, all axes, offset 0, ease 1
tr_fit_goal tr_fit_rotation( int joint, quat rotation ); // likewise

typedef struct tr_fit_step_def { // steps of Newton's method
    double longest; // radians: no joint turns by more in one step; what a quadratic model can promise
    double known;   // radians: length that the step before the first counts as, where a memory is known
    double shrink;  // share of a step that did not lower the energy, tried next
    double ending;  // share of the tolerance: a solve ends where steps may only be shorter
    double sharp;   // radians: after a shorter step, goals that do not come nearer have their true curvature
    double nearer;  // share of the square it was off by that a goal which comes nearer falls below
    double kept_bend;   // share of a hinge's way to straight that one step leaves
    double overstretch; // radians that one step may carry a hinge beyond straight
    double least_pivot,
        convex_pivot; // shares of a joint's stiffness: a smaller pivot is none; of a convex block
    double raise;     // share of a joint's stiffness by which a block that is not convex is raised at first
    int most_raises;  // each doubles the last
} tr_fit_step_def;

typedef struct tr_fit_def {
    // Per rad² of turn, INFINITY locks. The joint of a large lever must be stiff to leave work to the others.
    double stiffness[TR_ROLE_COUNT];
    double root_stiffness; // of the root's shift, per (shift / size)²
    double hinge;          // knees and elbows: times stiffer sideways than in the plane they bend in
    double stop;           // and beyond straight or folded
    double taut;           // and on the last stretch to straight, where that is straighter than the centre
    double slack;          // radians: that stretch
    double twist;          // long bones of limbs: times stiffer about themselves than across
    double pull;           // see F above
    double priority_ratio;
    double softness;  // metres
    double arm;       // in sizes: what an angle counts for in metres
    double tolerance; // stop when no joint turns by more than this (radians) and the root moves less (sizes)
    int max_iterations; // of Newton's method; with more than sixty points to place there are fewer
    double reference;   // weight of the reference rotation where several bones aim a joint: decides only what
                        // they leave open
    double straight;    // sine of the bend below which a limb's own plane is noise and the rest pose's counts
    double plane_onset; // share of straight², see b in kernel_aim.h: a limb with less of a plane is no hinge
    double least_toes;  // sine of the angle between shin and toes that show where a straight limb bends
    double folded;      // radians of bend of a folded hinge: calf on thigh
    double most_hint;   // radians by which a straight limb is bent before the first step
    double hint_slack;  // of the softness: a limb bent backwards is bent forwards where goals are this much
                        // nearer
    double bent_back; // radians: a hinge that ends bent backwards by more is solved again from the other side
    tr_fit_step_def steps;
    bool portable; // do without the processor's wide vectors: slower, the same bits
} tr_fit_def;

tr_fit_def tr_default_fit_def( void );
// For pictures while something is dragged: the same energy, but at most twenty steps of Newton's method, and
// none that turns every joint by less than a ninth of a degree. With a hand or foot of the built-in figures
// dragged by 5 or 10 mm at a time, 99 frames in 100 come within 1.3 mm and 0.3 degrees of the default's
// answer, limbs pulled taut now and then not. What is kept when the mouse is let go should be fitted by the
// default.
tr_fit_def tr_preview_fit_def( void );

typedef struct tr_fit {          // of one skeleton; constant once built, to be shared by any number of solves
    const tr_skeleton *skeleton; // borrowed
    tr_fit_def def;
    double size;               // half the longest way from the root along the bones; 1 when there is none
    int depth;                 // joints on the longest way from the root
    struct tr_fit_limb *limbs; // [joint_count]
} tr_fit;

// Needs the roles of tr_skeleton_classify. The skeleton must outlive the fit.
bool tr_fit_build( tr_fit *out, const tr_skeleton *skeleton, const tr_fit_def *def, tr_error *error );
void tr_fit_free( tr_fit *fit );

// How a joint turns near its centre, in its parent's frame: its compliance S Sᵀ is 1 / stiffness, less about
// the bone itself and, for knees and elbows, across the plane they bend in. That plane is the centre's; while
// the limb is nearly straight, more and more the one the skeleton's rest pose suggests.
typedef struct tr_fit_axes {
    mat3 factor; // S; the first column lies along the hinge
    bool hinged;
    double bend;  // of a hinge: angle between its bones, negative when bent backwards
    double least; // z.x at which the hinge is straight, or at the centre when that is bent backwards already
    double most;  // z.x at which the hinge is folded
} tr_fit_axes;

tr_fit_axes tr_fit_joint_axes( const tr_fit *fit, int joint, quat centre );

typedef struct tr_fit_scratch { // working memory, to be used again and again, by one caller at a time
    int joint_count, depth, goal_count, slot_count;
    size_t slot_bytes;
    char *slots;  // [slot_count * slot_bytes] one for each part of the frames solved at the same time
    void *memory; // that they lie in
} tr_fit_scratch;

// For every fit of at most as many joints and as deep as this one, and frames of at most max_goals goals.
bool tr_fit_scratch_build( tr_fit_scratch *out, const tr_fit *fit, int max_goals, int slots,
                           tr_error *error );
void tr_fit_scratch_free( tr_fit_scratch *scratch );

// What a fit came to, for the next one that asks for almost the same to begin with: turns against the
// starting pose, and the pulls that hold them, so that the first step is Newton's already.
typedef struct tr_fit_memory {
    bool known;   // else it is to be filled only
    vec3 shift;   // of the root
    float *turns; // [3 * joint_count] rotation vectors, in the parent's frame
    float *pulls; // [3 * joint_count] of goals that place something of the joint
} tr_fit_memory;

typedef struct tr_fit_frame {
    const quat *start; // [joint_count] local rotations to stay near
    vec3 root;         // and the root's place
    // Optional, NULL when absent: what a deformed body says about every joint. Bones are aimed along
    // `positions`, whose lengths need not be the skeleton's, and the root starts at positions[0]; `rotations`
    // (world) give the twist, else it is the starting pose's.
    const vec3 *positions;    // [joint_count]
    const quat *rotations;    // [joint_count]
    const tr_fit_goal *goals; // [goal_count]
    int goal_count;
    // Optional, NULL when absent: the pose to begin with, say the last answer while a goal is dragged. The
    // energy stays the same, and so does the answer of a fit that converges; it only comes sooner, where it
    // takes more than two steps. Where the goals can be met with a knee or an elbow bent either way, the bend
    // nearer to this pose is likelier.
    const quat *warm; // [joint_count]
    vec3 warm_root;
    // Optional: where something is known it begins with that, and a first step that is short enough is the
    // last. Then it is noted what it came to.
    tr_fit_memory *memory;
} tr_fit_frame;

typedef struct tr_fit_result {
    quat *local;       // out: [joint_count], given by the caller
    double *residuals; // out: [goal_count], given by the caller or NULL: metres, radians; axes that count
    vec3 root;
    double worst; // largest residual in metres of a hard goal of full ease
    int iterations;
    bool converged; // to the tolerance
} tr_fit_result;

// Frames in parallel, without allocating. False when a number of the input is not finite, a rotation not of
// unit length, or a goal names what does not exist; nothing is written then.
bool tr_fit_solve( const tr_fit *fit, tr_fit_scratch *scratch, const tr_fit_frame *frames,
                   tr_fit_result *results, int count, tr_error *error );

// --------------------------------------------------------------------------------------- fit over a window
// The fit of one body in all frames of a window at once. x_f is what a frame turns every joint by, against
// the proposed motion x̂, and moves the root by: rotation vectors in the parent's frame, in the metric of E
// above.
//
//   min Σ_f E_f( x_f ) + ½ λ Σ_f | x_{f−1} − 2 x_f + x_{f+1} |²,   λ = ( smooth · fps )⁴,
//   no joint faster than `speed` against x̂
//
// The split (ADMM, scaled): frames meet in z, and u is what they still pull with.
//
//   local   every frame alone, drawn to z − u with weight ρ: the fit above with the centre ρ/(1+ρ) ( z − u ),
//           all its forces divided by 1 + ρ
//   global  ( ρ + λ D₂ᵀ D₂ + D₁ᵀ μ D₁ ) z = ρ ( x + u ), one chain (solve.h) for all coordinates;
//           μ grows where a joint is too fast
//   dual    u += x − z
//
// Frames that alone would jump from one answer to another begin anew from x̂, together. Last, every frame is
// fitted exactly about its last centre: a goal that is nearly met is asked for in full, any other for what it
// has come to. What a goal is off by then is what gave way, to goals of higher priority or to time.
//
// The methods do not use it yet: links, props and mass centres have to be part of it first.

typedef struct tr_window_def {
    double fps;
    double smooth;      // seconds: how long a correction takes to come and to go
    double speed;       // radians per second, of a joint against x̂
    double speed_force; // times ρ: the most that μ pulls with
    double jump;        // radians per second: frames that disagree by more begin anew
    double draw;        // times λ: ρ of the first round
    double growth;      // of ρ, from round to round
    int rounds;
    double force[TR_FIT_PRIORITIES]; // times F, in the rounds: goals below 1 give way to time
    int firm;         // priority from which goals of full ease are asked for in full at the end
    double near;      // metres (radians / 2): a goal this near at the end is asked for in full,
                      // one three times as far not at all
    double tolerance; // of the fits in the rounds
    int iterations;   // of the same, at most
} tr_window_def;

tr_window_def tr_default_window_def( double fps );

typedef struct tr_window_motion { // what a window is solved for, and its answer. Frames count from the
                                  // window's first; everything belongs to the caller
    const quat *start;            // [frame_count * joint_count] x̂: local rotations
    const vec3 *root;             // [frame_count]
    const bool *held;             // [frame_count] keeps x̂, and draws its neighbours to it; NULL: none does
    const tr_fit_goal *goals;     // frame after frame
    const int *goal_begin;        // [frame_count + 1]
    quat *local;                  // out: [frame_count * joint_count]
    vec3 *local_root;             // out: [frame_count]
    double *residuals;            // out: [goal_begin[frame_count]] metres, radians; or NULL
} tr_window_motion;

typedef struct tr_window tr_window;

// Memory for windows of at most so many frames, and goals in a frame.
tr_window *tr_window_create( const tr_fit *fit, const tr_window_def *def, int frame_count, int goal_count,
                             tr_error *error );
// Allocates nothing. Depends on nothing but its input. False as tr_fit_solve is; the answer is unusable then.
bool tr_window_solve( tr_window *window, const tr_window_motion *motion, int frame_count, tr_error *error );
long tr_window_steps( const tr_window *window ); // of Newton's method, in the last solve
void tr_window_destroy( tr_window *window );     // NULL is fine

#endif
