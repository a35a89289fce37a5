// The fit of one body over a window of frames. fit.h has the energy and the split.
#include "fit/private.h"
#include "solve/solve.h"

#include <assert.h>
#include <string.h>

tr_window_def tr_default_window_def( double fps )
{
    return ( tr_window_def ){ .fps = fps,
                              .smooth = 0.2,
                              .speed = 7.3,
                              .speed_force = 10,
                              .jump = 15.7,
                              .draw = 0.1,
                              .growth = 1.25,
                              .rounds = 16,
                              .force = { 0.01, 0.01, 0.01, 1, 1, 1 },
                              .firm = 4,
                              .near = 2e-3,
                              .tolerance = 1e-3,
                              .iterations = 20 };
}

struct tr_window {
    tr_window_def def;
    const tr_fit *fit;
    tr_fit_scratch scratch;
    int frame_limit, goal_limit;
    long steps;
    int joint_count, column_count; // 3 for the root's shift, then 3 for each joint
    double *x, *z, *u;             // [frame_limit * column_count]
    double *weight, *slope;        // [frame_limit] of the chain: ρ and μ
    tr_chain *factor;              // [frame_limit]
    quat *centre;                  // [frame_limit * joint_count]
    vec3 *centre_root;             // [frame_limit]
    tr_fit_memory *memories;       // [frame_limit]
    float *remembered;             // [6 * frame_limit * joint_count] that they point into
    tr_fit_goal *goals;            // [frame_limit * goal_limit]
    tr_fit_frame *frames;          // [frame_limit]
    tr_fit_result *results;        // [frame_limit]
    quat *rotations;               // [joint_count] of a pose
    vec3 *positions;               // [joint_count]
};

// ---------------------------------------------------------------------------------------------------- memory

void tr_window_destroy( tr_window *w )
{
    if ( w == NULL )
        return;
    tr_fit_scratch_free( &w->scratch );
    tr_free( w->x );
    tr_free( w->weight );
    tr_free( w->factor );
    tr_free( w->centre );
    tr_free( w->centre_root );
    tr_free( w->memories );
    tr_free( w->remembered );
    tr_free( w->goals );
    tr_free( w->frames );
    tr_free( w->results );
    tr_free( w->rotations );
    tr_free( w->positions );
    tr_free( w );
}

static bool allocate( tr_window *w )
{
    size_t frames = (size_t)w->frame_limit, joints = (size_t)w->joint_count,
           all = frames * (size_t)w->column_count;
    w->x = tr_alloc( 3 * all, sizeof( double ) );
    w->weight = tr_alloc( 2 * frames, sizeof( double ) );
    w->factor = tr_alloc( frames, sizeof( tr_chain ) );
    w->centre = tr_alloc( frames * joints, sizeof( quat ) );
    w->centre_root = tr_alloc( frames, sizeof( vec3 ) );
    w->memories = tr_alloc( frames, sizeof( tr_fit_memory ) );
    w->remembered = tr_alloc( 6 * frames * joints, sizeof( float ) );
    w->goals = tr_alloc( frames * (size_t)w->goal_limit, sizeof( tr_fit_goal ) );
    w->frames = tr_alloc( frames, sizeof( tr_fit_frame ) );
    w->results = tr_alloc( frames, sizeof( tr_fit_result ) );
    w->rotations = tr_alloc( joints, sizeof( quat ) );
    w->positions = tr_alloc( joints, sizeof( vec3 ) );
    if ( w->x == NULL || w->weight == NULL || w->factor == NULL || w->centre == NULL ||
         w->centre_root == NULL || w->memories == NULL || w->remembered == NULL || w->goals == NULL ||
         w->frames == NULL || w->results == NULL || w->rotations == NULL || w->positions == NULL )
        return false;
    w->z = w->x + all;
    w->u = w->z + all;
    w->slope = w->weight + frames;
    for ( size_t f = 0; f < frames; ++f ) {
        w->memories[f].turns = w->remembered + 6 * f * joints;
        w->memories[f].pulls = w->memories[f].turns + 3 * joints;
    }
    return true;
}

