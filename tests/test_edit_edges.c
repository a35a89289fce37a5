// Edits at their limits: ends of the window that are dragged, handles that contradict each other, windows of
// a frame or two, bodies of one joint, and drags out of reach.
#include "stage_fixture.h"

#include "scenes/scenes.h"

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
    check_bound( roughness( &edited ), FLYER_KICK_M );
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

// Two handles want one hand at different places: the first is met, the second is reported with its miss.
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

// ------------------------------------------------------------------------------------------------- too far

// Frees the fixture.
static void check_stays_on_feet( fixture *x, const char *ops, double missed )
{
    tr_measures measures;
    edit( x, ops );
    build( x );
    tr_result result = solve( x, "posegraph" );
    check_ok( tr_measure( &measures, &x->stage, &result, &x->error ), &x->error );
    print_message( "%s: %.3f m off; acceleration %.2f, rotation %.1f°, ground %.1f mm\n", ops,
                   1e-3 * result.handles[0].error_mm, figure_of( &measures, "acceleration_spike" ),
                   figure_of( &measures, "rotation_spike_deg" ),
                   figure_of( &measures, "ground_penetration_mm" ) );
    assert_true( result.handles[0].error_mm > 1e3 * missed );
    check_bound( figure_of( &measures, "contact_error_mm" ), CONTACT_MM );
    check_bound( figure_of( &measures, "acceleration_spike" ), ACCELERATION );
    check_bound( figure_of( &measures, "rotation_spike_deg" ), ROTATION_DEG );
    check_bound( figure_of( &measures, "ground_penetration_mm" ), GROUND_MM );
    assert_true( figure_of( &measures, "edit_leak_mm" ) == 0 );
    for ( int r = 0; r < x->stage.rule_count; ++r )
        assert_false( result.reports[r].gave_way );
    tr_measures_free( &measures );
    tr_result_free( &result );
    end( x );
}

// A walker is dragged out of reach: it goes as far as it can, on its feet, and smoothly; the handle says by
// how much it is missed.
static void who_is_pulled_too_far_stays_on_his_feet( void **state )
{
    (void)state;
    static const struct {
        const char *members, *handle;
        double missed; // metres, at least
    } drags[] = {
        { "p01", "point=p01.LeftHand move=100,0,0", 95 },
        { "p01", "point=p01.LeftHand move=0,0,-100", 95 },
        { "p01", "point=p01.Head move=0,100,0", 95 },
        { "p01", "point=p01.Hips move=0,-100,0", 95 },
        { "p01", "point=p01.Hips move=0,-0.8,0", 0.1 },
        { "p01", "point=p01.Hips move=3,0,3", 2 },
        { "p01", "move=100,0,0", 90 },
        { "p01", "move=0,5,0", 4 },
        { "p01", "move=0,100,0", 95 },
        { "p01", "move=0,-50,0", 45 },
        { "p01.left_arm", "point=p01.LeftHand move=0,100,0", 95 },
        { "p01.left_arm", "point=p01.LeftHand move=0,0,3", 1 },
        { "p01.left_arm", "point=p01.LeftHand move=0,3,0", 1 },
    };
    for ( size_t i = 0; i < sizeof drags / sizeof *drags; ++i ) {
        fixture x = { .scene = tr_default_scene() };
        char ops[300];
        check_ok( tr_scene_build( tr_scene_entry_find( "corridor" ), 2, &x.scene, &x.library, &x.error ),
                  &x.error );
        x.scene.last = x.scene.first + 120;
        snprintf(
            ops, sizeof ops,
            "layer_add id=edit kind=cage members=%s range=20,100\nhandle_add id=h layer=edit frame=60 %s",
            drags[i].members, drags[i].handle );
        check_stays_on_feet( &x, ops, drags[i].missed );
    }
}

