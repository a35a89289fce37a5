// Files in the user's state folder: a recovery file while there are unsaved changes, and recent files.
#include "ui/app.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *default_folder( void )
{
    const char *state = getenv( "XDG_STATE_HOME" ), *home = getenv( "HOME" );
    if ( state != NULL && state[0] == '/' )
        return tr_string_format( "%s/troupe", state );
    return home != NULL ? tr_string_format( "%s/.local/state/troupe", home ) : NULL;
}

// --------------------------------------------------------------------------------------------------- recent

static void recent_path( const tr_state_files *files, char *out, size_t size )
{
    snprintf( out, size, "%s/recent", files->folder );
}

static void load_recent( tr_state_files *files )
{
    char path[PATH_MAX], *text = NULL;
    size_t size;
    int count = 0;
    recent_path( files, path, sizeof path );
    if ( !tr_file_exists( path ) || !tr_file_read( path, &text, &size, NULL ) )
        return;
    for ( char *line = strtok( text, "\n" ); line != NULL && count < 10; line = strtok( NULL, "\n" ) )
        files->recent[count++] = tr_string_copy( line );
    tr_free( text );
}

static void save_recent( const tr_state_files *files )
{
    char path[PATH_MAX];
    tr_text text = { 0 };
    for ( int i = 0; files->recent[i] != NULL; ++i )
        tr_text_add( &text, "%s\n", files->recent[i] );
    recent_path( files, path, sizeof path );
    if ( !text.failed )
        tr_file_write( path, text.data, text.size, NULL );
    tr_text_free( &text );
}

void tr_state_files_note( tr_state_files *files, const char *path )
{
    char *whole = path != NULL ? realpath( path, NULL ) : NULL;
    if ( files->folder == NULL || whole == NULL || strchr( whole, '\n' ) != NULL ) {
        free( whole );
        return;
    }
    int last = 0; // the place that falls out: its old one, or the end
    while ( last < 9 && files->recent[last] != NULL && strcmp( files->recent[last], whole ) != 0 )
        ++last;
    tr_free( files->recent[last] );
    memmove( files->recent + 1, files->recent, (size_t)last * sizeof( char * ) );
    files->recent[0] = tr_string_copy( whole );
    free( whole );
    save_recent( files );
}

// ------------------------------------------------------------------------------------------------- recovery
// recovery-<process>.json: {"what": what was opened, "cast": with how many characters, 0 = its own number,
// "file": where it is saved or null, "scene": {…}}

// The name and the state of a process; 'Z' is a zombie: it has ended, but its parent did not wait for it.
static bool read_process( const char *process, char name[64], char *what )
{
    char path[64];
    snprintf( path, sizeof path, "/proc/%s/stat", process );
    FILE *file = fopen( path, "r" );
    bool ok = file != NULL && fscanf( file, "%*d (%62[^)]) %c", name, what ) == 2;
    if ( file != NULL )
        fclose( file );
    return ok;
}

// Process numbers are used again: a process with another name is not the editor that wrote the file.
static bool is_running( int process )
{
    char number[16], own[64], other[64], what;
    snprintf( number, sizeof number, "%d", process );
    if ( !read_process( number, other, &what ) ) // gone, or there is no /proc
        return kill( process, 0 ) == 0 || errno != ESRCH;
    return what != 'Z' && what != 'X' && ( !read_process( "self", own, &what ) || strcmp( own, other ) == 0 );
}

// A recovery file whose process is gone was left behind by a crash.
static bool left_behind( const char *name )
{
    int process = 0, length = 0;
    return sscanf( name, "recovery-%d.json%n", &process, &length ) == 1 && name[length] == 0 && length > 0 &&
           process != (int)getpid() && !is_running( process );
}

// "relay.json, kept on 3 May at 14:02"
static void describe_recovery( tr_state_files *files, time_t when )
{
    json_t *json = NULL;
    struct tm local;
    char day[64] = "";
    const char *what = NULL;
    if ( tr_json_load( &json, files->found, NULL ) ) {
        what = json_string_value( json_object_get( json, "file" ) );
        what = what != NULL ? what : json_string_value( json_object_get( json, "what" ) );
    }
    const char *slash = what != NULL ? strrchr( what, '/' ) : NULL;
    if ( localtime_r( &when, &local ) != NULL )
        strftime( day, sizeof day, ", kept on %e %B at %H:%M", &local );
    snprintf( files->found_what, sizeof files->found_what, "%.120s%s",
              what == NULL    ? "a scene"
              : slash != NULL ? slash + 1
                              : what,
              day );
    json_decref( json );
}

