// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_ops -max_len=2048 tests/fuzz/corpus/ops
#include "troupe.h"
#include <stdlib.h>
int LLVMFuzzerTestOneInput( const uint8_t *data, size_t size )
{
    tr_scene empty = tr_default_scene();
    tr_document *document = tr_document_create( &empty, NULL ), *replay = tr_document_create( &empty, NULL );
    tr_document_run( document, (const char *)data, size, "fuzz.ops", NULL );
    for ( int i = 0; i < tr_document_log_count( document ); ++i )
        tr_document_apply( replay, tr_document_log( document, i ), NULL );
    bool ok = tr_scene_equal( tr_document_scene( document ), tr_document_scene( replay ) );
    while ( tr_document_undo( document ) )
        ok = ok && tr_scene_check( tr_document_scene( document ), NULL, NULL );
    ok = ok && tr_scene_equal( tr_document_scene( document ), &empty );
    while ( tr_document_redo( document ) )
        ok = ok && tr_scene_check( tr_document_scene( document ), NULL, NULL );
    ok = ok && tr_scene_equal( tr_document_scene( document ), tr_document_scene( replay ) );
    tr_document_destroy( document ), tr_document_destroy( replay );
    return ok && tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
