// Gauss–Newton step of the deformation, for the rotations of all cells at once. Part of kernel.h, which
// includes it.
//
// Alternating rotations and positions is slow where a whole limb turns: every cell waits for its neighbours.
// But if each triangle turns with its cell, a graph is a tree of rods: a joint has six unknowns, a shift δc
// and a turn ω, and the energy of a bone b from p to j, with x = R_j b̄ and y = R_p b̄ the bone turned with
// either end, is to second order
//
//   3 w ‖δb + x × ω_j‖² + 3 w ‖δb + y × ω_p‖²    three rails, in the cells of both ends; δb = δc_j − δc_p
//   + w (ω_j − ω_p)ᵀ (A_j + A_p) (ω_j − ω_p)     their differences: A = Σ over corners ‖a‖² − a aᵀ
//   + w_l (d · δb)²                              the length, along its direction d
//   + 3 w_a ‖δc_j‖² + w_a ωᵀ A_j ω               the anchor
//
// (Gauss–Newton: bones count as if they lay where their cells have them). Only a part of the second line
// counts, corner_stiffness: corners give way where cells next to each other turn differently. At a lone bone
// three fifths of it are right, and all of it where a chain turns evenly; with seven tenths a round leaves a
// third of the error, with all of it half. This gives a positive definite matrix of 6×6 blocks on the tree,
// eliminated from the tips to the root. Its right-hand side is the residual of the last positions: the torque
// on each cell, and the change of the bones' directions.
//
// Rows are in rods_rows.h.
//
// Only rotations and directions are taken from the step. The positions that follow are exact for them, so
// these approximations (tr_rod_def) affect neither the result nor the rows, only the number of rounds.

#define NO_BONE 1e-12 // m²: shorter bones have no direction

typedef struct rod { // one joint
    lane bone[3];    // b̄, reference
    lane reach[3];   // ℓ d − b̄ as it entered the last right-hand side
    lane inertia[6]; // A of the reference: xx, yy, zz, xy, xz, yz
    lane turn[9];    // R − 1 and the bone b that the stiffness is for
    lane now[3];
    lane lower[21]; // D, then L of D = L Lᵀ, row by row; diagonal entries of L inverted
    lane up[36];    // W = L⁻¹ K(j, p)
    lane z[6];      // forces, then L⁻¹ of them, then δc and ω
} rod;

_Static_assert( sizeof( rod ) == TR_ROD_LANES * LANE_BYTES, "as the scratch is laid out" );

static inline int low( int r, int c ) // place in a lower triangle
{
    return r * ( r + 1 ) / 2 + c;
}

// -------------------------------------------------------------------------------------------------- bones

static void rods_start( const tr_graph_lanes *g )
{
    const lane *reference = g->reference;
    rod *rods = g->rods;
    for ( int j = 0; j < g->graph->joint_count; ++j ) {
        int p = g->graph->parents[j];
        lane centre[3], parent[3] = { lane_all( 0 ), lane_all( 0 ), lane_all( 0 ) };
        centroid( reference + 9 * j, centre );
        if ( p >= 0 )
            centroid( reference + 9 * p, parent );
        rod *own = &rods[j];
        for ( int c = 0; c < 3; ++c ) {
            own->bone[c] = own->now[c] = p >= 0 ? centre[c] - parent[c] : lane_all( 0 );
            own->reach[c] = lane_all( 0 );
        }
        memset( own->turn, 0, sizeof own->turn );
        for ( int i = 0; i < 6; ++i )
            own->inertia[i] = lane_all( 0 );
        for ( int k = 0; k < 9; k += 3 ) {
            lane a[3];
            for ( int c = 0; c < 3; ++c )
                a[c] = reference[9 * j + k + c] - centre[c];
            own->inertia[0] += a[1] * a[1] + a[2] * a[2];
            own->inertia[1] += a[0] * a[0] + a[2] * a[2];
            own->inertia[2] += a[0] * a[0] + a[1] * a[1];
            own->inertia[3] -= a[0] * a[1];
            own->inertia[4] -= a[0] * a[2];
            own->inertia[5] -= a[1] * a[2];
        }
    }
}

// ℓ d − b̄ = (ℓ/|b| − 1) b + (b − b̄), with b the bone now and b − b̄ its displacement.
static inline void reach_of( const rod *own, real length, const lane moved[3], lane reach[3] )
{
    lane now[3], square = lane_all( 0 );
    for ( int c = 0; c < 3; ++c ) {
        now[c] = own->bone[c] + moved[c];
        square += now[c] * now[c];
    }
    lane_mask real_bone = square > (real)NO_BONE;
    lane ratio = lane_all( length ) / lane_sqrt( lane_select( real_bone, square, lane_all( 1 ) ) );
    lane stretch = lane_select( real_bone, ratio - 1, lane_all( 0 ) );
    for ( int c = 0; c < 3; ++c )
        reach[c] = stretch * now[c] + moved[c];
}

