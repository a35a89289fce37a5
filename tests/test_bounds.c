// Work and memory are bounded by frames, joints and rules, however badly the rules of a scene go together,
// and do not depend on the number of threads.
#include "folder.h"
#include "scenes/scenes.h"
#include "stage_fixture.h"

#define FEW_FRAMES 5

static void shorten( fixture *x )
{
    x->scene.last = FEW_FRAMES - 1;
}

// Every constraint asks for another place. `points`: each of another point, too.
static void add_constraints( fixture *x, int count, bool points )
{
    static const char *const joints[] = { "LeftHand", "RightHand", "Head", "LeftForeArm", "Spine" };
    for ( int i = 0; i < count; ++i ) {
        char id[16];
        snprintf( id, sizeof id, "k%d", i );
        tr_constraint constraint = tr_default_constraint( id, TR_CONSTRAINT_ABSOLUTE );
        constraint.a = tr_point_joint( "a", points ? joints[i % 5] : "LeftHand" );
        if ( points )
            constraint.a.offset = v3( 1e-4 * i, 1e-3 * ( i % 97 ), -1e-3 * ( i % 89 ) );
        constraint.target = v3( 1e-3 * i, 1, 0 );
        constraint.first = 0;
        constraint.last = FEW_FRAMES - 1;
        assert_non_null( tr_scene_add_constraint( &x->scene, &constraint ) );
    }
}

static void check_threads( int count, bool points )
{
    static const int threads[] = { 1, 2, 3, 8 };
    fixture x;
    begin( &x );
    shorten( &x );
    add_bent( &x, "a", v3_zero, 0.8 );
    add_bent( &x, "b", v3( 0, 0, 2 ), 1.2 );
    add_constraints( &x, count, points );
    tr_result first = { 0 };
    for ( int t = 0; t < 4; ++t ) {
        tr_parallel_set_threads( threads[t] );
        build( &x );
        tr_result result = solve( &x, "posegraph" );
        tr_stage_free( &x.stage );
        if ( t == 0 ) {
            first = result;
            continue;
        }
        for ( int i = 0; i < 2; ++i ) {
            const tr_clip *a = &first.motions[i].clip, *b = &result.motions[i].clip;
            assert_memory_equal( a->root, b->root, FEW_FRAMES * sizeof( vec3 ) );
            assert_memory_equal( a->rotations, b->rotations,
                                 (size_t)( FEW_FRAMES * a->joint_count ) * sizeof( quat ) );
        }
        assert_int_equal( first.fit_steps, result.fit_steps );
        tr_result_free( &result );
    }
    tr_parallel_set_threads( 0 );
    tr_result_free( &first );
    end( &x );
}

static void the_number_of_threads_decides_nothing( void **state )
{
    (void)state;
    check_threads( 1163, false );
    check_threads( 3000, false );
    check_threads( 500, true );
}

// Memory grows with the number of constraints, not with its square: ten times as many take at most twelve
// times as much.
static size_t peak_of( int count )
{
    fixture x;
    begin( &x );
    shorten( &x );
    add_bent( &x, "a", v3_zero, 0.8 );
    add_constraints( &x, count, true );
    build( &x );
    tr_memory_reset_peak();
    size_t before = tr_memory_live();
    tr_result result = solve( &x, "posegraph" );
    size_t peak = tr_memory_peak() - before;
    tr_result_free( &result );
    tr_stage_free( &x.stage );
    end( &x );
    return peak;
}

static void memory_grows_with_the_number_of_constraints( void **state )
{
    (void)state;
    tr_parallel_set_threads( 1 );
    size_t few = peak_of( 200 ), many = peak_of( 2000 );
    tr_parallel_set_threads( 0 );
    assert_in_range( many, few, 12 * few );
}

