// Rows of the rods' step. Part of kernel.h, which includes it after rods.h.
//
// A row that holds a single joint of one graph is a spring between that joint and the world: it is extended
// by s δc + ω × t, and D += Jᵀ C⁻¹ J, C its compliance. The tree keeps its shape, so such rows cost next to
// nothing.
//
// The others join the trees as in src/solve, by their small system over all graphs, here in 3×3 blocks
// because axes are coupled. Two equal rows leave no pivot; a little of each row's own flexibility as
// compliance (row_give) keeps one.
//
// A row that pulls corners apart does not turn the cell as far: see `soft` in posegraph.h.

// The numbers of an active row. Y of an end is [path length][6][3] lanes.
static inline lane *row_end( const tr_block_work *work, int row, int end )
{
    return (lane *)work->rod_ends + 18 * (size_t)work->rod_begin[2 * row + end];
}

static const tr_port_path *path_of( const tr_block_work *work, const tr_port_row *row, int end )
{
    return &work->cluster->paths[row->tree[end]][row->port[end]];
}

static const tr_port_row *active_row( const tr_block_work *work, int i )
{
    return &work->block.system->rows[work->block.active[i]];
}

// Whether the row has become a spring of its joint.
static inline bool is_spring( const tr_block_work *work, int i )
{
    const tr_port_row *row = active_row( work, i );
    return row->tree[1] < 0 && path_of( work, row, 0 )->lone >= 0;
}

// Where the weighted corners of a joint are from its centre, as its cell has turned them.
static inline void node_arm( const tr_graph_lanes *g, const tr_path_node *node, lane t[3] )
{
    const lane *corners = (const lane *)g->reference + 9 * node->joint;
    lane centre[3], arm[3];
    centroid( corners, centre );
    for ( int c = 0; c < 3; ++c )
        t[c] = arm[c] = (real)node->weights[0] * ( corners[c] - centre[c] ) +
                        (real)node->weights[1] * ( corners[3 + c] - centre[c] ) +
                        (real)node->weights[2] * ( corners[6 + c] - centre[c] );
    add_product( t, 1, ( (const rod *)g->rods )[node->joint].turn, arm );
}

// ------------------------------------------------------------------------------------------------ springs
// Two rows that pull corners of one joint apart do so through the same triangle, so C is theirs together:
//   C = ( c_k  m c_k ;  m c_k  c_i ),  D += J_kᵀ J_k / c_k + (J_i − m J_k)ᵀ (J_i − m J_k) / (c_i − m² c_k).

typedef struct spring {
    real s;
    lane t[3], c[3]; // c: compliance per axis
} spring;

static inline real soft_product( const tr_path_node *a, const tr_path_node *b )
{
    return (real)( a->soft[0] * b->soft[0] + a->soft[1] * b->soft[1] + a->soft[2] * b->soft[2] );
}

static inline const tr_path_node *lone_node( const tr_block_work *work, int i )
{
    const tr_port_path *path = path_of( work, active_row( work, i ), 0 );
    return &path->nodes[path->lone];
}

static inline void find_spring( const tr_block_work *work, int i, spring *out )
{
    const tr_path_node *node = lone_node( work, i );
    const tr_graph_lanes *g = &work->graphs[active_row( work, i )->tree[0]];
    const lane *compliance = (const lane *)work->block.compliance + 3 * i;
    real give = soft_product( node, node ) + (real)( work->def.rods.spring_give / g->graph->def.edge );
    out->s = (real)( node->weights[0] + node->weights[1] + node->weights[2] );
    node_arm( g, node, out->t );
    for ( int c = 0; c < 3; ++c )
        out->c[c] = compliance[c] + give;
}

// D += Jᵀ J / c for one axis of a spring: J has s at the axis' own shift, and the axis' column of [t]ₓ.
static inline void add_spring_axis( lane *d, int axis, lane s, const lane t[3], lane w )
{
    int next = ( axis + 1 ) % 3, last = ( axis + 2 ) % 3, high = next > last ? next : last,
        less = next + last - high;
    lane x = w * t[last], y = w * t[next], both = y * t[last];
    d[low( axis, axis )] += w * s * s;
    d[low( 3 + next, axis )] += s * x;
    d[low( 3 + last, axis )] -= s * y;
    d[low( 3 + next, 3 + next )] += x * t[last];
    d[low( 3 + last, 3 + last )] += y * t[next];
    d[low( 3 + high, 3 + less )] -= both;
}

