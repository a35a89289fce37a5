// One frame of the skeleton fit: Newton's method on the tree of joints, the goals in dual form.
//
// State are z_j with δ_j = S_j z_j, so that closeness is ½ |z|², and the root's shift likewise. A step is
// sought in *absolute* turns: a_j is the small rotation of joint j's frame in the world, whatever its parent
// does. This makes all that is long-winded in relative turns short:
//
// Closeness couples a joint with its parent p only. With T_j = dω_j/dz_j the joint turns against its parent
// by a_j − a_p − ½ a_p × a_j + …, so, with A = T⁻ᵀ T⁻¹ and q = T⁻ᵀ z,
//   ½ |z_j + dz_j|² = ½ |z_j|² + q·(a_j − a_p) + ½ (a_j − a_p)ᵀ A (a_j − a_p) + ½ a_pᵀ [q]ₓ a_j + ….
// A point at the end of the bones b_j moves by Σ a_j × b_j + ½ a_j × (a_j × b_j), with no product of two
// joints. Under the pull λ on the point the second term adds ½ aᵀ K a, K = (λ·b) I − ½ (λ bᵀ + b λᵀ): a taut
// limb resists being turned. Plain Gauss–Newton leaves it out and swings to and fro about taut knees and
// elbows. A rotation goal depends on the turn of its own joint alone.
//
// H, the Hessian of closeness with the K of the last pulls, is a tree of 3×3 blocks and factored from the
// leaves to the root without fill. Each goal adds three rows N, c⁺ = c + N a, with weight W = ρ'(c)/c, which
// majorises ρ. Few rows, many joints: solve for the pulls λ = −W (c + N a),
//   ( N H⁻¹ Nᵀ + W⁻¹ ) λ = N H⁻¹ g − c,   a = H⁻¹ ( Nᵀ λ − g ),   g the gradient of closeness,
// where y = L⁻¹ Nᵀ is non-zero only between a goal and the root: O(joints · rows) and a Cholesky factor of
// the size of the rows. Hard goals have so little compliance W⁻¹ that they are met, and enough of it to keep
// contradictions solvable.
#include "motion/fit.h"

#include <string.h>

#define KEPT_BEND   0.2  // of a hinge's way to straight, left by one step
#define OVERSTRETCH 0.01 // radians: what a step may carry a hinge beyond straight

// ---------------------------------------------------------------------------------------------- linear model

static mat3 inverse_of( const mat3 *m )
{
    vec3 x = v3_cross( m->cy, m->cz ), y = v3_cross( m->cz, m->cx ), z = v3_cross( m->cx, m->cy );
    double s = 1.0 / v3_dot( m->cx, x );
    return m3_transpose( ( mat3 ){ v3_scale( s, x ), v3_scale( s, y ), v3_scale( s, z ) } );
}

static vec3 transposed_mulv( const mat3 *m, vec3 v )
{
    return v3( v3_dot( m->cx, v ), v3_dot( m->cy, v ), v3_dot( m->cz, v ) );
}

static mat3 transposed_mul( const mat3 *a, const mat3 *b ) // aᵀ b
{
    return ( mat3 ){ transposed_mulv( a, b->cx ), transposed_mulv( a, b->cy ), transposed_mulv( a, b->cz ) };
}

static void linearise_joint( fit_joint *joint, double stop )
{
    joint->inverse = inverse_of( &joint->turning );
    vec3 force = joint->z;
    mat3 root = joint->inverse;
    double over = tr_fit_over( joint, joint->z );
    if ( over != 0 ) {
        double stiffer = sqrt( 1.0 + stop );
        force.x += stop * over;
        root.cx.x *= stiffer;
        root.cy.x *= stiffer;
        root.cz.x *= stiffer;
    }
    joint->stiffness = transposed_mul( &root, &root );
    joint->moment = transposed_mulv( &joint->inverse, force );
}

// ρ'(c)/c, and how much softer ρ is along c than across: ρ'(c)/c = (1 + stretch) ρ''(c). Steps use the softer
// value for goals that do not come nearer, where it is the truth; on the way to a goal it would overshoot.
static void weigh( fit_task *task, double size )
{
    double cc = v3_dot( task->c, task->c ), ee = task->softness * task->softness, ss = size * size;
    double near = task->force / sqrt( ee + cc ), wide = task->steady / sqrt( ss + cc );
    task->weight = near + wide + task->spring;
    task->stretch = 0;
    if ( cc > 0.25 * task->before )
        task->stretch =
            task->weight / ( near * ee / ( ee + cc ) + wide * ss / ( ss + cc ) + task->spring ) - 1.0;
}

