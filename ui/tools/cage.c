// Cage: pull any joint, body or prop. A cage around the motion of what was grabbed appears on demand, as a
// layer that reaches some frames to either side, and linked members follow while the button is down. Its
// sections, corners and handles can be pulled as well.
#include "ui/tools/cage.h"
#include "ui/tools/gizmo.h"

#include <string.h>

static const double wheel_rest = 0.6; // seconds after the last notch in which more may come

// ------------------------------------------------------------------------------------------------------ drag

static void hover( tr_ui *ui, const tr_shown *shown, double x, double y )
{
    ui->cage.hover = tr_cage_pick( ui, shown, x, y, false );
    ui->hover = ui->cage.hover.kind == TR_PART_NONE ? tr_pick( ui, shown, x, y, NULL ) : tr_item_none();
    if ( ui->cage.hover.kind == TR_PART_NONE && ui->hover.kind == TR_ITEM_NONE )
        ui->cage.hover = tr_cage_pick( ui, shown, x, y, true );
}

static bool press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    hover( ui, shown, ui->drag.start_x, ui->drag.start_y );
    tr_item item = ui->hover;
    tr_part part = ui->cage.hover;
    bool adds = ( ui->drag.modifiers & ( TR_MOD_SHIFT | TR_MOD_CTRL ) ) != 0;
    ui->cage.turning = part.kind == TR_PART_SECTION && ( ui->drag.modifiers & TR_MOD_SHIFT ) != 0;
    ui->cage.chosen = part;
    if ( part.kind != TR_PART_NONE ) {
        if ( !tr_cage_hold_part( ui, shown, &part, &ui->cage.hold ) ||
             !tr_part_place( ui, shown, &part, &ui->drag.start ) )
            return false;
    } else {
        if ( adds || ( item.kind != TR_ITEM_CAST && item.kind != TR_ITEM_PROP ) )
            return false;
        if ( !tr_ui_selected( ui, item.kind, item.id ) || ui->selection_count == 1 )
            tr_select( ui, &item, false );
        if ( !tr_cage_hold_item( ui, shown, &item, &ui->cage.hold ) ) {
            if ( ui->cage.hold.crowd )
                tr_ui_say( ui, true, TR_CROWD );
            return false;
        }
        tr_item_place( ui, shown, &item, &ui->drag.start );
    }
    ui->cage.held = part;
    memcpy( ui->cage.held.layer, ui->cage.hold.layer, sizeof ui->cage.held.layer );
    ui->playing = false;
    ui->drag.item = item;
    ui->drag.handle = TR_GIZMO_FREE;
    ui->drag.now = ui->drag.start;
    return true;
}

static void follow( tr_ui *ui, const tr_shown *shown, vec3 *move, double *turn )
{
    *turn = ui->cage.turning ? tr_gizmo_turn( ui, shown, ui->drag.start ) : 0.0;
    ui->drag.now =
        ui->cage.turning ? ui->drag.start : tr_gizmo_drag( ui, shown, ui->drag.start, ui->drag.handle );
    *move = v3_sub( ui->drag.now, ui->drag.start );
}

static void drag( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_cage_hold *hold = &ui->cage.hold;
    vec3 move;
    double turn;
    follow( ui, shown, &move, &turn );
    tr_cage_hold_put( hold, ops, tr_ops_preview, move, turn );
    tr_cage_hold_live( hold, ops, move, turn );
}

// The pull becomes ops, which are solved by ui/session/solve.c. A click without a pull goes to the time of
// the part.
static void release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    vec3 move;
    double turn;
    memcpy( ui->cage.layer, ui->cage.hold.layer, sizeof ui->cage.layer );
    if ( !ui->drag.moved ) {
        if ( ui->cage.held.kind != TR_PART_NONE )
            tr_play_seek( ui, ui->cage.held.frame );
        return;
    }
    follow( ui, shown, &move, &turn );
    tr_cage_hold_put( &ui->cage.hold, ops, tr_ops_add, move, turn );
    ui->left_tab = TR_LEFT_LAYERS;
}

// ----------------------------------------------------------------------------------------------------- wheel

void tr_cage_reach( tr_ui *ui, double steps )
{
    int most = ui->frame_count > 1 ? ui->frame_count - 1 : 1,
        step = ui->cage.reach < 20 ? 2 : ui->cage.reach / 6;
    ui->cage.reach = tr_int_clamped( ui->cage.reach + steps * step, 1, most );
    if ( ui->cage.reach == most )
        tr_ui_say( ui, false, "New cages reach as far as the clip" );
    else
        tr_ui_say( ui, false, "New cages reach %d frames to either side", ui->cage.reach );
}

