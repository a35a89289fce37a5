// One frame of the skeleton fit: who moves, the pose and its energy, and the iteration. The linear algebra of
// a step is in fit_step.c.
#include "motion/fit.h"

#include <string.h>

#define MAX_TURN     0.8   // radians a joint turns in one step: what a quadratic model can promise
#define LARGEST_HINT 1.2   // radians
#define BENT_BACK    0.005 // radians

// --------------------------------------------------------------------------------------------- who moves

static vec3 mask_of( int axes )
{
    return v3( axes & TR_FIT_X ? 1 : 0, axes & TR_FIT_Y ? 1 : 0, axes & TR_FIT_Z ? 1 : 0 );
}

static bool has_a_say( const tr_fit_goal *goal )
{
    return ( goal->axes & TR_FIT_XYZ ) != 0 && ( goal->hard ? goal->ease > 0 : goal->weight > 0 );
}

// The joint whose frame the goal lives in, and the goal's point there. A joint's own place does not change
// when it turns: its parent carries it.
static int carrier_of( const tr_skeleton *skeleton, const tr_fit_goal *goal, vec3 *point )
{
    *point = goal->offset;
    if ( goal->kind == TR_FIT_ROTATION || v3_dot( goal->offset, goal->offset ) > 0 )
        return goal->joint;
    *point = skeleton->joints[goal->joint].offset;
    return skeleton->joints[goal->joint].parent;
}

// ρ of the goal; for ease < 1 see soften.
static void start_task( const tr_fit *fit, fit_task *task )
{
    const tr_fit_goal *goal = task->goal;
    task->mask = mask_of( goal->axes );
    task->softness = fit->def.softness;
    task->force = goal->hard ? fit->def.pull * pow( fit->def.priority_ratio, goal->priority ) / fit->size : 0;
    task->steady = task->force;
    task->spring = goal->hard ? 0 : goal->weight;
}

// Tasks, and in slot->place how many of them hang below each joint. Carriers are joints of the skeleton yet.
static void gather_tasks( const tr_fit *fit, tr_fit_slot *slot, const tr_fit_frame *frame )
{
    const tr_joint *joints = fit->skeleton->joints;
    slot->task_count = 0;
    memset( slot->place, 0, (size_t)fit->skeleton->joint_count * sizeof( int ) );
    for ( int g = 0; g < frame->goal_count; ++g ) {
        if ( !has_a_say( &frame->goals[g] ) )
            continue;
        fit_task *task = &slot->tasks[slot->task_count++];
        task->goal = &frame->goals[g];
        task->pull = task->pull_trial = v3_zero;
        task->c = v3( INFINITY, 0, 0 ); // what it will be is nearer
        task->carrier = carrier_of( fit->skeleton, task->goal, &task->point );
        start_task( fit, task );
        for ( int j = task->carrier; j >= 0; j = joints[j].parent )
            slot->place[j]++;
    }
}

// The joints above tasks, in order, each with room for its rows. Replaces counts in slot->place by indices.
static void gather_joints( const tr_fit *fit, tr_fit_slot *slot )
{
    slot->joint_count = slot->row_count = 0;
    for ( int j = 0; j < fit->skeleton->joint_count; ++j ) {
        int tasks = slot->place[j], parent = fit->skeleton->joints[j].parent;
        if ( tasks == 0 )
            continue;
        fit_joint *joint = &slot->joints[slot->joint_count];
        joint->joint = j;
        joint->parent = parent < 0 ? -1 : slot->place[parent];
        joint->mover = joint->parent;
        if ( joint->mover >= 0 && slot->joints[joint->mover].locked )
            joint->mover = slot->joints[joint->mover].mover;
        joint->offset = fit->skeleton->joints[j].offset;
        joint->axes = tr_fit_joint_axes( fit, j, slot->centre[j] );
        joint->locked = !( v3_dot( joint->axes.factor.cx, joint->axes.factor.cx ) > 0 );
        joint->centre = m3_from_quat( slot->centre[j] );
        joint->z = joint->trial = v3_zero;
        joint->first_row = slot->row_count;
        joint->row_count = 0;
        slot->row_count += joint->locked ? 0 : tasks;
        slot->place[j] = slot->joint_count++;
    }
}

