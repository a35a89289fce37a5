// Where a result jumps, or goes through the ground: a joint turns far more from one frame to the next than in
// the source and in the copied pose, or changes its speed far more than anything there. Sources that are wild
// themselves allow the same of results, and so does a rule of the document that fades in or out quickly: that
// haste was asked for.
#include "cluster/calm.h"

#include <string.h>

#define WILD_TURN                                                                                            \
    ( tr_default_measure_limits().rotation_spike_deg *                                                       \
      TR_DEGREE )                       // from frame to frame, more than it was copied
#define CALM_TURN    ( 19 * TR_DEGREE ) // the same where a jump is being smoothed
#define WILD_CHANGE  2.0                // of speed, times the largest that was copied …
#define CALM_CHANGE  1.6
#define LEAST_CHANGE 6.0  // m/s², of a body as tall as people are: … which is never less than this
#define TALL         1.75 // metres
#define LEAST_HEIGHT 0.1  // the same: a body of one joint has none
#define PER_CHANGE   0.05 // radians that count as much as a change that large
#define HASTE        2    // frames before and after in which somebody hurries who has to
#define ABRUPT       5    // frames: a rule that fades in less was meant to be sudden
#define DEEP         4e-3 // metres below the ground, more than the source is
#define PER_DEPTH    5.0  // radians that count as much as a metre

typedef struct jump_job {
    tr_jump_search of;
    double *jumps;
} jump_job;

// Whether a rule of the document fades in or out between two frames of the stage, within less than `ease`
// frames.
static bool hurries( const jump_job *job, int actor, int from, int to, double ease )
{
    const tr_stage *stage = job->of.stage;
    for ( int i = job->of.begin[actor]; i < job->of.begin[actor + 1]; ++i ) {
        const tr_rule *rule = &stage->rules[job->of.rules[i]];
        bool comes = rule->first > 0 && from < rule->first && to > rule->first - rule->ease_in - 1,
             goes = rule->last < stage->frame_count - 1 && to > rule->last &&
                    from < rule->last + rule->ease_out + 1;
        if ( rule->constraint >= 0 &&
             ( ( comes && rule->ease_in < ease ) || ( goes && rule->ease_out < ease ) ) )
            return true;
    }
    return false;
}

// Whether the document asks anything of a character between two frames: what nothing was asked of moves as
// its source and its contacts have it.
static bool is_asked( const jump_job *job, int actor, int from, int to )
{
    for ( int i = job->of.begin[actor]; i < job->of.begin[actor + 1]; ++i ) {
        const tr_rule *rule = &job->of.stage->rules[job->of.rules[i]];
        if ( rule->constraint >= 0 && rule->last + rule->ease_out >= from &&
             rule->first - rule->ease_in <= to )
            return true;
    }
    return false;
}

// --------------------------------------------------------------------------------------------------- turns

static double turn_of( const tr_clip *clip, int frame, int joint )
{
    return q_angle( tr_clip_frame( clip, frame )[joint], tr_clip_frame( clip, frame + 1 )[joint] );
}

static bool turns( const tr_actor *actor, int joint )
{
    int from = actor->map[joint];
    return from >= 0 && !actor->target.joints[joint].end_site &&
           !actor->source.skeleton.joints[from].end_site;
}

// The largest turn of a joint that turns by more than `least` more than it was copied, 0: none does.
static double wild_turn( const jump_job *job, int actor, int frame, double least )
{
    const tr_actor *a = &job->of.stage->actors[actor];
    const tr_clip *clip = &job->of.result->motions[actor].clip;
    const quat *now = tr_clip_frame( clip, frame ), *next = tr_clip_frame( clip, frame + 1 );
    double most = 0, enough = cos( 0.5 * least );
    for ( int j = 0; j < clip->joint_count; ++j ) {
        if ( fabs( q_dot( now[j], next[j] ) ) > enough || !turns( a, j ) )
            continue;
        double turn = turn_of( clip, frame, j ), own = turn_of( &a->source.clip, frame, a->map[j] );
        if ( job->of.copied != NULL )
            own = fmax( own, turn_of( &job->of.copied->motions[actor].clip, frame, j ) );
        most = turn - own > least ? fmax( most, turn ) : most;
    }
    bool abrupt = most > 0 && hurries( job, actor, frame - HASTE, frame + 1 + HASTE, ABRUPT );
    return abrupt ? 0 : most;
}

// -------------------------------------------------------------------------------------------------- speeds

