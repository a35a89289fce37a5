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
    check_name( "Pull p01.Head on", "handle_set id=grip1 point=\"p01.Head\" move=0.12345,0,0 pinned=true",
                NULL );
    check_name( "Pull grip1", "handle_set id=grip1 move=0.12345,0,0 pinned=true", NULL );
    check_name( "Let go grip1", "handle_set id=grip1 pinned=false", NULL );
    check_name( "Pin p01.LeftHand at frame 12",
                "constraint_add id=pin1 kind=absolute a=\"p01.LeftHand\" range=12,12 ease=10,10 target=0,1,0",
                "scene_set imesh=true" );
    check_name( "Size of p02: 1.25", "cast_scale id=p02 scale=1.2500000000000002", NULL );
    check_name( "Frames of hold: 3 – 40", "constraint_set id=hold range=3,40", NULL );
    check_name( "Move p01 to 1,0,0, and 1 more", "cast_place id=p01 position=1,0,0",
                "cast_place id=p02 position=2,0,0" );
    check_name( "Move p01, p02, p03, p04, p05, p06 and 2 more, with all they hold",
                "layer_add id=p01_moved kind=cage members=\"p01,p02,p03,p04,p05,p06,p07,box1\" falloff=0",
                "handle_add id=p01_moved_1 layer=p01_moved frame=0 move=1,0,0" );
    check_name( "Turn p01, box1, with all they hold",
                "layer_add id=p01_moved kind=cage members=\"p01,box1\" falloff=0",
                "handle_add id=p01_moved_2 layer=p01_moved frame=90 move=1,0,0 turn=0,20,0" );
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

// ---------------------------------------------------------------------------------------------------- fields

static void two_layers( desk *d )
{
    begin_relay( d, 2 );
    key( d, 'X', 0 );
    drag_thing( d, "p01.Head", 25, 5, 0 );
    rest( d );
    drag_thing( d, "p02.Head", -20, 5, 0 );
    rest( d );
    assert_int_equal( tr_app_scene( d->app )->layer_count, 2 );
    press( d, "tab.Layers" );
}

// A click elsewhere keeps what was typed, also where it selects another character.
static void what_was_typed_stays_with_its_owner( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "item.p01" );
    press( &d, "size.value" );
    key( &d, 'A', TR_MOD_CTRL );
    tr_area elsewhere = area_of( &d, "item.p02" );
    move_to( &d, elsewhere.x + 20, elsewhere.y + 5 ); // the pointer may be anywhere meanwhile
    type( &d, "1.25" );
    double other = cast_of( &d, "p02" )->target.scale;
    press( &d, "item.p02" );
    settle( &d );
    check_near( cast_of( &d, "p01" )->target.scale, 1.25, 0 );
    check_near( cast_of( &d, "p02" )->target.scale, other, 0 );
    end( &d );
}

// Names allow few letters: what is typed is changed to these where possible; where not, a message says which
// they are.
static void names_are_written_as_they_can_be( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "item.p02" );
    enter( &d, "rename", "MyName" );
    assert_true( tr_scene_find_cast( tr_app_scene( d.app ), "myname" ) >= 0 );
    assert_null( strstr( ui_of( &d )->message, "a to z" ) );
    enter( &d, "rename", "My nice-Name; \"q\" & x" );
    assert_true( tr_scene_find_cast( tr_app_scene( d.app ), "my_nice_name_q__x" ) >= 0 );
    assert_non_null( strstr( ui_of( &d )->message, "a to z" ) );
    enter( &d, "rename", "a123456789b123456789c123456789d123456789" );
    assert_true( tr_scene_find_cast( tr_app_scene( d.app ), "a123456789b123456789c123456789d" ) >= 0 );
    assert_non_null( strstr( ui_of( &d )->message, "31" ) );
    end( &d );
}