// While something is pulled, or with Ctrl: how many frames the cage reaches; with Shift as well, how much
// room it leaves around what it holds. Without a cage, what the next one will reach.
static bool wheel( tr_ui *ui, const tr_shown *shown, double notches, unsigned modifiers )
{
    bool space = ( modifiers & TR_MOD_SHIFT ) != 0;
    const char *id = tr_cage_layer_shown( ui, shown );
    int layer = id != NULL ? tr_scene_find_layer( shown->scene, id ) : -1;
    tr_cage_hold *hold = &ui->cage.hold;
    if ( ui->drag.active && ui->drag.handle != 0 ) {
        tr_cage_hold_grow( hold, notches, space );
        if ( hold->new_layer && !space )
            ui->cage.reach = hold->frame - hold->first;
        return true;
    }
    if ( ( modifiers & TR_MOD_CTRL ) == 0 )
        return false;
    if ( layer < 0 ) {
        tr_cage_reach( ui, notches );
        return true;
    }
    if ( !ui->cage.growing ) {
        const tr_layer *l = &shown->scene->layers[layer];
        *hold = ( tr_cage_hold ){ .padding = l->padding };
        memcpy( hold->layer, l->id, sizeof hold->layer );
        hold->first = l->first > shown->scene->first ? l->first : shown->scene->first;
        hold->last = l->last < shown->scene->last ? l->last : shown->scene->last;
        hold->frame = ( hold->first + hold->last ) / 2;
    }
    tr_cage_hold_grow( hold, notches, space );
    ui->cage.growing = true;
    ui->cage.grown_at = ui->now;
    return true;
}

// Notches in a row are one step of the history.
static void idle( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    char room[28];
    const tr_cage_hold *hold = &ui->cage.hold;
    (void)shown;
    if ( !ui->cage.growing || ui->drag.active )
        return;
    bool done = ui->now - ui->cage.grown_at > wheel_rest;
    tr_number_print( room, sizeof room, hold->padding, 4 );
    tr_put *put = done ? tr_ops_add : tr_ops_preview;
    put( ops, "layer_set id=%s range=%d,%d padding=%s", hold->layer, hold->first, hold->last, room );
    ui->cage.growing = !done;
}

// --------------------------------------------------------------------------------------------------- on show

// The way of the grabbed point through the frames the cage holds.
static void draw_way( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    const tr_colour green = { 0.36f, 0.86f, 0.46f, 1.0f };
    int actor = tr_item_actor( shown, &ui->drag.item ), prop = tr_item_prop( shown, &ui->drag.item );
    int joint = tr_item_joint( shown, &ui->drag.item ), frames = shown->result->frame_count;
    int first = ui->frame + ui->cage.hold.first - ui->cage.hold.frame,
        last = ui->frame + ui->cage.hold.last - ui->cage.hold.frame;
    for ( int f = first > 0 ? first : 0; f < last && f + 1 < frames; ++f ) {
        vec3 a, b;
        if ( actor >= 0 ) {
            a = tr_world_pose( &shown->result->worlds[actor], f ).positions[joint];
            b = tr_world_pose( &shown->result->worlds[actor], f + 1 ).positions[joint];
        } else if ( prop >= 0 ) {
            a = shown->result->tracks[prop][f].position;
            b = shown->result->tracks[prop][f + 1].position;
        } else
            return;
        tr_draw_line_add( list, a, b, green, 2.5f, true );
    }
}

static void draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    tr_cage_draw( ui, shown, list );
    if ( !ui->drag.active || ui->drag.handle == 0 )
        return;
    draw_way( ui, shown, list );
    tr_draw_line_add( list, ui->drag.start, ui->drag.now, ( tr_colour ){ 1.0f, 0.78f, 0.35f, 0.8f }, 2.0f,
                      true );
}

static void hint( tr_ui *ui, const tr_shown *shown )
{
    char name[200];
    const tr_cage_hold *hold = &ui->cage.hold;
    if ( ui->drag.active && ui->drag.handle != 0 ) {
        vec3 by = v3_sub( ui->drag.now, ui->drag.start );
        tr_ui_hint(
            ui,
            "Pulled by %.2f, %.2f, %.2f m over frames %d – %d · wheel: more or fewer · %.0f ms · Esc cancels",
            by.x, by.y, by.z, hold->first, hold->last, ui->drag_ms );
    } else if ( ui->cage.growing )
        tr_ui_hint( ui, "%s: frames %d – %d, %.2f m around what it holds", hold->layer, hold->first,
                    hold->last, hold->padding );
    else if ( ui->cage.hover.kind == TR_PART_SECTION )
        tr_ui_hint(
            ui,
            "Drag moves the section, with Shift turns it · P pins it or lets it go · click: to its frame" );
    else if ( ui->cage.hover.kind != TR_PART_NONE )
        tr_ui_hint( ui, "Drag moves it · P pins it or lets it go · Delete removes it · click: to its frame" );
    else if ( ui->hover.kind == TR_ITEM_CAST || ui->hover.kind == TR_ITEM_PROP ) {
        tr_item_name( name, sizeof name, shown, &ui->hover );
        tr_ui_hint(
            ui, "Drag %s: its motion bends over ±%d frames (Ctrl+wheel), what is linked follows · P pins it",
            name, ui->cage.reach );
    } else
        tr_ui_hint( ui, "Drag a joint, a body or a prop to bend its motion around this frame" );
}

const tr_tool tr_tool_cage = { .name = "Cage",
                               .spot = "tool.cage",
                               .icon = TR_ICON_CAGE,
                               .key = 'X',
                               .help = "pull anything: what is linked follows",
                               .hover = hover,
                               .press = press,
                               .drag = drag,
                               .release = release,
                               .wheel = wheel,
                               .idle = idle,
                               .draw = draw,
                               .overlay = tr_cage_mark,
                               .hint = hint };
