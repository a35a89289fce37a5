// The timeline: transport, ruler with the range that plays, quality, and rows of layers, characters and
// props. What the pointer takes hold of in them becomes ops.
#include "ui/timeline/private.h"

#include <string.h>

float tr_chart_x( const tr_chart *c, double frame )
{
    return tr_near_window( c->area.x + c->area.w * ( frame - c->first ) / fmax( c->last - c->first, 1e-6 ) );
}

double tr_chart_frame( const tr_chart *c, double x )
{
    return c->first + ( x - c->area.x ) / fmax( c->area.w, 1.0 ) * ( c->last - c->first );
}

void tr_chart_bar( const tr_chart *c, double first, double last, float y, float height,
                   struct nk_color colour )
{
    float a = fmaxf( tr_chart_x( c, first ), c->area.x ),
          b = fminf( tr_chart_x( c, last + 1.0 ), c->area.x + c->area.w );
    if ( b > a )
        nk_fill_rect( c->canvas, nk_rect( a, y, fmaxf( b - a - 0.5f, 1.0f ), height ), 0, colour );
}

static void draw_playhead( const tr_ui *ui, const tr_chart *c, struct nk_rect ruler )
{
    const tr_theme *t = &tr_theme_dark;
    float x = tr_chart_x( c, ui->frame );
    if ( x < c->area.x - 1 || x > c->area.x + c->area.w + 1 )
        return;
    nk_stroke_line( c->canvas, x, ruler.y, x, c->area.y + c->area.h, 1.5f, t->accent );
    nk_fill_triangle( c->canvas, x - 6, ruler.y, x + 6, ruler.y, x, ruler.y + 9, t->accent );
}

// -------------------------------------------------------------------------------------------------- holding

static tr_time_hold pick_ruler( const tr_ui *ui, const tr_chart *c, struct nk_rect ruler, struct nk_vec2 at )
{
    float a = tr_chart_x( c, ui->loop_first ), b = tr_chart_x( c, ui->loop_last );
    bool part = ui->loop_first > 0 || ui->loop_last < ui->frame_count - 1;
    tr_time_hold hold = { .grip = TR_GRIP_TIME, .from = tr_nearest_frame( tr_chart_frame( c, at.x ) ) };
    if ( at.y >= ruler.y + 10 )
        return hold;
    if ( fabsf( at.x - a ) < 7 )
        hold.grip = TR_GRIP_RANGE_FIRST;
    else if ( fabsf( at.x - b ) < 7 )
        hold.grip = TR_GRIP_RANGE_LAST;
    else if ( part && at.x > a && at.x < b && at.y < ruler.y + 6 )
        hold.grip = TR_GRIP_RANGE;
    return hold;
}

// What a press there would take hold of.
static tr_time_hold pick( const tr_ui *ui, const tr_shown *shown, const tr_chart *c, struct nk_rect ruler,
                          struct nk_vec2 at )
{
    int frame = tr_nearest_frame( clampd( tr_chart_frame( c, at.x ), 0, ui->frame_count - 1 ) );
    tr_time_hold hold = { .grip = TR_GRIP_TIME, .from = frame };
    tr_row row;
    if ( at.y < ruler.y + ruler.h )
        return pick_ruler( ui, c, ruler, at );
    if ( at.y < c->area.y || !tr_rows_find( ui, shown, c->area.y - ui->timeline_rows, at.y, &row ) )
        return hold;
    if ( row.kind == TR_ITEM_LAYER ) {
        tr_time_hold layer = tr_layer_row_pick( ui, shown, c, &row, at.x );
        return layer.grip != TR_GRIP_NONE ? layer : hold;
    }
    int limb = tr_tool_get( ui->tool ) == &tr_tool_contact ? tr_row_limb( shown, &row, at.y ) : -1;
    if ( limb >= 0 )
        return tr_contacts_pick( shown, &row, limb, frame );
    if ( ( ui->modifiers & TR_MOD_CTRL ) != 0 ) {
        hold.grip = TR_GRIP_MOMENT;
        memcpy( hold.who, tr_row_id( shown, &row ), sizeof hold.who );
    }
    return hold;
}

