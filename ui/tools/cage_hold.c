// Turns what the pointer grabbed into ops: which layer, which handle, and its move so far.
#include "ui/tools/cage.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- finding

// "p03", or all that is selected if the grabbed one is among it.
static bool members_text( const tr_ui *ui, const tr_scene *scene, const tr_item *item,
                          char out[TR_MEMBERS_MAX] )
{
    bool group = ui->selection_count > 1 && tr_ui_selected( ui, item->kind, item->id );
    return tr_members_list( scene, group ? ui->selection : item, group ? ui->selection_count : 1, out );
}

// Does the handle hold this point ("" = none), vertex (-1 = none), or the section as a whole?
static bool holds( const tr_handle *handle, const char *point, int vertex )
{
    tr_text text = { 0 };
    if ( handle->point.who[0] == 0 || point[0] == 0 )
        return handle->point.who[0] == 0 && point[0] == 0 && handle->vertex == vertex;
    tr_point_print( &handle->point, &text );
    bool same = !text.failed && strcmp( text.data, point ) == 0;
    tr_text_free( &text );
    return same;
}

static void find_handle( const tr_scene *scene, const char *point, int vertex, tr_cage_hold *hold )
{
    for ( int k = 0; k < scene->handle_count; ++k ) {
        const tr_handle *handle = &scene->handles[k];
        if ( strcmp( handle->layer, hold->layer ) != 0 || handle->frame != hold->frame ||
             !holds( handle, point, vertex ) )
            continue;
        memcpy( hold->handle, handle->id, sizeof hold->handle );
        hold->new_handle = false;
        hold->pinned = handle->pinned;
        hold->move = handle->move;
        hold->turn = handle->turn;
    }
}

static void find_range( const tr_scene *scene, int layer, tr_cage_hold *hold )
{
    const tr_layer *l = &scene->layers[layer];
    hold->first = l->first > scene->first ? l->first : scene->first;
    hold->last = l->last < scene->last ? l->last : scene->last;
    hold->padding = l->padding;
}

// A cage with the same members that reaches this frame is used again; the one being shown before others, and
// one that leads the whole clip elsewhere only then.
static int find_layer( const tr_ui *ui, const tr_shown *shown, const char *members )
{
    const tr_scene *scene = shown->scene;
    const char *seen = tr_cage_layer_shown( ui, shown );
    int found = -1;
    for ( int i = 0; i < scene->layer_count; ++i ) {
        const tr_layer *layer = &scene->layers[i];
        int frame = tr_stage_document_frame( shown->stage, scene, layer->members, i + 1, ui->frame );
        bool fits = layer->kind == TR_LAYER_CAGE && tr_layer_is_active( scene, i ) && frame >= layer->first &&
                    frame <= layer->last && strcmp( layer->members, members ) == 0;
        bool led = tr_linked_move_is( layer ) && ( seen == NULL || strcmp( layer->id, seen ) != 0 );
        if ( fits && !led && ( found < 0 || seen == NULL || strcmp( scene->layers[found].id, seen ) != 0 ) )
            found = i;
    }
    return found;
}

// How far the layer has moved it already: a new handle begins there and not where the layer's input has it.
static vec3 moved_by( const tr_ui *ui, const tr_shown *shown, const tr_item *item, const char *layer )
{
    const tr_cage_outline *shape = tr_session_cage( shown->session, layer );
    int actor = tr_item_actor( shown, item ), prop = tr_item_prop( shown, item );
    int node = actor >= 0 ? actor : prop >= 0 ? shown->stage->actor_count + prop : -1;
    int joint = actor >= 0 ? tr_item_joint( shown, item ) : -1;
    vec3 now, before;
    if ( shape == NULL || node < 0 || !tr_item_place( ui, shown, item, &now ) ||
         !tr_cage_outline_before( shape, node, joint, ui->frame, &before ) )
        return v3_zero;
    return v3_sub( now, before );
}

