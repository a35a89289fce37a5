// What each method makes of a stage, and the folders results are kept in.
#include "folder.h"
#include "geometry/geometry.h"
#include "stage_fixture.h"

static void equal_bodies_give_the_source_back( void **state )
{
    (void)state;
    const char *methods[] = { "copy", "copy-ik", "posegraph", "imesh" };
    for ( int m = 0; m < 4; ++m ) {
        fixture x;
        begin( &x );
        tr_motion walk;
        make_body( &walk, FRAMES );
        bend_a_little( &walk );
        for ( int f = 0; f < FRAMES; ++f ) // slides a little: labelled as resting all the same
            walk.clip.root[f] = v3( 0.001 * f, 0.955, 0.3 );
        add_character( &x, "a", v3( 2, 0, 1 ), 1.0, &walk );
        x.scene.cast[0].heading = 30;
        build( &x );
        tr_result result = solve( &x, methods[m] );
        for ( int i = 0; i < FRAMES * result.worlds[0].joint_count; ++i )
            check_v3( result.worlds[0].positions[i], x.stage.actors[0].world.positions[i],
                      m == 0   ? 1e-12
                      : m == 1 ? 1e-6
                               : 1e-5 );
        tr_result_free( &result );
        end( &x );
    }
}

// A box of 0.3 m that stands in the air and has its middle in a left hand from frame 10 to 20.
static void hold_box( fixture *x, const char *who, vec3 place, int ease )
{
    tr_prop box = tr_default_prop( "box" );
    box.size = v3( 0.3, 0.3, 0.3 );
    box.position = place;
    tr_scene_add_prop( &x->scene, &box );
    tr_constraint hold =
        relation( "hold", tr_point_joint( who, "LeftHand" ), tr_point_prop( "box", v3_zero ) );
    hold.given = true;
    hold.first = 10;
    hold.last = 20;
    hold.ease_in = hold.ease_out = ease;
    tr_scene_add_constraint( &x->scene, &hold );
}

static void hands_reach_the_box( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    hold_box( &x, "a", v3( 0.45, 1.2, 0.3 ), 4 );
    build( &x );
    tr_result copy = solve( &x, "copy" ), ik = solve( &x, "copy-ik" );
    assert_true( copy.reports[0].max_mm > 50 );
    assert_true( ik.reports[0].max_mm < 1e-3 );
    int hand = joint( &x.stage, 0, "LeftHand" ), other = joint( &x.stage, 0, "RightHand" );
    check_v3( tr_world_pose( &ik.worlds[0], 0 ).positions[hand],
              tr_world_pose( &copy.worlds[0], 0 ).positions[hand], 1e-9 );
    check_v3( tr_world_pose( &ik.worlds[0], 15 ).positions[other],
              tr_world_pose( &copy.worlds[0], 15 ).positions[other], 1e-9 );
    tr_result_free( &copy );
    tr_result_free( &ik );
    end( &x );
}

// A soft rule moves its hand by its weight's share of the way, from not at all to all of it.
static void soft_rules_pull_with_their_weight( void **state )
{
    (void)state;
    const double weights[] = { 0, 0.25, 1, 50 };
    for ( int i = 0; i < 4; ++i ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1.0 );
        tr_constraint place = tr_default_constraint( "place", TR_CONSTRAINT_ABSOLUTE );
        place.a = tr_point_joint( "a", "LeftHand" );
        place.given = true;
        place.target = v3( 0.45, 1.2, 0.3 );
        place.hard = false;
        place.weight = weights[i];
        tr_scene_add_constraint( &x.scene, &place );
        build( &x );
        tr_result copy = solve( &x, "copy" ), ik = solve( &x, "copy-ik" );
        assert_true( copy.reports[0].max_mm > 50 );
        check_near( ik.reports[0].max_mm, ( 1 - fmin( weights[i], 1 ) ) * copy.reports[0].max_mm, 1e-3 );
        tr_result_free( &copy );
        tr_result_free( &ik );
        end( &x );
    }
}

