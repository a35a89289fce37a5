// What a body's build says about how its joints turn: knees and elbows are hinges, long bones seldom twist.
#include "motion/fit.h"

// Below this sine of the bend a limb counts as straight: its own plane is noise, the rest pose's is better.
#define STRAIGHT   0.06
#define SHORT_BONE 1e-6 // metres; has no direction
#define FOLDED     2.7  // radians of bend: calf on thigh

static bool is_long_bone( tr_role role )
{
    return role == TR_ROLE_UPPER_ARM || role == TR_ROLE_FOREARM || role == TR_ROLE_THIGH ||
           role == TR_ROLE_SHIN;
}

static bool is_hinge( tr_role role )
{
    return role == TR_ROLE_FOREARM || role == TR_ROLE_SHIN;
}

// Of the joint's children the one its limb goes on with: same limb, longest bone; -1 when there is none.
static int next_of_limb( const tr_skeleton *skeleton, int joint )
{
    int next = -1;
    double longest = SHORT_BONE;
    for ( int j = joint + 1; j < skeleton->joint_count; ++j ) {
        const tr_joint *child = &skeleton->joints[j];
        double length = tr_bone_length( skeleton, j );
        if ( child->parent == joint && child->limb == skeleton->joints[joint].limb && length > longest ) {
            next = j;
            longest = length;
        }
    }
    return next;
}

// Where the toes point in the rest pose, across the bone above the foot: those below `joint`, of the whole
// body for joint 0. Zero when no foot has toes.
static vec3 toes_direction( const tr_skeleton *skeleton, tr_pose rest, int joint )
{
    vec3 sum = v3_zero;
    for ( int j = joint + 1; j < skeleton->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        if ( skeleton->joints[j].role != TR_ROLE_TOE || skeleton->joints[parent].role != TR_ROLE_FOOT )
            continue;
        int above = parent;
        while ( above > joint )
            above = skeleton->joints[above].parent;
        if ( above != joint || parent == 0 )
            continue;
        int ankle_above = skeleton->joints[parent].parent;
        vec3 toes = v3_sub( rest.positions[j], rest.positions[parent] );
        vec3 shin = v3_unit( v3_sub( rest.positions[parent], rest.positions[ankle_above] ) );
        sum = v3_add( sum, v3_mad( toes, -v3_dot( toes, shin ), shin ) );
    }
    return v3_unit( sum );
}

// Normal of the plane to bend in, in the world of the rest pose. A rest pose that is bent shows it. In a
// straight one knees bring the foot backwards and elbows the hand forwards, forwards being where toes point.
static vec3 rest_bend( const tr_skeleton *skeleton, tr_pose rest, int joint, vec3 in, vec3 out )
{
    vec3 normal = v3_cross( in, out );
    if ( v3_length( normal ) > STRAIGHT )
        return v3_unit( normal );
    bool knee = skeleton->joints[joint].role == TR_ROLE_SHIN;
    vec3 towards =
        knee ? v3_negate( toes_direction( skeleton, rest, joint ) ) : toes_direction( skeleton, rest, 0 );
    normal = v3_cross( in, towards );
    return v3_length( normal ) > 0.1 ? v3_unit( normal ) : v3_zero;
}

static void limb_build( const tr_fit *fit, tr_pose rest, int j )
{
    const tr_skeleton *skeleton = fit->skeleton;
    const tr_joint *joint = &skeleton->joints[j];
    tr_fit_limb *limb = &fit->limbs[j];
    limb->stiffness = joint->end_site ? INFINITY : fit->def.stiffness[joint->role];
    int next = is_long_bone( joint->role ) ? next_of_limb( skeleton, j ) : -1;
    if ( next < 0 )
        return;
    limb->bone_out = v3_unit( skeleton->joints[next].offset );
    double length = tr_bone_length( skeleton, j );
    if ( j == 0 || !is_hinge( joint->role ) || length <= SHORT_BONE )
        return;
    quat above = rest.rotations[joint->parent];
    limb->bone_in = v3_unit( joint->offset );
    limb->span = length + tr_bone_length( skeleton, next );
    vec3 bend = rest_bend( skeleton, rest, j, q_rotate( above, limb->bone_in ),
                           q_rotate( rest.rotations[j], limb->bone_out ) );
    limb->bend = q_unrotate( above, bend );
}

static void find_only_children( const tr_fit *fit )
{
    for ( int j = 0; j < fit->skeleton->joint_count; ++j )
        fit->limbs[j].only_child = TR_FIT_NO_CHILD;
    for ( int j = 1; j < fit->skeleton->joint_count; ++j ) {
        int *child = &fit->limbs[fit->skeleton->joints[j].parent].only_child;
        if ( tr_bone_length( fit->skeleton, j ) > SHORT_BONE )
            *child = *child == TR_FIT_NO_CHILD ? j : TR_FIT_SEVERAL;
    }
}

void tr_fit_limbs_build( tr_fit *fit, tr_pose rest )
{
    find_only_children( fit );
    for ( int j = 0; j < fit->skeleton->joint_count; ++j )
        limb_build( fit, rest, j );
}

static mat3 diagonal( double s )
{
    return ( mat3 ){ { s, 0, 0 }, { 0, s, 0 }, { 0, 0, s } };
}

// Orthonormal axes hinge h, bone l and side m = h × l with stiffness s about h, (1 + hinge b) s about m and
// twist s about l; S has the axes, divided by the roots of these, for columns. How far the limb
// is a hinge at all, b = n² / (n² + (STRAIGHT/10)²), comes from the length of n, which is the plane's own
// normal plus a little of the rest pose's. A straight limb without a plane has b = 0: then h may be any
// direction across the bone, and P = S Sᵀ, which alone matters, is continuous.
tr_fit_axes tr_fit_joint_axes( const tr_fit *fit, int joint, quat centre )
{
    const tr_fit_limb *limb = &fit->limbs[joint];
    double compliance = 1.0 / sqrt( limb->stiffness ); // 0 when locked
    tr_fit_axes axes = { .factor = diagonal( compliance ) };
    if ( !( v3_dot( limb->bone_out, limb->bone_out ) > 0 ) || !( compliance > 0 ) )
        return axes;
    vec3 l = q_rotate( centre, limb->bone_out );
    vec3 own = v3_cross( limb->bone_in, l );
    vec3 n = v3_mad( own, STRAIGHT, limb->bend );
    n = v3_mad( n, -v3_dot( n, l ), l );
    double nn = v3_dot( n, n ), b = nn / ( nn + 0.01 * STRAIGHT * STRAIGHT );
    vec3 h = v3_length( n ) > 1e-9 ? v3_unit( n ) : v3_perpendicular( l );
    double sideways = fit->def.hinge * b;
    axes.factor.cx = v3_scale( compliance, h );
    axes.factor.cy = v3_scale( compliance / sqrt( fit->def.twist ), l );
    axes.factor.cz = v3_scale( compliance / sqrt( 1.0 + sideways ), v3_cross( h, l ) );
    axes.hinged = limb->span > 0 && v3_length( n ) > 1e-9;
    if ( axes.hinged ) {
        axes.bend = atan2( v3_dot( own, h ), v3_dot( limb->bone_in, l ) );
        axes.least = fmin( -axes.bend, 0.0 ) / compliance;
        axes.most = fmax( FOLDED - axes.bend, 0.0 ) / compliance;
    }
    return axes;
}
