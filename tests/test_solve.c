// Linear algebra on trees against sparse QR: two roads to the same minimum. L D Lᵀ against the product.
#include "check.h"
#include "solve/solve.h"

#include <string.h>

// ------------------------------------------------------------------------------------------- test problems

static double noise( uint32_t *seed ) // in [-1, 1)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)( *seed >> 8 ) / 8388608.0 - 1.0;
}

typedef struct problem { // K = Aᵀ A on a tree, with A at hand for the reference
    int nodes;
    int *parents;
    double *diagonal, *coupling;
    tr_sparse a;
} problem;

static void add_to_k( problem *p, const int *columns, const double *values, int count )
{
    for ( int i = 0; i < count; ++i )
        for ( int j = 0; j < count; ++j ) {
            int row = columns[i] / 3, column = columns[j] / 3, at = 3 * ( columns[i] % 3 ) + columns[j] % 3;
            if ( row == column )
                p->diagonal[9 * row + at] += values[i] * values[j];
            else if ( p->parents[row] == column )
                p->coupling[9 * row + at] += values[i] * values[j];
        }
}

// Per node three rows that hold it to the ground and three that hold it to its parent, with random weights.
static problem make_problem( int nodes, int ( *parent )( int node ), uint32_t seed )
{
    problem p = { .nodes = nodes };
    p.parents = tr_alloc( (size_t)nodes, sizeof( int ) );
    p.diagonal = tr_alloc( 9 * (size_t)nodes, sizeof( double ) );
    p.coupling = tr_alloc( 9 * (size_t)nodes, sizeof( double ) );
    p.a.column_count = 3 * nodes;
    for ( int i = 0; i < nodes; ++i ) {
        p.parents[i] = parent( i );
        for ( int k = 0; k < 6; ++k ) {
            int columns[6], up = p.parents[i], count = k < 3 || up < 0 ? 3 : 6;
            double values[6], scale = k < 3 ? 0.3 : 1.0;
            for ( int c = 0; c < count; ++c ) {
                columns[c] = c < 3 ? 3 * i + c : 3 * up + c - 3;
                values[c] = scale * ( noise( &seed ) + ( c % 3 == k % 3 ? ( c < 3 ? 2 : -2 ) : 0 ) );
            }
            assert_true( tr_sparse_add( &p.a, columns, values, count ) );
            add_to_k( &p, columns, values, count );
        }
    }
    return p;
}

static void free_problem( problem *p )
{
    tr_free( p->parents );
    tr_free( p->diagonal );
    tr_free( p->coupling );
    tr_sparse_free( &p->a );
}

static int parent_chain( int node )
{
    return node - 1;
}
static int parent_star( int node )
{
    return node == 0 ? -1 : 0;
}
static int parent_binary( int node )
{
    return node == 0 ? -1 : ( node - 1 ) / 2;
}
static int parent_forest( int node ) // three chains beside each other
{
    return node < 3 ? -1 : node - 3;
}

static void fill( double *out, int count, uint32_t seed )
{
    for ( int i = 0; i < count; ++i )
        out[i] = noise( &seed );
}

// Aᵀ d, one column.
static void transposed_times( const tr_sparse *a, const double *d, double *out )
{
    memset( out, 0, (size_t)a->column_count * sizeof( double ) );
    for ( int r = 0; r < a->row_count; ++r )
        for ( int e = a->start[r]; e < a->start[r + 1]; ++e )
            out[a->columns[e]] += a->values[e] * d[r];
}

// -------------------------------------------------------------------------------------------------- trees

