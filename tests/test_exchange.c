// Files for other programs: what is written is what was solved.
#include "check.h"
#include "folder.h"

#include "scenes/scenes.h"
#include "troupe.h"

// A scene, solved and composed.
typedef struct solved {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
    tr_exchange x;
} solved;

static void solve( solved *s, const char *name, const char *method, const tr_compose_def *def )
{
    tr_error error = { 0 };
    *s = ( solved ){ 0 };
    check_ok( tr_scene_build( tr_scene_entry_find( name ), 0, &s->scene, &s->library, &error ), &error );
    check_ok( tr_stage_build( &s->stage, &s->scene, NULL, &s->library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &s->result, &s->stage, tr_method_find( method ), &error ), &error );
    check_ok( tr_compose( &s->x, &s->stage, &s->result, def, NULL, &error ), &error );
}

static void release( solved *s )
{
    tr_exchange_free( &s->x );
    tr_result_free( &s->result );
    tr_stage_free( &s->stage );
    tr_library_free( &s->library );
    tr_scene_free( &s->scene );
}

static const tr_compose_def plain = { .bodies = true, .things = true };

// ------------------------------------------------------------------------------------------------- facets

// Every edge has two sides, normals are unit vectors that look out of the middle.
static void check_closed( const tr_facets *facets, vec3 middle )
{
    for ( int i = 0; i < facets->point_count; ++i )
        check_near( v3_length( facets->normals[i] ), 1, 1e-9 );
    double volume = 0;
    vec3 sum = v3_zero; // sum of the areas: 0 for a closed surface
    for ( int t = 0; t < facets->triangle_count; ++t ) {
        const int *c = facets->triangles[t];
        vec3 a = v3_sub( facets->points[c[0]], middle ), b = v3_sub( facets->points[c[1]], middle ),
             d = v3_sub( facets->points[c[2]], middle );
        vec3 area = v3_cross( v3_sub( b, a ), v3_sub( d, a ) );
        sum = v3_add( sum, area );
        volume += v3_dot( a, v3_cross( b, d ) ) / 6;
        vec3 normal = v3_add( facets->normals[c[0]], v3_add( facets->normals[c[1]], facets->normals[c[2]] ) );
        assert_true( v3_dot( area, normal ) >= 0 );
    }
    check_v3( sum, v3_zero, 1e-9 );
    assert_true( volume > 0 );
}

static void shapes_have_facets( void **state )
{
    (void)state;
    tr_facets f = { 0 };
    assert_true( tr_facets_add_capsule( &f, v3( 1, 2, 3 ), v3( 1, 3, 4 ), 0.2, 7 ) );
    assert_int_equal( f.tags[f.point_count - 1], 7 );
    check_closed( &f, v3( 1, 2.5, 3.5 ) );
    for ( int i = 0; i < f.point_count; ++i )
        check_near( tr_point_segment_distance( f.points[i], v3( 1, 2, 3 ), v3( 1, 3, 4 ), NULL ), 0.2, 1e-9 );
    tr_facets_free( &f );
    tr_shape box = tr_shape_box( v3( 1, 2, 3 ) ), ball = tr_shape_sphere( 0.5 );
    assert_true( tr_facets_add_shape( &f, &box, 0 ) );
    assert_int_equal( f.triangle_count, 12 );
    check_closed( &f, v3_zero );
    tr_facets_free( &f );
    assert_true( tr_facets_add_shape( &f, &ball, 0 ) );
    check_closed( &f, v3_zero );
    tr_facets_free( &f );
    vec3 corners[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 } };
    tr_shape rail = tr_shape_polyline( corners, 3, 0.1 );
    assert_true( tr_facets_add_shape( &f, &rail, 0 ) );
    int one = f.triangle_count / 2;
    tr_facets_free( &f );
    for ( long n = 1; n < 6; ++n ) { // nothing is added where memory is short
        tr_memory_fail_from( n );
        bool ok = tr_facets_add_shape( &f, &rail, 0 );
        tr_memory_fail_from( 0 );
        assert_int_equal( f.triangle_count, ok ? 2 * one : 0 );
        tr_facets_free( &f );
    }
}

