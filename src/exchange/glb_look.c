// The look of a character in a GLB file. The document of the look is passed on as it is, with its numbers of
// nodes, accessors and so on moved behind what the file has already. New are the places of its joints, their
// keys and, for a body of another size, inverse binds. Meshes, materials and textures are stored once for all
// characters of a file; nodes and skins are there for each.
//
// A node n that is joint j has the rest A(n) in the file and is at T(j, f) A(n) in a frame: T is the rotation
// of the joint against its rest, since our skeletons have the axes of the world there. A bone of other
// lengths stretches what hangs on it by K(j), along the bone and across it: inverse bind matrices become A⁻¹
// K A B.
#include "exchange/glb.h"
#include "exchange/look.h"

#include <stdio.h>
#include <string.h>

typedef struct fitting { // a look, fitted to a body
    tr_glb *w;
    const tr_exchange_body *body;
    const tr_look *look;
    tr_import_tree tree;
    int nodes, skins;  // first numbers
    tr_glb_passed to;  // the same
    size_t *buffers;   // [buffer_count] where their bytes are
    tr_affine *world;  // [node_count] of the frame at hand
    vec3 *scales;      // [node_count] of joints, local, at rest
    mat3 *stretches;   // [joint_count] K
    bool stretched;    // any of them does something
    int *joints;       // [joint_count] of the body that those of the look are
    tr_pose pose;      // pose of the body
    vec3 *places;      // [joint_count * frame_count] local, joint by joint
    quat *turns;       // the same
    vec3 *rest_places; // [joint_count] the same at rest
    quat *rest_turns;
    json_t *tops; // nodes that hold the character
} fitting;

// --------------------------------------------------------------------------------------------------- JSON

static void set( tr_glb *w, json_t *object, const char *key, json_t *value )
{
    w->failed |= value == NULL || json_object_set_new( object, key, value ) != 0;
}

static void shift( tr_glb *w, json_t *object, const char *key, int by )
{
    const json_t *value = json_object_get( object, key );
    if ( json_is_integer( value ) && by > 0 )
        set( w, object, key, json_integer( json_integer_value( value ) + by ) );
}

static void shift_items( tr_glb *w, json_t *array, int by )
{
    for ( size_t i = 0; i < json_array_size( array ); ++i ) {
        const json_t *value = json_array_get( array, i );
        if ( json_is_integer( value ) )
            w->failed |=
                json_array_set_new( array, i, json_integer( json_integer_value( value ) + by ) ) != 0;
    }
}

static void shift_members( tr_glb *w, json_t *object, int by )
{
    const char *key;
    json_t *value;
    json_object_foreach( object, key, value )
    {
        w->failed |=
            json_is_integer( value ) && json_integer_set( value, json_integer_value( value ) + by ) != 0;
    }
}

// In materials and their extensions: every xTexture has the index of a texture.
static void shift_textures( tr_glb *w, json_t *value, int by )
{
    const char *key;
    json_t *member;
    json_object_foreach( value, key, member )
    {
        size_t length = strlen( key );
        if ( length >= 7 && strcmp( key + length - 7, "Texture" ) == 0 )
            shift( w, member, "index", by );
        shift_textures( w, member, by );
    }
}

static json_t *member( json_t *object, const char *a, const char *b )
{
    return json_object_get( json_object_get( object, a ), b );
}

static void add_numbers( tr_glb *w, json_t *object, const char *key, const double *values, int count )
{
    json_t *array = json_array();
    for ( int i = 0; i < count && array != NULL; ++i )
        w->failed |= json_array_append_new( array, json_real( (double)(float)values[i] + 0.0 ) ) != 0;
    set( w, object, key, array );
}

static void add_vector( tr_glb *w, json_t *object, const char *key, vec3 v )
{
    add_numbers( w, object, key, ( const double[] ){ v.x, v.y, v.z }, 3 );
}

typedef void change_item( fitting *f, json_t *item, int index );

