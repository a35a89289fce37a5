// Fits skeletons to what the pose graphs came to. Graphs decide where bodies, links and props go; the fit
// starts from the copied rotations of the same frame, brings hands and feet exactly to their places, and then
// lets partners and props meet where everybody can reach:
//
//   fit ─► meet ─► fit ─► … until links agree to half a millimetre
//
// Whatever no skeleton can reach shows as residual after the last fit.
#include "scene/cluster.h"

#include <stdlib.h>
#include <string.h>

#define AGREED     5e-4 // metres: links closer than this are met
#define MAX_ROUNDS 8    // of meeting and fitting again
#define STEADY     0.1  // seconds to either side over which the root is steadied
#define PALM       6.0  // per rad²: stiffness of a holding hand's direction, that of a wrist being 1
#define DIP        1e-3 // metres: a foot this much deeper in the ground than the source's is lifted

// --------------------------------------------------------------------------------------------------- state

// What the rounds of meeting and fitting work on.
typedef struct fit_state {
    const tr_stage *stage;
    tr_result *result;      // motions, worlds and tracks so far
    tr_clip *start;         // [actor_count] the copied clips
    tr_world *copied;       // [actor_count] their joints
    const tr_world *graphs; // [actor_count] what the graphs say
    const bool *affected;   // [(actor_count + prop_count) * frame_count] what may change; NULL: everything
    tr_fit *fits;           // [actor_count]
    int **rules;            // [actor_count] rules that act on the actor
    int *rule_counts;       // [actor_count]
    vec3 *agreed;    // [rule_count * frame_count] where end a of a relation between two characters is to be
    double **holds;  // [actor_count][frame_count * joint_count] height to keep a foot at, 0: none
    vec3 **nudges;   // [2 rule_count][frame_count] of ends that mix joints, NULL for others: what the fit is
                     // told to add so that their mean comes to its place
    tr_lean **leans; // [actor_count][frame_count], NULL where no centre of mass has a place
    bool *stale;     // [actor_count * frame_count] frames to be fitted again
} fit_state;

static void state_free( fit_state *s )
{
    for ( int i = 0; i < s->stage->actor_count; ++i ) {
        if ( s->start != NULL )
            tr_clip_free( &s->start[i] );
        if ( s->copied != NULL )
            tr_world_free( &s->copied[i] );
        if ( s->fits != NULL )
            tr_fit_free( &s->fits[i] );
        if ( s->holds != NULL )
            tr_free( s->holds[i] );
        if ( s->leans != NULL )
            tr_free( s->leans[i] );
        if ( s->rules != NULL )
            tr_free( s->rules[i] );
    }
    for ( int e = 0; s->nudges != NULL && e < 2 * s->stage->rule_count; ++e )
        tr_free( s->nudges[e] );
    tr_free( s->nudges );
    tr_free( s->leans );
    tr_free( s->start );
    tr_free( s->copied );
    tr_free( s->fits );
    tr_free( s->holds );
    tr_free( s->rules );
    tr_free( s->rule_counts );
    tr_free( s->agreed );
    tr_free( s->stale );
}

static bool is_affected( const fit_state *s, int node, int frame )
{
    return s->affected == NULL || s->affected[(size_t)node * (size_t)s->stage->frame_count + (size_t)frame];
}

static bool ever_affected( const fit_state *s, int node )
{
    for ( int f = 0; f < s->stage->frame_count; ++f )
        if ( is_affected( s, node, f ) )
            return true;
    return false;
}

// Several joints that move on their own. Those of one hand or foot do not: they are a point on it, such as a
// palm.
static bool mixes( const tr_stage *stage, const tr_anchor *anchor )
{
    bool several = false;
    for ( int i = 1; anchor->actor >= 0 && i < anchor->count; ++i ) {
        const tr_skeleton *skeleton = &stage->actors[anchor->actor].target;
        several = several || tr_extremity_carrier( skeleton, anchor->joints[i] ) !=
                                 tr_extremity_carrier( skeleton, anchor->joints[0] );
    }
    return several;
}

