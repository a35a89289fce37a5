// Block elimination on a tree. With children before parents, node i sees only its parent p:
//   Dᵢ = K(i,i) − Σ over children c of K(c,i)ᵀ Uc,   Uᵢ = Dᵢ⁻¹ K(i,p)
// Solving K x = b: leaves to root  b_p ← b_p − Uᵢᵀ bᵢ,  root to leaves  xᵢ = Dᵢ⁻¹ bᵢ − Uᵢ x_p.
#include "solve/solve.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// Inverse of a symmetric positive definite 3×3 block by cofactors; false when it is not one.
static bool invert( const double *m, double *out )
{
    const double rounding =
        1e-14; // relative to the cube of the size: a determinant below it is rounding alone
    double c00 = m[4] * m[8] - m[5] * m[7], c01 = m[5] * m[6] - m[3] * m[8], c02 = m[3] * m[7] - m[4] * m[6];
    double det = m[0] * c00 + m[1] * c01 + m[2] * c02;
    double size = fabs( m[0] ) + fabs( m[4] ) + fabs( m[8] );
    bool definite = m[0] > 0 && m[0] * m[4] - m[1] * m[3] > 0 && det > rounding * size * size * size;
    if ( !definite || !isfinite( det ) )
        return false;
    out[0] = c00 / det, out[1] = c01 / det, out[2] = c02 / det;
    out[4] = ( m[0] * m[8] - m[2] * m[6] ) / det;
    out[5] = ( m[2] * m[3] - m[0] * m[5] ) / det;
    out[8] = ( m[0] * m[4] - m[1] * m[3] ) / det;
    out[3] = out[1], out[6] = out[2], out[7] = out[5];
    return true;
}

static void multiply( const double *a, const double *b, double *out )
{
    for ( int r = 0; r < 3; ++r )
        for ( int c = 0; c < 3; ++c )
            out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

// d ← d − kᵀ u
static void subtract_product( double *d, const double *k, const double *u )
{
    for ( int r = 0; r < 3; ++r )
        for ( int c = 0; c < 3; ++c )
            d[3 * r + c] -= k[r] * u[c] + k[3 + r] * u[3 + c] + k[6 + r] * u[6 + c];
}

static bool factor( tr_tree *tree, const double *coupling )
{
    for ( int i = tree->node_count - 1; i >= 0; --i ) {
        int p = tree->parents[i];
        double *inverse = tree->inverse + 9 * i, *upper = tree->upper + 9 * i, d[9];
        memcpy( d, inverse, sizeof d );
        if ( !invert( d, inverse ) )
            return false;
        if ( p >= 0 ) {
            multiply( inverse, coupling + 9 * i, upper );
            subtract_product( tree->inverse + 9 * p, coupling + 9 * i, upper );
        }
    }
    return true;
}

bool tr_tree_build( tr_tree *out, int node_count, const int *parents, const double *diagonal,
                    const double *coupling, tr_error *error )
{
    size_t n = (size_t)node_count;
    *out = ( tr_tree ){ .node_count = node_count };
    out->parents = tr_alloc( n, sizeof( int ) );
    out->inverse = tr_alloc( 9 * n, sizeof( double ) );
    out->upper = tr_alloc( 9 * n, sizeof( double ) );
    out->inverse_f = tr_alloc( 9 * n, sizeof( float ) );
    out->upper_f = tr_alloc( 9 * n, sizeof( float ) );
    bool ok = out->parents != NULL && out->inverse != NULL && out->upper != NULL && out->inverse_f != NULL &&
              out->upper_f != NULL;
    if ( !ok )
        tr_error_memory( error );
    for ( int i = 0; ok && i < node_count; ++i ) {
        assert( parents[i] < i && parents[i] >= -1 );
        out->parents[i] = parents[i];
        memcpy( out->inverse + 9 * i, diagonal + 9 * i, 9 * sizeof( double ) );
    }
    if ( ok && !factor( out, coupling ) )
        ok = tr_error_set( error, "the matrix is not positive definite" );
    for ( int i = 0; ok && i < 9 * node_count; ++i ) {
        out->inverse_f[i] = (float)out->inverse[i];
        out->upper_f[i] = (float)out->upper[i];
    }
    if ( !ok )
        tr_tree_free( out );
    return ok;
}

void tr_tree_free( tr_tree *tree )
{
    tr_free( tree->parents );
    tr_free( tree->inverse );
    tr_free( tree->upper );
    tr_free( tree->inverse_f );
    tr_free( tree->upper_f );
    memset( tree, 0, sizeof *tree );
}

void tr_tree_solve( const tr_tree *tree, double *x, int columns )
{
    size_t n = (size_t)columns;
    for ( int i = tree->node_count - 1; i >= 0; --i ) {
        const double *u = tree->upper + 9 * i;
        if ( tree->parents[i] < 0 )
            continue;
        double *b = x + 3 * n * (size_t)i, *p = x + 3 * n * (size_t)tree->parents[i];
        for ( size_t c = 0; c < n; ++c )
            for ( size_t r = 0; r < 3; ++r )
                p[r * n + c] -= u[r] * b[c] + u[3 + r] * b[n + c] + u[6 + r] * b[2 * n + c];
    }
    for ( int i = 0; i < tree->node_count; ++i ) {
        const double *d = tree->inverse + 9 * i, *u = tree->upper + 9 * i;
        double *b = x + 3 * n * (size_t)i;
        const double *p = tree->parents[i] < 0 ? NULL : x + 3 * n * (size_t)tree->parents[i];
        for ( size_t c = 0; c < n; ++c ) {
            double b0 = b[c], b1 = b[n + c], b2 = b[2 * n + c];
            for ( size_t r = 0; r < 3; ++r ) {
                double y = d[3 * r] * b0 + d[3 * r + 1] * b1 + d[3 * r + 2] * b2;
                if ( p != NULL )
                    y -= u[3 * r] * p[c] + u[3 * r + 1] * p[n + c] + u[3 * r + 2] * p[2 * n + c];
                b[r * n + c] = y;
            }
        }
    }
}
