// The document as data and as a file: round trips, strictness, memory that runs out, saving that is
// interrupted.
#include "folder.h"

#include "troupe.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Every field at something other than its default, every kind of constraint.
static const char *const full_scene =
    "{\"version\": 1, \"fps\": 23.976, \"range\": [-5, 1200],\n"
    " \"cast\": [\n"
    "  {\"id\": \"p01\", \"source\": {\"file\": \"motions/of the first/p 01.glb\", \"skeleton\": \"Ben\", "
    "\"take\": \"2\", \"unit\": 0.05644, "
    "\"up\": \"z\", \"rate\": 25, \"first\": "
    "1,\n"
    "   \"last\": 90},\n"
    "   \"target\": {\"scale\": 0.1, \"limbs\": {\"left_arm\": 1.2, \"legs\": 0.30000000000000004},\n"
    "    \"girth\": {\"torso\": 1.3},\n"
    "    \"skeleton\": {\"file\": \"ogre.bvh\", \"skeleton\": \"a\", \"take\": \"b\", \"unit\": 0.01, "
    "\"up\": \"y\", \"rate\": 50, \"first\": 2, \"last\": 3},\n"
    "    \"look\": {\"file\": \"ogre.glb\", \"skeleton\": \"Ogre\", \"unit\": 0.01, \"up\": \"z\"},\n"
    "    \"animation\": true, \"examples\": false, \"reference\": 12, \"path_scale\": 0.9},\n"
    "   \"mapping\": \"ogre \\\"big\\\" \\u00fc.map.json\",\n"
    "   \"placement\": {\"position\": [1e-7, -2, 3.5], \"heading\": -90.5, \"start\": -3},\n"
    "   \"colour\": \"#0a0Bff\",\n"
    "   \"automatic\": {\"contacts\": false, \"soles\": false, \"balance\": true}},\n"
    "  {\"id\": \"p02\", \"source\": {\"file\": \"p02.bvh\"}}],\n"
    " \"props\": [\n"
    "  {\"id\": \"box01\", \"shape\": \"box\", \"size\": [0.4, 0.3, 0.2], \"scale\": 1.5,\n"
    "   \"track\": {\"file\": \"box.bvh\", \"skeleton\": \"a\", \"take\": \"b\", \"unit\": 1, \"up\": \"y\", "
    "\"rate\": 100, "
    "\"first\": 4, \"last\": 5},\n"
    "   \"placement\": {\"position\": [0, 1, 0], \"heading\": 45, \"start\": 9}, \"colour\": \"#ffffff\"},\n"
    "  {\"id\": \"box02\"},\n"
    "  {\"id\": \"ball\", \"shape\": \"sphere\", \"size\": [0.5, 0.5, 0.5]},\n"
    "  {\"id\": \"stick\", \"shape\": \"polyline\", \"points\": [[0, 0, 0], [1, 0.5, -2]], "
    "\"thickness\": 0.02},\n"
    "  {\"id\": \"bust\", \"shape\": \"mesh\", \"mesh\": {\"file\": \"bust.obj\", \"unit\": 0.001, "
    "\"up\": \"z\"}}],\n"
    " \"environment\": {\"ground\": -0.25, \"boxes\": [\n"
    "  {\"id\": \"wall\", \"size\": [3, 2, 0.1], \"position\": [0, 1, -4], \"heading\": 10, \"scale\": 0.5,\n"
    "   \"move\": [0, -0.5, 0], \"colour\": \"#123456\"},\n"
    "  {\"id\": \"rail\", \"shape\": \"polyline\", \"points\": [[0, 0.9, 0], [2, 1.9, 0], [3, 1.9, 0.25]]},\n"
    "  {\"id\": \"car\", \"shape\": \"mesh\", \"thickness\": 0.01, \"mesh\": {\"file\": \"things/car.obj\", "
    "\"unit\": 0.01, \"up\": \"z\"}, \"position\": [1, 0, 0]}]},\n"
    " \"constraints\": [\n"
    "  {\"id\": \"c1\", \"kind\": \"absolute\", \"a\": \"p01.Hips\", \"target\": [1, 2, 3], \"range\": [0, "
    "10],\n"
    "   \"ease\": [5, 2.5], \"hard\": false, \"weight\": 0.4, \"axes\": \"xz\", \"partners\": true},\n"
    "  {\"id\": \"c2\", \"kind\": \"absolute\", \"a\": \"p01.Hips\", \"target\": [1, 0, 0], \"direction\": "
    "true},\n"
    "  {\"id\": \"c3\", \"kind\": \"absolute\", \"a\": \"p02.'Left "
    "Hand'*0.25+Right:Hand*0.75@0,0.1,-1e-3\"},\n"
    "  {\"id\": \"c4\", \"kind\": \"contact\", \"a\": \"p01.LeftFoot\"},\n"
    "  {\"id\": \"c5\", \"kind\": \"contact\", \"a\": \"p01.LeftHand\", \"surface\": \"box01\", \"target\": "
    "[0, 1, 0]},\n"
    "  {\"id\": \"c6\", \"kind\": \"contact\", \"a\": \"box02@0,-0.15,0\", \"surface\": \"wall\"},\n"
    "  {\"id\": \"c7\", \"kind\": \"orientation\", \"a\": \"p01.Head\", \"rotation\": [0, 0.6, 0, 0.8]},\n"
    "  {\"id\": \"c8\", \"kind\": \"orientation\", \"a\": \"p01.LeftFoot\", \"flat\": true},\n"
    "  {\"id\": \"c9\", \"kind\": \"orientation\", \"a\": \"box01\"},\n"
    "  {\"id\": \"c10\", \"kind\": \"length\", \"a\": \"p01.LeftHand\"},\n"
    "  {\"id\": \"c11\", \"kind\": \"length\", \"a\": \"p01.LeftHand\", \"b\": \"p02.RightHand\", "
    "\"length\": 0.125},\n"
    "  {\"id\": \"c12\", \"kind\": \"centre_of_mass\", \"a\": \"p02\", \"axes\": \"xz\"},\n"
    "  {\"id\": \"c13\", \"kind\": \"centre_of_mass\", \"a\": \"p02\", \"target\": [0, 1, 0]},\n"
    "  {\"id\": \"c14\", \"kind\": \"relative\", \"a\": \"p01.LeftHand\", \"b\": \"box01@0.2,0,0\"},\n"
    "  {\"id\": \"c15\", \"kind\": \"relative\", \"a\": \"box02\", \"b\": \"p02.Hand\", \"target\": [0, 0, "
    "1],\n"
    "   \"partner_space\": true, \"priority\": 2},\n"
    "  {\"id\": \"c16\", \"kind\": \"absolute\", \"a\": \"p01.LeftHand\", \"keys\": [[-3, 0, 1, 0], [12.5, "
    "0.25, "
    "1.5, 0]]}],\n"
    " \"layers\": [\n"
    "  {\"id\": \"bend\", \"kind\": \"cage\", \"members\": \"p01, p02.left_arm, box*\", \"range\": [3, 40], "
    "\"ease\": [5, 6.5],\n"
    "   \"padding\": 0.2, \"falloff\": 30, \"turn\": true, \"firm\": true, \"muted\": true},\n"
    "  {\"id\": \"wait\", \"kind\": \"retime\", \"members\": \"p*\", \"ripple\": true, \"solo\": true}],\n"
    " \"sections\": [\n"
    "  {\"id\": \"s1\", \"layer\": \"bend\", \"frame\": 20},\n"
    "  {\"id\": \"s2\", \"layer\": \"wait\", \"frame\": 50, \"delay\": 12.5}],\n"
    " \"handles\": [\n"
    "  {\"id\": \"h1\", \"layer\": \"bend\", \"frame\": 20, \"move\": [0, 1, 0], \"turn\": [0, 30, 0]},\n"
    "  {\"id\": \"h2\", \"layer\": \"bend\", \"frame\": 3, \"pinned\": false},\n"
    "  {\"id\": \"h3\", \"layer\": \"bend\", \"frame\": 21, \"point\": \"p01.LeftHand\"},\n"
    "  {\"id\": \"h4\", \"layer\": \"bend\", \"frame\": 20, \"vertex\": 7}],\n"
    " \"clips\": [\n"
    "  {\"id\": \"k1\", \"cast\": \"p01\", \"source\": {\"file\": \"on.bvh\", \"unit\": 0.01, \"up\": \"y\", "
    "\"rate\": 20, "
    "\"first\": 7, \"last\": 8, \"skeleton\": \"a\", \"take\": \"b\"},\n"
    "   \"blend\": 6},\n"
    "  {\"id\": \"k2\", \"cast\": \"p01\", \"source\": {\"file\": \"off.bvh\"}}],\n"
    " \"imesh\": true,\n"
    " \"pairs\": [\n"
    "  {\"id\": \"q1\", \"kind\": \"pass\", \"a\": \"p01\", \"b\": \"wall\", \"range\": [5, 9]},\n"
    "  {\"id\": \"q2\", \"kind\": \"exclude\", \"a\": \"box01\"}],\n"
    " \"drives\": [\n"
    "  {\"id\": \"d1\", \"cast\": \"p01\", \"joint\": \"Spine1\", \"source\": \"Spine\"},\n"
    "  {\"id\": \"d2\", \"cast\": \"p01\", \"joint\": \"Tail\"}],\n"
    " \"examples\": [\n"
    "  {\"id\": \"e1\", \"cast\": \"p01\", \"source\": 3, \"target\": 0},\n"
    "  {\"id\": \"e2\", \"cast\": \"p01\", \"source\": 9, \"target\": 1, \"pose\": \"Head@0,30,0\", "
    "\"mirrored\": true, \"muted\": true}],\n"
    " \"parts\": [\n"
    "  {\"id\": \"t1\", \"cast\": \"p01\", \"source\": {\"first\": \"Arm\", \"last\": \"Hand\"},\n"
    "   \"target\": {\"first\": \"Trunk1\", \"last\": \"Trunk8\"}, \"aim\": 0.25}]}\n";

