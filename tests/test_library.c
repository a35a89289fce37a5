// libtroupe through its public header alone; memory is watched from inside.
#include "folder.h"

#include <pthread.h>
#include <troupe/troupe.h>

#define LAYER                                                                                                \
    "layer_add id=pull kind=cage members=p01.left_arm range=2,14\n"                                          \
    "handle_add id=grip layer=pull frame=8 point=p01.LeftHand\n"

static void check_done( bool ok, const troupe_error *error )
{
    if ( ok )
        return;
    char text[2048];
    troupe_error_print( error, text, sizeof text );
    fail_msg( "%s", text );
}

// Two people, seventeen frames.
static troupe_scene *open_short( const char *ops )
{
    troupe_error error;
    troupe_scene *scene = troupe_scene_open( "high_five", 0, &error );
    check_done( scene != NULL, &error );
    check_done( troupe_scene_apply( scene, "scene_set range=0,16", &error ), &error );
    check_done( troupe_scene_apply( scene, ops, &error ), &error );
    return scene;
}

static troupe_stage *stage_of( troupe_scene *scene )
{
    troupe_error error;
    troupe_stage *stage = troupe_stage_create( scene, NULL, &error );
    check_done( stage != NULL, &error );
    return stage;
}

static troupe_result *solve( const troupe_stage *stage, const troupe_solve_def *def )
{
    troupe_error error;
    troupe_result *result = troupe_solve( stage, def, &error );
    check_done( result != NULL, &error );
    return result;
}

static void check_same( const troupe_result *a, const troupe_result *b )
{
    assert_int_equal( troupe_result_clip_count( a ), troupe_result_clip_count( b ) );
    for ( int i = 0; i < troupe_result_clip_count( a ); ++i ) {
        troupe_clip p = troupe_result_clip( a, i ), q = troupe_result_clip( b, i );
        size_t joints = (size_t)p.frame_count * (size_t)p.joint_count;
        assert_true( p.frame_count == q.frame_count && p.joint_count == q.joint_count );
        assert_memory_equal( p.positions, q.positions, joints * 3 * sizeof( double ) );
        assert_memory_equal( p.rotations, q.rotations, joints * 4 * sizeof( double ) );
    }
}

// --------------------------------------------------------------------------------------------------- solving

static vec3 vector_at( const double *array, size_t index )
{
    return v3( array[3 * index], array[3 * index + 1], array[3 * index + 2] );
}

static quat rotation_at( const double *array, size_t index ) // x, y, z, w
{
    const double *r = array + 4 * index;
    return ( quat ){ r[0], r[1], r[2], r[3] };
}

// The arrays belong together: parents, offsets and local rotations give the positions.
static void check_clip( const troupe_clip *clip )
{
    size_t joints = (size_t)clip->joint_count;
    assert_int_equal( clip->parents[0], -1 );
    for ( size_t f = 0; f < (size_t)clip->frame_count; ++f )
        for ( size_t j = 1; j < joints; ++j ) {
            size_t at = f * joints + j, parent = f * joints + (size_t)clip->parents[j];
            quat world = rotation_at( clip->world_rotations, parent );
            vec3 offset = vector_at( clip->translations != NULL ? clip->translations : clip->offsets,
                                     clip->translations != NULL ? at : j );
            check_v3( vector_at( clip->positions, at ),
                      v3_add( vector_at( clip->positions, parent ), q_rotate( world, offset ) ), 1e-9 );
            check_rotation( rotation_at( clip->world_rotations, at ),
                            q_mul( world, rotation_at( clip->rotations, at ) ), 1e-6 );
        }
}

