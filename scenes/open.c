// What a name, a file or a folder stands for: a built-in scene, a scene file, a folder of results, a lone
// motion.
#include "scenes/scenes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// walk 01.bvh → walk_01: an id the document accepts. "ground" is the floor.
static void id_from_path( tr_id id, const char *path )
{
    const char *slash = strrchr( path, '/' );
    const char *name = slash != NULL ? slash + 1 : path;
    int length = 0;
    for ( ; *name != 0 && *name != '.' && length < TR_ID_MAX - 1; ++name )
        id[length++] = isalnum( (unsigned char)*name ) ? (char)tolower( (unsigned char)*name ) : '_';
    if ( length == 0 )
        id[length++] = 'a';
    id[length] = 0;
    if ( strcmp( id, "ground" ) == 0 )
        strcat( id, "_" );
}

static bool read_motion( tr_opened *opened, tr_motion *motion, const char *path, const tr_import_def *def,
                         tr_error *error )
{
    tr_bvh bvh;
    tr_bvh_import import = tr_default_bvh_import();
    if ( tr_import_is_named( path ) )
        return tr_motion_read( motion, path, def, &opened->warnings, error );
    if ( !tr_bvh_load( &bvh, path, &opened->warnings, error ) )
        return false;
    bool ok = tr_bvh_to_motion( motion, &bvh, &import, error );
    if ( !ok && error != NULL && error->file[0] == 0 )
        snprintf( error->file, sizeof error->file, "%s", path );
    opened->first = tr_bvh_first_frame( &bvh );
    tr_bvh_free( &bvh );
    return ok;
}

// A lone motion is a scene with one character, at its own rate, as it stands in the file. The motion is taken
// over, as what the character's source names: a file, or something in memory.
static bool begin_lone( tr_opened *opened, const char *path, const tr_cast *cast, tr_motion *motion,
                        bool from_file, tr_error *error )
{
    opened->lone = true;
    opened->path = tr_string_copy( path );
    opened->scene = tr_default_scene();
    opened->scene.fps = motion->clip.fps;
    opened->scene.first = 0;
    opened->scene.last = motion->clip.frame_count - 1;
    bool ok = from_file ? tr_library_add_file( &opened->library, &cast->source, motion, error )
                        : tr_library_add( &opened->library, cast->source.file, motion, error );
    if ( !ok )
        return false;
    if ( opened->path == NULL )
        return tr_error_memory( error );
    return tr_scene_add_cast( &opened->scene, cast ) != NULL || tr_error_memory( error );
}

static bool open_motion( tr_opened *opened, const char *path, tr_error *error )
{
    tr_motion motion = { 0 };
    tr_id id;
    if ( !read_motion( opened, &motion, path, NULL, error ) )
        return false;
    id_from_path( id, path );
    tr_cast cast = tr_default_cast( id );
    snprintf( cast.source.file, sizeof cast.source.file, "%s.bvh", id );
    return begin_lone( opened, path, &cast, &motion, false, error );
}

static bool put_text( char *out, size_t size, const char *text )
{
    int length = snprintf( out, size, "%s", text );
    return length >= 0 && (size_t)length < size;
}

bool tr_open_motion( tr_opened *opened, const char *path, const tr_import_def *def, bool by_skeleton,
                     tr_error *error )
{
    tr_motion motion = { 0 };
    tr_id id;
    *opened = ( tr_opened ){ 0 };
    if ( !read_motion( opened, &motion, path, def, error ) )
        return false;
    id_from_path( id, by_skeleton ? def->skeleton : path );
    tr_cast cast = tr_default_cast( id );
    char *whole = realpath( path, NULL );
    bool named = put_text( cast.source.file, sizeof cast.source.file, whole != NULL ? whole : path ) &&
                 put_text( cast.source.skeleton, sizeof cast.source.skeleton, def->skeleton ) &&
                 put_text( cast.source.take, sizeof cast.source.take, def->take );
    free( whole );
    if ( !named ) {
        tr_motion_free( &motion );
        return tr_error_at( error, path, 0, 0, "the path is longer than %d characters", TR_PATH_MAX - 1 );
    }
    return begin_lone( opened, path, &cast, &motion, true, error );
}

// The folder of a file may hold results whose writer was interrupted.
static bool settle_beside( const char *file, tr_error *error )
{
    char *folder = tr_path_beside( file, "." );
    bool ok = folder != NULL ? tr_folder_recover( folder, error ) : tr_error_memory( error );
    tr_free( folder );
    return ok;
}

