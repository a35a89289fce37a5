// The bodies and props of a skeleton fit, and its jobs: some frames in a row of those that rules join there.
#include "cluster/fit.h"

#include <stdlib.h>

static void body_free( fit_body *body )
{
    tr_free( body->masses );
    tr_free( body->feet );
    tr_free( body->parts );
    tr_free( body->part_begin );
    tr_free( body->ends );
    tr_free( body->pins );
    tr_free( body->middles );
    tr_fit_free( &body->fit );
    tr_free( body->memory );
    tr_free( body->remembered );
}

void tr_cluster_fitter_destroy( tr_cluster_fitter *all )
{
    if ( all == NULL )
        return;
    for ( int i = 0; all->bodies != NULL && i < all->body_count; ++i )
        body_free( &all->bodies[i] );
    tr_fit_scratches_free( all );
    tr_free( all->bodies );
    tr_free( all->body_of );
    tr_free( all->needs_joints );
    tr_free( all->jobs );
    tr_lists_free( &all->set_jobs );
    tr_free( all->lists );
    tr_free( all );
}

// -------------------------------------------------------------------------------------------------- bodies

bool tr_anchor_mixes( const tr_stage *stage, const tr_anchor *anchor )
{
    bool several = false;
    for ( int i = 1; anchor->actor >= 0 && i < anchor->count; ++i ) {
        const tr_skeleton *skeleton = &stage->actors[anchor->actor].target;
        several = several || tr_extremity_carrier( skeleton, anchor->joints[i] ) !=
                                 tr_extremity_carrier( skeleton, anchor->joints[0] );
    }
    return several;
}

// Joints that meet the ground as one part: a foot, the tip of a leg without a foot, a hand.
static bool is_foot_or_hand( const tr_skeleton *skeleton, int joint )
{
    tr_role role = skeleton->joints[joint].role;
    return ( role == TR_ROLE_FOOT || role == TR_ROLE_TOE || role == TR_ROLE_HAND ) &&
           tr_extremity_carrier( skeleton, joint ) == joint;
}

static void find_feet( fit_body *body, const tr_skeleton *skeleton )
{
    int count = 0;
    for ( int foot = 0; foot < skeleton->joint_count; ++foot ) {
        if ( !is_foot_or_hand( skeleton, foot ) )
            continue;
        body->feet[body->foot_count++] = foot;
        for ( int j = foot; j < skeleton->joint_count; ++j )
            if ( tr_extremity_carrier( skeleton, j ) == foot )
                body->parts[count++] = j;
        body->part_begin[body->foot_count] = count;
    }
}

// -1: none. Without sets all nodes are in set 0.
static int set_of_node( const int *set_of, int node )
{
    return node < 0 ? -1 : set_of != NULL ? set_of[node] : 0;
}

static bool is_at_work( const tr_cluster_fitter *all, int node )
{
    return set_of_node( all->def.set_of, node ) >= 0;
}

// The characters that are fitted: all of them, or those the def names.
static bool find_bodies( tr_cluster_fitter *all )
{
    size_t actors = (size_t)all->def.stage->actor_count;
    all->bodies = tr_alloc( actors, sizeof( fit_body ) );
    all->body_of = tr_alloc( actors, sizeof( int ) );
    if ( all->bodies == NULL || all->body_of == NULL )
        return false;
    for ( size_t i = 0; i < actors; ++i ) {
        all->body_of[i] = is_at_work( all, (int)i ) ? all->body_count : -1;
        if ( all->body_of[i] >= 0 )
            all->bodies[all->body_count++].actor = (int)i;
    }
    return true;
}

static bool build_memory( const tr_cluster_fitter *all, fit_body *body )
{
    size_t frames = (size_t)( all->def.last - all->def.first + 1 ),
           cells = 3 * (size_t)all->def.stage->actors[body->actor].target.joint_count;
    body->memory = tr_alloc( frames, sizeof( tr_fit_memory ) );
    body->remembered = tr_alloc( 2 * frames * cells, sizeof( float ) );
    if ( body->memory == NULL || body->remembered == NULL )
        return false;
    for ( size_t f = 0; f < frames; ++f ) {
        body->memory[f].turns = body->remembered + 2 * f * cells;
        body->memory[f].pulls = body->memory[f].turns + cells;
    }
    return true;
}

