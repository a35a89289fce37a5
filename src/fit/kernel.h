// Solves a block of frames of the skeleton fit, from input to results. Compiled once per kind of lanes; the
// including file defines KERNEL( name ). Lanes never mix: an `if` is taken if any lane needs it, and the code
// inside leaves the other lanes unchanged.
#include "fit/kernel_aim.h"
#include "fit/kernel_block.h"
#include "fit/kernel_pose.h"
#include "fit/kernel_step.h"
#include "fit/kernel_turns.h"
#include "fit/kernel_window.h"

static inline lane_mask all_lanes( void )
{
    return ~( lane_mask ){ 0 };
}

// ------------------------------------------------------------------------------------------------- start

static lane_mask find_eased( const fit_slot *slot )
{
    lane_mask eased = { 0 };
    for ( int t = 0; t < slot->task_count; ++t )
        for ( int l = 0; l < LANES; ++l )
            if ( slot->tasks[t].goals[l]->ease < 1 )
                eased[l] = -1;
    return eased;
}

// Ease: makes a goal softer by the compliance of the body at this goal, times (1 − ease) / ease. The goal
// then removes the share `ease` of its error.
static void soften( const tr_fit *fit, fit_slot *slot )
{
    bool many = has_many_goals( slot );
    if ( many )
        factor_centre( fit, slot );
    else
        assemble( fit, slot, all_lanes() );
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        lane give = many ? give_without_pulls( slot, t ) : give_of( slot, t );
        for ( int l = 0; l < LANES; ++l ) {
            double ease = task->goals[l]->ease;
            double series = give[l] * ( 1.0 - ease ) / ease;
            if ( ease >= 1 )
                continue;
            if ( !task->goals[l]->hard ) {
                task->spring[l] /= 1.0 + task->spring[l] * series;
                continue;
            }
            double softer = task->softness[l] + task->force[l] * series;
            task->steady[l] *= task->softness[l] / softer;
            task->softness[l] = softer;
        }
    }
}

// How much shorter the goals below a hinge ask its limb to become.
static lane shortening( const fit_slot *slot, const fit_joint *joint )
{
    lane3 base = slot->joints[joint->parent].position;
    lane most = lane_all( 0 );
    for ( int r = 0; r < joint->row_count; ++r ) {
        const fit_task *task = &slot->tasks[slot->rows[joint->first_row + r].task];
        if ( task->kind != TR_FIT_POSITION )
            continue;
        lane shorter = l3_length( l3_sub( task->reached, base ) ) - l3_length( l3_sub( task->place, base ) );
        lane_mask counts = ( task->mask.x * task->mask.y * task->mask.z > 0 ) & ( shorter > most );
        most = lane_select( counts, shorter, most );
    }
    return most;
}

// Turns the trial of a joint by a rotation vector in the parent's frame.
static void turn_trial( fit_joint *joint, lane3 by, lane_mask some )
{
    lane3 more = l3_mul( joint->stiffness, l33_transposed_mulv( &joint->factor, by ) );
    joint->trial = l3_select( some, l3_add( joint->trial, more ), joint->trial );
}

// A straight limb with its goal on the same line has no gradient, and a limb that noise bends the wrong way
// would stay there. So the first trial bends the limb as far as it has to become shorter (two equal bones
// bent by β are shorter by the share β²/8) and turns the joint above back by half of that. The energy does
// not change.
static lane_mask hint_bends( const tr_fit *fit, fit_slot *slot, lane_mask some )
{
    lane_mask any = { 0 };
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        if ( !lane_any( joint->hinged ) )
            continue;
        // A centre that is bent slightly backwards stays so until a goal asks for more than this.
        lane slack = lane_select( joint->bend < 0, lane_all( fit->def.hint_slack * fit->def.softness ),
                                  lane_all( 0 ) );
        lane shorter = lane_positive( shortening( slot, joint ) - slack );
        lane bend = lane_min( lane_sqrt( shorter * ( 8.0 / fit->limbs[joint->joint].span ) ),
                              lane_all( fit->def.most_hint ) );
        lane_mask hinted = some & joint->hinged & ( lane_abs( joint->bend ) < bend );
        if ( !lane_any( hinted ) )
            continue;
        fit_joint *above = &slot->joints[joint->parent];
        lane3 by = l3_scale( ( bend - joint->bend ) * lane_sqrt( joint->stiffness.x ), joint->factor.cx );
        turn_trial( joint, by, hinted );
        if ( !above->locked )
            turn_trial( above, lq_rotate( above->centre, l3_scale( lane_all( -0.5 ), by ) ), hinted );
        any |= hinted;
    }
    return any;
}

