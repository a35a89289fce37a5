// Fits skeletons to what the pose graphs came to. Graphs decide where bodies, links and props go; the fit
// starts from the copied rotations of the same frame, brings hands and feet exactly to their places, and then
// lets partners and props meet where everybody can reach:
//
//   fit ─► meet ─► fit ─► … until links agree to half a millimetre
//
// Whatever no skeleton can reach shows as residual after the last fit.
#include "scene/cluster_fit.h"
#include "scene/cluster.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#define STEADY 0.1 // seconds to either side over which the root is steadied

int tr_steady_span( const tr_stage *stage )
{
    return (int)ceil( STEADY * stage->fps );
}
// ----------------------------------------------------------------------------------------------------- fit

// The graph's root without its trembling: every step of one of many legs tugs at it. How far it is from the
// copied path is averaged over the frames around.
static vec3 steady_shift( const fitter *s, const fit_body *body, int frame )
{
    int span = tr_steady_span( s->def.stage ), last = s->def.stage->frame_count - 1;
    const vec3 *shifts = s->def.graphs->shifts[body->actor];
    vec3 sum = v3_zero;
    double weights = 0;
    for ( int f = frame < span ? 0 : frame - span; f <= frame + span && f <= last; ++f ) {
        double weight = smooth_step5( 1.0 - abs( f - frame ) / ( span + 1.0 ) );
        sum = v3_mad( sum, weight, shifts[f] );
        weights += weight;
    }
    return v3_scale( 1.0 / weights, sum );
}

// What is asked of a character at a frame, of which as much as is within reach.
static tr_fit_frame frame_of( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals )
{
    const tr_skeleton *skeleton = fitter_skeleton( s, body );
    tr_pose copied = fitter_copied_pose( s, body, frame );
    int count = tr_fitter_goals( s, body, frame, goals );
    vec3 shift = steady_shift( s, body, frame );
    tr_reach_goals( skeleton, copied, shift, goals, count );
    return ( tr_fit_frame ){ .start = body->start + fitter_cell( s, frame ) * (size_t)skeleton->joint_count,
                             .root = v3_add( copied.positions[0], shift ),
                             .goals = goals,
                             .goal_count = count };
}

static void forward_batch( const fitter *s, const fit_body *body, int count )
{
    tr_motion *motion = &s->def.result->motions[body->actor];
    for ( int n = 0; n < count; ++n ) {
        int f = s->batch.stage_frames[n];
        motion->clip.root[f] = s->batch.results[n].root;
        tr_forward( &motion->skeleton, &motion->clip, f,
                    tr_world_pose( &s->def.result->worlds[body->actor], f ) );
    }
}

static bool fit_body_frames( const fitter *s, const fit_body *body, tr_error *error )
{
    const fit_batch *batch = &s->batch;
    int count = 0;
    tr_clip *clip = &s->def.result->motions[body->actor].clip;
    for ( int f = s->from; f <= s->to; ++f ) {
        if ( !body->stale[fitter_cell( s, f )] )
            continue;
        tr_fit_goal *goals = batch->goals + (size_t)count * (size_t)body->most_goals;
        batch->frames[count] = frame_of( s, body, f, goals );
        batch->results[count] = ( tr_fit_result ){ .local = tr_clip_frame( clip, f ) };
        batch->stage_frames[count++] = f;
    }
    if ( count == 0 )
        return true;
    if ( !tr_fit_solve( &body->fit, s->scratch, batch->frames, batch->results, count, error ) )
        return false;
    forward_batch( s, body, count );
    return true;
}

static bool fit_stale( const fitter *s, tr_error *error )
{
    for ( int i = 0; i < s->body_count; ++i )
        if ( !fit_body_frames( s, &s->bodies[i], error ) )
            return false;
    for ( int i = 0; i < s->body_count; ++i )
        memset( s->bodies[i].stale, 0, (size_t)( s->to - s->from + 1 ) * sizeof( bool ) );
    return true;
}

// --------------------------------------------------------------------------------------------------- rounds

