// Quality over time, against bodies whose values are known and against the figures of the whole motion.
#include "stage_fixture.h"

static double most( const float *values, int count )
{
    double worst = 0.0;
    for ( int f = 0; f < count; ++f )
        worst = fmax( worst, values[f] );
    return worst;
}

static void still_bodies_have_nothing_to_tell( void **state )
{
    (void)state;
    fixture x;
    tr_strips strips;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1.0 );
    add_bent( &x, "b", v3( 5, 0, 0 ), 1.0 );
    build( &x );
    tr_result result = solve( &x, "copy" );
    check_ok( tr_strips_measure( &strips, &x.stage, &result, &x.error ), &x.error );
    assert_int_equal( strips.frame_count, FRAMES );
    for ( int k = 0; k < TR_STRIP_KINDS; ++k ) {
        assert_non_null( strips.items[k].name );
        assert_true( strips.items[k].fine < strips.items[k].bad );
    }
    check_near( most( strips.items[TR_STRIP_SLIP].out, FRAMES ), 0, 1e-3 );
    check_near( most( strips.items[TR_STRIP_OVERLAP].out, FRAMES ), 0, 0 );
    check_near( most( strips.items[TR_STRIP_JERK].out, FRAMES ), 0, 1e-3 );
    check_near( most( strips.items[TR_STRIP_LENGTHS].out, FRAMES ), 0, 1e-3 );
    check_near( most( strips.items[TR_STRIP_CONTACTS].out, FRAMES ), 0, 1 );
    tr_strips_free( &strips );
    tr_result_free( &result );
    end( &x );
}

// Bodies that stand in each other overlap in every frame, as deep as the figure of the whole motion says.
static void overlap_is_that_of_the_figures( void **state )
{
    (void)state;
    fixture x;
    tr_strips strips;
    tr_measures measures;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1.0 );
    add_bent( &x, "b", v3( 0.05, 0, 0 ), 1.0 );
    build( &x );
    tr_result result = solve( &x, "copy" );
    check_ok( tr_strips_measure( &strips, &x.stage, &result, &x.error ), &x.error );
    check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
    const tr_metric *metric = tr_measures_find( &measures, "inter_penetration" );
    assert_non_null( metric );
    const tr_strip *overlap = &strips.items[TR_STRIP_OVERLAP];
    assert_true( overlap->out[0] > 10.0f );
    for ( int i = 0; i < metric->field_count; ++i )
        if ( strcmp( metric->fields[i].name, "max_mm" ) == 0 )
            check_near( most( overlap->out, FRAMES ), metric->fields[i].out, 1e-3 );
    check_near( overlap->out[3], overlap->source[3], 1e-3 ); // the same bodies in the same place
    tr_measures_free( &measures );
    tr_strips_free( &strips );
    tr_result_free( &result );
    end( &x );
}

// Parts that are deeper in each other than in the source are listed; those that were as deep are not.
static void overlaps_are_those_the_source_has_not( void **state )
{
    (void)state;
    for ( int grown = 0; grown < 2; ++grown ) {
        fixture x;
        tr_strips strips;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1.0 );
        add_bent( &x, "b", v3( 0.1, 0, 0 ), grown ? 1.3 : 1.0 );
        build( &x );
        tr_result result = solve( &x, "copy" );
        check_ok( tr_strips_measure( &strips, &x.stage, &result, &x.error ), &x.error );
        const tr_strip *overlap = &strips.items[TR_STRIP_OVERLAP];
        assert_int_equal( strips.overlap_first[0], 0 );
        if ( !grown )
            assert_int_equal( strips.overlap_first[FRAMES], 0 );
        for ( int f = 0; grown && f < FRAMES; ++f ) {
            assert_true( strips.overlap_first[f + 1] > strips.overlap_first[f] );
            for ( int i = strips.overlap_first[f]; i < strips.overlap_first[f + 1]; ++i ) {
                const tr_overlap *o = &strips.overlaps[i];
                assert_true( o->a == 0 && o->b == 1 );
                assert_in_range( o->part_a, 0, x.stage.actors[0].body.capsule_count - 1 );
                assert_in_range( o->part_b, 0, x.stage.actors[1].body.capsule_count - 1 );
                assert_true( 1e3 * o->depth > overlap->fine && 1e3 * o->depth <= overlap->out[f] + 1e-3 );
            }
        }
        tr_strips_free( &strips );
        tr_result_free( &result );
        end( &x );
    }
}

static tr_result copy_one( fixture *x )
{
    begin( x );
    add_bent( x, "a", v3_zero, 1.0 );
    build( x );
    return solve( x, "copy" );
}

