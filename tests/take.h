// A built-in scene, solved and measured: shared by the tests of what methods promise.
#ifndef TROUPE_TESTS_TAKE_H
#define TROUPE_TESTS_TAKE_H

#include "check.h"
#include "scenes/scenes.h"

#include <string.h>

typedef struct take { // a scene, solved and measured
    tr_scene scene;
    tr_library library;
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
