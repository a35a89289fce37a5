// What has to wait: everything beside an open question, keys while something is pulled; and tabs, which
// follow a selection once and then only clicks.
#include "desk.h"

static void change( desk *d ) // something that is not saved
{
    key( d, 'W', 0 );
    drag_thing( d, "p01.Head", 0, 30, 0 );
    assert_true( tr_app_unsaved( d->app ) );
}

static bool is_hidden( const desk *d, const char *id )
{
    const tr_ui *ui = ui_of( d );
    for ( int i = 0; i < ui->look_count; ++i )
        if ( strcmp( ui->looks[i].id, id ) == 0 )
            return ui->looks[i].hidden;
    return false;
}

// ------------------------------------------------------------------------------------------------ questions

// All that is beside a question: names, switches, tabs, numbers, menus, the timeline.
static void press_around( desk *d )
{
    static const char *const spots[] = { "item.p01", "hide.p02", "tab.Layers", "tab.History", "size",
                                         "File",     "undo",     "ruler",      "play" };
    for ( size_t i = 0; i < sizeof spots / sizeof spots[0]; ++i ) {
        tr_area at = area_of( d, spots[i] ), over = area_of( d, "dialog" );
        double x = at.x + 0.5 * at.width, y = at.y + 0.5 * at.height;
        if ( x < over.x || x > over.x + over.width || y < over.y || y > over.y + over.height )
            click( d, x, y, 0 );
    }
    tr_area a = area_of( d, "size" );
    drag( d, TR_BUTTON_LEFT, a.x + 10, a.y + 5, a.x + 30, a.y + 5, 0 );
    settle( d );
}

static void nothing_beside_a_question_can_be_clicked( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 3 );
    change( &d );
    press( &d, "item.p03" );
    int ops = tr_app_ops( d.app ), frame = ui_of( &d )->frame;
    static const struct {
        int key;
        tr_dialog dialog;
    } table[] = { { 'Q', TR_DIALOG_UNSAVED }, { 'O', TR_DIALOG_OPEN }, { 'F', TR_DIALOG_FIND } };
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i ) {
        key( &d, table[i].key, TR_MOD_CTRL );
        assert_int_equal( ui_of( &d )->dialog, table[i].dialog );
        press_around( &d );
        assert_int_equal( ui_of( &d )->dialog, table[i].dialog );
        assert_int_equal( tr_app_ops( d.app ), ops );
        assert_false( is_hidden( &d, "p02" ) );
        assert_false( ui_of( &d )->playing );
        assert_int_equal( ui_of( &d )->frame, frame );
        assert_int_equal( ui_of( &d )->left_tab, TR_LEFT_CAST );
        assert_int_equal( ui_of( &d )->right_tab, TR_RIGHT_INSPECT );
        assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CAST, "p03" ) );
        key( &d, TR_KEY_ESCAPE, 0 );
        assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    }
    press( &d, "hide.p02" ); // and afterwards all of it can
    assert_true( is_hidden( &d, "p02" ) );
    end( &d );
}

// What is being typed when the window is to be closed waits as well.
static void a_question_takes_no_letters( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    change( &d );
    press( &d, "item.p02" );
    press( &d, "rename" );
    type( &d, "ann" );
    push( &d, ( tr_event ){ .kind = TR_EVENT_CLOSE } );
    frames( &d, 2 );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_UNSAVED );
    type( &d, "a" );
    press( &d, "dialog.Back" );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_true( tr_scene_find_cast( tr_app_scene( d.app ), "ann" ) >= 0 );
    end( &d );
}

// ------------------------------------------------------------------------------------------------- pulling

// Pulls the head by the cage tool while `which` is pressed, and lets go.
static void pull_with( desk *d, int which, unsigned modifiers )
{
    double x, y;
    hold( d, "p01.Head", 25, 10, &x, &y );
    assert_true( follows( d, "p01.Head", x, y ) );
    key( d, which, modifiers );
    assert_true( ui_of( d )->drag.active );
    button( d, TR_BUTTON_LEFT, false, x + 25, y + 10, 0 );
    rest( d );
}