static void poses_are_plain_arrays( void **state )
{
    (void)state;
    troupe_scene *scene = open_short( "cast_scale id=p01 scale=1.3\ncast_scale id=p02 scale=1\n"
                                      "prop_add id=ball position=1,2,3" );
    troupe_stage *stage = stage_of( scene );
    assert_int_equal( troupe_scene_cast_count( scene ), 2 );
    assert_string_equal( troupe_scene_cast_id( scene, 1 ), "p02" );
    troupe_scene_destroy( scene ); // stage and result do not need it
    troupe_result *result = solve( stage, NULL ), *source = troupe_source( stage, NULL );
    assert_int_equal( troupe_result_clip_count( result ), 2 );
    assert_int_equal( troupe_result_find_clip( result, "p02" ), 1 );
    assert_int_equal( troupe_result_find_clip( result, "p03" ), -1 );
    for ( int i = 0; i < 2; ++i ) {
        troupe_clip clip = troupe_result_clip( result, i ), before = troupe_result_clip( source, i );
        assert_true( clip.frame_count == 17 && clip.fps > 0 && clip.joint_count > 10 );
        check_clip( &clip );
        check_clip( &before );
        double bone = v3_length( vector_at( clip.offsets, 1 ) ) / v3_length( vector_at( before.offsets, 1 ) );
        check_near( bone, i == 0 ? 1.3 : 1, 1e-9 );
        assert_string_equal( clip.names[0], before.names[0] );
    }
    troupe_track track = troupe_result_track( result, 0 );
    assert_int_equal( troupe_result_track_count( result ), 1 );
    assert_string_equal( track.id, "ball" );
    check_v3( vector_at( track.transforms + 7 * 16 + 4, 0 ), v3( 1, 2, 3 ), 1e-9 );
    troupe_result_destroy( source );
    troupe_result_destroy( result );
    troupe_stage_destroy( stage );
}

static void threads_change_no_bit( void **state )
{
    (void)state;
    troupe_scene *scene = open_short( "cast_scale id=p01 scale=0.8" );
    troupe_stage *stage = stage_of( scene );
    troupe_solve_def def = troupe_default_solve_def();
    def.work.threads = 1;
    troupe_result *one = solve( stage, &def );
    def.work.threads = 3;
    troupe_result *three = solve( stage, &def );
    check_same( one, three );
    assert_int_equal( tr_parallel_set_own_threads( 0 ), 0 ); // the caller's setting is back
    troupe_result_destroy( one );
    troupe_result_destroy( three );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
}

typedef struct solver {
    pthread_t thread;
    const troupe_stage *stage;
    troupe_result *result;
    int threads;
} solver;

static void *solve_beside( void *context )
{
    solver *s = context;
    troupe_solve_def def = troupe_default_solve_def();
    def.work.threads = s->threads;
    s->result = troupe_solve( s->stage, &def, NULL );
    return NULL;
}

// One stage, several threads of the host at once.
static void a_stage_is_shared_by_threads( void **state )
{
    (void)state;
    troupe_scene *scene = open_short( "cast_scale id=p02 scale=0.8" );
    troupe_stage *stage = stage_of( scene );
    solver solvers[3];
    for ( int i = 0; i < 3; ++i ) {
        solvers[i] = ( solver ){ .stage = stage, .threads = i + 1 };
        assert_int_equal( pthread_create( &solvers[i].thread, NULL, solve_beside, &solvers[i] ), 0 );
    }
    troupe_result *own = solve( stage, NULL );
    for ( int i = 0; i < 3; ++i ) {
        pthread_join( solvers[i].thread, NULL );
        assert_non_null( solvers[i].result );
        check_same( own, solvers[i].result );
        troupe_result_destroy( solvers[i].result );
    }
    troupe_result_destroy( own );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
}

typedef struct patience {
    int left; // answers that are still yes
    int asked, last, total;
} patience;

static bool watch( void *context, int done, int total )
{
    patience *p = context;
    ++p->asked;
    p->last = done;
    p->total = total;
    return p->left-- > 0;
}

static bool is_wanted( void *context )
{
    patience *p = context;
    return p->left > 0 && p->left-- > 0;
}

