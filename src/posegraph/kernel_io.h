// Frames into lanes and back. Part of kernel.h, which includes it.
//
// A frame's vertices are 9 · joint_count doubles in a row; as lanes, number k of all frames of the block
// stands in lane k. LANES numbers of LANES frames at a time make a square, which is turned about its
// diagonal.

typedef double wide __attribute__( ( vector_size( LANES * sizeof( double ) ) ) );

static inline wide wide_load( const double *from ) // from anywhere
{
    wide out;
    memcpy( &out, from, sizeof out );
    return out;
}

#if LANES == 4

static inline void transpose( lane m[LANES] )
{
    for ( int i = 0; i < 4; i += 2 ) {
        lane a = m[i], b = m[i + 1];
        m[i] = __builtin_shufflevector( a, b, 0, 4, 2, 6 );
        m[i + 1] = __builtin_shufflevector( a, b, 1, 5, 3, 7 );
    }
    for ( int i = 0; i < 2; ++i ) {
        lane a = m[i], b = m[i + 2];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 4, 5 );
        m[i + 2] = __builtin_shufflevector( a, b, 2, 3, 6, 7 );
    }
}

#elif LANES == 8

static inline void transpose( lane m[LANES] )
{
    for ( int i = 0; i < 8; i += 2 ) {
        lane a = m[i], b = m[i + 1];
        m[i] = __builtin_shufflevector( a, b, 0, 8, 2, 10, 4, 12, 6, 14 );
        m[i + 1] = __builtin_shufflevector( a, b, 1, 9, 3, 11, 5, 13, 7, 15 );
    }
    for ( int i = 0; i < 8; i += i % 2 == 0 ? 1 : 3 ) {
        lane a = m[i], b = m[i + 2];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 8, 9, 4, 5, 12, 13 );
        m[i + 2] = __builtin_shufflevector( a, b, 2, 3, 10, 11, 6, 7, 14, 15 );
    }
    for ( int i = 0; i < 4; ++i ) {
        lane a = m[i], b = m[i + 4];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 2, 3, 8, 9, 10, 11 );
        m[i + 4] = __builtin_shufflevector( a, b, 4, 5, 6, 7, 12, 13, 14, 15 );
    }
}

#else

// clang-format off
static inline void transpose( lane m[LANES] )
{
    for ( int i = 0; i < 16; i += 2 ) {
        lane a = m[i], b = m[i + 1];
        m[i] = __builtin_shufflevector( a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30 );
        m[i + 1] = __builtin_shufflevector( a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31 );
    }
    for ( int i = 0; i < 16; i += i % 2 == 0 ? 1 : 3 ) {
        lane a = m[i], b = m[i + 2];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29 );
        m[i + 2] = __builtin_shufflevector( a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31 );
    }
    for ( int i = 0; i < 16; i += i % 4 < 3 ? 1 : 5 ) {
        lane a = m[i], b = m[i + 4];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27 );
        m[i + 4] = __builtin_shufflevector( a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31 );
    }
    for ( int i = 0; i < 8; ++i ) {
        lane a = m[i], b = m[i + 8];
        m[i] = __builtin_shufflevector( a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23 );
        m[i + 8] = __builtin_shufflevector( a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31 );
    }
}
// clang-format on

#endif

static inline const double *numbers_of( const vec3 *vertices )
{
    return &vertices->x;
}

void KERNEL( load )( const tr_graph_lanes *g, const vec3 *const frames[] )
{
    lane *reference = g->reference;
    int count = 9 * g->graph->joint_count, whole = count - count % LANES;
    double origin[LANES][LANES + 2]; // x, y, z, x, …
    for ( int l = 0; l < LANES; ++l ) {
        vec3 at = tr_posegraph_joint( frames[l], 0 );
        const double axes[3] = { at.x, at.y, at.z };
        for ( int i = 0; i < LANES + 2; ++i )
            origin[l][i] = axes[i % 3];
    }
    for ( int k = 0; k < whole; k += LANES ) {
        lane square[LANES];
        for ( int l = 0; l < LANES; ++l )
            square[l] = __builtin_convertvector(
                wide_load( numbers_of( frames[l] ) + k ) - wide_load( origin[l] + k % 3 ), lane );
        transpose( square );
        memcpy( reference + k, square, sizeof square );
    }
    for ( int k = whole; k < count; ++k )
        for ( int l = 0; l < LANES; ++l )
            reference[k][l] = (real)( numbers_of( frames[l] )[k] - origin[l][k % 3] );
}

