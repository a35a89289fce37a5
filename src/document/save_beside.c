// Saves a scene in another place, with motions that have no file yet, and with files from elsewhere.
#include "document/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct move { // a scene that moves to another file
    const tr_library *library;
    const char *base, *path;
    char *folder; // folder for motions, beside `path`
    const char *folder_name;
    bool same_place; // references are relative to the same folder as before
    struct copied {  // a file that came from elsewhere, and its name in the folder
        char from[TR_PATH_MAX], name[2 * TR_PATH_MAX + 16];
    } * copied;
    int count, capacity;
} move;

static const struct tr_library_item *in_memory( const tr_library *library, const char *path )
{
    for ( int i = 0; i < library->count; ++i )
        if ( !library->items[i].from_file && strcmp( library->items[i].path, path ) == 0 )
            return &library->items[i];
    return NULL;
}

static bool set_path( char out[TR_PATH_MAX], const char *text, tr_error *error )
{
    if ( !tr_utf8_valid( text, strlen( text ) ) ) // JSON requires it
        return tr_error_set( error,
                             "a scene cannot name the file \"%s\": its path must be valid UTF-8; save the "
                             "scene beside it or rename the folder",
                             text );
    return tr_string_set( out, TR_PATH_MAX, text ) ||
           tr_error_set( error, "the path \"%.60s…\" is longer than %d bytes; save the scene nearer to it",
                         text, TR_PATH_MAX - 1 );
}

// Makes a path relative to the old place absolute.
static bool rebase( const move *m, char file[TR_PATH_MAX], tr_error *error )
{
    if ( file[0] == 0 || file[0] == '/' || m->same_place || m->base == NULL )
        return true;
    char *seen = tr_path_beside( m->base, file );
    char *whole = seen != NULL ? realpath( seen, NULL ) : NULL;
    bool ok = seen != NULL ? whole == NULL || set_path( file, whole, error ) : tr_error_memory( error );
    free( whole );
    tr_free( seen );
    return ok;
}

// A clip made in memory is written in centimetres, Y up, and its reference says so.
static bool write_motion( const move *m, tr_file_ref *ref, const struct tr_library_item *item,
                          tr_error *error )
{
    char *file = tr_string_format( "%s/%s", m->folder, item->path );
    char *name = tr_string_format( "%s/%s", m->folder_name, item->path );
    bool ok = file != NULL && name != NULL
                  ? tr_folder_make( m->folder, error ) && tr_motion_save( &item->motion, file, error ) &&
                        set_path( ref->file, name, error )
                  : tr_error_memory( error );
    ref->unit = 0.01;
    ref->up = 'y';
    ref->rate = 0;
    memset( ref->skeleton, 0, sizeof ref->skeleton );
    memset( ref->take, 0, sizeof ref->take );
    tr_free( file );
    tr_free( name );
    return ok;
}

// ------------------------------------------------------------------------------------- from somewhere else

static bool is_used( const move *m, const char *name )
{
    for ( int i = 0; i < m->count; ++i )
        if ( strcmp( m->copied[i].name, name ) == 0 )
            return true;
    return in_memory( m->library, name ) != NULL;
}

// walk.bvh, walk_2.bvh, … A .gltf file has the files that it names beside it, so it gets a folder:
// walk/walk.gltf, walk_2/walk.gltf, …
static void name_copy( const move *m, struct copied *copy )
{
    const char *name = strrchr( copy->from, '/' ) + 1, *dot = strrchr( name, '.' );
    int length = dot != NULL ? (int)( dot - name ) : (int)strlen( name );
    bool folder = tr_path_ends_with( name, ".gltf" );
    char number[16] = "";
    for ( int n = 2;; ++n ) {
        snprintf( copy->name, sizeof copy->name, "%.*s%s%s%s", length, name, number, folder ? "/" : "",
                  folder        ? name
                  : dot != NULL ? dot
                                : "" );
        if ( !is_used( m, copy->name ) )
            return;
        snprintf( number, sizeof number, "_%d", n );
    }
}

static const struct copied *copy_of( move *m, const char *from, tr_error *error )
{
    for ( int i = 0; i < m->count; ++i )
        if ( strcmp( m->copied[i].from, from ) == 0 )
            return &m->copied[i];
    if ( !tr_array_reserve( (void **)&m->copied, &m->capacity, m->count + 1, sizeof *m->copied ) ) {
        tr_error_memory( error );
        return NULL;
    }
    struct copied *copy = &m->copied[m->count];
    snprintf( copy->from, sizeof copy->from, "%s", from );
    name_copy( m, copy );
    ++m->count;
    return copy;
}

