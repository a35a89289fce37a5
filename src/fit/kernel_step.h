// Part of the fit's kernel: one step of Newton's method on the tree of joints, with the goals in dual form.
//
// The state is z_j with δ_j = S_j z_j, so that closeness is ½ |z|², and the root's shift in the same metric.
// The unknowns of a step are *absolute* turns: a_j is the small rotation of the frame of joint j in the
// world, whatever its parent does. They make both parts of the model short:
//
// Closeness couples a joint only with its parent p. With T_j = dω_j/dz_j the joint turns against its parent
// by a_j − a_p − ½ a_p × a_j + …, so, with A = T⁻ᵀ T⁻¹ and q = T⁻ᵀ z,
//   ½ |z_j + dz_j|² = ½ |z_j|² + q·(a_j − a_p) + ½ (a_j − a_p)ᵀ A (a_j − a_p) + ½ a_pᵀ [q]ₓ a_j + ….
// A point at the end of the bones b_j moves by Σ a_j × b_j + ½ a_j × (a_j × b_j), without products of two
// joints. Under the pull λ on the point the second term adds ½ aᵀ K a, K = (λ·b) I − ½ (λ bᵀ + b λᵀ): a taut
// limb resists being turned. Gauss–Newton leaves K out and oscillates at taut knees and elbows. A rotation
// goal depends on the turn of its own joint only.
//
// H is the Hessian of closeness plus the K of the last pulls. It is a tree of 3×3 blocks and is factored from
// the leaves to the root without fill. Each goal adds three rows N, c⁺ = c + N a, with weight W = ρ'(c)/c,
// which majorises ρ. There are few rows and many joints, so the step solves for the pulls λ = −W (c + N a):
//   ( N H⁻¹ Nᵀ + W⁻¹ ) λ = N H⁻¹ g − c,   a = H⁻¹ ( Nᵀ λ − g ),   g the gradient of closeness.
// y = L⁻¹ Nᵀ is non-zero only between a goal and the root. The cost is O(joints · rows) and a factor of the
// size of the rows. The compliance W⁻¹ of hard goals is small enough to meet them and large enough to keep
// contradictions solvable.
#include "fit/slot.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------- linear model

// Returns A of a joint in its current pose; sets `moment` to q and joint->dual to T⁻ᵀ. T = W J S, where W is
// the parent's world rotation and J w the turn of exp(δ) for a change w of δ. So T⁻ᵀ = W J⁻ᵀ S⁻ᵀ with J⁻ᵀ = 1
// + ½ [δ]ₓ + k [δ]ₓ². The columns of S are orthogonal, so those of S⁻ᵀ are the same divided by their squares.
static lane_sym linearise( const fit_slot *slot, fit_joint *joint, double stop, lane3 *moment )
{
    lane3 d = joint->delta, half = l3_scale( lane_all( 0.5 ), d ), kd = l3_scale( joint->rate, d );
    lane rest = 1 - l3_dot( d, kd );
    lane33 inverse = { { rest + kd.x * d.x, kd.x * d.y + half.z, kd.x * d.z - half.y },
                       { kd.y * d.x - half.z, rest + kd.y * d.y, kd.y * d.z + half.x },
                       { kd.z * d.x + half.y, kd.z * d.y - half.x, rest + kd.z * d.z } };
    lane33 axes = { l3_scale( joint->stiffness.x, joint->factor.cx ),
                    l3_scale( joint->stiffness.y, joint->factor.cy ),
                    l3_scale( joint->stiffness.z, joint->factor.cz ) };
    joint->dual = l33_mul( &inverse, &axes );
    if ( joint->parent >= 0 )
        joint->dual = l33_mul( &slot->joints[joint->parent].frame, &joint->dual );
    lane over = over_limits( joint, joint->z ), taut = over_slack( joint, joint->z );
    lane3 force = joint->z;
    force.x += stop * over - joint->tightening * taut * taut;
    *moment = l33_mulv( &joint->dual, force );
    lane_sym a = { 0 };
    lane one = lane_all( 1 );
    lane about_hinge = lane_select( over != 0, lane_all( 1 + stop ), one ) + 2 * joint->tightening * taut;
    sym_add_square( &a, about_hinge, joint->dual.cx );
    sym_add_square( &a, one, joint->dual.cy );
    sym_add_square( &a, one, joint->dual.cz );
    return a;
}

