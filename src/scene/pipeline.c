// Methods that turn a stage into the motion of the target bodies, and the report of how well its rules were
// kept.
#include "scene/scene_private.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

static const tr_method methods[] = {
    // the first is the default
    { "posegraph", "linked pose graphs deformed together, then skeletons fitted exactly", tr_solve_posegraph,
      true },
    { "imesh", "pose graphs, then interaction meshes wherever bodies come close to each other",
      tr_solve_imesh, true },
    { "copy-ik", "baseline: rotations copied, then feet and hands put in place frame by frame",
      tr_solve_copy_ik, false },
    { "copy", "baseline: rotations copied, root path scaled", tr_solve_copy, false },
};

const tr_method *tr_method_table( int *count )
{
    *count = (int)( sizeof methods / sizeof *methods );
    return methods;
}

const tr_method *tr_method_find( const char *name )
{
    if ( name == NULL )
        return &methods[0];
    for ( size_t i = 0; i < sizeof methods / sizeof *methods; ++i )
        if ( strcmp( methods[i].name, name ) == 0 )
            return &methods[i];
    return NULL;
}

const tr_method *tr_method_default( const tr_scene *scene )
{
    return tr_method_find( scene->imesh ? "imesh" : NULL );
}

// ---------------------------------------------------------------------------------------------- results

bool tr_result_alloc( tr_result *result, const tr_stage *stage, tr_error *error )
{
    *result = ( tr_result ){ .actor_count = stage->actor_count,
                             .prop_count = stage->prop_count,
                             .frame_count = stage->frame_count,
                             .rule_count = stage->rule_count,
                             .handle_count = stage->scene->handle_count };
    result->motions = tr_alloc( (size_t)stage->actor_count, sizeof( tr_motion ) );
    result->worlds = tr_alloc( (size_t)stage->actor_count, sizeof( tr_world ) );
    result->tracks = tr_alloc( (size_t)stage->prop_count, sizeof( rigid * ) );
    result->reports = tr_alloc( (size_t)stage->rule_count, sizeof( tr_rule_report ) );
    result->steps = tr_alloc( (size_t)stage->actor_count, sizeof( tr_step * ) );
    result->turns = tr_alloc( (size_t)stage->actor_count, sizeof( double * ) );
    result->handles = tr_alloc( (size_t)result->handle_count, sizeof( tr_handle_report ) );
    bool ok = result->motions != NULL && result->worlds != NULL && result->tracks != NULL &&
              result->reports != NULL && result->steps != NULL && result->turns != NULL &&
              result->handles != NULL;
    for ( int p = 0; ok && p < stage->prop_count; ++p ) {
        result->tracks[p] = tr_alloc( (size_t)stage->frame_count, sizeof( rigid ) );
        ok = result->tracks[p] != NULL;
    }
    if ( ok )
        return true;
    tr_result_free( result );
    return tr_error_memory( error );
}

void tr_result_free( tr_result *result )
{
    for ( int i = 0; result->motions != NULL && i < result->actor_count; ++i )
        tr_motion_free( &result->motions[i] );
    for ( int i = 0; result->worlds != NULL && i < result->actor_count; ++i )
        tr_world_free( &result->worlds[i] );
    for ( int p = 0; result->tracks != NULL && p < result->prop_count; ++p )
        tr_free( result->tracks[p] );
    for ( int i = 0; result->steps != NULL && i < result->actor_count; ++i )
        tr_free( result->steps[i] );
    for ( int i = 0; result->turns != NULL && i < result->actor_count; ++i )
        tr_free( result->turns[i] );
    tr_meshes_free( result );
    for ( int i = 0; i < result->cage_count; ++i )
        tr_cage_outline_free( &result->cages[i] );
    tr_free( result->cages );
    tr_free( result->steps );
    tr_free( result->turns );
    tr_free( result->handles );
    tr_free( result->motions );
    tr_free( result->worlds );
    tr_free( result->tracks );
    tr_free( result->reports );
    *result = ( tr_result ){ 0 };
}

static bool report_rule( tr_result *result, const tr_stage *stage, int r, double *values )
{
    const tr_rule *rule = &stage->rules[r];
    int count = 0;
    for ( int f = rule->first; f <= rule->last; ++f ) {
        double error = 1e3 * tr_rule_error( stage, result, rule, f );
        if ( !isfinite( error ) )
            return false;
        values[count++] = error;
    }
    tr_spread spread = tr_spread_of( values, count );
    tr_rule_report *report = &result->reports[r];
    report->max_mm = spread.max;
    report->p95_mm = spread.p95;
    report->mean_mm = spread.mean;
    int first, last; // where only its ease is on the stage, there is nothing to report but its nearest frame
    tr_rule_frames( stage, rule, &first, &last );
    report->worst_frame = first + ( spread.worst < 0 ? 0 : spread.worst );
    return true;
}

