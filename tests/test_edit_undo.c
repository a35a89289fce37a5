// Every op on layers, their sections and handles is taken back and done again: the same document, to the
// byte, and the same motion, to the bit.
#include "stage_fixture.h"

#include "io/io.h"

// Two people hold hands, a third does not; edited by two cages and a retiming.
static const char *const begun = "layer_add id=low kind=cage members=a range=2,26\n"
                                 "section_add id=s1 layer=low frame=8\n"
                                 "handle_add id=grip layer=low frame=14 point=a.LeftHand move=0.1,0.05,0\n"
                                 "handle_add id=whole layer=low frame=20 move=0,-0.05,0.05\n"
                                 "layer_add id=high kind=cage members=a,b range=4,24 ease=2,2\n"
                                 "handle_add id=corner layer=high frame=15 vertex=2 move=0,0,0.1\n"
                                 "layer_add id=late kind=retime members=c ripple=true\n"
                                 "section_add id=t1 layer=late frame=10 delay=3\n";

static const char *const ops[] = {
    "layer_set id=low muted=true",
    "layer_set id=high solo=true",
    "layer_move id=high before=low",
    "layer_copy id=low to=twin range=6,28",
    "layer_copy id=late to=later members=b",
    "layer_remove id=low",
    "layer_remove id=late",
    "layer_rename id=low to=first",
    "layer_set id=low range=6,22",
    "layer_set id=high ease=4,0",
    "layer_set id=low falloff=5",
    "layer_set id=low turn=true padding=0.3",
    "layer_set id=late ripple=false range=0,24",
    "layer_add id=new kind=cage members=c.left_arm",
    "section_add id=s2 layer=low frame=12",
    "section_set id=s1 frame=10",
    "section_remove id=s1",
    "section_rename id=s1 to=s9",
    "section_add id=t2 layer=late frame=20 delay=5",
    "section_set id=t1 frame=12 delay=2",
    "section_remove id=t1",
    "handle_add id=more layer=low frame=10 point=a.Head move=0,-0.03,0",
    "handle_add id=pin layer=low frame=10 point=a.Head",
    "handle_set id=grip move=0,0.1,0.1",
    "handle_set id=grip frame=16",
    "handle_set id=whole turn=0,15,0",
    "handle_set id=whole pinned=false",
    "handle_set id=corner vertex=5",
    "handle_copy id=grip to=grip2 frame=11",
    "handle_rename id=grip to=hold",
    "handle_remove id=grip",
};

typedef struct state { // a document, and the pipeline's result for it
    tr_text text;
    tr_result result;
} state;

static state look( fixture *x, const tr_document *document )
{
    state s = { 0 };
    tr_stage stage;
    const tr_scene *scene = tr_document_scene( document );
    check_ok( tr_scene_print( scene, &s.text, &x->error ), &x->error );
    check_ok( tr_stage_build( &stage, scene, NULL, &x->library, NULL, &x->error ), &x->error );
    check_ok( tr_pipeline_run( &s.result, &stage, tr_method_find( NULL ), &x->error ), &x->error );
    tr_stage_free( &stage );
    return s;
}

static void forget( state *s )
{
    tr_text_free( &s->text );
    tr_result_free( &s->result );
}

static void check_same( const state *a, const state *b, const char *op, const char *what )
{
    bool same = a->text.size == b->text.size && memcmp( a->text.data, b->text.data, a->text.size ) == 0 &&
                a->result.frame_count == b->result.frame_count;
    for ( int i = 0; same && i < a->result.actor_count; ++i )
        for ( int f = 0; same && f < a->result.frame_count; ++f )
            same = same_frame( &a->result, &b->result, i, f );
    if ( !same )
        fail_msg( "%s: %s leaves something else", op, what );
}

static void begin_three( fixture *x )
{
    begin( x );
    add_bent( x, "a", v3_zero, 1 );
    add_bent( x, "b", v3( 1.2, 0, 0 ), 1 );
    add_bent( x, "c", v3( 0, 0, 3 ), 1 );
}

static void every_layer_op_is_undone_and_redone( void **context )
{
    (void)context;
    fixture x;
    begin_three( &x );
    tr_constraint link =
        relation( "ab", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
    link.last = 12;
    tr_scene_add_constraint( &x.scene, &link );
    edit( &x, begun );
    tr_document *document = tr_document_create( &x.scene, &x.error );
    assert_non_null( document );
    state before = look( &x, document );
    for ( size_t i = 0; i < sizeof ops / sizeof *ops; ++i ) {
        check_ok( tr_document_run( document, ops[i], strlen( ops[i] ), "ops", &x.error ), &x.error );
        state after = look( &x, document );
        bool text = after.text.size != before.text.size ||
                    memcmp( after.text.data, before.text.data, before.text.size ) != 0;
        assert_true( text ); // it did something
        assert_true( tr_document_undo( document ) );
        state undone = look( &x, document );
        check_same( &before, &undone, ops[i], "undo" );
        assert_true( tr_document_redo( document ) );
        state redone = look( &x, document );
        check_same( &after, &redone, ops[i], "redo" );
        assert_true( tr_document_undo( document ) );
        forget( &after );
        forget( &undone );
        forget( &redone );
    }
    forget( &before );
    tr_document_destroy( document );
    end( &x );
}

// A whole script is taken back op by op, and done again.
static void all_of_them_in_a_row( void **context )
{
    (void)context;
    fixture x;
    begin_three( &x );
    tr_document *document = tr_document_create( &x.scene, &x.error );
    assert_non_null( document );
    state empty = look( &x, document );
    check_ok( tr_document_run( document, begun, strlen( begun ), "ops", &x.error ), &x.error );
    state full = look( &x, document );
    while ( tr_document_undo( document ) )
        ;
    state undone = look( &x, document );
    check_same( &empty, &undone, "all", "undo" );
    while ( tr_document_redo( document ) )
        ;
    state redone = look( &x, document );
    check_same( &full, &redone, "all", "redo" );
    forget( &empty );
    forget( &full );
    forget( &undone );
    forget( &redone );
    tr_document_destroy( document );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( every_layer_op_is_undone_and_redone ),
        TEST( all_of_them_in_a_row ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
