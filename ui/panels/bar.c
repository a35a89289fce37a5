// The bar at the top: menus, tools, and what the viewport shows.
#include "ui/app.h"

#include <stdio.h>
#include <string.h>

static const char *const menus[] = { "File", "Edit", "View", "Show", "Play", "Help" };

// A line of a menu: a mark when it is a switch that is on, its name, its keys at the right.
static bool menu_item( tr_ui *ui, const tr_shown *shown, const tr_command *c )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_context *nk = ui->nk;
    nk_layout_row_dynamic( nk, TR_ROW - 2, 1 );
    struct nk_rect area = nk_widget_bounds( nk );
    char label[80], spot[64];
    bool on = c->on != NULL && c->on( ui );
    snprintf( label, sizeof label, "      %s", c->name );
    snprintf( spot, sizeof spot, "menu.%s", c->name );
    tr_ui_mark( ui, spot, area );
    bool chosen = nk_menu_item_label( nk, label, NK_TEXT_LEFT );
    struct nk_command_buffer *canvas = nk_window_get_canvas( nk );
    const struct nk_user_font *font = &shown->paint->fonts.small->handle;
    if ( on )
        nk_fill_circle( canvas, nk_rect( area.x + 9, area.y + 0.5f * area.h - 3.5f, 7, 7 ), t->accent );
    float width = tr_ui_text_width( font, c->keys );
    tr_ui_text_at( canvas, font, area.x + area.w - width - 8, area.y + 0.5f * ( area.h - font->height ),
                   c->keys, t->dim );
    return chosen;
}

static void recent_files( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    char label[96], fitted[96];
    for ( int i = 0; i < 6 && shown->recent[i] != NULL; ++i ) {
        const char *slash = strrchr( shown->recent[i], '/' );
        nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
        snprintf( label, sizeof label, "      %s", slash != NULL ? slash + 1 : shown->recent[i] );
        tr_ui_fit( fitted, sizeof fitted, label, ui->nk->style.font, 220 );
        if ( nk_menu_item_label( ui->nk, fitted, NK_TEXT_LEFT ) )
            tr_ops_ask( ops, TR_ASK_OPEN, shown->recent[i] );
    }
}

static void menu( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const char *name )
{
    int count, rows = 0;
    const tr_command *table = tr_command_table( &count );
    for ( int i = 0; i < count; ++i )
        rows += table[i].menu != NULL && strcmp( table[i].menu, name ) == 0;
    bool file = strcmp( name, "File" ) == 0;
    for ( int i = 0; file && i < 6 && shown->recent[i] != NULL; ++i )
        ++rows;
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    if ( !nk_menu_begin_label( ui->nk, name, NK_TEXT_CENTERED, nk_vec2( 268, (float)rows * 29 + 12 ) ) )
        return;
    for ( int i = 0; i < count; ++i )
        if ( table[i].menu != NULL && strcmp( table[i].menu, name ) == 0 &&
             menu_item( ui, shown, &table[i] ) )
            table[i].run( ui, shown, ops );
    if ( file )
        recent_files( ui, shown, ops );
    nk_menu_end( ui->nk );
}

static void tools( tr_ui *ui )
{
    for ( int i = 0; i < tr_tool_count(); ++i ) {
        const tr_tool *tool = tr_tool_get( i );
        char tip[160];
        nk_layout_row_push( ui->nk, 32 );
        snprintf( tip, sizeof tip, "%s (%c): %s", tool->name, tool->key, tool->help );
        if ( tr_ui_icon( ui, tool->spot, tool->icon, ui->tool == i, tip ) )
            ui->tool = i;
    }
}

// Switches of the viewport, as words that light up.
static void switches( tr_ui *ui )
{
    const tr_theme *t = &tr_theme_dark;
    const struct {
        const char *label;
        bool *on;
        float width;
        const char *tip;
    } table[] = { { "Bodies", &ui->show.bodies, 60, "Bodies (1)" },
                  { "Bones", &ui->show.skeleton, 56, "Skeletons (2)" },
                  { "Graph", &ui->show.pose_graph, 56, "Pose graphs (3)" },
                  { "Trails", &ui->show.trails, 54, "Motion trails (4)" },
                  { "Ghosts", &ui->show.ghosts, 60, "Ghosts before and after (5)" },
                  { "Source", &ui->show.source, 60, "The motion before it was retargeted (6)" },
                  { "Contacts", &ui->show.contacts, 70, "Where feet and hands rest (7)" },
                  { "Overlaps", &ui->overlaps, 70, "Parts of bodies in each other glow (8)" },
                  { "Mesh", &ui->links, 52, "Who is close to whom, and the mesh of who is selected (9)" } };
    size_t count = sizeof table / sizeof table[0] - ( ui->width > 1400 ? 0 : 2 ); // the menu has all
    for ( size_t i = 0; i < count; ++i ) {
        struct nk_style_button style = ui->nk->style.button;
        bool on = *table[i].on;
        style.normal = nk_style_item_color( on ? t->accent_dark : t->panel );
        style.hover = nk_style_item_color( on ? t->accent_dark : t->hover );
        style.text_normal = style.text_hover = on ? t->accent : t->dim;
        style.padding = nk_vec2( 0, 0 );
        char spot[32];
        snprintf( spot, sizeof spot, "show.%s", table[i].label );
        nk_layout_row_push( ui->nk, table[i].width );
        tr_ui_mark( ui, spot, nk_widget_bounds( ui->nk ) );
        if ( nk_widget_is_hovered( ui->nk ) )
            nk_tooltip( ui->nk, table[i].tip );
        if ( nk_button_label_styled( ui->nk, &style, table[i].label ) )
            *table[i].on = !on;
    }
}

void tr_panel_bar( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    if ( tr_ui_dock( ui, "bar", ui->bar ) ) {
        const float height = TR_BAR_HEIGHT - 14;
        nk_layout_row_begin( nk, NK_STATIC, height, 40 );
        for ( size_t i = 0; i < sizeof menus / sizeof menus[0]; ++i ) {
            nk_layout_row_push( nk, 48 );
            menu( ui, shown, ops, menus[i] );
        }
        nk_layout_row_push( nk, 10 );
        nk_spacing( nk, 1 );
        nk_layout_row_push( nk, 30 );
        if ( tr_ui_icon( ui, "undo", TR_ICON_UNDO, false, "Undo (Ctrl+Z)" ) )
            tr_ops_ask( ops, TR_ASK_UNDO, NULL );
        nk_layout_row_push( nk, 30 );
        if ( tr_ui_icon( ui, "redo", TR_ICON_REDO, false, "Redo (Ctrl+Shift+Z)" ) )
            tr_ops_ask( ops, TR_ASK_REDO, NULL );
        nk_layout_row_push( nk, 10 );
        nk_spacing( nk, 1 );
        tools( ui );
        nk_layout_row_push( nk, 14 );
        nk_spacing( nk, 1 );
        switches( ui );
        float used = ui->width > 1420 || ( ui->width > 1330 && ui->width <= 1400 ) ? 112 : 0;
        if ( used > 0 ) {
            nk_layout_row_push( nk, 14 );
            nk_spacing( nk, 1 );
            nk_layout_row_push( nk, used );
            tr_ui_methods( ui, shown, ops );
        }
        nk_layout_row_end( nk );
    }
    nk_end( nk );
}