// The newest of them.
static void find_recovery( tr_state_files *files )
{
    DIR *dir = opendir( files->folder );
    struct stat status, newest = { 0 };
    if ( dir == NULL )
        return;
    for ( struct dirent *entry; ( entry = readdir( dir ) ) != NULL; ) {
        char *path =
            left_behind( entry->d_name ) ? tr_string_format( "%s/%s", files->folder, entry->d_name ) : NULL;
        bool newer = path != NULL && stat( path, &status ) == 0 &&
                     ( files->found == NULL || status.st_mtime > newest.st_mtime );
        if ( newer ) {
            tr_free( files->found );
            files->found = path;
            newest = status;
        } else
            tr_free( path );
    }
    closedir( dir );
    if ( files->found != NULL )
        describe_recovery( files, newest.st_mtime );
}

void tr_state_files_open( tr_state_files *files, const char *folder, double period )
{
    *files = ( tr_state_files ){ .period = period };
    files->folder = folder != NULL ? tr_string_copy( folder ) : default_folder();
    if ( files->folder == NULL )
        return;
    if ( !tr_folder_make( files->folder, NULL ) ) {
        tr_free( files->folder );
        files->folder = NULL;
        return;
    }
    files->recovery = tr_string_format( "%s/recovery-%d.json", files->folder, (int)getpid() );
    load_recent( files );
    find_recovery( files );
}

void tr_state_files_close( tr_state_files *files )
{
    if ( files->recovery != NULL )
        unlink( files->recovery );
    tr_free( files->folder );
    tr_free( files->recovery );
    tr_free( files->found );
    for ( int i = 0; files->recent[i] != NULL; ++i )
        tr_free( files->recent[i] );
    *files = ( tr_state_files ){ 0 };
}

static bool write_recovery( const tr_state_files *files, const tr_session *session )
{
    tr_text text = { 0 };
    const char *what = tr_session_what( session ), *file = tr_session_file( session );
    tr_text_add( &text, "{\"what\": " );
    tr_text_quoted( &text, what, strlen( what ) );
    tr_text_add( &text, ",\n\"cast\": %d,\n\"file\": ", tr_session_cast( session ) );
    if ( file != NULL )
        tr_text_quoted( &text, file, strlen( file ) );
    else
        tr_text_add( &text, "null" );
    tr_text_add( &text, ",\n\"scene\": " );
    bool ok = tr_scene_print( tr_session_scene( session ), &text, NULL );
    tr_text_add( &text, "}\n" );
    ok = ok && !text.failed && tr_file_write( files->recovery, text.data, text.size, NULL );
    tr_text_free( &text );
    return ok;
}

void tr_state_files_tick( tr_state_files *files, const tr_session *session, double now )
{
    if ( files->recovery == NULL || tr_session_what( session ) == NULL )
        return;
    if ( !tr_session_unsaved( session ) ) {
        if ( files->kept != 0 )
            unlink( files->recovery );
        files->kept = 0;
        files->next = now + files->period;
        return;
    }
    if ( now < files->next || files->kept == tr_session_revision( session ) )
        return;
    files->next = now + files->period;
    if ( write_recovery( files, session ) )
        files->kept = tr_session_revision( session );
}

static bool read_recovery( const tr_state_files *files, json_t *json, tr_session *session, tr_error *error )
{
    const char *what = json_string_value( json_object_get( json, "what" ) );
    const char *file = json_string_value( json_object_get( json, "file" ) );
    int cast = (int)json_integer_value( json_object_get( json, "cast" ) );
    const json_t *kept = json_object_get( json, "scene" );
    if ( what == NULL || kept == NULL )
        return tr_error_at( error, files->found, 0, 0, "this is no recovery file" );
    tr_text text = { 0 };
    tr_scene scene = { 0 };
    tr_json_print( kept, &text );
    bool ok = text.failed ? tr_error_memory( error )
                          : tr_scene_parse( &scene, text.data, text.size, files->found, error );
    if ( ok )
        tr_session_restore( session, what, cast, file, &scene );
    tr_text_free( &text );
    return ok;
}

// What was restored stays on disk, now as this run's own.
bool tr_state_files_restore( tr_state_files *files, tr_session *session, tr_error *error )
{
    json_t *json = NULL;
    if ( files->found == NULL )
        return tr_error_set( error, "there is nothing to restore" );
    bool ok = tr_json_load( &json, files->found, error ) && read_recovery( files, json, session, error );
    json_decref( json );
    if ( ok && files->recovery != NULL )
        rename( files->found, files->recovery );
    tr_free( files->found );
    files->found = NULL;
    return ok;
}

void tr_state_files_discard( tr_state_files *files )
{
    if ( files->found == NULL )
        return;
    unlink( files->found );
    tr_free( files->found );
    files->found = NULL;
}
