// Heads, tails and hands that no rule holds. The fit turns a chest to let a foot reach its place, and what
// hangs on the chest would turn with it: the eyes leave what they look at, palms tip over. So the first joint
// of everything no rule speaks of turns back until it points in the world as it was copied, by a neck's or a
// wrist's measure:
//
//   angle ↦ angle / √(1 + (angle / end_turn)²)
//
// and, of angles beyond end_far, less and less up to half a turn, where the way back changes sides.
// Which parts are free holds for the whole clip, so nothing switches in time.
#include "cluster/private.h"

static const double no_angle = 1e-12; // radians: below this a turn has no axis

// The joint whose turning moves what the rule holds: not the joint itself, if only its place counts.
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
          --j ) // of a free part the first joint turns, fingers never
        if ( ends[skeleton->joints[j].parent] != TR_END_NONE || tr_extremity_carrier( skeleton, j ) != j )
            ends[j] = TR_END_NONE;
    for ( int j = 1; j < skeleton->joint_count; ++j )
        if ( ends[skeleton->joints[j].parent] != TR_END_NONE )
            ends[j] = TR_END_BELOW;
}

// Turns one joint of a pose back, as far as it goes.
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

// What is above one that turns back does not: in the pose, all of them are where they turn from.
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
