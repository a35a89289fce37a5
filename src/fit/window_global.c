// The fit over a window: bodies in time, points and ties, and how hard goals pull.
#include "fit/window.h"

double tr_window_fastest( const body_state *b, int frame )
{
    double most = 0;
    for ( int j = 1; j <= b->joint_count; ++j ) {
        vec3 step = v3_sub( get( b, b->x, frame + 1, j ), get( b, b->x, frame, j ) );
        double square = v3_dot( step, step );
        most = square > most ? square : most;
    }
    return sqrt( most );
}

// The multiplier of the bound on speed grows where it is exceeded, by the square of the excess.
static void bound_speed( const tr_window *w, body_state *b )
{
    double whole = w->def.speed_force * w->def.fps, most = w->next * whole * whole;
    for ( int f = 0; f + 1 < w->job.frame_count; ++f ) {
        double over = fmin( tr_window_fastest( b, f ) * w->def.fps / w->def.speed, w->def.speed_growth );
        if ( over > 1 )
            b->slope[f] = fmin( fmax( b->slope[f], w->def.speed_begin * most ) * over * over, most );
    }
}

// How fast joints are and how much they accelerate around a frame, of what is allowed.
static double strain_of( const tr_window *w, const body_state *b, int frame )
{
    if ( frame < 1 || frame + 1 >= w->job.frame_count )
        return 0;
    double fastest = 0, most = 0;
    for ( int j = 1; j <= b->joint_count; ++j ) {
        vec3 before = get( b, b->x, frame - 1, j ), now = get( b, b->x, frame, j ),
             step = v3_sub( get( b, b->x, frame + 1, j ), now ), bend = v3_sub( step, v3_sub( now, before ) );
        double speed = v3_dot( step, step ), change = v3_dot( bend, bend );
        fastest = speed > fastest ? speed : fastest;
        most = change > most ? change : most;
    }
    return fmax( sqrt( fastest ) * w->def.fps / w->def.speed,
                 sqrt( most ) * w->def.fps * w->def.fps / w->def.acceleration );
}

// What goals of a body, and pulls of the props it holds, are off by that may pull harder.
static double missed_of( const tr_window *w, const body_state *b, int frame )
{
    double most = b->missed[frame];
    for ( int k = 0; k < b->tie_count; ++k ) {
        const tr_window_tie *tie = &w->job.ties[b->ties[k]];
        const tr_window_point *point = &w->job.points[tie->point];
        for ( int n = 0; strength_of( tie, frame ) >= 1 && n < point->pull_count; ++n ) {
            const tr_window_pull *pull = &point->pulls[n];
            vec3 off = masked( v3_sub( pull->place[frame], point->place[frame] ), pull->axes );
            if ( pull->strength[frame] >= 1 && pull->priority < w->def.strict )
                most = fmax( most, v3_length( off ) );
        }
    }
    return most;
}

