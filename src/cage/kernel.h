// The inner loops. This file is compiled once per kind of lanes: the including file defines KERNEL( name ).
// Lanes never mix.
#include "cage/private.h"
#include "math/lanes.h"

#include <string.h>

// ------------------------------------------------------------------------------------ mean value coordinates

typedef struct lane_vector {
    lane x, y, z;
} lane_vector;

static inline lane lane_dot( lane_vector a, lane_vector b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// θ / sin θ of an angle by y = cos ½θ in (0, 1]: acos(y) / √(1 − y²) has no singularity there and is a
// polynomial up to 8e-8 (Chebyshev interpolation on [0, 1]).
// Summed in pairs: a chain of eight products would wait for each of them.
static inline lane arc_by_sine( lane y )
{
    lane y2 = y * y, y4 = y2 * y2;
    lane a = 1.57079621f + -0.99998017f * y, b = 0.784853813f + -0.660758619f * y;
    lane c = 0.555748958f + -0.421895719f * y, d = 0.250126529f + -0.0960763048f * y;
    return ( ( a + b * y2 ) + y4 * ( ( c + d * y2 ) + 0.0171853692f * y4 ) ) / y;
}

// Below these floats have too few digits left, and the point is computed the plain way.
#define NEAR_VERTEX 1e-3f // distance, in units of the mesh's size
#define NEAR_EDGE   1e-3f // cos² ½θ of the angle θ an edge is seen at: 0 from a point on it
#define NEAR_FACE   2e-3f // volume that three unit vectors span, over the sum of their sines' squares
#define ONE_SIGN    0.98f // |Σ w| / Σ |w|: with mixed signs the weights cancel

typedef struct lane_edge {
    lane_vector normal; // u_a × u_b
    lane arc;           // θ / sin θ
    lane sine2;         // sin² θ
} lane_edge;

typedef struct seen { // a mesh from eight points
    lane_vector u[TR_CAGE_MAX_VERTICES];
    lane inverse_distance[TR_CAGE_MAX_VERTICES];
    lane_edge edges[TR_MEAN_VALUE_MAX_EDGES];
    lane weights[TR_CAGE_MAX_VERTICES];
    lane_mask careful;
} seen;

static void see_vertices( seen *s, const tr_mean_value *mesh, lane_vector p )
{
    float least = NEAR_VERTEX * (float)mesh->size;
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        const float *v = mesh->rounded[i];
        lane_vector to = { v[0] - p.x, v[1] - p.y, v[2] - p.z };
        lane d2 = lane_dot( to, to );
        lane_mask near = d2 < least * least;
        s->careful |= near;
        lane inverse = 1.0f / lane_sqrt( lane_select( near, lane_all( 1 ), d2 ) );
        s->inverse_distance[i] = inverse;
        s->u[i] = ( lane_vector ){ to.x * inverse, to.y * inverse, to.z * inverse };
        s->weights[i] = lane_all( 0 );
    }
}

static void see_edges( seen *s, const tr_mean_value *mesh )
{
    for ( int e = 0; e < mesh->edge_count; ++e ) {
        lane_vector a = s->u[mesh->edges[e][0]], b = s->u[mesh->edges[e][1]];
        lane_vector sum = { a.x + b.x, a.y + b.y, a.z + b.z };
        lane y2 = 0.25f * lane_dot( sum, sum );
        lane_mask near = y2 < NEAR_EDGE;
        s->careful |= near;
        y2 = lane_select( near, lane_all( 1 ), y2 );
        lane_edge *edge = &s->edges[e];
        edge->normal.x = a.y * b.z - a.z * b.y;
        edge->normal.y = a.z * b.x - a.x * b.z;
        edge->normal.z = a.x * b.y - a.y * b.x;
        edge->sine2 = lane_dot( edge->normal, edge->normal );
        edge->arc = arc_by_sine( lane_sqrt( y2 ) );
    }
}

// λ_i = m · n_i / det with m = Σ arc_i n_i (the common factor ½ does not matter) and det = u_i · n_i.
static void add_triangles( seen *s, const tr_mean_value *mesh )
{
    for ( int t = 0; t < mesh->triangle_count; ++t ) {
        const int *corner = mesh->triangles[t], *side = mesh->sides[t];
        const float *sign = mesh->signs[t];
        const lane_edge *a = &s->edges[side[0]], *b = &s->edges[side[1]], *c = &s->edges[side[2]];
        lane fa = sign[0] * a->arc, fb = sign[1] * b->arc, fc = sign[2] * c->arc;
        lane_vector m = { fa * a->normal.x + fb * b->normal.x + fc * c->normal.x,
                          fa * a->normal.y + fb * b->normal.y + fc * c->normal.y,
                          fa * a->normal.z + fb * b->normal.z + fc * c->normal.z };
        lane det = sign[0] * lane_dot( s->u[corner[0]], a->normal );
        lane_mask near = lane_max( det, -det ) < NEAR_FACE * ( a->sine2 + b->sine2 + c->sine2 );
        s->careful |= near;
        lane inverse = 1.0f / lane_select( near, lane_all( 1 ), det );
        s->weights[corner[0]] +=
            sign[0] * lane_dot( m, a->normal ) * ( inverse * s->inverse_distance[corner[0]] );
        s->weights[corner[1]] +=
            sign[1] * lane_dot( m, b->normal ) * ( inverse * s->inverse_distance[corner[1]] );
        s->weights[corner[2]] +=
            sign[2] * lane_dot( m, c->normal ) * ( inverse * s->inverse_distance[corner[2]] );
    }
}

