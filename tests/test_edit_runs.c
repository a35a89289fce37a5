// Edits as a user scripts them: `troupe run` builds cages, pins, drags, eases and retimes, and stacks, mutes,
// moves, copies and removes layers; judged by the files it leaves.
#include "captures.h"
#include "folder.h"
#include "stage_fixture.h"

#include "io/io.h"
#include "scenes/scenes.h"

#include <glob.h>
#include <sys/wait.h>

// Runs a script in a folder of its own, `name`, and keeps what it printed.
static void run( const char *folder, const char *name, const char *script, char *printed, size_t size )
{
    char path[256], command[1024];
    tr_error error;
    snprintf( path, sizeof path, "%s/%s.txt", folder, name );
    check_ok( tr_file_write( path, script, strlen( script ), &error ), &error );
    snprintf( command, sizeof command, "'%s' run '%s' -o '%s/%s' 2>&1", TROUPE_BINARY, path, folder, name );
    FILE *pipe = popen( command, "r" );
    assert_non_null( pipe );
    printed[fread( printed, 1, size - 1, pipe )] = 0;
    if ( pclose( pipe ) != 0 )
        fail_msg( "%s: %s", name, printed );
}

// Whether two runs left the same motions, to the byte.
static bool are_same( const char *folder, const char *a, const char *b )
{
    char pattern[256], path[512];
    glob_t found;
    tr_error error;
    bool same = true;
    snprintf( pattern, sizeof pattern, "%s/%s/*.bvh", folder, a );
    assert_int_equal( glob( pattern, 0, NULL, &found ), 0 );
    for ( size_t i = 0; i < found.gl_pathc; ++i ) {
        char *one, *two;
        size_t one_size, two_size;
        snprintf( path, sizeof path, "%s/%s%s", folder, b, strrchr( found.gl_pathv[i], '/' ) );
        check_ok( tr_file_read( found.gl_pathv[i], &one, &one_size, &error ), &error );
        check_ok( tr_file_read( path, &two, &two_size, &error ), &error );
        same = same && one_size == two_size && memcmp( one, two, one_size ) == 0;
        tr_free( one );
        tr_free( two );
    }
    globfree( &found );
    return same;
}

typedef struct variant { // a variant of a script that begins like all others
    const char *name, *ops;
    const char *like; // an earlier one that leaves the same; NULL: none does
} variant;

static void check_variants( const char *begin, const variant *variants, int count )
{
    char folder[FOLDER_SIZE], script[4096], printed[4096];
    new_folder( folder );
    for ( int i = 0; i < count; ++i ) {
        snprintf( script, sizeof script, "%s\n%s\n", begin, variants[i].ops );
        run( folder, variants[i].name, script, printed, sizeof printed );
        for ( int j = 0; j < i; ++j ) {
            bool like = variants[i].like != NULL && strcmp( variants[i].like, variants[j].name ) == 0;
            bool likes = variants[j].like != NULL && variants[i].like != NULL &&
                         strcmp( variants[i].like, variants[j].like ) == 0;
            if ( are_same( folder, variants[i].name, variants[j].name ) != ( like || likes ) )
                fail_msg( "%s and %s are %s", variants[i].name, variants[j].name,
                          like || likes ? "not the same" : "the same" );
        }
    }
    remove_folder( folder );
}

#define REACH                                                                                                \
    "layer_add id=reach kind=cage members=%1$s range=%2$s\n"                                                 \
    "handle_add id=hand layer=reach frame=%3$d point=%1$s.LeftHand move=0.1,0.1,0\n"
#define CROUCH                                                                                               \
    "layer_add id=crouch kind=cage members=%1$s range=%2$s ease=4,6\n"                                       \
    "handle_add id=hips layer=crouch frame=%3$d point=%1$s.Hips move=0,-0.1,0\n"