// Copies of the items of a list of the document, changed, at the end of ours.
static void pass_on( fitting *f, const char *key, tr_glb_list *to, change_item *change )
{
    const json_t *items = json_object_get( f->look->json, key );
    for ( size_t i = 0; i < json_array_size( items ) && !f->w->failed; ++i ) {
        json_t *copy = json_deep_copy( json_array_get( items, i ) );
        f->w->failed |= copy == NULL;
        if ( copy != NULL && change != NULL )
            change( f, copy, (int)i );
        tr_glb_next( to );
        if ( copy != NULL )
            tr_json_print( copy, &to->text );
        json_decref( copy );
    }
}

// --------------------------------------------------------------------------------------------------- data

static void pass_buffers( fitting *f )
{
    int count = tr_import_get_document( &f->look->import ).buffer_count;
    f->buffers = tr_alloc( (size_t)count, sizeof *f->buffers );
    f->w->failed |= f->buffers == NULL;
    for ( int i = 0; i < count && f->buffers != NULL; ++i ) {
        size_t size;
        const char *data = tr_import_get_buffer( &f->look->import, i, &size );
        tr_glb_pad( &f->w->data, "\0\0\0" );
        f->buffers[i] = f->w->data.size;
        if ( data == NULL )
            continue;
        tr_text_append( &f->w->data, data, size );
        if ( !f->w->data.failed )
            tr_import_mend_buffer( &f->look->import, i, f->w->data.data + f->buffers[i] );
    }
}

static void change_view( fitting *f, json_t *view, int index )
{
    (void)index;
    json_int_t buffer = json_integer_value( json_object_get( view, "buffer" ) );
    json_int_t at = json_integer_value( json_object_get( view, "byteOffset" ) );
    int count = tr_import_get_document( &f->look->import ).buffer_count;
    if ( buffer < 0 || buffer >= count )
        return;
    set( f->w, view, "byteOffset", json_integer( at + (json_int_t)f->buffers[buffer] ) );
    set( f->w, view, "buffer", json_integer( 0 ) );
}

static void change_accessor( fitting *f, json_t *accessor, int index )
{
    (void)index;
    json_t *sparse = json_object_get( accessor, "sparse" );
    shift( f->w, accessor, "bufferView", f->to.views );
    shift( f->w, json_object_get( sparse, "indices" ), "bufferView", f->to.views );
    shift( f->w, json_object_get( sparse, "values" ), "bufferView", f->to.views );
}

// Pictures beside the file go into it.
static void change_image( fitting *f, json_t *image, int index )
{
    (void)index;
    shift( f->w, image, "bufferView", f->to.views );
    const char *uri = json_string_value( json_object_get( image, "uri" ) ), *kind = NULL;
    char *bytes = NULL, *path = NULL;
    size_t size;
    if ( uri == NULL )
        return;
    f->w->failed |= !tr_uri_path( f->look->path, uri, &path );
    if ( path != NULL && tr_file_read( path, &bytes, &size, NULL ) )
        kind = tr_picture_kind( bytes, size );
    if ( kind != NULL ) {
        set( f->w, image, "bufferView", json_integer( tr_glb_add_view( f->w, bytes, size, 0 ) ) );
        set( f->w, image, "mimeType", json_string( kind ) );
        json_object_del( image, "uri" );
    }
    tr_free( bytes );
    tr_free( path );
}

static void change_texture( fitting *f, json_t *texture, int index )
{
    (void)index;
    const char *key;
    json_t *extension;
    shift( f->w, texture, "source", f->to.images );
    shift( f->w, texture, "sampler", f->to.samplers );
    json_object_foreach( json_object_get( texture, "extensions" ), key, extension )
    {
        shift( f->w, extension, "source", f->to.images );
    }
}

static void change_material( fitting *f, json_t *material, int index )
{
    (void)index;
    shift_textures( f->w, material, f->to.textures );
}

