// Bodies that move by examples, from the document to the result.
#include "check.h"
#include "scenes/scenes.h"

#include <string.h>

typedef struct trial {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_log log;
} trial;

static void start( trial *t, const char *name )
{
    tr_error error;
    *t = ( trial ){ 0 };
    check_ok( tr_scene_build( tr_scene_entry_find( name ), 0, &t->scene, &t->library, &error ), &error );
}

static void stage( trial *t )
{
    tr_error error;
    check_ok( tr_stage_build( &t->stage, &t->scene, NULL, &t->library, &t->log, &error ), &error );
}

static void end( trial *t )
{
    tr_stage_free( &t->stage );
    tr_scene_free( &t->scene );
    tr_library_free( &t->library );
    tr_log_free( &t->log );
}

// At an example's frame every joint that goes by examples has the example's rotation; the root's is seen from
// where the performer's hips face. Turned by aim, chains of parts may differ.
static void the_proposed_motion_is_exact_at_examples( void **state )
{
    (void)state;
    trial t;
    start( &t, "elephant" );
    for ( int p = 0; p < t.scene.part_count; ++p )
        t.scene.parts[p].aim = 0;
    stage( &t );
    const tr_actor *actor = &t.stage.actors[0];
    const tr_actor_examples *e = actor->examples;
    assert_non_null( e );
    assert_int_equal( e->pair_count, 11 );
    const tr_motion *poses = tr_library_find( &t.library, t.scene.cast[0].target.skeleton.file );
    for ( int i = 0; i < e->pair_count; ++i ) {
        int frame = e->frames[i];
        assert_int_equal( frame, t.scene.examples[e->pairs[i]].source );
        const quat *pose = tr_clip_frame( &poses->clip, t.scene.examples[e->pairs[i]].target ),
                   *made = tr_clip_frame( &actor->source.clip, frame );
        quat facing = tr_exemplar_facing( e->exemplar, tr_world_pose( &e->world, frame ) );
        for ( int j = 0; j < actor->target.joint_count; ++j )
            check_rotation( made[j], j == 0 ? q_mul( facing, pose[0] ) : pose[j], 0.01 * TR_DEGREE );
        check_near( e->unlike[frame], 0, 1e-6 );
    }
    end( &t );
}

static void aim_one_follows_the_source( void **state )
{
    (void)state;
    trial t;
    start( &t, "elephant" );
    t.scene.parts[0].aim = 1;
    stage( &t );
    const tr_actor *actor = &t.stage.actors[0];
    quat local[128];
    for ( int f = 0; f < t.stage.frame_count; ++f ) {
        tr_pose source = tr_world_pose( &actor->examples->world, f );
        memcpy( local, tr_clip_frame( &actor->source.clip, f ),
                (size_t)actor->target.joint_count * sizeof( quat ) );
        local[0] = q_mul( q_conj( tr_exemplar_facing( actor->examples->exemplar, source ) ), local[0] );
        check_near( tr_exemplar_part_error( actor->examples->exemplar, 0, source, local ), 0, 1e-6 );
    }
    end( &t );
}

// While a foot of the performer stands, so do the target's that go with it: at one place, on the floor.
static void feet_stand_still( void **state )
{
    (void)state;
    trial t;
    tr_error error;
    tr_result result;
    start( &t, "elephant" );
    stage( &t );
    check_ok( tr_pipeline_run( &result, &t.stage, tr_method_find( "posegraph" ), &error ), &error );
    const tr_actor *actor = &t.stage.actors[0];
    bool stood[128] = { false };
    for ( int c = 0; c < actor->contacts.count; ++c ) {
        const tr_contact *contact = &actor->contacts.items[c];
        stood[contact->joint] = true;
        vec3 first = tr_world_pose( &result.worlds[0], contact->first ).positions[contact->joint];
        check_near( first.y, actor->examples->soles[contact->joint], 1e-3 );
        for ( int f = contact->first; f <= contact->last; ++f )
            check_v3( tr_world_pose( &result.worlds[0], f ).positions[contact->joint], first, 1e-3 );
    }
    int feet = 0;
    for ( int j = 0; j < actor->target.joint_count; ++j )
        feet += stood[j];
    assert_int_equal( feet, 4 );
    tr_result_free( &result );
    end( &t );
}

