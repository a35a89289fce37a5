#include "scenes/kit/tracks.h"

#include <assert.h>

static void add_key( tr_track *track, tr_track_key key )
{
    assert( track->count < TR_TRACK_KEYS );
    assert( track->count == 0 || key.time > track->keys[track->count - 1].time );
    track->keys[track->count++] = key;
}

void tr_track_add( tr_track *track, double time, double value )
{
    add_key( track, ( tr_track_key ){ .time = time, .value = value } );
}

void tr_track_add_moving( tr_track *track, double time, double value, double velocity )
{
    add_key( track, ( tr_track_key ){ time, value, velocity, true } );
}

// Harmonic mean of the slopes on both sides when they agree in sign, else 0: a key that is a peak, a valley
// or the edge of a plateau is a place of rest, and the value stays between its keys.
static double velocity_at( const tr_track *track, int i )
{
    const tr_track_key *k = &track->keys[i];
    if ( k->moving )
        return k->velocity;
    if ( i == 0 || i == track->count - 1 )
        return 0.0;
    double before = ( k[0].value - k[-1].value ) / ( k[0].time - k[-1].time );
    double after = ( k[1].value - k[0].value ) / ( k[1].time - k[0].time );
    return before * after > 0.0 ? 2.0 * before * after / ( before + after ) : 0.0;
}

// p(u) = a + (b - a)(10u³ - 15u⁴ + 6u⁵) + h va (u - 6u³ + 8u⁴ - 3u⁵) + h vb (-4u³ + 7u⁴ - 3u⁵), u in [0, 1]:
// values a, b, velocities va, vb, accelerations 0 at the two ends of a span of h seconds.
static double quintic( double a, double va, double b, double vb, double h, double u )
{
    double u3 = u * u * u;
    return a + ( b - a ) * smooth_step5( u ) + h * va * ( u + u3 * ( -6.0 + u * ( 8.0 - 3.0 * u ) ) ) +
           h * vb * u3 * ( -4.0 + u * ( 7.0 - 3.0 * u ) );
}

double tr_track_at( const tr_track *track, double time )
{
    int last = track->count - 1;
    assert( last >= 0 );
    if ( time <= track->keys[0].time )
        return track->keys[0].value;
    if ( time >= track->keys[last].time )
        return track->keys[last].value;
    int i = 0;
    while ( track->keys[i + 1].time <= time )
        ++i;
    const tr_track_key *a = &track->keys[i], *b = a + 1;
    double h = b->time - a->time;
    return quintic( a->value, velocity_at( track, i ), b->value, velocity_at( track, i + 1 ), h,
                    ( time - a->time ) / h );
}

void tr_track3_add( tr_track3 *track, double time, vec3 value )
{
    tr_track_add( &track->x, time, value.x );
    tr_track_add( &track->y, time, value.y );
    tr_track_add( &track->z, time, value.z );
}

vec3 tr_track3_at( const tr_track3 *track, double time )
{
    return v3( tr_track_at( &track->x, time ), tr_track_at( &track->y, time ),
               tr_track_at( &track->z, time ) );
}

double tr_pulse( double time, double in, double out, double rise, double fall )
{
    return smooth_step5( ( time - in + rise ) / rise ) * smooth_step5( ( out + fall - time ) / fall );
}

// The finaliser of splitmix64 (Steele, Lea and Flood 2014): every bit of the input moves half of the output.
static uint64_t scramble( uint64_t x )
{
    x += 0x9e3779b97f4a7c15u;
    x = ( x ^ ( x >> 30 ) ) * 0xbf58476d1ce4e5b9u;
    x = ( x ^ ( x >> 27 ) ) * 0x94d049bb133111ebu;
    return x ^ ( x >> 31 );
}

double tr_chance( uint64_t seed, uint64_t index )
{
    return (double)( scramble( scramble( seed ) + index ) >> 11 ) / (double)( 1ull << 53 );
}

double tr_chance_between( uint64_t seed, uint64_t index, double low, double high )
{
    return lerpd( low, high, tr_chance( seed, index ) );
}

// Three sines whose frequencies have no common measure, so the sum does not seem to repeat.
double tr_noise( uint64_t seed, double time, double hertz )
{
    static const double ratio[3] = { 1.0, 0.6180339887, 1.7320508076 }, weight[3] = { 0.5, 0.3, 0.2 };
    double sum = 0.0;
    for ( int i = 0; i < 3; ++i )
        sum += weight[i] * sin( 2.0 * TR_PI * ( hertz * ratio[i] * time + tr_chance( seed, (uint64_t)i ) ) );
    return sum;
}
