// Block elimination along frames, two at a time: what joins two frames g = (f, f + 1) to the next two,
// h = (f + 2, f + 3), is E = [[far_f, 0], [near_{f+1}, far_{f+1}]], multiples of the unit matrix, so
//
//   B_h = K_h − Eᵀ B_g⁻¹ E
// is a sum of the four blocks of B_g⁻¹, and nothing but inverses is left to compute. One frame at a time
// would fill what joins a frame to the next: three full matrices per frame instead of half of four per two.
//
// Solving K x = b: forwards  z_g = B_g⁻¹ b_g,  b_h ← b_h − Eᵀ z_g,  backwards  x_g = z_g − B_g⁻¹ E x_h. Each
// is a product with a symmetric matrix for x, y and z at once, and memory is what takes its time: only one
// half of it is kept, and each number used twice.
#include "solve/private.h"

#include <assert.h>
#include <string.h>

typedef bool sweep_function( double *a, int size, int stride, int begin, int end, double *panel );

static sweep_function *sweep_for( tr_lanes lanes )
{
    return lanes == TR_LANES_AVX512 ? tr_kernel_sweep_avx512
           : lanes == TR_LANES_AVX2 ? tr_kernel_sweep_avx2
                                    : tr_kernel_sweep_float;
}

// ------------------------------------------------------------------------------------------------- memory

static int
width_of( const tr_band *band ) // width of the matrix of two frames, a whole number of the widest lanes
{
    return ( 2 * band->stride + 15 ) / 16 * 16;
}

static size_t floats_of( const tr_band *band, int frames ) // floats of an inverse of one or two frames
{
    return tr_band_tiles( frames * band->stride / 8 );
}

static size_t floats_of_all( const tr_band *band )
{
    return ( (size_t)band->frame_count + 1 ) / 2 * ( floats_of( band, 1 ) + floats_of( band, 2 ) );
}

bool tr_band_start( tr_band *out, int frame_count, int size, tr_error *error )
{
    *out = ( tr_band ){
        .frame_count = frame_count, .size = size, .stride = ( size + 7 ) / 8 * 8, .lanes = tr_lanes_best() };
    size_t width = (size_t)width_of( out );
    out->memory = tr_alloc( floats_of_all( out ) + TR_LANE_BYTES_MAX / sizeof( float ), sizeof( float ) );
    out->near = tr_alloc( 2 * (size_t)frame_count, sizeof( float ) );
    out->work = tr_alloc( width * ( width + 16 ) + TR_LANE_BYTES_MAX / sizeof( double ), sizeof( double ) );
    if ( out->memory == NULL || out->near == NULL || out->work == NULL ) {
        tr_band_free( out );
        return tr_error_memory( error );
    }
    out->inverse = tr_band_align( out->memory );
    out->alone = out->inverse + ( (size_t)frame_count + 1 ) / 2 * floats_of( out, 2 );
    out->far = out->near + frame_count;
    return true;
}

void tr_band_free( tr_band *band )
{
    tr_free( band->memory );
    tr_free( band->near );
    tr_free( band->work );
    *band = ( tr_band ){ 0 };
}

size_t tr_band_bytes( const tr_band *band )
{
    return ( floats_of_all( band ) + 2 * (size_t)band->frame_count ) * sizeof( float );
}

// Where a number of the inverse of two frames lies, row ≥ column: tiles of 8 × 8 on and below the diagonal,
// by columns of tiles, in these by two columns of numbers, so that a product goes through all of it in order.
static size_t entry_at( int tiles, int row, int column )
{
    size_t across = (size_t)column / 8, down = (size_t)row / 8 - across;
    size_t before = across * (size_t)tiles - across * ( across - 1 ) / 2;
    return 64 * before + 16 * ( ( (size_t)column % 8 / 2 ) * ( (size_t)tiles - across ) + down ) +
           8 * ( (size_t)column % 2 ) + (size_t)row % 8;
}

double tr_band_flexibility( const tr_band *band, int frame, int row, int column )
{
    int low = row > column ? row : column, high = row > column ? column : row, n = band->stride;
    size_t pair = (size_t)( frame / 2 );
    if ( frame % 2 == 0 )
        return band->alone[pair * floats_of( band, 1 ) + entry_at( n / 8, low, high )];
    return band->inverse[pair * floats_of( band, 2 ) + entry_at( 2 * n / 8, n + low, n + high )];
}

