// The memory that a mesh reports is the memory it holds.
#include "imesh/imesh.h"
#include "stage_fixture.h"

static void bytes_are_what_is_allocated( void **state )
{
    (void)state;
    tr_motion motion = { 0 };
    tr_body body;
    tr_world world;
    tr_error error;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    check_ok( tr_body_build( &body, &motion.skeleton, NULL, 0, &error ), &error );
    check_ok( tr_world_build( &world, &motion, &error ), &error );
    rigid track = { q_identity, v3( 0, 0.9, 0.4 ) };
    tr_imesh_body bodies[1] = { { .source = &motion.skeleton,
                                  .target = &motion.skeleton,
                                  .source_body = &body,
                                  .target_body = &body,
                                  .source_world = &world } };
    tr_imesh_box box = { &track, &track, 1, v3( 0.3, 0.3, 0.3 ), v3( 0.3, 0.3, 0.3 ), true };
    tr_imesh_row row = { .a = { 0, 3, -1, v3_zero }, .b = { -1, -1, -1, v3_zero }, .axis = { true } };
    tr_imesh_cast cast = { .bodies = bodies,
                           .boxes = &box,
                           .rows = &row,
                           .body_count = 1,
                           .box_count = 1,
                           .row_count = 1,
                           .frame_count = FRAMES };
    tr_imesh_def def = tr_default_imesh_def();
    tr_imesh mesh;
    size_t before = tr_memory_live();
    check_ok( tr_imesh_build( &mesh, &cast, &def, &error ), &error );
    check_ok( tr_imesh_solve( &mesh, NULL, &error ), &error );
    double live = (double)( tr_memory_live() - before );
    check_near( (double)tr_imesh_bytes( &mesh ) / live, 1, 0.03 );
    tr_imesh_free( &mesh );
    assert_int_equal( tr_memory_live(), before );
    tr_world_free( &world );
    tr_body_free( &body );
    tr_motion_free( &motion );
}

int main( void )
{
    const struct CMUnitTest tests[] = { TEST( bytes_are_what_is_allocated ) };
    return cmocka_run_group_tests_name( "imesh memory", tests, NULL, NULL );
}
