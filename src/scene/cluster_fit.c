// Fits skeletons to what the pose graphs came to. Graphs decide where bodies, links and props go; the fit
// starts from the copied rotations of the same frame, brings hands and feet exactly to their places, and then
// lets partners and props meet where everybody can reach:
//
//   fit ─► meet ─► fit ─► … until links agree to half a millimetre
//
// Whatever no skeleton can reach shows as residual after the last fit.
#include "scene/cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define AGREED     5e-4 // metres: links closer than this are met
#define MAX_ROUNDS 8
#define STEADY     0.1  // seconds to either side over which the root is steadied
#define PALM       6.0  // per rad²: stiffness of a holding hand's direction, that of a wrist being 1
#define DIP        1e-3 // metres: a foot this much deeper in the ground than the source's is lifted

// --------------------------------------------------------------------------------------------------- state

typedef struct fit_body { // a character at work
    int actor;
    int *rules; // [rule_count] that act on it, as indices of the fitter's list
    int rule_count;
    int *masses; // [mass_count] places of its centre of mass, as indices in the stage
    int mass_count;
    int *feet; // [foot_count] joints that stand on the ground as one
    int foot_count;
    bool *ends;     // [joint_count] that turn back, see cluster_ends.c
    int most_goals; // at one frame
    tr_fit fit;
    int scratch;     // index of the fitter's
    quat *start;     // [frame_count * joint_count] local rotations before any fit
    tr_world copied; // and their joints
    double *holds;   // [frame_count * foot_count] height to keep a foot at, 0: none
    tr_lean *leans;  // [frame_count], NULL where no centre of mass has a place
    bool *stale;     // [frame_count] to be fitted again
} fit_body;

typedef struct fit_prop { // a prop at work
    int prop;
    int *rules; // [rule_count] that hold it, as indices of the fitter's list
    int rule_count;
} fit_prop;

typedef struct fit_batch { // frames of one character that are fitted together
    tr_fit_frame *frames;  // [chunk]
    tr_fit_result *results;
    tr_fit_goal *goals; // [chunk * most goals of anybody]
    int *stage_frames;
} fit_batch;

// Memory of frames holds def.chunk of them, from that on which the run at hand begins.
struct tr_cluster_fitter {
    tr_cluster_fit_def def;
    fit_body *bodies; // [body_count]
    int body_count;
    int *body_of;    // [actor_count] -1: not at work
    fit_prop *props; // [prop_count]
    int prop_count;
    int *rules; // [rule_count] of the stage that act on any of them
    int rule_count;
    vec3 **agreed; // [rule_count] where end a of a relation between two characters is to be, else NULL
    vec3 **nudges; // [2 rule_count] of ends that mix joints, NULL for others: what the fit is told to add so
                   // that their mean comes to its place
    tr_fit_scratch *scratches; // [scratch_count]
    int scratch_count;
    fit_batch batch;
    int from, to; // frames of the run at hand
};

typedef tr_cluster_fitter fitter;

int tr_steady_span( const tr_stage *stage )
{
    return (int)ceil( STEADY * stage->fps );
}

static size_t cell( const fitter *s, int frame )
{
    return (size_t)( frame - s->from );
}

static const tr_rule *rule_at( const fitter *s, int k )
{
    return &s->def.stage->rules[s->rules[k]];
}

static fit_body *body_of( const fitter *s, int actor )
{
    return actor >= 0 && s->body_of[actor] >= 0 ? &s->bodies[s->body_of[actor]] : NULL;
}

static const tr_skeleton *skeleton_of( const fitter *s, const fit_body *body )
{
    return &s->def.stage->actors[body->actor].target;
}

static tr_pose graph_pose( const fitter *s, int actor, int frame )
{
    return tr_world_pose( &s->def.graphs->worlds[actor], frame );
}

static tr_pose copied_pose( const fitter *s, const fit_body *body, int frame )
{
    return tr_world_pose( &body->copied, frame - s->from );
}

static bool is_affected( const fitter *s, int node, int frame )
{
    const bool *affected = s->def.affected;
    return affected == NULL || affected[(size_t)node * (size_t)s->def.stage->frame_count + (size_t)frame];
}

static void body_free( fit_body *body )
{
    tr_free( body->rules );
    tr_free( body->masses );
    tr_free( body->feet );
    tr_free( body->ends );
    tr_fit_free( &body->fit );
    tr_free( body->start );
    tr_world_free( &body->copied );
    tr_free( body->holds );
    tr_free( body->leans );
    tr_free( body->stale );
}

