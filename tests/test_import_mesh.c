// Meshes of glTF and FBX files as props: where their points are, which way faces look, what is refused. Rest
// poses from skins.
#include "check.h"
#include "folder.h"

#include "compose/compose.h"
#include "import/import.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- a file made
// here

static void add_u32( tr_text *out, size_t value )
{
    uint32_t number = (uint32_t)value;
    tr_text_append( out, (const char *)&number, sizeof number );
}

typedef struct part_def {
    const char *nodes;   // JSON
    int mode;            // of the mesh
    int indices;         // of them used
    int count;           // of points that are claimed; 0: as many as there are
    unsigned char first; // index, to be wrong
    const char *more;    // of the accessor of points
} part_def;

// A tetrahedron: the corner of a cube.
static void make_file( tr_text *out, const part_def *def )
{
    static const float points[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    unsigned char indices[12] = { def->first, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    tr_text json = { 0 };
    tr_text_add( &json,
                 "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[%s],\"meshes\":[{\"primitives\":[{\"mode\":%d,"
                 "\"attributes\":{\"POSITION\":0},\"indices\":1}]}],"
                 "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"%s},"
                 "{\"bufferView\":1,\"componentType\":5121,\"count\":%d,\"type\":\"SCALAR\"}],"
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"
                 "\"byteLength\":12}],\"buffers\":[{\"byteLength\":60}]}",
                 def->nodes, def->mode, def->count > 0 ? def->count : 4, def->more ? def->more : "",
                 def->indices );
    while ( json.size % 4 != 0 )
        tr_text_append( &json, " ", 1 );
    *out = ( tr_text ){ 0 };
    tr_text_append( out, "glTF", 4 );
    add_u32( out, 2 );
    add_u32( out, 28 + json.size + 60 );
    add_u32( out, json.size );
    tr_text_append( out, "JSON", 4 );
    tr_text_append( out, json.data, json.size );
    add_u32( out, 60 );
    tr_text_append( out, "BIN", 4 );
    tr_text_append( out, (const char *)points, sizeof points );
    tr_text_append( out, (const char *)indices, sizeof indices );
    assert_false( out->failed );
    tr_text_free( &json );
}

static bool read_part( tr_trimesh *mesh, const part_def *def, double scale, tr_error *error )
{
    tr_text file;
    tr_import import;
    *mesh = ( tr_trimesh ){ 0 };
    make_file( &file, def );
    bool ok = tr_import_parse( &import, file.data, file.size, "made.glb", NULL, NULL, error ) &&
              tr_import_mesh( mesh, &import, "made.glb", scale, error );
    tr_import_free( &import );
    tr_text_free( &file );
    return ok;
}

static void need( const char *ending )
{
    if ( tr_import_can_read( ending ) )
        return;
    print_message( "skipped: this build cannot read %s (scripts/headers.sh)\n", ending );
    skip();
}

static const char *const two_nodes = "{\"mesh\":0,\"translation\":[2,3,4]},{\"children\":[2],\"translation\":"
                                     "[0,1,0]},{\"mesh\":0,\"scale\":[-1,2,1]}";

// ------------------------------------------------------------------------------------------------------
// tests

// Twice the tetrahedron, once mirrored: all faces look outwards.
static void nodes_place_meshes( void **state )
{
    (void)state;
    need( ".glb" );
    tr_trimesh mesh;
    tr_error error = { 0 };
    check_ok( read_part( &mesh, &( part_def ){ .nodes = two_nodes, .mode = 4, .indices = 12 }, 0.5, &error ),
              &error );
    assert_int_equal( mesh.point_count, 8 );
    assert_int_equal( mesh.triangle_count, 8 );
    assert_true( mesh.closed );
    check_v3( mesh.low, v3( -0.5, 0.5, 0 ), 1e-12 );
    check_v3( mesh.high, v3( 1.5, 2, 2.5 ), 1e-12 );
    for ( int t = 0; t < mesh.triangle_count; ++t ) {
        vec3 at = mesh.points[mesh.triangles[t][0]];
        vec3 middle = at.x > 0.75 ? v3( 1.1, 1.6, 2.1 ) : v3( -0.1, 0.7, 0.1 );
        assert_true( v3_dot( mesh.normals[t], v3_sub( at, middle ) ) > 0 );
    }
    tr_trimesh_free( &mesh );
}

static void strips_and_fans( void **state )
{
    (void)state;
    need( ".glb" );
    for ( int mode = 5; mode <= 6; ++mode ) { // of 0 2 1 0 1 3
        tr_trimesh mesh;
        tr_error error = { 0 };
        part_def def = { .nodes = "{\"mesh\":0}", .mode = mode, .indices = 6 };
        check_ok( read_part( &mesh, &def, 1, &error ), &error );
        assert_false( mesh.closed );
        // Strip: 021, 201 and 031, every second one turned. Fan: 021 and 013. Others have a corner twice.
        assert_int_equal( mesh.triangle_count, mode == 5 ? 3 : 2 );
        check_v3( mesh.normals[0], v3( 0, 0, -1 ), 1e-12 );
        check_v3( mesh.normals[1], mode == 5 ? v3( 0, 0, 1 ) : v3( 0, -1, 0 ), 1e-12 );
        tr_trimesh_free( &mesh );
    }
}

static void wrong_meshes_are_refused( void **state )
{
    (void)state;
    need( ".glb" );
    static const struct {
        part_def def;
        const char *says;
    } cases[] = {
        { { .nodes = "{}", .mode = 4, .indices = 12 }, "no triangles" },
        { { .nodes = "{\"mesh\":0}", .mode = 1, .indices = 12 }, "no triangles" }, // lines
        { { .nodes = "{\"mesh\":0}", .mode = 4, .indices = 12, .first = 9 }, "no point" },
        { { .nodes = "{\"mesh\":0}", .mode = 4, .indices = 12, .count = 5 }, "outside of its data" },
        { { .nodes = "{\"mesh\":0}", .mode = 4, .indices = 13 }, "outside of its data" },
        { { .nodes = "{\"mesh\":0}", .mode = 4, .indices = 12, .count = 2000000000 }, "million" },
        { { .nodes = "{\"mesh\":0,\"translation\":[1e6,0,0]}", .mode = 4, .indices = 12 }, "100 km" },
        { { .nodes = "{\"mesh\":0}",
            .mode = 4,
            .indices = 12,
            .more = ",\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":1,\"componentType\":5121},"
                    "\"values\":{\"bufferView\":0}}" },
          "sparsely" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        tr_trimesh mesh;
        tr_error error = { 0 };
        assert_false( read_part( &mesh, &cases[i].def, 1, &error ) );
        if ( strstr( error.message, cases[i].says ) == NULL )
            print_error( "%zu: %s\n", i, error.message );
        assert_non_null( strstr( error.message, cases[i].says ) );
    }
}

// A character's mesh is where it is at rest, though its points are where the skin takes them.
static void skinned_meshes_are_at_rest( void **state )
{
    (void)state;
    need( ".glb" );
    tr_opened opened;
    tr_stage stage;
    tr_result result;
    tr_exchange x;
    tr_trimesh mesh;
    char path[128];
    tr_error error = { 0 };
    tr_compose_def def = { .bodies = true, .only = "p01" };
    check_ok( tr_open( &opened, "high_five", 0, &error ), &error );
    check_ok( tr_stage_build( &stage, &opened.scene, NULL, &opened.library, NULL, &error ), &error );
    check_ok( tr_result_from_source( &result, &stage, &error ), &error );
    check_ok( tr_compose( &x, &stage, &result, &def, NULL, &error ), &error );
    check_ok( tr_exchange_save( &x, in_folder( path, "body.glb" ), NULL, &error ), &error );
    check_ok( tr_mesh_read( &mesh, path, &( tr_obj_import ){ 2, 'y' }, &error ), &error );
    vec3 low = v3( INFINITY, INFINITY, INFINITY ), high = v3_scale( -1, low );
    for ( int i = 0; i < x.bodies[0].facets.point_count; ++i ) {
        vec3 p = x.bodies[0].facets.points[i];
        low = v3( fmin( low.x, p.x ), fmin( low.y, p.y ), fmin( low.z, p.z ) );
        high = v3( fmax( high.x, p.x ), fmax( high.y, p.y ), fmax( high.z, p.z ) );
    }
    check_v3( mesh.low, v3_scale( 2, low ), 1e-5 );
    check_v3( mesh.high, v3_scale( 2, high ), 1e-5 );
    tr_trimesh_free( &mesh );
    tr_exchange_free( &x );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_opened_free( &opened );
}

static void props_come_from_fbx( void **state )
{
    (void)state;
    need( ".fbx" );
    tr_scene scene = tr_default_scene();
    tr_stage stage;
    tr_error error = { 0 };
    scene.last = 3;
    tr_cast cast = tr_default_cast( "a" );
    tr_opened walk;
    check_ok( tr_open( &walk, "arm_circles", 0, &error ), &error );
    cast.source = walk.scene.cast[0].source;
    tr_prop prop = tr_default_prop( "thing" );
    prop.shape = TR_SHAPE_MESH;
    snprintf( prop.form.mesh, sizeof prop.form.mesh, "%s/tests/fuzz/corpus/fbx/strip.fbx", SOURCE_DIR );
    assert_non_null( tr_scene_add_cast( &scene, &cast ) );
    assert_non_null( tr_scene_add_prop( &scene, &prop ) );
    check_ok( tr_stage_build( &stage, &scene, NULL, &walk.library, NULL, &error ), &error );
    assert_true( tr_stage_prop_shape( &stage, 0, true ).mesh->triangle_count > 0 );
    tr_stage_free( &stage );
    tr_opened_free( &walk );
    tr_scene_free( &scene );
}

// ---------------------------------------------------------------------------------------- where skins were
// bound

// Three joints, a unit above each other; the nodes say that the middle one is bent by a quarter about Z. The
// skin was bound when they were straight, `length` apart, all of them turned about X by quarters.
static void make_bent( tr_text *out, float length, int quarters )
{
    tr_text json = { 0 };
    tr_text_add(
        &json, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"a\",\"children\":[1],\"translation\":"
               "[0,1,0]},{\"name\":\"b\",\"children\":[2],\"translation\":[0,1,0],\"rotation\":[0,0,"
               "0.70710678,0.70710678]},{\"name\":\"c\",\"translation\":[0,1,0]}],"
               "\"skins\":[{\"joints\":[0,1,2],\"inverseBindMatrices\":0}],\"accessors\":[{\"bufferView\":0,"
               "\"componentType\":5126,\"count\":3,\"type\":\"MAT4\"}],\"bufferViews\":[{\"buffer\":0,"
               "\"byteLength\":192}],\"buffers\":[{\"byteLength\":192}]}" );
    while ( json.size % 4 != 0 )
        tr_text_append( &json, " ", 1 );
    *out = ( tr_text ){ 0 };
    tr_text_append( out, "glTF", 4 );
    add_u32( out, 2 );
    add_u32( out, 28 + json.size + 192 );
    add_u32( out, json.size );
    tr_text_append( out, "JSON", 4 );
    tr_text_append( out, json.data, json.size );
    add_u32( out, 192 );
    tr_text_append( out, "BIN", 4 );
    const float turns[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } }, c = turns[quarters][0],
                s = turns[quarters][1];
    for ( int j = 0; j < 3; ++j ) { // the inverse of the turn, then down to the joint
        const float m[16] = { 1, 0, 0, 0, 0, c, -s, 0, 0, s, c, 0, 0, -( 1 + (float)j * length ), 0, 1 };
        tr_text_append( out, (const char *)m, sizeof m );
    }
    tr_text_free( &json );
}

static void rests_are_where_skins_were_bound( void **state )
{
    (void)state;
    need( ".glb" );
    static const struct {
        float length;
        int quarters;
        bool bound; // else as the nodes are
    } cases[] = { { 1, 0, true }, { 2, 0, false }, { 1, 1, true } };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        tr_text file;
        tr_import import;
        tr_motion motion;
        tr_error error = { 0 };
        quat rotations[3];
        vec3 places[3];
        make_bent( &file, cases[i].length, cases[i].quarters );
        check_ok( tr_import_parse( &import, file.data, file.size, "bent.glb", NULL, NULL, &error ), &error );
        check_ok( tr_import_motion( &motion, &import, NULL, NULL, &error ), &error );
        vec3 way =
            cases[i].bound ? ( cases[i].quarters == 1 ? v3( 0, 0, 1 ) : v3( 0, 1, 0 ) ) : v3( -1, 0, 0 );
        check_v3( motion.skeleton.joints[2].offset, way, 1e-6 );
        tr_forward( &motion.skeleton, &motion.clip, 0, ( tr_pose ){ rotations, places } );
        check_v3( places[0], v3( 0, 1, 0 ), 1e-6 ); // the frame is what the nodes say in any case
        check_v3( places[1], v3( 0, 2, 0 ), 1e-6 );
        check_v3( places[2], v3( -1, 2, 0 ), 1e-6 );
        tr_motion_free( &motion );
        tr_import_free( &import );
        tr_text_free( &file );
    }
}

