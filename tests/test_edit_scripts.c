// The edit scripts of the built-in scenes do what they say, and a hundred drags in a row break nothing.
#include "stage_fixture.h"

#include "io/io.h"
#include "scenes/scenes.h"

#include <glob.h>

// Opens the built-in scene that the script's first op names, applies the rest.
static void run_script( fixture *x, const char *path )
{
    char *text, name[32];
    size_t size;
    int cast = 0;
    *x = ( fixture ){ .scene = tr_default_scene() };
    check_ok( tr_file_read( path, &text, &size, &x->error ), &x->error );
    char *open = strstr( text, "open scene=" );
    assert_non_null( open );
    assert_true( sscanf( open, "open scene=%31s cast=%d", name, &cast ) >= 1 );
    *open = '#';
    const tr_scene_entry *entry = tr_scene_entry_find( name );
    assert_non_null( entry );
    tr_scene opened = tr_default_scene();
    check_ok( tr_scene_build( entry, cast, &opened, &x->library, &x->error ), &x->error );
    tr_document *document = tr_document_create( &opened, &x->error );
    assert_non_null( document );
    check_ok( tr_document_run( document, text, size, path, &x->error ), &x->error );
    check_ok( tr_scene_copy( &x->scene, tr_document_scene( document ), &x->error ), &x->error );
    tr_document_destroy( document );
    tr_scene_free( &opened );
    tr_free( text );
    build( x );
}

static void check_same_bits( const tr_result *a, const tr_result *b )
{
    for ( int i = 0; i < a->actor_count; ++i ) {
        const tr_clip *p = &a->motions[i].clip, *q = &b->motions[i].clip;
        size_t cells = (size_t)p->frame_count * (size_t)p->joint_count;
        assert_memory_equal( p->rotations, q->rotations, cells * sizeof( quat ) );
        assert_memory_equal( p->root, q->root, (size_t)p->frame_count * sizeof( vec3 ) );
    }
    for ( int p = 0; p < a->prop_count; ++p )
        assert_memory_equal( a->tracks[p], b->tracks[p], (size_t)a->frame_count * sizeof( rigid ) );
}

static void check_most( const tr_measures *measures, const char *key, bound_name row, const char *path )
{
    const tr_metric_field *field = &tr_measures_find( measures, key )->fields[0];
    if ( field->out_null )
        return;
    if ( field->out > bound_row_of( row )->limit )
        print_error( "%s: %s\n", path, key );
    check_bound_of( field->out, row );
}

#define DEEPER 7.0 // mm: what limbs that are led elsewhere may touch

// Bodies go no deeper into each other, and into themselves, than without the edit.
static void check_apart( const tr_measures *measures, const tr_measures *plain, const char *key,
                         const char *path )
{
    const tr_metric_field *now = &tr_measures_find( measures, key )->fields[1],
                          *before = &tr_measures_find( plain, key )->fields[1];
    assert_string_equal( now->name, "max_mm" );
    if ( !now->out_null && now->out > before->out + DEEPER )
        fail_msg( "%s: %s is %g mm, from %g", path, key, now->out, before->out );
}

#define BRUSHED 3.5 // mm: so deep one person of the relay stands in the wall

// Nor do they go into what stands around, with all their volume.
static void check_surroundings( const tr_measures *measures, const char *path )
{
    const tr_metric_field *depth = &tr_measures_find( measures, "environment_penetration_mm" )->fields[1];
    assert_string_equal( depth->name, "max" );
    if ( !depth->out_null && depth->out > ( strstr( path, "wall" ) != NULL ? BRUSHED : 0 ) )
        fail_msg( "%s: %g mm into the surroundings", path, depth->out );
}

