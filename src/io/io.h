// io: files, atomic saving, BVH, glTF, FBX, OBJ, JSON with paths in its errors.
#ifndef TROUPE_IO_H
#define TROUPE_IO_H

#include "base/base.h"
#include "geometry/geometry.h"
#include "motion/motion.h"
#include <jansson.h>

// ------------------------------------------------------------------------------------------------ files

#define TR_MAX_FILE_BYTES ( (size_t)1 << 30 ) // larger files are refused: they are read as a whole

// Whole file; *data is allocated, NUL-terminated behind *size bytes, freed with tr_free. Folders, pipes and
// devices are refused without waiting for them, and so is a file that changes while it is read.
bool tr_file_read( const char *path, char **data, size_t *size, tr_error *error );
// The same for a file that a user names: also a pipe that the shell has opened (/dev/stdin, /dev/fd/N).
bool tr_file_read_piped( const char *path, char **data, size_t *size, tr_error *error );
// Temporary file beside the target, fsync, rename, fsync of the folder: if the process is killed, the old
// file or the new one is complete. Follows a symbolic link to its target and keeps the permissions of an
// existing file. If only the fsync of the folder fails, the new file exists, and the error says that it may
// get lost.
bool tr_file_write( const char *path, const char *data, size_t size, tr_error *error );

// The same for data that is not in memory as a whole: an empty file beside the target, to be written by its
// name. It replaces the target when it is kept.
typedef struct tr_draft {
    char *path, *target; // as given, and with links resolved
    char *name;          // of the draft
    int file;            // open for writing
} tr_draft;

bool tr_draft_open( tr_draft *out, const char *path, tr_error *error );
// Both also free. After a failure the draft is removed and the old file unchanged.
bool tr_draft_keep( tr_draft *draft, tr_error *error );
void tr_draft_discard( tr_draft *draft );

// A folder of files that is one unit: if the process is killed, this program reads the old folder or the new
// one, complete. So do others if the folder holds nothing else. See folder.c.
typedef struct tr_names {
    char **items; // [count] relative to the folder: "file" or "folder/file"
    int count, capacity;
} tr_names;

bool tr_names_add( tr_names *names, const char *name ); // false: out of memory
void tr_names_free( tr_names *names );

// Lists the files of a folder that belong to the old unit and are to be replaced. False when that is unknown;
// then only files with the name of a new one are replaced.
typedef bool tr_folder_owned( const char *folder, tr_names *out );

typedef struct tr_folder_draft {
    char *path, *target;    // as given, and with links resolved
    char *name;             // of the draft: its files are written there, at most one folder deep
    char *parent, leaf[64]; // the same in two parts
    int handle;             // of the draft, locked
    bool exists, inside;    // the target exists; the draft is inside it, not beside it
    tr_folder_owned *owned;
} tr_folder_draft;

// Creates `path` and the folders above it if they do not exist. `owned` may be NULL. `inside` keeps the
// folder itself and replaces its files.
bool tr_folder_draft_open( tr_folder_draft *out, const char *path, tr_folder_owned *owned, bool inside,
                           tr_error *error );
// Both also free. After a failure the draft is removed; *cannot_swap: write it again with `inside`.
bool tr_folder_draft_keep( tr_folder_draft *draft, bool *cannot_swap, tr_error *error );
void tr_folder_draft_discard( tr_folder_draft *draft );
// Replaces the name of a draft's file in an error by its final name.
void tr_folder_draft_rename_error( const tr_folder_draft *draft, tr_error *error );
// Call before reading such a folder: completes an interrupted write.
bool tr_folder_settle( const char *path, tr_error *error );

// For tests: from now on the n-th call (n ≥ 1) that changes a disk fails, or it and all later ones fail, or
// the process is killed instead of it. Resets the count of such calls to 0.
typedef enum tr_file_fault {
    TR_FILE_SOUND,
    TR_FILE_FAILS_ONCE,
    TR_FILE_FAILS_FROM,
    TR_FILE_KILLS
} tr_file_fault;

void tr_file_break( tr_file_fault kind, long n );
long tr_file_steps( void ); // the count

bool tr_file_exists( const char *path );
bool tr_file_check( const char *path, tr_error *error );  // false: missing, or a pipe, a device, a folder
bool tr_folder_make( const char *path, tr_error *error ); // with parents; fine when it exists
// `path` relative to the folder of `base_file`; absolute paths stay. Allocated.
char *tr_path_beside( const char *base_file, const char *path );
bool tr_path_ends_with( const char *path, const char *ending ); // letter case does not matter

