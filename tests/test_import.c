// glTF and FBX files: what is read of them, and what is refused.
#include "captures.h"
#include "check.h"

#include "import/import.h"
#include "motion/motion.h"

#include <dirent.h>

// ---------------------------------------------------------------------------------------- files made here

typedef struct glb { // JSON and data of a file under construction
    tr_text json, data, file;
} glb;

static void glb_free( glb *g )
{
    tr_text_free( &g->json );
    tr_text_free( &g->data );
    tr_text_free( &g->file );
}

static void add_u32( tr_text *out, size_t value )
{
    uint32_t number = (uint32_t)value;
    tr_text_append( out, (const char *)&number, sizeof number );
}

// Appends numbers in single precision; returns where they begin.
static int add_floats( glb *g, const double *values, int count )
{
    int at = (int)g->data.size;
    for ( int i = 0; i < count; ++i ) {
        float f = (float)values[i];
        tr_text_append( &g->data, (const char *)&f, sizeof f );
    }
    return at;
}

static void glb_close( glb *g )
{
    while ( g->json.size % 4 != 0 )
        tr_text_append( &g->json, " ", 1 );
    tr_text_append( &g->file, "glTF", 4 );
    add_u32( &g->file, 2 );
    add_u32( &g->file, 12 + 8 + g->json.size + 8 + g->data.size );
    add_u32( &g->file, g->json.size );
    tr_text_append( &g->file, "JSON", 4 );
    tr_text_append( &g->file, g->json.data, g->json.size );
    add_u32( &g->file, g->data.size );
    tr_text_append( &g->file, "BIN", 4 ); // with its NUL
    tr_text_append( &g->file, g->data.data, g->data.size );
}

static bool glb_open( const glb *g, tr_import *out, tr_log *log, tr_error *error )
{
    return tr_import_parse( out, g->file.data, g->file.size, "made.glb", NULL, log, error );
}

static void need_gltf( void )
{
    if ( tr_import_can_read( ".glb" ) )
        return;
    print_message( "skipped: this build cannot read glTF (scripts/headers.sh cgltf)\n" );
    skip();
}

typedef struct arm_def { // an arm of three nodes below a scaled armature, and what may be wrong with its file
    const char *interpolation;
    const double *values; // values of the rotation of the forearm
    int key_count, value_count;
    const char *scale; // scale of the armature
    int shift;         // bytes in front of the keys
    const char *extra; // further JSON
} arm_def;