static void layers_are_renamed_copied_ordered_and_deleted( void **state )
{
    (void)state;
    desk d;
    two_layers( &d );
    const tr_scene *scene = tr_app_scene( d.app );
    press( &d, "layer.cage1" );
    enter( &d, "rename", "heads" );
    assert_string_equal( scene->layers[0].id, "heads" );
    assert_string_equal( scene->handles[0].layer, "heads" );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_LAYER, "heads" ) ); // stays chosen
    press( &d, "layer.up" );
    settle( &d );
    assert_string_equal( scene->layers[1].id, "heads" );
    press( &d, "layer.down" );
    settle( &d );
    assert_string_equal( scene->layers[0].id, "heads" );
    press( &d, "layer.copy" );
    settle( &d );
    assert_int_equal( scene->layer_count, 3 );
    assert_string_equal( scene->layers[2].id, "heads_2" );
    assert_int_equal( scene->handle_count, 3 );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_LAYER, "heads_2" ) );
    press( &d, "mute.heads_2" );
    press( &d, "layersolo.cage2" );
    settle( &d );
    assert_true( scene->layers[2].muted && scene->layers[1].solo );
    press( &d, "layer.heads_2" );
    press( &d, "layer.delete" );
    settle( &d );
    assert_int_equal( scene->layer_count, 2 );
    enter( &d, "rename", "cage2" ); // in use: a message, and nothing happens
    assert_true( ui_of( &d )->text.key == 0 );
    end( &d );
}

static void names_that_are_taken_are_told( void **state )
{
    (void)state;
    desk d;
    two_layers( &d );
    press( &d, "layer.cage1" );
    enter( &d, "rename", "cage2" );
    assert_string_equal( tr_app_scene( d.app )->layers[0].id, "cage1" );
    assert_true( ui_of( &d )->message_bad );
    int ops = tr_app_ops( d.app );
    press( &d, "rename" ); // Escape leaves the name
    type( &d, "other" );
    key( &d, TR_KEY_ESCAPE, 0 );
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), ops );
    assert_int_equal( ui_of( &d )->text.key, 0 );
    end( &d );
}

// ----------------------------------------------------------------------------------------------------- rules

// A hand was moved, which pins it; its rule is looked at.
static void begin_with_pin( desk *d )
{
    begin_relay( d, 2 );
    key( d, 'W', 0 );
    drag_thing( d, "p01.LeftHand", 20, -10, 0 );
    press( d, "tab.Rules" );
    press( d, "rule.pin1" );
}

static void rules_have_exact_values( void **state )
{
    (void)state;
    desk d;
    begin_with_pin( &d );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CONSTRAINT, "pin1" ) );
    enter( &d, "constraint_set.range.0", "12" );
    enter( &d, "constraint_set.range.1", "20" );
    enter( &d, "constraint_set.ease.0", "7.5" );
    const tr_constraint *k = constraint_of( &d, "pin1" );
    assert_int_equal( k->first, 12 );
    assert_int_equal( k->last, 20 );
    check_near( k->ease_in, 7.5, 0 );
    press( &d, "rule.hard" );
    settle( &d );
    k = constraint_of( &d, "pin1" );
    assert_false( k->hard );
    enter( &d, "rule.weight.value", "0.123456789" );
    check_near( constraint_of( &d, "pin1" )->weight, 0.123456789, 0 );
    enter( &d, "target.Y", "1.2345678" );
    check_near( constraint_of( &d, "pin1" )->target.y, 1.2345678, 0 );
    press( &d, "rule.axis.x" );
    settle( &d );
    k = constraint_of( &d, "pin1" );
    assert_true( !k->axis[0] && k->axis[1] && k->axis[2] );
    press( &d, "rule.always" );
    settle( &d );
    assert_int_equal( constraint_of( &d, "pin1" )->first, -TR_MAX_FRAMES );
    enter( &d, "rename", "hand" );
    assert_string_equal( constraint_of( &d, "hand" )->a.who, "p01" );
    end( &d );
}

