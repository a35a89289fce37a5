// The document as a file: see docs/scene-format.md. Loops over the table of fields.
#include "document/fields.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_KEYS = 24,   // in one object; no element has more fields
    LINE_WIDTH = 120 // columns: shorter elements are printed on one line
};

static size_t part_length( const char *path ) // up to the next dot or the end
{
    return strcspn( path, "." );
}

// Number of fields from `begin` on that share their first `length` + part characters: one leaf, or an object.
static int group_end( const tr_field *fields, int begin, int count, size_t length )
{
    size_t same = length + part_length( fields[begin].path + length );
    int end = begin + 1;
    if ( fields[begin].path[same] == '.' )
        while ( end < count && strncmp( fields[end].path, fields[begin].path, same + 1 ) == 0 )
            ++end;
    return end;
}

static void part_name( char *out, size_t size, const char *part )
{
    size_t length = part_length( part );
    assert( length < size );
    memcpy( out, part, length );
    out[length < size ? length : size - 1] = 0;
}

// ---------------------------------------------------------------------------------------------- reading

static tr_value value_of( const json_t *json )
{
    tr_value value = { 0 };
    if ( json_is_string( json ) ) {
        value.type = TR_VALUE_TEXT;
        value.text = json_string_value( json );
    } else if ( json_is_number( json ) ) {
        value.type = TR_VALUE_NUMBER;
        value.numbers[0] = json_number_value( json );
    } else if ( json_is_boolean( json ) ) {
        value.type = TR_VALUE_BOOL;
        value.flag = json_is_true( json );
    } else if ( json_is_array( json ) ) {
        value.type = TR_VALUE_LIST;
        value.count = (int)json_array_size( json );
        for ( int i = 0; i < value.count; ++i ) {
            const json_t *item = json_array_get( json, (size_t)i );
            if ( !json_is_number( item ) || value.count > 4 )
                return ( tr_value ){ 0 };
            value.numbers[i] = json_number_value( item );
        }
    }
    return value;
}

static void read_limbs( const tr_json *object, const tr_field *field, void *element )
{
    if ( !json_is_object( object->value ) ) {
        tr_error why;
        tr_field_store( field, element, &( tr_value ){ 0 }, &why ); // fails, with the expected type
        tr_json_fail( object, "%s", why.message );
        return;
    }
    for ( void *at = json_object_iter( object->value ); at != NULL;
          at = json_object_iter_next( object->value, at ) ) {
        const char *limb = json_object_iter_key( at );
        double factor = 0;
        tr_error why;
        tr_json member = tr_json_member( object, limb, true );
        if ( !json_is_number( member.value ) )
            tr_json_fail( &member, "must be a number" );
        else {
            factor = json_number_value( member.value );
            if ( !tr_limbs_set( field, element, limb, &factor, &why ) )
                tr_json_fail( &member, "%s", why.message );
        }
    }
}

static void read_rows( const tr_json *array, const tr_field *field, void *element )
{
    tr_error why = { 0 };
    tr_field_store( field, element, &( tr_value ){ .type = TR_VALUE_TEXT, .text = "" }, &why ); // empties it
    int count = tr_json_count( array );
    for ( int i = 0; i < count && *array->ok; ++i ) {
        tr_json row = tr_json_item( array, i );
        tr_value value = value_of( row.value );
        if ( value.type != TR_VALUE_LIST || value.count != field->size )
            tr_json_fail( &row, "must be %s numbers", field->size == 3 ? "three" : "four" );
        else if ( !tr_rows_add( field, element, value.numbers, &why ) )
            tr_json_fail( array, "%s", why.message );
    }
}

static void read_field( const tr_json *at, const tr_field *field, void *element )
{
    tr_error why;
    tr_value value = value_of( at->value );
    if ( !tr_field_permit( field, element, &why ) )
        tr_json_fail( at, "%s", why.message );
    else if ( field->type == TR_FIELD_LIMBS )
        read_limbs( at, field, element );
    else if ( field->type == TR_FIELD_ROWS )
        read_rows( at, field, element );
    else if ( !tr_field_store( field, element, &value, &why ) )
        tr_json_fail( at, "%s", why.message );
}

// Reads the object whose fields' paths share their first `length` characters.
static void read_object( const tr_json *object, const tr_field *fields, int count, size_t length,
                         void *element )
{
    char names[MAX_KEYS][32];
    const char *keys[MAX_KEYS + 1] = { NULL };
    int key_count = 0;
    for ( int i = 0; i < count; i = group_end( fields, i, count, length ), ++key_count ) {
        assert( key_count < MAX_KEYS );
        part_name( names[key_count], sizeof names[key_count], fields[i].path + length );
        keys[key_count] = names[key_count];
    }
    tr_json_keys( object, keys );
    for ( int i = 0, k = 0; i < count && *object->ok; ++k ) {
        int end = group_end( fields, i, count, length );
        size_t part = strlen( keys[k] );
        tr_json member = tr_json_member( object, keys[k], ( fields[i].flags & TR_FIELD_REQUIRED ) != 0 );
        if ( member.value != NULL && fields[i].path[length + part] == '.' )
            read_object( &member, fields + i, end - i, length + part + 1, element );
        else if ( member.value != NULL )
            read_field( &member, &fields[i], element );
        i = end;
    }
}

