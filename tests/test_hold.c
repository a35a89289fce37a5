// A frame is held and a part of a body moved: what is shown while it is pulled is what the motion becomes.
#include "scenes/scenes.h"
#include "stage_fixture.h"

#define MOST 64 // joints

typedef struct pull {
    const char *scene, *joint;
    int first, last, frame; // frames of the document
    bool imesh;
} pull;

static void open_scene( fixture *x, const pull *p )
{
    *x = ( fixture ){ .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( p->scene ), 0, &x->scene, &x->library, &x->error ),
              &x->error );
    x->scene.first = p->first;
    x->scene.last = p->last;
    x->scene.imesh = p->imesh;
    build( x );
}

static tr_result solve_scene( fixture *x )
{
    return solve( x, tr_method_default( &x->scene )->name );
}

// Replays the ops on the scene and builds it anew.
static void run( fixture *x, const tr_text *ops )
{
    tr_stage_free( &x->stage );
    tr_document *document = tr_document_create( &x->scene, &x->error );
    assert_non_null( document );
    check_ok( tr_document_run( document, ops->data, ops->size, "ops", &x->error ), &x->error );
    tr_scene_free( &x->scene );
    check_ok( tr_scene_copy( &x->scene, tr_document_scene( document ), &x->error ), &x->error );
    tr_document_destroy( document );
    build( x );
}

static double farthest( const tr_world *a, const tr_world *b, int frame )
{
    double most = 0;
    for ( int j = 0; j < a->joint_count; ++j )
        most = fmax( most, v3_distance( tr_world_pose( a, frame ).positions[j],
                                        tr_world_pose( b, frame ).positions[j] ) );
    return most;
}

// At the held frame the motion is what the hold showed, to a millimetre; it fades over the ease, and is the
// old one outside.
static void check_propagation( const pull *p, vec3 by )
{
    fixture x;
    open_scene( &x, p );
    tr_result before = solve_scene( &x );
    int at = p->frame - p->first, joint = tr_skeleton_find( &x.stage.actors[0].target, p->joint );
    vec3 to = v3_add( tr_world_pose( &before.worlds[0], at ).positions[joint], by );
    tr_hold *hold = tr_hold_begin( &x.stage, &before, at, 0, joint, &x.error );
    assert_non_null( hold );
    check_ok( tr_hold_move( hold, to, &x.error ), &x.error );
    quat rotations[2][MOST] = { 0 };
    vec3 shown[2][MOST] = { 0 };
    for ( int i = 0; i < 2; ++i ) {
        assert_true( before.worlds[i].joint_count <= MOST );
        assert_true( tr_hold_pose( hold, i, ( tr_pose ){ rotations[i], shown[i] } ) );
    }
    tr_text ops = { 0 };
    tr_hold_print( hold, "held", p->frame, 6, &ops );
    tr_hold_end( hold );
    run( &x, &ops );
    assert_int_equal( x.scene.imesh, p->imesh );
    tr_result after = solve_scene( &x );
    for ( int i = 0; i < 2; ++i ) {
        for ( int j = 0; j < after.worlds[i].joint_count; ++j )
            check_v3( tr_world_pose( &after.worlds[i], at ).positions[j], shown[i][j], 1e-3 );
        assert_true( farthest( &before.worlds[i], &after.worlds[i], at ) > 0.01 );
        assert_true( farthest( &before.worlds[i], &after.worlds[i], at - 3 ) >
                     1.2 * farthest( &before.worlds[i], &after.worlds[i], at - 5 ) );
        for ( int f = 0; f < x.stage.frame_count; ++f )
            if ( f < at - 6 || f > at + 6 )
                check_near( farthest( &before.worlds[i], &after.worlds[i], f ), 0, 1e-9 );
    }
    check_v3( tr_world_pose( &after.worlds[0], at ).positions[joint], to, 1e-3 );
    tr_text_free( &ops );
    tr_result_free( &after );
    tr_result_free( &before );
    end( &x );
}

