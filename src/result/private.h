// Private to result: what its files share.
#ifndef TROUPE_RESULT_PRIVATE_H
#define TROUPE_RESULT_PRIVATE_H

#include "result/result.h"

// What edits did, as a member of report.json; read back only where the stage has edits.
void tr_edits_print( const tr_stage *stage, const tr_result *result, tr_text *out );
bool tr_edits_load( tr_result *result, const tr_stage *stage, const char *folder, tr_error *error );

// What interaction meshes did, as a member of report.json.
void tr_meshes_print( const tr_stage *stage, const tr_result *result, tr_text *out );
// The place an actor's centre of mass, now at `mass`, is to be over: see balance.c.
vec3 tr_support_centre( const tr_stage *stage, const tr_result *result, int actor, int frame, vec3 mass );
// How far its feet are from where that supposes them, where a method lets them be elsewhere.
vec3 tr_support_misplaced( const tr_stage *stage, const tr_result *result, int actor, int frame );

#endif
