// Interaction meshes where there is hardly anything to keep: bodies that are flat, a line, a point, on top of
// each other, tiny or huge, windows with nothing in them. From the scene to the report: nothing breaks,
// nothing is infinite, and what could not be kept is said. And how the work grows: with frames and pairs.
#include "stage_fixture.h"

// The motion of a skeleton that stands still, its root at `height`.
static void stand( tr_motion *motion, double height, int frames )
{
    tr_error error;
    check_ok( tr_skeleton_classify( &motion->skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion->clip, frames, motion->skeleton.joint_count, FPS, false, &error ),
              &error );
    for ( int f = 0; f < frames; ++f )
        motion->clip.root[f] = v3( 0, height, 0 );
}

// A chain of joints straight up; with one joint a point.
static void add_pole( fixture *x, const char *id, vec3 place, double scale, int joints )
{
    tr_motion motion = { 0 };
    int above = -1;
    for ( int j = 0; j < joints; ++j ) {
        char name[16];
        snprintf( name, sizeof name, "Link%d", j );
        above = tr_skeleton_add( &motion.skeleton, name, above, v3( 0, j == 0 ? 0.5 : 0.3, 0 ) );
    }
    stand( &motion, 0.5, FRAMES );
    add_character( x, id, place, scale, &motion );
}

// A body without depth: every joint in one plane, also that of its neighbours.
static void add_flat( fixture *x, const char *id, vec3 place, double scale )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    for ( int j = 0; j < motion.skeleton.joint_count; ++j )
        motion.skeleton.joints[j].offset.z = 0;
    add_character( x, id, place, scale, &motion );
}

static int count_of( const json_t *window, const char *key )
{
    return (int)json_array_size( json_object_get( window, key ) );
}

// Everything finite, bones as long as they are, and a report that says so many windows. Returns how many
// relations it names as not kept, or without room.
static int check_survived( fixture *x, int windows )
{
    build( x );
    tr_result result = solve( x, "imesh" );
    tr_measures measures;
    tr_text text = { 0 };
    json_t *root;
    int named = 0;
    for ( int a = 0; a < x->stage.actor_count; ++a )
        for ( int k = 0; k < x->stage.frame_count * result.worlds[a].joint_count; ++k )
            assert_true( v3_finite( result.worlds[a].positions[k] ) );
    check_ok( tr_measure( &measures, &x->stage, &result, &x->error ), &x->error );
    check_near( tr_measures_find( &measures, "bone_length_error_pct" )->fields[0].out, 0, 1e-6 );
    assert_true( tr_report_print( &x->stage, &result, "imesh", &text ) );
    assert_null( strstr( text.data, "nan" ) );
    assert_null( strstr( text.data, "inf" ) );
    check_ok( tr_json_parse( &root, text.data, text.size, "report", &x->error ), &x->error );
    const json_t *all = json_object_get( json_object_get( root, "imesh" ), "windows" );
    assert_int_equal( json_array_size( all ), windows );
    for ( int w = 0; w < windows; ++w )
        named += count_of( json_array_get( all, (size_t)w ), "lost" ) +
                 count_of( json_array_get( all, (size_t)w ), "no_room" );
    json_decref( root );
    tr_text_free( &text );
    tr_measures_free( &measures );
    tr_result_free( &result );
    return named;
}

// -------------------------------------------------------------------------------------------------- shapes

static void flat_people_are_fine( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_flat( &x, "a", v3_zero, 1.3 );
    add_flat( &x, "b", v3( 1.65, 0, 0 ), 0.8 );
    check_survived( &x, 1 );
    end( &x );
}

static void poles_and_points_are_fine( void **state )
{
    (void)state;
    for ( int joints = 1; joints <= 5; ++joints ) { // together two points, four, six …
        fixture x;
        begin( &x );
        add_pole( &x, "a", v3_zero, 1.3, joints );
        add_pole( &x, "b", v3( 0.08, 0, 0 ), 0.8, joints );
        check_survived( &x, 1 );
        end( &x );
    }
}

static void people_in_the_same_place_are_fine( void **state )
{
    (void)state;
    static const double apart[] = { 0, 1e-9, 0.05 }; // every point double, nearly, deep in each other
    for ( int i = 0; i < 3; ++i ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1.25 );
        add_bent( &x, "b", v3( 0, 0, apart[i] ), 0.8 );
        check_survived( &x, 1 );
        end( &x );
    }
}

static void dwarfs_and_giants_are_reported( void **state )
{
    (void)state;
    static const double sizes[][2] = { { 0.2, 1 }, { 5, 1 }, { 0.2, 5 } };
    for ( int i = 0; i < 3; ++i ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, sizes[i][0] );
        add_bent( &x, "b", v3( 0, 0, 0.35 ), sizes[i][1] )->heading = 180;
        assert_true( check_survived( &x, 1 ) > 0 ); // hands that touched cannot any more, and it says so
        end( &x );
    }
}

// -------------------------------------------------------------------------------------------------- windows

