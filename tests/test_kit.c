// The tools the scenes of people are made with: tracks, chance, the human body and its solver.
#include "check.h"

#include "format/format.h"
#include "scenes/kit/kit.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------ tracks

static void tracks_by_hand( void **state )
{
    (void)state;
    tr_track track = { 0 };
    tr_track_add( &track, 1, 2 );
    tr_track_add( &track, 3, 6 );
    check_near( tr_track_at( &track, 0 ), 2, 0 );
    check_near( tr_track_at( &track, 2 ), 4, 1e-15 );
    check_near( tr_track_at( &track, 1.5 ), 2 + 4 * 0.103515625, 1e-15 ); // 10/64 - 15/256 + 6/1024
    check_near( tr_track_at( &track, 9 ), 6, 0 );

    // A uniform movement stays uniform: equal velocities at both ends of equal slopes.
    tr_track moving = { 0 };
    for ( int i = 0; i < 4; ++i )
        tr_track_add_moving( &moving, i, 0.5 * i, 0.5 );
    for ( double t = 0; t <= 3; t += 0.125 )
        check_near( tr_track_at( &moving, t ), 0.5 * t, 1e-15 );
}

// Twice differentiable across keys, never beyond them, constant to the bit between equal ones.
static void tracks_are_smooth_and_bounded( void **state )
{
    (void)state;
    tr_track track = { 0 };
    const double values[6] = { 0, 1, 3, 3, -1, 0.5 };
    for ( int i = 0; i < 6; ++i )
        tr_track_add( &track, i, values[i] );
    const double h = 1e-3;
    double before = 0;
    for ( double t = 0; t < 5; t += h ) {
        double x = tr_track_at( &track, t );
        assert_true( x >= -1 - 1e-12 && x <= 3 + 1e-12 );
        if ( t >= 2 && t <= 3 )
            assert_true( x == 3 );
        double second = ( tr_track_at( &track, t + h ) - 2 * x + tr_track_at( &track, t - h ) ) / ( h * h );
        assert_true( fabs( second - before ) < 0.5 ); // jerk is bounded: no jump in acceleration
        before = second;
    }
}

static void pulse_and_chance( void **state )
{
    (void)state;
    check_near( tr_pulse( 0, 1, 2, 0.5, 0.5 ), 0, 0 );
    check_near( tr_pulse( 0.75, 1, 2, 0.5, 0.5 ), 0.5, 1e-15 );
    check_near( tr_pulse( 1.5, 1, 2, 0.5, 0.5 ), 1, 0 );
    check_near( tr_pulse( 2.6, 1, 2, 0.5, 0.5 ), 0, 0 );
    double mean = 0;
    for ( uint64_t i = 0; i < 4000; ++i ) {
        double x = tr_chance( 7, i );
        assert_true( x >= 0 && x < 1 && x == tr_chance( 7, i ) );
        mean += x / 4000;
        assert_true( fabs( tr_noise( 3, 0.01 * (double)i, 0.5 ) ) <= 1 );
    }
    check_near( mean, 0.5, 0.02 );
    assert_true( tr_chance( 1, 0 ) != tr_chance( 2, 0 ) );
}

// -------------------------------------------------------------------------------------------------- body

static void human_is_well_proportioned( void **state )
{
    (void)state;
    tr_error error = { 0 };
    tr_skeleton human;
    check_ok( tr_human_skeleton( &human, &error ), &error );
    check_ok( tr_skeleton_check( &human, &error ), &error );
    assert_int_equal( human.joint_count, 32 );
    quat rotations[TR_HUMAN_JOINTS];
    vec3 positions[TR_HUMAN_JOINTS];
    tr_forward_rest( &human, ( tr_pose ){ rotations, positions } );
    check_near( positions[TR_HUMAN_HEAD_END].y, 1.75, 1e-12 );
    for ( int side = 0; side < 2; ++side ) {
        double sign = side == TR_HUMAN_LEFT ? 1 : -1;
        assert_true( sign * positions[tr_human_arm( side, TR_HUMAN_HAND_END )].x > 0.8 );
        assert_true( positions[tr_human_leg( side, TR_HUMAN_TOE_END )].z > 0.15 );
        check_near( positions[tr_human_leg( side, TR_HUMAN_FOOT )].y, 0.08, 1e-12 );
        int hand = tr_human_arm( side, TR_HUMAN_HAND ), foot = tr_human_leg( side, TR_HUMAN_FOOT );
        assert_int_equal( human.joints[hand].role, TR_ROLE_HAND );
        assert_int_equal( human.joints[foot].role, TR_ROLE_FOOT );
        assert_int_equal( human.joints[hand].side, side == TR_HUMAN_LEFT ? TR_SIDE_LEFT : TR_SIDE_RIGHT );
    }
    assert_true( tr_skeleton_find_limb( &human, "left_arm" ) >= 0 );
    assert_true( tr_skeleton_find_limb( &human, "right_leg" ) >= 0 );
    tr_skeleton_free( &human );
}

