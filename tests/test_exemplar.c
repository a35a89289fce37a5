// Poses by examples: exact at pairs, weights, mirrored, parts and their aim, bad input; a known truth on
// motions of the built-in scenes.
#include "exemplar_truth.h"
#include "scenes/scenes.h"

// The source motion of a member of a built-in scene.
static void start( trial *t, const char *scene_name, int member )
{
    tr_scene scene;
    tr_library library;
    tr_motion motion = { 0 };
    tr_error error;
    check_ok( tr_scene_build( tr_scene_entry_find( scene_name ), 0, &scene, &library, &error ), &error );
    const tr_motion *found = tr_library_find( &library, scene.cast[member].source.file );
    assert_non_null( found );
    check_ok( tr_motion_copy( &motion, found, &error ), &error );
    tr_library_free( &library );
    tr_scene_free( &scene );
    assert_true( trial_start( t, &motion ) );
}

static int suggest( const trial *t, int count, int *frames )
{
    return trial_suggest( t, NULL, 0, frames, count );
}

static tr_exemplar *create( const tr_exemplar_job *job )
{
    tr_exemplar_def def = tr_default_exemplar_def();
    tr_error error;
    tr_exemplar *e = tr_exemplar_create( &def, job, &error );
    check_ok( e != NULL, &error );
    return e;
}

static void poses_are_exact_at_pairs( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    int frames[8];
    start( &t, "arm_circles", 0 );
    int n = suggest( &t, 8, frames );
    assert_int_equal( n, 8 );
    trial_pair( &t, frames, n, 0, &pairs );
    tr_exemplar *e = create( &pairs.job );
    for ( int i = 0; i < n; ++i ) {
        quat local[BEAST_JOINTS];
        double unlike;
        tr_exemplar_pose( e, pairs.pairs[i].source, local, &unlike );
        for ( int j = 0; j < BEAST_JOINTS; ++j )
            check_rotation( local[j], pairs.pairs[i].target[j], 0.01 * TR_DEGREE );
        check_near( unlike, 0, 1e-6 );
    }
    tr_exemplar_destroy( e );
    trial_end( &t );
}

static void motions_are_exact_at_pairs( void **state )
{
    (void)state;
    trial t;
    trial_figures figures;
    int frames[8];
    tr_exemplar_def def = tr_default_exemplar_def();
    start( &t, "high_five", 1 );
    int n = suggest( &t, 6, frames );
    frames[n++] = frames[0] + 2; // neighbours share what smoothing takes
    trial_krige( &t, frames, n, 0, &def, &figures );
    assert_true( figures.at_pairs <= 0.01 );
    trial_krige( &t, frames, n, 1, &def, &figures );
    assert_true( figures.direction <= 0.01 );
    trial_end( &t );
}

// Beyond the pairs, joints turn at most half as far again from their means as in any pair.
static void turns_stay_within_bounds( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    int frames[5];
    start( &t, "dance_pair", 0 );
    int n = suggest( &t, 5, frames );
    trial_pair( &t, frames, n, 0, &pairs );
    pairs.job.part_count = 0; // whose residual turns come on top
    tr_exemplar *e = create( &pairs.job );
    double most = tr_default_exemplar_def().most_turn;
    // An arm's length from the body, which no pair has: every joint of the source moves away from the hips.
    int joints = t.motion.skeleton.joint_count;
    quat local[BEAST_JOINTS];
    vec3 positions[128];
    assert_true( joints <= 128 );
    for ( int f = 0; f < t.frame_count; f += 10 ) {
        tr_pose pose = tr_world_pose( &t.world, f );
        for ( int j = 0; j < joints; ++j )
            positions[j] = v3_mad( pose.positions[j], 5.0, v3_sub( pose.positions[j], pose.positions[0] ) );
        tr_exemplar_pose( e, ( tr_pose ){ pose.rotations, positions }, local, NULL );
        for ( int j = 0; j < BEAST_JOINTS; ++j ) {
            double widest = 0; // distance of two pairs, at most twice that from the mean
            for ( int a = 0; a < n; ++a )
                for ( int b = 0; b < a; ++b )
                    widest = fmax( widest, q_angle( pairs.pairs[a].target[j], pairs.pairs[b].target[j] ) );
            for ( int i = 0; i < n; ++i )
                assert_true( q_angle( local[j], pairs.pairs[i].target[j] ) <= ( most + 1 ) * widest + 1e-6 );
        }
    }
    tr_exemplar_destroy( e );
    trial_end( &t );
}