// Hands that are asked to be in four places at once, on bodies that turn over: nothing converges, everything
// jumps, and all that can give way does. A frame is fitted three times in each of nine rounds, in 120 steps
// at most, and it is settled again fourteen times.
static void what_cannot_be_met_ends( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int f = 0; f < FRAMES; ++f )
        tr_clip_frame( &motion.clip, f )[0] = q_axis_angle( v3_x, 4 * TR_PI * f / FPS );
    add_character( &x, "a", v3_zero, 0.7, &motion );
    add_bent( &x, "b", v3( 0, 0, 1 ), 1.4 );
    edit( &x, "constraint_add id=r kind=relative a=a.LeftHand b=b.RightFoot\n"
              "constraint_set id=r target=0.8,1.8,-0.9\n"
              "constraint_add id=s kind=relative a=a.RightHand b=b.Head\n"
              "constraint_set id=s target=-3,0,0\n"
              "constraint_add id=t kind=absolute a=a.Head\n"
              "constraint_set id=t target=0,-1,4\n"
              "constraint_add id=u kind=absolute a=b.Head\n"
              "constraint_set id=u target=0,-1,-4\n"
              "constraint_add id=v kind=orientation a=b.Hips\n"
              "constraint_add id=w kind=centre_of_mass a=a\n"
              "constraint_set id=w target=2,3,0" );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    assert_true( result.fit_steps > 0 );
    assert_in_range( result.fit_steps, 1, 15 * 9 * 3 * 120 * 2 * FRAMES );
    tr_result_free( &result );
    end( &x );
}

// The motion of the first character of a built-in scene.
static void take_first( tr_motion *out, const char *name )
{
    tr_scene scene;
    tr_library library;
    tr_error error;
    check_ok( tr_scene_build( tr_scene_entry_find( name ), 0, &scene, &library, &error ), &error );
    const tr_motion *motion = tr_library_find( &library, scene.cast[0].source.file );
    assert_non_null( motion );
    check_ok( tr_motion_copy( out, motion, &error ), &error );
    tr_library_free( &library );
    tr_scene_free( &scene );
}

// A stout man and a wolf in one place, inside the things around them, pulled in all directions for 15 frames:
// the mesh finds no rest, the fit gets a goal for almost everything that overlaps, the motion jumps and is
// settled again and again. Steps and rounds are bounded. So is the size of a step: a matrix of
// all pairs of goals would take more memory than is foretold.
static void meshes_without_room_end( void **state )
{
    (void)state;
    fixture x;
    tr_motion man, wolf;
    begin( &x );
    take_first( &man, "box_relay" );
    take_first( &wolf, "wolf" );
    add_character( &x, "man", v3_zero, 1.2, &man );
    add_character( &x, "wolf", v3_zero, 1, &wolf );
    edit( &x,
          "scene_set fps=60 range=70,84\n"
          "cast_girth id=man limb=all value=3\n"
          "prop_add id=box position=1.4,0.4,0.6\n"
          "obstacle_add id=ball shape=sphere size=0.4,0.4,0.4 position=-0.4,0.1,0.9\n"
          "obstacle_add id=step size=1,0.2,1 position=0.2,0.1,0.2\n"
          "constraint_add id=kick kind=relative a=man.RightToe b=man.Spine2 target=0.8,1.9,-1 "
          "partner_space=true range=81,84 ease=10,10 hard=false weight=0.1\n"
          "constraint_add id=claw kind=orientation a=wolf.RightHindToe3A hard=false weight=1\n"
          "constraint_add id=arm kind=absolute a=man.RightArm@-0.1,0,-0.1 target=-0.1,0.7,-1.3 "
          "partners=true axes=xz\n"
          "constraint_add id=ear kind=absolute a=wolf.LeftEar2 "
          "keys=70,-1,0.4,0.5;72,0,0,0;74,0.2,0,1.2;76,-0.8,-1,-0.5 range=82,83 ease=2,10 hard=false "
          "weight=100\n"
          "constraint_add id=tail kind=relative a=wolf.Tail3 b=man.Hips range=86,89 ease=40,10 hard=false "
          "weight=1\n"
          "constraint_add id=lean kind=centre_of_mass a=man target=-0.8,-0.8,-0.2 ease=40,10 hard=false "
          "weight=100\n"
          "constraint_add id=bow kind=absolute a=man.Neck target=0.3,-0.4,0.7 range=70,78\n"
          "constraint_add id=leap kind=centre_of_mass a=wolf target=-0.6,0.9,1 range=65,73" );
    build( &x );
    tr_memory_reset_peak();
    size_t before = tr_memory_live();
    tr_result result = solve( &x, "imesh" );
    double peak = (double)( tr_memory_peak() - before );
    assert_in_range( result.fit_steps, 1, 1000 * x.stage.actor_count * x.stage.frame_count );
    assert_true( result.mesh_count > 0 );
    const tr_imesh_def def = tr_default_imesh_def();
    for ( int i = 0; i < result.mesh_count; ++i )
        assert_in_range( result.meshes[i].mesh.iterations, 1, def.steps * def.iterations + def.settle );
    tr_memory_load load = tr_stage_load( &x.stage, TR_MEMORY_MESHES );
    if ( peak > tr_memory_needed( &x.stage.def.memory, &load ) )
        fail_msg( "a mesh without room takes %.0f bytes", peak );
    tr_result_free( &result );
    end( &x );
}

