#include "check.h"

#include <string.h>

static uint64_t random_state = 1;

static double random_unit( void ) // uniform in [-1, 1], the same sequence everywhere
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)( random_state >> 11 ) / (double)( 1ull << 52 ) - 1.0;
}

static quat random_rotation( void )
{
    return q_from_vector( v3( 3 * random_unit(), 3 * random_unit(), 3 * random_unit() ) );
}

static void rotation_by_hand( void **state )
{
    (void)state;
    // A quarter turn about +Y carries +Z to +X and +X to -Z.
    quat q = q_axis_angle( v3_y, 90 * TR_DEGREE );
    check_v3( q_rotate( q, v3_z ), v3_x, 1e-15 );
    check_v3( q_rotate( q, v3_x ), v3( 0, 0, -1 ), 1e-15 );
    check_near( q_heading( q ), 90 * TR_DEGREE, 1e-15 );
    // Product: first the right factor. A quarter turn about X then one about Y carries +Y to +Z to +X.
    quat x = q_axis_angle( v3_x, 90 * TR_DEGREE );
    check_v3( q_rotate( q_mul( q, x ), v3_y ), v3_x, 1e-15 );
}

static void euler_by_hand( void **state )
{
    (void)state;
    // zxy (90°, 0, 90°): Ry(90°) carries +Z to +X, then Rz(90°) carries +X to +Y.
    double angles[3] = { 90 * TR_DEGREE, 0, 90 * TR_DEGREE };
    check_v3( q_rotate( q_from_euler( "zxy", angles ), v3_z ), v3_y, 1e-15 );
}

static void euler_round_trip( void **state )
{
    (void)state;
    const char *orders[] = { "xyz", "xzy", "yxz", "yzx", "zxy", "zyx" };
    for ( int o = 0; o < 6; ++o )
        for ( int n = 0; n < 500; ++n ) {
            double in[3] = { 4 * random_unit(), 4 * random_unit(), 4 * random_unit() }, out[3];
            if ( n % 10 == 0 )
                in[1] = ( n % 20 == 0 ? 90 : -90 ) * TR_DEGREE; // gimbal lock
            quat q = q_from_euler( orders[o], in );
            q_to_euler( q, orders[o], in, out );
            check_rotation( q_from_euler( orders[o], out ), q, 1e-7 );
            if ( n % 10 != 0 && fabs( cos( in[1] ) ) > 1e-3 )
                for ( int i = 0; i < 3; ++i )
                    check_near( out[i], in[i], 1e-11 ); // the hint picks the same branch
        }
}

static void conversions_agree( void **state )
{
    (void)state;
    for ( int n = 0; n < 1000; ++n ) {
        quat q = random_rotation(), r = random_rotation();
        vec3 v = v3( random_unit(), random_unit(), random_unit() ),
             w = v3( random_unit(), random_unit(), random_unit() );
        check_rotation( q_from_mat3( m3_from_quat( q ) ), q, 1e-7 );
        check_rotation( q_from_vector( q_to_vector( q ) ), q, 1e-7 );
        check_v3( m3_mulv( m3_from_quat( q ), v ), q_rotate( q, v ), 1e-14 );
        check_near( m3_det( m3_from_quat( q ) ), 1, 1e-14 );
        check_v3( v3_unit( q_rotate( q_between( v, w ), v ) ), v3_unit( w ), 1e-12 );
        check_near( q_angle( q, q_slerp( q, r, 0.25 ) ), 0.25 * q_angle( q, r ), 1e-7 );
        quat swing, twist;
        q_swing_twist( q, v3_unit( v ), &swing, &twist );
        check_rotation( q_mul( swing, twist ), q, 1e-7 );
        check_v3( q_rotate( twist, v ), v, 1e-12 );
        rigid t = { q, v };
        check_v3( rigid_apply( rigid_inverse( t ), rigid_apply( t, w ) ), w, 1e-14 );
        check_v3( q_rotate( q_look( v, w ), v3_z ), v3_unit( v ), 1e-12 );
    }
}

static void degenerate_input_is_finite( void **state )
{
    (void)state;
    assert_true( q_finite( q_unit( ( quat ){ 0, 0, 0, 0 } ) ) );
    assert_true( q_finite( q_between( v3_zero, v3_x ) ) );
    assert_true( q_finite( q_look( v3_zero, v3_zero ) ) );
    assert_true( q_finite( q_look( v3_y, v3_y ) ) );
    check_v3( q_rotate( q_between( v3_x, v3_negate( v3_x ) ), v3_x ), v3( -1, 0, 0 ), 1e-12 );
    check_near( v3_length( v3_perpendicular( v3_zero ) ), 1, 0 );
    quat swing, twist;
    q_swing_twist( q_axis_angle( v3_x, TR_PI ), v3_y, &swing, &twist );
    assert_true( q_finite( swing ) && q_finite( twist ) );
}

static void nearest_rotation( void **state )
{
    (void)state;
    quat q = q_axis_angle( v3( 1, -2, 0.5 ), 2.9 );
    mat3 m = m3_from_quat( q );
    check_rotation( q_fit( m ), q, 1e-12 );
    // Stretched along its own axes, and flattened: still the same turn.
    mat3 stretched = { v3_scale( 3, m.cx ), v3_scale( 0.2, m.cy ), v3_scale( 1.5, m.cz ) };
    check_rotation( q_fit( stretched ), q, 1e-12 );
    mat3 flat = { v3_scale( 3, m.cx ), v3_scale( 0.2, m.cy ), v3_zero };
    check_rotation( q_fit( flat ), q, 1e-12 );
    // A mirror image gives up its least direction; nothing at all gives no turn.
    check_rotation( q_fit( ( mat3 ){ v3( 3, 0, 0 ), v3( 0, 2, 0 ), v3( 0, 0, -1 ) } ), q_identity, 1e-12 );
    check_rotation( q_fit( ( mat3 ){ 0 } ), q_identity, 0 );
}