// How far the bone above j has been displaced.
static inline void bone_moved( const tr_graph_lanes *g, int j, int p, lane moved[3] )
{
    lane from[3];
    centroid( (const lane *)g->displacement + 9 * j, moved );
    centroid( (const lane *)g->displacement + 9 * p, from );
    for ( int c = 0; c < 3; ++c )
        moved[c] -= from[c];
}

// Directions for the next right-hand side: of the bones now, or after the last step of the rods.
static void aim_bones( const tr_graph_lanes *g, bool stepped )
{
    rod *rods = g->rods;
    lane share = ( (const rounds *)g->rounds )->share;
    for ( int j = 0; j < g->graph->joint_count; ++j ) {
        int p = g->graph->parents[j];
        if ( p < 0 )
            continue;
        lane moved[3];
        bone_moved( g, j, p, moved );
        for ( int c = 0; stepped && c < 3; ++c )
            moved[c] += share * ( rods[j].z[c] - rods[p].z[c] );
        reach_of( &rods[j], (real)g->graph->lengths[j], moved, rods[j].reach );
    }
}

// ------------------------------------------------------------------------------------------------- stiffness

// A rail that turns with a cell: D += weight · (|x|² − x xᵀ) on the turns, ± weight · [x]ₓ between shift and
// turn.
static inline void add_lever( lane *d, real weight, real sign, const lane x[3] )
{
    lane wx = weight * x[0], wy = weight * x[1], wz = weight * x[2];
    d[low( 3, 3 )] += wy * x[1] + wz * x[2];
    d[low( 4, 4 )] += wx * x[0] + wz * x[2];
    d[low( 5, 5 )] += wx * x[0] + wy * x[1];
    d[low( 4, 3 )] -= wx * x[1];
    d[low( 5, 3 )] -= wx * x[2];
    d[low( 5, 4 )] -= wy * x[2];
    d[low( 3, 1 )] += sign * wz, d[low( 3, 2 )] -= sign * wy; // columns of [x]ₓ
    d[low( 4, 0 )] -= sign * wz, d[low( 4, 2 )] += sign * wx;
    d[low( 5, 0 )] += sign * wy, d[low( 5, 1 )] -= sign * wx;
}

static inline void add_inertia( lane *d, real weight, const lane a[6] )
{
    d[low( 3, 3 )] += weight * a[0];
    d[low( 4, 4 )] += weight * a[1];
    d[low( 5, 5 )] += weight * a[2];
    d[low( 4, 3 )] += weight * a[3];
    d[low( 5, 3 )] += weight * a[4];
    d[low( 5, 4 )] += weight * a[5];
}

// out = weight · [x]ₓ, rows six apart
static inline void put_cross( lane *out, real weight, const lane x[3] )
{
    lane wx = weight * x[0], wy = weight * x[1], wz = weight * x[2], none = lane_all( 0 );
    out[0] = none, out[1] = -wz, out[2] = wy;
    out[6] = wz, out[7] = none, out[8] = -wx;
    out[12] = -wy, out[13] = wx, out[14] = none;
}

// Stiffness of the shifts of both ends: two cells' rails, and the length along the bone.
static inline void add_stretch( const tr_graph_lanes *g, int j, int p, const lane now[3] )
{
    rod *own = (rod *)g->rods + j, *above = (rod *)g->rods + p;
    real across = (real)( 6 * g->graph->def.edge );
    lane square = now[0] * now[0] + now[1] * now[1] + now[2] * now[2];
    lane_mask real_bone = square > (real)NO_BONE;
    lane along = lane_select( real_bone, (real)g->graph->def.length / square, lane_all( 0 ) );
    for ( int r = 0; r < 3; ++r )
        for ( int c = 0; c < 3; ++c ) {
            lane stiff = along * now[r] * now[c];
            stiff = r == c ? stiff + across : stiff;
            own->up[6 * r + c] = -stiff;
            if ( c > r )
                continue;
            own->lower[low( r, c )] += stiff;
            above->lower[low( r, c )] += stiff;
        }
}

