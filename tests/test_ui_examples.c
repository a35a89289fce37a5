// Examples in the editor: a body is posed by the mouse, pairs are kept, suggested, mirrored and left out, and
// a line from the source's arm makes a part.
#include "desk.h"

static void begin_posing( desk *d, int frame )
{
    begin( d, "elephant", 0 );
    press( d, "tab.Examples" );
    key( d, 'O', 0 );
    while ( ui_of( d )->frame != frame )
        key( d, ui_of( d )->frame < frame ? TR_KEY_RIGHT : TR_KEY_LEFT, 0 );
    settle( d );
}

static const tr_actor *ella( const desk *d )
{
    const tr_stage *stage;
    tr_app_result( d->app, &stage );
    return &stage->actors[0];
}

static const tr_example *pair( const desk *d, const char *id )
{
    int i = tr_scene_find_example( tr_app_scene( d->app ), id );
    assert_true( i >= 0 );
    return &tr_app_scene( d->app )->examples[i];
}

static vec3 joint_at( const desk *d, const char *name )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    return tr_world_pose( &result->worlds[0], ui_of( d )->frame )
        .positions[tr_skeleton_find( &stage->actors[0].target, name )];
}

// The motion follows while the joint is pulled; Enter makes one op of it, which undoes at once.
static void a_pulled_pose_becomes_a_pair( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_posing( &d, 100 );
    enter( &d, "aim.ella_trunk.value", "0" ); // exact at the pairs
    check_near( tr_app_scene( d.app )->parts[0].aim, 0, 0 );
    int ops = tr_app_ops( d.app );
    vec3 before = joint_at( &d, "Trunk8" );
    hold( &d, "ella.Trunk8", 40, -60, &x, &y );
    settle( &d );
    assert_true( ui_of( &d )->pose.active );
    assert_int_equal( tr_app_ops( d.app ), ops );
    vec3 wanted = tr_pose_place( &ella( &d )->target, ui_of( &d )->pose.local, ui_of( &d )->pose.root,
                                 tr_skeleton_find( &ella( &d )->target, "Trunk8" ) );
    assert_true( v3_distance( wanted, before ) > 0.1 );
    assert_true( v3_distance( joint_at( &d, "Trunk8" ), wanted ) < 0.03 ); // live, but for what contacts do
    button( &d, TR_BUTTON_LEFT, false, x + 40, y - 60, 0 );
    settle( &d );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_false( ui_of( &d )->pose.active );
    assert_int_equal( tr_app_ops( d.app ), ops + 1 );
    assert_int_equal( tr_app_scene( d.app )->example_count, 12 );
    const tr_example *kept = pair( &d, "pose1" );
    assert_int_equal( kept->source, 100 );
    assert_non_null( strstr( kept->pose, "Trunk3@" ) );
    assert_true( v3_distance( joint_at( &d, "Trunk8" ), wanted ) < 0.03 );
    check_near( ella( &d )->examples->unlike[100], 0, 1e-6 );
    // Posed again, the same pair changes.
    drag_thing( &d, "ella.Head", 30, 0, TR_MOD_SHIFT );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->example_count, 12 );
    assert_int_equal( tr_app_ops( d.app ), ops + 2 );
    key( &d, 'Z', TR_MOD_CTRL );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->example_count, 11 );
    check_v3( joint_at( &d, "Trunk8" ), before, 1e-9 );
    end( &d );
}

static void escape_lets_a_pose_go( void **state )
{
    (void)state;
    desk d;
    begin_posing( &d, 60 );
    vec3 before = joint_at( &d, "Head" );
    drag_thing( &d, "ella.Head", 60, 20, 0 );
    if ( !ui_of( &d )->pose.active )
        fail_msg( "%s", ui_of( &d )->message );
    key( &d, TR_KEY_ESCAPE, 0 );
    settle( &d );
    assert_false( ui_of( &d )->pose.active );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    check_v3( joint_at( &d, "Head" ), before, 1e-9 );
    click_thing( &d, "ella.Head", 0 ); // a mere click poses nothing
    assert_false( ui_of( &d )->pose.active );
    end( &d );
}

static void a_joint_turns_about_the_view( void **state )
{
    (void)state;
    desk d;
    begin_posing( &d, 60 );
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d.app, &stage );
    quat before[64];
    int joints = ella( &d )->target.joint_count;
    assert_true( joints <= 64 );
    memcpy( before, tr_clip_frame( &result->motions[0].clip, 60 ), (size_t)joints * sizeof( quat ) );
    drag_thing( &d, "ella.LeftEar2", 50, 0, TR_MOD_SHIFT );
    const tr_ui *ui = ui_of( &d );
    int turned = ui->selection[0].joint; // the bone that is hit there
    assert_int_equal( ui->selection_count, 1 );
    assert_true( q_angle( ui->pose.local[turned], before[turned] ) > 5 * TR_DEGREE );
    for ( int j = 0; j < joints; ++j )
        if ( j != turned )
            check_rotation( ui->pose.local[j], before[j], 1e-6 );
    result = tr_app_result( d.app, &stage ); // the preview is there
    check_rotation( tr_clip_frame( &result->motions[0].clip, 60 )[turned], ui->pose.local[turned],
                    1 * TR_DEGREE );
    end( &d );
}

