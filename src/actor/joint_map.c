// Which source joint drives which target joint.
//
// A map file is JSON: {"version": 1, "joints": {"<target joint>": "<source joint>", …}, "chains": [{"target":
// [first, last], "source": [first, last]}, …], "turns": {"<target joint>": [x, y, z, w], …}}. An entry in
// "joints" (null: nothing) overrides a chain. Target joints in neither are not driven. "turns" are the
// actor's `align` of all joints; for a joint between two source joints, four more numbers give that of the
// second. "soles": {"<target joint>": [source, target], …} are the heights of joints of standing feet.
#include "actor/joint_map.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

// ------------------------------------------------------------------------------------------------ by name

// "mixamorig:LeftArm" → "LeftArm"
static const char *bare_name( const char *name )
{
    const char *colon = strrchr( name, ':' );
    return colon != NULL ? colon + 1 : name;
}

static bool same_skeleton( const tr_skeleton *a, const tr_skeleton *b )
{
    if ( a->joint_count != b->joint_count )
        return false;
    for ( int j = 0; j < a->joint_count; ++j )
        if ( a->joints[j].parent != b->joints[j].parent ||
             strcmp( a->joints[j].name, b->joints[j].name ) != 0 )
            return false;
    return true;
}

static int find_by_name( const tr_skeleton *source, const char *name )
{
    int exact = tr_skeleton_find( source, name );
    if ( exact >= 0 )
        return exact;
    for ( int j = 0; j < source->joint_count; ++j )
        if ( strcasecmp( bare_name( source->joints[j].name ), bare_name( name ) ) == 0 )
            return j;
    return -1;
}

typedef struct rig { // what the joints of a skeleton are in its family of rigs
    const tr_skeleton *skeleton;
    tr_rig_part *parts; // [joint_count]
} rig;

static bool rig_build( rig *r, const tr_skeleton *skeleton, tr_error *error )
{
    int family;
    *r = ( rig ){ skeleton, tr_alloc( (size_t)skeleton->joint_count, sizeof( tr_rig_part ) ) };
    return r->parts != NULL ? tr_family_of( skeleton, &family, r->parts, error ) : tr_error_memory( error );
}

// The joint of the source that is the same part of a human body; -1 where either family has no name for it.
static int find_by_family( const rig *source, const rig *target, int joint )
{
    tr_rig_part wanted = target->parts[joint];
    for ( int j = 0; wanted.part != TR_RIG_NONE && j < source->skeleton->joint_count; ++j )
        if ( source->parts[j].part == wanted.part && source->parts[j].side == wanted.side )
            return j;
    return -1;
}

// How many joints before `joint` share its role and side.
static int rank_of( const tr_skeleton *skeleton, int joint )
{
    int rank = 0;
    for ( int j = 0; j < joint; ++j )
        rank += skeleton->joints[j].role == skeleton->joints[joint].role &&
                skeleton->joints[j].side == skeleton->joints[joint].side;
    return rank;
}

static int find_by_role( const tr_skeleton *source, const tr_skeleton *target, int joint )
{
    const tr_joint *t = &target->joints[joint];
    int rank = rank_of( target, joint );
    if ( t->role == TR_ROLE_OTHER )
        return -1;
    if ( t->role == TR_ROLE_FINGER )
        return tr_find_finger( source, target, joint );
    for ( int j = 0; j < source->joint_count; ++j )
        if ( source->joints[j].role == t->role && source->joints[j].side == t->side && rank-- == 0 )
            return j;
    return -1;
}

static bool is_limb_role( tr_role role )
{
    return role == TR_ROLE_THIGH || role == TR_ROLE_SHIN || role == TR_ROLE_FOOT || role == TR_ROLE_TOE ||
           role == TR_ROLE_UPPER_ARM || role == TR_ROLE_FOREARM || role == TR_ROLE_HAND ||
           role == TR_ROLE_FINGER;
}

// How many joints of the limb before `joint` have its role.
static int rank_in_limb( const tr_limb_pairs *pairs, const tr_skeleton *skeleton, int joint )
{
    int rank = 0;
    for ( int j = 0; j < joint; ++j )
        rank += skeleton->joints[j].limb == skeleton->joints[joint].limb &&
                tr_limb_pairs_role( pairs, skeleton->joints[j].role ) ==
                    tr_limb_pairs_role( pairs, skeleton->joints[joint].role );
    return rank;
}

