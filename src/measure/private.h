// Private to measure: what its files share. docs/metrics.md defines each figure in words.
#ifndef TROUPE_MEASURE_PRIVATE_H
#define TROUPE_MEASURE_PRIVATE_H

#include "measure/measure.h"

enum { TR_MEASURE_BLOCK = 8 }; // frames of a parallel task: they share its scratch memory

// ----------------------------------------------------------------------------------------------- takes
// A take is one performance of the whole cast: the exported motion on the target bodies, or the source on its
// own. Every figure is a function of a take and of the source it is compared with; for the source's column
// the source is compared with itself. All pointers are borrowed except the two arrays.

typedef struct tr_performer {
    const tr_skeleton *skeleton;
    const tr_body *body;
    const tr_world *world;       // [frame_count]
    const tr_clip *clip;         // for the local rotations
    const int *map;              // [joint_count] joint of the source performer, -1 for none; NULL: the same
    const tr_actor *actor;       // the actor whose target body it is, or NULL
    const tr_contacts *contacts; // labels, of the source performers only
    double height;               // height of the joints in the rest pose, metres
} tr_performer;

typedef struct tr_take_prop {
    const rigid *track; // [frame_count]
    tr_shape shape;
} tr_take_prop;

typedef struct tr_take {
    tr_performer *performers; // [performer_count], in the cast's order
    int performer_count;
    tr_take_prop *props; // [prop_count]
    int prop_count;
    int frame_count;
    double fps, ground;
} tr_take;

typedef struct tr_measuring { // input of all figures
    tr_measure_def def;
    const tr_stage *stage;
    const tr_result *result;
    tr_take out, source;
} tr_measuring;

// Both takes of a stage and its result; false when out of memory. Call tr_measuring_end in any case.
bool tr_measuring_begin( tr_measuring *m, const tr_stage *stage, const tr_result *result );
void tr_measuring_end( tr_measuring *m );

static inline vec3 tr_performer_at( const tr_performer *performer, int frame, int joint )
{
    return performer->world->positions[(size_t)frame * performer->world->joint_count + joint];
}

// Joint of the source performer that drives `joint`, -1 for none.
static inline int tr_performer_source( const tr_performer *performer, int joint )
{
    return performer->map != NULL ? performer->map[joint] : joint;
}

// Factor from a length of `performer` to one of `source`: h_source / h.
double tr_performer_rescale( const tr_performer *performer, const tr_performer *source );
// Index of the source performer's capsule around the same bone as a capsule of `performer`, -1 for none.
int tr_performer_capsule( const tr_performer *performer, const tr_capsule *capsule,
                          const tr_performer *source );

// --------------------------------------------------------------------------------------------- figures

typedef struct tr_figures { // in the order of the metric's fields
    double values[TR_METRIC_FIELDS];
    bool null[TR_METRIC_FIELDS];
    bool absent[TR_METRIC_FIELDS]; // an optional field without data in this scene: not reported at all
    const char *reason;            // why something is null
    bool placed;                   // it is worst at:
    int who, joint, frame;         // performer and joint; from performer_count on a prop; frame of the take
} tr_figures;

// Notes the place of the worst value; `joint` of the take's own skeleton.
static inline void tr_figures_place( tr_figures *figures, int who, int joint, int frame )
{
    figures->placed = true;
    figures->who = who;
    figures->joint = joint;
    figures->frame = frame;
}
void tr_figures_null( tr_figures *figures, const char *reason ); // all of them

// One metric on one take. False only when out of memory.
typedef bool tr_metric_function( const tr_measuring *m, const tr_take *take, tr_figures *figures );

typedef struct tr_samples { // a growing list of values
    double *values;
    int count, capacity;
} tr_samples;

bool tr_samples_add( tr_samples *samples, double value );
// max, p95 and mean into the first three fields, times `unit`; null with `reason` when there are none. Frees
// the list.
void tr_samples_report( tr_samples *samples, double unit, const char *reason, tr_figures *figures );

// measure/motion.c: single bodies
tr_metric_function tr_measure_bone_length, tr_measure_foot_skate, tr_measure_sole_tilt,
    tr_measure_ground_penetration, tr_measure_jerk, tr_measure_acceleration, tr_measure_rotation_spike,
    tr_measure_pose, tr_measure_identity;
// Horizontal speed of a joint over 0.1 s from frame `begin` on, moved so that it lies within the contact, in
// m/s; over all of a shorter contact. Between frames places are interpolated.
double tr_skate_speed( const tr_measure_def *def, const tr_take *take, const tr_performer *performer,
                       int joint, const tr_contact *contact, double begin );
double tr_skate_span( const tr_measure_def *def, const tr_take *take ); // frames
// measure/spikes.c: joints and props against their own source
tr_metric_function tr_measure_prop_acceleration;
// The worst joint's largest acceleration over its own largest in the source, into one field, and its place.
void tr_measure_own_acceleration( const tr_measuring *m, const tr_take *take, tr_figures *figures, int field,
                                  double *frames );
// measure/bend.c: bends of trunks, and of parts against what they hang on
tr_metric_function tr_measure_bend;
// measure/ranges.c: joints beyond what a person can do
tr_metric_function tr_measure_ranges;
// measure/stance.c: leaning and crouching
tr_metric_function tr_measure_balance, tr_measure_hip_height;
// measure/gaps.c: hands, feet and heads that are near others
tr_metric_function tr_measure_closeness;
// measure/contact.c: bodies against each other and against props
tr_metric_function tr_measure_inter_penetration, tr_measure_self_penetration, tr_measure_prop_penetration,
    tr_measure_contact_f1;
