// The fit over a window: exact where it can be, smooth where it cannot, the source where nothing is asked
// for. Bodies that share a point meet there, and nothing goes below the floor.
#include "fit_fixture.h"

enum { FRAMES = 90, PINNED_FROM = 40, PINNED_TO = 50 };

typedef struct take { // two copies of a built-in character, of which the first may have a goal in every frame
    actor a;
    tr_window_body bodies[2];
    tr_fit_goal goals[FRAMES];
    int counts[FRAMES];
    tr_window_job job;
    tr_window_def def;
} take;

static void make_body( take *t, tr_window_body *body )
{
    size_t cells = FRAMES * (size_t)t->a.skeleton->joint_count;
    *body = ( tr_window_body ){
        .fit = &t->a.fit, .start = t->a.motion->clip.rotations, .root = t->a.motion->clip.root };
    body->clip = ( tr_clip ){ .joint_count = t->a.skeleton->joint_count,
                              .frame_count = FRAMES,
                              .rotations = tr_alloc( cells, sizeof( quat ) ),
                              .root = tr_alloc( FRAMES, sizeof( vec3 ) ) };
    body->world = ( tr_world ){ .joint_count = t->a.skeleton->joint_count,
                                .frame_count = FRAMES,
                                .rotations = tr_alloc( cells, sizeof( quat ) ),
                                .positions = tr_alloc( cells, sizeof( vec3 ) ) };
    memcpy( body->clip.rotations, body->start, cells * sizeof( quat ) );
    memcpy( body->clip.root, body->root, FRAMES * sizeof( vec3 ) );
    memcpy( body->world.rotations, t->a.world.rotations, cells * sizeof( quat ) );
    memcpy( body->world.positions, t->a.world.positions, cells * sizeof( vec3 ) );
}

static void make_take( take *t, const char *scene )
{
    tr_fit_def fit = tr_default_fit_def();
    *t = ( take ){ .def = tr_default_window_def( 30 ) };
    make_actor( &t->a, scene, &fit );
    assert_true( t->a.motion->clip.frame_count >= FRAMES );
    for ( int i = 0; i < 2; ++i )
        make_body( t, &t->bodies[i] );
    t->job = ( tr_window_job ){ .frame_count = FRAMES, .bodies = t->bodies, .body_count = 1 };
}

static void drop_take( take *t )
{
    for ( int i = 0; i < 2; ++i ) {
        tr_free( t->bodies[i].clip.rotations );
        tr_free( t->bodies[i].clip.root );
        tr_free( t->bodies[i].world.rotations );
        tr_free( t->bodies[i].world.positions );
    }
    drop_actor( &t->a );
}

static int hand_of( const actor *a )
{
    for ( int j = 0; j < a->skeleton->joint_count; ++j )
        if ( a->skeleton->joints[j].role == TR_ROLE_HAND )
            return j;
    return -1;
}

// Asks a joint to be `by` from where it is, in frames PINNED_FROM … PINNED_TO.
static void pin( take *t, int joint, vec3 by, int priority )
{
    for ( int f = PINNED_FROM; f <= PINNED_TO; ++f ) {
        t->goals[f] =
            tr_fit_position( joint, v3_add( tr_world_pose( &t->a.world, f ).positions[joint], by ) );
        t->goals[f].priority = priority;
        t->counts[f] = 1;
    }
    t->bodies[0].goals = t->goals;
    t->bodies[0].goal_count = t->counts;
    t->bodies[0].goal_limit = 1;
}

static long solve_take( take *t ) // returns the steps it took
{
    tr_error error;
    tr_window *window = tr_window_create( &t->job, &t->def, &error );
    check_ok( window != NULL, &error );
    check_ok( tr_window_solve( window, &error ), &error );
    long steps = tr_window_steps( window );
    assert_true( steps >= 0 );
    tr_window_destroy( window );
    return steps;
}

static vec3 place_of( const take *t, int body, int joint, int frame )
{
    return tr_world_pose( &t->bodies[body].world, frame ).positions[joint];
}

// How far a pinned joint is off, at most.
static double largest_miss( const take *t )
{
    double most = 0;
    for ( int f = PINNED_FROM; f <= PINNED_TO; ++f )
        most = fmax( most, v3_distance( place_of( t, 0, t->goals[f].joint, f ), t->goals[f].place ) );
    return most;
}

