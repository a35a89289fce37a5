// Select: a click picks, Shift adds or takes away, a box picks what is in it.
#include "ui/tools/tools.h"

static bool press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    ui->drag.item = tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, &ui->drag.start );
    return true;
}

static void release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    bool extend = ( ui->drag.modifiers & ( TR_MOD_SHIFT | TR_MOD_CTRL ) ) != 0;
    if ( ui->drag.moved )
        tr_pick_box( ui, shown, ui->drag.start_x, ui->drag.start_y, ui->drag.x, ui->drag.y, extend );
    else
        tr_select( ui, &ui->drag.item, extend );
}

static void hint( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    if ( ui->hover.kind == TR_ITEM_NONE ) {
        tr_ui_hint( ui, "Drag around bodies to select them · Alt+drag or middle button turns the view, Shift "
                        "pans, wheel zooms" );
        return;
    }
    tr_item_name( name, sizeof name, shown, &ui->hover );
    tr_ui_hint( ui, "Click selects %s · Shift+click adds it", name );
}

const tr_tool tr_tool_select = { .name = "Select",
                                 .spot = "tool.select",
                                 .icon = TR_ICON_SELECT,
                                 .key = 'Q',
                                 .help = "click, Shift+click, or drag a box",
                                 .press = press,
                                 .release = release,
                                 .hint = hint };
