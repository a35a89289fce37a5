// Pairs that come close, in which frames, and which of them share a window.
#include "duet_fixture.h"

#define NEAR_FRAMES 100

// Balls of radius 0.1 on the x axis. Between 0 and 1 there are gaps of a course; 2 stands far off.
static void pairs_with( tr_imesh_pairs *pairs, const double gaps[NEAR_FRAMES], const tr_imesh_near_def *def )
{
    static vec3 at[3][NEAR_FRAMES];
    static quat still[NEAR_FRAMES];
    static tr_capsule ball = { .radius = 0.1 };
    static tr_body body = { .capsules = &ball, .capsule_count = 1 };
    tr_world worlds[3];
    tr_imesh_near members[3];
    tr_error error;
    for ( int i = 0; i < 3; ++i ) {
        worlds[i] = ( tr_world ){ 1, NEAR_FRAMES, still, at[i] };
        members[i] = ( tr_imesh_near ){ .world = &worlds[i], .body = &body };
        for ( int f = 0; f < NEAR_FRAMES; ++f ) {
            still[f] = q_identity;
            at[i][f] = v3( i == 0 ? 0 : i == 1 ? 0.2 + gaps[f] : 9, 1, 0 );
        }
    }
    check_ok( tr_imesh_pairs_find( pairs, members, 3, NEAR_FRAMES, def, &error ), &error );
}

static void closeness_has_hysteresis( void **state )
{
    (void)state;
    double gaps[NEAR_FRAMES];
    tr_imesh_near_def def = { .enter = 0.1, .leave = 0.2, .min_frames = 4, .pad = 5 };
    tr_imesh_pairs pairs;
    for ( int f = 0; f < NEAR_FRAMES; ++f )
        gaps[f] = f < 20 ? 0.5 : f < 25 ? 0.15 : f < 30 ? 0.05 : f < 40 ? 0.15 : 0.5;
    pairs_with( &pairs, gaps, &def ); // close at 25, leaves after 39; padded by five
    assert_int_equal( pairs.count, 1 );
    assert_int_equal( pairs.items[0].a, 0 );
    assert_int_equal( pairs.items[0].b, 1 );
    assert_int_equal( pairs.items[0].first, 20 );
    assert_int_equal( pairs.items[0].last, 44 );
    tr_imesh_pairs_free( &pairs );
    for ( int f = 0; f < NEAR_FRAMES; ++f )
        gaps[f] = f < 3 ? 0 : 0.5;
    pairs_with( &pairs, gaps, &def ); // three frames are too few
    assert_int_equal( pairs.count, 0 );
    tr_imesh_pairs_free( &pairs );
    for ( int f = 0; f < NEAR_FRAMES; ++f )
        gaps[f] = ( f >= 2 && f < 6 ) || ( f >= 9 && f < 12 ) || ( f >= 90 && f < 98 ) ? 0 : 0.5;
    pairs_with( &pairs, gaps, &def ); // a gap of three frames is closed; padding ends at the clip's ends
    assert_int_equal( pairs.count, 2 );
    assert_int_equal( pairs.items[0].first, 0 );
    assert_int_equal( pairs.items[0].last, 16 );
    assert_int_equal( pairs.items[1].first, 85 );
    assert_int_equal( pairs.items[1].last, 99 );
    tr_imesh_pairs_free( &pairs );
}

