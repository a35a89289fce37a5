// Interaction meshes: the paper's method literally, the same problem solved well, and the program's method.
#include "cases.h"
#include "imesh_task.h"

#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

#define QUICK_FRAMES 10
#define DOZENS       24 // pairs

typedef struct imesh_state {
    imesh_task task;
    tr_imesh mesh; // its vertices and webs
    imesh_paper paper;
    tr_imesh_report report;
    vec3 *literal; // [frame_count · vertex_count] result of the literal solver, to compare with
    tr_delaunay delaunay;
    // Down to the skeletons.
    tr_fit fits[2];
    tr_fit_scratch scratch;
    tr_fit_frame *frames;   // [frame_count]
    tr_fit_result *results; // [frame_count]
    vec3 *positions;        // [frame_count · joint_count]
    quat *rotations;
    tr_motion answers[2];
} imesh_state;

static void imesh_teardown( void *pointer )
{
    imesh_state *s = pointer;
    imesh_paper_free( &s->paper );
    tr_imesh_free( &s->mesh );
    imesh_task_free( &s->task );
    tr_delaunay_free( &s->delaunay );
    tr_fit_scratch_free( &s->scratch );
    for ( int i = 0; i < 2; ++i ) {
        tr_fit_free( &s->fits[i] );
        tr_motion_free( &s->answers[i] );
    }
    tr_free( s->literal );
    tr_free( s->frames );
    tr_free( s->results );
    tr_free( s->positions );
    tr_free( s->rotations );
    tr_free( s );
}

// The program's settings at 30 frames per second.
static tr_imesh_def product_def( void )
{
    tr_imesh_def def = tr_default_imesh_def();
    def.acceleration = 40;
    return def;
}

static bool task_setup( void **out, bool quick, tr_error *error )
{
    imesh_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    tr_imesh_def def = tr_default_imesh_def();
    return imesh_task_build( &s->task, quick ? QUICK_FRAMES : IMESH_FRAMES, 0, error ) &&
           tr_imesh_build( &s->mesh, &s->task.cast, &def, error );
}

static size_t point_count( const imesh_state *s )
{
    return (size_t)s->mesh.frame_count * (size_t)s->mesh.vertex_count;
}

// ------------------------------------------------------------------------------------------------- the paper

static bool literal_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)argument;
    if ( !task_setup( out, quick, error ) )
        return false;
    imesh_state *s = *out;
    return imesh_paper_build( &s->paper, &s->mesh, false, error );
}

static bool literal_run( void *pointer, tr_error *error )
{
    imesh_state *s = pointer;
    return imesh_paper_literal( &s->paper, error );
}

// Solves literally first, to compare with.
static bool fast_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    if ( !literal_setup( out, argument, quick, error ) || !literal_run( *out, error ) )
        return false;
    imesh_state *s = *out;
    s->literal = s->paper.x;
    s->paper.x = NULL;
    imesh_paper_free( &s->paper );
    return true;
}

// K is assembled and factored once for all steps, but in every run.
static bool fast_run( void *pointer, tr_error *error )
{
    imesh_state *s = pointer;
    imesh_paper_free( &s->paper );
    if ( !imesh_paper_build( &s->paper, &s->mesh, true, error ) )
        return false;
    imesh_paper_fast( &s->paper );
    return true;
}

static double bone_error( const imesh_state *s, const vec3 *positions )
{
    double worst = 0;
    for ( int f = 0; f < s->mesh.frame_count; ++f )
        for ( int l = 0; l < s->mesh.link_count; ++l ) {
            const tr_imesh_link *link = &s->mesh.links[l];
            const vec3 *x = positions + (size_t)f * (size_t)s->mesh.vertex_count;
            if ( link->bone && link->length > 0 )
                worst = fmax( worst, fabs( v3_distance( x[link->a], x[link->b] ) / link->length - 1 ) );
        }
    return 100 * worst;
}

static void describe_task( const imesh_state *s, tr_bench_row *row )
{
    bench_field( row, "points", s->mesh.vertex_count );
    bench_field( row, "frames", s->mesh.frame_count );
}

static void paper_describe( const void *pointer, tr_bench_row *row )
{
    const imesh_state *s = pointer;
    describe_task( s, row );
    bench_field( row, "bone_error_pct", bone_error( s, s->paper.x ) );
    if ( s->literal == NULL )
        return;
    double most = 0;
    for ( size_t i = 0; i < point_count( s ); ++i )
        most = fmax( most, v3_distance( s->literal[i], s->paper.x[i] ) );
    bench_field( row, "max_diff_m", most );
    bench_field( row, "band_solves", s->paper.solves );
}

// ----------------------------------------------------------------------------------------------- the program

