// motion: skeletons, clips, forward kinematics, bodies, contact labels, small inverse kinematics.
// Metres, seconds, Y up. Nothing here knows about files, scenes or pictures.
#ifndef TROUPE_MOTION_H
#define TROUPE_MOTION_H

#include "base/base.h"
#include "geometry/geometry.h"
#include "math/math.h"

// ------------------------------------------------------------------------------------------- skeleton

typedef enum tr_side { TR_SIDE_NONE, TR_SIDE_LEFT, TR_SIDE_RIGHT } tr_side;

// What part of a body a joint is. Set by tr_skeleton_classify from names and, failing that, from structure.
typedef enum tr_role {
    TR_ROLE_OTHER,
    TR_ROLE_ROOT,  // the pelvis, or whatever carries the body
    TR_ROLE_SPINE, // back and chest
    TR_ROLE_NECK,
    TR_ROLE_HEAD,
    TR_ROLE_CLAVICLE, // shoulder girdle
    TR_ROLE_UPPER_ARM,
    TR_ROLE_FOREARM,
    TR_ROLE_HAND, // wrist; of a quadruped with paws see FOOT
    TR_ROLE_FINGER,
    TR_ROLE_THIGH, // first long bone of any leg
    TR_ROLE_SHIN,  // every further bone of a leg above the foot
    TR_ROLE_FOOT,  // ankle, hoof, paw: the joint that carries the sole
    TR_ROLE_TOE,   // everything below a foot; the last joint of a spider's leg
    TR_ROLE_TAIL,
    TR_ROLE_EAR,
    TR_ROLE_COUNT
} tr_role;

typedef enum tr_limb_kind {
    TR_LIMB_TORSO,
    TR_LIMB_HEAD, // neck, head, ears
    TR_LIMB_ARM,
    TR_LIMB_LEG,
    TR_LIMB_TAIL,
    TR_LIMB_OTHER
} tr_limb_kind;

// A limb is what a user scales, colours and grabs as one: every joint belongs to exactly one. Names are
// unique in a skeleton: "torso", "head", "left_arm", "right_leg", "tail", "left_leg_1" (spider and wolf:
// front to back), …
typedef struct tr_limb {
    char name[32];
    tr_limb_kind kind;
    tr_side side;
} tr_limb;

typedef struct tr_joint {
    char *name;
    int parent;    // -1 for the root, else smaller than the joint's own index
    vec3 offset;   // rest translation from the parent, in the parent's frame
    quat rest;     // rest rotation, local
    bool end_site; // tip of a chain: has no rotation of its own in files
    tr_role role;
    tr_side side;
    int limb; // index into limbs
} tr_joint;

typedef struct tr_skeleton {
    tr_joint *joints; // [joint_count], parents before children, joint 0 is the only root
    int joint_count, joint_capacity;
    tr_limb *limbs; // [limb_count], filled by tr_skeleton_classify
    int limb_count;
} tr_skeleton;

#define TR_MAX_JOINTS 20000
#define TR_MAX_FRAMES 1000000               // nine hours at 30 fps
#define TR_FAR_FRAME  ( 4 * TR_MAX_FRAMES ) // beyond every frame that a scene may name
#define TR_MAX_LIMBS  256 // what hangs on a stranger body beyond that is counted to its torso

static inline int tr_whole_frames( double frames ) // rounded up
{
    return tr_int_clamped( ceil( frames ), 0, TR_MAX_FRAMES );
}
static inline int tr_frames_in( double seconds, double fps ) // rounded up
{
    return tr_whole_frames( seconds * fps );
}
static inline int tr_nearest_frame( double moment )
{
    return tr_int_clamped( round( moment ), -TR_FAR_FRAME, TR_FAR_FRAME );
}

void tr_skeleton_free( tr_skeleton *skeleton ); // leaves a zeroed, reusable struct; so do all *_free below
bool tr_skeleton_copy( tr_skeleton *out, const tr_skeleton *in, tr_error *error );
// Appends a joint with rest rotation identity; returns its index or -1 when out of memory. `name` is copied.
int tr_skeleton_add( tr_skeleton *skeleton, const char *name, int parent, vec3 offset );
// Gives every joint a name of its own: the second Hand becomes Hand_2. Files may double names; points, maps
// and drives find joints by them.
bool tr_skeleton_name_apart( tr_skeleton *skeleton, tr_error *error );
// Guesses role, side and limb of every joint. Call after the last tr_skeleton_add, and again where offsets
// changed.
bool tr_skeleton_classify( tr_skeleton *skeleton, tr_error *error );
int tr_skeleton_find( const tr_skeleton *skeleton,
                      const char *name ); // exact; -1 when absent, first when doubled
