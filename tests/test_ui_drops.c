// Files at the editor: what is asked before something is lost, what is dropped on the window, what becomes of
// a file that is of no use.
#include "desk.h"

#include "compose/compose.h"

static void drop_file( desk *d, const char *path )
{
    char *copy = tr_string_copy( path );
    assert_non_null( copy );
    push( d, ( tr_event ){ .kind = TR_EVENT_DROP, .path = copy } );
    frames( d, 2 );
    settle( d );
}

static void path_in( const desk *d, const char *name, char path[256] )
{
    snprintf( path, 256, "%s/%s", d->folder, name );
}

static void write_text( desk *d, const char *path, const char *text )
{
    check_ok( tr_file_write( path, text, strlen( text ), &d->error ), &d->error );
}

static void change( desk *d ) // something that is not saved
{
    click_thing( d, "p01.Head", 0 );
    key( d, 'W', 0 );
    drag_thing( d, "p01.Head", 0, -30, 0 );
    assert_true( tr_app_unsaved( d->app ) );
}

static void save_as( desk *d, const char *name )
{
    char path[256];
    path_in( d, name, path );
    key( d, 'S', TR_MOD_CTRL | TR_MOD_SHIFT );
    assert_int_equal( ui_of( d )->dialog, TR_DIALOG_SAVE );
    key( d, 'A', TR_MOD_CTRL );
    type( d, path );
    push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = TR_KEY_ENTER, .down = true } );
    push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = TR_KEY_ENTER } );
    frames( d, 3 ); // fails when the editor ends
    assert_false( tr_app_unsaved( d->app ) );
}

// ------------------------------------------------------------------------------------------- "Save first?"

static void leave_by_escape( desk *d )
{
    key( d, TR_KEY_ESCAPE, 0 );
}

static void leave_by_back( desk *d )
{
    press( d, "dialog.Back" );
}

// The bar has to wait, and its menus with it.
static void leave_not_by_a_menu( desk *d )
{
    press( d, "File" );
    assert_null( tr_ui_spot( ui_of( d ), "menu.Export motion…" ) );
    assert_int_equal( ui_of( d )->dialog, TR_DIALOG_UNSAVED );
    key( d, TR_KEY_ESCAPE, 0 );
}

static void leave_the_name_by_escape( desk *d )
{
    press( d, "dialog.Save" );
    assert_int_equal( ui_of( d )->dialog, TR_DIALOG_SAVE );
    key( d, TR_KEY_ESCAPE, 0 );
}

static void leave_the_name_by_back( desk *d )
{
    press( d, "dialog.Save" );
    press( d, "dialog.Back" );
}

// Saving later neither quits nor opens: the question was left unanswered.
static void what_was_left_unanswered_is_forgotten( void **state )
{
    (void)state;
    static void ( *const ways[] )( desk * ) = { leave_by_escape, leave_by_back, leave_not_by_a_menu };
    desk d;
    char other[256];
    begin_relay( &d, 2 );
    write_relay( &d, 3, other );
    for ( int i = 0; i < 6; ++i ) {
        change( &d );
        if ( i % 2 == 0 )
            key( &d, 'Q', TR_MOD_CTRL );
        else
            drop_file( &d, other );
        assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_UNSAVED );
        ways[i / 2]( &d );
        assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
        save_as( &d, "kept.json" );
        settle( &d );
        assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    }
    end( &d );
}

// The same where a name is asked for after "Save first?".
static void nor_does_it_wait_for_a_name( void **state )
{
    (void)state;
    static void ( *const ways[] )( desk * ) = { leave_the_name_by_escape, leave_the_name_by_back };
    desk d;
    begin( &d, "box_relay", 2 );
    change( &d );
    for ( int i = 0; i < 2; ++i ) {
        key( &d, 'Q', TR_MOD_CTRL );
        ways[i]( &d );
        assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    }
    save_as( &d, "kept.json" );
    end( &d );
}