static tr_scene parse( const char *text )
{
    tr_scene scene;
    tr_error error;
    check_ok( tr_scene_parse( &scene, text, strlen( text ), "test.json", &error ), &error );
    return scene;
}

static tr_text print( const tr_scene *scene )
{
    tr_text text = { 0 };
    tr_error error;
    check_ok( tr_scene_print( scene, &text, &error ), &error );
    return text;
}

static void lists_and_library( void **state )
{
    (void)state;
    tr_scene scene = tr_default_scene(), copy;
    tr_error error;
    tr_cast cast = tr_default_cast( "p01" );
    tr_prop prop = tr_default_prop( "box" );
    tr_obstacle obstacle = tr_default_obstacle( "wall" );
    tr_constraint constraint = tr_default_constraint( "c", TR_CONSTRAINT_CONTACT );
    assert_non_null( tr_scene_add_cast( &scene, &cast ) );
    assert_non_null( tr_scene_add_prop( &scene, &prop ) );
    assert_non_null( tr_scene_add_obstacle( &scene, &obstacle ) );
    assert_non_null( tr_scene_add_constraint( &scene, &constraint ) );
    assert_int_equal( tr_scene_find_cast( &scene, "p01" ), 0 );
    assert_int_equal( tr_scene_find_cast( &scene, "box" ), -1 );
    assert_int_equal( tr_scene_find_prop( &scene, "box" ), 0 );
    assert_int_equal( tr_scene_find_obstacle( &scene, "wall" ), 0 );
    assert_int_equal( tr_scene_find_constraint( &scene, "c" ), 0 );
    check_ok( tr_scene_copy( &copy, &scene, &error ), &error );
    assert_true( tr_scene_equal( &copy, &scene ) );
    copy.constraints[0].first = 3;
    assert_false( tr_scene_equal( &copy, &scene ) );
    tr_scene_free( &copy );
    tr_scene_free( &scene );

    tr_library library = { 0 };
    tr_motion motion = { 0 };
    assert_int_equal( tr_skeleton_add( &motion.skeleton, "Hips", -1, v3_zero ), 0 );
    check_ok( tr_library_add( &library, "p01.bvh", &motion, &error ), &error );
    assert_int_equal( motion.skeleton.joint_count, 0 ); // taken over
    assert_int_equal( tr_library_find( &library, "p01.bvh" )->skeleton.joint_count, 1 );
    assert_null( tr_library_find( &library, "p02.bvh" ) );
    assert_int_equal( tr_skeleton_add( &motion.skeleton, "Hips", -1, v3_zero ), 0 );
    assert_false( tr_library_add( &library, "p01.bvh", &motion, &error ) );
    assert_int_equal( motion.skeleton.joint_count, 0 );
    tr_library_free( &library );
}

