// The graph of a skeleton: triangles, and the matrices of the two steps.
#include "posegraph/private.h"

#include <assert.h>
#include <complex.h>
#include <string.h>

#define TINY     1e-6 // metres: shorter bones have no direction
#define ROUNDING 1e-9 // error of sums of three unit vectors

tr_posegraph_def tr_default_posegraph_def( void )
{
    return ( tr_posegraph_def ){ .edge = 1.0,
                                 .length = 4.0,
                                 .anchor = 0.02,
                                 .min_radius = 0.01,
                                 .least_radius = 1e-3,
                                 .box_stiffness = 10,
                                 .box_min = 1e-2 };
}

// -------------------------------------------------------------------------------------------------- facing

typedef struct builder {
    tr_posegraph *graph;
    const tr_skeleton *skeleton;
    tr_pose rest;
    vec3 *normals; // [joint_count] world
    double *radii; // [joint_count]
    int *sizes;    // [joint_count] joints of the subtree
} builder;

// The end of the first real bone of the largest subtree below each joint; the longer bone where two are as
// large.
static void find_facing( builder *b )
{
    tr_posegraph *g = b->graph;
    const vec3 *at = b->rest.positions;
    for ( int j = 0; j < g->joint_count; ++j ) {
        g->facing[j] = -1;
        b->sizes[j] = 1;
    }
    for ( int j = g->joint_count - 1; j > 0; --j ) { // children of j are done
        int p = g->parents[j], best = g->facing[p];
        b->sizes[p] += b->sizes[j];
        int end = v3_distance( at[j], at[p] ) > TINY ? j : g->facing[j];
        if ( end < 0 )
            continue;
        int branch = best;
        while ( branch > 0 && g->parents[branch] != p )
            branch = g->parents[branch];
        bool larger = best < 0 || b->sizes[j] > b->sizes[branch];
        bool longer = best >= 0 && b->sizes[j] == b->sizes[branch] &&
                      v3_distance( at[end], at[p] ) >= v3_distance( at[best], at[p] );
        if ( larger || longer )
            g->facing[p] = end;
    }
}

// Along the bone the joint faces; at the tip of a chain along the bone above; failing that as its parent.
static void find_normals( builder *b )
{
    tr_posegraph *g = b->graph;
    for ( int j = 0; j < g->joint_count; ++j ) {
        int p = g->parents[j];
        vec3 above = p < 0 ? v3_zero : v3_sub( b->rest.positions[j], b->rest.positions[p] );
        vec3 below =
            g->facing[j] < 0 ? v3_zero : v3_sub( b->rest.positions[g->facing[j]], b->rest.positions[j] );
        vec3 bone = g->facing[j] >= 0 ? below : v3_length( above ) > TINY ? above : v3_zero;
        b->normals[j] = v3_unit_or( bone, p < 0 ? v3_y : b->normals[p] );
        g->bones[j] = q_unrotate( b->rest.rotations[j], bone );
    }
}

// --------------------------------------------------------------------------------------------------- radii

static double rest_extent( const tr_skeleton *skeleton, tr_pose rest )
{
    double extent = 0;
    for ( int j = 1; j < skeleton->joint_count; ++j )
        extent = fmax( extent, v3_distance( rest.positions[0], rest.positions[j] ) );
    return extent;
}

// A joint has the radius of the capsule of the bone it faces, or else of the bone above it, or else of its
// parent.
static void find_radii( builder *b, const tr_body *body )
{
    const tr_posegraph *g = b->graph;
    double least = fmax( g->def.least_radius, g->def.min_radius * rest_extent( b->skeleton, b->rest ) );
    for ( int i = 0; body != NULL && i < body->capsule_count; ++i ) {
        const tr_capsule *c = &body->capsules[i];
        if ( b->radii[c->joint] == 0 )
            b->radii[c->joint] = c->radius;
        if ( g->facing[c->parent] == c->joint )
            b->radii[c->parent] = c->radius;
    }
    for ( int j = 0; j < g->joint_count; ++j ) {
        if ( b->radii[j] == 0 && j > 0 )
            b->radii[j] = b->radii[g->parents[j]];
        b->radii[j] = fmax( b->radii[j], least );
    }
}

// ------------------------------------------------------------------------------------------------- corners

