// Memory of the skeleton fit's jobs. A room is as large as the largest job needs and belongs to a thread:
// what a job reads and writes again and again stays in that processor's cache, and nothing grows with the
// number of jobs.
#include "cluster/fit.h"

#include <assert.h>
#include <string.h>

// ----------------------------------------------------------------------------------------------------- size

// As tr_fit_room_open carves.
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

bool tr_fit_rooms_build( tr_cluster_fitter *all, tr_error *error )
{
    int most_goals = 0, threads = tr_parallel_threads();
    for ( int i = 0; i < all->job_count; ++i ) {
        size_t bytes = job_bytes( all, &all->jobs[i] );
        all->room_bytes = bytes > all->room_bytes ? bytes : all->room_bytes;
        most_goals = all->jobs[i].most_goals > most_goals ? all->jobs[i].most_goals : most_goals;
    }
    all->rooms = tr_alloc( (size_t)threads, sizeof( fit_room ) );
    if ( all->rooms == NULL )
        return tr_error_memory( error );
    all->room_count = threads;
    for ( int t = 0; t < threads; ++t ) {
        fit_room *room = &all->rooms[t];
        size_t actors = (size_t)all->def.stage->actor_count;
        room->memory = tr_alloc( all->room_bytes, 1 );
        room->body_of = tr_alloc( actors, sizeof( int ) );
        if ( room->memory == NULL || room->body_of == NULL )
            return tr_error_memory( error );
        for ( size_t i = 0; i < actors; ++i )
            room->body_of[i] = -1;
        if ( all->body_count == 0 )
            continue;
        tr_fit largest = largest_fit( all );
        if ( !tr_fit_scratch_build( &room->scratch, &largest, most_goals, 1, error ) )
            return false;
    }
    return true;
}

void tr_fit_rooms_free( tr_cluster_fitter *all )
{
    for ( int t = 0; t < all->room_count; ++t ) {
        tr_fit_scratch_free( &all->rooms[t].scratch );
        tr_free( all->rooms[t].memory );
        tr_free( all->rooms[t].body_of );
    }
    tr_free( all->rooms );
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

// What only some rules need.
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

fitter tr_fit_room_open( const tr_cluster_fitter *all, fit_room *room, const fit_job *job, int from, int to )
{
    fitter s = { .def = all->def,
                 .from = job->from > from ? job->from : from,
                 .to = job->to < to ? job->to : to,
                 .body_count = job->body_count,
                 .body_of = room->body_of,
                 .prop_count = job->prop_count,
                 .rules = all->lists + job->rule_begin,
                 .rule_count = job->rule_count,
                 .scratch = &room->scratch };
    size_t frames = (size_t)( s.to - s.from + 1 );
    char *at = room->memory;
    at += TR_CARVE - (uintptr_t)at % TR_CARVE;
    s.bodies = tr_carve( &at, (size_t)s.body_count * sizeof( fit_body ) );
    s.props = tr_carve( &at, (size_t)s.prop_count * sizeof( fit_prop ) );
    for ( int i = 0; i < s.body_count; ++i ) {
        s.bodies[i] = all->bodies[all->lists[job->body_begin + i]];
        s.bodies[i].most_goals = job->most_goals;
        room->body_of[s.bodies[i].actor] = i;
        open_body( &s, &s.bodies[i], frames, &at );
    }
    for ( int i = 0; i < s.prop_count; ++i )
        open_prop( &s, &s.props[i], all->lists[job->prop_begin + i], frames, &at );
    open_corrections( &s, frames, &at );
    s.batch.frames = tr_carve( &at, frames * sizeof( tr_fit_frame ) );
    s.batch.results = tr_carve( &at, frames * sizeof( tr_fit_result ) );
    s.batch.goals = tr_carve( &at, frames * (size_t)job->most_goals * sizeof( tr_fit_goal ) );
    s.batch.stage_frames = tr_carve( &at, frames * sizeof( int ) );
    assert( (size_t)( at - room->memory ) <= all->room_bytes );
    return s;
}

void tr_fit_room_close( fit_room *room, const fitter *s )
{
    for ( int i = 0; i < s->body_count; ++i )
        room->body_of[s->bodies[i].actor] = -1;
}
