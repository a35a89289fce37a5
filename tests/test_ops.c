// Ops: every row of the table, undo and redo, scripts and their errors, memory that runs out.
#include "check.h"

#include "troupe.h"

#include <string.h>

// A scene in which every op has something to work on, made by ops alone.
static const char *const start_script =
    "scene_set fps=60 range=0,200 ground=0.5  # the floor of the upper storey\n"
    "\n"
    "cast_add id=p01 file=walks/p01.bvh unit=0.01 up=y first=1 last=120 scale=0.8 position=0,0,1 heading=90\n"
    "cast_add id=p02 file=\"walks/with blank.bvh\" colour=#804020\n"
    "cast_limb id=p01 limb=left_arm value=1.25\n"
    "cast_girth id=p01 limb=torso value=0.9\n"
    "prop_add id=box01 size=0.4,0.3,0.4 file=box01.bvh\n"
    "prop_add id=box02\n"
    "obstacle_add id=step size=1,0.2,1 position=0,0.1,3\n"
    "constraint_add id=hand kind=relative a=p01.LeftHand b=box01@0.2,0,0 range=10,60 ease=5,8\n"
    "constraint_add id=foot kind=contact a=p01.RightToe surface=step range=0,30\n"
    "constraint_add id=pair kind=relative a=\"p01.'Left Hand'*0.5+RightHand*0.5\" b=p02.Head\n"
    "constraint_add id=place kind=absolute a=p02.Hips target=1,0,2 axes=xz hard=false weight=3\n"
    "constraint_add id=sole kind=orientation a=p01.LeftFoot flat=true\n"
    "constraint_add id=arm kind=length a=p01.LeftHand length=0.3\n"
    "constraint_add id=balance kind=centre_of_mass a=p02\n"
    "layer_add id=bend kind=cage members=p01,box01 range=10,80 ease=5,5\n"
    "layer_add id=hold kind=retime members=p02\n"
    "section_add id=middle layer=bend frame=40\n"
    "section_add id=late layer=hold frame=60 delay=30\n"
    "handle_add id=lift layer=bend frame=40 move=0,0.5,0\n"
    "handle_add id=grip layer=bend frame=50 point=p01.LeftHand\n"
    "clip_add id=turn cast=p01 file=walks/turn.bvh unit=0.01 first=3 blend=12\n"
    "clip_add id=stop cast=p01 file=walks/stop.bvh\n"
    "pair_add id=stab kind=pass a=p01 b=box01 range=20,40\n"
    "pair_add id=apart kind=exclude a=step\n"
    "drive_add id=spine cast=p01 joint=Spine1 source=Spine\n"
    "cast_skeleton id=p01 file=beast.bvh\n"
    "example_add id=still cast=p01 source=0 target=0\n"
    "example_add id=raised cast=p01 source=40 target=3\n"
    "part_add id=trunk cast=p01 source_first=RightArm source_last=RightHand target_first=Trunk1 "
    "target_last=Trunk8\n";

// One line for every row of the op table, valid in the scene above.
static const char *const samples[] = {
    "scene_set fps=24 range=-10,90 ground=-1 imesh=true",
    ( "cast_add id=p03 file=p03.bvh unit=0.05644 up=z first=1 last=-1 scale=1.2 position=1,2,3 heading=-45 "
      "start=7 colour=#010203" ),
    "cast_remove id=p01",
    "cast_rename id=p01 to=anna",
    "cast_copy id=p01 to=p03 position=5,0,0 heading=10 start=3 colour=#ffffff",
    "cast_source id=p01 file=other.glb skeleton=\"Anna 2\" take=3 unit= up=z first=0 last=9",
    "cast_scale id=p01 scale=1.3 path_scale=1.1",
    "cast_limb id=p01 limb=legs value=0.7",
    "cast_girth id=p01 limb=torso value=",
    "cast_skeleton id=p02 file=ogre.bvh unit=1 up=y first=2 last=3 animation=true",
    "cast_look id=p02 file=ogre.glb skeleton=Ogre unit=1 up=y",
    "cast_mapping id=p02 file=ogre.map.json reference=0",
    "cast_place id=p02 position=0.1,0,-2.5 heading=12.5 start=-4",
    "cast_colour id=p02 colour=#00ff7f",
    "cast_automatic id=p02 contacts=false soles=false balance=true",
    "prop_add id=box03 size=1,2,3 scale=0.5 file=b.bvh position=1,1,1 heading=5 start=2 colour=#112233",
    "prop_set id=box01 size=0.1,0.1,0.1 file= scale=2 position=0,1,0",
    "prop_add id=ball shape=sphere size=0.3,0.3,0.3",
    "prop_set id=box01 shape=polyline points=0,0,0;1,0.5,0;1,0.5,-2 thickness=0.02",
    "prop_copy id=box01 to=bust shape=mesh mesh=\"things/bust 1.obj\" mesh_unit=0.001 mesh_up=z",
    "obstacle_set id=step shape=mesh mesh=ramp.obj thickness=0.01",
    "obstacle_copy id=step to=rail shape=polyline points=0,0,0;1,1e-3,0",
    "constraint_add id=path kind=absolute a=p01.LeftHand keys=0,1,1,0;10,1.5,1.25,-1;12.5,2,1,0 ease=4,4",
    "prop_track id=box02 file=t.bvh unit=0.01 up=y first=3 last=8",
    "prop_remove id=box01",
    "prop_rename id=box01 to=crate",
    "prop_copy id=box01 to=box03 colour=#ff0000",
    "obstacle_add id=wall size=5,3,0.2 position=0,1.5,-4 heading=30 colour=#cccccc",
    "obstacle_set id=step position=0,0.2,3 heading=15 scale=0.9 move=0,-0.1,0",
    "obstacle_scale scale=0.8 members=st*,wall about=1,0,0",
    "obstacle_remove id=step",
    "obstacle_rename id=step to=stair",
    "obstacle_copy id=step to=step2 position=0,0.3,4",
    "constraint_add id=look kind=orientation a=p01.Head rotation=0,0.6,0,0.8 range=5,50 ease=1.5,2",
    "constraint_set id=hand kind=absolute target=0,1,0 ease=",
    "constraint_remove id=pair",
    "constraint_rename id=pair to=couple",
    "constraint_copy id=hand to=hand2 a=p02.RightHand partner_space=true priority=4",
    ( "layer_add id=more kind=cage members=p0* range=0,9 ease=1,2 padding=0.3 falloff=12 turn=true firm=true "
      "muted=true "
      "solo=true" ),
    "layer_set id=hold ripple=true members=\"p02, p01.left_arm\" muted=true",
    "layer_remove id=bend",
    "layer_rename id=bend to=arc",
    "layer_copy id=bend to=bend2 members=p01,box01 range=90,120",
    "layer_move id=bend",
    "section_add id=later layer=hold frame=90 delay=30.5",
    "section_set id=late frame=61 delay=",
    "section_remove id=late",
    "section_rename id=late to=never",
    "handle_add id=corner layer=bend frame=40 vertex=3 move=0,0,0.1",
    "handle_set id=lift move=0,0.6,0 turn=0,15,0 pinned=false",
    "handle_remove id=grip",
    "handle_rename id=grip to=hold",
    "handle_copy id=grip to=grip2 frame=60 move=0,0.1,0 layer=bend",
    "clip_add id=run cast=p02 file=run.bvh unit=0.05644 up=z first=1 last=40 blend=8",
    "clip_set id=turn file=other.bvh unit= up=z first=0 last=9 blend=",
    "clip_remove id=turn",
    "clip_rename id=turn to=spin",
    "clip_copy id=turn to=again cast=p02 first=4 blend=3",
    "clip_move id=stop before=turn",
    "drive_add id=thumb cast=p02 joint=\"Left Thumb\" source=",
    "drive_set id=spine joint=Spine2 source=",
    "drive_remove id=spine",
    "drive_rename id=spine to=back",
    "example_add id=low cast=p01 source=60 target=4 pose=\"Head@0,30,0;'Left Ear'@-5,0,2.5\" mirrored=true "
    "muted=true",
    "example_set id=raised source=41 target=5 muted=true",
    "example_remove id=raised",
    "example_rename id=raised to=up",
    "part_add id=ear cast=p01 source_first=LeftArm source_last=LeftHand target_first=Ear1 target_last=Ear2 "
    "aim=0.5",
    "part_set id=trunk source_first=LeftArm source_last=LeftHand target_first=Trunk2 target_last=Trunk7 "
    "aim=1",
    "part_remove id=trunk",
    "part_rename id=trunk to=nose",
    "pair_add id=near kind=link a=p02 b=step range=5,60",
    "pair_set id=stab kind=limit a=p02 b=p01 range=",
    "pair_remove id=stab",
    "pair_rename id=stab to=thrust",
    "pair_copy id=stab to=cut kind=exclude b=p02 range=50,70",
};