void tr_fit_take( tr_fit_slot *slot )
{
    slot->shift = slot->shift_trial;
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].z = slot->joints[i].trial;
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        task->before = v3_dot( task->c, task->c );
        task->c = task->trial;
        task->pull = task->pull_trial;
    }
}

void tr_fit_linearise( const tr_fit *fit, tr_fit_slot *slot )
{
    for ( int i = 0; i < slot->joint_count; ++i )
        if ( !slot->joints[i].locked )
            linearise_joint( &slot->joints[i], fit->def.stop );
    for ( int t = 0; t < slot->task_count; ++t )
        weigh( &slot->tasks[t], fit->size );
    for ( int r = 0; r < slot->row_count; ++r ) {
        fit_row *row = &slot->rows[r];
        vec3 end = slot->tasks[row->task].reached;
        if ( row->below >= 0 )
            end = slot->joints[slot->rows[row->below].joint].position;
        row->bone = v3_sub( end, slot->joints[row->joint].position );
    }
}

// ------------------------------------------------------------------------------------------------- factor

static void add_outer( mat3 *m, double s, vec3 a, vec3 b ) // += s a bᵀ
{
    m->cx = v3_mad( m->cx, s * b.x, a );
    m->cy = v3_mad( m->cy, s * b.y, a );
    m->cz = v3_mad( m->cz, s * b.z, a );
}

static void add_diagonal( mat3 *m, double s )
{
    m->cx.x += s;
    m->cy.y += s;
    m->cz.z += s;
}

static void add_scaled( mat3 *m, double s, const mat3 *a )
{
    m->cx = v3_mad( m->cx, s, a->cx );
    m->cy = v3_mad( m->cy, s, a->cy );
    m->cz = v3_mad( m->cz, s, a->cz );
}

// Adds K of every bone the joint turns; returns Σ |λ| |b|, the most that any of its eigenvalues can be below
// zero.
static double add_tension( const tr_fit_slot *slot, fit_joint *joint )
{
    double most = 0;
    for ( int r = 0; r < joint->row_count; ++r ) {
        const fit_row *row = &slot->rows[joint->first_row + r];
        const fit_task *task = &slot->tasks[row->task];
        if ( task->goal->kind != TR_FIT_POSITION )
            continue;
        add_diagonal( &joint->hessian, v3_dot( task->pull, row->bone ) );
        add_outer( &joint->hessian, -0.5, task->pull, row->bone );
        add_outer( &joint->hessian, -0.5, row->bone, task->pull );
        most += sqrt( v3_dot( task->pull, task->pull ) * v3_dot( row->bone, row->bone ) );
    }
    return most;
}

// m = L D Lᵀ, L with a unit diagonal. Returns how many of D are negative, -1 when one is too near to zero.
static int factor( const mat3 *m, double least, mat3 *l, vec3 *d )
{
    d->x = m->cx.x;
    double yx = m->cx.y / d->x, zx = m->cx.z / d->x;
    d->y = m->cy.y - yx * m->cx.y;
    double zy = ( m->cy.z - yx * m->cx.z ) / d->y;
    d->z = m->cz.z - zx * m->cx.z - zy * zy * d->y;
    *l = ( mat3 ){ { 1, yx, zx }, { 0, 1, zy }, { 0, 0, 1 } };
    if ( !( fabs( d->x ) > least && fabs( d->y ) > least && fabs( d->z ) > least ) )
        return -1;
    return ( d->x < 0 ) + ( d->y < 0 ) + ( d->z < 0 );
}

static vec3 solve_lower( const mat3 *l, vec3 v ) // L x = v
{
    double y = v.y - l->cx.y * v.x;
    return v3( v.x, y, v.z - l->cx.z * v.x - l->cy.z * y );
}

static vec3 solve_upper( const mat3 *l, vec3 v ) // Lᵀ x = v
{
    double y = v.y - l->cy.z * v.z;
    return v3( v.x - l->cx.y * y - l->cx.z * v.z, y, v.z );
}

