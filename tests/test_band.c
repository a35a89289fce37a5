// Frames in a row: the band against sparse QR of the same least squares, by hand, and kinds of lanes against
// each other.
#include "check.h"
#include "solve/solve.h"

#include <string.h>

#define FRAMES 9
#define SIZE   11
#define WIDE   29

static double draw( uint64_t *random )
{
    return (double)( random_bits( random ) >> 11 ) / (double)( 1ull << 52 ) - 1.0;
}

// ½ Σ_f |A_f x_f|² + ½ · 0.3 Σ_f |x_{f−1} − 2 x_f + x_{f+1}|²: the blocks of its matrix.
static void make_blocks( double rows[FRAMES][SIZE][SIZE], double blocks[FRAMES][SIZE * SIZE],
                         double near[FRAMES], double far[FRAMES] )
{
    uint64_t random = 77;
    memset( blocks, 0, sizeof( double[FRAMES][SIZE * SIZE] ) );
    memset( near, 0, sizeof( double[FRAMES] ) );
    memset( far, 0, sizeof( double[FRAMES] ) );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int r = 0; r < SIZE; ++r )
            for ( int c = 0; c < SIZE; ++c )
                rows[f][r][c] = draw( &random ) + ( r == c );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int a = 0; a < SIZE; ++a )
            for ( int b = 0; b < SIZE; ++b )
                for ( int r = 0; r < SIZE; ++r )
                    blocks[f][a * SIZE + b] += rows[f][r][a] * rows[f][r][b];
    static const double stencil[3] = { 1, -2, 1 };
    for ( int f = 1; f + 1 < FRAMES; ++f )
        for ( int i = 0; i < 3; ++i ) {
            for ( int a = 0; a < SIZE; ++a )
                blocks[f - 1 + i][a * SIZE + a] += 0.3 * stencil[i] * stencil[i];
            if ( i < 2 )
                near[f - 1 + i] += 0.3 * stencil[i] * stencil[i + 1];
            if ( i == 0 )
                far[f - 1] += 0.3 * stencil[0] * stencil[2];
        }
}

static void build( tr_band *band, double rows[FRAMES][SIZE][SIZE] )
{
    static double blocks[FRAMES][SIZE * SIZE];
    double near[FRAMES], far[FRAMES];
    tr_error error;
    make_blocks( rows, blocks, near, far );
    check_ok( tr_band_start( band, FRAMES, SIZE, &error ), &error );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( tr_band_add( band, blocks[f], near[f], far[f] ) );
}

// The same energy as rows of a least-squares problem: A_f x_f = g, and the accelerations.
static void reference( double rows[FRAMES][SIZE][SIZE], const double *g, double *x )
{
    tr_sparse a = { .column_count = FRAMES * SIZE };
    tr_error error;
    int all = FRAMES * SIZE + ( FRAMES - 2 ) * SIZE;
    double *b = tr_alloc( 3 * (size_t)all, sizeof( double ) );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int r = 0; r < SIZE; ++r ) {
            int columns[SIZE];
            for ( int c = 0; c < SIZE; ++c )
                columns[c] = f * SIZE + c;
            assert_true( tr_sparse_add( &a, columns, rows[f][r], SIZE ) );
            for ( int k = 0; k < 3; ++k )
                b[k * all + f * SIZE + r] = g[( f * 3 + k ) * SIZE + r];
        }
    for ( int f = 1; f + 1 < FRAMES; ++f )
        for ( int c = 0; c < SIZE; ++c ) {
            double w = sqrt( 0.3 );
            assert_true( tr_sparse_add( &a,
                                        ( int[] ){ ( f - 1 ) * SIZE + c, f * SIZE + c, ( f + 1 ) * SIZE + c },
                                        ( double[] ){ w, -2 * w, w }, 3 ) );
        }
    check_ok( tr_least_squares( &a, b, NULL, NULL, 3, x, &error ), &error );
    tr_sparse_free( &a );
    tr_free( b );
}

