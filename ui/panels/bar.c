// The bar at the top: menus, tools, and what the viewport shows.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

// Points below which the bar has no room for all tools at their full size, nor for what is in menus as well.
static bool is_tight( const tr_ui *ui )
{
    return ui->width < 820;
}

// In low windows lines of a menu stand closer, so that all of them are there.
static float line_height( const tr_ui *ui, int rows )
{
    const float room = (float)ui->height - TR_BAR_HEIGHT - 20;
    return (float)clampd( room / (float)( rows > 0 ? rows : 1 ) - ui->nk->style.window.spacing.y, 14,
                          TR_ROW - 2 );
}

static const char *const menus[] = { "File", "Edit", "View", "Show", "Play", "Help" };

// A line of a menu: a mark when it is a switch that is on, its name, its keys at the right.
// `popup`: in one of Nuklear's, which closes then.
static bool menu_line( tr_ui *ui, const tr_shown *shown, const char *name, const char *keys, bool on,
                       bool popup, float height )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_context *nk = ui->nk;
    nk_layout_row_dynamic( nk, height, 1 );
    struct nk_rect area = nk_widget_bounds( nk );
    char label[80], spot[64];
    snprintf( label, sizeof label, "      %s", name );
    snprintf( spot, sizeof spot, "menu.%s", name );
    tr_ui_mark( ui, spot, area );
    struct nk_style_button style = nk->style.contextual_button;
    style.text_alignment = NK_TEXT_LEFT;
    bool chosen =
        popup ? nk_menu_item_label( nk, label, NK_TEXT_LEFT ) : nk_button_label_styled( nk, &style, label );
    struct nk_command_buffer *canvas = nk_window_get_canvas( nk );
    const struct nk_user_font *font = &shown->paint->fonts.small->handle;
    if ( on )
        nk_fill_circle( canvas, nk_rect( area.x + 9, area.y + 0.5f * area.h - 3.5f, 7, 7 ), t->accent );
    float width = tr_ui_text_width( font, keys );
    tr_ui_text_at( canvas, font, area.x + area.w - width - 8, area.y + 0.5f * ( area.h - font->height ), keys,
                   t->dim );
    return chosen;
}

// What there is nothing to do for is faint, and a click on it does nothing.
static bool menu_item( tr_ui *ui, const tr_shown *shown, const tr_command *c, bool popup, float height )
{
    struct nk_style_button *style = &ui->nk->style.contextual_button, before = *style;
    bool can = c->can == NULL || c->can( ui, shown );
    if ( !can )
        style->text_normal = style->text_hover = style->text_active = tr_theme_dark.faint;
    bool chosen = menu_line( ui, shown, c->name, c->keys, c->on != NULL && c->on( ui ), popup, height );
    *style = before;
    return chosen && can;
}

// A line across a menu, and under it what the rest of it is about.
static void menu_part( tr_ui *ui, const tr_shown *shown, const char *title, float height )
{
    nk_layout_row_dynamic( ui->nk, height, 1 );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    nk_label( ui->nk, "", NK_TEXT_LEFT );
    nk_stroke_line( canvas, area.x + 4, area.y + 3, area.x + area.w - 4, area.y + 3, 1, tr_theme_dark.faint );
    tr_ui_text_at( canvas, &shown->paint->fonts.small->handle, area.x + 8, area.y + 9, title,
                   tr_theme_dark.dim );
}

static const char *base_name( const char *path )
{
    const char *slash = strrchr( path, '/' );
    return slash != NULL ? slash + 1 : path;
}

// The name, with its folder where another one is called the same.
static const char *recent_name( const char *const *recent, int index )
{
    const char *name = base_name( recent[index] ), *from = name;
    bool alone = true;
    for ( int i = 0; recent[i] != NULL; ++i )
        alone = alone && ( i == index || strcmp( base_name( recent[i] ), name ) != 0 );
    if ( alone || name - recent[index] < 2 )
        return name;
    for ( from = name - 1; from > recent[index] && from[-1] != '/'; )
        --from;
    return from;
}

