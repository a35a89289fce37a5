// The cage of the layer that is being edited: green sections along the way of what it holds, threads from one
// to the next, and dots to take hold of.
#include "ui/tools/cage.h"

#include <stdio.h>
#include <string.h>

static const tr_colour green = { 0.36f, 0.86f, 0.46f, 1.0f }, lit = { 1.0f, 0.78f, 0.35f, 1.0f },
                       dark = { 0.06f, 0.09f, 0.08f, 1.0f }, pale = { 0.75f, 0.80f, 0.77f, 1.0f };
static const double dot_reach = 9.0, line_reach = 5.0; // points
static const int near_frames = 2; // a handle that is as near in time as this is where the body is now

// -------------------------------------------------------------------------------------------- what there is

const char *tr_layer_current( const tr_ui *ui, const tr_scene *scene )
{
    const tr_item *item = tr_selected( ui );
    int layer =
        tr_scene_find_layer( scene, item != NULL && item->kind == TR_ITEM_LAYER ? item->id : ui->cage.layer );
    return layer >= 0 ? scene->layers[layer].id : NULL;
}

const char *tr_cage_layer_shown( const tr_ui *ui, const tr_shown *shown )
{
    if ( ui->drag.active && ui->cage.held.layer[0] != 0 )
        return ui->cage.held.layer;
    const char *id = tr_layer_current( ui, shown->scene );
    bool cage =
        id != NULL && shown->scene->layers[tr_scene_find_layer( shown->scene, id )].kind == TR_LAYER_CAGE;
    return cage ? id : NULL;
}

const tr_cage_outline *tr_cage_outline_shown( const tr_ui *ui, const tr_shown *shown )
{
    const char *layer = tr_cage_layer_shown( ui, shown );
    return layer != NULL && shown->result != NULL ? tr_session_cage( shown->session, layer ) : NULL;
}

// At other times a cage does nothing: a shadow of it stands where it was.
static bool is_here( const tr_cage_outline *shape, int frame )
{
    return frame >= shape->begin && frame < shape->begin + shape->row_count;
}

// The section whose corners can be pulled: the nearest in time.
static int near_section( const tr_cage_outline *shape, int frame )
{
    int best = 0;
    for ( int k = 1; k < shape->section_count; ++k )
        if ( abs( shape->frames[k] - frame ) < abs( shape->frames[best] - frame ) )
            best = k;
    return best;
}

static tr_part part_of( const tr_cage_outline *shape, tr_part_kind kind, int section )
{
    tr_part part = { .kind = kind, .frame = shape->frames[section], .vertex = -1 };
    memcpy( part.layer, shape->layer, sizeof part.layer );
    return part;
}

static bool same_part( const tr_part *a, const tr_part *b )
{
    return a->kind == b->kind && a->frame == b->frame && a->vertex == b->vertex &&
           strcmp( a->handle, b->handle ) == 0 && strcmp( a->layer, b->layer ) == 0;
}

// Handles are those of the document on the stage's time.
static bool handle_part( const tr_shown *shown, const tr_cage_outline *shape, int index, tr_part *out )
{
    const tr_scene *scene = shown->stage->scene;
    const tr_handle *handle = &scene->handles[index];
    if ( strcmp( handle->layer, shape->layer ) != 0 )
        return false;
    *out = ( tr_part ){
        .kind = TR_PART_HANDLE, .frame = handle->frame - scene->first, .vertex = handle->vertex };
    memcpy( out->layer, handle->layer, sizeof out->layer );
    memcpy( out->handle, handle->id, sizeof out->handle );
    return out->frame >= shape->first && out->frame <= shape->last;
}

static bool is_near( const tr_ui *ui, const tr_part *part )
{
    return abs( part->frame - ui->frame ) <= near_frames;
}

static const tr_handle *find_handle( const tr_scene *scene, const char *id )
{
    int i = tr_scene_find_handle( scene, id );
    return i >= 0 ? &scene->handles[i] : NULL;
}

// Middle of the upper side of a section: where it is held as a whole.
static vec3 top_of( const tr_cage_outline *shape, int section )
{
    const vec3 *v = shape->moved + section * shape->vertex_count;
    vec3 sum = v3_zero;
    for ( int c = 0; c < 8; ++c )
        sum = ( c & 2 ) != 0 ? v3_mad( sum, 0.25, v[shape->corners[c]] ) : sum;
    return sum;
}

static int section_at( const tr_cage_outline *shape, int frame )
{
    for ( int k = 0; k < shape->section_count; ++k )
        if ( shape->frames[k] == frame )
            return k;
    return -1;
}

static vec3 point_place( const tr_shown *shown, const tr_handle *handle, int frame )
{
    const tr_scene *scene = shown->stage->scene;
    const tr_anchor *anchor = &shown->stage->handles[handle - scene->handles];
    return tr_anchor_position( shown->stage, shown->result, anchor, frame );
}