// rules [rule_count] are those that name the character.
static bool build_body( tr_cluster_fitter *all, fit_body *body, const int *rules, int rule_count,
                        tr_error *error )
{
    const tr_stage *stage = all->def.stage;
    const tr_skeleton *skeleton = &stage->actors[body->actor].target;
    body->masses = tr_alloc( (size_t)rule_count, sizeof( int ) );
    body->feet = tr_alloc( (size_t)skeleton->joint_count, sizeof( int ) );
    body->parts = tr_alloc( (size_t)skeleton->joint_count, sizeof( int ) );
    body->part_begin = tr_alloc( (size_t)skeleton->joint_count + 1, sizeof( int ) );
    body->ends = tr_alloc( (size_t)skeleton->joint_count, sizeof( tr_end ) );
    if ( body->masses == NULL || body->feet == NULL || body->parts == NULL || body->part_begin == NULL ||
         body->ends == NULL || !tr_fit_body_find_pins( body, stage, rules, rule_count ) ||
         ( all->def.remembers && !build_memory( all, body ) ) )
        return tr_error_memory( error );
    body->height = tr_skeleton_height( skeleton );
    tr_ends_find( stage, body->actor, rules, rule_count, body->ends );
    for ( int i = 0; i < rule_count; ++i )
        if ( stage->rules[rules[i]].kind == TR_CONSTRAINT_CENTRE_OF_MASS && stage->rules[rules[i]].hard )
            body->masses[body->mass_count++] = rules[i];
    find_feet( body, skeleton );
    return tr_fit_build( &body->fit, skeleton, &all->def.fit, error );
}

static bool build_bodies( tr_cluster_fitter *all, tr_error *error )
{
    const tr_stage *stage = all->def.stage;
    int *begin, *rules; // of each actor
    if ( !tr_rules_by_actor( stage, &begin, &rules ) )
        return tr_error_memory( error );
    bool ok = true;
    for ( int i = 0; ok && i < all->body_count; ++i ) {
        int actor = all->bodies[i].actor;
        ok = build_body( all, &all->bodies[i], rules + begin[actor], begin[actor + 1] - begin[actor], error );
    }
    tr_free( begin );
    tr_free( rules );
    return ok;
}

// The fit reads joints of a graph for the meeting place of two joints (between bodies, or within one), for
// the mean of several joints, and for a pelvis that shifts a centre of mass. Otherwise the root is enough.
bool tr_sets_find_joint_needs( const tr_stage *stage, const int *set_of, int set_count, bool *needs )
{
    int *bodies = tr_alloc( (size_t)set_count, sizeof( int ) );
    if ( bodies == NULL )
        return false;
    for ( int n = 0; n < stage->actor_count + stage->prop_count; ++n ) {
        int set = set_of_node( set_of, n );
        if ( set >= 0 && ( n >= stage->actor_count || ++bodies[set] > 1 ) )
            needs[set] = true;
    }
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        int a = set_of_node( set_of, rule->a.actor ), b = set_of_node( set_of, rule->b.actor );
        bool mass = rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && rule->hard,
             meets = tr_rule_links_actors( rule ) && a >= 0 && b >= 0;
        if ( a >= 0 && ( mass || meets || tr_anchor_mixes( stage, &rule->a ) ) )
            needs[a] = true;
        if ( b >= 0 && ( mass || meets || tr_anchor_mixes( stage, &rule->b ) ) )
            needs[b] = true;
    }
    tr_free( bodies );
    return true;
}

static bool find_needs_of_joints( tr_cluster_fitter *all )
{
    all->needs_joints = tr_alloc( (size_t)all->def.set_count, sizeof( bool ) );
    return all->needs_joints != NULL &&
           tr_sets_find_joint_needs( all->def.stage, all->def.set_of, all->def.set_count, all->needs_joints );
}

bool tr_cluster_fitter_needs_joints( const tr_cluster_fitter *all, int set )
{
    return all->needs_joints[set];
}

// ---------------------------------------------------------------------------------------------------- jobs

typedef struct window { // frames that are being made into jobs
    tr_cluster_fitter *all;
    int from, to;
    int *parent; // [actor_count + prop_count] union–find over nodes at work
    int *job_of; // [actor_count + prop_count] of the first node of each set
    int *active; // [active_count] rules that act there
    int active_count;
    bool *held; // [actor_count + prop_count] by one of them
    int *goals; // [actor_count] at most, at one frame
} window;

static void nodes_of( const tr_stage *stage, const tr_rule *rule, int nodes[3] )
{
    nodes[0] = tr_anchor_node( stage, &rule->a );
    nodes[1] = tr_anchor_node( stage, &rule->b );
    nodes[2] = rule->surface_prop >= 0 ? stage->actor_count + rule->surface_prop : -1;
}

// The first that is at work, -1: none.
static int worker_of( const tr_cluster_fitter *all, const tr_rule *rule )
{
    int nodes[3], found = -1;
    nodes_of( all->def.stage, rule, nodes );
    for ( int n = 2; n >= 0; --n )
        found = is_at_work( all, nodes[n] ) ? nodes[n] : found;
    return found;
}

