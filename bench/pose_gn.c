// The baseline `gn`: inverse kinematics on joint angles by damped Gauss–Newton (Levenberg 1944, Marquardt
// 1963), as in a textbook, in scalar doubles. Every frame starts from the copied pose. The unknowns y are a
// rotation vector δ_j of every joint above a row that is on, in its parent's frame (local rotation = exp(δ_j)
// · copied one), and the root's shift s. The energy is that of `lbfgs` with stiffer places:
//
//   E = ½ |y|² + ½ w Σ over rows that are on ‖x − target‖²,   w = 20 000 / m²
//
// With r = target − x and J = dx/dy a step d minimises ½ |y + d|² + ½ µ |d|² + ½ w |r − J d|². There are
// fewer rows than unknowns, so it is solved for the forces λ = w (r − J d) on the rows (Woodbury 1950):
//
//   ( J Jᵀ + (1 + µ)/w ) λ = (1 + µ) r + J y,   d = ( Jᵀ λ − y ) / (1 + µ)
//
// µ is zero until a step does not lower E. J is stored by unknowns, so that products run along memory, and
// what is zero is skipped: an unknown moves only the rows below its joint.
#include "pose_task.h"

#include <string.h>

#define PLACE_WEIGHT   2e4
#define TURN_TOLERANCE 1e-4 // radians, metres: largest change in the last step
#define MAX_STEPS      50
#define WIDTH          ( 3 * BENCH_ROWS_MAX )

typedef struct mover { // a joint above a row
    int joint, parent; // parent among the movers, -1 for the root
    quat start;        // local
    vec3 delta, trial;
    quat world;
    vec3 position;
    mat3 turning; // angular velocity in the world per unit of delta, a column each
} mover;

typedef struct place {
    int carrier; // mover whose child the joint is, -1 when it is the root itself
    vec3 offset, target;
    vec3 miss; // r
} place;

typedef struct gn_work {
    const pose_task *task;
    int frame;
    mover *movers; // [joint_count]
    int *index;    // [joint_count] among the movers, -1 when the joint is none
    int mover_count;
    place places[BENCH_ROWS_MAX];
    int place_count;
    vec3 shift, shift_trial;
    double ( *jacobian )[WIDTH]; // [3 + 3 · joint_count] of the shift, then of the movers
    double normal[WIDTH][WIDTH]; // J Jᵀ, upper triangle
    double factor[WIDTH][WIDTH];
    double forces[WIDTH];
} gn_work;

// ------------------------------------------------------------------------------------------------ movers

static void find_places( gn_work *w )
{
    const pose_task *task = w->task;
    int rows = task->cluster.row_count;
    const tr_joint *joints = task->motion.skeleton.joints;
    w->place_count = 0;
    memset( w->index, 0, (size_t)task->joint_count * sizeof( int ) );
    for ( int r = 0; r < rows; ++r ) {
        const tr_goal *goal = &task->goals[w->frame * rows + r];
        if ( goal->compliance[0] < 0 )
            continue;
        const tr_joint *joint = &joints[task->joints[r]];
        w->places[w->place_count++] =
            ( place ){ .carrier = joint->parent, .offset = joint->offset, .target = goal->target };
        for ( int j = joint->parent; j >= 0 && w->index[j] == 0; j = joints[j].parent )
            w->index[j] = 1;
    }
}

static void find_movers( gn_work *w )
{
    const tr_joint *joints = w->task->motion.skeleton.joints;
    const quat *start = tr_clip_frame( &w->task->motion.clip, w->frame );
    w->mover_count = 0;
    for ( int j = 0; j < w->task->joint_count; ++j ) {
        if ( w->index[j] == 0 ) {
            w->index[j] = -1;
            continue;
        }
        w->index[j] = w->mover_count;
        w->movers[w->mover_count++] =
            ( mover ){ .joint = j, .parent = j == 0 ? -1 : w->index[joints[j].parent], .start = start[j] };
    }
    for ( int r = 0; r < w->place_count; ++r )
        w->places[r].carrier = w->places[r].carrier < 0 ? -1 : w->index[w->places[r].carrier];
    w->shift = w->shift_trial = v3_zero;
}

// ------------------------------------------------------------------------------------------------- model

static double pose_mover( gn_work *w, mover *m )
{
    const tr_joint *joint = &w->task->motion.skeleton.joints[m->joint];
    quat local = q_mul( q_from_vector( m->trial ), m->start );
    if ( m->parent < 0 ) {
        m->world = local;
        m->position = v3_add( w->task->motion.clip.root[w->frame], w->shift_trial );
    } else {
        const mover *parent = &w->movers[m->parent];
        m->world = q_mul( parent->world, local );
        m->position = v3_add( parent->position, q_rotate( parent->world, joint->offset ) );
    }
    return v3_dot( m->trial, m->trial );
}

