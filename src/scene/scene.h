// scene: the document (what a user edits and saves), the stage (the document with its files loaded and lined
// up), the pipeline (stage → motion of the target bodies) and the measures (how good that motion is).
#ifndef TROUPE_SCENE_H
#define TROUPE_SCENE_H

#include "base/base.h"
#include "geometry/geometry.h"
#include "imesh/imesh.h"
#include "io/io.h"
#include "math/math.h"
#include "motion/motion.h"

#include <stdatomic.h>

// --------------------------------------------------------------------------------------------- document
// Plain data throughout: structs without pointers in growing arrays, so that copies, comparisons and undo are
// simple. docs/scene-format.md describes the same fields as JSON.

#define TR_ID_MAX        32 // [a-z0-9_]+ and the final NUL
#define TR_PATH_MAX      256
#define TR_MEMBERS_MAX   4096 // members of a layer, as text
#define TR_JOINT_MAX     96
#define TR_LIMB_VALUES   24
#define TR_POINT_TERMS   4
#define TR_ROWS_MAX      64 // corners of a polyline, keys of a trajectory
#define TR_SCENE_VERSION 1
#define TR_MAX_ELEMENTS  100000 // in each list of a scene

typedef char tr_id[TR_ID_MAX];

typedef struct tr_file_ref { // a motion file and how to read it; see tr_bvh_import
    char file[TR_PATH_MAX];  // relative to the scene file; "" = none
    double unit;             // metres per unit, 0 = guess
    char up;                 // 'y', 'z', 0 = guess
    int first, last;         // frames, last -1 = to the end
} tr_file_ref;

typedef struct tr_target { // the body the motion goes to
    double scale;
    tr_limb_value limbs[TR_LIMB_VALUES]; // length factors on top of scale
    int limb_count;
    tr_limb_value girths[TR_LIMB_VALUES]; // thickness factors
    int girth_count;
    tr_file_ref
        skeleton;      // take the rest pose of this file instead of the source's; scale and limbs apply to it
    double path_scale; // 0 = automatic
    bool animation;    // joints that nothing drives keep the motion of the skeleton's file, not its rest pose
    int reference;     // frame of the source's file in which it stands as the target does at rest; -1: found
} tr_target;

typedef struct tr_cast {
    tr_id id;
    tr_file_ref source;
    tr_target target;
    char mapping[TR_PATH_MAX];     // joint map file, "" = by name
    vec3 position;                 // placement of the clip's origin
    double heading;                // degrees about +Y
    int start;                     // scene frame at which the clip begins; its end poses are held outside
    float colour[3];               // 0 … 1
    bool contacts, soles, balance; // automatic constraints; balance is off by default
} tr_cast;

// A motion that a cast member goes on with: its clips follow its source in the order of the list, each turned
// and moved on the ground so that it continues where the one before ended.
typedef struct tr_cast_clip {
    tr_id id, cast;
    tr_file_ref source; // of the same skeleton as the cast member's source
    int blend;          // frames on either side of the seam before it that are changed; -1: 0.3 seconds
} tr_cast_clip;

// What a prop or a piece of the environment is made of, where that is no box and no sphere.
typedef struct tr_form {
    vec3 points[TR_ROWS_MAX]; // [point_count] polyline
    int point_count;
    double thickness;       // of a polyline, and of a mesh that is not closed
    char mesh[TR_PATH_MAX]; // OBJ file, relative to the scene file
    double unit;            // metres per unit of it
    char up;                // 'y', 'z'
} tr_form;

typedef struct tr_prop { // a rigid thing with a track of its own
    tr_id id;
    tr_shape_kind shape;
    vec3 size;         // box and sphere: full edge lengths in the source
    tr_form form;      // others; the middle of the box around it is what the track moves
    double scale;      // of the target's
    tr_file_ref track; // motion file with one joint at the middle; none = stands still at:
    vec3 position;
    double heading;
    int start;
    float colour[3];
} tr_prop;

typedef struct tr_obstacle { // a static piece of the environment
    tr_id id;
    tr_shape_kind shape;
    vec3 size; // box and sphere
    tr_form form;
    vec3 position; // of its centre; of the origin of the points of polylines and meshes
    double heading;
    double scale; // of the target's, about its position
    vec3 move;    // from the source's position to the target's
    float colour[3];
} tr_obstacle;

typedef enum tr_constraint_kind {
    TR_CONSTRAINT_ABSOLUTE,       // a at a place, along a path's direction
    TR_CONSTRAINT_CONTACT,        // a stays where it touched a surface
    TR_CONSTRAINT_ORIENTATION,    // a joint keeps a world rotation, the source's or a flat sole
    TR_CONSTRAINT_LENGTH,         // the bone above a joint, or the distance a–b, keeps a length
    TR_CONSTRAINT_CENTRE_OF_MASS, // over the support, or over a place
    TR_CONSTRAINT_RELATIVE,       // a keeps its offset to b
    TR_CONSTRAINT_KINDS
} tr_constraint_kind;

