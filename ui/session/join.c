// Motion files that join the cast: each is read and staged in the background, and becomes an op if that
// works.
#include "ui/session/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tr_session_join( tr_session *session, const char *path )
{
    char *whole = realpath( path, NULL );
    char *copy = tr_string_copy( whole != NULL ? whole : path );
    tr_pick pick = { .path = copy };
    if ( copy != NULL )
        tr_picks_add( &session->requests.joins, &pick );
    tr_free( copy );
    free( whole );
}

static void run_join( void *context, tr_worker *worker )
{
    tr_job *j = context;
    tr_stage stage = { 0 };
    (void)worker;
    j->ok = ( j->pick.chosen || tr_choice_find( &j->choice, j->what, false, &j->error ) ) &&
            ( j->choice.path != NULL ||
              ( j->pick.chosen ? tr_open_pick( &j->opened, j->what, &j->pick, &j->error )
                               : tr_open( &j->opened, j->what, 0, &j->error ) ) );
    if ( j->ok && j->choice.path == NULL ) {
        tr_opened_skip_front( &j->opened );
        j->ok = tr_stage_build( &stage, &j->opened.scene, NULL, &j->opened.library, NULL, &j->error );
    }
    tr_stage_free( &stage );
}

void tr_session_start_join( tr_session *session )
{
    tr_job *j = &session->worker.job;
    *j = ( tr_job ){ .kind = TR_JOB_JOIN, .pick = tr_picks_take( &session->requests.joins ) };
    j->what = j->pick.path;
    j->pick.path = NULL;
    tr_runner_start( &session->worker, run_join );
}

// ------------------------------------------------------------------------------------------- as an op

static bool is_taken( const tr_scene *scene, const char *id )
{
    return tr_scene_find_cast( scene, id ) >= 0 || tr_scene_find_prop( scene, id ) >= 0 ||
           tr_scene_find_obstacle( scene, id ) >= 0;
}

static void find_free_id( const tr_scene *scene, const char *stem, tr_id out )
{
    snprintf( out, TR_ID_MAX, "%s", stem );
    for ( int n = 2; is_taken( scene, out ); ++n )
        snprintf( out, TR_ID_MAX, "%.*s_%d", TR_ID_MAX - 8, stem, n );
}

static void add_text( tr_text *text, const char *key, const char *value )
{
    tr_text_add( text, " %s=\"", key );
    for ( ; *value != 0; ++value )
        tr_text_add( text, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value );
    tr_text_add( text, "\"" );
}

static char *op_line( const char *id, const tr_file_ref *ref )
{
    tr_text text = { 0 };
    tr_text_add( &text, "cast_add id=%s", id );
    add_text( &text, "file", ref->file );
    if ( ref->skeleton[0] != 0 )
        add_text( &text, "skeleton", ref->skeleton );
    if ( ref->take[0] != 0 )
        add_text( &text, "take", ref->take );
    if ( ref->first > 0 )
        tr_text_add( &text, " first=%d", ref->first );
    char *line = text.failed ? NULL : tr_string_copy( text.data );
    tr_text_free( &text );
    return line;
}

// How the document is to name the file.
static bool make_ref( tr_file_ref *ref, tr_job *j )
{
    const tr_file_ref *source = &j->opened.scene.cast[0].source;
    *ref = ( tr_file_ref ){ .first = source->first, .last = -1 };
    if ( j->pick.chosen ) {
        memcpy( ref->skeleton, source->skeleton, sizeof ref->skeleton );
        memcpy( ref->take, source->take, sizeof ref->take );
    }
    int length = snprintf( ref->file, sizeof ref->file, "%s", j->what );
    return ( length >= 0 && (size_t)length < sizeof ref->file ) ||
           tr_error_at( &j->error, j->what, 0, 0, "the path is longer than %d characters", TR_PATH_MAX - 1 );
}

// Puts the motion into the library, so that the next solve does not read the file again.
static bool keep_motion( tr_open_document *open, tr_job *j, const tr_file_ref *ref )
{
    pthread_mutex_lock( &open->library_lock );
    bool ok = tr_library_find_file( &open->library, ref ) != NULL ||
              tr_library_add_file( &open->library, ref, &j->opened.library.items[0].motion, &j->error );
    pthread_mutex_unlock( &open->library_lock );
    return ok;
}

static bool join( tr_session *session, tr_job *j, tr_id id )
{
    const tr_scene *scene = tr_session_scene( session );
    tr_file_ref ref;
    find_free_id( scene, j->opened.scene.cast[0].id, id );
    if ( !make_ref( &ref, j ) || !keep_motion( &session->open, j, &ref ) )
        return false;
    char *line = op_line( id, &ref );
    bool ok = line != NULL ? tr_session_apply( session, &line, 1, &j->error ) : tr_error_memory( &j->error );
    tr_free( line );
    return ok;
}

void tr_session_finish_join( tr_session *session, tr_job *j )
{
    tr_id id;
    if ( j->ok && j->choice.path != NULL )
        tr_session_ask( session, &j->choice );
    else if ( !j->ok || !join( session, j, id ) )
        tr_message_error( &session->message, &j->error );
    else {
        const tr_log *warnings = &j->opened.warnings;
        memcpy( session->joined.id, id, sizeof id );
        ++session->joined.count;
        if ( j->opened.scene.cast[0].source.first > 0 )
            tr_message_say( &session->message, false, "%s joined the cast, without the T-pose in front of it",
                            id );
        else
            tr_message_say( &session->message, false, "%s joined the cast%s%s", id,
                            warnings->count > 0 ? ": " : "", warnings->count > 0 ? warnings->lines[0] : "" );
    }
}

unsigned tr_session_joined( const tr_session *session, tr_id id )
{
    memcpy( id, session->joined.id, sizeof session->joined.id );
    return session->joined.count;
}
