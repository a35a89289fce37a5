// Large casts that nothing links: the tree of boxes and the scattered order of Delaunay points give what all
// pairs and the plain order give, and work and memory of a person do not grow with the cast. Work is counted,
// not timed.
#include "check.h"
#include "scenes/kit/kit.h"
#include "troupe.h"

#include <string.h>

static double random_share( uint64_t *state )
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)( *state >> 40 ) / (double)( 1 << 24 );
}

// ---------------------------------------------------------------------------------------------------- boxes

static int all_pairs( const tr_box *boxes, int count, int box, int *found )
{
    int n = 0;
    for ( int other = box + 1; other < count; ++other )
        if ( tr_box_overlaps( &boxes[box], &boxes[other] ) )
            found[n++] = other;
    return n;
}

static void check_tree( tr_box_tree *tree, const tr_box *boxes, int count )
{
    int found[512], wanted[512];
    assert_true( count <= 512 && tr_box_tree_build( tree, boxes, count ) );
    for ( int i = 0; i < count; ++i ) {
        int n = tr_box_tree_above( tree, i, found );
        assert_int_equal( n, all_pairs( boxes, count, i, wanted ) );
        assert_memory_equal( found, wanted, (size_t)n * sizeof( int ) );
    }
}

// Boxes of all sizes, in one place, along a line, empty, and one around everything.
static void tree_finds_what_all_pairs_find( void **state )
{
    (void)state;
    tr_box_tree tree = { 0 };
    tr_box boxes[512];
    uint64_t chance = 3;
    for ( int round = 0; round < 60; ++round ) {
        int count = round < 12 ? round : (int)( 512 * random_share( &chance ) );
        double spread = pow( 10, 4 * random_share( &chance ) - 2 );
        for ( int i = 0; i < count; ++i ) {
            vec3 at = v3_scale( spread, v3( random_share( &chance ), random_share( &chance ),
                                            round % 3 == 0 ? 0 : random_share( &chance ) ) );
            if ( round % 5 == 4 )
                at = v3_zero;
            boxes[i] = tr_box_grown( ( tr_box ){ at, at }, random_share( &chance ) );
            if ( i % 17 == 16 )
                boxes[i] = tr_box_empty();
            if ( i % 97 == 96 )
                boxes[i] = tr_box_grown( boxes[i], 2 * spread );
        }
        check_tree( &tree, boxes, count );
    }
    tr_box_tree_free( &tree );
}

static void tree_runs_out_of_memory( void **state )
{
    (void)state;
    tr_box_tree tree = { 0 };
    tr_box boxes[9];
    for ( int i = 0; i < 9; ++i )
        boxes[i] = tr_box_grown( tr_box_with( tr_box_empty(), v3( i, 0, 0 ) ), 0.6 );
    for ( int n = 1; n <= 2; ++n ) {
        tr_memory_fail_from( n );
        assert_false( tr_box_tree_build( &tree, boxes, 9 ) );
        tr_memory_fail_from( 0 );
    }
    check_tree( &tree, boxes, 9 );
    tr_box_tree_free( &tree );
}

// Looks of all queries among people on a square grid, each overlaps the eight around.
static double looks_of( int people )
{
    int columns = (int)ceil( sqrt( people ) ), *found = tr_alloc( (size_t)people, sizeof( int ) );
    tr_box *boxes = tr_alloc( (size_t)people, sizeof *boxes );
    tr_box_tree tree = { 0 };
    for ( int i = 0; i < people; ++i ) {
        vec3 at = v3( i % columns, 0, i / columns );
        boxes[i] = tr_box_grown( ( tr_box ){ at, at }, 0.6 );
    }
    assert_true( tr_box_tree_build( &tree, boxes, people ) );
    for ( int i = 0; i < people; ++i )
        tr_box_tree_above( &tree, i, found );
    double looks = (double)tree.looks;
    tr_box_tree_free( &tree );
    tr_free( boxes );
    tr_free( found );
    return looks;
}

