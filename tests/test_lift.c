// Bodies of another build that hang deeper than their source's are raised out of the ground.
#include "stage_fixture.h"

// Head down, feet in the air, hips at a height that sinks by `dip` in the middle of the clip: in the source
// the head stays 5 cm above the ground.
static void turn_upside_down( tr_motion *motion, double dip )
{
    for ( int f = 0; f < motion->clip.frame_count; ++f ) {
        double along = (double)f / ( motion->clip.frame_count - 1 );
        tr_clip_frame( &motion->clip, f )[0] = q_axis_angle( v3_x, TR_PI );
        motion->clip.root[f] = v3( 0, 0.8 + dip - dip * sin( TR_PI * along ), 0 );
    }
}

// A body like the others with a head twice as far from its chest: 30 cm more.
static void open_long_head( fixture *x, double dip )
{
    tr_motion source, other;
    begin( x );
    make_body( &source, FRAMES );
    turn_upside_down( &source, dip );
    tr_cast *cast = add_character( x, "a", v3_zero, 1, &source );
    make_body( &other, 1 );
    other.skeleton.joints[tr_skeleton_find( &other.skeleton, "Head" )].offset = v3( 0, 0.6, 0 );
    check_ok( tr_library_add( &x->library, "other.bvh", &other, &x->error ), &x->error );
    snprintf( cast->target.skeleton.file, sizeof cast->target.skeleton.file, "other.bvh" );
    build( x );
}

static double head_at( const fixture *x, const tr_result *result, int frame )
{
    return tr_world_pose( &result->worlds[0], frame ).positions[joint( &x->stage, 0, "Head" )].y;
}

// 25 cm deep all the time when copied: on the floor.
static void what_hangs_deep_is_raised( void **state )
{
    (void)state;
    fixture x;
    open_long_head( &x, 0 );
    tr_result copied = solve( &x, "copy" ), result = solve( &x, NULL );
    for ( int f = 0; f < FRAMES; ++f ) {
        check_near( head_at( &x, &copied, f ), -0.25, 1e-6 );
        check_near( head_at( &x, &result, f ), 0, 1e-3 );
    }
    tr_result_free( &copied );
    tr_result_free( &result );
    end( &x );
}

// Up and down again without a kick: the source's own steps change by 5.5 mm a frame, 0.5 m · (π / 30)².
static void raising_is_smooth( void **state )
{
    (void)state;
    fixture x;
    open_long_head( &x, 0.5 );
    tr_result result = solve( &x, NULL );
    double kick = 0;
    for ( int f = 0; f < FRAMES; ++f ) {
        check_bound( head_at( &x, &result, f ), LONG_HEAD_M );
        if ( f > 1 )
            kick = fmax( kick, fabs( head_at( &x, &result, f ) - 2 * head_at( &x, &result, f - 1 ) +
                                     head_at( &x, &result, f - 2 ) ) );
    }
    print_message( "steps change by up to %.1f mm\n", 1e3 * kick );
    check_bound( kick, LONG_HEAD_KICK_M );
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( what_hangs_deep_is_raised ),
        TEST( raising_is_smooth ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
