#include "math/math.h"

// The mean of a moving maximum over as many frames is nowhere less than what it is taken of.
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
