// How good the result is: what gave way and where, and every figure beside the source's.
#include "ui/app.h"

#include <stdio.h>
#include <stdlib.h>

#define WORST 12

// The rules farthest from being kept, worst first.
static int worst_rules( const tr_shown *shown, int out[WORST] )
{
    int count = 0;
    for ( int r = 0; r < shown->result->rule_count; ++r ) {
        double off = shown->result->reports[r].max_mm;
        if ( off < 0.5 )
            continue;
        int at = count < WORST ? count++ : WORST;
        if ( at == WORST && off <= shown->result->reports[out[WORST - 1]].max_mm )
            continue;
        at = at == WORST ? WORST - 1 : at;
        while ( at > 0 && shown->result->reports[out[at - 1]].max_mm < off ) {
            out[at] = out[at - 1];
            --at;
        }
        out[at] = r;
    }
    return count;
}

static void jump( tr_ui *ui, const tr_shown *shown, const tr_rule *rule, int frame )
{
    const tr_scene *scene = shown->stage->scene;
    tr_play_seek( ui, frame );
    if ( rule->a.actor >= 0 ) {
        tr_item item = tr_item_make( TR_ITEM_CAST, scene->cast[rule->a.actor].id, rule->a.joints[0] );
        tr_select( ui, &item, false );
    } else if ( rule->a.prop >= 0 ) {
        tr_item item = tr_item_make( TR_ITEM_PROP, scene->props[rule->a.prop].id, -1 );
        tr_select( ui, &item, false );
    }
    tr_orbit_frame( ui, shown, true );
}

static void rule_line( tr_ui *ui, const tr_shown *shown, int r )
{
    struct nk_context *nk = ui->nk;
    const tr_theme *t = &tr_theme_dark;
    const tr_rule *rule = &shown->stage->rules[r];
    const tr_rule_report *report = &shown->result->reports[r];
    char text[120];
    int chosen = 0;
    nk_layout_row_dynamic( nk, 24, 1 );
    struct nk_rect area = nk_widget_bounds( nk );
    if ( nk_selectable_label( nk, " ", NK_TEXT_LEFT, &chosen ) && chosen )
        jump( ui, shown, rule, report->worst_frame );
    struct nk_command_buffer *canvas = nk_window_get_canvas( nk );
    const struct nk_user_font *small = &shown->paint->fonts.small->handle;
    tr_ui_text_at( canvas, small, area.x + 6, area.y + 5, rule->id, t->text );
    snprintf( text, sizeof text, "%.1f mm   frame %d", report->max_mm,
              report->worst_frame + shown->scene->first );
    float width = tr_ui_text_width( small, text );
    tr_ui_text_at( canvas, small, area.x + area.w - width - 6, area.y + 5, text,
                   report->gave_way ? t->bad : t->warn );
}

static void report( tr_ui *ui, const tr_shown *shown )
{
    int worst[WORST], gave_way = 0;
    char text[120];
    for ( int r = 0; r < shown->result->rule_count; ++r )
        gave_way += shown->result->reports[r].gave_way;
    int count = worst_rules( shown, worst );
    snprintf( text, sizeof text, "%d rules, %d gave way", shown->result->rule_count, gave_way );
    tr_ui_heading( ui, shown->paint, text );
    if ( count == 0 )
        tr_ui_note( ui, "Every rule is kept to half a millimetre." );
    for ( int i = 0; i < count; ++i )
        rule_line( ui, shown, worst[i] );
}

// -------------------------------------------------------------------------------------------------- figures

static void figure( tr_ui *ui, const tr_shown *shown, const tr_metric *m, const tr_metric_field *f )
{
    const tr_theme *t = &tr_theme_dark;
    char text[64];
    const float columns[] = { 0.46f, 0.27f, 0.27f };
    nk_layout_row( ui->nk, NK_DYNAMIC, 19, 3, columns );
    nk_label_colored( ui->nk, m->key, NK_TEXT_LEFT, t->dim );
    snprintf( text, sizeof text, f->out_null ? "–" : "%.3g %s", f->out, f->unit );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, f->worse ? t->warn : t->good );
    snprintf( text, sizeof text, f->source_null ? "–" : "%.3g", f->source );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, t->faint );
    (void)shown;
}

static void figures( tr_ui *ui, const tr_shown *shown )
{
    const float columns[] = { 0.46f, 0.27f, 0.27f };
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
    for ( int i = 0; i < shown->measures->count; ++i )
        if ( shown->measures->metrics[i].field_count > 0 )
            figure( ui, shown, &shown->measures->metrics[i], &shown->measures->metrics[i].fields[0] );
    nk_style_pop_font( ui->nk );
}

// The ways of solving there are, to choose one.
void tr_ui_methods( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    int count;
    const tr_method *table = tr_method_table( &count );
    char label[64];
    snprintf( label, sizeof label, "%s", shown->method->name );
    tr_ui_mark( ui, "method", nk_widget_bounds( ui->nk ) );
    if ( !nk_combo_begin_label( ui->nk, label, nk_vec2( 420, (float)count * 30 + 12 ) ) )
        return;
    for ( int i = 0; i < count; ++i ) {
        const float columns[] = { 0.24f, 0.76f };
        nk_layout_row( ui->nk, NK_DYNAMIC, TR_ROW - 2, 2, columns );
        bool chosen = nk_combo_item_label( ui->nk, table[i].name, NK_TEXT_LEFT );
        nk_label_colored( ui->nk, table[i].help, NK_TEXT_LEFT, tr_theme_dark.dim );
        if ( chosen )
            tr_ops_ask( ops, TR_ASK_METHOD, table[i].name );
    }
    nk_combo_end( ui->nk );
}

void tr_panel_report( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( tr_session_stale( shown->session ) ) {
        tr_ui_note( ui, "What you see was solved before the last changes." );
        nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
        if ( nk_button_label( ui->nk, "Solve again" ) )
            tr_ops_ask( ops, TR_ASK_SOLVE, NULL );
    }
    nk_layout_row_dynamic( ui->nk, TR_ROW, 2 );
    nk_label_colored( ui->nk, "Solved by", NK_TEXT_LEFT, tr_theme_dark.dim );
    tr_ui_methods( ui, shown, ops );
    if ( !shown->solved ) {
        tr_ui_note( ui, "Not solved yet." );
        return;
    }
    report( ui, shown );
    figures( ui, shown );
}
