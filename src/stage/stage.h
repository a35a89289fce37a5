// stage: the document made ready to be solved: motions, maps, rules, footings, groups.
#ifndef TROUPE_STAGE_H
#define TROUPE_STAGE_H

#include "document/document.h"
#include "exemplar/exemplar.h"
#include "fit/fit.h"

// ------------------------------------------------------------------------------------------- definition
// What is tuned in making a stage. Shares are of the lengths that are named.

typedef struct tr_footing_def { // feet, and hands that stand; see footing.c and stances.c
    double one_stance;          // seconds off the ground that do not end a stance
    double longest_ease; // seconds in which a foot goes from its copied path into a stance, or out of it
    double climb_time;   // seconds in which a foot rises onto a box, or comes down
    double slide_ease;   // seconds beside a stance over which its slide fades
    double slide_span;   // seconds to either side over which speeds of a foot's parts are averaged
    double still;        // m/s: below this all parts of a foot count as equally slow
    double most_drift;   // body heights: a slide is corrected by less
    double heel_slack;   // metres that a heel may be below the floor
    double sole_margin;  // metres above and below the floor over which a foot is raised smoothly
} tr_footing_def;

typedef struct tr_seam_def { // clips that follow one another; see sequence.c
    double blend;            // seconds on either side of a seam, unless the clip says how many frames
    double swing;            // seconds in which a foot gets back to its clip's path
    double step;             // leg lengths: feet that stood farther apart take a step
    double step_height;      // share of the length of that step
    double stretch;          // share of a leg's length that it reaches
    double most_sink;        // leg lengths: the pelvis sinks by less
    double same_bone;        // body heights: a joint of the same skeleton in another file is this near
    double pelvis_weight;    // soft rule on the pelvis' path: feet and the user's rules come first
} tr_seam_def;

typedef struct tr_rule_def {
    double touch;       // metres: points that stay this near in the source touch; their offset keeps its size
    double off_surface; // metres from a joint to what it touches; contacts that are farther off are warned of
    double contact_ease; // seconds in which an automatic contact fades
} tr_rule_def;

typedef struct tr_surface_def { // see surfaces.c
    double climb; // leg lengths, of the longer leg of source and target: the highest step a foot is put on
    double pressed_in; // metres: hands that lean on something may be in it by this much
    double top_below;  // metres from a point down to the top of what it touches, at most
} tr_surface_def;

typedef struct tr_posture_def { // rest poses of source and target; see posture.c and standing.c
    double most_turn;           // radians: a bone that turns by more says nothing about its twist
    double most_lean;           // radians from the vertical: legs and trunk of a body that stands lean less
    double least_spread;        // sine of the angle between two bones that span a plane
    double least_plane;         // the same of a foot and its shin
    double least_lateral; // horizontal part of the unit vector across the hips; with less, no side is known
    double steepest;      // sine of the slope of a foot, at most
    int source_frames, target_frames; // of either file, tried in place of rest poses that do not fit
} tr_posture_def;

typedef struct tr_lead_def { // how standing feet lead the root of a body that moves by examples; see lead.c
    double tether;           // seconds in which the root returns to the scaled path
    double smooth;           // seconds over which what leads it is smoothed
    double ramp;             // seconds at either end of a stance over which the foot gains its say
} tr_lead_def;

// Upper bounds of memory, measured. Per joint and frame of a character: rotations and places in the world (56
// bytes each) of source, target, result and copied pose, joints of the graphs, and what fits, layers and
// reports add. A mesh has a vertex for a joint and one for its surface, with contacts, a band of the matrix
// and all poses before and after each pass.
typedef struct tr_memory_def {
    double joint_bytes, mesh_bytes; // per joint and frame, without and with meshes
    double fixed_bytes;             // of matrices and the threads' scratch
    int joints; // of a body that is put together from clips, before these are read: one with fingers
} tr_memory_def;

typedef struct tr_stage_def {
    tr_contact_def contacts; // how contacts of the sources are labelled
    tr_footing_def footings;
    tr_seam_def seams;
    tr_ik_def ik; // limbs of feet that are moved at seams, and of the method copy-ik
    tr_rule_def rules;
    tr_surface_def surfaces;
    tr_posture_def postures;
    tr_exemplar_def exemplars;
    tr_lead_def lead;
    tr_memory_def memory;
    double close;        // share of the mean height of two bodies: roots nearer on the ground make a group
    double carried_path; // metres that a root's only child travels where it carries the body's path
    double steady;       // seconds to either side over which roots are averaged when skeletons are fitted
    int fine_detail;     // of a cage around several bodies, which bends between them; see tr_cage_def
    int fine_weights;    // of its points, at most: otherwise its detail is the default
} tr_stage_def;

