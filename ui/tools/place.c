// Move and turn: characters, props and obstacles get new placements; a joint is pinned where it is dragged to
// at this frame, and the body follows.
#include "ui/tools/gizmo.h"

#include <stdio.h>
#include <string.h>

static const int pin_ease = 10; // frames before and after over which a pin fades

typedef void emit( tr_ops *ops, const char *format, ... );

// --------------------------------------------------------------------------------------------------- lines

static void number( char out[32], double value )
{
    if ( tr_number_print( out, 32, value, 5 ) == 0 )
        snprintf( out, 32, "0" );
}

static void emit_place( tr_ops *ops, emit *put, const char *verb, const char *id, vec3 at )
{
    char x[32], y[32], z[32];
    number( x, at.x );
    number( y, at.y );
    number( z, at.z );
    put( ops, "%s id=%s position=%s,%s,%s", verb, id, x, y, z );
}

const tr_constraint *tr_pin_at( const tr_scene *scene, const char *who, const char *joint, int frame )
{
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *k = &scene->constraints[i];
        if ( k->kind == TR_CONSTRAINT_ABSOLUTE && k->given && strcmp( k->a.who, who ) == 0 &&
             k->a.term_count == 1 && strcmp( k->a.terms[0].joint, joint ) == 0 && frame >= k->first &&
             frame <= k->last )
            return k;
    }
    return NULL;
}

static void emit_pin( const tr_ui *ui, const tr_shown *shown, tr_ops *ops, emit *put, const tr_item *item,
                      vec3 to )
{
    int actor = tr_item_actor( shown, item );
    const char *joint = shown->stage->actors[actor].target.joints[tr_item_joint( shown, item )].name;
    int frame = ui->frame + shown->scene->first;
    const tr_constraint *old = tr_pin_at( shown->scene, item->id, joint, frame );
    char x[32], y[32], z[32], id[TR_ID_MAX];
    number( x, to.x );
    number( y, to.y );
    number( z, to.z );
    if ( old != NULL ) {
        put( ops, "constraint_set id=%s target=%s,%s,%s", old->id, x, y, z );
        return;
    }
    tr_free_id( shown->scene, tr_scene_find_constraint, "pin", id );
    char point[160];
    if ( tr_item_point( shown, item, point, sizeof point ) )
        put( ops, "constraint_add id=%s kind=absolute a=\"%s\" range=%d,%d ease=%d,%d target=%s,%s,%s", id,
             point, frame, frame, pin_ease, pin_ease, x, y, z );
}

// What a move by `by` means for one thing.
static void emit_move( const tr_ui *ui, const tr_shown *shown, tr_ops *ops, emit *put, const tr_item *item,
                       vec3 by )
{
    const tr_scene *scene = shown->scene;
    vec3 at;
    int i;
    switch ( item->kind ) {
    case TR_ITEM_CAST:
        i = tr_scene_find_cast( scene, item->id );
        if ( item->joint >= 0 && tr_item_place( ui, shown, item, &at ) )
            emit_pin( ui, shown, ops, put, item, v3_add( ui->drag.start, by ) );
        else if ( i >= 0 )
            emit_place( ops, put, "cast_place", item->id, v3_add( scene->cast[i].position, by ) );
        break;
    case TR_ITEM_PROP:
        i = tr_scene_find_prop( scene, item->id );
        if ( i >= 0 )
            emit_place( ops, put, "prop_set", item->id, v3_add( scene->props[i].position, by ) );
        break;
    case TR_ITEM_OBSTACLE:
        i = tr_scene_find_obstacle( scene, item->id );
        if ( i >= 0 )
            emit_place( ops, put, "obstacle_set", item->id, v3_add( scene->obstacles[i].position, by ) );
        break;
    case TR_ITEM_CONSTRAINT:
    case TR_ITEM_LAYER:
    case TR_ITEM_NONE: break;
    }
}

static void emit_moves( const tr_ui *ui, const tr_shown *shown, tr_ops *ops, emit *put )
{
    vec3 by = v3_sub( ui->drag.now, ui->drag.start );
    bool joint = ui->drag.item.kind == TR_ITEM_CAST && ui->drag.item.joint >= 0;
    if ( joint ) {
        emit_move( ui, shown, ops, put, &ui->drag.item, by );
        return;
    }
    if ( ui->drag.linked.needed )
        tr_linked_move_put( &ui->drag.linked, shown->scene, ops, put, v3_zero, 0, by );
    for ( int i = 0; i < ui->selection_count; ++i ) {
        tr_item item = ui->selection[i];
        item.joint = -1;
        bool again = ui->drag.linked.needed && item.kind != TR_ITEM_OBSTACLE;
        for ( int k = 0; k < i; ++k ) // two joints of one character move it once
            again |= ui->selection[k].kind == item.kind && strcmp( ui->selection[k].id, item.id ) == 0;
        if ( !again )
            emit_move( ui, shown, ops, put, &item, by );
    }
}

