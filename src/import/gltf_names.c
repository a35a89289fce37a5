// The files that a .gltf names.
#include "import/import.h"

#include <string.h>

static int hex( char c )
{
    const char *digits = "0123456789abcdef0123456789ABCDEF", *at = c != 0 ? strchr( digits, c ) : NULL;
    return at != NULL ? (int)( at - digits ) % 16 : -1;
}

// %20 is a space.
static void decode( char *text )
{
    char *out = text;
    for ( const char *in = text; *in != 0; ++in ) {
        int high = *in == '%' ? hex( in[1] ) : -1, low = high >= 0 ? hex( in[2] ) : -1;
        if ( low >= 0 && 16 * high + low > 0 ) {
            *out++ = (char)( 16 * high + low );
            in += 2;
        } else
            *out++ = *in;
    }
    *out = 0;
}

// A file that comes from elsewhere must not bring others than its own into what is made of it.
static bool is_below( const char *path )
{
    size_t length = strlen( path );
    bool climbs = strncmp( path, "../", 3 ) == 0 || strstr( path, "/../" ) != NULL ||
                  ( length >= 3 && strcmp( path + length - 3, "/.." ) == 0 ) || strcmp( path, ".." ) == 0;
    return path[0] != 0 && path[0] != '/' && !climbs && strncmp( path, "data:", 5 ) != 0 &&
           strstr( path, "://" ) == NULL;
}

bool tr_uri_path( const char *document, const char *uri, char **path )
{
    *path = NULL;
    if ( !is_below( uri ) )
        return true;
    char *decoded = tr_string_copy( uri );
    if ( decoded != NULL )
        decode( decoded );
    bool below = decoded != NULL && is_below( decoded );
    if ( below )
        *path = tr_path_beside( document, decoded );
    tr_free( decoded );
    return decoded != NULL && ( !below || *path != NULL );
}

const char *tr_picture_kind( const void *bytes, size_t size )
{
    const char *text = bytes;
    return size > 8 && memcmp( text, "\x89PNG\r\n\x1a\n", 8 ) == 0                             ? "image/png"
           : size > 3 && memcmp( text, "\xff\xd8\xff", 3 ) == 0                                ? "image/jpeg"
           : size > 12 && memcmp( text, "RIFF", 4 ) == 0 && memcmp( text + 8, "WEBP", 4 ) == 0 ? "image/webp"
                                                                                               : NULL;
}

static bool add_uris( tr_names *out, const json_t *list )
{
    size_t i;
    const json_t *item;
    json_array_foreach( list, i, item )
    {
        const char *uri = json_string_value( json_object_get( item, "uri" ) );
        if ( uri == NULL || !is_below( uri ) )
            continue;
        char *path = tr_string_copy( uri );
        if ( path == NULL )
            return false;
        decode( path );
        bool ok = !is_below( path ) || tr_names_add( out, path );
        tr_free( path );
        if ( !ok )
            return false;
    }
    return true;
}

bool tr_import_names( tr_names *out, const char *data, size_t size, const char *name, tr_error *error )
{
    json_t *json;
    *out = ( tr_names ){ 0 };
    if ( !tr_path_ends_with( name, ".gltf" ) )
        return true;
    if ( !tr_json_parse( &json, data, size, name, NULL ) )
        return !tr_json_ran_out() || tr_error_memory( error );
    bool ok = add_uris( out, json_object_get( json, "buffers" ) ) &&
              add_uris( out, json_object_get( json, "images" ) );
    json_decref( json );
    if ( ok )
        return true;
    tr_names_free( out );
    return tr_error_memory( error );
}
