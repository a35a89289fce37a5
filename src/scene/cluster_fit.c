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
#include <string.h>

#define STEADY 0.1 // seconds to either side over which the root is steadied

int tr_steady_span( const tr_stage *stage )
{
    return (int)ceil( STEADY * stage->fps );
}
// ----------------------------------------------------------------------------------------------------- fit

typedef struct forward_job { // frames of a batch
    const fitter *s;
    const fit_body *body;
} forward_job;

static void forward_frames( void *context, int begin, int end )
{
    const forward_job *job = context;
    const tr_result *result = job->s->def.result;
    int actor = job->body->actor;
    for ( int n = begin; n < end; ++n ) {
        int f = job->s->batch.stage_frames[n];
        result->motions[actor].clip.root[f] = job->s->batch.results[n].root;
        tr_forward( &result->motions[actor].skeleton, &result->motions[actor].clip, f,
                    tr_world_pose( &result->worlds[actor], f ) );
    }
}

#define FORWARD_BLOCK 256 // frames: some 0.2 ms

// The graph's root without its trembling: every step of one of many legs tugs at it. How far it is from the
// copied path is averaged over the frames around.
static vec3 steady_root( const fitter *s, const fit_body *body, int frame )
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
    return v3_mad( fitter_copied_pose( s, body, frame ).positions[0], 1.0 / weights, sum );
}

static bool fit_body_frames( fitter *s, fit_body *body, tr_error *error )
{
    fit_batch *batch = &s->batch;
    int count = 0;
    tr_clip *clip = &s->def.result->motions[body->actor].clip;
    size_t joints = (size_t)clip->joint_count;
    for ( int f = s->from; f <= s->to; ++f ) {
        if ( !body->stale[fitter_cell( s, f )] )
            continue;
        tr_fit_goal *goals = batch->goals + (size_t)count * (size_t)body->most_goals;
        batch->frames[count] = ( tr_fit_frame ){ .start = body->start + fitter_cell( s, f ) * joints,
                                                 .root = steady_root( s, body, f ),
                                                 .goals = goals,
                                                 .goal_count = tr_fitter_goals( s, body, f, goals ) };
        batch->results[count] = ( tr_fit_result ){ .local = tr_clip_frame( clip, f ) };
        batch->stage_frames[count++] = f;
    }
    if ( count == 0 )
        return true;
    if ( !tr_fit_solve( &body->fit, &s->scratches[body->scratch], batch->frames, batch->results, count,
                        error ) )
        return false;
    tr_parallel_for( count, FORWARD_BLOCK, forward_frames, &( forward_job ){ s, body } );
    return true;
}

static bool fit_stale( fitter *s, tr_error *error )
{
    for ( int i = 0; i < s->body_count; ++i ) {
        if ( !tr_progress_report( s->def.progress, s->body_count + i, 2 * s->body_count, error ) ||
             !fit_body_frames( s, &s->bodies[i], error ) )
            return false;
    }
    for ( int i = 0; i < s->body_count; ++i )
        memset( s->bodies[i].stale, 0, (size_t)( s->to - s->from + 1 ) * sizeof( bool ) );
    return true;
}
// --------------------------------------------------------------------------------------------------- rounds

// What the rounds begin with: the poses as they are, nothing corrected.
static void start_body( const fitter *s, fit_body *body )
{
    size_t frames = (size_t)( s->to - s->from + 1 ), joints = (size_t)fitter_skeleton( s, body )->joint_count;
    tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], s->from );
    memcpy( body->start, tr_clip_frame( &s->def.result->motions[body->actor].clip, s->from ),
            frames * joints * sizeof( quat ) );
    memcpy( body->copied.rotations, pose.rotations, frames * joints * sizeof( quat ) );
    memcpy( body->copied.positions, pose.positions, frames * joints * sizeof( vec3 ) );
    memset( body->holds, 0, frames * (size_t)body->foot_count * sizeof( double ) );
    if ( body->leans != NULL )
        memset( body->leans, 0, frames * sizeof( tr_lean ) );
    for ( int f = s->from; f <= s->to; ++f )
        body->stale[fitter_cell( s, f )] = fitter_affects( s, body->actor, f );
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
        if ( fitter_affects( s, rule->a.actor, f ) && fitter_affects( s, rule->b.actor, f ) )
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
        tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], f );
        tr_ends_turn_back( &motion->skeleton, body->ends, fitter_copied_pose( s, body, f ).rotations,
                           tr_clip_frame( &motion->clip, f ), pose.rotations );
        tr_forward( &motion->skeleton, &motion->clip, f, pose );
    }
}

bool tr_cluster_fitter_run( tr_cluster_fitter *s, int from, int to, tr_error *error )
{
    assert( from >= s->def.first && to <= s->def.last && to - from < s->def.chunk );
    s->from = from;
    s->to = to;
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
