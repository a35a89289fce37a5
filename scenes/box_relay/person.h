// One person of the box relay: where pelvis, chest, eyes, hands and feet shall be at a time.
#ifndef TROUPE_BOX_RELAY_PERSON_H
#define TROUPE_BOX_RELAY_PERSON_H

#include "scenes/box_relay/relay.h"
#include "scenes/kit/kit.h"

// What the relay asks of one person, worked out once: when it turns, steps and looks.
typedef struct relay_person {
    const relay *plan;
    int index;
    int first_box, last_box; // boxes it handles in sight, and one before and after
    rigid place, inverse;
    tr_track pelvis_turn, chest_turn; // radians, 0 = straight ahead, left positive
    tr_track weight;                  // -1 = on the right foot, 1 = on the left
    tr_track foot_x[2], foot_z[2], foot_heading[2], foot_lift[2], foot_roll[2];
    tr_track3 look;
} relay_person;

void relay_person_plan( relay_person *out, const relay *plan, int index );
tr_human_targets relay_person_at( const relay_person *person, double time );

#endif
