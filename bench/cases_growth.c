// Cases of large casts without links: the cost per person must not grow with the cast.
#include "cases.h"
#include "scenes/kit/kit.h"

#include <stdlib.h>

#define FRAMES     31  // frames of timed rows: growth with people does not depend on frames
#define ALL_FRAMES 271 // frames of rows about memory
#define SPREAD     3.0 // metres from a person to the next: none are close
#define NEAR       0.8 // shoulders almost touch: all are one group

typedef struct growth_state {
    tr_parade_def def;
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
    double stage_ms, solve_ms;
    size_t peak; // bytes
} growth_state;

static void empty( growth_state *s )
{
    tr_result_free( &s->result );
    tr_stage_free( &s->stage );
}

static void growth_teardown( void *pointer )
{
    growth_state *s = pointer;
    empty( s );
    tr_library_free( &s->library );
    tr_scene_free( &s->scene );
    tr_free( s );
}

static bool setup( void **out, const char *people, double spacing, int frames, tr_error *error )
{
    growth_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    s->def = ( tr_parade_def ){ .people = atoi( people ), .frames = frames, .spacing = spacing };
    return tr_parade_build( &s->def, &s->scene, &s->library, error );
}

static bool spread_setup( void **out, const char *people, bool quick, tr_error *error )
{
    (void)quick;
    return setup( out, people, SPREAD, FRAMES, error );
}

static bool near_setup( void **out, const char *people, bool quick, tr_error *error )
{
    (void)quick;
    return setup( out, people, NEAR, FRAMES, error );
}

static bool solve_run( void *pointer, tr_error *error )
{
    growth_state *s = pointer;
    empty( s );
    double start = tr_processor_ms();
    bool ok = tr_stage_build( &s->stage, &s->scene, NULL, &s->library, NULL, error );
    s->stage_ms = tr_processor_ms() - start;
    ok = ok && tr_pipeline_run( &s->result, &s->stage, tr_method_find( NULL ), error );
    s->solve_ms = tr_processor_ms() - start - s->stage_ms;
    return ok;
}

static void describe( const growth_state *s, tr_bench_row *row )
{
    bench_field( row, "characters", s->def.people );
    bench_field( row, "frames", s->def.frames );
    bench_field( row, "us_character_frame", row->ms * 1000 / ( (double)s->def.people * s->def.frames ) );
}

static void solve_describe( const void *pointer, tr_bench_row *row )
{
    const growth_state *s = pointer;
    describe( s, row );
    bench_field( row, "stage_ms", s->stage_ms );
    bench_field( row, "solve_ms", s->solve_ms );
}

// ------------------------------------------------------------------------------------------------- measures

static bool measure_setup( void **out, const char *people, bool quick, tr_error *error )
{
    return spread_setup( out, people, quick, error ) && solve_run( *out, error );
}

static bool measure_run( void *pointer, tr_error *error )
{
    growth_state *s = pointer;
    tr_measures measures = { 0 };
    bool ok = tr_measure( &measures, &s->stage, &s->result, error );
    tr_measures_free( &measures );
    return ok;
}

static void measure_describe( const void *pointer, tr_bench_row *row )
{
    describe( pointer, row );
}

// --------------------------------------------------------------------------------------------------- memory
// The library is freed once the stage is built, as the command line does.

static bool memory_setup( void **out, const char *people, bool quick, tr_error *error )
{
    (void)quick;
    return setup( out, people, SPREAD, ALL_FRAMES, error );
}

static bool memory_run( void *pointer, tr_error *error )
{
    growth_state *s = pointer;
    if ( s->peak > 0 ) // it is the same in every run
        return true;
    tr_memory_reset_peak();
    bool ok = tr_stage_build( &s->stage, &s->scene, NULL, &s->library, NULL, error );
    tr_library_free( &s->library );
    ok = ok && tr_pipeline_run( &s->result, &s->stage, tr_method_find( NULL ), error );
    s->peak = tr_memory_peak();
    return ok;
}

static void memory_describe( const void *pointer, tr_bench_row *row )
{
    const growth_state *s = pointer;
    bench_field( row, "characters", s->def.people );
    bench_field( row, "frames", s->def.frames );
    bench_field( row, "MB_character", (double)s->peak / 1e6 / s->def.people );
}

// --------------------------------------------------------------------------------------------------- table

static const bench_kind spread_kind = { spread_setup, solve_run, solve_describe, growth_teardown };
static const bench_kind near_kind = { near_setup, solve_run, solve_describe, growth_teardown };
static const bench_kind measure_kind = { measure_setup, measure_run, measure_describe, growth_teardown };
static const bench_kind memory_kind = { memory_setup, memory_run, memory_describe, growth_teardown };

#define ROW( family, people, kind, before )                                                                  \
    {                                                                                                        \
        family "/" people, people, 1, &kind, family "/1", "times_alone", .long_only = true, .runs_least = 2, \
                                                                         .each = true, .grows_from = before  \
    }

const bench_case bench_growth_cases[] = {
    { "growth/1", "1", 1, &spread_kind },
    ROW( "growth", "250", spread_kind, NULL ),
    ROW( "growth", "500", spread_kind, "growth/250" ),
    ROW( "growth", "1000", spread_kind, "growth/500" ),
    ROW( "growth", "2000", spread_kind, "growth/1000" ),
    { "growth/near/1", "1", 1, &near_kind },
    ROW( "growth/near", "250", near_kind, NULL ),
    ROW( "growth/near", "500", near_kind, "growth/near/250" ),
    ROW( "growth/near", "1000", near_kind, "growth/near/500" ),
    ROW( "growth/near", "2000", near_kind, "growth/near/1000" ),
    { "growth/measure/1", "1", 1, &measure_kind },
    ROW( "growth/measure", "250", measure_kind, NULL ),
    ROW( "growth/measure", "500", measure_kind, "growth/measure/250" ),
    ROW( "growth/measure", "1000", measure_kind, "growth/measure/500" ),
    ROW( "growth/measure", "2000", measure_kind, "growth/measure/1000" ),
    { "growth/memory/300", "300", 1, &memory_kind, .long_only = true, .runs_least = 1 },
    { "growth/memory/1000", "1000", 1, &memory_kind, .long_only = true, .runs_least = 1 },
    { NULL },
};