static void enter_presses_the_highlighted_button( void **state )
{
    (void)state;
    desk d;
    char other[256];
    begin_relay( &d, 2 );
    write_relay( &d, 3, other );
    change( &d );
    drop_file( &d, other );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_UNSAVED );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 3 ); // saved, and then what was asked for
    char own[256];
    path_in( &d, "relay2.json", own );
    tr_scene scene;
    check_ok( tr_scene_load( &scene, own, &d.error ), &d.error );
    assert_true( tr_scene_find_constraint( &scene, "pin1" ) >= 0 );
    tr_scene_free( &scene );
    end( &d );
}

// A file that cannot be opened is no reason to ask.
static void only_what_can_be_opened_asks_to_save( void **state )
{
    (void)state;
    desk d;
    char note[256], broken[256];
    begin_relay( &d, 2 );
    path_in( &d, "README.md", note );
    path_in( &d, "broken.json", broken );
    write_text( &d, note, "# no scene\n" );
    write_text( &d, broken, "{ \"version\": " );
    change( &d );
    drop_file( &d, note );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    assert_true( ui_of( &d )->message_bad );
    assert_non_null( strstr( ui_of( &d )->message, "neither a scene" ) );
    drop_file( &d, broken );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    assert_non_null( strstr( ui_of( &d )->message, "broken.json" ) );
    assert_true( tr_app_unsaved( d.app ) );
    end( &d );
}

// --------------------------------------------------------------------------------------------------- menus

static bool is_open( const desk *d, const char *line )
{
    return tr_ui_spot( ui_of( d ), line ) != NULL;
}

static void an_open_menu_follows_to_another_title( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "File" );
    assert_true( is_open( &d, "menu.Open…" ) );
    press( &d, "View" );
    assert_false( is_open( &d, "menu.Open…" ) );
    assert_true( is_open( &d, "menu.Front" ) );
    tr_area a = area_of( &d, "Edit" );
    move_to( &d, a.x + 5, a.y + 5 );
    frames( &d, 1 );
    assert_true( is_open( &d, "menu.Undo" ) );
    press( &d, "Edit" ); // the first click leaves open what came with the pointer, the next one closes it
    assert_true( is_open( &d, "menu.Undo" ) );
    press( &d, "Edit" );
    assert_false( is_open( &d, "menu.Undo" ) );
    end( &d );
}

// A line of a menu that has nothing to do gives no message.
static void a_faint_line_of_a_menu_does_nothing( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    assert_true( ui_of( &d )->message_warns ); // the short relay leaves rules out: no good news
    press( &d, "Edit" );
    press( &d, "menu.Undo" );
    assert_null( strstr( ui_of( &d )->message, "nothing to undo" ) );
    change( &d );
    press( &d, "Edit" );
    press( &d, "menu.Undo" );
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    end( &d );
}

// In a small window panels make room for the picture.
static void a_small_window_has_a_picture( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    d.window->width = d.window->pixel_width = 900;
    d.window->height = d.window->pixel_height = 600;
    frames( &d, 2 );
    assert_true( ui_of( &d )->viewport.width >= 430 && ui_of( &d )->viewport.height >= 320 );
    end( &d );
}

// ------------------------------------------------------------------------------------------------- dropping

// A person of CMU's joint names: a T-pose in whole degrees, then some frames of `angle`.
static void write_person( desk *d, const char *path, int frames_of_it, const char *angle )
{
    static const char skeleton[] =
        "HIERARCHY\nROOT Hips {\nOFFSET 0 0 0\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "JOINT LHipJoint { OFFSET 0 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftUpLeg { OFFSET 1.5 -1 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftLeg { OFFSET 0 -7 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftFoot { OFFSET 0 -7 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 -1 2 } } } } }\n"
        "JOINT RHipJoint { OFFSET 0 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT RightUpLeg { OFFSET -1.5 -1 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT RightLeg { OFFSET 0 -7 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT RightFoot { OFFSET 0 -7 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 -1 2 } } } } }\n"
        "JOINT LowerBack { OFFSET 0 2 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT Head { OFFSET 0 6 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 3 0 } } } }\n";
    tr_text text = { 0 };
    tr_text_add( &text, "%sMOTION\nFrames: %d\nFrame Time: 0.0333333\n", skeleton, frames_of_it + 1 );
    for ( int f = 0; f <= frames_of_it; ++f ) {
        tr_text_add( &text, "0 16 0" );
        for ( int c = 0; c < 33; ++c )
            tr_text_add( &text, " %s", f == 0 ? "0" : angle );
        tr_text_add( &text, "\n" );
    }
    assert_false( text.failed );
    write_text( d, path, text.data );
    tr_text_free( &text );
}

