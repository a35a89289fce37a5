// Bodies that are none: all joints at one place, of no size. Whatever is asked of them, there are numbers,
// and they stay about where they are.
#include "folder.h"
#include "stage_fixture.h"

static void add_heap( fixture *x, const char *id, vec3 position )
{
    tr_motion motion = { 0 };
    tr_skeleton_add( &motion.skeleton, "Heap", -1, v3_zero );
    tr_skeleton_add( &motion.skeleton, "h1", 0, v3_zero );
    check_ok( tr_skeleton_classify( &motion.skeleton, &x->error ), &x->error );
    check_ok( tr_clip_alloc( &motion.clip, FRAMES, 2, FPS, false, &x->error ), &x->error );
    for ( int f = 0; f < FRAMES; ++f )
        motion.clip.root[f] = v3( 0, 0.4, 0 );
    add_character( x, id, position, 1, &motion );
}

// Every method: finite, no farther than ten metres from the middle of the scene.
static void check_methods( fixture *x )
{
    int count;
    const tr_method *methods = tr_method_table( &count );
    for ( int m = 0; m < count; ++m ) {
        tr_result result = solve( x, methods[m].name );
        for ( int i = 0; i < result.actor_count; ++i ) {
            check_ok( tr_motion_check( &result.motions[i], &x->error ), &x->error );
            for ( int f = 0; f < result.frame_count; ++f )
                if ( !( v3_length( result.motions[i].clip.root[f] ) < 10 ) )
                    fail_msg( "%s: %g m away at frame %d", methods[m].name,
                              v3_length( result.motions[i].clip.root[f] ), f );
        }
        tr_result_free( &result );
    }
}

static void a_heap_is_solved( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_heap( &x, "heap", v3_zero );
    add_bent( &x, "near", v3( 0.2, 0, 0.1 ), 1.2 );
    build( &x );
    check_methods( &x );
    tr_result result = solve( &x, "copy" );
    tr_hold *hold = tr_hold_begin( &x.stage, &result, 3, 0, 1, &x.error );
    check_ok( hold != NULL, &x.error );
    check_ok( tr_hold_move( hold, v3( 0.1, 0.5, 0 ), &x.error ), &x.error );
    tr_hold_end( hold );
    tr_result_free( &result );
    end( &x );
}

// Ratios of sizes would be nothing, or without an end.
static void a_heap_takes_a_motion_and_gives_one( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_heap( &x, "heap", v3( 0, -0.5, 0 ) );
    add_bent( &x, "body", v3( 1, 0, 0 ), 1 );
    snprintf( x.scene.cast[0].target.skeleton.file, TR_PATH_MAX, "body.bvh" );
    snprintf( x.scene.cast[1].target.skeleton.file, TR_PATH_MAX, "heap.bvh" );
    build( &x );
    check_methods( &x );
    end( &x );
}

// A contact of a single joint on a larger body of no height: it does not drift.
static void a_heap_stands( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_heap( &x, "heap", v3( 0, -0.4, 0 ) );
    x.scene.cast[0].target.scale = 10;
    tr_constraint touch = tr_default_constraint( "touch", TR_CONSTRAINT_CONTACT );
    touch.a = tr_point_joint( "heap", "h1" );
    touch.a.offset = v3( -0.1, 0, 0.05 );
    assert_non_null( tr_scene_add_constraint( &x.scene, &touch ) );
    build( &x );
    check_methods( &x );
    end( &x );
}

// Two joints that share a vertex of the mesh cannot be moved against each other by it.
static void a_mesh_leaves_what_it_cannot_move( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_heap( &x, "heap", v3_zero );
    add_bent( &x, "near", v3( 0.2, 0, 0.1 ), 1.2 );
    tr_constraint link = relation( "link", tr_point_joint( "heap", "h1" ), tr_point_joint( "heap", "Heap" ) );
    link.given = true;
    link.target = v3( 5, 5, 5 );
    assert_non_null( tr_scene_add_constraint( &x.scene, &link ) );
    build( &x );
    check_methods( &x );
    end( &x );
}