static void trees_solve_like_sparse_qr( void **state )
{
    (void)state;
    static int ( *const shapes[] )( int ) = { parent_chain, parent_star, parent_binary, parent_forest };
    static const int sizes[] = { 1, 2, 30, 200 };
    tr_error error;
    for ( int k = 0; k < 16; ++k ) {
        problem p = make_problem( sizes[k / 4], shapes[k % 4], 7u + (uint32_t)k );
        int n = 3 * p.nodes, rows = p.a.row_count;
        double *d = tr_alloc( (size_t)rows, sizeof( double ) ), *x = tr_alloc( (size_t)n, sizeof( double ) ),
               *expected = tr_alloc( (size_t)n, sizeof( double ) );
        fill( d, rows, 99 );
        tr_tree tree;
        check_ok( tr_tree_build( &tree, p.nodes, p.parents, p.diagonal, p.coupling, &error ), &error );
        transposed_times( &p.a, d, x );
        tr_tree_solve( &tree, x, 1 );
        check_ok( tr_least_squares( &p.a, d, NULL, NULL, 1, expected, &error ), &error );
        for ( int i = 0; i < n; ++i )
            check_near( x[i], expected[i], 1e-11 );
        tr_tree_free( &tree );
        tr_free( d );
        tr_free( x );
        tr_free( expected );
        free_problem( &p );
    }
}

static void one_block_by_hand( void **state )
{
    (void)state;
    // K = 2 on the diagonal, -1 beside it: its inverse is [3 2 1; 2 4 2; 1 2 3] / 4.
    const double k[9] = { 2, -1, 0, -1, 2, -1, 0, -1, 2 }, none[9] = { 0 };
    const int parent = -1;
    tr_tree tree;
    tr_error error;
    check_ok( tr_tree_build( &tree, 1, &parent, k, none, &error ), &error );
    double x[6] = { 1, 0, 0, 4, 0, 0 }; // two right-hand sides: e₁ and 4 e₂
    tr_tree_solve( &tree, x, 2 );
    const double expected[6] = { 0.75, 2, 0.5, 4, 0.25, 2 };
    for ( int i = 0; i < 6; ++i )
        check_near( x[i], expected[i], 1e-15 );
    tr_tree_free( &tree );
}

static void indefinite_matrices_are_refused( void **state )
{
    (void)state;
    const double k[9] = { 1, 0, 0, 0, 1, 0, 0, 0, -1 }, none[9] = { 0 };
    const double nan_block[9] = { NAN, 0, 0, 0, 1, 0, 0, 0, 1 };
    const int parent = -1;
    tr_tree tree;
    tr_error error;
    assert_false( tr_tree_build( &tree, 1, &parent, k, none, &error ) );
    assert_non_null( strstr( error.message, "positive definite" ) );
    assert_false( tr_tree_build( &tree, 1, &parent, nan_block, none, &error ) );
    assert_false( tr_tree_build( &tree, 1, &parent, none, none, &error ) );
}

// -------------------------------------------------------------------------------------------------- sparse

static void dependent_rows_are_found( void **state )
{
    (void)state;
    // Row 1 repeats row 0; row 3 is row 0 + row 2; row 4 is new; row 5 is zero.
    tr_sparse h = { .column_count = 5 };
    static const double rows[6][5] = { { 1, 1, 0, 0, 1 }, { 1, 1, 0, 0, 1 }, { 0, 0, 1, 2, 1 },
                                       { 1, 1, 1, 2, 2 }, { 0, 0, 0, 1, 0 }, { 0, 0, 0, 0, 0 } };
    for ( int r = 0; r < 6; ++r ) {
        assert_true( tr_sparse_add( &h, NULL, NULL, 0 ) );
        for ( int c = 0; c < 5; ++c )
            if ( rows[r][c] != 0 )
                assert_true( tr_sparse_extend( &h, c, rows[r][c] ) );
    }
    bool dependent[6];
    tr_error error;
    assert_int_equal( tr_sparse_rank( &h, dependent, &error ), 3 );
    static const bool expected[6] = { false, true, false, true, false, true };
    for ( int r = 0; r < 6; ++r )
        assert_int_equal( dependent[r], expected[r] );
    assert_int_equal( tr_sparse_rank( &h, NULL, &error ), 3 );
    tr_sparse_free( &h );
    assert_int_equal( tr_sparse_rank( &h, NULL, &error ), 0 );
}

