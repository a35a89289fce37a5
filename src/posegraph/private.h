// What the files of this folder share: a block of frames at work.
#ifndef TROUPE_POSEGRAPH_PRIVATE_H
#define TROUPE_POSEGRAPH_PRIVATE_H

#include "posegraph/posegraph.h"

#define TR_BLOCK_FRAMES_MAX    8
#define TR_DEFORM_ROUNDS_LANES 4
#define TR_ROD_LANES           75 // per joint; see rods.h

// One graph in a block of frames. Numbers are lanes wide. Vertices are counted from the place of the root in
// the reference, and what is solved for is their displacement from the reference: small numbers keep their
// digits wherever in the world the body stands, and where nothing is asked for, nothing moves.
typedef struct tr_graph_lanes {
    const tr_posegraph *graph;
    void *reference;    // [3 · joint_count][3] v̄
    void *displacement; // [3 · joint_count][3] u: v = v̄ + u
    void *next;   // [3 · joint_count][3] right-hand side, then the next u, then what rotations are fitted to
    void *quats;  // [joint_count][4] R of each cell
    void *turns;  // [joint_count][9] R − 1
    void *rods;   // [joint_count][TR_ROD_LANES] see rods.h
    void *rounds; // [TR_DEFORM_ROUNDS_LANES] see kernel.h
    bool rotations_wanted;
} tr_graph_lanes;

typedef struct tr_block_work {
    const tr_cluster *cluster;
    tr_block block;
    tr_graph_lanes *graphs; // [graph_count]
    int graph_count;
    int *component; // [graph_count · TR_BLOCK_FRAMES_MAX] per lane, the first graph each is linked to, or
                    // itself
    // Rows of the rods' step, by active row; see rods.h.
    bool *rod_counts; // [active_count] has a say in this round
    int *rod_part;    // [active_count] rows of different parts never meet in these frames, not even through
                      // others
    int *rod_begin;   // [2 · active_count] where each of its ends begins in rod_ends, in joints
    void *rod_ends;   // [joints on the paths of all ends][18]
    void *rod_factor; // [block.begin[active_count]][9]
    void *rod_force;  // [active_count][3]
    tr_cluster_def def;
    bool warm;                           // displacements and quats are loaded: where to begin
    int iterations[TR_BLOCK_FRAMES_MAX]; // out, per lane
    double change[TR_BLOCK_FRAMES_MAX];  // out, metres
} tr_block_work;

// One lane in and out. `begin` loads what a warm start begins with; `store` adds the displacement to `from`,
// which may be the same memory; false when it is not finite.
#define DECLARE_KERNELS( kind )                                                                              \
    void tr_kernel_deform_##kind( tr_block_work *work );                                                     \
    void tr_kernel_load_##kind( const tr_graph_lanes *g, const vec3 *vertices, int l );                      \
    void tr_kernel_begin_##kind( const tr_graph_lanes *g, const vec3 *from, const vec3 *vertices,            \
                                 const quat *rotations, int l );                                             \
    bool tr_kernel_store_##kind( const tr_graph_lanes *g, const vec3 *from, int l, vec3 *vertices );         \
    quat tr_kernel_rotation_##kind( const tr_graph_lanes *g, int joint, int l );

DECLARE_KERNELS( double )
DECLARE_KERNELS( float )
DECLARE_KERNELS( avx2 )

#endif
