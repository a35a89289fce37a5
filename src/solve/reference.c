// Rank and least squares through SuiteSparse's sparse QR. Each call has a cholmod_common of its own, so calls
// may run in parallel. Slow and exact: the fast paths are tested against it.
#include "solve/private.h"

#include <assert.h>
#include <lapacke.h>
#include <string.h>
#include <suitesparse/SuiteSparseQR_C.h>

extern void openblas_set_num_threads( int threads ) __attribute__( ( weak ) ); // so that any BLAS links

void tr_blas_use_one_thread( void )
{
    if ( openblas_set_num_threads != NULL )
        openblas_set_num_threads( 1 );
}

typedef SuiteSparse_long integer;

static cholmod_sparse *to_cholmod( const tr_sparse *in, bool transpose, cholmod_common *common )
{
    size_t rows = (size_t)( transpose ? in->column_count : in->row_count );
    size_t columns = (size_t)( transpose ? in->row_count : in->column_count );
    cholmod_triplet *triplet =
        cholmod_l_allocate_triplet( rows, columns, (size_t)in->entry_count, 0, CHOLMOD_REAL, common );
    if ( triplet == NULL )
        return NULL;
    integer *i = triplet->i, *j = triplet->j;
    for ( int r = 0; r < in->row_count; ++r )
        for ( int e = in->start[r]; e < in->start[r + 1]; ++e ) {
            i[e] = transpose ? in->columns[e] : r;
            j[e] = transpose ? r : in->columns[e];
            ( (double *)triplet->x )[e] = in->values[e];
        }
    triplet->nnz = (size_t)in->entry_count;
    cholmod_sparse *out = cholmod_l_triplet_to_sparse( triplet, 0, common );
    cholmod_l_free_triplet( &triplet, common );
    return out;
}

// In R, a column that brings something new reaches one row deeper than all before it.
static int find_live( const cholmod_sparse *r, bool *dependent )
{
    const integer *start = r->p, *row = r->i;
    int live = 0;
    for ( integer c = 0; c < (integer)r->ncol; ++c ) {
        integer deepest = -1;
        for ( integer e = start[c]; e < start[c + 1]; ++e )
            deepest = row[e] > deepest ? row[e] : deepest;
        bool is_new = deepest == live;
        live += is_new;
        if ( dependent != NULL )
            dependent[c] = !is_new;
    }
    return live;
}

static cholmod_sparse *triangle( cholmod_sparse *a, cholmod_common *common )
{
    cholmod_sparse *r = NULL;
    integer *permutation = NULL;
    SuiteSparseQR_C( SPQR_ORDERING_FIXED, SPQR_DEFAULT_TOL, (integer)a->nrow, 0, a, NULL, NULL, NULL, NULL,
                     &r, &permutation, NULL, NULL, NULL, common );
    assert( permutation == NULL ); // the order of the columns is the order of priority
    return r;
}

int tr_sparse_rank( const tr_sparse *rows, bool *dependent, tr_error *error )
{
    if ( rows->row_count == 0 )
        return 0;
    cholmod_common common;
    cholmod_l_start( &common );
    common.print = 0;
    cholmod_sparse *transposed = to_cholmod( rows, true, &common );
    cholmod_sparse *r = transposed != NULL ? triangle( transposed, &common ) : NULL;
    int rank = r != NULL ? find_live( r, dependent ) : -1;
    cholmod_l_free_sparse( &transposed, &common );
    cholmod_l_free_sparse( &r, &common );
    cholmod_l_finish( &common );
    if ( rank < 0 )
        tr_error_memory( error );
    return rank;
}

// ------------------------------------------------------------------------------------------ least squares

typedef struct problem {
    cholmod_common common;
    cholmod_sparse *a, *ht, *r; // A, Hᵀ and its triangle
    cholmod_dense *q, *aq;      // Q of Hᵀ (square), A Q
    bool *dependent;            // [constraint rows]
    double *right;              // [A.rows · columns] b − A Q₁ y₁
    double *y;                  // [A.columns · columns]
    int rank;                   // rank of H
} problem;

// Rᵀ y = h on the rows that count, first to last.
static void forward( const problem *p, const double *h, double *y )
{
    const integer *start = p->r->p, *row = p->r->i;
    const double *value = p->r->x;
    int live = 0;
    for ( integer c = 0; c < (integer)p->r->ncol; ++c ) {
        if ( p->dependent[c] )
            continue;
        double sum = h[c], pivot = 1;
        for ( integer e = start[c]; e < start[c + 1]; ++e ) {
            if ( row[e] < live )
                sum -= value[e] * y[row[e]];
            else
                pivot = value[e];
        }
        y[live++] = sum / pivot;
    }
}

