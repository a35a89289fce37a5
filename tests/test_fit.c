// The skeleton fit: goals met to a millimetre on every built-in body, by hand on an arm, and what is refused.
#include "fit_fixture.h"

static void two_bones_by_hand( void **state )
{
    (void)state;
    tr_fit_def def = only_arms();
    arm m;
    make_arm( &m, 0.5, &def );
    // 3-4-5: with the hand 5 away the elbow is at a right angle, on the side it is bent to: below the line.
    m.a.goals[0] = tr_fit_position( ARM_HAND, v3( 5, 0, 0 ) );
    tr_fit_result result = reach( &m, 1 );
    assert_true( result.converged );
    check_near( m.a.residuals[0], 0, 1e-3 );
    check_near( result.worst, m.a.residuals[0], 1e-12 );
    check_v3( m.body.pose.positions[ARM_HAND], v3( 5, 0, 0 ), 1e-3 );
    check_v3( m.body.pose.positions[ARM_LOWER], v3( 9.0 / 5, -12.0 / 5, 0 ), 2e-3 );
    check_near( q_angle( q_identity, m.a.local[ARM_LOWER] ), 90 * TR_DEGREE, 1e-3 );
    check_v3( result.root, v3_zero, 0 );

    // A point one unit beyond the hand: 3 and 5 apart by 4 make a right angle at the shoulder's end.
    m.a.goals[0] = tr_fit_position( ARM_HAND, v3( 4, 0, 0 ) );
    m.a.goals[0].offset = v3( 1, 0, 0 );
    def.stiffness[TR_ROLE_HAND] = INFINITY;
    reach( &m, 1 );
    vec3 elbow = m.body.pose.positions[ARM_LOWER];
    check_near( v3_dot( elbow, v3( 4, 0, 0 ) ), 0, 0.02 );
    drop_arm( &m );
}

static void too_far_straightens_and_says_so( void **state )
{
    (void)state;
    tr_fit_def def = only_arms();
    arm m;
    make_arm( &m, 0.7, &def );
    const vec3 directions[] = {
        { 1, 0, 0 }, { 0, 1, 0 }, { 0.6, 0, 0.8 }, { -0.3, -0.8, 0.2 }, { 0, -0.5, -0.8 } };
    const double distances[] = { 7.05, 8, 20, 1000 };
    for ( int d = 0; d < 5; ++d )
        for ( int i = 0; i < 4; ++i ) {
            vec3 direction = v3_unit( directions[d] );
            m.a.goals[0] = tr_fit_position( ARM_HAND, v3_scale( distances[i], direction ) );
            tr_fit_result result = reach( &m, 1 );
            check_v3( v3_unit( m.body.pose.positions[ARM_HAND] ), direction, 0.01 );
            check_near( m.a.residuals[0], distances[i] - 7, 2e-3 ); // weakly pulled, it is not quite straight
            if ( !result.converged )
                print_error( "direction %d, distance %g: %d iterations\n", d, distances[i],
                             result.iterations );
            assert_true( result.converged );
        }
    drop_arm( &m );
}

// -------------------------------------------------------------------------------------- nothing to be done

static void no_goals_change_no_bit( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    size_t bytes = (size_t)a.skeleton->joint_count * sizeof( quat );
    tr_fit_frame frame = frame_of( &a, 40, 0 );
    tr_fit_result result = solve( &a, &frame );
    assert_memory_equal( result.local, frame.start, bytes );
    assert_memory_equal( &result.root, &frame.root, sizeof( vec3 ) );
    assert_true( result.converged );
    assert_int_equal( result.iterations, 0 );

    // Goals that are met already, that have no axis, no ease or no weight change nothing either.
    int ends[8], count = find_ends( &a, ends );
    tr_pose pose = tr_world_pose( &a.world, 40 );
    for ( int i = 0; i < count; ++i ) {
        a.goals[2 * i] = tr_fit_position( ends[i], pose.positions[ends[i]] );
        a.goals[2 * i + 1] = tr_fit_rotation( ends[i], pose.rotations[ends[i]] );
    }
    tr_fit_goal *idle = &a.goals[2 * count];
    for ( int i = 0; i < 3; ++i )
        idle[i] = tr_fit_position( ends[i], v3( 1, 2, 3 ) );
    idle[0].axes = 0;
    idle[1].ease = 0;
    idle[2].hard = false;
    frame = frame_of( &a, 40, 2 * count + 3 );
    result = solve( &a, &frame );
    assert_memory_equal( result.local, frame.start, bytes );
    assert_memory_equal( &result.root, &frame.root, sizeof( vec3 ) );
    check_near( a.residuals[2 * count], 0, 0 ); // no axis counts
    check_near( a.residuals[2 * count + 1], v3_distance( pose.positions[ends[1]], v3( 1, 2, 3 ) ), 1e-9 );
    check_near( result.worst, 0, 1e-12 );
    drop_actor( &a );
}