// measure/environment.c: bodies against obstacles
tr_metric_function tr_measure_environment_penetration;
// measure/mesh.c: relative positions of all bodies
tr_metric_function tr_measure_laplacian;
// measure/writhe.c: how limbs wind around each other
tr_metric_function tr_measure_writhe;
// measure/passes.c: bones that go through each other
tr_metric_function tr_measure_pass_through;
// measure/rules.c: residuals of constraints
tr_metric_function tr_measure_contact_error, tr_measure_relative_error;
// measure/examples.c: bodies that move by examples
tr_metric_function tr_measure_example_error, tr_measure_part_direction, tr_measure_unlike;
// measure/edit.c: effects of layers
tr_metric_function tr_measure_edit_handle, tr_measure_edit_leak;

// ----------------------------------------------------------------------------------------------- parts

typedef enum tr_part {
    TR_PART_TRUNK,
    TR_PART_HEAD, // and neck
    TR_PART_ARM,  // shoulder and elbow
    TR_PART_HAND,
    TR_PART_LEG, // hip and knee
    TR_PART_FOOT,
    TR_PART_OTHER, // fingers, toes, tails, …
    TR_PARTS
} tr_part;

tr_part tr_part_of( tr_role role );
// Rotations of the source as a performer's body shows them, local or of the world, [frame_count *
// joint_count]. NULL when out of memory; to be freed.
quat *tr_shown_rotations( const tr_performer *performer, const tr_performer *source, bool local );

// Scans of a whole take that give the worst value of each frame as well. `frames` [frame_count] is raised to
// it, where it is not NULL. False when out of memory.

typedef struct tr_bend_scan {
    tr_samples parts[TR_PARTS]; // radians: the worst joint of each performer, part and frame
} tr_bend_scan;
// `frames` is of trunks, heads, hands and feet alone.
bool tr_scan_bends( const tr_measuring *m, const tr_take *take, tr_bend_scan *scan, double *frames );
void tr_bend_scan_free( tr_bend_scan *scan );

typedef struct tr_range_scan {
    double most[TR_PARTS]; // radians
    bool any[TR_PARTS];    // some joint of that part has a range
    double beyond, count;  // performers' frames with a joint beyond its range, and all
    int who, joint, frame; // where the largest is
} tr_range_scan;
bool tr_scan_ranges( const tr_measuring *m, const tr_take *take, tr_range_scan *scan, double *frames );

// Metres by which centres of mass are farther from the support than in the source.
bool tr_scan_balance( const tr_measuring *m, const tr_take *take, tr_samples *samples, tr_figures *figures,
                      double *frames );
// Passes of bones: fields of the figures as in the table; `frames` counts those on the way to each frame.
bool tr_scan_passes( const tr_measuring *m, const tr_take *take, tr_figures *figures, double *frames );
// Metres by which gaps differ from the source's.
bool tr_scan_gaps( const tr_measuring *m, const tr_take *take, tr_samples *samples, tr_figures *figures,
                   double *frames );

// ------------------------------------------------------------------------------------------- closeness
// Capsules that come near each other at a frame. Shells are numbered: those of the first performer, of the
// second, …, then the props, then the obstacles.

typedef struct tr_closeness {
    struct tr_shell { // a capsule in the world and the box around it
        vec3 a, b, low, high;
        double radius;
    } * shells;             // [shell_count]
    int *first;             // [performer_count + 1] index of each performer's first shell
    struct tr_shell *whole; // [performer_count] boxes around performers
    int shell_count;
    // Working memory.
    tr_box_tree tree;
    tr_box *boxes; // [performer_count]
    int *near;     // [performer_count]
} tr_closeness;

typedef struct tr_close_pair {
    int a, b;        // shell numbers, a < b; a solid's is shell_count + its index, props first
    double distance; // distance of the surfaces, negative when they overlap
} tr_close_pair;

typedef struct tr_close_pairs {
    tr_close_pair *items;
    int count, capacity;
} tr_close_pairs;

bool tr_closeness_alloc( tr_closeness *closeness, const tr_take *take );
void tr_closeness_free( tr_closeness *closeness );
void tr_closeness_pose( tr_closeness *closeness, const tr_take *take, int frame );
// Each appends the pairs whose surfaces are at most `reach` apart, in a fixed order. False when out of
// memory.
bool tr_closeness_bodies( tr_closeness *closeness, const tr_take *take, double reach, tr_close_pairs *pairs );
bool tr_closeness_props( const tr_closeness *closeness, const tr_take *take, int frame, double reach,
                         tr_close_pairs *pairs );
// Pairs with one solid, which has the number `solid` among props and obstacles.
bool tr_closeness_solid( const tr_closeness *closeness, const tr_take *take, int solid, tr_solid where,
                         double reach, tr_close_pairs *pairs );
// The performer of a shell; for a solid performer_count + its index.
int tr_closeness_owner( const tr_closeness *closeness, const tr_take *take, int shell );
// Removes pairs that may pass through each other at that frame (TR_PAIR_PASS).
void tr_closeness_drop_passes( const tr_closeness *closeness, const tr_stage *stage, const tr_take *take,
                               int frame, tr_close_pairs *pairs );
// Pairs of capsules of one body that count for self penetration, as capsule indices of the body.
bool tr_closeness_self_candidates( const tr_skeleton *skeleton, const tr_body *body, tr_close_pairs *pairs );
// The pairs among `candidates` of a performer whose surfaces are at most `reach` apart.
bool tr_closeness_self( const tr_closeness *closeness, int performer, const tr_close_pairs *candidates,
                        double reach, tr_close_pairs *pairs );

#endif
