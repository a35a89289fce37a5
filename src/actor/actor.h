// actor: a member of the cast on its way from a source to a target body: the joint map between their
// skeletons, the turns between their rest poses, the floor under their feet; clips that follow one another,
// and roots that feet lead.
#ifndef TROUPE_ACTOR_H
#define TROUPE_ACTOR_H

#include "fit/fit.h"
#include "io/io.h"
#include "motion/motion.h"

// -------------------------------------------------------------------------------------------- definitions

typedef struct tr_seam_def { // clips that follow one another; see sequence.c
    double blend;            // seconds on either side of a seam, unless the clip gives a number of frames
    double swing;            // seconds in which a foot gets back to its clip's path
    double step;             // leg lengths: feet that stood farther apart take a step
    double step_height;      // share of the length of that step
    double stretch;          // share of a leg's length that it reaches
    double most_sink;        // leg lengths: the pelvis sinks by less
    double same_bone;        // body heights: a joint of the same skeleton in another file is this near
    double pelvis_weight;    // soft rule on the pelvis' path: feet and the user's rules come first
} tr_seam_def;

typedef struct tr_posture_def { // rest poses of source and target; see posture.c and standing.c
    double most_turn;           // radians: the twist of a bone that turns by more is unknown
    double most_lean;           // radians from the vertical: legs and trunk of a body that stands lean less
    double least_spread;        // sine of the angle between two bones that span a plane
    double least_plane;         // the same of a foot and its shin
    double least_lateral; // horizontal part of the unit vector across the hips; with less, no side is known
    double steepest;      // sine of the slope of a foot, at most
    int source_frames,
        target_frames; // frames of each file that are tried in place of rest poses that do not fit
} tr_posture_def;

typedef struct tr_lead_def { // how standing feet lead the root of a body that moves by examples; see lead.c
    double tether;           // seconds in which the root returns to the scaled path
    double smooth;           // seconds over which what leads it is smoothed
    double ramp;             // seconds at either end of a stance over which the foot's weight ramps
    double least_path;   // m², sum over frames and feet: a body that stays where it is has no path to scale
    double swing_weight; // weight of heights in frames without a stance: the curve continues
} tr_lead_def;

tr_seam_def tr_default_seam_def( void );
tr_posture_def tr_default_posture_def( void );
tr_lead_def tr_default_lead_def( void );

// -------------------------------------------------------------------------------------------------- actor

#define TR_NO_SIZE                                                                                           \
    1e-6 // metres: a body or bone this small, joints at one place but for rounding, has no size

// Target : source of a size; `otherwise` where one of them has none.
static inline double tr_size_ratio( double target, double source, double otherwise )
{
    return source > TR_NO_SIZE && target > TR_NO_SIZE ? target / source : otherwise;
}

// A limb of the target driven by a limb of the source with another number of joints: first and last joint of
// either.
typedef struct tr_map_chain {
    int target[2], source[2];
} tr_map_chain;

typedef struct tr_map_blend { // the share of a target joint that lies between two source joints of a chain
    int next;                 // the second one
    double share;             // its share, 0 … 1; 0: the first alone
    quat align;               // as in tr_actor, for the second
} tr_map_blend;

// Height of a joint of a foot above the floor while the foot stands, on both bodies, in metres.
typedef struct tr_sole {
    bool known; // otherwise heights go by the size of the foot
    double source, target;
} tr_sole;

typedef struct tr_seam { // where a clip of a cast member begins
    int frame; // stage frame between the last of the motion before and its own first. May lie outside
    int blend; // frames on either side that were changed
} tr_seam;

typedef struct tr_actor { // one cast member, ready to solve
    tr_motion source;     // world, scene rate, [frame_count]
    tr_world world;       // its joints
    double file_fps;      // frame rate of the source's file
    int file_frames;      // the same
    quat *file_pose;      // [target.joint_count] frame 0 of the target's file; NULL: it has none
    tr_body source_body;
    tr_skeleton target;
    tr_body body; // body volume of the target
    int *map;     // [target.joint_count] source joint that drives it, or -1
    quat *align;  // [target.joint_count] world rotation of the target = that of its source joint · align
    bool turned;  // given by the map file
    tr_map_blend *blends; // [target.joint_count], NULL where no chain needs one
    tr_map_chain *chains; // [chain_count] as in the map file
    int chain_count, chain_capacity;
    tr_clip
        own; // [frame_count] motion of joints that nothing drives, from the target's file; empty: rest pose
    tr_sole *soles; // [target.joint_count], NULL where the target's skeleton is the source's
    bool foreign;   // the target's skeleton is from another file: its limbs may have another shape
    int group;      // index in the stage's groups
    double leg_ratio, height_ratio; // target : source
    tr_contacts contacts;           // labelled on the source, stage frames
    tr_seam *seams;                 // [seam_count] in order of time
    int seam_count;
    struct tr_footing *footings; // [footing_count] hands and feet that stand on ground or environment
    double *lift; // [frame_count] metres added to the copied height where it stands on boxes; NULL: none
    int footing_count;
    struct tr_actor_examples *examples; // NULL: it does not move by examples
} tr_actor;