static void put_held( const tr_shown *shown, const tr_time_hold *hold, tr_ops *ops, tr_put *put )
{
    if ( hold->grip == TR_GRIP_MOMENT )
        tr_moment_put( shown, hold, hold->now, ops, put );
    else if ( hold->grip == TR_GRIP_CONTACT )
        tr_contacts_put( shown, hold, hold->now, ops, put );
    else
        tr_layer_hold_put( shown, hold, hold->now, ops, put );
}

// Time and range follow at once.
static void move_range( tr_ui *ui, tr_time_hold *hold, int frame )
{
    int by = frame - hold->from, last = ui->frame_count - 1;
    if ( hold->grip == TR_GRIP_TIME ) {
        ui->playing = false;
        tr_play_seek( ui, frame );
    } else if ( hold->grip == TR_GRIP_RANGE_FIRST )
        ui->loop_first = frame < ui->loop_last ? frame : ui->loop_last;
    else if ( hold->grip == TR_GRIP_RANGE_LAST )
        ui->loop_last = frame > ui->loop_first ? frame : ui->loop_first;
    else if ( hold->grip == TR_GRIP_RANGE ) {
        by = by < -ui->loop_first ? -ui->loop_first : by > last - ui->loop_last ? last - ui->loop_last : by;
        ui->loop_first += by;
        ui->loop_last += by;
        hold->from += by;
    }
}

static void select_layer( tr_ui *ui, const char *id )
{
    tr_item item = tr_item_make( TR_ITEM_LAYER, id, -1 );
    tr_select( ui, &item, false );
    ui->left_tab = TR_LEFT_LAYERS;
}

// When the button goes up: what was pulled becomes ops; a mere click chooses the layer, or paints one frame.
static void let_go( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    tr_time_hold hold = ui->time;
    bool edits = hold.grip > TR_GRIP_RANGE;
    ui->time = ( tr_time_hold ){ 0 };
    if ( edits && ( hold.moved || hold.grip == TR_GRIP_CONTACT ) ) {
        const int before = ops->line_count;
        put_held( shown, &hold, ops, tr_ops_add );
        if ( hold.grip == TR_GRIP_MOMENT && ops->line_count > before ) {
            tr_id layer;
            tr_moment_layer( shown, &hold, layer );
            select_layer( ui, layer );
        }
    } else if ( edits && hold.layer[0] != 0 ) {
        select_layer( ui, hold.layer );
        tr_play_seek( ui, hold.from );
    }
}

static void hold_time( tr_ui *ui, const tr_shown *shown, const tr_chart *c, struct nk_rect ruler,
                       tr_ops *ops )
{
    const struct nk_input *in = &ui->nk->input;
    struct nk_vec2 at = in->mouse.pos;
    struct nk_rect time = nk_rect( c->area.x - 6, ruler.y, c->area.w + 12, c->area.y + c->area.h - ruler.y );
    bool over = nk_input_is_mouse_hovering_rect( in, time ) && !tr_ui_popup( ui ) && !ui->help &&
                ui->dialog == TR_DIALOG_NONE;
    bool down = in->mouse.buttons[NK_BUTTON_LEFT].down;
    int frame = tr_nearest_frame( clampd( tr_chart_frame( c, at.x ), 0, ui->frame_count - 1 ) );
    if ( ui->time.grip != TR_GRIP_NONE ) { // a quick release may come before its last motion was handled
        ui->time.moved |= fabsf( at.x - ui->time.x ) > 3;
        ui->time.now = frame;
        move_range( ui, &ui->time, frame );
    }
    if ( !down && ui->time.grip != TR_GRIP_NONE )
        let_go( ui, shown, ops );
    ui->time_hover = over && !down ? pick( ui, shown, c, ruler, at ) : ( tr_time_hold ){ 0 };
    if ( over && nk_input_is_mouse_pressed( in, NK_BUTTON_LEFT ) ) {
        ui->time = pick( ui, shown, c, ruler, at );
        ui->time.now = ui->time.from;
        ui->time.x = at.x;
        if ( ui->time.grip == TR_GRIP_MOMENT )
            tr_moment_find( shown, &ui->time );
    }
    if ( ui->time.grip == TR_GRIP_TIME ) // a click is enough
        move_range( ui, &ui->time, frame );
    bool follows =
        ui->time.grip > TR_GRIP_RANGE && ui->time.grip != TR_GRIP_CONTACT; // what is painted is seen
    if ( follows && ui->time.moved )
        put_held( shown, &ui->time, ops, tr_ops_preview );
}

