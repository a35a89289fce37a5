// The deformation of a block of frames. Compiled once per kind of lanes: the including file defines
// KERNEL( name ), and LANES_OF_DOUBLES for doubles. Lanes never mix.
#include "math/lanes.h"
#include "posegraph/private.h"

#include <stddef.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------- in and out

void KERNEL( load )( const tr_graph_lanes *g, const vec3 *vertices, int l )
{
    real *reference = (real *)g->reference + l;
    vec3 origin = tr_posegraph_joint( vertices, 0 );
    for ( int i = 0; i < 3 * g->graph->joint_count; ++i, reference += 3 * LANES ) {
        reference[0] = (real)( vertices[i].x - origin.x );
        reference[LANES] = (real)( vertices[i].y - origin.y );
        reference[2 * LANES] = (real)( vertices[i].z - origin.z );
    }
}

// A frame that came out as no number at all (because it went in so) stays what it was, or goes to the origin.
bool KERNEL( store )( const tr_graph_lanes *g, const vec3 *from, int l, vec3 *vertices )
{
    const real *u = (const real *)g->displacement + l;
    int count = 3 * g->graph->joint_count;
    real sum = 0;
    for ( int i = 0; i < 3 * count; ++i )
        sum += u[i * LANES];
    bool finite = isfinite( sum ); // a single number that is none spoils the sum
    for ( int i = 0; i < count; ++i, u += 3 * LANES ) {
        vec3 moved =
            finite ? v3( from[i].x + u[0], from[i].y + u[LANES], from[i].z + u[2 * LANES] ) : from[i];
        vertices[i] = v3_finite( moved ) ? moved : v3_zero;
    }
    return finite;
}

quat KERNEL( rotation )( const tr_graph_lanes *g, int joint, int l )
{
    const real *q = (const real *)g->quats + 4 * LANES * joint + l;
    return ( quat ){ q[0], q[LANES], q[2 * LANES], q[3 * LANES] };
}

// out += scale · m v
static inline void add_product( lane out[3], real scale, const lane m[9], const lane v[3] )
{
    for ( int r = 0; r < 3; ++r )
        out[r] += scale * ( m[3 * r] * v[0] + m[3 * r + 1] * v[1] + m[3 * r + 2] * v[2] );
}

// Centroid of a joint's three corners.
static inline void centroid( const lane *corners, lane out[3] )
{
    for ( int c = 0; c < 3; ++c )
        out[c] = (real)( 1.0 / 3 ) * ( corners[c] + corners[3 + c] + corners[6 + c] );
}

// ---------------------------------------------------------------------------------------- right-hand side
// K u = b for displacements u, with T = R − 1 of the cells:
//   triangle  corner k: 6 w T_j (v̄_k − c̄)     (its two edges, each counted twice; Σ (v̄_k − v̄_l) = 3 (v̄_k −
//   c̄)) rail      w (T_j + T_p)(v̄_jk − v̄_pk) at the joint, and against it at the parent length    w_l/3 (ℓ d
//   − (c̄_j − c̄_p)) at each corner of the joint, against it at the parent's,
//             d the direction the bone has now

static void add_triangle( const tr_graph_lanes *g, int j, const lane centre[3], real weight )
{
    const lane *corners = (const lane *)g->reference + 9 * j, *turn = (const lane *)g->turns + 9 * j;
    lane *out = (lane *)g->next + 9 * j;
    for ( int k = 0; k < 3; ++k ) {
        lane arm[3];
        for ( int c = 0; c < 3; ++c )
            arm[c] = corners[3 * k + c] - centre[c];
        add_product( out + 3 * k, 6 * weight, turn, arm );
    }
}

static void add_rails( const tr_graph_lanes *g, int j, int p, real weight )
{
    const lane *at = (const lane *)g->reference + 9 * j, *from = (const lane *)g->reference + 9 * p;
    const lane *turn_j = (const lane *)g->turns + 9 * j, *turn_p = (const lane *)g->turns + 9 * p;
    lane *out = (lane *)g->next + 9 * j, *against = (lane *)g->next + 9 * p, turn[9];
    for ( int i = 0; i < 9; ++i )
        turn[i] = turn_j[i] + turn_p[i];
    for ( int k = 0; k < 9; k += 3 ) {
        lane rail[3] = { at[k] - from[k], at[k + 1] - from[k + 1], at[k + 2] - from[k + 2] };
        lane pull[3] = { lane_all( 0 ), lane_all( 0 ), lane_all( 0 ) };
        add_product( pull, weight, turn, rail );
        for ( int c = 0; c < 3; ++c ) {
            out[k + c] += pull[c];
            against[k + c] -= pull[c];
        }
    }
}

