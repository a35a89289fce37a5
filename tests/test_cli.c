// The commands: their messages, the files they write, the input they refuse.
#include "cli_fixture.h"

#include "scenes/scenes.h"

#include <signal.h>
#include <sys/stat.h>

static void load_bvh( const fixture *f, const char *name, tr_bvh *bvh )
{
    char path[256];
    tr_error error = { 0 };
    snprintf( path, sizeof path, "%s/%s", f->folder, name );
    check_ok( tr_bvh_load( bvh, path, NULL, &error ), &error );
}

// A small motion of our own: root with all six channels, one joint turning in another order.
static const char small_bvh[] =
    "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 0 0\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    "  JOINT Chest\n  {\n    OFFSET 0 80 0\n    CHANNELS 3 Yrotation Xrotation Zrotation\n"
    "    End Site\n    {\n      OFFSET 0 90 0\n    }\n  }\n}\n"
    "MOTION\nFrames: 3\nFrame Time: 0.1\n"
    "0 0 0 10 20 30 1.5 2.25 3\n1 0 0.5 11 21 31 4 5 6.125\n2 0.125 1 12 22 32 7 8 9\n";

// -------------------------------------------------------------------------------------------------- usage

static void version_and_help( void **state )
{
    fixture *f = *state;
    troupe( f, "--version" );
    expect( f, 0, "troupe " TROUPE_VERSION "\n" );
    troupe( f, "help" );
    expect( f, 0, "retarget" );
    troupe( f, "help help" );
    expect( f, 0, "usage: troupe COMMAND" );
    troupe( f, "" );
    expect( f, 2, "usage: troupe" );
    static const char *const names[] = { "edit",   "scenes", "info", "convert", "make", "retarget", "measure",
                                         "render", "run",    "ops",  "bench",   "map",  "links" };
    for ( size_t i = 0; i < sizeof names / sizeof names[0]; ++i ) {
        char usage[64];
        snprintf( usage, sizeof usage, "usage: troupe %s", names[i] );
        troupe( f, "%s --help", names[i] );
        expect( f, 0, usage );
        troupe( f, "help %s", names[i] );
        expect( f, 0, usage );
    }
}

static void wrong_usage( void **state )
{
    fixture *f = *state;
    const struct {
        const char *arguments, *says;
    } cases[] = {
        { "retraget box_relay", "retarget" },
        { "help retraget", "retarget" },
        { "help edit extra", "help takes one command, and 'extra' is one argument too many" },
        { "scenes --jsn", "--json" },
        { "scenes --zzzzzzzz", "troupe help scenes" },
        { "scenes twice", "one argument too many" },
        { "scenes --json=yes", "--json takes no value" },
        { "scenes --json --json", "twice" },
        { "info", "info needs FILE; the usage is: troupe info FILE" },
        { "convert a.bvh", "convert needs OUT.bvh|.glb|.usda|.npz; the usage is: troupe convert IN" },
        { "info box_rely", "did you mean 'box_relay'?\n" },
        { "make boxrelay -o d", "did you mean 'box_relay'?\n" },
        { "make no_scene -o d", "'troupe scenes' lists the scenes" },
        { "retarget no_scene -o d", "'troupe scenes' lists the scenes" },
        { "retarget box_relay -o d --cast 100000", "characters" },
        { "retarget stderr.txt -o d --cast 3", "only a built-in scene" },
        { "retarget box_relay -o d --method copyik", "did you mean 'copy-ik'?\n" },
        { "retarget box_relay", "needs --out DIR" },
        { "retarget box_relay -o", "--out needs a value" },
        { "retarget box_relay --out --quiet", "--out needs a value" },
        { "retarget box_relay -o d --threads many", "whole number from 0 to 1024" },
        { "retarget box_relay -o d --threads -1", "whole number from 0 to 1024" },
        { "retarget box_relay -o d --method magic", "copy-ik" },
        { "retarget box_relay -o d --cast 0", "whole number from 1" },
        { "make box_relay -o d --cast 0", "whole number from" },
        { "make box_relay -o d --cast 2.5", "whole number from" },
        { "measure box_relay d --method copy", "does not go with a folder" },
        { "convert a.bvh b.fbx", "must end in .bvh" },
        { "convert a.bvh b.bvh --up x", "--up must be y or z" },
        { "convert a.bvh b.bvh --fps 0", "--fps must be a number from" },
        { "convert a.bvh b.bvh --scale 1e999", "--scale must be a number from" },
        { "render box_relay -o a.jpg", "must end in .png, .mp4 or .gif" },
        { "render box_relay -o a.png --size 0x10", "WIDTHxHEIGHT" },
        { "render box_relay -o a.png --size 640", "WIDTHxHEIGHT" },
        { "render box_relay -o a.mp4 --size 641x480", "even" },
        { "render box_relay -o a.mp4 --frame 3", "--frames A:B" },
        { "render box_relay -o a.png --frames 1:2", "--frame N" },
        { "render box_relay -o a.png --view sideways", "--view must be" },
        { "render box_relay -o a.png --view 0,0,0", "--view must be" },
        { "render box_relay -o a.png --show bodies,trial", "trails" },
        { "render box_relay -o a.png --show bodies,", "choose one of bodies" },
        { "render box_relay -o a.png --beside source,copi", "copy" },
        { "render box_relay -o a.png --beside source,copy,copy,copy,copy,copy,copy", "at most 6" },
        { "render box_relay -o a.png --beside source,copy --method copy", "leave --method out" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i ) {
        troupe( f, "%s", cases[i].arguments );
        expect( f, 2, cases[i].says );
        expect_sentence( f );
    }
}

static void what_fails_says_why( void **state )
{
    fixture *f = *state;
    write_file( f, "broken.bvh", "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 zero 0\n}\n" );
    write_file( f, "broken.json", "{\n  \"version\": 1,\n  \"fps\": }\n" );
    write_file( f, "small.bvh", small_bvh );
    write_file( f, "bad.txt", "# nothing opened\n\nno_such_op id=a\n" );
    write_file( f, "bad_op.txt", "open file=small.bvh\n# then\nno_such_op id=a\n" );
    write_file( f, "bad_key.txt", "open scene=box_relay colour=red\n" );
    write_file( f, "notes.doc", "?" );
    const struct {
        const char *arguments, *says;
    } cases[] = {
        { "info absent.bvh", "absent.bvh: there is no such file" },
        { "info broken.bvh", "broken.bvh:4:" },
        { "info broken.json", "broken.json:3:" },
        { "info notes.doc", "neither a scene" },
        { "info .", "no scene.json" },
        { "convert absent.bvh b.bvh", "absent.bvh" },
        { "convert small.bvh no/such/folder/b.bvh", "no/such/folder" },
        { "make box_relay -o small.bvh/d", "small.bvh" },
        { "retarget absent.json -o d", "absent.json" },
        { "retarget small.bvh -o small.bvh/d", "small.bvh" },
        { "measure small.bvh no_folder",
          "no_folder: holds no results of this scene (there is no small.bvh); 'troupe retarget'" },
        { "measure box_relay .", ".: holds no results of this scene" },
        { "info /dev/null", "/dev/null: is a device; a file is needed here" },
        { "render absent.bvh -o a.png", "absent.bvh" },
        { "bench --only zzz", "no row" },
        { "scenes > /dev/full", "output could not be written" },
        { "--version > /dev/full", "output could not be written" },
        { "help > /dev/full", "output could not be written" },
        { "scenes --json > /dev/full", "output could not be written" },
        { "run absent.txt", "absent.txt" },
        { "run bad.txt", "bad.txt:3:1: a script begins with" },
        { "run bad_op.txt", "bad_op.txt:3" },
        { "run bad_key.txt", "bad_key.txt:1:22: open knows" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i ) {
        troupe( f, "%s", cases[i].arguments );
        expect( f, 1, cases[i].says );
        expect_sentence( f );
    }
    troupe( f, "render small.bvh -o a.png --frame 3" );
    expect( f, 2, "--frame must be a whole number from 0 to 2" );
    troupe( f, "render small.bvh -o a.mp4 --frames 2:1" );
    expect( f, 2, "0 ≤ A ≤ B ≤ 2" );
    assert_false( has_file( f, "a.png" ) || has_file( f, "d/scene.json" ) );
}

// --------------------------------------------------------------------------------------------------- lists

static void lists( void **state )
{
    fixture *f = *state;
    troupe( f, "scenes" );
    expect( f, 0, "box_relay" );
    troupe( f, "scenes --json" );
    json_t *json = parse_output( f );
    int count;
    tr_scene_table( &count );
    assert_int_equal( json_array_size( json_object_get( json, "scenes" ) ), count );
    json_decref( json );
    troupe( f, "ops" );
    expect( f, 0, "open scene=NAME" );
    troupe( f, "ops --json" );
    json = parse_output( f );
    tr_op_table( &count );
    const json_t *ops = json_object_get( json, "ops" );
    assert_int_equal( json_array_size( ops ), count + 1 ); // and open
    assert_string_equal( json_string_value( json_object_get( json_array_get( ops, 0 ), "name" ) ), "open" );
    json_decref( json );
}

// -------------------------------------------------------------------------------------------- motion files

static void info_of_a_motion( void **state )
{
    fixture *f = *state;
    write_file( f, "small.bvh", small_bvh );
    troupe( f, "info small.bvh" );
    expect( f, 0, "2, and 1 end site\n" );
    expect( f, 0, "1 × Xpos Ypos Zpos Zrot Xrot Yrot, 1 × Yrot Xrot Zrot" );
    troupe( f, "info small.bvh --json" );
    expect( f, 0, "\"kind\": \"motion\"" );
    json_t *json = parse_output( f );
    assert_int_equal( json_integer_value( json_object_get( json, "frames" ) ), 3 );
    assert_int_equal( json_integer_value( json_object_get( json, "channels" ) ), 9 );
    check_near( json_real_value( json_object_get( json, "fps" ) ), 10, 1e-9 );
    check_near( json_real_value( json_object_get( json, "duration_s" ) ), 0.2, 1e-9 );
    check_near( json_real_value( json_object_get( json, "height_m" ) ), 1.7, 1e-9 );
    check_near( json_real_value( json_object_get( json, "unit_m" ) ), 0.01, 0 );
    static const char *const keys[] = { "layouts",  "limbs", "contacts", "bounds_m",
                                        "warnings", "guess", "up" };
    for ( size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i )
        assert_non_null( json_object_get( json, keys[i] ) );
    json_decref( json );
}

static void info_knows_a_pose_put_in_front( void **state )
{
    fixture *f = *state;
    char text[1024];
    const char *head = "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 0 0\n"
                       "  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
                       "  JOINT LHipJoint\n  {\n    OFFSET 0 -15 0\n    CHANNELS 3 Zrotation Yrotation "
                       "Xrotation\n    End Site\n    {\n      OFFSET 0 -1 0\n    }\n  }\n"
                       "  JOINT LowerBack\n  {\n    OFFSET 0 15 0\n    CHANNELS 3 Zrotation Yrotation "
                       "Xrotation\n    End Site\n    {\n      OFFSET 0 1 0\n    }\n  }\n}\n";
    snprintf( text, sizeof text,
              "%sMOTION\nFrames: 3\nFrame Time: 0.01\n1000 0 0 0 0 0 -21 0 0 0 8 0\n"
              "0 0 0 0 0 0 0 0.5 0 0 0.25 0\n10 0 0 0 0 0 0 0.5 0 0 0.25 0\n",
              head );
    write_file( f, "18_01.bvh", text );
    troupe( f, "info 18_01.bvh" );
    expect( f, 0, "frame 0 is an artificial T-pose" );
    troupe( f, "info 18_01.bvh --json" );
    json_t *json = parse_output( f );
    assert_int_equal( json_integer_value( json_object_get( json, "first" ) ), 1 );
    const json_t *high = json_object_get( json_object_get( json, "bounds_m" ), "high" );
    check_near( json_number_value( json_array_get( high, 0 ) ), 0.5644, 1e-9 );
    json_decref( json );
    write_file( f, "small.bvh", small_bvh );
    troupe( f, "info small.bvh --json" );
    expect( f, 0, "\"first\": 0," );
}

static void what_meshes_lose_is_told( void **state )
{
    fixture *f = *state;
    troupe( f, "retarget judo_pair -o throw --method imesh" );
    expect( f, 0, "no room: p0" );
    expect( f, 0, "touch lost: p0" );
}

// Angles are printed in degrees and lengths in centimetres; what may give way is called soft.
static void what_is_off_is_told_in_its_unit( void **state )
{
    fixture *f = *state;
    write_file( f, "small.bvh", small_bvh );
    for ( int place = 0; place < 2; ++place ) {
        char text[512];
        snprintf( text, sizeof text,
                  "{\"version\": 1, \"range\": [0, 2], \"cast\": [{\"id\": \"a\", \"source\": {\"file\": "
                  "\"small.bvh\"}}], \"constraints\": [{\"id\": \"%s\", \"kind\": \"%s\", \"a\": \"a.%s\", "
                  "\"hard\": false, %s}]}\n",
                  place ? "place" : "look", place ? "absolute" : "orientation", place ? "Hips" : "Chest",
                  place ? "\"target\": [9, 9, 9]" : "\"rotation\": [0, 1, 0, 0]" );
        write_file( f, "off.json", text );
        troupe( f, "retarget off.json -o off -m copy" );
        expect( f, 0,
                place ? "0 gave way; the farthest off is place (soft absolute): "
                      : "0 gave way; the farthest off is look (soft orientation): " );
        expect( f, 0, place ? " cm at frame " : "° at frame " );
        assert_null( strstr( f->out, " mm" ) );
    }
}

static void maps_are_shown_and_written( void **state )
{
    fixture *f = *state;
    troupe( f, "make box_relay -o relay --cast 3" );
    expect( f, 0, "" );
    troupe( f, "map relay/scene.json p01" );
    expect( f, 0, "LeftHand" );
    troupe( f, "map relay/scene.json p01 -o p01.map.json" );
    expect( f, 0, "" );
    json_error_t where;
    char path[256];
    snprintf( path, sizeof path, "%s/p01.map.json", f->folder );
    json_t *json = json_load_file( path, 0, &where );
    const json_t *joints = json_object_get( json, "joints" );
    assert_string_equal( json_string_value( json_object_get( joints, "LeftHand" ) ), "LeftHand" );
    json_decref( json );
    troupe( f, "map relay/scene.json p1" );
    expect( f, 2, "p01" );
    troupe( f, "map relay/scene.json p01 -o relay/p01.bvh" );
    expect( f, 1, "would replace it" );
}

static void conversion_keeps_every_channel( void **state )
{
    fixture *f = *state;
    write_file( f, "small.bvh", small_bvh );
    troupe( f, "convert small.bvh same.bvh" );
    expect( f, 0, "3 frames at 10 fps" );
    tr_bvh in = { 0 }, out = { 0 };
    load_bvh( f, "small.bvh", &in );
    load_bvh( f, "same.bvh", &out );
    assert_int_equal( out.channel_count, in.channel_count );
    assert_int_equal( out.frame_count, in.frame_count );
    assert_memory_equal( out.layouts[0].channels, in.layouts[0].channels, 6 );
    assert_memory_equal( out.layouts[1].channels, in.layouts[1].channels, 3 );
    for ( int i = 0; i < in.channel_count * in.frame_count; ++i )
        check_near( out.values[i], in.values[i], 1e-9 );
    tr_bvh_free( &in );
    tr_bvh_free( &out );
}

static void conversion_by_hand( void **state )
{
    fixture *f = *state;
    write_file( f, "small.bvh", small_bvh );
    tr_bvh out = { 0 };
    troupe( f, "convert small.bvh fast.bvh --fps 20 --scale 0.01" );
    expect( f, 0, "5 frames at 20 fps" );
    load_bvh( f, "fast.bvh", &out );
    check_v3( out.skeleton.joints[1].offset, v3( 0, 0.8, 0 ), 1e-9 );
    check_near( out.values[0], 0, 1e-9 );
    check_near( out.values[2 * 9], 0.01, 1e-9 ); // frame 1 of the source
    check_near( out.values[2 * 9 + 8], 6.125, 1e-6 );
    assert_int_equal( out.layouts[1].channels[0], TR_BVH_Y_ROTATION );
    tr_bvh_free( &out );
    // Z up to Y up: (x, y, z) becomes (x, z, -y), so an offset along Y lies along -Z afterwards.
    troupe( f, "convert small.bvh turned.bvh --up z --quiet" );
    expect( f, 0, "" );
    assert_string_equal( f->out, "" );
    load_bvh( f, "turned.bvh", &out );
    check_near( out.values[9 + 1], 0.5, 1e-9 );
    check_near( out.values[2 * 9 + 2], -0.125, 1e-9 );
    tr_bvh_free( &out );
}

// -------------------------------------------------------------------------------------------------- scenes

static void from_scene_to_picture( void **state )
{
    fixture *f = *state;
    int cast = tr_scene_entry_find( "box_relay" )->min_cast;
    troupe( f, "make box_relay -o 'my scene' --cast %d", cast );
    expect( f, 0, "my scene/scene.json" );
    troupe( f, "info 'my scene/scene.json' --json" );
    json_t *json = parse_output( f );
    assert_int_equal( json_array_size( json_object_get( json, "cast" ) ), cast );
    json_decref( json );

    troupe( f, "retarget 'my scene/scene.json' -o one --method copy-ik --threads 1 --report r.json" );
    expect( f, 0, "by copy-ik" );
    assert_true( has_file( f, "one/scene.json" ) && same_file( f, "one/report.json", "r.json" ) );
    troupe( f, "retarget 'my scene/scene.json' -o one --method copy-ik --json" );
    expect( f, 0, "\"constraints\"" );
    json = parse_output( f );
    assert_true( json_is_array( json_object_get( json, "constraints" ) ) );
    json_decref( json );
    troupe( f, "measure 'my scene/scene.json' one --json" );
    expect( f, 0, "\"metrics\"" );
    json = parse_output( f );
    static const char *const keys[] = { "bone_length_error_pct", "contact_error_mm", "foot_skate_mm_s",
                                        "relative_error_mm", "jerk_ratio" };
    for ( size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i ) {
        const json_t *metric = json_object_get( json_object_get( json, "metrics" ), keys[i] );
        assert_true( json_is_object( json_object_get( metric, "out" ) ) );
        assert_true( json_is_object( json_object_get( metric, "source" ) ) );
        assert_non_null( json_object_get( metric, "reason" ) );
    }
    json_decref( json );
    troupe( f, "measure one" );
    expect( f, 0, "foot_skate" );
    // A folder of results stands for its motion; with a method asked for, for its scene.
    troupe( f, "measure one --json > kept.json" );
    troupe( f, "measure one --method copy --json > copied.json" );
    expect( f, 0, "" );
    assert_false( same_file( f, "copied.json", "kept.json" ) );

    troupe( f, "render one -o one.png --size 160x90 --frame 5 --show bodies,skeleton,trails" );
    expect( f, 0, "160 × 90" );
    assert_true( has_file( f, "one.png" ) );
    troupe( f, "render one -o beside.png --size 160x90 --beside source,copy,copy-ik" );
    expect( f, 0, "160 × 90" );
    assert_true( has_file( f, "beside.png" ) );
    // The source alone stands beside the result: the folder's, or what a method makes of it.
    troupe( f, "render one -o source.png --size 160x90 --beside source" );
    expect( f, 0, "160 × 90" );
    troupe( f, "render one -o both.png --size 160x90 --beside source,copy" );
    troupe( f, "render one -o copied.png --size 160x90 --beside source --method copy" );
    expect( f, 0, "160 × 90" );
    assert_true( same_file( f, "copied.png", "both.png" ) );
    assert_false( same_file( f, "source.png", "both.png" ) );
}

// A folder that 'troupe make' wrote holds motion too, but it is a scene, not a result.
static void a_made_folder_is_a_scene( void **state )
{
    fixture *f = *state;
    troupe( f, "make box_relay -o made --cast 2 -q && '%s' measure made/scene.json --json > by_file.json",
            TROUPE_BINARY );
    expect( f, 0, "" );
    troupe( f, "measure made --json > by_folder.json" );
    expect( f, 0, "" );
    assert_true( same_file( f, "by_folder.json", "by_file.json" ) );
    troupe( f, "render made -o by_folder.png --size 64x64" );
    expect( f, 0, "1 frame" );
    troupe( f, "render made/scene.json -o by_file.png --size 64x64" );
    assert_true( same_file( f, "by_folder.png", "by_file.png" ) );
}

static void inputs_are_never_replaced( void **state )
{
    fixture *f = *state;
    troupe( f, "make box_relay -o mine --cast 2 -q && cp -r mine kept && ln -s mine link" );
    expect( f, 0, "" );
    write_file( f, "edit.txt", "open file=mine/scene.json\n" );
    write_file( f, "small.bvh", small_bvh );
    write_file( f, "same.bvh", small_bvh );
    const struct {
        const char *arguments, *names;
    } cases[] = {
        { "retarget mine/scene.json -o mine", "mine/scene.json: " },
        { "retarget mine -o link", "link/scene.json: " },
        { "retarget mine -o out --report mine/p01.bvh", "mine/p01.bvh: " },
        { "run edit.txt -o mine", "mine/scene.json: " },
        { "retarget small.bvh -o .", "./small.bvh: " },
        { "convert small.bvh ./small.bvh --scale 2", "./small.bvh: " },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i ) {
        troupe( f, "%s", cases[i].arguments );
        expect( f, 1, cases[i].names );
        expect_sentence( f );
    }
    assert_true( same_file( f, "mine/scene.json", "kept/scene.json" ) );
    assert_true( same_file( f, "mine/p01.bvh", "kept/p01.bvh" ) );
    assert_true( same_file( f, "small.bvh", "same.bvh" ) );
    assert_false( has_file( f, "mine/source" ) || has_file( f, "out" ) || has_file( f, "scene.json" ) );
    troupe( f, "retarget mine -o out && '%s' retarget mine -o out", TROUPE_BINARY ); // twice is fine
    expect( f, 0, "out: 2 characters" );
}

// The same scene on several threads, and with kernels for any processor: the same bits.
static void results_do_not_depend_on_threads_or_kernels( void **state )
{
    fixture *f = *state;
    int cast = tr_scene_entry_find( "box_relay" )->min_cast;
    troupe( f, "retarget box_relay -o t1 --cast %d --threads 1 --quiet", cast );
    expect( f, 0, "" );
    assert_string_equal( f->error, "" );
    troupe( f, "retarget box_relay -o t3 --cast %d --threads 3 --quiet", cast );
    expect( f, 0, "" );
    assert_int_equal( setenv( "TROUPE_KERNELS", "plain", 1 ), 0 );
    troupe( f, "retarget box_relay -o plain --cast %d --quiet", cast );
    expect( f, 0, "" );
    assert_int_equal( setenv( "TROUPE_KERNELS", "wide", 1 ), 0 );
    troupe( f, "scenes" );
    expect( f, 2, "there is no kind of kernels (TROUPE_KERNELS) 'wide'; choose one of plain, avx2, avx512" );
    expect_sentence( f );
    assert_int_equal( unsetenv( "TROUPE_KERNELS" ), 0 );
    tr_scene scene = { 0 };
    tr_error error = { 0 };
    char path[128];
    snprintf( path, sizeof path, "%s/t1/scene.json", f->folder );
    check_ok( tr_scene_load( &scene, path, &error ), &error );
    for ( int i = 0; i < scene.cast_count; ++i ) {
        char a[64], b[64], c[64];
        snprintf( a, sizeof a, "t1/%s.bvh", scene.cast[i].id );
        snprintf( b, sizeof b, "t3/%s.bvh", scene.cast[i].id );
        snprintf( c, sizeof c, "plain/%s.bvh", scene.cast[i].id );
        assert_true( same_file( f, a, b ) && same_file( f, a, c ) );
    }
    tr_scene_free( &scene );
}

static void a_lone_motion_is_drawn( void **state )
{
    fixture *f = *state;
    write_file( f, "Small Walk 01.bvh", small_bvh );
    troupe( f, "render 'Small Walk 01.bvh' -o walk.png --size 64x64 --view 30,10 --quiet" );
    expect( f, 0, "" );
    assert_true( has_file( f, "walk.png" ) );
    troupe( f, "render 'Small Walk 01.bvh' -o walk.gif --size 64x64 --frames 1:2" );
    expect( f, 0, "2 frames" );
    assert_true( has_file( f, "walk.gif" ) );
    write_file( f, "ground.bvh", small_bvh ); // a name that means something else in a scene
    troupe( f, "render ground.bvh -o ground.png --size 64x64" );
    expect( f, 0, "1 frame" );
}

static void scripts_are_replayed( void **state )
{
    fixture *f = *state;
    int cast = tr_scene_entry_find( "box_relay" )->min_cast;
    char text[256];
    snprintf( text, sizeof text, "# an empty edit\n\nopen scene=box_relay cast=%d # as it is\n", cast );
    write_file( f, "script.txt", text );
    troupe( f, "run script.txt" );
    expect( f, 0, "0 ops" );
    write_file( f, "marked.txt",
                "\xEF\xBB\xBFopen scene=box_relay cast=2\r\ncast_scale id=p01 scale=1.2\r\n" );
    troupe( f, "run marked.txt" ); // as some editors save it
    expect( f, 0, "1 op: 2 characters" );
    troupe( f, "run script.txt -o played --method copy" );
    expect( f, 0, "0 ops" );
    expect( f, 0, "played: 2 characters" );
    assert_true( has_file( f, "played/scene.json" ) && has_file( f, "played/report.json" ) );

    // A second character from a file beside the script, then both drawn from the folder of results.
    write_file( f, "small.bvh", small_bvh );
    write_file( f, "other.bvh", small_bvh );
    write_file( f, "pair.txt", "open file=small.bvh\ncast_add id=b file=other.bvh position=1,0,0\n" );
    troupe( f, "run pair.txt -o pair" );
    expect( f, 0, "1 op: 2 characters, 0 props" );
    assert_true( has_file( f, "pair/b.bvh" ) && has_file( f, "pair/source/small.bvh" ) );
    troupe( f, "render pair -o pair.png --size 64x64" );
    expect( f, 0, "64 × 64" );
}

// A script is checked to the last joint and file, solved or not, and errors name line and column.
static void scripts_are_checked( void **state )
{
    fixture *f = *state;
    write_file( f, "small.bvh", small_bvh );
    const struct {
        const char *text, *says;
    } cases[] = {
        { "\n  opne scene=box_relay\n", "s.txt:2:3: a script begins with" },
        { "open scene=box_relay cast\n", "s.txt:1:22: a script begins with" },
        { "open scene=box_relay cast=two\n", "s.txt:1:27: cast must be" },
        { "open scene=box_relay file=small.bvh\n", "s.txt:1:22: a script opens one" },
        { "open scene=box_rely\n", "s.txt:1:12: there is no scene, file or folder 'box_rely'; did you mean" },
        { "open scene=box_relay cast=99999\n", "s.txt:1:12: " },
        { "# it\nopen file=absent.json\n", "s.txt:2:11: absent.json: there is no such file" },
        { "open file=small.bvh cast=3\n", "s.txt:1:11: only a built-in scene" },
        { "open file=small.bvh\nopen file=small.bvh\n", "s.txt:2:1: open stands once" },
        { "open file=small.bvh\ncast_add id=b file=absent.bvh\n",
          "s.txt:2:20: cast[1].source.file: absent.bvh: cannot open" },
        { "open file=small.bvh\ncast_add id=b file=small.bvh\ncast_copy id=b to=c\n"
          "cast_limb id=b limb=arns value=2\ncast_remove id=small\ncast_scale id=b scale=2\n",
          "s.txt:4:21: cast[0].target.limbs.arns: the body has no limb \"arns\"; did you mean \"arms\"?" },
        { "open file=small.bvh\nconstraint_add id=x kind=orientation a=small.Hips\n"
          "constraint_add id=y kind=orientation a=small.Chset\nconstraint_remove id=x\n",
          "s.txt:3:40: constraints[0].a: this character has no joint" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i ) {
        write_file( f, "s.txt", cases[i].text );
        troupe( f, "run s.txt" );
        expect( f, 1, cases[i].says );
        expect_sentence( f );
    }
    char text[400];
    memset( text, 'x', sizeof text );
    memcpy( text, "open file=", 10 );
    memcpy( text + sizeof text - 2, "\n", 2 );
    write_file( f, "s.txt", text );
    troupe( f, "run s.txt" );
    expect( f, 1, "s.txt:1:6: names and paths are at most 255 bytes long" );
}

static void scenes_are_blamed_by_path( void **state )
{
    fixture *f = *state;
    write_file( f, "small.bvh", small_bvh );
    write_file( f, "none.bvh", "no motion\n" );
    const struct {
        const char *cast, *says;
    } cases[] = {
        { "\"source\": {\"file\": \"absent.bvh\"}", "s.json: cast[0].source.file: absent.bvh: cannot open" },
        { "\"source\": {\"file\": \"small.bvh\", \"last\": 9}",
          "s.json: cast[0].source.file: small.bvh: frames 0 to 9 are asked for" },
        { "\"source\": {\"file\": \"small.bvh\"}, \"target\": {\"skeleton\": {\"file\": \"no.bvh\"}}",
          "s.json: cast[0].target.skeleton.file: no.bvh: cannot open" },
        { "\"source\": {\"file\": \"small.bvh\"}, \"mapping\": \"no.json\"",
          "s.json: cast[0].mapping: no.json: cannot open" },
        { "\"source\": {\"file\": \"small.bvh\"}, \"target\": {\"girth\": {\"wing\": 2}}",
          "s.json: cast[0].target.girth.wing: the body has no limb \"wing\"" },
        { "\"source\": {\"file\": \"none.bvh\"}", "s.json: cast[0].source.file: none.bvh:1:1: " },
        { "\"source\": {\"file\": \"small.bvh\"}, \"target\": {\"skeleton\": {\"file\": \"none.bvh\"}}",
          "s.json: cast[0].target.skeleton.file: none.bvh:1:1: " },
        { "\"source\": {\"file\": \"small.bvh\"}, \"mapping\": \"none.bvh\"",
          "s.json: cast[0].mapping: none.bvh:1:" },
        { "\"source\": {\"file\": \"small.bvh\"},", "nothing follows this comma but '}'" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i ) {
        char text[512];
        snprintf( text, sizeof text, "{\"version\": 1, \"range\": [0, 2], \"cast\": [{\"id\": \"a\", %s}]}\n",
                  cases[i].cast );
        write_file( f, "s.json", text );
        troupe( f, "retarget s.json -o d" );
        expect( f, 1, cases[i].says );
        expect_sentence( f );
    }
}

// Every command that stages a scene refuses one that needs too much, and takes the option its sentence names.
static void memory_is_limited( void **state )
{
    fixture *f = *state;
    static const char *const commands[] = { "retarget arm_circles -m copy -o limited",
                                            "measure arm_circles -m copy",
                                            "render arm_circles -m copy -o limited.png", "links arm_circles",
                                            "run limited.txt -m copy -o limited" };
    write_file( f, "limited.txt", "open scene=arm_circles\n" );
    for ( size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i ) {
        troupe( f, "%s -j 2 --memory 20M", commands[i] );
        expect( f, 1, " MB of memory, and 20 MB may be used; take fewer frames, or allow more (--memory)" );
        expect_sentence( f );
    }
    assert_false( has_file( f, "limited" ) || has_file( f, "limited.png" ) );
    for ( size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i ) {
        troupe( f, "%s -j 1 --memory 2G", commands[i] );
        expect( f, 0, "" );
    }
}

// Sends a signal as soon as the program takes care of it.
static void send_signal( pid_t child, int number )
{
    for ( unsigned long caught = 0; ( caught & 1ul << ( number - 1 ) ) == 0; ) {
        char path[64], line[256];
        snprintf( path, sizeof path, "/proc/%ld/status", (long)child );
        FILE *file = fopen( path, "r" );
        assert_non_null( file );
        while ( fgets( line, sizeof line, file ) != NULL )
            if ( sscanf( line, "SigCgt: %lx", &caught ) == 1 )
                break;
        fclose( file );
        assert_int_equal( waitpid( child, NULL, WNOHANG ), 0 );
    }
    assert_int_equal( kill( child, number ), 0 );
}

// A signal ends a command with one sentence, and the exit code tells which it was.
static void signals_cancel( void **state )
{
    fixture *f = *state;
    for ( int i = 0; i < 2; ++i ) {
        char path[128];
        snprintf( path, sizeof path, "%s/stderr.txt", f->folder );
        pid_t child = fork();
        assert_true( child >= 0 );
        if ( child == 0 ) {
            signal( SIGINT, SIG_DFL );
            if ( freopen( path, "w", stderr ) != NULL )
                execl( TROUPE_BINARY, TROUPE_BINARY, "measure", "box_relay", "-j", "1", NULL );
            _exit( 99 );
        }
        int status;
        send_signal( child, i == 0 ? SIGINT : SIGTERM );
        assert_int_equal( waitpid( child, &status, 0 ), child );
        assert_true( WIFEXITED( status ) );
        f->code = WEXITSTATUS( status );
        FILE *file = fopen( path, "rb" );
        read_stream( file, f->error );
        fclose( file );
        expect( f, i == 0 ? 130 : 143, "troupe: cancelled\n" );
        expect_sentence( f );
    }
}

static void benchmark_rows( void **state )
{
    fixture *f = *state;
    troupe( f, "bench --quick -q --only bvh/ --json rows.json" );
    expect( f, 0, "bvh/read" );
    char path[128];
    snprintf( path, sizeof path, "%s/rows.json", f->folder );
    json_t *json = json_load_file( path, 0, NULL );
    assert_non_null( json );
    const json_t *rows = json_object_get( json, "rows" );
    assert_int_equal( json_array_size( rows ), 3 );
    for ( int i = 0; i < 3; ++i ) {
        const json_t *row = json_array_get( rows, (size_t)i );
        assert_true( json_is_string( json_object_get( row, "name" ) ) );
        assert_true( json_number_value( json_object_get( row, "ms" ) ) > 0 );
        assert_int_equal( json_integer_value( json_object_get( row, "threads" ) ), 1 );
        assert_true( json_number_value( json_object_get( row, "MB_s" ) ) > 0 );
    }
    json_decref( json );
}

// ----------------------------------------------------------------------------------------------- main

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( version_and_help ),
        TEST( wrong_usage ),
        TEST( what_fails_says_why ),
        TEST( lists ),
        TEST( info_of_a_motion ),
        TEST( info_knows_a_pose_put_in_front ),
        TEST( what_meshes_lose_is_told ),
        TEST( what_is_off_is_told_in_its_unit ),
        TEST( maps_are_shown_and_written ),
        TEST( conversion_keeps_every_channel ),
        TEST( conversion_by_hand ),
        TEST( from_scene_to_picture ),
        TEST( a_made_folder_is_a_scene ),
        TEST( inputs_are_never_replaced ),
        TEST( results_do_not_depend_on_threads_or_kernels ),
        TEST( a_lone_motion_is_drawn ),
        TEST( scripts_are_replayed ),
        TEST( scripts_are_checked ),
        TEST( scenes_are_blamed_by_path ),
        TEST( memory_is_limited ),
        TEST( signals_cancel ),
        TEST( benchmark_rows ),
    };
    return cmocka_run_group_tests( tests, set_up, clean_up );
}
