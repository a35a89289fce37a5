// The picture of the stage and the pointer over it.
#include "ui/app.h"

#include <epoxy/gl.h>
#include <string.h>

static const double budget_ms = 31.0; // what a frame of the editor may cost while things move

bool tr_viewport_create( tr_viewport *viewport, bool has_gl, tr_error *error )
{
    *viewport = ( tr_viewport ){ 0 };
    if ( !has_gl )
        return true;
    viewport->renderer = tr_renderer_create( error );
    if ( viewport->renderer == NULL )
        return false;
    tr_renderer_set_dim( viewport->renderer, true );
    glGenFramebuffers( 1, &viewport->framebuffer );
    glGenRenderbuffers( 1, &viewport->colour );
    return true;
}

void tr_viewport_destroy( tr_viewport *viewport )
{
    if ( viewport->renderer != NULL ) {
        glDeleteFramebuffers( 1, &viewport->framebuffer );
        glDeleteRenderbuffers( 1, &viewport->colour );
        tr_renderer_destroy( viewport->renderer );
    }
    tr_draw_free( &viewport->list );
    tr_free( viewport->marks );
    *viewport = ( tr_viewport ){ 0 };
}

// ----------------------------------------------------------------------------------------------- contents

static tr_view_mark mark_of( const tr_ui *ui, tr_item_kind kind, const char *id )
{
    tr_view_mark mark = { .joint = -1 };
    for ( int i = 0; i < ui->selection_count; ++i ) {
        const tr_item *item = &ui->selection[i];
        if ( item->kind != kind || strcmp( item->id, id ) != 0 )
            continue;
        mark.chosen = true;
        mark.glow = fmaxf( mark.glow, item->joint >= 0 ? 0.10f : 0.34f );
        if ( item->joint >= 0 )
            mark.joint = item->joint;
    }
    if ( ui->hover.kind == kind && strcmp( ui->hover.id, id ) == 0 ) {
        mark.glow = fmaxf( mark.glow, kind == TR_ITEM_CAST ? 0.14f : 0.22f );
        if ( mark.joint < 0 )
            mark.joint = ui->hover.joint;
    }
    return mark;
}

static bool fill_marks( tr_viewport *viewport, const tr_ui *ui, const tr_shown *shown )
{
    const tr_scene *scene = shown->stage->scene;
    int count = 0, total = scene->cast_count + scene->prop_count + scene->obstacle_count;
    if ( !tr_array_reserve( (void **)&viewport->marks, &viewport->mark_capacity, total + 1,
                            sizeof *viewport->marks ) )
        return false;
    for ( int i = 0; i < scene->cast_count; ++i ) {
        viewport->marks[count] = mark_of( ui, TR_ITEM_CAST, scene->cast[i].id );
        viewport->marks[count++].hidden = !tr_cast_visible( ui, scene->cast[i].id );
    }
    for ( int i = 0; i < scene->prop_count; ++i )
        viewport->marks[count++] = mark_of( ui, TR_ITEM_PROP, scene->props[i].id );
    for ( int i = 0; i < scene->obstacle_count; ++i )
        viewport->marks[count++] = mark_of( ui, TR_ITEM_OBSTACLE, scene->obstacles[i].id );
    return true;
}

static void fill_list( tr_viewport *viewport, const tr_ui *ui, const tr_shown *shown )
{
    const tr_tool *tool = tr_tool_get( ui->tool );
    tr_view_def def = ui->show;
    tr_draw_clear( &viewport->list );
    if ( shown->result == NULL || !fill_marks( viewport, ui, shown ) )
        return;
    def.marks = viewport->marks;
    bool mesh = ui->links || tool == &tr_tool_frame; // what a held frame follows by
    def.links = mesh && shown->solved ? shown->links : NULL;
    def.strips = ui->overlaps && shown->solved && shown->fresh ? shown->strips : NULL;
    tr_view_fill( &viewport->list, shown->stage, shown->result, ui->frame, &def );
    if ( tool->draw != NULL )
        tool->draw( ui, shown, &viewport->list );
}

// A number that is the same while the picture would be the same.
static uint64_t key_of( const tr_viewport *viewport, const tr_shown *shown, int width, int height )
{
    const tr_draw_list *l = &viewport->list;
    uint64_t key = TR_HASH_START;
    key = tr_hash_bytes( key, l->capsules, (size_t)l->capsule_count * sizeof *l->capsules );
    key = tr_hash_bytes( key, l->boxes, (size_t)l->box_count * sizeof *l->boxes );
    for ( int i = 0; i < l->line_count; ++i ) // its last bytes are padding
        key = tr_hash_bytes( key, &l->lines[i], offsetof( tr_draw_line, on_top ) + 1 );
    key = tr_hash_bytes( key, l->discs, (size_t)l->disc_count * sizeof *l->discs );
    key = tr_hash_bytes( key, &shown->camera, sizeof shown->camera );
    key = tr_hash_bytes( key, &width, sizeof width );
    return tr_hash_bytes( key, &height, sizeof height );
}

