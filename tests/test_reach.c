// Places that no limb reaches and places that contradict each other: what gives way does so smoothly, is
// reported with its true distance, and moves no foot that stands.
#include "take.h"

#define FRAMES 120

// Two people who squat where they stand, at arm's length of each other, and nothing else asked of them.
static void open_squat( take *x )
{
    open_scene( x, "squat_chain", 2 );
    x->scene.constraint_count = 0;
    x->scene.last = FRAMES - 1;
}

static void pin( take *x, const char *id, vec3 place )
{
    tr_constraint c = tr_default_constraint( id, TR_CONSTRAINT_ABSOLUTE );
    c.a = tr_point_joint( x->scene.cast[0].id, "LeftHand" );
    c.given = true;
    c.target = place;
    assert_non_null( tr_scene_add_constraint( &x->scene, &c ) );
}

static vec3 hand_at( const take *x, int frame )
{
    int hand = tr_skeleton_find( &x->stage.actors[0].target, "LeftHand" );
    return tr_world_pose( &x->result.worlds[0], frame ).positions[hand];
}

static const tr_rule_report *report_of( const take *x, const char *id )
{
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( strcmp( x->stage.rules[r].id, id ) == 0 )
            return &x->result.reports[r];
    fail_msg( "no rule %s", id );
    return NULL;
}

// Feet stay, nothing jumps.
static void check_calm( const take *x )
{
    check_bound( figure( x, "contact_error_mm", "max" ), CONTACT_MM );
    assert_true( figure( x, "contact_error_mm", "gave_way" ) == 0 );
    check_bound( figure( x, "rotation_spike_deg", "value" ), ROTATION_DEG );
    check_bound( figure( x, "jerk_ratio", "value" ), REACH_JERK );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( v3_finite( hand_at( x, f ) ) );
}

// Where the hand is when pinned at `place`, at every frame.
static void reach_for( vec3 place, vec3 *hands )
{
    take x;
    open_squat( &x );
    pin( &x, "far", place );
    solve( &x, NULL );
    check_calm( &x );
    double farthest = 0;
    for ( int f = 0; f < FRAMES; ++f ) {
        hands[f] = hand_at( &x, f );
        farthest = fmax( farthest, v3_distance( hands[f], place ) );
    }
    const tr_rule_report *report = report_of( &x, "far" );
    assert_true( report->gave_way );
    check_near( report->max_mm, 1000 * farthest, 1e-6 * report->max_mm );
    close_scene( &x );
}

// One metre or a hundred kilometres away: the same arm is stretched towards it.
static void farther_changes_nothing( void **state )
{
    (void)state;
    static const vec3 directions[] = { { 1, 0, 0 }, { 0.2, 0.3, 1 }, { 0.1, -1, 0.2 } };
    static const double distances[] = { 1.5, 20, 1e3, 9e4 };
    vec3 hands[4][FRAMES];
    for ( int d = 0; d < 3; ++d ) {
        for ( int i = 0; i < 4; ++i )
            reach_for( v3_mad( v3( -0.3, 1.2, 0 ), distances[i], v3_unit( directions[d] ) ), hands[i] );
        double steps[3] = { 0 };
        for ( int i = 0; i < 3; ++i )
            for ( int f = 0; f < FRAMES; ++f )
                steps[i] = fmax( steps[i], v3_distance( hands[i][f], hands[i + 1][f] ) );
        print_message( "direction %d: %.1f, %.2f, %.3f mm from one distance to the next\n", d,
                       1000 * steps[0], 1000 * steps[1], 1000 * steps[2] );
        check_bound( steps[0], REACH_NEAR_M );
        check_bound( steps[1], REACH_FAR_M );
        check_bound( steps[2], REACH_FARTHEST_M );
    }
}

#define SQUAT 76 // frames of one squat

// Points spread evenly over a sphere.
static vec3 spread( int i, int count )
{
    double y = 1 - 2 * ( i + 0.5 ) / count, r = sqrt( 1 - y * y ), turn = 2.399963229728653 * i;
    return v3( r * cos( turn ), y, r * sin( turn ) );
}

static double spike_of_pin( const char *scene, int cast, int frames, const char *joint, vec3 place )
{
    take x;
    open_scene( &x, scene, cast );
    x.scene.constraint_count = 0;
    x.scene.last = frames - 1;
    tr_constraint c = tr_default_constraint( "pin", TR_CONSTRAINT_ABSOLUTE );
    c.a = tr_point_joint( x.scene.cast[0].id, joint );
    c.given = true;
    c.target = place;
    assert_non_null( tr_scene_add_constraint( &x.scene, &c ) );
    solve( &x, NULL );
    double spike = figure( &x, "rotation_spike_deg", "value" );
    assert_true( figure( &x, "contact_error_mm", "gave_way" ) == 0 );
    close_scene( &x );
    return spike;
}

