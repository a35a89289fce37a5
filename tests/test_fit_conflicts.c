// Goals of the skeleton fit that cannot all be met: which give way, and by how much.
#include "fit_fixture.h"

static void higher_priority_wins( void **state )
{
    (void)state;
    tr_fit_def def = only_arms();
    arm m;
    make_arm( &m, 0.5, &def );
    // Two places for one hand. Wherever they are, the more important one is met and the other shows all.
    const double apart[] = { 0.01, 0.5, 3, 30 };
    for ( int i = 0; i < 4; ++i ) {
        m.a.goals[0] = tr_fit_position( ARM_HAND, v3( 5, 0, apart[i] ) );
        m.a.goals[1] = tr_fit_position( ARM_HAND, v3( 5, 0, 0 ) );
        m.a.goals[1].priority = 1;
        tr_fit_result result = reach( &m, 2 );
        check_near( m.a.residuals[1], 0, 1e-3 );
        check_near( m.a.residuals[0], apart[i], 1e-3 );
        check_near( result.worst, apart[i], 1e-3 );
    }
    // Equal rights: both give way alike.
    m.a.goals[0] = tr_fit_position( ARM_HAND, v3( 5, 0, 1 ) );
    m.a.goals[1] = tr_fit_position( ARM_HAND, v3( 5, 0, -1 ) );
    reach( &m, 2 );
    check_near( m.a.residuals[0], m.a.residuals[1], 0.02 );
    drop_arm( &m );
}

// Goals on one point share their rows. A trillionth of a metre aside they do not: the answer is the same.
static void goals_on_one_point_are_as_one( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    def.max_iterations = 300; // three places for every hand and foot take their time
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends ), joints = a.skeleton->joint_count;
    quat *apart = tr_alloc( (size_t)joints, sizeof( quat ) );
    assert_non_null( apart );
    int compared = 0;
    for ( int round = 0; round < 12; ++round ) {
        tr_pose pose = tr_world_pose( &a.world, 10 * round );
        for ( int g = 0; g < 3 * count; ++g ) { // three places for each; some soft, fading or of lower rank
            vec3 by = v3_scale( 0.15, random_in_ball( 90, (uint64_t)( 100 * round + g ) ) );
            a.goals[g] = tr_fit_position( ends[g % count], v3_add( pose.positions[ends[g % count]], by ) );
            a.goals[g].offset = v3( 0, 0.03, 0 );
            a.goals[g].priority = round % 4 == 0 ? 1 : g / count;
            a.goals[g].hard = round % 4 != 1 || g < count;
            a.goals[g].weight = 30;
            a.goals[g].ease = round % 4 == 2 && g >= count ? 0.4 : 1;
        }
        tr_fit_frame frame = frame_of( &a, 10 * round, 3 * count );
        tr_fit_result together = solve( &a, &frame );
        memcpy( apart, a.local, (size_t)joints * sizeof( quat ) );
        double residual = a.residuals[0];
        for ( int g = 0; g < 3 * count; ++g )
            a.goals[g].offset.y += 1e-12 * g;
        tr_fit_result alone = solve( &a, &frame );
        assert_true( together.converged );
        if ( !alone.converged ) // rows that are all but the same are hard to tell apart
            continue;
        ++compared;
        check_v3( together.root, alone.root, 1e-5 );
        check_near( a.residuals[0], residual, 1e-5 );
        for ( int j = 0; j < joints; ++j )
            check_rotation( apart[j], a.local[j], 1e-4 );
    }
    assert_true( compared >= 10 );
    tr_free( apart );
    drop_actor( &a );
}

static void feet_stay_when_hands_ask_too_much( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends );
    tr_pose pose = tr_world_pose( &a.world, 5 );
    for ( int i = 0; i < count; ++i ) {
        bool foot = a.skeleton->joints[ends[i]].role == TR_ROLE_FOOT;
        a.goals[i] = tr_fit_position( ends[i], pose.positions[ends[i]] );
        a.goals[i].priority = foot ? 3 : 1;
        if ( !foot )
            a.goals[i].place = v3_add( a.goals[i].place, v3( 0, 0.3, 4 ) );
    }
    tr_fit_frame frame = frame_of( &a, 5, count );
    tr_fit_result result = solve( &a, &frame );
    double hands = 0;
    for ( int i = 0; i < count; ++i ) {
        if ( a.goals[i].priority == 3 )
            check_near( a.residuals[i], 0, 1e-3 );
        else
            hands = fmax( hands, a.residuals[i] );
    }
    assert_true( hands > 1 && hands < 4 );
    check_near( result.worst, hands, 1e-9 );
    drop_actor( &a );
}