// ----------------------------------------------------------------------------------------------- drawing

static bool fit_canvas( tr_viewport *viewport, int width, int height, tr_error *error )
{
    if ( viewport->width == width && viewport->height == height )
        return true;
    viewport->width = width;
    viewport->height = height;
    viewport->key = 0;
    glBindRenderbuffer( GL_RENDERBUFFER, viewport->colour );
    glRenderbufferStorage( GL_RENDERBUFFER, GL_RGBA8, width, height );
    glBindFramebuffer( GL_FRAMEBUFFER, viewport->framebuffer );
    glFramebufferRenderbuffer( GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, viewport->colour );
    return glCheckFramebufferStatus( GL_FRAMEBUFFER ) == GL_FRAMEBUFFER_COMPLETE ||
           tr_error_set( error, "the graphics driver cannot make a viewport of %d x %d pixels", width,
                         height );
}

// What a frame costs besides this picture: panels, and handing it to the screen. Waiting for the screen is in
// it as well, so not all of it is believed.
static void note_rest( tr_viewport *viewport, const tr_ui *ui )
{
    double rest = clampd( ui->frame_ms - ui->view_ms, 0.0, 12.0 );
    viewport->rest = lerpd( viewport->rest, rest, 0.2 );
}

// While things move, the best quality that is quick enough; a moment after they stop, the best there is. A
// cost not known yet counts as nothing, so each is tried once.
static tr_quality choose_quality( const tr_viewport *viewport, bool moving )
{
    int quality = TR_QUALITY_FULL;
    while ( moving && quality < TR_QUALITY_BARE && viewport->cost[quality] + viewport->rest > budget_ms )
        ++quality;
    return (tr_quality)quality;
}

static bool redraw( tr_viewport *viewport, tr_ui *ui, const tr_shown *shown, tr_quality quality,
                    tr_error *error )
{
    double start = tr_clock_ms();
    tr_renderer_set_quality( viewport->renderer, quality );
    if ( !tr_renderer_draw( viewport->renderer, &viewport->list, &shown->camera, viewport->width,
                            viewport->height, viewport->framebuffer, error ) )
        return false;
    glFinish();
    double ms = tr_clock_ms() - start;
    double *cost = &viewport->cost[quality];
    *cost = *cost > 0.0 ? lerpd( *cost, ms, 0.2 ) : ms;
    viewport->quality = quality;
    ui->view_ms = ms;
    ui->quality = quality;
    return true;
}

static bool refresh( tr_viewport *viewport, tr_ui *ui, const tr_shown *shown, tr_error *error )
{
    const double rest = 0.25; // seconds
    fill_list( viewport, ui, shown );
    uint64_t key = key_of( viewport, shown, viewport->width, viewport->height );
    if ( key != viewport->key ) {
        bool moving = viewport->key != 0;
        if ( ui->now - viewport->changed < 0.5 ) // one after the other
            note_rest( viewport, ui );
        viewport->key = key;
        viewport->changed = ui->now;
        return redraw( viewport, ui, shown, choose_quality( viewport, moving ), error );
    }
    if ( viewport->quality != TR_QUALITY_FULL && ui->now - viewport->changed > rest )
        return redraw( viewport, ui, shown, TR_QUALITY_FULL, error );
    return true;
}

bool tr_viewport_draw( tr_viewport *viewport, tr_ui *ui, const tr_shown *shown, const tr_window *window,
                       tr_error *error )
{
    int x = tr_pixels( ui->viewport.x * window->scale ),
        width = tr_pixels( ui->viewport.width * window->scale );
    int height = tr_pixels( ui->viewport.height * window->scale );
    int y = window->pixel_height - tr_pixels( ui->viewport.y * window->scale ) - height;
    if ( viewport->renderer == NULL ) { // nothing to draw on: the list alone, for tests
        fill_list( viewport, ui, shown );
        return true;
    }
    if ( width < 1 || height < 1 )
        return true;
    tr_renderer_set_scale( viewport->renderer, window->scale );
    if ( !fit_canvas( viewport, width, height, error ) || !refresh( viewport, ui, shown, error ) )
        return false;
    glBindFramebuffer( GL_READ_FRAMEBUFFER, viewport->framebuffer );
    glBindFramebuffer( GL_DRAW_FRAMEBUFFER, window->target );
    glBlitFramebuffer( 0, 0, width, height, x, y, x + width, y + height, GL_COLOR_BUFFER_BIT, GL_NEAREST );
    glBindFramebuffer( GL_FRAMEBUFFER, window->target );
    return true;
}

// ------------------------------------------------------------------------------------------------- pointer

