// The skeleton fit: goals met to a millimetre on every built-in body, ways of giving way, smoothness, and an
// exact slow twin.
#include "check_motion.h"

#include "scenes/kit/kit.h"
#include "scenes/scenes.h"

#include <string.h>

#define MAX_GOALS 24

// ------------------------------------------------------------------------------------------------ bodies

typedef struct actor { // a built-in character, its motion, and everything to fit it with
    tr_scene scene;
    tr_library library;
    const tr_motion *motion;
    const tr_skeleton *skeleton;
    tr_world world;
    tr_fit fit;
    tr_fit_scratch scratch;
    quat *local;
    double residuals[MAX_GOALS];
    tr_fit_goal goals[MAX_GOALS];
} actor;

static void ready( actor *a, const tr_fit_def *def )
{
    tr_error error;
    check_ok( tr_fit_build( &a->fit, a->skeleton, def, &error ), &error );
    check_ok( tr_fit_scratch_build( &a->scratch, &a->fit, MAX_GOALS, 1, &error ), &error );
    a->local = tr_alloc( (size_t)a->skeleton->joint_count, sizeof( quat ) );
}

static void make_actor( actor *a, const char *scene, const tr_fit_def *def )
{
    *a = ( actor ){ 0 };
    tr_error error;
    const tr_scene_entry *entry = tr_scene_entry_find( scene );
    check_ok( tr_scene_build( entry, entry->min_cast, &a->scene, &a->library, &error ), &error );
    a->motion = tr_library_find( &a->library, a->scene.cast[0].source.file );
    a->skeleton = &a->motion->skeleton;
    check_ok( tr_world_build( &a->world, a->motion, &error ), &error );
    ready( a, def );
}

static void drop_actor( actor *a )
{
    tr_fit_scratch_free( &a->scratch );
    tr_fit_free( &a->fit );
    tr_world_free( &a->world );
    tr_library_free( &a->library );
    tr_scene_free( &a->scene );
    tr_free( a->local );
}

static tr_fit_frame frame_of( const actor *a, int frame, int goal_count )
{
    return ( tr_fit_frame ){ .start = tr_clip_frame( &a->motion->clip, frame ),
                             .root = a->motion->clip.root[frame],
                             .goals = a->goals,
                             .goal_count = goal_count };
}

static tr_fit_result solve( actor *a, const tr_fit_frame *frame )
{
    tr_error error;
    tr_fit_result result = { .local = a->local, .residuals = a->residuals };
    check_ok( tr_fit_solve( &a->fit, &a->scratch, frame, &result, 1, &error ), &error );
    return result;
}

// World pose of a result into arrays of the caller, by the library's own forward kinematics.
static void pose_result( const tr_skeleton *skeleton, const tr_fit_result *result, tr_pose pose )
{
    tr_clip clip = { .joint_count = skeleton->joint_count,
                     .frame_count = 1,
                     .rotations = result->local,
                     .root = (vec3 *)&result->root };
    tr_forward( skeleton, &clip, 0, pose );
}

// Feet and hands; of the spider the tips of its legs.
static int find_ends( const actor *a, int *joints )
{
    int count = 0;
    bool spider = a->skeleton->limb_count > 8;
    for ( int j = 0; j < a->skeleton->joint_count && count < 8; ++j ) {
        const tr_joint *joint = &a->skeleton->joints[j];
        bool end = spider ? joint->role == TR_ROLE_TOE && joint->end_site
                          : joint->role == TR_ROLE_FOOT || joint->role == TR_ROLE_HAND;
        if ( end )
            joints[count++] = j;
    }
    return count;
}

static vec3 random_in_ball( uint64_t seed, uint64_t index )
{
    for ( uint64_t i = 0;; i += 3 ) {
        vec3 v = v3( tr_chance_between( seed, 1000 * index + i, -1, 1 ),
                     tr_chance_between( seed, 1000 * index + i + 1, -1, 1 ),
                     tr_chance_between( seed, 1000 * index + i + 2, -1, 1 ) );
        if ( v3_dot( v, v ) <= 1 )
            return v;
    }
}

