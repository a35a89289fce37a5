// The built-in scenes: what every row of the table promises, and what an animator would look for in people.
#include "check.h"
#include "geometry/geometry.h"
#include "scenes/scenes.h"

#include <string.h>

typedef struct built {
    tr_scene scene;
    tr_library library;
    tr_world *worlds; // [cast_count] joints in the scene's world
} built;

static void place_cast( built *b )
{
    tr_error error = { 0 };
    b->worlds = tr_alloc( (size_t)b->scene.cast_count, sizeof( tr_world ) );
    for ( int i = 0; i < b->scene.cast_count; ++i ) {
        const tr_cast *cast = &b->scene.cast[i];
        const tr_motion *source = tr_library_find( &b->library, cast->source.file );
        assert_non_null( source );
        tr_motion placed;
        check_ok( tr_motion_copy( &placed, source, &error ), &error );
        tr_clip_place( &placed.clip,
                       ( rigid ){ q_axis_angle( v3_y, cast->heading * TR_DEGREE ), cast->position } );
        check_ok( tr_world_build( &b->worlds[i], &placed, &error ), &error );
        tr_motion_free( &placed );
    }
}

static void build( built *out, const char *name, int cast )
{
    tr_error error = { 0 };
    const tr_scene_entry *entry = tr_scene_entry_find( name );
    assert_non_null( entry );
    check_ok( tr_scene_build( entry, cast, &out->scene, &out->library, &error ), &error );
    check_ok( tr_scene_check( &out->scene, entry->name, &error ), &error );
}

static void release( built *b )
{
    for ( int i = 0; b->worlds != NULL && i < b->scene.cast_count; ++i )
        tr_world_free( &b->worlds[i] );
    tr_free( b->worlds );
    tr_scene_free( &b->scene );
    tr_library_free( &b->library );
}

// ------------------------------------------------------------------------------------------- every entry

static void check_clips( const built *b )
{
    tr_error error = { 0 };
    for ( int i = 0; i < b->library.count; ++i )
        check_ok( tr_motion_check( &b->library.items[i].motion, &error ), &error );
    for ( int i = 0; i < b->scene.cast_count; ++i ) {
        const tr_cast *cast = &b->scene.cast[i];
        assert_non_null( tr_library_find( &b->library, cast->source.file ) );
        assert_in_range( (int)( 100 * cast->target.scale + 0.5 ), 70, 130 );
    }
}

static void every_entry_builds( void **state )
{
    (void)state;
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    assert_true( count > 0 );
    for ( int i = 0; i < count; ++i ) {
        const tr_scene_entry *e = &table[i];
        assert_ptr_equal( tr_scene_entry_find( e->name ), e );
        assert_in_range( e->default_cast, e->min_cast, e->max_cast );
        int casts[3] = { e->min_cast, 0,
                         e->default_cast + 5 < e->max_cast ? e->default_cast + 5 : e->max_cast };
        for ( int c = 0; c < 3; ++c ) {
            built b = { 0 };
            build( &b, e->name, casts[c] );
            assert_int_equal( b.scene.cast_count, casts[c] == 0 ? e->default_cast : casts[c] );
            check_clips( &b );
            release( &b );
        }
    }
}

static void counts_outside_are_refused( void **state )
{
    (void)state;
    const tr_scene_entry *entry = tr_scene_entry_find( "box_relay" );
    tr_scene scene;
    tr_library library;
    tr_error error = { 0 };
    assert_false( tr_scene_build( entry, entry->min_cast - 1, &scene, &library, &error ) );
    assert_non_null( strstr( error.message, "box_relay" ) );
    assert_false( tr_scene_build( entry, entry->max_cast + 1, &scene, &library, &error ) );
    assert_null( tr_scene_entry_find( "no_such_scene" ) );
}

static void check_same_bits( const tr_clip *a, const tr_clip *b )
{
    assert_int_equal( a->frame_count, b->frame_count );
    size_t cells = (size_t)a->frame_count * (size_t)a->joint_count;
    assert_memory_equal( a->rotations, b->rotations, cells * sizeof( quat ) );
    assert_memory_equal( a->root, b->root, (size_t)a->frame_count * sizeof( vec3 ) );
}

static void same_bits_for_any_thread_count( void **state )
{
    (void)state;
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    for ( int i = 0; i < count; ++i ) {
        tr_error error = { 0 };
        tr_scene scenes[2];
        tr_library libraries[2];
        for ( int n = 0; n < 2; ++n ) {
            tr_parallel_set_threads( n + 1 );
            check_ok( tr_scene_build( &table[i], table[i].min_cast, &scenes[n], &libraries[n], &error ),
                      &error );
        }
        tr_parallel_set_threads( 0 );
        assert_true( tr_scene_equal( &scenes[0], &scenes[1] ) );
        assert_int_equal( libraries[0].count, libraries[1].count );
        for ( int m = 0; m < libraries[0].count; ++m )
            check_same_bits( &libraries[0].items[m].motion.clip, &libraries[1].items[m].motion.clip );
        for ( int n = 0; n < 2; ++n ) {
            tr_scene_free( &scenes[n] );
            tr_library_free( &libraries[n] );
        }
    }
}

