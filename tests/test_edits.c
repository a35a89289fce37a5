// Layers at work: what a cage does to bodies, props, feet and partners, and what it leaves alone.
#include "folder.h"
#include "stage_fixture.h"

#include "io/io.h"

#define CAGE "layer_add id=edit kind=cage members="

static void check_same( const tr_result *a, const tr_result *b )
{
    for ( int i = 0; i < a->actor_count; ++i )
        for ( int f = 0; f < a->frame_count; ++f )
            assert_true( same_frame( a, b, i, f ) );
    for ( int p = 0; p < a->prop_count; ++p )
        assert_memory_equal( a->tracks[p], b->tracks[p], (size_t)a->frame_count * sizeof( rigid ) );
}

static vec3 place_of( const tr_result *result, int actor, int joint_index, int frame )
{
    return tr_world_pose( &result->worlds[actor], frame ).positions[joint_index];
}

// A body that is pulled along a way, without feet on the ground.
static void add_flyer( fixture *x, const char *id, vec3 ( *way )( double t ) )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int f = 0; f < FRAMES; ++f )
        motion.clip.root[f] = v3_add( way( (double)f / ( FRAMES - 1 ) ), v3( 0, 2, 0 ) );
    add_character( x, id, v3_zero, 1, &motion );
}

static vec3 straight( double t )
{
    return v3( 0, 0, 3 * t );
}

static vec3 figure_eight( double t ) // through the origin at t = 1/4 and 3/4
{
    double angle = 2 * TR_PI * ( t - 0.25 );
    return v3( 2 * sin( angle ), 0, sin( 2 * angle ) );
}

// ------------------------------------------------------------------------------------------------ identity

static void layers_that_ask_for_nothing_change_no_bit( void **state )
{
    (void)state;
    static const char *const idle[] = {
        CAGE "a,b,box\n",
        CAGE "a\nhandle_add id=pin layer=edit frame=12\nhandle_add id=p2 layer=edit frame=3 point=a.LeftHand",
        CAGE "a muted=true\nhandle_add id=drag layer=edit frame=12 move=0,1,0",
        CAGE "a range=5,20\nhandle_add id=late layer=edit frame=25 move=0,1,0",
        CAGE "a range=100,120\nhandle_add id=out layer=edit frame=110 move=0,1,0",
        CAGE "a range=5,5\nhandle_add id=one layer=edit frame=5 move=0,1,0",
        CAGE "z*\nhandle_add id=nobody layer=edit frame=12 move=0,1,0",
        CAGE "a\nhandle_add id=let_go layer=edit frame=12 move=0,1,0 pinned=false",
    };
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    add_bent( &x, "b", v3( 2, 0, 0 ), 1.1 );
    tr_prop box = tr_default_prop( "box" );
    tr_scene_add_prop( &x.scene, &box );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    for ( size_t i = 0; i < sizeof idle / sizeof *idle; ++i ) {
        edit( &x, idle[i] );
        rebuild( &x );
        tr_result edited = solve( &x, "posegraph" );
        check_same( &plain, &edited );
        check_near( edited.leak_mm, 0, 0 );
        tr_result_free( &edited );
        edit( &x, "layer_remove id=edit" );
    }
    tr_result_free( &plain );
    end( &x );
}

