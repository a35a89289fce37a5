// The plan of the box relay: where people stand, which box is handed over when, and where every box is at any
// time. Gap g lies before person g: person i takes boxes at gap i and gives them at gap i + 1; gap 0 is the
// stack at the start, gap `people` the one at the end. Box b passes gap g at about offset + b · period +
// g · period / 2, so neighbours are half a period apart and boxes two people.
#ifndef TROUPE_BOX_RELAY_H
#define TROUPE_BOX_RELAY_H

#include "base/base.h"
#include "math/math.h"

typedef struct relay {
    int people;
    double fps, duration; // seconds
    int frame_count;
    int first_box, last_box; // boxes that are seen; 0 is the first one to leave the stack in sight
} relay;

#define RELAY_PERIOD 4.2  // seconds between two boxes at one place
#define RELAY_HOLD   0.36 // seconds during which two people hold a box
#define RELAY_REACH  0.67 // from a person at either end to its stack

extern const vec3 relay_box_size;
extern const vec3 relay_table_size;

relay relay_plan( int people );
uint64_t relay_person_seed( int person );
rigid relay_place( const relay *r, int person );    // the person's frame: +Z ahead, +X to the next one
vec3 relay_gap( const relay *r, int gap, int box ); // centre of the box when it is handed over there
double relay_time( int gap, int box );
rigid relay_stack( const relay *r, int gap ); // ground below the stack of gap 0 or `people`
rigid relay_box( const relay *r, int box, double time );

// Where a hand lies on a box its person holds, in the box's frame, and how it is turned there. The left hand
// is high and the right one low, so the four hands of giver and receiver have each its own place.
rigid relay_grip( int person, int side );

#endif