#define LEAST_WEIGHT 1e-9 // weight of a goal where it does not count, in place of 0

// Weight ρ'(c)/c of a task, and how much softer ρ is along c than across it: ρ'(c)/c = (1 + stretch) ρ''(c).
// Steps use the exact, softer value only for goals that do not come nearer: on the way to a goal it
// overshoots.
static void weigh( const tr_fit *fit, fit_task *task, lane_mask sharp )
{
    double size = fit->size;
    lane cc = l3_dot( task->c, task->c ), ee = task->softness * task->softness;
    lane near_square = ee + cc, wide_square = size * size + cc;
    lane near = task->force / lane_sqrt( near_square ), wide = task->steady / lane_sqrt( wide_square );
    task->weight = near + wide + task->spring;
    // A goal that asks for at least its place does not count where there is more.
    task->weight =
        lane_select( ( task->most == 0 ) & ( cc == 0 ), LEAST_WEIGHT * task->weight, task->weight );
    task->stretch = lane_all( 0 );
    sharp &= cc > fit->def.steps.nearer * task->before;
    if ( lane_any( sharp ) ) {
        lane along = near * ee / near_square + wide * ( size * size ) / wide_square + task->spring;
        task->stretch = lane_select( sharp, task->weight / along - 1, task->stretch );
    }
}

// ------------------------------------------------------------------------------------------------- factor

// Adds the K of every bone that the joint turns.
static void add_tension( fit_slot *slot, const fit_joint *joint, lane_sym *h )
{
    for ( int r = 0; r < joint->row_count; ++r ) {
        fit_row *row = &slot->rows[joint->first_row + r];
        const fit_task *task = &slot->tasks[row->task];
        if ( task->kind != TR_FIT_POSITION )
            continue;
        lane3 end = row->below >= 0 ? slot->joints[slot->rows[row->below].joint].position : task->reached;
        row->bone = l3_sub( end, joint->position );
        lane3 b = row->bone, p = task->followers > 0 ? task->sum : task->pull, x = l3_mul( p, b );
        lane3 half = l3_scale( lane_all( 0.5 ), p );
        h->xx += x.y + x.z;
        h->yy += x.x + x.z;
        h->zz += x.x + x.y;
        h->xy = lane_msub( lane_msub( h->xy, half.x, b.y ), half.y, b.x );
        h->xz = lane_msub( lane_msub( h->xz, half.x, b.z ), half.z, b.x );
        h->yz = lane_msub( lane_msub( h->yz, half.y, b.z ), half.z, b.y );
    }
}

// Σ |λ| |b|: a bound of how far below zero the eigenvalues of Σ K can be.
static lane largest_tension( const fit_slot *slot, const fit_joint *joint )
{
    lane most = lane_all( 0 );
    for ( int r = 0; r < joint->row_count; ++r ) {
        const fit_row *row = &slot->rows[joint->first_row + r];
        const fit_task *task = &slot->tasks[row->task];
        lane3 p = task->followers > 0 ? task->sum : task->pull;
        if ( task->kind == TR_FIT_POSITION )
            most += lane_sqrt( l3_dot( p, p ) * l3_dot( row->bone, row->bone ) );
    }
    return most;
}

typedef struct signs {  // signs of the pivots D
    lane_mask negative; // number of negative ones
    lane_mask none;     // a pivot is too near to zero
} signs;

// m = L D Lᵀ, where L has a unit diagonal.
static signs factor( const lane_sym *m, lane least, lane3 *l, lane3 *inverse )
{
    lane dx = m->xx;
    inverse->x = 1 / dx;
    l->x = m->xy * inverse->x, l->y = m->xz * inverse->x;
    lane dy = lane_msub( m->yy, l->x, m->xy );
    inverse->y = 1 / dy;
    l->z = lane_msub( m->yz, l->x, m->xz ) * inverse->y;
    lane dz = lane_msub( lane_msub( m->zz, l->y, m->xz ), l->z * l->z, dy );
    inverse->z = 1 / dz;
    signs s = { .negative = -( ( dx < 0 ) + ( dy < 0 ) + ( dz < 0 ) ) };
    s.none = ~( ( lane_abs( dx ) > least ) & ( lane_abs( dy ) > least ) & ( lane_abs( dz ) > least ) );
    return s;
}

