// glTF and FBX files on the command line, and scenes that name a skeleton and a take of them.
#include "cli_fixture.h"

#include "document/document.h"

#define HALF 0.70710678f

static void need( const char *ending, const char *library )
{
    if ( tr_import_can_read( ending ) )
        return;
    print_message( "skipped: this build cannot read %s (scripts/headers.sh %s)\n", ending, library );
    skip();
}

// Anna and Ben, three joints each. "nod" turns both heads in one second, "roll" Ben's hips. Keys are in
// another file.
static void make_pair( const fixture *f )
{
    static const float keys[] = { 0, 1, 0, 0, 0, 1, HALF, 0, 0, HALF };
    char path[256];
    tr_error error = { 0 };
    snprintf( path, sizeof path, "%s/pair data.bin", f->folder );
    check_ok( tr_file_write( path, (const char *)keys, sizeof keys, &error ), &error );
    write_file(
        f, "pair.gltf",
        "{\"asset\":{\"version\":\"2.0\"},\"nodes\":["
        "{\"name\":\"Anna\",\"children\":[1]},{\"name\":\"Hips\",\"children\":[2],\"translation\":[0,1,0]},"
        "{\"name\":\"Neck\",\"children\":[3],\"translation\":[0,0.5,0]},{\"name\":\"Head\",\"translation\":"
        "[0,0.2,0]},"
        "{\"name\":\"Ben\",\"children\":[5],\"translation\":[1,0,0]},"
        "{\"name\":\"Hips\",\"children\":[6],\"translation\":[0,0.9,0]},"
        "{\"name\":\"Neck\",\"children\":[7],\"translation\":[0,0.4,0]},{\"name\":\"Head\",\"translation\":"
        "[0,0.2,0]}],"
        "\"skins\":[{\"joints\":[1,2,3]},{\"joints\":[5,6,7]}],"
        "\"animations\":["
        "{\"name\":\"nod\",\"samplers\":[{\"input\":0,\"output\":1}],\"channels\":["
        "{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}},"
        "{\"sampler\":0,\"target\":{\"node\":6,\"path\":\"rotation\"}}]},"
        "{\"name\":\"roll\",\"samplers\":[{\"input\":0,\"output\":1}],\"channels\":["
        "{\"sampler\":0,\"target\":{\"node\":5,\"path\":\"rotation\"}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
        "{\"bufferView\":1,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":8,\"byteLength\":32}],"
        "\"buffers\":[{\"uri\":\"pair%20data.bin\",\"byteLength\":40}]}" );
}

static void pair_scene( const fixture *f, const char *choice )
{
    char text[1024];
    snprintf( text, sizeof text,
              "{\"version\": 1, \"fps\": 24, \"range\": [0, 24], \"cast\": [{\"id\": \"p\", \"source\": "
              "{\"file\": \"pair.gltf\"%s}}]}",
              choice );
    write_file( f, "pair.json", text );
}

static void info_lists_what_there_is( void **state )
{
    fixture *f = *state;
    need( ".gltf", "cgltf" );
    make_pair( f );
    troupe( f, "info pair.gltf --json" );
    expect( f, 0, "" );
    json_t *json = parse_output( f );
    assert_int_equal( json_array_size( json_object_get( json, "skeletons" ) ), 2 );
    assert_int_equal( json_array_size( json_object_get( json, "takes" ) ), 2 );
    json_decref( json );
    // A file without a skeleton is described, too, and a scene of it says what to do.
    write_file( f, "empty.gltf", "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"Camera\"}]}" );
    troupe( f, "info empty.gltf" );
    expect( f, 0, "empty.gltf" );
    troupe( f, "retarget empty.gltf -o out" );
    expect( f, 1, "there is no skeleton in it" );
    assert_non_null( strstr( f->error, "export the armature together with its animation" ) );
    assert_false( has_file( f, "out" ) );
}

static double height_of_head( const fixture *f, const char *file )
{
    char path[256];
    tr_motion motion;
    tr_error error = { 0 };
    quat rotations[16];
    vec3 positions[16];
    snprintf( path, sizeof path, "%s/%s", f->folder, file );
    check_ok( tr_motion_load( &motion, path, NULL, NULL, &error ), &error );
    assert_true( motion.clip.joint_count <= 16 );
    tr_forward( &motion.skeleton, &motion.clip, motion.clip.frame_count - 1,
                ( tr_pose ){ rotations, positions } );
    double height = positions[tr_skeleton_find( &motion.skeleton, "Head" )].y;
    tr_motion_free( &motion );
    return height;
}