// N log N: twice the people are 2 + 2 / log2( N ) times the work, a tenth more for the edges of the grid. All
// pairs would be four times.
static void looks_grow_with_people( void **state )
{
    (void)state;
    for ( int people = 250; people <= 4000; people *= 2 ) {
        double once = looks_of( people ), twice = looks_of( 2 * people );
        assert_true( twice <= 1.1 * ( 2 + 2 / log2( people ) ) * once );
    }
}

// ------------------------------------------------------------------------------------------------- Delaunay

static void check_same_mesh( const vec3 *points, int count )
{
    tr_error error;
    tr_delaunay plain = { 0 }, scattered = { .scattered = true };
    check_ok( tr_delaunay_build( &plain, points, count, &error ), &error );
    check_ok( tr_delaunay_build( &scattered, points, count, &error ), &error );
    assert_int_equal( plain.dimension, scattered.dimension );
    assert_int_equal( plain.tet_count, scattered.tet_count );
    assert_memory_equal( plain.twin, scattered.twin, (size_t)count * sizeof( int ) );
    assert_memory_equal( plain.start, scattered.start, ( (size_t)count + 1 ) * sizeof( int ) );
    assert_memory_equal( plain.neighbours, scattered.neighbours, (size_t)plain.start[count] * sizeof( int ) );
    tr_delaunay_free( &plain );
    tr_delaunay_free( &scattered );
}

// Points in general position have one Delaunay mesh, whatever the order. Some lie on top of each other.
static void scattered_points_make_the_same_mesh( void **state )
{
    (void)state;
    vec3 points[600];
    uint64_t chance = 5;
    for ( int round = 0; round < 20; ++round ) {
        int count = 4 + (int)( 595 * random_share( &chance ) );
        for ( int i = 0; i < count; ++i ) {
            points[i] =
                v3( 20 * random_share( &chance ), 2 * random_share( &chance ), 20 * random_share( &chance ) );
            if ( i % 31 == 30 )
                points[i] = points[i / 2];
        }
        check_same_mesh( points, count );
    }
}

// -------------------------------------------------------------------------------------------------- parades

typedef struct parade {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
} parade;

static void assemble( parade *p, int people, int frames, double spacing )
{
    tr_error error;
    *p = ( parade ){ 0 };
    tr_parade_def def = { .people = people, .frames = frames, .spacing = spacing };
    check_ok( tr_parade_build( &def, &p->scene, &p->library, &error ), &error );
    check_ok( tr_stage_build( &p->stage, &p->scene, NULL, &p->library, NULL, &error ), &error );
}

static void dismiss( parade *p )
{
    tr_result_free( &p->result );
    tr_stage_free( &p->stage );
    tr_library_free( &p->library );
    tr_scene_free( &p->scene );
}

static bool come_close( const tr_stage *stage, int i, int k )
{
    const tr_motion *a = &stage->actors[i].source, *b = &stage->actors[k].source;
    double limit = 0.6 * ( 0.5 * ( tr_stature( &a->skeleton ) + tr_stature( &b->skeleton ) ) );
    for ( int f = 0; f < stage->frame_count; ++f ) {
        vec3 apart = v3_horizontal( v3_sub( a->clip.root[f], b->clip.root[f] ) );
        if ( v3_dot( apart, apart ) < limit * limit )
            return true;
    }
    return false;
}

// Groups of bodies that come close, by all pairs: the lowest number spreads until nothing changes.
static void check_groups( const tr_stage *stage )
{
    static bool close[128][128];
    int group[128], count = stage->actor_count;
    assert_true( count <= 128 );
    for ( int i = 0; i < count; ++i ) {
        group[i] = i;
        for ( int k = 0; k < i; ++k )
            close[i][k] = close[k][i] = come_close( stage, i, k );
    }
    for ( bool changed = true; changed; ) {
        changed = false;
        for ( int i = 0; i < count; ++i )
            for ( int k = 0; k < count; ++k )
                if ( i != k && close[i][k] && group[k] < group[i] ) {
                    group[i] = group[k];
                    changed = true;
                }
    }
    for ( int i = 0; i < count; ++i )
        for ( int k = 0; k < i; ++k )
            assert_true( ( group[i] == group[k] ) == ( stage->actors[i].group == stage->actors[k].group ) );
}