static lane3 solve_lower( lane3 l, lane3 v ) // L x = v
{
    lane y = lane_msub( v.y, l.x, v.x );
    return ( lane3 ){ v.x, y, lane_msub( lane_msub( v.z, l.y, v.x ), l.z, y ) };
}

static lane3 solve_upper( lane3 l, lane3 v ) // Lᵀ x = v
{
    lane y = lane_msub( v.y, l.z, v.z );
    return ( lane3 ){ lane_msub( lane_msub( v.x, l.x, y ), l.y, v.z ), y, v.z };
}

// Factors the block of a joint after its children are eliminated. Limbs under pressure may make it
// indefinite. In lanes that must be convex, multiples of the identity are added until it is positive
// definite.
static signs factor_block( const fit_slot *slot, fit_joint *joint, lane_sym *h, lane_mask convex )
{
    lane unit = joint->stiffness.x; // about the hinge
    lane least = lane_select( convex, slot->steps->convex_pivot * unit, slot->steps->least_pivot * unit );
    signs s = factor( h, least, &joint->lower, &joint->pivots );
    lane_mask raised = convex & ( s.none | ( s.negative != 0 ) );
    if ( lane_any( raised ) ) {
        lane raise = lane_max( largest_tension( slot, joint ), slot->steps->raise * unit );
        for ( int i = 0; i < slot->steps->most_raises && lane_any( raised ); ++i, raise *= 2 ) {
            sym_add_diagonal( h, lane_select( raised, raise, lane_all( 0 ) ) );
            s = factor( h, least, &joint->lower, &joint->pivots );
            raised = convex & ( s.none | ( s.negative != 0 ) );
        }
    }
    return s;
}

// Eliminates a joint from the block of its mover: E = ½ [q]ₓ − A couples them, U Lᵀ = E, column by column.
static void eliminate( fit_joint *joint, const lane_sym *a, lane3 moment, fit_joint *mover )
{
    lane3 h = l3_scale( lane_all( 0.5 ), moment ), l = joint->lower;
    lane3 x = { -a->xx, h.z - a->xy, -h.y - a->xz };
    lane3 y = { -h.z - a->xy, -a->yy, h.x - a->yz };
    lane3 z = { h.y - a->xz, -h.x - a->yz, -a->zz };
    y = l3_mad( y, -l.x, x );
    z = l3_mad( l3_mad( z, -l.y, x ), -l.z, y );
    sym_add( &mover->hessian, a );
    sym_add_square( &mover->hessian, -joint->pivots.x, x );
    sym_add_square( &mover->hessian, -joint->pivots.y, y );
    sym_add_square( &mover->hessian, -joint->pivots.z, z );
    joint->upwards = ( lane33 ){ l3_scale( joint->pivots.x, x ), l3_scale( joint->pivots.y, y ),
                                 l3_scale( joint->pivots.z, z ) };
    lane3 passed = l3_add( moment, l33_mulv( &joint->upwards, joint->gradient ) );
    mover->gradient = l3_sub( mover->gradient, passed );
}

// Nᵀ of a task at a joint. Position: column i is b × e_i, since e_i · (a × b) = a · (b × e_i). Rotation, only
// at its own joint: a turn w changes the rotation vector c by w − ½ c × w + k c × (c × w); this is the
// transpose.
static lane33 transposed_row( const tr_fit *fit, const fit_task *task, const fit_row *row )
{
    lane3 b = row->bone, m = task->mask;
    lane zero = lane_all( 0 );
    if ( task->kind == TR_FIT_POSITION )
        return ( lane33 ){ { zero, m.x * b.z, -m.x * b.y },
                           { -m.y * b.z, zero, m.y * b.x },
                           { m.z * b.y, -m.z * b.x, zero } };
    if ( row->below >= 0 )
        return ( lane33 ){ l3_zero(), l3_zero(), l3_zero() };
    lane3 c = task->reached, h = l3_scale( lane_all( 0.5 ), c );
    lane3 kc = l3_scale( lane_exp_of( c ).rate, c );
    lane rest = 1 - l3_dot( c, kc ), arm = lane_all( fit->def.arm * fit->size );
    return ( lane33 ){
        l3_scale( arm * m.x, ( lane3 ){ rest + kc.x * c.x, kc.x * c.y + h.z, kc.x * c.z - h.y } ),
        l3_scale( arm * m.y, ( lane3 ){ kc.y * c.x - h.z, rest + kc.y * c.y, kc.y * c.z + h.x } ),
        l3_scale( arm * m.z, ( lane3 ){ kc.z * c.x + h.y, kc.z * c.y - h.x, rest + kc.z * c.z } ) };
}

