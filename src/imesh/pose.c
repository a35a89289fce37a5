// From vertices back to a body: places of all joints, and rotations that agree with bones and surfaces.
#include "imesh/private.h"

// What the turn of the joint above counts for where bones and surface leave a turn open.
#define REFERENCE 1e-3

static void add_moment( mat3 *m, vec3 now, vec3 then )
{
    m->cx = v3_mad( m->cx, then.x, now );
    m->cy = v3_mad( m->cy, then.y, now );
    m->cz = v3_mad( m->cz, then.z, now );
}

// The turn of a joint's vertex from `like` to the mesh: all that hangs on it rigidly is brought into line,
// the bones below and the points on their surfaces.
static quat turn_of( const tr_imesh *mesh, int frame, int vertex, tr_pose like, quat above )
{
    const vec3 *at = tr_imesh_frame( mesh, mesh->positions, frame ),
               *target = tr_imesh_frame( mesh, mesh->target, frame );
    int joint = mesh->vertices[vertex].part;
    mat3 m = { v3_zero, v3_zero, v3_zero };
    double size = 0;
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
    }
    if ( !( size > 0 ) )
        return above;
    mat3 reference = m3_from_quat( above );
    m.cx = v3_mad( m.cx, REFERENCE * size, reference.cx );
    m.cy = v3_mad( m.cy, REFERENCE * size, reference.cy );
    m.cz = v3_mad( m.cz, REFERENCE * size, reference.cz );
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
        out.rotations[j] = q_unit( q_mul( turn, like.rotations[j] ) );
        vec3 offset = v3_sub( like.positions[j], like.positions[carrier] );
        out.positions[j] = v3_add( at[v], carrier == j ? v3_zero : q_rotate( above, offset ) );
    }
}
