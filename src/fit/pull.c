// Rules that pull on the end of one limb, merged to one shift.
#include "fit/fit.h"

enum { HARD, SOFT };

void tr_limb_pull_add( tr_limb_pull *pull, const tr_limb_demand *demand )
{
    const double misses[3] = { demand->miss.x, demand->miss.y, demand->miss.z };
    double strength = demand->strength, pulling = demand->hard ? strength : strength * demand->weight;
    for ( int i = 0; i < 3; ++i ) {
        tr_limb_sum *sum = &pull->sums[demand->hard ? HARD : SOFT][i];
        if ( !demand->axis[i] )
            continue;
        sum->shift += pulling * misses[i];
        sum->weight += pulling;
        sum->strongest = fmax( sum->strongest, fmin( pulling, strength ) );
    }
}

// The mean of the shifts, times the strength of the strongest demand.
static double mean_shift( const tr_limb_sum *sum )
{
    return sum->weight > 0 ? sum->strongest / sum->weight * sum->shift : 0;
}

vec3 tr_limb_pull_shift( const tr_limb_pull *pull )
{
    double shift[3];
    for ( int i = 0; i < 3; ++i ) {
        const tr_limb_sum *hard = &pull->sums[HARD][i];
        shift[i] = mean_shift( hard ) + ( 1.0 - hard->strongest ) * mean_shift( &pull->sums[SOFT][i] );
    }
    return v3( shift[0], shift[1], shift[2] );
}
