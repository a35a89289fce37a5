// Private to the tools: moving those whom rules join to others.
#ifndef TROUPE_UI_TOOLS_LEAD_H
#define TROUPE_UI_TOOLS_LEAD_H

#include "ui/app.h"

bool tr_lead_is( const tr_layer *layer ); // made by tr_lead_by
// Whether rules join what is selected to something that is not.
bool tr_lead_needed( const tr_ui *ui, const tr_shown *shown );
// All of the motion of the characters and props that are selected goes elsewhere, by a cage over the whole
// clip, so that everybody goes on holding what they hold.
void tr_lead_by( const tr_ui *ui, const tr_shown *shown, tr_ops *ops, tr_put *put, vec3 by );

#endif
