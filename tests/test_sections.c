// Whole sections and corners of cages: bodies follow them, and the report says how far the solved bodies do
// not. It also names handles outside of their layer's window.
#include "folder.h"
#include "stage_fixture.h"

#include "scenes/scenes.h"

static void open_scene( fixture *x, const char *name, int cast )
{
    *x = ( fixture ){ .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( name ), cast, &x->scene, &x->library, &x->error ),
              &x->error );
    build( x );
}

static double figure_after( const fixture *x, const tr_result *result, const char *key )
{
    tr_measures measures;
    tr_error error;
    check_ok( tr_measure( &measures, &x->stage, result, &error ), &error );
    double value = figure_of( &measures, key );
    tr_measures_free( &measures );
    return value;
}

static tr_result edited_by( fixture *x, const char *ops )
{
    edit( x, ops );
    rebuild( x );
    return solve( x, "posegraph" );
}

// ------------------------------------------------------------------------------------------------ following

static void a_box_out_of_reach_is_told( void **state )
{
    (void)state;
    fixture x;
    open_scene( &x, "box_relay", 7 );
    tr_result plain = solve( &x, "posegraph" );
    tr_result result = edited_by( &x, "layer_add id=lift kind=cage members=box03 range=90,225\n"
                                      "handle_add id=over layer=lift frame=157 move=0,6,0" );
    int box = tr_scene_find_prop( &x.scene, "box03" );
    double up = result.tracks[box][157].position.y - plain.tracks[box][157].position.y;
    const tr_handle_report *report = &result.handles[0];
    assert_true( up > 0.3 && up < 1.5 );
    assert_true( tr_handle_gave_way( &x.stage, report ) && report->node == result.actor_count + box );
    check_near( report->error_mm, 1e3 * ( 6 - up ), 50 );
    check_near( figure_after( &x, &result, "edit_handle_mm" ), report->error_mm, 1e-6 );
    check_bound( figure_after( &x, &result, "acceleration_spike" ), ACCELERATION );
    tr_result_free( &plain );
    tr_result_free( &result );
    end( &x );
}

typedef struct following {
    const char *ops;
    const char *joint; // what leads
    vec3 move;
    bool arrives;
} following;

// A walker: its root goes where the section does as far as the legs allow; an arm alone, its hand.
static void bodies_follow_their_sections( void **state )
{
    (void)state;
#define WALKER "layer_add id=e kind=cage members=p01 range=20,100\nhandle_add id=s layer=e frame=60 move="
#define ARM                                                                                                  \
    "layer_add id=e kind=cage members=p01.left_arm range=20,100\nhandle_add id=s layer=e frame=60 move="
    static const following cases[] = {
        { WALKER "0,-0.15,0", "Hips", { 0, -0.15, 0 }, true },
        { WALKER "0,-0.03,0.3", "Hips", { 0, -0.03, 0.3 }, true },
        { WALKER "0,0.3,0", "Hips", { 0, 0.3, 0 }, false },
        { WALKER "0,-0.8,0", "Hips", { 0, -0.8, 0 }, false },
        { ARM "0.1,0.1,0", "LeftHand", { 0.1, 0.1, 0 }, true },
        { ARM "0,1,0", "LeftHand", { 0, 1, 0 }, true },
        { ARM "0,2,0", "LeftHand", { 0, 2, 0 }, false },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        fixture x;
        open_scene( &x, "corridor", 2 );
        tr_result plain = solve( &x, "posegraph" ), result = edited_by( &x, cases[i].ops );
        int j = joint( &x.stage, 0, cases[i].joint );
        vec3 asked = v3_add( tr_world_pose( &plain.worlds[0], 60 ).positions[j], cases[i].move );
        double missed = 1e3 * v3_distance( tr_world_pose( &result.worlds[0], 60 ).positions[j], asked );
        assert_int_equal( result.handles[0].node, 0 );
        assert_int_equal( result.handles[0].joint, j );
        check_near( result.handles[0].error_mm, missed, 1e-3 );
        assert_int_equal( cases[i].arrives, missed <= 1 );
        assert_int_equal( cases[i].arrives, !tr_handle_gave_way( &x.stage, &result.handles[0] ) );
        check_bound( figure_after( &x, &result, "contact_error_mm" ), CONTACT_MM );
        check_bound( figure_after( &x, &result, "acceleration_spike" ), ACCELERATION );
        check_bound( figure_after( &x, &result, "rotation_spike_deg" ), ROTATION_DEG );
        tr_result_free( &plain );
        tr_result_free( &result );
        end( &x );
    }
}