static void change_mesh( fitting *f, json_t *mesh, int index )
{
    (void)index;
    json_t *primitives = json_object_get( mesh, "primitives" );
    for ( size_t p = 0; p < json_array_size( primitives ); ++p ) {
        json_t *primitive = json_array_get( primitives, p );
        json_t *targets = json_object_get( primitive, "targets" );
        json_t *mappings =
            json_object_get( member( primitive, "extensions", "KHR_materials_variants" ), "mappings" );
        shift( f->w, primitive, "indices", f->to.accessors );
        shift( f->w, primitive, "material", f->to.materials );
        shift_members( f->w, json_object_get( primitive, "attributes" ), f->to.accessors );
        for ( size_t t = 0; t < json_array_size( targets ); ++t )
            shift_members( f->w, json_array_get( targets, t ), f->to.accessors );
        for ( size_t m = 0; m < json_array_size( mappings ); ++m )
            shift( f->w, json_array_get( mappings, m ), "material", f->to.materials );
        shift( f->w, member( primitive, "extensions", "KHR_draco_mesh_compression" ), "bufferView",
               f->to.views );
    }
}

// ------------------------------------------------------------------------------------------------- bodies

static bool is_identity( mat3 m )
{
    const mat3 one = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    return v3_distance( m.cx, one.cx ) + v3_distance( m.cy, one.cy ) + v3_distance( m.cz, one.cz ) < 1e-6;
}

// Lengths of the bones below a joint against those of the file; of a tip, of its own bone. *way: the
// direction of the only bone, or 0.
static double length_ratio( const fitting *f, int joint, vec3 *way )
{
    const tr_import_rig *rig = tr_look_rig( f->look );
    double before = 0, after = 0;
    int bones = 0;
    for ( int j = 1; j < rig->joint_count; ++j ) {
        vec3 bone = v3_sub( tr_look_place( f->look, j ), tr_look_place( f->look, rig->parents[j] ) );
        if ( rig->parents[j] != joint || v3_length( bone ) < TR_SHORT_BONE )
            continue;
        before += v3_length( bone );
        after += v3_length( f->body->skeleton->joints[f->joints[j]].offset );
        *way = bones++ == 0 ? v3_unit( bone ) : v3_zero;
    }
    if ( bones == 0 && joint > 0 ) {
        before =
            v3_distance( tr_look_place( f->look, joint ), tr_look_place( f->look, rig->parents[joint] ) );
        after = v3_length( f->body->skeleton->joints[f->joints[joint]].offset );
    }
    return before > TR_SHORT_BONE ? after / before : 1;
}

static void find_stretches( fitting *f )
{
    for ( int j = 0; j < f->body->skeleton->joint_count; ++j ) {
        vec3 d = v3_zero;
        double along = length_ratio( f, j, &d ),
               across = f->body->girths != NULL ? f->body->girths[f->joints[j]] : along;
        if ( v3_length( d ) < 0.5 ) // several bones
            across = along;
        double more = along - across;
        f->stretches[j] = ( mat3 ){ v3_mad( v3( across, 0, 0 ), more * d.x, d ),
                                    v3_mad( v3( 0, across, 0 ), more * d.y, d ),
                                    v3_mad( v3( 0, 0, across ), more * d.z, d ) };
        f->stretched |= !is_identity( f->stretches[j] );
    }
}

// The transform of a node that is no joint, relative to its parent: as in the file, scaled like the joint
// above.
static tr_affine own_local( const fitting *f, int node )
{
    int parent = f->tree.nodes[node].parent;
    tr_affine at = f->look->rest[node];
    if ( parent < 0 )
        return at;
    mat3 inverse = m3_inverse( f->look->rest[parent].linear );
    tr_affine local = { m3_mul( inverse, at.linear ),
                        m3_mulv( inverse, v3_sub( at.position, f->look->rest[parent].position ) ) };
    int joint = f->look->joints[parent];
    if ( joint < 0 || is_identity( f->stretches[joint] ) )
        return local;
    double size = cbrt( m3_det( f->stretches[joint] ) );
    return ( tr_affine ){ { v3_scale( size, local.linear.cx ), v3_scale( size, local.linear.cy ),
                            v3_scale( size, local.linear.cz ) },
                          v3_scale( size, local.position ) };
}

