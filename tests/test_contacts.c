#include "captures.h"
#include "check_motion.h"
#include "format/format.h"

#include <string.h>

// A marionette: hips high up, one foot and one hand that go where a function of time puts them.
typedef struct act {
    vec3 foot, hand;
} act;
typedef act play( double t );

enum { HIPS, FOOT, HAND, HEAD, JOINTS };

static tr_motion perform( play *script, double seconds, double fps )
{
    tr_motion m = { 0 };
    tr_error error;
    tr_skeleton_add( &m.skeleton, "Hips", -1, v3( 0, 1, 0 ) );
    tr_skeleton_add( &m.skeleton, "LeftFoot", 0, v3( 0, -1, 0 ) );
    tr_skeleton_add( &m.skeleton, "LeftHand", 0, v3( 0.5, 0, 0 ) );
    tr_skeleton_add( &m.skeleton, "Head", 0, v3( 0, 1, 0 ) ); // 2 m tall
    check_ok( tr_skeleton_classify( &m.skeleton, &error ), &error );
    assert_int_equal( m.skeleton.joints[FOOT].role, TR_ROLE_FOOT );
    assert_int_equal( m.skeleton.joints[HAND].role, TR_ROLE_HAND );
    int frames = (int)( seconds * fps + 0.5 ) + 1;
    check_ok( tr_clip_alloc( &m.clip, frames, JOINTS, fps, true, &error ), &error );
    for ( int f = 0; f < frames; ++f ) {
        act now = script( f / fps );
        m.clip.translations[f * JOINTS + FOOT] = now.foot;
        m.clip.translations[f * JOINTS + HAND] = now.hand;
        m.clip.translations[f * JOINTS + HEAD] = v3( 0, 2, 0 );
    }
    return m;
}

static tr_contacts label( const tr_motion *m, const tr_surface *surfaces, int count )
{
    tr_contacts contacts;
    tr_world world;
    tr_error error;
    tr_contact_def def = tr_default_contact_def();
    check_ok( tr_world_build( &world, m, &error ), &error );
    tr_contact_scene scene = { &m->skeleton, &world, m->clip.fps, surfaces, count };
    check_ok( tr_contacts_label( &contacts, &scene, &def, &error ), &error );
    tr_world_free( &world );
    for ( int i = 1; i < contacts.count; ++i ) {
        const tr_contact *a = &contacts.items[i - 1], *b = &contacts.items[i];
        assert_true( a->joint < b->joint || ( a->joint == b->joint && a->first <= b->first ) );
    }
    return contacts;
}

static void check_interval( const tr_contacts *c, int index, int joint, double fps, double from, double to,
                            double tolerance )
{
    assert_true( index < c->count );
    assert_int_equal( c->items[index].joint, joint );
    check_near( c->items[index].first / fps, from, tolerance );
    check_near( c->items[index].last / fps, to, tolerance );
}

static const tr_surface ground = { .kind = TR_SURFACE_GROUND };

// The ankle stands 9 cm high for a second, swings for half a second by 0.6 m forward and 0.2 m up, stands
// again. The hand swings all the time.
static act stepping( double t )
{
    double phase = clampd( ( t - 1.0 ) / 0.5, 0, 1 ), lift = sin( TR_PI * phase );
    return ( act ){ .foot = v3( 0, 0.09 + 0.2 * lift * lift, 0.6 * smooth_step5( phase ) ),
                    .hand = v3( 0.5, 1, 0.3 * sin( 4 * t ) ) };
}

static void a_step_by_hand( void **state )
{
    (void)state;
    tr_motion m = perform( stepping, 2.5, 60 );
    tr_contacts c = label( &m, &ground, 1 );
    assert_int_equal( c.count, 2 );
    // τ seconds into the swing the mean speed over 1/30 s either side is about 0.2 sin²(2π (τ + 1/30)) · 15
    // m/s plus a little forward: 0.29 at τ = 1/60, 0.50 at 2/60, so the stance ends at 1/60. Mirrored in
    // time, 0.13 at the very end is the first below 0.2.
    check_interval( &c, 0, FOOT, 60, 0, 61 / 60.0, 1e-9 );
    check_interval( &c, 1, FOOT, 60, 90 / 60.0, 2.5, 1e-9 );
    tr_contacts_free( &c );
    // The ground a metre lower: nothing rests on it.
    tr_surface cellar = { .kind = TR_SURFACE_GROUND, .height = -1 };
    c = label( &m, &cellar, 1 );
    assert_int_equal( c.count, 0 );
    tr_contacts_free( &c );
    tr_motion_free( &m );
}