static void gather( const tr_fit *fit, tr_fit_slot *slot, const tr_fit_frame *frame )
{
    gather_tasks( fit, slot, frame );
    gather_joints( fit, slot );
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        task->carrier = task->carrier < 0 ? -1 : slot->place[task->carrier];
        int below = -1, i = task->carrier;
        if ( i >= 0 && slot->joints[i].locked )
            i = slot->joints[i].mover;
        for ( ; i >= 0; i = slot->joints[i].mover ) {
            int next = slot->joints[i].first_row + slot->joints[i].row_count++;
            slot->rows[next] = ( fit_row ){ .task = t, .joint = i, .below = below };
            below = next;
        }
    }
}

// ------------------------------------------------------------------------------------------------- pose

// exp and its left Jacobian for a rotation vector d of angle θ, both through a = (1 − cos θ) / θ²,
// b = (θ − sin θ) / θ³ and s = sin θ / θ:
//   exp(d) v = cos θ v + s d × v + a (d·v) d,   J(d) v = s v + a d × v + b (d·v) d,
// where a small change of d by e turns exp(d) by J(d) e.
typedef struct turn {
    vec3 d;
    double cosine, s, a, b;
} turn;

static turn turn_by( vec3 d )
{
    double tt = v3_dot( d, d );
    if ( tt < 1e-4 ) {
        double a = 0.5 - tt / 24 * ( 1 - tt / 30 ), b = ( 1 - tt / 20 * ( 1 - tt / 42 ) ) / 6;
        return ( turn ){ d, 1 - tt * a, 1 - tt * b, a, b };
    }
    double angle = sqrt( tt ), sine = sin( angle ), cosine = cos( angle );
    return ( turn ){ d, cosine, sine / angle, ( 1 - cosine ) / tt, ( angle - sine ) / ( tt * angle ) };
}

static vec3 turned( const turn *t, vec3 v )
{
    vec3 r = v3_mad( v3_scale( t->cosine, v ), t->s, v3_cross( t->d, v ) );
    return v3_mad( r, t->a * v3_dot( t->d, v ), t->d );
}

static vec3 turning( const turn *t, vec3 v )
{
    vec3 r = v3_mad( v3_scale( t->s, v ), t->a, v3_cross( t->d, v ) );
    return v3_mad( r, t->b * v3_dot( t->d, v ), t->d );
}

static void pose_joint( tr_fit_slot *slot, fit_joint *joint )
{
    turn t = turn_by( m3_mulv( joint->axes.factor, joint->trial ) );
    const mat3 *c = &joint->centre, *f = &joint->axes.factor;
    joint->world = ( mat3 ){ turned( &t, c->cx ), turned( &t, c->cy ), turned( &t, c->cz ) };
    joint->turning = ( mat3 ){ turning( &t, f->cx ), turning( &t, f->cy ), turning( &t, f->cz ) };
    joint->position = v3_mad( slot->root, slot->shift_scale, slot->shift_trial );
    if ( joint->parent < 0 )
        return;
    const fit_joint *parent = &slot->joints[joint->parent];
    joint->world = m3_mul( parent->world, joint->world );
    joint->turning = m3_mul( parent->world, joint->turning );
    joint->position = v3_add( parent->position, m3_mulv( parent->world, joint->offset ) );
}

// Rotation vector from the wanted to the actual rotation.
static vec3 rotation_error( const fit_joint *carrier, quat wanted )
{
    return q_to_vector( q_mul( q_from_mat3( carrier->world ), q_conj( wanted ) ) );
}

