// links: pairs that are close, as the interaction mesh uses them.
#include "cli.h"

#include <stdio.h>

static void print_links( const tr_stage *stage, const tr_imesh_pairs *links )
{
    int origin = stage->scene->first;
    for ( int i = 0; i < links->count; ++i ) {
        const tr_imesh_pair *link = &links->items[i];
        cli_say( "%-16s %-16s frames %d … %d\n", tr_stage_member_id( stage, link->a ),
                 tr_stage_member_id( stage, link->b ), origin + link->first, origin + link->last );
    }
    if ( links->count == 0 )
        cli_say( "no two members come close to each other\n" );
}

static json_t *links_json( const tr_stage *stage, const tr_imesh_pairs *links )
{
    json_t *list = json_array();
    int origin = stage->scene->first;
    for ( int i = 0; i < links->count; ++i ) {
        const tr_imesh_pair *link = &links->items[i];
        json_array_append_new( list, json_pack( "{ss ss s[ii]}", "a", tr_stage_member_id( stage, link->a ),
                                                "b", tr_stage_member_id( stage, link->b ), "range",
                                                origin + link->first, origin + link->last ) );
    }
    return json_pack( "{so}", "links", list );
}

static int show( cli_subject *subject, const cli_call *call, tr_error *error )
{
    int cast = 0;
    tr_imesh_pairs links;
    if ( !cli_int( call, "cast", 1, 100000, &cast ) )
        return CLI_USAGE;
    if ( !cli_subject_open( subject, call->operands[0], cast, error ) ||
         !cli_subject_stage( subject, error ) || !tr_stage_links( &links, &subject->stage, error ) )
        return cli_subject_fail( subject, error );
    cli_print_warnings( call, &subject->warnings );
    int code = CLI_OK;
    if ( cli_value( call, "json" ) != NULL )
        code = cli_print_json( links_json( &subject->stage, &links ) );
    else
        print_links( &subject->stage, &links );
    tr_imesh_pairs_free( &links );
    return code;
}

static int run_links( const cli_call *call )
{
    return cli_show_subject( call, show );
}

const cli_command cli_command_links = {
    .name = "links",
    .usage = "SCENE|FILE.json [--json]",
    .summary = "show which members are close to each other, and when",
    .details =
        "The links the interaction mesh keeps: found in the source, then what the scene's pairs add, leave\n"
        "out or limit. Frames are the scene's, padding included.",
    .min_operands = 1,
    .max_operands = 1,
    .options =
        ( const cli_option[] ){
            { "cast", 0, "N", "number of characters of a built-in scene" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { "json", 0, NULL, "print the same as JSON" },
            { NULL },
        },
    .run = run_links,
};
