// Small widgets of the panels.
#include "ui/shared/shared.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- places

void tr_ui_mark( tr_ui *ui, const char *name, struct nk_rect r )
{
    const struct nk_window *window = ui->nk->current;
    if ( window != NULL && window->layout != NULL ) { // what is scrolled away is not there
        struct nk_rect clip = window->layout->clip;
        float x = r.x + 0.5f * r.w, y = r.y + 0.5f * r.h;
        if ( x < clip.x || y < clip.y || x > clip.x + clip.w || y > clip.y + clip.h )
            return;
    }
    if ( name == NULL ||
         !tr_array_reserve( (void **)&ui->spots, &ui->spot_capacity, ui->spot_count + 1, sizeof *ui->spots ) )
        return;
    tr_spot *spot = &ui->spots[ui->spot_count++];
    snprintf( spot->name, sizeof spot->name, "%s", name );
    spot->area = ( tr_area ){ r.x, r.y, r.w, r.h };
}

const tr_spot *tr_ui_spot( const tr_ui *ui, const char *name )
{
    for ( int i = 0; i < ui->spot_count; ++i )
        if ( strcmp( ui->spots[i].name, name ) == 0 )
            return &ui->spots[i];
    return NULL;
}

struct nk_rect tr_rect( tr_area a )
{
    return nk_rect( a.x, a.y, a.width, a.height );
}

bool tr_area_has( tr_area a, double x, double y )
{
    return x >= a.x && y >= a.y && x < a.x + a.width && y < a.y + a.height;
}

void tr_ui_scroll_to( tr_ui *ui, struct nk_rect r )
{
    const struct nk_panel *panel = ui->nk->current->layout;
    struct nk_rect clip = panel->clip;
    float by = r.y < clip.y ? r.y - clip.y : fmaxf( r.y + r.h - clip.y - clip.h, 0 );
    *panel->offset_y = (nk_uint)tr_pixels( fmaxf( (float)*panel->offset_y + by, 0 ) );
}

// ----------------------------------------------------------------------------------------------- messages

void tr_ui_say( tr_ui *ui, bool bad, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( ui->message, sizeof ui->message, format, arguments );
    va_end( arguments );
    ui->message_bad = bad;
    ui->message_warns = false;
    ui->message_until = ui->now + ( bad ? 20.0 : 6.0 );
}

void tr_ui_hint( tr_ui *ui, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( ui->hint, sizeof ui->hint, format, arguments );
    va_end( arguments );
}

// --------------------------------------------------------------------------------------------------- panels

bool tr_ui_dock( tr_ui *ui, const char *name, tr_area area )
{
    nk_style_push_style_item( ui->nk, &ui->nk->style.window.fixed_background, nk_style_item_hide() );
    bool open = nk_begin( ui->nk, name, tr_rect( area ), NK_WINDOW_NO_SCROLLBAR );
    nk_style_pop_style_item( ui->nk );
    return open;
}

bool tr_ui_group( tr_ui *ui, const char *name, unsigned flags )
{
    nk_style_push_style_item( ui->nk, &ui->nk->style.window.fixed_background, nk_style_item_hide() );
    bool open = nk_group_begin( ui->nk, name, flags );
    nk_style_pop_style_item( ui->nk );
    return open;
}

// ------------------------------------------------------------------------------------------------ keyboard

bool tr_ui_typing( const tr_ui *ui )
{
    for ( const struct nk_window *w = ui->nk->begin; w != NULL; w = w->next )
        if ( w->edit.active || w->property.active == 1 ||
             ( w->popup.win != NULL && w->popup.win->edit.active ) )
            return true;
    return false;
}

bool tr_ui_popup( const tr_ui *ui )
{
    for ( const struct nk_window *w = ui->nk->begin; w != NULL; w = w->next )
        if ( w->popup.active && w->popup.win != NULL && w->popup.type != NK_PANEL_TOOLTIP )
            return true;
    return ui->more;
}

bool tr_ui_close_popup( tr_ui *ui )
{
    bool any = ui->more;
    ui->more = false;
    for ( struct nk_window *w = ui->nk->begin; w != NULL; w = w->next )
        if ( w->popup.win != NULL && w->popup.active && w->popup.type != NK_PANEL_TOOLTIP ) {
            w->popup.name = UINT_MAX; // no owner: an unowned popup closes after the frame
            w->flags &= ~(nk_flags)NK_WINDOW_ROM;
            any = true;
        }
    return any;
}

void tr_ui_stop_typing( tr_ui *ui )
{
    for ( struct nk_window *w = ui->nk->begin; w != NULL; w = w->next )
        w->edit.active = nk_false;
    ui->text.key = 0;
}

// ---------------------------------------------------------------------------------------------------- text

float tr_ui_text_width( const struct nk_user_font *font, const char *text )
{
    return font->width( font->userdata, font->height, text, (int)strlen( text ) );
}

void tr_ui_fit( char *out, size_t size, const char *text, const struct nk_user_font *font, float width )
{
    snprintf( out, size, "%s", text );
    if ( tr_ui_text_width( font, out ) <= width )
        return;
    size_t length = strlen( out );
    while ( length > 1 ) {
        do
            --length;
        while ( length > 0 && ( (unsigned char)out[length] & 0xC0 ) == 0x80 ); // not within a letter
        snprintf( out + length, size - length, "…" );
        if ( tr_ui_text_width( font, out ) <= width )
            return;
    }
}