static void least_squares_by_hand( void **state )
{
    (void)state;
    // Nearest point to (1, 2, 6) with x + y + z = 3 is (-1, 0, 4); asking for x + y + z = 9 as well changes
    // nothing.
    tr_sparse a = { .column_count = 3 }, h = { .column_count = 3 };
    const int all[3] = { 0, 1, 2 };
    const double ones[3] = { 1, 1, 1 }, b[6] = { 1, 2, 6, 0, 0, 0 }, want[4] = { 3, 9, 3, 3 };
    for ( int c = 0; c < 3; ++c )
        assert_true( tr_sparse_add( &a, &all[c], ones, 1 ) );
    assert_true( tr_sparse_add( &h, all, ones, 3 ) && tr_sparse_add( &h, all, ones, 3 ) );
    double x[6];
    tr_error error;
    check_ok( tr_least_squares( &a, b, &h, want, 2, x, &error ), &error );
    const double expected[6] = { -1, 0, 4, 1, 1, 1 };
    for ( int i = 0; i < 6; ++i )
        check_near( x[i], expected[i], 1e-14 );
    tr_sparse_free( &a );
    tr_sparse_free( &h );
}

// ------------------------------------------------------------------------------------------------- systems

enum { BODIES = 3, ROWS = 9 };

typedef struct rig { // three trees, each with ports; rows on one and between two
    problem problems[BODIES];
    tr_tree trees[BODIES];
    tr_ports ports[BODIES];
    tr_system system;
} rig;

static const tr_port_row rig_rows[ROWS] = {
    { { 0, -1 }, { 0, 0 } }, { { 1, -1 }, { 0, 0 } }, { { 2, -1 }, { 0, 0 } },
    { { 0, 1 }, { 1, 1 } },  { { 1, 2 }, { 2, 1 } },  { { 2, 0 }, { 3, 2 } },
    { { 1, -1 }, { 3, 0 } }, { { 0, -1 }, { 0, 0 } }, { { 0, 0 }, { 3, 2 } },
};

static void build_rig( rig *out )
{
    static int ( *const shapes[BODIES] )( int ) = { parent_chain, parent_binary, parent_star };
    const tr_ports *trees[BODIES];
    tr_error error;
    for ( int t = 0; t < BODIES; ++t ) {
        problem *p = &out->problems[t];
        *p = make_problem( 10 + 5 * t, shapes[t], 40u + (uint32_t)t );
        check_ok( tr_tree_build( &out->trees[t], p->nodes, p->parents, p->diagonal, p->coupling, &error ),
                  &error );
        tr_sparse weights = { .column_count = 3 * p->nodes };
        for ( int k = 0; k < 4; ++k ) { // the mean of three unknowns of a node, once of all
            int node = ( 7 * k + 3 ) % p->nodes, columns[3] = { 3 * node, 3 * node + 1, 3 * node + 2 };
            const double third[3] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 };
            assert_true( tr_sparse_add( &weights, columns, third, 3 ) );
            for ( int c = 0; k == 2 && c < 3 * p->nodes; ++c )
                assert_true( tr_sparse_extend( &weights, c, 0.1 ) );
        }
        check_ok( tr_ports_build( &out->ports[t], &out->trees[t], &weights, &error ), &error );
        tr_sparse_free( &weights );
        trees[t] = &out->ports[t];
    }
    check_ok( tr_system_build( &out->system, trees, BODIES, rig_rows, ROWS, &error ), &error );
}

static void free_rig( rig *r )
{
    tr_system_free( &r->system );
    for ( int t = 0; t < BODIES; ++t ) {
        tr_ports_free( &r->ports[t] );
        tr_tree_free( &r->trees[t] );
        free_problem( &r->problems[t] );
    }
}

// What is on in case `number`: off, hard or with some compliance. Row 7 repeats row 0.
static double case_compliance( int number, int row, int axis )
{
    uint32_t mix = (uint32_t)( 977 * number + 131 * row + ( row % 2 ) * 17 * axis ) * 2654435761u >> 28;
    if ( number == 0 )
        return TR_ROW_OFF;
    return mix < 6 ? TR_ROW_OFF : mix < 11 || row == 0 ? 0.0 : 0.25 * ( mix - 10 );
}