// Armature: half size, one metre up. Upper arm: turned by a quarter about Z, so that its own Y is -X. Forearm
// and hand are one unit along Y below each other; the hand is in no skin.
static void make_arm( glb *g, const arm_def *def )
{
    double times[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    tr_text_append( &g->data, "\0\0\0\0\0\0\0\0", (size_t)def->shift );
    int time_at = add_floats( g, times, def->key_count );
    int value_at = add_floats( g, def->values, 4 * def->value_count );
    tr_text_add(
        &g->json,
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":["
        "{\"name\":\"Armature\",\"children\":[3],\"translation\":[0,1,0],\"scale\":%s},"
        "{\"name\":\"Hand\",\"translation\":[0,1,0]},"
        "{\"name\":\"ForeArm\",\"children\":[1],\"translation\":[0,1,0]},"
        "{\"name\":\"Upper\\u0041rm\",\"children\":[2],\"rotation\":[0,0,0.70710678,0.70710678]}],"
        "\"skins\":[{\"joints\":[3,2]}],"
        "\"animations\":[{\"name\":\"bend\",\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,"
        "\"path\":\"rotation\"}}],\"samplers\":[{\"input\":0,\"output\":1,\"interpolation\":\"%s\"}]}],",
        def->scale ? def->scale : "[0.5,0.5,0.5]", def->interpolation ? def->interpolation : "LINEAR" );
    tr_text_add(
        &g->json,
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":%d,\"type\":\"SCALAR\"},"
        "{\"bufferView\":1,\"componentType\":5126,\"count\":%d,\"type\":\"VEC4\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%d},{\"buffer\":0,\"byteOffset\":"
        "%d,\"byteLength\":%d}],\"buffers\":[{\"byteLength\":%zu}]%s}",
        def->key_count, def->value_count, time_at, 4 * def->key_count, value_at, 16 * def->value_count,
        g->data.size, def->extra ? def->extra : "" );
    glb_close( g );
}

#define HALF 0.70710678118654752
static const double bend[] = { 0, 0, 0, 1, 0, 0, HALF, HALF }; // a quarter about Z in a second

static vec3 place_of( const tr_motion *motion, int frame, const char *name )
{
    quat rotations[64];
    vec3 positions[64];
    assert_true( motion->skeleton.joint_count <= 64 );
    tr_forward( &motion->skeleton, &motion->clip, frame, ( tr_pose ){ rotations, positions } );
    int joint = tr_skeleton_find( &motion->skeleton, name );
    assert_true( joint >= 0 );
    return positions[joint];
}

// The motion of the arm; warnings as many as expected.
static void open_arm( tr_motion *motion, const arm_def *def, const tr_import_def *choice, int warnings )
{
    glb g = { 0 };
    tr_import import;
    tr_error error = { 0 };
    tr_log log = { 0 };
    make_arm( &g, def );
    check_ok( glb_open( &g, &import, &log, &error ), &error );
    check_ok( tr_import_motion( motion, &import, choice, &log, &error ), &error );
    check_ok( tr_motion_check( motion, &error ), &error );
    assert_int_equal( log.count, warnings );
    tr_import_free( &import );
    tr_log_free( &log );
    glb_free( &g );
}

static void arm_is_where_it_was_computed( void **state )
{
    (void)state;
    need_gltf();
    tr_motion motion;
    for ( int shift = 0; shift < 4; ++shift ) { // keys need not be aligned
        open_arm( &motion, &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2, .shift = shift },
                  NULL, 0 );
        assert_int_equal( motion.skeleton.joint_count, 3 );
        assert_int_equal( motion.clip.frame_count, 25 );
        check_near( motion.clip.fps, 24, 0 );
        assert_null( motion.clip.translations );
        assert_string_equal( motion.skeleton.joints[0].name, "UpperArm" );
        assert_true( motion.skeleton.joints[2].end_site );
        check_v3( motion.skeleton.joints[1].offset, v3( -0.5, 0, 0 ), 1e-6 );
        check_rotation( motion.skeleton.joints[0].rest, q_identity, 1e-12 );
        check_v3( place_of( &motion, 0, "UpperArm" ), v3( 0, 1, 0 ), 1e-6 );
        check_v3( place_of( &motion, 0, "Hand" ), v3( -1, 1, 0 ), 1e-6 );
        check_v3( place_of( &motion, 12, "Hand" ), v3( -0.5 - 0.5 * HALF, 1 - 0.5 * HALF, 0 ), 1e-6 );
        check_v3( place_of( &motion, 24, "Hand" ), v3( -0.5, 0.5, 0 ), 1e-6 );
        tr_motion_free( &motion );
    }
}

static void units_and_axes_can_be_given( void **state )
{
    (void)state;
    need_gltf();
    glb g = { 0 };
    tr_import import;
    tr_motion motion;
    tr_error error = { 0 };
    tr_import_def def = { .unit = 0.01, .up = 'z', .fps = 10 };
    make_arm( &g, &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2 } );
    check_ok( tr_import_parse( &import, g.file.data, g.file.size, "made.glb", &def, NULL, &error ), &error );
    check_ok( tr_import_motion( &motion, &import, &def, NULL, &error ), &error );
    assert_int_equal( motion.clip.frame_count, 11 );
    check_v3( place_of( &motion, 10, "Hand" ), v3( -0.005, 0, -0.005 ), 1e-8 );
    tr_motion_free( &motion );
    tr_import_free( &import );
    glb_free( &g );
}