// What a rule with keys asks for is shown, changed key by key, and taken away.
static void trajectories_are_shown_and_typed( void **state )
{
    (void)state;
    desk d = { 0 };
    tr_opened scene;
    char path[256];
    make_folder( &d );
    snprintf( path, sizeof path, "%s/keys.json", d.folder );
    check_ok( tr_open( &scene, "arm_circles", 1, &d.error ), &d.error );
    tr_constraint way = tr_default_constraint( "way", TR_CONSTRAINT_ABSOLUTE );
    way.a = tr_point_joint( "p01", "LeftHand" );
    way.keys[0] = ( tr_key ){ 10, v3( 0.5, 1.2, 0 ) };
    way.keys[1] = ( tr_key ){ 40.5, v3( 0.5, 1.25, 0.1 ) };
    way.key_count = 2;
    assert_non_null( tr_scene_add_constraint( &scene.scene, &way ) );
    check_ok( tr_scene_save_beside( &scene.scene, &scene.library, NULL, path, &d.error ), &d.error );
    tr_opened_free( &scene );
    open_app( &d, path, 0, false );
    press( &d, "tab.Rules" );
    press( &d, "rule.way" );
    enter( &d, "keys", "10,0.5,1.2,0;30,0.5,1.25,0.1;50.5,0.5,1.3,0" );
    assert_int_equal( constraint_of( &d, "way" )->key_count, 3 );
    check_near( constraint_of( &d, "way" )->keys[2].frame, 50.5, 0 );
    press( &d, "rule.always" ); // a range of its own, as long as the keys
    settle( &d );
    assert_int_equal( constraint_of( &d, "way" )->first, 10 );
    assert_int_equal( constraint_of( &d, "way" )->last, 51 );
    press( &d, "rule.source" );
    settle( &d );
    assert_int_equal( constraint_of( &d, "way" )->key_count, 0 );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_int_equal( constraint_of( &d, "way" )->key_count, 3 );
    end( &d );
}

static void rules_change_their_kind( void **state )
{
    (void)state;
    desk d;
    begin_with_pin( &d );
    choose( &d, "rule.kind", "orientation" );
    assert_int_equal( constraint_of( &d, "pin1" )->kind, TR_CONSTRAINT_ORIENTATION );
    press( &d, "rule.flat" );
    settle( &d );
    assert_true( constraint_of( &d, "pin1" )->flat );
    choose( &d, "rule.kind", "contact" );
    assert_int_equal( constraint_of( &d, "pin1" )->kind, TR_CONSTRAINT_CONTACT );
    enter( &d, "rule.a", "p01.RightHand" );
    assert_string_equal( constraint_of( &d, "pin1" )->a.terms[0].joint, "RightHand" );
    enter( &d, "rule.a", "p01.NoSuchJoint" ); // reported by the next solve, the document stays whole
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    press( &d, "rule.delete" );
    settle( &d );
    assert_int_equal( tr_scene_find_constraint( tr_app_scene( d.app ), "pin1" ), -1 );
    end( &d );
}

// A link that was drawn is chosen, to be changed at once; Delete removes the link, not its members.
static void a_new_link_is_chosen( void **state )
{
    (void)state;
    desk d;
    double x0, y0, x1, y1;
    begin_relay( &d, 2 );
    key( &d, 'K', 0 );
    assert_true( tr_app_locate( d.app, "p01.Head", &x0, &y0 ) &&
                 tr_app_locate( d.app, "p02.Head", &x1, &y1 ) );
    drag( &d, TR_BUTTON_LEFT, x0, y0, x1, y1, 0 );
    settle( &d );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CONSTRAINT, "link1" ) );
    enter( &d, "constraint_set.range.1", "20" );
    assert_int_equal( constraint_of( &d, "link1" )->last, 20 );
    key( &d, TR_KEY_DELETE, 0 );
    settle( &d );
    assert_int_equal( tr_scene_find_constraint( tr_app_scene( d.app ), "link1" ), -1 );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    end( &d );
}

