// The timeline: transport, ruler with the range that plays, and a row for every character and prop with its
// contacts and holders.
#include "ui/app.h"

#include <stdio.h>
#include <string.h>

static const float label_width = 148, ruler_height = 24, row_height = 22, lane_height = 16;

typedef struct chart {   // where frames are on the window
    struct nk_rect area; // of the frames, without labels
    double first, last;  // frames at its edges
    struct nk_command_buffer *canvas;
    const struct nk_user_font *text, *small;
} chart;

static float x_of( const chart *c, double frame )
{
    return c->area.x + c->area.w * (float)( ( frame - c->first ) / fmax( c->last - c->first, 1e-6 ) );
}

static double frame_at( const chart *c, double x )
{
    return c->first + ( x - c->area.x ) / fmax( c->area.w, 1.0 ) * ( c->last - c->first );
}

// ------------------------------------------------------------------------------------------------ transport

static void time_text( const tr_ui *ui, const tr_shown *shown, int frame, char *out, size_t size )
{
    if ( ui->seconds )
        snprintf( out, size, "%.2f s", frame / fmax( shown->scene->fps, 1e-6 ) );
    else
        snprintf( out, size, "%d", frame + shown->scene->first );
}

static void speed_choice( tr_ui *ui )
{
    static const double speeds[] = { 0.1, 0.25, 0.5, 1.0, 2.0 };
    char label[16];
    snprintf( label, sizeof label, "%g×", ui->speed );
    if ( !nk_combo_begin_label( ui->nk, label, nk_vec2( 80, 168 ) ) )
        return;
    nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
    for ( size_t i = 0; i < sizeof speeds / sizeof speeds[0]; ++i ) {
        snprintf( label, sizeof label, "%g×", speeds[i] );
        if ( nk_combo_item_label( ui->nk, label, NK_TEXT_LEFT ) ) {
            ui->speed = speeds[i];
            ui->position = -1.0;
        }
    }
    nk_combo_end( ui->nk );
}

static void transport( tr_ui *ui, const tr_shown *shown )
{
    struct nk_context *nk = ui->nk;
    char now[32], last[32], range[96];
    const struct {
        const char *spot;
        tr_icon icon;
        const char *tip;
    } buttons[] = { { "first", TR_ICON_FIRST, "To the beginning (Home)" },
                    { "back", TR_ICON_BACK, "Frame back (Left)" },
                    { "play", ui->playing ? TR_ICON_PAUSE : TR_ICON_PLAY, "Play or pause (Space)" },
                    { "forward", TR_ICON_FORWARD, "Frame on (Right)" },
                    { "last", TR_ICON_LAST, "To the end (End)" },
                    { "loop", TR_ICON_LOOP, "Loop (L)" } };
    nk_layout_row_begin( nk, NK_STATIC, 28, 16 );
    int pressed = -1;
    for ( int i = 0; i < 6; ++i ) {
        nk_layout_row_push( nk, 30 );
        bool on = i == 5 ? ui->loop : i == 2 && ui->playing;
        if ( tr_ui_icon( ui, buttons[i].spot, buttons[i].icon, on, buttons[i].tip ) )
            pressed = i;
    }
    switch ( pressed ) {
    case 0: tr_play_seek( ui, ui->loop_first ); break;
    case 1: tr_play_seek( ui, ui->frame - 1 ); break;
    case 2: tr_play_toggle( ui ); break;
    case 3: tr_play_seek( ui, ui->frame + 1 ); break;
    case 4: tr_play_seek( ui, ui->loop_last ); break;
    case 5: ui->loop = !ui->loop; break;
    default: break;
    }
    nk_layout_row_push( nk, 64 );
    tr_ui_mark( ui, "speed", nk_widget_bounds( nk ) );
    speed_choice( ui );
    nk_layout_row_push( nk, 96 );
    tr_ui_mark( ui, "seconds", nk_widget_bounds( nk ) );
    if ( nk_button_label( nk, ui->seconds ? "Seconds" : "Frames" ) )
        ui->seconds = !ui->seconds;
    time_text( ui, shown, ui->frame, now, sizeof now );
    time_text( ui, shown, ui->frame_count > 0 ? ui->frame_count - 1 : 0, last, sizeof last );
    nk_style_push_font( nk, &shown->paint->fonts.strong->handle );
    nk_layout_row_push( nk, 70 );
    nk_label_colored( nk, now, NK_TEXT_RIGHT, tr_theme_dark.accent );
    nk_style_pop_font( nk );
    nk_layout_row_push( nk, 340 );
    char a[32], b[32];
    time_text( ui, shown, ui->loop_first, a, sizeof a );
    time_text( ui, shown, ui->loop_last, b, sizeof b );
    snprintf( range, sizeof range, "/ %s      range %s – %s      %g frames per second", last, a, b,
              shown->scene->fps );
    nk_label_colored( nk, range, NK_TEXT_LEFT, tr_theme_dark.dim );
    nk_layout_row_end( nk );
}