// What only some rules need.
static bool build_corrections( fit_state *s )
{
    const tr_stage *stage = s->stage;
    size_t frames = (size_t)stage->frame_count;
    s->nudges = tr_alloc( 2 * (size_t)stage->rule_count, sizeof( vec3 * ) );
    s->leans = tr_alloc( (size_t)stage->actor_count, sizeof( tr_lean * ) );
    bool ok = s->nudges != NULL && s->leans != NULL;
    for ( int r = 0; ok && r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        for ( int e = 0; ok && e < 2; ++e )
            if ( mixes( stage, e == 0 ? &rule->a : &rule->b ) ) {
                s->nudges[2 * r + e] = tr_alloc( frames, sizeof( vec3 ) );
                ok = s->nudges[2 * r + e] != NULL;
            }
        bool mass = rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && rule->hard;
        if ( ok && mass && s->leans[rule->a.actor] == NULL ) {
            s->leans[rule->a.actor] = tr_alloc( frames, sizeof( tr_lean ) );
            ok = s->leans[rule->a.actor] != NULL;
        }
    }
    return ok;
}

static bool build_actor_state( fit_state *s, int i, tr_error *error )
{
    const tr_stage *stage = s->stage;
    tr_fit_def def = tr_default_fit_def();
    s->rules[i] = tr_alloc( (size_t)stage->rule_count, sizeof( int ) );
    size_t cells = (size_t)stage->frame_count * (size_t)stage->actors[i].target.joint_count;
    s->holds[i] = tr_alloc( cells, sizeof( double ) );
    if ( s->rules[i] == NULL || s->holds[i] == NULL )
        return tr_error_memory( error );
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].a.actor == i || stage->rules[r].b.actor == i )
            s->rules[i][s->rule_counts[i]++] = r;
    return tr_clip_copy( &s->start[i], &s->result->motions[i].clip, error ) &&
           tr_world_build( &s->copied[i], &s->result->motions[i], error ) &&
           tr_fit_build( &s->fits[i], &stage->actors[i].target, &def, error );
}

static bool state_build( fit_state *s, tr_error *error )
{
    size_t actors = (size_t)s->stage->actor_count, frames = (size_t)s->stage->frame_count;
    s->start = tr_alloc( actors, sizeof( tr_clip ) );
    s->copied = tr_alloc( actors, sizeof( tr_world ) );
    s->fits = tr_alloc( actors, sizeof( tr_fit ) );
    s->holds = tr_alloc( actors, sizeof( double * ) );
    s->rules = tr_alloc( actors, sizeof( int * ) );
    s->rule_counts = tr_alloc( actors, sizeof( int ) );
    s->agreed = tr_alloc( (size_t)s->stage->rule_count * frames, sizeof( vec3 ) );
    s->stale = tr_alloc( actors * frames, sizeof( bool ) );
    if ( s->start == NULL || s->copied == NULL || s->fits == NULL || s->holds == NULL || s->rules == NULL ||
         s->rule_counts == NULL || s->agreed == NULL || s->stale == NULL || !build_corrections( s ) )
        return tr_error_memory( error );
    for ( size_t i = 0; i < actors; ++i )
        if ( ever_affected( s, (int)i ) && !build_actor_state( s, (int)i, error ) )
            return false;
    return true;
}

// ----------------------------------------------------------------------------------------------------- fit

static int fit_priority( const tr_rule *rule )
{
    switch ( rule->kind ) {
    case TR_CONSTRAINT_CONTACT: return rule->surface_prop >= 0 ? 2 : 4;
    case TR_CONSTRAINT_RELATIVE: return 3;
    case TR_CONSTRAINT_ABSOLUTE: return 2;
    default: return 1;
    }
}

static vec3 *agreed_place( const fit_state *s, int rule, int frame )
{
    return &s->agreed[(size_t)rule * (size_t)s->stage->frame_count + (size_t)frame];
}

static bool links_actors( const tr_rule *rule )
{
    return tr_rule_links( rule ) && rule->a.actor >= 0 && rule->b.actor >= 0;
}

// Where a rule wants one of its ends.
static vec3 wanted_place( const fit_state *s, int r, bool is_a, int frame )
{
    const tr_rule *rule = &s->stage->rules[r];
    vec3 target = tr_rule_target( s->stage, s->result, rule, frame );
    if ( !tr_rule_links( rule ) )
        return target;
    if ( links_actors( rule ) ) {
        vec3 meet = *agreed_place( s, r, frame );
        return is_a ? meet : v3_sub( meet, target );
    }
    const tr_anchor *prop = is_a ? &rule->b : &rule->a;
    vec3 place = tr_anchor_position( s->stage, s->result, prop, frame );
    return is_a ? v3_add( place, target ) : v3_sub( place, target );
}

