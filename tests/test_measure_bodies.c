// Every figure of bodies among bodies on a tiny hand-made motion: penetration, contacts, limbs that cross,
// relations; and a crowd against all pairs.
#include "measure_fixture.h"

static void bodies_in_bodies( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 4, 30 );
    add_capsule( t, 0, 1, 0.1 );
    add_capsule( t, 1, 1, 0.2 );
    // Upright capsules of radii 0.1 and 0.2 with axes 10 m apart; at frame 1 0.25 m (50 mm deep), at frame 2
    // 0.295 m (5 mm: an overlap, but under 1 cm).
    for ( int j = 0; j < 2; ++j ) {
        *out_at( t, 1, 1, j ) = v3( 0.25, j, 0 );
        *out_at( t, 1, 2, j ) = v3( 0, j, 0.295 );
        *source_at( t, 1, 3, j ) = v3( 0, j, 0.28 );
    }
    check_near( out_of( t, "inter_penetration", "frames_pct" ), 25, 1e-12 );
    check_near( out_of( t, "inter_penetration", "max_mm" ), 50, 1e-9 );
    check_near( out_of( t, "inter_penetration", "mean_mm" ), 55.0 / 4, 1e-9 );
    check_near( out_of( t, "inter_penetration", "sum_sq_m2" ), 0.05 * 0.05 + 0.005 * 0.005, 1e-12 );
    check_near( source_of( t, "inter_penetration", "max_mm" ), 20, 1e-9 );
    assert_true( field_of( t, "inter_penetration", "max_mm" )->worse );
    assert_false( field_of( t, "inter_penetration", "frames_pct" )->worse );
    close_theatre( t );
    t = open_theatre( 1, 2, 4, 30 );
    add_capsule( t, 0, 1, 0.1 );
    check_null( t, "inter_penetration", "two bodies" );
    close_theatre( t );
}

static void bodies_in_themselves( void **state )
{
    (void)state;
    // Five bones one above the other. Bones 1 and 5 have two joints and three bones between their nearest
    // ends (joints 1 and 4); bone 4's nearest end is joint 3, two bones from joint 1: a neighbour.
    theatre *t = open_theatre( 1, 6, 2, 30 );
    for ( int j = 1; j <= 5; ++j )
        add_capsule( t, 0, j, 0.1 );
    // Folded at frame 1: joint 4 comes beside joint 0, 0.17 away, and bone 5 stands beside bone 1: 30 mm.
    // Joint 3 is put there as well, so bone 4 stands in the same place, but it is a neighbour.
    *out_at( t, 0, 1, 3 ) = *out_at( t, 0, 1, 4 ) = v3( 0.17, 0, 0 );
    check_near( out_of( t, "self_penetration", "max_mm" ), 30, 1e-9 );
    check_near( out_of( t, "self_penetration", "sum_sq_m2" ), 0.0009, 1e-12 );
    check_near( out_of( t, "self_penetration", "frames_pct" ), 50, 1e-12 );
    check_near( source_of( t, "self_penetration", "max_mm" ), 0, 0 );
    close_theatre( t );
    t = open_theatre( 1, 5, 2, 30 );
    for ( int j = 1; j <= 4; ++j )
        add_capsule( t, 0, j, 0.1 );
    check_null( t, "self_penetration", "apart" );
    close_theatre( t );
    // Radii of 1.6 m: bones 1 and 5 overlap in the rest pose already (3 m apart) and are left out.
    t = open_theatre( 1, 6, 2, 30 );
    add_capsule( t, 0, 1, 1.6 );
    add_capsule( t, 0, 5, 1.6 );
    check_null( t, "self_penetration", "apart" );
    close_theatre( t );
}

static void bodies_in_props( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 2, 30 );
    add_capsule( t, 0, 1, 0.1 );
    check_null( t, "prop_penetration", "prop" );
    // A box of 1 m whose face is 0.08 m from the axis of the capsule: 20 mm deep. The result's box is 1.1
    // times as large, its face at 0.03 m: 70 mm; at frame 1 it has been moved away.
    add_prop( t, v3_one, v3( 0.58, 0.5, 0 ) );
    t->stage.props[0].scale = 1.1;
    t->result.tracks[0][1].position.x = 5;
    measure_again( t );
    check_near( out_of( t, "prop_penetration", "max_mm" ), 70, 1e-9 );
    check_near( out_of( t, "prop_penetration", "mean_mm" ), 35, 1e-9 );
    check_near( out_of( t, "prop_penetration", "frames_pct" ), 50, 1e-12 );
    check_near( out_of( t, "prop_penetration", "sum_sq_m2" ), 0.0049, 1e-12 );
    check_near( source_of( t, "prop_penetration", "mean_mm" ), 20, 1e-9 );
    close_theatre( t );
}