static void recent_files( tr_ui *ui, const tr_shown *shown, tr_ops *ops, float height )
{
    char label[96], fitted[96];
    if ( shown->recent[0] != NULL )
        menu_part( ui, shown, "Recently opened", height );
    for ( int i = 0; i < 6 && shown->recent[i] != NULL; ++i ) {
        nk_layout_row_dynamic( ui->nk, height, 1 );
        snprintf( label, sizeof label, "recent.%d", i );
        tr_ui_mark( ui, label, nk_widget_bounds( ui->nk ) );
        if ( nk_widget_is_hovered( ui->nk ) )
            tr_ui_hint( ui, "%s", shown->recent[i] );
        snprintf( label, sizeof label, "      %s", recent_name( shown->recent, i ) );
        tr_ui_fit( fitted, sizeof fitted, label, ui->nk->style.font, 220 );
        if ( nk_menu_item_label( ui->nk, fitted, NK_TEXT_LEFT ) )
            tr_ops_act( ops, TR_ACTION_OPEN, shown->recent[i] );
    }
}

// With a menu open, pointing at another title opens that menu. A click on the title then does not close it:
// Nuklear is not to see it.
static bool begin_menu( tr_ui *ui, const char *name, float height )
{
    struct nk_context *nk = ui->nk;
    struct nk_mouse_button *left = &nk->input.mouse.buttons[NK_BUTTON_LEFT];
    const unsigned clicked = left->clicked;
    bool over = nk_input_is_mouse_hovering_rect( &nk->input, nk_widget_bounds( nk ) );
    if ( over && clicked && left->down && ui->menu_followed ) {
        left->clicked = 0;
        ui->menu_followed = false;
    }
    bool open = nk_menu_begin_label( nk, name, NK_TEXT_CENTERED, nk_vec2( 268, height ) );
    left->clicked = clicked;
    return open;
}

// The title the pointer is on, while another's menu is open, is the next to be.
static void follow_titles( tr_ui *ui )
{
    struct nk_window *bar = ui->nk->current;
    if ( bar->popup.win == NULL || !bar->popup.active || bar->popup.type != NK_PANEL_MENU ) {
        ui->menu_followed = false;
        return;
    }
    for ( size_t i = 0; i < sizeof menus / sizeof menus[0]; ++i ) {
        const tr_spot *title = tr_ui_spot( ui, menus[i] );
        nk_hash name = nk_murmur_hash( menus[i], (int)strlen( menus[i] ), NK_PANEL_MENU );
        if ( title != NULL && name != bar->popup.name &&
             nk_input_is_mouse_hovering_rect( &ui->nk->input, tr_rect( title->area ) ) ) {
            bar->popup.name = name;
            ui->menu_followed = true;
        }
    }
}

static void menu( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const char *name )
{
    int count, rows = 0;
    const tr_command *table = tr_command_table( &count );
    for ( int i = 0; i < count; ++i )
        rows += table[i].menu != NULL && strcmp( table[i].menu, name ) == 0;
    bool file = strcmp( name, "File" ) == 0;
    rows += file && shown->recent[0] != NULL;
    for ( int i = 0; file && i < 6 && shown->recent[i] != NULL; ++i )
        ++rows;
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    float height = line_height( ui, rows );
    if ( !begin_menu( ui, name, (float)rows * ( height + ui->nk->style.window.spacing.y ) + 12 ) )
        return;
    for ( int i = 0; i < count; ++i )
        if ( table[i].menu != NULL && strcmp( table[i].menu, name ) == 0 &&
             menu_item( ui, shown, &table[i], true, height ) )
            table[i].run( ui, shown, ops );
    if ( file )
        recent_files( ui, shown, ops, height );
    nk_menu_end( ui->nk );
}

static void tools( tr_ui *ui )
{
    for ( int i = 0; i < tr_tool_count(); ++i ) {
        const tr_tool *tool = tr_tool_get( i );
        char tip[160];
        nk_layout_row_push( ui->nk, is_tight( ui ) ? 24 : 32 );
        snprintf( tip, sizeof tip, "%s (%c): %s", tool->name, tool->key, tool->help );
        if ( tr_ui_icon( ui, tool->spot, tool->icon, ui->tool == i, tip ) )
            ui->tool = i;
    }
}