static bool write_copy( const char *to, const char *data, size_t size, tr_error *error )
{
    char *folder = tr_path_beside( to, "." );
    bool ok = folder != NULL ? tr_folder_make( folder, error ) && tr_file_write( to, data, size, error )
                             : tr_error_memory( error );
    tr_free( folder );
    return ok;
}

// The files that a file names go with it. What is missing, or not below its folder, cannot.
static bool bring_beside( const char *from, const char *to, const char *data, size_t size, tr_error *error )
{
    tr_names names = { 0 };
    bool ok = tr_import_names( &names, data, size, from, error );
    for ( int i = 0; ok && i < names.count; ++i ) {
        char *text = NULL, *source = tr_path_beside( from, names.items[i] ),
             *target = tr_path_beside( to, names.items[i] );
        size_t length;
        ok = ( source != NULL && target != NULL ) || tr_error_memory( error );
        if ( ok && tr_file_read( source, &text, &length, NULL ) )
            ok = write_copy( target, text, length, error );
        tr_free( text );
        tr_free( source );
        tr_free( target );
    }
    tr_names_free( &names );
    return ok;
}

// A file with an absolute path is copied beside the scene. If it no longer exists, the last copy is used.
static bool bring( move *m, char file[TR_PATH_MAX], tr_error *error )
{
    char *text = NULL;
    size_t size = 0;
    bool there = tr_file_read( file, &text, &size, NULL );
    const struct copied *copy = copy_of( m, file, error );
    char *to = copy != NULL ? tr_string_format( "%s/%s", m->folder, copy->name ) : NULL;
    char *name = copy != NULL ? tr_string_format( "%s/%s", m->folder_name, copy->name ) : NULL;
    bool ok = ( to != NULL && name != NULL ) || tr_error_memory( error );
    if ( ok && there )
        ok = bring_beside( file, to, text, size, error ) && write_copy( to, text, size, error );
    if ( ok && ( there || tr_file_exists( to ) ) )
        ok = set_path( file, name, error );
    tr_free( to );
    tr_free( name );
    tr_free( text );
    return ok;
}

static bool move_file( move *m, char file[TR_PATH_MAX], tr_error *error )
{
    return file[0] == '/' ? bring( m, file, error ) : rebase( m, file, error );
}

static bool move_ref( move *m, tr_file_ref *ref, tr_error *error )
{
    const struct tr_library_item *item = in_memory( m->library, ref->file );
    return item != NULL ? write_motion( m, ref, item, error ) : move_file( m, ref->file, error );
}

static bool move_references( move *m, tr_scene *scene, tr_error *error )
{
    bool ok = true;
    for ( int i = 0; ok && i < scene->cast_count; ++i )
        ok = move_ref( m, &scene->cast[i].source, error ) &&
             move_ref( m, &scene->cast[i].target.skeleton, error ) &&
             move_file( m, scene->cast[i].target.look.file, error ) &&
             move_file( m, scene->cast[i].mapping, error );
    for ( int i = 0; ok && i < scene->prop_count; ++i )
        ok = move_ref( m, &scene->props[i].track, error ) && move_file( m, scene->props[i].form.mesh, error );
    for ( int i = 0; ok && i < scene->obstacle_count; ++i )
        ok = move_file( m, scene->obstacles[i].form.mesh, error );
    for ( int i = 0; ok && i < scene->clip_count; ++i )
        ok = move_ref( m, &scene->clips[i].source, error );
    return ok;
}

static bool same_folder( const char *a, const char *b )
{
    const char *end_a = strrchr( a, '/' ), *end_b = strrchr( b, '/' );
    size_t length_a = end_a != NULL ? (size_t)( end_a - a ) : 0,
           length_b = end_b != NULL ? (size_t)( end_b - b ) : 0;
    return length_a == length_b && strncmp( a, b, length_a ) == 0;
}

bool tr_scene_save_beside( const tr_scene *scene, const tr_library *library, const char *base,
                           const char *path, tr_error *error )
{
    size_t length = strlen( path ), ending = length > 5 && strcmp( path + length - 5, ".json" ) == 0 ? 5 : 0;
    move m = { .library = library, .base = base, .path = path };
    m.folder = tr_string_format( "%.*s_motion", (int)( length - ending ), path );
    if ( m.folder == NULL )
        return tr_error_memory( error );
    const char *slash = strrchr( m.folder, '/' );
    m.folder_name = slash != NULL ? slash + 1 : m.folder;
    m.same_place = base != NULL && same_folder( base, path );
    tr_scene copy;
    bool ok = tr_scene_copy( &copy, scene, error );
    if ( ok ) {
        ok = move_references( &m, &copy, error ) && tr_scene_save( &copy, path, error );
        tr_scene_free( &copy );
    }
    tr_free( m.folder );
    tr_free( m.copied );
    return ok;
}
