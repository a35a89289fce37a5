// What the files of this folder share.
#ifndef TROUPE_SOLVE_PRIVATE_H
#define TROUPE_SOLVE_PRIVATE_H

#include "solve/solve.h"

// Entry of H K⁻¹ Hᵀ for two active rows.
static inline double tr_block_coupling( const tr_block *block, int i, int j )
{
    const tr_system *system = block->system;
    const tr_port_row *a = &system->rows[block->active[i]], *b = &system->rows[block->active[j]];
    double sum = 0;
    for ( int p = 0; p < 2 && a->tree[p] >= 0; ++p )
        for ( int q = 0; q < 2 && b->tree[q] >= 0; ++q ) {
            if ( a->tree[p] != b->tree[q] )
                continue;
            const tr_ports *ports = system->trees[a->tree[p]];
            double g = ports->flexibility[a->port[p] * ports->count + b->port[q]];
            sum += p == q ? g : -g;
        }
    return sum;
}

#define DECLARE_KERNELS( kind )                                                                              \
    void tr_kernel_tree_solve_##kind( const tr_block *block, int tree, void *unknowns );                     \
    void tr_kernel_tree_correct_##kind( const tr_block *block, int tree, void *unknowns );                   \
    void tr_kernel_factor_##kind( tr_block *block );                                                         \
    void tr_kernel_rows_solve_##kind( tr_block *block );

DECLARE_KERNELS( double )
DECLARE_KERNELS( float )
DECLARE_KERNELS( avx2 )

#endif