static bool eliminate( problem *p, const tr_sparse *constraints )
{
    cholmod_common *common = &p->common;
    p->ht = to_cholmod( constraints, true, common );
    p->dependent = tr_alloc( (size_t)constraints->row_count, sizeof( bool ) );
    p->r = p->ht != NULL ? triangle( p->ht, common ) : NULL;
    if ( p->r == NULL || p->dependent == NULL )
        return false;
    p->rank = find_live( p->r, p->dependent );
    SuiteSparseQR_C_factorization *qr =
        SuiteSparseQR_C_factorize( SPQR_ORDERING_FIXED, SPQR_DEFAULT_TOL, p->ht, common );
    cholmod_dense *unit = cholmod_l_eye( p->ht->nrow, p->ht->nrow, CHOLMOD_REAL, common );
    p->q = qr != NULL && unit != NULL ? SuiteSparseQR_C_qmult( SPQR_QX, qr, unit, common ) : NULL;
    SuiteSparseQR_C_free( &qr, common );
    cholmod_l_free_dense( &unit, common );
    return p->q != NULL;
}

// A Q, and the right-hand side that is left when the constrained part y₁ is known.
static bool reduce( problem *p, const double *b, const double *h, int columns )
{
    double one[2] = { 1, 0 }, zero[2] = { 0, 0 };
    size_t rows = p->a->nrow, n = p->a->ncol;
    p->aq = cholmod_l_zeros( rows, n, CHOLMOD_REAL, &p->common );
    p->right = tr_alloc( rows * (size_t)columns, sizeof( double ) );
    p->y = tr_alloc( n * (size_t)columns, sizeof( double ) );
    if ( p->aq == NULL || p->right == NULL || p->y == NULL ||
         !cholmod_l_sdmult( p->a, 0, one, zero, p->q, p->aq, &p->common ) )
        return false;
    const double *aq = p->aq->x;
    for ( int c = 0; c < columns; ++c ) {
        double *y = p->y + n * (size_t)c, *right = p->right + rows * (size_t)c;
        forward( p, h + (size_t)p->r->ncol * (size_t)c, y );
        memcpy( right, b + rows * (size_t)c, rows * sizeof( double ) );
        for ( int k = 0; k < p->rank; ++k )
            for ( size_t i = 0; i < rows; ++i )
                right[i] -= aq[(size_t)k * rows + i] * y[k];
    }
    return true;
}

// min ‖A Q₂ y₂ − right‖, then x = Q y.
static bool finish( problem *p, int columns, double *x )
{
    size_t rows = p->a->nrow, n = p->a->ncol, rank = (size_t)p->rank;
    assert( rows >= n - rank );
    if ( n > rank && LAPACKE_dgels( LAPACK_COL_MAJOR, 'N', (lapack_int)rows, (lapack_int)( n - rank ),
                                    columns, (double *)p->aq->x + rank * rows, (lapack_int)rows, p->right,
                                    (lapack_int)rows ) != 0 )
        return false;
    const double *q = p->q->x;
    for ( size_t c = 0; c < (size_t)columns; ++c ) {
        memcpy( p->y + c * n + rank, p->right + c * rows, ( n - rank ) * sizeof( double ) );
        for ( size_t i = 0; i < n; ++i ) {
            double sum = 0;
            for ( size_t k = 0; k < n; ++k )
                sum += q[k * n + i] * p->y[c * n + k];
            x[c * n + i] = sum;
        }
    }
    return true;
}

static bool solve_free( problem *p, const double *b, int columns, double *x )
{
    size_t rows = p->a->nrow, n = p->a->ncol;
    cholmod_dense *right = cholmod_l_allocate_dense( rows, (size_t)columns, rows, CHOLMOD_REAL, &p->common );
    if ( right == NULL )
        return false;
    memcpy( right->x, b, rows * (size_t)columns * sizeof( double ) );
    cholmod_dense *found =
        SuiteSparseQR_C_backslash( SPQR_ORDERING_DEFAULT, SPQR_DEFAULT_TOL, p->a, right, &p->common );
    if ( found != NULL )
        memcpy( x, found->x, n * (size_t)columns * sizeof( double ) );
    bool ok = found != NULL;
    cholmod_l_free_dense( &right, &p->common );
    cholmod_l_free_dense( &found, &p->common );
    return ok;
}

bool tr_least_squares( const tr_sparse *a, const double *b, const tr_sparse *constraints, const double *h,
                       int columns, double *x, tr_error *error )
{
    problem p = { 0 };
    cholmod_l_start( &p.common );
    p.common.print = 0;
    p.a = to_cholmod( a, false, &p.common );
    bool ok = p.a != NULL;
    if ( constraints == NULL || constraints->row_count == 0 )
        ok = ok && solve_free( &p, b, columns, x );
    else
        ok = ok && eliminate( &p, constraints ) && reduce( &p, b, h, columns ) && finish( &p, columns, x );
    cholmod_l_free_sparse( &p.a, &p.common );
    cholmod_l_free_sparse( &p.ht, &p.common );
    cholmod_l_free_sparse( &p.r, &p.common );
    cholmod_l_free_dense( &p.q, &p.common );
    cholmod_l_free_dense( &p.aq, &p.common );
    cholmod_l_finish( &p.common );
    tr_free( p.dependent );
    tr_free( p.right );
    tr_free( p.y );
    return ok || tr_error_set( error,
                               "the least-squares problem could not be solved: out of memory, or rank lost" );
}
