// Private to io: what the readers of glTF and FBX share. A reader describes its file as nodes, skins and
// takes and tells where the nodes are at a moment; import.c finds the skeletons in that and samples motions.
#ifndef TROUPE_IO_IMPORT_H
#define TROUPE_IO_IMPORT_H

#include "io/io.h"

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
    bool joint;       // of a skin, or a bone
    bool animated;    // its own transform, in any take
    bool loaded;      // carries a mesh, a camera or a light
} tr_import_node;

typedef struct tr_import_rig { // nodes that make up a skeleton
    int *nodes;                // [joint_count] parents first; -1: a root above several trees, at the origin
    int *parents;              // [joint_count] as joints
    bool *ends;                // [joint_count] tips that no skin uses and nothing moves
    int joint_count;
    int set; // of its joints
} tr_import_rig;

struct tr_import_file { // the first part of a reader's own struct
    // World transforms of all nodes at a moment of a take (-1: at rest).
    bool ( *sample )( struct tr_import_file *file, int take, double time, tr_affine *world, tr_error *error );
    // Does the take move this node itself?
    bool ( *moves )( const struct tr_import_file *file, int take, int node );
    void ( *close )( struct tr_import_file *file ); // frees it, too
    tr_import_node *nodes;                          // [node_count]
    int node_count;
    int *order;          // [node_count] parents first
    int *set;            // [node_count] union-find; the reader joins what a skin uses
    tr_import_rig *rigs; // [rig_count] by skeleton
    int rig_count, rig_capacity;
    tr_affine placement; // from sampled transforms to metres with Y up
    size_t bytes;        // of the file
    size_t work;         // steps that one sample takes
};

typedef struct tr_import_source {
    const char *data; // [size] stays as long as the import
    size_t size;
    const char *path; // NULL: other files that it names cannot be read
    const tr_import_def *def;
} tr_import_source;

// Memory for nodes and sets. Nodes are zero, without parents, each a set of its own.
bool tr_import_alloc( struct tr_import_file *file, int node_count, tr_error *error );
void tr_import_release( struct tr_import_file *file ); // what is here; the reader frees the rest
void tr_import_place( struct tr_import_file *file, const tr_import_def *def );
// Finds the skeletons once all else is there. `skinned`: joints are known; else what moves is a joint.
bool tr_import_find_skeletons( tr_import *import, bool skinned, tr_error *error );
void tr_import_count_skin( tr_import *import, int joint ); // a skin that uses this joint
bool tr_import_add_take( tr_import *import, const char *name, double start, double seconds, double fps,
                         tr_error *error );
// A name of the file, fit for a skeleton: allocated; `fallback` and the number where there is none.
char *tr_import_name( const char *name, const char *fallback, int number );

// Each leaves what it has in *out on failure, for tr_import_free.
bool tr_gltf_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error );
bool tr_fbx_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error );

// A glTF file as it is, for those who pass it on.
typedef struct tr_gltf_document {
    const char *json; // [size] borrowed
    size_t size;
    int buffer_count, skin_count;
} tr_gltf_document;

tr_gltf_document tr_gltf_get_document( const struct tr_import_file *file );
const char *tr_gltf_get_buffer( const struct tr_import_file *file, int buffer, size_t *size ); // NULL: empty
int tr_gltf_skin_joint( const struct tr_import_file *file, int skin, int index ); // node; -1: no more
tr_affine tr_gltf_inverse_bind( const struct tr_import_file *file, int skin, int index );

mat3 tr_mat3_inverse( mat3 m ); // 0 when it has none to speak of
// World transforms of all nodes at rest, in metres and Y up.
bool tr_import_rest( const tr_import *import, tr_affine *world, tr_error *error );

#endif
