// Edits on top of the motion.
#include "ui/app.h"

void tr_panel_layers( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    if ( shown->scene->layer_count == 0 ) {
        tr_ui_note( ui,
                    "No edits yet. Layers hold what is done to the motion on top of the source; they can be "
                    "muted, put in another order and deleted." );
        return;
    }
    for ( int i = 0; i < shown->scene->layer_count; ++i ) {
        nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
        nk_label( ui->nk, shown->scene->layers[i].id, NK_TEXT_LEFT );
    }
}