// Two pairs that are nearly alike get large and opposite weights where the motion leaves them, which cancel.
static void pairs_that_are_nearly_alike_do_no_harm( void **state )
{
    (void)state;
    trial t;
    trial_figures poster, ours;
    int frames[11];
    tr_exemplar_def def = tr_default_exemplar_def();
    start( &t, "car_entry", 0 ); // stands, then sits still
    trial_spread( &t, 11, frames );
    trial_poster( &t, frames, 10, &poster ); // the eleventh is the same as the tenth
    trial_krige( &t, frames, 10, 0, &def, &ours );
    assert_true( ours.at_pairs <= 0.01 );
    assert_true( ours.body <= poster.body );
    assert_true( ours.part <= 0.5 * poster.part );
    trial_end( &t );
}

static void weights_sum_to_one( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    int frames[5];
    start( &t, "dance_pair", 0 );
    int n = suggest( &t, 5, frames );
    trial_pair( &t, frames, n, 0, &pairs );
    tr_exemplar *e = create( &pairs.job );
    for ( int f = 0; f < t.frame_count; ++f )
        for ( int part = -1; part < 1; ++part ) {
            double weights[5], sum = 0;
            tr_exemplar_weights( e, tr_world_pose( &t.world, f ), part, weights );
            for ( int i = 0; i < n; ++i )
                sum += weights[i];
            check_near( sum, 1, 1e-9 );
        }
    tr_exemplar_destroy( e );
    trial_end( &t );
}

// A pose half-way between two pairs has half of either.
static void two_pairs_are_enough( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    int frames[2];
    start( &t, "arm_circles", 0 );
    assert_int_equal( suggest( &t, 2, frames ), 2 );
    trial_pair( &t, frames, 2, 0, &pairs );
    tr_exemplar *e = create( &pairs.job );
    int joints = t.motion.skeleton.joint_count;
    quat rotations[128];
    vec3 positions[128];
    assert_true( joints <= 128 );
    double weights[2];
    tr_pose a = pairs.pairs[0].source, b = pairs.pairs[1].source;
    quat face[2] = { tr_exemplar_facing( e, a ), tr_exemplar_facing( e, b ) };
    vec3 hips[2] = { v3_lerp( a.positions[t.who.thigh[0]], a.positions[t.who.thigh[1]], 0.5 ),
                     v3_lerp( b.positions[t.who.thigh[0]], b.positions[t.who.thigh[1]], 0.5 ) };
    for ( int j = 0; j < joints; ++j ) {
        positions[j] = v3_lerp( q_unrotate( face[0], v3_sub( a.positions[j], hips[0] ) ),
                                q_unrotate( face[1], v3_sub( b.positions[j], hips[1] ) ), 0.5 );
        rotations[j] = q_slerp( q_mul( q_conj( face[0] ), a.rotations[j] ),
                                q_mul( q_conj( face[1] ), b.rotations[j] ), 0.5 );
    }
    tr_exemplar_weights( e, ( tr_pose ){ rotations, positions }, -1, weights );
    check_near( weights[0], 0.5, 0.01 );
    check_near( tr_exemplar_left_out( e, 0 ), tr_exemplar_left_out( e, 1 ), 1e-9 );
    tr_exemplar_destroy( e );
    trial_end( &t );
}

