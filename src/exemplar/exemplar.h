// exemplar: poses of one body from poses of another, by examples. Knows skeletons, no scenes.
//
// A pair is a pose of the source and the pose of the target that goes with it. A pose P of the source gets
// weights w(P) over the pairs, and the target's joints blend their rotations by these weights. Parts are
// chains of the target with weights of their own, from the direction and extension of a chain of the source.
// docs/algorithms/exemplars.md has the derivation.
//
// Poses of the source are world transforms of its joints. Rotations of the target are local; that of its root
// is seen from where the source's hips face: a target that faces +Z looks where the source does.
#ifndef TROUPE_EXEMPLAR_H
#define TROUPE_EXEMPLAR_H

#include "motion/motion.h"

#define TR_EXEMPLAR_PAIRS 64 // most pairs
#define TR_EXEMPLAR_PARTS 16 // most parts
#define TR_EXEMPLAR_CHAIN 64 // most joints of a part's chain in the target

typedef struct tr_exemplar_def {
    double linear; // the kernel's linear term, as a share; it continues beyond the examples
    double reach;  // the kernel's least length, in mean distances from examples to their nearest neighbours
    int reaches;   // lengths to choose from, each twice the one before: see choose_kriging
    double look;   // leg lengths: the direction of the face counts as much as a bone of this length
    double part_body;   // how much the whole pose counts in the weights of a part: tells apart pairs in which
                        // the part's chain is the same
    double most_turn;   // times the largest turn of a joint from its mean in a pair: its turn approaches this
                        // bound, from half-way between 1 and it on
    double smooth;      // seconds: weights are smoothed in time over about three times as much; 0: not at all
    double lead_back;   // seconds: as smooth is what brings weights back onto the pairs in their frames
    double same;        // √ leg lengths: poses of the source that are nearer than this are equal
    double same_turn;   // radians: poses of the target whose joints differ by less are equal
    int turn_joints;    // joints of a chain that share its residual turn
    int turn_passes;    // passes of sharing, before the first joint takes what is left
    int suggest_frames; // frames of a clip that are looked at when frames are suggested, evenly spread
    int suggest_passes; // passes that exchange one suggested frame after the other for a more useful one;
                        // three or four are enough
    double suggest_gain; // times as useful: less is not worth an exchange
} tr_exemplar_def;

tr_exemplar_def tr_default_exemplar_def( void );

typedef struct tr_exemplar_pair {
    const char *name;   // for messages; borrowed while building
    tr_pose source;     // [source joint_count] in the world; borrowed while building
    const quat *target; // [target joint_count] local; borrowed while building
} tr_exemplar_pair;

typedef struct tr_exemplar_part {
    const char *name; // for messages; borrowed while building
    int source[2];    // first and last joint of a chain of the source
    int target[2];    // and of the target, which it drives
    double aim;       // 0: directions of the examples, exactly at them … 1: exactly the source's direction
} tr_exemplar_part;

typedef struct tr_exemplar_job {
    const tr_skeleton *source, *target; // classified; borrowed for the life of the exemplar
    const tr_exemplar_pair *pairs;      // [pair_count] 2 … TR_EXEMPLAR_PAIRS
    int pair_count;
    const tr_exemplar_part *parts; // [part_count] at most TR_EXEMPLAR_PARTS
    int part_count;
} tr_exemplar_job;

typedef struct tr_exemplar tr_exemplar;

// NULL on failure. Refused are: fewer than two pairs or too many, poses that are not finite, pairs with equal
// sources, chains that are no chains, parts that share joints.
tr_exemplar *tr_exemplar_create( const tr_exemplar_def *def, const tr_exemplar_job *job, tr_error *error );
void tr_exemplar_destroy( tr_exemplar *exemplar ); // NULL is fine

// Where the source's hips face: turns +Z there, about the vertical.
quat tr_exemplar_facing( const tr_exemplar *exemplar, tr_pose source );
quat tr_exemplar_faces( const tr_skeleton *source, tr_pose pose ); // the same, of a classified skeleton
// The pose of the target. local: [target joint_count]. `unlike` (may be NULL): 0 at examples … 1 like none.
void tr_exemplar_pose( const tr_exemplar *exemplar, tr_pose source, quat *local, double *unlike );
// Weights of the pairs in the whole body (part -1) or in a part: [pair_count], their sum is 1.
void tr_exemplar_weights( const tr_exemplar *exemplar, tr_pose source, int part, double *weights );
// The angle in radians between where a part's chain goes in `local` and where aim 1 wants it.
double tr_exemplar_part_error( const tr_exemplar *exemplar, int part, tr_pose source, const quat *local );

// Poses of all frames, with weights smoothed in time. The frame of a pair keeps its own weights, so it is
// exact. frames [pair_count]: of the pairs within `source`, -1: not in it. local: [frame_count * joint_count]
// of the target. unlike: [frame_count], may be NULL. False when out of memory.
bool tr_exemplar_motion( const tr_exemplar *exemplar, const tr_world *source, double fps, const int *frames,
                         quat *local, double *unlike, tr_error *error );

// How far the other pairs are from a pair when it is left out, in radians, mean over the target's joints.
double tr_exemplar_left_out( const tr_exemplar *exemplar, int pair );

typedef struct tr_exemplar_suggest_job {
    const tr_skeleton *source; // classified
    const tr_world *world;     // a motion of it
    const tr_pose *have;       // [have_count] poses of the source that pairs have
    int have_count;
    const tr_exemplar_part *parts; // [part_count] chains, as tr_exemplar_create takes them
    int part_count;
    const tr_skeleton *target; // skeleton of the parts; NULL where there are none
} tr_exemplar_suggest_job;

// Frames of a motion to make pairs of next, the most useful first: together they lower the uncertainty over
// the whole motion most. Returns how many of `count` were found, -1 when out of memory.
int tr_exemplar_suggest( const tr_exemplar_def *def, const tr_exemplar_suggest_job *job, int *frames,
                         int count, tr_error *error );

#endif