static void groups_are_those_of_all_pairs( void **state )
{
    (void)state;
    uint64_t chance = 9;
    for ( int round = 0; round < 8; ++round ) {
        parade p;
        tr_error error;
        assemble( &p, 60, 70, round == 0 ? 0.8 : 3 );
        check_groups( &p.stage );
        // Headings and starts by chance: some cross each other's way, in any piece of the clip.
        for ( int i = 0; i < p.scene.cast_count; ++i ) {
            p.scene.cast[i].heading = 360 * random_share( &chance );
            p.scene.cast[i].start = (int)( 20 * random_share( &chance ) );
        }
        tr_stage_free( &p.stage );
        check_ok( tr_stage_build( &p.stage, &p.scene, NULL, &p.library, NULL, &error ), &error );
        check_groups( &p.stage );
        dismiss( &p );
    }
}

// A body far from all others moves as if alone, to the last bit.
static void people_move_as_if_alone( void **state )
{
    (void)state;
    parade many, one;
    tr_error error;
    assemble( &many, 30, 31, 3 );
    check_ok( tr_pipeline_run( &many.result, &many.stage, tr_method_find( NULL ), &error ), &error );
    for ( int i = 0; i < 30; i += 7 ) {
        assemble( &one, 30, 31, 3 );
        tr_stage_free( &one.stage );
        one.scene.cast[0] = one.scene.cast[i];
        one.scene.cast_count = 1;
        check_ok( tr_stage_build( &one.stage, &one.scene, NULL, &one.library, NULL, &error ), &error );
        check_ok( tr_pipeline_run( &one.result, &one.stage, tr_method_find( NULL ), &error ), &error );
        const tr_clip *a = &many.result.motions[i].clip, *b = &one.result.motions[0].clip;
        size_t cells = (size_t)a->frame_count * (size_t)a->joint_count;
        assert_memory_equal( a->rotations, b->rotations, cells * sizeof( quat ) );
        assert_memory_equal( a->root, b->root, (size_t)a->frame_count * sizeof( vec3 ) );
        dismiss( &one );
    }
    dismiss( &many );
}

// Bytes at most at once, from an empty stage to the result, of each person. The library is freed when the
// stage is built, as programs do that solve a scene once.
static double bytes_of_a_person( int people, int frames )
{
    parade p = { 0 };
    tr_error error;
    tr_parade_def def = { .people = people, .frames = frames, .spacing = 3 };
    check_ok( tr_parade_build( &def, &p.scene, &p.library, &error ), &error );
    tr_memory_reset_peak();
    check_ok( tr_stage_build( &p.stage, &p.scene, NULL, &p.library, NULL, &error ), &error );
    tr_library_free( &p.library );
    check_ok( tr_pipeline_run( &p.result, &p.stage, tr_method_find( NULL ), &error ), &error );
    double bytes = (double)tr_memory_peak() / people;
    dismiss( &p );
    return bytes;
}

static void memory_of_a_person_is_bounded( void **state )
{
    (void)state;
    double few = bytes_of_a_person( 100, 271 ), many = bytes_of_a_person( 200, 271 );
    assert_true( few <= 2e6 && many <= 2e6 );
    assert_true( many <= 1.02 * few );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( tree_finds_what_all_pairs_find ), TEST( tree_runs_out_of_memory ),
        TEST( looks_grow_with_people ),         TEST( scattered_points_make_the_same_mesh ),
        TEST( groups_are_those_of_all_pairs ),  TEST( people_move_as_if_alone ),
        TEST( memory_of_a_person_is_bounded ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