static void build_rows( const tr_fit *fit, fit_slot *slot, const fit_joint *joint )
{
    for ( int r = 0; r < joint->row_count; ++r ) {
        fit_row *row = &slot->rows[joint->first_row + r];
        lane33 v = transposed_row( fit, &slot->tasks[row->task], row );
        if ( row->below >= 0 ) {
            const fit_row *below = &slot->rows[row->below];
            const lane33 *u = &slot->joints[below->joint].upwards;
            v.cx = l3_sub( v.cx, l33_mulv( u, below->y.cx ) );
            v.cy = l3_sub( v.cy, l33_mulv( u, below->y.cy ) );
            v.cz = l3_sub( v.cz, l33_mulv( u, below->y.cz ) );
        }
        row->y = ( lane33 ){ solve_lower( joint->lower, v.cx ), solve_lower( joint->lower, v.cy ),
                             solve_lower( joint->lower, v.cz ) };
    }
}

// Factors H and builds all rows, from the leaves to the root. The pose must be that of the current state.
static signs factor_tree( const tr_fit *fit, fit_slot *slot, lane_mask convex )
{
    signs all = { 0 };
    for ( int i = 0; i < slot->joint_count; ++i ) {
        slot->joints[i].hessian = ( lane_sym ){ 0 };
        slot->joints[i].gradient = l3_zero();
    }
    for ( int i = slot->joint_count - 1; i >= 0; --i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        lane3 moment;
        lane_sym a = linearise( slot, joint, fit->def.stop, &moment ), h = joint->hessian;
        sym_add( &h, &a );
        joint->gradient = l3_add( joint->gradient, moment );
        add_tension( slot, joint, &h );
        signs own = factor_block( slot, joint, &h, convex );
        joint->gradient = solve_lower( joint->lower, joint->gradient );
        all.negative += own.negative;
        all.none |= own.none;
        if ( joint->mover >= 0 )
            eliminate( joint, &a, moment, &slot->joints[joint->mover] );
        build_rows( fit, slot, joint );
    }
    return all;
}

// ------------------------------------------------------------------------------------------------- pulls

static inline void add_products( lane *block, int stride, const lane33 *a, const lane33 *b ) // += aᵀ b
{
    const lane3 *columns[3] = { &a->cx, &a->cy, &a->cz };
    for ( int r = 0; r < 3; ++r, block += stride ) {
        block[0] = l3_add_dot( block[0], *columns[r], b->cx );
        block[1] = l3_add_dot( block[1], *columns[r], b->cy );
        block[2] = l3_add_dot( block[2], *columns[r], b->cz );
    }
}

// The same for a block on the diagonal: its lower triangle is not needed.
static inline void add_own_products( lane *block, int stride, const lane33 *a, const lane33 *b )
{
    lane *second = block + stride, *third = second + stride;
    block[0] = l3_add_dot( block[0], a->cx, b->cx );
    block[1] = l3_add_dot( block[1], a->cx, b->cy );
    block[2] = l3_add_dot( block[2], a->cx, b->cz );
    second[1] = l3_add_dot( second[1], a->cy, b->cy );
    second[2] = l3_add_dot( second[2], a->cy, b->cz );
    third[2] = l3_add_dot( third[2], a->cz, b->cz );
}

static lane3 pull_of( const fit_slot *slot, int t )
{
    return ( lane3 ){ slot->rhs[3 * t], slot->rhs[3 * t + 1], slot->rhs[3 * t + 2] };
}

