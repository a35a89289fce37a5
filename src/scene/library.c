#include "scene/document.h"

#include <string.h>

bool tr_library_add( tr_library *library, const char *path, tr_motion *motion, tr_error *error )
{
    struct tr_library_item item = { .motion = *motion };
    *motion = ( tr_motion ){ 0 };
    bool ok = true;
    if ( !tr_string_set( item.path, sizeof item.path, path ) )
        ok = tr_error_set( error, "the path \"%.40s…\" is longer than %d characters", path, TR_PATH_MAX - 1 );
    else if ( tr_library_find( library, path ) != NULL )
        ok = tr_error_set( error, "there are two motions under the path \"%s\"", path );
    else if ( !tr_array_reserve( (void **)&library->items, &library->capacity, library->count + 1,
                                 sizeof item ) )
        ok = tr_error_memory( error );
    if ( ok )
        library->items[library->count++] = item;
    else
        tr_motion_free( &item.motion );
    return ok;
}

const tr_motion *tr_library_find( const tr_library *library, const char *path )
{
    for ( int i = 0; i < library->count; ++i )
        if ( strcmp( library->items[i].path, path ) == 0 )
            return &library->items[i].motion;
    return NULL;
}

void tr_library_free( tr_library *library )
{
    for ( int i = 0; i < library->count; ++i )
        tr_motion_free( &library->items[i].motion );
    tr_free( library->items );
    *library = ( tr_library ){ 0 };
}