extern const char *const tr_constraint_kind_names[]; // as in JSON, NULL-terminated

// A point of a character: Σ weight · position of joint, plus an offset in the first joint's frame.
// A point of a prop: no terms, the offset is in the prop's frame (scaled with the prop).
typedef struct tr_point {
    tr_id who; // cast or prop id, "" = unused
    struct {
        char joint[TR_JOINT_MAX];
        double weight;
    } terms[TR_POINT_TERMS]; // weights sum to 1
    int term_count;
    vec3 offset;
} tr_point;

typedef struct tr_key { // where something is to be at a frame
    double frame;
    vec3 place;
} tr_key;

typedef struct tr_constraint {
    tr_id id;
    tr_constraint_kind kind;
    tr_point a, b;
    int first, last;          // frames of full strength, both included; may reach beyond the scene's range.
                              // The default, ±TR_MAX_FRAMES, is always
    double ease_in, ease_out; // frames outside the range over which it fades
    bool hard;
    double weight; // when soft
    int priority;  // of hard ones that contradict each other: 1 the last … 4 the first; 0: its kind's
    bool axis[3];  // which of x, y, z it acts on
    bool given;    // the target below is given; otherwise it is taken from the source
    vec3 target;   // position; offset of a from b; or, for a path's direction, a direction
    tr_key keys[TR_ROWS_MAX]; // [key_count] absolute: a trajectory instead of one target, in order of frames
    int key_count;
    quat rotation;      // orientation
    double length;      // length, metres
    bool direction;     // absolute: target is the direction of a's horizontal path
    bool partner_space; // relative: offset turns with b
    bool partners;      // absolute: whoever is close follows, as when the frame is held (tr_hold)
    bool flat;          // orientation: only the tilt against the ground counts
    tr_id surface;      // contact: "ground", prop or obstacle id
} tr_constraint;

// An edit on top of the motion below it. Layers act in the order of the list, each on what the ones before it
// gave; sections and handles say which layer they belong to.
typedef enum tr_layer_kind {
    TR_LAYER_CAGE,   // reshapes the motion of its members with a spatiotemporal cage
    TR_LAYER_RETIME, // moves it in time
    TR_LAYER_KINDS
} tr_layer_kind;

extern const char *const tr_layer_kind_names[]; // as in JSON, NULL-terminated

typedef struct tr_layer {
    tr_id id;
    tr_layer_kind kind;
    char members[TR_MEMBERS_MAX]; // what it grabs: see tr_member_parse
    int first, last;              // window, both included; the default, ±TR_MAX_FRAMES, is the whole scene
    double ease_in, ease_out;     // frames outside the window over which the edit fades
    double padding;               // cage: metres between the grabbed points and the cage
    double falloff;               // cage: frames beyond which a drag does not reach; 0 = as far as the window
    bool turn;                    // cage: bodies re-orient along an edited path
    bool firm;                    // cage: nobody is pulled at less for jolts that cannot be calmed
    bool ripple;                  // retime: what comes after the window keeps the last delay
    bool muted, solo;             // a muted layer does nothing; while any is solo, only those act
} tr_layer;

typedef struct tr_section { // a key section of a cage, or a key of a retiming
    tr_id id, layer;
    int frame;
    double delay; // retime: frames by which the moment comes later
} tr_section;

// What the user holds. Either a point of a member, or a vertex of the cage's section at that frame, or,
// without a point and a vertex, that section as a whole.
typedef struct tr_handle {
    tr_id id, layer;
    int frame;
    tr_point point; // unused: a vertex or a section
    int vertex;     // of the cage, -1: none
    vec3 move;      // metres from where the layer's input has it
    vec3 turn;      // whole sections: axis times degrees, about the section's middle
    bool pinned;    // false: it is let go. So a whole section at an end of the window, held by default, comes
                    // free
} tr_handle;

// One of the things a layer grabs: id [ "." part ], with * for any letters. The part is a limb, a group of
// limbs (arms, legs, left, right) or a joint; without one the whole body is meant. Several of them, with
// commas between, are the members of a layer: p03, p04.left_arm, box*.
typedef struct tr_member {
    char who[TR_ID_MAX];     // pattern
    char part[TR_JOINT_MAX]; // pattern, "" = everything
} tr_member;

// Reads one member at *text and moves on behind it and the comma that follows; *text is "" after the last.
bool tr_member_parse( tr_member *out, const char **text, tr_error *error );
bool tr_pattern_matches( const char *pattern, const char *text ); // * stands for any number of characters

// What the user says about two bodies that are, or are not, to be close: see imesh/links.c. What is found in
// the source is right most of the time, but it knows distances only, not what was meant.
typedef enum tr_pair_kind {
    TR_PAIR_LINK,    // they belong together in the range, however far apart they are
    TR_PAIR_EXCLUDE, // they do not, in the range
    TR_PAIR_LIMIT,   // they do not outside the range
    TR_PAIR_PASS,    // they may go through each other in the range: no collisions
    TR_PAIR_KINDS
} tr_pair_kind;