static void empty_windows_are_fine( void **state )
{
    (void)state;
    static const char *const ops[] = { "pair_add id=p kind=exclude a=a b=b\n",            // none left
                                       "pair_add id=p kind=limit a=a b=b range=15,15\n",  // too short
                                       "pair_add id=p kind=limit a=a b=b range=15,18\n",  // a few frames
                                       "pair_add id=p kind=link a=a b=b range=400,500\n", // out of the scene
                                       "scene_set range=0,0\n" };                         // a single frame
    static const int windows[] = { 0, 0, 1, 1, 1 };
    for ( int i = 0; i < 5; ++i ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1.2 );
        add_bent( &x, "b", v3( 0, 0, 0.3 ), 0.9 );
        edit( &x, ops[i] );
        check_survived( &x, windows[i] );
        end( &x );
    }
}

// ------------------------------------------------------------------------------------------- how work grows

// Frames: memory in proportion, and no more rounds for more frames, so time as well.
static void work_grows_with_frames( void **state )
{
    (void)state;
    double bytes[3], rounds[3];
    for ( int i = 0; i < 3; ++i ) {
        fixture x;
        int frames = 30 << i;
        begin( &x );
        x.scene.last = frames - 1;
        for ( int c = 0; c < 2; ++c ) {
            tr_motion motion;
            make_body( &motion, frames );
            bend_a_little( &motion );
            add_character( &x, c == 0 ? "a" : "b", v3( 0, 0, 0.3 * c ), c == 0 ? 1.2 : 0.9, &motion );
        }
        build( &x );
        tr_result result = solve( &x, "imesh" );
        assert_int_equal( result.mesh_count, 1 );
        bytes[i] = (double)result.meshes[0].bytes;
        rounds[i] = result.meshes[0].mesh.iterations;
        tr_result_free( &result );
        end( &x );
    }
    for ( int i = 1; i < 3; ++i ) {
        check_near( bytes[i] / bytes[0], 1 << i, 0.05 * ( 1 << i ) );
        assert_true( rounds[i] <= 1.5 * rounds[0] );
    }
}

// Pairs: a window each, all of the same size.
static void work_grows_with_pairs( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    for ( int i = 0; i < 16; ++i ) {
        char id[16];
        snprintf( id, sizeof id, "p%02d", i );
        add_bent( &x, id, v3( 4.0 * ( i / 2 ), 0, 0.3 * ( i % 2 ) ), i % 2 ? 0.9 : 1.2 );
    }
    build( &x );
    tr_result result = solve( &x, "imesh" );
    assert_int_equal( result.mesh_count, 8 );
    for ( int w = 0; w < 8; ++w ) {
        assert_int_equal( result.meshes[w].member_count, 2 );
        assert_int_equal( result.meshes[w].mesh.iterations, result.meshes[0].mesh.iterations );
        check_near( (double)result.meshes[w].bytes, (double)result.meshes[0].bytes,
                    0.02 * (double)result.meshes[0].bytes );
    }
    tr_result_free( &result );
    end( &x );
}

// -------------------------------------------------------------------------------------------- what may pass

static double overlap_of( fixture *x, const char *key )
{
    tr_result result = solve( x, "copy" );
    tr_measures measures;
    check_ok( tr_measure( &measures, &x->stage, &result, &x->error ), &x->error );
    double deepest = tr_measures_find( &measures, key )->fields[1].out;
    tr_measures_free( &measures );
    tr_result_free( &result );
    return deepest;
}

static double glow_of( fixture *x )
{
    tr_result result = solve( x, "copy" );
    tr_strips strips;
    check_ok( tr_strips_measure( &strips, &x->stage, &result, &x->error ), &x->error );
    double deepest = strips.items[TR_STRIP_OVERLAP].out[15];
    tr_strips_free( &strips );
    tr_result_free( &result );
    return deepest;
}

// An overlap that a pair of the scene allows counts neither in the figures nor in the editor, but only in its
// frames and for that pair.
static void what_may_pass_does_not_count( void **state )
{
    (void)state;
    static const char *const keys[] = { "inter_penetration", "prop_penetration" };
    static const char *const ops[] = { "pair_add id=p kind=pass a=b b=a\npair_add id=q kind=pass a=a b=box\n",
                                       "pair_add id=p kind=pass a=b b=a range=0,10\n" };
    double deepest[3][2], glow[3];
    for ( int i = 0; i < 3; ++i ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        add_bent( &x, "b", v3( 0, 0, 0.1 ), 1 );
        tr_prop box = tr_default_prop( "box" );
        box.position = v3( 0, 1.2, -0.1 );
        tr_scene_add_prop( &x.scene, &box );
        if ( i > 0 )
            edit( &x, ops[i - 1] );
        build( &x );
        for ( int k = 0; k < 2; ++k )
            deepest[i][k] = overlap_of( &x, keys[k] );
        glow[i] = glow_of( &x );
        end( &x );
    }
    assert_true( deepest[0][0] > 10 && deepest[0][1] > 10 && glow[0] > 10 );
    check_near( deepest[1][0], 0, 0 );
    assert_true( deepest[1][1] < deepest[0][1] ); // b and the box are left
    assert_true( glow[1] < glow[0] );
    check_near( deepest[2][0], deepest[0][0], 1e-9 ); // from frame 11 on they count
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( flat_people_are_fine ),
        TEST( poles_and_points_are_fine ),
        TEST( people_in_the_same_place_are_fine ),
        TEST( dwarfs_and_giants_are_reported ),
        TEST( empty_windows_are_fine ),
        TEST( work_grows_with_frames ),
        TEST( work_grows_with_pairs ),
        TEST( what_may_pass_does_not_count ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