// Places for the left hand: how far it goes there depends on hard, weight and axes.
static tr_constraint place_hand( const char *id, vec3 target )
{
    tr_constraint place = tr_default_constraint( id, TR_CONSTRAINT_ABSOLUTE );
    place.a = tr_point_joint( "a", "LeftHand" );
    place.target = target;
    place.given = true;
    return place;
}

static void rules_pull_on_their_axes_and_hard_ones_first( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    build( &x );
    tr_result copy = solve( &x, "copy" );
    vec3 hand = tr_world_pose( &copy.worlds[0], 0 ).positions[joint( &x.stage, 0, "LeftHand" )];
    tr_result_free( &copy );
    tr_stage_free( &x.stage );
    tr_constraint height = place_hand( "height", v3_add( hand, v3( 1, -0.1, 1 ) ) );
    height.axis[0] = height.axis[2] = false;
    tr_constraint pull = place_hand( "pull", v3_add( hand, v3( -0.08, 0.3, 0 ) ) );
    pull.hard = false;
    pull.weight = 0.75;
    tr_scene_add_constraint( &x.scene, &height );
    tr_scene_add_constraint( &x.scene, &pull );
    build( &x );
    tr_result ik = solve( &x, "copy-ik" );
    vec3 moved = tr_world_pose( &ik.worlds[0], 9 ).positions[joint( &x.stage, 0, "LeftHand" )];
    // The height is the hard rule's alone; sideways the soft one wins three quarters of 8 cm.
    check_v3( v3_sub( moved, hand ), v3( -0.06, -0.1, 0 ), 1e-6 );
    tr_result_free( &ik );
    end( &x );
}

static void two_hands_meet_half_way( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1.0 );
    add_bent( &x, "b", v3( 1.2, 0, 0.1 ), 0.9 );
    tr_constraint link =
        relation( "link", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
    link.given = true;
    tr_scene_add_constraint( &x.scene, &link );
    build( &x );
    tr_result ik = solve( &x, "copy-ik" );
    assert_true( ik.reports[0].max_mm < 1e-3 );
    tr_result_free( &ik );
    end( &x );
}

// The pose graph moves box and body towards each other; what no arm can reach gives way and says so.
static void the_pose_graph_keeps_links_and_reports_the_rest( void **state )
{
    (void)state;
    for ( int apart = 0; apart < 2; ++apart ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1.0 );
        add_bent( &x, "b", v3( apart ? 4.0 : 1.4, 0, 0.1 ), 0.8 );
        tr_constraint link =
            relation( "link", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
        link.given = true;
        tr_scene_add_constraint( &x.scene, &link );
        build( &x );
        tr_result result = solve( &x, "posegraph" );
        assert_int_equal( result.reports[0].gave_way, apart );
        if ( !apart )
            assert_true( result.reports[0].max_mm < 1.0 );
        for ( int r = 1; r < x.stage.rule_count; ++r ) // feet stay where they are either way
            if ( x.stage.rules[r].kind == TR_CONSTRAINT_CONTACT )
                assert_true( result.reports[r].max_mm < 1.0 );
        tr_result_free( &result );
        end( &x );
    }
}

static void a_held_box_comes_along( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.8 );
    const vec3 place = v3( 0.65, 1.35, 0.3 );
    hold_box( &x, "a", place, 5 );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    assert_true( result.reports[0].max_mm < 1.0 );
    check_v3( result.tracks[0][0].position, place, 1e-5 ); // not held yet
    assert_true( v3_distance( result.tracks[0][15].position, place ) > 0.01 );
    check_rotation( result.tracks[0][15].rotation, q_identity, 1e-9 );
    tr_result_free( &result );
    end( &x );
}

