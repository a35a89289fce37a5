// Means and envelopes over a window of frames.
#include "math/math.h"

#include <stdlib.h>

vec3 tr_smooth_mean( const vec3 *values, int count, int frame, int span )
{
    vec3 sum = v3_zero;
    double weights = 0;
    for ( int f = frame < span ? 0 : frame - span; f <= frame + span && f < count; ++f ) {
        double weight = tr_fade( abs( f - frame ), span );
        sum = v3_mad( sum, weight, values[f] );
        weights += weight;
    }
    return v3_scale( 1.0 / weights, sum );
}

// The mean of a moving maximum over the same window is nowhere less than the values.
void tr_smooth_from_above( double *values, int count, int span, bool fades, double *most )
{
    for ( int i = 0; i < count; ++i ) {
        most[i] = 0;
        for ( int k = i - span; k <= i + span; ++k )
            if ( k >= 0 && k < count )
                most[i] = fmax( most[i], values[k] );
    }
    for ( int i = 0; i < count; ++i ) {
        values[i] = 0;
        for ( int k = i - span; k <= i + span; ++k ) {
            int at = k < 0 ? 0 : k < count ? k : count - 1;
            values[i] += ( at == k || !fades ? most[at] : 0 ) / ( 2 * span + 1 );
        }
    }
}