bool tr_part_place( const tr_ui *ui, const tr_shown *shown, const tr_part *part, vec3 *place )
{
    const tr_cage_outline *shape = tr_cage_outline_shown( ui, shown );
    if ( shape == NULL || part->kind == TR_PART_NONE )
        return false;
    const tr_handle *handle =
        part->kind == TR_PART_HANDLE ? find_handle( shown->stage->scene, part->handle ) : NULL;
    int section = section_at( shape, part->frame );
    if ( part->kind == TR_PART_HANDLE && handle == NULL )
        return false;
    if ( handle != NULL && handle->point.who[0] != 0 && part->frame < shown->result->frame_count ) {
        *place = point_place( shown, handle, part->frame );
        return true;
    }
    if ( section < 0 || part->vertex >= shape->vertex_count )
        return false;
    *place = part->vertex >= 0 ? shape->moved[section * shape->vertex_count + part->vertex]
                               : top_of( shape, section );
    return true;
}

void tr_part_name( char *out, size_t size, const tr_shown *shown, const tr_part *part )
{
    const tr_handle *handle =
        part->kind == TR_PART_HANDLE ? find_handle( shown->stage->scene, part->handle ) : NULL;
    int frame = part->frame + shown->scene->first;
    tr_text text = { 0 };
    if ( handle != NULL && handle->point.who[0] != 0 )
        tr_point_print( &handle->point, &text );
    if ( handle != NULL )
        snprintf( out, size, "%s · %s · frame %d%s", handle->id,
                  text.data != NULL && !text.failed ? text.data
                  : handle->vertex >= 0             ? "corner"
                                                    : "section",
                  frame, handle->pinned ? "" : " · let go" );
    else
        snprintf( out, size, "%s · %s · frame %d", part->layer,
                  part->kind == TR_PART_VERTEX ? "corner" : "section", frame );
    tr_text_free( &text );
}

// -------------------------------------------------------------------------------------------------- picking

typedef struct picking {
    const tr_ui *ui;
    const tr_shown *shown;
    double x, y, nearest;
    tr_part best;
} picking;

static void try_place( picking *p, vec3 place, const tr_part *part )
{
    double x, y;
    if ( !tr_project( p->ui, p->shown, place, &x, &y ) )
        return;
    double d = hypot( x - p->x, y - p->y );
    if ( d < p->nearest ) {
        p->nearest = d;
        p->best = *part;
    }
}

static void try_sections( picking *p, const tr_cage_outline *shape )
{
    for ( int k = 0; k < shape->section_count; ++k ) {
        const vec3 *v = shape->moved + k * shape->vertex_count;
        tr_part part = part_of( shape, TR_PART_SECTION, k );
        for ( int e = 0; e < shape->edge_count; ++e ) {
            double ax, ay, bx, by;
            if ( !tr_project( p->ui, p->shown, v[shape->edges[e][0]], &ax, &ay ) ||
                 !tr_project( p->ui, p->shown, v[shape->edges[e][1]], &bx, &by ) )
                continue;
            double d =
                tr_point_segment_distance( v3( p->x, p->y, 0 ), v3( ax, ay, 0 ), v3( bx, by, 0 ), NULL );
            if ( d < p->nearest ) {
                p->nearest = d;
                p->best = part;
            }
        }
    }
}

tr_part tr_cage_pick( const tr_ui *ui, const tr_shown *shown, double x, double y, bool lines )
{
    const tr_cage_outline *shape = tr_cage_outline_shown( ui, shown );
    picking p = { .ui = ui, .shown = shown, .x = x, .y = y, .nearest = lines ? line_reach : dot_reach };
    if ( shape == NULL )
        return p.best;
    if ( lines ) {
        try_sections( &p, shape );
        return p.best;
    }
    for ( int i = 0; i < shown->stage->scene->handle_count; ++i ) {
        tr_part part;
        vec3 place;
        if ( handle_part( shown, shape, i, &part ) && is_near( ui, &part ) &&
             tr_part_place( ui, shown, &part, &place ) )
            try_place( &p, place, &part );
    }
    int near = near_section( shape, ui->frame );
    bool here = is_here( shape, ui->frame );
    for ( int c = 0; p.best.kind == TR_PART_NONE && here && c < 8; ++c ) {
        tr_part part = part_of( shape, TR_PART_VERTEX, near );
        part.vertex = shape->corners[c];
        try_place( &p, shape->moved[near * shape->vertex_count + part.vertex], &part );
    }
    return p.best;
}

// -------------------------------------------------------------------------------------------------- drawing

static tr_colour faded( tr_colour colour, double alpha )
{
    colour.a = (float)alpha;
    return colour;
}

static bool is_lit( const tr_ui *ui, const tr_part *part )
{
    const tr_part *held = ui->drag.active ? &ui->cage.held : &ui->cage.hover;
    return same_part( part, held ) || same_part( part, &ui->cage.chosen );
}

// The nearer in time, the clearer.
static double nearness( const tr_cage_outline *shape, int section, int frame )
{
    double span = fmax( shape->last - shape->first, 1 );
    return clampd( 1.0 - 2.0 * abs( shape->frames[section] - frame ) / span, 0.0, 1.0 );
}

