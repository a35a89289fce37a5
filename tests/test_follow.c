// Partners of edited bodies come along as links demand, on their own feet.
#include "stage_fixture.h"

#include "scenes/scenes.h"

#define FREE_ENDS                                                                                            \
    "handle_add id=start layer=edit frame=0 pinned=false\nhandle_add id=stop layer=edit frame=30 "           \
    "pinned=false\n"

static vec3 place_of( const tr_result *result, int actor, int joint_index, int frame )
{
    return tr_world_pose( &result->worlds[actor], frame ).positions[joint_index];
}

// Three people stand hand in hand; a fourth is not linked.
static void cast_of_four( fixture *x )
{
    begin( x );
    add_bent( x, "a", v3_zero, 1 );
    add_bent( x, "b", v3( 1.4, 0, 0 ), 1 );
    add_bent( x, "c", v3( 2.8, 0, 0 ), 1 );
    add_bent( x, "d", v3( 9, 0, 0 ), 1 );
    tr_constraint links[2] = {
        relation( "ab", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) ),
        relation( "bc", tr_point_joint( "b", "LeftHand" ), tr_point_joint( "c", "RightHand" ) ) };
    for ( int i = 0; i < 2; ++i )
        tr_scene_add_constraint( &x->scene, &links[i] );
    build( x );
}

static tr_result edited_by( fixture *x, const char *ops )
{
    edit( x, ops );
    rebuild( x );
    return solve( x, "posegraph" );
}

// How far a foot went, which has to be the same in all frames.
static vec3 foot_shift( const fixture *x, const tr_result *plain, const tr_result *edited, int actor )
{
    int foot = joint( &x->stage, actor, "LeftFoot" );
    vec3 shift = v3_sub( place_of( edited, actor, foot, 0 ), place_of( plain, actor, foot, 0 ) );
    for ( int f = 1; f < FRAMES; ++f )
        check_v3( v3_sub( place_of( edited, actor, foot, f ), place_of( plain, actor, foot, f ) ), shift,
                  1e-4 );
    return shift;
}

// One end of the row goes two metres: the next comes along, the one after that a little less far.
static void a_row_follows_its_end( void **state )
{
    (void)state;
    fixture x;
    cast_of_four( &x );
    tr_result plain = solve( &x, "posegraph" );
    tr_result moved = edited_by( &x, "layer_add id=edit kind=cage members=a\n" FREE_ENDS
                                     "handle_add id=h layer=edit frame=15 move=0,0,2" );
    check_v3( foot_shift( &x, &plain, &moved, 0 ), v3( 0, 0, 2 ), 1e-3 );
    vec3 b = foot_shift( &x, &plain, &moved, 1 ), c = foot_shift( &x, &plain, &moved, 2 );
    assert_true( b.z > 1.5 && b.z < 1.95 && c.z > 1.2 && c.z < b.z );
    check_near( b.x, 0, 1e-3 );
    check_near( b.y, 0, 1e-4 ); // the ground is where it was
    for ( int r = 0; r < x.stage.rule_count; ++r )
        assert_true( moved.reports[r].max_mm < 1 );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( same_frame( &plain, &moved, 3, f ) );
    check_near( moved.leak_mm, 0, 0 );
    tr_result_free( &plain );
    tr_result_free( &moved );
    end( &x );
}

// Turned about its own axis, the first swings the others around it.
static void a_row_turns_with_its_end( void **state )
{
    (void)state;
    fixture x;
    cast_of_four( &x );
    tr_result plain = solve( &x, "posegraph" );
    tr_result moved = edited_by( &x, "layer_add id=edit kind=cage members=a\n" FREE_ENDS
                                     "handle_add id=h layer=edit frame=15 turn=0,90,0" );
    assert_true( foot_shift( &x, &plain, &moved, 1 ).z < -0.5 );
    assert_true( moved.turns[1][15] > 0.5 );
    for ( int r = 0; r < x.stage.rule_count; ++r )
        assert_true( moved.reports[r].max_mm < 1 );
    tr_result_free( &plain );
    tr_result_free( &moved );
    end( &x );
}

// What arms reach needs no steps. Nor can a body take them that stands at the window's ends.
static void short_ways_and_short_windows_need_no_steps( void **state )
{
    (void)state;
    static const char *const ops[] = {
        "layer_add id=edit kind=cage members=a\n" FREE_ENDS
        "handle_add id=h layer=edit frame=15 move=0,0,0.08",
        "layer_add id=edit kind=cage members=a range=3,27\nhandle_add id=h layer=edit frame=15 move=0,0,1.2",
        "layer_add id=edit kind=cage members=a.left_arm range=3,27\n"
        "handle_add id=h layer=edit frame=15 point=a.LeftHand move=0.1,0.1,0",
    };
    for ( size_t i = 0; i < sizeof ops / sizeof *ops; ++i ) {
        fixture x;
        cast_of_four( &x );
        tr_result plain = solve( &x, "posegraph" ), moved = edited_by( &x, ops[i] );
        for ( int who = 1; who < 3; ++who )
            check_v3( foot_shift( &x, &plain, &moved, who ), v3_zero, 1e-4 );
        tr_result_free( &plain );
        tr_result_free( &moved );
        end( &x );
    }
}