static void solving_tells_and_is_cancelled( void **state )
{
    (void)state;
    troupe_error error;
    troupe_scene *scene = open_short( "cast_scale id=p01 scale=1.2" );
    troupe_stage *stage = stage_of( scene );
    troupe_solve_def def = troupe_default_solve_def();
    patience patient = { .left = 1000000 }, hasty = { .left = 1 };
    def.work = ( troupe_work ){ .threads = 1, .progress = watch, .context = &patient };
    troupe_result_destroy( solve( stage, &def ) );
    assert_true( patient.asked > 1 && patient.total > 0 && patient.last <= patient.total );
    def.work.context = &hasty;
    assert_null( troupe_solve( stage, &def, &error ) );
    assert_true( error.cancelled && hasty.asked == 2 );
    assert_string_equal( error.message, "cancelled" );
    for ( int answers = 0; answers < 200; answers += 1 + answers / 3 ) {
        patience p = { .left = answers };
        troupe_work work = { .threads = 1, .wanted = is_wanted, .context = &p };
        def.work = work;
        assert_null( troupe_solve( stage, &def, &error ) );
        assert_true( error.cancelled );
        p.left = answers / 10;
        assert_null( troupe_stage_create( scene, &work, &error ) );
        assert_true( error.cancelled );
    }
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
}

static void figures_are_listed( void **state )
{
    (void)state;
    troupe_scene *scene = open_short( "cast_scale id=p01 scale=1.2" );
    troupe_stage *stage = stage_of( scene );
    troupe_result *result = solve( stage, NULL );
    troupe_measures *measures = troupe_measure( result, NULL, NULL );
    assert_non_null( measures );
    troupe_result_destroy( result );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
    int bones = troupe_measures_find( measures, "bone_length_error_pct", NULL );
    int mean = troupe_measures_find( measures, "foot_skate_mm_s", "mean" );
    assert_true( bones >= 0 && mean >= 0 && troupe_measures_count( measures ) > 20 );
    assert_int_equal( troupe_measures_find( measures, "foot_skate_mm_s", "median" ), -1 );
    troupe_figure figure = troupe_measures_figure( measures, bones );
    assert_true( figure.value_known && fabs( figure.value ) < 1e-6 );
    assert_string_equal( troupe_measures_figure( measures, mean ).unit, "mm/s" );
    troupe_measures_destroy( measures );
}

// ---------------------------------------------------------------------------------------------------- errors

static void errors_say_where( void **state )
{
    (void)state;
    troupe_error error;
    char text[300];
    assert_null( troupe_scene_open( "box_rely", 0, &error ) );
    assert_non_null( strstr( error.message, "box_relay" ) );
    assert_null( troupe_scene_open( "box_relay", 100000, &error ) );
    assert_null( troupe_scene_open( SOURCE_DIR "/tests/files/broken_offset.bvh", 0, &error ) );
    assert_true( error.line > 0 && error.column > 0 && strstr( error.file, "broken_offset.bvh" ) != NULL );
    troupe_error_print( &error, text, sizeof text );
    assert_non_null( strstr( text, "broken_offset.bvh:" ) );
    troupe_scene *scene = open_short( "" );
    assert_false( troupe_scene_apply( scene, "cast_scale id=p01 scale=2\n\ncast_scale id=p09", &error ) );
    assert_true( error.line == 3 && error.column > 0 && !error.cancelled );
    assert_true( troupe_scene_undo( scene ) ); // the first line stayed
    assert_true( troupe_scene_redo( scene ) );
    assert_false( troupe_scene_redo( scene ) );
    check_done( troupe_scene_apply( scene, "constraint_add id=c kind=absolute a=p01.Wing", &error ), &error );
    assert_null( troupe_stage_create( scene, NULL, &error ) );
    assert_non_null( strstr( error.path, "constraints[" ) );
    assert_true( troupe_scene_undo( scene ) );
    troupe_stage *stage = stage_of( scene );
    assert_null( troupe_solve( stage, &( troupe_solve_def ){ .method = "posegraf" }, &error ) );
    assert_non_null( strstr( error.message, "posegraph" ) );
    assert_null( troupe_solve( stage, &( troupe_solve_def ){ .below = "nothing" }, &error ) );
    assert_null(
        troupe_solve( stage, &( troupe_solve_def ){ .method = "?" }, NULL ) ); // without an error to fill
    assert_null( troupe_result_load( stage, "/no/such/folder", &error ) );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
}

