// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_obj -max_len=4096 tests/fuzz/corpus/obj
#include "format/format.h"
#include <stdlib.h>

// What was accepted is printed and read back as a mesh of as many triangles, and every question about it has
// an answer.
int LLVMFuzzerTestOneInput( const uint8_t *data, size_t size )
{
    tr_trimesh mesh, again = { 0 };
    tr_text text = { 0 };
    tr_obj_import import = { 1, 'z' }, printed = { 1, 'y' };
    bool loaded = tr_obj_parse( &mesh, (const char *)data, size, "fuzz.obj", &import, NULL ), sound = true;
    if ( loaded ) {
        tr_obj_print( &mesh, &text );
        sound = tr_obj_parse( &again, text.data, text.size, "again.obj", &printed, NULL ) &&
                again.triangle_count == mesh.triangle_count && again.closed == mesh.closed;
        tr_touch touch = tr_segment_trimesh_touch( v3_zero, v3( 0.3, 0.1, 0.2 ), &mesh );
        sound = sound && isfinite( touch.distance ) && v3_finite( touch.place ) &&
                v3_finite( touch.normal ) &&
                !isnan( tr_trimesh_ray( &mesh, v3( 0, 9, 0 ), v3( 0, -1, 0 ), NULL ) );
    }
    tr_text_free( &text );
    tr_trimesh_free( &mesh );
    tr_trimesh_free( &again );
    return sound && tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
