// Everything a key or a menu can do, one row each: the menus, the shortcuts and the help overlay read this
// table.
#include "ui/panels/panels.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define RUN( name ) static void name( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
#define UNUSED      (void)ui, (void)shown, (void)ops

// ---------------------------------------------------------------------------------------------------- files

RUN( run_open )
{
    UNUSED;
    tr_dialog_open( ui, TR_DIALOG_OPEN, shown );
}

RUN( run_save )
{
    UNUSED;
    if ( shown->session != NULL && tr_session_file( shown->session ) != NULL )
        tr_ops_act( ops, TR_ACTION_SAVE, "" );
    else
        tr_dialog_open( ui, TR_DIALOG_SAVE, shown );
}

RUN( run_save_as )
{
    UNUSED;
    tr_dialog_open( ui, TR_DIALOG_SAVE, shown );
}

RUN( run_export_motion )
{
    UNUSED;
    tr_dialog_open( ui, TR_DIALOG_EXPORT_MOTION, shown );
}

RUN( run_export_picture )
{
    UNUSED;
    tr_dialog_open( ui, TR_DIALOG_EXPORT_PICTURE, shown );
}

RUN( run_export_video )
{
    UNUSED;
    tr_dialog_open( ui, TR_DIALOG_EXPORT_VIDEO, shown );
}

RUN( run_quit )
{
    UNUSED;
    tr_ops_act( ops, TR_ACTION_QUIT, NULL );
}

// -------------------------------------------------------------------------------------------------- editing

static bool can_undo( const tr_ui *ui, const tr_shown *shown )
{
    (void)ui;
    return shown->document != NULL && tr_document_log_count( shown->document ) > 0;
}

static bool can_redo( const tr_ui *ui, const tr_shown *shown )
{
    (void)ui;
    return shown->document != NULL && tr_document_redo_count( shown->document ) > 0;
}

static bool can_propagate( const tr_ui *ui, const tr_shown *shown )
{
    (void)shown;
    return ui->held.active || ui->pose.active;
}

static bool can_delete( const tr_ui *ui, const tr_shown *shown )
{
    (void)shown;
    return ui->selection_count > 0 || ui->cage.chosen.kind == TR_PART_HANDLE;
}

RUN( run_undo )
{
    UNUSED;
    tr_ops_act( ops, TR_ACTION_UNDO, NULL );
}

RUN( run_redo )
{
    UNUSED;
    tr_ops_act( ops, TR_ACTION_REDO, NULL );
}

RUN( run_select_all )
{
    UNUSED;
    tr_select( ui, NULL, false );
    for ( int i = 0; i < shown->scene->cast_count; ++i ) {
        tr_item item = tr_item_make( TR_ITEM_CAST, shown->scene->cast[i].id, -1 );
        if ( tr_cast_visible( ui, item.id ) && !tr_cast_locked( ui, item.id ) )
            tr_select( ui, &item, true );
    }
    for ( int i = 0; i < shown->scene->prop_count; ++i ) {
        tr_item item = tr_item_make( TR_ITEM_PROP, shown->scene->props[i].id, -1 );
        tr_select( ui, &item, true );
    }
}

RUN( run_find )
{
    UNUSED;
    tr_dialog_open( ui, TR_DIALOG_FIND, shown );
}

RUN( run_delete )
{
    UNUSED;
    if ( ui->cage.chosen.kind == TR_PART_HANDLE && tr_tool_get( ui->tool ) == &tr_tool_cage ) {
        tr_ops_add( ops, "handle_remove id=%s", ui->cage.chosen.handle );
        ui->cage.chosen = ( tr_part ){ 0 };
        return;
    }
    static const char *const verbs[] = { [TR_ITEM_CAST] = "cast_remove",
                                         [TR_ITEM_PROP] = "prop_remove",
                                         [TR_ITEM_OBSTACLE] = "obstacle_remove",
                                         [TR_ITEM_CONSTRAINT] = "constraint_remove",
                                         [TR_ITEM_LAYER] = "layer_remove" };
    bool rule = ui->selection_count > 0 && tr_selected( ui )->kind == TR_ITEM_CONSTRAINT;
    for ( int i = 0; i < ui->selection_count; ++i ) {
        const tr_item *item = &ui->selection[i];
        bool again = rule && item->kind != TR_ITEM_CONSTRAINT; // deletes a rule, not its members
        for ( int k = 0; k < i; ++k )                          // two joints of one character remove it once
            again |= ui->selection[k].kind == item->kind && strcmp( ui->selection[k].id, item->id ) == 0;
        if ( !again )
            tr_ops_add( ops, "%s id=%s", verbs[item->kind], item->id );
    }
}

