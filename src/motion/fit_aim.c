// Aims the bones of a skeleton along given places, joint by joint from the root.
#include "motion/fit.h"

// What the reference rotation counts for where several bones say how a joint is turned: enough to decide
// what they leave open, too little to be seen otherwise.
#define REFERENCE 1e-3

// Σ over a joint's bones of d oᵀ: the rotation R that brings the offsets o nearest to the wanted bones d
// maximises tr( Rᵀ Σ d oᵀ ).
static void add_moment( mat3 *m, vec3 d, vec3 o )
{
    m->cx = v3_mad( m->cx, o.x, d );
    m->cy = v3_mad( m->cy, o.y, d );
    m->cz = v3_mad( m->cz, o.z, d );
}

static void gather_moments( const tr_skeleton *skeleton, const vec3 *positions, mat3 *moments )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        moments[j] = ( mat3 ){ { 0 } };
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        int p = skeleton->joints[j].parent;
        add_moment( &moments[p], v3_sub( positions[j], positions[p] ), skeleton->joints[j].offset );
    }
}

static quat aim_all( mat3 m, quat reference )
{
    double size = sqrt( v3_dot( m.cx, m.cx ) + v3_dot( m.cy, m.cy ) + v3_dot( m.cz, m.cz ) );
    if ( !( size > 0 ) )
        return reference;
    mat3 r = m3_from_quat( reference );
    m.cx = v3_mad( m.cx, REFERENCE * size, r.cx );
    m.cy = v3_mad( m.cy, REFERENCE * size, r.cy );
    m.cz = v3_mad( m.cz, REFERENCE * size, r.cz );
    quat aimed = q_fit( m );
    return q_dot( aimed, reference ) < 0 ? q_negate( aimed ) : aimed;
}

// A single bone is brought into line by the shortest turn, which keeps the reference's twist.
static quat aim( const tr_fit *fit, const tr_fit_frame *frame, const mat3 *moments, int j, quat reference )
{
    int child = fit->limbs[j].only_child;
    if ( child == TR_FIT_NO_CHILD || frame->positions == NULL )
        return reference;
    if ( child == TR_FIT_SEVERAL )
        return aim_all( moments[j], reference );
    vec3 along = v3_sub( frame->positions[child], frame->positions[j] );
    return q_mul( q_between( q_rotate( reference, fit->skeleton->joints[child].offset ), along ), reference );
}

void tr_fit_aim( const tr_fit *fit, const tr_fit_frame *frame, mat3 *moments, quat *world, quat *local )
{
    const tr_skeleton *skeleton = fit->skeleton;
    if ( frame->positions != NULL )
        gather_moments( skeleton, frame->positions, moments );
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int p = skeleton->joints[j].parent;
        quat carried = p < 0 ? frame->start[j] : q_mul( world[p], frame->start[j] );
        if ( skeleton->joints[j].end_site ) { // has no rotation of its own to write
            world[j] = carried;
            local[j] = frame->start[j];
            continue;
        }
        quat reference = frame->rotations != NULL ? frame->rotations[j] : carried;
        world[j] = q_unit( aim( fit, frame, moments, j, reference ) );
        local[j] = p < 0 ? world[j] : q_unit( q_mul( q_conj( world[p] ), world[j] ) );
    }
}
