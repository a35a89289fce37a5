// stepper: a person who walks, steps and stands along a path: feet from a gait, the body above them, arms
// that swing. What a scene is about (hands on partners, bends, looks) is put on top of the targets it gives.
#ifndef TROUPE_KIT_STEPPER_H
#define TROUPE_KIT_STEPPER_H

#include "scenes/kit/gait.h"
#include "scenes/kit/human.h"

typedef struct tr_stepper_def {
    tr_gait_path *path; // path of the ground under the pelvis
    const void *context;
    double begin, end;  // seconds in which it is asked
    double cycle;       // seconds of two steps
    double start_phase; // in cycles; 0.5 begins with the other foot
    double width;       // from the middle to either foot
    double toes_out;    // radians
    double lift;        // height of a step, metres
    double roll;        // angle by which the heel is up when a foot leaves the ground in full stride
    double min_step;    // metres a foot must be off to step at all
    unsigned seed;      // seed of the differences between people
} tr_stepper_def;

tr_stepper_def tr_default_stepper_def( void ); // an adult at an easy pace; no path

typedef struct tr_stepper {
    tr_stepper_def def;
    tr_gait gait;
} tr_stepper;

// `out` and the path's context must stay where they are. False when out of memory.
bool tr_stepper_plan( tr_stepper *out, const tr_stepper_def *def, tr_error *error );
void tr_stepper_free( tr_stepper *stepper );

rigid tr_stepper_body( const tr_stepper *stepper, double time ); // frame on the ground: +Z ahead
// Feet alone; the rest of `targets` is left as it is.
void tr_stepper_feet( const tr_stepper *stepper, double time, tr_human_targets *targets );
// The whole person: pelvis over the feet, chest against the pelvis' turn, eyes ahead, arms hanging and
// swinging.
tr_human_targets tr_stepper_at( const tr_stepper *stepper, double time );

#endif