// ---------------------------------------------------------------------------------------------- read back

static void check_places( const tr_motion *read, const tr_result *result, int actor )
{
    const tr_motion *motion = &result->motions[actor];
    tr_world world = { 0 };
    tr_error error = { 0 };
    check_ok( tr_motion_check( read, &error ), &error );
    check_ok( tr_world_build( &world, read, &error ), &error );
    assert_int_equal( world.frame_count, motion->clip.frame_count );
    for ( int j = 0; j < motion->clip.joint_count; ++j ) {
        int twin = tr_skeleton_find( &read->skeleton, motion->skeleton.joints[j].name );
        assert_true( twin >= 0 );
        for ( int f = 0; f < world.frame_count; ++f )
            check_v3( tr_world_pose( &world, f ).positions[twin],
                      tr_world_pose( &result->worlds[actor], f ).positions[j], 1e-4 );
    }
    tr_world_free( &world );
}

static void glb_is_read_back( void **state )
{
    (void)state;
    if ( !tr_import_can_read( ".glb" ) ) {
        print_message( "skipped: this build cannot read glTF (scripts/headers.sh cgltf)\n" );
        skip();
    }
    static const char *const scenes[] = { "high_five", "mixed_cast", "spider", "sword_pair" };
    for ( int i = 0; i < 8; ++i ) {
        solved s;
        tr_text text = { 0 };
        tr_import import;
        tr_log log = { 0 };
        tr_error error = { 0 };
        tr_compose_def def = { .bodies = i % 2 == 0, .things = i % 2 == 0 };
        tr_exchange_def each = { .each = i >= 4 };
        solve( &s, scenes[i % 4], "copy-ik", &def );
        check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, &each, &text, &error ), &error );
        check_ok( tr_import_parse( &import, text.data, text.size, "out.glb", NULL, &log, &error ), &error );
        assert_int_equal( log.count, 0 );
        assert_int_equal( import.skeleton_count, s.stage.actor_count );
        for ( int a = 0; a < s.stage.actor_count; ++a ) {
            tr_motion motion;
            tr_import_def choice = { .skeleton = s.scene.cast[a].id, .fps = s.stage.fps };
            check_ok( tr_import_motion( &motion, &import, &choice, NULL, &error ), &error );
            assert_int_equal( motion.skeleton.joint_count, s.stage.actors[a].target.joint_count );
            check_places( &motion, &s.result, a );
            tr_motion_free( &motion );
        }
        tr_import_free( &import );
        tr_text_free( &text );
        tr_log_free( &log );
        release( &s );
    }
}

static json_t *extras_of( const tr_text *glb )
{
    uint32_t size;
    json_t *json;
    tr_error error = { 0 };
    memcpy( &size, glb->data + 12, sizeof size );
    check_ok( tr_json_parse( &json, glb->data + 20, size, "extras", &error ), &error );
    json_t *scene = json_array_get( json_object_get( json, "scenes" ), 0 );
    json_t *own = json_object_get( json_object_get( scene, "extras" ), "troupe" );
    json_incref( own );
    json_decref( json );
    return own;
}

static void contacts_and_figures_are_there( void **state )
{
    (void)state;
    solved s;
    tr_text text = { 0 };
    tr_error error = { 0 };
    tr_compose_def def = tr_default_compose_def();
    solve( &s, "high_five", "posegraph", &def );
    check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    json_t *own = extras_of( &text );
    json_t *contacts = json_object_get( own, "contacts" ), *first = json_array_get( contacts, 0 );
    check_near( json_number_value( json_object_get( own, "fps" ) ), 30, 0 );
    assert_true( json_array_size( contacts ) > 4 );
    assert_string_equal( json_string_value( json_object_get( first, "surface" ) ), "ground" );
    assert_non_null( json_string_value( json_object_get( first, "joint" ) ) );
    json_t *metrics = json_object_get( json_object_get( own, "figures" ), "metrics" );
    assert_true( json_object_size( metrics ) > 10 );
    json_decref( own );
    // Each contact rests on the ground while it lasts.
    for ( int i = 0; i < s.x.contact_count; ++i ) {
        const tr_exchange_contact *c = &s.x.contacts[i];
        assert_in_range( c->first, 0, c->last );
        assert_in_range( c->last, c->first, s.x.frame_count - 1 );
    }
    tr_text_free( &text );
    release( &s );
}

