// stage: the document ready to be solved: actors, props, rules, footings, groups.
#ifndef TROUPE_STAGE_H
#define TROUPE_STAGE_H

#include "actor/actor.h"
#include "document/document.h"
#include "exemplar/exemplar.h"

// ------------------------------------------------------------------------------------------- definition
// The tuned numbers of a stage.

typedef struct tr_footing_def { // feet, and hands that stand; see footing.c and stances.c
    double one_stance;          // seconds off the ground that do not end a stance
    double longest_ease; // seconds: limit of the time in which a foot leaves its copied path for a stance, or
                         // returns
    double climb_time;   // seconds in which a foot rises onto a box, or comes down
    double slide_ease;   // seconds beside a stance over which its slide fades
    double slide_span;   // seconds to either side over which speeds of a foot's parts are averaged
    double still;        // m/s: below this all parts of a foot count as equally slow
    double most_drift;   // body heights: a slide is corrected by less
    double heel_slack;   // metres that a heel may be below the floor
    double sole_margin;  // metres above and below the floor over which a foot is raised smoothly
    double same_bone;    // body heights: bones of one skeleton in another size differ by less
} tr_footing_def;

typedef struct tr_rule_def {
    double touch;       // metres: points that stay this near in the source touch; their offset keeps its size
    double off_surface; // metres from a joint to what it touches; contacts that are farther off are warned of
    double contact_ease; // seconds in which an automatic contact fades
    double flesh;        // metres that touching bodies may sink deeper into each other than in the source
    double weight_time;  // seconds in which a contact takes its weight, or gives it up; see balance.c
    double support_time; // seconds to either side over which the support of a body is averaged
    double least_step;   // metres between frames: shorter ways have no direction
    double arm;          // metres from the axis at which the errors of turns are lengths (chords)
    double kept;         // metres: a hard rule or a handle that is off by more gave way
} tr_rule_def;

typedef struct tr_surface_def { // see surfaces.c
    double climb; // leg lengths, of the longer leg of source and target: the highest step a foot is put on
    double pressed_in; // metres: hands that lean on something may be in it by this much
    double top_below;  // metres from a point down to the top of what it touches, at most
} tr_surface_def;

typedef struct tr_source_def { // warnings about sources; see sources.c
    double jump;               // radians that a joint turns by in a frame, at
    double least_fps;          // frames a second: at lower rates motion itself turns that far
    double leap;               // m/s of the root: no body runs faster, unless it is larger than a person:
    double own_leap;           // body heights a second
    double shift;              // body heights that a joint moves by against its parent
} tr_source_def;

// Upper bounds of memory, measured. Per joint and frame of a character: rotations and places in the world (56
// bytes each) of source, target, result and copied pose, joints of the graphs, and what fits, layers and
// reports add. A mesh has a vertex for a joint and one for its surface, with contacts, a band of the matrix
// and all poses before and after each pass. A constraint has rows, and goals in as many frames as are fitted
// together. A cage has points before and after, and what bodies did below it.
typedef enum tr_memory_use { // what a method keeps
    TR_MEMORY_FRAMES,        // poses; goals of a few frames at a time
    TR_MEMORY_MESHES,        // interaction meshes, too
    TR_MEMORY_WINDOW,        // goals and turns of all frames
    TR_MEMORY_USES
} tr_memory_use;

typedef struct tr_memory_def {
    double joint_bytes[TR_MEMORY_USES]; // per joint and frame
    double goal_bytes;                  // per constraint and frame, where all frames are fitted at once
    double rule_bytes;                  // per constraint of the document
    double cage_bytes;     // per joint and frame of the cage at work, without the weights of its points
    double triangle_bytes; // per triangle of a mesh, with its normals and its tree of boxes
    double fixed_bytes;    // bytes of matrices and of a thread's scratch
    int joints;            // joints assumed for a body made of clips before these are read: one with fingers
} tr_memory_def;

