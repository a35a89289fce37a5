// Memory of the skeleton fit's jobs. A scratch is as large as the largest job needs and belongs to a thread:
// what a job reads and writes again and again stays in that processor's cache, and nothing grows with the
// number of jobs.
#include "cluster/fit.h"

#include <assert.h>
#include <string.h>

// ----------------------------------------------------------------------------------------------------- size

// As tr_fit_scratch_open carves.
static size_t body_bytes( const tr_cluster_fitter *all, const fit_body *body, size_t frames, size_t rules )
{
    size_t joints = (size_t)all->def.stage->actors[body->actor].target.joint_count;
    size_t warm = tr_carve_bytes( frames * joints * sizeof( quat ) ) +
                  tr_carve_bytes( frames * sizeof( vec3 ) ) + tr_carve_bytes( frames * sizeof( bool ) );
    return tr_carve_bytes( rules * sizeof( int ) ) + 2 * tr_carve_bytes( frames * joints * sizeof( quat ) ) +
           ( body->pin_count > 0 ? warm : 0 ) + tr_carve_bytes( frames * joints * sizeof( vec3 ) ) +
           tr_carve_bytes( frames * (size_t)body->foot_count * sizeof( vec3 ) ) +
           tr_carve_bytes( body->mass_count > 0 ? frames * sizeof( tr_lean ) : 0 ) +
           tr_carve_bytes( frames * sizeof( bool ) ) + tr_carve_bytes( frames * sizeof( uint64_t ) ) +
           tr_carve_bytes( frames * sizeof( int ) );
}

static size_t job_bytes( const tr_cluster_fitter *all, const fit_job *job )
{
    size_t frames = (size_t)( job->to - job->from + 1 ), rules = (size_t)job->rule_count;
    size_t sum = tr_carve_bytes( (size_t)job->body_count * sizeof( fit_body ) ) +
                 tr_carve_bytes( (size_t)job->prop_count * sizeof( fit_prop ) ) +
                 (size_t)job->prop_count * ( tr_carve_bytes( rules * sizeof( int ) ) +
                                             tr_carve_bytes( frames * sizeof( fit_lead ) ) ) +
                 3 * tr_carve_bytes( rules * sizeof( vec3 * ) ) +
                 rules * tr_carve_bytes( frames * sizeof( fit_meeting ) ) +
                 2 * rules * tr_carve_bytes( frames * sizeof( vec3 ) ) +
                 tr_carve_bytes( frames * sizeof( tr_fit_frame ) ) +
                 tr_carve_bytes( frames * sizeof( tr_fit_result ) ) +
                 tr_carve_bytes( frames * (size_t)job->most_goals * sizeof( tr_fit_goal ) ) +
                 tr_carve_bytes( frames * sizeof( int ) ) + TR_CARVE;
    for ( int i = 0; i < job->body_count; ++i )
        sum += body_bytes( all, &all->bodies[all->lists[job->body_begin + i]], frames, rules );
    return sum;
}

// A fit as large as any: scratch for it serves all.
static tr_fit largest_fit( const tr_cluster_fitter *all )
{
    tr_fit out = all->bodies[0].fit;
    for ( int i = 1; i < all->body_count; ++i ) {
        const tr_fit *fit = &all->bodies[i].fit;
        if ( fit->skeleton->joint_count > out.skeleton->joint_count )
            out.skeleton = fit->skeleton;
        out.depth = fit->depth > out.depth ? fit->depth : out.depth;
    }
    return out;
}

bool tr_fit_scratches_build( tr_cluster_fitter *all, tr_error *error )
{
    int most_goals = 0, threads = tr_parallel_threads();
    for ( int i = 0; i < all->job_count; ++i ) {
        size_t bytes = job_bytes( all, &all->jobs[i] );
        all->scratch_bytes = bytes > all->scratch_bytes ? bytes : all->scratch_bytes;
        most_goals = all->jobs[i].most_goals > most_goals ? all->jobs[i].most_goals : most_goals;
    }
    all->scratch = tr_alloc( (size_t)threads, sizeof( fit_scratch ) );
    if ( all->scratch == NULL )
        return tr_error_memory( error );
    all->scratch_count = threads;
    for ( int t = 0; t < threads; ++t ) {
        fit_scratch *scratch = &all->scratch[t];
        size_t actors = (size_t)all->def.stage->actor_count;
        scratch->memory = tr_alloc( all->scratch_bytes, 1 );
        scratch->body_of = tr_alloc( actors, sizeof( int ) );
        if ( scratch->memory == NULL || scratch->body_of == NULL )
            return tr_error_memory( error );
        for ( size_t i = 0; i < actors; ++i )
            scratch->body_of[i] = -1;
        if ( all->body_count == 0 )
            continue;
        tr_fit largest = largest_fit( all );
        if ( !tr_fit_scratch_build( &scratch->fit, &largest, most_goals, 1, error ) )
            return false;
    }
    return true;
}

void tr_fit_scratches_free( tr_cluster_fitter *all )
{
    for ( int t = 0; t < all->scratch_count; ++t ) {
        tr_fit_scratch_free( &all->scratch[t].fit );
        tr_free( all->scratch[t].memory );
        tr_free( all->scratch[t].body_of );
    }
    tr_free( all->scratch );
}

// ---------------------------------------------------------------------------------------------- open, close

