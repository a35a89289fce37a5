// poster: example-based motion as published, the baseline of src/exemplar. Choung, Kang and Kim, "Example
// Based Motion Generation with Efficient Control". Equation numbers are theirs.
#ifndef TROUPE_BENCH_POSTER_H
#define TROUPE_BENCH_POSTER_H

#include "exemplar/exemplar.h"

typedef struct tr_poster tr_poster;

// Postures are the rotation vectors of all joints below the root, from the rest pose. `locals` [pair_count *
// source joint_count]: local rotations of the pairs' sources. Parts go by direction alone; their aim does not
// count. damping: of the weights (1); part_damping: of those of parts (3).
tr_poster *tr_poster_create( const tr_exemplar_job *job, const quat *locals, double damping,
                             double part_damping, tr_error *error );
void tr_poster_destroy( tr_poster *poster );
// source_local [source joint_count]; facing: where the source's hips face. Fills local [target joint_count].
void tr_poster_pose( const tr_poster *poster, const quat *source_local, tr_pose source, quat facing,
                     quat *local );

#endif
