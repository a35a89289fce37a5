// Private to layer: a layer while its handles are dragged, see layer.h.
//
//   cage ─► posed  ─► graphs  ─► fit ─► work ─► shown
//           └ of the row and as many frames beside it as the fit looks at ┘
//
// drag.c lays everything out and decides which frames come next; drag_frames.c solves them; drag_above.c puts
// the layers above the dragged one on what is shown; drag_release.c makes the result that is kept. Members
// that rules join are a set and are solved together, sets side by side.
#ifndef TROUPE_LAYER_DRAG_H
#define TROUPE_LAYER_DRAG_H

#include "layer/private.h"

typedef struct tr_row { // frames first … last; none: last < first
    int first, last;
} tr_row;

static inline bool tr_row_is_empty( tr_row r )
{
    return r.last < r.first;
}
static inline tr_row tr_row_cut( tr_row r, tr_row to )
{
    return ( tr_row ){ r.first > to.first ? r.first : to.first, r.last < to.last ? r.last : to.last };
}
static inline tr_row tr_row_join( tr_row r, tr_row more ) // two rows that touch
{
    if ( tr_row_is_empty( r ) )
        return more;
    return ( tr_row ){ r.first < more.first ? r.first : more.first, r.last > more.last ? r.last : more.last };
}

typedef struct tr_drag_set { // nodes that rules join
    const int *nodes;        // [count]
    int count;
} tr_drag_set;

typedef enum tr_drag_pass {
    TR_DRAG_NEAR,  // the frames that are looked at: all of them, at preview quality
    TR_DRAG_SEEN,  // the same of a few: as the pipeline has them, but fits begin with the last tick's
    TR_DRAG_FAR,   // the others: keys at preview quality, between them what the layer does is mixed
    TR_DRAG_EXACT, // all as the pipeline has them
    TR_DRAG_PASSES
} tr_drag_pass;

typedef struct tr_drag_def { // how well, and in which portions, the passes of a drag solve
    int cage_rounds;         // rounds of moving the cage
    double cage_rest;        // metres: its solve stops when vertices move less
    int far_rounds;          // rounds of the graphs in frames that are not on show …
    double far_rest;         // … metres: they stop when vertices move less
    int far_meetings;        // rounds of meeting and fitting there …
    tr_fit_def far_fit;      // … and how each ends
    int near_rounds;         // the same of the frames that are looked at
    double near_rest;
    int root_rounds;   // rounds of graphs of which the fit reads only roots: roots converge long before hands
    int few;           // characters: so many are solved in long rows, to keep all threads at work
    int far_blocks[2]; // blocks that are solved at the same time: of few characters, of many
    int exact_blocks[2]; // the same when they are refined
    double mixed_span; // share of the frames over which the fit averages roots: keys that are nearer together
                       // than this hide no motion of roots between them
} tr_drag_def;

tr_drag_def tr_default_drag_def( void );

struct tr_drag {
    tr_drag_def def;
    tr_layer_def layer_def; // as the pipeline's
    tr_cage_solve_def quick;
    tr_stage stage; // as given, but for the scene
    tr_scene scene; // as given, but for the handles, which ticks move
    const tr_result *below;
    const tr_grab *grab;
    tr_result work, shown; // the second gets frames that are done only
    bool *shows;           // [(actor_count + prop_count) * frame_count] it may show something else than below
    tr_result first, top;  // the dragged layer as the drag began, and all layers; empty where it is the last
    bool *above;           // [(actor_count + prop_count) * frame_count] where they differ; NULL: nowhere
    tr_cage_layer layer;
    tr_cage_outline shape;
    tr_drag_set *sets; // [set_count]
    int *nodes;        // nodes of all sets
    int set_count;
    tr_resolver *resolver;
    tr_progress wanted; // whether the tick is
    tr_resolving how[TR_DRAG_PASSES];
    int blocks[TR_DRAG_PASSES]; // blocks that are solved at the same time, at most
    tr_row range;               // what a tick may change
    tr_drag_tick tick;
    tr_row prepared;        // frames whose graphs are there, in the pass at hand
    tr_row solved, refined; // how far the last tick came
    bool strained;          // handles could not be followed in the last tick
    bool few;               // are grabbed
    bool balances;          // a frame depends on the steps of others: refining begins with those of all
    bool refining;
    bool yielding;               // handles did, all frames are to be refined once more
    bool calming;                // they do not any more, what jolts is calmed
    bool interrupted;            // in the middle of that: it has to begin again
    bool final;                  // all of that is done
    const tr_progress *progress; // given by the caller of tr_drag_finish; NULL: none
};

bool tr_drag_is_superseded( const tr_drag *drag );
int tr_drag_chunk( const tr_drag *drag ); // frames that one run of a pass poses, at most
// Moves the cage to where the handles are. A preview of many bodies does not ask whether legs are long
// enough.
void tr_drag_start( tr_drag *drag, const tr_cage_solve_def *cage, bool preview );
// Poses all frames of the range, and resolves none. False when it was superseded, or no numbers came out.
bool tr_drag_pose( tr_drag *drag );
// Solves further frames, which lie beside those that are prepared already. False when it was superseded, or
// no numbers came out.
bool tr_drag_solve( tr_drag *drag, tr_drag_pass pass, tr_row frames );
bool tr_drag_try( tr_drag *drag, tr_drag_pass pass, tr_row frames ); // the same, and nothing is shown
void tr_drag_show( tr_drag *drag, tr_row frames );                   // what came of them
bool tr_drag_resolve( tr_drag *drag, tr_row frames ); // frames that were calmed, as the pipeline does

// After `shown` and `shows`; stage as given.
bool tr_drag_above_build( tr_drag *drag, const tr_stage *stage, tr_error *error );
void tr_drag_above_free( tr_drag *drag );
// On a frame of a character or prop that has just been copied into `shown`.
void tr_drag_above_put( tr_drag *drag, int node, int frame );

#endif
