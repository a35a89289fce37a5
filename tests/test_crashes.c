// Small valid scenes that once crashed a solver: every method gives finite motion with the bones of the
// target.
#include "stage_fixture.h"

static void check_result( const fixture *x, const tr_result *result )
{
    tr_error error;
    assert_int_equal( result->frame_count, x->stage.frame_count );
    for ( int i = 0; i < result->actor_count; ++i ) {
        check_ok( tr_motion_check( &result->motions[i], &error ), &error );
        for ( int f = 0; f < result->frame_count; ++f )
            for ( int j = 0; j < result->worlds[i].joint_count; ++j )
                assert_true( v3_finite( tr_world_pose( &result->worlds[i], f ).positions[j] ) );
    }
    for ( int p = 0; p < result->prop_count; ++p )
        for ( int f = 0; f < result->frame_count; ++f )
            assert_true( v3_finite( result->tracks[p][f].position ) );
}

static void check_methods( fixture *x )
{
    int count;
    const tr_method *methods = tr_method_table( &count );
    build( x );
    for ( int m = 0; m < count; ++m ) {
        tr_result result = solve( x, methods[m].name );
        check_result( x, &result );
        tr_result_free( &result );
    }
    end( x );
}

// A character alone in its set: the fit asks its graph for the two joints that the rule relates.
static void a_relation_within_a_body_may_be_out_of_reach( void **state )
{
    (void)state;
    fixture x;
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    int arm = tr_skeleton_find( &motion.skeleton, "LeftArm" );
    for ( int f = 0; f < FRAMES; ++f ) // a full circle in a second
        tr_clip_frame( &motion.clip, f )[arm] = q_axis_angle( v3_x, 2 * TR_PI * f / FPS );
    begin( &x );
    add_character( &x, "a", v3_zero, 0.9, &motion );
    edit( &x, "constraint_add id=far kind=relative a=a.LeftHand b=a.Hips\n"
              "constraint_set id=far target=5,0,0" );
    check_methods( &x );
}

static void a_body_with_a_relation_within_it_is_edited( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    edit( &x, "constraint_add id=akimbo kind=relative a=a.LeftHand b=a.Hips\n"
              "constraint_set id=akimbo target=0.25,0,0.05\n"
              "layer_add id=bend kind=cage members=a\n"
              "handle_add id=turn layer=bend frame=15 turn=0,5,0" );
    check_methods( &x );
}

// The layer moves a; b is joined to a in some frames and touches the ball in others, in which nothing moves.
// So b takes part and the ball does not.
static void a_hand_touches_what_takes_no_part( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    add_bent( &x, "b", v3( 0, 0, 0.8 ), 1 );
    edit( &x, "prop_add id=ball\n"
              "constraint_add id=touch kind=contact a=b.LeftHand surface=ball range=25,28\n"
              "constraint_add id=apart kind=length a=a.LeftHand b=b.LeftHand range=8,10\n"
              "layer_add id=bend kind=cage members=a\n"
              "handle_add id=turn layer=bend frame=15 turn=0,5,0" );
    check_methods( &x );
}

// The only frame is the first and the last one. With ripple, all end together: 20 frames later.
static void a_single_frame_is_delayed( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    add_bent( &x, "b", v3( 1, 0, 0 ), 1 );
    x.scene.last = 0;
    edit( &x, "constraint_add id=place kind=absolute a=a.LeftHand range=0,0\n"
              "layer_add id=late kind=retime members=b ripple=true\n"
              "section_add id=s layer=late frame=0\nsection_set id=s delay=20" );
    build( &x );
    assert_int_equal( x.stage.frame_count, 21 );
    const tr_rule *rule = &x.stage.rules[find_rule( &x.stage, "place" )];
    assert_int_equal( rule->first, 20 );
    assert_int_equal( rule->last, 20 );
    tr_stage_free( &x.stage );
    check_methods( &x );
}