// U with U Lᵀ = E, column by column.
static mat3 solve_right( const mat3 *l, const mat3 *e )
{
    mat3 u;
    u.cx = e->cx;
    u.cy = v3_mad( e->cy, -l->cx.y, u.cx );
    u.cz = v3_mad( v3_mad( e->cz, -l->cx.z, u.cx ), -l->cy.z, u.cy );
    return u;
}

// Factors the joint's block, its children being eliminated already. Limbs under pressure may make it
// indefinite; unless that is allowed, the block is raised until it is not. Returns the number of negative
// pivots, -1 when there is no factor.
static int factor_joint( fit_joint *joint, double tension, bool convex )
{
    double unit = 1.0 / v3_dot( joint->axes.factor.cx, joint->axes.factor.cx ); // stiffness about the hinge
    double raise = fmax( tension, 0.1 * unit );
    mat3 l;
    vec3 d;
    int negative = factor( &joint->hessian, ( convex ? 0.01 : 1e-5 ) * unit, &l, &d );
    while ( convex && negative != 0 ) {
        add_diagonal( &joint->hessian, raise );
        raise *= 2.0;
        negative = factor( &joint->hessian, 0.01 * unit, &l, &d );
    }
    joint->hessian = l;
    joint->pivots = v3( 1.0 / d.x, 1.0 / d.y, 1.0 / d.z );
    joint->gradient = solve_lower( &l, joint->gradient );
    return negative;
}

static void eliminate( fit_joint *joint, fit_joint *mover )
{
    vec3 h = v3_scale( 0.5, joint->moment );
    mat3 e = { { 0, h.z, -h.y }, { -h.z, 0, h.x }, { h.y, -h.x, 0 } }; // ½ [q]ₓ
    add_scaled( &e, -1.0, &joint->stiffness );
    mat3 u = solve_right( &joint->hessian, &e );
    add_scaled( &mover->hessian, 1.0, &joint->stiffness );
    add_outer( &mover->hessian, -joint->pivots.x, u.cx, u.cx );
    add_outer( &mover->hessian, -joint->pivots.y, u.cy, u.cy );
    add_outer( &mover->hessian, -joint->pivots.z, u.cz, u.cz );
    joint->upwards = ( mat3 ){ v3_scale( joint->pivots.x, u.cx ), v3_scale( joint->pivots.y, u.cy ),
                               v3_scale( joint->pivots.z, u.cz ) };
    vec3 passed = v3_add( joint->moment, m3_mulv( joint->upwards, joint->gradient ) );
    mover->gradient = v3_sub( mover->gradient, passed );
}

// A turn w of the world changes the rotation vector c by J(c)⁻¹ w = w − ½ c × w + k c × (c × w),
// k = (1 − θ/2 cot θ/2) / θ².
static vec3 rotation_rate( vec3 c, vec3 w )
{
    double tt = v3_dot( c, c ), k = 1.0 / 12 + tt / 720;
    if ( tt > 1e-3 ) {
        double half = 0.5 * sqrt( tt );
        k = ( 1 - half * cos( half ) / sin( half ) ) / tt;
    }
    vec3 cw = v3_cross( c, w );
    return v3_mad( v3_mad( w, -0.5, cw ), k, v3_cross( c, cw ) );
}

// Nᵀ of a row: column i is b × e_i, since e_i · (a × b) = a · (b × e_i).
static mat3 transposed_row( const tr_fit *fit, const fit_task *task, const fit_row *row )
{
    vec3 b = row->bone, m = task->mask;
    if ( task->goal->kind == TR_FIT_POSITION )
        return ( mat3 ){
            { 0, m.x * b.z, -m.x * b.y }, { -m.y * b.z, 0, m.y * b.x }, { m.z * b.y, -m.z * b.x, 0 } };
    if ( row->below >= 0 )
        return ( mat3 ){ { 0 } };
    double arm = fit->def.arm * fit->size;
    mat3 n = { rotation_rate( task->reached, v3_x ), rotation_rate( task->reached, v3_y ),
               rotation_rate( task->reached, v3_z ) };
    n = m3_transpose( n );
    return ( mat3 ){ v3_scale( arm * m.x, n.cx ), v3_scale( arm * m.y, n.cy ), v3_scale( arm * m.z, n.cz ) };
}

