#include "check.h"

#include "scenes/kit/kit.h"

// ---------------------------------------------------------------------------------------------- courses

static void straight_and_circle_by_hand( void **state )
{
    (void)state;
    tr_error error;
    tr_course course;
    tr_course_key straight = { 0, 2, 0.5, 0 };
    tr_gait_place start = { { 1, 0, 2 }, 90 * TR_DEGREE }; // looks along +X, its left is -Z
    check_ok( tr_course_build( &course, start, &straight, 1, 0, 3, &error ), &error );
    check_v3( tr_course_place( &course, 3 ).position, v3( 7, 0, 0.5 ), 1e-12 );
    check_v3( tr_course_place( &course, 4 ).position, v3( 9, 0, 0 ), 1e-12 );
    check_v3( tr_course_place( &course, -1 ).position, v3( -1, 0, 2.5 ), 1e-12 );
    tr_course_free( &course );

    // Half a circle to the left of radius 1 about (1, 0, 0): from the origin looking along +Z to (2, 0, 0).
    tr_course_key circle = { 0, TR_PI, 0, TR_PI };
    check_ok( tr_course_build( &course, ( tr_gait_place ){ 0 }, &circle, 1, 0, 1, &error ), &error );
    check_v3( tr_course_place( &course, 1 ).position, v3( 2, 0, 0 ), 1e-9 );
    check_near( tr_course_place( &course, 1 ).heading, TR_PI, 1e-12 );
    check_v3( tr_course_place( &course, 2 ).position, v3( 0, 0, 0 ), 1e-9 );
    tr_course_free( &course );
}

static void course_eases_between_keys( void **state )
{
    (void)state;
    tr_error error;
    tr_course course;
    tr_course_key keys[] = { { 1, 0, 0, 0 }, { 2, 3, 0, 0 } };
    check_ok( tr_course_build( &course, ( tr_gait_place ){ 0 }, keys, 2, 0, 4, &error ), &error );
    check_near( tr_course_velocity( &course, 1.5 ).speed, 1.5, 1e-12 );
    check_near( tr_course_place( &course, 1 ).position.z, 0, 1e-12 );
    check_near( tr_course_place( &course, 2 ).position.z, 1.5, 1e-9 ); // half the speed on average
    check_near( tr_course_place( &course, 3.7 ).position.z, 1.5 + 5.1, 1e-9 );
    tr_course_free( &course );
}

// ----------------------------------------------------------------------------------------------- bodies

static double low_step( const void *context, double x, double z ) // 15 cm high from z = 2 to z = 3
{
    (void)context, (void)x;
    return z > 2.0 && z < 3.0 ? 0.15 : 0.0;
}

static tr_gait_def biped( const tr_course *course, double end )
{
    tr_gait_def def = tr_default_gait_def();
    def.path = tr_course_place;
    def.path_context = course;
    def.end = end;
    def.leg_count = 2;
    def.cycle = def.cycle_fast = 1.0;
    for ( int leg = 0; leg < 2; ++leg ) {
        def.legs[leg].home = v3( leg == 0 ? 0.1 : -0.1, 0.02, 0 );
        def.legs[leg].phase = 0.5 * leg;
        def.legs[leg].roll_off = 0.6;
        def.legs[leg].roll_on = 0.3;
    }
    return def;
}

static tr_gait_def quadruped( const tr_course *course, double end )
{
    tr_gait_def def = biped( course, end );
    def.leg_count = 4;
    for ( int leg = 0; leg < 4; ++leg ) {
        def.legs[leg] = def.legs[leg % 2];
        def.legs[leg].home.z = leg < 2 ? 0.3 : -0.3;
        def.legs[leg].phase = 0.25 * leg;
        def.legs[leg].duty = 0.7;
    }
    def.time_jitter = 0.02;
    def.place_jitter = 0.01;
    def.margin = 0.04;
    def.terrain = low_step;
    def.seed = 7;
    return def;
}

