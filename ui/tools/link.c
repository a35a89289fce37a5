// Link and contact: rules drawn with the mouse.
#include "ui/tools/tools.h"

#include <stdio.h>

// What was drawn can be seen and changed at once.
static void show_rule( tr_ui *ui, const char *id )
{
    tr_item rule = tr_item_make( TR_ITEM_CONSTRAINT, id, -1 );
    tr_select( ui, &rule, true );
    ui->right_tab = TR_RIGHT_CONSTRAINTS;
}

static bool can_be_linked( const tr_item *item )
{
    return item->kind == TR_ITEM_CAST || item->kind == TR_ITEM_PROP;
}

// --------------------------------------------------------------------------------------------------- link

static bool link_press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    ui->drag.item = tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, NULL );
    if ( !can_be_linked( &ui->drag.item ) )
        return false;
    tr_select( ui, &ui->drag.item, false );
    ui->drag.handle = 1;
    return true;
}

// Bodies behind panels are hidden, so a link does not end there.
static tr_item link_end( const tr_ui *ui, const tr_shown *shown )
{
    tr_item end = tr_pick( ui, shown, ui->drag.x, ui->drag.y, NULL );
    bool other = can_be_linked( &end ) && !tr_item_same( &end, &ui->drag.item );
    return other && tr_area_has( ui->viewport, ui->drag.x, ui->drag.y ) ? end : tr_item_none();
}

// From what is shown: bodies do not jump when a link is drawn.
static void link_release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    tr_item end = link_end( ui, shown );
    char a[160], b[160], offset[3][32];
    tr_id id;
    vec3 from, to;
    if ( !ui->drag.moved || end.kind == TR_ITEM_NONE || !tr_item_place( ui, shown, &ui->drag.item, &from ) ||
         !tr_item_place( ui, shown, &end, &to ) )
        return;
    tr_free_id( shown->scene, tr_scene_find_constraint, "link", id );
    int first = shown->scene->first;
    tr_number_print( offset[0], sizeof offset[0], from.x - to.x, 5 );
    tr_number_print( offset[1], sizeof offset[1], from.y - to.y, 5 );
    tr_number_print( offset[2], sizeof offset[2], from.z - to.z, 5 );
    if ( tr_item_point( shown, &ui->drag.item, a, sizeof a ) && tr_item_point( shown, &end, b, sizeof b ) )
        tr_ops_add(
            ops, "constraint_add id=%s kind=relative a=\"%s\" b=\"%s\" range=%d,%d ease=8,8 target=%s,%s,%s",
            id, a, b, ui->loop_first + first, ui->loop_last + first, offset[0], offset[1], offset[2] );
    show_rule( ui, id );
}

static void link_draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    const tr_colour colour = { 0.45f, 0.78f, 1.0f, 1.0f };
    vec3 from, to, origin, direction;
    if ( !ui->drag.active || ui->drag.handle == 0 || !tr_item_place( ui, shown, &ui->drag.item, &from ) )
        return;
    tr_item end = link_end( ui, shown );
    if ( !tr_item_place( ui, shown, &end, &to ) ) {
        tr_ray( ui, shown, ui->drag.x, ui->drag.y, &origin, &direction );
        to = v3_mad( origin, v3_dot( v3_sub( from, origin ), direction ), direction );
    }
    tr_draw_line_add( list, from, to, colour, 3.0f, true );
    tr_draw_line_add( list, from, from, colour, 10.0f, true );
    tr_draw_line_add( list, to, to, colour, 10.0f, true );
}

static void link_hint( tr_ui *ui, const tr_shown *shown )
{
    char a[160], b[160];
    tr_item end = ui->drag.active ? link_end( ui, shown ) : tr_item_none();
    if ( !ui->drag.active || ui->drag.handle == 0 ) {
        tr_ui_hint(
            ui, "Drag from a joint or a prop to another: they keep their offset over the range that plays" );
        return;
    }
    tr_item_name( a, sizeof a, shown, &ui->drag.item );
    tr_item_name( b, sizeof b, shown, &end );
    tr_ui_hint( ui, "Link %s to %s · Esc cancels", a, end.kind != TR_ITEM_NONE ? b : "…" );
}

static void link_overlay( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    tr_item end = ui->drag.active && ui->drag.handle != 0 ? link_end( ui, shown ) : tr_item_none();
    tr_item_name( name, sizeof name, shown, &end );
    if ( end.kind != TR_ITEM_NONE )
        tr_ui_tag( ui, shown, name );
}

