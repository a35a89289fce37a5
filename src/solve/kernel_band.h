// The inner loops of a band. Compiled once per kind of float lanes, as kernel.h is; here the lanes are eight
// unknowns of one frame.
#include "math/lanes.h"
#include "solve/private.h"

#define ROWS 4 // lanes of unknowns in registers, three numbers each

// out ← out + sign · M x for one group of rows, M by columns; x and out [3][stride].
static void multiply_rows( const float *m, int stride, int size, const float *x, float *out, float sign,
                           int row, int rows )
{
    lane sum[3][ROWS];
    for ( int k = 0; k < 3; ++k )
        for ( int r = 0; r < ROWS; ++r )
            sum[k][r] = lane_all( 0 );
    for ( int c = 0; c < size; ++c ) {
        const lane *column = (const lane *)( m + (size_t)c * (size_t)stride + row );
        lane x0 = lane_all( x[c] ), x1 = lane_all( x[stride + c] ), x2 = lane_all( x[2 * stride + c] );
        if ( rows == ROWS ) {
            for ( int r = 0; r < ROWS; ++r ) {
                sum[0][r] += column[r] * x0;
                sum[1][r] += column[r] * x1;
                sum[2][r] += column[r] * x2;
            }
        } else {
            sum[0][0] += column[0] * x0;
            sum[1][0] += column[0] * x1;
            sum[2][0] += column[0] * x2;
        }
    }
    for ( int k = 0; k < 3; ++k )
        for ( int r = 0; r < rows; ++r )
            ( (lane *)( out + k * stride + row ) )[r] += sign * sum[k][r];
}

static void multiply( const float *m, const tr_band *band, const float *x, float *out, float sign )
{
    int row = 0;
    for ( ; row + 8 * ROWS <= band->stride; row += 8 * ROWS )
        multiply_rows( m, band->stride, band->size, x, out, sign, row, ROWS );
    for ( ; row < band->stride; row += 8 )
        multiply_rows( m, band->stride, band->size, x, out, sign, row, 1 );
}

static void add_scaled( float *out, float scale, const float *x, int count )
{
    for ( int i = 0; i < count; i += LANES )
        *(lane *)( out + i ) += scale * *(const lane *)( x + i );
}

// out ← M x, in place of x, by way of `spare`
static void replace( const float *m, const tr_band *band, float *x, float *spare )
{
    for ( int i = 0; i < 3 * band->stride; i += LANES )
        *(lane *)( spare + i ) = lane_all( 0 );
    multiply( m, band, x, spare, 1 );
    for ( int i = 0; i < 3 * band->stride; i += LANES )
        *(lane *)( x + i ) = *(const lane *)( spare + i );
}

void KERNEL( band )( const tr_band *band, float *x )
{
    int width = 3 * band->stride, last = band->frame_count - 1;
    size_t block = (size_t)band->stride * (size_t)band->stride;
    float *spare = x + (size_t)band->frame_count * (size_t)width, *pull = spare + width;
    for ( int f = 0; f <= last; ++f ) {
        float *at = x + (size_t)f * (size_t)width;
        replace( band->inverse + (size_t)f * block, band, at, spare );
        if ( f < last ) // columns of Cᵀ are rows of C
            multiply( band->next + (size_t)f * block, band, at, at + width, -1 );
        if ( f + 1 < last )
            add_scaled( at + 2 * width, -band->far[f], at, width );
    }
    for ( int f = last - 1; f >= 0; --f ) {
        float *at = x + (size_t)f * (size_t)width;
        for ( int i = 0; i < width; i += LANES )
            *(lane *)( pull + i ) = lane_all( 0 );
        multiply( band->next_transposed + (size_t)f * block, band, at + width, pull, 1 );
        if ( f + 1 < last )
            add_scaled( pull, band->far[f], at + 2 * width, width );
        multiply( band->inverse + (size_t)f * block, band, pull, at, -1 );
    }
}