// Makes the sum 1 and Σ wᵢ vᵢ = p by the smallest change; see mend() in mean_value.c.
static void mend( seen *s, const tr_mean_value *mesh, lane_vector p )
{
    lane sum = lane_all( 0 ), size = lane_all( 0 );
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        sum += s->weights[i];
        size += lane_max( s->weights[i], -s->weights[i] );
    }
    s->careful |= ~( lane_max( sum, -sum ) > ONE_SIGN * size );
    lane inverse = 1.0f / lane_select( s->careful, lane_all( 1 ), sum );
    lane_vector left = p;
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        const float *v = mesh->rounded[i];
        lane w = s->weights[i] *= inverse;
        left.x -= w * v[0], left.y -= w * v[1], left.z -= w * v[2];
    }
    const mat3 *m = &mesh->inverse;
    lane_vector step = { (float)m->cx.x * left.x + (float)m->cy.x * left.y + (float)m->cz.x * left.z,
                         (float)m->cx.y * left.x + (float)m->cy.y * left.y + (float)m->cz.y * left.z,
                         (float)m->cx.z * left.x + (float)m->cy.z * left.y + (float)m->cz.z * left.z };
    for ( int i = 0; i < mesh->vertex_count; ++i ) {
        const float *v = mesh->rounded[i];
        s->weights[i] += step.x * v[0] + step.y * v[1] + step.z * v[2];
    }
}

unsigned KERNEL( mean_value )( const tr_mean_value *mesh, const float *x, float *weights )
{
    seen s;
    s.careful = ( lane_mask ){ 0 };
    lane_vector p;
    for ( int l = 0; l < LANES; ++l )
        p.x[l] = x[l], p.y[l] = x[LANES + l], p.z[l] = x[2 * LANES + l];
    see_vertices( &s, mesh, p );
    see_edges( &s, mesh );
    add_triangles( &s, mesh );
    mend( &s, mesh, p );
    unsigned careful = 0;
    for ( int l = 0; l < LANES; ++l ) {
        careful |= s.careful[l] != 0 ? 1u << l : 0;
        float *out = weights + (size_t)l * (size_t)mesh->vertex_count;
        for ( int i = 0; i < mesh->vertex_count; ++i )
            out[i] = s.weights[i][l];
    }
    return careful;
}

// -------------------------------------------------------------------------------------------------- points

typedef float four __attribute__( ( vector_size( 16 ), may_alias ) );

enum { POINTS = 4 }; // at once: their sums do not wait for each other

// Two vertices at a time: the even ones in the lower half, the odd ones in the upper.
void KERNEL( weigh )( const float *weights, const float ( *residuals )[4], int vertex_count, int count,
                      float ( *out )[4] )
{
    for ( int begin = 0; begin < count; begin += POINTS ) {
        const float *own[POINTS];
        lane sums[POINTS];
        for ( int p = 0; p < POINTS; ++p ) {
            int point = begin + p < count ? begin + p : begin;
            own[p] = weights + (size_t)point * (size_t)vertex_count;
            sums[p] = lane_all( 0 );
        }
        for ( int i = 0; i < vertex_count; i += 2 ) {
            lane pair;
            memcpy( &pair, residuals[i], sizeof pair );
            for ( int p = 0; p < POINTS; ++p ) {
                four even = own[p][i] - ( four ){ 0 }, odd = own[p][i + 1] - ( four ){ 0 };
                sums[p] += __builtin_shufflevector( even, odd, 0, 1, 2, 3, 4, 5, 6, 7 ) * pair;
            }
        }
        for ( int p = 0; p < POINTS && begin + p < count; ++p )
            *(four *)out[begin + p] = __builtin_shufflevector( sums[p], sums[p], 0, 1, 2, 3 ) +
                                      __builtin_shufflevector( sums[p], sums[p], 4, 5, 6, 7 );
    }
}

// -------------------------------------------------------------------------------------------- deformation

#define SPREAD( v, i ) __builtin_shufflevector( v, v, i, i, i, i )

static inline void transpose_four( const four in[4], four out[4] )
{
    four a = __builtin_shufflevector( in[0], in[1], 0, 4, 1, 5 );
    four b = __builtin_shufflevector( in[2], in[3], 0, 4, 1, 5 );
    four c = __builtin_shufflevector( in[0], in[1], 2, 6, 3, 7 );
    four d = __builtin_shufflevector( in[2], in[3], 2, 6, 3, 7 );
    out[0] = __builtin_shufflevector( a, b, 0, 1, 4, 5 );
    out[1] = __builtin_shufflevector( a, b, 2, 3, 6, 7 );
    out[2] = __builtin_shufflevector( c, d, 0, 1, 4, 5 );
    out[3] = __builtin_shufflevector( c, d, 2, 3, 6, 7 );
}

