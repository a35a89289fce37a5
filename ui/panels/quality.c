// Every figure of the result beside the source's, under common names.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

// Three digits, at most two of them behind the point; four for metres.
static void print_figure( char out[64], bool none, double value, const char *unit )
{
    double finest = strcmp( unit, "m" ) == 0 ? 1e-4 : 1e-2, even = finest * round( value / finest );
    if ( none )
        snprintf( out, 64, "–" );
    else
        snprintf( out, 64, "%.3g%s%s", even == 0 ? 0.0 : even,
                  unit[0] == 0 || strcmp( unit, "°" ) == 0 ? "" : " ", unit );
}

static const float columns[] = { 0.46f, 0.27f, 0.27f };

static void figure( tr_ui *ui, const tr_figure_words *name, const tr_metric_field *f )
{
    const tr_theme *t = &tr_theme_dark;
    char text[64];
    nk_layout_row( ui->nk, NK_DYNAMIC, 19, 3, columns );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    area.w = nk_window_get_content_region_size( ui->nk ).x;
    if ( nk_input_is_mouse_hovering_rect( &ui->nk->input, area ) )
        tr_ui_hint( ui, "%s: %s. %s than in the source", name->name, name->help,
                    f->worse ? "Worse" : "No worse" );
    nk_label_colored( ui->nk, name->name, NK_TEXT_LEFT, t->dim );
    print_figure( text, f->out_null, f->out, name->unit );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, f->worse ? t->warn : t->good );
    print_figure( text, f->source_null, f->source, "" );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, t->faint );
}

void tr_panel_quality( tr_ui *ui, const tr_shown *shown )
{
    tr_ui_heading( ui, shown->paint, "Quality" );
    if ( shown->measures == NULL ) {
        tr_ui_note( ui, "Measured as soon as the scene is solved." );
        return;
    }
    nk_style_push_font( ui->nk, &shown->paint->fonts.small->handle );
    nk_layout_row( ui->nk, NK_DYNAMIC, 18, 3, columns );
    nk_spacing( ui->nk, 1 );
    nk_label_colored( ui->nk, "result", NK_TEXT_RIGHT, tr_theme_dark.dim );
    nk_label_colored( ui->nk, "source", NK_TEXT_RIGHT, tr_theme_dark.dim );
    for ( int i = 0; i < shown->measures->count; ++i ) {
        const tr_metric *m = &shown->measures->metrics[i];
        const tr_figure_words *name = tr_figure_name( m->key );
        for ( int f = 0; name != NULL && f < m->field_count; ++f )
            if ( strcmp( m->fields[f].name, name->field ) == 0 )
                figure( ui, name, &m->fields[f] );
    }
    nk_style_pop_font( ui->nk );
}