static bool complete_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)argument;
    if ( !task_setup( out, quick, error ) )
        return false;
    imesh_state *s = *out;
    tr_fit_def def = tr_default_fit_def();
    size_t frames = (size_t)s->mesh.frame_count,
           joints = (size_t)s->task.people[0].target.skeleton.joint_count;
    s->frames = tr_alloc( frames, sizeof *s->frames );
    s->results = tr_alloc( frames, sizeof *s->results );
    s->positions = tr_alloc( frames * joints, sizeof( vec3 ) );
    s->rotations = tr_alloc( frames * joints, sizeof( quat ) );
    if ( s->frames == NULL || s->results == NULL || s->positions == NULL || s->rotations == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < 2; ++i )
        if ( !tr_motion_copy( &s->answers[i], &s->task.people[i].target, error ) ||
             !tr_fit_build( &s->fits[i], &s->answers[i].skeleton, &def, error ) )
            return false;
    return tr_fit_scratch_build( &s->scratch, &s->fits[0], 1, tr_parallel_threads(), error );
}

static bool fit_person( imesh_state *s, int person, tr_error *error )
{
    const tr_world *place = &s->task.people[person].target_world;
    tr_clip *clip = &s->answers[person].clip;
    for ( int f = 0; f < s->mesh.frame_count; ++f ) {
        size_t first = (size_t)f * (size_t)clip->joint_count;
        tr_pose pose = { s->rotations + first, s->positions + first };
        tr_imesh_pose( &s->mesh, person, f, tr_world_pose( place, f ), pose );
        s->frames[f] = ( tr_fit_frame ){ .start = tr_clip_frame( &s->task.people[person].target.clip, f ),
                                         .root = pose.positions[0],
                                         .positions = pose.positions,
                                         .rotations = pose.rotations };
        s->results[f] = ( tr_fit_result ){ .local = tr_clip_frame( clip, f ) };
    }
    if ( !tr_fit_solve( &s->fits[person], &s->scratch, s->frames, s->results, s->mesh.frame_count, error ) )
        return false;
    for ( int f = 0; f < s->mesh.frame_count; ++f )
        clip->root[f] = s->results[f].root;
    return true;
}

// Everything: tetrahedra, matrix, all steps with collisions, report, skeletons.
static bool complete_run( void *pointer, tr_error *error )
{
    imesh_state *s = pointer;
    tr_imesh_def def = product_def();
    tr_imesh_free( &s->mesh );
    if ( !tr_imesh_build( &s->mesh, &s->task.cast, &def, error ) ||
         !tr_imesh_solve( &s->mesh, &s->report, error ) )
        return false;
    return fit_person( s, 0, error ) && fit_person( s, 1, error );
}

static double skeleton_error( const imesh_state *s )
{
    double worst = 0;
    for ( int i = 0; i < 2; ++i ) {
        tr_world world;
        tr_error error;
        if ( !tr_world_build( &world, &s->answers[i], &error ) )
            return INFINITY;
        for ( int f = 0; f < world.frame_count; ++f )
            for ( int j = 1; j < world.joint_count; ++j ) {
                const vec3 *at = tr_world_pose( &world, f ).positions;
                double length = tr_bone_length( &s->answers[i].skeleton, j );
                worst = fmax(
                    worst,
                    fabs( v3_distance( at[j], at[s->answers[i].skeleton.joints[j].parent] ) / length - 1 ) );
            }
        tr_world_free( &world );
    }
    return 100 * worst;
}

static void complete_describe( const void *pointer, tr_bench_row *row )
{
    const imesh_state *s = pointer;
    describe_task( s, row );
    bench_field( row, "bone_error_pct", bone_error( s, s->mesh.positions ) );
    bench_field( row, "fitted_bone_error_pct", skeleton_error( s ) );
    bench_field( row, "MB", (double)tr_imesh_bytes( &s->mesh ) / 1e6 );
    bench_field( row, "deepest_mm", 1000 * s->report.after.deepest );
    bench_field( row, "rounds", s->report.iterations );
}

// ------------------------------------------------------------------------------------------------ one frame

// A paused frame while a hand is dragged: the mesh is built on the grab, each movement is a solve.
static bool frame_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)argument;
    if ( !task_setup( out, quick, error ) )
        return false;
    imesh_state *s = *out;
    tr_imesh_def def = tr_default_imesh_def();
    def.steps = 1;
    def.settle = 0;
    tr_imesh_free( &s->mesh );
    for ( int i = 0; i < 2; ++i ) {
        imesh_person *p = &s->task.people[i]; // sizes do not change during a drag
        s->task.bodies[i].target = &p->source.skeleton;
        s->task.bodies[i].target_body = &p->source_body;
        s->task.bodies[i].place = &p->source_world;
    }
    s->task.rows[0].a.joint = tr_skeleton_find( &s->task.people[0].source.skeleton, "LeftHand" );
    s->task.rows[0].target =
        v3_add( tr_world_pose( &s->task.people[0].source_world, 0 ).positions[s->task.rows[0].a.joint],
                v3( 0.1, 0.1, 0 ) );
    s->task.cast.frame_count = 1;
    s->task.cast.row_count = 1;
    return tr_imesh_build( &s->mesh, &s->task.cast, &def, error );
}

static bool frame_run( void *pointer, tr_error *error )
{
    imesh_state *s = pointer;
    return tr_imesh_solve( &s->mesh, NULL, error );
}