// Strength rises towards a rule's frames and falls behind them. Stances are seen to by their footings.
static bool acts( const window *w, const tr_rule *rule )
{
    int near[3] = { rule->first - 1, rule->first, rule->last };
    bool strong = false;
    for ( int i = 0; i < 3; ++i ) {
        int f = near[i] < w->from ? w->from : near[i] > w->to ? w->to : near[i];
        strong = strong || tr_rule_strength( rule, f ) > 0;
    }
    return strong && rule->footing < 0;
}

// Goals of a rule: one for each joint of a mixture, two for a lone joint and its palm.
static void count_goals( window *w, const tr_rule *rule )
{
    int joints = rule->a.count + rule->b.count, goals = ( joints > 2 ? joints : 2 ) + 2;
    if ( rule->a.actor >= 0 )
        w->goals[rule->a.actor] += goals;
    if ( rule->b.actor >= 0 && rule->b.actor != rule->a.actor )
        w->goals[rule->b.actor] += goals;
}

static void join_window( window *w )
{
    const tr_stage *stage = w->all->def.stage;
    w->active_count = 0;
    for ( int n = 0; n < stage->actor_count + stage->prop_count; ++n ) {
        w->parent[n] = n;
        w->job_of[n] = -1;
        w->held[n] = false;
    }
    for ( int i = 0; i < stage->actor_count; ++i )
        w->goals[i] = 0;
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        int nodes[3], first = worker_of( w->all, rule );
        if ( first < 0 || !acts( w, rule ) )
            continue;
        w->active[w->active_count++] = r;
        count_goals( w, rule );
        nodes_of( stage, rule, nodes );
        for ( int n = 0; n < 3; ++n )
            if ( is_at_work( w->all, nodes[n] ) ) {
                w->held[nodes[n]] = true;
                tr_set_join( w->parent, first, nodes[n] );
            }
    }
}

// The job of the set a node is in, begun if it is the first of it.
static fit_job *job_of( window *w, int node )
{
    tr_cluster_fitter *all = w->all;
    int *at = &w->job_of[tr_set_find( w->parent, node )];
    if ( *at < 0 ) {
        *at = all->job_count++;
        all->jobs[*at] = ( fit_job ){ .from = w->from, .to = w->to };
    }
    return &all->jobs[*at];
}

static void count_body( window *w, int actor )
{
    const fit_body *body = &w->all->bodies[w->all->body_of[actor]];
    const tr_actor *a = &w->all->def.stage->actors[actor];
    fit_job *job = job_of( w, actor );
    int goals = 1 + 2 * body->foot_count + 2 * a->footing_count + w->goals[actor];
    job->body_count++;
    job->most_goals = goals > job->most_goals ? goals : job->most_goals;
    job->cost += (double)a->target.joint_count * ( w->to - w->from + 1 );
}

// Lists of the jobs from `first` on, whose counts are known.
static void fill_lists( window *w, int first )
{
    tr_cluster_fitter *all = w->all;
    const tr_stage *stage = all->def.stage;
    for ( int j = first; j < all->job_count; ++j ) {
        fit_job *job = &all->jobs[j];
        job->body_begin = all->list_count;
        job->prop_begin = job->body_begin + job->body_count;
        job->rule_begin = job->prop_begin + job->prop_count;
        all->list_count = job->rule_begin + job->rule_count;
        job->body_count = job->prop_count = job->rule_count = 0;
    }
    for ( int i = 0; i < all->body_count; ++i ) {
        fit_job *job = job_of( w, all->bodies[i].actor );
        all->lists[job->body_begin + job->body_count++] = i;
    }
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( w->held[stage->actor_count + p] ) {
            fit_job *job = job_of( w, stage->actor_count + p );
            all->lists[job->prop_begin + job->prop_count++] = p;
        }
    for ( int i = 0; i < w->active_count; ++i ) {
        fit_job *job = job_of( w, worker_of( all, &stage->rules[w->active[i]] ) );
        all->lists[job->rule_begin + job->rule_count++] = w->active[i];
    }
}

static bool add_window( window *w )
{
    tr_cluster_fitter *all = w->all;
    const tr_stage *stage = all->def.stage;
    int first = all->job_count, nodes = stage->actor_count + stage->prop_count;
    join_window( w );
    if ( !tr_array_reserve( (void **)&all->jobs, &all->job_capacity, first + nodes, sizeof( fit_job ) ) ||
         !tr_array_reserve( (void **)&all->lists, &all->list_capacity,
                            all->list_count + nodes + w->active_count, sizeof( int ) ) )
        return false;
    for ( int i = 0; i < all->body_count; ++i )
        count_body( w, all->bodies[i].actor );
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( w->held[stage->actor_count + p] )
            job_of( w, stage->actor_count + p )->prop_count++;
    for ( int i = 0; i < w->active_count; ++i )
        job_of( w, worker_of( all, &stage->rules[w->active[i]] ) )->rule_count++;
    fill_lists( w, first );
    return true;
}

