#include "io/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Grows the text by space for `more` bytes and a final NUL.
static bool make_room( tr_text *text, size_t more )
{
    if ( text->failed )
        return false;
    if ( more < text->capacity - text->size )
        return true;
    size_t capacity = text->capacity < 256 ? 256 : text->capacity;
    while ( capacity <= text->size + more )
        capacity *= 2;
    char *bigger = tr_realloc( text->data, capacity, 1 );
    if ( bigger == NULL ) {
        text->failed = true;
        return false;
    }
    text->data = bigger;
    text->capacity = capacity;
    return true;
}

void tr_text_append( tr_text *text, const char *bytes, size_t size )
{
    if ( !make_room( text, size ) )
        return;
    memcpy( text->data + text->size, bytes, size );
    text->size += size;
    text->data[text->size] = 0;
}

void tr_text_add( tr_text *text, const char *format, ... )
{
    va_list arguments, again;
    va_start( arguments, format );
    va_copy( again, arguments );
    int length = vsnprintf( NULL, 0, format, arguments );
    if ( length >= 0 && make_room( text, (size_t)length ) ) {
        vsnprintf( text->data + text->size, (size_t)length + 1, format, again );
        text->size += (size_t)length;
    }
    va_end( again );
    va_end( arguments );
}

enum { LONGEST_NUMBER = 64 };

void tr_text_number( tr_text *text, double value, int decimals )
{
    if ( make_room( text, LONGEST_NUMBER ) )
        text->size += (size_t)tr_number_print( text->data + text->size, LONGEST_NUMBER, value, decimals );
}

void tr_text_exact( tr_text *text, double value )
{
    if ( make_room( text, LONGEST_NUMBER ) )
        text->size += (size_t)tr_number_print_exact( text->data + text->size, LONGEST_NUMBER, value );
}

static void append_escaped( tr_text *text, unsigned char c )
{
    if ( c == '"' || c == '\\' )
        tr_text_add( text, "\\%c", c );
    else if ( c == '\n' )
        tr_text_append( text, "\\n", 2 );
    else if ( c == '\t' )
        tr_text_append( text, "\\t", 2 );
    else if ( c < 0x20 )
        tr_text_add( text, "\\u%04x", c );
    else
        tr_text_append( text, (const char *)&c, 1 );
}

void tr_text_quoted( tr_text *text, const char *string, size_t length )
{
    tr_text_append( text, "\"", 1 );
    for ( size_t i = 0, count; i<length; i += count> 0 ? count : 1 ) {
        count = tr_utf8_length( string + i, length - i );
        if ( count == 0 ) // names of old files may have other encodings; U+FFFD replaces unknown bytes
            tr_text_append( text, "\xEF\xBF\xBD", 3 );
        else if ( count == 1 )
            append_escaped( text, (unsigned char)string[i] );
        else
            tr_text_append( text, string + i, count );
    }
    tr_text_append( text, "\"", 1 );
}

void tr_text_free( tr_text *text )
{
    tr_free( text->data );
    *text = ( tr_text ){ 0 };
}

void tr_skip_byte_order_mark( const char **text, size_t *size )
{
    if ( *size < 3 || memcmp( *text, "\xEF\xBB\xBF", 3 ) != 0 )
        return;
    *text += 3;
    *size -= 3;
}
