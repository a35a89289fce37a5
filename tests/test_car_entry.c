// Getting into a car with other bodies, and into other cars: what interaction meshes promise for a body among
// boxes of the environment, measured on the motion they give. docs/closeness.md has all figures.
#include "check.h"
#include "take.h"

typedef struct visit {
    double scale, girth, arms, legs; // factors of the body
    double car;                      // size of all its pieces
    bound_name deep;                 // in the environment
    bound_name jerk;
} visit;

static void start( take *x, const visit *v, const char *method )
{
    open_scene( x, "car_entry", 1 );
    x->scene.first = 30;
    x->scene.last = 160;
    tr_target *target = &x->scene.cast[0].target;
    target->scale = v->scale;
    target->girths[0] = ( tr_limb_value ){ "all", v->girth };
    target->limbs[0] = ( tr_limb_value ){ "arms", v->arms };
    target->limbs[1] = ( tr_limb_value ){ "legs", v->legs };
    target->girth_count = 1;
    target->limb_count = 2;
    for ( int i = 0; i < x->scene.obstacle_count; ++i ) {
        tr_obstacle *piece = &x->scene.obstacles[i];
        piece->scale = v->car;
        piece->move = v3_scale( v->car - 1, piece->position );
    }
    solve( x, method );
}

// A third as deep in the car as without the mesh at most; bones whole, feet where they stand, every
// contact kept.
static void everybody_gets_in( void **state )
{
    (void)state;
    static const visit visits[] = {
        { 1.1, 1.3, 1, 1, 1, BOUND_CAR_DEEP_MM, BOUND_JERK },                // as built
        { 1.1, 1.3, 1, 1, 0.88, BOUND_CAR_SMALL_DEEP_MM, BOUND_CLOSE_JERK }, // a smaller car
        { 0.8, 1, 1, 1, 1, BOUND_CAR_CHILD_DEEP_MM, BOUND_CAR_CHILD_JERK },  // a child
        { 1, 1, 1.25, 0.8, 1, BOUND_CAR_DEEP_MM, BOUND_CLOSE_JERK },         // long arms, short legs
        { 1, 1.4, 1, 1, 1, BOUND_CAR_THICK_DEEP_MM, BOUND_CLOSE_JERK },      // thick
        { 1.4, 1, 1, 1, 1, BOUND_CAR_GIANT_DEEP_MM, BOUND_CLOSE_JERK },      // a giant
    };
    for ( size_t i = 0; i < sizeof visits / sizeof visits[0]; ++i ) {
        take with, without;
        start( &without, &visits[i], "posegraph" );
        start( &with, &visits[i], "imesh" );
        double deep = figure( &with, "environment_penetration_mm", "max" ),
               before = figure( &without, "environment_penetration_mm", "max" );
        print_message( "%zu: %.1f mm, %.1f without; jerk %.2f, gave way %.1f mm\n", i, deep, before,
                       figure( &with, "jerk_ratio", "value" ),
                       figure( &with, "contact_error_mm", "gave_way_max" ) );
        check_bound_of( deep, visits[i].deep );
        assert_true( 3 * deep < before );
        check_bound_of( figure( &with, "jerk_ratio", "value" ), visits[i].jerk );
        check_near( figure( &with, "contact_error_mm", "gave_way" ), 0, 0 );
        check_bound( figure( &with, "contact_error_mm", "max" ), CONTACT_MM );
        check_bound( figure( &with, "foot_skate_mm_s", "mean" ), CAR_SKATE_MM_S );
        check_bound( figure( &with, "ground_penetration_mm", "max" ), GROUND_MM );
        check_near( figure( &with, "bone_length_error_pct", "value" ), 0, 1e-6 );
        close_scene( &with );
        close_scene( &without );
    }
}

