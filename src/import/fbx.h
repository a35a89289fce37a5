// Private to import: what the two parts of the reader of FBX share.
#ifndef TROUPE_IMPORT_FBX_H
#define TROUPE_IMPORT_FBX_H

#include "import/reader.h"

#include <ufbx.h>

typedef struct fbx_skin { // a skin of the document
    const ufbx_skin_deformer *deformer;
    int *joints;      // [joint_count] nodes
    tr_affine *binds; // [joint_count] inverse bind matrices
    int *slots;       // [cluster count] joint of the skin that a cluster is, -1: none
    int joint_count;
} fbx_skin;

typedef struct fbx_document { // an FBX file as glTF
    tr_text json, data;
    fbx_skin *skins; // [skin_count]
    int skin_count;
} fbx_document;

typedef struct fbx {
    struct tr_import_file base;
    ufbx_scene *scene;
    bool *moves;   // [take_count * node_count]
    int *carriers; // [skin_count] node with the mesh of a skin, -1: none
    fbx_document document;
} fbx;

ufbx_allocator_opts tr_fbx_memory( size_t bytes ); // for a file of this size
extern const tr_import_papers tr_fbx_papers;
// Meshes, skins and materials of the scene. Pictures that it names are looked for beside `path`, NULL: none
// are.
bool tr_fbx_write_document( fbx *f, const char *path, tr_log *warnings, tr_error *error );
void tr_fbx_free_document( fbx_document *document );

#endif
