// Pictures: the context, the renderer against a stored picture, cameras, comparison, files and videos.
#include "check.h"
#include "figure.h"
#include "scenes/scenes.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------- helpers

typedef struct studio {
    tr_headless *headless;
    tr_renderer *renderer;
} studio;

static studio studio_open( void )
{
    tr_error error = { 0 };
    studio s = { 0 };
    s.headless = tr_headless_create( &error );
    check_ok( s.headless != NULL, &error );
    s.renderer = tr_renderer_create( &error );
    check_ok( s.renderer != NULL, &error );
    return s;
}

static void studio_close( studio *s )
{
    tr_renderer_destroy( s->renderer );
    tr_headless_destroy( s->headless );
}

static unsigned char *take( studio *s, const tr_draw_list *list, const tr_camera *camera, int width,
                            int height )
{
    tr_error error = { 0 };
    unsigned char *rgb = tr_alloc( (size_t)( width * height ), 3 );
    assert_non_null( rgb );
    check_ok( tr_renderer_picture( s->renderer, list, camera, width, height, rgb, &error ), &error );
    return rgb;
}

static const unsigned char *pixel( const unsigned char *rgb, int width, int x, int y )
{
    return rgb + 3 * ( y * width + x );
}

// Two people handing over a box, a step, a ghost, a trail and a mark.
static void little_scene( tr_draw_list *list )
{
    figure left = {
        { q_axis_angle( v3_y, TR_PI / 2 ), v3( -0.6, 0, 0 ) }, 1.0, 0.9, 0.0, { 0.86f, 0.42f, 0.35f, 1 } };
    figure right = {
        { q_axis_angle( v3_y, -TR_PI / 2 ), v3( 0.55, 0, 0 ) }, 0.85, 0.9, 0.1, { 0.31f, 0.60f, 0.72f, 1 } };
    figure ghost = { { q_axis_angle( v3_y, -TR_PI / 2 ), v3( 1.2, 0, -0.2 ) },
                     0.85,
                     -0.8,
                     0.2,
                     { 0.31f, 0.60f, 0.72f, 0.3f } };
    figure_add( list, &left );
    figure_add( list, &right );
    figure_add( list, &ghost );
    rigid box = { q_axis_angle( v3( 0, 1, 0.2 ), 0.2 ), v3( -0.02, 1.08, 0 ) };
    tr_draw_box_add( list, box, v3( 0.28, 0.2, 0.24 ), ( tr_colour ){ 0.96f, 0.76f, 0.22f, 1 } );
    tr_draw_box_add( list, ( rigid ){ q_identity, v3( -1.2, 0.1, -0.5 ) }, v3( 0.6, 0.2, 0.5 ),
                     ( tr_colour ){ 0.8f, 0.8f, 0.82f, 1 } );
    for ( int i = 0; i < 12; ++i ) {
        vec3 a = v3( -0.6 + 0.1 * i, 1.2 + 0.01 * i * ( 12 - i ), 0.2 );
        vec3 b = v3( -0.5 + 0.1 * i, 1.2 + 0.01 * ( i + 1 ) * ( 11 - i ), 0.2 );
        tr_draw_line_add( list, a, b, ( tr_colour ){ 0.85f, 0.3f, 0.2f, (float)i / 12.0f }, 2.0f, false );
    }
    tr_draw_disc_add( list, v3( -0.6, 0.001, 0.1 ), v3_y, 0.12, ( tr_colour ){ 0.2f, 0.7f, 0.5f, 0.9f } );
}

// --------------------------------------------------------------------------------------------- renderer

static void test_stored_picture( void **state )
{
    (void)state;
    studio s = studio_open();
    tr_draw_list list = { 0 };
    tr_error error = { 0 };
    little_scene( &list );
    tr_camera camera;
    assert_true( tr_camera_view( &camera, "28,14", v3( -1.5, 0, -0.8 ), v3( 1.4, 1.75, 0.4 ), 1.6 ) );
    unsigned char *now = take( &s, &list, &camera, 320, 200 ), *then;
    int width, height;
    const char *path = SOURCE_DIR "/tests/pictures/little_scene.png";
    if ( getenv( "TROUPE_STORE_PICTURES" ) )
        check_ok( tr_picture_save( path, 320, 200, now, &error ), &error );
    check_ok( tr_picture_load( path, &width, &height, &then, &error ), &error );
    assert_int_equal( width, 320 );
    assert_int_equal( height, 200 );
    double difference = tr_picture_difference( now, then, 320, 200 );
    if ( difference > 0.01 )
        tr_picture_save( "little_scene_now.png", 320, 200, now, NULL );
    check_near( difference, 0.0, 0.01 );
    tr_free( then );
    tr_free( now );
    tr_draw_free( &list );
    studio_close( &s );
}