typedef struct tr_text { // growing text
    char *data;
    size_t size, capacity;
    bool failed; // out of memory happened; checked once at the end
} tr_text;

void tr_text_add( tr_text *text, const char *format, ... ) TR_PRINTF( 2 );
void tr_text_append( tr_text *text, const char *bytes, size_t size );
void tr_text_number( tr_text *text, double value, int decimals );
void tr_text_exact( tr_text *text, double value ); // shortest text that reads back as the same double
// As a JSON string, with its quotes; bytes that are not UTF-8 become U+FFFD.
void tr_text_quoted( tr_text *text, const char *string, size_t length );
void tr_text_free( tr_text *text );

// Skips the mark that some programs put before UTF-8.
void tr_skip_byte_order_mark( const char **text, size_t *size );

// -------------------------------------------------------------------------------------------------- BVH
// A tr_bvh is the file as it is: its own units, axes, channel layout and channel values. A tr_motion is in
// the program's units: metres, Y up, quaternions. Values of unedited frames are exported bit for bit.

typedef enum tr_bvh_channel {
    TR_BVH_X_POSITION,
    TR_BVH_Y_POSITION,
    TR_BVH_Z_POSITION,
    TR_BVH_X_ROTATION,
    TR_BVH_Y_ROTATION,
    TR_BVH_Z_ROTATION
} tr_bvh_channel;

typedef struct tr_bvh_layout { // channels of one joint in file order
    unsigned char count;       // 0 for end sites
    unsigned char channels[6]; // tr_bvh_channel
    int first;                 // index of the first within a frame
} tr_bvh_layout;

typedef struct tr_bvh {
    tr_skeleton skeleton;   // offsets in file units and file axes; end sites are joints named <parent>_End
    tr_bvh_layout *layouts; // [joint_count]
    int channel_count, frame_count;
    double frame_time; // seconds
    double *values;    // [frame_count * channel_count] degrees and file units
} tr_bvh;

bool tr_bvh_load( tr_bvh *out, const char *path, tr_log *warnings, tr_error *error );
// `name` is the file's name in messages.
bool tr_bvh_parse( tr_bvh *out, const char *text, size_t size, const char *name, tr_log *warnings,
                   tr_error *error );
bool tr_bvh_save( const tr_bvh *bvh, const char *path, tr_error *error );
void tr_bvh_print( const tr_bvh *bvh, tr_text *out );
void tr_bvh_free( tr_bvh *bvh );

// Conversion of a file to metres and Y up.
typedef struct tr_bvh_import {
    double unit; // metres per file unit; 0 = guess (CMU joint names: 0.05644; else by the size of the rest
                 // pose: metres, a person in inches, centimetres or millimetres)
    char up;     // 'y', 'z', or 0 = guess from the way the legs point in rest pose and first frame
    int first,
        last; // frames to take, last -1 = to the end. CMU files: frame 0 is an artificial T-pose, take 1 … -1
} tr_bvh_import;

tr_bvh_import tr_default_bvh_import( void );
// Guesses unit and up, and says in one sentence how (borrowed literal). NULL when out of memory.
const char *tr_bvh_guess( const tr_bvh *bvh, tr_bvh_import *import );

// The first recorded frame: 1 in files of the CMU library, which begin with an artificial T-pose.
int tr_bvh_first_frame( const tr_bvh *bvh );

bool tr_bvh_to_motion( tr_motion *out, const tr_bvh *bvh, const tr_bvh_import *import, tr_error *error );
// Channels for a motion. Layout and values of `like` are kept where it has the same joints and the pose is
// the same to rounding; other angles are chosen near the frame before. like = NULL: root 6 channels, others
// ZXY rotations, centimetres (unit 0.01), positions on every joint only if the clip has translations.
bool tr_bvh_from_motion( tr_bvh *out, const tr_motion *motion, const tr_bvh *like,
                         const tr_bvh_import *like_import, tr_error *error );

// Both steps in one.
bool tr_motion_load( tr_motion *out, const char *path, const tr_bvh_import *import, tr_log *warnings,
                     tr_error *error );
bool tr_motion_save( const tr_motion *motion, const char *path, tr_error *error ); // centimetres, Y up

// ----------------------------------------------------------------------------------------- glTF and FBX
// Files that hold several skeletons and several takes. Opening one reads and checks it; a motion is sampled
// when it is asked for. Every skeleton comes with rest rotations of identity: the local axes of its joints
// are those of the world in the rest pose, as in BVH.