static void a_corner_that_leads_nowhere_is_told( void **state )
{
    (void)state;
    static const char *const corners[] = {
        "handle_add id=near layer=e frame=60 vertex=3 move=0,0,0.3",
        "handle_add id=end layer=e frame=20 vertex=3 move=0,0.2,0", // the window begins there, pinned
    };
    for ( int i = 0; i < 2; ++i ) {
        fixture x;
        open_scene( &x, "corridor", 2 );
        edit( &x, "layer_add id=e kind=cage members=p01 range=20,100" );
        tr_result result = edited_by( &x, corners[i] );
        assert_int_equal( tr_handle_gave_way( &x.stage, &result.handles[0] ), i );
        tr_result_free( &result );
        end( &x );
    }
}

// --------------------------------------------------------------------------------------------------- adding

// Sections that hold nothing change nothing, however many there are, wherever they are put or moved; they are
// there to be seen, as the motion goes, and to be grabbed.
static void sections_alone_change_nothing( void **state )
{
    (void)state;
    static const char *const ops[] = {
        "section_add id=first layer=e frame=33",
        "section_set id=first frame=47\nsection_add id=t layer=e frame=71\nsection_remove id=first",
        "section_add id=a layer=e frame=24\nsection_add id=b layer=e frame=28\nsection_add id=c layer=e "
        "frame=32\n"
        "section_add id=d layer=e frame=52\nsection_add id=f layer=e frame=63\nsection_add id=g layer=e "
        "frame=90",
    };
    fixture x;
    open_scene( &x, "corridor", 2 );
    tr_result plain = edited_by( &x, "layer_add id=e kind=cage members=p01 range=20,100 turn=true\n"
                                     "handle_add id=s layer=e frame=60 move=0.1,0,0.5" );
    for ( size_t i = 0; i < sizeof ops / sizeof *ops; ++i ) {
        tr_result result = edited_by( &x, ops[i] );
        for ( int f = 0; f < result.frame_count; ++f )
            assert_true( same_frame( &plain, &result, 0, f ) );
        const tr_cage_outline *cage = &result.cages[0];
        for ( int k = 1; k < cage->section_count; ++k ) // all of them on the way
            assert_true( cage->frames[k] > cage->frames[k - 1] && cage->shift[k].z >= 0 &&
                         cage->shift[k].z <= 0.5 + 1e-6 );
        assert_int_equal( cage->section_count, i < 2 ? 4 : 10 );
        tr_result_free( &result );
    }
    tr_result_free( &plain );
    end( &x );
}

// -------------------------------------------------------------------------------------------------- outside

static void handles_outside_their_window_are_told( void **state )
{
    (void)state;
    fixture x;
    open_scene( &x, "corridor", 2 );
    tr_result plain = solve( &x, "posegraph" );
    tr_result result =
        edited_by( &x, "layer_add id=e kind=cage members=p01 range=20,100\n"
                       "handle_add id=before layer=e frame=10 move=0,0,0.2\n"
                       "handle_add id=after layer=e frame=101 point=p01.LeftHand move=0,0.2,0\n"
                       "handle_add id=never layer=e frame=400 turn=0,40,0\n"
                       "handle_add id=free layer=e frame=10 move=0,1,0 pinned=false\n"
                       "layer_add id=m kind=cage members=p01 range=20,100 muted=true\n"
                       "handle_add id=mute layer=m frame=10 move=0,1,0" );
    for ( int f = 0; f < result.frame_count; ++f )
        assert_true( same_frame( &plain, &result, 0, f ) );
    static const double missed[] = { 200, 200, 69.8, 0, 0 };
    for ( int i = 0; i < 5; ++i ) {
        assert_int_equal( tr_handle_gave_way( &x.stage, &result.handles[i] ), missed[i] > 0 );
        assert_int_equal( result.handles[i].outside, missed[i] > 0 );
        check_near( result.handles[i].error_mm, missed[i], 0.05 );
    }
    tr_result_free( &plain );
    tr_result_free( &result );
    end( &x );
}