static double case_target( int number, int row, int axis )
{
    return sin( 1.0 + number + 0.7 * row + 1.9 * axis );
}

static double case_data( int number, int tree, int row, int axis )
{
    return cos( 0.3 * number + tree + 0.37 * row + 2.1 * axis );
}

static int unknown_begin( const rig *r, int tree )
{
    int begin = 0;
    for ( int t = 0; t < tree; ++t )
        begin += 3 * r->problems[t].nodes;
    return begin;
}

// The stacked rows of all bodies, then the soft rows; hard ones as constraints, in order of elimination.
static void reference( const rig *r, int number, int axis, double *x )
{
    int n = unknown_begin( r, BODIES );
    tr_sparse a = { .column_count = n }, h = { .column_count = n };
    double right[1000], want[ROWS];
    for ( int t = 0; t < BODIES; ++t ) {
        const tr_sparse *own = &r->problems[t].a;
        for ( int i = 0; i < own->row_count; ++i ) {
            assert_true( a.row_count < 1000 - ROWS );
            right[a.row_count] = case_data( number, t, i, axis );
            assert_true( tr_sparse_add( &a, NULL, NULL, 0 ) );
            for ( int e = own->start[i]; e < own->start[i + 1]; ++e )
                assert_true(
                    tr_sparse_extend( &a, unknown_begin( r, t ) + own->columns[e], own->values[e] ) );
        }
    }
    for ( int o = 0; o < ROWS; ++o ) {
        int row = r->system.order[o];
        double compliance = case_compliance( number, row, axis );
        if ( compliance < 0 )
            continue;
        tr_sparse *to = compliance == 0 ? &h : &a;
        double scale = compliance == 0 ? 1 : 1 / sqrt( compliance );
        *( compliance == 0 ? &want[h.row_count] : &right[a.row_count] ) =
            scale * case_target( number, row, axis );
        assert_true( tr_sparse_add( to, NULL, NULL, 0 ) );
        for ( int e = 0; e < 2 && rig_rows[row].tree[e] >= 0; ++e ) {
            const tr_sparse *w = &r->ports[rig_rows[row].tree[e]].weights;
            int port = rig_rows[row].port[e];
            for ( int k = w->start[port]; k < w->start[port + 1]; ++k )
                assert_true( tr_sparse_extend( to, unknown_begin( r, rig_rows[row].tree[e] ) + w->columns[k],
                                               ( e == 0 ? scale : -scale ) * w->values[k] ) );
        }
    }
    tr_error error;
    check_ok( tr_least_squares( &a, right, &h, want, 1, x, &error ), &error );
    tr_sparse_free( &a );
    tr_sparse_free( &h );
}

#define MOST_LANES 16

static double number_at( const void *numbers, tr_lanes lanes, int at, int lane )
{
    int i = at * tr_lanes_count( lanes ) + lane;
    return lanes == TR_LANES_DOUBLE ? ( (const double *)numbers )[i] : ( (const float *)numbers )[i];
}

