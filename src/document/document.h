// document: what a user edits and saves, and ops on it. Only the library of motions loads files.
#ifndef TROUPE_DOCUMENT_H
#define TROUPE_DOCUMENT_H

#include "base/base.h"
#include "geometry/geometry.h"
#include "import/import.h"
#include "math/math.h"
#include "motion/motion.h"

// --------------------------------------------------------------------------------------------- document
// Plain data throughout: structs without pointers in growing arrays, so that copies, comparisons and undo are
// simple. docs/scene-format.md describes the same fields as JSON.

// Limits of the format. Texts count bytes with the final NUL; they are stored in place.
#define TR_ID_MAX        32     // ids: [a-z0-9_]+
#define TR_PATH_MAX      256    // paths of files
#define TR_MEMBERS_MAX   4096   // members of a layer, as text
#define TR_JOINT_MAX     96     // names of joints, skeletons and takes
#define TR_LIMB_VALUES   24     // entries of target.limbs and target.girth
#define TR_POINT_TERMS   4      // joints of a point
#define TR_POSE_MAX      8192   // bytes of the turns of a pose
#define TR_ROWS_MAX      64     // corners of a polyline, keys of a trajectory
#define TR_SCENE_VERSION 1      // version of the files this program writes; newer ones are refused
#define TR_MAX_ELEMENTS  100000 // in each list of a scene
#define TR_FAR           1e5    // metres: largest coordinate of a place

typedef char tr_id[TR_ID_MAX];

typedef struct tr_file_ref {     // a motion file and how to read it; see tr_bvh_import and tr_import_def
    char file[TR_PATH_MAX];      // relative to the scene file; "" = none
    char skeleton[TR_JOINT_MAX]; // which one of a file with several: name, or number from 1; "" = the first
    char take[TR_JOINT_MAX];     // the same; "" = the first that moves the skeleton
    double unit;                 // metres per unit, 0 = guess
    char up;                     // 'y', 'z', 0 = guess
    double rate;                 // frames a second of arrays and tables, 0 = as they say
    int first, last;             // frames, last -1 = to the end
} tr_file_ref;

