// Which source joint drives which target joint.
//
// A map file is JSON: {"version": 1, "joints": {"<target joint>": "<source joint>", …}}. Target joints that
// are not named keep their rest pose.
#include "scene/scene_private.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

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
    for ( int j = 0; j < source->joint_count; ++j )
        if ( source->joints[j].role == t->role && source->joints[j].side == t->side && rank-- == 0 )
            return j;
    return -1;
}

// "LeftShoulder" is a collar bone in one file and an upper arm in another: a name counts only where the parts
// agree.
static bool same_role( const tr_joint *a, const tr_joint *b )
{
    return a->role == b->role || a->role == TR_ROLE_OTHER || b->role == TR_ROLE_OTHER;
}

bool tr_joint_map_build( int *map, const tr_skeleton *target, const tr_skeleton *source, tr_error *error )
{
    bool same = same_skeleton( target, source );
    for ( int j = 0; j < target->joint_count; ++j ) {
        map[j] = same ? j : find_by_name( source, target->joints[j].name );
        if ( map[j] >= 0 && !same_role( &target->joints[j], &source->joints[map[j]] ) )
            map[j] = -1;
        if ( map[j] < 0 )
            map[j] = find_by_role( source, target, j );
    }
    if ( map[0] < 0 )
        map[0] = 0; // whatever carries one body carries the other
    return target->joint_count > 0 || tr_error_set( error, "the target skeleton has no joints" );
}

bool tr_joint_map_load( int *map, const tr_skeleton *target, const tr_skeleton *source, const char *path,
                        tr_error *error )
{
    static const char *const keys[] = { "version", "joints", NULL };
    json_t *json;
    if ( !tr_json_load( &json, path, error ) )
        return false;
    bool ok = true;
    tr_json root = tr_json_root( json, path, &ok, error );
    tr_json_keys( &root, keys );
    int version = 1;
    tr_json_int( &root, "version", true, 1, 1, &version );
    tr_json joints = tr_json_member( &root, "joints", true );
    if ( ok && !json_is_object( joints.value ) )
        tr_json_fail( &joints,
                      "this must be an object of target joints and the source joints that drive them" );
    for ( int j = 0; j < target->joint_count; ++j )
        map[j] = -1;
    const char *name;
    json_t *value;
    json_object_foreach( joints.value, name, value )
    {
        tr_json at = tr_json_member( &joints, name, true );
        int from = json_is_string( value ) ? tr_skeleton_find( source, json_string_value( value ) ) : -1;
        int to = tr_skeleton_find( target, name );
        if ( to < 0 )
            tr_json_fail( &at, "the target skeleton has no such joint" );
        else if ( from < 0 )
            tr_json_fail( &at, "must name a joint of the source skeleton" );
        else
            map[to] = from;
    }
    json_decref( json );
    if ( ok && map[0] < 0 )
        map[0] = 0;
    return ok;
}

bool tr_joint_map_save( const int *map, const tr_skeleton *target, const tr_skeleton *source,
                        const char *path, tr_error *error )
{
    json_t *joints = json_object();
    bool ok = joints != NULL;
    for ( int j = 0; ok && j < target->joint_count; ++j )
        if ( map[j] >= 0 )
            ok = json_object_set_new( joints, target->joints[j].name,
                                      json_string( source->joints[map[j]].name ) ) == 0;
    json_t *root = json_pack( "{s:i, s:o}", "version", 1, "joints", joints ); // takes `joints` over
    ok = ok && root != NULL ? tr_json_save( root, path, error ) : tr_error_memory( error );
    json_decref( root );
    return ok;
}