void tr_cluster_fitter_destroy( tr_cluster_fitter *s )
{
    if ( s == NULL )
        return;
    for ( int i = 0; s->bodies != NULL && i < s->body_count; ++i )
        body_free( &s->bodies[i] );
    for ( int i = 0; s->props != NULL && i < s->prop_count; ++i )
        tr_free( s->props[i].rules );
    for ( int k = 0; s->agreed != NULL && k < s->rule_count; ++k )
        tr_free( s->agreed[k] );
    for ( int e = 0; s->nudges != NULL && e < 2 * s->rule_count; ++e )
        tr_free( s->nudges[e] );
    for ( int i = 0; i < s->scratch_count; ++i )
        tr_fit_scratch_free( &s->scratches[i] );
    tr_free( s->bodies );
    tr_free( s->body_of );
    tr_free( s->props );
    tr_free( s->rules );
    tr_free( s->agreed );
    tr_free( s->nudges );
    tr_free( s->scratches );
    tr_free( s->batch.frames );
    tr_free( s->batch.results );
    tr_free( s->batch.goals );
    tr_free( s->batch.stage_frames );
    tr_free( s );
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

static bool links_actors( const tr_rule *rule )
{
    return tr_rule_links( rule ) && rule->a.actor >= 0 && rule->b.actor >= 0;
}

// What stands on the ground as one: a foot, or the tip of a leg that ends in one.
static bool is_foot( const tr_skeleton *skeleton, int joint )
{
    tr_role role = skeleton->joints[joint].role;
    return ( role == TR_ROLE_FOOT || role == TR_ROLE_TOE ) &&
           tr_extremity_carrier( skeleton, joint ) == joint;
}

static bool holds_prop( const tr_rule *rule, int prop )
{
    return rule->surface_prop == prop || rule->a.prop == prop || rule->b.prop == prop;
}

static bool is_at_work( const fitter *s, const tr_rule *rule )
{
    bool own = body_of( s, rule->a.actor ) != NULL || body_of( s, rule->b.actor ) != NULL;
    for ( int i = 0; !own && i < s->prop_count; ++i )
        own = holds_prop( rule, s->props[i].prop );
    return own;
}

// Who is at work: everybody, or those the def names.
static bool find_nodes( fitter *s )
{
    const tr_stage *stage = s->def.stage;
    s->bodies = tr_alloc( (size_t)stage->actor_count, sizeof( fit_body ) );
    s->body_of = tr_alloc( (size_t)stage->actor_count, sizeof( int ) );
    s->props = tr_alloc( (size_t)stage->prop_count, sizeof( fit_prop ) );
    if ( s->bodies == NULL || s->body_of == NULL || s->props == NULL )
        return false;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        bool in = s->def.nodes == NULL || s->def.nodes[i];
        s->body_of[i] = in ? s->body_count : -1;
        if ( in )
            s->bodies[s->body_count++].actor = i;
    }
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( s->def.nodes == NULL || s->def.nodes[stage->actor_count + p] )
            s->props[s->prop_count++].prop = p;
    return true;
}

// What only some rules need.
static bool build_corrections( fitter *s )
{
    size_t frames = (size_t)s->def.chunk;
    s->agreed = tr_alloc( (size_t)s->rule_count, sizeof( vec3 * ) );
    s->nudges = tr_alloc( 2 * (size_t)s->rule_count, sizeof( vec3 * ) );
    bool ok = s->agreed != NULL && s->nudges != NULL;
    for ( int k = 0; ok && k < s->rule_count; ++k ) {
        const tr_rule *rule = rule_at( s, k );
        if ( links_actors( rule ) )
            ok = ( s->agreed[k] = tr_alloc( frames, sizeof( vec3 ) ) ) != NULL;
        for ( int e = 0; ok && e < 2; ++e )
            if ( mixes( s->def.stage, e == 0 ? &rule->a : &rule->b ) )
                ok = ( s->nudges[2 * k + e] = tr_alloc( frames, sizeof( vec3 ) ) ) != NULL;
    }
    return ok;
}

static bool find_rules( fitter *s )
{
    const tr_stage *stage = s->def.stage;
    s->rules = tr_alloc( (size_t)stage->rule_count, sizeof( int ) );
    if ( s->rules == NULL )
        return false;
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( is_at_work( s, &stage->rules[r] ) )
            s->rules[s->rule_count++] = r;
    for ( int i = 0; i < s->prop_count; ++i ) {
        fit_prop *prop = &s->props[i];
        prop->rules = tr_alloc( (size_t)s->rule_count, sizeof( int ) );
        for ( int k = 0; prop->rules != NULL && k < s->rule_count; ++k )
            if ( holds_prop( rule_at( s, k ), prop->prop ) )
                prop->rules[prop->rule_count++] = k;
        if ( prop->rules == NULL )
            return false;
    }
    return build_corrections( s );
}

// Those of a rule: one for each joint of a mixture, two for a lone joint and its palm. Stances count apart.
static int rule_goals( const tr_rule *rule, int frame )
{
    int joints = rule->a.count + rule->b.count;
    return rule->footing < 0 && tr_rule_strength( rule, frame ) > 0 ? ( joints > 2 ? joints : 2 ) + 2 : 0;
}

// At most this many goals act on a character at one frame.
static int most_goals( const fitter *s, const fit_body *body )
{
    int most = 1;
    for ( int f = s->def.first; f <= s->def.last; ++f ) {
        int count = body->foot_count + 2 * s->def.stage->actors[body->actor].footing_count;
        for ( int i = 0; i < body->rule_count; ++i )
            count += rule_goals( rule_at( s, body->rules[i] ), f );
        most = count > most ? count : most;
    }
    return most;
}

