// Triangle meshes: what is nearest to a segment, and whether that is inside.
//
// Triangles stand in a tree of boxes. A query goes down it, nearer boxes first, and leaves out what is
// farther than what it has. Everything is a function of mesh and segment alone, so that any thread may ask
// and gets the same bits.
//
// Inside is where the surface is seen from behind. At an edge or a corner the nearest triangle alone does not
// tell; the sum of the normals around it, by their angles at a corner, does (Baerentzen and Aanaes,
// "Signed distance computation using the angle weighted pseudonormal", 2005).
#include "geometry/geometry.h"

#include <stdlib.h>
#include <string.h>

enum {
    leaf_size = 4,     // triangles
    deepest_tree = 64, // more than a balanced tree of TR_MESH_MOST triangles has
    places = 9,        // along an axis, where its depth is probed
    refinements = 24   // golden sections around the deepest of them: to 10⁻⁵ of the gap between two
};

#define ROUNDING 1e-12 // error of distances along a ray
#define TOUCHING 1e-9  // distance of an axis that meets the surface

typedef struct tr_trimesh_node {
    vec3 low, high;
    int first, count; // triangles of a leaf; count 0: the children are the next node and `first`
} tr_trimesh_node;

typedef struct nearest {
    double distance; // never negative
    double t;        // along the segment
    vec3 place;      // on the mesh
    vec3 normal;     // normal of the triangle, edge or corner there; of any length
} nearest;

// ------------------------------------------------------------------------------------------------ triangles

// Nearest place of triangle k to p, region by region: in the plane of the triangle p is beyond two edges (a
// corner), beyond one, or above the face.
static nearest nearest_in_triangle( const tr_trimesh *mesh, int k, vec3 p )
{
    const int *corner = mesh->triangles[k];
    vec3 n = mesh->normals[k];
    nearest best = { .distance = INFINITY };
    bool above = v3_dot( n, n ) > 0;
    for ( int i = 0; i < 3; ++i ) {
        vec3 a = mesh->points[corner[i]], b = mesh->points[corner[( i + 1 ) % 3]];
        if ( above && v3_dot( v3_cross( n, v3_sub( b, a ) ), v3_sub( p, a ) ) >= 0 )
            continue;
        above = false;
        double t, distance = tr_point_segment_distance( p, a, b, &t );
        if ( distance < best.distance )
            best = ( nearest ){ distance, 0, v3_lerp( a, b, t ),
                                t <= 0   ? mesh->point_normals[corner[i]]
                                : t >= 1 ? mesh->point_normals[corner[( i + 1 ) % 3]]
                                         : mesh->edge_normals[k][i] };
    }
    if ( above ) {
        double height = v3_dot( n, v3_sub( p, mesh->points[corner[0]] ) );
        best = ( nearest ){ fabs( height ), 0, v3_mad( p, -height, n ), n };
    }
    return best;
}

// Where the line from + s way runs through triangle k, as s; false: it does not.
static bool pierces( const tr_trimesh *mesh, int k, vec3 from, vec3 way, double *s )
{
    const int *corner = mesh->triangles[k];
    vec3 a = mesh->points[corner[0]], n = mesh->normals[k];
    double slope = v3_dot( n, way );
    if ( slope == 0 )
        return false;
    *s = v3_dot( n, v3_sub( a, from ) ) / slope;
    vec3 p = v3_mad( from, *s, way );
    for ( int i = 0; i < 3; ++i ) {
        vec3 b = mesh->points[corner[i]], c = mesh->points[corner[( i + 1 ) % 3]];
        if ( v3_dot( v3_cross( n, v3_sub( c, b ) ), v3_sub( p, b ) ) < 0 )
            return false;
    }
    return true;
}

static void take_if_nearer( nearest *best, nearest other )
{
    if ( other.distance < best->distance )
        *best = other;
}

