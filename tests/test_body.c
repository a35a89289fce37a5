#include "check_motion.h"

#include <string.h>

static const struct {
    const char *name;
    int parent;
    vec3 offset;
} human_rows[] = {
    { "Hips", -1, { 0, 0.95, 0 } },
    { "Spine", 0, { 0, 0.12, 0 } },
    { "Chest", 1, { 0, 0.2, 0 } },
    { "Neck", 2, { 0, 0.2, 0 } },
    { "Head", 3, { 0, 0.09, 0.02 } },
    { "Head_End", 4, { 0, 0.17, 0 } },
    { "LeftShoulder", 2, { 0.03, 0.14, 0 } },
    { "LeftArm", 6, { 0.15, 0, 0 } },
    { "LeftForeArm", 7, { 0.3, 0, 0 } },
    { "LeftHand", 8, { 0.26, 0, 0 } },
    { "LeftHand_End", 9, { 0.18, 0, 0 } },
    { "RightShoulder", 2, { -0.03, 0.14, 0 } },
    { "RightArm", 11, { -0.15, 0, 0 } },
    { "RightForeArm", 12, { -0.3, 0, 0 } },
    { "RightHand", 13, { -0.26, 0, 0 } },
    { "RightHand_End", 14, { -0.18, 0, 0 } },
    { "LeftUpLeg", 0, { 0.09, -0.05, 0 } },
    { "LeftLeg", 16, { 0, -0.42, 0 } },
    { "LeftFoot", 17, { 0, -0.41, 0 } },
    { "LeftToe", 18, { 0, -0.06, 0.13 } },
    { "RightUpLeg", 0, { -0.09, -0.05, 0 } },
    { "RightLeg", 20, { 0, -0.42, 0 } },
    { "RightFoot", 21, { 0, -0.41, 0 } },
    { "RightToe", 22, { 0, -0.06, 0.13 } },
};

static tr_skeleton make_human( void )
{
    tr_skeleton s = { 0 };
    for ( size_t i = 0; i < sizeof human_rows / sizeof human_rows[0]; ++i )
        tr_skeleton_add( &s, human_rows[i].name, human_rows[i].parent, human_rows[i].offset );
    tr_error error;
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    return s;
}

static double radius_of( const tr_body *body, const tr_skeleton *s, const char *parent, const char *joint )
{
    int p = tr_skeleton_find( s, parent ), j = tr_skeleton_find( s, joint );
    for ( int i = 0; i < body->capsule_count; ++i )
        if ( body->capsules[i].parent == p && body->capsules[i].joint == j )
            return body->capsules[i].radius;
    fail_msg( "no capsule from %s to %s", parent, joint );
    return 0;
}

static void check_body( const tr_body *body, const tr_skeleton *s )
{
    double sum = 0;
    for ( int j = 0; j < s->joint_count; ++j ) {
        assert_true( isfinite( body->masses[j] ) && body->masses[j] >= 0 );
        sum += body->masses[j];
    }
    check_near( sum, body->total_mass, 1e-9 * sum );
    assert_true( sum > 0 && body->capsule_count >= 1 );
    for ( int i = 0; i < body->capsule_count; ++i ) {
        const tr_capsule *c = &body->capsules[i];
        assert_true( isfinite( c->radius ) && c->radius > 0 && v3_finite( c->a ) && v3_finite( c->b ) );
        assert_true( c->joint == c->parent || s->joints[c->joint].parent == c->parent );
    }
}

