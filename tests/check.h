// What every test shares: cmocka, close comparison of doubles, vectors and rotations, and the leak check.
#ifndef TROUPE_TESTS_CHECK_H
#define TROUPE_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "bounds.h"
#include "math/math.h"

#include <stdio.h>
#include <stdlib.h>

#define check_near( actual, expected, tolerance )                                                            \
    check_near_at( ( actual ), ( expected ), ( tolerance ), #actual, __FILE__, __LINE__ )
#define check_v3( actual, expected, tolerance )                                                              \
    check_near_at( v3_distance( ( actual ), ( expected ) ), 0, ( tolerance ), #actual, __FILE__, __LINE__ )
#define check_rotation( actual, expected, tolerance )                                                        \
    check_near_at( q_angle( ( actual ), ( expected ) ), 0, ( tolerance ), #actual, __FILE__, __LINE__ )
// A call that must succeed; prints the tr_error when it does not.
#define check_ok( call, error ) check_ok_at( ( call ), ( error ), #call, __FILE__, __LINE__ )

// What a test asks for and the program does not do yet. Fails as soon as it does, so that the mark is
// replaced by assert_true.
#define expect_miss( reason, condition )                                                                     \
    expect_miss_at( ( condition ), ( reason ), #condition, __FILE__, __LINE__ )

static inline void expect_miss_at( bool holds, const char *reason, const char *what, const char *file,
                                   int line )
{
    if ( holds ) {
        print_error( "%s holds now. Assert it, and remove what is said of it: %s\n", what, reason );
        _fail( file, line );
    }
    print_message( "known miss: %s: %s\n", what, reason );
}

static inline void check_near_at( double actual, double expected, double tolerance, const char *what,
                                  const char *file, int line )
{
    if ( fabs( actual - expected ) <= tolerance )
        return;
    print_error( "%s: %.17g is not within %g of %.17g\n", what, actual, tolerance, expected );
    _fail( file, line );
}

static inline void check_ok_at( bool ok, const tr_error *error, const char *what, const char *file, int line )
{
    if ( ok )
        return;
    char text[1400];
    tr_error_print( error, text, sizeof text );
    print_error( "%s: %s\n", what, text );
    _fail( file, line );
}

static inline uint64_t random_bits( uint64_t *state ) // splitmix64, the same sequence everywhere
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = ( z ^ z >> 30 ) * 0xBF58476D1CE4E5B9u;
    z = ( z ^ z >> 27 ) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline vec3 random_vector( uint64_t *seed, double size ) // each coordinate from -size to size
{
    double r[3];
    for ( int k = 0; k < 3; ++k )
        r[k] = size * ( 2.0 * (double)( random_bits( seed ) >> 11 ) / 9007199254740992.0 - 1 );
    return v3( r[0], r[1], r[2] );
}

// Teardown of every test: what was allocated has been freed.
static inline int check_no_leak( void **state )
{
    (void)state;
    tr_memory_fail_from( 0 );
    if ( tr_memory_live() != 0 )
        print_error( "%zu bytes are still allocated\n", tr_memory_live() );
    return tr_memory_live() == 0 ? 0 : -1;
}

#define TEST( function ) cmocka_unit_test_teardown( function, check_no_leak )

#endif