// ℓ d − (c̄_j − c̄_p) = (ℓ/|b| − 1) b + (b − b̄), with b the bone now and b − b̄ its displacement.
static void add_length( const tr_graph_lanes *g, int j, int p, const lane bone[3], real weight )
{
    const lane *u = g->displacement;
    lane moved_j[3], moved_p[3], now[3];
    centroid( u + 9 * j, moved_j );
    centroid( u + 9 * p, moved_p );
    lane square = lane_all( 0 );
    for ( int c = 0; c < 3; ++c ) {
        now[c] = bone[c] + ( moved_j[c] - moved_p[c] );
        square += now[c] * now[c];
    }
    lane_mask real_bone = square > (real)1e-12;
    lane ratio =
        lane_all( (real)g->graph->lengths[j] ) / lane_sqrt( lane_select( real_bone, square, lane_all( 1 ) ) );
    lane stretch = lane_select( real_bone, ratio - 1, lane_all( 0 ) );
    lane *out = (lane *)g->next + 9 * j, *against = (lane *)g->next + 9 * p;
    for ( int c = 0; c < 3; ++c ) {
        lane pull = (real)( weight / 3 ) * ( stretch * now[c] + ( moved_j[c] - moved_p[c] ) );
        for ( int k = 0; k < 9; k += 3 ) {
            out[k + c] += pull;
            against[k + c] -= pull;
        }
    }
}

static void right_hand_side( const tr_graph_lanes *g )
{
    const tr_posegraph_def *def = &g->graph->def;
    const lane *reference = g->reference;
    lane *next = g->next;
    for ( int i = 0; i < 9 * g->graph->joint_count; ++i )
        next[i] = lane_all( 0 );
    for ( int j = 0; j < g->graph->joint_count; ++j ) {
        int p = g->graph->parents[j];
        lane centre[3], parent_centre[3];
        centroid( reference + 9 * j, centre );
        add_triangle( g, j, centre, (real)def->edge );
        if ( p < 0 )
            continue;
        add_rails( g, j, p, (real)def->edge );
        centroid( reference + 9 * p, parent_centre );
        lane bone[3] = { centre[0] - parent_centre[0], centre[1] - parent_centre[1],
                         centre[2] - parent_centre[2] };
        if ( def->length > 0 )
            add_length( g, j, p, bone, (real)def->length );
    }
}

// ----------------------------------------------------------------------------------------------- rotations
// R_j maximises tr(Rᵀ A_j), A_j = Σ over edges of its cell of w e ēᵀ, e now and ē in the reference:
// 6 w Σ arm · armᵀ over the corners (three edges, each twice), and w for each rail up or down.

static inline void add_outer( lane a[9], const lane now[3], const lane before[3] )
{
    for ( int r = 0; r < 3; ++r )
        for ( int c = 0; c < 3; ++c )
            a[3 * r + c] += now[r] * before[c];
}

static void gather_cell( const tr_graph_lanes *g, int j, lane *cells )
{
    const lane *reference = g->reference, *u = g->displacement;
    lane centre[3], moved[3], arms[9];
    centroid( reference + 9 * j, centre );
    centroid( u + 9 * j, moved );
    for ( int i = 0; i < 9; ++i )
        arms[i] = lane_all( 0 );
    for ( int k = 0; k < 9; k += 3 ) {
        lane before[3], now[3];
        for ( int c = 0; c < 3; ++c ) {
            before[c] = reference[9 * j + k + c] - centre[c];
            now[c] = before[c] + ( u[9 * j + k + c] - moved[c] );
        }
        add_outer( arms, now, before );
    }
    int p = g->graph->parents[j];
    lane rails[9];
    for ( int i = 0; i < 9; ++i )
        rails[i] = lane_all( 0 );
    for ( int k = 0; p >= 0 && k < 9; k += 3 ) {
        lane before[3], now[3];
        for ( int c = 0; c < 3; ++c ) {
            before[c] = reference[9 * j + k + c] - reference[9 * p + k + c];
            now[c] = before[c] + ( u[9 * j + k + c] - u[9 * p + k + c] );
        }
        add_outer( rails, now, before );
    }
    for ( int i = 0; i < 9; ++i ) {
        cells[9 * j + i] += 6 * arms[i] + rails[i];
        if ( p >= 0 )
            cells[9 * p + i] += rails[i];
    }
}

