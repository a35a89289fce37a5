// Chains: a limb of the target driven by a limb of the source with another number of joints.
//
// A place on a chain is measured along its bones, from 0 at the first joint to 1 at the last. A target joint
// at place s gets the rotation of the source there: that of a source joint at its own place, and the slerp of
// two between them. So ends follow ends, a neck of four joints bends evenly, and chains with equal numbers of
// joints map joint by joint, whatever the lengths of their bones.
#include "actor/joint_map.h"

#define SAME_PLACE 1e-6 // share of a chain: nearer places are the same, up to rounding

typedef struct chain_path { // the joints of a chain and their places
    int *joints;            // [count]
    double *places;         // [count]
    int count;
} chain_path;

static void path_free( chain_path *path )
{
    tr_free( path->joints );
    tr_free( path->places );
}

static bool path_build( chain_path *path, const tr_skeleton *skeleton, const int ends[2] )
{
    int count = 1;
    for ( int j = ends[1]; j != ends[0]; j = skeleton->joints[j].parent )
        count++;
    *path = ( chain_path ){ .joints = tr_alloc( (size_t)count, sizeof( int ) ),
                            .places = tr_alloc( (size_t)count, sizeof( double ) ),
                            .count = count };
    if ( path->joints == NULL || path->places == NULL ) {
        path_free( path );
        return false;
    }
    for ( int i = count - 1, j = ends[1]; i >= 0; --i, j = skeleton->joints[j].parent )
        path->joints[i] = j;
    for ( int i = 1; i < count; ++i )
        path->places[i] = path->places[i - 1] + tr_bone_length( skeleton, path->joints[i] );
    const double least = 1e-9; // metres: all joints are at one place, up to rounding
    double length = path->places[count - 1];
    for ( int i = 1; i < count; ++i )
        path->places[i] = length > least ? path->places[i] / length : (double)i / ( count - 1 );
    return true;
}

static void drive( tr_actor *actor, const chain_path *target, const chain_path *source, int at )
{
    int joint = target->joints[at], i = 0;
    double place = target->count > 1 ? target->places[at] : 0.5; // a lone joint stands for all of them
    if ( target->count == source->count ) {
        i = at;
        place = source->places[at];
    }
    while ( ( at > 0 || target->count == 1 ) && i + 2 < source->count && source->places[i + 1] <= place )
        i++;
    double share = 0;
    if ( i + 1 < source->count && source->places[i + 1] - source->places[i] > SAME_PLACE )
        share = clampd( ( place - source->places[i] ) / ( source->places[i + 1] - source->places[i] ), 0, 1 );
    bool last = share > 1 - SAME_PLACE || ( at > 0 && at + 1 == target->count );
    actor->map[joint] = source->joints[last && i + 1 < source->count ? i + 1 : i];
    actor->blends[joint] = ( tr_map_blend ){ 0 };
    if ( !last && share > SAME_PLACE )
        actor->blends[joint] = ( tr_map_blend ){ source->joints[i + 1], share, q_identity };
}

bool tr_joint_map_spread( tr_actor *actor, const tr_map_chain *chain, tr_error *error )
{
    if ( actor->blends == NULL )
        actor->blends = tr_alloc( (size_t)actor->target.joint_count, sizeof( tr_map_blend ) );
    chain_path target, source;
    if ( actor->blends == NULL ||
         !tr_array_reserve( (void **)&actor->chains, &actor->chain_capacity, actor->chain_count + 1,
                            sizeof( tr_map_chain ) ) ||
         !path_build( &target, &actor->target, chain->target ) )
        return tr_error_memory( error );
    if ( !path_build( &source, &actor->source.skeleton, chain->source ) ) {
        path_free( &target );
        return tr_error_memory( error );
    }
    for ( int i = 0; i < target.count; ++i )
        drive( actor, &target, &source, i );
    actor->chains[actor->chain_count++] = *chain;
    path_free( &target );
    path_free( &source );
    return true;
}

// --------------------------------------------------------------------------------------------- suggestion
// A run is a chain of a body: back, neck and head, an arm from shoulder to wrist, a leg from hip to ankle, a
// tail. Runs of the same kind and side correspond in order; with different numbers of legs, as limbs are
// paired. Runs with different numbers of joints become chains; others are mapped by name.