// A foot that is carried along at 0.3 m/s while it ought to rest.
static void a_sliding_foot_shows( void **state )
{
    (void)state;
    fixture x;
    tr_strips strips;
    tr_result result = copy_one( &x );
    tr_world *world = &result.worlds[0];
    for ( int f = 10; f < FRAMES; ++f )
        for ( int j = 0; j < world->joint_count; ++j )
            tr_world_pose( world, f ).positions[j].x += 0.01 * ( f - 10 ); // 1 cm a frame, 30 frames a second
    check_ok( tr_strips_measure( &strips, &x.stage, &result, &x.error ), &x.error );
    const tr_strip *slip = &strips.items[TR_STRIP_SLIP];
    check_near( slip->out[5], 0, 1e-3 );
    check_near( slip->out[15], 300, 1e-3 );
    check_near( slip->source[15], 0, 1e-3 );
    tr_strips_free( &strips );
    tr_result_free( &result );
    end( &x );
}

// A bone that is a tenth too long in one frame; feet that are 2 cm from where they stand.
static void a_stretched_bone_and_a_missed_contact_show( void **state )
{
    (void)state;
    fixture x;
    tr_strips strips;
    tr_result result = copy_one( &x );
    const tr_skeleton *skeleton = &x.stage.actors[0].target;
    int hand = tr_skeleton_find( skeleton, "LeftHand" ), arm = skeleton->joints[hand].parent;
    tr_pose pose = tr_world_pose( &result.worlds[0], 7 );
    pose.positions[hand] =
        v3_add( pose.positions[arm], v3_scale( 1.1, v3_sub( pose.positions[hand], pose.positions[arm] ) ) );
    for ( int j = 0; j < skeleton->joint_count; ++j )
        tr_world_pose( &result.worlds[0], 12 ).positions[j].x += 0.02;
    check_ok( tr_strips_measure( &strips, &x.stage, &result, &x.error ), &x.error );
    check_near( strips.items[TR_STRIP_LENGTHS].out[7], 10, 1e-3 );
    check_near( strips.items[TR_STRIP_LENGTHS].out[8], 0, 1e-3 );
    check_near( strips.items[TR_STRIP_LENGTHS].source[7], 0, 1e-3 );
    check_near( strips.items[TR_STRIP_CONTACTS].out[12] - strips.items[TR_STRIP_CONTACTS].out[11], 20, 1 );
    tr_strips_free( &strips );
    tr_result_free( &result );
    end( &x );
}

// A back bent by 100° in one frame, and a trunk carried sideways by 0.5 m over feet that stand in another.
static void posture_shows( void **state )
{
    (void)state;
    fixture x;
    tr_strips strips;
    tr_result result = copy_one( &x );
    const tr_skeleton *skeleton = &x.stage.actors[0].target;
    int spine = tr_skeleton_find( skeleton, "Spine" );
    quat bend = q_axis_angle( v3_x, 100 * TR_DEGREE );
    tr_pose bent = tr_world_pose( &result.worlds[0], 7 );
    quat *world = &bent.rotations[spine], *local = &tr_clip_frame( &result.motions[0].clip, 7 )[spine];
    *world = q_mul( *world, bend );
    *local = q_mul( *local, bend );
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( skeleton->joints[j].role != TR_ROLE_FOOT && skeleton->joints[j].role != TR_ROLE_TOE )
            tr_world_pose( &result.worlds[0], 12 ).positions[j].x += 0.5;
    check_ok( tr_strips_measure( &strips, &x.stage, &result, &x.error ), &x.error );
    check_near( strips.items[TR_STRIP_BENDS].out[7], 100, 1e-3 );
    check_near( strips.items[TR_STRIP_BENDS].out[8], 0, 1e-3 );
    check_near( strips.items[TR_STRIP_RANGES].out[7], 25, 1e-3 ); // a lone one: 75
    check_near( strips.items[TR_STRIP_RANGES].out[8], 0, 1e-3 );
    assert_true( strips.items[TR_STRIP_BALANCE].out[12] > 200 );
    check_near( strips.items[TR_STRIP_BALANCE].out[11], 0, 1e-3 );
    assert_true( strips.items[TR_STRIP_JOLTS].out[12] > 100 && strips.items[TR_STRIP_JOLTS].out[8] < 1 );
    check_near( most( strips.items[TR_STRIP_GAPS].out, FRAMES ), 0, 0 );
    tr_strips_free( &strips );
    tr_result_free( &result );
    end( &x );
}

static void memory_may_run_out( void **state )
{
    (void)state;
    fixture x;
    tr_result result = copy_one( &x );
    bool ok = false;
    for ( long n = 1; !ok; ++n ) {
        tr_strips strips;
        tr_memory_fail_from( n );
        ok = tr_strips_measure( &strips, &x.stage, &result, &x.error );
        tr_memory_fail_from( 0 );
        if ( ok )
            tr_strips_free( &strips );
        assert_true( n < 1000 );
    }
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = { TEST( still_bodies_have_nothing_to_tell ),
                                        TEST( overlap_is_that_of_the_figures ),
                                        TEST( overlaps_are_those_the_source_has_not ),
                                        TEST( a_sliding_foot_shows ),
                                        TEST( a_stretched_bone_and_a_missed_contact_show ),
                                        TEST( memory_may_run_out ),
                                        TEST( posture_shows ) };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
