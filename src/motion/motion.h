// motion: skeletons, clips, forward kinematics, bodies, contact labels.
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
#define TR_MAX_LIMBS  256                   // more limbs of an odd body count as parts of its torso
#define TR_SHORT_BONE 1e-3 // metres: a shorter bone has no direction; files use them for markers and twists

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
// The place of every joint in a list that goes depth first, children in order, as BVH files do: right behind
// its parent and the whole subtrees of its elder siblings. Parents come first in `parents`. False: no memory.
bool tr_depth_first_places( const int *parents, int count, int *places );
// Gives every joint a name of its own: the second Hand becomes Hand_2. Files may double names; points, maps
// and drives find joints by them.
bool tr_skeleton_name_apart( tr_skeleton *skeleton, tr_error *error );
// How limbs are classified. Heights and lengths are shares of the height of the rest pose, unless noted.
typedef struct tr_classify_def {
    double named;     // share of the joints with known names: with fewer, the shape decides
    double direction; // horizontal length that shows where a body looks
    double side;      // a limb farther from the middle has a side
    // Arms are front legs where they reach down to arm_low, shoulders and hips differ by less than arm_level,
    // and they are longer than arm_long.
    double arm_low, arm_level, arm_long;
    double long_branch;       // share of the longest way down from the root: a branch that makes a trunk
    double pair;              // share of the length by which two arms differ at most
    double leg_low, leg_long; // legs reach down to here, and are longer than this
    double clavicle;          // share of the next bone: a first bone of an arm that is shorter is a clavicle
    double thigh;    // share of a leg: bones before the first one as long as this are parts of the hip
    double foot_low; // joints of a leg below this are of its foot
} tr_classify_def;

tr_classify_def tr_default_classify_def( void );
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
typedef struct tr_stature_def {   // shares of the length of legs and trunk along their bones
    double least_rest, most_rest; // a rest pose that is this high stands
    double of_bones; // stature where it does not: with the sole below the ankle and the skull above its joint
} tr_stature_def;

tr_stature_def tr_default_stature_def( void );
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
// Local rotations [joint_count] of a pose become those that a mirror at x = 0 shows, on the same skeleton:
// each joint takes its partner's turn from rest. For skeletons whose rest pose is alike on both sides.
bool tr_pose_mirror( const tr_skeleton *skeleton, quat *local, tr_error *error );
// Moves a whole clip: world = placement · clip.
void tr_clip_place( tr_clip *clip, rigid placement );

// ------------------------------------------------------------------------------------------ rig families
// What joints of human rigs are called; one table in families.c.

typedef enum tr_rig_slot {
    TR_RIG_HIPS,
    TR_RIG_SPINE_1,
    TR_RIG_SPINE_2,
    TR_RIG_SPINE_3,
    TR_RIG_SPINE_4,
    TR_RIG_SPINE_5,
    TR_RIG_NECK_1,
    TR_RIG_NECK_2,
    TR_RIG_HEAD,
    TR_RIG_JAW,
    TR_RIG_EYE, // from here on there is one on either side
    TR_RIG_CLAVICLE,
    TR_RIG_UPPER_ARM,
    TR_RIG_FOREARM,
    TR_RIG_HAND,
    TR_RIG_THIGH,
    TR_RIG_SHIN,
    TR_RIG_FOOT,
    TR_RIG_TOE,
    TR_RIG_FINGERS,                    // thumb, index, middle, ring, little: three bones each
    TR_RIG_PARTS = TR_RIG_FINGERS + 15 // as many there are
} tr_rig_slot;
#define TR_RIG_NONE ( -1 )

typedef struct tr_rig_part {
    int part; // tr_rig_slot; TR_RIG_NONE: a joint that families do not name
    tr_side side;
} tr_rig_part;

#define TR_FAMILY_NAME 64 // bytes of a joint's name at most

int tr_family_count( void );
const char *tr_family_name( int family ); // "mixamo", "ue5" …
int tr_family_find( const char *name );   // -1: there is none of this name
// The name that a family gives to a part; false: it has no such part.
bool tr_family_joint( int family, tr_rig_part human, char out[TR_FAMILY_NAME] );
// The family whose names a skeleton has, -1: none; and what its joints are, parts [joint_count]. Part of a
// body is enough.
bool tr_family_of( const tr_skeleton *skeleton, int *family, tr_rig_part *parts, tr_error *error );
// Renames the joints that a family has names for, by the skeleton's own family, else by roles. *renamed: how
// many.
bool tr_family_rename( tr_skeleton *skeleton, int family, int *renamed, tr_error *error );

// ------------------------------------------------------------------------------------ motion from points
// A skeleton and its motion from places of joints alone; see recover.c.

typedef struct tr_points {
    const char *const *names; // [joint_count]
    const int *parents;       // [joint_count] parents before children, joint 0 is the only root
    const vec3 *places;       // [frame_count * joint_count] metres, Y up, all finite
    int joint_count, frame_count;
    double fps;
} tr_points;