typedef enum run_kind { RUN_NONE, RUN_SPINE, RUN_NECK, RUN_ARM, RUN_LEG, RUN_TAIL } run_kind;

typedef struct run_rules {
    const tr_limb_pairs *pairs;
    bool whole_legs; // one of the bodies has legs without feet: legs go down to their tips on both
} run_rules;

static run_kind kind_of( const run_rules *rules, const tr_joint *joint )
{
    if ( joint->end_site )
        return RUN_NONE;
    switch ( tr_limb_pairs_role( rules->pairs, joint->role ) ) {
    case TR_ROLE_SPINE: return RUN_SPINE;
    case TR_ROLE_NECK:
    case TR_ROLE_HEAD: return RUN_NECK;
    case TR_ROLE_UPPER_ARM:
    case TR_ROLE_FOREARM:
    case TR_ROLE_HAND: return RUN_ARM;
    case TR_ROLE_THIGH:
    case TR_ROLE_SHIN:
    case TR_ROLE_FOOT: return RUN_LEG;
    case TR_ROLE_TOE: return rules->whole_legs ? RUN_LEG : RUN_NONE;
    case TR_ROLE_TAIL: return RUN_TAIL;
    default: return RUN_NONE;
    }
}

static bool has_feet( const tr_skeleton *skeleton )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( skeleton->joints[j].role == TR_ROLE_FOOT )
            return true;
    return false;
}

static bool continues( const run_rules *rules, const tr_skeleton *skeleton, int joint )
{
    const tr_joint *j = &skeleton->joints[joint];
    run_kind kind = kind_of( rules, j );
    return kind != RUN_NONE && j->parent >= 0 && skeleton->joints[j->parent].limb == j->limb &&
           kind_of( rules, &skeleton->joints[j->parent] ) == kind;
}

// Follows a run down from its first joint. Where it branches, the first child goes on (a spine's, a foot's).
static int run_end( const run_rules *rules, const tr_skeleton *skeleton, int first, int *count )
{
    int last = first;
    *count = 1;
    for ( int j = first + 1; j < skeleton->joint_count; ++j )
        if ( skeleton->joints[j].parent == last && continues( rules, skeleton, j ) ) {
            last = j;
            ++*count;
        }
    return last;
}

// The first joint of the corresponding run of the source, or -1. rank: number of runs of the same kind and
// side before it.
static int find_run( const run_rules *rules, int first, int rank )
{
    const tr_skeleton *source = rules->pairs->source;
    const tr_joint *target = &rules->pairs->target->joints[first];
    run_kind kind = kind_of( rules, target );
    bool paired = rules->pairs->differ && kind == RUN_LEG;
    for ( int j = 0; j < source->joint_count; ++j ) {
        const tr_joint *joint = &source->joints[j];
        bool goes = kind_of( rules, joint ) == kind && !continues( rules, source, j ) &&
                    ( paired ? tr_limbs_pair( rules->pairs, target->limb, joint->limb )
                             : joint->side == target->side );
        if ( goes && ( paired || rank-- == 0 ) )
            return j;
    }
    return -1;
}

bool tr_joint_map_suggest_chains( tr_actor *actor, const tr_limb_pairs *pairs, tr_error *error )
{
    const tr_skeleton *target = &actor->target, *source = &actor->source.skeleton;
    run_rules rules = { pairs, !has_feet( target ) || !has_feet( source ) };
    int ranks[RUN_TAIL + 1][3] = { { 0 } };
    for ( int j = 0; j < target->joint_count; ++j ) {
        run_kind kind = kind_of( &rules, &target->joints[j] );
        if ( kind == RUN_NONE || continues( &rules, target, j ) )
            continue;
        int from = find_run( &rules, j, ranks[kind][target->joints[j].side]++ ), target_count, source_count;
        if ( from < 0 )
            continue;
        tr_map_chain chain = { { j, run_end( &rules, target, j, &target_count ) },
                               { from, run_end( &rules, source, from, &source_count ) } };
        // A head without a neck maps to the head, not to the middle of neck and head.
        bool end_alone = target_count == 1 && target->joints[j].role == source->joints[chain.source[1]].role;
        if ( target_count != source_count && !end_alone && !tr_joint_map_spread( actor, &chain, error ) )
            return false;
    }
    return true;
}