static void mirrored_pairs_give_the_mirrored_result( void **state )
{
    (void)state;
    trial t, mirrored;
    trial_pairs pairs, other;
    tr_error error;
    int frames[6];
    start( &t, "high_five", 0 );
    tr_motion motion = { 0 }, beast = { 0 }, beast_mirrored = { 0 }, made = { 0 }, made_mirrored = { 0 };
    check_ok( tr_motion_mirror( &motion, &t.motion, &error ), &error );
    assert_true( trial_start( &mirrored, &motion ) );
    // The mirrored truth: the arm that drives the trunk is the left one then.
    check_ok( tr_skeleton_copy( &beast.skeleton, &t.beast, &error ), &error );
    check_ok( tr_clip_alloc( &beast.clip, t.frame_count, BEAST_JOINTS, 30, false, &error ), &error );
    memcpy( beast.clip.rotations, t.truth, sizeof( quat ) * (size_t)t.frame_count * BEAST_JOINTS );
    check_ok( tr_motion_mirror( &beast_mirrored, &beast, &error ), &error );
    memcpy( mirrored.truth, beast_mirrored.clip.rotations,
            sizeof( quat ) * (size_t)t.frame_count * BEAST_JOINTS );
    int n = suggest( &t, 6, frames );
    trial_pair( &t, frames, n, 0.5, &pairs );
    trial_pair( &mirrored, frames, n, 0.5, &other );
    other.part.source[0] = mirrored.who.arm[0];
    other.part.source[1] = mirrored.who.hand[0];
    tr_exemplar *a = create( &pairs.job ), *b = create( &other.job );
    check_ok( tr_exemplar_motion( a, &t.world, 30, pairs.frames, beast.clip.rotations, NULL, &error ),
              &error );
    check_ok( tr_exemplar_motion( b, &mirrored.world, 30, other.frames, beast_mirrored.clip.rotations, NULL,
                                  &error ),
              &error );
    check_ok( tr_motion_mirror( &made_mirrored, &beast, &error ), &error );
    for ( size_t i = 0; i < (size_t)t.frame_count * BEAST_JOINTS; ++i )
        check_rotation( made_mirrored.clip.rotations[i], beast_mirrored.clip.rotations[i], 1e-4 );
    tr_exemplar_destroy( a );
    tr_exemplar_destroy( b );
    tr_motion_free( &beast );
    tr_motion_free( &beast_mirrored );
    tr_motion_free( &made );
    tr_motion_free( &made_mirrored );
    trial_end( &t );
    trial_end( &mirrored );
}

static void aim_goes_from_examples_to_the_source( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    int frames[6];
    start( &t, "arm_circles", 0 );
    int n = suggest( &t, 6, frames );
    double mean[3] = { 0 };
    for ( int k = 0; k < 3; ++k ) {
        trial_pair( &t, frames, n, 0.5 * k, &pairs );
        tr_exemplar *e = create( &pairs.job );
        for ( int f = 0; f < t.frame_count; ++f ) {
            quat local[BEAST_JOINTS];
            tr_pose source = tr_world_pose( &t.world, f );
            tr_exemplar_pose( e, source, local, NULL );
            mean[k] += tr_exemplar_part_error( e, 0, source, local ) / t.frame_count;
        }
        tr_exemplar_destroy( e );
    }
    check_near( mean[2], 0, 1e-6 );
    assert_true( mean[0] > 1e-3 );
    check_near( mean[1], 0.5 * mean[0], 0.02 * mean[0] );
    trial_end( &t );
}

