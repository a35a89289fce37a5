#include "math/math.h"

#include <assert.h>

vec3 v3_perpendicular( vec3 a )
{
    double x = fabs( a.x ), y = fabs( a.y ), z = fabs( a.z );
    vec3 least = x <= y && x <= z ? v3_x : y <= z ? v3_y : v3_z;
    return v3_unit_or( v3_cross( a, least ), v3_x );
}

quat q_axis_angle( vec3 axis, double radians )
{
    double l = v3_length( axis );
    if ( !( l > TR_NO_LENGTH ) )
        return q_identity;
    double s = sin( 0.5 * radians ) / l;
    return ( quat ){ s * axis.x, s * axis.y, s * axis.z, cos( 0.5 * radians ) };
}

quat q_from_vector( vec3 rotation_vector )
{
    return q_axis_angle( rotation_vector, v3_length( rotation_vector ) );
}

vec3 q_to_vector( quat q )
{
    if ( q.w < 0 )
        q = q_negate( q );
    vec3 u = { q.x, q.y, q.z };
    double s = v3_length( u );
    const double small = 1e-12; // angle / sin(angle/2) is 2 here, to the last bit
    double factor = s > small ? 2.0 * atan2( s, q.w ) / s : 2.0;
    return v3_scale( factor, u );
}

double q_angle( quat a, quat b )
{
    quat d = q_mul( q_conj( a ), b );
    return 2.0 * atan2( v3_length( v3( d.x, d.y, d.z ) ), fabs( d.w ) );
}

quat q_between( vec3 from, vec3 to )
{
    vec3 a = v3_unit( from ), b = v3_unit( to );
    if ( v3_dot( a, a ) == 0 || v3_dot( b, b ) == 0 )
        return q_identity;
    double c = v3_dot( a, b );
    const double opposite = 1e-12; // above -1: the cross product has lost its direction
    if ( c < -1.0 + opposite )
        return q_axis_angle( v3_perpendicular( a ), TR_PI );
    vec3 n = v3_cross( a, b );
    return q_unit( ( quat ){ n.x, n.y, n.z, 1.0 + c } );
}

quat q_slerp( quat a, quat b, double t )
{
    if ( q_dot( a, b ) < 0 )
        b = q_negate( b );
    double angle = 0.5 * q_angle( a, b );
    double wa = 1.0 - t, wb = t;
    const double small = 1e-6; // radians: sines are angles
    if ( angle > small ) {
        double s = sin( angle );
        wa = sin( ( 1.0 - t ) * angle ) / s;
        wb = sin( t * angle ) / s;
    }
    return q_unit(
        ( quat ){ wa * a.x + wb * b.x, wa * a.y + wb * b.y, wa * a.z + wb * b.z, wa * a.w + wb * b.w } );
}

// Shepperd's method: divide by the largest of the four components.
quat q_from_mat3( mat3 m )
{
    double xx = m.cx.x, yy = m.cy.y, zz = m.cz.z, trace = xx + yy + zz;
    quat q;
    if ( trace > xx && trace > yy && trace > zz )
        q = ( quat ){ m.cy.z - m.cz.y, m.cz.x - m.cx.z, m.cx.y - m.cy.x, 1.0 + trace };
    else if ( xx > yy && xx > zz )
        q = ( quat ){ 1.0 + xx - yy - zz, m.cy.x + m.cx.y, m.cz.x + m.cx.z, m.cy.z - m.cz.y };
    else if ( yy > zz )
        q = ( quat ){ m.cy.x + m.cx.y, 1.0 - xx + yy - zz, m.cz.y + m.cy.z, m.cz.x - m.cx.z };
    else
        q = ( quat ){ m.cz.x + m.cx.z, m.cz.y + m.cy.z, 1.0 - xx - yy + zz, m.cx.y - m.cy.x };
    return q_unit( q );
}

enum { MOST_STEPS = 12 }; // steps of methods that converge quadratically: more do not help

