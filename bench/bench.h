// bench: speed. One table of cases, each timed as the shortest of repeated runs.
#ifndef TROUPE_BENCH_H
#define TROUPE_BENCH_H

#include "base/base.h"
#include "io/io.h"

#define TR_BENCH_FIELDS 8

typedef struct tr_bench_row {
    const char *name;
    double ms; // shortest run, processor time where it has one thread; the editor's rows: p50
    int threads, runs;
    // Further figures such as MB_s, or how many times faster than a baseline ("times_strtod").
    struct {
        const char *name;
        double value;
    } fields[TR_BENCH_FIELDS];
    int field_count;
} tr_bench_row;

typedef struct tr_bench_report {
    tr_bench_row *rows;
    int count, capacity;
} tr_bench_report;

typedef struct tr_bench_def {
    bool quick;                                               // fewer repetitions, for a first look
    const char *only;                                         // cases whose name contains this, NULL = all
    void ( *progress )( void *context, int done, int total ); // NULL = none
    void *context;
} tr_bench_def;

tr_bench_def tr_default_bench_def( void );
const char *tr_bench_name( int index ); // name of a row, in order; NULL past the last
// Resets the number of threads to the default (all processors).
bool tr_bench_run( tr_bench_report *out, const tr_bench_def *def, tr_error *error );
// The same for the editor: how long a user waits, as percentiles. Not in builds without it. Rows that are
// left out are named in `log`; if one failed, returns false, with the rows that were measured.
bool tr_bench_run_ui( tr_bench_report *out, const tr_bench_def *def, tr_log *log, tr_error *error );
void tr_bench_report_free( tr_bench_report *report );
void tr_bench_print_table( const tr_bench_report *report, tr_text *out );
json_t *tr_bench_json( const tr_bench_report *report ); // {"rows": [{"name", "ms", "threads", …}]}

#endif