extern const char *const tr_pair_kind_names[]; // as in JSON, NULL-terminated

typedef struct tr_pair {
    tr_id id;
    tr_pair_kind kind;
    tr_id a, b;      // cast, prop or obstacle; b "" = whoever there is, but for a link
    int first, last; // both included; the default, ±TR_MAX_FRAMES, is always
} tr_pair;

// What drives a joint of a cast member's target, whatever its map says.
typedef struct tr_drive {
    tr_id id, cast;
    char joint[TR_JOINT_MAX];  // of the target
    char source[TR_JOINT_MAX]; // of the source, "" = nothing drives it
} tr_drive;

typedef struct tr_scene {
    double fps;
    int first, last; // frame range, both included
    double ground;   // height of the floor
    bool imesh;      // the default method keeps who is close to whom
    tr_cast *cast;
    int cast_count, cast_capacity;
    tr_prop *props;
    int prop_count, prop_capacity;
    tr_obstacle *obstacles;
    int obstacle_count, obstacle_capacity;
    tr_constraint *constraints;
    int constraint_count, constraint_capacity;
    tr_layer *layers;
    int layer_count, layer_capacity;
    tr_section *sections;
    int section_count, section_capacity;
    tr_handle *handles;
    int handle_count, handle_capacity;
    tr_cast_clip *clips;
    int clip_count, clip_capacity;
    tr_pair *pairs;
    int pair_count, pair_capacity;
    tr_drive *drives;
    int drive_count, drive_capacity;
} tr_scene;

tr_scene tr_default_scene( void ); // 30 fps, empty
tr_cast tr_default_cast( const char *id );
// The i-th of the colours casts are given, red, green, blue from 0 to 1; after the last comes the first
// again.
const float *tr_cast_hue( int i );
// The first of these that nobody of the cast wears, in whole 255ths; when all are worn the next in turn.
void tr_cast_free_colour( const tr_scene *scene, float out[3] );
tr_prop tr_default_prop( const char *id );
tr_obstacle tr_default_obstacle( const char *id );
tr_constraint tr_default_constraint( const char *id,
                                     tr_constraint_kind kind );  // hard, all axes, from the source
tr_layer tr_default_layer( const char *id, tr_layer_kind kind ); // of nobody, over the whole scene
tr_section tr_default_section( const char *id, const char *layer, int frame );
tr_handle tr_default_handle( const char *id, const char *layer, int frame ); // the whole section, pinned
tr_cast_clip tr_default_cast_clip( const char *id, const char *cast );
tr_pair tr_default_pair( const char *id, tr_pair_kind kind ); // always
tr_drive tr_default_drive( const char *id, const char *cast );
tr_point tr_point_joint( const char *who, const char *joint );
tr_point tr_point_prop( const char *who, vec3 offset );
// Points as text, in files, ops and reports alike: p03.LeftHand, box01@0,0.15,0,
// p03.'Left Hand'*0.5+RightHand*0.5.
bool tr_point_parse( tr_point *out, const char *text, tr_error *error );
void tr_point_print( const tr_point *point, tr_text *out );

bool tr_scene_copy( tr_scene *out, const tr_scene *in, tr_error *error );
void tr_scene_free( tr_scene *scene );
bool tr_scene_equal( const tr_scene *a, const tr_scene *b );
// Each appends a copy and returns its address (valid until the next append), NULL when out of memory.
tr_cast *tr_scene_add_cast( tr_scene *scene, const tr_cast *cast );
tr_prop *tr_scene_add_prop( tr_scene *scene, const tr_prop *prop );
tr_obstacle *tr_scene_add_obstacle( tr_scene *scene, const tr_obstacle *obstacle );
tr_constraint *tr_scene_add_constraint( tr_scene *scene, const tr_constraint *constraint );
tr_layer *tr_scene_add_layer( tr_scene *scene, const tr_layer *layer );
tr_section *tr_scene_add_section( tr_scene *scene, const tr_section *section );
tr_handle *tr_scene_add_handle( tr_scene *scene, const tr_handle *handle );
tr_cast_clip *tr_scene_add_clip( tr_scene *scene, const tr_cast_clip *clip );
tr_pair *tr_scene_add_pair( tr_scene *scene, const tr_pair *pair );
tr_drive *tr_scene_add_drive( tr_scene *scene, const tr_drive *drive );
int tr_scene_find_cast( const tr_scene *scene, const char *id ); // -1 when absent; so the next four
int tr_scene_find_prop( const tr_scene *scene, const char *id );
int tr_scene_find_obstacle( const tr_scene *scene, const char *id );
int tr_scene_find_constraint( const tr_scene *scene, const char *id );
int tr_scene_find_layer( const tr_scene *scene, const char *id );
bool tr_layer_is_active( const tr_scene *scene, int layer ); // neither muted nor outshone by a solo
// Everything that can be said without opening other files: ids, references, ranges, weights. Error carries a
// JSON path.
bool tr_scene_check( const tr_scene *scene, const char *file, tr_error *error );

