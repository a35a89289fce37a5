// Part of the fit's kernel: gathers frames with the same kinds of goals into blocks, then the tasks, joints
// and rows of a block.
#include "fit/slot.h"

#include <string.h>

// Whether the goal takes part in the energy.
static bool acts( const tr_fit_goal *goal )
{
    return ( goal->axes & TR_FIT_XYZ ) != 0 && goal->ease > 0 && ( goal->hard || goal->weight > 0 );
}

// The joint whose rotation moves the goal. The position of a joint itself does not change when the joint
// turns, so that is its parent; -1 for the position of the root.
static int carrier_of( const tr_fit *fit, const tr_fit_goal *goal )
{
    bool own = goal->kind == TR_FIT_ROTATION || v3_dot( goal->offset, goal->offset ) > 0;
    return own ? goal->joint : fit->skeleton->joints[goal->joint].parent;
}

// ------------------------------------------------------------------------------------------ frames alike

static const tr_fit_goal *next_goal( const tr_fit_frame *frame, int *at )
{
    while ( *at < frame->goal_count && !acts( &frame->goals[*at] ) )
        ++*at;
    return *at < frame->goal_count ? &frame->goals[( *at )++] : NULL;
}

static int outline( const tr_fit_frame *frame ) // which optional arrays are given
{
    return ( frame->positions != NULL ) + 2 * ( frame->rotations != NULL );
}

static uint64_t mixed_in( uint64_t hash, uint64_t more )
{
    hash = ( hash ^ more ) * UINT64_C( 0x9e3779b97f4a7c15 );
    return hash ^ hash >> 29;
}

static uint64_t bits_of( double x )
{
    uint64_t bits;
    x += 0.0; // −0 becomes 0
    memcpy( &bits, &x, sizeof bits );
    return bits;
}

// Whether two goals are on the same point: then they have the same Jacobian.
static bool same_point( const tr_fit_goal *a, const tr_fit_goal *b )
{
    if ( a == b )
        return true;
    return a->kind == TR_FIT_POSITION && b->kind == TR_FIT_POSITION && a->joint == b->joint &&
           a->axes == b->axes && a->offset.x == b->offset.x && a->offset.y == b->offset.y &&
           a->offset.z == b->offset.z;
}

// Where the search for the point of a goal begins in the table.
static int place_in_table( const fit_slot *slot, const tr_fit_goal *goal )
{
    uint64_t hash = mixed_in( (uint64_t)goal->joint, (uint64_t)goal->axes );
    hash = mixed_in( hash, bits_of( goal->offset.x ) );
    hash = mixed_in( hash, bits_of( goal->offset.y ) );
    hash = mixed_in( hash, bits_of( goal->offset.z ) );
    return (int)( hash & (uint64_t)( slot->table_size - 1 ) );
}

static void clear_table( fit_slot *slot )
{
    memset( slot->table, -1, (size_t)slot->table_size * sizeof( int ) );
}

// The first goal of the frame that is on the same point as goal g.
static int first_on_point( const fit_slot *slot, const tr_fit_frame *frame, int g )
{
    int at = place_in_table( slot, &frame->goals[g] );
    while ( slot->table[at] >= 0 && !same_point( &frame->goals[slot->table[at]], &frame->goals[g] ) )
        at = ( at + 1 ) & ( slot->table_size - 1 );
    if ( slot->table[at] < 0 )
        slot->table[at] = g;
    return slot->table[at];
}

// Hash of the kinds and carriers of a frame's goals, and of which goals share a point. Points are part of it
// because the rows that goals share must not depend on the other frames of a block.
static uint64_t kind_of( const tr_fit *fit, fit_slot *slot, const tr_fit_frame *frame )
{
    uint64_t kind = (uint64_t)outline( frame ) + 1;
    const tr_fit_goal *goal;
    clear_table( slot );
    for ( int at = 0; ( goal = next_goal( frame, &at ) ) != NULL; ) {
        uint64_t carrier = 2 * (uint64_t)( carrier_of( fit, goal ) + 1 ) + ( goal->kind == TR_FIT_ROTATION );
        kind = mixed_in( kind, carrier );
        kind = mixed_in( kind, (uint64_t)first_on_point( slot, frame, (int)( goal - frame->goals ) ) );
    }
    return kind;
}

static bool alike( const tr_fit *fit, const tr_fit_frame *a, const tr_fit_frame *b )
{
    int at_a = 0, at_b = 0;
    const tr_fit_goal *of_a, *of_b;
    do {
        of_a = next_goal( a, &at_a );
        of_b = next_goal( b, &at_b );
    } while ( of_a != NULL && of_b != NULL && of_a->kind == of_b->kind &&
              carrier_of( fit, of_a ) == carrier_of( fit, of_b ) );
    return of_a == NULL && of_b == NULL && outline( a ) == outline( b );
}