void KERNEL( begin )( const tr_graph_lanes *g, const vec3 *from, const vec3 *vertices, const quat *rotations,
                      int l )
{
    real *u = (real *)g->displacement + l, *q = (real *)g->quats + l;
    for ( int i = 0; i < 3 * g->graph->joint_count; ++i, u += 3 * LANES ) {
        u[0] = (real)( vertices[i].x - from[i].x );
        u[LANES] = (real)( vertices[i].y - from[i].y );
        u[2 * LANES] = (real)( vertices[i].z - from[i].z );
    }
    for ( int j = 0; j < g->graph->joint_count; ++j, q += 4 * LANES ) {
        q[0] = (real)rotations[j].x, q[LANES] = (real)rotations[j].y;
        q[2 * LANES] = (real)rotations[j].z, q[3 * LANES] = (real)rotations[j].w;
    }
}

// Number by number. A frame that came out as no number at all (because it went in so) stays what it was, or
// goes to the origin.
static void store_spoilt( const tr_graph_lanes *g, const vec3 *from, int l, bool finite, vec3 *vertices )
{
    const real *u = (const real *)g->displacement + l;
    for ( int i = 0; i < 3 * g->graph->joint_count; ++i, u += 3 * LANES ) {
        vec3 moved =
            finite ? v3( from[i].x + u[0], from[i].y + u[LANES], from[i].z + u[2 * LANES] ) : from[i];
        vertices[i] = v3_finite( moved ) ? moved : v3_zero;
    }
}

void KERNEL( store )( const tr_graph_lanes *g, const vec3 *const from[], int frame_count, vec3 *const to[],
                      bool finite[] )
{
    const lane *u = g->displacement, *reference = g->reference;
    int count = 9 * g->graph->joint_count, whole = count - count % LANES;
    lane moved = lane_all( 0 ), stood = lane_all( 0 ); // a single number that is none spoils the sum
    bool sound[LANES];
    for ( int k = 0; k < count; ++k ) {
        moved += u[k];
        stood += reference[k];
    }
    for ( int l = 0; l < frame_count; ++l ) {
        finite[l] = isfinite( moved[l] );
        sound[l] = finite[l] && isfinite( stood[l] );
        if ( !sound[l] )
            store_spoilt( g, from[l], l, finite[l], to[l] );
    }
    for ( int k = 0; k < whole; k += LANES ) {
        lane square[LANES];
        memcpy( square, u + k, sizeof square );
        transpose( square );
        for ( int l = 0; l < frame_count; ++l ) {
            wide after = wide_load( numbers_of( from[l] ) + k ) + __builtin_convertvector( square[l], wide );
            if ( sound[l] )
                memcpy( &to[l]->x + k, &after, sizeof after );
        }
    }
    for ( int k = whole; k < count; ++k )
        for ( int l = 0; l < frame_count; ++l )
            if ( sound[l] )
                ( &to[l]->x )[k] = numbers_of( from[l] )[k] + u[k][l];
}

void KERNEL( rotations )( const tr_graph_lanes *g, int frame_count, const bool finite[], quat *const to[] )
{
    const real *q = g->quats;
    for ( int j = 0; j < g->graph->joint_count; ++j, q += 4 * LANES ) {
        double size[LANES], unit[4][LANES];
        for ( int l = 0; l < LANES; ++l ) {
            double x = q[l], y = q[LANES + l], z = q[2 * LANES + l], w = q[3 * LANES + l];
            size[l] = sqrt( x * x + y * y + z * z + w * w );
        }
        for ( int c = 0; c < 4; ++c )
            for ( int l = 0; l < LANES; ++l )
                unit[c][l] = q[c * LANES + l] / size[l];
        for ( int l = 0; l < frame_count; ++l )
            to[l][j] = finite[l] && size[l] > 1e-150 && size[l] < INFINITY
                           ? ( quat ){ unit[0][l], unit[1][l], unit[2][l], unit[3][l] }
                           : q_identity;
    }
}
