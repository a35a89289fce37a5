// The skeleton fit over time: no pops, hinges that bend the right way, previews of a drag.
#include "fit_fixture.h"

// Largest turn of any joint between neighbouring places of a goal that moves from one place to another.
static double largest_turn( actor *a, const tr_fit_frame *still, vec3 from, vec3 to, int steps )
{
    int joints = a->skeleton->joint_count;
    quat *before = tr_alloc( (size_t)joints, sizeof( quat ) );
    double largest = 0;
    for ( int i = 0; i <= steps; ++i ) {
        a->goals[0].place = v3_lerp( from, to, (double)i / steps );
        tr_fit_result result = solve( a, still );
        assert_true( result.converged );
        for ( int j = 0; j < joints && i > 0; ++j )
            largest = fmax( largest, q_angle( before[j], a->local[j] ) );
        memcpy( before, a->local, (size_t)joints * sizeof( quat ) );
    }
    tr_free( before );
    return largest;
}

// The answer is continuous: twice as fine steps give turns about half as large, wherever the goal passes.
static void check_smooth( actor *a, const tr_fit_frame *still, vec3 from, vec3 to, int steps, double most )
{
    double coarse = largest_turn( a, still, from, to, steps );
    double fine = largest_turn( a, still, from, to, 4 * steps );
    if ( coarse > most || fine > 0.5 * coarse )
        print_error( "turns of %g, then %g\n", coarse, fine );
    assert_true( coarse <= most && fine <= 0.5 * coarse );
}

static void no_pops_through_a_straight_arm( void **state )
{
    (void)state;
    tr_fit_def def = only_arms();
    arm m;
    const double bends[] = { 0, 0.02, 0.5, 1.5 };
    for ( int i = 0; i < 4; ++i ) {
        make_arm( &m, bends[i], &def );
        m.a.goals[0] = tr_fit_position( ARM_HAND, v3_zero );
        tr_fit_frame frame = { .start = m.body.local, .goals = m.a.goals, .goal_count = 1 };
        check_smooth( &m.a, &frame, v3( 5, 0, 0.2 ), v3( 8, 1, 0 ), 600, 0.12 );      // out of reach and
        check_smooth( &m.a, &frame, v3( 4, 2, -1 ), v3( 7, 1, 2 ), 600, 0.12 );       // slanting
        check_smooth( &m.a, &frame, v3( 6.5, -4, 0 ), v3( 6.5, 4, 0.3 ), 600, 0.12 ); // in and out again
        drop_arm( &m );
    }
}

static void no_pops_of_a_whole_body( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends );
    for ( int moving = 0; moving < count; ++moving ) {
        tr_pose pose = tr_world_pose( &a.world, 30 );
        for ( int i = 0; i < count; ++i ) {
            int end = ends[( i + moving ) % count];
            a.goals[i] = tr_fit_position( end, pose.positions[end] );
        }
        tr_fit_frame frame = frame_of( &a, 30, count );
        vec3 start = a.goals[0].place;
        check_smooth( &a, &frame, start, v3_add( start, v3( 0.3, 0.2, 0.3 ) ), 50, 0.15 );
        check_smooth( &a, &frame, v3_add( start, v3( 0, 0.2, 0 ) ), v3_add( start, v3( 0.1, -0.3, 0.1 ) ), 50,
                      0.15 );
    }
    drop_actor( &a );
}

// A body of 0.8 times the size does with feet and hands, at the same places and turned alike, what the larger
// one did: everything met in every frame, and no joint turns by 20 degrees more than it did from one frame to
// the next.
static void a_smaller_body_does_the_same( void **state )
{
    (void)state;
    actor a;
    tr_error error;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    tr_body_scale scale = tr_default_body_scale();
    scale.scale = 0.8;
    tr_skeleton small;
    check_ok( tr_skeleton_scaled( &small, a.skeleton, &scale, &error ), &error );
    tr_fit_free( &a.fit );
    check_ok( tr_fit_build( &a.fit, &small, &def, &error ), &error );
    int ends[8], count = find_ends( &a, ends );
    quat *before = tr_alloc( (size_t)small.joint_count, sizeof( quat ) );
    for ( int f = 0; f < a.motion->clip.frame_count; ++f ) {
        tr_pose pose = tr_world_pose( &a.world, f );
        for ( int i = 0; i < count; ++i ) {
            vec3 place = pose.positions[ends[i]];
            if ( small.joints[ends[i]].role == TR_ROLE_FOOT )
                place.y *= 0.8;
            a.goals[2 * i] = tr_fit_position( ends[i], place );
            a.goals[2 * i + 1] = tr_fit_rotation( ends[i], pose.rotations[ends[i]] );
        }
        tr_fit_frame frame = frame_of( &a, f, 2 * count );
        frame.root.y *= 0.8;
        tr_fit_result result = solve( &a, &frame );
        assert_true( result.converged && result.worst < 1e-3 );
        for ( int j = 0; j < small.joint_count && f > 0; ++j ) {
            double source = q_angle( frame.start[j], tr_clip_frame( &a.motion->clip, f - 1 )[j] );
            assert_true( q_angle( a.local[j], before[j] ) - source < 20 * TR_DEGREE );
        }
        memcpy( before, a.local, (size_t)small.joint_count * sizeof( quat ) );
    }
    tr_free( before );
    drop_actor( &a );
    tr_skeleton_free( &small );
}