// The distance of a segment and a triangle is zero where it runs through, else that of an end of the segment
// or of an edge of the triangle.
static nearest segment_to_triangle( const tr_trimesh *mesh, int k, vec3 a, vec3 b )
{
    nearest best = nearest_in_triangle( mesh, k, a );
    vec3 along = v3_sub( b, a );
    if ( v3_dot( along, along ) == 0 )
        return best;
    nearest end = nearest_in_triangle( mesh, k, b );
    end.t = 1;
    take_if_nearer( &best, end );
    for ( int i = 0; i < 3; ++i ) {
        const int *corner = mesh->triangles[k];
        vec3 c = mesh->points[corner[i]], d = mesh->points[corner[( i + 1 ) % 3]];
        double s, t, distance = tr_segment_distance( a, b, c, d, &s, &t );
        take_if_nearer( &best, ( nearest ){ distance, s, v3_lerp( c, d, t ), mesh->edge_normals[k][i] } );
    }
    double s;
    if ( pierces( mesh, k, a, along, &s ) && s >= 0 && s <= 1 )
        best = ( nearest ){ 0, s, v3_mad( a, s, along ), mesh->normals[k] };
    return best;
}

// ------------------------------------------------------------------------------------------------ the tree

static vec3 lower( vec3 a, vec3 b )
{
    return v3( fmin( a.x, b.x ), fmin( a.y, b.y ), fmin( a.z, b.z ) );
}

static vec3 upper( vec3 a, vec3 b )
{
    return v3( fmax( a.x, b.x ), fmax( a.y, b.y ), fmax( a.z, b.z ) );
}

typedef struct part { // a triangle while the tree grows
    vec3 low, high, middle;
    int triangle;
} part;

static double along( vec3 p, int axis )
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static int compare_parts( const part *a, const part *b, int axis )
{
    double x = along( a->middle, axis ), y = along( b->middle, axis );
    return x != y ? ( x > y ) - ( x < y ) : a->triangle - b->triangle;
}
static int by_x( const void *a, const void *b )
{
    return compare_parts( a, b, 0 );
}
static int by_y( const void *a, const void *b )
{
    return compare_parts( a, b, 1 );
}
static int by_z( const void *a, const void *b )
{
    return compare_parts( a, b, 2 );
}

// Halves along the longest side, until few are left. The tree is as deep as the logarithm of their number.
static void grow( tr_trimesh *mesh, part *parts, int first, int count )
{
    tr_trimesh_node *node = &mesh->nodes[mesh->node_count++];
    *node = ( tr_trimesh_node ){ parts[first].low, parts[first].high, first, count };
    vec3 low = parts[first].middle, high = low;
    for ( int i = first + 1; i < first + count; ++i ) {
        node->low = lower( node->low, parts[i].low );
        node->high = upper( node->high, parts[i].high );
        low = lower( low, parts[i].middle );
        high = upper( high, parts[i].middle );
    }
    if ( count <= leaf_size )
        return;
    static int ( *const orders[] )( const void *, const void * ) = { by_x, by_y, by_z };
    vec3 side = v3_sub( high, low );
    int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
    qsort( parts + first, (size_t)count, sizeof *parts, orders[axis] );
    node->count = 0;
    grow( mesh, parts, first, count / 2 );
    node->first = mesh->node_count;
    grow( mesh, parts, first + count / 2, count - count / 2 );
}

static double gap( double low, double high, double other_low, double other_high )
{
    return fmax( 0, fmax( low - other_high, other_low - high ) );
}

static double box_gap( const tr_trimesh_node *node, vec3 low, vec3 high )
{
    return v3_length( v3( gap( node->low.x, node->high.x, low.x, high.x ),
                          gap( node->low.y, node->high.y, low.y, high.y ),
                          gap( node->low.z, node->high.z, low.z, high.z ) ) );
}