bool tr_scene_load( tr_scene *out, const char *path, tr_error *error );
bool tr_scene_parse( tr_scene *out, const char *text, size_t size, const char *name, tr_error *error );
bool tr_scene_save( const tr_scene *scene, const char *path, tr_error *error );
bool tr_scene_print( const tr_scene *scene, tr_text *out, tr_error *error );
// Every field of the format, one JSON path a line, such as cast[].target.scale.
void tr_scene_print_paths( tr_text *out );

// -------------------------------------------------------------------------------------------------- ops
// Every change of a document is one op of scene_ops.inl, written as a line of text: `name key=value …`.
// Values with spaces stand in double quotes; an empty value puts a field back to its default. The same line
// is what a script holds, what the log records and what a bug report is.

typedef enum tr_op_type {
    TR_OP_ID,
    TR_OP_TEXT,
    TR_OP_NUMBER,
    TR_OP_INT,
    TR_OP_BOOL,
    TR_OP_PAIR, // two numbers: 0,120
    TR_OP_VEC3, // 0.1,0,-2
    TR_OP_QUAT  // x,y,z,w
} tr_op_type;

typedef struct tr_op_param {
    const char *key;
    tr_op_type type;
    bool required;
    const char *field; // JSON path of the field it sets within the element; NULL when the op itself uses it
    const char *help;
} tr_op_param;

typedef struct tr_op_info {
    const char *name, *help;
    const tr_op_param *params;
    int param_count;
} tr_op_info;

const tr_op_info *tr_op_table( int *count );

typedef struct tr_document tr_document; // a scene with its history

tr_document *tr_document_create( const tr_scene *initial, tr_error *error );
void tr_document_destroy( tr_document *document );
const tr_scene *tr_document_scene( const tr_document *document );
// All or nothing: on failure the scene is as before and error->column tells where in the line. A new op
// forgets what could have been redone.
bool tr_document_apply( tr_document *document, const char *line, tr_error *error );
bool tr_document_undo( tr_document *document ); // false when there is nothing to undo
bool tr_document_redo( tr_document *document );
// Makes the last `count` ops one step for undo and redo: what one drag did to several things.
void tr_document_join( tr_document *document, int count );
// Memory for undo, 64 MB unless set; beyond it the oldest steps cannot be undone any more. The log stays
// whole.
void tr_document_limit_history( tr_document *document, size_t bytes );
int tr_document_log_count( const tr_document *document ); // ops done and not undone
const char *tr_document_log( const tr_document *document, int index );
int tr_document_redo_count( const tr_document *document ); // ops that redo would do again, the next one first
const char *tr_document_undone( const tr_document *document, int index );
// Is this op (those done, then those undone, are counted through) of one step with the op before it?
bool tr_document_is_joined( const tr_document *document, int index );
// Applies every line of a script; blank lines and # comments are skipped. Stops at the first line that fails,
// with its number and column in the error; the lines before it stay applied.
bool tr_document_run( tr_document *document, const char *text, size_t size, const char *name,
                      tr_error *error );

// Which line of such a script is behind the trouble at a JSON path (constraints[3].a) found later, when files
// are open: the last that set the field, else the one that made the element. False: none, or the step is too
// old to be undone.
bool tr_document_locate( const tr_document *document, const char *path, int *line, int *column );

// ------------------------------------------------------------------------------------------------ stage
// The document with its files loaded, resampled to the scene's rate, placed in the world and bound to each
// other. Frame 0 of the stage is the scene's first frame.

// Motions by the path the scene uses for them. Built-in scenes put their clips here; files are read when
// missing.
typedef struct tr_library {
    struct tr_library_item {
        char path[TR_PATH_MAX];
        tr_motion motion; // metres, Y up, own rate
        bool from_file;   // read from disk with these options; made in memory otherwise, and good for any
        double unit;
        char up;
    } * items;
    int count, capacity;
    int *slots; // [slot_count] hash table of the items by path, each + 1; 0: free
    int slot_count;
    struct tr_library_mesh {
        char path[TR_PATH_MAX];
        tr_obj_import import; // how it was read
        tr_trimesh mesh;
    } * meshes;
    int mesh_count, mesh_capacity;
} tr_library;

// Each takes `motion` over, also on failure (which then frees it). A file may be there once for every way of
// reading it.
bool tr_library_add( tr_library *library, const char *path, tr_motion *motion, tr_error *error );
bool tr_library_add_file( tr_library *library, const tr_file_ref *ref, tr_motion *motion, tr_error *error );
const tr_motion *tr_library_find_file( const tr_library *library, const tr_file_ref *ref );
const tr_motion *tr_library_find( const tr_library *library,
                                  const char *path ); // NULL when absent; valid until the next add
// A mesh by the path the scene uses for it: read from `file` when it is missing. Valid until the next one;
// NULL on failure.
const tr_trimesh *tr_library_mesh( tr_library *library, const tr_form *form, const char *file,
                                   tr_error *error );