static void steps_and_splines( void **state )
{
    (void)state;
    need_gltf();
    tr_motion motion;
    open_arm( &motion,
              &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2, .interpolation = "STEP" }, NULL,
              0 );
    check_v3( place_of( &motion, 23, "Hand" ), v3( -1, 1, 0 ), 1e-6 );
    check_v3( place_of( &motion, 24, "Hand" ), v3( -0.5, 0.5, 0 ), 1e-6 );
    tr_motion_free( &motion );
    // Tangents in, value, tangents out. In the middle: (p + q) / 2 + (m - n) / 8, made unit.
    const double spline[] = { 0, 0, 0, 0, 0, 0, 0,    1,    0, 0, 0.8, 0,
                              0, 0, 0, 0, 0, 0, HALF, HALF, 0, 0, 0,   0 };
    open_arm(
        &motion,
        &( arm_def ){ .values = spline, .key_count = 2, .value_count = 6, .interpolation = "CUBICSPLINE" },
        NULL, 0 );
    double turn = 2 * atan2( HALF / 2 + 0.1, ( 1 + HALF ) / 2 );
    check_v3( place_of( &motion, 12, "Hand" ), v3( -0.5 - 0.5 * cos( turn ), 1 - 0.5 * sin( turn ), 0 ),
              1e-6 );
    tr_motion_free( &motion );
    // One key is a pose.
    open_arm( &motion, &( arm_def ){ .values = bend + 4, .key_count = 1, .value_count = 1 }, NULL, 0 );
    assert_int_equal( motion.clip.frame_count, 1 );
    check_v3( place_of( &motion, 0, "Hand" ), v3( -0.5, 0.5, 0 ), 1e-6 );
    tr_motion_free( &motion );
}

static void odd_scales_are_told( void **state )
{
    (void)state;
    need_gltf();
    tr_motion motion;
    // Twice as long along X: places are kept, the bend stretches the forearm.
    open_arm( &motion,
              &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2, .scale = "[1,0.5,0.5]" }, NULL,
              2 );
    check_v3( place_of( &motion, 0, "Hand" ), v3( -2, 1, 0 ), 1e-6 );
    check_v3( place_of( &motion, 24, "Hand" ), v3( -1, 0.5, 0 ), 1e-6 );
    assert_non_null( motion.clip.translations );
    tr_motion_free( &motion );
    // A mirrored armature is no trouble.
    open_arm( &motion,
              &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2, .scale = "[-0.5,0.5,0.5]" },
              NULL, 0 );
    check_v3( place_of( &motion, 12, "Hand" ), v3( 0.5 + 0.5 * HALF, 1 - 0.5 * HALF, 0 ), 1e-6 );
    tr_motion_free( &motion );
    // Scaled to nothing: all joints at one place.
    open_arm( &motion, &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2, .scale = "[0,0,0]" },
              NULL, 1 );
    check_v3( place_of( &motion, 12, "Hand" ), v3( 0, 1, 0 ), 1e-6 );
    tr_motion_free( &motion );
}

