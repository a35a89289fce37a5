// Mean value coordinates: the plain way, and the parts both ways share. For a triangle seen from p, with unit
// vectors u_i to its corners, θ_i the angle seen between the other two, the integral of the unit sphere's
// normal over the triangle it becomes there is m = Σ ½ θ_i n_i, n_i the unit normals of the planes through p
// and an edge. λ with Σ λ_i u_i = m gives the share λ_i / d_i of corner i in its weight. Over a closed mesh
// all m add up to zero, which is Σ wᵢ (vᵢ − p) = 0.
#include "cage/private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Guards against rounding.
#define ON_VERTEX 1e-12  // distance, in units of the mesh's size, of a point on a vertex
#define ON_FACE   1e-10  // radians: half a full turn less half the three angles, of a point on a face
#define FLAT      1e-10  // sine of the angle between planes below which a triangle is seen edge-on
#define UNDERFLOW 1e-200 // instead of a division by zero
#define SINGULAR  1e-12  // part of the trace that keeps the moments of a flat mesh invertible
#define CANCELLED 1e-9   // |Σ w| / Σ |w| below which the weights are undefined

// --------------------------------------------------------------------------------------------------- build

typedef struct half_edge {
    int low, high, triangle, corner; // the edge opposite to `corner`
    bool along;                      // from low to high
} half_edge;

static int compare_edges( const void *left, const void *right )
{
    const half_edge *a = left, *b = right;
    int by[] = { a->low - b->low, a->high - b->high, a->triangle - b->triangle, a->corner - b->corner };
    for ( int i = 0; i < 3; ++i )
        if ( by[i] != 0 )
            return by[i];
    return by[3];
}

static void find_edges( tr_mean_value *mesh, half_edge *halves )
{
    for ( int t = 0; t < mesh->triangle_count; ++t )
        for ( int c = 0; c < 3; ++c ) {
            int a = mesh->triangles[t][( c + 1 ) % 3], b = mesh->triangles[t][( c + 2 ) % 3];
            halves[3 * t + c] = ( half_edge ){ a < b ? a : b, a < b ? b : a, t, c, a < b };
        }
    qsort( halves, 3 * (size_t)mesh->triangle_count, sizeof halves[0], compare_edges );
    for ( int h = 0; h < 3 * mesh->triangle_count; ++h ) {
        const half_edge *half = &halves[h];
        if ( h == 0 || half->low != half[-1].low || half->high != half[-1].high ) {
            int *edge = mesh->edges[mesh->edge_count++];
            edge[0] = half->low, edge[1] = half->high;
        }
        mesh->sides[half->triangle][half->corner] = mesh->edge_count - 1;
        mesh->signs[half->triangle][half->corner] = half->along ? 1.0f : -1.0f;
    }
}

static mat3 inverse_of( mat3 m ) // symmetric, positive definite
{
    double scale = 1 / m3_det( m );
    return ( mat3 ){ v3_scale( scale, v3_cross( m.cy, m.cz ) ), v3_scale( scale, v3_cross( m.cz, m.cx ) ),
                     v3_scale( scale, v3_cross( m.cx, m.cy ) ) };
}

static void find_moments( tr_mean_value *mesh )
{
    for ( int i = 0; i < mesh->vertex_count; ++i )
        mesh->centroid = v3_mad( mesh->centroid, 1.0 / mesh->vertex_count, mesh->vertices[i] );
    mat3 sum = { v3_zero, v3_zero, v3_zero };
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        vec3 v = v3_sub( mesh->vertices[i], mesh->centroid );
        sum.cx = v3_mad( sum.cx, v.x, v ), sum.cy = v3_mad( sum.cy, v.y, v ),
        sum.cz = v3_mad( sum.cz, v.z, v );
        mesh->size = fmax( mesh->size, v3_length( v ) );
        float *rounded = mesh->rounded[i];
        rounded[0] = (float)v.x, rounded[1] = (float)v.y, rounded[2] = (float)v.z;
    }
    // Flat meshes span no volume: errors across them cannot be mended and stay.
    double hold = SINGULAR * ( sum.cx.x + sum.cy.y + sum.cz.z ) + UNDERFLOW;
    sum.cx.x += hold, sum.cy.y += hold, sum.cz.z += hold;
    mesh->inverse = inverse_of( sum );
    mesh->size = mesh->size > 0 ? mesh->size : 1;
}

