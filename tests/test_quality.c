// What the default method promises, measured on the motion it gives: built-in scenes, bodies far from any
// source, and real captures where the folder given by TROUPE_DATA_DIR is there. docs/quality.md has the
// figures.
#include "io/io.h"
#include "soles.h"
#include "take.h"

// ------------------------------------------------------------------------------------------------- figures

static double source_figure( const take *x, const char *key, const char *name )
{
    return field_of( x, key, name )->source;
}

// ------------------------------------------------------------------------------------------------- limits

typedef struct bounds {
    double jerk, acceleration; // as ratios to the source
    double pose, smoothness;   // pose error and jerk as ratios to those of copy-ik
    double link;               // relative error beyond that of copy-ik, mm
} bounds;

static const bounds promised = { .jerk = 1.1, .acceleration = 1.5, .pose = 1.5, .smoothness = 1 };

// Bodies stay whole and move without pops.
static void check_whole( const take *x, const char *name, const bounds *most )
{
    print_message( "%s: jerk %.3f, acceleration %.2f, rotation %.1f°, skate %.2f of %.2f mm/s\n", name,
                   figure( x, "jerk_ratio", "value" ), figure( x, "acceleration_spike", "value" ),
                   figure( x, "rotation_spike_deg", "value" ), figure( x, "foot_skate_mm_s", "mean" ),
                   source_figure( x, "foot_skate_mm_s", "mean" ) );
    assert_true( figure( x, "bone_length_error_pct", "value" ) <= 1e-4 );
    assert_true( figure( x, "acceleration_spike", "value" ) <= most->acceleration );
    assert_true( figure( x, "rotation_spike_deg", "value" ) <= 20.0 );
    assert_true( figure( x, "contact_error_mm", "max" ) <= 1.0 );
    assert_true( figure( x, "contact_error_mm", "gave_way" ) == 0 );
    assert_true( figure( x, "foot_skate_mm_s", "mean" ) <=
                 fmax( ( 1 + 1e-6 ) * source_figure( x, "foot_skate_mm_s", "mean" ), 5.0 ) );
    assert_true( sole_tilt( &x->stage, &x->result ) <= 2.0 );
}

static void check_limits( const take *x, const char *name, const bounds *most )
{
    check_whole( x, name, most );
    assert_true( figure( x, "relative_error_mm", "max" ) <= 5.0 );
    assert_true( figure( x, "ground_penetration_mm", "max" ) <= 1.0 );
    assert_true( figure( x, "jerk_ratio", "value" ) <= most->jerk );
}

// copy-ik is smoother where it simply leaves feet in the air; where it does not, the default is.
static void check_against_baseline( const take *x, const char *name, int cast, const bounds *most )
{
    take baseline;
    open_scene( &baseline, name, cast );
    solve( &baseline, "copy-ik" );
    print_message( "    pose %.2f°, copy-ik %.2f°, its jerk %.3f\n", figure( x, "pose_error_deg", "value" ),
                   figure( &baseline, "pose_error_deg", "value" ),
                   figure( &baseline, "jerk_ratio", "value" ) );
    assert_true( figure( x, "pose_error_deg", "value" ) <=
                 most->pose * figure( &baseline, "pose_error_deg", "value" ) );
    assert_true( figure( x, "relative_error_mm", "max" ) <=
                 figure( &baseline, "relative_error_mm", "max" ) + most->link );
    assert_true( figure( x, "foot_skate_mm_s", "mean" ) <=
                 figure( &baseline, "foot_skate_mm_s", "mean" ) + 1e-3 );
    if ( figure( &baseline, "contact_error_mm", "max" ) <= 1.0 )
        assert_true( figure( x, "jerk_ratio", "value" ) <=
                     most->smoothness * figure( &baseline, "jerk_ratio", "value" ) );
    close_scene( &baseline );
}

static void check_scene( const char *name, int cast, const bounds *most )
{
    take x;
    open_scene( &x, name, cast );
    solve( &x, "posegraph" );
    check_limits( &x, name, most );
    check_against_baseline( &x, name, cast, most );
    close_scene( &x );
}

static void box_relay( void **state )
{
    (void)state;
    check_scene( "box_relay", 19, &promised );
}

static void squat_chain( void **state )
{
    (void)state;
    check_scene( "squat_chain", 24, &promised );
}

static void spider( void **state )
{
    (void)state;
    check_scene( "spider", 2, &promised );
}

static void wolf( void **state )
{
    (void)state;
    check_scene( "wolf", 2, &promised );
}

