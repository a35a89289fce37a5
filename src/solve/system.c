// Ports, and the rows that join them.
#include "solve/private.h"

#include <assert.h>
#include <string.h>

// -------------------------------------------------------------------------------------------------- ports

static double port_value( const tr_sparse *weights, int port, const double *x, int stride )
{
    double sum = 0;
    for ( int e = weights->start[port]; e < weights->start[port + 1]; ++e )
        sum += weights->values[e] * x[(size_t)weights->columns[e] * (size_t)stride];
    return sum;
}

static bool copy_weights( tr_ports *out, const tr_sparse *weights )
{
    out->weights.column_count = 3 * out->tree->node_count;
    out->weights_f = tr_alloc( (size_t)weights->entry_count, sizeof( float ) );
    if ( out->weights_f == NULL )
        return false;
    for ( int i = 0; i < weights->row_count; ++i ) {
        int at = weights->start[i], count = weights->start[i + 1] - at;
        if ( !tr_sparse_add( &out->weights, weights->columns + at, weights->values + at, count ) )
            return false;
    }
    for ( int e = 0; e < weights->entry_count; ++e )
        out->weights_f[e] = (float)weights->values[e];
    return true;
}

bool tr_ports_build( tr_ports *out, const tr_tree *tree, const tr_sparse *weights, tr_error *error )
{
    assert( weights->row_count == 0 || weights->column_count == 3 * tree->node_count );
    size_t count = (size_t)weights->row_count, cells = 3 * (size_t)tree->node_count * count;
    *out = ( tr_ports ){ .tree = tree, .count = weights->row_count };
    out->response = tr_alloc( cells, sizeof( double ) );
    out->response_f = tr_alloc( cells, sizeof( float ) );
    out->flexibility = tr_alloc( count * count, sizeof( double ) );
    if ( out->response == NULL || out->response_f == NULL || out->flexibility == NULL ||
         !copy_weights( out, weights ) ) {
        tr_ports_free( out );
        return tr_error_memory( error );
    }
    for ( int p = 0; p < out->count; ++p )
        for ( int e = weights->start[p]; e < weights->start[p + 1]; ++e )
            out->response[(size_t)weights->columns[e] * count + (size_t)p] += weights->values[e];
    tr_tree_solve( tree, out->response, out->count );
    for ( size_t i = 0; i < cells; ++i )
        out->response_f[i] = (float)out->response[i];
    // Symmetric in exact arithmetic; the lower half decides, so that both halves have the same bits.
    for ( int p = 0; p < out->count; ++p )
        for ( int q = 0; q <= p; ++q ) {
            double g = port_value( weights, p, out->response + q, out->count );
            out->flexibility[p * out->count + q] = out->flexibility[q * out->count + p] = g;
        }
    return true;
}

void tr_ports_free( tr_ports *ports )
{
    tr_sparse_free( &ports->weights );
    tr_free( ports->weights_f );
    tr_free( ports->response );
    tr_free( ports->response_f );
    tr_free( ports->flexibility );
    memset( ports, 0, sizeof *ports );
}

// ----------------------------------------------------------------------------------------------- systems

static int first_tree( const tr_port_row *row )
{
    return row->tree[1] >= 0 && row->tree[1] < row->tree[0] ? row->tree[1] : row->tree[0];
}

// Rows sorted by the first tree they touch, otherwise as given. Along a chain of linked
// bodies the factor of the rows is then a narrow band.
static bool sort_rows( tr_system *system )
{
    int *trees = tr_alloc( (size_t)system->row_count, sizeof( int ) ),
        *first = tr_alloc( (size_t)system->tree_count + 1, sizeof( int ) );
    bool ok = trees != NULL && first != NULL;
    for ( int r = 0; ok && r < system->row_count; ++r )
        trees[r] = first_tree( &system->rows[r] );
    if ( ok )
        tr_lists_fill( ( tr_lists ){ first, system->order }, trees, system->row_count, system->tree_count );
    tr_free( trees );
    tr_free( first );
    return ok;
}