static void human_tapers( void **state )
{
    (void)state;
    tr_skeleton s = make_human();
    tr_body body;
    tr_error error;
    check_ok( tr_body_build( &body, &s, NULL, 0, &error ), &error );
    check_body( &body, &s );
    double chest = radius_of( &body, &s, "Chest", "Neck" ),
           thigh = radius_of( &body, &s, "LeftUpLeg", "LeftLeg" );
    double shin = radius_of( &body, &s, "LeftLeg", "LeftFoot" ),
           head = radius_of( &body, &s, "Head", "Head" );
    double upper = radius_of( &body, &s, "LeftArm", "LeftForeArm" );
    double fore = radius_of( &body, &s, "LeftForeArm", "LeftHand" );
    double hand = radius_of( &body, &s, "LeftHand", "LeftHand_End" );
    assert_true( chest > thigh && thigh > shin && shin > fore && upper > fore && fore > hand );
    assert_true( head > 0.08 && head < 0.12 ); // metres, for a body of 1.73
    assert_true( chest > 0.1 && chest < 0.16 );
    check_near( radius_of( &body, &s, "RightUpLeg", "RightLeg" ), thigh, 0 );
    // The top of the skull is the end of the head.
    for ( int i = 0; i < body.capsule_count; ++i )
        if ( body.capsules[i].joint == 4 && body.capsules[i].parent == 4 )
            check_near( body.capsules[i].a.y + body.capsules[i].radius, 0.17, 1e-12 );
    tr_body_free( &body );
    tr_skeleton_free( &s );
}

static void human_weighs_by_the_book( void **state )
{
    (void)state;
    tr_skeleton s = make_human();
    tr_body body;
    tr_error error;
    check_ok( tr_body_build( &body, &s, NULL, 0, &error ), &error );
    // 12.5 kg/m³ · stature³; from toe to top of head: 0.06 + 0.41 + 0.42 + 0.05 + 0.12 + 0.2 + 0.2 + 0.09 +
    // 0.17
    double whole = 12.5 * pow( 1.72, 3 );
    check_near( body.total_mass, whole, 0.01 * whole );
    // A shank of 4.65 % between knee and ankle: half of it at the ankle, with half of the foot's 1.45 %.
    check_near( body.masses[18], whole * ( 0.0465 + 0.0145 ) / 2, 0.01 * whole * 0.03 );
    // Standing: the centre of mass lies in the middle plane, near the pelvis.
    vec3 positions[24];
    quat rotations[24];
    tr_pose pose = { rotations, positions };
    tr_forward_rest( &s, pose );
    vec3 com = tr_body_centre_of_mass( &body, &s, pose );
    check_near( com.x, 0, 1e-12 );
    assert_true( com.y > 0.9 && com.y < 1.15 );
    tr_body_free( &body );
    tr_skeleton_free( &s );
}

static void girth_thickens_one_limb( void **state )
{
    (void)state;
    tr_skeleton s = make_human();
    const tr_limb_value girths[] = { { "all", 1.1 }, { "legs", 1.5 }, { "left_leg", 2.0 } };
    tr_body plain, thick;
    tr_error error;
    check_ok( tr_body_build( &plain, &s, NULL, 0, &error ), &error );
    check_ok( tr_body_build( &thick, &s, girths, 3, &error ), &error );
    const char *const bones[3][2] = {
        { "LeftUpLeg", "LeftLeg" }, { "RightUpLeg", "RightLeg" }, { "LeftArm", "LeftForeArm" } };
    const double factors[3] = { 2.0, 1.5, 1.1 };
    for ( int i = 0; i < 3; ++i )
        check_near( radius_of( &thick, &s, bones[i][0], bones[i][1] ),
                    factors[i] * radius_of( &plain, &s, bones[i][0], bones[i][1] ), 1e-15 );
    assert_true( thick.total_mass > 1.2 * plain.total_mass );
    tr_body_free( &plain );
    tr_body_free( &thick );
    tr_skeleton_free( &s );
}