// A wall where the view is centred, to be moved, turned and sized like any box of the environment.
RUN( run_add_wall )
{
    UNUSED;
    tr_id id;
    tr_item item;
    char x[28], z[28];
    if ( shown->document == NULL )
        return;
    for ( int n = 1;; ++n ) {
        snprintf( id, sizeof id, "wall%d", n );
        if ( tr_scene_find_obstacle( shown->scene, id ) < 0 && tr_scene_find_prop( shown->scene, id ) < 0 &&
             tr_scene_find_cast( shown->scene, id ) < 0 )
            break;
    }
    tr_number_print( x, sizeof x, ui->orbit.target.x, 3 );
    tr_number_print( z, sizeof z, ui->orbit.target.z, 3 );
    tr_ops_add( ops, "obstacle_add id=%s size=0.08,1,0.5 position=%s,0.5,%s colour=#8a6f5a", id, x, z );
    item = tr_item_make( TR_ITEM_OBSTACLE, id, -1 );
    tr_select( ui, &item, false );
}

bool tr_ui_pulls( const tr_ui *ui )
{
    bool down = ui->nk->input.mouse.buttons[NK_BUTTON_LEFT].down;
    return ui->drag.active || ui->time.grip != TR_GRIP_NONE ||
           ( down && ( ui->edit.key != 0 || ui->grabbed != 0 ) );
}

void tr_ui_let_go( tr_ui *ui )
{
    if ( ui->drag.active && ui->drag.handle != 0 && tr_tool_get( ui->tool ) == &tr_tool_frame )
        tr_frame_let_go( ui );
    ui->drag.active = ui->drag.navigating = false;
    ui->time = ( tr_time_hold ){ 0 };
    ui->edit.cancelled = ui->edit.key != 0;
    ui->grabbed = 0;
}

RUN( run_solve )
{
    UNUSED;
    tr_ops_act( ops, TR_ACTION_SOLVE, NULL );
}

// A drag ends as if it had never begun; else menus and dialogs close; else nothing is chosen any more.
RUN( run_escape )
{
    UNUSED;
    ui->cage.pin.asked = false;
    if ( tr_ui_typing( ui ) && ui->dialog == TR_DIALOG_NONE )
        tr_ui_stop_typing( ui );
    else if ( tr_ui_pulls( ui ) || ui->drag.navigating )
        tr_ui_let_go( ui );
    else if ( tr_ui_close_popup( ui ) )
        return;
    else if ( ui->dialog != TR_DIALOG_NONE )
        tr_dialog_close( ui );
    else if ( ui->help )
        ui->help = false;
    else if ( ui->held.active )
        tr_frame_let_go( ui );
    else if ( ui->pose.active )
        tr_pose_let_go( ui );
    else if ( ui->message[0] != 0 && ui->message_bad )
        ui->message[0] = 0;
    else {
        tr_select( ui, NULL, false );
        ui->cage.chosen = ( tr_part ){ 0 };
        ui->cage.layer[0] = 0;
    }
}

RUN( run_pin )
{
    UNUSED;
    tr_cage_pin( ui, shown );
}

RUN( run_propagate )
{
    UNUSED;
    if ( ui->pose.active )
        tr_pose_keep( ui );
    else
        tr_frame_propagate( ui );
}

RUN( run_reach_less )
{
    UNUSED;
    tr_cage_reach( ui, -1 );
}

RUN( run_reach_more )
{
    UNUSED;
    tr_cage_reach( ui, 1 );
}

// -------------------------------------------------------------------------------------------------- looking

RUN( run_frame_selection )
{
    UNUSED;
    tr_orbit_frame( ui, shown, true );
}

RUN( run_frame_all )
{
    UNUSED;
    tr_orbit_frame( ui, shown, false );
}

static void look_along( tr_ui *ui, double yaw, double pitch )
{
    ui->orbit.yaw = yaw;
    ui->orbit.pitch = pitch;
    ui->orbit.orthographic = true;
}

RUN( run_front )
{
    UNUSED;
    look_along( ui, 0, 0 );
}

RUN( run_back )
{
    UNUSED;
    look_along( ui, 180, 0 );
}

RUN( run_left )
{
    UNUSED;
    look_along( ui, 90, 0 );
}

RUN( run_right )
{
    UNUSED;
    look_along( ui, -90, 0 );
}

RUN( run_top )
{
    UNUSED;
    look_along( ui, 0, 90 );
}

RUN( run_perspective )
{
    UNUSED;
    ui->orbit.orthographic = !ui->orbit.orthographic;
}

static bool is_orthographic( const tr_ui *ui )
{
    return ui->orbit.orthographic;
}