// ------------------------------------------------------------------------------------------------- an arm

// Root at the origin, upper arm of 3 along +X from it, forearm of 4, hand: the only joints that turn are
// shoulder and elbow, 0.5 rad bent at the start towards +Y.
typedef struct arm {
    posed body;
    actor a;
} arm;

enum { ARM_ROOT, ARM_UPPER, ARM_LOWER, ARM_HAND };

static tr_fit_def only_arms( void )
{
    tr_fit_def def = tr_default_fit_def();
    for ( int r = 0; r < TR_ROLE_COUNT; ++r )
        if ( r != TR_ROLE_UPPER_ARM && r != TR_ROLE_FOREARM )
            def.stiffness[r] = INFINITY;
    def.root_stiffness = INFINITY;
    return def;
}

static void make_arm( arm *m, double bend, const tr_fit_def *def )
{
    static const tr_role roles[4] = { TR_ROLE_ROOT, TR_ROLE_UPPER_ARM, TR_ROLE_FOREARM, TR_ROLE_HAND };
    tr_error error;
    *m = ( arm ){ 0 };
    tr_skeleton *skeleton = &m->body.skeleton;
    tr_skeleton_add( skeleton, "root", -1, v3_zero );
    tr_skeleton_add( skeleton, "upper", 0, v3_zero );
    tr_skeleton_add( skeleton, "lower", 1, v3( 3, 0, 0 ) );
    tr_skeleton_add( skeleton, "hand", 2, v3( 4, 0, 0 ) );
    skeleton->joints[ARM_LOWER].rest = q_axis_angle( v3_z, 0.5 ); // which way it bends
    check_ok( tr_skeleton_classify( skeleton, &error ), &error );
    for ( int j = 0; j < 4; ++j ) {
        skeleton->joints[j].role = roles[j];
        skeleton->joints[j].limb = 0;
    }
    posed_start( &m->body );
    m->body.local[ARM_LOWER] = q_axis_angle( v3_z, bend );
    m->a.skeleton = skeleton;
    ready( &m->a, def );
}

static void drop_arm( arm *m )
{
    tr_fit_scratch_free( &m->a.scratch );
    tr_fit_free( &m->a.fit );
    tr_free( m->a.local );
    posed_end( &m->body );
}

static tr_fit_result reach( arm *m, int goal_count )
{
    tr_fit_frame frame = { .start = m->body.local, .goals = m->a.goals, .goal_count = goal_count };
    tr_fit_result result = solve( &m->a, &frame );
    pose_result( m->a.skeleton, &result, m->body.pose );
    return result;
}

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

// ---------------------------------------------------------------------------------------------- reachable

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

// --------------------------------------------------------------------------------------------- giving way

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

// ----------------------------------------------------------------------------------------------- smoothness

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

// --------------------------------------------------------------------------------------------- following

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

// ----------------------------------------------------------------------------------------------- dragging

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
        a.goals[0].ease = 0.6; // which is measured at the centre, wherever one begins
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

// --------------------------------------------------------------------------------------------- slow twin
// The energy as the header states it, with every joint of the skeleton unknown, the Jacobian by differences
// of fourth order through plain forward kinematics, and dense normal equations. Shares no code with the fit
// but tr_fit_joint_axes.

#define TWIN_JOINTS 48
#define TWIN_SIZE   ( 3 * TWIN_JOINTS + 3 )
#define TWIN_ROWS   ( 3 * MAX_GOALS )

typedef struct twin {
    const tr_fit *fit;
    const tr_fit_frame *frame;
    int size; // unknowns: z of every joint, then the shift in sizes times √root_stiffness
    tr_fit_axes axes[TWIN_JOINTS];
    double z[TWIN_SIZE];
    quat local[TWIN_JOINTS], rotations[TWIN_JOINTS];
    vec3 positions[TWIN_JOINTS], root;
    double c[TWIN_ROWS], jacobian[TWIN_ROWS][TWIN_SIZE], normal[TWIN_SIZE][TWIN_SIZE + 1];
} twin;