static int by_cost( const void *a, const void *b ) // then by place in the lists
{
    const fit_job *p = a, *q = b;
    return p->cost != q->cost ? ( p->cost < q->cost ) - ( p->cost > q->cost )
                              : ( p->body_begin > q->body_begin ) - ( p->body_begin < q->body_begin );
}

static bool build_jobs( tr_cluster_fitter *all )
{
    const tr_stage *stage = all->def.stage;
    size_t actors = (size_t)stage->actor_count, nodes = actors + (size_t)stage->prop_count;
    window w = { .all = all,
                 .parent = tr_alloc( nodes, sizeof( int ) ),
                 .job_of = tr_alloc( nodes, sizeof( int ) ),
                 .active = tr_alloc( (size_t)stage->rule_count, sizeof( int ) ),
                 .held = tr_alloc( nodes, sizeof( bool ) ),
                 .goals = tr_alloc( actors, sizeof( int ) ) };
    bool ok = w.parent != NULL && w.job_of != NULL && w.active != NULL && w.held != NULL && w.goals != NULL;
    int frames = all->def.in_time ? all->def.last - all->def.first + 1 : FIT_FRAMES;
    for ( int f = all->def.first; ok && f <= all->def.last; f += frames ) {
        w.from = f;
        w.to = f + frames <= all->def.last ? f + frames - 1 : all->def.last;
        ok = add_window( &w );
    }
    if ( ok && all->job_count > 0 )
        qsort( all->jobs, (size_t)all->job_count, sizeof( fit_job ), by_cost );
    tr_free( w.parent );
    tr_free( w.job_of );
    tr_free( w.active );
    tr_free( w.held );
    tr_free( w.goals );
    return ok;
}

// All nodes of a job are in the same set.
static int job_set( const tr_cluster_fitter *all, const fit_job *job )
{
    int first = all->lists[job->body_count > 0 ? job->body_begin : job->prop_begin];
    return set_of_node( all->def.set_of, job->body_count > 0 ? all->bodies[first].actor
                                                             : all->def.stage->actor_count + first );
}

static bool list_sets( tr_cluster_fitter *all )
{
    int *sets = tr_alloc( (size_t)all->job_count, sizeof( int ) );
    for ( int j = 0; sets != NULL && j < all->job_count; ++j )
        sets[j] = job_set( all, &all->jobs[j] );
    bool ok = sets != NULL && tr_lists_build( &all->set_jobs, sets, all->job_count, all->def.set_count );
    tr_free( sets );
    return ok;
}

// -------------------------------------------------------------------------------------------------- fitter

tr_cluster_fit_def tr_default_cluster_fit_def( const tr_stage *stage, tr_result *result,
                                               const tr_graphs *graphs )
{
    return ( tr_cluster_fit_def ){ .stage = stage,
                                   .result = result,
                                   .graphs = graphs,
                                   .set_count = 1,
                                   .last = stage->frame_count - 1,
                                   .fit = tr_default_fit_def(),
                                   .rounds = tr_default_resolving().rounds,
                                   .palm = 6.0,
                                   .least_mass = 0.03,
                                   .wish_pull = 100.0,
                                   .end_turn = 0.6,
                                   .end_far = 2.0,
                                   .window = tr_default_window_def( stage->fps ),
                                   .progress = stage->progress };
}

void tr_cluster_fitter_set( tr_cluster_fitter *s, const tr_fit_def *fit, int rounds, bool warm )
{
    s->def.rounds = rounds;
    s->def.warm = warm;
    for ( int i = 0; i < s->body_count; ++i )
        s->bodies[i].fit.def = *fit;
}

tr_cluster_fitter *tr_cluster_fitter_create( const tr_cluster_fit_def *def, tr_error *error )
{
    tr_cluster_fitter *all = tr_alloc( 1, sizeof *all );
    if ( all == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    all->def = *def;
    bool ok = ( find_bodies( all ) || tr_error_memory( error ) ) && build_bodies( all, error ) &&
              ( ( build_jobs( all ) && list_sets( all ) && find_needs_of_joints( all ) ) ||
                tr_error_memory( error ) ) &&
              tr_fit_scratches_build( all, error );
    all->def.set_of = NULL; // not needed any more, and not ours
    if ( ok )
        return all;
    tr_cluster_fitter_destroy( all );
    return NULL;
}