// Places all nodes for the body's pose; writes local places and turns of the joints, those of joint j at j *
// step.
static void place_nodes( fitting *f, vec3 *places, quat *turns, int step )
{
    for ( int i = 0; i < f->tree.node_count; ++i ) {
        int n = f->tree.order[i], parent = f->tree.nodes[n].parent, joint = f->look->joints[n];
        tr_affine above = parent >= 0 ? f->world[parent] : tr_affine_identity;
        if ( joint < 0 ) {
            f->world[n] = tr_affine_mul( above, own_local( f, n ) );
            continue;
        }
        mat3 inverse = m3_inverse( above.linear );
        f->world[n] = ( tr_affine ){
            m3_mul( m3_from_quat( f->pose.rotations[f->joints[joint]] ), f->look->rest[n].linear ),
            f->pose.positions[f->joints[joint]] };
        mat3 local = m3_mul( inverse, f->world[n].linear );
        vec3 s = f->scales[n];
        local = ( mat3 ){ v3_scale( 1 / s.x, local.cx ), v3_scale( 1 / s.y, local.cy ),
                          v3_scale( 1 / s.z, local.cz ) };
        places[(size_t)joint * (size_t)step] =
            m3_mulv( inverse, v3_sub( f->world[n].position, above.position ) );
        turns[(size_t)joint * (size_t)step] = q_unit( q_fit( local ) );
    }
}

static double at_least( double length )
{
    return length > 1e-9 ? length : 1;
}

// Local scales of joints; a mirrored one is so along X.
static void find_scales( fitting *f )
{
    for ( int n = 0; n < f->tree.node_count; ++n ) {
        int parent = f->tree.nodes[n].parent;
        mat3 local = f->look->rest[n].linear;
        if ( parent >= 0 )
            local = m3_mul( m3_inverse( f->look->rest[parent].linear ), local );
        f->scales[n] = v3( at_least( v3_length( local.cx ) ), at_least( v3_length( local.cy ) ),
                           at_least( v3_length( local.cz ) ) );
        if ( m3_det( local ) < 0 )
            f->scales[n].x = -f->scales[n].x;
    }
}

// The rest, then all frames.
static void place_frames( fitting *f )
{
    int frames = f->w->x->frame_count;
    tr_forward_rest( f->body->skeleton, f->pose );
    // Rest rotations of skeletons from glTF are identity, so the pose is T.
    place_nodes( f, f->rest_places, f->rest_turns, 1 );
    for ( int i = 0; i < frames && tr_work_wanted(); ++i ) {
        tr_forward( f->body->skeleton, f->body->clip, i, f->pose );
        place_nodes( f, f->places + i, f->turns + i, frames );
    }
}

static void animate( fitting *f )
{
    int frames = f->w->x->frame_count;
    if ( !tr_glb_reserve( f->w, 4 * frames ) )
        return;
    for ( int n = 0; n < f->tree.node_count; ++n ) {
        int joint = f->look->joints[n];
        if ( joint < 0 )
            continue;
        size_t first = (size_t)joint * (size_t)frames;
        quat before = q_identity;
        for ( int i = 0; i < frames; ++i )
            tr_glb_put_vector( f->w, i, f->places[first + (size_t)i] );
        tr_glb_add_places( f->w, f->nodes + n, f->rest_places[joint] );
        for ( int i = 0; i < frames; ++i )
            tr_glb_put_rotation( f->w, i, f->turns[first + (size_t)i], &before );
        tr_glb_add_rotations( f->w, f->nodes + n, f->rest_turns[joint] );
    }
}

// -------------------------------------------------------------------------------------------------- nodes

static void drop_place( json_t *node )
{
    json_object_del( node, "matrix" );
    json_object_del( node, "translation" );
    json_object_del( node, "rotation" );
    json_object_del( node, "scale" );
}