// Alt with any button as in Maya, the middle button as in Blender; the right button alone turns as well.
static bool navigates( const tr_event *event )
{
    return ( event->modifiers & TR_MOD_ALT ) != 0 || event->button != TR_BUTTON_LEFT;
}

static void navigate( tr_ui *ui, double dx, double dy )
{
    bool alt = ( ui->drag.modifiers & TR_MOD_ALT ) != 0, shift = ( ui->drag.modifiers & TR_MOD_SHIFT ) != 0;
    bool ctrl = ( ui->drag.modifiers & TR_MOD_CTRL ) != 0;
    bool pan = alt ? ui->drag.button == TR_BUTTON_MIDDLE : shift;
    bool zoom = alt ? ui->drag.button == TR_BUTTON_RIGHT : ctrl;
    if ( pan )
        tr_orbit_pan( &ui->orbit, dx, dy, ui->viewport.height );
    else if ( zoom )
        tr_orbit_zoom( &ui->orbit, 0.05 * ( dx - dy ) );
    else
        tr_orbit_turn( &ui->orbit, dx, dy );
}

static void press( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_event *event )
{
    const tr_tool *tool = tr_tool_get( ui->tool );
    if ( event->button == TR_BUTTON_LEFT && tr_cube_click( ui, event->x, event->y ) )
        return;
    ui->drag.button = event->button;
    ui->drag.modifiers = event->modifiers;
    ui->drag.x = ui->drag.start_x = event->x;
    ui->drag.y = ui->drag.start_y = event->y;
    ui->drag.ms = event->ms;
    ui->drag.moved = false;
    ui->drag.handle = 0;
    ui->drag.item = tr_item_none();
    ui->drag.navigating = navigates( event );
    if ( ui->drag.navigating )
        return;
    ui->drag.active = tool->press != NULL && tool->press( ui, shown, ops );
    if ( !ui->drag.active )
        ui->drag.active = tr_tool_select.press( ui, shown, ops );
}

static void move( tr_ui *ui, const tr_event *event )
{
    double dx = event->x - ui->drag.x, dy = event->y - ui->drag.y;
    ui->drag.x = event->x;
    ui->drag.y = event->y;
    ui->drag.ms = event->ms;
    ui->drag.moved |= fabs( event->x - ui->drag.start_x ) + fabs( event->y - ui->drag.start_y ) > 3.0;
    if ( ui->drag.navigating )
        navigate( ui, dx, dy );
}

void tr_viewport_hold( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_tool *tool = tr_tool_get( ui->tool );
    if ( ui->drag.active && ui->drag.moved && ui->drag.handle != 0 && tool->drag != NULL )
        tool->drag( ui, shown, ops );
    if ( tool->idle != NULL )
        tool->idle( ui, shown, ops );
    tr_cage_pin_now( ui, shown, ops );
    tr_frame_hold( ui, shown, ops );
    tr_pose_hold( ui, shown, ops );
}

static void let_go( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_tool *tool = tr_tool_get( ui->tool );
    bool active = ui->drag.active;
    if ( active && ui->drag.handle != 0 && tool->release != NULL )
        tool->release( ui, shown, ops );
    else if ( active )
        tr_tool_select.release( ui, shown, ops );
    ui->drag.active = ui->drag.navigating = false;
}

static bool pointer_is_free( const tr_ui *ui, double x, double y )
{
    return tr_area_has( ui->viewport, x, y ) && !tr_ui_popup( ui ) && !ui->help &&
           ui->dialog == TR_DIALOG_NONE;
}

void tr_viewport_hover( tr_ui *ui, const tr_shown *shown )
{
    struct nk_vec2 mouse = ui->nk->input.mouse.pos;
    bool free = !ui->drag.active && !ui->drag.navigating && pointer_is_free( ui, mouse.x, mouse.y );
    const tr_tool *tool = tr_tool_get( ui->tool );
    ui->cage.hover = ( tr_part ){ 0 };
    ui->hover = tr_item_none();
    if ( free && tool->hover != NULL )
        tool->hover( ui, shown, mouse.x, mouse.y );
    else if ( free )
        ui->hover = tr_pick( ui, shown, mouse.x, mouse.y, NULL );
}

void tr_viewport_input( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_event *event )
{
    bool held = ui->drag.active || ui->drag.navigating;
    switch ( event->kind ) {
    case TR_EVENT_BUTTON:
        if ( event->down && !held && pointer_is_free( ui, event->x, event->y ) )
            press( ui, shown, ops, event );
        else if ( !event->down && held && event->button == ui->drag.button ) {
            move( ui, event ); // a quick release may come before its last motion was handled
            let_go( ui, shown, ops );
        }
        break;
    case TR_EVENT_MOTION:
        if ( held )
            move( ui, event );
        break;
    default: break;
    }
}
