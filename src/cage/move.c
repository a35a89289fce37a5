// From the keys to all frames, and from the frames' sections to the points.
//
// The motion of key j is the rigid motion A_j, x ↦ R_j x + p_j, nearest to that of its vertices, and
// residuals ρ_ij in the axes of the moved section. Between keys j and j + 1, with u the fraction of the way
// and s(u) the minimum-jerk step, each key predicts the frame on its own and the two predictions are blended:
//
//   centre    C(t) = (1 − s) [A_j(c(t)) + (t − t_j) d_j] + s [A_{j+1}(c(t)) + (t − t_{j+1}) d_{j+1}]
//   rotation  R(t) from exp((t − t_j) ω_j) R_j to exp((t − t_{j+1}) ω_{j+1}) R_{j+1}, by s of the way
//   residual  ρ_i(t) as the centre, with velocities of its own
//   vertex    v_i(t) = C(t) + R(t) [v̄_i(t) − c(t) + Q(t) ρ_i(t)],    Q(t) the axes of the section at rest
//
// s has no first and second derivative at either end, so the whole is twice differentiable where c and Q are.
// Equal motions A_j give that motion at all times, whatever the path. The velocities d, ω are those of the
// neighbouring keys beside what A_j predicts for them; along each axis they are no larger than towards either
// neighbour and vanish where these disagree, so that nothing overshoots a key: with 0 ≤ a, b ≤ 1 the slopes
// at the two ends in units of the chord, the blend's slope (1 − s) a + s b + s′ (1 − a u − b (1 − u)) is
// never negative. The end of an ease rests like an unmoved key. At other ends of the window velocities are
// zero: the motion rests there, or everything beyond moves along.
#include "cage/private.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// ----------------------------------------------------------------------------------------------------- keys

// The largest rate that overshoots on neither side.
static double common_rate( double before, double after )
{
    if ( !( before * after > 0 ) )
        return 0;
    return fabs( before ) < fabs( after ) ? before : after;
}

static vec3 common_velocity( vec3 before, vec3 after )
{
    return v3( common_rate( before.x, after.x ), common_rate( before.y, after.y ),
               common_rate( before.z, after.z ) );
}

static vec3 centroid( const vec3 *vertices, int count )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < count; ++i )
        sum = v3_add( sum, vertices[i] );
    return v3_scale( 1.0 / count, sum );
}

static rigid nearest_motion( const vec3 *rest, const vec3 *moved, int count )
{
    vec3 from = centroid( rest, count ), to = centroid( moved, count );
    mat3 m = { v3_zero, v3_zero, v3_zero };
    for ( int i = 0; i < count; ++i ) {
        vec3 a = v3_sub( rest[i], from ), b = v3_sub( moved[i], to );
        m.cx = v3_mad( m.cx, a.x, b ), m.cy = v3_mad( m.cy, a.y, b ), m.cz = v3_mad( m.cz, a.z, b );
    }
    quat turn = q_fit( m );
    return ( rigid ){ turn, v3_sub( to, q_rotate( turn, from ) ) };
}

#define ROUNDING 1e-9 // metres: smaller residuals of a rigid motion are rounding

static void read_key( tr_cage *cage, int k )
{
    size_t vertices = (size_t)cage->vertex_count;
    const vec3 *rest = cage->rest + k * cage->vertex_count, *moved = cage->moved + k * cage->vertex_count;
    vec3 *residuals = cage->residuals + k * cage->vertex_count;
    cage->motions[k] = rigid_identity;
    memset( residuals, 0, vertices * sizeof residuals[0] );
    cage->bent[k] = false;
    if ( memcmp( rest, moved, vertices * sizeof rest[0] ) == 0 )
        return;
    rigid motion = cage->motions[k] = nearest_motion( rest, moved, cage->vertex_count );
    // ρ = (R Q)ᵀ (v − A(c)) − Qᵀ (v̄ − c), and Qᵀ (v̄ − c) is the shape times its extent.
    int frame = cage->sections[k] - cage->begin;
    vec3 to = rigid_apply( motion, cage->places[frame].position );
    mat3 back = m3_transpose( m3_from_quat( q_mul( motion.rotation, cage->places[frame].rotation ) ) );
    double largest = 0;
    for ( int i = 0; i < cage->vertex_count; ++i ) {
        vec3 own = v3_mul( cage->extents[frame], cage->shape[i] );
        residuals[i] = v3_sub( m3_mulv( back, v3_sub( moved[i], to ) ), own );
        double square = v3_dot( residuals[i], residuals[i] );
        largest = square > largest ? square : largest;
    }
    cage->bent[k] = largest > ROUNDING * ROUNDING;
    if ( !cage->bent[k] )
        memset( residuals, 0, vertices * sizeof residuals[0] );
}

