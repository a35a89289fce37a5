// The timeline: the transport, the ruler, strips of figures, and rows of layers, characters and props.
#ifndef TROUPE_UI_TIMELINE_H
#define TROUPE_UI_TIMELINE_H

#include "ui/shared/shared.h"

void tr_panel_timeline( tr_ui *ui, const tr_shown *shown, tr_ops *ops );

#endif
