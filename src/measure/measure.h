// measure: how good a result is, beside its source. docs/metrics.md defines each figure in words.
#ifndef TROUPE_MEASURE_H
#define TROUPE_MEASURE_H

#include "result/result.h"

#define TR_METRIC_FIELDS 6

typedef struct tr_metric_field {
    const char *name; // "value", "max", "p95", …
    const char *unit; // "mm", "%", "" for a plain number, …
    double out, source;
    bool out_null, source_null; // cannot be computed; the number is 0 then and means nothing
    bool worse; // out is worse than the source's, if it has one, and than what is fine without
} tr_metric_field;

typedef struct tr_metric {
    const char *key, *unit; // unit of the first field
    const char *worse;      // what is to be seen where a field is worse, in half a sentence
    const char *reason;     // why it, or a field of it, cannot be computed, NULL when all can
    int field_count;
    tr_metric_field fields[TR_METRIC_FIELDS];
} tr_metric;

typedef struct tr_measures {
    tr_metric *metrics;
    int count;
} tr_measures;

// Quality over time: one value a frame, of the result and of the source.
typedef enum tr_strip_kind {
    TR_STRIP_SLIP,     // speed of the fastest foot that ought to rest
    TR_STRIP_CONTACTS, // hand or foot that is farthest from where it is to rest
    TR_STRIP_RULES,    // hard rule of another kind that is farthest off
    TR_STRIP_OVERLAP,  // deepest overlap of bodies with each other and with props
    TR_STRIP_LENGTHS,  // bone whose length is farthest off
    TR_STRIP_JERK,     // of all joints, in terms of the source's mean
    TR_STRIP_KINDS
} tr_strip_kind;

typedef struct tr_strip {
    const char *name, *unit;
    double fine, bad;    // up to `fine` nobody minds; from `bad` on everybody does
    float *out, *source; // [frame_count]
} tr_strip;

typedef struct tr_overlap { // two parts that are deeper in each other than in the source
    int a, b;               // actors; b from actor_count on: a prop
    int part_a, part_b;     // capsules of the target's bodies; of a prop -1
    float depth;            // metres more than the same parts in the source
} tr_overlap;

typedef struct tr_strips {
    tr_strip items[TR_STRIP_KINDS];
    int frame_count;
    tr_overlap *overlaps; // deeper than the strip's `fine`; those of frame f from overlap_first[f] on
    int *overlap_first;   // [frame_count + 1]
} tr_strips;

bool tr_strips_measure( tr_strips *out, const tr_stage *stage, const tr_result *result, tr_error *error );
void tr_strips_free( tr_strips *strips );

// All figures of the result beside those of the source.
bool tr_measure( tr_measures *out, const tr_stage *stage, const tr_result *result, tr_error *error );
void tr_measures_free( tr_measures *measures );
const tr_metric *tr_measures_find( const tr_measures *measures, const char *key );
bool tr_measures_print_json( const tr_measures *measures, tr_text *out );
void tr_measures_print_table( const tr_measures *measures, tr_text *out );

#endif