// Solves cases[lane] in every lane; x [unknown][axis][lane] in doubles, `dropped` [row][axis][lane] may be
// NULL.
static void solve_cases( const rig *r, tr_lanes lanes, const int *cases, double *x, bool *dropped )
{
    int count = tr_lanes_count( lanes ), n = unknown_begin( r, BODIES );
    size_t scratch_bytes = tr_block_scratch( &r->system, lanes, NULL, NULL ),
           unknown_bytes = 3 * tr_lane_bytes( lanes ), x_bytes = (size_t)( n + n % 2 ) * unknown_bytes;
    char *memory = aligned_alloc( TR_LANE_BYTES_MAX, scratch_bytes + x_bytes );
    assert_non_null( memory );
    memset( memory, 0xff, scratch_bytes + x_bytes ); // NaN, should anything be read before it is written
    tr_block block;
    assert_false( tr_block_start( &block, &r->system, lanes, NULL, memory, scratch_bytes - 1 ) );
    assert_true( tr_block_start( &block, &r->system, lanes, NULL, memory, scratch_bytes ) );
    for ( int l = 0; l < count; ++l )
        for ( int row = 0; row < ROWS; ++row )
            for ( int axis = 0; axis < 3; ++axis )
                tr_block_set( &block, row, axis, l, case_compliance( cases[l], row, axis ),
                              case_target( cases[l], row, axis ) );
    tr_block_factor( &block );
    char *unknowns = memory + scratch_bytes;
    for ( int t = 0; t < BODIES; ++t ) {
        const tr_sparse *a = &r->problems[t].a;
        for ( int l = 0; l < count; ++l )
            for ( int axis = 0; axis < 3; ++axis ) {
                double d[200], b[200];
                for ( int i = 0; i < a->row_count; ++i )
                    d[i] = case_data( cases[l], t, i, axis );
                transposed_times( a, d, b );
                for ( int i = 0; i < a->column_count; ++i ) {
                    int at = ( 3 * ( unknown_begin( r, t ) + i ) + axis ) * count + l;
                    if ( lanes == TR_LANES_DOUBLE )
                        ( (double *)unknowns )[at] = b[i];
                    else
                        ( (float *)unknowns )[at] = (float)b[i];
                }
            }
        tr_block_tree_solve( &block, t, unknowns + (size_t)unknown_begin( r, t ) * unknown_bytes );
    }
    tr_block_rows_solve( &block );
    for ( int t = 0; t < BODIES; ++t )
        tr_block_tree_correct( &block, t, unknowns + (size_t)unknown_begin( r, t ) * unknown_bytes );
    for ( int i = 0; i < 3 * n; ++i )
        for ( int l = 0; l < count; ++l )
            x[i * count + l] = number_at( unknowns, lanes, i, l );
    for ( int i = 0; dropped != NULL && i < 3 * ROWS * count; ++i )
        dropped[i] = tr_block_dropped( &block, i / count / 3, i / count % 3, i % count );
    free( memory );
}

static void systems_solve_like_sparse_qr( void **state )
{
    (void)state;
    rig r;
    build_rig( &r );
    int n = unknown_begin( &r, BODIES );
    double x[3 * 200 * MOST_LANES], expected[200];
    assert_true( n <= 200 );
    for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        int count = tr_lanes_count( lanes ),
            cases[MOST_LANES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 6, 5, 4, 3, 2 };
        solve_cases( &r, lanes, cases, x, NULL );
        for ( int l = 0; l < count; ++l )
            for ( int axis = 0; axis < 3; ++axis ) {
                reference( &r, cases[l], axis, expected );
                for ( int i = 0; i < n; ++i )
                    check_near( x[( 3 * i + axis ) * count + l], expected[i],
                                lanes == TR_LANES_DOUBLE ? 1e-9 : 1e-5 );
            }
    }
    free_rig( &r );
}

static void lanes_do_not_know_their_neighbours( void **state )
{
    (void)state;
    rig r;
    build_rig( &r );
    int n = 3 * unknown_begin( &r, BODIES );
    static double x[3 * 200 * MOST_LANES], y[3 * 200 * MOST_LANES];
    for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        int count = tr_lanes_count( lanes );
        solve_cases( &r, lanes, ( int[MOST_LANES] ){ 3, 1, 2, 5, 4, 0, 6, 7 }, x, NULL );
        solve_cases( &r, lanes, ( int[MOST_LANES] ){ 7, 6, 4, 3, 9, 8, 5, 2 }, y, NULL );
        for ( int i = 0; i < n; ++i )
            assert_true( x[i * count] == y[i * count + 3] ); // case 3, in lanes 0 and 3
    }
    free_rig( &r );
}

