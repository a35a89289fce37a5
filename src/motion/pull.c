// Posing by hand: joints that are turned, and chains that are pulled.
#include "motion/motion.h"

static quat world_turn( const tr_skeleton *skeleton, const quat *local, int joint )
{
    quat turn = local[joint];
    for ( int j = skeleton->joints[joint].parent; j >= 0; j = skeleton->joints[j].parent )
        turn = q_mul( local[j], turn );
    return turn;
}

vec3 tr_pose_place( const tr_skeleton *skeleton, const quat *local, vec3 root, int joint )
{
    vec3 place = v3_zero;
    for ( int j = joint; j > 0; j = skeleton->joints[j].parent )
        place = q_rotate( local[skeleton->joints[j].parent], v3_add( skeleton->joints[j].offset, place ) );
    return v3_add( root, place );
}

void tr_pose_turn( const tr_skeleton *skeleton, quat *local, int joint, quat turn )
{
    int parent = skeleton->joints[joint].parent;
    quat above = parent >= 0 ? world_turn( skeleton, local, parent ) : q_identity;
    local[joint] = q_unit( q_mul( q_mul( q_conj( above ), q_mul( turn, above ) ), local[joint] ) );
}

tr_pull_def tr_default_pull_def( void )
{
    return ( tr_pull_def ){ .passes = 60, .near = 1e-4, .share = 0.33 };
}

// Cyclic coordinate descent.
void tr_pose_pull( const tr_pull_def *def, const tr_skeleton *skeleton, quat *local, vec3 root, int first,
                   int last, vec3 goal )
{
    for ( int pass = 0; pass < def->passes; ++pass ) {
        if ( v3_distance( tr_pose_place( skeleton, local, root, last ), goal ) < def->near )
            return;
        for ( int j = skeleton->joints[last].parent; j >= 0; j = skeleton->joints[j].parent ) {
            vec3 pivot = tr_pose_place( skeleton, local, root, j ),
                 way = v3_sub( tr_pose_place( skeleton, local, root, last ), pivot ),
                 wanted = v3_sub( goal, pivot );
            if ( v3_length( way ) > TR_SHORT_BONE && v3_length( wanted ) > TR_SHORT_BONE ) {
                vec3 turn = q_to_vector( q_between( v3_unit( way ), v3_unit( wanted ) ) );
                tr_pose_turn( skeleton, local, j, q_from_vector( v3_scale( def->share, turn ) ) );
            }
            if ( j == first )
                break;
        }
    }
}

static bool branches( const tr_skeleton *skeleton, int joint )
{
    int count = 0;
    for ( int j = joint + 1; j < skeleton->joint_count; ++j )
        count += skeleton->joints[j].parent == joint && !skeleton->joints[j].end_site;
    return count > 1;
}

int tr_pose_chain( const tr_skeleton *skeleton, int joint )
{
    int first = skeleton->joints[joint].parent;
    while ( first > 0 && skeleton->joints[first].parent > 0 &&
            !branches( skeleton, skeleton->joints[first].parent ) )
        first = skeleton->joints[first].parent;
    return first;
}
