// Cage: pull any joint, body or prop. A cage around the motion of what was grabbed appears on demand, as a
// layer that reaches some frames to either side, and everybody follows while the button is down.
#include "ui/app.h"
#include "ui/tools/gizmo.h"

#include <stdio.h>
#include <string.h>

typedef void emit( tr_ops *ops, const char *format, ... );

// What a drag means: the layer and the handle, there already or to be made.
typedef struct grip {
    tr_id layer, handle;
    bool new_layer, new_handle;
    vec3 before; // move of the handle as it is
} grip;

// -------------------------------------------------------------------------------------------------- finding

// "p03", or everybody selected when the grabbed one is among them.
static void members_text( const tr_ui *ui, const tr_item *item, char *out, size_t size )
{
    bool group = ui->selection_count > 1 && tr_ui_selected( ui, item->kind, item->id );
    snprintf( out, size, "%s", item->id );
    for ( int i = 0; group && i < ui->selection_count; ++i ) {
        const tr_item *other = &ui->selection[i];
        bool body = other->kind == TR_ITEM_CAST || other->kind == TR_ITEM_PROP;
        bool again = strcmp( other->id, item->id ) == 0;
        for ( int k = 0; k < i; ++k )
            again |= strcmp( ui->selection[k].id, other->id ) == 0;
        size_t used = strlen( out );
        if ( body && !again && used + strlen( other->id ) + 2 < size )
            snprintf( out + used, size - used, ",%s", other->id );
    }
}

static void free_id( const tr_scene *scene, const char *stem, bool layer, tr_id out )
{
    for ( int n = 1;; ++n ) {
        bool taken = false;
        snprintf( out, TR_ID_MAX, "%s%d", stem, n );
        if ( layer )
            taken = tr_scene_find_layer( scene, out ) >= 0;
        for ( int i = 0; !layer && i < scene->handle_count; ++i )
            taken |= strcmp( scene->handles[i].id, out ) == 0;
        if ( !taken )
            return;
    }
}

static bool same_point( const tr_handle *handle, const char *point )
{
    tr_text text = { 0 };
    tr_point_print( &handle->point, &text );
    bool same = !text.failed && handle->point.who[0] != 0 && strcmp( text.data, point ) == 0;
    tr_text_free( &text );
    return same;
}

// A cage with the same members that reaches this frame is used again, and so is a handle on the same point.
static grip find_grip( const tr_shown *shown, const char *members, const char *point, int frame )
{
    const tr_scene *scene = shown->scene;
    grip g = { .new_layer = true, .new_handle = true };
    free_id( scene, "cage", true, g.layer );
    free_id( scene, "grip", false, g.handle );
    for ( int i = 0; i < scene->layer_count; ++i ) {
        const tr_layer *layer = &scene->layers[i];
        if ( layer->kind != TR_LAYER_CAGE || !tr_layer_is_active( scene, i ) || frame < layer->first ||
             frame > layer->last || strcmp( layer->members, members ) != 0 )
            continue;
        memcpy( g.layer, layer->id, sizeof g.layer );
        g.new_layer = false;
        for ( int k = 0; k < scene->handle_count; ++k ) {
            const tr_handle *handle = &scene->handles[k];
            if ( strcmp( handle->layer, layer->id ) == 0 && handle->frame == frame &&
                 same_point( handle, point ) ) {
                memcpy( g.handle, handle->id, sizeof g.handle );
                g.new_handle = false;
                g.before = handle->move;
            }
        }
    }
    return g;
}

// --------------------------------------------------------------------------------------------------- lines

static void vec3_text( vec3 v, char out[96] )
{
    char n[3][28];
    const double values[3] = { v.x, v.y, v.z };
    for ( int i = 0; i < 3; ++i )
        tr_number_print( n[i], sizeof n[i], values[i], 5 );
    snprintf( out, 96, "%s,%s,%s", n[0], n[1], n[2] );
}