static bool plan_walk( tr_gait *gait, tr_course *course, tr_gait_def ( *body )( const tr_course *, double ) )
{
    tr_error error;
    tr_course_key keys[] = {
        { 0.5, 0, 0, 0 }, { 1.5, 0.8, 0, 0 }, { 3, 0.8, 0, 0.5 }, { 5, 0.8, 0, 0 }, { 6.5, 0, 0, 0 } };
    check_ok( tr_course_build( course, ( tr_gait_place ){ 0 }, keys, 5, 0, 9, &error ), &error );
    tr_gait_def def = body( course, 9 );
    check_ok( tr_gait_plan( gait, &def, &error ), &error );
    return true;
}

static void free_walk( tr_gait *gait, tr_course *course )
{
    tr_gait_free( gait );
    tr_course_free( course );
}

static void steady_walk_by_hand( void **state )
{
    (void)state;
    tr_error error;
    tr_course course;
    tr_gait gait;
    tr_course_key key = { 0, 1.5, 0, 0 };
    check_ok( tr_course_build( &course, ( tr_gait_place ){ 0 }, &key, 1, 0, 6, &error ), &error );
    tr_gait_def def = biped( &course, 6 );
    check_ok( tr_gait_plan( &gait, &def, &error ), &error );
    // The left foot lands at whole seconds, stands 0.6 s and is 1.5 m · 0.3 s ahead of the body by then.
    const tr_gait_stance *third = &gait.tracks[0].stances[3];
    check_near( third->first, 3.0, 1e-9 );
    check_near( third->last, 3.6, 1e-9 );
    check_v3( third->place, v3( 0.1, 0.02, 1.5 * 3.3 ), 1e-9 );
    const tr_gait_stance *right = &gait.tracks[1].stances[3];
    check_near( right->first - floor( right->first ), 0.5, 1e-9 );
    check_v3( third->place, v3_mad( right->place, 1, v3( 0.2, 0, right->first > 3 ? -0.75 : 0.75 ) ), 1e-9 );
    // Highest in mid-swing by the lift, on the straight line between the stances.
    tr_gait_foot foot = tr_gait_foot_at( &gait, 0, 3.8 );
    check_v3( foot.position, v3( 0.1, 0.02 + def.legs[0].lift, 1.5 * 3.8 ), 1e-9 );
    check_near( foot.swing, 0.5, 1e-9 );
    check_near( foot.roll, 0, 1e-9 );
    // Stiff legs: at mid-stance of one foot the body is over it, in double support it is between both.
    check_near( tr_gait_support_at( &gait, 3.3 ).spread, 0, 2e-2 );
    assert_true( tr_gait_support_at( &gait, 3.55 ).spread > 0.1 );
    check_near( tr_gait_support_at( &gait, 3.3 ).normal.y, 1, 1e-12 );
    free_walk( &gait, &course );
}

static void stance_is_constant_to_the_bit( void **state )
{
    (void)state;
    tr_course course;
    tr_gait gait;
    plan_walk( &gait, &course, quadruped );
    for ( int leg = 0; leg < 4; ++leg )
        for ( int i = 0; i < gait.tracks[leg].count; ++i ) {
            const tr_gait_stance *s = &gait.tracks[leg].stances[i];
            double last = fmin( s->last, 9 );
            for ( int n = 0; n <= 20; ++n ) {
                double t = fmin( s->first + ( last - s->first ) * n / 20, last );
                tr_gait_foot foot = tr_gait_foot_at( &gait, leg, t );
                assert_true( foot.planted && foot.stance == i );
                assert_memory_equal( &foot.position, &s->place, sizeof( vec3 ) );
                assert_true( foot.heading == s->heading );
            }
            if ( i > 0 ) { // the swing before it takes the cycle's other share, give or take the jitter
                double swing = s->first - gait.tracks[leg].stances[i - 1].last;
                check_near( swing, 0.3, 2 * 0.02 + 1e-6 );
            }
            if ( i > 0 && i + 1 < gait.tracks[leg].count )
                assert_true( s->last - s->first >= 0.7 - 2 * 0.02 - 1e-6 );
        }
    free_walk( &gait, &course );
}

