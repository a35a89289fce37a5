// Bodies of another build hang deeper than their source's: where a person turns a cartwheel, a wolf has its
// snout in the ground. Before anything is solved, the copied pose is raised by as much as the deepest part of
// it between hands and feet, which have their own places, is too deep. Feet and hands that rest on something
// stay there: legs and arms make up for it.
//
// What lies a little deep is left alone, since bodies that lie or kneel are as deep as they are thick. With d
// the depth and l that little, a body is raised by d s((d − l) / l), s going smoothly from 0 to 1; then
// smoothed from above, so that it goes up and down again as slowly as bodies do.
#include "cluster/private.h"

#include <stdatomic.h>

#define LITTLE 0.02 // of the body's height
#define SPAN   0.25 // seconds to either side

typedef struct lifting {
    const tr_stage *stage;
    tr_result *result;
    atomic_bool failed;
} lifting;

// Of all that hangs on the pelvis, hands and feet apart: how much deeper than the source's it is.
static double hanging_depth( const lifting *l, int actor, int pelvis, int frame )
{
    const tr_actor *a = &l->stage->actors[actor];
    const vec3 *now = tr_world_pose( &l->result->worlds[actor], frame ).positions,
               *source = tr_world_pose( &a->world, frame ).positions;
    double ground = l->stage->ground, most = 0;
    for ( int j = pelvis; j < a->target.joint_count; ++j ) {
        int from = a->map[j];
        bool own = from < 0 && a->own.frame_count > 0;
        if ( own || tr_role_is_extremity( a->target.joints[tr_extremity_carrier( &a->target, j )].role ) )
            continue;
        double allowed = from >= 0 ? fmin( source[from].y - ground, 0 ) * a->height_ratio : 0;
        most = fmax( most, ground + allowed - now[j].y );
    }
    return most;
}

static double lift_of( double depth, double little )
{
    return depth > little ? depth * smooth_step5( ( depth - little ) / little ) : 0;
}

static void raise_pose( tr_motion *motion, tr_world *world, int frame, double by )
{
    tr_pose pose = tr_world_pose( world, frame );
    motion->clip.root[frame].y += by;
    for ( int j = 0; j < motion->skeleton.joint_count; ++j )
        pose.positions[j].y += by;
}

static bool lift_actor( const lifting *l, int actor )
{
    int frames = l->stage->frame_count, span = tr_frames_in( SPAN, l->stage->fps );
    int pelvis = tr_actor_pelvis( &l->stage->actors[actor] );
    double little = LITTLE * tr_skeleton_height( &l->stage->actors[actor].target ), deepest = 0;
    double *lifts = tr_alloc( 2 * (size_t)frames, sizeof( double ) );
    if ( lifts == NULL )
        return false;
    for ( int f = 0; f < frames; ++f ) {
        lifts[f] = lift_of( hanging_depth( l, actor, pelvis, f ), little );
        deepest = fmax( deepest, lifts[f] );
    }
    if ( deepest > 0 )
        tr_smooth_from_above( lifts, frames, span, false, lifts + frames );
    for ( int f = 0; deepest > 0 && f < frames; ++f )
        raise_pose( &l->result->motions[actor], &l->result->worlds[actor], f, lifts[f] );
    tr_free( lifts );
    return true;
}

static void lift_some( void *context, int begin, int end )
{
    lifting *l = context;
    for ( int i = begin; i < end; ++i )
        if ( l->stage->actors[i].foreign && l->stage->scene->cast[i].contacts && !lift_actor( l, i ) )
            l->failed = true;
}

bool tr_bodies_lift( const tr_stage *stage, tr_result *result, tr_error *error )
{
    lifting l = { .stage = stage, .result = result };
    tr_parallel_for( stage->actor_count, 1, lift_some, &l );
    return !l.failed || tr_error_memory( error );
}