// A body that stands still has no acceleration to compare with: it turns over many frames, not in one.
static void who_stands_still_turns_smoothly( void **state )
{
    (void)state;
    fixture x = { .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( "squat_chain" ), 2, &x.scene, &x.library, &x.error ),
              &x.error );
    for ( int i = 0; i < x.library.count; ++i ) {
        tr_clip *clip = &x.library.items[i].motion.clip;
        for ( int f = 1; f < clip->frame_count; ++f ) {
            memcpy( tr_clip_frame( clip, f ), tr_clip_frame( clip, 0 ),
                    (size_t)clip->joint_count * sizeof( quat ) );
            clip->root[f] = clip->root[0];
        }
    }
    x.scene.last = x.scene.first + 120;
    edit( &x, "layer_add id=edit kind=cage members=p01 range=20,100\n"
              "handle_add id=h layer=edit frame=60 turn=0,100,0" );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    double most = 0;
    for ( int j = 0; j < result.worlds[0].joint_count; ++j )
        for ( int f = 1; f + 1 < result.frame_count; ++f ) {
            vec3 sum = v3_add( place_of( &result, 0, j, f - 1 ), place_of( &result, 0, j, f + 1 ) );
            most = fmax( most, v3_distance( sum, v3_scale( 2, place_of( &result, 0, j, f ) ) ) );
        }
    print_message( "second differences of %.1f mm, %.1f mm off\n", 1e3 * most, result.handles[0].error_mm );
    check_bound( most, TURNED_KICK_M );
    tr_result_free( &result );
    end( &x );
}

// Beasts are pulled too far as well, and pressed down no further than what hangs on their trunks.
static void beasts_pulled_too_far_stay_on_their_feet( void **state )
{
    (void)state;
    static const char *const drags[][2] = {
        { "wolf", "members=wolf01 range=194,240\nhandle_add id=h layer=edit frame=212 move=0,0,10" },
        { "wolf", "members=wolf01 range=194,240\nhandle_add id=h layer=edit frame=212 move=0,0,40" },
        { "spider", "members=* turn=true range=0,240\nhandle_add id=h layer=edit frame=80 move=100,0,0" },
        { "spider", "members=spider01 range=122,240\nhandle_add id=h layer=edit frame=181 "
                    "move=0.21,-0.29,0.11" },
    };
    for ( size_t i = 0; i < sizeof drags / sizeof *drags; ++i ) {
        fixture x = { .scene = tr_default_scene() };
        char ops[300];
        snprintf( ops, sizeof ops, "layer_add id=edit kind=cage %s", drags[i][1] );
        check_ok( tr_scene_build( tr_scene_entry_find( drags[i][0] ), 0, &x.scene, &x.library, &x.error ),
                  &x.error );
        check_stays_on_feet( &x, ops, 0.1 );
    }
}

// Frames the falloff leaves out keep every bit, of a walker in the middle of a step too: stances that it
// cuts stay where they are.
static void walkers_rest_beyond_the_falloff( void **state )
{
    (void)state;
    static const char *const drags[] = {
        "members=p01 falloff=40\nhandle_add id=h layer=edit frame=60 move=0,0,0.3",
        "members=p01 falloff=40 turn=true\nhandle_add id=h layer=edit frame=60 move=0,0,0.3",
        "members=p01 falloff=24\nhandle_add id=h layer=edit frame=30 move=0,0,0.1\n"
        "handle_add id=i layer=edit frame=90 move=0,0,0.1",
        "members=p01.left_arm falloff=20\nhandle_add id=h layer=edit frame=60 point=p01.LeftHand "
        "move=0,0.15,0",
    };
    for ( size_t i = 0; i < sizeof drags / sizeof *drags; ++i ) {
        fixture x = { .scene = tr_default_scene() };
        tr_measures measures;
        char ops[300];
        check_ok( tr_scene_build( tr_scene_entry_find( "corridor" ), 2, &x.scene, &x.library, &x.error ),
                  &x.error );
        x.scene.last = x.scene.first + 120;
        build( &x );
        tr_result plain = solve( &x, "posegraph" );
        snprintf( ops, sizeof ops, "layer_add id=edit kind=cage %s", drags[i] );
        edit( &x, ops );
        rebuild( &x );
        tr_result edited = solve( &x, "posegraph" );
        int falloff = (int)x.scene.layers[0].falloff;
        for ( int f = 0; f < edited.frame_count; ++f ) {
            bool near = false;
            for ( int h = 0; h < x.scene.handle_count; ++h )
                near = near || abs( x.scene.handles[h].frame - x.scene.first - f ) < falloff;
            if ( !near && !same_frame( &plain, &edited, 0, f ) )
                fail_msg( "%s: frame %d moved", drags[i], f );
        }
        check_ok( tr_measure( &measures, &x.stage, &edited, &x.error ), &x.error );
        check_bound( figure_of( &measures, "edit_handle_mm" ), HANDLE_MM );
        check_bound( figure_of( &measures, "contact_error_mm" ), CONTACT_MM );
        check_bound( figure_of( &measures, "acceleration_spike" ), ACCELERATION );
        check_bound( figure_of( &measures, "rotation_spike_deg" ), ROTATION_DEG );
        check_near( figure_of( &measures, "edit_leak_mm" ), 0, 0 );
        tr_measures_free( &measures );
        tr_result_free( &plain );
        tr_result_free( &edited );
        end( &x );
    }
}