// Children that stay: numbers of ours.
static void keep_children( fitting *f, json_t *node )
{
    json_t *children = json_object_get( node, "children" );
    for ( size_t i = json_array_size( children ); i > 0; --i ) {
        json_int_t child = json_integer_value( json_array_get( children, i - 1 ) );
        bool stays =
            child >= 0 && child < f->tree.node_count && f->look->kept[child] && !f->look->free[child];
        if ( !stays )
            json_array_remove( children, i - 1 );
    }
    if ( json_array_size( children ) == 0 )
        json_object_del( node, "children" );
    else
        shift_items( f->w, children, f->nodes );
}

static void set_matrix( fitting *f, json_t *node, tr_affine m )
{
    drop_place( node );
    add_numbers( f->w, node, "matrix",
                 ( const double[] ){ m.linear.cx.x, m.linear.cx.y, m.linear.cx.z, 0, m.linear.cy.x,
                                     m.linear.cy.y, m.linear.cy.z, 0, m.linear.cz.x, m.linear.cz.y,
                                     m.linear.cz.z, 0, m.position.x, m.position.y, m.position.z, 1 },
                 16 );
}

static void set_place( fitting *f, json_t *node, int n, int joint )
{
    quat q = f->rest_turns[joint];
    if ( f->body->renamed ) {
        const char *name = f->body->skeleton->joints[f->joints[joint]].name;
        set( f->w, node, "name", tr_json_text( name ) );
    }
    drop_place( node );
    add_vector( f->w, node, "translation", f->rest_places[joint] );
    add_numbers( f->w, node, "rotation", ( const double[] ){ q.x, q.y, q.z, q.w }, 4 );
    if ( v3_distance( f->scales[n], v3_one ) > 1e-6 )
        add_vector( f->w, node, "scale", f->scales[n] );
}

// It takes the name of the character, as the root of an FBX file does.
static bool is_nameless_root( const fitting *f, int n )
{
    return f->tree.nodes[n].parent < 0 && f->tree.nodes[n].name == NULL && f->look->joints[n] < 0 &&
           !f->look->free[n];
}

static void change_node( fitting *f, json_t *node, int n )
{
    bool placed = v3_distance( f->tree.placement.linear.cx, v3( 1, 0, 0 ) ) > 0 ||
                  v3_distance( f->tree.placement.linear.cy, v3( 0, 1, 0 ) ) > 0;
    if ( !f->look->kept[n] ) { // its number stays
        json_object_clear( node );
        return;
    }
    int parent = f->tree.nodes[n].parent, joint = f->look->joints[n];
    keep_children( f, node );
    if ( is_nameless_root( f, n ) )
        set( f->w, node, "name", json_string( f->body->name ) );
    shift( f->w, node, "mesh", f->to.meshes );
    shift( f->w, node, "skin", f->skins );
    shift( f->w, node, "camera", f->to.cameras );
    if ( f->nodes > 0 )
        json_object_del( node, "extensions" ); // lights and the like are of the first document
    if ( f->look->free[n] )
        drop_place( node );
    else if ( joint >= 0 )
        set_place( f, node, n, joint );
    else if ( ( parent < 0 && placed ) || ( f->stretched && parent >= 0 && f->look->joints[parent] >= 0 ) )
        set_matrix( f, node, own_local( f, n ) );
    if ( f->look->free[n] ) {
        tr_glb_next( &f->w->roots );
        tr_text_add( &f->w->roots.text, "%d", f->nodes + n );
    } else if ( parent < 0 || !f->look->kept[parent] )
        f->w->failed |= json_array_append_new( f->tops, json_integer( f->nodes + n ) ) != 0;
}