// A star of three rays; two have the same name.
static void make_star( tr_motion *motion, tr_error *error )
{
    static const char *const names[] = { "Hub", "Ray", "Ray_2", "Ray" };
    *motion = ( tr_motion ){ 0 };
    for ( int j = 0; j < 4; ++j )
        tr_skeleton_add( &motion->skeleton, names[j], j > 0 ? 0 : -1,
                         v3( cos( 2 * j ), 0.3 * j, sin( 2 * j ) ) );
    check_ok( tr_skeleton_classify( &motion->skeleton, error ), error );
    check_ok( tr_clip_alloc( &motion->clip, FRAMES, 4, FPS, false, error ), error );
}

// Names become apart, so that maps in a folder of results mean one joint each.
static void doubled_names_are_told_apart( void **state )
{
    (void)state;
    fixture x, again;
    tr_motion star;
    char folder[FOLDER_SIZE];
    begin( &x );
    add_bent( &x, "body", v3_zero, 1 );
    make_star( &star, &x.error );
    add_character( &x, "star", v3( 1, 0, 0 ), 1, &star );
    snprintf( x.scene.cast[0].target.skeleton.file, TR_PATH_MAX, "star.bvh" );
    build( &x );
    const tr_skeleton *skeleton = &x.stage.actors[1].source.skeleton;
    assert_string_equal( skeleton->joints[1].name, "Ray" );
    assert_string_equal( skeleton->joints[2].name, "Ray_2" );
    assert_string_equal( skeleton->joints[3].name, "Ray_3" );
    new_folder( folder );
    tr_result result = solve( &x, "posegraph" );
    check_ok( tr_result_save( &x.stage, &result, "posegraph", folder, &x.error ), &x.error );
    open_folder( &again, folder );
    for ( int j = 0; j < 4; ++j )
        assert_int_equal( again.stage.actors[0].map[j], x.stage.actors[0].map[j] );
    end( &again );
    remove_folder( folder );
    tr_result_free( &result );
    end( &x );
}

// A number is tried once for each name. Names that look like numbered ones are left alone.
static void very_many_doubled_names( void **state )
{
    (void)state;
    enum { COUNT = 20000 };
    tr_error error;
    tr_skeleton skeleton = { 0 };
    for ( int j = 0; j < COUNT; ++j )
        assert_int_equal( tr_skeleton_add( &skeleton, j == 7 ? "J_3" : "J", j - 1, v3_y ), j );
    check_ok( tr_skeleton_name_apart( &skeleton, &error ), &error );
    assert_string_equal( skeleton.joints[0].name, "J" );
    assert_string_equal( skeleton.joints[1].name, "J_2" );
    assert_string_equal( skeleton.joints[2].name, "J_4" );
    assert_string_equal( skeleton.joints[7].name, "J_3" );
    assert_string_equal( skeleton.joints[COUNT - 1].name, "J_20000" );
    tr_skeleton_free( &skeleton );
}

// Limbs go by the bones a body has on stage, which are what is saved.
static void limbs_go_by_the_bones_in_use( void **state )
{
    (void)state;
    fixture x;
    tr_motion star;
    tr_skeleton fresh;
    begin( &x );
    make_star( &star, &x.error );
    star.clip.translations = tr_alloc( 4 * FRAMES, sizeof( vec3 ) );
    for ( int i = 0; i < 4 * FRAMES; ++i )
        star.clip.translations[i] = v3( 0.1 * ( i % 4 - 2 ), -0.5 * ( i % 4 > 1 ), 0.01 * ( i % 5 ) );
    add_character( &x, "star", v3_zero, 1, &star );
    build( &x );
    const tr_skeleton *used = &x.stage.actors[0].source.skeleton;
    check_ok( tr_skeleton_copy( &fresh, used, &x.error ), &x.error );
    check_ok( tr_skeleton_classify( &fresh, &x.error ), &x.error );
    assert_int_equal( used->limb_count, fresh.limb_count );
    for ( int i = 0; i < fresh.limb_count; ++i )
        assert_string_equal( used->limbs[i].name, fresh.limbs[i].name );
    for ( int j = 0; j < 4; ++j )
        assert_true( used->joints[j].limb == fresh.joints[j].limb &&
                     used->joints[j].role == fresh.joints[j].role );
    tr_skeleton_free( &fresh );
    end( &x );
}

