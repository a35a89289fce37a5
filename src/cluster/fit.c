// Fits skeletons to the deformed pose graphs. Graphs decide where bodies, links and props go; the fit
// starts from the copied rotations of the same frame, brings hands and feet exactly to their places, and then
// lets partners and props meet where all of them can reach:
//
//   swing ─► fit ─► meet ─► fit ─► … until links agree to half a millimetre
//
// What no skeleton can reach is left as residual after the last fit.
#include "cluster/fit.h"
#include "cluster/private.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

int tr_steady_span( const tr_stage *stage )
{
    return tr_steady_frames( stage );
}

// ----------------------------------------------------------------------------------------------------- fit

// Shift of the graph's root from the copied path, smoothed over time: every step of one of many legs tugs at
// the root.
vec3 tr_fitter_shift( const fitter *s, const fit_body *body, int frame )
{
    const tr_stage *stage = s->def.stage;
    vec3 shift = tr_smooth_mean( s->def.graphs->shifts[body->actor], stage->frame_count, frame,
                                 tr_steady_span( stage ) );
    const tr_rule *lean = tr_lean_rule( stage, body->masses, body->mass_count, frame );
    if ( lean != NULL && tr_rule_lowers( lean ) )
        shift = v3_mad( shift, -tr_rule_strength( lean, frame ), v3_horizontal( shift ) );
    return shift;
}

tr_fit_frame tr_fitter_frame( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals )
{
    const tr_skeleton *skeleton = fitter_skeleton( s, body );
    tr_pose copied = fitter_copied_pose( s, body, frame );
    int count = tr_fitter_goals( s, body, frame, goals );
    vec3 shift = tr_fitter_shift( s, body, frame );
    tr_reach_goals( skeleton, copied, shift, goals, count );
    size_t cell = fitter_cell( s, frame ), joints = (size_t)skeleton->joint_count;
    bool warmed = body->pin_count > 0 && body->warmed[cell];
    return ( tr_fit_frame ){ .start = body->start + cell * joints,
                             .root = v3_add( copied.positions[0], shift ),
                             .warm = warmed ? body->warm + cell * joints : NULL,
                             .warm_root = warmed ? body->warm_root[cell] : v3_zero,
                             .goals = goals,
                             .goal_count = count };
}

bool tr_fitter_solve( fitter *s, fit_body *body, int count, tr_error *error )
{
    fit_batch *batch = &s->batch;
    tr_motion *motion = &s->def.result->motions[body->actor];
    for ( int n = 0; n < count; ++n )
        batch->results[n] =
            ( tr_fit_result ){ .local = tr_clip_frame( &motion->clip, batch->stage_frames[n] ) };
    if ( count > 0 && !tr_fit_solve( &body->fit, s->scratch, batch->frames, batch->results, count, error ) )
        return false;
    for ( int n = 0; n < count; ++n ) {
        motion->clip.root[batch->stage_frames[n]] = batch->results[n].root;
        body->steps[fitter_cell( s, batch->stage_frames[n] )] += batch->results[n].iterations;
    }
    tr_forward_frames( &motion->skeleton, &motion->clip, batch->stage_frames, count,
                       &s->def.result->worlds[body->actor] );
    return true;
}

// Stands for all that a fit depends on and that changes from round to round: the same answer for the same
// number, which is never 0.
static uint64_t question_of( const tr_fit_frame *frame )
{
    uint64_t hash = tr_hash_bytes( TR_HASH_START, &frame->root, sizeof( vec3 ) );
    for ( int g = 0; g < frame->goal_count; ++g ) {
        const tr_fit_goal *goal = &frame->goals[g];
        int what[5] = { (int)goal->kind, goal->joint, goal->axes, goal->hard, goal->priority };
        double how[2] = { goal->weight, goal->ease };
        hash = tr_hash_bytes( hash, what, sizeof what );
        hash = tr_hash_bytes( hash, how, sizeof how );
        hash = tr_hash_bytes( hash, &goal->offset, sizeof( vec3 ) );
        hash = tr_hash_bytes( hash, &goal->place, sizeof( vec3 ) );
        hash = tr_hash_bytes( hash, &goal->rotation, sizeof( quat ) );
    }
    return hash | 1;
}