static lane_mask find_known( const fit_block *block )
{
    lane_mask known = { 0 };
    for ( int l = 0; l < LANES; ++l )
        known[l] = block->frames[l]->memory != NULL && block->frames[l]->memory->known ? -1 : 0;
    return known;
}

static lane_mask find_warm( const fit_block *block )
{
    lane_mask warm = { 0 };
    for ( int l = 0; l < LANES; ++l )
        warm[l] = block->frames[l]->warm != NULL ? -1 : 0;
    return warm & ~find_known( block );
}

// Makes the given pose the trial: δ = log( warm · centre⁻¹ ), z = S⁻¹ δ.
static void start_warm( fit_slot *slot, const fit_block *block, lane_mask warm )
{
    lane3 root = l3_zero();
    for ( int l = 0; l < LANES; ++l )
        if ( warm[l] )
            l3_set( &root, l, block->frames[l]->warm_root );
    double stiffness = slot->shift_scale > 0 ? 1 / slot->shift_scale : 0;
    lane3 shift = l3_scale( lane_all( stiffness ), l3_sub( root, slot->root ) );
    slot->shift_trial = l3_select( warm, shift, slot->shift_trial );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        lane_quat pose = joint->centre;
        for ( int l = 0; l < LANES; ++l )
            if ( warm[l] )
                lq_set( &pose, l, block->frames[l]->warm[joint->joint] );
        if ( !joint->locked )
            turn_trial( joint, rotation_error( pose, joint->centre ), warm );
    }
}

static void l3_set_floats( lane3 *a, int l, const float *v )
{
    l3_set( a, l, v3( v[0], v[1], v[2] ) );
}

static void start_known( fit_slot *slot, const fit_block *block, lane_mask known )
{
    lane3 shift = l3_zero();
    for ( int l = 0; l < LANES; ++l )
        if ( known[l] )
            l3_set( &shift, l, block->frames[l]->memory->shift );
    double stiffness = slot->shift_scale > 0 ? 1 / slot->shift_scale : 0;
    slot->shift_trial = l3_select( known, l3_scale( lane_all( stiffness ), shift ), slot->shift_trial );
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        lane3 turn = l3_zero();
        for ( int l = 0; l < LANES; ++l )
            if ( known[l] )
                l3_set_floats( &turn, l, block->frames[l]->memory->turns + 3 * joint->joint );
        if ( !joint->locked )
            turn_trial( joint, turn, known );
    }
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        for ( int l = 0; l < LANES && task->kind == TR_FIT_POSITION; ++l )
            if ( known[l] )
                l3_set_floats( &task->pull_trial, l,
                               block->frames[l]->memory->pulls + 3 * task->goals[l]->joint );
    }
}

// ----------------------------------------------------------------------------------------------- iterate

typedef struct progress {
    lane energy, iterations;
    lane_mask converged;
} progress;

static void go_back( fit_slot *slot, lane_mask some ) // from the trial to the current state
{
    slot->shift_trial = l3_select( some, slot->shift, slot->shift_trial );
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].trial = l3_select( some, slot->joints[i].z, slot->joints[i].trial );
}

static lane_mask any_step( const tr_fit *fit, fit_slot *slot, lane_mask convex, stride *step )
{
    return has_many_goals( slot ) ? find_step_of_joints( fit, slot, convex, step )
                                  : find_step( fit, slot, convex, step );
}

