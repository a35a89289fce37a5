// Forward kinematics of four frames at once. Every frame gets the products and sums of tr_forward, in the
// same order and none of them fused: the same bits. Part of kernel_avx2.c, which includes it.
#include "math/lanes3.h"
#include "motion/forward.h"

#include <string.h>

_Static_assert( LANES == TR_FORWARD_FRAMES, "a quaternion of each makes a square" );

typedef struct forward_joint { // in the world
    lane3 position;
    lane_quat rotation;
} forward_joint;

static inline lane_quat forward_load( const quat *const local[LANES], int j )
{
    lane m[LANES];
    for ( int l = 0; l < LANES; ++l )
        memcpy( &m[l], &local[l][j], sizeof m[l] );
    lane_transpose( m );
    return ( lane_quat ){ m[0], m[1], m[2], m[3] };
}

// A place is written as four numbers; the fourth belongs to the next joint, which comes after.
static inline void forward_put( lane turn, lane place, tr_pose pose, int j, bool last )
{
    double *to = &pose.positions[j].x;
    memcpy( &pose.rotations[j], &turn, sizeof turn );
    if ( last )
        to[0] = place[0], to[1] = place[1], to[2] = place[2];
    else
        memcpy( to, &place, sizeof place );
}

// One by one: as a loop it stays one, and goes by way of memory.
static inline void forward_store( const forward_joint *from, const tr_pose poses[LANES], int j, bool last )
{
    lane turn[LANES] = { from->rotation.x, from->rotation.y, from->rotation.z, from->rotation.w },
         place[LANES] = { from->position.x, from->position.y, from->position.z, lane_all( 0 ) };
    lane_transpose( turn );
    lane_transpose( place );
    forward_put( turn[0], place[0], poses[0], j, last );
    forward_put( turn[1], place[1], poses[1], j, last );
    forward_put( turn[2], place[2], poses[2], j, last );
    forward_put( turn[3], place[3], poses[3], j, last );
}

static inline lane_quat forward_mul( lane_quat a, lane_quat b ) // as q_mul
{
    return ( lane_quat ){
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}

static inline lane3 forward_rotate( lane_quat q, vec3 v ) // as q_rotate
{
    lane tx = (real)2 * ( q.y * v.z - q.z * v.y ), ty = (real)2 * ( q.z * v.x - q.x * v.z ),
         tz = (real)2 * ( q.x * v.y - q.y * v.x );
    return ( lane3 ){ v.x + q.w * tx + ( q.y * tz - q.z * ty ), v.y + q.w * ty + ( q.z * tx - q.x * tz ),
                      v.z + q.w * tz + ( q.x * ty - q.y * tx ) };
}

void tr_forward_four_avx2( const tr_skeleton *skeleton, const quat *const local[], const vec3 root[],
                           const tr_pose poses[] )
{
    forward_joint joints[TR_FORWARD_JOINTS];
    joints[0].rotation = forward_load( local, 0 );
    for ( int l = 0; l < LANES; ++l )
        l3_set( &joints[0].position, l, root[l] );
    int count = skeleton->joint_count;
    forward_store( &joints[0], poses, 0, count == 1 );
    for ( int j = 1; j < count; ++j ) {
        const forward_joint *parent = &joints[skeleton->joints[j].parent];
        lane3 arm = forward_rotate( parent->rotation, skeleton->joints[j].offset );
        joints[j].position =
            ( lane3 ){ parent->position.x + arm.x, parent->position.y + arm.y, parent->position.z + arm.z };
        joints[j].rotation = forward_mul( parent->rotation, forward_load( local, j ) );
        forward_store( &joints[j], poses, j, j + 1 == count );
    }
}