static void bent_without_memory( void **state )
{
    (void)state;
    need( ".glb" );
    bool ok = false;
    tr_text file;
    make_bent( &file, 1, 0 );
    for ( long n = 1; !ok; ++n ) {
        size_t live = tr_memory_live();
        tr_import import;
        tr_error error = { 0 };
        tr_memory_fail_from( n );
        ok = tr_import_parse( &import, file.data, file.size, "bent.glb", NULL, NULL, &error );
        tr_memory_fail_from( 0 );
        tr_import_free( &import );
        assert_true( ok || strstr( error.message, "memory" ) != NULL );
        assert_int_equal( tr_memory_live(), live );
    }
    tr_text_free( &file );
}

static void memory_runs_out( void **state )
{
    (void)state;
    need( ".glb" );
    bool ok = false;
    part_def def = { .nodes = two_nodes, .mode = 4, .indices = 12 };
    tr_text file;
    make_file( &file, &def );
    for ( long n = 1; !ok; ++n ) {
        size_t live = tr_memory_live();
        tr_import import;
        tr_trimesh mesh = { 0 };
        tr_error error = { 0 };
        tr_memory_fail_from( n );
        ok = tr_import_parse( &import, file.data, file.size, "made.glb", NULL, NULL, &error ) &&
             tr_import_mesh( &mesh, &import, "made.glb", 1, &error );
        tr_memory_fail_from( 0 );
        tr_import_free( &import );
        tr_trimesh_free( &mesh );
        assert_true( ok || strstr( error.message, "memory" ) != NULL );
        assert_int_equal( tr_memory_live(), live );
    }
    tr_text_free( &file );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( nodes_place_meshes ),
        TEST( strips_and_fans ),
        TEST( wrong_meshes_are_refused ),
        TEST( skinned_meshes_are_at_rest ),
        TEST( props_come_from_fbx ),
        TEST( memory_runs_out ),
        TEST( rests_are_where_skins_were_bound ),
        TEST( bent_without_memory ),
    };
    return cmocka_run_group_tests( tests, set_up_folder, remove_group_folder );
}
