// Resize: pull a body up or down to make it larger or smaller; with Shift only the limb under the pointer.
// The motion is retargeted while the button is down.
#include "ui/tools/tools.h"

#include <stdio.h>
#include <string.h>

enum { WHOLE = 1, LIMB };

static double factor( const tr_ui *ui )
{
    return exp( 0.006 * ( ui->drag.start_y - ui->drag.y ) );
}

static const char *limb_of( const tr_shown *shown, const tr_item *item )
{
    int actor = tr_item_actor( shown, item );
    if ( actor < 0 || item->joint < 0 )
        return NULL;
    const tr_skeleton *skeleton = &shown->stage->actors[actor].target;
    int limb = item->joint < skeleton->joint_count ? skeleton->joints[item->joint].limb : -1;
    return limb >= 0 && limb < skeleton->limb_count ? skeleton->limbs[limb].name : NULL;
}

static bool press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    tr_item hit = tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, NULL );
    if ( hit.kind != TR_ITEM_CAST && hit.kind != TR_ITEM_PROP )
        return false;
    bool limb = ( ui->drag.modifiers & TR_MOD_SHIFT ) != 0 && limb_of( shown, &hit ) != NULL;
    ui->drag.item = hit;
    ui->drag.handle = limb ? LIMB : WHOLE;
    if ( !limb )
        hit.joint = -1;
    tr_select( ui, &hit, false );
    return true;
}

static void emit_size( const tr_ui *ui, const tr_shown *shown, tr_ops *ops,
                       void ( *put )( tr_ops *ops, const char *format, ... ) )
{
    const tr_item *item = &ui->drag.item;
    const tr_scene *scene = shown->scene;
    int cast = item->kind == TR_ITEM_CAST ? tr_scene_find_cast( scene, item->id ) : -1;
    int prop = item->kind == TR_ITEM_PROP ? tr_scene_find_prop( scene, item->id ) : -1;
    const char *limb = limb_of( shown, item );
    if ( cast >= 0 && ui->drag.handle == LIMB && limb != NULL ) {
        const tr_target *target = &scene->cast[cast].target;
        double before = 1.0;
        for ( int i = 0; i < target->limb_count; ++i )
            if ( strcmp( target->limbs[i].limb, limb ) == 0 )
                before = target->limbs[i].value;
        put( ops, "cast_limb id=%s limb=%s value=%.3f", item->id, limb,
             clampd( before * factor( ui ), 0.2, 5.0 ) );
    } else if ( cast >= 0 )
        put( ops, "cast_scale id=%s scale=%.3f", item->id,
             clampd( scene->cast[cast].target.scale * factor( ui ), 0.2, 5.0 ) );
    else if ( prop >= 0 )
        put( ops, "prop_set id=%s scale=%.3f", item->id,
             clampd( scene->props[prop].scale * factor( ui ), 0.1, 10.0 ) );
}

static void drag( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    emit_size( ui, shown, ops, tr_ops_preview );
}

static void release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( ui->drag.moved )
        emit_size( ui, shown, ops, tr_ops_add );
}

// The new size, from the way of the pointer.
static void overlay( tr_ui *ui, const tr_shown *shown )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    float x = (float)ui->drag.start_x, from = (float)ui->drag.start_y, to = (float)ui->drag.y;
    const char *limb = ui->drag.handle == LIMB ? limb_of( shown, &ui->drag.item ) : NULL;
    char text[160];
    if ( !ui->drag.active || ui->drag.handle == 0 || !ui->drag.moved )
        return;
    nk_stroke_line( canvas, x, from, x, to, 2, t->accent );
    nk_fill_circle( canvas, nk_rect( x - 3, from - 3, 6, 6 ), t->dim );
    nk_fill_circle( canvas, nk_rect( x - 5, to - 5, 10, 10 ), t->accent );
    snprintf( text, sizeof text, "%s%s%s × %.2f", ui->drag.item.id, limb != NULL ? " " : "",
              limb != NULL ? limb : "", factor( ui ) );
    for ( char *at = text; *at != 0; ++at )
        *at = *at == '_' ? ' ' : *at;
    tr_ui_tag( ui, shown, text );
}

static void hint( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    if ( ui->drag.active && ui->drag.handle != 0 ) {
        tr_ui_hint( ui, "Size × %.2f · Esc cancels", factor( ui ) );
        return;
    }
    tr_item_name( name, sizeof name, shown, &ui->hover );
    if ( ui->hover.kind == TR_ITEM_CAST || ui->hover.kind == TR_ITEM_PROP )
        tr_ui_hint( ui, "Drag %s up or down to resize it · Shift: only the limb", name );
    else
        tr_ui_hint( ui, "Drag a body or a prop up or down to resize it" );
}

const tr_tool tr_tool_size = { .name = "Resize",
                               .spot = "tool.size",
                               .icon = TR_ICON_SIZE,
                               .key = 'S',
                               .help = "drag a body up or down; Shift: only a limb",
                               .press = press,
                               .drag = drag,
                               .release = release,
                               .overlay = overlay,
                               .hint = hint };