// In another size this body would have two tails. Its folder of results has the bones of its file, and scales
// them again: the limbs are called as before.
static void a_scaled_target_keeps_its_limbs( void **state )
{
    (void)state;
    static const struct {
        const char *name;
        int parent;
        vec3 offset;
    } bones[] = { { "J0", -1, { -0.0944, 0.0304, -0.1458 } },
                  { "J1", 0, { 0.1717, 0.3011, -0.2063 } },
                  { "J2", 0, { 0.1883, 0.4797, 0.36 } },
                  { "J3", 2, { -0.3755, -0.217, -0.478 } },
                  { "J4", 2, { -0.1985, 0.0992, -0.1078 } } };
    fixture x, again;
    tr_motion beast = { 0 };
    char folder[FOLDER_SIZE];
    begin( &x );
    for ( int j = 0; j < 5; ++j )
        tr_skeleton_add( &beast.skeleton, bones[j].name, bones[j].parent, bones[j].offset );
    check_ok( tr_skeleton_classify( &beast.skeleton, &x.error ), &x.error );
    check_ok( tr_clip_alloc( &beast.clip, FRAMES, 5, FPS, false, &x.error ), &x.error );
    add_bent( &x, "body", v3_zero, 1 );
    add_character( &x, "beast", v3( 1, 0, 0 ), 1, &beast );
    tr_target *target = &x.scene.cast[0].target;
    snprintf( target->skeleton.file, TR_PATH_MAX, "beast.bvh" );
    target->scale = 0.8;
    target->limbs[target->limb_count++] = ( tr_limb_value ){ "tail", 1.2 };
    target->girths[target->girth_count++] = ( tr_limb_value ){ "tail", 0.5 };
    build( &x );
    new_folder( folder );
    tr_result result = solve( &x, "posegraph" );
    check_ok( tr_result_save( &x.stage, &result, "posegraph", folder, &x.error ), &x.error );
    open_folder( &again, folder );
    const tr_skeleton *before = &x.stage.actors[0].target, *after = &again.stage.actors[0].target;
    assert_int_equal( after->limb_count, before->limb_count );
    for ( int j = 0; j < 5; ++j )
        check_v3( after->joints[j].offset, before->joints[j].offset, 1e-10 );
    end( &again );
    remove_folder( folder );
    tr_result_free( &result );
    end( &x );
}

// The bones are those of the source's own time, however it is moved in it: a folder of results has that time.
static void retiming_changes_no_bone( void **state )
{
    (void)state;
    fixture x;
    tr_motion star;
    vec3 before[4];
    begin( &x );
    make_star( &star, &x.error );
    star.clip.translations = tr_alloc( 4 * FRAMES, sizeof( vec3 ) );
    for ( int i = 0; i < 4 * FRAMES; ++i )
        star.clip.translations[i] = v3( 0.3 * ( i % 4 ), 0.2, 0.02 * ( i / 4 ) );
    add_character( &x, "star", v3_zero, 1, &star );
    build( &x );
    for ( int j = 0; j < 4; ++j )
        before[j] = x.stage.actors[0].source.skeleton.joints[j].offset;
    edit( &x, "layer_add id=later kind=retime members=star ripple=true\n"
              "section_add id=s layer=later frame=10 delay=7" );
    rebuild( &x );
    assert_int_equal( x.stage.frame_count, FRAMES + 7 );
    for ( int j = 0; j < 4; ++j )
        check_v3( x.stage.actors[0].source.skeleton.joints[j].offset, before[j], 0 );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_heap_is_solved ),
        TEST( a_heap_takes_a_motion_and_gives_one ),
        TEST( a_heap_stands ),
        TEST( a_mesh_leaves_what_it_cannot_move ),
        TEST( doubled_names_are_told_apart ),
        TEST( very_many_doubled_names ),
        TEST( limbs_go_by_the_bones_in_use ),
        TEST( a_scaled_target_keeps_its_limbs ),
        TEST( retiming_changes_no_bone ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