// Poses the trial and returns its energy.
static double pose( gn_work *w )
{
    double energy = v3_dot( w->shift_trial, w->shift_trial );
    for ( int i = 0; i < w->mover_count; ++i )
        energy += pose_mover( w, &w->movers[i] );
    for ( int r = 0; r < w->place_count; ++r ) {
        place *p = &w->places[r];
        vec3 at = v3_add( w->task->motion.clip.root[w->frame], w->shift_trial );
        if ( p->carrier >= 0 ) {
            const mover *m = &w->movers[p->carrier];
            at = v3_add( m->position, q_rotate( m->world, p->offset ) );
        }
        p->miss = v3_sub( p->target, at );
        energy += PLACE_WEIGHT * v3_dot( p->miss, p->miss );
    }
    return 0.5 * energy;
}

// exp(δ + dδ) = exp(L dδ) exp(δ), L = 1 + (1 − cos θ)/θ² [δ] + (θ − sin θ)/θ³ [δ]².
static vec3 left_rate( vec3 delta, double b, double c, vec3 v )
{
    vec3 once = v3_cross( delta, v );
    return v3_mad( v3_mad( v, b, once ), c, v3_cross( delta, once ) );
}

static void differentiate_mover( gn_work *w, mover *m )
{
    double square = v3_dot( m->delta, m->delta ), b = 0.5 - square / 24, c = 1.0 / 6 - square / 120;
    if ( square > 1e-6 ) {
        double angle = sqrt( square );
        b = ( 1 - cos( angle ) ) / square;
        c = ( angle - sin( angle ) ) / ( square * angle );
    }
    m->turning = ( mat3 ){ left_rate( m->delta, b, c, v3_x ), left_rate( m->delta, b, c, v3_y ),
                           left_rate( m->delta, b, c, v3_z ) };
    if ( m->parent >= 0 )
        m->turning = m3_mul( m3_from_quat( w->movers[m->parent].world ), m->turning );
}

static void put( double *column, vec3 v )
{
    column[0] = v.x, column[1] = v.y, column[2] = v.z;
}

// J at the pose of the current state.
static void differentiate( gn_work *w )
{
    memset( w->jacobian, 0, (size_t)( 3 + 3 * w->mover_count ) * sizeof w->jacobian[0] );
    for ( int i = 0; i < w->mover_count; ++i )
        differentiate_mover( w, &w->movers[i] );
    for ( int r = 0; r < w->place_count; ++r ) {
        const place *p = &w->places[r];
        vec3 at = v3_sub( p->target, p->miss );
        for ( int axis = 0; axis < 3; ++axis )
            w->jacobian[axis][3 * r + axis] = 1;
        for ( int i = p->carrier; i >= 0; i = w->movers[i].parent ) {
            const mover *m = &w->movers[i];
            vec3 arm = v3_sub( at, m->position );
            double( *columns )[WIDTH] = w->jacobian + 3 + 3 * i;
            put( &columns[0][3 * r], v3_cross( m->turning.cx, arm ) );
            put( &columns[1][3 * r], v3_cross( m->turning.cy, arm ) );
            put( &columns[2][3 * r], v3_cross( m->turning.cz, arm ) );
        }
    }
}

static void multiply( gn_work *w )
{
    int rows = 3 * w->place_count, unknowns = 3 + 3 * w->mover_count;
    for ( int a = 0; a < rows; ++a )
        memset( w->normal[a], 0, (size_t)rows * sizeof( double ) );
    for ( int i = 0; i < unknowns; ++i ) {
        const double *column = w->jacobian[i];
        for ( int a = 0; a < rows; ++a ) {
            double own = column[a], *row = w->normal[a];
            for ( int b = a; b < rows && own != 0; ++b )
                row[b] += own * column[b];
        }
    }
}

// -------------------------------------------------------------------------------------------------- step

// Uᵀ D U of the normal matrix plus a diagonal: row k becomes D_k times that of U, the diagonal 1 / D_k.
static void factor( gn_work *w, double compliance )
{
    int rows = 3 * w->place_count;
    for ( int a = 0; a < rows; ++a ) {
        memcpy( w->factor[a], w->normal[a], (size_t)rows * sizeof( double ) );
        w->factor[a][a] += compliance;
    }
    for ( int k = 0; k < rows; ++k ) {
        double *row = w->factor[k], inverse = 1 / row[k];
        row[k] = inverse;
        for ( int a = k + 1; a < rows; ++a ) {
            double share = row[a] * inverse, *below = w->factor[a];
            for ( int b = a; b < rows && share != 0; ++b )
                below[b] -= share * row[b];
        }
    }
}

static void solve( gn_work *w )
{
    int rows = 3 * w->place_count;
    double *x = w->forces;
    for ( int k = 0; k < rows; ++k ) {
        double scaled = x[k] * w->factor[k][k];
        for ( int b = k + 1; b < rows; ++b )
            x[b] -= scaled * w->factor[k][b];
    }
    for ( int k = rows - 1; k >= 0; --k ) {
        double sum = x[k];
        for ( int b = k + 1; b < rows; ++b )
            sum -= w->factor[k][b] * x[b];
        x[k] = sum * w->factor[k][k];
    }
}