// ---------------------------------------------------------------------------------------------------- ruler

// A step of 1, 2 or 5 times a power of ten that leaves room for a label.
static double tick_step( const chart *c, double unit )
{
    double per_point = ( c->last - c->first ) / fmax( c->area.w, 1.0 ) / unit, least = 64 * per_point;
    double power = pow( 10.0, floor( log10( fmax( least, 1e-9 ) ) ) );
    double step = least <= power       ? power
                  : least <= 2 * power ? 2 * power
                  : least <= 5 * power ? 5 * power
                                       : 10 * power;
    return step * unit;
}

static void draw_ruler( const tr_ui *ui, const tr_shown *shown, const chart *c, struct nk_rect ruler )
{
    const tr_theme *t = &tr_theme_dark;
    double unit = ui->seconds ? shown->scene->fps : 1.0, step = tick_step( c, unit );
    nk_fill_rect( c->canvas, ruler, 0, t->well );
    float a = x_of( c, ui->loop_first ), b = x_of( c, ui->loop_last );
    nk_fill_rect( c->canvas, nk_rect( a, ruler.y, b - a, 5 ), 2, ui->loop ? t->accent_dark : t->raised );
    nk_fill_rect( c->canvas, nk_rect( a - 2, ruler.y, 4, 9 ), 2, t->accent );
    nk_fill_rect( c->canvas, nk_rect( b - 2, ruler.y, 4, 9 ), 2, t->accent );
    double offset = ui->seconds ? 0.0 : fmod( shown->scene->first, step );
    for ( double f = ceil( ( c->first + offset ) / step ) * step - offset; f <= c->last + 1e-9; f += step ) {
        char label[32];
        float x = x_of( c, f );
        if ( ui->seconds )
            snprintf( label, sizeof label, "%g s", f / unit );
        else
            snprintf( label, sizeof label, "%d", (int)lround( f ) + shown->scene->first );
        nk_stroke_line( c->canvas, x, ruler.y + ruler.h - 6, x, ruler.y + ruler.h, 1, t->faint );
        tr_ui_text_at( c->canvas, c->small, x + 3, ruler.y + 8, label, t->dim );
    }
}

// -------------------------------------------------------------------------------------------------- strips

static const float strip_height = 13;

// Green up to `fine`, then from amber to red.
static struct nk_color heat( const tr_strip *s, double value )
{
    double t = clampd( ( value - s->fine ) / fmax( s->bad - s->fine, 1e-9 ), 0.0, 1.0 );
    if ( value <= s->fine )
        return nk_rgba( 70, 160, 110, 70 );
    t = ceil( 6.0 * t ) / 6.0; // few shades, so that neighbours can be drawn as one
    return nk_rgba( 240, (int)lerpd( 176, 60, t ), 50, (int)lerpd( 120, 255, t ) );
}

// By how much the result is worse than the source, at worst, in the frames a point of the window stands for.
static double worst_of( const tr_strip *s, int count, double first, double last )
{
    double worst = 0.0;
    for ( int f = (int)fmax( first, 0 ); f < count && f <= (int)last; ++f )
        worst = fmax( worst, s->out[f] - s->source[f] );
    return worst;
}

