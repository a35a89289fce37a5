// Panels around the viewport, dialogs, and the table of commands, which menus and keys share.
#ifndef TROUPE_UI_PANELS_H
#define TROUPE_UI_PANELS_H

#include "ui/tools/tools.h"

// -------------------------------------------------------------------------------------------------- commands

typedef struct tr_command {
    const char *menu; // File, Edit, View, Play, Help; NULL = key only
    const char *name;
    int key;
    unsigned modifiers;
    const char *keys; // as shown: "Ctrl+S"
    void ( *run )( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
    bool ( *on )( const tr_ui *ui );                         // a switch: whether it is on
    bool ( *can )( const tr_ui *ui, const tr_shown *shown ); // whether there is anything to do; NULL = always
} tr_command;

const tr_command *tr_command_table( int *count );
bool tr_command_key( tr_ui *ui, const tr_shown *shown, tr_ops *ops, int key, unsigned modifiers );
bool tr_ui_pulls( const tr_ui *ui ); // a tool, the timeline or a number is held by the pointer
void tr_ui_let_go( tr_ui *ui );      // lets go of it and of the view, as if the pull had never begun
void tr_ui_open_side( tr_ui *ui, bool right ); // the panel at that side

// ---------------------------------------------------------------------------------------------------- panels

void tr_panel_bar( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_left( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_right( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_status( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_cast( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
// The body of a character, and its joint map if the body comes from another file than its motion; and the ops
// that make it use another map, "" = the suggested one.
void tr_panel_map( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_cast *cast );
void tr_map_use( const tr_scene *scene, tr_ops *ops, const char *cast, const char *file );
// The ops that give a character the body of a file, "" = that of its motion. The old body's map is removed.
void tr_body_use( const tr_scene *scene, tr_ops *ops, const char *cast, const char *file );
void tr_panel_scenes( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_layers( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_examples( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_inspect( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_constraints( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_rule( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_constraint *k );
void tr_ui_methods( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
const char *tr_method_words( const tr_method *method, const char **help ); // its name; help may be NULL
void tr_ui_choose_method( const tr_shown *shown, tr_ops *ops, const tr_method *method );
void tr_panel_report( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_losses( tr_ui *ui, const tr_shown *shown ); // its parts
void tr_panel_warnings( tr_ui *ui, const tr_shown *shown );
void tr_panel_quality( tr_ui *ui, const tr_shown *shown );
// Goes to a frame, selects one or two members of the stage and centres the view. joints NULL: whole members.
void tr_ui_go_to( tr_ui *ui, const tr_shown *shown, int frame, const int members[2], const int joints[2] );
void tr_panel_history( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_overlay( tr_ui *ui, const tr_shown *shown, tr_ops *ops ); // over the viewport
void tr_panel_help( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_panel_help_print( tr_text *out ); // the same as Markdown
void tr_panel_dialog( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
// Both drop what was waiting for the last dialog.
void tr_dialog_open( tr_ui *ui, tr_dialog dialog, const tr_shown *shown );
void tr_dialog_close( tr_ui *ui );

#endif
