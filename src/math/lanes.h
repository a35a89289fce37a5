// lanes: the same arithmetic for several frames at once. A `lane` is a vector of 8 floats, or of 4 doubles
// when LANES_OF_DOUBLES is defined before the header is included; twice as many with LANES_WIDE. Private to
// the files that hold kernels; each such file is compiled once per kind of processor, and its functions never
// mix values of different lanes, so what a frame becomes does not depend on its neighbours, nor on how many
// there are.
//
// Nothing here approximates: division and square root are the correctly rounded ones. Compilers do not fuse
// products and sums on their own (-ffp-contract=off), because each would do so in other places: lane_mad says
// where, and gives the same bits on every processor. Not fused are differences of products that cancel where
// there is nothing to do, such as a × a: they have to stay exactly zero.
#ifndef TROUPE_LANES_H
#define TROUPE_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined( __AVX__ )
#include <immintrin.h>
#endif

#if defined( LANES_WIDE )
#define LANE_BYTES 64
#else
#define LANE_BYTES 32
#endif

#if defined( LANES_OF_DOUBLES )
#define LANES ( LANE_BYTES / 8 )
typedef double real;
typedef int64_t lane_int;
#else
#define LANES ( LANE_BYTES / 4 )
typedef float real;
typedef int32_t lane_int;
#endif

// Whether the processor's own vectors are as wide as ours.
#if defined( LANES_WIDE ) && defined( __AVX512DQ__ )
#define LANES_AVX512
#elif !defined( LANES_WIDE ) && defined( __AVX__ )
#define LANES_AVX
#endif

typedef real lane __attribute__( ( vector_size( LANE_BYTES ) ) );
typedef lane_int lane_mask __attribute__( ( vector_size( LANE_BYTES ) ) ); // all bits set or none, per lane

static inline lane lane_all( real x )
{
    return x - ( lane ){ 0 }; // as a sum, 0 + x would have to turn a negative zero round
}

static inline lane lane_select( lane_mask mask, lane yes, lane no )
{
    return (lane)( ( mask & (lane_mask)yes ) | ( ~mask & (lane_mask)no ) );
}

static inline lane lane_max( lane a, lane b ) // b where one is no number
{
#if defined( LANES_AVX512 ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm512_max_pd( (__m512d)a, (__m512d)b );
#elif defined( LANES_AVX512 )
    return (lane)_mm512_max_ps( (__m512)a, (__m512)b );
#elif defined( LANES_AVX ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm256_max_pd( (__m256d)a, (__m256d)b );
#elif defined( LANES_AVX )
    return (lane)_mm256_max_ps( (__m256)a, (__m256)b );
#else
    return lane_select( a > b, a, b );
#endif
}

static inline lane lane_sqrt( lane a )
{
#if defined( LANES_AVX512 ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm512_sqrt_pd( (__m512d)a );
#elif defined( LANES_AVX512 )
    return (lane)_mm512_sqrt_ps( (__m512)a );
#elif defined( LANES_AVX ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm256_sqrt_pd( (__m256d)a );
#elif defined( LANES_AVX )
    return (lane)_mm256_sqrt_ps( (__m256)a );
#else
    for ( int l = 0; l < LANES; ++l )
        a[l] = (real)sqrt( a[l] ); // the same bits as sqrtf: a double holds enough digits to round once more
    return a;
#endif
}

#if !defined( LANES_AVX512 ) && !defined( LANES_AVX )
static inline real fused( real a, real b, real c )
{
#if defined( LANES_UNFUSED )
    return a * b + c;
#elif defined( LANES_OF_DOUBLES )
    return fma( a, b, c );
#else
    return fmaf( a, b, c );
#endif
}
#endif

// a b + c, rounded once; twice with LANES_UNFUSED, for kernels whose bits are not compared.
static inline lane lane_mad( lane a, lane b, lane c )
{
#if defined( LANES_AVX512 ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm512_fmadd_pd( (__m512d)a, (__m512d)b, (__m512d)c );
#elif defined( LANES_AVX512 )
    return (lane)_mm512_fmadd_ps( (__m512)a, (__m512)b, (__m512)c );
#elif defined( LANES_AVX ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm256_fmadd_pd( (__m256d)a, (__m256d)b, (__m256d)c );
#elif defined( LANES_AVX )
    return (lane)_mm256_fmadd_ps( (__m256)a, (__m256)b, (__m256)c );
#else
    for ( int l = 0; l < LANES; ++l )
        c[l] = fused( a[l], b[l], c[l] );
    return c;
#endif
}

