// Looks: what of a glTF or FBX file belongs to one of its characters.
#include "exchange/look.h"

#include <string.h>

vec3 tr_look_place( const tr_look *look, int joint )
{
    int node = tr_look_rig( look )->nodes[joint];
    return node >= 0 ? look->rest[node].position : v3_zero;
}

bool tr_look_uses( const tr_look *look, int skin )
{
    int node = tr_import_skin_joint( &look->import, skin, 0 );
    return node >= 0 && look->joints[node] >= 0;
}

static bool same_parents( const tr_import_rig *rig, const tr_skeleton *skeleton, const int *joints )
{
    for ( int j = 0; j < rig->joint_count; ++j ) {
        int parent = rig->parents[j];
        if ( skeleton->joints[joints[j]].parent != ( parent >= 0 ? joints[parent] : -1 ) )
            return false;
    }
    return true;
}

bool tr_look_fits( const tr_look *look, const tr_skeleton *skeleton, int *out )
{
    const tr_import_rig *rig = tr_look_rig( look );
    size_t count = (size_t)rig->joint_count;
    if ( rig->joint_count != skeleton->joint_count )
        return false;
    int *joints = tr_alloc( count, sizeof *joints );
    for ( int j = 0; joints != NULL && j < rig->joint_count; ++j )
        joints[j] = j;
    bool fits = joints != NULL && ( same_parents( rig, skeleton, joints ) ||
                                    ( tr_depth_first_places( rig->parents, rig->joint_count, joints ) &&
                                      same_parents( rig, skeleton, joints ) ) );
    if ( fits && out != NULL )
        memcpy( out, joints, count * sizeof *joints );
    tr_free( joints );
    return fits;
}

void tr_look_destroy( tr_look *look )
{
    if ( look == NULL )
        return;
    json_decref( look->json );
    tr_free( look->path );
    tr_free( look->rest );
    tr_free( look->joints );
    tr_free( look->kept );
    tr_free( look->free );
    tr_import_free( &look->import );
    tr_free( look );
}

static int index_in( const json_t *object, const char *key ) // -1: none
{
    const json_t *value = json_object_get( object, key );
    return json_is_integer( value ) ? tr_int_clamped( (double)json_integer_value( value ), -1, 1 << 30 ) : -1;
}

// The joints, what is above and below them, and meshes that hang on them.
static void choose_nodes( tr_look *look )
{
    tr_import_tree tree = tr_import_get_tree( &look->import );
    const tr_import_rig *rig = tr_look_rig( look );
    const json_t *nodes = json_object_get( look->json, "nodes" );
    int skins = tr_import_get_document( &look->import ).skin_count;
    for ( int n = 0; n < tree.node_count; ++n )
        look->joints[n] = -1;
    for ( int j = 0; j < rig->joint_count; ++j )
        if ( rig->nodes[j] >= 0 )
            look->joints[rig->nodes[j]] = j;
    for ( int i = 0; i < tree.node_count; ++i ) { // below, but for other characters
        int n = tree.order[i], parent = tree.nodes[n].parent;
        bool below = parent >= 0 && look->kept[parent] && !tree.nodes[n].joint;
        look->kept[n] = look->joints[n] >= 0 || below;
    }
    for ( int n = 0; n < tree.node_count; ++n ) {
        const json_t *node = json_array_get( nodes, (size_t)n );
        int skin = index_in( node, "skin" );
        if ( skin < 0 || index_in( node, "mesh" ) < 0 )
            continue;
        look->kept[n] = skin < skins && tr_look_uses( look, skin );
        look->free[n] = look->kept[n] && json_object_get( node, "children" ) == NULL;
    }
    for ( int i = tree.node_count - 1; i >= 0; --i ) { // above
        int n = tree.order[i], parent = tree.nodes[n].parent;
        if ( look->kept[n] && !look->free[n] && parent >= 0 )
            look->kept[parent] = true;
    }
}