// The largest change of speed of joints (those of a map, if there is one), p₀ − 2 p₁ + p₂, squared.
static double change_at( const tr_world *world, const int *map, int frame )
{
    size_t n = (size_t)world->joint_count;
    const vec3 *p = world->positions + (size_t)frame * n;
    double most = 0;
    for ( size_t j = 0; j < n; ++j, ++p ) {
        vec3 d = v3_add( v3_mad( p[0], -2, p[n] ), p[2 * n] );
        double dd = v3_dot( d, d );
        most = dd > most && ( map == NULL || map[j] >= 0 ) ? dd : most;
    }
    return most;
}

static double largest_change( const tr_world *world, const int *map )
{
    double most = 0;
    for ( int f = 0; f + 2 < world->frame_count; ++f )
        most = fmax( most, change_at( world, map, f ) );
    return sqrt( most );
}

// The largest change of speed that nobody wonders at, in metres per frame and frame; `largest` there is.
static double allowed_change( const jump_job *job, int actor, double largest )
{
    const tr_actor *a = &job->of.stage->actors[actor];
    double height = fmax( tr_skeleton_height( &a->target ), LEAST_HEIGHT ), fps = job->of.stage->fps;
    double most = LEAST_CHANGE * height / TALL / ( fps * fps );
    if ( largest <= CALM_CHANGE * most )
        return most; // as much as anybody may
    double ratio = height / fmax( tr_skeleton_height( &a->source.skeleton ), 1e-9 );
    most = fmax( most, ratio * largest_change( &a->world, NULL ) );
    return job->of.copied == NULL ? most
                                  : fmax( most, largest_change( &job->of.copied->worlds[actor], a->map ) );
}

// -------------------------------------------------------------------------------------------------- ground

// How much deeper in the ground than the source's a body's joints are.
static double deepest_joint( const jump_job *job, int actor, int frame )
{
    const tr_stage *stage = job->of.stage;
    const tr_actor *a = &stage->actors[actor];
    const vec3 *now = tr_world_pose( &job->of.result->worlds[actor], frame ).positions,
               *source = tr_world_pose( &a->world, frame ).positions;
    double most = 0;
    for ( int j = 0; j < a->target.joint_count; ++j ) {
        double depth = stage->ground - now[j].y - most;
        if ( depth > 0 && a->map[j] >= 0 )
            depth -= a->height_ratio * fmax( stage->ground - source[a->map[j]].y, 0 );
        most = depth > 0 ? most + depth : most;
    }
    return stage->scene->cast[actor].contacts ? most : 0;
}

// --------------------------------------------------------------------------------------------------- jumps

static void find_jumps( const jump_job *job, int actor )
{
    const tr_stage *stage = job->of.stage;
    size_t row = (size_t)actor * (size_t)stage->frame_count;
    const bool *affected = job->of.affected != NULL ? job->of.affected + row : NULL;
    double *jumps = job->jumps + row;
    int steady = tr_steady_span( stage ) + 2;
    memset( jumps, 0, (size_t)stage->frame_count * sizeof( double ) );
    if ( !is_asked( job, actor, 0, stage->frame_count - 1 ) )
        return;
    double largest = largest_change( &job->of.result->worlds[actor], stage->actors[actor].map ),
           allowed = allowed_change( job, actor, largest );
    for ( int f = 0; f + 1 < stage->frame_count; ++f ) {
        bool calms = affected != NULL && affected[f];
        double depth = deepest_joint( job, actor, f );
        jumps[f] = fmax( wild_turn( job, actor, f, calms ? CALM_TURN : WILD_TURN ),
                         depth > DEEP ? PER_DEPTH * depth : 0 );
    }
    for ( int f = 0; largest > CALM_CHANGE * allowed && f + 2 < stage->frame_count; ++f ) {
        bool calms = affected != NULL && affected[f];
        double most = allowed * ( calms ? CALM_CHANGE : WILD_CHANGE ),
               change = change_at( &job->of.result->worlds[actor], stage->actors[actor].map, f );
        if ( change > most * most && !hurries( job, actor, f + 1 - steady, f + 1 + steady, INFINITY ) )
            jumps[f + 1] = fmax( jumps[f + 1], PER_CHANGE * sqrt( change ) / allowed );
    }
}

static void find_some( void *context, int begin, int end )
{
    for ( int i = begin; i < end; ++i )
        find_jumps( context, i );
}

bool tr_jumps_find( const tr_jump_search *of, double *jumps )
{
    jump_job job = { *of, jumps };
    size_t count = (size_t)of->stage->actor_count * (size_t)of->stage->frame_count;
    tr_parallel_for( of->stage->actor_count, 1, find_some, &job );
    bool any = false;
    for ( size_t i = 0; !any && i < count; ++i )
        any = jumps[i] > 0;
    return any;
}
