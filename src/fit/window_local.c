// The fit over a window: every frame of every body alone, drawn to what the frames agreed upon.
#include "fit/window.h"

// Goals of a tie in a round: in full, every joint goes by what the mean is off p − u; where it fades, and of
// a single joint in the exact fit, it is a hard goal.
static int tie_goals( const tr_window *w, int t, int frame, tr_fit_goal *goals )
{
    const tr_window_tie *tie = &w->job.ties[t];
    double strength = strength_of( tie, frame ), size = w->ties[t].size;
    if ( !( strength > 0 ) )
        return 0;
    vec3 place = wanted_of( w, tie, frame );
    tr_fit_goal goal = tr_fit_position( tie->joints[0], place );
    goal.axes = tie->axes;
    goal.priority = tie->priority;
    goal.ease = strength;
    goal.offset = tie->offset != NULL ? tie->offset[frame] : v3_zero;
    if ( tie->count == 1 && ( w->exact || w->rho == 0 || strength < 1 ) ) {
        goals[0] = goal;
        return 1;
    }
    goal.hard = false;
    goal.ease = 1;
    goal.weight = ( w->rho == 0 ? 1 : 1 + w->rho ) * weight_of( w, size );
    if ( tie->count == 1 ) {
        goal.place = v3_sub( place, w->ties[t].u[frame] );
        goals[0] = goal;
        return 1;
    }
    tr_pose pose = tr_world_pose( &w->job.bodies[tie->body].world, frame );
    vec3 end = end_of( w, tie, frame ), move = v3_sub( place, end );
    if ( w->rho > 0 )
        move = limited( v3_sub( move, w->ties[t].u[frame] ),
                        2 * strength * strength * most_of( w, tie, size, frame ) );
    double weight = 2 * goal.weight;
    for ( int i = 0; i < tie->count; ++i ) {
        goals[i] = goal;
        goals[i].joint = tie->joints[i];
        goals[i].offset = v3_zero;
        goals[i].place = v3_add( pose.positions[tie->joints[i]], move );
        goals[i].weight = weight * fabs( tie->weights[i] );
    }
    return tie->count;
}

// What a goal is off by in a pose: of a place the vector from it to the point, of a rotation the turn.
static vec3 miss_of( const tr_fit_goal *goal, tr_pose pose )
{
    rigid at = { pose.rotations[goal->joint], pose.positions[goal->joint] };
    vec3 off = goal->kind == TR_FIT_ROTATION ? q_to_vector( q_mul( at.rotation, q_conj( goal->rotation ) ) )
                                             : v3_sub( rigid_apply( at, goal->offset ), goal->place );
    return masked( off, goal->axes );
}

// Of the exact fit: a hard goal that gave way is asked for where it has come to, fully beyond 3 `near`, not
// at all within `near`.
static void give_way( const tr_window *w, tr_fit_goal *goal, double near, tr_pose pose )
{
    const tr_window_def *def = &w->def;
    goal->weight /= 1 + w->rho;
    if ( !goal->hard || goal->ease <= 0 )
        return;
    bool turns = goal->kind == TR_FIT_ROTATION;
    vec3 off = miss_of( goal, pose );
    near = turns ? 2 * near : near;
    double kept = goal->ease < 1 ? 1 : smooth_step5( ( v3_length( off ) - near ) / ( 2 * near ) );
    if ( goal->priority >= def->firm && goal->ease >= 1 )
        kept = 0;
    goal->ease = 1;
    if ( turns )
        goal->rotation = q_unit( q_mul( q_from_vector( v3_scale( kept, off ) ), goal->rotation ) );
    else
        goal->place = v3_mad( goal->place, kept, off );
}

// Forces are divided by 1 + ρ, and eases change so that a lone goal still removes its share of what it is off
// by.
static void weaken( const tr_window *w, int body, int frame, tr_fit_goal *goal )
{
    goal->ease /= goal->ease + ( 1 + w->rho ) * ( 1 - goal->ease );
    goal->weight /= 1 + w->rho;
    goal->force *= w->rho > 0 ? effort_of( w, body, goal->priority, frame ) : 1;
}

