// Carries out the actions that panels, tools and keys asked for during a frame.
#include "ui/app.h"

#include <stdio.h>

// With unsaved changes, opening and quitting ask first.
static bool guarded( tr_app *app, const char *path, bool quit )
{
    tr_ui *ui = &app->ui;
    if ( !tr_session_unsaved( app->session ) )
        return false;
    tr_ui_let_go( ui );
    tr_ui_close_popup( ui );
    ui->dialog = TR_DIALOG_UNSAVED;
    ui->guard = ( tr_guard ){ .quit = quit };
    snprintf( ui->guard.open, sizeof ui->guard.open, "%s", path );
    return true;
}

static void say_error( tr_app *app, const tr_error *error )
{
    char text[1400];
    tr_error_print( error, text, sizeof text );
    tr_ui_say( &app->ui, true, "%s", text );
}

// The file is tried first, so that the question about unsaved changes comes only if it can be opened.
static void open_guarded( tr_app *app, const char *what )
{
    tr_opened opened = { 0 };
    tr_error error = { 0 };
    bool ok = !tr_session_unsaved( app->session ) || tr_scene_entry_find( what ) != NULL ||
              tr_open( &opened, what, 0, &error );
    tr_opened_free( &opened );
    if ( !ok )
        say_error( app, &error );
    else if ( !guarded( app, what, false ) )
        tr_session_open( app->session, what, 0 );
}

// A motion joins the cast, as long as there is one; everything else is opened.
static void drop( tr_app *app, const char *path )
{
    const tr_scene *scene = tr_session_scene( app->session );
    bool motion = tr_path_ends_with( path, ".bvh" ) || tr_import_is_named( path );
    if ( !motion || scene->cast_count == 0 ) {
        open_guarded( app, path );
        return;
    }
    tr_session_join( app->session, path );
}

static bool save_map( tr_app *app, const char *path, tr_error *error )
{
    tr_shown shown = tr_app_look( app );
    int actor = shown.stage != NULL ? tr_scene_find_cast( shown.stage->scene, app->ui.map_of ) : -1;
    if ( actor < 0 )
        return tr_error_set( error, "%s is not on the stage", app->ui.map_of );
    if ( !tr_joint_map_save( &shown.stage->actors[actor], path, false, error ) )
        return false;
    tr_ui_say( &app->ui, false, "Saved %s", path );
    return true;
}

// Uses a body or a joint map of a file, which is tried first.
static void use_file( tr_app *app, const char *path,
                      void ( *put )( const tr_scene *scene, tr_ops *ops, const char *cast,
                                     const char *file ) )
{
    tr_ops ops = { 0 };
    put( tr_session_scene( app->session ), &ops, app->ui.map_of, path );
    tr_session_try( app->session, ops.lines, ops.line_count );
    tr_ops_free( &ops );
}

static void carry_out( tr_app *app, const tr_action *action )
{
    tr_ui *ui = &app->ui;
    tr_error error = { 0 };
    bool ok = true;
    switch ( action->kind ) {
    case TR_ACTION_UNDO:
        if ( !tr_session_undo( app->session ) )
            tr_ui_say( ui, false, "There is nothing to undo" );
        break;
    case TR_ACTION_REDO:
        if ( !tr_session_redo( app->session ) )
            tr_ui_say( ui, false, "There is nothing to redo" );
        break;
    case TR_ACTION_OPEN: open_guarded( app, action->text ); break;
    case TR_ACTION_OPEN_ANYWAY: tr_session_open( app->session, action->text, 0 ); break;
    case TR_ACTION_DROP: drop( app, action->text ); break;
    case TR_ACTION_CHOOSE:
        tr_session_choose( app->session, ui->choice[0], ui->choice[1] );
        app->asks = false;
        break;
    case TR_ACTION_SAVE:
        ok = tr_session_save( app->session, action->text[0] != 0 ? action->text : NULL, &error );
        if ( ok )
            tr_state_files_note( &app->state_files, tr_session_file( app->session ) );
        break;
    case TR_ACTION_EXPORT: tr_session_export( app->session, action->text ); break;
    case TR_ACTION_PICTURE:
    case TR_ACTION_VIDEO: {
        tr_shown shown = tr_app_look( app );
        bool video = action->kind == TR_ACTION_VIDEO;
        tr_picture_job job = { .path = action->text,
                               .camera = shown.camera,
                               .view = ui->show,
                               .first = video ? ui->loop_first : ui->frame,
                               .last = video ? ui->loop_last : ui->frame,
                               .width = video ? 1280 : 1920,
                               .height = video ? 720 : 1080 };
        tr_session_draw( app->session, &job );
        break;
    }
    case TR_ACTION_LOAD_MAP: use_file( app, action->text, tr_map_use ); break;
    case TR_ACTION_BODY: use_file( app, action->text, tr_body_use ); break;
    case TR_ACTION_TRY: tr_session_try( app->session, &action->text, 1 ); break;
    case TR_ACTION_SAVE_MAP: ok = save_map( app, action->text, &error ); break;
    case TR_ACTION_SOLVE: tr_session_solve( app->session ); break;
    case TR_ACTION_CANCEL: tr_session_cancel( app->session ); break;
    case TR_ACTION_METHOD: tr_session_set_method( app->session, tr_method_find( action->text ) ); break;
    case TR_ACTION_RESTORE: ok = tr_state_files_restore( &app->state_files, app->session, &error ); break;
    case TR_ACTION_DISCARD_RECOVERY: tr_state_files_discard( &app->state_files ); break;
    case TR_ACTION_QUIT:
        if ( !guarded( app, "", true ) )
            ui->quit = true;
        break;
    case TR_ACTION_QUIT_ANYWAY: ui->quit = true; break;
    }
    if ( !ok )
        say_error( app, &error );
}

void tr_app_carry_out( tr_app *app )
{
    tr_ops *ops = &app->ops;
    tr_error error = { 0 };
    for ( int i = 0; i < ops->action_count; ++i )
        carry_out( app, &ops->actions[i] );
    if ( ops->line_count > 0 && !tr_session_apply( app->session, ops->lines, ops->line_count, &error ) )
        tr_ui_say( &app->ui, true, "%s", error.message );
    bool live = ops->live.handle[0] != 0 && ops->line_count == 0;
    bool held = ops->hold.what.who[0] != 0 && ops->line_count == 0 && !live;
    if ( live )
        tr_session_drag( app->session, ops->preview, ops->preview_count, ops->live.layer, ops->live.handle );
    else if ( held )
        tr_session_hold( app->session, &ops->hold.what, ops->hold.place, app->ui.drag.ms );
    else
        tr_session_drag_end( app->session, ops->line_count > 0 );
    if ( live )
        tr_session_drag_move( app->session, ops->live.move, ops->live.turn, app->ui.frame, app->ui.drag.ms );
    else if ( ops->line_count == 0 )
        tr_session_preview( app->session, ops->preview, ops->preview_count );
    tr_ops_clear( ops );
}