int tr_skeleton_find_limb( const tr_skeleton *skeleton, const char *name ); // -1 when absent
// Joints with this role and side, in order; returns how many there are, writes at most `capacity`.
int tr_skeleton_find_role( const tr_skeleton *skeleton, tr_role role, tr_side side, int *joints,
                           int capacity );
double
tr_skeleton_height( const tr_skeleton *skeleton ); // bounding-box height of the joints in the rest pose
// Standing height of a body on two legs, judged by its rest pose within what its bones allow: rest poses lie
// down, raise their arms or are stretched along one axis. Height of the rest pose for any other body.
double tr_stature( const tr_skeleton *skeleton );
double tr_skeleton_leg_length(
    const tr_skeleton *skeleton ); // mean over legs, hip to foot along the bones; falls back
                                   // to the height of the root above the lowest joint
double tr_bone_length( const tr_skeleton *skeleton, int joint ); // ‖offset‖
// Is `above` the joint itself or one of its ancestors?
bool tr_joint_is_above( const tr_skeleton *skeleton, int above, int joint );
// Is it a root, on the floor in some files, that carries the pelvis about? Nothing of the body is there.
bool tr_joint_carries_pelvis( const tr_skeleton *skeleton, int joint );
// The one invariant checker: counts, parents, finite numbers, unit rotations, limb indices.
bool tr_skeleton_check( const tr_skeleton *skeleton, tr_error *error );

// Sizes of a body relative to another. A limb's entry multiplies `scale`. Names are limb names or the groups
// "arms", "legs", "left", "right", "all"; the most specific wins (name, then group, then all).
typedef struct tr_limb_value {
    char limb[32];
    double value;
} tr_limb_value;

typedef struct tr_body_scale {
    double scale;               // whole body
    const tr_limb_value *limbs; // [limb_count] length factors
    int limb_count;
    const tr_limb_value *girths; // [girth_count] thickness factors, for tr_body_build
    int girth_count;
} tr_body_scale;

tr_body_scale tr_default_body_scale( void ); // 1, nothing else
// Value of the most specific entry that applies to a limb, or 1.
double tr_limb_lookup( const tr_limb_value *values, int count, const tr_limb *limb );
// Copy with scaled offsets. A limb's first bone offset (hip to hip joint) belongs to the limb it hangs on.
bool tr_skeleton_scaled( tr_skeleton *out, const tr_skeleton *in, const tr_body_scale *scale,
                         tr_error *error );

// ------------------------------------------------------------------------------------------------ clip

typedef struct tr_clip {
    int joint_count, frame_count;
    double fps;
    quat *rotations;    // [frame_count * joint_count] local, frame-major
    vec3 *root;         // [frame_count] translation of joint 0; replaces its rest offset
    vec3 *translations; // [frame_count * joint_count] or NULL; replace the rest offsets (entry of joint 0
                        // unused)
} tr_clip;

typedef struct tr_motion { // a skeleton and a clip made for it
    tr_skeleton skeleton;
    tr_clip clip;
} tr_motion;

bool tr_clip_alloc( tr_clip *clip, int frame_count, int joint_count, double fps, bool translations,
                    tr_error *error );
void tr_clip_free( tr_clip *clip );
bool tr_clip_copy( tr_clip *out, const tr_clip *in, tr_error *error );
bool tr_clip_check( const tr_clip *clip, const tr_skeleton *skeleton,
                    tr_error *error ); // finite, unit, matching
void tr_motion_free( tr_motion *motion );
bool tr_motion_copy( tr_motion *out, const tr_motion *in, tr_error *error );
bool tr_motion_check( const tr_motion *motion, tr_error *error );

static inline quat *tr_clip_frame( const tr_clip *clip, int frame ) // [joint_count]
{
    return clip->rotations + (size_t)frame * clip->joint_count;
}

