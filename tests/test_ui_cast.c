// The cast panel: bodies of other cast members, and the list shows the chosen one.
#include "desk.h"

// A body whose head and left hand have other names and whose legs are longer, in centimetres.
static void write_stranger( desk *d, char path[256] )
{
    tr_opened relay;
    check_ok( tr_open( &relay, "box_relay", 2, &d->error ), &d->error );
    const tr_motion *own = tr_library_find( &relay.library, relay.scene.cast[0].source.file );
    tr_motion stranger = { 0 };
    for ( int j = 0; j < own->skeleton.joint_count; ++j ) {
        const tr_joint *joint = &own->skeleton.joints[j];
        bool leg = strstr( joint->name, "Leg" ) != NULL || strstr( joint->name, "Foot" ) != NULL;
        vec3 offset = v3_scale( leg ? 1.2 : 1, joint->offset );
        const char *name = strcmp( joint->name, "Head" ) == 0       ? "Skull"
                           : strcmp( joint->name, "LeftHand" ) == 0 ? "hand_l"
                                                                    : joint->name;
        assert_true( tr_skeleton_add( &stranger.skeleton, name, joint->parent, offset ) >= 0 );
        stranger.skeleton.joints[j].end_site = joint->end_site;
    }
    check_ok( tr_clip_alloc( &stranger.clip, 1, own->skeleton.joint_count, 30, false, &d->error ),
              &d->error );
    snprintf( path, 256, "%s/stranger.bvh", d->folder );
    check_ok( tr_motion_save( &stranger, path, &d->error ), &d->error );
    tr_motion_free( &stranger );
    tr_opened_free( &relay );
}

static const tr_actor *actor_of( const desk *d, int index )
{
    const tr_stage *stage;
    assert_non_null( tr_app_result( d->app, &stage ) );
    return &stage->actors[index];
}

static void a_body_is_taken_from_a_file( void **state )
{
    (void)state;
    desk d;
    char path[256];
    begin_relay( &d, 2 );
    write_stranger( &d, path );
    press( &d, "item.p02" );
    assert_null( tr_ui_spot( ui_of( &d ), "body.own" ) );
    press( &d, "body.load" );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_BODY );
    type( &d, path );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_false( ui_of( &d )->message_bad );
    assert_string_equal( cast_of( &d, "p02" )->target.skeleton.file, path );
    const tr_actor *actor = actor_of( &d, 1 );
    int skull = tr_skeleton_find( &actor->target, "Skull" );
    assert_true( skull >= 0 && actor->foreign );
    assert_string_equal( actor->source.skeleton.joints[actor->map[skull]].name, "Head" );
    assert_int_equal( tr_skeleton_find( &actor->target, "LeftHand" ), -1 ); // which rules hold it by
    assert_string_equal( ui_of( &d )->failure, "" );
    area_of( &d, "map.Hips" );   // the map is there, under the name
    key( &d, 'Z', TR_MOD_CTRL ); // one step
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    assert_true( tr_skeleton_find( &actor_of( &d, 1 )->target, "Head" ) >= 0 );
    key( &d, 'Y', TR_MOD_CTRL );
    settle( &d );
    press( &d, "body.own" );
    settle( &d );
    assert_string_equal( cast_of( &d, "p02" )->target.skeleton.file, "" );
    assert_false( actor_of( &d, 1 )->foreign );
    end( &d );
}

static void take_file( desk *d, const char *button_spot, const char *path )
{
    press( d, button_spot );
    type( d, path );
    key( d, TR_KEY_ENTER, 0 );
    settle( d );
}

static void a_file_without_a_body_changes_nothing( void **state )
{
    (void)state;
    desk d;
    char broken[256];
    begin_relay( &d, 2 );
    snprintf( broken, sizeof broken, "%s/nobody.bvh", d.folder );
    check_ok( tr_file_write( broken, "HIERARCHY\n", 10, &d.error ), &d.error );
    press( &d, "item.p02" );
    const char *const paths[] = { "/nowhere/nobody.bvh", broken };
    for ( int i = 0; i < 2; ++i ) {
        take_file( &d, "body.load", paths[i] );
        assert_true( ui_of( &d )->message_bad );
        assert_non_null( strstr( ui_of( &d )->message, "nobody.bvh" ) );
        assert_int_equal( tr_app_ops( d.app ), 0 );
        assert_false( tr_app_unsaved( d.app ) );
        assert_string_equal( ui_of( &d )->failure, "" );
        assert_string_equal( cast_of( &d, "p02" )->target.skeleton.file, "" );
    }
    end( &d );
}