void tr_ui_text_at( struct nk_command_buffer *canvas, const struct nk_user_font *font, float x, float y,
                    const char *text, struct nk_color colour )
{
    float width = tr_ui_text_width( font, text ) + 2;
    nk_draw_text( canvas, nk_rect( x, y, width, font->height + 2 ), text, (int)strlen( text ), font,
                  nk_rgba( 0, 0, 0, 0 ), colour );
}

void tr_ui_heading( tr_ui *ui, const tr_paint *paint, const char *text )
{
    nk_style_push_font( ui->nk, &paint->fonts.strong->handle );
    nk_layout_row_dynamic( ui->nk, 24, 1 );
    nk_label_colored( ui->nk, text, NK_TEXT_LEFT, tr_theme_dark.text );
    nk_style_pop_font( ui->nk );
}

struct nk_rect tr_ui_note( tr_ui *ui, const char *text )
{
    const struct nk_user_font *font = ui->nk->style.font;
    float width = nk_window_get_content_region_size( ui->nk ).x - 8, total = tr_ui_text_width( font, text );
    int rows = 1 + tr_pixels( total * 1.08f / ( width > 1 ? width : 1 ) );
    nk_layout_row_dynamic( ui->nk, (float)rows * ( font->height + 4 ) + 4, 1 );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    nk_label_colored_wrap( ui->nk, text, tr_theme_dark.dim );
    return area;
}

void tr_ui_caption( tr_ui *ui, const char *text )
{
    nk_layout_row_dynamic( ui->nk, TR_ROW - 8, 1 );
    nk_label_colored( ui->nk, text, NK_TEXT_LEFT, tr_theme_dark.dim );
}

// -------------------------------------------------------------------------------------------------- buttons

bool tr_ui_icon( tr_ui *ui, const char *name, tr_icon icon, bool on, const char *tip )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_context *nk = ui->nk;
    struct nk_rect area = nk_widget_bounds( nk );
    bool hovered = tr_ui_pointed( ui, area );
    struct nk_style_button style = nk->style.button;
    style.normal = nk_style_item_color( on ? t->accent_dark : nk_rgba( 0, 0, 0, 0 ) );
    style.hover = nk_style_item_color( on ? t->accent_dark : t->hover );
    tr_ui_mark( ui, name, area );
    if ( hovered && tip != NULL )
        tr_ui_tip( ui, area, tip );
    bool pressed = nk_button_label_styled( nk, &style, "" );
    float inset = area.h > 26 ? 7 : 5;
    tr_icon_draw( nk_window_get_canvas( nk ), icon,
                  nk_rect( area.x + inset, area.y + inset, area.w - 2 * inset, area.h - 2 * inset ),
                  on        ? t->accent
                  : hovered ? t->text
                            : t->dim );
    return pressed;
}

bool tr_ui_button( tr_ui *ui, const char *name, const char *label )
{
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    return nk_button_label( ui->nk, label );
}

bool tr_ui_check( tr_ui *ui, const char *name, const char *label, bool on )
{
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    return nk_check_label( ui->nk, label, on ) != on;
}

int tr_ui_choice( tr_ui *ui, const char *name, const char *label, const char *const *words, int chosen )
{
    const float columns[] = { 0.32f, 0.66f };
    int count = 0;
    while ( words[count] != NULL )
        ++count;
    nk_layout_row( ui->nk, NK_DYNAMIC, TR_ROW, 2, columns );
    nk_label_colored( ui->nk, label, NK_TEXT_LEFT, tr_theme_dark.dim );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    tr_ui_mark( ui, name, area );
    float height = fminf( (float)count, 12 ) * ( TR_ROW + 2 ) + 12;
    if ( !nk_combo_begin_label( ui->nk, words[chosen], nk_vec2( area.w, height ) ) )
        return chosen;
    nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
    for ( int i = 0; i < count; ++i ) {
        char spot[96];
        snprintf( spot, sizeof spot, "%s.%s", name, words[i] );
        tr_ui_mark( ui, spot, nk_widget_bounds( ui->nk ) );
        if ( nk_combo_item_label( ui->nk, words[i], NK_TEXT_LEFT ) )
            chosen = i;
    }
    nk_combo_end( ui->nk );
    return chosen;
}

void tr_ui_tag( const tr_ui *ui, const tr_shown *shown, const char *text )
{
    const struct nk_user_font *font = &shown->paint->fonts.text->handle;
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    struct nk_vec2 mouse = ui->nk->input.mouse.pos;
    float width = tr_ui_text_width( font, text ) + 14, x = mouse.x + 16, y = mouse.y + 14;
    if ( x + width > ui->viewport.x + ui->viewport.width )
        x = mouse.x - width - 8;
    nk_fill_rect( canvas, nk_rect( x, y, width, 22 ), 4, nk_rgba( 20, 22, 26, 225 ) );
    tr_ui_text_at( canvas, font, x + 7, y + 4, text, tr_theme_dark.text );
}
