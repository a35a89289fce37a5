// Small pieces panels are made of.
#include "ui/app.h"

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

// ----------------------------------------------------------------------------------------------- messages

void tr_ui_say( tr_ui *ui, bool bad, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( ui->message, sizeof ui->message, format, arguments );
    va_end( arguments );
    ui->message_bad = bad;
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
    return false;
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

void tr_ui_note( tr_ui *ui, const char *text )
{
    const struct nk_user_font *font = ui->nk->style.font;
    float width = nk_window_get_content_region_size( ui->nk ).x - 8, total = tr_ui_text_width( font, text );
    int rows = 1 + (int)( total * 1.08f / ( width > 1 ? width : 1 ) );
    nk_layout_row_dynamic( ui->nk, (float)rows * ( font->height + 4 ) + 4, 1 );
    nk_label_colored_wrap( ui->nk, text, tr_theme_dark.dim );
}

// -------------------------------------------------------------------------------------------------- buttons

bool tr_ui_icon( tr_ui *ui, const char *name, tr_icon icon, bool on, const char *tip )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_context *nk = ui->nk;
    struct nk_rect area = nk_widget_bounds( nk );
    bool hovered = nk_widget_is_hovered( nk );
    struct nk_style_button style = nk->style.button;
    style.normal = nk_style_item_color( on ? t->accent_dark : nk_rgba( 0, 0, 0, 0 ) );
    style.hover = nk_style_item_color( on ? t->accent_dark : t->hover );
    tr_ui_mark( ui, name, area );
    if ( hovered && tip != NULL && !nk->input.mouse.buttons[NK_BUTTON_LEFT].down )
        nk_tooltip( nk, tip );
    bool pressed = nk_button_label_styled( nk, &style, "" );
    float inset = area.h > 26 ? 7 : 5;
    tr_icon_draw( nk_window_get_canvas( nk ), icon,
                  nk_rect( area.x + inset, area.y + inset, area.w - 2 * inset, area.h - 2 * inset ),
                  on        ? t->accent
                  : hovered ? t->text
                            : t->dim );
    return pressed;
}

// --------------------------------------------------------------------------------------------------- values

static unsigned key_of( const char *name )
{
    nk_hash hash = nk_murmur_hash( name, (int)strlen( name ), 17 );
    return hash != 0 ? hash : 1;
}

// What a widget came back with, held while the button is down and handed on when it is up.
static bool settle( tr_ui *ui, unsigned key, double now, double *value, bool *held )
{
    double before = *value;
    bool down = ui->nk->input.mouse.buttons[NK_BUTTON_LEFT].down;
    *held = false;
    if ( ui->edit.key == key && ui->edit.cancelled ) // until the button is let go
        return false;
    double shown = ui->edit.key == key ? ui->edit.value : before;
    if ( fabs( now - shown ) > 1e-9 * fmax( 1.0, fabs( now ) ) ) {
        ui->edit.key = key;
        ui->edit.value = now;
    }
    if ( ui->edit.key != key )
        return false;
    *value = ui->edit.value;
    *held = down;
    if ( down )
        return false;
    ui->edit.key = 0;
    return *value != before;
}

static double held_value( const tr_ui *ui, unsigned key, double value )
{
    return ui->edit.key == key && !ui->edit.cancelled ? ui->edit.value : value;
}

// The bar of a slider: a press anywhere on it takes hold of it.
static double slider_bar( tr_ui *ui, unsigned key, double low, double high, double step, double value )
{
    const tr_theme *t = &tr_theme_dark;
    const struct nk_input *in = &ui->nk->input;
    struct nk_rect area;
    if ( nk_widget( &area, ui->nk ) == NK_WIDGET_INVALID )
        return value;
    bool over = nk_input_is_mouse_hovering_rect( in, area ) && !tr_ui_popup( ui );
    bool held = ui->grabbed == key && in->mouse.buttons[NK_BUTTON_LEFT].down;
    if ( over && nk_input_is_mouse_pressed( in, NK_BUTTON_LEFT ) ) {
        ui->grabbed = key;
        held = true;
    }
    const float knob = 6;
    float x0 = area.x + knob, width = fmaxf( area.w - 2 * knob, 1 ), y = area.y + 0.5f * area.h;
    if ( held )
        value = clampd( low + step * round( ( in->mouse.pos.x - x0 ) / width * ( high - low ) / step ), low,
                        high );
    float x = x0 + width * (float)( ( clampd( value, low, high ) - low ) / ( high - low ) );
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    nk_fill_rect( canvas, nk_rect( x0, y - 2, width, 4 ), 2, t->well );
    nk_fill_rect( canvas, nk_rect( x0, y - 2, x - x0, 4 ), 2, t->accent_dark );
    nk_fill_circle( canvas, nk_rect( x - knob, y - knob, 2 * knob, 2 * knob ),
                    held || over ? t->accent : t->dim );
    return value;
}

bool tr_ui_slider( tr_ui *ui, const char *name, const char *label, double low, double high, double step,
                   double *value, bool *held )
{
    struct nk_context *nk = ui->nk;
    unsigned key = key_of( name );
    double shown = held_value( ui, key, *value );
    const float columns[] = { 0.32f, 0.50f, 0.16f };
    nk_layout_row( nk, NK_DYNAMIC, TR_ROW - 2, 3, columns );
    nk_label_colored( nk, label, NK_TEXT_LEFT, tr_theme_dark.dim );
    tr_ui_mark( ui, name, nk_widget_bounds( nk ) );
    double now = slider_bar( ui, key, low, high, step, shown );
    nk_labelf( nk, NK_TEXT_RIGHT, step < 1 ? "%.2f" : "%.0f", now );
    return settle( ui, key, now, value, held );
}

bool tr_ui_number( tr_ui *ui, const char *name, const char *label, double low, double high, double step,
                   double *value, bool *held )
{
    unsigned key = key_of( name );
    char title[64];
    double shown = held_value( ui, key, *value );
    snprintf( title, sizeof title, "#%s", label );
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    double now = nk_propertyd( ui->nk, title, low, shown, high, step, (float)step );
    return settle( ui, key, now, value, held );
}

void tr_ui_frames( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const char *key,
                   const char *const labels[2], double low, const double values[2] )
{
    double now[2] = { values[0], values[1] };
    bool held[2], done = false;
    nk_layout_row_dynamic( ui->nk, TR_ROW, 2 );
    for ( int i = 0; i < 2; ++i ) {
        char name[64];
        snprintf( name, sizeof name, "%s.%s.%d", verb, key, i );
        done |= tr_ui_number( ui, name, labels[i], low, TR_MAX_FRAMES, 1, &now[i], &held[i] );
    }
    if ( done )
        tr_ops_add( ops, "%s id=%s %s=%.0f,%.0f", verb, id, key, now[0], now[1] );
    else if ( held[0] || held[1] )
        tr_ops_preview( ops, "%s id=%s %s=%.0f,%.0f", verb, id, key, now[0], now[1] );
}
