// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_pipeline tests/fuzz/corpus/pipeline
//
// The first byte chooses a method and a part of the trial, the others make the scene: tests/generate.h.
#include "trial.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char folder[64];
static int remove_entry( const char *path, const struct stat *status, int kind, struct FTW *where )
{
    (void)status, (void)kind, (void)where;
    return remove( path );
}
static void clean_up( void )
{
    nftw( folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS );
}
static void make_folder( void )
{
    snprintf( folder, sizeof folder, "%s/fuzz_pipeline_XXXXXX",
              access( "/dev/shm", W_OK ) == 0 ? "/dev/shm" : "/tmp" );
    if ( mkdtemp( folder ) == NULL )
        abort();
    atexit( clean_up );
}
int LLVMFuzzerTestOneInput( const uint8_t *data, size_t size )
{
    if ( folder[0] == 0 )
        make_folder();
    if ( size == 0 )
        return 0;
    int count;
    const tr_method *methods = tr_method_table( &count );
    int part = data[0] / count % 3;
    trial_def def = { .parts = 1 << part, .method = methods[data[0] % count].name, .seed = data[0] };
    choices c = choices_from_bytes( data + 1, size - 1 );
    generated g;
    trial_outcome outcome;
    tr_error error;
    if ( !generate( &g, &c,
                    part == 2   ? GENERATE_DRAGS
                    : part == 1 ? GENERATE_LAYERS
                                : GENERATE_ANY ) ||
         !tr_scene_check( &g.scene, NULL, &error ) || !generated_write( &g, folder, &error ) )
        abort();
    generated_free( &g );
    trial_run( &outcome, folder, &def );
    if ( outcome.failure[0] != 0 ) {
        fprintf( stderr, "%s: %s\n", outcome.failure, outcome.message );
        abort();
    }
    return tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
