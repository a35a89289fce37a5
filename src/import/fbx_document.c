// An FBX file as a glTF document: nodes as they are, meshes as triangles with four weights a point, base
// colours, and pictures that are PNG or JPEG. Vertex colours and blend shapes are passed over.
#ifdef TROUPE_HAS_UFBX

#include "import/fbx.h"

#include <stdio.h>
#include <string.h>

enum { SHORT = 5123, INT = 5125, FLOAT = 5126 }; // types of components
enum { VERTICES = 34962, INDICES = 34963 };      // targets of views
enum { WEIGHTS = 4 };                            // joints that a point has at most

typedef struct list { // a list of JSON values
    tr_text text;
    int count;
} list;

typedef struct corner {
    float place[3], normal[3], uv[2];
    float weights[WEIGHTS];
    uint16_t joints[WEIGHTS];
} corner;

typedef struct writer {
    fbx *f;
    const char *path; // path of the file; NULL: unknown
    tr_text *data;
    list nodes, meshes, materials, textures, images, skins, accessors, views;
    int *textures_of; // [texture count] of the document + 1; -1: it cannot be had; 0: not looked at
    tr_log *warnings;
    tr_error *error;
} writer;

// ------------------------------------------------------------------------------------------------- pieces

static int next( list *l )
{
    if ( l->count > 0 )
        tr_text_append( &l->text, ",", 1 );
    return l->count++;
}

static void put_numbers( tr_text *out, const double *values, int count )
{
    for ( int i = 0; i < count; ++i ) {
        tr_text_append( out, i > 0 ? "," : "[", 1 );
        tr_text_exact( out, (double)(float)values[i] + 0.0 );
    }
    tr_text_append( out, "]", 1 );
}

static void put_name( tr_text *out, ufbx_string name, const char *otherwise )
{
    bool named = name.length > 0 && tr_utf8_valid( name.data, name.length );
    tr_text_add( out, "{\"name\":" );
    tr_text_quoted( out, named ? name.data : otherwise, named ? name.length : strlen( otherwise ) );
}

static int add_view( writer *w, const void *bytes, size_t size, int target )
{
    tr_text_append( w->data, "\0\0\0", ( 4 - w->data->size % 4 ) % 4 );
    int index = next( &w->views );
    tr_text_add( &w->views.text, "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", w->data->size, size );
    if ( target != 0 )
        tr_text_add( &w->views.text, ",\"target\":%d", target );
    tr_text_append( &w->views.text, "}", 1 );
    tr_text_append( w->data, bytes, size );
    return index;
}

static int add_accessor( writer *w, int view, int type, size_t count, const char *shape )
{
    int index = next( &w->accessors );
    tr_text_add( &w->accessors.text, "{\"bufferView\":%d,\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"",
                 view, type, count, shape );
    return index;
}

static tr_affine affine_of( const ufbx_matrix *m )
{
    return ( tr_affine ){ { v3( m->cols[0].x, m->cols[0].y, m->cols[0].z ),
                            v3( m->cols[1].x, m->cols[1].y, m->cols[1].z ),
                            v3( m->cols[2].x, m->cols[2].y, m->cols[2].z ) },
                          v3( m->cols[3].x, m->cols[3].y, m->cols[3].z ) };
}

static bool is_finite( tr_affine a )
{
    return v3_finite( a.linear.cx ) && v3_finite( a.linear.cy ) && v3_finite( a.linear.cz ) &&
           v3_finite( a.position );
}

static void matrix_numbers( tr_affine a, double out[16] )
{
    const vec3 columns[4] = { a.linear.cx, a.linear.cy, a.linear.cz, a.position };
    for ( int c = 0; c < 4; ++c ) {
        out[4 * c] = columns[c].x;
        out[4 * c + 1] = columns[c].y;
        out[4 * c + 2] = columns[c].z;
        out[4 * c + 3] = c == 3;
    }
}

// ----------------------------------------------------------------------------------------------- pictures

// The last part of a path of any system.
static const char *last_part( const char *path )
{
    const char *name = path;
    for ( const char *p = path; *p != 0; ++p )
        if ( *p == '/' || *p == '\\' )
            name = p + 1;
    return name;
}