// All that unedited scenes are held to, and what edits are.
static void check_figures( const fixture *x, const tr_result *result, const tr_measures *plain,
                           const char *path )
{
    tr_measures measures;
    tr_error error;
    check_ok( tr_measure( &measures, &x->stage, result, &error ), &error );
    check_apart( &measures, plain, "self_penetration", path );
    check_apart( &measures, plain, "inter_penetration", path );
    bool caged = x->stage.grab_count > 0; // nothing of a retiming is measured as that of an edit
    assert_true( tr_measures_find( &measures, "edit_leak_mm" )->fields[0].out_null == !caged );
    check_most( &measures, "edit_handle_mm", BOUND_HANDLE_MM, path );
    check_most( &measures, "edit_leak_mm", BOUND_LEAK_MM, path );
    check_most( &measures, "bone_length_error_pct", BOUND_BONE_PCT, path );
    check_surroundings( &measures, path );
    check_most( &measures, "contact_error_mm", BOUND_CONTACT_MM, path );
    check_most( &measures, "relative_error_mm", BOUND_RELATIVE_MM, path );
    check_most( &measures, "ground_penetration_mm", BOUND_GROUND_MM, path );
    double slides = tr_measures_find( &measures, "foot_skate_mm_s" )->fields[0].source;
    if ( slides <= bound( SKATE_MM_S ) )
        check_most( &measures, "foot_skate_mm_s", BOUND_SKATE_MM_S, path );
    else
        assert_true( tr_measures_find( &measures, "foot_skate_mm_s" )->fields[0].out <= slides );
    check_most( &measures, "jerk_ratio", BOUND_JERK, path );
    check_most( &measures, "acceleration_spike", BOUND_ACCELERATION, path );
    check_most( &measures, "rotation_spike_deg", BOUND_ROTATION_DEG, path );
    check_most( &measures, "sole_tilt_deg", BOUND_SOLE_TILT_DEG, path );
    tr_measures_free( &measures );
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( result->reports[r].gave_way )
            fail_msg( "%s: %s gave way by %g mm", path, x->stage.rules[r].id, result->reports[r].max_mm );
}

// ------------------------------------------------------------------------------------- what is in the way

typedef struct barrier { // what a script put there
    tr_solid solid;
    const char *path;
} barrier;

static void check_beside( const barrier *b, vec3 point, int frame, const char *who )
{
    if ( tr_shape_distance( &b->solid.shape, b->solid.at, point, point, 0 ) < 0 )
        fail_msg( "%s: %s goes through what is in the way at frame %d", b->path, who, frame );
}

static void check_bones( const barrier *b, const tr_stage *stage, const tr_result *result, int actor,
                         int frame )
{
    const tr_skeleton *skeleton = &stage->actors[actor].target;
    tr_pose pose = tr_world_pose( &result->worlds[actor], frame );
    for ( int j = 1; j < skeleton->joint_count; ++j )
        for ( int k = 0; k <= 8; ++k )
            check_beside( b,
                          v3_lerp( pose.positions[skeleton->joints[j].parent], pose.positions[j], k / 8.0 ),
                          frame, stage->scene->cast[actor].id );
}

static void check_prop( const barrier *b, const tr_stage *stage, const tr_result *result, int prop,
                        int frame )
{
    vec3 size = tr_stage_prop_shape( stage, prop, false ).size;
    for ( int k = 0; k < 343; ++k ) {
        vec3 part = v3( k % 7 / 6.0 - 0.5, k / 7 % 7 / 6.0 - 0.5, k / 49 / 6.0 - 0.5 );
        vec3 corner = v3( part.x * size.x, part.y * size.y, part.z * size.z );
        check_beside( b, rigid_apply( result->tracks[prop][frame], corner ), frame,
                      stage->scene->props[prop].id );
    }
}

// Wall, pillar and ball are why these edits are made.
static void check_clear( const fixture *x, const tr_result *result, const char *path )
{
    for ( int o = 0; o < x->scene.obstacle_count; ++o ) {
        const tr_obstacle *box = &x->scene.obstacles[o];
        if ( strcmp( box->id, "wall" ) != 0 && strcmp( box->id, "pillar" ) != 0 &&
             strcmp( box->id, "ball" ) != 0 )
            continue;
        barrier b = { tr_stage_obstacle( &x->stage, o, false ), path };
        for ( int f = 0; f < x->stage.frame_count; ++f ) {
            for ( int i = 0; i < x->stage.actor_count; ++i )
                check_bones( &b, &x->stage, result, i, f );
            for ( int p = 0; p < x->stage.prop_count; ++p )
                check_prop( &b, &x->stage, result, p, f );
        }
    }
}