static void twin_errors( twin *t, double *c )
{
    const tr_skeleton *skeleton = t->fit->skeleton;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        vec3 turn = m3_mulv( t->axes[j].factor, v3( t->z[3 * j], t->z[3 * j + 1], t->z[3 * j + 2] ) );
        t->local[j] = q_mul( q_from_vector( turn ), t->frame->start[j] );
    }
    const double *shift = t->z + 3 * skeleton->joint_count;
    double unit = t->fit->size / sqrt( t->fit->def.root_stiffness );
    t->root = v3_mad( t->frame->root, unit, v3( shift[0], shift[1], shift[2] ) );
    tr_fit_result pose = { .local = t->local, .root = t->root };
    pose_result( skeleton, &pose, ( tr_pose ){ t->rotations, t->positions } );
    for ( int g = 0; g < t->frame->goal_count; ++g, c += 3 ) {
        const tr_fit_goal *goal = &t->frame->goals[g];
        vec3 point = v3_add( t->positions[goal->joint], q_rotate( t->rotations[goal->joint], goal->offset ) );
        vec3 off = v3_sub( point, goal->place );
        if ( goal->kind == TR_FIT_ROTATION )
            off = v3_scale( t->fit->def.arm * t->fit->size,
                            q_to_vector( q_mul( t->rotations[goal->joint], q_conj( goal->rotation ) ) ) );
        c[0] = goal->axes & TR_FIT_X ? off.x : 0;
        c[1] = goal->axes & TR_FIT_Y ? off.y : 0;
        c[2] = goal->axes & TR_FIT_Z ? off.z : 0;
    }
}

// f' = ( f(−2h) − 8 f(−h) + 8 f(h) − f(2h) ) / 12 h
static void twin_differentiate( twin *t )
{
    const double h = 1e-3, at[4] = { -2 * h, -h, h, 2 * h }, by[4] = { 1, -8, 8, -1 };
    double c[TWIN_ROWS];
    int rows = 3 * t->frame->goal_count;
    memset( t->jacobian, 0, sizeof t->jacobian );
    for ( int i = 0; i < t->size; ++i ) {
        double z = t->z[i];
        for ( int k = 0; k < 4; ++k ) {
            t->z[i] = z + at[k];
            twin_errors( t, c );
            for ( int r = 0; r < rows; ++r )
                t->jacobian[r][i] += by[k] * c[r] / ( 12 * h );
        }
        t->z[i] = z;
    }
    twin_errors( t, t->c );
}

static double twin_weight( const twin *t, int g )
{
    const tr_fit_goal *goal = &t->frame->goals[g];
    if ( !goal->hard )
        return goal->weight;
    const tr_fit_def *def = &t->fit->def;
    double force = def->pull * pow( def->priority_ratio, goal->priority ) / t->fit->size;
    double *c = (double *)t->c + 3 * g, cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    return force / sqrt( def->softness * def->softness + cc ) +
           force / sqrt( t->fit->size * t->fit->size + cc );
}

static void twin_eliminate( twin *t )
{
    for ( int k = 0; k < t->size; ++k )
        for ( int i = k + 1; i < t->size; ++i ) {
            double factor = t->normal[i][k] / t->normal[k][k];
            for ( int j = k; j <= t->size && factor != 0; ++j )
                t->normal[i][j] -= factor * t->normal[k][j];
        }
    for ( int k = t->size - 1; k >= 0; --k ) {
        for ( int j = k + 1; j < t->size; ++j )
            t->normal[k][t->size] -= t->normal[k][j] * t->normal[j][t->size];
        t->normal[k][t->size] /= t->normal[k][k];
    }
}