// Finds the target joint for a name: of the target, or of a source joint that drives a target joint. For a
// source joint that drives nothing it is the nearest one above that does; `beyond` is then the offset from
// there, in the source's frame at rest.
bool tr_actor_find_joint( const tr_actor *actor, const char *name, int *joint, vec3 *beyond );
int tr_actor_target_joint( const tr_actor *actor, int source_joint ); // the one it drives alone; -1: none
// The joint whose path the body follows: the pelvis, which in some files hangs below a root that lies on the
// floor.
int tr_actor_pelvis( const tr_actor *actor );
// Place of the source joint that drives a target joint (joint 0 if nothing does), and the world rotation that
// it gives to the target joint. `source` has the places or rotations of the source joints at one frame.
vec3 tr_actor_source_place( const tr_actor *actor, int joint, const vec3 *source );
quat tr_actor_source_turn( const tr_actor *actor, int joint, const quat *source );
// Length of the part below a joint, target / source: bones to its children, or its own bone if it has none.
double tr_part_ratio( const tr_actor *actor, int joint );
// Local rotations of a frame: of joints that a source joint drives that one's turn, of others their own.
// `made` [joint_count] joints keep what `local` has; NULL: none. world: [joint_count] scratch.
void tr_actor_copy_frame( const tr_actor *actor, int frame, const bool *made, quat *local, quat *world );

// How long the legs of a body are as it stands: on two, along their bones; on more, in the rest pose.
double tr_standing_leg( const tr_skeleton *skeleton );
// Do source and target have different numbers of legs?
bool tr_actor_legs_differ( const tr_actor *actor );

// ---------------------------------------------------------------------------------------------- joint map

// Suggests map, blends and chains of an actor with source and target skeletons: the same index for a copied
// skeleton; otherwise by the same part of a human body in both rigs' families, by name (without namespace,
// ignoring case; roles must agree), then by role, side and rank. Limbs with different numbers of joints
// become chains.
bool tr_joint_map_suggest( tr_actor *actor, tr_error *error );
// Lets a joint of the source ("" = none) drive one of the target. False: there is no such joint; *bad_source
// says whether it is the source's.
bool tr_joint_map_drive( tr_actor *actor, const char *joint, const char *source, bool *bad_source );
// Is that what the map says of this joint already?
bool tr_joint_map_says( const tr_actor *actor, const char *joint, const char *source );
bool tr_joint_map_load( tr_actor *actor, const char *path, tr_error *error );

bool tr_joint_blends( const tr_actor *actor, int joint ); // driven by two source joints
// Writes the joint map as a file that gives the same map. turns: includes `align`; without it `align` is
// found again when the file is read. A map that was read with turns keeps them.
bool tr_joint_map_save( const tr_actor *actor, const char *path, bool turns, tr_error *error );
bool tr_joint_map_print( const tr_actor *actor, bool turns, tr_text *out, tr_error *error ); // as text
// Reads a map file for an actor whose source and target skeletons are there; `name` is for messages.
bool tr_joint_map_parse( tr_actor *actor, const char *text, size_t size, const char *name, tr_error *error );
void tr_joint_map_free( tr_actor *actor );

// --------------------------------------------------------------------------------------------- rest poses

// Fills align of an actor whose source, target and map are there; see posture.c. `source` and `target` are
// the clips of their files, in which poses to compare may be found; target NULL: it is the source's skeleton.
// reference: a frame of `source`, -1: find one.
bool tr_actor_align( tr_actor *actor, const tr_posture_def *def, const tr_clip *source, const tr_clip *target,
                     int reference, tr_error *error );

// Fills soles of an actor whose source, target and map are there, from their files; see soles.c. `ground` is
// the floor's height in the source's.
bool tr_actor_ground( tr_actor *actor, const tr_contact_def *def, const tr_motion *source_file,
                      const tr_motion *target_file, double ground, double same_bone, tr_error *error );
tr_sole tr_actor_sole( const tr_actor *actor, int joint ); // `joint`: of the target
tr_sole tr_actor_ankles( const tr_actor *actor );          // mean of those that are known

// -------------------------------------------------------------------------------------------------- clips

typedef struct tr_sequence { // clips of one skeleton
    const tr_seam_def *def;
    const tr_contact_def *contacts; // how feet of the clips are labelled
    const tr_ik_def *ik;            // for the limbs that are moved
    double one_stance;              // seconds off the ground that do not end a stance
    const tr_skeleton *skeleton;
    tr_clip *clips;    // [count] changed on the way
    const int *blends; // [count] of the seam before each, in frames
    int count;
    const tr_surface *surfaces; // [surface_count] that feet rest on; they do not move
    int surface_count;
} tr_sequence;

// Joined end to end; see sequence.c. The first clip stays where it is, each other one shares its first frame
// with the last of the one before.
bool tr_sequence_join( tr_clip *out, const tr_sequence *sequence, tr_error *error );
// Brings the joints of a motion's clip into the order of a skeleton with the same joints; refuses any other.
bool tr_sequence_match( tr_motion *motion, const tr_skeleton *like, const tr_seam_def *def, tr_error *error );

// -------------------------------------------------------------------------------------------------- roots

// The path of a body's root that standing feet lead. feet [foot_count]: joints of the skeleton, and
// what the performer's contacts say of them.
typedef struct tr_lead_foot {
    int joint;
    int from;            // foot of the performer
    const double *soles; // [frame_count] metres from the floor to the joint when it stands, turned as it is
    tr_contacts stands;  // frames, of the skeleton's joint
} tr_lead_foot;

typedef struct tr_lead_job {
    const tr_lead_def *def;
    const tr_skeleton *skeleton;
    const tr_lead_foot *feet; // [foot_count]
    int foot_count;
    const vec3 *path; // [frame_count] of the performer's pelvis, in the world
    double ground;
    double rise;       // scale of heights above the ground
    double path_scale; // scale of its path; 0: what its steps cover
} tr_lead_job;

// Fills clip->root; the clip's rotations are there.
bool tr_lead_root( const tr_lead_job *job, tr_clip *clip, tr_error *error );

#endif
