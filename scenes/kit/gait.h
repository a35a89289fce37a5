// gait: plans where and when the feet of a walking body stand, and moves them between.
// Any number of legs up to eight, any speed from standing still to running, turning, stepping over edges.
// Body frame: origin on the ground under the body, +Z ahead, +X to the left. Seconds, metres, radians.
//
//     def.path → clock (cycles over time) → stances per leg → foot at any time
//
// A leg stands while the fraction of (clock − phase) is below its duty factor. It lands where its home will
// be at the middle of the coming stance, which makes strides symmetric about the body, turns feet with the
// body, and brings every foot home when the body comes to rest. A step that would move the foot less than
// `min_step` is left out, so a standing body stands still.
#ifndef TROUPE_KIT_GAIT_H
#define TROUPE_KIT_GAIT_H

#include "base/base.h"
#include "math/math.h"

#define TR_GAIT_LEGS 8

// ---------------------------------------------------------------------------------------------- course

typedef struct tr_gait_place { // place of a body: its frame on the ground; position.y is not used
    vec3 position;
    double heading; // about +Y, 0 looks along +Z; not wrapped, so that it can be followed over full turns
} tr_gait_place;

// Where the body is at any time, also before begin and after end. Twice continuously differentiable.
typedef tr_gait_place tr_gait_path( const void *context, double time );

// Height of the ground; may jump at edges.
typedef double tr_gait_terrain( const void *context, double x, double z );

typedef struct tr_course_key { // the body's own velocities at a time
    double time;
    double speed; // ahead, m/s
    double side;  // to the left, m/s
    double turn;  // to the left, radians/s
} tr_course_key;

// A ready-made path: velocities run from key to key with minimum-jerk timing (constant before the first and
// after the last) and are integrated. Three times continuously differentiable.
typedef struct tr_course {
    tr_course_key *keys; // [key_count]
    int key_count;
    tr_gait_place *nodes; // [node_count] at begin + i · step
    int node_count;
    double begin, step;
} tr_course;

// `start` is the place at time `begin`. Keys in rising order of time, at least one. Times outside
// begin … end are followed along the arc the body is on there.
bool tr_course_build( tr_course *out, tr_gait_place start, const tr_course_key *keys, int key_count,
                      double begin, double end, tr_error *error );
void tr_course_free( tr_course *course );
tr_course_key tr_course_velocity( const tr_course *course, double time );
tr_gait_place tr_course_place( const void *course, double time ); // a tr_gait_path

// ------------------------------------------------------------------------------------------------ plan

typedef struct tr_gait_leg {
    vec3 home;             // place of the standing foot, body frame; y is kept above the ground
    vec3 moving;           // added to home at speed (feet come nearer to the middle when walking)
    double heading;        // heading of the foot relative to the body: toes out
    double phase;          // in cycles: the leg lands when the clock passes n + phase
    double duty;           // share of a cycle on the ground
    double lift;           // height of a step on level ground
    double swerve;         // how far a swinging foot keeps to the left of its home
    double roll_off;       // angle by which the heel is up when the foot leaves the ground
    double roll_on;        // angle by which the toes are up when it lands
    double roll_out_share; // share of the stance, at its end, in which the heel rises
    double roll_in_share;  // share of the stance, at its start, in which the toes come down
} tr_gait_leg;

// Changes a leg's constants over time (a walk that becomes a trot). clock(t) − phase(t) must keep rising.
typedef void tr_gait_style( const void *context, int leg, double time, tr_gait_leg *constants );

typedef struct tr_gait_def {
    tr_gait_path *path;
    const void *path_context;
    tr_gait_terrain *terrain; // NULL = flat at 0
    const void *terrain_context;
    tr_gait_style *style; // NULL = constants throughout
    const void *style_context;
    double begin, end; // start well before 0 to have the body in full stride at 0
    tr_gait_leg legs[TR_GAIT_LEGS];
    int leg_count;
    double cycle;       // seconds per cycle at low speed
    double cycle_fast;  // shortest cycle, reached at stride / cycle_fast; = cycle for a constant clock
    double stride;      // metres per cycle in between; 0 = constant clock
    double stride_gain; // seconds: strides grow by this times the speed
    double start_phase; // phase of the clock at begin
    double full_speed;  // at which `moving` counts fully
    double full_stride; // step length at which roll_off and roll_on are reached
    double min_step;    // metres and radians a foot must be off to step at all
    double min_turn;
    double clearance;    // clearance of a swinging foot over the ground in mid-swing
    double margin;       // distance a foothold keeps from edges; 0 = does not care
    double time_jitter;  // irregularity of landing and leaving, in cycles (0.01 is lively)
    double place_jitter; // jitter of the landing place, metres
    unsigned seed;
} tr_gait_def;

tr_gait_def tr_default_gait_def( void );
tr_gait_leg tr_default_gait_leg( void );

typedef struct tr_gait_stance { // the foot stands at `place` from `first` to `last`
    vec3 place;
    double heading;
    double first, last;
    double lift, rise;        // the swing that leads here: its height, and the share of it spent rising
    vec3 bow;                 // its sideways way round, at its middle
    double roll_off, roll_on; // roll in that swing
    double roll_in, roll_out; // seconds of this stance's start and end with a rolling foot
} tr_gait_stance;

typedef struct tr_gait { // a plan
    tr_gait_def def;
    struct tr_gait_track {
        tr_gait_stance *stances; // [count], at least one; the first has always been, the last stays
        int count, capacity;
    } tracks[TR_GAIT_LEGS];
    double *clock; // [clock_count] cycles at begin + i · clock_step
    int clock_count;
    double clock_step;
} tr_gait;

// False when out of memory. Borrows the contexts of `def`.
bool tr_gait_plan( tr_gait *out, const tr_gait_def *def, tr_error *error );
void tr_gait_free( tr_gait *gait );
double tr_gait_clock( const tr_gait *gait, double time ); // cycles; for tails, heads and breathing
double tr_gait_speed( const tr_gait *gait,
                      double time ); // speed of the body, turning on the spot included, m/s
tr_gait_leg tr_gait_leg_at( const tr_gait *gait, int leg, double time ); // constants with style applied

typedef struct tr_gait_foot {
    vec3 position;  // place of the flat foot's reference point (home); constant to the bit in stance
    vec3 base;      // the same without the height of the step
    double heading; // constant to the bit in stance
    double roll;    // > 0: heel up about the ball, < 0: toes up about the heel
    bool planted;
    double swing; // 0 in stance, else the share of the swing that is over
    double load;  // 0 … 1, rises after landing and falls before leaving
    int stance;   // the present one, or the one the swing leads to
} tr_gait_foot;

tr_gait_foot tr_gait_foot_at( const tr_gait *gait, int leg, double time );

// The foot as a rigid body: rolled about `ball` or `heel`, both given in the frame of the flat foot
// (origin at the reference point, +Z towards the toes).
rigid tr_gait_sole( const tr_gait_foot *foot, vec3 ball, vec3 heel );

typedef struct tr_gait_support { // hints for the body above, all twice continuously differentiable
    vec3 centre;                 // load-weighted mean of the standing feet: where the weight wants to be
    vec3 ground;                 // mean of all feet's bases: the ground the body is over
    vec3 normal;                 // normal of the plane through the feet's bases
    double spread; // m², load-weighted square distance of feet from their homes. A body on stiff legs
                   // of length L sinks by spread / 2L: lowest in double support, highest at mid-stance
    double load;   // sum over the feet; 0 = in the air
} tr_gait_support;

tr_gait_support tr_gait_support_at( const tr_gait *gait, double time );

#endif