static tr_document *start( void )
{
    tr_error error;
    tr_scene empty = tr_default_scene();
    tr_document *document = tr_document_create( &empty, &error );
    assert_non_null( document );
    check_ok( tr_document_run( document, start_script, strlen( start_script ), "start.ops", &error ),
              &error );
    return document;
}

static tr_scene snapshot( const tr_document *document )
{
    tr_scene copy;
    tr_error error;
    check_ok( tr_scene_copy( &copy, tr_document_scene( document ), &error ), &error );
    return copy;
}

static const char *sample_of( const char *op )
{
    for ( size_t i = 0; i < sizeof samples / sizeof *samples; ++i )
        if ( strncmp( samples[i], op, strlen( op ) ) == 0 && samples[i][strlen( op )] == ' ' )
            return samples[i];
    return NULL;
}

static void every_op_applies_undoes_and_redoes( void **state )
{
    (void)state;
    int count;
    const tr_op_info *ops = tr_op_table( &count );
    for ( int i = 0; i < count; ++i ) {
        const char *line = sample_of( ops[i].name );
        if ( line == NULL )
            fail_msg( "%s has no sample", ops[i].name );
        tr_document *document = start();
        tr_error error;
        tr_scene before = snapshot( document );
        check_ok( tr_document_apply( document, line, &error ), &error );
        tr_scene after = snapshot( document );
        if ( tr_scene_equal( &before, &after ) )
            fail_msg( "%s changed nothing", line );
        assert_true( tr_document_undo( document ) );
        assert_true( tr_scene_equal( tr_document_scene( document ), &before ) );
        assert_true( tr_document_redo( document ) );
        assert_true( tr_scene_equal( tr_document_scene( document ), &after ) );
        assert_false( tr_document_redo( document ) );
        assert_string_equal( tr_document_log( document, tr_document_log_count( document ) - 1 ), line );
        tr_scene_free( &before );
        tr_scene_free( &after );
        tr_document_destroy( document );
    }
}

// ---------------------------------------------------------------------------------------- what ops mean

static void apply( tr_document *document, const char *line )
{
    tr_error error;
    check_ok( tr_document_apply( document, line, &error ), &error );
}

static void removing_a_body_removes_its_constraints( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    assert_int_equal( scene->constraint_count, 7 );
    apply( document, "cast_remove id=p01" ); // hand, foot, pair, sole, arm
    assert_int_equal( scene->cast_count, 1 );
    assert_int_equal( scene->constraint_count, 2 );
    assert_string_equal( scene->constraints[0].id, "place" );
    assert_string_equal( scene->constraints[1].id, "balance" );
    assert_true( tr_document_undo( document ) );
    assert_int_equal( scene->constraint_count, 7 );
    assert_string_equal( scene->constraints[2].id, "pair" );
    apply( document, "obstacle_remove id=step" ); // foot
    assert_int_equal( tr_scene_find_constraint( scene, "foot" ), -1 );
    apply( document, "prop_remove id=box01" ); // hand
    assert_int_equal( tr_scene_find_constraint( scene, "hand" ), -1 );
    assert_int_equal( scene->constraint_count, 5 );
    tr_document_destroy( document );
}