static void check_same_bits( const char *method )
{
    fixture x;
    begin( &x );
    for ( int i = 0; i < 3; ++i ) {
        tr_motion a;
        make_body( &a, FRAMES );
        bend_a_little( &a );
        for ( int f = 0; f < FRAMES; ++f )
            a.clip.root[f] = v3( 0, 0.95 + 0.01 * sin( 0.3 * f ), 0.02 * f );
        add_character( &x, ( const char *[] ){ "a", "b", "c" }[i], v3( 0.9 * i, 0, 0 ), 0.8 + 0.2 * i, &a );
    }
    tr_constraint link =
        relation( "link", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
    tr_scene_add_constraint( &x.scene, &link );
    const vec3 place = v3( 2.4, 1.35, 0.4 );
    hold_box( &x, "c", place, 5 );
    build( &x );
    int threads[] = { 1, 2, 3, 8 };
    tr_result first = { 0 };
    for ( int t = 0; t < 4; ++t ) {
        tr_result result;
        tr_parallel_set_threads( threads[t] );
        check_ok( tr_pipeline_run( &result, &x.stage, tr_method_find( method ), &x.error ), &x.error );
        if ( t == 0 ) {
            first = result;
            continue;
        }
        for ( int i = 0; i < 3; ++i ) {
            const tr_clip *p = &first.motions[i].clip, *q = &result.motions[i].clip;
            size_t cells = (size_t)p->frame_count * (size_t)p->joint_count;
            assert_memory_equal( p->rotations, q->rotations, cells * sizeof( quat ) );
            assert_memory_equal( p->root, q->root, (size_t)p->frame_count * sizeof( vec3 ) );
        }
        assert_memory_equal( first.tracks[0], result.tracks[0], FRAMES * sizeof( rigid ) );
        for ( int r = 0; r < x.stage.rule_count; ++r )
            assert_true( first.reports[r].max_mm == result.reports[r].max_mm );
        tr_result_free( &result );
    }
    tr_parallel_set_threads( 0 );
    bool still = v3_distance( first.tracks[0][15].position, place ) < 0.01;
    assert_true( still == ( strcmp( method, "copy-ik" ) == 0 ) ); // the box is really carried
    tr_result_free( &first );
    end( &x );
}

static void same_bits_for_any_number_of_threads( void **state )
{
    (void)state;
    check_same_bits( "copy-ik" );
    check_same_bits( "posegraph" );
    check_same_bits( "imesh" );
}

static void result_folders_read_back( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion a, b;
    make_body( &a, FRAMES );
    make_body( &b, FRAMES );
    bend_a_little( &a );
    add_character( &x, "a", v3( 1, 0, 2 ), 1.1, &a );
    add_character( &x, "b", v3( 2.5, 0, 2 ), 0.8, &b );
    x.scene.cast[0].heading = 77;
    x.scene.first = 3; // the folder keeps the scene's frame numbers
    tr_prop box = tr_default_prop( "box" );
    box.position = v3( 1.5, 1, 2 );
    tr_scene_add_prop( &x.scene, &box );
    tr_constraint hold =
        relation( "hold", tr_point_joint( "a", "LeftHand" ), tr_point_prop( "box", v3( 0.1, 0, 0 ) ) );
    hold.first = 10;
    hold.last = 20;
    tr_scene_add_constraint( &x.scene, &hold );
    build( &x );
    tr_result out, back, twice;
    check_ok( tr_pipeline_run( &out, &x.stage, tr_method_find( "copy-ik" ), &x.error ), &x.error );
    char folder[FOLDER_SIZE];
    new_folder( folder );
    check_ok( tr_result_save( &x.stage, &out, "copy-ik", folder, &x.error ), &x.error );
    check_ok( tr_result_load( &back, &x.stage, folder, &x.error ), &x.error );
    fixture again;
    open_folder( &again, folder );
    assert_int_equal( again.stage.frame_count, x.stage.frame_count );
    assert_int_equal( again.stage.rule_count, x.stage.rule_count );
    check_ok( tr_result_load( &twice, &again.stage, folder, &x.error ), &x.error );
    for ( int i = 0; i < 2; ++i ) { // a file lists joints depth first; find them by name
        for ( int n = 0; n < out.worlds[i].frame_count * out.worlds[i].joint_count; ++n )
            check_v3( back.worlds[i].positions[n], out.worlds[i].positions[n], 1e-9 );
        for ( int j = 0; j < x.stage.actors[i].target.joint_count; ++j ) {
            int there =
                tr_skeleton_find( &again.stage.actors[i].target, x.stage.actors[i].target.joints[j].name );
            for ( int f = 0; f < again.stage.frame_count; ++f ) {
                check_v3( tr_world_pose( &again.stage.actors[i].world, f ).positions[there],
                          tr_world_pose( &x.stage.actors[i].world, f ).positions[j], 1e-9 );
                check_v3( tr_world_pose( &twice.worlds[i], f ).positions[there],
                          tr_world_pose( &out.worlds[i], f ).positions[j], 1e-9 );
            }
        }
    }
    check_near( twice.reports[0].max_mm, out.reports[0].max_mm, 1e-5 );
    assert_int_equal( again.stage.rules[0].first, 7 );
    assert_true( again.scene.first == 3 && again.scene.last == FRAMES - 1 &&
                 again.scene.constraints[0].first == 10 );
    tr_text report = { 0 }, told = { 0 };
    assert_true( tr_report_print( &x.stage, &out, "copy-ik", &report ) );
    assert_true( tr_report_print( &again.stage, &twice, "copy-ik", &told ) );
    assert_non_null( strstr( report.data, "\"range\": [10, 20]" ) );
    assert_non_null( strstr( told.data, "\"range\": [10, 20]" ) );
    tr_text_free( &report );
    tr_text_free( &told );
    tr_result_free( &twice );
    end( &again );
    tr_result_free( &back );
    tr_result_free( &out );
    end( &x );
    remove_folder( folder );
}

// The report of a folder lists what gave way; folders of other programs have no such list.
static void folders_tell_what_gave_way( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1.0 );
    add_bent( &x, "b", v3( 4, 0, 0 ), 0.8 );
    tr_constraint link =
        relation( "link", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
    link.given = true;
    tr_scene_add_constraint( &x.scene, &link );
    build( &x );
    tr_result out = solve( &x, "posegraph" ), back;
    char folder[FOLDER_SIZE], path[128];
    new_folder( folder );
    check_ok( tr_result_save( &x.stage, &out, "posegraph", folder, &x.error ), &x.error );
    check_ok( tr_result_load( &back, &x.stage, folder, &x.error ), &x.error );
    for ( int r = 0; r < x.stage.rule_count; ++r )
        assert_int_equal( back.reports[r].gave_way, r == 0 );
    tr_result_free( &back );
    snprintf( path, sizeof path, "%s/report.json", folder );
    assert_int_equal( remove( path ), 0 );
    check_ok( tr_result_load( &back, &x.stage, folder, &x.error ), &x.error );
    assert_false( back.reports[0].gave_way );
    tr_result_free( &back );
    check_ok( tr_file_write( path, "{\"gave_way\": [{}]}", 18, &x.error ), &x.error );
    assert_false( tr_result_load( &back, &x.stage, folder, &x.error ) );
    assert_string_equal( x.error.path, "gave_way[0].id" );
    tr_result_free( &out );
    end( &x );
    remove_folder( folder );
}

// Files may name joints with more bytes than scenes may; the report tells them whole, in valid UTF-8.
static void reports_tell_long_joint_names_whole( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion a;
    make_body( &a, FRAMES );
    char name[256] = "LeftFoot_";
    for ( int i = 0; i < 60; ++i )
        strcat( name, "é" );
    tr_joint *foot = &a.skeleton.joints[tr_skeleton_find( &a.skeleton, "LeftFoot" )];
    tr_free( foot->name );
    foot->name = tr_string_copy( name );
    add_character( &x, "a", v3_zero, 1, &a );
    build( &x );
    tr_result out = solve( &x, "copy" );
    tr_text report = { 0 };
    assert_true( tr_report_print( &x.stage, &out, "copy", &report ) );
    assert_true( tr_utf8_valid( report.data, report.size ) );
    assert_non_null( strstr( report.data, name ) );
    tr_text_free( &report );
    tr_result_free( &out );
    end( &x );
}

// A target whose arms hang down at rest, and which lies on its back, still takes over the source's pose.
static void rest_poses_are_brought_together( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_motion other;
    make_body( &other, 1 );
    quat back = q_axis_angle( v3_x, -90 * TR_DEGREE );
    for ( int j = 0; j < other.skeleton.joint_count; ++j ) {
        tr_joint *joint = &other.skeleton.joints[j];
        if ( strstr( joint->name, "ForeArm" ) != NULL || strstr( joint->name, "Hand" ) != NULL )
            joint->offset = v3( 0, -0.3, 0 ); // down instead of sideways
        joint->offset = q_rotate( back, joint->offset );
    }
    check_ok( tr_library_add( &x.library, "other.bvh", &other, &x.error ), &x.error );
    snprintf( x.scene.cast[0].target.skeleton.file, TR_PATH_MAX, "other.bvh" );
    build( &x );
    tr_result result = solve( &x, "copy" );
    tr_pose pose = tr_world_pose( &result.worlds[0], 3 ),
            source = tr_world_pose( &x.stage.actors[0].world, 3 );
    for ( int j = 1; j < result.worlds[0].joint_count; ++j )
        check_v3( v3_sub( pose.positions[j], pose.positions[0] ),
                  v3_sub( source.positions[j], source.positions[0] ), 1e-9 );
    tr_result_free( &result );
    end( &x );
}

// At a given place the height counts too, unless its axes leave it out.
static void a_centre_of_mass_goes_to_its_place( void **state )
{
    (void)state;
    for ( int over = 0; over < 2; ++over ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        x.scene.cast[0].contacts = x.scene.cast[0].soles = false;
        tr_constraint mass = tr_default_constraint( "mass", TR_CONSTRAINT_CENTRE_OF_MASS );
        mass.a = ( tr_point ){ .who = "a" };
        mass.given = true;
        mass.target = v3( 0, 0.5, 0 );
        mass.axis[1] = over == 0;
        tr_scene_add_constraint( &x.scene, &mass );
        build( &x );
        tr_result copy = solve( &x, "copy" ), out = solve( &x, "posegraph" );
        double sunk = copy.worlds[0].positions[0].y - out.worlds[0].positions[0].y;
        assert_true( over ? fabs( sunk ) < 0.01 : sunk > 0.5 );
        assert_true( out.reports[0].max_mm < 0.1 * copy.reports[0].max_mm );
        tr_result_free( &copy );
        tr_result_free( &out );
        end( &x );
    }
}

static void every_failed_allocation_is_survived( void **state )
{
    (void)state;
    for ( long n = 1;; n += n < 400 ? 1 : 7 ) { // a long tail of much alike
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 0.9 );
        tr_result result = { 0 };
        tr_memory_fail_from( n );
        bool ok = tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &x.error ) &&
                  tr_pipeline_run( &result, &x.stage, tr_method_find( NULL ), &x.error );
        tr_memory_fail_from( 0 );
        if ( !ok )
            assert_non_null( strstr( x.error.message, "memory" ) );
        tr_result_free( &result );
        end( &x );
        assert_int_equal( tr_memory_live(), 0 );
        if ( ok )
            return;
        assert_true( n < 20000 );
    }
}

