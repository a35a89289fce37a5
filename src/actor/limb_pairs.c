// Pairs limbs of bodies with different numbers of legs.
//
// For a person and a wolf, arms pair with front legs and legs with hind legs. Otherwise legs pair with legs
// on each side, front to back, first with first and last with last. If the target has more legs, some of the
// source's drive two or more; a single pair of legs is driven by the source's last pair.
#include "actor/joint_map.h"

int tr_leg_count( const tr_skeleton *skeleton )
{
    int legs = 0;
    for ( int i = 0; i < skeleton->limb_count; ++i )
        legs += skeleton->limbs[i].kind == TR_LIMB_LEG;
    return legs;
}

bool tr_actor_legs_differ( const tr_actor *actor )
{
    return tr_leg_count( &actor->target ) != tr_leg_count( &actor->source.skeleton );
}

static bool has_arms( const tr_skeleton *skeleton )
{
    int arms = 0;
    for ( int i = 0; i < skeleton->limb_count; ++i )
        arms += skeleton->limbs[i].kind == TR_LIMB_ARM;
    return arms == 2;
}

static bool arms_meet_legs( const tr_skeleton *two, const tr_skeleton *four )
{
    return tr_leg_count( two ) == 2 && has_arms( two ) && tr_leg_count( four ) == 4 && !has_arms( four );
}

tr_limb_pairs tr_limb_pairs_of( const tr_skeleton *target, const tr_skeleton *source )
{
    return ( tr_limb_pairs ){ target, source, tr_leg_count( target ) != tr_leg_count( source ),
                              arms_meet_legs( target, source ) || arms_meet_legs( source, target ) };
}

tr_role tr_limb_pairs_role( const tr_limb_pairs *pairs, tr_role role )
{
    if ( !pairs->arms_walk )
        return role;
    switch ( role ) {
    case TR_ROLE_UPPER_ARM: return TR_ROLE_THIGH;
    case TR_ROLE_FOREARM: return TR_ROLE_SHIN;
    case TR_ROLE_HAND: return TR_ROLE_FOOT;
    case TR_ROLE_FINGER: return TR_ROLE_OTHER; // no toe
    default: return role;
    }
}

static bool walks( const tr_limb_pairs *pairs, const tr_limb *limb )
{
    return limb->kind == TR_LIMB_LEG || ( pairs->arms_walk && limb->kind == TR_LIMB_ARM );
}

// Front to back: arms, then legs in their order. Fills how many there are on that side.
static int place_of( const tr_limb_pairs *pairs, const tr_skeleton *skeleton, int limb, int *count )
{
    const tr_limb *own = &skeleton->limbs[limb];
    int place = 0;
    *count = 0;
    for ( int i = 0; i < skeleton->limb_count; ++i ) {
        const tr_limb *other = &skeleton->limbs[i];
        if ( !walks( pairs, other ) || other->side != own->side )
            continue;
        bool ahead = other->kind == own->kind ? i < limb : other->kind == TR_LIMB_ARM;
        place += ahead;
        ++*count;
    }
    return place;
}

bool tr_limbs_pair( const tr_limb_pairs *pairs, int target_limb, int source_limb )
{
    if ( target_limb >= pairs->target->limb_count || source_limb >= pairs->source->limb_count )
        return false;
    const tr_limb *target = &pairs->target->limbs[target_limb], *source = &pairs->source->limbs[source_limb];
    if ( target->side != source->side || !walks( pairs, target ) || !walks( pairs, source ) )
        return false;
    int targets, sources;
    int at = place_of( pairs, pairs->target, target_limb, &targets );
    int from = place_of( pairs, pairs->source, source_limb, &sources );
    double share = targets > 1 ? (double)at / ( targets - 1 ) : 1.0;
    return from == tr_int_clamped( share * ( sources - 1 ) + 0.5, 0, sources );
}