// The kind decides about defaults and fields, so it is read first.
static int read_kind( const tr_json *object, tr_list list )
{
    if ( tr_list_kinds( list ) == NULL )
        return 0;
    tr_element element = { 0 };
    const tr_kind_set *kinds = tr_list_kinds( list );
    tr_json kind = tr_json_member( object, kinds->key, kinds->required );
    if ( kind.value != NULL )
        read_field( &kind, tr_field_find( list, kinds->key ), &element );
    return tr_element_kind( list, &element );
}

static void read_list( const tr_json *object, const char *key, tr_list list, tr_scene *scene )
{
    tr_json array = tr_json_member( object, key, false );
    if ( array.value == NULL )
        return;
    int field_count, count = tr_json_count( &array );
    const tr_field *fields = tr_fields( list, &field_count );
    if ( count > TR_MAX_ELEMENTS )
        tr_json_fail( &array, "has more than %d entries", TR_MAX_ELEMENTS );
    for ( int i = 0; i < count && *object->ok; ++i ) {
        tr_json item = tr_json_item( &array, i );
        tr_element element;
        tr_element_default( &element, list, "", read_kind( &item, list ) );
        read_object( &item, fields, field_count, 0, &element );
        if ( *object->ok && !tr_list_insert( scene, list, i, &element ) )
            *object->ok = tr_error_memory( object->error );
    }
}

static void read_own_field( const tr_json *object, const char *key, const char *path, tr_scene *scene )
{
    const tr_field *field = tr_field_find( TR_LIST_SCENE, path );
    tr_json member = tr_json_member( object, key, ( field->flags & TR_FIELD_REQUIRED ) != 0 );
    if ( member.value != NULL )
        read_field( &member, field, scene );
}

static void read_version( const tr_json *root )
{
    tr_json version = tr_json_member( root, "version", true );
    if ( version.value == NULL )
        return;
    if ( !json_is_integer( version.value ) || json_integer_value( version.value ) < 1 )
        tr_json_fail( &version, "must be a whole number from 1 on" );
    else if ( json_integer_value( version.value ) > TR_SCENE_VERSION )
        tr_json_fail( &version, "the file is of version %lld, newer than this program's %d",
                      (long long)json_integer_value( version.value ), TR_SCENE_VERSION );
}

static void read_scene( const tr_json *root, tr_scene *scene )
{
    static const char *const keys[] = {
        "version", "fps",   "range", "cast",  "props",  "environment", "constraints", "layers", "sections",
        "handles", "clips", "pairs", "imesh", "drives", "examples",    "parts",       NULL };
    static const char *const environment_keys[] = { "ground", "boxes", NULL };
    read_version( root ); // first, since a newer file may have other keys
    tr_json_keys( root, keys );
    read_own_field( root, "fps", "fps", scene );
    read_own_field( root, "range", "range", scene );
    read_own_field( root, "imesh", "imesh", scene );
    read_list( root, "cast", TR_LIST_CAST, scene );
    read_list( root, "props", TR_LIST_PROP, scene );
    tr_json environment = tr_json_member( root, "environment", false );
    if ( environment.value != NULL ) {
        tr_json_keys( &environment, environment_keys );
        read_own_field( &environment, "ground", "environment.ground", scene );
        read_list( &environment, "boxes", TR_LIST_OBSTACLE, scene );
    }
    read_list( root, "constraints", TR_LIST_CONSTRAINT, scene );
    for ( tr_list list = TR_LIST_LAYER; list < TR_LIST_COUNT; ++list )
        read_list( root, tr_list_get_info( list )->path, list, scene );
}

static bool from_json( tr_scene *out, json_t *json, const char *name, tr_error *error )
{
    bool ok = true;
    tr_json root = tr_json_root( json, name, &ok, error );
    *out = tr_default_scene();
    read_scene( &root, out );
    ok = ok && tr_scene_check( out, name, error );
    json_decref( json );
    if ( !ok )
        tr_scene_free( out );
    return ok;
}

bool tr_scene_load( tr_scene *out, const char *path, tr_error *error )
{
    json_t *json;
    *out = tr_default_scene();
    return tr_json_load( &json, path, error ) && from_json( out, json, path, error );
}

bool tr_scene_parse( tr_scene *out, const char *text, size_t size, const char *name, tr_error *error )
{
    json_t *json;
    *out = tr_default_scene();
    return tr_json_parse( &json, text, size, name, error ) && from_json( out, json, name, error );
}

// --------------------------------------------------------------------------------------------- printing

static bool is_printed( const tr_field *field, const void *element, const void *standard )
{
    int kind = 0; // a file without a kind means the first
    if ( field->type == TR_FIELD_KIND )
        memcpy( &kind, (const char *)element + field->offset, sizeof kind );
    return tr_field_applies( field, element ) && ( ( field->flags & TR_FIELD_ALWAYS ) != 0 || kind != 0 ||
                                                   !tr_field_equal( field, element, standard ) );
}

