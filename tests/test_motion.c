#include "check_motion.h"

#include <string.h>

// A person reduced to what mirrors: hips, head, two arms of two bones.
static tr_motion make_person( int frames, bool translations )
{
    tr_motion m = { 0 };
    tr_error error;
    tr_skeleton_add( &m.skeleton, "Hips", -1, v3( 0.1, 1, 0 ) );
    tr_skeleton_add( &m.skeleton, "Head", 0, v3( 0, 0.6, 0 ) );
    tr_skeleton_add( &m.skeleton, "LeftArm", 0, v3( 0.2, 0.4, 0 ) );
    tr_skeleton_add( &m.skeleton, "LeftForeArm", 2, v3( 0.3, 0, 0 ) );
    tr_skeleton_add( &m.skeleton, "LeftForeArm_End", 3, v3( 0.25, 0, 0.01 ) );
    tr_skeleton_add( &m.skeleton, "RightArm", 0, v3( -0.2, 0.4, 0 ) );
    tr_skeleton_add( &m.skeleton, "RightForeArm", 5, v3( -0.3, 0, 0 ) );
    tr_skeleton_add( &m.skeleton, "RightForeArm_End", 6, v3( -0.25, 0, 0.01 ) );
    check_ok( tr_skeleton_classify( &m.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &m.clip, frames, 8, 30, translations, &error ), &error );
    for ( int f = 0; f < frames; ++f ) {
        double t = f / 30.0;
        m.clip.root[f] = v3( 0.3 * sin( t ), 1 + 0.05 * cos( 5 * t ), t );
        for ( int j = 0; j < 8; ++j ) {
            vec3 turn = v3( 0.5 * sin( t + j ), 0.4 * cos( 2 * t + j ), 0.3 * sin( 3 * t - j ) );
            tr_clip_frame( &m.clip, f )[j] = q_from_vector( turn );
            if ( translations )
                m.clip.translations[f * 8 + j] = v3_scale( 1 + 0.1 * sin( t ), m.skeleton.joints[j].offset );
        }
    }
    check_ok( tr_motion_check( &m, &error ), &error );
    return m;
}

static void forward_by_hand( void **state )
{
    (void)state;
    tr_motion m = { 0 };
    tr_error error;
    tr_skeleton_add( &m.skeleton, "shoulder", -1, v3( 9, 9, 9 ) );
    tr_skeleton_add( &m.skeleton, "elbow", 0, v3( 2, 0, 0 ) );
    tr_skeleton_add( &m.skeleton, "hand", 1, v3( 1, 0, 0 ) );
    check_ok( tr_clip_alloc( &m.clip, 1, 3, 30, true, &error ), &error );
    m.clip.root[0] = v3( 1, 2, 3 );
    m.clip.rotations[0] = q_axis_angle( v3_z, 90 * TR_DEGREE ); // +X to +Y
    m.clip.rotations[1] = q_axis_angle( v3_y, 90 * TR_DEGREE ); // +X to -Z
    m.clip.translations[1] = v3( 3, 0, 0 );                     // replaces the offset
    m.clip.translations[2] = v3( 1, 0, 0 );
    tr_world world;
    check_ok( tr_world_build( &world, &m, &error ), &error );
    check_v3( world.positions[0], v3( 1, 2, 3 ), 1e-15 ); // the root's replaces its rest offset
    check_v3( world.positions[1], v3( 1, 5, 3 ), 1e-15 );
    check_v3( world.positions[2], v3( 1, 5, 2 ), 1e-15 );
    tr_world_free( &world );
    tr_motion_free( &m );
}

