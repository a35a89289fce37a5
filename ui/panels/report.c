// The report: method, rules that gave way, figures of quality, and pairs that are close.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ closeness

#define MOST_LINKS 12

static void link_line( tr_ui *ui, const tr_shown *shown, const tr_imesh_pair *pair )
{
    const tr_theme *t = &tr_theme_dark;
    const struct nk_user_font *small = &shown->paint->fonts.small->handle;
    char text[120];
    int chosen = 0;
    nk_layout_row_dynamic( ui->nk, 22, 1 );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    if ( nk_selectable_label( ui->nk, " ", NK_TEXT_LEFT, &chosen ) && chosen )
        tr_ui_go_to( ui, shown, ( pair->first + pair->last ) / 2, ( const int[] ){ pair->a, pair->b }, NULL );
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    snprintf( text, sizeof text, "%s – %s", tr_stage_member_id( shown->stage, pair->a ),
              tr_stage_member_id( shown->stage, pair->b ) );
    tr_ui_text_at( canvas, small, area.x + 6, area.y + 4, text, t->text );
    snprintf( text, sizeof text, "frames %d – %d", pair->first + shown->scene->first,
              pair->last + shown->scene->first );
    tr_ui_text_at( canvas, small, area.x + area.w - tr_ui_text_width( small, text ) - 6, area.y + 4, text,
                   t->dim );
}

// Pairs that are close in the source, which the interaction mesh keeps. Those around this frame first.
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
        tr_ui_note( ui, "No two members come close to each other." );
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

// -------------------------------------------------------------------------------------------------- methods

static const struct {
    const char *method, *name, *help;
} method_words[] = { { "posegraph", "Pose graphs", "whole bodies follow, contacts are met exactly" },
                     { "imesh", "Interaction mesh", "and close pairs stay close" },
                     { "copy-ik", "Copied, limbs placed", "to compare with" },
                     { "copy", "Copied", "to compare with" } };

const char *tr_method_words( const tr_method *method, const char **help )
{
    for ( size_t i = 0; i < sizeof method_words / sizeof method_words[0]; ++i )
        if ( strcmp( method_words[i].method, method->name ) == 0 ) {
            if ( help != NULL )
                *help = method_words[i].help;
            return method_words[i].name;
        }
    return method->name;
}

// A method that a scene can name is set in the document; others are only shown.
void tr_ui_choose_method( const tr_shown *shown, tr_ops *ops, const tr_method *method )
{
    bool mesh = method == tr_method_find( "imesh" ), own = mesh || method == tr_method_find( NULL );
    tr_ops_act( ops, TR_ACTION_METHOD, own ? "" : method->name );
    if ( own && mesh != shown->scene->imesh )
        tr_ops_add( ops, "scene_set imesh=%s", mesh ? "true" : "false" );
}

// The ways of solving there are, to choose one; the list opens to the left of the window's edge.
void tr_ui_methods( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    int count;
    const tr_method *table = tr_method_table( &count );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    tr_ui_mark( ui, "method", area );
    if ( tr_ui_pointed( ui, area ) ) {
        const char *help = "";
        tr_method_words( shown->method, &help );
        tr_ui_hint( ui, "How the motion is found: %s", help );
    }
    if ( !nk_combo_begin_label( ui->nk, tr_method_words( shown->method, NULL ),
                                nk_vec2( area.w, (float)count * 30 + 12 ) ) )
        return;
    for ( int i = 0; i < count; ++i ) {
        const char *help = "";
        nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
        if ( nk_widget_is_hovered( ui->nk ) ) {
            tr_method_words( &table[i], &help );
            tr_ui_hint( ui, "%s: %s", tr_method_words( &table[i], NULL ), help );
        }
        if ( nk_combo_item_label( ui->nk, tr_method_words( &table[i], NULL ), NK_TEXT_LEFT ) )
            tr_ui_choose_method( shown, ops, &table[i] );
    }
    nk_combo_end( ui->nk );
}

void tr_panel_report( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( tr_session_stale( shown->session ) ) {
        tr_ui_note( ui, "What you see was solved before the last changes." );
        nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
        if ( nk_button_label( ui->nk, "Solve again" ) )
            tr_ops_act( ops, TR_ACTION_SOLVE, NULL );
    }
    const float columns[] = { 0.3f, 0.7f };
    nk_layout_row( ui->nk, NK_DYNAMIC, TR_ROW, 2, columns );
    nk_label_colored( ui->nk, "Solved by", NK_TEXT_LEFT, tr_theme_dark.dim );
    tr_ui_methods( ui, shown, ops );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    bool mesh = shown->scene->imesh;
    if ( tr_ui_check( ui, "imesh", "Interaction mesh: keep who is close", mesh ) )
        tr_ui_choose_method( shown, ops, tr_method_find( mesh ? NULL : "imesh" ) );
    if ( shown->take == NULL ) {
        tr_ui_note( ui, "Not solved yet." );
        return;
    }
    tr_panel_losses( ui, shown );
    tr_panel_warnings( ui, shown );
    tr_panel_quality( ui, shown );
    links( ui, shown );
}
