// measure: how good a result is, beside its source. docs/metrics.md defines each figure in words.
#ifndef TROUPE_MEASURE_H
#define TROUPE_MEASURE_H

#include "result/result.h"

enum { TR_METRIC_FIELDS = 24 }; // bend_deviation_deg has most

// Where figures draw a line. docs/metrics.md explains each.
typedef struct tr_measure_def {
    double short_bone;         // metres: errors of shorter bones count in millimetres, not in percent
    double short_trunk_bone;   // share of the height: shorter bones of a trunk are joined with the next
    double deep;               // metres: frames with a deeper overlap count in frames_pct
    double touch;              // metres: how near parts of bodies touch, in a cast whose mean height is …
    double touch_height;       // … this, in metres; in proportion otherwise
    double still_jerk;         // m/s³: less is rounding of positions, and nothing to compare with
    double still_acceleration; // m/s²: the same
    double negligible_linking; // turns: chains that cannot link by more are not integrated
    double same_topology;      // turns: with a smaller deviation two chains are on the same side
    double linked;             // turns: from here on the sign gives the side of a limb
    double apart;              // metres: closer axes have no side
    double unmoved;            // metres: chains that move less need not be compared
    double unlike;             // 0 at examples … 1 like none: frames beyond it are unlike any example
    double same;               // metres, or a ratio: a smaller difference is rounding
    double margin;             // share of the limit: a figure is worse only beyond it
    double skate_span; // seconds over which the speed of a sliding foot is taken: shorter spans show noise
    double far_bent;   // radians from the source's bend: visible at once
    double close;      // metres between surfaces in the source: hands and feet nearer to others are compared
    double standing;   // leg lengths: bodies whose hips are lower in the source sit or lie; not compared
    double crouched;   // share of the source's height of the hips: lower hips crouch
    double nearest;    // metres, as in tr_imesh_def: of the mesh that compares neighbours
    tr_range_def ranges;
} tr_measure_def;

tr_measure_def tr_default_measure_def( void );

typedef struct tr_metric_field {
    const char *name; // "value", "max", "p95", …
    const char *unit; // "mm", "%", "" for a plain number, …
    double out, source;
    bool out_null, source_null; // cannot be computed; the number is 0 then and means nothing
    bool worse;                 // out is worse than the source's value and than the limit of the figure
} tr_metric_field;

typedef struct tr_metric_place { // where a metric is worst
    char name[96];               // "p1.LeftLeg", or a prop's id; "" for nowhere
    int frame;                   // frame of the scene
} tr_metric_place;

typedef struct tr_metric {
    const char *key, *unit; // unit of the first field
    const char *worse;      // half a sentence: what one sees where a field is worse
    const char *reason;     // why a field cannot be computed, NULL when all can
    // What name and frame of the worst place are called in the report, NULL where none is named.
    const char *place_name, *place_frame;
    tr_metric_place out_place, source_place;
    int field_count;
    tr_metric_field fields[TR_METRIC_FIELDS];
} tr_metric;

typedef struct tr_measures {
    tr_metric *metrics;
    int count;
} tr_measures;

// Quality over time: one value per frame, of the result and of the source.
typedef enum tr_strip_kind {
    TR_STRIP_SLIP,     // largest speed of a foot in contact
    TR_STRIP_CONTACTS, // largest residual of a hard contact
    TR_STRIP_RULES,    // largest residual of a hard rule of another kind
    TR_STRIP_OVERLAP,  // deepest overlap of bodies with each other and with props
    TR_STRIP_LENGTHS,  // largest error of a bone's length
    TR_STRIP_JERK,     // jerk of all joints, relative to the source's mean
    TR_STRIP_JOLTS,    // largest acceleration of a joint, relative to its own largest in the source
    TR_STRIP_BENDS,    // largest bend of trunk, head, hand or foot away from the source's
    TR_STRIP_RANGES,   // largest angle of a joint beyond its range
    TR_STRIP_GAPS,     // largest change of the gap between a hand, foot or head and another body
    TR_STRIP_BALANCE,  // largest distance of a centre of mass beyond its support, against the source's
    TR_STRIP_PASSES,   // bones that went through each other since the frame before
    TR_STRIP_KINDS
} tr_strip_kind;

typedef struct tr_strip {
    const char *name, *unit;
    double fine, bad;    // values up to `fine` are not visible; from `bad` on they are obvious
    float *out, *source; // [frame_count]
} tr_strip;

typedef struct tr_overlap { // two parts that overlap more than in the source
    int a, b;               // actors; b from actor_count on: a prop
    int part_a, part_b;     // capsules of the target's bodies; -1 for a prop
    float depth;            // metres more than the same parts in the source
} tr_overlap;

typedef struct tr_strips {
    tr_strip items[TR_STRIP_KINDS];
    int frame_count;
    tr_overlap *overlaps; // deeper than the strip's `fine`; those of frame f begin at overlap_first[f]
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