static nearest nearest_to( const tr_trimesh *mesh, vec3 a, vec3 b )
{
    nearest best = { .distance = INFINITY };
    vec3 low = lower( a, b ), high = upper( a, b );
    struct {
        int node;
        double gap;
    } stack[deepest_tree];
    int depth = 0;
    stack[depth].node = 0;
    stack[depth++].gap = box_gap( &mesh->nodes[0], low, high );
    while ( depth > 0 ) {
        int at = stack[--depth].node;
        if ( stack[depth].gap >= best.distance )
            continue;
        const tr_trimesh_node *node = &mesh->nodes[at];
        for ( int i = node->first; i < node->first + node->count; ++i )
            take_if_nearer( &best, segment_to_triangle( mesh, i, a, b ) );
        if ( node->count > 0 )
            continue;
        double left = box_gap( &mesh->nodes[at + 1], low, high ),
               right = box_gap( &mesh->nodes[node->first], low, high );
        bool left_last = left <= right; // what is pushed last is looked at first
        for ( int i = 0; i < 2; ++i ) {
            bool is_left = ( i == 1 ) == left_last;
            stack[depth].node = is_left ? at + 1 : node->first;
            stack[depth++].gap = is_left ? left : right;
        }
    }
    return best;
}

static bool ray_meets( const tr_trimesh_node *node, vec3 from, vec3 way, double most )
{
    double first = 0, last = most;
    for ( int axis = 0; axis < 3; ++axis ) {
        double o = along( from, axis ), d = along( way, axis ), low = along( node->low, axis ),
               high = along( node->high, axis );
        if ( d == 0 ) {
            if ( o < low || o > high )
                return false;
            continue;
        }
        double x = ( low - o ) / d, y = ( high - o ) / d;
        first = fmax( first, fmin( x, y ) );
        last = fmin( last, fmax( x, y ) );
    }
    return first <= last * ( 1 + ROUNDING ) + ROUNDING;
}

double tr_trimesh_ray( const tr_trimesh *mesh, vec3 from, vec3 way, bool *from_inside )
{
    double best = INFINITY;
    bool behind = false;
    int stack[deepest_tree], depth = 0;
    stack[depth++] = 0;
    while ( depth > 0 ) {
        int at = stack[--depth];
        const tr_trimesh_node *node = &mesh->nodes[at];
        if ( !ray_meets( node, from, way, best ) )
            continue;
        double s;
        for ( int i = node->first; i < node->first + node->count; ++i )
            if ( pierces( mesh, i, from, way, &s ) && s >= 0 && s < best ) {
                best = s;
                behind = v3_dot( mesh->normals[i], way ) > 0;
            }
        if ( node->count == 0 ) {
            stack[depth++] = node->first;
            stack[depth++] = at + 1;
        }
    }
    if ( from_inside != NULL )
        *from_inside = behind;
    return best;
}

// --------------------------------------------------------------------------------------------------- touches

// Signed distance of a point, with the nearest place.
static double signed_distance( const tr_trimesh *mesh, vec3 p, nearest *at )
{
    *at = nearest_to( mesh, p, p );
    return mesh->closed && v3_dot( at->normal, v3_sub( p, at->place ) ) < 0 ? -at->distance : at->distance;
}

// Least signed distance along a segment that is inside, or runs through the surface.
static double deepest_place( const tr_trimesh *mesh, vec3 a, vec3 b )
{
    const double golden = 0.6180339887498949;
    nearest ignored;
    double best = INFINITY, at = 0;
    for ( int i = 0; i < places; ++i ) {
        double t = (double)i / ( places - 1 ), d = signed_distance( mesh, v3_lerp( a, b, t ), &ignored );
        if ( d < best ) {
            best = d;
            at = t;
        }
    }
    double low = fmax( at - 1.0 / ( places - 1 ), 0 ), high = fmin( at + 1.0 / ( places - 1 ), 1 );
    for ( int i = 0; i < refinements; ++i ) {
        double width = golden * ( high - low ), x = high - width, y = low + width;
        double dx = signed_distance( mesh, v3_lerp( a, b, x ), &ignored ),
               dy = signed_distance( mesh, v3_lerp( a, b, y ), &ignored );
        if ( fmin( dx, dy ) < best ) {
            best = fmin( dx, dy );
            at = dx <= dy ? x : y;
        }
        if ( dx <= dy )
            high = y;
        else
            low = x;
    }
    return at;
}