static void known_truth_of_built_in_motions( void **state )
{
    (void)state;
    static const struct {
        const char *scene;
        int member;
        bool spiky; // own-joint spike above 1.5
    } motions[] = { { "arm_circles", 0, .spiky = true },
                    { "high_five", 0, .spiky = true },
                    { "dance_pair", 1 },
                    { "box_relay", 3 } };
    tr_exemplar_def def = tr_default_exemplar_def();
    for ( size_t i = 0; i < sizeof motions / sizeof motions[0]; ++i ) {
        trial t;
        trial_figures poster, ours;
        int frames[11];
        start( &t, motions[i].scene, motions[i].member );
        int n = suggest( &t, 11, frames );
        trial_poster( &t, frames, n, &poster );
        trial_krige( &t, frames, n, 0, &def, &ours );
        print_message(
            "%-12s poster: %.2f° at pairs, body %.2f° part %.2f°; ours: %.3f° %.2f° %.2f°, jerk %.2f, "
            "own spike %.2f\n",
            motions[i].scene, poster.at_pairs, poster.body, poster.part, ours.at_pairs, ours.body, ours.part,
            ours.jerk, ours.own );
        assert_true( ours.at_pairs <= 0.01 );
        assert_true( ours.body <= 1.15 * poster.body );
        assert_true( ours.part <= 0.5 * poster.part );
        assert_true( ours.jerk <= 1.0 );
        if ( motions[i].spiky )
            expect_miss( "pairs that stand out from their neighbours by more than the truth does",
                         ours.own <= 1.5 );
        else
            assert_true( ours.own <= 1.5 );
        trial_end( &t );
    }
}

static void left_out_pairs_tell_a_mistake( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    int frames[8];
    quat wrong[BEAST_JOINTS];
    start( &t, "dance_pair", 0 );
    int n = suggest( &t, 8, frames );
    trial_pair( &t, frames, n, 0, &pairs );
    memcpy( wrong, pairs.pairs[5].target, sizeof wrong );
    for ( int j = 0; j < BEAST_JOINTS; ++j )
        wrong[j] = q_mul( wrong[j], about_y( 0.6 ) );
    pairs.pairs[5].target = wrong;
    tr_exemplar *e = create( &pairs.job );
    for ( int i = 0; i < n; ++i )
        assert_true( i == 5 || tr_exemplar_left_out( e, i ) < tr_exemplar_left_out( e, 5 ) );
    tr_exemplar_destroy( e );
    trial_end( &t );
}

// Frames that pairs have are not suggested again, and what is suggested is unlike them.
static void suggestions_go_on_from_pairs( void **state )
{
    (void)state;
    trial t;
    int first[4], then[2];
    start( &t, "high_five", 0 );
    assert_int_equal( suggest( &t, 4, first ), 4 );
    tr_pose have[2] = { tr_world_pose( &t.world, first[0] ), tr_world_pose( &t.world, first[1] ) };
    assert_int_equal( trial_suggest( &t, have, 2, then, 2 ), 2 );
    for ( int i = 0; i < 2; ++i )
        assert_true( then[i] != first[0] && then[i] != first[1] );
    assert_int_not_equal( then[0], then[1] );
    trial_end( &t );
}

// ----------------------------------------------------------------------------------------------- bad input

static void refused( const tr_exemplar_job *job, const char *sentence )
{
    tr_exemplar_def def = tr_default_exemplar_def();
    tr_error error = { 0 };
    assert_null( tr_exemplar_create( &def, job, &error ) );
    assert_string_equal( error.message, sentence );
}

static void bad_pairs_are_refused( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    quat changed[BEAST_JOINTS];
    start( &t, "arm_circles", 0 );
    const int frames[] = { 0, 40, 40 };
    trial_pair( &t, frames, 3, 0, &pairs );
    pairs.pairs[2].name = "twin";
    refused( &pairs.job, "examples \"frame_40\" and \"twin\" are the same pair; remove one" );
    memcpy( changed, pairs.pairs[2].target, sizeof changed );
    changed[BEAST_HEAD] = q_mul( changed[BEAST_HEAD], about_x( 0.2 ) );
    pairs.pairs[2].target = changed;
    refused( &pairs.job, "examples \"frame_40\" and \"twin\" have the same pose of the source and different "
                         "poses of the target; remove one" );
    pairs.job.pair_count = 1;
    refused( &pairs.job, "there is one example; at least two are needed" );
    pairs.job.pair_count = 0;
    refused( &pairs.job, "there are no examples; at least two are needed" );
    pairs.job.pair_count = 65;
    refused( &pairs.job, "there are 65 examples; at most 64 are possible" );
    pairs.job.pair_count = 3;
    changed[BEAST_TAIL].x = NAN;
    refused( &pairs.job, "example \"twin\" has a pose with numbers that are not finite" );
    trial_end( &t );
}