// ----------------------------------------------------------------------------------------------- reachable

static void check_lengths( const actor *a, tr_pose pose )
{
    for ( int j = 1; j < a->skeleton->joint_count; ++j ) {
        int parent = a->skeleton->joints[j].parent;
        double length = v3_distance( pose.positions[j], pose.positions[parent] );
        check_near( length, tr_bone_length( a->skeleton, j ), 1e-12 );
        check_near( q_dot( a->local[j], a->local[j] ), 1, 1e-12 );
    }
}

// Ends of all limbs moved at random by up to `most`: within a millimetre, and the residual is the truth.
static void check_random_goals( const char *scene, double most )
{
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, scene, &def );
    int ends[8], count = find_ends( &a, ends );
    assert_true( count == 4 || count == 8 );
    tr_pose pose = { tr_alloc( (size_t)a.skeleton->joint_count, sizeof( quat ) ),
                     tr_alloc( (size_t)a.skeleton->joint_count, sizeof( vec3 ) ) };
    for ( int f = 0; f < a.motion->clip.frame_count; f += 3 ) {
        for ( int i = 0; i < count; ++i ) {
            vec3 by = v3_scale( most, random_in_ball( (uint64_t)i + 1, (uint64_t)f ) );
            a.goals[i] =
                tr_fit_position( ends[i], v3_add( tr_world_pose( &a.world, f ).positions[ends[i]], by ) );
        }
        tr_fit_frame frame = frame_of( &a, f, count );
        tr_fit_result result = solve( &a, &frame );
        assert_true( result.converged );
        pose_result( a.skeleton, &result, pose );
        for ( int i = 0; i < count; ++i ) {
            check_near( a.residuals[i], 0, 1e-3 );
            check_near( v3_distance( pose.positions[ends[i]], a.goals[i].place ), a.residuals[i], 1e-9 );
        }
        check_lengths( &a, pose );
    }
    tr_free( pose.rotations );
    tr_free( pose.positions );
    drop_actor( &a );
}

static void human_reaches( void **state )
{
    (void)state;
    check_random_goals( "box_relay", 0.15 );
}

static void spider_reaches( void **state )
{
    (void)state;
    check_random_goals( "spider", 0.08 );
}

static void wolf_reaches( void **state )
{
    (void)state;
    check_random_goals( "wolf", 0.12 );
}

// Feet flat on places of their own, hands turned and placed, the pelvis where it shall be: all at once.
static void many_goals_at_once( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends ), n = 0;
    for ( int f = 0; f < a.motion->clip.frame_count; f += 7 ) {
        tr_pose pose = tr_world_pose( &a.world, f );
        n = 0;
        for ( int i = 0; i < count; ++i ) {
            vec3 by = v3_scale( 0.06, random_in_ball( (uint64_t)i + 20, (uint64_t)f ) );
            quat turn = q_from_vector( v3_scale( 0.3, random_in_ball( (uint64_t)i + 40, (uint64_t)f ) ) );
            a.goals[n++] = tr_fit_position( ends[i], v3_add( pose.positions[ends[i]], by ) );
            a.goals[n++] = tr_fit_rotation( ends[i], q_mul( turn, pose.rotations[ends[i]] ) );
        }
        a.goals[n++] = tr_fit_position( 0, v3_add( pose.positions[0], v3( 0.02, -0.05, 0.01 ) ) );
        tr_fit_frame frame = frame_of( &a, f, n );
        tr_fit_result result = solve( &a, &frame );
        assert_true( result.converged );
        for ( int i = 0; i < n; ++i ) // a thousandth of a metre, a quarter of a degree
            check_near( a.residuals[i], 0, a.goals[i].kind == TR_FIT_POSITION ? 1e-3 : 0.25 * TR_DEGREE );
    }
    drop_actor( &a );
}

