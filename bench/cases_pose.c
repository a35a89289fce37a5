// Cases of the pose graph: the same problem solved in different ways, and crowds.
#include "cases.h"
#include "pose_task.h"

#include "fit/fit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define QUICK_FRAMES 8 // a block of lanes

// ---------------------------------------------------------------------------------------------------- state

typedef struct pose_state {
    pose_task task;
    pose_kkt kkt;
    vec3 *vertices;            // [frame_count · 3 · joint_count] result of the rows that solve graphs
    vec3 *literal, *converged; // the same, to compare with
    tr_fit fit;                // fit of the rows that end with rotations
    tr_fit_scratch fit_scratch;
    tr_fit_frame *frames;   // [frame_count]
    tr_fit_result *results; // [frame_count]
    tr_fit_goal *goals;     // [frame_count · BENCH_ROWS_MAX]
    vec3 *positions;        // [frame_count · joint_count] of the joints in the deformed graph
    quat *turns;            // [frame_count · joint_count]
    tr_motion answer;       // their result
    bool fitted;
    double graph_ms; // `complete`: the graph's part of it, in its shortest run
} pose_state;

static void pose_teardown( void *pointer )
{
    pose_state *s = pointer;
    pose_kkt_free( &s->kkt );
    pose_task_free( &s->task );
    tr_fit_free( &s->fit );
    tr_fit_scratch_free( &s->fit_scratch );
    tr_motion_free( &s->answer );
    tr_free( s->vertices );
    tr_free( s->literal );
    tr_free( s->converged );
    tr_free( s->frames );
    tr_free( s->results );
    tr_free( s->goals );
    tr_free( s->positions );
    tr_free( s->turns );
    tr_free( s );
}

// Iterated in doubles far below a thousandth of a millimetre.
static bool converge( pose_state *s, tr_error *error )
{
    tr_cluster_def def = tr_default_cluster_def();
    def.lanes = TR_LANES_DOUBLE;
    def.max_iterations = 2000;
    def.tolerance = 1e-8;
    tr_cluster_scratch *shared = s->task.scratch; // its lanes or blocks may be too small
    s->task.scratch = NULL;
    bool ok = pose_task_solve( &s->task, &def, s->converged, NULL, error );
    s->task.scratch = shared;
    return ok;
}

static bool pose_setup( void **out, const char *name, bool quick, tr_error *error )
{
    pose_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    tr_motion source;
    bool ok = pose_sources_load( &source, 1, name, quick ? QUICK_FRAMES : BENCH_FRAMES, error ) &&
              pose_task_build( &s->task, name, &source, error ) &&
              pose_kkt_build( &s->kkt, &s->task, true, error );
    tr_motion_free( &source );
    if ( !ok )
        return false;
    size_t count = (size_t)s->task.frame_count * 3 * (size_t)s->task.joint_count;
    s->vertices = tr_alloc( count, sizeof( vec3 ) );
    s->literal = tr_alloc( count, sizeof( vec3 ) );
    s->converged = tr_alloc( count, sizeof( vec3 ) );
    if ( s->vertices == NULL || s->literal == NULL || s->converged == NULL )
        return tr_error_memory( error );
    return pose_kkt_solve( &s->kkt, s->literal, error ) && converge( s, error );
}

static bool paper_setup( void **out, const char *name, bool quick, tr_error *error )
{
    if ( !pose_setup( out, name, quick, error ) )
        return false;
    pose_state *s = *out;
    pose_kkt_free( &s->kkt );
    return pose_kkt_build( &s->kkt, &s->task, false, error );
}

static bool kkt_run( void *pointer, tr_error *error )
{
    pose_state *s = pointer;
    return pose_kkt_solve( &s->kkt, s->vertices, error );
}

static bool fast_run( void *pointer, tr_error *error )
{
    pose_state *s = pointer;
    tr_cluster_def def = pose_task_same_def();
    return pose_task_solve( &s->task, &def, s->vertices, NULL, error );
}

// ----------------------------------------------------------------------------------- down to the skeleton

