// Handles in the viewport that tools share: three axes, a ring, and the planes a pointer moves in.
#ifndef TROUPE_UI_GIZMO_H
#define TROUPE_UI_GIZMO_H

#include "ui/tools/tools.h"

enum { TR_GIZMO_NONE, TR_GIZMO_X, TR_GIZMO_Y, TR_GIZMO_Z, TR_GIZMO_FREE, TR_GIZMO_RING };

// Length of an axis in metres, so that it looks the same from any distance.
double tr_gizmo_size( const tr_shown *shown, vec3 at );
void tr_gizmo_draw_axes( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list, vec3 at );
void tr_gizmo_draw_ring( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list, vec3 at );
// Where they can be taken hold of: spots arrow.x, arrow.y, arrow.z and ring.
void tr_gizmo_mark( tr_ui *ui, const tr_shown *shown, vec3 at, bool ring );
// The handle under a point of the window.
int tr_gizmo_pick_axes( const tr_ui *ui, const tr_shown *shown, vec3 at, double x, double y );
int tr_gizmo_pick_ring( const tr_ui *ui, const tr_shown *shown, vec3 at, double x, double y );
// Where the pointer has pulled `start` to by that handle: along the axis, or in the plane of the picture.
vec3 tr_gizmo_drag( const tr_ui *ui, const tr_shown *shown, vec3 start, int handle );
// Degrees about the vertical through `at` between where the drag began and where the pointer is.
double tr_gizmo_turn( const tr_ui *ui, const tr_shown *shown, vec3 at );

#endif