// Two people in one GLB: in one take, or a take for each; or one of them alone.
static void write_people( desk *d, const char *path, bool each, const char *only )
{
    tr_opened opened;
    tr_stage stage;
    tr_result result;
    tr_exchange x;
    tr_compose_def def = { .only = only };
    tr_exchange_def how = { .each = each };
    check_ok( tr_open( &opened, "high_five", 0, &d->error ), &d->error );
    check_ok( tr_stage_build( &stage, &opened.scene, NULL, &opened.library, NULL, &d->error ), &d->error );
    check_ok( tr_result_from_source( &result, &stage, &d->error ), &d->error );
    check_ok( tr_compose( &x, &stage, &result, &def, NULL, &d->error ), &d->error );
    check_ok( tr_exchange_save( &x, path, &how, &d->error ), &d->error );
    tr_exchange_free( &x );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_opened_free( &opened );
}

static void need_gltf( void )
{
    if ( tr_import_can_read( ".glb" ) )
        return;
    print_message( "skipped: this build cannot read glTF (scripts/headers.sh cgltf)\n" );
    skip();
}

static void check_source( const desk *d, const char *id, const char *skeleton, const char *take )
{
    const tr_cast *cast = cast_of( d, id );
    assert_non_null( cast );
    assert_string_equal( cast->source.skeleton, skeleton );
    assert_string_equal( cast->source.take, take );
}

static void a_dropped_file_asks_only_where_there_is_a_choice( void **state )
{
    (void)state;
    need_gltf();
    desk d;
    char path[256];
    begin_relay( &d, 2 );
    path_in( &d, "alone.glb", path );
    write_people( &d, path, false, "p02" );
    drop_file( &d, path ); // one skeleton, one take
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    check_source( &d, "alone", "", "" );
    path_in( &d, "people.glb", path );
    write_people( &d, path, false, NULL );
    drop_file( &d, path );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_CHOOSE );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 3 );
    leave_by_escape( &d );
    settle( &d );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 3 );
    drop_file( &d, path );
    press( &d, "choose.skeleton.2" );
    press( &d, "dialog.Add" );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 4 );
    check_source( &d, "p02_2", "p02", "take" ); // the relay has a p02
    drop_file( &d, path );
    drop_file( &d, path ); // each asks in its turn
    press( &d, "dialog.Add" );
    settle( &d );
    press( &d, "dialog.Back" );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 6 );
    check_source( &d, "p01_2", "p01", "take" );
    check_source( &d, "p02_3", "p02", "take" );
    // What is saved goes without the file.
    save_as( &d, "group.json" );
    assert_int_equal( unlink( path ), 0 );
    path_in( &d, "group.json", path );
    tr_opened opened;
    tr_stage stage;
    check_ok( tr_open( &opened, path, 0, &d.error ), &d.error );
    check_ok( tr_stage_build( &stage, &opened.scene, opened.file, &opened.library, NULL, &d.error ),
              &d.error );
    assert_int_equal( stage.actor_count, 6 );
    tr_stage_free( &stage );
    tr_opened_free( &opened );
    end( &d );
}

