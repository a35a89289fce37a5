// Lists by key, sorted by counting.
#include "base/base.h"

#include <assert.h>
#include <string.h>

void tr_lists_fill( tr_lists lists, const int *keys, int count, int key_count )
{
    int *first = lists.first;
    memset( first, 0, ( (size_t)key_count + 1 ) * sizeof( int ) );
    for ( int i = 0; i < count; ++i ) {
        assert( keys[i] < key_count );
        if ( keys[i] >= 0 )
            first[keys[i]]++;
    }
    for ( int k = 0; k < key_count; ++k )
        first[k + 1] += first[k];
    for ( int i = count - 1; i >= 0; --i ) // each list is filled from its end, where first[k] is now
        if ( keys[i] >= 0 )
            lists.items[--first[keys[i]]] = i;
}

bool tr_lists_build( tr_lists *lists, const int *keys, int count, int key_count )
{
    lists->first = tr_alloc( (size_t)key_count + 1, sizeof( int ) );
    lists->items = tr_alloc( (size_t)count, sizeof( int ) );
    if ( lists->first == NULL || lists->items == NULL ) {
        tr_lists_free( lists );
        return false;
    }
    tr_lists_fill( *lists, keys, count, key_count );
    return true;
}

void tr_lists_free( tr_lists *lists )
{
    tr_free( lists->first );
    tr_free( lists->items );
    *lists = ( tr_lists ){ 0 };
}