// Legs that span a metre take long steps, however low the body is.
static void a_low_body_with_long_legs_is_led_aside( void **state )
{
    (void)state;
    fixture x = { .scene = tr_default_scene() };
    tr_measures measures;
    check_ok( tr_scene_build( tr_scene_entry_find( "spider" ), 1, &x.scene, &x.library, &x.error ),
              &x.error );
    edit( &x, CAGE "* turn=true\nhandle_add id=h layer=edit frame=80 move=0.3,0,0" );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
    check_bound( figure_of( &measures, "edit_handle_mm" ), HANDLE_MM );
    check_bound( figure_of( &measures, "contact_error_mm" ), CONTACT_MM );
    check_bound( figure_of( &measures, "acceleration_spike" ), ACCELERATION );
    check_bound( figure_of( &measures, "rotation_spike_deg" ), ROTATION_DEG );
    tr_measures_free( &measures );
    tr_result_free( &result );
    end( &x );
}

// The standing body of other tests, with a root on the floor below its hips, as some files have it.
static void add_on_floor( fixture *x )
{
    tr_motion body, motion = { 0 };
    make_body( &body, FRAMES );
    bend_a_little( &body );
    tr_skeleton *s = &motion.skeleton;
    vec3 rise = v3( 0, body.clip.root[0].y, 0 );
    tr_skeleton_add( s, "Floor", -1, v3_zero );
    for ( int j = 0; j < body.skeleton.joint_count; ++j ) {
        const tr_joint *joint = &body.skeleton.joints[j];
        tr_skeleton_add( s, joint->name, joint->parent + 1, j == 0 ? rise : joint->offset );
        s->joints[j + 1].end_site = joint->end_site;
    }
    check_ok( tr_skeleton_classify( s, &x->error ), &x->error );
    check_ok( tr_clip_alloc( &motion.clip, FRAMES, s->joint_count, FPS, false, &x->error ), &x->error );
    for ( int f = 0; f < FRAMES; ++f ) {
        motion.clip.root[f] = v3_sub( body.clip.root[f], rise );
        memcpy( tr_clip_frame( &motion.clip, f ) + 1, tr_clip_frame( &body.clip, f ),
                (size_t)body.skeleton.joint_count * sizeof( quat ) );
    }
    tr_motion_free( &body );
    add_character( x, "a", v3_zero, 1, &motion );
}

// Edits come to the same, whatever the pelvis hangs on.
static void roots_on_the_floor_change_nothing( void **state )
{
    (void)state;
    static const char *const drags[] = { "move=0,-0.15,0", "move=0.1,0,0.1", "turn=0,20,0",
                                         "point=a.Hips move=0.05,-0.1,0", "point=a.LeftHand move=0,0.1,0" };
    for ( size_t i = 0; i < sizeof drags / sizeof *drags; ++i ) {
        tr_result results[2];
        for ( int floor = 0; floor < 2; ++floor ) {
            fixture x;
            tr_measures measures;
            char ops[200];
            begin( &x );
            if ( floor )
                add_on_floor( &x );
            else
                add_bent( &x, "a", v3_zero, 1 );
            snprintf( ops, sizeof ops, CAGE "a range=2,28\nhandle_add id=h layer=edit frame=15 %s",
                      drags[i] );
            edit( &x, ops );
            build( &x );
            results[floor] = solve( &x, "posegraph" );
            check_ok( tr_measure( &measures, &x.stage, &results[floor], &x.error ), &x.error );
            print_message( "%s: %.2f mm off\n", drags[i], results[floor].handles[0].error_mm );
            check_bound( figure_of( &measures, "ground_penetration_mm" ), GROUND_MM );
            check_bound( figure_of( &measures, "contact_error_mm" ), CONTACT_MM );
            tr_measures_free( &measures );
            end( &x );
        }
        check_near( results[1].handles[0].error_mm, results[0].handles[0].error_mm, 3 );
        for ( int f = 0; f < FRAMES; ++f )
            for ( int j = 0; j < results[0].worlds[0].joint_count; ++j )
                check_v3( place_of( &results[1], 0, j + 1, f ), place_of( &results[0], 0, j, f ), 0.02 );
        tr_result_free( &results[0] );
        tr_result_free( &results[1] );
    }
}

