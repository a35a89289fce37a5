// Ops: every row of the table, undo and redo, scripts and their errors, memory that runs out.
#include "check.h"

#include "scene/scene.h"

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
    "constraint_add id=balance kind=centre_of_mass a=p02\n";

// One line for every row of the op table, valid in the scene above.
static const char *const samples[] = {
    "scene_set fps=24 range=-10,90 ground=-1",
    "cast_add id=p03 file=p03.bvh unit=0.05644 up=z first=1 last=-1 scale=1.2 position=1,2,3 heading=-45 "
    "start=7 colour=#010203",
    "cast_remove id=p01",
    "cast_rename id=p01 to=anna",
    "cast_copy id=p01 to=p03 position=5,0,0 heading=10 start=3 colour=#ffffff",
    "cast_source id=p01 file=other.bvh unit= up=z first=0 last=9",
    "cast_scale id=p01 scale=1.3 path_scale=1.1",
    "cast_limb id=p01 limb=legs value=0.7",
    "cast_girth id=p01 limb=torso value=",
    "cast_skeleton id=p02 file=ogre.bvh unit=1 up=y first=2 last=3",
    "cast_mapping id=p02 file=ogre.map.json",
    "cast_place id=p02 position=0.1,0,-2.5 heading=12.5 start=-4",
    "cast_colour id=p02 colour=#00ff7f",
    "cast_automatic id=p02 contacts=false lengths=false soles=false balance=true",
    "prop_add id=box03 size=1,2,3 scale=0.5 file=b.bvh position=1,1,1 heading=5 start=2 colour=#112233",
    "prop_set id=box01 size=0.1,0.1,0.1 file= scale=2 position=0,1,0",
    "prop_track id=box02 file=t.bvh unit=0.01 up=y first=3 last=8",
    "prop_remove id=box01",
    "prop_rename id=box01 to=crate",
    "prop_copy id=box01 to=box03 colour=#ff0000",
    "obstacle_add id=wall size=5,3,0.2 position=0,1.5,-4 heading=30 colour=#cccccc",
    "obstacle_set id=step position=0,0.2,3 heading=15",
    "obstacle_remove id=step",
    "obstacle_rename id=step to=stair",
    "obstacle_copy id=step to=step2 position=0,0.3,4",
    "constraint_add id=look kind=orientation a=p01.Head rotation=0,0.6,0,0.8 range=5,50 ease=1.5,2",
    "constraint_set id=hand kind=absolute target=0,1,0 ease=",
    "constraint_remove id=pair",
    "constraint_rename id=pair to=couple",
    "constraint_copy id=hand to=hand2 a=p02.RightHand partner_space=true",
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

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( every_op_applies_undoes_and_redoes ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
