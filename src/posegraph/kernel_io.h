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
        lane_transpose( square );
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
        lane_transpose( square );
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
        lane_transpose( square );
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
        lane_transpose( square );
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
    const double tiny = 1e-150; // its square does not underflow
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
            to[l][j] = finite[l] && size[l] > tiny && size[l] < INFINITY
                           ? ( quat ){ unit[0][l], unit[1][l], unit[2][l], unit[3][l] }
                           : q_identity;
    }
}
