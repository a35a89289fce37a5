// Corners of a posed body, all three coordinates of one at once: the products and sums of the plain way, in
// the same order and none of them fused, so the same bits. Part of kernel_avx2.c, which includes it.

typedef double four __attribute__( ( vector_size( 4 * sizeof( double ) ) ) ); // the last is not used

static inline four four_of( vec3 v )
{
    return ( four ){ v.x, v.y, v.z, 0 };
}

// A corner is written as four numbers; the next corner overwrites the fourth.
static inline void put_corner( four at, vec3 *to, bool last )
{
    if ( last )
        *to = v3( at[0], at[1], at[2] );
    else
        memcpy( to, &at, sizeof at );
}

void tr_kernel_pose_avx2( const tr_posegraph *graph, tr_pose pose, vec3 *vertices )
{
    int count = 3 * graph->joint_count;
    for ( int v = 0; v < count; v += 3 ) {
        mat3 turn = m3_from_quat( pose.rotations[v / 3] );
        four x = four_of( turn.cx ), y = four_of( turn.cy ), z = four_of( turn.cz ),
             place = four_of( pose.positions[v / 3] );
        for ( int k = v; k < v + 3; ++k ) {
            vec3 corner = graph->corners[k];
            put_corner( place + ( corner.x * x + corner.y * y + corner.z * z ), &vertices[k],
                        k + 1 == count );
        }
    }
}
