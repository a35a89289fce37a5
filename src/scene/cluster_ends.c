// Heads, tails and hands that no rule holds. The fit turns a chest to let a foot reach its place, and what
// hangs on the chest would turn with it: the eyes leave what they look at, palms tip over. So the first joint
// of everything no rule speaks of turns back until it points in the world as it was copied, by a neck's or a
// wrist's measure:
//
//   angle ↦ angle / √(1 + (angle / LIMIT)²)
//
// Which parts are free holds for the whole clip, so nothing switches in time.
#include "scene/cluster.h"

#define LIMIT 0.6 // radians

// The joint whose turning moves what the rule holds: not the joint itself, if only its place counts.
static int moved_by( const tr_skeleton *skeleton, const tr_rule *rule, const tr_anchor *anchor, int term )
{
    bool place_only = rule->kind == TR_CONSTRAINT_RELATIVE || rule->kind == TR_CONSTRAINT_LENGTH ||
                      ( rule->kind == TR_CONSTRAINT_ABSOLUTE && !tr_rule_stays( rule ) );
    bool turns = !place_only || rule->partner_space || v3_dot( anchor->offset, anchor->offset ) > 0;
    int joint = anchor->joints[term];
    return turns ? joint : skeleton->joints[joint].parent;
}

void tr_ends_find( const tr_stage *stage, int actor, const int *rules, int rule_count, bool *ends )
{
    const tr_skeleton *skeleton = &stage->actors[actor].target;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        ends[j] = j > 0; // free, as yet
    for ( int i = 0; i < rule_count; ++i )
        for ( int e = 0; e < 2; ++e ) {
            const tr_rule *rule = &stage->rules[rules[i]];
            const tr_anchor *anchor = e == 0 ? &rule->a : &rule->b;
            bool mine = anchor->actor == actor, whole = mine && anchor->count == 0; // its centre of mass
            for ( int j = 0; whole && j < skeleton->joint_count; ++j )
                ends[j] = false;
            for ( int t = 0; mine && t < anchor->count; ++t )
                for ( int j = moved_by( skeleton, rule, anchor, t ); j > 0; j = skeleton->joints[j].parent )
                    ends[j] = false;
        }
    for ( int j = skeleton->joint_count - 1; j > 0;
          --j ) { // of a free part the first joint turns, fingers never
        int parent = skeleton->joints[j].parent;
        ends[j] = ends[j] && !ends[parent] && tr_extremity_carrier( skeleton, j ) == j;
    }
}

void tr_ends_turn_back( const tr_skeleton *skeleton, const bool *ends, const quat *copied, quat *local,
                        quat *world )
{
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        quat above = parent < 0 ? q_identity : world[parent];
        world[j] = q_mul( above, local[j] );
        if ( !ends[j] )
            continue;
        vec3 back = q_to_vector( q_mul( copied[j], q_conj( world[j] ) ) );
        double angle = v3_length( back );
        if ( !( angle > 1e-12 ) )
            continue;
        double share = 1.0 / sqrt( 1.0 + angle * angle / ( LIMIT * LIMIT ) );
        world[j] = q_mul( q_from_vector( v3_scale( share, back ) ), world[j] );
        local[j] = q_unit( q_mul( q_conj( above ), world[j] ) );
    }
}