static void hands_turn_as_told( void **state )
{
    (void)state;
    // A left hand at rest: fingers to the left, palm down.
    check_rotation( tr_human_hand_rotation( TR_HUMAN_LEFT, v3_x, v3( 0, -1, 0 ) ), q_identity, 1e-12 );
    check_rotation( tr_human_hand_rotation( TR_HUMAN_RIGHT, v3( -1, 0, 0 ), v3( 0, -1, 0 ) ), q_identity,
                    1e-12 );
    for ( int side = 0; side < 2; ++side ) {
        quat q = tr_human_hand_rotation( side, v3_z, v3_x );
        check_v3( q_rotate( q, v3( side == TR_HUMAN_LEFT ? 1 : -1, 0, 0 ) ), v3_z, 1e-12 );
        check_v3( q_rotate( q, v3( 0, -1, 0 ) ), v3_x, 1e-12 );
    }
}

static tr_human_targets standing( void )
{
    tr_human_targets t = { .pelvis = v3( 0, TR_HUMAN_HIP_HEIGHT - 0.02, 0 ), .pelvis_rotation = q_identity };
    t.look = v3( 0, 1.6, 3 );
    for ( int side = 0; side < 2; ++side ) {
        t.feet[side].position = v3( side == TR_HUMAN_LEFT ? 0.1 : -0.1, 0, 0 );
        t.hands[side].rest = tr_human_hang( side, 0, 8 * TR_DEGREE, 20 * TR_DEGREE );
        t.hands[side].hold = rigid_identity;
    }
    return t;
}

// Hands within reach, and hands that need a lean or a stoop, arrive; soles stay flat where they were put.
static void hands_and_feet_arrive( void **state )
{
    (void)state;
    tr_error error = { 0 };
    tr_skeleton human;
    check_ok( tr_human_skeleton( &human, &error ), &error );
    const vec3 places[] = { { 0.2, 1.1, 0.35 }, { 0.25, 0.55, 0.5 }, { 0.1, 1.6, 0.4 }, { 0.3, 0.9, 0.7 } };
    for ( size_t n = 0; n < sizeof places / sizeof places[0]; ++n ) {
        tr_human_targets t = standing();
        for ( int side = 0; side < 2; ++side ) {
            double sign = side == TR_HUMAN_LEFT ? 1 : -1;
            t.hands[side].grip = t.hands[side].firm = 1;
            t.hands[side].hold.position = v3_mul( places[n], v3( sign, 1, 1 ) );
            t.hands[side].hold.rotation = tr_human_hand_rotation( side, v3_z, v3( -sign, 0, 0 ) );
        }
        tr_clip clip;
        check_ok( tr_clip_alloc( &clip, 1, TR_HUMAN_JOINTS, 30, false, &error ), &error );
        assert_true( tr_human_solve( &human, &t, clip.rotations, clip.root ) < 0.0005 );
        check_ok( tr_clip_check( &clip, &human, &error ), &error );
        quat rotations[TR_HUMAN_JOINTS];
        vec3 positions[TR_HUMAN_JOINTS];
        tr_forward( &human, &clip, 0, ( tr_pose ){ rotations, positions } );
        for ( int side = 0; side < 2; ++side ) {
            int hand = tr_human_arm( side, TR_HUMAN_HAND ), foot = tr_human_leg( side, TR_HUMAN_FOOT );
            check_v3( tr_human_palm( side, positions[hand], rotations[hand] ), t.hands[side].hold.position,
                      5e-4 );
            check_v3( positions[foot], v3_add( t.feet[side].position, v3( 0, 0.08, 0 ) ), 1e-6 );
            check_rotation( rotations[foot], q_identity, 1e-6 );
        }
        tr_clip_free( &clip );
    }
    tr_skeleton_free( &human );
}