// A clip of one frame has no second one to continue with, also for frames before it.
static void what_lies_before_a_single_frame_is_delayed( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    x.scene.first = x.scene.last = 5;
    edit( &x, "constraint_add id=place kind=absolute a=a.LeftHand range=2,5\n"
              "layer_add id=late kind=retime members=a ripple=true\n"
              "section_add id=s layer=late frame=5\nsection_set id=s delay=20" );
    build( &x );
    assert_int_equal( x.stage.frame_count, 21 );
    assert_int_equal( x.stage.rules[find_rule( &x.stage, "place" )].last, 20 );
    tr_stage_free( &x.stage );
    check_methods( &x );
}

static void a_scene_is_not_delayed_beyond_all_frames( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    edit( &x, "layer_add id=late kind=retime members=a ripple=true\n"
              "section_add id=s layer=late frame=0\nsection_set id=s delay=1000000" );
    assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &x.error ) );
    assert_string_equal( x.error.path, "sections[0].delay" );
    assert_string_equal( x.error.message, "the scene would have more than a million frames" );
    end( &x );
}

// The ways of partners are smoothed against second differences, times the fourth power of the frame rate: the
// matrix is singular to working precision where nothing else holds it.
static void a_partner_follows_at_a_thousand_frames_a_second( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    x.scene.fps = 1000;
    x.scene.last = 2;
    edit( &x, "prop_add id=box\n"
              "constraint_add id=touch kind=contact a=a.LeftHand surface=box range=2,2\n"
              "constraint_set id=touch ease=0.5,0.5\n"
              "layer_add id=pull kind=cage members=box ease=0,10\n"
              "handle_add id=away layer=pull frame=0\nhandle_set id=away move=0.2,0,0.1" );
    check_methods( &x );
}

// Only the ease of the second stance is on the stage; the foot is on its way to it, on boxes, beyond the end.
static void a_stance_beyond_the_stage_is_on_a_box( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    x.scene.first = x.scene.last = 3;
    edit( &x, "obstacle_add id=step size=4,0.2,4 position=0,0,0\n"
              "constraint_add id=now kind=contact a=a.LeftFoot\n"
              "constraint_add id=later kind=contact a=a.LeftFoot range=23,23 ease=20,0" );
    check_methods( &x );
}

// A wish without weight asks for nothing, also where only the height of a centre of mass counts: its other
// axes are held by a strength of their own.
static void a_wish_without_weight_changes_no_bit( void **state )
{
    (void)state;
    static const char *const methods[] = { "posegraph", "window" };
    for ( int i = 0; i < 2; ++i ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        build( &x );
        tr_result without = solve( &x, methods[i] );
        edit( &x, "constraint_add id=low kind=centre_of_mass a=a target=0.2,0.7,0\n"
                  "constraint_set id=low axes=y hard=false weight=0" );
        rebuild( &x );
        tr_result with = solve( &x, methods[i] );
        for ( int f = 0; f < FRAMES; ++f )
            assert_true( same_frame( &without, &with, 0, f ) );
        tr_result_free( &without );
        tr_result_free( &with );
        end( &x );
    }
}

// The weights of a point add up to one, and may each be a thousand. The body is a third of a millimetre tall.
static void a_tiny_body_has_a_point_with_great_weights( void **state )
{
    (void)state;
    fixture x;
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int j = 0; j < motion.skeleton.joint_count; ++j )
        motion.skeleton.joints[j].offset = v3_scale( 0.02, motion.skeleton.joints[j].offset );
    for ( int f = 0; f < FRAMES; ++f )
        motion.clip.root[f] = v3_scale( 0.02, motion.clip.root[f] );
    begin( &x );
    add_character( &x, "a", v3_zero, 0.01, &motion );
    edit( &x, "constraint_add id=far kind=absolute a=a.Hips*1000+Head*-999" );
    check_methods( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_relation_within_a_body_may_be_out_of_reach ),
        TEST( a_body_with_a_relation_within_it_is_edited ),
        TEST( a_hand_touches_what_takes_no_part ),
        TEST( a_single_frame_is_delayed ),
        TEST( what_lies_before_a_single_frame_is_delayed ),
        TEST( a_scene_is_not_delayed_beyond_all_frames ),
        TEST( a_partner_follows_at_a_thousand_frames_a_second ),
        TEST( a_stance_beyond_the_stage_is_on_a_box ),
        TEST( a_wish_without_weight_changes_no_bit ),
        TEST( a_tiny_body_has_a_point_with_great_weights ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