static void windows_join_what_overlaps( void **state )
{
    (void)state;
    tr_imesh_near members[6] = { [5] = { .still = true } };
    tr_imesh_pair items[] = { { 0, 1, 0, 10 }, { 2, 5, 2, 8 },   { 1, 2, 5, 20 },
                              { 3, 4, 8, 12 }, { 4, 5, 10, 30 }, { 0, 1, 25, 40 } };
    tr_imesh_pairs pairs = { .items = items, .count = 6 };
    tr_imesh_windows windows;
    tr_error error;
    check_ok( tr_imesh_windows_find( &windows, &pairs, members, 6, 0, &error ), &error );
    assert_int_equal( windows.count, 3 );
    static const int expected[][5] = { { 0, 1, 2, 5 }, { 3, 4, 5 }, { 0, 1 } };
    static const int counts[] = { 4, 3, 2 }, first[] = { 0, 8, 25 }, last[] = { 20, 30, 40 };
    for ( int i = 0; i < 3; ++i ) {
        assert_int_equal( windows.items[i].member_count, counts[i] );
        assert_memory_equal( windows.items[i].members, expected[i], (size_t)counts[i] * sizeof( int ) );
        assert_int_equal( windows.items[i].first, first[i] );
        assert_int_equal( windows.items[i].last, last[i] );
    }
    tr_imesh_windows_free( &windows );
    // With two at most, 1 and 2 have a window of their own beside that of 0 and 1.
    check_ok( tr_imesh_windows_find( &windows, &pairs, members, 6, 2, &error ), &error );
    assert_int_equal( windows.count, 4 );
    assert_int_equal( windows.items[0].member_count, 2 );
    assert_memory_equal( windows.items[1].members, ( ( int[] ){ 1, 2, 5 } ), 3 * sizeof( int ) );
    tr_imesh_windows_free( &windows );
}

// The quick search finds what looking at every capsule of every pair at every frame finds.
static void quick_search_misses_nobody( void **state )
{
    (void)state;
    player players[5];
    tr_imesh_near members[6];
    tr_error error;
    rigid box = { q_axis_angle( v3_y, 0.5 ), v3( 1.2, 0.5, 0 ) };
    for ( int i = 0; i < 5; ++i ) {
        rigid at = { q_axis_angle( v3_y, i ), v3( 0.55 * i, 0, 0.3 * ( i % 2 ) ) };
        player_start( &players[i], at, i, 1, 1, FRAMES );
        members[i] = ( tr_imesh_near ){ .world = &players[i].source_world, .body = &players[i].source_body };
    }
    members[5] =
        ( tr_imesh_near ){ .track = &box, .track_count = 1, .size = v3( 0.3, 1, 0.3 ), .still = true };
    tr_imesh_near_def def = { .enter = 0.02, .leave = 0.02, .min_frames = 1, .pad = 0 };
    tr_imesh_pairs pairs;
    check_ok( tr_imesh_pairs_find( &pairs, members, 6, FRAMES, &def, &error ), &error );
    int found = 0, expected = 0;
    for ( int i = 0; i < pairs.count; ++i )
        found += pairs.items[i].last - pairs.items[i].first + 1;
    for ( int f = 0; f < FRAMES; ++f )
        for ( int a = 0; a < 5; ++a )
            for ( int b = a + 1; b < 6; ++b ) {
                bool near = false;
                tr_pose p = tr_world_pose( &players[a].source_world, f );
                for ( int i = 0; i < players[a].source_body.capsule_count; ++i ) {
                    const tr_capsule *c = &players[a].source_body.capsules[i];
                    rigid bone = { p.rotations[c->parent], p.positions[c->parent] };
                    vec3 u = rigid_apply( bone, c->a ), v = rigid_apply( bone, c->b );
                    if ( b == 5 )
                        near =
                            near || tr_capsule_box_distance( u, v, c->radius, box, members[5].size ) <= 0.02;
                    for ( int k = 0; b < 5 && k < players[b].source_body.capsule_count; ++k ) {
                        const tr_capsule *o = &players[b].source_body.capsules[k];
                        tr_pose q = tr_world_pose( &players[b].source_world, f );
                        rigid other = { q.rotations[o->parent], q.positions[o->parent] };
                        near = near || tr_capsule_distance( u, v, c->radius, rigid_apply( other, o->a ),
                                                            rigid_apply( other, o->b ), o->radius ) <= 0.02;
                    }
                }
                expected += near;
            }
    assert_true( expected > 0 && expected < FRAMES * 15 );
    assert_int_equal( found, expected );
    tr_imesh_pairs_free( &pairs );
    for ( int i = 0; i < 5; ++i )
        player_end( &players[i] );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( closeness_has_hysteresis ),
        TEST( windows_join_what_overlaps ),
        TEST( quick_search_misses_nobody ),
    };
    return cmocka_run_group_tests_name( "close pairs", tests, NULL, NULL );
}