// A picture beside the file, or at the place below its folder that the file names.
static bool read_beside( const writer *w, const ufbx_texture *texture, char **bytes, size_t *size )
{
    char *named = tr_string_copy( texture->relative_filename.data );
    bool found = false;
    for ( char *p = named; p != NULL && *p != 0; ++p )
        *p = *p == '\\' ? '/' : *p;
    bool below = named != NULL && named[0] != '/' && strstr( named, ".." ) == NULL && named[0] != 0;
    const char *const places[2] = { below ? named : "", last_part( texture->filename.data ) };
    for ( int i = 0; i < 2 && !found; ++i ) {
        char *path = w->path != NULL && places[i][0] != 0 ? tr_path_beside( w->path, places[i] ) : NULL;
        found = path != NULL && tr_file_read( path, bytes, size, NULL );
        tr_free( path );
    }
    tr_free( named );
    return found;
}

// The texture of the document, -1: it has no picture that glTF takes.
static int find_texture( writer *w, const ufbx_texture *texture )
{
    if ( texture == NULL || texture->file_textures.count == 0 )
        return -1;
    texture = texture->file_textures.data[0];
    int *known = &w->textures_of[texture->typed_id];
    if ( *known != 0 )
        return *known > 0 ? *known - 1 : -1;
    char *read = NULL;
    const void *bytes = texture->content.data;
    size_t size = texture->content.size;
    if ( size == 0 && read_beside( w, texture, &read, &size ) )
        bytes = read;
    const char *kind = size > 0 ? tr_picture_kind( bytes, size ) : NULL;
    if ( kind != NULL && strcmp( kind, "image/webp" ) == 0 ) // takes an extension
        kind = NULL;
    *known = -1;
    if ( kind == NULL )
        tr_log_add( w->warnings, "the picture \"%.100s\" %s", last_part( texture->filename.data ),
                    size > 0 ? "is neither PNG nor JPEG, so it is not passed on"
                             : "is neither in the file nor beside it" );
    else {
        next( &w->images );
        tr_text_add( &w->images.text, "{\"bufferView\":%d,\"mimeType\":\"%s\"}",
                     add_view( w, bytes, size, 0 ), kind );
        *known = next( &w->textures ) + 1;
        tr_text_add( &w->textures.text, "{\"source\":%d}", w->images.count - 1 );
    }
    tr_free( read );
    return *known > 0 ? *known - 1 : -1;
}

static double share( double value, double otherwise )
{
    return value >= 0 && value <= 1 ? value : value > 1 ? 1 : otherwise;
}

static void add_material( writer *w, const ufbx_material *material )
{
    const ufbx_material_pbr_maps *pbr = &material->pbr;
    ufbx_vec4 base = pbr->base_color.value_vec4;
    double factor = pbr->base_factor.has_value ? share( pbr->base_factor.value_real, 1 ) : 1, grey = 0.8;
    if ( !pbr->base_color.has_value )
        base = ( ufbx_vec4 ){ .x = grey, .y = grey, .z = grey, .w = 1 };
    int colour = find_texture( w, pbr->base_color.texture ),
        bumps = find_texture( w, pbr->normal_map.texture );
    double rgb[4] = { factor * share( base.x, grey ), factor * share( base.y, grey ),
                      factor * share( base.z, grey ), 1 };
    if ( colour >= 0 ) // most programs show the texture alone
        rgb[0] = rgb[1] = rgb[2] = 1;
    next( &w->materials );
    tr_text *out = &w->materials.text;
    put_name( out, material->name, "material" );
    tr_text_add( out, ",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"baseColorFactor\":" );
    put_numbers( out, rgb, 4 );
    tr_text_add( out, ",\"metallicFactor\":" );
    tr_text_exact( out, pbr->metalness.has_value ? share( pbr->metalness.value_real, 0 ) : 0 );
    tr_text_add( out, ",\"roughnessFactor\":" );
    tr_text_exact( out, pbr->roughness.has_value ? share( pbr->roughness.value_real, 0.8 ) : 0.8 );
    if ( colour >= 0 )
        tr_text_add( out, ",\"baseColorTexture\":{\"index\":%d}", colour );
    tr_text_append( out, "}", 1 );
    if ( bumps >= 0 )
        tr_text_add( out, ",\"normalTexture\":{\"index\":%d}", bumps );
    if ( colour >= 0 && pbr->opacity.texture != NULL )
        tr_text_add( out, ",\"alphaMode\":\"BLEND\"" );
    tr_text_append( out, "}", 1 );
}

