// The points of the mesh, and the links that join them rigidly.
//
// Not every joint is worth a vertex: the matrix grows with the square of their number. Joints that lie on top
// of the one above (rigs split bones at will) share its vertex, toes that of their foot, and of the fingers
// of a hand only the farthest tip counts.
#include "imesh/private.h"

#include <string.h>

#define NO_LENGTH 1e-9 // metres: bones without length count as this long in a division

typedef struct growing {
    tr_imesh *mesh;
    int vertex_capacity, link_capacity, capsule_capacity;
} growing;

// ------------------------------------------------------------------------------------------------- selection

static int source_joint( const tr_imesh_embodiment *e, int joint )
{
    return e->body->map != NULL ? e->body->map[joint] : joint;
}

static bool rest_build( tr_imesh_rest *out, const tr_skeleton *skeleton )
{
    size_t n = (size_t)skeleton->joint_count;
    out->pose = ( tr_pose ){ tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    if ( out->pose.rotations == NULL || out->pose.positions == NULL )
        return false;
    tr_forward_rest( skeleton, out->pose );
    out->height = tr_skeleton_height( skeleton );
    for ( int j = 1; j < skeleton->joint_count; ++j ) // a body that lies: its length
        out->height = fmax( out->height, v3_distance( out->pose.positions[j], out->pose.positions[0] ) );
    return true;
}

static void rest_free( tr_imesh_rest *r )
{
    tr_free( r->pose.rotations );
    tr_free( r->pose.positions );
}

static int hand_above( const tr_skeleton *s, int joint )
{
    while ( joint >= 0 && s->joints[joint].role == TR_ROLE_FINGER )
        joint = s->joints[joint].parent;
    return joint >= 0 && s->joints[joint].role == TR_ROLE_HAND ? joint : -1;
}

static void find_tips( tr_imesh_embodiment *e )
{
    const tr_skeleton *s = e->body->target;
    const vec3 *at = e->target.pose.positions;
    for ( int j = 0; j < s->joint_count; ++j )
        e->tip[j] = -1;
    for ( int j = 0; j < s->joint_count; ++j ) {
        int hand = s->joints[j].role == TR_ROLE_FINGER ? hand_above( s, j ) : -1;
        if ( hand >= 0 && source_joint( e, j ) >= 0 &&
             ( e->tip[hand] < 0 ||
               v3_distance( at[j], at[hand] ) > v3_distance( at[e->tip[hand]], at[hand] ) ) )
            e->tip[hand] = j;
    }
}

static bool below_foot( const tr_skeleton *s, int joint )
{
    while ( joint >= 0 && s->joints[joint].role == TR_ROLE_TOE )
        joint = s->joints[joint].parent;
    return joint >= 0 && s->joints[joint].role == TR_ROLE_FOOT;
}

static int kept_above( const tr_imesh_embodiment *e, int joint )
{
    for ( int j = e->body->target->joints[joint].parent; j >= 0; j = e->body->target->joints[j].parent )
        if ( e->keep[j] )
            return j;
    return -1;
}

static double rest_length( const tr_imesh_rest *r, int a, int b )
{
    return v3_distance( r->pose.positions[a], r->pose.positions[b] );
}

static bool worth_keeping( const tr_imesh_embodiment *e, int joint )
{
    const double short_bone = e->def->short_bone;
    const tr_skeleton *s = e->body->target;
    int above = kept_above( e, joint ), from = source_joint( e, joint );
    if ( from < 0 )
        return false;
    if ( above < 0 )
        return true;
    if ( s->joints[joint].role == TR_ROLE_TOE && below_foot( s, joint ) )
        return false;
    if ( s->joints[joint].role == TR_ROLE_FINGER ) {
        int hand = hand_above( s, joint );
        if ( hand >= 0 && e->tip[hand] != joint )
            return false;
    }
    // Longer than nothing, also on a body whose joints are all at one place: links have the ratio of the two.
    return rest_length( &e->target, joint, above ) > short_bone * e->target.height &&
           rest_length( &e->source, from, source_joint( e, above ) ) > short_bone * e->source.height;
}

static bool embodiment_build( tr_imesh_embodiment *e )
{
    size_t n = (size_t)e->body->target->joint_count;
    e->keep = tr_alloc( n, sizeof( bool ) );
    e->tip = tr_alloc( n, sizeof( int ) );
    if ( e->keep == NULL || e->tip == NULL || !rest_build( &e->source, e->body->source ) ||
         !rest_build( &e->target, e->body->target ) )
        return false;
    find_tips( e );
    for ( int j = 0; j < e->body->target->joint_count; ++j )
        e->keep[j] = worth_keeping( e, j );
    return true;
}

static void embodiment_free( tr_imesh_embodiment *e )
{
    tr_free( e->keep );
    tr_free( e->tip );
    rest_free( &e->source );
    rest_free( &e->target );
}

// -------------------------------------------------------------------------------------------------- growing

static int add_vertex( growing *g, tr_imesh_vertex vertex )
{
    tr_imesh *mesh = g->mesh;
    if ( !tr_array_reserve( (void **)&mesh->vertices, &g->vertex_capacity, mesh->vertex_count + 1,
                            sizeof *mesh->vertices ) )
        return -1;
    mesh->vertices[mesh->vertex_count] = vertex;
    return mesh->vertex_count++;
}

static bool add_link( growing *g, tr_imesh_link link )
{
    tr_imesh *mesh = g->mesh;
    if ( !tr_array_reserve( (void **)&mesh->links, &g->link_capacity, mesh->link_count + 1,
                            sizeof *mesh->links ) )
        return false;
    mesh->links[mesh->link_count++] = link;
    return true;
}

bool tr_imesh_bends_between( const tr_imesh_embodiment *e, int joint, int above )
{
    const tr_skeleton *s = e->body->target;
    for ( int j = s->joints[joint].parent; j != above; j = s->joints[j].parent )
        if ( tr_bone_length( s, j ) >= e->def->short_bone * e->target.height )
            return true;
    return false;
}

// Joints at the end of bones of one joint are rigid: a pelvis with spine and thighs, a chest with neck and
// shoulders.
static bool is_sibling( const tr_imesh *mesh, const tr_imesh_embodiment *e, int v, int above, int other )
{
    const tr_imesh_vertex *vertex = &mesh->vertices[v];
    return vertex->kind == TR_IMESH_JOINT && vertex->owner == e->index && vertex->ends[0] == above &&
           v != other && !tr_imesh_bends_between( e, vertex->part, mesh->vertices[above].part );
}

static bool link_siblings( growing *g, const tr_imesh_embodiment *e, int v )
{
    const tr_imesh *mesh = g->mesh;
    int above = mesh->vertices[v].ends[0];
    for ( int s = 0; s < v; ++s )
        if ( is_sibling( mesh, e, s, above, v ) ) {
            double target = rest_length( &e->target, mesh->vertices[v].part, mesh->vertices[s].part );
            if ( target > 0 && !add_link( g, ( tr_imesh_link ){ v, s, false, target, 1 } ) )
                return false;
        }
    return true;
}

static bool add_joints( growing *g, tr_imesh_embodiment *e )
{
    for ( int j = 0; j < e->body->target->joint_count; ++j ) {
        int above = kept_above( e, j );
        e->vertex[j] = above >= 0 ? e->vertex[above] : -1;
        if ( !e->keep[j] )
            continue;
        int up = e->vertex[j];
        e->vertex[j] = add_vertex( g, ( tr_imesh_vertex ){ TR_IMESH_JOINT, e->index, j, { up, -1 }, 0 } );
        if ( e->vertex[j] < 0 )
            return false;
        if ( up < 0 )
            continue;
        double target = rest_length( &e->target, j, above );
        double source = rest_length( &e->source, source_joint( e, j ), source_joint( e, above ) );
        if ( !add_link( g, ( tr_imesh_link ){ e->vertex[j], up, true,
                                              tr_imesh_bends_between( e, j, above ) ? 0 : target,
                                              target / source } ) )
            return false;
        if ( !tr_imesh_bends_between( e, j, above ) && !link_siblings( g, e, e->vertex[j] ) )
            return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------------- capsules

static double source_radius( const tr_imesh_embodiment *e, const tr_capsule *c )
{
    const tr_body *body = e->body->source_body;
    int joint = source_joint( e, c->joint ), parent = source_joint( e, c->parent );
    for ( int strict = 1; strict >= 0; --strict )
        for ( int i = 0; i < body->capsule_count; ++i )
            if ( body->capsules[i].joint == joint && ( !strict || body->capsules[i].parent == parent ) )
                return body->capsules[i].radius;
    return e->target.height > 0 ? c->radius * e->source.height / e->target.height : c->radius;
}

static int child_vertex( const tr_imesh *mesh, int vertex )
{
    for ( int v = vertex + 1; v < mesh->vertex_count; ++v )
        if ( mesh->vertices[v].kind == TR_IMESH_JOINT && mesh->vertices[v].ends[0] == vertex )
            return v;
    return -1;
}

// A ball lies on the line to the joint below, or beyond its own joint on the line from above.
static void place_ball( const tr_imesh *mesh, const tr_imesh_embodiment *e, const tr_capsule *c,
                        tr_imesh_capsule *out )
{
    int self = e->vertex[c->joint], below = self >= 0 ? child_vertex( mesh, self ) : -1;
    int above = self >= 0 ? mesh->vertices[self].ends[0] : -1;
    out->a = out->b = self;
    out->from = 0;
    if ( below >= 0 ) {
        out->b = below;
        out->from = v3_length( c->a ) /
                    fmax( rest_length( &e->target, c->joint, mesh->vertices[below].part ), NO_LENGTH );
    } else if ( above >= 0 ) {
        out->a = above;
        out->from =
            1 + v3_length( c->a ) /
                    fmax( rest_length( &e->target, c->joint, mesh->vertices[above].part ), NO_LENGTH );
    }
    out->to = out->from;
}

// False when the bone has no two vertices of its own.
static bool place_bone( const tr_imesh_embodiment *e, const tr_capsule *c, tr_imesh_capsule *out )
{
    int hand = hand_above( e->body->target, c->joint );
    bool stands_in = !e->keep[c->joint] && hand == c->parent && hand >= 0 && e->tip[hand] >= 0;
    int joint = stands_in ? e->tip[hand] : c->joint;
    out->a = e->vertex[c->parent];
    out->b = e->vertex[joint];
    if ( out->a < 0 || out->a == out->b || !e->keep[joint] )
        return false;
    double length = fmax( tr_bone_length( e->body->target, c->joint ), NO_LENGTH );
    out->from = stands_in ? 0 : v3_length( c->a ) / length;
    out->to = stands_in ? 1 : v3_length( c->b ) / length;
    return true;
}

// Which way a bone's surface vertex lies at rest: to the front, or up where the bone runs to the front.
static vec3 surface_direction( tr_pose pose, int from, int to )
{
    vec3 bone = v3_unit( v3_sub( pose.positions[to], pose.positions[from] ) );
    vec3 front = v3_mad( v3_z, -v3_dot( bone, v3_z ), bone );
    if ( v3_length( front ) < 0.5 )
        front = v3_mad( v3_y, -v3_dot( bone, v3_y ), bone );
    return q_unrotate( pose.rotations[from], v3_unit_or( front, v3_perpendicular( bone ) ) );
}

static vec3 surface_place( vec3 a, vec3 b, vec3 direction, double radius )
{
    vec3 bone = v3_unit( v3_sub( b, a ) );
    vec3 out = v3_unit_or( v3_mad( direction, -v3_dot( bone, direction ), bone ), v3_perpendicular( bone ) );
    return v3_mad( v3_lerp( a, b, 0.5 ), radius, out );
}

vec3 tr_imesh_rest_place( const tr_imesh *mesh, const tr_imesh_embodiment *e, int v, bool on_target )
{
    const tr_imesh_vertex *vertex = &mesh->vertices[v];
    tr_pose pose = on_target ? e->target.pose : e->source.pose;
    if ( vertex->kind == TR_IMESH_JOINT )
        return pose.positions[on_target ? vertex->part : source_joint( e, vertex->part )];
    int a = mesh->vertices[vertex->ends[0]].part, b = mesh->vertices[vertex->ends[1]].part;
    const tr_capsule *capsule = &e->body->target_body->capsules[vertex->part];
    a = on_target ? a : source_joint( e, a );
    b = on_target ? b : source_joint( e, b );
    return surface_place( pose.positions[a], pose.positions[b],
                          q_rotate( pose.rotations[a], surface_direction( pose, a, b ) ),
                          on_target ? capsule->radius : source_radius( e, capsule ) );
}

static bool has_surface( const tr_imesh *mesh, const tr_imesh_embodiment *e, const tr_imesh_capsule *c )
{
    const tr_imesh_vertex *a = &mesh->vertices[c->a], *b = &mesh->vertices[c->b];
    return c->from != c->to && b->ends[0] == c->a &&
           rest_length( &e->target, a->part, b->part ) >= mesh->def.surface_bone * e->target.height;
}

static bool add_surface( growing *g, const tr_imesh_embodiment *e, const tr_imesh_capsule *c )
{
    const tr_imesh *mesh = g->mesh;
    int a = mesh->vertices[c->a].part, b = mesh->vertices[c->b].part;
    double half = 0.5 * rest_length( &e->target, a, b );
    double length = sqrt( half * half + c->radius[1] * c->radius[1] );
    int v = add_vertex( g, ( tr_imesh_vertex ){ TR_IMESH_SURFACE, e->index, c->index, { c->a, c->b }, 0 } );
    if ( v < 0 || !add_link( g, ( tr_imesh_link ){ v, c->a, false, length, 1 } ) ||
         !add_link( g, ( tr_imesh_link ){ v, c->b, false, length, 1 } ) )
        return false;
    vec3 place = tr_imesh_rest_place( mesh, e, v, true );
    for ( int s = 0; s < v; ++s )
        if ( is_sibling( mesh, e, s, c->a, c->b ) &&
             !add_link( g, ( tr_imesh_link ){
                               v, s, false,
                               v3_distance( place, e->target.pose.positions[mesh->vertices[s].part] ), 1 } ) )
            return false;
    return true;
}

static bool add_capsules( growing *g, const tr_imesh_embodiment *e )
{
    tr_imesh *mesh = g->mesh;
    const tr_body *body = e->body->target_body;
    for ( int i = 0; i < body->capsule_count; ++i ) {
        const tr_capsule *c = &body->capsules[i];
        tr_imesh_capsule out = {
            .radius = { source_radius( e, c ), c->radius }, .body = e->index, .index = i };
        if ( c->joint == c->parent )
            place_ball( mesh, e, c, &out );
        else if ( !place_bone( e, c, &out ) )
            continue;
        if ( out.a < 0 )
            continue;
        if ( !tr_array_reserve( (void **)&mesh->capsules, &g->capsule_capacity, mesh->capsule_count + 1,
                                sizeof *mesh->capsules ) )
            return false;
        mesh->capsules[mesh->capsule_count++] = out;
        if ( has_surface( mesh, e, &out ) && !add_surface( g, e, &out ) )
            return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------------ positions

static void place_surface( tr_imesh *mesh, const tr_imesh_embodiment *e, int v )
{
    const tr_imesh_vertex *vertex = &mesh->vertices[v];
    int a = mesh->vertices[vertex->ends[0]].part, b = mesh->vertices[vertex->ends[1]].part;
    int sa = source_joint( e, a ), sb = source_joint( e, b );
    const tr_capsule *capsule = &e->body->target_body->capsules[vertex->part];
    double radius = source_radius( e, capsule );
    vec3 source = surface_direction( e->source.pose, sa, sb ),
         target = surface_direction( e->target.pose, a, b );
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        size_t row = (size_t)f * (size_t)mesh->vertex_count;
        tr_pose pose = tr_world_pose( e->body->source_world, mesh->cast.first + f );
        vec3 *from = mesh->source + row, *to = mesh->target + row;
        from[v] = surface_place( from[vertex->ends[0]], from[vertex->ends[1]],
                                 q_rotate( pose.rotations[sa], source ), radius );
        to[v] = from[v];
        if ( e->body->place != NULL ) {
            pose = tr_world_pose( e->body->place, mesh->cast.first + f );
            to[v] = surface_place( to[vertex->ends[0]], to[vertex->ends[1]],
                                   q_rotate( pose.rotations[a], target ), capsule->radius );
        }
    }
}

static void place_joint( tr_imesh *mesh, const tr_imesh_embodiment *e, int v )
{
    int joint = mesh->vertices[v].part, from = source_joint( e, joint );
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        size_t at = (size_t)f * (size_t)mesh->vertex_count + (size_t)v;
        mesh->source[at] = tr_world_pose( e->body->source_world, mesh->cast.first + f ).positions[from];
        mesh->target[at] = e->body->place == NULL
                               ? mesh->source[at]
                               : tr_world_pose( e->body->place, mesh->cast.first + f ).positions[joint];
    }
}

vec3 tr_imesh_corner( int corner, vec3 size )
{
    return v3_scale( 0.5, v3( corner & 1 ? size.x : -size.x, corner & 2 ? size.y : -size.y,
                              corner & 4 ? size.z : -size.z ) );
}

rigid tr_imesh_track( const rigid *track, int count, int frame )
{
    return track[frame < count ? frame : count - 1];
}

static void place_corner( tr_imesh *mesh, int v )
{
    const tr_imesh_vertex *vertex = &mesh->vertices[v];
    const tr_imesh_box *box = &mesh->cast.boxes[vertex->owner];
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        size_t at = (size_t)f * (size_t)mesh->vertex_count + (size_t)v;
        int frame = mesh->cast.first + f;
        mesh->source[at] = rigid_apply( tr_imesh_track( box->source, box->track_count, frame ),
                                        tr_imesh_corner( vertex->part, box->source_size ) );
        mesh->target[at] = rigid_apply( tr_imesh_track( box->target, box->track_count, frame ),
                                        tr_imesh_corner( vertex->part, box->target_size ) );
    }
}

// --------------------------------------------------------------------------------------------------- public

static bool add_bodies( growing *g, tr_imesh_embodiment *bodies )
{
    tr_imesh *mesh = g->mesh;
    for ( int b = 0; b < mesh->cast.body_count; ++b ) {
        tr_imesh_embodiment *e = &bodies[b];
        e->def = &mesh->def;
        e->body = &mesh->cast.bodies[b];
        e->index = b;
        mesh->joint_vertex[b] = tr_alloc( (size_t)e->body->target->joint_count, sizeof( int ) );
        e->vertex = mesh->joint_vertex[b];
        if ( e->vertex == NULL || !embodiment_build( e ) || !add_joints( g, e ) || !add_capsules( g, e ) ||
             !tr_imesh_groups_build( mesh, e ) )
            return false;
    }
    for ( int b = 0; b < mesh->cast.box_count; ++b )
        for ( int c = 0; c < TR_IMESH_CORNERS; ++c )
            if ( add_vertex( g, ( tr_imesh_vertex ){ TR_IMESH_CORNER, b, c, { -1, -1 }, 0 } ) < 0 )
                return false;
    for ( int v = 0; v < mesh->vertex_count; ++v ) {
        tr_imesh_vertex *vertex = &mesh->vertices[v];
        bool free = vertex->kind != TR_IMESH_CORNER || mesh->cast.boxes[vertex->owner].moves;
        vertex->unknown = free ? mesh->unknown_count++ : -1;
    }
    return true;
}

static bool place_all( tr_imesh *mesh, const tr_imesh_embodiment *bodies )
{
    size_t count = (size_t)mesh->frame_count * (size_t)mesh->vertex_count;
    mesh->source = tr_alloc( count, sizeof( vec3 ) );
    mesh->target = tr_alloc( count, sizeof( vec3 ) );
    mesh->positions = tr_alloc( count, sizeof( vec3 ) );
    if ( mesh->source == NULL || mesh->target == NULL || mesh->positions == NULL )
        return false;
    for ( int v = 0; v < mesh->vertex_count; ++v ) // a surface vertex comes after its bone's ends
        if ( mesh->vertices[v].kind == TR_IMESH_JOINT )
            place_joint( mesh, &bodies[mesh->vertices[v].owner], v );
        else if ( mesh->vertices[v].kind == TR_IMESH_SURFACE )
            place_surface( mesh, &bodies[mesh->vertices[v].owner], v );
        else
            place_corner( mesh, v );
    memcpy( mesh->positions, mesh->source, count * sizeof( vec3 ) );
    return tr_imesh_growth_build( mesh, bodies ) && tr_imesh_bends_build( mesh, bodies );
}

bool tr_imesh_vertices_build( tr_imesh *mesh, tr_error *error )
{
    size_t count = (size_t)mesh->cast.body_count;
    tr_imesh_embodiment *bodies = tr_alloc( count, sizeof *bodies );
    mesh->joint_vertex = tr_alloc( count, sizeof( int * ) );
    growing g = { .mesh = mesh };
    bool ok =
        bodies != NULL && mesh->joint_vertex != NULL && add_bodies( &g, bodies ) && place_all( mesh, bodies );
    for ( size_t b = 0; bodies != NULL && b < count; ++b )
        embodiment_free( &bodies[b] );
    tr_free( bodies );
    return ok || tr_error_memory( error );
}

void tr_imesh_vertices_free( tr_imesh *mesh )
{
    for ( int b = 0; mesh->joint_vertex != NULL && b < mesh->cast.body_count; ++b )
        tr_free( mesh->joint_vertex[b] );
    tr_free( mesh->joint_vertex );
    tr_free( mesh->vertices );
    tr_free( mesh->growth );
    tr_free( mesh->stretch );
    tr_free( mesh->links );
    tr_free( mesh->capsules );
    tr_free( mesh->groups );
    tr_free( mesh->bends );
    tr_free( mesh->source );
    tr_free( mesh->target );
    tr_free( mesh->positions );
}
