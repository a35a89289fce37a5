// Part of the fit's kernel: the step of kernel_step.h with the turns of the joints as unknowns instead of the
// pulls.
//
// The matrix of the pulls costs the cube of the number of goals in time and the square in memory. With more
// than FEW_GOALS goals the step solves for the turns a and the change s of the root's shift directly:
//   ( H + Nᵀ W N ) x = −( g + Nᵀ ρ' ),   x = (a, s),   and   λ = −( ρ' + W N x ).
// The rows of a goal are non-zero only between the goal and the root, so the matrix couples a joint only with
// its ancestors. Factored from the leaves to the root it has no fill: a joint with n ancestors costs n²
// blocks of 3×3, and so does a goal. A step costs depth² · (joints + goals).
//
// Block k of joint i holds F, where the energy has aₖᵀ F aᵢ and k counts from the root. Block 0 is the root's
// shift.
#include "fit/slot.h"

#include <string.h>

static bool has_many_goals( const fit_slot *slot )
{
    return slot->leader_count > FEW_GOALS;
}

static lane33 *blocks_of( const fit_slot *slot, const fit_joint *joint )
{
    return slot->blocks + joint->first_block;
}

// Sets where the blocks of each joint begin. A joint of level n has n ancestors that turn, and n + 2 blocks.
static void lay_out_blocks( fit_slot *slot )
{
    size_t next = 1; // block 0 of the slot is that of the shift
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        joint->level = joint->mover >= 0 ? slot->joints[joint->mover].level + 1 : 0;
        joint->first_block = next;
        next += (size_t)joint->level + 2;
    }
    memset( slot->blocks, 0, next * sizeof( lane33 ) );
    slot->shift_gradient = l3_zero();
}

// ----------------------------------------------------------------------------------------------- assemble

static lane33 sym_mul( const lane_sym *w, const lane33 *m )
{
    return ( lane33 ){ sym_mulv( w, m->cx ), sym_mulv( w, m->cy ), sym_mulv( w, m->cz ) };
}

static lane33 transposed( const lane33 *m )
{
    return ( lane33 ){
        { m->cx.x, m->cy.x, m->cz.x }, { m->cx.y, m->cy.y, m->cz.y }, { m->cx.z, m->cy.z, m->cz.z } };
}

static void add_product( lane33 *out, const lane33 *a, const lane33 *b ) // out += a b
{
    lane33 ab = l33_mul( a, b );
    out->cx = l3_add( out->cx, ab.cx );
    out->cy = l3_add( out->cy, ab.cy );
    out->cz = l3_add( out->cz, ab.cz );
}

static lane33 mask_rows( const fit_slot *slot, const fit_task *task ) // Nᵀ of a position at the root's shift
{
    lane zero = lane_all( 0 );
    lane3 s = l3_scale( lane_all( slot->shift_scale ), task->mask );
    return ( lane33 ){ { s.x, zero, zero }, { zero, s.y, zero }, { zero, zero, s.z } };
}

// Iterates over the rows of a task, from its carrier to the root.
static const fit_row *first_row( const fit_slot *slot, const fit_task *task )
{
    return task->row >= 0 ? &slot->rows[task->row] : NULL;
}

static const fit_row *next_row( const fit_slot *slot, const fit_row *row )
{
    return row->above >= 0 ? &slot->rows[row->above] : NULL;
}

// Nᵀ W N of a leader with all its followers, and Nᵀ times their slopes.
static void assemble_leader( fit_slot *slot, const fit_task *task )
{
    lane_sym w = task->followers > 0 ? task->give : curvature( task );
    lane3 slope = task->followers > 0 ? task->push : l3_scale( task->weight, task->c );
    bool rotates = task->kind == TR_FIT_ROTATION;
    lane33 shift = mask_rows( slot, task );
    for ( const fit_row *row = first_row( slot, task ); row != NULL; row = next_row( slot, row ) ) {
        fit_joint *joint = &slot->joints[row->joint];
        lane33 *blocks = blocks_of( slot, joint ), yt = transposed( &row->y ), wn = sym_mul( &w, &yt );
        joint->gradient = l3_add( joint->gradient, l33_mulv( &row->y, slope ) );
        for ( const fit_row *other = row; other != NULL; other = rotates ? NULL : next_row( slot, other ) )
            add_product( &blocks[1 + slot->joints[other->joint].level], &other->y, &wn );
        if ( rotates )
            return; // it depends on the turn of its own joint only
        add_product( &blocks[0], &shift, &wn );
    }
    if ( rotates )
        return;
    lane33 wn = sym_mul( &w, &shift );
    add_product( &slot->blocks[0], &shift, &wn );
    slot->shift_gradient = l3_add( slot->shift_gradient, l33_mulv( &shift, slope ) );
}