static void bad_parts_are_refused( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    start( &t, "arm_circles", 0 );
    const int frames[] = { 0, 40 };
    trial_pair( &t, frames, 2, 0, &pairs );
    tr_exemplar_part parts[2] = { pairs.part, pairs.part };
    parts[1].name = "snout";
    parts[1].target[0] = BEAST_TRUNK + 4;
    pairs.job.parts = parts;
    pairs.job.part_count = 2;
    refused( &pairs.job, "parts \"trunk\" and \"snout\" share the joint \"Trunk7\" of the target" );
    pairs.job.part_count = 1;
    parts[0].target[1] = BEAST_HEAD;
    refused( &pairs.job,
             "part \"trunk\": its target joints are no chain; the second has to be below the first" );
    parts[0] = pairs.part;
    parts[0].aim = NAN;
    refused( &pairs.job, "part \"trunk\": its aim has to be between 0 and 1" );
    trial_end( &t );
}

static void memory_may_run_out( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    const int frames[] = { 0, 40, 80 };
    tr_exemplar_def def = tr_default_exemplar_def();
    start( &t, "arm_circles", 0 );
    trial_pair( &t, frames, 3, 0, &pairs );
    tr_exemplar_suggest_job job = { &t.motion.skeleton, &t.world, NULL, 0, &pairs.part, 1, &t.beast };
    quat *local = tr_alloc( (size_t)t.frame_count * BEAST_JOINTS, sizeof( quat ) );
    bool done = false;
    for ( long n = 1; !done; ++n ) {
        tr_error error = { 0 };
        int found[2];
        tr_memory_fail_from( n );
        tr_exemplar *e = tr_exemplar_create( &def, &pairs.job, &error );
        done = e != NULL && tr_exemplar_motion( e, &t.world, 30, pairs.frames, local, NULL, &error ) &&
               tr_exemplar_suggest( &def, &job, found, 2, &error ) == 2;
        tr_memory_fail_from( 0 );
        assert_true( done || error.message[0] != 0 );
        tr_exemplar_destroy( e );
    }
    tr_free( local );
    trial_end( &t );
}

static void threads_give_the_same_bits( void **state )
{
    (void)state;
    trial t;
    trial_pairs pairs;
    tr_error error;
    const int frames[] = { 0, 40, 80 };
    start( &t, "arm_circles", 0 );
    trial_pair( &t, frames, 3, 0.3, &pairs );
    tr_exemplar *e = create( &pairs.job );
    size_t n = (size_t)t.frame_count * BEAST_JOINTS;
    quat *one = tr_alloc( n, sizeof( quat ) ), *many = tr_alloc( n, sizeof( quat ) );
    tr_parallel_set_threads( 1 );
    check_ok( tr_exemplar_motion( e, &t.world, 30, pairs.frames, one, NULL, &error ), &error );
    tr_parallel_set_threads( 8 );
    check_ok( tr_exemplar_motion( e, &t.world, 30, pairs.frames, many, NULL, &error ), &error );
    tr_parallel_set_threads( 0 );
    assert_memory_equal( one, many, n * sizeof( quat ) );
    tr_free( one );
    tr_free( many );
    tr_exemplar_destroy( e );
    trial_end( &t );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( poses_are_exact_at_pairs ),
        TEST( motions_are_exact_at_pairs ),
        TEST( weights_sum_to_one ),
        TEST( turns_stay_within_bounds ),
        TEST( pairs_that_are_nearly_alike_do_no_harm ),
        TEST( two_pairs_are_enough ),
        TEST( mirrored_pairs_give_the_mirrored_result ),
        TEST( aim_goes_from_examples_to_the_source ),
        TEST( known_truth_of_built_in_motions ),
        TEST( left_out_pairs_tell_a_mistake ),
        TEST( suggestions_go_on_from_pairs ),
        TEST( bad_pairs_are_refused ),
        TEST( bad_parts_are_refused ),
        TEST( memory_may_run_out ),
        TEST( threads_give_the_same_bits ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
