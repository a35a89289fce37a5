// Private to stage: what its files share.
#ifndef TROUPE_STAGE_PRIVATE_H
#define TROUPE_STAGE_PRIVATE_H

#include "stage/stage.h"

// --------------------------------------------------------------------------------------------- joint map

// Suggests map, blends and chains of an actor with source and target skeletons: the same index for a copied
// skeleton; otherwise by name (without namespace, ignoring case; roles must agree), then by role, side and
// rank. Limbs with different numbers of joints become chains.
bool tr_joint_map_suggest( tr_actor *actor, tr_error *error );
// Lets a joint of the source ("" = none) drive one of the target. False: there is no such joint; *bad_source
// says whether it is the source's.
bool tr_joint_map_drive( tr_actor *actor, const char *joint, const char *source, bool *bad_source );
bool tr_joint_map_load( tr_actor *actor, const char *path, tr_error *error );

bool tr_joint_blends( const tr_actor *actor, int joint ); // driven by two source joints

// ------------------------------------------------------------------------------------------------ stage

#define TR_NO_SIZE                                                                                           \
    1e-6 // metres: a body or bone this small, joints at one place but for rounding, has no size

// Target : source of a size; `otherwise` where one of them has none.
static inline double tr_size_ratio( double target, double source, double otherwise )
{
    return source > TR_NO_SIZE && target > TR_NO_SIZE ? target / source : otherwise;
}

// Whether the body has every limb or group of limbs that the target scales. Otherwise `field` names one that
// is missing: "target.limbs.wing".
bool tr_target_check_limbs( const tr_target *target, const tr_skeleton *body, char *field, size_t size,
                            tr_error *error );

// Fills align of an actor whose source, target and map are there; see posture.c. `source` and `target` are
// the clips of their files, in which poses to compare may be found; target NULL: it is the source's skeleton.
// reference: a frame of `source`, -1: find one.
bool tr_actor_align( tr_actor *actor, const tr_posture_def *def, const tr_clip *source, const tr_clip *target,
                     int reference, tr_error *error );

// Fills soles of an actor whose source, target and map are there, from their files; see soles.c. `ground` is
// the floor's height in the source's.
bool tr_actor_ground( tr_actor *actor, const tr_contact_def *def, const tr_motion *source_file,
                      const tr_motion *target_file, double ground, double same_bone, tr_error *error );
tr_sole tr_actor_sole( const tr_actor *actor, int joint ); // of a target joint
tr_sole tr_actor_ankles( const tr_actor *actor );          // mean of those that are known

// Local rotations of a frame: of joints that a source joint drives that one's turn, of others their own.
// `made` [joint_count] joints keep what `local` has; NULL: none. world: [joint_count] scratch.
void tr_actor_copy_frame( const tr_actor *actor, int frame, const bool *made, quat *local, quat *world );

// lead.c. The path of a body's root that standing feet lead. feet [foot_count]: joints of the skeleton, and
// what the performer's contacts say of them.
typedef struct tr_lead_foot {
    int joint;
    int from;           // foot of the performer
    double sole;        // metres from the floor to the joint when it stands
    tr_contacts stands; // frames, of the skeleton's joint
} tr_lead_foot;

typedef struct tr_lead_job {
    const tr_lead_def *def;
    const tr_skeleton *skeleton;
    const tr_lead_foot *feet; // [foot_count]
    int foot_count;
    const vec3 *path; // [frame_count] of the performer's pelvis, in the world
    double ground;
    double rise;       // scale of heights above the ground
    double path_scale; // of the way it goes; 0: what its steps cover
} tr_lead_job;

// Fills clip->root; the clip's rotations are there.
bool tr_lead_root( const tr_lead_job *job, tr_clip *clip, tr_error *error );

// Where the joints of an actor are when it copies the source's rotations; needs its group.
bool tr_copied_world( tr_world *out, const tr_stage *stage, int actor, tr_error *error );
// How long the legs of a body are as it stands: on two, along their bones; on more, in the rest pose.
double tr_standing_leg( const tr_skeleton *skeleton );
// Do source and target have different numbers of legs?
bool tr_actor_legs_differ( const tr_actor *actor );

typedef struct tr_sequence { // clips of one skeleton
    const tr_stage_def *def;
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

// The steps of tr_stage_build after loading. Binding turns the document's constraints into rules; grouping
// needs those links; the automatic rules need the groups' scales.
bool tr_stage_bind( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error );
bool tr_stage_group( tr_stage *stage, tr_error *error );
bool tr_stage_automate( tr_stage *stage, tr_error *error ); // ends with tr_stage_stand
// A contact of weight 0 removes the labels of the hand or foot in its frames.
bool tr_rule_is_lift( const tr_rule *rule );
bool tr_stage_lift( tr_stage *stage, const tr_rule *rule, tr_error *error );
// Fills `path` of rules that give a path its direction; see paths.c.
bool tr_stage_lead( tr_stage *stage, tr_error *error );
// Fills the actors' footings and the rules' index of theirs; see footing.c.
bool tr_stage_stand( tr_stage *stage, tr_error *error );
bool tr_stage_place_footings( tr_stage *stage, tr_error *error ); // fills `place`, once all else is known
void tr_footings_free( tr_actor *actor );

// The element of the document that is being bound, for messages.
typedef struct tr_binder {
    tr_stage *stage;
    const char *file;
    const char *list; // "constraints"
    int index;
    tr_log *warnings;
    tr_error *error;
} tr_binder;

// Finds the bodies and joints a point names. An error has the path of the element's field.
bool tr_point_bind( const tr_binder *binder, const char *field, const tr_point *point, tr_anchor *anchor );
// Binds the layers of kind cage that are active, and every handle: fills the stage's grabs and handles.
bool tr_stage_grab( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error );
void tr_stage_release( tr_stage *stage ); // frees them

// surfaces.c. Height of the source's environment below p, which touches it; if nothing is below p, its top.
double tr_stage_source_top( const tr_stage *stage, int obstacle, vec3 p );
// The same of the target's below `to`, where a place on a surface of the source as high as `floor` has gone.
double tr_stage_target_top( const tr_stage *stage, int obstacle, double floor, vec3 to );
// The source's obstacle that something of that size touches from above, -1: none.
int tr_stage_obstacle_below( const tr_stage *stage, vec3 p, double size );
// Height of the surface under a foot in the source. `floor` is the labelled height, `lowest` the mean place
// of its lowest joint: a foot inside a box stands on something lower.
double tr_foot_source_floor( const tr_stage *stage, const tr_rule *on, double floor, vec3 lowest );
// How much higher than that floor a foot of the target stands with its middle there, on something it can step
// onto.
double tr_foot_climb( const tr_stage *stage, const tr_actor *actor, const tr_rule *on, double floor,
                      vec3 middle );
// The shift of a part other than a foot that brings it from inside an obstacle to its surface; zero if it is
// outside.
vec3 tr_hand_onto( const tr_stage *stage, const tr_actor *actor, const tr_rule *rule, vec3 place );

// The target's place for a place that the source touched, and the height of the surface there. An obstacle of
// another size moves the places on it.
void tr_rule_set_obstacle( const tr_stage *stage, tr_rule *rule, int obstacle );
vec3 tr_rule_landing( const tr_stage *stage, const tr_rule *rule, vec3 source );

#endif