typedef struct tr_target { // the body the motion goes to
    double scale;
    tr_limb_value limbs[TR_LIMB_VALUES]; // length factors on top of scale
    int limb_count;
    tr_limb_value girths[TR_LIMB_VALUES]; // thickness factors
    int girth_count;
    tr_file_ref
        skeleton;      // take the rest pose of this file instead of the source's; scale and limbs apply to it
    tr_file_ref look;  // glTF or FBX file with meshes for this skeleton; none: the file it comes from
    double path_scale; // 0 = automatic
    bool examples;     // joints go by the examples, where there are two; false: only those of parts do
    bool animation; // joints without a source joint keep the motion of the skeleton's file, not its rest pose
    int reference;  // frame of the source's file with the pose of the target's rest pose; -1: found
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

// A motion that continues a cast member's source. Clips follow in the order of the list, each turned and
// moved on the ground to start where the one before ended.
typedef struct tr_cast_clip {
    tr_id id, cast;
    tr_file_ref source; // has the same skeleton as the cast member's source
    int blend;          // frames that change on either side of the seam before it; -1: 0.3 seconds
} tr_cast_clip;

// The shape of a prop or an obstacle that is neither a box nor a sphere.
typedef struct tr_form {
    vec3 points[TR_ROWS_MAX]; // [point_count] polyline
    int point_count;
    double thickness;       // for a polyline or an open mesh
    char mesh[TR_PATH_MAX]; // OBJ, glTF or FBX file, relative to the scene file
    double unit;            // metres per unit of the file
    char up;                // 'y', 'z'
} tr_form;

typedef struct tr_prop { // a rigid thing with a track of its own
    tr_id id;
    tr_shape_kind shape;
    vec3 size;         // box and sphere: full edge lengths in the source
    tr_form form;      // other shapes; the track moves the middle of the bounding box
    double scale;      // scale of the target
    tr_file_ref track; // motion file with one joint at the middle; none = stands still at
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
    vec3 position; // its centre; for polylines and meshes the origin of their points
    double heading;
    double scale; // scale of the target, about its position
    vec3 move;    // from the source's position to the target's
    float colour[3];
} tr_obstacle;

typedef enum tr_constraint_kind {
    TR_CONSTRAINT_ABSOLUTE,       // a is at a place, or its path has a direction
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

typedef struct tr_key { // a place at a frame
    double frame;
    vec3 place;
} tr_key;

typedef struct tr_constraint {
    tr_id id;
    tr_constraint_kind kind;
    tr_point a, b;
    int first, last;          // frames of full strength, both included; may exceed the scene's range.
                              // Default: ±TR_MAX_FRAMES, all frames
    double ease_in, ease_out; // frames outside the range over which it fades
    bool hard;
    double weight; // when soft
    int priority; // order of hard constraints in conflict: 4 is met first, 1 last; 0: the default of its kind
    bool axis[3]; // which of x, y, z it acts on
    bool given;   // the target below is given; otherwise it is taken from the source
    vec3 target;  // position; offset of a from b; or, for a path's direction, a direction
    tr_key keys[TR_ROWS_MAX]; // [key_count] absolute: a trajectory instead of one target, in order of frames
    int key_count;
    quat rotation;      // orientation
    double length;      // length, metres
    bool direction;     // absolute: target is the direction of a's horizontal path
    bool partner_space; // relative: offset turns with b
    bool partners;      // absolute: close bodies follow, as when the frame is held (tr_hold)
    bool flat;          // orientation: only the tilt against the ground counts
    tr_id surface;      // contact: "ground", prop or obstacle id
} tr_constraint;

// An edit on top of the motion below it. Layers act in the order of the list, each on the result of the ones
// before it; sections and handles name their layer.
typedef enum tr_layer_kind {
    TR_LAYER_CAGE,   // reshapes the motion of its members with a spatiotemporal cage
    TR_LAYER_RETIME, // moves their motion in time
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
    double falloff;               // cage: frames beyond which a drag has no effect; 0 = the whole window
    bool turn;                    // cage: bodies re-orient along an edited path
    bool firm;                    // cage: handles keep their full pull even where that leaves jolts
    bool ripple;                  // retime: the motion after the window keeps the last delay
    bool muted, solo;             // a muted layer does nothing; while any is solo, only solo layers act
} tr_layer;

typedef struct tr_section { // a key section of a cage, or a key of a retiming
    tr_id id, layer;
    int frame;
    double delay; // retime: frames by which the moment is delayed
} tr_section;

// What the user drags: a point of a member, or a vertex of the cage's section at that frame, or, without a
// point and a vertex, the whole section.
typedef struct tr_handle {
    tr_id id, layer;
    int frame;
    tr_point point; // unused: a vertex or a section
    int vertex;     // vertex of the cage, -1: none
    vec3 move;      // metres from its place in the layer's input
    vec3 turn;      // whole sections: axis times degrees, about the section's middle
    bool pinned;    // false: released. This frees a whole section at an end of the window, which is held by
                    // default
} tr_handle;

// A member of a layer: id [ "." part ], with * for any letters. The part is a limb, a group of limbs (arms,
// legs, left, right) or a joint; without one the member is the whole body. Members are separated by commas:
// p03, p04.left_arm, box*.
typedef struct tr_member {
    char who[TR_ID_MAX];     // pattern
    char part[TR_JOINT_MAX]; // pattern, "" = everything
} tr_member;

// Reads one member at *text and advances *text behind it and its comma; *text is "" after the last.
bool tr_member_parse( tr_member *out, const char **text, tr_error *error );
bool tr_pattern_matches( const char *pattern, const char *text ); // * stands for any number of characters

// What the user says about the closeness of two bodies: see closeness/links.c. It corrects what distances in
// the source suggest.
typedef enum tr_pair_kind {
    TR_PAIR_LINK,    // close in the range, whatever their distance
    TR_PAIR_EXCLUDE, // not close in the range
    TR_PAIR_LIMIT,   // not close outside the range
    TR_PAIR_PASS,    // may pass through each other in the range: no collisions
    TR_PAIR_KINDS
} tr_pair_kind;

extern const char *const tr_pair_kind_names[]; // as in JSON, NULL-terminated

typedef struct tr_pair {
    tr_id id;
    tr_pair_kind kind;
    tr_id a, b;      // cast, prop or obstacle; b "" = all others, except for a link
    int first, last; // both included; default: ±TR_MAX_FRAMES, all frames
} tr_pair;

// The source joint of a joint of a cast member's target; overrides the map.
typedef struct tr_drive {
    tr_id id, cast;
    char joint[TR_JOINT_MAX];  // joint of the target
    char source[TR_JOINT_MAX]; // joint of the source, "" = nothing drives it
} tr_drive;

// A pose of a cast member's source and the pose of its target that goes with it. Two or more of them let the
// target move by examples.
typedef struct tr_example {
    tr_id id, cast;
    int source;             // frame of the whole file of the source
    int target;             // frame of the whole file of the target's skeleton
    char pose[TR_POSE_MAX]; // joints of the target that are turned from that frame, see tr_turn_parse
    bool mirrored;          // both poses are seen in a mirror: left is right
    bool muted;             // it does not count
} tr_example;

// A chain of the source that drives a chain of the target, in a body that moves by examples. Both are named
// by their first and last joint.
typedef struct tr_part_drive {
    tr_id id, cast;
    char source_first[TR_JOINT_MAX], source_last[TR_JOINT_MAX];
    char target_first[TR_JOINT_MAX], target_last[TR_JOINT_MAX];
    double aim; // 0: exact at the examples … 1: exactly the source's direction
} tr_part_drive;

typedef struct tr_scene {
    double fps;
    int first, last; // frame range, both included
    double ground;   // height of the floor
    bool imesh;      // the default method keeps close bodies close
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
    tr_example *examples;
    int example_count, example_capacity;
    tr_part_drive *parts;
    int part_count, part_capacity;
} tr_scene;

tr_scene tr_default_scene( void ); // 30 fps, empty
tr_cast tr_default_cast( const char *id );
// The file with the meshes of a cast member: target.look, else that of its skeleton.
const tr_file_ref *tr_cast_meshes( const tr_cast *cast );
// The i-th default colour of cast members, red, green, blue from 0 to 1; cyclic.
const float *tr_cast_hue( int i );
// The first of these that no cast member has, in whole 255ths; when all are used the next in turn.
void tr_cast_free_colour( const tr_scene *scene, float out[3] );
tr_prop tr_default_prop( const char *id );
tr_obstacle tr_default_obstacle( const char *id );
tr_constraint tr_default_constraint( const char *id,
                                     tr_constraint_kind kind );  // hard, all axes, from the source
tr_layer tr_default_layer( const char *id, tr_layer_kind kind ); // no members, over the whole scene
tr_section tr_default_section( const char *id, const char *layer, int frame );
tr_handle tr_default_handle( const char *id, const char *layer, int frame ); // the whole section, pinned
tr_cast_clip tr_default_cast_clip( const char *id, const char *cast );
tr_pair tr_default_pair( const char *id, tr_pair_kind kind ); // in all frames
tr_drive tr_default_drive( const char *id, const char *cast );
tr_example tr_default_example( const char *id, const char *cast );
tr_part_drive tr_default_part( const char *id, const char *cast ); // aim 0
tr_point tr_point_joint( const char *who, const char *joint );
tr_point tr_point_prop( const char *who, vec3 offset );
// Points as text, in files, ops and reports alike: p03.LeftHand, box01@0,0.15,0,
// p03.'Left Hand'*0.5+RightHand*0.5.
bool tr_point_parse( tr_point *out, const char *text, tr_error *error );
void tr_point_print( const tr_point *point, tr_text *out );

// A joint that an example turns: by a rotation vector in degrees, in the joint's own axes.
typedef struct tr_turn {
    char joint[TR_JOINT_MAX];
    vec3 degrees;
} tr_turn;

// Turns as text: Trunk1@10,0,5;'Left Ear'@0,20,0. Reads one at *text and advances *text behind it and its ;
// (*text is "" after the last), and adds one, which is nothing where it does not turn.
bool tr_turn_parse( tr_turn *out, const char **text, tr_error *error );
void tr_turn_print( tr_text *out, const char *joint, vec3 degrees );

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
tr_example *tr_scene_add_example( tr_scene *scene, const tr_example *example );
tr_part_drive *tr_scene_add_part( tr_scene *scene, const tr_part_drive *part );
int tr_scene_find_cast( const tr_scene *scene, const char *id ); // -1 when absent; as the next nine
int tr_scene_find_prop( const tr_scene *scene, const char *id );
int tr_scene_find_obstacle( const tr_scene *scene, const char *id );
int tr_scene_find_constraint( const tr_scene *scene, const char *id );
int tr_scene_find_layer( const tr_scene *scene, const char *id );
int tr_scene_find_section( const tr_scene *scene, const char *id );
int tr_scene_find_handle( const tr_scene *scene, const char *id );
int tr_scene_find_drive( const tr_scene *scene, const char *id );
int tr_scene_find_example( const tr_scene *scene, const char *id );
int tr_scene_find_part( const tr_scene *scene, const char *id );
// Whether a cast member moves by examples: two or more count, and there are joints for them to move.
bool tr_scene_exemplifies( const tr_scene *scene, const tr_cast *cast );
bool tr_layer_is_active( const tr_scene *scene, int layer ); // neither muted nor disabled by a solo layer
// All checks that need no other file: ids, references, ranges, weights. The error has a JSON path.
bool tr_scene_check( const tr_scene *scene, const char *file, tr_error *error );

bool tr_scene_load( tr_scene *out, const char *path, tr_error *error );
bool tr_scene_parse( tr_scene *out, const char *text, size_t size, const char *name, tr_error *error );
bool tr_scene_save( const tr_scene *scene, const char *path, tr_error *error );
bool tr_scene_print( const tr_scene *scene, tr_text *out, tr_error *error );
// Every field of the format, one JSON path per line, such as cast[].target.scale.
void tr_scene_print_paths( tr_text *out );
bool tr_scene_same_below( const tr_scene *a, const tr_scene *b ); // equal except for layers of kind cage

// Whether the members of a layer (see tr_member_parse) include this id, or a pattern that matches it.
bool tr_members_match( const char *members, const char *id );

// The parts of tr_point_print, for joints whose names are too long for a scene.
void tr_point_print_term( tr_text *out, bool first, const char *joint, double weight );
void tr_point_print_offset( tr_text *out, vec3 offset );

// -------------------------------------------------------------------------------------------------- ops
// Every change of a document is one op of scene_ops.inl, written as a line of text: `name key=value …`.
// Values with spaces are in double quotes; an empty value resets a field to its default. Scripts, logs and
// bug reports consist of the same lines.

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
// All or nothing: on failure the scene is unchanged and error->column is the place in the line. A new op
// drops the ops that could be redone.
bool tr_document_apply( tr_document *document, const char *line, tr_error *error );
bool tr_document_undo( tr_document *document ); // false when there is nothing to undo
bool tr_document_redo( tr_document *document );
// Makes the last `count` ops one step for undo and redo, as for one drag of several things.
void tr_document_join( tr_document *document, int count );
// Memory for undo, 64 MB unless set; beyond it the oldest steps cannot be undone. The log stays complete.
void tr_document_limit_history( tr_document *document, size_t bytes );
int tr_document_log_count( const tr_document *document ); // ops done and not undone
const char *tr_document_log( const tr_document *document, int index );
int tr_document_redo_count( const tr_document *document ); // ops that can be redone, the next one first
const char *tr_document_undone( const tr_document *document, int index );
// Whether an op is one step with the op before it. Index: ops done, then ops undone.
bool tr_document_is_joined( const tr_document *document, int index );
// Applies every line of a script; blank lines and # comments are skipped. Stops at the first line that fails,
// with its number and column in the error; the lines before it stay applied.
bool tr_document_run( tr_document *document, const char *text, size_t size, const char *name,
                      tr_error *error );

// The line of such a script that caused an error at a JSON path (constraints[3].a), found when files are
// open: the last line that set the field, else the one that added the element. False: none, or the step is
// too old to be undone.
bool tr_document_locate( const tr_document *document, const char *path, int *line, int *column );

// --------------------------------------------------------------------------------------------------- library

// Motions by the path the scene uses for them. Built-in scenes put their clips here; files are read when
// missing.
typedef struct tr_library {
    struct tr_library_item {
        char path[TR_PATH_MAX];
        tr_motion motion; // metres, Y up, own rate
        bool from_file;   // read from disk by `ref`; else made in memory, for any reference
        tr_file_ref ref;
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

// Each takes ownership of `motion`, also on failure. A file may be there once for each way of reading it.
bool tr_library_add( tr_library *library, const char *path, tr_motion *motion, tr_error *error );
bool tr_library_add_file( tr_library *library, const tr_file_ref *ref, tr_motion *motion, tr_error *error );
const tr_motion *tr_library_find_file( const tr_library *library, const tr_file_ref *ref );
const tr_motion *tr_library_find( const tr_library *library,
                                  const char *path ); // NULL when absent; valid until the next add
// A mesh by the path the scene uses for it; read from `file` when missing. Valid until the next call; NULL on
// failure.
const tr_trimesh *tr_library_mesh( tr_library *library, const tr_form *form, const char *file,
                                   tr_error *error );
void tr_library_free( tr_library *library );
// Saves a scene, whose references are relative to `base` (NULL: all are in the library), at `path`. Motions
// that exist only in memory, and copies of files with absolute paths (as dropped on the editor), go into the
// folder <path without .json>_motion. Other references lead to the same files as before.
bool tr_scene_save_beside( const tr_scene *scene, const tr_library *library, const char *base,
                           const char *path, tr_error *error );

#endif
