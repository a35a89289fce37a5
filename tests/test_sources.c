// Warnings about sources, and targets whose skeleton is the source's in another file.
#include "captures.h"
#include "check.h"

#include "troupe.h"

typedef struct take {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
    tr_log log;
} take;

static void begin( take *t )
{
    tr_error error = { 0 };
    tr_motion walk;
    char path[CAPTURE_PATH];
    *t = ( take ){ .scene = tr_default_scene() };
    check_ok( tr_motion_load( &walk, capture_path( path, "walk.bvh" ), NULL, NULL, &error ), &error );
    t->scene.fps = walk.clip.fps;
    t->scene.last = 119;
    assert_true( walk.clip.frame_count > 120 );
    tr_cast cast = tr_default_cast( "p" );
    snprintf( cast.source.file, sizeof cast.source.file, "walk.bvh" );
    cast.source.last = 119;
    check_ok( tr_library_add( &t->library, "walk.bvh", &walk, &error ), &error );
    assert_non_null( tr_scene_add_cast( &t->scene, &cast ) );
}

static tr_motion *motion_of( take *t )
{
    return &t->library.items[0].motion;
}

static void stage( take *t )
{
    tr_error error = { 0 };
    check_ok( tr_stage_build( &t->stage, &t->scene, NULL, &t->library, &t->log, &error ), &error );
}

static void end( take *t )
{
    tr_result_free( &t->result );
    tr_stage_free( &t->stage );
    tr_library_free( &t->library );
    tr_scene_free( &t->scene );
    tr_log_free( &t->log );
}

static bool tells( const take *t, const char *words )
{
    for ( int i = 0; i < t->log.count; ++i )
        if ( strstr( t->log.lines[i], words ) != NULL )
            return true;
    return false;
}

static void sources_that_jump( void **state )
{
    (void)state;
    take t;
    begin( &t );
    stage( &t );
    assert_false( tells( &t, "clean it" ) );
    assert_false( tells( &t, "goes on" ) );
    end( &t );

    begin( &t );
    t.scene.first = -10;
    t.scene.cast[0].start = -10;
    t.scene.last = 109;
    int head = tr_skeleton_find( &motion_of( &t )->skeleton, "Head" );
    assert_true( head >= 0 );
    for ( int f = 50; f < motion_of( &t )->clip.frame_count; ++f ) {
        quat *turn = &tr_clip_frame( &motion_of( &t )->clip, f )[head];
        *turn = q_mul( *turn, q_axis_angle( v3( 0, 1, 0 ), 2.5 ) );
    }
    stage( &t );
    assert_true( tells( &t, "p: Head of its source turns by 14" ) );
    assert_true( tells( &t, "from frame 39 to 40" ) );
    end( &t );

    begin( &t );
    for ( int f = 70; f < motion_of( &t )->clip.frame_count; ++f )
        motion_of( &t )->clip.root[f].x += 2;
    motion_of( &t )->clip.root[90].x += 3;
    stage( &t );
    assert_true( tells( &t, "p: its source leaps by 2.0" ) );
    assert_true( tells( &t, "from frame 69 to 70, the first of 3 jumps" ) );
    end( &t );
}

static void joints_that_move_against_their_parents( void **state )
{
    (void)state;
    take t;
    begin( &t );
    tr_clip *clip = &motion_of( &t )->clip;
    const tr_skeleton *skeleton = &motion_of( &t )->skeleton;
    int head = tr_skeleton_find( skeleton, "Head" );
    clip->translations = tr_alloc( (size_t)clip->frame_count * (size_t)clip->joint_count, sizeof( vec3 ) );
    assert_non_null( clip->translations );
    for ( int f = 0; f < clip->frame_count; ++f )
        for ( int j = 0; j < clip->joint_count; ++j ) {
            vec3 *at = &clip->translations[f * clip->joint_count + j];
            *at = skeleton->joints[j].offset;
            at->y += j == head && f % 2 == 0 ? 1 : 0;
        }
    stage( &t );
    assert_true( tells( &t, "p: Head of its source moves by up to 0.50 m against its parent" ) );
    end( &t );

    begin( &t );
    stage( &t );
    assert_false( tells( &t, "against its parent" ) );
    end( &t );
}

static void ranges_longer_than_the_motion( void **state )
{
    (void)state;
    take t;
    begin( &t );
    t.scene.last = 200;
    t.scene.cast[0].start = 5;
    stage( &t );
    assert_true( tells( &t, "the scene goes on to frame 200, but its last motion ends at frame 124" ) );
    end( &t );

    begin( &t );
    t.scene.last = 7;
    t.scene.cast[0].source.last = t.scene.cast[0].source.first = 0;
    stage( &t );
    assert_true( tells( &t, "the scene goes on to frame 7, but no source has more than one frame" ) );
    end( &t );
}

// The same skeleton, in any size, as a file of one frame whose hips are at the origin: nothing sinks.
static void a_rest_file_of_the_same_skeleton( void **state )
{
    (void)state;
    static const char *const methods[] = { "copy-ik", "posegraph" };
    for ( int m = 0; m < 4; ++m ) {
        take own, other;
        tr_error error = { 0 };
        double scale = m < 2 ? 1 : 1.3;
        begin( &own );
        own.scene.cast[0].target.scale = scale;
        begin( &other );
        tr_motion rest = { 0 };
        check_ok( tr_skeleton_copy( &rest.skeleton, &motion_of( &other )->skeleton, &error ), &error );
        for ( int j = 0; j < rest.skeleton.joint_count; ++j )
            rest.skeleton.joints[j].offset = v3_scale( scale, rest.skeleton.joints[j].offset );
        check_ok( tr_clip_alloc( &rest.clip, 1, rest.skeleton.joint_count, 30, false, &error ), &error );
        check_ok( tr_library_add( &other.library, "rest.bvh", &rest, &error ), &error );
        snprintf( other.scene.cast[0].target.skeleton.file, TR_PATH_MAX, "rest.bvh" );
        take *const both[] = { &own, &other };
        for ( int i = 0; i < 2; ++i ) {
            stage( both[i] );
            check_ok( tr_pipeline_run( &both[i]->result, &both[i]->stage, tr_method_find( methods[m % 2] ),
                                       &error ),
                      &error );
        }
        for ( int f = 0; f < own.stage.frame_count; f += 5 )
            check_near( other.result.motions[0].clip.root[f].y, own.result.motions[0].clip.root[f].y, 2e-3 );
        end( &own );
        end( &other );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( sources_that_jump ),
        TEST( joints_that_move_against_their_parents ),
        TEST( ranges_longer_than_the_motion ),
        TEST( a_rest_file_of_the_same_skeleton ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