// Goals on one point have the same N. With W_i = ρ'' of each, they equal one goal with W = Σ W_i and slope Σ
// ρ'. Only this one, the leader, has rows; share_pulls computes the pulls of the others.

static lane_sym curvature( const fit_task *task ) // W_i
{
    lane_sym w = { .xx = task->weight, .yy = task->weight, .zz = task->weight };
    if ( lane_any( task->stretch != 0 ) )
        sym_add_square( &w, -task->weight * task->stretch / ( 1 + task->stretch ), l3_unit( task->c ) );
    return w;
}

static void gather_groups( fit_slot *slot )
{
    for ( int t = 0; t < slot->leader_count; ++t ) {
        fit_task *leader = &slot->tasks[t];
        if ( leader->followers == 0 )
            continue;
        leader->give = curvature( leader ); // W; inverted below
        leader->push = l3_scale( leader->weight, leader->c );
        leader->sum = leader->pull;
    }
    for ( int t = slot->leader_count; t < slot->task_count; ++t ) {
        const fit_task *task = &slot->tasks[t];
        fit_task *leader = &slot->tasks[task->leader];
        lane_sym w = curvature( task );
        sym_add( &leader->give, &w );
        leader->push = l3_mad( leader->push, task->weight, task->c );
        leader->sum = l3_add( leader->sum, task->pull );
    }
    for ( int t = 0; t < slot->leader_count; ++t ) {
        fit_task *leader = &slot->tasks[t];
        if ( leader->followers == 0 )
            continue;
        leader->give = sym_inverse( &leader->give );
        leader->push = sym_mulv( &leader->give, leader->push );
    }
}

// λ_i of every task. Tasks on one point have the same N x.
static void share_pulls( fit_slot *slot )
{
    for ( int t = 0; t < slot->leader_count; ++t )
        slot->tasks[t].pull_trial = pull_of( slot, t );
    for ( int t = slot->task_count - 1; t >= 0; --t ) { // leaders last
        fit_task *task = &slot->tasks[t];
        const fit_task *leader = &slot->tasks[task->leader];
        if ( leader->followers == 0 )
            continue;
        lane3 way = l3_add( sym_mulv( &leader->give, pull_of( slot, task->leader ) ), leader->push ); // − N x
        lane_sym w = curvature( task );
        task->pull_trial = l3_sub( sym_mulv( &w, way ), l3_scale( task->weight, task->c ) );
    }
}

// Adds the compliance of the root's shift and of the goal itself. Rows of masked axes have nothing else.
static void assemble_task( fit_slot *slot, int t )
{
    int m = 3 * slot->leader_count;
    const fit_task *task = &slot->tasks[t];
    bool alone = task->followers == 0;
    double give = slot->shift_scale * slot->shift_scale;
    lane3 rhs = alone ? l3_scale( -( 1 + task->stretch ), task->c ) : l3_sub( l3_zero(), task->push );
    for ( int u = t; u < slot->leader_count && task->kind == TR_FIT_POSITION; ++u ) {
        if ( slot->tasks[u].kind != TR_FIT_POSITION )
            continue;
        lane3 both = l3_mul( task->mask, slot->tasks[u].mask );
        lane *block = slot->normal + (size_t)3 * t * m + 3 * u;
        block[0] += give * both.x;
        block[m + 1] += give * both.y;
        block[2 * ( m + 1 )] += give * both.z;
    }
    if ( task->kind == TR_FIT_POSITION )
        rhs = l3_mad( rhs, lane_all( slot->shift_scale ), l3_mul( task->mask, slot->shift ) );
    slot->rhs[3 * t] = rhs.x, slot->rhs[3 * t + 1] = rhs.y, slot->rhs[3 * t + 2] = rhs.z;
    lane *own = slot->normal + (size_t)3 * t * ( m + 1 ), compliance = 1 / task->weight;
    lane_sym more = task->give;
    if ( alone ) {
        own[0] += compliance;
        own[m + 1] += compliance;
        own[2 * ( m + 1 )] += compliance;
        more = ( lane_sym ){ 0 };
        if ( lane_any( task->stretch != 0 ) )
            sym_add_square( &more, task->stretch * compliance, l3_unit( task->c ) );
    }
    if ( !alone || lane_any( task->stretch != 0 ) ) {
        own[0] += more.xx, own[1] += more.xy, own[2] += more.xz;
        own[m + 1] += more.yy, own[m + 2] += more.yz;
        own[2 * ( m + 1 )] += more.zz;
    }
}