// ----------------------------------------------------------------------------------------------- environment

static void the_environment_is_scaled_and_moved( void **state )
{
    (void)state;
    desk d;
    begin( &d, "car_entry", 0 );
    const tr_scene *scene = tr_app_scene( d.app );
    assert_true( scene->obstacle_count > 1 );
    char spot[64];
    snprintf( spot, sizeof spot, "item.%s", scene->obstacles[0].id );
    press( &d, spot );
    press( &d, "tab.Inspect" );
    enter( &d, "obstacle.scale.value", "1.125" );
    check_near( scene->obstacles[0].scale, 1.125, 0 );
    enter( &d, "move.Y", "0.0625" );
    check_near( scene->obstacles[0].move.y, 0.0625, 0 );
    enter( &d, "size.X", "1.5" );
    check_near( scene->obstacles[0].size.x, 1.5, 0 );
    enter( &d, "obstacle.all.value", "1.1" );
    check_near( scene->obstacles[1].scale, 1.1, 1e-12 );
    int ops = tr_app_ops( d.app );
    double before = scene->obstacles[0].move.x;
    tr_area a = area_of( &d, "move.X" ); // pulled: one step, half a centimetre a point
    drag( &d, TR_BUTTON_LEFT, a.x + 10, a.y + 8, a.x + 50, a.y + 8, 0 );
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), ops + 1 );
    check_near( scene->obstacles[0].move.x, before + 0.2, 1e-9 );
    end( &d );
}

// --------------------------------------------------------------------------------------------------- shapes

static void begin_with_wall( desk *d )
{
    begin( d, "arm_circles", 1 );
    press( d, "Edit" );
    press( d, "menu.Add a wall" );
    settle( d );
    assert_int_equal( tr_app_scene( d->app )->obstacle_count, 1 );
    press( d, "item.wall1" );
    press( d, "tab.Inspect" );
}

// Changed in shape and size, moved, chosen in the picture, renamed and deleted, each a step of its own.
static void things_change_their_shape( void **state )
{
    (void)state;
    desk d;
    begin_with_wall( &d );
    const tr_scene *scene = tr_app_scene( d.app );
    choose( &d, "thing.shape", "sphere" );
    assert_int_equal( scene->obstacles[0].shape, TR_SHAPE_SPHERE );
    enter( &d, "thing.diameter", "0.4" );
    check_v3( scene->obstacles[0].size, v3( 0.4, 0.4, 0.4 ), 0 );
    key( &d, 'Z', TR_MOD_CTRL );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_int_equal( scene->obstacles[0].shape, TR_SHAPE_BOX );
    key( &d, 'Y', TR_MOD_CTRL );
    key( &d, 'Y', TR_MOD_CTRL );
    settle( &d );
    check_v3( scene->obstacles[0].size, v3( 0.4, 0.4, 0.4 ), 0 );
    key( &d, 'W', 0 );
    vec3 before = scene->obstacles[0].position;
    drag_thing( &d, "wall1", 30, 0, 0 );
    assert_true( v3_distance( scene->obstacles[0].position, before ) > 0.02 );
    enter( &d, "rename", "ball" );
    assert_string_equal( scene->obstacles[0].id, "ball" );
    press( &d, "item.p01" );
    key( &d, 'Q', 0 );
    click_thing( &d, "ball", 0 );
    assert_string_equal( ui_of( &d )->selection[0].id, "ball" );
    key( &d, TR_KEY_DELETE, 0 );
    settle( &d );
    assert_int_equal( scene->obstacle_count, 0 );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    press( &d, "item.ball" );
    choose( &d, "thing.shape", "polyline" );
    assert_int_equal( scene->obstacles[0].shape, TR_SHAPE_POLYLINE );
    assert_int_equal( scene->obstacles[0].form.point_count, 2 );
    enter( &d, "thing.thickness", "0.08" );
    check_near( scene->obstacles[0].form.thickness, 0.08, 0 );
    end( &d );
}

