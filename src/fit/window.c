// The fit of bodies over a window of frames. fit.h has the energy and the split.
#include "fit/private.h"
#include "solve/solve.h"

#include <assert.h>
#include <string.h>

enum {
    BLOCK = 32,   // frames of a task: enough to fill the lanes, few enough for all threads to have work
    LOW_MOST = 8, // joints of a frame that are kept above the floor, at most
};

tr_window_def tr_default_window_def( double fps )
{
    return ( tr_window_def ){ .fps = fps,
                              .smooth = 0.2,
                              .speed = 7.3,
                              .speed_force = 0.105,
                              .jump = 15.7,
                              .draw = 130,
                              .growth = 1.25,
                              .rounds = 16,
                              .rest = 2e-4,
                              .strict = 3,
                              .effort = 0.01,
                              .acceleration = 50,
                              .tie_weight = 50,
                              .mass_force = 10,
                              .point_bend = 400,
                              .point_near = 1,
                              .firm = 4,
                              .near = 2e-3,
                              .near_tie = 1e-2,
                              .dip = 1e-4,
                              .tolerance = 1e-3,
                              .iterations = 20,
                              .exact_rounds = 4 };
}

typedef struct body_state {
    int joint_count, column_count; // 3 for the root's shift, then 3 for each joint
    int goal_limit;                // goals in a frame, at most, those of ties included
    double size;
    float *x, *z, *u;        // [frame_count * column_count]
    double *weight, *slope;  // [frame_count] of the chain: ρ and μ
    tr_chain *factor;        // [frame_count]
    tr_fit_memory *memories; // [frame_count]
    float *remembered;       // [6 * frame_count * joint_count] that they point into
    int *ties;               // [tie_count]
    int tie_count;
    double rho;     // that u is in units of
    bool means;     // a tie holds the mean of several joints
    bool fresh;     // nothing is known of the turns before this round
    bool rests;     // nothing left to do
    double gap;     // between x and z, at most, in the last round
    float *effort;  // [frame_count] share of their force that goals which are not strict pull with
    float *missed;  // [frame_count] metres: what those are off by, at most
    float *strain;  // [frame_count] speed and acceleration, of what is allowed
    bool strives;   // some of them may pull harder yet
    float *heights; // [frame_count * joint_count] at least, of joints that were too low in some round
    bool dips;      // one has grown since the last round
    long steps;     // of Newton's method
} body_state;

typedef struct point_state {
    double size;
    int *ties; // [tie_count]
    int tie_count;
    double *weight;   // [frame_count]
    double *columns;  // [frame_count] of each axis
    tr_chain *factor; // [frame_count]
} point_state;

typedef struct tie_state {
    vec3 *u;            // [frame_count]
    float *off;         // [frame_count] how far the body is from where it is to be, in the last round
    double size, apart; // of the body; what it is off by, at most, in the last round
} tie_state;

typedef struct thread_scratch {
    tr_fit_scratch fit;
    quat *centre;       // [BLOCK * most joints]
    tr_fit_goal *goals; // [BLOCK * most goals]
    double *columns;    // [frame_count * most columns]
    tr_fit_frame frames[BLOCK];
    tr_fit_result results[BLOCK];
    int numbers[BLOCK];
} thread_scratch;

struct tr_window {
    tr_window_def def;
    tr_window_job job;
    tr_fit_def forces; // of what pulls props
    body_state *bodies;
    point_state *points;
    tie_state *ties;
    thread_scratch *threads;
    int thread_count;
    double rho, next; // of this round, and of the chains after it
    bool exact;       // the last fit
    bool all_rest;
    tr_first_failure failure;
};

// ---------------------------------------------------------------------------------------------------- memory

static void free_body( body_state *b )
{
    tr_free( b->x );
    tr_free( b->effort );
    tr_free( b->heights );
    tr_free( b->weight );
    tr_free( b->factor );
    tr_free( b->memories );
    tr_free( b->remembered );
    tr_free( b->ties );
}

