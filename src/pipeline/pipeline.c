// The method, then layers, worlds and reports.
#include "pipeline/pipeline.h"

#include "closeness/closeness.h"

#include <assert.h>

// The layers from `first` on, on the result of the method and the layers below, then reports.
static bool finish_layers( tr_result *out, const tr_stage *stage, const tr_method *method, int first,
                           tr_error *error )
{
    if ( !tr_layers_apply( stage, out, first, stage->scene->layer_count, error ) ||
         !tr_result_finish( out, stage, error ) || !tr_meshes_judge( stage, out, error ) )
        return false;
    double kept_mm = 1e3 * tr_default_report_def().kept;
    for ( int r = 0; method->exact && r < stage->rule_count; ++r )
        out->reports[r].gave_way = stage->rules[r].hard && out->reports[r].max_mm > kept_mm;
    return true;
}

// Meshes need more memory than the stage has checked for.
static bool has_memory( const tr_stage *stage, const tr_method *method, tr_error *error )
{
    double joints = stage->prop_count; // a prop counts as a joint
    for ( int i = 0; i < stage->actor_count; ++i )
        joints += stage->actors[i].target.joint_count;
    return tr_memory_suffices( stage, NULL, joints, method->meshes, error );
}

bool tr_pipeline_run( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error )
{
    assert( method != NULL );
    *out = ( tr_result ){ 0 };
    if ( !has_memory( stage, method, error ) || !tr_result_alloc( out, stage, error ) )
        return false;
    if ( tr_method_solve( stage, method, out, error ) && finish_layers( out, stage, method, 0, error ) )
        return true;
    tr_result_free( out );
    return false;
}

bool tr_pipeline_run_above( tr_result *out, const tr_stage *stage, const tr_method *method,
                            const tr_result *below, tr_error *error )
{
    assert( below->actor_count == stage->actor_count && below->prop_count == stage->prop_count &&
            below->frame_count == stage->frame_count );
    if ( !tr_result_copy( out, stage, below, error ) )
        return false;
    if ( ( tr_meshes_copy( out, below ) || tr_error_memory( error ) ) &&
         finish_layers( out, stage, method, 0, error ) )
        return true;
    tr_result_free( out );
    return false;
}

bool tr_pipeline_run_released( tr_result *out, const tr_stage *stage, const tr_method *method, tr_drag *drag,
                               tr_error *error )
{
    if ( !tr_drag_take( drag, stage, out, error ) )
        return false;
    if ( ( tr_meshes_copy( out, tr_drag_below( drag ) ) || tr_error_memory( error ) ) &&
         finish_layers( out, stage, method, tr_drag_layer( drag ) + 1, error ) )
        return true;
    tr_result_free( out );
    return false;
}

bool tr_pipeline_run_below( tr_result *out, const tr_stage *stage, const tr_method *method, int layer,
                            tr_error *error )
{
    assert( method != NULL );
    if ( !tr_result_alloc( out, stage, error ) )
        return false;
    bool ok = tr_method_solve( stage, method, out, error ) && tr_layers_apply( stage, out, 0, layer, error );
    if ( !ok )
        tr_result_free( out );
    return ok;
}
