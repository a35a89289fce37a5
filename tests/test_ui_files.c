// Unsaved changes and the history, tooltips, menus.
#include "desk.h"

// ------------------------------------------------------------------------------------------- unsaved changes

static void undo( desk *d )
{
    key( d, 'Z', TR_MOD_CTRL );
    settle( d );
}

static void redo( desk *d )
{
    key( d, 'Z', TR_MOD_CTRL | TR_MOD_SHIFT );
    settle( d );
}

static void edit( desk *d, double dx )
{
    key( d, 'W', 0 );
    drag_thing( d, "p01.LeftHand", dx, -10, 0 );
}

// Back where the file is, there is nothing to ask about.
static void what_was_undone_is_not_unsaved( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    edit( &d, 20 );
    assert_true( tr_app_unsaved( d.app ) );
    undo( &d );
    assert_false( tr_app_unsaved( d.app ) );
    redo( &d );
    assert_true( tr_app_unsaved( d.app ) );
    undo( &d );
    push( &d, ( tr_event ){ .kind = TR_EVENT_CLOSE } );
    tr_window_advance( d.window, 0.02 );
    bool open = tr_app_frame( d.app );
    for ( int i = 0; open && i < 3; ++i )
        open = tr_app_frame( d.app );
    assert_false( open );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    end( &d );
}

static void a_saved_state_is_found_again_until_it_is_forgotten( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    edit( &d, 20 );
    edit( &d, 5 );
    key( &d, 'S', TR_MOD_CTRL );
    assert_false( tr_app_unsaved( d.app ) );
    undo( &d );
    assert_true( tr_app_unsaved( d.app ) );
    redo( &d );
    assert_false( tr_app_unsaved( d.app ) );
    undo( &d );
    edit( &d, -15 ); // another way from here: as many steps, but not those
    assert_true( tr_app_unsaved( d.app ) );
    undo( &d );
    assert_true( tr_app_unsaved( d.app ) );
    undo( &d );
    assert_true( tr_app_unsaved( d.app ) );
    redo( &d );
    redo( &d );
    assert_true( tr_app_unsaved( d.app ) );
    key( &d, 'S', TR_MOD_CTRL );
    assert_false( tr_app_unsaved( d.app ) );
    end( &d );
}

// ------------------------------------------------------------------------------------------------- tooltips

static void check_tip( desk *d, const char *spot )
{
    tr_area a = area_of( d, spot );
    move_to( d, a.x + 0.5 * a.width, a.y + 0.5 * a.height );
    frames( d, 30 );
    if ( tr_ui_spot( ui_of( d ), "tip" ) == NULL )
        fail_msg( "%s has no tooltip", spot );
    tr_area tip = area_of( d, "tip" );
    assert_true( strlen( ui_of( d )->tip.text ) > 3 );
    assert_true( tip.x >= 0 && tip.y >= 0 );
    assert_true( tip.x + tip.width <= WIDTH && tip.y + tip.height <= HEIGHT );
    bool over = tip.x < a.x + a.width && a.x < tip.x + tip.width && tip.y < a.y + a.height &&
                a.y < tip.y + tip.height;
    assert_false( over ); // what it is about stays to be seen
}

static const char *const buttons[] = {
    "undo",        "redo",          "tool.select",  "tool.move", "tool.turn",   "tool.size", "tool.cage",
    "tool.frame",  "tool.link",     "tool.contact", "hide.p01",  "lock.p02",    "solo.p02",  "show.Bodies",
    "show.Source", "show.Contacts", "more",         "play",      "transport.1", "loop",
};

static void every_icon_has_a_tooltip( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "Edit" ); // a menu that was open changes nothing
    key( &d, TR_KEY_ESCAPE, 0 );
    press( &d, "tab.Cast" );
    for ( size_t i = 0; i < sizeof buttons / sizeof buttons[0]; ++i )
        if ( tr_ui_spot( ui_of( &d ), buttons[i] ) != NULL )
            check_tip( &d, buttons[i] );
    move_to( &d, ui_of( &d )->viewport.x + 20, ui_of( &d )->viewport.y + 300 );
    frames( &d, 2 );
    assert_null( tr_ui_spot( ui_of( &d ), "tip" ) );
    end( &d );
}

// ---------------------------------------------------------------------------------------------------- menus

static void escape_closes_a_menu( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    click_thing( &d, "p01.Head", 0 );
    press( &d, "Edit" );
    area_of( &d, "menu.Undo" );
    key( &d, TR_KEY_ESCAPE, 0 );
    frames( &d, 2 );
    assert_null( tr_ui_spot( ui_of( &d ), "menu.Undo" ) );
    assert_int_equal( ui_of( &d )->selection_count, 1 ); // and does nothing else
    press( &d, "Edit" );
    area_of( &d, "menu.Undo" );
    key( &d, TR_KEY_F1, 0 ); // the help covers everything
    frames( &d, 2 );
    assert_null( tr_ui_spot( ui_of( &d ), "menu.Undo" ) );
    assert_true( ui_of( &d )->help );
    end( &d );
}

static void recent_files_open( void **state )
{
    (void)state;
    desk d;
    char path[256];
    begin_relay( &d, 2 );
    write_relay( &d, 3, path );
    push( &d, ( tr_event ){ .kind = TR_EVENT_DROP, .path = tr_string_copy( path ) } );
    rest( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 3 );
    press( &d, "File" );
    press( &d, "recent.1" );
    rest( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( what_was_undone_is_not_unsaved ),
        TEST( a_saved_state_is_found_again_until_it_is_forgotten ),
        TEST( every_icon_has_a_tooltip ),
        TEST( escape_closes_a_menu ),
        TEST( recent_files_open ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
