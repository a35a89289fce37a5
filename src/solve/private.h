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

// Floats of a symmetric matrix of tiles · 8 rows, its tiles on and below the diagonal (band.c).
static inline size_t tr_band_tiles( int tiles )
{
    return 32 * (size_t)tiles * ( (size_t)tiles + 1 );
}

void tr_kernel_band_float( const tr_band *band, float *x );
void tr_kernel_band_avx2( const tr_band *band, float *x );

// Sweeps the unknowns `begin` … `end` of a symmetric positive definite matrix, whose part on and below
// the diagonal counts; after all unknowns a is −a⁻¹, after the first few their own part of it is the negative
// inverse of that part. False when it is not positive definite. All numbers are whole numbers of 8, stride of
// 16; panel [16 · stride]; both aligned for lanes.
bool tr_kernel_sweep_float( double *a, int size, int stride, int begin, int end, double *panel );
bool tr_kernel_sweep_avx2( double *a, int size, int stride, int begin, int end, double *panel );
bool tr_kernel_sweep_avx512( double *a, int size, int stride, int begin, int end, double *panel );

DECLARE_KERNELS( double )
DECLARE_KERNELS( float )
DECLARE_KERNELS( avx2 )
DECLARE_KERNELS( avx512 )

#endif
