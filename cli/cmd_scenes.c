// scenes, make: the built-in scenes.
#include "cli.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- scenes

static json_t *scenes_json( void )
{
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    json_t *rows = json_array();
    for ( int i = 0; i < count; ++i )
        json_array_append_new( rows, json_pack( "{ss ss si si si}", "name", table[i].name, "title",
                                                table[i].title, "cast", table[i].default_cast, "min_cast",
                                                table[i].min_cast, "max_cast", table[i].max_cast ) );
    return json_pack( "{so}", "scenes", rows );
}

static int run_scenes( const cli_call *call )
{
    if ( cli_value( call, "json" ) != NULL )
        return cli_print_json( scenes_json() );
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    for ( int i = 0; i < count; ++i ) {
        char cast[48];
        if ( table[i].min_cast < table[i].max_cast )
            snprintf( cast, sizeof cast, "%d (%d … %d)", table[i].default_cast, table[i].min_cast,
                      table[i].max_cast );
        else
            snprintf( cast, sizeof cast, "%d", table[i].default_cast );
        int wide = (int)strlen( cast ) - ( strstr( cast, "…" ) != NULL ? 2 : 0 ); // … is three bytes
        cli_say( "%-14s %s%*s %s\n", table[i].name, cast, 16 - wide, "", table[i].title );
    }
    return CLI_OK;
}

const cli_command cli_command_scenes = {
    .name = "scenes",
    .usage = "[--json]",
    .summary = "list the built-in scenes: name, characters (least … most), what it shows",
    .options = ( const cli_option[] ){ { "json", 0, NULL, "print the list as JSON" }, { NULL } },
    .run = run_scenes,
};

// --------------------------------------------------------------------------------------------------- make

// Clips of built-in scenes are written in centimetres, Y up, and their references say so.
static void state_units( tr_file_ref *ref )
{
    if ( ref->file[0] == 0 )
        return;
    ref->unit = 0.01;
    ref->up = 'y';
}

static bool write_files( cli_subject *subject, const char *folder, const cli_call *call, tr_error *error )
{
    cli_progress progress;
    cli_progress_begin( &progress, call, "writing" );
    bool ok = true;
    for ( int i = 0; ok && i < subject->library.count; ++i ) {
        char *path = tr_string_format( "%s/%s", folder, subject->library.items[i].path );
        ok = path != NULL ? tr_motion_save( &subject->library.items[i].motion, path, error )
                          : tr_error_memory( error );
        tr_free( path );
        cli_progress_step( &progress, i + 1, subject->library.count );
    }
    cli_progress_end( &progress );
    for ( int i = 0; i < subject->scene.cast_count; ++i ) {
        state_units( &subject->scene.cast[i].source );
        state_units( &subject->scene.cast[i].target.skeleton );
    }
    for ( int i = 0; i < subject->scene.prop_count; ++i )
        state_units( &subject->scene.props[i].track );
    char *path = ok ? tr_string_format( "%s/scene.json", folder ) : NULL;
    if ( ok )
        ok = path != NULL ? tr_scene_save( &subject->scene, path, error ) : tr_error_memory( error );
    tr_free( path );
    return ok;
}

// All of the files or none; others in the folder stay.
static bool write_scene( cli_subject *subject, const char *folder, const cli_call *call, tr_error *error )
{
    tr_folder_draft draft;
    bool unused;
    if ( !tr_folder_draft_open( &draft, folder, NULL, true, error ) )
        return false;
    if ( write_files( subject, draft.name, call, error ) )
        return tr_folder_draft_keep( &draft, &unused, error );
    tr_folder_draft_rename_error( &draft, error );
    tr_folder_draft_discard( &draft );
    return false;
}

static void print_made( const tr_scene *scene, const char *folder )
{
    int frames = scene->last - scene->first + 1;
    cli_say( "%s/scene.json: %d character%s, %d prop%s, %d frame%s\n", folder, scene->cast_count,
             cli_plural( scene->cast_count ), scene->prop_count, cli_plural( scene->prop_count ), frames,
             cli_plural( frames ) );
}

static int run_make( const cli_call *call )
{
    const tr_scene_entry *entry = tr_scene_entry_find( call->operands[0] );
    tr_error error = { 0 };
    int cast = 0;
    if ( entry == NULL ) {
        tr_scene_refuse( call->operands[0], "built-in scene", &error );
        cli_fail( &error );
        return CLI_USAGE;
    }
    if ( !cli_int( call, "cast", entry->min_cast, entry->max_cast, &cast ) )
        return CLI_USAGE;
    const char *folder = cli_value( call, "out" );
    cli_subject subject = { 0 };
    bool ok = cli_subject_open( &subject, entry->name, cast, &error ) &&
              write_scene( &subject, folder, call, &error );
    if ( ok && !call->quiet )
        print_made( &subject.scene, folder );
    cli_subject_close( &subject );
    return ok ? CLI_OK : cli_fail( &error );
}

const cli_command cli_command_make = {
    .name = "make",
    .usage = "SCENE -o DIR [--cast N]",
    .summary = "write a built-in scene as scene.json and BVH files",
    .min_operands = 1,
    .max_operands = 1,
    .options =
        ( const cli_option[] ){
            { "out", 'o', "DIR", "folder to write to; made if it is not there", .required = true },
            { "cast", 0, "N", "number of characters ('troupe scenes' says how many are possible)" },
            { NULL },
        },
    .run = run_make,
};