static void bands_solve_like_sparse_qr( void **state )
{
    (void)state;
    static double rows[FRAMES][SIZE][SIZE];
    tr_band band;
    build( &band, rows );
    double g[FRAMES * 3 * SIZE], exact[3 * FRAMES * SIZE];
    uint64_t random = 5;
    for ( int i = 0; i < FRAMES * 3 * SIZE; ++i )
        g[i] = draw( &random );
    reference( rows, g, exact );
    float *memory = tr_alloc( tr_band_floats( &band ), sizeof( float ) ), *x = tr_band_align( memory );
    float *again = tr_alloc( tr_band_floats( &band ), sizeof( float ) ), *y = tr_band_align( again );
    for ( int f = 0; f < FRAMES; ++f ) // right-hand side: A_fᵀ g
        for ( int k = 0; k < 3; ++k )
            for ( int c = 0; c < SIZE; ++c ) {
                double sum = 0;
                for ( int r = 0; r < SIZE; ++r )
                    sum += rows[f][r][c] * g[( f * 3 + k ) * SIZE + r];
                x[( f * 3 + k ) * band.stride + c] = y[( f * 3 + k ) * band.stride + c] = (float)sum;
            }
    tr_band_solve( &band, TR_LANES_FLOAT, x );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int k = 0; k < 3; ++k )
            for ( int c = 0; c < band.stride; ++c )
                check_near( x[( f * 3 + k ) * band.stride + c],
                            c < SIZE ? exact[k * FRAMES * SIZE + f * SIZE + c] : 0, 2e-4 );
    if ( tr_lanes_supported( TR_LANES_AVX2 ) ) {
        tr_band_solve( &band, TR_LANES_AVX2, y );
        assert_memory_equal( x, y, (size_t)FRAMES * 3 * (size_t)band.stride * sizeof( float ) );
    }
    tr_free( memory );
    tr_free( again );
    tr_band_free( &band );
}

// One unknown in three frames: K = [[2,1,0.5],[1,3,1],[0.5,1,4]], whose determinant is 18.25. The first
// column of the inverse is (11, −3.5, −0.5) / 18.25.
static void three_frames_by_hand( void **state )
{
    (void)state;
    tr_band band;
    tr_error error;
    check_ok( tr_band_start( &band, 3, 1, &error ), &error );
    assert_true( tr_band_add( &band, ( double[] ){ 2 }, 1, 0.5 ) );
    assert_true( tr_band_add( &band, ( double[] ){ 3 }, 1, 0 ) );
    assert_true( tr_band_add( &band, ( double[] ){ 4 }, 0, 0 ) );
    float *memory = tr_alloc( tr_band_floats( &band ), sizeof( float ) ), *x = tr_band_align( memory );
    for ( int k = 0; k < 3; ++k )
        x[k * band.stride] = (float)( 18.25 * ( k + 1 ) );
    tr_band_solve( &band, tr_lanes_best(), x );
    static const double column[3] = { 11, -3.5, -0.5 };
    for ( int f = 0; f < 3; ++f )
        for ( int k = 0; k < 3; ++k )
            check_near( x[( f * 3 + k ) * band.stride], ( k + 1 ) * column[f], 1e-5 );
    check_near( tr_band_flexibility( &band, 0, 0, 0 ), 0.5, 0 );
    check_near( tr_band_flexibility( &band, 1, 0, 0 ), 0.4, 1e-7 ); // 1 / ( 3 − 1 / 2 )
    tr_free( memory );
    tr_band_free( &band );
}

// K x of a band in doubles, K by its frames' blocks.
static void multiply( int frames, const double *blocks, const double *near, const double *far,
                      const double *x, double *out )
{
    for ( int f = 0; f < frames; ++f )
        for ( int r = 0; r < WIDE; ++r ) {
            double sum = 0;
            for ( int c = 0; c < WIDE; ++c )
                sum += blocks[( f * WIDE + r ) * WIDE + c] * x[f * WIDE + c];
            for ( int o = 1; o <= 2; ++o ) {
                const double *join = o == 1 ? near : far;
                sum += f + o < frames ? join[f] * x[( f + o ) * WIDE + r] : 0;
                sum += f - o >= 0 ? join[f - o] * x[( f - o ) * WIDE + r] : 0;
            }
            out[f * WIDE + r] = sum;
        }
}

