// How good the result is: what gave way and where, and every figure beside the source's.
#include "ui/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// What people call the figures; others go by their keys.
static const char *name_of( const char *key )
{
    static const char *const names[][2] = { { "bone_length_error_pct", "Bone lengths" },
                                            { "contact_error_mm", "Contacts missed" },
                                            { "foot_skate_mm_s", "Sliding feet" },
                                            { "ground_penetration_mm", "Under the ground" },
                                            { "relative_error_mm", "Links missed" },
                                            { "inter_penetration", "In each other" },
                                            { "self_penetration", "In oneself" },
                                            { "prop_penetration", "In props" },
                                            { "contact_f1", "Contacts alike" },
                                            { "laplacian_energy", "Shape of the group" },
                                            { "writhe_deviation", "Winding" },
                                            { "jerk_ratio", "Jerk" },
                                            { "acceleration_spike", "Acceleration" },
                                            { "rotation_spike_deg", "Sudden turns" },
                                            { "pose_error_deg", "Poses" },
                                            { "identity_error_m", "Equal bodies" } };
    for ( size_t i = 0; i < sizeof names / sizeof names[0]; ++i )
        if ( strcmp( key, names[i][0] ) == 0 )
            return names[i][1];
    return key;
}

// Three digits, and nothing where there is as good as nothing.
static void print_figure( char out[64], bool none, double value, const char *unit )
{
    if ( none )
        snprintf( out, 64, "–" );
    else
        snprintf( out, 64, "%.3g %s", fabs( value ) < 5e-4 ? 0.0 : value, unit );
}

static void figure( tr_ui *ui, const tr_metric *m, const tr_metric_field *f )
{
    const tr_theme *t = &tr_theme_dark;
    char text[64];
    const float columns[] = { 0.46f, 0.27f, 0.27f };
    nk_layout_row( ui->nk, NK_DYNAMIC, 19, 3, columns );
    struct nk_rect area = nk_layout_widget_bounds( ui->nk );
    if ( nk_input_is_mouse_hovering_rect( &ui->nk->input, area ) )
        tr_ui_hint( ui, "%s, in reports %s %s: %s than in the source", name_of( m->key ), m->key, f->name,
                    f->worse ? "worse" : "no worse" );
    nk_label_colored( ui->nk, name_of( m->key ), NK_TEXT_LEFT, t->dim );
    print_figure( text, f->out_null, f->out, f->unit );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, f->worse ? t->warn : t->good );
    print_figure( text, f->source_null, f->source, "" );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, t->faint );
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
            figure( ui, &shown->measures->metrics[i], &shown->measures->metrics[i].fields[0] );
    nk_style_pop_font( ui->nk );
}

// --------------------------------------------------------------------------------------------------
// closeness

#define MOST_LINKS 12

static void jump_to_link( tr_ui *ui, const tr_shown *shown, const tr_imesh_pair *pair )
{
    const tr_stage *stage = shown->stage;
    tr_play_seek( ui, ( pair->first + pair->last ) / 2 );
    tr_select( ui, NULL, false );
    for ( int end = 0; end < 2; ++end ) {
        int member = end == 0 ? pair->a : pair->b;
        tr_item item = tr_item_make( member < stage->actor_count                       ? TR_ITEM_CAST
                                     : member < stage->actor_count + stage->prop_count ? TR_ITEM_PROP
                                                                                       : TR_ITEM_OBSTACLE,
                                     tr_stage_member_id( stage, member ), -1 );
        if ( end == 0 || pair->b != pair->a )
            tr_select( ui, &item, true );
    }
    tr_orbit_frame( ui, shown, true );
}

static void link_line( tr_ui *ui, const tr_shown *shown, const tr_imesh_pair *pair )
{
    const tr_theme *t = &tr_theme_dark;
    const struct nk_user_font *small = &shown->paint->fonts.small->handle;
    char text[120];
    int chosen = 0;
    nk_layout_row_dynamic( ui->nk, 22, 1 );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    if ( nk_selectable_label( ui->nk, " ", NK_TEXT_LEFT, &chosen ) && chosen )
        jump_to_link( ui, shown, pair );
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    snprintf( text, sizeof text, "%s – %s", tr_stage_member_id( shown->stage, pair->a ),
              tr_stage_member_id( shown->stage, pair->b ) );
    tr_ui_text_at( canvas, small, area.x + 6, area.y + 4, text, t->text );
    snprintf( text, sizeof text, "frames %d – %d", pair->first + shown->scene->first,
              pair->last + shown->scene->first );
    tr_ui_text_at( canvas, small, area.x + area.w - tr_ui_text_width( small, text ) - 6, area.y + 4, text,
                   t->dim );
}

// Who comes close to whom in the source: what the interaction mesh keeps. Those around this frame first.
static void links( tr_ui *ui, const tr_shown *shown )
{
    const tr_imesh_pairs *pairs = shown->links;
    char text[80];
    int listed = 0;
    if ( pairs == NULL )
        return;
    snprintf( text, sizeof text, "Close to each other  (%d)", pairs->count );
    tr_ui_heading( ui, shown->paint, text );
    if ( pairs->count == 0 )
        tr_ui_note( ui, "Nobody comes close to anybody." );
    for ( int now = 1; now >= 0; --now )
        for ( int i = 0; i < pairs->count && listed < MOST_LINKS; ++i ) {
            const tr_imesh_pair *pair = &pairs->items[i];
            if ( ( ui->frame >= pair->first && ui->frame <= pair->last ) == ( now == 1 ) ) {
                link_line( ui, shown, pair );
                ++listed;
            }
        }
    if ( listed < pairs->count ) {
        snprintf( text, sizeof text, "and %d more at other times", pairs->count - listed );
        tr_ui_note( ui, text );
    }
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
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    bool mesh = shown->scene->imesh;
    if ( tr_ui_check( ui, "imesh", "Interaction mesh: keep who is close", mesh ) ) {
        tr_ops_ask( ops, TR_ASK_METHOD, "" ); // as the scene says from now on
        tr_ops_add( ops, "scene_set imesh=%s", mesh ? "false" : "true" );
    }
    if ( !shown->solved ) {
        tr_ui_note( ui, "Not solved yet." );
        return;
    }
    report( ui, shown );
    figures( ui, shown );
    links( ui, shown );
}
