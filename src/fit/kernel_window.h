// Part of the fit's kernel: turns of a frame of a window, several joints at once.
#include "fit/slot.h"

typedef float lane_floats __attribute__( ( vector_size( 4 * LANES ) ) );

// Up to LANES numbers of a row of floats; those beyond `count` are 0, and are not written.
static inline lane load_floats( const float *from, int count )
{
    lane_floats some = { 0 };
    if ( count >= LANES )
        memcpy( &some, from, sizeof some );
    else
        memcpy( &some, from, (size_t)count * sizeof( float ) );
    return __builtin_convertvector( some, lane );
}

static inline void store_floats( lane numbers, float *to, int count )
{
    lane_floats some = __builtin_convertvector( numbers, lane_floats );
    if ( count >= LANES )
        memcpy( to, &some, sizeof some );
    else
        memcpy( to, &some, (size_t)count * sizeof( float ) );
}

static inline lane3 load_turns( const float *columns, int row, int count )
{
    return ( lane3 ){ load_floats( columns, count ), load_floats( columns + row, count ),
                      load_floats( columns + 2 * row, count ) };
}

static inline lane_quat load_quats( const quat *from, int count )
{
    if ( count >= LANES )
        return lq_load( from );
    quat some[LANES];
    for ( int l = 0; l < LANES; ++l )
        some[l] = from[l < count ? l : 0];
    return lq_load( some );
}

static inline void store_quats( lane_quat q, quat *to, int count )
{
    if ( count >= LANES ) {
        lq_store( q, to );
        return;
    }
    quat some[LANES];
    lq_store( q, some );
    memcpy( to, some, (size_t)count * sizeof( quat ) );
}

// The turn between two rotations; what was not turned at all has none, to the bit.
static inline lane3 turn_from( lane_quat from, lane_quat to )
{
    lane_mask same = ( from.x == to.x ) & ( from.y == to.y ) & ( from.z == to.z ) & ( from.w == to.w );
    if ( !lane_any( ~same ) )
        return l3_zero();
    return l3_select( same, l3_zero(), lq_to_vector( lq_mul( to, lq_conj( from ) ) ) );
}

void KERNEL( set_centre )( const tr_fit_turns *t )
{
    int row = t->joint_count + 1;
    for ( int j = 0; j < t->joint_count; j += LANES ) {
        int count = t->joint_count - j;
        lane3 z = load_turns( t->z + 1 + j, row, count ), u = load_turns( t->u + 1 + j, row, count ),
              turn = l3_scale( lane_all( t->share ), l3_mad( z, lane_all( -t->older ), u ) );
        lane_quat start = load_quats( t->start + j, count ), centre = start;
        lane_mask turns = l3_dot( turn, turn ) > 0;
        if ( lane_any( turns ) )
            centre = lq_select( turns, lq_unit( lq_mul( lane_exp_of( turn ).rotation, start ) ), start );
        store_quats( centre, t->centre + j, count );
        if ( t->against == NULL )
            continue;
        lane3 last = turn_from( centre, load_quats( t->local + j, count ) );
        for ( int l = 0; l < LANES && l < count; ++l )
            for ( int axis = 0; axis < 3; ++axis )
                t->against[3 * ( j + l ) + axis] = (float)( axis == 0   ? last.x[l]
                                                            : axis == 1 ? last.y[l]
                                                                        : last.z[l] );
    }
}

// Of the two rotation vectors of at most a full turn that mean the same turn, the nearer one.
static inline lane3 nearer_turn( lane3 turn, lane3 to )
{
    lane3 off = l3_sub( turn, to );
    lane angle = l3_length( turn );
    // The other one is a full turn away, so nothing is nearer than half a turn.
    lane_mask far = ( l3_dot( off, off ) > TR_PI * TR_PI ) & ( angle > 1e-6 );
    if ( !lane_any( far ) )
        return turn;
    lane3 other = l3_scale( 1 - 2 * TR_PI / lane_select( far, angle, lane_all( 1 ) ), turn ),
          left = l3_sub( other, to );
    return l3_select( far & ( l3_dot( left, left ) < l3_dot( off, off ) ), other, turn );
}

void KERNEL( read_turns )( const tr_fit_turns *t )
{
    int row = t->joint_count + 1;
    for ( int j = 0; j < t->joint_count; j += LANES ) {
        int count = t->joint_count - j;
        lane3 turn = turn_from( load_quats( t->start + j, count ), load_quats( t->local + j, count ) );
        if ( t->near != NULL )
            turn = nearer_turn( turn, load_turns( t->near + 1 + j, row, count ) );
        store_floats( turn.x, t->x + 1 + j, count );
        store_floats( turn.y, t->x + 1 + j + row, count );
        store_floats( turn.z, t->x + 1 + j + 2 * row, count );
    }
}