static vec3 *unknown( gn_work *w, int i, vec3 **trial ) // the shift, then the movers
{
    *trial = i == 0 ? &w->shift_trial : &w->movers[i - 1].trial;
    return i == 0 ? &w->shift : &w->movers[i - 1].delta;
}

static void set_right_side( gn_work *w, double damping )
{
    vec3 *trial;
    for ( int r = 0; r < w->place_count; ++r )
        put( w->forces + 3 * r, v3_scale( damping, w->places[r].miss ) );
    for ( int i = 0; i <= w->mover_count; ++i ) {
        vec3 y = *unknown( w, i, &trial );
        const double( *columns )[WIDTH] = (const double( * )[WIDTH])w->jacobian + 3 * i;
        for ( int a = 0; a < 3 * w->place_count; ++a )
            w->forces[a] += columns[0][a] * y.x + columns[1][a] * y.y + columns[2][a] * y.z;
    }
}

// From the current state to a trial; returns the largest change of an unknown. `damping`: 1 + µ.
static double step( gn_work *w, double damping )
{
    double largest = 0;
    int rows = 3 * w->place_count;
    vec3 *trial;
    set_right_side( w, damping );
    factor( w, damping / PLACE_WEIGHT );
    solve( w );
    for ( int i = 0; i <= w->mover_count; ++i ) {
        vec3 y = *unknown( w, i, &trial ), d = v3_negate( y );
        const double( *columns )[WIDTH] = (const double( * )[WIDTH])w->jacobian + 3 * i;
        for ( int a = 0; a < rows; ++a )
            d = v3_mad( d, w->forces[a], v3( columns[0][a], columns[1][a], columns[2][a] ) );
        d = v3_scale( 1 / damping, d );
        *trial = v3_add( y, d );
        largest = fmax( largest, fmax( fabs( d.x ), fmax( fabs( d.y ), fabs( d.z ) ) ) );
    }
    return largest;
}

// ------------------------------------------------------------------------------------------------- frames

static void take( gn_work *w )
{
    w->shift = w->shift_trial;
    for ( int i = 0; i < w->mover_count; ++i )
        w->movers[i].delta = w->movers[i].trial;
}

static void solve_frame( gn_work *w )
{
    find_places( w );
    find_movers( w );
    double energy = pose( w ), damping = 1;
    bool moved = true;
    for ( int i = 0; i < MAX_STEPS && w->place_count > 0; ++i ) {
        if ( moved ) {
            differentiate( w );
            multiply( w );
        }
        place before[BENCH_ROWS_MAX]; // kept when a trial is refused
        memcpy( before, w->places, sizeof before );
        double far = step( w, damping ), trial = pose( w );
        moved = trial <= energy;
        if ( moved ) {
            take( w );
            energy = trial;
            damping = damping > 1.05 ? 1 + 0.25 * ( damping - 1 ) : 1;
        } else {
            memcpy( w->places, before, sizeof before );
            damping = damping > 1 ? 1 + 4 * ( damping - 1 ) : 2;
        }
        if ( far < TURN_TOLERANCE )
            break;
    }
}

static void store( const gn_work *w, tr_clip *answer )
{
    answer->root[w->frame] = v3_add( w->task->motion.clip.root[w->frame], w->shift );
    quat *to = tr_clip_frame( answer, w->frame );
    memcpy( to, tr_clip_frame( &w->task->motion.clip, w->frame ),
            (size_t)w->task->joint_count * sizeof( quat ) );
    for ( int i = 0; i < w->mover_count; ++i ) {
        const mover *m = &w->movers[i];
        to[m->joint] = q_unit( q_mul( q_from_vector( m->delta ), m->start ) );
    }
}

bool pose_gn_solve( const pose_task *task, tr_clip *answer, tr_error *error )
{
    size_t joints = (size_t)task->joint_count;
    gn_work *w = tr_alloc( 1, sizeof *w );
    bool ok = w != NULL;
    if ( ok ) {
        w->task = task;
        w->movers = tr_alloc( joints, sizeof( mover ) );
        w->index = tr_alloc( joints, sizeof( int ) );
        w->jacobian = tr_alloc( 3 + 3 * joints, sizeof w->jacobian[0] );
        ok = w->movers != NULL && w->index != NULL && w->jacobian != NULL;
        for ( ; ok && w->frame < task->frame_count; ++w->frame ) {
            solve_frame( w );
            store( w, answer );
        }
        tr_free( w->movers );
        tr_free( w->index );
        tr_free( w->jacobian );
    }
    tr_free( w );
    return ok || tr_error_memory( error );
}