// ------------------------------------------------------------------------------------------- round trips

static void every_field_is_read( void **state )
{
    (void)state;
    tr_scene scene = parse( full_scene );
    check_near( scene.fps, 23.976, 0 );
    assert_int_equal( scene.first, -5 );
    assert_int_equal( scene.last, 1200 );
    check_near( scene.ground, -0.25, 0 );
    const tr_cast *cast = &scene.cast[0];
    assert_string_equal( cast->source.file, "motions/of the first/p 01.glb" );
    assert_string_equal( cast->source.skeleton, "Ben" );
    assert_string_equal( cast->source.take, "2" );
    assert_true( cast->source.up == 'z' && cast->source.first == 1 && cast->source.last == 90 );
    check_near( cast->source.rate, 25, 0 );
    assert_int_equal( cast->target.limb_count, 2 );
    assert_string_equal( cast->target.limbs[1].limb, "legs" );
    check_near( cast->target.limbs[1].value, 0.1 + 0.2, 0 );
    assert_string_equal( cast->mapping, "ogre \"big\" ü.map.json" );
    check_v3( cast->position, v3( 1e-7, -2, 3.5 ), 0 );
    check_near( cast->colour[1], 11.0 / 255, 1e-7 );
    assert_true( cast->balance && !cast->contacts && !cast->soles );
    assert_true( scene.cast[1].contacts && !scene.cast[1].balance );
    const tr_constraint *combined = &scene.constraints[2];
    assert_int_equal( combined->a.term_count, 2 );
    assert_string_equal( combined->a.terms[0].joint, "Left Hand" );
    assert_string_equal( combined->a.terms[1].joint, "Right:Hand" );
    check_near( combined->a.terms[1].weight, 0.75, 0 );
    check_v3( combined->a.offset, v3( 0, 0.1, -1e-3 ), 0 );
    assert_false( combined->given );
    assert_true( scene.constraints[1].direction && scene.constraints[1].given );
    assert_true( scene.constraints[0].partners && !scene.constraints[1].partners );
    assert_string_equal( scene.constraints[3].surface, "ground" );
    quat turned = { 0, 0.6, 0, 0.8 };
    check_rotation( scene.constraints[6].rotation, turned, 1e-7 );
    assert_true( scene.constraints[14].partner_space );
    assert_true( scene.constraints[14].priority == 2 && scene.constraints[13].priority == 0 );
    assert_int_equal( scene.layers[1].kind, TR_LAYER_RETIME );
    assert_true( scene.layers[0].turn && scene.layers[0].muted && !scene.layers[0].solo );
    assert_true( scene.layers[1].ripple && scene.layers[1].last == TR_MAX_FRAMES );
    check_near( scene.sections[1].delay, 12.5, 0 );
    check_v3( scene.handles[0].turn, v3( 0, 30, 0 ), 0 );
    assert_true( scene.handles[0].vertex == -1 && scene.handles[0].pinned && !scene.handles[1].pinned );
    assert_string_equal( scene.handles[2].point.terms[0].joint, "LeftHand" );
    assert_true( scene.clips[0].blend == 6 && scene.clips[0].source.first == 7 &&
                 scene.clips[1].blend == -1 );
    assert_true( scene.imesh );
    assert_int_equal( scene.pairs[0].kind, TR_PAIR_PASS );
    assert_true( scene.pairs[0].first == 5 && scene.pairs[0].last == 9 );
    assert_string_equal( scene.pairs[0].b, "wall" );
    assert_true( scene.pairs[1].b[0] == 0 && scene.pairs[1].last == TR_MAX_FRAMES );
    tr_scene_free( &scene );
}

// Calls `visit` with every path of the format, cut into list ("" at the top) and field.
static void for_every_field( void ( *visit )( const char *list, const char *field, void *context ),
                             void *context )
{
    tr_text paths = { 0 };
    tr_scene_print_paths( &paths );
    for ( char *line = strtok( paths.data, "\n" ); line != NULL; line = strtok( NULL, "\n" ) ) {
        char *brackets = strstr( line, "[]." );
        if ( brackets != NULL )
            *brackets = 0;
        visit( brackets != NULL ? line : "", brackets != NULL ? brackets + 3 : line, context );
    }
    tr_text_free( &paths );
}

static const json_t *follow( const json_t *json, const char *path )
{
    char part[80];
    snprintf( part, sizeof part, "%s", path );
    char *dot = strchr( part, '.' );
    if ( dot != NULL )
        *dot = 0;
    json = path[0] != 0 ? json_object_get( json, part ) : json;
    return dot != NULL ? follow( json, path + ( dot - part ) + 1 ) : json;
}

static void check_printed( const char *list, const char *field, void *root )
{
    const json_t *items = follow( root, list );
    bool found = json_is_object( items ) && follow( items, field ) != NULL;
    for ( size_t i = 0; i < json_array_size( items ); ++i )
        found = found || follow( json_array_get( items, i ), field ) != NULL;
    if ( !found )
        fail_msg( "%s of %s is not tested", field, list );
}

// The scene above leaves no field at its default, so the printer has to print them all.
static void every_field_is_printed( void **state )
{
    (void)state;
    tr_scene scene = parse( full_scene );
    tr_text text = print( &scene );
    json_t *root;
    tr_error error;
    check_ok( tr_json_parse( &root, text.data, text.size, "printed", &error ), &error );
    for_every_field( check_printed, root );
    json_decref( root );
    tr_text_free( &text );
    tr_scene_free( &scene );
}