static void choices( void **state )
{
    (void)state;
    need_gltf();
    glb g = { 0 };
    tr_import import;
    tr_motion motion;
    tr_error error = { 0 };
    make_arm( &g, &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2 } );
    check_ok( glb_open( &g, &import, NULL, &error ), &error );
    assert_int_equal( import.skeleton_count, 1 );
    assert_string_equal( import.skeletons[0].name, "Armature" );
    assert_int_equal( import.skeletons[0].skin_count, 1 );
    assert_int_equal( import.skeletons[0].joint_count, 2 );
    assert_int_equal( import.take_count, 1 );
    assert_string_equal( import.takes[0].name, "bend" );
    assert_int_equal( tr_import_find_skeleton( &import, "1" ), 0 );
    assert_int_equal( tr_import_find_skeleton( &import, "2" ), -1 );
    assert_int_equal( tr_import_find_take( &import, "", 0 ), 0 );
    assert_int_equal( tr_import_find_take( &import, "1", 0 ), 0 );
    assert_false( tr_import_motion( &motion, &import, &( tr_import_def ){ .take = "walk" }, NULL, &error ) );
    assert_string_equal( error.message, "there is no take \"walk\" in it; there is \"bend\"" );
    assert_false(
        tr_import_motion( &motion, &import, &( tr_import_def ){ .skeleton = "Bob" }, NULL, &error ) );
    assert_string_equal( error.message, "there is no skeleton \"Bob\" in it; there is \"Armature\"" );
    tr_import_free( &import );
    glb_free( &g );
}

// --------------------------------------------------------------------------------- the same motion as BVH

static void add_node( glb *g, const tr_skeleton *skeleton, int j )
{
    vec3 o = skeleton->joints[j].offset;
    bool first = true;
    tr_text_add( &g->json, "%s{\"name\":\"%s\",\"translation\":[%.9g,%.9g,%.9g]", j > 0 ? "," : "",
                 skeleton->joints[j].name, o.x, o.y, o.z );
    for ( int c = 0; c < skeleton->joint_count; ++c )
        if ( skeleton->joints[c].parent == j ) {
            tr_text_add( &g->json, "%s%d", first ? ",\"children\":[" : ",", c );
            first = false;
        }
    tr_text_add( &g->json, first ? "}" : "]}" );
}