// However many there are and in whatever order: four of them are placed at once.
static void frames_are_placed_together_as_alone( void **state )
{
    (void)state;
    const int frames[] = { 3, 0, 10, 7, 5, 2, 1, 9, 4, 8, 6 };
    for ( int translations = 0; translations < 2; ++translations )
        for ( int count = 0; count <= 11; ++count ) {
            tr_motion m = make_person( 11, translations );
            tr_world world = { .joint_count = 8, .frame_count = 11 };
            world.rotations = tr_alloc( 11 * 8, sizeof( quat ) );
            world.positions = tr_alloc( 11 * 8, sizeof( vec3 ) );
            tr_forward_frames( &m.skeleton, &m.clip, frames, count, &world );
            for ( int n = 0; n < 11; ++n ) {
                quat rotations[8] = { 0 };
                vec3 positions[8] = { 0 };
                tr_pose pose = tr_world_pose( &world, frames[n] );
                if ( n < count )
                    tr_forward( &m.skeleton, &m.clip, frames[n], ( tr_pose ){ rotations, positions } );
                assert_memory_equal( pose.rotations, rotations, sizeof rotations );
                assert_memory_equal( pose.positions, positions, sizeof positions );
            }
            tr_world_free( &world );
            tr_motion_free( &m );
        }
}

static void slices( void **state )
{
    (void)state;
    tr_motion m = make_person( 10, true );
    tr_clip part;
    tr_error error;
    check_ok( tr_clip_slice( &part, &m.clip, 3, 7, &error ), &error );
    check_ok( tr_clip_check( &part, &m.skeleton, &error ), &error );
    assert_int_equal( part.frame_count, 5 );
    assert_memory_equal( part.root, m.clip.root + 3, 5 * sizeof( vec3 ) );
    assert_memory_equal( part.rotations, m.clip.rotations + 24, 40 * sizeof( quat ) );
    assert_memory_equal( part.translations, m.clip.translations + 24, 40 * sizeof( vec3 ) );
    tr_clip_free( &part );
    tr_motion_free( &m );
}

// A parabola is reproduced by Catmull–Rom inside, a line everywhere, a steady turn by slerp.
static void resampling_of_known_curves( void **state )
{
    (void)state;
    tr_clip in, out;
    tr_error error;
    check_ok( tr_clip_alloc( &in, 31, 1, 30, false, &error ), &error );
    for ( int f = 0; f < 31; ++f ) {
        double t = f / 30.0;
        in.root[f] = v3( 2 * t, t * t, 1 );
        in.rotations[f] = q_axis_angle( v3_y, 1.5 * t );
    }
    check_ok( tr_clip_resample( &out, &in, 47, &error ), &error );
    assert_int_equal( out.frame_count, 48 ); // one second
    for ( int f = 0; f < out.frame_count; ++f ) {
        double t = f / 47.0;
        check_near( out.root[f].x, 2 * t, 1e-14 );
        if ( t > 1 / 30.0 && t < 29 / 30.0 )
            check_near( out.root[f].y, t * t, 1e-14 );
        check_rotation( out.rotations[f], q_axis_angle( v3_y, 1.5 * t ), 1e-7 );
    }
    tr_clip_free( &out );
    // Every second frame, bit for bit, and the last odd one falls away.
    check_ok( tr_clip_resample( &out, &in, 15, &error ), &error );
    assert_int_equal( out.frame_count, 16 );
    for ( int f = 0; f < 16; ++f )
        assert_memory_equal( &out.root[f], &in.root[2 * f], sizeof( vec3 ) );
    tr_clip_free( &out );
    check_ok( tr_clip_resample( &out, &in, 30, &error ), &error );
    assert_memory_equal( out.rotations, in.rotations, 31 * sizeof( quat ) );
    tr_clip_free( &out );
    assert_false( tr_clip_resample( &out, &in, 0, &error ) );
    assert_false( tr_clip_resample( &out, &in, NAN, &error ) );
    assert_false( tr_clip_resample( &out, &in, 1e12, &error ) );
    in.fps = 1.0 / 3600; // a frame an hour: millions of frames at any usual rate
    assert_false( tr_clip_resample( &out, &in, 1000, &error ) );
    assert_non_null( strstr( error.message, "choose a lower rate" ) );
    in.fps = 30;
    in.frame_count = 1;
    check_ok( tr_clip_resample( &out, &in, 120, &error ), &error );
    assert_int_equal( out.frame_count, 1 );
    tr_clip_free( &out );
    in.frame_count = 0;
    check_ok( tr_clip_resample( &out, &in, 120, &error ), &error );
    assert_int_equal( out.frame_count, 0 );
    tr_clip_free( &out );
    tr_clip_free( &in );
}

