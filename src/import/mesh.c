// The meshes of a glTF or FBX file as one, at rest: for props and surroundings. What is read is the document
// that tr_import_get_document gives.
#include "import/import.h"

#include <stdint.h>
#include <string.h>

typedef struct gathering { // of all triangles of a file
    const tr_import *import;
    const char *name; // of the file
    const json_t *accessors, *views;
    vec3 *points;
    int point_count, point_capacity;
    int ( *triangles )[3];
    int triangle_count, triangle_capacity;
    tr_error *error;
} gathering;

enum { MOST = 1000000 }; // points, and triangles, as of OBJ files

typedef struct numbers { // of an accessor
    const unsigned char *bytes;
    size_t count, stride;
    int type; // componentType of glTF
} numbers;

static bool refuse( const gathering *g, const char *what )
{
    return tr_error_at( g->error, g->name, 0, 0, "%s", what );
}

// -1: not there, or no number that could be meant
static json_int_t whole( const json_t *object, const char *key )
{
    const json_t *value = json_object_get( object, key );
    json_int_t number = json_is_integer( value ) ? json_integer_value( value ) : -1;
    return number < ( (json_int_t)1 << 40 ) ? number : -1;
}

static size_t size_or( const json_t *object, const char *key, size_t otherwise )
{
    json_int_t number = whole( object, key );
    return number >= 0 ? (size_t)number : otherwise;
}

static size_t width_of( int type )
{
    return type == 5121 ? 1 : type == 5123 ? 2 : type == 5125 || type == 5126 ? 4 : 0;
}

// Every sum stays far below what a size holds: all terms are below 2^40.
static bool find_numbers( const gathering *g, json_int_t index, size_t per_item, numbers *out )
{
    const json_t *accessor = index >= 0 ? json_array_get( g->accessors, (size_t)index ) : NULL;
    const json_t *view = json_array_get( g->views, size_or( accessor, "bufferView", SIZE_MAX ) );
    size_t size = 0;
    json_int_t buffer = whole( view, "buffer" );
    if ( json_object_get( accessor, "sparse" ) != NULL )
        return refuse( g, "parts of its meshes are stored sparsely; export it anew, or as OBJ" );
    if ( view == NULL || json_object_get( json_object_get( view, "extensions" ), "EXT_meshopt_compression" ) )
        return refuse( g, "its meshes are compressed or have no data; export it without compression" );
    const char *data = buffer >= 0 && buffer < tr_import_get_document( g->import ).buffer_count
                           ? tr_import_get_buffer( g->import, (int)buffer, &size )
                           : NULL;
    out->type = (int)size_or( accessor, "componentType", 0 );
    out->count = size_or( accessor, "count", 0 );
    size_t item = width_of( out->type ) * per_item, start = size_or( view, "byteOffset", 0 ),
           length = size_or( view, "byteLength", 0 ), at = size_or( accessor, "byteOffset", 0 );
    out->stride = size_or( view, "byteStride", item );
    bool inside = data != NULL && item > 0 && out->stride >= item && start + length <= size &&
                  out->count <= MOST * (size_t)3 &&
                  ( out->count == 0 || at + ( out->count - 1 ) * out->stride + item <= length );
    if ( !inside )
        return refuse( g, "its meshes have more than a million points, or lie outside of its data" );
    out->bytes = (const unsigned char *)data + start + at;
    return true;
}

static size_t index_at( const numbers *n, size_t i )
{
    const unsigned char *at = n->bytes + i * n->stride;
    uint16_t s;
    uint32_t u;
    switch ( n->type ) {
    case 5121: return *at;
    case 5123: memcpy( &s, at, sizeof s ); return s;
    default: memcpy( &u, at, sizeof u ); return u;
    }
}

static bool add_points( gathering *g, const numbers *n, tr_affine place )
{
    if ( n->count > (size_t)( MOST - g->point_count ) )
        return refuse( g, "its meshes have more than a million points" );
    int count = g->point_count + (int)n->count;
    if ( !tr_array_reserve( (void **)&g->points, &g->point_capacity, count, sizeof *g->points ) )
        return tr_error_memory( g->error );
    for ( size_t i = 0; i < n->count; ++i ) {
        float f[3];
        memcpy( f, n->bytes + i * n->stride, sizeof f );
        vec3 p =
            v3_add( m3_mulv( place.linear, v3( (double)f[0], (double)f[1], (double)f[2] ) ), place.position );
        if ( !( v3_dot( p, p ) < 1e10 ) ) // 100 km
            return refuse( g, "a point of its meshes is farther than 100 km away, or no number" );
        g->points[g->point_count++] = v3_add( p, v3_zero ); // -0 is 0
    }
    return true;
}

static bool add_triangle( gathering *g, const int corners[3], bool turned )
{
    if ( g->triangle_count == MOST )
        return refuse( g, "its meshes have more than a million triangles" );
    if ( !tr_array_reserve( (void **)&g->triangles, &g->triangle_capacity, g->triangle_count + 1,
                            sizeof *g->triangles ) )
        return tr_error_memory( g->error );
    int *t = g->triangles[g->triangle_count++];
    t[0] = corners[0];
    t[1] = corners[turned ? 2 : 1];
    t[2] = corners[turned ? 1 : 2];
    return true;
}