// The largest turn of a joint from a frame to the next, beyond the source's, degrees.
static double largest_jump( const take *t )
{
    double most = 0;
    int joints = t->a.skeleton->joint_count;
    for ( int f = 0; f + 1 < FRAMES; ++f )
        for ( int j = 0; j < joints; ++j ) {
            const quat *now = tr_clip_frame( &t->bodies[0].clip, f ) + j, *then = now + joints;
            const quat *was = tr_clip_frame( &t->a.motion->clip, f ) + j, *next = was + joints;
            most = fmax( most, q_angle( *now, *then ) - q_angle( *was, *next ) );
        }
    return most / TR_DEGREE;
}

// The same of a take whose frames hardly know each other: no rounds.
static double largest_jump_alone( const char *scene, int joint, vec3 by, int priority )
{
    take t;
    make_take( &t, scene );
    t.def.rounds = 0;
    pin( &t, joint, by, priority );
    solve_take( &t );
    double jump = largest_jump( &t );
    drop_take( &t );
    return jump;
}

static void nothing_asked_changes_no_bit( void **state )
{
    (void)state;
    take t;
    make_take( &t, "box_relay" );
    solve_take( &t );
    size_t joints = (size_t)t.a.skeleton->joint_count;
    assert_memory_equal( t.bodies[0].clip.rotations, t.a.motion->clip.rotations,
                         FRAMES * joints * sizeof( quat ) );
    assert_memory_equal( t.bodies[0].clip.root, t.a.motion->clip.root, FRAMES * sizeof( vec3 ) );
    drop_take( &t );
}

// A place that is asked for from one frame to the next is come to over several, and met all the same.
static void places_within_reach_are_met_gradually( void **state )
{
    (void)state;
    static const char *const scenes[] = { "box_relay", "wolf" };
    for ( int s = 0; s < 2; ++s ) {
        take t;
        make_take( &t, scenes[s] );
        int joint = s == 0 ? hand_of( &t.a ) : t.a.skeleton->joint_count / 2;
        vec3 by = v3( 0, 0.1, 0.05 );
        pin( &t, joint, by, t.def.firm );
        solve_take( &t );
        check_near( largest_miss( &t ), 0, 1e-5 );
        assert_true( largest_jump( &t ) < largest_jump_alone( scenes[s], joint, by, t.def.firm ) / 2 );
        drop_take( &t );
    }
}

// Goals that are not strict begin with little force, and pull harder as long as the motion stays calm.
static void effort_grows_where_there_is_time( void **state )
{
    (void)state;
    take t;
    make_take( &t, "box_relay" );
    pin( &t, hand_of( &t.a ), v3( 0.2, 0.4, -0.2 ), t.def.strict - 1 );
    double misses[2];
    for ( int calm = 0; calm < 2; ++calm ) {
        t.def.acceleration = calm ? 1e-3 : 1e3; // nothing may pull harder, or everything
        t.def.speed = calm ? 7 : 1e3;
        solve_take( &t );
        misses[calm] = largest_miss( &t );
    }
    print_message( "%.3f m, held back %.3f m\n", misses[0], misses[1] );
    assert_true( misses[0] < 1e-3 && misses[1] > 0.03 );
    drop_take( &t );
}

// What is out of reach gives way to time: joints stay within their speed, or hardly exceed it.
static void far_places_keep_joints_slow( void **state )
{
    (void)state;
    take t;
    make_take( &t, "box_relay" );
    pin( &t, hand_of( &t.a ), v3( 0.5, 1.5, -0.5 ), t.def.strict - 1 );
    solve_take( &t );
    assert_true( largest_jump( &t ) < 1.1 * t.def.speed / t.def.fps / TR_DEGREE );
    assert_true( largest_miss( &t ) < 1.6 ); // nearer than it was
    drop_take( &t );
}

// The largest distance between joints of the first bodies.
static double farthest( const take *a, const take *b )
{
    double most = 0;
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 0; j < a->a.skeleton->joint_count; ++j )
            most = fmax( most, v3_distance( place_of( a, 0, j, f ), place_of( b, 0, j, f ) ) );
    return most;
}

