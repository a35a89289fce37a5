// The generator of scenes: whatever it makes is valid, the same seed gives the same scene, bytes that run out
// are no trouble, and every field of the format is reached.
#include "check.h"
#include "generate.h"

#include <string.h>

#define SCENES 3000

static void a_seed_is_a_scene( void **state )
{
    (void)state;
    for ( uint64_t seed = 0; seed < 50; ++seed ) {
        generated one, two;
        choices a = choices_from_seed( seed ), b = choices_from_seed( seed );
        assert_true( generate( &one, &a, GENERATE_ANY ) && generate( &two, &b, GENERATE_ANY ) );
        assert_true( tr_scene_equal( &one.scene, &two.scene ) );
        assert_int_equal( one.file_count, two.file_count );
        generated_free( &one );
        generated_free( &two );
    }
}

static void bytes_may_run_out( void **state )
{
    (void)state;
    uint8_t bytes[64];
    for ( size_t size = 0; size <= sizeof bytes; ++size )
        for ( int fill = 0; fill < 256; fill += 85 ) {
            generated g;
            tr_error error;
            memset( bytes, fill, sizeof bytes );
            choices c = choices_from_bytes( bytes, size );
            assert_true( generate( &g, &c, (generate_what)( size % 3 ) ) );
            check_ok( tr_scene_check( &g.scene, NULL, &error ), &error );
            generated_free( &g );
        }
}

// Whether a path such as cast[].target.scale leads to something: [] is every element of a list.
static bool has_path( const json_t *at, const char *path )
{
    if ( at == NULL || path[0] == 0 )
        return at != NULL;
    if ( strncmp( path, "[]", 2 ) == 0 ) {
        bool found = false;
        for ( size_t i = 0; !found && i < json_array_size( at ); ++i )
            found = has_path( json_array_get( at, i ), path + 2 );
        return found;
    }
    path += path[0] == '.';
    char key[64];
    size_t length = strcspn( path, ".[" );
    snprintf( key, sizeof key, "%.*s", (int)length, path );
    return has_path( json_object_get( at, key ), path + length );
}

static void every_field_is_reached( void **state )
{
    (void)state;
    tr_text paths = { 0 };
    tr_error error;
    tr_scene_print_paths( &paths );
    tr_text_append( &paths, "", 1 );
    char *lines[256];
    bool found[256] = { false };
    int count = 0;
    for ( char *line = strtok( paths.data, "\n" ); line != NULL && count < 256; line = strtok( NULL, "\n" ) )
        lines[count++] = line;
    assert_true( count > 60 && count < 256 );
    for ( uint64_t seed = 0; seed < SCENES; ++seed ) {
        generated g;
        choices c = choices_from_seed( seed );
        tr_text text = { 0 };
        json_t *json = NULL;
        assert_true( generate( &g, &c, (generate_what)( seed % 3 ) ) );
        check_ok( tr_scene_check( &g.scene, NULL, &error ), &error );
        check_ok( tr_scene_print( &g.scene, &text, &error ), &error );
        check_ok( tr_json_parse( &json, text.data, text.size, "scene", &error ), &error );
        for ( int i = 0; i < count; ++i )
            found[i] = found[i] || has_path( json, lines[i] );
        json_decref( json );
        tr_text_free( &text );
        generated_free( &g );
    }
    int missing = 0;
    for ( int i = 0; i < count; ++i )
        if ( !found[i] ) {
            print_error( "no scene has %s\n", lines[i] );
            ++missing;
        }
    tr_text_free( &paths );
    assert_int_equal( missing, 0 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_seed_is_a_scene ),
        TEST( bytes_may_run_out ),
        TEST( every_field_is_reached ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
