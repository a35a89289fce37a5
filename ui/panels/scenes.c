// The built-in scenes, with pictures; a click opens one.
#include "ui/app.h"

#include <stdio.h>

static void scene_card( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_scene_entry *entry,
                        int index )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_context *nk = ui->nk;
    char spot[64];
    nk_layout_row_dynamic( nk, 186, 1 );
    struct nk_rect area = nk_widget_bounds( nk );
    bool hovered = nk_widget_is_hovered( nk );
    struct nk_style_button style = nk->style.button;
    style.normal = nk_style_item_color( t->well );
    style.rounding = 6;
    snprintf( spot, sizeof spot, "scene.%s", entry->name );
    tr_ui_mark( ui, spot, area );
    if ( nk_button_label_styled( nk, &style, "" ) )
        tr_ops_ask( ops, TR_ASK_OPEN, entry->name );
    struct nk_command_buffer *canvas = nk_window_get_canvas( nk );
    struct nk_rect picture = nk_rect( area.x + 4, area.y + 4, area.w - 8, 132 );
    if ( shown->thumbs[index] != 0 ) {
        struct nk_image image = nk_image_id( (int)shown->thumbs[index] );
        nk_draw_image( canvas, picture, &image, nk_rgb( 255, 255, 255 ) );
    } else
        nk_fill_rect( canvas, picture, 4, t->ground );
    if ( hovered )
        nk_stroke_rect( canvas, area, 6, 1.5f, t->accent );
    char line[160];
    const struct nk_user_font *small = &shown->paint->fonts.small->handle;
    tr_ui_text_at( canvas, &shown->paint->fonts.strong->handle, area.x + 8, area.y + 142, entry->name,
                   t->text );
    tr_ui_fit( line, sizeof line, entry->title, small, area.w - 16 );
    tr_ui_text_at( canvas, small, area.x + 8, area.y + 163, line, t->dim );
}

void tr_panel_scenes( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    for ( int i = 0; i < count && i < TR_MAX_THUMBS; ++i )
        scene_card( ui, shown, ops, &table[i], i );
}
