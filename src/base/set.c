// Union–find.
#include "base/base.h"

int tr_set_find( int *parent, int i )
{
    while ( parent[i] != i )
        i = parent[i] = parent[parent[i]];
    return i;
}

void tr_set_join( int *parent, int a, int b )
{
    int x = tr_set_find( parent, a ), y = tr_set_find( parent, b );
    if ( x < y )
        parent[y] = x;
    else
        parent[x] = y;
}