// One Jacobi rotation: makes a[p][q] zero and keeps the columns of v eigenvectors. What is left of a[p][q]
// after a few sweeps is far below the last digit of its neighbours and turns nothing any more.
static void jacobi_rotate( double a[4][4], double v[4][4], int p, int q )
{
    const double lost = 1e-18; // relative to its neighbours, below their last digit
    if ( fabs( a[p][q] ) <= lost * fabs( a[q][q] - a[p][p] ) )
        return;
    double theta = ( a[q][q] - a[p][p] ) / ( 2.0 * a[p][q] );
    double t = ( theta < 0 ? -1.0 : 1.0 ) / ( fabs( theta ) + sqrt( theta * theta + 1.0 ) );
    double c = 1.0 / sqrt( t * t + 1.0 ), s = t * c;
    for ( int k = 0; k < 4; ++k ) {
        double kp = a[k][p], kq = a[k][q], vp = v[k][p], vq = v[k][q];
        a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
        v[k][p] = c * vp - s * vq, v[k][q] = s * vp + c * vq;
    }
    for ( int k = 0; k < 4; ++k ) {
        double pk = a[p][k], qk = a[q][k];
        a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
    }
}

// Horn's method: tr(Rᵀ m) is a quadratic form in the quaternion of R; its largest eigenvector is the answer.
static quat fit_by_jacobi( mat3 m )
{
    double xx = m.cx.x, xy = m.cy.x, xz = m.cz.x, yx = m.cx.y, yy = m.cy.y, yz = m.cz.y, zx = m.cx.z,
           zy = m.cy.z, zz = m.cz.z;
    double a[4][4] = { { xx - yy - zz, xy + yx, xz + zx, zy - yz },
                       { xy + yx, yy - xx - zz, yz + zy, xz - zx },
                       { xz + zx, yz + zy, zz - xx - yy, yx - xy },
                       { zy - yz, xz - zx, yx - xy, xx + yy + zz } };
    double v[4][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } };
    for ( int sweep = 0; sweep < MOST_STEPS; ++sweep )
        for ( int p = 0; p < 3; ++p )
            for ( int q = p + 1; q < 4; ++q )
                jacobi_rotate( a, v, p, q );
    int best = 3; // with nothing to choose by, no turn
    for ( int k = 0; k < 3; ++k )
        if ( a[k][k] > a[best][best] )
            best = k;
    return q_unit( ( quat ){ v[0][best], v[1][best], v[2][best], v[3][best] } );
}

// ( tr(n) 1 − ½ (n + nᵀ) ) w = a by LDLᵀ; false unless the matrix is positive definite by a margin.
static bool solve_turn( mat3 n, vec3 a, vec3 *w )
{
    double xx = n.cy.y + n.cz.z, yy = n.cx.x + n.cz.z, zz = n.cx.x + n.cy.y;
    double xy = -0.5 * ( n.cx.y + n.cy.x ), xz = -0.5 * ( n.cx.z + n.cz.x ), yz = -0.5 * ( n.cy.z + n.cz.y );
    const double margin = 1e-9; // relative to the trace
    double least = margin * ( xx + yy + zz );
    if ( !( xx > least ) )
        return false;
    double lyx = xy / xx, lzx = xz / xx, dy = yy - lyx * xy, zy = yz - lyx * xz;
    if ( !( dy > least ) )
        return false;
    double lzy = zy / dy, dz = zz - lzx * xz - lzy * zy;
    if ( !( dz > least ) )
        return false;
    double y = a.y - lyx * a.x;
    w->z = ( a.z - lzx * a.x - lzy * y ) / dz;
    w->y = y / dy - lzy * w->z;
    w->x = a.x / xx - lyx * w->y - lzx * w->z;
    return true;
}

// Newton's method: with n = Rᵀ m and R turned on by a small w, in its own axes,
//
//   tr( (R exp w)ᵀ m ) = tr n + w·a − ½ wᵀ ( tr(n) 1 − ½ (n + nᵀ) ) w + …,   a the axial vector of n.
//
// Where a vanishes and that matrix is positive definite, R is the largest of all, not only of those nearby.
static bool fit_by_newton( mat3 m, quat *out )
{
    const double last = 1e-16; // rad²: the next turn is below the last digit
    quat r = q_identity;
    for ( int step = 0; step < MOST_STEPS; ++step ) {
        mat3 n = m3_mul( m3_transpose( m3_from_quat( r ) ), m );
        vec3 w;
        if ( !solve_turn( n, v3( n.cy.z - n.cz.y, n.cz.x - n.cx.z, n.cx.y - n.cy.x ), &w ) )
            return false;
        r = q_unit( q_mul( r, ( quat ){ 0.5 * w.x, 0.5 * w.y, 0.5 * w.z, 1 } ) );
        *out = r;
        if ( v3_dot( w, w ) < last )
            return true;
    }
    return false;
}