static void bodies_in_the_environment( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 4, 30 );
    add_capsule( t, 0, 1, 0.1 );
    check_null( t, "environment_penetration_mm", "obstacle" );
    // A box of 1 m whose face is 0.08 m from the capsule's axis, as of a prop: the source is in it by 20 mm.
    // The target's is half a metre wide and its face at 0.03 m: 70 mm deep, 50 beyond the source's. At frame
    // 1 the body has gone away, at frame 2 it is 8 mm beyond, at frame 3 it is not as deep as the source's.
    tr_obstacle wall = { .size = v3_one, .position = v3( 0.58, 0.5, 0 ), .scale = 0.5 };
    rigid places[2] = { { q_identity, wall.position }, { q_identity, v3( 0.28, 0.5, 0 ) } };
    t->scene.obstacles = &wall;
    t->scene.obstacle_count = 1;
    t->stage.obstacles = tr_alloc( 1, sizeof( rigid ) );
    t->stage.new_obstacles = tr_alloc( 1, sizeof( rigid ) );
    t->stage.obstacle_shapes = tr_alloc( 1, sizeof( tr_shape ) );
    t->stage.obstacle_shapes[0] = tr_shape_box( wall.size );
    t->stage.obstacles[0] = places[0];
    t->stage.new_obstacles[0] = places[1];
    const double x[4] = { 0, -3, -0.042, -0.06 };
    for ( int f = 0; f < 4; ++f )
        for ( int j = 0; j < 2; ++j )
            out_at( t, 0, f, j )->x = x[f];
    measure_again( t );
    check_near( out_of( t, "environment_penetration_mm", "max" ), 50, 1e-9 );
    check_near( out_of( t, "environment_penetration_mm", "mean" ), 58.0 / 4, 1e-9 );
    check_near( out_of( t, "environment_penetration_mm", "frames_pct" ), 25, 1e-12 );
    check_near( source_of( t, "environment_penetration_mm", "max" ), 0, 0 );
    assert_true( field_of( t, "environment_penetration_mm", "max" )->worse );
    // A body twice as tall may be in it twice as deep.
    resize_target( t, 0, 2 );
    measure_again( t );
    check_near( out_of( t, "environment_penetration_mm", "max" ), 30, 1e-9 );
    close_theatre( t );
}

static void contacts_kept( void **state )
{
    (void)state;
    // Two balls of radius 0.1 per character, on joints 0 and 1; 1 m tall, so 2 cm become 20 / 1.75 = 11.43
    // mm.
    theatre *t = open_theatre( 2, 2, 3, 30 );
    check_null( t, "contact_f1", "touches" );
    for ( int c = 0; c < 2; ++c )
        for ( int j = 0; j < 2; ++j )
            add_ball( t, c, j, 0.1 );
    // Source: both pairs of balls touch (gap 11 mm) at frame 0, the lower ones at frame 1: three contacts.
    *source_at( t, 1, 0, 0 ) = *source_at( t, 1, 1, 0 ) = v3( 0.211, 0, 0 );
    *source_at( t, 1, 0, 1 ) = v3( 0, 1, 0.211 );
    // Result: the lower ones at frames 0 and 1 (kept), the upper ones at frame 2 (new), and at frame 0 the
    // upper ones miss by half a millimetre.
    *out_at( t, 1, 0, 0 ) = *out_at( t, 1, 1, 0 ) = v3( 0, 0, 0.19 );
    *out_at( t, 1, 2, 1 ) = v3( 0.2, 1, 0 );
    *out_at( t, 1, 0, 1 ) = v3( 0.212, 1, 0 );
    measure_again( t );
    check_near( out_of( t, "contact_f1", "precision" ), 2.0 / 3, 1e-12 );
    check_near( out_of( t, "contact_f1", "recall" ), 2.0 / 3, 1e-12 );
    check_near( out_of( t, "contact_f1", "f1" ), 2.0 / 3, 1e-12 );
    check_near( source_of( t, "contact_f1", "f1" ), 1, 0 );
    assert_true( field_of( t, "contact_f1", "f1" )->worse );
    // A body twice as tall reaches 1.5 times as far on average: the half millimetre no longer matters.
    resize_target( t, 1, 2 );
    measure_again( t );
    check_near( out_of( t, "contact_f1", "precision" ), 3.0 / 4, 1e-12 );
    check_near( out_of( t, "contact_f1", "recall" ), 1, 1e-12 );
    check_near( out_of( t, "contact_f1", "f1" ), 6.0 / 7, 1e-12 );
    close_theatre( t );
}

