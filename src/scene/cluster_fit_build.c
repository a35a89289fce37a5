// Who takes part in the skeleton fit, which rules act on them, and memory for it.
#include "scene/cluster_fit.h"

#define MAX_ROUNDS 8

// -------------------------------------------------------------------------------------------------- freeing

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
// ------------------------------------------------------------------------------------------- bodies, rules

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
    bool own = fitter_body( s, rule->a.actor ) != NULL || fitter_body( s, rule->b.actor ) != NULL;
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
        const tr_rule *rule = fitter_rule( s, k );
        if ( tr_rule_links_actors( rule ) )
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
            if ( holds_prop( fitter_rule( s, k ), prop->prop ) )
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
            count += rule_goals( fitter_rule( s, body->rules[i] ), f );
        most = count > most ? count : most;
    }
    return most;
}

static bool build_lists( fitter *s, fit_body *body )
{
    const tr_skeleton *skeleton = fitter_skeleton( s, body );
    body->rules = tr_alloc( (size_t)s->rule_count, sizeof( int ) );
    body->masses = tr_alloc( (size_t)s->rule_count, sizeof( int ) );
    body->feet = tr_alloc( (size_t)skeleton->joint_count, sizeof( int ) );
    body->ends = tr_alloc( (size_t)skeleton->joint_count, sizeof( bool ) );
    if ( body->rules == NULL || body->masses == NULL || body->feet == NULL || body->ends == NULL )
        return false;
    tr_ends_find( s->def.stage, body->actor, s->rules, s->rule_count, body->ends );
    for ( int k = 0; k < s->rule_count; ++k ) {
        const tr_rule *rule = fitter_rule( s, k );
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
    size_t frames = (size_t)s->def.chunk, joints = (size_t)fitter_skeleton( s, body )->joint_count;
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
    int joints = fitter_skeleton( s, body )->joint_count;
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
        if ( !tr_fit_build( &body->fit, fitter_skeleton( s, body ), &s->def.fit, error ) ||
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
// ------------------------------------------------------------------------------------------------- fitter

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