// All that can be done with layers, on a scene that `open` opens.
static void check_stack( const char *open, const char *who, const char *window, int frame )
{
    char both[1024], begin[2048];
    snprintf( both, sizeof both, REACH CROUCH, who, window, frame );
    snprintf( begin, sizeof begin, "%s\n%s", open, both );
    const variant variants[] = {
        { "both", "", NULL },
        { "again", "", "both" },
        { "muted", "layer_set id=crouch muted=true", NULL },
        { "removed", "layer_remove id=crouch", "muted" },
        { "solo", "layer_set id=reach solo=true", "muted" },
        { "reopened", "layer_set id=crouch muted=true\nlayer_set id=crouch muted=false", "both" },
        { "reordered", "layer_move id=crouch before=reach", NULL },
        { "moved_back", "layer_move id=crouch before=reach\nlayer_move id=crouch", "both" },
        { "copied", "layer_copy id=reach to=more", NULL },
        { "copy_removed", "layer_copy id=reach to=more\nlayer_remove id=more", "both" },
        { "dragged_on", "handle_set id=hand move=0.1,0.2,0", NULL },
        { "dragged_back", "handle_set id=hand move=0.1,0.2,0\nhandle_set id=hand move=0.1,0.1,0", "both" },
        { "no_ease", "layer_set id=crouch ease=0,0", NULL },
        { "none", "layer_remove id=crouch\nlayer_remove id=reach", NULL },
        { "all_muted", "layer_set id=crouch muted=true\nlayer_set id=reach muted=true", "none" },
    };
    check_variants( begin, variants, (int)( sizeof variants / sizeof *variants ) );
}

static void layers_are_stacked( void **state )
{
    (void)state;
    check_stack( "open scene=corridor cast=2\nscene_set range=0,90", "p01", "20,70", 45 );
}

static const char *const walks[] = { "walk.bvh", "cmu-single/02_01.bvh" };

// A scene of a captured walk, of its first two and a half seconds, in `folder`.
static void write_walk( const char *folder, const char *file )
{
    char path[CAPTURE_PATH], text[1024];
    tr_error error;
    int size =
        snprintf( text, sizeof text,
                  "{\"version\": 1, \"fps\": 30, \"range\": [0, 80], \"cast\": [{\"id\": \"a\", \"source\": "
                  "{\"file\": \"%s\", \"unit\": 0.05644, \"first\": 1}}]}",
                  capture_path( path, file ) );
    snprintf( path, sizeof path, "%s/walk.json", folder );
    check_ok( tr_file_write( path, text, (size_t)size, &error ), &error );
}

// The scene and result a run left.
static void check_folder( const char *folder, const char *name )
{
    char path[256];
    fixture x;
    tr_result result;
    tr_measures measures;
    snprintf( path, sizeof path, "%s/%s", folder, name );
    open_folder( &x, path );
    check_ok( tr_result_load( &result, &x.stage, path, &x.error ), &x.error );
    check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
    print_message( "%s: handle %.1f mm, acceleration %.2f, rotation %.1f°, jerk %.2f\n", name,
                   figure_of( &measures, "edit_handle_mm" ), figure_of( &measures, "acceleration_spike" ),
                   figure_of( &measures, "rotation_spike_deg" ), figure_of( &measures, "jerk_ratio" ) );
    check_bound( figure_of( &measures, "contact_error_mm" ), CONTACT_MM );
    check_bound( figure_of( &measures, "relative_error_mm" ), RELATIVE_MM );
    check_bound( figure_of( &measures, "acceleration_spike" ), ACCELERATION );
    check_bound( figure_of( &measures, "rotation_spike_deg" ), ROTATION_DEG );
    assert_true( figure_of( &measures, "edit_leak_mm" ) == 0 );
    tr_measures_free( &measures );
    tr_result_free( &result );
    end( &x );
}