// What can move nothing does not pass in silence.
static void layers_without_effect_are_told( void **state )
{
    (void)state;
    static const struct {
        const char *ops, *warning;
        bool missed; // and so does its handle
    } told[] = {
        { CAGE "z*\nhandle_add id=h layer=edit frame=12 move=0,1,0", "grabs nothing by \"z*\"", true },
        { CAGE "a,*.left_wing\nhandle_add id=h layer=edit frame=12 move=0,0.1,0", "\"*.left_wing\"", false },
        { CAGE "a range=5,5\nhandle_add id=h layer=edit frame=5 move=0,1,0", "needs an ease", true },
        { CAGE "a range=5,5 ease=3,0\nhandle_add id=h layer=edit frame=5 move=0,1,0", "needs an ease", true },
        { CAGE "a.left_arm\nhandle_add id=h layer=edit frame=12 point=a.RightHand move=0,0.01,0",
          "does not grab", false },
        { CAGE "a\nhandle_add id=h layer=edit frame=3 vertex=26 move=0,1,0", "has vertices 0 to 25", true },
        { CAGE "a\nhandle_add id=h layer=edit frame=0 vertex=100 move=0,1,0", "has vertices 0 to 25", true },
        { "layer_add id=edit kind=retime members=a range=5,20\nsection_add id=s layer=edit frame=25 delay=2",
          "moves nothing at frame 25", false },
        { "layer_add id=edit kind=retime members=z*\nsection_add id=s layer=edit frame=15 delay=2",
          "grabs nothing by \"z*\"", false },
    };
    for ( size_t i = 0; i < sizeof told / sizeof *told; ++i ) {
        fixture x;
        begin( &x );
        add_flyer( &x, "a", straight );
        edit( &x, told[i].ops );
        tr_log warnings = { 0 };
        check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, &warnings, &x.error ), &x.error );
        assert_int_equal( warnings.count, 1 );
        if ( strstr( warnings.lines[0], told[i].warning ) == NULL )
            fail_msg( "%s: %s", told[i].ops, warnings.lines[0] );
        tr_log_free( &warnings );
        tr_result result = solve( &x, "posegraph" );
        bool missed = result.handle_count > 0 && result.handles[0].acted && result.handles[0].outside;
        assert_true( missed == told[i].missed );
        if ( missed )
            check_near( result.handles[0].error_mm, 1000, 1e-6 );
        tr_result_free( &result );
        end( &x );
    }
}

// ------------------------------------------------------------------------------------------------- dragging

static void a_whole_section_carries_the_body( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_flyer( &x, "a", straight );
    add_flyer( &x, "b", straight );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, CAGE "a range=5,25\nhandle_add id=up layer=edit frame=15 move=0.3,0.5,0" );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    for ( int f = 0; f < FRAMES; ++f ) {
        assert_true( same_frame( &plain, &edited, 1, f ) );                          // the neighbour
        assert_true( same_frame( &plain, &edited, 0, f ) == ( f <= 5 || f >= 25 ) ); // pinned ends
    }
    for ( int j = 0; j < edited.worlds[0].joint_count; ++j ) // in the middle it is carried without being bent
        check_v3( place_of( &edited, 0, j, 15 ), v3_add( place_of( &plain, 0, j, 15 ), v3( 0.3, 0.5, 0 ) ),
                  1e-4 );
    assert_true( edited.handles[0].acted && edited.handles[0].error_mm < 1e-3 );
    check_near( edited.leak_mm, 0, 0 );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

static void a_section_can_be_turned( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_flyer( &x, "a", straight );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, CAGE "a range=5,25\nhandle_add id=turn layer=edit frame=15 turn=0,90,0" );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    quat before = tr_world_pose( &plain.worlds[0], 15 ).rotations[0],
         after = tr_world_pose( &edited.worlds[0], 15 ).rotations[0];
    check_rotation( q_mul( after, q_conj( before ) ), q_axis_angle( v3_y, 0.5 * TR_PI ), 1e-4 );
    check_near( edited.turns[0][15], 0.5 * TR_PI, 1e-4 );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

// First and last frame that an edit of a body in flight changes.
static void check_changed( const char *ops, int first, int last )
{
    fixture x;
    begin( &x );
    add_flyer( &x, "a", straight );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, ops );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    for ( int f = 0; f < FRAMES; ++f )
        if ( same_frame( &plain, &edited, 0, f ) != ( f < first || f > last ) )
            fail_msg( "%s: frame %d is wrong", ops, f );
    assert_true( edited.handles[0].acted && edited.handles[0].error_mm < 1 );
    check_near( edited.leak_mm, 0, 0 );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

#define UP "\nhandle_add id=h layer=edit frame=15 move=0,0.3,0"
#define SECTIONS                                                                                             \
    "\nsection_add id=s1 layer=edit frame=5\nsection_add id=s2 layer=edit frame=10\n"                        \
    "section_add id=s3 layer=edit frame=20\nsection_add id=s4 layer=edit frame=25"