static void frame_rate_does_not_matter( void **state )
{
    (void)state;
    const double rates[] = { 30, 60, 120, 24, 50 };
    tr_contacts reference = { 0 };
    for ( int i = 0; i < 5; ++i ) {
        tr_motion m = perform( stepping, 2.5, rates[i] );
        tr_contacts c = label( &m, &ground, 1 );
        if ( i == 0 ) {
            reference = c;
            tr_motion_free( &m );
            continue;
        }
        assert_int_equal( c.count, reference.count );
        for ( int k = 0; k < c.count; ++k ) {
            double frame = 1.0 / fmin( rates[i], 30 ) + 1e-9;
            check_near( c.items[k].first / rates[i], reference.items[k].first / 30.0, frame );
            check_near( c.items[k].last / rates[i], reference.items[k].last / 30.0, frame );
        }
        tr_contacts_free( &c );
        tr_motion_free( &m );
    }
    tr_contacts_free( &reference );
}

// Slow enough to stay, too fast to begin: hysteresis. And a blink of 50 ms is neither a contact nor a gap.
static act creeping( double t )
{
    double z = t < 1   ? 0.3 * t
               : t < 2 ? 0.3 + 0.05 * ( t - 1 )
                       : 0.35 + 0.3 * ( t - 2 ); // 0.3, 0.05, 0.3 m/s
    return ( act ){ .foot = v3( 0, 0.05, z ), .hand = v3( 0.5, 1, 5 * t ) };
}

static void hysteresis( void **state )
{
    (void)state;
    tr_motion m = perform( creeping, 3, 60 );
    tr_contacts c = label( &m, &ground, 1 );
    assert_int_equal( c.count, 1 );
    check_interval( &c, 0, FOOT, 60, 1, 3, 0.035 ); // begins when slow, does not end at 0.3 m/s
    tr_contacts_free( &c );
    tr_motion_free( &m );
}

static act hopping( double t )
{
    // Up for 60 ms at t = 1 (a gap too short), down for 60 ms at t = 3 (a contact too short), else down
    // until 2.
    bool up = ( t > 0.999 && t < 1.059 ) || ( t > 2 && !( t > 2.999 && t < 3.059 ) );
    return ( act ){ .foot = v3( 0, up ? 0.5 : 0.05, 0 ), .hand = v3( 0.5, 1, 5 * t ) };
}

static void blinks_are_closed_or_dropped( void **state )
{
    (void)state;
    tr_motion m = perform( hopping, 4, 200 );
    tr_contact_def def = tr_default_contact_def();
    def.min_seconds = 0.15; // with the two thirtieths that the speed is taken over
    tr_world world;
    tr_error error;
    tr_contacts c;
    check_ok( tr_world_build( &world, &m, &error ), &error );
    check_ok(
        tr_contacts_label( &c, &( tr_contact_scene ){ &m.skeleton, &world, 200, &ground, 1 }, &def, &error ),
        &error );
    assert_int_equal( c.count, 1 );
    check_interval( &c, 0, FOOT, 200, 0, 2 - 1 / 30.0, 0.011 );
    tr_contacts_free( &c );
    tr_world_free( &world );
    tr_motion_free( &m );
}

// The foot steps from the ground onto a box of 0.3 m; the hand holds the side of a box that is carried away.
static act climbing( double t )
{
    double s = smooth_step5( ( t - 1 ) / 0.4 );
    return ( act ){ .foot = v3( 0, 0.08 + 0.3 * s + 0.1 * sin( TR_PI * s ), s ),
                    .hand = v3( 0.5, 1, 2 * t ) };
}

static void boxes_on_top_and_at_the_side( void **state )
{
    (void)state;
    tr_motion m = perform( climbing, 3, 60 );
    rigid step = { q_axis_angle( v3_y, 0.5 ), v3( 0, 0.15, 1 ) };
    rigid carried[181];
    for ( int f = 0; f < 181; ++f ) // beside the hand, 3 cm from its side, until 2 s; then it stays behind
        carried[f] = ( rigid ){ q_identity, v3( 0.5 + 0.2 + 0.03, 1, 2 * fmin( f / 60.0, 2 ) ) };
    const tr_surface surfaces[] = {
        ground,
        { .kind = TR_SURFACE_PROP,
          .index = 4,
          .shape = { .size = { 0.4, 0.4, 0.4 } },
          .track = carried,
          .track_count = 181 },
        { .kind = TR_SURFACE_ENVIRONMENT,
          .index = 7,
          .shape = { .size = { 0.6, 0.3, 0.6 } },
          .track = &step,
          .track_count = 1 },
    };
    tr_contacts c = label( &m, surfaces, 3 );
    assert_int_equal( c.count, 3 );
    check_interval( &c, 0, FOOT, 60, 0, 1.05, 0.05 );
    assert_int_equal( c.items[0].surface, TR_SURFACE_GROUND );
    check_interval( &c, 1, FOOT, 60, 1.36, 3, 0.05 );
    assert_int_equal( c.items[1].surface, TR_SURFACE_ENVIRONMENT );
    assert_int_equal( c.items[1].surface_index, 7 );
    check_interval( &c, 2, HAND, 60, 0, 2, 0.035 );
    assert_int_equal( c.items[2].surface, TR_SURFACE_PROP );
    assert_int_equal( c.items[2].surface_index, 4 );
    tr_contacts_free( &c );
    tr_motion_free( &m );
}