// The bone above j: its part of D of both ends, and K(j, p) into `up`.
static void add_bone( const tr_graph_lanes *g, int j, int p, real corner_stiffness )
{
    rod *own = (rod *)g->rods + j, *above = (rod *)g->rods + p;
    real edge = (real)g->graph->def.edge;
    lane x[3], y[3], a[6];
    for ( int c = 0; c < 3; ++c )
        x[c] = y[c] = own->bone[c];
    add_product( x, 1, own->turn, own->bone );
    add_product( y, 1, above->turn, own->bone );
    add_stretch( g, j, p, own->now );
    add_lever( own->lower, 3 * edge, 1, x );
    add_lever( above->lower, 3 * edge, -1, y );
    put_cross( own->up + 3, 3 * edge, y );
    put_cross( own->up + 18, 3 * edge, x );
    for ( int i = 0; i < 6; ++i )
        a[i] = corner_stiffness * edge * ( own->inertia[i] + above->inertia[i] );
    add_inertia( own->lower, 1, a );
    add_inertia( above->lower, 1, a );
    lane *k = own->up + 21;
    k[0] = -a[0], k[1] = k[6] = -a[3], k[2] = k[12] = -a[4];
    k[7] = -a[1], k[8] = k[13] = -a[5], k[14] = -a[2];
}

// The length of the bone above j, whose direction has changed since the last right-hand side.
static void add_pull( const tr_graph_lanes *g, int j, int p )
{
    rod *own = (rod *)g->rods + j, *above = (rod *)g->rods + p;
    lane moved[3], reach[3];
    bone_moved( g, j, p, moved );
    reach_of( own, (real)g->graph->lengths[j], moved, reach );
    for ( int c = 0; c < 3; ++c ) {
        lane pull = (real)g->graph->def.length * ( reach[c] - own->reach[c] );
        own->z[c] += pull;
        above->z[c] -= pull;
    }
}

// Torque of a cell: Σ w (R ē) × e over its edges; `cell` is Σ w e ēᵀ.
static inline void cell_torque( const lane cell[9], const lane turn[9], lane out[3] )
{
    lane n[9];
    for ( int r = 0; r < 3; ++r )
        for ( int c = 0; c < 3; ++c )
            n[3 * r + c] =
                lane_mad( cell[3 * r], turn[3 * c],
                          lane_mad( cell[3 * r + 1], turn[3 * c + 1],
                                    lane_mad( cell[3 * r + 2], turn[3 * c + 2], cell[3 * r + c] ) ) );
    out[0] = n[7] - n[5], out[1] = n[2] - n[6], out[2] = n[3] - n[1];
}

// ---------------------------------------------------------------------------------------------- elimination

// D = L Lᵀ. Pivots have a least value, since rounding may make them too small.
static inline void factor_joint( rod *own, real least )
{
    lane *d = own->lower;
    lane turn = least * ( own->inertia[0] + own->inertia[1] + own->inertia[2] );
    for ( int r = 0; r < 6; ++r )
        for ( int c = 0; c <= r; ++c ) {
            lane sum = d[low( r, c )];
            for ( int k = 0; k < c; ++k )
                sum = lane_msub( sum, d[low( r, k )], d[low( c, k )] );
            d[low( r, c )] = c < r ? sum * d[low( c, c )]
                                   : 1 / lane_sqrt( lane_max( sum, r < 3 ? lane_all( least ) : turn ) );
        }
}

// x ← L⁻¹ x for `count` columns: x [6][count]
static inline void lower_solve( const lane *l, lane *x, int count )
{
    for ( int r = 0; r < 6; ++r )
        for ( int c = 0; c < count; ++c ) {
            lane sum = x[count * r + c];
            for ( int k = 0; k < r; ++k )
                sum = lane_msub( sum, l[low( r, k )], x[count * k + c] );
            x[count * r + c] = sum * l[low( r, r )];
        }
}

// to ← to − Wᵀ x
static inline void pass_up( const lane *w, const lane *x, lane *to, int count )
{
    for ( int r = 0; r < 6; ++r )
        for ( int c = 0; c < count; ++c ) {
            lane sum = to[count * r + c];
            for ( int k = 0; k < 6; ++k )
                sum = lane_msub( sum, w[6 * k + r], x[count * k + c] );
            to[count * r + c] = sum;
        }
}

// D of the parent − Wᵀ W of the joint.
static inline void condense( const rod *own, rod *above )
{
    for ( int r = 0; r < 6; ++r )
        for ( int c = 0; c <= r; ++c ) {
            lane sum = above->lower[low( r, c )];
            for ( int k = 0; k < 6; ++k )
                sum = lane_msub( sum, own->up[6 * k + r], own->up[6 * k + c] );
            above->lower[low( r, c )] = sum;
        }
}

// Clears the stiffness: in the lanes of `anew` for the rods as they lie now, in others for the same as
// before.
static void rods_clear( const tr_graph_lanes *g, lane_mask anew )
{
    rod *rods = g->rods;
    const lane *turns = g->turns;
    for ( int j = 0; j < g->graph->joint_count; ++j, turns += 9 ) {
        int p = g->graph->parents[j];
        rod *own = &rods[j];
        lane moved[3];
        memset( own->lower, 0, sizeof own->lower );
        for ( int i = 0; i < 9; ++i )
            own->turn[i] = lane_select( anew, turns[i], own->turn[i] );
        if ( p < 0 )
            continue;
        bone_moved( g, j, p, moved );
        for ( int c = 0; c < 3; ++c )
            own->now[c] = lane_select( anew, own->bone[c] + moved[c], own->now[c] );
    }
}

