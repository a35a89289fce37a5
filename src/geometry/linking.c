// Gauss linking. For curves a(s) and b(t), with r = b − a,
//   GLI = 1/4π ∬ r · (r_s × r_t) / |r|³ ds dt   (r_s = −a′, r_t = b′),
// the solid angle under which the surface r(s, t) is seen from the origin, over that of the whole sphere. For
// straight segments r is affine in (s, t): the surface is a flat parallelogram, and its solid angle is that
// of two triangles. The arctangent form of a triangle's solid angle needs no case for coplanar input and
// keeps its digits where the arcsine form of the four dihedral angles loses half of them.
#include "geometry/geometry.h"

#include <assert.h>

// Van Oosterom and Strackee: tan( Ω / 2 ) = a·(b × c) / (1 + a·b + b·c + c·a) for unit directions. Where the
// plane of the triangle passes through the origin, the integrand is zero; inside the triangle, where the
// segments cut each other, that is the mean of the two limits.
static double triangle_solid_angle( vec3 a, vec3 b, vec3 c )
{
    double volume = v3_dot( a, v3_cross( b, c ) );
    if ( fabs( volume ) < 1e-14 )
        return 0;
    return 2 * atan2( volume, 1 + v3_dot( a, b ) + v3_dot( b, c ) + v3_dot( c, a ) );
}

double tr_segment_linking( vec3 a0, vec3 a1, vec3 b0, vec3 b1 )
{
    // corners of the parallelogram at (s, t) = (0, 0), (1, 0), (1, 1), (0, 1)
    vec3 c00 = v3_unit( v3_sub( b0, a0 ) ), c10 = v3_unit( v3_sub( b0, a1 ) );
    vec3 c11 = v3_unit( v3_sub( b1, a1 ) ), c01 = v3_unit( v3_sub( b1, a0 ) );
    return ( triangle_solid_angle( c00, c10, c11 ) + triangle_solid_angle( c00, c11, c01 ) ) / ( 4 * TR_PI );
}

double tr_chain_linking( const vec3 *a, int a_count, const vec3 *b, int b_count )
{
    assert( a_count >= 0 && b_count >= 0 );
    double sum = 0;
    for ( int i = 0; i + 1 < a_count; ++i )
        for ( int j = 0; j + 1 < b_count; ++j )
            sum += tr_segment_linking( a[i], a[i + 1], b[j], b[j + 1] );
    return sum;
}
