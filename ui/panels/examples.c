// Pairs of poses by which a body moves, how well the others foretell each, parts, and what to pose next.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

static void choose( tr_ui *ui, const tr_shown *shown, int actor, const tr_example *example )
{
    tr_item item = tr_item_make( TR_ITEM_CAST, example->cast, -1 );
    tr_select( ui, &item, false );
    memcpy( ui->pose.chosen, example->id, sizeof ui->pose.chosen );
    for ( int f = 0; f < shown->stage->frame_count; ++f )
        if ( tr_stage_file_frame( shown->stage, actor, f ) == example->source ) {
            tr_play_seek( ui, f );
            break;
        }
}

// Degrees by which the other pairs miss it; below 0: not known.
static double missed( const tr_shown *shown, int actor, const char *id )
{
    const tr_actor_examples *e = shown->stage->actors[actor].examples;
    for ( int i = 0; e != NULL && e->pair_count > 2 && i < e->pair_count; ++i )
        if ( strcmp( shown->stage->scene->examples[e->pairs[i]].id, id ) == 0 )
            return tr_exemplar_left_out( e->exemplar, i ) / TR_DEGREE;
    return -1;
}

static double worst_missed( const tr_shown *shown, int actor, const char *cast )
{
    double worst = 0;
    for ( int i = 0; i < shown->scene->example_count; ++i )
        if ( strcmp( shown->scene->examples[i].cast, cast ) == 0 )
            worst = fmax( worst, missed( shown, actor, shown->scene->examples[i].id ) );
    return worst;
}

static void pair_row( tr_ui *ui, const tr_shown *shown, tr_ops *ops, int actor, const tr_example *example,
                      double worst )
{
    struct nk_context *nk = ui->nk;
    const tr_theme *t = &tr_theme_dark;
    char whole[120], label[120], spot[64];
    int on = strcmp( example->id, ui->pose.chosen ) == 0;
    double miss = missed( shown, actor, example->id );
    nk_layout_row_template_begin( nk, 24 );
    nk_layout_row_template_push_dynamic( nk );
    nk_layout_row_template_push_static( nk, 44 );
    nk_layout_row_template_push_static( nk, 24 );
    nk_layout_row_template_push_static( nk, 24 );
    nk_layout_row_template_end( nk );
    snprintf( whole, sizeof whole, "%s  %d%s", example->id, example->source,
              example->mirrored ? "  mirrored" : "" );
    tr_ui_fit( label, sizeof label, whole, nk->style.font, nk_widget_bounds( nk ).w - 12 );
    snprintf( spot, sizeof spot, "pair.%s", example->id );
    tr_ui_mark( ui, spot, nk_widget_bounds( nk ) );
    nk_style_push_color( nk, &nk->style.selectable.text_normal, example->muted ? t->faint : t->text );
    bool before = on != 0;
    if ( nk_selectable_label( nk, label, NK_TEXT_LEFT, &on ) && ( on != 0 || before ) )
        choose( ui, shown, actor, example );
    nk_style_pop_color( nk );
    struct nk_rect area = nk_widget_bounds( nk );
    snprintf( spot, sizeof spot, "miss.%s", example->id );
    tr_ui_mark( ui, spot, area );
    char degrees[24] = "";
    if ( miss >= 0 )
        snprintf( degrees, sizeof degrees, "%.1f°", miss );
    bool last = miss >= 0 && miss >= worst && worst > 0;
    nk_label_colored( nk, degrees, NK_TEXT_RIGHT, last ? t->accent : t->dim );
    if ( miss >= 0 && tr_ui_pointed( ui, area ) )
        tr_ui_tip( ui, area,
                   last ? "The others miss it by most: a mistake, or a pose that no other pair replaces"
                        : "By so much the other pairs miss it: small ones may go" );
    snprintf( spot, sizeof spot, "pairmute.%s", example->id );
    if ( tr_ui_icon( ui, spot, example->muted ? TR_ICON_EYE_OFF : TR_ICON_EYE, false, "It counts, or not" ) )
        tr_ops_add( ops, "example_set id=%s muted=%s", example->id, example->muted ? "false" : "true" );
    snprintf( spot, sizeof spot, "pairremove.%s", example->id );
    if ( tr_ui_icon( ui, spot, TR_ICON_CROSS, false, "Delete" ) )
        tr_ops_add( ops, "example_remove id=%s", example->id );
}

static void suggest( tr_ui *ui, const tr_shown *shown, int actor )
{
    int frame;
    tr_error error;
    if ( tr_stage_suggest( shown->stage, actor, &frame, 1, &error ) < 1 ) {
        tr_ui_say( ui, false, "Every pose of this motion is like a pair that is there" );
        return;
    }
    tr_play_seek( ui, frame );
    tr_tool_take( ui, &tr_tool_pose );
    tr_ui_say( ui, false, "Frame %d is least known: pull the body into its pose, Enter keeps the pair",
               frame + shown->scene->first );
}