void tr_library_free( tr_library *library );
// Saves a scene whose references are seen from `base` (NULL: all are in the library) so that it can be opened
// at `path`: motions that exist in memory alone go into the folder <path without .json>_motion, and so do
// copies of files that are named by their whole path, as what was dropped on the editor is. Other references
// lead to the same files as before.
bool tr_scene_save_beside( const tr_scene *scene, const tr_library *library, const char *base,
                           const char *path, tr_error *error );

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

typedef struct tr_grab { // a layer of kind cage that acts, bound to the stage
    int layer;           // index in the document
    int first, last;     // its window, stage frames, cut to the stage; of a single frame with the next
    bool **joints;       // [actor_count] NULL: not grabbed, else [joint_count of the target]
    bool *props;         // [prop_count]
    int vertices;        // of each section of its cage
} tr_grab;

typedef struct tr_stage {
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
// Which members are close to each other, and when (stage frames): found in the source, then what the scene's
// pairs say. The interaction mesh keeps these.
bool tr_stage_links( tr_imesh_pairs *out, const tr_stage *stage, tr_error *error );
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

// ------------------------------------------------------------------------------------------- pipeline

typedef struct tr_rule_report { // how well a rule was kept, over its full-strength frames
    double max_mm, p95_mm, mean_mm;
    bool gave_way; // the solver relaxed it; `worst_frame` says where
    int worst_frame;
} tr_rule_report;

// What edits did to the place of a foot: turned about the vertical through the origin, then moved.
typedef struct tr_step {
    double turn; // radians
    vec3 move;
} tr_step;

typedef struct tr_handle_report { // what became of a handle of the document
    bool acted;                   // its layer is active, and it is not let go
    bool outside;                 // its frame is not in its layer's window, or no section has its vertex: it
                                  // holds nothing
    bool passed_on;               // later layers moved on what it holds: the error is the one from before
    int node, joint; // of sections and vertices: what led by them is farthest off, a joint of an actor or,
                     // joint -1, the middle of node - actor_count, a prop; -1: the handle holds a point
    vec3 place;      // where that, or the point, was dragged to
    double error_mm; // how far from there it came out
} tr_handle_report;

static inline bool tr_handle_gave_way( const tr_handle_report *report ) // not met to a millimetre
{
    return report->acted && report->error_mm > 1;
}

typedef struct tr_mesh_report { // what became of a window of the interaction mesh
    int *members;               // [member_count] of the stage: what `mesh` counts as bodies, then boxes
    int member_count;
    int first, last;      // stage frames
    tr_imesh_report mesh; // `after`, `no_room` and `lost` of the motion as it is, the rest of the mesh alone
    size_t bytes;         // of memory while it was solved
} tr_mesh_report;

// Which part of which member a loss of the report speaks of: "p01.LeftArm", "roof", "ground".
void tr_mesh_part_print( const tr_stage *stage, const tr_mesh_report *report, int which, int part,
                         tr_text *out );

// What there is to see of a layer of kind cage: its key sections around what it grabs, as its input has them
// and as its handles moved them, and where the input had what it grabs.
typedef struct tr_cage_outline {
    tr_id layer;
    int first, last; // its window, stage frames
    int section_count, vertex_count, edge_count;
    int *frames;          // [section_count] stage frames of the keys, increasing
    int ( *edges )[2];    // [edge_count] of a section: those along the edges of its box, vertex to vertex
    int corners[8];       // vertices at its corners
    vec3 *rest, *moved;   // [section_count * vertex_count]
    vec3 *shift, *turn;   // [section_count] how each moved as a whole, as a handle would say it: tr_handle
    int begin, row_count; // stage frames of the window and its ease
    int point_count;
    struct tr_bound_point *bound; // [point_count]
    vec3 *before;                 // [row_count * point_count]
} tr_cage_outline;

void tr_cage_outline_free( tr_cage_outline *shape );
bool tr_cage_outline_copy( tr_cage_outline *out, const tr_cage_outline *in, tr_error *error );
// Takes over where a solve of the same cage moved it. Allocates nothing.
void tr_cage_outline_follow( tr_cage_outline *shape, const tr_cage_outline *from );
// Where the layer's input has a joint of an actor, or (joint -1) the middle of node - actor_count, a prop.
// False when the layer does not grab it, or not at this frame.
bool tr_cage_outline_before( const tr_cage_outline *shape, int node, int joint, int frame, vec3 *out );

typedef struct tr_result { // motion of the target bodies and of the props
    int actor_count, prop_count, frame_count;
    tr_motion *motions;      // [actor_count]
    tr_world *worlds;        // [actor_count] their joints
    rigid **tracks;          // [prop_count][frame_count]
    tr_rule_report *reports; // [rule_count of the stage]
    int rule_count;
    // What edits did. Contacts are kept where edits moved them.
    tr_step *
        *steps;     // [actor_count] NULL: none, else [joint_count * frame_count] of hands and feet that stand
    double **turns; // [actor_count] NULL: none, else [frame_count] radians about the vertical
    tr_handle_report *handles; // [handle_count]
    int handle_count;
    tr_cage_outline *cages; // [cage_count] of the layers that act
    int cage_count, cage_capacity;
    double leak_mm; // how far edits moved anything beyond their windows, eases and links
    bool of_source; // bodies and props are the source's, not the target's
    long fit_steps; // of Newton's method that skeletons were fitted in, all frames and rounds together
    // What interaction meshes did, if they were asked to.
    bool meshed;
    tr_imesh_pairs links;   // members of the stage that are close to each other
    tr_mesh_report *meshes; // [mesh_count] a window each
    int mesh_count;
} tr_result;

typedef struct tr_method {
    const char *name, *help;
    bool ( *solve )( const tr_stage *stage, tr_result *result, tr_error *error );
    bool exact; // it sets out to keep hard rules: one it misses by more than a millimetre is reported as
                // having given way
} tr_method;

// An upper bound of what staging and solving take, in bytes: of so many frames and joints of all characters.
double tr_memory_needed( double frames, double joints, bool meshes );
// False, with an error at the scene's range, when that is more than may be used (tr_memory_limit).
bool tr_memory_suffices( const tr_scene *scene, const char *file, double joints, bool meshes,
                         tr_error *error );

const tr_method *tr_method_table( int *count );
const tr_method *tr_method_find( const char *name ); // NULL: unknown; the default method when name is NULL
const tr_method *tr_method_default( const tr_scene *scene ); // what the scene itself asks for
// Solves, then fills worlds and reports.
bool tr_pipeline_run( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error );
// The same without the layer (an index in the scene) and those after it: what that layer acts on. No reports.
bool tr_pipeline_run_below( tr_result *out, const tr_stage *stage, const tr_method *method, int layer,
                            tr_error *error );
// And the rest: the layers on top of what tr_pipeline_run_below( …, 0 ) gave for this scene, or for one that
// is the same below. The same bits as tr_pipeline_run.
bool tr_pipeline_run_above( tr_result *out, const tr_stage *stage, const tr_method *method,
                            const tr_result *below, tr_error *error );
bool tr_scene_same_below( const tr_scene *a, const tr_scene *b ); // all is equal but layers of kind cage
// The source itself as a result (target = source bodies): what every figure is reported beside.
bool tr_result_from_source( tr_result *out, const tr_stage *stage, tr_error *error );
void tr_result_free( tr_result *result );

typedef struct tr_mesh_lines { // to be looked at
    vec3 ( *items )[2];
    int count, capacity;
} tr_mesh_lines;

// Appends the edges of the interaction mesh at a frame between a member of the stage and those `links`
// (tr_stage_links) has close to it: neighbours in the source, where the result has them.
bool tr_mesh_lines_find( tr_mesh_lines *out, const tr_stage *stage, const tr_result *result,
                         const tr_imesh_pairs *links, int member, int frame, tr_error *error );
void tr_mesh_lines_free( tr_mesh_lines *lines );

// The joint of the target that a name means: its own, or the one that the source's joint of that name drives.
// What drives nothing is `beyond` the nearest above it that does, in the source's frame, as at rest.
bool tr_actor_find_joint( const tr_actor *actor, const char *name, int *joint, vec3 *beyond );
// The middles of the first and the last section of a cage around the nodes [actor_count + prop_count] over
// the whole clip: what turns of these are about. Fails where there is no such cage.
bool tr_cage_middles( const tr_stage *stage, const tr_result *below, const bool *nodes, vec3 middles[2],
                      tr_error *error );
// Whether a rule joins one of these nodes [actor_count + prop_count] to one that is not among them.
bool tr_stage_joins( const tr_stage *stage, const bool *nodes );
vec3 tr_anchor_position( const tr_stage *stage, const tr_result *result, const tr_anchor *anchor, int frame );
vec3 tr_anchor_source( const tr_stage *stage, const tr_anchor *anchor, int frame );
// Place of a point of the source's world in the target's: scaled about the group's origin.
vec3 tr_group_place( const tr_group *group, vec3 source );
// Strength of a rule at a frame: 1 inside its range, fading over the ease, 0 outside.
double tr_rule_strength( const tr_rule *rule, int frame );
// Demanded place of a (or offset of a from b for relative rules, in world axes) at a frame.
vec3 tr_rule_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame );
// How far the result is from the rule at a frame, in metres (orientations: chord of the angle at 10 cm).
double tr_rule_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame );

