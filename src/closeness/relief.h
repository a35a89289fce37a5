// Pieces of the last pass of the interaction-mesh method (closeness/relieve.c): what presses into what in the
// fitted motion and which touches it lost or made up, how hands are turned and bodies pushed out, and which
// of it is kept.
#ifndef TROUPE_CLOSENESS_RELIEF_H
#define TROUPE_CLOSENESS_RELIEF_H

#include "closeness/private.h"

#define TR_RELIEF_DEEP 0.002 // metres beyond the source's depth: less is left alone

typedef enum tr_relief_kind {
    TR_RELIEF_TURN,
    TR_RELIEF_PUSH,
    TR_RELIEF_KINDS
} tr_relief_kind; // kinds of a round

typedef struct tr_touches {
    int *first;                      // [actor_count] number of an actor's first volume among …
    const tr_capsule **counterparts; // … the volumes of all targets: the source's, NULL: it has none
    double ( *heights )[2];          // [actor_count] of source and target
} tr_touches;

typedef struct tr_relief {
    tr_mesh_work *work;
    tr_touches touches;
    tr_imesh_presses *found;        // [windows.count] members and frames are the stage's
    int **strayed;                  // [windows.count][frames of the window] touches that the source has
                                    // and the motion has not, or the other way round
    bool *stale;                    // [windows.count] the motion changed since
    tr_imesh_presses now;           // presses of all windows, each pair once; by pair, then by frame
    tr_imesh_presses before;        // the same in the motion before the round, and
    tr_imesh_presses meshes;        // as the meshes left it
    int last_strayed;               // how many there were before the last round of turned hands
    double *eager[TR_RELIEF_KINDS]; // [actor_count * frame_count] share of a turn or push that is tried
    tr_result first, saved;         // the motion as the meshes left it, and before the round
} tr_relief;

static inline size_t tr_relief_cell( const tr_relief *r, int node, int frame )
{
    return (size_t)node * (size_t)r->work->stage->frame_count + (size_t)frame;
}

// Fills `now`: of windows that are stale anew. False when out of memory.
bool tr_relief_look( tr_relief *r );

// touches.c. `reach`: within which volumes of two actors touch. `strayed`: how many touches of two members
// are not the source's; pieces of the surroundings touch nobody.
bool tr_touches_build( tr_touches *t, const tr_stage *stage ); // false when out of memory; freed in any case
void tr_touches_free( tr_touches *t );
double tr_touches_reach( const tr_touches *t, int a, int b, int target );
int tr_touches_strayed( const tr_touches *t, const tr_mesh_work *w, int a, int b, int frame );

typedef struct tr_volume { // a capsule in the world
    vec3 a, b;             // ends of its axis
    double radius;
    vec3 middle; // centre of a ball around it, with this
    double size; // radius: most pairs are far apart
} tr_volume;

tr_volume tr_volume_of( const tr_capsule *capsule, tr_pose pose );
bool tr_volumes_are_near( const tr_volume *a, const tr_volume *b, double reach ); // perhaps within reach
double tr_volume_gap( const tr_volume *a, const tr_volume *b );

// Turns hands so that they touch what they touched, and nothing else. Marks and sets as pushing does:
bool tr_relief_turn_hands( tr_relief *r, bool *any, tr_error *error );

// Pushes bodies out of what they are too deep in, each frame by itself, by amounts that come and go smoothly.
// Marks whom it changed as affected. Sets `any`: there was something to push.
bool tr_relief_push( tr_relief *r, bool *any, tr_error *error );

// Takes back what made nothing better, and lessens the eagerness there.
bool tr_relief_compare( tr_relief *r, tr_relief_kind kind, tr_error *error );

#endif
