// What panels show and change: history, layers, rules, environment, joint maps; text fields.
#include "desk.h"

static void check_name( const char *expected, const char *a, const char *b )
{
    const char *const lines[] = { a, b };
    char name[120];
    tr_step_name( name, sizeof name, lines, b != NULL ? 2 : 1 );
    assert_string_equal( name, expected );
}

static void steps_have_readable_names( void **state )
{
    (void)state;
    check_name( "Pull p01.Head at frame 30",
                "layer_add id=cage1 kind=cage members=\"p01\" range=0,60 ease=10,10 padding=0.15",
                "handle_add id=grip1 layer=cage1 frame=30 point=\"p01.Head\" move=0.1,0,0" );
    check_name( "Pull grip1", "handle_set id=grip1 move=0.12345,0,0 pinned=true", NULL );
    check_name( "Let go grip1", "handle_set id=grip1 pinned=false", NULL );
    check_name( "Pin p01.LeftHand at frame 12",
                "constraint_add id=pin1 kind=absolute a=\"p01.LeftHand\" range=12,12 ease=10,10 target=0,1,0",
                "scene_set imesh=true" );
    check_name( "Size of p02: 1.25", "cast_scale id=p02 scale=1.2500000000000002", NULL );
    check_name( "Frames of hold: 3 – 40", "constraint_set id=hold range=3,40", NULL );
    check_name( "Move p01 to 1,0,0, and 1 more", "cast_place id=p01 position=1,0,0",
                "cast_place id=p02 position=2,0,0" );
    check_name( "Delete p01, and 1 more", "cast_remove id=p01", "cast_remove id=p02" );
    check_name( "Rename cage1: arms", "layer_rename id=cage1 to=arms", NULL );
    check_name( "scene_set", "scene_set fps=30", NULL );
}

// Every op has a name that fits the panel's width, whatever its values are.
static void every_op_has_a_name( void **state )
{
    (void)state;
    int count;
    const tr_op_info *ops = tr_op_table( &count );
    for ( int i = 0; i < count; ++i ) {
        char line[120], name[80];
        const char *const lines[] = { line };
        snprintf( line, sizeof line, "%s id=thing", ops[i].name );
        tr_step_name( name, sizeof name, lines, 1 );
        assert_true( strlen( name ) > 3 );
    }
}

static void one_drag_is_one_line_of_the_history( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    drag_thing( &d, "p01.Head", 25, 5, 0 );
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), 2 );
    press( &d, "tab.History" );
    area_of( &d, "step.1" );
    assert_null( tr_ui_spot( ui_of( &d ), "step.2" ) );
    press( &d, "step.0" ); // as it was opened
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    press( &d, "step.1" );
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), 2 );
    tr_area a = area_of( &d, "step.1" );
    move_to( &d, a.x + 20, a.y + 10 );
    assert_non_null( strstr( ui_of( &d )->hint, "layer_add id=cage1" ) );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( steps_have_readable_names ),
        TEST( every_op_has_a_name ),
        TEST( one_drag_is_one_line_of_the_history ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