static void build_rows( const tr_fit *fit, tr_fit_slot *slot, const fit_joint *joint )
{
    for ( int r = 0; r < joint->row_count; ++r ) {
        fit_row *row = &slot->rows[joint->first_row + r];
        mat3 v = transposed_row( fit, &slot->tasks[row->task], row );
        if ( row->below >= 0 ) {
            const fit_row *below = &slot->rows[row->below];
            const mat3 *u = &slot->joints[below->joint].upwards;
            v.cx = v3_sub( v.cx, m3_mulv( *u, below->y.cx ) );
            v.cy = v3_sub( v.cy, m3_mulv( *u, below->y.cy ) );
            v.cz = v3_sub( v.cz, m3_mulv( *u, below->y.cz ) );
        }
        row->y = ( mat3 ){ solve_lower( &joint->hessian, v.cx ), solve_lower( &joint->hessian, v.cy ),
                           solve_lower( &joint->hessian, v.cz ) };
    }
}

// Factors H and makes all rows, from the leaves to the root. Returns the number of negative pivots, -1 when
// there is no factor.
static int factor_tree( const tr_fit *fit, tr_fit_slot *slot, bool convex )
{
    int negative = 0;
    for ( int i = 0; i < slot->joint_count; ++i ) {
        slot->joints[i].hessian = ( mat3 ){ { 0 } };
        slot->joints[i].gradient = v3_zero;
    }
    for ( int i = slot->joint_count - 1; i >= 0; --i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        add_scaled( &joint->hessian, 1.0, &joint->stiffness );
        joint->gradient = v3_add( joint->gradient, joint->moment );
        double tension = add_tension( slot, joint );
        int more = factor_joint( joint, tension, convex );
        if ( more < 0 )
            return -1;
        negative += more;
        if ( joint->mover >= 0 )
            eliminate( joint, &slot->joints[joint->mover] );
        build_rows( fit, slot, joint );
    }
    return negative;
}

// ------------------------------------------------------------------------------------------------- pulls

static void add_products( double *block, int stride, const mat3 *a, const mat3 *b ) // += aᵀ b
{
    const vec3 *columns[3] = { &a->cx, &a->cy, &a->cz };
    for ( int r = 0; r < 3; ++r, block += stride ) {
        block[0] += v3_dot( *columns[r], b->cx );
        block[1] += v3_dot( *columns[r], b->cy );
        block[2] += v3_dot( *columns[r], b->cz );
    }
}

static void add_block( double *block, int stride, const mat3 *symmetric )
{
    const vec3 *rows[3] = { &symmetric->cx, &symmetric->cy, &symmetric->cz };
    for ( int r = 0; r < 3; ++r, block += stride ) {
        block[0] += rows[r]->x;
        block[1] += rows[r]->y;
        block[2] += rows[r]->z;
    }
}

// What the root's shift gives, and the compliance of the goals. Rows of masked axes are zero but for this.
static void assemble_task( tr_fit_slot *slot, int t )
{
    int m = 3 * slot->task_count;
    const fit_task *task = &slot->tasks[t];
    double give = slot->shift_scale * slot->shift_scale;
    double stretch = slot->sharp ? task->stretch : 0;
    vec3 rhs = v3_scale( -( 1.0 + stretch ), task->c );
    for ( int u = t; u < slot->task_count && task->goal->kind == TR_FIT_POSITION; ++u ) {
        if ( slot->tasks[u].goal->kind != TR_FIT_POSITION )
            continue;
        vec3 both = v3_mul( task->mask, slot->tasks[u].mask );
        double *block = slot->normal + (size_t)3 * t * m + 3 * u;
        block[0] += give * both.x;
        block[m + 1] += give * both.y;
        block[2 * ( m + 1 )] += give * both.z;
    }
    if ( task->goal->kind == TR_FIT_POSITION )
        rhs = v3_mad( rhs, slot->shift_scale, v3_mul( task->mask, slot->shift ) );
    double *own = slot->normal + (size_t)3 * t * ( m + 1 );
    vec3 along = v3_unit( task->c );
    mat3 compliance = { { 0 } };
    add_diagonal( &compliance, 1.0 / task->weight );
    add_outer( &compliance, stretch / task->weight, along, along );
    add_block( own, m, &compliance );
    memcpy( slot->rhs + 3 * t, &rhs, sizeof rhs );
}

static mat3 scaled_rows( vec3 s, const mat3 *m ) // diag( s ) m
{
    return ( mat3 ){ v3_mul( s, m->cx ), v3_mul( s, m->cy ), v3_mul( s, m->cz ) };
}

