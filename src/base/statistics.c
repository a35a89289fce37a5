#include "base/base.h"

#include <math.h>
#include <stdlib.h>

static int ascending( const void *a, const void *b )
{
    double x = *(const double *)a, y = *(const double *)b;
    return ( x > y ) - ( x < y );
}

tr_spread tr_spread_of( double *values, int count )
{
    tr_spread spread = { .count = count, .worst = -1 };
    if ( count == 0 )
        return spread;
    double sum = 0;
    for ( int i = 0; i < count; ++i ) {
        sum += values[i];
        if ( spread.worst < 0 || values[i] > spread.max ) {
            spread.max = values[i];
            spread.worst = i;
        }
    }
    qsort( values, (size_t)count, sizeof *values, ascending );
    spread.mean = sum / count;
    spread.p95 = values[tr_int_clamped( ceil( 0.95 * count ), 1, count ) - 1];
    return spread;
}
