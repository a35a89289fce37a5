// Pieces of the last pass of the interaction-mesh method (imesh/relieve.c): what presses into what in the
// fitted motion, how bodies are pushed out, and which of it is kept.
#ifndef TROUPE_SCENE_IMESH_RELIEF_H
#define TROUPE_SCENE_IMESH_RELIEF_H

#include "scene/imesh/method.h"

#define TR_RELIEF_DEEP 0.002 // metres beyond the source's depth: less is left alone

typedef struct tr_relief {
    tr_mesh_work *work;
    tr_imesh_presses *found; // [windows.count] members and frames are the stage's
    bool *stale;             // [windows.count] the motion changed since
    tr_imesh_presses now;    // of all windows, each pair once; by pair, then by frame
    tr_imesh_presses before; // the same in the motion before the round, and
    tr_imesh_presses meshes; // as the meshes left it
    double *eager;           // [actor_count * frame_count] share of a push that is tried; 0: given up
    tr_result first, saved;  // the motion as the meshes left it, and before the round
} tr_relief;

static inline size_t tr_relief_cell( const tr_relief *r, int node, int frame )
{
    return (size_t)node * (size_t)r->work->stage->frame_count + (size_t)frame;
}

// Fills `now`: of windows that are stale anew. False when out of memory.
bool tr_relief_look( tr_relief *r );
bool tr_presses_are_one( const tr_imesh_press *x, const tr_imesh_press *y ); // the same two volumes

// Pushes bodies out of what they are too deep in, each frame by itself, by amounts that come and go smoothly.
// Marks whom it changed as affected. Sets `any`: there was something to push.
bool tr_relief_push( tr_relief *r, bool *any, tr_error *error );

// Takes back what made nothing better, and lessens the eagerness there.
bool tr_relief_compare( tr_relief *r, tr_error *error );

#endif