static inline lane lane_msub( lane c, lane a, lane b ) // c − a b, rounded once
{
#if defined( LANES_AVX512 ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm512_fnmadd_pd( (__m512d)a, (__m512d)b, (__m512d)c );
#elif defined( LANES_AVX512 )
    return (lane)_mm512_fnmadd_ps( (__m512)a, (__m512)b, (__m512)c );
#elif defined( LANES_AVX ) && defined( LANES_OF_DOUBLES )
    return (lane)_mm256_fnmadd_pd( (__m256d)a, (__m256d)b, (__m256d)c );
#elif defined( LANES_AVX )
    return (lane)_mm256_fnmadd_ps( (__m256)a, (__m256)b, (__m256)c );
#else
    return lane_mad( -a, b, c );
#endif
}

static inline bool lane_any( lane_mask mask )
{
#if defined( LANES_AVX512 )
    return _mm512_test_epi64_mask( (__m512i)mask, (__m512i)mask ) != 0;
#elif defined( LANES_AVX ) && defined( LANES_OF_DOUBLES )
    return _mm256_movemask_pd( (__m256d)mask ) != 0;
#elif defined( LANES_AVX )
    return _mm256_movemask_ps( (__m256)mask ) != 0;
#else
    lane_int any = 0;
    for ( int l = 0; l < LANES; ++l )
        any |= mask[l];
    return any != 0;
#endif
}

// ---------------------------------------------------------------------------------------------- rotations

typedef struct lane_quat {
    lane x, y, z, w;
} lane_quat;

// R − 1 of a unit quaternion, row by row. Without the one nothing cancels: a small turn keeps all its digits.
static inline void lane_turn( lane_quat q, lane out[9] )
{
    lane x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    lane xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    lane wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    out[0] = -( yy + zz ), out[1] = xy - wz, out[2] = xz + wy;
    out[3] = xy + wz, out[4] = -( xx + zz ), out[5] = yz - wx;
    out[6] = xz - wy, out[7] = yz + wx, out[8] = -( xx + yy );
}

// Half a turn's step uphill about one axis with slope g and curvature c: half a radian at most.
static inline lane lane_climb( lane g, lane c )
{
    lane size = lane_max( g, -g ) + lane_max( c, -c );
    return (real)0.5 * g / lane_select( size > 0, size, lane_all( 1 ) );
}

// One Newton step on the rotations towards the R that maximises tr(Rᵀ A), from the R of `q`.
// With M = Rᵀ A and S its symmetric part, R exp(ω) changes the objective by gᵀω − ½ ωᵀ(tr S − S) ω, where g
// is the axial vector of M: (M₃₂ − M₂₃, M₁₃ − M₃₁, M₂₁ − M₁₂). Near the maximum the matrix is positive
// definite and the step is ω = (tr S − S)⁻¹ g; a hundred-thousandth of ‖A‖ on its diagonal keeps flat and
// thin cells (rank 1) where they are and moves no maximum. Where it is not definite, the step goes along g,
// short enough to climb.
static inline lane_quat lane_fit_step( const lane a[9], lane_quat q )
{
    lane r[9], m[9];
    lane_turn( q, r );
    lane norm = lane_all( 0 );
    for ( int i = 0; i < 3; ++i )
        for ( int j = 0; j < 3; ++j ) {
            m[3 * i + j] = a[3 * i + j] + ( r[i] * a[j] + r[3 + i] * a[3 + j] + r[6 + i] * a[6 + j] );
            norm += a[3 * i + j] * a[3 * i + j];
        }
    norm = lane_sqrt( norm );
    lane gx = m[7] - m[5], gy = m[2] - m[6], gz = m[3] - m[1];
    const real share = (real)1e-5, flat = (real)1e-12,
               none = (real)1e-30; // relative to the norm, to its cube, and absolute
    lane damping = share * norm;
    lane xx = m[4] + m[8] + damping, yy = m[0] + m[8] + damping, zz = m[0] + m[4] + damping;
    lane xy = (real)-0.5 * ( m[1] + m[3] ), xz = (real)-0.5 * ( m[2] + m[6] ),
         yz = (real)-0.5 * ( m[5] + m[7] );
    lane c_xx = yy * zz - yz * yz, c_xy = xz * yz - xy * zz, c_xz = xy * yz - xz * yy;
    lane c_yy = xx * zz - xz * xz, c_yz = xy * xz - xx * yz, c_zz = xx * yy - xy * xy;
    lane det = xx * c_xx + xy * c_xy + xz * c_xz;
    lane_mask definite = ( xx > 0 ) & ( c_zz > 0 ) & ( det > flat * norm * norm * norm + none );
    // Half of ω, the vector part of a small turn.
    lane inverse = (real)0.5 / lane_select( definite, det, lane_all( 1 ) );
    lane ox = inverse * ( c_xx * gx + c_xy * gy + c_xz * gz );
    lane oy = inverse * ( c_xy * gx + c_yy * gy + c_yz * gz );
    lane oz = inverse * ( c_xz * gx + c_yz * gy + c_zz * gz );
    if ( lane_any( ~definite ) ) {
        ox = lane_select( definite, ox, lane_climb( gx, xx ) );
        oy = lane_select( definite, oy, lane_climb( gy, yy ) );
        oz = lane_select( definite, oz, lane_climb( gz, zz ) );
    }
    lane_quat n = { q.x + ( q.w * ox + q.y * oz - q.z * oy ), q.y + ( q.w * oy + q.z * ox - q.x * oz ),
                    q.z + ( q.w * oz + q.x * oy - q.y * ox ), q.w - ( q.x * ox + q.y * oy + q.z * oz ) };
    lane scale = (real)1 / lane_sqrt( n.x * n.x + n.y * n.y + n.z * n.z + n.w * n.w );
    return ( lane_quat ){ n.x * scale, n.y * scale, n.z * scale, n.w * scale };
}