tr_touch tr_segment_trimesh_touch( vec3 a, vec3 b, const tr_trimesh *mesh )
{
    nearest at = nearest_to( mesh, a, b );
    tr_touch out = { .t = at.t, .distance = at.distance, .place = at.place };
    vec3 apart = v3_sub( v3_lerp( a, b, at.t ), at.place );
    bool inside = mesh->closed && ( at.distance < TOUCHING || v3_dot( at.normal, apart ) < 0 );
    if ( inside ) {
        out.t = deepest_place( mesh, a, b );
        vec3 p = v3_lerp( a, b, out.t );
        out.distance = signed_distance( mesh, p, &at );
        out.place = at.place;
        apart = out.distance < 0 ? v3_sub( at.place, p ) : v3_sub( p, at.place );
    }
    // On the surface itself: its normal, on the side where most of the axis is where it has no inside.
    vec3 normal = v3_unit_or( at.normal, v3_y );
    if ( !mesh->closed && v3_dot( v3_sub( v3_lerp( a, b, 0.5 ), out.place ), normal ) < 0 )
        normal = v3_negate( normal );
    out.normal = v3_length( apart ) > TOUCHING ? v3_unit( apart ) : normal;
    return out;
}

// -------------------------------------------------------------------------------------------------- building

typedef struct numbered { // a point and where it stands
    vec3 place;
    int index;
} numbered;

static bool is_same( vec3 a, vec3 b )
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static int by_place( const void *p, const void *q )
{
    const numbered *a = p, *b = q;
    for ( int axis = 0; axis < 3; ++axis ) {
        double x = along( a->place, axis ), y = along( b->place, axis );
        if ( x != y )
            return x < y ? -1 : 1;
    }
    return a->index - b->index;
}

// The first point at the same place stands for each.
static bool weld( const vec3 *points, int count, int *twin )
{
    numbered *list = tr_alloc( (size_t)count, sizeof *list );
    for ( int i = 0; list != NULL && i < count; ++i )
        list[i] = ( numbered ){ points[i], i };
    if ( list != NULL )
        qsort( list, (size_t)count, sizeof *list, by_place );
    for ( int i = 0, first = 0; list != NULL && i < count; ++i ) {
        if ( !is_same( list[i].place, list[first].place ) )
            first = i;
        twin[list[i].index] = list[first].index;
    }
    bool ok = list != NULL;
    tr_free( list );
    return ok;
}

// Triangles with three corners, and the points they use, in the order in which they were given.
static bool take( tr_trimesh *mesh, const vec3 *points, int point_count, const int ( *triangles )[3],
                  int triangle_count )
{
    int *twin = tr_alloc( (size_t)point_count, sizeof( int ) ),
        *name = tr_alloc( (size_t)point_count, sizeof( int ) );
    mesh->points = tr_alloc( (size_t)point_count, sizeof( vec3 ) );
    mesh->triangles = tr_alloc( (size_t)triangle_count, sizeof *mesh->triangles );
    bool ok = twin != NULL && name != NULL && mesh->points != NULL && mesh->triangles != NULL &&
              weld( points, point_count, twin );
    for ( int t = 0; ok && t < triangle_count; ++t ) {
        int c[3] = { twin[triangles[t][0]], twin[triangles[t][1]], twin[triangles[t][2]] };
        if ( c[0] == c[1] || c[1] == c[2] || c[2] == c[0] )
            continue;
        for ( int i = 0; i < 3; ++i ) {
            if ( name[c[i]] == 0 ) {
                mesh->points[mesh->point_count++] = points[c[i]];
                name[c[i]] = mesh->point_count;
            }
            mesh->triangles[mesh->triangle_count][i] = name[c[i]] - 1;
        }
        ++mesh->triangle_count;
    }
    tr_free( twin );
    tr_free( name );
    return ok;
}