static vec3 key_centre( const tr_cage *cage, int k )
{
    return cage->places[cage->sections[k] - cage->begin].position;
}

static quat turn_from( quat a, quat b ) // b = turn · a
{
    return q_mul( b, q_conj( a ) );
}

typedef struct neighbour { // the key before or after a key, or the place at which the ease beside it rests
    double frames;         // frames to that key or place
    rigid motion;
    vec3 centre;
    const vec3 *residuals; // NULL: there it rests
} neighbour;

static bool find_neighbour( const tr_cage *cage, int k, int sense, neighbour *out )
{
    const tr_cage_def *def = &cage->def;
    int other = k + sense, ease = sense < 0 ? def->ease_in : def->ease_out,
        rest = cage->sections[k] + sense * ( ease + 1 ) - cage->begin;
    if ( other >= 0 && other < cage->section_count ) {
        *out = ( neighbour ){ abs( cage->sections[other] - cage->sections[k] ), cage->motions[other],
                              key_centre( cage, other ), cage->residuals + other * cage->vertex_count };
        return true;
    }
    rest = rest < 0 ? 0 : rest >= cage->frame_count ? cage->frame_count - 1 : rest;
    *out = ( neighbour ){ ease + 1, rigid_identity, cage->places[rest].position, NULL };
    return ( sense < 0 ? def->start : def->end ) == TR_CAGE_EASED;
}

static void read_velocity( tr_cage *cage, int k )
{
    rigid m = cage->motions[k];
    neighbour last, next;
    if ( !find_neighbour( cage, k, -1, &last ) || !find_neighbour( cage, k, 1, &next ) )
        return; // there it stays zero
    double before = 1 / last.frames, after = 1 / next.frames;
    vec3 fore = v3_sub( rigid_apply( m, last.centre ), rigid_apply( last.motion, last.centre ) );
    vec3 aft = v3_sub( rigid_apply( next.motion, next.centre ), rigid_apply( m, next.centre ) );
    cage->drift[k] = common_velocity( v3_scale( before, fore ), v3_scale( after, aft ) );
    vec3 fore_turn = q_to_vector( turn_from( last.motion.rotation, m.rotation ) );
    vec3 aft_turn = q_to_vector( turn_from( m.rotation, next.motion.rotation ) );
    cage->spin[k] = common_velocity( v3_scale( before, fore_turn ), v3_scale( after, aft_turn ) );
    for ( int i = 0; i < cage->vertex_count; ++i ) {
        int at = k * cage->vertex_count + i;
        vec3 r = cage->residuals[at], a = last.residuals != NULL ? last.residuals[i] : v3_zero,
             b = next.residuals != NULL ? next.residuals[i] : v3_zero;
        cage->residual_drift[at] =
            common_velocity( v3_scale( before, v3_sub( r, a ) ), v3_scale( after, v3_sub( b, r ) ) );
    }
}

void tr_cage_read_keys( tr_cage *cage )
{
    cage->reading++;
    for ( int k = 0; k < cage->section_count; ++k )
        read_key( cage, k );
    for ( int k = 0; k < cage->section_count; ++k )
        read_velocity( cage, k );
}

void tr_cage_reset( tr_cage *cage )
{
    memcpy( cage->moved, cage->rest,
            (size_t)cage->section_count * (size_t)cage->vertex_count * sizeof cage->rest[0] );
    tr_cage_read_keys( cage );
}

// ---------------------------------------------------------------------------------------------------- frames

