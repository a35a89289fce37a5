// Handles in the viewport: arrows, a ring, and the pointer's plane.
#include "ui/tools/gizmo.h"

static const vec3 axes[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const double reach = 9.0; // points

double tr_gizmo_size( const tr_shown *shown, vec3 at )
{
    const tr_camera *c = &shown->camera;
    double distance = v3_distance( c->eye, at );
    double height =
        c->field_of_view > 0.0 ? 2.0 * distance * tan( 0.5 * c->field_of_view * TR_DEGREE ) : c->ortho_height;
    return 0.11 * height;
}

static tr_colour axis_colour( int axis, bool lit )
{
    static const tr_colour colours[4] = {
        { 1, 1, 1, 1 }, { 0.93f, 0.32f, 0.30f, 1 }, { 0.45f, 0.80f, 0.32f, 1 }, { 0.33f, 0.56f, 0.95f, 1 } };
    return lit ? ( tr_colour ){ 1.0f, 0.78f, 0.35f, 1 } : colours[axis];
}

static int lit_handle( const tr_ui *ui, const tr_shown *shown, vec3 at, bool ring )
{
    struct nk_vec2 mouse = ui->nk->input.mouse.pos;
    if ( ui->drag.active )
        return ui->drag.handle;
    return ring ? tr_gizmo_pick_ring( ui, shown, at, mouse.x, mouse.y )
                : tr_gizmo_pick_axes( ui, shown, at, mouse.x, mouse.y );
}

void tr_gizmo_draw_axes( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list, vec3 at )
{
    double size = tr_gizmo_size( shown, at );
    int lit = lit_handle( ui, shown, at, false );
    for ( int i = TR_GIZMO_X; i <= TR_GIZMO_Z; ++i ) {
        tr_colour colour = axis_colour( i, lit == i );
        vec3 tip = v3_mad( at, size, axes[i] );
        tr_draw_line_add( list, at, tip, colour, 3.0f, true );
        tr_draw_line_add( list, tip, tip, colour, 11.0f, true );
    }
    tr_colour middle =
        lit == TR_GIZMO_FREE ? axis_colour( 1, true ) : ( tr_colour ){ 0.95f, 0.95f, 0.95f, 1 };
    tr_draw_line_add( list, at, at, ( tr_colour ){ 0.1f, 0.1f, 0.12f, 1 }, 13.0f, true );
    tr_draw_line_add( list, at, at, middle, 9.0f, true );
}

static vec3 ring_point( vec3 at, double size, int i, int count )
{
    double angle = 2.0 * TR_PI * i / count;
    return v3_add( at, v3( size * cos( angle ), 0, size * sin( angle ) ) );
}

void tr_gizmo_draw_ring( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list, vec3 at )
{
    const int pieces = 48;
    double size = tr_gizmo_size( shown, at );
    tr_colour colour = axis_colour( TR_GIZMO_Y, lit_handle( ui, shown, at, true ) == TR_GIZMO_RING );
    for ( int i = 0; i < pieces; ++i )
        tr_draw_line_add( list, ring_point( at, size, i, pieces ), ring_point( at, size, i + 1, pieces ),
                          colour, 3.0f, true );
}

void tr_gizmo_mark( tr_ui *ui, const tr_shown *shown, vec3 at, bool ring )
{
    static const char *const names[] = { "ring", "arrow.x", "arrow.y", "arrow.z" };
    double size = tr_gizmo_size( shown, at ), x, y;
    for ( int i = ring ? 0 : TR_GIZMO_X; i <= ( ring ? 0 : TR_GIZMO_Z ); ++i ) {
        vec3 place = ring ? ring_point( at, size, 0, 1 ) : v3_mad( at, 0.8 * size, axes[i] );
        if ( tr_project( ui, shown, place, &x, &y ) && tr_area_has( ui->viewport, x, y ) )
            tr_ui_mark( ui, names[i], nk_rect( (float)x - 6, (float)y - 6, 12, 12 ) );
    }
}

// Distance in points from the pointer to a segment on the window.
static double to_segment( const tr_ui *ui, const tr_shown *shown, vec3 a, vec3 b, double x, double y )
{
    double ax, ay, bx, by;
    if ( !tr_project( ui, shown, a, &ax, &ay ) || !tr_project( ui, shown, b, &bx, &by ) )
        return HUGE_VAL;
    return tr_point_segment_distance( v3( x, y, 0 ), v3( ax, ay, 0 ), v3( bx, by, 0 ), NULL );
}

int tr_gizmo_pick_axes( const tr_ui *ui, const tr_shown *shown, vec3 at, double x, double y )
{
    double size = tr_gizmo_size( shown, at ), nearest = reach;
    int found = TR_GIZMO_NONE;
    if ( to_segment( ui, shown, at, at, x, y ) < reach )
        return TR_GIZMO_FREE;
    for ( int i = TR_GIZMO_X; i <= TR_GIZMO_Z; ++i ) {
        double d =
            to_segment( ui, shown, v3_mad( at, 0.15 * size, axes[i] ), v3_mad( at, size, axes[i] ), x, y );
        if ( d < nearest ) {
            nearest = d;
            found = i;
        }
    }
    return found;
}

int tr_gizmo_pick_ring( const tr_ui *ui, const tr_shown *shown, vec3 at, double x, double y )
{
    const int pieces = 32;
    double size = tr_gizmo_size( shown, at );
    for ( int i = 0; i < pieces; ++i )
        if ( to_segment( ui, shown, ring_point( at, size, i, pieces ), ring_point( at, size, i + 1, pieces ),
                         x, y ) < reach )
            return TR_GIZMO_RING;
    return TR_GIZMO_NONE;
}

// Where the ray through a point of the window meets a plane; false when it runs along it.
static bool meet_plane( const tr_ui *ui, const tr_shown *shown, double x, double y, vec3 at, vec3 normal,
                        vec3 *out )
{
    vec3 origin, direction;
    tr_ray( ui, shown, x, y, &origin, &direction );
    double slope = v3_dot( direction, normal );
    if ( fabs( slope ) < 1e-6 )
        return false;
    double t = v3_dot( v3_sub( at, origin ), normal ) / slope;
    *out = v3_mad( origin, t, direction );
    return t > 0.0 && t < 1e5;
}

vec3 tr_gizmo_drag( const tr_ui *ui, const tr_shown *shown, vec3 start, int handle )
{
    vec3 forward = v3_unit_or( v3_sub( shown->camera.target, shown->camera.eye ), v3( 0, 0, -1 ) );
    vec3 normal = forward, from, to;
    bool axis = handle >= TR_GIZMO_X && handle <= TR_GIZMO_Z;
    if ( axis ) // the plane through the axis that faces the viewer most
        normal = v3_unit_or( v3_sub( forward, v3_scale( v3_dot( forward, axes[handle] ), axes[handle] ) ),
                             forward );
    if ( !meet_plane( ui, shown, ui->drag.start_x, ui->drag.start_y, start, normal, &from ) ||
         !meet_plane( ui, shown, ui->drag.x, ui->drag.y, start, normal, &to ) )
        return start;
    vec3 move = v3_sub( to, from );
    if ( axis )
        move = v3_scale( v3_dot( move, axes[handle] ), axes[handle] );
    return v3_add( start, move );
}

double tr_gizmo_turn( const tr_ui *ui, const tr_shown *shown, vec3 at )
{
    vec3 from, to;
    if ( !meet_plane( ui, shown, ui->drag.start_x, ui->drag.start_y, at, v3_y, &from ) ||
         !meet_plane( ui, shown, ui->drag.x, ui->drag.y, at, v3_y, &to ) )
        return 0.0;
    from = v3_sub( from, at );
    to = v3_sub( to, at );
    double angle = atan2( to.x, to.z ) - atan2( from.x, from.z );
    return wrap_angle( angle ) / TR_DEGREE;
}