// A walk along +Z at 1 m/s, then another clip that starts elsewhere, looks elsewhere and goes 1 m/s along +X.
static void concat_meets_and_turns( void **state )
{
    (void)state;
    tr_clip a, b, out;
    tr_error error;
    check_ok( tr_clip_alloc( &a, 31, 1, 30, false, &error ), &error );
    check_ok( tr_clip_alloc( &b, 31, 1, 30, false, &error ), &error );
    for ( int f = 0; f < 31; ++f ) {
        a.root[f] = v3( 5, 1, f / 30.0 );
        b.root[f] = v3( f / 30.0, 1.2, -7 );
        b.rotations[f] = q_axis_angle( v3_y, 90 * TR_DEGREE );
    }
    check_ok( tr_clip_concat( &out, &a, &b, 10, &error ), &error );
    assert_int_equal( out.frame_count, 61 );
    check_v3( out.root[0], a.root[0], 0 ); // far from the seam nothing changes
    check_v3( out.root[20], a.root[20], 1e-15 );
    check_v3( out.root[30], v3( 5, 1.1, 1 ), 1e-14 ); // half the step in height from either side
    check_v3( out.root[40], v3( 5, 1.2, 1 + 10 / 30.0 ), 1e-14 );
    check_v3( out.root[60], v3( 5, 1.2, 2 ), 1e-14 );
    for ( int f = 0; f < 61; ++f ) {
        check_rotation( out.rotations[f], q_identity, 1e-7 );
        check_near( out.root[f].z, f / 30.0, 1e-14 ); // no change of speed along the way
    }
    tr_clip_free( &out );
    check_ok( tr_clip_concat( &out, &a, &b, 0, &error ), &error ); // a hard cut keeps every frame
    check_v3( out.root[30], v3( 5, 1, 1 ), 1e-14 );
    check_v3( out.root[31], v3( 5, 1.2, 1 + 1 / 30.0 ), 1e-14 );
    tr_clip_free( &out );
    tr_clip_free( &a );
    tr_clip_free( &b );
}

static double largest_acceleration( const tr_clip *clip, int from, int to )
{
    double largest = 0;
    for ( int f = from; f < to; ++f ) {
        vec3 second = v3_add( v3_sub( clip->root[f + 1], v3_scale( 2, clip->root[f] ) ), clip->root[f - 1] );
        largest = fmax( largest, v3_length( second ) );
        for ( int j = 0; j < clip->joint_count; ++j ) {
            quat a = tr_clip_frame( clip, f - 1 )[j], b = tr_clip_frame( clip, f )[j],
                 c = tr_clip_frame( clip, f + 1 )[j];
            vec3 before = q_to_vector( q_mul( b, q_conj( a ) ) ),
                 after = q_to_vector( q_mul( c, q_conj( b ) ) );
            largest = fmax( largest, v3_length( v3_sub( after, before ) ) );
        }
    }
    return largest;
}

// Pose and velocity differ at the seam; after joining, no step of velocity is left in it.
static void concat_seam_is_smooth( void **state )
{
    (void)state;
    tr_motion m = make_person( 200, true );
    tr_clip a, b, cut, smooth;
    tr_error error;
    check_ok( tr_clip_slice( &a, &m.clip, 0, 79, &error ), &error );
    check_ok( tr_clip_slice( &b, &m.clip, 130, 199, &error ), &error );
    check_ok( tr_clip_concat( &cut, &a, &b, 0, &error ), &error );
    check_ok( tr_clip_concat( &smooth, &a, &b, 25, &error ), &error );
    check_ok( tr_clip_check( &smooth, &m.skeleton, &error ), &error );
    double inherent = largest_acceleration( &m.clip, 1, 199 );
    assert_true( largest_acceleration( &cut, 78, 82 ) > 20 * inherent );
    assert_true( largest_acceleration( &smooth, 50, 110 ) < 3 * inherent );
    // The far ends are untouched.
    assert_memory_equal( smooth.rotations, a.rotations, 8 * 50 * sizeof( quat ) );
    check_rotation( tr_clip_frame( &smooth, 148 )[3], tr_clip_frame( &b, 69 )[3], 1e-7 );
    tr_clip_free( &a );
    tr_clip_free( &b );
    tr_clip_free( &cut );
    tr_clip_free( &smooth );
    tr_motion_free( &m );
}

