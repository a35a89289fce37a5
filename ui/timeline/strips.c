// Quality over time, as strips that turn red where the result is worse than the source.
#include "ui/timeline/private.h"

#include <string.h>

typedef struct series {        // values over the frames of the stage
    const float *out, *source; // how much worse the result is than the source; or
    const double *plain;       // values as they are
    double fine, bad;
} series;

static series series_of( const tr_strip *strip )
{
    return ( series ){ strip->out, strip->source, NULL, strip->fine, strip->bad };
}

// Green up to `fine`, then by amber to red: what is hardly worse than the source looks so.
static struct nk_color heat( const series *s, double value )
{
    static const int stops[3][4] = { { 70, 160, 110, 70 }, { 226, 168, 62, 150 }, { 240, 60, 50, 255 } };
    double t = 2.0 * clampd( ( value - s->fine ) / fmax( s->bad - s->fine, 1e-9 ), 0.0, 1.0 );
    t = ceil( 5.0 * t ) / 5.0; // few shades, so that neighbours can be drawn as one
    int at = t > 1.0 ? 1 : 0, c[4];
    for ( int i = 0; i < 4; ++i )
        c[i] = tr_int_clamped( lerpd( stops[at][i], stops[at + 1][i], t - at ), 0, 255 );
    return nk_rgba( c[0], c[1], c[2], c[3] );
}

// The worst in the frames a point of the window stands for.
static double worst_of( const series *s, int count, double first, double last )
{
    double worst = 0.0;
    int end = tr_int_clamped( last, -1, count - 1 );
    for ( int f = tr_int_clamped( first, 0, count ); f <= end; ++f )
        worst = fmax( worst, s->plain != NULL ? s->plain[f] : s->out[f] - s->source[f] );
    return worst;
}

// Neighbours of one colour are one rectangle: there are few, and each costs when there is no graphics card.
static void draw_series( const tr_chart *c, const series *s, int frame_count, float y )
{
    const float step = 3; // points
    float begin = c->area.x, end = c->area.x + c->area.w;
    struct nk_color colour = { 0 };
    for ( float x = begin; x < end + step; x += step ) {
        double worst = worst_of( s, frame_count, tr_chart_frame( c, x ), tr_chart_frame( c, x + step ) );
        struct nk_color next = x < end ? heat( s, worst ) : ( struct nk_color ){ 0 };
        if ( memcmp( &next, &colour, sizeof next ) == 0 )
            continue;
        if ( x > begin && colour.a > 0 )
            nk_fill_rect( c->canvas, nk_rect( begin, y + 2, fminf( x, end ) - begin, TR_STRIP_HEIGHT - 4 ), 0,
                          colour );
        begin = x;
        colour = next;
    }
}

const double *tr_unlike_find( const tr_ui *ui, const tr_shown *shown )
{
    const char *subject = tr_pose_subject( ui, shown );
    int actor = subject != NULL ? tr_pose_actor( shown, subject ) : -1;
    const tr_actor_examples *e = actor >= 0 ? shown->stage->actors[actor].examples : NULL;
    return e != NULL ? e->unlike : NULL;
}

void tr_unlike_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, float y, const double *unlike )
{
    struct nk_vec2 mouse = ui->nk->input.mouse.pos;
    int count = shown->stage->frame_count, frame = tr_nearest_frame( tr_chart_frame( c, mouse.x ) );
    const series values = { .plain = unlike, .fine = 0.1, .bad = tr_default_measure_def().unlike };
    struct nk_rect area = nk_rect( c->area.x, y, c->area.w, TR_STRIP_HEIGHT );
    tr_ui_mark( ui, "strip.unlike", area );
    tr_ui_text_at( c->canvas, c->small, c->area.x - TR_LABEL_WIDTH + 10, y - 1, "unlike any pair",
                   tr_theme_dark.dim );
    draw_series( c, &values, count, y );
    if ( mouse.y >= y && mouse.y < y + TR_STRIP_HEIGHT && mouse.x >= c->area.x && frame >= 0 &&
         frame < count )
        tr_ui_hint( ui, "Unlike any pair at frame %d: %.2f, 0 at pairs, 1 like none · click jumps there",
                    frame + shown->scene->first, unlike[frame] );
}

enum { usual_count = 6 };

int tr_strips_choose( const tr_strips *strips, int room, int kinds[TR_STRIP_KINDS] )
{
    bool drawn[TR_STRIP_KINDS] = { false };
    int count = 0, next = 0;
    if ( room < usual_count )
        return 0;
    for ( int k = 0; k < TR_STRIP_KINDS && count < room; ++k ) {
        const series s = series_of( &strips->items[k] );
        drawn[k] = worst_of( &s, strips->frame_count, 0, strips->frame_count ) > s.fine;
        count += drawn[k];
    }
    for ( int k = 0; k < TR_STRIP_KINDS && count < usual_count; ++k ) {
        count += !drawn[k];
        drawn[k] = true;
    }
    for ( int k = 0; k < TR_STRIP_KINDS; ++k )
        if ( drawn[k] )
            kinds[next++] = k;
    return count;
}

void tr_strips_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, float top, const int *kinds,
                     int count )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_vec2 mouse = ui->nk->input.mouse.pos;
    for ( int k = 0; k < count; ++k ) {
        const tr_strip *s = &shown->strips->items[kinds[k]];
        float y = top + TR_STRIP_HEIGHT * (float)k;
        tr_ui_text_at( c->canvas, c->small, c->area.x - TR_LABEL_WIDTH + 10, y - 1, s->name, t->dim );
        const series values = series_of( s );
        draw_series( c, &values, shown->strips->frame_count, y );
        int frame = tr_nearest_frame( tr_chart_frame( c, mouse.x ) );
        bool over = mouse.y >= y && mouse.y < y + TR_STRIP_HEIGHT && mouse.x >= c->area.x;
        if ( over && frame >= 0 && frame < shown->strips->frame_count )
            tr_ui_hint( ui, "%s at frame %d: %.3g %s, in the source %.3g · click jumps there", s->name,
                        frame + shown->scene->first, s->out[frame], s->unit, s->source[frame] );
    }
}
