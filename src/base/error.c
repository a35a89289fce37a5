#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill( tr_error *error, const char *file, int line, int column, const char *path,
                  const char *format, va_list arguments )
{
    if ( error == NULL )
        return;
    snprintf( error->file, sizeof error->file, "%s", file != NULL ? file : "" );
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
    snprintf( out, size, "%s%s%s%s%s%s", error->file, after_file, place, error->path, after_path,
              error->message );
}