static void set_goals( pose_state *s, int frame )
{
    int rows = s->task.cluster.row_count;
    tr_fit_frame *to = &s->frames[frame];
    tr_fit_goal *goals = s->goals + frame * BENCH_ROWS_MAX;
    *to = ( tr_fit_frame ){ .start = tr_clip_frame( &s->task.motion.clip, frame ),
                            .root = s->task.motion.clip.root[frame],
                            .goals = goals };
    for ( int r = 0; r < rows; ++r ) {
        const tr_goal *goal = &s->task.goals[frame * rows + r];
        if ( goal->compliance[0] >= 0 )
            goals[to->goal_count++] = tr_fit_position( s->task.joints[r], goal->target );
    }
}

static bool fit_setup( void **out, const char *name, bool quick, tr_error *error )
{
    if ( !pose_setup( out, name, quick, error ) )
        return false;
    pose_state *s = *out;
    size_t frames = (size_t)s->task.frame_count, joints = (size_t)s->task.joint_count;
    s->fitted = true;
    s->frames = tr_alloc( frames, sizeof( tr_fit_frame ) );
    s->results = tr_alloc( frames, sizeof( tr_fit_result ) );
    s->goals = tr_alloc( frames * BENCH_ROWS_MAX, sizeof( tr_fit_goal ) );
    s->positions = tr_alloc( frames * joints, sizeof( vec3 ) );
    s->turns = tr_alloc( frames * joints, sizeof( quat ) );
    if ( s->frames == NULL || s->results == NULL || s->goals == NULL || s->positions == NULL ||
         s->turns == NULL )
        return tr_error_memory( error );
    tr_fit_def def = tr_default_fit_def();
    if ( !tr_motion_copy( &s->answer, &s->task.motion, error ) ||
         !tr_fit_build( &s->fit, &s->answer.skeleton, &def, error ) )
        return false;
    for ( int f = 0; f < s->task.frame_count; ++f ) {
        set_goals( s, f );
        s->results[f] = ( tr_fit_result ){ .local = tr_clip_frame( &s->answer.clip, f ) };
    }
    return tr_fit_scratch_build( &s->fit_scratch, &s->fit, BENCH_ROWS_MAX, tr_parallel_threads(), error );
}

// The skeleton fit alone, from the copied pose.
static bool fit_run( void *pointer, tr_error *error )
{
    pose_state *s = pointer;
    if ( !tr_fit_solve( &s->fit, &s->fit_scratch, s->frames, s->results, s->task.frame_count, error ) )
        return false;
    for ( int f = 0; f < s->task.frame_count; ++f )
        s->answer.clip.root[f] = s->results[f].root;
    return true;
}

static bool gn_run( void *pointer, tr_error *error )
{
    pose_state *s = pointer;
    return pose_gn_solve( &s->task, &s->answer.clip, error );
}

static bool lbfgs_run( void *pointer, tr_error *error )
{
    pose_state *s = pointer;
    return pose_lbfgs_solve( &s->task, &s->answer.clip, error );
}

// The graph until it converges, then the skeleton fit to its joints.
static bool complete_run( void *pointer, tr_error *error )
{
    pose_state *s = pointer;
    tr_cluster_def def = tr_default_cluster_def();
    double start = tr_processor_ms(); // as all rows of one thread
    if ( !pose_task_solve( &s->task, &def, s->vertices, s->turns, error ) )
        return false;
    double ms = tr_processor_ms() - start;
    s->graph_ms = s->graph_ms > 0 ? fmin( s->graph_ms, ms ) : ms;
    int joints = s->task.joint_count;
    for ( int f = 0; f < s->task.frame_count; ++f ) {
        size_t first = (size_t)f * (size_t)joints;
        const quat *copied = tr_world_pose( &s->task.world, f ).rotations;
        for ( int j = 0; j < joints; ++j ) {
            s->positions[first + (size_t)j] = tr_posegraph_joint( s->vertices + 3 * first, j );
            s->turns[first + (size_t)j] = q_mul( s->turns[first + (size_t)j], copied[j] );
        }
        s->frames[f].positions = s->positions + first;
        s->frames[f].rotations = s->turns + first;
    }
    return fit_run( s, error );
}