static void print_and_read_are_inverse( void **state )
{
    (void)state;
    tr_scene scene = parse( full_scene ), empty = tr_default_scene();
    const tr_scene *scenes[] = { &scene, &empty };
    for ( int i = 0; i < 2; ++i ) {
        tr_text first = print( scenes[i] );
        tr_scene again = parse( first.data );
        assert_true( tr_scene_equal( &again, scenes[i] ) );
        tr_text second = print( &again );
        assert_int_equal( first.size, second.size );
        assert_memory_equal( first.data, second.data, first.size );
        assert_int_equal( first.data[first.size - 1], '\n' );
        tr_text_free( &first );
        tr_text_free( &second );
        tr_scene_free( &again );
    }
    tr_scene_free( &scene );
}

static void defaults_are_left_out( void **state )
{
    (void)state;
    tr_scene scene =
        parse( "{\"version\": 1, \"fps\": 30, \"range\": [0, 9], \"cast\": [{\"id\": \"p01\","
               "\"source\": {\"file\": \"p01.bvh\", \"first\": 0, \"last\": -1},"
               "\"target\": {\"scale\": 1.0, \"limbs\": {}}, \"automatic\": {\"soles\": true}}]}" );
    tr_text text = print( &scene );
    assert_string_equal( text.data, "{\n"
                                    "  \"version\": 1,\n"
                                    "  \"fps\": 30,\n"
                                    "  \"range\": [0, 9],\n"
                                    "  \"cast\": [\n"
                                    "    {\"id\": \"p01\", \"source\": {\"file\": \"p01.bvh\"}}\n"
                                    "  ],\n"
                                    "  \"props\": [],\n"
                                    "  \"environment\": {\n"
                                    "    \"ground\": 0,\n"
                                    "    \"boxes\": []\n"
                                    "  },\n"
                                    "  \"constraints\": [],\n"
                                    "  \"layers\": []\n"
                                    "}\n" );
    tr_text_free( &text );
    tr_scene_free( &scene );
}

static void points_as_text( void **state )
{
    (void)state;
    static const char *const good[] = {
        "p03.LeftHand",          "box01",
        "box01@0,0.15,-0.2",     "p03.a*0.5+b*0.25+c.d*0.25",
        "p03.'Left Hand'@1,2,3", "p03.'O''Neill'*2+x*-1",
        "p03.mixamorig:Hand",
    };
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        { "", "does not start with an id" },        { ".Hand", "does not start with an id" },
        { "p03.", "a joint's name is missing" },    { "p03.Hand+", "a joint's name is missing" },
        { "p03.'Left", "is not closed" },           { "p03.Hand*", "a number is expected" },
        { "p03.Hand*nan", "a number is expected" }, { "p03.Hand*1e999", "a number is expected" },
        { "p03.Hand@1,2", "three numbers" },        { "p03.Hand@1,2,3,4", "left over" },
        { "p03.Left Hand", "left over" },           { "p03.a+b+c+d+e", "at most 4 joints" },
    };
    for ( size_t i = 0; i < sizeof good / sizeof *good; ++i ) {
        tr_point point;
        tr_error error;
        tr_text text = { 0 };
        check_ok( tr_point_parse( &point, good[i], &error ), &error );
        tr_point_print( &point, &text );
        assert_string_equal( text.data, good[i] );
        tr_text_free( &text );
    }
    for ( size_t i = 0; i < sizeof bad / sizeof *bad; ++i ) {
        tr_point point;
        tr_error error;
        assert_false( tr_point_parse( &point, bad[i].text, &error ) );
        if ( strstr( error.message, bad[i].sentence ) == NULL )
            fail_msg( "%s: %s", bad[i].text, error.message );
    }
}

// ------------------------------------------------------------------------------------------- strictness

#define HEAD "{\"version\": 1, \"range\": [0, 9], "
#define CAST HEAD "\"cast\": [{\"id\": \"p01\", \"source\": {\"file\": \"a.bvh\"}"
#define RULE                                                                                                 \
    CAST "}], \"props\": [{\"id\": \"box01\"}], \"environment\": {\"boxes\": [{\"id\": \"wall\"}]}, "        \
         "\"constraints\": [{\"id\": \"c1\", "
#define LAYERS                                                                                               \
    CAST "}], \"props\": [{\"id\": \"box01\"}], \"environment\": {\"boxes\": [{\"id\": \"wall\"}]}, "        \
         "\"layers\": [{\"id\": \"l\", "
#define LAYER LAYERS "\"kind\": \"cage\", \"members\": \"p01\"}], "
#define OTHER "}, {\"id\": \"c2\", \"kind\": \"absolute\", \"a\": \"p01.Hand\"}]}"