bool tr_mean_value_build( tr_mean_value *out, const vec3 *vertices, int vertex_count,
                          const int ( *triangles )[3], int triangle_count, tr_error *error )
{
    *out = ( tr_mean_value ){ .vertices = vertices,
                              .vertex_count = vertex_count,
                              .triangles = triangles,
                              .triangle_count = triangle_count };
    if ( vertex_count < 1 || vertex_count > TR_CAGE_MAX_VERTICES ||
         triangle_count > TR_MEAN_VALUE_MAX_EDGES / 3 * 2 )
        return tr_error_set( error,
                             "mean value coordinates are for meshes of up to %d vertices and %d triangles",
                             TR_CAGE_MAX_VERTICES, TR_MEAN_VALUE_MAX_EDGES / 3 * 2 );
    for ( int t = 0; t < triangle_count; ++t )
        for ( int c = 0; c < 3; ++c )
            if ( triangles[t][c] < 0 || triangles[t][c] >= vertex_count )
                return tr_error_set( error, "triangle %d of a mesh has a corner that is no vertex", t );
    size_t n = (size_t)triangle_count;
    out->edges = tr_alloc( 3 * n, sizeof out->edges[0] );
    out->sides = tr_alloc( n, sizeof out->sides[0] );
    out->signs = tr_alloc( n, sizeof out->signs[0] );
    out->rounded = tr_alloc( (size_t)vertex_count, sizeof out->rounded[0] );
    half_edge *halves = tr_alloc( 3 * n, sizeof halves[0] );
    bool ok = out->edges && out->sides && out->signs && out->rounded && halves;
    if ( ok ) {
        find_edges( out, halves );
        find_moments( out );
    }
    tr_free( halves );
    bool closed = 2 * out->edge_count <= 3 * triangle_count;
    if ( ok && closed )
        return true;
    tr_mean_value_free( out );
    return ok ? tr_error_set( error, "mean value coordinates need a closed mesh" ) : tr_error_memory( error );
}

void tr_mean_value_free( tr_mean_value *mesh )
{
    tr_free( mesh->edges );
    tr_free( mesh->sides );
    tr_free( mesh->signs );
    tr_free( mesh->rounded );
    *mesh = ( tr_mean_value ){ 0 };
}

// --------------------------------------------------------------------------------------------------- exact

typedef struct sight { // a vertex as seen from the point
    vec3 u;            // unit vector to it
    double d;          // distance
} sight;

static double angle_between( vec3 a, vec3 b ) // for unit vectors; exact also near a half turn
{
    bool wide = v3_dot( a, b ) < 0;
    double half = asin( clampd( 0.5 * v3_length( wide ? v3_add( a, b ) : v3_sub( a, b ) ), 0, 1 ) );
    return wide ? TR_PI - 2 * half : 2 * half;
}

// Adds a triangle's shares to the weights. True when the point lies on the triangle: then the weights are the
// shares of its three corners alone.
static bool add_triangle( const tr_mean_value *mesh, const int triangle[3], const sight *seen,
                          double *weights )
{
    double theta[3], sine[3], cosine[3], s[3], h = 0;
    const sight *c[3] = { &seen[triangle[0]], &seen[triangle[1]], &seen[triangle[2]] };
    for ( int i = 0; i < 3; ++i ) {
        theta[i] = angle_between( c[( i + 1 ) % 3]->u, c[( i + 2 ) % 3]->u );
        sine[i] = sin( theta[i] );
        h += 0.5 * theta[i];
    }
    if ( TR_PI - h < ON_FACE ) {
        memset( weights, 0, (size_t)mesh->vertex_count * sizeof weights[0] );
        for ( int i = 0; i < 3; ++i )
            weights[triangle[i]] += fabs( sine[i] ) * c[( i + 1 ) % 3]->d * c[( i + 2 ) % 3]->d;
        return true;
    }
    // Angles between the planes, on the sphere.
    double side = v3_dot( c[0]->u, v3_cross( c[1]->u, c[2]->u ) ) < 0 ? -1 : 1, sine_h = sin( h );
    for ( int i = 0; i < 3; ++i ) {
        double planes = sine[( i + 1 ) % 3] * sine[( i + 2 ) % 3];
        if ( !( planes > FLAT * FLAT ) )
            return false;
        cosine[i] = 2 * sine_h * sin( h - theta[i] ) / planes - 1;
        s[i] = side * sqrt( clampd( 1 - cosine[i] * cosine[i], 0, 1 ) );
        if ( fabs( s[i] ) <= FLAT )
            return false;
    }
    for ( int i = 0; i < 3; ++i ) {
        int next = ( i + 1 ) % 3, last = ( i + 2 ) % 3;
        weights[triangle[i]] += ( theta[i] - cosine[next] * theta[last] - cosine[last] * theta[next] ) /
                                ( c[i]->d * sine[next] * s[last] );
    }
    return false;
}

