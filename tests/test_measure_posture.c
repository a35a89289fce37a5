// Figures of posture and of things near each other on tiny hand-made motions.
#include "measure_fixture.h"

static void set_role( theatre *t, int joint, tr_role role )
{
    t->stage.actors[0].target.joints[joint].role = role;
    t->stage.actors[0].source.skeleton.joints[joint].role = role;
}

// A head whose only child is an end site is bent by a right angle in one frame of two; a hand is bent
// forwards by 20° where the source has it backwards by 20°: no bend that positions of three joints tell
// apart.
static void heads_and_hands_that_bend( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 3, 2, 30 );
    set_role( t, 0, TR_ROLE_SPINE );
    set_role( t, 1, TR_ROLE_HEAD );
    t->stage.actors[0].target.joints[2].end_site = true;
    t->stage.actors[0].map[2] = -1;
    tr_world_pose( &t->result.worlds[0], 1 ).rotations[1] = q_axis_angle( v3_x, 90 * TR_DEGREE );
    check_near( out_of( t, "bend_deviation_deg", "head_max" ), 90, 1e-9 );
    check_near( out_of( t, "bend_deviation_deg", "head_p95" ), 90, 1e-9 );
    check_near( out_of( t, "bend_deviation_deg", "head_beyond_30_pct" ), 50, 1e-9 );
    check_near( source_of( t, "bend_deviation_deg", "head_max" ), 0, 1e-9 );
    assert_true( field_of( t, "bend_deviation_deg", "head_max" )->worse );
    assert_null( field_of( t, "bend_deviation_deg", "trunk_max" ) ); // hangs on nothing
    // Nothing is bent where the chest turns with it.
    tr_world_pose( &t->result.worlds[0], 1 ).rotations[0] = q_axis_angle( v3_x, 90 * TR_DEGREE );
    measure_again( t );
    check_near( out_of( t, "bend_deviation_deg", "head_max" ), 0, 1e-9 );
    tr_world_pose( &t->result.worlds[0], 1 ).rotations[0] = q_identity;
    set_role( t, 0, TR_ROLE_FOREARM );
    set_role( t, 1, TR_ROLE_HAND );
    for ( int f = 0; f < 2; ++f ) {
        tr_world_pose( &t->result.worlds[0], f ).rotations[1] = q_axis_angle( v3_x, 20 * TR_DEGREE );
        tr_world_pose( &t->stage.actors[0].world, f ).rotations[1] = q_axis_angle( v3_x, -20 * TR_DEGREE );
    }
    measure_again( t );
    check_near( out_of( t, "bend_deviation_deg", "hand_max" ), 40, 1e-9 );
    check_near( out_of( t, "bend_deviation_deg", "hand_beyond_30_pct" ), 100, 1e-9 );
    close_theatre( t );
}

// A hand 0.2 m from another's in one frame of two is 0.5 m away in the result.
static void hands_that_do_not_meet( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 2, 30 );
    check_null( t, "closeness", "0.3 m" );
    set_role( t, 1, TR_ROLE_HAND );
    for ( int c = 0; c < 2; ++c )
        add_ball( t, c, 1, 0.1 );
    *source_at( t, 1, 0, 1 ) = v3( 0.4, 1, 0 );
    *out_at( t, 1, 0, 1 ) = v3( 0, 1, 0.7 );
    measure_again( t );
    check_near( out_of( t, "closeness", "max_mm" ), 300, 1e-9 );
    check_near( out_of( t, "closeness", "p95_mm" ), 300, 1e-9 );
    check_near( out_of( t, "closeness", "mean_mm" ), 300, 1e-9 );
    check_near( source_of( t, "closeness", "max_mm" ), 0, 0 );
    assert_true( field_of( t, "closeness", "mean_mm" )->worse );
    assert_int_equal( metric_of( t, "closeness" )->out_place.frame, 0 );
    // One of them is twice as tall: three quarters of the half metre are what the source's size would have.
    resize_target( t, 0, 2 );
    measure_again( t );
    check_near( out_of( t, "closeness", "mean_mm" ), 175, 1e-9 );
    // What overlaps, in both, has no gap.
    *source_at( t, 1, 0, 1 ) = v3( 0.1, 1, 0 );
    *out_at( t, 1, 0, 1 ) = v3( 0, 1, 0.19 );
    measure_again( t );
    check_near( out_of( t, "closeness", "max_mm" ), 0, 0 );
    close_theatre( t );
}

