// The spider and the wolf: what their bodies are, and that they walk without sliding, sinking or jumping.
#include "check.h"

#include "scenes/scenes.h"

#include <string.h>

typedef struct beast {
    tr_scene scene;
    tr_library library;
    const tr_motion *motion; // the one looked at
    tr_world world;
} beast;

// Looks at another of the cast.
static void look_at( beast *b, int index )
{
    tr_error error;
    tr_world_free( &b->world );
    b->motion = tr_library_find( &b->library, b->scene.cast[index].source.file );
    assert_non_null( b->motion );
    check_ok( tr_world_build( &b->world, b->motion, &error ), &error );
}

static beast make( const char *name, int cast )
{
    beast b = { 0 };
    tr_error error;
    check_ok( tr_scene_build( tr_scene_entry_find( name ), cast, &b.scene, &b.library, &error ), &error );
    look_at( &b, 0 );
    return b;
}

static void drop( beast *b )
{
    tr_world_free( &b->world );
    tr_library_free( &b->library );
    tr_scene_free( &b->scene );
}

static const tr_joint *joint( const beast *b, const char *name )
{
    int j = tr_skeleton_find( &b->motion->skeleton, name );
    if ( j < 0 )
        print_error( "no joint %s\n", name );
    assert_true( j >= 0 );
    return &b->motion->skeleton.joints[j];
}

static void check_part( const beast *b, const char *name, tr_role role, const char *limb )
{
    const tr_joint *j = joint( b, name );
    if ( j->role != role || strcmp( b->motion->skeleton.limbs[j->limb].name, limb ) != 0 )
        print_error( "%s: role %d, limb %s\n", name, j->role, b->motion->skeleton.limbs[j->limb].name );
    assert_int_equal( j->role, role );
    assert_string_equal( b->motion->skeleton.limbs[j->limb].name, limb );
}

static vec3 place( const beast *b, int j, int frame )
{
    return tr_world_pose( &b->world, frame ).positions[j];
}

