// pipeline: from a stage to its result: the method, then layers, worlds and reports.
#ifndef TROUPE_PIPELINE_H
#define TROUPE_PIPELINE_H

#include "layer/layer.h"
#include "method/method.h"

// The method of this name, or the scene's own where it is NULL. NULL: there is none; the error names the
// nearest, or all.
const tr_method *tr_pipeline_method( const char *name, const tr_scene *scene, tr_error *error );

// Solves, then fills worlds and reports.
bool tr_pipeline_run( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error );
// The input of a layer (an index in the scene): the same without this layer and those after it. No reports.
bool tr_pipeline_run_below( tr_result *out, const tr_stage *stage, const tr_method *method, int layer,
                            tr_error *error );
// The rest: the layers on the result of tr_pipeline_run_below( …, 0 ) for this scene, or for one that is the
// same below. Gives the same bits as tr_pipeline_run.
bool tr_pipeline_run_above( tr_result *out, const tr_stage *stage, const tr_method *method,
                            const tr_result *below, tr_error *error );
// The same from a drag that was let go: the dragged layer and those below it are taken from the drag, layers
// above it are solved. tr_drag_finish must have been true for the scene of the stage, and `below` of the drag
// must be of this method. Gives the same bits as tr_pipeline_run.
bool tr_pipeline_run_released( tr_result *out, const tr_stage *stage, const tr_method *method, tr_drag *drag,
                               tr_error *error );

#endif