static void give_mass( tr_body *body, int joints, int heavy )
{
    body->masses = tr_alloc( (size_t)joints, sizeof( double ) );
    body->masses[heavy] = body->total_mass = 2;
}

// All mass is in joint 4, above a square metre on whose corners the others stand.
static void bodies_that_lean( void **state )
{
    (void)state;
    const vec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 1 }, { 0, 0, 1 } };
    theatre *t = open_theatre( 1, 5, 4, 30 );
    check_null( t, "balance", "mass" );
    give_mass( &t->stage.actors[0].body, 5, 4 );
    give_mass( &t->stage.actors[0].source_body, 5, 4 );
    for ( int j = 0; j < 4; ++j ) {
        add_contact( t, 0, j, 0, 2 ); // in the last frame it flies
        for ( int f = 0; f < 4; ++f )
            put_both( t, 0, f, j, corners[j] );
    }
    for ( int f = 0; f < 4; ++f )
        *source_at( t, 0, f, 4 ) = v3( 0.5, 1, 0.5 );
    source_at( t, 0, 2, 4 )->x = 1.25;           // 250 mm out itself
    *out_at( t, 0, 0, 4 ) = v3( 0.1, 1, 0.9 );   // inside
    *out_at( t, 0, 1, 4 ) = v3( 1.3, 1, 1.4 );   // 500 mm from the corner
    *out_at( t, 0, 2, 4 ) = v3( 0.5, 1, -0.35 ); // 350 mm, 100 more than the source
    *out_at( t, 0, 3, 4 ) = v3( 9, 1, 9 );
    measure_again( t );
    check_near( out_of( t, "balance", "max_mm" ), 500, 1e-9 );
    check_near( out_of( t, "balance", "p95_mm" ), 500, 1e-9 );
    check_near( out_of( t, "balance", "mean_mm" ), 200, 1e-9 );
    check_near( source_of( t, "balance", "max_mm" ), 0, 0 );
    assert_int_equal( metric_of( t, "balance" )->out_place.frame, 1 );
    close_theatre( t );
}

// A leg of 1 m, on a body of twice the size 2 m: hips at 1.6 m are at 0.8 of the source's height.
static void hips_that_sink( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 4, 30 );
    check_null( t, "hip_height", "hips" );
    set_role( t, 0, TR_ROLE_THIGH );
    set_role( t, 1, TR_ROLE_FOOT );
    t->stage.actors[0].target.joints[1].offset = t->stage.actors[0].source.skeleton.joints[1].offset =
        v3( 0, -1, 0 );
    resize_target( t, 0, 2 );
    for ( int f = 0; f < 4; ++f ) {
        *source_at( t, 0, f, 0 ) = v3( 0, 1, 0 );
        *out_at( t, 0, f, 0 ) = v3( 0, f == 2 ? 1.6 : 1.9, 0 );
        put_both( t, 0, f, 1, v3_zero );
    }
    measure_again( t );
    check_near( out_of( t, "hip_height", "below_pct" ), 25, 1e-9 );
    check_near( out_of( t, "hip_height", "least" ), 0.8, 1e-9 );
    check_near( source_of( t, "hip_height", "below_pct" ), 0, 0 );
    check_near( source_of( t, "hip_height", "least" ), 1, 0 );
    assert_true( field_of( t, "hip_height", "least" )->worse );
    source_at( t, 0, 2, 0 )->y = 0.2; // lies there: nothing to compare with
    measure_again( t );
    check_near( out_of( t, "hip_height", "below_pct" ), 0, 0 );
    close_theatre( t );
}

