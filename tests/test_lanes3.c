// Rotations of several frames or joints at once, against those of math.h.
#include "check.h"
#include "math/lanes3.h"

static double noise( uint32_t *seed ) // in [-1, 1)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)( *seed >> 8 ) / 8388608.0 - 1.0;
}

static quat any_rotation( uint32_t *seed, double angle )
{
    return q_axis_angle( v3_unit( v3( noise( seed ), noise( seed ), noise( seed ) ) ), angle );
}

// Hardly turned, by half a turn and by nearly a full one, and with either sign.
static void rotation_vectors_are_those_of_one( void **state )
{
    (void)state;
    static const double angles[] = { 0, 1e-300, 1e-12, 1e-5, 0.1, 1, 2, 3, 3.14159, 3.1416, 4, 6, 6.2831 };
    uint32_t seed = 7;
    for ( int n = 0; n < 100; ++n )
        for ( int i = 0; i < (int)( sizeof angles / sizeof angles[0] ); ++i ) {
            lane_quat q;
            quat one[LANES];
            for ( int l = 0; l < LANES; ++l ) {
                one[l] = any_rotation( &seed, angles[i] );
                lq_set( &q, l, one[l] );
            }
            lane3 turn = lq_to_vector( q );
            for ( int l = 0; l < LANES; ++l ) {
                vec3 expected = q_to_vector( one[l] );
                check_near( v3_distance( l3_get( &turn, l ), expected ), 0,
                            1e-15 + 4e-15 * v3_length( expected ) );
            }
        }
}

static void rotation_vectors_turn_back( void **state )
{
    (void)state;
    uint32_t seed = 3;
    for ( int n = 0; n < 200; ++n ) {
        lane3 turn;
        for ( int l = 0; l < LANES; ++l )
            l3_set( &turn, l, v3( 1.8 * noise( &seed ), 1.8 * noise( &seed ), 1.8 * noise( &seed ) ) );
        lane3 again = lq_to_vector( lq_unit( lane_exp_of( turn ).rotation ) );
        for ( int l = 0; l < LANES; ++l )
            if ( v3_length( l3_get( &turn, l ) ) < 3.1 )
                check_near( v3_distance( l3_get( &turn, l ), l3_get( &again, l ) ), 0, 1e-14 );
    }
}

static void rows_are_read_in_order_and_written_back( void **state )
{
    (void)state;
    quat row[LANES + 1], written[LANES + 1];
    for ( int l = 0; l <= LANES; ++l )
        row[l] = written[l] = ( quat ){ 4 * l, 4 * l + 1, 4 * l + 2, 4 * l + 3 };
    lane_quat q = lq_load( row + 1 );
    for ( int l = 0; l < LANES; ++l ) {
        quat one = lq_get( &q, l );
        assert_memory_equal( &one, &row[l + 1], sizeof( quat ) );
    }
    memset( written + 1, 0, LANES * sizeof( quat ) );
    lq_store( q, written + 1 );
    assert_memory_equal( written, row, sizeof row );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( rotation_vectors_are_those_of_one ),
        TEST( rotation_vectors_turn_back ),
        TEST( rows_are_read_in_order_and_written_back ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
