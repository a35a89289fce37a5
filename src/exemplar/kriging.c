// Kriging weights, see private.h.
#include "exemplar/private.h"

// In mean distances of examples to their nearest one.
static double kernel_length( int count, const double *square_distances, double reach )
{
    double sum = 0;
    for ( int i = 0; i < count; ++i ) {
        double nearest = INFINITY;
        for ( int j = 0; j < count; ++j )
            if ( j != i )
                nearest = fmin( nearest, square_distances[i * count + j] );
        sum += sqrt( nearest );
    }
    return reach * sum / count;
}

// Inverts a positive definite matrix [n²] in place by Gauss–Jordan elimination, which needs no pivots there.
// False where it is singular.
static bool invert( double *a, int n )
{
    for ( int p = 0; p < n; ++p ) {
        double pivot = a[p * n + p];
        if ( !( pivot > 0 ) || !isfinite( pivot ) )
            return false;
        a[p * n + p] = 1.0;
        for ( int j = 0; j < n; ++j )
            a[p * n + j] /= pivot;
        for ( int i = 0; i < n; ++i ) {
            double factor = a[i * n + p];
            if ( i == p || factor == 0 )
                continue;
            a[i * n + p] = 0;
            for ( int j = 0; j < n; ++j )
                a[i * n + j] -= factor * a[p * n + j];
        }
    }
    return true;
}

bool tr_kriging_build( tr_kriging *out, int count, const double *square_distances, const double *products,
                       double linear, double reach, tr_error *error )
{
    size_t n = (size_t)count;
    *out = ( tr_kriging ){ .count = count, .linear = linear };
    out->length = kernel_length( count, square_distances, reach );
    out->inverse = tr_alloc( n * n, sizeof( double ) );
    out->inverse_sum = tr_alloc( n, sizeof( double ) );
    if ( out->inverse == NULL || out->inverse_sum == NULL )
        return tr_error_memory( error );
    for ( size_t i = 0; i < n * n; ++i )
        out->inverse[i] = tr_kernel( out, square_distances[i], products[i] );
    if ( !invert( out->inverse, count ) )
        return tr_error_set( error, "the poses of the source in the examples are too much alike" );
    for ( int i = 0; i < count; ++i ) {
        for ( int j = 0; j < count; ++j )
            out->inverse_sum[i] += out->inverse[i * count + j];
        out->one += out->inverse_sum[i];
    }
    return true;
}

void tr_kriging_free( tr_kriging *kriging )
{
    tr_free( kriging->inverse );
    tr_free( kriging->inverse_sum );
    *kriging = ( tr_kriging ){ 0 };
}

double tr_kriging_weigh( const tr_kriging *kriging, const double *kernels, double own, double *weights )
{
    int n = kriging->count;
    double sum = 0, known = 0;
    for ( int i = 0; i < n; ++i ) {
        const double *row = kriging->inverse + (size_t)i * (size_t)n;
        weights[i] = 0;
        for ( int j = 0; j < n; ++j )
            weights[i] += row[j] * kernels[j];
        sum += weights[i];
        known += weights[i] * kernels[i];
    }
    double multiplier = ( 1.0 - sum ) / kriging->one;
    for ( int i = 0; i < n; ++i )
        weights[i] += multiplier * kriging->inverse_sum[i];
    return fmax( own - known + ( 1.0 - sum ) * multiplier, 0 );
}
