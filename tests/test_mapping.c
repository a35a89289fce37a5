// Joint maps, chains, bodies that are driven in part, and rest poses that differ.
#include "captures.h"
#include "folder.h"
#include "stage_fixture.h"

// ---------------------------------------------------------------------------------------------- joint maps

static void write_text( const char *path, const char *text )
{
    tr_error error;
    check_ok( tr_file_write( path, text, strlen( text ), &error ), &error );
}

// A target of three joints with names of its own.
static void save_stranger( const char *path )
{
    tr_error error;
    tr_motion motion = { 0 };
    tr_skeleton_add( &motion.skeleton, "pelvis", -1, v3( 0, 1, 0 ) );
    tr_skeleton_add( &motion.skeleton, "back", 0, v3( 0, 0.6, 0 ) );
    tr_skeleton_add( &motion.skeleton, "skull", 1, v3( 0, 0.2, 0 ) );
    check_ok( tr_clip_alloc( &motion.clip, 1, 3, FPS, false, &error ), &error );
    check_ok( tr_motion_save( &motion, path, &error ), &error );
    tr_motion_free( &motion );
}

// A body that bows, mapped onto the stranger, from files in `folder`.
static void make_mapped( fixture *x, const char *folder )
{
    char path[128];
    tr_motion body;
    make_body( &body, FRAMES );
    for ( int f = 0; f < FRAMES; ++f )
        tr_clip_frame( &body.clip, f )[1] = q_axis_angle( v3_x, 0.02 * f );
    begin( x );
    add_character( x, "a", v3_zero, 1, &body );
    snprintf( path, sizeof path, "%s/stranger.bvh", folder );
    save_stranger( path );
    tr_cast *cast = &x->scene.cast[0];
    snprintf( cast->target.skeleton.file, sizeof cast->target.skeleton.file, "stranger.bvh" );
    cast->target.skeleton.unit = 0.01;
    snprintf( cast->mapping, sizeof cast->mapping, "map.json" );
}

static bool build_mapped( fixture *x, const char *folder, const char *map )
{
    char path[128];
    snprintf( path, sizeof path, "%s/map.json", folder );
    write_text( path, map );
    snprintf( path, sizeof path, "%s/scene.json", folder );
    return tr_stage_build( &x->stage, &x->scene, path, &x->library, NULL, &x->error );
}

static void a_joint_map_leads_to_another_skeleton( void **state )
{
    (void)state;
    fixture x;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    make_mapped( &x, folder );
    check_ok( build_mapped( &x, folder,
                            "{\"version\": 1, \"joints\": {\"pelvis\": \"Hips\", \"back\": \"Spine\"}}" ),
              &x.error );
    const int expected[3] = { 0, 1, -1 };
    assert_memory_equal( x.stage.actors[0].map, expected, sizeof expected );
    tr_result out = solve( &x, "copy" ), back;
    for ( int f = 0; f < FRAMES; ++f ) // the skull follows the back, in its rest pose
        for ( int j = 1; j < 3; ++j )
            check_near(
                q_angle( tr_world_pose( &out.worlds[0], f ).rotations[j], q_axis_angle( v3_x, 0.02 * f ) ), 0,
                1e-9 );

    // The folder of results brings skeleton and map along.
    check_ok( tr_result_save( &x.stage, &out, "copy", folder, &x.error ), &x.error );
    fixture again;
    open_folder( &again, folder );
    assert_memory_equal( again.stage.actors[0].map, expected, sizeof expected );
    check_ok( tr_result_load( &back, &again.stage, folder, &x.error ), &x.error );
    for ( int n = 0; n < 3 * FRAMES; ++n )
        check_v3( back.worlds[0].positions[n], out.worlds[0].positions[n], 1e-9 );
    tr_result_free( &back );
    end( &again );
    tr_result_free( &out );
    end( &x );
    remove_folder( folder );
}

