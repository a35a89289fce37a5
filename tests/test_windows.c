// Windows of interaction meshes over time: a body has a mesh of its own while it meets no other, and that
// mesh fades as a shared one begins.
#include "check.h"
#include "take.h"

static void thicken( take *x, const char *limb, double girth )
{
    for ( int i = 0; i < x->scene.cast_count; ++i ) {
        tr_target *target = &x->scene.cast[i].target;
        target->girths[0] = ( tr_limb_value ){ .value = girth };
        snprintf( target->girths[0].limb, sizeof target->girths[0].limb, "%s", limb );
        target->girth_count = 1;
        target->limb_count = 0;
        target->scale = 1;
    }
}

static bool has( const tr_mesh_report *window, int member )
{
    for ( int m = 0; m < window->member_count; ++m )
        if ( window->members[m] == member )
            return true;
    return false;
}

// Two thick people who meet for a second: arms keep out of their own trunks before, meanwhile and after.
static void meeting_somebody_costs_nobody_his_own_mesh( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "high_five", 2 );
    thicken( &x, "torso", 1.8 );
    solve( &x, "imesh" );
    print_message( "in themselves: %.1f %% of frames, %.1f mm (source %.1f); jerk %.2f, acceleration %.2f\n",
                   figure( &x, "self_penetration", "frames_pct" ), figure( &x, "self_penetration", "max_mm" ),
                   field_of( &x, "self_penetration", "max_mm" )->source, figure( &x, "jerk_ratio", "value" ),
                   figure( &x, "acceleration_spike", "value" ) );
    check_bound( figure( &x, "self_penetration", "frames_pct" ), SELF_FRAMES_PCT );
    check_bound( figure( &x, "self_penetration", "max_mm" ), SELF_DEEP_MM );
    // Neither the meeting nor the seams are seen in the motion.
    check_bound( figure( &x, "jerk_ratio", "value" ), CLOSE_JERK );
    check_bound( figure( &x, "acceleration_spike", "value" ), ACCELERATION );
    close_scene( &x );
}

// At every frame of every body the shares of its windows add up to 1.
static void windows_cover_every_frame( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "high_five", 2 );
    thicken( &x, "torso", 1.3 );
    solve( &x, "imesh" );
    int pad = tr_default_imesh_near_def( x.stage.fps ).pad, last = x.stage.frame_count - 1, own = 0;
    for ( int a = 0; a < 2; ++a )
        for ( int f = 0; f <= last; ++f ) {
            double sum = 0;
            for ( int w = 0; w < x.result.mesh_count; ++w ) {
                const tr_mesh_report *window = &x.result.meshes[w];
                if ( !has( window, a ) || f < window->first || f > window->last )
                    continue;
                double in = window->first > 0 ? ( f - window->first + 1.0 ) / ( pad + 1.0 ) : 1,
                       out = window->last < last ? ( window->last - f + 1.0 ) / ( pad + 1.0 ) : 1;
                sum += smooth_step5( fmin( in, out ) );
                own += window->member_count == 1;
            }
            check_near( sum, 1, 1e-9 );
        }
    assert_true( own > 0 && own < 2 * ( last + 1 ) );
    close_scene( &x );
}

// What stands or leans keeps its contacts, in windows and where they fade: a hand on the ground in a throw,
// paws of a wolf, toes of dancers whose link is limited to some frames.
static void contacts_do_not_give_way( void **state )
{
    (void)state;
    static const struct {
        const char *name;
        int cast, first, last;
        int limit[2]; // frames of the link; 0, 0: none
    } scenes[] = { { "judo_pair", 2, 60, 150, { 0, 0 } },
                   { "mixed_cast", 0, 40, 140, { 0, 0 } },
                   { "dance_pair", 2, 30, 120, { 50, 100 } } };
    for ( int i = 0; i < 3; ++i ) {
        take x;
        open_scene( &x, scenes[i].name, scenes[i].cast );
        x.scene.first = scenes[i].first;
        x.scene.last = scenes[i].last;
        tr_pair limit = {
            .id = "limit", .kind = TR_PAIR_LIMIT, .first = scenes[i].limit[0], .last = scenes[i].limit[1] };
        memcpy( limit.a, x.scene.cast[0].id, sizeof limit.a );
        memcpy( limit.b, x.scene.cast[1].id, sizeof limit.b );
        if ( limit.last > 0 )
            assert_non_null( tr_scene_add_pair( &x.scene, &limit ) );
        solve( &x, "imesh" );
        assert_true( x.result.mesh_count > 0 );
        check_near( figure( &x, "contact_error_mm", "gave_way" ), 0, 0 );
        check_bound( figure( &x, "contact_error_mm", "max" ), CONTACT_MM );
        close_scene( &x );
    }
}

// A body that keeps its shape needs no mesh of its own.
static void the_same_shape_has_no_own_window( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "high_five", 2 );
    thicken( &x, "torso", 1 );
    x.scene.cast[0].target.scale = 1.2;
    solve( &x, "imesh" );
    for ( int w = 0; w < x.result.mesh_count; ++w )
        assert_int_equal( x.result.meshes[w].member_count, 2 );
    close_scene( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( meeting_somebody_costs_nobody_his_own_mesh ),
        TEST( windows_cover_every_frame ),
        TEST( contacts_do_not_give_way ),
        TEST( the_same_shape_has_no_own_window ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
