// What the report tells: everything that gave way, in words, and the same after saving and opening again;
// figures by readable names; what was noticed about the scene.
#include "desk.h"

#include <ctype.h>

static int sum_of_losses( const tr_stage *stage, const tr_result *result )
{
    int sum = 0;
    for ( int r = 0; r < result->rule_count; ++r )
        sum += result->reports[r].gave_way;
    for ( int h = 0; h < result->handle_count; ++h )
        sum += tr_handle_gave_way( stage, &result->handles[h] );
    for ( int i = 0; i < result->mesh_count; ++i )
        sum += result->meshes[i].mesh.no_room_count + result->meshes[i].mesh.lost_count;
    return sum;
}

static tr_losses losses_of( const desk *d )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    const tr_losses *losses = tr_app_losses( d->app );
    assert_non_null( losses );
    assert_int_equal( losses->count, sum_of_losses( stage, result ) );
    for ( int i = 1; i < losses->count; ++i )
        assert_true( losses->items[i].metres <= losses->items[i - 1].metres );
    return *losses;
}

static tr_loss_words words_of( const desk *d, int loss )
{
    const tr_stage *stage;
    tr_loss_words words;
    tr_app_result( d->app, &stage );
    tr_loss_name( stage, &losses_of( d ).items[loss], &words );
    return words;
}

// Saves under a name, opens that and compares what gave way.
static void check_reopened( desk *d )
{
    char path[256];
    snprintf( path, sizeof path, "%s/again.json", d->folder );
    key( d, 'S', TR_MOD_CTRL | TR_MOD_SHIFT );
    type( d, path );
    key( d, TR_KEY_ENTER, 0 );
    rest( d );
    int count = losses_of( d ).count;
    tr_loss *live = tr_alloc( (size_t)count, sizeof *live );
    assert_non_null( live );
    for ( int i = 0; i < count; ++i )
        live[i] = losses_of( d ).items[i];
    tr_app_destroy( d->app );
    open_app( d, path, 0, false );
    tr_losses again = losses_of( d );
    assert_int_equal( again.count, count );
    for ( int i = 0; i < count; ++i ) {
        assert_int_equal( again.items[i].kind, live[i].kind );
        assert_int_equal( again.items[i].frame, live[i].frame );
        check_near( again.items[i].metres, live[i].metres, 1e-4 );
    }
    tr_free( live );
}

// Farther than any arm.
static void missed_handles_are_listed( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "tab.Report" );
    assert_int_equal( losses_of( &d ).count, 0 );
    key( &d, 'X', 0 );
    drag_thing( &d, "p01.Head", 60, -120, 0 );
    rest( &d );
    assert_true( losses_of( &d ).count > 0 );
    int found = -1;
    for ( int i = 0; i < losses_of( &d ).count; ++i )
        if ( losses_of( &d ).items[i].kind == TR_LOSS_HANDLE )
            found = i;
    assert_true( found >= 0 );
    tr_loss loss = losses_of( &d ).items[found];
    tr_loss_words words = words_of( &d, found );
    assert_string_equal( words.who, "p01.Head" );
    assert_string_equal( words.what, "does not come as far as cage1 pulls it" );
    assert_non_null( strstr( words.amount, " cm" ) );
    assert_int_equal( loss.frame, ui_of( &d )->frame );
    key( &d, TR_KEY_HOME, 0 ); // a click goes there and selects
    key( &d, TR_KEY_ESCAPE, 0 );
    char spot[32];
    snprintf( spot, sizeof spot, "loss.%d", found );
    press( &d, "tab.Report" );
    press( &d, spot );
    assert_int_equal( ui_of( &d )->frame, loss.frame );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CAST, "p01" ) );
    check_reopened( &d );
    end( &d );
}

static void missed_rules_are_listed( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "tab.Report" );
    key( &d, 'W', 0 );
    drag_thing( &d, "p01.LeftHand", -90, -150, 0 );
    rest( &d );
    assert_true( losses_of( &d ).count > 0 );
    tr_loss_words words = words_of( &d, 0 );
    assert_non_null( strstr( words.who, "p01." ) );
    assert_true( words.what[0] != 0 );
    assert_null( strchr( words.what, '_' ) );
    check_reopened( &d );
    end( &d );
}