// Joints that are kept above the floor: in the exact fit, whatever else gives way.
static int floor_goals( const tr_window *w, int i, int frame, tr_fit_goal *goals )
{
    const tr_window_body *in = &w->job.bodies[i];
    const body_state *b = &w->bodies[i];
    size_t row = (size_t)frame * (size_t)b->joint_count;
    int count = 0;
    for ( int j = 0; in->floor != NULL && j < b->joint_count && count < LOW_MOST; ++j )
        if ( b->heights[row + (size_t)j] > -INFINITY ) {
            goals[count] = tr_fit_position( j, v3( 0, b->heights[row + (size_t)j], 0 ) );
            goals[count].axes = TR_FIT_Y;
            goals[count].at_least = true;
            goals[count++].priority = w->def.strict;
        }
    return count;
}

static void note_dips( const tr_window *w, int i, int frame )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    size_t row = (size_t)frame * (size_t)b->joint_count;
    const vec3 *positions = tr_world_pose( &in->world, frame ).positions;
    for ( int j = 0; in->floor != NULL && j < b->joint_count; ++j )
        if ( positions[j].y < in->floor[row + (size_t)j] - w->def.dip ) {
            double height = positions[in->carrier[j]].y + in->floor[row + (size_t)j] - positions[j].y;
            float *least = &b->heights[row + (size_t)in->carrier[j]];
            b->dips = b->dips || *least < height - w->def.dip;
            *least = fmaxf( *least, (float)height );
        }
}

static int frame_goals( const tr_window *w, int i, int frame, tr_fit_goal *goals )
{
    const tr_window_body *in = &w->job.bodies[i];
    const body_state *b = &w->bodies[i];
    tr_pose pose = tr_world_pose( &in->world, frame );
    int count = 0;
    while ( in->goal_count != NULL && count < in->goal_count[frame] ) {
        goals[count] = in->goals[(size_t)frame * (size_t)in->goal_limit + (size_t)count];
        if ( w->exact )
            give_way( w, &goals[count], w->def.near, pose );
        else
            weaken( w, i, frame, &goals[count] );
        count++;
    }
    for ( int k = 0; k < b->tie_count; ++k ) {
        int made = tie_goals( w, b->ties[k], frame, goals + count );
        for ( int g = 0; g < made; ++g )
            if ( w->exact )
                give_way( w, &goals[count + g], w->def.near_tie, pose );
            else
                weaken( w, i, frame, &goals[count + g] );
        count += made;
    }
    count += floor_goals( w, i, frame, goals + count );
    assert( count <= b->goal_limit );
    return count;
}

// The centre ρ/(1+ρ) (z − u) of a frame, and what its last answer turns against it.
static vec3 set_centre( const tr_window *w, int i, int frame, quat *centre )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    double share = w->rho / ( 1 + w->rho ), older = b->rho > 0 ? b->rho / w->rho : 0;
    size_t at = (size_t)frame * (size_t)b->column_count, row = (size_t)frame * (size_t)b->joint_count;
    vec3 root = v3_mad( in->root[frame], share, v3_mad( get( b->z + at ), -older, get( b->u + at ) ) );
    for ( int j = 0; j < b->joint_count; ++j ) {
        size_t column = at + 3 * ( (size_t)j + 1 );
        vec3 turn = v3_scale( share, v3_mad( get( b->z + column ), -older, get( b->u + column ) ) );
        centre[j] = v3_dot( turn, turn ) > 0
                        ? q_unit( q_mul( q_from_vector( turn ), in->start[row + (size_t)j] ) )
                        : in->start[row + (size_t)j];
    }
    tr_fit_memory *memory = &b->memories[frame];
    if ( !memory->known )
        return root;
    const quat *local = tr_clip_frame( &in->clip, frame );
    memory->shift = v3_sub( in->clip.root[frame], root );
    for ( int j = 0; j < b->joint_count; ++j )
        put( memory->turns + 3 * j, turn_between( centre[j], local[j] ) );
    return root;
}