typedef struct tr_stage_def {
    tr_contact_def contacts; // how contacts of the sources are labelled
    tr_footing_def footings;
    tr_source_def sources;
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
    int fine_detail;     // detail of a cage around several bodies, which bends between them; see tr_cage_def
    int fine_weights;    // most weights of its points: with more it has the detail of other cages:
    int detail;
} tr_stage_def;

tr_stage_def tr_default_stage_def( void );

// ------------------------------------------------------------------------------------------------ stage
// The document with its files loaded, resampled to the scene's rate, placed in the world and bound to each
// other. Frame 0 of the stage is the scene's first frame.

// The target path of a foot, or of a hand that stands on something, over the whole clip: a joint of it at
// p · rise + shift, where p is its place in the source. The path counts in full in stances, and between them
// with `strength`.
typedef struct tr_footing {
    int joint;        // joint of the target: the ankle or wrist that carries it
    double rise;      // size of the target's foot / size of the source's
    vec3 *shift;      // [frame_count]
    double *strength; // [frame_count] 0 … 1
    int *rule;        // [frame_count] of the stage: the contact that is nearest in time
    vec3 *place;      // [frame_count] the target of that contact, from rise and shift
} tr_footing;

// Examples that an actor moves by. The motion that they make is the actor's source, on the target's own
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
    tr_exemplar_part *chains; // [part_count] the same as joints
    tr_pose *sources;         // [pair_count] poses of the source; sources[0] owns the memory of all
    quat *targets;            // [pair_count * target.joint_count] poses of the target
    bool *made;               // [target.joint_count] by examples; else by the joint map
    double *soles; // [target.joint_count * frame_count] by joint: metres from the floor to the joints of feet
                   // when they stand, turned as they are at each frame; else 0
    double *unlike; // [frame_count] 0 at examples … 1 like none
    tr_text map;    // from the performer to the target, as a map file with turns
    tr_clip own;    // as in tr_actor: of the target's file, where joints that nothing drives show it
} tr_actor_examples;

typedef struct tr_stage_prop {
    rigid *track;   // [frame_count] source, world
    tr_shape shape; // source
    double scale;   // target : source
    int group;
} tr_stage_prop;

typedef struct tr_group { // shares one path scale about one origin on the ground
    double path_scale;
    double rise;       // scale of heights above the ground; a path scale of the document does not change it
    double size_ratio; // mean height ratio of its actors: what offsets between them scale with
    vec3 origin;       // at the height of the ground
} tr_group;

// A point bound to the stage: actor ≥ 0 with its terms, or prop ≥ 0, or neither (unused).
typedef struct tr_anchor {
    int actor, prop;
    int joints[TR_POINT_TERMS]; // joints of the target skeleton
    double weights[TR_POINT_TERMS];
    int count;
    vec3 offset, source_offset; // in the frame of the first joint, of the target and of the source. Offsets
                                // scale with the length of the part, and on the skin with the girth
    double cover; // metres of added girth above the point that are not in its offset: all of it on a bone
} tr_anchor;

// A constraint as the solvers see it: those of the document and the automatic ones (contacts, soles,
// balance, seams).
typedef struct tr_rule {
    tr_id id; // id of the document's constraint, or made up: auto_<cast>_<n>, auto_<cast>_seam<n>_<m>
    tr_constraint_kind kind;
    int constraint; // index in the document, -1 = automatic
    tr_anchor a, b;
    int first, last; // stage frames of full strength; first > last if only the ease is on the stage
    double ease_in, ease_out;
    struct {                // retimed motion: the rule fades on the time before retiming
        const double *when; // [frame_count] moment of each frame, borrowed; NULL: not retimed
        double first, last, ease_in, ease_out;
    } before;
    bool hard;
    double weight;
    int priority; // as in tr_constraint
    bool axis[3];
    bool direction, partner_space, flat, partners;
    bool stands; // absolute: a foot that stands through a seam, its place that of a contact
    bool given;
    const vec3 *path;    // [frame_count] absolute: target of a at each frame, borrowed; NULL: as above
    const vec3 *miss;    // [frame_count] added to the target, borrowed; NULL: zero. Edits use it to keep the
                         // error that the result below has, where a rule fades or gave way
    const double *share; // [frame_count] factor of the strength, borrowed; NULL: 1
    vec3 target; // as in tr_constraint; contact: the place where it landed, in the world or in the prop's
                 // frame
    quat rotation;
    double length;
    bool touch; // relative: at most 5 cm in the source; the offset is not scaled, only added girth counts
    int surface_prop;  // contact on a prop: its index, else -1
    int obstacle;      // contact with the environment: index of its piece, else -1
    int footing;       // contact with ground or environment: index in the actor's footings, else -1
    vec3 source_place; // other contacts: mean place in the source, in the same frame as target
    double floor;      // contact: height of the source's surface, 0 in a prop's frame
    vec3 above; // contact with the environment: the place in the source where the surface has that height
    vec3 onto;  // contact: shift onto a surface that the source does not have
} tr_rule;