int tr_rule_broken( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int ( *ranges )[2],
                    int capacity )
{
    int count = 0;
    bool open = false;
    for ( int f = rule->first; f <= rule->last; ++f ) {
        bool broken = tr_rule_error( stage, result, rule, f ) > TR_KEPT;
        if ( broken && !open && count < capacity )
            ranges[count][0] = f;
        count += broken && !open;
        if ( broken && count <= capacity )
            ranges[count - 1][1] = f;
        open = broken;
    }
    return count;
}

typedef struct finish_job {
    tr_result *result;
    const tr_stage *stage;
    double *values;          // [threads * frame_count]
    atomic_int motion, rule; // the first that is not sound
} finish_job;

static void note_first( atomic_int *first, int index )
{
    int known = *first;
    while ( index < known && !atomic_compare_exchange_weak( first, &known, index ) ) {
    }
}

static void check_motions( void *context, int begin, int end )
{
    finish_job *job = context;
    tr_error error;
    for ( int i = begin; i < end; ++i )
        if ( !tr_motion_check( &job->result->motions[i], &error ) )
            note_first( &job->motion, i );
}

static void report_rules( void *context, int begin, int end )
{
    finish_job *job = context;
    double *values = job->values + (size_t)tr_parallel_thread() * (size_t)job->stage->frame_count;
    for ( int r = begin; r < end; ++r )
        if ( !report_rule( job->result, job->stage, r, values ) )
            note_first( &job->rule, r );
}

#define RULES_AT_ONCE 64 // some 0.2 ms of work

bool tr_result_finish( tr_result *result, const tr_stage *stage, tr_error *error )
{
    finish_job job = { .result = result, .stage = stage };
    job.motion = result->actor_count;
    job.rule = stage->rule_count;
    tr_parallel_for( result->actor_count, 1, check_motions, &job );
    if ( job.motion < result->actor_count )
        return tr_motion_check( &result->motions[job.motion], error ); // says what is wrong
    if ( !tr_worlds_build( result->worlds, result->motions, result->actor_count, error ) )
        return false;
    job.values = tr_alloc( (size_t)tr_parallel_threads() * (size_t)stage->frame_count, sizeof( double ) );
    if ( job.values == NULL )
        return tr_error_memory( error );
    tr_parallel_for( stage->rule_count, RULES_AT_ONCE, report_rules, &job );
    tr_free( job.values );
    return job.rule == stage->rule_count ||
           tr_error_set( error, "constraint %s has no finite error", stage->rules[job.rule].id );
}

// The layers on what the method made, then worlds and reports.
static bool finish_layers( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error )
{
    if ( !tr_layers_apply( stage, out, 0, stage->scene->layer_count, error ) ||
         !tr_result_finish( out, stage, error ) || !tr_meshes_judge( stage, out, error ) )
        return false;
    for ( int r = 0; method->exact && r < stage->rule_count; ++r )
        out->reports[r].gave_way = stage->rules[r].hard && out->reports[r].max_mm > 1e3 * TR_KEPT;
    return true;
}

// Meshes take more than the stage has asked for.
static bool has_memory( const tr_stage *stage, const tr_method *method, tr_error *error )
{
    double joints = stage->prop_count; // a prop is as a joint
    for ( int i = 0; i < stage->actor_count; ++i )
        joints += stage->actors[i].target.joint_count;
    return tr_memory_suffices( stage->scene, NULL, joints, method->solve == tr_solve_imesh, error );
}

// Baselines know nothing of partners.
static bool solve( const tr_stage *stage, const tr_method *method, tr_result *out, tr_error *error )
{
    return method->exact ? tr_solve_held( stage, out, method->solve, error )
                         : method->solve( stage, out, error );
}

bool tr_pipeline_run( tr_result *out, const tr_stage *stage, const tr_method *method, tr_error *error )
{
    assert( method != NULL );
    *out = ( tr_result ){ 0 };
    if ( !has_memory( stage, method, error ) || !tr_result_alloc( out, stage, error ) )
        return false;
    if ( solve( stage, method, out, error ) && finish_layers( out, stage, method, error ) )
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
         finish_layers( out, stage, method, error ) )
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
    bool ok = solve( stage, method, out, error ) && tr_layers_apply( stage, out, 0, layer, error ) &&
              tr_worlds_build( out->worlds, out->motions, stage->actor_count, error );
    if ( !ok )
        tr_result_free( out );
    return ok;
}

static bool copy_source( tr_result *out, const tr_stage *stage, tr_error *error )
{
    for ( int i = 0; i < stage->actor_count; ++i )
        if ( !tr_motion_copy( &out->motions[i], &stage->actors[i].source, error ) ||
             !tr_world_build( &out->worlds[i], &out->motions[i], error ) )
            return false;
    for ( int p = 0; p < stage->prop_count; ++p )
        memcpy( out->tracks[p], stage->props[p].track, (size_t)stage->frame_count * sizeof( rigid ) );
    return true;
}

bool tr_result_from_source( tr_result *out, const tr_stage *stage, tr_error *error )
{
    if ( !tr_result_alloc( out, stage, error ) )
        return false;
    out->of_source = true;
    if ( copy_source( out, stage, error ) )
        return true;
    tr_result_free( out );
    return false;
}
