// Edits on top of the motion, the last on top: name, mute, solo, order, copy, window, delete.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

static void put_flag( tr_ops *ops, const char *id, const char *key, bool on )
{
    tr_ops_add( ops, "layer_set id=%s %s=%s", id, key, on ? "true" : "false" );
}

static void select_layer( tr_ui *ui, const char *id )
{
    tr_item item = tr_item_make( TR_ITEM_LAYER, id, -1 );
    tr_select( ui, &item, false );
}

static void layer_row( tr_ui *ui, const tr_scene *scene, tr_ops *ops, int i )
{
    struct nk_context *nk = ui->nk;
    const tr_layer *layer = &scene->layers[i];
    char whole[80], label[80], spot[64];
    const char *current = tr_layer_current( ui, scene );
    int on = current != NULL && strcmp( layer->id, current ) == 0, before = on;
    nk_layout_row_template_begin( nk, 24 );
    nk_layout_row_template_push_dynamic( nk );
    for ( int k = 0; k < 3; ++k )
        nk_layout_row_template_push_static( nk, 24 );
    nk_layout_row_template_end( nk );
    snprintf( whole, sizeof whole, "%s   %s", layer->id, tr_layer_kind_names[layer->kind] );
    tr_ui_fit( label, sizeof label, whole, nk->style.font, nk_widget_bounds( nk ).w - 12 );
    snprintf( spot, sizeof spot, "layer.%s", layer->id );
    tr_ui_mark( ui, spot, nk_widget_bounds( nk ) );
    nk_style_push_color( nk, &nk->style.selectable.text_normal,
                         tr_layer_is_active( scene, i ) ? tr_theme_dark.text : tr_theme_dark.faint );
    if ( nk_selectable_label( nk, label, NK_TEXT_LEFT, &on ) && ( on != before || before ) )
        select_layer( ui, layer->id );
    nk_style_pop_color( nk );
    snprintf( spot, sizeof spot, "mute.%s", layer->id );
    if ( tr_ui_icon( ui, spot, layer->muted ? TR_ICON_EYE_OFF : TR_ICON_EYE, false, "Mute" ) )
        put_flag( ops, layer->id, "muted", !layer->muted );
    snprintf( spot, sizeof spot, "layersolo.%s", layer->id );
    if ( tr_ui_icon( ui, spot, TR_ICON_SOLO, layer->solo, "Solo: only this one acts" ) )
        put_flag( ops, layer->id, "solo", !layer->solo );
    snprintf( spot, sizeof spot, "remove.%s", layer->id );
    if ( tr_ui_icon( ui, spot, TR_ICON_CROSS, false, "Delete" ) )
        tr_ops_add( ops, "layer_remove id=%s", layer->id );
}

// ----------------------------------------------------------------------------------------------- the chosen

static void copy_layer( tr_ui *ui, const tr_scene *scene, tr_ops *ops, const char *id )
{
    tr_id to;
    int n = 2;
    do
        snprintf( to, sizeof to, "%.24s_%d", id, n++ );
    while ( tr_scene_find_layer( scene, to ) >= 0 );
    tr_ops_add( ops, "layer_copy id=%s to=%s", id, to );
    select_layer( ui, to );
}

static void layer_buttons( tr_ui *ui, const tr_scene *scene, tr_ops *ops, int i )
{
    const char *id = scene->layers[i].id;
    bool narrow = nk_window_get_content_region_size( ui->nk ).x < 200;
    nk_layout_row_dynamic( ui->nk, TR_ROW, narrow ? 2 : 4 );
    if ( tr_ui_button( ui, "layer.up", "Up" ) && i + 1 < scene->layer_count )
        tr_ops_add( ops, "layer_move id=%s before=%s", id,
                    i + 2 < scene->layer_count ? scene->layers[i + 2].id : "" );
    if ( tr_ui_button( ui, "layer.down", "Down" ) && i > 0 )
        tr_ops_add( ops, "layer_move id=%s before=%s", id, scene->layers[i - 1].id );
    if ( tr_ui_button( ui, "layer.copy", "Copy" ) )
        copy_layer( ui, scene, ops, id );
    if ( tr_ui_button( ui, "layer.delete", "Delete" ) )
        tr_ops_add( ops, "layer_remove id=%s", id );
}

