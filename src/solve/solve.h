// solve: linear algebra for many small systems that share one matrix. It knows nothing of motion.
//
// The work is split by cost. A *tree* is a symmetric positive definite matrix K on the nodes of a tree,
// factored once. *Ports* are linear functionals of its unknowns (a row of weights each) with the responses
// K⁻¹ Hᵀ they cause. A *system* joins the ports of one or several trees by rows that can be switched on and
// off, hard or with compliance, for every right-hand side anew; K is never factored again:
//
//   minimise ½ uᵀ K u − bᵀ u + Σ ½ wᵣ (rᵣ − hᵣ)²,  r = value of port a − value of port b,  wᵣ = ∞ when hard
//   u = K⁻¹ b − K⁻¹ Hᵀ λ,   (H K⁻¹ Hᵀ + diag( 1/wᵣ )) λ = H K⁻¹ b − h
//
// Every unknown stands for three numbers (x, y, z) with the same matrix. Right-hand sides are solved several
// at once, one per *lane*: 8 or 16 floats, or 4 doubles where exactness matters more than time.
#ifndef TROUPE_SOLVE_H
#define TROUPE_SOLVE_H

#include "base/base.h"

// -------------------------------------------------------------------------------------------- sparse rows

typedef struct tr_sparse { // rows of (column, value); zero-initialise, free with tr_sparse_free
    int row_count, column_count, entry_count;
    int *start;     // [row_count + 1]
    int *columns;   // [entry_count]
    double *values; // [entry_count]
    int row_capacity, entry_capacity;
} tr_sparse;

// Appends a row; columns below column_count, in any order, repeated ones add up. False when out of memory.
bool tr_sparse_add( tr_sparse *matrix, const int *columns, const double *values, int count );
// Appends an entry to the last row.
bool tr_sparse_extend( tr_sparse *matrix, int column, double value );
void tr_sparse_free( tr_sparse *matrix );

// Matrices here are small and threads run outside BLAS, so BLAS needs one thread. This is a setting of the
// whole process: for programs only, before main, so that no call is under way. A library leaves it alone.
void tr_blas_use_one_thread( void );
// Which rows are linear combinations of the rows before them, by rank-revealing sparse QR of the transpose.
// `dependent` [row_count] may be NULL. Returns the rank, or -1 when out of memory.
int tr_sparse_rank( const tr_sparse *rows, bool *dependent, tr_error *error );

// The slow and exact reference: minimise ‖A x − b‖² subject to H x = h, with the constraints eliminated by
// sparse QR of Hᵀ; `constraints` may be NULL. Several right-hand sides, each array column-major: b [A.rows ·
// columns], h [H.rows · columns], x [A.columns · columns]. A must have full rank on the null space of H.
// Dependent rows of H are left out, so contradictory ones give way to those before them.
bool tr_least_squares( const tr_sparse *a, const double *b, const tr_sparse *constraints, const double *h,
                       int columns, double *x, tr_error *error );

// ------------------------------------------------------------------------------------------------ L D Lᵀ
// Of any sparse symmetric positive definite matrix, eliminated in an order that fills in little (AMD).

typedef struct tr_ldl {
    int count, entry_count;
    int *order;      // [count] which unknown is eliminated first, second, …
    int *place;      // [count] and when each is: the inverse of `order`
    int *start;      // [count + 1] columns of L in order of elimination, below the diagonal
    int *rows;       // [entry_count] increasing within a column
    double *values;  // [entry_count]
    double *inverse; // [count] of D
    float *values_f; // the same, rounded
    float *inverse_f;
} tr_ldl;

// Square; entries above the diagonal are ignored, repeated ones add up. Fails when the matrix is not positive
// definite.
bool tr_ldl_build( tr_ldl *out, const tr_sparse *matrix, tr_error *error );
void tr_ldl_free( tr_ldl *ldl );
// x ← K⁻¹ x: x [count · columns], column index last. `work` [count · columns], the same.
void tr_ldl_solve( const tr_ldl *ldl, double *x, int columns, double *work );
// The same in floats for four columns at once, x [count] *in order of elimination*, 16-byte aligned.
void tr_ldl_solve_four( const tr_ldl *ldl, float ( *x )[4] );

// -------------------------------------------------------------------------------------------------- trees

typedef struct tr_tree { // L D Lᵀ of K by 3×3 blocks, leaves first: no fill
    int node_count;
    int *parents;     // [node_count]
    double *inverse;  // [node_count · 9] inverse of the eliminated diagonal block D
    double *upper;    // [node_count · 9] D⁻¹ · K(node, parent)
    float *inverse_f; // the same, rounded
    float *upper_f;
} tr_tree;

