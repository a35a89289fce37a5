// The inspector: the selected item with exact values.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

static void number_text( char *out, size_t size, double value )
{
    if ( tr_number_print_exact( out, size, value ) == 0 )
        out[0] = 0;
}

#define TURN_LABEL "Turn about the vertical, degrees"

static void placement( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, vec3 position,
                       double heading )
{
    char turn[32];
    bool held;
    tr_ui_vec3( ui, ops, verb, id, "position", 0, position );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    bool committed = tr_ui_number( ui, "place.heading", TURN_LABEL, -360, 360, 1, &heading, &held );
    number_text( turn, sizeof turn, heading );
    tr_ops_edit( ops, committed, held, "%s id=%s heading=%s", verb, id, turn );
}

// The same for members that rules join to others: a layer moves them, with all they hold. The layer that is
// found when a number is grabbed stays until it is released.
static void placement_of( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const char *verb,
                          const tr_item *item, vec3 position, double heading )
{
    tr_linked_move *linked = &ui->place.linked;
    if ( !( ui->place.held && tr_item_same( item, &ui->place.item ) ) &&
         !tr_linked_move_find( shown, item, 1, linked ) ) {
        placement( ui, ops, verb, item->id, position, heading );
        return;
    }
    ui->place.item = *item;
    vec3 at = tr_linked_move_place( linked, position ), to = at;
    double facing = remainder( heading + linked->turn, 360.0 ), turned = facing;
    bool held[2], done = tr_ui_vec3_edit( ui, "position", 0, &to, &held[0] );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    done |= tr_ui_number( ui, "place.heading", TURN_LABEL, -360, 360, 1, &turned, &held[1] );
    ui->place.held = held[0] || held[1];
    if ( ( done || ui->place.held ) &&
         ( turned == facing || tr_linked_move_centre( shown, item, 1, linked ) ) )
        tr_linked_move_put( linked, shown->scene, ops, done ? tr_ops_add : tr_ops_preview, at,
                            turned - facing, v3_sub( to, at ) );
}

// ------------------------------------------------------------------------------------------------ characters

static double entry_of( const tr_limb_value *values, int count, const char *limb )
{
    for ( int i = 0; i < count; ++i )
        if ( strcmp( values[i].limb, limb ) == 0 )
            return values[i].value;
    return 1.0;
}

static void limb_slider( tr_ui *ui, tr_ops *ops, const tr_cast *cast, const char *limb, bool girth )
{
    char name[64], label[48], text[32];
    double value = girth ? entry_of( cast->target.girths, cast->target.girth_count, limb )
                         : entry_of( cast->target.limbs, cast->target.limb_count, limb );
    bool held;
    snprintf( name, sizeof name, "%s.%s", girth ? "girth" : "limb", limb );
    snprintf( label, sizeof label, "%s", limb );
    for ( char *at = label; *at != 0; ++at )
        *at = *at == '_' ? ' ' : *at;
    bool committed = tr_ui_slider( ui, name, label, 0.3, 2.5, 0.01, &value, &held );
    number_text( text, sizeof text, value );
    tr_ops_edit( ops, committed, held, "%s id=%s limb=%s value=%s", girth ? "cast_girth" : "cast_limb",
                 cast->id, limb, text );
}

static void limb_sliders( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_cast *cast, int actor,
                          bool girth )
{
    static const char *const groups[] = { "arms", "legs", "torso", "head" };
    const tr_skeleton *skeleton = actor >= 0 ? &shown->stage->actors[actor].target : NULL;
    bool human = skeleton == NULL ||
                 ( skeleton->limb_count <= 8 && tr_skeleton_find_limb( skeleton, "left_arm" ) >= 0 );
    for ( size_t i = 0; human && i < sizeof groups / sizeof groups[0]; ++i )
        limb_slider( ui, ops, cast, groups[i], girth );
    for ( int i = 0; !human && i < skeleton->limb_count; ++i )
        limb_slider( ui, ops, cast, skeleton->limbs[i].name, girth );
}

