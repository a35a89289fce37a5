// Documents: opened, changed by ops, saved; and their stages.
#include "library.h"

#include <assert.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- documents

// Takes ownership of its arguments, also on failure.
static troupe_scene *scene_from( tr_opened *from, tr_error *error )
{
    troupe_scene *scene = tr_alloc( 1, sizeof *scene );
    if ( scene == NULL ) {
        tr_error_memory( error );
        tr_opened_free( from );
        return NULL;
    }
    scene->library = from->library;
    scene->warnings = from->warnings;
    scene->file = from->file;
    from->library = ( tr_library ){ 0 };
    from->warnings = ( tr_log ){ 0 };
    from->file = NULL;
    scene->document = tr_document_create( &from->scene, error );
    tr_opened_free( from );
    if ( scene->document != NULL )
        return scene;
    troupe_scene_destroy( scene );
    return NULL;
}

troupe_scene *troupe_scene_create( troupe_error *error )
{
    tr_call c;
    tr_call_begin( &c, NULL );
    tr_opened empty = { .scene = tr_default_scene() };
    troupe_scene *scene = scene_from( &empty, &c.error );
    tr_call_end( &c, scene != NULL, error );
    return scene;
}

troupe_scene *troupe_scene_open( const char *what, int cast, troupe_error *error )
{
    assert( what != NULL && cast >= 0 );
    tr_call c;
    tr_call_begin( &c, NULL );
    tr_opened from;
    troupe_scene *scene = NULL;
    if ( tr_open( &from, what, cast, &c.error ) ) {
        tr_opened_skip_front( &from );
        scene = scene_from( &from, &c.error );
    } else
        tr_opened_free( &from );
    tr_call_end( &c, scene != NULL, error );
    return scene;
}

void troupe_scene_destroy( troupe_scene *scene )
{
    if ( scene == NULL )
        return;
    tr_document_destroy( scene->document );
    tr_library_free( &scene->library );
    tr_log_free( &scene->warnings );
    tr_free( scene->file );
    tr_free( scene );
}

const char *troupe_builtin_scene( int index )
{
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    return index >= 0 && index < count ? table[index].name : NULL;
}

bool troupe_scene_apply( troupe_scene *scene, const char *ops, troupe_error *error )
{
    assert( scene != NULL && ops != NULL );
    tr_call c;
    tr_call_begin( &c, NULL );
    bool ok = tr_document_run( scene->document, ops, strlen( ops ), "", &c.error );
    return tr_call_end( &c, ok, error );
}

bool troupe_scene_undo( troupe_scene *scene )
{
    assert( scene != NULL );
    return tr_document_undo( scene->document );
}

bool troupe_scene_redo( troupe_scene *scene )
{
    assert( scene != NULL );
    return tr_document_redo( scene->document );
}

bool troupe_scene_save( const troupe_scene *scene, const char *path, troupe_error *error )
{
    assert( scene != NULL && path != NULL );
    tr_call c;
    tr_call_begin( &c, NULL );
    const char *base = scene->file != NULL ? scene->file : "scene.json"; // files are in the working folder
    bool ok =
        tr_scene_save_beside( tr_document_scene( scene->document ), &scene->library, base, path, &c.error );
    return tr_call_end( &c, ok, error );
}

int troupe_scene_cast_count( const troupe_scene *scene )
{
    assert( scene != NULL );
    return tr_document_scene( scene->document )->cast_count;
}

const char *troupe_scene_cast_id( const troupe_scene *scene, int index )
{
    assert( index >= 0 && index < troupe_scene_cast_count( scene ) );
    return tr_document_scene( scene->document )->cast[index].id;
}

// ---------------------------------------------------------------------------------------------------- stages

static bool copy_warnings( tr_log *out, const tr_log *in )
{
    for ( int i = 0; i < in->count; ++i )
        tr_log_add( out, "%s", in->lines[i] );
    return !out->failed && !in->failed;
}

static bool stage_build( troupe_stage *stage, troupe_scene *scene, tr_error *error )
{
    if ( !tr_scene_copy( &stage->scene, tr_document_scene( scene->document ), error ) )
        return false;
    if ( !copy_warnings( &stage->warnings, &scene->warnings ) )
        return tr_error_memory( error );
    return tr_stage_build( &stage->stage, &stage->scene, scene->file, &scene->library, &stage->warnings,
                           error );
}

troupe_stage *troupe_stage_create( troupe_scene *scene, const troupe_work *work, troupe_error *error )
{
    assert( scene != NULL );
    tr_call c;
    tr_call_begin( &c, work );
    troupe_stage *stage = tr_alloc( 1, sizeof *stage );
    bool ok = stage != NULL ? stage_build( stage, scene, &c.error ) : tr_error_memory( &c.error );
    if ( !ok ) {
        troupe_stage_destroy( stage );
        stage = NULL;
    }
    tr_call_end( &c, ok, error );
    return stage;
}

void troupe_stage_destroy( troupe_stage *stage )
{
    if ( stage == NULL )
        return;
    tr_stage_free( &stage->stage );
    tr_scene_free( &stage->scene );
    tr_log_free( &stage->warnings );
    tr_free( stage );
}

const char *troupe_stage_warning( const troupe_stage *stage, int index )
{
    assert( stage != NULL );
    return index >= 0 && index < stage->warnings.count ? stage->warnings.lines[index] : NULL;
}
