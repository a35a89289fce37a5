// Shared by footing.c and stances.c.
#ifndef TROUPE_STAGE_FOOTING_H
#define TROUPE_STAGE_FOOTING_H

#include "stage/private.h"

typedef struct tr_placed_stance { // a stance of a footing
    tr_stance span;
    double ease_in, ease_out; // frames beside it
    vec3 shift;               // without drift
    vec3 *drift;              // [frame_count], NULL: none
    double lift;              // lift of the body that stands on this foot, see tr_actor
    double onto;              // metres: height of a box that the source does not have; not in the shift
} tr_placed_stance;

typedef struct tr_footing_work {
    tr_stage *stage;
    int actor;
    int *begin, *by_actor; // rules that name each actor: tr_rules_by_actor
    const int *mine;       // [mine_count] those of this one
    int mine_count;
    tr_footing *footing;
    tr_rule **rules; // [rule_count] of this foot, by first frame
    int rule_count;
    int held_by;      // foot of another shape: the only joint whose rules hold it; -1: any
    tr_pose foot;     // [joint_count] scratch for one
    tr_world copied;  // the actor as it copies the source, where their numbers of legs differ; else empty
    tr_stance *spans; // scratch: [rule_count of the stage]
    tr_placed_stance *stances; // [stance_count] in order of time
    int stance_count;
    double *lift,
        *weight; // [frame_count] of the actor's feet so far, sums; NULL: the scene has but its floor
} tr_footing_work;

bool tr_footing_is_foot( const tr_footing_work *w ); // false: a hand or another part
// From the rules of a foot to its stances and their eases.
void tr_footing_stances( tr_footing_work *w );
// Where a stance is on the stage: its shift, and the floors of source and target.
void tr_stance_put( tr_footing_work *w, tr_placed_stance *s );
// Adds the rise onto such boxes to the shifts.
void tr_stances_climb( tr_footing_work *w );

#endif
