// Inverse of a symmetric positive definite matrix of doubles, by sweeps of eight unknowns at a time
// (Goodnight 1979). With the rows P of the eight against themselves and U of all others against them,
//
//   A_kk ← −P⁻¹,   A_ik ← U_i P⁻¹,   A_ij ← A_ij − U_i P⁻¹ U_jᵀ
// which keeps A symmetric, so that one half is enough, and after all sweeps is −A⁻¹. Nearly all of it is the
// last term. Compiled once per kind of lanes; the same bits for all.
#include "math/lanes.h"
#include "solve/private.h"

#include <math.h>

enum { SWEEP = 8, TILE = 4 }; // unknowns at a time; rows in registers

typedef double wide __attribute__( ( vector_size( LANE_BYTES ) ) );
#define WIDE ( LANE_BYTES / 8 )

static inline wide wide_msub( wide c, double a, wide b ) // c − a b, rounded once
{
#if defined( LANES_AVX512 )
    return (wide)_mm512_fnmadd_pd( _mm512_set1_pd( a ), (__m512d)b, (__m512d)c );
#elif defined( LANES_AVX )
    return (wide)_mm256_fnmadd_pd( _mm256_set1_pd( a ), (__m256d)b, (__m256d)c );
#else
    for ( int l = 0; l < WIDE; ++l )
        c[l] = fma( -a, b[l], c[l] );
    return c;
#endif
}

// One unknown at a time, of a full matrix.
static bool sweep_few( double p[SWEEP][SWEEP] )
{
    for ( int k = 0; k < SWEEP; ++k ) {
        double pivot = p[k][k], row[SWEEP];
        if ( !( pivot > 0 ) || !isfinite( pivot ) )
            return false;
        for ( int j = 0; j < SWEEP; ++j )
            row[j] = p[k][j];
        for ( int i = 0; i < SWEEP; ++i )
            for ( int j = 0; j < SWEEP; ++j )
                p[i][j] -= row[i] / pivot * row[j];
        for ( int j = 0; j < SWEEP; ++j )
            p[k][j] = p[j][k] = row[j] / pivot;
        p[k][k] = -1 / pivot;
    }
    return true;
}

// Where the rows of the eight run along the columns: u [SWEEP][stride] ← U, all unknowns in order.
static void take_panel( const double *a, int size, int stride, int first, double *u )
{
    for ( int p = 0; p < SWEEP; ++p ) {
        for ( int i = 0; i < first; ++i )
            u[p * stride + i] = a[( first + p ) * stride + i];
        for ( int i = first; i < size; ++i )
            u[p * stride + i] = a[i * stride + first + p];
    }
}

static void put_panel( double *a, int size, int stride, int first, const double *v, double p[SWEEP][SWEEP] )
{
    for ( int q = 0; q < SWEEP; ++q ) {
        for ( int i = 0; i < first; ++i )
            a[( first + q ) * stride + i] = v[q * stride + i];
        for ( int i = first + SWEEP; i < size; ++i )
            a[i * stride + first + q] = v[q * stride + i];
        for ( int i = 0; i < SWEEP; ++i )
            a[( first + i ) * stride + first + q] = p[i][q];
    }
}

// v ← P⁻¹ u; p holds −P⁻¹.
static void divide_panel( double p[SWEEP][SWEEP], const double *u, int size, int stride, double *v )
{
    for ( int i = 0; i < size; i += WIDE )
        for ( int q = 0; q < SWEEP; ++q ) {
            wide sum = { 0 };
            for ( int k = 0; k < SWEEP; ++k )
                sum = wide_msub( sum, p[q][k], *(const wide *)( u + k * stride + i ) );
            *(wide *)( v + q * stride + i ) = sum;
        }
}

// A few rows of A ← A − v uᵀ, up to the diagonal and a little beyond.
static void update_rows( double *a, int row, int stride, const double *u, const double *v )
{
    for ( int column = 0; column < row + TILE; column += 2 * WIDE ) {
        wide sum[TILE][2];
        for ( int r = 0; r < TILE; ++r )
            for ( int w = 0; w < 2; ++w )
                sum[r][w] = *(const wide *)( a + ( row + r ) * stride + column + w * WIDE );
        for ( int k = 0; k < SWEEP; ++k )
            for ( int r = 0; r < TILE; ++r )
                for ( int w = 0; w < 2; ++w )
                    sum[r][w] = wide_msub( sum[r][w], v[k * stride + row + r],
                                           *(const wide *)( u + k * stride + column + w * WIDE ) );
        for ( int r = 0; r < TILE; ++r )
            for ( int w = 0; w < 2; ++w )
                *(wide *)( a + ( row + r ) * stride + column + w * WIDE ) = sum[r][w];
    }
}

bool KERNEL( sweep )( double *a, int size, int stride, int begin, int end, double *panel )
{
    double *u = panel, *v = panel + SWEEP * stride, p[SWEEP][SWEEP];
    for ( int first = begin; first < end; first += SWEEP ) {
        take_panel( a, size, stride, first, u );
        for ( int i = 0; i < SWEEP; ++i )
            for ( int k = 0; k < SWEEP; ++k )
                p[i][k] = i >= k ? u[k * stride + first + i] : u[i * stride + first + k];
        if ( !sweep_few( p ) )
            return false;
        divide_panel( p, u, size, stride, v );
        for ( int row = 0; row < size; row += TILE )
            update_rows( a, row, stride, u, v );
        put_panel( a, size, stride, first, v, p );
    }
    return true;
}