static void ease_falloff_and_sections_say_how_far_it_reaches( void **state )
{
    (void)state;
    check_changed( CAGE "a range=8,22" UP, 9, 21 );
    check_changed( CAGE "a range=8,22 ease=4,3" UP, 4, 25 );
    check_changed( CAGE "a range=8,22 padding=0.4" UP, 9, 21 );
    check_changed( CAGE "a range=15,15 ease=4,3" UP, 11, 18 );
    check_changed( CAGE "a range=30,30 ease=4,3\nhandle_add id=h layer=edit frame=30 move=0,0.3,0", 26, 30 );
    check_changed( CAGE "a" SECTIONS UP, 1, 29 );
    check_changed( CAGE "a falloff=6" UP, 10, 20 );
    check_changed( CAGE "a falloff=6" SECTIONS UP, 10, 20 );
    check_changed( CAGE "a range=12,18 falloff=6" UP, 13, 17 );
    check_changed( CAGE "a range=12,18 falloff=6 ease=9,1" UP, 10, 19 );
    check_changed( CAGE "a.left_arm falloff=6\nhandle_add id=h layer=edit frame=15 point=a.LeftHand "
                        "move=0,0.05,0",
                   10, 20 );
    check_changed( CAGE "a falloff=6" UP "\nhandle_add id=i layer=edit frame=19 move=0,0.3,0", 10, 24 );
}

