// method: ways to turn a stage into the motion of the target bodies. Composition only.
#ifndef TROUPE_METHOD_H
#define TROUPE_METHOD_H

#include "result/result.h"

typedef struct tr_method {
    const char *name, *help;
    bool ( *solve )( const tr_stage *stage, tr_result *result, tr_error *error );
    bool exact; // it tries to meet hard rules: those missed by more than a millimetre are reported as having
                // given way
    tr_memory_use memory;
} tr_method;

#define TR_METHOD_MAX 32

const tr_method *tr_method_table( int *count );
void tr_method_names( const char *names[TR_METHOD_MAX] ); // all of them, NULL-terminated
const tr_method *tr_method_find( const char *name ); // NULL: unknown; the default method when name is NULL
const tr_method *tr_method_default( const tr_scene *scene ); // the one the scene asks for
// Runs the method, then applies constraints with `partners` (held.c), which baselines ignore.
bool tr_method_solve( const tr_stage *stage, const tr_method *method, tr_result *out, tr_error *error );

#endif
