// make_captures FOLDER: writes the files of this folder anew.
#include "maker.h"

#include <stdio.h>

int main( int count, char **arguments )
{
    if ( count != 2 ) {
        fprintf( stderr, "usage: %s FOLDER\n", arguments[0] );
        return 2;
    }
    for ( int take = 0; take < CAPTURE_COUNT; ++take ) {
        tr_text text = { 0 };
        tr_error error = { 0 };
        char path[1024];
        snprintf( path, sizeof path, "%s/%s", arguments[1], capture_info_of( take )->file );
        bool ok = capture_print( take, &text, &error ) && tr_file_write( path, text.data, text.size, &error );
        tr_text_free( &text );
        if ( !ok ) {
            char line[1400];
            tr_error_print( &error, line, sizeof line );
            fprintf( stderr, "%s\n", line );
            return 1;
        }
    }
    return 0;
}
