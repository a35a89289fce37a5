// JSON: syntax by jansson, printing and memory by us.
#include "io/io.h"

#include <string.h>

// jansson reports some failed allocations as errors of syntax, and its hook has no context. Its reader does
// not check whether a long text could grow, and crashes when later, smaller requests succeed: within one
// reading, all requests fail after the first failure.
static _Thread_local bool ran_out, reading;

static void *allocate( size_t size )
{
    void *memory = reading && ran_out ? NULL : tr_alloc( size, 1 );
    ran_out = ran_out || memory == NULL;
    return memory;
}

void tr_json_take_over( void )
{
    json_set_alloc_funcs( allocate, tr_free );
    json_object_seed( 1 );
}

bool tr_json_ran_out( void )
{
    bool was = ran_out;
    ran_out = false;
    return was;
}

// ------------------------------------------------------------------------------------------------- reading

// A comma before a closing bracket is the most common mistake; jansson reports the bracket, not the comma.
// `end` is where it stopped reading.
static bool complain_about_comma( const char *text, size_t end, const char *name, tr_error *error )
{
    size_t at = end;
    if ( at == 0 || ( text[at - 1] != '}' && text[at - 1] != ']' ) )
        return false;
    char bracket = text[--at];
    while ( at > 0 && strchr( " \t\r\n", text[at - 1] ) != NULL )
        --at;
    if ( at == 0 || text[at - 1] != ',' )
        return false;
    int line = 1, column = 1;
    for ( size_t i = 0; i + 1 < at; ++i ) {
        column = text[i] == '\n' ? 1 : column + ( ( text[i] & 0xC0 ) != 0x80 ); // characters, not bytes
        line += text[i] == '\n';
    }
    tr_error_at( error, name, line, column, "nothing follows this comma but '%c'; take the comma out",
                 bracket );
    return true;
}

static bool is_of_number( char c )
{
    return ( c >= '0' && c <= '9' ) || ( c != 0 && strchr( "+-.eExX", c ) != NULL );
}

// jansson reads "0.8" from "0.8.1" and then misses a comma. `end` is where it stopped reading.
static bool complain_about_number( const char *text, size_t size, size_t end, const char *name, int line,
                                   int column, tr_error *error )
{
    size_t first = end, last = end;
    while ( first > 0 && is_of_number( text[first - 1] ) )
        --first;
    while ( last < size && is_of_number( text[last] ) )
        ++last;
    if ( last - first < 2 || last - first > 60 )
        return false;
    const char *stop = tr_number_parse( text + first, text + last, &( double ){ 0 } );
    if ( stop == text + last )
        return false;
    tr_error_at( error, name, line, column - (int)( end - first ) + 1, "%.*s is no number",
                 (int)( last - first ), text + first );
    return true;
}

// NULL: not JSON, or out of memory (ran_out).
static json_t *read_text( const char *text, size_t size, size_t flags, json_error_t *trouble )
{
    ran_out = false;
    reading = true;
    json_t *value = json_loadb( text, size, flags, trouble );
    reading = false;
    if ( value == NULL || !ran_out )
        return value;
    json_decref( value ); // it may be incomplete
    return NULL;
}

bool tr_json_parse( json_t **out, const char *text, size_t size, const char *name, tr_error *error )
{
    tr_skip_byte_order_mark( &text, &size );
    *out = NULL;
    size_t blank = 0;
    while ( blank < size && memchr( " \t\r\n", text[blank], 4 ) != NULL )
        ++blank;
    if ( blank < size && text[blank] != '{' && text[blank] != '[' ) // jansson would quote what is there
        return tr_error_at( error, name, 1, 1,
                            "this is no JSON: a list or an object is needed, which begins with [ or {" );
    json_error_t trouble;
    *out = read_text( text, size, JSON_REJECT_DUPLICATES, &trouble );
    if ( *out != NULL )
        return true;
    if ( ran_out || json_error_code( &trouble ) == json_error_out_of_memory )
        return tr_error_memory( error );
    if ( trouble.position > 0 && (size_t)trouble.position <= size &&
         ( complain_about_comma( text, (size_t)trouble.position, name, error ) ||
           complain_about_number( text, size, (size_t)trouble.position, name, trouble.line, trouble.column,
                                  error ) ) )
        return false;
    return tr_error_at( error, name, trouble.line > 0 ? trouble.line : 1,
                        trouble.column > 0 ? trouble.column : 1, "%s", trouble.text );
}