static void one_of_many( void **state )
{
    (void)state;
    solved s;
    tr_compose_def def = { .only = "p02" };
    solve( &s, "sword_pair", "copy", &def );
    assert_int_equal( s.x.body_count, 1 );
    assert_string_equal( s.x.bodies[0].name, "p02" );
    assert_int_equal( s.x.thing_count, 0 );
    assert_int_equal( s.x.bodies[0].facets.point_count, 0 );
    for ( int i = 0; i < s.x.contact_count; ++i )
        assert_int_equal( s.x.contacts[i].body, 0 );
    release( &s );
}

// -------------------------------------------------------------------------------------------------- looks

static void add_u32( tr_text *out, size_t value )
{
    uint32_t number = (uint32_t)value;
    tr_text_append( out, (const char *)&number, sizeof number );
}

// A GLB file with more at the end of its JSON.
static void write_with( const char *path, const tr_text *glb, const char *more )
{
    uint32_t size;
    tr_error error = { 0 };
    memcpy( &size, glb->data + 12, sizeof size );
    size_t end = 20 + size, bare = end;
    while ( glb->data[bare - 1] != '}' )
        --bare;
    tr_text json = { 0 }, out = { 0 };
    tr_text_append( &json, glb->data + 20, bare - 21 );
    tr_text_add( &json, ",%s}", more );
    while ( json.size % 4 != 0 )
        tr_text_append( &json, " ", 1 );
    tr_text_append( &out, glb->data, 8 );
    add_u32( &out, glb->size - size + json.size );
    add_u32( &out, json.size );
    tr_text_append( &out, "JSON", 4 );
    tr_text_append( &out, json.data, json.size );
    tr_text_append( &out, glb->data + end, glb->size - end );
    check_ok( tr_file_write( path, out.data, out.size, &error ), &error );
    tr_text_free( &json );
    tr_text_free( &out );
}

static const char wardrobe[] =
    "\"textures\":[{\"source\":0}],\"images\":[{\"uri\":\"data:image/png;base64,AAAA\"}],"
    "\"extensionsUsed\":[\"VRM\"],\"extensions\":{\"VRM\":{\"humanoid\":{\"humanBones\":[{\"bone\":"
    "\"hips\",\"node\":1}]}}}";

static json_t *json_of( const tr_text *glb )
{
    uint32_t size;
    json_t *json;
    tr_error error = { 0 };
    memcpy( &size, glb->data + 12, sizeof size );
    check_ok( tr_json_parse( &json, glb->data + 20, size, "look", &error ), &error );
    return json;
}

static const char *string_at( const json_t *json, const char *list, size_t i, const char *key )
{
    return json_string_value( json_object_get( json_array_get( json_object_get( json, list ), i ), key ) );
}

static size_t count_in( const json_t *json, const char *list )
{
    return json_array_size( json_object_get( json, list ) );
}