static void draw_section( const tr_ui *ui, const tr_cage_outline *shape, int k, tr_draw_list *list )
{
    tr_part part = part_of( shape, TR_PART_SECTION, k );
    const vec3 *v = shape->moved + k * shape->vertex_count;
    bool here = is_here( shape, ui->frame );
    bool on = is_lit( ui, &part ), near = here && k == near_section( shape, ui->frame );
    double clear = nearness( shape, k, ui->frame );
    tr_colour colour = on     ? lit
                       : here ? faded( green, near ? 0.95 : 0.16 + 0.40 * clear * clear )
                              : faded( green, 0.07 );
    for ( int e = 0; e < shape->edge_count; ++e )
        tr_draw_line_add( list, v[shape->edges[e][0]], v[shape->edges[e][1]], colour,
                          on || near ? 2.2f : 1.4f, true );
}

static void draw_threads( const tr_ui *ui, const tr_cage_outline *shape, int k, tr_draw_list *list )
{
    const vec3 *a = shape->moved + k * shape->vertex_count, *b = a + shape->vertex_count;
    if ( !is_here( shape, ui->frame ) )
        return;
    double clear = fmax( nearness( shape, k, ui->frame ), nearness( shape, k + 1, ui->frame ) );
    for ( int c = 0; c < 8; ++c )
        tr_draw_line_add( list, a[shape->corners[c]], b[shape->corners[c]],
                          faded( green, 0.10 + 0.22 * clear ), 1.2f, true );
}

static void draw_dot( tr_draw_list *list, vec3 at, tr_colour colour, float size )
{
    tr_draw_line_add( list, at, at, dark, size + 4, true );
    tr_draw_line_add( list, at, at, colour, size, true );
}

// Handles at this frame: pinned ones are discs, others are rings.
static void draw_handle( const tr_ui *ui, const tr_shown *shown, const tr_part *part, tr_draw_list *list )
{
    const tr_handle *handle = find_handle( shown->stage->scene, part->handle );
    vec3 place;
    if ( handle == NULL || !tr_part_place( ui, shown, part, &place ) )
        return;
    if ( !is_near( ui, part ) ) { // a part at another time: only a hint of it, where the body is then
        tr_draw_line_add( list, place, place, faded( green, 0.35 ), 5, true );
        return;
    }
    bool on = is_lit( ui, part ), now = part->frame == ui->frame;
    draw_dot( list, place, on ? lit : now ? green : faded( green, 0.8 ), now ? 11 : 9 );
    if ( !handle->pinned )
        tr_draw_line_add( list, place, place, dark, now ? 6 : 5, true );
}

void tr_cage_draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    const tr_cage_outline *shape = tr_cage_outline_shown( ui, shown );
    if ( shape == NULL )
        return;
    for ( int k = 0; k + 1 < shape->section_count; ++k )
        draw_threads( ui, shape, k, list );
    for ( int k = 0; k < shape->section_count; ++k )
        draw_section( ui, shape, k, list );
    int near = near_section( shape, ui->frame );
    for ( int c = 0; c < 8 && is_here( shape, ui->frame ); ++c ) {
        tr_part part = part_of( shape, TR_PART_VERTEX, near );
        part.vertex = shape->corners[c];
        draw_dot( list, shape->moved[near * shape->vertex_count + part.vertex],
                  is_lit( ui, &part ) ? lit : pale, 5 );
    }
    for ( int i = 0; i < shown->stage->scene->handle_count; ++i ) {
        tr_part part;
        if ( handle_part( shown, shape, i, &part ) )
            draw_handle( ui, shown, &part, list );
    }
}

// -------------------------------------------------------------------------------------------- on the window

static void mark( tr_ui *ui, const tr_shown *shown, vec3 place, const char *format, ... ) TR_PRINTF( 4 );

static void mark( tr_ui *ui, const tr_shown *shown, vec3 place, const char *format, ... )
{
    char name[48];
    double x, y;
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( name, sizeof name, format, arguments );
    va_end( arguments );
    if ( tr_project( ui, shown, place, &x, &y ) && tr_area_has( ui->viewport, x, y ) )
        tr_ui_mark( ui, name, nk_rect( (float)x - 6, (float)y - 6, 12, 12 ) );
}

void tr_cage_mark( tr_ui *ui, const tr_shown *shown )
{
    const tr_cage_outline *shape = tr_cage_outline_shown( ui, shown );
    if ( shape == NULL )
        return;
    for ( int i = 0; i < shown->stage->scene->handle_count; ++i ) {
        tr_part part;
        vec3 place;
        if ( handle_part( shown, shape, i, &part ) && is_near( ui, &part ) &&
             tr_part_place( ui, shown, &part, &place ) )
            mark( ui, shown, place, "handle.%s", part.handle );
    }
    for ( int k = 0; k < shape->section_count; ++k ) { // the middle of an edge
        const vec3 *v = shape->moved + k * shape->vertex_count;
        mark( ui, shown, v3_lerp( v[shape->edges[0][0]], v[shape->edges[0][1]], 0.5 ), "section.%d", k );
    }
    int near = near_section( shape, ui->frame );
    for ( int c = 0; c < 8 && is_here( shape, ui->frame ); ++c )
        mark( ui, shown, shape->moved[near * shape->vertex_count + shape->corners[c]], "corner.%d", c );
}
