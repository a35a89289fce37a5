// The fit over a window: exact where it can be, smooth where it cannot, the source where nothing is asked
// for.
#include "fit_fixture.h"

enum { FRAMES = 90, PINNED_FROM = 40, PINNED_TO = 50 };

typedef struct take { // a built-in character with one goal in some frames
    actor a;
    tr_window *window;
    tr_fit_goal goals[FRAMES];
    int begin[FRAMES + 1];
    quat *local;
    vec3 root[FRAMES];
    double residuals[FRAMES];
} take;

static void make_take( take *t, const char *scene, const tr_window_def *def )
{
    tr_fit_def fit = tr_default_fit_def();
    tr_error error;
    *t = ( take ){ 0 };
    make_actor( &t->a, scene, &fit );
    assert_true( t->a.motion->clip.frame_count >= FRAMES );
    t->window = tr_window_create( &t->a.fit, def, FRAMES, 1, &error );
    check_ok( t->window != NULL, &error );
    t->local = tr_alloc( FRAMES * (size_t)t->a.skeleton->joint_count, sizeof( quat ) );
}

static void drop_take( take *t )
{
    tr_window_destroy( t->window );
    tr_free( t->local );
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
    int count = 0;
    for ( int f = 0; f < FRAMES; ++f ) {
        t->begin[f] = count;
        if ( f < PINNED_FROM || f > PINNED_TO )
            continue;
        vec3 at = tr_world_pose( &t->a.world, f ).positions[joint];
        t->goals[count] = tr_fit_position( joint, v3_add( at, by ) );
        t->goals[count++].priority = priority;
    }
    t->begin[FRAMES] = count;
}

static tr_window_motion motion_of( take *t, const bool *held )
{
    return ( tr_window_motion ){ .start = t->a.motion->clip.rotations,
                                 .root = t->a.motion->clip.root,
                                 .held = held,
                                 .goals = t->goals,
                                 .goal_begin = t->begin,
                                 .local = t->local,
                                 .local_root = t->root,
                                 .residuals = t->residuals };
}

static void solve_take( take *t, int frames, const bool *held )
{
    tr_error error;
    tr_window_motion m = motion_of( t, held );
    check_ok( tr_window_solve( t->window, &m, frames, &error ), &error );
}

// The largest turn of a joint from a frame to the next, beyond the source's, degrees.
static double largest_jump( const take *t )
{
    double most = 0;
    int joints = t->a.skeleton->joint_count;
    for ( int f = 0; f + 1 < FRAMES; ++f )
        for ( int j = 0; j < joints; ++j ) {
            const quat *now = t->local + (size_t)f * (size_t)joints + j, *then = now + joints;
            const quat *was = tr_clip_frame( &t->a.motion->clip, f ) + j, *next = was + joints;
            most = fmax( most, q_angle( *now, *then ) - q_angle( *was, *next ) );
        }
    return most / TR_DEGREE;
}

// The same of a take whose frames are solved alone: no rounds.
static double largest_jump_alone( const char *scene, int joint, vec3 by, int priority )
{
    take t;
    tr_window_def def = tr_default_window_def( 30 );
    def.rounds = 0;
    make_take( &t, scene, &def );
    pin( &t, joint, by, priority );
    solve_take( &t, FRAMES, NULL );
    double jump = largest_jump( &t );
    drop_take( &t );
    return jump;
}

static void nothing_asked_changes_no_bit( void **state )
{
    (void)state;
    take t;
    tr_window_def def = tr_default_window_def( 30 );
    make_take( &t, "box_relay", &def );
    solve_take( &t, FRAMES, NULL );
    size_t joints = (size_t)t.a.skeleton->joint_count;
    assert_memory_equal( t.local, t.a.motion->clip.rotations, FRAMES * joints * sizeof( quat ) );
    assert_memory_equal( t.root, t.a.motion->clip.root, FRAMES * sizeof( vec3 ) );
    drop_take( &t );
}

