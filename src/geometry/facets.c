// Triangles that cover capsules and shapes.
#include "geometry/geometry.h"

enum { SEGMENTS = 12, RINGS = 4 }; // facets of a capsule: around it, and of each end from pole to rim

static bool reserve( tr_facets *facets, int points, int triangles )
{
    int needed = facets->point_count + points;
    return tr_array_reserve( (void **)&facets->points, &facets->point_capacity, needed,
                             sizeof *facets->points ) &&
           tr_array_reserve( (void **)&facets->normals, &facets->normal_capacity, needed,
                             sizeof *facets->normals ) &&
           tr_array_reserve( (void **)&facets->tags, &facets->tag_capacity, needed, sizeof *facets->tags ) &&
           tr_array_reserve( (void **)&facets->triangles, &facets->triangle_capacity,
                             facets->triangle_count + triangles, sizeof *facets->triangles );
}

static void add_point( tr_facets *facets, vec3 point, vec3 normal, int tag )
{
    facets->points[facets->point_count] = point;
    facets->normals[facets->point_count] = normal;
    facets->tags[facets->point_count++] = tag;
}

static void add_triangle( tr_facets *facets, int a, int b, int c )
{
    int *corners = facets->triangles[facets->triangle_count++];
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
}

// Rings from the pole behind a to the pole beyond b: one point, RINGS around a, RINGS around b, one point.
bool tr_facets_add_capsule( tr_facets *facets, vec3 a, vec3 b, double radius, int tag )
{
    if ( !reserve( facets, 2 * RINGS * SEGMENTS + 2, 4 * RINGS * SEGMENTS ) )
        return false;
    vec3 way = v3_sub( b, a );
    double length = v3_length( way );
    vec3 z = length > 1e-9 ? v3_scale( 1 / length, way ) : v3( 0, 1, 0 );
    vec3 x = v3_perpendicular( z ), y = v3_cross( z, x );
    int base = facets->point_count;
    add_point( facets, v3_mad( a, -radius, z ), v3_scale( -1, z ), tag );
    for ( int ring = 1; ring <= 2 * RINGS; ++ring ) {
        bool far = ring > RINGS;
        double polar =
            0.5 * M_PI * ( far ? ring - 1 : ring ) / RINGS; // angle of the ring from the pole behind a
        for ( int s = 0; s < SEGMENTS; ++s ) {
            double turn = 2 * M_PI * s / SEGMENTS;
            vec3 side = v3_add( v3_scale( cos( turn ), x ), v3_scale( sin( turn ), y ) );
            vec3 normal = v3_unit( v3_mad( v3_scale( sin( polar ), side ), -cos( polar ), z ) );
            add_point( facets, v3_mad( far ? b : a, radius, normal ), normal, tag );
        }
    }
    int last = facets->point_count;
    add_point( facets, v3_mad( b, radius, z ), z, tag );
    for ( int s = 0; s < SEGMENTS; ++s ) {
        int next = ( s + 1 ) % SEGMENTS;
        add_triangle( facets, base, base + 1 + next, base + 1 + s );
        for ( int ring = 0; ring < 2 * RINGS - 1; ++ring ) {
            int low = base + 1 + ring * SEGMENTS, high = low + SEGMENTS;
            add_triangle( facets, low + s, low + next, high + next );
            add_triangle( facets, low + s, high + next, high + s );
        }
        add_triangle( facets, last, last - SEGMENTS + s, last - SEGMENTS + next );
    }
    return true;
}

static bool add_box( tr_facets *facets, vec3 size, int tag )
{
    if ( !reserve( facets, 24, 12 ) )
        return false;
    vec3 half = v3_scale( 0.5, size );
    for ( int face = 0; face < 6; ++face ) {
        int base = facets->point_count, axis = face / 2, sign = face % 2 == 0 ? 1 : -1;
        double normal[3] = { 0 };
        normal[axis] = sign;
        for ( int corner = 0; corner < 4; ++corner ) { // counterclockwise
            double at[3], u = corner == 0 || corner == 3 ? -1 : 1, v = corner < 2 ? -1 : 1;
            at[axis] = sign;
            at[( axis + 1 ) % 3] = sign * u;
            at[( axis + 2 ) % 3] = v;
            add_point( facets, v3( at[0] * half.x, at[1] * half.y, at[2] * half.z ),
                       v3( normal[0], normal[1], normal[2] ), tag );
        }
        add_triangle( facets, base, base + 1, base + 2 );
        add_triangle( facets, base, base + 2, base + 3 );
    }
    return true;
}

// A surface that is not closed gets one side; programs draw both where the file asks for it.
static bool add_mesh( tr_facets *facets, const tr_shape *shape, int tag )
{
    const tr_trimesh *mesh = shape->mesh;
    if ( !reserve( facets, 3 * mesh->triangle_count, mesh->triangle_count ) )
        return false;
    for ( int t = 0; t < mesh->triangle_count; ++t ) {
        int base = facets->point_count;
        if ( !( v3_length( mesh->normals[t] ) > 0.5 ) )
            continue;
        for ( int k = 0; k < 3; ++k )
            add_point( facets, tr_shape_point( shape, mesh->points[mesh->triangles[t][k]] ), mesh->normals[t],
                       tag );
        add_triangle( facets, base, base + 1, base + 2 );
    }
    return true;
}

bool tr_facets_add_shape( tr_facets *facets, const tr_shape *shape, int tag )
{
    tr_facets before = *facets;
    bool ok = true;
    switch ( shape->kind ) {
    case TR_SHAPE_BOX: return add_box( facets, shape->size, tag );
    case TR_SHAPE_SPHERE: return tr_facets_add_capsule( facets, v3_zero, v3_zero, shape->radius, tag );
    case TR_SHAPE_MESH: return add_mesh( facets, shape, tag );
    default: break;
    }
    for ( int i = 1; ok && i < shape->point_count; ++i )
        ok = tr_facets_add_capsule( facets, tr_shape_point( shape, shape->points[i - 1] ),
                                    tr_shape_point( shape, shape->points[i] ), shape->radius, tag );
    if ( !ok ) {
        facets->point_count = before.point_count;
        facets->triangle_count = before.triangle_count;
    }
    return ok;
}

void tr_facets_free( tr_facets *facets )
{
    tr_free( facets->points );
    tr_free( facets->normals );
    tr_free( facets->tags );
    tr_free( facets->triangles );
    *facets = ( tr_facets ){ 0 };
}