// Corners at angle φ + s 2πk/3 in the plane (a, b), s = ±1. With z_k the parent's corners projected into that
// plane, as complex numbers, Σ of dot products of corresponding corners = Re( e^{−iφ} Σ z_k e^{−i s 2πk/3} ):
// largest for φ = arg of the sum, and the better s is the one with the larger sum. That is the numbering with
// the least twist.
static void place_corners( builder *b, int j, vec3 *world ) // world: [3 · joint_count], relative to the joint
{
    const tr_posegraph *g = b->graph;
    vec3 n = b->normals[j], x = v3_perpendicular( n ), y = v3_cross( n, x );
    double complex best = 1;
    int winding = 1;
    for ( int s = -1; g->parents[j] >= 0 && s <= 1; s += 2 ) {
        double complex sum = 0;
        for ( int k = 0; k < 3; ++k ) {
            vec3 c = v3_unit( world[3 * g->parents[j] + k] );
            sum += ( v3_dot( c, x ) + I * v3_dot( c, y ) ) * cexp( -I * s * 2 * TR_PI * k / 3 );
        }
        if ( s < 0 || cabs( sum ) > cabs( best ) + ROUNDING ) {
            best = sum;
            winding = s;
        }
    }
    double phase = cabs( best ) > ROUNDING ? carg( best ) : 0;
    for ( int k = 0; k < 3; ++k ) {
        double angle = phase + winding * 2 * TR_PI * k / 3;
        world[3 * j + k] =
            v3_scale( b->radii[j], v3_add( v3_scale( cos( angle ), x ), v3_scale( sin( angle ), y ) ) );
    }
}

static void find_corners( builder *b )
{
    tr_posegraph *g = b->graph;
    for ( int j = 0; j < g->joint_count; ++j )
        place_corners( b, j, g->corners );
    for ( int v = 0; v < 3 * g->joint_count; ++v )
        g->corners[v] = q_unrotate( b->rest.rotations[v / 3], g->corners[v] );
}

// ------------------------------------------------------------------------------------------------- matrices

static void add_scalar( double *block, double diagonal, double all )
{
    for ( int i = 0; i < 9; ++i )
        block[i] += all + ( i % 4 == 0 ? diagonal : 0 );
}

// Half the second derivative of the energy. Each edge counts once per cell it belongs to: twice, in the
// triangle with the joint's own rotation, on a rail with those of its two ends. With centroids c = Σ v/3 a
// length term couples all corners of the two joints by w_l/9.
static bool build_tree( tr_tree *out, const tr_posegraph *g, double edge, double length, tr_error *error )
{
    size_t n = (size_t)g->joint_count;
    double *diagonal = tr_alloc( 9 * n, sizeof( double ) ), *coupling = tr_alloc( 9 * n, sizeof( double ) );
    bool ok = ( diagonal != NULL && coupling != NULL ) || tr_error_memory( error );
    for ( int j = 0; ok && j < g->joint_count; ++j ) {
        add_scalar( diagonal + 9 * j, 3 * edge, -edge ); // triangle
        add_scalar( diagonal + 9 * j, g->def.anchor, 0 );
        if ( j > 0 ) {
            add_scalar( diagonal + 9 * j, edge, length / 9 );
            add_scalar( diagonal + 9 * g->parents[j], edge, length / 9 );
            add_scalar( coupling + 9 * j, -edge, -length / 9 );
        }
    }
    ok = ok && tr_tree_build( out, g->joint_count, g->parents, diagonal, coupling, error );
    tr_free( diagonal );
    tr_free( coupling );
    return ok;
}

// --------------------------------------------------------------------------------------------------- build

static bool alloc_graph( tr_posegraph *g, int joint_count )
{
    size_t n = (size_t)joint_count;
    g->joint_count = joint_count;
    g->parents = tr_alloc( n, sizeof( int ) );
    g->facing = tr_alloc( n, sizeof( int ) );
    g->corners = tr_alloc( 3 * n, sizeof( vec3 ) );
    g->bones = tr_alloc( n, sizeof( vec3 ) );
    g->lengths = tr_alloc( n, sizeof( double ) );
    return g->parents != NULL && g->facing != NULL && g->corners != NULL && g->bones != NULL &&
           g->lengths != NULL;
}