// Eight vectors of four to four lanes, and back.
static inline void to_lanes( const four in[8], lane out[4] )
{
    four low[4], high[4];
    transpose_four( in, low );
    transpose_four( in + 4, high );
    for ( int k = 0; k < 4; ++k )
        out[k] = __builtin_shufflevector( low[k], high[k], 0, 1, 2, 3, 4, 5, 6, 7 );
}

static inline void from_lanes( const lane in[4], four out[8] )
{
    four low[4], high[4];
    for ( int k = 0; k < 4; ++k ) {
        low[k] = __builtin_shufflevector( in[k], in[k], 0, 1, 2, 3 );
        high[k] = __builtin_shufflevector( in[k], in[k], 4, 5, 6, 7 );
    }
    transpose_four( low, out );
    transpose_four( high, out + 4 );
}

// Rows of A = Σ w (v_i − v_j) r̄ᵀ = Σ w r̄ r̄ᵀ + Σ (u_i − u_j) (w r̄)ᵀ of one cell.
static inline void cell_of( const tr_cage_solver *s, int i, four out[3] )
{
    const four *u = (const four *)s->u, *links = (const four *)s->links, *shape = (const four *)s->shapes[i];
    four a = shape[0], b = shape[1], c = shape[2], own = u[i];
    for ( int e = s->start[i]; e < s->start[i + 1]; ++e ) {
        four d = own - u[s->neighbours[e]], r = links[e];
        a += SPREAD( d, 0 ) * r;
        b += SPREAD( d, 1 ) * r;
        c += SPREAD( d, 2 ) * r;
    }
    out[0] = a, out[1] = b, out[2] = c;
}

// Leaves a cell the turn about the vertical alone.
static inline void keep_vertical( four cell[3] )
{
    const four across = { 1, 0, 1 };
    cell[0] *= across;
    cell[2] *= across;
    cell[1] = ( four ){ 0, fabsf( cell[0][0] ) + fabsf( cell[2][2] ) };
}

void KERNEL( fit )( const tr_cage_solver *s, int steps )
{
    for ( int begin = 0; begin < s->round_count; begin += LANES ) {
        four rows[3][LANES], *quats = (four *)s->quats + begin;
        for ( int l = 0; l < LANES; ++l ) {
            four cell[3] = { { 1 }, { 0, 1 }, { 0, 0, 1 } };
            if ( begin + l < s->count )
                cell_of( s, begin + l, cell );
            if ( s->upright )
                keep_vertical( cell );
            for ( int r = 0; r < 3; ++r )
                rows[r][l] = cell[r];
        }
        lane a[9], part[4], turn[9];
        for ( int r = 0; r < 3; ++r ) {
            to_lanes( rows[r], part );
            for ( int c = 0; c < 3; ++c )
                a[3 * r + c] = part[c];
        }
        to_lanes( quats, part );
        lane_quat q = { part[0], part[1], part[2], part[3] };
        for ( int k = 0; k < steps; ++k )
            q = lane_fit_step( a, q );
        from_lanes( ( lane[4] ){ q.x, q.y, q.z, q.w }, quats );
        lane_turn( q, turn );
        for ( int c = 0; c < 3; ++c ) {
            four columns[LANES];
            from_lanes( ( lane[4] ){ turn[c], turn[3 + c], turn[6 + c], lane_all( 0 ) }, columns );
            for ( int l = 0; l < LANES; ++l )
                *(four *)s->turns[begin + l][c] = columns[l];
        }
    }
}

static inline four turned( const four turn[3], four r )
{
    return turn[0] * SPREAD( r, 0 ) + turn[1] * SPREAD( r, 1 ) + turn[2] * SPREAD( r, 2 );
}

// Σ w [(R_i + R_j) r̄ − 2 (v_i − v_j)] = (R_i − 1) Σ w r̄ + Σ [(R_j − 1) w r̄ − 2 w (u_i − u_j)], and the two
// holds.
void KERNEL( pull )( const tr_cage_solver *s )
{
    const float stiffness = s->stiffness;
    const four *u = (const four *)s->u, *links = (const four *)s->links, *sums = (const four *)s->sums;
    four *step = (four *)s->step;
    for ( int i = 0; i < s->free_count; ++i ) {
        four sum = turned( (const four *)s->turns[i], sums[i] ) - s->anchors[i] * u[i];
        for ( int e = s->start[i]; e < s->start[i + 1]; ++e ) {
            int j = s->neighbours[e];
            four r = links[e], apart = u[i] - u[j];
            sum += turned( (const four *)s->turns[j], r ) - stiffness * SPREAD( r, 3 ) * apart;
        }
        step[i] = sum;
    }
}
