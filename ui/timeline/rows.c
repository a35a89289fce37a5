// Rows of the timeline: characters with the contacts of their hands and feet, props with their holders.
#include "ui/timeline/private.h"

#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------- lanes

// Hands and feet get a lane each: limbs that end in one of them, left to right as the skeleton has them.
static bool has_lane( const tr_skeleton *skeleton, int limb )
{
    return limb >= 0 && limb < skeleton->limb_count &&
           ( skeleton->limbs[limb].kind == TR_LIMB_ARM || skeleton->limbs[limb].kind == TR_LIMB_LEG );
}

static int lane_of( const tr_skeleton *skeleton, int limb )
{
    int lane = 0;
    for ( int i = 0; i < limb; ++i )
        lane += has_lane( skeleton, i );
    return lane;
}

static const tr_skeleton *skeleton_of( const tr_shown *shown, const tr_row *row )
{
    return &shown->stage->actors[row->index].source.skeleton;
}

float tr_row_lane( const tr_shown *shown, const tr_row *row, int limb, float *height )
{
    const tr_skeleton *skeleton = skeleton_of( shown, row );
    int lanes = lane_of( skeleton, skeleton->limb_count ), lane = lane_of( skeleton, limb );
    float step = row->open ? TR_LANE_HEIGHT : ( row->height - 6 ) / (float)( lanes > 0 ? lanes : 1 );
    *height = row->open ? TR_LANE_HEIGHT - 6 : fmaxf( step - 1, 1.5f );
    return ( row->open ? row->y + TR_LINE_HEIGHT + 3 : row->y + 3 ) + step * (float)lane;
}

int tr_row_limb( const tr_shown *shown, const tr_row *row, float y )
{
    const tr_skeleton *skeleton = row->kind == TR_ITEM_CAST ? skeleton_of( shown, row ) : NULL;
    for ( int i = 0; skeleton != NULL && i < skeleton->limb_count; ++i ) {
        float height, margin = row->open ? 3 : 0.5f;
        if ( !has_lane( skeleton, i ) )
            continue;
        float top = tr_row_lane( shown, row, i, &height );
        if ( y >= top - margin && y < top + height + margin )
            return i;
    }
    return -1;
}

static void draw_actor_row( tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row )
{
    const tr_theme *t = &tr_theme_dark;
    const tr_skeleton *skeleton = skeleton_of( shown, row );
    for ( int i = 0; row->open && i < skeleton->limb_count; ++i ) {
        if ( !has_lane( skeleton, i ) )
            continue;
        float height, top = tr_row_lane( shown, row, i, &height ) - 3;
        char name[48], spot[96];
        snprintf( name, sizeof name, "%s", skeleton->limbs[i].name );
        snprintf( spot, sizeof spot, "lane.%s.%s", tr_row_id( shown, row ), name );
        tr_ui_mark( ui, spot, nk_rect( c->area.x, top, c->area.w, TR_LANE_HEIGHT ) );
        for ( char *at = name; *at != 0; ++at )
            *at = *at == '_' ? ' ' : *at;
        tr_ui_text_at( c->canvas, c->small, c->area.x - TR_LABEL_WIDTH + 34, top + 1, name, t->dim );
        nk_stroke_line( c->canvas, c->area.x, top + TR_LANE_HEIGHT - 1, c->area.x + c->area.w,
                        top + TR_LANE_HEIGHT - 1, 1, t->well );
    }
    tr_contacts_draw( ui, shown, c, row );
}

// --------------------------------------------------------------------------------------------------- props

// Index of the character that a rule lets hold the prop, -1 = it is no such rule.
static int holder_of( const tr_scene *scene, const tr_constraint *k, const char *prop )
{
    if ( k->kind != TR_CONSTRAINT_RELATIVE )
        return -1;
    if ( strcmp( k->b.who, prop ) == 0 )
        return tr_scene_find_cast( scene, k->a.who );
    return strcmp( k->a.who, prop ) == 0 ? tr_scene_find_cast( scene, k->b.who ) : -1;
}

static void draw_hand_off( const tr_chart *c, double frame, float y )
{
    float x = tr_chart_x( c, frame ), m = y + 0.5f * TR_LINE_HEIGHT;
    float points[8] = { x, m - 5, x + 5, m, x, m + 5, x - 5, m };
    if ( x > c->area.x && x < c->area.x + c->area.w )
        nk_fill_polygon( c->canvas, points, 4, tr_theme_dark.text );
}