// Damped Gauss–Newton step; returns its length.
static double twin_step( twin *t, double damping )
{
    twin_differentiate( t );
    memset( t->normal, 0, sizeof t->normal );
    for ( int i = 0; i < t->size; ++i ) {
        t->normal[i][i] = 1 + damping;
        t->normal[i][t->size] = -t->z[i];
        const tr_fit_axes *axes = i < t->size - 3 ? &t->axes[i / 3] : NULL;
        if ( i % 3 != 0 || axes == NULL || !axes->hinged )
            continue;
        double over = fmin( t->z[i] - axes->least, 0 ) + fmax( t->z[i] - axes->most, 0 );
        t->normal[i][i] += over != 0 ? t->fit->def.stop : 0;
        t->normal[i][t->size] -= t->fit->def.stop * over;
        double compliance = v3_length( axes->factor.cx ), slack = t->fit->def.slack;
        double tight = fmax( -fmax( axes->bend - slack, 0 ) / compliance - t->z[i], 0 );
        t->normal[i][i] += 2 * t->fit->def.taut * compliance / slack * tight;
        t->normal[i][t->size] += t->fit->def.taut * compliance / slack * tight * tight;
    }
    for ( int r = 0; r < 3 * t->frame->goal_count; ++r ) {
        double weight = twin_weight( t, r / 3 );
        for ( int i = 0; i < t->size; ++i ) {
            double wj = weight * t->jacobian[r][i];
            for ( int j = 0; j < t->size && wj != 0; ++j )
                t->normal[i][j] += wj * t->jacobian[r][j];
            t->normal[i][t->size] -= wj * t->c[r];
        }
    }
    twin_eliminate( t );
    double length = 0;
    for ( int i = 0; i < t->size; ++i ) {
        t->z[i] += t->normal[i][t->size];
        length = fmax( length, fabs( t->normal[i][t->size] ) );
    }
    return length;
}

static void check_against_twin( actor *a, const tr_fit_frame *frame )
{
    tr_fit_result result = solve( a, frame );
    assert_true( result.converged );
    twin *t = tr_alloc( 1, sizeof *t );
    int joints = a->skeleton->joint_count;
    *t = ( twin ){ .fit = &a->fit, .frame = frame, .size = 3 * joints + 3 };
    for ( int j = 0; j < joints; ++j )
        t->axes[j] = tr_fit_joint_axes( &a->fit, j, frame->start[j] );
    double length = 1;
    for ( int i = 0; i < 400 && length > 1e-12; ++i )
        length = twin_step( t, 1.0 );
    check_near( length, 0, 1e-11 );
    for ( int j = 0; j < joints; ++j )
        check_rotation( a->local[j], t->local[j], 1e-9 );
    check_v3( result.root, t->root, 1e-9 );
    tr_free( t );
}

static void agrees_with_the_slow_twin( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    def.tolerance = 1e-12;
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends ), n = 0;
    tr_pose pose = tr_world_pose( &a.world, 60 );
    for ( int i = 0; i < count; ++i ) {
        vec3 by = v3_scale( 0.1, random_in_ball( 60, (uint64_t)i ) );
        a.goals[n] = tr_fit_position( ends[i], v3_add( pose.positions[ends[i]], by ) );
        a.goals[n++].priority = i % 3;
    }
    a.goals[n] =
        tr_fit_rotation( ends[0], q_mul( q_axis_angle( v3( 1, 2, 3 ), 0.4 ), pose.rotations[ends[0]] ) );
    a.goals[n++].axes = TR_FIT_X | TR_FIT_Z;
    a.goals[n] = tr_fit_position( TR_HUMAN_HEAD, v3_add( pose.positions[TR_HUMAN_HEAD], v3( 0.1, 0, 0 ) ) );
    a.goals[n].offset = v3( 0, 0.1, 0.05 );
    a.goals[n].hard = false;
    a.goals[n++].weight = 20;
    a.goals[n] = tr_fit_position( 0, v3_add( pose.positions[0], v3( 0, -0.04, 0 ) ) );
    a.goals[n++].axes = TR_FIT_Y;
    tr_fit_frame frame = frame_of( &a, 60, n );
    check_against_twin( &a, &frame );
    drop_actor( &a );

    make_actor( &a, "spider", &def );
    count = find_ends( &a, ends );
    pose = tr_world_pose( &a.world, 33 );
    for ( int i = 0; i < count; ++i )
        a.goals[i] = tr_fit_position(
            ends[i], v3_add( pose.positions[ends[i]], v3_scale( 0.05, random_in_ball( 61, (uint64_t)i ) ) ) );
    frame = frame_of( &a, 33, count );
    check_against_twin( &a, &frame );
    drop_actor( &a );
}