static int fit_axes( const tr_rule *rule )
{
    vec3 acts = tr_rule_masked( rule, v3_one );
    return ( acts.x != 0 ? TR_FIT_X : 0 ) | ( acts.y != 0 ? TR_FIT_Y : 0 ) | ( acts.z != 0 ? TR_FIT_Z : 0 );
}

// Several joints whose mean has a place: all of them move alike, from where the graph has them.
static int mix_goals( const fit_state *s, int r, bool is_a, int frame, const tr_fit_goal *like,
                      tr_fit_goal *goals )
{
    const tr_rule *rule = &s->stage->rules[r];
    const tr_anchor *anchor = is_a ? &rule->a : &rule->b;
    const vec3 *graph = tr_world_pose( &s->graphs[anchor->actor], frame ).positions;
    const quat *turns = tr_world_pose( &s->result->worlds[anchor->actor], frame ).rotations;
    vec3 mean = q_rotate( turns[anchor->joints[0]], anchor->offset );
    for ( int i = 0; i < anchor->count; ++i )
        mean = v3_mad( mean, anchor->weights[i], graph[anchor->joints[i]] );
    vec3 miss = v3_add( v3_sub( like->place, mean ), s->nudges[2 * r + !is_a][frame] );
    for ( int i = 0; i < anchor->count; ++i ) {
        goals[i] = *like;
        goals[i].joint = anchor->joints[i];
        goals[i].place = v3_add( graph[anchor->joints[i]], miss );
    }
    return anchor->count;
}

// The anchor as a point fixed to its first joint, in the pose the actor has now.
static vec3 point_on_joint( const fit_state *s, const tr_anchor *anchor, int frame )
{
    if ( anchor->count == 1 )
        return anchor->offset;
    tr_pose pose = tr_world_pose( &s->result->worlds[anchor->actor], frame );
    vec3 at = tr_anchor_position( s->stage, s->result, anchor, frame );
    return q_unrotate( pose.rotations[anchor->joints[0]], v3_sub( at, pose.positions[anchor->joints[0]] ) );
}

// Returns how many goals a rule makes of one of its ends.
static int make_goals( const fit_state *s, int r, bool is_a, int frame, tr_fit_goal *goals )
{
    const tr_rule *rule = &s->stage->rules[r];
    const tr_anchor *anchor = is_a ? &rule->a : &rule->b;
    bool bone = rule->kind == TR_CONSTRAINT_LENGTH && !tr_rule_links( rule ); // exact by construction
    double strength = tr_rule_strength( rule, frame );
    if ( anchor->count == 0 || bone || rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS || strength <= 0 )
        return 0;
    tr_fit_goal goal;
    if ( rule->kind == TR_CONSTRAINT_ORIENTATION )
        goal = tr_fit_rotation( anchor->joints[0], tr_rule_rotation( s->stage, s->result, rule, frame ) );
    else {
        goal = tr_fit_position( anchor->joints[0], wanted_place( s, r, is_a, frame ) );
        goal.axes = fit_axes( rule );
    }
    goal.hard = rule->hard;
    goal.priority = fit_priority( rule );
    goal.ease = strength;
    goal.weight = rule->weight;
    if ( goal.kind == TR_FIT_POSITION && mixes( s->stage, anchor ) )
        return mix_goals( s, r, is_a, frame, &goal, goals );
    goal.offset = point_on_joint( s, anchor, frame );
    goals[0] = goal;
    return 1;
}

// The pelvis goes where the centre of mass needs it, unless feet or hands need it elsewhere.
static int add_lean( const fit_state *s, int actor, int frame, tr_fit_goal *goals, int count )
{
    const tr_rule *rule = s->leans[actor] != NULL
                              ? tr_lean_rule( s->stage, s->rules[actor], s->rule_counts[actor], frame )
                              : NULL;
    if ( rule == NULL )
        return count;
    vec3 root = tr_world_pose( &s->graphs[actor], frame ).positions[0];
    goals[count] = tr_fit_position( 0, v3_add( root, s->leans[actor][frame].shift ) );
    goals[count].axes = fit_axes( rule );
    goals[count].priority = fit_priority( rule );
    goals[count].ease = tr_rule_strength( rule, frame );
    return count + 1;
}

