// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_map -max_len=2048 tests/fuzz/corpus/map
#include "troupe.h"
#include <stdlib.h>
#include <string.h>

// A column of joints a, b, c, … with a side branch on the last: names that a fuzzer finds.
static void make_column( tr_skeleton *skeleton, int count )
{
    for ( int j = 0; j < count; ++j ) {
        char name[2] = { (char)( 'a' + j ), 0 };
        tr_skeleton_add( skeleton, name, j - 1 - ( j + 1 == count ), v3( 0, 0.1 * ( j % 3 ), 0 ) );
    }
}

int LLVMFuzzerTestOneInput( const uint8_t *data, size_t size )
{
    tr_actor actor = { 0 }, again = { 0 };
    make_column( &actor.source.skeleton, 6 );
    make_column( &actor.target, 8 );
    again.source.skeleton = actor.source.skeleton;
    again.target = actor.target;
    tr_text first = { 0 }, second = { 0 };
    if ( tr_joint_map_parse( &actor, (const char *)data, size, "fuzz.json", NULL ) &&
         !( tr_joint_map_print( &actor, false, &first, NULL ) &&
            tr_joint_map_parse( &again, first.data, first.size, "again.json", NULL ) &&
            memcmp( actor.map, again.map, 8 * sizeof( int ) ) == 0 &&
            tr_joint_map_print( &again, false, &second, NULL ) && first.size == second.size &&
            memcmp( first.data, second.data, first.size ) == 0 ) )
        abort(); // what was accepted is printed, read back as the same, and printed alike
    tr_text_free( &first );
    tr_text_free( &second );
    tr_joint_map_free( &actor );
    tr_joint_map_free( &again );
    tr_skeleton_free( &actor.source.skeleton );
    tr_skeleton_free( &actor.target );
    return tr_memory_live() == 0 ? 0 : ( abort(), 0 );
}