// Heel up: the ball stays where it is, toes flat. Toes up: the heel does.
static void feet_roll_over_ball_and_heel( void **state )
{
    (void)state;
    tr_error error = { 0 };
    tr_skeleton human;
    check_ok( tr_human_skeleton( &human, &error ), &error );
    quat local[TR_HUMAN_JOINTS], rotations[TR_HUMAN_JOINTS];
    vec3 positions[TR_HUMAN_JOINTS];
    for ( int n = -1; n <= 1; n += 2 ) {
        tr_human_targets t = standing();
        t.pelvis.y -= 0.08;
        t.feet[TR_HUMAN_LEFT].roll = n * 25 * TR_DEGREE;
        tr_clip clip = { .joint_count = TR_HUMAN_JOINTS,
                         .frame_count = 1,
                         .fps = 30,
                         .rotations = local,
                         .root = positions };
        vec3 root;
        assert_true( tr_human_solve( &human, &t, local, &root ) < 1e-6 );
        clip.root = &root;
        tr_forward( &human, &clip, 0, ( tr_pose ){ rotations, positions } );
        int foot = tr_human_leg( TR_HUMAN_LEFT, TR_HUMAN_FOOT ), toe = foot + 1;
        vec3 heel = v3_add( positions[foot], q_rotate( rotations[foot], v3( 0, -0.08, -0.05 ) ) );
        if ( n > 0 ) {
            check_v3( positions[toe], v3( 0.1, 0.022, 0.13 ), 1e-6 );
            check_rotation( rotations[toe], q_identity, 1e-6 );
            assert_true( heel.y > 0.05 );
        } else {
            check_v3( heel, v3( 0.1, 0, -0.05 ), 1e-6 );
            assert_true( positions[toe].y > 0.07 );
        }
    }
    tr_skeleton_free( &human );
}

// Hands have a thumb and an end site side by side: a file keeps both.
static void human_survives_a_file( void **state )
{
    (void)state;
    tr_error error = { 0 };
    tr_motion motion = { 0 };
    check_ok( tr_human_skeleton( &motion.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion.clip, 1, TR_HUMAN_JOINTS, 30, false, &error ), &error );
    tr_human_targets t = standing();
    tr_human_solve( &motion.skeleton, &t, motion.clip.rotations, motion.clip.root );
    tr_bvh out, in;
    tr_text text = { 0 };
    check_ok( tr_bvh_from_motion( &out, &motion, NULL, NULL, &error ), &error );
    tr_bvh_print( &out, &text );
    check_ok( tr_bvh_parse( &in, text.data, text.size, "human.bvh", NULL, &error ), &error );
    tr_bvh_import import = tr_default_bvh_import();
    tr_motion back;
    check_ok( tr_bvh_to_motion( &back, &in, &import, &error ), &error );
    assert_int_equal( back.skeleton.joint_count, TR_HUMAN_JOINTS );
    quat rotations[2][TR_HUMAN_JOINTS];
    vec3 positions[2][TR_HUMAN_JOINTS];
    tr_forward( &motion.skeleton, &motion.clip, 0, ( tr_pose ){ rotations[0], positions[0] } );
    tr_forward( &back.skeleton, &back.clip, 0, ( tr_pose ){ rotations[1], positions[1] } );
    for ( int j = 0; j < TR_HUMAN_JOINTS; ++j ) {
        int same = tr_skeleton_find( &back.skeleton, motion.skeleton.joints[j].name );
        assert_true( same >= 0 );
        check_v3( positions[1][same], positions[0][j], 1e-6 );
        assert_int_equal( back.skeleton.joints[same].role, motion.skeleton.joints[j].role );
    }
    tr_motion_free( &back );
    tr_motion_free( &motion );
    tr_bvh_free( &out );
    tr_bvh_free( &in );
    tr_text_free( &text );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( tracks_by_hand ),
        TEST( tracks_are_smooth_and_bounded ),
        TEST( pulse_and_chance ),
        TEST( human_is_well_proportioned ),
        TEST( hands_turn_as_told ),
        TEST( hands_and_feet_arrive ),
        TEST( feet_roll_over_ball_and_heel ),
        TEST( human_survives_a_file ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