// A foot on the ground is held in place and turned as it was copied; soles are flat then if the source's
// were. Of several rules that ask for one foot, the strongest speaks. A leg that ends in a tip is held by the
// tip.
static int add_stance( const fit_state *s, const tr_rule *rule, int frame, tr_fit_goal *goals, int count )
{
    const tr_stage *stage = s->stage;
    double strength = tr_rule_pull( stage, rule, frame );
    const tr_skeleton *skeleton = &stage->actors[rule->a.actor].target;
    int foot = tr_extremity_carrier( skeleton, rule->a.joints[0] ), at = 0;
    if ( strength <= 0 )
        return count;
    while ( at < count && !( goals[at].joint == foot && goals[at].kind == TR_FIT_POSITION ) )
        at++;
    if ( at < count && goals[at].ease >= strength )
        return count;
    tr_pose copied = tr_world_pose( &s->copied[rule->a.actor], frame );
    bool sole = skeleton->joints[foot].role == TR_ROLE_FOOT || skeleton->joints[foot].role == TR_ROLE_HAND;
    tr_fit_goal place = tr_fit_position( foot, tr_stance_place( stage, s->result, rule, frame, copied ) );
    if ( !sole ) { // the tip's own place, whichever way the leg turns
        vec3 tip = copied.positions[rule->a.joints[0]];
        place.offset = q_unrotate( copied.rotations[foot], v3_sub( tip, copied.positions[foot] ) );
        place.place = tr_rule_target( stage, s->result, rule, frame );
    }
    place.priority = fit_priority( rule );
    place.hard = rule->hard;
    place.weight = rule->weight;
    place.ease = strength;
    goals[at] = place;
    if ( at < count )
        count -= sole ? 2 : 1;
    if ( sole ) {
        goals[at + 1] = place;
        goals[at + 1].kind = TR_FIT_ROTATION;
        goals[at + 1].rotation = copied.rotations[foot];
    }
    return count + ( sole ? 2 : 1 );
}

// Every foot by its footing, then those the document puts somewhere else.
static int add_stances( const fit_state *s, int actor, int frame, tr_fit_goal *goals )
{
    const tr_actor *a = &s->stage->actors[actor];
    int count = 0;
    for ( int i = 0; i < a->footing_count; ++i )
        count = add_stance( s, &s->stage->rules[a->footings[i].rule[frame]], frame, goals, count );
    for ( int i = 0; i < s->rule_counts[actor]; ++i ) {
        const tr_rule *rule = &s->stage->rules[s->rules[actor][i]];
        if ( tr_rule_is_stance( rule ) && rule->footing < 0 )
            count = add_stance( s, rule, frame, goals, count );
    }
    return count;
}

// What stands on the ground as one: a foot, or the tip of a leg that ends in one.
static bool is_foot( const tr_skeleton *skeleton, int joint )
{
    tr_role role = skeleton->joints[joint].role;
    return ( role == TR_ROLE_FOOT || role == TR_ROLE_TOE ) &&
           tr_extremity_carrier( skeleton, joint ) == joint;
}

static double *hold_of( const fit_state *s, int actor, int foot, int frame )
{
    size_t joints = (size_t)s->stage->actors[actor].target.joint_count;
    return &s->holds[actor][(size_t)frame * joints + (size_t)foot];
}

static int add_hold( const fit_state *s, int actor, int foot, int frame, tr_fit_goal *goals, int count )
{
    double height = *hold_of( s, actor, foot, frame );
    if ( height == 0 )
        return count;
    goals[count] = tr_fit_position( foot, v3( 0, height, 0 ) );
    goals[count].axes = TR_FIT_Y;
    goals[count].priority = 3;
    return count + 1;
}

// A hand that holds something keeps its palm to it: the wrist makes up for what the arm turns, softly.
static int add_palm( const fit_state *s, int actor, int frame, tr_fit_goal *goals, int count )
{
    const tr_fit_goal *held = &goals[count - 1];
    const tr_fit *fit = &s->fits[actor];
    if ( held->kind != TR_FIT_POSITION || fit->skeleton->joints[held->joint].role != TR_ROLE_HAND )
        return count;
    for ( int g = 0; g < count; ++g )
        if ( goals[g].kind == TR_FIT_ROTATION && goals[g].joint == held->joint )
            return count;
    double arm = fit->def.arm * fit->size;
    goals[count] =
        tr_fit_rotation( held->joint, tr_world_pose( &s->copied[actor], frame ).rotations[held->joint] );
    goals[count].hard = false;
    goals[count].weight = held->ease * PALM / fmax( arm * arm, 1e-6 ); // a body may be tiny
    return count + 1;
}

