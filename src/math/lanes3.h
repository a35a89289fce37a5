// Vectors, matrices and rotations of several frames at once, in double precision, for kernels. The same names
// and meanings as in math.h, with `l` for lanes; every lane is computed for itself.
#ifndef TROUPE_MATH_LANES3_H
#define TROUPE_MATH_LANES3_H

#define LANES_OF_DOUBLES
#include "math/lanes.h"
#include "math/math.h"

#include <string.h>

typedef struct lane3 {
    lane x, y, z;
} lane3;

typedef struct lane33 {
    lane3 cx, cy, cz; // columns
} lane33;

typedef struct lane_sym { // symmetric
    lane xx, xy, xz, yy, yz, zz;
} lane_sym;

// ------------------------------------------------------------------------------------------------ numbers

static inline lane lane_min( lane a, lane b )
{
    return lane_select( a < b, a, b );
}

static inline lane lane_positive( lane a ) // max( a, 0 )
{
    return lane_select( a > 0, a, lane_all( 0 ) );
}

static inline lane lane_abs( lane a )
{
    return lane_select( a < 0, -a, a );
}

// ------------------------------------------------------------------------------------------------ vectors

static inline lane3 l3_all( vec3 v )
{
    return ( lane3 ){ lane_all( v.x ), lane_all( v.y ), lane_all( v.z ) };
}
static inline lane3 l3_zero( void )
{
    return l3_all( v3_zero );
}
static inline vec3 l3_get( const lane3 *a, int l )
{
    return v3( a->x[l], a->y[l], a->z[l] );
}
static inline void l3_set( lane3 *a, int l, vec3 v )
{
    a->x[l] = v.x, a->y[l] = v.y, a->z[l] = v.z;
}
static inline lane3 l3_add( lane3 a, lane3 b )
{
    return ( lane3 ){ a.x + b.x, a.y + b.y, a.z + b.z };
}
static inline lane3 l3_sub( lane3 a, lane3 b )
{
    return ( lane3 ){ a.x - b.x, a.y - b.y, a.z - b.z };
}
static inline lane3 l3_scale( lane s, lane3 a )
{
    return ( lane3 ){ s * a.x, s * a.y, s * a.z };
}
static inline lane3 l3_mul( lane3 a, lane3 b ) // componentwise
{
    return ( lane3 ){ a.x * b.x, a.y * b.y, a.z * b.z };
}
static inline lane3 l3_mad( lane3 a, lane s, lane3 b ) // a + s b
{
    return ( lane3 ){ lane_mad( s, b.x, a.x ), lane_mad( s, b.y, a.y ), lane_mad( s, b.z, a.z ) };
}
static inline lane l3_dot( lane3 a, lane3 b )
{
    return lane_mad( a.x, b.x, lane_mad( a.y, b.y, a.z * b.z ) );
}
static inline lane l3_add_dot( lane s, lane3 a, lane3 b ) // s + a · b
{
    return lane_mad( a.x, b.x, lane_mad( a.y, b.y, lane_mad( a.z, b.z, s ) ) );
}
static inline lane3 l3_cross( lane3 a, lane3 b )
{
    return ( lane3 ){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
static inline lane l3_length( lane3 a )
{
    return lane_sqrt( l3_dot( a, a ) );
}
static inline lane3 l3_lerp( lane3 a, lane3 b, lane t )
{
    return l3_mad( a, t, l3_sub( b, a ) );
}
static inline lane3 l3_select( lane_mask mask, lane3 yes, lane3 no )
{
    return ( lane3 ){ lane_select( mask, yes.x, no.x ), lane_select( mask, yes.y, no.y ),
                      lane_select( mask, yes.z, no.z ) };
}
static inline lane3 l3_unit( lane3 a ) // zero when a is (nearly) zero
{
    lane length = l3_length( a );
    const double none = 1e-12; // as v3_unit_or
    lane_mask some = length > none;
    return l3_scale( lane_select( some, 1 / lane_select( some, length, lane_all( 1 ) ), lane_all( 0 ) ), a );
}

// ----------------------------------------------------------------------------------------------- matrices

static inline lane3 l33_mulv( const lane33 *m, lane3 v )
{
    return l3_mad( l3_mad( l3_scale( v.x, m->cx ), v.y, m->cy ), v.z, m->cz );
}
static inline lane3 l33_transposed_mulv( const lane33 *m, lane3 v )
{
    return ( lane3 ){ l3_dot( m->cx, v ), l3_dot( m->cy, v ), l3_dot( m->cz, v ) };
}
static inline lane33 l33_mul( const lane33 *a, const lane33 *b )
{
    return ( lane33 ){ l33_mulv( a, b->cx ), l33_mulv( a, b->cy ), l33_mulv( a, b->cz ) };
}

// m += s v vᵀ
static inline void sym_add_square( lane_sym *m, lane s, lane3 v )
{
    lane3 w = l3_scale( s, v );
    m->xx = lane_mad( w.x, v.x, m->xx ), m->xy = lane_mad( w.x, v.y, m->xy );
    m->xz = lane_mad( w.x, v.z, m->xz ), m->yy = lane_mad( w.y, v.y, m->yy );
    m->yz = lane_mad( w.y, v.z, m->yz ), m->zz = lane_mad( w.z, v.z, m->zz );
}
static inline void sym_add( lane_sym *m, const lane_sym *a )
{
    m->xx += a->xx, m->xy += a->xy, m->xz += a->xz;
    m->yy += a->yy, m->yz += a->yz, m->zz += a->zz;
}
static inline lane3 sym_mulv( const lane_sym *m, lane3 v )
{
    return ( lane3 ){ m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z,
                      m->xz * v.x + m->yz * v.y + m->zz * v.z };
}

static inline lane_sym sym_inverse( const lane_sym *m ) // cofactors over the determinant
{
    lane xx = m->yy * m->zz - m->yz * m->yz, xy = m->xz * m->yz - m->xy * m->zz,
         xz = m->xy * m->yz - m->xz * m->yy;
    lane s = 1 / ( m->xx * xx + m->xy * xy + m->xz * xz );
    return ( lane_sym ){ .xx = s * xx,
                         .xy = s * xy,
                         .xz = s * xz,
                         .yy = s * ( m->xx * m->zz - m->xz * m->xz ),
                         .yz = s * ( m->xy * m->xz - m->xx * m->yz ),
                         .zz = s * ( m->xx * m->yy - m->xy * m->xy ) };
}

static inline void sym_add_diagonal( lane_sym *m, lane s )
{
    m->xx += s, m->yy += s, m->zz += s;
}

// ---------------------------------------------------------------------------------------------- rotations

static inline lane_quat lq_all( quat q )
{
    return ( lane_quat ){ lane_all( q.x ), lane_all( q.y ), lane_all( q.z ), lane_all( q.w ) };
}
static inline quat lq_get( const lane_quat *a, int l )
{
    return ( quat ){ a->x[l], a->y[l], a->z[l], a->w[l] };
}
static inline void lq_set( lane_quat *a, int l, quat q )
{
    a->x[l] = q.x, a->y[l] = q.y, a->z[l] = q.z, a->w[l] = q.w;
}
static inline lane_quat lq_mul( lane_quat a, lane_quat b ) // first b, then a
{
    return ( lane_quat ){
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}
static inline lane_quat lq_conj( lane_quat q )
{
    return ( lane_quat ){ -q.x, -q.y, -q.z, q.w };
}
static inline lane lq_dot( lane_quat a, lane_quat b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
static inline lane_quat lq_unit( lane_quat q )
{
    lane scale = 1 / lane_sqrt( lq_dot( q, q ) );
    return ( lane_quat ){ scale * q.x, scale * q.y, scale * q.z, scale * q.w };
}
static inline lane_quat lq_select( lane_mask mask, lane_quat yes, lane_quat no )
{
    return ( lane_quat ){ lane_select( mask, yes.x, no.x ), lane_select( mask, yes.y, no.y ),
                          lane_select( mask, yes.z, no.z ), lane_select( mask, yes.w, no.w ) };
}
static inline lane33 l33_from_quat( lane_quat q )
{
    lane t[9]; // R − 1, row by row
    lane_turn( q, t );
    return ( lane33 ){ { t[0] + 1, t[3], t[6] }, { t[1], t[4] + 1, t[7] }, { t[2], t[5], t[8] + 1 } };
}
static inline lane3 lq_rotate( lane_quat q, lane3 v )
{
    lane33 m = l33_from_quat( q );
    return l33_mulv( &m, v );
}

// What a rotation vector d of angle θ is good for, without a sine. With φ an angle, f = φ² and
//   a = (1 − cos φ) / φ²,  b = (φ − sin φ) / φ³,  cos φ = 1 − f a,  sin φ / φ = 1 − f b
// all are power series in f; at φ = θ/8 nine terms give every digit for angles up to 8 radians. Doubling φ
// makes a from (sin φ/φ)² / 2 and b from (a + b − f a b) / 4, where nothing cancels. At φ = θ/2 we have the
// quaternion of exp(d) and, since θ/2 cot θ/2 = cos φ / (sin φ/φ),
//   k = (1 − θ/2 cot θ/2) / θ² = (a − b) / (4 sin φ/φ):
// a small turn w of exp(d), from the left, changes d by w − ½ d × w + k d × (d × w).
typedef struct lane_exp {
    lane_quat rotation;
    lane rate; // k
} lane_exp;

static inline lane_exp lane_exp_of( lane3 d )
{
    lane f = l3_dot( d, d ) * ( 1.0 / 64 ), a = lane_all( 1.0 / 6402373705728000 ),
         b = lane_all( 1.0 / 121645100408832000 );
    static const double cosine[8] = { 1.0 / 20922789888000, 1.0 / 87178291200, 1.0 / 479001600, 1.0 / 3628800,
                                      1.0 / 40320,          1.0 / 720,         1.0 / 24,        1.0 / 2 };
    static const double sine[8] = {
        1.0 / 355687428096000, 1.0 / 1307674368000, 1.0 / 6227020800, 1.0 / 39916800,
        1.0 / 362880,          1.0 / 5040,          1.0 / 120,        1.0 / 6 };
    for ( int i = 0; i < 8; ++i ) {
        a = lane_msub( lane_all( cosine[i] ), f, a );
        b = lane_msub( lane_all( sine[i] ), f, b );
    }
    for ( int i = 0; i < 2; ++i, f *= 4 ) {
        lane s = 1 - f * b;
        b = 0.25 * ( a + b - f * a * b );
        a = 0.5 * s * s;
    }
    lane s = 1 - f * b;
    lane3 v = l3_scale( 0.5 * s, d );
    return ( lane_exp ){ { v.x, v.y, v.z, 1 - f * a }, 0.25 * ( a - b ) / s };
}

// The rotation vector of a unit quaternion, of half a turn at most. With v its vector part and θ its angle,
// tan θ/4 = |v| / (1 + w); two more halvings, tan φ/2 = tan φ / (1 + √(1 + tan² φ)), bring t = |v| k below
// 0.2, where twelve terms of the arc tangent's series give every digit. Nothing is divided by |v|.
static inline lane3 lq_to_vector( lane_quat q )
{
    lane3 v = { q.x, q.y, q.z };
    lane vv = l3_dot( v, v ), k = 1 / ( 1 + lane_abs( q.w ) );
    for ( int i = 0; i < 2; ++i )
        k = k / ( 1 + lane_sqrt( lane_mad( k * k, vv, lane_all( 1 ) ) ) );
    lane tt = k * k * vv, series = lane_all( 1.0 / 23 );
    for ( int n = 21; n >= 1; n -= 2 )
        series = lane_msub( lane_all( 1.0 / n ), tt, series );
    lane angle = 16 * k * series; // over |v|
    return l3_scale( lane_select( q.w < 0, -angle, angle ), v );
}

// ----------------------------------------------------------------------------------- rows of rotations

// LANES quaternions that follow each other in memory.
static inline lane_quat lq_load( const quat *from )
{
#if LANES == 4
    lane m[4];
    memcpy( m, from, sizeof m );
    lane_transpose( m );
    return ( lane_quat ){ m[0], m[1], m[2], m[3] };
#else
    lane m[4], xy[2], zw[2];
    memcpy( m, from, sizeof m );
    for ( int i = 0; i < 2; ++i ) {
        xy[i] = __builtin_shufflevector( m[2 * i], m[2 * i + 1], 0, 4, 8, 12, 1, 5, 9, 13 );
        zw[i] = __builtin_shufflevector( m[2 * i], m[2 * i + 1], 2, 6, 10, 14, 3, 7, 11, 15 );
    }
    return ( lane_quat ){ __builtin_shufflevector( xy[0], xy[1], 0, 1, 2, 3, 8, 9, 10, 11 ),
                          __builtin_shufflevector( xy[0], xy[1], 4, 5, 6, 7, 12, 13, 14, 15 ),
                          __builtin_shufflevector( zw[0], zw[1], 0, 1, 2, 3, 8, 9, 10, 11 ),
                          __builtin_shufflevector( zw[0], zw[1], 4, 5, 6, 7, 12, 13, 14, 15 ) };
#endif
}

static inline void lq_store( lane_quat q, quat *to )
{
#if LANES == 4
    lane m[4] = { q.x, q.y, q.z, q.w };
    lane_transpose( m );
#else
    lane m[4];
    for ( int i = 0; i < 2; ++i ) {
        lane xy = i == 0 ? __builtin_shufflevector( q.x, q.y, 0, 8, 1, 9, 2, 10, 3, 11 )
                         : __builtin_shufflevector( q.x, q.y, 4, 12, 5, 13, 6, 14, 7, 15 ),
             zw = i == 0 ? __builtin_shufflevector( q.z, q.w, 0, 8, 1, 9, 2, 10, 3, 11 )
                         : __builtin_shufflevector( q.z, q.w, 4, 12, 5, 13, 6, 14, 7, 15 );
        m[2 * i] = __builtin_shufflevector( xy, zw, 0, 1, 8, 9, 2, 3, 10, 11 );
        m[2 * i + 1] = __builtin_shufflevector( xy, zw, 4, 5, 12, 13, 6, 7, 14, 15 );
    }
#endif
    memcpy( to, m, sizeof m );
}

#endif