static double agreement( quat q, mat3 m ) // tr(Rᵀ m)
{
    mat3 r = m3_from_quat( q );
    return v3_dot( r.cx, m.cx ) + v3_dot( r.cy, m.cy ) + v3_dot( r.cz, m.cz );
}

// Turns of every size, stretched and mirrored: no other rotation, near or far, agrees better.
static void nearest_of_all_rotations( void **state )
{
    (void)state;
    for ( int i = 0; i <= 30; ++i )
        for ( int mirrored = 0; mirrored < 2; ++mirrored ) {
            mat3 turn = m3_from_quat( q_axis_angle( v3( 1 - 0.1 * i, 0.7, 0.05 * i ), TR_PI * i / 30 ) );
            mat3 m = m3_mul(
                turn, ( mat3 ){ v3( 2, 0.3, 0 ), v3( 0.3, 1, 0.1 ), v3( 0, 0.1, mirrored ? -0.4 : 0.4 ) } );
            quat best = q_fit( m );
            for ( int k = 0; k < 60; ++k ) {
                quat other =
                    q_mul( best, q_axis_angle( v3( sin( k ), cos( k ), sin( 3 * k ) ), 0.05 * ( k + 1 ) ) );
                assert_true( agreement( other, m ) < agreement( best, m ) );
            }
        }
}

static void inverses_by_hand( void **state )
{
    (void)state;
    mat3 m = { v3( 2, 0, 0 ), v3( 1, 1, 0 ), v3( 0, 0, -4 ) };
    mat3 inverse = m3_inverse( m ); // columns
    check_v3( inverse.cx, v3( 0.5, 0, 0 ), 0 );
    check_v3( inverse.cy, v3( -0.5, 1, 0 ), 0 );
    check_v3( inverse.cz, v3( 0, 0, -0.25 ), 0 );
    mat3 flat = m3_inverse( ( mat3 ){ v3( 1, 2, 3 ), v3( 4, 5, 6 ), v3( 5, 7, 9 ) } );
    check_v3( v3_add( flat.cx, v3_add( flat.cy, flat.cz ) ), v3_zero, 0 );
}

static void minimum_jerk_step( void **state )
{
    (void)state;
    check_near( smooth_step5( -1 ), 0, 0 );
    check_near( smooth_step5( 0.5 ), 0.5, 1e-15 );
    check_near( smooth_step5( 2 ), 1, 0 );
    for ( double off = 1e-16; off < 0.1; off *= 1.1 ) // a share, however it is rounded
        assert_true( smooth_step5( 1 - off ) <= 1 );
    double h = 1e-3; // second difference vanishes at the ends
    check_near( smooth_step5( h ) / ( h * h ), 0, 1.1e-2 );
}

static void fades_by_hand( void **state )
{
    (void)state;
    check_near( tr_fade( -2, 3 ), 1, 0 );
    check_near( tr_fade( 0, 3 ), 1, 0 );
    check_near( tr_fade( 2, 3 ), 0.5, 1e-15 );
    check_near( tr_fade( 4, 3 ), 0, 0 );
    check_near( tr_fade( 0, -1 ), 1, 0 );
    check_near( tr_fade_range( 8, 10, 20, 3, 0 ), 0.5, 1e-15 );
    check_near( tr_fade_range( 20, 10, 20, 3, 0 ), 1, 0 );
    check_near( tr_fade_range( 21, 10, 20, 3, 0 ), 0, 0 );
}

static void smooth_means( void **state )
{
    (void)state;
    vec3 line[9];
    for ( int i = 0; i < 9; ++i )
        line[i] = v3( 1, i, 0 );
    for ( int i = 0; i < 9; ++i ) {
        vec3 mean = tr_smooth_mean( line, 9, i, 2 );
        check_near( mean.x, 1, 1e-15 );
        if ( i >= 2 && i < 7 ) // the window is cut elsewhere
            check_near( mean.y, i, 1e-14 );
    }
    check_near( tr_smooth_mean( line, 9, 0, 1 ).y, 0.5 / 1.5, 1e-15 );
}

static void envelopes_lie_above( void **state )
{
    (void)state;
    double values[12] = { 0, 0, 0, 4, 0, 0, 1, 0, 0, 0, 0, 2 }, smooth[12], most[12];
    for ( int fades = 0; fades < 2; ++fades ) {
        memcpy( smooth, values, sizeof values );
        tr_smooth_from_above( smooth, 12, 1, fades == 1, most );
        for ( int i = 0; i < 11; ++i )
            assert_true( smooth[i] >= values[i] - 1e-15 );
        check_near( smooth[3], 4, 1e-15 );
        check_near( smooth[2], 8.0 / 3, 1e-15 );
        check_near( smooth[11], fades == 1 ? 4.0 / 3 : 2, 1e-15 ); // beyond the end: 0, or as at the end
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( rotation_by_hand ),  TEST( euler_by_hand ),       TEST( euler_round_trip ),
        TEST( conversions_agree ), TEST( nearest_rotation ),    TEST( nearest_of_all_rotations ),
        TEST( inverses_by_hand ),  TEST( minimum_jerk_step ),   TEST( fades_by_hand ),
        TEST( smooth_means ),      TEST( envelopes_lie_above ), TEST( degenerate_input_is_finite ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