static void processors_agree( void **state )
{
    (void)state;
    rig r;
    build_rig( &r );
    int n = 3 * unknown_begin( &r, BODIES );
    static double x[3 * 200 * MOST_LANES], y[3 * 200 * MOST_LANES];
    const int cases[MOST_LANES] = { 3, 1, 2, 5, 4, 0, 6, 7 };
    solve_cases( &r, TR_LANES_FLOAT, cases, x, NULL );
    for ( tr_lanes lanes = TR_LANES_AVX2; lanes <= TR_LANES_AVX512; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        solve_cases( &r, lanes, cases, y, NULL );
        for ( int i = 0; i < n; ++i ) // nothing is contracted: the same bits
            assert_memory_equal( x + 8 * i, y + tr_lanes_count( lanes ) * i, 8 * sizeof( double ) );
    }
    free_rig( &r );
}

static void repeated_hard_rows_give_way( void **state )
{
    (void)state;
    rig r;
    build_rig( &r );
    // Row 7 asks row 0's port for another place; nothing else depends.
    assert_int_equal( r.system.rank, ROWS - 1 );
    for ( int row = 0; row < ROWS; ++row )
        assert_int_equal( r.system.dependent[row], row == 7 );
    static double x[3 * 200 * MOST_LANES];
    bool dropped[3 * ROWS * MOST_LANES];
    for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        int count = tr_lanes_count( lanes ), cases[MOST_LANES] = { 1, 2, 3, 4, 5, 6, 7, 8 };
        solve_cases( &r, lanes, cases, x, dropped );
        for ( int row = 0; row < ROWS; ++row )
            for ( int axis = 0; axis < 3; ++axis )
                for ( int l = 0; l < count; ++l ) {
                    bool both = row == 7 && case_compliance( cases[l], 7, axis ) == 0 &&
                                case_compliance( cases[l], 0, axis ) == 0;
                    assert_int_equal( dropped[( 3 * row + axis ) * count + l], both );
                }
    }
    free_rig( &r );
}

static void failing_allocations_leave_nothing_behind( void **state )
{
    (void)state;
    rig r;
    build_rig( &r );
    const tr_ports *trees[BODIES] = { &r.ports[0], &r.ports[1], &r.ports[2] };
    const problem *p = &r.problems[1];
    size_t live = tr_memory_live();
    tr_error error;
    bool done = false;
    for ( long n = 1; !done; ++n ) {
        tr_memory_fail_from( n );
        tr_tree tree;
        tr_ports ports;
        tr_system system;
        bool built = tr_tree_build( &tree, p->nodes, p->parents, p->diagonal, p->coupling, &error );
        bool bound = built && tr_ports_build( &ports, &tree, &r.ports[1].weights, &error );
        done = bound && tr_system_build( &system, trees, BODIES, rig_rows, ROWS, &error );
        tr_memory_fail_from( 0 );
        if ( done )
            tr_system_free( &system );
        if ( bound )
            tr_ports_free( &ports );
        if ( built )
            tr_tree_free( &tree );
        assert_int_equal( tr_memory_live(), live );
        assert_true( n < 1000 );
    }
    free_rig( &r );
}

// ------------------------------------------------------------------------------------------------- L D Lᵀ

// K = Aᵀ A + 0.1 of a random sparse A, dense beside it.
static tr_sparse random_definite( int n, uint32_t *seed, double *dense )
{
    tr_sparse k = { .column_count = n };
    memset( dense, 0, (size_t)( n * n ) * sizeof( double ) );
    for ( int i = 0; i < n; ++i )
        dense[i * n + i] = 0.1;
    for ( int row = 0; row < 2 * n; ++row ) {
        int at[3];
        double value[3];
        for ( int e = 0; e < 3; ++e ) {
            at[e] = (int)( ( noise( seed ) + 1 ) * 0.4999 * n );
            value[e] = noise( seed );
        }
        for ( int i = 0; i < 3; ++i )
            for ( int j = 0; j < 3; ++j )
                dense[at[i] * n + at[j]] += value[i] * value[j];
    }
    for ( int i = 0; i < n; ++i ) {
        assert_true( tr_sparse_add( &k, &i, &( double ){ 0.5 * dense[i * n + i] }, 1 ) );
        for ( int j = 0; j < n; ++j ) // the diagonal in two parts, and above it what must not matter
            if ( dense[i * n + j] != 0 )
                assert_true(
                    tr_sparse_extend( &k, j, j > i ? 1e9 : dense[i * n + j] * ( i == j ? 0.5 : 1 ) ) );
    }
    return k;
}