const tr_tool tr_tool_link = { .name = "Link",
                               .spot = "tool.link",
                               .icon = TR_ICON_LINK,
                               .key = 'K',
                               .help = "from one body to another: they stay together",
                               .press = link_press,
                               .release = link_release,
                               .draw = link_draw,
                               .overlay = link_overlay,
                               .hint = link_hint };

// ------------------------------------------------------------------------------------------------- contact

static const int contact_reach = 4; // frames to either side of a click

// The foot or hand of the limb that was hit: its middle is easier to click than its end. False: neither leg
// nor arm.
static bool end_of_limb( const tr_shown *shown, tr_item *item )
{
    int actor = tr_item_actor( shown, item );
    if ( actor < 0 || item->joint < 0 )
        return false;
    const tr_skeleton *skeleton = &shown->stage->actors[actor].target;
    int limb = item->joint < skeleton->joint_count ? skeleton->joints[item->joint].limb : -1;
    for ( int j = 0; limb >= 0 && j < skeleton->joint_count; ++j ) {
        tr_role role = skeleton->joints[j].role;
        if ( skeleton->joints[j].limb == limb && ( role == TR_ROLE_FOOT || role == TR_ROLE_HAND ) ) {
            item->joint = j;
            return true;
        }
    }
    return false;
}

static bool contact_press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    ui->drag.item = tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, NULL );
    if ( !end_of_limb( shown, &ui->drag.item ) )
        return false;
    tr_select( ui, &ui->drag.item, false );
    ui->drag.handle = 1;
    return true;
}

// Sideways the pointer paints in time: eight points a frame.
static void contact_range( const tr_ui *ui, int *first, int *last )
{
    int by = tr_nearest_frame( ( ui->drag.x - ui->drag.start_x ) / 8.0 );
    *first = ui->frame - ( by < 0 ? -by : by == 0 ? contact_reach : 0 );
    *last = ui->frame + ( by > 0 ? by : by == 0 ? contact_reach : 0 );
    *first = *first > 0 ? *first : 0;
    *last = *last < ui->frame_count - 1 ? *last : ui->frame_count - 1;
}

static void contact_release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    char a[160];
    tr_id id;
    int first, last;
    contact_range( ui, &first, &last );
    tr_free_id( shown->scene, tr_scene_find_constraint, "contact", id );
    if ( tr_item_point( shown, &ui->drag.item, a, sizeof a ) )
        tr_ops_add( ops, "constraint_add id=%s kind=contact a=\"%s\" surface=ground range=%d,%d ease=4,4", id,
                    a, first + shown->scene->first, last + shown->scene->first );
}

// The disc it would rest on, and when.
static void contact_draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    vec3 at;
    if ( !ui->drag.active || ui->drag.handle == 0 || !tr_item_place( ui, shown, &ui->drag.item, &at ) )
        return;
    const tr_colour colour = { 0.16f, 0.72f, 0.45f, 1.0f };
    vec3 below = v3( at.x, shown->stage->ground, at.z );
    tr_draw_line_add( list, at, below, colour, 3.0f, true );
    tr_draw_line_add( list, below, below, colour, 14.0f, true );
}

static void contact_overlay( tr_ui *ui, const tr_shown *shown )
{
    char text[80];
    int first, last;
    if ( !ui->drag.active || ui->drag.handle == 0 )
        return;
    contact_range( ui, &first, &last );
    snprintf( text, sizeof text, "rests over frames %d – %d", first + shown->scene->first,
              last + shown->scene->first );
    tr_ui_tag( ui, shown, text );
}

static void contact_hint( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    int first, last;
    if ( ui->drag.active && ui->drag.handle != 0 ) {
        contact_range( ui, &first, &last );
        tr_ui_hint( ui, "Rests on the ground over frames %d – %d · drag sideways for more · Esc cancels",
                    first + shown->scene->first, last + shown->scene->first );
        return;
    }
    tr_item end = ui->hover;
    bool found = end_of_limb( shown, &end );
    tr_item_name( name, sizeof name, shown, &end );
    if ( found )
        tr_ui_hint( ui, "Click: %s rests on the ground around this frame · drag sideways for longer", name );
    else
        tr_ui_hint( ui, "Click a foot or a hand to let it rest on the ground around this frame" );
}

const tr_tool tr_tool_contact = { .name = "Contact",
                                  .spot = "tool.contact",
                                  .icon = TR_ICON_CONTACT,
                                  .key = 'C',
                                  .help = "click a foot or hand, or paint its lane",
                                  .press = contact_press,
                                  .release = contact_release,
                                  .draw = contact_draw,
                                  .overlay = contact_overlay,
                                  .hint = contact_hint };
