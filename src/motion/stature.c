#include "motion/stature.h"

int tr_limb_kind_count( const tr_skeleton *skeleton, tr_limb_kind kind )
{
    int count = 0;
    for ( int i = 0; i < skeleton->limb_count; ++i )
        count += skeleton->limbs[i].kind == kind;
    return count;
}

// Length of the bones from the body's root to the top of its head.
static double trunk_length( const tr_skeleton *skeleton )
{
    double longest = 0;
    enum { MOST_HEADS = 64 }; // and children of heads: what a body can have, and soon done
    int heads = 0;
    for ( int j = 0; j < skeleton->joint_count && heads < MOST_HEADS; ++j ) {
        int parent = skeleton->joints[j].parent;
        bool head = skeleton->joints[j].role == TR_ROLE_HEAD;
        if ( !head && ( parent < 0 || skeleton->joints[parent].role != TR_ROLE_HEAD ) )
            continue;
        heads++;
        double length = 0;
        for ( int i = j; i > 0 && skeleton->joints[i].role != TR_ROLE_ROOT; i = skeleton->joints[i].parent )
            length += tr_bone_length( skeleton, i );
        longest = fmax( longest, length );
    }
    return longest;
}

tr_stature_def tr_default_stature_def( void )
{
    return ( tr_stature_def ){ .least_rest = 0.95, .most_rest = 1.12, .of_bones = 1.08 };
}

double tr_stature( const tr_skeleton *skeleton )
{
    double rest = tr_skeleton_height( skeleton );
    double trunk = trunk_length( skeleton );
    if ( tr_limb_kind_count( skeleton, TR_LIMB_LEG ) != 2 || !( trunk > 0 ) )
        return rest;
    double bones = tr_skeleton_leg_length( skeleton ) + trunk;
    tr_stature_def def = tr_default_stature_def();
    bool plausible = rest > def.least_rest * bones && rest < def.most_rest * bones;
    return plausible ? rest : def.of_bones * bones;
}

// Mean place of the joints with a role; false: there are none.
static bool mean_place( const tr_skeleton *skeleton, const vec3 *places, tr_role role, vec3 *out )
{
    vec3 sum = v3_zero;
    int count = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( skeleton->joints[j].role == role ) {
            sum = v3_add( sum, places[j] );
            ++count;
        }
    *out = v3_scale( count > 0 ? 1.0 / count : 0, sum );
    return count > 0;
}

vec3 tr_upwards( const tr_skeleton *skeleton, const vec3 *places )
{
    vec3 feet, head;
    bool both = mean_place( skeleton, places, TR_ROLE_FOOT, &feet ) &&
                ( mean_place( skeleton, places, TR_ROLE_HEAD, &head ) ||
                  mean_place( skeleton, places, TR_ROLE_NECK, &head ) );
    return both ? v3_sub( head, feet ) : v3_zero;
}