// A cast member that is added without a colour gets a new one, the same again after undo and redo.
static void who_joins_gets_a_free_colour( void **state )
{
    (void)state;
    tr_error error;
    tr_scene empty = tr_default_scene();
    tr_document *document = tr_document_create( &empty, &error );
    assert_non_null( document );
    apply( document, "cast_add id=c00 file=a.bvh colour=#457394" ); // nearly the first of the palette
    char line[64];
    for ( int i = 1; i < 11; ++i ) {
        snprintf( line, sizeof line, "cast_add id=c%02d file=a.bvh", i );
        apply( document, line );
    }
    const tr_scene *scene = tr_document_scene( document );
    for ( int i = 0; i < 11; ++i )
        for ( int k = 0; k < i; ++k ) {
            double apart = 0;
            for ( int c = 0; c < 3; ++c )
                apart += fabs( (double)scene->cast[i].colour[c] - (double)scene->cast[k].colour[c] );
            assert_true( apart > 0.1 );
        }
    float last[3];
    memcpy( last, scene->cast[10].colour, sizeof last );
    assert_true( tr_document_undo( document ) && tr_document_redo( document ) );
    assert_memory_equal( tr_document_scene( document )->cast[10].colour, last, sizeof last );
    tr_document_destroy( document );
}

static void rename_a_body_of_each_kind( tr_document *document )
{
    apply( document, "cast_rename id=p01 to=anna" );
    apply( document, "prop_rename id=box01 to=crate" );
    apply( document, "obstacle_rename id=step to=stair" );
}

static void renaming_is_followed( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    rename_a_body_of_each_kind( document );
    apply( document, "constraint_rename id=hand to=p02" ); // constraints have ids of their own
    assert_string_equal( scene->constraints[0].id, "p02" );
    assert_string_equal( scene->constraints[0].a.who, "anna" );
    assert_string_equal( scene->constraints[0].b.who, "crate" );
    assert_string_equal( scene->constraints[1].surface, "stair" );
    apply( document, "constraint_remove id=p02" );
    assert_int_equal( scene->cast_count, 2 );
    assert_int_equal( scene->constraint_count, 6 );
    tr_document_destroy( document );
}

static void surroundings_are_scaled_together( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    apply( document, "obstacle_add id=wall size=2,1,2 position=4,1,3" );
    apply( document, "obstacle_scale scale=0.5 about=1,0,0" );
    check_near( scene->obstacles[0].scale, 0.5, 0 );
    check_v3( scene->obstacles[0].move, v3( 0.5, -0.05, -1.5 ), 1e-12 ); // from 0, 0.1, 3
    check_v3( scene->obstacles[1].move, v3( -1.5, -0.5, -1.5 ), 1e-12 );
    apply( document, "obstacle_scale scale=2 members=wall" ); // about the middle of its foot, on the floor
    check_v3( scene->obstacles[1].move, v3( 0, 0.5, 0 ), 1e-12 );
    check_near( scene->obstacles[0].scale, 0.5, 0 );
    assert_true( tr_document_undo( document ) && tr_document_undo( document ) );
    check_near( scene->obstacles[0].scale, 1, 0 );
    tr_document_destroy( document );
}

static void pairs_follow_their_bodies( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    rename_a_body_of_each_kind( document );
    assert_string_equal( scene->pairs[0].a, "anna" );
    assert_string_equal( scene->pairs[0].b, "crate" );
    assert_string_equal( scene->pairs[1].a, "stair" );
    apply( document, "pair_set id=apart b=anna" );
    apply( document, "prop_remove id=crate" );
    assert_int_equal( scene->pair_count, 1 );
    assert_string_equal( scene->pairs[0].id, "apart" );
    apply( document, "cast_remove id=anna" );
    assert_int_equal( scene->pair_count, 0 );
    assert_true( tr_document_undo( document ) );
    assert_true( tr_document_undo( document ) );
    assert_int_equal( scene->pair_count, 2 );
    assert_string_equal( scene->pairs[0].id, "stab" );
    tr_document_destroy( document );
}

static void clips_follow_their_cast_member( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    apply( document, "clip_move id=stop before=turn" );
    assert_string_equal( scene->clips[0].id, "stop" );
    apply( document, "clip_move id=stop" );
    assert_string_equal( scene->clips[1].id, "stop" );
    apply( document, "cast_rename id=p01 to=anna" );
    assert_string_equal( scene->clips[0].cast, "anna" );
    apply( document, "cast_copy id=anna to=twin" ); // moves as anna does
    assert_int_equal( scene->clip_count, 4 );
    assert_string_equal( scene->clips[2].id, "twin_1" );
    assert_string_equal( scene->clips[3].cast, "twin" );
    assert_string_equal( scene->clips[2].source.file, "walks/turn.bvh" );
    assert_int_equal( scene->drive_count, 2 );
    assert_string_equal( scene->drives[0].cast, "anna" );
    assert_string_equal( scene->drives[1].cast, "twin" );
    assert_int_equal( scene->example_count, 4 );
    assert_string_equal( scene->examples[3].cast, "twin" );
    assert_int_equal( scene->part_count, 2 );
    assert_string_equal( scene->parts[1].cast, "twin" );
    apply( document, "cast_remove id=anna" );
    assert_int_equal( scene->clip_count, 2 );
    assert_string_equal( scene->clips[0].cast, "twin" );
    assert_true( tr_document_undo( document ) );
    assert_string_equal( scene->clips[1].source.file, "walks/stop.bvh" );
    tr_document_destroy( document );
}