static void test_empty_scene( void **state )
{
    (void)state;
    studio s = studio_open();
    tr_draw_list list = { 0 };
    tr_camera camera;
    assert_true( tr_camera_view( &camera, "auto", v3( 1, 1, 1 ), v3( -1, -1, -1 ), 1.6 ) );
    unsigned char *rgb = take( &s, &list, &camera, 64, 40 );
    for ( int i = 0; i < 64 * 40 * 3; ++i ) // pale everywhere
        assert_in_range( rgb[i], 190, 255 );
    tr_free( rgb );
    rgb = take( &s, &list, &camera, 1, 1 );
    assert_in_range( rgb[1], 190, 255 );
    tr_free( rgb );
    studio_close( &s );
}

// A ghost lets through what is behind it: between the colours of the background and of the solid.
static void test_ghosts_blend( void **state )
{
    (void)state;
    studio s = studio_open();
    int red[3];
    const float alpha[3] = { 0.0f, 0.4f, 1.0f };
    for ( int i = 0; i < 3; ++i ) {
        tr_draw_list list = { 0 };
        tr_camera camera = { v3( 0, 1, 4 ), v3( 0, 1, 0 ), 30, 0, v3( 0.3, 1, 0.5 ) };
        tr_draw_capsule_add( &list, v3( 0, 0.9, 0 ), v3( 0, 1.1, 0 ), 0.3,
                             ( tr_colour ){ 0.1f, 0.5f, 0.1f, alpha[i] } );
        unsigned char *rgb = take( &s, &list, &camera, 33, 33 );
        red[i] = pixel( rgb, 33, 16, 16 )[0];
        tr_free( rgb );
        tr_draw_free( &list );
    }
    assert_true( red[0] > red[1] + 20 );
    assert_true( red[1] > red[2] + 20 );
    studio_close( &s );
}

static void test_far_from_the_origin( void **state )
{
    (void)state;
    studio s = studio_open();
    unsigned char *pictures[2];
    for ( int i = 0; i < 2; ++i ) {
        tr_draw_list list = { 0 };
        vec3 away = v3( i * 200000.0, 0, i * -300000.0 );
        figure f = { { q_identity, away }, 1.0, 0.5, 0.1, { 0.5f, 0.6f, 0.8f, 1 } };
        figure_add( &list, &f );
        tr_camera camera;
        assert_true( tr_camera_view( &camera, "30,12", v3_add( away, v3( -0.4, 0, -0.3 ) ),
                                     v3_add( away, v3( 0.4, 1.75, 0.5 ) ), 1.0 ) );
        pictures[i] = take( &s, &list, &camera, 96, 96 );
        tr_draw_free( &list );
    }
    check_near( tr_picture_difference( pictures[0], pictures[1], 96, 96 ), 0.0, 0.003 );
    tr_free( pictures[0] );
    tr_free( pictures[1] );
    studio_close( &s );
}

static void test_bad_calls( void **state )
{
    (void)state;
    studio s = studio_open();
    tr_draw_list list = { 0 };
    tr_camera camera = { v3( 0, 1, 4 ), v3( 0, 1, 0 ), 30, 0, v3_zero };
    unsigned char rgb[3];
    tr_error error = { 0 };
    assert_false( tr_renderer_picture( s.renderer, &list, &camera, 0, 10, rgb, &error ) );
    assert_non_null( strstr( error.message, "0 x 10" ) );
    assert_false( tr_renderer_picture( s.renderer, &list, &camera, 10, 10000000, rgb, &error ) );
    camera.eye.x = NAN;
    assert_false( tr_renderer_picture( s.renderer, &list, &camera, 1, 1, rgb, &error ) );
    studio_close( &s );
}

// Twice the size and halved is the same picture, only smoother.
static void test_still( void **state )
{
    (void)state;
    studio s = studio_open();
    tr_draw_list list = { 0 };
    little_scene( &list );
    tr_camera camera;
    assert_true( tr_camera_view( &camera, "28,14", v3( -1.5, 0, -0.8 ), v3( 1.4, 1.75, 0.4 ), 1.6 ) );
    unsigned char *plain = take( &s, &list, &camera, 160, 100 );
    tr_renderer_set_still( s.renderer, true );
    unsigned char *still = take( &s, &list, &camera, 160, 100 );
    double difference = tr_picture_difference( plain, still, 160, 100 );
    assert_true( difference > 0.0 && difference < 0.01 );
    tr_free( plain );
    tr_free( still );
    tr_draw_free( &list );
    studio_close( &s );
}

// ------------------------------------------------------------------------------------------------- views

typedef struct play { // a built-in scene, the target bodies moved like the source
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
} play;

