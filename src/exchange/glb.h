// Private to exchange: a GLB file that is being written.
#ifndef TROUPE_EXCHANGE_GLB_H
#define TROUPE_EXCHANGE_GLB_H

#include "exchange/writers.h"

typedef struct tr_glb_list { // a list of JSON values
    tr_text text;
    int count;
} tr_glb_list;

typedef struct tr_glb_passed { // a file whose meshes are in already: first numbers of what it has
    const char *path;          // borrowed
    int meshes, materials, textures, images, samplers, cameras, accessors, views;
} tr_glb_passed;

typedef struct tr_glb {
    const tr_exchange *x;
    const tr_exchange_def *def;
    tr_glb_list roots, nodes, meshes, materials, skins, accessors, views, samplers, channels, animations;
    tr_glb_list textures, images, texture_samplers, cameras; // for looks
    json_t *used, *required;                                 // names of extensions; NULL: none
    json_t *extensions;                                      // extensions of the document; NULL: none
    tr_glb_passed *passed;
    int passed_count, passed_capacity;
    tr_text data;
    int time;       // accessor of the times of all keys
    float *numbers; // [capacity] to be stored next
    int capacity;
    bool failed; // out of memory
} tr_glb;

// Begins the next value of a list and returns its index.
int tr_glb_next( tr_glb_list *list );
void tr_glb_append( tr_text *to, const tr_text *from );
void tr_glb_pad( tr_text *text, const char filler[3] ); // to a multiple of four
// Stores bytes as a view; `target` as glTF numbers it, 0: none.
int tr_glb_add_view( tr_glb *w, const void *bytes, size_t size, int target );
bool tr_glb_reserve( tr_glb *w, int count ); // `count` numbers
// Stores the numbers at hand as elements of so many components, with their bounds where `bounds` is set.
int tr_glb_add_floats( tr_glb *w, int count, int components, int target, bool bounds );
// Each takes the keys of all frames from the numbers at hand; none where they never leave the rest.
void tr_glb_put_rotation( tr_glb *w, int frame, quat q, quat *before );
void tr_glb_put_vector( tr_glb *w, int index, vec3 v );
void tr_glb_add_places( tr_glb *w, int node, vec3 rest );
void tr_glb_add_rotations( tr_glb *w, int node, quat rest );

// The look of a body: its document, fitted to the body and moved by it.
void tr_glb_add_look( tr_glb *w, const tr_exchange_body *body );

#endif