// ------------------------------------------------------------------------------------------------- figures

typedef struct pose_figures { // the largest of all frames
    double difference;        // largest distance of a vertex from `literal`, metres
    double converged;         // largest distance of a joint from the graph at rest, metres
    double constraint, bone;  // metres, fraction
} pose_figures;

static void look_at_frame( const pose_state *s, int frame, const vec3 *joints, pose_figures *worst )
{
    const tr_posegraph *g = &s->task.graph;
    int rows = s->task.cluster.row_count;
    const vec3 *rest = s->converged + (size_t)frame * 3 * (size_t)g->joint_count;
    for ( int j = 0; j < g->joint_count; ++j ) {
        worst->converged = fmax( worst->converged, v3_distance( joints[j], tr_posegraph_joint( rest, j ) ) );
        if ( j > 0 && g->lengths[j] > 0.001 )
            worst->bone =
                fmax( worst->bone, fabs( v3_distance( joints[j], joints[g->parents[j]] ) - g->lengths[j] ) /
                                       g->lengths[j] );
    }
    for ( int r = 0; r < rows; ++r ) {
        const tr_goal *goal = &s->task.goals[frame * rows + r];
        if ( goal->compliance[0] >= 0 )
            worst->constraint =
                fmax( worst->constraint, v3_distance( joints[s->task.joints[r]], goal->target ) );
    }
}

static void look_at_vertices( const pose_state *s, vec3 *joints, pose_figures *worst )
{
    int n = s->task.joint_count;
    for ( int f = 0; f < s->task.frame_count; ++f ) {
        const vec3 *v = s->vertices + (size_t)f * 3 * (size_t)n, *l = s->literal + ( v - s->vertices );
        for ( int i = 0; i < 3 * n; ++i )
            worst->difference = fmax( worst->difference, v3_distance( v[i], l[i] ) );
        for ( int j = 0; j < n; ++j )
            joints[j] = tr_posegraph_joint( v, j );
        look_at_frame( s, f, joints, worst );
    }
}

static void pose_describe( const void *pointer, tr_bench_row *row )
{
    const pose_state *s = pointer;
    pose_figures worst = { 0 };
    tr_world world = { 0 };
    tr_error error;
    vec3 *joints = tr_alloc( (size_t)s->task.joint_count, sizeof( vec3 ) );
    bench_field( row, "frames", s->task.frame_count );
    bench_field( row, "us_character_frame", row->ms * 1000 / s->task.frame_count );
    if ( joints != NULL && !s->fitted ) {
        look_at_vertices( s, joints, &worst );
        bench_field( row, "max_diff_m", worst.difference );
    }
    tr_free( joints );
    if ( s->fitted && tr_world_build( &world, &s->answer, &error ) )
        for ( int f = 0; f < s->task.frame_count; ++f )
            look_at_frame( s, f, tr_world_pose( &world, f ).positions, &worst );
    tr_world_free( &world );
    if ( s->graph_ms > 0 )
        bench_field( row, "graph_ms", s->graph_ms );
    bench_field( row, "constraint_error_mm", 1000 * worst.constraint );
    bench_field( row, "bone_error_pct", 100 * worst.bone );
    bench_field( row, "mm_to_converged", 1000 * worst.converged );
}

// --------------------------------------------------------------------------------------------------- crowd
// Unlinked people with the bodies and clips of the relay, each person's result in its own memory.
//
// The shortest of a few runs of 400 ms cannot be compared with the shortest of a hundred runs of 8 ms: on a
// shared machine some short runs are undisturbed, but no long one. On one thread every row therefore sums the
// shortest times of pieces of equal length, with as many people as the smallest crowd has. Between two runs
// of a piece all others have passed through the caches, so the cost of memory stays in the figures.

