// Segments that move through each other, against linking numbers, a sampled reference and values by hand.
#include "check.h"

#include "geometry/geometry.h"

static tr_moving_segment still( vec3 begin, vec3 end )
{
    return ( tr_moving_segment ){ { begin, begin }, { end, end } };
}

static tr_moving_segment moving( vec3 begin, vec3 end, vec3 by )
{
    return ( tr_moving_segment ){ { begin, v3_add( begin, by ) }, { end, v3_add( end, by ) } };
}

static void passes_by_hand( void **state )
{
    (void)state;
    tr_moving_segment bar = still( v3( -1, 0, 0 ), v3( 1, 0, 0 ) );
    static const struct {
        vec3 begin, end, by;
        int count;
    } sticks[] = {
        { { 0, -1, 1 }, { 0, 1, 1 }, { 0, 0, -2 }, 1 },     // through the middle
        { { 0, -1, 1 }, { 0, 1, 1 }, { 0, 0, -0.9 }, 0 },   // not so far
        { { 0, -1, 1 }, { 0, 1, 1 }, { 0, 0, 2 }, 0 },      // away
        { { 1.1, -1, 1 }, { 1.1, 1, 1 }, { 0, 0, -2 }, 0 }, // beside its end
        { { 0, 0.1, 1 }, { 0, 1, 1 }, { 0, 0, -2 }, 0 },    // before its begin
        { { -1, -1, 1 }, { -1, 1, 1 }, { 0, 0, -2 }, 1 },   // at the begin, which counts, …
        { { 1, -1, 1 }, { 1, 1, 1 }, { 0, 0, -2 }, 0 },     // … and at the end, which is another's begin
        { { -1, 0, 1 }, { 1, 0, 1 }, { 0, 0, -2 }, 0 },     // parallel: no place where they meet
        { { 0, 0, 0.5 }, { 0, 0, 0.5 }, { 0, 0, -1 }, 0 },  // no length
    };
    for ( size_t i = 0; i < sizeof sticks / sizeof *sticks; ++i ) {
        tr_moving_segment stick = moving( sticks[i].begin, sticks[i].end, sticks[i].by );
        assert_int_equal( tr_segments_pass( &bar, &stick ).count, sticks[i].count );
    }
    // Two ends that go opposite ways pass the bar one after the other: in, and out on the other side.
    tr_moving_segment in = { { { 0.5, -1, 1 }, { 0.5, -1, -1 } }, { { 0.5, 1, 1 }, { 0.5, 1, -1 } } };
    tr_passes once = tr_segments_pass( &bar, &in );
    tr_moving_segment back = { { in.begin[1], in.begin[0] }, { in.end[1], in.end[0] } };
    tr_passes again = tr_segments_pass( &bar, &back );
    assert_int_equal( once.count, 1 );
    assert_int_equal( once.turns, -again.turns );
}

// A stick that comes down to a bar, touches it and goes up again, in two steps.
static void touching_is_no_pass( void **state )
{
    (void)state;
    tr_moving_segment bar = still( v3( -1, 0, 0 ), v3( 1, 0, 0 ) ),
                      down = moving( v3( 0, -1, 1 ), v3( 0, 1, 1 ), v3( 0, 0, -1 ) ),
                      up = moving( v3( 0, -1, 0 ), v3( 0, 1, 0 ), v3( 0, 0, 1 ) );
    tr_passes first = tr_segments_pass( &bar, &down ), second = tr_segments_pass( &bar, &up );
    assert_int_equal( first.turns + second.turns, 0 );
    tr_moving_segment on = moving( v3( 0, -1, 0 ), v3( 0, 1, 0 ), v3( 0, 0, -1 ) );
    assert_int_equal( first.count + tr_segments_pass( &bar, &on ).count, 1 ); // down and on: one pass
}

static tr_moving_segment random_segment( uint64_t *seed )
{
    return ( tr_moving_segment ){ { random_vector( seed, 1 ), random_vector( seed, 1 ) },
                                  { random_vector( seed, 1 ), random_vector( seed, 1 ) } };
}

static vec3 between( const vec3 *places, double time )
{
    return v3_lerp( places[0], places[1], time );
}