typedef struct tr_import_skeleton {
    char *name; // no two are alike
    int joint_count, end_count;
    int skin_count; // meshes bound to it
    double height;  // metres, at rest
} tr_import_skeleton;

typedef struct tr_import_take {
    char *name;
    double start, seconds; // of its keys
    double fps;            // of its keys
} tr_import_take;

typedef struct tr_import {
    const char *format; // "glTF" or "FBX"
    tr_import_skeleton *skeletons;
    int skeleton_count, skeleton_capacity;
    tr_import_take *takes;
    int take_count, take_capacity;
    int mesh_count, skin_count;
    struct tr_import_file *file; // private
    char *data;                  // of the file, NULL: borrowed
} tr_import;

typedef struct tr_import_def {
    const char *skeleton, *take; // name, or number from 1; NULL or "": the first, and the first that moves it
    double unit;                 // metres per unit of the file; 0: as the file says
    char up;                     // 'y', 'z'; 0: as the file says
    double fps;                  // 0: the rate of the file's keys
} tr_import_def;

tr_import_def tr_default_import_def( void );
bool tr_import_is_named( const char *path ); // by its ending: .glb, .gltf, .vrm, .fbx
// Whether this build reads such a file; `path` may also be an ending alone.
bool tr_import_can_read( const char *path );
bool tr_import_load( tr_import *out, const char *path, const tr_import_def *def, tr_log *warnings,
                     tr_error *error );
// `name` stands for the file in messages; its ending tells the format. `data` stays until the import is
// freed. Other files that it names are not read.
bool tr_import_parse( tr_import *out, const char *data, size_t size, const char *name,
                      const tr_import_def *def, tr_log *warnings, tr_error *error );
void tr_import_free( tr_import *import );
// Index by name or number; -1 when absent. Of takes, an empty name gives the first that moves the skeleton.
int tr_import_find_skeleton( const tr_import *import, const char *name );
int tr_import_find_take( const tr_import *import, const char *name, int skeleton );
bool tr_import_take_moves( const tr_import *import, int take, int skeleton );
// Other files that this one names and that lie in its folder or below: buffers and pictures of a .gltf, in
// the order of the file. Nothing for other formats, and for text that is no JSON. False: out of memory.
bool tr_import_names( tr_names *out, const char *data, size_t size, const char *name, tr_error *error );
int tr_import_frame_count( const tr_import_take *take, double fps ); // fps 0: its own
// A skeleton in a take; in a file without takes, one frame at rest. Joints that the take does not move stay
// at rest.
bool tr_import_motion( tr_motion *out, const tr_import *import, const tr_import_def *def, tr_log *warnings,
                       tr_error *error );
// Any motion file by its ending: BVH as tr_motion_load does it, others as above.
bool tr_motion_read( tr_motion *out, const char *path, const tr_import_def *def, tr_log *warnings,
                     tr_error *error );

// --------------------------------------------------------------------------------------------- exchange
// What files for other programs hold: characters with their motion, things, contacts and figures. All motion
// has one rate and one number of frames. Names, skeletons, clips and tracks are borrowed; facets and arrays
// belong to the exchange.

// The look of a skeleton of a glTF file: its meshes, weights, materials and textures, and what else the file
// says of them. GLB files pass it on as it is.
typedef struct tr_look tr_look;

// *out is NULL where no skin of the file uses the skeleton. `def` chooses it.
bool tr_look_load( tr_look **out, const char *path, const tr_import_def *def, tr_log *warnings,
                   tr_error *error );
void tr_look_destroy( tr_look *look ); // NULL is fine
// Whether these are the joints of the look's skeleton, of any size.
bool tr_look_fits( const tr_look *look, const tr_skeleton *skeleton );

typedef struct tr_exchange_body {
    const char *name; // no two bodies and things have the same
    const tr_skeleton *skeleton;
    const tr_clip *clip;
    tr_facets facets; // in the rest pose; tags are joints that carry the points. May be empty
    float colour[3];  // sRGB, 0 … 1
    tr_look *look;    // GLB: instead of the facets. Belongs to the exchange; NULL: none
    double *girths;   // [joint_count] thickness against the look's, with the exchange; NULL: 1
} tr_exchange_body;

