// Private to exemplar: features of poses, kriging weights, blends.
#ifndef TROUPE_EXEMPLAR_PRIVATE_H
#define TROUPE_EXEMPLAR_PRIVATE_H

#include "exemplar/exemplar.h"

// ----------------------------------------------------------------------------------------------- features
// What poses of the source are compared by: directions of its bones, seen from where the hips face, and where
// the face looks. Bones count by their length: the square distance of two poses is the sum over the bones of
// length × square difference of direction, in leg lengths. Continuous everywhere and as smooth as the motion;
// twists of limbs do not count.

#define TR_FEATURE_JOINTS 40
#define TR_FEATURES       ( 3 * TR_FEATURE_JOINTS + 3 ) // most numbers of a pose

typedef struct tr_features {
    int joints[TR_FEATURE_JOINTS], from[TR_FEATURE_JOINTS]; // ends of bones; from 0: the middle of the hips
    double share[TR_FEATURE_JOINTS];                        // 1 : √( leg length × length of the bone )
    int joint_count;
    int thighs[2]; // left and right, -1: the root gives the facing direction
    int head;      // -1: none
    quat root_rest, head_rest;
    double look;
    int count; // number of features
} tr_features;

void tr_features_build( tr_features *out, const tr_skeleton *source, double look );
quat tr_features_facing( const tr_features *features, tr_pose pose );
void tr_features_of( const tr_features *features, tr_pose pose, double *out ); // [features->count]

// ---------------------------------------------------------------------------------------------- kriging
// Weights of ordinary kriging, w(P) = K⁻¹ ( k(P) + μ 1 ) with μ such that they sum to 1. K holds the kernel
//
//   k(P, Q) = linear ⟨P − m, Q − m⟩ / ℓ² + Matérn 3/2( ‖P − Q‖ / ℓ ),   m mean of the examples,
//
// between examples, k(P) the kernel between P and them. At an example the weights are 1 for it and 0 for the
// others. The linear term goes on beyond the examples. The caller gives distances and products, and
// may add up several features.

typedef struct tr_kriging {
    int count;
    double length, linear;
    double *inverse;     // [count²] K⁻¹
    double *inverse_sum; // [count] K⁻¹ 1
    double one;          // 1ᵀ K⁻¹ 1
} tr_kriging;

static inline double tr_kernel( const tr_kriging *k, double square_distance, double product )
{
    double r = sqrt( 3.0 * square_distance ) / k->length;
    return k->linear * product / ( k->length * k->length ) + ( 1.0 + r ) * exp( -r );
}

// square_distances and products: [count²] between examples.
// reach: length of the kernel, in mean distances of examples to their nearest one.
bool tr_kriging_build( tr_kriging *out, int count, const double *square_distances, const double *products,
                       double linear, double reach, tr_error *error );
void tr_kriging_free( tr_kriging *kriging );
// kernels [count]: between the examples and P. Fills weights [count]; returns the kriging variance, 0 at
// examples, for the kernel `own` of P with itself.
double tr_kriging_weigh( const tr_kriging *kriging, const double *kernels, double own, double *weights );

// --------------------------------------------------------------------------------------------- exemplar

typedef struct tr_chain_part {
    tr_exemplar_part def;          // its name is not kept
    int joints[TR_EXEMPLAR_CHAIN]; // [joint_count] of the target, first to last
    int joint_count;
    double length;    // length of the source's chain, along its bones
    quat align;       // turns the source's directions onto the target's, best over the pairs
    double *values;   // [4 * pair_count] direction and extension of the source's chain
    double mean[4];   // mean of the values
    vec3 *directions; // [pair_count] of the target's chain, seen from where it faces
    tr_kriging kriging;
} tr_chain_part;

struct tr_exemplar {
    tr_exemplar_def def;
    const tr_skeleton *source, *target;
    int pair_count, part_count;
    tr_features features;
    double *values; // [pair_count * features.count]
    double *mean;   // [features.count] of values
    tr_kriging kriging;
    tr_kriging doubt; // with the shortest length: measures how unlike the examples a pose is
    quat *targets;    // [pair_count * target joint_count] local rotations
    quat *centre;     // [target joint_count] their means
    vec3 *turns;      // [pair_count * target joint_count] rotation vectors from the mean
    double *ranges;   // [target joint_count] length of the longest of them
    int *part_of;     // [target joint_count] part that drives the joint, -1: the whole body
    tr_chain_part parts[TR_EXEMPLAR_PARTS];
};

// A pose of the source as weights see it: what is computed once for all parts.
typedef struct tr_sight {
    quat facing;
    double distances[TR_EXEMPLAR_PAIRS]; // [pair_count] squares, to the pairs' poses
    double products[TR_EXEMPLAR_PAIRS];  // [pair_count] with them, about their mean
    double square;                       // product with itself
} tr_sight;

void tr_sight_build( const tr_exemplar *exemplar, tr_pose source, tr_sight *out );
// Weights of the whole body (part -1) or a part.
void tr_sight_weigh( const tr_exemplar *exemplar, const tr_sight *sight, tr_pose source, int part,
                     double *weights );
// Joints blended by weights [( 1 + part_count ) * pair_count], and chains of parts turned.
void tr_exemplar_blend( const tr_exemplar *exemplar, const tr_sight *sight, tr_pose source,
                        const double *weights, quat *local );

// parts.c
bool tr_part_start( tr_exemplar *exemplar, int part, const tr_exemplar_job *job, tr_error *error );
bool tr_part_build( tr_exemplar *exemplar, int part, const tr_exemplar_job *job, tr_error *error );
void tr_part_free( tr_chain_part *part );
// Direction and extension of the source's chain, seen from where the hips face: [4].
void tr_part_values( const tr_chain_part *part, tr_pose source, quat facing, double *out );
// Turns the chain in `local` onto where it shall go; weights [pair_count] of the part.
void tr_part_turn( const tr_exemplar *exemplar, int part, const double *values, const double *weights,
                   quat *local );
// Direction of the target's chain in `local`, seen from where the body faces; zero where it has none.
vec3 tr_part_direction( const tr_exemplar *exemplar, const tr_chain_part *part, const quat *local );

#endif