static void play_open( play *p, const char *name, int cast )
{
    tr_error error = { 0 };
    *p = ( play ){ .scene = tr_default_scene() };
    const tr_scene_entry *entry = tr_scene_entry_find( name );
    assert_non_null( entry );
    check_ok( tr_scene_build( entry, cast, &p->scene, &p->library, &error ), &error );
    check_ok( tr_stage_build( &p->stage, &p->scene, NULL, &p->library, NULL, &error ), &error );
    check_ok( tr_result_from_source( &p->result, &p->stage, &error ), &error );
    p->result.of_source = false;
}

static void play_close( play *p )
{
    tr_result_free( &p->result );
    tr_stage_free( &p->stage );
    tr_scene_free( &p->scene );
    tr_library_free( &p->library );
}

// The source is drawn with its own bodies and boxes, and fits into the camera that frames it.
static void test_view_of_the_source( void **state )
{
    (void)state;
    play p;
    play_open( &p, "spider", 1 );
    p.result.of_source = true;
    tr_view_def def = tr_default_view_def();
    tr_draw_list list = { 0 };
    tr_view_fill( &list, &p.stage, &p.result, 10, &def );
    const tr_actor *actor = &p.stage.actors[0];
    assert_int_equal( list.capsule_count, actor->source_body.capsule_count );
    for ( int i = 0; i < list.capsule_count; ++i )
        check_near( list.capsules[i].radius, actor->source_body.capsules[i].radius, 0.0 );
    tr_draw_free( &list );
    play_close( &p );
}

static void test_view_fills_the_list( void **state )
{
    (void)state;
    play p;
    play_open( &p, "box_relay", 3 );
    tr_view_def def = tr_default_view_def();
    tr_draw_list list = { 0 };
    tr_view_fill( &list, &p.stage, &p.result, 10, &def );
    int capsules = 0, joints = 0;
    for ( int i = 0; i < p.stage.actor_count; ++i ) {
        capsules += p.stage.actors[i].body.capsule_count;
        joints += p.stage.actors[i].target.joint_count;
    }
    assert_int_equal( list.capsule_count, capsules );
    assert_int_equal( list.box_count, p.stage.prop_count + p.scene.obstacle_count );
    assert_int_equal( list.line_count, 0 );
    check_near( list.ground, p.stage.ground, 0.0 );
    check_v3( list.boxes[0].place.position, p.result.tracks[0][10].position, 1e-12 );
    check_v3( list.boxes[0].size, tr_stage_prop_shape( &p.stage, 0, false ).size, 1e-12 );

    def.bodies = false;
    def.pose_graph = true; // three edges around every joint, three rails along every bone
    tr_view_fill( &list, &p.stage, &p.result, 10, &def );
    assert_int_equal( list.capsule_count, 0 );
    assert_int_equal( list.line_count, 3 * joints + 3 * ( joints - p.stage.actor_count ) );

    def = tr_default_view_def();
    def.ghosts = def.source = true;
    tr_view_fill( &list, &p.stage, &p.result, p.result.frame_count / 2, &def );
    assert_true( list.capsule_count >= capsules * ( 2 + 2 * def.ghosts_each_side ) );
    def.ghosts = def.source = false;
    def.skeleton = def.trails = def.contacts = true;
    tr_view_fill( &list, &p.stage, &p.result, 1000000, &def ); // past the end: the last frame
    assert_true( list.line_count > joints && list.disc_count >= p.stage.actor_count );
    tr_draw_free( &list );
    play_close( &p );
}

static void test_view_highlights( void **state )
{
    (void)state;
    play p;
    play_open( &p, "box_relay", 3 );
    tr_view_def def = tr_default_view_def();
    def.highlight = p.scene.cast[1].id;
    tr_draw_list list = { 0 };
    tr_view_fill( &list, &p.stage, &p.result, 0, &def );
    const tr_capsule *pelvis = &p.stage.actors[1].body.capsules[0];
    tr_colour others = list.capsules[0].colour,
              chosen = list.capsules[p.stage.actors[0].body.capsule_count].colour;
    assert_int_equal( p.stage.actors[1].target.joints[pelvis->parent].role, TR_ROLE_ROOT );
    check_near( chosen.r, p.scene.cast[1].colour[0], 1e-6 );
    assert_true( others.r > 0.6f && others.g > 0.6f && others.b > 0.6f ); // nearly grey
    tr_draw_free( &list );
    play_close( &p );
}

// The source of a body that moves by examples is drawn as its performer, who may be much taller.
static void test_view_frames_performers( void **state )
{
    (void)state;
    play p;
    tr_error error;
    tr_result source;
    vec3 low, high;
    play_open( &p, "rabbit", 1 );
    check_ok( tr_result_from_source( &source, &p.stage, &error ), &error );
    tr_view_bounds( &p.stage, &p.result, 0, 100, &low, &high );
    assert_true( high.y < 1.1 );
    tr_view_bounds( &p.stage, &source, 0, 100, &low, &high );
    assert_true( high.y > 1.7 );
    tr_result_free( &source );
    play_close( &p );
}