// Frames in which a hand or foot stands: contacts of its parts that overlap in time or nearly do.
typedef struct tr_stance {
    int first, last;      // stage frames
    int rule, rule_count; // the contacts that make it, in the list it was found in
    const tr_rule *on;    // the one of these with the highest floor: a foot partly on a step is on it
} tr_stance;

typedef struct tr_grab { // a layer of kind cage that acts, bound to the stage
    int layer;           // index in the document
    int first, last;     // its window in stage frames, cut to the stage; at least two frames
    bool **joints;       // [actor_count] NULL: not grabbed, else [joint_count of the target]
    bool *props;         // [prop_count]
    int vertices;        // vertices of each section of its cage
} tr_grab;

typedef struct tr_stage {
    tr_stage_def def;
    const tr_scene *scene;       // borrowed; with retimings: the stage's own document, on the new time
    struct tr_times *times;      // owns that document; NULL without retimings
    char *file;                  // the document's own path, NULL: none
    const tr_progress *progress; // borrowed; progress of solving, measuring and saving; may be NULL
    int frame_count;
    double fps, ground;
    tr_actor *actors; // [actor_count], in the cast's order
    int actor_count;
    tr_stage_prop *props; // [prop_count]
    int prop_count;
    rigid *obstacles, *new_obstacles; // [scene->obstacle_count] of the source, and of the target
    tr_shape *obstacle_shapes;        // [scene->obstacle_count] of the source
    vec3 *corners;                    // corners of polylines, and
    tr_trimesh *meshes;               // [mesh_count] what shapes are made of
    int mesh_count;
    tr_group *groups;
    int group_count;
    tr_rule *rules;
    int rule_count, rule_capacity;
    vec3 *ways;     // memory of the paths of rules with keys or a direction
    tr_grab *grabs; // [grab_count] in the order in which they act
    int grab_count;
    tr_anchor *handles; // [handle_count of the scene] the points they hold; unused for sections and vertices
    bool shared;        // everything except grabs and handles belongs to another stage
} tr_stage;

// `file` is the scene's own path, for relative paths and messages; NULL when everything is in the library.
bool tr_stage_build( tr_stage *out, const tr_scene *scene, const char *file, tr_library *library,
                     tr_log *warnings, tr_error *error );
// The same with a def.
bool tr_stage_build_with( tr_stage *out, const tr_stage_def *def, const tr_scene *scene, const char *file,
                          tr_library *library, tr_log *warnings, tr_error *error );
void tr_stage_free( tr_stage *stage );
// Binds layers, sections and handles again after ops that changed only these. `scene` is the changed document
// and becomes the stage's. Fast: reads no files and labels no contacts. On failure the stage has no layers.
bool tr_stage_regrab( tr_stage *stage, const tr_scene *scene, tr_log *warnings, tr_error *error );
// A new stage for such a document that shares everything except its layers with `base`, which must outlive
// it. Requires tr_stage_carries: only layers of kind cage differ, and there are no retimings.
bool tr_stage_carries( const tr_stage *base, const tr_scene *scene );
bool tr_stage_build_on( tr_stage *out, const tr_stage *base, const tr_scene *scene, tr_log *warnings,
                        tr_error *error );

// Frames to either side over which roots are averaged when skeletons are fitted.
static inline int tr_steady_frames( const tr_stage *stage )
{
    return tr_frames_in( stage->def.steady, stage->fps );
}

