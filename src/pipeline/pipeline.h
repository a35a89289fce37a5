// pipeline: a stage to its result: the method, then layers, worlds and reports.
#ifndef TROUPE_PIPELINE_H
#define TROUPE_PIPELINE_H

#include "method/method.h"

// Solves, then fills worlds and reports.
bool tr_pipeline_run( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error );
// The same without the layer (an index in the scene) and those after it: what that layer acts on. No reports.
bool tr_pipeline_run_below( tr_result *out, const tr_stage *stage, const tr_method *method, int layer,
                            tr_error *error );
// And the rest: the layers on top of what tr_pipeline_run_below( …, 0 ) gave for this scene, or for one that
// is the same below. The same bits as tr_pipeline_run.
bool tr_pipeline_run_above( tr_result *out, const tr_stage *stage, const tr_method *method,
                            const tr_result *below, tr_error *error );

#endif