// Lists, strips and fans of triangles; points and lines have no faces.
static bool add_part( gathering *g, const json_t *part, tr_affine place )
{
    numbers points, corners = { 0 };
    size_t mode = size_or( part, "mode", 4 );
    if ( mode < 4 || mode > 6 )
        return true;
    if ( json_object_get( json_object_get( part, "extensions" ), "KHR_draco_mesh_compression" ) != NULL )
        return refuse( g, "its meshes are compressed (Draco); export it without compression" );
    if ( !find_numbers( g, whole( json_object_get( part, "attributes" ), "POSITION" ), 3, &points ) )
        return false;
    bool indexed = json_object_get( part, "indices" ) != NULL;
    if ( indexed && !find_numbers( g, whole( part, "indices" ), 1, &corners ) )
        return false;
    if ( points.type != 5126 || ( indexed && corners.type == 5126 ) )
        return refuse( g, "its meshes are quantised; export it without compression" );
    bool mirrored = m3_det( place.linear ) < 0;
    int first = g->point_count;
    size_t count = indexed ? corners.count : points.count, step = mode == 4 ? 3 : 1;
    if ( !add_points( g, &points, place ) )
        return false;
    for ( size_t i = 0; i + 2 < count; i += step ) {
        int c[3];
        for ( size_t k = 0; k < 3; ++k ) {
            size_t at = mode == 6 && k == 0 ? 0 : i + k, corner = indexed ? index_at( &corners, at ) : at;
            if ( corner >= points.count )
                return refuse( g, "a triangle of its meshes has a corner that is no point" );
            c[k] = first + (int)corner;
        }
        if ( !add_triangle( g, c, mirrored != ( mode == 5 && i % 2 == 1 ) ) )
            return false;
    }
    return true;
}

// A mesh with a skin is where its first joint takes it: at rest, all of them take it to the same place.
static tr_affine place_of( const gathering *g, const tr_affine *rest, const json_t *node, int n )
{
    json_int_t skin = whole( node, "skin" );
    bool has = skin >= 0 && skin < tr_import_get_document( g->import ).skin_count;
    int joint = has ? tr_import_skin_joint( g->import, (int)skin, 0 ) : -1;
    return joint >= 0 ? tr_affine_mul( rest[joint], tr_import_inverse_bind( g->import, (int)skin, 0 ) )
                      : rest[n];
}

static bool gather( gathering *g, const json_t *json )
{
    tr_import_tree tree = tr_import_get_tree( g->import );
    const json_t *nodes = json_object_get( json, "nodes" ), *meshes = json_object_get( json, "meshes" );
    tr_affine *rest = tr_alloc( (size_t)tree.node_count, sizeof *rest );
    bool ok = rest != NULL ? tr_import_rest( g->import, rest, g->error ) : tr_error_memory( g->error );
    g->accessors = json_object_get( json, "accessors" );
    g->views = json_object_get( json, "bufferViews" );
    for ( int n = 0; ok && n < tree.node_count; ++n ) {
        const json_t *node = json_array_get( nodes, (size_t)n );
        const json_t *parts =
            json_object_get( json_array_get( meshes, size_or( node, "mesh", SIZE_MAX ) ), "primitives" );
        for ( size_t p = 0; ok && p < json_array_size( parts ); ++p )
            ok = add_part( g, json_array_get( parts, p ), place_of( g, rest, node, n ) ) &&
                 tr_work_go_on( g->error );
    }
    tr_free( rest );
    return ok;
}

bool tr_import_mesh( tr_trimesh *out, const tr_import *import, const char *name, double scale,
                     tr_error *error )
{
    tr_import_document document = tr_import_get_document( import );
    gathering g = { .import = import, .name = name, .error = error };
    json_t *json = NULL;
    *out = ( tr_trimesh ){ 0 };
    bool ok = document.json != NULL ? tr_json_parse( &json, document.json, document.size, name, error )
                                    : refuse( &g, "there are no meshes in it" );
    ok = ok && gather( &g, json );
    if ( ok && g.triangle_count == 0 )
        ok = refuse( &g, "there are no triangles in it" );
    for ( int i = 0; ok && i < g.point_count; ++i )
        g.points[i] = v3_scale( scale, g.points[i] );
    tr_error inner;
    if ( ok && !tr_trimesh_build( out, g.points, g.point_count, (const int( * )[3])g.triangles,
                                  g.triangle_count, &inner ) )
        ok = tr_error_at( error, name, 0, 0, "%s", inner.message );
    json_decref( json );
    tr_free( g.points );
    tr_free( g.triangles );
    return ok;
}

bool tr_mesh_read( tr_trimesh *out, const char *path, const tr_obj_import *how, tr_error *error )
{
    tr_import import;
    *out = ( tr_trimesh ){ 0 };
    if ( !tr_import_may_have_meshes( path ) )
        return tr_obj_load( out, path, how, error );
    tr_import_def def = tr_default_import_def();
    def.meshes = true;
    def.up = how->up == 'z' ? 'z' : 0;
    bool ok = tr_import_load( &import, path, &def, NULL, error ) &&
              tr_import_mesh( out, &import, path, how->unit, error );
    tr_import_free( &import );
    return ok;
}