static double beyond( tr_cage_end end, int ease, int frames )
{
    return end == TR_CAGE_HELD ? 1 : tr_fade( frames, ease );
}

tr_cage_share tr_cage_share_at( const tr_cage *cage, int frame )
{
    int last = cage->section_count - 1;
    if ( frame <= cage->first )
        return ( tr_cage_share ){ 0, 0, 0,
                                  beyond( cage->def.start, cage->def.ease_in, cage->first - frame ) };
    if ( frame >= cage->last )
        return ( tr_cage_share ){ last, last, 0,
                                  beyond( cage->def.end, cage->def.ease_out, frame - cage->last ) };
    int low = 0, high = last; // sections[low] ≤ frame < sections[high]
    while ( high - low > 1 ) {
        int middle = ( low + high ) / 2;
        *( cage->sections[middle] <= frame ? &low : &high ) = middle;
    }
    double u = (double)( frame - cage->sections[low] ) / ( cage->sections[high] - cage->sections[low] );
    return ( tr_cage_share ){ low, high, smooth_step5( u ), 1 };
}

static bool key_moves( const tr_cage *cage, int k )
{
    rigid m = cage->motions[k];
    return cage->bent[k] || m.rotation.w != 1 || v3_length( m.position ) > 0;
}

bool tr_cage_moves( const tr_cage *cage, int frame )
{
    tr_cage_share share = tr_cage_share_at( cage, frame );
    if ( !( share.strength > 0 ) )
        return false;
    return key_moves( cage, share.key ) || ( share.part > 0 && key_moves( cage, share.next ) );
}

typedef struct frame_motion { // x ↦ to + turn · (x − from + axes · Σ w ρ)
    bool moves, bent;
    vec3 from, to;
    quat turn, axes;
    tr_cage_share share;
    double since, until; // frames from the key, and from the next (negative)
} frame_motion;

static quat rotation_at( const tr_cage *cage, const frame_motion *m )
{
    tr_cage_share s = m->share;
    quat a = q_mul( q_from_vector( v3_scale( m->since, cage->spin[s.key] ) ), cage->motions[s.key].rotation );
    quat b =
        q_mul( q_from_vector( v3_scale( m->until, cage->spin[s.next] ) ), cage->motions[s.next].rotation );
    vec3 way = q_to_vector( turn_from( a, b ) );
    quat turn = q_unit( q_mul( q_from_vector( v3_scale( s.part, way ) ), a ) );
    return s.strength < 1 ? q_from_vector( v3_scale( s.strength, q_to_vector( turn ) ) ) : turn;
}

static frame_motion motion_at( const tr_cage *cage, int frame )
{
    assert( frame >= cage->begin && frame < cage->begin + cage->frame_count );
    rigid place = cage->places[frame - cage->begin];
    frame_motion m = {
        .from = place.position, .to = place.position, .turn = q_identity, .axes = place.rotation };
    m.moves = tr_cage_moves( cage, frame );
    if ( !m.moves )
        return m;
    tr_cage_share s = m.share = tr_cage_share_at( cage, frame );
    m.since = frame - cage->sections[s.key];
    m.until = frame - cage->sections[s.next];
    m.bent = cage->bent[s.key] || cage->bent[s.next];
    vec3 a = v3_mad( rigid_apply( cage->motions[s.key], m.from ), m.since, cage->drift[s.key] );
    vec3 b = v3_mad( rigid_apply( cage->motions[s.next], m.from ), m.until, cage->drift[s.next] );
    m.to = v3_lerp( m.from, v3_lerp( a, b, s.part ), s.strength );
    m.turn = rotation_at( cage, &m );
    return m;
}

// Residuals of the vertices of a frame's section, in the section's axes. [vertex_count]
static void residuals_at( const tr_cage *cage, const frame_motion *m, vec3 *out )
{
    tr_cage_share s = m->share;
    const vec3 *a = cage->residuals + s.key * cage->vertex_count,
               *da = cage->residual_drift + ( a - cage->residuals );
    const vec3 *b = cage->residuals + s.next * cage->vertex_count,
               *db = cage->residual_drift + ( b - cage->residuals );
    for ( int i = 0; i < cage->vertex_count; ++i ) {
        vec3 from = v3_mad( a[i], m->since, da[i] ), to = v3_mad( b[i], m->until, db[i] );
        out[i] = v3_scale( s.strength, v3_lerp( from, to, s.part ) );
    }
}

