// Where the floor is under feet of another shape: heights found, kept in files, and stood upon.
#include "folder.h"
#include "stage_fixture.h"

#include "scenes/scenes.h"

// The stick body with other feet: ankles 0.1 m above toes that are 0.12 m ahead and 0.04 m above the floor,
// which no joint reaches. It stands.
static void make_high_footed( tr_motion *motion, double floor )
{
    make_body( motion, 2 );
    for ( int j = 0; j < motion->skeleton.joint_count; ++j )
        if ( strstr( motion->skeleton.joints[j].name, "ToeBase" ) != NULL )
            motion->skeleton.joints[j].offset = v3( 0, -0.1, 0.12 );
    for ( int f = 0; f < 2; ++f )
        motion->clip.root[f].y = floor + 0.04 + 0.1 + 0.95;
}

static tr_sole sole( const fixture *x, const char *name )
{
    return x->stage.actors[0].soles[joint( &x->stage, 0, name )];
}

static void put_on_high_feet( fixture *x, double floor )
{
    tr_motion target;
    make_high_footed( &target, floor );
    begin( x );
    tr_cast *cast = add_straight( x, "a", v3_zero, 1 );
    check_ok( tr_library_add( &x->library, "high.bvh", &target, &x->error ), &x->error );
    snprintf( cast->target.skeleton.file, TR_PATH_MAX, "high.bvh" );
}

// The source stands upright on toes at 0 and ankles at 0.05 m; the target then stands as in its own file.
static void every_foot_stands_as_in_its_own_file( void **state )
{
    (void)state;
    fixture x;
    put_on_high_feet( &x, 0 );
    build( &x );
    tr_sole ankle = sole( &x, "LeftFoot" ), toe = sole( &x, "LeftToeBase" );
    check_near( ankle.source, 0.05, 1e-9 );
    check_near( ankle.target, 0.14, 1e-9 );
    check_near( toe.source, 0, 1e-9 );
    check_near( toe.target, 0.04, 1e-9 );
    tr_result result = solve( &x, "posegraph" );
    for ( int f = 0; f < FRAMES; ++f ) {
        const vec3 *p = tr_world_pose( &result.worlds[0], f ).positions;
        check_v3( p[0], v3( 0, 1.09, 0 ), 1e-3 );
        check_v3( p[joint( &x.stage, 0, "LeftFoot" )], v3( 0.1, 0.14, 0 ), 1e-3 );
        check_v3( p[joint( &x.stage, 0, "LeftToeBase" )], v3( 0.1, 0.04, 0.12 ), 1e-3 );
    }
    tr_result_free( &result );
    end( &x );
}

// A file whose feet are 0.1 m deep in its floor has its floor there: the toes are what it stands on.
static void no_file_stands_below_its_floor( void **state )
{
    (void)state;
    fixture x;
    put_on_high_feet( &x, -0.1 );
    build( &x );
    check_near( sole( &x, "RightFoot" ).target, 0.1, 1e-9 );
    check_near( sole( &x, "LeftToeBase" ).target, 0, 1e-9 );
    end( &x );
}

// A body in its own size with heights in that size; the same skeleton has no use for them.
static void heights_are_in_the_size_of_the_body( void **state )
{
    (void)state;
    fixture x;
    put_on_high_feet( &x, 0 );
    x.scene.cast[0].target.scale = 1.5;
    build( &x );
    check_near( sole( &x, "RightFoot" ).target, 0.21, 1e-9 );
    check_near( sole( &x, "RightFoot" ).source, 0.05, 1e-9 );
    end( &x );
    begin( &x );
    add_bent( &x, "a", v3_zero, 1.5 );
    build( &x );
    assert_null( x.stage.actors[0].soles );
    end( &x );
}

// A floor that is not at 0 and a source that was moved onto it.
static void the_ground_is_the_scenes( void **state )
{
    (void)state;
    fixture x;
    put_on_high_feet( &x, 0 );
    x.scene.ground = 0.3;
    x.scene.cast[0].position = v3( 0, 0.3, 0 );
    build( &x );
    check_near( sole( &x, "RightFoot" ).source, 0.05, 1e-9 );
    tr_result result = solve( &x, "posegraph" );
    check_near( tr_world_pose( &result.worlds[0], 5 ).positions[joint( &x.stage, 0, "LeftFoot" )].y, 0.44,
                1e-3 );
    tr_result_free( &result );
    end( &x );
}

// Heights in a map take precedence over those found in files, and are written into saved maps.
static void maps_tell_heights( void **state )
{
    (void)state;
    static const char map[] = "{\"version\": 1, \"joints\": {\"Hips\": \"Hips\", \"LeftFoot\": \"LeftFoot\"},"
                              "\"soles\": {\"LeftFoot\": [0.05, 0.2]}}";
    tr_error error;
    tr_motion source, target;
    tr_text text = { 0 };
    make_body( &source, 1 );
    make_high_footed( &target, 0 );
    tr_actor actor = { .source = source, .target = target.skeleton }, again = actor;
    check_ok( tr_joint_map_parse( &actor, map, sizeof map - 1, "map", &error ), &error );
    int foot = tr_skeleton_find( &target.skeleton, "LeftFoot" );
    assert_true( actor.soles[foot].known && actor.soles[foot].target == 0.2 );
    check_near( actor.soles[foot].source, 0.05, 0 );
    check_ok( tr_joint_map_print( &actor, false, &text, &error ), &error );
    check_ok( tr_joint_map_parse( &again, text.data, text.size, "again", &error ), &error );
    for ( int j = 0; j < target.skeleton.joint_count; ++j ) {
        assert_int_equal( again.soles[j].known, j == foot );
        check_near( again.soles[j].source, actor.soles[j].source, 0 );
        check_near( again.soles[j].target, actor.soles[j].target, 0 );
    }
    tr_text_free( &text );
    tr_joint_map_free( &actor );
    tr_joint_map_free( &again );
    tr_motion_free( &source );
    tr_motion_free( &target );
}