void tr_window_destroy( tr_window *w )
{
    if ( w == NULL )
        return;
    for ( int i = 0; w->bodies != NULL && i < w->job.body_count; ++i )
        free_body( &w->bodies[i] );
    for ( int i = 0; w->points != NULL && i < w->job.point_count; ++i ) {
        tr_free( w->points[i].ties );
        tr_free( w->points[i].weight );
        tr_free( w->points[i].factor );
    }
    for ( int i = 0; w->ties != NULL && i < w->job.tie_count; ++i )
        tr_free( w->ties[i].u ), tr_free( w->ties[i].off );
    for ( int i = 0; i < w->thread_count; ++i ) {
        tr_fit_scratch_free( &w->threads[i].fit );
        tr_free( w->threads[i].centre );
        tr_free( w->threads[i].goals );
        tr_free( w->threads[i].columns );
    }
    tr_free( w->bodies );
    tr_free( w->points );
    tr_free( w->ties );
    tr_free( w->threads );
    tr_free( w );
}

static bool build_body( tr_window *w, int i )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    size_t frames = (size_t)w->job.frame_count, joints = (size_t)in->fit->skeleton->joint_count;
    b->joint_count = (int)joints;
    b->column_count = 3 * ( b->joint_count + 1 );
    b->size = in->fit->size;
    int of_ties = 0;
    for ( int t = 0; t < w->job.tie_count; ++t )
        if ( w->job.ties[t].body == i ) {
            b->tie_count++;
            of_ties += w->job.ties[t].count;
            b->means = b->means || w->job.ties[t].count > 1;
        }
    b->goal_limit =
        ( in->goal_count != NULL ? in->goal_limit : 0 ) + of_ties + ( in->floor != NULL ? LOW_MOST : 0 );
    b->heights = tr_alloc( frames * joints, sizeof( float ) );
    size_t all = frames * (size_t)b->column_count;
    b->ties = tr_alloc( (size_t)b->tie_count, sizeof( int ) );
    b->x = tr_alloc( 3 * all, sizeof( float ) );
    b->effort = tr_alloc( 3 * frames, sizeof( float ) );
    b->weight = tr_alloc( 2 * frames, sizeof( double ) );
    b->factor = tr_alloc( frames, sizeof( tr_chain ) );
    b->memories = tr_alloc( frames, sizeof( tr_fit_memory ) );
    b->remembered = tr_alloc( 6 * frames * joints, sizeof( float ) );
    if ( b->ties == NULL || b->x == NULL || b->heights == NULL || b->effort == NULL || b->weight == NULL ||
         b->factor == NULL || b->memories == NULL || b->remembered == NULL )
        return false;
    b->z = b->x + all;
    b->u = b->z + all;
    b->slope = b->weight + frames;
    b->missed = b->effort + frames;
    b->strain = b->missed + frames;
    for ( int t = 0, n = 0; t < w->job.tie_count; ++t )
        if ( w->job.ties[t].body == i )
            b->ties[n++] = t;
    for ( size_t f = 0; f < frames; ++f ) {
        b->memories[f].turns = b->remembered + 6 * f * joints;
        b->memories[f].pulls = b->memories[f].turns + 3 * joints;
    }
    return true;
}

static bool build_point( tr_window *w, int i )
{
    point_state *p = &w->points[i];
    size_t frames = (size_t)w->job.frame_count;
    double sizes = 0;
    for ( int t = 0; t < w->job.tie_count; ++t )
        p->tie_count += w->job.ties[t].point == i;
    p->ties = tr_alloc( (size_t)p->tie_count, sizeof( int ) );
    p->weight = tr_alloc( 4 * frames, sizeof( double ) );
    p->factor = tr_alloc( frames, sizeof( tr_chain ) );
    if ( p->ties == NULL || p->weight == NULL || p->factor == NULL )
        return false;
    p->columns = p->weight + frames;
    for ( int t = 0, n = 0; t < w->job.tie_count; ++t )
        if ( w->job.ties[t].point == i ) {
            p->ties[n++] = t;
            sizes += w->job.bodies[w->job.ties[t].body].fit->size;
        }
    p->size = p->tie_count > 0 ? sizes / p->tie_count : 1;
    return true;
}