// `parents` [node_count] point to smaller indices, -1 at roots (a forest is fine). `diagonal` [node_count ·
// 9] holds K(i, i), `coupling` [node_count · 9] holds K(i, parent), row-major; entries of roots are ignored.
// Fails with an error when K is not positive definite.
bool tr_tree_build( tr_tree *out, int node_count, const int *parents, const double *diagonal,
                    const double *coupling, tr_error *error );
void tr_tree_free( tr_tree *tree );
// x ← K⁻¹ x in doubles, one right-hand side after the other: x [node_count · 3 · columns], column index last.
void tr_tree_solve( const tr_tree *tree, double *x, int columns );

typedef struct tr_ports { // functionals on the unknowns of one tree
    const tr_tree *tree;  // borrowed
    int count;
    tr_sparse weights; // [count] rows over the 3 · node_count unknowns
    float *weights_f;  // [weights.entry_count]
    double *response;  // [3 · node_count · count] Y = K⁻¹ Hᵀ
    float *response_f;
    double *flexibility; // [count · count] H Y
} tr_ports;

bool tr_ports_build( tr_ports *out, const tr_tree *tree, const tr_sparse *weights, tr_error *error );
void tr_ports_free( tr_ports *ports );

// ------------------------------------------------------------------------------------------------ systems

typedef struct tr_port_row { // value of the first port minus that of the second; tree -1: no second
    int tree[2], port[2];
} tr_port_row;

typedef struct tr_system {
    const tr_ports *const *trees; // [tree_count] borrowed
    int tree_count;
    tr_port_row *rows; // [row_count] as given
    int row_count;
    int *order;      // [row_count] order of elimination: neighbours in the graph of trees stand together
    bool *dependent; // [row_count] a combination of rows before it in that order
    int rank;
} tr_system;

// Where two rows contradict each other on the same trees, the first keeps its target.
bool tr_system_build( tr_system *out, const tr_ports *const *trees, int tree_count, const tr_port_row *rows,
                      int row_count, tr_error *error );
void tr_system_free( tr_system *system );
// How far a unit pull moves a row: its entry on the diagonal of H K⁻¹ Hᵀ.
double tr_system_flexibility( const tr_system *system, int row );

// -------------------------------------------------------------------------------------------------- lanes

typedef enum tr_lanes {
    TR_LANES_DOUBLE, // 4 doubles
    TR_LANES_FLOAT,  // 8 floats, any processor
    TR_LANES_AVX2,   // 8 floats, processors with AVX2: the same bits, sooner
    TR_LANES_AVX512, // 16 floats, processors with AVX-512: the same bits, sooner still
    TR_LANES_KINDS
} tr_lanes;

bool tr_lanes_supported( tr_lanes lanes );
tr_lanes tr_lanes_best( void ); // the fastest supported one, in floats
// The same, or narrower ones with the same bits if those have room for `count` frames.
tr_lanes tr_lanes_for( tr_lanes lanes, int count );
int tr_lanes_count( tr_lanes lanes );   // 16, 8 or 4
size_t tr_lane_bytes( tr_lanes lanes ); // bytes of one number in all lanes: 64 or 32

#define TR_LANE_BYTES_MAX TR_CARVE // and what lanes of any kind are aligned to
#define TR_ROW_OFF        ( -1.0 ) // compliance of a row that is off

// A system solved for one block of right-hand sides, one per lane. Everything points into one piece of
// scratch memory; nothing is allocated after tr_block_scratch. Numbers written by the caller are `lanes`
// wide.
typedef struct tr_block {
    const tr_system *system;
    tr_lanes lanes;
    size_t bytes;     // scratch that it takes
    int active_count; // rows that are on in some lane
    int *active;      // [active_count] indices of rows, in order of elimination
    int *first;       // [active_count] first active row each is coupled to
    int *begin;       // [active_count + 1] where its part of the factor begins
    int *place;       // [row_count] index among the active ones, -1 when off
    bool shared;      // x, y and z have the same rows on: one factor serves them all
    void *compliance; // [active_count][3] lanes; TR_ROW_OFF where the row is off
    void *target;     // [active_count][3] lanes
    void *force;      // [active_count][3] lanes: λ
    void *dropped;    // [active_count][3] lanes; 1 where a hard row had to give way to those before it
    void *factor;     // [3 or 1][begin[active_count]] lanes
    void *values;     // [port][3] lanes of every tree, one after the other
    void *forces;     // the same shape: the rows' forces at each port
    int *port_begin;  // [tree_count + 1] where a tree's ports stand in the two
} tr_block;

// Bytes of scratch for a block in which the rows with on[row] are on (NULL: all of them); a subset needs no
// more. `entries`, unless NULL, becomes block.begin[active_count]. 0 when out of memory.
size_t tr_block_scratch( const tr_system *system, tr_lanes lanes, const bool *on, int *entries );
// Lays the block out in `scratch`, aligned for lanes; false when that is too small. The rows with on[row]
// (NULL: all) become active; compliance starts as off, targets as zero.
bool tr_block_start( tr_block *block, const tr_system *system, tr_lanes lanes, const bool *on, void *scratch,
                     size_t scratch_bytes );