static void steps( tr_ui *ui, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    nk_layout_row_push( nk, 10 );
    nk_spacing( nk, 1 );
    nk_layout_row_push( nk, 30 );
    if ( tr_ui_icon( ui, "undo", TR_ICON_UNDO, false, "Undo (Ctrl+Z)" ) )
        tr_ops_act( ops, TR_ACTION_UNDO, NULL );
    nk_layout_row_push( nk, 30 );
    if ( tr_ui_icon( ui, "redo", TR_ICON_REDO, false, "Redo (Ctrl+Shift+Z)" ) )
        tr_ops_act( ops, TR_ACTION_REDO, NULL );
    nk_layout_row_push( nk, 10 );
    nk_spacing( nk, 1 );
}

// ------------------------------------------------------------------------------------------- what is shown
// Switches of the viewport as words that light up, then the method. What the window has no room for is behind
// the arrows at the end.

typedef struct bar_switch {
    const char *label;
    int key; // key of its command
    float width;
    const char *tip;
} bar_switch;

static const bar_switch switches[] = {
    { "Bodies", '1', 60, "Bodies (1)" },
    { "Bones", '2', 56, "Skeletons (2)" },
    { "Graph", '3', 56, "Pose graphs (3)" },
    { "Trails", '4', 54, "Motion trails (4)" },
    { "Ghosts", '5', 60, "Ghosts before and after (5)" },
    { "Source", '6', 60, "The motion before it was retargeted (6)" },
    { "Contacts", '7', 70, "Where feet and hands rest (7)" },
    { "Overlaps", '8', 70, "Parts of bodies in each other glow (8)" },
    { "Mesh", '9', 52, "Close pairs, and the mesh around what is selected (9)" },
};
#define SWITCH_COUNT ( (int)( sizeof switches / sizeof switches[0] ) )

static const float gap = 14, methods_width = 160, more_width = 34;

static const tr_command *command_of( const bar_switch *s )
{
    int count;
    const tr_command *table = tr_command_table( &count );
    for ( int i = 0; i < count; ++i )
        if ( table[i].key == s->key && table[i].modifiers == 0 )
            return &table[i];
    return NULL;
}

// How many switches have room; one more than there are: so has the method.
static int switches_that_fit( const tr_ui *ui, float begin )
{
    const float space = ui->nk->style.window.spacing.x;
    float end = begin, room = (float)ui->width - ui->nk->style.window.padding.x;
    int fit = 0;
    for ( ; fit < SWITCH_COUNT; ++fit ) {
        end += switches[fit].width + space;
        if ( end + more_width > room )
            return fit;
    }
    return end + gap + space + methods_width <= room ? fit + 1 : fit;
}

static void switch_button( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const bar_switch *s )
{
    const tr_theme *t = &tr_theme_dark;
    const tr_command *command = command_of( s );
    struct nk_style_button style = ui->nk->style.button;
    bool on = command->on( ui );
    style.normal = nk_style_item_color( on ? t->accent_dark : t->panel );
    style.hover = nk_style_item_color( on ? t->accent_dark : t->hover );
    style.text_normal = style.text_hover = on ? t->accent : t->dim;
    style.padding = nk_vec2( 0, 0 );
    char spot[32];
    snprintf( spot, sizeof spot, "show.%s", s->label );
    nk_layout_row_push( ui->nk, s->width );
    tr_ui_mark( ui, spot, nk_widget_bounds( ui->nk ) );
    if ( tr_ui_pointed( ui, nk_widget_bounds( ui->nk ) ) )
        tr_ui_tip( ui, nk_widget_bounds( ui->nk ), s->tip );
    if ( nk_button_label_styled( ui->nk, &style, s->label ) )
        command->run( ui, shown, ops );
}

static void more_button( tr_ui *ui )
{
    struct nk_style_button style = ui->nk->style.button;
    style.normal = nk_style_item_color( ui->more ? tr_theme_dark.hover : tr_theme_dark.panel );
    nk_layout_row_push( ui->nk, more_width );
    tr_ui_mark( ui, "more", nk_widget_bounds( ui->nk ) );
    if ( tr_ui_pointed( ui, nk_widget_bounds( ui->nk ) ) )
        tr_ui_tip( ui, nk_widget_bounds( ui->nk ), "What the window has no room for" );
    if ( nk_button_label_styled( ui->nk, &style, "»" ) )
        ui->more = !ui->more;
}