// Twice the size: twice the radii, eight times the mass.
static void bodies_scale( void **state )
{
    (void)state;
    tr_skeleton s = make_human(), big;
    tr_body_scale scale = tr_default_body_scale();
    scale.scale = 2;
    tr_body body, big_body;
    tr_error error;
    check_ok( tr_skeleton_scaled( &big, &s, &scale, &error ), &error );
    check_ok( tr_body_build( &body, &s, NULL, 0, &error ), &error );
    check_ok( tr_body_build( &big_body, &big, NULL, 0, &error ), &error );
    assert_int_equal( body.capsule_count, big_body.capsule_count );
    for ( int i = 0; i < body.capsule_count; ++i )
        check_near( big_body.capsules[i].radius, 2 * body.capsules[i].radius, 1e-12 );
    check_near( big_body.total_mass, 8 * body.total_mass, 1e-9 );
    tr_body_free( &body );
    tr_body_free( &big_body );
    tr_skeleton_free( &s );
    tr_skeleton_free( &big );
}

static void known_volume( void **state )
{
    (void)state;
    // One bone of 1 m: radius 0.06, so π r² l + 4/3 π r³ cubic metres of water.
    tr_skeleton s = { 0 };
    tr_skeleton_add( &s, "a", -1, v3_zero );
    tr_skeleton_add( &s, "b", 0, v3( 1, 0, 0 ) );
    tr_error error;
    tr_body body;
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_body_build( &body, &s, NULL, 0, &error ), &error );
    double r = 0.06, mass = 1000 * TR_PI * ( r * r + 4.0 / 3.0 * r * r * r );
    assert_int_equal( body.capsule_count, 1 );
    check_near( body.capsules[0].radius, r, 1e-15 );
    check_near( body.total_mass, mass, 1e-10 );
    check_near( body.masses[0], mass / 2, 1e-10 );
    check_near( body.masses[1], mass / 2, 1e-10 );
    vec3 positions[2] = { { 0, 0, 0 }, { 1, 0, 0 } };
    check_v3( tr_body_centre_of_mass( &body, &s, ( tr_pose ){ NULL, positions } ), v3( 0.5, 0, 0 ), 1e-15 );
    tr_body_free( &body );
    tr_skeleton_free( &s );
}

static void degenerate_bodies( void **state )
{
    (void)state;
    tr_error error;
    tr_body body;
    tr_skeleton s = { 0 };
    tr_skeleton_add( &s, "only", -1, v3_zero );                      // one joint: a ball
    check_ok( tr_body_build( &body, &s, NULL, 0, &error ), &error ); // not even classified
    check_body( &body, &s );
    assert_int_equal( body.capsules[0].joint, 0 );
    tr_body_free( &body );
    for ( int j = 1; j < 200; ++j ) // all in one place
        tr_skeleton_add( &s, "more", j - 1, v3_zero );
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_body_build( &body, &s, NULL, 0, &error ), &error );
    check_body( &body, &s );
    tr_body_free( &body );
    for ( int j = 200; j < 5000; ++j ) // a rope
        tr_skeleton_add( &s, "more", j - 1, v3( 0, 0.01, 0 ) );
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_body_build( &body, &s, NULL, 0, &error ), &error );
    check_body( &body, &s );
    tr_body_free( &body );
    tr_skeleton_free( &s );
}

static void out_of_memory( void **state )
{
    (void)state;
    tr_skeleton s = make_human();
    for ( long n = 1, done = 0; !done; ++n ) {
        tr_body body;
        tr_error error = { 0 };
        size_t live = tr_memory_live();
        tr_memory_fail_from( n );
        done = tr_body_build( &body, &s, NULL, 0, &error );
        tr_memory_fail_from( 0 );
        assert_true( done || strcmp( error.message, "out of memory" ) == 0 );
        if ( done )
            tr_body_free( &body );
        assert_int_equal( tr_memory_live(), live );
    }
    tr_skeleton_free( &s );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( human_tapers ),
        TEST( human_weighs_by_the_book ),
        TEST( girth_thickens_one_limb ),
        TEST( bodies_scale ),
        TEST( known_volume ),
        TEST( degenerate_bodies ),
        TEST( out_of_memory ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
