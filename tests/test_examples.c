// Bodies that move by examples, from the document to the result.
#include "folder.h"

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

static double sole_at( const tr_stage *stage, int joint, int frame )
{
    return stage->actors[0].examples->soles[(size_t)joint * (size_t)stage->frame_count + (size_t)frame];
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
        for ( int f = contact->first; f <= contact->last; ++f ) {
            first.y = sole_at( &t.stage, contact->joint, f );
            check_v3( tr_world_pose( &result.worlds[0], f ).positions[contact->joint], first, 1e-3 );
        }
    }
    int feet = 0;
    for ( int j = 0; j < actor->target.joint_count; ++j )
        feet += stood[j];
    assert_int_equal( feet, 4 );
    tr_result_free( &result );
    end( &t );
}

// An elephant, a person and a rabbit hand a box along: whoever holds it touches it, and nothing pops.
static void a_box_goes_from_hand_to_hand( void **state )
{
    (void)state;
    trial t;
    tr_error error;
    tr_result result;
    start( &t, "menagerie" );
    stage( &t );
    check_ok( tr_pipeline_run( &result, &t.stage, tr_method_find( "posegraph" ), &error ), &error );
    int held[256] = { 0 }, holds = 0;
    assert_true( t.stage.frame_count <= 256 );
    for ( int r = 0; r < t.stage.rule_count; ++r ) {
        const tr_rule *rule = &t.stage.rules[r];
        if ( rule->kind != TR_CONSTRAINT_RELATIVE )
            continue;
        ++holds;
        for ( int f = rule->first; f <= rule->last; ++f ) {
            vec3 hand = v3_zero;
            for ( int k = 0; k < rule->a.count; ++k )
                hand =
                    v3_mad( hand, rule->a.weights[k],
                            tr_world_pose( &result.worlds[rule->a.actor], f ).positions[rule->a.joints[k]] );
            vec3 grip = rigid_apply( result.tracks[0][f], rule->b.offset );
            assert_true( v3_distance( hand, grip ) < 0.02 );
            held[f] += 1;
        }
    }
    assert_int_equal( holds, 5 );
    rigid first = result.tracks[0][0], last = result.tracks[0][t.stage.frame_count - 1];
    assert_true( v3_distance( first.position, last.position ) > 1.5 );
    for ( int f = 1; f < t.stage.frame_count; ++f ) // it moves in somebody's hand only
        if ( v3_distance( result.tracks[0][f].position, result.tracks[0][f - 1].position ) > 1e-3 )
            assert_true( held[f] > 0 );
    for ( int a = 0; a < t.stage.actor_count; ++a ) // metres a frame and frame: 20 m/s²
        for ( int f = 2; f < t.stage.frame_count; ++f )
            for ( int j = 0; j < t.stage.actors[a].target.joint_count; ++j ) {
                vec3 p[3];
                for ( int i = 0; i < 3; ++i )
                    p[i] = tr_world_pose( &result.worlds[a], f - i ).positions[j];
                assert_true( v3_length( v3_add( v3_sub( p[0], v3_scale( 2, p[1] ) ), p[2] ) ) <
                             20.0 / ( t.stage.fps * t.stage.fps ) );
                assert_true( p[0].y > -0.04 );
            }
    tr_result_free( &result );
    end( &t );
}

// A pose made by hand: a turn from the file's frame, which the motion shows at the pair's frame.
static void a_pair_turns_joints_from_its_frame( void **state )
{
    (void)state;
    trial t;
    tr_error error;
    start( &t, "elephant" );
    for ( int p = 0; p < t.scene.part_count; ++p )
        t.scene.parts[p].aim = 0;
    strcpy( t.scene.examples[3].pose, "Head@0,30,0;Trunk2@10,0,-5" );
    stage( &t );
    const tr_actor *actor = &t.stage.actors[0];
    const tr_motion *poses = tr_library_find( &t.library, t.scene.cast[0].target.skeleton.file );
    const quat *base = tr_clip_frame( &poses->clip, t.scene.examples[3].target );
    int frame = actor->examples->frames[3], head = tr_skeleton_find( &actor->target, "Head" ),
        trunk = tr_skeleton_find( &actor->target, "Trunk2" );
    const quat *made = tr_clip_frame( &actor->source.clip, frame );
    check_rotation( made[head], q_mul( base[head], q_axis_angle( v3_y, 30 * TR_DEGREE ) ), 1e-6 );
    check_rotation( made[trunk],
                    q_mul( base[trunk], q_from_vector( v3_scale( TR_DEGREE, v3( 10, 0, -5 ) ) ) ), 1e-6 );
    // What the motion shows there is, as text, what the pair says.
    char text[TR_POSE_MAX];
    check_ok( tr_stage_pose_text( &t.stage, 0, frame, base, made, text, &error ), &error );
    assert_string_equal( text, "Head@0,30,0;Trunk2@10,0,-5" );
    assert_int_equal( tr_stage_file_frame( &t.stage, 0, frame ), t.scene.examples[3].source );
    end( &t );
}

