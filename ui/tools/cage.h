// The cage tool's files: what is taken hold of, as ops (cage_hold.c), and what of a cage is to be seen and
// picked (cage_view.c).
#ifndef TROUPE_UI_CAGE_H
#define TROUPE_UI_CAGE_H

#include "ui/tools/tools.h"

// --------------------------------------------------------------------------------------------- cage_hold.c

// What pulling at an item or at a part of the cage would mean: the layer and the handle, there already or to
// be made. False: nothing can be pulled there.
bool tr_cage_hold_item( const tr_ui *ui, const tr_shown *shown, const tr_item *item, tr_cage_hold *out );
bool tr_cage_hold_part( const tr_ui *ui, const tr_shown *shown, const tr_part *part, tr_cage_hold *out );
// The ops that bring it about, moved and turned on by so much.
void tr_cage_hold_put( const tr_cage_hold *hold, tr_ops *ops, tr_put *put, vec3 move, double turn );
// The same for the poses that follow the mouse, with the numbers the ops have.
void tr_cage_hold_live( const tr_cage_hold *hold, tr_ops *ops, vec3 move, double turn );
// More or fewer frames, or with `space` more or less room around what is grabbed.
void tr_cage_hold_grow( tr_cage_hold *hold, double notches, bool space );

// --------------------------------------------------------------------------------------------- cage_view.c

const char *tr_cage_layer_shown( const tr_ui *ui, const tr_shown *shown ); // its id, NULL: none
const tr_cage_outline *tr_cage_outline_shown( const tr_ui *ui, const tr_shown *shown );
// What of it is under a point of the window: a dot, or with `lines` also the outline of a section.
tr_part tr_cage_pick( const tr_ui *ui, const tr_shown *shown, double x, double y, bool lines );
bool tr_part_place( const tr_ui *ui, const tr_shown *shown, const tr_part *part, vec3 *place );
void tr_cage_draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list );
void tr_cage_mark( tr_ui *ui, const tr_shown *shown ); // where its parts are on the window

#endif