static void wrong_joint_maps_are_refused( void **state )
{
    (void)state;
    static const struct {
        const char *map, *path, *sentence;
    } cases[] = {
        { "{\"version\": 1, \"joints\": {\"nobody\": \"Hips\"}}", "joints.nobody", "no such joint" },
        { "{\"version\": 1, \"joints\": {\"back\": \"Spin\"}}", "joints.back", "joint of the source" },
        { "{\"version\": 1, \"joints\": {\"back\": 1}}", "joints.back", "joint of the source" },
        { "{\"version\": 1, \"joints\": []}", "joints", "must be an object" },
        { "{\"version\": 2, \"joints\": {}}", "version", "1" },
        { "{\"version\": 1, \"joint\": {}}", "joint", "joints" },
        { "{\"version\": 1, \"chains\": {}}", "chains", "list" },
        { "{\"version\": 1, \"chains\": [{\"target\": [\"pelvis\", \"skull\"]}]}", "chains[0].source",
          "missing" },
        { "{\"version\": 1, \"chains\": [{\"target\": [\"pelvis\"], \"source\": [\"Hips\", \"Spine\"]}]}",
          "chains[0].target", "two joints" },
        { "{\"version\": 1, \"chains\": [{\"target\": [\"skull\", \"back\"], \"source\": [\"Hips\", "
          "\"Spine\"]}]}",
          "chains[0].target", "hang below" },
        { "{\"version\": 1, \"chains\": [{\"target\": [\"back\", \"skull\"], \"source\": [\"Hips\", "
          "\"Tail\"]}]}",
          "chains[0].source[1]", "joint of the source" },
        { "{\"version\": 1, \"turns\": {}}", "turns.pelvis", "missing" },
        { "{\"version\": 1, \"soles\": []}", "soles", "must be an object" },
        { "{\"version\": 1, \"soles\": {\"toe\": [0, 1]}}", "soles.toe", "no such joint" },
        { "{\"version\": 1, \"soles\": {\"back\": [0]}}", "soles.back", "two heights" },
        { "{\"version\": 1, \"soles\": {\"back\": [0, \"low\"]}}", "soles.back", "two heights" },
        { "{\"version\": 1, \"turns\": {\"pelvis\": [1]}}", "turns.pelvis", "4 numbers" },
        { "{\"version\": 1, \"turns\": {\"pelvis\": [0, 0, 0, 2]}}", "turns.pelvis", "unit length" },
    };
    char folder[FOLDER_SIZE];
    new_folder( folder );
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        fixture x;
        make_mapped( &x, folder );
        assert_false( build_mapped( &x, folder, cases[i].map ) );
        assert_non_null( strstr( x.error.file, "/map.json" ) );
        assert_string_equal( x.error.path, cases[i].path );
        assert_non_null( strstr( x.error.message, cases[i].sentence ) );
        end( &x );
    }
    remove_folder( folder );
}

// ------------------------------------------------------------------------------------------------- chains

// A back of three and a neck of one, 0.2 m each, which bend forward more and more; or five and four.
static void make_column( tr_motion *motion, const char *const *names, int count, double length )
{
    tr_error error;
    *motion = ( tr_motion ){ 0 };
    tr_skeleton *s = &motion->skeleton;
    tr_skeleton_add( s, "Hips", -1, v3( 0, 1, 0 ) );
    for ( int i = 0; i < count; ++i )
        tr_skeleton_add( s, names[i], i, v3( 0, length, 0 ) );
    check_ok( tr_skeleton_classify( s, &error ), &error );
    check_ok( tr_clip_alloc( &motion->clip, FRAMES, s->joint_count, FPS, false, &error ), &error );
    for ( int f = 0; f < FRAMES; ++f )
        motion->clip.root[f] = v3( 0, 1, 0 );
}

static const char *const three_and_one[] = { "Spine", "Spine1", "Spine2", "Neck", "Head" };
static const char *const five_and_four[] = { "Back1", "Back2", "Back3", "Back4", "Chest",
                                             "Neck1", "Neck2", "Neck3", "Neck4", "Head" };

