// Cases of the cage: mean value coordinates and one iteration of the deformation, each plain and fast.
#include "cage/cage.h"
#include "cases.h"
#include "motion/motion.h"
#include "plain_arap.h"
#include "scenes/scenes.h"

#include <stdlib.h>
#include <string.h>

#define POINTS 3840 // 32 joints over 120 frames

typedef struct cage_state {
    vec3 *points; // [frames · joints] of one person
    int joints, frames;
    tr_cage cage;
    vec3 *shape;    // [POINTS] in the section's own space
    double *exact;  // [POINTS · vertex_count]
    float *rounded; // the same
    tr_cage_handle handle;
    plain_arap plain;
    bool is_plain;
    double difference; // from plain: metres after two iterations, or of weights
} cage_state;

static void cage_teardown( void *pointer )
{
    cage_state *s = pointer;
    tr_cage_free( &s->cage );
    plain_arap_free( &s->plain );
    tr_free( s->points );
    tr_free( s->shape );
    tr_free( s->exact );
    tr_free( s->rounded );
    tr_free( s );
}

static bool load_points( cage_state *s, tr_error *error )
{
    tr_scene scene = tr_default_scene();
    tr_library library = { 0 };
    tr_world world = { 0 };
    bool ok = tr_scene_build( tr_scene_entry_find( "box_relay" ), 0, &scene, &library, error );
    const tr_motion *motion = ok ? tr_library_find( &library, scene.cast[0].source.file ) : NULL;
    ok = ok && motion != NULL && tr_world_build( &world, motion, error );
    if ( ok ) {
        s->joints = motion->skeleton.joint_count;
        s->frames = motion->clip.frame_count;
        s->points = tr_alloc( (size_t)( s->joints * s->frames ), sizeof( vec3 ) );
        ok = s->points != NULL || tr_error_memory( error );
    }
    for ( int i = 0; ok && i < s->joints * s->frames; ++i )
        s->points[i] = world.positions[i];
    tr_world_free( &world );
    tr_library_free( &library );
    tr_scene_free( &scene );
    return ok;
}

static bool start( void **out, int detail, int sections, tr_error *error )
{
    cage_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    tr_cage_def def = tr_default_cage_def();
    def.detail = detail;
    def.section_count = sections;
    if ( !load_points( s, error ) )
        return false;
    tr_cage_points points = { s->points, s->joints, 0, s->frames, 30 };
    return tr_cage_build( &s->cage, &points, 0, s->frames - 1, &def, error );
}

// -------------------------------------------------------------------------------------------------- weights

static bool weights_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)argument;
    (void)quick;
    if ( !start( out, 4, 0, error ) )
        return false;
    cage_state *s = *out;
    size_t vertices = (size_t)s->cage.vertex_count;
    s->shape = tr_alloc( POINTS, sizeof( vec3 ) );
    s->exact = tr_alloc( POINTS * vertices, sizeof( double ) );
    s->rounded = tr_alloc( POINTS * vertices, sizeof( float ) );
    if ( s->shape == NULL || s->exact == NULL || s->rounded == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < POINTS; ++i ) {
        int at = i % ( s->joints * s->frames ), frame = at / s->joints;
        vec3 extent = s->cage.extents[frame];
        vec3 d = rigid_apply( rigid_inverse( s->cage.places[frame] ), s->points[at] );
        s->shape[i] = v3_mul( s->cage.proportions, v3( d.x / extent.x, d.y / extent.y, d.z / extent.z ) );
    }
    return true;
}

static bool weights_exact( void *pointer, tr_error *error )
{
    (void)error;
    cage_state *s = pointer;
    for ( size_t i = 0; i < POINTS; ++i )
        tr_mean_value_exact( &s->cage.coordinates, s->shape[i], s->exact + i * (size_t)s->cage.vertex_count );
    return true;
}

static bool weights_fast( void *pointer, tr_error *error )
{
    (void)error;
    cage_state *s = pointer;
    tr_mean_value_weights( &s->cage.coordinates, s->shape, POINTS, tr_lanes_best(), s->rounded );
    return true;
}

static void describe_weights( const void *pointer, tr_bench_row *row )
{
    const cage_state *s = pointer;
    double pairs = (double)POINTS * s->cage.triangle_count;
    bench_field( row, "vertices", s->cage.vertex_count );
    bench_field( row, "points", POINTS );
    bench_field( row, "ns_point_triangle", row->ms * 1e6 / pairs );
}

