// Segments that move through each other. Between two moments every end goes straight, so with
//   u = a₁ − a₀,  v = b₀ − a₀,  w = b₁ − a₀
// the volume u · (v × w) is a cubic in time. The lines of both segments meet where it is zero, and go through
// each other where it changes its sign; the segments do if they meet within both.
//
// A cubic has at most two extremes. Before, between and after them it is monotone, and bisection finds the
// zero there, however close two zeros are; nothing is sampled. The volume at a moment is computed from the
// places at that moment alone, and zero counts as positive. So a pass at the very moment between two steps
// is counted in one of them.
#include "geometry/geometry.h"

typedef struct moved { // a segment, in between
    vec3 begin, end;
} moved;

static moved at( const tr_moving_segment *s, double time )
{
    if ( time >= 1 ) // not a + (b − a), which rounds
        return ( moved ){ s->begin[1], s->end[1] };
    return ( moved ){ v3_lerp( s->begin[0], s->begin[1], time ), v3_lerp( s->end[0], s->end[1], time ) };
}

static double triple( vec3 a, vec3 b, vec3 c )
{
    return v3_dot( a, v3_cross( b, c ) );
}

static double volume_at( const tr_moving_segment *a, const tr_moving_segment *b, double time )
{
    moved p = at( a, time ), q = at( b, time );
    return triple( v3_sub( p.end, p.begin ), v3_sub( q.begin, p.begin ), v3_sub( q.end, p.begin ) );
}

// Times strictly between 0 and 1, ascending, at which the volume has an extreme. Returns how many.
static int find_extremes( const tr_moving_segment *a, const tr_moving_segment *b, double times[2] )
{
    moved p = at( a, 0 ), q = at( b, 0 ), r = at( a, 1 ), s = at( b, 1 );
    vec3 u = v3_sub( p.end, p.begin ), v = v3_sub( q.begin, p.begin ), w = v3_sub( q.end, p.begin ),
         du = v3_sub( v3_sub( r.end, r.begin ), u ), dv = v3_sub( v3_sub( s.begin, r.begin ), v ),
         dw = v3_sub( v3_sub( s.end, r.begin ), w );
    double one = triple( du, v, w ) + triple( u, dv, w ) + triple( u, v, dw ),
           two = triple( du, dv, w ) + triple( du, v, dw ) + triple( u, dv, dw ),
           three = triple( du, dv, dw );
    double whole = two * two - 3 * three * one; // of one + 2 two t + 3 three t²
    if ( !( whole > 0 ) )
        return 0;
    double sum = -( two + copysign( sqrt( whole ), two ) ), zeros[2] = { 2, 2 };
    if ( sum != 0 )
        zeros[0] = one / sum;
    if ( three != 0 )
        zeros[1] = sum / ( 3 * three );
    int count = 0;
    for ( int i = 0; i < 2; ++i )
        if ( zeros[i] > 0 && zeros[i] < 1 )
            times[count++] = zeros[i];
    if ( count == 2 && times[0] > times[1] ) {
        double first = times[1];
        times[1] = times[0];
        times[0] = first;
    }
    return count;
}

// Whether the lines of two segments meet within both: the first end of a segment counts, the second does not.
static bool meet_inside( const moved *p, const moved *q )
{
    vec3 u = v3_sub( p->end, p->begin ), v = v3_sub( q->end, q->begin ), apart = v3_sub( q->begin, p->begin ),
         normal = v3_cross( u, v );
    double square = v3_dot( normal, normal ); // 0: parallel lines, which have no place where they meet
    double s = triple( apart, v, normal ), t = triple( apart, u, normal );
    return s >= 0 && s < square && t >= 0 && t < square;
}

tr_passes tr_segments_pass( const tr_moving_segment *a, const tr_moving_segment *b )
{
    enum { HALVINGS = 52 }; // down to the last bit of a time
    double times[4] = { 0 };
    tr_passes passes = { 0, 0 };
    int count = 1 + find_extremes( a, b, times + 1 );
    times[count] = 1;
    for ( int i = 0; i < count; ++i ) {
        double low = times[i], high = times[i + 1];
        bool before = volume_at( a, b, low ) >= 0, after = volume_at( a, b, high ) >= 0;
        if ( before == after )
            continue;
        for ( int n = 0; n < HALVINGS; ++n ) {
            double middle = 0.5 * ( low + high );
            if ( ( volume_at( a, b, middle ) >= 0 ) == before )
                low = middle;
            else
                high = middle;
        }
        moved p = at( a, high ), q = at( b, high );
        if ( !meet_inside( &p, &q ) )
            continue;
        passes.count++;
        passes.turns += before ? -1 : 1;
    }
    return passes;
}