// -------------------------------------------------------------------------------------------------- skins

static bool gather_skin( fbx_skin *skin, const ufbx_skin_deformer *deformer, int *slot_of_node,
                         tr_error *error )
{
    size_t count = deformer->clusters.count;
    skin->deformer = deformer;
    skin->joints = tr_alloc( count, sizeof *skin->joints );
    skin->binds = tr_alloc( count, sizeof *skin->binds );
    skin->slots = tr_alloc( count, sizeof *skin->slots );
    if ( skin->joints == NULL || skin->binds == NULL || skin->slots == NULL )
        return tr_error_memory( error );
    for ( size_t c = 0; c < count; ++c ) {
        const ufbx_skin_cluster *cluster = deformer->clusters.data[c];
        tr_affine bind = affine_of( &cluster->geometry_to_bone );
        int node = cluster->bone_node != NULL ? (int)cluster->bone_node->typed_id : -1;
        skin->slots[c] = -1;
        if ( node < 0 || !is_finite( bind ) || skin->joint_count >= UINT16_MAX )
            continue;
        if ( slot_of_node[node] == 0 ) { // a bone is in a skin once
            skin->joints[skin->joint_count] = node;
            skin->binds[skin->joint_count] = bind;
            slot_of_node[node] = ++skin->joint_count;
        }
        skin->slots[c] = slot_of_node[node] - 1;
    }
    for ( int j = 0; j < skin->joint_count; ++j )
        slot_of_node[skin->joints[j]] = 0;
    return true;
}

static void free_skin( fbx_skin *skin )
{
    tr_free( skin->joints );
    tr_free( skin->binds );
    tr_free( skin->slots );
}

// Skins with a bone, in the order of the file.
static bool gather_skins( writer *w )
{
    fbx_document *d = &w->f->document;
    const ufbx_scene *scene = w->f->scene;
    int *slots = tr_alloc( scene->nodes.count, sizeof *slots );
    d->skins = tr_alloc( scene->skin_deformers.count, sizeof *d->skins );
    bool ok = ( slots != NULL && d->skins != NULL ) || tr_error_memory( w->error );
    for ( size_t s = 0; ok && s < scene->skin_deformers.count; ++s ) {
        fbx_skin *skin = &d->skins[d->skin_count++];
        ok = gather_skin( skin, scene->skin_deformers.data[s], slots, w->error );
        if ( ok && skin->joint_count == 0 ) {
            free_skin( skin );
            d->skins[--d->skin_count] = ( fbx_skin ){ 0 };
        }
    }
    tr_free( slots );
    return ok;
}

static int find_skin( const writer *w, const ufbx_mesh *mesh )
{
    const fbx_document *d = &w->f->document;
    for ( int s = 0; mesh->skin_deformers.count > 0 && s < d->skin_count; ++s )
        if ( d->skins[s].deformer == mesh->skin_deformers.data[0] )
            return s;
    return -1;
}

static bool add_skin( writer *w, const fbx_skin *skin )
{
    float *binds = tr_alloc( 16 * (size_t)skin->joint_count, sizeof *binds );
    if ( binds == NULL )
        return tr_error_memory( w->error );
    for ( int j = 0; j < skin->joint_count; ++j ) {
        double numbers[16];
        matrix_numbers( skin->binds[j], numbers );
        for ( int i = 0; i < 16; ++i )
            binds[16 * j + i] = (float)numbers[i] + 0.0f;
    }
    int view = add_view( w, binds, 16 * (size_t)skin->joint_count * sizeof *binds, 0 ),
        matrices = add_accessor( w, view, FLOAT, (size_t)skin->joint_count, "MAT4" );
    tr_text_append( &w->accessors.text, "}", 1 );
    next( &w->skins );
    tr_text_add( &w->skins.text, "{\"inverseBindMatrices\":%d,\"joints\":", matrices );
    for ( int j = 0; j < skin->joint_count; ++j )
        tr_text_add( &w->skins.text, "%s%d", j > 0 ? "," : "[", skin->joints[j] );
    tr_text_append( &w->skins.text, "]}", 2 );
    tr_free( binds );
    return true;
}