static bool build_threads( tr_window *w, tr_error *error )
{
    if ( w->job.body_count == 0 )
        return true;
    tr_fit largest = *w->job.bodies[0].fit; // scratch for it serves all
    int goals = 0, columns = 0, threads = tr_parallel_threads();
    for ( int i = 0; i < w->job.body_count; ++i ) {
        const tr_fit *fit = w->job.bodies[i].fit;
        if ( fit->skeleton->joint_count > largest.skeleton->joint_count )
            largest.skeleton = fit->skeleton;
        largest.depth = fit->depth > largest.depth ? fit->depth : largest.depth;
        goals = w->bodies[i].goal_limit > goals ? w->bodies[i].goal_limit : goals;
        columns = w->bodies[i].column_count > columns ? w->bodies[i].column_count : columns;
    }
    w->threads = tr_alloc( (size_t)threads, sizeof( thread_scratch ) );
    if ( w->threads == NULL )
        return tr_error_memory( error );
    w->thread_count = threads;
    for ( int i = 0; i < threads; ++i ) {
        thread_scratch *t = &w->threads[i];
        t->centre = tr_alloc( BLOCK * (size_t)largest.skeleton->joint_count, sizeof( quat ) );
        t->goals = tr_alloc( BLOCK * (size_t)( goals > 0 ? goals : 1 ), sizeof( tr_fit_goal ) );
        t->columns = tr_alloc( (size_t)w->job.frame_count * (size_t)columns, sizeof( double ) );
        if ( t->centre == NULL || t->goals == NULL || t->columns == NULL )
            return tr_error_memory( error );
        if ( !tr_fit_scratch_build( &t->fit, &largest, goals, 1, error ) )
            return false;
    }
    return true;
}

static bool build( tr_window *w )
{
    w->bodies = tr_alloc( (size_t)w->job.body_count, sizeof( body_state ) );
    w->points = tr_alloc( (size_t)w->job.point_count, sizeof( point_state ) );
    w->ties = tr_alloc( (size_t)w->job.tie_count, sizeof( tie_state ) );
    bool ok = w->bodies != NULL && w->points != NULL && w->ties != NULL;
    for ( int i = 0; ok && i < w->job.body_count; ++i )
        ok = build_body( w, i );
    for ( int i = 0; ok && i < w->job.point_count; ++i )
        ok = build_point( w, i );
    for ( int i = 0; ok && i < w->job.tie_count; ++i ) {
        w->ties[i].size = w->bodies[w->job.ties[i].body].size;
        w->ties[i].u = tr_alloc( (size_t)w->job.frame_count, sizeof( vec3 ) );
        w->ties[i].off = tr_alloc( (size_t)w->job.frame_count, sizeof( float ) );
        ok = w->ties[i].u != NULL && w->ties[i].off != NULL;
    }
    return ok;
}