quat q_fit( mat3 m )
{
    quat q;
    return fit_by_newton( m, &q ) ? q : fit_by_jacobi( m );
}

quat q_look( vec3 forward, vec3 up )
{
    vec3 z = v3_unit_or( forward, v3_z );
    vec3 x = v3_cross( up, z );
    const double none = 1e-9; // `up` is along z, but for rounding
    x = v3_length( x ) > none ? v3_unit( x ) : v3_perpendicular( z );
    return q_from_mat3( ( mat3 ){ x, v3_cross( z, x ), z } );
}

double q_heading( quat q )
{
    vec3 z = q_rotate( q, v3_z );
    return atan2( z.x, z.z );
}

void q_swing_twist( quat q, vec3 axis, quat *swing, quat *twist )
{
    double along = q.x * axis.x + q.y * axis.y + q.z * axis.z;
    *twist = q_unit( ( quat ){ along * axis.x, along * axis.y, along * axis.z, q.w } );
    *swing = q_mul( q, q_conj( *twist ) );
}

// ----------------------------------------------------------------------------------------------- Euler

static int axis_index( char letter )
{
    assert( letter >= 'x' && letter <= 'z' );
    return letter - 'x';
}

static vec3 axis_vector( int index )
{
    return index == 0 ? v3_x : index == 1 ? v3_y : v3_z;
}

static double component( vec3 v, int index )
{
    return index == 0 ? v.x : index == 1 ? v.y : v.z;
}

quat q_from_euler( const char order[3], const double angles[3] )
{
    quat q = q_identity;
    for ( int i = 0; i < 3; ++i )
        q = q_mul( q, q_axis_angle( axis_vector( axis_index( order[i] ) ), angles[i] ) );
    return q;
}

static double near( double angle, double hint )
{
    return hint + wrap_angle( angle - hint );
}

static double distance_to( const double hint[3], const double angles[3] )
{
    return fabs( angles[0] - hint[0] ) + fabs( angles[1] - hint[1] ) + fabs( angles[2] - hint[2] );
}

// R = R_i(a) R_j(b) R_k(c) with i, j, k distinct and e = +1 for cyclic orders, -1 otherwise:
// R[i][k] = e sin b, R[j][k] = -e sin a cos b, R[k][k] = cos a cos b, R[i][j] = -e cos b sin c, R[i][i] = cos
// b cos c. (a + π, π - b, c + π) is the same rotation; at b = ±90° only a ± c matters and a keeps the hint's
// value.
void q_to_euler( quat q, const char order[3], const double hint[3], double angles[3] )
{
    int i = axis_index( order[0] ), j = axis_index( order[1] ), k = axis_index( order[2] );
    double e = ( j - i + 3 ) % 3 == 1 ? 1.0 : -1.0;
    mat3 m = m3_from_quat( q );
    vec3 column[3] = { m.cx, m.cy, m.cz };
    double sin_b = e * component( column[k], i );
    double cos_b = hypot( component( column[k], j ), component( column[k], k ) );
    double first[3], second[3];
    first[1] = atan2( sin_b, cos_b );
    const double none = 1e-9; // cosine of b = ±90°, but for rounding
    if ( cos_b > none ) {
        first[0] = atan2( -e * component( column[k], j ), component( column[k], k ) );
        first[2] = atan2( -e * component( column[j], i ), component( column[i], i ) );
    } else {
        first[0] = hint[0];
        quat rest = q_mul( q_conj( q_mul( q_axis_angle( axis_vector( i ), first[0] ),
                                          q_axis_angle( axis_vector( j ), first[1] ) ) ),
                           q );
        first[2] = 2.0 * atan2( component( v3( rest.x, rest.y, rest.z ), k ), rest.w );
    }
    second[0] = near( first[0] + TR_PI, hint[0] );
    second[1] = near( TR_PI - first[1], hint[1] );
    second[2] = near( first[2] + TR_PI, hint[2] );
    for ( int n = 0; n < 3; ++n )
        first[n] = near( first[n], hint[n] );
    const double *best = distance_to( hint, first ) <= distance_to( hint, second ) ? first : second;
    for ( int n = 0; n < 3; ++n )
        angles[n] = best[n];
}