static bool build_lists( fitter *s, fit_body *body )
{
    const tr_skeleton *skeleton = skeleton_of( s, body );
    body->rules = tr_alloc( (size_t)s->rule_count, sizeof( int ) );
    body->masses = tr_alloc( (size_t)s->rule_count, sizeof( int ) );
    body->feet = tr_alloc( (size_t)skeleton->joint_count, sizeof( int ) );
    body->ends = tr_alloc( (size_t)skeleton->joint_count, sizeof( bool ) );
    if ( body->rules == NULL || body->masses == NULL || body->feet == NULL || body->ends == NULL )
        return false;
    tr_ends_find( s->def.stage, body->actor, s->rules, s->rule_count, body->ends );
    for ( int k = 0; k < s->rule_count; ++k ) {
        const tr_rule *rule = rule_at( s, k );
        if ( rule->a.actor != body->actor && rule->b.actor != body->actor )
            continue;
        body->rules[body->rule_count++] = k;
        if ( rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && rule->hard )
            body->masses[body->mass_count++] = s->rules[k];
    }
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( is_foot( skeleton, j ) )
            body->feet[body->foot_count++] = j;
    body->most_goals = most_goals( s, body );
    return true;
}

static bool build_memory( fitter *s, fit_body *body )
{
    size_t frames = (size_t)s->def.chunk, joints = (size_t)skeleton_of( s, body )->joint_count;
    body->start = tr_alloc( frames * joints, sizeof( quat ) );
    body->copied = ( tr_world ){ .joint_count = (int)joints, .frame_count = s->def.chunk };
    body->copied.rotations = tr_alloc( frames * joints, sizeof( quat ) );
    body->copied.positions = tr_alloc( frames * joints, sizeof( vec3 ) );
    body->holds = tr_alloc( frames * (size_t)body->foot_count, sizeof( double ) );
    body->leans = body->mass_count > 0 ? tr_alloc( frames, sizeof( tr_lean ) ) : NULL;
    body->stale = tr_alloc( frames, sizeof( bool ) );
    return body->start != NULL && body->copied.rotations != NULL && body->copied.positions != NULL &&
           body->holds != NULL && ( body->mass_count == 0 || body->leans != NULL ) && body->stale != NULL;
}

// Characters take turns: those of the same size share working memory.
static bool find_scratch( fitter *s, fit_body *body, tr_error *error )
{
    int joints = skeleton_of( s, body )->joint_count;
    for ( int i = 0; i < s->scratch_count; ++i ) {
        const tr_fit_scratch *known = &s->scratches[i];
        if ( known->joint_count >= joints && known->depth >= body->fit.depth &&
             known->goal_count >= body->most_goals ) {
            body->scratch = i;
            return true;
        }
    }
    body->scratch = s->scratch_count++;
    return tr_fit_scratch_build( &s->scratches[body->scratch], &body->fit, body->most_goals,
                                 tr_parallel_threads(), error );
}

static bool build_bodies( fitter *s, tr_error *error )
{
    s->scratches = tr_alloc( (size_t)s->body_count, sizeof( tr_fit_scratch ) );
    if ( s->scratches == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < s->body_count; ++i ) {
        fit_body *body = &s->bodies[i];
        if ( !build_lists( s, body ) || !build_memory( s, body ) )
            return tr_error_memory( error );
        if ( !tr_fit_build( &body->fit, skeleton_of( s, body ), &s->def.fit, error ) ||
             !find_scratch( s, body, error ) )
            return false;
    }
    return true;
}

static bool build_batch( fitter *s )
{
    size_t frames = (size_t)s->def.chunk, most = 0;
    for ( int i = 0; i < s->body_count; ++i )
        most = (size_t)s->bodies[i].most_goals > most ? (size_t)s->bodies[i].most_goals : most;
    s->batch.frames = tr_alloc( frames, sizeof( tr_fit_frame ) );
    s->batch.results = tr_alloc( frames, sizeof( tr_fit_result ) );
    s->batch.goals = tr_alloc( frames * most, sizeof( tr_fit_goal ) );
    s->batch.stage_frames = tr_alloc( frames, sizeof( int ) );
    return s->batch.frames != NULL && s->batch.results != NULL && s->batch.goals != NULL &&
           s->batch.stage_frames != NULL;
}

bool tr_cluster_fitter_needs_joints( const tr_cluster_fitter *s )
{
    bool needs = s->body_count != 1 || s->prop_count > 0 || s->bodies[0].mass_count > 0;
    for ( int e = 0; e < 2 * s->rule_count; ++e )
        needs = needs || s->nudges[e] != NULL;
    return needs;
}

tr_cluster_fit_def tr_default_cluster_fit_def( const tr_stage *stage, tr_result *result,
                                               const tr_graphs *graphs )
{
    return ( tr_cluster_fit_def ){ .stage = stage,
                                   .result = result,
                                   .graphs = graphs,
                                   .last = stage->frame_count - 1,
                                   .chunk = stage->frame_count,
                                   .fit = tr_default_fit_def(),
                                   .rounds = MAX_ROUNDS,
                                   .progress = stage->progress };
}