tr_window *tr_window_create( const tr_window_job *job, const tr_window_def *def, tr_error *error )
{
    assert( job->frame_count > 0 && def->fps > 0 && def->rounds >= 0 );
    tr_window *w = tr_alloc( 1, sizeof( tr_window ) );
    if ( w == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    w->def = *def;
    w->job = *job;
    w->forces = job->body_count > 0 ? job->bodies[0].fit->def : tr_default_fit_def();
    if ( ( build( w ) || tr_error_memory( error ) ) && build_threads( w, error ) )
        return w;
    tr_window_destroy( w );
    return NULL;
}

// --------------------------------------------------------------------------------------------------- columns

static vec3 get( const float *column )
{
    return v3( column[0], column[1], column[2] );
}

static void put( float *column, vec3 v )
{
    column[0] = (float)v.x;
    column[1] = (float)v.y;
    column[2] = (float)v.z;
}

static bool is_held( const tr_window_body *in, int frame )
{
    return in->held != NULL && in->held[frame];
}

// Of the two rotation vectors of at most a full turn that mean the same turn, the nearer one.
static vec3 nearer_turn( vec3 turn, vec3 to )
{
    double angle = v3_length( turn );
    if ( angle < 1e-6 ) // the other one is a full turn about any axis
        return turn;
    vec3 other = v3_scale( 1 - 2 * TR_PI / angle, turn );
    return v3_distance( other, to ) < v3_distance( turn, to ) ? other : turn;
}

// The turn between two rotations; what was not turned at all has none, to the bit.
static vec3 turn_between( quat from, quat to )
{
    return memcmp( &from, &to, sizeof( quat ) ) == 0 ? v3_zero : q_to_vector( q_mul( to, q_conj( from ) ) );
}

static vec3 masked( vec3 v, int axes )
{
    return v3( axes & TR_FIT_X ? v.x : 0, axes & TR_FIT_Y ? v.y : 0, axes & TR_FIT_Z ? v.z : 0 );
}

static double axis_of( vec3 v, int axis )
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// ------------------------------------------------------------------------------------------------------ ties

static double strength_of( const tr_window_tie *tie, int frame )
{
    return tie->strength != NULL ? tie->strength[frame] : 1;
}

static vec3 end_of( const tr_window *w, const tr_window_tie *tie, int frame )
{
    tr_pose pose = tr_world_pose( &w->job.bodies[tie->body].world, frame );
    vec3 mean =
        tie->offset != NULL ? q_rotate( pose.rotations[tie->joints[0]], tie->offset[frame] ) : v3_zero;
    for ( int i = 0; i < tie->count; ++i )
        mean = v3_mad( mean, tie->weights[i], pose.positions[tie->joints[i]] );
    return mean;
}

static vec3 wanted_of( const tr_window *w, const tr_window_tie *tie, int frame )
{
    vec3 place = w->job.points[tie->point].place[frame];
    return tie->away != NULL ? v3_add( place, tie->away[frame] ) : place;
}

// σ of a tie: in a round all forces are divided by 1 + ρ, and this is what is left of it.
static double weight_of( const tr_window *w, double size )
{
    return fmin( w->def.tie_weight / ( size * size ), 1e9 );
}

// What goals of a priority pull with, of their force.
static double effort_of( const tr_window *w, int body, int priority, int frame )
{
    return priority >= w->def.strict ? 1 : w->bodies[body].effort[frame];
}

// The longest u of a tie.
static double most_of( const tr_window *w, const tr_window_tie *tie, double size, int frame )
{
    const tr_fit_def *fit = &w->job.bodies[tie->body].fit->def;
    double force = fit->pull * pow( fit->priority_ratio, tie->priority ) / size;
    force *= tie->count > 1 ? w->def.mass_force : effort_of( w, tie->body, tie->priority, frame );
    return force / ( weight_of( w, size ) * ( 1 + w->rho ) );
}

static vec3 limited( vec3 v, double most )
{
    double length = v3_length( v );
    return length > most ? v3_scale( most / length, v ) : v;
}

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

// ----------------------------------------------------------------------------------------------------- local

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

static bool fit_all( tr_window *w, tr_error *error )
{
    w->failure.job = -1;
    tr_parallel_for( w->job.body_count * block_count( w ), 1, fit_some, w );
    if ( w->failure.job >= 0 )
        *error = w->failure.error;
    return w->failure.job < 0;
}

// -----------------------------------------------------------------------------------------------------
// global

// The fastest joint between a frame and the next, radians a frame.
static double fastest( const body_state *b, int frame )
{
    const float *a = b->x + (size_t)frame * (size_t)b->column_count, *next = a + b->column_count;
    double most = 0;
    for ( int j = 1; j <= b->joint_count; ++j )
        most = fmax( most, v3_distance( get( a + 3 * j ), get( next + 3 * j ) ) );
    return most;
}

// The multiplier of the bound on speed grows where it is exceeded, by no more than nine times in a round.
static void bound_speed( const tr_window *w, body_state *b )
{
    double whole = w->def.speed_force * w->def.fps, most = w->next * whole * whole;
    for ( int f = 0; f + 1 < w->job.frame_count; ++f ) {
        double over = fmin( fastest( b, f ) * w->def.fps / w->def.speed, 3 );
        if ( over > 1 )
            b->slope[f] = fmin( fmax( b->slope[f], 0.01 * most ) * over * over, most );
    }
}

// How fast joints are and how much they accelerate around a frame, of what is allowed.
static double strain_of( const tr_window *w, const body_state *b, int frame )
{
    if ( frame < 1 || frame + 1 >= w->job.frame_count )
        return 0;
    const float *x = b->x + (size_t)frame * (size_t)b->column_count;
    double fastest = 0, most = 0;
    for ( int j = 1; j <= b->joint_count; ++j ) {
        vec3 before = get( x + 3 * j - b->column_count ), now = get( x + 3 * j ),
             after = get( x + 3 * j + b->column_count ), step = v3_sub( after, now );
        fastest = fmax( fastest, v3_dot( step, step ) );
        vec3 bend = v3_sub( step, v3_sub( now, before ) );
        most = fmax( most, v3_dot( bend, bend ) );
    }
    return fmax( sqrt( fastest ) * w->def.fps / w->def.speed,
                 sqrt( most ) * w->def.fps * w->def.fps / w->def.acceleration );
}

// Goals that are missed pull harder where the motion is calm, and less where it is not. Effort changes by no
// more than twice within a thirtieth of a second.
static void strive( const tr_window *w, body_state *b )
{
    int frames = w->job.frame_count, around = tr_whole_frames( 0.5 * w->def.smooth * w->def.fps );
    double ratio = pow( 2, 30 / w->def.fps );
    for ( int f = 0; f < frames; ++f ) {
        double strain = strain_of( w, b, f );
        for ( int k = 0; k < b->tie_count; ++k ) // what is strict comes first
            if ( w->job.ties[b->ties[k]].priority >= w->def.strict )
                strain = fmax( strain, 0.5 * w->ties[b->ties[k]].off[f] / w->def.near );
        b->strain[f] = (float)strain;
    }
    b->strives = false;
    for ( int f = 0; f < frames; ++f ) {
        double strain = 0, effort = b->effort[f];
        for ( int g = f - around; g <= f + around; ++g )
            strain = g >= 0 && g < frames ? fmax( strain, b->strain[g] ) : strain;
        if ( strain > 1 )
            effort = fmax( effort / ( strain < 2 ? strain : 2 ), w->def.effort );
        else if ( b->missed[f] > 0.5 * w->def.near && effort < 1 ) {
            effort = fmin( 2 * effort, 1 );
            b->strives = true;
        }
        b->effort[f] = (float)effort;
    }
    for ( int f = 1; f < frames; ++f )
        b->effort[f] = fminf( b->effort[f], (float)ratio * b->effort[f - 1] );
    for ( int f = frames - 2; f >= 0; --f )
        b->effort[f] = fminf( b->effort[f], (float)ratio * b->effort[f + 1] );
}

// Turns of frames that know nothing of each other follow each other in time.
static void unwind( const tr_window *w, body_state *b )
{
    for ( int f = 1; f < w->job.frame_count; ++f ) {
        float *x = b->x + (size_t)f * (size_t)b->column_count;
        for ( int j = 1; j <= b->joint_count; ++j )
            put( x + 3 * j, nearer_turn( get( x + 3 * j ), get( x + 3 * j - b->column_count ) ) );
    }
}

// z and u of a body, of the x that its fits came to.
static void meet_in_time( const tr_window *w, int i, double *columns )
{
    body_state *b = &w->bodies[i];
    int frames = w->job.frame_count;
    size_t all = (size_t)frames * (size_t)b->column_count;
    if ( b->fresh )
        unwind( w, b );
    b->fresh = false;
    double scale = b->rho > 0 ? b->rho / w->next : 0;
    b->rho = w->next;
    if ( w->rho > 0 ) {
        bound_speed( w, b );
        strive( w, b );
    }
    for ( int f = 0; f < frames; ++f )
        b->weight[f] = w->next;
    tr_chain_factor( &( tr_chain_def ){ .frame_count = frames,
                                        .weight = b->weight,
                                        .slope = b->slope,
                                        .bend = pow( w->def.smooth * w->def.fps, 4 ),
                                        .held = w->job.bodies[i].held,
                                        .free_start = true,
                                        .free_end = true },
                     b->factor );
    for ( size_t c = 0; c < all; ++c ) {
        b->u[c] *= (float)scale;
        columns[c] = w->next * ( (double)b->x[c] + (double)b->u[c] );
    }
    tr_chain_solve( b->factor, frames, columns, b->column_count );
    b->gap = 0;
    for ( size_t c = 0; c < all; ++c ) {
        b->z[c] = (float)columns[c];
        b->u[c] += b->x[c] - b->z[c]; // 0 where the frame is held: x and z are
        b->gap = fmax( b->gap, fabs( (double)b->x[c] - (double)b->z[c] ) );
    }
}

static void meet_bodies( void *context, int begin, int end )
{
    tr_window *w = context;
    for ( int i = begin; i < end; ++i )
        if ( !w->bodies[i].rests )
            meet_in_time( w, i, w->threads[tr_parallel_thread()].columns );
}

static void add_to_point( double *weight, double *columns, double by, double to )
{
    *weight += by;
    *columns += by * to;
}

// A place of a prop pulls as hard as the bodies that hold it allow.
static double point_effort( const tr_window *w, const point_state *p, int frame )
{
    double least = 1;
    for ( int k = 0; k < p->tie_count; ++k )
        if ( strength_of( &w->job.ties[p->ties[k]], frame ) > 0 )
            least = fmin( least, w->bodies[w->job.ties[p->ties[k]].body].effort[frame] );
    return least;
}

// The way of a point along one axis, as d = p − p̂: every tie, pull and the way it has by itself say where.
static void solve_point( const tr_window *w, int i, int axis )
{
    const tr_window_point *in = &w->job.points[i];
    point_state *p = &w->points[i];
    double *columns = p->columns + axis * w->job.frame_count;
    double sigma = weight_of( w, p->size ), scaled = 1 / ( ( 1 + w->rho ) * p->size * p->size );
    for ( int f = 0; f < w->job.frame_count; ++f ) {
        double *weight = &p->weight[f], *column = &columns[f], way = axis_of( in->way[f], axis );
        *weight = 1e-4 * sigma;
        *column = 0;
        if ( in->held != NULL && in->held[f] ) {
            add_to_point( weight, column, 1e6 * sigma, axis_of( in->place[f], axis ) - way );
            continue;
        }
        if ( in->near != NULL )
            add_to_point( weight, column, w->def.point_near * scaled, axis_of( in->near[f], axis ) - way );
        for ( int k = 0; k < p->tie_count; ++k ) {
            const tr_window_tie *tie = &w->job.ties[p->ties[k]];
            double strength = strength_of( tie, f );
            if ( !( strength > 0 ) || !( tie->axes & 1 << axis ) )
                continue;
            vec3 end = v3_add( end_of( w, tie, f ), w->ties[p->ties[k]].u[f] );
            if ( tie->away != NULL )
                end = v3_sub( end, tie->away[f] );
            double moves = is_held( &w->job.bodies[tie->body], f ) ? 1e4 : 1;
            if ( in->near == NULL || strength >= 1 )
                add_to_point( weight, column, moves * sigma * fmax( strength * strength, 1e-4 ),
                              axis_of( end, axis ) - way );
        }
        for ( int k = 0; k < in->pull_count; ++k ) {
            const tr_window_pull *pull = &in->pulls[k];
            if ( !( pull->strength[f] > 0 ) || !( pull->axes & 1 << axis ) )
                continue;
            const tr_fit_def *fit = &w->forces;
            double far = v3_length( masked( v3_sub( pull->place[f], in->place[f] ), pull->axes ) ),
                   force = fit->pull * pow( fit->priority_ratio, pull->priority ) / p->size;
            if ( pull->priority < w->def.strict )
                force *= point_effort( w, p, f );
            add_to_point( weight, column,
                          pull->strength[f] * force / ( ( 1 + w->rho ) * hypot( fit->softness, far ) ),
                          axis_of( pull->place[f], axis ) - way );
        }
    }
    tr_chain_factor(
        &( tr_chain_def ){ .frame_count = w->job.frame_count,
                           .weight = p->weight,
                           .bend = w->def.point_bend * pow( w->def.smooth * w->def.fps, 4 ) * scaled,
                           .free_start = true,
                           .free_end = true },
        p->factor );
    tr_chain_solve( p->factor, w->job.frame_count, columns, 1 );
}

// u += y − p, bounded. Returns how far they are apart.
static double add_to_dual( const tr_window *w, int t, int frame )
{
    const tr_window_tie *tie = &w->job.ties[t];
    double strength = strength_of( tie, frame );
    vec3 *u = &w->ties[t].u[frame],
         off = masked( v3_sub( end_of( w, tie, frame ), wanted_of( w, tie, frame ) ), tie->axes );
    *u = limited( v3_add( *u, off ), strength * strength * most_of( w, tie, w->ties[t].size, frame ) );
    return v3_length( off );
}

static void meet_points( void *context, int begin, int end )
{
    tr_window *w = context;
    for ( int i = begin; i < end; ++i ) {
        const tr_window_point *in = &w->job.points[i];
        const point_state *p = &w->points[i];
        int frames = w->job.frame_count;
        for ( int axis = 0; axis < 3 && !in->fixed; ++axis )
            solve_point( w, i, axis );
        for ( int f = 0; f < frames && !in->fixed; ++f )
            if ( in->held == NULL || !in->held[f] )
                in->place[f] = v3_add(
                    in->way[f], v3( p->columns[f], p->columns[frames + f], p->columns[2 * frames + f] ) );
        for ( int k = 0; k < p->tie_count; ++k ) {
            const tr_window_tie *tie = &w->job.ties[p->ties[k]];
            tie_state *t = &w->ties[p->ties[k]];
            t->apart = 0;
            for ( int f = 0; f < w->job.frame_count; ++f ) {
                double strength = strength_of( tie, f );
                if ( !( strength > 0 ) || ( tie->count == 1 && strength < 1 ) )
                    continue;
                t->off[f] = (float)( strength * add_to_dual( w, p->ties[k], f ) );
                t->apart = fmax( t->apart, t->off[f] );
            }
        }
    }
}

// u of ties is in units of 1 / (1 + ρ).
static void rescale_ties( const tr_window *w )
{
    double by = ( 1 + w->rho ) / ( 1 + w->next );
    for ( int t = 0; t < w->job.tie_count; ++t )
        for ( int f = 0; f < w->job.frame_count; ++f )
            w->ties[t].u[f] = v3_scale( by, w->ties[t].u[f] );
}

// -----------------------------------------------------------------------------------------------------
// rounds

static bool jumps( const tr_window *w, const body_state *b )
{
    for ( int f = 0; f + 1 < w->job.frame_count; ++f )
        if ( fastest( b, f ) > w->def.jump / w->def.fps )
            return true;
    return false;
}

static void begin_body( tr_window *w, int i )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    memset( b->x, 0, 3 * (size_t)w->job.frame_count * (size_t)b->column_count * sizeof( float ) );
    for ( size_t n = 0; n < (size_t)w->job.frame_count * (size_t)b->joint_count; ++n )
        b->heights[n] = -INFINITY;
    b->dips = false;
    memset( b->slope, 0, (size_t)w->job.frame_count * sizeof( double ) );
    b->rho = 0;
    b->fresh = true;
    b->rests = false;
    for ( int f = 0; f < w->job.frame_count; ++f ) {
        b->effort[f] = (float)w->def.effort;
        b->missed[f] = 0;
    }
    for ( int f = 0; f < w->job.frame_count; ++f )
        b->memories[f].known = false;
    for ( int f = 0; f < w->job.frame_count; ++f )
        if ( !is_held( in, f ) ) {
            memcpy( tr_clip_frame( &in->clip, f ), in->start + (size_t)f * (size_t)b->joint_count,
                    (size_t)b->joint_count * sizeof( quat ) );
            in->clip.root[f] = in->root[f];
        }
}

