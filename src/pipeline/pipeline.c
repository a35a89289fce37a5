// The method, then layers, worlds and reports.
#include "pipeline/pipeline.h"

#include "closeness/closeness.h"

#include <assert.h>
#include <stdio.h>

const tr_method *tr_pipeline_method( const char *name, const tr_scene *scene, tr_error *error )
{
    const tr_method *method = name != NULL ? tr_method_find( name ) : tr_method_default( scene );
    if ( method != NULL )
        return method;
    const char *names[TR_METHOD_MAX];
    char list[512] = "";
    tr_method_names( names );
    const char *nearest = tr_nearest_word( name, names );
    if ( nearest != NULL )
        tr_error_set( error, "there is no method '%s'; did you mean '%s'?", name, nearest );
    else {
        for ( size_t i = 0, used = 0; names[i] != NULL && used < sizeof list; ++i )
            used += (size_t)snprintf( list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i] );
        tr_error_set( error, "there is no method '%s'; choose one of %s", name, list );
    }
    return NULL;
}

// The layers from `first` on, on the result of the method and the layers below, then reports.
static bool finish_layers( tr_result *out, const tr_stage *stage, const tr_method *method, int first,
                           tr_error *error )
{
    if ( !tr_layers_apply( stage, out, first, stage->scene->layer_count, error ) ||
         !tr_result_finish( out, stage, error ) || !tr_meshes_judge( stage, out, error ) )
        return false;
    double kept_mm = 1e3 * stage->def.rules.kept;
    for ( int r = 0; method->exact && r < stage->rule_count; ++r )
        out->reports[r].gave_way = stage->rules[r].hard && out->reports[r].max_mm > kept_mm;
    return true;
}

// ------------------------------------------------------------------------------------------------- memory

typedef struct job {
    tr_result *out;
    const tr_stage *stage;
    const tr_method *method;
    const tr_result *below; // argument of run_above
    int layer;              // argument of run_below
} job;

typedef bool solve_job( const job *j, tr_error *error );

// Threads have memory of their own. Where there is too little for that, one does all the work: their number
// decides nothing.
static bool solve( solve_job *run, const job *j, tr_error *error )
{
    long refusals = tr_memory_refusals();
    if ( run( j, error ) )
        return true;
    if ( tr_memory_refusals() == refusals || tr_parallel_threads() == 1 || !tr_work_wanted() )
        return false;
    int threads = tr_parallel_set_own_threads( 1 );
    bool ok = run( j, error );
    tr_parallel_set_own_threads( threads );
    return ok;
}

// --------------------------------------------------------------------------------------------------- runs

static bool run( const job *j, tr_error *error )
{
    if ( !tr_result_alloc( j->out, j->stage, error ) )
        return false;
    if ( tr_method_solve( j->stage, j->method, j->out, error ) &&
         finish_layers( j->out, j->stage, j->method, 0, error ) )
        return true;
    tr_result_free( j->out );
    return false;
}

static bool run_above( const job *j, tr_error *error )
{
    if ( !tr_result_copy( j->out, j->stage, j->below, error ) )
        return false;
    if ( ( tr_meshes_copy( j->out, j->below ) || tr_error_memory( error ) ) &&
         finish_layers( j->out, j->stage, j->method, 0, error ) )
        return true;
    tr_result_free( j->out );
    return false;
}

static bool run_below( const job *j, tr_error *error )
{
    if ( !tr_result_alloc( j->out, j->stage, error ) )
        return false;
    bool ok = tr_method_solve( j->stage, j->method, j->out, error ) &&
              tr_layers_apply( j->stage, j->out, 0, j->layer, error );
    if ( !ok )
        tr_result_free( j->out );
    return ok;
}

bool tr_pipeline_run( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error )
{
    assert( method != NULL );
    *out = ( tr_result ){ 0 };
    tr_memory_load load = tr_stage_load( stage, method->memory );
    return tr_memory_suffices( stage, NULL, &load, error ) &&
           solve( run, &( job ){ out, stage, method, NULL, 0 }, error );
}

bool tr_pipeline_run_above( tr_result *out, const tr_stage *stage, const tr_method *method,
                            const tr_result *below, tr_error *error )
{
    assert( below->actor_count == stage->actor_count && below->prop_count == stage->prop_count &&
            below->frame_count == stage->frame_count );
    return solve( run_above, &( job ){ out, stage, method, below, 0 }, error );
}

bool tr_pipeline_run_below( tr_result *out, const tr_stage *stage, const tr_method *method, int layer,
                            tr_error *error )
{
    assert( method != NULL );
    return solve( run_below, &( job ){ out, stage, method, NULL, layer }, error );
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
