// Pose graphs give the same bits anywhere, and survive bodies of any size, garbage and a lack of memory.
#define FRAMES 21 // more than fit into lanes of any kind
#include "posegraph_fixture.h"

static void threads_and_neighbours_change_nothing( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    size_t joints = 3 * (size_t)r.actors[0].graph.joint_count, bytes = FRAMES * joints * sizeof( vec3 );
    vec3 *kept = tr_alloc( 1, bytes );
    for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        r.job.def.lanes = lanes;
        tr_parallel_set_threads( 1 );
        deform( &r );
        memcpy( kept, r.out[0], bytes );
        static const int threads[] = { 2, 3, 8 };
        for ( int t = 0; t < 3; ++t ) {
            tr_parallel_set_threads( threads[t] );
            memset( r.out[0], 0, bytes );
            deform( &r );
            assert_memory_equal( r.out[0], kept, bytes );
        }
        // From another first frame: every frame in another lane, beside others.
        const vec3 *later = r.reference[0] + 3 * joints;
        tr_cluster_job job = r.job;
        job.frame_count = FRAMES - 3;
        job.reference = &later;
        job.goals = r.goals + 3 * 4;
        tr_error error;
        check_ok( tr_cluster_deform( &job, &error ), &error );
        assert_memory_equal( r.out[0], kept + 3 * joints, bytes - 3 * joints * sizeof( vec3 ) );
    }
    tr_parallel_set_threads( 0 );
    tr_free( kept );
    end_rig( &r );
}

static void processors_agree( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    size_t bytes = FRAMES * 3 * (size_t)r.actors[0].graph.joint_count * sizeof( vec3 );
    vec3 *kept = tr_alloc( 1, bytes );
    r.job.def.lanes = TR_LANES_FLOAT;
    deform( &r );
    memcpy( kept, r.out[0], bytes );
    for ( tr_lanes lanes = TR_LANES_AVX2; lanes <= TR_LANES_AVX512; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        r.job.def.lanes = lanes;
        deform( &r );
        assert_memory_equal( r.out[0], kept, bytes );
    }
    tr_free( kept );
    end_rig( &r );
}

enum { JOINTS = 18 }; // joints of the figure

typedef struct keeping {
    float moved[FRAMES][9 * JOINTS], turned[FRAMES][4 * JOINTS];
    tr_graph_kept kept[FRAMES];
} keeping;

static void keep_nothing( keeping *k, rig *r )
{
    memset( k, 0, sizeof *k );
    for ( int f = 0; f < FRAMES; ++f ) {
        for ( int j = 0; j < JOINTS; ++j )
            k->turned[f][4 * j + 3] = 1;
        k->kept[f] = ( tr_graph_kept ){ k->moved[f], k->turned[f] };
    }
    r->job.kept = k->kept;
}

// From the reference as without it; then from where that came to, which leaves next to nothing to do.
static void what_is_kept_is_begun_with( void **state )
{
    (void)state;
    rig r = { 0 };
    keeping k;
    make_reaching( &r, make_figure( 1 ), extremities );
    size_t bytes = FRAMES * 3 * JOINTS * sizeof( vec3 );
    vec3 *cold = tr_alloc( 1, bytes );
    deform( &r );
    memcpy( cold, r.out[0], bytes );
    for ( tr_lanes lanes = TR_LANES_DOUBLE; lanes <= TR_LANES_AVX512; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        r.job.def.lanes = lanes;
        keep_nothing( &k, &r );
        deform( &r );
        for ( int i = 0; i < FRAMES * 3 * JOINTS; ++i )
            check_v3( r.out[0][i], cold[i], lanes == TR_LANES_DOUBLE ? 1e-3 : 0 );
        deform( &r );
        for ( int f = 0; f < FRAMES; ++f ) {
            assert_true( r.iterations[f] <= 2 );
            for ( int v = 0; v < 3 * JOINTS; ++v ) {
                const float *d = k.moved[f] + 3 * v;
                vec3 from = r.reference[0][f * 3 * JOINTS + v], to = r.out[0][f * 3 * JOINTS + v];
                check_v3( to, cold[f * 3 * JOINTS + v], 2e-3 );
                check_v3( v3_add( from, v3( d[0], d[1], d[2] ) ), to, 1e-6 );
            }
            for ( int j = 0; j < JOINTS; ++j ) {
                const float *q = k.turned[f] + 4 * j;
                quat turn = { q[0], q[1], q[2], q[3] };
                check_rotation( turn, r.turns[0][f * JOINTS + j], 1e-5 );
            }
        }
    }
    tr_free( cold );
    end_rig( &r );
}

