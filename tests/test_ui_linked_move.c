// The editor: a body that is moved, turned or placed while rules join it to others gets an edit that leads
// there.
#include "desk.h"

static vec3 root_of( const desk *d, int actor )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    return tr_world_pose( &result->worlds[actor], ui_of( d )->frame ).positions[0];
}

// A muted layer leads nothing: moving the body on makes another.
static void who_is_moved_again_is_led_by_what_acts( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 3 );
    press( &d, "item.p02" );
    key( &d, 'W', 0 );
    drag_thing( &d, "p02", 25, 0, 0 );
    press( &d, "tab.Layers" );
    press( &d, "mute.p02_moved" );
    settle( &d );
    vec3 before = root_of( &d, 1 );
    drag_thing( &d, "p02", 25, 0, 0 );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 2 );
    assert_true( v3_distance( root_of( &d, 1 ), before ) > 0.05 );
    end( &d );
}

static int contacts_of_holder( const desk *d )
{
    const tr_stage *stage;
    tr_app_result( d->app, &stage );
    return stage->actors[1].contacts.count;
}

// Selects a person that hands boxes on; returns how many contacts it has.
static int begin_with_holder( desk *d )
{
    begin_relay( d, 3 );
    press( d, "item.p02" );
    return contacts_of_holder( d );
}

static void check_holds( const desk *d, int contacts )
{
    assert_int_equal( contacts_of_holder( d ), contacts );
    assert_int_equal( tr_app_losses( d->app )->count, 0 );
}

// A place of its own would take it away from what its hands hold: it is led there, and they go on holding.
static void who_is_moved_keeps_what_it_holds( void **state )
{
    (void)state;
    desk d;
    int contacts = begin_with_holder( &d );
    vec3 before = root_of( &d, 1 ), place = cast_of( &d, "p02" )->position;
    key( &d, 'W', 0 );
    drag_thing( &d, "p02", 25, 0, 0 );
    vec3 once = root_of( &d, 1 );
    assert_true( v3_distance( once, before ) > 0.05 );
    check_v3( cast_of( &d, "p02" )->position, place, 0 );
    check_holds( &d, contacts );
    drag_thing( &d, "p02", 10, 0, 0 ); // on, by the same layer
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    assert_true( v3_distance( root_of( &d, 1 ), once ) > 0.02 );
    key( &d, 'X', 0 ); // a cage does not reach over the whole clip for that
    drag_thing( &d, "p02.Head", 15, 5, 0 );
    rest( &d );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 2 );
    key( &d, 'Z', TR_MOD_CTRL );
    key( &d, 'Z', TR_MOD_CTRL );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    end( &d );
}

// Degrees about the vertical from one frame of a body to another's.
static double turn_of( const desk *d, int actor, quat before )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    quat now = tr_world_pose( &result->worlds[actor], ui_of( d )->frame ).rotations[0];
    vec3 by = q_to_vector( q_mul( now, q_conj( before ) ) );
    return by.y / TR_DEGREE;
}

static quat facing_of( const desk *d, int actor )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    return tr_world_pose( &result->worlds[actor], ui_of( d )->frame ).rotations[0];
}

static void pull_ring( desk *d, double dx, double dy )
{
    tr_area ring = area_of( d, "ring" );
    double x = ring.x + 0.5 * ring.width, y = ring.y + 0.5 * ring.height;
    drag( d, TR_BUTTON_LEFT, x, y, x + dx, y + dy, 0 );
    settle( d );
}

static void who_is_turned_keeps_what_it_holds( void **state )
{
    (void)state;
    desk d;
    int contacts = begin_with_holder( &d );
    key( &d, 'E', 0 );
    frames( &d, 1 );
    vec3 place = root_of( &d, 1 );
    quat facing = facing_of( &d, 1 );
    pull_ring( &d, 25, -12 );
    double once = turn_of( &d, 1, facing );
    assert_true( fabs( once ) > 8 );
    assert_true( v3_distance( root_of( &d, 1 ), place ) < 0.03 ); // about the ring's middle
    assert_true( cast_of( &d, "p02" )->heading == 0 );
    check_holds( &d, contacts );
    pull_ring( &d, 10, -5 ); // on, by the same layer
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    double twice = turn_of( &d, 1, facing );
    assert_true( fabs( twice ) > fabs( once ) + 1.5 );
    assert_true( v3_distance( root_of( &d, 1 ), place ) < 0.03 );
    key( &d, 'W', 0 ); // moved, it stays turned
    drag_thing( &d, "p02", 20, 0, 0 );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    assert_true( v3_distance( root_of( &d, 1 ), place ) > 0.05 );
    check_near( turn_of( &d, 1, facing ), twice, 2 );
    for ( int i = 0; i < 3; ++i )
        key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    end( &d );
}

// Numbers do the same as the arrows and the ring.
static void who_is_placed_keeps_what_it_holds( void **state )
{
    (void)state;
    desk d;
    int contacts = begin_with_holder( &d );
    press( &d, "tab.Inspect" );
    tr_area panel = area_of( &d, "rename" );
    move_to( &d, panel.x + 20, panel.y + 200 );
    for ( int i = 0; i < 12; ++i ) {
        push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = -1 } );
        frames( &d, 2 );
    }
    vec3 at = cast_of( &d, "p02" )->position, before = root_of( &d, 1 );
    quat facing = facing_of( &d, 1 );
    char text[32];
    tr_number_print( text, sizeof text, at.z + 0.1, 5 );
    enter( &d, "position.Z", text );
    vec3 by = v3_sub( root_of( &d, 1 ), before );
    check_v3( by, v3( 0, 0, 0.1 ), 0.02 );
    check_v3( cast_of( &d, "p02" )->position, at, 0 );
    enter( &d, "place.heading", "15" );
    check_near( turn_of( &d, 1, facing ), 15, 2 );
    check_v3( cast_of( &d, "p02" )->position, at, 0 );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    check_holds( &d, contacts );
    tr_number_print( text, sizeof text, at.z, 5 ); // what the panel shows is where it is led: back again
    enter( &d, "position.Z", text );
    enter( &d, "place.heading", "0" );
    check_v3( root_of( &d, 1 ), before, 0.005 );
    check_near( turn_of( &d, 1, facing ), 0, 0.1 );
    end( &d );
}