static void find_rest( tr_window *w, int round )
{
    w->all_rest = round > 0 && w->job.body_count > 0;
    for ( int i = 0; i < w->job.body_count; ++i ) {
        body_state *b = &w->bodies[i];
        bool rests = b->gap < w->def.rest && !b->strives && !b->dips;
        b->dips = false;
        for ( int k = 0; rests && k < b->tie_count; ++k )
            rests = w->ties[b->ties[k]].apart < w->def.rest * b->size;
        b->rests = rests && round > 0;
        w->all_rest = w->all_rest && b->rests;
    }
}

// Ends that are free to meet anywhere meet half way.
static void meet_half_way( const tr_window *w )
{
    for ( int i = 0; i < w->job.point_count; ++i ) {
        const tr_window_point *in = &w->job.points[i];
        const point_state *p = &w->points[i];
        for ( int f = 0; !in->fixed && in->near == NULL && f < w->job.frame_count; ++f ) {
            vec3 sum = v3_zero;
            double weights = 0;
            for ( int k = 0; k < p->tie_count; ++k ) {
                const tr_window_tie *tie = &w->job.ties[p->ties[k]];
                if ( strength_of( tie, f ) < 1 )
                    continue;
                double moves = is_held( &w->job.bodies[tie->body], f ) ? 1e4 : 1;
                vec3 end = end_of( w, tie, f );
                sum = v3_mad( sum, moves, tie->away != NULL ? v3_sub( end, tie->away[f] ) : end );
                weights += moves;
            }
            if ( weights > 0 )
                in->place[f] = v3_scale( 1 / weights, sum );
        }
    }
}

