// Shapes: what capsules and points touch, whatever it is made of.
#include "geometry/geometry.h"

#include <assert.h>

const char *const tr_shape_kind_names[] = { "box", "sphere", "polyline", "mesh", NULL };

tr_shape tr_shape_box( vec3 size )
{
    return ( tr_shape ){ .kind = TR_SHAPE_BOX, .size = size, .scale = 1 };
}

tr_shape tr_shape_sphere( double diameter )
{
    return ( tr_shape ){
        .kind = TR_SHAPE_SPHERE, .size = v3_scale( diameter, v3_one ), .radius = 0.5 * diameter, .scale = 1 };
}

static void wrap( tr_shape *shape, vec3 low, vec3 high )
{
    shape->middle = v3_lerp( low, high, 0.5 );
    shape->size = v3_mad( v3_sub( high, low ), 2 * shape->radius, v3_one );
}

tr_shape tr_shape_polyline( const vec3 *points, int count, double thickness )
{
    assert( count > 0 );
    tr_shape shape = { .kind = TR_SHAPE_POLYLINE,
                       .radius = 0.5 * thickness,
                       .points = points,
                       .point_count = count,
                       .scale = 1 };
    vec3 low = points[0], high = points[0];
    for ( int i = 1; i < count; ++i ) {
        low = v3( fmin( low.x, points[i].x ), fmin( low.y, points[i].y ), fmin( low.z, points[i].z ) );
        high = v3( fmax( high.x, points[i].x ), fmax( high.y, points[i].y ), fmax( high.z, points[i].z ) );
    }
    wrap( &shape, low, high );
    return shape;
}

tr_shape tr_shape_mesh( const tr_trimesh *mesh, double thickness )
{
    tr_shape shape = {
        .kind = TR_SHAPE_MESH, .radius = mesh->closed ? 0 : 0.5 * thickness, .mesh = mesh, .scale = 1 };
    wrap( &shape, mesh->low, mesh->high );
    return shape;
}

tr_shape tr_shape_scaled( const tr_shape *shape, double factor )
{
    tr_shape out = *shape;
    out.size = v3_scale( factor, out.size );
    out.radius *= factor;
    out.scale *= factor;
    return out;
}

tr_shape tr_shape_in( const tr_shape *shape, vec3 size )
{
    if ( shape->kind == TR_SHAPE_BOX )
        return tr_shape_box( size );
    double sum = shape->size.x + shape->size.y + shape->size.z;
    return tr_shape_scaled( shape, sum > 0 ? ( size.x + size.y + size.z ) / sum : 1 );
}

vec3 tr_shape_point( const tr_shape *shape, vec3 p )
{
    return v3_scale( shape->scale, v3_sub( p, shape->middle ) );
}

vec3 tr_shape_given( const tr_shape *shape, vec3 p )
{
    return v3_mad( shape->middle, 1 / shape->scale, p );
}

// From a core without thickness to the surface around it.
static tr_touch around( double t, vec3 p, vec3 core, double radius )
{
    tr_touch out = { .t = t, .distance = v3_distance( p, core ) - radius };
    out.normal = v3_unit_or( v3_sub( p, core ), v3_y );
    out.place = v3_mad( core, radius, out.normal );
    return out;
}

static tr_touch touch_sphere( const tr_shape *shape, vec3 a, vec3 b )
{
    double t;
    tr_point_segment_distance( v3_zero, a, b, &t );
    return around( t, v3_lerp( a, b, t ), v3_zero, shape->radius );
}

static tr_touch touch_polyline( const tr_shape *shape, vec3 a, vec3 b )
{
    tr_touch best = { .distance = INFINITY };
    int last = shape->point_count > 1 ? shape->point_count - 1 : 1;
    for ( int i = 0; i < last; ++i ) {
        vec3 c = tr_shape_point( shape, shape->points[i] ),
             d = tr_shape_point( shape, shape->points[i + 1 < shape->point_count ? i + 1 : i] );
        double s, t, distance = tr_segment_distance( a, b, c, d, &s, &t );
        if ( distance - shape->radius < best.distance )
            best = around( s, v3_lerp( a, b, s ), v3_lerp( c, d, t ), shape->radius );
    }
    return best;
}

static tr_touch touch_mesh( const tr_shape *shape, vec3 a, vec3 b )
{
    tr_touch touch =
        tr_segment_trimesh_touch( tr_shape_given( shape, a ), tr_shape_given( shape, b ), shape->mesh );
    touch.distance = shape->scale * touch.distance - shape->radius;
    touch.place = v3_mad( tr_shape_point( shape, touch.place ), shape->radius, touch.normal );
    return touch;
}

