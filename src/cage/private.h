// What the files of this folder share.
#ifndef TROUPE_CAGE_PRIVATE_H
#define TROUPE_CAGE_PRIVATE_H

#include "cage/cage.h"

// ---------------------------------------------------------------------------------------------- the section

// Fills shape, triangles and edges of a cube whose edges are cut into `detail` pieces.
bool tr_cage_shape_build( tr_cage *cage, int detail, tr_error *error );
// Points of a frame in the coordinates of its section's form: inside where every number is within the
// proportions.
vec3 tr_cage_to_form( const tr_cage *cage, int frame, vec3 point );
static inline vec3 tr_cage_vertex( const tr_cage *cage, int frame, int vertex )
{
    vec3 at = v3_mul( cage->extents[frame - cage->begin], cage->shape[vertex] );
    return rigid_apply( cage->places[frame - cage->begin], at );
}

// --------------------------------------------------------------------------------------------------- in time

// The keys around a frame: its motion is strength · [(1 − part) · that of key + part · that of next].
typedef struct tr_cage_share {
    int key, next;
    double part, strength;
} tr_cage_share;

tr_cage_share tr_cage_share_at( const tr_cage *cage, int frame );
// From `moved`: motions, residuals and their velocities of all keys.
void tr_cage_read_keys( tr_cage *cage );
bool tr_cage_frames_build( tr_cage *cage ); // memory of what becomes of frames

// --------------------------------------------------------------------------------------------------- solver
// Vertices are renumbered: the free ones first, in order of elimination, then the held ones. The unknowns are
// their displacements u from rest, in floats: they keep their precision far from the origin, and are exactly
// zero where no handle asks for any.

typedef struct tr_cage_row { // a point with a target: Σ weight · u = target
    int handle;
    int begin, end;       // its entries
    vec3 place;           // the point's place at rest
    const float *weights; // [vertex_count] of the point in the section of its frame
    vec3 target;          // displacement that brings the point to its handle
    bool linear;          // the point's frame is a key: the row is exact
    bool dropped;         // it depends on rows before it, or on held vertices
} tr_cage_row;

enum { TR_CAGE_HISTORY = 6 }; // steps that are combined: two arrays of the free vertices are kept for each

struct tr_cage_solver {
    int handle_count, count, free_count, row_count, round_count; // `round_count`: count, rounded up to eights
    bool upright;                                                // cells turn about the vertical only
    float stiffness;         // for an edge of weight 1: its hold, plus rigidity in the cells at both ends
    tr_ldl ldl;              // factor for the free vertices
    void *memory;            // one allocation for all arrays below
    tr_cage_handle *handles; // [handle_count] as grabbed
    int *number;             // [count] of each vertex
    int *holder;             // [count] handle that holds a vertex; HELD_AT_REST, NOT_HELD
    float *anchors;          // [count] weight of the hold of a vertex to its rest
    int *start;              // [count + 1] neighbours by number
    int *neighbours;         // [start[count]]
    float ( *links )[4];     // [start[count]] w r̄ and w, r̄ = v̄_i − v̄_j
    float ( *shapes )[3][4]; // [round_count] Σ w r̄ r̄ᵀ, what a cell's rotation is fitted to at rest
    float ( *sums )[4];      // [count] Σ w r̄
    float ( *u )[4];         // [round_count] displacements
    float ( *step )[4];      // [count] right-hand side, then the step
    float ( *quats )[4];     // [round_count] R of each cell
    float ( *turns )[3][4];  // [round_count] columns of R − 1
    tr_cage_row *rows;       // [row_count]
    int *entries;            // numbers, row after row
    float *entry_weights;    // the same
    float *row_weights;      // [row_count · vertex_count] of points
    double *schur;           // [row_count²] L, lower triangle: L Lᵀ = H K⁻¹ Hᵀ
    float *response;         // [row_count · free_count] K⁻¹ Hᵀ L⁻ᵀ
    vec3 *forces;            // [row_count]
    float *history;          // [2 · (TR_CAGE_HISTORY + 1)][4 · free_count]
};

enum { TR_CAGE_NOT_HELD = -2, TR_CAGE_HELD_AT_REST = -1 };

void tr_cage_solver_free( tr_cage_solver *solver );
// Displacements from `moved`, so that a warm solve goes on from there.
void tr_cage_solver_load( const tr_cage *cage, tr_cage_solver *solver );

// -------------------------------------------------------------------------------------------------- kernels

enum {
    TR_MEAN_VALUE_MAX_EDGES = 3 * TR_CAGE_MAX_VERTICES
}; // most edges of a mesh that is computed the fast way

// Eight points, x [3][8] from the mesh's centroid, to weights [8][vertex_count]. Returns a bit for each point
// that is too near to the mesh for single precision.
// weigh: Σ weight · residual of some points, weights [count][vertex_count], vertex_count even.
// fit: the rotation of every cell for the current displacements. pull: −½ dE/du, into `step`.
#define DECLARE_KERNELS( kind )                                                                              \
    unsigned tr_kernel_mean_value_##kind( const tr_mean_value *mesh, const float *x, float *weights );       \
    void tr_kernel_weigh_##kind( const float *weights, const float( *residuals )[4], int vertex_count,       \
                                 int count, float( *out )[4] );                                              \
    void tr_kernel_fit_##kind( const tr_cage_solver *s, int steps );                                         \
    void tr_kernel_pull_##kind( const tr_cage_solver *s );

DECLARE_KERNELS( float )
DECLARE_KERNELS( avx2 )

#endif