static const struct {
    const char *text, *path, *sentence;
} refused[] = {
    { "[]", "", "expected an object" },
    { "{}", "version", "is missing" },
    { "{\"version\": 2, \"new_things\": 1}", "version", "newer than this program's 1" },
    { "{\"version\": 0}", "version", "whole number" },
    { "{\"version\": \"1\"}", "version", "whole number" },
    { "{\"version\": 1, \"rnage\": [0, 9]}", "rnage", "\"range\"" },
    { "{\"version\": 1}", "range", "is missing" },
    { "{\"version\": 1, \"range\": [9, 0]}", "range", "ends before it begins" },
    { "{\"version\": 1, \"range\": [0, 0.5]}", "range", "two whole numbers" },
    { "{\"version\": 1, \"range\": [0]}", "range", "two whole numbers" },
    { "{\"version\": 1, \"range\": [0, 1, 2, 3, 4]}", "range", "two whole numbers" },
    { "{\"version\": 1, \"range\": [0, \"9\"]}", "range", "two whole numbers" },
    { "{\"version\": 1, \"range\": [-600000, 600000]}", "range", "more than 1000000 frames" },
    { "{\"version\": 1, \"range\": [0, 1e300]}", "range", "must lie between" },
    { HEAD "\"fps\": 0}", "fps", "must lie between 0.1 and 1000, not at 0" },
    { HEAD "\"fps\": true}", "fps", "must be a number" },
    { HEAD "\"fps\": null}", "fps", "must be a number" },
    { HEAD "\"cast\": {}}", "cast", "expected a list" },
    { HEAD "\"cast\": [3]}", "cast[0]", "expected an object" },
    { HEAD "\"cast\": [{}]}", "cast[0].id", "is missing" },
    { HEAD "\"cast\": [{\"id\": \"p01\"}]}", "cast[0].source", "is missing" },
    { HEAD "\"cast\": [{\"id\": \"p01\", \"source\": {}}]}", "cast[0].source.file", "is missing" },
    { HEAD "\"cast\": [{\"id\": \"p01\", \"source\": {\"file\": \"\"}}]}", "cast[0].source.file",
      "needs a motion file" },
    { HEAD "\"cast\": [{\"id\": \"p01\", \"source\": {\"fiel\": \"a\"}}]}", "cast[0].source.fiel",
      "\"file\"" },
    { HEAD "\"cast\": [{\"id\": \"P01\", \"source\": {\"file\": \"a\"}}]}", "cast[0].id", "is no id" },
    { HEAD "\"cast\": [{\"id\": \"\", \"source\": {\"file\": \"a\"}}]}", "cast[0].id", "is no id" },
    { HEAD "\"cast\": [{\"id\": \"ground\", \"source\": {\"file\": \"a\"}}]}", "cast[0].id", "the floor" },
    { HEAD "\"cast\": [{\"id\": \"a2345678901234567890123456789012\", \"source\": {\"file\": \"a\"}}]}",
      "cast[0].id", "longer than 31" },
    { HEAD "\"cast\": [{\"id\": \"p01\", \"source\": {\"file\": \"a\\u0007\"}}]}", "cast[0].source.file",
      "control characters" },
    { CAST ", \"target\": {\"scale\": 0}}]}", "cast[0].target.scale", "must lie between 0.01 and 100" },
    { CAST ", \"target\": {\"scale\": -1}}]}", "cast[0].target.scale", "not at -1" },
    { CAST ", \"placement\": {\"start\": 2000000000}}]}", "cast[0].placement.start",
      "must lie between -1000000 and 1000000, not at 2000000000" },
    { CAST ", \"target\": {\"scale\": \"big\"}}]}", "cast[0].target.scale", "must be a number" },
    { CAST ", \"target\": {\"scael\": 1}}]}", "cast[0].target.scael", "\"scale\"" },
    { CAST ", \"target\": {\"limbs\": 1}}]}", "cast[0].target.limbs", "an object such as" },
    { CAST ", \"target\": {\"limbs\": {\"left_arm\": \"1\"}}}]}", "cast[0].target.limbs.left_arm",
      "must be a number" },
    { CAST ", \"target\": {\"limbs\": {\"left_arm\": 0}}}]}", "cast[0].target.limbs",
      "left_arm must lie between" },
    { CAST ", \"target\": {\"girth\": {\"Left Arm\": 1}}}]}", "cast[0].target.girth",
      "is no name of a limb" },
    { CAST ", \"target\": {\"skeleton\": {\"first\": 5, \"last\": 4}}}]}", "cast[0].target.skeleton.last",
      "before the first frame, 5" },
    { CAST ", \"placement\": {\"position\": [0, 0]}}]}", "cast[0].placement.position", "three numbers" },
    { CAST ", \"placement\": {\"position\": [0, 0, 1e9]}}]}", "cast[0].placement.position",
      "must lie between" },
    { CAST ", \"placement\": {\"start\": 1.5}}]}", "cast[0].placement.start", "a whole number" },
    { CAST ", \"color\": \"#ffffff\"}]}", "cast[0].color", "\"colour\"" },
    { CAST ", \"colour\": \"red\"}]}", "cast[0].colour", "a colour such as" },
    { CAST ", \"colour\": \"#12345g\"}]}", "cast[0].colour", "a colour such as" },
    { CAST ", \"automatic\": {\"soles\": 1}}]}", "cast[0].automatic.soles", "true or false" },
    { CAST "}, {\"id\": \"p01\", \"source\": {\"file\": \"b\"}}]}", "cast[1].id",
      "\"p01\" is already the id of cast[0]" },
    { CAST "}], \"props\": [{\"id\": \"p01\"}]}", "props[0].id", "already the id of cast[0]" },
    { HEAD "\"props\": [{\"id\": \"b\", \"shape\": \"ball\"}]}", "props[0].shape",
      "is no shape of prop; try \"box\"" },
    { HEAD "\"props\": [{\"id\": \"b\", \"shape\": \"sphre\"}]}", "props[0].shape", "\"sphere\"?" },
    { HEAD "\"props\": [{\"id\": \"b\", \"shape\": \"sphere\", \"size\": [1, 1, 2]}]}", "props[0].size",
      "three equal numbers" },
    { HEAD "\"props\": [{\"id\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]]}]}", "props[0].points",
      "does not belong to a prop of shape box" },
    { HEAD "\"props\": [{\"id\": \"b\", \"shape\": \"polyline\", \"points\": [[0, 0, 0]]}]}",
      "props[0].points", "two points" },
    { HEAD "\"props\": [{\"id\": \"b\", \"shape\": \"polyline\", \"points\": [[0, 0, 0], [1, 2]]}]}",
      "props[0].points[1]", "three numbers" },
    { HEAD "\"props\": [{\"id\": \"b\", \"shape\": \"polyline\", \"points\": 3}]}", "props[0].points",
      "expected a list" },
    { HEAD "\"environment\": {\"boxes\": [{\"id\": \"w\", \"shape\": \"mesh\"}]}}",
      "environment.boxes[0].mesh.file", "needs a file" },
    { HEAD "\"environment\": {\"boxes\": [{\"id\": \"w\", \"shape\": \"mesh\", \"size\": [1, 1, 1]}]}}",
      "environment.boxes[0].size", "of shape mesh" },
    { HEAD "\"props\": [{\"id\": \"b\", \"size\": [0, 1, 1]}]}", "props[0].size", "must lie between" },
    { HEAD "\"props\": [{\"id\": \"b\", \"track\": {\"up\": \"x\"}}]}", "props[0].track.up",
      "\"y\" or \"z\"" },
    { HEAD "\"props\": [{\"id\": \"b\", \"track\": {\"first\": 3, \"last\": 0}}]}", "props[0].track.last",
      "before the first frame" },
    { HEAD "\"environment\": []}", "environment", "expected an object" },
    { HEAD "\"environment\": {\"boxs\": []}}", "environment.boxs", "\"boxes\"" },
    { HEAD "\"environment\": {\"boxes\": [{\"id\": \"w\", \"heading\": \"n\"}]}}",
      "environment.boxes[0].heading", "must be a number" },
    { HEAD "\"layers\": [{\"id\": \"l\"}]}", "layers[0].kind", "is missing" },
    { LAYERS "\"kind\": \"cgae\", \"members\": \"p01\"}]}", "layers[0].kind",
      "is no kind of layer; did you mean \"cage\"?" },
    { LAYERS "\"kind\": \"cage\"}]}", "layers[0].members", "is missing" },
    { LAYERS "\"kind\": \"cage\", \"members\": \" \"}]}", "layers[0].members", "needs members" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"p02\"}]}", "layers[0].members", "did you mean \"p01\"?" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"p01,\"}]}", "layers[0].members", "last comma" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"p01 box01\"}]}", "layers[0].members", "comma is missing" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"p01.\"}]}", "layers[0].members", "missing behind" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"box01.lid\"}]}", "layers[0].members", "no limbs" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"wall\"}]}", "layers[0].members", "cast member or prop" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"p01\", \"ripple\": true}]}", "layers[0].ripple",
      "does not belong to a layer of kind cage" },
    { LAYERS "\"kind\": \"retime\", \"members\": \"p01\", \"turn\": true}]}", "layers[0].turn",
      "kind retime" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"p01\", \"range\": [4, 3]}]}", "layers[0].range",
      "ends before" },
    { LAYERS "\"kind\": \"cage\", \"members\": \"p01\", \"padding\": 0}]}", "layers[0].padding", "between" },
    { HEAD "\"clips\": [{\"id\": \"k\", \"source\": {\"file\": \"a.bvh\"}}]}", "clips[0].cast",
      "is missing" },
    { HEAD "\"clips\": [{\"id\": \"k\", \"cast\": \"p01\"}]}", "clips[0].source", "is missing" },
    { HEAD "\"clips\": [{\"id\": \"k\", \"cast\": \"p1\", \"source\": {\"file\": \"a.bvh\"}}]}",
      "clips[0].cast", "there is no cast member \"p1\"" },
    { LAYER "\"sections\": [{\"id\": \"s\", \"layer\": \"ll\", \"frame\": 3}]}", "sections[0].layer",
      "there is no layer \"ll\"; did you mean \"l\"?" },
    { LAYER "\"sections\": [{\"id\": \"s\", \"layer\": \"l\", \"frame\": 3, \"delay\": 2}]}",
      "sections[0].delay", "stays in time" },
    { LAYER "\"sections\": [{\"id\": \"s\", \"layer\": \"l\"}]}", "sections[0].frame", "is missing" },
    { LAYER "\"handles\": [{\"id\": \"h\", \"layer\": \"l\", \"frame\": 3, \"point\": \"box01\"}]}",
      "handles[0].point", "\"box01\" is no member of layer l" },
    { LAYER "\"handles\": [{\"id\": \"h\", \"layer\": \"l\", \"frame\": 3, \"point\": \"p01\"}]}",
      "handles[0].point", "a joint is needed" },
    { LAYER "\"handles\": [{\"id\": \"h\", \"layer\": \"l\", \"frame\": 3, \"point\": \"p01.A\", "
            "\"vertex\": 2}]}",
      "handles[0].vertex", "not both" },
    { LAYER "\"handles\": [{\"id\": \"h\", \"layer\": \"l\", \"frame\": 3, \"vertex\": 2, \"turn\": [0, 9, "
            "0]}]}",
      "handles[0].turn", "only a whole section" },
    { LAYERS "\"kind\": \"retime\", \"members\": \"p01\"}], \"handles\": [{\"id\": \"h\", \"layer\": \"l\", "
             "\"frame\": 3}]}",
      "handles[0].layer", "of kind cage" },
    { LAYER "\"handles\": [{\"id\": \"h\", \"layer\": \"l\", \"frame\": 3}, {\"id\": \"h\", \"layer\": "
            "\"l\", \"frame\": 3}]}",
      "handles[1].id", "already the id of handles[0]" },
    { RULE "\"a\": \"p01.Hand\"" OTHER, "constraints[0].kind", "is missing" },
    { RULE "\"kind\": \"relativ\", \"a\": \"p01.Hand\"" OTHER, "constraints[0].kind", "\"relative\"" },
    { RULE "\"kind\": \"absolute\"" OTHER, "constraints[0].a", "is missing" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p02.Hand\"" OTHER, "constraints[0].a",
      "there is no cast member or prop \"p02\"; did you mean \"p01\"?" },
    { RULE "\"kind\": \"absolute\", \"a\": \"wall\"" OTHER, "constraints[0].a", "no cast member or prop" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01\"" OTHER, "constraints[0].a", "a joint is needed" },
    { RULE "\"kind\": \"absolute\", \"a\": \"box01.Lid\"" OTHER, "constraints[0].a", "has no joints" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A*0.5+B*0.6\"" OTHER, "constraints[0].a", "sum to 1.1" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"b\": \"box01\"" OTHER, "constraints[0].b",
      "does not belong to a constraint of kind absolute" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"range\": [5, 4]" OTHER, "constraints[0].range",
      "ends before it begins" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"ease\": [-1, 0]" OTHER, "constraints[0].ease",
      "must lie between" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"keys\": [[3, 0, 0, 0], [3, 1, 0, 0]]" OTHER,
      "constraints[0].keys", "order of their frames" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"keys\": [[0, 0, 0, 0], [1e-310, 1, 0, 0]]" OTHER,
      "constraints[0].keys", "thousandth" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"keys\": [[3, 0, 0, 0]], \"target\": [0, 1, 0]" OTHER,
      "constraints[0].keys", "stand alone" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"keys\": [[3, 0, 0]]" OTHER, "constraints[0].keys[0]",
      "four numbers" },
    { RULE "\"kind\": \"contact\", \"a\": \"p01.A\", \"keys\": [[3, 0, 0, 0]]" OTHER, "constraints[0].keys",
      "kind contact" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"axes\": \"xx\"" OTHER, "constraints[0].axes",
      "letters x, y, z" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"axes\": \"\"" OTHER, "constraints[0].axes",
      "letters x, y, z" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\", \"target\": [0, 1, 0], \"direction\": true" OTHER,
      "constraints[0].target", "horizontal" },
    { RULE "\"kind\": \"contact\", \"a\": \"p01.A\", \"surface\": \"wal\"" OTHER, "constraints[0].surface",
      "did you mean \"wall\"?" },
    { RULE "\"kind\": \"contact\", \"a\": \"p01.A\", \"surface\": \"groud\"" OTHER, "constraints[0].surface",
      "did you mean \"ground\"?" },
    { RULE "\"kind\": \"contact\", \"a\": \"p01.A\", \"surface\": \"p01\"" OTHER, "constraints[0].surface",
      "there is no prop or obstacle \"p01\"" },
    { RULE "\"kind\": \"contact\", \"a\": \"box01\", \"surface\": \"box01\"" OTHER, "constraints[0].surface",
      "on itself" },
    { RULE "\"kind\": \"relative\", \"a\": \"p01.A\", \"b\": \"p01.A\"" OTHER, "constraints[0].b",
      "same bone or prop as a" },
    { RULE "\"kind\": \"length\", \"a\": \"box01\", \"b\": \"box01@0.1,0,0\"" OTHER, "constraints[0].b",
      "same bone or prop as a" },
    { RULE "\"kind\": \"orientation\", \"a\": \"p01.A*0.5+B*0.5\"" OTHER, "constraints[0].a", "one joint" },
    { RULE "\"kind\": \"orientation\", \"a\": \"p01.A\", \"rotation\": [0, 0, 0, 0]" OTHER,
      "constraints[0].rotation", "no rotation" },
    { RULE "\"kind\": \"orientation\", \"a\": \"p01.A\", \"target\": [0, 0, 0]" OTHER,
      "constraints[0].target", "kind orientation" },
    { RULE "\"kind\": \"length\", \"a\": \"box01\"" OTHER, "constraints[0].b", "second point" },
    { RULE "\"kind\": \"length\", \"a\": \"p01.A\", \"length\": -1" OTHER, "constraints[0].length",
      "must lie between" },
    { RULE "\"kind\": \"centre_of_mass\", \"a\": \"p01.Hips\"" OTHER, "constraints[0].a", "its id alone" },
    { RULE "\"kind\": \"centre_of_mass\", \"a\": \"box01\"" OTHER, "constraints[0].a", "no cast member" },
    { RULE "\"kind\": \"relative\", \"a\": \"p01.Hand\"" OTHER, "constraints[0].b", "a point is needed" },
    { RULE "\"kind\": \"absolute\", \"a\": \"p01.A\"}, {\"id\": \"c1\", \"kind\": \"absolute\", \"a\": "
           "\"p01.A\"}]}",
      "constraints[1].id", "already the id of constraints[0]" },
};