#define TR_KEPT 1e-3 // metres: a hard rule that is off by more has given way

// Frames of the stage in which a rule has given way, as ranges. Returns how many there are, writes at most
// `capacity`.
int tr_rule_broken( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int ( *ranges )[2],
                    int capacity );

typedef enum tr_loss_kind {
    TR_LOSS_RULE,
    TR_LOSS_HANDLE,
    TR_LOSS_NO_ROOM, // bodies of the interaction mesh are in each other, a box or the ground
    TR_LOSS_TOUCH    // what touched in the source is apart
} tr_loss_kind;

typedef struct tr_loss { // something that could not be kept
    tr_loss_kind kind;
    int index;      // a rule of the stage, a handle of the document; the mesh: -1
    int members[2]; // of the stage: who, and with whom or on what. -1: nobody, or the ground
    int joints[2];  // of actors: -1 where the whole is meant
    int frame;      // of the stage: where it is farthest off
    double metres;  // there; of orientations the chord of the angle at 10 cm, as in tr_rule_error
} tr_loss;

typedef struct tr_losses { // the farthest off first
    tr_loss *items;
    int count, capacity;
} tr_losses;

// Everything that gave way in a solved result.
bool tr_losses_find( tr_losses *out, const tr_stage *stage, const tr_result *result, tr_error *error );
void tr_losses_free( tr_losses *losses );