// ------------------------------------------------------------------------------------------------- meshes

// The strongest weights of a point, made to add up to 1.
static void weigh( corner *out, const fbx_skin *skin, size_t point )
{
    const ufbx_skin_deformer *deformer = skin->deformer;
    double sum = 0;
    int count = 0;
    out->weights[0] = 1;
    if ( point >= deformer->vertices.count )
        return;
    ufbx_skin_vertex vertex = deformer->vertices.data[point];
    for ( uint32_t i = 0; i < vertex.num_weights && count < WEIGHTS; ++i ) { // the largest first
        ufbx_skin_weight weight = deformer->weights.data[vertex.weight_begin + i];
        int slot = skin->slots[weight.cluster_index], at = 0;
        if ( slot < 0 || !( weight.weight > 0 ) || !( weight.weight < 1e9 ) )
            continue;
        while ( at < count && out->joints[at] != slot )
            ++at;
        if ( at == count ) {
            out->joints[count] = (uint16_t)slot;
            out->weights[count++] = 0;
        }
        out->weights[at] += (float)weight.weight;
        sum += weight.weight;
    }
    for ( int i = 0; i < count; ++i )
        out->weights[i] = (float)( (double)out->weights[i] / sum );
}

static bool fill_corner( corner *out, const ufbx_mesh *mesh, const fbx_skin *skin, tr_affine place, mat3 turn,
                         uint32_t index )
{
    ufbx_vec3 p = ufbx_get_vertex_vec3( &mesh->vertex_position, index );
    vec3 at = v3_add( m3_mulv( place.linear, v3( p.x, p.y, p.z ) ), place.position ), normal = v3( 0, 1, 0 );
    *out = ( corner ){ .place = { (float)at.x, (float)at.y, (float)at.z } };
    if ( mesh->vertex_normal.exists ) {
        ufbx_vec3 n = ufbx_get_vertex_vec3( &mesh->vertex_normal, index );
        vec3 turned = m3_mulv( turn, v3( n.x, n.y, n.z ) );
        double length = v3_length( turned );
        if ( length > 1e-12 && length < 1e12 )
            normal = v3_scale( 1 / length, turned );
    }
    out->normal[0] = (float)normal.x + 0.0f;
    out->normal[1] = (float)normal.y + 0.0f;
    out->normal[2] = (float)normal.z + 0.0f;
    if ( mesh->vertex_uv.exists ) {
        ufbx_vec2 uv = ufbx_get_vertex_vec2( &mesh->vertex_uv, index );
        out->uv[0] = isfinite( (float)uv.x ) ? (float)uv.x : 0;
        out->uv[1] = isfinite( (float)( 1 - uv.y ) ) ? (float)( 1 - uv.y ) : 0;
    }
    if ( skin != NULL )
        weigh( out, skin, mesh->vertex_indices.data[index] );
    for ( int c = 0; c < 3; ++c ) {
        out->place[c] += 0.0f;
        if ( !isfinite( out->place[c] ) )
            return false;
    }
    return true;
}

// One attribute of all corners as an accessor of its own.
static int add_attribute( writer *w, const corner *corners, size_t count, size_t offset, size_t size,
                          int type, const char *shape )
{
    char *bytes = tr_alloc( count, size );
    if ( bytes == NULL ) {
        w->data->failed = true;
        return 0;
    }
    for ( size_t i = 0; i < count; ++i )
        memcpy( bytes + i * size, (const char *)&corners[i] + offset, size );
    int accessor = add_accessor( w, add_view( w, bytes, count * size, VERTICES ), type, count, shape );
    tr_free( bytes );
    return accessor;
}

static void close_accessor( writer *w )
{
    tr_text_append( &w->accessors.text, "}", 1 );
}