// The body passes the crossing twice; what is moved at the first time stays put at the second.
static void a_figure_eight_is_edited_at_one_crossing( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    x.scene.last = 60;
    tr_motion motion;
    make_body( &motion, 61 );
    for ( int f = 0; f < 61; ++f )
        motion.clip.root[f] = v3_add( figure_eight( f / 60.0 ), v3( 0, 2, 0 ) );
    add_character( &x, "a", v3_zero, 1, &motion );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    check_v3( place_of( &plain, 0, 0, 15 ), place_of( &plain, 0, 0, 45 ), 1e-6 );
    edit( &x, CAGE "a range=5,25\nhandle_add id=up layer=edit frame=15 move=0,0.4,0" );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    check_near( place_of( &edited, 0, 0, 15 ).y, 2.4, 1e-4 );
    for ( int f = 26; f < 61; ++f )
        assert_true( same_frame( &plain, &edited, 0, f ) );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

static void a_point_is_dragged_with_a_body_that_stands( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, CAGE "a.left_arm range=3,27\nhandle_add id=wave layer=edit frame=15 point=a.LeftHand "
                   "move=-0.1,0.2,0.1" );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    int hand = joint( &x.stage, 0, "LeftHand" ), other = joint( &x.stage, 0, "RightHand" );
    vec3 wanted = v3_add( place_of( &plain, 0, hand, 15 ), v3( -0.1, 0.2, 0.1 ) );
    check_v3( place_of( &edited, 0, hand, 15 ), wanted, 1e-3 );
    check_v3( edited.handles[0].place, wanted, 1e-9 );
    assert_true( edited.handles[0].error_mm < 1 );
    check_bound( v3_distance( place_of( &edited, 0, other, 15 ), place_of( &plain, 0, other, 15 ) ),
                 OTHER_HAND_M );
    double most = 0; // the hand goes there and back without a jump
    for ( int f = 1; f + 1 < FRAMES; ++f ) {
        vec3 bend =
            v3_sub( v3_add( place_of( &edited, 0, hand, f - 1 ), place_of( &edited, 0, hand, f + 1 ) ),
                    v3_scale( 2, place_of( &edited, 0, hand, f ) ) );
        most = fmax( most, v3_length( bend ) );
    }
    check_bound( most, WAVE_KICK_M );
    for ( int r = 0; r < x.stage.rule_count; ++r ) // its feet stand where they stood
        assert_true( edited.reports[r].max_mm < 1 );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

// Hand and box are joined; whichever of them is dragged, the other follows.
static void a_dragged_box_drags_the_hand( void **state )
{
    (void)state;
    for ( int who = 0; who < 2; ++who ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        add_bent( &x, "b", v3( 3, 0, 0 ), 1 );
        tr_prop box = tr_default_prop( "box" );
        box.position = v3( 0.55, 1.45, 0.25 );
        tr_scene_add_prop( &x.scene, &box );
        tr_constraint hold =
            relation( "hold", tr_point_joint( "a", "LeftHand" ), tr_point_prop( "box", v3_zero ) );
        tr_scene_add_constraint( &x.scene, &hold );
        build( &x );
        tr_result plain = solve( &x, "posegraph" );
        edit( &x, who == 0 ? CAGE "box range=3,27\nhandle_add id=h layer=edit frame=15 move=0,-0.2,0"
                           : CAGE "a.left_arm range=3,27\nhandle_add id=h layer=edit frame=15 "
                                  "point=a.LeftHand move=0,-0.2,0" );
        rebuild( &x );
        tr_result edited = solve( &x, "posegraph" );
        int hand = joint( &x.stage, 0, "LeftHand" );
        check_near( edited.tracks[0][15].position.y, plain.tracks[0][15].position.y - 0.2, 1e-3 );
        check_near( place_of( &edited, 0, hand, 15 ).y, place_of( &plain, 0, hand, 15 ).y - 0.2, 1e-3 );
        assert_true( edited.reports[find_rule( &x.stage, "hold" )].max_mm < 1 );
        for ( int f = 0; f < FRAMES; ++f )
            assert_true( same_frame( &plain, &edited, 1, f ) );
        check_near( edited.leak_mm, 0, 0 );
        tr_result_free( &plain );
        tr_result_free( &edited );
        end( &x );
    }
}

// Only the body is grabbed: the box it holds goes and turns with it, and the hand keeps its grip. One that
// lies there and is not held yet stays.
static void a_held_box_turns_with_its_carrier( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_prop box = tr_default_prop( "box" ), other = tr_default_prop( "other" );
    box.position = v3( 0.55, 1.45, 0.25 );
    other.position = v3( 0.3, 0.2, 0.4 );
    tr_scene_add_prop( &x.scene, &box );
    tr_scene_add_prop( &x.scene, &other );
    tr_constraint hold =
        relation( "hold", tr_point_joint( "a", "LeftHand" ), tr_point_prop( "box", v3_zero ) );
    hold.first = 12;
    hold.ease_in = 6;
    tr_scene_add_constraint( &x.scene, &hold );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, CAGE "a\nhandle_add id=h layer=edit frame=15 turn=0,60,0 move=0.5,0,0\n"
                   "handle_add id=start layer=edit frame=0 pinned=false\n"
                   "handle_add id=stop layer=edit frame=30 pinned=false" );
    rebuild( &x );
    tr_result edited = solve( &x, "posegraph" );
    quat turn = q_axis_angle( v3_y, 60 * TR_DEGREE );
    for ( int f = 0; f < FRAMES; ++f ) {
        rigid was = plain.tracks[0][f], is = edited.tracks[0][f];
        if ( f < 6 )
            assert_memory_equal( &was, &is, sizeof was );
        assert_memory_equal( &plain.tracks[1][f], &edited.tracks[1][f], sizeof was );
        if ( f < 12 )
            continue;
        vec3 root = place_of( &plain, 0, 0, f ), moved = place_of( &edited, 0, 0, f );
        check_rotation( q_mul( is.rotation, q_conj( was.rotation ) ), turn, 1e-3 );
        check_v3( is.position, v3_add( moved, q_rotate( turn, v3_sub( was.position, root ) ) ), 5e-3 );
    }
    assert_true( edited.reports[find_rule( &x.stage, "hold" )].max_mm < 1 );
    tr_result_free( &plain );
    tr_result_free( &edited );
    end( &x );
}

// -------------------------------------------------------------------------------------------------- stances

// A body that stands all the time is moved only as a whole: with the ends held the feet stay; with the ends
// free they go along.
static void a_stance_moves_as_a_whole_or_not_at_all( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    build( &x );
    assert_true( x.stage.rule_count > 0 );
    tr_result plain = solve( &x, "posegraph" );
    int foot = joint( &x.stage, 0, "LeftFoot" );
    edit( &x, CAGE "a\nhandle_add id=h layer=edit frame=15 move=0.1,0,0" );
    rebuild( &x );
    tr_result leaning = solve( &x, "posegraph" );
    for ( int f = 0; f < FRAMES; ++f )
        check_v3( place_of( &leaning, 0, foot, f ), place_of( &plain, 0, foot, f ), 1e-4 );
    assert_true( place_of( &leaning, 0, 0, 15 ).x > 0.05 );
    edit( &x, "handle_add id=start layer=edit frame=0 pinned=false\n"
              "handle_add id=stop layer=edit frame=30 pinned=false\n"
              "handle_set id=h move=1,0,0.5" );
    rebuild( &x );
    tr_result moved = solve( &x, "posegraph" );
    for ( int f = 0; f < FRAMES; ++f )
        check_v3( place_of( &moved, 0, foot, f ), v3_add( place_of( &plain, 0, foot, f ), v3( 1, 0, 0.5 ) ),
                  1e-4 );
    for ( int r = 0; r < x.stage.rule_count; ++r )
        assert_true( moved.reports[r].max_mm < 0.1 );
    tr_result_free( &plain );
    tr_result_free( &leaning );
    tr_result_free( &moved );
    end( &x );
}