bool tr_cage_hold_item( const tr_ui *ui, const tr_shown *shown, const tr_item *item, tr_cage_hold *out )
{
    const tr_scene *scene = shown->scene;
    char point[160];
    *out = ( tr_cage_hold ){ .new_handle = true, .pinned = true };
    if ( ( item->kind != TR_ITEM_CAST && item->kind != TR_ITEM_PROP ) || shown->stage == NULL ||
         !tr_item_point( shown, item, point, sizeof point ) )
        return false;
    out->crowd = !members_text( ui, scene, item, out->members );
    if ( out->crowd )
        return false;
    snprintf( out->what, sizeof out->what, " point=\"%s\"", point );
    int layer = find_layer( ui, shown, out->members );
    out->new_layer = layer < 0;
    out->frame = tr_stage_document_frame( shown->stage, scene, out->members,
                                          layer < 0 ? scene->layer_count : layer + 1, ui->frame );
    tr_free_id( scene, tr_scene_find_handle, "grip", out->handle );
    if ( out->new_layer ) {
        tr_free_id( scene, tr_scene_find_layer, "cage", out->layer );
        out->first = out->frame - ui->cage.reach;
        out->last = out->frame + ui->cage.reach;
        out->ease = ui->cage.reach / 3;
        out->padding = tr_default_layer( "", TR_LAYER_CAGE ).padding;
        return true;
    }
    memcpy( out->layer, scene->layers[layer].id, sizeof out->layer );
    find_range( scene, layer, out );
    out->move = moved_by( ui, shown, item, out->layer );
    find_handle( scene, point, -1, out );
    return true;
}

// For the name of the step: the handle holds it already.
static void name_point( const tr_handle *handle, tr_cage_hold *out )
{
    tr_text text = { 0 };
    if ( handle->point.who[0] != 0 )
        tr_point_print( &handle->point, &text );
    bool plain = !text.failed && text.size > 0 && strchr( text.data, '"' ) == NULL;
    if ( plain && text.size + 16 < sizeof out->what )
        snprintf( out->what, sizeof out->what, " point=\"%s\"", text.data );
    tr_text_free( &text );
}

bool tr_cage_hold_part( const tr_ui *ui, const tr_shown *shown, const tr_part *part, tr_cage_hold *out )
{
    const tr_scene *scene = shown->scene;
    const tr_cage_outline *shape = tr_cage_outline_shown( ui, shown );
    int layer = tr_scene_find_layer( scene, part->layer ), key = -1;
    if ( part->kind == TR_PART_NONE || layer < 0 || shape == NULL )
        return false;
    *out = ( tr_cage_hold ){ .new_handle = true, .pinned = true };
    memcpy( out->layer, part->layer, sizeof out->layer );
    out->frame =
        tr_stage_document_frame( shown->stage, scene, scene->layers[layer].members, layer + 1, part->frame );
    find_range( scene, layer, out );
    int handle = part->kind == TR_PART_HANDLE ? tr_scene_find_handle( scene, part->handle ) : -1;
    if ( handle >= 0 ) {
        const tr_handle *h = &scene->handles[handle];
        memcpy( out->handle, h->id, sizeof out->handle );
        out->new_handle = false;
        out->pinned = h->pinned;
        out->move = h->move;
        out->turn = h->turn;
        out->whole = h->point.who[0] == 0 && h->vertex < 0;
        name_point( h, out );
        return true;
    }
    for ( int k = 0; k < shape->section_count; ++k )
        key = shape->frames[k] == part->frame ? k : key;
    if ( key < 0 || part->kind == TR_PART_HANDLE )
        return false;
    tr_free_id( scene, tr_scene_find_handle, "grip", out->handle );
    if ( part->kind == TR_PART_VERTEX ) {
        int at = key * shape->vertex_count + part->vertex;
        out->move = v3_sub( shape->moved[at], shape->rest[at] );
        snprintf( out->what, sizeof out->what, " vertex=%d", part->vertex );
    } else {
        out->move = shape->shift[key];
        out->turn = shape->turn[key];
        out->whole = true;
    }
    find_handle( scene, "", part->kind == TR_PART_VERTEX ? part->vertex : -1, out );
    return true;
}

// ---------------------------------------------------------------------------------------------------- lines

enum { DECIMALS = 5 }; // decimals of metres and degrees in ops

static void vec3_text( vec3 v, char out[96] )
{
    char n[3][28];
    const double values[3] = { v.x, v.y, v.z };
    for ( int i = 0; i < 3; ++i )
        tr_number_print( n[i], sizeof n[i], values[i], DECIMALS );
    snprintf( out, 96, "%s,%s,%s", n[0], n[1], n[2] );
}

// The number that an op has for a number.
static double as_written( double value )
{
    char text[28];
    int size = tr_number_print( text, sizeof text, value, DECIMALS );
    tr_number_parse( text, text + size, &value );
    return value;
}

static vec3 vec3_as_written( vec3 v )
{
    return v3( as_written( v.x ), as_written( v.y ), as_written( v.z ) );
}

void tr_cage_hold_live( const tr_cage_hold *hold, tr_ops *ops, vec3 move, double turn )
{
    tr_ops_live( ops, hold->layer, hold->handle, vec3_as_written( v3_add( hold->move, move ) ),
                 vec3_as_written( v3_add( hold->turn, v3( 0, turn, 0 ) ) ) );
}