static void meaning_is_checked( void **state )
{
    (void)state;
    for ( size_t i = 0; i < sizeof refused / sizeof *refused; ++i ) {
        tr_scene scene;
        tr_error error = { 0 };
        if ( tr_scene_parse( &scene, refused[i].text, strlen( refused[i].text ), "bad.json", &error ) )
            fail_msg( "accepted: %s", refused[i].text );
        if ( strcmp( error.path, refused[i].path ) != 0 ||
             strstr( error.message, refused[i].sentence ) == NULL || strcmp( error.file, "bad.json" ) != 0 )
            fail_msg( "%s\n gave %s: %s: %s", refused[i].text, error.file, error.path, error.message );
        assert_int_equal( scene.cast_count, 0 );
    }
}

static void syntax_errors_have_line_and_column( void **state )
{
    (void)state;
    static const struct {
        const char *text;
        int line;
    } bad[] = {
        { "", 1 },
        { "{", 1 },
        { "{\n  \"version\": 1,\n  \"fps\": 3o\n}", 3 },
        { "{\"version\": 1,\n\"version\": 1}", 2 }, // a key twice
        { "{\"version\": 1, \"range\": [0, 1e999]}", 1 },
        { "{\"version\": 1}\n\nmore", 3 },
        { "{\"a\": \"\xff\"}", 1 },
        { "{\"fps\": NaN}", 1 },
    };
    for ( size_t i = 0; i < sizeof bad / sizeof *bad; ++i ) {
        tr_scene scene;
        tr_error error = { 0 };
        assert_false( tr_scene_parse( &scene, bad[i].text, strlen( bad[i].text ), "bad.json", &error ) );
        assert_int_equal( error.line, bad[i].line );
        assert_true( error.column > 0 );
        assert_string_equal( error.file, "bad.json" );
    }
    tr_scene scene;
    tr_error error = { 0 };
    assert_false( tr_scene_load( &scene, "/nowhere/scene.json", &error ) );
    assert_string_equal( error.file, "/nowhere/scene.json" );
}

