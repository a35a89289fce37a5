// compose: results as what files for other programs hold.
#ifndef TROUPE_COMPOSE_H
#define TROUPE_COMPOSE_H

#include "exchange/exchange.h"
#include "measure/measure.h"

typedef struct tr_compose_def {
    bool bodies;      // facets of capsules around the bones
    bool things;      // props and environment
    bool figures;     // those of tr_measure, which take time
    const char *only; // id of one character, NULL: all
    bool looks;       // meshes of characters that come from glTF files, instead of `bodies`; for GLB
    const char *file; // the scene's own path, for them; NULL: paths are as they are
} tr_compose_def;

tr_compose_def tr_default_compose_def( void ); // everything
// Borrows from stage and result, which have to outlive it. Free with tr_exchange_free.
bool tr_compose( tr_exchange *out, const tr_stage *stage, const tr_result *result, const tr_compose_def *def,
                 tr_log *warnings, tr_error *error );

// One motion alone, with the bodies of `def`.
bool tr_compose_motion( tr_exchange *out, const tr_motion *motion, const char *name,
                        const tr_compose_def *def, tr_error *error );

#endif
