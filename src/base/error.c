#include "base/private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A path that is too long keeps its end, which identifies the file.
static void fill_file( char *out, size_t size, const char *file )
{
    static const char dots[] = "…";
    size_t length = strlen( file ), room = size - sizeof dots;
    if ( length < size ) {
        memcpy( out, file, length + 1 );
        return;
    }
    const char *end = file + length - room;
    while ( ( *end & 0xC0 ) == 0x80 ) // not in the middle of a character
        ++end;
    snprintf( out, size, "%s%s", dots, end );
}

static void fill( tr_error *error, const char *file, int line, int column, const char *path,
                  const char *format, va_list arguments )
{
    if ( error == NULL )
        return;
    fill_file( error->file, sizeof error->file, file != NULL ? file : "" );
    snprintf( error->path, sizeof error->path, "%s", path != NULL ? path : "" );
    error->line = line;
    error->column = column;
    vsnprintf( error->message, sizeof error->message, format, arguments );
}

bool tr_error_set( tr_error *error, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    fill( error, NULL, 0, 0, NULL, format, arguments );
    va_end( arguments );
    return false;
}

bool tr_error_at( tr_error *error, const char *file, int line, int column, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    fill( error, file, line, column, NULL, format, arguments );
    va_end( arguments );
    return false;
}

bool tr_error_path( tr_error *error, const char *file, const char *path, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    fill( error, file, 0, 0, path, format, arguments );
    va_end( arguments );
    return false;
}

bool tr_error_memory( tr_error *error )
{
    if ( !tr_work_wanted() )
        return tr_error_set( error, "cancelled" );
    if ( tr_memory_was_refused() )
        return tr_error_set( error, "out of memory: this needs more than the %.3g GB that may be used",
                             1e-9 * (double)tr_memory_limit() );
    return tr_error_set( error, "out of memory" );
}

void tr_error_print( const tr_error *error, char *out, size_t size )
{
    char place[48] = "";
    if ( error->line > 0 && error->column > 0 )
        snprintf( place, sizeof place, "%d:%d: ", error->line, error->column );
    else if ( error->line > 0 )
        snprintf( place, sizeof place, "%d: ", error->line );
    const char *after_file = error->file[0] == 0 ? "" : place[0] != 0 ? ":" : ": ";
    const char *after_path = error->path[0] == 0 ? "" : ": ";
    char line[sizeof *error + sizeof place + 8];
    snprintf( line, sizeof line, "%s%s%s%s%s%s", error->file, after_file, place, error->path, after_path,
              error->message );
    tr_print_safe( out, size, line, "" );
}

void tr_print_safe( char *out, size_t size, const char *text, const char *allowed )
{
    size_t filled = 0, left = strlen( text );
    for ( size_t length; left > 0 && filled + 1 < size; text += length, left -= length ) {
        unsigned char c = (unsigned char)*text;
        length = tr_utf8_length( text, left );
        bool valid = length > 0;
        bool control = c < 0x20 || c == 0x7F || ( c == 0xC2 && (unsigned char)text[1] < 0xA0 );
        if ( valid && ( !control || strchr( allowed, c ) != NULL ) ) {
            size_t room = size - 1 - filled;
            memcpy( out + filled, text, length < room ? length : room );
            filled += length < room ? length : room;
            continue;
        }
        length = valid ? length : 1;
        for ( size_t i = 0; i < length; ++i ) {
            int put = snprintf( out + filled, size - filled, "\\x%02X", (unsigned char)text[i] );
            filled += (size_t)put < size - filled ? (size_t)put : size - 1 - filled;
        }
    }
    if ( size > 0 )
        out[filled] = 0;
}
