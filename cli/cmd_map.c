// map: which joints drive which, to look at or to edit as a file.
#include "cli.h"

#include <stdio.h>

static void print_map( const tr_actor *actor )
{
    const tr_joint *source = actor->source.skeleton.joints;
    const char *left_alone = actor->own.frame_count > 0 ? "(its own animation)" : "(its rest pose)";
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        const tr_map_blend *blend = actor->blends != NULL ? &actor->blends[j] : NULL;
        cli_say( "%-24s ", actor->target.joints[j].name );
        if ( actor->map[j] < 0 )
            cli_say( "%s\n", left_alone );
        else if ( blend != NULL && blend->share > 0 )
            cli_say( "%s … %s, %.0f %%\n", source[actor->map[j]].name, source[blend->next].name,
                     100 * blend->share );
        else
            cli_say( "%s\n", source[actor->map[j]].name );
    }
}

// Returns the exit code.
static int show( cli_subject *subject, const cli_call *call, tr_error *error )
{
    const char *out = cli_value( call, "out" );
    if ( !cli_subject_open( subject, call->operands[0], 0, error ) || !cli_subject_stage( subject, error ) )
        return cli_subject_fail( subject, error );
    cli_print_warnings( call, &subject->warnings );
    int cast = cli_find_cast( subject, call->operands[1] );
    if ( cast < 0 )
        return CLI_USAGE;
    const tr_actor *actor = &subject->stage.actors[cast];
    if ( out == NULL )
        print_map( actor );
    else if ( !cli_subject_spares_inputs( subject, NULL, out, error ) ||
              !tr_joint_map_save( actor, out, false, error ) )
        return cli_subject_fail( subject, error );
    return CLI_OK;
}

static int run_map( const cli_call *call )
{
    return cli_show_subject( call, show );
}

const cli_command cli_command_map = {
    .name = "map",
    .usage = "SCENE|FILE.json CAST [-o FILE.json]",
    .summary = "show or write which joints of the source drive the target's",
    .details =
        "Prints the joint map in force for a character: the target's joints and what drives each. With -o "
        "it is\n"
        "written as a map file, to be edited and named as the character's 'mapping'.",
    .min_operands = 2,
    .max_operands = 2,
    .options =
        ( const cli_option[] ){
            { "out", 'o', "FILE.json", "joint map file to write" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { NULL },
        },
    .run = run_map,
};
