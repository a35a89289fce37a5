// The cast panel: characters with their switches, props, obstacles.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

static struct nk_color colour_of( const float rgb[3] )
{
    return nk_rgb_f( rgb[0], rgb[1], rgb[2] );
}

static bool extends( const tr_ui *ui )
{
    return ( ui->modifiers & ( TR_MOD_SHIFT | TR_MOD_CTRL ) ) != 0;
}

// The name, with a dot of its colour; a click selects.
static void name_cell( tr_ui *ui, tr_item_kind kind, const char *id, const float rgb[3], bool faint )
{
    struct nk_context *nk = ui->nk;
    struct nk_rect area = nk_widget_bounds( nk );
    char label[56], fitted[48], spot[48];
    int on = tr_ui_selected( ui, kind, id ), before = on;
    tr_ui_fit( fitted, sizeof fitted, id, nk->style.font, area.w - 34 );
    snprintf( label, sizeof label, "      %s", fitted );
    snprintf( spot, sizeof spot, "item.%s", id );
    tr_ui_mark( ui, spot, area );
    if ( ui->reveal.kind == kind && strcmp( ui->reveal.id, id ) == 0 )
        tr_ui_scroll_to( ui, area );
    nk_style_push_color( nk, &nk->style.selectable.text_normal,
                         faint ? tr_theme_dark.faint : tr_theme_dark.text );
    if ( nk_selectable_label( nk, label, NK_TEXT_LEFT, &on ) && on != before ) {
        tr_item item = tr_item_make( kind, id, -1 );
        tr_select( ui, &item, extends( ui ) );
        ui->right_tab = TR_RIGHT_INSPECT;
    }
    nk_style_pop_color( nk );
    nk_fill_circle( nk_window_get_canvas( nk ), nk_rect( area.x + 7, area.y + 0.5f * area.h - 5, 10, 10 ),
                    colour_of( rgb ) );
}

static void cast_row( tr_ui *ui, const tr_cast *cast )
{
    struct nk_context *nk = ui->nk;
    tr_cast_look *look = tr_cast_look_of( ui, cast->id );
    char spot[48];
    if ( look == NULL )
        return;
    nk_layout_row_template_begin( nk, 24 );
    nk_layout_row_template_push_dynamic( nk );
    for ( int i = 0; i < 3; ++i )
        nk_layout_row_template_push_static( nk, 24 );
    nk_layout_row_template_end( nk );
    name_cell( ui, TR_ITEM_CAST, cast->id, cast->colour, !tr_cast_visible( ui, cast->id ) );
    snprintf( spot, sizeof spot, "hide.%s", cast->id );
    if ( tr_ui_icon( ui, spot, look->hidden ? TR_ICON_EYE_OFF : TR_ICON_EYE, false, "Show or hide" ) )
        look->hidden = !look->hidden;
    snprintf( spot, sizeof spot, "lock.%s", cast->id );
    if ( tr_ui_icon( ui, spot, look->locked ? TR_ICON_LOCK : TR_ICON_UNLOCK, look->locked,
                     "Lock: the mouse passes through" ) )
        look->locked = !look->locked;
    snprintf( spot, sizeof spot, "solo.%s", cast->id );
    if ( tr_ui_icon( ui, spot, TR_ICON_SOLO, look->solo, "Show only this one" ) )
        look->solo = !look->solo;
}

static bool matches( const tr_ui *ui, const char *id )
{
    return ui->filter[0] == 0 || strstr( id, ui->filter ) != NULL;
}

static void filter_field( tr_ui *ui )
{
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    tr_ui_mark( ui, "filter", nk_widget_bounds( ui->nk ) );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    nk_flags state = nk_edit_string( ui->nk, NK_EDIT_FIELD, ui->filter, &ui->filter_length,
                                     (int)sizeof ui->filter - 1, nk_filter_default );
    ui->filter[ui->filter_length] = 0;
    if ( ui->filter_length == 0 && ( state & NK_EDIT_ACTIVE ) == 0 )
        tr_ui_text_at( nk_window_get_canvas( ui->nk ), ui->nk->style.font, area.x + 8, area.y + 5,
                       "Filter by name", tr_theme_dark.faint );
}

void tr_panel_cast( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_scene *scene = shown->scene;
    char title[64];
    filter_field( ui );
    snprintf( title, sizeof title, "Characters  (%d)", scene->cast_count );
    tr_ui_heading( ui, shown->paint, title );
    for ( int i = 0; i < scene->cast_count; ++i )
        if ( matches( ui, scene->cast[i].id ) ) {
            cast_row( ui, &scene->cast[i] );
            const tr_item *last = tr_selected( ui );
            if ( last != NULL && last->kind == TR_ITEM_CAST && strcmp( last->id, scene->cast[i].id ) == 0 )
                tr_panel_map( ui, shown, ops, &scene->cast[i] ); // under its own row
        }
    if ( scene->prop_count > 0 ) {
        snprintf( title, sizeof title, "Props  (%d)", scene->prop_count );
        tr_ui_heading( ui, shown->paint, title );
    }
    nk_layout_row_dynamic( ui->nk, 24, 1 );
    for ( int i = 0; i < scene->prop_count; ++i )
        if ( matches( ui, scene->props[i].id ) )
            name_cell( ui, TR_ITEM_PROP, scene->props[i].id, scene->props[i].colour, false );
    if ( scene->obstacle_count > 0 ) {
        snprintf( title, sizeof title, "Environment  (%d)", scene->obstacle_count );
        tr_ui_heading( ui, shown->paint, title );
    }
    nk_layout_row_dynamic( ui->nk, 24, 1 );
    for ( int i = 0; i < scene->obstacle_count; ++i )
        if ( matches( ui, scene->obstacles[i].id ) )
            name_cell( ui, TR_ITEM_OBSTACLE, scene->obstacles[i].id, scene->obstacles[i].colour, false );
    ui->reveal = tr_item_none();
}
