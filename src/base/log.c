#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>

void tr_log_add( tr_log *log, const char *format, ... )
{
    if ( log == NULL )
        return;
    char text[1024];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( text, sizeof text, format, arguments );
    va_end( arguments );
    char *line = tr_string_copy( text );
    if ( line != NULL &&
         tr_array_reserve( (void **)&log->lines, &log->capacity, log->count + 1, sizeof( char * ) ) )
        log->lines[log->count++] = line;
    else {
        tr_free( line );
        log->failed = true;
    }
}

void tr_log_free( tr_log *log )
{
    for ( int i = 0; i < log->count; ++i )
        tr_free( log->lines[i] );
    tr_free( log->lines );
    *log = ( tr_log ){ 0 };
}
