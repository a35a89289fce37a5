// The inner loops of a band. Compiled once per kind of float lanes, as kernel.h is; here the lanes are eight
// unknowns of two frames.
#include "math/lanes.h"
#include "solve/private.h"

#include <string.h>

// In a fixed order, so that all kinds of lanes give the same.
static inline float lane_sum( lane v )
{
    v += __builtin_shufflevector( v, v, 4, 5, 6, 7, 0, 1, 2, 3 );
    v += __builtin_shufflevector( v, v, 2, 3, 0, 1, 6, 7, 4, 5 );
    return v[0] + v[1];
}

// Two columns of a symmetric matrix, from the tile on the diagonal down. x and y [3][width] begin at the
// diagonal; m is y ← y + S x for its rows, and what is below the diagonal goes, transposed, to `across`, the
// unknowns of the two columns.
static inline void multiply_columns( const lane *m, int tiles, int width, const float *x, int column,
                                     float *y, float *across )
{
    lane left[3], right[3], sum[3][2];
    for ( int k = 0; k < 3; ++k ) {
        lane *to = (lane *)( y + k * width );
        left[k] = lane_all( x[k * width + column] );
        right[k] = lane_all( x[k * width + column + 1] );
        *to = lane_mad( m[1], right[k], lane_mad( m[0], left[k], *to ) );
        sum[k][0] = sum[k][1] = lane_all( 0 );
    }
    for ( int t = 1; t < tiles; ++t ) {
        lane a = m[2 * t], b = m[2 * t + 1];
        for ( int k = 0; k < 3; ++k ) {
            lane *to = (lane *)( y + k * width + 8 * t ), from = *(const lane *)( x + k * width + 8 * t );
            *to = lane_mad( b, right[k], lane_mad( a, left[k], *to ) );
            sum[k][0] = lane_mad( a, from, sum[k][0] );
            sum[k][1] = lane_mad( b, from, sum[k][1] );
        }
    }
    for ( int k = 0; k < 3; ++k )
        for ( int i = 0; i < 2; ++i )
            across[8 * k + column + i] = lane_sum( sum[k][i] );
}

// y ← S x, S as band.c keeps it; x and y [3][8 · tiles].
static void multiply( const float *m, int tiles, const float *x, float *y )
{
    int width = 8 * tiles;
    for ( int i = 0; i < 3 * width; i += LANES )
        *(lane *)( y + i ) = lane_all( 0 );
    for ( int at = 0; at < tiles; ++at ) {
        int down = tiles - at;
        float across[24] __attribute__( ( aligned( 32 ) ) );
        for ( int column = 0; column < 8; column += 2, m += 16 * down )
            multiply_columns( (const lane *)m, down, width, x + 8 * at, column, y + 8 * at, across );
        for ( int k = 0; k < 3; ++k )
            *(lane *)( y + k * width + 8 * at ) += *(const lane *)( across + 8 * k );
    }
}

// out[3][width] ← scale · x[3][stride] + more · y
static void mix( float *out, int width, float scale, const float *x, float more, const float *y, int stride )
{
    for ( int k = 0; k < 3; ++k )
        for ( int i = 0; i < stride; i += LANES ) {
            lane sum = scale * *(const lane *)( x + k * stride + i );
            if ( y != NULL )
                sum = lane_mad( lane_all( more ), *(const lane *)( y + k * stride + i ), sum );
            *(lane *)( out + k * width + i ) = sum;
        }
}

// to[3][stride] ← to + scale · from[3][width]
static void add_scaled( float *to, int stride, float scale, const float *from, int width )
{
    for ( int k = 0; k < 3; ++k )
        for ( int i = 0; i < stride; i += LANES ) {
            lane *at = (lane *)( to + k * stride + i );
            *at = lane_mad( lane_all( scale ), *(const lane *)( from + k * width + i ), *at );
        }
}

void KERNEL( band )( const tr_band *band, float *x )
{
    int stride = band->stride, frames = band->frame_count, last = ( frames - 1 ) / 2 * 2;
    size_t room = 3 * (size_t)stride, block = tr_band_tiles( 2 * stride / 8 );
    float *pull = x + (size_t)frames * room, *move = pull + 2 * room;
    for ( int f = 0; f <= last; f += 2 ) {
        bool two = f + 1 < frames;
        int width = two ? 2 * stride : stride;
        float *at = x + (size_t)f * room;
        mix( pull, width, 1, at, 0, NULL, stride );
        if ( two )
            mix( pull + stride, width, 1, at + room, 0, NULL, stride );
        multiply( band->inverse + (size_t)( f / 2 ) * block, width / 8, pull, move );
        for ( int i = 0; i < ( two ? 2 : 1 ); ++i )
            for ( int k = 0; k < 3; ++k )
                memcpy( at + (size_t)i * room + k * stride, move + i * stride + k * width,
                        (size_t)stride * sizeof( float ) );
        if ( f + 2 < frames ) {
            add_scaled( at + 2 * room, stride, -band->far[f], move, width );
            add_scaled( at + 2 * room, stride, -band->near[f + 1], move + stride, width );
        }
        if ( f + 3 < frames )
            add_scaled( at + 3 * room, stride, -band->far[f + 1], move + stride, width );
    }
    for ( int f = last - 2; f >= 0; f -= 2 ) {
        int width = 2 * stride;
        float *at = x + (size_t)f * room;
        const float *beyond = f + 3 < frames ? at + 3 * room : NULL;
        mix( pull, width, band->far[f], at + 2 * room, 0, NULL, stride );
        mix( pull + stride, width, band->near[f + 1], at + 2 * room, band->far[f + 1], beyond, stride );
        multiply( band->inverse + (size_t)( f / 2 ) * block, width / 8, pull, move );
        add_scaled( at, stride, -1, move, width );
        add_scaled( at + room, stride, -1, move + stride, width );
    }
}
