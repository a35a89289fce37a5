#include "scenes/kit/follow.h"

#include "math/math.h"

#include <assert.h>

// With y = x − goal the solution is e^(−ζωt) (y₀ C + (v₀ + ζω y₀) S), C = cos(ω_d t), S = sin(ω_d t) / ω_d,
// ω_d = ω √(1 − ζ²). At ζ = 1 these tend to C = 1, S = t.
void tr_follow_step( tr_follow *follow, double goal, double hertz, double damping, double seconds )
{
    assert( hertz > 0 && damping > 0 && damping <= 1 );
    double omega = 2.0 * TR_PI * hertz, decay = damping * omega;
    double wd = omega * sqrt( 1.0 - damping * damping );
    double c = cos( wd * seconds ), s = wd > 1e-9 ? sin( wd * seconds ) / wd : seconds;
    double e = exp( -decay * seconds );
    double y = follow->value - goal, v = follow->velocity;
    follow->value = goal + e * ( y * ( c + decay * s ) + v * s );
    follow->velocity = e * ( v * ( c - decay * s ) - omega * omega * y * s );
}
