// Blocks: which rows are on, where their numbers lie, and which kernels work on them.
#include "solve/private.h"

#include <assert.h>
#include <string.h>

// -------------------------------------------------------------------------------------------------- lanes

bool tr_lanes_supported( tr_lanes lanes )
{
    if ( lanes == TR_LANES_AVX2 )
        return tr_processor_has_avx2();
    if ( lanes == TR_LANES_AVX512 )
        return tr_processor_has_avx512();
    return lanes >= 0 && lanes < TR_LANES_KINDS;
}

tr_lanes tr_lanes_best( void )
{
    if ( tr_lanes_supported( TR_LANES_AVX512 ) )
        return TR_LANES_AVX512;
    return tr_lanes_supported( TR_LANES_AVX2 ) ? TR_LANES_AVX2 : TR_LANES_FLOAT;
}

tr_lanes tr_lanes_for( tr_lanes lanes, int count )
{
    return lanes == TR_LANES_AVX512 && count <= tr_lanes_count( TR_LANES_AVX2 ) ? TR_LANES_AVX2 : lanes;
}

size_t tr_lane_bytes( tr_lanes lanes )
{
    return lanes == TR_LANES_AVX512 ? 64 : 32;
}

int tr_lanes_count( tr_lanes lanes )
{
    return (int)( tr_lane_bytes( lanes ) /
                  ( lanes == TR_LANES_DOUBLE ? sizeof( double ) : sizeof( float ) ) );
}

static void put( void *numbers, tr_lanes lanes, size_t at, int lane, double value )
{
    size_t i = at * (size_t)tr_lanes_count( lanes ) + (size_t)lane;
    if ( lanes == TR_LANES_DOUBLE )
        ( (double *)numbers )[i] = value;
    else
        ( (float *)numbers )[i] = (float)value;
}

static double get( const void *numbers, tr_lanes lanes, size_t at, int lane )
{
    size_t i = at * (size_t)tr_lanes_count( lanes ) + (size_t)lane;
    return lanes == TR_LANES_DOUBLE ? ( (const double *)numbers )[i] : ( (const float *)numbers )[i];
}

// ------------------------------------------------------------------------------------------------- layout

typedef struct sizes {
    int active, envelope;
} sizes;

// The envelope of the factor: a row reaches back to the first active row that shares a tree with it. Writes
// the lists of `block` unless that is NULL. `seen` [tree_count] is scratch.
static sizes plan( const tr_system *system, const bool *on, int *seen, tr_block *block )
{
    sizes out = { 0, 0 };
    for ( int t = 0; t < system->tree_count; ++t )
        seen[t] = -1;
    for ( int r = 0; block != NULL && r < system->row_count; ++r )
        block->place[r] = -1;
    for ( int o = 0; o < system->row_count; ++o ) {
        int r = system->order[o], i = out.active, first = i;
        if ( on != NULL && !on[r] )
            continue;
        for ( int e = 0; e < 2 && system->rows[r].tree[e] >= 0; ++e ) {
            int *tree = &seen[system->rows[r].tree[e]];
            *tree = *tree < 0 ? i : *tree;
            first = *tree < first ? *tree : first;
        }
        if ( block != NULL ) {
            block->active[i] = r;
            block->place[r] = i;
            block->first[i] = first;
            block->begin[i] = out.envelope;
        }
        out.active++;
        out.envelope += i - first + 1;
    }
    if ( block != NULL )
        block->begin[out.active] = out.envelope;
    return out;
}

static int port_total( const tr_system *system )
{
    int total = 0;
    for ( int t = 0; t < system->tree_count; ++t )
        total += system->trees[t]->count;
    return total;
}

// Points the block into memory that begins at `at`; returns the end of it. Works without memory, too: then
// only the difference of the two counts.
static char *lay_out( tr_block *block, char *at, sizes size )
{
    const tr_system *system = block->system;
    size_t rows = (size_t)size.active, ports = (size_t)port_total( system ),
           bytes = tr_lane_bytes( block->lanes );
    block->active = tr_carve( &at, rows * sizeof( int ) );
    block->first = tr_carve( &at, rows * sizeof( int ) );
    block->begin = tr_carve( &at, ( rows + 1 ) * sizeof( int ) );
    block->place = tr_carve( &at, (size_t)system->row_count * sizeof( int ) );
    block->port_begin = tr_carve( &at, ( (size_t)system->tree_count + 1 ) * sizeof( int ) );
    block->compliance = tr_carve( &at, 3 * rows * bytes );
    block->target = tr_carve( &at, 3 * rows * bytes );
    block->force = tr_carve( &at, 3 * rows * bytes );
    block->dropped = tr_carve( &at, 3 * rows * bytes );
    block->factor = tr_carve( &at, 3 * (size_t)size.envelope * bytes );
    block->values = tr_carve( &at, 3 * ports * bytes );
    block->forces = tr_carve( &at, 3 * ports * bytes );
    return at;
}

