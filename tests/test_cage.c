// Cages: their sections around any points, mean value coordinates, deformation against a dense reference,
// what reaches the points and when, retiming.
#include "cage/cage.h"
#include "check.h"

#include <string.h>

// -----------------------------------------------------------------------------------------------
// trajectories

#define FPS 30

typedef struct bundle {
    vec3 *points; // [frames · count]
    int frames, count;
} bundle;

typedef vec3 path( double seconds );

static vec3 stand( double t )
{
    (void)t;
    return v3( 3, 1, -2 );
}

static vec3 straight( double t )
{
    return v3( 1.4 * t, 1 + 0.03 * sin( 11 * t ), 0.02 * cos( 5.5 * t ) );
}

// Back at its middle after 2 and 4 seconds.
static vec3 figure_eight( double t )
{
    return v3( 2 * sin( TR_PI * t / 2 ), 1, 1.5 * sin( TR_PI * t ) );
}

// A body of points that turns while it travels and swings its limbs.
static bundle make_bundle( int frames, int count, path *where )
{
    bundle b = { tr_alloc( (size_t)( frames * count ), sizeof( vec3 ) ), frames, count };
    assert_non_null( b.points );
    for ( int f = 0; f < frames; ++f )
        for ( int p = 0; p < count; ++p ) {
            double t = (double)f / FPS;
            vec3 own = v3( 0.3 * sin( 2.4 * p ), 0.8 * cos( 1.7 * p + 0.4 ), 0.2 * sin( 0.9 * p * p ) );
            own =
                v3_add( own, v3_scale( 0.1 * sin( p ), v3( sin( 4 * t + p ), cos( 3 * t ), sin( 2 * t ) ) ) );
            own = q_rotate( q_axis_angle( v3_y, 0.8 * t ), own );
            b.points[f * count + p] = v3_add( where( t ), count > 1 ? own : v3_zero );
        }
    return b;
}

static tr_cage_points points_of( const bundle *b )
{
    return ( tr_cage_points ){ b->points, b->count, 0, b->frames, FPS };
}

static tr_cage make_cage( const bundle *b, int first, int last, const tr_cage_def *def )
{
    tr_cage cage;
    tr_error error;
    tr_cage_points points = points_of( b );
    check_ok( tr_cage_build( &cage, &points, first, last, def, &error ), &error );
    const char *wrong = tr_cage_check( &cage );
    if ( wrong != NULL )
        fail_msg( "%s", wrong );
    return cage;
}

static tr_cage_result drag( tr_cage *cage, const tr_cage_handle *handles, int count )
{
    tr_error error;
    tr_cage_solve_def def = tr_default_cage_solve_def();
    check_ok( tr_cage_grab( cage, handles, count, &error ), &error );
    tr_cage_result result = tr_cage_solve( cage, handles, &def, NULL );
    const char *wrong = tr_cage_check( cage );
    if ( wrong != NULL )
        fail_msg( "%s", wrong );
    return result;
}

static vec3 *move_all( const tr_cage *cage, const bundle *b )
{
    vec3 *out = tr_alloc( (size_t)( b->frames * b->count ), sizeof( vec3 ) );
    assert_non_null( out );
    tr_cage_move( cage, 0, b->frames - 1, b->points, out );
    return out;
}

// ----------------------------------------------------------------------------------------------------
// sections

static void the_undeformed_cage_changes_nothing( void **state )
{
    (void)state;
    bundle b = make_bundle( 120, 14, straight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 10, 100, &def );
    vec3 *out = move_all( &cage, &b );
    assert_memory_equal( out, b.points, 120 * 14 * sizeof( vec3 ) );
    tr_cage_handle pin = { .kind = TR_HANDLE_POINT, .frame = 50, .point = 3 };
    tr_cage_result result = drag( &cage, &pin, 1 );
    check_near( result.error, 0, 1e-12 );
    tr_cage_move( &cage, 0, 119, b.points, out );
    assert_memory_equal( out, b.points, 120 * 14 * sizeof( vec3 ) );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_dragged_point_arrives( void **state )
{
    (void)state;
    bundle b = make_bundle( 120, 14, straight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 10, 100, &def );
    for ( int frame = 40; frame < 70; frame += 7 ) {
        tr_cage_handle handle = {
            .kind = TR_HANDLE_POINT, .frame = frame, .point = 5, .offset = v3( 0.1, 0.4, -0.2 ) };
        tr_cage_result result = drag( &cage, &handle, 1 );
        vec3 *out = move_all( &cage, &b );
        vec3 wanted = v3_add( b.points[frame * 14 + 5], handle.offset );
        check_v3( out[frame * 14 + 5], wanted, 1e-4 );
        check_near( result.error, 0, 1e-4 );
        tr_free( out );
    }
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_rigid_motion_of_the_cage_moves_points_rigidly( void **state )
{
    (void)state;
    bundle b = make_bundle( 180, 9, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    def.start = def.end = TR_CAGE_HELD;
    tr_cage cage = make_cage( &b, 20, 150, &def );
    rigid motion = { q_axis_angle( v3( 1, 2, -1 ), 1.9 ), { 0.5, -2, 7 } };
    tr_cage_handle handles[TR_CAGE_MAX_SECTIONS];
    for ( int k = 0; k < cage.section_count; ++k ) {
        vec3 centre = cage.places[cage.sections[k]].position;
        handles[k] = ( tr_cage_handle ){ .kind = TR_HANDLE_SECTION,
                                         .section = k,
                                         .rotation = motion.rotation,
                                         .offset = v3_sub( rigid_apply( motion, centre ), centre ) };
    }
    tr_cage_result result = drag( &cage, handles, cage.section_count );
    check_near( result.error, 0, 1e-12 );
    vec3 *out = move_all( &cage, &b );
    for ( int i = 0; i < 180 * 9; ++i )
        check_v3( out[i], rigid_apply( motion, b.points[i] ), 1e-9 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_crossing_is_edited_without_the_other( void **state )
{
    (void)state;
    bundle b = make_bundle( 151, 9, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 40, 80, &def ); // the crossing at 2 s; the other one is at 4 s
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 60, .point = 0, .offset = v3( 0, 0.5, 0 ) };
    drag( &cage, &handle, 1 );
    vec3 *out = move_all( &cage, &b );
    check_v3( b.points[60 * 9], b.points[120 * 9], 1 ); // they do cross
    for ( int f = 0; f <= 150; ++f )
        for ( int p = 0; p < 9; ++p )
            if ( f <= 40 || f >= 80 )
                assert_memory_equal( &out[f * 9 + p], &b.points[f * 9 + p], sizeof( vec3 ) );
    check_near( out[60 * 9].y - b.points[60 * 9].y, 0.5, 1e-3 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_standing_bundle_can_be_edited( void **state )
{
    (void)state;
    bundle b = make_bundle( 91, 1, stand );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 0, 90, &def );
    assert_int_equal( cage.section_count, 3 );
    assert_int_equal( cage.sections[1], 45 );
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 45, .offset = v3( 0, 0.3, 0 ) };
    tr_cage_result result = drag( &cage, &handle, 1 );
    check_near( result.error, 0, 1e-5 );
    vec3 *out = move_all( &cage, &b );
    check_v3( out[45], v3( 3, 1.3, -2 ), 1e-5 );
    check_v3( out[0], stand( 0 ), 0 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( the_undeformed_cage_changes_nothing ),
        TEST( a_dragged_point_arrives ),
        TEST( a_rigid_motion_of_the_cage_moves_points_rigidly ),
        TEST( a_crossing_is_edited_without_the_other ),
        TEST( a_standing_bundle_can_be_edited ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