// ---------------------------------------------------------------------------------------------------- stack

static void layers_add_up_and_can_be_muted( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_flyer( &x, "a", straight );
    edit( &x, CAGE "a range=5,25\nhandle_add id=up layer=edit frame=15 move=0,0.5,0\n"
                   "layer_add id=second kind=cage members=a range=5,25\n"
                   "handle_add id=side layer=second frame=15 move=0.3,0,0" );
    build( &x );
    tr_result both = solve( &x, "posegraph" );
    check_v3( place_of( &both, 0, 0, 15 ), v3_add( v3( 0.3, 2.5, 0 ), straight( 0.5 ) ), 1e-4 );
    edit( &x, "layer_set id=edit muted=true" );
    rebuild( &x );
    tr_result one = solve( &x, "posegraph" );
    check_v3( place_of( &one, 0, 0, 15 ), v3_add( v3( 0.3, 2, 0 ), straight( 0.5 ) ), 1e-4 );
    edit( &x, "layer_set id=edit muted=false solo=true" );
    rebuild( &x );
    tr_result solo = solve( &x, "posegraph" );
    check_v3( place_of( &solo, 0, 0, 15 ), v3_add( v3( 0, 2.5, 0 ), straight( 0.5 ) ), 1e-4 );
    tr_result_free( &both );
    tr_result_free( &one );
    tr_result_free( &solo );
    end( &x );
}

static void any_number_of_threads_gives_the_same_bits( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    add_bent( &x, "b", v3( 0.8, 0, 0 ), 1.1 );
    tr_constraint hold =
        relation( "hold", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
    tr_scene_add_constraint( &x.scene, &hold );
    edit( &x,
          CAGE "a range=3,27 turn=true\nhandle_add id=h layer=edit frame=15 point=a.Hips move=0,-0.1,0.1" );
    build( &x );
    tr_parallel_set_threads( 1 );
    tr_result one = solve( &x, "posegraph" );
    tr_parallel_set_threads( 3 );
    tr_result three = solve( &x, "posegraph" );
    tr_parallel_set_threads( 0 );
    check_same( &one, &three );
    tr_result_free( &one );
    tr_result_free( &three );
    end( &x );
}

// ------------------------------------------------------------------------------------------------- retiming

static void a_moment_is_moved_within_its_window( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_flyer( &x, "a", straight );
    add_flyer( &x, "b", straight );
    edit( &x, "layer_add id=t kind=retime members=a range=5,25\nsection_add id=s layer=t frame=12 delay=4" );
    build( &x );
    assert_int_equal( x.stage.frame_count, FRAMES );
    const vec3 *a = x.stage.actors[0].source.clip.root, *b = x.stage.actors[1].source.clip.root;
    for ( int f = 0; f < FRAMES; ++f ) {
        check_v3( b[f], v3( 0, 2, straight( f / 30.0 ).z ), 0 );
        if ( f <= 5 || f >= 25 )
            assert_memory_equal( &a[f], &b[f], sizeof( vec3 ) );
        assert_true( f == 0 || a[f].z > a[f - 1].z ); // time never turns back
    }
    check_v3( a[16], b[12], 1e-9 );
    end( &x );
}

// Keys of a retiming, or of what it cannot do.
static void what_cannot_be_retimed_is_told( void **state )
{
    (void)state;
    static const struct {
        const char *ops, *path, *sentence;
    } refused[] = {
        { "layer_add id=t kind=retime members=a range=5,25\nsection_add id=s layer=t frame=12 delay=14",
          "sections[0].delay", "leave the layer's window" },
        { "layer_add id=t kind=retime members=a ripple=true\nsection_add id=s layer=t frame=12 delay=-1",
          "sections[0].delay", "cannot be less" },
        { "layer_add id=t kind=retime members=a ripple=true\nsection_add id=s layer=t frame=12 delay=5\n"
          "section_add id=u layer=t frame=20 delay=3",
          "sections[1].delay", "cannot be less" },
    };
    for ( size_t i = 0; i < sizeof refused / sizeof *refused; ++i ) {
        fixture x;
        begin( &x );
        add_flyer( &x, "a", straight );
        edit( &x, refused[i].ops );
        assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &x.error ) );
        assert_string_equal( x.error.path, refused[i].path );
        assert_non_null( strstr( x.error.message, refused[i].sentence ) );
        end( &x );
    }
}