#define CROWD_VARIANTS 19 // and people of a piece

typedef struct crowd_state {
    pose_task variants[CROWD_VARIANTS];
    int variant_count, person_count;
    vec3 **vertices;  // [person_count]
    double *piece_ms; // [person_count / CROWD_VARIANTS + 1] the shortest so far; 0: none yet
    atomic_bool failed;
} crowd_state;

static void crowd_teardown( void *pointer )
{
    crowd_state *s = pointer;
    for ( int i = 0; i < s->variant_count; ++i )
        pose_task_free( &s->variants[i] );
    for ( int i = 0; s->vertices != NULL && i < s->person_count; ++i )
        tr_free( s->vertices[i] );
    tr_free( s->vertices );
    tr_free( s->piece_ms );
    tr_free( s );
}

static bool crowd_setup( void **out, const char *people, bool quick, tr_error *error )
{
    crowd_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    s->person_count = atoi( people );
    int frames = quick ? QUICK_FRAMES : BENCH_FRAMES;
    tr_motion sources[CROWD_VARIANTS];
    bool ok = pose_sources_load( sources, CROWD_VARIANTS, "human", frames, error );
    for ( int i = 0; i < CROWD_VARIANTS; ++i ) {
        ok = ok && pose_task_build( &s->variants[s->variant_count++], "human", &sources[i], error );
        tr_motion_free( &sources[i] );
    }
    if ( !ok )
        return false;
    s->piece_ms = tr_alloc( (size_t)s->person_count / CROWD_VARIANTS + 1, sizeof( double ) );
    s->vertices = tr_alloc( (size_t)s->person_count, sizeof( vec3 * ) );
    if ( s->piece_ms == NULL )
        return tr_error_memory( error );
    size_t count = (size_t)frames * 3 * (size_t)s->variants[0].joint_count;
    for ( int i = 0; i < s->person_count; ++i )
        if ( s->vertices == NULL || ( s->vertices[i] = tr_alloc( count, sizeof( vec3 ) ) ) == NULL )
            return tr_error_memory( error );
    return true;
}

static void crowd_people( void *pointer, int begin, int end )
{
    crowd_state *s = pointer;
    tr_cluster_def def = pose_task_same_def();
    tr_error error;
    for ( int i = begin; i < end; ++i )
        if ( !pose_task_solve( &s->variants[i % CROWD_VARIANTS], &def, s->vertices[i], NULL, &error ) )
            s->failed = true;
}

static void crowd_pieces( crowd_state *s )
{
    for ( int begin = 0, piece = 0; begin < s->person_count; begin += CROWD_VARIANTS, ++piece ) {
        double start = tr_processor_ms();
        crowd_people( s, begin,
                      begin + CROWD_VARIANTS < s->person_count ? begin + CROWD_VARIANTS : s->person_count );
        double ms = tr_processor_ms() - start, *least = &s->piece_ms[piece];
        *least = *least > 0 ? fmin( *least, ms ) : ms;
    }
}

static bool crowd_run( void *pointer, tr_error *error )
{
    crowd_state *s = pointer;
    if ( tr_parallel_threads() == 1 )
        crowd_pieces( s );
    else
        tr_parallel_for( s->person_count, 1, crowd_people, s );
    return !s->failed || tr_error_memory( error ); // nothing else can fail
}

static void crowd_describe( const void *pointer, tr_bench_row *row )
{
    const crowd_state *s = pointer;
    int frames = s->variants[0].frame_count;
    double sum = 0;
    for ( int i = 0; i <= s->person_count / CROWD_VARIANTS; ++i )
        sum += s->piece_ms[i];
    row->ms = sum > 0 ? sum : row->ms;
    bench_field( row, "characters", s->person_count );
    bench_field( row, "frames", frames );
    bench_field( row, "us_character_frame", row->ms * 1000 / ( (double)s->person_count * frames ) );
}

// --------------------------------------------------------------------------------------------------- table

