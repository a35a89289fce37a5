#include "io/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Room for `more` bytes and a final NUL behind what is there.
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

// Bytes of the UTF-8 character at the start of a string, 0 when it is none: a stray or missing continuation,
// a form longer than needed, half of a surrogate pair, a number beyond U+10FFFF.
static size_t character_length( const char *string, size_t length )
{
    unsigned char lead = (unsigned char)string[0], next = length > 1 ? (unsigned char)string[1] : 0;
    if ( lead < 0x80 )
        return 1;
    size_t count = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if ( lead < 0xC2 || lead > 0xF4 || count > length || ( lead == 0xE0 && next < 0xA0 ) ||
         ( lead == 0xED && next > 0x9F ) || ( lead == 0xF0 && next < 0x90 ) ||
         ( lead == 0xF4 && next > 0x8F ) )
        return 0;
    for ( size_t i = 1; i < count; ++i )
        if ( ( (unsigned char)string[i] & 0xC0 ) != 0x80 )
            return 0;
    return count;
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
        count = character_length( string + i, length - i );
        if ( count == 0 ) // old files name joints in other encodings; U+FFFD stands for what is unknown
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