static void nothing_is_destroyed_twice( void **state )
{
    (void)state;
    troupe_scene_destroy( NULL );
    troupe_stage_destroy( NULL );
    troupe_result_destroy( NULL );
    troupe_measures_destroy( NULL );
    troupe_drag_end( NULL );
    assert_true( tr_version()[0] >= '0' && tr_version()[0] <= '9' );
    assert_non_null( troupe_builtin_scene( 0 ) );
    assert_null( troupe_builtin_scene( 1000 ) );
    assert_null( troupe_builtin_scene( -1 ) );
}

// ----------------------------------------------------------------------------------------------------- files

static void scenes_and_results_are_saved( void **state )
{
    (void)state;
    char folder[FOLDER_SIZE], file[FOLDER_SIZE + 20], results[FOLDER_SIZE + 20];
    new_folder( folder );
    snprintf( file, sizeof file, "%s/duet.json", folder );
    snprintf( results, sizeof results, "%s/results", folder );
    troupe_error error;
    troupe_scene *scene = open_short( "cast_scale id=p01 scale=1.2" );
    check_done( troupe_scene_save( scene, file, &error ), &error );
    troupe_scene_destroy( scene );
    scene = troupe_scene_open( file, 0, &error );
    check_done( scene != NULL, &error );
    troupe_stage *stage = stage_of( scene );
    troupe_result *result = solve( stage, NULL );
    check_done( troupe_result_save( result, results, NULL, &error ), &error );
    troupe_result *again = troupe_result_load( stage, results, &error );
    check_done( again != NULL, &error );
    troupe_clip a = troupe_result_clip( result, 0 ), b = troupe_result_clip( again, 0 );
    for ( size_t i = 0; i < (size_t)( 3 * a.frame_count * a.joint_count ); ++i )
        check_near( a.positions[i], b.positions[i], 1e-5 );
    patience hasty = { 0 };
    troupe_work work = { .wanted = is_wanted, .context = &hasty };
    assert_false( troupe_result_save( result, results, &work, &error ) );
    assert_true( error.cancelled );
    troupe_result_destroy( again );
    troupe_result_destroy( result );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
    remove_folder( folder );
}

// A scene that ops make of a motion file, on a body of another size.
static void a_scene_is_built_by_ops( void **state )
{
    (void)state;
    char folder[FOLDER_SIZE], file[FOLDER_SIZE + 20], ops[200];
    new_folder( folder );
    snprintf( file, sizeof file, "%s/duet.json", folder );
    snprintf( ops, sizeof ops, "cast_add id=a file=%s/duet_motion/p01.bvh scale=0.7\nscene_set range=0,9",
              folder );
    troupe_error error;
    troupe_scene *scene = open_short( "" );
    check_done( troupe_scene_save( scene, file, &error ), &error );
    troupe_scene_destroy( scene );
    scene = troupe_scene_create( &error );
    check_done( scene != NULL && troupe_scene_apply( scene, ops, &error ), &error );
    troupe_stage *stage = stage_of( scene );
    troupe_result *result = solve( stage, NULL );
    assert_int_equal( troupe_result_clip( result, 0 ).frame_count, 10 );
    troupe_result_destroy( result );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
    remove_folder( folder );
}

// -------------------------------------------------------------------------------------------------- dragging

static double hand_height( const troupe_result *result, int frame )
{
    troupe_clip clip = troupe_result_clip( result, 0 );
    int hand = 0;
    while ( strcmp( clip.names[hand], "LeftHand" ) != 0 )
        assert_true( ++hand < clip.joint_count );
    return clip.positions[3 * ( frame * clip.joint_count + hand ) + 1];
}

