// document: what a user edits and saves, and ops on it. Nothing here is loaded but by the library of motions.
#ifndef TROUPE_DOCUMENT_H
#define TROUPE_DOCUMENT_H

#include "base/base.h"
#include "geometry/geometry.h"
#include "io/io.h"
#include "math/math.h"
#include "motion/motion.h"

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
#define TR_FAR           1e5    // metres: places in a document are nearer

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

// What the user says about two bodies that are, or are not, to be close: see closeness/links.c. What is found
// in the source is right most of the time, but it knows distances only, not what was meant.
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
bool tr_scene_same_below( const tr_scene *a, const tr_scene *b ); // all is equal but layers of kind cage

// Do the members of a layer (see tr_member_parse) name this id, or a pattern that fits it?
bool tr_members_match( const char *members, const char *id );

// The parts of tr_point_print, for joints whose names are longer than a scene may hold.
void tr_point_print_term( tr_text *out, bool first, const char *joint, double weight );
void tr_point_print_offset( tr_text *out, vec3 offset );

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

// --------------------------------------------------------------------------------------------------- library

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

#endif