// Scales the weights to the sum 1, and makes Σ wᵢ vᵢ = p, which rounding and vanishing weights violate, by
// the smallest change of weights.
static void mend( const tr_mean_value *mesh, vec3 point, double *weights )
{
    double sum = 0, size = 0;
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        sum += weights[i];
        size += fabs( weights[i] );
    }
    bool sound = isfinite( size ) && fabs( sum ) > CANCELLED * size;
    vec3 left = v3_sub( point, mesh->centroid );
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        weights[i] = sound ? weights[i] / sum : 1.0 / mesh->vertex_count;
        left = v3_mad( left, -weights[i], v3_sub( mesh->vertices[i], mesh->centroid ) );
    }
    vec3 step = m3_mulv( mesh->inverse, left );
    for ( int i = 0; i < mesh->vertex_count; ++i )
        weights[i] += v3_dot( v3_sub( mesh->vertices[i], mesh->centroid ), step );
}

void tr_mean_value_exact( const tr_mean_value *mesh, vec3 point, double *weights )
{
    sight seen[TR_CAGE_MAX_VERTICES];
    memset( weights, 0, (size_t)mesh->vertex_count * sizeof weights[0] );
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        vec3 to = v3_sub( mesh->vertices[i], point );
        seen[i].d = v3_length( to );
        if ( seen[i].d <= ON_VERTEX * mesh->size ) {
            weights[i] = 1;
            return;
        }
        seen[i].u = v3_scale( 1 / seen[i].d, to );
    }
    for ( int t = 0; t < mesh->triangle_count; ++t )
        if ( add_triangle( mesh, mesh->triangles[t], seen, weights ) )
            break;
    mend( mesh, point, weights );
}

// ---------------------------------------------------------------------------------------------------- fast

enum { AT_ONCE = 8 }; // lanes of the kernel

typedef unsigned mean_value_kernel( const tr_mean_value *mesh, const float *x, float *weights );

static void exact_rounded( const tr_mean_value *mesh, vec3 point, float *weights )
{
    double exact[TR_CAGE_MAX_VERTICES];
    tr_mean_value_exact( mesh, point, exact );
    for ( int i = 0; i < mesh->vertex_count; ++i )
        weights[i] = (float)exact[i];
}

void tr_mean_value_weights( const tr_mean_value *mesh, const vec3 *points, int count, tr_lanes lanes,
                            float *weights )
{
    assert( lanes != TR_LANES_DOUBLE );
    mean_value_kernel *kernel =
        lanes == TR_LANES_FLOAT ? tr_kernel_mean_value_float : tr_kernel_mean_value_avx2;
    float some[AT_ONCE * TR_CAGE_MAX_VERTICES];
    for ( int begin = 0; begin < count; begin += AT_ONCE ) {
        int here = count - begin < AT_ONCE ? count - begin : AT_ONCE;
        float x[3 * AT_ONCE];
        for ( int l = 0; l < AT_ONCE; ++l ) { // the last block is filled up with its first point
            vec3 p = v3_sub( points[begin + ( l < here ? l : 0 )], mesh->centroid );
            x[l] = (float)p.x, x[AT_ONCE + l] = (float)p.y, x[2 * AT_ONCE + l] = (float)p.z;
        }
        float *out = weights + (size_t)begin * (size_t)mesh->vertex_count;
        // cppcheck-suppress legacyUninitvar; the kernel fills it
        unsigned careful = kernel( mesh, x, here == AT_ONCE ? out : some );
        if ( here < AT_ONCE )
            memcpy( out, some, (size_t)here * (size_t)mesh->vertex_count * sizeof out[0] );
        for ( int l = 0; l < here; ++l )
            if ( careful >> l & 1 )
                exact_rounded( mesh, points[begin + l], out + (size_t)l * (size_t)mesh->vertex_count );
    }
}
