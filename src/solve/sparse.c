#include "solve/solve.h"

#include <assert.h>
#include <string.h>

bool tr_sparse_extend( tr_sparse *matrix, int column, double value )
{
    assert( matrix->row_count > 0 && column >= 0 && column < matrix->column_count );
    int needed = matrix->entry_count + 1, columns_capacity = matrix->entry_capacity;
    if ( !tr_array_reserve( (void **)&matrix->columns, &columns_capacity, needed, sizeof( int ) ) ||
         !tr_array_reserve( (void **)&matrix->values, &matrix->entry_capacity, needed, sizeof( double ) ) )
        return false;
    matrix->columns[matrix->entry_count] = column;
    matrix->values[matrix->entry_count++] = value;
    matrix->start[matrix->row_count] = matrix->entry_count;
    return true;
}

bool tr_sparse_add( tr_sparse *matrix, const int *columns, const double *values, int count )
{
    if ( !tr_array_reserve( (void **)&matrix->start, &matrix->row_capacity, matrix->row_count + 2,
                            sizeof( int ) ) )
        return false;
    matrix->start[++matrix->row_count] = matrix->entry_count;
    for ( int i = 0; i < count; ++i )
        if ( !tr_sparse_extend( matrix, columns[i], values[i] ) )
            return false;
    return true;
}

void tr_sparse_free( tr_sparse *matrix )
{
    tr_free( matrix->start );
    tr_free( matrix->columns );
    tr_free( matrix->values );
    memset( matrix, 0, sizeof *matrix );
}
