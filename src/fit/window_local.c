// The fit over a window: every frame of every body alone, drawn to what the frames agreed upon.
#include "fit/window.h"

// Goals of a tie in a round: in full, every joint moves by the distance of the mean from p − u; where it
// fades, and of a single joint in the exact fit, it is a hard goal.
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
        goals[i].weight = weight * fmin( fabs( tie->weights[i] ), 1 ); // parts of a whole, or far beyond it
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

// Of the exact fit, about a pose that is smooth in time and `off` the goal: a hard goal that was missed is
// asked for where that pose has it, fully beyond 3 `near`, not at all within `near`; a soft one always. What
// is asked for where it is pulls no harder than in the last round.
static void give_way( const tr_window *w, tr_fit_goal *goal, vec3 off, double missed, double near,
                      double effort )
{
    bool turns = goal->kind == TR_FIT_ROTATION;
    near = turns ? 2 * near : near;
    double kept = goal->ease < 1 || !goal->hard ? 1 : smooth_step5( ( missed - near ) / ( 2 * near ) );
    if ( goal->hard && goal->priority >= w->def.firm && goal->ease >= 1 )
        kept = 0;
    goal->ease = goal->ease > 0 ? 1 : 0;
    goal->force *= 1 + kept * ( effort - 1 );
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
            b->dips[frame] = b->dips[frame] || *least < height - w->def.dip;
            *least = fmaxf( *least, (float)height );
        }
}

// The pose that a frame came to by itself in the last round: x.
static tr_pose own_pose( const tr_window *w, const thread_scratch *s, int i, int frame )
{
    const tr_window_body *in = &w->job.bodies[i];
    const body_state *b = &w->bodies[i];
    const quat *start = in->start + (size_t)frame * (size_t)b->joint_count;
    vec3 root = v3_add( in->root[frame], get( b, b->x, frame, 0 ) );
    for ( int j = 0; j < b->joint_count; ++j )
        s->local[j] = q_unit( q_mul( q_from_vector( get( b, b->x, frame, j + 1 ) ), start[j] ) );
    tr_clip clip = { .frame_count = 1, .joint_count = b->joint_count, .rotations = s->local, .root = &root };
    tr_forward( in->fit->skeleton, &clip, 0, s->pose );
    return s->pose;
}

// The exact fit: what comes first is closed if the frame by itself closed it, and fades as it did there.
// Everything else goes by the pose that is smooth in time.
static void settle_goals( const tr_window *w, const thread_scratch *s, int i, int frame, tr_fit_goal *goals,
                          int count, double near )
{
    tr_pose smooth = tr_world_pose( &w->job.bodies[i].world, frame ), own = { 0 };
    for ( int g = 0; g < count; ++g ) {
        bool strict = goals[g].hard && goals[g].priority >= w->def.strict;
        if ( strict && own.positions == NULL )
            own = own_pose( w, s, i, frame );
        vec3 off = miss_of( &goals[g], strict && goals[g].ease < 1 ? own : smooth );
        double missed = strict ? v3_length( miss_of( &goals[g], own ) ) : v3_length( off );
        give_way( w, &goals[g], off, missed, near, effort_of( w, i, goals[g].priority, frame ) );
    }
}

static int frame_goals( const tr_window *w, const thread_scratch *s, int i, int frame, tr_fit_goal *goals )
{
    const tr_window_body *in = &w->job.bodies[i];
    const body_state *b = &w->bodies[i];
    int count = in->goal_count != NULL ? in->goal_count[frame] : 0;
    if ( count > 0 )
        memcpy( goals, in->goals + (size_t)frame * (size_t)in->goal_limit, (size_t)count * sizeof *goals );
    if ( w->exact )
        settle_goals( w, s, i, frame, goals, count, w->def.near );
    for ( int g = 0; g < count && !w->exact; ++g )
        weaken( w, i, frame, &goals[g] );
    for ( int k = 0; k < b->tie_count; ++k ) {
        int made = tie_goals( w, b->ties[k], frame, goals + count );
        bool settles = w->exact && w->job.ties[b->ties[k]].count == 1;
        if ( settles )
            settle_goals( w, s, i, frame, goals + count, made, w->def.near_tie );
        for ( int g = 0; g < made && !settles; ++g )
            weaken( w, i, frame, &goals[count + g] );
        count += made;
    }
    count += floor_goals( w, i, frame, goals + count );
    assert( count <= b->goal_limit );
    return count;
}

