// Distances between points, segments, capsules and boxes. Each is the minimum of a convex function, so local
// reasoning is enough and nothing depends on a tolerance.
#include "geometry/geometry.h"

#include <stddef.h>

double tr_point_segment_distance( vec3 p, vec3 a, vec3 b, double *t )
{
    vec3 d = v3_sub( b, a );
    double length2 = v3_dot( d, d );
    double at = length2 > 0 ? clampd( v3_dot( v3_sub( p, a ), d ) / length2, 0, 1 ) : 0;
    if ( t != NULL )
        *t = at;
    return v3_distance( p, v3_mad( a, at, d ) );
}

typedef struct nearest {
    double distance, s, t;
} nearest;

// The unconstrained minimum of ‖r + s u − t v‖² with r = a0 − b0, u = a1 − a0, v = b1 − b0:
//   (u·u) s − (u·v) t = −u·r,   (u·v) s − (v·v) t = −v·r.
// False when it lies outside the unit square or when the segments are too parallel to tell.
static bool crossing( vec3 a0, vec3 u, vec3 b0, vec3 v, nearest *best )
{
    vec3 r = v3_sub( a0, b0 );
    double uu = v3_dot( u, u ), uv = v3_dot( u, v ), vv = v3_dot( v, v );
    double ur = v3_dot( u, r ), vr = v3_dot( v, r );
    const double parallel = 1e-10;          // sin² of the angle between the two
    double determinant = uu * vv - uv * uv; // uu vv sin²(angle)
    if ( !( determinant > parallel * uu * vv ) )
        return false;
    double s = ( uv * vr - vv * ur ) / determinant, t = ( uu * vr - uv * ur ) / determinant;
    if ( !( s >= 0 && s <= 1 && t >= 0 && t <= 1 ) )
        return false;
    *best = ( nearest ){ v3_distance( v3_mad( a0, s, u ), v3_mad( b0, t, v ) ), s, t };
    return true;
}

// The squared distance is convex over the unit square of (s, t): its minimum is the crossing, or lies on one
// of the four edges, where one parameter is 0 or 1 and the other belongs to a point and a segment. Parallel
// segments always have a minimum on an edge.
double tr_segment_distance( vec3 a0, vec3 a1, vec3 b0, vec3 b1, double *s, double *t )
{
    nearest best;
    if ( !crossing( a0, v3_sub( a1, a0 ), b0, v3_sub( b1, b0 ), &best ) ) {
        nearest edges[4] = { { .s = 0 }, { .s = 1 }, { .t = 0 }, { .t = 1 } };
        edges[0].distance = tr_point_segment_distance( a0, b0, b1, &edges[0].t );
        edges[1].distance = tr_point_segment_distance( a1, b0, b1, &edges[1].t );
        edges[2].distance = tr_point_segment_distance( b0, a0, a1, &edges[2].s );
        edges[3].distance = tr_point_segment_distance( b1, a0, a1, &edges[3].s );
        best = edges[0];
        for ( int i = 1; i < 4; ++i )
            if ( edges[i].distance < best.distance )
                best = edges[i];
    }
    if ( s != NULL )
        *s = best.s;
    if ( t != NULL )
        *t = best.t;
    return best.distance;
}

double tr_capsule_distance( vec3 a0, vec3 a1, double radius_a, vec3 b0, vec3 b1, double radius_b )
{
    return tr_segment_distance( a0, a1, b0, b1, NULL, NULL ) - radius_a - radius_b;
}

// How far p lies beyond each pair of faces, in the box's own axes; negative between them.
static vec3 beyond_faces( vec3 p, vec3 half )
{
    return v3( fabs( p.x ) - half.x, fabs( p.y ) - half.y, fabs( p.z ) - half.z );
}

static double box_distance( vec3 p, vec3 half )
{
    vec3 q = beyond_faces( p, half );
    double deepest = fmax( q.x, fmax( q.y, q.z ) );
    if ( deepest <= 0 )
        return deepest;
    return v3_length( v3( fmax( q.x, 0 ), fmax( q.y, 0 ), fmax( q.z, 0 ) ) );
}

static double slope_of_magnitude( double x, double dx )
{
    return x > 0 ? dx : x < 0 ? -dx : 0;
}

// A number with the sign of the slope of box_distance along d at p; zero only at a minimum.
static double box_slope( vec3 p, vec3 d, vec3 half )
{
    vec3 q = beyond_faces( p, half );
    vec3 g = { slope_of_magnitude( p.x, d.x ), slope_of_magnitude( p.y, d.y ),
               slope_of_magnitude( p.z, d.z ) };
    if ( q.x <= 0 && q.y <= 0 && q.z <= 0 )
        return q.x >= q.y && q.x >= q.z ? g.x : q.y >= q.z ? g.y : g.z;
    return fmax( q.x, 0 ) * g.x + fmax( q.y, 0 ) * g.y + fmax( q.z, 0 ) * g.z;
}

double tr_point_box_distance( vec3 p, rigid box, vec3 size )
{
    return box_distance( rigid_apply( rigid_inverse( box ), p ), v3_scale( 0.5, size ) );
}

// The signed distance to a convex body is convex, so along the axis its slope changes sign once: bisection
// finds the place to the last bit, however the axis runs through faces, edges or the inside.
static double deepest_place( vec3 from, vec3 along, vec3 half )
{
    enum { HALVINGS = 60 }; // a double has 53 bits
    double low = 0, high = 1;
    for ( int i = 0; i < HALVINGS; ++i ) {
        double middle = 0.5 * ( low + high ), slope = box_slope( v3_mad( from, middle, along ), along, half );
        if ( slope > 0 )
            high = middle;
        else
            low = middle;
        if ( slope == 0 )
            break;
    }
    double at = box_distance( v3_mad( from, low, along ), half );
    if ( box_distance( from, half ) < at )
        return 0;
    return box_distance( v3_add( from, along ), half ) < at ? 1 : low;
}

double tr_capsule_box_distance( vec3 a, vec3 b, double radius, rigid box, vec3 size )
{
    rigid into = rigid_inverse( box );
    vec3 half = v3_scale( 0.5, size ), from = rigid_apply( into, a );
    vec3 along = v3_sub( rigid_apply( into, b ), from );
    return box_distance( v3_mad( from, deepest_place( from, along, half ), along ), half ) - radius;
}

static vec3 along_axis( vec3 p, vec3 q )
{
    if ( q.x >= q.y && q.x >= q.z )
        return v3( p.x < 0 ? -1 : 1, 0, 0 );
    return q.y >= q.z ? v3( 0, p.y < 0 ? -1 : 1, 0 ) : v3( 0, 0, p.z < 0 ? -1 : 1 );
}

tr_touch tr_segment_box_touch( vec3 a, vec3 b, rigid box, vec3 size )
{
    rigid into = rigid_inverse( box );
    vec3 half = v3_scale( 0.5, size ), from = rigid_apply( into, a );
    vec3 along = v3_sub( rigid_apply( into, b ), from );
    tr_touch out = { .t = deepest_place( from, along, half ) };
    vec3 p = v3_mad( from, out.t, along ), q = beyond_faces( p, half );
    out.distance = box_distance( p, half );
    if ( out.distance > 0 ) {
        out.place = v3( clampd( p.x, -half.x, half.x ), clampd( p.y, -half.y, half.y ),
                        clampd( p.z, -half.z, half.z ) );
        out.normal = v3_unit( v3_sub( p, out.place ) );
    } else {
        out.normal = along_axis( p, q );
        out.place = v3_mad( p, -out.distance, out.normal );
    }
    return out;
}