// -------------------------------------------------------------------------------------------------- squares
// LANES lanes are a square of numbers; this turns it about its diagonal.

#if LANES == 4

static inline void lane_transpose( lane m[LANES] )
{
    for ( int i = 0; i < 4; i += 2 ) {
        lane a = m[i], b = m[i + 1];
        m[i] = __builtin_shufflevector( a, b, 0, 4, 2, 6 );
        m[i + 1] = __builtin_shufflevector( a, b, 1, 5, 3, 7 );
    }
    for ( int i = 0; i < 2; ++i ) {
        lane a = m[i], b = m[i + 2];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 4, 5 );
        m[i + 2] = __builtin_shufflevector( a, b, 2, 3, 6, 7 );
    }
}

#elif LANES == 8

static inline void lane_transpose( lane m[LANES] )
{
    for ( int i = 0; i < 8; i += 2 ) {
        lane a = m[i], b = m[i + 1];
        m[i] = __builtin_shufflevector( a, b, 0, 8, 2, 10, 4, 12, 6, 14 );
        m[i + 1] = __builtin_shufflevector( a, b, 1, 9, 3, 11, 5, 13, 7, 15 );
    }
    for ( int i = 0; i < 8; i += i % 2 == 0 ? 1 : 3 ) {
        lane a = m[i], b = m[i + 2];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 8, 9, 4, 5, 12, 13 );
        m[i + 2] = __builtin_shufflevector( a, b, 2, 3, 10, 11, 6, 7, 14, 15 );
    }
    for ( int i = 0; i < 4; ++i ) {
        lane a = m[i], b = m[i + 4];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 2, 3, 8, 9, 10, 11 );
        m[i + 4] = __builtin_shufflevector( a, b, 4, 5, 6, 7, 12, 13, 14, 15 );
    }
}

#else

// clang-format off
static inline void lane_transpose( lane m[LANES] )
{
    for ( int i = 0; i < 16; i += 2 ) {
        lane a = m[i], b = m[i + 1];
        m[i] = __builtin_shufflevector( a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30 );
        m[i + 1] = __builtin_shufflevector( a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31 );
    }
    for ( int i = 0; i < 16; i += i % 2 == 0 ? 1 : 3 ) {
        lane a = m[i], b = m[i + 2];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29 );
        m[i + 2] = __builtin_shufflevector( a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31 );
    }
    for ( int i = 0; i < 16; i += i % 4 < 3 ? 1 : 5 ) {
        lane a = m[i], b = m[i + 4];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27 );
        m[i + 4] = __builtin_shufflevector( a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31 );
    }
    for ( int i = 0; i < 8; ++i ) {
        lane a = m[i], b = m[i + 8];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23 );
        m[i + 8] = __builtin_shufflevector( a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31 );
    }
}
// clang-format on

#endif

#endif