static int gather_goals( const fit_state *s, int actor, int frame, tr_fit_goal *goals )
{
    int count = add_stances( s, actor, frame, goals ); // first, so that their pairs stand together
    const tr_skeleton *skeleton = &s->stage->actors[actor].target;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( is_foot( skeleton, j ) )
            count = add_hold( s, actor, j, frame, goals, count );
    count = add_lean( s, actor, frame, goals, count );
    for ( int i = 0; i < s->rule_counts[actor]; ++i ) {
        int r = s->rules[actor][i];
        const tr_rule *rule = &s->stage->rules[r];
        bool sole = rule->constraint < 0 && rule->kind == TR_CONSTRAINT_ORIENTATION; // a stance sees to it
        if ( tr_rule_is_stance( rule ) || sole )
            continue;
        for ( int end = 0; end < 2; ++end ) {
            bool mine = ( end == 0 ? rule->a.actor : rule->b.actor ) == actor;
            int made = mine ? make_goals( s, r, end == 0, frame, &goals[count] ) : 0;
            count = made == 1 ? add_palm( s, actor, frame, goals, count + 1 ) : count + made;
        }
    }
    return count;
}

// Those of a rule: one for each joint of a mixture, two for a lone joint and its palm. Stances count apart.
static int rule_goals( const tr_rule *rule, int frame )
{
    int joints = rule->a.count + rule->b.count;
    return rule->footing < 0 && tr_rule_strength( rule, frame ) > 0 ? ( joints > 2 ? joints : 2 ) + 2 : 0;
}

// At most this many goals act on an actor at one frame.
static int most_goals( const fit_state *s, int actor )
{
    int most = 1, feet = 0;
    for ( int j = 0; j < s->stage->actors[actor].target.joint_count; ++j )
        feet += is_foot( &s->stage->actors[actor].target, j ); // each may be held, too
    for ( int f = 0; f < s->stage->frame_count; ++f ) {
        int count = feet + 2 * s->stage->actors[actor].footing_count;
        for ( int i = 0; i < s->rule_counts[actor]; ++i )
            count += rule_goals( &s->stage->rules[s->rules[actor][i]], f );
        most = count > most ? count : most;
    }
    return most;
}

typedef struct fit_batch { // the stale frames of one actor
    tr_fit_frame *frames;
    tr_fit_result *results;
    tr_fit_goal *goals; // [frame_count * most_goals]
    tr_fit_scratch scratch;
} fit_batch;

static void batch_free( fit_batch *batch )
{
    tr_free( batch->frames );
    tr_free( batch->results );
    tr_free( batch->goals );
    tr_fit_scratch_free( &batch->scratch );
}

static bool batch_build( fit_batch *batch, const fit_state *s, int actor, int most, tr_error *error )
{
    size_t frames = (size_t)s->stage->frame_count;
    batch->frames = tr_alloc( frames, sizeof( tr_fit_frame ) );
    batch->results = tr_alloc( frames, sizeof( tr_fit_result ) );
    batch->goals = tr_alloc( frames * (size_t)most, sizeof( tr_fit_goal ) );
    if ( batch->frames == NULL || batch->results == NULL || batch->goals == NULL )
        return tr_error_memory( error );
    return tr_fit_scratch_build( &batch->scratch, &s->fits[actor], most, tr_parallel_threads(), error );
}

static bool *stale_frames( const fit_state *s, int actor ) // [frame_count]
{
    return s->stale + (size_t)actor * (size_t)s->stage->frame_count;
}

static vec3 root_of( const tr_world *world, int frame )
{
    return tr_world_pose( world, frame ).positions[0];
}

// The graph's root without its trembling: every step of one of many legs tugs at it. How far it is from the
// copied path is averaged over the frames around.
static vec3 steady_root( const fit_state *s, int actor, int frame )
{
    int span = (int)ceil( STEADY * s->stage->fps );
    vec3 sum = v3_zero;
    double weights = 0;
    for ( int f = frame - span; f <= frame + span; ++f ) {
        if ( f < 0 || f >= s->stage->frame_count )
            continue;
        double weight = smooth_step5( 1.0 - abs( f - frame ) / ( span + 1.0 ) );
        vec3 away = v3_sub( root_of( &s->graphs[actor], f ), root_of( &s->copied[actor], f ) );
        sum = v3_mad( sum, weight, away );
        weights += weight;
    }
    return v3_mad( root_of( &s->copied[actor], frame ), 1.0 / weights, sum );
}

