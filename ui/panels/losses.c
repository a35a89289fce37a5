// Rules that gave way: member, rule, amount and frame; a click goes there. Then warnings about the scene.
#include "ui/panels/panels.h"

#include <stdio.h>

#define LOSSES_AT_FIRST 8
#define LOSS_ROW        40

static const double slight = 0.005; // metres, or the same as an angle: hardly visible, so amber, not red

static tr_item item_of( const tr_stage *stage, int member, int joint )
{
    return tr_item_make( member < stage->actor_count                       ? TR_ITEM_CAST
                         : member < stage->actor_count + stage->prop_count ? TR_ITEM_PROP
                                                                           : TR_ITEM_OBSTACLE,
                         tr_stage_member_id( stage, member ), joint );
}

void tr_ui_go_to( tr_ui *ui, const tr_shown *shown, int frame, const int members[2], const int joints[2] )
{
    tr_play_seek( ui, frame );
    for ( int whole = 1; whole >= 0; --whole ) { // frames whole members, then selects the joints
        tr_select( ui, NULL, false );
        for ( int end = 1; end >= 0; --end ) // the first is what the inspector shows
            if ( members[end] >= 0 && ( end == 0 || members[1] != members[0] ) ) {
                bool part = joints != NULL && whole == 0;
                tr_item item = item_of( shown->stage, members[end], part ? joints[end] : -1 );
                tr_select( ui, &item, true );
            }
        if ( whole == 1 )
            tr_orbit_frame( ui, shown, true );
    }
}

// Handles of corners and sections have no member: their layer is selected.
static void jump( tr_ui *ui, const tr_shown *shown, const tr_stage *stage, const tr_loss *loss )
{
    if ( loss->kind == TR_LOSS_HANDLE ) {
        snprintf( ui->cage.layer, sizeof ui->cage.layer, "%s", stage->scene->handles[loss->index].layer );
        ui->left_tab = TR_LEFT_LAYERS;
    }
    if ( loss->members[0] >= 0 ) {
        tr_ui_go_to( ui, shown, loss->frame, loss->members, loss->joints );
        return;
    }
    tr_item layer = tr_item_make( TR_ITEM_LAYER, ui->cage.layer, -1 );
    tr_play_seek( ui, loss->frame );
    tr_select( ui, &layer, false );
}

static void tell( tr_ui *ui, const tr_shown *shown, const tr_stage *stage, const tr_loss *loss,
                  const tr_loss_words *words )
{
    int frame = loss->frame + shown->scene->first;
    if ( loss->kind == TR_LOSS_RULE && stage->rules[loss->index].constraint >= 0 )
        tr_ui_hint( ui, "%s %s, by %s at frame %d (rule %s): click to go there", words->who, words->what,
                    words->amount, frame, stage->rules[loss->index].id );
    else
        tr_ui_hint( ui, "%s %s, by %s at frame %d: click to go there", words->who, words->what, words->amount,
                    frame );
}

static void loss_row( tr_ui *ui, const tr_shown *shown, const tr_stage *stage, const tr_loss *loss,
                      int number )
{
    const tr_theme *t = &tr_theme_dark;
    const struct nk_user_font *font = ui->nk->style.font, *small = &shown->paint->fonts.small->handle;
    struct nk_rect area = nk_widget_bounds( ui->nk );
    tr_loss_words words;
    char text[200], line[200];
    int chosen = 0;
    tr_loss_name( stage, loss, &words );
    snprintf( text, sizeof text, "loss.%d", number );
    tr_ui_mark( ui, text, area );
    if ( nk_widget_is_hovered( ui->nk ) )
        tell( ui, shown, stage, loss, &words );
    if ( nk_selectable_label( ui->nk, " ", NK_TEXT_LEFT, &chosen ) && chosen )
        jump( ui, shown, stage, loss );
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    float amount = tr_ui_text_width( font, words.amount );
    tr_ui_fit( line, sizeof line, words.who, font, area.w - amount - 22 );
    tr_ui_text_at( canvas, font, area.x + 6, area.y + 3, line, t->text );
    tr_ui_text_at( canvas, font, area.x + area.w - amount - 6, area.y + 3, words.amount,
                   loss->metres < slight ? t->warn : t->bad );
    snprintf( text, sizeof text, "frame %d", loss->frame + shown->scene->first );
    float when = tr_ui_text_width( small, text );
    tr_ui_text_at( canvas, small, area.x + area.w - when - 6, area.y + 22, text, t->dim );
    tr_ui_fit( line, sizeof line, words.what, small, area.w - when - 22 );
    tr_ui_text_at( canvas, small, area.x + 6, area.y + 22, line, t->dim );
}

static bool is_scrolled_away( struct nk_context *nk )
{
    struct nk_rect area = nk_widget_bounds( nk ), clip = nk->current->layout->clip;
    return area.y + area.h < clip.y || area.y > clip.y + clip.h;
}

static void nothing_lost( tr_ui *ui, const tr_shown *shown, const tr_result *result )
{
    char text[160], handles[60] = "";
    int acted = 0;
    for ( int i = 0; i < result->handle_count; ++i )
        acted += result->handles[i].acted;
    if ( acted > 0 )
        snprintf( handles, sizeof handles, " and %d handle%s", acted, acted == 1 ? "" : "s" );
    if ( !shown->method->exact )
        snprintf( text, sizeof text, "Motion that is copied keeps no rules." );
    else
        snprintf( text, sizeof text, "Nothing: %d rule%s%s are kept to a millimetre.", result->rule_count,
                  result->rule_count == 1 ? "" : "s", handles );
    tr_ui_note( ui, text );
}

void tr_panel_losses( tr_ui *ui, const tr_shown *shown )
{
    const tr_outcome *take = shown->take;
    const tr_losses *losses = &take->losses;
    char text[80];
    snprintf( text, sizeof text, losses->count > 0 ? "What gave way  (%d)" : "What gave way", losses->count );
    tr_ui_heading( ui, shown->paint, text );
    if ( losses->count == 0 )
        nothing_lost( ui, shown, &take->solved );
    int count = losses->count <= LOSSES_AT_FIRST + 1 || ui->all_losses ? losses->count : LOSSES_AT_FIRST;
    for ( int i = 0; i < count; ++i ) {
        nk_layout_row_dynamic( ui->nk, LOSS_ROW, 1 );
        if ( is_scrolled_away( ui->nk ) )
            nk_label( ui->nk, "", NK_TEXT_LEFT );
        else
            loss_row( ui, shown, &take->stage, &losses->items[i], i );
    }
    if ( losses->count <= LOSSES_AT_FIRST + 1 )
        return;
    snprintf( text, sizeof text, ui->all_losses ? "Only the worst" : "All %d, the worst first",
              losses->count );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    if ( tr_ui_button( ui, "losses.all", text ) )
        ui->all_losses = !ui->all_losses;
}

void tr_panel_warnings( tr_ui *ui, const tr_shown *shown )
{
    char text[80];
    int count = tr_session_warning_count( shown->session );
    if ( count == 0 )
        return;
    snprintf( text, sizeof text, "Noticed about the scene  (%d)", count );
    tr_ui_heading( ui, shown->paint, text );
    for ( int i = 0; i < count; ++i ) {
        snprintf( text, sizeof text, "warning.%d", i );
        tr_ui_mark( ui, text, tr_ui_note( ui, tr_session_warning( shown->session, i ) ) );
    }
}