static lane33 scaled_rows( lane3 s, const lane33 *m ) // diag( s ) m
{
    return ( lane33 ){ l3_mul( s, m->cx ), l3_mul( s, m->cy ), l3_mul( s, m->cz ) };
}

// Upper triangle of N H⁻¹ Nᵀ + W⁻¹, row by row, and N H⁻¹ g − c.
static signs assemble( const tr_fit *fit, fit_slot *slot, lane_mask convex )
{
    int m = 3 * slot->leader_count;
    for ( int t = 0; t < slot->task_count; ++t )
        weigh( fit, &slot->tasks[t], slot->sharp );
    gather_groups( slot );
    signs s = factor_tree( fit, slot, convex );
    for ( int k = 0; k < m; ++k )
        memset( slot->normal + (size_t)k * m + k, 0, (size_t)( m - k ) * sizeof( lane ) );
    for ( int t = 0; t < slot->leader_count; ++t )
        assemble_task( slot, t );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        const fit_joint *joint = &slot->joints[i];
        const fit_row *rows = slot->rows + joint->first_row;
        for ( int a = 0; a < joint->row_count; ++a ) {
            lane *rhs = slot->rhs + 3 * rows[a].task;
            lane33 y = scaled_rows( joint->pivots, &rows[a].y );
            lane3 g = l33_transposed_mulv( &y, joint->gradient );
            rhs[0] += g.x, rhs[1] += g.y, rhs[2] += g.z;
            lane *line = slot->normal + (size_t)3 * rows[a].task * m;
            add_own_products( line + 3 * rows[a].task, m, &y, &rows[a].y );
            for ( int b = a + 1; b < joint->row_count; ++b )
                add_products( line + 3 * rows[b].task, m, &y, &rows[b].y );
        }
    }
    return s;
}

// Compliance of the body at a task, mean over its axes. Call after assemble.
static lane give_of( const fit_slot *slot, int t )
{
    int m = 3 * slot->leader_count;
    const fit_task *task = &slot->tasks[t], *leader = &slot->tasks[task->leader];
    const lane *diagonal = slot->normal + (size_t)3 * task->leader * ( m + 1 );
    lane own =
        leader->followers == 0 ? 3 / task->weight : leader->give.xx + leader->give.yy + leader->give.zz;
    lane trace = diagonal[0] + diagonal[m + 1] + diagonal[2 * ( m + 1 )] - own;
    return lane_positive( trace ) / l3_dot( task->mask, task->mask );
}

// Factors a symmetric matrix A = Uᵀ D U in its upper triangle, in place: row k becomes D_k times row k of U,
// and its diagonal element becomes 1 / D_k. Returns the number of negative D.
//
// Four rows at a time update the rows below, in the same order as one by one: the same bits with a quarter of
// the memory traffic.
enum { FACTOR_ROWS = 4 };

static lane_mask factor_rows( lane *a, int n, int first, int count )
{
    lane_mask negative = { 0 };
    for ( int k = first; k < first + count; ++k ) {
        lane *row = a + (size_t)k * n;
        lane inverse = 1 / row[k];
        negative -= row[k] < 0;
        row[k] = inverse;
        for ( int i = k + 1; i < first + count; ++i ) {
            lane share = row[i] * inverse;
            lane *below = a + (size_t)i * n;
            for ( int j = i; j < n; ++j )
                below[j] = lane_msub( below[j], share, row[j] );
        }
    }
    return negative;
}

