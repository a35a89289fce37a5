// Time as a monotone function of time. Between two keys, with chord Δ = (y₁ − y₀)/(x₁ − x₀), rates d₀, d₁ at
// the keys and u the fraction of the way (Gregory and Delbourgo 1982):
//
//   y = y₀ + (y₁ − y₀) [Δ u² + d₀ u (1 − u)] / [Δ + (d₀ + d₁ − 2Δ) u (1 − u)]
//
// For positive Δ, d₀ and d₁ this increases everywhere; given y, u solves a quadratic equation. A rate is the
// one of its two chords that is nearer to 1, or 1 where they lie on either side of it. So a stretch of time
// that keeps its length keeps all its frames, and the first and the last key hand over to time as it was.
#include "cage/cage.h"

#include <string.h>

static double chord( const tr_retime *map, int k )
{
    return ( map->to[k + 1] - map->to[k] ) / ( map->from[k + 1] - map->from[k] );
}

static void find_rates( tr_retime *map )
{
    for ( int k = 0; k < map->count; ++k ) {
        map->rates[k] = 1;
        if ( k == 0 || k == map->count - 1 )
            continue;
        double before = chord( map, k - 1 ), after = chord( map, k );
        if ( before > 1 && after > 1 )
            map->rates[k] = fmin( before, after );
        if ( before < 1 && after < 1 )
            map->rates[k] = fmax( before, after );
    }
}

static bool increases( const double *times, int count )
{
    for ( int k = 0; k < count; ++k )
        if ( !isfinite( times[k] ) || ( k > 0 && !( times[k] > times[k - 1] ) ) )
            return false;
    return true;
}

bool tr_retime_build( tr_retime *out, const double *from, const double *to, int count, tr_error *error )
{
    *out = ( tr_retime ){ 0 };
    if ( count < 1 || !increases( from, count ) || !increases( to, count ) )
        return tr_error_set( error, "a retiming needs keys whose times increase, before and after" );
    size_t n = (size_t)count;
    out->count = count;
    out->from = tr_alloc( n, sizeof( double ) );
    out->to = tr_alloc( n, sizeof( double ) );
    out->rates = tr_alloc( n, sizeof( double ) );
    if ( out->from == NULL || out->to == NULL || out->rates == NULL ) {
        tr_retime_free( out );
        return tr_error_memory( error );
    }
    memcpy( out->from, from, n * sizeof( double ) );
    memcpy( out->to, to, n * sizeof( double ) );
    find_rates( out );
    return true;
}

void tr_retime_free( tr_retime *map )
{
    tr_free( map->from );
    tr_free( map->to );
    tr_free( map->rates );
    *map = ( tr_retime ){ 0 };
}

// The stretch times[k] ≤ t < times[k + 1], -1 before the first and after the last.
static int stretch_of( const double *times, int count, double t )
{
    if ( !( t >= times[0] && t < times[count - 1] ) )
        return -1;
    int low = 0, high = count - 1;
    while ( high - low > 1 ) {
        int middle = ( low + high ) / 2;
        *( times[middle] <= t ? &low : &high ) = middle;
    }
    return low;
}

static double outside( const double *from, const double *to, int count, double t )
{
    int end = t < from[0] ? 0 : count - 1;
    return to[end] + ( t - from[end] );
}

double tr_retime_map( const tr_retime *map, double from )
{
    int k = stretch_of( map->from, map->count, from );
    if ( k < 0 )
        return outside( map->from, map->to, map->count, from );
    double d = chord( map, k ), d0 = map->rates[k], d1 = map->rates[k + 1];
    double u = ( from - map->from[k] ) / ( map->from[k + 1] - map->from[k] ), uv = u * ( 1 - u );
    double rise = ( d * u * u + d0 * uv ) / ( d + ( d0 + d1 - 2 * d ) * uv );
    return map->to[k] + ( map->to[k + 1] - map->to[k] ) * rise;
}

// With η the fraction of the way in y: a u² + b u + c = 0 for
//   a = Δ − d₀ + η (d₀ + d₁ − 2Δ),  b = d₀ − η (d₀ + d₁ − 2Δ),  c = −η Δ;
// the root in [0, 1] in the form that does not cancel.
double tr_retime_inverse( const tr_retime *map, double to )
{
    int k = stretch_of( map->to, map->count, to );
    if ( k < 0 )
        return outside( map->to, map->from, map->count, to );
    double d = chord( map, k ), d0 = map->rates[k], d1 = map->rates[k + 1];
    double rise = ( to - map->to[k] ) / ( map->to[k + 1] - map->to[k] ), s = rise * ( d0 + d1 - 2 * d );
    double a = d - d0 + s, b = d0 - s, c = -rise * d;
    double root = sqrt( fmax( b * b - 4 * a * c, 0 ) );
    double u = b >= 0 ? ( b + root > 0 ? -2 * c / ( b + root ) : 0 ) : ( root - b ) / ( 2 * a );
    return map->from[k] + ( map->from[k + 1] - map->from[k] ) * clampd( u, 0, 1 );
}

double tr_retime_rate( const tr_retime *map, double from )
{
    int k = stretch_of( map->from, map->count, from );
    if ( k < 0 )
        return 1;
    double d = chord( map, k ), d0 = map->rates[k], d1 = map->rates[k + 1];
    double u = ( from - map->from[k] ) / ( map->from[k + 1] - map->from[k] ), v = 1 - u;
    double below = d + ( d0 + d1 - 2 * d ) * u * v;
    return d * d * ( d1 * u * u + 2 * d * u * v + d0 * v * v ) / ( below * below );
}
