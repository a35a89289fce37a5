// Aligns rest poses of bodies with different numbers of legs. A wolf's back must not become upright, nor its
// legs straight, so standing poses are aligned instead of bones.
//
// A body with four or more legs stands in its rest pose. A body with two legs stands with its trunk upright
// and its limbs straight down. With D_j the turn of a joint from that pose to the rest pose, and H the turn
// about the vertical that makes both bodies face the same way, the posture of a target joint j driven by the
// source joint i is
//
//   D_i(source) · H · D_j(target)⁻¹,   D = 1 for a body on more than two legs.
//
// So the wolf's front legs stand while a person's arms hang, and swing as they do.
#include "actor/posture.h"

typedef struct stander { // one of the two bodies
    const tr_skeleton *skeleton;
    const vec3 *positions;
    vec3 lateral;
    bool upright; // on two legs
    quat trunk;   // D of the trunk
} stander;

// From the pelvis to the last joint of the back, the neck or the head.
static vec3 trunk_way( const tr_skeleton *skeleton, const vec3 *positions )
{
    int pelvis = 0, top = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        tr_role role = skeleton->joints[j].role;
        if ( role == TR_ROLE_ROOT )
            pelvis = j;
        if ( role == TR_ROLE_SPINE || role == TR_ROLE_NECK )
            top = j;
    }
    return v3_sub( positions[top], positions[pelvis] );
}

static stander stander_of( const tr_skeleton *skeleton, const vec3 *positions )
{
    stander s = { skeleton, positions, tr_lateral_axis( skeleton, positions ), tr_leg_count( skeleton ) == 2,
                  q_identity };
    vec3 trunk = trunk_way( skeleton, positions );
    if ( s.upright && v3_length( trunk ) > TR_SHORT_BONE )
        s.trunk = q_between( v3_y, trunk );
    return s;
}

// The bone below a joint of a limb; zero when it has none of some length.
static vec3 bone_of( const stander *s, int joint )
{
    for ( int c = joint + 1; c < s->skeleton->joint_count; ++c )
        if ( s->skeleton->joints[c].parent == joint &&
             s->skeleton->joints[c].limb == s->skeleton->joints[joint].limb &&
             tr_bone_length( s->skeleton, c ) > TR_SHORT_BONE )
            return v3_sub( s->positions[c], s->positions[joint] );
    return v3_zero;
}

// Arms are raised sideways from where they hang, so that arms held out in a T are not twisted.
static quat from_hanging( const stander *s, int joint, vec3 way )
{
    const tr_joint *j = &s->skeleton->joints[joint];
    vec3 down = v3_scale( -1, v3_y ), out = v3_scale( j->side == TR_SIDE_RIGHT ? -1 : 1, s->lateral );
    bool arm = j->role == TR_ROLE_UPPER_ARM || j->role == TR_ROLE_FOREARM;
    if ( !arm || v3_length( out ) < 0.5 )
        return q_between( down, way );
    return q_mul( q_between( out, way ), q_between( down, out ) );
}

// D of a joint, see above.
static quat raised( const stander *s, int joint )
{
    if ( !s->upright )
        return q_identity;
    for ( int j = joint; j >= 0; j = s->skeleton->joints[j].parent ) {
        tr_role role = s->skeleton->joints[j].role;
        bool limb = role == TR_ROLE_THIGH || role == TR_ROLE_SHIN || role == TR_ROLE_UPPER_ARM ||
                    role == TR_ROLE_FOREARM;
        vec3 way = limb ? bone_of( s, j ) : v3_zero;
        if ( v3_length( way ) > TR_SHORT_BONE )
            return from_hanging( s, j, way );
        bool end = role == TR_ROLE_FOOT || role == TR_ROLE_TOE || role == TR_ROLE_HAND ||
                   role == TR_ROLE_FINGER || role == TR_ROLE_OTHER;
        if ( !limb && !end )
            break;
    }
    return s->trunk;
}

static quat facing( const stander *source, const stander *target, double least )
{
    vec3 from = v3_horizontal( target->lateral ), to = v3_horizontal( source->lateral );
    if ( v3_length( from ) < least || v3_length( to ) < least )
        return q_identity;
    return q_axis_angle( v3_y, atan2( from.z, from.x ) - atan2( to.z, to.x ) );
}

// Angle of legs and trunk from the standing pose; arms do not count.
static void add_effort( tr_effort *effort, const stander *s, double most_lean )
{
    double turn = q_angle( q_identity, s->trunk );
    effort->sum += turn * turn;
    effort->too_far = effort->too_far || turn > most_lean;
    for ( int j = 0; s->upright && j < s->skeleton->joint_count; ++j ) {
        tr_role role = s->skeleton->joints[j].role;
        if ( role != TR_ROLE_THIGH && role != TR_ROLE_SHIN )
            continue;
        turn = q_angle( q_identity, raised( s, j ) );
        effort->sum += turn * turn;
        effort->too_far = effort->too_far || turn > most_lean;
    }
}

tr_effort tr_stand_alike( const tr_rest_pair *rest, quat *postures )
{
    const tr_actor *actor = rest->actor;
    stander source = stander_of( &actor->source.skeleton, rest->source.positions );
    stander target = stander_of( &actor->target, rest->target.positions );
    quat heading = facing( &source, &target, rest->def->least_lateral );
    tr_effort effort = { 0, false };
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        quat from = raised( &source, actor->map[j] < 0 ? 0 : actor->map[j] );
        postures[j] = q_mul( q_mul( from, heading ), q_conj( raised( &target, j ) ) );
    }
    add_effort( &effort, &source, rest->def->most_lean );
    add_effort( &effort, &target, rest->def->most_lean );
    return effort;
}

// ------------------------------------------------------------------------------------------------- height

// From the hip of a leg down to its foot, or to its lowest joint where it has none.
static double leg_height( const tr_skeleton *skeleton, const vec3 *positions, int limb )
{
    double hip = -INFINITY, foot = INFINITY, lowest = INFINITY;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        if ( skeleton->joints[j].limb != limb )
            continue;
        if ( skeleton->joints[j].role == TR_ROLE_THIGH )
            hip = fmax( hip, positions[j].y );
        if ( skeleton->joints[j].role == TR_ROLE_FOOT )
            foot = fmin( foot, positions[j].y );
        lowest = fmin( lowest, positions[j].y );
    }
    return hip - ( isfinite( foot ) ? foot : lowest );
}

double tr_standing_leg( const tr_skeleton *skeleton )
{
    size_t n = (size_t)skeleton->joint_count;
    int legs = tr_leg_count( skeleton );
    if ( legs <= 2 )
        return tr_skeleton_leg_length( skeleton );
    tr_pose pose = { tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    double sum = 0;
    if ( pose.rotations != NULL && pose.positions != NULL ) {
        tr_forward_rest( skeleton, pose );
        for ( int i = 0; i < skeleton->limb_count; ++i )
            if ( skeleton->limbs[i].kind == TR_LIMB_LEG )
                sum += leg_height( skeleton, pose.positions, i ) / legs;
    }
    tr_free( pose.rotations );
    tr_free( pose.positions );
    return isfinite( sum ) && sum > 0 ? sum : tr_skeleton_leg_length( skeleton );
}