static void a_drag_is_what_the_op_gives( void **state )
{
    (void)state;
    troupe_error error;
    troupe_scene *scene = open_short( LAYER );
    troupe_stage *stage = stage_of( scene );
    troupe_result *base = solve( stage, &( troupe_solve_def ){ .below = "pull" } );
    troupe_drag *drag = troupe_drag_begin( base, "grip", NULL, &error );
    check_done( drag != NULL, &error );
    const troupe_result *shown = troupe_drag_result( drag );
    for ( int step = 1; step <= 4; ++step )
        assert_true( troupe_drag_move( drag, "grip", ( const double[] ){ 0, 0.02 * step, 0 }, 8 ) );
    assert_false( troupe_drag_move( drag, "other", ( const double[] ){ 0, 0, 0 }, 8 ) );
    while ( troupe_drag_more( drag, 2 ) )
        ;
    check_near( hand_height( shown, 8 ) - hand_height( base, 8 ), 0.08, 2e-3 );
    assert_true( troupe_drag_error( drag, "grip" ) < 2e-3 );
    while ( troupe_drag_refine( drag, 2 ) )
        ;
    assert_null( troupe_measure( shown, NULL, &error ) ); // a preview is not to be kept
    assert_false( troupe_result_save( base, "/tmp/never", NULL, &error ) );
    check_done( troupe_scene_apply( scene, "handle_set id=grip move=0,0.08,0", &error ), &error );
    troupe_stage *after = stage_of( scene );
    troupe_result *kept = solve( after, NULL );
    for ( int f = 0; f < 17; ++f )
        check_near( hand_height( kept, f ), hand_height( shown, f ), 1e-3 );
    troupe_result_destroy( kept );
    troupe_stage_destroy( after );
    troupe_drag_end( drag );
    troupe_result_destroy( base );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
}

static void what_cannot_be_dragged_is_refused( void **state )
{
    (void)state;
    troupe_error error;
    troupe_scene *scene = open_short( LAYER "layer_add id=over kind=cage members=p02\n"
                                            "handle_add id=top layer=over frame=8" );
    troupe_stage *stage = stage_of( scene );
    troupe_result *whole = solve( stage, NULL ),
                  *base = solve( stage, &( troupe_solve_def ){ .below = "pull" } );
    assert_null( troupe_drag_begin( whole, "grip", NULL, &error ) );
    assert_non_null( strstr( error.message, "below" ) );
    assert_null( troupe_drag_begin( base, "top", NULL, &error ) );
    assert_null( troupe_drag_begin( base, "nothing", NULL, &error ) );
    troupe_result_destroy( whole );
    troupe_result_destroy( base );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
}

// ---------------------------------------------------------------------------------------------------- memory

static bool go_through( troupe_error *error )
{
    troupe_scene *scene = troupe_scene_open( "high_five", 0, error );
    bool ok = scene != NULL && troupe_scene_apply( scene, "scene_set range=0,16\n" LAYER, error );
    troupe_stage *stage = ok ? troupe_stage_create( scene, NULL, error ) : NULL;
    troupe_result *base =
        stage != NULL ? troupe_solve( stage, &( troupe_solve_def ){ .below = "pull" }, error ) : NULL;
    troupe_drag *drag = base != NULL ? troupe_drag_begin( base, "grip", NULL, error ) : NULL;
    troupe_result *result = drag != NULL ? troupe_solve( stage, NULL, error ) : NULL;
    troupe_measures *measures = result != NULL ? troupe_measure( result, NULL, error ) : NULL;
    ok = measures != NULL;
    troupe_measures_destroy( measures );
    troupe_result_destroy( result );
    troupe_drag_end( drag );
    troupe_result_destroy( base );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
    return ok;
}

static void memory_that_runs_out_is_an_error( void **state )
{
    (void)state;
    troupe_error error = { 0 };
    bool done = false;
    for ( long n = 1; !done && n < 100000000; n += 1 + n / 8 ) {
        error = ( troupe_error ){ 0 };
        tr_memory_fail_from( n );
        done = go_through( &error );
        tr_memory_fail_from( 0 );
        assert_true( done || strstr( error.message, "memory" ) != NULL );
        assert_false( error.cancelled );
        assert_int_equal( tr_memory_live(), 0 );
    }
    assert_true( done );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( poses_are_plain_arrays ),
        TEST( threads_change_no_bit ),
        TEST( a_stage_is_shared_by_threads ),
        TEST( solving_tells_and_is_cancelled ),
        TEST( figures_are_listed ),
        TEST( errors_say_where ),
        TEST( nothing_is_destroyed_twice ),
        TEST( scenes_and_results_are_saved ),
        TEST( a_scene_is_built_by_ops ),
        TEST( a_drag_is_what_the_op_gives ),
        TEST( memory_that_runs_out_is_an_error ),
        TEST( what_cannot_be_dragged_is_refused ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