// Weights are floats; so is what they weigh, four numbers at a time.
typedef float four __attribute__( ( vector_size( 16 ), may_alias ) );

static void round_residuals( const tr_cage *cage, const frame_motion *m, four *out )
{
    vec3 residuals[TR_CAGE_MAX_VERTICES];
    residuals_at( cage, m, residuals );
    for ( int i = 0; i < cage->vertex_count; ++i )
        out[i] = ( four ){ (float)residuals[i].x, (float)residuals[i].y, (float)residuals[i].z, 0 };
}

// All bodies in the cage share a frame's motion: the first call computes it for all. Calls that come while it
// is being computed compute it for themselves, so that no thread waits.

struct tr_cage_frame {
    atomic_int state; // 2 · reading while it is computed, + 1 when it is there
    frame_motion motion;
};

typedef struct frame_state {
    frame_motion m;
    const four *residuals; // [vertex_count] rounded, of a frame that is bent
} frame_state;

bool tr_cage_frames_build( tr_cage *cage )
{
    size_t frames = (size_t)cage->frame_count;
    cage->frames = tr_alloc( frames, sizeof cage->frames[0] );
    cage->frame_residuals = tr_alloc( frames * (size_t)cage->vertex_count, sizeof( four ) );
    return cage->frames != NULL && cage->frame_residuals != NULL;
}

// `own` [vertex_count] is memory for a call that computes it for itself.
static frame_state state_at( const tr_cage *cage, int frame, four *own )
{
    assert( frame >= cage->begin && frame < cage->begin + cage->frame_count );
    struct tr_cage_frame *known = &cage->frames[frame - cage->begin];
    four *shared =
        (four *)cage->frame_residuals + (size_t)( frame - cage->begin ) * (size_t)cage->vertex_count;
    int busy = 2 * cage->reading, state = atomic_load_explicit( &known->state, memory_order_acquire );
    if ( state == busy + 1 )
        return ( frame_state ){ known->motion, shared };
    bool mine = state != busy && atomic_compare_exchange_strong( &known->state, &state, busy );
    frame_state out = { motion_at( cage, frame ), mine ? shared : own };
    if ( out.m.bent )
        round_residuals( cage, &out.m, mine ? shared : own );
    if ( mine ) {
        known->motion = out.m;
        atomic_store_explicit( &known->state, busy + 1, memory_order_release );
    }
    return out;
}

rigid tr_cage_motion( const tr_cage *cage, int frame )
{
    frame_motion m = motion_at( cage, frame );
    return m.moves ? ( rigid ){ m.turn, v3_sub( m.to, q_rotate( m.turn, m.from ) ) } : rigid_identity;
}

// -------------------------------------------------------------------------------------------------- points

static vec3 move_point( const frame_motion *m, vec3 point, vec3 residual )
{
    vec3 d = v3_add( v3_sub( point, m->from ), q_rotate( m->axes, residual ) );
    return v3_add( m->to, q_rotate( m->turn, d ) );
}

// Σ w ρ of a point, its weights `stride` apart.
static vec3 weigh( const float *weights, int stride, const four *residuals, int count )
{
    four even = { 0 }, odd = { 0 }; // a section has an even number of vertices
    for ( int i = 0; i < count; i += 2, weights += 2 * stride ) {
        even += weights[0] * residuals[i];
        odd += weights[stride] * residuals[i + 1];
    }
    even += odd;
    return v3( even[0], even[1], even[2] );
}

vec3 tr_cage_move_weighted( const tr_cage *cage, int frame, vec3 point, const float *weights )
{
    four own[TR_CAGE_MAX_VERTICES];
    frame_state state = state_at( cage, frame, own );
    vec3 left = state.m.bent ? weigh( weights, 1, state.residuals, cage->vertex_count ) : v3_zero;
    return state.m.moves ? move_point( &state.m, point, left ) : point;
}