// A folder of results has the same reports.
static void reports_are_read_back( void **state )
{
    (void)state;
    fixture x;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    open_scene( &x, "corridor", 2 );
    tr_result result = edited_by( &x, "layer_add id=e kind=cage members=p01 range=20,100\n"
                                      "handle_add id=up layer=e frame=60 move=0,0.3,0\n"
                                      "handle_add id=out layer=e frame=10 move=0,0,0.2" ),
              again;
    check_ok( tr_result_save( &x.stage, &result, "posegraph", folder, &x.error ), &x.error );
    check_ok( tr_result_load( &again, &x.stage, folder, &x.error ), &x.error );
    for ( int i = 0; i < 2; ++i ) {
        assert_int_equal( again.handles[i].node, result.handles[i].node );
        assert_int_equal( again.handles[i].joint, result.handles[i].joint );
        assert_int_equal( again.handles[i].outside, result.handles[i].outside );
        check_v3( again.handles[i].place, result.handles[i].place, 1e-12 );
        check_near( again.handles[i].error_mm, result.handles[i].error_mm, 1e-9 );
    }
    check_near( figure_after( &x, &again, "edit_handle_mm" ), figure_after( &x, &result, "edit_handle_mm" ),
                0.01 );
    tr_result_free( &again );
    tr_result_free( &result );
    remove_folder( folder );
    end( &x );
}

// ------------------------------------------------------------------------------------------------- previews

// The section at an end of the window, put there but not moved yet, is free once it is dragged: in previews
// as in what is kept.
static void ends_are_freed_in_previews_too( void **state )
{
    (void)state;
    static const int ends[] = { 100, 20 };
    for ( int i = 0; i < 2; ++i ) {
        fixture x;
        char ops[256];
        tr_result below;
        open_scene( &x, "corridor", 2 );
        snprintf( ops, sizeof ops,
                  "layer_add id=e kind=cage members=p01 range=20,100\n"
                  "handle_add id=s layer=e frame=%d",
                  ends[i] );
        edit( &x, ops );
        rebuild( &x );
        check_ok( tr_pipeline_run_below( &below, &x.stage, tr_method_find( NULL ), 0, &x.error ), &x.error );
        tr_drag *drag = tr_drag_begin( &x.stage, &below, 0, 0, &x.error );
        check_ok( drag != NULL, &x.error );
        tr_drag_move move = { 0, v3( 0, 0, 0.2 ), v3_zero };
        assert_true(
            tr_drag_visible( drag, &( tr_drag_tick ){ .moves = &move, .move_count = 1, .frame = 60 } ) );
        while ( tr_drag_more( drag, 8 ) )
            ;
        while ( tr_drag_refine( drag, 8 ) )
            ;
        x.scene.handles[0].move = move.move;
        tr_result kept = solve( &x, NULL );
        for ( int f = 0; f < kept.frame_count; f += 10 )
            check_v3( tr_world_pose( &tr_drag_result( drag )->worlds[0], f ).positions[0],
                      tr_world_pose( &kept.worlds[0], f ).positions[0], 2e-3 );
        check_near( 1e3 * tr_drag_error( drag, 0 ), kept.handles[0].error_mm, 1 );
        tr_drag_end( drag );
        tr_result_free( &kept );
        tr_result_free( &below );
        end( &x );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_box_out_of_reach_is_told ),
        TEST( bodies_follow_their_sections ),
        TEST( a_corner_that_leads_nowhere_is_told ),
        TEST( sections_alone_change_nothing ),
        TEST( handles_outside_their_window_are_told ),
        TEST( reports_are_read_back ),
        TEST( ends_are_freed_in_previews_too ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