static void corridor( void **state )
{
    (void)state;
    check_scene( "corridor", 10, &promised );
}

static void high_five( void **state )
{
    (void)state;
    check_scene( "high_five", 2, &promised );
}

// Each has its sword to itself, and copy-ik moves nothing else: it meets the grip to the last bit. Both
// methods are smoother than the source.
static void sword_pair( void **state )
{
    (void)state;
    bounds most = promised;
    most.smoothness = 1.02;
    most.link = 1e-3;
    check_scene( "sword_pair", 2, &most );
}

static void mixed_cast( void **state )
{
    (void)state;
    bounds most = promised;
    most.link = 1e-3; // a box carried by one alone
    check_scene( "mixed_cast", 4, &most );
}

static void car_entry( void **state )
{
    (void)state;
    check_scene( "car_entry", 1, &promised );
}

// The same turns on arms that are much longer.
static void arm_circles( void **state )
{
    (void)state;
    check_scene( "arm_circles", 1,
                 &( bounds ){ .jerk = 1.76, .acceleration = 1.78, .pose = 1.5, .smoothness = 1.01 } );
}

// What couples in close hold come to; docs/quality.md says why it is more than is promised elsewhere.
static void judo_pair( void **state )
{
    (void)state;
    check_scene( "judo_pair", 2,
                 &( bounds ){ .jerk = 1.13, .acceleration = 1.5, .pose = 1.9, .smoothness = 1.09 } );
}

static void dance_pair( void **state )
{
    (void)state;
    check_scene( "dance_pair", 2,
                 &( bounds ){ .jerk = 1.14, .acceleration = 1.5, .pose = 2.1, .smoothness = 1.15 } );
}

static void equal_bodies_give_the_source_back( void **state )
{
    (void)state;
    const struct {
        const char *name;
        int cast;
    } scenes[] = {
        { "box_relay", 3 },   { "squat_chain", 3 }, { "spider", 1 },     { "wolf", 1 },
        { "corridor", 4 },    { "high_five", 2 },   { "sword_pair", 2 }, { "mixed_cast", 4 },
        { "arm_circles", 1 }, { "car_entry", 1 },   { "judo_pair", 2 },  { "dance_pair", 2 },
    };
    for ( size_t s = 0; s < sizeof scenes / sizeof *scenes; ++s ) {
        take x;
        open_scene( &x, scenes[s].name, scenes[s].cast );
        for ( int i = 0; i < x.scene.cast_count; ++i )
            x.scene.cast[i].target = tr_default_cast( "any" ).target;
        for ( int p = 0; p < x.scene.prop_count; ++p )
            x.scene.props[p].scale = 1;
        solve( &x, "posegraph" );
        assert_false( field_of( &x, "identity_error_m", "value" )->out_null );
        check_near( figure( &x, "identity_error_m", "value" ), 0, 1e-4 );
        close_scene( &x );
    }
}

// People, boxes and the way between them in one size: the same poses, whatever the size. The tables of the
// relay stay as they are, and who only brushes against them while holding a box does not mind.
static void everything_in_another_size_keeps_its_poses( void **state )
{
    (void)state;
    const double sizes[] = { 0.5, 1.6 };
    for ( int s = 0; s < 2; ++s ) {
        take x;
        open_scene( &x, "box_relay", 3 );
        for ( int i = 0; i < x.scene.cast_count; ++i ) {
            x.scene.cast[i].target = tr_default_cast( "any" ).target;
            x.scene.cast[i].target.scale = sizes[s];
        }
        for ( int p = 0; p < x.scene.prop_count; ++p )
            x.scene.props[p].scale = sizes[s];
        solve( &x, "posegraph" );
        check_limits( &x, "relay in another size", &promised );
        check_near( figure( &x, "pose_error_deg", "value" ), 0, 0.1 );
        close_scene( &x );
    }
}

// Without a target a place is the source's, in the size of the body.
static void places_of_the_source_fit_a_body_of_another_size( void **state )
{
    (void)state;
    const char *joints[] = { "Hips", "Head" };
    for ( int j = 0; j < 2; ++j ) {
        take x;
        open_scene( &x, "arm_circles", 1 );
        x.scene.cast[0].target = tr_default_cast( "any" ).target;
        x.scene.cast[0].target.scale = 0.7;
        tr_constraint place = tr_default_constraint( "place", TR_CONSTRAINT_ABSOLUTE );
        place.a = tr_point_joint( x.scene.cast[0].id, joints[j] );
        assert_non_null( tr_scene_add_constraint( &x.scene, &place ) );
        solve( &x, "posegraph" );
        assert_true( x.result.reports[x.scene.constraint_count - 1].max_mm < 1.0 );
        check_near( figure( &x, "pose_error_deg", "value" ), 0, 0.1 );
        close_scene( &x );
    }
}