// ---------------------------------------------------------------------------------------------------- move

// Where the gizmo stands: on the last thing chosen, or where a drag has brought it.
static bool gizmo_place( const tr_ui *ui, const tr_shown *shown, vec3 *at )
{
    const tr_item *item = tr_selected( ui );
    if ( ui->drag.active && ui->drag.handle != TR_GIZMO_NONE ) {
        *at = ui->drag.now;
        return true;
    }
    return item != NULL && tr_item_place( ui, shown, item, at );
}

// Whether rules join what is selected to something else. False: too much of it is.
static bool begin_linked( tr_ui *ui, const tr_shown *shown )
{
    tr_linked_move *linked = &ui->drag.linked;
    bool stays = tr_linked_move_find( shown, ui->selection, ui->selection_count, linked ) && !linked->fits;
    if ( stays )
        tr_ui_say( ui, true, TR_CROWD );
    return !stays;
}

// A handle of the gizmo, or anything else: that is chosen and pulled freely.
static bool move_press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    vec3 at;
    (void)ops;
    const tr_item *item = tr_selected( ui );
    if ( gizmo_place( ui, shown, &at ) ) {
        ui->drag.handle = tr_gizmo_pick_axes( ui, shown, at, ui->drag.start_x, ui->drag.start_y );
        if ( ui->drag.handle != TR_GIZMO_NONE ) {
            ui->drag.item = *item;
            ui->drag.start = ui->drag.now = at;
            return begin_linked( ui, shown );
        }
    }
    tr_item hit = tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, NULL );
    if ( hit.kind == TR_ITEM_NONE || ( ui->drag.modifiers & ( TR_MOD_SHIFT | TR_MOD_CTRL ) ) != 0 )
        return false;
    tr_select( ui, &hit, false );
    ui->drag.item = hit;
    ui->drag.handle = TR_GIZMO_FREE;
    tr_item_place( ui, shown, &hit, &ui->drag.start );
    ui->drag.now = ui->drag.start;
    return begin_linked( ui, shown );
}

static void move_drag( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    ui->drag.now = tr_gizmo_drag( ui, shown, ui->drag.start, ui->drag.handle );
    emit_moves( ui, shown, ops, tr_ops_preview );
}

static void move_release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( !ui->drag.moved )
        return;
    ui->drag.now = tr_gizmo_drag( ui, shown, ui->drag.start, ui->drag.handle );
    emit_moves( ui, shown, ops, tr_ops_add );
}

static void move_draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    vec3 at;
    if ( !gizmo_place( ui, shown, &at ) )
        return;
    tr_gizmo_draw_axes( ui, shown, list, at );
    if ( ui->drag.active && ui->drag.handle != TR_GIZMO_NONE )
        tr_draw_line_add( list, ui->drag.start, at, ( tr_colour ){ 1.0f, 0.78f, 0.35f, 0.8f }, 2.0f, true );
}

static void move_overlay( tr_ui *ui, const tr_shown *shown )
{
    vec3 at;
    if ( gizmo_place( ui, shown, &at ) )
        tr_gizmo_mark( ui, shown, at, false );
}

// How far what is pulled is from the pointer once that is solved, metres.
static double left_behind( const tr_ui *ui, const tr_shown *shown )
{
    vec3 place;
    bool joint = ui->drag.item.kind == TR_ITEM_CAST && ui->drag.item.joint >= 0;
    if ( !joint || ui->busy || !tr_item_place( ui, shown, &ui->drag.item, &place ) )
        return 0.0;
    return v3_distance( place, ui->drag.now );
}

static void move_hint( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    if ( ui->drag.active && ui->drag.handle != TR_GIZMO_NONE ) {
        vec3 by = v3_sub( ui->drag.now, ui->drag.start );
        double behind = 100 * left_behind( ui, shown );
        tr_item_name( name, sizeof name, shown, &ui->drag.item );
        if ( behind >= 2 )
            tr_ui_hint( ui, "Moved by %.2f, %.2f, %.2f m · %s stays %.0f cm behind · Esc cancels", by.x, by.y,
                        by.z, name, behind );
        else
            tr_ui_hint( ui, "Moved by %.2f, %.2f, %.2f m · Esc cancels", by.x, by.y, by.z );
        return;
    }
    if ( ui->hover.kind == TR_ITEM_NONE ) {
        tr_ui_hint(
            ui,
            "Drag a joint to pin it there at this frame, or a box to move it · arrows move along an axis" );
        return;
    }
    tr_item_name( name, sizeof name, shown, &ui->hover );
    tr_ui_hint( ui, "Drag moves %s", name );
}

const tr_tool tr_tool_move = { .name = "Move",
                               .spot = "tool.move",
                               .icon = TR_ICON_MOVE,
                               .key = 'W',
                               .other_key = 'G',
                               .help = "drag a joint, a body's arrows, a box",
                               .press = move_press,
                               .drag = move_drag,
                               .release = move_release,
                               .draw = move_draw,
                               .overlay = move_overlay,
                               .hint = move_hint };