static void a_file_with_several_people_is_opened( void **state )
{
    (void)state;
    need_gltf();
    desk d;
    char path[256];
    begin_relay( &d, 2 );
    path_in( &d, "each.glb", path );
    write_people( &d, path, true, NULL );
    for ( int one = 0; one < 2; ++one ) {
        key( &d, 'O', TR_MOD_CTRL );
        type( &d, path );
        key( &d, TR_KEY_ENTER, 0 );
        settle( &d );
        assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_CHOOSE );
        assert_non_null( tr_ui_spot( ui_of( &d ), "choose.take.2" ) );
        assert_int_equal( ui_of( &d )->choice[1], -1 ); // of each its own
        if ( one ) {                                    // only its own take is offered
            press( &d, "choose.skeleton.2" );
            assert_null( tr_ui_spot( ui_of( &d ), "choose.take.1" ) );
        }
        press( &d, "dialog.Open" );
        settle( &d );
        const tr_scene *scene = tr_app_scene( d.app );
        assert_int_equal( scene->cast_count, one ? 1 : 2 );
        assert_string_equal( scene->cast[0].id, one ? "p02" : "p01" );
        assert_int_equal( scene->last, 165 );
        check_source( &d, "p02", "p02", one ? "p02" : "" );
    }
    path_in( &d, "people.glb", path );
    write_people( &d, path, false, NULL );
    key( &d, 'O', TR_MOD_CTRL );
    type( &d, path );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    key( &d, TR_KEY_ENTER, 0 ); // all of them
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    check_source( &d, "p01", "p01", "take" );
    check_source( &d, "p02", "p02", "take" );
    end( &d );
}

static void a_dropped_motion_joins_under_its_own_name( void **state )
{
    (void)state;
    desk d;
    char path[256], saved[256];
    begin_relay( &d, 2 );
    path_in( &d, "19 01.bvh", path );
    write_person( &d, path, 40, "0.5" );
    drop_file( &d, path );
    drop_file( &d, path );
    const tr_scene *scene = tr_app_scene( d.app );
    assert_int_equal( scene->cast_count, 4 );
    const tr_cast *first = cast_of( &d, "19_01" ), *second = cast_of( &d, "19_01_2" );
    assert_true( first == &scene->cast[2] && second == &scene->cast[3] );
    assert_int_equal( first->source.first, 1 ); // after the T-pose, and that is said
    assert_non_null( strstr( ui_of( &d )->message, "T-pose" ) );
    for ( int i = 0; i < 4; ++i )
        for ( int k = 0; k < i; ++k )
            assert_memory_not_equal( scene->cast[i].colour, scene->cast[k].colour,
                                     sizeof scene->cast[i].colour );
    double x, y;
    assert_true( tr_app_locate( d.app, "19_01.Head", &x, &y ) ); // to be seen
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CAST, "19_01_2" ) );
    // What is saved does without the file that was dropped, and holds no path that leads elsewhere.
    save_as( &d, "group.json" );
    assert_int_equal( unlink( path ), 0 );
    path_in( &d, "group.json", saved );
    tr_opened opened;
    tr_stage stage;
    check_ok( tr_open( &opened, saved, 0, &d.error ), &d.error );
    assert_string_equal( opened.scene.cast[2].source.file, opened.scene.cast[3].source.file );
    for ( int i = 0; i < 4; ++i )
        assert_true( opened.scene.cast[i].source.file[0] != '/' );
    check_ok( tr_stage_build( &stage, &opened.scene, opened.file, &opened.library, NULL, &d.error ),
              &d.error );
    tr_stage_free( &stage );
    tr_opened_free( &opened );
    save_as( &d, "group.json" ); // again, although the file is gone
    end( &d );
}

static void a_broken_motion_changes_nothing( void **state )
{
    (void)state;
    desk d;
    char path[256];
    begin_relay( &d, 2 );
    path_in( &d, "broken.bvh", path );
    write_person( &d, path, 3, "nan" );
    drop_file( &d, path );
    assert_true( ui_of( &d )->message_bad );
    assert_non_null( strstr( ui_of( &d )->message, "broken.bvh" ) );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    assert_false( tr_app_unsaved( d.app ) );
    change( &d ); // and edits are solved as before
    assert_int_equal( ui_of( &d )->settles, 1 );
    end( &d );
}