static void hands_propagate_as_shown( void **state )
{
    (void)state;
    static const pull pulls[] = { { "dance_pair", "RightHand", 40, 80, 60, false },
                                  { "dance_pair", "RightHand", 40, 80, 60, true },
                                  { "high_five", "RightHand", 60, 100, 80, false } };
    for ( int i = 0; i < 3; ++i )
        check_propagation( &pulls[i], v3( 0.03, 0.05, 0 ) );
}

static void heads_propagate_as_shown( void **state )
{
    (void)state;
    check_propagation( &( pull ){ "dance_pair", "Head", 40, 80, 60, false }, v3( 0.06, 0.01, 0.02 ) );
}

// Farther than an arm reaches: the ops ask for what was shown.
static void what_is_out_of_reach_is_not_asked_for( void **state )
{
    (void)state;
    const pull p = { "high_five", "RightHand", 60, 100, 80, false };
    fixture x;
    open_scene( &x, &p );
    tr_result before = solve_scene( &x );
    int hand = tr_skeleton_find( &x.stage.actors[0].target, p.joint );
    vec3 far = v3_add( tr_world_pose( &before.worlds[0], 20 ).positions[hand], v3( 0, 3, 0 ) );
    tr_hold *hold = tr_hold_begin( &x.stage, &before, 20, 0, hand, &x.error );
    assert_non_null( hold );
    check_ok( tr_hold_move( hold, far, &x.error ), &x.error );
    quat rotations[MOST];
    vec3 shown[MOST];
    assert_true( tr_hold_pose( hold, 0, ( tr_pose ){ rotations, shown } ) );
    tr_text ops = { 0 };
    tr_hold_print( hold, "held", p.frame, 6, &ops );
    tr_hold_end( hold );
    run( &x, &ops );
    const tr_constraint *pin = &x.scene.constraints[x.scene.constraint_count - 1];
    assert_true( pin->partners );
    assert_true( v3_distance( pin->target, far ) > 1 );
    tr_result after = solve_scene( &x );
    check_v3( tr_world_pose( &after.worlds[0], 20 ).positions[hand], shown[hand], 2e-3 );
    tr_text_free( &ops );
    tr_result_free( &after );
    tr_result_free( &before );
    end( &x );
}

// Another hand afterwards, at the same frame: the first stays where it was put.
static void a_second_hand_leaves_the_first( void **state )
{
    (void)state;
    const pull p = { "dance_pair", "RightHand", 40, 80, 60, false };
    fixture x;
    open_scene( &x, &p );
    static const char *const joints[] = { "Head", "LeftForeArm" };
    vec3 places[2];
    for ( int i = 0; i < 2; ++i ) {
        tr_result before = solve_scene( &x );
        int joint = tr_skeleton_find( &x.stage.actors[0].target, joints[i] );
        places[i] = v3_add( tr_world_pose( &before.worlds[0], 20 ).positions[joint], v3( 0.02, 0, 0.03 ) );
        tr_hold *hold = tr_hold_begin( &x.stage, &before, 20, 0, joint, &x.error );
        assert_non_null( hold );
        check_ok( tr_hold_move( hold, places[i], &x.error ), &x.error );
        tr_text ops = { 0 };
        tr_hold_print( hold, i == 0 ? "one" : "two", p.frame, 6, &ops );
        tr_hold_end( hold );
        run( &x, &ops );
        tr_text_free( &ops );
        tr_result_free( &before );
    }
    tr_result after = solve_scene( &x );
    for ( int i = 0; i < 2; ++i ) {
        int joint = tr_skeleton_find( &x.stage.actors[0].target, joints[i] );
        check_v3( tr_world_pose( &after.worlds[0], 20 ).positions[joint], places[i], 2e-3 );
    }
    tr_result_free( &after );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( hands_propagate_as_shown ),
        TEST( heads_propagate_as_shown ),
        TEST( what_is_out_of_reach_is_not_asked_for ),
        TEST( a_second_hand_leaves_the_first ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
