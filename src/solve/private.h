// What the files of this folder share.
#ifndef TROUPE_SOLVE_PRIVATE_H
#define TROUPE_SOLVE_PRIVATE_H

#include "solve/solve.h"

// Entry of H K⁻¹ Hᵀ for two rows.
double tr_system_coupling( const tr_system *system, int a, int b );

#define DECLARE_KERNELS( kind )                                                                              \
    void tr_kernel_tree_solve_##kind( const tr_block *block, int tree, void *unknowns );                     \
    void tr_kernel_tree_correct_##kind( const tr_block *block, int tree, void *unknowns );                   \
    void tr_kernel_factor_##kind( tr_block *block );                                                         \
    void tr_kernel_rows_solve_##kind( tr_block *block );

// One BLAS thread: ours are the threads, and sums do not depend on how many there are.
void tr_solve_alone( void );

void tr_kernel_band_float( const tr_band *band, float *x );
void tr_kernel_band_avx2( const tr_band *band, float *x );

DECLARE_KERNELS( double )
DECLARE_KERNELS( float )
DECLARE_KERNELS( avx2 )
DECLARE_KERNELS( avx512 )

#endif