static void every_script_does_what_it_says( void **state )
{
    (void)state;
    glob_t found;
    assert_int_equal( glob( SOURCE_DIR "/scenes/*/edits/*.txt", 0, NULL, &found ), 0 );
    assert_true( found.gl_pathc >= 5 );
    for ( size_t i = 0; i < found.gl_pathc; ++i ) {
        fixture x, again;
        run_script( &x, found.gl_pathv[i] );
        run_script( &again, found.gl_pathv[i] );
        tr_parallel_set_threads( 1 );
        tr_result one = solve( &x, "posegraph" );
        tr_parallel_set_threads( 3 );
        tr_result three = solve( &again, "posegraph" );
        tr_parallel_set_threads( 0 );
        check_same_bits( &one, &three );
        for ( int l = 0; l < again.scene.layer_count; ++l )
            again.scene.layers[l].muted = true;
        rebuild( &again );
        tr_result unedited = solve( &again, "posegraph" );
        tr_measures plain;
        check_ok( tr_measure( &plain, &again.stage, &unedited, &again.error ), &again.error );
        check_figures( &x, &one, &plain, found.gl_pathv[i] );
        check_clear( &x, &one, found.gl_pathv[i] );
        tr_measures_free( &plain );
        tr_result_free( &unedited );
        tr_result_free( &one );
        tr_result_free( &three );
        end( &x );
        end( &again );
    }
    globfree( &found );
}

// ---------------------------------------------------------------------------------------------------- drags

static double random_between( uint64_t *seed, double low, double high )
{
    return low + ( high - low ) * (double)( random_bits( seed ) >> 11 ) * 0x1p-53;
}

static void check_body( const tr_result *result )
{
    for ( int f = 0; f < result->frame_count; ++f ) {
        tr_pose pose = tr_world_pose( &result->worlds[0], f );
        for ( int j = 0; j < result->worlds[0].joint_count; ++j )
            assert_true( v3_finite( pose.positions[j] ) && q_finite( pose.rotations[j] ) );
        assert_true( q_rotate( pose.rotations[0], v3_y ).y > 0.5 ); // still the right way up
    }
}

// Each drag goes on from the document the last one left; what is held is where it was dragged to.
static void a_hundred_drags_in_a_row( void **state )
{
    (void)state;
    static const char *const points[] = { "LeftHand", "RightHand", "Head", "Hips", "LeftFoot" };
    uint64_t seed = 2021;
    fixture x;
    begin( &x );
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int f = 0; f < FRAMES; ++f )
        motion.clip.root[f] = v3( 0.02 * f, 2, 0.05 * f );
    add_character( &x, "a", v3_zero, 0.9, &motion );
    tr_document *document = tr_document_create( &x.scene, &x.error );
    assert_non_null( document );
    check_ok( tr_document_apply( document, "layer_add id=edit kind=cage members=a range=2,28", &x.error ),
              &x.error );
    for ( int n = 0; n < 100; ++n ) {
        char line[200], id[16];
        snprintf( id, sizeof id, "h%d", n % 3 );
        bool there = n >= 3;
        vec3 way; // one by one: compilers differ in the order of arguments
        way.z = random_between( &seed, -0.3, 0.3 );
        way.y = random_between( &seed, -0.3, 0.3 );
        way.x = random_between( &seed, -0.3, 0.3 );
        snprintf( line, sizeof line, "handle_%s id=%s %s frame=%d point=a.%s move=%.3f,%.3f,%.3f",
                  there ? "set" : "add", id, there ? "" : "layer=edit", 5 + 8 * ( n % 3 ) + n % 4,
                  points[random_bits( &seed ) % 5], way.x, way.y, way.z );
        check_ok( tr_document_apply( document, line, &x.error ), &x.error );
        fixture drag = { .library = x.library };
        check_ok( tr_scene_copy( &drag.scene, tr_document_scene( document ), &x.error ), &x.error );
        build( &drag );
        tr_result result = solve( &drag, "posegraph" );
        check_body( &result );
        for ( int h = 0; h < result.handle_count; ++h )
            if ( result.handles[h].error_mm > 1 )
                fail_msg( "drag %d lost handle %d by %g mm", n, h, result.handles[h].error_mm );
        tr_result_free( &result );
        tr_stage_free( &drag.stage );
        tr_scene_free( &drag.scene );
    }
    tr_document_destroy( document );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( every_script_does_what_it_says ),
        TEST( a_hundred_drags_in_a_row ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