static void contacts_with_props_and_by_map( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 2, 30 );
    add_ball( t, 0, 0, 0.1 );
    add_ball( t, 0, 1, 0.1 );
    add_prop( t, v3_one, v3( 0.605, 0, 0 ) ); // face 5 mm from the lower ball, above it free
    check_near( out_of( t, "contact_f1", "f1" ), 1, 0 );
    // Target joint 1 is driven by source joint 0 and the other way round; the box touches the other ball:
    // the same contacts.
    t->stage.actors[0].map[0] = 1;
    t->stage.actors[0].map[1] = 0;
    t->result.tracks[0][0].position.y = t->result.tracks[0][1].position.y = 1;
    measure_again( t );
    check_near( out_of( t, "contact_f1", "f1" ), 1, 0 );
    // Lost altogether: recall 0, and no precision of nothing.
    t->result.tracks[0][0].position.x = t->result.tracks[0][1].position.x = 9;
    measure_again( t );
    check_near( out_of( t, "contact_f1", "recall" ), 0, 0 );
    check_near( out_of( t, "contact_f1", "f1" ), 0, 0 );
    assert_true( field_of( t, "contact_f1", "precision" )->out_null );
    assert_non_null( metric_of( t, "contact_f1" )->reason );
    close_theatre( t );
}

// Two bars cross at a right angle. One falls through the other, lies below it for a frame, and comes back; in
// the source it stays above.
static void bones_that_pass( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 4, 30 );
    for ( int f = 0; f < 4; ++f ) {
        put_both( t, 0, f, 0, v3( -0.5, 0, 0 ) );
        put_both( t, 0, f, 1, v3( 0.5, 0, 0 ) );
        put_both( t, 1, f, 0, v3( 0, -0.5, 0.5 ) );
        put_both( t, 1, f, 1, v3( 0, 0.5, 0.5 ) );
    }
    out_at( t, 1, 2, 0 )->z = out_at( t, 1, 2, 1 )->z = -0.25;
    check_near( out_of( t, "pass_through", "count" ), 2, 0 );
    check_near( out_of( t, "pass_through", "frames" ), 2, 0 );
    check_near( out_of( t, "pass_through", "self_count" ), 0, 0 );
    check_near( source_of( t, "pass_through", "count" ), 0, 0 );
    assert_true( field_of( t, "pass_through", "count" )->worse );
    assert_int_equal( metric_of( t, "pass_through" )->out_place.frame, 2 );
    close_theatre( t );
    // One body: the last of three bones goes through the first, with which it shares no joint. The middle one
    // touches both all the time.
    t = open_theatre( 1, 4, 3, 30 );
    for ( int f = 0; f < 3; ++f ) {
        put_both( t, 0, f, 0, v3( 0, 0, 0 ) );
        put_both( t, 0, f, 1, v3( 1, 0, 0 ) );
        put_both( t, 0, f, 2, v3( 0.5, 0.5, 0.5 ) );
        put_both( t, 0, f, 3, v3( 0.5, -0.5, 0.5 ) );
    }
    for ( int j = 2; j < 4; ++j )
        out_at( t, 0, 1, j )->z = out_at( t, 0, 2, j )->z = -0.5;
    check_near( out_of( t, "pass_through", "self_count" ), 1, 0 );
    check_near( out_of( t, "pass_through", "self_frames" ), 1, 0 );
    check_near( source_of( t, "pass_through", "self_count" ), 0, 0 );
    assert_true( field_of( t, "pass_through", "count" )->out_null );
    assert_non_null( strstr( metric_of( t, "pass_through" )->reason, "fewer than two" ) );
    close_theatre( t );
}