static void an_empty_cast_and_one_frame_are_fine( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_result result;
    build( &x );
    check_ok( tr_pipeline_run( &result, &x.stage, tr_method_find( NULL ), &x.error ), &x.error );
    tr_result_free( &result );
    tr_stage_free( &x.stage );
    tr_motion a;
    make_body( &a, 1 );
    add_character( &x, "a", v3_zero, 0.9, &a );
    x.scene.last = 0;
    build( &x );
    check_ok( tr_pipeline_run( &result, &x.stage, tr_method_find( NULL ), &x.error ), &x.error );
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( equal_bodies_give_the_source_back ),
        TEST( hands_reach_the_box ),
        TEST( soft_rules_pull_with_their_weight ),
        TEST( rules_pull_on_their_axes_and_hard_ones_first ),
        TEST( two_hands_meet_half_way ),
        TEST( the_pose_graph_keeps_links_and_reports_the_rest ),
        TEST( a_held_box_comes_along ),
        TEST( same_bits_for_any_number_of_threads ),
        TEST( result_folders_read_back ),
        TEST( folders_tell_what_gave_way ),
        TEST( reports_tell_long_joint_names_whole ),
        TEST( rest_poses_are_brought_together ),
        TEST( a_centre_of_mass_goes_to_its_place ),
        TEST( every_failed_allocation_is_survived ),
        TEST( an_empty_cast_and_one_frame_are_fine ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