static bool fit_actor( fit_state *s, int actor, tr_error *error )
{
    fit_batch batch = { 0 };
    int most = most_goals( s, actor ), count = 0;
    bool ok = batch_build( &batch, s, actor, most, error );
    tr_clip *clip = &s->result->motions[actor].clip;
    size_t joints = (size_t)clip->joint_count;
    for ( int f = 0; ok && f < s->stage->frame_count; ++f ) {
        if ( !stale_frames( s, actor )[f] )
            continue;
        tr_fit_goal *goals = batch.goals + (size_t)f * (size_t)most;
        batch.frames[count] = ( tr_fit_frame ){ .start = tr_clip_frame( &s->start[actor], f ),
                                                .root = steady_root( s, actor, f ),
                                                .goals = goals,
                                                .goal_count = gather_goals( s, actor, f, goals ) };
        batch.results[count++] = ( tr_fit_result ){ .local = clip->rotations + (size_t)f * joints };
    }
    ok = ok && tr_fit_solve( &s->fits[actor], &batch.scratch, batch.frames, batch.results, count, error );
    for ( int f = 0, n = 0; ok && f < s->stage->frame_count; ++f )
        if ( stale_frames( s, actor )[f] )
            clip->root[f] = batch.results[n++].root;
    batch_free( &batch );
    tr_world_free( &s->result->worlds[actor] );
    return ok && tr_world_build( &s->result->worlds[actor], &s->result->motions[actor], error );
}

static bool any_stale( const fit_state *s, int actor )
{
    for ( int f = 0; f < s->stage->frame_count; ++f )
        if ( stale_frames( s, actor )[f] )
            return true;
    return false;
}

static bool fit_stale( fit_state *s, tr_error *error )
{
    int actors = s->stage->actor_count;
    for ( int i = 0; i < actors; ++i ) {
        if ( !tr_progress_report( s->stage->progress, actors + i, 2 * actors, error ) ||
             ( any_stale( s, i ) && !fit_actor( s, i, error ) ) )
            return false;
    }
    for ( int i = 0; i < actors; ++i )
        memset( stale_frames( s, i ), 0, (size_t)s->stage->frame_count * sizeof( bool ) );
    return true;
}

// ---------------------------------------------------------------------------------------------------- meet

static void mark_stale( fit_state *s, const tr_anchor *anchor, int frame )
{
    if ( anchor->actor >= 0 )
        stale_frames( s, anchor->actor )[frame] = true;
}

// Where a rule is only fading in or out it is not meant to be met: what is missing there says nothing about
// reach.
static bool in_full( const tr_rule *rule, int frame )
{
    return rule->hard && frame >= rule->first && frame <= rule->last;
}

// Half way between where `achieved` has the two ends of a link between characters; `*apart` says how far they
// are off.
static vec3 half_way( const fit_state *s, const tr_result *achieved, const tr_rule *rule, int frame,
                      double *apart )
{
    vec3 a = tr_anchor_position( s->stage, achieved, &rule->a, frame );
    vec3 b = v3_add( tr_anchor_position( s->stage, achieved, &rule->b, frame ),
                     tr_rule_target( s->stage, achieved, rule, frame ) );
    *apart = v3_length( tr_rule_masked( rule, v3_sub( a, b ) ) );
    return v3_lerp( a, b, 0.5 );
}

static bool meet_actors( fit_state *s, int r, int frame )
{
    const tr_rule *rule = &s->stage->rules[r];
    if ( !links_actors( rule ) || !in_full( rule, frame ) || !is_affected( s, rule->a.actor, frame ) )
        return false;
    double apart;
    vec3 middle = half_way( s, s->result, rule, frame, &apart );
    if ( apart <= AGREED )
        return false;
    *agreed_place( s, r, frame ) = middle;
    mark_stale( s, &rule->a, frame );
    mark_stale( s, &rule->b, frame );
    return true;
}

