// bench: how fast it is on this machine.
#include "bench/bench.h"
#include "cli.h"

static void show_progress( void *context, int done, int total )
{
    cli_progress_step( context, done, total );
}

static bool save_json( const tr_bench_report *report, const char *path, tr_error *error )
{
    json_t *json = tr_bench_json( report );
    bool ok = json != NULL ? tr_json_save( json, path, error ) : tr_error_memory( error );
    json_decref( json );
    return ok;
}

#ifdef TROUPE_HAS_EDITOR
#define run_ui tr_bench_run_ui
#else
static bool run_ui( tr_bench_report *out, const tr_bench_def *def, tr_log *log, tr_error *error )
{
    (void)out, (void)def, (void)log;
    return tr_error_set( error, "this program was built without the editor" );
}
#endif

static int run_bench( const cli_call *call )
{
    tr_bench_def def = tr_default_bench_def();
    cli_progress progress;
    cli_progress_begin( &progress, call, "timing" );
    def.quick = cli_value( call, "quick" ) != NULL;
    def.only = cli_value( call, "only" );
    def.progress = show_progress;
    def.context = &progress;
    tr_bench_report report = { 0 };
    tr_text text = { 0 };
    tr_error error = { 0 };
    tr_log log = { 0 };
    bool ok = cli_value( call, "ui" ) != NULL ? run_ui( &report, &def, &log, &error )
                                              : tr_bench_run( &report, &def, &error );
    cli_progress_end( &progress );
    cli_print_warnings( call, &log );
    tr_log_free( &log );
    if ( ok && report.count == 0 )
        ok = tr_error_set( &error, "no row has a name with '%s' in it", def.only );
    const char *path = cli_value( call, "json" );
    if ( report.count > 0 ) // also when others failed
        tr_bench_print_table( &report, &text );
    if ( report.count > 0 && path != NULL )
        ok = save_json( &report, path, &error ) && ok;
    tr_bench_report_free( &report );
    int status = cli_print_text( &text, true, &error );
    return ok || status != CLI_OK ? status : cli_fail( &error ); // one sentence
}

const cli_command cli_command_bench = {
    .name = "bench",
    .usage = "[--ui] [--json F] [--quick]",
    .summary = "time the parts of the program on this machine",
    .details = "Each row is the shortest of repeated runs; docs/bench.md explains the rows. With --ui the "
               "editor is run\n"
               "by scripted hands: milliseconds from a move of the mouse to new poses, from letting go to "
               "the whole\n"
               "clip solved, and for drawing a frame, as p50, p95 and the longest.",
    .options =
        ( const cli_option[] ){
            { "ui", 0, NULL, "how long the editor makes a user wait, instead of the other rows" },
            { "json", 0, "F", "also write the rows to this file" },
            { "quick", 0, NULL, "few repetitions and less text: figures for a first look" },
            { "only", 0, "TEXT", "rows whose name contains TEXT" },
            { NULL },
        },
    .run = run_bench,
};
