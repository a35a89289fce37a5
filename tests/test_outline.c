// What there is to see of a cage, of the interaction mesh, and of the document's frames where motion is moved
// in time.
#include "stage_fixture.h"

#include "troupe.h"

#define ARM                                                                                                  \
    "layer_add id=edit kind=cage members=a range=4,26\n"                                                     \
    "handle_add id=grip layer=edit frame=15 point=a.LeftHand move=%s\n"

static void begin_edit( fixture *x, const char *move )
{
    char ops[256];
    begin( x );
    add_bent( x, "a", v3_zero, 1 );
    build( x );
    snprintf( ops, sizeof ops, ARM, move );
    edit( x, ops );
    rebuild( x );
}

static void check_outline( const fixture *x, const tr_cage_outline *o )
{
    assert_string_equal( o->layer, "edit" );
    assert_true( o->first == 4 && o->last == 26 );
    assert_int_equal( o->frames[0], 4 );
    assert_int_equal( o->frames[o->section_count - 1], 26 );
    bool held = false; // where something is held there is a section
    for ( int k = 0; k < o->section_count; ++k )
        held |= o->frames[k] == 15 && ( k == 0 || o->frames[k] > o->frames[k - 1] );
    assert_true( held );
    assert_int_equal( o->edge_count % 12, 0 );   // a box has twelve edges, each of as many pieces
    for ( int k = 0; k < o->section_count; ++k ) // eight corners, all different, around all joints
        for ( int c = 0; c < 8; ++c )
            for ( int e = c + 1; e < 8; ++e )
                assert_true( v3_distance( o->rest[k * o->vertex_count + o->corners[c]],
                                          o->rest[k * o->vertex_count + o->corners[e]] ) > 0.01 );
    vec3 place;
    assert_false( tr_cage_outline_before( o, 1, 0, 15, &place ) ); // not grabbed
    assert_false( tr_cage_outline_before( o, 0, 0, FRAMES + 5, &place ) );
    assert_true( tr_cage_outline_before( o, 0, joint( &x->stage, 0, "LeftHand" ), 15, &place ) );
}

static void a_cage_is_there_to_be_seen( void **state )
{
    (void)state;
    fixture x;
    begin_edit( &x, "0,0.1,0" );
    tr_result result = solve( &x, NULL ), below;
    check_ok( tr_pipeline_run_below( &below, &x.stage, tr_method_find( NULL ), 0, &x.error ), &x.error );
    assert_int_equal( result.cage_count, 1 );
    assert_int_equal( below.cage_count, 0 );
    const tr_cage_outline *o = &result.cages[0];
    check_outline( &x, o );
    int hand = joint( &x.stage, 0, "LeftHand" );
    vec3 place;
    for ( int f = 4; f <= 26; ++f ) {
        assert_true( tr_cage_outline_before( o, 0, hand, f, &place ) );
        check_v3( place, tr_world_pose( &below.worlds[0], f ).positions[hand], 0 );
    }
    double most = 0;
    for ( int v = 0; v < o->section_count * o->vertex_count; ++v )
        most = fmax( most, v3_distance( o->rest[v], o->moved[v] ) );
    assert_true( most > 0.02 );
    tr_cage_outline copy;
    check_ok( tr_cage_outline_copy( &copy, o, &x.error ), &x.error );
    check_outline( &x, &copy );
    assert_memory_equal( copy.moved, o->moved,
                         (size_t)o->section_count * (size_t)o->vertex_count * sizeof( vec3 ) );
    tr_cage_outline_free( &copy );
    tr_result_free( &result );
    tr_result_free( &below );
    end( &x );
}

// A layer whose handles ask for nothing changes no bit, and its cage is there to be taken hold of.
static void a_cage_that_rests_is_seen_as_well( void **state )
{
    (void)state;
    fixture x;
    begin_edit( &x, "0,0,0" );
    tr_result result = solve( &x, NULL );
    assert_int_equal( result.cage_count, 1 );
    const tr_cage_outline *o = &result.cages[0];
    check_outline( &x, o );
    for ( int v = 0; v < o->section_count * o->vertex_count; ++v )
        check_v3( o->moved[v], o->rest[v], 0 );
    for ( int k = 0; k < o->section_count; ++k )
        assert_true( v3_length( o->shift[k] ) == 0 && v3_length( o->turn[k] ) == 0 );
    tr_result_free( &result );
    end( &x );
}