// On a captured walk: a hand lifted half a metre beside the body, hips up on straight legs, a section aside.
static void a_captured_walk_is_edited( void **state )
{
    (void)state;
    static const char *const edits[] = {
        "members=a.left_arm range=20,60\nhandle_add id=h layer=e frame=40 point=a.LeftHand move=0,0.5,0",
        "members=a range=20,60\nhandle_add id=h layer=e frame=40 point=a.LeftHand move=0,0.5,0",
        "members=a range=20,60\nhandle_add id=h layer=e frame=40 point=a.Hips move=0,0.1,0",
        "members=a range=10,70 turn=true\nhandle_add id=h layer=e frame=40 move=0.3,0,0.2",
    };
    char folder[FOLDER_SIZE], script[1024], name[16], printed[4096];
    for ( int w = 0; w < 2; ++w ) {
        if ( !have_capture( walks[w] ) )
            continue;
        new_folder( folder );
        write_walk( folder, walks[w] );
        for ( int i = 0; i < (int)( sizeof edits / sizeof *edits ); ++i ) {
            snprintf( script, sizeof script, "open file=walk.json\nlayer_add id=e kind=cage %s\n", edits[i] );
            snprintf( name, sizeof name, "edit%d", i );
            run( folder, name, script, printed, sizeof printed );
            check_folder( folder, name );
        }
        remove_folder( folder );
    }
}

static void layers_are_stacked_on_a_captured_walk( void **state )
{
    (void)state;
    char folder[FOLDER_SIZE], open[256];
    for ( int w = 0; w < 2; ++w ) {
        if ( !have_capture( walks[w] ) )
            continue;
        new_folder( folder );
        write_walk( folder, walks[w] );
        snprintf( open, sizeof open, "open file=%s/walk.json", folder );
        check_stack( open, "a", "20,60", 40 );
        remove_folder( folder );
    }
}

// ------------------------------------------------------------------------------------------------ retiming

// Moments of a relay are moved to and fro: givers and takers of a box stay in time.
static void a_relay_is_retimed( void **state )
{
    (void)state;
    static const char *const ops[] = {
        "layer_add id=t kind=retime members=p03 range=60,200\nsection_add id=s layer=t frame=126 delay=10",
        "layer_add id=t kind=retime members=p* range=60,200\nsection_add id=s layer=t frame=120 delay=-12\n"
        "section_add id=u layer=t frame=160 delay=8",
        "layer_add id=t kind=retime members=p02 ripple=true\nsection_add id=s layer=t frame=100 delay=20\n"
        "section_set id=s frame=110 delay=30",
        "layer_add id=lift kind=cage members=box02 range=90,225 ease=5,5\n"
        "handle_add id=h layer=lift frame=157 move=0,0.2,0\n"
        "layer_add id=t kind=retime members=p02 range=60,240\nsection_add id=s layer=t frame=126 delay=8",
    };
    char folder[FOLDER_SIZE], script[1024], name[16], printed[4096];
    new_folder( folder );
    for ( int i = 0; i < (int)( sizeof ops / sizeof *ops ); ++i ) {
        snprintf( script, sizeof script, "open scene=box_relay cast=4\n%s\n", ops[i] );
        snprintf( name, sizeof name, "retime%d", i );
        run( folder, name, script, printed, sizeof printed );
        if ( strstr( printed, ", 0 gave way" ) == NULL )
            fail_msg( "%s: %s", ops[i], printed );
        check_folder( folder, name );
    }
    remove_folder( folder );
}

static fixture begin_with( const char *scene, int cast )
{
    tr_opened opened;
    fixture x = { 0 };
    check_ok( tr_open( &opened, scene, cast, &x.error ), &x.error );
    x.scene = opened.scene;
    x.library = opened.library;
    opened.scene = ( tr_scene ){ 0 };
    opened.library = ( tr_library ){ 0 };
    tr_opened_free( &opened );
    return x;
}