// The largest value of any body at frames first … last.
static double farthest_moved( const tr_result *a, const tr_result *b, int first, int last )
{
    double most = 0;
    for ( int i = 0; i < a->actor_count; ++i )
        for ( int f = first; f <= last; ++f )
            for ( int j = 0; j < a->worlds[i].joint_count; ++j )
                most = fmax( most, v3_distance( place_of( a, i, j, f ), place_of( b, i, j, f ) ) );
    return most;
}

// An edit vanishes with its size: a hundredth of a millimetre moves no body by more than a tenth of one.
static void tiny_edits_move_little( void **state )
{
    (void)state;
    static const struct {
        const char *scene;
        int cast;
        const char *ops;
    } edits[] = {
        { "corridor", 2, "members=p01\nhandle_add id=h layer=edit frame=60 move=0,0,1e-5" },
        { "corridor", 2, "members=p01\nhandle_add id=h layer=edit frame=60 move=0,-1e-5,0" },
        { "corridor", 2, "members=p01 turn=true\nhandle_add id=h layer=edit frame=60 move=0,0,1e-5" },
        { "corridor", 2, "members=*\nhandle_add id=h layer=edit frame=60 move=1e-5,0,0" },
        { "corridor", 2,
          "members=p01\nhandle_add id=h layer=edit frame=60 point=p01.LeftFoot move=0,1e-5,0" },
        { "corridor", 2,
          "members=p01\nhandle_add id=h layer=edit frame=60 point=p01.LeftHand move=0,1e-5,0" },
        { "box_relay", 3, "members=p02\nhandle_add id=h layer=edit frame=60 move=0,0,1e-5" },
        { "box_relay", 3, "members=box02\nhandle_add id=h layer=edit frame=60 move=0,1e-5,0" },
        { "spider", 1, "members=*\nhandle_add id=h layer=edit frame=60 move=1e-5,0,0" },
        { "wolf", 1, "members=*\nhandle_add id=h layer=edit frame=60 move=1e-5,0,0" },
    };
    for ( size_t i = 0; i < sizeof edits / sizeof *edits; ++i ) {
        fixture x = { .scene = tr_default_scene() };
        char ops[300];
        check_ok( tr_scene_build( tr_scene_entry_find( edits[i].scene ), edits[i].cast, &x.scene, &x.library,
                                  &x.error ),
                  &x.error );
        x.scene.last = x.scene.first + 120;
        build( &x );
        tr_result plain = solve( &x, "posegraph" );
        snprintf( ops, sizeof ops, "layer_add id=edit kind=cage %s", edits[i].ops );
        edit( &x, ops );
        rebuild( &x );
        tr_result edited = solve( &x, "posegraph" );
        double moved = farthest_moved( &plain, &edited, 0, plain.frame_count - 1 );
        print_message( "%s %s: %.4f mm\n", edits[i].scene, edits[i].ops, 1e3 * moved );
        assert_true( moved <= 1e-4 );
        tr_result_free( &plain );
        tr_result_free( &edited );
        end( &x );
    }
}

// Nothing moves outside the window of a retiming, but for stances that it cuts: they have one place for all
// their frames, which is the mean of what feet do there.
static void a_retiming_stays_in_its_window( void **state )
{
    (void)state;
    fixture x = { .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( "box_relay" ), 4, &x.scene, &x.library, &x.error ),
              &x.error );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, "layer_add id=t kind=retime members=p03 range=50,200\nsection_add id=s layer=t frame=126 "
              "delay=20" );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    double before = farthest_moved( &plain, &edited, 0, 49 ),
           after = farthest_moved( &plain, &edited, 201, plain.frame_count - 1 );
    print_message( "%.4f mm before and %.4f mm after the window\n", 1e3 * before, 1e3 * after );
    assert_true( fmax( before, after ) < 2e-4 && farthest_moved( &plain, &edited, 120, 140 ) > 0.1 );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