static void any_definite_matrix_is_factored( void **state )
{
    (void)state;
    uint32_t seed = 11;
    for ( int n = 1; n <= 65; n += 8 ) {
        double *dense = tr_alloc( (size_t)( n * n + 12 * n ), sizeof( double ) );
        double *x = dense + n * n, *b = x + 4 * n, *work = b + 4 * n;
        tr_sparse k = random_definite( n, &seed, dense );
        tr_ldl ldl;
        tr_error error;
        check_ok( tr_ldl_build( &ldl, &k, &error ), &error );
        float( *rounded )[4] = tr_alloc( (size_t)n, sizeof rounded[0] );
        for ( int i = 0; i < n; ++i )
            for ( int c = 0; c < 4; ++c ) {
                x[4 * i + c] = noise( &seed );
                rounded[ldl.place[i]][c] = 0;
            }
        for ( int i = 0; i < n; ++i ) // b = K x
            for ( int c = 0; c < 4; ++c ) {
                b[4 * i + c] = 0;
                for ( int j = 0; j < n; ++j )
                    b[4 * i + c] += dense[i * n + j] * x[4 * j + c];
                rounded[ldl.place[i]][c] = (float)b[4 * i + c];
            }
        tr_ldl_solve( &ldl, b, 4, work );
        tr_ldl_solve_four( &ldl, rounded );
        for ( int i = 0; i < 4 * n; ++i ) {
            check_near( b[i], x[i], 1e-11 );
            check_near( rounded[ldl.place[i / 4]][i % 4], x[i], 1e-3 );
        }
        for ( int e = 1; e < ldl.entry_count; ++e )
            assert_true( ldl.rows[e] < n );
        tr_ldl_free( &ldl );
        tr_sparse_free( &k );
        tr_free( dense );
        tr_free( rounded );
    }
}

static void other_matrices_are_not_factored( void **state )
{
    (void)state;
    tr_sparse k = { .column_count = 2 };
    tr_ldl ldl;
    tr_error error;
    assert_true( tr_sparse_add( &k, ( int[] ){ 0 }, ( double[] ){ 1 }, 1 ) );
    assert_true( tr_sparse_add( &k, ( int[] ){ 0, 1 }, ( double[] ){ 1, 1 }, 2 ) ); // 1 1, 1 1: singular
    assert_false( tr_ldl_build( &ldl, &k, &error ) );
    assert_non_null( strstr( error.message, "positive definite" ) );
    k.values[2] = 2;
    check_ok( tr_ldl_build( &ldl, &k, &error ), &error );
    tr_ldl_free( &ldl );
    long n = 1;
    for ( bool ok = false; !ok; ++n ) {
        tr_memory_fail_from( n );
        ok = tr_ldl_build( &ldl, &k, &error );
        tr_memory_fail_from( 0 );
    }
    assert_true( n > 5 );
    tr_ldl_free( &ldl );
    tr_sparse_free( &k );
}

// ------------------------------------------------------------------------------------------------- chains

enum { CHAIN_FRAMES = 23, CHAIN_COLUMNS = 2 };

// The gradient of what a chain minimises, straight from its definition: d beyond an end that is not free is
// 0, and so it is where it is held.
static double chain_at( const tr_chain_def *def, const double *d, int frame )
{
    return frame < 0 || frame >= def->frame_count ? 0 : d[frame * CHAIN_COLUMNS];
}