static void test_view_frames_the_cast( void **state )
{
    (void)state;
    play p;
    play_open( &p, "box_relay", 5 );
    tr_camera camera;
    tr_error error = { 0 };
    int last = p.result.frame_count - 1;
    check_ok( tr_view_camera( &camera, &p.stage, &p.result, 1, -5, last + 5, "auto", 1.6, &error ), &error );
    vec3 low, high;
    tr_view_bounds( &p.stage, &p.result, 0, last, &low, &high );
    for ( int i = 0; i < p.stage.actor_count; ++i )
        for ( int f = 0; f <= last; f += 7 )
            for ( int j = 0; j < p.stage.actors[i].target.joint_count; ++j ) {
                vec3 joint = tr_world_pose( &p.result.worlds[i], f ).positions[j];
                vec3 at = tr_camera_project( &camera, joint, 1.6 );
                assert_true( fabs( at.x ) <= 1.0 && fabs( at.y ) <= 1.0 && at.z > 0.0 );
                assert_true( joint.x > low.x - 0.1 && joint.x < high.x + 0.1 && joint.y < high.y + 0.1 );
            }
    static const char *const flat[] = { "flat auto", "flat front", "flat right", "flat top", "flat 40,-20" };
    for ( int k = 0; k < 5; ++k ) { // without perspective all is within nine tenths of the picture
        double most = 0.0;
        check_ok( tr_view_camera( &camera, &p.stage, &p.result, 1, 9, 9, flat[k], 1.6, &error ), &error );
        assert_true( camera.field_of_view == 0.0 );
        for ( int i = 0; i < p.stage.actor_count; ++i )
            for ( int j = 0; j < p.stage.actors[i].target.joint_count; ++j ) {
                vec3 joint = tr_world_pose( &p.result.worlds[i], 9 ).positions[j];
                vec3 at = tr_camera_project( &camera, joint, 1.6 );
                most = fmax( most, fmax( fabs( at.x ), fabs( at.y ) ) );
            }
        assert_true( most > 0.4 && most < 0.93 ); // tables and boxes are farther out
    }
    assert_false( tr_view_camera( &camera, &p.stage, &p.result, 1, 0, last, "sideways", 1.6, &error ) );
    assert_non_null( strstr( error.message, "sideways" ) );
    play_close( &p );
}

static void test_view_out_of_memory( void **state )
{
    (void)state;
    play p;
    play_open( &p, "box_relay", 3 );
    tr_view_def def = tr_default_view_def();
    def.skeleton = def.pose_graph = def.trails = def.contacts = true;
    for ( int n = 1; n < 40; ++n ) {
        tr_draw_list list = { 0 };
        tr_memory_fail_from( n );
        tr_view_fill( &list, &p.stage, &p.result, 0, &def );
        tr_memory_fail_from( 0 );
        assert_true( list.failed || n > 20 );
        tr_draw_free( &list );
    }
    play_close( &p );
}

// ---------------------------------------------------------------------------------------------- cameras

static void check_framed( const char *view, const vec3 *points, int count, double aspect, bool filled )
{
    tr_camera camera;
    assert_true( tr_camera_fit( &camera, view, points, count, 0.0, v3_zero, aspect ) );
    double right = -2, left = 2, top = -2, bottom = 2;
    for ( int i = 0; i < count; ++i ) {
        vec3 p = tr_camera_project( &camera, points[i], aspect );
        assert_true( p.z > 0.0 );
        right = fmax( right, p.x );
        left = fmin( left, p.x );
        top = fmax( top, p.y );
        bottom = fmin( bottom, p.y );
    }
    assert_true( right <= 1.0 && left >= -1.0 && top <= 1.0 && bottom >= -1.0 );
    check_near( right + left, 0, 1e-6 ); // even margins
    check_near( top + bottom, 0, 1e-6 );
    assert_true( !filled || right - left >= 1.2 || top - bottom >= 1.2 ); // 60 % of the picture's 2
}

static void test_cameras_frame_the_action( void **state )
{
    (void)state;
    const char *views[] = { "auto", "front", "back", "left", "right", "top", "33,20", "-120.5,-10" };
    const double aspects[] = { 0.5, 1.0, 1.6, 3.0 }, sizes[] = { 0.01, 1.0, 1000.0 };
    for ( int v = 0; v < 8; ++v )
        for ( int a = 0; a < 4; ++a )
            for ( int s = 0; s < 3; ++s ) {
                vec3 points[40];
                for ( int i = 0; i < 40; ++i ) // people on an arc, heads and feet
                    points[i] =
                        v3_scale( sizes[s], v3( 7 * sin( 0.1 * i ), i % 2 ? 1.7 : 0, 7 * cos( 0.1 * i ) ) );
                check_framed( views[v], points, 40, aspects[a], true );
                check_framed( views[v], points, 2, aspects[a], false );
            }
}