// Frames that have nothing left to do are not fitted again. That moves them by less than what all rounds
// leave.
static void frames_rest_where_they_would_come_to( void **state )
{
    (void)state;
    enum { RESTING, AWAKE, PATIENT, WAYS };
    take t[WAYS];
    long steps[WAYS];
    for ( int i = 0; i < WAYS; ++i ) {
        make_take( &t[i], "box_relay" );
        t[i].def.rest = i == RESTING ? t[i].def.rest : 0;
        t[i].def.growth = i == PATIENT ? 1.03 : t[i].def.growth;
        t[i].def.rounds = i == PATIENT ? 120 : t[i].def.rounds;
        pin( &t[i], hand_of( &t[i].a ), v3( 0, 0.05, 0.02 ), t[i].def.firm );
        steps[i] = solve_take( &t[i] );
    }
    double moved = farthest( &t[RESTING], &t[AWAKE] ), left = farthest( &t[AWAKE], &t[PATIENT] );
    print_message( "%ld steps instead of %ld, %.2f mm beside; %.2f mm are left\n", steps[RESTING],
                   steps[AWAKE], moved * 1000, left * 1000 );
    assert_true( 4 * steps[RESTING] < 3 * steps[AWAKE] );
    assert_true( moved < left );
    for ( int i = 0; i < WAYS; ++i )
        drop_take( &t[i] );
}

static void held_frames_keep_their_bits( void **state )
{
    (void)state;
    take t;
    bool held[FRAMES];
    for ( int f = 0; f < FRAMES; ++f )
        held[f] = f < 30 || f > 70 || f == 36;
    make_take( &t, "box_relay" );
    t.bodies[0].held = held;
    pin( &t, hand_of( &t.a ), v3( 0, 0.2, 0.1 ), t.def.firm );
    solve_take( &t );
    size_t bytes = (size_t)t.a.skeleton->joint_count * sizeof( quat );
    for ( int f = 0; f < FRAMES; ++f )
        if ( held[f] ) {
            assert_memory_equal( tr_clip_frame( &t.bodies[0].clip, f ), tr_clip_frame( &t.a.motion->clip, f ),
                                 bytes );
            assert_memory_equal( &t.bodies[0].clip.root[f], &t.a.motion->clip.root[f], sizeof( vec3 ) );
        }
    check_near( largest_miss( &t ), 0, 1e-5 );
    drop_take( &t );
}

// Where a clip ends changes nothing that is more than a second away.
static void a_cut_is_forgotten_within_a_second( void **state )
{
    (void)state;
    take t;
    make_take( &t, "box_relay" );
    size_t joints = (size_t)t.a.skeleton->joint_count;
    pin( &t, hand_of( &t.a ), v3( 0, 0.2, 0.1 ), t.def.firm );
    solve_take( &t );
    quat *whole = tr_alloc( FRAMES * joints, sizeof( quat ) );
    memcpy( whole, t.bodies[0].clip.rotations, FRAMES * joints * sizeof( quat ) );
    t.job.frame_count = 80;
    solve_take( &t );
    for ( size_t i = 0; i < 50 * joints; ++i )
        assert_true( q_angle( whole[i], t.bodies[0].clip.rotations[i] ) < 1e-3 );
    tr_free( whole );
    drop_take( &t );
}

// ------------------------------------------------------------------------------------------ points and ties

static const double one = 1;

typedef struct tied { // hands of both copies on a point, the second 10 cm above the first
    take t;
    int hand;
    vec3 place[FRAMES], way[FRAMES], away[FRAMES];
    tr_window_point point;
    tr_window_tie ties[2];
} tied;

static void make_tied( tied *d )
{
    make_take( &d->t, "box_relay" );
    d->hand = hand_of( &d->t.a );
    for ( int f = 0; f < FRAMES; ++f ) {
        d->way[f] = d->place[f] = tr_world_pose( &d->t.a.world, f ).positions[d->hand];
        d->away[f] = v3( 0, 0.1, 0 );
    }
    d->point = ( tr_window_point ){ .place = d->place, .way = d->way };
    for ( int i = 0; i < 2; ++i )
        d->ties[i] = ( tr_window_tie ){ .body = i,
                                        .count = 1,
                                        .joints = &d->hand,
                                        .weights = &one,
                                        .away = i == 1 ? d->away : NULL,
                                        .axes = TR_FIT_XYZ,
                                        .priority = d->t.def.strict };
    d->t.job.body_count = 2;
    d->t.job.points = &d->point;
    d->t.job.point_count = 1;
    d->t.job.ties = d->ties;
    d->t.job.tie_count = 2;
}

