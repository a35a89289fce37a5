// Where limbs begin and end, and how long they are.
#include "motion/motion.h"

bool tr_role_is_extremity( tr_role role )
{
    return role == TR_ROLE_HAND || role == TR_ROLE_FINGER || role == TR_ROLE_FOOT || role == TR_ROLE_TOE;
}

// The same joint, or parts of the same hand or foot.
bool tr_same_extremity( const tr_skeleton *skeleton, int a, int b )
{
    const tr_joint *p = &skeleton->joints[a], *q = &skeleton->joints[b];
    return a == b ||
           ( p->limb == q->limb && tr_role_is_extremity( p->role ) && tr_role_is_extremity( q->role ) );
}

int tr_extremity_carrier( const tr_skeleton *skeleton, int joint )
{
    for ( int up = skeleton->joints[joint].parent; up >= 0 && tr_same_extremity( skeleton, up, joint );
          up = skeleton->joints[up].parent )
        joint = up;
    return joint;
}

static bool hangs( const tr_skeleton *skeleton, int joint ) // on the trunk, or on what does
{
    tr_limb_kind kind = skeleton->limbs[skeleton->joints[joint].limb].kind;
    return joint > 0 && skeleton->joints[joint].role != TR_ROLE_CLAVICLE &&
           ( kind == TR_LIMB_ARM || kind == TR_LIMB_LEG || kind == TR_LIMB_TAIL );
}

// Shoulder or hip; the trunk itself hangs on the root.
int tr_limb_base( const tr_skeleton *skeleton, int joint )
{
    bool limb = hangs( skeleton, joint );
    while ( joint > 0 && !( limb && !hangs( skeleton, skeleton->joints[joint].parent ) ) )
        joint = skeleton->joints[joint].parent;
    return joint;
}

// Along the bones.
double tr_limb_way( const tr_skeleton *skeleton, int a, int b )
{
    double sum = 0;
    while ( a != b ) { // parents have smaller numbers
        int *lower = a > b ? &a : &b;
        sum += tr_bone_length( skeleton, *lower );
        *lower = skeleton->joints[*lower].parent;
    }
    return sum;
}
