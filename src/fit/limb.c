// Stiffness and hinges of the joints of a skeleton: knees and elbows are hinges, long bones resist twist.
#include "fit/private.h"

#define SHORT_BONE 1e-6 // metres: shorter bones are rounding and have no direction

static bool is_long_bone( tr_role role )
{
    return role == TR_ROLE_UPPER_ARM || role == TR_ROLE_FOREARM || role == TR_ROLE_THIGH ||
           role == TR_ROLE_SHIN;
}

static bool is_hinge( tr_role role )
{
    return role == TR_ROLE_FOREARM || role == TR_ROLE_SHIN;
}

// The child that continues the limb of a joint: same limb, longest bone. -1 if there is none.
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

// Direction of the toes below `joint` in the rest pose, perpendicular to the shin. Zero if there are no toes.
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

// World normal of the plane a limb bends in, in the rest pose. A bent rest pose has such a plane. In a
// straight one, knees move the foot backwards and elbows move the hand forwards; forwards is where the toes
// point.
static vec3 rest_bend( const tr_fit *fit, tr_pose rest, int joint, vec3 in, vec3 out )
{
    const tr_skeleton *skeleton = fit->skeleton;
    vec3 normal = v3_cross( in, out );
    if ( v3_length( normal ) > fit->def.straight )
        return v3_unit( normal );
    bool knee = skeleton->joints[joint].role == TR_ROLE_SHIN;
    vec3 towards =
        knee ? v3_negate( toes_direction( skeleton, rest, joint ) ) : toes_direction( skeleton, rest, 0 );
    normal = v3_cross( in, towards );
    return v3_length( normal ) > fit->def.least_toes ? v3_unit( normal ) : v3_zero;
}

static void limb_build( const tr_fit *fit, tr_pose rest, int j )
{
    const tr_skeleton *skeleton = fit->skeleton;
    const tr_joint *joint = &skeleton->joints[j];
    tr_fit_limb *limb = &fit->limbs[j];
    // A root on the floor below the pelvis must not turn: it would swing the whole body.
    bool moves_only = joint->end_site || tr_joint_carries_pelvis( skeleton, j );
    limb->stiffness = moves_only ? INFINITY : fit->def.stiffness[joint->role];
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
    vec3 bend = rest_bend( fit, rest, j, q_rotate( above, limb->bone_in ),
                           q_rotate( rest.rotations[j], limb->bone_out ) );
    limb->bend = q_unrotate( above, bend );
}

static void find_children( const tr_fit *fit )
{
    int count = fit->skeleton->joint_count;
    for ( int j = 0; j < count; ++j ) {
        fit->limbs[j].only_child = TR_FIT_NO_CHILD;
        fit->limbs[j].first_child = fit->limbs[j].next_child = -1;
    }
    for ( int j = count - 1; j > 0; --j ) { // backwards: each child becomes the first of its parent's list
        tr_fit_limb *parent = &fit->limbs[fit->skeleton->joints[j].parent];
        fit->limbs[j].next_child = parent->first_child;
        parent->first_child = j;
        if ( tr_bone_length( fit->skeleton, j ) > SHORT_BONE )
            parent->only_child = parent->only_child == TR_FIT_NO_CHILD ? j : TR_FIT_SEVERAL;
    }
}

void tr_fit_limbs_build( tr_fit *fit, tr_pose rest )
{
    find_children( fit );
    for ( int j = 0; j < fit->skeleton->joint_count; ++j )
        limb_build( fit, rest, j );
}

tr_fit_axes tr_fit_joint_axes( const tr_fit *fit, int joint, quat centre )
{
    return tr_fit_axes_double( fit, joint, centre );
}