tr_stage_def tr_default_stage_def( void );

// ------------------------------------------------------------------------------------------------ stage
// The document with its files loaded, resampled to the scene's rate, placed in the world and bound to each
// other. Frame 0 of the stage is the scene's first frame.

// Where a foot, or a hand that stands on something, belongs, over the whole clip: a joint of it at the
// source's place times `rise`, plus the shift. In its stances exactly, between them as far as strength says.
typedef struct tr_footing {
    int joint;        // of the target: the ankle or wrist that carries it
    double rise;      // size of the target's foot : the source's
    vec3 *shift;      // [frame_count]
    double *strength; // [frame_count] 0 … 1
    int *rule;        // [frame_count] of the stage: the contact that is nearest in time
    vec3 *place;      // [frame_count] where that contact belongs, by rise and shift
} tr_footing;

// A limb of the target driven by a limb of the source with another number of joints: first and last joint of
// either.
typedef struct tr_map_chain {
    int target[2], source[2];
} tr_map_chain;

typedef struct tr_map_blend { // of a target joint that lies between two source joints of a chain
    int next;                 // the second one
    double share;             // its share, 0 … 1; 0: the first alone
    quat align;               // as in tr_actor, for the second
} tr_map_blend;

// How high a joint of a foot is above the floor when it stands, on either body, in metres.
typedef struct tr_sole {
    bool known; // otherwise heights go by the size of the foot
    double source, target;
} tr_sole;

typedef struct tr_seam { // where a clip of a cast member begins
    int frame;           // of the stage: the last of the motion before it and its first. May lie outside
    int blend;           // frames on either side that were changed
} tr_seam;

// Of an actor that moves by examples. The motion that they make is the actor's source, on the target's own
// skeleton: contacts, graphs, fit, cages and meshes treat it as any other. Contacts are the performer's.
typedef struct tr_actor_examples {
    tr_motion performer; // the cast member's source: world, scene rate, [frame_count]
    tr_world world;      // its joints
    tr_body body;        // its body
    tr_exemplar *exemplar;
    int *pairs;  // [pair_count] examples of the scene
    int *frames; // [pair_count] stage frames that show their sources, -1: none does
    int pair_count;
    int *parts; // [part_count] parts of the scene
    int part_count;
    bool *made;     // [target.joint_count] by examples; else by the joint map
    double *soles;  // [target.joint_count] metres from the floor to the joints of feet that stand; else 0
    double *unlike; // [frame_count] 0 at examples … 1 like none
} tr_actor_examples;

typedef struct tr_actor { // one cast member, ready to solve
    tr_motion source;     // world, scene rate, [frame_count]
    tr_world world;       // its joints
    tr_body source_body;
    tr_skeleton target;
    tr_body body; // of the target
    int *map;     // [target.joint_count] source joint that drives it, or -1
    quat *align;  // [target.joint_count] world rotation of the target = that of its source joint · align
    bool turned;  // the map file says so
    tr_map_blend *blends; // [target.joint_count], NULL where no chain needs one
    tr_map_chain *chains; // [chain_count] as in the map file
    int chain_count, chain_capacity;
    tr_clip own;    // [frame_count] what joints that nothing drives do: the target file's motion; empty: rest
    tr_sole *soles; // [target.joint_count], NULL where the target's skeleton is the source's
    bool foreign;   // the target's skeleton is of another file: limbs may be of another shape
    int group;      // linked, directly or not, by constraints
    double leg_ratio, height_ratio; // target : source
    tr_contacts contacts;           // labelled on the source, stage frames
    tr_seam *seams;                 // [seam_count] in order of time
    int seam_count;
    tr_footing *footings; // [footing_count] hands and feet that stand on ground or environment
    double *lift; // [frame_count] how much higher it is carried than by copying heights above the ground,
                  // where it stands on boxes; NULL: nowhere
    int footing_count;
    tr_actor_examples *examples; // NULL: it does not move by examples
} tr_actor;

typedef struct tr_stage_prop {
    rigid *track;   // [frame_count] source, world
    tr_shape shape; // source
    double scale;   // target : source
    int group;
} tr_stage_prop;