static void add_spring( const tr_block_work *work, int i )
{
    const lane *compliance = work->block.compliance;
    int k = work->rod_pair[i];
    const tr_path_node *node = lone_node( work, i );
    lane *d = ( (rod *)work->graphs[active_row( work, i )->tree[0]].rods )[node->joint].lower;
    spring own, other = { 0 };
    find_spring( work, i, &own );
    if ( k >= 0 )
        find_spring( work, k, &other );
    real shared = k >= 0 ? soft_product( node, lone_node( work, k ) ) : 0;
    for ( int c = 0; c < 3; ++c ) {
        lane s = lane_all( own.s ), t[3] = { own.t[0], own.t[1], own.t[2] }, give = own.c[c];
        if ( k >= 0 ) {
            lane m = lane_select( compliance[3 * k + c] >= 0, shared / other.c[c], lane_all( 0 ) );
            s -= m * other.s;
            for ( int n = 0; n < 3; ++n )
                t[n] -= m * other.t[n];
            give -= m * shared;
        }
        lane w = lane_select( compliance[3 * i + c] >= 0, 1 / give, lane_all( 0 ) );
        add_spring_axis( d, c, s, t, w );
    }
}

// -------------------------------------------------------------------------------------------------- links

// Y = L⁻¹ Jᵀ: the point moves by s δc + ω × t, with s and t the sums of its weights and weighted arms at a
// joint.
static void end_response( const tr_block_work *work, const tr_port_row *row, int end, lane *y )
{
    const tr_port_path *path = path_of( work, row, end );
    const tr_graph_lanes *g = &work->graphs[row->tree[end]];
    const rod *rods = g->rods;
    memset( y, 0, 18 * (size_t)path->count * sizeof( lane ) );
    for ( int i = 0; i < path->count; ++i ) {
        const tr_path_node *node = &path->nodes[i];
        lane *own = y + 18 * i;
        if ( node->acts ) {
            lane t[3];
            node_arm( g, node, t );
            for ( int c = 0; c < 3; ++c )
                own[4 * c] += (real)( node->weights[0] + node->weights[1] + node->weights[2] );
            own[9 + 1] -= t[2], own[9 + 2] += t[1]; // rows of [t]ₓ
            own[12 + 0] += t[2], own[12 + 2] -= t[0];
            own[15 + 0] -= t[1], own[15 + 1] += t[0];
        }
        lower_solve( rods[node->joint].lower, own, 3 );
        if ( node->up >= 0 )
            pass_up( rods[node->joint].up, own, y + 18 * node->up, 3 );
    }
}

// out ± Σ over common joints of Y_aᵀ Y_b
static void add_coupling( const tr_port_path *a, const lane *ya, const tr_port_path *b, const lane *yb,
                          real sign, lane out[9] )
{
    lane sum[9];
    for ( int i = 0; i < 9; ++i )
        sum[i] = lane_all( 0 );
    for ( int i = 0, k = 0; i < a->count && k < b->count; ) {
        int first = a->nodes[i].joint, second = b->nodes[k].joint;
        if ( first == second ) {
            const lane *x = ya + 18 * i, *y = yb + 18 * k;
            for ( int n = 0; n < 18; n += 3 )
                for ( int r = 0; r < 3; ++r )
                    for ( int c = 0; c < 3; ++c )
                        sum[3 * r + c] = lane_mad( x[n + r], y[n + c], sum[3 * r + c] );
            const double *p = a->nodes[i].soft, *q = b->nodes[k].soft;
            lane soft = lane_all( (real)( p[0] * q[0] + p[1] * q[1] + p[2] * q[2] ) );
            sum[0] += soft, sum[4] += soft, sum[8] += soft;
        }
        i += first >= second; // from the tips to the root
        k += second >= first;
    }
    for ( int i = 0; i < 9; ++i )
        out[i] += sign * sum[i];
}