static void emit_grip( const tr_ui *ui, const tr_shown *shown, tr_ops *ops, emit *put, bool live )
{
    char members[TR_PATH_MAX], point[160], move[96];
    int frame = ui->frame + shown->scene->first, reach = ui->cage_reach;
    members_text( ui, &ui->drag.item, members, sizeof members );
    if ( !tr_item_point( shown, &ui->drag.item, point, sizeof point ) )
        return;
    grip g = find_grip( shown, members, point, frame );
    vec3 by = v3_add( g.before, v3_sub( ui->drag.now, ui->drag.start ) );
    vec3_text( by, move );
    if ( g.new_layer )
        put( ops, "layer_add id=%s kind=cage members=\"%s\" range=%d,%d ease=%d,%d", g.layer, members,
             frame - reach, frame + reach, reach / 3, reach / 3 );
    if ( g.new_handle )
        put( ops, "handle_add id=%s layer=%s frame=%d point=\"%s\" move=%s", g.handle, g.layer, frame, point,
             move );
    else
        put( ops, "handle_set id=%s move=%s", g.handle, move );
    if ( live )
        tr_ops_live( ops, g.layer, g.handle, by );
}

// ---------------------------------------------------------------------------------------------------- tool

static bool press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    tr_item hit = tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, NULL );
    if ( hit.kind != TR_ITEM_CAST && hit.kind != TR_ITEM_PROP )
        return false;
    if ( ( ui->drag.modifiers & ( TR_MOD_SHIFT | TR_MOD_CTRL ) ) != 0 )
        return false;
    if ( !tr_ui_selected( ui, hit.kind, hit.id ) || ui->selection_count == 1 )
        tr_select( ui, &hit, false );
    ui->playing = false;
    ui->drag.item = hit;
    ui->drag.handle = TR_GIZMO_FREE;
    tr_item_place( ui, shown, &hit, &ui->drag.start );
    ui->drag.now = ui->drag.start;
    return true;
}

static void drag( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    ui->drag.now = tr_gizmo_drag( ui, shown, ui->drag.start, ui->drag.handle );
    emit_grip( ui, shown, ops, tr_ops_preview, true );
}

static void release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( !ui->drag.moved )
        return;
    ui->drag.now = tr_gizmo_drag( ui, shown, ui->drag.start, ui->drag.handle );
    emit_grip( ui, shown, ops, tr_ops_add, false );
    ui->left_tab = TR_LEFT_LAYERS;
}

// Handles of active cages, and the way of the grabbed point through the frames the cage holds.
static void draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    const tr_colour green = { 0.36f, 0.86f, 0.46f, 1.0f };
    int actor = tr_item_actor( shown, &ui->drag.item ), frames = shown->result->frame_count;
    if ( !ui->drag.active || ui->drag.handle == 0 )
        return;
    int first = ui->frame - ui->cage_reach > 0 ? ui->frame - ui->cage_reach : 0;
    int last = ui->frame + ui->cage_reach < frames ? ui->frame + ui->cage_reach : frames - 1;
    int joint = ui->drag.item.joint > 0 ? ui->drag.item.joint : 0,
        prop = tr_item_prop( shown, &ui->drag.item );
    for ( int f = first; f < last; ++f ) {
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
    tr_draw_line_add( list, ui->drag.start, ui->drag.now, ( tr_colour ){ 1.0f, 0.78f, 0.35f, 0.8f }, 2.0f,
                      true );
    tr_draw_line_add( list, ui->drag.now, ui->drag.now, green, 12.0f, true );
}

static void hint( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    if ( ui->drag.active && ui->drag.handle != 0 ) {
        vec3 by = v3_sub( ui->drag.now, ui->drag.start );
        tr_ui_hint( ui, "Pulled by %.2f, %.2f, %.2f m over ±%d frames · %.0f ms · Esc cancels", by.x, by.y,
                    by.z, ui->cage_reach, ui->drag_ms );
        return;
    }
    tr_item_name( name, sizeof name, shown, &ui->hover );
    if ( ui->hover.kind == TR_ITEM_CAST || ui->hover.kind == TR_ITEM_PROP )
        tr_ui_hint(
            ui,
            "Drag %s: its motion bends over ±%d frames, and whoever is linked follows · , and . change that",
            name, ui->cage_reach );
    else
        tr_ui_hint( ui, "Drag a joint, a body or a prop to bend its motion around this frame" );
}

const tr_tool tr_tool_cage = { .name = "Cage",
                               .spot = "tool.cage",
                               .icon = TR_ICON_CAGE,
                               .key = 'X',
                               .help = "pull anything: its motion bends, everybody follows",
                               .press = press,
                               .drag = drag,
                               .release = release,
                               .draw = draw,
                               .hint = hint };