// From straight limbs, which show no plane to bend in: knees go forwards, elbows backwards.
static void hinges_bend_the_right_way( void **state )
{
    (void)state;
    tr_skeleton human = { 0 };
    tr_error error;
    check_ok( tr_human_skeleton( &human, &error ), &error );
    actor a = { .skeleton = &human };
    tr_fit_def def = tr_default_fit_def();
    ready( &a, &def );
    posed rest = { .skeleton = human };
    posed_start( &rest );
    const double noise[] = { 0, 0.01, -0.01 }; // the knee a little bent, or a little bent back
    for ( int n = 0; n < 3; ++n )
        for ( int side = 0; side < 2; ++side ) {
            int knee = tr_human_leg( side, TR_HUMAN_LEG ), foot = tr_human_leg( side, TR_HUMAN_FOOT );
            int elbow = tr_human_arm( side, TR_HUMAN_FOREARM ), hand = tr_human_arm( side, TR_HUMAN_HAND );
            int shoulder = tr_human_arm( side, TR_HUMAN_ARM );
            rest.local[knee] = q_axis_angle( v3_x, noise[n] );
            vec3 shortened = v3_lerp( rest.pose.positions[hand], rest.pose.positions[shoulder], 0.3 );
            a.goals[0] = tr_fit_position( foot, v3_add( rest.pose.positions[foot], v3( 0, 0.25, 0 ) ) );
            a.goals[1] = tr_fit_position( hand, shortened );
            a.goals[2] = tr_fit_position( 0, rest.pose.positions[0] );
            tr_fit_frame frame = {
                .start = rest.local, .root = human.joints[0].offset, .goals = a.goals, .goal_count = 3 };
            tr_fit_result result = solve( &a, &frame );
            check_near( result.worst, 0, 1e-3 );
            posed bent = { .skeleton = human };
            posed_start( &bent );
            pose_result( &human, &result, bent.pose );
            vec3 hip = bent.pose.positions[tr_human_leg( side, TR_HUMAN_UP_LEG )];
            vec3 between = v3_lerp( hip, bent.pose.positions[foot], 0.5 );
            assert_true( bent.pose.positions[knee].z > between.z + 0.1 );
            between = v3_lerp( bent.pose.positions[shoulder], bent.pose.positions[hand], 0.5 );
            assert_true( bent.pose.positions[elbow].z < between.z - 0.05 );
            bent.skeleton = ( tr_skeleton ){ 0 };
            posed_end( &bent );
        }
    tr_fit_scratch_free( &a.scratch );
    tr_fit_free( &a.fit );
    tr_free( a.local );
    posed_end( &rest ); // and the skeleton with it
}

// ------------------------------------------------------------------------------------------------ dragging

