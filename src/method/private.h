// Private to method: the rows of its table.
#ifndef TROUPE_METHOD_PRIVATE_H
#define TROUPE_METHOD_PRIVATE_H

#include "closeness/closeness.h"
#include "cluster/cluster.h"
#include "method/method.h"

bool tr_solve_copy_ik( const tr_stage *stage, tr_result *result, tr_error *error );
bool tr_solve_posegraph( const tr_stage *stage, tr_result *result, tr_error *error );
bool tr_solve_imesh( const tr_stage *stage, tr_result *result, tr_error *error );
// `solve`, then constraints with `partners`, one after the other; see held.c.
bool tr_solve_held( const tr_stage *stage, tr_result *result,
                    bool ( *solve )( const tr_stage *, tr_result *, tr_error * ), tr_error *error );

#endif