// The file that shows how feet stand is not in a folder of results: its joint map tells.
static void folders_of_results_keep_heights( void **state )
{
    (void)state;
    fixture x, again;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    put_on_high_feet( &x, 0 );
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_ok( tr_result_save( &x.stage, &out, "posegraph", folder, &x.error ), &x.error );
    open_folder( &again, folder );
    check_near( sole( &again, "LeftFoot" ).target, 0.14, 1e-9 );
    check_near( sole( &again, "LeftFoot" ).source, 0.05, 1e-9 );
    tr_result_free( &out );
    end( &again );
    end( &x );
    remove_folder( folder );
}

// On tiptoe, with a foot twice as long: the toes do not go through the floor.
static void long_feet_on_tiptoe_stay_above_the_floor( void **state )
{
    (void)state;
    fixture x;
    tr_motion source, target;
    make_body( &source, FRAMES );
    for ( int f = 0; f < FRAMES; ++f ) { // from flat to 60 degrees about the toes
        double angle = 60 * TR_DEGREE * f / ( FRAMES - 1 );
        quat turn = q_axis_angle( v3_x, angle );
        vec3 toe = q_rotate( turn, v3( 0, -0.05, 0.15 ) );
        for ( int j = 0; j < source.skeleton.joint_count; ++j )
            if ( strstr( source.skeleton.joints[j].name, "Foot" ) != NULL )
                tr_clip_frame( &source.clip, f )[j] = turn;
        source.clip.root[f] = v3( 0, 0.95 - toe.y, 0.15 - toe.z );
    }
    make_body( &target, 2 );
    for ( int j = 0; j < target.skeleton.joint_count; ++j )
        if ( strstr( target.skeleton.joints[j].name, "ToeBase" ) != NULL )
            target.skeleton.joints[j].offset = v3( 0, -0.05, 0.3 );
    begin( &x );
    tr_cast *cast = add_character( &x, "a", v3_zero, 1, &source );
    check_ok( tr_library_add( &x.library, "long.bvh", &target, &x.error ), &x.error );
    snprintf( cast->target.skeleton.file, TR_PATH_MAX, "long.bvh" );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    double lowest = INFINITY;
    for ( int f = 0; f < FRAMES; ++f )
        lowest = fmin(
            lowest, tr_world_pose( &result.worlds[0], f ).positions[joint( &x.stage, 0, "LeftToeBase" )].y );
    assert_true( lowest > -1e-3 );
    tr_result_free( &result );
    end( &x );
}

// How high toes may be goes by how tall one stands, not by how high one lies in the rest pose.
static void who_lies_at_rest_does_not_hover( void **state )
{
    (void)state;
    tr_opened relay;
    tr_stage stage;
    tr_error error = { 0 };
    double lower;
    check_ok( tr_open( &relay, "box_relay", 2, &error ), &error );
    check_ok( tr_stage_build( &stage, &relay.scene, NULL, &relay.library, NULL, &error ), &error );
    tr_actor *actor = &stage.actors[0];
    for ( int j = 0; j < actor->source.skeleton.joint_count; ++j ) {
        vec3 *offset = &actor->source.skeleton.joints[j].offset;
        *offset = v3( offset->x, 0, offset->y );
    }
    assert_true( tr_contacts_hover( &actor->source.skeleton, &actor->world, &actor->contacts,
                                    &stage.def.contacts, stage.ground, &lower ) == 0 );
    tr_stage_free( &stage );
    tr_opened_free( &relay );
}

// A source that hovers gives one warning, with what brings it down; after that there is none.
static void hovering_is_told( void **state )
{
    (void)state;
    tr_opened relay;
    tr_error error = { 0 };
    check_ok( tr_open( &relay, "box_relay", 2, &error ), &error );
    for ( int lowered = 0; lowered < 3; ++lowered ) {
        tr_stage stage;
        tr_log log = { 0 };
        double at = 0;
        relay.scene.cast[0].position.y = lowered == 1 ? 0.08 : 0;
        check_ok( tr_stage_build( &stage, &relay.scene, NULL, &relay.library, &log, &error ), &error );
        assert_int_equal( log.count, lowered == 1 );
        if ( lowered == 1 ) {
            assert_non_null( strstr( log.lines[0], "p01: its toes rest" ) );
            const char *place = strstr( log.lines[0], "position=" );
            assert_non_null( place );
            assert_int_equal( sscanf( place, "position=%*[^,],%lf", &at ), 1 );
            assert_true( at > -0.02 && at < 0.03 );
        }
        tr_log_free( &log );
        tr_stage_free( &stage );
    }
    tr_opened_free( &relay );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( hovering_is_told ),
        TEST( who_lies_at_rest_does_not_hover ),
        TEST( every_foot_stands_as_in_its_own_file ),
        TEST( no_file_stands_below_its_floor ),
        TEST( heights_are_in_the_size_of_the_body ),
        TEST( the_ground_is_the_scenes ),
        TEST( maps_tell_heights ),
        TEST( folders_of_results_keep_heights ),
        TEST( long_feet_on_tiptoe_stay_above_the_floor ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