// ---------------------------------------------------------------------------------------------------- turn

// What a turn about the ring's middle means for one thing that can be placed.
static void emit_turn( const tr_ui *ui, const tr_scene *scene, tr_ops *ops, emit *put, const tr_item *item,
                       double by )
{
    int cast = item->kind == TR_ITEM_CAST ? tr_scene_find_cast( scene, item->id ) : -1;
    int prop = item->kind == TR_ITEM_PROP ? tr_scene_find_prop( scene, item->id ) : -1;
    int obstacle = item->kind == TR_ITEM_OBSTACLE ? tr_scene_find_obstacle( scene, item->id ) : -1;
    if ( cast < 0 && prop < 0 && obstacle < 0 )
        return;
    double before = cast >= 0   ? scene->cast[cast].heading
                    : prop >= 0 ? scene->props[prop].heading
                                : scene->obstacles[obstacle].heading;
    vec3 at = cast >= 0   ? scene->cast[cast].position
              : prop >= 0 ? scene->props[prop].position
                          : scene->obstacles[obstacle].position;
    vec3 arm = v3_sub( at, ui->drag.start );
    char heading[32], x[32], z[32], y[32];
    at = v3_add( ui->drag.start, q_rotate( q_axis_angle( v3_y, by * TR_DEGREE ), arm ) );
    number( heading, remainder( before + by, 360.0 ) );
    number( x, at.x );
    number( y, at.y );
    number( z, at.z );
    put( ops, "%s id=%s heading=%s position=%s,%s,%s",
         cast >= 0   ? "cast_place"
         : prop >= 0 ? "prop_set"
                     : "obstacle_set",
         item->id, heading, x, y, z );
}

// All of it turns about the middle of the ring.
static void emit_turns( const tr_ui *ui, const tr_shown *shown, tr_ops *ops, emit *put )
{
    double by = tr_gizmo_turn( ui, shown, ui->drag.start );
    if ( ui->drag.linked.needed )
        tr_linked_move_put( &ui->drag.linked, shown->scene, ops, put, ui->drag.start, by, v3_zero );
    for ( int i = 0; i < ui->selection_count; ++i ) {
        const tr_item *item = &ui->selection[i];
        bool again = ui->drag.linked.needed && item->kind != TR_ITEM_OBSTACLE;
        for ( int k = 0; k < i; ++k )
            again |= ui->selection[k].kind == item->kind && strcmp( ui->selection[k].id, item->id ) == 0;
        if ( !again )
            emit_turn( ui, shown->scene, ops, put, item, by );
    }
}

static bool turn_press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    vec3 at;
    (void)ops;
    const tr_item *item = tr_selected( ui );
    if ( item == NULL || !tr_item_place( ui, shown, item, &at ) )
        return false;
    ui->drag.handle = tr_gizmo_pick_ring( ui, shown, at, ui->drag.start_x, ui->drag.start_y );
    ui->drag.start = ui->drag.now = at;
    if ( ui->drag.handle == TR_GIZMO_NONE || !begin_linked( ui, shown ) )
        return false;
    return !ui->drag.linked.needed ||
           tr_linked_move_centre( shown, ui->selection, ui->selection_count, &ui->drag.linked );
}

static void turn_drag( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    emit_turns( ui, shown, ops, tr_ops_preview );
}

static void turn_release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( ui->drag.moved )
        emit_turns( ui, shown, ops, tr_ops_add );
}

static void turn_draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    vec3 at;
    if ( gizmo_place( ui, shown, &at ) )
        tr_gizmo_draw_ring( ui, shown, list, at );
}

static void turn_overlay( tr_ui *ui, const tr_shown *shown )
{
    vec3 at;
    if ( gizmo_place( ui, shown, &at ) )
        tr_gizmo_mark( ui, shown, at, true );
}

static void turn_hint( tr_ui *ui, const tr_shown *shown )
{
    const tr_item *item = tr_selected( ui );
    vec3 at;
    if ( ui->drag.active && ui->drag.handle == TR_GIZMO_RING )
        tr_ui_hint( ui, "Turned by %.1f° · Esc cancels", tr_gizmo_turn( ui, shown, ui->drag.start ) );
    else if ( item != NULL && tr_item_place( ui, shown, item, &at ) )
        tr_ui_hint( ui, "Drag the ring to turn %s about the vertical", item->id );
    else
        tr_ui_hint( ui, "Select something, then drag its ring to turn it about the vertical" );
}

const tr_tool tr_tool_turn = { .name = "Turn",
                               .spot = "tool.turn",
                               .icon = TR_ICON_TURN,
                               .key = 'E',
                               .other_key = 'R',
                               .help = "drag the ring to turn about the vertical",
                               .press = turn_press,
                               .drag = turn_drag,
                               .release = turn_release,
                               .draw = turn_draw,
                               .overlay = turn_overlay,
                               .hint = turn_hint };
