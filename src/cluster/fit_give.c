// What gives way. The fit pulls harder at what comes first, but what is far beyond reach pulls too: with a
// body all taut, Newton's method stops before feet are back in their places, and many that pull at one are
// stronger than it. So where more is missed than has to be, what comes last gives way: its goals are asked
// for where they came to, and the frame is fitted again from there, with nothing left that pulls. If that is
// not enough, everything gives way but what comes first of all that is missed.
//
//   fit ─► missed at several levels ─► the lowest asks for what it has ─► fit ─► all but the highest ─► fit
//
// Wishes give way by pulling less. Whatever gave way shows its true distance in the report, which knows
// nothing of this.
#include "cluster/fit.h"

#define MISSED      5e-4 // metres: half of what is reported
#define TURN_MISSED 2e-3 // radians
#define WISH_PULL   0.1  // of the least hard goal's F: what a wish that gave way pulls with

static const int soft_level = -1;

static int level_of( const tr_fit_goal *goal )
{
    return goal->hard ? goal->priority : soft_level;
}

static vec3 point_of( tr_pose pose, const tr_fit_goal *goal )
{
    return rigid_apply( ( rigid ){ pose.rotations[goal->joint], pose.positions[goal->joint] }, goal->offset );
}

// How far off a goal is, metres or radians.
static double miss_of( tr_pose pose, const tr_fit_goal *goal )
{
    vec3 off = goal->kind == TR_FIT_ROTATION
                   ? q_to_vector( q_mul( pose.rotations[goal->joint], q_conj( goal->rotation ) ) )
                   : v3_sub( point_of( pose, goal ), goal->place );
    return v3_length( v3( goal->axes & TR_FIT_X ? off.x : 0, goal->axes & TR_FIT_Y ? off.y : 0,
                          goal->axes & TR_FIT_Z ? off.z : 0 ) );
}

static double wish_weight( const tr_fit *fit, double miss )
{
    return WISH_PULL * fit->def.pull / ( fit->size * miss );
}

// A wish counts while it pulls with any might.
static bool is_missed( const tr_fit *fit, tr_pose pose, const tr_fit_goal *goal )
{
    double miss = miss_of( pose, goal );
    if ( !( goal->ease > 0 ) || !( miss > ( goal->kind == TR_FIT_ROTATION ? TURN_MISSED : MISSED ) ) )
        return false;
    return goal->hard || goal->weight > 1.01 * wish_weight( fit, miss );
}

static void give( const tr_fit *fit, tr_pose pose, tr_fit_goal *goal )
{
    if ( !goal->hard ) {
        goal->weight = wish_weight( fit, miss_of( pose, goal ) );
        return;
    }
    if ( goal->kind == TR_FIT_ROTATION )
        goal->rotation = pose.rotations[goal->joint];
    else
        goal->place = point_of( pose, goal );
    goal->ease = 1; // of this, all
}

// Lets the lowest level of those that are missed give way, or all but the highest; false when nothing has to.
// What fades in or out is never quite there: that alone is no reason, but it gives way as others do.
static bool give_way( const tr_fit *fit, tr_pose pose, bool all, tr_fit_goal *goals, int count )
{
    int lowest = TR_FIT_PRIORITIES, highest = soft_level - 1;
    for ( int g = 0; g < count; ++g )
        if ( is_missed( fit, pose, &goals[g] ) ) {
            int level = level_of( &goals[g] );
            lowest = level < lowest ? level : lowest;
            if ( level > highest && goals[g].ease >= 1 )
                highest = level;
        }
    int below = all ? highest : lowest + 1;
    for ( int g = 0; lowest < highest && g < count; ++g )
        if ( level_of( &goals[g] ) < below && is_missed( fit, pose, &goals[g] ) )
            give( fit, pose, &goals[g] );
    return lowest < highest;
}

// Of the first `count` frames of the batch, those in which something gives way come to be the first.
static int gather( const fitter *s, const fit_body *body, bool all, int count )
{
    const fit_batch *batch = &s->batch;
    int again = 0;
    for ( int n = 0; n < count; ++n ) {
        const tr_fit_result *result = &batch->results[n];
        tr_fit_frame frame = batch->frames[n];
        tr_fit_goal *goals = batch->goals + ( frame.goals - batch->goals );
        int f = batch->stage_frames[n];
        if ( result->worst <= MISSED ||
             !give_way( &body->fit, tr_world_pose( &s->def.result->worlds[body->actor], f ), all, goals,
                        frame.goal_count ) )
            continue;
        frame.memory = NULL;        // what is asked for first is what the next is like
        frame.warm = result->local; // read before it is written
        frame.warm_root = result->root;
        batch->frames[again] = frame;
        batch->stage_frames[again++] = f;
    }
    return again;
}

bool tr_fitter_give_way( fitter *s, fit_body *body, int count, tr_error *error )
{
    for ( int all = 0; all < 2 && count > 0; ++all ) {
        count = gather( s, body, all, count );
        if ( !tr_fitter_solve( s, body, count, error ) )
            return false;
    }
    return true;
}