// Nor does a map that is none.
static void a_file_without_a_map_changes_nothing( void **state )
{
    (void)state;
    desk d;
    char path[256], none[256];
    begin_relay( &d, 2 );
    write_stranger( &d, path );
    snprintf( none, sizeof none, "%s/none.json", d.folder );
    check_ok( tr_file_write( none, "{}", 2, &d.error ), &d.error );
    press( &d, "item.p02" );
    take_file( &d, "body.load", path );
    assert_int_equal( tr_app_ops( d.app ), 1 );
    take_file( &d, "map.load", none );
    assert_true( ui_of( &d )->message_bad );
    assert_int_equal( tr_app_ops( d.app ), 1 );
    assert_string_equal( cast_of( &d, "p02" )->mapping, "" );
    assert_string_equal( ui_of( &d )->failure, "" );
    end( &d );
}

static void ask_for_body( desk *d, const char *item, const char *path )
{
    press( d, item );
    press( d, "body.load" );
    type( d, path );
    key( d, TR_KEY_ENTER, 0 );
}

static void write_mesh( const desk *d, const char *name, const char *text, char path[256] )
{
    tr_error error;
    snprintf( path, 256, "%s/%s", d->folder, name );
    check_ok( tr_file_write( path, text, strlen( text ), &error ), &error );
}

// As bodies and joint maps: what the file has is seen before it becomes a step.
static void a_file_without_a_mesh_changes_nothing( void **state )
{
    (void)state;
    desk d;
    char path[256], first[256], other[256], broken[256];
    static const char *const wedge =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    d = ( desk ){ 0 };
    make_folder( &d );
    write_relay( &d, 2, path );
    write_mesh( &d, "first.obj", wedge, first );
    write_mesh( &d, "other.obj", wedge, other );
    write_mesh( &d, "broken.obj", "v 0 0\nf 1 2 9\n", broken );
    tr_opened relay;
    check_ok( tr_open( &relay, path, 0, &d.error ), &d.error );
    tr_document *document = tr_document_create( &relay.scene, &d.error );
    assert_non_null( document );
    check_ok( tr_document_apply( document, "obstacle_add id=wedge shape=mesh mesh=first.obj position=3,0,3",
                                 &d.error ),
              &d.error );
    check_ok( tr_scene_save( tr_document_scene( document ), path, &d.error ), &d.error );
    tr_document_destroy( document );
    tr_opened_free( &relay );
    open_app( &d, path, 0, false );
    press( &d, "item.wedge" );
    press( &d, "tab.Inspect" );
    const char *const bad[] = { "absent.obj", "broken.obj" };
    for ( int i = 0; i < 2; ++i ) {
        enter( &d, "thing.mesh", bad[i] );
        assert_int_equal( tr_app_ops( d.app ), 0 );
        assert_true( ui_of( &d )->message_bad );
        assert_non_null( strstr( ui_of( &d )->message, bad[i] ) );
        assert_string_equal( ui_of( &d )->failure, "" );
        assert_string_equal( tr_app_scene( d.app )->obstacles[0].form.mesh, "first.obj" );
    }
    enter( &d, "thing.mesh", "other.obj" );
    assert_int_equal( tr_app_ops( d.app ), 1 );
    assert_string_equal( tr_app_scene( d.app )->obstacles[0].form.mesh, "other.obj" );
    end( &d );
}

// Two bodies are chosen while the solve before still runs: both get their body, each in a step of its own,
// and a file that is of no use does not stop the next.
static void bodies_asked_for_in_a_row_are_all_tried( void **state )
{
    (void)state;
    desk d = { 0 };
    char path[256];
    make_folder( &d );
    open_behind( &d, "dance_pair", 0 );
    write_stranger( &d, path );
    press( &d, "tab.Report" );
    press( &d, "imesh" ); // takes a while
    ask_for_body( &d, "item.p01", path );
    ask_for_body( &d, "item.p01", "/nowhere/nobody.bvh" );
    ask_for_body( &d, "item.p02", path );
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), 3 );
    assert_string_equal( cast_of( &d, "p01" )->target.skeleton.file, path );
    assert_string_equal( cast_of( &d, "p02" )->target.skeleton.file, path );
    end( &d );
}