// The middle of its window stays, the ends go apart.
static void reach_slider( tr_ui *ui, const tr_scene *scene, tr_ops *ops, const tr_layer *layer )
{
    int first = layer->first > scene->first ? layer->first : scene->first,
        last = layer->last < scene->last ? layer->last : scene->last;
    double reach = 0.5 * ( last - first ), middle = 0.5 * ( first + last );
    bool held, done = tr_ui_slider( ui, "layer.reach", "reach", 1, 150, 1, &reach, &held );
    tr_ops_edit( ops, done, held, "layer_set id=%s range=%.0f,%.0f", layer->id, floor( middle - reach ),
                 ceil( middle + reach ) );
}

static void ease_sliders( tr_ui *ui, tr_ops *ops, const tr_layer *layer )
{
    double in = layer->ease_in, out = layer->ease_out;
    bool held[2], done[2] = { tr_ui_slider( ui, "layer.ease_in", "ease in", 0, 60, 1, &in, &held[0] ),
                              tr_ui_slider( ui, "layer.ease_out", "ease out", 0, 60, 1, &out, &held[1] ) };
    tr_ops_edit( ops, done[0] || done[1], held[0] || held[1], "layer_set id=%s ease=%.0f,%.0f", layer->id, in,
                 out );
}

static void cage_sliders( tr_ui *ui, const tr_scene *scene, tr_ops *ops, const tr_layer *layer )
{
    double falloff = layer->falloff, radius = layer->padding;
    bool held, done;
    reach_slider( ui, scene, ops, layer );
    ease_sliders( ui, ops, layer );
    done = tr_ui_slider( ui, "layer.falloff", "falloff", 0, 120, 1, &falloff, &held );
    tr_ops_edit( ops, done, held, "layer_set id=%s falloff=%.0f", layer->id, falloff );
    done = tr_ui_slider( ui, "layer.radius", "radius, m", 0.02, 1.0, 0.01, &radius, &held );
    tr_ops_edit( ops, done, held, "layer_set id=%s padding=%.4f", layer->id, radius );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    if ( tr_ui_check( ui, "layer.turn", "Bodies turn with their path", layer->turn ) )
        put_flag( ops, layer->id, "turn", !layer->turn );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    if ( tr_ui_check( ui, "layer.firm", "Stays put even if it jolts", layer->firm ) )
        put_flag( ops, layer->id, "firm", !layer->firm );
}

static void chosen_layer( tr_ui *ui, const tr_shown *shown, tr_ops *ops, int i )
{
    static const char *const labels[] = { "From", "To" };
    const tr_scene *scene = shown->scene;
    const tr_layer *layer = &scene->layers[i];
    double window[2] = { layer->first > -TR_MAX_FRAMES ? layer->first : scene->first,
                         layer->last < TR_MAX_FRAMES ? layer->last : scene->last };
    char members[320], text[360];
    int handles = 0;
    tr_members_brief( members, sizeof members, layer->members );
    tr_ui_subject( ui, layer->id );
    tr_ui_rename( ui, ops, "layer_rename", layer->id );
    layer_buttons( ui, scene, ops, i );
    for ( int k = 0; k < scene->handle_count; ++k )
        handles += strcmp( scene->handles[k].layer, layer->id ) == 0;
    if ( layer->kind == TR_LAYER_CAGE )
        snprintf( text, sizeof text, "holds %s, by %d handle%s", members, handles, handles == 1 ? "" : "s" );
    else
        snprintf( text, sizeof text, "moves %s in time", members );
    tr_ui_note( ui, text );
    tr_ui_frames( ui, ops, "layer_set", layer->id, "range", labels, -TR_MAX_FRAMES, window );
    if ( layer->kind == TR_LAYER_CAGE )
        cage_sliders( ui, scene, ops, layer );
    else {
        nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
        if ( tr_ui_check( ui, "layer.ripple", "What comes after is late as well", layer->ripple ) )
            put_flag( ops, layer->id, "ripple", !layer->ripple );
    }
}

void tr_panel_layers( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_scene *scene = shown->scene;
    const char *current = tr_layer_current( ui, scene );
    if ( scene->layer_count == 0 ) {
        tr_ui_note(
            ui,
            "No edits yet. Take the cage tool (X) and pull anything: what you do becomes a layer here, to be "
            "muted, moved or deleted." );
        return;
    }
    for ( int i = scene->layer_count - 1; i >= 0; --i )
        layer_row( ui, scene, ops, i );
    if ( current != NULL )
        chosen_layer( ui, shown, ops, tr_scene_find_layer( scene, current ) );
}