static void only_the_axes_that_count( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int foot = tr_human_leg( TR_HUMAN_LEFT, TR_HUMAN_FOOT );
    vec3 place = tr_world_pose( &a.world, 10 ).positions[foot];
    a.goals[0] = tr_fit_position( foot, v3( 100, place.y + 0.1, -100 ) );
    a.goals[0].axes = TR_FIT_Y;
    tr_fit_frame frame = frame_of( &a, 10, 1 );
    tr_fit_result result = solve( &a, &frame );
    check_near( a.residuals[0], 0, 1e-4 );
    check_v3( result.root, frame.root, 0.05 );

    // The heading of a foot alone: its sole stays as flat as it was.
    quat start = tr_world_pose( &a.world, 10 ).rotations[foot];
    a.goals[0] = tr_fit_rotation( foot, q_mul( q_axis_angle( v3_y, 0.4 ), start ) );
    frame = frame_of( &a, 10, 1 );
    solve( &a, &frame );
    check_near( a.residuals[0], 0, 1e-3 );
    drop_actor( &a );
}

// Two goals on one point share their rows. In the second frame they are on two points: next to it, the first
// one comes to the same bits as alone.
static void a_frame_does_not_depend_on_others( void **state )
{
    (void)state;
    actor a;
    tr_error error;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int hand = tr_human_arm( TR_HUMAN_LEFT, TR_HUMAN_HAND ), joints = a.skeleton->joint_count;
    quat *locals[2] = { tr_alloc( (size_t)joints, sizeof( quat ) ),
                        tr_alloc( (size_t)joints, sizeof( quat ) ) };
    tr_fit_goal goals[2][2];
    for ( int f = 0; f < 2; ++f )
        for ( int g = 0; g < 2; ++g ) {
            vec3 place = tr_world_pose( &a.world, 10 ).positions[hand];
            goals[f][g] = tr_fit_position( hand, v3_add( place, v3( 0.05 + 0.02 * g, -0.03, 0.01 ) ) );
            goals[f][g].hard = false;
            goals[f][g].weight = 100;
            goals[f][g].offset = v3( 0.01, 0.02 + 0.03 * f * g, 0 );
        }
    tr_fit_frame frames[2] = { frame_of( &a, 10, 2 ), frame_of( &a, 10, 2 ) };
    frames[0].goals = goals[0];
    frames[1].goals = goals[1];
    tr_fit_result alone = solve( &a, &frames[0] );
    tr_fit_result both[2] = { { .local = locals[0] }, { .local = locals[1] } };
    check_ok( tr_fit_solve( &a.fit, &a.scratch, frames, both, 2, &error ), &error );
    assert_memory_equal( a.local, locals[0], (size_t)joints * sizeof( quat ) );
    assert_memory_equal( &alone.root, &both[0].root, sizeof( vec3 ) );
    tr_free( locals[0] );
    tr_free( locals[1] );
    drop_actor( &a );
}

// ----------------------------------------------------------------------------------------------- following

