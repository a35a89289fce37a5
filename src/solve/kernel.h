// The inner loops of a block. This file is compiled once per kind of lanes: the including file defines
// KERNEL( name ), and LANES_OF_DOUBLES for doubles. Lanes never mix.
#include "math/lanes.h"
#include "solve/private.h"

#if defined( LANES_OF_DOUBLES )
#define REAL( exact, rounded ) ( exact )
#else
#define REAL( exact, rounded ) ( rounded )
#endif

static inline lane row_times( const real m[3], const lane b[3] )
{
    return lane_mad( lane_all( m[0] ), b[0], lane_mad( lane_all( m[1] ), b[1], m[2] * b[2] ) );
}

static inline lane row_less( lane c, real m0, real m1, real m2, const lane b[3] ) // c − m b
{
    return lane_msub( lane_msub( lane_msub( c, lane_all( m0 ), b[0] ), lane_all( m1 ), b[1] ), lane_all( m2 ),
                      b[2] );
}

// Leaves to root, then back; see tree.c. Three unknowns per node, three numbers per unknown.
static void solve_tree( const tr_tree *tree, lane *x )
{
    const real *inverse = REAL( tree->inverse, tree->inverse_f ), *upper = REAL( tree->upper, tree->upper_f );
    for ( int i = tree->node_count - 1; i >= 0; --i ) {
        if ( tree->parents[i] < 0 )
            continue;
        const real *u = upper + 9 * i;
        const lane *b = x + 9 * i;
        lane *p = x + 9 * tree->parents[i];
        for ( int c = 0; c < 3; ++c ) {
            lane own[3] = { b[c], b[3 + c], b[6 + c] };
            for ( int r = 0; r < 3; ++r )
                p[3 * r + c] = row_less( p[3 * r + c], u[r], u[3 + r], u[6 + r], own );
        }
    }
    for ( int i = 0; i < tree->node_count; ++i ) {
        const real *d = inverse + 9 * i, *u = upper + 9 * i;
        lane *b = x + 9 * i;
        const lane *p = tree->parents[i] < 0 ? NULL : x + 9 * tree->parents[i];
        for ( int c = 0; c < 3; ++c ) {
            lane own[3] = { b[c], b[3 + c], b[6 + c] };
            for ( int r = 0; r < 9; r += 3 )
                b[r + c] = row_times( d + r, own );
            if ( p == NULL )
                continue;
            lane above[3] = { p[c], p[3 + c], p[6 + c] };
            for ( int r = 0; r < 9; r += 3 )
                b[r + c] = row_less( b[r + c], u[r], u[r + 1], u[r + 2], above );
        }
    }
}

void KERNEL( tree_solve )( const tr_block *block, int tree, void *unknowns )
{
    lane *x = unknowns;
    const tr_ports *ports = block->system->trees[tree];
    solve_tree( ports->tree, x );
    lane *values = (lane *)block->values + 3 * block->port_begin[tree];
    const real *weights = REAL( ports->weights.values, ports->weights_f );
    for ( int p = 0; p < ports->count; ++p ) {
        lane sum[3] = { lane_all( 0 ), lane_all( 0 ), lane_all( 0 ) };
        for ( int e = ports->weights.start[p]; e < ports->weights.start[p + 1]; ++e )
            for ( int c = 0; c < 3; ++c )
                sum[c] = lane_mad( lane_all( weights[e] ), x[3 * ports->weights.columns[e] + c], sum[c] );
        for ( int c = 0; c < 3; ++c )
            values[3 * p + c] = sum[c];
    }
}

void KERNEL( tree_correct )( const tr_block *block, int tree, void *unknowns )
{
    lane *x = unknowns;
    const tr_ports *ports = block->system->trees[tree];
    const lane *forces = (const lane *)block->forces + 3 * block->port_begin[tree];
    const real *response = REAL( ports->response, ports->response_f );
    for ( int i = 0; i < 3 * ports->tree->node_count; ++i, response += ports->count ) {
        lane x0 = x[3 * i], x1 = x[3 * i + 1], x2 = x[3 * i + 2];
        for ( int p = 0; p < ports->count; ++p ) {
            lane moved = lane_all( response[p] );
            x0 = lane_msub( x0, moved, forces[3 * p] );
            x1 = lane_msub( x1, moved, forces[3 * p + 1] );
            x2 = lane_msub( x2, moved, forces[3 * p + 2] );
        }
        x[3 * i] = x0, x[3 * i + 1] = x1, x[3 * i + 2] = x2;
    }
}

// ------------------------------------------------------------------------------------------------- factor

// Cholesky of D (G + C) D + (1 − D) for one axis, D the 0/1 switch of each row and lane, within the envelope
// first[i] … i of row i. Diagonal entries are kept inverted. A hard row that depends on the rows before it
// has no pivot left but for rounding: it is dropped (its λ is zero), and they keep their targets.
#define ROUNDING 1e-6 // pivot at least, in units of the diagonal entry: floats keep seven digits
#define DROP     1e-4 // a dependent row's pivot in the same units: more than rounding leaves in long sums

