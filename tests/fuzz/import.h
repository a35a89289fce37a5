// The body of the fuzzers of glTF, FBX, arrays and tables: every skeleton that is found is read in its first
// take.
#include "import/import.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput( const uint8_t *data, size_t size )
{
    tr_import import;
    bool sound = true;
    tr_memory_set_limit( (size_t)1 << 30 );
    bool loaded = tr_import_parse( &import, (const char *)data, size, FUZZ_NAME, NULL, NULL, NULL );
    for ( int k = 0; loaded && sound && k < import.skeleton_count && k < 4; ++k ) {
        char number[16];
        tr_motion motion;
        snprintf( number, sizeof number, "%d", k + 1 );
        tr_import_def def = { .skeleton = number };
        sound = !tr_import_motion( &motion, &import, &def, NULL, NULL ) || tr_motion_check( &motion, NULL );
        tr_motion_free( &motion );
    }
    tr_import_free( &import );
    return sound && tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