// Windows of one, two and three frames, a body of one joint, sections outside: no crash, and nothing that is
// no number.
static void odd_windows_and_bodies( void **state )
{
    (void)state;
    static const char *const ops[] = {
        CAGE "a range=15,15\nhandle_add id=h layer=edit frame=15 move=0,1,0",
        CAGE "a range=15,16\nhandle_add id=h layer=edit frame=15 move=0,1,0",
        CAGE "a,dot range=1,2\nhandle_add id=h layer=edit frame=2 vertex=3 move=5,2,1",
        CAGE "a range=15,17\nhandle_add id=h layer=edit frame=16 point=a.LeftHand move=0,1,0",
        CAGE "a range=-500,900\nhandle_add id=h layer=edit frame=15 move=0,1,0",
        CAGE "a range=14,16 ease=1000,1000\nhandle_add id=h layer=edit frame=15 move=0,1,0",
        CAGE "a falloff=1\nhandle_add id=h layer=edit frame=15 move=0,1,0",
        CAGE "a padding=0.001\nsection_add id=s layer=edit frame=900\nsection_add id=t layer=edit frame=-9\n"
             "handle_add id=h layer=edit frame=15 move=0,1,0",
        CAGE "a.LeftHand range=5,25\nhandle_add id=h layer=edit frame=15 move=0,0.1,0",
        CAGE "a.Hips range=5,25\nhandle_add id=h layer=edit frame=15 point=a.Hips move=0,0.1,0",
        CAGE "dot\nhandle_add id=h layer=edit frame=15 point=dot.Dot move=1,0.1,0",
        CAGE "dot,a,box\nhandle_add id=h layer=edit frame=15 turn=180,0,0 move=0,2,0",
    };
    for ( size_t i = 0; i < sizeof ops / sizeof *ops; ++i ) {
        fixture x;
        begin( &x );
        add_flyer( &x, "a" );
        tr_motion dot = { 0 };
        tr_skeleton_add( &dot.skeleton, "Dot", -1, v3_zero );
        check_ok( tr_skeleton_classify( &dot.skeleton, &x.error ), &x.error );
        check_ok( tr_clip_alloc( &dot.clip, FRAMES, 1, FPS, false, &x.error ), &x.error );
        add_character( &x, "dot", v3( 2, 1, 0 ), 1, &dot );
        tr_prop box = tr_default_prop( "box" );
        tr_scene_add_prop( &x.scene, &box );
        edit( &x, ops[i] );
        build( &x );
        tr_result result = solve( &x, "posegraph" );
        for ( int a = 0; a < result.actor_count; ++a )
            for ( int f = 0; f < FRAMES; ++f )
                for ( int j = 0; j < result.worlds[a].joint_count; ++j )
                    assert_true( v3_finite( place_of( &result, a, j, f ) ) );
        check_near( result.leak_mm, 0, 0 );
        tr_result_free( &result );
        end( &x );
    }
}

// A hand is pulled while the hold of the next box only begins: its palm is kept by the pull as before, and
// does not tip over in the one frame in which the hold sets in.
static void a_hold_that_begins_leaves_the_palm_to_the_pull( void **state )
{
    (void)state;
    fixture x = { .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( "box_relay" ), 7, &x.scene, &x.library, &x.error ),
              &x.error );
    edit( &x, CAGE "p05 range=82,142 ease=10,10\n"
                   "handle_add id=pin layer=edit frame=112 point=p05.RightHand\n"
                   "handle_add id=pull layer=edit frame=126 point=p05.RightHand move=0.01,0.45,-0.17" );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    int actor = tr_scene_find_cast( &x.scene, "p05" ), hand = joint( &x.stage, actor, "RightHand" );
    double most = 0;
    for ( int f = 127; f <= 142; ++f ) {
        const tr_clip *clip = &result.motions[actor].clip;
        quat step = q_mul( q_conj( tr_clip_frame( clip, f - 1 )[hand] ), tr_clip_frame( clip, f )[hand] );
        most = fmax( most, v3_length( q_to_vector( step ) ) );
    }
    print_message( "the wrist turns by %.1f° in a frame\n", most / TR_DEGREE );
    check_bound( most / TR_DEGREE, WRIST_STEP_DEG );
    for ( int h = 0; h < 2; ++h )
        assert_true( result.handles[h].acted && result.handles[h].error_mm < 1 );
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_dragged_end_takes_along_what_lies_beyond ),
        TEST( the_first_of_two_handles_has_its_way ),
        TEST( who_is_pulled_too_far_stays_on_his_feet ),
        TEST( walkers_rest_beyond_the_falloff ),
        TEST( a_low_body_with_long_legs_is_led_aside ),
        TEST( roots_on_the_floor_change_nothing ),
        TEST( tiny_edits_move_little ),
        TEST( a_retiming_stays_in_its_window ),
        TEST( who_stands_still_turns_smoothly ),
        TEST( beasts_pulled_too_far_stay_on_their_feet ),
        TEST( odd_windows_and_bodies ),
        TEST( a_hold_that_begins_leaves_the_palm_to_the_pull ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