static bool has_mesh( const tr_look *look )
{
    for ( int n = 0; n < tr_import_get_tree( &look->import ).node_count; ++n )
        if ( look->kept[n] &&
             index_in( json_array_get( json_object_get( look->json, "nodes" ), (size_t)n ), "mesh" ) >= 0 )
            return true;
    return false;
}

static bool needs_meshopt( const json_t *json )
{
    size_t i;
    const json_t *item;
    json_array_foreach( json_object_get( json, "extensionsUsed" ), i, item )
    {
        const char *name = json_string_value( item );
        if ( name != NULL && strcmp( name, "EXT_meshopt_compression" ) == 0 )
            return true;
    }
    return false;
}

// cgltf and jansson read the same text, but take escapes in keys and doubled keys differently.
static bool agree( const tr_look *look )
{
    const json_t *skins = json_object_get( look->json, "skins" );
    tr_import_document document = tr_import_get_document( &look->import );
    if ( json_array_size( json_object_get( look->json, "nodes" ) ) !=
             (size_t)tr_import_get_tree( &look->import ).node_count ||
         json_array_size( skins ) != (size_t)document.skin_count )
        return false;
    for ( int s = 0; s < document.skin_count; ++s ) {
        size_t count = json_array_size( json_object_get( json_array_get( skins, (size_t)s ), "joints" ) );
        if ( tr_import_skin_joint( &look->import, s, (int)count ) >= 0 ||
             ( count > 0 && tr_import_skin_joint( &look->import, s, (int)count - 1 ) < 0 ) )
            return false;
    }
    return true;
}

static bool read_look( tr_look *look, const char *path, const tr_import_def *def, bool *found,
                       tr_log *warnings, tr_error *error )
{
    tr_import_def with = def != NULL ? *def : tr_default_import_def();
    tr_log own = { 0 };
    with.meshes = true;
    bool read = tr_import_load( &look->import, path, &with, &own, error );
    for ( int i = 0; tr_path_ends_with( path, ".fbx" ) && i < own.count; ++i ) // of meshes alone
        tr_log_add( warnings, "%s: %s", path, own.lines[i] );
    tr_log_free( &own );
    if ( !read )
        return false;
    look->skeleton = tr_import_find_skeleton( &look->import, def != NULL ? def->skeleton : NULL );
    if ( look->skeleton < 0 || look->import.skeletons[look->skeleton].skin_count == 0 )
        return true;
    size_t count = (size_t)tr_import_get_tree( &look->import ).node_count;
    tr_import_document document = tr_import_get_document( &look->import );
    look->path = tr_string_copy( path );
    look->rest = tr_alloc( count, sizeof *look->rest );
    look->joints = tr_alloc( count, sizeof *look->joints );
    look->kept = tr_alloc( count, sizeof *look->kept );
    look->free = tr_alloc( count, sizeof *look->free );
    if ( look->path == NULL || look->rest == NULL || look->joints == NULL || look->kept == NULL ||
         look->free == NULL )
        return tr_error_memory( error );
    if ( !tr_json_parse( &look->json, document.json, document.size, path, error ) ||
         !tr_import_rest( &look->import, look->rest, error ) )
        return false;
    if ( !agree( look ) ) {
        tr_log_add( warnings, "%s: its JSON can be read in two ways, so its meshes are not passed on", path );
        return true;
    }
    choose_nodes( look );
    if ( needs_meshopt( look->json ) )
        tr_log_add( warnings,
                    "%s: its meshes are compressed (meshopt), so they are not passed on; export "
                    "without compression",
                    path );
    else
        *found = has_mesh( look );
    return true;
}

bool tr_look_load( tr_look **out, const char *path, const tr_import_def *def, tr_log *warnings,
                   tr_error *error )
{
    bool found = false;
    *out = NULL;
    if ( !tr_import_may_have_meshes( path ) )
        return true;
    tr_look *look = tr_alloc( 1, sizeof *look );
    if ( look == NULL )
        return tr_error_memory( error );
    bool ok = read_look( look, path, def, &found, warnings, error );
    if ( ok && found )
        *out = look;
    else
        tr_look_destroy( look );
    return ok;
}