static tr_fit_turns turns_of( const tr_window *w, int i, int frame )
{
    const tr_window_body *in = &w->job.bodies[i];
    const body_state *b = &w->bodies[i];
    size_t row = (size_t)frame * (size_t)b->column_count;
    return ( tr_fit_turns ){ .joint_count = b->joint_count,
                             .start = in->start + (size_t)frame * (size_t)b->joint_count,
                             .local = tr_clip_frame( &in->clip, frame ),
                             .z = b->z + row,
                             .u = b->u + row,
                             .share = w->exact ? 1 : w->rho / ( 1 + w->rho ),
                             .older = w->exact || b->rho == 0 ? 0 : b->rho / w->rho,
                             .near = b->fresh ? NULL : b->z + row,
                             .x = b->x + row };
}

// The centre of a frame, and what its last answer turns against it: ρ/(1+ρ) (z − u) in the rounds, z itself
// in the exact fit.
static vec3 set_centre( const tr_window *w, int i, int frame, quat *centre )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    tr_fit_memory *memory = &b->memories[frame];
    tr_fit_turns turns = turns_of( w, i, frame );
    turns.centre = centre;
    turns.against = memory->known ? memory->turns : NULL;
    tr_fit_set_centre( in->fit->def.portable, &turns );
    vec3 shift = v3_mad( get( b, b->z, frame, 0 ), -turns.older, get( b, b->u, frame, 0 ) ),
         root = v3_mad( in->root[frame], turns.share, shift );
    memory->shift = v3_sub( in->clip.root[frame], root );
    return root;
}

// x of the pose that the fit came to. Turns are near z, where that is known.
static void read_turns( const tr_window *w, int i, int frame )
{
    const tr_window_body *in = &w->job.bodies[i];
    const body_state *b = &w->bodies[i];
    put( b, b->x, frame, 0, v3_sub( in->clip.root[frame], in->root[frame] ) );
    tr_fit_turns turns = turns_of( w, i, frame );
    tr_fit_read_turns( in->fit->def.portable, &turns );
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
        if ( is_held( in, f ) || b->still[f] )
            continue;
        quat *centre = s->centre + (size_t)count * (size_t)b->joint_count;
        tr_fit_goal *goals = s->goals + (size_t)count * (size_t)b->goal_limit;
        s->frames[count] = ( tr_fit_frame ){ .start = centre,
                                             .root = set_centre( w, i, f, centre ),
                                             .goals = goals,
                                             .goal_count = frame_goals( w, s, i, f, goals ),
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

static void pose_block( tr_window *w, int i, int from, int to )
{
    tr_window_body *in = &w->job.bodies[i];
    for ( int f = from; f < to; ++f )
        if ( !is_held( in, f ) ) {
            in->clip.root[f] = set_centre( w, i, f, tr_clip_frame( &in->clip, f ) );
            tr_forward( in->fit->skeleton, &in->clip, f, tr_world_pose( &in->world, f ) );
        }
}

static void do_some( void *context, int begin, int end, bool fits )
{
    tr_window *w = context;
    thread_scratch *s = &w->threads[tr_parallel_thread()];
    for ( int n = begin; n < end; ++n ) {
        int i = n / block_count( w ), from = n % block_count( w ) * BLOCK,
            to = from + BLOCK < w->job.frame_count ? from + BLOCK : w->job.frame_count;
        tr_error error;
        if ( !fits )
            pose_block( w, i, from, to );
        else if ( !w->bodies[i].rests && !fit_block( w, s, i, from, to, &error ) )
            tr_first_failure_note( &w->failure, n, &error );
    }
}

static void fit_some( void *context, int begin, int end )
{
    do_some( context, begin, end, true );
}

static void pose_some( void *context, int begin, int end )
{
    do_some( context, begin, end, false );
}

void tr_window_pose_all( tr_window *w )
{
    tr_parallel_for( w->job.body_count * block_count( w ), 1, pose_some, w );
}

bool tr_window_fit_all( tr_window *w, tr_error *error )
{
    w->failure.job = -1;
    tr_parallel_for( w->job.body_count * block_count( w ), 1, fit_some, w );
    if ( w->failure.job >= 0 )
        *error = w->failure.error;
    return w->failure.job < 0;
}
