// Buttons that play, and the ruler with the range that does.
#include "ui/timeline/private.h"

#include <stdio.h>

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

// Where the time is, of how much, and what of it plays.
static void time_labels( tr_ui *ui, const tr_shown *shown )
{
    struct nk_context *nk = ui->nk;
    char now[32], last[32], range[96];
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
}

void tr_transport( tr_ui *ui, const tr_shown *shown )
{
    struct nk_context *nk = ui->nk;
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
    if ( ui->held.active ) // beside the picture, which it must not hide
        tr_held_row( ui, shown, ui->timeline.x + ui->timeline.width - TR_PAD - nk_widget_bounds( nk ).x );
    else
        time_labels( ui, shown );
    nk_layout_row_end( nk );
}

// ---------------------------------------------------------------------------------------------------- ruler

// A step of 1, 2 or 5 times a power of ten that leaves room for a label.
static double tick_step( const tr_chart *c, double unit )
{
    double per_point = ( c->last - c->first ) / fmax( c->area.w, 1.0 ) / unit, least = 64 * per_point;
    double power = pow( 10.0, floor( log10( fmax( least, 1e-9 ) ) ) );
    double step = least <= power       ? power
                  : least <= 2 * power ? 2 * power
                  : least <= 5 * power ? 5 * power
                                       : 10 * power;
    return step * unit;
}

void tr_ruler_draw( const tr_ui *ui, const tr_shown *shown, const tr_chart *c, struct nk_rect ruler )
{
    const tr_theme *t = &tr_theme_dark;
    double unit = ui->seconds ? shown->scene->fps : 1.0, step = tick_step( c, unit );
    if ( !ui->seconds ) // between frames there is nothing
        step = fmax( step, 1.0 );
    nk_fill_rect( c->canvas, ruler, 0, t->well );
    float a = tr_chart_x( c, ui->loop_first ), b = tr_chart_x( c, ui->loop_last );
    nk_fill_rect( c->canvas, nk_rect( a, ruler.y, b - a, 5 ), 2, ui->loop ? t->accent_dark : t->raised );
    nk_fill_rect( c->canvas, nk_rect( a - 2, ruler.y, 4, 9 ), 2, t->accent );
    nk_fill_rect( c->canvas, nk_rect( b - 2, ruler.y, 4, 9 ), 2, t->accent );
    double offset = ui->seconds ? 0.0 : fmod( shown->scene->first, step );
    for ( double f = ceil( ( c->first + offset ) / step ) * step - offset;
          f <= fmin( c->last, ui->frame_count - 1 ) + 1e-9; f += step ) {
        char label[32];
        float x = tr_chart_x( c, f );
        if ( ui->seconds )
            snprintf( label, sizeof label, "%g s", f / unit );
        else
            snprintf( label, sizeof label, "%d", tr_nearest_frame( f ) + shown->scene->first );
        nk_stroke_line( c->canvas, x, ruler.y + ruler.h - 6, x, ruler.y + ruler.h, 1, t->faint );
        tr_ui_text_at( c->canvas, c->small, x + 3, ruler.y + 8, label, t->dim );
    }
}