// Goals that are missed pull harder where the motion is calm and they come nearer, and less where it is not
// calm.
static void strive( const tr_window *w, body_state *b )
{
    int frames = w->job.frame_count, around = tr_whole_frames( 0.5 * w->def.smooth * w->def.fps );
    bool any = false;
    memset( b->urged, 0, (size_t)frames * sizeof( bool ) );
    for ( int f = 0; f < frames && !any; ++f )
        any = missed_of( w, b, f ) > 0.5 * w->def.near || b->effort[f] > (float)w->def.effort;
    if ( !any ) // all pull as they began, or less
        return;
    double ratio = pow( 2, 1 / ( w->def.spread * w->def.fps ) );
    for ( int f = 0; f < frames; ++f ) {
        double strain = strain_of( w, b, f );
        for ( int k = 0; k < b->tie_count; ++k ) // what is strict comes first
            if ( w->job.ties[b->ties[k]].priority >= w->def.strict )
                strain = fmax( strain, 0.5 * w->ties[b->ties[k]].off[f] / w->def.near );
        b->strain[f] = (float)strain;
    }
    for ( int f = 0; f < frames; ++f ) {
        double strain = 0, effort = b->effort[f], missed = missed_of( w, b, f );
        for ( int g = f - around; g <= f + around; ++g )
            strain = g >= 0 && g < frames ? fmax( strain, b->strain[g] ) : strain;
        if ( strain > 1 )
            effort = fmax( effort / ( strain < 2 ? strain : 2 ), w->def.least_effort );
        else if ( missed > 0.5 * w->def.near && effort < 1 && b->before[f] - missed > w->def.gain * missed )
            effort = fmin( 2 * effort, 1 );
        b->urged[f] = (float)effort > b->effort[f];
        b->effort[f] = (float)effort;
        b->before[f] = (float)missed;
    }
    for ( int f = 1; f < frames; ++f )
        b->effort[f] = fminf( b->effort[f], (float)ratio * b->effort[f - 1] );
    for ( int f = frames - 2; f >= 0; --f )
        b->effort[f] = fminf( b->effort[f], (float)ratio * b->effort[f + 1] );
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

// Turns of frames that know nothing of each other follow each other in time.
static void unwind( const tr_window *w, body_state *b )
{
    for ( int f = 1; f < w->job.frame_count; ++f )
        for ( int j = 1; j <= b->joint_count; ++j )
            put( b, b->x, f, j, nearer_turn( get( b, b->x, f, j ), get( b, b->x, f - 1, j ) ) );
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
    for ( int f = 0; f < frames; ++f ) {
        size_t from = (size_t)f * (size_t)b->column_count, to = from + (size_t)b->column_count;
        float most = 0;
        for ( size_t c = from; c < to && !b->still[f]; ++c ) { // what rests does not drift
            b->z[c] = (float)columns[c];
            b->u[c] += b->x[c] - b->z[c]; // 0 where the frame is held: x and z are
        }
        for ( int item = 0; item <= b->joint_count; ++item ) {
            vec3 off = v3_sub( get( b, b->x, f, item ), get( b, b->z, f, item ) );
            most = fmaxf( most, (float)v3_dot( off, off ) );
        }
        b->gap[f] = sqrtf( most );
    }
}

static void meet_some_bodies( void *context, int begin, int end )
{
    tr_window *w = context;
    for ( int i = begin; i < end; ++i )
        if ( !w->bodies[i].rests )
            meet_in_time( w, i, w->threads[tr_parallel_thread()].columns );
}

typedef struct point_sum { // what pulls a point of a frame
    vec3 weight, column;   // of each axis
} point_sum;

static void add_to_point( point_sum *sum, int axes, double by, vec3 to )
{
    sum->weight = v3_add( sum->weight, masked( v3( by, by, by ), axes ) );
    sum->column = v3_add( sum->column, masked( v3_scale( by, to ), axes ) );
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

// 1 where nothing holds or pulls a point, 0 where something does in full.
static double looseness( const tr_window *w, int i, int frame )
{
    const tr_window_point *in = &w->job.points[i];
    const point_state *p = &w->points[i];
    double strongest = 0;
    for ( int k = 0; k < p->tie_count; ++k )
        strongest = fmax( strongest, strength_of( &w->job.ties[p->ties[k]], frame ) );
    for ( int k = 0; k < in->pull_count; ++k )
        strongest = fmax( strongest, in->pulls[k].strength[frame] );
    return ( 1 - strongest ) * ( 1 - strongest );
}

// Everything that says where a point is to be: ties, pulls, and the way it has by itself.
static point_sum sum_of( const tr_window *w, int i, int f )
{
    const tr_window_point *in = &w->job.points[i];
    const point_state *p = &w->points[i];
    double sigma = weight_of( w, p->size ), scaled = 1 / ( ( 1 + w->rho ) * p->size * p->size ),
           none = w->def.point_none * sigma;
    vec3 way = in->way[f];
    point_sum sum = { v3( none, none, none ), v3_zero };
    if ( in->held != NULL && in->held[f] ) {
        add_to_point( &sum, TR_FIT_XYZ, w->def.point_held * sigma, v3_sub( in->place[f], way ) );
        return sum;
    }
    if ( in->near != NULL )
        add_to_point( &sum, TR_FIT_XYZ,
                      w->def.point_near * scaled + w->def.point_rest * sigma * looseness( w, i, f ),
                      v3_sub( in->near[f], way ) );
    for ( int k = 0; k < p->tie_count; ++k ) {
        const tr_window_tie *tie = &w->job.ties[p->ties[k]];
        double strength = strength_of( tie, f );
        if ( !( strength > 0 ) || ( in->near != NULL && strength < 1 ) )
            continue;
        vec3 end = v3_add( end_of( w, tie, f ), w->ties[p->ties[k]].u[f] );
        if ( tie->away != NULL )
            end = v3_sub( end, tie->away[f] );
        double moves = is_held( &w->job.bodies[tie->body], f ) ? w->def.end_held : 1;
        add_to_point( &sum, tie->axes, moves * sigma * fmax( strength * strength, w->def.point_faded ),
                      v3_sub( end, way ) );
    }
    for ( int k = 0; k < in->pull_count; ++k ) {
        const tr_window_pull *pull = &in->pulls[k];
        if ( !( pull->strength[f] > 0 ) )
            continue;
        double far = v3_length( masked( v3_sub( pull->place[f], in->place[f] ), pull->axes ) ),
               force = force_of( &w->forces, pull->priority, p->size );
        if ( pull->priority < w->def.strict )
            force *= point_effort( w, p, f );
        add_to_point( &sum, pull->axes,
                      pull->strength[f] * force / ( ( 1 + w->rho ) * hypot( w->forces.softness, far ) ),
                      v3_sub( pull->place[f], way ) );
    }
    return sum;
}

// The way of a point as d = p − p̂. Axes with the same weights share a factor.
static void solve_point( const tr_window *w, int i )
{
    point_state *p = &w->points[i];
    int frames = w->job.frame_count;
    double scaled = 1 / ( ( 1 + w->rho ) * p->size * p->size );
    for ( int f = 0; f < frames; ++f ) {
        point_sum sum = sum_of( w, i, f );
        for ( int axis = 0; axis < 3; ++axis ) {
            p->weight[axis * frames + f] = axis_of( sum.weight, axis );
            p->columns[axis * frames + f] = axis_of( sum.column, axis );
        }
    }
    for ( int axis = 0; axis < 3; ++axis ) {
        const double *weight = p->weight + axis * frames;
        if ( axis == 0 || memcmp( weight, weight - frames, (size_t)frames * sizeof( double ) ) != 0 )
            tr_chain_factor(
                &( tr_chain_def ){ .frame_count = frames,
                                   .weight = weight,
                                   .bend = w->def.point_bend * pow( w->def.smooth * w->def.fps, 4 ) * scaled,
                                   .free_start = true,
                                   .free_end = true },
                p->factor );
        tr_chain_solve( p->factor, frames, p->columns + axis * frames, 1 );
    }
}

double tr_window_add_to_dual( const tr_window *w, int t, int frame )
{
    const tr_window_tie *tie = &w->job.ties[t];
    double strength = strength_of( tie, frame );
    vec3 *u = &w->ties[t].u[frame],
         off = masked( v3_sub( end_of( w, tie, frame ), wanted_of( w, tie, frame ) ), tie->axes );
    *u = limited( v3_add( *u, off ), strength * strength * most_of( w, tie, w->ties[t].size, frame ) );
    return v3_length( off );
}

static void meet_some_points( void *context, int begin, int end )
{
    tr_window *w = context;
    for ( int i = begin; i < end; ++i ) {
        const tr_window_point *in = &w->job.points[i];
        const point_state *p = &w->points[i];
        int frames = w->job.frame_count;
        if ( !in->fixed )
            solve_point( w, i );
        for ( int f = 0; f < frames && !in->fixed; ++f )
            if ( in->held == NULL || !in->held[f] ) {
                vec3 place = v3_add(
                    in->way[f], v3( p->columns[f], p->columns[frames + f], p->columns[2 * frames + f] ) );
                p->moved[f] = (float)v3_distance( place, in->place[f] );
                in->place[f] = place;
            }
        for ( int k = 0; k < p->tie_count; ++k ) {
            const tr_window_tie *tie = &w->job.ties[p->ties[k]];
            tie_state *t = &w->ties[p->ties[k]];
            for ( int f = 0; f < w->job.frame_count; ++f ) {
                double strength = strength_of( tie, f );
                if ( !( strength > 0 ) || ( tie->count == 1 && strength < 1 ) )
                    continue;
                t->off[f] = (float)( strength * tr_window_add_to_dual( w, p->ties[k], f ) );
            }
        }
    }
}

void tr_window_rescale_ties( const tr_window *w )
{
    double by = ( 1 + w->rho ) / ( 1 + w->next );
    for ( int t = 0; t < w->job.tie_count; ++t )
        for ( int f = 0; f < w->job.frame_count; ++f )
            w->ties[t].u[f] = v3_scale( by, w->ties[t].u[f] );
}

void tr_window_meet_bodies( tr_window *w )
{
    tr_parallel_for( w->job.body_count, 1, meet_some_bodies, w );
}

void tr_window_meet_points( tr_window *w )
{
    tr_parallel_for( w->job.point_count, 1, meet_some_points, w );
}
