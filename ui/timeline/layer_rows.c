// Layers on the timeline: their windows as bars with ramps where they ease, their sections as ticks, their
// handles as dots; all of it can be pulled.
#include "ui/timeline/private.h"

#include <stdio.h>
#include <string.h>

static const float end_reach = 5, tick_reach = 4; // points

// The layer on the stage's time: its window may have been moved by retimings above it. While the stage is a
// solve behind, the document's own word counts.
static const tr_layer *on_stage( const tr_shown *shown, int layer )
{
    const tr_layer *own = &shown->scene->layers[layer];
    int at = shown->stage->times != NULL ? tr_scene_find_layer( shown->stage->scene, own->id ) : -1;
    return at >= 0 ? &shown->stage->scene->layers[at] : own;
}

// Where the window of a layer goes while the pointer has an end or the whole of it, before that is solved.
static void follow_pointer( const tr_ui *ui, const tr_layer *layer, double *first, double *last )
{
    const tr_time_hold *hold = &ui->time;
    if ( !hold->moved || strcmp( hold->layer, layer->id ) != 0 )
        return;
    if ( hold->grip == TR_GRIP_LAYER_FIRST )
        *first = fmin( hold->now, *last - 2 );
    else if ( hold->grip == TR_GRIP_LAYER_LAST )
        *last = fmax( hold->now, *first + 2 );
    else if ( hold->grip == TR_GRIP_LAYER ) {
        *first += hold->now - hold->from;
        *last += hold->now - hold->from;
    }
}

// And its ramps.
static void follow_ease( const tr_ui *ui, const tr_layer *layer, double first, double last, double ease[2] )
{
    const tr_time_hold *hold = &ui->time;
    bool mine = hold->moved && strcmp( hold->layer, layer->id ) == 0;
    ease[0] = mine && hold->grip == TR_GRIP_EASE_IN ? fmax( first - hold->now, 0 ) : layer->ease_in;
    ease[1] = mine && hold->grip == TR_GRIP_EASE_OUT ? fmax( hold->now - last, 0 ) : layer->ease_out;
}

void tr_layer_window( const tr_shown *shown, int layer, double *first, double *last )
{
    const tr_layer *l = on_stage( shown, layer );
    int begin = shown->scene->first;
    *first = l->first - begin > 0 ? l->first - begin : 0;
    *last = l->last - begin < shown->stage->frame_count - 1 ? l->last - begin : shown->stage->frame_count - 1;
}

static struct nk_color colour_of( const tr_shown *shown, int layer, int alpha )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_color colour = shown->scene->layers[layer].kind == TR_LAYER_CAGE ? t->good : t->cool;
    colour = tr_layer_is_active( shown->scene, layer ) ? colour : t->faint;
    colour.a = (nk_byte)alpha;
    return colour;
}

// -------------------------------------------------------------------------------------------------- moments

// What of a layer stands at single frames: the sections of a cage, the keys of a retiming. Stage frames.
static int tick_count( const tr_shown *shown, int layer )
{
    const tr_cage_outline *cage = tr_session_cage( shown->session, shown->scene->layers[layer].id );
    return shown->scene->layers[layer].kind == TR_LAYER_CAGE ? ( cage != NULL ? cage->section_count : 0 )
                                                             : shown->scene->section_count;
}

static bool tick_at( const tr_shown *shown, int layer, int i, double *frame, const char **section )
{
    const tr_scene *scene = shown->scene;
    *section = "";
    if ( scene->layers[layer].kind == TR_LAYER_CAGE ) {
        *frame = tr_session_cage( shown->session, scene->layers[layer].id )->frames[i];
        return true;
    }
    *frame = scene->sections[i].frame - scene->first + scene->sections[i].delay;
    *section = scene->sections[i].id;
    return strcmp( scene->sections[i].layer, scene->layers[layer].id ) == 0;
}

// -------------------------------------------------------------------------------------------------- picking