static tr_result solve_scene( fixture *x )
{
    tr_result result;
    tr_stage_free( &x->stage );
    check_ok( tr_stage_build( &x->stage, &x->scene, NULL, &x->library, NULL, &x->error ), &x->error );
    check_ok( tr_pipeline_run( &result, &x->stage, tr_method_find( "posegraph" ), &x->error ), &x->error );
    return result;
}

// Beside the window of a retiming every bit is as it was, of bodies of another size, in stances that it cuts,
// of partners, and at the rate of captures.
static void beside_a_retiming_nothing_moves( void **state )
{
    (void)state;
    static const char *const names[] = { "corridor", "judo_pair", "box_relay", "corridor" };
    for ( int i = 0; i < 4; ++i ) {
        fixture x = begin_with( names[i], i == 1 ? 0 : 2 );
        x.scene.fps *= i == 3 ? 4 : 1;
        x.scene.cast[0].target.scale = 1.3;
        x.scene.last = x.scene.first + 120;
        tr_result plain = solve_scene( &x );
        edit(
            &x,
            "layer_add id=t kind=retime members=p01 range=40,80\nsection_add id=s layer=t frame=58 delay=6" );
        tr_result moved = solve_scene( &x );
        assert_false( same_frame( &plain, &moved, 0, 60 ) );
        for ( int a = 0; a < x.stage.actor_count; ++a )
            for ( int f = 0; f <= 120; ++f )
                if ( ( f < 40 || f > 80 ) && !same_frame( &plain, &moved, a, f ) )
                    fail_msg( "%s: frame %d of %s moves", names[i], f, x.scene.cast[a].id );
        tr_result_free( &plain );
        tr_result_free( &moved );
        end( &x );
    }
}

static tr_measures measure( const fixture *x, const tr_result *result )
{
    tr_measures measures;
    tr_error error;
    check_ok( tr_measure( &measures, &x->stage, result, &error ), &error );
    return measures;
}

// Sources in a folder are on their own time, results on the new one: read again they are compared at the same
// moments, and every figure is what it was before they were written.
static void folders_of_retimed_scenes_measure_alike( void **state )
{
    (void)state;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    fixture x = begin_with( "box_relay", 3 ), again;
    x.scene.cast[0].target.scale = 1.15;
    edit(
        &x,
        "layer_add id=t kind=retime members=p02 range=60,200\nsection_add id=s layer=t frame=126 delay=10" );
    tr_result result = solve_scene( &x ), read;
    check_ok( tr_result_save( &x.stage, &result, "posegraph", folder, &x.error ), &x.error );
    open_folder( &again, folder );
    check_ok( tr_result_load( &read, &again.stage, folder, &again.error ), &again.error );
    tr_measures a = measure( &x, &result ), b = measure( &again, &read );
    assert_int_equal( a.count, b.count );
    for ( int m = 0; m < a.count; ++m )
        for ( int f = 0; f < a.metrics[m].field_count; ++f ) {
            const tr_metric_field *p = &a.metrics[m].fields[f], *q = &b.metrics[m].fields[f];
            if ( fabs( p->out - q->out ) > 1e-3 * ( 1 + fabs( p->out ) ) ||
                 fabs( p->source - q->source ) > 1e-3 * ( 1 + fabs( p->source ) ) )
                fail_msg( "%s %s: %g of %g was %g of %g", a.metrics[m].key, p->name, q->out, q->source,
                          p->out, p->source );
        }
    tr_measures_free( &a );
    tr_measures_free( &b );
    tr_result_free( &result );
    tr_result_free( &read );
    end( &x );
    end( &again );
    remove_folder( folder );
}

static const tr_rule *rule_named( const fixture *x, const char *id )
{
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( strcmp( x->stage.rules[r].id, id ) == 0 )
            return &x->stage.rules[r];
    fail_msg( "no %s", id );
    return NULL;
}

static vec3 hand_at( const fixture *x, const tr_result *result, int frame )
{
    int hand = tr_skeleton_find( &x->stage.actors[0].target, "LeftHand" );
    return tr_world_pose( &result->worlds[0], frame ).positions[hand];
}

