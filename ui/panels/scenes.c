// The built-in scenes, with pictures; a click opens one.
#include "ui/panels/panels.h"

#include <stdio.h>

static void scene_card( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_scene_entry *entry,
                        int index )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_context *nk = ui->nk;
    char spot[64];
    float tall = fminf( 132, 0.58f * nk_layout_widget_bounds( nk ).w ); // the picture, also in a narrow panel
    nk_layout_row_dynamic( nk, tall + 54, 1 );
    struct nk_rect area = nk_widget_bounds( nk );
    bool hovered = nk_widget_is_hovered( nk );
    struct nk_style_button style = nk->style.button;
    style.normal = nk_style_item_color( t->well );
    style.rounding = 6;
    snprintf( spot, sizeof spot, "scene.%s", entry->name );
    tr_ui_mark( ui, spot, area );
    if ( nk_button_label_styled( nk, &style, "" ) )
        tr_ops_act( ops, TR_ACTION_OPEN, entry->name );
    struct nk_command_buffer *canvas = nk_window_get_canvas( nk );
    struct nk_rect picture = nk_rect( area.x + 4, area.y + 4, area.w - 8, tall );
    if ( shown->thumbs[index] != 0 ) {
        struct nk_image image = nk_image_id( (int)shown->thumbs[index] );
        nk_draw_image( canvas, picture, &image, nk_rgb( 255, 255, 255 ) );
    } else {
        const struct nk_user_font *font = &shown->paint->fonts.small->handle;
        const char *text = "drawing …";
        nk_fill_rect( canvas, picture, 4, t->ground );
        tr_ui_text_at( canvas, font, picture.x + 0.5f * ( picture.w - tr_ui_text_width( font, text ) ),
                       picture.y + 0.5f * ( picture.h - font->height ), text, t->dim );
    }
    if ( hovered )
        nk_stroke_rect( canvas, area, 6, 1.5f, t->accent );
    char line[160];
    const struct nk_user_font *small = &shown->paint->fonts.small->handle;
    tr_ui_text_at( canvas, &shown->paint->fonts.strong->handle, area.x + 8, area.y + tall + 10, entry->name,
                   t->text );
    tr_ui_fit( line, sizeof line, entry->title, small, area.w - 16 );
    tr_ui_text_at( canvas, small, area.x + 8, area.y + tall + 31, line, t->dim );
}

void tr_panel_scenes( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    for ( int i = 0; i < count && i < TR_MAX_THUMBS; ++i )
        scene_card( ui, shown, ops, &table[i], i );
}