// ----------------------------------------------------------------------------------------------------- hints

static void hint( tr_ui *ui, const tr_shown *shown )
{
    static const char *const texts[] = {
        [TR_GRIP_RANGE_FIRST] = "Drag: where the range that plays begins",
        [TR_GRIP_RANGE_LAST] = "Drag: where the range that plays ends",
        [TR_GRIP_RANGE] = "Drag: the range that plays",
        [TR_GRIP_LAYER_FIRST] =
            "Drag: where the layer's window begins · with Shift over how many frames it eases in",
        [TR_GRIP_LAYER_LAST] =
            "Drag: where the layer's window ends · with Shift over how many frames it eases out",
        [TR_GRIP_EASE_IN] = "Drag: over how many frames the layer eases in",
        [TR_GRIP_EASE_OUT] = "Drag: over how many frames the layer eases out",
        [TR_GRIP_LAYER] = "Drag: the layer at another time · click chooses it",
        [TR_GRIP_MOMENT] = "Drag: this moment comes earlier or later, and who is joined comes along" };
    const tr_time_hold *hold = ui->time.grip != TR_GRIP_NONE ? &ui->time : &ui->time_hover;
    int first = shown->scene->first;
    if ( hold->grip == TR_GRIP_CONTACT )
        tr_ui_hint( ui, hold->erase ? "Drag: it does not touch in these frames"
                                    : "Drag: it rests in these frames" );
    else if ( hold->grip != TR_GRIP_NONE && texts[hold->grip] != NULL && !hold->moved )
        tr_ui_hint( ui, "%s", texts[hold->grip] );
    if ( ui->time.moved && ui->time.grip > TR_GRIP_RANGE )
        tr_ui_hint( ui, "From frame %d to frame %d · Esc cancels", hold->from + first, hold->now + first );
}

// -------------------------------------------------------------------------------------------------- pointer

static void zoom( tr_ui *ui, const tr_chart *c, double notches, double x )
{
    double last = ui->frame_count > 1 ? ui->frame_count - 1 : 1, at = tr_chart_frame( c, x ),
           by = pow( 0.8, notches );
    double span = clampd( ( c->last - c->first ) * by, 8, last );
    double first = at - ( at - c->first ) * span / ( c->last - c->first );
    first = clampd( first, 0, last - span );
    ui->zoom_first = first;
    ui->zoom_last = span >= last ? first : first + span; // equal = all
}

static void click_label( tr_ui *ui, const tr_shown *shown, const tr_chart *c )
{
    const struct nk_input *in = &ui->nk->input;
    struct nk_rect labels = nk_rect( c->area.x - TR_LABEL_WIDTH, c->area.y, TR_LABEL_WIDTH - 8, c->area.h );
    tr_row row;
    if ( !nk_input_is_mouse_pressed( in, NK_BUTTON_LEFT ) || !nk_input_is_mouse_hovering_rect( in, labels ) ||
         tr_ui_popup( ui ) ||
         !tr_rows_find( ui, shown, c->area.y - ui->timeline_rows, in->mouse.pos.y, &row ) )
        return;
    tr_item item = tr_item_make( row.kind, tr_row_id( shown, &row ), -1 );
    tr_select( ui, &item, ( ui->modifiers & TR_MOD_SHIFT ) != 0 );
    if ( row.kind == TR_ITEM_LAYER )
        ui->left_tab = TR_LEFT_LAYERS;
}

static void ignore_row( void *context, const tr_row *row )
{
    (void)context;
    (void)row;
}

