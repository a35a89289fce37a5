#include "bench.h"
#include "cases.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

tr_bench_def tr_default_bench_def( void )
{
    return ( tr_bench_def ){ 0 };
}

void bench_field( tr_bench_row *row, const char *name, double value )
{
    assert( row->field_count < TR_BENCH_FIELDS );
    row->fields[row->field_count].name = name;
    row->fields[row->field_count++].value = value;
}

// The shortest of at least three runs over at least `budget` milliseconds, since other load makes a run
// longer, never shorter. On a busy machine all long runs are interrupted, but not all short ones, which would
// favour fast code: runs on one thread are timed by the processor's clock.
static bool time_runs( tr_bench_row *row, const bench_case *item, void *state, bool quick, tr_error *error )
{
    double budget = quick ? 60 : 600, total = 0;
    int least = quick ? 2 : item->runs_least > 0 ? item->runs_least : 3;
    double ( *clock_ms )( void ) = item->threads == 1 ? tr_processor_ms : tr_clock_ms;
    row->ms = HUGE_VAL;
    while ( row->runs < least || ( total < budget && row->runs < 10000 ) ) {
        double start = clock_ms();
        if ( !item->kind->run( state, error ) )
            return false;
        double ms = clock_ms() - start;
        row->ms = fmin( row->ms, ms );
        total += ms;
        row->runs++;
    }
    return true;
}

static const tr_bench_row *find_row( const tr_bench_report *report, const char *name )
{
    for ( int i = 0; name != NULL && i < report->count; ++i )
        if ( strcmp( report->rows[i].name, name ) == 0 )
            return &report->rows[i];
    return NULL;
}

static double characters_of( const tr_bench_row *row )
{
    for ( int f = 0; f < row->field_count; ++f )
        if ( strcmp( row->fields[f].name, "characters" ) == 0 )
            return row->fields[f].value;
    return 1;
}

// Compares with the first row of the baseline's name, which runs on one thread.
static void compare( const tr_bench_report *report, const bench_case *item, tr_bench_row *row )
{
    const tr_bench_row *plain = find_row( report, item->baseline ),
                       *smaller = find_row( report, item->grows_from );
    if ( plain != NULL && row->ms > 0 )
        bench_field( row, item->ratio,
                     plain->ms / row->ms *
                         ( item->each ? characters_of( row ) / characters_of( plain ) : 1 ) );
    if ( smaller != NULL && row->ms > 0 && smaller->ms > 0 )
        bench_field( row, "exponent",
                     log( row->ms / smaller->ms ) / log( characters_of( row ) / characters_of( smaller ) ) );
}

static bool run_case( tr_bench_report *report, const bench_case *item, bool quick, tr_error *error )
{
    if ( !tr_array_reserve( (void **)&report->rows, &report->capacity, report->count + 1,
                            sizeof report->rows[0] ) )
        return tr_error_memory( error );
    tr_bench_row row = { .name = item->name, .threads = item->threads };
    tr_parallel_set_threads( item->threads );
    void *state = NULL;
    bool ok = item->kind->setup( &state, item->argument, quick, error ) &&
              time_runs( &row, item, state, quick, error );
    if ( ok )
        item->kind->describe( state, &row );
    if ( state != NULL )
        item->kind->teardown( state );
    tr_parallel_set_threads( 0 );
    if ( !ok )
        return false;
    compare( report, item, &row );
    report->rows[report->count++] = row;
    return true;
}

static const bench_case *find_case( int index )
{
    const bench_case *const groups[] = { bench_motion_cases, bench_pose_cases,     bench_imesh_cases,
                                         bench_cage_cases,   bench_exemplar_cases, bench_drag_cases,
                                         bench_scene_cases,  bench_growth_cases };
    for ( size_t g = 0; g < sizeof groups / sizeof groups[0]; ++g )
        for ( const bench_case *item = groups[g]; item->name != NULL; ++item )
            if ( index-- == 0 )
                return item;
    return NULL;
}

const char *tr_bench_name( int index )
{
    const bench_case *item = find_case( index );
    return item != NULL ? item->name : NULL;
}

static bool is_wanted( const bench_case *item, const tr_bench_def *def )
{
    return ( def->only == NULL || strstr( item->name, def->only ) != NULL ) &&
           !( def->quick && item->long_only );
}

bool tr_bench_run( tr_bench_report *out, const tr_bench_def *def, tr_error *error )
{
    *out = ( tr_bench_report ){ 0 };
    int total = 0;
    while ( find_case( total ) != NULL )
        ++total;
    for ( int i = 0; i < total; ++i ) {
        if ( is_wanted( find_case( i ), def ) && !run_case( out, find_case( i ), def->quick, error ) ) {
            tr_bench_report_free( out );
            return false;
        }
        if ( def->progress != NULL )
            def->progress( def->context, i + 1, total );
    }
    return true;
}

void tr_bench_report_free( tr_bench_report *report )
{
    tr_free( report->rows );
    *report = ( tr_bench_report ){ 0 };
}

void tr_bench_print_table( const tr_bench_report *report, tr_text *out )
{
    tr_text_add( out, "%-26s %8s %12s\n", "case", "threads", "ms" );
    for ( int i = 0; i < report->count; ++i ) {
        const tr_bench_row *row = &report->rows[i];
        tr_text_add( out, "%-26s %8d %12.4f ", row->name, row->threads, row->ms );
        for ( int f = 0; f < row->field_count; ++f )
            tr_text_add( out, "  %s %.4g", row->fields[f].name, row->fields[f].value );
        tr_text_add( out, "\n" );
    }
}

json_t *tr_bench_json( const tr_bench_report *report )
{
    json_t *rows = json_array();
    for ( int i = 0; i < report->count; ++i ) {
        const tr_bench_row *row = &report->rows[i];
        json_t *object = json_pack( "{ss sf si si}", "name", row->name, "ms", row->ms, "threads",
                                    row->threads, "runs", row->runs );
        for ( int f = 0; f < row->field_count; ++f )
            json_object_set_new( object, row->fields[f].name, json_real( row->fields[f].value ) );
        json_array_append_new( rows, object );
    }
    return json_pack( "{ss so}", "version", TROUPE_VERSION, "rows", rows );
}