static void more_lines( tr_ui *ui, const tr_shown *shown, tr_ops *ops, float height )
{
    int count;
    const tr_method *methods = tr_method_table( &count );
    for ( int i = ui->more_first; i < SWITCH_COUNT; ++i ) {
        const tr_command *command = command_of( &switches[i] );
        if ( menu_item( ui, shown, command, false, height ) )
            command->run( ui, shown, ops );
    }
    tr_ui_heading( ui, shown->paint, "Solved by" );
    for ( int i = 0; i < count; ++i )
        if ( menu_line( ui, shown, tr_method_words( &methods[i], NULL ), "", &methods[i] == shown->method,
                        false, height ) )
            tr_ui_choose_method( shown, ops, &methods[i] );
}

// Below the arrows, against the window's edge: Nuklear's own menus would open beyond it. A click elsewhere
// closes it.
static void more_menu( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    int count;
    tr_method_table( &count );
    int rows = SWITCH_COUNT - ui->more_first + count + 1;
    float line = line_height( ui, rows ), height = (float)rows * ( line + nk->style.window.spacing.y ) + 10;
    struct nk_rect area = nk_rect( (float)ui->width - 232, TR_BAR_HEIGHT - 4, 224, height );
    bool elsewhere = nk_input_is_mouse_pressed( &nk->input, NK_BUTTON_LEFT ) &&
                     !nk_input_is_mouse_hovering_rect( &nk->input, area ) &&
                     nk->input.mouse.pos.y > TR_BAR_HEIGHT;
    nk_style_push_vec2( nk, &nk->style.window.padding, nk_vec2( 6, 6 ) );
    nk_style_push_float( nk, &nk->style.window.border, 1 );
    nk_style_push_color( nk, &nk->style.window.border_color, tr_theme_dark.faint );
    nk_window_set_focus( nk, "more" );
    nk_window_set_bounds( nk, "more", area );
    if ( nk_begin( nk, "more", area, NK_WINDOW_BORDER | NK_WINDOW_NO_SCROLLBAR ) )
        more_lines( ui, shown, ops, line );
    nk_end( nk );
    nk_style_pop_color( nk );
    nk_style_pop_float( nk );
    nk_style_pop_vec2( nk );
    ui->more = ui->more && !elsewhere;
}

static void show( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    nk_layout_row_push( ui->nk, is_tight( ui ) ? 1 : gap );
    struct nk_rect before = nk_widget_bounds( ui->nk );
    nk_spacing( ui->nk, 1 );
    int fit = switches_that_fit( ui, before.x + before.w );
    for ( int i = 0; i < fit && i < SWITCH_COUNT; ++i )
        switch_button( ui, shown, ops, &switches[i] );
    ui->more_first = fit;
    ui->more = ui->more && fit <= SWITCH_COUNT;
    if ( fit <= SWITCH_COUNT ) {
        more_button( ui );
        return;
    }
    nk_layout_row_push( ui->nk, gap );
    nk_spacing( ui->nk, 1 );
    nk_layout_row_push( ui->nk, methods_width );
    tr_ui_methods( ui, shown, ops );
}

void tr_panel_bar( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    if ( tr_ui_dock( ui, "bar", ui->bar ) ) {
        const float height = TR_BAR_HEIGHT - 14;
        nk_layout_row_begin( nk, NK_STATIC, height, 40 );
        for ( size_t i = 0; i < sizeof menus / sizeof menus[0]; ++i ) {
            nk_layout_row_push( nk, is_tight( ui ) ? 41 : 48 );
            menu( ui, shown, ops, menus[i] );
        }
        follow_titles( ui );
        if ( !is_tight( ui ) ) // else they are in the Edit menu only
            steps( ui, ops );
        tools( ui );
        show( ui, shown, ops );
        nk_layout_row_end( nk );
    }
    nk_end( nk );
    if ( ui->more )
        more_menu( ui, shown, ops );
}
