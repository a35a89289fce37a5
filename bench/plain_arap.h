// Private to bench: the deformation of a cage in doubles, one rotation after the other, as a baseline.
#ifndef TROUPE_BENCH_PLAIN_ARAP_H
#define TROUPE_BENCH_PLAIN_ARAP_H

#include "cage/cage.h"

typedef struct plain_arap {
    int count, free_count;
    int *unknowns; // [count] -1: held
    vec3 *v;       // [count]
    quat *turns;   // [count]
    mat3 *cells;   // [count]
    double *b, *work;
    tr_ldl ldl;
} plain_arap;

// One vertex is dragged, the first and the last section are held. Free it also after failure.
bool plain_arap_build( plain_arap *out, const tr_cage *cage, const tr_cage_handle *handle, tr_error *error );
void plain_arap_free( plain_arap *p );
void plain_arap_rotations( plain_arap *p, const tr_cage *cage );
void plain_arap_positions( plain_arap *p, const tr_cage *cage );

#endif
