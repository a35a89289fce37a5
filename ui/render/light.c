// The placement of the key light's shadow map.
#include "ui/render/private.h"

static const double texel_budget = 0.8e6;
static const int texel_step = 256; // sizes are multiples of this, so that maps are rarely created again
static const int texel_limit = 4096;

tr_bounds tr_bounds_empty( void )
{
    return ( tr_bounds ){ { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
}

void tr_bounds_add( tr_bounds *bounds, vec3 p, double r )
{
    if ( !v3_finite( p ) )
        return;
    bounds->low =
        v3( fmin( bounds->low.x, p.x - r ), fmin( bounds->low.y, p.y - r ), fmin( bounds->low.z, p.z - r ) );
    bounds->high = v3( fmax( bounds->high.x, p.x + r ), fmax( bounds->high.y, p.y + r ),
                       fmax( bounds->high.z, p.z + r ) );
}

void tr_box_corners( const tr_draw_box *box, vec3 corners[8] )
{
    for ( int i = 0; i < 8; ++i ) {
        vec3 sign = v3( i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5 );
        corners[i] = rigid_apply( box->place, v3_mul( sign, box->size ) );
    }
}

static vec3 along( vec3 p, const vec3 axes[3] )
{
    return v3( v3_dot( p, axes[0] ), v3_dot( p, axes[1] ), v3_dot( p, axes[2] ) );
}

// Bounds of the solids as coordinates along three axes, seen from `origin`.
static tr_bounds bounds_along( const tr_draw_list *list, bool opaque_only, vec3 origin, const vec3 axes[3] )
{
    tr_bounds bounds = tr_bounds_empty();
    for ( int i = 0; i < list->capsule_count; ++i ) {
        const tr_draw_capsule *c = &list->capsules[i];
        if ( opaque_only && !tr_colour_opaque( c->colour ) )
            continue;
        tr_bounds_add( &bounds, along( v3_sub( c->a, origin ), axes ), c->radius );
        tr_bounds_add( &bounds, along( v3_sub( c->b, origin ), axes ), c->radius_b );
    }
    for ( int i = 0; i < list->box_count; ++i ) {
        vec3 corners[8];
        if ( opaque_only && !tr_colour_opaque( list->boxes[i].colour ) )
            continue;
        tr_box_corners( &list->boxes[i], corners );
        for ( int k = 0; k < 8; ++k )
            tr_bounds_add( &bounds, along( v3_sub( corners[k], origin ), axes ), 0.0 );
    }
    for ( int i = 0; i < list->triangle_count; ++i ) {
        const tr_draw_triangle *t = &list->triangles[i];
        const vec3 corners[3] = { t->a, t->b, t->c };
        for ( int k = 0; k < 3 && !( opaque_only && !tr_colour_opaque( t->colour ) ); ++k )
            tr_bounds_add( &bounds, along( v3_sub( corners[k], origin ), axes ), 0.0 );
    }
    return bounds;
}

tr_bounds tr_bounds_of_list( const tr_draw_list *list, bool opaque_only )
{
    const vec3 axes[3] = { v3_x, v3_y, v3_z };
    return bounds_along( list, opaque_only, v3_zero, axes );
}

static int texels( double length, double texel )
{
    double steps = ceil( length / ( texel * texel_step ) );
    return tr_int_clamped( steps, 1, texel_limit / texel_step ) * texel_step;
}

tr_light_view tr_light_view_of( const tr_draw_list *list, vec3 light, vec3 origin )
{
    const int turns = 12;
    tr_light_view view = { .z = v3_negate( light ) };
    tr_bounds best = tr_bounds_empty();
    double best_area = HUGE_VAL;
    vec3 across = v3_perpendicular( light ), over = v3_cross( light, across );
    for ( int i = 0; i < turns; ++i ) {
        double angle = 0.5 * TR_PI * i / turns;
        vec3 axes[3] = { v3_add( v3_scale( cos( angle ), across ), v3_scale( sin( angle ), over ) ),
                         v3_add( v3_scale( -sin( angle ), across ), v3_scale( cos( angle ), over ) ),
                         view.z };
        tr_bounds b = bounds_along( list, true, origin, axes );
        double area = ( b.high.x - b.low.x ) * ( b.high.y - b.low.y );
        if ( b.low.x <= b.high.x && area < best_area ) {
            best_area = area;
            best = b;
            view.x = axes[0];
            view.y = axes[1];
        }
    }
    if ( best_area == HUGE_VAL )
        return ( tr_light_view ){ 0 };
    // Softness goes with the size of the bodies, so that a spider's shadow looks like a spider's.
    tr_bounds upright = tr_bounds_of_list( list, true );
    double size = clampd( upright.high.y - list->ground, 1e-4, 2.0 );
    view.tallest = fmax( upright.high.y - list->ground, size );
    view.sharp = 0.008 * size;
    view.soft = 0.055 * size;
    double pad = 3.0 * view.soft;
    double length_x = best.high.x - best.low.x + 2.0 * pad, length_y = best.high.y - best.low.y + 2.0 * pad;
    view.texel = fmax( sqrt( length_x * length_y / texel_budget ), 0.3 * view.sharp );
    view.texel = fmax( view.texel, fmax( length_x, length_y ) / texel_limit );
    view.width = texels( length_x, view.texel );
    view.height = texels( length_y, view.texel );
    view.low = v3( 0.5 * ( best.low.x + best.high.x - view.texel * view.width ),
                   0.5 * ( best.low.y + best.high.y - view.texel * view.height ), best.low.z - 0.01 * size );
    view.depth = best.high.z - view.low.z + 0.01 * size;
    return view;
}

void tr_light_matrix( const tr_light_view *view, float out[16] )
{
    vec3 axes[3] = { view->x, view->y, view->z };
    double low[3] = { view->low.x, view->low.y, view->low.z };
    double size[3] = { view->texel * view->width, view->texel * view->height, view->depth };
    for ( int r = 0; r < 3; ++r ) {
        out[0 + r] = (float)( axes[r].x / size[r] );
        out[4 + r] = (float)( axes[r].y / size[r] );
        out[8 + r] = (float)( axes[r].z / size[r] );
        out[12 + r] = (float)( -low[r] / size[r] );
    }
    out[3] = out[7] = out[11] = 0.0f;
    out[15] = 1.0f;
}

// A floor point p = s x + t y + d z has p.y = ground, so d = (ground - s x.y - t y.y) / z.y.
void tr_light_floor( const tr_light_view *view, double ground, float out[3] )
{
    double slope = -view->z.y > 1e-6 ? view->z.y : -1e-6;
    double at_low = ( ground - view->low.x * view->x.y - view->low.y * view->y.y ) / slope;
    out[0] = (float)( ( at_low - view->low.z ) / view->depth );
    out[1] = (float)( -view->texel * view->width * view->x.y / slope / view->depth );
    out[2] = (float)( -view->texel * view->height * view->y.y / slope / view->depth );
}