// A place that is asked for from one frame to the next is come to over several, and met all the same.
static void places_within_reach_are_met_gradually( void **state )
{
    (void)state;
    static const char *const scenes[] = { "box_relay", "wolf" };
    for ( int s = 0; s < 2; ++s ) {
        take t;
        tr_window_def def = tr_default_window_def( 30 );
        make_take( &t, scenes[s], &def );
        int joint = s == 0 ? hand_of( &t.a ) : t.a.skeleton->joint_count / 2;
        vec3 by = v3( 0, 0.1, 0.05 );
        pin( &t, joint, by, def.firm );
        solve_take( &t, FRAMES, NULL );
        for ( int g = 0; g < t.begin[FRAMES]; ++g )
            check_near( t.residuals[g], 0, 1e-5 );
        assert_true( largest_jump( &t ) < largest_jump_alone( scenes[s], joint, by, def.firm ) / 2 );
        drop_take( &t );
    }
}

// What is out of reach gives way to time: joints stay within their speed, or hardly exceed it.
static void far_places_keep_joints_slow( void **state )
{
    (void)state;
    take t;
    tr_window_def def = tr_default_window_def( 30 );
    make_take( &t, "box_relay", &def );
    pin( &t, hand_of( &t.a ), v3( 0.5, 1.5, -0.5 ), 2 );
    solve_take( &t, FRAMES, NULL );
    assert_true( largest_jump( &t ) < 1.1 * def.speed / def.fps / TR_DEGREE );
    for ( int g = 0; g < t.begin[FRAMES]; ++g )
        assert_true( t.residuals[g] < 1.6 ); // nearer than it was
    drop_take( &t );
}

static void held_frames_keep_their_bits( void **state )
{
    (void)state;
    take t;
    tr_window_def def = tr_default_window_def( 30 );
    bool held[FRAMES];
    for ( int f = 0; f < FRAMES; ++f )
        held[f] = f < 30 || f > 70 || f == 36;
    make_take( &t, "box_relay", &def );
    pin( &t, hand_of( &t.a ), v3( 0, 0.2, 0.1 ), def.firm );
    solve_take( &t, FRAMES, held );
    size_t bytes = (size_t)t.a.skeleton->joint_count * sizeof( quat );
    for ( int f = 0; f < FRAMES; ++f )
        if ( held[f] ) {
            assert_memory_equal( t.local + (size_t)f * (size_t)t.a.skeleton->joint_count,
                                 tr_clip_frame( &t.a.motion->clip, f ), bytes );
            assert_memory_equal( &t.root[f], &t.a.motion->clip.root[f], sizeof( vec3 ) );
        }
    for ( int g = 0; g < t.begin[FRAMES]; ++g )
        check_near( t.residuals[g], 0, 1e-5 );
    drop_take( &t );
}

// Where a clip ends changes nothing that is more than a second away.
static void a_cut_is_forgotten_within_a_second( void **state )
{
    (void)state;
    take t;
    tr_window_def def = tr_default_window_def( 30 );
    make_take( &t, "box_relay", &def );
    size_t joints = (size_t)t.a.skeleton->joint_count;
    pin( &t, hand_of( &t.a ), v3( 0, 0.2, 0.1 ), def.firm );
    solve_take( &t, FRAMES, NULL );
    quat *whole = tr_alloc( FRAMES * joints, sizeof( quat ) );
    memcpy( whole, t.local, FRAMES * joints * sizeof( quat ) );
    solve_take( &t, 80, NULL );
    for ( size_t i = 0; i < 50 * joints; ++i )
        assert_true( q_angle( whole[i], t.local[i] ) < 1e-3 );
    tr_free( whole );
    drop_take( &t );
}

static void failing_allocations_leave_nothing_behind( void **state )
{
    (void)state;
    take t;
    tr_window_def def = tr_default_window_def( 30 );
    tr_error error;
    make_take( &t, "box_relay", &def );
    for ( long n = 1;; ++n ) {
        tr_memory_fail_from( n );
        tr_window *window = tr_window_create( &t.a.fit, &def, FRAMES, 1, &error );
        tr_memory_fail_from( 0 );
        if ( window != NULL ) {
            assert_true( n > 5 );
            tr_window_destroy( window );
            break;
        }
    }
    drop_take( &t );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( nothing_asked_changes_no_bit ),       TEST( places_within_reach_are_met_gradually ),
        TEST( far_places_keep_joints_slow ),        TEST( held_frames_keep_their_bits ),
        TEST( a_cut_is_forgotten_within_a_second ), TEST( failing_allocations_leave_nothing_behind ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