static float *weights_at( const tr_cage *cage, int frame, int point )
{
    size_t row = (size_t)( frame - cage->begin ) * (size_t)cage->point_count + (size_t)point;
    return cage->weights + row * (size_t)cage->vertex_count;
}

enum { WEIGHED_AT_ONCE = 32 }; // points of one call of the kernel, on the stack

static void move_bound( const tr_cage *cage, const frame_motion *m, const four *residuals,
                        const float *weights, int count, const vec3 *in, vec3 *out )
{
    four left[WEIGHED_AT_ONCE];
    for ( int begin = 0; begin < count;
          begin += WEIGHED_AT_ONCE, weights += WEIGHED_AT_ONCE * cage->vertex_count ) {
        int some = count - begin < WEIGHED_AT_ONCE ? count - begin : WEIGHED_AT_ONCE;
        if ( m->bent )
            ( tr_lanes_best() != TR_LANES_FLOAT ? tr_kernel_weigh_avx2 : tr_kernel_weigh_float )(
                weights, (const float( * )[4])residuals, cage->vertex_count, some, (float( * )[4])left );
        for ( int p = 0; p < some; ++p ) {
            vec3 residual = m->bent ? v3( left[p][0], left[p][1], left[p][2] ) : v3_zero;
            out[begin + p] = m->moves ? move_point( m, in[begin + p], residual ) : in[begin + p];
        }
    }
}

void tr_cage_move_some( const tr_cage *cage, int frame, int first, int count, const vec3 *in, vec3 *out )
{
    assert( first >= 0 && first + count <= cage->point_count );
    four own[TR_CAGE_MAX_VERTICES];
    frame_state state = state_at( cage, frame, own );
    move_bound( cage, &state.m, state.residuals, weights_at( cage, frame, first ), count, in, out );
}

// With u = p − p̄ and Σ u = 0, p' = to + R (p − from + Q Σᵢ wᵢ ρᵢ) gives
//
//   Σ p' uᵀ = R ( Σ u uᵀ + Q Σᵢ ρᵢ mᵢᵀ ),   mᵢ = Σ wᵢ u
//
// moments: mᵢ and the lead's wᵢ, vertex after vertex.
void tr_cage_moments( const tr_cage *cage, int frame, int first, int count, const vec3 *points, int lead,
                      mat3 *spread, float *moments )
{
    assert( first >= 0 && count > 0 && first + count <= cage->point_count );
    const float *weights = weights_at( cage, frame, first ), *of_lead = weights_at( cage, frame, lead );
    vec3 mean = centroid( points, count );
    *spread = ( mat3 ){ v3_zero, v3_zero, v3_zero };
    for ( int i = 0; i < cage->vertex_count; ++i ) {
        float *m = moments + TR_CAGE_MOMENTS * i;
        m[0] = m[1] = m[2] = 0, m[3] = of_lead[i];
    }
    for ( int p = 0; p < count; ++p, weights += cage->vertex_count ) {
        vec3 u = v3_sub( points[p], mean );
        *spread = m3_add_outer( *spread, u, u );
        for ( int i = 0; i < cage->vertex_count; ++i ) {
            float *m = moments + TR_CAGE_MOMENTS * i;
            m[0] += weights[i] * (float)u.x;
            m[1] += weights[i] * (float)u.y;
            m[2] += weights[i] * (float)u.z;
        }
    }
}

mat3 tr_cage_spin( const tr_cage *cage, int frame, mat3 spread, const float *moments, vec3 *place )
{
    four own[TR_CAGE_MAX_VERTICES], x = { 0 }, y = { 0 }, z = { 0 };
    frame_state state = state_at( cage, frame, own );
    const frame_motion *m = &state.m;
    vec3 left =
        m->bent ? weigh( moments + 3, TR_CAGE_MOMENTS, state.residuals, cage->vertex_count ) : v3_zero;
    if ( m->moves )
        *place = move_point( m, *place, left );
    for ( int i = 0; m->bent && i < cage->vertex_count; ++i, moments += TR_CAGE_MOMENTS ) {
        x += moments[0] * state.residuals[i];
        y += moments[1] * state.residuals[i];
        z += moments[2] * state.residuals[i];
    }
    mat3 bent = { v3( x[0], x[1], x[2] ), v3( y[0], y[1], y[2] ), v3( z[0], z[1], z[2] ) };
    mat3 sum = m3_mul( m3_from_quat( m->axes ), bent );
    sum = ( mat3 ){ v3_add( sum.cx, spread.cx ), v3_add( sum.cy, spread.cy ), v3_add( sum.cz, spread.cz ) };
    return m3_mul( m3_from_quat( m->turn ), sum );
}