static void concat_degenerate( void **state )
{
    (void)state;
    tr_motion m = make_person( 20, false );
    tr_clip one, none, other, out;
    tr_error error;
    check_ok( tr_clip_slice( &one, &m.clip, 4, 4, &error ), &error );
    check_ok( tr_clip_alloc( &none, 0, 8, 30, false, &error ), &error );
    check_ok( tr_clip_concat( &out, &m.clip, &one, 8, &error ), &error );
    assert_int_equal( out.frame_count, 20 );
    check_ok( tr_clip_check( &out, &m.skeleton, &error ), &error );
    check_rotation( tr_clip_frame( &out, 19 )[3], one.rotations[3], 1e-7 ); // ends in b's only pose
    tr_clip_free( &out );
    check_ok( tr_clip_concat( &out, &one, &m.clip, 8, &error ), &error );
    check_rotation( out.rotations[3], one.rotations[3], 1e-7 ); // begins in a's only pose
    tr_clip_free( &out );
    check_ok( tr_clip_concat( &out, &none, &m.clip, 8, &error ), &error );
    assert_int_equal( out.frame_count, 20 );
    tr_clip_free( &out );
    check_ok( tr_clip_resample( &other, &m.clip, 60, &error ), &error );
    assert_false( tr_clip_concat( &out, &m.clip, &other, 8, &error ) );
    tr_clip_free( &other );
    check_ok( tr_clip_alloc( &other, 3, 7, 30, false, &error ), &error );
    assert_false( tr_clip_concat( &out, &m.clip, &other, 8, &error ) );
    tr_clip_free( &other );
    check_ok( tr_clip_alloc( &other, 3, 8, 30, true, &error ), &error );
    assert_false( tr_clip_concat( &out, &m.clip, &other, 8, &error ) );
    tr_clip_free( &other );
    tr_clip_free( &one );
    tr_clip_free( &none );
    tr_motion_free( &m );
}

// On a body that is alike on both sides, a mirrored pose is the pose of the mirrored motion, whatever the
// axes of its joints.
static void a_mirrored_pose_is_that_of_the_mirrored_motion( void **state )
{
    (void)state;
    tr_motion m = make_person( 12, false ), mirrored;
    tr_error error;
    check_ok( tr_motion_mirror( &mirrored, &m, &error ), &error );
    quat pose[8];
    memcpy( pose, tr_clip_frame( &m.clip, 5 ), sizeof pose );
    check_ok( tr_pose_mirror( &m.skeleton, pose, &error ), &error );
    for ( int j = 0; j < 8; ++j )
        check_rotation( pose[j], tr_clip_frame( &mirrored.clip, 5 )[j], 1e-12 );
    check_ok( tr_pose_mirror( &m.skeleton, pose, &error ), &error );
    for ( int j = 0; j < 8; ++j )
        check_rotation( pose[j], tr_clip_frame( &m.clip, 5 )[j], 1e-12 );
    tr_motion_free( &m );
    tr_motion_free( &mirrored );
}