// What means are off by goes into the next of the exact fits.
static void correct_means( const tr_window *w )
{
    for ( int t = 0; t < w->job.tie_count; ++t ) {
        const tr_window_tie *tie = &w->job.ties[t];
        for ( int f = 0; tie->count > 1 && f < w->job.frame_count; ++f )
            if ( strength_of( tie, f ) > 0 )
                add_to_dual( w, t, f );
    }
}

static void wake_all( tr_window *w )
{
    for ( int i = 0; i < w->job.body_count; ++i )
        w->bodies[i].rests = false;
}

static bool fit_exactly( tr_window *w, tr_error *error )
{
    meet_half_way( w );
    wake_all( w );
    w->exact = true;
    bool ok = fit_all( w, error ), again = true;
    for ( int round = 1; ok && again && round < w->def.exact_rounds; ++round ) {
        again = false;
        for ( int i = 0; i < w->job.body_count; ++i ) {
            body_state *b = &w->bodies[i];
            b->rests = !b->means && !b->dips;
            b->dips = false;
            again = again || !b->rests;
        }
        correct_means( w );
        ok = !again || fit_all( w, error );
    }
    w->exact = false;
    return ok;
}

static void follow( const tr_window *w )
{
    if ( w->job.follow != NULL )
        w->job.follow( w->job.context );
}

