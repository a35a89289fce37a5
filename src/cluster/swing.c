// Pins far from where a limb is. The fit stays near the pose it starts from, and an arm that hangs down has
// many ways to a pin overhead: which is nearest changes from frame to frame, and the arm flips. So a limb is
// first turned as a whole towards its pin, always by the same way. With m the middle of what the limb reaches
// and T(x) the shortest turn of m onto the direction x, a limb pointing along c turns to d by
//
//   T(d) T(c)⁻¹,
//
// which is continuous in both and nothing for d = c, wherever neither is opposite m. There is no such turn
// for all directions (a sphere cannot be combed), so the one without lies behind the other shoulder. d lies
// between c and the direction p of the pin, in the chart of rotation vectors about m:
//
//   log T(d) = (1 − w) log T(c) + w log T(p).
//
// The fit begins with w = 1, or less where the pin is so near the shoulder that its direction says little.
// The pose it stays near has w = 0 where c is near p: a copied pose that will do is kept.
#include "cluster/private.h"

#define NEAR_ANGLE 0.8 // radians from c to p: up to here the copied pose will do …
#define FAR_ANGLE  1.6 // … from here on the limb is turned all the way
#define NEAR_PIN   0.1 // of the limb's length: the same of the pin's distance from where the limb hangs
#define FAR_PIN    0.5
#define SURE_ANGLE 0.5 // radians: up to here there is but one way …
#define SURE_PIN   0.9 // … if the pin is not farther than this part of the limb's length
#define FAR_BACK   1.0 // radians

// ------------------------------------------------------------------------------------------------- middles

// Where the toes point in the rest pose.
static vec3 forwards( const tr_skeleton *skeleton, tr_pose rest )
{
    vec3 sum = v3_zero;
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        if ( skeleton->joints[j].role == TR_ROLE_TOE && skeleton->joints[parent].role == TR_ROLE_FOOT )
            sum = v3_add( sum, v3_sub( rest.positions[j], rest.positions[parent] ) );
    }
    sum.y = 0;
    return v3_unit( sum );
}

// From where a limb hangs on to the farthest of its joints.
static vec3 stretch( const tr_skeleton *skeleton, tr_pose rest, int base )
{
    vec3 way = v3_zero;
    for ( int j = base + 1; j < skeleton->joint_count; ++j ) {
        vec3 d = v3_sub( rest.positions[j], rest.positions[base] );
        if ( tr_limb_base( skeleton, j ) == base && v3_dot( d, d ) > v3_dot( way, way ) )
            way = d;
    }
    return v3_unit( way );
}

// Arms reach outwards and forwards, wherever they are in the rest pose; legs and tails where they are there,
// but legs rather forwards.
vec3 tr_swing_middle( const tr_skeleton *skeleton, tr_pose rest, int base )
{
    tr_limb_kind kind = skeleton->limbs[skeleton->joints[base].limb].kind;
    vec3 ahead = kind == TR_LIMB_TAIL ? v3_zero : forwards( skeleton, rest );
    vec3 out = v3_sub( rest.positions[base], rest.positions[0] );
    out.y = 0;
    vec3 way = kind == TR_LIMB_ARM ? v3_add( v3_unit( out ), ahead )
                                   : v3_mad( stretch( skeleton, rest, base ), 0.5, ahead );
    int parent = skeleton->joints[base].parent;
    return q_unrotate( parent < 0 ? q_identity : rest.rotations[parent], v3_unit( way ) );
}

// --------------------------------------------------------------------------------------------------- swing

static double angle_between( vec3 a, vec3 b )
{
    return atan2( v3_length( v3_cross( a, b ) ), v3_dot( a, b ) );
}

static vec3 turn_onto( vec3 middle, vec3 direction ) // log T
{
    vec3 n = v3_cross( middle, direction );
    double sine = v3_length( n );
    return sine > 1e-9 ? v3_scale( angle_between( middle, direction ) / sine, n ) : v3_zero;
}

// 0 where x is at most `none`, 1 from `all` on.
static double faded( double x, double none, double all )
{
    return smooth_step5( clampd( ( x - none ) / ( all - none ), 0, 1 ) );
}

bool tr_swing_is_near( const tr_swing *swing )
{
    vec3 c = v3_sub( swing->point, swing->hinge ), p = v3_sub( swing->place, swing->hinge );
    return angle_between( c, p ) < SURE_ANGLE && v3_length( p ) < SURE_PIN * swing->length;
}

quat tr_swing_turn( const tr_swing *swing, quat *wanted )
{
    vec3 c = v3_sub( swing->point, swing->hinge ), p = v3_sub( swing->place, swing->hinge );
    double away =
        swing->strength * faded( v3_length( p ), NEAR_PIN * swing->length, FAR_PIN * swing->length );
    double share = away * faded( angle_between( c, p ), NEAR_ANGLE, FAR_ANGLE );
    vec3 from = turn_onto( swing->middle, v3_unit( c ) ), to = turn_onto( swing->middle, v3_unit( p ) );
    quat back = q_conj( q_from_vector( from ) );
    *wanted = q_mul( q_from_vector( v3_lerp( from, to, share ) ), back );
    return q_mul( q_from_vector( v3_lerp( from, to, away ) ), back );
}

quat tr_swing_back( quat from, quat to, double strength )
{
    vec3 back = q_to_vector( q_mul( to, q_conj( from ) ) );
    double kept = 1.0 - strength * faded( v3_length( back ), FAR_BACK, TR_PI );
    return q_unit( q_mul( q_from_vector( v3_scale( kept, back ) ), from ) );
}
