// All fields of one constraint.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

static bool is_positional( const tr_constraint *k )
{
    return k->kind == TR_CONSTRAINT_ABSOLUTE || k->kind == TR_CONSTRAINT_CONTACT ||
           k->kind == TR_CONSTRAINT_CENTRE_OF_MASS || k->kind == TR_CONSTRAINT_RELATIVE;
}

static void put_flag( tr_ui *ui, tr_ops *ops, const tr_constraint *k, const char *key, const char *label,
                      bool on )
{
    char spot[48];
    snprintf( spot, sizeof spot, "rule.%s", key );
    if ( tr_ui_check( ui, spot, label, on ) )
        tr_ops_add( ops, "constraint_set id=%s %s=%s", k->id, key, on ? "false" : "true" );
}

// -------------------------------------------------------------------------------------------------- points

static void point_field( tr_ui *ui, tr_ops *ops, const tr_constraint *k, const char *key, const char *label,
                         const tr_point *point )
{
    tr_text text = { 0 };
    char now[TR_TYPED_MAX], spot[32];
    if ( point->who[0] != 0 )
        tr_point_print( point, &text );
    snprintf( spot, sizeof spot, "rule.%s", key );
    if ( tr_ui_text( ui, spot, label, text.data != NULL ? text.data : "", false, now, sizeof now ) )
        tr_ops_add( ops, "constraint_set id=%s %s=\"%s\"", k->id, key, now );
    tr_text_free( &text );
}

static void subjects( tr_ui *ui, tr_ops *ops, const tr_constraint *k )
{
    tr_id surface;
    int kind = tr_ui_choice( ui, "rule.kind", "kind", tr_constraint_kind_names, (int)k->kind );
    if ( kind != (int)k->kind )
        tr_ops_add( ops, "constraint_set id=%s kind=%s", k->id, tr_constraint_kind_names[kind] );
    point_field( ui, ops, k, "a", "point", &k->a );
    if ( k->kind == TR_CONSTRAINT_LENGTH || k->kind == TR_CONSTRAINT_RELATIVE )
        point_field( ui, ops, k, "b", "to", &k->b );
    if ( k->kind == TR_CONSTRAINT_CONTACT &&
         tr_ui_text( ui, "rule.surface", "on", k->surface, true, surface, sizeof surface ) )
        tr_ops_add( ops, "constraint_set id=%s surface=%s", k->id, surface );
}

// ---------------------------------------------------------------------------------------------------- when

static void times( tr_ui *ui, const tr_scene *scene, tr_ops *ops, const tr_constraint *k )
{
    static const char *const range_labels[] = { "From", "To" }, *const ease_labels[] = { "Ease in",
                                                                                         "Ease out" };
    bool always = k->first <= -TR_MAX_FRAMES && k->last >= TR_MAX_FRAMES;
    int keys = k->key_count;
    double range[2] = { k->first > -TR_MAX_FRAMES ? k->first
                        : keys > 0                ? round( k->keys[0].frame )
                                                  : scene->first,
                        k->last < TR_MAX_FRAMES ? k->last
                        : keys > 0              ? round( k->keys[keys - 1].frame )
                                                : scene->last };
    double ease[2] = { k->ease_in, k->ease_out };
    tr_ui_frames( ui, ops, "constraint_set", k->id, "range", range_labels, -TR_MAX_FRAMES, range );
    tr_ui_frames( ui, ops, "constraint_set", k->id, "ease", ease_labels, 0, ease );
    nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
    const char *label = keys > 0 ? "From its first key to its last" : "In every frame";
    if ( !tr_ui_check( ui, "rule.always", label, always ) )
        return;
    if ( always )
        tr_ops_add( ops, "constraint_set id=%s range=%.0f,%.0f", k->id, range[0], range[1] );
    else
        tr_ops_add( ops, "constraint_set id=%s range=", k->id );
}

static void strength( tr_ui *ui, tr_ops *ops, const tr_constraint *k )
{
    double weight = k->weight;
    char text[32];
    bool held;
    nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
    put_flag( ui, ops, k, "hard", "Hard: must be met", k->hard );
    if ( k->hard )
        return;
    bool done = tr_ui_slider( ui, "rule.weight", "weight", 0, 10, 0.1, &weight, &held );
    tr_number_print_exact( text, sizeof text, weight );
    tr_ops_edit( ops, done, held, "constraint_set id=%s weight=%s", k->id, text );
}

// --------------------------------------------------------------------------------------------------- where