tr_cluster_fitter *tr_cluster_fitter_create( const tr_cluster_fit_def *def, tr_error *error )
{
    fitter *s = tr_alloc( 1, sizeof *s );
    if ( s == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    s->def = *def;
    bool ok = ( find_nodes( s ) && find_rules( s ) ) || tr_error_memory( error );
    ok = ok && build_bodies( s, error ) && ( build_batch( s ) || tr_error_memory( error ) );
    if ( ok )
        return s;
    tr_cluster_fitter_destroy( s );
    return NULL;
}

// ----------------------------------------------------------------------------------------------------- fit

static int fit_priority( const tr_rule *rule )
{
    switch ( rule->kind ) {
    case TR_CONSTRAINT_CONTACT: return rule->surface_prop >= 0 ? 2 : 4;
    case TR_CONSTRAINT_RELATIVE: return 3;
    case TR_CONSTRAINT_ABSOLUTE: return rule->stands ? 4 : 2;
    default: return 1;
    }
}

// Where a rule wants one of its ends.
static vec3 wanted_place( const fitter *s, int k, bool is_a, int frame )
{
    const tr_rule *rule = rule_at( s, k );
    vec3 target = tr_rule_target( s->def.stage, s->def.result, rule, frame );
    if ( !tr_rule_links( rule ) )
        return target;
    if ( links_actors( rule ) ) {
        vec3 meet = s->agreed[k][cell( s, frame )];
        return is_a ? meet : v3_sub( meet, target );
    }
    const tr_anchor *prop = is_a ? &rule->b : &rule->a;
    vec3 place = tr_anchor_position( s->def.stage, s->def.result, prop, frame );
    return is_a ? v3_add( place, target ) : v3_sub( place, target );
}

static int fit_axes( const tr_rule *rule )
{
    vec3 acts = tr_rule_masked( rule, v3_one );
    return ( acts.x != 0 ? TR_FIT_X : 0 ) | ( acts.y != 0 ? TR_FIT_Y : 0 ) | ( acts.z != 0 ? TR_FIT_Z : 0 );
}

// Several joints whose mean has a place: all of them move alike, from where the graph has them.
static int mix_goals( const fitter *s, int k, bool is_a, int frame, const tr_fit_goal *like,
                      tr_fit_goal *goals )
{
    const tr_rule *rule = rule_at( s, k );
    const tr_anchor *anchor = is_a ? &rule->a : &rule->b;
    const vec3 *graph = graph_pose( s, anchor->actor, frame ).positions;
    const quat *turns = tr_world_pose( &s->def.result->worlds[anchor->actor], frame ).rotations;
    vec3 mean = q_rotate( turns[anchor->joints[0]], anchor->offset );
    for ( int i = 0; i < anchor->count; ++i )
        mean = v3_mad( mean, anchor->weights[i], graph[anchor->joints[i]] );
    vec3 miss = v3_add( v3_sub( like->place, mean ), s->nudges[2 * k + !is_a][cell( s, frame )] );
    for ( int i = 0; i < anchor->count; ++i ) {
        goals[i] = *like;
        goals[i].joint = anchor->joints[i];
        goals[i].place = v3_add( graph[anchor->joints[i]], miss );
    }
    return anchor->count;
}

// The anchor as a point fixed to its first joint, in the pose the character has now.
static vec3 point_on_joint( const fitter *s, const tr_anchor *anchor, int frame )
{
    if ( anchor->count == 1 )
        return anchor->offset;
    tr_pose pose = tr_world_pose( &s->def.result->worlds[anchor->actor], frame );
    vec3 at = tr_anchor_position( s->def.stage, s->def.result, anchor, frame );
    return q_unrotate( pose.rotations[anchor->joints[0]], v3_sub( at, pose.positions[anchor->joints[0]] ) );
}

// Returns how many goals a rule makes of one of its ends.
static int make_goals( const fitter *s, int k, bool is_a, int frame, tr_fit_goal *goals )
{
    const tr_rule *rule = rule_at( s, k );
    const tr_anchor *anchor = is_a ? &rule->a : &rule->b;
    bool bone = rule->kind == TR_CONSTRAINT_LENGTH && !tr_rule_links( rule ); // exact by construction
    double strength = tr_rule_strength( rule, frame );
    if ( anchor->count == 0 || bone || rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS || strength <= 0 )
        return 0;
    tr_fit_goal goal;
    if ( rule->kind == TR_CONSTRAINT_ORIENTATION )
        goal = tr_fit_rotation( anchor->joints[0],
                                tr_rule_rotation( s->def.stage, s->def.result, rule, frame ) );
    else {
        goal = tr_fit_position( anchor->joints[0], wanted_place( s, k, is_a, frame ) );
        goal.axes = fit_axes( rule );
    }
    goal.hard = rule->hard;
    goal.priority = fit_priority( rule );
    goal.ease = strength;
    goal.weight = rule->weight;
    if ( goal.kind == TR_FIT_POSITION && s->nudges[2 * k + !is_a] != NULL )
        return mix_goals( s, k, is_a, frame, &goal, goals );
    goal.offset = point_on_joint( s, anchor, frame );
    goals[0] = goal;
    return 1;
}

// The pelvis goes where the centre of mass needs it, unless feet or hands need it elsewhere.
static int add_lean( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals, int count )
{
    const tr_rule *rule = tr_lean_rule( s->def.stage, body->masses, body->mass_count, frame );
    if ( rule == NULL )
        return count;
    vec3 root = graph_pose( s, body->actor, frame ).positions[0];
    goals[count] = tr_fit_position( 0, v3_add( root, body->leans[cell( s, frame )].shift ) );
    goals[count].axes = fit_axes( rule );
    goals[count].priority = fit_priority( rule );
    goals[count].ease = tr_rule_strength( rule, frame );
    return count + 1;
}

// A foot on the ground is held in place and turned as it was copied; soles are flat then if the source's
// were. Of several rules that ask for one foot, the strongest speaks. A leg that ends in a tip is held by the
// tip.
static int add_stance( const fitter *s, const fit_body *body, const tr_rule *rule, int frame,
                       tr_fit_goal *goals, int count )
{
    const tr_stage *stage = s->def.stage;
    double strength = tr_rule_pull( stage, rule, frame );
    const tr_skeleton *skeleton = skeleton_of( s, body );
    if ( strength <= 0 )
        return count;
    int foot = tr_extremity_carrier( skeleton, rule->a.joints[0] ), at = 0;
    while ( at < count && !( goals[at].joint == foot && goals[at].kind == TR_FIT_POSITION ) )
        at++;
    if ( at < count && goals[at].ease >= strength )
        return count;
    tr_pose copied = copied_pose( s, body, frame );
    bool sole = skeleton->joints[foot].role == TR_ROLE_FOOT || skeleton->joints[foot].role == TR_ROLE_HAND;
    tr_fit_goal place = tr_fit_position( foot, tr_stance_place( stage, s->def.result, rule, frame, copied ) );
    if ( !sole ) { // the tip's own place, whichever way the leg turns
        vec3 tip = copied.positions[rule->a.joints[0]];
        place.offset = q_unrotate( copied.rotations[foot], v3_sub( tip, copied.positions[foot] ) );
        place.place = tr_rule_target( stage, s->def.result, rule, frame );
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
static int add_stances( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals )
{
    const tr_actor *a = &s->def.stage->actors[body->actor];
    int count = 0;
    for ( int i = 0; i < a->footing_count; ++i )
        count = add_stance( s, body, &s->def.stage->rules[a->footings[i].rule[frame]], frame, goals, count );
    for ( int i = 0; i < body->rule_count; ++i ) {
        const tr_rule *rule = rule_at( s, body->rules[i] );
        if ( tr_rule_is_stance( rule ) && rule->footing < 0 )
            count = add_stance( s, body, rule, frame, goals, count );
    }
    return count;
}

static double *hold_of( const fitter *s, const fit_body *body, int foot, int frame )
{
    return &body->holds[cell( s, frame ) * (size_t)body->foot_count + (size_t)foot];
}

static int add_holds( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals, int count )
{
    for ( int i = 0; i < body->foot_count; ++i ) {
        double height = *hold_of( s, body, i, frame );
        if ( height == 0 )
            continue;
        goals[count] = tr_fit_position( body->feet[i], v3( 0, height, 0 ) );
        goals[count].axes = TR_FIT_Y;
        goals[count++].priority = 3;
    }
    return count;
}

// A hand that holds something keeps its palm to it: the wrist makes up for what the arm turns, softly.
static int add_palm( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals, int count )
{
    const tr_fit_goal *held = &goals[count - 1];
    const tr_fit *fit = &body->fit;
    if ( held->kind != TR_FIT_POSITION || fit->skeleton->joints[held->joint].role != TR_ROLE_HAND )
        return count;
    for ( int g = 0; g < count; ++g )
        if ( goals[g].kind == TR_FIT_ROTATION && goals[g].joint == held->joint )
            return count;
    double arm = fit->def.arm * fit->size;
    goals[count] = tr_fit_rotation( held->joint, copied_pose( s, body, frame ).rotations[held->joint] );
    goals[count].hard = false;
    goals[count].weight = held->ease * PALM / fmax( arm * arm, 1e-6 ); // a body may be tiny
    return count + 1;
}

static int gather_goals( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals )
{
    int count = add_stances( s, body, frame, goals ); // first, so that their pairs stand together
    count = add_holds( s, body, frame, goals, count );
    count = add_lean( s, body, frame, goals, count );
    for ( int i = 0; i < body->rule_count; ++i ) {
        int k = body->rules[i];
        const tr_rule *rule = rule_at( s, k );
        bool sole = rule->constraint < 0 && rule->kind == TR_CONSTRAINT_ORIENTATION; // a stance sees to it
        if ( tr_rule_is_stance( rule ) || sole )
            continue;
        for ( int end = 0; end < 2; ++end ) {
            bool mine = ( end == 0 ? rule->a.actor : rule->b.actor ) == body->actor;
            int made = mine ? make_goals( s, k, end == 0, frame, &goals[count] ) : 0;
            count = made == 1 ? add_palm( s, body, frame, goals, count + 1 ) : count + made;
        }
    }
    return count;
}

typedef struct forward_job { // frames of a batch
    const fitter *s;
    const fit_body *body;
} forward_job;

static void forward_frames( void *context, int begin, int end )
{
    const forward_job *job = context;
    const tr_result *result = job->s->def.result;
    int actor = job->body->actor;
    for ( int n = begin; n < end; ++n ) {
        int f = job->s->batch.stage_frames[n];
        result->motions[actor].clip.root[f] = job->s->batch.results[n].root;
        tr_forward( &result->motions[actor].skeleton, &result->motions[actor].clip, f,
                    tr_world_pose( &result->worlds[actor], f ) );
    }
}

#define FORWARD_BLOCK 256 // frames: some 0.2 ms

// The graph's root without its trembling: every step of one of many legs tugs at it. How far it is from the
// copied path is averaged over the frames around.
static vec3 steady_root( const fitter *s, const fit_body *body, int frame )
{
    int span = tr_steady_span( s->def.stage ), last = s->def.stage->frame_count - 1;
    const vec3 *shifts = s->def.graphs->shifts[body->actor];
    vec3 sum = v3_zero;
    double weights = 0;
    for ( int f = frame < span ? 0 : frame - span; f <= frame + span && f <= last; ++f ) {
        double weight = smooth_step5( 1.0 - abs( f - frame ) / ( span + 1.0 ) );
        sum = v3_mad( sum, weight, shifts[f] );
        weights += weight;
    }
    return v3_mad( copied_pose( s, body, frame ).positions[0], 1.0 / weights, sum );
}

static bool fit_body_frames( fitter *s, fit_body *body, tr_error *error )
{
    fit_batch *batch = &s->batch;
    int count = 0;
    tr_clip *clip = &s->def.result->motions[body->actor].clip;
    size_t joints = (size_t)clip->joint_count;
    for ( int f = s->from; f <= s->to; ++f ) {
        if ( !body->stale[cell( s, f )] )
            continue;
        tr_fit_goal *goals = batch->goals + (size_t)count * (size_t)body->most_goals;
        batch->frames[count] = ( tr_fit_frame ){ .start = body->start + cell( s, f ) * joints,
                                                 .root = steady_root( s, body, f ),
                                                 .goals = goals,
                                                 .goal_count = gather_goals( s, body, f, goals ) };
        batch->results[count] = ( tr_fit_result ){ .local = tr_clip_frame( clip, f ) };
        batch->stage_frames[count++] = f;
    }
    if ( count == 0 )
        return true;
    if ( !tr_fit_solve( &body->fit, &s->scratches[body->scratch], batch->frames, batch->results, count,
                        error ) )
        return false;
    tr_parallel_for( count, FORWARD_BLOCK, forward_frames, &( forward_job ){ s, body } );
    return true;
}

static bool fit_stale( fitter *s, tr_error *error )
{
    for ( int i = 0; i < s->body_count; ++i ) {
        if ( !tr_progress_report( s->def.progress, s->body_count + i, 2 * s->body_count, error ) ||
             !fit_body_frames( s, &s->bodies[i], error ) )
            return false;
    }
    for ( int i = 0; i < s->body_count; ++i )
        memset( s->bodies[i].stale, 0, (size_t)( s->to - s->from + 1 ) * sizeof( bool ) );
    return true;
}

// ---------------------------------------------------------------------------------------------------- meet

static void mark_stale( const fitter *s, const tr_anchor *anchor, int frame )
{
    fit_body *body = body_of( s, anchor->actor );
    if ( body != NULL )
        body->stale[cell( s, frame )] = true;
}

// Where a rule is only fading in or out it is not meant to be met: what is missing there says nothing about
// reach.
static bool in_full( const tr_rule *rule, int frame )
{
    return rule->hard && frame >= rule->first && frame <= rule->last;
}

// Half way between where `achieved` has the two ends of a link between characters; `*apart` says how far they
// are off.
static vec3 half_way( const fitter *s, const tr_result *achieved, const tr_rule *rule, int frame,
                      double *apart )
{
    vec3 a = tr_anchor_position( s->def.stage, achieved, &rule->a, frame );
    vec3 b = v3_add( tr_anchor_position( s->def.stage, achieved, &rule->b, frame ),
                     tr_rule_target( s->def.stage, achieved, rule, frame ) );
    *apart = v3_length( tr_rule_masked( rule, v3_sub( a, b ) ) );
    return v3_lerp( a, b, 0.5 );
}

static bool meet_actors( const fitter *s, int k, int frame )
{
    const tr_rule *rule = rule_at( s, k );
    if ( !links_actors( rule ) || !in_full( rule, frame ) || !is_affected( s, rule->a.actor, frame ) )
        return false;
    double apart;
    vec3 middle = half_way( s, s->def.result, rule, frame, &apart );
    if ( apart <= AGREED )
        return false;
    s->agreed[k][cell( s, frame )] = middle;
    mark_stale( s, &rule->a, frame );
    mark_stale( s, &rule->b, frame );
    return true;
}

// What a rule asks of the prop it holds on to: how far the body's end is from where the prop has it.
static bool prop_pull( const fitter *s, const tr_rule *rule, int prop, int frame, vec3 *pull )
{
    const tr_stage *stage = s->def.stage;
    vec3 target = tr_rule_target( stage, s->def.result, rule, frame );
    vec3 a = tr_anchor_position( stage, s->def.result, &rule->a, frame );
    bool placed = rule->kind == TR_CONSTRAINT_ABSOLUTE || rule->kind == TR_CONSTRAINT_CONTACT;
    if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->surface_prop == prop )
        *pull = v3_sub( a, target );
    else if ( placed && rule->a.prop == prop )
        *pull = v3_sub( target, a );
    else if ( tr_rule_links( rule ) && ( rule->b.prop == prop || rule->a.prop == prop ) ) {
        vec3 b = v3_add( tr_anchor_position( stage, s->def.result, &rule->b, frame ), target );
        *pull = rule->b.prop == prop ? v3_sub( a, b ) : v3_sub( b, a );
    } else
        return false;
    *pull = tr_rule_masked( rule, *pull );
    return true;
}

// A prop moves to the middle of what all that hold it fully achieved.
static bool meet_prop( const fitter *s, const fit_prop *held, int frame )
{
    if ( !is_affected( s, s->def.stage->actor_count + held->prop, frame ) )
        return false;
    vec3 sum = v3_zero;
    double most = 0;
    int holds = 0;
    for ( int i = 0; i < held->rule_count; ++i ) {
        const tr_rule *rule = rule_at( s, held->rules[i] );
        vec3 pull;
        if ( !in_full( rule, frame ) || !prop_pull( s, rule, held->prop, frame, &pull ) )
            continue;
        sum = v3_add( sum, pull );
        holds++;
        most = fmax( most, v3_length( pull ) );
    }
    if ( most <= AGREED )
        return false;
    rigid *place = &s->def.result->tracks[held->prop][frame];
    place->position = v3_mad( place->position, 1.0 / holds, sum );
    for ( int i = 0; i < held->rule_count; ++i ) {
        const tr_rule *rule = rule_at( s, held->rules[i] );
        if ( tr_rule_strength( rule, frame ) > 0 ) {
            mark_stale( s, &rule->a, frame );
            mark_stale( s, &rule->b, frame );
        }
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
static bool lift_foot( const fitter *s, const fit_body *body, int foot, int frame )
{
    const tr_actor *a = &s->def.stage->actors[body->actor];
    int joint = body->feet[foot];
    tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], frame );
    double ground = s->def.stage->ground;
    double source = lowest_of( &a->target, joint, tr_world_pose( &a->world, frame ), a->map ) - ground;
    if ( !isfinite( source ) ) // nothing drives it: its own animation is right as it is
        return false;
    double allowed = ground + fmin( source, 0 ) * tr_part_ratio( a, joint );
    double missing = allowed - lowest_of( &a->target, joint, pose, NULL );
    if ( !( missing > DIP ) )
        return false;
    *hold_of( s, body, foot, frame ) = pose.positions[joint].y + missing;
    body->stale[cell( s, frame )] = true;
    return true;
}

static bool lift_feet( const fitter *s )
{
    bool lifted = false;
    for ( int i = 0; i < s->body_count; ++i ) {
        const fit_body *body = &s->bodies[i];
        bool minds_ground = s->def.stage->scene->cast[body->actor].contacts;
        for ( int j = 0; minds_ground && j < body->foot_count; ++j )
            for ( int f = s->from; f <= s->to; ++f )
                lifted = ( is_affected( s, body->actor, f ) && lift_foot( s, body, j, f ) ) || lifted;
    }
    return lifted;
}

// The fit brings every joint of a mixture to a place of its own; what their mean is off by goes into the
// next.
static bool nudge( const fitter *s, int k, int frame )
{
    const tr_rule *rule = rule_at( s, k );
    bool nudged = false;
    for ( int e = 0; e < 2 && in_full( rule, frame ); ++e ) {
        const tr_anchor *anchor = e == 0 ? &rule->a : &rule->b;
        vec3 *nudges = s->nudges[2 * k + e];
        if ( nudges == NULL || rule->kind == TR_CONSTRAINT_ORIENTATION ||
             !is_affected( s, anchor->actor, frame ) )
            continue;
        vec3 off = v3_sub( wanted_place( s, k, e == 0, frame ),
                           tr_anchor_position( s->def.stage, s->def.result, anchor, frame ) );
        off = tr_rule_masked( rule, off );
        if ( v3_length( off ) <= AGREED )
            continue;
        nudges[cell( s, frame )] = v3_add( nudges[cell( s, frame )], off );
        mark_stale( s, anchor, frame );
        nudged = true;
    }
    return nudged;
}

static bool lean( const fitter *s, const fit_body *body, int frame )
{
    const tr_rule *rule = tr_lean_rule( s->def.stage, body->masses, body->mass_count, frame );
    if ( rule == NULL ||
         !tr_lean_correct( &body->leans[cell( s, frame )], s->def.stage, s->def.result, rule, frame ) )
        return false;
    body->stale[cell( s, frame )] = true;
    return true;
}

// True when something moved and has to be fitted again.
static bool meet( const fitter *s )
{
    bool moved = lift_feet( s );
    for ( int p = 0; p < s->prop_count; ++p )
        for ( int f = s->from; s->props[p].rule_count > 0 && f <= s->to; ++f )
            moved = meet_prop( s, &s->props[p], f ) || moved;
    for ( int k = 0; k < s->rule_count; ++k ) {
        bool meets = s->agreed[k] != NULL || s->nudges[2 * k] != NULL || s->nudges[2 * k + 1] != NULL;
        for ( int f = s->from; meets && f <= s->to; ++f ) {
            bool nudged = nudge( s, k, f ), met = meet_actors( s, k, f );
            moved = moved || nudged || met;
        }
    }
    for ( int i = 0; i < s->body_count; ++i )
        for ( int f = s->from; s->bodies[i].leans != NULL && f <= s->to; ++f )
            moved = ( is_affected( s, s->bodies[i].actor, f ) && lean( s, &s->bodies[i], f ) ) || moved;
    return moved;
}

// --------------------------------------------------------------------------------------------------- rounds

// What the rounds begin with: the poses as they are, nothing corrected.
static void start_body( const fitter *s, fit_body *body )
{
    size_t frames = (size_t)( s->to - s->from + 1 ), joints = (size_t)skeleton_of( s, body )->joint_count;
    tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], s->from );
    memcpy( body->start, tr_clip_frame( &s->def.result->motions[body->actor].clip, s->from ),
            frames * joints * sizeof( quat ) );
    memcpy( body->copied.rotations, pose.rotations, frames * joints * sizeof( quat ) );
    memcpy( body->copied.positions, pose.positions, frames * joints * sizeof( vec3 ) );
    memset( body->holds, 0, frames * (size_t)body->foot_count * sizeof( double ) );
    if ( body->leans != NULL )
        memset( body->leans, 0, frames * sizeof( tr_lean ) );
    for ( int f = s->from; f <= s->to; ++f )
        body->stale[cell( s, f )] = is_affected( s, body->actor, f );
}