static size_t bytes_of( const tr_system *system, tr_lanes lanes, sizes size )
{
    tr_block block = { .system = system, .lanes = lanes };
    char *none = NULL;
    return (size_t)( (uintptr_t)lay_out( &block, none, size ) - (uintptr_t)none );
}

size_t tr_block_scratch( const tr_system *system, tr_lanes lanes, const bool *on, int *entries )
{
    int *seen = tr_alloc( (size_t)system->tree_count, sizeof( int ) );
    if ( seen == NULL )
        return 0;
    sizes size = plan( system, on, seen, NULL );
    tr_free( seen );
    if ( entries != NULL )
        *entries = size.envelope;
    return bytes_of( system, lanes, size );
}

bool tr_block_start( tr_block *block, const tr_system *system, tr_lanes lanes, const bool *on, void *scratch,
                     size_t scratch_bytes )
{
    assert( (uintptr_t)scratch % TR_LANE_BYTES_MAX == 0 );
    *block = ( tr_block ){ .system = system, .lanes = lanes };
    // The table of ports is as long as that of the trees and filled last: until then its place serves as
    // notes.
    if ( scratch_bytes < ( (size_t)system->tree_count + 1 ) * sizeof( int ) )
        return false;
    sizes size = plan( system, on, scratch, NULL );
    block->bytes = bytes_of( system, lanes, size );
    if ( block->bytes > scratch_bytes )
        return false;
    lay_out( block, scratch, size );
    plan( system, on, block->port_begin, block );
    block->active_count = size.active;
    for ( int t = 0, at = 0; t <= system->tree_count; ++t ) {
        block->port_begin[t] = at;
        at += t < system->tree_count ? system->trees[t]->count : 0;
    }
    for ( int i = 0; i < 3 * size.active; ++i )
        for ( int l = 0; l < tr_lanes_count( lanes ); ++l ) {
            put( block->compliance, lanes, (size_t)i, l, TR_ROW_OFF );
            put( block->target, lanes, (size_t)i, l, 0 );
        }
    return true;
}

void tr_block_set( tr_block *block, int row, int axis, int lane, double compliance, double target )
{
    assert( block->place[row] >= 0 && axis >= 0 && axis < 3 );
    size_t at = 3 * (size_t)block->place[row] + (size_t)axis;
    put( block->compliance, block->lanes, at, lane, compliance );
    put( block->target, block->lanes, at, lane, target );
}

double tr_block_force( const tr_block *block, int row, int axis, int lane )
{
    int place = block->place[row];
    return place < 0 ? 0 : get( block->force, block->lanes, 3 * (size_t)place + (size_t)axis, lane );
}

bool tr_block_dropped( const tr_block *block, int row, int axis, int lane )
{
    int place = block->place[row];
    return place >= 0 && get( block->dropped, block->lanes, 3 * (size_t)place + (size_t)axis, lane ) != 0;
}

// ------------------------------------------------------------------------------------------------ kernels

void tr_block_factor( tr_block *block )
{
    size_t bytes = tr_lane_bytes( block->lanes );
    block->shared = true;
    for ( int i = 0; block->shared && i < block->active_count; ++i ) {
        const char *c = (const char *)block->compliance + 3 * bytes * (size_t)i;
        block->shared = memcmp( c, c + bytes, bytes ) == 0 && memcmp( c, c + 2 * bytes, bytes ) == 0;
    }
    switch ( block->lanes ) {
    case TR_LANES_DOUBLE: tr_kernel_factor_double( block ); break;
    case TR_LANES_AVX2: tr_kernel_factor_avx2( block ); break;
    case TR_LANES_AVX512: tr_kernel_factor_avx512( block ); break;
    default: tr_kernel_factor_float( block ); break;
    }
}

void tr_block_tree_solve( const tr_block *block, int tree, void *x )
{
    switch ( block->lanes ) {
    case TR_LANES_DOUBLE: tr_kernel_tree_solve_double( block, tree, x ); break;
    case TR_LANES_AVX2: tr_kernel_tree_solve_avx2( block, tree, x ); break;
    case TR_LANES_AVX512: tr_kernel_tree_solve_avx512( block, tree, x ); break;
    default: tr_kernel_tree_solve_float( block, tree, x ); break;
    }
}

void tr_block_tree_correct( const tr_block *block, int tree, void *x )
{
    switch ( block->lanes ) {
    case TR_LANES_DOUBLE: tr_kernel_tree_correct_double( block, tree, x ); break;
    case TR_LANES_AVX2: tr_kernel_tree_correct_avx2( block, tree, x ); break;
    case TR_LANES_AVX512: tr_kernel_tree_correct_avx512( block, tree, x ); break;
    default: tr_kernel_tree_correct_float( block, tree, x ); break;
    }
}

void tr_block_rows_solve( tr_block *block )
{
    switch ( block->lanes ) {
    case TR_LANES_DOUBLE: tr_kernel_rows_solve_double( block ); break;
    case TR_LANES_AVX2: tr_kernel_rows_solve_avx2( block ); break;
    case TR_LANES_AVX512: tr_kernel_rows_solve_avx512( block ); break;
    default: tr_kernel_rows_solve_float( block ); break;
    }
}