#define SWITCH( name, field )                                                                                \
    RUN( run_##name )                                                                                        \
    {                                                                                                        \
        UNUSED;                                                                                              \
        ui->field = !ui->field;                                                                              \
    }                                                                                                        \
    static bool is_##name( const tr_ui *ui )                                                                 \
    {                                                                                                        \
        return ui->field;                                                                                    \
    }

SWITCH( bodies, show.bodies )
SWITCH( skeleton, show.skeleton )
SWITCH( graph, show.pose_graph )
SWITCH( trails, show.trails )
SWITCH( ghosts, show.ghosts )
SWITCH( source, show.source )
SWITCH( contacts, show.contacts )
SWITCH( overlaps, overlaps )
SWITCH( links, links )
SWITCH( loop, loop )
SWITCH( seconds, seconds )
SWITCH( help, help )

void tr_ui_open_side( tr_ui *ui, bool right )
{
    *( right ? &ui->show_right : &ui->show_left ) = true;
    ui->right_last = right;
}

// Whether it is visible: a narrow window has room for one panel only.
static void turn_side( tr_ui *ui, bool right )
{
    if ( ( right ? ui->right : ui->left ).width > 0 )
        *( right ? &ui->show_right : &ui->show_left ) = false;
    else
        tr_ui_open_side( ui, right );
}

RUN( run_left_panel )
{
    UNUSED;
    turn_side( ui, false );
}

RUN( run_right_panel )
{
    UNUSED;
    turn_side( ui, true );
}

static bool is_left_panel( const tr_ui *ui )
{
    return ui->left.width > 0;
}

static bool is_right_panel( const tr_ui *ui )
{
    return ui->right.width > 0;
}

// -------------------------------------------------------------------------------------------------- playing

RUN( run_play )
{
    UNUSED;
    tr_play_toggle( ui );
}

RUN( run_step_back )
{
    UNUSED;
    ui->playing = false;
    tr_play_seek( ui, ui->frame - 1 );
}

RUN( run_step )
{
    UNUSED;
    ui->playing = false;
    tr_play_seek( ui, ui->frame + 1 );
}

RUN( run_first )
{
    UNUSED;
    tr_play_seek( ui, ui->loop_first );
}

RUN( run_last )
{
    UNUSED;
    tr_play_seek( ui, ui->loop_last );
}

RUN( run_range_begin )
{
    UNUSED;
    ui->loop_first = ui->frame;
    ui->loop_last = ui->loop_last > ui->frame ? ui->loop_last : ui->frame;
}

RUN( run_range_end )
{
    UNUSED;
    ui->loop_last = ui->frame;
    ui->loop_first = ui->loop_first < ui->frame ? ui->loop_first : ui->frame;
}

RUN( run_range_all )
{
    UNUSED;
    ui->loop_first = 0;
    ui->loop_last = ui->frame_count > 0 ? ui->frame_count - 1 : 0;
}

// ---------------------------------------------------------------------------------------------------- table

#define CTRL  TR_MOD_CTRL
#define SHIFT TR_MOD_SHIFT

static const tr_command commands[] = {
    { "File", "Open…", 'O', CTRL, "Ctrl+O", run_open },
    { "File", "Save", 'S', CTRL, "Ctrl+S", run_save },
    { "File", "Save as…", 'S', CTRL | SHIFT, "Ctrl+Shift+S", run_save_as },
    { "File", "Export motion…", 'E', CTRL, "Ctrl+E", run_export_motion },
    { "File", "Export picture…", 0, 0, "", run_export_picture },
    { "File", "Export video…", 0, 0, "", run_export_video },
    { "File", "Quit", 'Q', CTRL, "Ctrl+Q", run_quit },
    { "Edit", "Undo", 'Z', CTRL, "Ctrl+Z", run_undo, NULL, can_undo },
    { "Edit", "Redo", 'Z', CTRL | SHIFT, "Ctrl+Shift+Z", run_redo, NULL, can_redo },
    { NULL, "Redo", 'Y', CTRL, "Ctrl+Y", run_redo },
    { "Edit", "Select all", 'A', CTRL, "Ctrl+A", run_select_all },
    { "Edit", "Select by name…", 'F', CTRL, "Ctrl+F", run_find },
    { "Edit", "Delete what is selected", TR_KEY_DELETE, 0, "Delete", run_delete, NULL, can_delete },
    { "Edit", "Add a wall", 0, 0, "", run_add_wall },
    { "Edit", "Solve again", 'R', CTRL, "Ctrl+R", run_solve },
    { "Edit", "Pin, or let go", 'P', 0, "P", run_pin },
    { "Edit", "Propagate the held frame, or keep the pose", TR_KEY_ENTER, 0, "Enter", run_propagate, NULL,
      can_propagate },
    { "Edit", "Cages reach less far", ',', 0, "Comma", run_reach_less },
    { "Edit", "Cages reach farther", '.', 0, "Full stop", run_reach_more },
    { NULL, "Cancel a drag, close, select nothing", TR_KEY_ESCAPE, 0, "Esc", run_escape },
    { "View", "Frame the selection", 'F', 0, "F", run_frame_selection },
    { "View", "Frame everything", 'A', 0, "A", run_frame_all },
    { NULL, "Frame the selection", TR_KEY_PAD_POINT, 0, "Num .", run_frame_selection },
    { "View", "Front", TR_KEY_PAD_0 + 1, 0, "Num 1", run_front },
    { "View", "Back", TR_KEY_PAD_0 + 1, CTRL, "Ctrl+Num 1", run_back },
    { "View", "Left", TR_KEY_PAD_0 + 3, CTRL, "Ctrl+Num 3", run_left },
    { "View", "Right", TR_KEY_PAD_0 + 3, 0, "Num 3", run_right },
    { "View", "Top", TR_KEY_PAD_0 + 7, 0, "Num 7", run_top },
    { "View", "Orthographic", TR_KEY_PAD_0 + 5, 0, "Num 5", run_perspective, is_orthographic },
    { "Show", "Bodies", '1', 0, "1", run_bodies, is_bodies },
    { "Show", "Skeletons", '2', 0, "2", run_skeleton, is_skeleton },
    { "Show", "Pose graphs", '3', 0, "3", run_graph, is_graph },
    { "Show", "Motion trails", '4', 0, "4", run_trails, is_trails },
    { "Show", "Ghosts before and after", '5', 0, "5", run_ghosts, is_ghosts },
    { "Show", "Source motion", '6', 0, "6", run_source, is_source },
    { "Show", "Contacts", '7', 0, "7", run_contacts, is_contacts },
    { "Show", "Overlaps in red", '8', 0, "8", run_overlaps, is_overlaps },
    { "Show", "Close pairs", '9', 0, "9", run_links, is_links },
    { "Show", "Cast and scenes", '[', CTRL, "Ctrl+[", run_left_panel, is_left_panel },
    { "Show", "Inspector", ']', CTRL, "Ctrl+]", run_right_panel, is_right_panel },
    { "Play", "Play or pause", TR_KEY_SPACE, 0, "Space", run_play },
    { "Play", "Frame back", TR_KEY_LEFT, 0, "Left", run_step_back },
    { "Play", "Frame on", TR_KEY_RIGHT, 0, "Right", run_step },
    { "Play", "To the beginning", TR_KEY_HOME, 0, "Home", run_first },
    { "Play", "To the end", TR_KEY_END, 0, "End", run_last },
    { "Play", "Range begins here", '[', 0, "[", run_range_begin },
    { "Play", "Range ends here", ']', 0, "]", run_range_end },
    { "Play", "Range is everything", '\\', 0, "\\", run_range_all },
    { "Play", "Loop", 'L', 0, "L", run_loop, is_loop },
    { "Play", "Times in seconds", 'T', 0, "T", run_seconds, is_seconds },
    { "Help", "Keys and tools", TR_KEY_F1, 0, "F1", run_help, is_help },
};

const tr_command *tr_command_table( int *count )
{
    *count = (int)( sizeof commands / sizeof commands[0] );
    return commands;
}

// What may come between while something is pulled: to end it, what the pull itself listens to, other looks.
static bool goes_with_pulling( const tr_command *c )
{
    return c->run == run_escape || c->run == run_reach_less || c->run == run_reach_more ||
           ( c->menu != NULL && strcmp( c->menu, "Show" ) == 0 );
}

bool tr_command_key( tr_ui *ui, const tr_shown *shown, tr_ops *ops, int key, unsigned modifiers )
{
    if ( key == 0 || ( ui->dialog != TR_DIALOG_NONE && key != TR_KEY_ESCAPE ) )
        return false;
    for ( size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i )
        if ( commands[i].key == key && commands[i].modifiers == modifiers ) {
            if ( tr_ui_pulls( ui ) && !goes_with_pulling( &commands[i] ) )
                return true;
            if ( key != TR_KEY_ESCAPE ) // Escape does just that
                tr_ui_close_popup( ui );
            commands[i].run( ui, shown, ops );
            return true;
        }
    for ( int i = 0; i < tr_tool_count() && modifiers == 0 && !tr_ui_pulls( ui ); ++i ) {
        const tr_tool *tool = tr_tool_get( i );
        if ( tool->key == key || ( tool->other_key != 0 && tool->other_key == key ) ) {
            ui->tool = i;
            return true;
        }
    }
    return false;
}
