// The deformation of a block of frames. Compiled once per kind of lanes: the including file defines
// KERNEL( name ), and LANES_OF_DOUBLES for doubles. Lanes never mix.
#include "math/lanes.h"
#include "posegraph/private.h"

#include <string.h>

#include "posegraph/kernel_io.h"

// out += scale · m v
static inline void add_product( lane out[3], real scale, const lane m[9], const lane v[3] )
{
    for ( int r = 0; r < 3; ++r )
        out[r] = lane_mad( lane_all( scale ),
                           lane_mad( m[3 * r], v[0], lane_mad( m[3 * r + 1], v[1], m[3 * r + 2] * v[2] ) ),
                           out[r] );
}

// Centroid of a joint's three corners.
static inline void centroid( const lane *corners, lane out[3] )
{
    for ( int c = 0; c < 3; ++c )
        out[c] = (real)( 1.0 / 3 ) * ( corners[c] + corners[3 + c] + corners[6 + c] );
}

typedef struct rounds { // rounds of one graph
    lane change, last;  // largest of a coordinate in this round and the one before, metres
    lane share;         // share of a step of the rods that is taken
    lane_mask running;
} rounds;

_Static_assert( sizeof( rounds ) == TR_DEFORM_ROUNDS_LANES * LANE_BYTES, "as the scratch is laid out" );

static inline rounds *rounds_of( const tr_block_work *work, int graph )
{
    return work->graphs[graph].rounds;
}

// ------------------------------------------------------------------------------------------------- cells
// The rotation of cell j maximises tr(Rᵀ A_j), A_j = Σ over edges of its cell of w e ēᵀ, e now and ē in the
// reference: 6 w Σ arm · armᵀ over the corners (three edges, each twice), and w for each rail up or down.

static inline void add_outer( lane a[9], const lane now[3], const lane before[3] )
{
    for ( int r = 0; r < 3; ++r )
        for ( int c = 0; c < 3; ++c )
            a[3 * r + c] = lane_mad( now[r], before[c], a[3 * r + c] );
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

#include "posegraph/rods.h"
#include "posegraph/rods_rows.h"

// ---------------------------------------------------------------------------------------- right-hand side
// K u = b for displacements u, with T = R − 1 of the cells and d the direction a bone has now:
//
//   triangle  6 w T_j (v̄_k − c̄) at corner k: two edges, each counted twice, Σ (v̄_k − v̄_l) = 3 (v̄_k − c̄)
//
//   rail      w (T_j + T_p)(v̄_jk − v̄_pk) at the joint, against it at the parent
//
//   length    w_l/3 (ℓ d − (c̄_j − c̄_p)) at each corner of the joint, against it at the parent's

static void add_triangle( const tr_graph_lanes *g, const lane *turns, int j, const lane centre[3],
                          real weight )
{
    const lane *corners = (const lane *)g->reference + 9 * j, *turn = turns + 9 * j;
    lane *out = (lane *)g->next + 9 * j;
    for ( int k = 0; k < 3; ++k ) {
        lane arm[3];
        for ( int c = 0; c < 3; ++c )
            arm[c] = corners[3 * k + c] - centre[c];
        add_product( out + 3 * k, 6 * weight, turn, arm );
    }
}

static void add_rails( const tr_graph_lanes *g, const lane *turns, int j, int p, real weight )
{
    const lane *at = (const lane *)g->reference + 9 * j, *from = (const lane *)g->reference + 9 * p;
    const lane *turn_j = turns + 9 * j, *turn_p = turns + 9 * p;
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

static void add_length( const tr_graph_lanes *g, int j, int p, real weight )
{
    const lane *reach = ( (const rod *)g->rods )[j].reach;
    lane *out = (lane *)g->next + 9 * j, *against = (lane *)g->next + 9 * p;
    for ( int c = 0; c < 3; ++c ) {
        lane pull = (real)( weight / 3 ) * reach[c];
        for ( int k = 0; k < 9; k += 3 ) {
            out[k + c] += pull;
            against[k + c] -= pull;
        }
    }
}

static void right_hand_side( const tr_graph_lanes *g, const lane *turns )
{
    const tr_posegraph_def *def = &g->graph->def;
    const lane *reference = g->reference;
    lane *next = g->next;
    for ( int i = 0; i < 9 * g->graph->joint_count; ++i )
        next[i] = lane_all( 0 );
    for ( int j = 0; j < g->graph->joint_count; ++j ) {
        int p = g->graph->parents[j];
        lane centre[3];
        centroid( reference + 9 * j, centre );
        add_triangle( g, turns, j, centre, (real)def->edge );
        if ( p < 0 )
            continue;
        add_rails( g, turns, j, p, (real)def->edge );
        if ( def->length > 0 )
            add_length( g, j, p, (real)def->length );
    }
}

// ----------------------------------------------------------------------------------------------- rotations
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
// Rounds of rotations, then positions. Graphs that rows join in a lane stop together, others separately; a
// graph that has stopped in all lanes is skipped.

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
        if ( !work->warm ) {
            memset( g->displacement, 0, 9 * joints * sizeof( lane ) );
            for ( size_t k = 0; k < 4 * joints; ++k )
                ( (lane *)g->quats )[k] = lane_all( k % 4 == 3 ? 1 : 0 );
        }
        for ( size_t j = 0; j < joints; ++j ) {
            const lane *q = (const lane *)g->quats + 4 * j;
            lane_turn( ( lane_quat ){ q[0], q[1], q[2], q[3] }, (lane *)g->turns + 9 * j );
        }
        memset( m, 0, sizeof *m );
        m->running = ~( lane_mask ){ 0 };
        m->share = lane_all( 1 );
        rods_start( g );
        aim_bones( g, false );
    }
}