// What a rule asks of the prop it holds on to: how far the body's end is from where the prop has it.
static bool prop_pull( const fit_state *s, const tr_rule *rule, int prop, int frame, vec3 *pull )
{
    vec3 target = tr_rule_target( s->stage, s->result, rule, frame );
    vec3 a = tr_anchor_position( s->stage, s->result, &rule->a, frame );
    bool placed = rule->kind == TR_CONSTRAINT_ABSOLUTE || rule->kind == TR_CONSTRAINT_CONTACT;
    if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->surface_prop == prop )
        *pull = v3_sub( a, target );
    else if ( placed && rule->a.prop == prop )
        *pull = v3_sub( target, a );
    else if ( tr_rule_links( rule ) && ( rule->b.prop == prop || rule->a.prop == prop ) ) {
        vec3 b = v3_add( tr_anchor_position( s->stage, s->result, &rule->b, frame ), target );
        *pull = rule->b.prop == prop ? v3_sub( a, b ) : v3_sub( b, a );
    } else
        return false;
    *pull = tr_rule_masked( rule, *pull );
    return true;
}

// A prop moves to the middle of what all that hold it fully achieved.
static bool meet_prop( fit_state *s, int prop, const int *rules, int rule_count, int frame )
{
    if ( !is_affected( s, s->stage->actor_count + prop, frame ) )
        return false;
    vec3 sum = v3_zero;
    double most = 0;
    int holds = 0;
    for ( int i = 0; i < rule_count; ++i ) {
        const tr_rule *rule = &s->stage->rules[rules[i]];
        vec3 pull;
        if ( !in_full( rule, frame ) || !prop_pull( s, rule, prop, frame, &pull ) )
            continue;
        sum = v3_add( sum, pull );
        holds++;
        most = fmax( most, v3_length( pull ) );
    }
    if ( most <= AGREED )
        return false;
    rigid *place = &s->result->tracks[prop][frame];
    place->position = v3_mad( place->position, 1.0 / holds, sum );
    for ( int i = 0; i < rule_count; ++i )
        if ( tr_rule_strength( &s->stage->rules[rules[i]], frame ) > 0 ) {
            mark_stale( s, &s->stage->rules[rules[i]].a, frame );
            mark_stale( s, &s->stage->rules[rules[i]].b, frame );
        }
    return true;
}

// The lowest joint of a foot; `map` NULL: its own joints in `pose`, else those that drive them.
static double lowest_of( const tr_skeleton *skeleton, int foot, tr_pose pose, const int *map )
{
    double lowest = INFINITY;
    for ( int j = foot; j < skeleton->joint_count; ++j ) {
        int at = map != NULL ? map[j] : j;
        if ( at >= 0 && tr_extremity_carrier( skeleton, j ) == foot )
            lowest = fmin( lowest, pose.positions[at].y );
    }
    return lowest;
}

// A foot that is on its way to or from a stance of other size may dip into the ground: there its height is
// held.
static bool lift_foot( fit_state *s, int actor, int foot, int frame )
{
    const tr_actor *a = &s->stage->actors[actor];
    tr_pose pose = tr_world_pose( &s->result->worlds[actor], frame );
    double source =
        lowest_of( &a->target, foot, tr_world_pose( &a->world, frame ), a->map ) - s->stage->ground;
    if ( !isfinite( source ) ) // nothing drives it: its own animation is right as it is
        return false;
    double allowed = s->stage->ground + fmin( source, 0 ) * tr_part_ratio( a, foot );
    double missing = allowed - lowest_of( &a->target, foot, pose, NULL );
    if ( !( missing > DIP ) )
        return false;
    *hold_of( s, actor, foot, frame ) = pose.positions[foot].y + missing;
    stale_frames( s, actor )[frame] = true;
    return true;
}

static bool lift_feet( fit_state *s )
{
    bool lifted = false;
    for ( int i = 0; i < s->stage->actor_count; ++i ) {
        const tr_skeleton *skeleton = &s->stage->actors[i].target;
        bool minds_ground = s->stage->scene->cast[i].contacts;
        for ( int j = 0; minds_ground && j < skeleton->joint_count; ++j )
            for ( int f = 0; is_foot( skeleton, j ) && f < s->stage->frame_count; ++f )
                lifted = ( is_affected( s, i, f ) && lift_foot( s, i, j, f ) ) || lifted;
    }
    return lifted;
}