static bool plant( tr_trimesh *mesh )
{
    size_t count = (size_t)mesh->triangle_count;
    part *parts = tr_alloc( count, sizeof *parts );
    int( *sorted )[3] = tr_alloc( count, sizeof *sorted );
    mesh->nodes = tr_alloc( 2 * count, sizeof *mesh->nodes );
    bool ok = parts != NULL && sorted != NULL && mesh->nodes != NULL;
    for ( int i = 0; ok && i < mesh->triangle_count; ++i ) {
        const int *c = mesh->triangles[i];
        vec3 a = mesh->points[c[0]], b = mesh->points[c[1]], d = mesh->points[c[2]];
        vec3 low = lower( a, lower( b, d ) ), high = upper( a, upper( b, d ) );
        parts[i] = ( part ){ low, high, v3_lerp( low, high, 0.5 ), i };
    }
    if ( ok )
        grow( mesh, parts, 0, mesh->triangle_count );
    for ( int i = 0; ok && i < mesh->triangle_count; ++i )
        memcpy( sorted[i], mesh->triangles[parts[i].triangle], sizeof *sorted );
    if ( ok ) {
        memcpy( mesh->triangles, sorted, count * sizeof *sorted );
        mesh->low = mesh->nodes[0].low;
        mesh->high = mesh->nodes[0].high;
    }
    tr_free( parts );
    tr_free( sorted );
    return ok;
}

typedef struct edge {
    int low, high; // points
    int triangle, corner;
    bool falls; // it runs from the higher to the lower
} edge;

static int by_ends( const void *p, const void *q )
{
    const edge *a = p, *b = q;
    return a->low != b->low     ? a->low - b->low
           : a->high != b->high ? a->high - b->high
                                : ( a->triangle - b->triangle ) * 3 + a->corner - b->corner;
}

// Normals of edges are those of all triangles at them; whether the mesh is closed shows at the same time.
static bool join_edges( tr_trimesh *mesh )
{
    int count = 3 * mesh->triangle_count;
    edge *edges = tr_alloc( (size_t)count, sizeof *edges );
    for ( int e = 0; edges != NULL && e < count; ++e ) {
        int a = mesh->triangles[e / 3][e % 3], b = mesh->triangles[e / 3][( e + 1 ) % 3];
        edges[e] = ( edge ){ a < b ? a : b, a < b ? b : a, e / 3, e % 3, a > b };
    }
    if ( edges == NULL )
        return false;
    qsort( edges, (size_t)count, sizeof *edges, by_ends );
    mesh->closed = true;
    for ( int i = 0, k; i < count; i = k ) {
        vec3 sum = v3_zero;
        for ( k = i; k < count && edges[k].low == edges[i].low && edges[k].high == edges[i].high; ++k )
            sum = v3_add( sum, mesh->normals[edges[k].triangle] );
        mesh->closed = mesh->closed && k - i == 2 && edges[i].falls != edges[i + 1].falls;
        for ( int e = i; e < k; ++e )
            mesh->edge_normals[edges[e].triangle][edges[e].corner] = sum;
    }
    tr_free( edges );
    return true;
}

// Six times what it holds.
static double volume( const tr_trimesh *mesh )
{
    double sum = 0;
    vec3 o = v3_lerp( mesh->low, mesh->high, 0.5 );
    for ( int t = 0; t < mesh->triangle_count; ++t ) {
        const int *c = mesh->triangles[t];
        sum += v3_dot( v3_sub( mesh->points[c[0]], o ),
                       v3_cross( v3_sub( mesh->points[c[1]], o ), v3_sub( mesh->points[c[2]], o ) ) );
    }
    return sum;
}

static void find_normals( tr_trimesh *mesh )
{
    memset( mesh->point_normals, 0, (size_t)mesh->point_count * sizeof( vec3 ) );
    for ( int t = 0; t < mesh->triangle_count; ++t ) {
        const int *c = mesh->triangles[t];
        const vec3 *p = mesh->points;
        mesh->normals[t] =
            v3_unit_or( v3_cross( v3_sub( p[c[1]], p[c[0]] ), v3_sub( p[c[2]], p[c[0]] ) ), v3_zero );
        for ( int i = 0; i < 3; ++i ) {
            vec3 u = v3_unit( v3_sub( p[c[( i + 1 ) % 3]], p[c[i]] ) ),
                 v = v3_unit( v3_sub( p[c[( i + 2 ) % 3]], p[c[i]] ) );
            double angle = acos( clampd( v3_dot( u, v ), -1, 1 ) );
            mesh->point_normals[c[i]] = v3_mad( mesh->point_normals[c[i]], angle, mesh->normals[t] );
        }
    }
}

