// Gauss linking. For curves a(s) and b(t), with r = b − a,
//   GLI = 1/4π ∬ r · (r_s × r_t) / |r|³ ds dt   (r_s = −a′, r_t = b′),
// the solid angle under which the surface r(s, t) is seen from the origin, over that of the whole sphere. For
// straight segments r is affine in (s, t): the surface is a flat parallelogram, and its solid angle is that
// of two triangles. The arctangent form of a triangle's solid angle needs no case for coplanar input and
// keeps its digits where the arcsine form of the four dihedral angles loses half of them.
#include "geometry/geometry.h"

#include <assert.h>

typedef struct complex_angle { // any multiple of (cos, sin) of an angle
    double cosine, sine;
} complex_angle;

// Van Oosterom and Strackee: tan( Ω / 2 ) = a·(b × c) / (1 + a·b + b·c + c·a) for unit directions. Where the
// plane of the triangle passes through the origin, the integrand is zero; inside the triangle, where the
// segments cut each other, that is the mean of the two limits.
static complex_angle half_solid_angle( vec3 a, vec3 b, vec3 c )
{
    const double rounding = 1e-14; // error of a triple product of unit vectors
    double volume = v3_dot( a, v3_cross( b, c ) );
    if ( fabs( volume ) < rounding )
        return ( complex_angle ){ 1, 0 };
    return ( complex_angle ){ 1 + v3_dot( a, b ) + v3_dot( b, c ) + v3_dot( c, a ), volume };
}

// Corners in their order around the parallelogram, as unit directions. The halves of its two triangles'
// angles have one sign and add up to less than π, so one arctangent of their complex product does for both.
static double parallelogram_share( vec3 c00, vec3 c10, vec3 c11, vec3 c01 )
{
    complex_angle p = half_solid_angle( c00, c10, c11 ), q = half_solid_angle( c00, c11, c01 );
    double cosine = p.cosine * q.cosine - p.sine * q.sine, sine = p.sine * q.cosine + p.cosine * q.sine;
    return atan2( sine, cosine ) / ( 2 * TR_PI );
}

double tr_segment_linking( vec3 a0, vec3 a1, vec3 b0, vec3 b1 )
{
    return tr_chain_linking( ( vec3[] ){ a0, a1 }, 2, ( vec3[] ){ b0, b1 }, 2 );
}

double tr_chain_linking( const vec3 *a, int a_count, const vec3 *b, int b_count )
{
    assert( a_count >= 0 && b_count >= 0 );
    double sum = 0;
    for ( int i = 0; i + 1 < a_count && b_count > 1; ++i ) {
        vec3 c00 = v3_unit( v3_sub( b[0], a[i] ) ), c10 = v3_unit( v3_sub( b[0], a[i + 1] ) );
        for ( int j = 1; j < b_count; ++j ) { // neighbours share two corners
            vec3 c01 = v3_unit( v3_sub( b[j], a[i] ) ), c11 = v3_unit( v3_sub( b[j], a[i + 1] ) );
            sum += parallelogram_share( c00, c10, c11, c01 );
            c00 = c01;
            c10 = c11;
        }
    }
    return sum;
}
