// Skeletons and rotations from places of joints.
#include "captures.h"
#include "check.h"
#include "check_motion.h"

#include "format/format.h"
#include "motion/motion.h"

typedef struct seen { // points of a motion
    tr_points points;
    const char **names;
    int *parents;
    vec3 *places;
} seen;

// The joints of a motion without its end sites, which are leaves.
static void look_at( seen *out, const tr_motion *motion )
{
    tr_error error = { 0 };
    tr_world world = { 0 };
    const tr_skeleton *skeleton = &motion->skeleton;
    int joints = skeleton->joint_count, frames = motion->clip.frame_count, count = 0;
    int *index = tr_alloc( (size_t)joints, sizeof( int ) );
    *out = ( seen ){ .names = tr_alloc( (size_t)joints, sizeof( char * ) ),
                     .parents = tr_alloc( (size_t)joints, sizeof( int ) ),
                     .places = tr_alloc( (size_t)frames * (size_t)joints, sizeof( vec3 ) ) };
    check_ok( tr_world_build( &world, motion, &error ), &error );
    for ( int j = 0; j < joints; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        index[j] = joint->end_site ? -1 : count;
        if ( joint->end_site )
            continue;
        out->names[count] = joint->name;
        out->parents[count++] = joint->parent >= 0 ? index[joint->parent] : -1;
    }
    for ( int f = 0; f < frames; ++f )
        for ( int j = 0; j < joints; ++j )
            if ( index[j] >= 0 )
                out->places[(size_t)f * (size_t)count + (size_t)index[j]] =
                    tr_world_pose( &world, f ).positions[j];
    out->points = ( tr_points ){ out->names, out->parents, out->places, count, frames, motion->clip.fps };
    tr_world_free( &world );
    tr_free( index );
}

static void seen_free( seen *s )
{
    tr_free( s->names );
    tr_free( s->parents );
    tr_free( s->places );
}

static void load( tr_motion *motion, const char *name )
{
    char path[CAPTURE_PATH];
    tr_error error = { 0 };
    check_ok( tr_motion_load( motion, capture_path( path, name ), NULL, NULL, &error ), &error );
}

static void captures_are_met_exactly( void **state )
{
    (void)state;
    static const char *const files[] = { "walk.bvh", "lift.bvh", "shake_a.bvh", "shake_b.bvh" };
    for ( size_t i = 0; i < sizeof files / sizeof *files; ++i ) {
        tr_motion source, found;
        tr_points_fit fit;
        tr_error error = { 0 };
        seen s;
        load( &source, files[i] );
        look_at( &s, &source );
        check_ok( tr_motion_from_points( &found, &s.points, NULL, &fit, &error ), &error );
        check_ok( tr_motion_check( &found, &error ), &error );
        check_near( fit.most, 0, 1e-7 );
        assert_int_equal( found.clip.frame_count, source.clip.frame_count );
        for ( int j = 1; j < found.skeleton.joint_count; ++j ) {
            int twin = tr_skeleton_find( &source.skeleton, found.skeleton.joints[j].name );
            check_near( tr_bone_length( &found.skeleton, j ), tr_bone_length( &source.skeleton, twin ),
                        1e-9 );
            assert_int_equal( found.skeleton.joints[j].role, source.skeleton.joints[twin].role );
        }
        tr_motion_free( &found );
        tr_motion_free( &source );
        seen_free( &s );
    }
}