// ---------------------------------------------------------------------------------------- threads and frames

typedef struct batch {
    actor a;
    int frames, count;
    tr_fit_goal *goals;
    tr_fit_frame *input;
    tr_fit_result *results;
    quat *local, *first; // [frames * joint_count] the latter to compare with
    size_t bytes;        // of each
} batch;

// Frames of one block need not agree on more than which joints are asked for, and how.
static void vary_goals( batch *b, int f )
{
    tr_fit_goal *goals = b->goals + f * b->count;
    if ( f % 3 == 0 ) {
        goals[0].hard = false;
        goals[0].weight = 50;
    }
    goals[1].ease = f % 5 == 0 ? 0.3 : 1;
    goals[2].priority = f % 4;
    goals[2].axes = f % 7 == 0 ? TR_FIT_Y : TR_FIT_XYZ;
    if ( f % 6 > 3 )
        goals[2] = tr_fit_rotation( goals[2].joint, q_axis_angle( v3( 1, 2, 3 ), 0.1 * f ) );
    if ( f % 11 == 0 )
        goals[1].place.y += 100;
    if ( f % 4 == 1 ) {
        b->input[f].warm = tr_clip_frame( &b->a.motion->clip, f + 1 );
        b->input[f].warm_root = b->a.motion->clip.root[f + 1];
    }
}

static void make_batch( batch *b )
{
    tr_fit_def def = tr_default_fit_def();
    make_actor( &b->a, "box_relay", &def );
    int ends[8];
    b->count = find_ends( &b->a, ends );
    b->frames = 61;
    b->goals = tr_alloc( (size_t)( b->frames * b->count ), sizeof( tr_fit_goal ) );
    b->input = tr_alloc( (size_t)b->frames, sizeof( tr_fit_frame ) );
    b->results = tr_alloc( (size_t)b->frames, sizeof( tr_fit_result ) );
    b->bytes = (size_t)( b->frames * b->a.skeleton->joint_count ) * sizeof( quat );
    b->local = tr_alloc( 1, b->bytes );
    b->first = tr_alloc( 1, b->bytes );
    for ( int f = 0; f < b->frames; ++f ) {
        b->input[f] = frame_of( &b->a, f, b->count - f % 2 ); // goals come and go
        b->input[f].goals = b->goals + f * b->count;
        b->results[f].local = b->local + f * b->a.skeleton->joint_count;
        for ( int i = 0; i < b->count; ++i ) {
            vec3 by = v3_scale( 0.2, random_in_ball( 70 + (uint64_t)i, (uint64_t)f ) );
            vec3 place = v3_add( tr_world_pose( &b->a.world, f ).positions[ends[i]], by );
            b->goals[f * b->count + i] = tr_fit_position( ends[i], place );
        }
        vary_goals( b, f );
    }
}

static void drop_batch( batch *b )
{
    tr_free( b->goals );
    tr_free( b->input );
    tr_free( b->results );
    tr_free( b->local );
    tr_free( b->first );
    drop_actor( &b->a );
}