static bool open_scene_file( tr_opened *opened, char *path, tr_error *error ) // takes `path` over
{
    opened->file = path;
    opened->path = path != NULL ? tr_string_copy( path ) : NULL;
    if ( opened->path == NULL )
        return tr_error_memory( error );
    return settle_beside( path, error ) && tr_scene_load( &opened->scene, path, error );
}

// A folder with a report holds results; without one it is a scene like any other, as 'troupe make' writes it.
static bool open_folder( tr_opened *opened, const char *path, tr_error *error )
{
    char *file = tr_string_format( "%s/scene.json", path ),
         *report = tr_string_format( "%s/report.json", path );
    bool ok = file != NULL && report != NULL ? tr_folder_recover( path, error ) : tr_error_memory( error );
    if ( ok && !tr_file_exists( file ) )
        ok = tr_error_at( error, path, 0, 0, "the folder holds no scene.json" );
    if ( ok && tr_file_exists( report ) ) {
        opened->folder = tr_string_copy( path );
        ok = opened->folder != NULL || tr_error_memory( error );
    }
    tr_free( report );
    if ( ok )
        return open_scene_file( opened, file, error );
    tr_free( file );
    return false;
}

bool tr_scene_refuse( const char *what, const char *kind, tr_error *error )
{
    const char *names[64];
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    for ( int i = 0; i < count && i < 63; ++i )
        names[i] = table[i].name;
    names[count < 63 ? count : 63] = NULL;
    const char *nearest = tr_nearest_word( what, names );
    if ( nearest != NULL )
        return tr_error_set( error, "there is no %s '%s'; did you mean '%s'?", kind, what, nearest );
    return tr_error_set( error, "there is no %s '%s'; 'troupe scenes' lists the scenes", kind, what );
}

// A word that looks like a path was meant as one.
static bool refuse_unknown( tr_opened *opened, const char *what, tr_error *error )
{
    if ( strchr( what, '/' ) != NULL || strchr( what, '.' ) != NULL )
        return tr_error_at( error, what, 0, 0, "there is no such file or folder" );
    opened->misused = true;
    return tr_scene_refuse( what, "scene, file or folder", error );
}

bool tr_open( tr_opened *opened, const char *what, int cast, tr_error *error )
{
    *opened = ( tr_opened ){ 0 };
    const tr_scene_entry *entry = tr_scene_entry_find( what );
    struct stat status;
    if ( entry != NULL ) {
        opened->misused = cast != 0 && ( cast < entry->min_cast || cast > entry->max_cast );
        return tr_scene_build( entry, cast, &opened->scene, &opened->library, error );
    }
    if ( stat( what, &status ) != 0 && ( errno == ENOENT || errno == ENOTDIR ) )
        return refuse_unknown( opened, what, error );
    if ( stat( what, &status ) != 0 )
        return tr_error_at( error, what, 0, 0, "cannot open: %s", strerror( errno ) );
    opened->misused = cast != 0;
    if ( opened->misused )
        return tr_error_set( error, "only a built-in scene can be asked for a number of characters" );
    if ( S_ISDIR( status.st_mode ) )
        return open_folder( opened, what, error );
    if ( !tr_file_check( what, error ) )
        return false;
    if ( tr_path_ends_with( what, ".bvh" ) || tr_import_is_named( what ) )
        return open_motion( opened, what, error );
    if ( tr_path_ends_with( what, ".json" ) )
        return open_scene_file( opened, tr_string_copy( what ), error );
    return tr_error_at( error, what, 0, 0,
                        "neither a scene (.json) nor a motion (.bvh, .glb, .gltf, .fbx, .npz, .csv)" );
}

void tr_opened_skip_front( tr_opened *opened )
{
    if ( !opened->lone || opened->first == 0 )
        return;
    opened->scene.cast[0].source.first = opened->first;
    opened->scene.last -= opened->first;
    tr_log_add( &opened->warnings, "%s: frame 0 is an artificial T-pose and is left out", opened->path );
}

void tr_opened_free( tr_opened *opened )
{
    tr_library_free( &opened->library );
    tr_scene_free( &opened->scene );
    tr_log_free( &opened->warnings );
    tr_free( opened->file );
    tr_free( opened->path );
    tr_free( opened->folder );
    *opened = ( tr_opened ){ 0 };
}
