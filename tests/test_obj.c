// Wavefront files: what is read, what is passed over, and what is refused, where.
#include "check.h"
#include "format/format.h"

#include <string.h>

static const tr_obj_import metres = { 1, 'y' };

static tr_trimesh parse( const char *text, const tr_obj_import *import )
{
    tr_trimesh mesh;
    tr_error error;
    check_ok( tr_obj_parse( &mesh, text, strlen( text ), "test.obj", import, &error ), &error );
    return mesh;
}

static const char *const wedge =
    "# a wedge\r\nmtllib wood.mtl\no ramp\n"
    "v 0 0 0 1\nv 2 0 0\n  v\t2 1 \\\n 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\n"
    "vn 0 1 0\nvt 0 0\nusemtl oak\ns off\n"
    "f 1/1/1 3/1/1 2//1\nf -3 -2 -1\nf 1 2 5 4 # the floor\nf 2 3 6 5\nf 1 4 6 3";

static void points_and_faces_are_read( void **state )
{
    (void)state;
    tr_trimesh mesh = parse( wedge, &metres );
    assert_int_equal( mesh.point_count, 6 );
    assert_int_equal( mesh.triangle_count, 8 );
    assert_true( mesh.closed );
    check_v3( mesh.high, v3( 2, 1, 1 ), 0 );
    check_near( tr_trimesh_ray( &mesh, v3( 1, 3, 0.5 ), v3( 0, -1, 0 ), NULL ), 2.5, 1e-15 );
    tr_trimesh_free( &mesh );
    mesh = parse( wedge, &( tr_obj_import ){ 0.01, 'z' } ); // what was up is towards the back
    check_v3( mesh.low, v3( 0, 0, -0.01 ), 1e-15 );
    check_v3( mesh.high, v3( 0.02, 0.01, 0 ), 1e-15 );
    tr_trimesh_free( &mesh );
}

// Editors of other systems put a mark before the first word, and end lines in their own ways.
static void files_of_other_systems_are_read( void **state )
{
    (void)state;
    static const char *const files[] = { "\xEF\xBB\xBFv 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 3\n",
                                         "v 0 0 0\r\nv 1 0 0\r\nv 0 0 1\r\nv 0 1 0\r\nf 1 2 3\r\n",
                                         "v 0 0 0\rv 1 0 0\rv 0 0 1\rv 0 1 0\rf 1 2 3" };
    for ( int i = 0; i < 3; ++i ) {
        tr_trimesh mesh = parse( files[i], &metres );
        assert_int_equal( mesh.triangle_count, 1 );
        check_v3( mesh.low, v3_zero, 0 );
        check_v3( mesh.high, v3( 1, 0, 1 ), 0 );
        tr_trimesh_free( &mesh );
    }
}

static void printing_and_reading_are_inverse( void **state )
{
    (void)state;
    tr_trimesh mesh = parse( wedge, &( tr_obj_import ){ 0.3, 'z' } );
    tr_text first = { 0 }, second = { 0 };
    tr_obj_print( &mesh, &first );
    tr_trimesh again = parse( first.data, &metres );
    assert_int_equal( again.triangle_count, mesh.triangle_count );
    assert_true( again.closed );
    check_v3( again.low, mesh.low, 0 );
    tr_obj_print( &again, &second );
    assert_int_equal( first.size, second.size );
    tr_text_free( &first );
    tr_text_free( &second );
    tr_trimesh_free( &mesh );
    tr_trimesh_free( &again );
}

static void mistakes_are_told_where_they_are( void **state )
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } cases[] = {
        { "v 1 2\n", 1, 6, "three numbers" },
        { "v 1 2 x\n", 1, 7, "expected a number" },
        { "v 1 2 3x\n", 1, 7, "expected a number" },
        { "v 1 2 nan\n", 1, 7, "a number" },
        { "v 1 2 1e300\n", 1, 7, "beyond" },
        { "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", 4, 7, "there is no point 4; up to here there are 3" },
        { "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", 4, 7, "there is no point 0" },
        { "v 0 0 0\nf 1 1 -2\n", 2, 7, "there is no point -2" },
        { "v 0 0 0\nv 1 0 0\nf 1 2\n", 3, 2, "three corners" },
        { "v 0 0 0\nv 1 0 0\nf 1 2 \\\n  1.5\n", 4, 3, "number of a point" },
        { "f a b c\n", 1, 3, "number of a point" },
        { "v 0 0 0\nv 1 0 0\nv 0 1 0\n", 0, 0, "no triangle" },
        { "", 0, 0, "no triangle" },
        { "v 0 0 0\nf 1 1 1\n", 0, 0, "no triangle" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        tr_trimesh mesh;
        tr_error error = { 0 };
        assert_false(
            tr_obj_parse( &mesh, cases[i].text, strlen( cases[i].text ), "bad.obj", &metres, &error ) );
        if ( error.line != cases[i].line || error.column != cases[i].column ||
             strstr( error.message, cases[i].message ) == NULL || strcmp( error.file, "bad.obj" ) != 0 )
            fail_msg( "%zu: %s:%d:%d: %s", i, error.file, error.line, error.column, error.message );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( points_and_faces_are_read ),
        TEST( files_of_other_systems_are_read ),
        TEST( printing_and_reading_are_inverse ),
        TEST( mistakes_are_told_where_they_are ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