static void scenes_choose_skeleton_and_take( void **state )
{
    fixture *f = *state;
    need( ".gltf", "cgltf" );
    make_pair( f );
    static const struct {
        const char *choice;
        double height; // height of the head in the last frame
    } cases[] = {
        { "", 1.5 }, // Anna nods by a quarter
        { ", \"skeleton\": \"Ben\"", 1.3 },
        { ", \"skeleton\": \"2\", \"take\": \"roll\"", 0.9 },
        { ", \"skeleton\": \"Ben\", \"take\": \"1\"", 1.3 },
        { ", \"skeleton\": \"Anna\", \"take\": \"roll\"", 1.7 }, // which does not move her
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        pair_scene( f, cases[i].choice );
        troupe( f, "retarget pair.json -o out --method copy" );
        expect( f, 0, "" );
        check_near( height_of_head( f, "out/p.bvh" ), cases[i].height, 1e-5 );
    }
    // The saved scene stands on files with one motion each.
    troupe( f, "retarget out/scene.json -o again --method copy" );
    expect( f, 0, "" );
    static const struct {
        const char *choice, *message;
    } refused[] = {
        { ", \"skeleton\": \"Carl\"", "there is no skeleton \"Carl\" in it; there are \"Anna\", \"Ben\"" },
        { ", \"take\": \"jump\"", "there is no take \"jump\" in it; there are \"nod\", \"roll\"" },
        { ", \"tak\": \"jump\"", "\"take\"" },
    };
    for ( size_t i = 0; i < sizeof refused / sizeof *refused; ++i ) {
        pair_scene( f, refused[i].choice );
        troupe( f, "retarget pair.json -o out" );
        expect( f, 1, refused[i].message );
        expect_sentence( f );
    }
    write_file( f, "walk.bvh", "HIERARCHY\n" );
    write_file( f, "bvh.json",
                "{\"version\": 1, \"range\": [0, 1], \"cast\": [{\"id\": \"p\", \"source\": {\"file\": "
                "\"walk.bvh\", \"skeleton\": \"1\", \"take\": \"2\"}}]}" );
    troupe( f, "retarget bvh.json -o out" );
    expect( f, 1, "a BVH file holds one skeleton and one take" );
}

// Two members of one file.
static void a_cast_of_one_file( void **state )
{
    fixture *f = *state;
    need( ".gltf", "cgltf" );
    make_pair( f );
    write_file( f, "both.json",
                "{\"version\": 1, \"fps\": 24, \"range\": [0, 24], \"cast\": ["
                "{\"id\": \"anna\", \"source\": {\"file\": \"pair.gltf\", \"skeleton\": \"Anna\", \"take\": "
                "\"nod\"}}, {\"id\": \"ben\", \"source\": {\"file\": \"pair.gltf\", \"skeleton\": \"Ben\", "
                "\"take\": \"roll\"}}]}" );
    troupe( f, "retarget both.json -o both --method copy" );
    expect( f, 0, "" );
    assert_string_equal( f->error, "" ); // nothing was chosen for the user
    check_near( height_of_head( f, "both/anna.bvh" ), 1.5, 1e-5 );
    check_near( height_of_head( f, "both/ben.bvh" ), 0.9, 1e-5 );
    troupe( f, "convert pair.gltf ben.bvh --skeleton Ben --take roll" );
    expect( f, 0, "ben.bvh: 25 frames" );
    check_near( height_of_head( f, "ben.bvh" ), 0.9, 1e-5 );
}

static void broken_files_are_refused( void **state )
{
    fixture *f = *state;
    need( ".gltf", "cgltf" );
    make_pair( f );
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        { "broken.gltf", "{\"asset\": ]}", "the JSON in it is broken" },
        { "text.glb", "this is no GLB file at all", "no glTF" },
        { "lost.gltf",
          "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"uri\":\"lost.bin\",\"byteLength\":4}]}",
          "lost.bin" },
        { "text.fbx", "this is no FBX file at all", "export it anew" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        if ( !tr_import_can_read( cases[i].name ) )
            continue;
        write_file( f, cases[i].name, cases[i].text );
        troupe( f, "info %s", cases[i].name );
        expect( f, 1, cases[i].message );
        expect_sentence( f );
        troupe( f, "retarget %s -o out", cases[i].name );
        expect( f, 1, cases[i].message );
        expect_sentence( f );
    }
}