static bool orient( tr_trimesh *mesh )
{
    size_t count = (size_t)mesh->triangle_count;
    mesh->normals = tr_alloc( count, sizeof( vec3 ) );
    mesh->edge_normals = tr_alloc( count, sizeof *mesh->edge_normals );
    mesh->point_normals = tr_alloc( (size_t)mesh->point_count, sizeof( vec3 ) );
    if ( mesh->normals == NULL || mesh->edge_normals == NULL || mesh->point_normals == NULL )
        return false;
    find_normals( mesh );
    if ( !join_edges( mesh ) )
        return false;
    if ( !mesh->closed || volume( mesh ) > 0 )
        return true;
    for ( int t = 0; t < mesh->triangle_count; ++t ) {
        int swap = mesh->triangles[t][1];
        mesh->triangles[t][1] = mesh->triangles[t][2];
        mesh->triangles[t][2] = swap;
    }
    find_normals( mesh );
    return join_edges( mesh );
}

static bool check_input( const vec3 *points, int point_count, const int ( *triangles )[3], int triangle_count,
                         tr_error *error )
{
    if ( point_count > TR_MESH_MOST || triangle_count > TR_MESH_MOST )
        return tr_error_set( error, "a mesh has at most %d points and triangles", TR_MESH_MOST );
    for ( int i = 0; i < point_count; ++i )
        if ( !v3_finite( points[i] ) )
            return tr_error_set( error, "point %d of the mesh is not finite", i + 1 );
    for ( int t = 0; t < triangle_count; ++t )
        for ( int i = 0; i < 3; ++i )
            if ( triangles[t][i] < 0 || triangles[t][i] >= point_count )
                return tr_error_set( error, "triangle %d of the mesh has a corner that is no point", t + 1 );
    return true;
}

bool tr_trimesh_build( tr_trimesh *out, const vec3 *points, int point_count, const int ( *triangles )[3],
                       int triangle_count, tr_error *error )
{
    *out = ( tr_trimesh ){ 0 };
    if ( !check_input( points, point_count, triangles, triangle_count, error ) )
        return false;
    bool ok = take( out, points, point_count, triangles, triangle_count );
    if ( ok && out->triangle_count == 0 ) {
        tr_trimesh_free( out );
        return tr_error_set( error, "the mesh has no triangle" );
    }
    ok = ok && plant( out ) && orient( out );
    if ( !ok )
        tr_trimesh_free( out );
    return ok || tr_error_memory( error );
}

static void *copy_of( const void *items, int count, size_t size )
{
    void *out = tr_alloc( (size_t)count, size );
    if ( out != NULL )
        memcpy( out, items, (size_t)count * size );
    return out;
}

bool tr_trimesh_copy( tr_trimesh *out, const tr_trimesh *in, tr_error *error )
{
    *out = *in;
    out->points = copy_of( in->points, in->point_count, sizeof *in->points );
    out->triangles = copy_of( in->triangles, in->triangle_count, sizeof *in->triangles );
    out->normals = copy_of( in->normals, in->triangle_count, sizeof *in->normals );
    out->edge_normals = copy_of( in->edge_normals, in->triangle_count, sizeof *in->edge_normals );
    out->point_normals = copy_of( in->point_normals, in->point_count, sizeof *in->point_normals );
    out->nodes = copy_of( in->nodes, in->node_count, sizeof *in->nodes );
    if ( out->points != NULL && out->triangles != NULL && out->normals != NULL && out->edge_normals != NULL &&
         out->point_normals != NULL && out->nodes != NULL )
        return true;
    tr_trimesh_free( out );
    return tr_error_memory( error );
}

void tr_trimesh_free( tr_trimesh *mesh )
{
    tr_free( mesh->points );
    tr_free( mesh->triangles );
    tr_free( mesh->normals );
    tr_free( mesh->edge_normals );
    tr_free( mesh->point_normals );
    tr_free( mesh->nodes );
    *mesh = ( tr_trimesh ){ 0 };
}
