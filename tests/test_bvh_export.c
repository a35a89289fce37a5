// From a motion to a BVH file: what is not edited keeps its bits, what is new survives, memory may run out.
#include "bvh_fixture.h"

#include <unistd.h>

static void unedited_values_keep_their_bits( void **state )
{
    (void)state;
    const char *names[] = { "plain.bvh", "odd_channels.bvh", "odd_exponents.bvh", "odd_names.bvh" };
    for ( int i = 0; i < 4; ++i ) {
        tr_bvh bvh, back;
        tr_motion motion;
        tr_error error;
        check_ok( load_file( &bvh, names[i], NULL, &error ), &error );
        check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
        check_ok( tr_bvh_from_motion( &back, &motion, &bvh, NULL, &error ), &error );
        check_same_bvh( &back, &bvh );
        tr_bvh_free( &back );
        tr_motion_free( &motion );
        tr_bvh_free( &bvh );
    }
}

static void an_edit_changes_only_what_it_touches( void **state )
{
    (void)state;
    tr_bvh bvh, back;
    tr_motion motion;
    tr_error error;
    check_ok( load_file( &bvh, "plain.bvh", NULL, &error ), &error );
    check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
    quat *spine = &tr_clip_frame( &motion.clip, 1 )[1];
    double angles[3] = { 12 * TR_DEGREE, 22 * TR_DEGREE, 32 * TR_DEGREE };
    *spine = q_from_euler( "zxy", angles );
    motion.skeleton.joints[1].offset.y = 0.125;
    check_ok( tr_bvh_from_motion( &back, &motion, &bvh, NULL, &error ), &error );
    assert_true( same_bits( back.values, bvh.values, 15 ) );
    for ( int c = 15; c < 18; ++c )
        check_near( back.values[c], bvh.values[c] + 1, 1e-9 );
    check_near( back.skeleton.joints[1].offset.y, 12.5, 1e-12 );
    check_v3( back.skeleton.joints[2].offset, bvh.skeleton.joints[2].offset, 0 );
    tr_bvh_free( &back );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

static void missing_channels_are_added( void **state )
{
    (void)state;
    tr_bvh bvh, back;
    tr_motion motion, again;
    tr_error error;
    check_ok( load_file( &bvh, "odd_channels.bvh", NULL, &error ), &error );
    check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
    tr_clip_frame( &motion.clip, 1 )[0] = q_from_vector( v3( 0.1, -0.7, 0.3 ) );
    tr_clip_frame( &motion.clip, 1 )[3] = q_from_vector( v3( 1, 2, -1 ) );
    motion.clip.root[0] = v3( 4, 5, 6 );
    check_ok( tr_bvh_from_motion( &back, &motion, &bvh, NULL, &error ), &error );
    assert_int_equal( back.layouts[0].count, 6 );
    assert_int_equal( back.layouts[0].channels[0], TR_BVH_Y_ROTATION ); // the order of the file comes first
    assert_int_equal( back.layouts[1].count, 2 );
    assert_int_equal( back.layouts[2].count, 0 );
    assert_int_equal( back.layouts[3].count, 3 );
    tr_bvh_import import = tr_default_bvh_import();
    tr_bvh_guess( &bvh, &import );
    check_ok( tr_bvh_to_motion( &again, &back, &import, &error ), &error );
    for ( int f = 0; f < 2; ++f )
        for ( int j = 0; j < 5; ++j )
            check_v3( joint_at( &again, f, j ), joint_at( &motion, f, j ), 1e-9 );
    tr_motion_free( &again );
    tr_bvh_free( &back );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

// A motion made by hand, its joints not in depth-first order, turning several times round.
static void make_spinner( tr_motion *motion, bool translations )
{
    tr_error error;
    *motion = ( tr_motion ){ 0 };
    tr_skeleton *skeleton = &motion->skeleton;
    assert_int_equal( tr_skeleton_add( skeleton, "root", -1, v3( 0, 1, 0 ) ), 0 );
    assert_int_equal( tr_skeleton_add( skeleton, "left", 0, v3( 0.5, 0, 0 ) ), 1 );
    assert_int_equal( tr_skeleton_add( skeleton, "right", 0, v3( -0.5, 0, 0 ) ), 2 );
    assert_int_equal( tr_skeleton_add( skeleton, "left hand", 1, v3( 0.3, 0, 0.1 ) ), 3 );
    assert_int_equal( tr_skeleton_add( skeleton, "tip", 2, v3( -0.3, 0, 0 ) ), 4 );
    skeleton->joints[4].end_site = true;
    check_ok( tr_skeleton_classify( skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion->clip, 200, 5, 60, translations, &error ), &error );
    for ( int f = 0; f < 200; ++f ) {
        quat *local = tr_clip_frame( &motion->clip, f );
        motion->clip.root[f] = v3( 0.01 * f, 1 + 0.1 * sin( 0.1 * f ), -0.02 * f );
        for ( int j = 0; j < 4; ++j )
            local[j] = q_mul( q_axis_angle( v3_y, 0.11 * f * ( j - 1 ) ),
                              q_axis_angle( v3( 1, 0.2, 0.5 * j ), 1.3 * sin( 0.05 * f + j ) ) );
        for ( int j = 0; j < 5 && translations; ++j )
            motion->clip.translations[5 * f + j] =
                j == 4 ? skeleton->joints[j].offset : v3_mad( skeleton->joints[j].offset, 0.001 * f, v3_one );
    }
}

static void check_same_motion( const tr_motion *a, const tr_motion *b )
{
    assert_int_equal( a->clip.frame_count, b->clip.frame_count );
    check_near( a->clip.fps, b->clip.fps, 1e-9 );
    for ( int j = 0; j < a->skeleton.joint_count; ++j ) {
        const char *name = a->skeleton.joints[j].name;
        int k = tr_skeleton_find( &b->skeleton, name );
        assert_true( k >= 0 );
        for ( int f = 0; f < a->clip.frame_count; ++f )
            check_v3( joint_at( a, f, j ), joint_at( b, f, k ), 1e-10 );
    }
}

static void any_motion_survives_a_file( void **state )
{
    (void)state;
    for ( int translations = 0; translations < 2; ++translations ) {
        tr_motion motion, again;
        tr_error error;
        char path[64];
        snprintf( path, sizeof path, "/tmp/troupe-test-%ld.bvh", (long)getpid() );
        make_spinner( &motion, translations != 0 );
        check_ok( tr_motion_save( &motion, path, &error ), &error );
        tr_bvh_import import = plain_import( 0.01, 'y' );
        check_ok( tr_motion_load( &again, path, &import, NULL, &error ), &error );
        unlink( path );
        check_same_motion( &motion, &again );
        assert_int_equal( again.clip.translations != NULL, translations );
        tr_motion_free( &again );
        tr_motion_free( &motion );
    }
}

// What could not be read again is refused, and said.
static void too_far_is_refused( void **state )
{
    (void)state;
    tr_bvh bvh, back;
    tr_motion motion;
    tr_error error;
    check_ok( load_file( &bvh, "plain.bvh", NULL, &error ), &error );
    check_ok( tr_bvh_to_motion( &motion, &bvh, NULL, &error ), &error );
    motion.clip.root[1].z = -9.9e6; // ten thousand kilometres are possible
    check_ok( tr_bvh_from_motion( &back, &motion, NULL, NULL, &error ), &error );
    tr_bvh_free( &back );
    motion.clip.root[1].z = -1.1e7;
    assert_false( tr_bvh_from_motion( &back, &motion, NULL, NULL, &error ) );
    assert_string_equal( error.message, "frame 1 is too far from the origin for a motion file" );
    motion.clip.root[1].z = 0;
    motion.skeleton.joints[1].offset.x = 1.1e7;
    assert_false( tr_bvh_from_motion( &back, &motion, NULL, NULL, &error ) );
    tr_motion_free( &motion );
    tr_bvh_free( &bvh );
}

static void angles_do_not_jump( void **state )
{
    (void)state;
    tr_motion motion;
    tr_bvh bvh;
    tr_error error;
    make_spinner( &motion, false );
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    assert_int_equal( bvh.channel_count, 6 + 3 * 3 );
    for ( int f = 1; f < bvh.frame_count; ++f )
        for ( int c = 3; c < bvh.channel_count; ++c )
            assert_true( fabs( bvh.values[f * 15 + c] - bvh.values[( f - 1 ) * 15 + c] ) < 180 );
    tr_bvh_free( &bvh );
    tr_motion_free( &motion );
}

// Tips of other files are called otherwise than tips of BVH files are: their names stand behind "End Site".
static void tips_keep_their_names( void **state )
{
    (void)state;
    static const char *const names[] = { "Hips", "Head", "Head_end", "Foot", "Foot_End" };
    static const int parents[] = { -1, 0, 1, 0, 3 };
    tr_bvh bvh, again;
    tr_error error;
    tr_motion motion = { 0 };
    tr_text text = { 0 };
    for ( int j = 0; j < 5; ++j ) {
        assert_int_equal( tr_skeleton_add( &motion.skeleton, names[j], parents[j], v3_y ), j );
        motion.skeleton.joints[j].end_site = j == 2 || j == 4;
    }
    check_ok( tr_skeleton_classify( &motion.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion.clip, 1, 5, 30, false, &error ), &error );
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    tr_bvh_print( &bvh, &text );
    tr_text_append( &text, "", 1 );
    assert_non_null( strstr( text.data, "End Site Head_end\n" ) );
    assert_non_null( strstr( text.data, "End Site\n" ) ); // of the foot
    check_ok( tr_bvh_parse( &again, text.data, text.size - 1, "tips.bvh", NULL, &error ), &error );
    for ( int j = 0; j < 5; ++j )
        assert_string_equal( again.skeleton.joints[j].name, names[j] );
    tr_bvh_free( &again );
    tr_bvh_free( &bvh );
    tr_text_free( &text );
    tr_motion_free( &motion );
}

// What rounds to zero from below is written without a sign, so a file that is read and written again is the
// same.
static void zeros_have_no_sign( void **state )
{
    (void)state;
    tr_motion motion;
    tr_bvh bvh;
    tr_error error;
    make_spinner( &motion, false );
    for ( int f = 0; f < motion.clip.frame_count; ++f ) {
        motion.clip.root[f] = v3( -1e-15, 0, 0 );
        for ( int j = 0; j < motion.clip.joint_count; ++j )
            tr_clip_frame( &motion.clip, f )[j] = q_axis_angle( v3( -1, -1, -1 ), 1e-15 );
    }
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    for ( int i = 0; i < bvh.frame_count * bvh.channel_count; ++i )
        assert_true( bvh.values[i] == 0 && !signbit( bvh.values[i] ) );
    tr_bvh_free( &bvh );
    tr_motion_free( &motion );
}

// Names that a file cannot hold are written in a way it can.
static void harmful_names_are_tamed( void **state )
{
    (void)state;
    tr_bvh bvh, again;
    tr_error error;
    tr_motion motion = { 0 };
    assert_int_equal( tr_skeleton_add( &motion.skeleton, " a{b\nc ", -1, v3_zero ), 0 );
    assert_int_equal( tr_skeleton_add( &motion.skeleton, "", 0, v3_x ), 1 );
    check_ok( tr_skeleton_classify( &motion.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion.clip, 1, 2, 30, false, &error ), &error );
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    tr_text text = { 0 };
    tr_bvh_print( &bvh, &text );
    check_ok( tr_bvh_parse( &again, text.data, text.size, "tamed.bvh", NULL, &error ), &error );
    assert_string_equal( again.skeleton.joints[0].name, "_a_b_c_" );
    assert_string_equal( again.skeleton.joints[1].name, "joint" );
    tr_bvh_free( &again );
    tr_bvh_free( &bvh );
    tr_text_free( &text );
    tr_motion_free( &motion );
}

static void threads_do_not_change_a_bit( void **state )
{
    (void)state;
    tr_motion motion, first = { 0 };
    tr_bvh bvh;
    tr_error error;
    make_spinner( &motion, true );
    check_ok( tr_bvh_from_motion( &bvh, &motion, NULL, NULL, &error ), &error );
    for ( int threads = 1; threads <= 8; threads *= 2 ) {
        tr_bvh other;
        tr_motion back;
        tr_parallel_set_threads( threads );
        check_ok( tr_bvh_from_motion( &other, &motion, NULL, NULL, &error ), &error );
        assert_true( same_bits( other.values, bvh.values, value_count( &bvh ) ) );
        check_ok( tr_bvh_to_motion( &back, &other, NULL, &error ), &error );
        if ( threads == 1 )
            first = back;
        else {
            assert_memory_equal( back.clip.rotations, first.clip.rotations, 200 * 5 * sizeof( quat ) );
            tr_motion_free( &back );
        }
        tr_bvh_free( &other );
    }
    tr_parallel_set_threads( 0 );
    tr_motion_free( &first );
    tr_bvh_free( &bvh );
    tr_motion_free( &motion );
}

// ------------------------------------------------------------------------------------------- out of memory

static bool whole_way_round( const char *text, size_t size, tr_error *error )
{
    tr_bvh bvh, back = { 0 };
    tr_motion motion = { 0 };
    tr_log log = { 0 };
    tr_text printed = { 0 };
    bool ok = tr_bvh_parse( &bvh, text, size, "test.bvh", &log, error ) &&
              tr_bvh_to_motion( &motion, &bvh, NULL, error ) &&
              tr_bvh_from_motion( &back, &motion, &bvh, NULL, error );
    if ( ok ) {
        tr_bvh_print( &back, &printed );
        ok = !printed.failed || tr_error_memory( error );
    }
    tr_text_free( &printed );
    tr_log_free( &log );
    tr_motion_free( &motion );
    tr_bvh_free( &back );
    tr_bvh_free( &bvh );
    return ok;
}

static void memory_may_run_out( void **state )
{
    (void)state;
    const char *names[] = { "odd_channels.bvh", "odd_more_frames_than_declared.bvh" };
    for ( int i = 0; i < 2; ++i ) {
        size_t size;
        char *text = read_text( names[i], &size );
        size_t before = tr_memory_live();
        bool ok = false;
        for ( long n = 1; !ok && n < 10000; ++n ) {
            tr_error error = { 0 };
            tr_memory_fail_from( n );
            ok = whole_way_round( text, size, &error );
            tr_memory_fail_from( 0 );
            if ( !ok )
                assert_string_equal( error.message, "out of memory" );
            assert_int_equal( tr_memory_live(), before );
        }
        assert_true( ok );
        tr_free( text );
    }
}

// Reading a file and writing one: the old file stays whole until the new one is.
static void memory_may_run_out_with_files( void **state )
{
    (void)state;
    char source[300], target[64];
    file_path( source, "plain.bvh" );
    snprintf( target, sizeof target, "/tmp/troupe-test-%ld.bvh", (long)getpid() );
    tr_error error;
    check_ok( tr_file_write( target, "old", 3, &error ), &error );
    bool ok = false;
    for ( long n = 1; !ok && n < 10000; ++n ) {
        tr_motion motion;
        tr_memory_fail_from( n );
        ok = tr_motion_load( &motion, source, NULL, NULL, &error ) &&
             tr_motion_save( &motion, target, &error );
        tr_memory_fail_from( 0 );
        tr_motion_free( &motion );
        if ( !ok )
            assert_string_equal( error.message, "out of memory" );
        assert_int_equal( tr_memory_live(), 0 );
        char *data;
        size_t size;
        check_ok( tr_file_read( target, &data, &size, &error ), &error );
        assert_int_equal( memcmp( data, ok ? "HIE" : "old", 3 ), 0 );
        tr_free( data );
    }
    assert_true( ok );
    unlink( target );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( unedited_values_keep_their_bits ),
        TEST( an_edit_changes_only_what_it_touches ),
        TEST( missing_channels_are_added ),
        TEST( any_motion_survives_a_file ),
        TEST( too_far_is_refused ),
        TEST( angles_do_not_jump ),
        TEST( tips_keep_their_names ),
        TEST( zeros_have_no_sign ),
        TEST( harmful_names_are_tamed ),
        TEST( threads_do_not_change_a_bit ),
        TEST( memory_may_run_out ),
        TEST( memory_may_run_out_with_files ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
