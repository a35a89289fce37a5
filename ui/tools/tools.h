// The tools of the viewport, one file each. Each has a press, a drag and a release, which makes the ops of
// the edit; release() of the cage tool is in cage.c, and the ops are solved by ui/session.
#ifndef TROUPE_UI_TOOLS_H
#define TROUPE_UI_TOOLS_H

#include "ui/shared/shared.h"

typedef struct tr_tool {
    const char *name; // as in the help
    const char *spot;
    tr_icon icon;
    int key, other_key; // 0 = none
    const char *help;
    // The left button in the viewport: `press` answers whether the tool takes the drag, and then sets
    // drag.handle; `drag` is called every frame during the drag, to preview it. NULL = selects.
    bool ( *press )( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
    void ( *drag )( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
    void ( *release )( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
    // What the pointer is on when nothing is held; NULL = what tr_pick finds. `wheel` answers whether the
    // tool takes the notches, `idle` is called every frame.
    void ( *hover )( tr_ui *ui, const tr_shown *shown, double x, double y );
    bool ( *wheel )( tr_ui *ui, const tr_shown *shown, double notches, unsigned modifiers );
    void ( *idle )( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
    // Overlays: into the picture, and over it.
    void ( *draw )( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list );
    void ( *overlay )( tr_ui *ui, const tr_shown *shown );
    void ( *hint )( tr_ui *ui, const tr_shown *shown );
} tr_tool;

// Row i of the table.
int tr_tool_count( void );
const tr_tool *tr_tool_get( int i );
extern const tr_tool tr_tool_select, tr_tool_move, tr_tool_turn, tr_tool_size, tr_tool_cage, tr_tool_link,
    tr_tool_contact, tr_tool_frame, tr_tool_pose;
void tr_tool_take( tr_ui *ui, const tr_tool *tool );

void tr_part_name( char *out, size_t size, const tr_shown *shown, const tr_part *part );
// Id of the layer being edited: the selected one, or the last one that was dragged. NULL: none.
const char *tr_layer_current( const tr_ui *ui, const tr_scene *scene );
// Pins or unpins what the pointer is on, else what is selected, as soon as the document is solved, since the
// pinned place follows from the solve. The second is called every frame.
void tr_cage_pin( tr_ui *ui, const tr_shown *shown );
void tr_cage_reach( tr_ui *ui, double steps ); // changes the reach of new cages, with a message
void tr_cage_pin_now( tr_ui *ui, const tr_shown *shown, tr_ops *ops );

// A held frame: becomes ops once they are known; is released; is requested (every frame).
void tr_frame_propagate( tr_ui *ui );
void tr_frame_let_go( tr_ui *ui );
// A row `room` points wide about the held frame: what is held, warnings, buttons.
void tr_held_row( tr_ui *ui, const tr_shown *shown, float room );
void tr_frame_hold( tr_ui *ui, const tr_shown *shown, tr_ops *ops );

// A pose that becomes a pair: its actor on the stage (-1: this one cannot be posed), previewed or made
// into ops (every frame), kept, let go.
const char *tr_pose_subject( const tr_ui *ui, const tr_shown *shown ); // NULL = none can be posed
int tr_pose_actor( const tr_shown *shown, const char *cast );
void tr_pose_hold( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
void tr_pose_keep( tr_ui *ui );
void tr_pose_let_go( tr_ui *ui );

// The pin on this joint that is at full strength at a frame of the document, NULL = none.
const tr_constraint *tr_pin_at( const tr_scene *scene, const char *who, const char *joint, int frame );

#endif
