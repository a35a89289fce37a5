// The source's joint rotations on the target bodies, with scaled root paths: the method `copy`, and where
// other methods begin.
#include "result/private.h"

// Nothing stands in the way of a prop's rotation: it takes what it is asked for, a soft rule's share of it.
static void turn_prop( const tr_stage *stage, tr_result *result, const tr_rule *rule )
{
    double most = rule->hard ? 1.0 : rule->weight / ( 1.0 + rule->weight );
    for ( int f = 0; f < stage->frame_count; ++f ) {
        quat *now = &result->tracks[rule->a.prop][f].rotation;
        double share = most * tr_rule_strength( rule, f );
        if ( share > 0 )
            *now = q_slerp( *now, tr_rule_rotation( stage, result, rule, f ), share );
    }
}

typedef struct copy_job {
    const tr_stage *stage;
    tr_result *result;
    atomic_bool failed;
} copy_job;

static void copy_actors( void *context, int begin, int end )
{
    copy_job *job = context;
    tr_error error;
    for ( int i = begin; i < end; ++i )
        if ( !tr_actor_copy( &job->result->motions[i], job->stage, &job->stage->actors[i], &error ) )
            job->failed = true;
}

bool tr_result_copy_source( const tr_stage *stage, tr_result *result, tr_error *error )
{
    copy_job job = { .stage = stage, .result = result };
    tr_parallel_for( stage->actor_count, 1, copy_actors, &job );
    if ( job.failed )
        return tr_error_memory( error );
    for ( int p = 0; p < stage->prop_count; ++p )
        for ( int f = 0; f < stage->frame_count; ++f ) {
            rigid source = stage->props[p].track[f];
            const tr_group *group = &stage->groups[stage->props[p].group];
            result->tracks[p][f] = ( rigid ){ source.rotation, tr_group_place( group, source.position ) };
        }
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].kind == TR_CONSTRAINT_ORIENTATION && stage->rules[r].a.prop >= 0 )
            turn_prop( stage, result, &stage->rules[r] );
    return tr_result_pose( result, error );
}
