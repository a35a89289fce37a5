// What a SCENE, FILE.json, FILE.bvh or DIR on the command line stands for.
#include "cli.h"

#include <ctype.h>
#include <stdio.h>
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

// A lone motion is a scene with one character, at its own rate, as it stands in the file.
static bool open_motion( cli_subject *subject, const char *path, tr_error *error )
{
    tr_motion motion = { 0 };
    tr_bvh_import import = tr_default_bvh_import();
    if ( !tr_motion_load( &motion, path, &import, &subject->warnings, error ) )
        return false;
    tr_id id;
    id_from_path( id, path );
    tr_cast cast = tr_default_cast( id );
    snprintf( cast.source.file, sizeof cast.source.file, "%s.bvh", id );
    subject->lone = true;
    subject->opened = tr_string_copy( path );
    subject->scene = tr_default_scene();
    subject->scene.fps = motion.clip.fps;
    subject->scene.first = 0;
    subject->scene.last = motion.clip.frame_count - 1;
    if ( !tr_library_add( &subject->library, cast.source.file, &motion, error ) )
        return false;
    if ( subject->opened == NULL )
        return tr_error_memory( error );
    return tr_scene_add_cast( &subject->scene, &cast ) != NULL || tr_error_memory( error );
}

static bool open_scene_file( cli_subject *subject, char *path, tr_error *error ) // takes `path` over
{
    subject->file = path;
    subject->opened = path != NULL ? tr_string_copy( path ) : NULL;
    return subject->opened != NULL ? tr_scene_load( &subject->scene, path, error ) : tr_error_memory( error );
}

// A folder with a report holds results; without one it is a scene like any other, as 'troupe make' writes it.
static bool open_folder( cli_subject *subject, const char *path, tr_error *error )
{
    char *file = tr_string_format( "%s/scene.json", path ),
         *report = tr_string_format( "%s/report.json", path );
    bool ok = ( file != NULL && report != NULL ) || tr_error_memory( error );
    if ( ok && !tr_file_exists( file ) )
        ok = tr_error_at( error, path, 0, 0, "the folder holds no scene.json" );
    if ( ok && tr_file_exists( report ) ) {
        subject->folder = tr_string_copy( path );
        ok = subject->folder != NULL || tr_error_memory( error );
    }
    tr_free( report );
    if ( ok )
        return open_scene_file( subject, file, error );
    tr_free( file );
    return false;
}

bool cli_refuse_scene( const char *what, const char *kind, tr_error *error )
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
static bool refuse_unknown( cli_subject *subject, const char *what, tr_error *error )
{
    if ( strchr( what, '/' ) != NULL || strchr( what, '.' ) != NULL )
        return tr_error_at( error, what, 0, 0, "there is no such file or folder" );
    subject->misused = true;
    return cli_refuse_scene( what, "scene, file or folder", error );
}

bool cli_subject_open( cli_subject *subject, const char *what, int cast, tr_error *error )
{
    *subject = ( cli_subject ){ 0 };
    const tr_scene_entry *entry = tr_scene_entry_find( what );
    struct stat status;
    if ( entry != NULL ) {
        subject->misused = cast != 0 && ( cast < entry->min_cast || cast > entry->max_cast );
        return tr_scene_build( entry, cast, &subject->scene, &subject->library, error );
    }
    if ( stat( what, &status ) != 0 )
        return refuse_unknown( subject, what, error );
    subject->misused = cast != 0;
    if ( subject->misused )
        return tr_error_set( error, "only a built-in scene can be asked for a number of characters" );
    if ( S_ISDIR( status.st_mode ) )
        return open_folder( subject, what, error );
    if ( cli_ends_with( what, ".bvh" ) )
        return open_motion( subject, what, error );
    if ( cli_ends_with( what, ".json" ) )
        return open_scene_file( subject, tr_string_copy( what ), error );
    return tr_error_at( error, what, 0, 0, "neither a scene (.json) nor a motion (.bvh)" );
}

bool cli_subject_stage( cli_subject *subject, tr_error *error )
{
    return tr_stage_build( &subject->stage, &subject->scene, subject->file, &subject->library,
                           &subject->warnings, error );
}