static void add_bounds( writer *w, const corner *corners, size_t count )
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for ( size_t i = 0; i < count; ++i )
        for ( int c = 0; c < 3; ++c ) {
            low[c] = fmin( low[c], (double)corners[i].place[c] );
            high[c] = fmax( high[c], (double)corners[i].place[c] );
        }
    tr_text_add( &w->accessors.text, ",\"min\":" );
    put_numbers( &w->accessors.text, low, 3 );
    tr_text_add( &w->accessors.text, ",\"max\":" );
    put_numbers( &w->accessors.text, high, 3 );
}

static void add_primitive( writer *w, const corner *corners, size_t corner_count, const uint32_t *indices,
                           size_t index_count, bool uv, bool skinned, int material )
{
    tr_text *out = &w->meshes.text;
    int places = add_attribute( w, corners, corner_count, offsetof( corner, place ), 12, FLOAT, "VEC3" );
    add_bounds( w, corners, corner_count );
    close_accessor( w );
    int normals = add_attribute( w, corners, corner_count, offsetof( corner, normal ), 12, FLOAT, "VEC3" );
    close_accessor( w );
    tr_text_add( out, "{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d", places, normals );
    if ( uv ) {
        tr_text_add( out, ",\"TEXCOORD_0\":%d",
                     add_attribute( w, corners, corner_count, offsetof( corner, uv ), 8, FLOAT, "VEC2" ) );
        close_accessor( w );
    }
    if ( skinned ) {
        int joints = add_attribute( w, corners, corner_count, offsetof( corner, joints ), 8, SHORT, "VEC4" );
        close_accessor( w );
        int weights =
            add_attribute( w, corners, corner_count, offsetof( corner, weights ), 16, FLOAT, "VEC4" );
        close_accessor( w );
        tr_text_add( out, ",\"JOINTS_0\":%d,\"WEIGHTS_0\":%d", joints, weights );
    }
    int view = add_view( w, indices, index_count * sizeof *indices, INDICES );
    tr_text_add( out, "},\"indices\":%d", add_accessor( w, view, INT, index_count, "SCALAR" ) );
    close_accessor( w );
    if ( material >= 0 )
        tr_text_add( out, ",\"material\":%d", material );
    tr_text_append( out, "}", 1 );
}

// The triangles of a part of a mesh; equal corners become one. *added: whether there are any.
static bool add_part( writer *w, const ufbx_node *node, const ufbx_mesh_part *part, const fbx_skin *skin,
                      bool first, bool *added )
{
    const ufbx_mesh *mesh = node->mesh;
    size_t most = 3 * part->num_triangles, count = 0;
    tr_affine place = skin == NULL ? affine_of( &node->geometry_to_node ) : tr_affine_identity;
    mat3 turn = place.linear;
    if ( m3_det( turn ) != 0 ) { // normals go by the inverse transpose
        mat3 i = m3_inverse( turn );
        turn = ( mat3 ){ v3( i.cx.x, i.cy.x, i.cz.x ), v3( i.cx.y, i.cy.y, i.cz.y ),
                         v3( i.cx.z, i.cy.z, i.cz.z ) };
    }
    bool mirrored = m3_det( place.linear ) < 0;
    corner *corners = tr_alloc( most, sizeof *corners );
    uint32_t *indices = tr_alloc( most, sizeof *indices ),
             *face = tr_alloc( 3 * mesh->max_face_triangles, sizeof *face );
    bool ok = ( corners != NULL && indices != NULL && face != NULL ) || tr_error_memory( w->error );
    for ( size_t i = 0; ok && i < part->face_indices.count; ++i ) {
        uint32_t triangles = ufbx_triangulate_face( face, 3 * mesh->max_face_triangles, mesh,
                                                    mesh->faces.data[part->face_indices.data[i]] );
        for ( uint32_t k = 0; ok && k < 3 * triangles && count < most; ++k, ++count ) {
            uint32_t other = mirrored && k % 3 != 0 ? face[3 * ( k / 3 ) + 3 - k % 3] : face[k];
            ok =
                fill_corner( &corners[count], mesh, skin, place, turn, other ) ||
                tr_error_set( w->error, "the mesh \"%.100s\" has numbers that are none; export the file anew",
                              node->name.data );
        }
    }
    ufbx_vertex_stream stream = { corners, count, sizeof *corners };
    ufbx_error trouble;
    size_t kept = 0;
    *added = ok && count > 0;
    if ( *added ) {
        ufbx_allocator_opts memory = tr_fbx_memory( count * sizeof *corners );
        kept = ufbx_generate_indices( &stream, 1, indices, count, &memory, &trouble );
        ok = kept > 0 || tr_error_memory( w->error );
    }
    if ( ok && *added ) {
        int material = part->index < node->materials.count && node->materials.data[part->index] != NULL
                           ? (int)node->materials.data[part->index]->typed_id
                           : -1;
        tr_text_append( &w->meshes.text, ",", first ? 0 : 1 );
        add_primitive( w, corners, kept, indices, count, mesh->vertex_uv.exists, skin != NULL, material );
    }
    tr_free( corners );
    tr_free( indices );
    tr_free( face );
    return ok;
}