// All rotations of a motion and the path of its root. Views and accessors have the same numbers.
static void make_motion( glb *g, const tr_motion *motion )
{
    const tr_clip *clip = &motion->clip;
    int joints = clip->joint_count, frames = clip->frame_count;
    tr_text channels = { 0 }, samplers = { 0 };
    double *values = tr_alloc( (size_t)frames * 4, sizeof( double ) );
    assert_non_null( values );
    tr_text_add( &g->json, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[" );
    for ( int j = 0; j < joints; ++j )
        add_node( g, &motion->skeleton, j );
    tr_text_add( &g->json, "],\"skins\":[{\"joints\":[" );
    for ( int j = 0; j < joints; ++j )
        tr_text_add( &g->json, "%s%d", j > 0 ? "," : "", j );
    tr_text_add( &g->json,
                 "]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":%d,\"type\":"
                 "\"SCALAR\"},{\"bufferView\":1,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"}",
                 frames, frames );
    for ( int f = 0; f < frames; ++f )
        values[f] = f / clip->fps;
    add_floats( g, values, frames );
    for ( int f = 0; f < frames; ++f )
        memcpy( values + 3 * f, &clip->root[f], sizeof( vec3 ) );
    add_floats( g, values, 3 * frames );
    tr_text_add( &channels, "{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"translation\"}}" );
    tr_text_add( &samplers, "{\"input\":0,\"output\":1}" );
    for ( int j = 0; j < joints; ++j ) {
        for ( int f = 0; f < frames; ++f )
            memcpy( values + 4 * f, &tr_clip_frame( clip, f )[j], sizeof( quat ) );
        add_floats( g, values, 4 * frames );
        tr_text_add( &g->json, ",{\"bufferView\":%d,\"componentType\":5126,\"count\":%d,\"type\":\"VEC4\"}",
                     j + 2, frames );
        tr_text_add( &channels, ",{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"rotation\"}}", j + 1,
                     j );
        tr_text_add( &samplers, ",{\"input\":0,\"output\":%d}", j + 2 );
    }
    tr_text_add( &g->json,
                 "],\"animations\":[{\"channels\":[%s],\"samplers\":[%s]}],\"bufferViews\":["
                 "{\"buffer\":0,\"byteLength\":%d},{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%d}",
                 channels.data, samplers.data, 4 * frames, 4 * frames, 12 * frames );
    for ( int j = 0; j < joints; ++j )
        tr_text_add( &g->json, ",{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%d}", 16 * frames * ( j + 1 ),
                     16 * frames );
    tr_text_add( &g->json, "],\"buffers\":[{\"byteLength\":%zu}]}", g->data.size );
    glb_close( g );
    tr_free( values );
    tr_text_free( &channels );
    tr_text_free( &samplers );
}

static void bvh_and_glb_are_the_same( void **state )
{
    (void)state;
    need_gltf();
    char path[CAPTURE_PATH];
    glb g = { 0 };
    tr_motion bvh, read;
    tr_world a = { 0 }, b = { 0 };
    tr_import import;
    tr_error error = { 0 };
    check_ok( tr_motion_load( &bvh, capture_path( path, "walk.bvh" ), NULL, NULL, &error ), &error );
    make_motion( &g, &bvh );
    check_ok( glb_open( &g, &import, NULL, &error ), &error );
    check_ok( tr_import_motion( &read, &import, NULL, NULL, &error ), &error );
    assert_int_equal( read.clip.frame_count, bvh.clip.frame_count );
    assert_int_equal( read.clip.joint_count, bvh.clip.joint_count );
    check_ok( tr_world_build( &a, &bvh, &error ) && tr_world_build( &b, &read, &error ), &error );
    double height = tr_skeleton_height( &bvh.skeleton ), most = 0;
    for ( int j = 0; j < bvh.clip.joint_count; ++j ) {
        int twin = tr_skeleton_find( &read.skeleton, bvh.skeleton.joints[j].name );
        assert_true( twin >= 0 );
        for ( int f = 0; f < bvh.clip.frame_count; ++f )
            most = fmax( most, v3_distance( tr_world_pose( &a, f ).positions[j],
                                            tr_world_pose( &b, f ).positions[twin] ) );
    }
    check_near( most, 0, 1e-4 * height );
    tr_world_free( &a );
    tr_world_free( &b );
    tr_motion_free( &bvh );
    tr_motion_free( &read );
    tr_import_free( &import );
    glb_free( &g );
}

// -------------------------------------------------------------------------------------------- broken files

static bool read_all( const char *data, size_t size, const char *name, tr_error *error )
{
    tr_import import;
    tr_motion motion;
    if ( !tr_import_parse( &import, data, size, name, NULL, NULL, error ) )
        return false;
    bool ok = tr_import_motion( &motion, &import, NULL, NULL, error );
    if ( ok )
        check_ok( tr_motion_check( &motion, error ), error );
    tr_motion_free( &motion );
    tr_import_free( &import );
    return ok;
}

static void truncated_files_are_refused( void **state )
{
    (void)state;
    need_gltf();
    glb g = { 0 };
    make_arm( &g, &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2 } );
    for ( size_t size = 0; size < g.file.size; ++size ) {
        tr_error error = { 0 };
        assert_false( read_all( g.file.data, size, "cut.glb", &error ) );
        assert_true( error.message[0] != 0 );
    }
    glb_free( &g );
}

// Any byte of the file may be anything.
static void changed_bytes_do_no_harm( void **state )
{
    (void)state;
    need_gltf();
    glb g = { 0 };
    uint64_t seed = 7;
    make_arm( &g, &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2 } );
    for ( size_t at = 0; at < g.file.size; ++at )
        for ( int k = 0; k < 6; ++k ) {
            char was = g.file.data[at];
            tr_error error = { 0 };
            g.file.data[at] = k < 4 ? (char)( '0' + random_bits( &seed ) % 10 ) : (char)random_bits( &seed );
            assert_true( read_all( g.file.data, g.file.size, "odd.glb", &error ) || error.message[0] != 0 );
            g.file.data[at] = was;
        }
    glb_free( &g );
}