static void test_cameras_of_nothing( void **state )
{
    (void)state;
    const struct {
        vec3 low, high;
    } boxes[] = { { { 1, 1, 1 }, { -1, -1, -1 } },
                  { { 3, 4, 5 }, { 3, 4, 5 } },
                  { { -HUGE_VAL, 0, 0 }, { HUGE_VAL, 1, 1 } },
                  { { NAN, 0, 0 }, { 1, 1, 1 } } };
    for ( int i = 0; i < 4; ++i )
        for ( int v = 0; v < 2; ++v ) {
            tr_camera camera;
            assert_true(
                tr_camera_view( &camera, v ? "top" : "auto", boxes[i].low, boxes[i].high, v ? NAN : 1.6 ) );
            assert_true( v3_finite( camera.eye ) && v3_finite( camera.target ) && v3_finite( camera.light ) );
            assert_true( v3_distance( camera.eye, camera.target ) > 0.5 );
        }
}

static void test_view_names( void **state )
{
    (void)state;
    tr_camera camera;
    const char *bad[] = { "",          "side",     "30",      "30,", "30,10,",
                          "30,10,5,1", "30,10,-1", "30,10,0", "a,b", "nan,0" };
    for ( size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i )
        assert_false( tr_camera_view( &camera, bad[i], v3_zero, v3_one, 1.0 ) );
    assert_true( tr_camera_view( &camera, "90,0,5", v3( -1, -1, -1 ), v3_one, 1.0 ) );
    check_v3( camera.eye, v3( 5, 0, 0 ), 1e-9 ); // from +X, five metres away
    check_v3( camera.target, v3_zero, 1e-9 );
}

// A row of people along a slanted line is seen across the picture, from the side they look to.
static void test_auto_spreads_a_row( void **state )
{
    (void)state;
    vec3 points[40], facing = v3( 1, 0, -1 );
    for ( int i = 0; i < 40; ++i )
        points[i] = v3( 0.5 * i, i % 2 ? 1.7 : 0, 0.5 * i );
    tr_camera camera;
    assert_true( tr_camera_fit( &camera, "auto", points, 40, 0.1, facing, 1.6 ) );
    vec3 first = tr_camera_project( &camera, points[0], 1.6 ),
         last = tr_camera_project( &camera, points[39], 1.6 );
    assert_true( fabs( first.x - last.x ) > 1.4 );
    assert_true( v3_dot( v3_sub( camera.eye, camera.target ), facing ) > 0.0 );
}

// ------------------------------------------------------------------------------------------- difference

static void fill_pattern( unsigned char *rgb, int width, int height, int shift )
{
    for ( int y = 0; y < height; ++y )
        for ( int x = 0; x < width; ++x ) {
            bool inside = x - shift > 10 && x - shift < 30 && y > 10 && y < 30;
            memcpy( rgb + 3 * ( y * width + x ), inside ? "\x40\x80\xC0" : "\xE0\xE0\xE0", 3 );
        }
}

static void test_difference( void **state )
{
    (void)state;
    unsigned char a[40 * 40 * 3], b[40 * 40 * 3];
    fill_pattern( a, 40, 40, 0 );
    fill_pattern( b, 40, 40, 0 );
    check_near( tr_picture_difference( a, b, 40, 40 ), 0.0, 0.0 );
    fill_pattern( b, 40, 40, 1 );
    double shifted = tr_picture_difference( a, b, 40, 40 );
    assert_true( shifted > 0.0 && shifted < 0.015 );
    memset( b, 0x20, sizeof b );
    assert_true( tr_picture_difference( a, b, 40, 40 ) > 0.3 );
    memset( a, 0, sizeof a );
    memset( b, 255, sizeof b );
    check_near( tr_picture_difference( a, b, 40, 40 ), 1.0, 1e-6 ); // black against white
    // blue 0000FF has Oklab (0.4520, -0.0325, -0.3115), red FF0000 (0.6280, 0.2249, 0.1258)
    for ( int i = 0; i < 40 * 40; ++i ) {
        memcpy( a + 3 * i, "\x00\x00\xFF", 3 );
        memcpy( b + 3 * i, "\xFF\x00\x00", 3 );
    }
    check_near( tr_picture_difference( a, b, 40, 40 ), 0.5371, 2e-3 );
}

// ------------------------------------------------------------------------------------- files and videos