// Pieces of the car a little aside, each its own way: what comes out is as good as in the car as built.
// Meshes alone had it anywhere from 8 to 40 mm.
static void shifted_pieces_make_no_difference( void **state )
{
    (void)state;
    const double shift = 0.002;
    uint64_t random = 21;
    for ( int i = 0; i < 8; ++i ) {
        take x;
        open_scene( &x, "car_entry", 1 );
        x.scene.first = 30;
        x.scene.last = 160;
        for ( int o = 0; o < x.scene.obstacle_count; ++o )
            x.scene.obstacles[o].move = v3_scale( shift, v3_unit( random_vector( &random, 1 ) ) );
        solve( &x, "imesh" );
        print_message( "%d: %.1f mm, jerk %.3f, turns %.1f\n", i,
                       figure( &x, "environment_penetration_mm", "max" ), figure( &x, "jerk_ratio", "value" ),
                       figure( &x, "rotation_spike_deg", "value" ) );
        check_bound( figure( &x, "environment_penetration_mm", "max" ), CAR_SHIFTED_DEEP_MM );
        check_bound( figure( &x, "jerk_ratio", "value" ), JERK );
        check_bound( figure( &x, "rotation_spike_deg", "value" ), CAR_SHIFTED_ROTATION_DEG );
        check_near( figure( &x, "contact_error_mm", "gave_way" ), 0, 0 );
        check_bound( figure( &x, "contact_error_mm", "max" ), CAR_SHIFTED_CONTACT_MM );
        close_scene( &x );
    }
}

static void shift_seat( take *x )
{
    open_scene( x, "car_entry", 1 );
    x->scene.first = 30;
    x->scene.last = 160;
    tr_obstacle *seat = &x->scene.obstacles[tr_scene_find_obstacle( &x->scene, "seat" )];
    seat->move = v3( -0.001, 0.0013, -0.0011 );
}

// A seat that the meshes alone leave a neck 40 mm in the back of.
static void threads_make_no_difference( void **state )
{
    (void)state;
    take one, two;
    shift_seat( &one );
    shift_seat( &two );
    tr_parallel_set_threads( 1 );
    solve( &one, "imesh" );
    tr_parallel_set_threads( 2 );
    solve( &two, "imesh" );
    tr_parallel_set_threads( 0 );
    const tr_clip *a = &one.result.motions[0].clip, *b = &two.result.motions[0].clip;
    size_t frames = (size_t)a->frame_count;
    assert_memory_equal( a->root, b->root, frames * sizeof( vec3 ) );
    assert_memory_equal( tr_clip_frame( a, 0 ), tr_clip_frame( b, 0 ),
                         frames * (size_t)a->joint_count * sizeof( quat ) );
    close_scene( &one );
    close_scene( &two );
}

static bool is_corner( const tr_stage *stage, vec3 point )
{
    for ( int o = 0; o < stage->scene->obstacle_count; ++o ) {
        tr_solid box = tr_stage_obstacle( stage, o, false );
        for ( int c = 0; c < 8; ++c ) {
            vec3 corner = v3( ( c & 1 ) - 0.5, ( c >> 1 & 1 ) - 0.5, ( c >> 2 ) - 0.5 );
            if ( v3_distance( rigid_apply( box.at, v3_mul( box.shape.size, corner ) ), point ) < 1e-9 )
                return true;
        }
    }
    return false;
}

// What is shown of the mesh ends at the car as it is now, not where the source has it.
static void lines_end_at_the_smaller_car( void **state )
{
    (void)state;
    const visit small = { .scale = 1.1, .girth = 1.3, .arms = 1, .legs = 1, .car = 0.88 };
    take x;
    tr_error error;
    tr_mesh_lines lines = { 0 };
    start( &x, &small, "posegraph" );
    tr_imesh_pairs links;
    check_ok( tr_stage_links( &links, &x.stage, &error ), &error );
    check_ok( tr_mesh_lines_find( &lines, &x.stage, &x.result, &links, 0, 60, &error ), &error );
    assert_true( lines.count > 10 );
    for ( int i = 0; i < lines.count; ++i )
        assert_true( is_corner( &x.stage, lines.items[i][0] ) || is_corner( &x.stage, lines.items[i][1] ) );
    tr_mesh_lines_free( &lines );
    tr_imesh_pairs_free( &links );
    close_scene( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = { TEST( everybody_gets_in ), TEST( shifted_pieces_make_no_difference ),
                                        TEST( threads_make_no_difference ),
                                        TEST( lines_end_at_the_smaller_car ) };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