static void starts_and_ends_at_home( void **state )
{
    (void)state;
    tr_course course;
    tr_gait gait;
    plan_walk( &gait, &course, biped );
    tr_gait_place end = tr_course_place( &course, 9 );
    for ( int leg = 0; leg < 2; ++leg ) {
        assert_true( gait.tracks[leg].count > 4 && gait.tracks[leg].count < 10 ); // stands still in between
        check_v3( tr_gait_foot_at( &gait, leg, 0.2 ).position, gait.def.legs[leg].home, 1e-12 );
        vec3 home = q_rotate( q_axis_angle( v3_y, end.heading ), gait.def.legs[leg].home );
        tr_gait_foot foot = tr_gait_foot_at( &gait, leg, 9 );
        assert_true( foot.planted );
        check_v3( foot.position, v3_add( home, end.position ), gait.def.min_step );
        check_near( foot.heading, end.heading, gait.def.min_turn );
    }
    free_walk( &gait, &course );
}

// Position, heading and roll have bounded second differences at a fine step: no jump in value or velocity.
static void feet_move_smoothly( void **state )
{
    (void)state;
    tr_course course;
    tr_gait gait;
    plan_walk( &gait, &course, quadruped );
    const double h = 1e-3, most = 250; // m/s² and rad/s²; a jump in velocity of 0.25 m/s shows
    for ( int leg = 0; leg < 4; ++leg )
        for ( double t = 0; t < 9; t += h ) {
            tr_gait_foot a = tr_gait_foot_at( &gait, leg, t - h ), b = tr_gait_foot_at( &gait, leg, t ),
                         c = tr_gait_foot_at( &gait, leg, t + h );
            vec3 bend = v3_add( v3_sub( a.position, v3_scale( 2, b.position ) ), c.position );
            assert_true( v3_length( bend ) < most * h * h );
            assert_true( fabs( a.heading - 2 * b.heading + c.heading ) < most * h * h );
            assert_true( fabs( a.roll - 2 * b.roll + c.roll ) < 2 * most * h * h );
            assert_true( fabs( a.load - 2 * b.load + c.load ) < 4 * most * h * h );
            rigid sole[3];
            const tr_gait_foot *feet[3] = { &a, &b, &c };
            for ( int i = 0; i < 3; ++i )
                sole[i] = tr_gait_sole( feet[i], v3( 0, 0, 0.1 ), v3( 0, 0, -0.1 ) );
            bend = v3_add( v3_sub( sole[0].position, v3_scale( 2, sole[1].position ) ), sole[2].position );
            assert_true( v3_length( bend ) < 2 * most * h * h );
        }
    free_walk( &gait, &course );
}

static void swings_clear_the_step( void **state )
{
    (void)state;
    tr_error error;
    tr_course course;
    tr_gait gait;
    tr_course_key key = { 0, 0.7, 0, 0 };
    check_ok( tr_course_build( &course, ( tr_gait_place ){ 0 }, &key, 1, 0, 7, &error ), &error );
    tr_gait_def def = quadruped( &course, 7 );
    check_ok( tr_gait_plan( &gait, &def, &error ), &error );
    int on_top = 0;
    for ( int leg = 0; leg < 4; ++leg ) {
        for ( double t = 0; t < 7; t += 0.005 ) {
            tr_gait_foot foot = tr_gait_foot_at( &gait, leg, t );
            double ground = low_step( NULL, foot.position.x, foot.position.z );
            assert_true( foot.position.y >= ground + 0.02 - 1e-6 );
            if ( foot.swing > 0.4 && foot.swing < 0.6 )
                assert_true( foot.position.y >= ground + 0.02 + def.clearance - 1e-3 );
        }
        for ( int i = 0; i < gait.tracks[leg].count; ++i ) {
            vec3 place = gait.tracks[leg].stances[i].place;
            assert_true( fabs( place.z - 2 ) > def.margin * 0.95 && fabs( place.z - 3 ) > def.margin * 0.95 );
            on_top += place.y > 0.15;
        }
    }
    assert_true( on_top >= 4 );
    // Front feet up, hind feet down: the plane through the feet leans back.
    bool leaned = false;
    for ( double t = 1; t < 5; t += 0.1 )
        leaned = leaned || tr_gait_support_at( &gait, t ).normal.z < -0.1;
    assert_true( leaned );
    free_walk( &gait, &course );
}