// What the rounds begin with: the poses as they are, nothing corrected.
static void start_body( const fitter *s, const fit_body *body )
{
    size_t frames = (size_t)( s->to - s->from + 1 ), joints = (size_t)fitter_skeleton( s, body )->joint_count;
    bool any = false;
    for ( int f = s->from; f <= s->to; ++f )
        any |= body->stale[fitter_cell( s, f )] = fitter_affects( s, body->actor, f );
    if ( !any )
        return; // nobody will ask
    tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], s->from );
    memcpy( body->start, tr_clip_frame( &s->def.result->motions[body->actor].clip, s->from ),
            frames * joints * sizeof( quat ) );
    memcpy( body->copied.rotations, pose.rotations, frames * joints * sizeof( quat ) );
    memcpy( body->copied.positions, pose.positions, frames * joints * sizeof( vec3 ) );
    for ( size_t i = 0; i < frames * (size_t)body->foot_count; ++i )
        body->holds[i].y = INFINITY;
    if ( body->leans != NULL )
        memset( body->leans, 0, frames * sizeof( tr_lean ) );
}

// Links meet where the graphs had them.
static void start_rule( const fitter *s, int k, const tr_result *graph_view )
{
    const tr_rule *rule = fitter_rule( s, k );
    for ( int e = 0; e < 2; ++e )
        if ( s->nudges[2 * k + e] != NULL )
            memset( s->nudges[2 * k + e], 0, (size_t)( s->to - s->from + 1 ) * sizeof( vec3 ) );
    for ( int f = s->from; s->agreed[k] != NULL && f <= s->to; ++f ) {
        double apart;
        if ( tr_rule_strength( rule, f ) > 0 && fitter_affects( s, rule->a.actor, f ) &&
             fitter_affects( s, rule->b.actor, f ) )
            s->agreed[k][fitter_cell( s, f )] = tr_fitter_half_way( s, graph_view, rule, f, &apart );
    }
}

static void start_rules( const fitter *s )
{
    tr_result graph_view = *s->def.result; // the same result with the graphs' joints
    graph_view.worlds = s->def.graphs->worlds;
    for ( int k = 0; k < s->rule_count; ++k )
        start_rule( s, k, &graph_view );
}

static void turn_ends_back( const fitter *s, const fit_body *body )
{
    tr_motion *motion = &s->def.result->motions[body->actor];
    for ( int f = s->from; f <= s->to; ++f ) {
        if ( !fitter_affects( s, body->actor, f ) )
            continue;
        tr_ends_turn_back( motion, body->ends, fitter_copied_pose( s, body, f ).rotations, f,
                           tr_world_pose( &s->def.result->worlds[body->actor], f ) );
    }
}

static bool run_rounds( const fitter *s, tr_error *error )
{
    for ( int i = 0; i < s->body_count; ++i )
        start_body( s, &s->bodies[i] );
    start_rules( s );
    bool moved = true;
    for ( int round = 0; round < s->def.rounds && moved; ++round ) {
        if ( !fit_stale( s, error ) )
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
    int from, to;
    atomic_int done;
    atomic_bool cancelled;
} fit_crew;

static void run_jobs( void *context, int begin, int end )
{
    fit_crew *crew = context;
    tr_cluster_fitter *all = crew->all;
    int thread = tr_parallel_thread();
    fit_room *room = &all->rooms[thread];
    for ( int j = begin; j < end; ++j ) {
        const fit_job *job = &all->jobs[j];
        int done = atomic_fetch_add( &crew->done, 1 );
        if ( job->from > crew->to || job->to < crew->from || crew->cancelled )
            continue;
        if ( thread == 0 && // who asks knows one thread only
             !tr_progress_report( all->def.progress, all->job_count + done, 2 * all->job_count,
                                  &room->error ) )
            crew->cancelled = true;
        fitter s = tr_fit_room_open( all, room, job, crew->from, crew->to );
        tr_error error;
        if ( !crew->cancelled && !run_rounds( &s, &error ) && ( room->failed < 0 || j < room->failed ) ) {
            room->failed = j;
            room->error = error;
        }
        tr_fit_room_close( room, &s );
    }
}

bool tr_cluster_fitter_run( tr_cluster_fitter *all, int from, int to, tr_error *error )
{
    assert( from >= all->def.first && to <= all->def.last );
    fit_crew crew = { .all = all, .from = from, .to = to };
    for ( int t = 0; t < all->room_count; ++t )
        all->rooms[t].failed = -1;
    tr_parallel_for( all->job_count, 1, run_jobs, &crew );
    const fit_room *first = NULL; // the same for any number of threads
    for ( int t = 0; t < all->room_count; ++t )
        if ( all->rooms[t].failed >= 0 && ( first == NULL || all->rooms[t].failed < first->failed ) )
            first = &all->rooms[t];
    if ( first == NULL && !crew.cancelled )
        return true;
    *error = crew.cancelled ? all->rooms[0].error : first->error;
    return false;
}
