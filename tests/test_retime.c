// Retiming: monotone, smooth, and the same where nothing is retimed.
#include "cage/cage.h"
#include "check.h"

static void retiming_is_monotone_and_smooth( void **state )
{
    (void)state;
    uint64_t seed = 5;
    tr_error error;
    for ( int n = 0; n < 200; ++n ) {
        double from[6] = { 0 }, to[6] = { 0 };
        for ( int k = 0; k < 6; ++k ) {
            double a = random_vector( &seed, 1 ).x, b = random_vector( &seed, 1 ).y;
            from[k] = ( k > 0 ? from[k - 1] : 0 ) + 20 * pow( 10, a );
            to[k] = ( k > 0 ? to[k - 1] : 3 ) + 20 * pow( 10, b );
        }
        tr_retime map;
        check_ok( tr_retime_build( &map, from, to, 6, &error ), &error );
        double last = -HUGE_VAL, rate = 1;
        for ( double t = from[0] - 10; t < from[5] + 10; t += 0.05 ) {
            double at = tr_retime_map( &map, t );
            assert_true( at > last );
            check_near( tr_retime_inverse( &map, at ), t, 1e-7 );
            double slope = ( tr_retime_map( &map, t + 1e-5 ) - tr_retime_map( &map, t - 1e-5 ) ) / 2e-5;
            double next = tr_retime_rate( &map, t );
            check_near( slope, next, 1e-3 * ( 1 + next ) );
            assert_true( next > 0 && fabs( next - rate ) < 0.5 * ( 1 + rate + next ) );
            last = at, rate = next;
        }
        for ( int k = 0; k < 6; ++k )
            check_near( tr_retime_map( &map, from[k] ), to[k], 1e-9 );
        tr_retime_free( &map );
    }
}

static void retiming_keeps_what_is_not_retimed( void **state )
{
    (void)state;
    tr_error error;
    // The third key two seconds later, and with it all that follows; the stretch between the first two stays.
    double from[] = { 0, 30, 60, 90 }, to[] = { 0, 30, 120, 150 };
    tr_retime map;
    check_ok( tr_retime_build( &map, from, to, 4, &error ), &error );
    for ( double t = -20; t <= 30; t += 0.5 )
        check_near( tr_retime_map( &map, t ), t, 1e-12 );
    for ( double t = 60; t <= 200; t += 0.5 )
        check_near( tr_retime_map( &map, t ), t + 60, 1e-12 );
    check_near( tr_retime_map( &map, 45 ), 75, 1e-9 ); // symmetric
    check_near( tr_retime_rate( &map, 30 ), 1, 1e-12 );
    assert_true( tr_retime_rate( &map, 45 ) > 3 );
    tr_retime_free( &map );
    check_ok( tr_retime_build( &map, &from[1], &to[2], 1, &error ), &error ); // one key: a shift
    check_near( tr_retime_map( &map, 5 ), 95, 0 );
    check_near( tr_retime_inverse( &map, 95 ), 5, 0 );
    tr_retime_free( &map );
    to[2] = 30;
    assert_false( tr_retime_build( &map, from, to, 4, &error ) );
    to[2] = NAN;
    assert_false( tr_retime_build( &map, from, to, 4, &error ) );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( retiming_is_monotone_and_smooth ),
        TEST( retiming_keeps_what_is_not_retimed ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
