// The baseline `lbfgs`: inverse kinematics on joint angles by a general minimiser. Unknowns of a frame are a
// rotation vector δ_j of every joint in its parent's frame (local rotation = exp(δ_j) · copied one) and the
// root's shift s. The energy is
//
//   ½ Σ |δ_j|² + ½ |s|² + ½ w Σ over rows that are on ‖x − target‖²,   w = 1000 / m²
//
// With f = w (x − target) at each row, a turn ω of joint j in the world changes this by ω · Σ (x − x_j) × f
// over the rows below; sums of f and x × f from the tips to the root give all of them in one pass.
#include "pose_task.h"

#include <lbfgs.h>

#include <string.h>

#define PLACE_WEIGHT 1000.0

typedef struct frame_work {
    const pose_task *task;
    int frame;
    quat *world;          // [joint_count]
    vec3 *positions;      // [joint_count]
    vec3 *force, *moment; // [joint_count] about the origin
} frame_work;

static vec3 at( const lbfgsfloatval_t *z, int i )
{
    return v3( z[3 * i], z[3 * i + 1], z[3 * i + 2] );
}

// z: the root's shift, then δ of all joints
static void pose( const frame_work *w, const lbfgsfloatval_t *z )
{
    const tr_skeleton *skeleton = &w->task->motion.skeleton;
    const quat *start = tr_clip_frame( &w->task->motion.clip, w->frame );
    w->positions[0] = v3_add( w->task->motion.clip.root[w->frame], at( z, 0 ) );
    w->world[0] = q_mul( q_from_vector( at( z, 1 ) ), start[0] );
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        int p = skeleton->joints[j].parent;
        w->positions[j] = v3_add( w->positions[p], q_rotate( w->world[p], skeleton->joints[j].offset ) );
        w->world[j] = q_mul( w->world[p], q_mul( q_from_vector( at( z, j + 1 ) ), start[j] ) );
    }
}

// Jᵀ v with exp(δ + dδ) = exp(J dδ) exp(δ), J = 1 + (1 − cos θ)/θ² [δ] + (θ − sin θ)/θ³ [δ]².
static vec3 pull_back( vec3 delta, vec3 v )
{
    double square = v3_dot( delta, delta ), angle = sqrt( square );
    bool small = angle < 1e-3;
    double b = small ? 0.5 - square / 24 : ( 1 - cos( angle ) ) / square;
    double c = small ? 1.0 / 6 - square / 120 : ( angle - sin( angle ) ) / ( square * angle );
    vec3 once = v3_cross( delta, v );
    return v3_mad( v3_mad( v, -b, once ), c, v3_cross( delta, once ) );
}

static double add_rows( const frame_work *w )
{
    const pose_task *task = w->task;
    int rows = task->cluster.row_count;
    double energy = 0;
    memset( w->force, 0, (size_t)task->joint_count * sizeof( vec3 ) );
    memset( w->moment, 0, (size_t)task->joint_count * sizeof( vec3 ) );
    for ( int r = 0; r < rows; ++r ) {
        const tr_goal *goal = &task->goals[w->frame * rows + r];
        int j = task->joints[r];
        if ( goal->compliance[0] < 0 )
            continue;
        vec3 miss = v3_sub( w->positions[j], goal->target ), f = v3_scale( PLACE_WEIGHT, miss );
        energy += 0.5 * v3_dot( miss, f );
        w->force[j] = v3_add( w->force[j], f );
        w->moment[j] = v3_add( w->moment[j], v3_cross( w->positions[j], f ) );
    }
    return energy;
}

static void put( lbfgsfloatval_t *gradient, int i, vec3 value )
{
    gradient[3 * i] = value.x;
    gradient[3 * i + 1] = value.y;
    gradient[3 * i + 2] = value.z;
}

static lbfgsfloatval_t evaluate( void *pointer, const lbfgsfloatval_t *z, lbfgsfloatval_t *gradient, int n,
                                 lbfgsfloatval_t step )
{
    (void)step;
    const frame_work *w = pointer;
    const tr_skeleton *skeleton = &w->task->motion.skeleton;
    pose( w, z );
    double energy = add_rows( w );
    for ( int i = 0; i < n; ++i )
        energy += 0.5 * z[i] * z[i];
    for ( int j = skeleton->joint_count - 1; j >= 0; --j ) { // children of j are done
        int p = skeleton->joints[j].parent;
        vec3 torque = v3_sub( w->moment[j], v3_cross( w->positions[j], w->force[j] ) );
        vec3 own = p >= 0 ? q_unrotate( w->world[p], torque ) : torque, delta = at( z, j + 1 );
        put( gradient, j + 1, v3_add( delta, pull_back( delta, own ) ) );
        if ( p >= 0 ) {
            w->force[p] = v3_add( w->force[p], w->force[j] );
            w->moment[p] = v3_add( w->moment[p], w->moment[j] );
        }
    }
    put( gradient, 0, v3_add( at( z, 0 ), w->force[0] ) );
    return energy;
}

static void store( const frame_work *w, const lbfgsfloatval_t *z, tr_clip *answer )
{
    const quat *start = tr_clip_frame( &w->task->motion.clip, w->frame );
    answer->root[w->frame] = v3_add( w->task->motion.clip.root[w->frame], at( z, 0 ) );
    for ( int j = 0; j < w->task->joint_count; ++j )
        tr_clip_frame( answer, w->frame )[j] = q_unit( q_mul( q_from_vector( at( z, j + 1 ) ), start[j] ) );
}

bool pose_lbfgs_solve( const pose_task *task, tr_clip *answer, tr_error *error )
{
    size_t joints = (size_t)task->joint_count;
    int n = 3 * ( task->joint_count + 1 );
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init( &parameters );
    lbfgsfloatval_t *z = lbfgs_malloc( n );
    frame_work w = { task,
                     0,
                     tr_alloc( joints, sizeof( quat ) ),
                     tr_alloc( joints, sizeof( vec3 ) ),
                     tr_alloc( joints, sizeof( vec3 ) ),
                     tr_alloc( joints, sizeof( vec3 ) ) };
    bool ok = z != NULL && w.world != NULL && w.positions != NULL && w.force != NULL && w.moment != NULL;
    for ( ; ok && w.frame < task->frame_count; ++w.frame ) {
        memset( z, 0, (size_t)n * sizeof *z );
        // Any other status than out of memory means that it got as far as it could.
        ok = lbfgs( n, z, NULL, evaluate, NULL, &w, &parameters ) != LBFGSERR_OUTOFMEMORY;
        if ( ok )
            store( &w, z, answer );
    }
    lbfgs_free( z );
    tr_free( w.world );
    tr_free( w.positions );
    tr_free( w.force );
    tr_free( w.moment );
    return ok || tr_error_memory( error );
}