static void fbx_files_are_described_and_retargeted( void **state )
{
    fixture *f = *state;
    need( ".fbx", "ufbx" );
    troupe( f, "info '%s/tests/fuzz/corpus/fbx/arm.fbx'", SOURCE_DIR );
    expect( f, 0, "FBX" );
    troupe( f, "retarget '%s/tests/fuzz/corpus/fbx/arm.fbx' -o arm --method copy", SOURCE_DIR );
    expect( f, 0, "" );
    assert_true( has_file( f, "arm/arm.bvh" ) );
}

// Places of joints as the source of a scene, and written as BVH.
static void places_of_joints_are_retargeted( void **state )
{
    fixture *f = *state;
    troupe( f, "convert '%s/tests/captures/walk.bvh' walk.npz", SOURCE_DIR );
    expect( f, 0, "walk.npz" );
    troupe( f, "info walk.npz" );
    expect( f, 0, "NPZ" );
    troupe( f, "convert walk.npz again.bvh --fps 30" );
    expect( f, 0, "at 30 fps" );
    write_file( f, "table.csv",
                "Hips_x,Hips_y,Hips_z,Head_x,Head_y,Head_z\n0,1,0,0,1.7,0\n0.1,1,0,0.1,1.7,0\n" );
    troupe( f, "convert table.csv table.bvh --rate 50" );
    expect( f, 0, "2 frames at 50 fps" );
    write_file( f, "scene.json",
                "{\"version\": 1, \"range\": [0, 20], \"cast\": [{\"id\": \"anna\", \"source\": {\"file\": "
                "\"walk.npz\"}, \"target\": {\"scale\": 0.9}}, {\"id\": \"ben\", \"source\": {\"file\": "
                "\"table.csv\", \"rate\": 10}}]}" );
    troupe( f, "retarget scene.json -o out" );
    expect( f, 0, "2 characters" );
    assert_true( has_file( f, "out/anna.bvh" ) && has_file( f, "out/ben.bvh" ) );
    troupe( f, "convert walk.npz ue.bvh --names ue5" );
    expect( f, 0, "ue.bvh" );
    tr_motion motion;
    tr_error error = { 0 };
    char path[300];
    snprintf( path, sizeof path, "%s/ue.bvh", f->folder );
    check_ok( tr_motion_load( &motion, path, NULL, NULL, &error ), &error );
    assert_true( tr_skeleton_find( &motion.skeleton, "upperarm_l" ) >= 0 );
    assert_true( tr_skeleton_find( &motion.skeleton, "ball_r" ) >= 0 );
    tr_motion_free( &motion );
    troupe( f, "convert walk.npz ue.bvh --names ue6" );
    expect( f, 2, "is no family of rigs" );
    troupe( f, "convert walk.bvh out.glb --rate 20" );
    expect( f, 2, "--fps resamples" );
}

static void builds_without_a_reader_say_so( void **state )
{
    fixture *f = *state;
    static const char *const names[] = { "unread.glb", "unread.fbx" };
    for ( int i = 0; i < 2; ++i ) {
        if ( tr_import_can_read( names[i] ) )
            continue;
        write_file( f, names[i], "any" );
        troupe( f, "info %s", names[i] );
        expect( f, 1, "this build cannot read" );
        expect_sentence( f );
    }
}

// Saving elsewhere takes the file along with the one that it names.
static void saving_takes_buffers_along( void **state )
{
    fixture *f = *state;
    need( ".gltf", "cgltf" );
    char path[256], other[256];
    tr_error error = { 0 };
    tr_library library = { 0 };
    tr_scene scene = tr_default_scene();
    make_pair( f );
    tr_cast cast = tr_default_cast( "p" );
    snprintf( cast.source.file, sizeof cast.source.file, "%s/pair.gltf", f->folder );
    snprintf( cast.source.skeleton, sizeof cast.source.skeleton, "Ben" );
    scene.fps = scene.last = 24;
    assert_non_null( tr_scene_add_cast( &scene, &cast ) );
    snprintf( path, sizeof path, "%s/elsewhere", f->folder );
    check_ok( tr_folder_make( path, &error ), &error );
    snprintf( path, sizeof path, "%s/elsewhere/duo.json", f->folder );
    check_ok( tr_scene_save_beside( &scene, &library, NULL, path, &error ), &error );
    tr_scene_free( &scene );
    assert_true( has_file( f, "elsewhere/duo_motion/pair/pair data.bin" ) );
    snprintf( path, sizeof path, "%s/pair data.bin", f->folder );
    snprintf( other, sizeof other, "%s/moved.bin", f->folder );
    assert_int_equal( rename( path, other ), 0 );
    troupe( f, "retarget elsewhere/duo.json -o duo --method copy" );
    expect( f, 0, "" );
    check_near( height_of_head( f, "duo/p.bvh" ), 1.3, 1e-5 );
}