static void frame_describe( const void *pointer, tr_bench_row *row )
{
    const imesh_state *s = pointer;
    const tr_imesh_row *asked = &s->task.rows[0];
    describe_task( s, row );
    bench_field( row, "bone_error_pct", bone_error( s, s->mesh.positions ) );
    bench_field(
        row, "hand_error_mm",
        1000 * v3_distance( s->mesh.positions[s->mesh.joint_vertex[0][asked->a.joint]], asked->target ) );
}

static bool delaunay_run( void *pointer, tr_error *error )
{
    imesh_state *s = pointer;
    for ( int f = 0; f < s->mesh.frame_count; ++f )
        if ( !tr_delaunay_build( &s->delaunay, s->mesh.source + (size_t)f * (size_t)s->mesh.vertex_count,
                                 s->mesh.vertex_count, error ) )
            return false;
    return true;
}

static void delaunay_describe( const void *pointer, tr_bench_row *row )
{
    const imesh_state *s = pointer;
    describe_task( s, row );
    bench_field( row, "us_frame", 1000 * row->ms / s->mesh.frame_count );
    bench_field( row, "tetrahedra", s->delaunay.tet_count );
}

static bool plain_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)argument;
    return task_setup( out, quick, error );
}

// --------------------------------------------------------------------------------------------------- dozens

typedef struct dozens_state {
    imesh_task tasks[DOZENS];
    bool ok[DOZENS];
    size_t bytes[DOZENS];
    int count;
} dozens_state;

static void dozens_teardown( void *pointer )
{
    dozens_state *s = pointer;
    for ( int i = 0; i < DOZENS; ++i )
        imesh_task_free( &s->tasks[i] );
    tr_free( s );
}

static bool dozens_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    dozens_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    bool half_pairs = argument != NULL && strcmp( argument, "pairs" ) == 0,
         half_frames = argument != NULL && strcmp( argument, "frames" ) == 0;
    int frames = ( quick ? QUICK_FRAMES : IMESH_FRAMES ) / ( half_frames ? 2 : 1 );
    s->count = half_pairs ? DOZENS / 2 : DOZENS;
    for ( int i = 0; i < s->count; ++i )
        if ( !imesh_task_build( &s->tasks[i], frames, 0.3 * i, error ) )
            return false;
    return true;
}

static void solve_pairs( void *context, int begin, int end )
{
    dozens_state *s = context;
    tr_imesh_def def = product_def();
    for ( int i = begin; i < end; ++i ) {
        tr_imesh mesh;
        s->ok[i] = tr_imesh_build( &mesh, &s->tasks[i].cast, &def, NULL );
        s->ok[i] = s->ok[i] && tr_imesh_solve( &mesh, NULL, NULL );
        s->bytes[i] = s->ok[i] ? tr_imesh_bytes( &mesh ) : 0;
        tr_imesh_free( &mesh );
    }
}

static bool dozens_run( void *pointer, tr_error *error )
{
    dozens_state *s = pointer;
    tr_parallel_for( s->count, 1, solve_pairs, s );
    for ( int i = 0; i < s->count; ++i )
        if ( !s->ok[i] )
            return tr_error_memory( error );
    return true;
}

static void dozens_describe( const void *pointer, tr_bench_row *row )
{
    const dozens_state *s = pointer;
    bench_field( row, "pairs", s->count );
    bench_field( row, "frames", s->tasks[0].cast.frame_count );
    bench_field( row, "ms_pair", row->ms / s->count );
    bench_field( row, "MB_pair", (double)s->bytes[0] / 1e6 );
}

// --------------------------------------------------------------------------------------------------- table

static const bench_kind literal_kind = { literal_setup, literal_run, paper_describe, imesh_teardown };
static const bench_kind fast_kind = { fast_setup, fast_run, paper_describe, imesh_teardown };
static const bench_kind complete_kind = { complete_setup, complete_run, complete_describe, imesh_teardown };
static const bench_kind frame_kind = { frame_setup, frame_run, frame_describe, imesh_teardown };
static const bench_kind delaunay_kind = { plain_setup, delaunay_run, delaunay_describe, imesh_teardown };
static const bench_kind dozens_kind = { dozens_setup, dozens_run, dozens_describe, dozens_teardown };

const bench_case bench_imesh_cases[] = {
    { "imesh/literal", NULL, 1, &literal_kind },
    { "imesh/fast", NULL, 1, &fast_kind, "imesh/literal", "times_literal" },
    { "imesh/complete", NULL, 1, &complete_kind, "imesh/literal", "times_literal" },
    { "imesh/frame", NULL, 1, &frame_kind },
    { "imesh/delaunay", NULL, 1, &delaunay_kind },
    { "imesh/dozens", NULL, 1, &dozens_kind, .long_only = true, .runs_least = 2 },
    { "imesh/dozens", NULL, 2, &dozens_kind, "imesh/dozens", "times_1_thread", .long_only = true,
      .runs_least = 2 },
    { "imesh/half_pairs", "pairs", 1, &dozens_kind, "imesh/dozens", "times_dozens", .long_only = true,
      .runs_least = 2 },
    { "imesh/half_frames", "frames", 1, &dozens_kind, "imesh/dozens", "times_dozens", .long_only = true,
      .runs_least = 2 },
    { NULL },
};