// Upper triangle of N H⁻¹ Nᵀ + W⁻¹, row by row, and N H⁻¹ g − c.
int tr_fit_assemble( const tr_fit *fit, tr_fit_slot *slot, bool convex )
{
    int m = 3 * slot->task_count;
    int negative = factor_tree( fit, slot, convex );
    if ( negative < 0 )
        return -1;
    memset( slot->normal, 0, (size_t)m * (size_t)m * sizeof( double ) );
    for ( int t = 0; t < slot->task_count; ++t )
        assemble_task( slot, t );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        const fit_joint *joint = &slot->joints[i];
        const fit_row *rows = slot->rows + joint->first_row;
        for ( int a = 0; a < joint->row_count; ++a ) {
            double *rhs = slot->rhs + 3 * rows[a].task;
            mat3 y = scaled_rows( joint->pivots, &rows[a].y );
            vec3 g = transposed_mulv( &y, joint->gradient );
            rhs[0] += g.x;
            rhs[1] += g.y;
            rhs[2] += g.z;
            double *line = slot->normal + (size_t)3 * rows[a].task * m;
            for ( int b = a; b < joint->row_count; ++b )
                add_products( line + 3 * rows[b].task, m, &y, &rows[b].y );
        }
    }
    return negative;
}

double tr_fit_give( const tr_fit_slot *slot, int t )
{
    int m = 3 * slot->task_count;
    const fit_task *task = &slot->tasks[t];
    const double *diagonal = slot->normal + (size_t)3 * t * ( m + 1 );
    double trace = diagonal[0] + diagonal[m + 1] + diagonal[2 * ( m + 1 )] - 3.0 / task->weight;
    return fmax( trace, 0.0 ) / v3_dot( task->mask, task->mask );
}

// A = Uᵀ D U of a symmetric matrix in its upper triangle, in place: row k becomes D_k times that of U. Row by
// row, so that the inner loop runs along memory and adds up nothing: compilers may then use vectors without
// changing a bit. Returns the number of negative D.
static int factor_symmetric( double *a, int n )
{
    int negative = 0;
    for ( int k = 0; k < n; ++k ) {
        const double *row = a + (size_t)k * n;
        double inverse = 1.0 / row[k];
        negative += row[k] < 0;
        for ( int i = k + 1; i < n; ++i ) {
            double factor = row[i] * inverse;
            double *below = a + (size_t)i * n;
            for ( int j = i; j < n && factor != 0; ++j )
                below[j] -= factor * row[j];
        }
    }
    return negative;
}

static void solve_symmetric( const double *a, double *x, int n )
{
    for ( int k = 0; k < n; ++k ) {
        const double *row = a + (size_t)k * n;
        double scaled = x[k] / row[k];
        for ( int j = k + 1; j < n; ++j )
            x[j] -= scaled * row[j];
    }
    for ( int k = n - 1; k >= 0; --k ) {
        const double *row = a + (size_t)k * n;
        double sum = x[k];
        for ( int j = k + 1; j < n; ++j )
            sum -= row[j] * x[j];
        x[k] = sum / row[k];
    }
}

// -------------------------------------------------------------------------------------------------- step

// A hinge on its way to straight goes at most a little beyond in one step, so that no knee or elbow lands on
// the other side, where bending it further would meet the goal just as well. Once it is nearly there it may
// touch its stop, which the next step then takes into account.
static void keep_bend( fit_joint *joint )
{
    double least = joint->axes.least, unit = v3_length( joint->axes.factor.cx );
    double now = ( joint->z.x - least ) * unit, next = ( joint->trial.x - least ) * unit;
    if ( joint->axes.hinged && now > 0 && next < -OVERSTRETCH )
        joint->trial.x = least + ( now > OVERSTRETCH ? KEPT_BEND * now : -OVERSTRETCH ) / unit;
}

// exp(δ) is the same for δ and δ shortened by a full turn: take the one nearer to the centre.
static void unwind( fit_joint *joint )
{
    double angle = v3_length( m3_mulv( joint->axes.factor, joint->trial ) );
    if ( angle > TR_PI && !joint->axes.hinged )
        joint->trial = v3_scale( 1.0 - 2.0 * TR_PI / angle, joint->trial );
}