// The source joint in the limb that is paired with the joint's own. All toes of a paw map to the first toe of
// the other body and tips to its tip; joints between them map to nothing.
static int find_in_limb( const tr_limb_pairs *pairs, int joint )
{
    const tr_joint *t = &pairs->target->joints[joint];
    tr_role role = tr_limb_pairs_role( pairs, t->role );
    tr_role above = t->parent >= 0 ? pairs->target->joints[t->parent].role : TR_ROLE_OTHER;
    bool toe = role == TR_ROLE_TOE, on_foot = tr_limb_pairs_role( pairs, above ) == TR_ROLE_FOOT;
    int rank = toe ? 0 : rank_in_limb( pairs, pairs->target, joint );
    if ( role == TR_ROLE_OTHER || ( toe && !t->end_site && !on_foot ) )
        return -1;
    for ( int j = 0; j < pairs->source->joint_count; ++j ) {
        const tr_joint *s = &pairs->source->joints[j];
        if ( tr_limb_pairs_role( pairs, s->role ) == role && ( !toe || s->end_site == t->end_site ) &&
             tr_limbs_pair( pairs, t->limb, s->limb ) && rank-- == 0 )
            return j;
    }
    return -1;
}

// "LeftShoulder" is a collar bone in one file and an upper arm in another: a name counts only where the parts
// agree.
static bool same_role( const tr_joint *a, const tr_joint *b )
{
    return a->role == b->role || a->role == TR_ROLE_OTHER || b->role == TR_ROLE_OTHER;
}

// ------------------------------------------------------------------------------------------------- actors

static bool begin( tr_actor *actor, tr_error *error )
{
    tr_joint_map_free( actor );
    actor->map = tr_alloc( (size_t)actor->target.joint_count, sizeof( int ) );
    for ( int j = 0; actor->map != NULL && j < actor->target.joint_count; ++j )
        actor->map[j] = -1;
    return actor->map != NULL || tr_error_memory( error );
}

void tr_joint_map_free( tr_actor *actor )
{
    tr_free( actor->map );
    tr_free( actor->blends );
    tr_free( actor->chains );
    tr_free( actor->align );
    tr_free( actor->soles );
    actor->align = NULL;
    actor->soles = NULL;
    actor->turned = false;
    actor->map = NULL;
    actor->blends = NULL;
    actor->chains = NULL;
    actor->chain_count = actor->chain_capacity = 0;
}

static void map_joints( tr_actor *actor, bool same, const tr_limb_pairs *pairs, const rig *of_target,
                        const rig *of_source )
{
    const tr_skeleton *target = &actor->target, *source = &actor->source.skeleton;
    for ( int j = 0; j < target->joint_count; ++j ) {
        int from = same ? j : find_by_family( of_source, of_target, j );
        if ( from < 0 && pairs->differ && is_limb_role( target->joints[j].role ) ) {
            actor->map[j] = find_in_limb( pairs, j ); // names mean other limbs there
            continue;
        }
        if ( from < 0 )
            from = find_by_name( source, target->joints[j].name );
        if ( from >= 0 && !same_role( &target->joints[j], &source->joints[from] ) )
            from = -1;
        actor->map[j] = from >= 0 ? from : find_by_role( source, target, j );
    }
}

bool tr_joint_map_suggest( tr_actor *actor, tr_error *error )
{
    const tr_skeleton *target = &actor->target, *source = &actor->source.skeleton;
    bool same = same_skeleton( target, source );
    tr_limb_pairs pairs = tr_limb_pairs_of( target, source );
    rig of_target = { 0 }, of_source = { 0 };
    bool ok =
        begin( actor, error ) &&
        ( same || ( rig_build( &of_target, target, error ) && rig_build( &of_source, source, error ) ) );
    if ( ok )
        map_joints( actor, same, &pairs, &of_target, &of_source );
    tr_free( of_target.parts );
    tr_free( of_source.parts );
    if ( !ok )
        return false;
    return same || tr_joint_map_suggest_chains( actor, &pairs, error );
}

int tr_actor_target_joint( const tr_actor *actor, int source_joint )
{
    for ( int j = 0; j < actor->target.joint_count; ++j )
        if ( actor->map[j] == source_joint && !tr_joint_blends( actor, j ) )
            return j;
    return -1;
}

bool tr_joint_blends( const tr_actor *actor, int joint )
{
    return actor->blends != NULL && actor->blends[joint].share > 0;
}

vec3 tr_actor_source_place( const tr_actor *actor, int joint, const vec3 *source )
{
    int from = actor->map[joint] < 0 ? 0 : actor->map[joint];
    if ( !tr_joint_blends( actor, joint ) )
        return source[from];
    const tr_map_blend *blend = &actor->blends[joint];
    return v3_lerp( source[from], source[blend->next], blend->share );
}

