// edit: the editor's window.
#include "cli.h"

#ifdef TROUPE_HAS_EDITOR

#include "ui/ui.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Without a screen and without a trace in the user's own state.
static int play_hands( const cli_call *call, tr_app_def *def, int width, int height, double scale )
{
    tr_error error = { 0 };
    char folder[] = "/tmp/troupe_hands_XXXXXX";
    bool ok = mkdtemp( folder ) != NULL || tr_error_set( &error, "no folder can be made in /tmp" );
    def->state_dir = folder;
    def->window = ok ? tr_window_pretend( width, height, scale > 0 ? scale : 1, true, &error ) : NULL;
    ok = def->window != NULL && tr_input_script_play( cli_value( call, "hands" ), def, &error );
    char recent[sizeof folder + 8];
    snprintf( recent, sizeof recent, "%s/recent", folder );
    unlink( recent );
    rmdir( folder );
    return ok ? CLI_OK : cli_fail( &error );
}

// The window is not work that can be cancelled: after a signal it would go on without memory. The signal ends
// the editor at once instead, and the recovery file stays.
static void end_by_signals( void )
{
    signal( SIGTERM, SIG_DFL );
    if ( signal( SIGINT, SIG_DFL ) == SIG_IGN )
        signal( SIGINT, SIG_IGN );
}

static int run_edit( const cli_call *call )
{
    tr_error error = { 0 };
    tr_app_def def = tr_default_app_def();
    int width = 1440, height = 900;
    double scale = 0;
    if ( !cli_int( call, "cast", 1, 100000, &def.cast ) ||
         !cli_number( call, "autosave", 0.1, 3600, &def.autosave ) || !cli_threads( call ) ||
         !cli_size( call, "size", &width, &height ) || !cli_number( call, "scale", 1, 4, &scale ) )
        return CLI_USAGE;
    if ( cli_value( call, "keys" ) != NULL ) {
        tr_text text = { 0 };
        tr_help_print( &text );
        printf( "%s", text.failed ? "" : text.data );
        tr_text_free( &text );
        return CLI_OK;
    }
    if ( cli_value( call, "check" ) != NULL ) {
        tr_window *window = tr_window_open( "Troupe", 64, 64, 0, &error );
        tr_window_close( window );
        return window != NULL ? CLI_OK : cli_fail( &error );
    }
    def.open = call->operand_count > 0 ? call->operands[0] : NULL;
    if ( cli_value( call, "hands" ) != NULL )
        return play_hands( call, &def, width, height, scale );
    def.report = cli_value( call, "report" );
    end_by_signals();
    def.window = tr_window_open( "Troupe", width, height, scale, &error );
    tr_app *app = def.window != NULL ? tr_app_create( &def, &error ) : NULL;
    if ( app == NULL )
        return cli_fail( &error );
    while ( tr_app_frame( app ) )
        ;
    tr_app_destroy( app );
    return CLI_OK;
}

#else

static int run_edit( const cli_call *call )
{
    (void)call;
    tr_error error = { 0 };
    tr_error_set( &error,
                  "this program was built without the editor, which needs GLFW 3.3 (libglfw3-dev) and "
                  "nuklear.h (scripts/headers.sh); 'troupe retarget' and 'troupe render' work without" );
    return cli_fail( &error );
}

#endif

const cli_command cli_command_edit = {
    .name = "edit",
    .usage = "[SCENE|FILE.json|MOTION|DIR]",
    .summary = "open the editor",
    .details = "MOTION is a BVH, glTF, FBX, NPZ or CSV file. Without a scene it opens the box relay. F1 in "
               "the editor shows its keys.",
    .max_operands = 1,
    .options =
        ( const cli_option[] ){
            { "cast", 0, "N", "number of characters of a built-in scene" },
            { "size", 0, "WxH", "of the window; 1440x900 by default, or what the screen has room for" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { "check", 0, NULL, "only tell whether a window can be opened here" },
            { "keys", 0, NULL, "only print every tool and key, as Markdown" },
            { "hands", 0, "SCRIPT",
              "play a script of mouse and keys without a screen and save its pictures; see docs/editor.md" },
            { "scale", 0, "S", "pixels per point; by default as the screen has it, with --hands 1" },
            { "autosave", 0, "SECONDS",
              "how often unsaved changes are kept for after a crash; 60 by default" },
            { "report", 0, "FILE", "keep writing the state of the interface into this file, as JSON" },
            { NULL },
        },
    .run = run_edit,
};