// At rest a person stands upright, arms held out, on the ground, and looks along +Z.
static void people_rest_with_their_arms_out( void **state )
{
    (void)state;
    tr_motion source, found;
    tr_error error = { 0 };
    seen s;
    load( &source, "walk.bvh" );
    tr_clip_place( &source.clip, ( rigid ){ q_axis_angle( v3_y, 2 ), v3( 3, 0, -4 ) } );
    look_at( &s, &source );
    check_ok( tr_motion_from_points( &found, &s.points, NULL, NULL, &error ), &error );
    const tr_skeleton *skeleton = &found.skeleton;
    int joint;
    for ( int side = TR_SIDE_LEFT; side <= TR_SIDE_RIGHT; ++side ) {
        double out = side == TR_SIDE_LEFT ? 1 : -1;
        static const tr_role arm[] = { TR_ROLE_FOREARM, TR_ROLE_HAND },
                             leg[] = { TR_ROLE_SHIN, TR_ROLE_FOOT };
        for ( int i = 0; i < 2; ++i ) {
            assert_int_equal( tr_skeleton_find_role( skeleton, arm[i], side, &joint, 1 ), 1 );
            check_v3( v3_unit( skeleton->joints[joint].offset ), v3( out, 0, 0 ), 1e-9 );
            assert_int_equal( tr_skeleton_find_role( skeleton, leg[i], side, &joint, 1 ), 1 );
            check_v3( v3_unit( skeleton->joints[joint].offset ), v3( 0, -1, 0 ), 1e-9 );
        }
        assert_true( tr_skeleton_find_role( skeleton, TR_ROLE_THIGH, side, &joint, 1 ) == 1 );
        assert_true( out * skeleton->joints[joint].offset.x > 0.02 );
    }
    tr_pose rest = { tr_alloc( (size_t)skeleton->joint_count, sizeof( quat ) ),
                     tr_alloc( (size_t)skeleton->joint_count, sizeof( vec3 ) ) };
    tr_forward_rest( skeleton, rest );
    double low = INFINITY;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        low = fmin( low, rest.positions[j].y );
    check_near( low, 0, 1e-9 );
    tr_free( rest.rotations );
    tr_free( rest.positions );
    tr_motion_free( &found );
    tr_motion_free( &source );
    seen_free( &s );
}

// A leg of two bones of 0.4 m below a pelvis; the knee is bent by an angle about an axis that is turned about
// the thigh, which hangs straight down.
static void make_leg( vec3 places[8], double bend, double turned )
{
    static const vec3 trunk[4] = { { 0, 1, 0 }, { 0.1, 0.9, 0 }, { -0.1, 0.9, 0 }, { 0, 1.5, 0 } };
    memcpy( places, trunk, sizeof trunk );
    for ( int side = 0; side < 2; ++side ) {
        vec3 shin = q_rotate( q_axis_angle( v3_x, bend ), v3( 0, -0.4, 0 ) );
        places[4 + side] = v3_add( places[1 + side], v3( 0, -0.4, 0 ) );
        places[6 + side] = v3_add( places[4 + side], q_rotate( q_axis_angle( v3_y, turned ), shin ) );
    }
}

static void knees_tell_how_thighs_are_twisted( void **state )
{
    (void)state;
    static const char *const names[] = { "Hips",    "LeftUpLeg", "RightUpLeg", "Head",
                                         "LeftLeg", "RightLeg",  "LeftFoot",   "RightFoot" };
    static const int parents[] = { -1, 0, 0, 0, 1, 2, 4, 5 };
    vec3 places[3][8];
    tr_points points = { names, parents, places[0], 8, 3, 30 };
    tr_motion found;
    tr_points_fit fit;
    tr_error error = { 0 };
    make_leg( places[0], 0, 0 );
    make_leg( places[1], TR_PI / 2, 0 );   // heels behind
    make_leg( places[2], TR_PI / 2, 0.5 ); // and turned about the thighs
    check_ok( tr_motion_from_points( &found, &points, NULL, &fit, &error ), &error );
    check_near( fit.most, 0, 1e-12 );
    const quat *rotations = tr_clip_frame( &found.clip, 1 );
    int thigh = tr_skeleton_find( &found.skeleton, "LeftUpLeg" ),
        shin = tr_skeleton_find( &found.skeleton, "LeftLeg" );
    check_rotation( rotations[0], q_identity, 1e-9 );
    check_rotation( rotations[thigh], q_identity, 1e-9 );
    check_rotation( rotations[shin], q_axis_angle( v3_x, TR_PI / 2 ), 1e-9 );
    // The angle a for which the normal of the bend, cos(a − 0.5), and the twist of the joint above, which
    // counts `straight` for either of two axes, are largest together.
    rotations = tr_clip_frame( &found.clip, 2 );
    double angle = atan2( sin( 0.5 ), cos( 0.5 ) + 2 * tr_default_points_def().straight );
    check_near( q_angle( rotations[thigh], q_axis_angle( v3_y, 0.5 ) ), 0.5 - angle, 1e-7 );
    tr_motion_free( &found );
}