static void test_picture_files( void **state )
{
    (void)state;
    tr_error error = { 0 };
    unsigned char rgb[40 * 40 * 3], *back;
    int width, height;
    fill_pattern( rgb, 40, 40, 3 );
    check_ok( tr_picture_save( "test_render_picture.png", 40, 40, rgb, &error ), &error );
    check_ok( tr_picture_load( "test_render_picture.png", &width, &height, &back, &error ), &error );
    assert_int_equal( width, 40 );
    assert_int_equal( height, 40 );
    assert_memory_equal( rgb, back, sizeof rgb );
    tr_free( back );
    unlink( "test_render_picture.png" );
    assert_false( tr_picture_load( "test_render_picture.png", &width, &height, &back, &error ) );
    assert_false( tr_picture_load( SOURCE_DIR "/CMakeLists.txt", &width, &height, &back, &error ) );
    assert_non_null( strstr( error.message, "PNG" ) );
    assert_false( tr_picture_save( "/no/such/folder/a.png", 40, 40, rgb, &error ) );
    assert_false( tr_picture_save( "a.jpeg", 40, 40, rgb, &error ) );
    assert_non_null( strstr( error.message, ".png" ) );
    assert_false( tr_picture_save( "a.png", 0, 40, rgb, &error ) );
}

static bool ffmpeg_missing( const tr_error *error )
{
    return strstr( error->message, "install the package ffmpeg" ) != NULL;
}

// Odd sizes too; the file begins with the format's signature.
static void check_video( const char *path, size_t at, const char *signature )
{
    tr_error error = { 0 };
    unsigned char rgb[41 * 33 * 3];
    tr_video *video = tr_video_open( path, 41, 33, 30, &error );
    if ( !video && ffmpeg_missing( &error ) ) {
        print_message( "skipped: %s\n", error.message );
        skip();
    }
    check_ok( video != NULL, &error );
    for ( int i = 0; i < 5; ++i ) {
        fill_pattern( rgb, 41, 33, i );
        check_ok( tr_video_frame( video, rgb, &error ), &error );
    }
    check_ok( tr_video_close( video, &error ), &error );
    char *data;
    size_t size;
    check_ok( tr_file_read( path, &data, &size, &error ), &error );
    assert_true( size > 300 );
    assert_memory_equal( data + at, signature, strlen( signature ) );
    tr_free( data );
    unlink( path );
}

static void test_videos( void **state )
{
    (void)state;
    check_video( "test_render_video.mp4", 4, "ftyp" );
    check_video( "test_render_video.gif", 0, "GIF89a" );
}

static void test_bad_videos( void **state )
{
    (void)state;
    tr_error error = { 0 };
    assert_null( tr_video_open( "a.avi", 40, 40, 30, &error ) );
    assert_non_null( strstr( error.message, ".mp4 or .gif" ) );
    assert_null( tr_video_open( "a.mp4", 0, 40, 30, &error ) );
    assert_null( tr_video_open( "a.mp4", 40, 40, 0, &error ) );
    assert_null( tr_video_open( "/no/such/folder/a.mp4", 40, 40, 30, &error ) );
    assert_true( error.message[0] != 0 );
}

static int drafts_here( void )
{
    int count = 0;
    DIR *folder = opendir( "." );
    assert_non_null( folder );
    for ( struct dirent *entry = readdir( folder ); entry != NULL; entry = readdir( folder ) )
        count += strncmp( entry->d_name, ".troupe-", 8 ) == 0;
    closedir( folder );
    return count;
}

// What stood under the video's name stays until the video is whole: through a video given up half way, and
// through one without frames, which is none.
static void test_torn_videos_leave_the_old_file( void **state )
{
    (void)state;
    const char *path = "test_render_torn.mp4";
    tr_error error = { 0 };
    unsigned char rgb[40 * 40 * 3] = { 0 };
    int before = drafts_here();
    for ( int frames = 0; frames < 2; ++frames ) {
        check_ok( tr_file_write( path, "old", 3, &error ), &error );
        tr_video *video = tr_video_open( path, 40, 40, 30, &error );
        if ( !video && ffmpeg_missing( &error ) )
            skip();
        check_ok( video != NULL, &error );
        for ( int i = 0; i < frames; ++i )
            check_ok( tr_video_frame( video, rgb, &error ), &error );
        if ( frames == 0 )
            assert_false( tr_video_close( video, &error ) );
        else
            tr_video_discard( video );
        char *data;
        size_t size;
        check_ok( tr_file_read( path, &data, &size, &error ), &error );
        assert_string_equal( data, "old" );
        tr_free( data );
        unlink( path );
        assert_int_equal( drafts_here(), before );
    }
}

// Frames of noise, which do not become small.
static bool noisy_video( const char *path, int frames, double fps, tr_error *error )
{
    enum { SIZE = 64 };
    static unsigned char rgb[SIZE * SIZE * 3];
    uint64_t seed = 7;
    tr_video *video = tr_video_open( path, SIZE, SIZE, fps, error );
    if ( video == NULL && ffmpeg_missing( error ) )
        skip();
    for ( int i = 0; i < frames; ++i ) {
        for ( size_t k = 0; k < sizeof rgb; ++k )
            rgb[k] = (unsigned char)random_bits( &seed );
        if ( video == NULL || !tr_video_frame( video, rgb, error ) ) {
            tr_video_discard( video );
            return false;
        }
    }
    return tr_video_close( video, error );
}