// Neighbours of one colour are one rectangle: there are few, and each costs when there is no graphics card.
static void draw_strip( const chart *c, const tr_strip *s, int frame_count, float y )
{
    const float step = 3; // points
    float begin = c->area.x, end = c->area.x + c->area.w;
    struct nk_color colour = { 0 };
    for ( float x = begin; x < end + step; x += step ) {
        double worst = worst_of( s, frame_count, frame_at( c, x ), frame_at( c, x + step ) );
        struct nk_color next = x < end ? heat( s, worst ) : ( struct nk_color ){ 0 };
        if ( memcmp( &next, &colour, sizeof next ) == 0 )
            continue;
        if ( x > begin && colour.a > 0 )
            nk_fill_rect( c->canvas, nk_rect( begin, y + 2, fminf( x, end ) - begin, strip_height - 4 ), 0,
                          colour );
        begin = x;
        colour = next;
    }
}

static void draw_strips( tr_ui *ui, const tr_shown *shown, const chart *c, float top )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_vec2 mouse = ui->nk->input.mouse.pos;
    for ( int k = 0; k < TR_STRIP_KINDS; ++k ) {
        const tr_strip *s = &shown->strips->items[k];
        float y = top + strip_height * (float)k;
        tr_ui_text_at( c->canvas, c->small, c->area.x - label_width + 10, y - 1, s->name, t->dim );
        draw_strip( c, s, shown->strips->frame_count, y );
        int frame = (int)lround( frame_at( c, mouse.x ) );
        bool over = mouse.y >= y && mouse.y < y + strip_height && mouse.x >= c->area.x;
        if ( over && frame >= 0 && frame < shown->strips->frame_count )
            tr_ui_hint( ui, "%s at frame %d: %.3g %s, in the source %.3g · click jumps there", s->name,
                        frame + shown->scene->first, s->out[frame], s->unit, s->source[frame] );
    }
}

static void draw_playhead( const tr_ui *ui, const chart *c, struct nk_rect ruler )
{
    const tr_theme *t = &tr_theme_dark;
    float x = x_of( c, ui->frame );
    if ( x < c->area.x - 1 || x > c->area.x + c->area.w + 1 )
        return;
    nk_stroke_line( c->canvas, x, ruler.y, x, c->area.y + c->area.h, 1.5f, t->accent );
    nk_fill_triangle( c->canvas, x - 6, ruler.y, x + 6, ruler.y, x, ruler.y + 9, t->accent );
}

// ----------------------------------------------------------------------------------------------------- rows

typedef struct row {
    tr_item_kind kind;
    int index; // on the stage
    bool open; // a lane with a name for each limb
    float height;
} row;

static void bar( const chart *c, double first, double last, float y, float height, struct nk_color colour )
{
    float a = fmaxf( x_of( c, first ), c->area.x ), b = fminf( x_of( c, last + 1.0 ), c->area.x + c->area.w );
    if ( b > a )
        nk_fill_rect( c->canvas, nk_rect( a, y, fmaxf( b - a - 0.5f, 1.0f ), height ), 0, colour );
}

// Hands and feet get a lane each: limbs that end in one of them, left to right as the skeleton has them.
static int lane_of( const tr_skeleton *skeleton, int limb )
{
    int lane = 0;
    for ( int i = 0; i < limb; ++i )
        lane += skeleton->limbs[i].kind == TR_LIMB_ARM || skeleton->limbs[i].kind == TR_LIMB_LEG;
    return lane;
}

static bool has_lane( const tr_skeleton *skeleton, int limb )
{
    return limb >= 0 && limb < skeleton->limb_count &&
           ( skeleton->limbs[limb].kind == TR_LIMB_ARM || skeleton->limbs[limb].kind == TR_LIMB_LEG );
}

static int lane_count( const tr_skeleton *skeleton )
{
    return lane_of( skeleton, skeleton->limb_count );
}

static struct nk_color surface_colour( tr_surface_kind kind )
{
    const tr_theme *t = &tr_theme_dark;
    return kind == TR_SURFACE_GROUND ? t->contact : kind == TR_SURFACE_PROP ? t->prop : t->cool;
}

static void draw_contacts( const chart *c, const tr_actor *actor, const row *r, float y )
{
    const tr_skeleton *skeleton = &actor->source.skeleton;
    int lanes = lane_count( skeleton );
    float step = r->open ? lane_height : ( r->height - 6 ) / (float)( lanes > 0 ? lanes : 1 );
    float top = r->open ? y + row_height : y + 3,
          height = r->open ? lane_height - 6 : fmaxf( step - 1, 1.5f );
    for ( int i = 0; i < actor->contacts.count; ++i ) {
        const tr_contact *contact = &actor->contacts.items[i];
        int limb = skeleton->joints[contact->joint].limb;
        if ( has_lane( skeleton, limb ) )
            bar( c, contact->first, contact->last,
                 top + step * (float)lane_of( skeleton, limb ) + ( r->open ? 3 : 0 ), height,
                 surface_colour( contact->surface ) );
    }
}

