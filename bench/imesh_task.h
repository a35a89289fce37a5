// Private to bench: the interaction that all imesh rows solve, and the solvers to compare with.
#ifndef TROUPE_BENCH_IMESH_TASK_H
#define TROUPE_BENCH_IMESH_TASK_H

#include "imesh/imesh.h"

#define IMESH_FRAMES 100
#define IMESH_STEPS  10

typedef struct imesh_person {
    tr_motion source;
    tr_motion target; // another body with the same rotations, its root as high as its legs are long
    tr_body source_body, target_body;
    tr_world source_world, target_world;
} imesh_person;

// Two people of 17 joints face each other, arms around the other, and sway; one becomes 0.85 times, the
// other 1.3 times as large. 17 joints and 15 surface points each: 64 points. The left foot of the first stays
// where it is.
typedef struct imesh_task {
    imesh_person people[2];
    tr_imesh_body bodies[2];
    tr_imesh_row *rows; // [frame_count]
    tr_imesh_cast cast;
} imesh_task;

bool imesh_task_build( imesh_task *out, int frame_count, double phase, tr_error *error );
void imesh_task_free( imesh_task *task );

// ------------------------------------------------------------------------------------------- imesh_paper.c
// The paper's problem at every morph step (equation 11):
//
//   minimise ½ Σ ‖M x − δ‖² + ½ · 0.2 Σ ‖A x‖² + ½ Σ w ‖F x − f‖²   subject to H x = h,
//
// with H the lengths of bones, linearised about the last step's directions, and one foot; F the collisions of
// capsules, w = 4. A thousandth of ½ ‖x − x̄‖² holds points that have no neighbours.

typedef struct imesh_paper {
    const tr_imesh *mesh;   // vertices and webs; nothing of its solver
    int row_most;           // rows of a frame at most
    struct paper_row *rows; // [frame_count · row_most]
    int *row_count;         // [frame_count]
    vec3 *x;                // [frame_count · vertex_count]
    tr_band band;           // fast: K, factored once
    float *memory;          // fast: scratch of solves
    float *plain;           // fast: K⁻¹ b, without rows
    double *lists;          // fast: five lists of a number per row
    double *factors;        // fast: [frame_count · row_most²] of the preconditioner
    int solves;             // fast: of the band, in the last run
} imesh_paper;

bool imesh_paper_build( imesh_paper *out, const tr_imesh *mesh, bool fast, tr_error *error );
void imesh_paper_free( imesh_paper *paper );
// All steps, from the source. One matrix for x, y and z of all frames with its rows as a border, handed to
// UMFPACK in each step …
bool imesh_paper_literal( imesh_paper *paper, tr_error *error );
// … or the same by the band and conjugate gradients on the rows' multipliers, to a tenth of a millimetre.
void imesh_paper_fast( imesh_paper *paper );

#endif