static void automatic( tr_ui *ui, tr_ops *ops, const tr_cast *cast )
{
    const struct {
        const char *key, *label;
        bool on;
    } table[] = { { "contacts", "Feet and hands stay where they rest", cast->contacts },
                  { "soles", "Soles stay flat in stance", cast->soles },
                  { "balance", "Centre of mass stays over the feet", cast->balance } };
    nk_layout_row_dynamic( ui->nk, TR_ROW - 4, 1 );
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i )
        if ( tr_ui_check( ui, table[i].key, table[i].label, table[i].on ) )
            tr_ops_add( ops, "cast_automatic id=%s %s=%s", cast->id, table[i].key,
                        table[i].on ? "false" : "true" );
}

// Twelve colours that differ clearly on the dark floor.
static void colours( tr_ui *ui, tr_ops *ops, const tr_cast *cast )
{
    static const char *const swatches[12] = { "#4c78a8", "#72b7b2", "#54a24b", "#8aa23c",
                                              "#eeca3b", "#f58518", "#e45756", "#d67195",
                                              "#b279a2", "#7d68b3", "#9d755d", "#bab0ac" };
    nk_layout_row_dynamic( ui->nk, 20, 12 );
    for ( int i = 0; i < 12; ++i ) {
        struct nk_color colour = nk_rgb_hex( swatches[i] );
        if ( nk_button_color( ui->nk, colour ) )
            tr_ops_add( ops, "cast_colour id=%s colour=%s", cast->id, swatches[i] );
    }
}

static void inspect_joint( tr_ui *ui, const tr_shown *shown, const tr_item *item, int actor )
{
    char text[200];
    vec3 place;
    if ( actor < 0 || item->joint < 0 || !tr_item_place( ui, shown, item, &place ) )
        return;
    tr_item_name( text, sizeof text, shown, item );
    tr_ui_heading( ui, shown->paint, text );
    nk_layout_row_dynamic( ui->nk, TR_ROW - 6, 1 );
    nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "at %.3f, %.3f, %.3f m, frame %d", place.x,
                       place.y, place.z, ui->frame + shown->scene->first );
}

static void inspect_cast( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_item *item )
{
    const tr_cast *cast = &shown->scene->cast[tr_scene_find_cast( shown->scene, item->id )];
    int actor = tr_item_actor( shown, item );
    double value = cast->target.scale;
    bool held, committed;
    char text[64];
    inspect_joint( ui, shown, item, actor );
    tr_ui_rename( ui, ops, "cast_rename", cast->id );
    colours( ui, ops, cast );
    tr_ui_heading( ui, shown->paint, "Size" );
    committed = tr_ui_slider( ui, "size", "whole body", 0.3, 2.5, 0.01, &value, &held );
    number_text( text, sizeof text, value );
    tr_ops_edit( ops, committed, held, "cast_scale id=%s scale=%s", cast->id, text );
    limb_sliders( ui, shown, ops, cast, actor, false );
    tr_ui_heading( ui, shown->paint, "Girth" );
    limb_sliders( ui, shown, ops, cast, actor, true );
    tr_ui_heading( ui, shown->paint, "Placement" );
    placement_of( ui, shown, ops, "cast_place", item, cast->position, cast->heading );
    tr_ui_heading( ui, shown->paint, "Automatic rules" );
    automatic( ui, ops, cast );
    tr_ui_heading( ui, shown->paint, "Source" );
    nk_layout_row_dynamic( ui->nk, TR_ROW - 6, 1 );
    nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "motion  %s", cast->source.file );
    nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "skeleton  %s",
                       cast->target.skeleton.file[0] != 0 ? cast->target.skeleton.file : "the motion's own" );
    nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "joint map  %s",
                       cast->mapping[0] != 0 ? cast->mapping : "by name" );
}

// ----------------------------------------------------------------------------------------- props and others

// Another shape begins about as large as the last one.
static void choose_shape( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, tr_shape_kind shape,
                          vec3 size )
{
    static const char *const made[] = { "box", "sphere", "polyline", NULL }; // a mesh comes with its file
    int chosen = tr_ui_choice( ui, "thing.shape", "shape",
                               shape == TR_SHAPE_MESH ? tr_shape_kind_names : made, (int)shape );
    double across = fmin( size.x, fmin( size.y, size.z ) );
    char text[32], half[32];
    number_text( text, sizeof text, across );
    number_text( half, sizeof half, 0.5 * fmax( size.x, across ) );
    if ( chosen == (int)shape || chosen == TR_SHAPE_MESH )
        return;
    if ( chosen == TR_SHAPE_POLYLINE )
        tr_ops_add( ops, "%s id=%s shape=polyline points=-%s,0,0;%s,0,0", verb, id, half, half );
    else if ( chosen == TR_SHAPE_SPHERE )
        tr_ops_add( ops, "%s id=%s shape=sphere size=%s,%s,%s", verb, id, text, text, text );
    else
        tr_ops_add( ops, "%s id=%s shape=box", verb, id );
}

