// Frame: holds a frame. A joint is dragged, and members that are close follow through the interaction mesh of
// that frame alone; Enter propagates it to the motion, Escape lets it go as if it had never been.
#include "ui/tools/gizmo.h"

#include <stdio.h>
#include <string.h>

static const double reach = 14.0; // points around what is held in which it is pulled on
static const double hurry = 0.4;  // metres a second beyond what the motion has, to be seen as a jerk

static const tr_colour amber = { 1.0f, 0.78f, 0.35f, 1.0f }, dark = { 0.06f, 0.08f, 0.09f, 1.0f };

// -------------------------------------------------------------------------------------------------- pulling

static bool is_on_held( const tr_ui *ui, const tr_shown *shown )
{
    double x, y;
    return ui->held.active && tr_project( ui, shown, ui->held.now, &x, &y ) &&
           hypot( x - ui->drag.start_x, y - ui->drag.start_y ) < reach;
}

// What is held is pulled on; else a joint is taken hold of, and one is enough.
static bool press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    bool again = is_on_held( ui, shown );
    tr_item item = again ? ui->held.item : tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, NULL );
    if ( item.kind != TR_ITEM_CAST || item.joint < 0 || shown->result == NULL )
        return false;
    if ( ui->held.active && !again && !tr_item_same( &item, &ui->held.item ) ) {
        tr_ui_say( ui, false, "One part at a time: Enter propagates what is held, Esc lets it go" );
        return false;
    }
    ui->playing = false;
    if ( ui->held.active )
        tr_play_seek( ui, ui->held.frame );
    tr_select( ui, &item, false );
    ui->drag.item = item;
    ui->drag.handle = TR_GIZMO_FREE;
    if ( ui->held.active )
        ui->drag.start = ui->held.now;
    else
        tr_item_place( ui, shown, &item, &ui->drag.start );
    ui->drag.now = ui->drag.start;
    return true;
}

static void drag( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    ui->drag.now = tr_gizmo_drag( ui, shown, ui->drag.start, ui->drag.handle );
    if ( !ui->held.active ) {
        ui->held.active = true;
        ui->held.item = ui->drag.item;
        ui->held.frame = ui->frame;
        ui->held.start = ui->drag.start;
    }
    ui->held.now = ui->drag.now;
    ui->held.keep = false;
}

static void release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( ui->drag.moved )
        drag( ui, shown, ops );
}

// How many frames before and after fade.
static bool wheel( tr_ui *ui, const tr_shown *shown, double notches, unsigned modifiers )
{
    (void)shown;
    if ( !ui->drag.active && ( modifiers & TR_MOD_CTRL ) == 0 )
        return false;
    ui->held.ease = tr_int_clamped( ui->held.ease + notches, 0, 200 );
    return true;
}

// -------------------------------------------------------------------------------------------------- keeping

void tr_frame_propagate( tr_ui *ui )
{
    if ( ui->held.active )
        ui->held.keep = true;
    else
        tr_ui_say( ui, false, "No frame is held: pull a part of a body with the frame tool (H)" );
}

void tr_frame_let_go( tr_ui *ui )
{
    ui->held.active = ui->held.keep = false;
}

// A pin of the same joint at the same frame is replaced. All of it is one step.
static void commit( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const char *joint, int frame )
{
    const tr_constraint *old = tr_pin_at( shown->scene, ui->held.item.id, joint, frame );
    if ( old != NULL )
        tr_ops_add( ops, "constraint_remove id=%s", old->id );
    for ( const char *line = shown->held; *line != 0; ) {
        size_t length = strcspn( line, "\n" );
        tr_ops_add( ops, "%.*s", (int)length, line );
        line += length + ( line[length] == '\n' );
    }
    tr_frame_let_go( ui );
}

void tr_frame_hold( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    tr_live_hold hold = { .frame = ui->held.frame, .ease = ui->held.ease };
    int actor = ui->held.active ? tr_item_actor( shown, &ui->held.item ) : -1;
    if ( actor < 0 ) { // none, or gone
        tr_frame_let_go( ui );
        return;
    }
    memcpy( hold.who, ui->held.item.id, sizeof hold.who );
    snprintf( hold.joint, sizeof hold.joint, "%s",
              shown->stage->actors[actor].target.joints[tr_item_joint( shown, &ui->held.item )].name );
    hold.document_frame = tr_stage_document_frame( shown->stage, shown->scene, hold.who, 0, hold.frame );
    tr_free_id( shown->scene, tr_scene_find_constraint, "held", hold.id );
    if ( ui->held.keep && shown->held != NULL && !ui->drag.active )
        commit( ui, shown, ops, hold.joint, hold.document_frame );
    else
        tr_ops_hold( ops, &hold, ui->held.now );
}

