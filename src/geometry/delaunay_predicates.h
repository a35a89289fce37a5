// Private to delaunay.c: decisions about points on a grid. Every predicate is a polynomial in integers: it is
// tried in doubles and, where rounding may change its sign, computed in 128 bits.
#ifndef TROUPE_GEOMETRY_DELAUNAY_PREDICATES_H
#define TROUPE_GEOMETRY_DELAUNAY_PREDICATES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { GRID_BITS = 22 }; // coordinates lie within ±2²²

typedef __int128 wide;

typedef struct tr_delaunay_place {
    int32_t x[3];
} place;

static inline void difference( const place *a, const place *b, double out[3] )
{
    for ( int k = 0; k < 3; ++k )
        out[k] = (double)( a->x[k] - b->x[k] );
}

// Differences are below 2²⁴, the 2×2 minors below 2⁴⁹: doubles hold both exactly. What is rounded are three
// products below 2⁷³ and two sums of them, each by less than 2²¹: 2²⁴ is more than all of it.
static inline int orientation( const place *a, const place *b, const place *c, const place *d )
{
    double u[3], v[3], w[3];
    difference( b, a, u );
    difference( c, a, v );
    difference( d, a, w );
    double m[3] = { v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0] };
    double det = u[0] * m[0] + u[1] * m[1] + u[2] * m[2];
    if ( fabs( det ) > 0x1p24 )
        return det > 0 ? 1 : -1;
    wide sum = 0;
    for ( int k = 0; k < 3; ++k )
        sum += (wide)(int64_t)u[k] * (int64_t)m[k];
    return ( sum > 0 ) - ( sum < 0 );
}

// Positive when p lies inside the sphere through a, b, c, d, which are positively oriented; zero on it. With
// rows r = vertex − p, minus the 4×4 determinant of (r, |r|²), expanded along its last column. The 3×3
// determinants are below 2⁷⁵ and rounded by 2²⁴ as above, |r|² is below 2⁵⁰ and exact; the sum of the four
// products is off by less than 2⁷⁹.
static inline int in_sphere( const place *a, const place *b, const place *c, const place *d, const place *p )
{
    const place *vertices[4] = { a, b, c, d };
    double r[4][3], lift[4], ab[4][4][3], sum = 0;
    for ( int i = 0; i < 4; ++i ) {
        difference( vertices[i], p, r[i] );
        lift[i] = r[i][0] * r[i][0] + r[i][1] * r[i][1] + r[i][2] * r[i][2];
    }
    for ( int i = 0; i < 4; ++i )
        for ( int j = i + 1; j < 4; ++j ) {
            ab[i][j][0] = r[i][1] * r[j][2] - r[i][2] * r[j][1];
            ab[i][j][1] = r[i][2] * r[j][0] - r[i][0] * r[j][2];
            ab[i][j][2] = r[i][0] * r[j][1] - r[i][1] * r[j][0];
        }
    // Vertex i, and the determinant of the other three in ascending order; signs alternate.
    static const int others[4][3] = { { 1, 2, 3 }, { 0, 2, 3 }, { 0, 1, 3 }, { 0, 1, 2 } };
    for ( int i = 0; i < 4; ++i ) {
        const double *u = r[others[i][0]], *m = ab[others[i][1]][others[i][2]];
        double det = u[0] * m[0] + u[1] * m[1] + u[2] * m[2];
        sum += i % 2 == 0 ? lift[i] * det : -lift[i] * det;
    }
    if ( fabs( sum ) > 0x1p80 )
        return sum > 0 ? 1 : -1;
    wide exact = 0;
    for ( int i = 0; i < 4; ++i ) {
        const double *u = r[others[i][0]], *m = ab[others[i][1]][others[i][2]];
        wide det = 0;
        for ( int k = 0; k < 3; ++k )
            det += (wide)(int64_t)u[k] * (int64_t)m[k];
        exact += i % 2 == 0 ? (int64_t)lift[i] * det : -(int64_t)lift[i] * det;
    }
    return ( exact > 0 ) - ( exact < 0 );
}

static inline bool same_place( const place *a, const place *b )
{
    return memcmp( a->x, b->x, sizeof a->x ) == 0;
}

static inline bool on_one_line( const place *a, const place *b, const place *c )
{
    double u[3], v[3];
    difference( b, a, u );
    difference( c, a, v );
    return u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
}

#endif