// Newton's method from the current state. No step turns a joint by more than `reach`. A step that does not
// lower the energy is corrected once; if that does not help, it is repeated with a shorter reach. Convergence
// is quadratic: after steps of lengths `before` and `far`, about far² / before remains. Lanes that are `near`
// start from a known memory, which counts as such a step. Between steps the pose is that of the current
// state.
static void minimise( const tr_fit *fit, fit_slot *slot, lane_mask running, lane_mask near, progress *p )
{
    const double rounding = 1e-13; // share of the energy
    const tr_fit_step_def how = fit->def.steps;
    double tolerance = fit->def.tolerance;
    lane zero = lane_all( 0 ), reach = lane_all( how.longest ),
         before = lane_select( near, lane_all( how.known ), zero );
    stride step;
    slot->sharp &= ~running;
    p->converged &= ~running;
    for ( int i = 0; i < fit->def.max_iterations; ++i ) {
        running &= reach > how.ending * tolerance;
        if ( !lane_any( running ) )
            break;
        p->iterations += lane_select( running, lane_all( 1 ), zero );
        lane_mask exact = any_step( fit, slot, ( lane_mask ){ 0 }, &step );
        if ( lane_any( running & ~exact ) )
            any_step( fit, slot, ~exact, &step );
        p->converged |= running & ( step.far < tolerance ) & ~near;
        running &= ~p->converged;
        near = ( lane_mask ){ 0 };
        if ( !lane_any( running ) )
            break;
        limit_step( slot, &step, reach, running );
        lane limit = p->energy * ( 1.0 + rounding ), trial = pose( fit, slot );
        if ( lane_any( running & ( trial > limit ) ) ) {
            ( has_many_goals( slot ) ? correct_joints : correct )( slot, running & ( trial > limit ) );
            trial = pose( fit, slot );
        }
        lane_mask moved = running & ( trial <= limit ), failed = running & ~moved;
        take( slot, moved );
        p->energy = lane_select( moved, trial, p->energy );
        p->converged |= moved & exact & ( step.far * step.far < before * tolerance );
        before = lane_select( moved, lane_select( exact & ( step.turn <= reach ), step.far, zero ), before );
        reach = lane_select(
            moved, lane_min( 2 * reach, lane_all( how.longest ) ),
            lane_select( failed & ~slot->sharp, how.shrink * lane_min( step.turn, reach ), reach ) );
        slot->sharp = moved & ( step.far < how.sharp );
        running &= ~p->converged;
        if ( lane_any( failed ) ) {
            go_back( slot, failed );
            pose( fit, slot );
        }
    }
}

// A hinge may meet a goal bent either way. Mirrors hinges that ended bent backwards, as a trial. Returns the
// lanes that have any.
static lane_mask turn_back( const tr_fit *fit, fit_slot *slot )
{
    double most = fit->def.bent_back;
    lane_mask any = { 0 };
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        lane back = over_limits( joint, joint->z );
        lane_mask wrong = back * back > most * most * joint->stiffness.x;
        wrong &= back < 0;
        joint->trial = joint->z;
        joint->trial.x = lane_select( wrong, joint->z.x - 2 * back, joint->z.x );
        any |= wrong;
    }
    slot->shift_trial = slot->shift;
    for ( int t = 0; t < slot->task_count; ++t )
        slot->tasks[t].pull_trial = l3_select( any, l3_zero(), slot->tasks[t].pull );
    return any;
}

static void pose_and_take( const tr_fit *fit, fit_slot *slot, lane_mask some, progress *p )
{
    p->energy = lane_select( some, pose( fit, slot ), p->energy );
    take( slot, some );
}

// Solves again from the other side of straight and keeps the better result, so that the result does not
// depend on which side was found first.
static void try_other_side( const tr_fit *fit, fit_slot *slot, progress *p )
{
    lane_mask other = turn_back( fit, slot );
    if ( !lane_any( other ) )
        return;
    progress first = *p;
    slot->shift_kept = slot->shift;
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].first = slot->joints[i].z;
    pose_and_take( fit, slot, other, p );
    minimise( fit, slot, other, ( lane_mask ){ 0 }, p );
    lane_mask worse = other & ~( p->energy <= first.energy );
    slot->shift_trial = l3_select( worse, slot->shift_kept, slot->shift );
    for ( int i = 0; i < slot->joint_count; ++i )
        slot->joints[i].trial = l3_select( worse, slot->joints[i].first, slot->joints[i].z );
    pose_and_take( fit, slot, worse, p );
    p->converged = ( p->converged & ~worse ) | ( first.converged & worse );
}

