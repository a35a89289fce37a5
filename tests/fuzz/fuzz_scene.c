// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_scene tests/fuzz/corpus/scene
#include "troupe.h"
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerTestOneInput( const uint8_t *data, size_t size )
{
    tr_scene scene, again = tr_default_scene();
    tr_text first = { 0 }, second = { 0 };
    if ( tr_scene_parse( &scene, (const char *)data, size, "fuzz.json", NULL ) &&
         !( tr_scene_print( &scene, &first, NULL ) &&
            tr_scene_parse( &again, first.data, first.size, "again.json", NULL ) &&
            tr_scene_equal( &scene, &again ) && tr_scene_print( &again, &second, NULL ) &&
            first.size == second.size && memcmp( first.data, second.data, first.size ) == 0 ) )
        abort(); // what was accepted is printed, read back as the same, and printed alike
    tr_text_free( &first );
    tr_text_free( &second );
    tr_scene_free( &scene );
    tr_scene_free( &again );
    return tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