// ----------------------------------------------------------------------------------------------- far bodies

static tr_target body_with( const char *limb, double factor )
{
    tr_target target = tr_default_cast( "any" ).target;
    snprintf( target.limbs[0].limb, sizeof target.limbs[0].limb, "%s", limb );
    target.limbs[0].value = factor;
    target.limb_count = 1;
    return target;
}

static void spider_with_two_legs_doubled( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "spider", 1 );
    tr_target *target = &x.scene.cast[0].target;
    *target = body_with( "left_leg_1", 2 );
    target->limbs[1] = body_with( "right_leg_3", 2 ).limbs[0];
    target->limb_count = 2;
    solve( &x, "posegraph" );
    check_limits( &x, "spider, two legs doubled", &promised );
    close_scene( &x );
}

static void wolf_with_tripled_neck( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "wolf", 1 );
    x.scene.cast[0].target = body_with( "head", 3 );
    solve( &x, "posegraph" );
    check_limits( &x, "wolf, neck tripled", &promised );
    close_scene( &x );
}

// ------------------------------------------------------------------------------------------------ captures

typedef struct capture {
    const char *files[3];
    double unit; // 0: as guessed
    int first;   // frame of the files
} capture;

static const capture captures[] = {
    { { "cmu-single/16_08.bvh" }, 0.05644, 1 },
    { { "cmu-single/85_02.bvh" }, 0.05644, 481 },
    { { "cmu-pairs/20_02.bvh", "cmu-pairs/21_02.bvh" }, 0.05644, 1 },
    { { "bandai-nc/dataset-1_walk_normal_001.bvh" }, 0, 0 },
    { { "human-misc/xia_neutral_16_000.bvh" }, 0, 0 },
    { { "human-misc/pirouette.bvh" }, 0, 0 },
    { { "geno/Geno_stance.bvh" }, 0, 0 },
    { { "trio-perfume/A_test.bvh", "trio-perfume/B_test.bvh", "trio-perfume/C_test.bvh" }, 0, 521 },
};

static void check_capture( const capture *c, const tr_target *target )
{
    take x = { .scene = tr_default_scene() };
    x.scene.fps = 30;
    x.scene.last = 60;
    for ( int i = 0; i < 3 && c->files[i] != NULL; ++i ) {
        char id[8];
        snprintf( id, sizeof id, "p%d", i );
        tr_cast cast = tr_default_cast( id );
        snprintf( cast.source.file, sizeof cast.source.file, "%s/%s", TROUPE_DATA_DIR, c->files[i] );
        cast.source.unit = c->unit;
        cast.source.first = c->first;
        cast.target = *target;
        assert_non_null( tr_scene_add_cast( &x.scene, &cast ) );
    }
    solve( &x, "posegraph" );
    check_whole( &x, c->files[0], &promised );
    close_scene( &x );
}

static void captures_in_other_bodies( void **state )
{
    (void)state;
    if ( !tr_file_exists( TROUPE_DATA_DIR ) ) {
        print_message( "there is no folder %s; set TROUPE_DATA_DIR to test with real motion files\n",
                       TROUPE_DATA_DIR );
        skip();
    }
    tr_target bodies[] = { tr_default_cast( "any" ).target, tr_default_cast( "any" ).target,
                           body_with( "arms", 1.4 ), body_with( "legs", 0.7 ) };
    bodies[0].scale = 0.6;
    bodies[1].scale = 1.5;
    for ( size_t c = 0; c < sizeof captures / sizeof *captures; ++c )
        for ( size_t b = 0; b < sizeof bodies / sizeof *bodies; ++b )
            check_capture( &captures[c], &bodies[b] );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( box_relay ),
        TEST( squat_chain ),
        TEST( spider ),
        TEST( wolf ),
        TEST( corridor ),
        TEST( high_five ),
        TEST( sword_pair ),
        TEST( mixed_cast ),
        TEST( car_entry ),
        TEST( arm_circles ),
        TEST( judo_pair ),
        TEST( dance_pair ),
        TEST( equal_bodies_give_the_source_back ),
        TEST( everything_in_another_size_keeps_its_poses ),
        TEST( places_of_the_source_fit_a_body_of_another_size ),
        TEST( spider_with_two_legs_doubled ),
        TEST( wolf_with_tripled_neck ),
        TEST( captures_in_other_bodies ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
