// Batched rotation fitting: tr(Rᵀ A) at its maximum, in every lane for itself.
#include "check.h"
#include "math/lanes.h"

static double noise( uint32_t *seed ) // in [-1, 1)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)( *seed >> 8 ) / 8388608.0 - 1.0;
}

static quat quat_of( lane_quat q, int l )
{
    return ( quat ){ q.x[l], q.y[l], q.z[l], q.w[l] };
}

static lane_quat start( void )
{
    return ( lane_quat ){ lane_all( 0 ), lane_all( 0 ), lane_all( 0 ), lane_all( 1 ) };
}

static void put_matrix( lane a[9], int l, mat3 m )
{
    const double rows[9] = { m.cx.x, m.cy.x, m.cz.x, m.cx.y, m.cy.y, m.cz.y, m.cx.z, m.cy.z, m.cz.z };
    for ( int i = 0; i < 9; ++i )
        a[i][l] = (real)rows[i];
}

static mat3 stretched( quat q, vec3 stretch ) // R · diag
{
    mat3 m = m3_from_quat( q );
    return ( mat3 ){ v3_scale( stretch.x, m.cx ), v3_scale( stretch.y, m.cy ), v3_scale( stretch.z, m.cz ) };
}

static void rotations_are_found_again( void **state )
{
    (void)state;
    // Solid, flat (rank 2) and tiny cells, turned by up to 2.5 radians.
    static const vec3 shapes[4] = { { 1, 2, 3 }, { 0.3, 0.2, 0 }, { 4e-4, 2e-4, 1e-4 }, { 5, 0.01, 0.01 } };
    uint32_t seed = 5;
    for ( int n = 0; n < 100; ++n ) {
        lane a[9];
        quat expected[LANES];
        for ( int l = 0; l < LANES; ++l ) {
            vec3 axis = v3_unit( v3( noise( &seed ), noise( &seed ), noise( &seed ) ) );
            expected[l] = q_axis_angle( axis, 1.25 * ( 1 + noise( &seed ) ) );
            put_matrix( a, l, stretched( expected[l], shapes[l % 4] ) );
        }
        lane_quat q = start();
        for ( int i = 0; i < 60; ++i )
            q = lane_fit_step( a, q );
        for ( int l = 0; l < LANES; ++l )
            check_rotation( quat_of( q, l ), expected[l], l % 4 == 3 ? 2e-3 : 1e-5 );
    }
}

static void near_the_maximum_few_steps_do( void **state )
{
    (void)state;
    lane a[9];
    for ( int l = 0; l < LANES; ++l )
        put_matrix( a, l, stretched( q_axis_angle( v3( 1, l, 2 ), 0.4 ), v3( 1, 0.5, 0.1 ) ) );
    lane_quat q = start();
    for ( int i = 0; i < 3; ++i )
        q = lane_fit_step( a, q );
    for ( int l = 0; l < LANES; ++l )
        check_rotation( quat_of( q, l ), q_axis_angle( v3( 1, l, 2 ), 0.4 ), 2e-5 );
}

static void nothing_to_fit_changes_nothing( void **state )
{
    (void)state;
    // Empty; a single direction; a mirror image; a half turn, where the slope vanishes: no NaN, unit length.
    lane a[9];
    static const vec3 shapes[4] = { { 0, 0, 0 }, { 0, 2, 0 }, { 1, 1, -1 }, { -1, -1, 1 } };
    for ( int l = 0; l < LANES; ++l )
        put_matrix( a, l, stretched( q_identity, shapes[l % 4] ) );
    lane_quat q = start();
    for ( int i = 0; i < 10; ++i )
        q = lane_fit_step( a, q );
    for ( int l = 0; l < LANES; ++l ) {
        check_near( q_dot( quat_of( q, l ), quat_of( q, l ) ), 1, 1e-6 );
        if ( l % 4 < 2 )
            assert_true( q_dot( quat_of( q, l ), q_identity ) == 1 );
    }
}

static void turns_are_exact( void **state )
{
    (void)state;
    quat q = q_axis_angle( v3( 1, 2, -3 ), 1e-3 );
    lane_quat lanes = { lane_all( (real)q.x ), lane_all( (real)q.y ), lane_all( (real)q.z ),
                        lane_all( (real)q.w ) };
    lane r[9];
    lane_turn( lanes, r );
    vec3 v = v3( 0.3, -0.2, 0.7 ), moved = v3_sub( q_rotate( q, v ), v );
    check_near( r[0][2] * v.x + r[1][2] * v.y + r[2][2] * v.z, moved.x, 1e-10 );
    check_near( r[3][0] * v.x + r[4][0] * v.y + r[5][0] * v.z, moved.y, 1e-10 );
    check_near( r[6][1] * v.x + r[7][1] * v.y + r[8][1] * v.z, moved.z, 1e-10 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( rotations_are_found_again ),
        TEST( near_the_maximum_few_steps_do ),
        TEST( nothing_to_fit_changes_nothing ),
        TEST( turns_are_exact ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