static void scroll( tr_ui *ui, const tr_shown *shown, const tr_chart *c )
{
    const struct nk_input *in = &ui->nk->input;
    float whole = tr_rows_each( ui, shown, 0, ignore_row, NULL ), most = fmaxf( whole - c->area.h, 0 );
    if ( in->mouse.scroll_delta.y != 0 && tr_area_has( ui->timeline, in->mouse.pos.x, in->mouse.pos.y ) &&
         !tr_ui_popup( ui ) ) {
        if ( ui->modifiers & TR_MOD_CTRL )
            zoom( ui, c, in->mouse.scroll_delta.y, in->mouse.pos.x );
        else
            ui->timeline_rows -= 2 * TR_LINE_HEIGHT * in->mouse.scroll_delta.y;
    }
    ui->timeline_rows = (float)clampd( ui->timeline_rows, 0, most );
    if ( most > 0 ) { // how much there is, and where we are
        float height = c->area.h * c->area.h / whole,
              y = c->area.y + ( c->area.h - height ) * ui->timeline_rows / most;
        nk_fill_rect( c->canvas, nk_rect( c->area.x + c->area.w + 5, y, 4, height ), 2,
                      tr_theme_dark.raised );
    }
}

// ---------------------------------------------------------------------------------------------------- panel

typedef struct painter {
    tr_ui *ui;
    const tr_shown *shown;
    const tr_chart *chart;
} painter;

static void paint_row( void *context, const tr_row *row )
{
    const painter *p = context;
    const struct nk_rect *area = &p->chart->area;
    if ( row->y + row->height >= area->y && row->y <= area->y + area->h )
        tr_row_draw( p->ui, p->shown, p->chart, row );
}

static void draw_chart( tr_ui *ui, const tr_shown *shown, tr_ops *ops, struct nk_rect area )
{
    tr_chart c = { .canvas = nk_window_get_canvas( ui->nk ),
                   .text = &shown->paint->fonts.text->handle,
                   .small = &shown->paint->fonts.small->handle };
    struct nk_rect ruler =
        nk_rect( area.x + TR_LABEL_WIDTH, area.y, area.w - TR_LABEL_WIDTH - 14, TR_RULER_HEIGHT );
    bool all = ui->zoom_last <= ui->zoom_first;
    c.area = nk_rect( ruler.x, area.y + TR_RULER_HEIGHT, ruler.w, area.h - TR_RULER_HEIGHT );
    c.first = all ? 0 : ui->zoom_first;
    c.last = all ? fmax( ui->frame_count - 1, 1 ) : ui->zoom_last;
    tr_ui_mark( ui, "ruler", ruler );
    if ( shown->stage == NULL )
        return;
    // They leave room for two rows; where that is none for six of them, quality is left to the report.
    int kinds[TR_STRIP_KINDS];
    int room = tr_int_clamped( ( c.area.h - 4 - 2 * TR_LINE_HEIGHT ) / TR_STRIP_HEIGHT, 0, TR_STRIP_KINDS );
    int count = shown->strips != NULL ? tr_strips_choose( shown->strips, room, kinds ) : 0;
    float strips = count > 0 ? TR_STRIP_HEIGHT * (float)count + 4 : 0;
    const double *unlike = tr_unlike_find( ui, shown );
    float unlike_y = ruler.y + ruler.h + 2 + strips;
    strips += unlike != NULL ? TR_STRIP_HEIGHT + 2 : 0;
    c.area.y += strips;
    c.area.h -= strips;
    hold_time( ui, shown, &c, ruler, ops );
    click_label( ui, shown, &c );
    tr_ruler_draw( ui, shown, &c, ruler );
    if ( count > 0 )
        tr_strips_draw( ui, shown, &c, ruler.y + ruler.h + 2, kinds, count );
    hint( ui, shown );
    if ( unlike != NULL )
        tr_unlike_draw( ui, shown, &c, unlike_y, unlike );
    nk_push_scissor( c.canvas, nk_rect( area.x, c.area.y, area.w, c.area.h ) );
    painter p = { ui, shown, &c };
    scroll( ui, shown, &c );
    tr_rows_each( ui, shown, c.area.y - ui->timeline_rows, paint_row, &p );
    nk_push_scissor( c.canvas, nk_rect( area.x, area.y - 2, area.w, area.h + 4 ) );
    draw_playhead( ui, &c, ruler );
}

void tr_panel_timeline( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    if ( tr_ui_dock( ui, "timeline", ui->timeline ) ) {
        tr_transport( ui, shown );
        struct nk_rect area;
        nk_layout_row_dynamic( nk, ui->timeline.height - 28 - 2 * TR_PAD - 6, 1 );
        if ( nk_widget( &area, nk ) != NK_WIDGET_INVALID )
            draw_chart( ui, shown, ops, area );
    }
    nk_end( nk );
}