// Children come after their parents: going backwards, a cell is complete when it is reached.
static void fit_rotations( const tr_graph_lanes *g, int steps, lane_mask running )
{
    lane *cells = g->next, *turns = g->turns, *quats = g->quats;
    for ( int i = 0; i < 9 * g->graph->joint_count; ++i )
        cells[i] = lane_all( 0 );
    for ( int j = g->graph->joint_count - 1; j >= 0; --j ) {
        gather_cell( g, j, cells );
        lane *q = quats + 4 * j;
        lane_quat old = { q[0], q[1], q[2], q[3] }, fit = old;
        for ( int s = 0; s < steps; ++s )
            fit = lane_fit_step( cells + 9 * j, fit );
        q[0] = lane_select( running, fit.x, old.x ), q[1] = lane_select( running, fit.y, old.y );
        q[2] = lane_select( running, fit.z, old.z ), q[3] = lane_select( running, fit.w, old.w );
        lane_turn( ( lane_quat ){ q[0], q[1], q[2], q[3] }, turns + 9 * j );
    }
}

// ------------------------------------------------------------------------------------------------- iterate

// The alternation is a map u → g(u) whose fixed point is sought. Far modes (a whole limb turning) shrink by
// as little as a thousandth per round, so rounds are combined (Anderson 1965): with f = g − u, and Δf, Δg the
// differences of neighbouring rounds, γ minimises ‖f − Σ γ Δf‖ and the next u is g − Σ γ Δg. All rounds meet
// the hard rows, and so do their combinations. A lane whose ‖f‖ doubles forgets its history.
//
// Graphs that rows join in a lane have one γ and come to rest together; those that are not joined there know
// nothing of each other, and a graph that rests in all lanes is left alone.

enum { HISTORY = TR_DEFORM_HISTORY };

typedef struct rounds {              // of one graph
    lane products[HISTORY][HISTORY]; // of Δf with Δf
    lane with_f[HISTORY];            // of Δf with f
    lane gamma[HISTORY];
    lane_mask valid[HISTORY];
    lane norm, least;  // ‖f‖², and the least since the history began
    lane change, last; // largest change of a coordinate in this round and the one before
    lane_mask running;
} rounds;

_Static_assert( sizeof( rounds ) == TR_DEFORM_ROUNDS_LANES * LANE_BYTES, "as the scratch is laid out" );

static inline rounds *rounds_of( const tr_block_work *work, int graph )
{
    return work->graphs[graph].rounds;
}

// Lane by lane, adds a number of the rounds up over the graphs of each component, or takes the largest, and
// hands it to all of them. `offset` says which number.
static void share( const tr_block_work *work, size_t offset, bool largest )
{
    for ( int way = 0; way < 2; ++way ) // to the first of the component, then back
        for ( int g = 0; g < work->graph_count; ++g )
            for ( int l = 0; l < LANES; ++l ) {
                int first = work->component[g * TR_BLOCK_FRAMES_MAX + l];
                if ( first == g )
                    continue;
                real *own = (real *)( (char *)rounds_of( work, g ) + offset ) + l;
                real *all = (real *)( (char *)rounds_of( work, first ) + offset ) + l;
                if ( way == 1 )
                    *own = *all;
                else if ( !largest )
                    *all += *own;
                else if ( *own > *all )
                    *all = *own;
            }
}

// f, and in column `column` of the history f and g minus those of the last round; all dot products on the
// way.
static void record_round( const tr_graph_lanes *g, int column, bool first )
{
    rounds *m = g->rounds;
    size_t count = 9 * (size_t)g->graph->joint_count;
    const lane *u = g->displacement, *next = g->next;
    lane *last_f = g->history, *last_g = last_f + count, *df = last_g + count, *dg = df + HISTORY * count;
    lane products[HISTORY], with_f[HISTORY], norm = lane_all( 0 ); // kept in registers
    for ( int h = 0; h < HISTORY; ++h )
        products[h] = with_f[h] = lane_all( 0 );
    for ( size_t i = 0; i < count; ++i ) {
        lane f = next[i] - u[i];
        norm += f * f;
        if ( !first ) {
            lane d = f - last_f[i];
            df[(size_t)column * count + i] = d;
            dg[(size_t)column * count + i] = next[i] - last_g[i];
            for ( int h = 0; h < HISTORY; ++h ) {
                lane other = df[(size_t)h * count + i];
                products[h] += d * other;
                with_f[h] += other * f;
            }
        }
        last_f[i] = f;
        last_g[i] = next[i];
    }
    memcpy( m->products[column], products, sizeof products );
    memcpy( m->with_f, with_f, sizeof with_f );
    m->norm = norm;
}

