// The timeline's files: where frames are on the window (tr_chart), rows of layers, characters and props, and
// what can be taken hold of in them.
#ifndef TROUPE_UI_TIMELINE_PRIVATE_H
#define TROUPE_UI_TIMELINE_PRIVATE_H

#include "ui/timeline/timeline.h"
#include "ui/tools/tools.h"

enum { // points
    TR_LABEL_WIDTH = 148,
    TR_RULER_HEIGHT = 24,
    TR_LINE_HEIGHT = 22,
    TR_LANE_HEIGHT = 16,
    TR_STRIP_HEIGHT = 11
};

typedef struct tr_chart { // where frames are on the window
    struct nk_rect area;  // area of the frames, without labels
    double first, last;   // frames at its edges
    struct nk_command_buffer *canvas;
    const struct nk_user_font *text, *small;
} tr_chart;

float tr_chart_x( const tr_chart *c, double frame );
double tr_chart_frame( const tr_chart *c, double x );
void tr_chart_bar( const tr_chart *c, double first, double last, float y, float height,
                   struct nk_color colour );

// ------------------------------------------------------------------------------------- transport.c, strips.c

void tr_transport( tr_ui *ui, const tr_shown *shown );
void tr_ruler_draw( const tr_ui *ui, const tr_shown *shown, const tr_chart *c, struct nk_rect ruler );
// Which strips are drawn, in order, where there is room for so many: first those that are not fine
// throughout, then others, up to six. Returns how many; 0 where there is no room for six.
int tr_strips_choose( const tr_strips *strips, int room, int kinds[TR_STRIP_KINDS] );
// How unlike any pair the poses of the chosen body are that moves by examples. NULL: there is none.
const double *tr_unlike_find( const tr_ui *ui, const tr_shown *shown );
void tr_unlike_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, float y, const double *unlike );
void tr_strips_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, float top, const int *kinds,
                     int count );

// --------------------------------------------------------------------------------------------------- rows.c

typedef struct tr_row {
    tr_item_kind kind; // a layer, a character, a prop
    int index;         // layers: in the document; others: on the stage
    bool open;         // a lane with a name for each limb
    float y, height;
} tr_row;

// Layers first, the last on top; then selected members, unfolded; then the rest. Calls `visit` for each;
// returns the whole height.
float tr_rows_each( const tr_ui *ui, const tr_shown *shown, float top,
                    void ( *visit )( void *context, const tr_row *row ), void *context );
bool tr_rows_find( const tr_ui *ui, const tr_shown *shown, float top, float y, tr_row *out );
const char *tr_row_id( const tr_shown *shown, const tr_row *row );
void tr_row_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row );
// Limbs that end in hands or feet have a lane each.
int tr_row_limb( const tr_shown *shown, const tr_row *row,
                 float y ); // limb of the source's skeleton, -1 = none
float tr_row_lane( const tr_shown *shown, const tr_row *row, int limb, float *height ); // its upper edge

// --------------------------------------------------------------------------------------------- layer_rows.c

void tr_layer_row_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row );
tr_time_hold tr_layer_row_pick( const tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row,
                                float x );
// A layer's window in stage frames, cut to the scene.
void tr_layer_window( const tr_shown *shown, int layer, double *first, double *last );
// The ops of what is held when the pointer is at a frame of the stage.
void tr_layer_hold_put( const tr_shown *shown, const tr_time_hold *hold, int now, tr_ops *ops, tr_put *put );

// ------------------------------------------------------------------------------------------------- retime.c

// A moment of a layer's members, or of one character or prop, comes at another time: what there is of it,
// when it is taken hold of, and the ops while it is.
void tr_moment_find( const tr_shown *shown, tr_time_hold *hold );
void tr_moment_layer( const tr_shown *shown, const tr_time_hold *hold, tr_id out ); // there, or to be made
void tr_moment_put( const tr_shown *shown, const tr_time_hold *hold, int now, tr_ops *ops, tr_put *put );

// ----------------------------------------------------------------------------------------------- contacts.c

void tr_contacts_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row );
tr_time_hold tr_contacts_pick( const tr_shown *shown, const tr_row *row, int limb, int frame );
void tr_contacts_put( const tr_shown *shown, const tr_time_hold *hold, int now, tr_ops *ops, tr_put *put );

#endif
