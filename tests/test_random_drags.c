// A hundred random drags of a walker: any part, pulled anywhere, and it still walks.
#include "stage_fixture.h"

#include "scenes/scenes.h"

#define DRAGS 100
#define FAR   0.25 // metres along each axis

static double random_between( uint64_t *seed, double low, double high )
{
    return low + ( high - low ) * (double)( random_bits( seed ) >> 11 ) * 0x1p-53;
}

static int random_frame( uint64_t *seed, int low, int high )
{
    return low + (int)( random_bits( seed ) % (uint64_t)( high - low + 1 ) );
}

// Any part of the walker at any frame of any window, the hips pinned before or after it in every fourth.
static void random_drag( uint64_t *seed, bool pinned, char *ops, size_t size )
{
    static const char *const points[] = { "LeftHand", "RightHand", "Head",      "Hips",
                                          "Spine",    "LeftFoot",  "RightFoot", "LeftForeArm" };
    int first = random_frame( seed, 0, 60 ), last = first + random_frame( seed, 36, 60 );
    int frame = random_frame( seed, first + 12, last - 12 ), middle = ( first + last ) / 2;
    const char *point = points[random_bits( seed ) % ( sizeof points / sizeof *points )];
    double x = random_between( seed, -FAR, FAR ), y = random_between( seed, -FAR, FAR ),
           z = random_between( seed, -FAR, FAR );
    int used = snprintf( ops, size,
                         "layer_add id=edit kind=cage members=p01 range=%d,%d\n"
                         "handle_add id=h layer=edit frame=%d point=p01.%s move=%.3f,%.3f,%.3f",
                         first, last, frame, point, x, y, z );
    if ( pinned )
        snprintf( ops + used, size - (size_t)used, "\nhandle_add id=pin layer=edit frame=%d point=p01.Hips",
                  frame > middle ? frame - 10 : frame + 10 );
}

static void check_bodies( const tr_result *result, const char *ops )
{
    for ( int i = 0; i < result->actor_count; ++i )
        for ( int f = 0; f < result->frame_count; ++f ) {
            tr_pose pose = tr_world_pose( &result->worlds[i], f );
            for ( int j = 0; j < result->worlds[i].joint_count; ++j )
                assert_true( v3_finite( pose.positions[j] ) && q_finite( pose.rotations[j] ) );
            if ( q_rotate( pose.rotations[0], v3_y ).y < 0.5 )
                fail_msg( "%s: turned over at frame %d", ops, f );
        }
}

static void check_most( const tr_measures *measures, const char *key, bound_name row, const char *ops )
{
    const tr_metric_field *field = &tr_measures_find( measures, key )->fields[0];
    if ( field->out_null )
        return;
    if ( field->out > bound_row_of( row )->limit )
        print_error( "%s: %s\n", ops, key );
    check_bound_of( field->out, row );
}

// Whether the handle is where it was dragged to; pins always are.
static bool check_handles( const tr_stage *stage, const tr_result *result, const tr_measures *measures,
                           const char *ops )
{
    for ( int h = 1; h < result->handle_count; ++h )
        if ( result->handles[h].error_mm > 1 )
            fail_msg( "%s: the pin is lost by %g mm", ops, result->handles[h].error_mm );
    bool met = figure_of( measures, "edit_handle_mm" ) <= 1; // on the motion, not as the layer says
    assert_true( met != tr_handle_gave_way( stage, &result->handles[0] ) );
    return met;
}

static bool check_drag( const char *ops )
{
    fixture x = { .scene = tr_default_scene() };
    tr_measures measures;
    check_ok( tr_scene_build( tr_scene_entry_find( "corridor" ), 2, &x.scene, &x.library, &x.error ),
              &x.error );
    x.scene.last = x.scene.first + 120;
    edit( &x, ops );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
    check_bodies( &result, ops );
    check_most( &measures, "acceleration_spike", BOUND_ACCELERATION, ops );
    check_most( &measures, "rotation_spike_deg", BOUND_ROTATION_DEG, ops );
    check_most( &measures, "ground_penetration_mm", BOUND_GROUND_MM, ops );
    check_most( &measures, "contact_error_mm", BOUND_CONTACT_MM, ops );
    check_most( &measures, "foot_skate_mm_s", BOUND_SKATE_MM_S, ops );
    check_most( &measures, "edit_leak_mm", BOUND_LEAK_MM, ops );
    for ( int r = 0; r < x.stage.rule_count; ++r )
        assert_false( result.reports[r].gave_way );
    bool met = check_handles( &x.stage, &result, &measures, ops );
    tr_measures_free( &measures );
    tr_result_free( &result );
    end( &x );
    return met;
}

static void a_hundred_random_drags( void **state )
{
    (void)state;
    uint64_t seed = 2026;
    int met = 0;
    for ( int n = 0; n < DRAGS; ++n ) {
        char ops[400];
        random_drag( &seed, n % 4 == 3, ops, sizeof ops );
        met += check_drag( ops );
    }
    print_message( "%d of %d handles are where they were dragged to\n", met, DRAGS );
    assert_true( met >= 70 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_hundred_random_drags ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