static double chain_gradient( const tr_chain_def *def, const double *d, double b, int frame )
{
    double sum = def->weight[frame] * chain_at( def, d, frame ) - b;
    for ( int f = frame - 1; f <= frame; ++f )
        if ( f >= 0 && f + 1 < def->frame_count )
            sum += ( f == frame ? -1 : 1 ) * def->slope[f] *
                   ( chain_at( def, d, f + 1 ) - chain_at( def, d, f ) );
    for ( int f = frame - 1; f <= frame + 1; ++f )
        if ( ( !def->free_start || f >= 1 ) && ( !def->free_end || f <= def->frame_count - 2 ) )
            sum += ( f == frame ? -2 : 1 ) * def->bend *
                   ( chain_at( def, d, f - 1 ) - 2 * chain_at( def, d, f ) + chain_at( def, d, f + 1 ) );
    return sum;
}

static void chains_minimise_what_they_say( void **state )
{
    (void)state;
    for ( int variant = 0; variant < 16; ++variant ) {
        uint32_t seed = 7u + (uint32_t)variant;
        double weight[CHAIN_FRAMES], slope[CHAIN_FRAMES], b[CHAIN_FRAMES * CHAIN_COLUMNS],
            d[CHAIN_FRAMES * CHAIN_COLUMNS];
        bool held[CHAIN_FRAMES];
        tr_chain factor[CHAIN_FRAMES];
        for ( int f = 0; f < CHAIN_FRAMES; ++f ) {
            weight[f] = 0.01 + fabs( noise( &seed ) );
            slope[f] = fmax( 3 * noise( &seed ), 0 );
            held[f] = noise( &seed ) > 0.5;
        }
        for ( int i = 0; i < CHAIN_FRAMES * CHAIN_COLUMNS; ++i )
            d[i] = b[i] = noise( &seed );
        tr_chain_def def = { .frame_count =
                                 variant < 8 ? CHAIN_FRAMES : variant - 7, // down to a single frame
                             .weight = weight,
                             .slope = slope,
                             .bend = 40,
                             .held = variant & 4 ? held : NULL,
                             .free_start = variant & 1,
                             .free_end = variant & 2 };
        tr_chain_factor( &def, factor );
        tr_chain_solve( factor, def.frame_count, d, CHAIN_COLUMNS );
        for ( int f = 0; f < def.frame_count; ++f )
            for ( int c = 0; c < CHAIN_COLUMNS; ++c ) {
                if ( def.held != NULL && held[f] )
                    assert_true( d[f * CHAIN_COLUMNS + c] == 0 );
                else
                    check_near( chain_gradient( &def, d + c, b[f * CHAIN_COLUMNS + c], f ), 0, 1e-11 );
            }
    }
}

// At a thousand frames a second and more, bend is so much larger than the weights that rounding would make
// pivots negative.
static void stiff_chains_stay_finite( void **state )
{
    (void)state;
    enum { FRAMES = 4000 };
    double *weight = tr_alloc( FRAMES, sizeof( double ) ), *d = tr_alloc( FRAMES, sizeof( double ) );
    tr_chain *factor = tr_alloc( FRAMES, sizeof( tr_chain ) );
    for ( int f = 0; f < FRAMES; ++f ) {
        weight[f] = 1e-4;
        d[f] = 1e-4; // asks for 1 everywhere
    }
    tr_chain_factor(
        &( tr_chain_def ){
            .frame_count = FRAMES, .weight = weight, .bend = 1e14, .free_start = true, .free_end = true },
        factor );
    tr_chain_solve( factor, FRAMES, d, 1 );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( isfinite( d[f] ) && factor[f].pivot >= 1e-4 );
    tr_free( weight );
    tr_free( d );
    tr_free( factor );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( trees_solve_like_sparse_qr ),
        TEST( one_block_by_hand ),
        TEST( indefinite_matrices_are_refused ),
        TEST( dependent_rows_are_found ),
        TEST( least_squares_by_hand ),
        TEST( systems_solve_like_sparse_qr ),
        TEST( lanes_do_not_know_their_neighbours ),
        TEST( processors_agree ),
        TEST( repeated_hard_rows_give_way ),
        TEST( failing_allocations_leave_nothing_behind ),
        TEST( any_definite_matrix_is_factored ),
        TEST( other_matrices_are_not_factored ),
        TEST( chains_minimise_what_they_say ),
        TEST( stiff_chains_stay_finite ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