// The holder of a prop, by the rules of the document; with two at once it is handed over.
static void draw_prop_row( const tr_chart *c, const tr_shown *shown, const tr_row *row )
{
    const tr_scene *scene = shown->stage->scene;
    const char *id = scene->props[row->index].id;
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *k = &scene->constraints[i];
        int who = holder_of( scene, k, id );
        if ( who < 0 )
            continue;
        const float *rgb = scene->cast[who].colour;
        tr_chart_bar( c, k->first - scene->first, k->last - scene->first, row->y + 6, TR_LINE_HEIGHT - 12,
                      nk_rgb_f( rgb[0], rgb[1], rgb[2] ) );
    }
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *a = &scene->constraints[i];
        int giver = holder_of( scene, a, id );
        for ( int n = 0; giver >= 0 && n < scene->constraint_count; ++n ) {
            const tr_constraint *b = &scene->constraints[n];
            int taker = holder_of( scene, b, id );
            if ( taker >= 0 && taker != giver && b->first > a->first && b->first <= a->last )
                draw_hand_off( c, 0.5 * ( b->first + a->last ) - scene->first, row->y );
        }
    }
}

// ---------------------------------------------------------------------------------------------------- rows

const char *tr_row_id( const tr_shown *shown, const tr_row *row )
{
    const tr_scene *scene = shown->stage->scene;
    return row->kind == TR_ITEM_LAYER  ? shown->scene->layers[row->index].id
           : row->kind == TR_ITEM_CAST ? scene->cast[row->index].id
                                       : scene->props[row->index].id;
}

void tr_row_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row )
{
    const tr_theme *t = &tr_theme_dark;
    const tr_scene *scene = shown->stage->scene;
    float left = c->area.x - TR_LABEL_WIDTH, bottom = row->y + row->height;
    if ( row->kind == TR_ITEM_LAYER ) {
        tr_layer_row_draw( ui, shown, c, row );
        nk_stroke_line( c->canvas, left, bottom, c->area.x + c->area.w, bottom, 1, t->edge );
        return;
    }
    const char *id = tr_row_id( shown, row );
    const float *rgb =
        row->kind == TR_ITEM_CAST ? scene->cast[row->index].colour : scene->props[row->index].colour;
    bool on = tr_ui_selected( ui, row->kind, id );
    if ( on )
        nk_fill_rect( c->canvas, nk_rect( left, row->y, TR_LABEL_WIDTH + c->area.w, TR_LINE_HEIGHT ), 0,
                      nk_rgba( 255, 176, 59, 22 ) );
    nk_fill_circle( c->canvas, nk_rect( left + 10, row->y + 0.5f * TR_LINE_HEIGHT - 5, 10, 10 ),
                    nk_rgb_f( rgb[0], rgb[1], rgb[2] ) );
    char name[TR_ID_MAX + 4];
    tr_ui_fit( name, sizeof name, id, c->text, TR_LABEL_WIDTH - 36 );
    tr_ui_text_at( c->canvas, c->text, left + 28, row->y + 3, name, on ? t->accent : t->text );
    nk_stroke_line( c->canvas, left, bottom, c->area.x + c->area.w, bottom, 1, t->edge );
    if ( row->kind == TR_ITEM_CAST )
        draw_actor_row( ui, shown, c, row );
    else
        draw_prop_row( c, shown, row );
}

static float body_height( const tr_shown *shown, const tr_row *row )
{
    if ( !row->open )
        return TR_LINE_HEIGHT;
    const tr_skeleton *skeleton = skeleton_of( shown, row );
    return TR_LINE_HEIGHT + TR_LANE_HEIGHT * (float)lane_of( skeleton, skeleton->limb_count );
}

float tr_rows_each( const tr_ui *ui, const tr_shown *shown, float top,
                    void ( *visit )( void *context, const tr_row *row ), void *context )
{
    const tr_scene *scene = shown->stage->scene;
    float y = top;
    for ( int i = shown->scene->layer_count - 1; i >= 0; --i, y += TR_LINE_HEIGHT )
        visit( context, &( tr_row ){ TR_ITEM_LAYER, i, false, y, TR_LINE_HEIGHT } );
    for ( int pass = 0; pass < 2; ++pass )
        for ( int i = 0; i < scene->cast_count + scene->prop_count; ++i ) {
            bool actor = i < scene->cast_count;
            tr_row row = { .kind = actor ? TR_ITEM_CAST : TR_ITEM_PROP,
                           .index = actor ? i : i - scene->cast_count,
                           .open = actor && pass == 0,
                           .y = y };
            const char *id = tr_row_id( shown, &row );
            if ( tr_ui_selected( ui, row.kind, id ) != ( pass == 0 ) ||
                 ( actor && !tr_cast_visible( ui, id ) ) )
                continue;
            row.height = body_height( shown, &row );
            visit( context, &row );
            y += row.height;
        }
    return y - top;
}

typedef struct finder {
    float y;
    tr_row found;
    bool hit;
} finder;

static void find_row( void *context, const tr_row *row )
{
    finder *f = context;
    if ( f->y >= row->y && f->y < row->y + row->height ) {
        f->found = *row;
        f->hit = true;
    }
}

bool tr_rows_find( const tr_ui *ui, const tr_shown *shown, float top, float y, tr_row *out )
{
    finder f = { .y = y };
    tr_rows_each( ui, shown, top, find_row, &f );
    *out = f.found;
    return f.hit;
}