typedef struct move_job {
    const tr_cage *cage;
    int first;
    const vec3 *in;
    vec3 *out;
} move_job;

static void move_frames( void *context, int begin, int end )
{
    const move_job *job = context;
    int points = job->cage->point_count;
    for ( int f = begin; f < end; ++f )
        tr_cage_move_some( job->cage, job->first + f, 0, points, job->in + (size_t)f * (size_t)points,
                           job->out + (size_t)f * (size_t)points );
}

enum { FRAMES_AT_ONCE = 32 }; // some hundred microseconds of work

void tr_cage_move( const tr_cage *cage, int first, int last, const vec3 *in, vec3 *out )
{
    assert( first >= cage->begin && last < cage->begin + cage->frame_count && !cage->def.late );
    tr_parallel_for( last - first + 1, FRAMES_AT_ONCE, move_frames, &( move_job ){ cage, first, in, out } );
}

enum { POINTS_AT_ONCE = 8 }; // lanes of the kernel

void tr_cage_weigh( const tr_cage *cage, int frame, const vec3 *points, int count, float *weights )
{
    vec3 at[POINTS_AT_ONCE];
    for ( int begin = 0; begin < count; begin += POINTS_AT_ONCE ) {
        int some = count - begin < POINTS_AT_ONCE ? count - begin : POINTS_AT_ONCE;
        for ( int i = 0; i < some; ++i )
            at[i] = tr_cage_to_form( cage, frame, points[begin + i] );
        tr_mean_value_weights( &cage->coordinates, at, some, tr_lanes_best(),
                               weights + (size_t)begin * (size_t)cage->vertex_count );
    }
}

void tr_cage_bind( const tr_cage *cage, int frame, int first, int count, const vec3 *points )
{
    assert( first >= 0 && first + count <= cage->point_count );
    tr_cage_weigh( cage, frame, points, count, weights_at( cage, frame, first ) );
}

void tr_cage_move_points( const tr_cage *cage, int frame, const vec3 *in, int count, vec3 *out )
{
    four own[TR_CAGE_MAX_VERTICES];
    float weights[POINTS_AT_ONCE * TR_CAGE_MAX_VERTICES];
    frame_state state = state_at( cage, frame, own );
    const frame_motion *m = &state.m;
    for ( int begin = 0; begin < count; begin += POINTS_AT_ONCE ) {
        int some = count - begin < POINTS_AT_ONCE ? count - begin : POINTS_AT_ONCE;
        if ( m->bent )
            tr_cage_weigh( cage, frame, in + begin, some, weights );
        for ( int i = 0; i < some; ++i ) {
            const float *w = weights + i * cage->vertex_count;
            vec3 left = m->bent ? weigh( w, 1, state.residuals, cage->vertex_count ) : v3_zero;
            out[begin + i] = m->moves ? move_point( m, in[begin + i], left ) : in[begin + i];
        }
    }
}

void tr_cage_section( const tr_cage *cage, int frame, vec3 *out )
{
    assert( frame >= cage->begin && frame < cage->begin + cage->frame_count );
    for ( int i = 0; i < cage->vertex_count; ++i )
        out[i] = tr_cage_vertex( cage, frame, i );
}

void tr_cage_section_moved( const tr_cage *cage, int frame, vec3 *out )
{
    vec3 residuals[TR_CAGE_MAX_VERTICES];
    frame_motion m = motion_at( cage, frame );
    if ( m.bent )
        residuals_at( cage, &m, residuals );
    tr_cage_section( cage, frame, out );
    for ( int i = 0; m.moves && i < cage->vertex_count; ++i )
        out[i] = move_point( &m, out[i], m.bent ? residuals[i] : v3_zero );
}