// Nor on what was solved with the same scratch before, whatever it left there. Clavicles do not turn here.
static void what_the_scratch_held_does_not_matter( void **state )
{
    (void)state;
    tr_fit_def def = tr_default_fit_def();
    def.stiffness[TR_ROLE_CLAVICLE] = INFINITY;
    actor a;
    make_actor( &a, "box_relay", &def );
    int hand = tr_skeleton_find( a.skeleton, "LeftHand" );
    a.goals[0] =
        tr_fit_position( hand, v3_add( tr_world_pose( &a.world, 20 ).positions[hand], v3( 0.5, 0.8, 0.4 ) ) );
    tr_fit_frame frame = frame_of( &a, 20, 1 );
    size_t bytes = (size_t)a.skeleton->joint_count * sizeof( quat );
    quat *clean = tr_alloc( (size_t)a.skeleton->joint_count, sizeof( quat ) );
    tr_fit_result first = solve( &a, &frame );
    memcpy( clean, a.local, bytes );
    memset( a.scratch.slots, 0x3f, a.scratch.slot_bytes ); // numbers of all kinds, about 5e-4
    tr_fit_result again = solve( &a, &frame );
    assert_int_equal( again.iterations, first.iterations );
    assert_memory_equal( a.local, clean, bytes );
    memset( a.scratch.slots, 0xff, a.scratch.slot_bytes ); // NaN
    solve( &a, &frame );
    assert_memory_equal( a.local, clean, bytes );
    tr_free( clean );
    drop_actor( &a );
}

static void follows_a_deformed_body( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int joints = a.skeleton->joint_count;
    vec3 *places = tr_alloc( (size_t)joints, sizeof( vec3 ) );
    tr_pose pose = { tr_alloc( (size_t)joints, sizeof( quat ) ), tr_alloc( (size_t)joints, sizeof( vec3 ) ) };
    for ( int f = 0; f < a.motion->clip.frame_count; f += 30 ) {
        // Every place of another frame's pose, twice as large: directions count, lengths do not.
        tr_pose wanted = tr_world_pose( &a.world, ( f + 55 ) % a.motion->clip.frame_count );
        for ( int j = 0; j < joints; ++j )
            places[j] = v3_scale( 2, wanted.positions[j] );
        tr_fit_frame frame = frame_of( &a, f, 0 );
        frame.positions = places;
        frame.rotations = wanted.rotations;
        tr_fit_result result = solve( &a, &frame );
        pose_result( a.skeleton, &result, pose );
        check_v3( result.root, places[0], 0 );
        for ( int j = 1; j < joints; ++j ) {
            vec3 bone = v3_sub( pose.positions[j], pose.positions[a.skeleton->joints[j].parent] );
            vec3 asked = v3_sub( wanted.positions[j], wanted.positions[a.skeleton->joints[j].parent] );
            check_v3( bone, asked, 1e-9 );
            if ( !a.skeleton->joints[j].end_site )
                check_rotation( pose.rotations[j], wanted.rotations[j], 1e-7 );
        }
        // Without rotations the twist is the starting pose's; bones of single chains point the same way.
        frame.rotations = NULL;
        result = solve( &a, &frame );
        pose_result( a.skeleton, &result, pose );
        int knee = tr_human_leg( 0, TR_HUMAN_LEG ), foot = tr_human_leg( 0, TR_HUMAN_FOOT );
        check_v3( v3_unit( v3_sub( pose.positions[foot], pose.positions[knee] ) ),
                  v3_unit( v3_sub( wanted.positions[foot], wanted.positions[knee] ) ), 1e-9 );
    }
    tr_free( places );
    tr_free( pose.rotations );
    tr_free( pose.positions );
    drop_actor( &a );
}

// ------------------------------------------------------------------------------------------------- garbage

static void refuses( actor *a, const tr_fit_frame *frame, const char *part )
{
    tr_error error = { 0 };
    tr_fit_result result = { .local = a->local };
    assert_false( tr_fit_solve( &a->fit, &a->scratch, frame, &result, 1, &error ) );
    if ( strstr( error.message, part ) == NULL )
        print_error( "%s\n", error.message );
    assert_non_null( strstr( error.message, part ) );
}

