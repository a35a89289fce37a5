// Cases of the cage: mean value coordinates the plain way and the fast one, one iteration of the deformation
// likewise.
#include "cage/cage.h"
#include "cases.h"
#include "motion/motion.h"
#include "scenes/scenes.h"

#include <stdlib.h>
#include <string.h>

#define POINTS    3840 // 32 joints over 120 frames
#define STIFFNESS 2.01 // of an edge: once for the cell at either end, and its weak hold
#define ANCHOR    1e-5

typedef struct plain_arap { // the textbook's: doubles, one rotation after the other
    int count, free_count;
    int *unknowns; // [count] -1: held
    vec3 *v;       // [count]
    quat *turns;   // [count]
    mat3 *cells;   // [count]
    double *b, *work;
    tr_ldl ldl;
} plain_arap;

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
    double difference; // metres from plain after two iterations; of weights
} cage_state;

static void cage_teardown( void *pointer )
{
    cage_state *s = pointer;
    tr_cage_free( &s->cage );
    tr_ldl_free( &s->plain.ldl );
    tr_free( s->plain.unknowns );
    tr_free( s->plain.v );
    tr_free( s->plain.turns );
    tr_free( s->plain.cells );
    tr_free( s->plain.b );
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
        s->shape[i] = v3( d.x / extent.x, d.y / extent.y, d.z / extent.z );
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

static int neighbour( const tr_cage *cage, int e, int *a, int *b )
{
    int within = cage->section_count * cage->edge_count;
    *a = e < within ? e / cage->edge_count * cage->vertex_count + cage->edges[e % cage->edge_count][0]
                    : e - within;
    *b = e < within ? e / cage->edge_count * cage->vertex_count + cage->edges[e % cage->edge_count][1]
                    : *a + cage->vertex_count;
    return within + ( cage->section_count - 1 ) * cage->vertex_count; // edges there are
}

static bool plain_matrix( plain_arap *p, const tr_cage *cage, tr_error *error )
{
    tr_sparse k = { .column_count = p->free_count };
    bool ok = true;
    double *diagonal = p->work;
    int a, b, edges = neighbour( cage, 0, &a, &b );
    for ( int e = 0; e < edges; ++e ) {
        neighbour( cage, e, &a, &b );
        diagonal[a] += STIFFNESS;
        diagonal[b] += STIFFNESS;
    }
    // Edges go from smaller to larger vertices, but not sorted: one row per vertex, gathered by a scan.
    for ( int v = 0; ok && v < p->count; ++v ) {
        if ( p->unknowns[v] < 0 )
            continue;
        ok = tr_sparse_add( &k, &p->unknowns[v], &( double ){ diagonal[v] + ANCHOR }, 1 );
        int section = v / cage->vertex_count, own = v % cage->vertex_count;
        for ( int e = 0; ok && e < cage->edge_count; ++e )
            if ( cage->edges[e][0] == own || cage->edges[e][1] == own ) {
                int other = section * cage->vertex_count + cage->edges[e][cage->edges[e][0] == own];
                if ( p->unknowns[other] >= 0 )
                    ok = tr_sparse_extend( &k, p->unknowns[other], -STIFFNESS );
            }
        if ( ok && section > 0 && p->unknowns[v - cage->vertex_count] >= 0 )
            ok = tr_sparse_extend( &k, p->unknowns[v - cage->vertex_count], -STIFFNESS );
    }
    ok = ok ? tr_ldl_build( &p->ldl, &k, error ) : tr_error_memory( error );
    tr_sparse_free( &k );
    return ok;
}

static bool plain_start( cage_state *s, tr_error *error )
{
    plain_arap *p = &s->plain;
    const tr_cage *cage = &s->cage;
    p->count = cage->section_count * cage->vertex_count;
    size_t n = (size_t)p->count;
    p->unknowns = tr_alloc( n, sizeof( int ) );
    p->v = tr_alloc( n, sizeof( vec3 ) );
    p->turns = tr_alloc( n, sizeof( quat ) );
    p->cells = tr_alloc( n, sizeof( mat3 ) );
    p->b = tr_alloc( 6 * n, sizeof( double ) );
    if ( !p->unknowns || !p->v || !p->turns || !p->cells || !p->b )
        return tr_error_memory( error );
    p->work = p->b + 3 * n;
    int dragged = s->handle.section * cage->vertex_count + s->handle.vertex;
    for ( int v = 0; v < p->count; ++v ) {
        int section = v / cage->vertex_count;
        bool held = section == 0 || section == cage->section_count - 1 || v == dragged;
        p->unknowns[v] = held ? -1 : p->free_count++;
        p->v[v] = v == dragged ? v3_add( cage->rest[v], s->handle.offset ) : cage->rest[v];
        p->turns[v] = q_identity;
    }
    return plain_matrix( p, cage, error );
}

static void plain_rotations( plain_arap *p, const tr_cage *cage )
{
    int a, b, edges = neighbour( cage, 0, &a, &b );
    memset( p->cells, 0, (size_t)p->count * sizeof p->cells[0] );
    for ( int e = 0; e < edges; ++e ) {
        neighbour( cage, e, &a, &b );
        vec3 r = v3_sub( cage->rest[a], cage->rest[b] ), d = v3_sub( p->v[a], p->v[b] );
        for ( int side = 0; side < 2; ++side ) {
            mat3 *m = &p->cells[side == 0 ? a : b];
            m->cx = v3_mad( m->cx, r.x, d ), m->cy = v3_mad( m->cy, r.y, d ), m->cz = v3_mad( m->cz, r.z, d );
        }
    }
    for ( int v = 0; v < p->count; ++v )
        p->turns[v] = q_fit( p->cells[v] );
}

static void plain_add( plain_arap *p, int v, int other, vec3 pull )
{
    int f = p->unknowns[v];
    if ( f < 0 )
        return;
    if ( p->unknowns[other] < 0 ) // held: its column goes to the right
        pull = v3_mad( pull, STIFFNESS, p->v[other] );
    p->b[3 * f] += pull.x, p->b[3 * f + 1] += pull.y, p->b[3 * f + 2] += pull.z;
}

static void plain_positions( plain_arap *p, const tr_cage *cage )
{
    int a, b, edges = neighbour( cage, 0, &a, &b );
    for ( int v = 0; v < p->count; ++v )
        if ( p->unknowns[v] >= 0 ) {
            double *at = p->b + 3 * p->unknowns[v];
            at[0] = ANCHOR * cage->rest[v].x, at[1] = ANCHOR * cage->rest[v].y,
            at[2] = ANCHOR * cage->rest[v].z;
        }
    for ( int e = 0; e < edges; ++e ) {
        neighbour( cage, e, &a, &b );
        vec3 r = v3_sub( cage->rest[a], cage->rest[b] );
        vec3 pull = v3_add( q_rotate( p->turns[a], r ), q_rotate( p->turns[b], r ) );
        pull = v3_mad( pull, STIFFNESS - 2, r );
        plain_add( p, a, b, pull );
        plain_add( p, b, a, v3_negate( pull ) );
    }
    tr_ldl_solve( &p->ldl, p->b, 3, p->work );
    for ( int v = 0; v < p->count; ++v )
        if ( p->unknowns[v] >= 0 ) {
            const double *at = p->b + 3 * p->unknowns[v];
            p->v[v] = v3( at[0], at[1], at[2] );
        }
}

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
    return tr_cage_grab( &s->cage, &s->handle, 1, error ) && plain_start( s, error );
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
    plain_rotations( &s->plain, &s->cage );
    plain_positions( &s->plain, &s->cage );
    return true;
}

// Two iterations from rest are the same both ways: positions, rotations, positions.
static bool arap_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)quick;
    if ( !arap_start( out, argument, error ) )
        return false;
    cage_state *s = *out;
    tr_cage_solve_def def = { .max_iterations = 2 };
    tr_cage_solve( &s->cage, &s->handle, &def, NULL );
    plain_positions( &s->plain, &s->cage );
    plain_run( s, error );
    for ( int v = 0; v < s->plain.count; ++v )
        s->difference = fmax( s->difference, v3_distance( s->plain.v[v], s->cage.moved[v] ) );
    return true;
}

static bool arap_run( void *pointer, tr_error *error )
{
    (void)error;
    cage_state *s = pointer;
    tr_cage_solve_def def = { .max_iterations = 1, .warm = true };
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
