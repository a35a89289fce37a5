// tracks: values over time for the built-in scenes. Keys joined by minimum-jerk moves, slow smooth noise for
// breathing and sway, and seeded variation between individuals. Nothing here allocates.
#ifndef TROUPE_KIT_TRACKS_H
#define TROUPE_KIT_TRACKS_H

#include "math/math.h"
#include <stdbool.h>
#include <stdint.h>

#define TR_TRACK_KEYS 96

// ------------------------------------------------------------------------------------------------ tracks
// Between two keys the value follows the quintic with the keys' values and velocities and no acceleration at
// either end: of all such moves the one with the least jerk. The whole is twice continuously differentiable
// and constant before the first and after the last key.

typedef struct tr_track_key {
    double time; // seconds
    double value;
    double velocity; // when `moving`; otherwise chosen so that the value never overshoots a key
    bool moving;
} tr_track_key;

typedef struct tr_track {
    tr_track_key keys[TR_TRACK_KEYS]; // times rise strictly
    int count;
} tr_track;

void tr_track_add( tr_track *track, double time, double value );
void tr_track_add_moving( tr_track *track, double time, double value, double velocity );
double tr_track_at( const tr_track *track, double time );

typedef struct tr_track3 {
    tr_track x, y, z;
} tr_track3;

void tr_track3_add( tr_track3 *track, double time, vec3 value );
vec3 tr_track3_at( const tr_track3 *track, double time );

// 0 outside, 1 between `in` and `out`, with minimum-jerk ramps of `rise` seconds before and `fall` after.
double tr_pulse( double time, double in, double out, double rise, double fall );

// ----------------------------------------------------------------------------------------------- chance
// The same numbers on every machine and in any order of asking.

double tr_chance( uint64_t seed, uint64_t index ); // uniform in [0, 1)
double tr_chance_between( uint64_t seed, uint64_t index, double low, double high );
// Smooth in time, mean 0, within [-1, 1], moving up and down about `hertz` times per second.
double tr_noise( uint64_t seed, double time, double hertz );

#endif