static void layers_follow_bodies_and_bring_their_parts( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    apply( document, "layer_set id=bend members=\" p01.left_arm ,p01.'Left, Hand', box01,p*\"" );
    apply( document, "cast_rename id=p01 to=anna" );
    assert_string_equal( scene->layers[0].members, "anna.left_arm, anna.'Left, Hand', box01, p*" );
    assert_string_equal( scene->handles[1].point.who, "anna" );
    apply( document, "cast_remove id=anna" ); // takes the handle that holds it along
    assert_string_equal( scene->layers[0].members, "box01, p*" );
    assert_int_equal( scene->handle_count, 1 );
    apply( document, "layer_set id=bend members=box01" );
    apply( document, "prop_remove id=box01" ); // none is left
    assert_int_equal( scene->layer_count, 1 );
    assert_int_equal( scene->section_count, 1 );
    assert_int_equal( scene->handle_count, 0 );
    apply( document, "layer_rename id=hold to=wait" );
    assert_string_equal( scene->sections[0].layer, "wait" );
    for ( int i = 0; i < 6; ++i )
        assert_true( tr_document_undo( document ) );
    assert_int_equal( scene->handle_count, 2 );
    apply( document, "layer_copy id=bend to=again" );
    assert_int_equal( scene->section_count, 3 );
    assert_int_equal( scene->handle_count, 4 );
    assert_string_equal( scene->handles[3].id, "again_2" );
    assert_string_equal( scene->handles[3].layer, "again" );
    tr_document_destroy( document );
}

static void layers_change_places( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    apply( document, "layer_copy id=bend to=top" ); // bend hold top
    apply( document, "layer_move id=top before=bend" );
    assert_string_equal( scene->layers[0].id, "top" );
    apply( document, "layer_move id=top before=hold" );
    assert_string_equal( scene->layers[1].id, "top" );
    apply( document, "layer_move id=bend" );
    assert_string_equal( scene->layers[2].id, "bend" );
    assert_true( tr_layer_is_active( scene, 0 ) && tr_layer_is_active( scene, 2 ) );
    apply( document, "layer_set id=hold solo=true" );
    assert_true( tr_layer_is_active( scene, tr_scene_find_layer( scene, "hold" ) ) );
    assert_false( tr_layer_is_active( scene, tr_scene_find_layer( scene, "bend" ) ) );
    apply( document, "layer_set id=hold muted=true" ); // a muted solo has no effect
    assert_true( tr_layer_is_active( scene, tr_scene_find_layer( scene, "bend" ) ) );
    assert_false( tr_layer_is_active( scene, tr_scene_find_layer( scene, "hold" ) ) );
    tr_document_destroy( document );
}

static void a_new_kind_keeps_what_both_have( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_scene *scene = tr_document_scene( document );
    const tr_constraint *hand = &scene->constraints[0], *place = &scene->constraints[3];
    apply( document, "constraint_set id=hand kind=absolute target=0,1,0 axes=y" );
    assert_int_equal( hand->kind, TR_CONSTRAINT_ABSOLUTE );
    assert_string_equal( hand->a.who, "p01" );
    assert_string_equal( hand->b.who, "" );
    assert_int_equal( hand->first, 10 );
    assert_true( hand->given && !hand->axis[0] && hand->axis[1] );
    apply( document, "constraint_set id=place kind=orientation" ); // its target is none of a rotation
    assert_false( place->given );
    assert_true( !place->hard && place->weight == 3 );
    apply( document, "constraint_set id=place kind=contact" );
    assert_string_equal( place->surface, "ground" );
    apply( document, "constraint_set id=place range=3,4 target=1,2,3" );
    apply( document, "constraint_set id=place range= target= hard=" );
    assert_true( place->first == -TR_MAX_FRAMES && place->last == TR_MAX_FRAMES );
    assert_true( !place->given && place->hard );
    tr_document_destroy( document );
}

static void limbs_come_and_go( void **state )
{
    (void)state;
    tr_document *document = start();
    const tr_target *target = &tr_document_scene( document )->cast[0].target;
    apply( document, "cast_limb id=p01 limb=tail value=2" );
    apply( document, "cast_limb id=p01 limb=left_arm value=1.5" ); // in its old place
    assert_int_equal( target->limb_count, 2 );
    assert_string_equal( target->limbs[0].limb, "left_arm" );
    check_near( target->limbs[0].value, 1.5, 0 );
    apply( document, "cast_limb id=p01 limb=left_arm value=" );
    assert_int_equal( target->limb_count, 1 );
    assert_string_equal( target->limbs[0].limb, "tail" );
    tr_error error;
    char line[80];
    for ( int i = target->limb_count; i < TR_LIMB_VALUES; ++i ) {
        snprintf( line, sizeof line, "cast_limb id=p01 limb=leg_%d value=1", i );
        apply( document, line );
    }
    assert_false( tr_document_apply( document, "cast_limb id=p01 limb=one_more value=1", &error ) );
    assert_int_equal( target->limb_count, TR_LIMB_VALUES );
    tr_document_destroy( document );
}

// ---------------------------------------------------------------------------------------------- errors