static void make_columns( fixture *x, const char *folder )
{
    char path[128];
    tr_motion source, target;
    make_column( &source, three_and_one, 5, 0.2 );
    make_column( &target, five_and_four, 10, 0.1 );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 1; j < source.skeleton.joint_count; ++j )
            tr_clip_frame( &source.clip, f )[j] = q_axis_angle( v3_x, 0.004 * f * j );
    begin( x );
    add_character( x, "a", v3_zero, 1, &source );
    snprintf( path, sizeof path, "%s/column.bvh", folder );
    check_ok( tr_motion_save( &target, path, &x->error ), &x->error );
    tr_motion_free( &target );
    snprintf( x->scene.cast[0].target.skeleton.file, TR_PATH_MAX, "column.bvh" );
    x->scene.cast[0].target.skeleton.unit = 0.01;
}

// World angles of the source at frame f are 0.004 f times 1, 3, 6 (back), 10, 15 (neck, head). The target's
// back joints lie at 0, ¼, ½, ¾, 1 of the back; its neck at 0, ¼, ½, ¾ and its head at 1.
static void chains_are_spread_by_arc_length( void **state )
{
    (void)state;
    static const double expected[] = { 0, 1, 2, 3, 4.5, 6, 10, 11.25, 12.5, 13.75, 15 };
    char folder[FOLDER_SIZE], path[128];
    new_folder( folder );
    fixture x;
    make_columns( &x, folder );
    for ( int round = 0; round < 3; ++round ) { // as suggested, then written and read, then with turns
        snprintf( path, sizeof path, "%s/scene.json", folder );
        check_ok( tr_stage_build( &x.stage, &x.scene, path, &x.library, NULL, &x.error ), &x.error );
        assert_int_equal( x.stage.actors[0].chain_count, 2 );
        tr_result out = solve( &x, "copy" );
        for ( int j = 0; j < 11; ++j )
            check_rotation( tr_world_pose( &out.worlds[0], 9 ).rotations[j],
                            q_axis_angle( v3_x, 0.036 * expected[j] ), 1e-9 );
        tr_result_free( &out );
        snprintf( path, sizeof path, "%s/map.json", folder );
        check_ok( tr_joint_map_save( &x.stage.actors[0], path, round > 0, &x.error ), &x.error );
        snprintf( x.scene.cast[0].mapping, TR_PATH_MAX, "map.json" );
        tr_stage_free( &x.stage );
        char *text;
        size_t size;
        check_ok( tr_file_read( path, &text, &size, &x.error ), &x.error );
        assert_non_null( strstr( text, "\"chains\"" ) );
        assert_int_equal( strstr( text, "Neck2" ) != NULL, round > 0 ); // a chain is named by its ends
        tr_free( text );
    }
    end( &x );
    remove_folder( folder );
}

// Fewer joints than the source: a lone joint takes the middle of the chain. A joint's own entry counts first.
static void chains_shrink_and_joints_count_before_them( void **state )
{
    (void)state;
    tr_actor actor = { 0 };
    tr_motion source, target;
    tr_error error;
    make_column( &source, five_and_four, 10, 0.1 );
    make_column( &target, three_and_one, 5, 0.2 );
    actor.source = source;
    actor.target = target.skeleton;
    const char *map = "{\"version\": 1, \"joints\": {\"Spine2\": \"Back4\"}, \"chains\": ["
                      "{\"target\": [\"Spine\", \"Spine2\"], \"source\": [\"Back1\", \"Chest\"]},"
                      "{\"target\": [\"Neck\", \"Neck\"], \"source\": [\"Neck1\", \"Neck4\"]}]}";
    check_ok( tr_joint_map_parse( &actor, map, strlen( map ), "map", &error ), &error );
    const int expected[] = { -1, 1, 3, 4, 7, -1 };
    assert_memory_equal( actor.map, expected, sizeof expected );
    check_near( actor.blends[3].share, 0, 0 );
    assert_int_equal( actor.blends[4].next, 8 );
    check_near( actor.blends[4].share, 0.5, 1e-12 ); // half way between Neck2 and Neck3
    tr_joint_map_free( &actor );
    tr_motion_free( &source );
    tr_motion_free( &target );
}