// A mirrored pair is one that a mirrored motion shows: the elephant's other legs, the other ear.
static void a_mirrored_pair_is_seen_in_a_mirror( void **state )
{
    (void)state;
    trial t;
    start( &t, "elephant" );
    tr_example mirrored = t.scene.examples[4];
    strcpy( mirrored.id, "mirrored" );
    mirrored.mirrored = true;
    assert_non_null( tr_scene_add_example( &t.scene, &mirrored ) );
    t.scene.part_count = 0;
    stage( &t );
    const tr_actor *actor = &t.stage.actors[0];
    const tr_actor_examples *e = actor->examples;
    int last = e->pair_count - 1;
    assert_int_equal( last, 11 );
    assert_int_equal( e->frames[last], -1 );
    quat local[128], twice[128];
    double unlike;
    tr_error error;
    tr_exemplar_pose( e->exemplar, e->sources[last], local, &unlike );
    check_near( unlike, 0, 1e-6 );
    memcpy( twice, local, sizeof twice );
    check_ok( tr_pose_mirror( &actor->target, twice, &error ), &error );
    const tr_motion *poses = tr_library_find( &t.library, t.scene.cast[0].target.skeleton.file );
    const quat *base = tr_clip_frame( &poses->clip, mirrored.target );
    for ( int j = 0; j < actor->target.joint_count; ++j )
        check_rotation( twice[j], base[j], 1e-6 );
    int left = tr_skeleton_find( &actor->target, "LeftFrontUpper" ),
        right = tr_skeleton_find( &actor->target, "RightFrontUpper" );
    quat q = base[right]; // under the spine's rotation, which the mirror changes too: compare bends
    check_near( q_angle( local[left], q_identity ), q_angle( q, q_identity ), 1e-6 );
    // Places of the source's joints are mirrored, on either side of where it faces.
    int hand = tr_skeleton_find( &e->performer.skeleton, "LeftHand" ),
        other = tr_skeleton_find( &e->performer.skeleton, "RightHand" ),
        head = tr_skeleton_find( &e->performer.skeleton, "Head" );
    vec3 a = v3_sub( e->sources[last].positions[hand], e->sources[last].positions[head] ),
         b = v3_sub( e->sources[4].positions[other], e->sources[4].positions[head] );
    check_v3( a, v3( -b.x, b.y, b.z ), 1e-6 );
    end( &t );
}

// Suggestions go on from the pairs that are there, and a pair at one of them is taken.
static void suggestions_can_become_pairs( void **state )
{
    (void)state;
    trial t;
    tr_error error;
    int frames[3];
    start( &t, "elephant" );
    stage( &t );
    assert_int_equal( tr_stage_suggest( &t.stage, 0, frames, 3, &error ), 3 );
    tr_example next = tr_default_example( "next", "ella" );
    next.source = tr_stage_file_frame( &t.stage, 0, frames[0] );
    next.target = 1;
    double before = t.stage.actors[0].examples->unlike[frames[0]];
    assert_true( before > 0 );
    assert_non_null( tr_scene_add_example( &t.scene, &next ) );
    tr_stage_free( &t.stage );
    stage( &t );
    check_near( t.stage.actors[0].examples->unlike[frames[0]], 0, 1e-6 );
    end( &t );
    // A pair that waits for a second one counts: its frame is not suggested again.
    start( &t, "elephant" );
    t.scene.example_count = 1;
    stage( &t );
    assert_null( t.stage.actors[0].examples );
    assert_int_equal( tr_stage_suggest( &t.stage, 0, frames, 3, &error ), 3 );
    for ( int i = 0; i < 3; ++i )
        assert_int_not_equal( tr_stage_file_frame( &t.stage, 0, frames[i] ), t.scene.examples[0].source );
    end( &t );
}

// A folder of results holds the performer and the pairs, so contacts are found again when it is read back.
static void a_folder_of_results_keeps_the_pairs( void **state )
{
    (void)state;
    trial t, back = { 0 };
    tr_error error;
    tr_result result, loaded;
    tr_opened opened;
    char folder[64], out[100], path[128];
    start( &t, "elephant" );
    strcpy( t.scene.examples[3].pose, "Head@0,30,0" );
    stage( &t );
    check_ok( tr_pipeline_run( &result, &t.stage, tr_method_find( "posegraph" ), &error ), &error );
    new_folder( folder );
    snprintf( out, sizeof out, "%s/out", folder );
    check_ok( tr_result_save( &t.stage, &result, "posegraph", out, &error ), &error );
    snprintf( path, sizeof path, "%s/out/scene.json", folder );
    check_ok( tr_open( &opened, path, 0, &error ), &error );
    check_ok( tr_stage_build( &back.stage, &opened.scene, path, &opened.library, NULL, &error ), &error );
    const tr_actor *a = &t.stage.actors[0], *b = &back.stage.actors[0];
    assert_int_equal( b->examples->pair_count, a->examples->pair_count );
    assert_true( b->contacts.count > 10 );
    check_ok( tr_result_load( &loaded, &back.stage, out, &error ), &error );
    for ( int c = 0; c < b->contacts.count; ++c ) { // labels of a rounded motion may differ by some frames
        const tr_contact *contact = &b->contacts.items[c];
        for ( int f = contact->first + 2; f <= contact->last - 2; ++f )
            check_near( tr_world_pose( &loaded.worlds[0], f ).positions[contact->joint].y,
                        sole_at( &back.stage, contact->joint, f ), 2e-3 );
    }
    tr_result_free( &loaded );
    tr_stage_free( &back.stage );
    tr_opened_free( &opened );
    tr_result_free( &result );
    remove_folder( folder );
    end( &t );
}