// Frames first … last of `in`, both included; first ≤ last within the clip.
bool tr_clip_slice( tr_clip *out, const tr_clip *in, int first, int last, tr_error *error );
// Same duration at another rate: slerp for rotations, Catmull–Rom for translations; frame 0 stays frame 0.
bool tr_clip_resample( tr_clip *out, const tr_clip *in, double fps, tr_error *error );
// Turn about the vertical and shift on the ground that bring b's first root as near to a's last as they can.
rigid tr_clip_meeting( const tr_clip *a, const tr_clip *b );
// a then b, as they stand: as below without the placing.
bool tr_clip_join( tr_clip *out, const tr_clip *a, const tr_clip *b, int blend, tr_error *error );
// a then b. b is turned about the vertical and moved on the ground so that its first root meets a's last one;
// the two share that frame, so there are a.frame_count + b.frame_count - 1. The seam's remaining difference
// in pose and velocity decays over `blend` frames on either side (minimum jerk); 0 leaves a hard cut.
bool tr_clip_concat( tr_clip *out, const tr_clip *a, const tr_clip *b, int blend, tr_error *error );
// Left becomes right, mirrored at the plane x = 0. Joints pair by mirrored name, those whose names tell no
// side by side and role; what has no partner mirrors itself. Twice is the motion one started from.
bool tr_motion_mirror( tr_motion *out, const tr_motion *in, tr_error *error );
// Moves a whole clip: world = placement · clip.
void tr_clip_place( tr_clip *clip, rigid placement );

// --------------------------------------------------------------------------------- forward kinematics

typedef struct tr_pose { // world transforms of every joint at one frame, borrowed or owned by the caller
    quat *rotations;     // [joint_count]
    vec3 *positions;     // [joint_count]
} tr_pose;

void tr_forward( const tr_skeleton *skeleton, const tr_clip *clip, int frame, tr_pose pose );
void tr_forward_rest( const tr_skeleton *skeleton, tr_pose pose ); // root at its rest offset

typedef struct tr_world { // all frames, world space; the product of batched forward kinematics
    int joint_count, frame_count;
    quat *rotations; // [frame_count * joint_count]
    vec3 *positions; // [frame_count * joint_count]
} tr_world;

// tr_forward of some frames [count], into a world of the whole clip; to the same bits, and faster.
void tr_forward_frames( const tr_skeleton *skeleton, const tr_clip *clip, const int *frames, int count,
                        tr_world *world );

bool tr_world_build( tr_world *out, const tr_motion *motion, tr_error *error ); // frames in parallel
// Those of many motions that are not there yet, in parallel. On failure those that were built stay.
bool tr_worlds_build( tr_world *worlds, const tr_motion *motions, int count, tr_error *error );
void tr_world_free( tr_world *world );
static inline tr_pose tr_world_pose( const tr_world *world, int frame )
{
    size_t at = (size_t)frame * world->joint_count;
    return ( tr_pose ){ world->rotations + at, world->positions + at };
}

// ------------------------------------------------------------------------------------------------ body
// A capsule per bone for pictures and collisions. The capsule of bone (parent → joint) moves with the parent.

typedef struct tr_capsule {
    int joint, parent; // the bone's two ends; joint = parent for a lone ball (head, single joint)
    vec3 a, b;         // end points of the axis in the parent's frame
    double radius;
    double girth; // what made it thicker than its bone alone says; radius / girth is that
} tr_capsule;

typedef struct tr_body {
    tr_capsule *capsules; // [capsule_count]
    int capsule_count;
    double *masses; // [joint_count] kilograms; the mass of a capsule is split between its two ends
    double total_mass;
} tr_body;

// `girths` as in tr_body_scale, may be NULL. Radii follow bone length and role; bones under 1 mm get no
// capsule.
bool tr_body_build( tr_body *out, const tr_skeleton *skeleton, const tr_limb_value *girths, int girth_count,
                    tr_error *error );
void tr_body_free( tr_body *body );
vec3 tr_body_centre_of_mass( const tr_body *body, const tr_skeleton *skeleton, tr_pose pose );
// Whether it means something when two capsules of one body overlap. Neighbours along the skeleton always do,
// and so may thick parts that rest against each other (an arm on the ribs, the two thighs) in the pose
// `rest`.
bool tr_body_may_collide( const tr_body *body, const tr_skeleton *skeleton, tr_pose rest, int a, int b );