static void turns_on_the_spot( void **state )
{
    (void)state;
    tr_error error;
    tr_course course;
    tr_gait gait;
    tr_course_key keys[] = { { 0.5, 0, 0, 0 }, { 1, 0, 0, 1 }, { 3, 0, 0, 1 }, { 3.5, 0, 0, 0 } };
    check_ok( tr_course_build( &course, ( tr_gait_place ){ 0 }, keys, 4, 0, 7, &error ), &error );
    tr_gait_def def = biped( &course, 7 );
    check_ok( tr_gait_plan( &gait, &def, &error ), &error );
    for ( int leg = 0; leg < 2; ++leg ) {
        tr_gait_foot foot = tr_gait_foot_at( &gait, leg, 7 );
        check_near( foot.heading, 2.5, def.min_turn );
        check_near( hypot( foot.position.x, foot.position.z ), 0.1, 1e-6 );
    }
    free_walk( &gait, &course );
}

// On a circle of radius 1 m the feet swing along their own circles instead of cutting across.
static void swings_follow_the_curve( void **state )
{
    (void)state;
    tr_error error;
    tr_course course;
    tr_gait gait;
    tr_course_key key = { 0, 1, 0, 1 };
    check_ok( tr_course_build( &course, ( tr_gait_place ){ 0 }, &key, 1, 0, 6, &error ), &error );
    tr_gait_def def = biped( &course, 6 );
    check_ok( tr_gait_plan( &gait, &def, &error ), &error );
    for ( int leg = 0; leg < 2; ++leg )
        for ( double t = 2; t < 6; t += 0.01 ) {
            tr_gait_foot foot = tr_gait_foot_at( &gait, leg, t );
            double radius = hypot( foot.position.x - 1, foot.position.z );
            check_near( radius, leg == 0 ? 0.9 : 1.1, 0.02 ); // a straight swing: 0.1;
        }
    free_walk( &gait, &course );
}

static void clock_follows_the_speed( void **state )
{
    (void)state;
    tr_error error;
    tr_course course;
    tr_gait gait;
    tr_course_key keys[] = { { 1, 0.5, 0, 0 }, { 2, 1.5, 0, 0 } };
    check_ok( tr_course_build( &course, ( tr_gait_place ){ 0 }, keys, 2, 0, 5, &error ), &error );
    tr_gait_def def = biped( &course, 5 );
    def.cycle = 2;
    def.cycle_fast = 0.5;
    def.stride = 1;
    check_ok( tr_gait_plan( &gait, &def, &error ), &error );
    check_near( tr_gait_clock( &gait, 1 ) - tr_gait_clock( &gait, 0 ), 0.5, 1e-6 );
    check_near( tr_gait_clock( &gait, 4 ) - tr_gait_clock( &gait, 3 ), 1.5, 1e-6 );
    free_walk( &gait, &course );
}

static void out_of_memory_is_reported( void **state )
{
    (void)state;
    tr_error error;
    tr_course_key key = { 0, 1, 0, 0 };
    for ( long n = 1; n < 12; ++n ) {
        tr_course course;
        tr_gait gait;
        tr_memory_fail_from( n );
        if ( tr_course_build( &course, ( tr_gait_place ){ 0 }, &key, 1, 0, 1, &error ) ) {
            tr_gait_def def = biped( &course, 1 );
            if ( tr_gait_plan( &gait, &def, &error ) )
                tr_gait_free( &gait );
            tr_course_free( &course );
        }
        tr_memory_fail_from( 0 );
        assert_int_equal( tr_memory_live(), 0 );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( straight_and_circle_by_hand ), TEST( course_eases_between_keys ),
        TEST( steady_walk_by_hand ),         TEST( stance_is_constant_to_the_bit ),
        TEST( starts_and_ends_at_home ),     TEST( feet_move_smoothly ),
        TEST( swings_clear_the_step ),       TEST( turns_on_the_spot ),
        TEST( swings_follow_the_curve ),     TEST( clock_follows_the_speed ),
        TEST( out_of_memory_is_reported ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