static vec3 pull_of( const tr_fit_slot *slot, int t )
{
    return v3( slot->rhs[3 * t], slot->rhs[3 * t + 1], slot->rhs[3 * t + 2] );
}

// Turns every joint by H⁻¹ ( Nᵀ λ − g ), from the root to the leaves, and moves `trial` by it. Returns the
// largest turn of a joint against its mover.
static double turn_joints( tr_fit_slot *slot )
{
    double largest = 0;
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        vec3 y = v3_negate( joint->gradient ), above = v3_zero;
        for ( int r = joint->first_row; r < joint->first_row + joint->row_count; ++r )
            y = v3_add( y, m3_mulv( slot->rows[r].y, pull_of( slot, slot->rows[r].task ) ) );
        y = v3_mul( joint->pivots, y );
        if ( joint->mover >= 0 ) {
            above = slot->joints[joint->mover].turn;
            y = v3_sub( y, transposed_mulv( &joint->upwards, above ) );
        }
        joint->turn = solve_upper( &joint->hessian, y );
        vec3 relative = v3_sub( joint->turn, above );
        joint->trial = v3_add( joint->trial, m3_mulv( joint->inverse, relative ) );
        largest = fmax( largest, v3_dot( relative, relative ) );
    }
    return sqrt( largest );
}

// Sum of the pulls on the root.
static vec3 pull_on_root( const tr_fit_slot *slot )
{
    vec3 pull = v3_zero;
    for ( int t = 0; t < slot->task_count; ++t )
        if ( slot->tasks[t].goal->kind == TR_FIT_POSITION )
            pull = v3_add( pull, v3_mul( slot->tasks[t].mask, pull_of( slot, t ) ) );
    return pull;
}

static void keep_limits( tr_fit_slot *slot )
{
    for ( int i = 0; i < slot->joint_count; ++i ) {
        keep_bend( &slot->joints[i] );
        unwind( &slot->joints[i] );
    }
}

double tr_fit_step( const tr_fit *fit, tr_fit_slot *slot, double reach, bool convex )
{
    int m = 3 * slot->task_count;
    int negative = tr_fit_assemble( fit, slot, convex );
    if ( negative < 0 || factor_symmetric( slot->normal, m ) != negative )
        return -1;
    solve_symmetric( slot->normal, slot->rhs, m );
    for ( int t = 0; t < slot->task_count; ++t )
        slot->tasks[t].pull_trial = pull_of( slot, t );
    slot->shift_trial = v3_scale( slot->shift_scale, pull_on_root( slot ) );
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].trial = slot->joints[i].z;
    double far = slot->shift_scale * v3_distance( slot->shift_trial, slot->shift ) / fit->size;
    far = fmax( far, turn_joints( slot ) );
    slot->share = far > reach ? reach / far : 1.0;
    slot->shift_trial = v3_lerp( slot->shift, slot->shift_trial, slot->share );
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].trial = v3_lerp( slot->joints[i].z, slot->joints[i].trial, slot->share );
    keep_limits( slot );
    return far;
}

// A step of share s foresaw c⁺ = (1 − s) c − s W⁻¹ λ, the pose shows another: its curvature. One more solve
// with the factors at hand takes the difference away, at the least cost of closeness.
void tr_fit_correct( tr_fit_slot *slot )
{
    for ( int t = 0; t < slot->task_count; ++t ) {
        const fit_task *task = &slot->tasks[t];
        double stretch = slot->sharp ? task->stretch : 0;
        vec3 along = v3_unit( task->c );
        vec3 pull = v3_mad( task->pull_trial, stretch * v3_dot( along, task->pull_trial ), along );
        vec3 whole = v3_mad( v3_scale( -stretch, task->c ), -1.0 / task->weight, pull );
        vec3 foreseen = v3_lerp( task->c, whole, slot->share );
        vec3 wrong = v3_sub( task->trial, foreseen );
        slot->rhs[3 * t] = -wrong.x;
        slot->rhs[3 * t + 1] = -wrong.y;
        slot->rhs[3 * t + 2] = -wrong.z;
    }
    solve_symmetric( slot->normal, slot->rhs, 3 * slot->task_count );
    slot->shift_trial = v3_mad( slot->shift_trial, slot->shift_scale, pull_on_root( slot ) );
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].gradient = v3_zero;
    turn_joints( slot );
    keep_limits( slot );
}