// Two GLB files with the same keys, up to the digits of BVH files.
static void check_same_numbers( const tr_text *a, const tr_text *b )
{
    uint32_t json_a, json_b;
    memcpy( &json_a, a->data + 12, sizeof json_a );
    memcpy( &json_b, b->data + 12, sizeof json_b );
    const char *p = a->data + 28 + json_a, *q = b->data + 28 + json_b;
    size_t size = a->size - 28 - json_a;
    int apart = 0;
    assert_int_equal( b->size - 28 - json_b, size );
    for ( size_t i = 0; i < size; i += 4 ) { // mesh data has integers, which are the same
        float x, y;
        memcpy( &x, p + i, 4 );
        memcpy( &y, q + i, 4 );
        apart += memcmp( p + i, q + i, 4 ) != 0 && !( fabs( (double)x - (double)y ) < 1e-4 );
    }
    assert_int_equal( apart, 0 );
}

// Pictures in the folder of the document go into the GLB, by what their bytes say they are. No other file
// does.
static void pictures_beside_are_passed_on( void **state )
{
    (void)state;
    static const char png[] = "\x89PNG\r\n\x1a\n.........";
    static const char pictures[] = "\"images\":[{\"uri\":\"a%20skin.tex\"},{\"uri\":\"../"
                                   "outside.png\"},{\"uri\":\"%2e%2e/outside.png\"},"
                                   "{\"uri\":\"notes.png\"},{\"uri\":\"missing.png\"}]";
    solved s;
    char folder[128], path[160], file[200];
    tr_text text = { 0 };
    tr_error error = { 0 };
    if ( !tr_import_can_read( ".glb" ) )
        skip();
    check_ok( tr_folder_make( in_folder( folder, "below" ), &error ), &error );
    check_ok( tr_file_write( in_folder( file, "outside.png" ), png, sizeof png, &error ), &error );
    snprintf( file, sizeof file, "%s/a skin.tex", folder );
    check_ok( tr_file_write( file, png, sizeof png, &error ), &error );
    snprintf( file, sizeof file, "%s/notes.png", folder );
    check_ok( tr_file_write( file, "secrets", 7, &error ), &error );
    snprintf( path, sizeof path, "%s/pair.glb", folder );
    solve( &s, "high_five", "copy", &plain );
    check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    write_with( path, &text, pictures );
    tr_text_free( &text );
    release( &s );

    s = ( solved ){ .scene = tr_default_scene() };
    s.scene.last = 5;
    tr_cast cast = tr_default_cast( "one" );
    snprintf( cast.source.file, sizeof cast.source.file, "%s", path );
    assert_non_null( tr_scene_add_cast( &s.scene, &cast ) );
    check_ok( tr_stage_build( &s.stage, &s.scene, NULL, &s.library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &s.result, &s.stage, tr_method_find( "copy" ), &error ), &error );
    tr_compose_def def = { .bodies = true, .looks = true };
    check_ok( tr_compose( &s.x, &s.stage, &s.result, &def, NULL, &error ), &error );
    check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    json_t *json = json_of( &text );
    assert_int_equal( count_in( json, "images" ), 5 );
    assert_null( string_at( json, "images", 0, "uri" ) );
    assert_string_equal( string_at( json, "images", 0, "mimeType" ), "image/png" );
    for ( size_t i = 1; i < 5; ++i ) {
        assert_non_null( string_at( json, "images", i, "uri" ) );
        assert_null( string_at( json, "images", i, "mimeType" ) );
    }
    json_decref( json );
    tr_text_free( &text );
    release( &s );
}