static void open_body( const fitter *s, fit_body *body, size_t frames, char **at )
{
    size_t joints = (size_t)fitter_skeleton( s, body )->joint_count;
    body->rules = tr_carve( at, (size_t)s->rule_count * sizeof( int ) );
    body->start = tr_carve( at, frames * joints * sizeof( quat ) );
    if ( body->pin_count > 0 ) {
        body->warm = tr_carve( at, frames * joints * sizeof( quat ) );
        body->warm_root = tr_carve( at, frames * sizeof( vec3 ) );
        body->warmed = tr_carve( at, frames * sizeof( bool ) );
    }
    body->copied = ( tr_world ){ .joint_count = (int)joints, .frame_count = (int)frames };
    body->copied.rotations = tr_carve( at, frames * joints * sizeof( quat ) );
    body->copied.positions = tr_carve( at, frames * joints * sizeof( vec3 ) );
    body->holds = tr_carve( at, frames * (size_t)body->foot_count * sizeof( vec3 ) );
    body->leans = body->mass_count > 0 ? tr_carve( at, frames * sizeof( tr_lean ) ) : NULL;
    body->stale = tr_carve( at, frames * sizeof( bool ) );
    body->asked = tr_carve( at, frames * sizeof( uint64_t ) );
    body->steps = tr_carve( at, frames * sizeof( int ) );
    for ( int k = 0; k < s->rule_count; ++k )
        if ( fitter_rule( s, k )->a.actor == body->actor || fitter_rule( s, k )->b.actor == body->actor )
            body->rules[body->rule_count++] = k;
}

static bool holds_prop( const tr_rule *rule, int prop )
{
    return rule->surface_prop == prop || rule->a.prop == prop || rule->b.prop == prop;
}

static void open_prop( const fitter *s, fit_prop *prop, int index, size_t frames, char **at )
{
    *prop = ( fit_prop ){ .prop = index,
                          .rules = tr_carve( at, (size_t)s->rule_count * sizeof( int ) ),
                          .leads = tr_carve( at, frames * sizeof( fit_lead ) ) };
    memset( prop->leads, 0, frames * sizeof( fit_lead ) );
    for ( int k = 0; k < s->rule_count; ++k )
        if ( holds_prop( fitter_rule( s, k ), index ) )
            prop->rules[prop->rule_count++] = k;
}

// Memory that only some rules need.
static void open_corrections( fitter *s, size_t frames, char **at )
{
    s->agreed = tr_carve( at, (size_t)s->rule_count * sizeof( fit_meeting * ) );
    s->nudges = tr_carve( at, 2 * (size_t)s->rule_count * sizeof( vec3 * ) );
    for ( int k = 0; k < s->rule_count; ++k ) {
        const tr_rule *rule = fitter_rule( s, k );
        s->agreed[k] = tr_rule_links_actors( rule ) ? tr_carve( at, frames * sizeof( fit_meeting ) ) : NULL;
        for ( int e = 0; e < 2; ++e )
            s->nudges[2 * k + e] = tr_anchor_mixes( s->def.stage, e == 0 ? &rule->a : &rule->b )
                                       ? tr_carve( at, frames * sizeof( vec3 ) )
                                       : NULL;
    }
}

fitter tr_fit_scratch_open( const tr_cluster_fitter *all, fit_scratch *scratch, const fit_job *job, int from,
                            int to )
{
    fitter s = { .def = all->def,
                 .from = job->from > from ? job->from : from,
                 .to = job->to < to ? job->to : to,
                 .body_count = job->body_count,
                 .body_of = scratch->body_of,
                 .prop_count = job->prop_count,
                 .rules = all->lists + job->rule_begin,
                 .rule_count = job->rule_count,
                 .scratch = &scratch->fit };
    size_t frames = (size_t)( s.to - s.from + 1 );
    char *at = scratch->memory;
    at += TR_CARVE - (uintptr_t)at % TR_CARVE;
    s.bodies = tr_carve( &at, (size_t)s.body_count * sizeof( fit_body ) );
    s.props = tr_carve( &at, (size_t)s.prop_count * sizeof( fit_prop ) );
    for ( int i = 0; i < s.body_count; ++i ) {
        s.bodies[i] = all->bodies[all->lists[job->body_begin + i]];
        s.bodies[i].most_goals = job->most_goals;
        scratch->body_of[s.bodies[i].actor] = i;
        open_body( &s, &s.bodies[i], frames, &at );
    }
    for ( int i = 0; i < s.prop_count; ++i )
        open_prop( &s, &s.props[i], all->lists[job->prop_begin + i], frames, &at );
    open_corrections( &s, frames, &at );
    s.batch.frames = tr_carve( &at, frames * sizeof( tr_fit_frame ) );
    s.batch.results = tr_carve( &at, frames * sizeof( tr_fit_result ) );
    s.batch.goals = tr_carve( &at, frames * (size_t)job->most_goals * sizeof( tr_fit_goal ) );
    s.batch.stage_frames = tr_carve( &at, frames * sizeof( int ) );
    assert( (size_t)( at - scratch->memory ) <= all->scratch_bytes );
    return s;
}

void tr_fit_scratch_close( fit_scratch *scratch, const fitter *s )
{
    for ( int i = 0; i < s->body_count; ++i )
        scratch->body_of[s->bodies[i].actor] = -1;
}