// --------------------------------------------------------------------------------------------- part bodies

// Only the arms of a body follow the source; the target's own file walks along +Z and swings its legs.
static void the_rest_keeps_its_own_animation( void **state )
{
    (void)state;
    char folder[FOLDER_SIZE], path[128];
    new_folder( folder );
    for ( int animated = 0; animated < 2; ++animated ) {
        fixture x;
        begin( &x );
        tr_cast *cast = add_bent( &x, "a", v3( 3, 0, 0 ), 1 );
        tr_motion own;
        make_body( &own, FRAMES );
        int thigh = tr_skeleton_find( &own.skeleton, "LeftUpLeg" );
        for ( int f = 0; f < FRAMES; ++f ) {
            own.clip.root[f] = v3( 0, 1, 0.02 * f );
            tr_clip_frame( &own.clip, f )[thigh] = q_axis_angle( v3_x, 0.01 * f );
        }
        snprintf( path, sizeof path, "%s/own.bvh", folder );
        check_ok( tr_motion_save( &own, path, &x.error ), &x.error );
        tr_motion_free( &own );
        snprintf( path, sizeof path, "%s/map.json", folder );
        write_text(
            path,
            "{\"version\": 1, \"joints\": {\"LeftArm\": \"LeftArm\", \"LeftForeArm\": \"LeftForeArm\"}}" );
        snprintf( cast->mapping, TR_PATH_MAX, "map.json" );
        snprintf( cast->target.skeleton.file, TR_PATH_MAX, "own.bvh" );
        cast->target.skeleton.unit = 0.01;
        cast->target.scale = 0.5;
        cast->target.animation = animated == 1;
        snprintf( path, sizeof path, "%s/scene.json", folder );
        check_ok( tr_stage_build( &x.stage, &x.scene, path, &x.library, NULL, &x.error ), &x.error );
        tr_result out = solve( &x, "posegraph" );
        int elbow = joint( &x.stage, 0, "LeftForeArm" );
        thigh = joint( &x.stage, 0, "LeftUpLeg" ); // files list joints in another order
        const quat *local = tr_clip_frame( &out.motions[0].clip, 20 );
        check_rotation( local[thigh], q_axis_angle( v3_x, animated ? 0.2 : 0 ), 1e-6 );
        check_rotation( local[elbow], q_axis_angle( v3_y, -0.8 ), 1e-6 );
        if ( animated ) // half the size, half the way, where the cast member is placed
            check_v3( out.motions[0].clip.root[20], v3( 3, 0.5, 0.2 ), 1e-6 );
        check_ok( tr_result_save( &x.stage, &out, "posegraph", folder, &x.error ), &x.error );
        fixture again;
        open_folder( &again, folder );
        tr_result twice = solve( &again, "posegraph" );
        for ( int j = 0; j < out.worlds[0].joint_count; ++j )
            check_v3( tr_world_pose( &twice.worlds[0], 20 ).positions[j],
                      tr_world_pose( &out.worlds[0], 20 ).positions[j], 1e-6 );
        tr_result_free( &twice );
        end( &again );
        tr_result_free( &out );
        end( &x );
    }
    remove_folder( folder );
}

// ------------------------------------------------------------------------------------------ reference poses

typedef enum rest_kind { REST_AS_IT_IS, REST_A, REST_ZERO } rest_kind;

// World rotation a joint has in the new rest pose, if it rests upright with its arms out now. In the zero
// pose every bone points up.
static quat rest_turn( const tr_skeleton *skeleton, int joint, rest_kind kind )
{
    const tr_joint *j = &skeleton->joints[joint];
    bool arm = j->role == TR_ROLE_UPPER_ARM || j->role == TR_ROLE_FOREARM || j->role == TR_ROLE_HAND ||
               j->role == TR_ROLE_FINGER;
    if ( kind == REST_A && arm )
        return q_axis_angle( v3_z, ( j->side == TR_SIDE_LEFT ? -45 : 45 ) * TR_DEGREE );
    vec3 bone = v3_zero;
    for ( int c = joint + 1; kind == REST_ZERO && c < skeleton->joint_count; ++c )
        if ( skeleton->joints[c].parent == joint && v3_length( bone ) < 1e-3 )
            bone = skeleton->joints[c].offset;
    return v3_length( bone ) < 1e-3 || j->parent < 0 ? q_identity : q_between( bone, v3_y );
}