quat tr_actor_source_turn( const tr_actor *actor, int joint, const quat *source )
{
    int from = actor->map[joint] < 0 ? 0 : actor->map[joint];
    quat turn = q_mul( source[from], actor->align[joint] );
    if ( !tr_joint_blends( actor, joint ) )
        return turn;
    const tr_map_blend *blend = &actor->blends[joint];
    return q_slerp( turn, q_mul( source[blend->next], blend->align ), blend->share );
}

// -------------------------------------------------------------------------------------------------- files

// The joint with this name; -1 and an error if there is none.
static int read_joint( const tr_json *at, const tr_skeleton *skeleton, const char *whose )
{
    int joint =
        json_is_string( at->value ) ? tr_skeleton_find( skeleton, json_string_value( at->value ) ) : -1;
    if ( *at->ok && joint < 0 )
        tr_json_fail( at, "must name a joint of the %s skeleton", whose );
    return joint;
}

static void read_ends( const tr_json *chain, const char *key, const tr_skeleton *skeleton, int ends[2] )
{
    tr_json list = tr_json_member( chain, key, true );
    if ( *list.ok && ( !json_is_array( list.value ) || tr_json_count( &list ) != 2 ) )
        tr_json_fail( &list, "must be two joints: the first and the last of the chain" );
    for ( int i = 0; *list.ok && i < 2; ++i ) {
        tr_json item = tr_json_item( &list, i );
        ends[i] = read_joint( &item, skeleton, key );
    }
    if ( *list.ok && !tr_joint_is_above( skeleton, ends[0], ends[1] ) )
        tr_json_fail( &list, "the second joint must be the first or hang below it" );
}

static bool read_chains( tr_actor *actor, const tr_json *root, tr_error *error )
{
    static const char *const keys[] = { "target", "source", NULL };
    tr_json chains = tr_json_member( root, "chains", false );
    int count = chains.value != NULL ? tr_json_count( &chains ) : 0;
    for ( int i = 0; *root->ok && i < count; ++i ) {
        tr_json item = tr_json_item( &chains, i );
        tr_map_chain chain = { { 0 }, { 0 } };
        tr_json_keys( &item, keys );
        read_ends( &item, "target", &actor->target, chain.target );
        read_ends( &item, "source", &actor->source.skeleton, chain.source );
        if ( *root->ok && !tr_joint_map_spread( actor, &chain, error ) )
            return false;
    }
    return *root->ok;
}

static bool read_joints( tr_actor *actor, const tr_json *root )
{
    tr_json joints = tr_json_member( root, "joints", false );
    if ( *root->ok && joints.value != NULL && !json_is_object( joints.value ) )
        tr_json_fail( &joints,
                      "this must be an object of target joints and the source joints that drive them" );
    const char *name;
    json_t *value;
    json_object_foreach( *root->ok ? joints.value : NULL, name, value )
    {
        tr_json at = tr_json_member( &joints, name, true );
        bool none = json_is_null( at.value ), bad_source;
        int from = none ? -1 : read_joint( &at, &actor->source.skeleton, "source" );
        const char *source = from >= 0 ? actor->source.skeleton.joints[from].name : "";
        if ( *root->ok && !tr_joint_map_drive( actor, name, source, &bad_source ) )
            tr_json_fail( &at, "the target skeleton has no such joint" );
        if ( !*root->ok )
            break;
    }
    return *root->ok;
}

bool tr_joint_map_drive( tr_actor *actor, const char *joint, const char *source, bool *bad_source )
{
    int to = tr_skeleton_find( &actor->target, joint ),
        from = source[0] != 0 ? tr_skeleton_find( &actor->source.skeleton, source ) : -1;
    *bad_source = to >= 0;
    if ( to < 0 || ( from < 0 && source[0] != 0 ) )
        return false;
    actor->map[to] = from;
    if ( actor->blends != NULL )
        actor->blends[to] = ( tr_map_blend ){ 0 };
    return true;
}

bool tr_joint_map_says( const tr_actor *actor, const char *joint, const char *source )
{
    int to = tr_skeleton_find( &actor->target, joint ),
        from = source[0] != 0 ? tr_skeleton_find( &actor->source.skeleton, source ) : -1;
    return to >= 0 && ( from >= 0 || source[0] == 0 ) && actor->map[to] == from &&
           !tr_joint_blends( actor, to );
}