// A character picked in the viewport, or by name, is scrolled to in the list.
static void the_list_shows_who_is_chosen( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 19 );
    assert_null( tr_ui_spot( ui_of( &d ), "item.p17" ) );
    key( &d, 'F', TR_MOD_CTRL );
    type( &d, "p17" );
    key( &d, TR_KEY_ENTER, 0 );
    frames( &d, 2 );
    assert_non_null( tr_ui_spot( ui_of( &d ), "item.p17" ) );
    key( &d, 'F', TR_MOD_CTRL );
    type( &d, "p01" );
    key( &d, TR_KEY_ENTER, 0 );
    frames( &d, 2 );
    assert_non_null( tr_ui_spot( ui_of( &d ), "item.p01" ) );
    assert_null( tr_ui_spot( ui_of( &d ), "item.p17" ) );
    end( &d );
}

static void the_interaction_mesh_is_a_switch( void **state )
{
    (void)state;
    desk d;
    begin( &d, "high_five", 0 );
    press( &d, "tab.Report" );
    press( &d, "imesh" );
    settle( &d );
    assert_true( tr_app_scene( d.app )->imesh );
    assert_true( tr_app_result( d.app, NULL )->mesh_count > 0 );
    press( &d, "imesh" );
    settle( &d );
    assert_false( tr_app_scene( d.app )->imesh );
    assert_int_equal( tr_app_result( d.app, NULL )->mesh_count, 0 );
    end( &d );
}

static void all_is_everybody_and_everything( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, 'A', TR_MOD_CTRL );
    const tr_scene *scene = tr_app_scene( d.app );
    assert_int_equal( ui_of( &d )->selection_count, scene->cast_count + scene->prop_count );
    key( &d, 'X', 0 );
    drag_thing( &d, "p01.Head", 25, 5, 0 );
    rest( &d );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    assert_non_null( strstr( tr_app_scene( d.app )->layers[0].members, "table_start" ) );
    drag_thing( &d, "p02.Head", 5, 15, 0 ); // the next one that is pulled is in the same cage
    rest( &d );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    end( &d );
}

// A removed cast member is drawn until the rest is solved: a click on it shows no values.
static void who_is_removed_can_still_be_clicked( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_relay( &d, 2 );
    click_thing( &d, "p01.Head", 0 );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CAST, "p01" ) );
    assert_true( tr_app_locate( d.app, "p01.Head", &x, &y ) );
    push( &d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = TR_KEY_DELETE, .down = true } );
    button( &d, TR_BUTTON_LEFT, true, x, y, 0 ); // within the same frame
    button( &d, TR_BUTTON_LEFT, false, x, y, 0 );
    frames( &d, 3 );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 1 );
    assert_null( tr_ui_spot( ui_of( &d ), "rename" ) );
    settle( &d );
    click_thing( &d, "p02.Head", 0 );
    assert_non_null( tr_ui_spot( ui_of( &d ), "rename" ) );
    end( &d );
}

// A scene without a cast has nothing to list, choose or frame.
static void a_scene_may_have_no_cast( void **state )
{
    (void)state;
    static const char text[] =
        "{\"version\": 1, \"fps\": 30, \"range\": [70, 84], \"cast\": [], \"props\": [],\n"
        "\"environment\": {\"ground\": 0, \"boxes\": [{\"id\": \"wall\", \"size\": "
        "[1, 1, 1], \"position\": [3, 0.5, 0], \"heading\": 41}]},\n"
        "\"constraints\": [], \"layers\": []}\n";
    desk d = { 0 };
    char path[256];
    make_folder( &d );
    snprintf( path, sizeof path, "%s/place.json", d.folder );
    check_ok( tr_file_write( path, text, strlen( text ), &d.error ), &d.error );
    open_app( &d, path, 0, false );
    assert_int_equal( tr_app_scene( d.app )->obstacle_count, 1 );
    assert_int_equal( ui_of( &d )->frame_count, 15 );
    key( &d, 'A', TR_MOD_CTRL );
    assert_int_equal( ui_of( &d )->selection_count, 0 );
    key( &d, 'A', 0 );
    click_thing( &d, "wall", 0 );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_OBSTACLE, "wall" ) );
    key( &d, TR_KEY_DELETE, 0 );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->obstacle_count, 0 );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_body_is_taken_from_a_file ),           TEST( a_file_without_a_body_changes_nothing ),
        TEST( a_file_without_a_map_changes_nothing ),  TEST( bodies_asked_for_in_a_row_are_all_tried ),
        TEST( a_file_without_a_mesh_changes_nothing ), TEST( the_list_shows_who_is_chosen ),
        TEST( the_interaction_mesh_is_a_switch ),      TEST( all_is_everybody_and_everything ),
        TEST( who_is_removed_can_still_be_clicked ),   TEST( a_scene_may_have_no_cast ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