// A hand pinned anywhere while its owner squats: in front, overhead, behind, across the body. No way of
// holding an arm is continuous for all directions (a sphere cannot be combed); the one without is behind the
// other shoulder, through the chest. And what lies on the ground across the feet is reached by bending over
// either way.
static void arms_reach_everywhere_without_flips( void **state )
{
    (void)state;
    static const double radii[] = { 0.45, 0.7, 1.2 };
    vec3 shoulder = { -0.25, 1.1, 0 }, uncombed = v3_unit( v3( -1, 0, -1 ) );
    double worst = 0;
    int left_out = 0;
    for ( int r = 0; r < 3; ++r )
        for ( int i = 0; i < 20; ++i ) {
            vec3 direction = spread( i, 20 ), place = v3_mad( shoulder, radii[r], direction );
            if ( v3_dot( direction, uncombed ) > cos( 0.7 ) || place.y < 0.35 ) {
                left_out++;
                continue;
            }
            double spike = spike_of_pin( "squat_chain", 2, SQUAT, "LeftHand", place );
            if ( spike > 20 )
                print_message( "%.2f %.2f %.2f: %.1f degrees\n", place.x, place.y, place.z, spike );
            worst = fmax( worst, spike );
        }
    print_message( "arm: %.1f degrees at most, %d of 60 left out\n", worst, left_out );
    assert_true( worst <= 20.0 && left_out <= 12 );
}

// Legs of people and spiders, lifted to any side.
static void legs_reach_everywhere_without_flips( void **state )
{
    (void)state;
    vec3 hip = { -0.33, 0.8, 0 }, coxa = { -0.21, 0.18, 0.05 };
    double human = 0, spider = 0;
    for ( int i = 0; i < 12; ++i ) {
        vec3 d = spread( i, 12 );
        human = fmax( human, spike_of_pin( "squat_chain", 2, SQUAT, "LeftFoot", v3_mad( hip, 0.6, d ) ) );
        if ( d.x > -0.5 && d.y > -0.4 ) // beside the body, above the ground
            spider = fmax( spider, spike_of_pin( "spider", 1, 40, "L2Tip_End", v3_mad( coxa, 0.4, d ) ) );
    }
    print_message( "legs: human %.1f, spider %.1f degrees at most\n", human, spider );
    assert_true( human <= 20.0 && spider <= 20.0 );
}

// A hard rule stays met, however large the weight of a soft one.
static void soft_is_softer_than_hard( void **state )
{
    (void)state;
    for ( double weight = 1e4; weight < 1e10; weight *= 100 )
        for ( double away = 0.4; away < 6; away *= 3 ) {
            take x;
            open_squat( &x );
            pin( &x, "wish", v3( away, 1.1, 0.4 ) );
            x.scene.constraints[0].hard = false;
            x.scene.constraints[0].weight = weight;
            solve( &x, NULL );
            check_calm( &x );
            close_scene( &x );
        }
}

// What can be reached by leaning over is reached.
static void leaning_is_reaching( void **state )
{
    (void)state;
    static const vec3 places[] = { { 0.3, 1.2, 0.3 }, { -0.3, 0.9, 0.9 }, { 0.1, 0.4, 0.5 } };
    for ( int i = 0; i < 3; ++i ) {
        take x;
        open_squat( &x );
        pin( &x, "near", places[i] );
        solve( &x, NULL );
        check_calm( &x );
        assert_false( report_of( &x, "near" )->gave_way );
        close_scene( &x );
    }
}

// Two places for one hand: it stays in the middle, or as near to that as it gets.
static void equals_meet_in_the_middle( void **state )
{
    (void)state;
    static const vec3 pairs[][2] = { { { -0.1, 1.2, 0.3 }, { -0.2, 0.9, 0.35 } },
                                     { { 0.3, 1.2, 0.3 }, { -1, 1.2, 0.3 } },
                                     { { 2, 1.2, 0.3 }, { -2.5, 1.4, 0.2 } },
                                     { { 2, 1.2, 0.3 }, { -0.2, 0.9, 0.35 } },
                                     { { 4, 1.2, 0.3 }, { 900, -3, 20 } } };
    for ( size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i ) {
        take x;
        open_squat( &x );
        pin( &x, "one", pairs[i][0] );
        pin( &x, "two", pairs[i][1] );
        solve( &x, NULL );
        check_calm( &x );
        const tr_rule_report *one = report_of( &x, "one" ), *two = report_of( &x, "two" );
        assert_true( one->gave_way && two->gave_way );
        if ( i < 3 )
            check_near( one->mean_mm, two->mean_mm, 1.0 );
        close_scene( &x );
    }
}

