// Shared by the files of this folder and by nobody else.
#ifndef TROUPE_SCENE_PRIVATE_H
#define TROUPE_SCENE_PRIVATE_H

#include "fit/fit.h"
#include "scene/scene.h"

// ------------------------------------------------------------------------------------------ statistics

typedef struct tr_spread {
    double max, p95, mean; // 0 when there are no values
    int count, worst;      // worst: index of the first maximum
} tr_spread;

// Sorts `values`. p95 by nearest rank: the smallest value that at least 95 % of all do not exceed.
tr_spread tr_spread_of( double *values, int count );

// --------------------------------------------------------------------------------------------- joint map

// Fills map, blends and chains of an actor whose source and target skeletons are there. Suggested is: the
// same index for a copied skeleton; else by name (without namespace, ignoring case; the roles must agree),
// else by role, side and rank; limbs with different numbers of joints as chains.
bool tr_joint_map_suggest( tr_actor *actor, tr_error *error );
// Lets a joint of the source ("" = none) drive one of the target. False: there is no such joint, *bad_source
// tells of which.
bool tr_joint_map_drive( tr_actor *actor, const char *joint, const char *source, bool *bad_source );
bool tr_joint_map_load( tr_actor *actor, const char *path, tr_error *error );

int tr_actor_target_joint( const tr_actor *actor, int source_joint ); // the one it drives alone; -1: none
bool tr_joint_blends( const tr_actor *actor, int joint );             // driven by two source joints
// The joint whose path the body follows: the pelvis, which in some files hangs below a root that lies on the
// floor.
int tr_actor_pelvis( const tr_actor *actor );
// Where the source has what drives a joint (joint 0 where nothing does), and the world rotation the target's
// joint is given by it, at a frame whose joints are in `source`.
vec3 tr_actor_source_place( const tr_actor *actor, int joint, const vec3 *source );
quat tr_actor_source_turn( const tr_actor *actor, int joint, const quat *source );

// ------------------------------------------------------------------------------------------------ stage

// Whether the body has every limb (or it is a group of them) that the target gives a factor; else tells which
// field names the one it has not: "target.limbs.wing".
bool tr_target_check_limbs( const tr_target *target, const tr_skeleton *body, char *field, size_t size,
                            tr_error *error );

// Fills align of an actor whose source, target and map are there; see posture.c. `source` and `target` are
// the clips of their files, in which a pose to go by may be found; target NULL: it is the source's skeleton.
// reference: a frame of `source`, -1: find one.
bool tr_actor_align( tr_actor *actor, const tr_clip *source, const tr_clip *target, int reference,
                     tr_error *error );

// Fills soles of an actor whose source, target and map are there, from their files; see soles.c. `ground` is
// the floor's height in the source's.
bool tr_actor_ground( tr_actor *actor, const tr_motion *source_file, const tr_motion *target_file,
                      double ground, tr_error *error );
tr_sole tr_actor_sole( const tr_actor *actor, int joint ); // of a target joint
tr_sole tr_actor_ankles( const tr_actor *actor );          // mean of those that are known

// Where the joints of an actor are when it copies the source's rotations; needs its group.
bool tr_copied_world( tr_world *out, const tr_stage *stage, int actor, tr_error *error );
// How long the legs of a body are as it stands: on two, along their bones; on more, in the rest pose.
double tr_standing_leg( const tr_skeleton *skeleton );
// Do source and target have different numbers of legs?
bool tr_actor_legs_differ( const tr_actor *actor );

