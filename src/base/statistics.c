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

double tr_quantile_of( double *values, int count, double share )
{
    if ( count == 0 )
        return 0;
    qsort( values, (size_t)count, sizeof *values, ascending );
    double at = share * ( count - 1 ), low = floor( at );
    int first = tr_int_clamped( low, 0, count - 1 ), next = first + 1 < count ? first + 1 : first;
    return values[first] + ( at - low ) * ( values[next] - values[first] );
}