static void draw_actor_row( const chart *c, const tr_shown *shown, const row *r, float y )
{
    const tr_theme *t = &tr_theme_dark;
    const tr_actor *actor = &shown->stage->actors[r->index];
    const tr_skeleton *skeleton = &actor->source.skeleton;
    for ( int i = 0; r->open && i < skeleton->limb_count; ++i ) {
        if ( !has_lane( skeleton, i ) )
            continue;
        float top = y + row_height + lane_height * (float)lane_of( skeleton, i );
        char name[48];
        snprintf( name, sizeof name, "%s", skeleton->limbs[i].name );
        for ( char *at = name; *at != 0; ++at )
            *at = *at == '_' ? ' ' : *at;
        tr_ui_text_at( c->canvas, c->small, c->area.x - label_width + 34, top + 1, name, t->dim );
        nk_stroke_line( c->canvas, c->area.x, top + lane_height - 1, c->area.x + c->area.w,
                        top + lane_height - 1, 1, t->well );
    }
    draw_contacts( c, actor, r, y );
}

// Index of the character that a rule lets hold the prop, -1 = it is no such rule.
static int holder_of( const tr_scene *scene, const tr_constraint *k, const char *prop )
{
    if ( k->kind != TR_CONSTRAINT_RELATIVE )
        return -1;
    if ( strcmp( k->b.who, prop ) == 0 )
        return tr_scene_find_cast( scene, k->a.who );
    return strcmp( k->a.who, prop ) == 0 ? tr_scene_find_cast( scene, k->b.who ) : -1;
}

static void draw_hand_off( const chart *c, double frame, float y )
{
    float x = x_of( c, frame ), m = y + 0.5f * row_height;
    float points[8] = { x, m - 5, x + 5, m, x, m + 5, x - 5, m };
    if ( x > c->area.x && x < c->area.x + c->area.w )
        nk_fill_polygon( c->canvas, points, 4, tr_theme_dark.text );
}

// Who holds a prop, by the rules of the document; where two hold it at once it changes hands.
static void draw_prop_row( const chart *c, const tr_shown *shown, const row *r, float y )
{
    const tr_scene *scene = shown->stage->scene;
    const char *id = scene->props[r->index].id;
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *k = &scene->constraints[i];
        int who = holder_of( scene, k, id );
        if ( who < 0 )
            continue;
        const float *rgb = scene->cast[who].colour;
        bar( c, k->first - scene->first, k->last - scene->first, y + 6, row_height - 12,
             nk_rgb_f( rgb[0], rgb[1], rgb[2] ) );
    }
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *a = &scene->constraints[i];
        int giver = holder_of( scene, a, id );
        for ( int n = 0; giver >= 0 && n < scene->constraint_count; ++n ) {
            const tr_constraint *b = &scene->constraints[n];
            int taker = holder_of( scene, b, id );
            if ( taker >= 0 && taker != giver && b->first > a->first && b->first <= a->last )
                draw_hand_off( c, 0.5 * ( b->first + a->last ) - scene->first, y );
        }
    }
}

static void draw_row( const tr_ui *ui, const tr_shown *shown, const chart *c, const row *r, float y )
{
    const tr_theme *t = &tr_theme_dark;
    const tr_scene *scene = shown->stage->scene;
    const char *id = r->kind == TR_ITEM_CAST ? scene->cast[r->index].id : scene->props[r->index].id;
    const float *rgb = r->kind == TR_ITEM_CAST ? scene->cast[r->index].colour : scene->props[r->index].colour;
    float left = c->area.x - label_width;
    bool on = tr_ui_selected( ui, r->kind, id );
    if ( on )
        nk_fill_rect( c->canvas, nk_rect( left, y, label_width + c->area.w, row_height ), 0,
                      nk_rgba( 255, 176, 59, 22 ) );
    nk_fill_circle( c->canvas, nk_rect( left + 10, y + 0.5f * row_height - 5, 10, 10 ),
                    nk_rgb_f( rgb[0], rgb[1], rgb[2] ) );
    tr_ui_text_at( c->canvas, c->text, left + 28, y + 3, id, on ? t->accent : t->text );
    nk_stroke_line( c->canvas, left, y + r->height, c->area.x + c->area.w, y + r->height, 1, t->edge );
    if ( r->kind == TR_ITEM_CAST )
        draw_actor_row( c, shown, r, y );
    else
        draw_prop_row( c, shown, r, y );
}