static void a_lone_motion_begins_after_its_t_pose( void **state )
{
    (void)state;
    desk d = { 0 };
    char path[256];
    make_folder( &d );
    path_in( &d, "18_01.bvh", path );
    write_person( &d, path, 40, "0.5" );
    open_app( &d, path, 0, false );
    assert_int_equal( ui_of( &d )->frame_count, 40 );
    assert_int_equal( tr_app_scene( d.app )->cast[0].source.first, 1 );
    assert_non_null( strstr( ui_of( &d )->message, "T-pose" ) );
    end( &d );
}

// Contacts of a lone motion are drawn as discs, too.
static void contacts_of_a_lone_motion_are_drawn( void **state )
{
    (void)state;
    desk d = { 0 };
    char path[256];
    tr_opened opened;
    tr_stage stage;
    tr_result result;
    tr_draw_list list = { 0 };
    tr_view_def def = tr_default_view_def();
    make_folder( &d );
    path_in( &d, "18_01.bvh", path );
    write_person( &d, path, 40, "0.001" );
    check_ok( tr_open( &opened, path, 0, &d.error ), &d.error );
    check_ok( tr_stage_build( &stage, &opened.scene, NULL, &opened.library, NULL, &d.error ), &d.error );
    check_ok( tr_result_from_source( &result, &stage, &d.error ), &d.error );
    def.contacts = true;
    tr_view_fill( &list, &stage, &result, 20, &def );
    assert_false( list.failed );
    assert_int_equal( list.disc_count, 2 );
    tr_draw_free( &list );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_opened_free( &opened );
    remove_folder( d.folder );
}

// --------------------------------------------------------------------------------------------- what fails

// Also where it is known before the first picture.
static void why_nothing_is_open_can_be_read( void **state )
{
    (void)state;
    desk d = { 0 };
    char path[256];
    make_folder( &d );
    path_in( &d, "empty.bvh", path );
    write_text( &d, path, "" );
    open_app( &d, path, 0, false );
    assert_true( ui_of( &d )->message_bad );
    assert_non_null( strstr( ui_of( &d )->message, "empty.bvh" ) );
    tr_window_advance( d.window, 15.0 );
    frames( &d, 1 );
    assert_non_null( strstr( ui_of( &d )->message, "empty.bvh" ) );
    end( &d );
}

// A scene without one of its files: the reason is there until the file is.
static void why_nothing_is_solved_stays_to_be_read( void **state )
{
    (void)state;
    desk d = { 0 };
    char path[256], motion[256], away[256];
    make_folder( &d );
    write_relay( &d, 2, path );
    path_in( &d, "relay2_motion/p02.bvh", motion );
    path_in( &d, "away.bvh", away );
    assert_int_equal( rename( motion, away ), 0 );
    open_app( &d, path, 0, false );
    assert_non_null( strstr( ui_of( &d )->failure, "p02.bvh" ) );
    tr_window_advance( d.window, 60.0 );
    frames( &d, 2 );
    assert_string_equal( ui_of( &d )->message, "" );
    assert_non_null( strstr( ui_of( &d )->failure, "p02.bvh" ) );
    assert_int_equal( rename( away, motion ), 0 );
    key( &d, 'R', TR_MOD_CTRL );
    settle( &d );
    assert_string_equal( ui_of( &d )->failure, "" );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( what_was_left_unanswered_is_forgotten ),
        TEST( nor_does_it_wait_for_a_name ),
        TEST( enter_presses_the_highlighted_button ),
        TEST( only_what_can_be_opened_asks_to_save ),
        TEST( an_open_menu_follows_to_another_title ),
        TEST( a_faint_line_of_a_menu_does_nothing ),
        TEST( a_small_window_has_a_picture ),
        TEST( a_dropped_motion_joins_under_its_own_name ),
        TEST( a_dropped_file_asks_only_where_there_is_a_choice ),
        TEST( a_file_with_several_people_is_opened ),
        TEST( a_broken_motion_changes_nothing ),
        TEST( a_lone_motion_begins_after_its_t_pose ),
        TEST( contacts_of_a_lone_motion_are_drawn ),
        TEST( why_nothing_is_open_can_be_read ),
        TEST( why_nothing_is_solved_stays_to_be_read ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