// Cholesky of the normal equations, scaled to a unit diagonal; columns that do not count stand alone.
static void solve_mix( rounds *m, real damping )
{
    lane scale[HISTORY], factor[HISTORY][HISTORY];
    for ( int i = 0; i < HISTORY; ++i ) {
        lane square = m->products[i][i];
        m->valid[i] &= square > 0;
        scale[i] = lane_select(
            m->valid[i], 1 / lane_sqrt( lane_select( m->valid[i], square, lane_all( 1 ) ) ), lane_all( 0 ) );
        for ( int j = 0; j <= i; ++j ) {
            lane sum = i == j ? lane_all( 1 + damping ) : m->products[i][j] * scale[i] * scale[j];
            for ( int k = 0; k < j; ++k )
                sum -= factor[i][k] * factor[j][k];
            factor[i][j] =
                i == j ? 1 / lane_sqrt( lane_max( sum, lane_all( damping ) ) ) : sum * factor[j][j];
        }
    }
    for ( int i = 0; i < HISTORY; ++i ) {
        lane sum = m->with_f[i] * scale[i];
        for ( int k = 0; k < i; ++k )
            sum -= factor[i][k] * m->gamma[k];
        m->gamma[i] = sum * factor[i][i];
    }
    for ( int i = HISTORY - 1; i >= 0; --i ) {
        lane sum = m->gamma[i];
        for ( int k = i + 1; k < HISTORY; ++k )
            sum -= factor[k][i] * m->gamma[k];
        m->gamma[i] = sum * factor[i][i];
    }
    for ( int i = 0; i < HISTORY; ++i )
        m->gamma[i] *= scale[i];
}

// After the sums of a round are shared: γ, zero where there is nothing to combine.
static void mix( rounds *m, int column, bool first )
{
    lane_mask none = { 0 }, worse = first ? none : m->norm > 4 * m->least;
    m->least = first ? m->norm : lane_select( worse | ( m->norm < m->least ), m->norm, m->least );
    for ( int h = 0; h < HISTORY; ++h ) {
        m->products[h][column] = m->products[column][h];
        m->valid[h] = ( h == column && !first ? ~none : m->valid[h] ) & ~worse;
    }
    solve_mix( m, sizeof( real ) == 4 ? (real)1e-5 : (real)1e-11 );
}

// u ← g − Σ γ Δg where a lane still runs, and the largest change of a coordinate in each lane.
static void advance( const tr_graph_lanes *g, bool mixed )
{
    size_t count = 9 * (size_t)g->graph->joint_count;
    rounds *m = g->rounds;
    lane *u = g->displacement, gamma[HISTORY], change = lane_all( 0 );
    const lane *next = g->next, *dg = (const lane *)g->history + ( 2 + HISTORY ) * count;
    lane_mask running = m->running;
    memcpy( gamma, m->gamma, sizeof gamma );
    for ( size_t i = 0; i < count; ++i ) {
        lane to = next[i];
        for ( int h = 0; mixed && h < HISTORY; ++h )
            to -= gamma[h] * dg[(size_t)h * count + i];
        lane step = to - u[i];
        change = lane_max( change, lane_max( step, -step ) );
        u[i] = lane_select( running, to, u[i] );
    }
    m->change = lane_select( running, change, m->change );
}

// ------------------------------------------------------------------------------------------------- iterate

static bool runs( const tr_block_work *work, int graph )
{
    return lane_any( rounds_of( work, graph )->running );
}