// Selected ones first and open; then the rest. Calls `visit` for each with its place; returns the whole
// height.
static float each_row( tr_ui *ui, const tr_shown *shown, float top,
                       void ( *visit )( void *context, const row *r, float y ), void *context )
{
    const tr_scene *scene = shown->stage->scene;
    float y = top;
    for ( int pass = 0; pass < 2; ++pass )
        for ( int i = 0; i < scene->cast_count + scene->prop_count; ++i ) {
            bool actor = i < scene->cast_count;
            row r = { .kind = actor ? TR_ITEM_CAST : TR_ITEM_PROP,
                      .index = actor ? i : i - scene->cast_count };
            const char *id = actor ? scene->cast[r.index].id : scene->props[r.index].id;
            if ( tr_ui_selected( ui, r.kind, id ) != ( pass == 0 ) ||
                 ( actor && !tr_cast_visible( ui, id ) ) )
                continue;
            r.open = actor && pass == 0;
            r.height =
                row_height +
                ( r.open ? lane_height * (float)lane_count( &shown->stage->actors[i].source.skeleton ) : 0 );
            visit( context, &r, y );
            y += r.height;
        }
    return y - top;
}

typedef struct painter {
    const tr_ui *ui;
    const tr_shown *shown;
    const chart *chart;
} painter;

static void paint_row( void *context, const row *r, float y )
{
    const painter *p = context;
    const struct nk_rect *area = &p->chart->area;
    if ( y + r->height >= area->y && y <= area->y + area->h )
        draw_row( p->ui, p->shown, p->chart, r, y );
}

typedef struct finder {
    float y;
    row found;
    bool hit;
} finder;

static void find_row( void *context, const row *r, float y )
{
    finder *f = context;
    if ( f->y >= y && f->y < y + r->height ) {
        f->found = *r;
        f->hit = true;
    }
}

static void ignore_row( void *context, const row *r, float y )
{
    (void)context;
    (void)r;
    (void)y;
}

// -------------------------------------------------------------------------------------------------- pointer

static void zoom( tr_ui *ui, const chart *c, double notches, double x )
{
    double last = ui->frame_count > 1 ? ui->frame_count - 1 : 1, at = frame_at( c, x ),
           by = pow( 0.8, notches );
    double span = clampd( ( c->last - c->first ) * by, 8, last );
    double first = at - ( at - c->first ) * span / ( c->last - c->first );
    first = clampd( first, 0, last - span );
    ui->zoom_first = first;
    ui->zoom_last = span >= last ? first : first + span; // equal = all
}

static void grab( tr_ui *ui, const chart *c, struct nk_rect ruler )
{
    const struct nk_input *in = &ui->nk->input;
    struct nk_vec2 at = in->mouse.pos;
    struct nk_rect time = nk_rect( c->area.x - 6, ruler.y, c->area.w + 12, ruler.h + c->area.h );
    if ( !in->mouse.buttons[NK_BUTTON_LEFT].down )
        ui->grip = TR_GRIP_NONE;
    else if ( ui->grip == TR_GRIP_NONE && nk_input_is_mouse_pressed( in, NK_BUTTON_LEFT ) &&
              nk_input_is_mouse_hovering_rect( in, time ) && !tr_ui_popup( ui ) ) {
        bool on_range = at.y < ruler.y + 10;
        ui->grip = on_range && fabsf( at.x - x_of( c, ui->loop_first ) ) < 7  ? TR_GRIP_RANGE_FIRST
                   : on_range && fabsf( at.x - x_of( c, ui->loop_last ) ) < 7 ? TR_GRIP_RANGE_LAST
                                                                              : TR_GRIP_TIME;
    }
    int frame = (int)lround( clampd( frame_at( c, at.x ), 0, ui->frame_count - 1 ) );
    if ( ui->grip == TR_GRIP_TIME ) {
        ui->playing = false;
        tr_play_seek( ui, frame );
    } else if ( ui->grip == TR_GRIP_RANGE_FIRST )
        ui->loop_first = frame < ui->loop_last ? frame : ui->loop_last;
    else if ( ui->grip == TR_GRIP_RANGE_LAST )
        ui->loop_last = frame > ui->loop_first ? frame : ui->loop_first;
}