static void a_pulled_chain_reaches( void **state )
{
    (void)state;
    tr_motion m = make_person( 12, false );
    tr_pull_def def = tr_default_pull_def();
    quat pose[8], before[8];
    vec3 root = v3( 1, 2, 3 );
    memcpy( pose, tr_clip_frame( &m.clip, 5 ), sizeof pose );
    int hand = 4, arm = 2; // joints of the left arm
    assert_int_equal( tr_pose_chain( &m.skeleton, hand ), arm );
    assert_int_equal( tr_pose_chain( &m.skeleton, 1 ), 0 );
    assert_int_equal( tr_pose_chain( &m.skeleton, 0 ), -1 );
    memcpy( before, pose, sizeof pose );
    vec3 shoulder = tr_pose_place( &m.skeleton, pose, root, arm );
    double length = v3_length( m.skeleton.joints[3].offset ) + v3_length( m.skeleton.joints[4].offset );
    vec3 goal = v3_add( shoulder, v3_scale( 0.7 * length, v3_unit( v3( 0.3, -0.8, 0.5 ) ) ) );
    tr_pose_pull( &def, &m.skeleton, pose, root, arm, hand, goal );
    check_v3( tr_pose_place( &m.skeleton, pose, root, hand ), goal, 1e-3 );
    for ( int j = 0; j < 8; ++j )
        if ( j < arm || j >= hand )
            assert_memory_equal( &pose[j], &before[j], sizeof pose[j] );
    // Beyond its reach it is stretched towards the goal.
    goal = v3_add( shoulder, v3_scale( 3 * length, v3_x ) );
    tr_pose_pull( &def, &m.skeleton, pose, root, arm, hand, goal );
    check_v3( tr_pose_place( &m.skeleton, pose, root, hand ), v3_add( shoulder, v3_scale( length, v3_x ) ),
              0.02 * length );
    // A turn of the world turns what hangs on the joint as a whole.
    vec3 way = v3_sub( tr_pose_place( &m.skeleton, pose, root, hand ), shoulder );
    tr_pose_turn( &m.skeleton, pose, arm, q_axis_angle( v3_y, 0.5 * TR_PI ) );
    check_v3( v3_sub( tr_pose_place( &m.skeleton, pose, root, hand ), shoulder ),
              q_rotate( q_axis_angle( v3_y, 0.5 * TR_PI ), way ), 1e-9 );
    tr_motion_free( &m );
}

static void mirror_swaps_left_and_right( void **state )
{
    (void)state;
    for ( int translations = 0; translations < 2; ++translations ) {
        tr_motion m = make_person( 12, translations ), mirrored, again;
        tr_error error;
        check_ok( tr_motion_mirror( &mirrored, &m, &error ), &error );
        check_ok( tr_motion_check( &mirrored, &error ), &error );
        const int partner[8] = { 0, 1, 5, 6, 7, 2, 3, 4 };
        tr_world before, after;
        check_ok( tr_world_build( &before, &m, &error ), &error );
        check_ok( tr_world_build( &after, &mirrored, &error ), &error );
        for ( int f = 0; f < 12; ++f )
            for ( int j = 0; j < 8; ++j ) {
                vec3 p = before.positions[f * 8 + partner[j]];
                check_v3( after.positions[f * 8 + j], v3( -p.x, p.y, p.z ), 1e-14 );
            }
        assert_string_equal( mirrored.skeleton.joints[2].name, "LeftArm" );
        check_v3( mirrored.skeleton.joints[2].offset, v3( 0.2, 0.4, 0 ), 0 ); // a symmetric body stays itself
        check_ok( tr_motion_mirror( &again, &mirrored, &error ), &error );
        assert_memory_equal( again.clip.rotations, m.clip.rotations, 12 * 8 * sizeof( quat ) );
        assert_memory_equal( again.clip.root, m.clip.root, 12 * sizeof( vec3 ) );
        tr_world_free( &before );
        tr_world_free( &after );
        tr_motion_free( &m );
        tr_motion_free( &mirrored );
        tr_motion_free( &again );
    }
}

