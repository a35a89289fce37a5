// Heads, tails and hands that no rule holds. When the fit turns the chest, for example for a foot to reach
// its place, head and hands would turn with it. So the first joint of each part that no rule holds turns back
// towards its copied world rotation, within the range of a neck or wrist:
//
//   angle ↦ angle / √(1 + (angle / end_turn)²)
//
// and less for angles beyond end_far, down to nothing at half a turn, where the way back changes sides. Parts
// are free for the whole clip, so nothing switches in time.
#include "cluster/private.h"

static const double no_angle = 1e-12; // radians: below this a turn has no axis

// The joint whose rotation moves the point of a rule: not the joint itself if the rule is about its place.
static int moved_by( const tr_skeleton *skeleton, const tr_rule *rule, const tr_anchor *anchor, int term )
{
    bool place_only = rule->kind == TR_CONSTRAINT_RELATIVE || rule->kind == TR_CONSTRAINT_LENGTH ||
                      ( rule->kind == TR_CONSTRAINT_ABSOLUTE && !tr_rule_stays( rule ) );
    bool turns = !place_only || rule->partner_space || v3_dot( anchor->offset, anchor->offset ) > 0;
    int joint = anchor->joints[term];
    return turns ? joint : skeleton->joints[joint].parent;
}

void tr_ends_find( const tr_stage *stage, int actor, const int *rules, int rule_count, tr_end *ends )
{
    const tr_skeleton *skeleton = &stage->actors[actor].target;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        ends[j] = j > 0 ? TR_END_TURNS : TR_END_NONE; // free, as yet
    for ( int i = 0; i < rule_count; ++i )
        for ( int e = 0; e < 2; ++e ) {
            const tr_rule *rule = &stage->rules[rules[i]];
            const tr_anchor *anchor = e == 0 ? &rule->a : &rule->b;
            bool mine = anchor->actor == actor, whole = mine && anchor->count == 0; // its centre of mass
            for ( int j = 0; whole && j < skeleton->joint_count; ++j )
                ends[j] = TR_END_NONE;
            for ( int t = 0; mine && t < anchor->count; ++t )
                for ( int j = moved_by( skeleton, rule, anchor, t ); j > 0; j = skeleton->joints[j].parent )
                    ends[j] = TR_END_NONE;
        }
    for ( int j = skeleton->joint_count - 1; j > 0;
          --j ) // in a free part the first joint turns, fingers never
        if ( ends[skeleton->joints[j].parent] != TR_END_NONE || tr_extremity_carrier( skeleton, j ) != j )
            ends[j] = TR_END_NONE;
    for ( int j = 1; j < skeleton->joint_count; ++j )
        if ( ends[skeleton->joints[j].parent] != TR_END_NONE )
            ends[j] = TR_END_BELOW;
}

// Turns one joint of a pose back.
static void turn_back( const tr_cluster_fit_def *def, const quat *copied, quat *local, quat above, quat world,
                       int j )
{
    vec3 back = q_to_vector( q_mul( copied[j], q_conj( world ) ) );
    double angle = v3_length( back );
    if ( !( angle > no_angle ) )
        return;
    double share = 1.0 / sqrt( 1.0 + angle * angle / ( def->end_turn * def->end_turn ) );
    share *= smooth_step5( ( TR_PI - angle ) / ( TR_PI - def->end_far ) );
    world = q_mul( q_from_vector( v3_scale( share, back ) ), world );
    local[j] = q_unit( q_mul( q_conj( above ), world ) );
}

// Joints above one that turns back do not turn, so the pose has all joints as they were before.
bool tr_ends_turn_back( const tr_cluster_fit_def *def, const tr_skeleton *skeleton, const tr_end *ends,
                        const quat *copied, tr_pose pose, quat *local )
{
    bool any = false;
    for ( int j = 1; j < skeleton->joint_count; ++j )
        if ( ends[j] == TR_END_TURNS ) {
            turn_back( def, copied, local, pose.rotations[skeleton->joints[j].parent], pose.rotations[j], j );
            any = true;
        }
    return any;
}