tr_window *tr_window_create( const tr_fit *fit, const tr_window_def *def, int frame_count, int goal_count,
                             tr_error *error )
{
    assert( frame_count > 0 && goal_count >= 0 && def->fps > 0 && def->rounds >= 0 );
    tr_window *w = tr_alloc( 1, sizeof( tr_window ) );
    if ( w == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    w->def = *def;
    w->fit = fit;
    w->frame_limit = frame_count;
    w->goal_limit = goal_count > 0 ? goal_count : 1;
    w->joint_count = fit->skeleton->joint_count;
    w->column_count = 3 * ( w->joint_count + 1 );
    if ( tr_fit_scratch_build( &w->scratch, fit, goal_count, 1, error ) &&
         ( allocate( w ) || tr_error_memory( error ) ) )
        return w;
    tr_window_destroy( w );
    return NULL;
}

// --------------------------------------------------------------------------------------------------- columns

static vec3 get( const double *column )
{
    return v3( column[0], column[1], column[2] );
}

static void put( double *column, vec3 v )
{
    column[0] = v.x;
    column[1] = v.y;
    column[2] = v.z;
}

static bool is_held( const tr_window_motion *m, int frame )
{
    return m->held != NULL && m->held[frame];
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

// x of the poses that the fits came to. Turns follow each other in time where nothing is known yet, otherwise
// they are near z.
static void read_turns( tr_window *w, const tr_window_motion *m, int frame_count, bool first )
{
    for ( int f = 0; f < frame_count; ++f ) {
        double *x = w->x + (size_t)f * (size_t)w->column_count;
        if ( is_held( m, f ) ) {
            memset( x, 0, (size_t)w->column_count * sizeof( double ) );
            continue;
        }
        const double *near = !first ? w->z + ( x - w->x ) : f > 0 ? x - w->column_count : NULL;
        const quat *local = m->local + (size_t)f * (size_t)w->joint_count,
                   *start = m->start + (size_t)f * (size_t)w->joint_count;
        put( x, v3_sub( m->local_root[f], m->root[f] ) );
        for ( int j = 0; j < w->joint_count; ++j ) {
            vec3 turn = turn_between( start[j], local[j] );
            put( x + 3 * ( j + 1 ), near != NULL ? nearer_turn( turn, get( near + 3 * ( j + 1 ) ) ) : turn );
        }
    }
}

// The centre ρ/(1+ρ) (z − u) of every frame, and what the last answers turn against it.
static void set_centres( tr_window *w, const tr_window_motion *m, int frame_count, double rho )
{
    double share = rho / ( 1 + rho );
    for ( int f = 0; f < frame_count; ++f ) {
        size_t at = (size_t)f * (size_t)w->column_count, row = (size_t)f * (size_t)w->joint_count;
        if ( is_held( m, f ) )
            continue;
        w->centre_root[f] = v3_mad( m->root[f], share, v3_sub( get( w->z + at ), get( w->u + at ) ) );
        for ( int j = 0; j < w->joint_count; ++j ) {
            size_t column = at + 3 * ( (size_t)j + 1 );
            vec3 turn = v3_scale( share, v3_sub( get( w->z + column ), get( w->u + column ) ) );
            w->centre[row + (size_t)j] =
                v3_dot( turn, turn ) > 0 ? q_unit( q_mul( q_from_vector( turn ), m->start[row + (size_t)j] ) )
                                         : m->start[row + (size_t)j];
        }
        tr_fit_memory *memory = &w->memories[f];
        if ( !memory->known )
            continue;
        memory->shift = v3_sub( m->local_root[f], w->centre_root[f] );
        for ( int j = 0; j < w->joint_count; ++j ) {
            vec3 turn = turn_between( w->centre[row + (size_t)j], m->local[row + (size_t)j] );
            for ( int c = 0; c < 3; ++c )
                memory->turns[3 * j + c] = (float)( c == 0 ? turn.x : c == 1 ? turn.y : turn.z );
        }
    }
}

// ------------------------------------------------------------------------------------------------------ fits

// Fits the frames to w->goals about their centres.
static bool fit_frames( tr_window *w, const tr_window_motion *m, int frame_count, const tr_fit *fit,
                        tr_error *error )
{
    int count = 0;
    for ( int f = 0; f < frame_count; ++f ) {
        if ( is_held( m, f ) )
            continue;
        size_t row = (size_t)f * (size_t)w->joint_count;
        w->frames[count] = ( tr_fit_frame ){ .start = w->centre + row,
                                             .root = w->centre_root[f],
                                             .goals = w->goals + (size_t)f * (size_t)w->goal_limit,
                                             .goal_count = m->goal_begin[f + 1] - m->goal_begin[f],
                                             .memory = &w->memories[f] };
        w->results[count++] =
            ( tr_fit_result ){ .local = m->local + row,
                               .residuals = m->residuals != NULL ? m->residuals + m->goal_begin[f] : NULL };
    }
    if ( !tr_fit_solve( fit, &w->scratch, w->frames, w->results, count, error ) )
        return false;
    for ( int f = 0, n = 0; f < frame_count; ++f )
        if ( !is_held( m, f ) ) {
            w->steps += w->results[n].iterations;
            m->local_root[f] = w->results[n++].root;
        }
    return true;
}

// A round: forces divided by 1 + ρ, and eases so that a lone goal still removes its share of what it is off
// by.
static bool fit_round( tr_window *w, const tr_window_motion *m, int frame_count, double rho, tr_error *error )
{
    tr_fit fit = *w->fit;
    fit.def.pull /= 1 + rho;
    fit.def.tolerance = w->def.tolerance;
    fit.def.max_iterations = w->def.iterations;
    for ( int f = 0; f < frame_count; ++f )
        for ( int g = m->goal_begin[f]; g < m->goal_begin[f + 1]; ++g ) {
            tr_fit_goal *goal =
                &w->goals[(size_t)f * (size_t)w->goal_limit + (size_t)( g - m->goal_begin[f] )];
            *goal = m->goals[g];
            goal->ease /= goal->ease + ( 1 + rho ) * ( 1 - goal->ease );
            goal->weight /= 1 + rho;
            goal->force *= rho > 0 ? w->def.force[goal->priority] : 1;
        }
    return fit_frames( w, m, frame_count, &fit, error );
}

// What a goal is off by in a pose: of a place the vector from it to the point, of a rotation the turn.
static vec3 miss_of( const tr_fit_goal *goal, tr_pose pose )
{
    rigid at = { pose.rotations[goal->joint], pose.positions[goal->joint] };
    vec3 off = goal->kind == TR_FIT_ROTATION ? q_to_vector( q_mul( at.rotation, q_conj( goal->rotation ) ) )
                                             : v3_sub( rigid_apply( at, goal->offset ), goal->place );
    return v3( goal->axes & TR_FIT_X ? off.x : 0, goal->axes & TR_FIT_Y ? off.y : 0,
               goal->axes & TR_FIT_Z ? off.z : 0 );
}

// A hard goal that gave way is asked for where it has come to: fully beyond 3 `near`, not at all within
// `near`.
static void give_way( const tr_window_def *def, tr_fit_goal *goal, tr_pose pose )
{
    if ( !goal->hard || goal->ease <= 0 )
        return;
    bool turns = goal->kind == TR_FIT_ROTATION;
    vec3 off = miss_of( goal, pose );
    double near = turns ? 2 * def->near : def->near;
    double kept = goal->ease < 1 ? 1 : smooth_step5( ( v3_length( off ) - near ) / ( 2 * near ) );
    if ( goal->priority >= def->firm && goal->ease >= 1 )
        kept = 0;
    goal->ease = 1;
    if ( turns )
        goal->rotation = q_unit( q_mul( q_from_vector( v3_scale( kept, off ) ), goal->rotation ) );
    else
        goal->place = v3_mad( goal->place, kept, off );
}

// The exact fit at the end, about the last centres.
static bool fit_exactly( tr_window *w, const tr_window_motion *m, int frame_count, tr_error *error )
{
    tr_pose pose = { w->rotations, w->positions };
    for ( int f = 0; f < frame_count; ++f ) {
        if ( is_held( m, f ) )
            continue;
        tr_clip clip = { .joint_count = w->joint_count,
                         .frame_count = 1,
                         .rotations = m->local + (size_t)f * (size_t)w->joint_count,
                         .root = &m->local_root[f] };
        tr_forward( w->fit->skeleton, &clip, 0, pose );
        for ( int g = m->goal_begin[f]; g < m->goal_begin[f + 1]; ++g ) {
            tr_fit_goal *goal =
                &w->goals[(size_t)f * (size_t)w->goal_limit + (size_t)( g - m->goal_begin[f] )];
            *goal = m->goals[g];
            give_way( &w->def, goal, pose );
        }
    }
    return fit_frames( w, m, frame_count, w->fit, error );
}

// The residuals of the goals as they were asked for.
static void write_residuals( tr_window *w, const tr_window_motion *m, int frame_count )
{
    tr_pose pose = { w->rotations, w->positions };
    for ( int f = 0; m->residuals != NULL && f < frame_count; ++f ) {
        tr_clip clip = { .joint_count = w->joint_count,
                         .frame_count = 1,
                         .rotations = m->local + (size_t)f * (size_t)w->joint_count,
                         .root = &m->local_root[f] };
        tr_forward( w->fit->skeleton, &clip, 0, pose );
        for ( int g = m->goal_begin[f]; g < m->goal_begin[f + 1]; ++g )
            m->residuals[g] = v3_length( miss_of( &m->goals[g], pose ) );
    }
}

// ---------------------------------------------------------------------------------------------------- rounds

// The fastest joint between a frame and the next, radians a frame.
static double fastest( const tr_window *w, int frame )
{
    const double *a = w->x + (size_t)frame * (size_t)w->column_count, *b = a + w->column_count;
    double most = 0;
    for ( int j = 1; j <= w->joint_count; ++j )
        most = fmax( most, v3_distance( get( a + 3 * j ), get( b + 3 * j ) ) );
    return most;
}

static bool jumps( const tr_window *w, int frame_count )
{
    for ( int f = 0; f + 1 < frame_count; ++f )
        if ( fastest( w, f ) > w->def.jump / w->def.fps )
            return true;
    return false;
}

// The multiplier of the bound on speed grows where it is exceeded, by no more than nine times in a round.
static void bound_speed( tr_window *w, int frame_count, double rho )
{
    for ( int f = 0; f + 1 < frame_count; ++f ) {
        double over = fmin( fastest( w, f ) * w->def.fps / w->def.speed, 3 );
        if ( over > 1 )
            w->slope[f] = fmin( fmax( w->slope[f], 0.1 * rho ) * over * over, w->def.speed_force * rho );
    }
}

static void find_consensus( tr_window *w, const tr_window_motion *m, int frame_count, double rho )
{
    size_t columns = (size_t)w->column_count, all = (size_t)frame_count * columns;
    for ( int f = 0; f < frame_count; ++f )
        w->weight[f] = rho;
    tr_chain_factor( &( tr_chain_def ){ .frame_count = frame_count,
                                        .weight = w->weight,
                                        .slope = w->slope,
                                        .bend = pow( w->def.smooth * w->def.fps, 4 ),
                                        .held = m->held,
                                        .free_start = true,
                                        .free_end = true },
                     w->factor );
    for ( size_t i = 0; i < all; ++i )
        w->z[i] = rho * ( w->x[i] + w->u[i] );
    tr_chain_solve( w->factor, frame_count, w->z, w->column_count );
    for ( size_t i = 0; i < all; ++i )
        w->u[i] += w->x[i] - w->z[i]; // 0 where the frame is held: x and z are
}

static void begin( tr_window *w, const tr_window_motion *m, int frame_count )
{
    size_t joints = (size_t)w->joint_count;
    memset( w->x, 0, 3 * (size_t)w->frame_limit * (size_t)w->column_count * sizeof( double ) );
    memset( w->slope, 0, (size_t)w->frame_limit * sizeof( double ) );
    memcpy( m->local, m->start, (size_t)frame_count * joints * sizeof( quat ) );
    memcpy( m->local_root, m->root, (size_t)frame_count * sizeof( vec3 ) );
    for ( int f = 0; f < frame_count; ++f )
        w->memories[f].known = false;
}

bool tr_window_solve( tr_window *w, const tr_window_motion *m, int frame_count, tr_error *error )
{
    assert( frame_count > 0 && frame_count <= w->frame_limit );
    double rho = w->def.draw * pow( w->def.smooth * w->def.fps, 4 );
    w->steps = 0;
    begin( w, m, frame_count );
    set_centres( w, m, frame_count, 0 );
    if ( !fit_round( w, m, frame_count, 0, error ) )
        return false;
    read_turns( w, m, frame_count, true );
    bool anew = jumps( w, frame_count );
    if ( anew )
        begin( w, m, frame_count );
    else
        find_consensus( w, m, frame_count, rho );
    for ( int round = 0; round < w->def.rounds; ++round ) {
        set_centres( w, m, frame_count, rho );
        if ( !tr_work_go_on( error ) || !fit_round( w, m, frame_count, rho, error ) )
            return false;
        read_turns( w, m, frame_count, anew && round == 0 );
        double next = rho * w->def.growth; // u is in units of 1 / ρ
        for ( size_t i = 0; i < (size_t)frame_count * (size_t)w->column_count; ++i )
            w->u[i] *= rho / next;
        rho = next;
        bound_speed( w, frame_count, rho );
        find_consensus( w, m, frame_count, rho );
    }
    set_centres( w, m, frame_count, rho );
    if ( !fit_exactly( w, m, frame_count, error ) )
        return false;
    write_residuals( w, m, frame_count );
    return true;
}

long tr_window_steps( const tr_window *w )
{
    return w->steps;
}