// A frame is fitted at most three times in a round, twice of them for what gives way, and each fit takes at
// most max_iterations steps on either side of straight limbs: 3 · 2 · (rounds + 1) · max_iterations steps in
// a run.
static bool fit_body_frames( fitter *s, fit_body *body, tr_error *error )
{
    fit_batch *batch = &s->batch;
    int count = 0;
    for ( int f = s->from; f <= s->to; ++f ) {
        size_t cell = fitter_cell( s, f );
        if ( !body->stale[cell] )
            continue;
        batch->frames[count] =
            tr_fitter_frame( s, body, f, batch->goals + (size_t)count * (size_t)body->most_goals );
        uint64_t question = question_of( &batch->frames[count] );
        if ( s->def.warm && body->memory != NULL )
            batch->frames[count].memory = &body->memory[f - s->def.first];
        else if ( question == body->asked[cell] )
            continue; // and the answer is there
        body->asked[cell] = question;
        batch->stage_frames[count++] = f;
    }
    return tr_fitter_solve( s, body, count, error ) && tr_fitter_give_way( s, body, count, error );
}

static bool fit_stale( fitter *s, tr_error *error )
{
    for ( int i = 0; i < s->body_count; ++i )
        if ( !fit_body_frames( s, &s->bodies[i], error ) )
            return false;
    for ( int i = 0; i < s->body_count; ++i )
        memset( s->bodies[i].stale, 0, (size_t)( s->to - s->from + 1 ) * sizeof( bool ) );
    return true;
}

// --------------------------------------------------------------------------------------------------- rounds

// The state before the first round: poses as they are, no corrections.
static void start_body( const fitter *s, fit_body *body )
{
    size_t frames = (size_t)( s->to - s->from + 1 ), joints = (size_t)fitter_skeleton( s, body )->joint_count;
    bool any = false;
    memset( body->asked, 0, frames * sizeof( uint64_t ) );
    memset( body->steps, 0, frames * sizeof( int ) );
    for ( int f = s->from; f <= s->to; ++f ) {
        size_t cell = fitter_cell( s, f );
        body->stale[cell] = fitter_affects( s, body->actor, f );
        if ( !body->stale[cell] )
            continue; // the frame is not fitted
        any = true;
        tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], f ),
                copied = fitter_copied_pose( s, body, f );
        memcpy( body->start + cell * joints, tr_clip_frame( &s->def.result->motions[body->actor].clip, f ),
                joints * sizeof( quat ) );
        memcpy( copied.rotations, pose.rotations, joints * sizeof( quat ) );
        memcpy( copied.positions, pose.positions, joints * sizeof( vec3 ) );
    }
    if ( !any )
        return;
    for ( size_t i = 0; i < frames * (size_t)body->foot_count; ++i )
        body->holds[i].y = INFINITY;
    for ( int f = s->from; body->pin_count > 0 && f <= s->to; ++f )
        body->warmed[fitter_cell( s, f )] = false;
    if ( body->leans != NULL )
        memset( body->leans, 0, frames * sizeof( tr_lean ) );
}

// Links meet where the graphs had them.
static void start_rule( fitter *s, int k, const tr_result *graph_view )
{
    const tr_rule *rule = fitter_rule( s, k );
    for ( int e = 0; e < 2; ++e )
        if ( s->nudges[2 * k + e] != NULL )
            memset( s->nudges[2 * k + e], 0, (size_t)( s->to - s->from + 1 ) * sizeof( vec3 ) );
    for ( int f = s->from; s->agreed[k] != NULL && f <= s->to; ++f ) {
        vec3 apart;
        fit_meeting *meeting = &s->agreed[k][fitter_cell( s, f )];
        *meeting = ( fit_meeting ){ 0 };
        if ( tr_rule_strength( rule, f ) > 0 && fitter_affects( s, rule->a.actor, f ) &&
             fitter_affects( s, rule->b.actor, f ) )
            meeting->place = tr_fitter_half_way( s, graph_view, rule, f, &apart );
    }
}

static void start_rules( fitter *s )
{
    tr_result graph_view = *s->def.result; // the same result with the graphs' joints
    graph_view.worlds = s->def.graphs->worlds;
    for ( int k = 0; k < s->rule_count; ++k )
        start_rule( s, k, &graph_view );
}

static void turn_ends_back( fitter *s, const fit_body *body )
{
    tr_motion *motion = &s->def.result->motions[body->actor];
    tr_world *world = &s->def.result->worlds[body->actor];
    int *turned = s->batch.stage_frames, count = 0;
    for ( int f = s->from; f <= s->to; ++f )
        if ( fitter_affects( s, body->actor, f ) &&
             tr_ends_turn_back( &s->def, &motion->skeleton, body->ends,
                                fitter_copied_pose( s, body, f ).rotations, tr_world_pose( world, f ),
                                tr_clip_frame( &motion->clip, f ) ) )
            turned[count++] = f;
    tr_forward_frames( &motion->skeleton, &motion->clip, turned, count, world );
}