static void row_coupling( const tr_block_work *work, int i, int k, lane out[9] )
{
    const tr_port_row *a = active_row( work, i ), *b = active_row( work, k );
    for ( int n = 0; n < 9; ++n )
        out[n] = lane_all( 0 );
    for ( int e = 0; e < 2 && a->tree[e] >= 0; ++e )
        for ( int f = 0; f < 2 && b->tree[f] >= 0; ++f )
            if ( a->tree[e] == b->tree[f] )
                add_coupling( path_of( work, a, e ), row_end( work, i, e ), path_of( work, b, f ),
                              row_end( work, k, f ), e == f ? 1 : -1, out );
}

// A row counts where it is on and its graphs still move.
static inline lane_mask row_on( const tr_block_work *work, int i, int axis )
{
    const lane *compliance = work->block.compliance;
    return ( compliance[3 * i + axis] >= 0 ) & rounds_of( work, active_row( work, i )->tree[0] )->running;
}

static bool row_counts( const tr_block_work *work, int i )
{
    return lane_any( row_on( work, i, 0 ) | row_on( work, i, 1 ) | row_on( work, i, 2 ) );
}

static inline lane *row_block( const tr_block_work *work, int i, int k )
{
    return (lane *)work->rod_factor + 9 * (size_t)( work->block.begin[i] + k - work->block.first[i] );
}

// x ← x − Σ over the columns both share of L_in L_knᵀ
static void subtract_columns( const tr_block_work *work, int i, int k, lane s[9] )
{
    const tr_block *block = &work->block;
    int from = block->first[i] > block->first[k] ? block->first[i] : block->first[k];
    for ( int n = from; n < k; ++n ) {
        if ( !work->rod_counts[n] )
            continue;
        const lane *x = row_block( work, i, n ), *y = row_block( work, k, n );
        for ( int r = 0; r < 3; ++r )
            for ( int c = 0; c < 3; ++c )
                for ( int a = 0; a < 3; ++a )
                    s[3 * r + c] = lane_msub( s[3 * r + c], x[3 * r + a], y[3 * c + a] );
    }
}

// Cholesky of a diagonal block, in place: lower triangle, diagonal entries inverted. Axes that are off are
// decoupled.
static void factor_diagonal( const tr_block_work *work, int i, lane s[9], lane flexibility )
{
    const lane *compliance = work->block.compliance;
    const real tiny = (real)1e-20, pivot_min = (real)work->def.rods.row_pivot; // tiny: in place of 0
    lane give = (real)work->def.rods.row_give * flexibility + tiny;
    for ( int r = 0; r < 3; ++r ) {
        lane_mask on = row_on( work, i, r );
        lane pivot = lane_select( on, s[4 * r] + compliance[3 * i + r] + give, lane_all( 1 ) );
        for ( int c = 0; c < r; ++c ) {
            for ( int k = 0; k < c; ++k )
                s[3 * r + c] -= s[3 * r + k] * s[3 * c + k];
            s[3 * r + c] *= s[4 * c];
            pivot -= s[3 * r + c] * s[3 * r + c];
        }
        s[4 * r] = 1 / lane_sqrt( lane_max( pivot, pivot_min * give ) );
    }
}

static void rods_factor_row( const tr_block_work *work, int i )
{
    for ( int k = work->block.first[i]; k <= i; ++k ) {
        if ( !work->rod_counts[k] )
            continue;
        lane *s = row_block( work, i, k );
        row_coupling( work, i, k, s );
        lane flexibility = s[0] + s[4] + s[8];
        for ( int r = 0; r < 3; ++r )
            for ( int c = 0; c < 3; ++c )
                s[3 * r + c] =
                    lane_select( row_on( work, i, r ) & row_on( work, k, c ), s[3 * r + c], lane_all( 0 ) );
        subtract_columns( work, i, k, s );
        if ( k == i ) {
            factor_diagonal( work, i, s, flexibility );
            continue;
        }
        const lane *l = row_block( work, k, k );
        for ( lane *x = s; x < s + 9; x += 3 ) {
            x[0] *= l[0];
            x[1] = ( x[1] - x[0] * l[3] ) * l[4];
            x[2] = ( x[2] - x[0] * l[6] - x[1] * l[7] ) * l[8];
        }
    }
}