// What the built-in scenes take is not more than was said before.
static void check_need( const char *name, const char *method )
{
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
    tr_error error;
    const tr_scene_entry *entry = tr_scene_entry_find( name );
    check_ok( tr_scene_build( entry, entry->min_cast, &scene, &library, &error ), &error );
    size_t before = tr_memory_live();
    tr_memory_reset_peak();
    check_ok( tr_stage_build( &stage, &scene, NULL, &library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &result, &stage, tr_method_find( method ), &error ), &error );
    double peak = (double)( tr_memory_peak() - before );
    tr_memory_load load = tr_stage_load( &stage, tr_method_find( method )->memory );
    double needed = tr_memory_needed( &stage.def.memory, &load );
    if ( peak > needed )
        fail_msg( "%s by %s takes %.0f bytes, and %.0f were foretold", name, method, peak, needed );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_library_free( &library );
    tr_scene_free( &scene );
}

static void the_need_of_memory_is_foretold( void **state )
{
    (void)state;
    static const char *const names[] = { "wolf", "high_five", "judo_pair", "mixed_cast", "box_relay" };
    tr_parallel_set_threads( 2 );
    for ( int i = 0; i < 5; ++i ) {
        check_need( names[i], "posegraph" );
        check_need( names[i], "imesh" );
        check_need( names[i], "window" );
    }
    tr_parallel_set_threads( 0 );
}

// The same of many constraints, cages, handles and triangles on one thread, with a megabyte for what is
// fixed.
static void check_load( fixture *x, const char *method )
{
    tr_parallel_set_threads( 1 );
    tr_memory_reset_peak();
    size_t before = tr_memory_live();
    build( x );
    tr_result result = solve( x, method );
    double peak = (double)( tr_memory_peak() - before );
    tr_memory_load load = tr_stage_load( &x->stage, tr_method_find( method )->memory );
    double needed = tr_memory_needed( &x->stage.def.memory, &load ) - x->stage.def.memory.fixed_bytes + 1e6;
    if ( peak > needed || peak < 0.1 * needed )
        fail_msg( "%.0f bytes are taken, and %.0f were foretold", peak, needed );
    tr_result_free( &result );
    tr_parallel_set_threads( 0 );
    end( x );
}

static void what_dominates_memory_is_foretold( void **state )
{
    (void)state;
    fixture x;
    char line[128];
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    add_bent( &x, "b", v3( 1, 0, 0 ), 1 );
    add_constraints( &x, 500, true );
    check_load( &x, "posegraph" );

    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    add_bent( &x, "b", v3( 1, 0, 0 ), 1 );
    add_constraints( &x, 100, true );
    check_load( &x, "window" );

    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    for ( int i = 0; i < 200; ++i ) {
        snprintf( line, sizeof line, "layer_add id=l%d kind=cage members=a", i );
        edit( &x, line );
    }
    edit( &x, "handle_add id=h layer=l0 frame=9 point=a.Head\nhandle_set id=h move=0.01,0,0" );
    check_load( &x, "posegraph" );

    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    edit( &x, "layer_add id=bend kind=cage members=a" );
    for ( int i = 0; i < 100; ++i ) {
        snprintf( line, sizeof line, "handle_add id=h%d layer=bend frame=%d point=a.Head\n", i, 1 + i % 29 );
        edit( &x, line );
    }
    edit( &x, "handle_set id=h0 move=0.01,0,0" );
    check_load( &x, "posegraph" );

    char folder[FOLDER_SIZE], path[64];
    enum { SIDE = 60 };
    new_folder( folder );
    snprintf( path, sizeof path, "%s/grid.obj", folder );
    FILE *file = fopen( path, "w" );
    assert_non_null( file );
    for ( int i = 0; i <= SIDE; ++i )
        for ( int k = 0; k <= SIDE; ++k )
            fprintf( file, "v %d %d %d\n", i, i * k % 7, k );
    for ( int i = 0; i < SIDE; ++i )
        for ( int k = 1; k <= SIDE; ++k )
            fprintf( file, "f %d %d %d %d\n", i * ( SIDE + 1 ) + k, i * ( SIDE + 1 ) + k + 1,
                     ( i + 1 ) * ( SIDE + 1 ) + k + 1, ( i + 1 ) * ( SIDE + 1 ) + k );
    assert_int_equal( fclose( file ), 0 );
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    for ( int i = 0; i < 20; ++i ) {
        snprintf( line, sizeof line, "obstacle_add id=o%d shape=mesh mesh=%s position=%d,0,0", i, path,
                  100 + i );
        edit( &x, line );
    }
    check_load( &x, "posegraph" );
    remove_folder( folder );
}