// Poses the centre for ease and hints, sets the first trial of each lane, and iterates.
static void iterate( const tr_fit *fit, fit_slot *slot, const fit_block *block, progress *p )
{
    lane_mask warm = find_warm( block ), known = find_known( block ), cold = ~( warm | known ),
              eased = find_eased( slot ), changed = warm | known | eased;
    slot->sharp = ( lane_mask ){ 0 };
    if ( lane_any( cold | eased ) ) {
        pose_and_take( fit, slot, all_lanes(), p );
        if ( lane_any( eased ) )
            soften( fit, slot );
        changed |= hint_bends( fit, slot, cold );
    }
    if ( lane_any( warm ) )
        start_warm( slot, block, warm );
    if ( lane_any( known ) )
        start_known( slot, block, known );
    if ( lane_any( changed ) )
        pose_and_take( fit, slot, changed, p );
    minimise( fit, slot, all_lanes(), known, p );
    try_other_side( fit, slot, p );
}

// ------------------------------------------------------------------------------------------------ result

static void start_joints( const tr_fit *fit, fit_slot *slot, const fit_block *block, bool aimed )
{
    const quat *start[LANES];
    for ( int l = 0; l < LANES; ++l )
        start[l] = block->frames[l]->start;
    for ( int i = 0; i < slot->joint_count; ++i ) {
        fit_joint *joint = &slot->joints[i];
        joint->centre = aimed ? slot->centre[joint->joint] : load_quat( start, joint->joint );
        joint->z = joint->trial = joint->delta = l3_zero();
        joint->hinged = ( lane_mask ){ 0 };
        joint->taut = joint->tightening = lane_all( 0 );
        if ( !joint->locked )
            find_axes( fit, joint );
    }
}

static void write_pose( const tr_fit *fit, const fit_slot *slot, const fit_block *block, bool aimed )
{
    for ( int l = 0; l < block->count; ++l ) {
        quat *local = block->results[l]->local;
        if ( !aimed )
            memcpy( local, block->frames[l]->start, (size_t)fit->skeleton->joint_count * sizeof( quat ) );
        for ( int j = 0; j < fit->skeleton->joint_count && aimed; ++j )
            local[j] = lq_get( &slot->centre[j], l );
    }
    for ( int i = 0; i < slot->joint_count; ++i ) {
        const fit_joint *joint = &slot->joints[i];
        lane_quat unit = lq_unit( joint->local );
        lane_mask turned = l3_dot( joint->delta, joint->delta ) > 0;
        for ( int l = 0; l < block->count; ++l )
            if ( turned[l] )
                block->results[l]->local[joint->joint] = lq_get( &unit, l );
    }
}

static void write_outcome( const fit_slot *slot, const fit_block *block, const progress *p )
{
    lane worst = lane_all( 0 );
    for ( int t = 0; t < slot->task_count; ++t ) {
        const fit_task *task = &slot->tasks[t];
        lane off = l3_length( task->c );
        for ( int l = 0; l < LANES && task->kind == TR_FIT_POSITION; ++l )
            if ( task->goals[l]->hard && task->goals[l]->ease >= 1 )
                worst[l] = fmax( worst[l], off[l] );
    }
    lane3 root = l3_mad( slot->root, lane_all( slot->shift_scale ), slot->shift );
    for ( int l = 0; l < block->count; ++l ) {
        tr_fit_result *result = block->results[l];
        result->root = l3_get( &root, l );
        result->worst = worst[l];
        result->iterations = (int)p->iterations[l]; // a count, at most max_iterations
        result->converged = p->converged[l] != 0;
    }
}