// Rotations and directions, each cell separately.
static void local_step( tr_block_work *work )
{
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) ) {
            fit_rotations( &work->graphs[i], work->def.fit_steps, rounds_of( work, i )->running );
            aim_bones( &work->graphs[i], false );
        }
}

// Where the stiffness of a graph's rods has to be computed again: the last one is good enough while rounds
// move little, but not for ever. Decided lane by lane, so that no frame depends on the others of its block.
static lane_mask stale( const tr_block_work *work, int graph, int round )
{
    const rounds *m = rounds_of( work, graph );
    const tr_rod_def *def = &work->def.rods;
    return round % def->kept_rounds == 1
               ? m->running
               : m->running & ( m->change >= (real)( def->stale * work->def.tolerance ) );
}

// Stiffness of the rods with all rows, unless no frame needs it anew.
static void rods_stiffen( tr_block_work *work, int round )
{
    lane_mask any = { 0 };
    for ( int i = 0; i < work->graph_count; ++i )
        any |= stale( work, i, round );
    if ( !lane_any( any ) )
        return;
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            rods_clear( &work->graphs[i], stale( work, i, round ) );
    for ( int i = 0; i < work->block.active_count; ++i )
        if ( is_spring( work, i ) && runs( work, active_row( work, i )->tree[0] ) )
            add_spring( work, i );
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            rods_factor( &work->graphs[i], &work->def.rods );
    rods_join( work );
}

// The same by a step of the rods.
static void rods_step( tr_block_work *work, int round )
{
    rods_stiffen( work, round );
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            rods_load( &work->graphs[i] );
    rods_hold_rows( work );
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            rods_apply( &work->graphs[i], (real)work->def.rods.turn_max );
}

// Positions for the current rotations, of all graphs that run, into `next`.
static void global_step( tr_block_work *work )
{
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) ) {
            right_hand_side( &work->graphs[i], work->graphs[i].turns );
            tr_block_tree_solve( &work->block, i, work->graphs[i].next );
        }
    tr_block_rows_solve( &work->block );
    for ( int i = 0; i < work->graph_count; ++i )
        if ( runs( work, i ) )
            tr_block_tree_correct( &work->block, i, work->graphs[i].next );
}

// u ← next where a lane still runs, and the largest change of a coordinate in each lane.
static void advance( const tr_graph_lanes *g )
{
    int count = 9 * g->graph->joint_count;
    rounds *m = g->rounds;
    lane *u = g->displacement, change = lane_all( 0 );
    const lane *next = g->next;
    for ( int i = 0; i < count; ++i ) {
        lane step = next[i] - u[i];
        change = lane_max( change, lane_max( step, -step ) );
        u[i] = lane_select( m->running, next[i], u[i] );
    }
    m->change = lane_select( m->running, change, m->change );
}

// Lane by lane, the graphs of a component get the largest change among them.
static void share_change( const tr_block_work *work )
{
    for ( int way = 0; way < 2; ++way ) // to the first of the component, then back
        for ( int g = 0; g < work->graph_count; ++g )
            for ( int l = 0; l < LANES; ++l ) {
                real *own = (real *)&rounds_of( work, g )->change + l;
                real *all =
                    (real *)&rounds_of( work, work->component[l * work->graph_count + g] )->change + l;
                if ( way == 1 )
                    *own = *all;
                else if ( *own > *all )
                    *all = *own;
            }
}

// A lane stops when a round moved nothing by more than the tolerance, or is not finite; stopped lanes keep
// their numbers. Where a round moved more than the one before, steps have been too long.
static bool stop_resting( tr_block_work *work )
{
    const real least = (real)work->def.rods.share_min, growth = (real)work->def.rods.share_growth;
    lane_mask any = { 0 }, before = { 0 };
    for ( int i = 0; i < work->graph_count; ++i ) {
        rounds *m = rounds_of( work, i );
        before |= m->running;
        lane_mask worse = ( m->change > m->last ) & ( m->last > 0 );
        m->share = lane_select( worse, lane_max( (real)0.5 * m->share, lane_all( least ) ),
                                -lane_max( -growth * m->share, lane_all( -1 ) ) );
        m->last = m->change;
        m->running &= m->change >= (real)work->def.tolerance;
        any |= m->running;
    }
    for ( int l = 0; l < LANES; ++l )
        work->iterations[l] += before[l] != 0;
    return lane_any( any );
}

static void finish( tr_block_work *work )
{
    lane change = lane_all( 0 );
    for ( int i = 0; i < work->graph_count; ++i ) {
        change = lane_max( change, rounds_of( work, i )->change );
        if ( work->graphs[i].rotations_wanted )
            fit_rotations( &work->graphs[i], work->def.fit_steps, ~( lane_mask ){ 0 } );
    }
    for ( int l = 0; l < LANES; ++l )
        work->change[l] = change[l];
}

void KERNEL( deform )( tr_block_work *work )
{
    tr_block_factor( &work->block );
    start( work );
    bool going = true;
    for ( int round = 0; going && round < work->def.max_iterations && tr_work_wanted(); ++round ) {
        if ( round > 0 && work->def.newton )
            rods_step( work, round );
        else if ( round > 0 )
            local_step( work );
        global_step( work );
        for ( int i = 0; i < work->graph_count; ++i )
            if ( runs( work, i ) )
                advance( &work->graphs[i] );
        share_change( work );
        going = stop_resting( work );
    }
    finish( work );
}