// The fit brings every joint of a mixture to a place of its own; what their mean is off by goes into the
// next.
static bool nudge( fit_state *s, int r, int frame )
{
    const tr_rule *rule = &s->stage->rules[r];
    bool nudged = false;
    for ( int e = 0; e < 2 && in_full( rule, frame ); ++e ) {
        const tr_anchor *anchor = e == 0 ? &rule->a : &rule->b;
        if ( s->nudges[2 * r + e] == NULL || rule->kind == TR_CONSTRAINT_ORIENTATION ||
             !is_affected( s, anchor->actor, frame ) )
            continue;
        vec3 off = v3_sub( wanted_place( s, r, e == 0, frame ),
                           tr_anchor_position( s->stage, s->result, anchor, frame ) );
        off = tr_rule_masked( rule, off );
        if ( v3_length( off ) <= AGREED )
            continue;
        s->nudges[2 * r + e][frame] = v3_add( s->nudges[2 * r + e][frame], off );
        mark_stale( s, anchor, frame );
        nudged = true;
    }
    return nudged;
}

static bool lean( fit_state *s, int actor, int frame )
{
    const tr_rule *rule = tr_lean_rule( s->stage, s->rules[actor], s->rule_counts[actor], frame );
    if ( rule == NULL || !tr_lean_correct( &s->leans[actor][frame], s->stage, s->result, rule, frame ) )
        return false;
    stale_frames( s, actor )[frame] = true;
    return true;
}

static bool meet( fit_state *s, tr_error *error, bool *moved )
{
    const tr_stage *stage = s->stage;
    *moved = lift_feet( s );
    int *rules = tr_alloc( (size_t)stage->rule_count, sizeof( int ) );
    if ( rules == NULL )
        return tr_error_memory( error );
    for ( int p = 0; p < stage->prop_count; ++p ) {
        int count = 0;
        for ( int r = 0; r < stage->rule_count; ++r ) {
            const tr_rule *rule = &stage->rules[r];
            if ( rule->surface_prop == p || rule->a.prop == p || rule->b.prop == p )
                rules[count++] = r;
        }
        for ( int f = 0; count > 0 && f < stage->frame_count; ++f )
            *moved = meet_prop( s, p, rules, count, f ) || *moved;
    }
    for ( int r = 0; r < stage->rule_count; ++r )
        for ( int f = 0; f < stage->frame_count; ++f ) {
            bool nudged = nudge( s, r, f ), met = meet_actors( s, r, f );
            *moved = *moved || nudged || met;
        }
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int f = 0; s->leans[i] != NULL && f < stage->frame_count; ++f )
            *moved = ( is_affected( s, i, f ) && lean( s, i, f ) ) || *moved;
    tr_free( rules );
    return true;
}

// --------------------------------------------------------------------------------------------------- rounds

static bool turn_ends_back( fit_state *s, tr_error *error )
{
    size_t frames = (size_t)s->stage->frame_count;
    for ( int i = 0; i < s->stage->actor_count; ++i ) {
        const bool *which = s->affected != NULL ? s->affected + (size_t)i * frames : NULL;
        if ( ever_affected( s, i ) && !tr_ends_turn_back( s->stage, s->result, i, s->rules[i],
                                                          s->rule_counts[i], &s->copied[i], which, error ) )
            return false;
    }
    return true;
}

static bool fit_all( fit_state *s, tr_error *error )
{
    tr_result graph_view =
        *s->result; // the same result with the graphs' joints: where links met before any fit
    graph_view.worlds = (tr_world *)s->graphs; // only read
    for ( int r = 0; r < s->stage->rule_count; ++r )
        for ( int f = 0; links_actors( &s->stage->rules[r] ) && f < s->stage->frame_count; ++f ) {
            double apart;
            if ( !is_affected( s, s->stage->rules[r].a.actor, f ) ||
                 !is_affected( s, s->stage->rules[r].b.actor, f ) )
                continue;
            *agreed_place( s, r, f ) = half_way( s, &graph_view, &s->stage->rules[r], f, &apart );
        }
    for ( int i = 0; i < s->stage->actor_count; ++i )
        for ( int f = 0; f < s->stage->frame_count; ++f )
            stale_frames( s, i )[f] = is_affected( s, i, f );
    bool moved = true;
    for ( int round = 0; round < MAX_ROUNDS && moved; ++round )
        if ( !fit_stale( s, error ) || !meet( s, error, &moved ) )
            return false;
    return fit_stale( s, error ) && turn_ends_back( s, error );
}

bool tr_cluster_fit( const tr_stage *stage, tr_result *result, const tr_world *graphs, const bool *affected,
                     tr_error *error )
{
    fit_state state = { .stage = stage, .result = result, .graphs = graphs, .affected = affected };
    bool ok = state_build( &state, error ) && fit_all( &state, error );
    state_free( &state );
    return ok;
}