// A section that a handle moves and turns says so in the handle's own words.
static void sections_tell_how_they_moved( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    build( &x );
    edit( &x, "layer_add id=edit kind=cage members=a range=4,26\n"
              "handle_add id=grip layer=edit frame=15 move=0.1,0,0.2 turn=0,20,0\n" );
    rebuild( &x );
    tr_result result = solve( &x, NULL );
    const tr_cage_outline *o = &result.cages[0];
    for ( int k = 0; k < o->section_count; ++k )
        if ( o->frames[k] == 15 ) {
            check_v3( o->shift[k], v3( 0.1, 0, 0.2 ), 1e-6 );
            check_v3( o->turn[k], v3( 0, 20, 0 ), 1e-4 );
        }
    tr_result_free( &result );
    end( &x );
}

static void a_drag_shows_its_cage( void **state )
{
    (void)state;
    fixture x;
    begin_edit( &x, "0,0,0" );
    tr_result below;
    check_ok( tr_pipeline_run_below( &below, &x.stage, tr_method_find( NULL ), 0, &x.error ), &x.error );
    tr_drag *drag = tr_drag_begin( &x.stage, &below, 0, 0, &x.error );
    check_ok( drag != NULL, &x.error );
    tr_drag_move move = { 0, v3( 0, 0.1, 0 ), v3_zero };
    for ( int i = 0; i < 20; ++i )
        tr_drag_visible( drag, &( tr_drag_tick ){ .moves = &move, .move_count = 1, .frame = 15 } );
    x.scene.handles[0].move = move.move;
    tr_result kept = solve( &x, NULL );
    const tr_cage_outline *a = tr_drag_cage( drag ), *b = &kept.cages[0];
    assert_int_equal( a->section_count, b->section_count );
    for ( int v = 0; v < a->section_count * a->vertex_count; ++v )
        check_v3( a->moved[v], b->moved[v], 2e-3 );
    tr_drag_end( drag );
    tr_result_free( &kept );
    tr_result_free( &below );
    end( &x );
}

// With a delay of 5 from frame 8 on, what stands at 16 in a document below the retiming is seen at 21.
static void frames_of_the_document_are_found_again( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    edit( &x, "layer_add id=low kind=cage members=a range=12,20\n"
              "layer_add id=t kind=retime members=a ripple=true\n"
              "section_add id=s layer=t frame=8 delay=5\n"
              "layer_add id=high kind=cage members=a range=12,20" );
    build( &x );
    assert_int_equal( tr_stage_document_frame( &x.stage, &x.scene, "a", 1, 21 ), 16 );
    assert_int_equal( tr_stage_document_frame( &x.stage, &x.scene, "a", 3, 21 ), 21 );
    assert_int_equal( tr_stage_document_frame( &x.stage, &x.scene, "a", 2, 21 ), 21 );
    assert_int_equal( tr_stage_document_frame( &x.stage, &x.scene, "a", 0, 21 ), 16 );
    end( &x );
}

// Edges lead from one body to another, where the result has them; bodies far away have none.
static void the_mesh_between_close_ones_is_there_to_be_seen( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    add_bent( &x, "b", v3( 0.5, 0, 0 ), 1.1 );
    add_bent( &x, "c", v3( 9, 0, 0 ), 1 );
    build( &x );
    tr_result result = solve( &x, "copy" );
    tr_imesh_pairs links;
    tr_mesh_lines lines = { 0 }, none = { 0 };
    check_ok( tr_stage_links( &links, &x.stage, &x.error ), &x.error );
    check_ok( tr_mesh_lines_find( &lines, &x.stage, &result, &links, 0, 3, &x.error ), &x.error );
    check_ok( tr_mesh_lines_find( &none, &x.stage, &result, &links, 2, 3, &x.error ), &x.error );
    assert_true( lines.count > 4 );
    assert_int_equal( none.count, 0 );
    for ( int i = 0; i < lines.count; ++i )
        for ( int e = 0; e < 2; ++e ) { // at a joint of one of the two
            double nearest = HUGE_VAL;
            for ( int actor = 0; actor < 2; ++actor )
                for ( int j = 0; j < result.worlds[actor].joint_count; ++j )
                    nearest =
                        fmin( nearest, v3_distance( tr_world_pose( &result.worlds[actor], 3 ).positions[j],
                                                    lines.items[i][e] ) );
            check_near( nearest, 0, 0 );
        }
    tr_mesh_lines_free( &lines );
    tr_mesh_lines_free( &none );
    tr_imesh_pairs_free( &links );
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_cage_is_there_to_be_seen ),
        TEST( a_cage_that_rests_is_seen_as_well ),
        TEST( sections_tell_how_they_moved ),
        TEST( a_drag_shows_its_cage ),
        TEST( frames_of_the_document_are_found_again ),
        TEST( the_mesh_between_close_ones_is_there_to_be_seen ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