// Every beginning of a video, and a video with something behind it, is none; still pictures, single ones and
// all rates are.
static void test_videos_are_checked( void **state )
{
    (void)state;
    static const char *const paths[] = { "test_render_check.mp4", "test_render_check.gif" };
    static const double rates[] = { 0.5, 29.97, 60, 120, 240, 24 };
    tr_error error = { 0 };
    tr_video_facts facts;
    for ( int gif = 0; gif < 2; ++gif ) {
        for ( size_t i = 0; i < sizeof rates / sizeof rates[0]; ++i ) {
            check_ok( noisy_video( paths[gif], 1, rates[i], &error ), &error );
            check_ok( noisy_video( paths[gif], 7, rates[i], &error ), &error );
        }
        tr_video_facts sent = { 64, 64, 7, 7 / rates[5] };
        assert_true( tr_video_read_facts( &facts, paths[gif], gif ) );
        assert_true( tr_video_is_whole( &facts, &sent, gif ) );
        tr_memory_fail_from( 1 ); // the index of an MP4 needs some
        errno = 0;
        assert_true( tr_video_read_facts( &facts, paths[gif], gif ) == ( gif == 1 ) );
        tr_memory_fail_from( 0 );
        assert_int_equal( errno, gif ? 0 : ENOMEM );
        sent = ( tr_video_facts ){ 64, 66, 7, 7 / rates[5] };
        assert_false( tr_video_is_whole( &facts, &sent, gif ) );
        sent = ( tr_video_facts ){ 64, 64, 20, 20 / rates[5] };
        assert_false( tr_video_is_whole( &facts, &sent, gif ) );
        char *data;
        size_t size;
        check_ok( tr_file_read( paths[gif], &data, &size, &error ), &error );
        for ( size_t end = 0; end <= size + 1; end += 1 + size / 500 ) {
            FILE *file = fopen( paths[gif], "wb" );
            assert_non_null( file );
            fwrite( data, 1, end < size ? end : size, file );
            if ( end > size )
                fputc( 0, file );
            fclose( file );
            assert_true( tr_video_read_facts( &facts, paths[gif], gif ) == ( end == size ) );
        }
        tr_free( data );
        unlink( paths[gif] );
    }
}

// Files may not become large, which for ffmpeg is as a disk that is full: the old video stays.
static void test_full_disk( void **state )
{
    (void)state;
    static const char *const paths[] = { "test_render_full.mp4", "test_render_full.gif" };
    struct rlimit before, small;
    assert_int_equal( getrlimit( RLIMIT_FSIZE, &before ), 0 );
    int drafts = drafts_here();
    for ( int gif = 0; gif < 2; ++gif )
        for ( int part = 0; part < 8; ++part ) {
            tr_error error = { 0 };
            check_ok( tr_file_write( paths[gif], "old", 3, &error ), &error );
            small = before;
            small.rlim_cur = (rlim_t)( 1 + 4000 * part );
            void ( *handler )( int ) = signal( SIGXFSZ, SIG_IGN );
            assert_int_equal( setrlimit( RLIMIT_FSIZE, &small ), 0 );
            bool ok = noisy_video( paths[gif], 20, 30, &error );
            assert_int_equal( setrlimit( RLIMIT_FSIZE, &before ), 0 );
            signal( SIGXFSZ, handler );
            assert_false( ok );
            assert_true( error.message[0] != 0 );
            char *data;
            size_t size;
            check_ok( tr_file_read( paths[gif], &data, &size, &error ), &error );
            assert_string_equal( data, "old" );
            tr_free( data );
            unlink( paths[gif] );
            assert_int_equal( drafts_here(), drafts );
        }
}

static bool is_never_wanted( void *context )
{
    (void)context;
    return false;
}

// A picture comes back bit by bit, whatever is in it, and is none when memory fails at any moment.
static void test_pictures_are_packed( void **state )
{
    (void)state;
    enum { WIDTH = 150, HEIGHT = 120, SIZE = 3 * WIDTH * HEIGHT };
    static unsigned char rgb[SIZE];
    const char *path = "test_render_packed.png";
    uint64_t seed = 3;
    size_t live = tr_memory_live();
    for ( int kind = 0; kind < 4; ++kind ) { // one colour, noise, few values, stripes
        for ( int i = 0; i < SIZE; ++i )
            rgb[i] = (unsigned char)( kind == 0   ? 200
                                      : kind == 1 ? random_bits( &seed )
                                      : kind == 2 ? random_bits( &seed ) % 3
                                                  : (uint64_t)( ( i / 7 ) * ( i / 450 ) ) );
        bool ok = false;
        for ( long n = 1; !ok; ++n ) {
            tr_error error = { 0 };
            tr_memory_fail_from( n );
            ok = tr_picture_save( path, WIDTH, HEIGHT, rgb, &error );
            tr_memory_fail_from( 0 );
            assert_true( ok || strcmp( error.message, "out of memory" ) == 0 );
            assert_int_equal( tr_memory_live(), live );
        }
        unsigned char *back;
        int width, height;
        tr_error error = { 0 };
        check_ok( tr_picture_load( path, &width, &height, &back, &error ), &error );
        assert_true( width == WIDTH && height == HEIGHT );
        assert_memory_equal( back, rgb, SIZE );
        tr_free( back );
        tr_work work;
        tr_work_begin( &work, is_never_wanted, NULL );
        ok = tr_picture_save( path, WIDTH, HEIGHT, rgb, &error );
        tr_work_end( &work );
        assert_false( ok );
        assert_string_equal( error.message, "cancelled" );
    }
    unlink( path );
}