static void same_bits_for_any_threads( void **state )
{
    (void)state;
    batch b = { 0 };
    make_batch( &b );
    tr_error error;
    const int threads[] = { 1, 2, 3, 8 }, slots[] = { 1, 8, 5, 100 };
    for ( int i = 0; i < 4; ++i ) {
        tr_fit_scratch scratch;
        tr_parallel_set_threads( threads[i] );
        check_ok( tr_fit_scratch_build( &scratch, &b.a.fit, b.count, slots[i], &error ), &error );
        size_t before = tr_memory_live();
        memset( b.local, 0, b.bytes );
        check_ok( tr_fit_solve( &b.a.fit, &scratch, b.input, b.results, b.frames, &error ), &error );
        assert_int_equal( tr_memory_live(), before );
        if ( i == 0 )
            memcpy( b.first, b.local, b.bytes );
        assert_memory_equal( b.first, b.local, b.bytes );
        tr_fit_scratch_free( &scratch );
    }
    tr_parallel_set_threads( 0 );
    // A frame alone, after others or before them, is the same frame.
    for ( int f = b.frames - 1; f >= 0; --f ) {
        solve( &b.a, &b.input[f] );
        assert_memory_equal( b.a.local, b.first + f * b.a.skeleton->joint_count,
                             (size_t)b.a.skeleton->joint_count * sizeof( quat ) );
    }
    drop_batch( &b );
}

// Every processor gives the same bits as those with wide vectors.
static void same_bits_without_wide_vectors( void **state )
{
    (void)state;
    batch b = { 0 };
    make_batch( &b );
    tr_error error;
    vec3 *positions = tr_alloc( (size_t)( b.frames * b.a.skeleton->joint_count ), sizeof( vec3 ) );
    for ( int aimed = 0; aimed < 2; ++aimed ) {
        for ( int f = 0; f < b.frames && aimed; ++f ) {
            const vec3 *from = tr_world_pose( &b.a.world, f + 20 ).positions;
            vec3 *to = positions + f * b.a.skeleton->joint_count;
            for ( int j = 0; j < b.a.skeleton->joint_count; ++j )
                to[j] = v3_scale( 1.1, from[j] );
            b.input[f].positions = to;
        }
        b.a.fit.def.portable = false;
        check_ok( tr_fit_solve( &b.a.fit, &b.a.scratch, b.input, b.results, b.frames, &error ), &error );
        memcpy( b.first, b.local, b.bytes );
        memset( b.local, 0, b.bytes );
        b.a.fit.def.portable = true;
        check_ok( tr_fit_solve( &b.a.fit, &b.a.scratch, b.input, b.results, b.frames, &error ), &error );
        assert_memory_equal( b.first, b.local, b.bytes );
    }
    tr_free( positions );
    drop_batch( &b );
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

static void check_finite( const actor *a, const tr_fit_result *result )
{
    assert_true( v3_finite( result->root ) && isfinite( result->worst ) );
    for ( int j = 0; j < a->skeleton->joint_count; ++j )
        check_near( q_dot( a->local[j], a->local[j] ), 1, 1e-9 );
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

    // Bones of no length: three joints in one place, one of which carries the only bone.
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
        TEST( higher_priority_wins ),
        TEST( goals_on_one_point_are_as_one ),
        TEST( feet_stay_when_hands_ask_too_much ),
        TEST( a_root_far_away_comes_back ),
        TEST( ease_takes_a_share ),
        TEST( soft_goals_pull_by_their_weight ),
        TEST( no_pops_through_a_straight_arm ),
        TEST( no_pops_of_a_whole_body ),
        TEST( a_smaller_body_does_the_same ),
        TEST( hinges_bend_the_right_way ),
        TEST( follows_a_deformed_body ),
        TEST( a_warm_start_gives_the_same_answer ),
        TEST( previews_are_near_the_answer ),
        TEST( agrees_with_the_slow_twin ),
        TEST( same_bits_for_any_threads ),
        TEST( same_bits_without_wide_vectors ),
        TEST( bad_input_is_refused ),
        TEST( contradictions_stay_finite ),
        TEST( odd_skeletons ),
        TEST( survives_failing_allocations ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