static const struct {
    const char *line;
    int column;
    const char *path, *sentence;
} refused[] = {
    { "cast_ad id=p03 file=a", 1, "", "there is no op \"cast_ad\"; did you mean \"cast_add\"?" },
    { "  dance", 3, "", "`troupe ops` lists them" },
    { "", 1, "", "there is no op on this line" },
    { "# only a comment", 1, "", "there is no op on this line" },
    { "scene_set fps=30\nscene_set fps=20", 0, "", "an op is one line" },
    { "cast_add id=p03", 1, "", "cast_add needs file=" },
    { "cast_add id=p03 fil=a.bvh", 17, "", "did you mean \"file\"?" },
    { "cast_colour id=p01 hue=3", 20, "", "its keys are id, colour" },
    { "cast_add id=p03 file", 17, "", "not of the form key=value" },
    { "cast_add id=p03 file =a", 17, "", "not of the form key=value" },
    { "cast_add id=p03 id=p04 file=a", 17, "", "id is given twice" },
    { "cast_add id=p03 file=\"a.bvh", 22, "", "the quote is not closed" },
    { "cast_add id=p03 file=\"a\"b", 25, "", "a blank is needed behind the closing quote" },
    { "cast_add id=p01 file=a", 13, "cast[2].id", "already the id of cast[0]" },
    { "cast_add id=box01 file=a", 13, "cast[2].id", "already the id of props[0]" },
    { "cast_add id=P3 file=a", 13, "cast[2].id", "is no id" },
    { "cast_add id=a2345678901234567890123456789012 file=a", 13, "", "id: is longer than 31 bytes" },
    { "cast_add id=p03 file=\"\"", 22, "cast[2].source.file", "needs a motion file" },
    { "cast_add id=p03 file=\xff\xfe", 22, "cast[2].source.file", "valid UTF-8" },
    { "cast_add id=p03 file=a scale=big", 30, "", "scale: must be a number" },
    { "cast_add id=p03 file=a scale=nan", 30, "", "scale: must be a number" },
    { "cast_add id=p03 file=a scale=1e999", 30, "", "scale: must be a number" },
    { "cast_add id=p03 file=a scale=1000", 30, "cast[2].target.scale", "must lie between 0.01 and 100" },
    { "cast_add id=p03 file=a position=1,2", 33, "", "position: must be three numbers" },
    { "cast_add id=p03 file=a position=1,2,3,4", 33, "", "position: must be three numbers" },
    { "cast_add id=p03 file=a first=1.5", 30, "", "first: must be a whole number" },
    { "cast_source id=p01 first=9 last=3", 33, "cast[0].source.last", "before the first frame" },
    { "cast_place id=p05 heading=3", 15, "", "there is no cast member \"p05\"; did you mean \"p01\"?" },
    { "cast_place id=elephant heading=3", 15, "", "there is no cast member \"elephant\"" },
    { "cast_place id=p01", 1, "", "cast_place is given nothing to set" },
    { "cast_automatic id=p01 soles=yes", 29, "", "soles: must be true or false" },
    { "cast_limb id=p01 limb=tail value=", 23, "", "there is no entry for \"tail\"" },
    { "cast_limb id=p01 limb=tail value=long", 34, "", "value: must be a number" },
    { "cast_limb id=p01 limb=Tail value=1", 23, "cast[0].target.limbs", "is no name of a limb" },
    { "cast_rename id=p01 to=p02", 23, "cast[0].id", "already the id of cast[1]" },
    { "open scene=box_relay", 1, "", "open stands once" },
    { "cast_rename id=p01 to=ground", 23, "cast[0].id", "the floor" },
    { "scene_set range=9,3", 17, "range", "ends before it begins" },
    { "scene_set ground=1e6", 18, "environment.ground", "must lie between" },
    { "constraint_add id=c kind=touch a=p01.X", 26, "", "is no kind of constraint" },
    { "constraint_add id=c kind=length a=p01.X surface=step", 49, "", "does not belong" },
    { "constraint_add id=c kind=relative a=p01.X", 1, "constraints[7].b", "a point is needed" },
    { "constraint_add id=c kind=relative a=p01.X b=p09.Y", 45, "constraints[7].b", "did you mean \"p01\"?" },
    { "constraint_add id=c kind=absolute a=p01.X*2", 37, "constraints[7].a", "sum to 2" },
    { "constraint_set id=arm a=p01.'X", 25, "", "a: the quote before" },
    { "constraint_set id=sole rotation=0,0,0,0", 33, "", "no rotation" },
    { "clip_add id=c cast=box01 file=a.bvh", 20, "clips[2].cast", "there is no cast member \"box01\"" },
    { "clip_set id=turn file=", 23, "clips[0].source.file", "a clip needs a motion file" },
    { "clip_set id=turn first=9 last=3", 31, "clips[0].source.last", "before the first frame" },
    { "clip_set id=turn blend=-2", 24, "clips[0].blend", "must lie between" },
    { "drive_add id=d cast=box01 joint=a", 21, "drives[1].cast", "there is no cast member \"box01\"" },
    { "drive_add id=d cast=p01 joint=", 31, "drives[1].joint", "needs a joint of the target" },
    { "example_add id=e cast=box01 source=1 target=1", 23, "examples[2].cast",
      "there is no cast member \"box01\"" },
    { "example_add id=e cast=p02 source=1 target=1", 23, "examples[2].cast", "p02 has no target.skeleton" },
    { "example_add id=e cast=p01 source=1 target=1 pose=Head@0,30", 50, "examples[2].pose",
      "an offset is three numbers" },
    { "example_add id=e cast=p01 source=1 target=1 pose=Head@0,30,0;", 50, "examples[2].pose",
      "a joint is missing behind the last ;" },
    { "example_add id=e cast=p01 source=1 target=1 pose=Head@0,300,300", 50, "examples[2].pose",
      "Head is turned by more than 360 degrees" },
    { "example_add id=e cast=p01 source=40 target=3", 34, "examples[2].source",
      "examples \"raised\" and \"e\" are the same pair; remove one" },
    { "example_add id=e cast=p01 source=40 target=2", 34, "examples[2].source",
      "have the same pose of the source and different poses of the target" },
    { "part_set id=trunk target_last=", 31, "parts[0].target.last", "a joint is needed here" },
    { "drive_add id=d cast=p01 joint=Spine1", 31, "drives[1].joint", "is driven by drives[0] already" },
    { "clip_move id=turn before=x", 26, "", "there is no clip \"x\"" },
    { "obstacle_scale scale=0", 22, "environment.boxes[0].scale", "must lie between" },
    { "obstacle_scale scale=2 members=p01", 32, "", "there is no such thing in the environment" },
    { "obstacle_scale scale=2 about=1,2", 30, "", "about: must be three numbers" },
    { "obstacle_set id=step shape=ball", 28, "", "shape: \"ball\" is no shape of obstacle" },
    { "obstacle_set id=step shape=sphere size=1,2,1", 40, "environment.boxes[0].size",
      "three equal numbers" },
    { "obstacle_set id=step shape=mesh", 1, "environment.boxes[0].mesh.file", "a mesh needs a file" },
    { "obstacle_set id=step points=0,0,0;1,1,1", 29, "", "does not belong to an obstacle of shape box" },
    { "obstacle_set id=step shape=polyline points=0,0;1,1,1", 44, "",
      "points: must be rows of three numbers" },
    { "obstacle_set id=step shape=polyline points=0,0,0;", 44, "", "points: must be rows of three numbers" },
    { "constraint_set id=place target= keys=3,0,0,0;2,0,0,0", 38, "constraints[3].keys",
      "order of their frames" },
    { "pair_add id=c kind=touch a=p01", 20, "", "is no kind of pair" },
    { "pair_add id=c kind=link a=p01", 1, "pairs[2].b", "a link needs a member at its other end" },
    { "pair_add id=c kind=link a=p01 b=p03", 33, "pairs[2].b", "did you mean \"p01\"?" },
    { "pair_add id=c kind=pass a=p01 b=ground", 33, "pairs[2].b", "the ground is no partner" },
    { "pair_add id=c kind=pass a=p01 b=groun", 33, "pairs[2].b",
      "there is no cast member, prop or obstacle \"groun\"" },
    { "pair_add id=c kind=limit a=p01 b=p01", 34, "pairs[2].b", "cannot be its own partner" },
    { "pair_add id=c kind=pass a=box01 b=step", 35, "pairs[2].b", "has to be a cast member" },
    { "pair_add id=stab kind=pass a=p01", 13, "pairs[2].id", "already the id of pairs[0]" },
    { "pair_set id=stab range=9,3", 24, "pairs[0].range", "ends before it begins" },
    { "layer_set id=bend members=p09", 27, "layers[0].members", "did you mean \"p01\"?" },
    { "layer_set id=bend ripple=true", 26, "", "ripple: does not belong to a layer of kind cage" },
    { "layer_set id=bend kind=retime", 1, "handles[0].layer", "handles belong to layers of kind cage" },
    { "layer_move id=bend before=benc", 27, "", "did you mean \"bend\"?" },
    { "section_set id=middle delay=3", 29, "sections[0].delay", "stays in time" },
    { "handle_set id=grip turn=0,9,0", 25, "handles[1].turn", "only a whole section" },
    { "handle_add id=grip layer=bend frame=1", 15, "handles[2].id", "already the id of handles[1]" },
    { "handle_add id=h layer=bned frame=1", 23, "handles[2].layer", "did you mean \"bend\"?" },
};