// Two equals give half of the way each, and the hands meet exactly.
static void tied_hands_meet_half_way( void **state )
{
    (void)state;
    tied d;
    make_tied( &d );
    for ( int f = 0; f < FRAMES; ++f ) // where pose graphs would have them meet
        d.place[f] = v3_sub( d.way[f], v3( 0, 0.05, 0 ) );
    solve_take( &d.t );
    for ( int f = 0; f < FRAMES; ++f ) {
        vec3 a = place_of( &d.t, 0, d.hand, f ), b = place_of( &d.t, 1, d.hand, f ),
             was = tr_world_pose( &d.t.a.world, f ).positions[d.hand];
        check_v3( v3_sub( b, a ), v3( 0, 0.1, 0 ), 1e-5 );
        check_near( a.y - was.y, -0.05, 0.02 );
    }
    drop_take( &d.t );
}

// A prop that is put somewhere takes the hand along, as one that is held stays in its hand.
static void a_prop_that_is_pulled_takes_the_hand_along( void **state )
{
    (void)state;
    tied d;
    make_tied( &d );
    vec3 target[FRAMES];
    double strength[FRAMES];
    for ( int f = 0; f < FRAMES; ++f ) {
        target[f] = v3_add( d.way[f], v3( 0, 0.15, 0 ) );
        strength[f] = f >= PINNED_FROM && f <= PINNED_TO;
    }
    tr_window_pull pull = {
        .place = target, .strength = strength, .axes = TR_FIT_XYZ, .priority = d.t.def.strict - 1 };
    d.point.near = d.way;
    d.point.pulls = &pull;
    d.point.pull_count = 1;
    d.t.job.tie_count = d.t.job.body_count = 1;
    solve_take( &d.t );
    for ( int f = 0; f < FRAMES; ++f )
        check_v3( place_of( &d.t, 0, d.hand, f ), d.place[f], 1e-5 );
    assert_true( d.place[45].y - d.way[45].y > 0.12 && d.place[10].y - d.way[10].y < 0.01 );
    drop_take( &d.t );
}

// A box on the floor waits for the hand: its way in the source, in another size, does not move it.
static void a_prop_that_nothing_holds_stays( void **state )
{
    (void)state;
    tied d;
    make_tied( &d );
    vec3 near[FRAMES];
    double strength[FRAMES];
    for ( int f = 0; f < FRAMES; ++f ) {
        near[f] = d.place[f] = d.way[PINNED_FROM];
        d.way[f] = v3_add( d.way[f], v3( 0.2, 0.1, 0 ) );
        strength[f] = f >= PINNED_FROM;
    }
    d.point.near = near;
    d.ties[0].strength = strength;
    d.t.job.tie_count = d.t.job.body_count = 1;
    solve_take( &d.t );
    for ( int f = 0; f < PINNED_FROM; ++f )
        check_v3( d.place[f], near[f], 1e-5 );
    for ( int f = PINNED_FROM; f < FRAMES; ++f )
        check_v3( place_of( &d.t, 0, d.hand, f ), d.place[f], 1e-5 );
    drop_take( &d.t );
}

// The mean of two hands comes to a place that neither has to be at.
static void a_mean_of_joints_is_met( void **state )
{
    (void)state;
    tied d;
    make_tied( &d );
    int hands[2] = { d.hand, -1 };
    for ( int j = d.hand + 1; j < d.t.a.skeleton->joint_count; ++j )
        if ( d.t.a.skeleton->joints[j].role == TR_ROLE_HAND )
            hands[1] = j;
    const double half[2] = { 0.5, 0.5 };
    d.ties[0].count = 2;
    d.ties[0].joints = hands;
    d.ties[0].weights = half;
    for ( int f = 0; f < FRAMES; ++f ) {
        const vec3 *p = tr_world_pose( &d.t.a.world, f ).positions;
        d.place[f] = v3_add( v3_lerp( p[hands[0]], p[hands[1]], 0.5 ), v3( 0, 0.08, 0.02 ) );
    }
    d.point.fixed = true;
    d.t.job.tie_count = d.t.job.body_count = 1;
    solve_take( &d.t );
    for ( int f = 0; f < FRAMES; ++f )
        check_v3( v3_lerp( place_of( &d.t, 0, hands[0], f ), place_of( &d.t, 0, hands[1], f ), 0.5 ),
                  d.place[f], 2e-4 );
    drop_take( &d.t );
}