static void axes( tr_ui *ui, tr_ops *ops, const tr_constraint *k )
{
    static const char *const names[3] = { "x", "y", "z" };
    nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 4 );
    nk_label_colored( ui->nk, "acts on", NK_TEXT_LEFT, tr_theme_dark.dim );
    for ( int i = 0; i < 3; ++i ) {
        char spot[32], left[4] = "";
        snprintf( spot, sizeof spot, "rule.axis.%s", names[i] );
        for ( int a = 0; a < 3; ++a )
            if ( k->axis[a] != ( a == i ) )
                strcat( left, names[a] );
        if ( tr_ui_check( ui, spot, names[i], k->axis[i] ) && left[0] != 0 )
            tr_ops_add( ops, "constraint_set id=%s axes=%s", k->id, left );
    }
}

static void length_field( tr_ui *ui, tr_ops *ops, const tr_constraint *k )
{
    double length = k->length;
    char text[32];
    bool held;
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    bool done = tr_ui_number( ui, "rule.length", "Length, m", 0, 1000, 0.01, &length, &held );
    tr_number_print_exact( text, sizeof text, length );
    tr_ops_edit( ops, done, held, "constraint_set id=%s length=%s", k->id, text );
}

static void rotation_field( tr_ui *ui, tr_ops *ops, const tr_constraint *k )
{
    const double q[4] = { k->rotation.x, k->rotation.y, k->rotation.z, k->rotation.w };
    char text[128] = "", now[TR_TYPED_MAX];
    for ( int i = 0; i < 4; ++i ) {
        char number[32];
        tr_number_print( number, sizeof number, q[i], 6 );
        snprintf( text + strlen( text ), sizeof text - strlen( text ), "%s%s", i > 0 ? "," : "", number );
    }
    if ( tr_ui_text( ui, "rule.rotation", "x,y,z,w", text, false, now, sizeof now ) )
        tr_ops_add( ops, "constraint_set id=%s rotation=%s", k->id, now );
}

static void trajectory( tr_ui *ui, tr_ops *ops, const tr_constraint *k )
{
    tr_ui_caption( ui, "along a trajectory: frame,x,y,z;…" );
    tr_ui_rows( ui, ops, "constraint_set", k->id, "keys", &k->keys[0].frame, k->key_count, 4 );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    if ( tr_ui_button( ui, "rule.source", "Take the source's instead" ) )
        tr_ops_add( ops, "constraint_set id=%s keys=", k->id );
}

// A place that is given, or the source's.
static void target( tr_ui *ui, tr_ops *ops, const tr_constraint *k )
{
    const char *key = k->kind == TR_CONSTRAINT_LENGTH        ? "length"
                      : k->kind == TR_CONSTRAINT_ORIENTATION ? "rotation"
                                                             : "target";
    if ( k->kind == TR_CONSTRAINT_ABSOLUTE || k->kind == TR_CONSTRAINT_RELATIVE ) {
        nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
        if ( k->kind == TR_CONSTRAINT_ABSOLUTE ) {
            put_flag( ui, ops, k, "direction", "Only the direction of its way", k->direction );
            put_flag( ui, ops, k, "partners", "Close members follow", k->partners );
        } else
            put_flag( ui, ops, k, "partner_space", "The offset turns with the partner", k->partner_space );
    } else if ( k->kind == TR_CONSTRAINT_ORIENTATION ) {
        nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
        put_flag( ui, ops, k, "flat", "Only the tilt against the ground", k->flat );
    }
    tr_ui_caption( ui, !k->given                                           ? "as the source has it"
                       : k->kind == TR_CONSTRAINT_RELATIVE                 ? "offset, m"
                       : k->kind == TR_CONSTRAINT_ABSOLUTE && k->direction ? "direction"
                       : is_positional( k )                                ? "place, m"
                                                                           : "given" );
    if ( !k->given && k->kind != TR_CONSTRAINT_LENGTH )
        return;
    if ( is_positional( k ) )
        tr_ui_vec3( ui, ops, "constraint_set", k->id, key, 0, k->target );
    else if ( k->kind == TR_CONSTRAINT_LENGTH )
        length_field( ui, ops, k );
    else
        rotation_field( ui, ops, k );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    if ( k->given && tr_ui_button( ui, "rule.source", "Take the source's instead" ) )
        tr_ops_add( ops, "constraint_set id=%s %s=", k->id, key );
}

void tr_panel_rule( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_constraint *k )
{
    tr_ui_subject( ui, k->id );
    tr_ui_rename( ui, ops, "constraint_rename", k->id );
    subjects( ui, ops, k );
    times( ui, shown->scene, ops, k );
    strength( ui, ops, k );
    if ( is_positional( k ) )
        axes( ui, ops, k );
    ( k->key_count > 0 ? trajectory : target )( ui, ops, k );
    nk_layout_row_dynamic( ui->nk, TR_ROW, 1 );
    if ( tr_ui_button( ui, "rule.delete", "Delete" ) )
        tr_ops_add( ops, "constraint_remove id=%s", k->id );
}