static void thickness_field( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, double value )
{
    bool held;
    char text[32];
    bool committed = tr_ui_number( ui, "thing.thickness", "Thickness, m", 1e-4, 100, 0.005, &value, &held );
    number_text( text, sizeof text, value );
    tr_ops_edit( ops, committed, held, "%s id=%s thickness=%s", verb, id, text );
}

static void polyline_fields( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const tr_form *form )
{
    tr_ui_rows( ui, ops, verb, id, "points", &form->points[0].x, form->point_count, 3 );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    thickness_field( ui, ops, verb, id, form->thickness );
}

static void mesh_fields( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const tr_form *form )
{
    char now[TR_TYPED_MAX], line[TR_TYPED_MAX + 80], text[32];
    double unit = form->unit;
    bool held;
    if ( tr_ui_text( ui, "thing.mesh", "file", form->mesh, false, now, sizeof now ) ) {
        snprintf( line, sizeof line, "%s id=%s mesh=\"%s\"", verb, id, now );
        tr_ops_act( ops, TR_ACTION_TRY, line );
    }
    nk_layout_row_dynamic( ui->nk, TR_ROW, 2 );
    bool committed = tr_ui_number( ui, "thing.unit", "Metres per unit", 1e-6, 1000, 0.01, &unit, &held );
    number_text( text, sizeof text, unit );
    tr_ops_edit( ops, committed, held, "%s id=%s mesh_unit=%s", verb, id, text );
    thickness_field( ui, ops, verb, id, form->thickness );
}

static void shape_fields( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const char *verb, const char *id,
                          tr_shape_kind shape, vec3 size, const tr_form *form )
{
    bool held;
    char text[32];
    tr_ui_heading( ui, shown->paint, shape == TR_SHAPE_BOX ? "Edges, m" : "Shape" );
    choose_shape( ui, ops, verb, id, shape, size );
    switch ( shape ) {
    case TR_SHAPE_BOX: tr_ui_vec3( ui, ops, verb, id, "size", 0.001, size ); break;
    case TR_SHAPE_SPHERE: {
        nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
        bool committed =
            tr_ui_number( ui, "thing.diameter", "Diameter, m", 1e-3, 1000, 0.01, &size.x, &held );
        number_text( text, sizeof text, size.x );
        tr_ops_edit( ops, committed, held, "%s id=%s size=%s,%s,%s", verb, id, text, text, text );
        break;
    }
    case TR_SHAPE_POLYLINE: polyline_fields( ui, ops, verb, id, form ); break;
    default: mesh_fields( ui, ops, verb, id, form ); break;
    }
}

static void inspect_prop( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_item *item )
{
    const tr_prop *prop = &shown->scene->props[tr_scene_find_prop( shown->scene, item->id )];
    double value = prop->scale;
    bool held;
    char text[64];
    tr_ui_rename( ui, ops, "prop_rename", prop->id );
    bool committed = tr_ui_slider( ui, "prop.scale", "size", 0.2, 3.0, 0.01, &value, &held );
    number_text( text, sizeof text, value );
    tr_ops_edit( ops, committed, held, "prop_set id=%s scale=%s", prop->id, text );
    nk_layout_row_dynamic( ui->nk, TR_ROW - 6, 1 );
    nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "track  %s",
                       prop->track.file[0] != 0 ? prop->track.file : "stands still" );
    shape_fields( ui, shown, ops, "prop_set", prop->id, prop->shape, prop->size, &prop->form );
    tr_ui_heading( ui, shown->paint, "Placement" );
    placement_of( ui, shown, ops, "prop_set", item, prop->position, prop->heading );
}

