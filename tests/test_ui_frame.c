// A frame held in the editor: a part is pulled, partners follow, it is propagated or let go.
#include "desk.h"

// Two people whose hands meet, at the moment they do, with the frame tool at hand.
static void begin_hold( desk *d )
{
    begin( d, "high_five", 0 );
    press( d, "tool.frame" );
    while ( ui_of( d )->frame < 80 )
        key( d, TR_KEY_RIGHT, 0 );
    while ( ui_of( d )->frame > 80 )
        key( d, TR_KEY_LEFT, 0 );
    key( d, TR_KEY_PAD_0 + 3, 0 ); // from the side, so that neither hides the other
}

static vec3 joint_at( const desk *d, int actor, const char *name )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    return tr_world_pose( &result->worlds[actor], ui_of( d )->frame )
        .positions[tr_skeleton_find( &stage->actors[actor].target, name )];
}

// How far the farthest joint of an actor is from where it was.
static double farthest( const desk *d, int actor, const vec3 *before )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    double most = 0;
    for ( int j = 0; j < stage->actors[actor].target.joint_count; ++j )
        most =
            fmax( most, v3_distance( tr_world_pose( &result->worlds[actor], ui_of( d )->frame ).positions[j],
                                     before[j] ) );
    return most;
}

static void remember( const desk *d, int actor, vec3 out[64] )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    assert_true( stage->actors[actor].target.joint_count <= 64 );
    memcpy( out, tr_world_pose( &result->worlds[actor], ui_of( d )->frame ).positions,
            (size_t)stage->actors[actor].target.joint_count * sizeof( vec3 ) );
}

static void partners_follow_and_enter_propagates( void **state )
{
    (void)state;
    desk d;
    vec3 first[64], second[64];
    double x, y;
    begin_hold( &d );
    remember( &d, 1, first );
    remember( &d, 0, second );
    hold( &d, "p02.RightHand", 30, -40, &x, &y );
    assert_true( follows( &d, "p02.RightHand", x, y ) );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    assert_true( farthest( &d, 1, first ) > 0.05 );
    assert_true( farthest( &d, 0, second ) > 0.005 ); // while the button is down
    button( &d, TR_BUTTON_LEFT, false, x + 30, y - 40, 0 );
    frames( &d, 30 );
    assert_true( ui_of( &d )->held.active ); // stays held
    assert_true( farthest( &d, 1, first ) > 0.05 );
    vec3 place = joint_at( &d, 1, "RightHand" );
    key( &d, TR_KEY_ENTER, 0 );
    rest( &d );
    assert_false( ui_of( &d )->held.active );
    const tr_constraint *k = constraint_of( &d, "held1" );
    assert_int_equal( k->kind, TR_CONSTRAINT_ABSOLUTE );
    assert_int_equal( k->first, tr_app_scene( d.app )->first + 80 );
    check_near( k->ease_in, 12, 0 );
    assert_true( k->partners );
    check_v3( joint_at( &d, 1, "RightHand" ), place, 1e-3 );
    key( &d, 'Z', TR_MOD_CTRL ); // one step
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    assert_true( farthest( &d, 1, first ) < 1e-9 );
    end( &d );
}

static void rest_held( desk *d )
{
    for ( int i = 0; i < 60; ++i ) {
        frames( d, 1 );
        usleep( 5000 );
    }
}

// What the report will call given way is said before Enter, millimetres too.
static void what_stays_behind_is_said_before( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin( &d, "dance_pair", 2 );
    while ( ui_of( &d )->frame > 80 )
        key( &d, TR_KEY_LEFT, 0 );
    key( &d, 'H', 0 );
    hold( &d, "p01.LeftHand", 0, 60, &x, &y );
    assert_true( follows( &d, "p01.LeftHand", x, y ) );
    button( &d, TR_BUTTON_LEFT, false, x, y + 60, 0 );
    rest_held( &d );
    for ( int i = 0; i < 40; ++i ) // in no hurry
        push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = 1, .modifiers = TR_MOD_CTRL } );
    rest_held( &d );
    bool said = tr_ui_spot( ui_of( &d ), "held.doubt" ) != NULL;
    key( &d, TR_KEY_ENTER, 0 );
    rest( &d );
    assert_true( said );
    assert_int_equal( tr_app_losses( d.app )->count, 1 );
    assert_in_range( lround( 1e4 * tr_app_losses( d.app )->items[0].metres ), 20, 100 );
    end( &d );
}

