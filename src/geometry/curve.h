// Private to geometry: places in the order of a space-filling curve (Morton's: the bits of the three
// coordinates take turns), so that what is near in the order is near in space.
#ifndef TROUPE_GEOMETRY_CURVE_H
#define TROUPE_GEOMETRY_CURVE_H

#include "math/math.h"

#include <stdint.h>

typedef struct tr_curve_item {
    uint64_t key;
    int index;
} tr_curve_item;

enum { TR_CURVE_BITS = 21 }; // bits of a coordinate: three make 63

// 0 … 2^21 − 1 becomes every third bit of the result.
static inline uint64_t tr_curve_spread( uint64_t x )
{
    x = ( x | x << 32 ) & 0x001f00000000ffffu;
    x = ( x | x << 16 ) & 0x001f0000ff0000ffu;
    x = ( x | x << 8 ) & 0x100f00f00f00f00fu;
    x = ( x | x << 4 ) & 0x10c30c30c30c30c3u;
    return ( x | x << 2 ) & 0x1249249249249249u;
}

// The key of a place in the box from `low` to `high`, which has the same scale along all axes.
static inline uint64_t tr_curve_key( vec3 place, vec3 low, vec3 high )
{
    vec3 size = v3_sub( high, low );
    double edge = fmax( size.x, fmax( size.y, size.z ) ), most = ( 1 << TR_CURVE_BITS ) - 1;
    double steps = edge > 0 ? most / edge : 0;
    vec3 at = v3_sub( place, low );
    return tr_curve_spread( (uint64_t)clampd( steps * at.x, 0, most ) ) |
           tr_curve_spread( (uint64_t)clampd( steps * at.y, 0, most ) ) << 1 |
           tr_curve_spread( (uint64_t)clampd( steps * at.z, 0, most ) ) << 2;
}

static inline int tr_curve_compare( const void *a, const void *b ) // equal keys by index
{
    const tr_curve_item *p = a, *q = b;
    return p->key != q->key ? ( p->key > q->key ) - ( p->key < q->key )
                            : ( p->index > q->index ) - ( p->index < q->index );
}

#endif