typedef struct tr_exchange_thing {
    const char *name;
    tr_facets facets;   // in its own frame
    const rigid *track; // [frame_count], NULL: it stands at
    rigid place;
    float colour[3];
} tr_exchange_thing;

typedef struct tr_exchange_contact { // a joint rests on something
    int body, joint;
    const char *surface; // "ground", or a name
    int first, last;     // frames, from 0, both included
} tr_exchange_contact;

typedef struct tr_exchange {
    double fps;
    int frame_count;
    int first; // number of the first frame in the scene
    tr_exchange_body *bodies;
    int body_count, body_capacity;
    tr_exchange_thing *things;
    int thing_count, thing_capacity;
    tr_exchange_contact *contacts;
    int contact_count, contact_capacity;
    char *figures; // JSON text, NULL: none
} tr_exchange;

void tr_exchange_free( tr_exchange *x );

typedef enum tr_exchange_format { TR_EXCHANGE_GLB, TR_EXCHANGE_USDA, TR_EXCHANGE_NPZ } tr_exchange_format;

typedef struct tr_exchange_def {
    bool each; // GLB: one animation for each character and thing, not one for all
} tr_exchange_def;

// By the ending of a path; false: none of these.
bool tr_exchange_format_of( const char *path, tr_exchange_format *out );
// Whole or not at all, as tr_file_write does it. docs/files.md says what the files hold.
bool tr_exchange_save( const tr_exchange *x, const char *path, const tr_exchange_def *def, tr_error *error );
bool tr_exchange_print( const tr_exchange *x, tr_exchange_format format, const tr_exchange_def *def,
                        tr_text *out, tr_error *error );

// -------------------------------------------------------------------------------------------------- OBJ
// Points and faces of a Wavefront file; the rest is skipped.

typedef struct tr_obj_import {
    double unit; // metres per file unit
    char up;     // 'y' or 'z'
} tr_obj_import;

bool tr_obj_load( tr_trimesh *out, const char *path, const tr_obj_import *import, tr_error *error );
bool tr_obj_parse( tr_trimesh *out, const char *text, size_t size, const char *name,
                   const tr_obj_import *import, tr_error *error );
bool tr_obj_save( const tr_trimesh *mesh, const char *path, tr_error *error ); // in metres, Y up
void tr_obj_print( const tr_trimesh *mesh, tr_text *out );

// ------------------------------------------------------------------------------------------------- JSON
// jansson checks the syntax (line and column), this reader the content (path and nearest valid key).

// jansson keeps its allocator in a global. From now on every json_t of the process comes from tr_alloc, and
// the order within hash tables is the same in every run. For programs only, before main: a library
// leaves jansson as its host has it.
void tr_json_take_over( void );
bool tr_json_load( json_t **out, const char *path, tr_error *error );
bool tr_json_parse( json_t **out, const char *text, size_t size, const char *name, tr_error *error );
// A JSON string of any bytes, as tr_text_quoted writes it; NULL when out of memory. jansson alone refuses
// bytes that are not UTF-8.
json_t *tr_json_text( const char *text );
// Whether jansson ran out of memory on this thread since the last call, or since a text was parsed: values
// built meanwhile may be incomplete.
bool tr_json_ran_out( void );
void tr_json_print( const json_t *json, tr_text *out ); // indented, numbers shortest-exact
bool tr_json_save( const json_t *json, const char *path,
                   tr_error *error ); // the same as a file, atomic

// A cursor on a value that knows its path. The first failure is kept in *error; later reads do nothing, so a
// reader can be a plain sequence of calls that checks `ok` at the end.
typedef struct tr_json {
    json_t *value;
    const char *file;
    char path[160];
    tr_error *error;
    bool *ok;
} tr_json;

tr_json tr_json_root( json_t *value, const char *file, bool *ok, tr_error *error );
tr_json tr_json_member( const tr_json *object, const char *key, bool required ); // .value NULL when absent
tr_json tr_json_item( const tr_json *array, int index );
int tr_json_count( const tr_json *array ); // also checks that it is an array
void tr_json_keys( const tr_json *object,
                   const char *const *keys ); // NULL-terminated; others fail, naming the nearest
void tr_json_fail( const tr_json *at, const char *format, ... ) TR_PRINTF( 2 );

// Leaves *out alone when the member is absent and not required.
void tr_json_int( const tr_json *object, const char *key, bool required, int low, int high, int *out );

// The candidate with the smallest edit distance to `word`, or NULL when none is near.
const char *tr_nearest_word( const char *word, const char *const *candidates );

#endif