bool tr_window_solve( tr_window *w, tr_error *error )
{
    w->rho = 0;
    w->all_rest = false;
    for ( int i = 0; i < w->job.body_count; ++i ) {
        begin_body( w, i );
        w->bodies[i].steps = 0;
    }
    for ( int t = 0; t < w->job.tie_count; ++t )
        memset( w->ties[t].u, 0, (size_t)w->job.frame_count * sizeof( vec3 ) );
    if ( !fit_all( w, error ) )
        return false;
    for ( int round = 0; !w->all_rest && round <= w->def.rounds; ++round ) {
        for ( int i = 0; round == 1 && i < w->job.body_count; ++i )
            if ( jumps( w, &w->bodies[i] ) )
                begin_body( w, i );
        if ( round > 0 && ( !tr_work_go_on( error ) || !fit_all( w, error ) ) )
            return false;
        follow( w );
        tr_parallel_for( w->job.point_count, 1, meet_points, w );
        w->next = round > 1 ? w->rho * w->def.growth : w->def.draw;
        tr_parallel_for( w->job.body_count, 1, meet_bodies, w );
        rescale_ties( w );
        w->rho = w->next;
        find_rest( w, round );
    }
    return fit_exactly( w, error );
}

long tr_window_steps( const tr_window *w )
{
    long steps = 0;
    for ( int i = 0; i < w->job.body_count; ++i )
        steps += w->bodies[i].steps;
    return steps;
}