// The stage on the time before retiming; the stage itself if nothing is retimed.
const tr_stage *tr_stage_own_time( const tr_stage *stage );

typedef struct tr_solid {
    rigid at; // the middle of the box around it
    tr_shape shape;
} tr_solid;

// A piece of the environment, in its size for the source or for the target.
tr_solid tr_stage_obstacle( const tr_stage *stage, int obstacle, bool of_source );
// The shape of a prop, in its size for the source or for the target.
tr_shape tr_stage_prop_shape( const tr_stage *stage, int prop, bool of_source );

// Members of a stage: actors, then props, then obstacles. Ids are the scene's; -1 when absent.
int tr_stage_member_count( const tr_stage *stage );
const char *tr_stage_member_id( const tr_stage *stage, int member );
int tr_stage_find_member( const tr_stage *stage, const char *id );
// Whether the scene lets two members (or one and itself) pass through each other at a stage frame: then
// solvers and measures ignore their overlap.
bool tr_stage_passes( const tr_stage *stage, int a, int b, int frame );

// The document frame of some members (tr_member_parse) at a stage frame; they differ where retimings act.
// Only retimings from layer `above` on count, because a layer names frames on the time that the layers below
// it give. For a layer that is about to be added, `above` is layer_count.
int tr_stage_document_frame( const tr_stage *stage, const tr_scene *document, const char *members, int above,
                             int frame );

typedef struct tr_memory_load { // what the memory of a scene depends on
    double frames, joints;      // frames and joints of all characters together; a prop counts as a joint
    tr_memory_use use;
    double rules;         // rules of the document
    double triangles;     // triangles of props and obstacles
    double kept, at_work; // bytes: of all cages when they are done, and of the largest while it is solved
} tr_memory_load;

tr_memory_load tr_stage_load( const tr_stage *stage, tr_memory_use use ); // load of solving it
// Upper bound of the memory for staging and solving on one thread, in bytes.
double tr_memory_needed( const tr_memory_def *def, const tr_memory_load *load );
// False, with an error at the scene's range, when that is more than may be used (tr_memory_limit). `file` is
// the scene's own path or NULL.
bool tr_memory_suffices( const tr_stage *stage, const char *file, const tr_memory_load *load,
                         tr_error *error );

// The motion of a target body that copies its source's joint rotations, with its root's path scaled.
bool tr_actor_copy( tr_motion *out, const tr_stage *stage, const tr_actor *actor, tr_error *error );

// ----------------------------------------------------------------------------------------------------- rules

vec3 tr_anchor_source( const tr_stage *stage, const tr_anchor *anchor, int frame );
quat tr_anchor_source_rotation( const tr_stage *stage, const tr_anchor *anchor,
                                int frame ); // as the target body would show it
const tr_group *tr_anchor_group( const tr_stage *stage, const tr_anchor *anchor );
// Place of a point of the source's world in the target's: scaled about the group's origin.
vec3 tr_group_place( const tr_group *group, vec3 source );
int tr_anchor_node( const tr_stage *stage, const tr_anchor *anchor ); // -1: unused