// ------------------------------------------------------------------------------------------------- factor

// The lower half of the work holds −B⁻¹ of the last two frames; now −Eᵀ B⁻¹ E.
static void eliminate( const tr_band *band, double *a, int width )
{
    int n = band->size, second = band->stride;
    double far = band->joins[0][1], near = band->joins[1][0], last = band->joins[1][1];
    for ( int r = 0; r < n; ++r )
        for ( int c = 0; c <= r; ++c ) {
            double *g00 = &a[r * width + c], *g11 = &a[( second + r ) * width + second + c];
            double *g10 = &a[( second + r ) * width + c], *g01 = &a[( second + c ) * width + r], b01 = *g01;
            *g00 = far * far * *g00 + far * near * ( *g10 + b01 ) + near * near * *g11;
            *g10 = last * ( far * *g10 + near * *g11 );
            *g01 = last * ( far * b01 + near * *g11 );
            *g11 = last * last * *g11;
        }
}

static void add_frame( const tr_band *band, double *a, int width, int first, const double *diagonal )
{
    int n = band->size;
    for ( int r = 0; r < n; ++r )
        for ( int c = 0; c <= r; ++c )
            a[( first + r ) * width + first + c] += diagonal[r * n + c];
    for ( int r = n; r < band->stride; ++r )
        a[( first + r ) * width + first + r] = 1;
}

static void store( const double *a, int width, int tiles, float *out )
{
    for ( int across = 0; across < tiles; ++across )
        for ( int c = 8 * across; c < 8 * across + 8; c += 2 )
            for ( int down = across; down < tiles; ++down, out += 16 )
                for ( int r = 0; r < 8; ++r ) {
                    int row = 8 * down + r;
                    out[r] = (float)-( row >= c ? a[row * width + c] : a[c * width + row] );
                    out[8 + r] = (float)-( row > c ? a[row * width + c + 1] : a[( c + 1 ) * width + row] );
                }
}

// The frames at hand: one that is the last, or two.
static bool invert( tr_band *band, double *a, int width, int frame )
{
    int one = band->stride, all = ( 1 + frame % 2 ) * band->stride;
    size_t pair = (size_t)( frame / 2 );
    double *panel = a + (size_t)width * (size_t)width;
    sweep_function *sweep = sweep_for( band->lanes );
    if ( !sweep( a, all, width, 0, one, panel ) )
        return false;
    store( a, width, one / 8, band->alone + pair * floats_of( band, 1 ) );
    if ( !sweep( a, all, width, one, all, panel ) )
        return false;
    store( a, width, all / 8, band->inverse + pair * floats_of( band, 2 ) );
    return true;
}

bool tr_band_add( tr_band *band, const double *diagonal, double near, double far )
{
    int f = band->added, width = width_of( band ), first = f % 2 * band->stride;
    uintptr_t at = (uintptr_t)band->work + TR_LANE_BYTES_MAX - 1;
    double *a = (double *)( at - at % TR_LANE_BYTES_MAX );
    assert( f < band->frame_count );
    if ( f > 0 && f % 2 == 0 )
        eliminate( band, a, width );
    add_frame( band, a, width, first, diagonal );
    for ( int r = 0; f % 2 == 0 && r < band->size; ++r )
        a[( band->stride + r ) * width + r] += near;
    band->near[f] = (float)near;
    band->far[f] = (float)far;
    band->joins[f % 2][0] = near;
    band->joins[f % 2][1] = far;
    band->added++;
    if ( f % 2 == 0 && f + 1 < band->frame_count )
        return true;
    bool ok = invert( band, a, width, f );
    if ( band->added == band->frame_count ) {
        tr_free( band->work );
        band->work = NULL;
    }
    return ok;
}

void tr_band_solve( const tr_band *band, tr_lanes lanes, float *x )
{
    assert( band->added == band->frame_count && lanes != TR_LANES_DOUBLE );
    if ( band->frame_count == 0 )
        return; // kernels begin with a pair of frames
    if ( lanes == TR_LANES_FLOAT )
        tr_kernel_band_float( band, x );
    else
        tr_kernel_band_avx2( band, x );
}