// Adds closeness: A to the joint and its mover, E = ½ [q]ₓ − A between them, as in eliminate.
static void assemble_closeness( const tr_fit *fit, fit_slot *slot, fit_joint *joint )
{
    lane3 moment;
    lane_sym a = linearise( slot, joint, fit->def.stop, &moment );
    lane3 h = l3_scale( lane_all( 0.5 ), moment );
    sym_add( &joint->hessian, &a );
    joint->gradient = l3_add( joint->gradient, moment );
    add_tension( slot, joint, &joint->hessian );
    if ( joint->mover < 0 )
        return;
    fit_joint *mover = &slot->joints[joint->mover];
    lane33 *e = &blocks_of( slot, joint )[joint->level];
    sym_add( &mover->hessian, &a );
    mover->gradient = l3_sub( mover->gradient, moment );
    e->cx = l3_add( e->cx, ( lane3 ){ -a.xx, h.z - a.xy, -h.y - a.xz } );
    e->cy = l3_add( e->cy, ( lane3 ){ -h.z - a.xy, -a.yy, h.x - a.yz } );
    e->cz = l3_add( e->cz, ( lane3 ){ h.y - a.xz, -h.x - a.yz, -a.zz } );
}

// Sums of W and slopes of goals on one point. As gather_groups, but W is not inverted.
static void gather_slopes( fit_slot *slot )
{
    for ( int t = 0; t < slot->task_count; ++t ) {
        const fit_task *task = &slot->tasks[t];
        fit_task *leader = &slot->tasks[task->leader];
        if ( leader->followers == 0 )
            continue;
        if ( task == leader ) { // the first of them
            leader->give = ( lane_sym ){ 0 };
            leader->push = leader->sum = l3_zero();
        }
        lane_sym w = curvature( task );
        sym_add( &leader->give, &w );
        leader->push = l3_mad( leader->push, task->weight, task->c );
        leader->sum = l3_add( leader->sum, task->pull );
    }
}

static void assemble_joints( const tr_fit *fit, fit_slot *slot )
{
    for ( int t = 0; t < slot->task_count; ++t )
        weigh( fit, &slot->tasks[t], slot->sharp );
    gather_slopes( slot );
    lay_out_blocks( slot );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        slot->joints[i].hessian = ( lane_sym ){ 0 };
        slot->joints[i].gradient = l3_zero();
    }
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        assemble_closeness( fit, slot, joint ); // also sets the bones of its rows
        for ( int r = joint->first_row; r < joint->first_row + joint->row_count; ++r )
            slot->rows[r].y = transposed_row( fit, &slot->tasks[slot->rows[r].task], &slot->rows[r] );
    }
    for ( int t = 0; t < slot->leader_count; ++t )
        assemble_leader( slot, &slot->tasks[t] );
    slot->shift_gradient = l3_add( slot->shift_gradient, slot->shift );
    slot->blocks[0].cx.x += 1;
    slot->blocks[0].cy.y += 1;
    slot->blocks[0].cz.z += 1;
}

// ------------------------------------------------------------------------------------------------- factor

static lane_sym symmetric( const lane33 *m )
{
    return ( lane_sym ){
        .xx = m->cx.x, .xy = m->cy.x, .xz = m->cz.x, .yy = m->cy.y, .yz = m->cz.y, .zz = m->cz.z };
}