static void open_broken( const arm_def *def, int warnings, const char *message )
{
    glb g = { 0 };
    tr_import import;
    tr_error error = { 0 };
    tr_log log = { 0 };
    make_arm( &g, def );
    bool ok = glb_open( &g, &import, &log, &error );
    assert_int_equal( ok, message == NULL );
    if ( message != NULL && strstr( error.message, message ) == NULL )
        print_error( "%s\n", error.message );
    assert_true( message == NULL || strstr( error.message, message ) != NULL );
    assert_int_equal( log.count, warnings );
    tr_import_free( &import );
    tr_log_free( &log );
    glb_free( &g );
}

static void wrong_numbers( void **state )
{
    (void)state;
    need_gltf();
    const double nan_key[] = { 0, 0, 0, 1, 0, NAN, HALF, HALF }, long_key[] = { 0, 0, 0, 1, 0, 0, 3, 3 };
    open_broken( &( arm_def ){ .values = nan_key, .key_count = 2, .value_count = 2 }, 0, "is no number" );
    open_broken( &( arm_def ){ .values = long_key, .key_count = 2, .value_count = 2 }, 1, NULL );
    open_broken( &( arm_def ){ .values = bend, .key_count = 3, .value_count = 2 }, 1, NULL );
    open_broken(
        &( arm_def ){ .values = bend, .key_count = 1, .value_count = 2, .interpolation = "CUBICSPLINE" }, 1,
        NULL );
}

static void parse_text( const char *text, const char *message )
{
    tr_error error = { 0 };
    assert_false( read_all( text, strlen( text ), "made.gltf", &error ) );
    if ( strstr( error.message, message ) == NULL )
        print_error( "%s\n", error.message );
    assert_non_null( strstr( error.message, message ) );
}

static void wrong_structures( void **state )
{
    (void)state;
    need_gltf();
    parse_text( "{ this is no file }", "broken" );
    parse_text( "{\"asset\":{\"version\":\"2.0\"}}   ", "no skeleton" );
    parse_text( "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"children\":[1]},{\"children\":[0]}]}",
                "below themselves" );
    parse_text( "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}],\"skins\":[{\"joints\":[4]}]}",
                "not there" );
    parse_text( "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":9000000000000,\"uri\":\"data:"
                "application/octet-stream;base64,AAAA\"}]}",
                "shorter than the file says" );
    parse_text( "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,\"uri\":\"other.bin\"}]}",
                "names other files" );
}

// Files in use whose skin names a skeleton beside its joints: read, with a warning.
static void skeletons_that_are_not_above( void **state )
{
    (void)state;
    need_gltf();
    for ( int above = 0; above < 2; ++above ) {
        char text[400];
        tr_import import;
        tr_error error = { 0 };
        tr_log log = { 0 };
        snprintf(
            text, sizeof text,
            "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"children\":[1,2]},{\"children\":[3]},{},{}],"
            "\"skins\":[{\"joints\":[1,3],\"skeleton\":%d}]}",
            above ? 0 : 2 );
        check_ok( tr_import_parse( &import, text, strlen( text ), "made.gltf", NULL, &log, &error ), &error );
        assert_int_equal( log.count, above ? 0 : 1 );
        assert_int_equal( import.skeleton_count, 1 );
        tr_import_free( &import );
        tr_log_free( &log );
    }
}

static void memory_runs_out( void **state )
{
    (void)state;
    need_gltf();
    glb g = { 0 };
    make_arm( &g, &( arm_def ){ .values = bend, .key_count = 2, .value_count = 2 } );
    bool ok = false;
    for ( long n = 1; !ok; ++n ) {
        tr_error error = { 0 };
        size_t live = tr_memory_live();
        tr_memory_fail_from( n );
        ok = read_all( g.file.data, g.file.size, "made.glb", &error );
        tr_memory_fail_from( 0 );
        assert_true( ok || strstr( error.message, "memory" ) != NULL );
        assert_int_equal( tr_memory_live(), live );
    }
    glb_free( &g );
}