// Noise on every coordinate: the fit has bones of one length and is as near as the noise is large.
static void noise_is_averaged( void **state )
{
    (void)state;
    tr_motion source, found;
    tr_points_fit fit;
    tr_error error = { 0 };
    seen s;
    const double noise = 0.01;
    load( &source, "walk.bvh" );
    look_at( &s, &source );
    uint64_t random = 7;
    size_t count = (size_t)s.points.joint_count * (size_t)s.points.frame_count;
    for ( size_t i = 0; i < count; ++i )
        s.places[i] = v3_add( s.places[i], random_vector( &random, noise ) );
    check_ok( tr_motion_from_points( &found, &s.points, NULL, &fit, &error ), &error );
    print_message( "points off by up to %.0f mm: missed by %.1f mm on average, %.1f mm at most\n",
                   1000 * noise, 1000 * fit.mean, 1000 * fit.most );
    assert_true( fit.mean < noise );
    for ( int j = 1; j < found.skeleton.joint_count; ++j ) {
        int twin = tr_skeleton_find( &source.skeleton, found.skeleton.joints[j].name );
        double length = tr_bone_length( &source.skeleton, twin ); // noise makes very short bones longer
        check_near( tr_bone_length( &found.skeleton, j ), length, length > 0.05 ? 0.002 : 2 * noise );
    }
    tr_motion_free( &found );
    tr_motion_free( &source );
    seen_free( &s );
}

// A chain whose joints have no names that mean anything, and one of whose bones has no length.
static void any_tree_will_do( void **state )
{
    (void)state;
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    static const int parents[] = { -1, 0, 1, 2, 2 };
    vec3 places[20][5];
    tr_points points = { names, parents, places[0], 5, 20, 24 };
    tr_motion found;
    tr_points_fit fit;
    tr_error error = { 0 };
    for ( int f = 0; f < 20; ++f ) {
        quat turn = q_from_vector( v3( 0.3 * f, 0.1 * f, 0.05 * f ) ), bend = q_axis_angle( v3_x, 0.1 * f );
        places[f][0] = v3( 0.1 * f, 0, 0 );
        places[f][1] = v3_add( places[f][0], q_rotate( turn, v3( 0, 1, 0 ) ) );
        places[f][2] = places[f][1];
        places[f][3] = v3_add( places[f][2], q_rotate( q_mul( turn, bend ), v3( 1, 1, 0 ) ) );
        places[f][4] = v3_add( places[f][2], q_rotate( q_mul( turn, bend ), v3( -1, 0.5, 0 ) ) );
    }
    check_ok( tr_motion_from_points( &found, &points, NULL, &fit, &error ), &error );
    check_ok( tr_motion_check( &found, &error ), &error );
    check_near( fit.most, 0, 1e-7 );
    tr_motion_free( &found );
}

static void every_allocation_may_fail( void **state )
{
    (void)state;
    static const char *const names[] = { "Hips", "Spine", "Head" };
    static const int parents[] = { -1, 0, 1 };
    const vec3 places[] = { { 0, 1, 0 }, { 0, 1.3, 0 }, { 0, 1.6, 0 } };
    tr_points points = { names, parents, places, 3, 1, 30 };
    bool done = false;
    for ( long n = 1; !done; ++n ) {
        tr_motion found;
        tr_error error = { 0 };
        tr_memory_fail_from( n );
        done = tr_motion_from_points( &found, &points, NULL, NULL, &error );
        tr_memory_fail_from( 0 );
        assert_true( done || error.message[0] != 0 );
        tr_motion_free( &found );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( captures_are_met_exactly ),
        TEST( people_rest_with_their_arms_out ),
        TEST( knees_tell_how_thighs_are_twisted ),
        TEST( noise_is_averaged ),
        TEST( any_tree_will_do ),
        TEST( every_allocation_may_fail ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