// The same motion on a skeleton that rests in another pose: with Q_j the joints' turns to that pose, bones
// are Q_parent · bone and world rotations S_j(t) · Q_j⁻¹.
static void change_rest( tr_motion *motion, const quat *turns )
{
    tr_error error;
    tr_world world;
    check_ok( tr_world_build( &world, motion, &error ), &error );
    tr_skeleton *s = &motion->skeleton;
    for ( int j = 1; j < s->joint_count; ++j )
        s->joints[j].offset = q_rotate( turns[s->joints[j].parent], s->joints[j].offset );
    for ( int f = 0; f < motion->clip.frame_count; ++f )
        for ( int j = 0; j < s->joint_count; ++j ) {
            quat *local = &tr_clip_frame( &motion->clip, f )[j];
            const quat *now = tr_world_pose( &world, f ).rotations;
            int up = s->joints[j].parent;
            *local = q_mul( now[j], q_conj( turns[j] ) );
            if ( up >= 0 )
                *local = q_mul( q_conj( q_mul( now[up], q_conj( turns[up] ) ) ), *local );
        }
    tr_world_free( &world );
}

static void rest_in( tr_motion *motion, rest_kind kind )
{
    quat *turns = tr_alloc( (size_t)motion->skeleton.joint_count, sizeof( quat ) );
    for ( int j = 0; j < motion->skeleton.joint_count; ++j )
        turns[j] = rest_turn( &motion->skeleton, j, kind );
    change_rest( motion, turns );
    tr_free( turns );
}

// The pose of frame 0 becomes the rest pose.
static void rest_as_it_begins( tr_motion *motion )
{
    tr_error error;
    tr_world world;
    check_ok( tr_world_build( &world, motion, &error ), &error );
    change_rest( motion, world.rotations );
    tr_world_free( &world );
}

// Retargets `source` onto the stick body, from frame `first` on.
static tr_result onto_sticks( fixture *x, tr_motion *source, int first, int reference, const char *method )
{
    tr_motion body;
    begin( x );
    tr_cast *cast = add_character( x, "a", v3_zero, 1, source );
    cast->source.first = first;
    cast->target.reference = reference;
    make_body( &body, 1 );
    check_ok( tr_library_add( &x->library, "sticks.bvh", &body, &x->error ), &x->error );
    snprintf( cast->target.skeleton.file, TR_PATH_MAX, "sticks.bvh" );
    build( x );
    return solve( x, method );
}

// How far two results are apart: metres, radians.
static void compare( const tr_result *a, const tr_result *b, double *metres, double *radians )
{
    *metres = *radians = 0;
    size_t cells = (size_t)a->worlds[0].joint_count * (size_t)a->frame_count;
    for ( size_t i = 0; i < cells; ++i ) {
        *metres = fmax( *metres, v3_distance( a->worlds[0].positions[i], b->worlds[0].positions[i] ) );
        *radians = fmax( *radians, q_angle( a->worlds[0].rotations[i], b->worlds[0].rotations[i] ) );
    }
}

static void check_rest_poses_by( const char *method, const tr_motion *motion, const char *name, int first,
                                 int reference )
{
    tr_result results[3];
    fixture x[3];
    for ( int kind = 0; kind < 3; ++kind ) {
        tr_motion version;
        tr_error error;
        check_ok( tr_motion_copy( &version, motion, &error ), &error );
        rest_in( &version, kind );
        results[kind] = onto_sticks( &x[kind], &version, first, reference, method );
    }
    for ( int kind = 1; kind < 3; ++kind ) {
        double metres, radians;
        compare( &results[0], &results[kind], &metres, &radians );
        print_message( "%s in %s pose: %.2g m, %.2g degrees\n", name, kind == REST_A ? "A" : "zero", metres,
                       radians / TR_DEGREE );
        assert_true( metres <= 1e-4 && radians <= 0.1 * TR_DEGREE );
    }
    for ( int kind = 0; kind < 3; ++kind ) {
        tr_result_free( &results[kind] );
        end( &x[kind] );
    }
}

