// Errors of the rules of a stage on a result, rules that gave way (that the solver relaxed), and report.json.
#include "result/private.h"

#include <string.h>

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
    double kept = stage->def.rules.kept;
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

// ----------------------------------------------------------------------------------------------- report.json

enum { MOST_RANGES = 64 }; // ranges of frames that are listed for a rule

// A point of a rule as scene files have it, or null.
static void print_end( tr_text *out, const tr_stage *stage, const char *key, const tr_anchor *anchor )
{
    tr_text_add( out, ", \"%s\": ", key );
    if ( anchor->actor < 0 && anchor->prop < 0 ) {
        tr_text_add( out, "null" );
        return;
    }
    const char *who =
        anchor->actor >= 0 ? stage->scene->cast[anchor->actor].id : stage->scene->props[anchor->prop].id;
    tr_text text = { 0 };
    tr_text_append( &text, who, strlen( who ) );
    for ( int i = 0; i < anchor->count; ++i )
        tr_point_print_term( &text, i == 0,
                             stage->actors[anchor->actor].target.joints[anchor->joints[i]].name,
                             anchor->weights[i] );
    tr_point_print_offset( &text, anchor->source_offset );
    tr_text_quoted( out, text.data != NULL ? text.data : "", text.size );
    out->failed = out->failed || text.failed;
    tr_text_free( &text );
}

static void print_rule( tr_text *out, const tr_stage *stage, const tr_result *result, int r )
{
    const tr_rule *rule = &stage->rules[r];
    const tr_rule_report *report = &result->reports[r];
    tr_text_add( out, "    {\"id\": \"%s\", \"kind\": \"%s\"", rule->id,
                 tr_constraint_kind_names[rule->kind] );
    print_end( out, stage, "a", &rule->a );
    print_end( out, stage, "b", &rule->b );
    int origin = stage->scene->first;
    if ( rule->first > rule->last )
        tr_text_add( out, ", \"range\": null, \"error_mm\": null, \"worst_frame\": null" );
    else {
        tr_text_add( out, ", \"range\": [%d, %d], \"error_mm\": {\"max\": ", origin + rule->first,
                     origin + rule->last );
        tr_text_number( out, report->max_mm, 6 );
        tr_text_add( out, ", \"p95\": " );
        tr_text_number( out, report->p95_mm, 6 );
        tr_text_add( out, ", \"mean\": " );
        tr_text_number( out, report->mean_mm, 6 );
        tr_text_add( out, "}, \"worst_frame\": %d", origin + report->worst_frame );
    }
    tr_text_add( out, ", \"gave_way\": %s, \"automatic\": %s}%s\n", report->gave_way ? "true" : "false",
                 rule->constraint < 0 ? "true" : "false", r + 1 < stage->rule_count ? "," : "" );
}

// Rules that gave way: in which frames, and by how much.
static void print_broken( tr_text *out, const tr_stage *stage, const tr_result *result )
{
    const char *comma = "";
    tr_text_add( out, ",\n  \"gave_way\": [" );
    for ( int r = 0; r < stage->rule_count; ++r ) {
        int ranges[MOST_RANGES][2], origin = stage->scene->first;
        if ( !result->reports[r].gave_way )
            continue;
        int count = tr_rule_broken( stage, result, &stage->rules[r], ranges, MOST_RANGES );
        tr_text_add( out, "%s\n    {\"id\": \"%s\", \"frames\": [", comma, stage->rules[r].id );
        if ( count > MOST_RANGES ) { // the last range holds the rest
            ranges[MOST_RANGES - 1][1] = stage->rules[r].last;
            count = MOST_RANGES;
        }
        for ( int i = 0; i < count; ++i )
            tr_text_add( out, "%s[%d, %d]", i > 0 ? ", " : "", origin + ranges[i][0], origin + ranges[i][1] );
        tr_text_add( out, "], \"cm\": " );
        tr_text_number( out, 0.1 * result->reports[r].max_mm, 4 );
        tr_text_add( out, "}" );
        comma = ",";
    }
    tr_text_add( out, "%s]", comma[0] != 0 ? "\n  " : "" );
}

bool tr_report_print( const tr_stage *stage, const tr_result *result, const char *method, tr_text *out )
{
    tr_text_add( out, "{\n  \"method\": \"%s\",\n  \"frames\": %d,\n  \"first\": %d,\n  \"fps\": ", method,
                 stage->frame_count, stage->scene->first );
    tr_text_number( out, stage->fps, 9 );
    print_broken( out, stage, result );
    tr_text_add( out, ",\n  \"constraints\": [\n" );
    for ( int r = 0; r < stage->rule_count; ++r )
        print_rule( out, stage, result, r );
    tr_text_add( out, "  ]" );
    if ( result->meshed ) {
        tr_text_add( out, ",\n  \"imesh\": " );
        tr_meshes_print( stage, result, out );
    }
    if ( stage->grab_count > 0 ) {
        tr_text_add( out, ",\n  \"edits\": " );
        tr_edits_print( stage, result, out );
    }
    tr_text_add( out, "\n}\n" );
    return !out->failed;
}
