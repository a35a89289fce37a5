// Tooltips. Nuklear's own are popups of the panel: none comes once a menu of it was open, and they end where
// the window does. These are drawn in a context of their own, over all panels and wholly inside the window.
#include "ui/shared/shared.h"

#include <stdio.h>
#include <string.h>

#define WIDEST     300 // points, of a line
#define MOST_LINES 4
#define PATIENCE   0.3 // seconds

// Nuklear calls what is in a panel hovered only once it has made the panel the active one.
bool tr_ui_pointed( const tr_ui *ui, struct nk_rect area )
{
    struct nk_rect clip = ui->nk->current->layout->clip;
    bool covered = tr_ui_popup( ui ) || ui->dialog != TR_DIALOG_NONE || ui->help;
    return !covered && nk_input_is_mouse_hovering_rect( &ui->nk->input, area ) &&
           nk_input_is_mouse_hovering_rect( &ui->nk->input, clip );
}

void tr_ui_tip( tr_ui *ui, struct nk_rect of, const char *text )
{
    bool same = strcmp( ui->tip.text, text ) == 0 && ui->tip.of.x == of.x && ui->tip.of.y == of.y;
    if ( !same || ui->nk->input.mouse.buttons[NK_BUTTON_LEFT].down )
        ui->tip.since = ui->now;
    snprintf( ui->tip.text, sizeof ui->tip.text, "%s", text );
    ui->tip.of = ( tr_area ){ of.x, of.y, of.w, of.h };
    ui->tip.asked = true;
}

// Breaks the text where words end. Returns how many lines there are; *width is that of the longest.
static int break_lines( char *text, const struct nk_user_font *font, const char *lines[MOST_LINES],
                        float *width )
{
    int count = 1;
    lines[0] = text;
    *width = 0;
    for ( char *space = strchr( text, ' ' ); space != NULL && count < MOST_LINES; ) {
        char *next = strchr( space + 1, ' ' );
        int length = next != NULL ? (int)( next - lines[count - 1] ) : (int)strlen( lines[count - 1] );
        if ( font->width( font->userdata, font->height, lines[count - 1], length ) > WIDEST ) {
            *space = 0;
            lines[count++] = space + 1;
        }
        space = next;
    }
    for ( int i = 0; i < count; ++i )
        *width = fmaxf( *width, tr_ui_text_width( font, lines[i] ) );
    return count;
}

// Below what it is about, or above it where there is no room.
static struct nk_rect place( const tr_ui *ui, float width, float height )
{
    tr_area of = ui->tip.of;
    float x = fminf( of.x, (float)ui->width - width - 4 ), y = of.y + of.height + 5;
    if ( y + height > (float)ui->height - 4 )
        y = of.y - height - 5;
    return nk_rect( fmaxf( x, 4 ), fmaxf( y, 4 ), width, height );
}

void tr_panel_tip( tr_ui *ui, struct nk_context *over, const tr_paint *paint )
{
    const struct nk_user_font *font = &paint->fonts.small->handle;
    char text[sizeof ui->tip.text];
    const char *lines[MOST_LINES];
    float width, row = font->height + 4;
    if ( !ui->tip.asked )
        ui->tip.text[0] = 0;
    bool shown = ui->tip.asked && ui->now - ui->tip.since >= PATIENCE;
    ui->tip.asked = false;
    if ( !shown )
        return;
    memcpy( text, ui->tip.text, sizeof text );
    int count = break_lines( text, font, lines, &width );
    struct nk_rect area = place( ui, width + 16, (float)count * row + 10 );
    tr_ui_mark( ui, "tip", area );
    nk_window_set_bounds( over, "tip", area ); // where it is already, from another tip
    if ( nk_begin( over, "tip", area, NK_WINDOW_NO_INPUT | NK_WINDOW_NO_SCROLLBAR ) ) {
        struct nk_command_buffer *canvas = nk_window_get_canvas( over );
        nk_push_scissor( canvas, nk_rect( 0, 0, (float)ui->width, (float)ui->height ) );
        nk_fill_rect( canvas, area, 4, nk_rgba( 14, 15, 18, 245 ) );
        nk_stroke_rect( canvas, area, 4, 1, tr_theme_dark.faint );
        for ( int i = 0; i < count; ++i )
            tr_ui_text_at( canvas, font, area.x + 8, area.y + 6 + (float)i * row, lines[i],
                           tr_theme_dark.text );
    }
    nk_end( over );
}
