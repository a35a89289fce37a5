// Sparse L D Lᵀ, row by row: row k of L solves L(0…k−1) D y = a_k, and y is nonzero exactly on the paths of
// the elimination tree that lead up from the nonzeros of a_k towards k.
#include "solve/solve.h"

#include <assert.h>
#include <string.h>
#include <suitesparse/amd.h>

typedef struct factoring {
    tr_ldl *ldl;
    int *row_start;   // [count + 1] the matrix by rows in order of elimination, lower triangle
    int *columns;     // [entries]
    double *entries;  // [entries]
    int *parent;      // [count] of the elimination tree, -1 at roots
    int *mark;        // [count] last row that passed here
    int *used;        // [count] entries of a column of L there are so far
    int *path, *list; // [count] the nonzeros of a row, ancestors last
    double *y;        // [count] the row, dense
} factoring;

static bool find_order( tr_ldl *ldl, const tr_sparse *matrix, tr_error *error )
{
    // AMD looks at the pattern of A + Aᵀ: rows may stand for columns.
    int status = amd_order( matrix->row_count, matrix->start, matrix->columns, ldl->order, NULL, NULL );
    if ( status != AMD_OK && status != AMD_OK_BUT_JUMBLED )
        return tr_error_memory( error );
    for ( int k = 0; k < ldl->count; ++k )
        ldl->place[ldl->order[k]] = k;
    return true;
}

static void permute( factoring *f, const tr_sparse *m )
{
    const int *place = f->ldl->place;
    int *next = f->used; // not needed yet
    for ( int pass = 0; pass < 2; ++pass ) {
        for ( int r = 0; r < m->row_count; ++r )
            for ( int e = m->start[r]; e < m->start[r + 1]; ++e ) {
                if ( m->columns[e] > r )
                    continue;
                int a = place[r], b = place[m->columns[e]], row = a > b ? a : b, column = a > b ? b : a;
                if ( pass == 0 ) {
                    f->row_start[row + 1]++;
                    continue;
                }
                f->columns[next[row]] = column;
                f->entries[next[row]++] = m->values[e];
            }
        for ( int k = 0; pass == 0 && k < m->row_count; ++k ) {
            f->row_start[k + 1] += f->row_start[k];
            next[k] = f->row_start[k];
        }
    }
}

// The nonzeros of row k of L: list[return value … count − 1], every one before its ancestors. With `grow`,
// the tree is not known yet and grows by the row.
static int reach( factoring *f, int k, bool grow )
{
    int top = f->ldl->count;
    f->mark[k] = k;
    for ( int e = f->row_start[k]; e < f->row_start[k + 1]; ++e ) {
        int length = 0;
        for ( int i = f->columns[e]; f->mark[i] != k; i = f->parent[i] ) {
            if ( grow && f->parent[i] < 0 )
                f->parent[i] = k;
            f->path[length++] = i;
            f->mark[i] = k;
        }
        while ( length > 0 )
            f->list[--top] = f->path[--length];
    }
    return top;
}

static void start_marks( factoring *f )
{
    for ( int k = 0; k < f->ldl->count; ++k )
        f->mark[k] = -1;
}

static bool analyse( factoring *f, tr_error *error )
{
    tr_ldl *ldl = f->ldl;
    start_marks( f );
    for ( int k = 0; k < ldl->count; ++k )
        f->parent[k] = -1;
    long long sum = 0;
    for ( int k = 0; k < ldl->count; ++k )
        for ( int at = reach( f, k, true ); at < ldl->count; ++at ) {
            ldl->start[f->list[at] + 1]++;
            ++sum;
        }
    if ( sum > INT32_MAX )
        return tr_error_memory( error );
    for ( int k = 0; k < ldl->count; ++k ) {
        ldl->start[k + 1] += ldl->start[k];
        f->used[k] = 0;
    }
    ldl->entry_count = (int)sum;
    size_t entries = (size_t)sum;
    ldl->rows = tr_alloc( entries, sizeof( int ) );
    ldl->values = tr_alloc( entries, sizeof( double ) );
    ldl->values_f = tr_alloc( entries, sizeof( float ) );
    return ( ldl->rows != NULL && ldl->values != NULL && ldl->values_f != NULL ) || tr_error_memory( error );
}

static bool eliminate_row( factoring *f, int k )
{
    tr_ldl *ldl = f->ldl;
    double whole = 0;
    for ( int e = f->row_start[k]; e < f->row_start[k + 1]; ++e )
        f->y[f->columns[e]] += f->entries[e];
    whole = f->y[k];
    double pivot = whole;
    f->y[k] = 0;
    for ( int at = reach( f, k, false ); at < ldl->count; ++at ) {
        int i = f->list[at];
        double y = f->y[i], l = y * ldl->inverse[i];
        f->y[i] = 0;
        int begin = ldl->start[i], end = begin + f->used[i]++;
        for ( int e = begin; e < end; ++e )
            f->y[ldl->rows[e]] -= ldl->values[e] * y;
        pivot -= l * y;
        ldl->rows[end] = k;
        ldl->values[end] = l;
    }
    const double rounding = 1e-14; // relative to the diagonal entry: a pivot below it is rounding alone
    ldl->inverse[k] = 1 / pivot;
    return pivot > rounding * whole && pivot > 0;
}

