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

static bool is_below( const char *path )
{
    bool climbs = strncmp( path, "../", 3 ) == 0 || strstr( path, "/../" ) != NULL;
    return path[0] != 0 && path[0] != '/' && !climbs && strncmp( path, "data:", 5 ) != 0 &&
           strstr( path, "://" ) == NULL;
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