// Height of the ground or the step at a place.
static double ground( const beast *b, vec3 p )
{
    for ( int i = 0; i < b->scene.obstacle_count; ++i ) {
        const tr_obstacle *o = &b->scene.obstacles[i];
        if ( fabs( p.x - o->position.x ) < 0.5 * o->size.x && fabs( p.z - o->position.z ) < 0.5 * o->size.z )
            return o->position.y + 0.5 * o->size.y;
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------- bodies

static void spider_has_48_joints( void **state )
{
    (void)state;
    tr_error error;
    beast b = make( "spider", 1 );
    check_ok( tr_motion_check( b.motion, &error ), &error );
    assert_int_equal( b.motion->skeleton.joint_count, 48 );
    check_part( &b, "Body", TR_ROLE_ROOT, "torso" );
    for ( int i = 0; i < 8; ++i ) {
        char limb[16], name[16];
        int pair = i / 2 + 1;
        snprintf( limb, sizeof limb, "%s_leg_%d", i % 2 == 0 ? "left" : "right", pair );
        snprintf( name, sizeof name, "%c%dFemur", "LR"[i % 2], pair );
        check_part( &b, name, TR_ROLE_THIGH, limb );
        snprintf( name, sizeof name, "%c%dTibia", "LR"[i % 2], pair );
        check_part( &b, name, TR_ROLE_SHIN, limb );
        snprintf( name, sizeof name, "%c%dTip_End", "LR"[i % 2], pair );
        check_part( &b, name, TR_ROLE_TOE, limb );
    }
    drop( &b );
}

static void wolf_has_108_joints( void **state )
{
    (void)state;
    tr_error error;
    beast b = make( "wolf", 1 );
    check_ok( tr_motion_check( b.motion, &error ), &error );
    assert_int_equal( b.motion->skeleton.joint_count, 108 );
    check_part( &b, "Hips", TR_ROLE_ROOT, "torso" );
    check_part( &b, "Spine4", TR_ROLE_SPINE, "torso" );
    check_part( &b, "Neck2", TR_ROLE_NECK, "head" );
    check_part( &b, "Head", TR_ROLE_HEAD, "head" );
    check_part( &b, "RightEar2", TR_ROLE_EAR, "head" );
    check_part( &b, "Tail9", TR_ROLE_TAIL, "tail" );
    check_part( &b, "LeftFrontUpper", TR_ROLE_THIGH, "left_leg_1" );
    check_part( &b, "LeftFrontLower", TR_ROLE_SHIN, "left_leg_1" );
    check_part( &b, "LeftFrontPaw", TR_ROLE_FOOT, "left_leg_1" );
    check_part( &b, "RightHindHock", TR_ROLE_SHIN, "right_leg_2" );
    check_part( &b, "RightHindPaw", TR_ROLE_FOOT, "right_leg_2" );
    check_part( &b, "LeftHindToe3B_End", TR_ROLE_TOE, "left_leg_2" );
    drop( &b );
}

// The rest pose stands on the ground, faces +Z and has its left at +X.
static void rest_poses_stand( void **state )
{
    (void)state;
    const char *names[] = { "spider", "wolf" }, *ahead[] = { "LeftPalp", "Head" };
    const char *left[] = { "L2Tip", "LeftFrontPaw" };
    for ( int n = 0; n < 2; ++n ) {
        beast b = make( names[n], 1 );
        quat rotations[160];
        vec3 positions[160];
        tr_forward_rest( &b.motion->skeleton, ( tr_pose ){ rotations, positions } );
        double low = 1;
        for ( int j = 0; j < b.motion->skeleton.joint_count; ++j )
            low = fmin( low, positions[j].y );
        check_near( low, 0, 0.005 );
        assert_true( positions[tr_skeleton_find( &b.motion->skeleton, ahead[n] )].z > 0.05 );
        assert_true( positions[tr_skeleton_find( &b.motion->skeleton, left[n] )].x > 0.05 );
        drop( &b );
    }
}

// -------------------------------------------------------------------------------------------- motions

// Whether a joint is at exactly its standing height over the ground.
static bool is_standing( const beast *b, int j, double height, int frame )
{
    vec3 p = place( b, j, frame );
    return fabs( p.y - ground( b, p ) - height ) < 1e-5;
}

// A joint that is standing now and in the frames around (a swing passes that height for a moment) may not
// move. Returns the share of frames it is planted in.
static double check_planted( const beast *b, const char *name, double height )
{
    int j = tr_skeleton_find( &b->motion->skeleton, name ), planted = 0, run = 0;
    assert_true( j >= 0 );
    for ( int f = 0; f < b->world.frame_count; ++f ) {
        run = is_standing( b, j, height, f ) ? run + 1 : 0;
        if ( f > 0 && v3_distance( place( b, j, f ), place( b, j, f - 1 ) ) < 1e-9 )
            assert_true( run > 0 ); // what stands still stands on something
        if ( run < 3 )
            continue;
        vec3 p = place( b, j, f - 2 ), q = place( b, j, f - 1 );
        double speed = b->motion->clip.fps * hypot( q.x - p.x, q.z - p.z );
        if ( speed > 0.005 )
            print_error( "%s slides at %.4f m/s in frame %d\n", name, speed, f - 2 );
        assert_true( speed <= 0.005 );
        planted++;
    }
    return (double)planted / b->world.frame_count;
}

static void spider_feet_do_not_slide( void **state )
{
    (void)state;
    const int casts[] = { 1, 12 };
    for ( int n = 0; n < 2; ++n ) {
        beast b = make( "spider", casts[n] );
        for ( int i = 0; i < 8 * casts[n]; ++i ) {
            if ( i % 8 == 0 )
                look_at( &b, i / 8 );
            char name[16];
            snprintf( name, sizeof name, "%c%dTip_End", "LR"[i % 2], i % 8 / 2 + 1 );
            assert_true( check_planted( &b, name, 0 ) > 0.45 );
        }
        drop( &b );
    }
}

static void wolf_paws_do_not_slide( void **state )
{
    (void)state;
    const char *paws[] = { "LeftFrontPaw", "RightFrontPaw", "LeftHindPaw", "RightHindPaw" };
    beast b = make( "wolf", 1 );
    quat rotations[160];
    vec3 positions[160];
    tr_forward_rest( &b.motion->skeleton, ( tr_pose ){ rotations, positions } );
    for ( int i = 0; i < 4; ++i ) {
        double height = positions[tr_skeleton_find( &b.motion->skeleton, paws[i] )].y;
        double share = check_planted( &b, paws[i], height ); // the rest of the stance the paw rolls
        assert_true( share > 0.2 && share < 0.6 );
        char toe[32]; // toes are planted all through the stance
        snprintf( toe, sizeof toe, "%.*sToe2B_End", (int)strlen( paws[i] ) - 3, paws[i] );
        height = positions[tr_skeleton_find( &b.motion->skeleton, toe )].y;
        double toe_share = check_planted( &b, toe, height );
        assert_true( toe_share > share && toe_share > 0.35 && toe_share < 0.7 );
    }
    drop( &b );
}

static void check_above_ground( const beast *b )
{
    for ( int f = 0; f < b->world.frame_count; ++f )
        for ( int j = 0; j < b->world.joint_count; ++j ) {
            vec3 p = place( b, j, f );
            if ( p.y < ground( b, p ) - 0.01 )
                print_error( "%s is %.3f m deep in frame %d\n", b->motion->skeleton.joints[j].name,
                             ground( b, p ) - p.y, f );
            assert_true( p.y >= ground( b, p ) - 0.01 );
        }
}

static void nothing_sinks( void **state )
{
    (void)state;
    const char *names[] = { "spider", "wolf" };
    for ( int n = 0; n < 2; ++n ) {
        beast b = make( names[n], 12 );
        for ( int i = 0; i < 12; ++i ) {
            look_at( &b, i );
            check_above_ground( &b );
        }
        drop( &b );
    }
}

// Turning speed of every joint against its parent, and acceleration of every joint in the world.
static void check_smooth( const beast *b, double most_turn, double most_acceleration )
{
    const tr_clip *clip = &b->motion->clip;
    double fps = clip->fps;
    for ( int f = 1; f + 1 < clip->frame_count; ++f )
        for ( int j = 0; j < clip->joint_count; ++j ) {
            double turn = fps * q_angle( tr_clip_frame( clip, f )[j], tr_clip_frame( clip, f + 1 )[j] );
            vec3 bend = v3_sub( v3_add( place( b, j, f - 1 ), place( b, j, f + 1 ) ),
                                v3_scale( 2, place( b, j, f ) ) );
            double acceleration = fps * fps * v3_length( bend );
            if ( turn > most_turn || acceleration > most_acceleration )
                print_error( "%s turns at %.1f rad/s, %.0f m/s² in frame %d\n",
                             b->motion->skeleton.joints[j].name, turn, acceleration, f );
            assert_true( turn <= most_turn && acceleration <= most_acceleration );
        }
}

static void nothing_jumps( void **state )
{
    (void)state;
    const char *names[] = { "spider", "wolf" };
    const double turns[] = { 14, 26 }, accelerations[] = { 110, 150 };
    for ( int n = 0; n < 2; ++n ) {
        beast b = make( names[n], 12 );
        for ( int i = 0; i < 12; ++i ) {
            look_at( &b, i );
            check_smooth( &b, turns[n], accelerations[n] );
        }
        drop( &b );
    }
}

// A swinging leg passes the one that stands beside it without touching.
static void wolf_legs_keep_apart( void **state )
{
    (void)state;
    const char *paws[2][2] = { { "LeftFrontPaw", "RightFrontPaw" }, { "LeftHindPaw", "RightHindPaw" } };
    beast b = make( "wolf", 1 );
    for ( int pair = 0; pair < 2; ++pair ) {
        int left = tr_skeleton_find( &b.motion->skeleton, paws[pair][0] );
        int right = tr_skeleton_find( &b.motion->skeleton, paws[pair][1] );
        for ( int f = 0; f < b.world.frame_count; ++f )
            assert_true( v3_distance( place( &b, left, f ), place( &b, right, f ) ) > 0.08 );
    }
    drop( &b );
}

// ------------------------------------------------------------------------------------------- behaviour

static void spider_arches_and_climbs( void **state )
{
    (void)state;
    beast b = make( "spider", 1 );
    int body = tr_skeleton_find( &b.motion->skeleton, "Body" );
    double top = b.scene.obstacles[0].position.y + 0.5 * b.scene.obstacles[0].size.y, most = 0, up = 0,
           down = 0;
    for ( int f = 0; f < b.world.frame_count; ++f ) {
        tr_pose pose = tr_world_pose( &b.world, f );
        for ( int i = 0; i < 8; ++i ) { // the knees are the highest points of a spider
            char name[16];
            snprintf( name, sizeof name, "%c%dTibia", "LR"[i % 2], i / 2 + 1 );
            int knee = tr_skeleton_find( &b.motion->skeleton, name );
            assert_true( pose.positions[knee].y > pose.positions[body].y );
        }
        double pitch = asin( q_rotate( pose.rotations[body], v3_z ).y );
        up = fmax( up, pitch );
        down = fmin( down, pitch );
        most = fmax( most, pose.positions[body].y );
    }
    assert_true( most > top + 0.1 ); // over the step
    assert_true( up > 0.15 && down < -0.15 );
    vec3 way = v3_sub( place( &b, body, b.world.frame_count - 1 ), place( &b, body, 0 ) );
    assert_true( way.z > 1.9 && place( &b, body, b.world.frame_count - 1 ).y < 0.2 );
    drop( &b );
}

// Whether a paw is down, from its height over the rest pose's.
static bool is_down( const beast *b, const char *name, int frame )
{
    return place( b, tr_skeleton_find( &b->motion->skeleton, name ), frame ).y < 0.0421;
}

// In the walk the legs of a pair overlap and at least two paws are down; in the trot diagonal legs go
// together.
static void wolf_walks_then_trots( void **state )
{
    (void)state;
    const char *paws[] = { "LeftFrontPaw", "RightFrontPaw", "LeftHindPaw", "RightHindPaw" };
    beast b = make( "wolf", 1 );
    int together[2] = { 0, 0 }, frames[2] = { 0, 0 };
    for ( int f = 0; f < b.world.frame_count; ++f ) {
        double time = f / b.motion->clip.fps;
        int gait = time < 2.5 ? 0 : time > 4.5 ? 1 : -1;
        if ( gait < 0 )
            continue;
        together[gait] += is_down( &b, paws[0], f ) == is_down( &b, paws[3], f );
        frames[gait]++;
    }
    assert_true( together[0] < 0.75 * frames[0] );
    assert_true( together[1] > 0.85 * frames[1] );
    int hips = tr_skeleton_find( &b.motion->skeleton, "Hips" );
    double walk = v3_distance( place( &b, hips, 30 ), place( &b, hips, 45 ) ) * 2;
    double trot = v3_distance( place( &b, hips, 180 ), place( &b, hips, 195 ) ) * 2;
    check_near( walk, 0.95, 0.1 );
    check_near( trot, 1.95, 0.15 );
    drop( &b );
}

// -------------------------------------------------------------------------------------------- documents

static void packs_keep_apart( void **state )
{
    (void)state;
    const char *names[] = { "spider", "wolf" };
    for ( int n = 0; n < 2; ++n ) {
        tr_error error;
        beast b = make( names[n], 12 );
        assert_int_equal( b.scene.cast_count, 12 );
        check_ok( tr_scene_check( &b.scene, NULL, &error ), &error );
        for ( int i = 0; i < 12; ++i ) {
            const tr_cast *a = &b.scene.cast[i];
            assert_true( a->target.scale >= 0.7 && a->target.scale <= 1.3 );
            const tr_clip *clip = &tr_library_find( &b.library, a->source.file )->clip;
            for ( int k = 0; k < i; ++k ) {
                const tr_cast *c = &b.scene.cast[k];
                const tr_clip *other = &tr_library_find( &b.library, c->source.file )->clip;
                for ( int f = 0; f < clip->frame_count; f += 5 ) {
                    vec3 p = v3_add( clip->root[f], a->position ), q = v3_add( other->root[f], c->position );
                    assert_true( v3_distance( p, q ) > 1.2 );
                }
            }
        }
        drop( &b );
    }
}

// Through a motion file and back: the same joints with the same parts, at the same places.
static void files_keep_the_body( void **state )
{
    (void)state;
    const char *names[] = { "spider", "wolf" };
    for ( int n = 0; n < 2; ++n ) {
        tr_error error;
        tr_bvh bvh;
        tr_motion back;
        tr_world world;
        beast b = make( names[n], 1 );
        tr_bvh_import import = tr_default_bvh_import();
        import.unit = 0.01;
        import.up = 'y';
        check_ok( tr_bvh_from_motion( &bvh, b.motion, NULL, NULL, &error ), &error );
        check_ok( tr_bvh_to_motion( &back, &bvh, &import, &error ), &error );
        check_ok( tr_world_build( &world, &back, &error ), &error );
        assert_int_equal( back.skeleton.joint_count, b.motion->skeleton.joint_count );
        for ( int j = 0; j < world.joint_count; ++j ) {
            const tr_joint *was = &b.motion->skeleton.joints[j], *is = &back.skeleton.joints[j];
            assert_string_equal( is->name, was->name );
            assert_int_equal( is->role, was->role );
            check_v3( tr_world_pose( &world, 200 ).positions[j], place( &b, j, 200 ), 1e-6 );
        }
        tr_world_free( &world );
        tr_motion_free( &back );
        tr_bvh_free( &bvh );
        drop( &b );
    }
}

static void same_bits_every_time( void **state )
{
    (void)state;
    const char *names[] = { "spider", "wolf" };
    for ( int n = 0; n < 2; ++n ) {
        beast a = make( names[n], 2 ), b = make( names[n], 2 );
        for ( int i = 0; i < 2; ++i ) {
            const tr_clip *c = &a.library.items[i].motion.clip, *d = &b.library.items[i].motion.clip;
            size_t size = (size_t)c->frame_count * c->joint_count * sizeof( quat );
            assert_memory_equal( c->rotations, d->rotations, size );
            assert_memory_equal( c->root, d->root, (size_t)c->frame_count * sizeof( vec3 ) );
        }
        assert_true( tr_scene_equal( &a.scene, &b.scene ) );
        drop( &a );
        drop( &b );
    }
}

static void out_of_memory_is_reported( void **state )
{
    (void)state;
    const char *names[] = { "spider", "wolf" };
    for ( int n = 0; n < 2; ++n )
        for ( long at = 1; at < 400; at += 1 + at / 8 ) {
            tr_scene scene;
            tr_library library;
            tr_error error;
            tr_memory_fail_from( at );
            bool ok = tr_scene_build( tr_scene_entry_find( names[n] ), 1, &scene, &library, &error );
            tr_memory_fail_from( 0 );
            if ( ok ) {
                tr_library_free( &library );
                tr_scene_free( &scene );
            }
            assert_int_equal( tr_memory_live(), 0 );
        }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( spider_has_48_joints ),
        TEST( wolf_has_108_joints ),
        TEST( rest_poses_stand ),
        TEST( spider_feet_do_not_slide ),
        TEST( wolf_paws_do_not_slide ),
        TEST( nothing_sinks ),
        TEST( nothing_jumps ),
        TEST( wolf_legs_keep_apart ),
        TEST( spider_arches_and_climbs ),
        TEST( wolf_walks_then_trots ),
        TEST( packs_keep_apart ),
        TEST( files_keep_the_body ),
        TEST( same_bits_every_time ),
        TEST( out_of_memory_is_reported ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