// The rows written out over all unknowns of all trees, in order of elimination.
static bool expand_rows( const tr_system *system, const int *tree_begin, tr_sparse *out )
{
    bool ok = true;
    for ( int i = 0; ok && i < system->row_count; ++i ) {
        const tr_port_row *row = &system->rows[system->order[i]];
        ok = tr_sparse_add( out, NULL, NULL, 0 );
        for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
            const tr_sparse *w = &system->trees[row->tree[e]]->weights;
            for ( int k = w->start[row->port[e]]; ok && k < w->start[row->port[e] + 1]; ++k )
                ok = tr_sparse_extend( out, tree_begin[row->tree[e]] + w->columns[k],
                                       e == 0 ? w->values[k] : -w->values[k] );
        }
    }
    return ok;
}

static bool find_dependent( tr_system *system, tr_error *error )
{
    int *begin = tr_alloc( (size_t)system->tree_count + 1, sizeof( int ) );
    bool *dependent = tr_alloc( (size_t)system->row_count, sizeof( bool ) );
    tr_sparse rows = { 0 };
    bool ok = begin != NULL && dependent != NULL;
    for ( int t = 0; ok && t < system->tree_count; ++t )
        begin[t + 1] = begin[t] + 3 * system->trees[t]->tree->node_count;
    rows.column_count = ok ? begin[system->tree_count] : 0;
    ok = ( ok && expand_rows( system, begin, &rows ) ) || tr_error_memory( error );
    system->rank = ok ? tr_sparse_rank( &rows, dependent, error ) : -1;
    for ( int i = 0; system->rank >= 0 && i < system->row_count; ++i )
        system->dependent[system->order[i]] = dependent[i];
    tr_free( begin );
    tr_free( dependent );
    tr_sparse_free( &rows );
    return system->rank >= 0;
}

bool tr_system_build( tr_system *out, const tr_ports *const *trees, int tree_count, const tr_port_row *rows,
                      int row_count, tr_error *error )
{
    size_t n = (size_t)row_count;
    *out = ( tr_system ){ .tree_count = tree_count, .row_count = row_count };
    const tr_ports **kept = tr_alloc( (size_t)tree_count, sizeof *kept );
    out->trees = kept;
    out->rows = tr_alloc( n, sizeof( tr_port_row ) );
    out->order = tr_alloc( n, sizeof( int ) );
    out->dependent = tr_alloc( n, sizeof( bool ) );
    bool ok = kept != NULL && out->rows != NULL && out->order != NULL && out->dependent != NULL;
    for ( int t = 0; ok && t < tree_count; ++t )
        kept[t] = trees[t];
    for ( int r = 0; ok && r < row_count; ++r ) {
        assert( rows[r].tree[0] >= 0 && rows[r].tree[0] < tree_count && rows[r].tree[1] < tree_count );
        out->rows[r] = rows[r];
    }
    ok = ( ok && sort_rows( out ) ) || tr_error_memory( error );
    ok = ok && find_dependent( out, error );
    if ( !ok )
        tr_system_free( out );
    return ok;
}

void tr_system_free( tr_system *system )
{
    tr_free( (void *)system->trees );
    tr_free( system->rows );
    tr_free( system->order );
    tr_free( system->dependent );
    memset( system, 0, sizeof *system );
}

double tr_system_coupling( const tr_system *system, int a, int b )
{
    const tr_port_row *first = &system->rows[a], *second = &system->rows[b];
    double sum = 0;
    for ( int p = 0; p < 2 && first->tree[p] >= 0; ++p )
        for ( int q = 0; q < 2 && second->tree[q] >= 0; ++q ) {
            if ( first->tree[p] != second->tree[q] )
                continue;
            const tr_ports *ports = system->trees[first->tree[p]];
            double g = ports->flexibility[first->port[p] * ports->count + second->port[q]];
            sum += p == q ? g : -g;
        }
    return sum;
}

double tr_system_flexibility( const tr_system *system, int row )
{
    return tr_system_coupling( system, row, row );
}