// Gathers the next block of frames that are not `taken`. False if all are taken. Arrays are [count]; `kinds`
// has kind_of of each frame.
static bool next_block( const tr_fit *fit, const tr_fit_frame *frames, tr_fit_result *results, int count,
                        const uint64_t *kinds, bool *taken, fit_block *out )
{
    int first = 0;
    while ( first < count && taken[first] )
        ++first;
    out->count = 0;
    for ( int f = first; f < count && out->count < LANES; ++f ) {
        if ( taken[f] || kinds[f] != kinds[first] || !alike( fit, &frames[first], &frames[f] ) )
            continue;
        taken[f] = true;
        out->frames[out->count] = &frames[f];
        out->results[out->count++] = &results[f];
    }
    for ( int l = out->count; l < LANES && out->count > 0; ++l )
        out->frames[l] = out->frames[0];
    return out->count > 0;
}

// ------------------------------------------------------------------------------- tasks, joints and rows

static bool is_on_point( const fit_task *leader, const tr_fit_goal *const goals[LANES] )
{
    int l = 0;
    while ( l < LANES && same_point( leader->goals[l], goals[l] ) )
        ++l;
    return l == LANES;
}

// The place in the table of the leader that is on the same point in every lane, or the free place for it.
static int find_leader( const fit_slot *slot, const tr_fit_goal *const goals[LANES] )
{
    int at = place_in_table( slot, goals[0] );
    while ( slot->table[at] >= 0 && !is_on_point( &slot->tasks[slot->table[at]], goals ) )
        at = ( at + 1 ) & ( slot->table_size - 1 );
    return at;
}

// Adds the leaders, or the followers. Carriers are still joints of the skeleton; gather makes them indices.
static void add_tasks( const tr_fit *fit, fit_slot *slot, const fit_block *block, bool leading )
{
    int at[LANES] = { 0 };
    const tr_fit_goal *goals[LANES];
    while ( ( goals[0] = next_goal( block->frames[0], &at[0] ) ) != NULL ) {
        for ( int l = 1; l < LANES; ++l )
            goals[l] = next_goal( block->frames[l], &at[l] );
        int at_point = find_leader( slot, goals ), leader = slot->table[at_point];
        if ( leading ? leader >= 0 : slot->tasks[leader].goals[0] == goals[0] )
            continue;
        if ( leading )
            leader = slot->table[at_point] = slot->leader_count;
        fit_task *task = &slot->tasks[slot->task_count++];
        memcpy( task->goals, goals, sizeof goals );
        task->kind = goals[0]->kind;
        task->carrier = carrier_of( fit, goals[0] );
        task->leader = leader;
        task->followers = 0;
        slot->leader_count += leading;
        slot->tasks[leader].followers += !leading;
    }
}

// Gathers the tasks, and counts in slot->place the leaders below each joint.
static void gather_tasks( const tr_fit *fit, fit_slot *slot, const fit_block *block )
{
    slot->task_count = slot->leader_count = 0;
    memset( slot->place, 0, (size_t)fit->skeleton->joint_count * sizeof( int ) );
    clear_table( slot );
    add_tasks( fit, slot, block, true );
    add_tasks( fit, slot, block, false );
    for ( int t = 0; t < slot->leader_count; ++t )
        for ( int j = slot->tasks[t].carrier; j >= 0; j = fit->skeleton->joints[j].parent )
            slot->place[j]++;
}

// Gathers the joints above tasks, in order, and reserves their rows. Replaces the counts in slot->place by
// indices.
static void gather_joints( const tr_fit *fit, fit_slot *slot )
{
    slot->joint_count = slot->row_count = 0;
    for ( int j = 0; j < fit->skeleton->joint_count; ++j ) {
        int tasks = slot->place[j], parent = fit->skeleton->joints[j].parent;
        if ( tasks == 0 ) {
            slot->place[j] = -1;
            continue;
        }
        fit_joint *joint = &slot->joints[slot->joint_count];
        joint->joint = j;
        joint->parent = parent < 0 ? -1 : slot->place[parent];
        joint->mover = joint->parent;
        if ( joint->mover >= 0 && slot->joints[joint->mover].locked )
            joint->mover = slot->joints[joint->mover].mover;
        joint->offset = fit->skeleton->joints[j].offset;
        joint->locked = !( 1.0 / fit->limbs[j].stiffness > 0 );
        joint->first_row = slot->row_count;
        joint->row_count = 0;
        slot->row_count += joint->locked ? 0 : tasks;
        slot->place[j] = slot->joint_count++;
    }
}

// Gathers tasks, joints and rows of a block. Except for the goals, they are the same in all lanes.
static void gather( const tr_fit *fit, fit_slot *slot, const fit_block *block )
{
    gather_tasks( fit, slot, block );
    gather_joints( fit, slot );
    for ( int t = 0; t < slot->task_count; ++t ) {
        fit_task *task = &slot->tasks[t];
        task->carrier = task->carrier < 0 ? -1 : slot->place[task->carrier];
        int below = -1, i = t < slot->leader_count ? task->carrier : -1;
        task->row = -1;
        if ( i >= 0 && slot->joints[i].locked )
            i = slot->joints[i].mover;
        for ( ; i >= 0; i = slot->joints[i].mover ) {
            int next = slot->joints[i].first_row + slot->joints[i].row_count++;
            fit_row *row = &slot->rows[next];
            row->task = t;
            row->joint = i;
            row->below = below;
            row->above = -1;
            if ( below < 0 )
                task->row = next;
            else
                slot->rows[below].above = next;
            below = next;
        }
    }
}