static bool is_wanted_for_a_while( void *context )
{
    int *left = context;
    return *left < 0 || ( *left > 0 && --*left > 0 );
}

// An ffmpeg that takes no frames, and one that goes on for ever when it has them, are ended when the video is
// cancelled. Otherwise this test does not end.
static void test_cancelled_videos( void **state )
{
    (void)state;
    static const char *const scripts[] = { "#!/bin/sh\nexec sleep 1000\n",
                                           "#!/bin/sh\ncat >/dev/null\nexec sleep 1000\n" };
    enum { SIZE = 400 };
    static unsigned char rgb[SIZE * SIZE * 3];
    tr_error error = { 0 };
    char folder[] = "/tmp/troupe_test_XXXXXX", program[64], *path = tr_string_copy( getenv( "PATH" ) );
    assert_true( path != NULL && mkdtemp( folder ) != NULL );
    char *first = tr_string_format( "%s:%s", folder, path );
    assert_non_null( first );
    snprintf( program, sizeof program, "%s/ffmpeg", folder );
    int drafts = drafts_here();
    for ( int kind = 0; kind < 2; ++kind ) {
        check_ok( tr_file_write( program, scripts[kind], strlen( scripts[kind] ), &error ), &error );
        assert_int_equal( chmod( program, 0755 ), 0 );
        for ( int given_up = 0; given_up < 2; ++given_up ) {
            setenv( "PATH", first, 1 );
            tr_video *video = tr_video_open( "test_render_cancelled.gif", SIZE, SIZE, 30, &error );
            setenv( "PATH", path, 1 );
            check_ok( video != NULL, &error );
            int left = 5;
            tr_work work;
            tr_work_begin( &work, is_wanted_for_a_while, &left );
            bool ok = true;
            for ( int i = 0; ok && i < ( kind == 0 ? 100 : 3 ); ++i )
                ok = tr_video_frame( video, rgb, &error );
            assert_true( ok == ( kind == 1 ) );
            if ( given_up || !ok )
                tr_video_discard( video );
            else
                ok = tr_video_close( video, &error );
            tr_work_end( &work );
            if ( !given_up ) {
                assert_false( ok );
                assert_string_equal( error.message, "cancelled" );
            }
            assert_int_equal( drafts_here(), drafts );
        }
    }
    unlink( program );
    rmdir( folder );
    tr_free( first );
    tr_free( path );
}

static void test_without_ffmpeg( void **state )
{
    (void)state;
    tr_error error = { 0 };
    char *path = tr_string_copy( getenv( "PATH" ) );
    assert_non_null( path );
    setenv( "PATH", "/no/such/folder", 1 );
    tr_video *video = tr_video_open( "a.mp4", 40, 40, 30, &error );
    setenv( "PATH", path, 1 );
    tr_free( path );
    assert_null( video );
    assert_string_equal( error.message, "ffmpeg is needed for videos: install the package ffmpeg" );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( test_stored_picture ),
        TEST( test_empty_scene ),
        TEST( test_ghosts_blend ),
        TEST( test_far_from_the_origin ),
        TEST( test_bad_calls ),
        TEST( test_still ),
        TEST( test_view_of_the_source ),
        TEST( test_view_fills_the_list ),
        TEST( test_view_highlights ),
        TEST( test_view_frames_the_cast ),
        TEST( test_view_frames_performers ),
        TEST( test_view_out_of_memory ),
        TEST( test_cameras_frame_the_action ),
        TEST( test_cameras_of_nothing ),
        TEST( test_view_names ),
        TEST( test_auto_spreads_a_row ),
        TEST( test_difference ),
        TEST( test_picture_files ),
        TEST( test_videos ),
        TEST( test_bad_videos ),
        TEST( test_torn_videos_leave_the_old_file ),
        TEST( test_without_ffmpeg ),
        TEST( test_videos_are_checked ),
        TEST( test_full_disk ),
        TEST( test_pictures_are_packed ),
        TEST( test_cancelled_videos ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