static void running_out_of_memory_is_reported( void **state )
{
    (void)state;
    const tr_scene_entry *entry = tr_scene_entry_find( "box_relay" );
    for ( long n = 1; n < 1200; n += n < 20 ? 1 : 61 ) {
        tr_scene scene;
        tr_library library;
        tr_error error = { 0 };
        tr_memory_fail_from( n );
        bool ok = tr_scene_build( entry, 2, &scene, &library, &error );
        tr_memory_fail_from( 0 );
        if ( ok ) {
            tr_scene_free( &scene );
            tr_library_free( &library );
            return;
        }
        assert_true( error.message[0] != 0 );
        assert_int_equal( tr_memory_live(), 0 );
    }
}

// ---------------------------------------------------------------------------------------------- people

static int frame_count( const built *b )
{
    return b->scene.last - b->scene.first + 1;
}

static vec3 joint_at( const built *b, int actor, int frame, int joint )
{
    return tr_world_pose( &b->worlds[actor], frame ).positions[joint];
}

static const tr_skeleton *skeleton_of( const built *b, int actor )
{
    return &tr_library_find( &b->library, b->scene.cast[actor].source.file )->skeleton;
}

static rigid prop_at( const built *b, int prop, int frame )
{
    const tr_clip *clip = &tr_library_find( &b->library, b->scene.props[prop].track.file )->clip;
    return ( rigid ){ clip->rotations[frame], clip->root[frame] };
}

// A point of a constraint in the world.
static vec3 point_at( const built *b, const tr_point *point, int frame )
{
    int prop = tr_scene_find_prop( &b->scene, point->who ),
        actor = tr_scene_find_cast( &b->scene, point->who );
    if ( prop >= 0 )
        return rigid_apply( prop_at( b, prop, frame ), point->offset );
    int carrier = tr_skeleton_find( skeleton_of( b, actor ), point->terms[0].joint );
    assert_true( carrier >= 0 );
    vec3 sum = q_rotate( tr_world_pose( &b->worlds[actor], frame ).rotations[carrier], point->offset );
    for ( int i = 0; i < point->term_count; ++i ) {
        int joint = tr_skeleton_find( skeleton_of( b, actor ), point->terms[i].joint );
        assert_true( joint >= 0 );
        sum = v3_mad( sum, point->terms[i].weight, joint_at( b, actor, frame, joint ) );
    }
    return sum;
}

static void check_no_pops( const built *b, double max_speed, double max_acceleration )
{
    double fps = b->scene.fps, fastest = 0, hardest = 0, lowest = 1;
    for ( int i = 0; i < b->scene.cast_count; ++i )
        for ( int j = 0; j < b->worlds[i].joint_count; ++j )
            for ( int f = 1; f + 1 < frame_count( b ); ++f ) {
                vec3 before = joint_at( b, i, f - 1, j ), now = joint_at( b, i, f, j ),
                     after = joint_at( b, i, f + 1, j );
                vec3 second = v3_add( v3_sub( after, now ), v3_sub( before, now ) );
                fastest = fmax( fastest, v3_distance( now, after ) * fps );
                hardest = fmax( hardest, v3_length( second ) * fps * fps );
                lowest = fmin( lowest, now.y );
            }
    print_message( "fastest %.2f m/s, hardest %.1f m/s², lowest %.4f m\n", fastest, hardest, lowest );
    assert_true( fastest < max_speed );
    assert_true( hardest < max_acceleration );
    assert_true( lowest > -0.01 );
}

// The ball of the foot at its height in the rest pose (to a twentieth of a millimetre: a step begins with all
// of it slow) bears weight and stays where it is.
static void check_feet_stand( const built *b )
{
    static const char *const balls[2] = { "LeftToe", "RightToe" };
    double worst = 0;
    long standing = 0, all = 0;
    for ( int i = 0; i < b->scene.cast_count; ++i )
        for ( int side = 0; side < 2; ++side ) {
            int ball = tr_skeleton_find( skeleton_of( b, i ), balls[side] );
            for ( int f = 0; f + 1 < frame_count( b ); ++f, ++all ) {
                vec3 now = joint_at( b, i, f, ball ), next = joint_at( b, i, f + 1, ball );
                if ( fmax( now.y, next.y ) > 0.02205 )
                    continue;
                ++standing;
                worst = fmax( worst, v3_length( v3_horizontal( v3_sub( next, now ) ) ) * b->scene.fps );
            }
        }
    print_message( "feet stand in %.0f %% of the frames and slide at %.3f mm/s at most\n",
                   100.0 * (double)standing / (double)all, 1000 * worst );
    assert_true( (double)standing > 0.5 * (double)all );
    assert_true( worst < 0.005 );
}