// Scenes made by code go through the same check before they are saved.
static void what_code_makes_is_checked( void **state )
{
    (void)state;
    tr_error error;
    tr_scene scene = parse( full_scene );
    scene.cast[1].target.scale = NAN;
    assert_false( tr_scene_save( &scene, "/nowhere/scene.json", &error ) );
    assert_string_equal( error.path, "cast[1].target.scale" );
    scene.cast[1].target.scale = 1;
    scene.constraints[0].a.offset.y = INFINITY;
    assert_false( tr_scene_check( &scene, NULL, &error ) );
    assert_string_equal( error.path, "constraints[0].a" );
    scene.constraints[0].a.offset.y = 0;
    scene.constraints[7].rotation.w = 2;
    scene.constraints[7].given = true;
    assert_false( tr_scene_check( &scene, NULL, &error ) );
    assert_string_equal( error.path, "constraints[7].rotation" );
    scene.constraints[7].given = false;
    scene.constraints[3].flat = true;
    assert_false( tr_scene_check( &scene, NULL, &error ) );
    assert_string_equal( error.path, "constraints[3].flat" );
    scene.constraints[3].flat = false;
    strcpy( scene.cast[0].mapping, "\xc0\x80" ); // overlong NUL
    assert_false( tr_scene_check( &scene, NULL, &error ) );
    assert_string_equal( error.path, "cast[0].mapping" );
    tr_scene_free( &scene );
}