// One character of the file in twice its size, with the mesh of the file.
static void looks_are_passed_on( void **state )
{
    (void)state;
    solved s;
    char path[128];
    tr_text text = { 0 }, again = { 0 };
    tr_error error = { 0 };
    tr_log log = { 0 };
    if ( !tr_import_can_read( ".glb" ) )
        skip();
    solve( &s, "high_five", "copy", &plain );
    check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    write_with( in_folder( path, "pair.glb" ), &text, wardrobe );
    tr_text_free( &text );
    release( &s );

    s = ( solved ){ .scene = tr_default_scene() };
    s.scene.last = 60;
    for ( int i = 0; i < 2; ++i ) {
        tr_cast cast = tr_default_cast( i == 0 ? "large" : "same" );
        snprintf( cast.source.file, sizeof cast.source.file, "%s", path );
        snprintf( cast.source.skeleton, sizeof cast.source.skeleton, "p02" );
        cast.target.scale = i == 0 ? 2 : 1;
        assert_non_null( tr_scene_add_cast( &s.scene, &cast ) );
    }
    check_ok( tr_stage_build( &s.stage, &s.scene, NULL, &s.library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &s.result, &s.stage, tr_method_find( "copy" ), &error ), &error );
    tr_compose_def def = { .bodies = true, .looks = true };
    check_ok( tr_compose( &s.x, &s.stage, &s.result, &def, &log, &error ), &error );
    assert_int_equal( log.count, 0 );
    assert_non_null( s.x.bodies[0].look );
    check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    json_t *json = json_of( &text );
    assert_int_equal( count_in( json, "images" ), 1 ); // what both share is there once
    assert_int_equal( count_in( json, "meshes" ), 2 );
    assert_int_equal( count_in( json, "skins" ), 4 );
    assert_string_equal( string_at( json, "images", 0, "uri" ), "data:image/png;base64,AAAA" );
    assert_string_equal( string_at( json, "materials", 1, "name" ), "p02" );
    assert_string_equal( json_string_value( json_array_get( json_object_get( json, "extensionsUsed" ), 0 ) ),
                         "VRM" );
    assert_non_null( json_object_get( json_object_get( json, "extensions" ), "VRM" ) );
    int tops = 0; // a node of its name above each character
    for ( size_t n = 0; n < count_in( json, "nodes" ); ++n ) {
        const char *name = string_at( json, "nodes", n, "name" );
        tops += name != NULL && ( strcmp( name, "large" ) == 0 || strcmp( name, "same" ) == 0 );
    }
    assert_int_equal( tops, 2 );
    json_decref( json );

    // Joints are where they were solved, and what hangs on them is as large.
    tr_import import;
    check_ok( tr_import_parse( &import, text.data, text.size, "out.glb", NULL, &log, &error ), &error );
    assert_int_equal( log.count, 0 );
    for ( int a = 0; a < 2; ++a ) {
        tr_motion motion;
        char number[8];
        int wanted = -1;
        for ( int k = 0, found = 0; k < import.skeleton_count; ++k )
            if ( strstr( import.skeletons[k].name, "p02" ) != NULL && found++ == a )
                wanted = k;
        assert_true( wanted >= 0 );
        snprintf( number, sizeof number, "%d", wanted + 1 );
        tr_import_def choice = { .skeleton = number, .fps = s.stage.fps };
        check_ok( tr_import_motion( &motion, &import, &choice, NULL, &error ), &error );
        check_places( &motion, &s.result, a );
        tr_motion_free( &motion );
    }
    tr_import_free( &import );

    // A folder of results gives the same file: it says where the meshes are.
    solved back = { 0 };
    char folder[128], file[128];
    check_ok( tr_result_save( &s.stage, &s.result, "copy", in_folder( folder, "worn" ), &error ), &error );
    check_ok( tr_scene_load( &back.scene, in_folder( file, "worn/scene.json" ), &error ), &error );
    check_ok( tr_stage_build( &back.stage, &back.scene, file, &back.library, NULL, &error ), &error );
    check_ok( tr_result_load( &back.result, &back.stage, folder, &error ), &error );
    def.file = file;
    check_ok( tr_compose( &back.x, &back.stage, &back.result, &def, &log, &error ), &error );
    assert_int_equal( log.count, 0 );
    assert_true( back.x.bodies[0].look != NULL && back.x.bodies[1].look == back.x.bodies[0].look );
    check_ok( tr_exchange_print( &back.x, TR_EXCHANGE_GLB, NULL, &again, &error ), &error );
    check_same_numbers( &text, &again );
    tr_text_free( &again );
    release( &back );
    def.file = NULL;

    // Memory may run out anywhere.
    bool ok = false;
    for ( long n = 1; !ok; n += n < 40 ? 1 : n / 4 ) {
        size_t live = tr_memory_live();
        tr_exchange x;
        error = ( tr_error ){ 0 };
        tr_memory_fail_from( n );
        ok = tr_compose( &x, &s.stage, &s.result, &def, NULL, &error ) &&
             tr_exchange_print( &x, TR_EXCHANGE_GLB, NULL, &again, &error );
        tr_memory_fail_from( 0 );
        tr_exchange_free( &x );
        if ( !ok )
            tr_text_free( &again );
        assert_true( ok || strstr( error.message, "memory" ) != NULL );
        assert_int_equal( tr_memory_live() - ( ok ? again.capacity : 0 ), live );
    }
    assert_int_equal( again.size, text.size );
    assert_memory_equal( again.data, text.data, text.size );
    tr_text_free( &again );
    tr_text_free( &text );
    tr_log_free( &log );
    release( &s );
}