// Where one begins does not matter to where one comes, only to how soon.
static void a_warm_start_gives_the_same_answer( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends ), joints = a.skeleton->joint_count;
    quat *cold = tr_alloc( (size_t)joints, sizeof( quat ) );
    for ( int f = 5; f < a.motion->clip.frame_count; f += 40 ) {
        tr_pose pose = tr_world_pose( &a.world, f );
        for ( int i = 0; i < count; ++i ) {
            vec3 by = v3_scale( 0.1, random_in_ball( 90 + (uint64_t)i, (uint64_t)f ) );
            a.goals[i] = tr_fit_position( ends[i], v3_add( pose.positions[ends[i]], by ) );
        }
        a.goals[0].ease = 0.6; // measured at the centre, at whichever side the motion begins
        tr_fit_frame frame = frame_of( &a, f, count );
        tr_fit_result result = solve( &a, &frame );
        int steps = result.iterations;
        vec3 root = result.root;
        memcpy( cold, a.local, (size_t)joints * sizeof( quat ) );

        frame.warm = cold; // the answer itself
        frame.warm_root = root;
        result = solve( &a, &frame );
        assert_true( result.converged && result.iterations < steps );
        for ( int j = 0; j < joints; ++j )
            check_rotation( a.local[j], cold[j], 1e-5 );
        check_v3( result.root, root, 1e-5 );

        frame.warm = tr_clip_frame( &a.motion->clip, f - 5 ); // another pose
        frame.warm_root = v3_add( a.motion->clip.root[f - 5], v3( 0.1, 0, 0 ) );
        result = solve( &a, &frame );
        assert_true( result.converged );
        for ( int j = 0; j < joints; ++j )
            check_rotation( a.local[j], cold[j], 1e-5 );
        check_v3( result.root, root, 1e-5 );
    }
    tr_free( cold );
    drop_actor( &a );
}

// A hand or a foot is dragged by a centimetre at a time, the other three stay; each preview begins with the
// last one, or anew. Every picture is within 3 mm and a degree of what the default gives.
static void check_preview( actor *a, const tr_fit *preview, int moving, bool warm )
{
    int ends[8], count = find_ends( a, ends ), joints = a->skeleton->joint_count;
    quat *last = tr_alloc( (size_t)joints, sizeof( quat ) ),
         *shown = tr_alloc( (size_t)joints, sizeof( quat ) );
    tr_pose pose = { tr_alloc( (size_t)joints, sizeof( quat ) ), tr_alloc( (size_t)joints, sizeof( vec3 ) ) };
    tr_pose right = { tr_alloc( (size_t)joints, sizeof( quat ) ),
                      tr_alloc( (size_t)joints, sizeof( vec3 ) ) };
    vec3 last_root = v3_zero;
    for ( int tick = 0; tick < 12; ++tick ) {
        for ( int i = 0; i < count; ++i )
            a->goals[i] = tr_fit_position( ends[i], tr_world_pose( &a->world, 45 ).positions[ends[i]] );
        a->goals[moving].place = v3_mad( a->goals[moving].place, 0.01 * tick, v3( 0.48, 0.6, 0.64 ) );
        tr_fit_frame frame = frame_of( a, 45, count );
        tr_fit_result result = solve( a, &frame );
        pose_result( a->skeleton, &result, right );
        if ( warm && tick > 0 ) {
            frame.warm = last;
            frame.warm_root = last_root;
        }
        tr_error error;
        tr_fit_result quick = { .local = shown };
        check_ok( tr_fit_solve( preview, &a->scratch, &frame, &quick, 1, &error ), &error );
        assert_true( quick.iterations <= result.iterations );
        pose_result( a->skeleton, &quick, pose );
        for ( int j = 0; j < joints; ++j ) {
            check_v3( pose.positions[j], right.positions[j], 3e-3 );
            check_rotation( shown[j], a->local[j], 1 * TR_DEGREE );
        }
        memcpy( last, shown, (size_t)joints * sizeof( quat ) );
        last_root = quick.root;
    }
    tr_free( last );
    tr_free( shown );
    tr_free( pose.rotations );
    tr_free( pose.positions );
    tr_free( right.rotations );
    tr_free( right.positions );
}

static void previews_are_near_the_answer( void **state )
{
    (void)state;
    static const char *const scenes[] = { "box_relay", "spider", "wolf" };
    for ( int s = 0; s < 3; ++s ) {
        actor a;
        tr_error error;
        tr_fit preview;
        tr_fit_def def = tr_default_fit_def(), quick = tr_preview_fit_def();
        make_actor( &a, scenes[s], &def );
        check_ok( tr_fit_build( &preview, a.skeleton, &quick, &error ), &error );
        for ( int moving = 0; moving < 4; ++moving ) {
            check_preview( &a, &preview, moving, true );
            check_preview( &a, &preview, moving, false );
        }
        tr_fit_free( &preview );
        drop_actor( &a );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( no_pops_through_a_straight_arm ),     TEST( no_pops_of_a_whole_body ),
        TEST( a_smaller_body_does_the_same ),       TEST( hinges_bend_the_right_way ),
        TEST( a_warm_start_gives_the_same_answer ), TEST( previews_are_near_the_answer ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