static void names_in_files( void **state )
{
    (void)state;
    static const char text[] =
        "{\"buffers\":[{\"uri\":\"a%20b.bin\"},{\"uri\":\"data:x,AAAA\"},{\"uri\":\"../c.bin\"},"
        "{\"uri\":\"http://d.org/e.bin\"},{},7,{\"uri\":\"%2fetc/f\"}],"
        "\"images\":[{\"uri\":\"g/h%zz.png\"},{\"uri\":\"%00i\"}]}";
    tr_names names;
    tr_error error = { 0 };
    check_ok( tr_import_names( &names, text, strlen( text ), "a.gltf", &error ), &error );
    assert_int_equal( names.count, 3 );
    assert_string_equal( names.items[0], "a b.bin" );
    assert_string_equal( names.items[1], "g/h%zz.png" );
    assert_string_equal( names.items[2], "%00i" );
    tr_names_free( &names );
    check_ok( tr_import_names( &names, text, strlen( text ), "a.glb", &error ), &error );
    assert_int_equal( names.count, 0 );
    bool ok = false;
    for ( long n = 1; !ok; ++n ) {
        tr_memory_fail_from( n );
        ok = tr_import_names( &names, text, strlen( text ), "a.gltf", &error );
        tr_memory_fail_from( 0 );
        tr_names_free( &names );
    }
}

static void scenes_become_files_of_others( void **state )
{
    fixture *f = *state;
    troupe( f, "convert high_five five.glb" );
    expect( f, 0, "five.glb: 2 characters, 0 things, 166 frames at 30 fps" );
    troupe( f, "retarget high_five -o five -q" );
    expect( f, 0, "" );
    static const char *const endings[] = { "glb", "usda", "npz" };
    for ( int i = 0; i < 3; ++i ) {
        troupe( f, "convert five results.%s", endings[i] );
        expect( f, 0, "2 characters" );
    }
    troupe( f, "convert five p02.bvh --only p02" );
    expect( f, 0, "p02.bvh: 166 frames" );
    assert_true( same_file( f, "p02.bvh", "five/p02.bvh" ) );
    troupe( f, "convert five/p01.bvh one.npz --fps 10" );
    expect( f, 0, "one.npz: 1 character, 0 things, 56 frames at 10 fps" );
    static const struct {
        const char *call;
        int code;
        const char *message;
    } refused[] = {
        { "convert five all.bvh", 1,
          "a BVH file holds one character, and there are 2; name one with --only" },
        { "convert five a.glb --only p03", 1, "there is no character 'p03' in it" },
        { "convert five a.fbx", 2, "must end in .bvh, .glb, .usda or .npz" },
        { "convert five a.glb --take 1", 2, "--take is for motion files" },
        { "convert five/p01.bvh a.glb --only p01", 2, "--only is for scenes and results" },
        { "convert five/p01.bvh a.bvh --each", 2, "--each is not for BVH files" },
        { "convert five/p01.bvh five/p01.bvh", 1, "choose another output" },
        { "convert five nowhere/a.glb", 1, "nowhere" },
    };
    for ( size_t i = 0; i < sizeof refused / sizeof *refused; ++i ) {
        troupe( f, "%s", refused[i].call );
        expect( f, refused[i].code, refused[i].message );
        expect_sentence( f );
    }
    assert_false( has_file( f, "a.glb" ) );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( info_lists_what_there_is ),
        TEST( scenes_choose_skeleton_and_take ),
        TEST( a_cast_of_one_file ),
        TEST( broken_files_are_refused ),
        TEST( fbx_files_are_described_and_retargeted ),
        TEST( places_of_joints_are_retargeted ),
        TEST( builds_without_a_reader_say_so ),
        TEST( saving_takes_buffers_along ),
        TEST( names_in_files ),
        TEST( scenes_become_files_of_others ),
    };
    return cmocka_run_group_tests( tests, set_up, clean_up );
}