static void keys_leave_a_pull_alone( void **state )
{
    (void)state;
    static const struct {
        int key;
        unsigned modifiers;
    } table[] = { { 'Z', TR_MOD_CTRL }, { 'Y', TR_MOD_CTRL }, { TR_KEY_DELETE, 0 }, { 'P', 0 },
                  { 'Q', TR_MOD_CTRL }, { TR_KEY_RIGHT, 0 },  { 'S', TR_MOD_CTRL }, { 'A', TR_MOD_CTRL },
                  { 'W', 0 },           { TR_KEY_ENTER, 0 } };
    desk d;
    begin_relay( &d, 2 );
    change( &d );
    int before = tr_app_ops( d.app );
    key( &d, 'X', 0 );
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i ) {
        pull_with( &d, table[i].key, table[i].modifiers );
        assert_false( ui_of( &d )->message_bad );
        assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
        assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
        assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
        assert_true( tr_app_ops( d.app ) > before );
        key( &d, 'Z', TR_MOD_CTRL ); // one step
        rest( &d );
        assert_int_equal( tr_app_ops( d.app ), before );
        assert_int_equal( tr_app_scene( d.app )->layer_count, 0 );
    }
    end( &d );
}

static void keys_leave_a_slider_alone( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    change( &d );
    int before = tr_app_ops( d.app );
    press( &d, "item.p02" );
    tr_area a = area_of( &d, "size" );
    double x = a.x + 0.4 * a.width, y = a.y + 0.5 * a.height;
    move_to( &d, x, y );
    button( &d, TR_BUTTON_LEFT, true, x, y, 0 );
    frames( &d, 1 );
    move_to( &d, x + 15, y );
    key( &d, 'Z', TR_MOD_CTRL );
    key( &d, TR_KEY_DELETE, 0 );
    assert_int_equal( tr_app_ops( d.app ), before );
    button( &d, TR_BUTTON_LEFT, false, x + 15, y, 0 );
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), before + 1 );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    end( &d );
}

// Closing the window asks about what is there, without what is being pulled.
static void a_question_ends_a_pull( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_relay( &d, 2 );
    change( &d );
    int before = tr_app_ops( d.app );
    key( &d, 'X', 0 );
    hold( &d, "p01.Head", 25, 10, &x, &y );
    assert_true( follows( &d, "p01.Head", x, y ) );
    push( &d, ( tr_event ){ .kind = TR_EVENT_CLOSE } );
    frames( &d, 2 );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_UNSAVED );
    assert_false( ui_of( &d )->drag.active );
    button( &d, TR_BUTTON_LEFT, false, x + 25, y + 10, 0 );
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), before );
    end( &d );
}

// ---------------------------------------------------------------------------------------------------- tabs

static void a_chosen_layer_leaves_the_tabs_free( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    drag_thing( &d, "p01.Head", 25, 5, 0 );
    rest( &d );
    press( &d, "tab.Layers" );
    press( &d, "layer.cage1" );
    press( &d, "tab.Inspect" );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_LAYER, "cage1" ) );
    press( &d, "tab.Cast" );
    assert_int_equal( ui_of( &d )->left_tab, TR_LEFT_CAST );
    press( &d, "tab.Scenes" );
    assert_int_equal( ui_of( &d )->left_tab, TR_LEFT_SCENES );
    area_of( &d, "inspect.layer" ); // where its fields are
    end( &d );
}

static void a_chosen_rule_can_be_inspected( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    change( &d );
    key( &d, 'F', TR_MOD_CTRL );
    type( &d, "pin1" );
    press( &d, "find.pin1" );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CONSTRAINT, "pin1" ) );
    assert_int_equal( ui_of( &d )->right_tab, TR_RIGHT_CONSTRAINTS ); // once
    press( &d, "tab.Inspect" );
    frames( &d, 3 );
    assert_int_equal( ui_of( &d )->right_tab, TR_RIGHT_INSPECT );
    area_of( &d, "rule.hard" ); // with its values
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( nothing_beside_a_question_can_be_clicked ),
        TEST( a_question_takes_no_letters ),
        TEST( keys_leave_a_pull_alone ),
        TEST( keys_leave_a_slider_alone ),
        TEST( a_question_ends_a_pull ),
        TEST( a_chosen_layer_leaves_the_tabs_free ),
        TEST( a_chosen_rule_can_be_inspected ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