// Names that tell no side pair by side and role; what has no partner mirrors itself, and twice is once.
static void mirror_without_names( void **state )
{
    (void)state;
    tr_motion m = make_person( 6, false ), mirrored, again;
    tr_error error;
    for ( int j = 0; j < 8; ++j )
        snprintf( m.skeleton.joints[j].name, strlen( m.skeleton.joints[j].name ) + 1, "j%d", j );
    check_ok( tr_motion_mirror( &mirrored, &m, &error ), &error );
    quat q = tr_clip_frame( &m.clip, 3 )[6];
    check_rotation( tr_clip_frame( &mirrored.clip, 3 )[3], ( ( quat ){ q.x, -q.y, -q.z, q.w } ), 1e-15 );
    tr_motion_free( &mirrored );

    m.skeleton.joints[6].side = TR_SIDE_NONE; // no partner for the left forearm any more
    check_ok( tr_motion_mirror( &mirrored, &m, &error ), &error );
    check_ok( tr_motion_mirror( &again, &mirrored, &error ), &error );
    assert_memory_equal( again.clip.rotations, m.clip.rotations, 6 * 8 * sizeof( quat ) );
    tr_motion_free( &mirrored );
    tr_motion_free( &again );
    tr_motion_free( &m );
}

static void limb_values( void **state )
{
    (void)state;
    const tr_limb left_arm = { "left_arm", TR_LIMB_ARM, TR_SIDE_LEFT };
    const tr_limb right_leg = { "right_leg", TR_LIMB_LEG, TR_SIDE_RIGHT };
    const tr_limb head = { "head", TR_LIMB_HEAD, TR_SIDE_NONE };
    const tr_limb_value values[] = {
        { "left_arm", 5 }, { "arms", 4 }, { "left", 3 }, { "all", 2 }, { "right", 7 } };
    check_near( tr_limb_lookup( values, 5, &left_arm ), 5, 0 );
    check_near( tr_limb_lookup( values + 1, 4, &left_arm ), 4, 0 );
    check_near( tr_limb_lookup( values + 2, 3, &left_arm ), 3, 0 );
    check_near( tr_limb_lookup( values, 5, &right_leg ), 7, 0 );
    check_near( tr_limb_lookup( values, 5, &head ), 2, 0 );
    check_near( tr_limb_lookup( values, 3, &head ), 1, 0 );
    check_near( tr_limb_lookup( NULL, 0, &head ), 1, 0 );
}

static void scaled_skeletons( void **state )
{
    (void)state;
    tr_motion m = make_person( 1, false );
    tr_skeleton out;
    tr_error error;
    const tr_limb_value limbs[] = { { "left_arm", 1.5 } };
    tr_body_scale scale = { .scale = 2, .limbs = limbs, .limb_count = 1 };
    check_ok( tr_skeleton_scaled( &out, &m.skeleton, &scale, &error ), &error );
    check_ok( tr_skeleton_check( &out, &error ), &error );
    check_v3( out.joints[2].offset, v3( 0.4, 0.8, 0 ), 1e-15 ); // to the shoulder: belongs to the torso
    check_v3( out.joints[3].offset, v3( 0.9, 0, 0 ), 1e-15 );
    check_v3( out.joints[6].offset, v3( -0.6, 0, 0 ), 1e-15 );
    check_v3( out.joints[0].offset, v3( 0.2, 2, 0 ), 1e-15 );
    tr_skeleton_free( &out );
    tr_motion_free( &m );

    tr_skeleton s = { 0 }; // shorter legs: hips come down, feet stay on the ground
    tr_skeleton_add( &s, "Hips", -1, v3( 0, 1, 0 ) );
    tr_skeleton_add( &s, "LeftUpLeg", 0, v3( 0.1, -0.1, 0 ) );
    tr_skeleton_add( &s, "LeftLeg", 1, v3( 0, -0.4, 0 ) );
    tr_skeleton_add( &s, "LeftFoot", 2, v3( 0, -0.4, 0 ) );
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    const tr_limb_value legs[] = { { "legs", 0.5 } };
    scale = ( tr_body_scale ){ .scale = 1, .limbs = legs, .limb_count = 1 };
    check_ok( tr_skeleton_scaled( &out, &s, &scale, &error ), &error );
    check_near( out.joints[0].offset.y, 0.6, 1e-15 ); // 0.1 above the thigh, 0.4 of leg, 0.1 under the foot
    check_near( tr_skeleton_leg_length( &out ), 0.4, 1e-15 );
    tr_skeleton_free( &out );
    tr_skeleton_free( &s );
}