static void mirror( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    int i = tr_scene_find_example( shown->scene, ui->pose.chosen );
    if ( i < 0 ) {
        tr_ui_say( ui, false, "Choose a pair in the list first" );
        return;
    }
    const tr_example *e = &shown->scene->examples[i];
    char line[TR_POSE_MAX + 200];
    tr_id id;
    tr_free_id( shown->scene, tr_scene_find_example, "mirror", id );
    snprintf( line, sizeof line, "example_add id=%s cast=%s source=%d target=%d pose=\"%s\" mirrored=%s", id,
              e->cast, e->source, e->target, e->pose, e->mirrored ? "false" : "true" );
    tr_ops_act( ops, TR_ACTION_TRY, line );
}

static void buttons( tr_ui *ui, const tr_shown *shown, tr_ops *ops, int actor )
{
    nk_layout_row_dynamic( ui->nk, TR_ROW, 2 );
    if ( tr_ui_button( ui, "pairs.suggest", "Suggest" ) )
        suggest( ui, shown, actor );
    if ( tr_ui_button( ui, "pairs.mirror", "Mirror pair" ) )
        mirror( ui, shown, ops );
    if ( !ui->pose.active )
        return;
    nk_layout_row_dynamic( ui->nk, TR_ROW, 2 );
    if ( tr_ui_button( ui, "pose.keep", "Keep  Enter" ) )
        tr_pose_keep( ui );
    if ( tr_ui_button( ui, "pose.cancel", "Let go  Esc" ) )
        tr_pose_let_go( ui );
}

static void part_row( tr_ui *ui, tr_ops *ops, const tr_part_drive *part )
{
    char text[4 * TR_JOINT_MAX], spot[64];
    snprintf( text, sizeof text, "%s: %s … %s from %s … %s", part->id, part->target_first, part->target_last,
              part->source_first, part->source_last );
    tr_ui_note( ui, text );
    double aim = part->aim;
    bool held;
    tr_ui_subject( ui, part->id );
    snprintf( spot, sizeof spot, "aim.%s", part->id );
    bool done = tr_ui_slider( ui, spot, "aim", 0, 1, 0.05, &aim, &held );
    tr_ops_edit( ops, done, held, "part_set id=%s aim=%.10g", part->id, clampd( aim, 0, 1 ) );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 2 );
    snprintf( spot, sizeof spot, "partremove.%s", part->id );
    nk_spacing( ui->nk, 1 );
    if ( tr_ui_button( ui, spot, "Delete part" ) )
        tr_ops_add( ops, "part_remove id=%s", part->id );
}

void tr_panel_examples( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_scene *scene = shown->scene;
    const char *subject = shown->stage != NULL ? tr_pose_subject( ui, shown ) : NULL;
    int actor = subject != NULL ? tr_pose_actor( shown, subject ) : -1, pairs = 0, parts = 0;
    if ( actor < 0 ) {
        tr_ui_note( ui, "A body of another file can follow a motion by examples: choose a character, and in "
                        "the panel Cast take another body for it." );
        return;
    }
    for ( int i = 0; i < scene->example_count; ++i )
        pairs += strcmp( scene->examples[i].cast, subject ) == 0;
    for ( int i = 0; i < scene->part_count; ++i )
        parts += strcmp( scene->parts[i].cast, subject ) == 0;
    char title[80];
    snprintf( title, sizeof title, "%s  (%d pair%s)", subject, pairs, pairs == 1 ? "" : "s" );
    tr_ui_heading( ui, shown->paint, title );
    buttons( ui, shown, ops, actor );
    snprintf( title, sizeof title, "Parts  (%d)", parts );
    tr_ui_heading( ui, shown->paint, title );
    tr_ui_note( ui,
                "A line from a blue joint to a joint of the body: the limb down to it follows that limb. Aim "
                "0 goes by the pairs, 1 exactly where the limb points." );
    for ( int i = 0; i < scene->part_count; ++i )
        if ( strcmp( scene->parts[i].cast, subject ) == 0 )
            part_row( ui, ops, &scene->parts[i] );
    tr_ui_heading( ui, shown->paint, "Pairs" );
    if ( pairs < 2 )
        tr_ui_note( ui, pairs == 1 ? "One more pair, and the body moves by them."
                                   : "With the pose tool (O) pull the body into the pose that goes with this "
                                     "frame. Enter keeps the pair; from two on the body moves by them." );
    else
        tr_ui_note( ui,
                    "Degrees: by how much the other pairs miss this one, mean over the joints. The largest "
                    "is a mistake, or a pose that none replaces. Red in the strip: unlike any pair." );
    double worst = worst_missed( shown, actor, subject );
    for ( int i = 0; i < scene->example_count; ++i )
        if ( strcmp( scene->examples[i].cast, subject ) == 0 )
            pair_row( ui, shown, ops, actor, &scene->examples[i], worst );
}