// Keys of a trajectory go along with the motion they were given for, and the hand is there when they are due;
// a single one, whose new moment is between two frames, is met at the nearer.
static void trajectories_are_retimed( void **state )
{
    (void)state;
    fixture x = begin_with( "arm_circles", 1 );
    tr_result plain = solve_scene( &x );
    tr_constraint path = tr_default_constraint( "path", TR_CONSTRAINT_ABSOLUTE ), once = path;
    path.a = once.a = tr_point_joint( x.scene.cast[0].id, "LeftHand" );
    path.key_count = 3;
    for ( int k = 0; k < 3; ++k ) {
        int f = 90 + 20 * k;
        path.keys[k] = ( tr_key ){ f, v3_add( hand_at( &x, &plain, f ), v3( 0, 0.03 * ( k - 1 ), 0.04 ) ) };
    }
    snprintf( once.id, sizeof once.id, "once" );
    once.key_count = 1;
    once.keys[0] = ( tr_key ){ 50, v3_add( hand_at( &x, &plain, 50 ), v3( 0, 0.05, 0 ) ) };
    assert_non_null( tr_scene_add_constraint( &x.scene, &path ) );
    assert_non_null( tr_scene_add_constraint( &x.scene, &once ) );
    edit( &x, "layer_add id=t kind=retime members=p01 range=20,200\n"
              "section_add id=r layer=t frame=50 delay=5.4\nsection_add id=s layer=t frame=110 delay=12" );
    tr_result moved = solve_scene( &x );
    const tr_rule *rule = rule_named( &x, "path" ), *single = rule_named( &x, "once" );
    assert_true( rule->first > 90 && rule->first < 105 && rule->last > 130 && rule->last < 145 );
    check_v3( rule->path[122], path.keys[1].place, 1e-9 );
    check_v3( hand_at( &x, &moved, 122 ), path.keys[1].place, 1e-3 );
    assert_int_equal( single->first, 55 );
    assert_int_equal( single->last, 55 );
    check_v3( hand_at( &x, &moved, 55 ), once.keys[0].place, 1e-3 );
    tr_result_free( &plain );
    tr_result_free( &moved );
    end( &x );
}

// -------------------------------------------------------------------------------------------------- reports

static void what_is_missed_is_said( void **state )
{
    (void)state;
    char folder[FOLDER_SIZE], path[256], printed[4096], *report;
    size_t size;
    tr_error error;
    new_folder( folder );
    run( folder, "up",
         "open scene=corridor cast=2\nlayer_add id=edit kind=cage members=p01 range=20,100\n"
         "handle_add id=hips layer=edit frame=60 point=p01.Hips move=0,0.4,0\n"
         "handle_add id=hand layer=edit frame=40 point=p01.LeftHand move=0.05,0.05,0\n",
         printed, sizeof printed );
    assert_non_null( strstr( printed, "gave way: hips (handle of layer edit), frame 60, by " ) );
    assert_null( strstr( printed, "gave way: hand" ) );
    snprintf( path, sizeof path, "%s/up/report.json", folder );
    check_ok( tr_file_read( path, &report, &size, &error ), &error );
    assert_non_null( strstr( report, "\"frame\": 60, \"gave_way\": true, \"cm\": " ) );
    assert_non_null( strstr( report, "\"frame\": 40, \"gave_way\": false, \"cm\": " ) );
    tr_free( report );
    remove_folder( folder );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( layers_are_stacked ),        TEST( layers_are_stacked_on_a_captured_walk ),
        TEST( a_captured_walk_is_edited ), TEST( a_relay_is_retimed ),
        TEST( what_is_missed_is_said ),    TEST( beside_a_retiming_nothing_moves ),
        TEST( trajectories_are_retimed ),  TEST( folders_of_retimed_scenes_measure_alike ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
