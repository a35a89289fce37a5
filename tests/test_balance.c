// A body that is to keep the balance has its centre of mass over the support, and moves there smoothly.
#include "take.h"

static void open_balanced( take *x, const char *name, int cast, int first )
{
    open_scene( x, name, cast );
    x->scene.first = first;
    for ( int i = 0; i < x->scene.cast_count; ++i )
        x->scene.cast[i].balance = true;
    solve( x, "posegraph" );
}

static void check_masses( const take *x )
{
    int masses = 0;
    for ( int r = 0; r < x->stage.rule_count; ++r ) {
        if ( x->result.reports[r].gave_way || x->result.reports[r].max_mm > 1 )
            fail_msg( "%s is off by %g mm", x->stage.rules[r].id, x->result.reports[r].max_mm );
        masses += x->stage.rules[r].kind == TR_CONSTRAINT_CENTRE_OF_MASS;
    }
    assert_int_equal( masses, x->scene.cast_count );
}

static void check_gentle( const char *name, int cast )
{
    take x;
    open_balanced( &x, name, cast, 0 );
    print_message( "%s in balance: jerk %.3f, acceleration %.2f, rotation %.1f°\n", name,
                   figure( &x, "jerk_ratio", "value" ), figure( &x, "acceleration_spike", "value" ),
                   figure( &x, "rotation_spike_deg", "value" ) );
    check_bound( figure( &x, "jerk_ratio", "value" ), JERK );
    check_bound( figure( &x, "acceleration_spike", "value" ), ACCELERATION );
    check_bound( figure( &x, "rotation_spike_deg", "value" ), ROTATION_DEG );
    check_masses( &x );
    close_scene( &x );
}

static void a_relay_in_balance_is_smooth( void **state )
{
    (void)state;
    check_gentle( "box_relay", 7 );
}

static void a_walk_in_balance_is_smooth( void **state )
{
    (void)state;
    check_gentle( "corridor", 2 );
}

static vec3 mass_centre( const take *x, int actor, int frame )
{
    return tr_body_centre_of_mass( &x->stage.actors[actor].body, &x->stage.actors[actor].target,
                                   tr_world_pose( &x->result.worlds[actor], frame ) );
}

// A clip that begins later leans as the whole one does, but for its first stances.
static void balance_does_not_depend_on_the_first_frame( void **state )
{
    (void)state;
    take whole, cut;
    open_balanced( &whole, "box_relay", 3, 0 );
    open_balanced( &cut, "box_relay", 3, 20 );
    double most = 0;
    for ( int i = 0; i < 3; ++i )
        for ( int f = 80; f < whole.stage.frame_count; ++f ) {
            vec3 a = mass_centre( &whole, i, f ), b = mass_centre( &cut, i, f - 20 );
            most = fmax( most, v3_length( v3_horizontal( v3_sub( a, b ) ) ) );
        }
    print_message( "begun later, the centre of mass differs by up to %.2f mm\n", 1e3 * most );
    assert_true( most < 1e-3 );
    close_scene( &whole );
    close_scene( &cut );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_relay_in_balance_is_smooth ),
        TEST( a_walk_in_balance_is_smooth ),
        TEST( balance_does_not_depend_on_the_first_frame ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