// *mesh: its number in the document, -1: it has no triangles.
static bool add_mesh( writer *w, const ufbx_node *node, int skin, int *number )
{
    const ufbx_mesh *mesh = node->mesh;
    bool any = false, ok = true;
    *number = -1;
    if ( mesh->num_triangles == 0 || !mesh->vertex_position.exists )
        return true;
    size_t before = w->meshes.text.size;
    int index = next( &w->meshes );
    put_name( &w->meshes.text, mesh->name.length > 0 ? mesh->name : node->name, "mesh" );
    tr_text_add( &w->meshes.text, ",\"primitives\":[" );
    for ( size_t p = 0; ok && p < mesh->material_parts.count; ++p ) {
        bool added = false;
        ok = tr_work_go_on( w->error ) &&
             add_part( w, node, &mesh->material_parts.data[p], skin >= 0 ? &w->f->document.skins[skin] : NULL,
                       !any, &added );
        any |= added;
    }
    tr_text_append( &w->meshes.text, "]}", 2 );
    if ( any )
        *number = index;
    else if ( !w->meshes.text.failed ) { // glTF knows no empty meshes
        w->meshes.text.size = before;
        w->meshes.text.data[before] = 0;
        --w->meshes.count;
    }
    return ok;
}

// -------------------------------------------------------------------------------------------------- nodes

static bool add_node( writer *w, const ufbx_node *node )
{
    tr_affine world = affine_of( &node->node_to_world ),
              above = node->parent != NULL ? affine_of( &node->parent->node_to_world ) : tr_affine_identity;
    double numbers[16];
    int skin = node->mesh != NULL ? find_skin( w, node->mesh ) : -1, mesh = -1;
    bool shown = node->visible || w->f->scene->metadata.version < 6000; // older files have no such flag
    if ( node->mesh != NULL && shown && !add_mesh( w, node, skin, &mesh ) )
        return false;
    if ( m3_det( above.linear ) == 0 || !is_finite( world ) || !is_finite( above ) )
        world = tr_affine_identity;
    else {
        mat3 inverse = m3_inverse( above.linear );
        world = ( tr_affine ){ m3_mul( inverse, world.linear ),
                               m3_mulv( inverse, v3_sub( world.position, above.position ) ) };
    }
    matrix_numbers( is_finite( world ) ? world : tr_affine_identity, numbers );
    next( &w->nodes );
    tr_text *out = &w->nodes.text;
    put_name( out, node->name, node->parent == NULL ? "FBX" : "node" );
    tr_text_add( out, ",\"matrix\":" );
    put_numbers( out, numbers, 16 );
    for ( size_t c = 0; c < node->children.count; ++c )
        tr_text_add( out, "%s%d", c > 0 ? "," : ",\"children\":[", (int)node->children.data[c]->typed_id );
    if ( node->children.count > 0 )
        tr_text_append( out, "]", 1 );
    if ( mesh >= 0 )
        tr_text_add( out, ",\"mesh\":%d", mesh );
    if ( mesh >= 0 && skin >= 0 )
        tr_text_add( out, ",\"skin\":%d", skin );
    tr_text_append( out, "}", 1 );
    return true;
}

// ----------------------------------------------------------------------------------------------- document