// Sets one number of a row in one lane. `axis` 0 … 2.
void tr_block_set( tr_block *block, int row, int axis, int lane, double compliance, double target );

// Kernels. x is [3 · node_count][3] lanes: unknown, then x, y, z.
void tr_block_factor( tr_block *block ); // after compliance is set
void tr_block_tree_solve( const tr_block *block, int tree,
                          void *x );         // x ← K⁻¹ x, and its ports into `values`
void tr_block_rows_solve( tr_block *block ); // values → forces
void tr_block_tree_correct( const tr_block *block, int tree, void *x ); // x ← x − Y · forces
// λ and drops of one row in one lane, for reports.
double tr_block_force( const tr_block *block, int row, int axis, int lane );
bool tr_block_dropped( const tr_block *block, int row, int axis, int lane );

// ------------------------------------------------------------------------------------------------- bands
// Unknowns by frames: a symmetric positive definite matrix whose frames have dense blocks of their own and
// are joined to the next frame and the one after it by multiples of the unit matrix (velocities,
// accelerations). Factored once, in doubles, two frames at a time; solved in floats for x, y and z at once.
// Memory and time to solve grow with frames · size², time to factor with frames · size³.

typedef struct tr_band {
    int frame_count, size;
    int stride;     // size rounded up to 8
    int added;      // frames so far
    float *inverse; // inverse of the block of each two frames, with the frames before eliminated; laid out as
                    // in band.c
    float *alone;   // inverse for the first of each two frames, the second fixed
    float *near, *far;  // [frame_count] factors that join a frame to the next one and to the one after it
    double joins[2][2]; // near and far of the last two frames: of even and of odd number
    double *work;       // [width²] the last two frames, and scratch to invert them; NULL when all are there
    tr_lanes lanes;     // lanes for factoring: the best at the start; all give the same bits
    float *memory;      // one allocation for the inverses
} tr_band;

bool tr_band_start( tr_band *out, int frame_count, int size, tr_error *error );
// The next frame: its own block [size · size], and the factors that join it to the next frame and the one
// after it (ignored where there is none). False when the matrix is not positive definite so far; of two
// frames the second reports it.
bool tr_band_add( tr_band *band, const double *diagonal, double near, double far );
void tr_band_free( tr_band *band );
size_t tr_band_bytes( const tr_band *band ); // memory it holds when all frames are there
// Floats needed by tr_band_solve: the unknowns, [frame][x, y, z][stride], scratch, and space to align them.
static inline size_t tr_band_floats( const tr_band *band )
{
    return ( (size_t)band->frame_count + 4 ) * 3 * (size_t)band->stride + TR_LANE_BYTES_MAX / sizeof( float );
}
static inline float *tr_band_align( float *memory ) // the first place fit for lanes
{
    uintptr_t at = (uintptr_t)memory + TR_LANE_BYTES_MAX - 1;
    return (float *)( at - at % TR_LANE_BYTES_MAX );
}
// x ← K⁻¹ x. `x` is aligned as above; numbers beyond `size` in each row are zero and stay so. The same bits
// for all kinds of floats.
void tr_band_solve( const tr_band *band, tr_lanes lanes, float *x );
// How far a unit pull at one unknown moves another of the same frame while later frames stand still.
double tr_band_flexibility( const tr_band *band, int frame, int row, int column );

// ------------------------------------------------------------------------------------------------ chains
// Curves over frames: one unknown d(f) a frame that minimises
//
//   ½ Σ weight(f) d(f)² + ½ Σ slope(f) ( d(f+1) − d(f) )² + ½ bend Σ ( d(f−1) − 2 d(f) + d(f+1) )² − Σ b(f)
//   d(f)
//
// The matrix is pentadiagonal. Its L D Lᵀ serves any number of right-hand sides b; time and memory grow with
// the frames.

typedef struct tr_chain_def {
    int frame_count;
    const double *weight;      // [frame_count] above 0
    const double *slope;       // [frame_count - 1] at least 0; NULL: 0
    double bend;               // at least 0
    const bool *held;          // [frame_count] d is 0 there; NULL: nowhere
    bool free_start, free_end; // otherwise d is 0 in all frames beyond that end, and the curve bends into it
} tr_chain_def;

typedef struct tr_chain { // a frame of a chain
    double pivot;         // D; INFINITY where d is held
    double near, far;     // L, one and two frames on
} tr_chain;

// No pivot is smaller than the smallest weight: no eigenvalue is, but rounding may say so where bend is
// large.
void tr_chain_factor( const tr_chain_def *def, tr_chain *factor ); // [frame_count]
// d [frame_count * column_count] holds one right-hand side per column, and the answers afterwards.
void tr_chain_solve( const tr_chain *factor, int frame_count, double *d, int column_count );

#endif