// What is no number is not kept, and of others only the root is written.
static void what_is_kept_are_numbers( void **state )
{
    (void)state;
    rig r = { 0 };
    keeping k;
    make_reaching( &r, make_figure( 1 ), extremities );
    keep_nothing( &k, &r );
    r.goals[4 * 4].target.x = NAN;
    r.job.roots_only = true;
    memset( r.out[0], 0, FRAMES * 3 * JOINTS * sizeof( vec3 ) );
    deform( &r );
    for ( int i = 0; i < 9 * JOINTS; ++i )
        assert_true( k.moved[4][i] == 0 && isfinite( k.moved[5][i] ) );
    for ( int i = 0; i < 4 * JOINTS; ++i )
        assert_true( k.turned[4][i] == ( i % 4 == 3 ) && isfinite( k.turned[5][i] ) );
    for ( int v = 0; v < 3 * JOINTS; ++v )
        assert_int_equal( v3_length( r.out[0][5 * 3 * JOINTS + v] ) > 0, v < 3 );
    end_rig( &r );
}

static void scratch_is_reused_and_guarded( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    deform( &r );
    vec3 place = after( &r, 0, LEFT_HAND, 5 );
    tr_error error;
    r.job.scratch = tr_cluster_scratch_create( &r.job, &error );
    assert_non_null( r.job.scratch );
    tr_memory_fail_from( 1 ); // nothing is allocated from here on
    for ( int again = 0; again < 2; ++again )
        assert_true( tr_cluster_deform( &r.job, &error ) );
    tr_memory_fail_from( 0 );
    check_v3( after( &r, 0, LEFT_HAND, 5 ), place, 0 );
    tr_cluster_scratch_destroy( r.job.scratch );
    // Scratch for no rows at all does not do for four of them.
    tr_goal none[FRAMES * 4];
    for ( int i = 0; i < FRAMES * 4; ++i )
        none[i] = tr_goal_off();
    tr_cluster_job bare = r.job;
    bare.goals = none;
    bare.scratch = NULL;
    r.job.scratch = tr_cluster_scratch_create( &bare, &error );
    assert_non_null( r.job.scratch );
    assert_false( tr_cluster_deform( &r.job, &error ) );
    assert_non_null( strstr( error.message, "memory" ) );
    tr_cluster_scratch_destroy( r.job.scratch );
    end_rig( &r );
}

static bool is_wanted( void *context )
{
    int *left = context;
    return *left > 0 && --*left > 0;
}

// A block of a long chain takes long and no memory: every round asks.
static void rounds_are_cancelled( void **state )
{
    (void)state;
    rig r = { 0 };
    tr_error error = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    r.job.scratch = tr_cluster_scratch_create( &r.job, &error );
    assert_non_null( r.job.scratch );
    for ( int left = 3; left < 5; ++left ) {
        tr_work work;
        int rest = left;
        tr_work_begin( &work, is_wanted, &rest );
        bool ok = tr_cluster_deform( &r.job, &error );
        tr_work_end( &work );
        assert_false( ok );
        assert_string_equal( error.message, "cancelled" );
    }
    assert_true( tr_cluster_deform( &r.job, &error ) );
    tr_cluster_scratch_destroy( r.job.scratch );
    end_rig( &r );
}