// A body of 1,163 constraints needs so much on each of eight threads that one does the work.
static void there_may_be_memory_for_one_thread_only( void **state )
{
    (void)state;
    fixture x;
    size_t peaks[2];
    tr_result results[2];
    begin( &x );
    shorten( &x );
    add_bent( &x, "a", v3_zero, 0.8 );
    add_constraints( &x, 1163, false );
    build( &x );
    tr_memory_load load = tr_stage_load( &x.stage, TR_MEMORY_FRAMES );
    size_t least = (size_t)tr_memory_needed( &x.stage.def.memory, &load );
    for ( int many = 0; many < 2; ++many ) {
        tr_parallel_set_threads( many ? 64 : 1 );
        tr_memory_reset_peak();
        if ( many )
            tr_memory_set_limit( least + ( 1 << 20 ) );
        results[many] = solve( &x, "posegraph" );
        peaks[many] = tr_memory_peak();
    }
    tr_memory_set_limit( 0 );
    tr_parallel_set_threads( 0 );
    assert_true( tr_memory_refusals() > 0 );
    assert_in_range( peaks[0], 0, least );
    assert_in_range( peaks[1], 0, least + ( 2 << 20 ) );
    for ( int f = 0; f < FEW_FRAMES; ++f )
        assert_true( same_frame( &results[0], &results[1], 0, f ) );
    tr_result_free( &results[0] );
    tr_result_free( &results[1] );
    end( &x );
}

static void what_takes_too_much_memory_is_refused( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    x.scene.last = 999999;
    size_t live = tr_memory_live();
    tr_memory_set_limit( (size_t)1 << 30 );
    tr_memory_reset_peak();
    assert_false( tr_stage_build( &x.stage, &x.scene, "s.json", &x.library, NULL, &x.error ) );
    assert_string_equal( x.error.path, "range" );
    assert_string_equal(
        x.error.message,
        "1000000 frames of 17 joints may need 10.9 GB of memory, and 1.1 GB may be used; take fewer "
        "frames, or allow more (--memory)" );
    assert_in_range( tr_memory_peak(), live, live + ( 1 << 20 ) );
    x.scene.last = FRAMES - 1;
    edit( &x, "layer_add id=late kind=retime members=a ripple=true\n" // as long once it is retimed
              "section_add id=s layer=late frame=0\nsection_set id=s delay=900000" );
    assert_false( tr_stage_build( &x.stage, &x.scene, "s.json", &x.library, NULL, &x.error ) );
    assert_string_equal( x.error.path, "range" );
    edit( &x, "layer_remove id=late" );
    build( &x );
    tr_memory_set_limit( 1 << 20 ); // meshes are refused when they are asked for
    tr_result result;
    assert_false( tr_pipeline_run( &result, &x.stage, tr_method_find( "imesh" ), &x.error ) );
    assert_string_equal( x.error.path, "range" );
    tr_memory_set_limit( 0 );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( the_number_of_threads_decides_nothing ),
        TEST( memory_grows_with_the_number_of_constraints ),
        TEST( what_cannot_be_met_ends ),
        TEST( meshes_without_room_end ),
        TEST( the_need_of_memory_is_foretold ),
        TEST( what_dominates_memory_is_foretold ),
        TEST( there_may_be_memory_for_one_thread_only ),
        TEST( what_takes_too_much_memory_is_refused ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
