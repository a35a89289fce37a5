// Bundles of points that travel, and cages around them, shared by the tests of cages.
#ifndef TROUPE_TESTS_CAGE_FIXTURE_H
#define TROUPE_TESTS_CAGE_FIXTURE_H

#include "cage/cage.h"
#include "check.h"

#include <string.h>

#define FPS 30

typedef struct bundle {
    vec3 *points; // [frames · count]
    int frames, count;
} bundle;

typedef vec3 path( double seconds );

static inline vec3 stand( double t )
{
    (void)t;
    return v3( 3, 1, -2 );
}

static inline vec3 straight( double t )
{
    return v3( 1.4 * t, 1 + 0.03 * sin( 11 * t ), 0.02 * cos( 5.5 * t ) );
}

// Back at its middle after 2 and 4 seconds.
static inline vec3 figure_eight( double t )
{
    return v3( 2 * sin( TR_PI * t / 2 ), 1, 1.5 * sin( TR_PI * t ) );
}

// A body of points that turns while it travels and swings its limbs.
static inline bundle make_bundle( int frames, int count, path *where )
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

static inline tr_cage_points points_of( const bundle *b )
{
    return ( tr_cage_points ){ b->points, b->count, 0, b->frames, FPS };
}

static inline tr_cage make_cage( const bundle *b, int first, int last, const tr_cage_def *def )
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

static inline tr_cage_result drag( tr_cage *cage, const tr_cage_handle *handles, int count )
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

static inline vec3 *move_all( const tr_cage *cage, const bundle *b )
{
    vec3 *out = tr_alloc( (size_t)( b->frames * b->count ), sizeof( vec3 ) );
    assert_non_null( out );
    tr_cage_move( cage, 0, b->frames - 1, b->points, out );
    return out;
}

#endif
