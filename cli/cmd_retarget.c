// retarget: solve a scene and write the motion of its target bodies.
#include "cli.h"

#include <stdio.h>

// report.json once more: to a file, or to stdout when there is no path.
static bool copy_report( const cli_subject *subject, const tr_method *method, const char *path,
                         tr_error *error )
{
    tr_text text = { 0 };
    bool ok = tr_report_print( &subject->stage, &subject->result, method->name, &text ) && !text.failed;
    if ( !ok )
        tr_error_memory( error );
    else if ( path != NULL )
        ok = tr_file_write( path, text.data, text.size, error );
    else
        fwrite( text.data, 1, text.size, stdout );
    tr_text_free( &text );
    return ok;
}

static bool retarget( cli_subject *subject, const cli_call *call, int cast, tr_error *error )
{
    const char *folder = cli_value( call, "out" ), *report = cli_value( call, "report" );
    if ( !cli_subject_open( subject, call->operands[0], cast, error ) ||
         !cli_subject_stage( subject, error ) )
        return false;
    cli_print_warnings( call, &subject->warnings );
    if ( !cli_subject_spares_inputs( subject, folder, report, error ) )
        return false;
    // A folder of earlier results stands for its scene, which is solved again.
    tr_free( subject->folder );
    subject->folder = NULL;
    subject->lone = false;
    const tr_method *method = cli_method( call, subject );
    double start = tr_clock_ms();
    if ( !cli_subject_solve( subject, call, method, error ) )
        return false;
    double ms = tr_clock_ms() - start;
    cli_progress progress;
    cli_progress_begin( &progress, call, "saving" );
    tr_progress link = cli_progress_link( &progress );
    subject->stage.progress = &link;
    bool ok = tr_result_save( &subject->stage, &subject->result, method->name, folder, error ) &&
              ( report == NULL || copy_report( subject, method, report, error ) );
    subject->stage.progress = NULL;
    cli_progress_end( &progress );
    if ( ok && cli_value( call, "json" ) != NULL )
        ok = copy_report( subject, method, NULL, error );
    else if ( ok && !call->quiet )
        cli_print_summary( subject, method, folder, ms );
    return ok;
}

static int run_retarget( const cli_call *call )
{
    int cast = 0;
    if ( !cli_method_exists( call ) || !cli_threads( call ) || !cli_int( call, "cast", 1, 100000, &cast ) )
        return CLI_USAGE;
    cli_subject subject;
    tr_error error = { 0 };
    bool ok = retarget( &subject, call, cast, &error );
    int code = ok ? CLI_OK : cli_subject_fail( &subject, &error );
    cli_subject_close( &subject );
    return code;
}

const cli_command cli_command_retarget = {
    .name = "retarget",
    .usage = "SCENE|FILE.json -o DIR [--method M] [--threads N] [--report R.json]",
    .summary = "solve a scene for its target bodies and write the motion",
    .details = "DIR receives <id>.bvh of every character and prop (centimetres, Y up), the source in the "
               "same world\n"
               "under source/, scene.json to load it all again, and report.json: how well each constraint "
               "was kept.\n"
               "Results that are there already are replaced all at once; other files in DIR stay.\n"
               "SCENE is a built-in name ('troupe scenes').",
    .min_operands = 1,
    .max_operands = 1,
    .options =
        ( const cli_option[] ){
            { "out", 'o', "DIR", "folder to write to; made if it is not there", .required = true },
            { "method", 'm', "M", "way of solving, see below" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all. Results are the same bits" },
            CLI_MEMORY,
            { "report", 0, "R.json", "another copy of report.json" },
            { "json", 0, NULL, "print report.json instead of a summary" },
            { "cast", 0, "N", "number of characters of a built-in scene" },
            { NULL },
        },
    .run = run_retarget,
};