static const bench_kind literal_kind = { pose_setup, kkt_run, pose_describe, pose_teardown };
static const bench_kind paper_kind = { paper_setup, kkt_run, pose_describe, pose_teardown };
static const bench_kind fast_kind = { pose_setup, fast_run, pose_describe, pose_teardown };
static const bench_kind lbfgs_kind = { fit_setup, lbfgs_run, pose_describe, pose_teardown };
static const bench_kind gn_kind = { fit_setup, gn_run, pose_describe, pose_teardown };
static const bench_kind only_fit_kind = { fit_setup, fit_run, pose_describe, pose_teardown };
static const bench_kind complete_kind = { fit_setup, complete_run, pose_describe, pose_teardown };
static const bench_kind crowd_kind = { crowd_setup, crowd_run, crowd_describe, crowd_teardown };

const bench_case bench_pose_cases[] = {
    { "posegraph/human/paper", "human", 1, &paper_kind },
    { "posegraph/human/literal", "human", 1, &literal_kind, "posegraph/human/paper", "times_paper" },
    { "posegraph/human/lbfgs", "human", 1, &lbfgs_kind, "posegraph/human/paper", "times_paper" },
    { "posegraph/human/gn", "human", 1, &gn_kind, "posegraph/human/paper", "times_paper" },
    { "posegraph/human/fit", "human", 1, &only_fit_kind, "posegraph/human/paper", "times_paper" },
    { "posegraph/human/fast", "human", 1, &fast_kind, "posegraph/human/paper", "times_paper" },
    { "posegraph/human/fast2", "human", 2, &fast_kind, "posegraph/human/paper", "times_paper" },
    { "posegraph/human/complete", "human", 1, &complete_kind, "posegraph/human/paper", "times_paper" },
    { "posegraph/spider/paper", "spider", 1, &paper_kind },
    { "posegraph/spider/literal", "spider", 1, &literal_kind, "posegraph/spider/paper", "times_paper" },
    { "posegraph/spider/lbfgs", "spider", 1, &lbfgs_kind, "posegraph/spider/paper", "times_paper" },
    { "posegraph/spider/gn", "spider", 1, &gn_kind, "posegraph/spider/paper", "times_paper" },
    { "posegraph/spider/fit", "spider", 1, &only_fit_kind, "posegraph/spider/paper", "times_paper" },
    { "posegraph/spider/fast", "spider", 1, &fast_kind, "posegraph/spider/paper", "times_paper" },
    { "posegraph/spider/fast2", "spider", 2, &fast_kind, "posegraph/spider/paper", "times_paper" },
    { "posegraph/spider/complete", "spider", 1, &complete_kind, "posegraph/spider/paper", "times_paper" },
    { "posegraph/wolf/paper", "wolf", 1, &paper_kind },
    { "posegraph/wolf/literal", "wolf", 1, &literal_kind, "posegraph/wolf/paper", "times_paper" },
    { "posegraph/wolf/lbfgs", "wolf", 1, &lbfgs_kind, "posegraph/wolf/paper", "times_paper" },
    { "posegraph/wolf/gn", "wolf", 1, &gn_kind, "posegraph/wolf/paper", "times_paper" },
    { "posegraph/wolf/fit", "wolf", 1, &only_fit_kind, "posegraph/wolf/paper", "times_paper" },
    { "posegraph/wolf/fast", "wolf", 1, &fast_kind, "posegraph/wolf/paper", "times_paper" },
    { "posegraph/wolf/fast2", "wolf", 2, &fast_kind, "posegraph/wolf/paper", "times_paper" },
    { "posegraph/wolf/complete", "wolf", 1, &complete_kind, "posegraph/wolf/paper", "times_paper" },
    { "crowd/19", "19", 1, &crowd_kind },
    { "crowd/100", "100", 1, &crowd_kind, .long_only = true },
    { "crowd/1000", "1000", 1, &crowd_kind, .long_only = true, .runs_least = 8 },
    { "crowd/1000", "1000", 2, &crowd_kind, "crowd/1000", "times_1_thread", .long_only = true },
    { NULL },
};
