// Edits at their limits: ends of the window that are dragged, handles that contradict each other, windows of
// a frame or two, bodies of one joint, and drags to where nobody can go.
#include "stage_fixture.h"

#define CAGE "layer_add id=edit kind=cage members="

static vec3 place_of( const tr_result *result, int actor, int joint_index, int frame )
{
    return tr_world_pose( &result->worlds[actor], frame ).positions[joint_index];
}

// In flight along z, three metres in all.
static void add_flyer( fixture *x, const char *id )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int f = 0; f < FRAMES; ++f )
        motion.clip.root[f] = v3( 0, 2, 0.1 * f );
    add_character( x, id, v3_zero, 1, &motion );
}

// ----------------------------------------------------------------------------------------------------- ends

// Largest bend of the root's way from frame to frame, metres.
static double roughness( const tr_result *result )
{
    double most = 0;
    for ( int f = 1; f + 1 < result->frame_count; ++f ) {
        vec3 sum = v3_add( place_of( result, 0, 0, f - 1 ), place_of( result, 0, 0, f + 1 ) );
        most = fmax( most, v3_distance( sum, v3_scale( 2, place_of( result, 0, 0, f ) ) ) );
    }
    return most;
}

// Between `still` and `there` the body goes up by half a metre, and stays up to the end of the clip.
static void check_goes_along( const char *ops, int still, int there )
{
    fixture x;
    begin( &x );
    add_flyer( &x, "a" );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, ops );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    int step = there > still ? 1 : -1;
    for ( int f = still; f >= 0 && f < FRAMES; f -= step )
        assert_true( same_frame( &plain, &edited, 0, f ) );
    for ( int f = there; f >= 0 && f < FRAMES; f += step )
        check_v3( place_of( &edited, 0, 0, f ), v3_add( place_of( &plain, 0, 0, f ), v3( 0, 0.5, 0 ) ),
                  1e-4 );
    assert_true( edited.handles[0].acted && edited.handles[0].error_mm < 1 );
    assert_true( roughness( &edited ) < 0.04 );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

static void a_dragged_end_takes_along_what_lies_beyond( void **state )
{
    (void)state;
    check_goes_along( CAGE "a range=5,25\nhandle_add id=h layer=edit frame=25 move=0,0.5,0", 5, 25 );
    check_goes_along( CAGE "a range=5,25\nhandle_add id=h layer=edit frame=5 move=0,0.5,0", 25, 5 );
    check_goes_along( CAGE "a range=10,30\nhandle_add id=h layer=edit frame=30 move=0,0.5,0", 10, 30 );
    check_goes_along( CAGE "a range=10,30\nhandle_add id=h layer=edit frame=30 point=a.Hips move=0,0.5,0", 10,
                      30 );
    check_goes_along( CAGE "a range=0,20\nhandle_add id=h layer=edit frame=0 point=a.Hips move=0,0.5,0", 20,
                      0 );
}

// ------------------------------------------------------------------------------------------- contradictions

// Two handles want one hand elsewhere: the first has it, the second is told what it misses.
static void the_first_of_two_handles_has_its_way( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_flyer( &x, "a" );
    edit( &x, CAGE "a range=3,27\n"
                   "handle_add id=first layer=edit frame=15 point=a.LeftHand move=0,0.1,0\n"
                   "handle_add id=second layer=edit frame=15 point=a.LeftHand move=0,-0.1,0" );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    check_near( result.handles[0].error_mm, 0, 1 );
    check_near( result.handles[1].error_mm, 200, 1 );
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_dragged_end_takes_along_what_lies_beyond ),
        TEST( the_first_of_two_handles_has_its_way ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