// The weights of the first mesh of a GLB file: four a point, without gaps.
static char *weights_of( const tr_text *glb, size_t *points )
{
    uint32_t size;
    json_t *json = json_of( glb );
    memcpy( &size, glb->data + 12, sizeof size );
    const json_t *part = json_array_get(
        json_object_get( json_array_get( json_object_get( json, "meshes" ), 0 ), "primitives" ), 0 );
    const json_t *accessor = json_array_get(
        json_object_get( json, "accessors" ),
        (size_t)json_integer_value( json_object_get( json_object_get( part, "attributes" ), "WEIGHTS_0" ) ) );
    const json_t *view =
        json_array_get( json_object_get( json, "bufferViews" ),
                        (size_t)json_integer_value( json_object_get( accessor, "bufferView" ) ) );
    assert_int_equal( json_integer_value( json_object_get( accessor, "componentType" ) ), 5126 );
    *points = (size_t)json_integer_value( json_object_get( accessor, "count" ) );
    size_t at = (size_t)json_integer_value( json_object_get( view, "byteOffset" ) ) +
                (size_t)json_integer_value( json_object_get( accessor, "byteOffset" ) );
    json_decref( json );
    return glb->data + 28 + size + at;
}

// Weights of a file that add up to three quarters are warned of, and passed on as whole ones.
static void weights_are_made_whole( void **state )
{
    (void)state;
    solved s;
    char path[128];
    size_t points;
    tr_text text = { 0 };
    tr_error error = { 0 };
    tr_log log = { 0 };
    if ( !tr_import_can_read( ".glb" ) )
        skip();
    solve( &s, "high_five", "copy", &( tr_compose_def ){ .bodies = true, .only = "p01" } );
    check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    char *weights = weights_of( &text, &points );
    for ( size_t i = 0; i < 4 * points; ++i ) {
        float w;
        memcpy( &w, weights + 4 * i, 4 );
        w *= 0.75f;
        memcpy( weights + 4 * i, &w, 4 );
    }
    check_ok( tr_file_write( in_folder( path, "thin.glb" ), text.data, text.size, &error ), &error );
    tr_import import;
    check_ok( tr_import_load( &import, path, NULL, &log, &error ), &error );
    assert_int_equal( log.count, 1 );
    assert_non_null( strstr( log.lines[0], "do not add up to 1" ) );
    tr_import_free( &import );
    tr_log_free( &log );
    tr_text_free( &text );
    tr_import_def choice = { .skeleton = "p01" };
    check_ok( tr_exchange_find_look( &s.x, &s.x.bodies[0].look, path, &choice, NULL, &error ), &error );
    assert_non_null( s.x.bodies[0].look );
    check_ok( tr_exchange_print( &s.x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    weights = weights_of( &text, &points );
    for ( size_t i = 0; i < points; ++i ) {
        float w[4];
        memcpy( w, weights + 16 * i, 16 );
        check_near( (double)( w[0] + w[1] + w[2] + w[3] ), 1, 1e-7 );
    }
    tr_text_free( &text );
    release( &s );
}

// -------------------------------------------------------------------------------------------- odd contents

// Names that formats do not take as they are; a joint whose rest is turned; frames that do not begin at 0.
static void odd_motion( tr_motion *motion )
{
    tr_error error = { 0 };
    static const char *const names[] = { "7 Hips", "Left Arm", "Left-Arm", "\xC3\xBC\"\\", "\xFF", "" };
    *motion = ( tr_motion ){ 0 };
    for ( int j = 0; j < 6; ++j )
        assert_int_equal( tr_skeleton_add( &motion->skeleton, names[j], j > 0 ? 0 : -1, v3( 0.1 * j, 1, 0 ) ),
                          j );
    motion->skeleton.joints[1].rest = q_axis_angle( v3( 0, 0, 1 ), 0.5 );
    motion->skeleton.joints[5].end_site = true;
    check_ok( tr_skeleton_classify( &motion->skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion->clip, 3, 6, 23.976, true, &error ), &error );
    for ( int f = 0; f < 3; ++f )
        for ( int j = 0; j < 6; ++j ) {
            tr_clip_frame( &motion->clip, f )[j] = q_axis_angle( v3( 1, 0, 0 ), f + j );
            motion->clip.translations[6 * f + j] = v3( 0.2 * j, 1, 0.1 * f );
        }
}

static int count_of( const char *text, const char *word )
{
    int count = 0;
    for ( const char *at = text; ( at = strstr( at, word ) ) != NULL; ++at )
        ++count;
    return count;
}

static void odd_names( void **state )
{
    (void)state;
    tr_motion motion;
    tr_exchange x;
    tr_text text = { 0 };
    tr_error error = { 0 };
    tr_compose_def def = { .bodies = true };
    odd_motion( &motion );
    check_ok( tr_compose_motion( &x, &motion, "1st \"one\"", &def, &error ), &error );
    x.first = -2;
    check_ok( tr_exchange_print( &x, TR_EXCHANGE_USDA, NULL, &text, &error ), &error );
    assert_non_null( strstr( text.data, "def SkelRoot \"_1st__one_\"" ) );
    assert_non_null( strstr( text.data, "\"_7_Hips/Left_Arm\", \"_7_Hips/Left_Arm_2\"" ) );
    assert_non_null( strstr( text.data, "startTimeCode = -2" ) );
    assert_int_equal( count_of( text.data, "{" ), count_of( text.data, "}" ) );
    assert_int_equal( count_of( text.data, "(" ), count_of( text.data, ")" ) );
    tr_text_free( &text );
    check_ok( tr_exchange_print( &x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    json_decref( extras_of( &text ) );
    tr_text_free( &text );
    tr_exchange_free( &x );
    tr_motion_free( &motion );
}

// Changed bytes lead to a sentence, or to another file, and to nothing worse.
static void changed_looks_do_no_harm( void **state )
{
    (void)state;
    char path[128];
    tr_motion motion;
    tr_exchange x;
    tr_text text = { 0 };
    tr_error error = { 0 };
    uint32_t random = 1;
    int passed = 0;
    if ( !tr_import_can_read( ".glb" ) )
        skip();
    odd_motion( &motion );
    check_ok( tr_compose_motion( &x, &motion, "one", &( tr_compose_def ){ .bodies = true }, &error ),
              &error );
    check_ok( tr_exchange_print( &x, TR_EXCHANGE_GLB, NULL, &text, &error ), &error );
    tr_exchange_free( &x );
    tr_motion_free( &motion );
    in_folder( path, "changed.glb" );
    uint32_t size;
    memcpy( &size, text.data + 12, sizeof size );
    for ( int i = 0; i < 600; ++i ) {
        char *copy = malloc( text.size );
        assert_non_null( copy );
        memcpy( copy, text.data, text.size );
        for ( int k = 0; k < 1 + i % 3; ++k ) {
            random = random * 1664525u + 1013904223u;
            size_t at = 20 + ( random >> 8 ) % size;
            copy[at] = "0123456789,]}[{\"-eE "[( random >> 4 ) % 21];
        }
        FILE *file = fopen( path, "wb" );
        assert_non_null( file );
        assert_int_equal( fwrite( copy, 1, text.size, file ), text.size );
        fclose( file );
        free( copy );
        error = ( tr_error ){ 0 };
        if ( !tr_motion_read( &motion, path, NULL, NULL, &error ) )
            continue;
        tr_text out = { 0 };
        tr_compose_def bare = { 0 };
        check_ok( tr_compose_motion( &x, &motion, "one", &bare, &error ), &error );
        tr_import_def first = tr_default_import_def();
        bool ok = tr_exchange_find_look( &x, &x.bodies[0].look, path, &first, NULL, &error );
        if ( ok && x.bodies[0].look != NULL && !tr_look_fits( x.bodies[0].look, &motion.skeleton, NULL ) )
            x.bodies[0].look = NULL;
        assert_true( ok || error.message[0] != 0 );
        ok = tr_exchange_print( &x, TR_EXCHANGE_GLB, NULL, &out, &error );
        assert_true( ok || error.message[0] != 0 );
        passed += ok && x.bodies[0].look != NULL;
        tr_text_free( &out );
        tr_exchange_free( &x );
        tr_motion_free( &motion );
    }
    assert_true( passed > 50 );
    tr_text_free( &text );
}

// Any allocation may fail while a file is written: nothing is left then, and the sentence says why.
static void memory_runs_out( void **state )
{
    (void)state;
    tr_motion motion;
    tr_error error = { 0 };
    char path[128];
    odd_motion( &motion );
    for ( tr_exchange_format format = TR_EXCHANGE_GLB; format <= TR_EXCHANGE_NPZ; ++format ) {
        static const char *const files[] = { "a.glb", "a.usda", "a.npz" };
        bool ok = false;
        long n = 1;
        in_folder( path, files[format] );
        for ( ; !ok; ++n ) {
            tr_exchange x = { 0 };
            size_t live = tr_memory_live();
            error = ( tr_error ){ 0 };
            tr_memory_fail_from( n );
            ok = tr_compose_motion( &x, &motion, "one", &( tr_compose_def ){ .bodies = true }, &error ) &&
                 tr_exchange_save( &x, path, NULL, &error );
            tr_memory_fail_from( 0 );
            tr_exchange_free( &x );
            assert_true( ok || strstr( error.message, "memory" ) != NULL );
            assert_int_equal( tr_memory_live(), live );
            assert_true( tr_file_exists( path ) == ok );
        }
        assert_true( n > 20 );
    }
    tr_motion_free( &motion );
}

static void composing_without_memory( void **state )
{
    (void)state;
    solved s;
    solve( &s, "sword_pair", "copy", &plain );
    bool ok = false;
    for ( long n = 1; !ok; n += n < 50 ? 1 : n / 5 ) {
        tr_exchange x;
        tr_error error = { 0 };
        size_t live = tr_memory_live();
        tr_memory_fail_from( n );
        ok = tr_compose( &x, &s.stage, &s.result, &plain, NULL, &error );
        tr_memory_fail_from( 0 );
        tr_exchange_free( &x );
        assert_true( ok || strstr( error.message, "memory" ) != NULL );
        assert_int_equal( tr_memory_live(), live );
    }
    release( &s );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( shapes_have_facets ),
        TEST( glb_is_read_back ),
        TEST( contacts_and_figures_are_there ),
        TEST( one_of_many ),
        TEST( pictures_beside_are_passed_on ),
        TEST( looks_are_passed_on ),
        TEST( weights_are_made_whole ),
        TEST( odd_names ),
        TEST( changed_looks_do_no_harm ),
        TEST( memory_runs_out ),
        TEST( composing_without_memory ),
    };
    return cmocka_run_group_tests( tests, set_up_folder, remove_group_folder );
}