// Fields of one object with `separator` between them; inner objects stay on one line.
static void print_members( tr_text *out, const tr_field *fields, int count, size_t length,
                           const void *element, const void *standard, const char *separator )
{
    bool first = true;
    for ( int i = 0, end; i < count; i = end ) {
        end = group_end( fields, i, count, length );
        bool any = false;
        for ( int f = i; f < end; ++f )
            any = any || is_printed( &fields[f], element, standard );
        if ( !any )
            continue;
        char key[32];
        part_name( key, sizeof key, fields[i].path + length );
        tr_text_add( out, "%s\"%s\": ", first ? "" : separator, key );
        first = false;
        if ( fields[i].path[length + strlen( key )] == '.' ) {
            tr_text_append( out, "{", 1 );
            print_members( out, fields + i, end - i, length + strlen( key ) + 1, element, standard, ", " );
            tr_text_append( out, "}", 1 );
        } else
            tr_field_print( &fields[i], element, out );
    }
}

// On one line if it fits, else one line per field.
static void print_element( tr_text *out, tr_list list, const void *element, int indent )
{
    int count;
    const tr_field *fields = tr_fields( list, &count );
    tr_element standard;
    tr_element_default( &standard, list, "", tr_element_kind( list, element ) );
    size_t begin = out->size;
    tr_text_add( out, "%*s{", indent, "" );
    print_members( out, fields, count, 0, element, &standard, ", " );
    if ( out->size - begin < LINE_WIDTH ) {
        tr_text_append( out, "}", 1 );
        return;
    }
    char separator[40];
    out->size = begin;
    snprintf( separator, sizeof separator, ",\n%*s", indent + 2, "" );
    tr_text_add( out, "%*s{%s", indent, "", separator + 1 );
    print_members( out, fields, count, 0, element, &standard, separator );
    tr_text_add( out, "\n%*s}", indent, "" );
}

static void print_list( tr_text *out, const tr_scene *scene, tr_list list, const char *key, int indent )
{
    int count = tr_list_count( scene, list );
    tr_text_add( out, "%*s\"%s\": [", indent, "", key );
    for ( int i = 0; i < count; ++i ) {
        tr_text_add( out, i == 0 ? "\n" : ",\n" );
        print_element( out, list, tr_list_at( scene, list, i ), indent + 2 );
    }
    if ( count > 0 )
        tr_text_add( out, "\n%*s", indent, "" );
    tr_text_append( out, "]", 1 );
}

bool tr_scene_print( const tr_scene *scene, tr_text *out, tr_error *error )
{
    tr_text_add( out, "{\n  \"version\": %d,\n  \"fps\": ", TR_SCENE_VERSION );
    tr_field_print( tr_field_find( TR_LIST_SCENE, "fps" ), scene, out );
    tr_text_add( out, ",\n  \"range\": " );
    tr_field_print( tr_field_find( TR_LIST_SCENE, "range" ), scene, out );
    if ( scene->imesh )
        tr_text_add( out, ",\n  \"imesh\": true" );
    tr_text_add( out, ",\n" );
    print_list( out, scene, TR_LIST_CAST, "cast", 2 );
    tr_text_add( out, ",\n" );
    print_list( out, scene, TR_LIST_PROP, "props", 2 );
    tr_text_add( out, ",\n  \"environment\": {\n    \"ground\": " );
    tr_field_print( tr_field_find( TR_LIST_SCENE, "environment.ground" ), scene, out );
    tr_text_add( out, ",\n" );
    print_list( out, scene, TR_LIST_OBSTACLE, "boxes", 4 );
    tr_text_add( out, "\n  },\n" );
    print_list( out, scene, TR_LIST_CONSTRAINT, "constraints", 2 );
    tr_text_add( out, ",\n" );
    print_list( out, scene, TR_LIST_LAYER, "layers", 2 );
    for ( tr_list list = TR_LIST_SECTION; list < TR_LIST_COUNT; ++list )
        if ( tr_list_count( scene, list ) > 0 ) {
            tr_text_add( out, ",\n" );
            print_list( out, scene, list, tr_list_get_info( list )->path, 2 );
        }
    tr_text_add( out, "\n}\n" );
    return !out->failed || tr_error_memory( error );
}

bool tr_scene_save( const tr_scene *scene, const char *path, tr_error *error )
{
    tr_text text = { 0 };
    bool ok = tr_scene_check( scene, path, error ) && tr_scene_print( scene, &text, error ) &&
              tr_file_write( path, text.data, text.size, error );
    tr_text_free( &text );
    return ok;
}

void tr_scene_print_paths( tr_text *out )
{
    for ( tr_list list = 0; list <= TR_LIST_SCENE; ++list ) {
        int count;
        const tr_field *fields = tr_fields( list, &count );
        for ( int i = 0; i < count; ++i ) {
            if ( list != TR_LIST_SCENE )
                tr_text_add( out, "%s[].", tr_list_get_info( list )->path );
            tr_text_add( out, "%s\n", fields[i].path );
        }
    }
}