static void limbs_that_cross( void **state )
{
    (void)state;
    // The crossing of test_geometry: unit segments along x and y, 1 apart along z, link by asin(1/5)/π.
    double link = asin( 0.2 ) / TR_PI;
    theatre *t = open_theatre( 2, 2, 2, 30 );
    for ( int f = 0; f < 2; ++f ) {
        put_both( t, 0, f, 0, v3( -0.5, 0, 0.5 ) );
        put_both( t, 0, f, 1, v3( 0.5, 0, 0.5 ) );
        put_both( t, 1, f, 0, v3( 0, -0.5, -0.5 ) );
        put_both( t, 1, f, 1, v3( 0, 0.5, -0.5 ) );
    }
    // At frame 1 the first limb has passed through the second and lies as far below it.
    out_at( t, 0, 1, 0 )->z = out_at( t, 0, 1, 1 )->z = -1.5;
    check_near( out_of( t, "writhe_deviation", "max" ), 2 * link, 1e-12 );
    check_near( out_of( t, "writhe_deviation", "p95" ), 2 * link, 1e-12 );
    check_near( out_of( t, "writhe_deviation", "same_topology_pct" ), 100, 0 );
    check_near( out_of( t, "writhe_deviation", "sign_changed_pct" ), 0, 0 ); // they hardly link
    check_near( source_of( t, "writhe_deviation", "max" ), 0, 0 );
    // Close by, a passage changes the linking from almost +½ to almost −½.
    for ( int f = 0; f < 2; ++f )
        for ( int j = 0; j < 2; ++j ) {
            source_at( t, 0, f, j )->z = -0.49;
            out_at( t, 0, f, j )->z = f == 0 ? -0.49 : -0.51;
        }
    measure_again( t );
    double near = asin( 0.25 / ( 0.25 + 1e-4 ) ) / TR_PI;
    check_near( out_of( t, "writhe_deviation", "max" ), 2 * near, 1e-9 );
    check_near( out_of( t, "writhe_deviation", "same_topology_pct" ), 50, 0 );
    check_near( out_of( t, "writhe_deviation", "sign_changed_pct" ), 50, 0 );
    assert_true( field_of( t, "writhe_deviation", "max" )->worse );
    assert_true( field_of( t, "writhe_deviation", "same_topology_pct" )->worse );
    // Within millimetres of each other in the source they have no side.
    for ( int f = 0; f < 2; ++f )
        for ( int j = 0; j < 2; ++j )
            source_at( t, 0, f, j )->z = -0.495;
    measure_again( t );
    check_near( out_of( t, "writhe_deviation", "same_topology_pct" ), 50, 0 );
    check_near( out_of( t, "writhe_deviation", "sign_changed_pct" ), 0, 0 );
    close_theatre( t );
    t = open_theatre( 1, 2, 2, 30 );
    check_null( t, "writhe_deviation", "limbs" );
    close_theatre( t );
}

// A straight back of two bones that is bent by a right angle in one frame of two; then the source is as well.
static void backs_that_buckle( void **state )
{
    (void)state;
    static const tr_role roles[] = { TR_ROLE_ROOT, TR_ROLE_SPINE, TR_ROLE_HEAD };
    theatre *t = open_theatre( 1, 3, 2, 30 );
    assert_true( field_of( t, "bend_deviation_deg", "max" )->out_null );
    assert_non_null( strstr( metric_of( t, "bend_deviation_deg" )->reason, "trunk" ) );
    for ( int j = 0; j < 3; ++j ) {
        t->stage.actors[0].target.joints[j].role = roles[j];
        t->stage.actors[0].source.skeleton.joints[j].role = roles[j];
    }
    *out_at( t, 0, 1, 2 ) = v3_add( *out_at( t, 0, 1, 1 ), v3_z );
    measure_again( t );
    check_near( out_of( t, "bend_deviation_deg", "max" ), 90, 1e-9 );
    check_near( out_of( t, "bend_deviation_deg", "p95" ), 90, 1e-9 );
    check_near( out_of( t, "bend_deviation_deg", "mean" ), 45, 1e-9 );
    check_near( source_of( t, "bend_deviation_deg", "max" ), 0, 0 );
    assert_true( field_of( t, "bend_deviation_deg", "max" )->worse );
    *source_at( t, 0, 1, 2 ) = *out_at( t, 0, 1, 2 );
    measure_again( t );
    check_near( out_of( t, "bend_deviation_deg", "max" ), 0, 1e-9 );
    t->stage.actors[0].map[1] = -1; // nothing drives the middle: there is no bend to compare with
    measure_again( t );
    assert_true( field_of( t, "bend_deviation_deg", "max" )->out_null );
    close_theatre( t );
}