typedef struct tr_sequence { // clips of one skeleton
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
bool tr_sequence_match( tr_motion *motion, const tr_skeleton *like, tr_error *error );

// Frames to either side over which roots are steadied when skeletons are fitted.
static inline int tr_steady_frames( double fps )
{
    return tr_frames_in( 0.1, fps );
}

// The steps of tr_stage_build after loading. Binding turns the document's constraints into rules; grouping
// needs those links; the automatic rules need the groups' scales.
bool tr_stage_bind( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error );
bool tr_stage_group( tr_stage *stage, tr_error *error );
bool tr_stage_automate( tr_stage *stage, tr_error *error ); // ends with tr_stage_stand
// A contact of weight 0: over its frames labels of the hand or foot are taken back.
bool tr_rule_is_lift( const tr_rule *rule );
bool tr_stage_lift( tr_stage *stage, const tr_rule *rule, tr_error *error );
// Fills `path` of rules that give a path its direction; see way.c.
bool tr_stage_lead( tr_stage *stage, tr_error *error );
// Fills the actors' footings and the rules' index of theirs; see footing.c.
bool tr_stage_stand( tr_stage *stage, tr_error *error );
bool tr_stage_place_footings( tr_stage *stage, tr_error *error ); // fills `place`, once all else is known
void tr_footings_free( tr_actor *actor );

// What is being bound, for messages: an element of a list of the document.
typedef struct tr_binder {
    tr_stage *stage;
    const char *file;
    const char *list; // "constraints"
    int index;
    tr_log *warnings;
    tr_error *error;
} tr_binder;

// Finds the bodies and joints a point names. The error tells the path of the element's field.
bool tr_point_bind( const tr_binder *binder, const char *field, const tr_point *point, tr_anchor *anchor );
// Detail of the cage around it: one around several bodies bends between them and has more vertices, as long
// as they fit into memory.
int tr_grab_detail( const tr_stage *stage, const tr_grab *grab );
// Binds the layers of kind cage that are active, and every handle: fills the stage's grabs and handles.
bool tr_stage_grab( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error );
void tr_stage_release( tr_stage *stage ); // frees them
// Adds to nodes [actor_count + prop_count] everybody whom rules that act at the frame join to one of them.
void tr_stage_reach( const tr_stage *stage, int frame, bool *nodes );

// Actors, then props, are the nodes of a stage. part[node] = number of the set it belongs to when those that
// rules link (and, with `close`, those that touch or come near each other) are taken together. Returns how
// many sets there are, -1 when out of memory.
int tr_stage_partition( const tr_stage *stage, bool close, int *part );
// Union–find: parent [count], each its own to begin with. The smallest of a set stands for it.
int tr_set_find( int *parent, int i );
void tr_set_join( int *parent, int a, int b );
// Rules that name each actor, as indices in the stage: those of actor i are rules[begin[i]] … rules[begin[i +
// 1] − 1]. False when out of memory; free both else.
bool tr_rules_by_actor( const tr_stage *stage, int **begin, int **rules );
int tr_anchor_node( const tr_stage *stage, const tr_anchor *anchor ); // -1: unused

// The frames of full strength of a rule; where none is on the stage, the frame nearest to them.
void tr_rule_frames( const tr_stage *stage, const tr_rule *rule, int *first, int *last );
// Does the rule say where this joint, or another of the same hand or foot, is to be?
bool tr_rule_holds( const tr_stage *stage, const tr_rule *rule, int actor, int joint );
// Does the rule keep its point where it touched something? Contacts do, and feet that stand through a seam.
bool tr_rule_stays( const tr_rule *rule );
// Of rules that contradict each other the one with the higher priority, below TR_FIT_PRIORITIES, stands.
// These are what kinds have of their own; documents may ask for another one.
enum {
    TR_PRIORITY_REST = 1,
    TR_PRIORITY_PLACE,
    TR_PRIORITY_LINK,   // distances and contacts with props, too
    TR_PRIORITY_STANCE, // feet and hands on ground and environment
};
int tr_rule_priority( const tr_rule *rule );
// A stance: a hand or foot stays on ground or environment. It is held as a whole: heel, sole and toes of one
// foot ask for the same thing (see footing.c), so one row on the joint that carries them serves them all, and
// toes cannot pull against each other.
bool tr_rule_is_stance( const tr_rule *rule );
int tr_stance_foot( const tr_stage *stage, const tr_rule *rule ); // that joint, -1: no stance
// Strength of a rule as the solvers see it: a stance's is that of its footing, which lasts through the swing.
double tr_rule_pull( const tr_stage *stage, const tr_rule *rule, int frame );
// Where the foot of a stance has to be for what touches to come to its place, if it keeps the rotation it has
// in `pose`. The same for all rules of a footing.
vec3 tr_stance_place( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame,
                      tr_pose pose );
// A new rule with neutral values at the end of the stage's list, NULL when out of memory.
tr_rule *tr_rule_append( tr_stage *stage );
// How much longer the part below a joint is on the target: bones to its children, or its own where it has
// none.
double tr_part_ratio( const tr_actor *actor, int joint );
bool tr_role_is_extremity( tr_role role ); // of hands and feet
// The joint that carries a hand or foot: the topmost extremity of its limb, or the joint itself.
int tr_extremity_carrier( const tr_skeleton *skeleton, int joint );
// Smooths values ≥ 0 over `span` frames to either side, so that none becomes less. Beyond the ends they are 0
// where it fades, else as at the ends. most: scratch, [count].
void tr_smooth_from_above( double *values, int count, int span, bool fades, double *most );
const tr_group *tr_anchor_group( const tr_stage *stage, const tr_anchor *anchor );
// The surface of a contact with ground or environment. Where the target has a place that the source touched,
// and how high the surface is there; an environment of another size takes what touches it along.
void tr_rule_set_obstacle( const tr_stage *stage, tr_rule *rule, int obstacle );
vec3 tr_rule_landing( const tr_stage *stage, const tr_rule *rule, vec3 source );
double tr_rule_floor( const tr_stage *stage, const tr_rule *rule );
// The place an actor's centre of mass, now at `mass`, is to be over: see balance.c.
vec3 tr_support_centre( const tr_stage *stage, const tr_result *result, int actor, int frame, vec3 mass );
// How far its feet are from where that supposes them, where a method lets them be elsewhere.
vec3 tr_support_misplaced( const tr_stage *stage, const tr_result *result, int actor, int frame );
// surfaces.c. How high the source's environment is below p, which touches it; where nothing is below, its
// top.
double tr_stage_source_top( const tr_stage *stage, int obstacle, vec3 p );
// The same of the target's below `to`, where a place on a surface of the source as high as `floor` has gone.
double tr_stage_target_top( const tr_stage *stage, int obstacle, double floor, vec3 to );
// The source's obstacle that something of that size touches from above, -1: none.
int tr_stage_obstacle_below( const tr_stage *stage, vec3 p, double size );
// What a foot that is said to stand on a floor of that height, with its lowest joint there on average, really
// stands on in the source: something lower where it is in the box that has that floor.
double tr_foot_source_floor( const tr_stage *stage, const tr_rule *on, double floor, vec3 lowest );
// How much higher than that floor a foot of the target stands with its middle there, on something it can step
// onto.
double tr_foot_climb( const tr_stage *stage, const tr_actor *actor, const tr_rule *on, double floor,
                      vec3 middle );
// The way of anything but a foot that would be inside something at `place` to its surface; zero: it is not.
vec3 tr_hand_onto( const tr_stage *stage, const tr_actor *actor, const tr_rule *rule, vec3 place );

// The parts of tr_point_print, for joints whose names are longer than a scene may hold.
void tr_point_print_term( tr_text *out, bool first, const char *joint, double weight );
void tr_point_print_offset( tr_text *out, vec3 offset );

// Fills worlds and reports of a result whose motions and tracks are there.
bool tr_result_finish( tr_result *result, const tr_stage *stage, tr_error *error );
bool tr_result_alloc( tr_result *result, const tr_stage *stage, tr_error *error );
// Motions, worlds, tracks and what edits did, without reports.
bool tr_result_copy( tr_result *out, const tr_stage *stage, const tr_result *in, tr_error *error );

// What edits did to a point that a foot touches, and to a body's heading.
vec3 tr_step_apply( tr_step step, vec3 place );
tr_step tr_step_after( tr_step first, tr_step then );
bool tr_step_is_none( tr_step step );
// Steps of an actor [joint_count * frame_count] and turns [frame_count], made when they are not there. NULL
// when out of memory.
tr_step *tr_result_steps( tr_result *result, const tr_stage *stage, int actor );
// Those of a joint lie together: few joints have any.
static inline size_t tr_step_cell( const tr_stage *stage, int joint, int frame )
{
    return (size_t)joint * (size_t)stage->frame_count + (size_t)frame;
}
double *tr_result_turns( tr_result *result, int actor );

// What edits did, as a member of report.json; read back only where the stage has edits.
void tr_edits_print( const tr_stage *stage, const tr_result *result, tr_text *out );
bool tr_edits_load( tr_result *result, const tr_stage *stage, const char *folder, tr_error *error );

// What interaction meshes did, as a member of report.json.
void tr_meshes_print( const tr_stage *stage, const tr_result *result, tr_text *out );
void tr_meshes_free( tr_result *result );
bool tr_meshes_copy( tr_result *out, const tr_result *in );
// Depths and lost touches of all windows, in the motion as the result's worlds have it.
bool tr_meshes_judge( const tr_stage *stage, tr_result *result, tr_error *error );

// The stage's grabs of layers begin … end − 1, one after the other, each on what the ones before it gave.
bool tr_layers_apply( const tr_stage *stage, tr_result *result, int begin, int end, tr_error *error );

quat tr_rule_rotation( const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                       int frame ); // orientation: the world rotation it wants
double tr_rule_length( const tr_stage *stage, const tr_rule *rule, int frame ); // length between a and b
bool tr_rule_links( const tr_rule *rule ); // offset or distance between two points, not a bone's length
// The part of a vector along the axes the rule acts on: a direction and a balance leave the height alone.
vec3 tr_rule_masked( const tr_rule *rule, vec3 v );
vec3 tr_actor_mass_centre( const tr_stage *stage, const tr_result *result, int actor, int frame );

// How far the source itself is from a contact or relative rule at a frame, in metres.
double tr_rule_source_error( const tr_stage *stage, const tr_rule *rule, int frame );

// ---------------------------------------------------------------------------------------------- methods

bool tr_solve_copy( const tr_stage *stage, tr_result *result, tr_error *error );
bool tr_solve_copy_ik( const tr_stage *stage, tr_result *result, tr_error *error );
bool tr_copy_pose( const tr_stage *stage, tr_result *result, tr_error *error );    // where graphs start
bool tr_solve_frames( const tr_stage *stage, tr_result *result, tr_error *error ); // posegraph, uncalmed
bool tr_solve_posegraph( const tr_stage *stage, tr_result *result, tr_error *error );
bool tr_solve_imesh( const tr_stage *stage, tr_result *result, tr_error *error );
// `solve`, then what constraints with `partners` ask for, one after the other; see imesh/held.c.
bool tr_solve_held( const tr_stage *stage, tr_result *result,
                    bool ( *solve )( const tr_stage *, tr_result *, tr_error * ), tr_error *error );

#endif