static void errors_point_at_the_place( void **state )
{
    (void)state;
    tr_document *document = start();
    tr_scene before = snapshot( document );
    int log_count = tr_document_log_count( document );
    for ( size_t i = 0; i < sizeof refused / sizeof *refused; ++i ) {
        tr_error error = { 0 };
        if ( tr_document_apply( document, refused[i].line, &error ) )
            fail_msg( "accepted: %s", refused[i].line );
        if ( error.column != refused[i].column || strcmp( error.path, refused[i].path ) != 0 ||
             strstr( error.message, refused[i].sentence ) == NULL )
            fail_msg( "%s\n gave %d: %s: %s", refused[i].line, error.column, error.path, error.message );
        assert_true( tr_scene_equal( tr_document_scene( document ), &before ) );
    }
    assert_int_equal( tr_document_log_count( document ), log_count );
    tr_scene_free( &before );
    tr_document_destroy( document );
}

static void scripts_tell_file_and_line( void **state )
{
    (void)state;
    tr_document *document = start();
    static const char script[] = "\xEF\xBB\xBF# opening\r\n\r\n"
                                 "  cast_place id=p01 heading=3 # turn\r\n"
                                 "\tcast_place id=p01 haeding=3\n"
                                 "cast_place id=p01 heading=4";
    tr_error error = { 0 };
    char text[800];
    assert_false( tr_document_run( document, script, sizeof script - 1, "turn.ops", &error ) );
    tr_error_print( &error, text, sizeof text );
    assert_string_equal( text,
                         "turn.ops:4:20: cast_place has no key \"haeding\"; did you mean \"heading\"?" );
    check_near( tr_document_scene( document )->cast[0].heading, 3, 0 ); // the lines before stay
    assert_false( tr_document_run( document, "scene_set\0", 10, "nul.ops", &error ) );
    assert_true( error.line == 1 && error.column == 10 );
    tr_document_destroy( document );

    tr_scene broken = tr_default_scene();
    broken.fps = -1;
    assert_null( tr_document_create( &broken, &error ) );
    assert_string_equal( error.path, "fps" );
}

static void memory_may_run_out( void **state )
{
    (void)state;
    for ( size_t i = 0; i < sizeof samples / sizeof *samples; ++i ) {
        tr_document *document = start();
        tr_scene before = snapshot( document );
        tr_error error;
        bool done = false;
        for ( long n = 1; !done; ++n ) {
            tr_memory_fail_from( n );
            done = tr_document_apply( document, samples[i], &error );
            tr_memory_fail_from( 0 );
            if ( !done ) {
                assert_string_equal( error.message, "out of memory" );
                assert_true( tr_scene_equal( tr_document_scene( document ), &before ) );
            }
            assert_true( n < 1000 );
        }
        tr_memory_fail_from( 1 ); // undo and redo need none
        assert_true( tr_document_undo( document ) );
        assert_true( tr_document_redo( document ) );
        assert_true( tr_document_undo( document ) );
        tr_memory_fail_from( 0 );
        assert_true( tr_scene_equal( tr_document_scene( document ), &before ) );
        tr_scene_free( &before );
        tr_document_destroy( document );
    }
    tr_scene empty = tr_default_scene();
    tr_error error;
    tr_document *document = NULL;
    for ( long n = 1; document == NULL; ++n ) {
        tr_memory_fail_from( n );
        document = tr_document_create( &empty, &error );
        tr_memory_fail_from( 0 );
    }
    tr_document_destroy( document );
}

// --------------------------------------------------------------------------------------------- histories