static void factor_axis( tr_block *block, int axis, lane *factor )
{
    const lane *compliance = block->compliance;
    lane *dropped = block->dropped;
    for ( int i = 0; i < block->active_count; ++i ) {
        lane *row = factor + block->begin[i] - block->first[i];
        lane soft = compliance[3 * i + axis];
        lane_mask on = soft >= 0;
        for ( int j = block->first[i]; j <= i; ++j ) {
            const lane *other = factor + block->begin[j] - block->first[j];
            lane sum =
                lane_all( (real)tr_system_coupling( block->system, block->active[i], block->active[j] ) );
            sum = lane_select( on & ( compliance[3 * j + axis] >= 0 ), sum, lane_all( 0 ) );
            int from = block->first[i] > block->first[j] ? block->first[i] : block->first[j];
            if ( j < i ) {
                for ( int k = from; k < j; ++k )
                    sum = lane_msub( sum, row[k], other[k] );
                row[j] = sum * other[j];
                continue;
            }
            lane whole = lane_select( on, sum + soft, lane_all( 1 ) ), pivot = whole;
            for ( int k = from; k < i; ++k )
                pivot = lane_msub( pivot, row[k], row[k] );
            bool dependent = block->system->dependent[block->active[i]];
            lane least = (real)( dependent ? DROP : ROUNDING ) * whole;
            lane_mask drop = dependent ? pivot <= least : on ^ on;
            row[i] = lane_select( drop, lane_all( 0 ), (real)1 / lane_sqrt( lane_max( pivot, least ) ) );
            dropped[3 * i + axis] = lane_select( drop, lane_all( 1 ), lane_all( 0 ) );
        }
    }
}

void KERNEL( factor )( tr_block *block )
{
    lane *dropped = block->dropped;
    size_t size = (size_t)block->begin[block->active_count];
    for ( int axis = 0; axis < ( block->shared ? 1 : 3 ); ++axis )
        factor_axis( block, axis, (lane *)block->factor + size * (size_t)axis );
    for ( int i = 0; block->shared && i < block->active_count; ++i )
        dropped[3 * i + 1] = dropped[3 * i + 2] = dropped[3 * i];
}

// -------------------------------------------------------------------------------------------------- solve

static void solve_axis( const tr_block *block, int axis, const lane *factor )
{
    lane *force = (lane *)block->force + axis;
    for ( int i = 0; i < block->active_count; ++i ) {
        const lane *row = factor + block->begin[i] - block->first[i];
        lane sum = force[3 * i];
        for ( int k = block->first[i]; k < i; ++k )
            sum = lane_msub( sum, row[k], force[3 * k] );
        force[3 * i] = sum * row[i];
    }
    for ( int i = block->active_count - 1; i >= 0; --i ) {
        const lane *row = factor + block->begin[i] - block->first[i];
        lane done = force[3 * i] * row[i];
        force[3 * i] = done;
        for ( int k = block->first[i]; k < i; ++k )
            force[3 * k] = lane_msub( force[3 * k], row[k], done );
    }
}

void KERNEL( rows_solve )( tr_block *block )
{
    const lane *values = block->values, *target = block->target, *compliance = block->compliance;
    lane *force = block->force, *forces = block->forces;
    const tr_system *system = block->system;
    for ( int i = 0; i < block->active_count; ++i ) {
        const tr_port_row *row = &system->rows[block->active[i]];
        const lane *a = values + 3 * ( block->port_begin[row->tree[0]] + row->port[0] );
        const lane *b =
            row->tree[1] < 0 ? NULL : values + 3 * ( block->port_begin[row->tree[1]] + row->port[1] );
        for ( int c = 0; c < 3; ++c ) {
            lane miss = ( b == NULL ? a[c] : a[c] - b[c] ) - target[3 * i + c];
            force[3 * i + c] = lane_select( compliance[3 * i + c] >= 0, miss, lane_all( 0 ) );
        }
    }
    size_t size = (size_t)block->begin[block->active_count];
    for ( int axis = 0; axis < 3; ++axis )
        solve_axis( block, axis, (const lane *)block->factor + ( block->shared ? 0 : size * (size_t)axis ) );
    for ( int i = 0; i < 3 * block->port_begin[system->tree_count]; ++i )
        forces[i] = lane_all( 0 );
    for ( int i = 0; i < block->active_count; ++i ) {
        const tr_port_row *row = &system->rows[block->active[i]];
        for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
            lane *at = forces + 3 * ( block->port_begin[row->tree[e]] + row->port[e] );
            for ( int c = 0; c < 3; ++c )
                at[c] += e == 0 ? force[3 * i + c] : -force[3 * i + c];
        }
    }
}