// x = t² m at 10 frames a second has an acceleration of 2 m/s². A jump of 50 mm there and back takes 10 away.
static void props_that_jump( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 9, 10 );
    check_null( t, "prop_acceleration", "props" );
    add_prop( t, v3_one, v3_zero );
    for ( int f = 0; f < 9; ++f )
        t->stage.props[0].track[f].position.x = t->result.tracks[0][f].position.x = 0.01 * f * f;
    t->result.tracks[0][4].position.x += 0.05;
    measure_again( t );
    check_near( out_of( t, "prop_acceleration", "max" ), 8, 1e-9 );
    check_near( out_of( t, "prop_acceleration", "ratio" ), 4, 1e-9 );
    check_near( source_of( t, "prop_acceleration", "max" ), 2, 1e-9 );
    check_near( source_of( t, "prop_acceleration", "ratio" ), 1, 1e-9 );
    assert_int_equal( metric_of( t, "prop_acceleration" )->out_place.frame, 4 );
    assert_true( field_of( t, "prop_acceleration", "ratio" )->worse );
    t->stage.groups[0].path_scale = 2; // so do paths of twice the length
    measure_again( t );
    check_near( out_of( t, "prop_acceleration", "ratio" ), 2, 1e-9 );
    close_theatre( t );
}

// In a body without anatomy, a joint at rest in the source may turn by 30°.
static void joints_beyond_their_range( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 3, 4, 30 );
    tr_clip_frame( &t->result.motions[0].clip, 1 )[1] = q_axis_angle( v3_x, 80 * TR_DEGREE );
    tr_clip_frame( &t->result.motions[0].clip, 2 )[1] = q_axis_angle( v3_x, 25 * TR_DEGREE );
    check_near( out_of( t, "range_overshoot_deg", "max" ), 50, 1e-6 );
    check_near( out_of( t, "range_overshoot_deg", "other" ), 50, 1e-6 );
    check_near( out_of( t, "range_overshoot_deg", "frames_pct" ), 25, 1e-9 );
    check_near( source_of( t, "range_overshoot_deg", "max" ), 0, 0 );
    assert_null( field_of( t, "range_overshoot_deg", "head" ) );
    assert_int_equal( metric_of( t, "range_overshoot_deg" )->out_place.frame, 1 );
    close_theatre( t );
    t = open_theatre( 1, 1, 2, 30 );
    check_null( t, "range_overshoot_deg", "joint" );
    close_theatre( t );
}

// ------------------------------------------------------------------------------------------------- ranges

typedef struct leg { // pelvis, thigh, shin, foot, all but the last with a bone of half a metre below
    tr_skeleton skeleton;
    tr_joint_range ranges[4];
    quat own[2 * 4];
} leg;

static void make_leg( leg *l, int legs )
{
    static const tr_role roles[] = { TR_ROLE_ROOT, TR_ROLE_THIGH, TR_ROLE_SHIN, TR_ROLE_FOOT };
    *l = ( leg ){ 0 };
    for ( int j = 0; j < 4; ++j ) {
        tr_skeleton_add( &l->skeleton, "joint", j - 1, v3( 0, -0.5, 0 ) );
        l->skeleton.joints[j].role = roles[j];
    }
    l->skeleton.limbs = tr_alloc( 4, sizeof( tr_limb ) );
    l->skeleton.limb_count = legs;
    for ( int i = 0; i < legs; ++i )
        l->skeleton.limbs[i].kind = TR_LIMB_LEG;
    for ( int i = 0; i < 8; ++i )
        l->own[i] = q_identity;
}

static void build_ranges( leg *l )
{
    tr_range_def def = tr_default_range_def();
    assert_true( tr_ranges_build( l->ranges, &l->skeleton, l->own, 2, &def ) );
}

static double beyond( const leg *l, int joint, vec3 axis, double degrees )
{
    return tr_range_overshoot( &l->ranges[joint], q_axis_angle( axis, degrees * TR_DEGREE ) ) / TR_DEGREE;
}

