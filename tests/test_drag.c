// Layers while they are dragged: what a tick shows against what the pipeline makes of the same handles.
#include "stage_fixture.h"

typedef struct holding { // a drag at work on a fixture
    fixture x;
    tr_result below;
    tr_drag *drag;
} holding;

// The layer `edit` of ops on the fixture, which is built already.
static void hold( holding *h, const char *ops )
{
    edit( &h->x, ops );
    rebuild( &h->x );
    int layer = tr_scene_find_layer( &h->x.scene, "edit" );
    check_ok( tr_pipeline_run_below( &h->below, &h->x.stage, tr_method_find( NULL ), layer, &h->x.error ),
              &h->x.error );
    h->drag = tr_drag_begin( &h->x.stage, &h->below, layer, &h->x.error );
    check_ok( h->drag != NULL, &h->x.error );
}

static void let_go( holding *h )
{
    tr_drag_end( h->drag );
    tr_result_free( &h->below );
    end( &h->x );
}

static bool tick( holding *h, vec3 move, int frame )
{
    tr_drag_move held = { 0, move, v3_zero };
    return tr_drag_visible( h->drag, &( tr_drag_tick ){ .moves = &held, .move_count = 1, .frame = frame } );
}

static void settle( holding *h )
{
    while ( tr_drag_more( h->drag, 1 ) )
        ;
}

// What the pipeline makes of the first handle there.
static tr_result cold( holding *h, vec3 move )
{
    h->x.scene.handles[0].move = move;
    return solve( &h->x, NULL );
}

// Largest distance of a joint or prop in a frame, metres.
static double apart( const tr_result *a, const tr_result *b, int frame )
{
    double most = 0;
    for ( int i = 0; i < a->actor_count; ++i )
        for ( int j = 0; j < a->worlds[i].joint_count; ++j )
            most = fmax( most, v3_distance( tr_world_pose( &a->worlds[i], frame ).positions[j],
                                            tr_world_pose( &b->worlds[i], frame ).positions[j] ) );
    for ( int p = 0; p < a->prop_count; ++p )
        most = fmax( most, v3_distance( a->tracks[p][frame].position, b->tracks[p][frame].position ) );
    return most;
}

// Two who hold a box between them, and a stranger.
static void cast_of_three( fixture *x )
{
    begin( x );
    add_bent( x, "a", v3_zero, 1 );
    add_bent( x, "b", v3( 1.2, 0, 0 ), 1 );
    add_bent( x, "c", v3( 9, 0, 0 ), 1 );
    tr_prop box = tr_default_prop( "box" );
    box.size = v3( 0.3, 0.3, 0.3 );
    box.position = v3( 0.6, 1.45, 0 );
    tr_scene_add_prop( &x->scene, &box );
    tr_constraint links[2] = {
        relation( "ab", tr_point_joint( "a", "LeftHand" ), tr_point_prop( "box", v3( -0.15, 0, 0 ) ) ),
        relation( "bb", tr_point_joint( "b", "RightHand" ), tr_point_prop( "box", v3( 0.15, 0, 0 ) ) ) };
    for ( int i = 0; i < 2; ++i )
        tr_scene_add_constraint( &x->scene, &links[i] );
    build( x );
}

#define ARM                                                                                                  \
    "layer_add id=edit kind=cage members=a.left_arm range=4,26\n"                                            \
    "handle_add id=grip layer=edit frame=15 point=a.LeftHand\n"
#define BOX "layer_add id=edit kind=cage members=box range=4,26\nhandle_add id=grip layer=edit frame=15\n"

// ------------------------------------------------------------------------------------------------- identity