tr_touch tr_shape_touch( const tr_shape *shape, rigid at, vec3 a, vec3 b )
{
    if ( shape->kind == TR_SHAPE_BOX )
        return tr_segment_box_touch( a, b, at, shape->size );
    rigid into = rigid_inverse( at );
    a = rigid_apply( into, a );
    b = rigid_apply( into, b );
    return shape->kind == TR_SHAPE_SPHERE     ? touch_sphere( shape, a, b )
           : shape->kind == TR_SHAPE_POLYLINE ? touch_polyline( shape, a, b )
                                              : touch_mesh( shape, a, b );
}

double tr_shape_distance( const tr_shape *shape, rigid at, vec3 a, vec3 b, double radius )
{
    if ( shape->kind == TR_SHAPE_BOX )
        return tr_capsule_box_distance( a, b, radius, at, shape->size );
    return tr_shape_touch( shape, at, a, b ).distance - radius;
}

// Sphere tracing: each step is as long as the surface is far, so that none goes beyond it by more than the
// accuracy.
double tr_shape_exit( const tr_shape *shape, vec3 inside, vec3 way )
{
    enum { STEPS = 256 };         // a ray along a surface gets nowhere
    const double accuracy = 1e-4; // metres
    double far = 0, most = v3_length( shape->size );
    for ( int i = 0; i < STEPS && far < most; ++i ) {
        vec3 p = v3_mad( inside, far, way );
        double distance = tr_shape_distance( shape, rigid_identity, p, p, 0 );
        if ( distance >= 0 )
            break;
        far += fmax( -distance, accuracy );
    }
    return far;
}

// -------------------------------------------------------------------------------------------------- heights

// All in the shape's own frame, where `up` is up.

static double component( vec3 v, int axis )
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static double height_above_box( vec3 p, vec3 up, vec3 size, double margin )
{
    int axis = fabs( up.y ) >= fabs( up.x ) && fabs( up.y ) >= fabs( up.z ) ? 1
               : fabs( up.x ) >= fabs( up.z )                               ? 0
                                                                            : 2;
    for ( int i = 0; i < 3; ++i )
        if ( i != axis && fabs( component( p, i ) ) > 0.5 * component( size, i ) + margin )
            return INFINITY;
    double upward = component( up, axis ) < 0 ? -component( p, axis ) : component( p, axis );
    return upward - 0.5 * component( size, axis );
}

// How far below p the upper side of a capsule is. The distance of its axis from points on the vertical
// through p falls and rises once: bisection.
static double height_above_capsule( vec3 p, vec3 up, vec3 c, vec3 d, double radius )
{
    double reach = v3_distance( p, c ) + v3_distance( c, d ) + radius, middle;
    vec3 high = v3_mad( p, reach, up ), low = v3_mad( p, -reach, up );
    if ( tr_segment_distance( high, low, c, d, &middle, NULL ) > radius )
        return INFINITY;
    enum { HALVINGS = 60 }; // a double has 53 bits
    double outside = 0, inside = middle;
    for ( int i = 0; i < HALVINGS; ++i ) {
        double s = 0.5 * ( outside + inside );
        if ( tr_point_segment_distance( v3_lerp( high, low, s ), c, d, NULL ) > radius )
            outside = s;
        else
            inside = s;
    }
    return ( 2 * inside - 1 ) * reach;
}

static double height_above_polyline( const tr_shape *shape, vec3 p, vec3 up, double slack )
{
    double best = INFINITY;
    for ( int i = 0; i < shape->point_count; ++i ) {
        vec3 c = tr_shape_point( shape, shape->points[i] ),
             d = tr_shape_point( shape, shape->points[i + 1 < shape->point_count ? i + 1 : i] );
        double height = height_above_capsule( p, up, c, d, shape->radius );
        if ( height >= -slack )
            best = fmin( best, height );
    }
    return best;
}

double tr_shape_height( const tr_shape *shape, rigid at, vec3 p, double slack, double margin )
{
    vec3 q = rigid_apply( rigid_inverse( at ), p ), up = q_unrotate( at.rotation, v3_y );
    double height;
    bool inside;
    switch ( shape->kind ) {
    case TR_SHAPE_SPHERE:
        height = height_above_capsule( q, up, v3_zero, v3_zero, shape->radius );
        return height >= -slack ? height : INFINITY;
    case TR_SHAPE_POLYLINE: return height_above_polyline( shape, q, up, slack );
    case TR_SHAPE_MESH: // a surface is stood on above its middle
        q = v3_mad( q, slack - shape->radius, up );
        height = shape->scale *
                 tr_trimesh_ray( shape->mesh, tr_shape_given( shape, q ), v3_negate( up ), &inside );
        return inside && shape->mesh->closed ? INFINITY : height - slack;
    default: return height_above_box( q, up, shape->size, margin );
    }
}