typedef struct tr_points_def {
    double straight;   // square of the sine of a bend from which on it decides how the limb is twisted
    double free_twist; // weight of the joint above where points leave a rotation open
    int shape_frames;  // at most so many frames make the mean shape of a joint's children
    int shape_rounds;  // turns of that mean
    int root_rounds;   // times that the root moves to where points are missed least
} tr_points_def;

typedef struct tr_points_fit { // how far joints are from their points, in metres
    double mean, most;
    int joint, frame; // where the largest one is
} tr_points_fit;

tr_points_def tr_default_points_def( void );
// `def` and `fit` may be NULL.
bool tr_motion_from_points( tr_motion *out, const tr_points *points, const tr_points_def *def,
                            tr_points_fit *fit, tr_error *error );
// From the feet to the head in a pose [joint_count]; zero where a body has no feet or no head by its roles.
vec3 tr_upwards( const tr_skeleton *skeleton, const vec3 *places );

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
// Those of many motions, in parallel. On failure those that were built stay.
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
    double girth; // factor by which it was thickened; radius / girth follows from the bone alone
} tr_capsule;

typedef struct tr_body {
    tr_capsule *capsules; // [capsule_count]
    int capsule_count;
    double *masses; // [joint_count] kilograms; the mass of a capsule is split between its two ends
    double total_mass;
} tr_body;

// How thick bodies are. Radii of bodies on two legs are shares of their stature; those of beasts (four legs)
// and crawlers (more) are shares of the length of the trunk, those of their legs shares of the leg.
typedef struct tr_body_def {
    double upright[TR_ROLE_COUNT]; // indexed by the role of a bone's upper joint; 0: one of the following
    double palm;                   // a bone from the hand to a finger that goes on
    double hip, shoulder;          // bones from the trunk to a leg, an arm
    double other_limb;             // limbs without a role
    double trunk[3];               // at hips, waist and chest
    double waist;                  // share of the way from pelvis to neck at which the waist is

    double beast[TR_ROLE_COUNT]; // as `upright`
    double beast_limb;           // limbs without a role
    double withers, tail_base;   // bones from the trunk to a shoulder blade, a tail
    double loin, chest;          // the trunk, from behind to the front
    double tail[3];              // a tail: least radius, what is added at its base, largest radius
    double leg[TR_ROLE_COUNT];   // shares of the leg; 0: as a thigh
    double further_shin;         // each further shin, against the one above it
    double beast_hip;            // bones from the trunk to a leg, against its thigh

    double crawler_leg;                   // legs, against those of beasts
    double crawler_neck, feeler, abdomen; // feelers: share of the leg; abdomen: share of its own length
    double crawler_trunk, least_spread; // share of the distance of legs from the trunk, and the least of that

    double other, other_length; // bodies of any other shape: share of the body, share of the bone at most
    double short_limb;          // share of the length of a limb from a bone down: no bone is thicker
    double neck_gap;            // radii by which the chest ends below the neck
    double skull, beast_skull;
    double skull_height; // skull radii from the joint of a head up to its middle, where nothing marks its top
    double skull_length; // radius : distance from the joint of the head to its top …
    double skull_range[2]; // … between these shares of `skull`
    double skull_low;      // share of that distance: the skull's middle is higher
    double lone;           // metres: radius of a body without size
    double density;        // kg/m³
    double mass_index;     // kg/m³: mass of an adult on two legs over the cube of the stature
    double masses[8]; // masses of trunk, head, upper arm, forearm, hand, thigh, shank, foot: shares of the
                      // whole, which sum to 1 over two arms and two legs
} tr_body_def;

tr_body_def tr_default_body_def( void );
// `girths` as in tr_body_scale, may be NULL. Bones under 1 mm get no capsule.
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
    int index;          // index of the prop or piece of the environment; 0 for the ground
    double height;      // ground only
    tr_shape shape;     // shape of the others
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
    double speed_span;               // seconds to either side over which a speed is taken
    double min_seconds;              // shorter contacts are dropped, shorter gaps are closed
    double lean_seconds, lean_drift; // hands on the environment: at least so long, moving no farther, in
                                     // fractions of body height, from where they began
    bool feet, hands;                // the roles FOOT and TOE; HAND and finger tips
    // For a foot that stands flat, see tr_contact_rests; in fractions of body height, taken as legs_of_height
    // legs whatever the rest pose is.
    double legs_of_height;
    double highest_ankle;
    double flat_band; // an ankle this much above its rest height is on a flat sole too
    double
        flat_share; // share of the frames in which the foot is slow and low: its ankle is lower than at rest
    // For toes that rest on the ground, see tr_contacts_hover; in fractions of body height.
    double usual_toe;   // how high the lowest toe joint usually is
    double highest_toe; // higher ones hover
} tr_contact_def;

tr_contact_def tr_default_contact_def( void );

typedef struct tr_contacts {
    tr_contact *items; // sorted by joint, then first
    int count, capacity;
} tr_contacts;

