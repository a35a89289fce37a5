// Opens a SCENE, FILE.json, FILE.bvh or DIR of the command line; settings.
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool cli_subject_open( cli_subject *subject, const char *what, int cast, tr_error *error )
{
    tr_opened from;
    bool ok = tr_open( &from, what, cast, error );
    *subject = ( cli_subject ){ .scene = from.scene,
                                .library = from.library,
                                .warnings = from.warnings,
                                .file = from.file,
                                .opened = from.path,
                                .folder = from.folder,
                                .lone = from.lone,
                                .misused = from.misused };
    return ok;
}

bool cli_subject_stage( cli_subject *subject, tr_error *error )
{
    return tr_stage_build( &subject->stage, &subject->scene, subject->file, &subject->library,
                           &subject->warnings, error );
}

bool cli_run_pipeline( tr_result *out, tr_stage *stage, const cli_call *call, const tr_method *method,
                       tr_error *error )
{
    cli_progress progress;
    cli_progress_begin( &progress, call, "solving" );
    tr_progress link = cli_progress_link( &progress );
    stage->progress = &link;
    bool ok = tr_pipeline_run( out, stage, method, error );
    stage->progress = NULL;
    cli_progress_end( &progress );
    return ok;
}

bool cli_subject_solve( cli_subject *subject, const cli_call *call, const tr_method *method, tr_error *error )
{
    tr_library_free( &subject->library ); // the stage has its own copies of what it uses
    if ( subject->folder != NULL )
        return tr_result_load( &subject->result, &subject->stage, subject->folder, error );
    if ( subject->lone )
        return tr_result_from_source( &subject->result, &subject->stage, error );
    return cli_run_pipeline( &subject->result, &subject->stage, call, method, error );
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

int cli_show_subject( const cli_call *call, cli_show *show )
{
    if ( !cli_threads( call ) )
        return CLI_USAGE;
    cli_subject subject = { 0 };
    tr_error error = { 0 };
    int code = show( &subject, call, &error );
    cli_subject_close( &subject );
    return code;
}

// ------------------------------------------------------------------------------------------- own files

typedef struct inputs { // files that a subject was read from, identified by device and inode
    struct stat *items; // by file, once all are gathered
    int count, capacity;
    bool failed; // out of memory
    char *hit;   // the first output that is one of them
} inputs;

static int by_file( const void *a, const void *b )
{
    const struct stat *p = a, *q = b;
    return p->st_dev != q->st_dev ? ( p->st_dev > q->st_dev ) - ( p->st_dev < q->st_dev )
                                  : ( p->st_ino > q->st_ino ) - ( p->st_ino < q->st_ino );
}

static bool is_same( const struct stat *a, const struct stat *b )
{
    return by_file( a, b ) == 0;
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
    for ( int i = 0; i < subject->library.mesh_count; ++i )
        inputs_add( in, subject->file, subject->library.meshes[i].path );
    for ( int i = 0; i < subject->scene.cast_count; ++i ) {
        const tr_cast *cast = &subject->scene.cast[i];
        if ( cast->mapping[0] != 0 )
            inputs_add( in, subject->file, cast->mapping );
        if ( cast->target.look.file[0] != 0 )
            inputs_add( in, subject->file, cast->target.look.file );
    }
    if ( in->count > 0 )
        qsort( in->items, (size_t)in->count, sizeof *in->items, by_file );
}

static void note_output( void *context, const char *path )
{
    inputs *in = context;
    struct stat status;
    if ( in->failed || in->hit != NULL || stat( path, &status ) != 0 )
        return;
    if ( in->count > 0 &&
         bsearch( &status, in->items, (size_t)in->count, sizeof *in->items, by_file ) != NULL ) {
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

const tr_method *cli_method( const cli_call *call, const cli_subject *subject )
{
    const char *name = cli_value( call, "method" );
    return name != NULL ? tr_method_find( name ) : tr_method_default( &subject->scene );
}

bool cli_method_exists( const cli_call *call )
{
    const char *name = cli_value( call, "method" );
    tr_error error;
    return name == NULL || tr_pipeline_method( name, NULL, &error ) != NULL ||
           cli_wrong( "%s", error.message ) == CLI_OK;
}

// 500M or 4G: limit of the memory in bytes.
static bool take_memory( const cli_call *call )
{
    const char *text = cli_value( call, "memory" );
    if ( text == NULL )
        return true;
    double count = 0;
    const char *unit = tr_number_parse( text, text + strlen( text ), &count );
    double bytes = unit == NULL               ? 0
                   : strcmp( unit, "G" ) == 0 ? 1e9 * count
                   : strcmp( unit, "M" ) == 0 ? 1e6 * count
                                              : 0;
    if ( !( bytes >= 1e6 && bytes <= 1e15 ) ) {
        cli_wrong( "--memory takes a size such as 500M or 4G, not '%s'", text );
        return false;
    }
    tr_memory_set_limit( (size_t)1000000 * (size_t)tr_int_clamped( bytes / 1e6, 1, 1000000000 ) );
    return true;
}

bool cli_threads( const cli_call *call )
{
    int threads = 0;
    if ( !cli_int( call, "threads", 0, 1024, &threads ) || !take_memory( call ) )
        return false;
    tr_parallel_set_threads( threads );
    return true;
}

int cli_find_cast( const cli_subject *subject, const char *id )
{
    int found = tr_scene_find_cast( &subject->scene, id );
    const char **names =
        found < 0 ? tr_alloc( (size_t)subject->scene.cast_count + 1, sizeof( char * ) ) : NULL;
    for ( int i = 0; names != NULL && i < subject->scene.cast_count; ++i )
        names[i] = subject->scene.cast[i].id;
    if ( names != NULL )
        cli_wrong_word( "character", id, names );
    tr_free( names );
    return found;
}