static void joined_ops_are_one_step( void **state )
{
    (void)state;
    tr_document *document = start();
    tr_scene before, after;
    tr_error error;
    check_ok( tr_scene_copy( &before, tr_document_scene( document ), &error ), &error );
    int count = tr_document_log_count( document );
    apply( document, "scene_set ground=0.5" );
    apply( document, "scene_set ground=0.7" );
    apply( document, "scene_set fps=25" );
    apply( document, "scene_set ground=0.9" );
    tr_document_join( document, 3 );
    check_ok( tr_scene_copy( &after, tr_document_scene( document ), &error ), &error );
    assert_int_equal( tr_document_log_count( document ), count + 4 );
    assert_true( tr_document_undo( document ) ); // the last three
    assert_int_equal( tr_document_log_count( document ), count + 1 );
    assert_int_equal( tr_document_redo_count( document ), 3 );
    assert_string_equal( tr_document_undone( document, 1 ), "scene_set fps=25" );
    assert_null( tr_document_undone( document, 3 ) );
    check_near( tr_document_scene( document )->ground, 0.5, 0 );
    assert_true( tr_document_redo( document ) );
    assert_true( tr_scene_equal( tr_document_scene( document ), &after ) );
    assert_true( tr_document_undo( document ) );
    assert_true( tr_document_undo( document ) );
    assert_true( tr_scene_equal( tr_document_scene( document ), &before ) );
    tr_scene_free( &before );
    tr_scene_free( &after );
    tr_document_destroy( document );
}

static void history_is_bounded( void **state )
{
    (void)state;
    tr_document *document = start();
    tr_error error;
    char line[80];
    size_t live = tr_memory_live();
    tr_document_limit_history( document, 4000 );
    for ( int i = 0; i < 1000; ++i ) {
        snprintf( line, sizeof line, "cast_place id=p01 position=%d,0,0 heading=%d", i, i );
        apply( document, line );
    }
    // What grows is the log: a step and its line, in arrays that double.
    assert_true( tr_memory_live() < live + 1000 * ( sizeof line + 2 * 64 ) );
    int undone = 0;
    while ( tr_document_undo( document ) )
        ++undone;
    assert_true( undone >= 1 && undone < 1000 );
    check_near( tr_document_scene( document )->cast[0].heading, 999 - undone, 0 );
    while ( tr_document_redo( document ) )
        --undone;
    assert_int_equal( undone, 0 );
    tr_document_limit_history( document, 0 );
    assert_true( tr_document_undo( document ) ); // the last step always
    assert_false( tr_document_undo( document ) );

    tr_scene empty = tr_default_scene(); // the log is whole all the same
    tr_document *replay = tr_document_create( &empty, &error );
    for ( int i = 0; i < tr_document_log_count( document ); ++i )
        apply( replay, tr_document_log( document, i ) );
    assert_true( tr_scene_equal( tr_document_scene( document ), tr_document_scene( replay ) ) );
    assert_null( tr_document_log( document, -1 ) );
    assert_null( tr_document_log( document, tr_document_log_count( document ) ) );
    tr_document_destroy( replay );
    tr_document_destroy( document );
}

static uint64_t random_state;

static int random_below( int bound ) // the same sequence everywhere
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)( ( random_state >> 33 ) % (uint64_t)bound );
}

static const char *pick( const char *const *words )
{
    int count = 0;
    while ( words[count] != NULL )
        ++count;
    return words[random_below( count )];
}

static const char *random_text( const char *op, const char *key )
{
    static const char *const points[] = {
        "p01.Hand", "p02.Head@0,0.1,0", "p03.A*0.5+B*0.5", "box01@0.2,0,0", "box02", "p02", "p04.X", "wrong.",
        NULL };
    static const char *const ups[] = { "y", "z", "x", NULL };
    static const char *const axes[] = { "x", "xz", "xyz", "q", NULL };
    static const char *const colours[] = { "#102030", "#ffeedd", "grey", NULL };
    static const char *const files[] = { "a.bvh", "b/c.bvh", "\"with blank.bvh\"", NULL };
    if ( strcmp( key, "kind" ) == 0 )
        return pick( strncmp( op, "pair", 4 ) == 0 ? tr_pair_kind_names : tr_constraint_kind_names );
    if ( key[1] == 0 )
        return pick( points );
    return pick( strcmp( key, "up" ) == 0       ? ups
                 : strcmp( key, "axes" ) == 0   ? axes
                 : strcmp( key, "colour" ) == 0 ? colours
                                                : files );
}

static const char *random_id( const char *op, const char *key )
{
    static const char *const cast[] = { "p01", "p02", "p03", "p04", NULL };
    static const char *const props[] = { "box01", "box02", "box03", NULL };
    static const char *const obstacles[] = { "step", "wall", "block", NULL };
    static const char *const rules[] = { "hand", "foot", "pair", "place", "sole", "arm", "balance", NULL };
    static const char *const surfaces[] = { "ground", "step", "box01", "p01", NULL };
    static const char *const partners[] = { "p01", "p02", "box01", "step", "p09", NULL };
    static const char *const pairs[] = { "stab", "apart", "near", NULL };
    static const char *const limbs[] = { "left_arm", "legs", "tail", NULL };
    if ( strcmp( key, "surface" ) == 0 )
        return pick( surfaces );
    if ( strcmp( key, "limb" ) == 0 )
        return pick( limbs );
    if ( key[1] == 0 )
        return pick( partners );
    return pick( strncmp( op, "prop", 4 ) == 0   ? props
                 : op[0] == 'o'                  ? obstacles
                 : strncmp( op, "cast", 4 ) == 0 ? cast
                 : strncmp( op, "pair", 4 ) == 0 ? pairs
                                                 : rules );
}

static void add_random_value( char *line, size_t size, const tr_op_info *op, const tr_op_param *param )
{
    size_t used = strlen( line );
    char *out = line + used;
    size_t room = size - used;
    int a = random_below( 40 ) - 5, b = random_below( 100 ), c = random_below( 9 );
    switch ( param->type ) {
    case TR_OP_ID: snprintf( out, room, "%s", random_id( op->name, param->key ) ); break;
    case TR_OP_TEXT: snprintf( out, room, "%s", random_text( op->name, param->key ) ); break;
    case TR_OP_NUMBER: snprintf( out, room, "%d.%d%d", a, b, c ); break;
    case TR_OP_INT: snprintf( out, room, "%d", a ); break;
    case TR_OP_BOOL: snprintf( out, room, "%s", c % 2 == 0 ? "true" : "false" ); break;
    case TR_OP_PAIR: snprintf( out, room, "%d,%d", a, b ); break;
    case TR_OP_VEC3: snprintf( out, room, "%d.%d,%d,0.%d", c, b, b, c ); break;
    case TR_OP_QUAT: snprintf( out, room, "0,0.%d,0,0.%d", b, c ); break;
    }
}