// --------------------------------------------------------------------------------------------- real files

static void try_file( const char *path, int *read, int *refused )
{
    tr_import import;
    tr_error error = { 0 };
    if ( !tr_import_load( &import, path, NULL, NULL, &error ) ) {
        assert_true( strlen( error.message ) > 20 );
        ++*refused;
        return;
    }
    ++*read;
    for ( int k = 0; k < import.skeleton_count; ++k )
        for ( int t = 0; t < import.take_count || t == 0; ++t ) {
            char skeleton[16], take[16];
            tr_motion motion;
            snprintf( skeleton, sizeof skeleton, "%d", k + 1 );
            snprintf( take, sizeof take, "%d", t + 1 );
            tr_import_def def = { .skeleton = skeleton, .take = import.take_count > 0 ? take : NULL };
            check_ok( tr_import_motion( &motion, &import, &def, NULL, &error ), &error );
            check_ok( tr_motion_check( &motion, &error ), &error );
            tr_motion_free( &motion );
        }
    tr_import_free( &import );
}

static void files_of_others( void **state )
{
    (void)state;
    static const char *const folders[] = { "gltf", "gltf-edge", "gltf-invalid", "gltf-quaternius",
                                           "fbx",  "geno" };
    int read = 0, refused = 0;
    if ( data_folder() == NULL )
        skip();
    for ( size_t i = 0; i < sizeof folders / sizeof *folders; ++i ) {
        char folder[CAPTURE_PATH], path[2 * CAPTURE_PATH];
        snprintf( folder, sizeof folder, "%s/%s", data_folder(), folders[i] );
        DIR *directory = opendir( folder );
        for ( struct dirent *entry; directory != NULL && ( entry = readdir( directory ) ) != NULL; ) {
            snprintf( path, sizeof path, "%s/%.200s", folder, entry->d_name );
            if ( tr_import_is_named( path ) && tr_import_can_read( path ) )
                try_file( path, &read, &refused );
        }
        if ( directory != NULL )
            closedir( directory );
    }
    print_message( "%d files read, %d refused\n", read, refused );
}

// The bind pose of one character, written as both.
static void bvh_and_fbx_are_the_same( void **state )
{
    (void)state;
    char path[CAPTURE_PATH];
    tr_motion bvh, fbx;
    tr_error error = { 0 };
    quat rotations[2][128];
    vec3 positions[2][128];
    if ( !tr_import_can_read( ".fbx" ) )
        print_message( "skipped: this build cannot read FBX (scripts/headers.sh ufbx)\n" );
    if ( !tr_import_can_read( ".fbx" ) || data_folder() == NULL )
        skip();
    check_ok( tr_motion_load( &bvh, capture_path( path, "geno/Geno_bind.bvh" ), NULL, NULL, &error ),
              &error );
    check_ok( tr_motion_read( &fbx, capture_path( path, "geno/Geno_bind.fbx" ), NULL, NULL, &error ),
              &error );
    assert_true( bvh.clip.joint_count <= 128 && fbx.clip.joint_count <= 128 );
    tr_forward( &bvh.skeleton, &bvh.clip, 0, ( tr_pose ){ rotations[0], positions[0] } );
    tr_forward( &fbx.skeleton, &fbx.clip, 0, ( tr_pose ){ rotations[1], positions[1] } );
    int common = 0;
    for ( int j = 0; j < bvh.clip.joint_count; ++j ) {
        int twin = tr_skeleton_find( &fbx.skeleton, bvh.skeleton.joints[j].name );
        if ( twin < 0 )
            continue;
        ++common;
        check_v3( positions[1][twin], positions[0][j], 1e-4 * tr_skeleton_height( &bvh.skeleton ) );
    }
    assert_true( common > 60 );
    tr_motion_free( &bvh );
    tr_motion_free( &fbx );
}