static void pose_task( const tr_fit *fit, tr_fit_slot *slot, fit_task *task )
{
    if ( task->goal->kind == TR_FIT_ROTATION ) {
        task->reached = rotation_error( &slot->joints[task->carrier], task->goal->rotation );
        task->trial = v3_scale( fit->def.arm * fit->size, v3_mul( task->mask, task->reached ) );
        return;
    }
    task->reached = v3_mad( slot->root, slot->shift_scale, slot->shift_trial );
    if ( task->carrier >= 0 ) {
        const fit_joint *carrier = &slot->joints[task->carrier];
        task->reached = v3_add( carrier->position, m3_mulv( carrier->world, task->point ) );
    }
    task->trial = v3_mul( task->mask, v3_sub( task->reached, task->goal->place ) );
}

static double soft( double e, double cc ) // √(e² + c²) − e
{
    return cc / ( sqrt( e * e + cc ) + e );
}

static double penalty( const tr_fit *fit, const fit_task *task )
{
    double cc = v3_dot( task->trial, task->trial );
    return task->force * soft( task->softness, cc ) + task->steady * soft( fit->size, cc ) +
           0.5 * task->spring * cc;
}

// Poses the trial and returns its energy.
static double pose( const tr_fit *fit, tr_fit_slot *slot )
{
    double energy = 0.5 * v3_dot( slot->shift_trial, slot->shift_trial );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        pose_joint( slot, joint );
        double over = tr_fit_over( joint, joint->trial );
        energy += 0.5 * ( v3_dot( joint->trial, joint->trial ) + fit->def.stop * over * over );
    }
    for ( int t = 0; t < slot->task_count; ++t ) {
        pose_task( fit, slot, &slot->tasks[t] );
        energy += penalty( fit, &slot->tasks[t] );
    }
    return energy;
}

// ----------------------------------------------------------------------------------------------- iterate

// Ease: the compliance of a lone goal in the centre pose, times (1 − ease) / ease, is put in series with the
// goal's own by making it softer. The goal then removes the share `ease` of what it is off by.
static bool soften( const tr_fit *fit, tr_fit_slot *slot )
{
    bool any = false;
    for ( int t = 0; t < slot->task_count; ++t )
        any = any || ( slot->tasks[t].goal->hard && slot->tasks[t].goal->ease < 1 );
    if ( !any )
        return false;
    tr_fit_linearise( fit, slot );
    tr_fit_assemble( fit, slot, true );
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        if ( !task->goal->hard || task->goal->ease >= 1 )
            continue;
        double give = tr_fit_give( slot, t ) * ( 1.0 - task->goal->ease ) / task->goal->ease;
        double softer = task->softness + task->force * give;
        task->steady *= task->softness / softer;
        task->softness = softer;
    }
    return true;
}

// By how much the goals below a hinge ask its limb to become shorter.
static double shortening( const tr_fit_slot *slot, const fit_joint *joint )
{
    vec3 base = slot->joints[joint->parent].position;
    double most = 0;
    for ( int r = 0; r < joint->row_count; ++r ) {
        const fit_task *task = &slot->tasks[slot->rows[joint->first_row + r].task];
        if ( task->goal->kind == TR_FIT_POSITION && task->goal->axes == TR_FIT_XYZ )
            most = fmax( most, v3_distance( task->reached, base ) - v3_distance( task->goal->place, base ) );
    }
    return most;
}

static void turn_trial( fit_joint *joint, vec3 by )
{
    const mat3 *s = &joint->axes.factor;
    joint->trial.x += v3_dot( s->cx, by ) / v3_dot( s->cx, s->cx );
    joint->trial.y += v3_dot( s->cy, by ) / v3_dot( s->cy, s->cy );
    joint->trial.z += v3_dot( s->cz, by ) / v3_dot( s->cz, s->cz );
}

