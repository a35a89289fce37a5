// A scene, solved and measured, in memory or as exported: shared by the tests of what methods promise.
#ifndef TROUPE_TESTS_TAKE_H
#define TROUPE_TESTS_TAKE_H

#include "folder.h"
#include "scenes/scenes.h"

#include <string.h>

typedef struct take { // a scene, solved and measured
    tr_scene scene;
    tr_library library;
    tr_log warnings;
    tr_stage stage;
    tr_result result;
    tr_measures measures;
} take;

static inline void open_scene( take *x, const char *name, int cast )
{
    tr_error error;
    *x = ( take ){ .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( name ), cast, &x->scene, &x->library, &error ), &error );
}

static inline void solve( take *x, const char *method )
{
    tr_error error;
    check_ok( tr_stage_build( &x->stage, &x->scene, NULL, &x->library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &x->result, &x->stage, tr_method_find( method ), &error ), &error );
    check_ok( tr_measure( &x->measures, &x->stage, &x->result, &error ), &error );
}

static inline void close_scene( take *x )
{
    tr_measures_free( &x->measures );
    tr_result_free( &x->result );
    tr_stage_free( &x->stage );
    tr_library_free( &x->library );
    tr_scene_free( &x->scene );
    tr_log_free( &x->warnings );
}

// What `troupe measure DIR` says after `troupe retarget … -o DIR`: everything but the figures is thrown away
// and read from the files again, by the same functions.
static inline void export_and_measure( take *x, const char *method )
{
    tr_error error;
    tr_opened opened;
    char folder[FOLDER_SIZE];
    new_folder( folder );
    check_ok( tr_stage_build( &x->stage, &x->scene, NULL, &x->library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &x->result, &x->stage, tr_method_find( method ), &error ), &error );
    check_ok( tr_result_save( &x->stage, &x->result, method, folder, &error ), &error );
    close_scene( x );
    check_ok( tr_open( &opened, folder, 0, &error ), &error );
    *x = ( take ){ .scene = opened.scene, .library = opened.library, .warnings = opened.warnings };
    check_ok( tr_stage_build( &x->stage, &x->scene, opened.file, &x->library, &x->warnings, &error ),
              &error );
    check_ok( tr_result_load( &x->result, &x->stage, opened.folder, &error ), &error );
    check_ok( tr_measure( &x->measures, &x->stage, &x->result, &error ), &error );
    tr_free( opened.file );
    tr_free( opened.path );
    tr_free( opened.folder );
    remove_folder( folder );
}

static inline const tr_metric_field *field_of( const take *x, const char *key, const char *name )
{
    const tr_metric *metric = tr_measures_find( &x->measures, key );
    assert_non_null( metric );
    for ( int f = 0; f < metric->field_count; ++f )
        if ( strcmp( metric->fields[f].name, name ) == 0 )
            return &metric->fields[f];
    fail_msg( "%s has no %s", key, name );
    return NULL;
}

static inline double figure( const take *x, const char *key, const char *name )
{
    const tr_metric_field *field = field_of( x, key, name );
    return field->out_null ? 0 : field->out; // 0: nothing of the kind in this scene
}

#endif
