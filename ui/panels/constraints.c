// The list of the document's constraints.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

static bool concerns( const tr_ui *ui, const tr_constraint *k )
{
    bool any = false;
    for ( int i = 0; i < ui->selection_count; ++i ) {
        const tr_item *item = &ui->selection[i];
        if ( item->kind == TR_ITEM_CONSTRAINT )
            continue;
        any = true;
        if ( strcmp( k->a.who, item->id ) == 0 || strcmp( k->b.who, item->id ) == 0 ||
             strcmp( k->surface, item->id ) == 0 )
            return true;
    }
    return !any;
}

// "p01.LeftHand", or the first of several joints.
static void point_text( const tr_point *point, char *out, size_t size )
{
    snprintf( out, size, "%s%s%s%s", point->who, point->term_count > 0 ? "." : "",
              point->term_count > 0 ? point->terms[0].joint : "", point->term_count > 1 ? " …" : "" );
}

static void points_text( const tr_constraint *k, char *out, size_t size )
{
    char a[120], b[120];
    point_text( &k->a, a, sizeof a );
    point_text( &k->b, b, sizeof b );
    snprintf( out, size, "%s%s%s", a,
              k->b.who[0] != 0     ? "  –  "
              : k->surface[0] != 0 ? "  on  "
                                   : "",
              k->b.who[0] != 0 ? b : k->surface );
}

static void rule_row( tr_ui *ui, const tr_shown *shown, const tr_constraint *k )
{
    struct nk_context *nk = ui->nk;
    const tr_theme *t = &tr_theme_dark;
    char points[256], line[256];
    int on = tr_ui_selected( ui, TR_ITEM_CONSTRAINT, k->id ), before = on;
    nk_layout_row_dynamic( nk, 42, 1 );
    struct nk_rect area = nk_widget_bounds( nk );
    snprintf( line, sizeof line, "rule.%s", k->id );
    tr_ui_mark( ui, line, area );
    if ( nk_selectable_label( nk, " ", NK_TEXT_LEFT, &on ) && on != before ) {
        tr_item item = tr_item_make( TR_ITEM_CONSTRAINT, k->id, -1 );
        ui->selection_count -= ui->selection_count > 0 && tr_selected( ui )->kind == TR_ITEM_CONSTRAINT;
        tr_select( ui, &item, ui->selection_count > 0 );
        if ( k->first > -TR_MAX_FRAMES )
            tr_play_seek( ui, k->first - shown->scene->first );
    }
    struct nk_command_buffer *canvas = nk_window_get_canvas( nk );
    const struct nk_user_font *small = &shown->paint->fonts.small->handle;
    snprintf( line, sizeof line, "%s   %s", k->id, tr_constraint_kind_names[k->kind] );
    tr_ui_fit( points, sizeof points, line, nk->style.font, area.w - 70 );
    tr_ui_text_at( canvas, nk->style.font, area.x + 8, area.y + 4, points, t->text );
    if ( k->first > -TR_MAX_FRAMES )
        snprintf( line, sizeof line, "%d – %d", k->first, k->last );
    else
        snprintf( line, sizeof line, "always" );
    float width = tr_ui_text_width( small, line );
    tr_ui_text_at( canvas, small, area.x + area.w - width - 8, area.y + 5, line,
                   k->hard ? t->accent : t->dim );
    points_text( k, line, sizeof line );
    tr_ui_fit( points, sizeof points, line, small, area.w - 16 );
    tr_ui_text_at( canvas, small, area.x + 8, area.y + 24, points, t->dim );
}

void tr_panel_constraints( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_scene *scene = shown->scene;
    const tr_item *item = tr_selected( ui );
    char title[80];
    int count = 0;
    int chosen =
        item != NULL && item->kind == TR_ITEM_CONSTRAINT ? tr_scene_find_constraint( scene, item->id ) : -1;
    if ( chosen >= 0 ) // one that was just drawn comes with the next frame
        tr_panel_rule( ui, shown, ops, &scene->constraints[chosen] );
    for ( int i = 0; i < scene->constraint_count; ++i )
        count += concerns( ui, &scene->constraints[i] );
    snprintf( title, sizeof title, count < scene->constraint_count ? "Rules  (%d of %d)" : "Rules  (%d)",
              count, scene->constraint_count );
    tr_ui_heading( ui, shown->paint, title );
    int shown_rows = 0;
    for ( int i = 0; i < scene->constraint_count && shown_rows < 300; ++i )
        if ( concerns( ui, &scene->constraints[i] ) ) {
            rule_row( ui, shown, &scene->constraints[i] );
            ++shown_rows;
        }
    if ( count > shown_rows )
        tr_ui_note( ui, "Select a character to see the others." );
}