// Folder of results: <id>.bvh per character and prop, source/<id>.bvh, scene.json, report.json.
bool tr_result_save( const tr_stage *stage, const tr_result *result, const char *method, const char *folder,
                     tr_error *error );
// Every file tr_result_save writes for this scene, whether it is there or not. False when out of memory.
bool tr_result_visit_files( const tr_scene *scene, const char *folder,
                            void ( *visit )( void *context, const char *path ), void *context );
// Reads <id>.bvh of every character and prop of the stage back from such a folder.
bool tr_result_load( tr_result *out, const tr_stage *stage, const char *folder, tr_error *error );
bool tr_report_print( const tr_stage *stage, const tr_result *result, const char *method, tr_text *out );

// ----------------------------------------------------------------------------------------------- drag
// A layer of kind cage while its handles are held: poses at preview quality, visible frames first. What is
// kept when the mouse is let go is not this, but the ops (handle_set …) and what the pipeline makes of them.
//
//   tr_drag *drag = tr_drag_begin( &stage, &below, layer, handle, &error );   // slow: cage, weights,
//   factors, memory for each move of the mouse
//       tr_drag_visible( drag, &tick );                               // the block of frames being looked at
//       while ( tr_drag_more( drag, 4 ) ) draw…                       // the others, the nearest first
//       while ( tr_drag_refine( drag, 1 ) ) draw…                     // all again, as the pipeline has them
//   tr_drag_end( drag );
//
// Everything that rules join to what is dragged moves along: partners, props and the hands that hold them.
// Nobody else changes a bit. Cost goes with the frames of the layer's window and ease, not with the clip.
// Layers above the dragged one go along with what they did when the drag began.

#define TR_DRAG_BLOCK 8 // frames that are solved together

typedef struct tr_drag tr_drag;

typedef struct tr_drag_move { // where a handle is now; see tr_handle
    int handle;               // index in the document; of the layer, and pinned
    vec3 move, turn;
} tr_drag_move;

typedef struct tr_drag_tick {
    const tr_drag_move *moves; // [move_count] handles not named stay where the last tick had them
    int move_count;
    int frame;                // stage frame that is being looked at
    const atomic_int *latest; // a tick is superseded, and stops soon, when *latest is not `number` any more.
    int number;               // NULL: never
} tr_drag_tick;

// `below`: what tr_pipeline_run_below gave; the layer must be active and of kind cage. `handle`: what is
// going to be dragged, -1: who knows. At an end of the window it frees that end, as it does in the document
// once it is moved. Stage, scene and below are borrowed until tr_drag_end and may not change.
tr_drag *tr_drag_begin( const tr_stage *stage, const tr_result *below, int layer, int handle,
                        tr_error *error );
void tr_drag_end( tr_drag *drag ); // NULL is fine

// A tick: moves the cage and solves the block that holds the frame. False when it was superseded before that
// was done. Moves that are not finite are ignored. Neither this nor tr_drag_more allocates; both use as many
// threads as there are.
bool tr_drag_visible( tr_drag *drag, const tr_drag_tick *tick );
// Solves at least one and at most `blocks` further blocks of the last tick, those next to its frame first.
// True as long as there is more to do; false when all frames are solved or the tick was superseded.
bool tr_drag_more( tr_drag *drag, int blocks );
// Motions, worlds, tracks, steps and turns, of every character and prop of the stage, in every frame: of the
// last tick where tr_drag_is_solved says so, of an earlier one, or of below, elsewhere. No reports. May be
// read between the calls above.
const tr_result *tr_drag_result( const tr_drag *drag );
bool tr_drag_is_solved( const tr_drag *drag, int frame );   // also where nothing has to be
const tr_cage_outline *tr_drag_cage( const tr_drag *drag ); // as the last tick moved it; NULL: none was built
// While the mouse rests: once tr_drag_more is through, solves the frames of the last tick again as the
// pipeline will when the mouse is let go, those next to its frame first, at most `blocks` at a time. True as
// long as there is more to do; false when all frames are refined, or the tick was superseded. Allocates
// nothing.
bool tr_drag_refine( tr_drag *drag, int blocks );
bool tr_drag_is_refined( const tr_drag *drag, int frame );
// How far from where it was put what a handle (index in the document) holds was left by the last tick,
// metres.
double tr_drag_error( const tr_drag *drag, int handle );

