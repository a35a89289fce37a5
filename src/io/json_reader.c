// The cursor that reads values from JSON and knows its path.
#include "io/io.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void tr_json_fail( const tr_json *at, const char *format, ... )
{
    if ( !*at->ok )
        return; // only the first failure is reported
    *at->ok = false;
    char message[512];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( message, sizeof message, format, arguments );
    va_end( arguments );
    tr_error_path( at->error, at->file, at->path, "%s", message );
}

static const char *type_name( const json_t *value )
{
    switch ( json_typeof( value ) ) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a text";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    default: return "null";
    }
}

static void fail_type( const tr_json *at, const char *expected )
{
    tr_json_fail( at, "expected %s, found %s", expected, type_name( at->value ) );
}

tr_json tr_json_root( json_t *value, const char *file, bool *ok, tr_error *error )
{
    return ( tr_json ){ .value = value, .file = file, .error = error, .ok = ok };
}

// Paths too long for the buffer are cut; the message is not.
static void extend_path( tr_json *at, const char *format, ... ) TR_PRINTF( 2 );
static void extend_path( tr_json *at, const char *format, ... )
{
    size_t length = strlen( at->path );
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( at->path + length, sizeof at->path - length, format, arguments );
    va_end( arguments );
}

tr_json tr_json_member( const tr_json *object, const char *key, bool required )
{
    tr_json member = *object;
    member.value = NULL;
    if ( !*object->ok || object->value == NULL )
        return member;
    if ( !json_is_object( object->value ) ) {
        fail_type( object, "an object" );
        return member;
    }
    extend_path( &member, "%s%s", object->path[0] != 0 ? "." : "", key );
    member.value = json_object_get( object->value, key );
    if ( member.value == NULL && required )
        tr_json_fail( &member, "is missing" );
    return member;
}

tr_json tr_json_item( const tr_json *array, int index )
{
    tr_json item = *array;
    item.value = *array->ok && index >= 0 ? json_array_get( array->value, (size_t)index ) : NULL;
    extend_path( &item, "[%d]", index );
    return item;
}

int tr_json_count( const tr_json *array )
{
    if ( !*array->ok || array->value == NULL )
        return 0;
    if ( !json_is_array( array->value ) ) {
        fail_type( array, "a list" );
        return 0;
    }
    return (int)json_array_size( array->value );
}

// "did you mean …?" or the list of what there is.
static void describe_choices( char *out, size_t size, const char *word, const char *const *choices )
{
    const char *nearest = tr_nearest_word( word, choices );
    if ( nearest != NULL ) {
        snprintf( out, size, "did you mean \"%s\"?", nearest );
        return;
    }
    size_t used = (size_t)snprintf( out, size, "expected one of" );
    for ( int i = 0; choices[i] != NULL && used < size; ++i )
        used += (size_t)snprintf( out + used, size - used, "%s %s", i > 0 ? "," : "", choices[i] );
}

static bool contains( const char *const *words, const char *word )
{
    for ( ; *words != NULL; ++words )
        if ( strcmp( *words, word ) == 0 )
            return true;
    return false;
}

void tr_json_keys( const tr_json *object, const char *const *keys )
{
    if ( !*object->ok || object->value == NULL )
        return;
    if ( !json_is_object( object->value ) ) {
        fail_type( object, "an object" );
        return;
    }
    for ( void *at = json_object_iter( object->value ); at != NULL;
          at = json_object_iter_next( object->value, at ) ) {
        const char *key = json_object_iter_key( at );
        if ( contains( keys, key ) )
            continue;
        char hint[300];
        describe_choices( hint, sizeof hint, key, keys );
        tr_json place = tr_json_member( object, key, false );
        tr_json_fail( &place, "is no known key; %s", hint );
        return;
    }
}

// -------------------------------------------------------------------------------------------------- values

void tr_json_int( const tr_json *object, const char *key, bool required, int low, int high, int *out )
{
    tr_json member = tr_json_member( object, key, required );
    if ( member.value == NULL )
        return;
    if ( !json_is_number( member.value ) ) {
        fail_type( &member, "a number" );
        return;
    }
    double value = json_number_value( member.value );
    char found[40];
    tr_number_print_exact( found, sizeof found, value );
    if ( !( value >= low && value <= high ) )
        tr_json_fail( &member, "expected a number from %d to %d, found %s", low, high, found );
    else if ( value != floor( value ) )
        tr_json_fail( &member, "expected a whole number, found %s", found );
    else
        *out = tr_int_clamped( value, low, high );
}

// ------------------------------------------------------------------------------------------------- nearest

enum { LONGEST_WORD = 63 };

static int smaller( int a, int b )
{
    return a < b ? a : b;
}

static bool same_letter( char a, char b ) // case does not count
{
    return strncasecmp( &a, &b, 1 ) == 0;
}

// Letters to insert, delete, replace or swap with their neighbour; d[i][j] is for the first i letters of a
// and the first j of b.
static int edit_distance( const char *a, const char *b )
{
    int d[LONGEST_WORD + 1][LONGEST_WORD + 1];
    int rows = (int)strlen( a ), columns = (int)strlen( b );
    for ( int i = 0; i <= rows; ++i )
        for ( int j = 0; j <= columns; ++j ) {
            if ( i == 0 || j == 0 ) {
                d[i][j] = i + j;
                continue;
            }
            int replace = d[i - 1][j - 1] + !same_letter( a[i - 1], b[j - 1] );
            d[i][j] = smaller( replace, 1 + smaller( d[i - 1][j], d[i][j - 1] ) );
            if ( i > 1 && j > 1 && same_letter( a[i - 1], b[j - 2] ) && same_letter( a[i - 2], b[j - 1] ) )
                d[i][j] = smaller( d[i][j], d[i - 2][j - 2] + 1 );
        }
    return d[rows][columns];
}

const char *tr_nearest_word( const char *word, const char *const *candidates )
{
    size_t length = strlen( word );
    if ( length == 0 || length > LONGEST_WORD )
        return NULL;
    const char *nearest = NULL;
    int best = 1 + (int)( length + 1 ) / 3; // more than a third of the letters differs: another word
    for ( ; *candidates != NULL; ++candidates ) {
        if ( strlen( *candidates ) > LONGEST_WORD )
            continue;
        int distance = edit_distance( word, *candidates );
        if ( distance < best ) {
            best = distance;
            nearest = *candidates;
        }
    }
    return nearest;
}
