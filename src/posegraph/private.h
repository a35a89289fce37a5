// What the files of this folder share: a block of frames at work.
#ifndef TROUPE_POSEGRAPH_PRIVATE_H
#define TROUPE_POSEGRAPH_PRIVATE_H

#include "posegraph/posegraph.h"

#include <stdatomic.h>

enum {
    TR_BLOCK_FRAMES_MAX = 16,   // lanes of the widest kind
    TR_DEFORM_ROUNDS_LANES = 4, // lanes of `rounds`, see kernel.h
    TR_ROD_LANES = 87           // lanes of a joint's `rod`, see rods.h
};

// One graph in a block of frames. Numbers are lanes wide. Vertices are relative to the root of the reference,
// and the unknowns are displacements from the reference: they keep their precision far from the origin, and
// are exactly zero where no row is on.
typedef struct tr_graph_lanes {
    const tr_posegraph *graph;
    void *reference;    // [3 · joint_count][3] v̄
    void *displacement; // [3 · joint_count][3] u: v = v̄ + u
    void *next;         // [3 · joint_count][3] right-hand side, then the next u, then the cells' matrices
    void *quats;        // [joint_count][4] R of each cell
    void *turns;        // [joint_count][9] R − 1
    void *rods;         // [joint_count][TR_ROD_LANES] see rods.h
    void *rounds;       // [TR_DEFORM_ROUNDS_LANES] see kernel.h
    bool rotations_wanted;
} tr_graph_lanes;

typedef struct tr_block_work {
    const tr_cluster *cluster; // cluster of a part, see below
    tr_block block;
    tr_graph_lanes *graphs; // [graph_count]
    int graph_count;
    int *component; // [TR_BLOCK_FRAMES_MAX · graph_count] per lane, the first graph each is linked to, or
                    // itself
    // Rows of the rods' step, by active row; see rods.h.
    bool *rod_counts;   // [active_count] takes part in this round
    int *rod_pair;      // [active_count] the row that pulls corner 0 of the joint it alone holds, or -1
    int *rod_begin;     // [2 · active_count] where each of its ends begins in rod_ends, in joints
    void *rod_ends;     // [joints on the paths of all ends][18]
    void *rod_factor;   // [block.begin[active_count]][9]
    void *rod_force;    // [active_count][3]
    tr_cluster_def def; // lanes: of the block
    bool warm;          // displacements and quats are loaded: where to begin
    int iterations[TR_BLOCK_FRAMES_MAX]; // out, per lane
    double change[TR_BLOCK_FRAMES_MAX];  // out, metres
} tr_block_work;

// ------------------------------------------------------------------------------------------------- part.c

// Graphs that rows join in a block of frames, directly or not, as a cluster of their own: numbers of graphs
// and rows are the part's, everything else is shared with the whole.
typedef struct tr_part {
    tr_cluster cluster; // graphs, rows and paths alone
    tr_system system;   // linear system of the current step
    const int *graphs;  // [cluster.graph_count] in the whole cluster, rising
    const int *rows;    // [cluster.row_count] in the whole cluster, in order of elimination
} tr_part;

typedef struct tr_parts { // parts of a block
    const tr_cluster *cluster;
    int count;
    bool *on;                        // [row_count] in some frame of the block
    int *part_of, *local;            // [graph_count] its part, its number in that
    int *graphs, *rows;              // grouped by part
    int *graph_begin, *row_begin;    // [count + 1] where a part's begin
    const tr_posegraph **graph_list; // lists of the view that was asked for last
    tr_port_path **path_list;
    const tr_ports **tree_list;
    tr_port_row *row_list;
    int *order;
    bool *dependent;
} tr_parts;

bool tr_goal_is_on( const tr_goal *goal );
void tr_join_graphs( const tr_port_row *row, int *set ); // the sets of the graphs at its ends
// Lays the lists out in memory that begins at `at`; returns the end of it.
char *tr_parts_lay_out( tr_parts *parts, const tr_cluster *cluster, char *at );
size_t tr_parts_bytes( const tr_cluster *cluster );
void tr_parts_find( tr_parts *parts, const tr_cluster_job *job, int begin, int end );
// Valid until the next one is asked for.
tr_part tr_parts_view( tr_parts *parts, int index, bool deform );

// ----------------------------------------------------------------------------------------------- scratch.c

struct tr_cluster_scratch {
    int slot_count;                // one per thread
    size_t slot_bytes, part_bytes; // a slot holds the lists of parts, then what the largest part needs
    char *memory, *slots;          // the second is aligned
    atomic_flag *busy;             // [slot_count]
};

// A slot no other thread is using; there are as many as threads. Clear its flag afterwards.
int tr_scratch_take( tr_cluster_scratch *scratch );
// Lays a block of work->cluster out in `at`, aligned for lanes; false when there are too few bytes.
bool tr_scratch_lay_out( tr_block_work *work, const tr_system *system, char *at, size_t bytes );

// ------------------------------------------------------------------------------------------------ kernels

void tr_graph_kept_clear( const tr_graph_kept *kept, int joint_count ); // the reference

// In and out: a frame per lane. `load` takes one for every lane, and so does `begin`, of what a warm start
// begins with; `store` adds the displacement of the first joints to `from`, which may be the same memory, and
// says which frames are finite; `rotations` stores those of the cells, no turn in frames that are not; `keep`
// notes what the next warm start begins with, the reference where a frame is not.
#define DECLARE_KERNELS( kind )                                                                              \
    void tr_kernel_deform_##kind( tr_block_work *work );                                                     \
    void tr_kernel_load_##kind( const tr_graph_lanes *g, const vec3 *const frames[] );                       \
    void tr_kernel_begin_##kind( const tr_graph_lanes *g, const tr_graph_kept from[] );                      \
    void tr_kernel_keep_##kind( const tr_graph_lanes *g, int frame_count, const bool finite[],               \
                                const tr_graph_kept to[] );                                                  \
    void tr_kernel_store_##kind( const tr_graph_lanes *g, const vec3 *const from[], int frame_count,         \
                                 int joint_count, vec3 *const to[], bool finite[] );                         \
    void tr_kernel_rotations_##kind( const tr_graph_lanes *g, int frame_count, const bool finite[],          \
                                     quat *const to[] );

DECLARE_KERNELS( double )
DECLARE_KERNELS( float )
DECLARE_KERNELS( avx2 )
DECLARE_KERNELS( avx512 )

void tr_kernel_pose_avx2( const tr_posegraph *graph, tr_pose pose, vec3 *vertices );

#endif