// As many corners as a scene may have can be typed, and typed into again.
static void every_corner_of_a_polyline_can_be_typed( void **state )
{
    (void)state;
    desk d;
    begin_with_wall( &d );
    const tr_scene *scene = tr_app_scene( d.app );
    choose( &d, "thing.shape", "polyline" );
    tr_text text = { 0 };
    for ( int i = 0; i < TR_ROWS_MAX; ++i )
        tr_text_add( &text, "%s%d.0625,0.0123456789,-0.5", i > 0 ? ";" : "", i );
    enter( &d, "points", text.data );
    assert_int_equal( scene->obstacles[0].form.point_count, TR_ROWS_MAX );
    press( &d, "points" );
    key( &d, TR_KEY_END, 0 );
    type( &d, "5" );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_int_equal( scene->obstacles[0].form.point_count, TR_ROWS_MAX );
    check_v3( scene->obstacles[0].form.points[TR_ROWS_MAX - 1], v3( 63.0625, 0.0123456789, -0.55 ), 0 );
    tr_text_free( &text );
    end( &d );
}

// ------------------------------------------------------------------------------------------------ joint maps

// A relay whose first person has the body of another file, with a skull for a head.
static void begin_stranger( desk *d, int *joints )
{
    char path[256], body[256];
    tr_opened relay;
    *d = ( desk ){ 0 };
    make_folder( d );
    check_ok( tr_open( &relay, "box_relay", 2, &d->error ), &d->error );
    relay.scene.last = relay.scene.first + 40;
    const tr_motion *own = tr_library_find( &relay.library, relay.scene.cast[0].source.file );
    tr_motion stranger = { 0 };
    for ( int j = 0; j < own->skeleton.joint_count; ++j ) {
        const tr_joint *joint = &own->skeleton.joints[j];
        const char *name = strcmp( joint->name, "Head" ) == 0 ? "Skull" : joint->name;
        assert_true( tr_skeleton_add( &stranger.skeleton, name, joint->parent, joint->offset ) >= 0 );
        stranger.skeleton.joints[j].end_site = joint->end_site;
    }
    *joints = own->skeleton.joint_count;
    check_ok( tr_clip_alloc( &stranger.clip, 1, *joints, 30, false, &d->error ), &d->error );
    snprintf( body, sizeof body, "%s/stranger.bvh", d->folder );
    check_ok( tr_motion_save( &stranger, body, &d->error ), &d->error );
    tr_motion_free( &stranger );
    snprintf( relay.scene.cast[0].target.skeleton.file, TR_PATH_MAX, "%s", body );
    relay.scene.cast[0].target.skeleton.unit = 0.01;
    snprintf( path, sizeof path, "%s/stranger.json", d->folder );
    check_ok( tr_scene_save_beside( &relay.scene, &relay.library, NULL, path, &d->error ), &d->error );
    tr_opened_free( &relay );
    open_app( d, path, 0, false );
}

static const char *driver_of( const desk *d, const char *joint )
{
    const tr_stage *stage;
    assert_non_null( tr_app_result( d->app, &stage ) );
    const tr_actor *actor = &stage->actors[0];
    int to = tr_skeleton_find( &actor->target, joint );
    assert_true( to >= 0 );
    int from = actor->map[to];
    return from >= 0 ? actor->source.skeleton.joints[from].name : "";
}