// Every relative constraint is a touch (5 cm at most) that keeps its distance.
static void check_touches( const built *b, double max_drift )
{
    double widest = 0, drift = 0;
    for ( int c = 0; c < b->scene.constraint_count; ++c ) {
        const tr_constraint *touch = &b->scene.constraints[c];
        assert_int_equal( touch->kind, TR_CONSTRAINT_RELATIVE );
        double first =
            v3_distance( point_at( b, &touch->a, touch->first ), point_at( b, &touch->b, touch->first ) );
        for ( int f = touch->first; f <= touch->last; ++f ) {
            double gap = v3_distance( point_at( b, &touch->a, f ), point_at( b, &touch->b, f ) );
            widest = fmax( widest, gap );
            drift = fmax( drift, fabs( gap - first ) );
        }
    }
    print_message( "widest touch %.1f mm, drift %.3f mm\n", 1000 * widest, 1000 * drift );
    assert_true( widest <= 0.05 );
    assert_true( drift <= max_drift );
}

static void box_relay_moves_well( void **state )
{
    (void)state;
    built b = { 0 };
    build( &b, "box_relay", 0 );
    place_cast( &b );
    check_no_pops( &b, 8, 80 );
    check_feet_stand( &b );
    check_touches( &b, 0.0005 );
    release( &b );
}

// People who touch each other, themselves or things.
static void close_scenes_move_well( void **state )
{
    (void)state;
    static const struct {
        const char *name;
        double speed, acceleration; // limits, m/s and m/s²
        double drift;               // drift of touches, metres
        bool feet_stand;
    } rows[] = {
        { "high_five", 8, 120, 0.001, true },  { "dance_pair", 4, 40, 0.003, true },
        { "arm_circles", 6, 80, 0, true },     { "sword_pair", 6, 60, 0.0005, true },
        { "car_entry", 5, 80, 0, false },      { "mixed_cast", 9, 130, 0.0005, false },
        { "judo_pair", 10, 230, 0.02, false },
    };
    for ( size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i ) {
        built b = { 0 };
        print_message( "%s: ", rows[i].name );
        build( &b, rows[i].name, 0 );
        place_cast( &b );
        check_no_pops( &b, rows[i].speed, rows[i].acceleration );
        if ( rows[i].feet_stand )
            check_feet_stand( &b );
        check_touches( &b, rows[i].drift );
        release( &b );
    }
}

// The centre of mass stays over the feet: between heels and balls, and between left and right.
static void check_balance( const built *b, double side )
{
    tr_error error = { 0 };
    tr_body body;
    check_ok( tr_body_build( &body, skeleton_of( b, 0 ), NULL, 0, &error ), &error );
    int left = tr_skeleton_find( skeleton_of( b, 0 ), "LeftFoot" );
    int right = tr_skeleton_find( skeleton_of( b, 0 ), "RightFoot" );
    for ( int i = 0; i < b->scene.cast_count; ++i )
        for ( int f = 0; f < frame_count( b ); f += 5 ) {
            vec3 mass =
                tr_body_centre_of_mass( &body, skeleton_of( b, i ), tr_world_pose( &b->worlds[i], f ) );
            vec3 feet = v3_lerp( joint_at( b, i, f, left ), joint_at( b, i, f, right ), 0.5 );
            quat heading = q_axis_angle( v3_y, b->scene.cast[i].heading * TR_DEGREE );
            vec3 off = q_unrotate( heading, v3_sub( mass, feet ) );
            assert_true( off.z > -0.05 && off.z < 0.13 && fabs( off.x ) < side );
        }
    tr_body_free( &body );
}

static void squat_chain_moves_well( void **state )
{
    (void)state;
    built b = { 0 };
    build( &b, "squat_chain", 0 );
    place_cast( &b );
    assert_int_equal( b.scene.constraint_count, b.scene.cast_count - 1 );
    check_no_pops( &b, 4, 40 );
    check_feet_stand( &b );
    check_touches( &b, 0.0005 );
    check_balance( &b, 0.05 );
    // All people go down: the pelvis falls below 60 cm and comes up to standing again.
    for ( int i = 0; i < b.scene.cast_count; ++i ) {
        double low = 1, high = 0;
        for ( int f = 0; f < frame_count( &b ); ++f ) {
            low = fmin( low, joint_at( &b, i, f, 0 ).y );
            high = fmax( high, joint_at( &b, i, f, 0 ).y );
        }
        assert_true( low < 0.60 && high > 0.88 );
    }
    release( &b );
}