// ------------------------------------------------------------------------------------------------------
// floor

// A hand that is led through the floor stays on it, and one that is led above it goes there.
static void nothing_goes_below_the_floor( void **state )
{
    (void)state;
    take t;
    make_take( &t, "box_relay" );
    int hand = hand_of( &t.a ), joints = t.a.skeleton->joint_count;
    float *floor = tr_alloc( FRAMES * (size_t)joints, sizeof( float ) );
    int *carrier = tr_alloc( (size_t)joints, sizeof( int ) );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 0; j < joints; ++j )
            floor[f * joints + j] =
                (float)( tr_world_pose( &t.a.world, f ).positions[j].y - ( j == hand ? 0.05 : 1 ) );
    for ( int j = 0; j < joints; ++j )
        carrier[j] = j;
    t.bodies[0].floor = floor;
    t.bodies[0].carrier = carrier;
    for ( int up = 0; up < 2; ++up ) {
        pin( &t, hand, v3( 0, up ? 0.1 : -0.15, 0 ), t.def.strict - 1 );
        solve_take( &t );
        for ( int f = 0; f < FRAMES; ++f )
            assert_true( place_of( &t, 0, hand, f ).y > floor[f * joints + hand] - 2 * t.def.dip );
        check_near( largest_miss( &t ), up ? 0 : 0.1, 2e-3 );
    }
    tr_free( floor );
    tr_free( carrier );
    drop_take( &t );
}

// -----------------------------------------------------------------------------------------------------
// limits

static void threads_change_no_bit( void **state )
{
    (void)state;
    tied one_thread, more;
    make_tied( &one_thread );
    make_tied( &more );
    tr_parallel_set_threads( 1 );
    solve_take( &one_thread.t );
    tr_parallel_set_threads( 3 );
    solve_take( &more.t );
    tr_parallel_set_threads( 0 );
    size_t joints = (size_t)one_thread.t.a.skeleton->joint_count;
    for ( int i = 0; i < 2; ++i )
        assert_memory_equal( one_thread.t.bodies[i].clip.rotations, more.t.bodies[i].clip.rotations,
                             FRAMES * joints * sizeof( quat ) );
    drop_take( &one_thread.t );
    drop_take( &more.t );
}

// Every processor gives the same bits as those with wide vectors.
static void wide_vectors_change_no_bit( void **state )
{
    (void)state;
    tied wide, portable;
    make_tied( &wide );
    make_tied( &portable );
    portable.t.a.fit.def.portable = true;
    solve_take( &wide.t );
    solve_take( &portable.t );
    size_t joints = (size_t)wide.t.a.skeleton->joint_count;
    for ( int i = 0; i < 2; ++i )
        assert_memory_equal( wide.t.bodies[i].clip.rotations, portable.t.bodies[i].clip.rotations,
                             FRAMES * joints * sizeof( quat ) );
    drop_take( &wide.t );
    drop_take( &portable.t );
}

static void failing_allocations_leave_nothing_behind( void **state )
{
    (void)state;
    tied d;
    tr_error error;
    make_tied( &d );
    for ( long n = 1;; ++n ) {
        tr_memory_fail_from( n );
        tr_window *window = tr_window_create( &d.t.job, &d.t.def, &error );
        tr_memory_fail_from( 0 );
        if ( window != NULL ) {
            assert_true( n > 5 );
            tr_window_destroy( window );
            break;
        }
    }
    drop_take( &d.t );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( nothing_asked_changes_no_bit ),
        TEST( places_within_reach_are_met_gradually ),
        TEST( effort_grows_where_there_is_time ),
        TEST( far_places_keep_joints_slow ),
        TEST( frames_rest_where_they_would_come_to ),
        TEST( held_frames_keep_their_bits ),
        TEST( a_cut_is_forgotten_within_a_second ),
        TEST( tied_hands_meet_half_way ),
        TEST( a_prop_that_is_pulled_takes_the_hand_along ),
        TEST( a_prop_that_nothing_holds_stays ),
        TEST( a_mean_of_joints_is_met ),
        TEST( nothing_goes_below_the_floor ),
        TEST( threads_change_no_bit ),
        TEST( wide_vectors_change_no_bit ),
        TEST( failing_allocations_leave_nothing_behind ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
