// Private to the fit over a window: what its files share. fit.h has the energy and the split.
//
//   window.c         memory, the rounds, the exact fit at the end
//   window_local.c   every frame alone: goals, centres, fits
//   window_global.c  bodies in time, points and ties, and how hard goals pull
#ifndef TROUPE_FIT_WINDOW_H
#define TROUPE_FIT_WINDOW_H

#include "fit/private.h"
#include "solve/solve.h"

#include <assert.h>
#include <string.h>

enum {
    BLOCK = 32,   // frames of a task: enough to fill the lanes, few enough for all threads to have work
    LOW_MOST = 8, // joints of a frame that are kept above the floor, at most
};

typedef struct body_state {
    int joint_count, column_count; // of the root and the joints: all x, then all y, then all z
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
    bool *still;    // [frame_count] nor in this frame: it keeps its pose
    float *gap;     // [frame_count] between x and z, at most, in the last round
    float *effort;  // [frame_count] share of their force that goals which are not strict pull with
    float *missed;  // [frame_count] metres: what those are off by, at most, and …
    float *before;  // [frame_count] … in the round before
    float *strain;  // [frame_count] speed and acceleration, as a share of what is allowed
    bool *urged;    // [frame_count] they pull harder or less than in the last round
    float *heights; // [frame_count * joint_count] at least, of joints that were too low in some round
    bool *dips;     // [frame_count] one has grown since the last round
    long steps;     // of Newton's method
} body_state;

typedef struct point_state {
    double size;
    int *ties; // [tie_count]
    int tie_count;
    double *weight;   // [3 * frame_count] of all frames for x, then for y, then for z
    double *columns;  // [3 * frame_count] p − p̂, likewise
    tr_chain *factor; // [frame_count]
    float *moved;     // [frame_count] since the last round
} point_state;

typedef struct tie_state {
    vec3 *u;     // [frame_count]
    float *off;  // [frame_count] how far the body is from where it is to be, in the last round
    double size; // of the body
} tie_state;

typedef struct thread_scratch {
    tr_fit_scratch fit;
    quat *centre;       // [BLOCK * most joints]
    tr_fit_goal *goals; // [BLOCK * most goals]
    quat *local;        // [most joints] of a pose that frames came to by themselves …
    tr_pose pose;       // … and its joints
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

// --------------------------------------------------------------------------------------------------- columns

// Of the root (0) or a joint (1 + joint), in a frame of x, z or u.
static inline vec3 get( const body_state *b, const float *all, int frame, int item )
{
    const float *at = all + (size_t)frame * (size_t)b->column_count + item;
    return v3( at[0], at[b->joint_count + 1], at[2 * ( b->joint_count + 1 )] );
}

static inline void put( const body_state *b, float *all, int frame, int item, vec3 v )
{
    float *at = all + (size_t)frame * (size_t)b->column_count + item;
    at[0] = (float)v.x;
    at[b->joint_count + 1] = (float)v.y;
    at[2 * ( b->joint_count + 1 )] = (float)v.z;
}

static inline bool is_held( const tr_window_body *in, int frame )
{
    return in->held != NULL && in->held[frame];
}

static inline vec3 masked( vec3 v, int axes )
{
    return v3( axes & TR_FIT_X ? v.x : 0, axes & TR_FIT_Y ? v.y : 0, axes & TR_FIT_Z ? v.z : 0 );
}

static inline double axis_of( vec3 v, int axis )
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// ------------------------------------------------------------------------------------------------------ ties

static inline double strength_of( const tr_window_tie *tie, int frame )
{
    return tie->strength != NULL ? tie->strength[frame] : 1;
}

static inline vec3 end_of( const tr_window *w, const tr_window_tie *tie, int frame )
{
    tr_pose pose = tr_world_pose( &w->job.bodies[tie->body].world, frame );
    vec3 mean =
        tie->offset != NULL ? q_rotate( pose.rotations[tie->joints[0]], tie->offset[frame] ) : v3_zero;
    for ( int i = 0; i < tie->count; ++i )
        mean = v3_mad( mean, tie->weights[i], pose.positions[tie->joints[i]] );
    return mean;
}

static inline vec3 wanted_of( const tr_window *w, const tr_window_tie *tie, int frame )
{
    vec3 place = w->job.points[tie->point].place[frame];
    return tie->away != NULL ? v3_add( place, tie->away[frame] ) : place;
}

// σ of a tie: in a round all forces are divided by 1 + ρ, and this is what is left of it.
static inline double weight_of( const tr_window *w, double size )
{
    return fmin( w->def.tie_weight / ( size * size ), w->def.tie_most );
}

// What goals of a priority pull with, of their force.
static inline double effort_of( const tr_window *w, int body, int priority, int frame )
{
    return priority >= w->def.strict ? 1 : w->bodies[body].effort[frame];
}

// F of a goal of a priority.
static inline double force_of( const tr_fit_def *fit, int priority, double size )
{
    double force = fit->pull;
    for ( int p = 0; p < priority; ++p )
        force *= fit->priority_ratio;
    return force / size;
}

// The longest u of a tie.
static inline double most_of( const tr_window *w, const tr_window_tie *tie, double size, int frame )
{
    double force = force_of( &w->job.bodies[tie->body].fit->def, tie->priority, size );
    force *= tie->count > 1 ? w->def.mass_force : effort_of( w, tie->body, tie->priority, frame );
    return force / ( weight_of( w, size ) * ( 1 + w->rho ) );
}

static inline vec3 limited( vec3 v, double most )
{
    double length = v3_length( v );
    return length > most ? v3_scale( most / length, v ) : v;
}

// ------------------------------------------------------------------------------------------- window_local.c

bool tr_window_fit_all( tr_window *w, tr_error *error ); // of bodies that do not rest
void tr_window_pose_all( tr_window *w );                 // as z has them

// ------------------------------------------------------------------------------------------ window_global.c

// The fastest joint between a frame and the next, radians a frame.
double tr_window_fastest( const body_state *b, int frame );
void tr_window_meet_bodies( tr_window *w ); // z and u of bodies that do not rest
void tr_window_meet_points( tr_window *w ); // p, and u of ties
// u += y − p of a tie, bounded. Returns how far they are apart.
double tr_window_add_to_dual( const tr_window *w, int tie, int frame );
void tr_window_rescale_ties( const tr_window *w ); // u of ties is in units of 1 / (1 + ρ)

#endif
