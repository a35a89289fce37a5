#include "document/fields.h"

#include <assert.h>
#include <string.h>

static size_t element_size( tr_list list )
{
    return list == TR_LIST_SCENE ? offsetof( tr_scene, cast ) : tr_list_get_info( list )->size;
}

_Static_assert( offsetof( tr_scene, imesh ) < offsetof( tr_scene, cast ),
                "the scene's own fields come before its lists" );

// A new change with room for its bytes; NULL when out of memory.
static tr_change *record( tr_edit *edit, tr_change change )
{
    size_t bytes = change.type == TR_CHANGE_REPLACE ? 2 * change.size : change.size;
    if ( !tr_array_reserve( (void **)&edit->changes, &edit->capacity, edit->count + 1, sizeof change ) )
        return NULL;
    change.bytes = tr_alloc( bytes, 1 );
    if ( change.bytes == NULL )
        return NULL;
    edit->bytes += bytes + sizeof change;
    edit->changes[edit->count] = change;
    return &edit->changes[edit->count++];
}

bool tr_edit_insert( tr_edit *edit, tr_scene *scene, tr_list list, int index, const void *element )
{
    size_t size = element_size( list );
    tr_change *change =
        record( edit, ( tr_change ){ .type = TR_CHANGE_INSERT, .list = list, .index = index, .size = size } );
    if ( change == NULL )
        return false;
    if ( tr_list_insert( scene, list, index, element ) ) {
        memcpy( change->bytes, element, size );
        return true;
    }
    edit->bytes -= size + sizeof *change;
    tr_free( change->bytes );
    --edit->count;
    return false;
}

bool tr_edit_remove( tr_edit *edit, tr_scene *scene, tr_list list, int index )
{
    size_t size = element_size( list );
    tr_change *change =
        record( edit, ( tr_change ){ .type = TR_CHANGE_REMOVE, .list = list, .index = index, .size = size } );
    if ( change == NULL )
        return false;
    memcpy( change->bytes, tr_list_at( scene, list, index ), size );
    tr_list_remove( scene, list, index );
    return true;
}

bool tr_edit_replace( tr_edit *edit, tr_scene *scene, tr_list list, int index, const void *element )
{
    unsigned char *before = tr_list_at( scene, list, index );
    const unsigned char *after = element;
    size_t begin = 0, end = element_size( list ); // only the bytes that differ are kept
    while ( begin < end && before[begin] == after[begin] )
        ++begin;
    while ( end > begin && before[end - 1] == after[end - 1] )
        --end;
    size_t size = end - begin;
    tr_change *change = record(
        edit, ( tr_change ){
                  .type = TR_CHANGE_REPLACE, .list = list, .index = index, .offset = begin, .size = size } );
    if ( change == NULL )
        return false;
    memcpy( change->bytes, before + begin, size );
    memcpy( change->bytes + size, after + begin, size );
    memcpy( before + begin, after + begin, size );
    return true;
}

static void put_back( tr_scene *scene, const tr_change *change )
{
    bool fits = tr_list_insert( scene, change->list, change->index, change->bytes );
    assert( fits );
    (void)fits;
}

void tr_edit_undo( const tr_edit *edit, tr_scene *scene )
{
    for ( int i = edit->count - 1; i >= 0; --i ) {
        const tr_change *change = &edit->changes[i];
        if ( change->type == TR_CHANGE_INSERT )
            tr_list_remove( scene, change->list, change->index );
        else if ( change->type == TR_CHANGE_REMOVE )
            put_back( scene, change );
        else
            memcpy( (char *)tr_list_at( scene, change->list, change->index ) + change->offset, change->bytes,
                    change->size );
    }
}

void tr_edit_redo( const tr_edit *edit, tr_scene *scene )
{
    for ( int i = 0; i < edit->count; ++i ) {
        const tr_change *change = &edit->changes[i];
        if ( change->type == TR_CHANGE_INSERT )
            put_back( scene, change );
        else if ( change->type == TR_CHANGE_REMOVE )
            tr_list_remove( scene, change->list, change->index );
        else
            memcpy( (char *)tr_list_at( scene, change->list, change->index ) + change->offset,
                    change->bytes + change->size, change->size );
    }
}

void tr_edit_free( tr_edit *edit )
{
    for ( int i = 0; i < edit->count; ++i )
        tr_free( edit->changes[i].bytes );
    tr_free( edit->changes );
    *edit = ( tr_edit ){ 0 };
}
