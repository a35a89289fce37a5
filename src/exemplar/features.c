// What poses of the source are compared by.
#include "exemplar/private.h"

static int first_of( const tr_skeleton *skeleton, tr_role role, tr_side side )
{
    int joint;
    return tr_skeleton_find_role( skeleton, role, side, &joint, 1 ) > 0 ? joint : -1;
}

// Fingers and toes are small and noisy, and a joint at its parent's place adds nothing.
static bool counts( const tr_skeleton *skeleton, int joint )
{
    const tr_joint *j = &skeleton->joints[joint];
    return !j->end_site && j->role != TR_ROLE_FINGER && j->role != TR_ROLE_TOE &&
           tr_bone_length( skeleton, joint ) > TR_SHORT_BONE;
}

// The next joint towards the root that counts, the root where there is none.
static int above( const tr_skeleton *skeleton, int joint )
{
    int j = skeleton->joints[joint].parent;
    while ( j > 0 && !counts( skeleton, j ) )
        j = skeleton->joints[j].parent;
    return j > 0 ? j : 0;
}

static quat rest_rotation( const tr_skeleton *skeleton, int joint )
{
    quat q = q_identity;
    for ( int j = joint; j >= 0; j = skeleton->joints[j].parent )
        q = q_mul( skeleton->joints[j].rest, q );
    return q;
}

void tr_features_build( tr_features *out, const tr_skeleton *source, double look )
{
    *out = ( tr_features ){ .look = look };
    out->thighs[0] = first_of( source, TR_ROLE_THIGH, TR_SIDE_LEFT );
    out->thighs[1] = first_of( source, TR_ROLE_THIGH, TR_SIDE_RIGHT );
    if ( out->thighs[1] < 0 )
        out->thighs[0] = -1;
    out->head = first_of( source, TR_ROLE_HEAD, TR_SIDE_NONE );
    out->root_rest = rest_rotation( source, 0 );
    out->head_rest = out->head >= 0 ? rest_rotation( source, out->head ) : q_identity;
    double leg = tr_skeleton_leg_length( source );
    leg = leg > TR_SHORT_BONE ? leg : 1.0;
    int total = 0;
    for ( int j = 1; j < source->joint_count; ++j )
        total += counts( source, j );
    // A body with more joints than fit is sampled evenly.
    int seen = 0;
    for ( int j = 1; j < source->joint_count && out->joint_count < TR_FEATURE_JOINTS; ++j ) {
        if ( !counts( source, j ) )
            continue;
        bool taken =
            total <= TR_FEATURE_JOINTS || (long)out->joint_count * total <= (long)seen * TR_FEATURE_JOINTS;
        if ( taken ) {
            int from = above( source, j );
            out->from[out->joint_count] = from;
            out->share[out->joint_count] = 1.0 / sqrt( leg * tr_limb_way( source, from, j ) );
            out->joints[out->joint_count++] = j;
        }
        seen++;
    }
    out->count = 3 * out->joint_count + 3;
}

quat tr_features_facing( const tr_features *features, tr_pose pose )
{
    if ( features->thighs[0] < 0 )
        return q_axis_angle( v3_y, q_heading( q_mul( pose.rotations[0], q_conj( features->root_rest ) ) ) );
    vec3 left = v3_sub( pose.positions[features->thighs[0]], pose.positions[features->thighs[1]] );
    return q_axis_angle( v3_y, atan2( -left.z, left.x ) );
}

quat tr_exemplar_faces( const tr_skeleton *source, tr_pose pose )
{
    tr_features features;
    tr_features_build( &features, source, 0 );
    return tr_features_facing( &features, pose );
}

static void put( double *out, vec3 v )
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

void tr_features_of( const tr_features *features, tr_pose pose, double *out )
{
    quat facing = tr_features_facing( features, pose );
    vec3 middle = features->thighs[0] < 0 ? pose.positions[0]
                                          : v3_lerp( pose.positions[features->thighs[0]],
                                                     pose.positions[features->thighs[1]], 0.5 );
    for ( int i = 0; i < features->joint_count; ++i ) {
        int from = features->from[i];
        vec3 bone = v3_sub( pose.positions[features->joints[i]], from > 0 ? pose.positions[from] : middle );
        put( out + 3 * i, v3_scale( features->share[i], q_unrotate( facing, bone ) ) );
    }
    vec3 look = v3_zero;
    if ( features->head >= 0 )
        look = q_rotate( q_mul( pose.rotations[features->head], q_conj( features->head_rest ) ), v3_z );
    put( out + 3 * features->joint_count, v3_scale( sqrt( features->look ), q_unrotate( facing, look ) ) );
}
