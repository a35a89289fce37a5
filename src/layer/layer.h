// layer: cages on a result, one after the other, and drags of their handles.
#ifndef TROUPE_LAYER_H
#define TROUPE_LAYER_H

#include "result/result.h"

#include <stdatomic.h>

// The stage's grabs of layers begin … end − 1, one after the other, each on the
// result of the layer before it.
bool tr_layers_apply( const tr_stage *stage, tr_result *result, int begin, int end, tr_error *error );
// The middles of the first and the last section of a cage around the nodes [actor_count + prop_count] over
// the whole clip: the centres about which these sections turn. Fails where there is no such cage.
bool tr_cage_middles( const tr_stage *stage, const tr_result *below, const bool *nodes, vec3 middles[2],
                      tr_error *error );

// ----------------------------------------------------------------------------------------------- drag
// A layer of kind cage while its handles are held: poses at preview quality, visible frames first. On release
// the edit is kept as ops (handle_set …). Their result comes from the drag if it equals the pipeline's to the
// bit, else from the pipeline.
//
//   tr_drag *drag = tr_drag_begin( &stage, &below, layer, handle, &error ); // slow: cage, weights, factors
//   for each move of the mouse
//       tr_drag_visible( drag, &tick );                               // the block of frames being looked at
//       while ( tr_drag_more( drag, 4 ) ) draw…                       // the others, the nearest first
//       while ( tr_drag_refine( drag, 1 ) ) draw…                     // all again, as the pipeline has them
//   if ( tr_drag_finish( drag, scene, NULL ) ) tr_drag_take( … );     // let go: the result that is kept
//   tr_drag_end( drag );
//
// Everything that rules join to what is dragged moves along: partners, props and the hands that hold them.
// All other members keep their bits. The cost grows with the frames of the layer's window and ease, not with
// the clip.
// Layers above the dragged one keep the change they made when the drag began.

enum { TR_DRAG_BLOCK = 8 }; // frames that are solved together: as many as the widest lanes hold

typedef struct tr_drag tr_drag;

typedef struct tr_drag_move { // where a handle is now; see tr_handle
    int handle;               // index in the document; of the layer, and pinned
    vec3 move, turn;
} tr_drag_move;

typedef struct tr_drag_tick {
    const tr_drag_move *moves; // [move_count] handles not named stay where the last tick had them
    int move_count;
    int frame;                // stage frame that is being looked at
    const atomic_int *latest; // a tick is superseded, and stops soon, when *latest is not `number` any more.
    int number;               // NULL: never
} tr_drag_tick;

// `below`: what tr_pipeline_run_below gave; the layer must be active and of kind cage. `handle`: the
// handle that will be dragged, -1: not known yet. At an end of the window it frees that end, as it does in
// the document once it is moved. Stage, scene and below are borrowed until tr_drag_end and may not change.
tr_drag *tr_drag_begin( const tr_stage *stage, const tr_result *below, int layer, int handle,
                        tr_error *error );
void tr_drag_end( tr_drag *drag ); // NULL is fine

// A tick: moves the cage and solves the block that holds the frame. False when it was superseded before that
// was done. Moves that are not finite are ignored. Neither this nor tr_drag_more allocates; both use as many
// threads as there are.
bool tr_drag_visible( tr_drag *drag, const tr_drag_tick *tick );
// Solves at least one and at most `blocks` further blocks of the last tick, those next to its frame first.
// True as long as there is more to do; false when all frames are solved or the tick was superseded.
bool tr_drag_more( tr_drag *drag, int blocks );
// Motions, worlds, tracks, steps and turns, of every character and prop of the stage, in every frame: of the
// last tick where tr_drag_is_solved says so, of an earlier one, or of below, elsewhere. No reports. May be
// read between the calls above.
const tr_result *tr_drag_result( const tr_drag *drag );
bool tr_drag_is_solved( const tr_drag *drag, int frame );   // also where nothing has to be
const tr_cage_outline *tr_drag_cage( const tr_drag *drag ); // as the last tick moved it; NULL: none was built
// While the mouse rests: once tr_drag_more is through, solves the frames of the last tick again as the
// pipeline will when the mouse is let go, those next to its frame first, at most `blocks` at a time. True as
// long as there is more to do; false when all frames are refined, or the tick was superseded. Allocates
// nothing. In the first case motions, worlds, tracks and turns then have the pipeline's bits in all drags of
// tests/test_drag.c, yielding and calming included. Layers above the dragged one do not: they are put on by
// what they did when the drag began.
bool tr_drag_refine( tr_drag *drag, int blocks );
bool tr_drag_is_refined( const tr_drag *drag, int frame );

// On release (drag_release.c): the result that is kept, from the cage, the graphs and the resolver of the
// drag. Frames that are refined already are not solved again.
//
// Refines the remaining frames, also if the tick was superseded. True: the drag has the bits of
// tr_layers_apply for `scene`, which is the drag's with its handles where the last tick had them. False: it
// is another scene, the layer does not change anything, or the pipeline resolves other members together; then
// the layer has to be solved anew. (A handle at an end of the window that was dragged and came back is such a
// case: the end is not free any more.) `progress` may be NULL.
bool tr_drag_finish( tr_drag *drag, const tr_scene *scene, const tr_progress *progress );
// After that: the result of the layer and those below it, with their cages and reports of their handles.
// `stage` has that scene, and the `below` of tr_drag_begin must have the first handles of it.
bool tr_drag_take( tr_drag *drag, const tr_stage *stage, tr_result *out, tr_error *error );
// Whether the last tick had a handle (index in the document) there.
bool tr_drag_holds( const tr_drag *drag, int handle, vec3 move, vec3 turn );
int tr_drag_layer( const tr_drag *drag );              // index in the scene
const tr_result *tr_drag_below( const tr_drag *drag ); // as given
long tr_drag_steps( const tr_drag *drag );             // steps of Newton's method in all its fits so far

// Distance in metres between the place a handle (index in the document) was dragged to and the place its
// point reached in the last tick.
double tr_drag_error( const tr_drag *drag, int handle );

#endif