bool cli_subject_solve( cli_subject *subject, const cli_call *call, const tr_method *method, tr_error *error )
{
    if ( subject->folder != NULL )
        return tr_result_load( &subject->result, &subject->stage, subject->folder, error );
    if ( subject->lone )
        return tr_result_from_source( &subject->result, &subject->stage, error );
    cli_progress progress;
    cli_progress_begin( &progress, call, "solving" );
    tr_progress link = cli_progress_link( &progress );
    subject->stage.progress = &link;
    bool ok = tr_pipeline_run( &subject->result, &subject->stage, method, error );
    subject->stage.progress = NULL;
    cli_progress_end( &progress );
    return ok;
}

int cli_subject_fail( const cli_subject *subject, const tr_error *error )
{
    int code = cli_fail( error );
    return subject->misused ? CLI_USAGE : code;
}

void cli_subject_close( cli_subject *subject )
{
    tr_result_free( &subject->result );
    tr_stage_free( &subject->stage );
    tr_library_free( &subject->library );
    tr_scene_free( &subject->scene );
    tr_log_free( &subject->warnings );
    tr_free( subject->file );
    tr_free( subject->opened );
    tr_free( subject->folder );
    *subject = ( cli_subject ){ 0 };
}

// ------------------------------------------------------------------------------------------- own files

typedef struct inputs { // files a subject was read from, known by what they are rather than by their names
    struct stat *items;
    int count, capacity;
    bool failed; // out of memory
    char *hit;   // the first output that is one of them
} inputs;

static bool is_same( const struct stat *a, const struct stat *b )
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool cli_same_file( const char *a, const char *b )
{
    struct stat first, second;
    return stat( a, &first ) == 0 && stat( b, &second ) == 0 && is_same( &first, &second );
}

static void inputs_add( inputs *in, const char *beside, const char *path )
{
    char *full = beside != NULL ? tr_path_beside( beside, path ) : tr_string_copy( path );
    struct stat status;
    in->failed |=
        full == NULL || !tr_array_reserve( (void **)&in->items, &in->capacity, in->count + 1, sizeof status );
    if ( !in->failed && stat( full, &status ) == 0 )
        in->items[in->count++] = status;
    tr_free( full );
}

static void inputs_gather( inputs *in, const cli_subject *subject )
{
    if ( subject->opened != NULL )
        inputs_add( in, NULL, subject->opened );
    for ( int i = 0; i < subject->library.count; ++i )
        if ( subject->library.items[i].from_file )
            inputs_add( in, subject->file, subject->library.items[i].path );
    for ( int i = 0; i < subject->scene.cast_count; ++i )
        if ( subject->scene.cast[i].mapping[0] != 0 )
            inputs_add( in, subject->file, subject->scene.cast[i].mapping );
}

static void note_output( void *context, const char *path )
{
    inputs *in = context;
    struct stat status;
    if ( in->failed || in->hit != NULL || stat( path, &status ) != 0 )
        return;
    for ( int i = 0; i < in->count && in->hit == NULL; ++i )
        if ( is_same( &in->items[i], &status ) ) {
            in->hit = tr_string_copy( path );
            in->failed = in->hit == NULL;
        }
}

bool cli_subject_spares_inputs( const cli_subject *subject, const char *folder, const char *report,
                                tr_error *error )
{
    inputs in = { 0 };
    inputs_gather( &in, subject );
    if ( folder != NULL && !tr_result_visit_files( &subject->scene, folder, note_output, &in ) )
        in.failed = true;
    if ( report != NULL )
        note_output( &in, report );
    bool ok = in.failed ? tr_error_memory( error )
                        : in.hit == NULL || tr_error_at( error, in.hit, 0, 0,
                                                         "the scene is read from this file, and the result "
                                                         "would replace it; choose another place" );
    tr_free( in.items );
    tr_free( in.hit );
    return ok;
}

// --------------------------------------------------------------------------------------------- settings

const tr_method *cli_method( const cli_call *call )
{
    const char *name = cli_value( call, "method" );
    const tr_method *method = tr_method_find( name );
    if ( method != NULL )
        return method;
    const char *names[32];
    int count;
    const tr_method *table = tr_method_table( &count );
    for ( int i = 0; i < count && i < 31; ++i )
        names[i] = table[i].name;
    names[count < 31 ? count : 31] = NULL;
    cli_wrong_word( "method", name, names );
    return NULL;
}

bool cli_threads( const cli_call *call )
{
    int threads = 0;
    if ( !cli_int( call, "threads", 0, 1024, &threads ) )
        return false;
    tr_parallel_set_threads( threads );
    return true;
}