// Bodies that nothing joins are placed anew, all of them about the middle of the ring.
static void several_things_turn_about_the_ring( void **state )
{
    (void)state;
    desk d;
    begin( &d, "corridor", 4 );
    press( &d, "item.p01" );
    tr_area a = area_of( &d, "item.p02" );
    click( &d, a.x + 40, a.y + 10, TR_MOD_SHIFT );
    key( &d, 'F', 0 );
    key( &d, 'E', 0 );
    frames( &d, 2 );
    vec3 before[2] = { root_of( &d, 0 ), root_of( &d, 1 ) };
    quat facing = facing_of( &d, 0 ), other = facing_of( &d, 1 );
    pull_ring( &d, 30, -15 );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 0 );
    assert_int_equal( tr_app_ops( d.app ), 2 );
    double by = turn_of( &d, 1, other );
    assert_true( fabs( by ) > 5 );
    check_near( turn_of( &d, 0, facing ), by, 1 );
    check_v3( root_of( &d, 1 ), before[1], 0.01 ); // the ring stands on the last one
    vec3 arm = v3_sub( before[0], before[1] );
    check_v3( root_of( &d, 0 ), v3_add( before[1], q_rotate( q_axis_angle( v3_y, by * TR_DEGREE ), arm ) ),
              0.02 );
    end( &d );
}

// A relay in which all names have 29 bytes.
static void write_long_names( desk *d, char path[256] )
{
    tr_opened relay;
    check_ok( tr_open( &relay, "box_relay", 4, &d->error ), &d->error );
    relay.scene.last = relay.scene.first + 30;
    tr_document *document = tr_document_create( &relay.scene, &d->error );
    assert_non_null( document );
    int people = relay.scene.cast_count, all = people + relay.scene.prop_count;
    for ( int i = 0; i < all; ++i ) {
        const char *id = i < people ? relay.scene.cast[i].id : relay.scene.props[i - people].id;
        char line[160];
        snprintf( line, sizeof line, "%s_rename id=%s to=somebody_with_a_rather_long%02d",
                  i < people ? "cast" : "prop", id, i );
        check_ok( tr_document_apply( document, line, &d->error ), &d->error );
    }
    snprintf( path, 256, "%s/long.json", d->folder );
    check_ok( tr_scene_save_beside( tr_document_scene( document ), &relay.library, NULL, path, &d->error ),
              &d->error );
    tr_document_destroy( document );
    tr_opened_free( &relay );
}

// Names of all that is selected do not fit into a path: they are moved nevertheless.
static void everybody_is_moved_however_many( void **state )
{
    (void)state;
    desk d = { 0 };
    char path[256], name[TR_ID_MAX];
    make_folder( &d );
    write_long_names( &d, path );
    open_app( &d, path, 0, false );
    int last = tr_app_scene( d.app )->cast_count - 1;
    vec3 before = root_of( &d, last );
    memcpy( name, tr_app_scene( d.app )->props[tr_app_scene( d.app )->prop_count - 1].id, sizeof name );
    key( &d, 'A', TR_MOD_CTRL );
    key( &d, 'X', 0 );
    drag_thing( &d, tr_app_scene( d.app )->cast[0].id, 40, 0, 0 );
    rest( &d );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    assert_true( strlen( tr_app_scene( d.app )->layers[0].members ) > TR_PATH_MAX );
    assert_non_null( strstr( tr_app_scene( d.app )->layers[0].members, name ) );
    assert_true( v3_distance( root_of( &d, last ), before ) > 0.005 ); // far from the one that is pulled
    end( &d );
}

static void several_things_move_as_one_step( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 3 );
    press( &d, "item.p01" );
    tr_area a = area_of( &d, "item.p02" );
    click( &d, a.x + 40, a.y + 10, TR_MOD_SHIFT );
    assert_int_equal( ui_of( &d )->selection_count, 2 );
    vec3 before[2] = { root_of( &d, 0 ), root_of( &d, 1 ) };
    key( &d, 'W', 0 );
    drag_thing( &d, "p02", 25, 0, 0 ); // the gizmo stands on the last one's root
    vec3 by[2] = { v3_sub( root_of( &d, 0 ), before[0] ), v3_sub( root_of( &d, 1 ), before[1] ) };
    assert_true( v3_length( by[0] ) > 0.01 );
    check_v3( by[0], by[1], 0.02 );
    key( &d, 'Z', TR_MOD_CTRL );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    key( &d, 'A', TR_MOD_CTRL ); // with all that they hold they are placed elsewhere
    vec3 place = cast_of( &d, "p01" )->position;
    drag_thing( &d, ui_of( &d )->selection[ui_of( &d )->selection_count - 1].id, 25, 0, 0 );
    assert_true( v3_distance( cast_of( &d, "p01" )->position, place ) > 0.01 );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 0 );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( several_things_move_as_one_step ),        TEST( who_is_moved_keeps_what_it_holds ),
        TEST( who_is_turned_keeps_what_it_holds ),      TEST( who_is_placed_keeps_what_it_holds ),
        TEST( several_things_turn_about_the_ring ),     TEST( everybody_is_moved_however_many ),
        TEST( who_is_moved_again_is_led_by_what_acts ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