static void joint_maps_are_suggested_changed_saved_and_loaded( void **state )
{
    (void)state;
    desk d;
    int joints;
    begin_stranger( &d, &joints );
    press( &d, "item.p02" );
    assert_null( tr_ui_spot( ui_of( &d ), "map.suggest" ) ); // its body is its motion's own
    press( &d, "item.p01" );
    assert_string_equal( driver_of( &d, "Skull" ), "Head" );
    choose( &d, "map.Spine", "nothing" );
    assert_string_equal( driver_of( &d, "Spine" ), "" );
    assert_int_equal( tr_app_ops( d.app ), 1 );
    choose( &d, "map.Spine", "Hips" );
    assert_string_equal( driver_of( &d, "Spine" ), "Hips" );
    assert_int_equal( tr_app_scene( d.app )->drive_count, 1 );
    char path[256];
    snprintf( path, sizeof path, "%s/mine.json", d.folder );
    press( &d, "map.save" );
    key( &d, 'A', TR_MOD_CTRL );
    type( &d, path );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_false( ui_of( &d )->message_bad );
    press( &d, "map.suggest" ); // one step: the drive is gone
    settle( &d );
    assert_string_equal( driver_of( &d, "Spine" ), "Spine" );
    press( &d, "map.load" );
    type( &d, path );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_string_equal( driver_of( &d, "Spine" ), "Hips" );
    assert_non_null( strstr( tr_app_scene( d.app )->cast[0].mapping, "mine.json" ) );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_string_equal( driver_of( &d, "Spine" ), "Spine" );
    end( &d );
}

// ------------------------------------------------------------------------------------------------- clipboard

static void texts_are_copied_and_pasted( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "filter" );
    type( &d, "p02" );
    key( &d, 'A', TR_MOD_CTRL );
    key( &d, 'C', TR_MOD_CTRL );
    assert_string_equal( d.window->paste( d.window ), "p02" );
    key( &d, 'X', TR_MOD_CTRL );
    assert_string_equal( ui_of( &d )->filter, "" );
    d.window->copy( d.window, "p0\n1" ); // a field has one line
    key( &d, 'V', TR_MOD_CTRL );
    assert_string_equal( ui_of( &d )->filter, "p01" );
    key( &d, 'A', TR_MOD_CTRL );
    type( &d, "p" );
    assert_string_equal( ui_of( &d )->filter, "p" );
    press( &d, "item.p01" );
    press( &d, "rename" ); // an id takes what an id may have
    d.window->copy( d.window, "Läufer 1" );
    key( &d, 'A', TR_MOD_CTRL );
    key( &d, 'V', TR_MOD_CTRL );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_true( tr_scene_find_cast( tr_app_scene( d.app ), "lufer_1" ) >= 0 );
    end( &d );
}

// The keyboard is the window's again, and what was typed stays.
static void escape_leaves_the_filter( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "filter" );
    type( &d, "p0" );
    key( &d, '2', 0 ); // a digit, no shortcut
    assert_false( ui_of( &d )->show.skeleton );
    key( &d, TR_KEY_ESCAPE, 0 );
    assert_string_equal( ui_of( &d )->filter, "p0" );
    key( &d, '2', 0 );
    assert_true( ui_of( &d )->show.skeleton );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( steps_have_readable_names ),
        TEST( every_op_has_a_name ),
        TEST( one_drag_is_one_line_of_the_history ),
        TEST( names_are_written_as_they_can_be ),
        TEST( what_was_typed_stays_with_its_owner ),
        TEST( layers_are_renamed_copied_ordered_and_deleted ),
        TEST( names_that_are_taken_are_told ),
        TEST( rules_have_exact_values ),
        TEST( trajectories_are_shown_and_typed ),
        TEST( rules_change_their_kind ),
        TEST( a_new_link_is_chosen ),
        TEST( the_environment_is_scaled_and_moved ),
        TEST( things_change_their_shape ),
        TEST( every_corner_of_a_polyline_can_be_typed ),
        TEST( joint_maps_are_suggested_changed_saved_and_loaded ),
        TEST( texts_are_copied_and_pasted ),
        TEST( escape_leaves_the_filter ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