// --------------------------------------------------------------------------------------------- contacts

typedef enum tr_surface_kind { TR_SURFACE_GROUND, TR_SURFACE_PROP, TR_SURFACE_ENVIRONMENT } tr_surface_kind;

// Something a joint can rest on. The ground is the plane y = height; the others are shapes, static or on a
// track.
typedef struct tr_surface {
    tr_surface_kind kind;
    int index;          // which prop or piece of the environment; 0 for the ground
    double height;      // ground only
    tr_shape shape;     // of the others
    const rigid *track; // [track_count] world transforms of the shape; track_count 1 means static
    int track_count;
} tr_surface;

typedef struct tr_contact { // joint rests on a surface during frames first … last, both included
    int joint;
    int first, last;
    tr_surface_kind surface;
    int surface_index;
} tr_contact;

// Speeds in m/s relative to the surface, heights above it in fractions of body height. The height at which a
// joint usually rests on a surface counts as its zero (ankles are high above their soles), if that is below
// `rest_height`; hands, which hover, get half of that. Feet rest on the ground and on top of boxes, hands
// also on their sides. Nothing depends on the frame rate: speeds are taken over a fixed span of time.
typedef struct tr_contact_def {
    double enter_speed, leave_speed; // hysteresis: enter below the first, leave above the second
    double enter_height, leave_height;
    double rest_height;
    double min_seconds;              // shorter contacts are dropped, shorter gaps are closed
    double lean_seconds, lean_drift; // hands on the environment: at least so long, moving no farther, in
                                     // fractions of body height, from where they began
    bool feet, hands;                // which roles: FOOT and TOE; HAND and FINGER tips
} tr_contact_def;

tr_contact_def tr_default_contact_def( void );

typedef struct tr_contacts {
    tr_contact *items; // sorted by joint, then first
    int count, capacity;
} tr_contacts;

typedef struct tr_contact_scene { // who may touch what
    const tr_skeleton *skeleton;
    const tr_world *world;
    double fps;
    const tr_surface *surfaces; // [surface_count]
    int surface_count;
} tr_contact_scene;

bool tr_contacts_label( tr_contacts *out, const tr_contact_scene *scene, const tr_contact_def *def,
                        tr_error *error );
void tr_contacts_free( tr_contacts *contacts );
// How high above the ground the lowest toes are on average while they rest on it, in metres, and how much
// lower they would be where toes usually are. Both 0 when that is less than 3.3 % of the body's height, or
// there are none.
double tr_contacts_hover( const tr_skeleton *skeleton, const tr_world *world, const tr_contacts *contacts,
                          double ground, double *lower );
// Heights above the ground at which joints of feet rest on it when the foot stands flat. `known` is false for
// other joints, and for those that never rest there. Both arrays [joint_count].
bool tr_contact_rests( const tr_skeleton *skeleton, const tr_world *world, double fps, double ground,
                       double *heights, bool *known, tr_error *error );

// ----------------------------------------------------------------------------------- inverse kinematics

typedef struct tr_limb_chain { // shoulder or hip, elbow or knee, wrist or ankle
    int root, middle, end;
    bool two_bones; // otherwise the whole chain root … end bends
} tr_limb_chain;

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
                    int iterations );

// The chain that moves a joint of an arm or leg: from the first long bone of its limb down to the hand or
// foot (or the joint itself in a limb that has neither). False: there is none.
bool tr_limb_chain_find( const tr_skeleton *skeleton, int joint, tr_limb_chain *out );
// Brings the end of the chain to a place and gives it a world rotation, by one of the two above. Returns the
// distance left.
double tr_ik_limb( const tr_skeleton *skeleton, quat *local, tr_pose pose, const tr_limb_chain *chain,
                   vec3 target, quat rotation );

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
} tr_fit_goal;

tr_fit_goal tr_fit_position( int joint, vec3 place );    // hard, priority 0, all axes, offset 0, ease 1
tr_fit_goal tr_fit_rotation( int joint, quat rotation ); // likewise

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
    bool portable;      // do without the processor's wide vectors: slower, the same bits
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

#endif