static void check_rest_poses( const tr_motion *motion, const char *name, int first, int reference )
{
    check_rest_poses_by( "posegraph", motion, name, first, reference );
    check_rest_poses_by( "window", motion, name, first, reference );
}

// Frame 0 shows the T-pose; scenes take the motion from frame 1 on.
static void make_moving( tr_motion *motion )
{
    make_body( motion, FRAMES + 1 );
    bend_a_little( motion );
    for ( int j = 0; j < motion->skeleton.joint_count; ++j ) {
        for ( int f = 1; f <= FRAMES; ++f ) {
            quat *q = &tr_clip_frame( &motion->clip, f )[j];
            *q = q_mul( *q, q_axis_angle( v3( 1, j % 3, j % 2 ), 0.01 * f ) );
        }
        tr_clip_frame( &motion->clip, 0 )[j] = q_identity;
    }
}

static void any_rest_pose_gives_the_same_result( void **state )
{
    (void)state;
    tr_motion motion;
    make_moving( &motion );
    check_rest_poses( &motion, "sticks", 1, -1 );
    tr_motion_free( &motion );
}

// The T-pose that shows the rest directions of bones is not among the frames of a folder of results: its
// joint map holds them.
static void folders_of_results_keep_rest_poses( void **state )
{
    (void)state;
    tr_motion motion;
    fixture x;
    make_moving( &motion );
    rest_in( &motion, REST_ZERO );
    tr_result out = onto_sticks( &x, &motion, 1, -1, "posegraph" ), twice;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    check_ok( tr_result_save( &x.stage, &out, "posegraph", folder, &x.error ), &x.error );
    fixture again;
    open_folder( &again, folder );
    check_ok( tr_pipeline_run( &twice, &again.stage, tr_method_find( NULL ), &x.error ), &x.error );
    for ( int j = 0; j < x.stage.actors[0].target.joint_count; ++j ) {
        int there =
            tr_skeleton_find( &again.stage.actors[0].target, x.stage.actors[0].target.joints[j].name );
        for ( int f = 0; f < again.stage.frame_count; ++f )
            check_v3( tr_world_pose( &twice.worlds[0], f ).positions[there],
                      tr_world_pose( &out.worlds[0], f ).positions[j], 1e-6 );
    }
    tr_result_free( &twice );
    end( &again );
    tr_result_free( &out );
    end( &x );
    remove_folder( folder );
}

// CMU files begin with a T-pose. The others show none, and some rest in a zero pose already: a frame is
// named.
static void captures_rest_in_any_pose( void **state )
{
    (void)state;
    static const struct {
        const char *file;
        double unit;
        int first, reference;
    } files[] = { { "walk.bvh", 0.05644, 1, -1 },
                  { "lift.bvh", 0, 1, 0 },
                  { "cmu-single/02_01.bvh", 0.05644, 1, -1 },
                  { "cmu-pairs/18_05.bvh", 0.05644, 1, -1 },
                  { "bandai-nc/dataset-1_walk_normal_001.bvh", 0, 0, 4 },
                  { "bandai-nc/dataset-1_bow_normal_001.bvh", 0, 0, 0 },
                  { "geno/Geno_stance.bvh", 0, 0, 0 } };
    for ( size_t i = 0; i < sizeof files / sizeof *files; ++i ) {
        tr_motion motion;
        tr_error error;
        char path[CAPTURE_PATH];
        tr_bvh_import import = tr_default_bvh_import();
        if ( !have_capture( files[i].file ) )
            continue;
        import.unit = files[i].unit;
        check_ok( tr_motion_load( &motion, capture_path( path, files[i].file ), &import, NULL, &error ),
                  &error );
        tr_free( motion.clip.translations );
        motion.clip.translations = NULL;
        if ( files[i].first > 0 ) // its T-pose
            rest_as_it_begins( &motion );
        check_rest_poses( &motion, files[i].file, files[i].first, files[i].reference );
        tr_motion_free( &motion );
    }
}