// A long way within a few frames is said before it is propagated, a short one is not.
static void a_hurried_hand_is_pointed_out( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_hold( &d );
    hold( &d, "p02.RightHand", 60, -80, &x, &y );
    assert_true( follows( &d, "p02.RightHand", x, y ) );
    button( &d, TR_BUTTON_LEFT, false, x + 60, y - 80, 0 );
    frames( &d, 5 );
    static const char *const parts[] = { "held.doubt", "held.propagate", "held.cancel" };
    for ( int i = 0; i < 3; ++i ) // the picture is free of it
        assert_true( area_of( &d, parts[i] ).y >= ui_of( &d )->timeline.y );
    key( &d, TR_KEY_ESCAPE, 0 );
    rest( &d );
    hold( &d, "p02.RightHand", 4, -6, &x, &y );
    button( &d, TR_BUTTON_LEFT, false, x + 4, y - 6, 0 );
    frames( &d, 5 );
    assert_true( ui_of( &d )->held.active );
    assert_null( tr_ui_spot( ui_of( &d ), "held.doubt" ) );
    end( &d );
}

static void escape_lets_a_held_frame_go( void **state )
{
    (void)state;
    desk d;
    vec3 first[64];
    double x, y;
    begin_hold( &d );
    remember( &d, 1, first );
    hold( &d, "p02.RightHand", 30, -40, &x, &y );
    assert_true( follows( &d, "p02.RightHand", x, y ) );
    key( &d, TR_KEY_ESCAPE, 0 ); // while it is pulled
    button( &d, TR_BUTTON_LEFT, false, x + 30, y - 40, 0 );
    rest( &d );
    assert_false( ui_of( &d )->held.active );
    assert_true( farthest( &d, 1, first ) == 0 );
    hold( &d, "p02.RightHand", 30, -40, &x, &y );
    assert_true( follows( &d, "p02.RightHand", x, y ) );
    button( &d, TR_BUTTON_LEFT, false, x + 30, y - 40, 0 );
    frames( &d, 5 );
    press( &d, "held.cancel" ); // afterwards, by the notice
    rest( &d );
    assert_true( farthest( &d, 1, first ) == 0 );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    assert_false( tr_app_unsaved( d.app ) );
    end( &d );
}

// Pulled on by its dot, faded over other frames, kept by the button; a second time the pin is replaced.
static void a_held_frame_is_pulled_on( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_hold( &d );
    hold( &d, "p02.RightHand", 30, -40, &x, &y );
    button( &d, TR_BUTTON_LEFT, false, x + 30, y - 40, 0 );
    frames( &d, 10 );
    vec3 before = ui_of( &d )->held.now;
    drag( &d, TR_BUTTON_LEFT, x + 30, y - 40, x + 60, y - 40, 0 );
    assert_true( v3_distance( ui_of( &d )->held.now, before ) > 0.01 );
    move_to( &d, x, y - 100 );
    push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = -2, .modifiers = TR_MOD_CTRL } );
    frames( &d, 2 );
    assert_int_equal( ui_of( &d )->held.ease, 10 );
    press( &d, "held.propagate" );
    rest( &d );
    check_near( constraint_of( &d, "held1" )->ease_in, 10, 0 );
    assert_true( tr_app_locate( d.app, "p02.RightHand", &x, &y ) );
    drag( &d, TR_BUTTON_LEFT, x, y, x - 15, y, 0 );
    key( &d, TR_KEY_ENTER, 0 );
    rest( &d );
    int pins = 0;
    const tr_scene *scene = tr_app_scene( d.app );
    for ( int i = 0; i < scene->constraint_count; ++i )
        pins += strncmp( scene->constraints[i].id, "held", 4 ) == 0;
    assert_int_equal( pins, 1 );
    end( &d );
}

// Other work is not kept waiting by a frame that is held, and it is still held afterwards.
static void other_work_goes_on( void **state )
{
    (void)state;
    desk d;
    vec3 first[64];
    double x, y;
    begin_hold( &d );
    remember( &d, 1, first );
    hold( &d, "p02.RightHand", 30, -40, &x, &y );
    button( &d, TR_BUTTON_LEFT, false, x + 30, y - 40, 0 );
    frames( &d, 10 );
    press( &d, "tab.Inspect" );
    press( &d, "size.value" ); // a change of the document; this Enter is the field's
    key( &d, 'A', TR_MOD_CTRL );
    type( &d, "1.01" );
    key( &d, TR_KEY_ENTER, 0 );
    for ( int i = 0; i < 600 && ( tr_app_ops( d.app ) == 0 || i < 100 ); ++i ) {
        frames( &d, 1 );
        usleep( 5000 );
    }
    assert_int_equal( tr_app_ops( d.app ), 1 );
    assert_true( ui_of( &d )->held.active );
    assert_true( farthest( &d, 1, first ) > 0.05 );
    key( &d, TR_KEY_ESCAPE, 0 );
    key( &d, 'Z', TR_MOD_CTRL );
    rest( &d );
    assert_true( farthest( &d, 1, first ) < 1e-9 );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( partners_follow_and_enter_propagates ),
        TEST( what_stays_behind_is_said_before ),
        TEST( a_hurried_hand_is_pointed_out ),
        TEST( escape_lets_a_held_frame_go ),
        TEST( a_held_frame_is_pulled_on ),
        TEST( other_work_goes_on ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