tr_time_hold tr_layer_row_pick( const tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row,
                                float x )
{
    const tr_layer *layer = &shown->scene->layers[row->index];
    bool shift = ( ui->modifiers & TR_MOD_SHIFT ) != 0, cage = layer->kind == TR_LAYER_CAGE;
    double first, last;
    tr_layer_window( shown, row->index, &first, &last );
    float a = tr_chart_x( c, first ), b = tr_chart_x( c, last );
    tr_time_hold hold = { .grip = TR_GRIP_NONE, .from = tr_nearest_frame( tr_chart_frame( c, x ) ) };
    memcpy( hold.layer, layer->id, sizeof hold.layer );
    if ( fabsf( x - a ) <= end_reach )
        hold.grip = cage && shift ? TR_GRIP_EASE_IN : TR_GRIP_LAYER_FIRST;
    else if ( fabsf( x - b ) <= end_reach )
        hold.grip = cage && shift ? TR_GRIP_EASE_OUT : TR_GRIP_LAYER_LAST;
    else if ( cage && fabsf( x - tr_chart_x( c, first - layer->ease_in ) ) <= end_reach )
        hold.grip = TR_GRIP_EASE_IN;
    else if ( cage && fabsf( x - tr_chart_x( c, last + layer->ease_out ) ) <= end_reach )
        hold.grip = TR_GRIP_EASE_OUT;
    else if ( x > a && x < b )
        hold.grip = TR_GRIP_LAYER;
    for ( int i = 0; hold.grip == TR_GRIP_LAYER && i < tick_count( shown, row->index ); ++i ) {
        double frame;
        const char *section;
        if ( tick_at( shown, row->index, i, &frame, &section ) &&
             fabsf( x - tr_chart_x( c, frame ) ) <= tick_reach ) {
            hold.grip = TR_GRIP_MOMENT;
            hold.from = tr_nearest_frame( frame );
            snprintf( hold.section, sizeof hold.section, "%s", section );
        }
    }
    return hold;
}

// -------------------------------------------------------------------------------------------------- drawing

static void ramp( const tr_chart *c, double foot, double top, float y, float height, struct nk_color colour )
{
    float a = tr_chart_x( c, foot ), b = tr_chart_x( c, top );
    if ( fabsf( a - b ) > 0.5f )
        nk_fill_triangle( c->canvas, a, y + height, b, y, b, y + height, colour );
}

static void draw_ticks( const tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row,
                        const tr_time_hold *lit )
{
    const tr_theme *t = &tr_theme_dark;
    for ( int i = 0; i < tick_count( shown, row->index ); ++i ) {
        double frame;
        const char *section;
        if ( !tick_at( shown, row->index, i, &frame, &section ) )
            continue;
        bool on = lit != NULL && lit->grip == TR_GRIP_MOMENT && lit->from == tr_nearest_frame( frame ) &&
                  ui->time.grip == TR_GRIP_NONE;
        float x = tr_chart_x( c, frame );
        nk_stroke_line( c->canvas, x, row->y + 4, x, row->y + TR_LINE_HEIGHT - 4, on ? 3 : 1.5f,
                        on ? t->accent : colour_of( shown, row->index, 230 ) );
    }
}

static void draw_handles( const tr_shown *shown, const tr_chart *c, const tr_row *row )
{
    const tr_scene *scene = shown->stage->times != NULL ? shown->stage->scene : shown->scene;
    for ( int i = 0; i < scene->handle_count; ++i ) {
        const tr_handle *handle = &scene->handles[i];
        if ( strcmp( handle->layer, shown->scene->layers[row->index].id ) != 0 )
            continue;
        float x = tr_chart_x( c, handle->frame - scene->first ), y = row->y + 0.5f * TR_LINE_HEIGHT;
        nk_fill_circle( c->canvas, nk_rect( x - 4, y - 4, 8, 8 ), tr_theme_dark.ground );
        if ( handle->pinned )
            nk_fill_circle( c->canvas, nk_rect( x - 3, y - 3, 6, 6 ), colour_of( shown, row->index, 255 ) );
        else
            nk_stroke_circle( c->canvas, nk_rect( x - 3, y - 3, 6, 6 ), 1,
                              colour_of( shown, row->index, 255 ) );
    }
}

// Where the pointer has what it holds, before it is solved.
static void draw_held( const tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row )
{
    bool mine = ui->time.moved && strcmp( ui->time.layer, shown->scene->layers[row->index].id ) == 0;
    float x = tr_chart_x( c, ui->time.now );
    if ( mine && ui->time.grip != TR_GRIP_NONE && ui->time.grip != TR_GRIP_LAYER )
        nk_stroke_line( c->canvas, x, row->y + 1, x, row->y + TR_LINE_HEIGHT - 1, 2, tr_theme_dark.accent );
}

static void draw_ends( const tr_chart *c, const tr_row *row, double first, double last,
                       const tr_time_hold *lit, struct nk_color colour )
{
    const tr_theme *t = &tr_theme_dark;
    const double at[2] = { first, last };
    for ( int i = 0; i < 2; ++i ) {
        bool on = lit != NULL && (int)lit->grip == TR_GRIP_LAYER_FIRST + i;
        nk_fill_rect( c->canvas, nk_rect( tr_chart_x( c, at[i] ) - 2, row->y + 3, 4, TR_LINE_HEIGHT - 6 ), 1,
                      on ? t->accent : colour );
    }
}