// What a drag shows is what is kept.
static void previews_bring_partners_along( void **state )
{
    (void)state;
    fixture x;
    tr_result below;
    cast_of_four( &x );
    edit( &x, "layer_add id=edit kind=cage members=a\n" FREE_ENDS "handle_add id=h layer=edit frame=15" );
    rebuild( &x );
    check_ok( tr_pipeline_run_below( &below, &x.stage, tr_method_find( NULL ), 0, &x.error ), &x.error );
    tr_drag *drag = tr_drag_begin( &x.stage, &below, 0, 0, &x.error );
    check_ok( drag != NULL, &x.error );
    for ( int i = 1; i <= 10; ++i ) {
        tr_drag_move held = { 2, v3( 0, 0, 0.15 * i ), v3_zero };
        assert_true(
            tr_drag_visible( drag, &( tr_drag_tick ){ .moves = &held, .move_count = 1, .frame = 15 } ) );
    }
    while ( tr_drag_more( drag, 1 ) )
        ;
    while ( tr_drag_refine( drag, 1 ) )
        ;
    x.scene.handles[2].move = v3( 0, 0, 1.5 );
    tr_result kept = solve( &x, NULL );
    for ( int i = 0; i < 4; ++i )
        for ( int f = 0; f < FRAMES; ++f )
            for ( int j = 0; j < kept.worlds[i].joint_count; ++j )
                check_v3( place_of( tr_drag_result( drag ), i, j, f ), place_of( &kept, i, j, f ), 2e-3 );
    tr_drag_end( drag );
    tr_result_free( &kept );
    tr_result_free( &below );
    end( &x );
}

static void memory_may_run_out( void **state )
{
    (void)state;
    fixture x;
    cast_of_four( &x );
    edit( &x, "layer_add id=edit kind=cage members=a\nhandle_add id=h layer=edit frame=15 move=0,0,1" );
    rebuild( &x );
    solve_with_less_memory( &x );
    end( &x );
}

// ------------------------------------------------------------------------------------------------ the relay

// Solved by one and by three threads.
static tr_result solve_relay( fixture *x, const char *ops, tr_result *plain )
{
    *x = ( fixture ){ .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( "box_relay" ), 7, &x->scene, &x->library, &x->error ),
              &x->error );
    build( x );
    *plain = solve( x, "posegraph" );
    edit( x, ops );
    rebuild( x );
    tr_parallel_set_threads( 1 );
    tr_result one = solve( x, "posegraph" );
    tr_parallel_set_threads( 3 );
    tr_result three = solve( x, "posegraph" );
    tr_parallel_set_threads( 0 );
    for ( int i = 0; i < one.actor_count; ++i )
        for ( int f = 0; f < one.frame_count; ++f )
            assert_true( same_frame( &one, &three, i, f ) );
    tr_result_free( &three );
    return one;
}

// In a relay that hands boxes to and fro, one body, a pair or a box is pulled away by one and a half metres.
static void partners_in_a_relay_step_up( void **state )
{
    (void)state;
    static const char *const ops[] = {
        "layer_add id=edit kind=cage members=p04\nhandle_add id=h layer=edit frame=135 move=0,0,1.5\n"
        "handle_add id=start layer=edit frame=0 pinned=false\nhandle_add id=stop layer=edit frame=270 "
        "pinned=false",
        "layer_add id=edit kind=cage members=p04 range=60,220\n"
        "handle_add id=h layer=edit frame=135 move=0,0,1.5",
        "layer_add id=edit kind=cage members=p06,p07\nhandle_add id=h layer=edit frame=135 move=1.2,0,0.8\n"
        "handle_add id=start layer=edit frame=0 pinned=false\nhandle_add id=stop layer=edit frame=270 "
        "pinned=false",
        "layer_add id=edit kind=cage members=box03 range=105,205\n"
        "handle_add id=h layer=edit frame=155 move=0,0,1.2",
    };
    for ( size_t i = 0; i < sizeof ops / sizeof *ops; ++i ) {
        fixture x;
        tr_measures measures;
        tr_result plain, result = solve_relay( &x, ops[i], &plain );
        check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
        print_message( "%zu: jerk %.3f, acceleration %.3f, rotation %.1f°\n", i,
                       figure_of( &measures, "jerk_ratio" ), figure_of( &measures, "acceleration_spike" ),
                       figure_of( &measures, "rotation_spike_deg" ) );
        check_bound( figure_of( &measures, "contact_error_mm" ), CONTACT_MM );
        check_bound( figure_of( &measures, "relative_error_mm" ), RELATIVE_MM );
        check_bound( figure_of( &measures, "ground_penetration_mm" ), GROUND_MM );
        check_bound( figure_of( &measures, "foot_skate_mm_s" ), SKATE_MM_S );
        check_bound( figure_of( &measures, "acceleration_spike" ), ACCELERATION );
        check_bound( figure_of( &measures, "rotation_spike_deg" ), ROTATION_DEG );
        assert_true( figure_of( &measures, "edit_leak_mm" ) == 0 );
        for ( int r = 0; r < x.stage.rule_count; ++r )
            assert_false( result.reports[r].gave_way );
        for ( int f = 0; f < result.frame_count; ++f )
            assert_true( same_frame( &plain, &result, 0, f ) ); // nothing joins the first to them
        tr_measures_free( &measures );
        tr_result_free( &plain );
        tr_result_free( &result );
        end( &x );
    }
}