static void bad_input_is_refused( void **state )
{
    (void)state;
    actor a;
    tr_error error;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    tr_fit_frame frame = frame_of( &a, 0, 1 );
    tr_fit_goal good = tr_fit_position( 3, v3_zero );

    a.goals[0] = good;
    a.goals[0].joint = a.skeleton->joint_count;
    refuses( &a, &frame, "does not exist" );
    a.goals[0] = good;
    a.goals[0].place.y = NAN;
    refuses( &a, &frame, "goal 0 of frame 0" );
    a.goals[0] = good;
    a.goals[0].offset.x = INFINITY;
    refuses( &a, &frame, "not a number" );
    a.goals[0] = good;
    a.goals[0].priority = TR_FIT_PRIORITIES;
    refuses( &a, &frame, "priority" );
    a.goals[0] = good;
    a.goals[0].ease = NAN;
    refuses( &a, &frame, "ease" );
    a.goals[0] = good;
    a.goals[0].hard = false;
    a.goals[0].weight = -1;
    refuses( &a, &frame, "weight" );
    a.goals[0] = tr_fit_rotation( 3, ( quat ){ 0, 0, 0, 0 } );
    refuses( &a, &frame, "rotation" );
    a.goals[0] = good;
    a.goals[0].axes = 8;
    refuses( &a, &frame, "axes" );

    a.goals[0] = good;
    frame.root.x = NAN;
    refuses( &a, &frame, "frame 0" );
    frame = frame_of( &a, 0, 1 );
    quat *start = tr_alloc( (size_t)a.skeleton->joint_count, sizeof( quat ) );
    memcpy( start, frame.start, (size_t)a.skeleton->joint_count * sizeof( quat ) );
    start[5].w = NAN;
    frame.start = start;
    refuses( &a, &frame, "joint 5" );
    frame = frame_of( &a, 0, 1 );
    frame.warm = start;
    refuses( &a, &frame, "joint 5" );
    frame.warm = frame.start;
    frame.warm_root.z = INFINITY;
    refuses( &a, &frame, "frame 0" );
    tr_free( start );

    tr_fit fit;
    def.softness = 0;
    assert_false( tr_fit_build( &fit, a.skeleton, &def, &error ) );
    def = tr_default_fit_def();
    def.stiffness[TR_ROLE_SPINE] = NAN;
    assert_false( tr_fit_build( &fit, a.skeleton, &def, &error ) );
    drop_actor( &a );
}

// Places for hands and feet, moved on by `more` from where they are a hand's breadth beside the pose.
static int dragged_goals( actor *a, int frame, vec3 more )
{
    int ends[8], count = find_ends( a, ends );
    for ( int g = 0; g < count; ++g ) {
        vec3 own = tr_world_pose( &a->world, frame ).positions[ends[g]];
        vec3 beside = v3_scale( 0.08, random_in_ball( 11, (uint64_t)( 8 * frame + g ) ) );
        a->goals[g] = tr_fit_position( ends[g], v3_add( own, v3_add( beside, more ) ) );
    }
    return count;
}

// A goal that is dragged: what the last fit came to is where the next begins, and one step is enough.
static void goes_on_from_what_it_came_to( void **state )
{
    (void)state;
    tr_fit_def def = tr_preview_fit_def();
    actor a;
    make_actor( &a, "box_relay", &def );
    size_t joints = (size_t)a.skeleton->joint_count;
    float *turns = tr_alloc( 3 * joints, sizeof( float ) ), *pulls = tr_alloc( 3 * joints, sizeof( float ) );
    tr_pose pose = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) },
            exact = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    int cold_steps = 0, steps = 0;
    for ( int f = 0; f < 40; f += 4 ) {
        tr_fit_memory memory = { .turns = turns, .pulls = pulls };
        tr_fit_frame frame = frame_of( &a, f, dragged_goals( &a, f, v3_zero ) );
        frame.memory = &memory;
        solve( &a, &frame );
        assert_true( memory.known );
        dragged_goals( &a, f, v3( 0, 0.005, 0.01 ) );
        tr_fit_result result = solve( &a, &frame );
        steps += result.iterations;
        assert_true( result.converged );
        pose_result( a.skeleton, &result, pose );
        frame.memory = NULL;
        cold_steps += solve( &a, &frame ).iterations;
        a.fit.def = tr_default_fit_def();
        result = solve( &a, &frame );
        pose_result( a.skeleton, &result, exact );
        a.fit.def = def;
        for ( size_t j = 0; j < joints; ++j )
            check_v3( pose.positions[j], exact.positions[j], 1e-3 );
    }
    assert_true( steps <= 12 && cold_steps >= 2 * steps );
    drop_actor( &a );
    tr_free( turns );
    tr_free( pulls );
    tr_free( pose.rotations );
    tr_free( pose.positions );
    tr_free( exact.rotations );
    tr_free( exact.positions );
}

