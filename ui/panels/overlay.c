// Over the viewport: the cube, the name of what the pointer is on, the box of a selection.
#include "ui/panels/panels.h"

#include <stdio.h>

static void name_hover( const tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    bool part = ui->cage.hover.kind != TR_PART_NONE;
    if ( ( ui->hover.kind == TR_ITEM_NONE && !part ) || ui->drag.active || ui->drag.navigating )
        return;
    if ( part )
        tr_part_name( name, sizeof name, shown, &ui->cage.hover );
    else
        tr_item_name( name, sizeof name, shown, &ui->hover );
    tr_ui_tag( ui, shown, name );
}

static void selection_box( const tr_ui *ui, struct nk_command_buffer *canvas )
{
    if ( !ui->drag.active || !ui->drag.moved || ui->drag.handle != 0 )
        return;
    float x0 = (float)fmin( ui->drag.start_x, ui->drag.x ), y0 = (float)fmin( ui->drag.start_y, ui->drag.y );
    struct nk_rect box = nk_rect( x0, y0, (float)fabs( ui->drag.x - ui->drag.start_x ),
                                  (float)fabs( ui->drag.y - ui->drag.start_y ) );
    nk_fill_rect( canvas, box, 0, nk_rgba( 255, 176, 59, 28 ) );
    nk_stroke_rect( canvas, box, 0, 1, tr_theme_dark.accent );
}

static void empty_note( const tr_ui *ui, const tr_shown *shown, struct nk_command_buffer *canvas )
{
    const struct nk_user_font *font = &shown->paint->fonts.text->handle;
    const char *text = ui->busy              ? "Opening …"
                       : ui->failure[0] != 0 ? "This scene cannot be solved: the line below says why"
                       : shown->document != NULL
                           ? "Not solved yet"
                           : "Nothing is open: drop a scene or a motion here, or Ctrl+O";
    if ( shown->result != NULL )
        return;
    float width = tr_ui_text_width( font, text );
    tr_ui_text_at( canvas, font, ui->viewport.x + 0.5f * ( ui->viewport.width - width ),
                   ui->viewport.y + 0.5f * ui->viewport.height, text, tr_theme_dark.text );
}

// Which scene, which frame, which kind of view: in the corner, quietly.
static void corner( const tr_ui *ui, const tr_shown *shown, struct nk_command_buffer *canvas )
{
    const tr_theme *t = &tr_theme_dark;
    char text[200], name[200], line[200];
    float x = ui->viewport.x + 12, y = ui->viewport.y + 10;
    if ( shown->result == NULL )
        return;
    snprintf( line, sizeof line, "%d character%s, %d prop%s%s", shown->scene->cast_count,
              shown->scene->cast_count == 1 ? "" : "s", shown->scene->prop_count,
              shown->scene->prop_count == 1 ? "" : "s", shown->before ? " · before solving" : "" );
    const struct nk_user_font *strong = &shown->paint->fonts.strong->handle,
                              *small = &shown->paint->fonts.small->handle;
    const float room = ui->viewport.width - 2 * tr_cube_margin; // beside the cube
    tr_ui_fit( name, sizeof name, tr_session_name( shown->session ), strong, room );
    tr_ui_fit( text, sizeof text, line, small, room );
    float width = fmaxf( tr_ui_text_width( strong, name ), tr_ui_text_width( small, text ) );
    nk_fill_rect( canvas, nk_rect( x - 7, y - 5, width + 14, ui->orbit.orthographic ? 61 : 44 ), 5,
                  nk_rgba( 20, 22, 26, 150 ) );
    tr_ui_text_at( canvas, strong, x, y, name, t->text );
    tr_ui_text_at( canvas, small, x, y + 19, text, t->text );
    if ( ui->orbit.orthographic )
        tr_ui_text_at( canvas, small, x, y + 36, "orthographic", t->text );
}

void tr_panel_overlay( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    (void)ops;
    nk_style_push_style_item( nk, &nk->style.window.fixed_background,
                              nk_style_item_color( nk_rgba( 0, 0, 0, 0 ) ) );
    nk_flags flags = NK_WINDOW_NO_INPUT | NK_WINDOW_NO_SCROLLBAR | NK_WINDOW_BACKGROUND;
    if ( nk_begin( nk, "overlay", tr_rect( ui->viewport ), flags ) ) {
        struct nk_command_buffer *canvas = nk_window_get_canvas( nk );
        nk_push_scissor( canvas, tr_rect( ui->viewport ) );
        corner( ui, shown, canvas );
        empty_note( ui, shown, canvas );
        tr_cube_draw( ui, canvas, &shown->paint->fonts.small->handle );
        selection_box( ui, canvas );
        name_hover( ui, shown );
        if ( tr_tool_get( ui->tool )->overlay != NULL )
            tr_tool_get( ui->tool )->overlay( ui, shown );
    }
    nk_end( nk );
    nk_style_pop_style_item( nk );
}
