// Curves over frames: pentadiagonal L D Lᵀ. See solve.h for what is minimised.
#include "solve/solve.h"

#include <math.h>

// Whether the second difference around a frame counts: its three frames lie in the clip, or beyond an end
// that is not free.
static bool bends_at( const tr_chain_def *def, int middle )
{
    return !( def->free_start && middle < 1 ) && !( def->free_end && middle > def->frame_count - 2 );
}

static bool is_held( const tr_chain_def *def, int frame )
{
    return frame < def->frame_count && def->held != NULL && def->held[frame];
}

static double slope_after( const tr_chain_def *def, int frame )
{
    return def->slope != NULL && frame >= 0 && frame + 1 < def->frame_count ? def->slope[frame] : 0;
}

void tr_chain_factor( const tr_chain_def *def, tr_chain *factor )
{
    double least = INFINITY;
    for ( int f = 0; f < def->frame_count; ++f )
        least = fmin( least, def->weight[f] );
    for ( int f = 0; f < def->frame_count; ++f ) {
        double pivot = def->weight[f], near = 0, far = 0;
        for ( int middle = f - 1; middle <= f + 1; ++middle ) {
            if ( !bends_at( def, middle ) )
                continue;
            pivot += def->bend * ( middle == f ? 4 : 1 );
            near += middle == f || middle == f + 1 ? -2 * def->bend : 0;
            far += middle == f + 1 ? def->bend : 0;
        }
        pivot += slope_after( def, f - 1 ) + slope_after( def, f );
        near -= slope_after( def, f );
        if ( is_held( def, f ) ) { // whatever is asked for there, the answer is 0
            factor[f] = ( tr_chain ){ .pivot = INFINITY };
            continue;
        }
        const tr_chain *before = f > 0 && !is_held( def, f - 1 ) ? &factor[f - 1] : NULL,
                       *second = f > 1 && !is_held( def, f - 2 ) ? &factor[f - 2] : NULL;
        pivot -= second != NULL ? second->far * second->far * second->pivot : 0;
        pivot -= before != NULL ? before->near * before->near * before->pivot : 0;
        near -= before != NULL ? before->far * before->near * before->pivot : 0;
        pivot = fmax( pivot, least );
        factor[f] = ( tr_chain ){ pivot, is_held( def, f + 1 ) ? 0 : near / pivot,
                                  is_held( def, f + 2 ) ? 0 : far / pivot };
    }
}

// at += by · other, column by column.
static void add( double *restrict at, double by, const double *restrict other, int count )
{
    for ( int c = 0; c < count; ++c )
        at[c] += by * other[c];
}

void tr_chain_solve( const tr_chain *factor, int frame_count, double *d, int column_count )
{
    size_t row = (size_t)column_count;
    for ( int f = 0; f < frame_count; ++f ) {
        double *at = d + (size_t)f * row;
        if ( f > 0 )
            add( at, -factor[f - 1].near, at - row, column_count );
        if ( f > 1 )
            add( at, -factor[f - 2].far, at - 2 * row, column_count );
    }
    for ( int f = frame_count - 1; f >= 0; --f ) {
        double *at = d + (size_t)f * row, scale = 1 / factor[f].pivot;
        for ( int c = 0; c < column_count; ++c )
            at[c] = scale * at[c];
        if ( f + 1 < frame_count )
            add( at, -factor[f].near, at + row, column_count );
        if ( f + 2 < frame_count )
            add( at, -factor[f].far, at + 2 * row, column_count );
    }
}