static lane_mask factor_symmetric( lane *a, int n )
{
    lane_mask negative = { 0 };
    int k = 0;
    for ( ; k + FACTOR_ROWS <= n; k += FACTOR_ROWS ) {
        negative += factor_rows( a, n, k, FACTOR_ROWS );
        const lane *r0 = a + (size_t)k * n, *r1 = r0 + n, *r2 = r1 + n, *r3 = r2 + n;
        for ( int i = k + FACTOR_ROWS; i < n; ++i ) {
            lane s0 = r0[i] * r0[k], s1 = r1[i] * r1[k + 1], s2 = r2[i] * r2[k + 2], s3 = r3[i] * r3[k + 3];
            lane *below = a + (size_t)i * n;
            for ( int j = i; j < n; ++j )
                below[j] = lane_msub(
                    lane_msub( lane_msub( lane_msub( below[j], s0, r0[j] ), s1, r1[j] ), s2, r2[j] ), s3,
                    r3[j] );
        }
    }
    return negative + factor_rows( a, n, k, n - k );
}

static void solve_symmetric( const lane *a, lane *x, int n )
{
    for ( int k = 0; k < n; ++k ) {
        const lane *row = a + (size_t)k * n;
        lane scaled = x[k] * row[k];
        for ( int j = k + 1; j < n; ++j )
            x[j] = lane_msub( x[j], scaled, row[j] );
    }
    for ( int k = n - 1; k >= 0; --k ) {
        const lane *row = a + (size_t)k * n;
        lane sum = x[k];
        for ( int j = k + 1; j < n; ++j )
            sum = lane_msub( sum, row[j], x[j] );
        x[k] = sum * row[k];
    }
}

// -------------------------------------------------------------------------------------------------- step

// In one step a hinge goes at most a little past straight, so that no knee or elbow lands on the other side,
// where bending it further would meet the goal too. A hinge that is nearly straight may reach its stop, which
// the next step then takes into account.
static void keep_bend( const tr_fit_step_def *steps, fit_joint *joint )
{
    double most = steps->overstretch;
    lane now = joint->z.x - joint->least, next = joint->trial.x - joint->least; // in radians · √stiffness
    lane_mask beyond =
        joint->hinged & ( now > 0 ) & ( next < 0 ) & ( next * next > most * most * joint->stiffness.x );
    if ( !lane_any( beyond ) )
        return;
    lane overstretch = most * lane_sqrt( joint->stiffness.x );
    lane kept = lane_select( now > overstretch, steps->kept_bend * now, -overstretch );
    joint->trial.x = lane_select( beyond, joint->least + kept, joint->trial.x );
}

// exp(δ) does not change when δ becomes a full turn shorter. Takes the δ nearer to the centre.
static void unwind( fit_joint *joint )
{
    lane3 delta = l33_mulv( &joint->factor, joint->trial );
    lane square = l3_dot( delta, delta );
    lane_mask more = ( square > TR_PI * TR_PI ) & ~joint->hinged;
    if ( !lane_any( more ) )
        return;
    lane shorter = 1 - 2 * TR_PI / lane_sqrt( lane_select( more, square, lane_all( 1 ) ) );
    joint->trial = l3_select( more, l3_scale( shorter, joint->trial ), joint->trial );
}

// Adds H⁻¹ ( Nᵀ λ − g ) to the trial of every joint, from the root to the leaves. Without `slope`, g is zero.
// Returns the largest turn of a joint against its mover.
static lane turn_joints( fit_slot *slot, bool slope )
{
    lane largest = lane_all( 0 );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        lane3 y = slope ? l3_sub( l3_zero(), joint->gradient ) : l3_zero(), above = l3_zero();
        for ( int r = joint->first_row; r < joint->first_row + joint->row_count; ++r )
            y = l3_add( y, l33_mulv( &slot->rows[r].y, pull_of( slot, slot->rows[r].task ) ) );
        y = l3_mul( joint->pivots, y );
        if ( joint->mover >= 0 ) {
            above = slot->joints[joint->mover].turn;
            y = l3_sub( y, l33_transposed_mulv( &joint->upwards, above ) );
        }
        joint->turn = solve_upper( joint->lower, y );
        lane3 relative = l3_sub( joint->turn, above );
        joint->trial = l3_add( joint->trial, l33_transposed_mulv( &joint->dual, relative ) );
        largest = lane_max( largest, l3_dot( relative, relative ) );
    }
    return lane_sqrt( largest );
}