// --------------------------------------------------------------------------------------------- failures

// jansson asserts when the buffer for its tokens cannot grow in the middle of a number; the long path at the
// start of the scene lets it grow in a text.
static void memory_may_run_out( void **state )
{
    (void)state;
    bool done = false;
    for ( long n = 1; !done; ++n ) {
        tr_scene scene, copy;
        tr_text text = { 0 };
        tr_error error;
        tr_memory_fail_from( n );
        done = tr_scene_parse( &scene, full_scene, strlen( full_scene ), "full.json", &error );
        if ( done ) {
            done = tr_scene_copy( &copy, &scene, &error ) && tr_scene_print( &scene, &text, &error );
            tr_scene_free( &copy );
            tr_scene_free( &scene );
        }
        tr_memory_fail_from( 0 );
        tr_text_free( &text );
        assert_int_equal( tr_memory_live(), 0 );
        if ( !done )
            assert_true( error.message[0] != 0 );
        assert_true( n < 100000 );
    }
}

// A child saves two scenes in turn until it is killed; the file is always one of them.
static void saving_survives_a_kill( void **state )
{
    (void)state;
    char folder[FOLDER_SIZE], path[64];
    new_folder( folder );
    snprintf( path, sizeof path, "%s/scene.json", folder );
    tr_error error;
    tr_scene scenes[2] = { parse( full_scene ), parse( full_scene ) }, loaded;
    for ( int i = 0; i < 500; ++i ) {
        tr_constraint more = scenes[1].constraints[i % 15];
        snprintf( more.id, sizeof more.id, "more_%d", i );
        assert_non_null( tr_scene_add_constraint( &scenes[1], &more ) );
    }
    check_ok( tr_scene_save( &scenes[0], path, &error ), &error );
    for ( unsigned round = 0, delay = 1; round < 25; ++round ) {
        delay = delay * 1103515245u + 12345u;
        pid_t child = fork();
        assert_true( child >= 0 );
        if ( child == 0 )
            for ( int i = 0;; ++i )
                if ( !tr_scene_save( &scenes[i % 2], path, &error ) )
                    _exit( 1 );
        usleep( 500 + delay / 65536 % 20000 );
        kill( child, SIGKILL );
        int status;
        assert_int_equal( waitpid( child, &status, 0 ), child );
        assert_true( WIFSIGNALED( status ) ); // it had not failed before
        check_ok( tr_scene_load( &loaded, path, &error ), &error );
        assert_true( tr_scene_equal( &loaded, &scenes[0] ) || tr_scene_equal( &loaded, &scenes[1] ) );
        tr_scene_free( &loaded );
    }
    tr_scene_free( &scenes[0] );
    tr_scene_free( &scenes[1] );
    remove_folder( folder );
}

// -------------------------------------------------------------------------------------------- the manual

static void read_manual( char **text )
{
    size_t size;
    tr_error error;
    check_ok( tr_file_read( SOURCE_DIR "/docs/scene-format.md", text, &size, &error ), &error );
}

static void example_of_the_manual_loads( void **state )
{
    (void)state;
    char *manual;
    read_manual( &manual );
    char *begin = strstr( manual, "```json\n" );
    assert_non_null( begin );
    begin += strlen( "```json\n" );
    char *end = strstr( begin, "```" );
    assert_non_null( end );
    *end = 0;
    tr_scene scene = parse( begin );
    assert_true( scene.cast_count >= 2 && scene.prop_count >= 1 && scene.obstacle_count >= 1 );
    tr_text text = print( &scene );
    assert_string_equal( text.data, begin ); // it is also what saving writes
    tr_text_free( &text );
    tr_scene_free( &scene );
    tr_free( manual );
}

static void check_explained( const char *list, const char *field, void *manual )
{
    char word[80];
    snprintf( word, sizeof word, "`%s`", field );
    if ( strstr( manual, word ) == NULL )
        fail_msg( "docs/scene-format.md does not explain %s of %s", word, list );
}

static void manual_names_everything( void **state )
{
    (void)state;
    char *manual, word[80];
    read_manual( &manual );
    for_every_field( check_explained, manual );
    int count;
    const tr_op_info *ops = tr_op_table( &count );
    for ( int i = 0; i < count; ++i ) {
        snprintf( word, sizeof word, "`%s", ops[i].name );
        if ( strstr( manual, word ) == NULL )
            fail_msg( "docs/scene-format.md does not explain the op %s", ops[i].name );
    }
    for ( int i = 0; i < TR_CONSTRAINT_KINDS; ++i ) {
        snprintf( word, sizeof word, "`%s`", tr_constraint_kind_names[i] );
        assert_non_null( strstr( manual, word ) );
    }
    tr_free( manual );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( lists_and_library ),          TEST( every_field_is_read ),
        TEST( every_field_is_printed ),     TEST( print_and_read_are_inverse ),
        TEST( defaults_are_left_out ),      TEST( points_as_text ),
        TEST( meaning_is_checked ),         TEST( syntax_errors_have_line_and_column ),
        TEST( what_code_makes_is_checked ), TEST( memory_may_run_out ),
        TEST( saving_survives_a_kill ),     TEST( example_of_the_manual_loads ),
        TEST( manual_names_everything ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