void tr_cage_hold_put( const tr_cage_hold *hold, tr_ops *ops, tr_put *put, vec3 move, double turn )
{
    char by[96], about[112] = "", room[28];
    vec3_text( v3_add( hold->move, move ), by );
    vec3 turned = v3_add( hold->turn, v3( 0, turn, 0 ) );
    if ( v3_length( turned ) > 0 ) {
        char text[96];
        vec3_text( turned, text );
        snprintf( about, sizeof about, " turn=%s", text );
    }
    tr_number_print( room, sizeof room, hold->padding, 4 );
    if ( hold->new_layer )
        put( ops, "layer_add id=%s kind=cage members=\"%s\" range=%d,%d ease=%d,%d padding=%s firm=true",
             hold->layer, hold->members, hold->first, hold->last, hold->ease, hold->ease, room );
    else if ( hold->grown )
        put( ops, "layer_set id=%s range=%d,%d padding=%s", hold->layer, hold->first, hold->last, room );
    if ( hold->new_handle )
        put( ops, "handle_add id=%s layer=%s frame=%d%s move=%s%s", hold->handle, hold->layer, hold->frame,
             hold->what, by, about );
    else
        put( ops, "handle_set id=%s%s move=%s%s pinned=true", hold->handle, hold->what, by, about );
}

void tr_cage_hold_grow( tr_cage_hold *hold, double notches, bool space )
{
    int by = tr_nearest_frame( 2 * notches );
    if ( space )
        hold->padding = clampd( hold->padding * pow( 1.15, notches ), 0.01, 5.0 );
    else if ( hold->last - hold->first + 2 * by >= 2 && hold->frame >= hold->first - by &&
              hold->frame <= hold->last + by ) {
        hold->first -= by;
        hold->last += by;
    }
    if ( hold->new_layer )
        hold->ease = ( hold->last - hold->first ) / 6;
    hold->grown = true;
}

// ------------------------------------------------------------------------------------------------------ pin

// What holds nothing in particular goes when it is let go; anything else keeps what it did, for when it is
// pinned again. The sections at the ends of the window are held by themselves: there a handle lets go.
static void toggle( const tr_cage_hold *hold, tr_ops *ops )
{
    bool rests = v3_length( hold->move ) == 0 && v3_length( hold->turn ) == 0;
    bool end = hold->whole && ( hold->frame == hold->first || hold->frame == hold->last );
    if ( hold->new_handle && end && rests )
        tr_ops_add( ops, "handle_add id=%s layer=%s frame=%d pinned=false", hold->handle, hold->layer,
                    hold->frame );
    else if ( hold->new_handle )
        tr_cage_hold_put( hold, ops, tr_ops_add, v3_zero, 0 );
    else if ( rests && hold->pinned != end )
        tr_ops_add( ops, "handle_remove id=%s", hold->handle );
    else
        tr_ops_add( ops, "handle_set id=%s pinned=%s", hold->handle, hold->pinned ? "false" : "true" );
}

void tr_cage_pin( tr_ui *ui, const tr_shown *shown )
{
    const tr_item *chosen = tr_selected( ui );
    ui->cage.pin.asked = true;
    ui->cage.pin.frame = ui->frame;
    ui->cage.pin.parts[0] = ui->cage.hover;
    ui->cage.pin.parts[1] = ui->cage.chosen;
    ui->cage.pin.items[0] = ui->hover;
    ui->cage.pin.items[1] = chosen != NULL ? *chosen : tr_item_none();
    if ( !shown->current )
        tr_ui_say( ui, false, "It is pinned as soon as the motion is solved" );
}

void tr_cage_pin_now( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    tr_cage_hold hold = { 0 };
    bool changing =
        ops->line_count > 0 || ops->action_count > 0; // something else was asked for in this frame
    if ( !ui->cage.pin.asked || !shown->current || changing )
        return;
    ui->cage.pin.asked = false;
    tr_ui then = *ui; // when it was asked for another frame may have been looked at
    then.frame = ui->cage.pin.frame;
    for ( int i = 0; i < 2; ++i ) {
        if ( !tr_cage_hold_part( &then, shown, &ui->cage.pin.parts[i], &hold ) &&
             !tr_cage_hold_item( &then, shown, &ui->cage.pin.items[i], &hold ) )
            continue;
        toggle( &hold, ops );
        memcpy( ui->cage.layer, hold.layer, sizeof ui->cage.layer );
        return;
    }
    tr_ui_say( ui, hold.crowd,
               hold.crowd ? TR_CROWD : "Point at a joint, a prop or a part of a cage to pin it" );
}
