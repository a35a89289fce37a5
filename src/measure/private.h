// Private to measure: what its files share. docs/metrics.md defines each figure in words.
#ifndef TROUPE_MEASURE_PRIVATE_H
#define TROUPE_MEASURE_PRIVATE_H

#include "measure/measure.h"

// ----------------------------------------------------------------------------------------------- takes
// A take is one performance of the whole cast: the exported motion on the target bodies, or the source on its
// own. Every figure is a function of a take and of the source it is held against, so the source's column is
// the same function with the source held against itself. All pointers are borrowed but for the two arrays.

typedef struct tr_performer {
    const tr_skeleton *skeleton;
    const tr_body *body;
    const tr_world *world;       // [frame_count]
    const tr_clip *clip;         // for the local rotations
    const int *map;              // [joint_count] joint of the source performer, -1 for none; NULL: the same
    const tr_actor *actor;       // whose target body it is, NULL: of none
    const tr_contacts *contacts; // labels, of the source performers only
    double height;               // of the joints in the rest pose, metres
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

typedef struct tr_measuring { // what there is to measure
    const tr_stage *stage;
    const tr_result *result;
    tr_take out, source;
} tr_measuring;

// Both takes of a stage and its result; false when out of memory. To be ended in any case.
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

// What a length of `performer` is to be multiplied with to compare it with one of `source`: h_source / h.
double tr_performer_rescale( const tr_performer *performer, const tr_performer *source );
// Index of the source performer's capsule around the same bone as a capsule of `performer`, -1 for none.
int tr_performer_capsule( const tr_performer *performer, const tr_capsule *capsule,
                          const tr_performer *source );

// --------------------------------------------------------------------------------------------- figures

typedef struct tr_figures { // in the order of the metric's fields
    double values[TR_METRIC_FIELDS];
    bool null[TR_METRIC_FIELDS];
    bool absent[TR_METRIC_FIELDS]; // an optional field the scene has nothing for: not reported at all
    const char *reason;            // why something is null
} tr_figures;

void tr_figures_null( tr_figures *figures, const char *reason ); // all of them

// One metric on one take. False only when out of memory.
typedef bool tr_metric_function( const tr_measuring *m, const tr_take *take, tr_figures *figures );

typedef struct tr_samples { // a growing list of values to take the spread of
    double *values;
    int count, capacity;
} tr_samples;

bool tr_samples_add( tr_samples *samples, double value );
// max, p95 and mean into the first three fields, times `unit`; null with `reason` when there are none. Frees
// the list.
void tr_samples_report( tr_samples *samples, double unit, const char *reason, tr_figures *figures );

// measure/motion.c: one body at a time
tr_metric_function tr_measure_bone_length, tr_measure_foot_skate, tr_measure_sole_tilt,
    tr_measure_ground_penetration, tr_measure_jerk, tr_measure_acceleration, tr_measure_rotation_spike,
    tr_measure_pose, tr_measure_identity;
// measure/bend.c: trunks that buckle
tr_metric_function tr_measure_bend;
// measure/contact.c: bodies against each other and against props
tr_metric_function tr_measure_inter_penetration, tr_measure_self_penetration, tr_measure_prop_penetration,
    tr_measure_contact_f1;
// measure/environment.c: bodies in what stands around
tr_metric_function tr_measure_environment_penetration;
// measure/mesh.c: who stands where to whom
tr_metric_function tr_measure_laplacian;
// measure/writhe.c: how limbs wind around each other
tr_metric_function tr_measure_writhe;
// measure/rules.c: how well constraints are kept
tr_metric_function tr_measure_contact_error, tr_measure_relative_error;
// measure/edit.c: what layers did
tr_metric_function tr_measure_edit_handle, tr_measure_edit_leak;

// ------------------------------------------------------------------------------------------- closeness
// Which capsules come near each other at a frame. Numbered through: those of the first performer, then those
// of the second, …, then the props, then the boxes of the environment.

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
    double distance; // of the surfaces, negative when they overlap
} tr_close_pair;

typedef struct tr_close_pairs {
    tr_close_pair *items;
    int count, capacity;
} tr_close_pairs;

bool tr_closeness_alloc( tr_closeness *closeness, const tr_take *take );
void tr_closeness_free( tr_closeness *closeness );
void tr_closeness_pose( tr_closeness *closeness, const tr_take *take, int frame );
// Each appends the pairs whose surfaces are at most `reach` apart, in a fixed order; false when out of
// memory.
bool tr_closeness_bodies( tr_closeness *closeness, const tr_take *take, double reach, tr_close_pairs *pairs );
bool tr_closeness_props( const tr_closeness *closeness, const tr_take *take, int frame, double reach,
                         tr_close_pairs *pairs );
// Against one solid, which is counted as number `solid` among props and environment.
bool tr_closeness_solid( const tr_closeness *closeness, const tr_take *take, int solid, tr_solid where,
                         double reach, tr_close_pairs *pairs );
// Whose shell it is; a solid's: performer_count + its index.
int tr_closeness_owner( const tr_closeness *closeness, const tr_take *take, int shell );
// Takes out pairs of characters and boxes that the scene lets go through each other at that frame.
void tr_closeness_drop_passes( const tr_closeness *closeness, const tr_stage *stage, const tr_take *take,
                               int frame, tr_close_pairs *pairs );
// Pairs of capsules of one body that a self penetration may be counted for, as capsule indices of the body.
bool tr_closeness_self_candidates( const tr_skeleton *skeleton, const tr_body *body, tr_close_pairs *pairs );
// The pairs among `candidates` of a performer that are that near.
bool tr_closeness_self( const tr_closeness *closeness, int performer, const tr_close_pairs *candidates,
                        double reach, tr_close_pairs *pairs );

#endif