// Replaces the blocks F of a joint with its ancestors by U, where U Lᵀ = F, and subtracts U D⁻¹ Uᵀ from the
// blocks of the ancestors.
static void eliminate_joint( fit_slot *slot, const fit_joint *joint )
{
    lane33 *own = blocks_of( slot, joint );
    lane3 l = joint->lower, d = joint->pivots;
    for ( int k = 0; k <= joint->level; ++k ) {
        own[k].cy = l3_mad( own[k].cy, -l.x, own[k].cx );
        own[k].cz = l3_mad( l3_mad( own[k].cz, -l.y, own[k].cx ), -l.z, own[k].cy );
    }
    const fit_joint *ancestor = joint->mover >= 0 ? &slot->joints[joint->mover] : NULL;
    for ( int k = joint->level; k >= 0; --k ) {
        lane33 *blocks = k > 0 ? blocks_of( slot, ancestor ) : slot->blocks;
        lane33 u = { l3_scale( -d.x, own[k].cx ), l3_scale( -d.y, own[k].cy ), l3_scale( -d.z, own[k].cz ) },
               ut = transposed( &u );
        for ( int j = 0; j <= k; ++j )
            add_product( &blocks[j], &own[j], &ut );
        ancestor = k > 0 && ancestor->mover >= 0 ? &slot->joints[ancestor->mover] : NULL;
    }
}

// Subtracts U D⁻¹ L⁻¹ of a joint's gradient from the gradients of its ancestors.
static void pass_gradient( fit_slot *slot, fit_joint *joint )
{
    const lane33 *own = blocks_of( slot, joint );
    joint->gradient = solve_lower( joint->lower, joint->gradient );
    lane3 passed = l3_mul( joint->pivots, joint->gradient );
    fit_joint *ancestor = joint->mover >= 0 ? &slot->joints[joint->mover] : NULL;
    for ( int k = joint->level; k > 0; --k ) {
        ancestor->gradient = l3_sub( ancestor->gradient, l33_mulv( &own[k], passed ) );
        ancestor = ancestor->mover >= 0 ? &slot->joints[ancestor->mover] : NULL;
    }
    slot->shift_gradient = l3_sub( slot->shift_gradient, l33_mulv( &own[0], passed ) );
}

// Factors the matrix, and makes blocks positive definite in lanes that must be convex (factor_block). Returns
// the lanes whose matrix is positive definite.
static lane_mask factor_joints( fit_slot *slot, lane_mask convex )
{
    lane_mask exact = ~( lane_mask ){ 0 };
    for ( int i = slot->joint_count - 1; i >= 0; --i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        lane_sym h = symmetric( &blocks_of( slot, joint )[joint->level + 1] );
        sym_add( &h, &joint->hessian );
        signs s = factor_block( slot, joint, &h, convex );
        exact &= ~s.none & ( s.negative == 0 );
        eliminate_joint( slot, joint );
    }
    lane_sym h = symmetric( &slot->blocks[0] ); // at least 1, the closeness of the shift
    signs s = factor( &h, lane_all( slot->steps->least_pivot ), &slot->shift_lower, &slot->shift_pivots );
    return exact & ~s.none & ( s.negative == 0 );
}

// -------------------------------------------------------------------------------------------------- solve

// Adds x = −( L D Lᵀ )⁻¹ times the gradients to the trial. Returns the largest turn of a joint against its
// mover.
static lane solve_joints( fit_slot *slot )
{
    lane largest = lane_all( 0 );
    for ( int i = slot->joint_count - 1; i >= 0; --i )
        if ( !slot->joints[i].locked )
            pass_gradient( slot, &slot->joints[i] );
    lane3 g = solve_lower( slot->shift_lower, slot->shift_gradient );
    slot->shift_turn = solve_upper( slot->shift_lower, l3_sub( l3_zero(), l3_mul( slot->shift_pivots, g ) ) );
    slot->shift_trial = l3_add( slot->shift_trial, slot->shift_turn );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        if ( joint->locked )
            continue;
        const lane33 *own = blocks_of( slot, joint );
        lane3 y = l3_add( joint->gradient, l33_transposed_mulv( &own[0], slot->shift_turn ) ),
              above = l3_zero();
        int at = joint->mover;
        for ( int k = joint->level; k > 0; --k, at = slot->joints[at].mover )
            y = l3_add( y, l33_transposed_mulv( &own[k], slot->joints[at].turn ) );
        joint->turn = solve_upper( joint->lower, l3_sub( l3_zero(), l3_mul( joint->pivots, y ) ) );
        if ( joint->mover >= 0 )
            above = slot->joints[joint->mover].turn;
        lane3 relative = l3_sub( joint->turn, above );
        joint->trial = l3_add( joint->trial, l33_transposed_mulv( &joint->dual, relative ) );
        largest = lane_max( largest, l3_dot( relative, relative ) );
    }
    return lane_sqrt( largest );
}

