// import: motion from files that hold several skeletons and takes: glTF, FBX, places of joints and poses of
// SMPL (NPZ, NPY, CSV).
#ifndef TROUPE_IMPORT_H
#define TROUPE_IMPORT_H

#include "format/format.h"

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
    double start, seconds; // time of the first key, and length
    double fps;            // rate of its keys
} tr_import_take;

typedef struct tr_import {
    const char *format; // "glTF", "FBX", "NPZ", "NPY", "CSV"
    tr_import_skeleton *skeletons;
    int skeleton_count, skeleton_capacity;
    tr_import_take *takes;
    int take_count, take_capacity;
    int mesh_count, skin_count;
    struct tr_import_file *file; // private
    char *data;                  // bytes of the file, NULL: borrowed
} tr_import;

typedef struct tr_import_def {
    const char *skeleton, *take; // name, or number from 1; NULL or "": the first, and the first that moves it
    double unit;                 // metres per unit of the file; 0: that of the file
    char up;                     // 'y', 'z'; 0: that of the file
    double fps;                  // 0: the rate of the file's keys
    double rate;                 // frames a second of arrays and tables, in place of their own; 0: their own
    bool body;                   // its rest pose matters, no take
    bool meshes;                 // FBX: those too, for tr_import_get_document
} tr_import_def;

tr_import_def tr_default_import_def( void );
bool tr_import_is_named( const char *path ); // by its ending: .glb, .gltf, .vrm, .fbx, .npz, .npy, .csv
bool tr_import_may_have_meshes( const char *path ); // by its ending: .glb, .gltf, .vrm, .fbx
// Whether this build reads such a file; `path` may also be an ending alone.
bool tr_import_can_read( const char *path );
bool tr_import_load( tr_import *out, const char *path, const tr_import_def *def, tr_log *warnings,
                     tr_error *error );
// `name` stands for the file in messages; its ending gives the format. `data` stays until the import is
// freed. Other files that it names are not read.
bool tr_import_parse( tr_import *out, const char *data, size_t size, const char *name,
                      const tr_import_def *def, tr_log *warnings, tr_error *error );
void tr_import_free( tr_import *import );
// Index by name or number; -1 when absent. Of takes, an empty name gives the first that moves the skeleton.
int tr_import_find_skeleton( const tr_import *import, const char *name );
int tr_import_find_take( const tr_import *import, const char *name, int skeleton );
bool tr_import_take_moves( const tr_import *import, int take, int skeleton );
// The path of the file that a uri of a .gltf names, %20 and the like decoded. NULL where it names none in the
// folder of the document or below. False: out of memory.
bool tr_uri_path( const char *document, const char *uri, char **path );
// "image/png", "image/jpeg" or "image/webp", by the first bytes; NULL: none of these.
const char *tr_picture_kind( const void *bytes, size_t size );
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

// ------------------------------------------------------------------------------------------------ meshes

// All meshes of a glTF or FBX file as they are at rest, in metres and Y up, times `scale`. FBX: read with
// def.meshes. `name` stands for the file in messages.
bool tr_import_mesh( tr_trimesh *out, const tr_import *import, const char *name, double scale,
                     tr_error *error );
// A mesh file by its ending: OBJ as tr_obj_load does it; of glTF and FBX files, whose unit and axes are
// known, `unit` is a factor and up 'y' means as the file says.
bool tr_mesh_read( tr_trimesh *out, const char *path, const tr_obj_import *how, tr_error *error );

// ------------------------------------------------------------------------------------ imports as they are
// The nodes of a glTF or FBX file, for writers that pass on what this program does not know.

typedef struct tr_affine { // p ↦ linear · p + position
    mat3 linear;
    vec3 position;
} tr_affine;

static const tr_affine tr_affine_identity = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { 0, 0, 0 } };

static inline tr_affine tr_affine_mul( tr_affine a, tr_affine b ) // first b, then a
{
    return ( tr_affine ){ m3_mul( a.linear, b.linear ),
                          v3_add( m3_mulv( a.linear, b.position ), a.position ) };
}

typedef struct tr_import_node {
    const char *name; // borrowed from the reader, any bytes; NULL: none
    int parent;       // -1: none; in any order, but no rings
    bool joint;       // a joint of a skin, or a bone
    bool animated;    // its own transform, in any take
    bool loaded;      // carries a mesh, a camera or a light
} tr_import_node;

typedef struct tr_import_rig { // nodes that make up a skeleton
    int *nodes;                // [joint_count] parents first; -1: a root above several trees, at the origin
    int *parents;              // [joint_count] as joints
    bool *ends;                // [joint_count] tips that no skin uses and nothing moves
    int joint_count;
    int set; // which of its sets of joints
} tr_import_rig;

typedef struct tr_import_tree {  // borrowed from the import
    const tr_import_node *nodes; // [node_count]
    int node_count;
    const int *order;    // [node_count] parents first
    tr_affine placement; // from the file's transforms to metres with Y up
} tr_import_tree;

tr_import_tree tr_import_get_tree( const tr_import *import );
const tr_import_rig *tr_import_get_rig( const tr_import *import, int skeleton );
// World transforms of all nodes at rest, in metres and Y up.
bool tr_import_rest( const tr_import *import, tr_affine *world, tr_error *error );

// The document of a glTF file; of an FBX file what it would be as glTF: nodes, skins, meshes, materials,
// pictures, no animations. Numbers of nodes are those of the tree.
typedef struct tr_import_document {
    const char *json; // [size] borrowed; NULL: there is none
    size_t size;
    int buffer_count, skin_count;
} tr_import_document;

tr_import_document tr_import_get_document( const tr_import *import );
const char *tr_import_get_buffer( const tr_import *import, int buffer, size_t *size ); // NULL: empty
// Scales the weights of points in a copy of a buffer so that they add up to 1.
void tr_import_mend_buffer( const tr_import *import, int buffer, char *copy );
int tr_import_skin_joint( const tr_import *import, int skin, int index ); // node; -1: no more
tr_affine tr_import_inverse_bind( const tr_import *import, int skin, int index );

#endif