static void click_label( tr_ui *ui, const tr_shown *shown, const chart *c )
{
    const struct nk_input *in = &ui->nk->input;
    struct nk_rect labels = nk_rect( c->area.x - label_width, c->area.y, label_width - 8, c->area.h );
    if ( !nk_input_is_mouse_pressed( in, NK_BUTTON_LEFT ) || !nk_input_is_mouse_hovering_rect( in, labels ) ||
         tr_ui_popup( ui ) )
        return;
    finder f = { .y = in->mouse.pos.y };
    each_row( ui, shown, c->area.y - ui->timeline_rows, find_row, &f );
    if ( !f.hit )
        return;
    const tr_scene *scene = shown->stage->scene;
    tr_item item = tr_item_make(
        f.found.kind,
        f.found.kind == TR_ITEM_CAST ? scene->cast[f.found.index].id : scene->props[f.found.index].id, -1 );
    tr_select( ui, &item, ( ui->modifiers & TR_MOD_SHIFT ) != 0 );
}

static void scroll( tr_ui *ui, const tr_shown *shown, const chart *c )
{
    const struct nk_input *in = &ui->nk->input;
    float whole = each_row( ui, shown, 0, ignore_row, NULL ), most = fmaxf( whole - c->area.h, 0 );
    if ( in->mouse.scroll_delta.y != 0 && tr_area_has( ui->timeline, in->mouse.pos.x, in->mouse.pos.y ) &&
         !tr_ui_popup( ui ) ) {
        if ( ui->modifiers & TR_MOD_CTRL )
            zoom( ui, c, in->mouse.scroll_delta.y, in->mouse.pos.x );
        else
            ui->timeline_rows -= 2 * row_height * in->mouse.scroll_delta.y;
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

static void draw_chart( tr_ui *ui, const tr_shown *shown, struct nk_rect area )
{
    chart c = { .canvas = nk_window_get_canvas( ui->nk ),
                .text = &shown->paint->fonts.text->handle,
                .small = &shown->paint->fonts.small->handle };
    struct nk_rect ruler = nk_rect( area.x + label_width, area.y, area.w - label_width - 14, ruler_height );
    bool all = ui->zoom_last <= ui->zoom_first;
    c.area = nk_rect( ruler.x, area.y + ruler_height, ruler.w, area.h - ruler_height );
    c.first = all ? 0 : ui->zoom_first;
    c.last = all ? fmax( ui->frame_count - 1, 1 ) : ui->zoom_last;
    tr_ui_mark( ui, "ruler", ruler );
    if ( shown->stage == NULL )
        return;
    grab( ui, &c, ruler );
    float strips = shown->strips != NULL ? strip_height * TR_STRIP_KINDS + 4 : 0;
    c.area.y += strips;
    c.area.h -= strips;
    click_label( ui, shown, &c );
    draw_ruler( ui, shown, &c, ruler );
    if ( shown->strips != NULL )
        draw_strips( ui, shown, &c, ruler.y + ruler.h + 2 );
    nk_push_scissor( c.canvas, nk_rect( area.x, c.area.y, area.w, c.area.h ) );
    painter p = { ui, shown, &c };
    scroll( ui, shown, &c );
    each_row( ui, shown, c.area.y - ui->timeline_rows, paint_row, &p );
    nk_push_scissor( c.canvas, nk_rect( area.x, area.y - 2, area.w, area.h + 4 ) );
    draw_playhead( ui, &c, ruler );
}

void tr_panel_timeline( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    (void)ops;
    if ( tr_ui_dock( ui, "timeline", ui->timeline ) ) {
        transport( ui, shown );
        struct nk_rect area;
        nk_layout_row_dynamic( nk, ui->timeline.height - 28 - 2 * TR_PAD - 6, 1 );
        if ( nk_widget( &area, nk ) != NK_WIDGET_INVALID )
            draw_chart( ui, shown, area );
    }
    nk_end( nk );
}