// Where map and examples mix, the folder holds both: read back, the same joints go by the same, and contacts
// are the same.
static void folder_keeps( trial *t )
{
    trial back = { 0 };
    tr_error error;
    tr_result result;
    tr_opened opened;
    char folder[64], out[100], path[128];
    stage( t );
    check_ok( tr_pipeline_run( &result, &t->stage, tr_method_find( "posegraph" ), &error ), &error );
    new_folder( folder );
    snprintf( out, sizeof out, "%s/out", folder );
    check_ok( tr_result_save( &t->stage, &result, "posegraph", out, &error ), &error );
    snprintf( path, sizeof path, "%s/out/scene.json", folder );
    check_ok( tr_open( &opened, path, 0, &error ), &error );
    check_ok( tr_stage_build( &back.stage, &opened.scene, path, &opened.library, NULL, &error ), &error );
    const tr_actor *a = &t->stage.actors[0], *b = &back.stage.actors[0];
    assert_non_null( b->examples );
    assert_int_equal( b->examples->pair_count, a->examples->pair_count );
    assert_int_equal( b->examples->part_count, a->examples->part_count );
    int same[128] = { 0 }; // files have their joints in another order
    for ( int j = 0; j < a->target.joint_count; ++j ) {
        same[j] = tr_skeleton_find( &b->target, a->target.joints[j].name );
        assert_true( same[j] >= 0 );
        assert_int_equal( b->examples->made[same[j]], a->examples->made[j] );
        for ( int f = 0; f < t->stage.frame_count; ++f )
            check_rotation( tr_clip_frame( &b->source.clip, f )[same[j]],
                            tr_clip_frame( &a->source.clip, f )[j], 1e-4 );
    }
    for ( int f = 0; f < t->stage.frame_count; ++f )
        check_v3( b->source.clip.root[f], a->source.clip.root[f], 1e-4 );
    assert_int_equal( b->contacts.count, a->contacts.count );
    for ( int c = 0; c < a->contacts.count; ++c ) {
        const tr_contact *contact = &a->contacts.items[c];
        bool found = false;
        for ( int k = 0; k < b->contacts.count; ++k )
            found = found || ( b->contacts.items[k].joint == same[contact->joint] &&
                               b->contacts.items[k].first == contact->first &&
                               b->contacts.items[k].last == contact->last );
        assert_true( found );
    }
    tr_stage_free( &back.stage );
    tr_opened_free( &opened );
    tr_result_free( &result );
    remove_folder( folder );
    end( t );
}

static void a_folder_of_results_keeps_map_and_examples( void **state )
{
    (void)state;
    trial t;
    start( &t, "rabbit" );
    folder_keeps( &t );
    start( &t, "elephant" ); // in another size, with a joint that a drive turns, and one that nothing drives
    t.scene.cast[0].target.scale = 0.5;
    tr_drive drive = tr_default_drive( "head", "ella" );
    strcpy( drive.joint, "Head" );
    strcpy( drive.source, "Head" );
    assert_non_null( tr_scene_add_drive( &t.scene, &drive ) );
    drive = tr_default_drive( "tail", "ella" );
    strcpy( drive.joint, "Tail2" );
    assert_non_null( tr_scene_add_drive( &t.scene, &drive ) );
    t.scene.cast[0].target.animation = true; // the tail shows the motion of the target's file
    folder_keeps( &t );
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
    strcpy( t.scene.examples[5].pose, "Snout@0,1,0" );
    refused( &t, "examples[5].pose", "the target skeleton of ella has no joint \"Snout\"" );
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
        TEST( a_box_goes_from_hand_to_hand ),
        TEST( a_pair_turns_joints_from_its_frame ),
        TEST( a_mirrored_pair_is_seen_in_a_mirror ),
        TEST( suggestions_can_become_pairs ),
        TEST( a_folder_of_results_keeps_the_pairs ),
        TEST( a_folder_of_results_keeps_map_and_examples ),
        TEST( drives_count_before_examples ),
        TEST( bad_input_gets_a_sentence ),
        TEST( one_example_is_told_of ),
        TEST( memory_may_run_out ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
