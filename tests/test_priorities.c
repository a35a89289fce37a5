// The user decides which of two hard constraints gives way.
#include "stage_fixture.h"

static const vec3 low = { 0.45, 1.0, 0.25 }, high = { 0.45, 1.2, 0.25 };

// A hand that two constraints want at places 20 cm apart; where it comes to.
static vec3 hand_with( int priority_low, int priority_high )
{
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_constraint pins[2] = { tr_default_constraint( "low", TR_CONSTRAINT_ABSOLUTE ),
                              tr_default_constraint( "high", TR_CONSTRAINT_ABSOLUTE ) };
    for ( int i = 0; i < 2; ++i ) {
        pins[i].a = tr_point_joint( "a", "LeftHand" );
        pins[i].given = true;
        pins[i].target = i == 0 ? low : high;
        pins[i].priority = i == 0 ? priority_low : priority_high;
        assert_non_null( tr_scene_add_constraint( &x.scene, &pins[i] ) );
    }
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    vec3 at = tr_world_pose( &result.worlds[0], 10 ).positions[joint( &x.stage, 0, "LeftHand" )];
    tr_result_free( &result );
    end( &x );
    return at;
}

static void the_user_says_what_gives_way( void **state )
{
    (void)state;
    check_v3( hand_with( 0, 0 ), v3_lerp( low, high, 0.5 ), 2e-3 ); // equals meet in the middle
    check_v3( hand_with( 0, 3 ), high, 2e-3 );
    check_v3( hand_with( 3, 0 ), low, 2e-3 );
    check_v3( hand_with( 0, 1 ), low, 2e-3 ); // 1 is less than a place has of its own
}

int main( void )
{
    const struct CMUnitTest tests[] = { TEST( the_user_says_what_gives_way ) };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