// -------------------------------------------------------------------------------------------------- on show

static void draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    (void)shown;
    if ( !ui->held.active || ui->frame != ui->held.frame )
        return;
    tr_draw_line_add( list, ui->held.start, ui->held.now, amber, 2.0f, true );
    tr_draw_line_add( list, ui->held.now, ui->held.now, dark, 14.0f, true );
    tr_draw_line_add( list, ui->held.now, ui->held.now, amber, 10.0f, true );
}

static void hint( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    tr_item_name( name, sizeof name, shown, &ui->hover );
    if ( ui->held.active )
        tr_ui_hint( ui,
                    "Pull the dot on · Ctrl+wheel: fades over more or fewer frames · Enter propagates · "
                    "Esc lets go · %.0f ms",
                    ui->drag_ms );
    else if ( ui->hover.kind == TR_ITEM_CAST )
        tr_ui_hint( ui, "Drag %s: this frame is held, close members follow", name );
    else
        tr_ui_hint( ui, "Drag a part of a body: this frame is held, close members follow" );
}

const tr_tool tr_tool_frame = { .name = "Frame",
                                .spot = "tool.frame",
                                .icon = TR_ICON_FRAME,
                                .key = 'H',
                                .help = "hold this frame, pull a part; Enter propagates",
                                .press = press,
                                .drag = drag,
                                .release = release,
                                .wheel = wheel,
                                .draw = draw,
                                .hint = hint };

// ----------------------------------------------------------------------------------------------- its notice

// What Enter would not bring about, or at what price: the joint cannot get there, or has to hurry. The way
// there and back eases in and out, which is half as fast again in its middle as on average.
static bool held_doubt( const tr_ui *ui, const tr_shown *shown, char *out, size_t size )
{
    vec3 place;
    bool there = !ui->drag.active && shown->held != NULL && ui->frame == ui->held.frame &&
                 tr_item_place( ui, shown, &ui->held.item, &place );
    double behind = there ? 100 * v3_distance( place, ui->held.now ) : 0.0;
    double seconds = fmax( ui->held.ease, 1 ) / fmax( shown->scene->fps, 1.0 );
    double speed = 1.5 * v3_distance( ui->held.start, ui->held.now ) / seconds;
    bool short_of_it = behind >= 0.1, hurried = speed > hurry;
    snprintf( out, size, "%s", "" );
    if ( short_of_it )
        snprintf( out, size, "Stays %.*f cm behind%s", behind < 2 ? 1 : 0, behind, hurried ? " · " : "" );
    size_t length = strlen( out );
    if ( hurried )
        snprintf( out + length, size - length, "%.1f m/s more on the way: Ctrl+wheel gives it time", speed );
    return short_of_it || hurried;
}

static void held_text( tr_ui *ui, const tr_shown *shown, char *out, size_t size, bool *doubtful )
{
    char name[120];
    *doubtful = held_doubt( ui, shown, out, size );
    if ( *doubtful )
        return;
    tr_item_name( name, sizeof name, shown, &ui->held.item );
    snprintf( out, size, "Frame %d: %s by %.0f cm, ±%d frames", ui->held.frame + shown->scene->first, name,
              100 * v3_distance( ui->held.start, ui->held.now ), ui->held.ease );
}

void tr_held_row( tr_ui *ui, const tr_shown *shown, float room )
{
    struct nk_context *nk = ui->nk;
    const bool tight = room < 420;
    const float space = nk->style.window.spacing.x, keep = tight ? 78 : 122, cancel = tight ? 54 : 88,
                width = fmaxf( room - keep - cancel - 3 * space, 1 );
    char text[240], fitted[240];
    bool doubtful;
    held_text( ui, shown, text, sizeof text, &doubtful );
    tr_ui_fit( fitted, sizeof fitted, text, nk->style.font, width );
    nk_layout_row_push( nk, width );
    struct nk_rect area = nk_widget_bounds( nk );
    tr_ui_mark( ui, doubtful ? "held.doubt" : "held.text", area );
    if ( strcmp( text, fitted ) != 0 && tr_ui_pointed( ui, area ) )
        tr_ui_tip( ui, area, text );
    nk_label_colored( nk, fitted, NK_TEXT_LEFT, doubtful ? tr_theme_dark.accent : tr_theme_dark.text );
    nk_layout_row_push( nk, keep );
    if ( tr_ui_button( ui, "held.propagate", tight ? "Propagate" : "Propagate  Enter" ) )
        tr_frame_propagate( ui );
    nk_layout_row_push( nk, cancel );
    if ( tr_ui_button( ui, "held.cancel", tight ? "Let go" : "Let go  Esc" ) )
        tr_frame_let_go( ui );
}
