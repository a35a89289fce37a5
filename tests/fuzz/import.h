// The body of the fuzzers of glTF, FBX, arrays and tables: every skeleton that is found is read in its first
// take; of FBX meshes, too, whose document must be JSON with all skins.
#include "import/import.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    tr_import_def meshes = { .meshes = true };
    loaded = tr_import_may_have_meshes( FUZZ_NAME ) && sound &&
             tr_import_parse( &import, (const char *)data, size, FUZZ_NAME, &meshes, NULL, NULL );
    if ( loaded ) {
        tr_import_document document = tr_import_get_document( &import );
        json_t *json = NULL;
        bool fbx = strcmp( import.format, "FBX" ) == 0;
        bool parsed = tr_json_parse( &json, document.json, document.size, "document", NULL );
        sound = !fbx || ( parsed && json_array_size( json_object_get( json, "nodes" ) ) ==
                                        (size_t)tr_import_get_tree( &import ).node_count );
        for ( int s = 0; fbx && s < document.skin_count; ++s )
            sound = sound && tr_import_skin_joint( &import, s, 0 ) >= 0;
        json_decref( json );
        tr_trimesh mesh;
        if ( tr_import_mesh( &mesh, &import, FUZZ_NAME, 1, NULL ) )
            tr_trimesh_free( &mesh );
        tr_import_free( &import );
    }
    return sound && tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
