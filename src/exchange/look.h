// Private to exchange: a look, for the writer of GLB.
#ifndef TROUPE_EXCHANGE_LOOK_H
#define TROUPE_EXCHANGE_LOOK_H

#include "exchange/exchange.h"

struct tr_look {
    tr_import import;
    char *path;
    json_t *json;    // the document
    int skeleton;    // skeleton of the import
    tr_affine *rest; // [node_count] at rest, in metres and Y up
    int *joints;     // [node_count] joint of the skeleton that a node is, -1: none
    bool *kept;      // [node_count] belongs to the character
    bool *free;      // [node_count] a skinned mesh that needs no place in the tree
};

static inline const tr_import_rig *tr_look_rig( const tr_look *look )
{
    return tr_import_get_rig( &look->import, look->skeleton );
}
bool tr_look_load( tr_look **out, const char *path, const tr_import_def *def, tr_log *warnings,
                   tr_error *error );
void tr_look_destroy( tr_look *look ); // NULL is fine
// Where a joint of the skeleton is at rest in the file.
vec3 tr_look_place( const tr_look *look, int joint );
bool tr_look_uses( const tr_look *look, int skin ); // the skin is of this skeleton

#endif