static void ranges_of_knees( void **state )
{
    (void)state;
    leg l;
    make_leg( &l, 2 );
    l.own[4 + 2] = q_axis_angle( v3_x, 60 * TR_DEGREE ); // the source bends its knee about x
    build_ranges( &l );
    check_near( beyond( &l, 2, v3_x, 0 ), 0, 0 );
    check_near( beyond( &l, 2, v3_x, 149 ), 0, 1e-9 );
    check_near( beyond( &l, 2, v3_x, 170 ), 20, 1e-9 ); // anatomy: 150
    check_near( beyond( &l, 2, v3_x, -15 ), 10, 1e-9 ); // 0, and 5 beyond the source's 0
    check_near( beyond( &l, 2, v3_y, 45 ), 15, 1e-9 );  // twist: 30
    check_near( beyond( &l, 2, v3_z, -25 ), 15, 1e-9 ); // aside: 10
    check_near( beyond( &l, 0, v3_z, 180 ), 0, 0 );     // the root is free
    check_near( beyond( &l, 3, v3_z, 180 ), 0, 0 );     // turns no bone
    // What the source does is never beyond, and 5° more are not either.
    l.own[4 + 2] = q_axis_angle( v3_x, 140 * TR_DEGREE );
    l.own[2] = q_axis_angle( v3_x, -20 * TR_DEGREE );
    build_ranges( &l );
    check_near( beyond( &l, 2, v3_x, -24 ), 0, 1e-9 );
    check_near( beyond( &l, 2, v3_x, -26 ), 1, 1e-9 );
    tr_skeleton_free( &l.skeleton );
    // Four legs are no person's: the source's 0 … 60° times 1.5.
    make_leg( &l, 4 );
    l.own[4 + 2] = q_axis_angle( v3_x, 60 * TR_DEGREE );
    build_ranges( &l );
    check_near( beyond( &l, 2, v3_x, 74 ), 0, 1e-9 );
    check_near( beyond( &l, 2, v3_x, 90 ), 15, 1e-9 );
    check_near( beyond( &l, 2, v3_x, -40 ), 25, 1e-9 );
    tr_skeleton_free( &l.skeleton );
}

// A hand that twists all around leaves the twist free, and a shin that rests folded up along the thigh is
// measured about what the source does with it.
static void ranges_of_odd_sources( void **state )
{
    (void)state;
    leg l;
    make_leg( &l, 2 );
    l.own[2] = q_axis_angle( v3_y, -155 * TR_DEGREE );
    l.own[4 + 2] = q_axis_angle( v3_y, 155 * TR_DEGREE );
    build_ranges( &l ); // 50° apart, across the half turn
    check_near( beyond( &l, 2, v3_y, 180 ), 0, 1e-9 );
    check_near( beyond( &l, 2, v3_y, 120 ), 30, 1e-9 );
    l.own[2] = q_axis_angle( v3_x, 170 * TR_DEGREE );
    l.own[4 + 2] = q_axis_angle( v3_x, 190 * TR_DEGREE );
    build_ranges( &l );
    check_near( beyond( &l, 2, v3_x, 170 ), 0, 1e-9 );
    check_near( beyond( &l, 2, v3_x, 190 ), 0, 1e-9 );
    for ( long n = 1; n <= 3; ++n ) {
        tr_range_def def = tr_default_range_def();
        tr_memory_fail_from( n );
        assert_false( tr_ranges_build( l.ranges, &l.skeleton, l.own, 2, &def ) );
        tr_memory_fail_from( 0 );
    }
    tr_skeleton_free( &l.skeleton );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( heads_and_hands_that_bend ), TEST( hands_that_do_not_meet ),
        TEST( bodies_that_lean ),          TEST( hips_that_sink ),
        TEST( props_that_jump ),           TEST( joints_beyond_their_range ),
        TEST( ranges_of_knees ),           TEST( ranges_of_odd_sources ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