static void describe_fast_weights( const void *pointer, tr_bench_row *row )
{
    describe_weights( pointer, row );
    cage_state *s = (cage_state *)pointer;
    double worst = 0;
    weights_exact( s, NULL );
    for ( size_t i = 0; i < POINTS * (size_t)s->cage.vertex_count; ++i )
        worst = fmax( worst, fabs( s->rounded[i] - s->exact[i] ) );
    bench_field( row, "max_diff", worst );
}

// ---------------------------------------------------------------------------------------------- deformation

static bool arap_start( void **out, const char *argument, tr_error *error )
{
    int detail = 1, sections = 2;
    sscanf( argument, "%d %d", &detail, &sections );
    if ( !start( out, detail, sections, error ) )
        return false;
    cage_state *s = *out;
    s->handle = ( tr_cage_handle ){ .kind = TR_HANDLE_VERTEX,
                                    .section = s->cage.section_count / 2,
                                    .vertex = 1,
                                    .offset = v3( 0.2, 0.3, 0.1 ) };
    return tr_cage_grab( &s->cage, &s->handle, 1, error ) &&
           plain_arap_build( &s->plain, &s->cage, &s->handle, error );
}

static bool plain_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)quick;
    return arap_start( out, argument, error );
}

static bool plain_run( void *pointer, tr_error *error )
{
    (void)error;
    cage_state *s = pointer;
    plain_arap_rotations( &s->plain, &s->cage );
    plain_arap_positions( &s->plain, &s->cage );
    return true;
}

// Two iterations from rest are the same both ways: positions, rotations, positions.
static bool arap_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)quick;
    if ( !arap_start( out, argument, error ) )
        return false;
    cage_state *s = *out;
    tr_cage_solve_def def = tr_cage_preview_def();
    def.max_iterations = 2, def.warm = false;
    tr_cage_solve( &s->cage, &s->handle, &def, NULL );
    plain_arap_positions( &s->plain, &s->cage );
    plain_run( s, error );
    for ( int v = 0; v < s->plain.count; ++v )
        s->difference = fmax( s->difference, v3_distance( s->plain.v[v], s->cage.moved[v] ) );
    return true;
}

static bool arap_run( void *pointer, tr_error *error )
{
    (void)error;
    cage_state *s = pointer;
    tr_cage_solve_def def = tr_cage_preview_def();
    def.max_iterations = 1;
    tr_cage_solve( &s->cage, &s->handle, &def, NULL );
    return true;
}

static void describe_plain( const void *pointer, tr_bench_row *row )
{
    const cage_state *s = pointer;
    bench_field( row, "vertices", s->plain.count );
    bench_field( row, "factor_entries", s->plain.ldl.entry_count );
    bench_field( row, "us_vertex", row->ms * 1e3 / s->plain.count );
}

static void describe_arap( const void *pointer, tr_bench_row *row )
{
    describe_plain( pointer, row );
    bench_field( row, "max_diff_m", ( (const cage_state *)pointer )->difference );
}

// ---------------------------------------------------------------------------------------------------- table

static const bench_kind exact_kind = { weights_setup, weights_exact, describe_weights, cage_teardown };
static const bench_kind fast_kind = { weights_setup, weights_fast, describe_fast_weights, cage_teardown };
static const bench_kind plain_kind = { plain_setup, plain_run, describe_plain, cage_teardown };
static const bench_kind arap_kind = { arap_setup, arap_run, describe_arap, cage_teardown };

const bench_case bench_cage_cases[] = {
    { "cage/mvc_scalar", "", 1, &exact_kind },
    { "cage/mvc", "", 1, &fast_kind, "cage/mvc_scalar", "times_scalar" },
    { "cage/arap/100/plain", "1 12", 1, &plain_kind }, // 12 · 8 = 96 vertices
    { "cage/arap/100", "1 12", 1, &arap_kind, "cage/arap/100/plain", "times_plain" },
    { "cage/arap/1000/plain", "2 38", 1, &plain_kind }, // 38 · 26 = 988
    { "cage/arap/1000", "2 38", 1, &arap_kind, "cage/arap/1000/plain", "times_plain" },
    { "cage/arap/5000/plain", "4 51", 1, &plain_kind }, // 51 · 98 = 4998
    { "cage/arap/5000", "4 51", 1, &arap_kind, "cage/arap/5000/plain", "times_plain" },
    { NULL },
};