static void far_from_the_origin_nothing_is_lost( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    deform( &r );
    vec3 far = v3( 2000, -30, 1000 );
    int count = FRAMES * 3 * r.actors[0].graph.joint_count;
    vec3 *kept = tr_alloc( (size_t)count, sizeof( vec3 ) );
    for ( int i = 0; i < count; ++i ) {
        kept[i] = v3_add( r.out[0][i], far );
        r.actors[0].reference[i] = v3_add( r.actors[0].reference[i], far );
    }
    for ( int i = 0; i < FRAMES * 4; ++i )
        r.goals[i].target = v3_add( r.goals[i].target, far );
    deform( &r );
    for ( int i = 0; i < count; ++i )
        check_v3( r.out[0][i], kept[i], 1e-4 );
    tr_free( kept );
    end_rig( &r );
}

static void bodies_of_any_size_stay_whole( void **state )
{
    (void)state;
    static const double sizes[] = { 0.2, 5, 0.01 };
    for ( int i = 0; i < 3; ++i ) {
        rig r = { 0 };
        tr_skeleton skeleton = make_figure( 1 );
        for ( int j = 6; j <= 8; ++j ) // one arm alone
            skeleton.joints[j].offset = v3_scale( sizes[i], skeleton.joints[j].offset );
        make_reaching( &r, skeleton, extremities );
        for ( int f = 0; f < FRAMES; ++f ) // out of all reach
            set_goal( &r, 2, f, v3( 40, f, 7 ), 0 );
        deform( &r );
        for ( int f = 0; f < FRAMES; ++f ) {
            for ( int j = 0; j < r.actors[0].graph.joint_count; ++j )
                assert_true( v3_finite( after( &r, 0, j, f ) ) && v3_length( after( &r, 0, j, f ) ) < 100 );
            check_near( error_at( &r, 2, f ), 0, 1e-3 );
        }
        end_rig( &r );
    }
}

static void nan_does_not_get_out( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    r.actors[0].reference[4 * 3 * r.actors[0].graph.joint_count + 7].y = NAN;
    goal_at( &r, 1, 9 )->target.x = INFINITY;
    goal_at( &r, 1, 9 )->compliance[0] = 0;
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 0; j < r.actors[0].graph.joint_count; ++j ) {
            assert_true( v3_finite( after( &r, 0, j, f ) ) );
            assert_true( q_finite( r.turns[0][f * r.actors[0].graph.joint_count + j] ) );
            if ( f == 9 )
                check_v3( after( &r, 0, j, f ), before( &r, 0, j, f ), 0 ); // as it was
        }
    end_rig( &r );
}

// -------------------------------------------------------------------------------------------------- memory

static void failing_allocations_leave_nothing_behind( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    size_t live = tr_memory_live();
    tr_error error;
    bool done = false;
    for ( long n = 1; !done; ++n ) {
        tr_memory_fail_from( n );
        tr_posegraph graph, box = { 0 };
        tr_cluster cluster = { 0 };
        tr_posegraph_def def = tr_default_posegraph_def();
        bool built = tr_posegraph_build( &graph, &r.actors[0].skeleton, NULL, &def, &error );
        done = built && tr_posegraph_build_box( &box, v3_one, &def, &error ) &&
               tr_cluster_add_graph( &cluster, &graph ) == 0;
        int point = done ? tr_cluster_add_joint( &cluster, 0, 3 ) : -1;
        done = point >= 0 && tr_cluster_add_row( &cluster, 0, point, -1, -1 ) == 0 &&
               tr_cluster_factor( &cluster, &error ) && tr_cluster_deform( &r.job, &error );
        tr_memory_fail_from( 0 );
        tr_cluster_free( &cluster );
        tr_posegraph_free( &box );
        if ( built )
            tr_posegraph_free( &graph );
        assert_int_equal( tr_memory_live(), live );
        assert_true( n < 1000 );
    }
    end_rig( &r );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( threads_and_neighbours_change_nothing ),
        TEST( processors_agree ),
        TEST( what_is_kept_is_begun_with ),
        TEST( what_is_kept_are_numbers ),
        TEST( scratch_is_reused_and_guarded ),
        TEST( far_from_the_origin_nothing_is_lost ),
        TEST( bodies_of_any_size_stay_whole ),
        TEST( nan_does_not_get_out ),
        TEST( rounds_are_cancelled ),
        TEST( failing_allocations_leave_nothing_behind ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