static void drives_count_before_examples( void **state )
{
    (void)state;
    trial t;
    start( &t, "elephant" );
    tr_drive drive = tr_default_drive( "head", "ella" );
    strcpy( drive.joint, "Head" );
    strcpy( drive.source, "Head" );
    assert_non_null( tr_scene_add_drive( &t.scene, &drive ) );
    stage( &t );
    const tr_actor *actor = &t.stage.actors[0];
    int head = tr_skeleton_find( &actor->target, "Head" );
    assert_false( actor->examples->made[head] );
    assert_true( actor->examples->made[0] );
    end( &t );
    start( &t, "elephant" );
    t.scene.cast[0].target.examples = false; // the trunk alone
    stage( &t );
    actor = &t.stage.actors[0];
    assert_false( actor->examples->made[0] );
    assert_true( actor->examples->made[tr_skeleton_find( &actor->target, "Trunk3" )] );
    end( &t );
}

// ---------------------------------------------------------------------------------------------- bad input

static void refused( trial *t, const char *path, const char *sentence )
{
    tr_error error = { 0 };
    assert_false( tr_stage_build( &t->stage, &t->scene, NULL, &t->library, NULL, &error ) );
    assert_string_equal( error.path, path );
    if ( strstr( error.message, sentence ) == NULL )
        fail_msg( "%s", error.message );
    end( t );
}

static void bad_input_gets_a_sentence( void **state )
{
    (void)state;
    trial t;
    start( &t, "elephant" );
    t.scene.examples[2].source = 999;
    refused( &t, "examples[2].source", "frame 999 is asked for, but the source's file has frames 0 to 240" );
    start( &t, "elephant" );
    t.scene.examples[2].target = 12;
    refused( &t, "examples[2].target", "frame 12 is asked for, but the target's file has frames 0 to 11" );
    start( &t, "elephant" );
    strcpy( t.scene.parts[0].target_last, "Snout" );
    refused( &t, "parts[0].target.last", "the target skeleton of ella has no joint \"Snout\"" );
    start( &t, "elephant" );
    strcpy( t.scene.parts[0].source_first, "Trunk1" );
    refused( &t, "parts[0].source.first", "the source skeleton of ella has no joint \"Trunk1\"" );
    start( &t, "elephant" );
    strcpy( t.scene.parts[0].target_last, "Tail1" );
    refused( &t, "cast[0].target.examples", "its target joints are no chain" );
    start( &t, "elephant" );
    t.scene.examples[1].source = t.scene.examples[0].source;
    refused( &t, "examples[1].source", "have the same pose of the source and different poses" );
}

static void one_example_is_told_of( void **state )
{
    (void)state;
    trial t;
    start( &t, "elephant" );
    for ( int i = 1; i < t.scene.example_count; ++i )
        t.scene.examples[i].muted = true;
    stage( &t );
    assert_null( t.stage.actors[0].examples );
    assert_int_equal( t.log.count, 1 );
    assert_string_equal( t.log.lines[0], "ella has one example; it moves by examples from two on" );
    end( &t );
}

static void memory_may_run_out( void **state )
{
    (void)state;
    trial t;
    start( &t, "elephant" );
    t.scene.last = 40;
    bool done = false;
    for ( long n = 1; !done; n += 1 + n / 8 ) {
        tr_error error = { 0 };
        tr_memory_fail_from( n );
        done = tr_stage_build( &t.stage, &t.scene, NULL, &t.library, NULL, &error );
        tr_memory_fail_from( 0 );
        assert_true( done || error.message[0] != 0 );
    }
    end( &t );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( the_proposed_motion_is_exact_at_examples ),
        TEST( aim_one_follows_the_source ),
        TEST( feet_stand_still ),
        TEST( drives_count_before_examples ),
        TEST( bad_input_gets_a_sentence ),
        TEST( one_example_is_told_of ),
        TEST( memory_may_run_out ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