static void checker_refuses_bad_clips( void **state )
{
    (void)state;
    tr_motion m = make_person( 3, true );
    tr_error error;
    m.clip.rotations[9].w += 0.01;
    assert_false( tr_motion_check( &m, &error ) );
    m.clip.rotations[9] = q_identity;
    m.clip.root[2].x = INFINITY;
    assert_false( tr_motion_check( &m, &error ) );
    m.clip.root[2].x = 0;
    m.clip.translations[10].z = NAN;
    assert_false( tr_motion_check( &m, &error ) );
    m.clip.translations[10].z = 0;
    m.clip.fps = 0;
    assert_false( tr_motion_check( &m, &error ) );
    m.clip.fps = 30;
    m.clip.joint_count = 7;
    assert_false( tr_motion_check( &m, &error ) );
    m.clip.joint_count = 8;
    check_ok( tr_motion_check( &m, &error ), &error );
    tr_motion_free( &m );
}

typedef bool operation( const tr_motion *m, tr_error *error );

static bool do_slice( const tr_motion *m, tr_error *error )
{
    tr_clip out;
    bool ok = tr_clip_slice( &out, &m->clip, 1, 3, error );
    if ( ok )
        tr_clip_free( &out );
    return ok;
}

static bool do_resample( const tr_motion *m, tr_error *error )
{
    tr_clip out;
    bool ok = tr_clip_resample( &out, &m->clip, 50, error );
    if ( ok )
        tr_clip_free( &out );
    return ok;
}

static bool do_concat( const tr_motion *m, tr_error *error )
{
    tr_clip out;
    bool ok = tr_clip_concat( &out, &m->clip, &m->clip, 2, error );
    if ( ok )
        tr_clip_free( &out );
    return ok;
}

static bool do_mirror( const tr_motion *m, tr_error *error )
{
    tr_motion out;
    bool ok = tr_motion_mirror( &out, m, error );
    if ( ok )
        tr_motion_free( &out );
    return ok;
}

static bool do_scale( const tr_motion *m, tr_error *error )
{
    const tr_limb_value limbs[] = { { "arms", 1.5 } };
    const tr_body_scale scale = { .scale = 2, .limbs = limbs, .limb_count = 1 };
    tr_skeleton out;
    bool ok = tr_skeleton_scaled( &out, &m->skeleton, &scale, error );
    if ( ok )
        tr_skeleton_free( &out );
    return ok;
}

static void every_allocation_may_fail( void **state )
{
    (void)state;
    operation *const operations[] = { do_slice, do_resample, do_concat, do_mirror, do_scale };
    tr_motion m = make_person( 5, true );
    size_t live = tr_memory_live();
    for ( size_t i = 0; i < sizeof operations / sizeof operations[0]; ++i )
        for ( long n = 1, done = 0; !done; ++n ) {
            tr_error error = { 0 };
            tr_memory_fail_from( n );
            done = operations[i]( &m, &error );
            tr_memory_fail_from( 0 );
            assert_true( done || strcmp( error.message, "out of memory" ) == 0 );
            assert_int_equal( tr_memory_live(), live );
        }
    tr_motion_free( &m );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( forward_by_hand ),
        TEST( frames_are_placed_together_as_alone ),
        TEST( slices ),
        TEST( resampling_of_known_curves ),
        TEST( concat_meets_and_turns ),
        TEST( concat_seam_is_smooth ),
        TEST( concat_degenerate ),
        TEST( mirror_swaps_left_and_right ),
        TEST( a_mirrored_pose_is_that_of_the_mirrored_motion ),
        TEST( a_pulled_chain_reaches ),
        TEST( mirror_without_names ),
        TEST( limb_values ),
        TEST( scaled_skeletons ),
        TEST( checker_refuses_bad_clips ),
        TEST( every_allocation_may_fail ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