typedef struct tr_group { // shares one path scale about one origin on the ground
    double path_scale;
    double rise;       // scale of heights above the ground; a path scale that is asked for leaves it alone
    double size_ratio; // mean height ratio of its actors: what offsets between them scale with
    vec3 origin;       // at the height of the ground
} tr_group;

// A point bound to the stage: actor ≥ 0 with its terms, or prop ≥ 0, or neither (unused).
typedef struct tr_anchor {
    int actor, prop;
    int joints[TR_POINT_TERMS]; // of the target skeleton
    double weights[TR_POINT_TERMS];
    int count;
    vec3 offset, source_offset; // on the target's body and on the source's: a palm moves out on a longer
                                // hand, what lies on a surface with the girth
    double cover; // metres that the girth added above the point and its offset does not have: on a bone all
} tr_anchor;

// A constraint as the solvers see it: those of the document and the automatic ones (contacts, soles,
// balance, seams).
typedef struct tr_rule {
    tr_id id; // of the document's constraint, or made up: auto_<cast>_<n>, auto_<cast>_seam<n>_<m>
    tr_constraint_kind kind;
    int constraint; // index in the document, -1 = automatic
    tr_anchor a, b;
    int first, last; // stage frames of full strength. Where only the ease reaches onto the stage, there are
                     // none: first > last
    double ease_in, ease_out;
    struct { // where layers move motion in time: it fades as it did before, by the moments of the frames
        const double *when; // [frame_count] borrowed, NULL: by the frames, as above
        double first, last, ease_in, ease_out;
    } before;
    bool hard;
    double weight;
    int priority; // as in tr_constraint
    bool axis[3];
    bool direction, partner_space, flat, partners;
    bool stands; // absolute: a foot that stands through a seam, its place that of a contact
    bool given;
    const vec3 *path; // [frame_count] absolute: where a is to be at each frame, borrowed; NULL: as above
    const vec3 *miss; // [frame_count] how far from it a counts as met, borrowed; NULL: not at all. Edits on a
                      // solved result leave alone what is fading in or out, or gave way
    const double *share; // [frame_count] of its strength that is left, borrowed; NULL: all
    vec3 target; // as in tr_constraint; contact: the place where it landed, in the world or in the prop's
                 // frame
    quat rotation;
    double length;
    bool touch; // relative: ≤ 5 cm in the source, kept unscaled but for what girth covers the two with
    int surface_prop;  // contact on a prop: its index, else -1
    int obstacle;      // contact with the environment: index of its piece, else -1
    int footing;       // contact with ground or environment: index in the actor's footings, else -1
    vec3 source_place; // other contacts: mean place in the source, in the same frame as target
    double floor;      // contact: height of the source's surface, 0 in a prop's frame
    vec3 above;        // contact with the environment: where in the source that is so high
    vec3 onto;         // contact: what brings it onto a surface that is where the source has none
} tr_rule;

// Frames in which a hand or foot stands: contacts of its parts that overlap in time, or are hardly apart.
typedef struct tr_stance {
    int first, last;      // stage frames
    int rule, rule_count; // the contacts that make it, in the list it was found in
    const tr_rule *on;    // of these the one with the highest floor: a foot partly on a step is on it
} tr_stance;

typedef struct tr_grab { // a layer of kind cage that acts, bound to the stage
    int layer;           // index in the document
    int first, last;     // its window, stage frames, cut to the stage; of a single frame with the next
    bool **joints;       // [actor_count] NULL: not grabbed, else [joint_count of the target]
    bool *props;         // [prop_count]
    int vertices;        // of each section of its cage
} tr_grab;

typedef struct tr_stage {
    tr_stage_def def;
    const tr_scene *scene;  // borrowed; where layers move motion in time, the stage's own on the new time
    struct tr_times *times; // that one, NULL where nothing is moved in time
    const tr_progress *progress; // borrowed; told how solving, measuring and saving go on, NULL: nobody asks
    int frame_count;
    double fps, ground;
    tr_actor *actors; // [actor_count], in the cast's order
    int actor_count;
    tr_stage_prop *props; // [prop_count]
    int prop_count;
    rigid *obstacles, *new_obstacles; // [scene->obstacle_count] of the source, and of the target
    tr_shape *obstacle_shapes;        // [scene->obstacle_count] of the source
    vec3 *corners;                    // of polylines, and
    tr_trimesh *meshes;               // [mesh_count] what shapes are made of
    int mesh_count;
    tr_group *groups;
    int group_count;
    tr_rule *rules;
    int rule_count, rule_capacity;
    vec3 *ways;     // what paths of rules with keys or a direction point into
    tr_grab *grabs; // [grab_count] in the order in which they act
    int grab_count;
    tr_anchor *handles; // [handle_count of the scene] the points they hold; unused where they hold none
    bool shared;        // all but grabs and handles is another stage's
} tr_stage;