static void suggest_goes_where_least_is_known( void **state )
{
    (void)state;
    desk d;
    begin_posing( &d, 3 );
    key( &d, 'Q', 0 );
    press( &d, "pairs.suggest" );
    settle( &d );
    int frame = ui_of( &d )->frame;
    assert_true( frame != 3 );
    double unlike = ella( &d )->examples->unlike[frame];
    assert_true( unlike > 0.001 );
    assert_int_equal( tr_app_tool_key( ui_of( &d )->tool ), 'O' );
    drag_thing( &d, "ella.Head", 20, 10, 0 );
    press( &d, "pose.keep" );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->example_count, 12 );
    check_near( ella( &d )->examples->unlike[frame], 0, 1e-6 );
    press( &d, "pairs.suggest" );
    assert_true( ui_of( &d )->frame != frame );
    end( &d );
}

static void pairs_are_chosen_mirrored_muted_and_removed( void **state )
{
    (void)state;
    desk d;
    begin_posing( &d, 3 );
    assert_non_null( tr_ui_spot( ui_of( &d ), "strip.unlike" ) );
    push( &d, ( tr_event ){ .kind = TR_EVENT_MOTION, .x = 100, .y = 420 } );
    for ( int i = 0; i < 12; ++i ) // down to the pairs
        push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = -2 } );
    frames( &d, 20 );
    press( &d, "pair.ella_02" );
    assert_int_equal( ui_of( &d )->frame, pair( &d, "ella_02" )->source );
    assert_non_null( tr_ui_spot( ui_of( &d ), "miss.ella_02" ) );
    for ( int i = 0; i < 12; ++i )
        push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = 2 } );
    frames( &d, 20 );
    press( &d, "pairs.mirror" );
    settle( &d );
    const tr_example *twin = pair( &d, "mirror1" );
    assert_true( twin->mirrored );
    assert_int_equal( twin->source, pair( &d, "ella_02" )->source );
    assert_int_equal( ella( &d )->examples->pair_count, 12 );
    push( &d, ( tr_event ){ .kind = TR_EVENT_MOTION, .x = 100, .y = 420 } );
    for ( int i = 0; i < 12; ++i )
        push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = -2 } );
    frames( &d, 20 );
    press( &d, "pairmute.ella_01" );
    settle( &d );
    assert_true( pair( &d, "ella_01" )->muted );
    assert_int_equal( ella( &d )->examples->pair_count, 11 );
    press( &d, "pairremove.ella_03" );
    settle( &d );
    assert_int_equal( tr_scene_find_example( tr_app_scene( d.app ), "ella_03" ), -1 );
    end( &d );
}

static void a_line_makes_a_part( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin( &d, "elephant", 0 );
    key( &d, 'O', 0 );
    key( &d, TR_KEY_PAD_0 + 1, 0 ); // from the front
    settle( &d );
    tr_area from = area_of( &d, "source.LeftHand" );
    assert_true( tr_app_locate( d.app, "ella.LeftEar2", &x, &y ) );
    drag( &d, TR_BUTTON_LEFT, from.x + 4, from.y + 4, x, y, 0 );
    settle( &d );
    const tr_scene *scene = tr_app_scene( d.app );
    assert_int_equal( scene->part_count, 2 );
    assert_string_equal( scene->parts[1].source_last, "LeftHand" );
    assert_string_equal( scene->parts[1].target_last, "LeftEar2" );
    assert_string_equal( scene->parts[1].target_first, "LeftEar1" );
    assert_int_equal( tr_app_ops( d.app ), 1 );
    // A part that shares joints with another is refused with a sentence, and nothing changes.
    tr_area hand = area_of( &d, "source.RightHand" );
    assert_true( tr_app_locate( d.app, "ella.LeftEar2", &x, &y ) );
    drag( &d, TR_BUTTON_LEFT, hand.x + 4, hand.y + 4, x, y, 0 );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->part_count, 2 );
    assert_non_null( strstr( ui_of( &d )->message, "share" ) );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_pulled_pose_becomes_a_pair ),
        TEST( escape_lets_a_pose_go ),
        TEST( a_joint_turns_about_the_view ),
        TEST( suggest_goes_where_least_is_known ),
        TEST( pairs_are_chosen_mirrored_muted_and_removed ),
        TEST( a_line_makes_a_part ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