// A moment of a throw, by an interaction mesh: there are places without room.
static void begin_throw( desk *d )
{
    char path[256];
    tr_opened throw;
    *d = ( desk ){ 0 };
    make_folder( d );
    check_ok( tr_open( &throw, "judo_pair", 0, &d->error ), &d->error );
    throw.scene.first = 72;
    throw.scene.last = 78;
    throw.scene.imesh = true;
    snprintf( path, sizeof path, "%s/throw.json", d->folder );
    check_ok( tr_scene_save_beside( &throw.scene, &throw.library, NULL, path, &d->error ), &d->error );
    tr_opened_free( &throw );
    open_app( d, path, 0, false );
}

static void what_the_mesh_lost_is_listed( void **state )
{
    (void)state;
    desk d;
    begin_throw( &d );
    press( &d, "tab.Report" );
    int mesh = 0;
    for ( int i = 0; i < losses_of( &d ).count; ++i ) {
        tr_loss_words words = words_of( &d, i );
        tr_loss_kind kind = losses_of( &d ).items[i].kind;
        mesh += kind == TR_LOSS_NO_ROOM || kind == TR_LOSS_TOUCH;
        assert_null( strstr( words.who, "_End" ) );
        assert_true( words.what[0] != 0 );
    }
    assert_true( mesh > 0 );
    press( &d, "imesh" );
    settle( &d );
    for ( int i = 0; i < losses_of( &d ).count; ++i )
        assert_true( losses_of( &d ).items[i].kind <= TR_LOSS_HANDLE );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    if ( losses_of( &d ).count > 9 ) { // the rest is a click away
        tr_area list = area_of( &d, "loss.0" );
        move_to( &d, list.x + 20, list.y + 20 );
        for ( int i = 0; i < 40 && tr_ui_spot( ui_of( &d ), "losses.all" ) == NULL; ++i ) {
            push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = -1 } );
            frames( &d, 2 );
        }
        press( &d, "losses.all" );
        assert_true( ui_of( &d )->all_losses );
    }
    check_reopened( &d );
    end( &d );
}

static void every_figure_has_a_readable_name( void **state )
{
    (void)state;
    desk d;
    tr_measures measures;
    const tr_stage *stage;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    drag_thing( &d, "p01.Head", 10, 5, 0 );
    rest( &d );
    const tr_result *result = tr_app_result( d.app, &stage );
    check_ok( tr_measure( &measures, stage, result, &d.error ), &d.error );
    assert_true( measures.count > 15 );
    for ( int i = 0; i < measures.count; ++i ) {
        const tr_metric *m = &measures.metrics[i];
        const tr_figure_words *words = tr_figure_name( m->key );
        if ( words == NULL )
            fail_msg( "%s has no name", m->key );
        bool found = false;
        for ( int f = 0; f < m->field_count; ++f )
            found = found || strcmp( m->fields[f].name, words->field ) == 0;
        assert_true( found );
        assert_true( isupper( (unsigned char)words->name[0] ) );
        assert_null( strchr( words->name, '_' ) );
        assert_true( strlen( words->help ) > 10 );
    }
    tr_measures_free( &measures );
    end( &d );
}

// A rule beyond the scene's frames does nothing: a warning says so, and stays in the report until the rule is
// gone.
static void warnings_are_shown( void **state )
{
    (void)state;
    desk d;
    begin( &d, "high_five", 0 );
    press( &d, "tab.Report" );
    assert_null( tr_ui_spot( ui_of( &d ), "warning.0" ) );
    key( &d, 'W', 0 );
    drag_thing( &d, "p01.LeftHand", 20, -10, 0 );
    press( &d, "tab.Rules" );
    press( &d, "rule.pin1" );
    press( &d, "constraint_set.range.1" );
    key( &d, 'A', TR_MOD_CTRL );
    type( &d, "500" );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    press( &d, "constraint_set.range.0" );
    key( &d, 'A', TR_MOD_CTRL );
    type( &d, "400" );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_non_null( strstr( ui_of( &d )->message, "pin1 lies outside" ) );
    press( &d, "tab.Report" );
    area_of( &d, "warning.0" );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_null( tr_ui_spot( ui_of( &d ), "warning.0" ) );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( missed_handles_are_listed ),    TEST( missed_rules_are_listed ),
        TEST( what_the_mesh_lost_is_listed ), TEST( every_figure_has_a_readable_name ),
        TEST( warnings_are_shown ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