// How far the forces alone would move a row.
static void row_response( const tr_block_work *work, int i, lane sum[3] )
{
    const tr_port_row *row = active_row( work, i );
    for ( int c = 0; c < 3; ++c )
        sum[c] = lane_all( 0 );
    for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
        const tr_port_path *path = path_of( work, row, e );
        const lane *y = row_end( work, i, e );
        const rod *rods = work->graphs[row->tree[e]].rods;
        for ( int n = 0; n < path->count; ++n )
            for ( int r = 0; r < 6; ++r, y += 3 ) {
                lane z = rods[path->nodes[n].joint].z[r];
                for ( int c = 0; c < 3; ++c )
                    sum[c] = lane_mad( y[c], e == 0 ? z : -z, sum[c] );
            }
    }
    for ( int c = 0; c < 3; ++c )
        sum[c] = lane_select( row_on( work, i, c ), sum[c], lane_all( 0 ) );
}

// Subtracts a row's pull from the forces at its ends.
static void row_pull( const tr_block_work *work, int i, const lane force[3] )
{
    const tr_port_row *row = active_row( work, i );
    for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
        const tr_port_path *path = path_of( work, row, e );
        const lane *y = row_end( work, i, e );
        rod *rods = work->graphs[row->tree[e]].rods;
        for ( int n = 0; n < path->count; ++n )
            for ( int r = 0; r < 6; ++r, y += 3 ) {
                lane *z = &rods[path->nodes[n].joint].z[r];
                for ( int c = 0; c < 3; ++c )
                    *z = lane_mad( y[c], e == 0 ? -force[c] : force[c], *z );
            }
    }
}

// L x = b for one row, after those before it.
static void row_forward( const tr_block_work *work, int i, lane *forces )
{
    lane sum[3], *x = forces + 3 * i;
    row_response( work, i, sum );
    for ( int k = work->block.first[i]; k < i; ++k ) {
        const lane *s = row_block( work, i, k ), *y = forces + 3 * k;
        bool meet = work->rod_counts[k];
        for ( int c = 0; meet && c < 3; ++c )
            sum[c] = lane_msub( lane_msub( lane_msub( sum[c], s[3 * c], y[0] ), s[3 * c + 1], y[1] ),
                                s[3 * c + 2], y[2] );
    }
    const lane *l = row_block( work, i, i );
    x[0] = sum[0] * l[0];
    x[1] = ( sum[1] - l[3] * x[0] ) * l[4];
    x[2] = ( sum[2] - l[6] * x[0] - l[7] * x[1] ) * l[8];
}

static void row_backward( const tr_block_work *work, int i, lane *forces )
{
    const lane *l = row_block( work, i, i );
    lane *x = forces + 3 * i;
    x[2] = x[2] * l[8];
    x[1] = ( x[1] - l[7] * x[2] ) * l[4];
    x[0] = ( x[0] - l[3] * x[1] - l[6] * x[2] ) * l[0];
    for ( int k = work->block.first[i]; k < i; ++k ) {
        const lane *s = row_block( work, i, k );
        bool meet = work->rod_counts[k];
        for ( int c = 0; meet && c < 3; ++c )
            forces[3 * k + c] = lane_msub(
                lane_msub( lane_msub( forces[3 * k + c], s[c], x[0] ), s[3 + c], x[1] ), s[6 + c], x[2] );
    }
}

// Joins the rods that have been eliminated by the rows that count.
static void rods_join( const tr_block_work *work )
{
    for ( int i = 0; i < work->block.active_count; ++i ) {
        const tr_port_row *row = active_row( work, i );
        work->rod_counts[i] = !is_spring( work, i ) && row_counts( work, i );
        for ( int e = 0; work->rod_counts[i] && e < 2 && row->tree[e] >= 0; ++e )
            end_response( work, row, e, row_end( work, i, e ) );
        if ( work->rod_counts[i] )
            rods_factor_row( work, i );
    }
}

// Forces of the rows that keep their values as they are, subtracted from those of the rods.
static void rods_hold_rows( const tr_block_work *work )
{
    int count = work->block.active_count;
    lane *forces = work->rod_force;
    for ( int i = 0; i < count; ++i ) {
        work->rod_counts[i] = work->rod_counts[i] && row_counts( work, i );
        if ( work->rod_counts[i] )
            row_forward( work, i, forces );
    }
    for ( int i = count - 1; i >= 0; --i )
        if ( work->rod_counts[i] )
            row_backward( work, i, forces );
    for ( int i = 0; i < count; ++i )
        if ( work->rod_counts[i] )
            row_pull( work, i, forces + 3 * i );
}