typedef struct tr_contact_scene { // what may touch what
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
// lower they would be where toes usually are. Both 0 when they do not hover, or there are none.
double tr_contacts_hover( const tr_skeleton *skeleton, const tr_world *world, const tr_contacts *contacts,
                          const tr_contact_def *def, double ground, double *lower );
// Heights above the ground at which joints of feet rest on it when the foot stands flat. `known` is false for
// other joints, and for those that never rest there. Both arrays [joint_count].
bool tr_contact_rests( const tr_skeleton *skeleton, const tr_world *world, double fps,
                       const tr_contact_def *def, double ground, double *heights, bool *known,
                       tr_error *error );

// ---------------------------------------------------------------------------------------------- ranges
// How far joints turn. A local rotation is centre · swing · twist. The twist is about the bone, the way from
// the joint to its children. The swing is across the bone: a rotation vector with a component about the axis
// that the joint bends about, and one aside.

typedef enum tr_range_axis { TR_RANGE_BEND, TR_RANGE_TWIST, TR_RANGE_SIDE, TR_RANGE_AXES } tr_range_axis;

typedef struct tr_joint_range {
    bool limited;             // false for roots, end sites and joints without a bone
    quat centre;              // local rotation whose angles are all 0
    vec3 axes[TR_RANGE_AXES]; // unit vectors in the joint's frame at its centre; TWIST is the bone
    double low[TR_RANGE_AXES], high[TR_RANGE_AXES]; // radians; ±π is no bound
} tr_joint_range;

typedef struct tr_anatomy { // range of a role, in radians about the centre
    double bend_low, bend_high, side, twist;
} tr_anatomy;

// A range is the anatomy's and what the source itself does with the joint, plus a margin: the source never
// leaves it. Centres are, of knees, elbows and wrists, the straight limb; of thighs, `hip_forward` in front
// of straight down; of upper arms, half-way between forwards and out; of others, the rest pose. Twists are
// about the source's mean. Anatomy counts for bodies on two legs.
typedef struct tr_range_def {
    tr_anatomy anatomy[TR_ROLE_COUNT]; // all 0: unknown
    double hip_forward;                // radians
    double spine;                      // radians that all spine joints of a body bend together at least
    double margin;                     // radians beyond the source's own minimum and maximum
    double own_factor, own_least;      // unknown: the source's range times this, at least ± so many radians
    double
        straight_back;  // radians: larger swings cannot be distinguished from those of the opposite direction
    double all_around;  // radians between extreme twists: a source that twists farther leaves the twist free
    double hardly_bent; // radians: a smaller mean bend shows no hinge
    double least_bend;  // sine of the angle between a bone and the axis it bends about
} tr_range_def;

tr_range_def tr_default_range_def( void );
// The way from each joint to its children, a unit vector in its frame; zero where there are none. Where they
// lie around the joint, to one of them. Fills bones [joint_count].
void tr_joint_bones( const tr_skeleton *skeleton, vec3 *bones );
// Fills ranges [joint_count]. `own` are local rotations of the source as this skeleton shows them,
// [frame_count * joint_count]. False when out of memory.
bool tr_ranges_build( tr_joint_range *ranges, const tr_skeleton *skeleton, const quat *own, int frame_count,
                      const tr_range_def *def );
void tr_range_angles( const tr_joint_range *range, quat local, double angles[TR_RANGE_AXES] ); // radians
// How far a local rotation is beyond its range, in radians about the worst axis; 0 inside.
double tr_range_overshoot( const tr_joint_range *range, quat local );

// ------------------------------------------------------------------------------------------------- limbs

bool tr_role_is_extremity( tr_role role );                           // true for hands and feet
bool tr_same_extremity( const tr_skeleton *skeleton, int a, int b ); // the same hand or foot, or joint
// The joint that carries a hand or foot: the topmost extremity of its limb, or the joint itself.
int tr_extremity_carrier( const tr_skeleton *skeleton, int joint );
// Shoulder or hip that a joint's limb hangs on; of joints of the trunk, the root.
int tr_limb_base( const tr_skeleton *skeleton, int joint );
// The distance between two joints along the bones.
double tr_limb_way( const tr_skeleton *skeleton, int a, int b );

// ------------------------------------------------------------------------------------------------ posing
// Poses made by hand: local rotations [joint_count] with the root's in the world.

vec3 tr_pose_place( const tr_skeleton *skeleton, const quat *local, vec3 root, int joint );
// Turns a joint by a rotation of the world.
void tr_pose_turn( const tr_skeleton *skeleton, quat *local, int joint, quat turn );

typedef struct tr_pull_def { // pulls a chain by turning its joints one after the other
    int passes;              // at most
    double near;             // metres from the goal: there
    double share; // share of the turn that would bring the end nearest, made by a joint in a pass: with
                  // less than 1 the whole chain bends, not its tip alone
} tr_pull_def;

tr_pull_def tr_default_pull_def( void );
// Turns the joints from `first`, which is above `last`, down to the parent of `last` so that `last` comes to
// `goal`, or as near as they reach.
void tr_pose_pull( const tr_pull_def *def, const tr_skeleton *skeleton, quat *local, vec3 root, int first,
                   int last, vec3 goal );
// The joint from which a pulled joint's chain turns: as far up as no other chain branches off, at least its
// parent; -1: the root is pulled.
int tr_pose_chain( const tr_skeleton *skeleton, int joint );

#endif