static lane3 way_of( const fit_slot *slot, const fit_task *leader ) // N x
{
    lane3 way = l3_zero();
    for ( const fit_row *row = first_row( slot, leader ); row != NULL; row = next_row( slot, row ) ) {
        way = l3_add( way, l33_transposed_mulv( &row->y, slot->joints[row->joint].turn ) );
        if ( leader->kind == TR_FIT_ROTATION )
            return way;
    }
    if ( leader->kind == TR_FIT_ROTATION )
        return way;
    return l3_mad( way, lane_all( slot->shift_scale ), l3_mul( leader->mask, slot->shift_turn ) );
}

// As find_step, with turns as unknowns.
static lane_mask find_step_of_joints( const tr_fit *fit, fit_slot *slot, lane_mask convex, stride *step )
{
    assemble_joints( fit, slot );
    lane_mask exact = factor_joints( slot, convex );
    slot->shift_trial = slot->shift;
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].trial = slot->joints[i].z;
    step->turn = solve_joints( slot );
    for ( int t = slot->task_count - 1; t >= 0; --t ) {
        fit_task *task = &slot->tasks[t];
        lane_sym w = curvature( task );
        lane3 more = sym_mulv( &w, way_of( slot, &slot->tasks[task->leader] ) );
        task->pull_trial = l3_sub( l3_scale( -task->weight, task->c ), more );
    }
    lane shift = ( slot->shift_scale / fit->size ) * l3_length( slot->shift_turn );
    step->far = lane_max( shift, step->turn );
    return exact;
}

// As correct, with turns as unknowns: adds ( H + Nᵀ W N )⁻¹ Nᵀ W times the error to the trial.
static void correct_joints( fit_slot *slot, lane_mask some )
{
    slot->shift_gradient = l3_zero();
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].gradient = l3_zero();
    for ( int t = 0; t < slot->leader_count; ++t ) {
        const fit_task *task = &slot->tasks[t];
        lane_sym w = task->followers > 0 ? task->give : curvature( task );
        lane3 pull = sym_mulv( &w, wrong_of( slot, task, some ) );
        for ( const fit_row *row = first_row( slot, task ); row != NULL; row = next_row( slot, row ) ) {
            fit_joint *joint = &slot->joints[row->joint];
            joint->gradient = l3_sub( joint->gradient, l33_mulv( &row->y, pull ) );
        }
        if ( task->kind == TR_FIT_POSITION )
            slot->shift_gradient =
                l3_mad( slot->shift_gradient, lane_all( -slot->shift_scale ), l3_mul( task->mask, pull ) );
    }
    lane3 shift = slot->shift_trial;
    keep_trials( slot );
    solve_joints( slot );
    slot->shift_trial = l3_select( some, slot->shift_trial, shift );
    limit_trials( slot, some );
}

// Factors H and builds the rows, without the goals.
static void factor_centre( const tr_fit *fit, fit_slot *slot )
{
    for ( int t = 0; t < slot->task_count; ++t )
        weigh( fit, &slot->tasks[t], slot->sharp );
    gather_slopes( slot );
    factor_tree( fit, slot, ~( lane_mask ){ 0 } );
}

// Compliance of the body at a task, mean over its axes: the trace of N H⁻¹ Nᵀ. Call after factor_centre.
static lane give_without_pulls( const fit_slot *slot, int t )
{
    const fit_task *task = &slot->tasks[t], *leader = &slot->tasks[task->leader];
    lane trace = lane_all( 0 ), axes = l3_dot( task->mask, task->mask );
    for ( const fit_row *row = first_row( slot, leader ); row != NULL; row = next_row( slot, row ) ) {
        lane3 d = slot->joints[row->joint].pivots;
        trace += l3_dot( l3_mul( d, row->y.cx ), row->y.cx ) + l3_dot( l3_mul( d, row->y.cy ), row->y.cy ) +
                 l3_dot( l3_mul( d, row->y.cz ), row->y.cz );
    }
    if ( leader->kind == TR_FIT_POSITION )
        trace += slot->shift_scale * slot->shift_scale * axes;
    return lane_positive( trace ) / axes;
}