// The hand goes along a wall at 0.15 m/s.
static act passing( double t )
{
    return ( act ){ .foot = v3( 0, 0.09, 0 ), .hand = v3( 0.5, 1, -0.3 + 0.15 * t ) };
}

static act standing_at_a_wall( double t )
{
    return ( act ){ .foot = v3( 0, 0.09, 0 ), .hand = v3( 0.5, 1, 0.02 * sin( 3 * t ) ) };
}

static void hands_that_pass_a_wall_do_not_lean( void **state )
{
    (void)state;
    rigid wall = { q_identity, v3( 0.5 + 0.04 + 0.04, 0.5, 0 ) }; // its side is 4 cm away
    tr_surface surfaces[] = { ground,
                              { .kind = TR_SURFACE_ENVIRONMENT,
                                .shape = { .size = { 0.08, 2, 2 } },
                                .track = &wall,
                                .track_count = 1 } };
    for ( int prop = 0; prop < 2; ++prop ) { // what is held may be stroked
        tr_motion m = perform( passing, 1.9, 60 );
        surfaces[1].kind = prop ? TR_SURFACE_PROP : TR_SURFACE_ENVIRONMENT;
        tr_contacts c = label( &m, surfaces, 2 );
        assert_int_equal( c.count, 1 + prop );
        assert_int_equal( c.items[0].joint, FOOT );
        tr_contacts_free( &c );
        tr_motion_free( &m );
    }
    tr_motion m = perform( passing, 0.2, 60 ); // in one place, but for a moment only
    surfaces[1].kind = TR_SURFACE_ENVIRONMENT;
    tr_contacts c = label( &m, surfaces, 2 );
    assert_int_equal( c.count, 1 );
    tr_contacts_free( &c );
    tr_motion_free( &m );
    m = perform( standing_at_a_wall, 1, 60 );
    c = label( &m, surfaces, 2 );
    assert_int_equal( c.count, 2 );
    check_interval( &c, 1, HAND, 60, 0, 1, 1e-9 );
    assert_int_equal( c.items[1].surface, TR_SURFACE_ENVIRONMENT );
    tr_contacts_free( &c );
    tr_motion_free( &m );
}

// A foot on a board of 2 cm rests on the board, not on the ground through it.
static act standing( double t )
{
    (void)t;
    return ( act ){ .foot = v3( 0, 0.1, 0 ), .hand = v3( 0.5, 1, 5 * t ) };
}

static void what_is_covered_is_not_touched( void **state )
{
    (void)state;
    tr_motion m = perform( standing, 1, 30 );
    rigid board = { q_identity, v3( 0, 0.01, 0 ) };
    const tr_surface surfaces[] = {
        ground,
        { .kind = TR_SURFACE_ENVIRONMENT,
          .shape = { .size = { 1, 0.02, 1 } },
          .track = &board,
          .track_count = 1 },
    };
    tr_contacts c = label( &m, surfaces, 2 );
    assert_int_equal( c.count, 1 );
    assert_int_equal( c.items[0].surface, TR_SURFACE_ENVIRONMENT );
    check_interval( &c, 0, FOOT, 30, 0, 1, 1e-9 );
    tr_contacts_free( &c );
    // One frame is too short to say anything, none is nothing.
    m.clip.frame_count = 1;
    c = label( &m, surfaces, 2 );
    assert_int_equal( c.count, 0 );
    tr_contacts_free( &c );
    m.clip.frame_count = 0;
    c = label( &m, surfaces, 2 );
    assert_int_equal( c.count, 0 );
    tr_contacts_free( &c );
    tr_motion_free( &m );
}

static void threads_do_not_matter( void **state )
{
    (void)state;
    tr_motion m = perform( stepping, 45, 300 ); // long enough to be cut into more than one block
    tr_parallel_set_threads( 1 );
    tr_contacts a = label( &m, &ground, 1 );
    tr_parallel_set_threads( 4 );
    tr_contacts b = label( &m, &ground, 1 );
    tr_parallel_set_threads( 0 );
    assert_int_equal( a.count, b.count );
    assert_memory_equal( a.items, b.items, (size_t)a.count * sizeof( tr_contact ) );
    tr_contacts_free( &a );
    tr_contacts_free( &b );
    tr_motion_free( &m );
}