static void a_reference_must_be_in_the_file( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 )->target.reference = FRAMES;
    assert_false( tr_stage_build( &x.stage, &x.scene, "show.json", &x.library, NULL, &x.error ) );
    assert_string_equal( x.error.path, "cast[0].target.reference" );
    assert_non_null( strstr( x.error.message, "0 to 30" ) );
    end( &x );
}

// ---------------------------------------------------------------------------------------------------- drives

static void add_drive( fixture *x, const char *id, const char *joint, const char *source )
{
    tr_drive drive = tr_default_drive( id, "a" );
    snprintf( drive.joint, sizeof drive.joint, "%s", joint );
    snprintf( drive.source, sizeof drive.source, "%s", source );
    assert_non_null( tr_scene_add_drive( &x->scene, &drive ) );
}

// What the scene says of a joint counts before its map, and is in the map that is written.
static void drives_count_before_the_map( void **state )
{
    (void)state;
    fixture x;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    make_mapped( &x, folder );
    add_drive( &x, "head", "skull", "Spine" );
    add_drive( &x, "stiff", "back", "" );
    check_ok( build_mapped( &x, folder,
                            "{\"version\": 1, \"joints\": {\"pelvis\": \"Hips\", \"back\": \"Spine\"}, "
                            "\"turns\": {\"pelvis\": [0, 0, 0, 1], \"back\": [0, 0, 0, 1], \"skull\": [0, 0, "
                            "0, 1]}}" ),
              &x.error );
    const int expected[3] = { 0, -1, 1 };
    assert_memory_equal( x.stage.actors[0].map, expected, sizeof expected );
    tr_result out = solve( &x, "copy" );
    check_near( q_angle( tr_world_pose( &out.worlds[0], 9 ).rotations[2], q_axis_angle( v3_x, 0.18 ) ), 0,
                1e-9 );
    check_near( q_angle( tr_world_pose( &out.worlds[0], 9 ).rotations[1], q_identity ), 0, 1e-9 );
    check_ok( tr_result_save( &x.stage, &out, "copy", folder, &x.error ), &x.error );
    fixture again;
    open_folder( &again, folder );
    assert_int_equal( again.scene.drive_count, 0 );
    assert_memory_equal( again.stage.actors[0].map, expected, sizeof expected );
    end( &again );
    tr_result_free( &out );
    end( &x );
    remove_folder( folder );
}

static void wrong_drives_are_refused( void **state )
{
    (void)state;
    for ( int i = 0; i < 2; ++i ) {
        fixture x;
        char folder[FOLDER_SIZE];
        new_folder( folder );
        make_mapped( &x, folder );
        add_drive( &x, "wrong", i == 0 ? "Skull" : "skull", i == 0 ? "Spine" : "Back" );
        assert_false( build_mapped( &x, folder, "{\"version\": 1}" ) );
        assert_string_equal( x.error.path, i == 0 ? "drives[0].joint" : "drives[0].source" );
        assert_non_null( strstr( x.error.message, i == 0 ? "no joint \"Skull\"" : "no joint \"Back\"" ) );
        end( &x );
        remove_folder( folder );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_joint_map_leads_to_another_skeleton ),
        TEST( wrong_joint_maps_are_refused ),
        TEST( chains_are_spread_by_arc_length ),
        TEST( chains_shrink_and_joints_count_before_them ),
        TEST( the_rest_keeps_its_own_animation ),
        TEST( any_rest_pose_gives_the_same_result ),
        TEST( captures_rest_in_any_pose ),
        TEST( a_reference_must_be_in_the_file ),
        TEST( folders_of_results_keep_rest_poses ),
        TEST( drives_count_before_the_map ),
        TEST( wrong_drives_are_refused ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