static void print_list( tr_text *out, const char *key, list *l )
{
    if ( l->count > 0 ) {
        tr_text_add( out, ",\"%s\":[", key );
        if ( l->text.size > 0 )
            tr_text_append( out, l->text.data, l->text.size );
        tr_text_append( out, "]", 1 );
    }
    out->failed |= l->text.failed;
    tr_text_free( &l->text );
}

// Meshes may be used by many nodes: what that makes of them stays in proportion to the file.
static bool check_size( const writer *w )
{
    double corners = 0;
    const ufbx_scene *scene = w->f->scene;
    for ( size_t n = 0; n < scene->nodes.count; ++n )
        if ( scene->nodes.data[n]->mesh != NULL )
            corners += 3 * (double)scene->nodes.data[n]->mesh->num_triangles;
    return corners < (double)( 1 << 22 ) + 16 * (double)w->f->base.bytes ||
           tr_error_set( w->error, "its meshes have %.0f corners, which is too many for so small a file",
                         corners );
}

static bool write_all( writer *w )
{
    const ufbx_scene *scene = w->f->scene;
    const fbx_document *d = &w->f->document;
    bool ok = check_size( w ) && gather_skins( w );
    w->textures_of = tr_alloc( scene->textures.count, sizeof *w->textures_of );
    if ( w->textures_of == NULL )
        return tr_error_memory( w->error );
    for ( size_t m = 0; ok && m < scene->materials.count; ++m )
        add_material( w, scene->materials.data[m] );
    for ( int s = 0; ok && s < d->skin_count; ++s )
        ok = add_skin( w, &d->skins[s] );
    for ( size_t n = 0; ok && n < scene->nodes.count; ++n )
        ok = add_node( w, scene->nodes.data[n] );
    return ok;
}

bool tr_fbx_write_document( fbx *f, const char *path, tr_log *warnings, tr_error *error )
{
    fbx_document *d = &f->document;
    tr_text *json = &d->json;
    writer w = { .f = f, .path = path, .data = &d->data, .warnings = warnings, .error = error };
    bool ok = write_all( &w );
    tr_text_add( json, "{\"asset\":{\"version\":\"2.0\"}" );
    print_list( json, "nodes", &w.nodes );
    print_list( json, "meshes", &w.meshes );
    print_list( json, "materials", &w.materials );
    print_list( json, "textures", &w.textures );
    print_list( json, "images", &w.images );
    print_list( json, "skins", &w.skins );
    print_list( json, "accessors", &w.accessors );
    print_list( json, "bufferViews", &w.views );
    tr_text_add( json, ",\"buffers\":[{\"byteLength\":%zu}]}", d->data.size );
    tr_free( w.textures_of );
    return ok && ( ( !json->failed && !d->data.failed ) || tr_error_memory( error ) );
}

void tr_fbx_free_document( fbx_document *document )
{
    for ( int s = 0; s < document->skin_count; ++s )
        free_skin( &document->skins[s] );
    tr_free( document->skins );
    tr_text_free( &document->json );
    tr_text_free( &document->data );
    *document = ( fbx_document ){ 0 };
}

static const fbx_document *of( const struct tr_import_file *file )
{
    return &( (const fbx *)file )->document;
}

static tr_import_document fbx_papers_document( const struct tr_import_file *file )
{
    const fbx_document *d = of( file );
    return ( tr_import_document ){ d->json.data, d->json.size, 1, d->skin_count };
}

static const char *fbx_buffer( const struct tr_import_file *file, int buffer, size_t *size )
{
    (void)buffer;
    *size = of( file )->data.size;
    return of( file )->data.data;
}

static int fbx_skin_joint( const struct tr_import_file *file, int skin, int index )
{
    const fbx_skin *s = &of( file )->skins[skin];
    return index < s->joint_count ? s->joints[index] : -1;
}

static tr_affine fbx_inverse_bind( const struct tr_import_file *file, int skin, int index )
{
    const fbx_skin *s = &of( file )->skins[skin];
    return index < s->joint_count ? s->binds[index] : tr_affine_identity;
}

const tr_import_papers tr_fbx_papers = { fbx_papers_document, fbx_buffer, fbx_skin_joint, fbx_inverse_bind,
                                         NULL };

#else
typedef int tr_fbx_document_is_missing;
#endif