// `file` is the scene's own path, for relative paths and messages; NULL when everything is in the library.
bool tr_stage_build( tr_stage *out, const tr_scene *scene, const char *file, tr_library *library,
                     tr_log *warnings, tr_error *error );
// The same with other numbers than the default ones.
bool tr_stage_build_with( tr_stage *out, const tr_stage_def *def, const tr_scene *scene, const char *file,
                          tr_library *library, tr_log *warnings, tr_error *error );
void tr_stage_free( tr_stage *stage );
// Binds layers, sections and handles anew, after ops that changed nothing but them: `scene` is the document
// as it is now, the stage's from now on. Quick: no file is read, nothing is labelled. On failure the stage
// has no layers.
bool tr_stage_regrab( tr_stage *stage, const tr_scene *scene, tr_log *warnings, tr_error *error );
// A stage of its own for such a document: all but its layers is that of `base`, which has to outlive it. Only
// where tr_stage_carries says so: nothing else differs, and nothing is moved in time.
bool tr_stage_carries( const tr_stage *base, const tr_scene *scene );
bool tr_stage_build_on( tr_stage *out, const tr_stage *base, const tr_scene *scene, tr_log *warnings,
                        tr_error *error );

// Frames to either side over which roots are averaged when skeletons are fitted.
static inline int tr_steady_frames( const tr_stage *stage )
{
    return tr_frames_in( stage->def.steady, stage->fps );
}

// The stage on the document's own time: before layers of kind retime move its sources. Itself where none do.
const tr_stage *tr_stage_own_time( const tr_stage *stage );

typedef struct tr_solid {
    rigid at; // the middle of the box around it
    tr_shape shape;
} tr_solid;

// A piece of the environment, as the source or as the target has it.
tr_solid tr_stage_obstacle( const tr_stage *stage, int obstacle, bool of_source );
// The shape of a prop, as the source or as the target has it.
tr_shape tr_stage_prop_shape( const tr_stage *stage, int prop, bool of_source );

// Members of a stage: actors, then props, then obstacles. Ids are the scene's; -1 when absent.
int tr_stage_member_count( const tr_stage *stage );
const char *tr_stage_member_id( const tr_stage *stage, int member );
int tr_stage_find_member( const tr_stage *stage, const char *id );
// Whether the scene lets two members (or one and itself) go through each other at a stage frame: nothing
// pushes them apart, and their overlap counts nowhere.
bool tr_stage_passes( const tr_stage *stage, int a, int b, int frame );

// The document's frame of what the stage shows of some members (tr_member_parse) at one of its frames:
// another one where active retimings move them. Those below layer `above` do not count: what a layer says of
// frames is on the time that those below it left. layer_count: as a layer yet to be made has it.
int tr_stage_document_frame( const tr_stage *stage, const tr_scene *document, const char *members, int above,
                             int frame );

// The joint map in force, as a map file that leads to the same one. turns: with `align`, which is looked for
// anew otherwise; a map that was read with turns keeps them in any case.
bool tr_joint_map_save( const tr_actor *actor, const char *path, bool turns, tr_error *error );
bool tr_joint_map_print( const tr_actor *actor, bool turns, tr_text *out, tr_error *error ); // as text
// Reads a map file for an actor whose source and target skeletons are there; `name` is for messages.
bool tr_joint_map_parse( tr_actor *actor, const char *text, size_t size, const char *name, tr_error *error );
void tr_joint_map_free( tr_actor *actor );

// An upper bound of what staging and solving take, in bytes: of so many frames and joints of all characters.
double tr_memory_needed( const tr_memory_def *def, double frames, double joints, bool meshes );
// False, with an error at the scene's range, when that is more than may be used (tr_memory_limit). `file` is
// the scene's own path or NULL.
bool tr_memory_suffices( const tr_stage *stage, const char *file, double joints, bool meshes,
                         tr_error *error );

// ---------------------------------------------------------------------------------------------------- bodies

