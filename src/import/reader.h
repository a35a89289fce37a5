// Private to import: what the readers of glTF, FBX and arrays share. A reader describes its file as nodes,
// skins and takes and tells where the nodes are at a moment; import.c finds the skeletons in that and samples
// motions.
#ifndef TROUPE_IMPORT_READER_H
#define TROUPE_IMPORT_READER_H

#include "import/import.h"

typedef struct tr_import_papers { // for files with a document: see tr_import_get_document
    tr_import_document ( *document )( const struct tr_import_file *file );
    const char *( *buffer )( const struct tr_import_file *file, int buffer, size_t *size );
    int ( *skin_joint )( const struct tr_import_file *file, int skin, int index );
    tr_affine ( *inverse_bind )( const struct tr_import_file *file, int skin, int index );
    void ( *mend )( const struct tr_import_file *file, int buffer, char *copy ); // NULL: nothing to do
} tr_import_papers;

struct tr_import_file { // the first part of a reader's own struct
    // World transforms of all nodes at a moment of a take (-1: at rest).
    bool ( *sample )( struct tr_import_file *file, int take, double time, tr_affine *world, tr_error *error );
    // Does the take move this node itself?
    bool ( *moves )( const struct tr_import_file *file, int take, int node );
    void ( *close )( struct tr_import_file *file ); // frees it, too
    const tr_import_papers *papers;                 // NULL: none
    // A joint of a skin: its node (-1: none) and where it was when the mesh was bound, in a space of the
    // skin's own. False: there are no more. NULL: no skins.
    bool ( *bound )( const struct tr_import_file *file, int skin, int index, int *node, tr_affine *place );
    int ( *carrier )( const struct tr_import_file *file, int skin ); // node with its mesh, -1: none
    int skin_count;                                                  // for these two
    tr_import_node *nodes;                                           // [node_count]
    int node_count;
    int *order;          // [node_count] parents first
    int *set;            // [node_count] union-find; the reader joins what a skin uses
    tr_import_rig *rigs; // [rig_count] by skeleton
    int rig_count, rig_capacity;
    tr_affine placement; // from sampled transforms to metres with Y up
    tr_affine *rest;     // [node_count] placed, where skins were bound in another pose; NULL: as sampled
    size_t bytes;        // size of the file
    size_t work;         // steps that one sample takes
};

// Assumptions about files, and what is taken for rounding in them.
typedef struct tr_import_limits {
    double fps;          // frames a second, where a file gives none
    double on_frame;     // frames: keys this near to a frame are on it
    double same_frame;   // frames that rounding of key times may add to a take
    double unit_length;  // squared lengths of rotations differ from 1 by less, else there is a warning
    double whole_weight; // weights of a point add up to 1 but for this, else there is a warning
    double growth;       // shares: scales change over time by less, else there is a warning
    double even;         // shares, and cosines between axes: less is an even scale
    double same_pose;    // sizes of a skin: it was bound as its nodes are, but for this
    double bind_length;  // sizes of a skin: bones of the same length when bound differ by less
    double bind_bones;   // share of a skin's bones that have to
    double no_scale;     // shares: joints scaled to less have no rotation
    double still;        // sizes of the skeleton: joints that move by less than this do not move
    double size[2];      // metres: smaller and taller bodies are warned of
    int body_joints;     // with more joints a small skeleton is a small body
    double farthest;     // metres
    double taller;       // times: bodies of places are that much higher than wide, or lie along Z
    double bone_change;  // share of the height: bones between places that change by less on average need no
                         // warning
    double even_bone;    // share of the size: joints whose distance varies by less keep it
    double longest;      // seconds: takes begin and end before
    double lowest;       // share of a clip of SMPL poses: the lowest feet in it may be below the floor
    double smpl[2];      // times the mean stature: bodies of SMPL beyond stand on another floor
} tr_import_limits;

tr_import_limits tr_default_import_limits( void );

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
// Where skins were bound in another pose than that of the nodes, that becomes the rest: `world` [node_count]
// and file->rest.
bool tr_import_bind( struct tr_import_file *file, tr_affine *world, tr_error *error );
void tr_import_count_skin( tr_import *import, int joint ); // a skin that uses this joint
bool tr_import_add_take( tr_import *import, const char *name, double start, double seconds, double fps,
                         tr_error *error );
// A name of the file, fit for a skeleton: allocated; `fallback` and the number where there is none.
char *tr_import_name( const char *name, const char *fallback, int number );

// Each leaves what it has in *out on failure, for tr_import_free.
bool tr_gltf_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error );
// Arrays of numpy, and tables (CSV).
bool tr_bodies_open( tr_import *out, const tr_import_source *source, const char *format, tr_log *warnings,
                     tr_error *error );
bool tr_fbx_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error );

#endif