// ------------------------------------------------------------------------------------------------ hold
// One frame, one part of a body: whoever is close to it follows at once, through the interaction mesh of that
// frame. Then ops propagate it to the motion: a constraint with `partners`, by which the pipeline does the
// same at that frame and fades it out over the frames around.
//
//   tr_hold *hold = tr_hold_begin( &stage, &result, frame, actor, joint, &error );   // links, mesh, factor
//   for each move of the mouse
//       tr_hold_move( hold, place, &error );                                         // mesh and fit of a
//       frame tr_hold_pose( hold, partner, pose );                                         // of everybody,
//       to draw
//   tr_hold_print( hold, "grip_higher", 45, 12, &ops );                              // for tr_document_run
//   tr_hold_end( hold );

typedef struct tr_hold tr_hold;

// Stage and result are borrowed until tr_hold_end and may not change. `joint` is the target's.
tr_hold *tr_hold_begin( const tr_stage *stage, const tr_result *result, int frame, int actor, int joint,
                        tr_error *error );
void tr_hold_end( tr_hold *hold ); // NULL is fine
// The held joint to a place in the world, as far as its limbs reach. False when out of memory.
bool tr_hold_move( tr_hold *hold, vec3 place, tr_error *error );
// Joints of a body that is held, close to it, or linked to one of those [joint_count of the target]; false:
// it is not. They are where the pipeline will have them.
bool tr_hold_pose( const tr_hold *hold, int actor, tr_pose out );
// The ops that make the motion go through this: an absolute constraint for the held joint at this frame (as
// the document counts), fading over `ease` frames before and after, by which partners follow.
// The place is the one asked for, or where it is out of reach the one that was reached.
void tr_hold_print( const tr_hold *hold, const char *id, int frame, double ease, tr_text *out );

// ------------------------------------------------------------------------------------------- measures

#define TR_METRIC_FIELDS 6

typedef struct tr_metric_field {
    const char *name; // "value", "max", "p95", …
    const char *unit; // "mm", "%", "" for a plain number, …
    double out, source;
    bool out_null, source_null; // cannot be computed; the number is 0 then and means nothing
    bool worse; // out is worse than the source's, if it has one, and than what is fine without
} tr_metric_field;

typedef struct tr_metric {
    const char *key, *unit; // unit of the first field
    const char *worse;      // what is to be seen where a field is worse, in half a sentence
    const char *reason;     // why it, or a field of it, cannot be computed, NULL when all can
    int field_count;
    tr_metric_field fields[TR_METRIC_FIELDS];
} tr_metric;

typedef struct tr_measures {
    tr_metric *metrics;
    int count;
} tr_measures;

// Quality over time: one value a frame, of the result and of the source.
typedef enum tr_strip_kind {
    TR_STRIP_SLIP,     // speed of the fastest foot that ought to rest
    TR_STRIP_CONTACTS, // hand or foot that is farthest from where it is to rest
    TR_STRIP_RULES,    // hard rule of another kind that is farthest off
    TR_STRIP_OVERLAP,  // deepest overlap of bodies with each other and with props
    TR_STRIP_LENGTHS,  // bone whose length is farthest off
    TR_STRIP_JERK,     // of all joints, in terms of the source's mean
    TR_STRIP_KINDS
} tr_strip_kind;

typedef struct tr_strip {
    const char *name, *unit;
    double fine, bad;    // up to `fine` nobody minds; from `bad` on everybody does
    float *out, *source; // [frame_count]
} tr_strip;

typedef struct tr_overlap { // two parts that are deeper in each other than in the source
    int a, b;               // actors; b from actor_count on: a prop
    int part_a, part_b;     // capsules of the target's bodies; of a prop -1
    float depth;            // metres more than the same parts in the source
} tr_overlap;

typedef struct tr_strips {
    tr_strip items[TR_STRIP_KINDS];
    int frame_count;
    tr_overlap *overlaps; // deeper than the strip's `fine`; those of frame f from overlap_first[f] on
    int *overlap_first;   // [frame_count + 1]
} tr_strips;

bool tr_strips_measure( tr_strips *out, const tr_stage *stage, const tr_result *result, tr_error *error );
void tr_strips_free( tr_strips *strips );

// All figures of the result beside those of the source.
bool tr_measure( tr_measures *out, const tr_stage *stage, const tr_result *result, tr_error *error );
void tr_measures_free( tr_measures *measures );
const tr_metric *tr_measures_find( const tr_measures *measures, const char *key );
bool tr_measures_print_json( const tr_measures *measures, tr_text *out );
void tr_measures_print_table( const tr_measures *measures, tr_text *out );

#endif