// D and K of all joints and bones, eliminated. Children come after their parents: going backwards, a joint is
// complete when it is reached.
static void rods_factor( const tr_graph_lanes *g, const tr_rod_def *rod_def )
{
    const tr_posegraph_def *def = &g->graph->def;
    const real corner_stiffness = (real)rod_def->corner_stiffness,
               least = (real)( rod_def->pivot_min * def->edge );
    rod *rods = g->rods;
    int joints = g->graph->joint_count;
    for ( int j = joints - 1; j >= 0; --j ) {
        int p = g->graph->parents[j];
        rod *own = &rods[j];
        for ( int c = 0; c < 3; ++c )
            own->lower[low( c, c )] += (real)( 3 * def->anchor );
        add_inertia( own->lower, (real)def->anchor, own->inertia );
        if ( p >= 0 )
            add_bone( g, j, p, corner_stiffness );
        factor_joint( own, least );
        if ( p < 0 )
            continue;
        lower_solve( own->lower, own->up, 6 );
        condense( own, &rods[p] );
    }
}

// The right-hand side: torques of the cells and changes of the bones' directions, L⁻¹ of it into z.
static void rods_load( const tr_graph_lanes *g )
{
    const tr_posegraph_def *def = &g->graph->def;
    lane *cells = g->next;
    rod *rods = g->rods;
    int joints = g->graph->joint_count;
    memset( cells, 0, 9 * (size_t)joints * sizeof( lane ) );
    for ( int j = 0; j < joints; ++j )
        memset( rods[j].z, 0, sizeof rods[j].z );
    for ( int j = joints - 1; j >= 0; --j ) {
        int p = g->graph->parents[j];
        rod *own = &rods[j];
        lane torque[3];
        gather_cell( g, j, cells );
        cell_torque( cells + 9 * j, (const lane *)g->turns + 9 * j, torque );
        for ( int c = 0; c < 3; ++c )
            own->z[3 + c] += (real)def->edge * torque[c];
        if ( p >= 0 )
            add_pull( g, j, p );
        lower_solve( own->lower, own->z, 1 );
        if ( p >= 0 )
            pass_up( own->up, own->z, rods[p].z, 1 );
    }
}

// z ← L⁻ᵀ (z − W z of the parent)
static inline void upper_solve( rod *own, const rod *above )
{
    for ( int r = 0; above != NULL && r < 6; ++r )
        for ( int k = 0; k < 6; ++k )
            own->z[r] = lane_msub( own->z[r], own->up[6 * r + k], above->z[k] );
    for ( int r = 5; r >= 0; --r ) {
        lane sum = own->z[r];
        for ( int k = r + 1; k < 6; ++k )
            sum = lane_msub( sum, own->lower[low( k, r )], own->z[k] );
        own->z[r] = sum * own->lower[low( r, r )];
    }
}

// From L⁻¹ of the forces to δc and ω, root first; cells turn, bones are aimed.
static void rods_apply( const tr_graph_lanes *g, real turn_max )
{
    rod *rods = g->rods;
    const rounds *m = g->rounds;
    for ( int j = 0; j < g->graph->joint_count; ++j ) {
        int p = g->graph->parents[j];
        upper_solve( &rods[j], p < 0 ? NULL : &rods[p] );
        const lane *w = rods[j].z + 3;
        lane size = m->share * lane_sqrt( w[0] * w[0] + w[1] * w[1] + w[2] * w[2] );
        lane half = (real)0.5 * m->share * lane_select( size > turn_max, turn_max / size, lane_all( 1 ) );
        lane x = half * w[0], y = half * w[1], z = half * w[2], *q = (lane *)g->quats + 4 * j;
        lane n[4] = { q[0] + ( q[3] * x + y * q[2] - z * q[1] ), q[1] + ( q[3] * y + z * q[0] - x * q[2] ),
                      q[2] + ( q[3] * z + x * q[1] - y * q[0] ), q[3] - ( x * q[0] + y * q[1] + z * q[2] ) };
        lane scale = 1 / lane_sqrt( n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3] );
        for ( int c = 0; c < 4; ++c )
            q[c] = lane_select( m->running, n[c] * scale, q[c] );
        lane_turn( ( lane_quat ){ q[0], q[1], q[2], q[3] }, (lane *)g->turns + 9 * j );
    }
    aim_bones( g, true );
}