// Above what holds the character is a node of its name, unless that is its name already.
static void add_top( fitting *f )
{
    json_t *top = json_object(), *name = json_string( f->body->name );
    int only = json_array_size( f->tops ) == 1
                   ? (int)json_integer_value( json_array_get( f->tops, 0 ) ) - f->nodes
                   : -1;
    const char *own = only >= 0 ? f->tree.nodes[only].name : NULL;
    bool has_name =
        only >= 0 && ( is_nameless_root( f, only ) || ( own != NULL && strcmp( own, f->body->name ) == 0 ) );
    tr_glb_next( &f->w->roots );
    if ( has_name ) {
        tr_text_add( &f->w->roots.text, "%d", f->nodes + only );
    } else {
        tr_text_add( &f->w->roots.text, "%d", tr_glb_next( &f->w->nodes ) );
        f->w->failed |= top == NULL || name == NULL || json_object_set( top, "name", name ) != 0 ||
                        json_object_set( top, "children", f->tops ) != 0;
        if ( !f->w->failed )
            tr_json_print( top, &f->w->nodes.text );
    }
    json_decref( top );
    json_decref( name );
}

static int add_binds( fitting *f, int skin, int count )
{
    if ( !tr_glb_reserve( f->w, 16 * count ) )
        return 0;
    for ( int i = 0; i < count; ++i ) {
        int n = tr_import_skin_joint( &f->look->import, skin, i ), joint = f->look->joints[n];
        tr_affine bind = tr_import_inverse_bind( &f->look->import, skin, i );
        mat3 rest = f->look->rest[n].linear, inverse = m3_inverse( rest );
        if ( joint >= 0 && m3_det( inverse ) != 0 ) {
            mat3 s = m3_mul( inverse, m3_mul( f->stretches[joint], rest ) );
            bind = tr_affine_mul( ( tr_affine ){ s, v3_zero }, bind );
        }
        const vec3 columns[4] = { bind.linear.cx, bind.linear.cy, bind.linear.cz, bind.position };
        for ( int c = 0; c < 4; ++c ) {
            float *to = f->w->numbers + 16 * i + 4 * c;
            to[0] = (float)columns[c].x + 0.0f;
            to[1] = (float)columns[c].y + 0.0f;
            to[2] = (float)columns[c].z + 0.0f;
            to[3] = c == 3 ? 1.0f : 0.0f;
        }
    }
    return tr_glb_add_floats( f->w, count, 16, 0, false );
}

static void change_skin( fitting *f, json_t *skin, int index )
{
    json_t *joints = json_object_get( skin, "joints" );
    if ( !tr_look_uses( f->look, index ) ) { // used by another character: its number stays
        const tr_import_rig *rig = tr_look_rig( f->look );
        json_object_clear( skin );
        set( f->w, skin, "joints", json_pack( "[i]", f->nodes + rig->nodes[rig->nodes[0] < 0] ) );
        return;
    }
    int count = (int)json_array_size( joints );
    json_object_del( skin, "skeleton" ); // a hint, wrong in many files
    shift( f->w, skin, "inverseBindMatrices", f->to.accessors );
    if ( f->stretched )
        set( f->w, skin, "inverseBindMatrices", json_integer( add_binds( f, index, count ) ) );
    shift_items( f->w, joints, f->nodes );
}

// ----------------------------------------------------------------------------------------------- document

static void add_words( tr_glb *w, json_t **to, const json_t *words )
{
    if ( *to == NULL && json_array_size( words ) > 0 )
        *to = json_array();
    for ( size_t i = 0; *to != NULL && i < json_array_size( words ); ++i ) {
        json_t *word = json_array_get( words, i );
        bool known = false;
        for ( size_t k = 0; k < json_array_size( *to ); ++k )
            known |= json_equal( json_array_get( *to, k ), word ) != 0;
        w->failed |= !known && json_array_append( *to, word ) != 0;
    }
}

static const tr_glb_passed *find_passed( const tr_glb *w, const char *path )
{
    for ( int i = 0; i < w->passed_count; ++i )
        if ( strcmp( w->passed[i].path, path ) == 0 )
            return &w->passed[i];
    return NULL;
}

