// Block elimination along frames. Frame f sees the next one through C and the one after it through far · 1:
//
//   D_f = K_f − C_{f−1}ᵀ W_{f−1} − far_{f−2}² D_{f−2}⁻¹,   C_f = near_f · 1 − far_{f−1} W_{f−1}ᵀ,   W = D⁻¹ C
//
// Solving K x = b: forwards  z_f = D_f⁻¹ b_f,  b_{f+1} ← b_{f+1} − C_fᵀ z_f,  b_{f+2} ← b_{f+2} − far_f z_f,
// backwards  x_f = z_f − D_f⁻¹ ( C_f x_{f+1} + far_f x_{f+2} ). The inverses stand there as they are: four
// products per frame, nothing but multiply and add, for x, y and z at once.
#include "solve/private.h"

#include <cblas.h>
#include <lapacke.h>

#include <assert.h>
#include <string.h>

static float *frame_of( float *matrices, const tr_band *band, int frame )
{
    return matrices + (size_t)frame * (size_t)band->stride * (size_t)band->stride;
}

bool tr_band_start( tr_band *out, int frame_count, int size, tr_error *error )
{
    *out = ( tr_band ){ .frame_count = frame_count, .size = size, .stride = ( size + 7 ) / 8 * 8 };
    size_t block = (size_t)out->stride * (size_t)out->stride, all = (size_t)frame_count * block;
    tr_solve_alone();
    out->memory = tr_alloc( 3 * all + TR_LANE_BYTES_MAX / sizeof( float ), sizeof( float ) );
    out->far = tr_alloc( (size_t)frame_count, sizeof( float ) );
    out->work = tr_alloc( 5 * (size_t)size * (size_t)size, sizeof( double ) );
    if ( out->memory == NULL || out->far == NULL || out->work == NULL ) {
        tr_band_free( out );
        return tr_error_memory( error );
    }
    out->inverse = tr_band_align( out->memory );
    out->next = out->inverse + all;
    out->next_transposed = out->next + all;
    return true;
}

void tr_band_free( tr_band *band )
{
    tr_free( band->memory );
    tr_free( band->far );
    tr_free( band->work );
    *band = ( tr_band ){ 0 };
}

// Inverse of a symmetric positive definite matrix in place; false when it is not one.
static bool invert( double *matrix, int n )
{
    if ( LAPACKE_dpotrf_work( LAPACK_COL_MAJOR, 'L', n, matrix, n ) != 0 ||
         LAPACKE_dpotri_work( LAPACK_COL_MAJOR, 'L', n, matrix, n ) != 0 )
        return false;
    for ( int c = 0; c < n; ++c )
        for ( int r = c + 1; r < n; ++r )
            matrix[r * n + c] = matrix[c * n + r];
    return true;
}

static void store( const tr_band *band, const double *matrix, bool transposed, float *out )
{
    int n = band->size;
    for ( int r = 0; r < n; ++r )
        for ( int c = 0; c < n; ++c )
            out[r * band->stride + c] = (float)( transposed ? matrix[c * n + r] : matrix[r * n + c] );
}

bool tr_band_add( tr_band *band, const double *diagonal, double near, double far )
{
    int n = band->size, f = band->added;
    size_t block = (size_t)n * (size_t)n;
    // Two inverses and two W take turns; C is that of the frame at hand.
    double *d = band->work + ( f % 2 ? block : 0 ), *w = band->work + ( f % 2 ? 3 : 2 ) * block;
    double *before = band->work + ( f % 2 ? 2 : 3 ) * block, *c = band->work + 4 * block;
    assert( f < band->frame_count );
    if ( n == 0 ) {
        band->added++;
        return true;
    }
    // d still holds the inverse of two frames ago, c that of the last frame.
    for ( size_t i = 0; i < block; ++i )
        d[i] = diagonal[i] - ( f > 1 ? band->far_before[1] * band->far_before[1] * d[i] : 0 );
    if ( f > 0 )
        cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, n, n, n, -1, c, n, before, n, 1, d, n );
    if ( !invert( d, n ) )
        return false;
    for ( int r = 0; r < n; ++r )
        for ( int k = 0; k < n; ++k )
            c[r * n + k] = ( r == k ? near : 0 ) - ( f > 0 ? band->far_before[0] * before[k * n + r] : 0 );
    cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, d, n, c, n, 0, w, n );
    store( band, d, false, frame_of( band->inverse, band, f ) );
    store( band, c, false, frame_of( band->next, band, f ) );
    store( band, c, true, frame_of( band->next_transposed, band, f ) );
    band->far[f] = (float)far;
    band->far_before[1] = band->far_before[0];
    band->far_before[0] = far;
    band->added++;
    return true;
}

double tr_band_flexibility( const tr_band *band, int frame, int row, int column )
{
    return band->inverse[( (size_t)frame * (size_t)band->stride + (size_t)row ) * (size_t)band->stride +
                         (size_t)column];
}

void tr_band_solve( const tr_band *band, tr_lanes lanes, float *x )
{
    assert( band->added == band->frame_count && lanes != TR_LANES_DOUBLE );
    if ( lanes == TR_LANES_FLOAT )
        tr_kernel_band_float( band, x );
    else
        tr_kernel_band_avx2( band, x );
}