static void start( const tr_block_work *work )
{
    for ( int i = 0; i < work->graph_count; ++i ) {
        const tr_graph_lanes *g = &work->graphs[i];
        rounds *m = g->rounds;
        size_t joints = (size_t)g->graph->joint_count;
        memset( g->displacement, 0, 9 * joints * sizeof( lane ) );
        memset( g->turns, 0, 9 * joints * sizeof( lane ) );
        if ( work->def.mix )
            memset( g->history, 0, TR_DEFORM_HISTORY_LANES * joints * sizeof( lane ) );
        for ( size_t k = 0; k < 4 * joints; ++k )
            ( (lane *)g->quats )[k] = lane_all( k % 4 == 3 ? 1 : 0 );
        memset( m, 0, sizeof *m );
        m->running = ~( lane_mask ){ 0 };
    }
}

// Positions for the rotations at hand, of all graphs that run, into `next`.
static void global_step( tr_block_work *work )
{
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) ) {
            right_hand_side( &work->graphs[i] );
            tr_block_tree_solve( &work->block, i, work->graphs[i].next );
        }
    tr_block_rows_solve( &work->block );
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            tr_block_tree_correct( &work->block, i, work->graphs[i].next );
}

static void mixed_step( tr_block_work *work, int round )
{
    int column = round % HISTORY;
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            record_round( &work->graphs[i], column, round == 0 );
    for ( int h = 0; h < HISTORY; ++h ) {
        share( work, offsetof( rounds, products ) + (size_t)( column * HISTORY + h ) * sizeof( lane ),
               false );
        share( work, offsetof( rounds, with_f ) + (size_t)h * sizeof( lane ), false );
    }
    share( work, offsetof( rounds, norm ), false );
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            mix( rounds_of( work, i ), column, round == 0 );
}

// A lane stops when two rounds in a row moved nothing by more than the tolerance; stopped lanes keep their
// numbers. With rounds combined, a step is about as long as the way that is left. What is no number never
// gets better.
static bool stop_resting( const tr_block_work *work )
{
    lane_mask any = { 0 };
    for ( int i = 0; i < work->graph_count; ++i ) {
        rounds *m = rounds_of( work, i );
        lane_mask moves = ~( lane_max( m->change, m->last ) < (real)work->def.tolerance );
        m->running &= moves & ( m->change == m->change );
        m->last = m->change;
        any |= m->running;
    }
    return lane_any( any );
}

static void count_round( tr_block_work *work )
{
    lane_mask any = { 0 };
    for ( int i = 0; i < work->graph_count; ++i )
        any |= rounds_of( work, i )->running;
    for ( int l = 0; l < LANES; ++l )
        work->iterations[l] += any[l] != 0;
}

// Combined rounds meet the rows up to rounding times γ; a last plain one meets them to the digit. Then the
// rotations that belong to the result.
static void finish( tr_block_work *work )
{
    lane_mask all = ~( lane_mask ){ 0 };
    lane change = lane_all( 0 );
    for ( int i = 0; i < work->graph_count; ++i ) {
        change = lane_max( change, rounds_of( work, i )->change );
        rounds_of( work, i )->running = all;
        if ( work->def.mix )
            fit_rotations( &work->graphs[i], work->def.fit_steps, all );
    }
    if ( work->def.mix )
        global_step( work );
    for ( int i = 0; i < work->graph_count; ++i ) {
        if ( work->def.mix )
            advance( &work->graphs[i], false );
        if ( work->rotations_wanted )
            fit_rotations( &work->graphs[i], work->def.fit_steps, all );
    }
    for ( int l = 0; l < LANES; ++l )
        work->change[l] = change[l];
}

void KERNEL( deform )( tr_block_work *work )
{
    tr_block_factor( &work->block );
    start( work );
    bool going = true;
    for ( int round = 0; going && round < work->def.max_iterations; ++round ) {
        for ( int i = 0; round > 0 && i < work->graph_count; ++i )
            if ( runs( work, i ) )
                fit_rotations( &work->graphs[i], work->def.fit_steps, rounds_of( work, i )->running );
        global_step( work );
        if ( work->def.mix )
            mixed_step( work, round );
        for ( int i = 0; i < work->graph_count; ++i )
            if ( runs( work, i ) )
                advance( &work->graphs[i], work->def.mix && round > 0 );
        share( work, offsetof( rounds, change ), true );
        count_round( work );
        if ( round == 0 )
            for ( int i = 0; i < work->graph_count; ++i )
                rounds_of( work, i )->last = rounds_of( work, i )->change;
        going = stop_resting( work );
    }
    finish( work );
}