// With 1 to 6 frames, so that the last stands alone or not: the result of x ↦ K x ↦ K⁻¹ K x, factored and
// solved with all kinds of lanes.
static void any_number_of_frames_and_lanes( void **state )
{
    (void)state;
    static double blocks[6 * WIDE * WIDE];
    double near[6], far[6], x[6 * WIDE], b[6 * WIDE];
    tr_error error;
    uint64_t random = 3;
    for ( int f = 0; f < 6; ++f ) {
        near[f] = -4 - draw( &random );
        far[f] = 1 + 0.5 * draw( &random );
        for ( int r = 0; r < WIDE; ++r )
            for ( int c = 0; c <= r; ++c )
                blocks[( f * WIDE + r ) * WIDE + c] = blocks[( f * WIDE + c ) * WIDE + r] =
                    draw( &random ) + ( r == c ? 3 * WIDE : 0 );
    }
    for ( int i = 0; i < 6 * WIDE; ++i )
        x[i] = draw( &random );
    for ( int frames = 1; frames <= 6; ++frames ) {
        float *kept = NULL;
        multiply( frames, blocks, near, far, x, b );
        for ( int lanes = TR_LANES_FLOAT; lanes < TR_LANES_KINDS; ++lanes ) {
            tr_band band;
            if ( !tr_lanes_supported( (tr_lanes)lanes ) )
                continue;
            check_ok( tr_band_start( &band, frames, WIDE, &error ), &error );
            band.lanes = (tr_lanes)lanes;
            for ( int f = 0; f < frames; ++f )
                assert_true( tr_band_add( &band, blocks + f * WIDE * WIDE, near[f], far[f] ) );
            float *memory = tr_alloc( tr_band_floats( &band ), sizeof( float ) ),
                  *at = tr_band_align( memory );
            for ( int i = 0; i < 3 * frames * WIDE; ++i )
                at[i / WIDE * band.stride + i % WIDE] = (float)b[i / ( 3 * WIDE ) * WIDE + i % WIDE];
            tr_band_solve( &band, (tr_lanes)lanes, at );
            for ( int i = 0; i < 3 * frames * WIDE; ++i ) {
                float *now = &at[i / WIDE * band.stride + i % WIDE];
                check_near( *now, x[i / ( 3 * WIDE ) * WIDE + i % WIDE], 1e-5 );
                if ( kept != NULL )
                    assert_memory_equal( now, &tr_band_align( kept )[i / WIDE * band.stride + i % WIDE],
                                         sizeof( float ) );
            }
            tr_band_free( &band );
            tr_free( kept );
            kept = memory;
        }
        tr_free( kept );
    }
}

static void indefinite_frames_are_refused( void **state )
{
    (void)state;
    tr_band band;
    tr_error error;
    check_ok( tr_band_start( &band, 2, 1, &error ), &error );
    assert_true( tr_band_add( &band, ( double[] ){ 1 }, 2, 0 ) );
    assert_false( tr_band_add( &band, ( double[] ){ 1 }, 0, 0 ) ); // 1 − 2 · 2 < 0
    tr_band_free( &band );
    for ( long n = 1; n <= 3; ++n ) {
        tr_memory_fail_from( n );
        assert_false( tr_band_start( &band, 4, 4, &error ) );
        tr_memory_fail_from( 0 );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( bands_solve_like_sparse_qr ),
        TEST( three_frames_by_hand ),
        TEST( any_number_of_frames_and_lanes ),
        TEST( indefinite_frames_are_refused ),
    };
    return cmocka_run_group_tests_name( "band", tests, NULL, NULL );
}