// A straight limb whose goal lies on its own line has no gradient, and one bent the wrong way by noise would
// stay there. Bending it first as far as it has to become shorter (two equal bones bent by β are shorter by
// the share β²/8), and turning the joint above back by half of that, puts it on the right side; nothing of
// this enters the energy.
static bool hint_bends( const tr_fit *fit, tr_fit_slot *slot )
{
    bool any = false;
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        if ( !joint->axes.hinged )
            continue;
        // A limb bent back in the centre, but slightly, is left alone until it must move.
        double shorter = shortening( slot, joint ) - ( joint->axes.bend < 0 ? 0.1 * fit->def.softness : 0 );
        double bend = fmin( sqrt( 8.0 * fmax( shorter, 0 ) / fit->limbs[joint->joint].span ), LARGEST_HINT );
        if ( fabs( joint->axes.bend ) >= bend )
            continue;
        fit_joint *above = &slot->joints[joint->parent];
        vec3 by = v3_scale( bend - joint->axes.bend, v3_unit( joint->axes.factor.cx ) );
        turn_trial( joint, by );
        if ( !above->locked )
            turn_trial( above, m3_mulv( above->centre, v3_scale( -0.5, by ) ) );
        any = true;
    }
    return any;
}

// Newton's method from the current state, in steps that go no further than `reach`. One that does not lower
// the energy even when corrected is taken again, shorter. Newton's steps shrink ever faster: one of length
// `far` after one of `before` leaves about far² / before to do. Returns the energy.
static double minimise( const tr_fit *fit, tr_fit_slot *slot, double energy, tr_fit_result *result )
{
    double reach = MAX_TURN, before = 0;
    bool moved = true;
    slot->sharp = result->converged = false;
    for ( int i = 0; i < fit->def.max_iterations && reach > 0.1 * fit->def.tolerance; ++i ) {
        result->iterations++;
        if ( moved )
            tr_fit_linearise( fit, slot );
        double far = tr_fit_step( fit, slot, reach, false );
        bool exact = far >= 0;
        if ( !exact )
            far = tr_fit_step( fit, slot, reach, true );
        if ( far < fit->def.tolerance ) {
            result->converged = true;
            break;
        }
        double limit = energy * ( 1.0 + 1e-13 ), trial = pose( fit, slot );
        if ( trial > limit ) {
            tr_fit_correct( slot );
            trial = pose( fit, slot );
        }
        moved = trial <= limit;
        if ( !moved ) {
            reach = slot->sharp ? reach : 0.25 * fmin( far, reach );
            slot->sharp = false;
            continue;
        }
        tr_fit_take( slot );
        energy = trial;
        result->converged = exact && far * far < before * fit->def.tolerance;
        if ( result->converged )
            break;
        slot->sharp = far < 0.05;
        before = exact && far <= reach ? far : 0;
        reach = fmin( 2.0 * reach, MAX_TURN );
    }
    return energy;
}

// Two bends of a hinge may meet a goal. Mirrors those that ended on the wrong side of straight; false when
// there are none.
static bool turn_back( tr_fit_slot *slot )
{
    bool any = false;
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        double back = tr_fit_over( joint, joint->z );
        joint->kept = joint->trial = joint->z;
        if ( back * v3_length( joint->axes.factor.cx ) > -BENT_BACK )
            continue;
        joint->trial.x -= 2.0 * back;
        any = true;
    }
    slot->shift_kept = slot->shift_trial = slot->shift;
    for ( int t = 0; t < slot->task_count; ++t )
        slot->tasks[t].pull_trial = v3_zero;
    return any;
}

static double pose_and_take( const tr_fit *fit, tr_fit_slot *slot )
{
    double energy = pose( fit, slot );
    tr_fit_take( slot );
    return energy;
}