static void random_line( char *line, size_t size )
{
    int count;
    const tr_op_info *op = &tr_op_table( &count )[random_below( count )];
    if ( strstr( op->name, "remove" ) != NULL ) // rarer, or little is left
        op = &tr_op_table( &count )[random_below( count )];
    snprintf( line, size, "%s", op->name );
    for ( int i = 0; i < op->param_count; ++i ) {
        if ( !op->params[i].required && random_below( 4 ) != 0 )
            continue;
        size_t used = strlen( line );
        snprintf( line + used, size - used, " %s=", op->params[i].key );
        if ( op->params[i].required || random_below( 8 ) != 0 )
            add_random_value( line, size, op, &op->params[i] );
    }
}

static void check_replay( const tr_document *document )
{
    tr_error error;
    tr_scene empty = tr_default_scene();
    tr_document *replay = tr_document_create( &empty, &error );
    for ( int i = 0; i < tr_document_log_count( document ); ++i )
        apply( replay, tr_document_log( document, i ) );
    tr_text a = { 0 }, b = { 0 };
    check_ok( tr_scene_print( tr_document_scene( document ), &a, &error ), &error );
    check_ok( tr_scene_print( tr_document_scene( replay ), &b, &error ), &error );
    assert_string_equal( a.data, b.data );
    assert_true( tr_scene_equal( tr_document_scene( document ), tr_document_scene( replay ) ) );
    tr_text_free( &a );
    tr_text_free( &b );
    tr_document_destroy( replay );
}

static void random_walks_replay_to_the_same( void **state )
{
    (void)state;
    random_state = 42;
    tr_document *document = start();
    int applied = 0, refused_count = 0;
    for ( int n = 0; n < 3000; ++n ) {
        char line[1200];
        tr_error error;
        int choice = random_below( 10 );
        if ( choice == 0 )
            for ( int k = random_below( 12 ); k > 0 && tr_document_log_count( document ) > 15; --k )
                tr_document_undo( document );
        else if ( choice == 1 )
            for ( int k = random_below( 12 ); k > 0; --k )
                tr_document_redo( document );
        random_line( line, sizeof line );
        tr_scene before = snapshot( document );
        bool ok = choice > 1 && tr_document_apply( document, line, &error );
        applied += ok;
        if ( choice > 1 && !ok ) {
            ++refused_count;
            assert_true( error.message[0] != 0 && error.column > 0 );
            assert_true( tr_scene_equal( tr_document_scene( document ), &before ) );
        }
        tr_scene_free( &before );
        if ( n % 100 == 99 )
            check_replay( document );
    }
    assert_true( applied > 300 && refused_count > 300 ); // both ways are walked
    tr_document_destroy( document );
}

// ----------------------------------------------------------------------------------------------- table

// Ops are named after what they work on; the field of a parameter has to be one of the format.
static void check_field( const char *op, const char *field )
{
    static const char *const lists[][2] = { { "cast_", "cast[]." },
                                            { "prop_", "props[]." },
                                            { "obstacle_", "environment.boxes[]." },
                                            { "constraint_", "constraints[]." },
                                            { "layer_", "layers[]." },
                                            { "section_", "sections[]." },
                                            { "handle_", "handles[]." },
                                            { "clip_", "clips[]." },
                                            { "pair_", "pairs[]." },
                                            { "drive_", "drives[]." },
                                            { "example_", "examples[]." },
                                            { "part_", "parts[]." },
                                            { "scene_", "" } };
    tr_text paths = { 0 };
    char line[120] = "";
    tr_text_add( &paths, "\n" );
    tr_scene_print_paths( &paths );
    for ( size_t i = 0; i < sizeof lists / sizeof *lists; ++i )
        if ( strncmp( op, lists[i][0], strlen( lists[i][0] ) ) == 0 )
            snprintf( line, sizeof line, "\n%s%s\n", lists[i][1], field );
    if ( line[0] == 0 || strstr( paths.data, line ) == NULL )
        fail_msg( "%s sets %s, which does not exist", op, field );
    tr_text_free( &paths );
}

static void the_table_is_in_order( void **state )
{
    (void)state;
    int count;
    const tr_op_info *ops = tr_op_table( &count );
    for ( int i = 0; i < count; ++i ) {
        assert_true( strlen( ops[i].help ) > 0 && ops[i].help[strlen( ops[i].help ) - 1] == '.' );
        for ( int j = 0; j < i; ++j )
            assert_string_not_equal( ops[i].name, ops[j].name );
        for ( int p = 0; p < ops[i].param_count; ++p ) {
            assert_true( strlen( ops[i].params[p].help ) > 0 );
            if ( ops[i].params[p].field != NULL )
                check_field( ops[i].name, ops[i].params[p].field );
            for ( int q = 0; q < p; ++q )
                assert_string_not_equal( ops[i].params[p].key, ops[i].params[q].key );
        }
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( the_table_is_in_order ),
        TEST( every_op_applies_undoes_and_redoes ),
        TEST( removing_a_body_removes_its_constraints ),
        TEST( who_joins_gets_a_free_colour ),
        TEST( renaming_is_followed ),
        TEST( surroundings_are_scaled_together ),
        TEST( pairs_follow_their_bodies ),
        TEST( clips_follow_their_cast_member ),
        TEST( layers_follow_bodies_and_bring_their_parts ),
        TEST( layers_change_places ),
        TEST( a_new_kind_keeps_what_both_have ),
        TEST( limbs_come_and_go ),
        TEST( errors_point_at_the_place ),
        TEST( scripts_tell_file_and_line ),
        TEST( memory_may_run_out ),
        TEST( joined_ops_are_one_step ),
        TEST( history_is_bounded ),
        TEST( random_walks_replay_to_the_same ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