// Two people hold the same box at the same time, each with hands of their own: no two palms nearer than 9 cm.
static void boxes_change_hands( void **state )
{
    (void)state;
    built b = { 0 };
    build( &b, "box_relay", 0 );
    place_cast( &b );
    int overlaps = 0;
    for ( int m = 0; m < b.scene.constraint_count; ++m )
        for ( int n = m + 1; n < b.scene.constraint_count; ++n ) {
            const tr_constraint *giver = &b.scene.constraints[m], *taker = &b.scene.constraints[n];
            if ( strcmp( giver->b.who, taker->b.who ) != 0 || strcmp( giver->a.who, taker->a.who ) == 0 )
                continue;
            int first = taker->first, last = giver->last;
            if ( first > last || last == b.scene.last || first == 0 )
                continue;
            double seconds = ( last - first + 1 ) / b.scene.fps;
            assert_true( seconds >= 0.25 && seconds <= 0.45 );
            ++overlaps;
            for ( int f = first; f <= last; ++f )
                assert_true( v3_distance( point_at( &b, &giver->a, f ), point_at( &b, &taker->a, f ) ) >
                             0.09 );
        }
    print_message( "%d hand-overs seen whole\n", overlaps / 4 );
    assert_true( overlaps / 4 >= 18 );
    release( &b );
}

// ------------------------------------------------------------------------------------------------ corridor

// Capsules of a walker at a frame in the world.
typedef struct solid {
    vec3 a[64], b[64];
    double radius[64];
    int count;
} solid;

static solid solid_at( const built *b, const tr_body *body, int actor, int frame )
{
    solid s = { .count = body->capsule_count };
    assert_in_range( s.count, 1, 64 );
    tr_pose pose = tr_world_pose( &b->worlds[actor], frame );
    for ( int i = 0; i < s.count; ++i ) {
        const tr_capsule *c = &body->capsules[i];
        rigid at = { pose.rotations[c->parent], pose.positions[c->parent] };
        s.a[i] = rigid_apply( at, c->a );
        s.b[i] = rigid_apply( at, c->b );
        s.radius[i] = c->radius;
    }
    return s;
}

static double solid_distance( const solid *one, const solid *two )
{
    double nearest = 10;
    for ( int i = 0; i < one->count; ++i )
        for ( int j = 0; j < two->count; ++j )
            nearest = fmin( nearest, tr_capsule_distance( one->a[i], one->b[i], one->radius[i], two->a[j],
                                                          two->b[j], two->radius[j] ) );
    return nearest;
}

static double wall_distance( const built *b, const solid *s )
{
    double nearest = 10;
    for ( int w = 0; w < b->scene.obstacle_count; ++w ) {
        const tr_obstacle *wall = &b->scene.obstacles[w];
        rigid place = { q_axis_angle( v3_y, wall->heading * TR_DEGREE ), wall->position };
        for ( int i = 0; i < s->count; ++i )
            nearest =
                fmin( nearest, tr_capsule_box_distance( s->a[i], s->b[i], s->radius[i], place, wall->size ) );
    }
    return nearest;
}

static void walkers_keep_clear( void **state )
{
    (void)state;
    built b = { 0 };
    build( &b, "corridor", 0 );
    place_cast( &b );
    check_no_pops( &b, 8, 80 );
    check_feet_stand( &b );
    tr_error error = { 0 };
    tr_body body;
    check_ok( tr_body_build( &body, skeleton_of( &b, 0 ), NULL, 0, &error ), &error );
    double nearest = 10, wall = 10;
    for ( int f = 0; f < frame_count( &b ); f += 7 )
        for ( int i = 0; i < b.scene.cast_count; ++i ) {
            solid one = solid_at( &b, &body, i, f );
            wall = fmin( wall, wall_distance( &b, &one ) );
            for ( int j = i + 1; j < b.scene.cast_count; ++j ) {
                if ( v3_distance( joint_at( &b, i, f, 0 ), joint_at( &b, j, f, 0 ) ) > 1.2 )
                    continue;
                solid two = solid_at( &b, &body, j, f );
                nearest = fmin( nearest, solid_distance( &one, &two ) );
            }
        }
    tr_body_free( &body );
    print_message( "walkers keep %.0f mm from each other and %.0f mm from the walls\n", 1000 * nearest,
                   1000 * wall );
    assert_true( nearest > 0 );
    assert_true( wall > 0 );
    release( &b );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( every_entry_builds ),
        TEST( counts_outside_are_refused ),
        TEST( same_bits_for_any_thread_count ),
        TEST( running_out_of_memory_is_reported ),
        TEST( box_relay_moves_well ),
        TEST( squat_chain_moves_well ),
        TEST( close_scenes_move_well ),
        TEST( boxes_change_hands ),
        TEST( walkers_keep_clear ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