// Strength of a rule at a frame (strength.c): 1 inside its range, fading over the ease, 0 outside. In a
// hand-over one rule fades out while the next fades in; the curve is tr_fade in math/math.h.
double tr_rule_strength( const tr_rule *rule, int frame );
// The frames of full strength of a rule; where none is on the stage, the frame nearest to them.
void tr_rule_frames( const tr_stage *stage, const tr_rule *rule, int *first, int *last );
// Does the rule ask for a place of this joint, or of another of the same hand or foot?
bool tr_rule_holds( const tr_stage *stage, const tr_rule *rule, int actor, int joint );
// Does the rule keep its point where it touched something? Contacts do, and feet that stand through a seam.
bool tr_rule_stays( const tr_rule *rule );
// If rules contradict each other, the higher priority wins. These are the defaults of the kinds of rules; a
// document may set others, below TR_FIT_PRIORITIES.
enum {
    TR_PRIORITY_REST = 1,
    TR_PRIORITY_PLACE,
    TR_PRIORITY_LINK,   // distances and contacts with props, too
    TR_PRIORITY_STANCE, // feet and hands on ground and environment
};
int tr_rule_priority( const tr_rule *rule );
// A stance keeps a hand or foot on ground or environment as a whole. Heel, sole and toes of a foot want the
// same (see footing.c), so one row on the joint that carries them replaces theirs.
bool tr_rule_is_stance( const tr_rule *rule );
int tr_stance_foot( const tr_stage *stage, const tr_rule *rule ); // joint of the foot, -1: no stance
// Sorts the contacts of one hand or foot, rules [count], by first frame and joins them to stances [count], in
// order of time. Returns the number of stances. Contacts that do not overlap belong to one stance if the foot
// is off the ground for at most def.footings.one_stance. With of_footing they must also be automatic and on
// the same floor, because a footing puts a stance on one floor.
int tr_stances_find( const tr_stage *stage, tr_rule **rules, int count, bool of_footing, tr_stance *stances );
// Strength of a rule for solvers. For a stance it is that of its footing, which continues through the swing.
double tr_rule_pull( const tr_stage *stage, const tr_rule *rule, int frame );
double tr_rule_length( const tr_stage *stage, const tr_rule *rule, int frame ); // length between a and b
bool tr_rule_links( const tr_rule *rule ); // offset or distance between two points, not a bone's length
// The part of a vector along the axes of the rule; directions and balance do not act on the height.
vec3 tr_rule_masked( const tr_rule *rule, vec3 v );
double tr_rule_floor( const tr_stage *stage, const tr_rule *rule ); // height of a contact's surface
// How far the source itself is from a contact or relative rule at a frame, in metres.
double tr_rule_source_error( const tr_stage *stage, const tr_rule *rule, int frame );
// A new rule with neutral values at the end of the stage's list, NULL when out of memory.
tr_rule *tr_rule_append( tr_stage *stage );

// --------------------------------------------------------------------------------------------- sets of nodes

// Rules that name each actor, as indices in the stage: those of actor i are rules[begin[i]] … rules[begin[i +
// 1] − 1]. False when out of memory; free both else.
bool tr_rules_by_actor( const tr_stage *stage, int **begin, int **rules );
// Divides the nodes of a stage (actors, then props) into sets that rules link and, with `close`, that touch
// or come near each other: part[node] is the set of a node. Returns the number of sets, -1 when out of
// memory.
int tr_stage_partition( const tr_stage *stage, bool close, int *part );
// Adds to nodes [actor_count + prop_count] all that rules join to them, directly or not, at the frame.
void tr_stage_reach( const tr_stage *stage, int frame, bool *nodes );
// Whether a rule joins one of these nodes [actor_count + prop_count] to one that is not among them.
bool tr_stage_joins( const tr_stage *stage, const bool *nodes );
// Detail of the cage of a grab. A cage around several bodies bends between them, so it has more vertices, as
// far as memory allows.
int tr_grab_detail( const tr_stage *stage, const tr_grab *grab );

// ---------------------------------------------------------------------------------------------- pairing

// Stage frames to make pairs of next for an actor, the most useful first. Returns how many of `count` were
// found, -1: out of memory.
int tr_stage_suggest( const tr_stage *stage, int actor, int *frames, int count, tr_error *error );
// The frame of the source's file that is shown at a frame of the stage, the nearest; -1: none is.
int tr_stage_file_frame( const tr_stage *stage, int actor, int frame );
// A pose of the target, local rotations [target.joint_count] with the root's in the world, as the text of an
// example at this frame: turns from `base`, a frame of the target's file. False: it does not fit, or two
// joints that turn have one name.
bool tr_stage_pose_text( const tr_stage *stage, int actor, int frame, const quat *base, const quat *local,
                         char out[TR_POSE_MAX], tr_error *error );
// Poses of the performer, or of the source where there is no performer yet: skeleton and world.
const tr_skeleton *tr_stage_performer( const tr_stage *stage, int actor, const tr_world **world );

#endif