// The obstacle as the source has it, and what becomes of it for the target.
static void inspect_obstacle( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_item *item )
{
    const tr_obstacle *o = &shown->scene->obstacles[tr_scene_find_obstacle( shown->scene, item->id )];
    double scale = o->scale;
    bool held;
    char text[32];
    tr_ui_rename( ui, ops, "obstacle_rename", o->id );
    tr_ui_heading( ui, shown->paint, "For the target" );
    bool committed = tr_ui_slider( ui, "obstacle.scale", "size", 0.3, 2.5, 0.01, &scale, &held );
    number_text( text, sizeof text, scale );
    tr_ops_edit( ops, committed, held, "obstacle_set id=%s scale=%s", o->id, text );
    tr_ui_caption( ui, "moved by, m" );
    tr_ui_vec3( ui, ops, "obstacle_set", o->id, "move", 0, o->move );
    shape_fields( ui, shown, ops, "obstacle_set", o->id, o->shape, o->size, &o->form );
    tr_ui_heading( ui, shown->paint, "Placement" );
    placement( ui, ops, "obstacle_set", o->id, o->position, o->heading );
    if ( shown->scene->obstacle_count < 2 )
        return;
    tr_ui_heading( ui, shown->paint, "All of the environment" );
    double all = 1;
    committed = tr_ui_slider( ui, "obstacle.all", "size ×", 0.3, 2.5, 0.01, &all, &held );
    number_text( text, sizeof text, all );
    tr_ops_edit( ops, committed, held, "obstacle_scale scale=%s", text );
}

static void inspect_rule( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_item *item )
{
    int rule = tr_scene_find_constraint( shown->scene, item->id );
    tr_panel_rule( ui, shown, ops, &shown->scene->constraints[rule] );
}

// Its values are in the panel of layers.
static void inspect_layer( tr_ui *ui, const tr_shown *shown, const tr_item *item )
{
    const tr_layer *layer = &shown->scene->layers[tr_scene_find_layer( shown->scene, item->id )];
    char text[TR_ID_MAX + 40];
    snprintf( text, sizeof text, "%s   %s", layer->id, tr_layer_kind_names[layer->kind] );
    tr_ui_heading( ui, shown->paint, text );
    nk_layout_row_dynamic( ui->nk, TR_ROW - 6, 1 );
    if ( layer->first > -TR_MAX_FRAMES )
        nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "frames %d – %d", layer->first,
                           layer->last );
    else
        nk_label_colored( ui->nk, "in every frame", NK_TEXT_LEFT, tr_theme_dark.dim );
    tr_ui_note( ui, "Its window, its ease and its order are with the layers." );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    if ( tr_ui_button( ui, "inspect.layer", "Show the layers" ) ) {
        ui->left_tab = TR_LEFT_LAYERS;
        tr_ui_open_side( ui, false );
    }
}

static const char *plural( int count )
{
    return count == 1 ? "" : "s";
}

static void inspect_scene( tr_ui *ui, const tr_shown *shown )
{
    const tr_scene *scene = shown->scene;
    tr_ui_heading( ui, shown->paint, "Scene" );
    nk_layout_row_dynamic( ui->nk, TR_ROW - 6, 1 );
    nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "frames %d – %d at %g per second",
                       scene->first, scene->last, scene->fps );
    nk_labelf_colored( ui->nk, NK_TEXT_LEFT, tr_theme_dark.dim, "%d character%s, %d prop%s, %d constraint%s",
                       scene->cast_count, plural( scene->cast_count ), scene->prop_count,
                       plural( scene->prop_count ), scene->constraint_count,
                       plural( scene->constraint_count ) );
    tr_ui_note( ui, "Click a body, a box or a name in the cast to see and change its values here." );
}

void tr_panel_inspect( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_item *item = tr_selected( ui );
    if ( item == NULL ) {
        inspect_scene( ui, shown );
        return;
    }
    // What is selected may not be in the document: a body that was removed can be clicked until the rest is
    // solved, and a rule that was just drawn comes with the next frame.
    if ( !tr_item_exists( shown->scene, item ) )
        return;
    tr_item copy = *item;
    tr_ui_subject( ui, copy.id );
    switch ( copy.kind ) {
    case TR_ITEM_CAST: inspect_cast( ui, shown, ops, &copy ); break;
    case TR_ITEM_PROP: inspect_prop( ui, shown, ops, &copy ); break;
    case TR_ITEM_OBSTACLE: inspect_obstacle( ui, shown, ops, &copy ); break;
    case TR_ITEM_CONSTRAINT: inspect_rule( ui, shown, ops, &copy ); break;
    case TR_ITEM_LAYER: inspect_layer( ui, shown, &copy ); break;
    case TR_ITEM_NONE: break;
    }
}