// A head and a partner's chest, bodies of other sizes: neither gives much, and they meet all the same.
static void stiff_links_are_met( void **state )
{
    (void)state;
    take x;
    open_squat( &x );
    x.scene.cast[0].target.scale = 0.8;
    x.scene.cast[1].target.scale = 1.2;
    tr_constraint c = tr_default_constraint( "stiff", TR_CONSTRAINT_RELATIVE );
    c.a = tr_point_joint( x.scene.cast[0].id, "Head" );
    c.b = tr_point_joint( x.scene.cast[1].id, "Chest" );
    assert_non_null( tr_scene_add_constraint( &x.scene, &c ) );
    solve( &x, NULL );
    const tr_rule_report *report = report_of( &x, "stiff" );
    print_message( "%.2f mm off\n", report->max_mm );
    assert_false( report->gave_way );
    check_bound( report->max_mm, STIFF_LINK_MM );
    close_scene( &x );
}

// Two points of one hand, farther apart than they are on the hand, at one place, one of them out of reach:
// both give way by as much, and nothing jumps.
static void two_points_of_a_hand_share( void **state )
{
    (void)state;
    static const vec3 places[][2] = { { { -0.1, 1.2, 0.3 }, { 0.3, 1.2, 0.3 } },
                                      { { -0.1, 1.2, 0.3 }, { -0.1, 1.2, 0.3 } },
                                      { { -0.1, 1.2, 0.3 }, { 3, 1, 0.3 } } };
    for ( int i = 0; i < 3; ++i ) {
        take x;
        open_squat( &x );
        pin( &x, "wrist", places[i][0] );
        pin( &x, "palm", places[i][1] );
        x.scene.constraints[1].a.offset = v3( 0.1, 0, 0 );
        solve( &x, NULL );
        check_calm( &x );
        const tr_rule_report *wrist = report_of( &x, "wrist" ), *palm = report_of( &x, "palm" );
        assert_true( wrist->gave_way && palm->gave_way );
        if ( i < 2 )
            check_near( wrist->mean_mm, palm->mean_mm, 1.0 );
        close_scene( &x );
    }
}

// A hand that hovers in the air is no contact with the ground: it stays there, and the log says so.
static void contacts_far_from_their_surface_are_told( void **state )
{
    (void)state;
    take x;
    tr_error error;
    tr_log warnings = { 0 };
    open_squat( &x );
    tr_constraint c = tr_default_constraint( "hover", TR_CONSTRAINT_CONTACT );
    c.a = tr_point_joint( x.scene.cast[0].id, "LeftHand" );
    c.first = 10;
    c.last = 15;
    assert_non_null( tr_scene_add_constraint( &x.scene, &c ) );
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, &warnings, &error ), &error );
    assert_int_equal( warnings.count, 1 );
    assert_non_null( strstr( warnings.lines[0], "contact hover is up to 0." ) );
    assert_non_null( strstr( warnings.lines[0], "in frames 10 to 15" ) );
    tr_log_free( &warnings );
    close_scene( &x );
}

// People of other sizes who stand as far apart as their legs are long, one in the axes of the other: where b
// turns a little, the place it keeps for a moves far.
static void long_offsets_turn_with_the_partner( void **state )
{
    (void)state;
    static const char *ends[][2] = { { "Hips", "Hips" }, { "Head", "Chest" } };
    for ( int i = 0; i < 2; ++i ) {
        take x;
        open_scene( &x, "box_relay", 3 );
        x.scene.constraint_count = x.scene.prop_count = 0;
        x.scene.first = 60;
        x.scene.last = 120;
        x.scene.cast[0].target.scale = 0.81;
        x.scene.cast[1].target.scale = 0.95;
        tr_constraint c = tr_default_constraint( "apart", TR_CONSTRAINT_RELATIVE );
        c.a = tr_point_joint( x.scene.cast[1].id, ends[i][0] );
        c.b = tr_point_joint( x.scene.cast[0].id, ends[i][1] );
        c.partner_space = true;
        assert_non_null( tr_scene_add_constraint( &x.scene, &c ) );
        solve( &x, NULL );
        const tr_rule_report *report = report_of( &x, "apart" );
        print_message( "%s: %.2f mm off\n", ends[i][0], report->max_mm );
        assert_true( !report->gave_way && report->max_mm <= 1.0 );
        check_bound( figure( &x, "rotation_spike_deg", "value" ), ROTATION_DEG );
        check_bound( figure( &x, "jerk_ratio", "value" ), REACH_JERK );
        close_scene( &x );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( farther_changes_nothing ),
        TEST( arms_reach_everywhere_without_flips ),
        TEST( legs_reach_everywhere_without_flips ),
        TEST( leaning_is_reaching ),
        TEST( soft_is_softer_than_hard ),
        TEST( equals_meet_in_the_middle ),
        TEST( stiff_links_are_met ),
        TEST( two_points_of_a_hand_share ),
        TEST( contacts_far_from_their_surface_are_told ),
        TEST( long_offsets_turn_with_the_partner ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
