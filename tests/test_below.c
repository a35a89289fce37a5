// What layers act on, kept from one solve to the next: the same bits as solving everything.
#include "check.h"

#include "scenes/scenes.h"

#include <string.h>

typedef struct kept {
    tr_opened relay;
    tr_document *document;
    tr_stage stage;
    tr_error error;
} kept;

static void begin( kept *k )
{
    *k = ( kept ){ 0 };
    check_ok( tr_open( &k->relay, "box_relay", 3, &k->error ), &k->error );
    k->relay.scene.last = k->relay.scene.first + 60;
    k->document = tr_document_create( &k->relay.scene, &k->error );
    assert_non_null( k->document );
}

static void end( kept *k )
{
    tr_document_destroy( k->document );
    tr_opened_free( &k->relay );
}

static void apply( kept *k, const char *line )
{
    check_ok( tr_document_apply( k->document, line, &k->error ), &k->error );
}

static void add_cage( kept *k )
{
    apply( k, "layer_add id=bend kind=cage members=p02.LeftHand range=10,40" );
    apply( k, "handle_add id=grip layer=bend frame=25 point=p02.LeftHand move=0,0.08,0" );
}

static void check_same( const tr_result *a, const tr_result *b )
{
    for ( int i = 0; i < a->actor_count; ++i ) {
        const tr_clip *x = &a->motions[i].clip, *y = &b->motions[i].clip;
        size_t frames = (size_t)x->frame_count, cells = frames * (size_t)x->joint_count;
        assert_memory_equal( x->rotations, y->rotations, cells * sizeof( quat ) );
        assert_memory_equal( a->worlds[i].positions, b->worlds[i].positions, cells * sizeof( vec3 ) );
    }
    for ( int p = 0; p < a->prop_count; ++p )
        assert_memory_equal( a->tracks[p], b->tracks[p], (size_t)a->frame_count * sizeof( rigid ) );
    for ( int r = 0; r < a->rule_count; ++r )
        assert_true( a->reports[r].max_mm == b->reports[r].max_mm &&
                     a->reports[r].gave_way == b->reports[r].gave_way );
    assert_int_equal( a->mesh_count, b->mesh_count );
    assert_int_equal( a->links.count, b->links.count );
    assert_int_equal( a->cage_count, b->cage_count );
}

static void solve_both_ways( const char *method )
{
    kept k;
    tr_result below, above, whole;
    begin( &k );
    const tr_method *m = tr_method_find( method );
    check_ok( tr_stage_build( &k.stage, tr_document_scene( k.document ), k.relay.file, &k.relay.library, NULL,
                              &k.error ),
              &k.error );
    check_ok( tr_pipeline_run( &below, &k.stage, m, &k.error ), &k.error );
    tr_stage_free( &k.stage );
    add_cage( &k );
    check_ok( tr_stage_build( &k.stage, tr_document_scene( k.document ), k.relay.file, &k.relay.library, NULL,
                              &k.error ),
              &k.error );
    check_ok( tr_pipeline_run( &whole, &k.stage, m, &k.error ), &k.error );
    check_ok( tr_pipeline_run_above( &above, &k.stage, m, &below, &k.error ), &k.error );
    check_same( &whole, &above );
    tr_result_free( &below );
    tr_result_free( &above );
    tr_result_free( &whole );
    tr_stage_free( &k.stage );
    end( &k );
}

static void cages_on_top_give_the_same_bits( void **state )
{
    (void)state;
    solve_both_ways( "posegraph" );
    solve_both_ways( "imesh" );
}

// Layers bound on a stage that was built for the document without them.
static void a_stage_carries_another( void **state )
{
    (void)state;
    kept k;
    tr_stage above;
    tr_result built, carried;
    begin( &k );
    const tr_method *m = tr_method_find( NULL );
    check_ok( tr_stage_build( &k.stage, &k.relay.scene, k.relay.file, &k.relay.library, NULL, &k.error ),
              &k.error );
    add_cage( &k );
    assert_true( tr_stage_carries( &k.stage, tr_document_scene( k.document ) ) );
    check_ok( tr_stage_build_on( &above, &k.stage, tr_document_scene( k.document ), NULL, &k.error ),
              &k.error );
    assert_int_equal( above.grab_count, 1 );
    assert_int_equal( k.stage.grab_count, 0 );
    check_ok( tr_pipeline_run( &carried, &above, m, &k.error ), &k.error );
    tr_stage_free( &above );
    apply( &k, "handle_add id=none layer=bend frame=25 point=p02.Wing move=0,0.08,0" );
    assert_false( tr_stage_build_on( &above, &k.stage, tr_document_scene( k.document ), NULL, &k.error ) );
    tr_document_undo( k.document );
    apply( &k, "cast_scale id=p01 scale=1.1" );
    assert_false( tr_stage_carries( &k.stage, tr_document_scene( k.document ) ) );
    tr_document_undo( k.document );
    tr_stage_free( &k.stage );
    check_ok( tr_stage_build( &k.stage, tr_document_scene( k.document ), k.relay.file, &k.relay.library, NULL,
                              &k.error ),
              &k.error );
    check_ok( tr_pipeline_run( &built, &k.stage, m, &k.error ), &k.error );
    check_same( &built, &carried );
    tr_result_free( &built );
    tr_result_free( &carried );
    tr_stage_free( &k.stage );
    end( &k );
}

static void only_cages_may_differ( void **state )
{
    (void)state;
    kept k;
    begin( &k );
    const tr_scene *before = &k.relay.scene, *now;
    add_cage( &k );
    now = tr_document_scene( k.document );
    assert_true( tr_scene_same_below( before, now ) );
    assert_true( tr_scene_same_below( now, now ) );
    apply( &k, "layer_set id=bend solo=true" ); // it would silence a retiming
    assert_false( tr_scene_same_below( before, tr_document_scene( k.document ) ) );
    apply( &k, "layer_set id=bend solo=false" );
    apply( &k, "layer_add id=late kind=retime members=p02 range=10,40" );
    assert_false( tr_scene_same_below( before, tr_document_scene( k.document ) ) );
    apply( &k, "layer_remove id=late" );
    assert_true( tr_scene_same_below( before, tr_document_scene( k.document ) ) );
    apply( &k, "cast_scale id=p01 scale=1.1" );
    assert_false( tr_scene_same_below( before, tr_document_scene( k.document ) ) );
    end( &k );
}

int main( void )
{
    const struct CMUnitTest tests[] = { TEST( cages_on_top_give_the_same_bits ),
                                        TEST( a_stage_carries_another ), TEST( only_cages_may_differ ) };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
