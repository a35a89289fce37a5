// Private to bench: the retargeting problem that all pose-graph rows solve, and the solvers to compare with.
#ifndef TROUPE_BENCH_POSE_TASK_H
#define TROUPE_BENCH_POSE_TASK_H

#include "posegraph/posegraph.h"

#define BENCH_FRAMES     120
#define BENCH_ROWS_MAX   12
#define BENCH_ITERATIONS 4 // global solves of the deformation in the rows that do not iterate to rest

// A built-in character with longer and shorter limbs, and its targets: joints at places, each on in three
// frames of five.
typedef struct pose_task {
    tr_motion motion; // target skeleton with the source's rotations
    tr_world world;   // world of the clip
    double path;      // target : source
    tr_body body;
    tr_posegraph graph;
    tr_cluster cluster;           // cluster of one graph
    int joints[BENCH_ROWS_MAX];   // joints of the rows
    vec3 *reference;              // [frame_count · 3 · joint_count] v̂
    tr_goal *goals;               // [frame_count · row_count]
    tr_cluster_scratch *scratch;  // for the threads there were
    int frame_count, joint_count; // both also in motion
} pose_task;

// The first frames of as many clips of the figure's scene. `name`: human, spider or wolf. To be freed also
// after failure.
bool pose_sources_load( tr_motion *out, int count, const char *name, int frame_count, tr_error *error );
bool pose_task_build( pose_task *out, const char *name, const tr_motion *source, tr_error *error );
void pose_task_free( pose_task *task );
// Transfer, then deformation around its result, by src/posegraph. `turns` may be NULL.
bool pose_task_solve( const pose_task *task, const tr_cluster_def *def, vec3 *vertices, quat *turns,
                      tr_error *error );
tr_cluster_def pose_task_same_def( void ); // computes what pose_kkt_solve does

// --------------------------------------------------------------------------------------------- pose_kkt.c
// The textbook way: the energy's matrix bordered by the constraints that are on, solved as it stands by
// UMFPACK.

typedef struct pose_entries { // a matrix as a list
    long *rows, *columns;     // [count]
    double *values;           // [count]
    int count;
} pose_entries;

typedef struct pose_kkt {
    const pose_task *task;
    bool literal; // 3n × 3n and factored at every solve; else n × n, once per frame and step
    bool edits;   // the reference is a motion that is edited: no transfer comes before the deformation
    pose_entries transfer, deform; // K of the two steps
    pose_entries bordered;         // room for the two in all copies with their rows
    long *start, *index;           // the same by columns
    double *values;
    double *right, *answer;
    mat3 *cells; // [joint_count]
    mat3 *turns; // [joint_count]
} pose_kkt;

bool pose_kkt_build( pose_kkt *out, const pose_task *task, bool literal, tr_error *error );
void pose_kkt_free( pose_kkt *kkt );
bool pose_kkt_solve( pose_kkt *kkt, vec3 *vertices, tr_error *error );

// ------------------------------------------------------------------------------------------- pose_lbfgs.c
// Inverse kinematics on joint angles by liblbfgs, every frame from the copied pose.

bool pose_lbfgs_solve( const pose_task *task, tr_clip *answer, tr_error *error );

// ---------------------------------------------------------------------------------------------- pose_gn.c
// The same by damped Gauss–Newton, with places so stiff that they are met to a millimetre.

bool pose_gn_solve( const pose_task *task, tr_clip *answer, tr_error *error );

#endif
