// The panels at the left and the right: a row of tabs and the selected one.
#include "ui/panels/panels.h"

#include <stdio.h>

typedef struct tab {
    const char *name;
    void ( *panel )( tr_ui *ui, const tr_shown *shown, tr_ops *ops );
    bool ( *alert )( const tr_shown *shown ); // there is something to be looked at; NULL = never
} tab;

static bool has_losses( const tr_shown *shown )
{
    return shown->take != NULL &&
           ( shown->take->losses.count > 0 || tr_session_warning_count( shown->session ) > 0 );
}

static void tabs( tr_ui *ui, const tr_shown *shown, const tab *table, int count, int *chosen )
{
    const tr_theme *t = &tr_theme_dark;
    float shares[8], all = 0; // shares of the row, by the length of their names
    for ( int i = 0; i < count; ++i )
        all += shares[i] = tr_ui_text_width( ui->nk->style.font, table[i].name ) + 12;
    for ( int i = 0; i < count; ++i )
        shares[i] /= all;
    nk_layout_row( ui->nk, NK_DYNAMIC, TR_ROW, count, shares );
    for ( int i = 0; i < count; ++i ) {
        struct nk_style_button style = ui->nk->style.button;
        struct nk_rect area = nk_widget_bounds( ui->nk );
        bool on = *chosen == i;
        char spot[48];
        style.normal = nk_style_item_color( t->panel );
        style.text_normal = on ? t->text : t->dim;
        style.padding = nk_vec2( 0, 0 );
        snprintf( spot, sizeof spot, "tab.%s", table[i].name );
        tr_ui_mark( ui, spot, area );
        if ( nk_button_label_styled( ui->nk, &style, table[i].name ) )
            *chosen = i;
        if ( on )
            nk_fill_rect( nk_window_get_canvas( ui->nk ),
                          nk_rect( area.x + 6, area.y + area.h - 2, area.w - 12, 2 ), 1, t->accent );
        if ( table[i].alert != NULL && table[i].alert( shown ) )
            nk_fill_circle( nk_window_get_canvas( ui->nk ), nk_rect( area.x + area.w - 11, area.y + 5, 6, 6 ),
                            t->bad );
    }
}

static void side( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const char *name, tr_area area,
                  const tab *table, int count, int *chosen )
{
    struct nk_context *nk = ui->nk;
    if ( tr_ui_dock( ui, name, area ) ) {
        tabs( ui, shown, table, count, chosen );
        nk_layout_row_dynamic( nk, area.height - TR_ROW - 2 * TR_PAD - 8, 1 );
        if ( tr_ui_group( ui, table[*chosen].name, 0 ) ) {
            table[*chosen].panel( ui, shown, ops );
            nk_group_end( nk );
        }
    }
    nk_end( nk );
}

void tr_panel_left( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    static const tab table[TR_LEFT_TABS] = { [TR_LEFT_CAST] = { "Cast", tr_panel_cast },
                                             [TR_LEFT_SCENES] = { "Scenes", tr_panel_scenes },
                                             [TR_LEFT_LAYERS] = { "Layers", tr_panel_layers },
                                             [TR_LEFT_EXAMPLES] = { "Examples", tr_panel_examples } };
    side( ui, shown, ops, "left", ui->left, table, TR_LEFT_TABS, &ui->left_tab );
}

void tr_panel_right( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    static const tab table[TR_RIGHT_TABS] = { [TR_RIGHT_INSPECT] = { "Inspect", tr_panel_inspect },
                                              [TR_RIGHT_CONSTRAINTS] = { "Rules", tr_panel_constraints },
                                              [TR_RIGHT_REPORT] = { "Report", tr_panel_report, has_losses },
                                              [TR_RIGHT_HISTORY] = { "History", tr_panel_history } };
    side( ui, shown, ops, "right", ui->right, table, TR_RIGHT_TABS, &ui->right_tab );
}
