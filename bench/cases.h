// Private to bench: the parts of a case.
#ifndef TROUPE_BENCH_CASES_H
#define TROUPE_BENCH_CASES_H

#include "bench.h"

typedef struct bench_kind { // functions of a case; only `run` is timed
    bool ( *setup )( void **state, const char *argument, bool quick, tr_error *error );
    bool ( *run )( void *state, tr_error *error );
    void ( *describe )( const void *state, tr_bench_row *row ); // adds further fields
    void ( *teardown )( void *state );                          // also after a failed setup
} bench_kind;

typedef struct bench_case {
    const char *name;
    const char *argument; // argument of setup: a method, a scene
    int threads;
    const bench_kind *kind;
    const char *baseline;   // earlier row this one is compared with, NULL = none
    const char *ratio;      // name of the field for the baseline's ms / own ms
    bool long_only;         // left out of quick runs
    int runs_least;         // 0 = three
    bool each;              // the ratio is of the cost per character
    const char *grows_from; // earlier row, NULL = none: adds the field `exponent`, e where the cost grows
                            // with characters^e from there
} bench_case;

// Each ends with a row without a name.
extern const bench_case bench_motion_cases[], bench_pose_cases[], bench_imesh_cases[], bench_cage_cases[],
    bench_drag_cases[], bench_scene_cases[], bench_growth_cases[], bench_exemplar_cases[];

void bench_field( tr_bench_row *row, const char *name, double value );

#endif
