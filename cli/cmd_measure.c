// measure: how good a motion is, beside the same figures of its source.
#include "cli.h"

#include <stdio.h>

static bool measure( tr_measures *out, cli_subject *subject, const cli_call *call, int cast, tr_error *error )
{
    if ( !cli_subject_open( subject, call->operands[0], cast, error ) )
        return false;
    if ( call->operand_count > 1 ) { // results from this folder, not those of the subject
        tr_free( subject->folder );
        subject->folder = tr_string_copy( call->operands[1] );
        if ( subject->folder == NULL )
            return tr_error_memory( error );
    } else if ( cli_value( call, "method" ) != NULL ) { // given: solve, even if the folder has results
        tr_free( subject->folder );
        subject->folder = NULL;
    }
    if ( !cli_subject_stage( subject, error ) ||
         !cli_subject_solve( subject, call, cli_method( call, subject ), error ) )
        return false;
    cli_print_warnings( call, &subject->warnings );
    cli_progress progress;
    cli_progress_begin( &progress, call, "measuring" );
    cli_progress_wait( &progress );
    bool ok = tr_measure( out, &subject->stage, &subject->result, error );
    cli_progress_end( &progress );
    return ok;
}

static int run_measure( const cli_call *call )
{
    int cast = 0;
    if ( !cli_method_exists( call ) || !cli_threads( call ) || !cli_int( call, "cast", 1, 100000, &cast ) )
        return CLI_USAGE;
    if ( call->operand_count > 1 && cli_value( call, "method" ) != NULL )
        return cli_wrong( "--method solves anew, so it does not go with a folder of results" );
    cli_subject subject;
    tr_measures measures = { 0 };
    tr_text text = { 0 };
    tr_error error = { 0 };
    bool ok = measure( &measures, &subject, call, cast, &error );
    if ( ok && cli_value( call, "json" ) == NULL )
        tr_measures_print_table( &measures, &text );
    else if ( ok )
        ok = tr_measures_print_json( &measures, &text ) || tr_error_memory( &error );
    tr_measures_free( &measures );
    int code = ok ? cli_print_text( &text, ok, &error ) : cli_subject_fail( &subject, &error );
    tr_text_free( &text );
    cli_subject_close( &subject );
    return code;
}

const cli_command cli_command_measure = {
    .name = "measure",
    .usage = "SCENE|FILE.json|DIR [DIR] [--json] [--method M]",
    .summary = "print figures of quality, beside the source's",
    .details =
        "With DIR (written by 'troupe retarget') its motion is measured, else the scene is solved in memory\n"
        "first. A figure that cannot be computed is null, with the reason.",
    .min_operands = 1,
    .max_operands = 2,
    .options =
        ( const cli_option[] ){
            { "json", 0, NULL, "print the figures as JSON" },
            { "method", 'm', "M", "way of solving, see below" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { "cast", 0, "N", "number of characters of a built-in scene" },
            { NULL },
        },
    .run = run_measure,
};