// Links meet where the graphs had them.
static void start_rule( const fitter *s, int k, const tr_result *graph_view )
{
    const tr_rule *rule = rule_at( s, k );
    for ( int e = 0; e < 2; ++e )
        if ( s->nudges[2 * k + e] != NULL )
            memset( s->nudges[2 * k + e], 0, (size_t)( s->to - s->from + 1 ) * sizeof( vec3 ) );
    for ( int f = s->from; s->agreed[k] != NULL && f <= s->to; ++f ) {
        double apart;
        if ( is_affected( s, rule->a.actor, f ) && is_affected( s, rule->b.actor, f ) )
            s->agreed[k][cell( s, f )] = half_way( s, graph_view, rule, f, &apart );
    }
}

static void start_rules( const fitter *s )
{
    tr_result graph_view = *s->def.result; // the same result with the graphs' joints
    graph_view.worlds = s->def.graphs->worlds;
    for ( int k = 0; k < s->rule_count; ++k )
        start_rule( s, k, &graph_view );
}

static void turn_ends_back( const fitter *s, const fit_body *body )
{
    tr_motion *motion = &s->def.result->motions[body->actor];
    for ( int f = s->from; f <= s->to; ++f ) {
        if ( !is_affected( s, body->actor, f ) )
            continue;
        tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], f );
        tr_ends_turn_back( &motion->skeleton, body->ends, copied_pose( s, body, f ).rotations,
                           tr_clip_frame( &motion->clip, f ), pose.rotations );
        tr_forward( &motion->skeleton, &motion->clip, f, pose );
    }
}

bool tr_cluster_fitter_run( tr_cluster_fitter *s, int from, int to, tr_error *error )
{
    assert( from >= s->def.first && to <= s->def.last && to - from < s->def.chunk );
    s->from = from;
    s->to = to;
    for ( int i = 0; i < s->body_count; ++i )
        start_body( s, &s->bodies[i] );
    start_rules( s );
    bool moved = true;
    for ( int round = 0; round < s->def.rounds && moved; ++round ) {
        if ( !fit_stale( s, error ) )
            return false;
        moved = meet( s );
    }
    if ( !fit_stale( s, error ) )
        return false;
    for ( int i = 0; i < s->body_count; ++i )
        turn_ends_back( s, &s->bodies[i] );
    return true;
}