// The better of both sides is the answer, so that it does not depend on which one was found first.
static void iterate( const tr_fit *fit, tr_fit_slot *slot, tr_fit_result *result )
{
    double energy = pose_and_take( fit, slot );
    bool softened = soften( fit, slot ), bent = hint_bends( fit, slot );
    if ( softened || bent )
        energy = pose_and_take( fit, slot );
    energy = minimise( fit, slot, energy, result );
    bool converged = result->converged;
    if ( !turn_back( slot ) )
        return;
    if ( minimise( fit, slot, pose_and_take( fit, slot ), result ) <= energy )
        return;
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].trial = slot->joints[i].kept;
    slot->shift_trial = slot->shift_kept;
    pose_and_take( fit, slot );
    result->converged = converged;
}

// ------------------------------------------------------------------------------------------------ result

// World transform of one joint, from the root down; for goals that had no say.
static rigid joint_in_world( const tr_skeleton *skeleton, const tr_fit_result *result, int joint )
{
    rigid world = rigid_identity;
    for ( int j = joint; j >= 0; j = skeleton->joints[j].parent ) {
        vec3 offset = j == 0 ? result->root : skeleton->joints[j].offset;
        world = rigid_mul( ( rigid ){ result->local[j], offset }, world );
    }
    return world;
}

static double residual_of( const tr_skeleton *skeleton, const tr_fit_result *result, const tr_fit_goal *goal )
{
    rigid world = joint_in_world( skeleton, result, goal->joint );
    vec3 off = goal->kind == TR_FIT_ROTATION
                   ? q_to_vector( q_mul( world.rotation, q_conj( goal->rotation ) ) )
                   : v3_sub( rigid_apply( world, goal->offset ), goal->place );
    return v3_length( v3_mul( mask_of( goal->axes ), off ) );
}

static void write_pose( const tr_fit *fit, const tr_fit_slot *slot, tr_fit_result *result )
{
    memcpy( result->local, slot->centre, (size_t)fit->skeleton->joint_count * sizeof( quat ) );
    result->root = v3_mad( slot->root, slot->shift_scale, slot->shift );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        const fit_joint *joint = &slot->joints[i];
        vec3 d = m3_mulv( joint->axes.factor, joint->z );
        if ( v3_dot( d, d ) > 0 )
            result->local[joint->joint] = q_unit( q_mul( q_from_vector( d ), slot->centre[joint->joint] ) );
    }
}

static void write_residuals( const tr_fit *fit, const tr_fit_slot *slot, const tr_fit_frame *frame,
                             tr_fit_result *result )
{
    result->worst = 0;
    for ( int t = 0; t < slot->task_count; ++t ) {
        const tr_fit_goal *goal = slot->tasks[t].goal;
        if ( goal->hard && goal->ease >= 1 && goal->kind == TR_FIT_POSITION )
            result->worst = fmax( result->worst, v3_length( slot->tasks[t].c ) );
    }
    for ( int g = 0; g < frame->goal_count && result->residuals != NULL; ++g )
        result->residuals[g] = residual_of( fit->skeleton, result, &frame->goals[g] );
}

void tr_fit_frame_solve( const tr_fit *fit, tr_fit_slot *slot, const tr_fit_frame *frame,
                         tr_fit_result *result )
{
    slot->root = frame->positions != NULL ? frame->positions[0] : frame->root;
    slot->shift = slot->shift_trial = v3_zero;
    slot->shift_scale = fit->size / sqrt( fit->def.root_stiffness );
    if ( frame->positions != NULL || frame->rotations != NULL )
        tr_fit_aim( fit, frame, slot->moments, slot->world, slot->centre );
    else
        memcpy( slot->centre, frame->start, (size_t)fit->skeleton->joint_count * sizeof( quat ) );
    gather( fit, slot, frame );
    result->iterations = 0;
    result->converged = slot->task_count == 0;
    if ( slot->task_count > 0 )
        iterate( fit, slot, result );
    write_pose( fit, slot, result );
    write_residuals( fit, slot, frame, result );
}
