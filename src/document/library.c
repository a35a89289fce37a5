#include "document/fields.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------- slots
// A hash table of paths; items of the same path are in the order in which they were added.

static size_t slot_of( const tr_library *library, const char *path )
{
    return (size_t)tr_hash_bytes( TR_HASH_START, path, strlen( path ) ) & (size_t)( library->slot_count - 1 );
}

static size_t next_slot( const tr_library *library, size_t slot )
{
    return ( slot + 1 ) & (size_t)( library->slot_count - 1 );
}

static void enter( tr_library *library, int index )
{
    size_t at = slot_of( library, library->items[index].path );
    while ( library->slots[at] > 0 )
        at = next_slot( library, at );
    library->slots[at] = index + 1;
}

// At least half of the slots stay free.
static bool reserve_slots( tr_library *library, int count )
{
    if ( 2 * (int64_t)count <= library->slot_count )
        return true;
    int slot_count = library->slot_count > 0 ? 2 * library->slot_count : 16;
    int *slots = tr_alloc( (size_t)slot_count, sizeof( int ) );
    if ( slots == NULL )
        return false;
    tr_free( library->slots );
    library->slots = slots;
    library->slot_count = slot_count;
    for ( int i = 0; i < library->count; ++i )
        enter( library, i );
    return true;
}

// Whether both read the same motion in the same way; which frames are taken of it comes later.
static bool read_alike( const tr_file_ref *a, const tr_file_ref *b )
{
    return a->unit == b->unit && a->up == b->up && a->rate == b->rate &&
           strcmp( a->skeleton, b->skeleton ) == 0 && strcmp( a->take, b->take ) == 0;
}

// A motion made in memory matches any reference; one from a file only one that reads it in the same way.
// Without a reference any motion of the path does.
static const tr_motion *find_reading( const tr_library *library, const char *path, const tr_file_ref *ref )
{
    if ( library->slot_count == 0 )
        return NULL;
    for ( size_t at = slot_of( library, path ); library->slots[at] > 0; at = next_slot( library, at ) ) {
        const struct tr_library_item *item = &library->items[library->slots[at] - 1];
        bool same = ref == NULL || !item->from_file || read_alike( &item->ref, ref );
        if ( same && strcmp( item->path, path ) == 0 )
            return &item->motion;
    }
    return NULL;
}

static bool add_item( tr_library *library, const char *path, struct tr_library_item item, tr_error *error )
{
    bool ok = true;
    if ( !tr_string_set( item.path, sizeof item.path, path ) )
        ok = tr_error_set( error, "the path \"%.40s…\" is longer than %d characters", path, TR_PATH_MAX - 1 );
    else if ( find_reading( library, path, item.from_file ? &item.ref : NULL ) != NULL )
        ok = tr_error_set( error, "there are two motions under the path \"%s\"", path );
    else if ( !tr_array_reserve( (void **)&library->items, &library->capacity, library->count + 1,
                                 sizeof item ) ||
              !reserve_slots( library, library->count + 1 ) )
        ok = tr_error_memory( error );
    ok = ok && tr_skeleton_name_apart( &item.motion.skeleton, error );
    if ( ok ) {
        library->items[library->count] = item;
        enter( library, library->count++ );
    } else
        tr_motion_free( &item.motion );
    return ok;
}

bool tr_library_add( tr_library *library, const char *path, tr_motion *motion, tr_error *error )
{
    struct tr_library_item item = { .motion = *motion };
    *motion = ( tr_motion ){ 0 };
    return add_item( library, path, item, error );
}

bool tr_library_add_file( tr_library *library, const tr_file_ref *ref, tr_motion *motion, tr_error *error )
{
    struct tr_library_item item = { .motion = *motion, .from_file = true, .ref = *ref };
    *motion = ( tr_motion ){ 0 };
    return add_item( library, ref->file, item, error );
}

const tr_motion *tr_library_find_file( const tr_library *library, const tr_file_ref *ref )
{
    return find_reading( library, ref->file, ref );
}

const tr_motion *tr_library_find( const tr_library *library, const char *path )
{
    return find_reading( library, path, NULL );
}

const tr_trimesh *tr_library_mesh( tr_library *library, const tr_form *form, const char *file,
                                   tr_error *error )
{
    struct tr_library_mesh item = { .import = { form->unit, form->up } };
    for ( int i = 0; i < library->mesh_count; ++i ) {
        const struct tr_library_mesh *known = &library->meshes[i];
        if ( strcmp( known->path, form->mesh ) == 0 && known->import.unit == form->unit &&
             known->import.up == form->up )
            return &known->mesh;
    }
    char *path = file != NULL ? tr_path_beside( file, form->mesh ) : tr_string_copy( form->mesh );
    bool ok = path != NULL ? tr_mesh_read( &item.mesh, path, &item.import, error ) : tr_error_memory( error );
    tr_free( path );
    if ( !ok )
        return NULL;
    tr_string_set( item.path, sizeof item.path, form->mesh );
    if ( !tr_array_reserve( (void **)&library->meshes, &library->mesh_capacity, library->mesh_count + 1,
                            sizeof item ) ) {
        tr_trimesh_free( &item.mesh );
        tr_error_memory( error );
        return NULL;
    }
    library->meshes[library->mesh_count] = item;
    return &library->meshes[library->mesh_count++].mesh;
}

void tr_library_free( tr_library *library )
{
    for ( int i = 0; i < library->mesh_count; ++i )
        tr_trimesh_free( &library->meshes[i].mesh );
    tr_free( library->meshes );
    for ( int i = 0; i < library->count; ++i )
        tr_motion_free( &library->items[i].motion );
    tr_free( library->items );
    tr_free( library->slots );
    *library = ( tr_library ){ 0 };
}