// The joint of the target that a name means: its own, or the one that the source's joint of that name drives.
// What drives nothing is `beyond` the nearest above it that does, in the source's frame, as at rest.
bool tr_actor_find_joint( const tr_actor *actor, const char *name, int *joint, vec3 *beyond );
int tr_actor_target_joint( const tr_actor *actor, int source_joint ); // the one it drives alone; -1: none
// The joint whose path the body follows: the pelvis, which in some files hangs below a root that lies on the
// floor.
int tr_actor_pelvis( const tr_actor *actor );
// Where the source has what drives a joint (joint 0 where nothing does), and the world rotation the target's
// joint is given by it, at a frame whose joints are in `source`.
vec3 tr_actor_source_place( const tr_actor *actor, int joint, const vec3 *source );
quat tr_actor_source_turn( const tr_actor *actor, int joint, const quat *source );
// The motion of a target body that copies its source's joint rotations, with its root's path scaled.
bool tr_actor_copy( tr_motion *out, const tr_stage *stage, const tr_actor *actor, tr_error *error );
// How much longer the part below a joint is on the target: bones to its children, or its own where it has
// none.
double tr_part_ratio( const tr_actor *actor, int joint );

// ----------------------------------------------------------------------------------------------------- rules

vec3 tr_anchor_source( const tr_stage *stage, const tr_anchor *anchor, int frame );
quat tr_anchor_source_rotation( const tr_stage *stage, const tr_anchor *anchor,
                                int frame ); // as the target body would show it
const tr_group *tr_anchor_group( const tr_stage *stage, const tr_anchor *anchor );
// Place of a point of the source's world in the target's: scaled about the group's origin.
vec3 tr_group_place( const tr_group *group, vec3 source );
int tr_anchor_node( const tr_stage *stage, const tr_anchor *anchor ); // -1: unused

// Strength of a rule at a frame: 1 inside its range, fading over the ease, 0 outside.
double tr_rule_strength( const tr_rule *rule, int frame );
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
// Sorts the contacts of one hand or foot, rules [count], by first frame and joins them to stances [count], in
// order of time; returns how many there are. Contacts that do not overlap belong to one stance where the foot
// is off the ground for def.footings.one_stance at most. of_footing: and where no user asked for them and the
// floor stays the same, since a footing puts a stance on one floor. An edit moves both as one foot.
int tr_stances_find( const tr_stage *stage, tr_rule **rules, int count, bool of_footing, tr_stance *stances );
// Strength of a rule as the solvers see it: a stance's is that of its footing, which lasts through the swing.
double tr_rule_pull( const tr_stage *stage, const tr_rule *rule, int frame );
double tr_rule_length( const tr_stage *stage, const tr_rule *rule, int frame ); // length between a and b
bool tr_rule_links( const tr_rule *rule ); // offset or distance between two points, not a bone's length
// The part of a vector along the axes the rule acts on: a direction and a balance leave the height alone.
vec3 tr_rule_masked( const tr_rule *rule, vec3 v );
double tr_rule_floor( const tr_stage *stage, const tr_rule *rule ); // height of a contact's surface
// How far the source itself is from a contact or relative rule at a frame, in metres.
double tr_rule_source_error( const tr_stage *stage, const tr_rule *rule, int frame );
// A new rule with neutral values at the end of the stage's list, NULL when out of memory.
tr_rule *tr_rule_append( tr_stage *stage );

// -------------------------------------------------------------------------------------- who belongs together

// Rules that name each actor, as indices in the stage: those of actor i are rules[begin[i]] … rules[begin[i +
// 1] − 1]. False when out of memory; free both else.
bool tr_rules_by_actor( const tr_stage *stage, int **begin, int **rules );
// Actors, then props, are the nodes of a stage. part[node] = number of the set it belongs to when those that
// rules link (and, with `close`, those that touch or come near each other) are taken together. Returns how
// many sets there are, -1 when out of memory.
int tr_stage_partition( const tr_stage *stage, bool close, int *part );
// Adds to nodes [actor_count + prop_count] everybody whom rules that act at the frame join to one of them.
void tr_stage_reach( const tr_stage *stage, int frame, bool *nodes );
// Whether a rule joins one of these nodes [actor_count + prop_count] to one that is not among them.
bool tr_stage_joins( const tr_stage *stage, const bool *nodes );
// Detail of the cage around it: one around several bodies bends between them and has more vertices, as long
// as they fit into memory.
int tr_grab_detail( const tr_stage *stage, const tr_grab *grab );

#endif