// What graphs are torn by may leave the root anywhere to begin with. Feet come first all the same.
static void a_root_far_away_comes_back( void **state )
{
    (void)state;
    tr_fit_def def = tr_default_fit_def();
    actor a;
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends );
    for ( double away = 10; away < 1e4; away *= 10 ) {
        for ( int i = 0; i < count; ++i ) {
            bool foot = a.skeleton->joints[ends[i]].role == TR_ROLE_FOOT;
            vec3 at = tr_world_pose( &a.world, 0 ).positions[ends[i]];
            a.goals[i] = tr_fit_position( ends[i], foot ? at : v3( at.x + 3 * away, at.y, at.z ) );
            a.goals[i].priority = foot ? 4 : 2;
        }
        tr_fit_frame frame = frame_of( &a, 0, count );
        frame.root.x += away;
        solve( &a, &frame );
        for ( int i = 0; i < count; ++i )
            if ( a.goals[i].priority == 4 )
                check_near( a.residuals[i], 0, 1e-3 );
    }
    drop_actor( &a );
}

static void ease_takes_a_share( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    int hand = tr_human_arm( TR_HUMAN_LEFT, TR_HUMAN_HAND );
    vec3 start = tr_world_pose( &a.world, 20 ).positions[hand];
    double before = INFINITY;
    for ( int i = 1; i <= 20; ++i ) {
        a.goals[0] = tr_fit_position( hand, v3_add( start, v3( 0.01, 0.02, 0.01 ) ) );
        a.goals[0].ease = i / 20.0;
        tr_fit_frame frame = frame_of( &a, 20, 1 );
        solve( &a, &frame );
        double share = 1.0 - a.residuals[0] / v3_distance( start, a.goals[0].place );
        check_near( share, a.goals[0].ease, 0.2 ); // exact for a body that gives alike in all directions
        assert_true( a.residuals[0] < before );
        before = a.residuals[0];
    }
    check_near( before, 0, 1e-4 );
    drop_actor( &a );
}

static void soft_goals_pull_by_their_weight( void **state )
{
    (void)state;
    tr_fit_def def = only_arms();
    arm m;
    make_arm( &m, 0.5, &def );
    double before = INFINITY;
    for ( double weight = 0.01; weight < 1e7; weight *= 10 ) {
        m.a.goals[0] = tr_fit_position( ARM_HAND, v3( 4, 3, 0 ) );
        m.a.goals[0].hard = false;
        m.a.goals[0].weight = weight;
        reach( &m, 1 );
        assert_true( m.a.residuals[0] < before );
        before = m.a.residuals[0];
    }
    check_near( before, 0, 1e-5 );
    drop_arm( &m );
}

// Every joint hard at a place of its own, near and absurdly far; and rotations that contradict each other.
static void contradictions_stay_finite( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    const double far[] = { 0.1, 1, 100, 1e6 };
    for ( int i = 0; i < 4; ++i ) {
        for ( int g = 0; g < MAX_GOALS; ++g ) {
            a.goals[g] = tr_fit_position( g, v3_scale( far[i], random_in_ball( 80, (uint64_t)g ) ) );
            if ( g % 3 == 2 )
                a.goals[g] = tr_fit_rotation(
                    g - 2, q_from_vector( v3_scale( 3, random_in_ball( 81, (uint64_t)g ) ) ) );
            a.goals[g].priority = g % TR_FIT_PRIORITIES;
        }
        tr_fit_frame frame = frame_of( &a, 10, MAX_GOALS );
        tr_fit_result result = solve( &a, &frame );
        check_finite( &a, &result );
    }
    drop_actor( &a );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( higher_priority_wins ),
        TEST( goals_on_one_point_are_as_one ),
        TEST( feet_stay_when_hands_ask_too_much ),
        TEST( a_root_far_away_comes_back ),
        TEST( ease_takes_a_share ),
        TEST( soft_goals_pull_by_their_weight ),
        TEST( contradictions_stay_finite ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