// a hands something to b in frames 14 … 16; a is five frames late from frame 8 on. So b meets a five frames
// late, slowing down before, and c, which nothing joins to them, does so only before the end.
static void delays_ripple_through_those_who_meet( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_flyer( &x, "a", straight );
    add_flyer( &x, "b", straight );
    add_flyer( &x, "c", straight );
    tr_constraint give =
        relation( "give", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
    give.first = 14;
    give.last = 16;
    tr_scene_add_constraint( &x.scene, &give );
    edit( &x, CAGE "b range=12,20\nhandle_add id=h layer=edit frame=16 point=b.Head move=0,0.1,0\n"
                   "layer_add id=t kind=retime members=a ripple=true\n"
                   "section_add id=s layer=t frame=8 delay=5\n"
                   "layer_add id=later kind=cage members=c range=12,20" );
    build( &x );
    assert_int_equal( x.stage.frame_count, FRAMES + 5 );
    const tr_rule *rule = &x.stage.rules[find_rule( &x.stage, "give" )];
    assert_true( rule->first == 19 && rule->last == 21 );
    assert_int_equal( x.stage.scene->handles[0].frame, 21 ); // below the retiming: goes along
    assert_int_equal( x.stage.scene->layers[2].first, 12 );  // above it: stays
    for ( int i = 0; i < 2; ++i )
        for ( int f = 14; f <= 16; ++f )
            check_v3( x.stage.actors[i].source.clip.root[f + 5], v3( 0, 2, 0.1 * f ), 1e-9 );
    for ( int f = 0; f < 20; ++f ) // not delayed before the last ten frames
        check_v3( x.stage.actors[2].source.clip.root[f], v3( 0, 2, straight( f / 30.0 ).z ), 0 );
    for ( int i = 0; i < 3; ++i ) { // all arrive at the same end, never backwards
        const vec3 *root = x.stage.actors[i].source.clip.root;
        check_v3( root[FRAMES + 4], v3( 0, 2, 3 ), 1e-9 );
        for ( int f = 1; f < x.stage.frame_count; ++f )
            assert_true( root[f].z >= root[f - 1].z );
    }
    tr_result result = solve( &x, "posegraph" );
    assert_true( result.frame_count == FRAMES + 5 && result.reports[0].max_mm < 1 );
    tr_result_free( &result );
    end( &x );
}

// -------------------------------------------------------------------------------------------------- folders

static void reports_keep_where_edits_put_feet( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    edit( &x, CAGE "a\nhandle_add id=h layer=edit frame=15 move=1,0,0.5 turn=0,40,0\n"
                   "handle_add id=start layer=edit frame=0 pinned=false\n"
                   "handle_add id=stop layer=edit frame=30 pinned=false\n"
                   "layer_add id=wave kind=cage members=a.right_arm range=4,26\n"
                   "handle_add id=w layer=wave frame=15 point=a.RightHand move=0,0.1,0.1" );
    build( &x );
    tr_result result = solve( &x, "posegraph" ), loaded;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    check_ok( tr_result_save( &x.stage, &result, "posegraph", folder, &x.error ), &x.error );
    check_ok( tr_result_load( &loaded, &x.stage, folder, &x.error ), &x.error );
    for ( int r = 0; r < x.stage.rule_count; ++r )
        check_near( loaded.reports[r].max_mm, result.reports[r].max_mm, 1e-3 );
    check_near( loaded.turns[0][15], result.turns[0][15], 1e-12 );
    tr_measures measures;
    check_ok( tr_measure( &measures, &x.stage, &loaded, &x.error ), &x.error );
    const tr_metric *handle = tr_measures_find( &measures, "edit_handle_mm" ),
                    *leak = tr_measures_find( &measures, "edit_leak_mm" ),
                    *contact = tr_measures_find( &measures, "contact_error_mm" );
    assert_true( !handle->fields[0].out_null && handle->fields[0].out < 1 && handle->fields[0].source_null );
    assert_true( !leak->fields[0].out_null && leak->fields[0].out == 0 );
    assert_true( contact->fields[0].out < 1 );
    tr_measures_free( &measures );
    tr_result_free( &loaded );
    char *path = tr_string_format( "%s/report.json", folder );
    check_ok( tr_file_write( path, "{}\n", 3, &x.error ), &x.error );
    assert_false( tr_result_load( &loaded, &x.stage, folder, &x.error ) ); // the edits are missing
    assert_string_equal( x.error.path, "edits" );
    tr_free( path );
    remove_folder( folder );
    tr_result_free( &result );
    end( &x );
}

// A handle has no source to compare with: what is fine counts alone.
static void who_is_left_behind_is_marked( void **state )
{
    (void)state;
    for ( int far = 0; far < 2; ++far ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 0.9 );
        edit( &x, CAGE "a\nhandle_add id=h layer=edit frame=15 point=a.RightHand" );
        x.scene.handles[0].move = v3( 0, far ? 5 : 0.05, 0 );
        build( &x );
        tr_result result = solve( &x, "posegraph" );
        tr_measures measures;
        check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
        const tr_metric_field *field = &tr_measures_find( &measures, "edit_handle_mm" )->fields[0];
        assert_int_equal( field->worse, far );
        assert_true( field->worse == ( field->out > 1 ) );
        tr_measures_free( &measures );
        tr_result_free( &result );
        end( &x );
    }
}

