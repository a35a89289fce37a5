// The baseline `copy-ik`: copied rotations, then inverse kinematics of each arm and leg, frame by frame, that
// moves its hand or foot to the targets of the rules.
#include "method/private.h"

// The chain that moves all joints of an anchor together.
static bool anchor_chain( const tr_skeleton *skeleton, const tr_anchor *anchor, tr_limb_chain *out )
{
    if ( anchor->count == 0 || !tr_limb_chain_find( skeleton, anchor->joints[0], out ) )
        return false;
    for ( int i = 1; i < anchor->count; ++i ) {
        tr_limb_chain other;
        if ( !tr_limb_chain_find( skeleton, anchor->joints[i], &other ) || other.end != out->end )
            return false;
    }
    return true;
}

typedef struct ik_job {
    const tr_stage *stage;
    tr_result *result; // motions are changed; worlds hold the copied pose for reference
    int actor;
    const int *rules; // [rule_count] those that pull on a limb of this actor
    int rule_count;
    quat *rotations; // [frame_count * joint_count] scratch
    vec3 *positions;
    atomic_bool failed;
} ik_job;

// Target of the given end of a rule, from the copied pose. Two bodies meet half way.
static vec3 wanted_place( const tr_stage *stage, const tr_result *copied, const tr_rule *rule, bool is_a,
                          int frame )
{
    vec3 target = tr_rule_target( stage, copied, rule, frame );
    if ( rule->kind != TR_CONSTRAINT_RELATIVE )
        return target;
    vec3 a = tr_anchor_position( stage, copied, &rule->a, frame );
    vec3 b = tr_anchor_position( stage, copied, &rule->b, frame );
    vec3 miss = v3_sub( v3_add( b, target ), a ); // shift of a if b stays
    const tr_anchor *other = is_a ? &rule->b : &rule->a;
    double share = other->actor >= 0 ? 0.5 : 1.0;
    return is_a ? v3_mad( a, share, miss ) : v3_mad( b, -share, miss );
}

// What every rule asks of its chain at a frame.
static void gather( const ik_job *job, int frame, tr_limb_pull *pulls, int *pull_count )
{
    const tr_skeleton *skeleton = &job->stage->actors[job->actor].target;
    for ( int i = 0; i < job->rule_count; ++i ) {
        const tr_rule *rule = &job->stage->rules[job->rules[i]];
        double strength = tr_rule_strength( rule, frame );
        for ( int e = 0; e < 2 && strength > 0; ++e ) {
            const tr_anchor *anchor = e == 0 ? &rule->a : &rule->b;
            tr_limb_chain found;
            if ( anchor->actor != job->actor || !anchor_chain( skeleton, anchor, &found ) )
                continue;
            int p = 0;
            while ( p < *pull_count && pulls[p].chain.end != found.end )
                p++;
            if ( p == *pull_count )
                pulls[( *pull_count )++] = ( tr_limb_pull ){ .chain = found };
            vec3 now = tr_anchor_position( job->stage, job->result, anchor, frame );
            tr_limb_demand demand = {
                .miss = v3_sub( wanted_place( job->stage, job->result, rule, e == 0, frame ), now ),
                .axis = { rule->axis[0], rule->axis[1], rule->axis[2] },
                .hard = rule->hard,
                .strength = strength,
                .weight = rule->weight };
            tr_limb_pull_add( &pulls[p], &demand );
        }
    }
}

// Moves the end of the chain by the shift of the rules; hand and foot keep their world rotation.
static void apply( const ik_job *job, quat *local, tr_pose pose, const tr_limb_pull *p )
{
    const tr_skeleton *skeleton = &job->stage->actors[job->actor].target;
    vec3 target = v3_add( pose.positions[p->chain.end], tr_limb_pull_shift( p ) );
    tr_ik_limb( skeleton, local, pose, &p->chain, target, pose.rotations[p->chain.end], &job->stage->def.ik );
}

static void solve_frames( void *context, int begin, int end )
{
    ik_job *job = context;
    tr_limb_pull *pulls = tr_alloc( 2 * (size_t)job->rule_count, sizeof *pulls );
    if ( pulls == NULL ) {
        job->failed = true; // all failing blocks write the same value
        return;
    }
    tr_motion *motion = &job->result->motions[job->actor];
    size_t joints = (size_t)motion->skeleton.joint_count;
    for ( int f = begin; f < end; ++f ) {
        int count = 0;
        gather( job, f, pulls, &count );
        tr_pose pose = { job->rotations + (size_t)f * joints, job->positions + (size_t)f * joints };
        tr_forward( &motion->skeleton, &motion->clip, f, pose );
        for ( int p = 0; p < count; ++p )
            apply( job, tr_clip_frame( &motion->clip, f ), pose, &pulls[p] );
    }
    tr_free( pulls );
}

// Contacts, relations and places; inverse kinematics of one limb cannot meet centres of mass and rotations.
static bool pulls_limb( const tr_rule *rule )
{
    return rule->kind == TR_CONSTRAINT_CONTACT || rule->kind == TR_CONSTRAINT_RELATIVE ||
           ( rule->kind == TR_CONSTRAINT_ABSOLUTE && !rule->direction );
}

// rules [count] name the actor; rules without a limb are dropped.
static bool solve_actor( const tr_stage *stage, tr_result *result, int actor, int *rules, int count,
                         tr_error *error )
{
    size_t cells = (size_t)stage->frame_count * (size_t)stage->actors[actor].target.joint_count;
    ik_job job = { .stage = stage, .result = result, .actor = actor, .rules = rules };
    job.rotations = tr_alloc( cells, sizeof( quat ) );
    job.positions = tr_alloc( cells, sizeof( vec3 ) );
    bool ok = job.rotations != NULL && job.positions != NULL;
    for ( int i = 0; ok && i < count; ++i )
        if ( pulls_limb( &stage->rules[rules[i]] ) )
            rules[job.rule_count++] = rules[i];
    if ( ok )
        tr_parallel_for( stage->frame_count, 16, solve_frames, &job );
    tr_free( job.rotations );
    tr_free( job.positions );
    return ( ok && !job.failed ) || tr_error_memory( error );
}

bool tr_solve_copy_ik( const tr_stage *stage, tr_result *result, tr_error *error )
{
    if ( !tr_result_copy_source( stage, result, error ) )
        return false;
    int *begin, *rules; // of each actor
    bool ok = tr_rules_by_actor( stage, &begin, &rules ) || tr_error_memory( error );
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        ok = tr_progress_report( stage->progress, i, stage->actor_count, error ) &&
             solve_actor( stage, result, i, rules + begin[i], begin[i + 1] - begin[i], error );
    tr_free( begin );
    tr_free( rules );
    return ok && tr_result_pose( result, error ); // worlds were those of the copied pose
}
