// Cases of whole scenes: reading, solving, measuring.
#include "cases.h"
#include "scenes/scenes.h"

#include <stdlib.h>
#include <string.h>

typedef struct scene_state {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result; // for measures
    const tr_method *method;
    tr_text text; // the scene as JSON
} scene_state;

static void scene_teardown( void *pointer )
{
    scene_state *state = pointer;
    tr_result_free( &state->result );
    tr_stage_free( &state->stage );
    tr_library_free( &state->library );
    tr_scene_free( &state->scene );
    tr_text_free( &state->text );
    tr_free( state );
}

// cast 0: as many as the relay has by default
static bool build( scene_state *state, int cast, tr_error *error )
{
    const tr_scene_entry *entry = tr_scene_entry_find( "box_relay" );
    if ( entry == NULL )
        return tr_error_set( error, "there is no built-in scene 'box_relay'" );
    return tr_scene_build( entry, cast, &state->scene, &state->library, error );
}

// ----------------------------------------------------------------------------------------------- reading

static bool load_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)argument, (void)quick;
    scene_state *state = tr_alloc( 1, sizeof *state );
    *out = state;
    if ( state == NULL )
        return tr_error_memory( error );
    return build( state, 0, error ) && tr_scene_print( &state->scene, &state->text, error );
}

static bool load_run( void *pointer, tr_error *error )
{
    scene_state *state = pointer;
    tr_scene scene = { 0 };
    bool ok = tr_scene_parse( &scene, state->text.data, state->text.size, "benchmark", error );
    tr_scene_free( &scene );
    return ok;
}

static void load_describe( const void *pointer, tr_bench_row *row )
{
    const scene_state *state = pointer;
    bench_field( row, "MB", (double)state->text.size / 1e6 );
    bench_field( row, "MB_s", (double)state->text.size / 1e6 / ( row->ms / 1000 ) );
    bench_field( row, "characters", state->scene.cast_count );
    bench_field( row, "constraints", state->scene.constraint_count );
}

// ----------------------------------------------------------------------------------------------- solving

static bool relay_setup( void **out, const char *method, int cast, tr_error *error )
{
    scene_state *state = tr_alloc( 1, sizeof *state );
    *out = state;
    if ( state == NULL )
        return tr_error_memory( error );
    state->method = tr_method_find( method );
    if ( state->method == NULL )
        return tr_error_set( error, "there is no method '%s'", method );
    return build( state, cast, error ) &&
           tr_stage_build( &state->stage, &state->scene, NULL, &state->library, NULL, error );
}

static bool solve_setup( void **out, const char *method, bool quick, tr_error *error )
{
    (void)quick;
    return relay_setup( out, method, 0, error );
}

static bool linked_setup( void **out, const char *people, bool quick, tr_error *error )
{
    (void)quick;
    return relay_setup( out, "posegraph", atoi( people ), error );
}

static bool in_time_setup( void **out, const char *people, bool quick, tr_error *error )
{
    (void)quick;
    return relay_setup( out, "window", atoi( people ), error );
}

static bool meshed_setup( void **out, const char *people, bool quick, tr_error *error )
{
    (void)quick;
    return relay_setup( out, "imesh", atoi( people ), error );
}

static bool solve_run( void *pointer, tr_error *error )
{
    scene_state *state = pointer;
    tr_result_free( &state->result );
    return tr_pipeline_run( &state->result, &state->stage, state->method, error );
}

static void solve_describe( const void *pointer, tr_bench_row *row )
{
    const scene_state *state = pointer;
    bench_field( row, "characters", state->stage.actor_count );
    bench_field( row, "frames", state->stage.frame_count );
    bench_field( row, "us_character_frame",
                 row->ms * 1000 / ( (double)state->stage.actor_count * state->stage.frame_count ) );
}

static void meshed_describe( const void *pointer, tr_bench_row *row )
{
    const scene_state *state = pointer;
    double frames = 0, bytes = 0;
    for ( int i = 0; i < state->result.mesh_count; ++i ) {
        const tr_mesh_report *report = &state->result.meshes[i];
        frames += report->last - report->first + 1;
        bytes = fmax( bytes, (double)report->bytes );
    }
    solve_describe( pointer, row );
    bench_field( row, "windows", state->result.mesh_count );
    bench_field( row, "ms_window_frame", row->ms / fmax( frames, 1 ) );
    bench_field( row, "MB_window", bytes / 1e6 );
}

static bool measure_setup( void **out, const char *method, bool quick, tr_error *error )
{
    return solve_setup( out, method, quick, error ) && solve_run( *out, error );
}

static bool measure_run( void *pointer, tr_error *error )
{
    scene_state *state = pointer;
    tr_measures measures = { 0 };
    bool ok = tr_measure( &measures, &state->stage, &state->result, error );
    tr_measures_free( &measures );
    return ok;
}

// --------------------------------------------------------------------------------------------------- table

static const bench_kind load_kind = { load_setup, load_run, load_describe, scene_teardown };
static const bench_kind solve_kind = { solve_setup, solve_run, solve_describe, scene_teardown };
static const bench_kind linked_kind = { linked_setup, solve_run, solve_describe, scene_teardown };
static const bench_kind in_time_kind = { in_time_setup, solve_run, solve_describe, scene_teardown };
static const bench_kind meshed_kind = { meshed_setup, solve_run, meshed_describe, scene_teardown };
static const bench_kind measure_kind = { measure_setup, measure_run, solve_describe, scene_teardown };

const bench_case bench_scene_cases[] = {
    { "scene/load", NULL, 1, &load_kind },
    { "retarget/copy", "copy", 1, &solve_kind },
    { "retarget/copy", "copy", 2, &solve_kind, "retarget/copy", "times_1_thread" },
    { "retarget/copy-ik", "copy-ik", 1, &solve_kind },
    { "retarget/copy-ik", "copy-ik", 2, &solve_kind, "retarget/copy-ik", "times_1_thread" },
    { "box_relay/19", "19", 1, &linked_kind, .long_only = true },
    { "box_relay/19", "19", 2, &linked_kind, "box_relay/19", "times_1_thread", .long_only = true },
    { "box_relay/78", "78", 1, &linked_kind, .long_only = true },
    { "box_relay/78", "78", 2, &linked_kind, "box_relay/78", "times_1_thread", .long_only = true },
    { "window/box_relay/19", "19", 1, &in_time_kind, .long_only = true },
    { "window/box_relay/19", "19", 2, &in_time_kind, "window/box_relay/19", "times_1_thread",
      .long_only = true },
    { "window/box_relay/78", "78", 1, &in_time_kind, .long_only = true },
    { "window/box_relay/78", "78", 2, &in_time_kind, "window/box_relay/78", "times_1_thread",
      .long_only = true },
    { "imesh/relay19", "19", 1, &meshed_kind, .long_only = true, .runs_least = 2 },
    { "imesh/relay78", "78", 1, &meshed_kind, .long_only = true, .runs_least = 1 },
    { "imesh/relay78", "78", 2, &meshed_kind, "imesh/relay78", "times_1_thread", .long_only = true,
      .runs_least = 1 },
    { "measure/box_relay", NULL, 1, &measure_kind },
    { "measure/box_relay", NULL, 2, &measure_kind, "measure/box_relay", "times_1_thread" },
    { NULL },
};