// Returns how large they are.
static float put_floats( float *out, vec3 v )
{
    out[0] = (float)v.x, out[1] = (float)v.y, out[2] = (float)v.z;
    return fabsf( out[0] ) + fabsf( out[1] ) + fabsf( out[2] );
}

// A pose that nothing has moved counts as not known: the next fit then leaves it as it is, to the bit.
static void write_memory( const tr_fit *fit, const fit_slot *slot, const fit_block *block )
{
    size_t bytes = 3 * (size_t)fit->skeleton->joint_count * sizeof( float );
    lane3 shift = l3_scale( lane_all( slot->shift_scale ), slot->shift );
    for ( int l = 0; l < block->count; ++l ) {
        tr_fit_memory *memory = block->frames[l]->memory;
        if ( memory == NULL )
            continue;
        memory->shift = l3_get( &shift, l );
        double sum = v3_length( memory->shift );
        memset( memory->turns, 0, bytes );
        memset( memory->pulls, 0, bytes );
        for ( int i = 0; i < slot->joint_count; ++i )
            sum +=
                put_floats( memory->turns + 3 * slot->joints[i].joint, l3_get( &slot->joints[i].delta, l ) );
        for ( int t = slot->task_count - 1; t >= 0; --t ) // backwards: the first task of a joint is kept
            if ( slot->tasks[t].kind == TR_FIT_POSITION )
                sum += put_floats( memory->pulls + 3 * slot->tasks[t].goals[l]->joint,
                                   l3_get( &slot->tasks[t].pull, l ) );
        memory->known = sum > 0 && isfinite( sum );
    }
}

static void solve_block( const tr_fit *fit, fit_slot *slot, const fit_block *block )
{
    bool aimed = block->frames[0]->positions != NULL || block->frames[0]->rotations != NULL;
    for ( int l = 0; l < LANES; ++l ) {
        const tr_fit_frame *frame = block->frames[l];
        l3_set( &slot->root, l, frame->positions != NULL ? frame->positions[0] : frame->root );
    }
    slot->steps = &fit->def.steps;
    slot->shift = slot->shift_trial = l3_zero();
    slot->shift_scale = fit->size / sqrt( fit->def.root_stiffness );
    if ( aimed )
        aim( fit, slot, block );
    gather( fit, slot, block );
    start_tasks( fit, slot );
    start_joints( fit, slot, block, aimed );
    progress p = { .converged = all_lanes() };
    if ( slot->task_count > 0 )
        iterate( fit, slot, block, &p );
    write_pose( fit, slot, block, aimed );
    write_outcome( slot, block, &p );
    write_memory( fit, slot, block );
}

// Blocks are gathered among this many frames. The result of a frame does not depend on its block.
enum { WINDOW = 128 };

static void solve_window( const tr_fit *fit, fit_slot *slot, const tr_fit_frame *frames,
                          tr_fit_result *results, int count )
{
    uint64_t kinds[WINDOW];
    bool taken[WINDOW] = { false };
    fit_block block;
    for ( int f = 0; f < count; ++f )
        kinds[f] = kind_of( fit, slot, &frames[f] );
    while ( next_block( fit, frames, results, count, kinds, taken, &block ) )
        solve_block( fit, slot, &block );
}

size_t KERNEL( slot_bytes )( const tr_fit_scratch *scratch )
{
    fit_slot slot;
    uintptr_t at = 0;
    carve( &at, 1, sizeof slot );
    return (size_t)lay_out( &slot, at, scratch );
}

void KERNEL( solve_frames )( const tr_fit *fit, const tr_fit_scratch *scratch, void *memory,
                             const tr_fit_frame *frames, tr_fit_result *results, int count )
{
    uintptr_t at = (uintptr_t)memory;
    fit_slot *slot = carve( &at, 1, sizeof *slot );
    lay_out( slot, at, scratch );
    for ( int f = 0; f < count; f += WINDOW )
        solve_window( fit, slot, frames + f, results + f, count - f < WINDOW ? count - f : WINDOW );
}