// Four joints, all of them neighbours: A at the origin and above it, B at (1, 0, 0) and (1, 1, 1). B's upper
// joint moves by 0.2 in one frame of two. Its own coordinate changes by 0.2; that of A's lower joint, with
// neighbours at distances 1 and √3, by a share of (1/√3) / (1 + 1/√3) = 0.366 of it; that of A's upper one by
// half, both neighbours being √2 away; bones do not count, so B's lower joint stays. 0.04 (1 + 0.366² + 0.25)
// over 4 joints and 2 frames.
static void relations_by_hand( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 2, 30 );
    for ( int f = 0; f < 2; ++f ) {
        put_both( t, 1, f, 0, v3( 1, 0, 0 ) );
        put_both( t, 1, f, 1, v3( 1, 1, 1 ) );
    }
    check_near( out_of( t, "laplacian_energy", "value" ), 0, 0 );
    tr_measures_free( &t->measures );
    out_at( t, 1, 1, 1 )->z += 0.2;
    double share = ( 1 / sqrt( 3 ) ) / ( 1 + 1 / sqrt( 3 ) );
    check_near( out_of( t, "laplacian_energy", "value" ), 0.04 * ( 1.25 + share * share ) / 8, 1e-12 );
    close_theatre( t );
}

// --------------------------------------------------------------------------------------- against all pairs

// The same figure without boxes, blocks or lists.
static void penetration_against_all_pairs( void **state )
{
    (void)state;
    theatre *t = crowd( 5, 20 );
    double most = 0, sum_of_squares = 0;
    for ( int f = 0; f < 20; ++f )
        for ( int a = 0; a < 25; ++a )
            for ( int b = 0; b < 25; ++b ) {
                if ( a / 5 >= b / 5 )
                    continue;
                vec3 p = *out_at( t, a / 5, f, a % 5 ), q = *out_at( t, b / 5, f, b % 5 );
                double depth = -tr_capsule_distance( p, v3_add( p, v3_y ), 0.06 + 0.01 * ( a % 5 ), q,
                                                     v3_add( q, v3_y ), 0.06 + 0.01 * ( b % 5 ) );
                most = fmax( most, depth );
                sum_of_squares += depth > 0 ? depth * depth : 0;
            }
    assert_true( most > 0 );
    check_near( out_of( t, "inter_penetration", "max_mm" ), 1e3 * most, 1e-9 );
    check_near( out_of( t, "inter_penetration", "sum_sq_m2" ), sum_of_squares, 1e-9 );
    close_theatre( t );
}

static void writhe_against_all_pairs( void **state )
{
    (void)state;
    theatre *t = crowd( 6, 12 );
    double most = 0;
    for ( int f = 0; f < 12; ++f )
        for ( int a = 0; a < 6; ++a )
            for ( int b = a + 1; b < 6; ++b ) {
                double out = tr_chain_linking( out_at( t, a, f, 0 ), 6, out_at( t, b, f, 0 ), 6 );
                double source = tr_chain_linking( source_at( t, a, f, 0 ), 6, source_at( t, b, f, 0 ), 6 );
                most = fmax( most, fabs( out - source ) );
            }
    assert_true( most > 0.02 ); // more than what is left out as negligible
    check_near( out_of( t, "writhe_deviation", "max" ), most, 1e-12 );
    close_theatre( t );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( bodies_in_bodies ),
        TEST( bodies_in_themselves ),
        TEST( bodies_in_props ),
        TEST( bodies_in_the_environment ),
        TEST( contacts_kept ),
        TEST( contacts_with_props_and_by_map ),
        TEST( bones_that_pass ),
        TEST( limbs_that_cross ),
        TEST( backs_that_buckle ),
        TEST( relations_by_hand ),
        TEST( penetration_against_all_pairs ),
        TEST( writhe_against_all_pairs ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