typedef struct recorded_walk {
    const char *file;
    int stances[2];        // stances of left and right
    double landings[2][3]; // when the ankles come to rest, seconds
    double seconds;        // length of a stance
} recorded_walk;

static void check_walk( const recorded_walk *walk )
{
    char path[CAPTURE_PATH];
    tr_motion m;
    tr_error error;
    tr_bvh_import import = tr_default_bvh_import();
    import.first = 1;
    check_ok( tr_motion_load( &m, capture_path( path, walk->file ), &import, NULL, &error ), &error );
    check_ok( tr_skeleton_classify( &m.skeleton, &error ), &error );
    tr_contacts c = label( &m, &ground, 1 );
    int feet[2] = { tr_skeleton_find( &m.skeleton, "LeftFoot" ),
                    tr_skeleton_find( &m.skeleton, "RightFoot" ) };
    for ( int side = 0; side < 2; ++side ) {
        int stances = 0;
        for ( int i = 0; i < c.count; ++i ) {
            const tr_contact *stance = &c.items[i];
            if ( stance->joint != feet[side] )
                continue;
            assert_true( stances < walk->stances[side] );
            check_near( stance->first / m.clip.fps, walk->landings[side][stances++], 0.05 );
            if ( stance->first > 0 && stance->last < m.clip.frame_count - 1 ) // not cut off by the clip
                check_near( ( stance->last - stance->first ) / m.clip.fps, walk->seconds, 0.08 );
        }
        assert_int_equal( stances, walk->stances[side] );
    }
    tr_motion slow = { m.skeleton };
    check_ok( tr_clip_resample( &slow.clip, &m.clip, 30, &error ), &error );
    tr_contacts again = label( &slow, &ground, 1 );
    assert_int_equal( again.count, c.count );
    for ( int i = 0; i < c.count; ++i ) {
        check_near( again.items[i].first / 30.0, c.items[i].first / m.clip.fps, 1.5 / 30.0 );
        check_near( again.items[i].last / 30.0, c.items[i].last / m.clip.fps, 1.5 / 30.0 );
    }
    tr_contacts_free( &c );
    tr_contacts_free( &again );
    tr_clip_free( &slow.clip );
    tr_motion_free( &m );
}

// Recorded walks: left and right stand in turn, at any frame rate.
static void recorded_walks( void **state )
{
    (void)state;
    static const recorded_walk walks[] = {
        // Its heels land at 0.018 s and every 0.48 s, and stand for 0.614 s; 0.05 s later the toes are down,
        // and 0.17 s before the end the heel rises faster than 0.2 m/s.
        { "walk.bvh", { 3, 3 }, { { 0.55, 1.51, 2.47 }, { 0.02, 1.03, 1.99 } }, 0.39 },
        { "cmu-single/02_01.bvh", { 3, 2 }, { { 0.1, 1.23, 2.33 }, { 0.67, 1.77 } }, 0.48 },
    };
    for ( size_t i = 0; i < sizeof walks / sizeof *walks; ++i )
        if ( have_capture( walks[i].file ) )
            check_walk( &walks[i] );
}

static void out_of_memory( void **state )
{
    (void)state;
    tr_motion m = perform( stepping, 2.5, 60 );
    tr_world world;
    tr_error error;
    check_ok( tr_world_build( &world, &m, &error ), &error );
    tr_contact_def def = tr_default_contact_def();
    size_t live = tr_memory_live();
    tr_parallel_set_threads( 1 ); // so that the n-th allocation is the n-th
    for ( long n = 1, done = 0; !done; ++n ) {
        tr_contacts c;
        error = ( tr_error ){ 0 };
        tr_memory_fail_from( n );
        done = tr_contacts_label( &c, &( tr_contact_scene ){ &m.skeleton, &world, 60, &ground, 1 }, &def,
                                  &error );
        tr_memory_fail_from( 0 );
        assert_true( done || strcmp( error.message, "out of memory" ) == 0 );
        if ( done )
            tr_contacts_free( &c );
        assert_int_equal( tr_memory_live(), live );
    }
    tr_parallel_set_threads( 0 );
    tr_world_free( &world );
    tr_motion_free( &m );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_step_by_hand ),
        TEST( frame_rate_does_not_matter ),
        TEST( hysteresis ),
        TEST( blinks_are_closed_or_dropped ),
        TEST( boxes_on_top_and_at_the_side ),
        TEST( hands_that_pass_a_wall_do_not_lean ),
        TEST( what_is_covered_is_not_touched ),
        TEST( threads_do_not_matter ),
        TEST( recorded_walks ),
        TEST( out_of_memory ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
