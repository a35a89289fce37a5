// Frames into lanes and back. Part of kernel.h, which includes it.
//
// A frame's vertices are 9 · joint_count doubles in a row; as lanes, number k of all frames of the block
// stands in lane k. LANES numbers of LANES frames at a time make a square, which is turned about its
// diagonal.

typedef double wide __attribute__( ( vector_size( LANES * sizeof( double ) ) ) );
typedef float narrow __attribute__( ( vector_size( LANES * sizeof( float ) ) ) );

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

// [count] numbers of each lane's frame, into lanes and back.
static inline void gather_kept( const float *const from[], int count, lane *to )
{
    int whole = count - count % LANES;
    for ( int k = 0; k < whole; k += LANES ) {
        lane square[LANES];
        for ( int l = 0; l < LANES; ++l ) {
            narrow row;
            memcpy( &row, from[l] + k, sizeof row );
            square[l] = __builtin_convertvector( row, lane );
        }
        transpose( square );
        memcpy( to + k, square, sizeof square );
    }
    for ( int k = whole; k < count; ++k )
        for ( int l = 0; l < LANES; ++l )
            to[k][l] = (real)from[l][k];
}

static inline void spread_kept( const lane *from, int count, float *const to[], int frame_count )
{
    int whole = count - count % LANES;
    for ( int k = 0; k < whole; k += LANES ) {
        lane square[LANES];
        memcpy( square, from + k, sizeof square );
        transpose( square );
        for ( int l = 0; l < frame_count; ++l ) {
            narrow row = __builtin_convertvector( square[l], narrow );
            memcpy( to[l] + k, &row, sizeof row );
        }
    }
    for ( int k = whole; k < count; ++k )
        for ( int l = 0; l < frame_count; ++l )
            to[l][k] = (float)from[k][l];
}

void KERNEL( begin )( const tr_graph_lanes *g, const tr_graph_kept from[] )
{
    const float *moved[LANES], *turned[LANES];
    for ( int l = 0; l < LANES; ++l )
        moved[l] = from[l].moved, turned[l] = from[l].turned;
    gather_kept( moved, 9 * g->graph->joint_count, g->displacement );
    gather_kept( turned, 4 * g->graph->joint_count, g->quats );
}

void KERNEL( keep )( const tr_graph_lanes *g, int frame_count, const bool finite[], const tr_graph_kept to[] )
{
    int joints = g->graph->joint_count;
    float *moved[LANES], *turned[LANES];
    const lane *quats = g->quats;
    lane sum = lane_all( 0 );
    for ( int k = 0; k < 4 * joints; ++k )
        sum += quats[k];
    for ( int l = 0; l < frame_count; ++l )
        moved[l] = to[l].moved, turned[l] = to[l].turned;
    spread_kept( g->displacement, 9 * joints, moved, frame_count );
    spread_kept( quats, 4 * joints, turned, frame_count );
    for ( int l = 0; l < frame_count; ++l )
        if ( !finite[l] || !isfinite( sum[l] ) )
            tr_graph_kept_clear( &to[l], joints );
}

// Number by number. A frame that came out as no number at all (because it went in so) stays what it was, or
// goes to the origin.
static void store_spoilt( const tr_graph_lanes *g, int joint_count, const vec3 *from, int l, bool finite,
                          vec3 *vertices )
{
    const real *u = (const real *)g->displacement + l;
    for ( int i = 0; i < 3 * joint_count; ++i, u += 3 * LANES ) {
        vec3 moved =
            finite ? v3( from[i].x + u[0], from[i].y + u[LANES], from[i].z + u[2 * LANES] ) : from[i];
        vertices[i] = v3_finite( moved ) ? moved : v3_zero;
    }
}

void KERNEL( store )( const tr_graph_lanes *g, const vec3 *const from[], int frame_count, int joint_count,
                      vec3 *const to[], bool finite[] )
{
    const lane *u = g->displacement, *reference = g->reference;
    int count = 9 * joint_count, whole = count - count % LANES;
    lane moved = lane_all( 0 ), stood = lane_all( 0 ); // a single number that is none spoils the sum
    bool sound[LANES];
    for ( int k = 0; k < 9 * g->graph->joint_count; ++k ) {
        moved += u[k];
        stood += reference[k];
    }
    for ( int l = 0; l < frame_count; ++l ) {
        finite[l] = isfinite( moved[l] );
        sound[l] = finite[l] && isfinite( stood[l] );
        if ( !sound[l] )
            store_spoilt( g, joint_count, from[l], l, finite[l], to[l] );
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