static bool alloc_builder( builder *b, int joint_count )
{
    size_t n = (size_t)joint_count;
    b->rest = ( tr_pose ){ tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    b->normals = tr_alloc( n, sizeof( vec3 ) );
    b->radii = tr_alloc( n, sizeof( double ) );
    b->sizes = tr_alloc( n, sizeof( int ) );
    return b->rest.rotations != NULL && b->rest.positions != NULL && b->normals != NULL && b->radii != NULL &&
           b->sizes != NULL;
}

static void free_builder( builder *b )
{
    tr_free( b->rest.rotations );
    tr_free( b->rest.positions );
    tr_free( b->normals );
    tr_free( b->radii );
    tr_free( b->sizes );
}

bool tr_posegraph_build( tr_posegraph *out, const tr_skeleton *skeleton, const tr_body *body,
                         const tr_posegraph_def *def, tr_error *error )
{
    assert( skeleton->joint_count > 0 && def->edge > 0 && def->length >= 0 && def->anchor > 0 );
    *out = ( tr_posegraph ){ .def = *def };
    builder b = { .graph = out, .skeleton = skeleton };
    bool ok = ( alloc_graph( out, skeleton->joint_count ) && alloc_builder( &b, skeleton->joint_count ) ) ||
              tr_error_memory( error );
    for ( int j = 0; ok && j < out->joint_count; ++j ) {
        out->parents[j] = skeleton->joints[j].parent;
        out->lengths[j] = j == 0 ? 0 : tr_bone_length( skeleton, j );
    }
    if ( ok ) {
        tr_forward_rest( skeleton, b.rest );
        find_facing( &b );
        find_normals( &b );
        find_radii( &b, body );
        find_corners( &b );
    }
    free_builder( &b );
    ok = ok && build_tree( &out->transfer, out, def->edge, 0, error ) &&
         build_tree( &out->deform, out, 2 * def->edge, def->length, error );
    if ( !ok )
        tr_posegraph_free( out );
    return ok;
}

void tr_posegraph_free( tr_posegraph *graph )
{
    tr_free( graph->parents );
    tr_free( graph->facing );
    tr_free( graph->corners );
    tr_free( graph->bones );
    tr_free( graph->lengths );
    tr_tree_free( &graph->transfer );
    tr_tree_free( &graph->deform );
    memset( graph, 0, sizeof *graph );
}

void tr_posegraph_pose( const tr_posegraph *graph, tr_pose pose, vec3 *vertices )
{
    if ( tr_processor_has_avx2() ) {
        tr_kernel_pose_avx2( graph, pose, vertices );
        return;
    }
    for ( int j = 0; j < graph->joint_count; ++j ) {
        mat3 turn = m3_from_quat( pose.rotations[j] );
        for ( int v = 3 * j; v < 3 * j + 3; ++v )
            vertices[v] = v3_add( pose.positions[j], m3_mulv( turn, graph->corners[v] ) );
    }
}

vec3 tr_posegraph_joint( const vec3 *vertices, int joint )
{
    const vec3 *v = vertices + 3 * joint;
    return v3_scale( 1.0 / 3, v3_add( v3_add( v[0], v[1] ), v[2] ) );
}

// The turn that brings points from … about their centre nearest to points to … about theirs.
static quat fit_turn( const vec3 *from, vec3 from_centre, const vec3 *to, vec3 to_centre, int count )
{
    mat3 spread = { 0 }; // Σ (to − centre)(from − centre)ᵀ
    for ( int v = 0; v < count; ++v ) {
        vec3 now = v3_sub( to[v], to_centre ), was = v3_sub( from[v], from_centre );
        spread.cx = v3_mad( spread.cx, was.x, now );
        spread.cy = v3_mad( spread.cy, was.y, now );
        spread.cz = v3_mad( spread.cz, was.z, now );
    }
    return q_fit( spread );
}

quat tr_posegraph_turn( const vec3 *reference, const vec3 *vertices, int joint )
{
    return fit_turn( reference + 3 * joint, tr_posegraph_joint( reference, joint ), vertices + 3 * joint,
                     tr_posegraph_joint( vertices, joint ), 3 );
}

// ----------------------------------------------------------------------------------------------------- box

bool tr_posegraph_build_box( tr_posegraph *out, vec3 size, const tr_posegraph_def *def, tr_error *error )
{
    tr_posegraph_def stiff = *def;
    stiff.edge *= def->box_stiffness;
    stiff.anchor *= def->box_stiffness;
    stiff.length = 0;
    double height = fmax( size.y, def->box_min ),
           radius = 0.5 * fmax( hypot( size.x, size.z ), def->box_min );
    tr_capsule capsule = { .joint = 1, .parent = 0, .radius = radius };
    tr_body body = { .capsules = &capsule, .capsule_count = 1 };
    tr_skeleton skeleton = { 0 };
    bool ok = ( tr_skeleton_add( &skeleton, "bottom", -1, v3( 0, -0.5 * height, 0 ) ) == 0 &&
                tr_skeleton_add( &skeleton, "top", 0, v3( 0, height, 0 ) ) == 1 ) ||
              tr_error_memory( error );
    ok = ok && tr_posegraph_build( out, &skeleton, &body, &stiff, error );
    tr_skeleton_free( &skeleton );
    return ok;
}

void tr_posegraph_pose_box( const tr_posegraph *graph, rigid place, vec3 *vertices )
{
    assert( graph->joint_count == 2 );
    vec3 positions[2] = { rigid_apply( place, v3_scale( -0.5, graph->bones[0] ) ),
                          rigid_apply( place, v3_scale( 0.5, graph->bones[0] ) ) };
    quat rotations[2] = { place.rotation, place.rotation };
    tr_posegraph_pose( graph, ( tr_pose ){ rotations, positions }, vertices );
}

rigid tr_posegraph_box( const vec3 *reference, const vec3 *vertices, rigid place )
{
    vec3 from = v3_lerp( tr_posegraph_joint( reference, 0 ), tr_posegraph_joint( reference, 1 ), 0.5 );
    vec3 to = v3_lerp( tr_posegraph_joint( vertices, 0 ), tr_posegraph_joint( vertices, 1 ), 0.5 );
    quat turn = fit_turn( reference, from, vertices, to, 6 );
    vec3 arm = v3_sub( place.position, from );
    return ( rigid ){ q_unit( q_mul( turn, place.rotation ) ), v3_add( to, q_rotate( turn, arm ) ) };
}