// Four numbers of an array, from `first` on.
static quat read_turn( const tr_json *array, int first )
{
    double n[4] = { 0 };
    for ( int i = 0; i < 4; ++i )
        n[i] = json_number_value( json_array_get( array->value, (size_t)( first + i ) ) );
    quat turn = { n[0], n[1], n[2], n[3] };
    if ( *array->ok && !q_is_unit( turn ) )
        tr_json_fail( array, "must be rotations x, y, z, w of unit length" );
    return turn;
}

static bool read_turns( tr_actor *actor, const tr_json *root, tr_error *error )
{
    tr_json turns = tr_json_member( root, "turns", false );
    if ( !*root->ok || turns.value == NULL )
        return *root->ok;
    actor->align = tr_alloc( (size_t)actor->target.joint_count, sizeof( quat ) );
    actor->turned = true;
    if ( actor->align == NULL )
        return tr_error_memory( error );
    for ( int j = 0; *root->ok && j < actor->target.joint_count; ++j ) {
        tr_json at = tr_json_member( &turns, actor->target.joints[j].name, true );
        bool two = tr_joint_blends( actor, j );
        if ( *root->ok && ( !json_is_array( at.value ) || tr_json_count( &at ) != ( two ? 8 : 4 ) ) )
            tr_json_fail( &at, "must be %d numbers: %s", two ? 8 : 4,
                          two ? "rotations against both joints that drive it" : "a rotation x, y, z, w" );
        if ( !*root->ok )
            break;
        actor->align[j] = read_turn( &at, 0 );
        if ( two )
            actor->blends[j].align = read_turn( &at, 4 );
    }
    return *root->ok;
}

static bool read_soles( tr_actor *actor, const tr_json *root, tr_error *error )
{
    tr_json soles = tr_json_member( root, "soles", false );
    if ( *root->ok && soles.value != NULL && !json_is_object( soles.value ) )
        tr_json_fail( &soles, "this must be an object of target joints and heights above the floor" );
    if ( !*root->ok || soles.value == NULL )
        return *root->ok;
    actor->soles = tr_alloc( (size_t)actor->target.joint_count, sizeof( tr_sole ) );
    if ( actor->soles == NULL )
        return tr_error_memory( error );
    const char *name;
    json_t *value;
    json_object_foreach( soles.value, name, value )
    {
        tr_json at = tr_json_member( &soles, name, true );
        int joint = tr_skeleton_find( &actor->target, name );
        bool two = json_is_array( value ) && json_array_size( value ) == 2 &&
                   json_is_number( json_array_get( value, 0 ) ) &&
                   json_is_number( json_array_get( value, 1 ) );
        if ( joint < 0 )
            tr_json_fail( &at, "the target skeleton has no such joint" );
        else if ( !two )
            tr_json_fail( &at, "must be two heights in metres: of the source's joint and of the target's" );
        else
            actor->soles[joint] = ( tr_sole ){ true, json_number_value( json_array_get( value, 0 ) ),
                                               json_number_value( json_array_get( value, 1 ) ) };
    }
    return *root->ok;
}

static bool read_map( tr_actor *actor, json_t *json, const char *name, tr_error *error )
{
    static const char *const keys[] = { "version", "joints", "chains", "turns", "soles", NULL };
    bool ok = true;
    tr_json root = tr_json_root( json, name, &ok, error );
    tr_json_keys( &root, keys );
    int version = 1;
    tr_json_int( &root, "version", true, 1, 1, &version );
    return ok && begin( actor, error ) && read_chains( actor, &root, error ) && read_joints( actor, &root ) &&
           read_turns( actor, &root, error ) && read_soles( actor, &root, error );
}

bool tr_joint_map_parse( tr_actor *actor, const char *text, size_t size, const char *name, tr_error *error )
{
    json_t *json;
    if ( !tr_json_parse( &json, text, size, name, error ) )
        return false;
    bool ok = read_map( actor, json, name, error );
    json_decref( json );
    return ok;
}

bool tr_joint_map_load( tr_actor *actor, const char *path, tr_error *error )
{
    json_t *json;
    if ( !tr_json_load( &json, path, error ) )
        return false;
    bool ok = read_map( actor, json, path, error );
    json_decref( json );
    return ok;
}

static json_t *ends_json( const tr_skeleton *skeleton, const int ends[2] )
{
    return json_pack( "[o,o]", tr_json_text( skeleton->joints[ends[0]].name ),
                      tr_json_text( skeleton->joints[ends[1]].name ) );
}

