// How well a result keeps the rules of its stage.
#include "result/private.h"

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
    double kept = tr_default_report_def().kept;
    int count = 0;
    bool open = false;
    for ( int f = rule->first; f <= rule->last; ++f ) {
        bool broken = tr_rule_error( stage, result, rule, f ) > kept;
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

enum { RULES_AT_ONCE = 64 }; // some 0.2 ms of work

bool tr_result_finish( tr_result *result, const tr_stage *stage, tr_error *error )
{
    finish_job job = { .result = result, .stage = stage };
    job.motion = result->actor_count;
    job.rule = stage->rule_count;
    tr_parallel_for( result->actor_count, 1, check_motions, &job );
    if ( job.motion < result->actor_count )
        return tr_motion_check( &result->motions[job.motion], error ); // says what is wrong
    job.values = tr_alloc( (size_t)tr_parallel_threads() * (size_t)stage->frame_count, sizeof( double ) );
    if ( job.values == NULL )
        return tr_error_memory( error );
    tr_parallel_for( stage->rule_count, RULES_AT_ONCE, report_rules, &job );
    tr_free( job.values );
    return job.rule == stage->rule_count ||
           tr_error_set( error, "constraint %s has no finite error", stage->rules[job.rule].id );
}