// Sum of the pulls on the root.
static lane3 pull_on_root( const fit_slot *slot )
{
    lane3 pull = l3_zero();
    for ( int t = 0; t < slot->leader_count; ++t )
        if ( slot->tasks[t].kind == TR_FIT_POSITION )
            pull = l3_add( pull, l3_mul( slot->tasks[t].mask, pull_of( slot, t ) ) );
    return pull;
}

static void keep_limits( const tr_fit_step_def *steps, fit_joint *joint )
{
    if ( lane_any( joint->hinged ) )
        keep_bend( steps, joint );
    if ( lane_any( ~joint->hinged ) && !joint->locked )
        unwind( joint );
}

typedef struct stride { // length of a step
    lane turn;          // radians: the largest turn of a joint against its mover
    lane far;           // the largest change of q, or the root's shift in sizes if it is larger
} stride;

// Makes the stationary point of the quadratic model the trial, and sets the length of that step. Returns the
// lanes where it is a minimum, which includes all that must be convex.
static lane_mask find_step( const tr_fit *fit, fit_slot *slot, lane_mask convex, stride *step )
{
    int m = 3 * slot->leader_count;
    signs s = assemble( fit, slot, convex );
    lane_mask exact = ~s.none & ( factor_symmetric( slot->normal, m ) == s.negative );
    solve_symmetric( slot->normal, slot->rhs, m );
    share_pulls( slot );
    slot->shift_trial = l3_scale( lane_all( slot->shift_scale ), pull_on_root( slot ) );
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].trial = slot->joints[i].z;
    lane shift = ( slot->shift_scale / fit->size ) * l3_length( l3_sub( slot->shift_trial, slot->shift ) );
    step->turn = turn_joints( slot, true );
    step->far = lane_max( shift, step->turn );
    return exact;
}

// Shortens the step so that no joint turns by more than `reach`; lanes that do not run do not move. The
// length of the root's shift is not limited: the model is exact for it, and a root far away must come back in
// a few steps.
static void limit_step( fit_slot *slot, const stride *step, lane reach, lane_mask running )
{
    slot->share = lane_select( step->turn > reach, reach / step->turn, lane_all( 1 ) );
    lane3 shift = l3_lerp( slot->shift, slot->shift_trial, slot->share );
    slot->shift_trial = l3_select( running, shift, slot->shift );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        joint->trial = l3_lerp( joint->z, joint->trial, slot->share );
        keep_limits( slot->steps, joint );
        joint->trial = l3_select( running, joint->trial, joint->z );
    }
}

// The error of the linear model at the posed trial. A step of share s predicted c⁺ = (1 − s) c − s W⁻¹ λ.
static lane3 wrong_of( const fit_slot *slot, const fit_task *task, lane_mask some )
{
    lane3 along = l3_unit( task->c ), whole = task->pull_trial;
    whole = l3_mad( whole, task->stretch * l3_dot( along, whole ), along );
    whole = l3_mad( l3_scale( -task->stretch, task->c ), -1 / task->weight, whole );
    lane3 wrong = l3_sub( l3_lerp( task->c, whole, slot->share ), task->trial );
    return l3_select( some, wrong, l3_zero() );
}

static void keep_trials( fit_slot *slot ) // for limit_trials
{
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].kept = slot->joints[i].trial;
}

static void limit_trials( fit_slot *slot, lane_mask some )
{
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        keep_limits( slot->steps, joint );
        joint->trial = l3_select( some, joint->trial, joint->kept );
    }
}

// Corrects the posed trial of some lanes: one more solve with the same factors removes the error of the
// linear model at the least cost of closeness.
static void correct( fit_slot *slot, lane_mask some )
{
    for ( int t = 0; t < slot->leader_count; ++t ) {
        lane3 wrong = wrong_of( slot, &slot->tasks[t], some );
        slot->rhs[3 * t] = wrong.x, slot->rhs[3 * t + 1] = wrong.y, slot->rhs[3 * t + 2] = wrong.z;
    }
    solve_symmetric( slot->normal, slot->rhs, 3 * slot->leader_count );
    lane3 mended = l3_mad( slot->shift_trial, lane_all( slot->shift_scale ), pull_on_root( slot ) );
    slot->shift_trial = l3_select( some, mended, slot->shift_trial );
    keep_trials( slot );
    turn_joints( slot, false );
    limit_trials( slot, some );
}