static void what_is_not_dragged_keeps_its_bits( void **state )
{
    (void)state;
    holding h;
    cast_of_three( &h.x );
    hold( &h, ARM );
    assert_true( tick( &h, v3_zero, 15 ) );
    settle( &h );
    const tr_result *shown = tr_drag_result( h.drag );
    for ( int i = 0; i < 3; ++i )
        for ( int f = 0; f < FRAMES; ++f )
            assert_true( same_frame( &h.below, shown, i, f ) );
    assert_memory_equal( h.below.tracks[0], shown->tracks[0], FRAMES * sizeof( rigid ) );
    assert_true( tick( &h, v3( 0, 0.05, 0.02 ), 15 ) );
    settle( &h );
    for ( int f = 0; f < FRAMES; ++f ) {
        assert_true( same_frame( &h.below, shown, 2, f ) );
        assert_true( ( f > 4 && f < 26 ) || same_frame( &h.below, shown, 0, f ) );
    }
    assert_false( same_frame( &h.below, shown, 0, 15 ) );
    assert_false( same_frame( &h.below, shown, 1, 15 ) ); // its partner comes along
    assert_true( tick( &h, v3_zero, 15 ) );               // and back
    settle( &h );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( apart( &h.below, shown, f ) < 1e-5 );
    let_go( &h );
}

// -------------------------------------------------------------------------------------------------- quality

// Drags in steps of a mouse and compares every frame with the cold result.
static void compare( const char *ops, vec3 step, int steps )
{
    holding h;
    cast_of_three( &h.x );
    hold( &h, ops );
    for ( int i = 1; i <= steps; ++i )
        assert_true( tick( &h, v3_scale( i, step ), 15 ) );
    settle( &h );
    tr_result kept = cold( &h, v3_scale( steps, step ) );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( apart( &kept, tr_drag_result( h.drag ), f ) < 2e-3 );
    assert_true( apart( &kept, &h.below, 15 ) > 0.02 );
    assert_true( tr_drag_error( h.drag, 0 ) < 1e-3 );
    tr_result_free( &kept );
    let_go( &h );
}

static void a_preview_is_near_what_is_kept( void **state )
{
    (void)state;
    compare( ARM, v3( 0, 0.01, 0.005 ), 6 );
    compare( BOX, v3( 0, 0.01, 0.005 ), 6 );
}

// ---------------------------------------------------------------------------------------------------- order

static void blocks_come_from_the_visible_one_outwards( void **state )
{
    (void)state;
    holding h;
    cast_of_three( &h.x );
    hold( &h, ARM );
    assert_true( tick( &h, v3( 0, 0.05, 0 ), 13 ) ); // in frames 8 … 15
    static const int order[] = { 10, 18, 6, 24 };    // one of each block, within the window
    for ( int n = 0; n < 4; ++n ) {
        for ( int k = 0; k < 4; ++k )
            assert_int_equal( tr_drag_is_solved( h.drag, order[k] ), k <= n );
        assert_int_equal( tr_drag_more( h.drag, 1 ), n < 2 );
    }
    let_go( &h );
}

static void superseded_ticks_stop( void **state )
{
    (void)state;
    holding h;
    cast_of_three( &h.x );
    hold( &h, ARM );
    atomic_int latest = 1;
    tr_drag_move move = { 0, v3( 0, 0.05, 0 ), v3_zero };
    tr_drag_tick first = { .moves = &move, .move_count = 1, .frame = 13, .latest = &latest, .number = 1 };
    assert_true( tr_drag_visible( h.drag, &first ) );
    latest = 2;
    assert_false( tr_drag_more( h.drag, 4 ) );
    assert_false( tr_drag_visible( h.drag, &first ) );
    first.number = 2;
    assert_true( tr_drag_visible( h.drag, &first ) );
    assert_true( tr_drag_more( h.drag, 1 ) );
    let_go( &h );
}

static void trouble_is_told( void **state )
{
    (void)state;
    holding h;
    cast_of_three( &h.x );
    edit( &h.x, "layer_add id=edit kind=cage members=a muted=true\n" );
    rebuild( &h.x );
    check_ok( tr_pipeline_run_below( &h.below, &h.x.stage, tr_method_find( NULL ), 0, &h.x.error ),
              &h.x.error );
    assert_null( tr_drag_begin( &h.x.stage, &h.below, 0, &h.x.error ) );
    assert_non_null( strstr( h.x.error.message, "muted" ) );
    tr_result_free( &h.below );
    end( &h.x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( what_is_not_dragged_keeps_its_bits ),
        TEST( a_preview_is_near_what_is_kept ),
        TEST( blocks_come_from_the_visible_one_outwards ),
        TEST( superseded_ticks_stop ),
        TEST( trouble_is_told ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
