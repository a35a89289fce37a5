// The status line: hint for the mouse, running task, times.
#include "ui/panels/panels.h"

#include <stdio.h>

static void work( tr_ui *ui, const tr_shown *shown, tr_ops *ops, float width )
{
    struct nk_context *nk = ui->nk;
    char text[80];
    (void)shown;
    nk_layout_row_push( nk, 74 );
    snprintf( text, sizeof text, "%s …", ui->task );
    nk_label_colored( nk, text, NK_TEXT_RIGHT, tr_theme_dark.accent );
    nk_layout_row_push( nk, width - 74 - 66 );
    nk_size now = (nk_size)tr_int_clamped( 1000 * ui->progress, 0, 1000 );
    nk_prog( nk, now, 1000, NK_FIXED );
    nk_layout_row_push( nk, 54 );
    tr_ui_mark( ui, "cancel", nk_widget_bounds( nk ) );
    if ( nk_button_label( nk, "Cancel" ) )
        tr_ops_act( ops, TR_ACTION_CANCEL, NULL );
}

static void figures( tr_ui *ui, const tr_shown *shown, float width )
{
    char text[160], took[96] = "";
    static const char *const quality[] = { "", " · plain edges", " · no shadows" };
    if ( ui->drag.active && ui->drag_moves > 0 )
        snprintf( took, sizeof took, "follows in %.0f ms (p95 %.0f) · ", ui->drag_ms, ui->drag_p95_ms );
    else if ( tr_session_stale( shown->session ) )
        snprintf( took, sizeof took, "not solved · " );
    else if ( shown->solved && ui->settles > 0 )
        snprintf( took, sizeof took, "settled in %.0f ms · ", ui->settle_ms );
    else if ( shown->solved )
        snprintf( took, sizeof took, "solved in %.0f ms · ", ui->solve_ms );
    snprintf( text, sizeof text, "%s%.0f fps%s", took, ui->fps, quality[ui->quality] );
    nk_layout_row_push( ui->nk, width );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, tr_theme_dark.dim );
}

void tr_panel_status( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    const tr_theme *t = &tr_theme_dark;
    const tr_tool *tool = tr_tool_get( ui->tool );
    if ( tool->hint != NULL && ui->hint[0] == 0 )
        tool->hint( ui, shown );
    nk_style_push_vec2( nk, &nk->style.window.padding, nk_vec2( TR_PAD, 4 ) );
    if ( tr_ui_dock( ui, "status", ui->status ) ) {
        // What cannot be solved is said until it can.
        bool message = ui->message[0] != 0, failed = !message && ui->failure[0] != 0;
        const float right = 290, left = (float)ui->width - right - 40;
        char text[sizeof ui->message];
        tr_ui_fit( text, sizeof text,
                   message  ? ui->message
                   : failed ? ui->failure
                            : ui->hint,
                   nk->style.font, left - 8 );
        nk_layout_row_begin( nk, NK_STATIC, TR_STATUS_HEIGHT - 8, 4 );
        nk_layout_row_push( nk, left );
        nk_label_colored( nk, text, NK_TEXT_LEFT,
                          failed || ( message && ui->message_bad ) ? t->bad
                          : message && ui->message_warns           ? t->warn
                          : message                                ? t->good
                                                                   : t->dim );
        if ( ui->busy )
            work( ui, shown, ops, right );
        else
            figures( ui, shown, right );
        nk_layout_row_end( nk );
    }
    nk_end( nk );
    nk_style_pop_vec2( nk );
}