// --------------------------------------------------------------------------------------------------- errors

static void trouble_has_a_path( void **state )
{
    (void)state;
    static const struct {
        const char *ops, *path, *sentence;
    } refused[] = {
        { CAGE "a.left_wing", "layers[0].members", "a has no limb and no joint \"left_wing\"" },
        { CAGE "a\nhandle_add id=h layer=edit frame=3 point=a.LeftHnad", "handles[0].point",
          "did you mean \"LeftHand\"?" },
    };
    for ( size_t i = 0; i < sizeof refused / sizeof *refused; ++i ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        edit( &x, refused[i].ops );
        assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &x.error ) );
        assert_string_equal( x.error.path, refused[i].path );
        assert_non_null( strstr( x.error.message, refused[i].sentence ) );
        end( &x );
    }
}

static void memory_may_run_out( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    tr_prop box = tr_default_prop( "box" );
    tr_scene_add_prop( &x.scene, &box );
    edit( &x, CAGE "a,box range=3,27 turn=true\nhandle_add id=h layer=edit frame=15 move=0.2,0,0.1" );
    build( &x );
    solve_with_less_memory( &x );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( layers_that_ask_for_nothing_change_no_bit ),
        TEST( a_whole_section_carries_the_body ),
        TEST( a_section_can_be_turned ),
        TEST( layers_without_effect_are_told ),
        TEST( ease_falloff_and_sections_say_how_far_it_reaches ),
        TEST( a_figure_eight_is_edited_at_one_crossing ),
        TEST( a_point_is_dragged_with_a_body_that_stands ),
        TEST( a_dragged_box_drags_the_hand ),
        TEST( a_held_box_turns_with_its_carrier ),
        TEST( a_stance_moves_as_a_whole_or_not_at_all ),
        TEST( layers_add_up_and_can_be_muted ),
        TEST( any_number_of_threads_gives_the_same_bits ),
        TEST( a_moment_is_moved_within_its_window ),
        TEST( what_cannot_be_retimed_is_told ),
        TEST( delays_ripple_through_those_who_meet ),
        TEST( reports_keep_where_edits_put_feet ),
        TEST( who_is_left_behind_is_marked ),
        TEST( trouble_has_a_path ),
        TEST( memory_may_run_out ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