static bool run_rounds( fitter *s, long *steps, tr_error *error )
{
    for ( int i = 0; i < s->body_count; ++i )
        start_body( s, &s->bodies[i] );
    start_rules( s );
    if ( s->def.in_time ) {
        if ( !tr_fitter_run_window( s, steps, error ) )
            return false;
        for ( int i = 0; i < s->body_count; ++i )
            turn_ends_back( s, &s->bodies[i] );
        return true;
    }
    for ( int i = 0; i < s->body_count; ++i )
        if ( !tr_fitter_swing( s, &s->bodies[i], error ) )
            return false;
    bool moved = true;
    for ( int round = 0; round < s->def.rounds && moved; ++round ) {
        if ( !tr_work_go_on( error ) || !fit_stale( s, error ) )
            return false;
        moved = tr_fitter_meet( s );
    }
    if ( !fit_stale( s, error ) )
        return false;
    for ( int i = 0; i < s->body_count; ++i )
        turn_ends_back( s, &s->bodies[i] );
    return true;
}

// ---------------------------------------------------------------------------------------------------- jobs

typedef struct fit_crew { // all threads at work on the jobs
    tr_cluster_fitter *all;
    const int *jobs; // [count] which; NULL: all of them
    int count, from, to;
    atomic_int done;
    atomic_long steps; // of Newton's method, in all jobs
    atomic_bool cancelled;
    tr_first_failure failure;
} fit_crew;

static void run_job( fit_crew *crew, int j )
{
    tr_cluster_fitter *all = crew->all;
    int thread = tr_parallel_thread(), done = atomic_fetch_add( &crew->done, 1 );
    fit_scratch *scratch = &all->scratch[thread];
    const fit_job *job = &all->jobs[j];
    tr_error error;
    if ( job->from > crew->to || job->to < crew->from || crew->cancelled )
        return;
    if ( thread == 0 && // progress is reported from one thread only
         !tr_progress_report( all->def.progress, crew->count + done, 2 * crew->count, &error ) ) {
        crew->cancelled = true;
        tr_first_failure_note( &crew->failure, 0, &error );
        return;
    }
    fitter s = tr_fit_scratch_open( all, scratch, job, crew->from, crew->to );
    long steps = 0;
    if ( !run_rounds( &s, &steps, &error ) )
        tr_first_failure_note( &crew->failure, j, &error );
    crew->steps += steps;
    for ( int i = 0; i < s.body_count; ++i )
        for ( int f = s.from; f <= s.to; ++f )
            crew->steps += s.bodies[i].steps[fitter_cell( &s, f )];
    tr_fit_scratch_close( scratch, &s );
}

static void run_jobs( void *context, int begin, int end )
{
    fit_crew *crew = context;
    for ( int j = begin; j < end; ++j )
        run_job( crew, crew->jobs != NULL ? crew->jobs[j] : j );
}

static bool run( fit_crew *crew, tr_error *error )
{
    assert( crew->from >= crew->all->def.first && crew->to <= crew->all->def.last );
    crew->failure.job = -1;
    if ( crew->all->def.in_time && crew->count < 2 * tr_parallel_threads() )
        run_jobs( crew, 0, crew->count ); // each uses all threads by itself
    else
        tr_parallel_for( crew->count, 1, run_jobs, crew );
    __atomic_fetch_add( &crew->all->def.result->fit_steps, crew->steps,
                        __ATOMIC_RELAXED ); // sets run side by side
    if ( crew->failure.job < 0 )
        return true;
    *error = crew->failure.error;
    return false;
}

bool tr_may_resolve_again( const tr_stage *stage, const tr_result *result, long since )
{
    long most = tr_default_resolving().repeat_steps;
    return result->fit_steps - since < most * stage->actor_count * stage->frame_count;
}

bool tr_cluster_fitter_run( tr_cluster_fitter *all, int from, int to, tr_error *error )
{
    return run( &( fit_crew ){ .all = all, .count = all->job_count, .from = from, .to = to }, error );
}

bool tr_cluster_fitter_run_set( tr_cluster_fitter *all, int set, int from, int to, tr_error *error )
{
    const int *first = all->set_jobs.first + set;
    return run( &( fit_crew ){ .all = all,
                               .jobs = all->set_jobs.items + first[0],
                               .count = first[1] - first[0],
                               .from = from,
                               .to = to },
                error );
}
