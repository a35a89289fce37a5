// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_bvh -timeout=10 tests/fuzz/corpus/bvh
#include "format/format.h"
#include <stdlib.h>
int LLVMFuzzerTestOneInput( const uint8_t *data, size_t size )
{
    tr_bvh bvh, back = { 0 }, again = { 0 };
    tr_motion motion = { 0 };
    tr_text text = { 0 };
    bool loaded = tr_bvh_parse( &bvh, (const char *)data, size, "fuzz.bvh", NULL, NULL ) &&
                  tr_bvh_to_motion( &motion, &bvh, NULL, NULL );
    bool sound = !loaded || ( tr_motion_check( &motion, NULL ) &&
                              tr_bvh_from_motion( &back, &motion, &bvh, NULL, NULL ) );
    if ( loaded && sound )
        tr_bvh_print( &back, &text );
    sound = sound && ( !loaded || tr_bvh_parse( &again, text.data, text.size, "again.bvh", NULL, NULL ) );
    tr_text_free( &text );
    tr_motion_free( &motion );
    tr_bvh_free( &again ), tr_bvh_free( &back ), tr_bvh_free( &bvh );
    return sound && tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