static bool factor( factoring *f, tr_error *error )
{
    tr_ldl *ldl = f->ldl;
    start_marks( f );
    for ( int k = 0; k < ldl->count; ++k )
        if ( !eliminate_row( f, k ) )
            return tr_error_set( error, "the matrix is not positive definite at unknown %d", ldl->order[k] );
    for ( int e = 0; e < ldl->entry_count; ++e )
        ldl->values_f[e] = (float)ldl->values[e];
    for ( int k = 0; k < ldl->count; ++k )
        ldl->inverse_f[k] = (float)ldl->inverse[k];
    return true;
}

static bool allocate( factoring *f, const tr_sparse *matrix, tr_error *error )
{
    tr_ldl *ldl = f->ldl;
    size_t n = (size_t)matrix->row_count, entries = (size_t)matrix->entry_count;
    ldl->order = tr_alloc( n, sizeof( int ) );
    ldl->place = tr_alloc( n, sizeof( int ) );
    ldl->start = tr_alloc( n + 1, sizeof( int ) );
    ldl->inverse = tr_alloc( n, sizeof( double ) );
    ldl->inverse_f = tr_alloc( n, sizeof( float ) );
    f->row_start = tr_alloc( n + 1, sizeof( int ) );
    f->columns = tr_alloc( entries, sizeof( int ) );
    f->entries = tr_alloc( entries, sizeof( double ) );
    f->parent = tr_alloc( 5 * n, sizeof( int ) );
    f->y = tr_alloc( n, sizeof( double ) );
    bool ok = ldl->order && ldl->place && ldl->start && ldl->inverse && ldl->inverse_f && f->row_start &&
              f->columns && f->entries && f->parent && f->y;
    if ( !ok )
        return tr_error_memory( error );
    f->mark = f->parent + n;
    f->used = f->mark + n;
    f->path = f->used + n;
    f->list = f->path + n;
    return true;
}

bool tr_ldl_build( tr_ldl *out, const tr_sparse *matrix, tr_error *error )
{
    assert( matrix->row_count == matrix->column_count );
    *out = ( tr_ldl ){ .count = matrix->row_count };
    factoring f = { .ldl = out };
    bool ok = allocate( &f, matrix, error );
    if ( ok && matrix->row_count > 0 ) {
        ok = find_order( out, matrix, error );
        if ( ok )
            permute( &f, matrix );
        ok = ok && analyse( &f, error ) && factor( &f, error );
    }
    tr_free( f.row_start );
    tr_free( f.columns );
    tr_free( f.entries );
    tr_free( f.parent );
    tr_free( f.y );
    if ( !ok )
        tr_ldl_free( out );
    return ok;
}

void tr_ldl_free( tr_ldl *ldl )
{
    tr_free( ldl->order );
    tr_free( ldl->place );
    tr_free( ldl->start );
    tr_free( ldl->rows );
    tr_free( ldl->values );
    tr_free( ldl->inverse );
    tr_free( ldl->values_f );
    tr_free( ldl->inverse_f );
    *ldl = ( tr_ldl ){ 0 };
}

// --------------------------------------------------------------------------------------------------- solve

void tr_ldl_solve( const tr_ldl *ldl, double *x, int columns, double *work )
{
    size_t width = (size_t)columns;
    for ( int k = 0; k < ldl->count; ++k )
        memcpy( work + (size_t)k * width, x + (size_t)ldl->order[k] * width, width * sizeof( double ) );
    for ( int k = 0; k < ldl->count; ++k )
        for ( int e = ldl->start[k]; e < ldl->start[k + 1]; ++e )
            for ( size_t c = 0; c < width; ++c )
                work[(size_t)ldl->rows[e] * width + c] -= ldl->values[e] * work[(size_t)k * width + c];
    for ( int k = ldl->count - 1; k >= 0; --k )
        for ( size_t c = 0; c < width; ++c ) {
            double sum = work[(size_t)k * width + c] * ldl->inverse[k];
            for ( int e = ldl->start[k]; e < ldl->start[k + 1]; ++e )
                sum -= ldl->values[e] * work[(size_t)ldl->rows[e] * width + c];
            work[(size_t)k * width + c] = sum;
        }
    for ( int k = 0; k < ldl->count; ++k )
        memcpy( x + (size_t)ldl->order[k] * width, work + (size_t)k * width, width * sizeof( double ) );
}

typedef float four __attribute__( ( vector_size( 16 ), may_alias ) );

void tr_ldl_solve_four( const tr_ldl *ldl, float ( *unknowns )[4] )
{
    four *x = (four *)unknowns;
    for ( int k = 0; k < ldl->count; ++k ) {
        four pivot = x[k];
        for ( int e = ldl->start[k]; e < ldl->start[k + 1]; ++e )
            x[ldl->rows[e]] -= ldl->values_f[e] * pivot;
    }
    for ( int k = ldl->count - 1; k >= 0; --k ) {
        four sum = x[k] * ldl->inverse_f[k];
        for ( int e = ldl->start[k]; e < ldl->start[k + 1]; ++e )
            sum -= ldl->values_f[e] * x[ldl->rows[e]];
        x[k] = sum;
    }
}