// Joints that a chain maps to the same source joint need not be written.
static bool joints_json( json_t *joints, const tr_actor *actor, const tr_actor *spread )
{
    const tr_skeleton *target = &actor->target, *source = &actor->source.skeleton;
    for ( int j = 0; j < target->joint_count; ++j ) {
        bool told =
            spread->map[j] == actor->map[j] && tr_joint_blends( spread, j ) == tr_joint_blends( actor, j );
        json_t *from = told                 ? NULL
                       : actor->map[j] >= 0 ? tr_json_text( source->joints[actor->map[j]].name )
                                            : json_null(); // in a chain, but not driven by it
        if ( !told && json_object_set_new( joints, target->joints[j].name, from ) != 0 )
            return false;
    }
    return true;
}

static bool chains_json( json_t *chains, const tr_actor *actor )
{
    for ( int c = 0; c < actor->chain_count; ++c ) {
        json_t *chain =
            json_pack( "{s:o, s:o}", "target", ends_json( &actor->target, actor->chains[c].target ), "source",
                       ends_json( &actor->source.skeleton, actor->chains[c].source ) );
        if ( chain == NULL || json_array_append_new( chains, chain ) != 0 )
            return false;
    }
    return true;
}

static bool turns_json( json_t *turns, const tr_actor *actor )
{
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        quat q[2] = { actor->align[j], q_identity };
        bool two = tr_joint_blends( actor, j ), ok = true;
        if ( two )
            q[1] = actor->blends[j].align;
        json_t *numbers = json_array();
        for ( int i = 0; i < ( two ? 2 : 1 ); ++i )
            ok = ok && json_array_append_new( numbers, json_real( q[i].x ) ) == 0 &&
                 json_array_append_new( numbers, json_real( q[i].y ) ) == 0 &&
                 json_array_append_new( numbers, json_real( q[i].z ) ) == 0 &&
                 json_array_append_new( numbers, json_real( q[i].w ) ) == 0;
        if ( json_object_set_new( turns, actor->target.joints[j].name, numbers ) != 0 || !ok )
            return false;
    }
    return true;
}

static bool soles_json( json_t *soles, const tr_actor *actor )
{
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        tr_sole sole = tr_actor_sole( actor, j );
        if ( sole.known && json_object_set_new( soles, actor->target.joints[j].name,
                                                json_pack( "[f,f]", sole.source, sole.target ) ) != 0 )
            return false;
    }
    return true;
}

// The map that the chains alone give, to find the joints that must be written.
static bool spread_again( tr_actor *out, const tr_actor *actor, tr_error *error )
{
    *out = ( tr_actor ){ .target = actor->target, .source.skeleton = actor->source.skeleton };
    bool ok = begin( out, error );
    for ( int c = 0; ok && c < actor->chain_count; ++c )
        ok = tr_joint_map_spread( out, &actor->chains[c], error );
    return ok;
}

static json_t *map_json( const tr_actor *actor, const tr_actor *spread, bool with_turns )
{
    json_t *joints = json_object(), *chains = json_array(), *turns = json_object(), *soles = json_object();
    json_t *root = json_pack( "{s:i}", "version", 1 );
    bool ok = joints_json( joints, actor, spread ) && chains_json( chains, actor ) &&
              json_object_set( root, "joints", joints ) == 0;
    if ( ok && actor->chain_count > 0 )
        ok = json_object_set( root, "chains", chains ) == 0;
    if ( ok && with_turns )
        ok = turns_json( turns, actor ) && json_object_set( root, "turns", turns ) == 0;
    ok = ok && soles_json( soles, actor );
    if ( ok && json_object_size( soles ) > 0 )
        ok = json_object_set( root, "soles", soles ) == 0;
    json_decref( joints );
    json_decref( soles );
    json_decref( chains );
    json_decref( turns );
    if ( ok )
        return root;
    json_decref( root );
    return NULL;
}

bool tr_joint_map_print( const tr_actor *actor, bool turns, tr_text *out, tr_error *error )
{
    tr_actor spread;
    json_t *root = NULL;
    if ( spread_again( &spread, actor, error ) )
        root = map_json( actor, &spread, turns || actor->turned );
    if ( root != NULL )
        tr_json_print( root, out );
    bool ok = root != NULL && !out->failed;
    json_decref( root );
    tr_joint_map_free( &spread );
    return ok || tr_error_memory( error );
}

bool tr_joint_map_save( const tr_actor *actor, const char *path, bool turns, tr_error *error )
{
    tr_text text = { 0 };
    bool ok = tr_joint_map_print( actor, turns, &text, error ) &&
              tr_file_write( path, text.data, text.size, error );
    tr_text_free( &text );
    return ok;
}
