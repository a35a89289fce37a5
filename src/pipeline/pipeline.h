// pipeline: from a stage to its result: the method, then layers, worlds and reports.
#ifndef TROUPE_PIPELINE_H
#define TROUPE_PIPELINE_H

#include "method/method.h"

// Solves, then fills worlds and reports.
bool tr_pipeline_run( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error );
// The input of a layer (an index in the scene): the same without this layer and those after it. No reports.
bool tr_pipeline_run_below( tr_result *out, const tr_stage *stage, const tr_method *method, int layer,
                            tr_error *error );
// The rest: the layers on the result of tr_pipeline_run_below( …, 0 ) for this scene, or for one that is the
// same below. Gives the same bits as tr_pipeline_run.
bool tr_pipeline_run_above( tr_result *out, const tr_stage *stage, const tr_method *method,
                            const tr_result *below, tr_error *error );

#endif
