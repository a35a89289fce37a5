// From vertices back to a body: places of all joints, and rotations that agree with bones and surfaces.
#include "imesh/private.h"

static void add_moment( mat3 *m, vec3 now, vec3 then )
{
    m->cx = v3_mad( m->cx, then.x, now );
    m->cy = v3_mad( m->cy, then.y, now );
    m->cz = v3_mad( m->cz, then.z, now );
}

// The turn of a joint's vertex from `like` to the mesh: the best fit of the bones below and the points on
// their surfaces. The turn of the joint above, aligned with the longest bone, is a reference with a small
// weight. Several bones define the turn but for rare cases. A single bone does not define its twist, and its
// surface point may slide around it: the weight is larger. A hand's reference is not the arm above, which may
// be twisted by any amount, but the turn without the mesh: palms that lie on each other keep doing so.
static quat turn_of( const tr_imesh *mesh, int frame, int vertex, tr_pose like, quat above )
{
    const vec3 *at = tr_imesh_frame( mesh, mesh->positions, frame ),
               *target = tr_imesh_frame( mesh, mesh->target, frame );
    int joint = mesh->vertices[vertex].part;
    mat3 m = { v3_zero, v3_zero, v3_zero };
    double size = 0, longest = 0;
    int bones = 0;
    bool hand = mesh->cast.bodies[mesh->vertices[vertex].owner].target->joints[joint].role == TR_ROLE_HAND;
    quat base = hand ? q_identity : above, reference_turn = above;
    for ( int v = vertex + 1; v < mesh->vertex_count; ++v ) {
        const tr_imesh_vertex *other = &mesh->vertices[v];
        if ( other->kind == TR_IMESH_CORNER || other->owner != mesh->vertices[vertex].owner )
            break;
        if ( other->ends[0] != vertex )
            continue;
        vec3 then = other->kind == TR_IMESH_JOINT
                        ? v3_sub( like.positions[other->part], like.positions[joint] )
                        : v3_sub( target[v], target[vertex] );
        add_moment( &m, v3_sub( at[v], at[vertex] ), then );
        size += v3_dot( then, then );
        bones += other->kind == TR_IMESH_JOINT;
        if ( v3_dot( then, then ) > longest ) {
            longest = v3_dot( then, then );
            reference_turn = q_mul( q_between( q_rotate( base, then ), v3_sub( at[v], at[vertex] ) ), base );
        }
    }
    if ( !( size > 0 ) )
        return above;
    const tr_imesh_pose_def *def = &mesh->def.pose;
    double weight = ( bones > 1 ? def->several : hand ? def->hand : def->single ) * size;
    mat3 reference = m3_from_quat( q_unit( reference_turn ) );
    m.cx = v3_mad( m.cx, weight, reference.cx );
    m.cy = v3_mad( m.cy, weight, reference.cy );
    m.cz = v3_mad( m.cz, weight, reference.cz );
    return q_fit( m );
}

void tr_imesh_pose( const tr_imesh *mesh, int body, int frame, tr_pose like, tr_pose out )
{
    const tr_skeleton *skeleton = mesh->cast.bodies[body].target;
    const int *vertex_of = mesh->joint_vertex[body];
    const vec3 *at = tr_imesh_frame( mesh, mesh->positions, frame );
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int v = vertex_of[j], parent = skeleton->joints[j].parent;
        quat above =
            parent < 0 ? q_identity : q_mul( out.rotations[parent], q_conj( like.rotations[parent] ) );
        if ( v < 0 ) { // above all that is in the mesh: as before
            out.positions[j] = like.positions[j];
            out.rotations[j] = like.rotations[j];
            continue;
        }
        int carrier = mesh->vertices[v].part;
        quat turn = carrier == j ? turn_of( mesh, frame, v, like, above ) : above;
        if ( skeleton->joints[j].role == TR_ROLE_FOOT ) // soles keep their turn
            turn = q_identity;
        out.rotations[j] = q_unit( q_mul( turn, like.rotations[j] ) );
        vec3 offset = v3_sub( like.positions[j], like.positions[carrier] );
        out.positions[j] = v3_add( at[v], carrier == j ? v3_zero : q_rotate( above, offset ) );
    }
}