void tr_layer_row_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row )
{
    const tr_theme *t = &tr_theme_dark;
    const tr_layer *layer = &shown->scene->layers[row->index];
    const char *current = tr_layer_current( ui, shown->scene );
    bool on = current != NULL && strcmp( current, layer->id ) == 0;
    const tr_time_hold *lit = strcmp( ui->time_hover.layer, layer->id ) == 0 ? &ui->time_hover : NULL;
    double first, last;
    float left = c->area.x - TR_LABEL_WIDTH, top = row->y + 5, height = TR_LINE_HEIGHT - 10;
    char spot[64];
    tr_layer_window( shown, row->index, &first, &last );
    follow_pointer( ui, layer, &first, &last );
    double ease[2];
    follow_ease( ui, layer, first, last, ease );
    if ( on )
        nk_fill_rect( c->canvas, nk_rect( left, row->y, TR_LABEL_WIDTH + c->area.w, TR_LINE_HEIGHT ), 0,
                      nk_rgba( 255, 176, 59, 22 ) );
    nk_fill_rect( c->canvas, nk_rect( left + 10, row->y + 7, 10, 8 ), 2,
                  colour_of( shown, row->index, 255 ) );
    char name[TR_ID_MAX + 4];
    tr_ui_fit( name, sizeof name, layer->id, c->text, TR_LABEL_WIDTH - 36 );
    tr_ui_text_at( c->canvas, c->text, left + 28, row->y + 3, name,
                   on                                               ? t->accent
                   : tr_layer_is_active( shown->scene, row->index ) ? t->text
                                                                    : t->faint );
    nk_push_scissor( c->canvas, nk_rect( c->area.x - 3, c->area.y, c->area.w + 6, c->area.h ) );
    ramp( c, first - ease[0], first, top, height, colour_of( shown, row->index, 70 ) );
    ramp( c, last + ease[1], last, top, height, colour_of( shown, row->index, 70 ) );
    float a = tr_chart_x( c, first ), b = tr_chart_x( c, last );
    nk_fill_rect( c->canvas, nk_rect( a, top, b - a, height ), 0, colour_of( shown, row->index, 110 ) );
    draw_ends( c, row, first, last, lit, colour_of( shown, row->index, 255 ) );
    draw_ticks( ui, shown, c, row, lit );
    draw_handles( shown, c, row );
    draw_held( ui, shown, c, row );
    nk_push_scissor( c->canvas, nk_rect( left, c->area.y, TR_LABEL_WIDTH + c->area.w + 14, c->area.h ) );
    snprintf( spot, sizeof spot, "window.%s", layer->id );
    tr_ui_mark( ui, spot, nk_rect( a, row->y, b - a, TR_LINE_HEIGHT ) );
}

// ------------------------------------------------------------------------------------------------------ ops

// The whole of it at another time: window, sections and handles.
static void put_shift( const tr_scene *scene, const tr_layer *layer, int by, tr_ops *ops, tr_put *put )
{
    if ( layer->first > -TR_MAX_FRAMES || layer->last < TR_MAX_FRAMES )
        put( ops, "layer_set id=%s range=%d,%d", layer->id, layer->first + by, layer->last + by );
    for ( int i = 0; i < scene->section_count; ++i )
        if ( strcmp( scene->sections[i].layer, layer->id ) == 0 )
            put( ops, "section_set id=%s frame=%d", scene->sections[i].id, scene->sections[i].frame + by );
    for ( int i = 0; i < scene->handle_count; ++i )
        if ( strcmp( scene->handles[i].layer, layer->id ) == 0 )
            put( ops, "handle_set id=%s frame=%d", scene->handles[i].id, scene->handles[i].frame + by );
}

void tr_layer_hold_put( const tr_shown *shown, const tr_time_hold *hold, int now, tr_ops *ops, tr_put *put )
{
    const tr_scene *scene = shown->scene;
    int i = tr_scene_find_layer( scene, hold->layer );
    if ( i < 0 )
        return;
    const tr_layer *layer = &scene->layers[i];
    int from = tr_stage_document_frame( shown->stage, scene, layer->members, i + 1, hold->from ),
        to = tr_stage_document_frame( shown->stage, scene, layer->members, i + 1, now );
    int first = layer->first > scene->first ? layer->first : scene->first,
        last = layer->last < scene->last ? layer->last : scene->last;
    switch ( hold->grip ) {
    case TR_GRIP_LAYER_FIRST:
        put( ops, "layer_set id=%s range=%d,%d", layer->id, to < last - 2 ? to : last - 2, last );
        break;
    case TR_GRIP_LAYER_LAST:
        put( ops, "layer_set id=%s range=%d,%d", layer->id, first, to > first + 2 ? to : first + 2 );
        break;
    case TR_GRIP_EASE_IN:
        put( ops, "layer_set id=%s ease=%d,%.0f", layer->id, to < first ? first - to : 0, layer->ease_out );
        break;
    case TR_GRIP_EASE_OUT:
        put( ops, "layer_set id=%s ease=%.0f,%d", layer->id, layer->ease_in, to > last ? to - last : 0 );
        break;
    case TR_GRIP_LAYER:
        if ( to != from )
            put_shift( scene, layer, to - from, ops, put );
        break;
    default: break;
    }
}