// The same by looking at many moments. Negative: some meeting is too near an end to tell, or two zeros are
// too near each other.
static int sampled( const tr_moving_segment *a, const tr_moving_segment *b, int samples )
{
    int count = 0;
    double before = 0;
    for ( int n = 0; n <= samples; ++n ) {
        double time = (double)n / samples;
        vec3 a0 = between( a->begin, time ), a1 = between( a->end, time ), b0 = between( b->begin, time ),
             b1 = between( b->end, time ), u = v3_sub( a1, a0 ), v = v3_sub( b1, b0 ), r = v3_sub( b0, a0 );
        double volume = v3_dot( u, v3_cross( r, v3_sub( b1, a0 ) ) );
        vec3 normal = v3_cross( u, v );
        double s = v3_dot( v3_cross( r, v ), normal ) / v3_dot( normal, normal ),
               t = v3_dot( v3_cross( r, u ), normal ) / v3_dot( normal, normal );
        bool crosses = n > 0 && ( volume >= 0 ) != ( before >= 0 );
        if ( crosses &&
             ( fmin( fabs( s ), fabs( s - 1 ) ) < 0.02 || fmin( fabs( t ), fabs( t - 1 ) ) < 0.02 ) )
            return -1;
        count += crosses && s > 0 && s < 1 && t > 0 && t < 1;
        before = volume;
    }
    return count;
}

static void passes_are_those_that_samples_see( void **state )
{
    (void)state;
    uint64_t seed = 5;
    int all = 0, several = 0, told = 0;
    for ( int i = 0; i < 3000; ++i ) {
        tr_moving_segment a = random_segment( &seed ), b = random_segment( &seed );
        tr_passes passes = tr_segments_pass( &a, &b ), swapped = tr_segments_pass( &b, &a );
        int seen = sampled( &a, &b, 5000 );
        assert_true( seen < 0 || seen == passes.count );
        assert_int_equal( passes.count, swapped.count );
        assert_int_equal( passes.turns, swapped.turns );
        all += passes.count;
        several += passes.count > 1;
        told += seen >= 0;
    }
    print_message( "%d passes, %d pairs with several, %d told\n", all, several, told );
    assert_true( all > 300 && several > 5 && told > 2700 ); // the test is about something
}

// Closed polylines are linked by a whole number, which changes by what passes say and by nothing else.
static void passes_are_what_changes_linking( void **state )
{
    (void)state;
    enum { CORNERS = 6 };
    uint64_t seed = 9;
    int changed = 0;
    for ( int i = 0; i < 1000; ++i ) {
        vec3 a[2][CORNERS + 1], b[2][CORNERS + 1];
        for ( int k = 0; k < CORNERS; ++k )
            for ( int moment = 0; moment < 2; ++moment ) {
                a[moment][k] = random_vector( &seed, 1 );
                b[moment][k] = random_vector( &seed, 1 );
            }
        double linking[2];
        for ( int moment = 0; moment < 2; ++moment ) {
            a[moment][CORNERS] = a[moment][0];
            b[moment][CORNERS] = b[moment][0];
            linking[moment] = tr_chain_linking( a[moment], CORNERS + 1, b[moment], CORNERS + 1 );
            check_near( linking[moment], nearbyint( linking[moment] ), 1e-9 );
        }
        int turns = 0;
        for ( int k = 0; k < CORNERS; ++k )
            for ( int l = 0; l < CORNERS; ++l ) {
                tr_moving_segment p = { { a[0][k], a[1][k] }, { a[0][k + 1], a[1][k + 1] } },
                                  q = { { b[0][l], b[1][l] }, { b[0][l + 1], b[1][l + 1] } };
                turns += tr_segments_pass( &p, &q ).turns;
            }
        check_near( linking[1] - linking[0], turns, 1e-9 );
        changed += turns != 0;
    }
    assert_true( changed > 200 );
}

// A step cut in two has the same passes.
static void steps_can_be_cut( void **state )
{
    (void)state;
    uint64_t seed = 21;
    for ( int i = 0; i < 3000; ++i ) {
        tr_moving_segment whole[2] = { random_segment( &seed ), random_segment( &seed ) }, first[2],
                          second[2];
        for ( int k = 0; k < 2; ++k ) {
            first[k] = second[k] = whole[k];
            first[k].begin[1] = second[k].begin[0] = between( whole[k].begin, 0.5 );
            first[k].end[1] = second[k].end[0] = between( whole[k].end, 0.5 );
        }
        tr_passes all = tr_segments_pass( &whole[0], &whole[1] ),
                  a = tr_segments_pass( &first[0], &first[1] ),
                  b = tr_segments_pass( &second[0], &second[1] );
        assert_int_equal( all.count, a.count + b.count );
        assert_int_equal( all.turns, a.turns + b.turns );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( passes_by_hand ),
        TEST( touching_is_no_pass ),
        TEST( passes_are_those_that_samples_see ),
        TEST( passes_are_what_changes_linking ),
        TEST( steps_can_be_cut ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
