// What was done: every op, the ones undone in grey; a click goes back or forth to it.
#include "ui/app.h"

#include <stdio.h>

void tr_panel_history( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    if ( shown->document == NULL )
        return;
    int done = tr_document_log_count( shown->document ), later = tr_document_redo_count( shown->document );
    if ( done + later == 0 )
        tr_ui_note(
            ui, "Nothing has been changed yet. Every change is one line here, and one line of a script." );
    for ( int i = done + later - 1; i >= 0; --i ) {
        char line[160];
        tr_ui_fit( line, sizeof line,
                   i < done ? tr_document_log( shown->document, i )
                            : tr_document_undone( shown->document, i - done ),
                   nk->style.font, TR_RIGHT_WIDTH - 50 );
        nk_layout_row_dynamic( nk, TR_ROW - 2, 1 );
        int now = i == done - 1, before = now;
        nk_style_push_color( nk, &nk->style.selectable.text_normal,
                             i < done ? tr_theme_dark.text : tr_theme_dark.faint );
        if ( nk_selectable_label( nk, line, NK_TEXT_LEFT, &now ) && now != before ) {
            for ( int k = done - 1; k > i; --k )
                tr_ops_ask( ops, TR_ASK_UNDO, NULL );
            for ( int k = done - 1; k < i; ++k )
                tr_ops_ask( ops, TR_ASK_REDO, NULL );
        }
        nk_style_pop_color( nk );
    }
}
