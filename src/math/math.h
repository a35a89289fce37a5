// math: vectors, rotations and rigid transforms as value types, in double precision.
// Right-handed, Y up. Quaternions are unit, (x, y, z, w), and turn a vector v into q v q*.
#ifndef TROUPE_MATH_H
#define TROUPE_MATH_H

#include <math.h>
#include <stdbool.h>

#define TR_PI     3.14159265358979323846
#define TR_DEGREE ( TR_PI / 180.0 )

typedef struct vec3 {
    double x, y, z;
} vec3;

typedef struct quat {
    double x, y, z, w;
} quat;

typedef struct mat3 {
    vec3 cx, cy, cz; // columns: the images of the axes
} mat3;

typedef struct rigid { // p ↦ rotation · p + position
    quat rotation;
    vec3 position;
} rigid;

// ---------------------------------------------------------------------------------------------- vec3
static const vec3 v3_zero = { 0, 0, 0 };
static const vec3 v3_one = { 1, 1, 1 };
static const vec3 v3_x = { 1, 0, 0 };
static const vec3 v3_y = { 0, 1, 0 };
static const vec3 v3_z = { 0, 0, 1 };

static inline vec3 v3( double x, double y, double z )
{
    return ( vec3 ){ x, y, z };
}
static inline vec3 v3_add( vec3 a, vec3 b )
{
    return v3( a.x + b.x, a.y + b.y, a.z + b.z );
}
static inline vec3 v3_sub( vec3 a, vec3 b )
{
    return v3( a.x - b.x, a.y - b.y, a.z - b.z );
}
static inline vec3 v3_scale( double s, vec3 a )
{
    return v3( s * a.x, s * a.y, s * a.z );
}
static inline vec3 v3_mul( vec3 a, vec3 b ) // componentwise
{
    return v3( a.x * b.x, a.y * b.y, a.z * b.z );
}
static inline vec3 v3_mad( vec3 a, double s, vec3 b ) // a + s b
{
    return v3( a.x + s * b.x, a.y + s * b.y, a.z + s * b.z );
}
static inline vec3 v3_negate( vec3 a )
{
    return v3( -a.x, -a.y, -a.z );
}
static inline double v3_dot( vec3 a, vec3 b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline vec3 v3_cross( vec3 a, vec3 b )
{
    return v3( a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x );
}
static inline double v3_length( vec3 a )
{
    return sqrt( v3_dot( a, a ) );
}
static inline double v3_distance( vec3 a, vec3 b )
{
    return v3_length( v3_sub( a, b ) );
}
static inline vec3 v3_lerp( vec3 a, vec3 b, double t )
{
    return v3( a.x + t * ( b.x - a.x ), a.y + t * ( b.y - a.y ), a.z + t * ( b.z - a.z ) );
}
// The unit vector along a, or `fallback` when a is (nearly) zero.
static inline vec3 v3_unit_or( vec3 a, vec3 fallback )
{
    const double none = 1e-12; // a vector this short is what rounding left of nothing
    double l = v3_length( a );
    return l > none ? v3_scale( 1.0 / l, a ) : fallback;
}
static inline vec3 v3_unit( vec3 a )
{
    return v3_unit_or( a, v3_zero );
}
static inline vec3 v3_horizontal( vec3 a ) // projection on the ground
{
    return v3( a.x, 0, a.z );
}
static inline bool v3_finite( vec3 a )
{
    return isfinite( a.x ) && isfinite( a.y ) && isfinite( a.z );
}
vec3 v3_perpendicular( vec3 a ); // some unit vector at right angles to a

// ---------------------------------------------------------------------------------------------- quat
static const quat q_identity = { 0, 0, 0, 1 };

static inline quat q_mul( quat a, quat b ) // first b, then a
{
    return ( quat ){
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}
static inline quat q_conj( quat q )
{
    return ( quat ){ -q.x, -q.y, -q.z, q.w };
}
static inline vec3 q_rotate( quat q, vec3 v )
{
    // v + 2w (u × v) + 2 u × (u × v) with u the vector part
    vec3 u = { q.x, q.y, q.z };
    vec3 t = v3_scale( 2.0, v3_cross( u, v ) );
    return v3_add( v3_mad( v, q.w, t ), v3_cross( u, t ) );
}
static inline vec3 q_unrotate( quat q, vec3 v )
{
    return q_rotate( q_conj( q ), v );
}
static inline double q_dot( quat a, quat b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
static inline quat q_negate( quat q )
{
    return ( quat ){ -q.x, -q.y, -q.z, -q.w };
}
static inline bool q_finite( quat q )
{
    return isfinite( q.x ) && isfinite( q.y ) && isfinite( q.z ) && isfinite( q.w );
}
static inline bool q_is_unit( quat q ) // as files have it, with six digits; false for NaN
{
    const double rounding = 1e-6;
    return fabs( q_dot( q, q ) - 1.0 ) <= rounding;
}
#define TR_NO_LENGTH 1e-150         // squares of a shorter length have lost their digits
static inline quat q_unit( quat q ) // identity when q is (nearly) zero
{
    double l = sqrt( q_dot( q, q ) );
    if ( !( l > TR_NO_LENGTH ) )
        return q_identity;
    return ( quat ){ q.x / l, q.y / l, q.z / l, q.w / l };
}
static inline mat3 m3_from_quat( quat q )
{
    double x = 2 * q.x, y = 2 * q.y, z = 2 * q.z;
    double xx = x * q.x, yy = y * q.y, zz = z * q.z, xy = x * q.y, xz = x * q.z, yz = y * q.z;
    double wx = x * q.w, wy = y * q.w, wz = z * q.w;
    return ( mat3 ){ v3( 1 - yy - zz, xy + wz, xz - wy ), v3( xy - wz, 1 - xx - zz, yz + wx ),
                     v3( xz + wy, yz - wx, 1 - xx - yy ) };
}
quat q_axis_angle( vec3 axis, double radians ); // axis of any length, zero gives identity
quat q_from_vector( vec3 rotation_vector );     // exponential map: axis times angle
vec3 q_to_vector( quat q );                     // logarithm, angle in [0, π]
double q_angle( quat a, quat b );     // angle of the rotation between a and b, in radians, in [0, π]
quat q_between( vec3 from, vec3 to ); // shortest turn of direction `from` onto `to`; opposite: a half turn
quat q_slerp( quat a, quat b, double t ); // along the shorter arc
quat q_from_mat3( mat3 m );
quat q_fit( mat3 m ); // the rotation nearest to m, also where m is flat or mirrored: largest tr(Rᵀ m)
quat q_look( vec3 forward, vec3 up ); // turns +Z onto `forward` and +Y as near to `up` as possible
double q_heading( quat q );           // yaw in radians of the turned +Z axis about +Y
void q_swing_twist( quat q, vec3 axis, quat *swing,
                    quat *twist ); // q = swing · twist, twist about unit `axis`

// Euler angles in radians, `order` a string of three distinct letters out of "xyz", in BVH's convention:
// "zxy" means q = Rz(a0) · Rx(a1) · Ry(a2). The inverse returns the triple nearest to `hint` (angles may
// exceed ±π to follow it).
quat q_from_euler( const char order[3], const double angles[3] );
void q_to_euler( quat q, const char order[3], const double hint[3], double angles[3] );

// ---------------------------------------------------------------------------------------------- mat3
static inline vec3 m3_mulv( mat3 m, vec3 v )
{
    return v3_add( v3_add( v3_scale( v.x, m.cx ), v3_scale( v.y, m.cy ) ), v3_scale( v.z, m.cz ) );
}
static inline mat3 m3_mul( mat3 a, mat3 b )
{
    return ( mat3 ){ m3_mulv( a, b.cx ), m3_mulv( a, b.cy ), m3_mulv( a, b.cz ) };
}
static inline mat3 m3_transpose( mat3 m )
{
    return ( mat3 ){ { m.cx.x, m.cy.x, m.cz.x }, { m.cx.y, m.cy.y, m.cz.y }, { m.cx.z, m.cy.z, m.cz.z } };
}
static inline mat3 m3_add_outer( mat3 m, vec3 a, vec3 b ) // m + a bᵀ
{
    return ( mat3 ){ v3_mad( m.cx, b.x, a ), v3_mad( m.cy, b.y, a ), v3_mad( m.cz, b.z, a ) };
}
static inline double m3_det( mat3 m )
{
    return v3_dot( m.cx, v3_cross( m.cy, m.cz ) );
}
// Zero for a matrix that is singular as far as rounding tells.
static inline mat3 m3_inverse( mat3 m )
{
    double det = m3_det( m ), size = v3_length( m.cx ) * v3_length( m.cy ) * v3_length( m.cz );
    if ( !( fabs( det ) > 1e-9 * size ) || !isfinite( 1 / det ) )
        return ( mat3 ){ 0 };
    mat3 t = { v3_scale( 1 / det, v3_cross( m.cy, m.cz ) ), v3_scale( 1 / det, v3_cross( m.cz, m.cx ) ),
               v3_scale( 1 / det, v3_cross( m.cx, m.cy ) ) };
    return m3_transpose( t );
}
// Solves (m + damping I) x = b by Cramer's rule; zero where that is singular.
static inline vec3 m3_solve_damped( mat3 m, double damping, vec3 b )
{
    m.cx.x += damping;
    m.cy.y += damping;
    m.cz.z += damping;
    double det = m3_det( m );
    if ( !( fabs( det ) > 0 ) )
        return v3_zero;
    vec3 x = v3( v3_dot( b, v3_cross( m.cy, m.cz ) ), v3_dot( b, v3_cross( m.cz, m.cx ) ),
                 v3_dot( b, v3_cross( m.cx, m.cy ) ) );
    return v3_scale( 1.0 / det, x );
}

// --------------------------------------------------------------------------------------------- rigid
static const rigid rigid_identity = { { 0, 0, 0, 1 }, { 0, 0, 0 } };

static inline vec3 rigid_apply( rigid t, vec3 p )
{
    return v3_add( q_rotate( t.rotation, p ), t.position );
}
static inline rigid rigid_mul( rigid a, rigid b ) // first b, then a
{
    return ( rigid ){ q_mul( a.rotation, b.rotation ), rigid_apply( a, b.position ) };
}
static inline rigid rigid_inverse( rigid t )
{
    quat c = q_conj( t.rotation );
    return ( rigid ){ c, q_rotate( c, v3_negate( t.position ) ) };
}

// --------------------------------------------------------------------------------------------- scalar
static inline double clampd( double x, double low, double high ) // NaN gives `low`
{
    return !( x >= low ) ? low : x > high ? high : x;
}
static inline double lerpd( double a, double b, double t )
{
    return a + t * ( b - a );
}
static inline double wrap_angle( double radians ) // into [-π, π]
{
    return remainder( radians, 2.0 * TR_PI );
}
// Minimum-jerk step: 0 for t ≤ 0, 1 for t ≥ 1, velocity and acceleration zero at both ends. Clamped to 1,
// since rounding may exceed it.
static inline double smooth_step5( double t )
{
    t = clampd( t, 0.0, 1.0 );
    return fmin( t * t * t * ( 10.0 + t * ( -15.0 + 6.0 * t ) ), 1.0 );
}
// Decay to zero in `length` steps: `value` and `slope` (per step) at step 0; zero, with the first two
// derivatives, from the last step on. With u = step / length the minimum-jerk polynomials are
// 1 − 10u³ + 15u⁴ − 6u⁵ for the value and u − 6u³ + 8u⁴ − 3u⁵ for the slope.
static inline vec3 v3_decay( vec3 value, vec3 slope, double step, double length )
{
    double u = step / length, u3 = u * u * u;
    double for_slope = u < 1 ? length * ( u + u3 * ( -6.0 + u * ( 8.0 - 3.0 * u ) ) ) : 0;
    return v3_add( v3_scale( 1.0 - smooth_step5( u ), value ), v3_scale( for_slope, slope ) );
}

// ---------------------------------------------------------------------------------------------- windows

// Weight at a distance of `away` frames: 1 up to 0, 0 from ease + 1 on.
static inline double tr_fade( double away, double ease )
{
    return away > 0 ? smooth_step5( 1.0 - away / ( ease + 1.0 ) ) : 1.0;
}
// Weight of a range of frames at a frame: 1 inside, fading over the eases outside.
static inline double tr_fade_range( double frame, double first, double last, double ease_in, double ease_out )
{
    return frame < first ? tr_fade( first - frame, ease_in ) : tr_fade( frame - last, ease_out );
}

// Mean of values [count] over `span` frames to either side of a frame, weighted by tr_fade. The window is cut
// at the ends.
vec3 tr_smooth_mean( const vec3 *values, int count, int frame, int span );

// Smooths values ≥ 0 over `span` frames to either side, so that none becomes less. Values beyond the ends
// count as 0 if `fades`, else as at the ends. most: scratch, [count].
void tr_smooth_from_above( double *values, int count, int span, bool fades, double *most );

#endif