// An arm in centimetres with Z up, whose forearm has a rotation before the one that moves it.
#define ARM_FBX SOURCE_DIR "/tests/fuzz/corpus/fbx/arm.fbx"

static void need_fbx( void )
{
    if ( tr_import_can_read( ".fbx" ) )
        return;
    print_message( "skipped: this build cannot read FBX (scripts/headers.sh ufbx)\n" );
    skip();
}

static void fbx_arm_is_where_it_was_computed( void **state )
{
    (void)state;
    need_fbx();
    tr_motion motion;
    tr_error error = { 0 };
    tr_log log = { 0 };
    check_ok( tr_motion_read( &motion, ARM_FBX, NULL, &log, &error ), &error );
    check_ok( tr_motion_check( &motion, &error ), &error );
    assert_int_equal( log.count, 0 );
    assert_int_equal( motion.clip.frame_count, 31 );
    check_near( motion.clip.fps, 30, 1e-9 );
    check_v3( place_of( &motion, 0, "UpperArm" ), v3( 0, 1, 0 ), 1e-9 );
    check_v3( place_of( &motion, 0, "ForeArm" ), v3( 0, 1, -0.5 ), 1e-9 );
    check_v3( place_of( &motion, 0, "Hand" ), v3( -0.5, 1, -0.5 ), 1e-9 );
    check_v3( place_of( &motion, 15, "Hand" ), v3( -0.5 * HALF, 1, -0.5 + 0.5 * HALF ), 1e-6 );
    check_v3( place_of( &motion, 30, "Hand" ), v3( 0, 1, 0 ), 1e-9 );
    tr_motion_free( &motion );
    // The same numbers as metres with Y up.
    check_ok( tr_motion_read( &motion, ARM_FBX, &( tr_import_def ){ .unit = 1, .up = 'y' }, NULL, &error ),
              &error );
    check_v3( place_of( &motion, 0, "Hand" ), v3( -50, 50, 100 ), 1e-6 );
    tr_motion_free( &motion );
}

// Any allocation may fail while a file is read, and it may end anywhere.
static void broken_fbx( void **state )
{
    (void)state;
    need_fbx();
    char *data;
    size_t size;
    tr_error error = { 0 };
    check_ok( tr_file_read( ARM_FBX, &data, &size, &error ), &error );
    bool ok = false;
    for ( long n = 1; !ok; n += n < 100 ? 1 : n / 10 ) {
        error = ( tr_error ){ 0 };
        size_t live = tr_memory_live();
        tr_memory_fail_from( n );
        ok = read_all( data, size, "made.fbx", &error );
        tr_memory_fail_from( 0 );
        assert_true( ok || strstr( error.message, "memory" ) != NULL );
        assert_int_equal( tr_memory_live(), live );
    }
    for ( size_t cut = 0; cut < size; cut += 7 ) {
        error = ( tr_error ){ 0 };
        assert_true( read_all( data, cut, "cut.fbx", &error ) || error.message[0] != 0 );
    }
    assert_false( read_all( "this is text", 12, "text.fbx", &error ) );
    tr_free( data );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( arm_is_where_it_was_computed ),
        TEST( units_and_axes_can_be_given ),
        TEST( steps_and_splines ),
        TEST( odd_scales_are_told ),
        TEST( choices ),
        TEST( bvh_and_glb_are_the_same ),
        TEST( truncated_files_are_refused ),
        TEST( changed_bytes_do_no_harm ),
        TEST( wrong_numbers ),
        TEST( wrong_structures ),
        TEST( skeletons_that_are_not_above ),
        TEST( memory_runs_out ),
        TEST( files_of_others ),
        TEST( bvh_and_fbx_are_the_same ),
        TEST( fbx_arm_is_where_it_was_computed ),
        TEST( broken_fbx ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