static void odd_skeletons( void **state )
{
    (void)state;
    tr_error error;
    tr_fit_def def = tr_default_fit_def();
    tr_skeleton skeleton = { 0 };
    tr_skeleton_add( &skeleton, "alone", -1, v3_zero );
    check_ok( tr_skeleton_classify( &skeleton, &error ), &error );
    actor a = { .skeleton = &skeleton };
    ready( &a, &def );
    quat start[4] = { q_identity, q_identity, q_identity, q_identity };
    a.goals[0] = tr_fit_position( 0, v3( 0.3, 0.6, 0.9 ) );
    a.goals[1] = tr_fit_rotation( 0, q_axis_angle( v3_y, 1 ) );
    tr_fit_frame frame = { .start = start, .goals = a.goals, .goal_count = 2 };
    tr_fit_result result = solve( &a, &frame );
    check_v3( result.root, v3( 0.3, 0.6, 0.9 ), 1e-3 );
    check_rotation( a.local[0], q_axis_angle( v3_y, 1 ), 0.02 );
    tr_fit_scratch_free( &a.scratch );
    tr_fit_free( &a.fit );
    tr_free( a.local );

    // Bones of no length: three joints in one place; one carries the only bone.
    tr_skeleton_add( &skeleton, "there", 0, v3_zero );
    tr_skeleton_add( &skeleton, "again", 1, v3_zero );
    tr_skeleton_add( &skeleton, "end", 2, v3( 0, 1, 0 ) );
    check_ok( tr_skeleton_classify( &skeleton, &error ), &error );
    def.root_stiffness = INFINITY;
    a = ( actor ){ .skeleton = &skeleton };
    ready( &a, &def );
    a.goals[0] = tr_fit_position( 3, v3( 1, 0, 0 ) );
    a.goals[1] = tr_fit_position( 2, v3( 0.5, 0, 0 ) ); // cannot move at all
    frame = ( tr_fit_frame ){ .start = start, .goals = a.goals, .goal_count = 2 };
    result = solve( &a, &frame );
    check_near( a.residuals[0], 0, 1e-3 );
    check_near( a.residuals[1], 0.5, 1e-12 );
    check_finite( &a, &result );
    tr_fit_scratch_free( &a.scratch );
    tr_fit_free( &a.fit );
    tr_free( a.local );
    tr_skeleton_free( &skeleton );
}

static void survives_failing_allocations( void **state )
{
    (void)state;
    tr_skeleton human = { 0 };
    tr_error error;
    check_ok( tr_human_skeleton( &human, &error ), &error );
    tr_fit_def def = tr_default_fit_def();
    bool built = false;
    for ( long n = 1; !built; ++n ) {
        tr_fit fit;
        tr_fit_scratch scratch;
        tr_memory_fail_from( n );
        if ( tr_fit_build( &fit, &human, &def, &error ) ) {
            built = tr_fit_scratch_build( &scratch, &fit, 4, 3, &error );
            if ( built )
                tr_fit_scratch_free( &scratch );
            tr_fit_free( &fit );
        }
        tr_memory_fail_from( 0 );
        assert_true( n < 100 );
    }
    tr_skeleton_free( &human );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( two_bones_by_hand ),
        TEST( too_far_straightens_and_says_so ),
        TEST( no_goals_change_no_bit ),
        TEST( human_reaches ),
        TEST( spider_reaches ),
        TEST( wolf_reaches ),
        TEST( many_goals_at_once ),
        TEST( only_the_axes_that_count ),
        TEST( a_frame_does_not_depend_on_others ),
        TEST( what_the_scratch_held_does_not_matter ),
        TEST( follows_a_deformed_body ),
        TEST( bad_input_is_refused ),
        TEST( odd_skeletons ),
        TEST( survives_failing_allocations ),
        TEST( goes_on_from_what_it_came_to ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