// ------------------------------------------------------------------------------------------------- smoothly

// A body joined to others follows as far as neither it nor they get a visible jolt; the handle reports the
// miss.
static void nobody_joined_to_others_gets_a_jolt( void **state )
{
    (void)state;
    static const struct {
        const char *scene;
        int cast;
        const char *ops;
        double missed; // metres, at most
    } drags[] = {
        // legs that squat hardly reach: the trunk bent over in one frame for the last millimetres
        { "squat_chain", 5, "members=p03 range=90,240\nhandle_add id=h layer=edit frame=165 move=0,0,0.4",
          0.12 },
        { "squat_chain", 5,
          "members=p03 range=156,219\nhandle_add id=h layer=edit frame=203 point=p03.LeftForeArm "
          "move=-0.14,0.28,-0.25",
          0.15 },
        { "judo_pair", 0,
          "members=p02 range=50,121\nhandle_add id=h layer=edit frame=85 point=p02.LeftForeArm "
          "move=0.29,0.32,-0.27",
          0.3 },
        { "box_relay", 5, "members=p03 range=50,150\nhandle_add id=h layer=edit frame=100 move=0,100,0",
          100 },
        { "box_relay", 5, "members=p03 range=50,150\nhandle_add id=h layer=edit frame=100 move=0,-50,0", 50 },
        { "box_relay", 5, "members=box03 range=50,150\nhandle_add id=h layer=edit frame=100 move=0,0,100",
          100 },
    };
    for ( size_t i = 0; i < sizeof drags / sizeof *drags; ++i ) {
        fixture x = { .scene = tr_default_scene() };
        tr_measures measures;
        char ops[300];
        snprintf( ops, sizeof ops, "layer_add id=edit kind=cage %s", drags[i].ops );
        check_ok( tr_scene_build( tr_scene_entry_find( drags[i].scene ), drags[i].cast, &x.scene, &x.library,
                                  &x.error ),
                  &x.error );
        edit( &x, ops );
        build( &x );
        tr_result result = solve( &x, "posegraph" );
        check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
        print_message( "%s: %.3f m off; acceleration %.2f, rotation %.1f°\n", drags[i].ops,
                       1e-3 * result.handles[0].error_mm, figure_of( &measures, "acceleration_spike" ),
                       figure_of( &measures, "rotation_spike_deg" ) );
        assert_true( result.handles[0].error_mm < 1e3 * drags[i].missed );
        check_bound( figure_of( &measures, "contact_error_mm" ), CONTACT_MM );
        check_bound( figure_of( &measures, "relative_error_mm" ), RELATIVE_MM );
        check_bound( figure_of( &measures, "ground_penetration_mm" ), GROUND_MM );
        check_bound( figure_of( &measures, "acceleration_spike" ), ACCELERATION );
        check_bound( figure_of( &measures, "rotation_spike_deg" ), ROTATION_DEG );
        assert_true( figure_of( &measures, "edit_leak_mm" ) == 0 );
        tr_measures_free( &measures );
        tr_result_free( &result );
        end( &x );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_row_follows_its_end ),
        TEST( a_row_turns_with_its_end ),
        TEST( previews_bring_partners_along ),
        TEST( short_ways_and_short_windows_need_no_steps ),
        TEST( memory_may_run_out ),
        TEST( partners_in_a_relay_step_up ),
        TEST( nobody_joined_to_others_gets_a_jolt ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
