// examples: the pairs of poses by which a character moves, how well each is foretold by the others, and which
// frames to pose next.
#include "cli.h"

#include <stdio.h>

static void print_pairs( const tr_scene *scene, const tr_actor_examples *e )
{
    cli_say( "%-24s %8s %8s   %s\n", "example", "source", "target", "left out" );
    for ( int i = 0; i < e->pair_count; ++i ) {
        const tr_example *example = &scene->examples[e->pairs[i]];
        cli_say( "%-24s %8d %8d   %.2f deg\n", example->id, example->source, example->target,
                 tr_exemplar_left_out( e->exemplar, i ) / TR_DEGREE );
    }
    for ( int p = 0; p < e->part_count; ++p ) {
        const tr_part_drive *part = &scene->parts[e->parts[p]];
        cli_say( "part %s: %s … %s drive %s … %s, aim %g\n", part->id, part->source_first, part->source_last,
                 part->target_first, part->target_last, part->aim );
    }
}

static void print_unlike( const tr_stage *stage, const tr_actor_examples *e )
{
    int worst = 0, beyond = 0;
    for ( int f = 0; f < stage->frame_count; ++f ) {
        worst = e->unlike[f] > e->unlike[worst] ? f : worst;
        beyond += e->unlike[f] > tr_default_measure_def().unlike;
    }
    cli_say( "%.0f %% of the frames are unlike any example, frame %d most (%.2f)\n",
             100.0 * beyond / stage->frame_count, stage->scene->first + worst, e->unlike[worst] );
}

// Frames of the source's file, as examples have them.
static int print_suggestions( const cli_subject *subject, int cast, int count, tr_error *error )
{
    int frames[TR_EXEMPLAR_PAIRS], found = tr_stage_suggest( &subject->stage, cast, frames, count, error );
    if ( found < 0 )
        return cli_subject_fail( subject, error );
    cli_say( "pose next, by frames of the source's file:" );
    for ( int i = 0; i < found; ++i ) {
        int frame = tr_stage_file_frame( &subject->stage, cast, frames[i] );
        if ( frame >= 0 ) // else it is of a clip that is joined to it, or between frames
            cli_say( " %d", frame );
    }
    cli_say( "\n" );
    return CLI_OK;
}

// Returns the exit code.
static int show( cli_subject *subject, const cli_call *call, tr_error *error )
{
    int count = 0;
    if ( !cli_int( call, "suggest", 1, TR_EXEMPLAR_PAIRS, &count ) )
        return CLI_USAGE;
    if ( !cli_subject_open( subject, call->operands[0], 0, error ) || !cli_subject_stage( subject, error ) )
        return cli_subject_fail( subject, error );
    cli_print_warnings( call, &subject->warnings );
    int cast = cli_find_cast( subject, call->operands[1] );
    if ( cast < 0 )
        return CLI_USAGE;
    const tr_actor_examples *e = subject->stage.actors[cast].examples;
    if ( e == NULL )
        cli_say( "%s does not move by examples\n", call->operands[1] );
    else {
        print_pairs( &subject->scene, e );
        print_unlike( &subject->stage, e );
    }
    return count > 0 ? print_suggestions( subject, cast, count, error ) : CLI_OK;
}

static int run_examples( const cli_call *call )
{
    return cli_show_subject( call, show );
}

const cli_command cli_command_examples = {
    .name = "examples",
    .usage = "SCENE|FILE.json CAST [--suggest N]",
    .summary = "list the pairs of poses a character moves by, and what to pose next",
    .details = "Of every pair it says how far the target would be from it, in the mean over its joints, if "
               "the pair\n"
               "were left out: a large number is a mistake, or a pose that nothing else tells. Frames are "
               "those of the\n"
               "files. --suggest names the frames whose poses tell most about the rest of the motion.",
    .min_operands = 2,
    .max_operands = 2,
    .options =
        ( const cli_option[] ){
            { "suggest", 0, "N", "frames to pose next, the most useful first" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { NULL },
        },
    .run = run_examples,
};
