// Lists of lines of text.
#include "ui/session/private.h"

#include <string.h>

void tr_lines_free( tr_lines *l )
{
    for ( int i = 0; i < l->count; ++i )
        tr_free( l->items[i] );
    tr_free( l->items );
    *l = ( tr_lines ){ 0 };
}

bool tr_lines_copy( tr_lines *out, char *const *text, int count )
{
    tr_lines_free( out );
    out->items = count > 0 ? tr_alloc( (size_t)count, sizeof( char * ) ) : NULL;
    for ( int i = 0; out->items != NULL && i < count; ++i ) {
        char *copy = tr_string_copy( text[i] );
        if ( copy != NULL )
            out->items[out->count++] = copy;
    }
    return out->count == count;
}

bool tr_lines_same( const tr_lines *l, char *const *text, int count )
{
    if ( l->count != count )
        return false;
    for ( int i = 0; i < count; ++i )
        if ( strcmp( l->items[i], text[i] ) != 0 )
            return false;
    return true;
}

bool tr_lines_add( tr_lines *l, const char *text )
{
    char **items = tr_alloc( (size_t)l->count + 1, sizeof *items ), *copy = tr_string_copy( text );
    if ( items == NULL || copy == NULL ) {
        tr_free( items );
        tr_free( copy );
        return false;
    }
    for ( int i = 0; i < l->count; ++i )
        items[i] = l->items[i];
    items[l->count++] = copy;
    tr_free( l->items );
    l->items = items;
    return true;
}

char *tr_lines_take( tr_lines *l )
{
    char *first = l->items[0];
    memmove( l->items, l->items + 1, (size_t)--l->count * sizeof *l->items );
    return first;
}
