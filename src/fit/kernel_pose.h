// Part of the fit's kernel: the numbers of the goals, the pose of a trial and its energy.
#include "fit/slot.h"

// ------------------------------------------------------------------------------------------------- goals

static void start_lane( const tr_fit *fit, fit_task *task, int l )
{
    const tr_fit_goal *goal = task->goals[l];
    const tr_fit_def *def = &fit->def;
    bool own = task->kind == TR_FIT_ROTATION || v3_dot( goal->offset, goal->offset ) > 0;
    int axes = goal->axes;
    l3_set( &task->mask, l, v3( axes & TR_FIT_X ? 1 : 0, axes & TR_FIT_Y ? 1 : 0, axes & TR_FIT_Z ? 1 : 0 ) );
    l3_set( &task->point, l, own ? goal->offset : fit->skeleton->joints[goal->joint].offset );
    l3_set( &task->place, l, goal->place );
    lq_set( &task->wanted, l, goal->rotation );
    double force = goal->hard ? def->pull / fit->size : 0;
    for ( int p = 0; p < goal->priority && goal->hard; ++p )
        force *= def->priority_ratio;
    force *= goal->force;
    task->force[l] = task->steady[l] = force;
    task->spring[l] = goal->hard ? 0 : goal->weight;
    task->most[l] = goal->at_least ? 0 : INFINITY;
}

// Sets the parameters of ρ of the goals; soften changes those with ease < 1.
static void start_tasks( const tr_fit *fit, fit_slot *slot )
{
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        for ( int l = 0; l < LANES; ++l )
            start_lane( fit, task, l );
        task->softness = lane_all( fit->def.softness );
        task->pull = task->pull_trial = l3_zero();
        task->c = l3_all( v3( INFINITY, 0, 0 ) ); // larger than any error: see `before`
    }
}

// ------------------------------------------------------------------------------------------------- pose

// How far z is below (negative) or above the limits of the joint's hinge.
static lane over_limits( const fit_joint *joint, lane3 z )
{
    lane below = z.x - joint->least, above = z.x - joint->most;
    lane over = lane_select( below < 0, below, lane_positive( above ) );
    return lane_select( joint->hinged, over, lane_all( 0 ) );
}

// How far z is within the slack, towards straight.
static lane over_slack( const fit_joint *joint, lane3 z )
{
    return lane_positive( joint->taut - z.x );
}

static void pose_joint( fit_slot *slot, fit_joint *joint )
{
    joint->local = joint->centre;
    if ( !joint->locked ) {
        joint->delta = l33_mulv( &joint->factor, joint->trial );
        lane_exp turn = lane_exp_of( joint->delta );
        joint->rate = turn.rate;
        joint->local = lq_mul( turn.rotation, joint->centre );
    }
    if ( joint->parent < 0 ) {
        joint->world = joint->local;
        joint->position = l3_mad( slot->root, lane_all( slot->shift_scale ), slot->shift_trial );
    } else {
        const fit_joint *parent = &slot->joints[joint->parent];
        joint->world = lq_mul( parent->world, joint->local );
        joint->position = l3_add( parent->position, l33_mulv( &parent->frame, l3_all( joint->offset ) ) );
    }
    joint->frame = l33_from_quat( joint->world );
}

// Rotation vector from the wanted to the actual rotation, with the bits of q_to_vector in every lane. Few
// goals are rotations, so the series of lq_to_vector would save nothing here.
static lane3 rotation_error( lane_quat actual, lane_quat wanted )
{
    lane_quat q = lq_mul( actual, lq_conj( wanted ) );
    lane3 error;
    for ( int l = 0; l < LANES; ++l )
        l3_set( &error, l, q_to_vector( lq_get( &q, l ) ) );
    return error;
}

static void pose_task( const tr_fit *fit, fit_slot *slot, fit_task *task )
{
    if ( task->kind == TR_FIT_ROTATION ) {
        task->reached = rotation_error( slot->joints[task->carrier].world, task->wanted );
        task->trial = l3_scale( lane_all( fit->def.arm * fit->size ), l3_mul( task->mask, task->reached ) );
        return;
    }
    task->reached = l3_mad( slot->root, lane_all( slot->shift_scale ), slot->shift_trial );
    if ( task->carrier >= 0 ) {
        const fit_joint *carrier = &slot->joints[task->carrier];
        task->reached = l3_add( carrier->position, l33_mulv( &carrier->frame, task->point ) );
    }
    lane3 off = l3_mul( task->mask, l3_sub( task->reached, task->place ) );
    task->trial = ( lane3 ){ lane_min( off.x, task->most ), lane_min( off.y, task->most ),
                             lane_min( off.z, task->most ) };
}

static lane soft( lane e, lane cc ) // √(e² + c²) − e
{
    return cc / ( lane_sqrt( e * e + cc ) + e );
}

// Poses the trial and returns its energy.
static lane pose( const tr_fit *fit, fit_slot *slot )
{
    lane energy = 0.5 * l3_dot( slot->shift_trial, slot->shift_trial );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        pose_joint( slot, joint );
        lane over = over_limits( joint, joint->trial ), taut = over_slack( joint, joint->trial );
        energy += 0.5 * ( l3_dot( joint->trial, joint->trial ) + fit->def.stop * over * over ) +
                  ( 1.0 / 3 ) * joint->tightening * taut * taut * taut;
    }
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        pose_task( fit, slot, task );
        lane cc = l3_dot( task->trial, task->trial );
        energy += task->force * soft( task->softness, cc ) +
                  task->steady * soft( lane_all( fit->size ), cc ) + 0.5 * task->spring * cc;
    }
    return energy;
}

// Makes the posed trial the current state of some lanes.
static void take( fit_slot *slot, lane_mask some )
{
    slot->shift = l3_select( some, slot->shift_trial, slot->shift );
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].z = l3_select( some, slot->joints[i].trial, slot->joints[i].z );
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        task->before = lane_select( some, l3_dot( task->c, task->c ), task->before );
        task->c = l3_select( some, task->trial, task->c );
        task->pull = l3_select( some, task->pull_trial, task->pull );
    }
}