// x of the pose that the fit came to. Turns are near z, where that is known.
static void read_turns( const tr_window *w, int i, int frame )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    size_t at = (size_t)frame * (size_t)b->column_count;
    const quat *local = tr_clip_frame( &in->clip, frame ),
               *start = in->start + (size_t)frame * (size_t)b->joint_count;
    put( b->x + at, v3_sub( in->clip.root[frame], in->root[frame] ) );
    for ( int j = 0; j < b->joint_count; ++j ) {
        size_t column = at + 3 * ( (size_t)j + 1 );
        vec3 turn = turn_between( start[j], local[j] );
        put( b->x + column, b->fresh ? turn : nearer_turn( turn, get( b->z + column ) ) );
    }
}

// How far goals are off that may pull harder. Those that fade are never quite there.
static void note_misses( const tr_window *w, int i, int frame, const tr_fit_frame *asked )
{
    body_state *b = &w->bodies[i];
    tr_pose pose = tr_world_pose( &w->job.bodies[i].world, frame );
    double most = 0;
    for ( int g = 0; g < asked->goal_count; ++g ) {
        const tr_fit_goal *goal = &asked->goals[g];
        if ( goal->hard && goal->ease >= 1 && goal->priority < w->def.strict )
            most = fmax( most, v3_length( miss_of( goal, pose ) ) );
    }
    b->missed[frame] = (float)most;
}

static bool fit_block( tr_window *w, thread_scratch *s, int i, int from, int to, tr_error *error )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    tr_fit fit = *in->fit;
    int count = 0;
    if ( !w->exact ) {
        fit.def.pull /= 1 + w->rho;
        fit.def.tolerance = w->def.tolerance;
        fit.def.max_iterations = w->def.iterations;
    }
    for ( int f = from; f < to; ++f ) {
        if ( is_held( in, f ) )
            continue;
        quat *centre = s->centre + (size_t)count * (size_t)b->joint_count;
        tr_fit_goal *goals = s->goals + (size_t)count * (size_t)b->goal_limit;
        s->frames[count] = ( tr_fit_frame ){ .start = centre,
                                             .root = set_centre( w, i, f, centre ),
                                             .goals = goals,
                                             .goal_count = frame_goals( w, i, f, goals ),
                                             .memory = &b->memories[f] };
        s->results[count] = ( tr_fit_result ){ .local = tr_clip_frame( &in->clip, f ) };
        s->numbers[count++] = f;
    }
    if ( !tr_fit_solve( &fit, &s->fit, s->frames, s->results, count, error ) )
        return false;
    for ( int n = 0; n < count; ++n ) {
        in->clip.root[s->numbers[n]] = s->results[n].root;
        __atomic_fetch_add( &b->steps, s->results[n].iterations, __ATOMIC_RELAXED );
    }
    tr_world world = in->world;
    tr_forward_frames( fit.skeleton, &in->clip, s->numbers, count, &world );
    for ( int n = 0; n < count; ++n )
        note_dips( w, i, s->numbers[n] );
    for ( int n = 0; n < count && !w->exact; ++n ) {
        read_turns( w, i, s->numbers[n] );
        note_misses( w, i, s->numbers[n], &s->frames[n] );
    }
    return true;
}

static int block_count( const tr_window *w )
{
    return ( w->job.frame_count + BLOCK - 1 ) / BLOCK;
}

static void fit_some( void *context, int begin, int end )
{
    tr_window *w = context;
    thread_scratch *s = &w->threads[tr_parallel_thread()];
    for ( int n = begin; n < end; ++n ) {
        int i = n / block_count( w ), from = n % block_count( w ) * BLOCK,
            to = from + BLOCK < w->job.frame_count ? from + BLOCK : w->job.frame_count;
        tr_error error;
        if ( !w->bodies[i].rests && !fit_block( w, s, i, from, to, &error ) )
            tr_first_failure_note( &w->failure, n, &error );
    }
}

bool tr_window_fit_all( tr_window *w, tr_error *error )
{
    w->failure.job = -1;
    tr_parallel_for( w->job.body_count * block_count( w ), 1, fit_some, w );
    if ( w->failure.job >= 0 )
        *error = w->failure.error;
    return w->failure.job < 0;
}