// What characters of one file share.
static void pass_file( fitting *f )
{
    tr_glb *w = f->w;
    const tr_glb_passed *before = find_passed( w, f->look->path );
    f->to = before != NULL ? *before
                           : ( tr_glb_passed ){ .path = f->look->path,
                                                .meshes = w->meshes.count,
                                                .materials = w->materials.count,
                                                .textures = w->textures.count,
                                                .images = w->images.count,
                                                .samplers = w->texture_samplers.count,
                                                .cameras = w->cameras.count,
                                                .accessors = w->accessors.count,
                                                .views = w->views.count };
    if ( before != NULL )
        return;
    w->failed |=
        !tr_array_reserve( (void **)&w->passed, &w->passed_capacity, w->passed_count + 1, sizeof *w->passed );
    if ( w->failed )
        return;
    w->passed[w->passed_count++] = f->to;
    pass_buffers( f );
    if ( w->failed )
        return;
    pass_on( f, "bufferViews", &w->views, change_view );
    pass_on( f, "accessors", &w->accessors, change_accessor );
    pass_on( f, "images", &w->images, change_image );
    pass_on( f, "samplers", &w->texture_samplers, NULL );
    pass_on( f, "textures", &w->textures, change_texture );
    pass_on( f, "materials", &w->materials, change_material );
    pass_on( f, "meshes", &w->meshes, change_mesh );
    pass_on( f, "cameras", &w->cameras, NULL );
    add_words( w, &w->used, json_object_get( f->look->json, "extensionsUsed" ) );
    add_words( w, &w->required, json_object_get( f->look->json, "extensionsRequired" ) );
}

static bool alloc_fitting( fitting *f )
{
    size_t nodes = (size_t)f->tree.node_count, joints = (size_t)f->body->skeleton->joint_count,
           cells = joints * (size_t)f->w->x->frame_count;
    f->world = tr_alloc( nodes, sizeof *f->world );
    f->scales = tr_alloc( nodes, sizeof *f->scales );
    f->stretches = tr_alloc( joints, sizeof *f->stretches );
    f->joints = tr_alloc( joints, sizeof *f->joints );
    f->pose.rotations = tr_alloc( joints, sizeof( quat ) );
    f->pose.positions = tr_alloc( joints, sizeof( vec3 ) );
    f->places = tr_alloc( cells, sizeof *f->places );
    f->turns = tr_alloc( cells, sizeof *f->turns );
    f->rest_places = tr_alloc( joints, sizeof *f->rest_places );
    f->rest_turns = tr_alloc( joints, sizeof *f->rest_turns );
    f->tops = json_array();
    return f->tops != NULL && f->world != NULL && f->scales != NULL && f->stretches != NULL &&
           f->joints != NULL && f->pose.rotations != NULL && f->pose.positions != NULL && f->places != NULL &&
           f->turns != NULL && f->rest_places != NULL && f->rest_turns != NULL;
}

static void free_fitting( fitting *f )
{
    tr_free( f->buffers );
    tr_free( f->world );
    tr_free( f->scales );
    tr_free( f->stretches );
    tr_free( f->joints );
    tr_free( f->pose.rotations );
    tr_free( f->pose.positions );
    tr_free( f->places );
    tr_free( f->turns );
    tr_free( f->rest_places );
    tr_free( f->rest_turns );
    json_decref( f->tops );
}

void tr_glb_add_look( tr_glb *w, const tr_exchange_body *body )
{
    fitting f = { .w = w,
                  .body = body,
                  .look = body->look,
                  .tree = tr_import_get_tree( &body->look->import ),
                  .nodes = w->nodes.count,
                  .skins = w->skins.count };
    bool first = f.nodes == 0;
    w->failed |= !alloc_fitting( &f ) || !tr_look_fits( f.look, body->skeleton, f.joints );
    if ( !w->failed ) {
        find_scales( &f );
        find_stretches( &f );
        place_frames( &f );
        pass_file( &f );
    }
    if ( !w->failed ) {
        pass_on( &f, "skins", &w->skins, change_skin );
        pass_on( &f, "nodes", &w->nodes, change_node );
        if ( json_array_size( f.tops ) > 0 )
            add_top( &f );
        json_t *extensions = json_object_get( f.look->json, "extensions" );
        if ( first && extensions != NULL )
            w->extensions = json_incref( extensions );
        animate( &f );
    }
    free_fitting( &f );
}