bool tr_json_load( json_t **out, const char *path, tr_error *error )
{
    char *data;
    size_t size;
    *out = NULL;
    if ( !tr_file_read( path, &data, &size, error ) )
        return false;
    bool ok = tr_json_parse( out, data, size, path, error );
    tr_free( data );
    return ok;
}

json_t *tr_json_text( const char *text )
{
    tr_text quoted = { 0 };
    tr_text_quoted( &quoted, text, strlen( text ) );
    bool before = ran_out;
    json_t *string = quoted.failed ? NULL : read_text( quoted.data, quoted.size, JSON_DECODE_ANY, NULL );
    ran_out = ran_out || before || quoted.failed;
    tr_text_free( &quoted );
    return string;
}

// ------------------------------------------------------------------------------------------------- writing

static void print_break( tr_text *out, int depth )
{
    tr_text_add( out, "\n%*s", 2 * depth, "" );
}

static void print_value( tr_text *out, const json_t *value, int depth );

static void print_object( tr_text *out, const json_t *object, int depth )
{
    tr_text_append( out, "{", 1 );
    bool first = true;
    for ( void *at = json_object_iter( (json_t *)object ); at != NULL;
          at = json_object_iter_next( (json_t *)object, at ) ) {
        tr_text_add( out, first ? "" : "," );
        print_break( out, depth + 1 );
        const char *key = json_object_iter_key( at );
        tr_text_quoted( out, key, strlen( key ) );
        tr_text_append( out, ": ", 2 );
        print_value( out, json_object_iter_value( at ), depth + 1 );
        first = false;
    }
    if ( !first )
        print_break( out, depth );
    tr_text_append( out, "}", 1 );
}

// Vectors and lists of words stay on one line; nested values get a line per item.
static bool is_flat( const json_t *array )
{
    for ( size_t i = 0; i < json_array_size( array ); ++i ) {
        const json_t *item = json_array_get( array, i );
        if ( json_is_array( item ) || json_is_object( item ) )
            return false;
    }
    return true;
}

static void print_array( tr_text *out, const json_t *array, int depth )
{
    bool flat = is_flat( array );
    size_t count = json_array_size( array );
    tr_text_append( out, "[", 1 );
    for ( size_t i = 0; i < count; ++i ) {
        tr_text_add( out, i == 0 ? "" : flat ? ", " : "," );
        if ( !flat )
            print_break( out, depth + 1 );
        print_value( out, json_array_get( array, i ), depth + 1 );
    }
    if ( !flat )
        print_break( out, depth );
    tr_text_append( out, "]", 1 );
}

static void print_value( tr_text *out, const json_t *value, int depth )
{
    switch ( json_typeof( value ) ) {
    case JSON_OBJECT: print_object( out, value, depth ); break;
    case JSON_ARRAY: print_array( out, value, depth ); break;
    case JSON_STRING: tr_text_quoted( out, json_string_value( value ), json_string_length( value ) ); break;
    case JSON_INTEGER: tr_text_add( out, "%lld", (long long)json_integer_value( value ) ); break;
    case JSON_REAL: tr_text_exact( out, json_real_value( value ) ); break;
    case JSON_TRUE: tr_text_append( out, "true", 4 ); break;
    case JSON_FALSE: tr_text_append( out, "false", 5 ); break;
    case JSON_NULL: tr_text_append( out, "null", 4 ); break;
    }
}

void tr_json_print( const json_t *json, tr_text *out )
{
    print_value( out, json, 0 );
    tr_text_append( out, "\n", 1 );
}

bool tr_json_save( const json_t *json, const char *path, tr_error *error )
{
    tr_text text = { 0 };
    tr_json_print( json, &text );
    bool ok = text.failed ? tr_error_memory( error ) : tr_file_write( path, text.data, text.size, error );
    tr_text_free( &text );
    return ok;
}
