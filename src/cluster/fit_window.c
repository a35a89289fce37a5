// The skeleton fit of a job over all its frames at once (tr_window in fit.h). Here rules become goals, points
// and ties:
//
//   a place, a rotation, a stance of a body      goals
//   a link between two bodies                    a point that is free, and a tie of either body to it
//   a hand on a prop                             a tie to the prop, which is a point with a way of its own
//   a place of a prop, a prop on a prop          a pull of the prop
//   a centre of mass, a place of several joints  a tie to a fixed point
//
// What depends on poses (distances, mass centres, props on props) is written anew after every round.
#include "cluster/fit.h"

#include <string.h>

typedef struct window_rule { // a rule that ties, and where its numbers are
    int rule;                // of the fitter's list
    int point, tie[2];       // -1: none. Ties of its two ends
} window_rule;

typedef struct window_mass { // a centre of mass that is to be at a place
    const fit_body *body;
    const tr_rule *rule;
    vec3 *place;           // [frames]
    double *strength;      // [frames] 1 where it counts
    const int *joints;     // [count] the heavy ones, and …
    const double *weights; // … their shares of each other's mass
    int count;
} window_mass;

typedef struct window_pull { // what a rule of the fitter's list asks of the prop at one of its ends
    int rule, end;
    vec3 *places; // [frames]
} window_pull;

typedef struct job_window {
    fitter *s;
    size_t frames;
    tr_window_job job;
    tr_window_body *bodies;
    tr_window_point *points; // of props first, then of links and places
    tr_window_tie *ties;
    window_rule *rules; // [rule_count]
    int rule_count;
    window_mass *masses; // [mass_count]
    int mass_count;
    tr_fit_goal **goals; // [body_count]
    int **goal_counts;   // [body_count]
    vec3 **vectors;      // everything of frames that is allocated
    int vector_count, vector_capacity;
    tr_window_pull *pulls; // of props, by prop
    window_pull *asked;    // [pull_count] what they come from
    int pull_count;
} job_window;

// ---------------------------------------------------------------------------------------------------- memory

// Memory of the window, zero.
static void *numbers( job_window *w, size_t count, size_t size )
{
    void *memory = tr_alloc( count, size );
    if ( memory == NULL || !tr_array_reserve( (void **)&w->vectors, &w->vector_capacity, w->vector_count + 1,
                                              sizeof( vec3 * ) ) ) {
        tr_free( memory );
        return NULL;
    }
    w->vectors[w->vector_count++] = memory;
    return memory;
}

static void free_window( job_window *w )
{
    for ( int i = 0; i < w->vector_count; ++i )
        tr_free( w->vectors[i] );
    tr_free( w->vectors );
}

// ----------------------------------------------------------------------------------------------------- rules

static int axes_of( const tr_rule *rule )
{
    vec3 acts = tr_rule_masked( rule, v3_one );
    return ( acts.x != 0 ? TR_FIT_X : 0 ) | ( acts.y != 0 ? TR_FIT_Y : 0 ) | ( acts.z != 0 ? TR_FIT_Z : 0 );
}

bool tr_fitter_ties( const fitter *s, int k, bool is_a )
{
    const tr_rule *rule = fitter_rule( s, k );
    const tr_anchor *anchor = is_a ? &rule->a : &rule->b;
    if ( !s->def.in_time || !rule->hard || rule->kind == TR_CONSTRAINT_ORIENTATION || rule->direction ||
         anchor->actor < 0 || anchor->count == 0 || tr_rule_is_stance( rule ) ||
         rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS )
        return false;
    bool on_prop = rule->kind == TR_CONSTRAINT_CONTACT && rule->surface_prop >= 0;
    return tr_rule_links( rule ) || on_prop || s->nudges[2 * k + !is_a] != NULL;
}

// The prop that an end of a rule, or what it stands on, is.
static int prop_of( const fitter *s, const tr_rule *rule, int end )
{
    int prop = end == 0                              ? rule->a.prop
               : rule->kind == TR_CONSTRAINT_CONTACT ? rule->surface_prop
                                                     : rule->b.prop;
    for ( int i = 0; prop >= 0 && i < s->prop_count; ++i )
        if ( s->props[i].prop == prop )
            return i;
    return -1;
}

static vec3 track_place( const fitter *s, int prop, int frame )
{
    return s->def.result->tracks[s->props[prop].prop][frame].position;
}

// Where a tie of a rule holds its body, from the tie's point.
static vec3 away_of( const job_window *w, const window_rule *r, int end, int frame )
{
    const fitter *s = w->s;
    const tr_rule *rule = fitter_rule( s, r->rule );
    int prop = r->point < s->prop_count ? r->point : -1;
    if ( prop >= 0 )
        return v3_sub( tr_fitter_wanted( s, r->rule, end == 0, frame ), track_place( s, prop, frame ) );
    if ( end == 0 || !tr_rule_links( rule ) || tr_fitter_has_lever( s, r->rule ) )
        return v3_zero;
    return v3_scale( -1, tr_rule_target( s->def.stage, s->def.result, rule, frame ) );
}

// Does it change from round to round?
static bool away_changes( const fitter *s, const window_rule *r )
{
    const tr_rule *rule = fitter_rule( s, r->rule );
    return r->point >= s->prop_count && tr_rule_links( rule ) &&
           ( rule->kind == TR_CONSTRAINT_LENGTH ||
             ( rule->partner_space && !tr_fitter_has_lever( s, r->rule ) ) );
}

// Fills the numbers of a tie. False when out of memory.
static bool build_tie( job_window *w, window_rule *r, int end )
{
    const fitter *s = w->s;
    const tr_rule *rule = fitter_rule( s, r->rule );
    const tr_anchor *anchor = end == 0 ? &rule->a : &rule->b;
    vec3 *offset = numbers( w, w->frames, sizeof( vec3 ) ), *away = numbers( w, w->frames, sizeof( vec3 ) );
    double *strength = numbers( w, w->frames, sizeof( double ) );
    if ( offset == NULL || away == NULL || strength == NULL )
        return false;
    bool mixes = s->nudges[2 * r->rule + end] != NULL;
    for ( int f = s->from; f <= s->to; ++f ) {
        size_t cell = fitter_cell( s, f );
        strength[cell] = tr_rule_strength( rule, f );
        if ( !( strength[cell] > 0 ) )
            continue;
        offset[cell] = mixes ? anchor->offset : tr_fitter_point_on_joint( s, anchor, f );
        if ( end == 1 && tr_fitter_has_lever( s, r->rule ) )
            offset[cell] = v3_add( offset[cell], tr_fitter_lever( s, rule, f ) );
        away[cell] = away_of( w, r, end, f );
    }
    static const double one = 1;
    r->tie[end] = w->job.tie_count;
    w->ties[w->job.tie_count++] = ( tr_window_tie ){ .body = s->body_of[anchor->actor],
                                                     .point = r->point,
                                                     .count = mixes ? anchor->count : 1,
                                                     .joints = anchor->joints,
                                                     .weights = mixes ? anchor->weights : &one,
                                                     .offset = offset,
                                                     .away = away,
                                                     .strength = strength,
                                                     .axes = axes_of( rule ),
                                                     .priority = tr_rule_priority( rule ) };
    return true;
}

// Where the point of a rule is to begin, and its way: the ends of copied poses meet half way.
static bool build_rule_point( job_window *w, window_rule *r )
{
    const fitter *s = w->s;
    const tr_rule *rule = fitter_rule( s, r->rule );
    vec3 *place = numbers( w, w->frames, sizeof( vec3 ) ), *way = numbers( w, w->frames, sizeof( vec3 ) );
    if ( place == NULL || way == NULL )
        return false;
    bool links = tr_rule_links_actors( rule ), a = fitter_body( s, rule->a.actor ) != NULL,
         b = fitter_body( s, rule->b.actor ) != NULL;
    for ( int f = s->from; f <= s->to; ++f ) {
        size_t cell = fitter_cell( s, f );
        vec3 apart;
        if ( !( tr_rule_strength( rule, f ) > 0 ) )
            continue;
        way[cell] = !links ? tr_fitter_wanted( s, r->rule, true, f )
                           : tr_fitter_half_way( s, s->def.result, rule, f, &apart );
        place[cell] = links ? s->agreed[r->rule][cell].place : way[cell];
        if ( links && a != b ) // the other stays where it is
            place[cell] = a ? v3_mad( way[cell], -0.5, apart ) : v3_mad( way[cell], 0.5, apart );
    }
    r->point = w->job.point_count;
    w->points[w->job.point_count++] =
        ( tr_window_point ){ .place = place, .way = way, .fixed = !links || a != b };
    return true;
}

static bool build_rule( job_window *w, int k )
{
    const fitter *s = w->s;
    const tr_rule *rule = fitter_rule( s, k );
    bool ties[2] = { tr_fitter_ties( s, k, true ) && fitter_body( s, rule->a.actor ) != NULL,
                     tr_fitter_ties( s, k, false ) && fitter_body( s, rule->b.actor ) != NULL };
    if ( !ties[0] && !ties[1] )
        return true;
    window_rule *r = &w->rules[w->rule_count++];
    *r = ( window_rule ){ .rule = k, .tie = { -1, -1 } };
    r->point = prop_of( s, rule, ties[0] ? 1 : 0 );
    if ( r->point < 0 && !build_rule_point( w, r ) )
        return false;
    for ( int end = 0; end < 2; ++end )
        if ( ties[end] && !build_tie( w, r, end ) )
            return false;
    return true;
}

// ---------------------------------------------------------------------------------------------------- masses

// Where the mean of the heavy joints is to be for the centre of mass to be at its place.
static vec3 mass_place( const fitter *s, const window_mass *m, int frame )
{
    const fit_body *body = m->body;
    const tr_rule *rule = m->rule;
    const tr_stage *stage = s->def.stage;
    const tr_actor *a = &stage->actors[body->actor];
    tr_pose copied = fitter_copied_pose( s, body, frame );
    vec3 free =
        v3_add( tr_body_centre_of_mass( &a->body, &a->target, copied ), tr_fitter_shift( s, body, frame ) );
    vec3 target = rule->given ? tr_reach_mass( stage, s->def.result, rule, frame, copied )
                              : tr_rule_target( stage, s->def.result, rule, frame );
    tr_pose pose = tr_world_pose( &s->def.result->worlds[body->actor], frame );
    vec3 rest = tr_body_centre_of_mass( &a->body, &a->target, pose ); // without the heavy ones
    for ( int i = 0; i < m->count; ++i )
        rest = v3_mad( rest, -m->weights[i], pose.positions[m->joints[i]] );
    return v3_sub( v3_lerp( free, target, tr_rule_strength( rule, frame ) ), rest );
}

// One tie for each rule, in the frames in which it is the strongest of its body.
static bool build_mass( job_window *w, const fit_body *body, int m )
{
    fitter *s = w->s;
    const tr_rule *rule = &s->def.stage->rules[body->masses[m]];
    const tr_actor *a = &s->def.stage->actors[body->actor];
    int joints = a->target.joint_count, count = 0;
    vec3 *place = numbers( w, w->frames, sizeof( vec3 ) );
    double *strength = numbers( w, w->frames, sizeof( double ) ), sum = 0,
           *weights = numbers( w, (size_t)joints, sizeof( double ) );
    int *list = numbers( w, (size_t)joints, sizeof( int ) );
    if ( place == NULL || strength == NULL || weights == NULL || list == NULL )
        return false;
    for ( int j = 0; j < joints; ++j )
        if ( a->body.masses[j] > s->def.least_mass * a->body.total_mass ) {
            list[count] = j;
            weights[count++] = a->body.masses[j];
            sum += a->body.masses[j];
        }
    for ( int j = 0; j < count; ++j )
        weights[j] /= sum;
    window_mass mass = { body, rule, place, strength, list, weights, count };
    bool any = false;
    for ( int f = s->from; f <= s->to; ++f )
        if ( tr_lean_rule( s->def.stage, body->masses, body->mass_count, f ) == rule ) {
            strength[fitter_cell( s, f )] = 1;
            place[fitter_cell( s, f )] = mass_place( s, &mass, f );
            any = true;
        }
    if ( !any || count < 2 )
        return true;
    w->masses[w->mass_count++] = mass;
    w->ties[w->job.tie_count++] = ( tr_window_tie ){ .body = s->body_of[body->actor],
                                                     .point = w->job.point_count,
                                                     .count = count,
                                                     .joints = list,
                                                     .weights = weights,
                                                     .strength = strength,
                                                     .axes = axes_of( rule ),
                                                     .priority = tr_rule_priority( rule ) };
    w->points[w->job.point_count++] = ( tr_window_point ){ .place = place, .way = place, .fixed = true };
    return true;
}

// ----------------------------------------------------------------------------------------------------- props

// What a rule asks of a prop: a place of its own, or one on another prop. False: nothing.
static bool prop_place( const fitter *s, const tr_rule *rule, int end, int frame, vec3 *place )
{
    const tr_stage *stage = s->def.stage;
    if ( !rule->hard || rule->direction || rule->kind == TR_CONSTRAINT_ORIENTATION || rule->a.prop < 0 ||
         rule->b.actor >= 0 )
        return false;
    if ( end == 1 && !tr_rule_links( rule ) && rule->surface_prop < 0 )
        return false;
    vec3 target = tr_rule_target( stage, s->def.result, rule, frame ),
         a = tr_anchor_position( stage, s->def.result, &rule->a, frame );
    if ( tr_rule_links( rule ) )
        target = v3_add( target, tr_anchor_position( stage, s->def.result, &rule->b, frame ) );
    int prop = prop_of( s, rule, end );
    vec3 miss = v3_sub( target, a );
    *place = v3_add( track_place( s, prop, frame ), end == 0 ? miss : v3_scale( -1, miss ) );
    return true;
}

static bool build_pull( job_window *w, int i, int k, int end )
{
    const fitter *s = w->s;
    const tr_rule *rule = fitter_rule( s, k );
    vec3 place;
    if ( prop_of( s, rule, end ) != i || !prop_place( s, rule, end, s->from, &place ) )
        return true;
    vec3 *places = numbers( w, w->frames, sizeof( vec3 ) );
    double *strength = numbers( w, w->frames, sizeof( double ) );
    if ( places == NULL || strength == NULL )
        return false;
    for ( int f = s->from; f <= s->to; ++f ) {
        size_t cell = fitter_cell( s, f );
        strength[cell] = tr_rule_strength( rule, f );
        prop_place( s, rule, end, f, &places[cell] );
    }
    w->asked[w->pull_count] = ( window_pull ){ k, end, places };
    w->pulls[w->pull_count++] = ( tr_window_pull ){ .place = places,
                                                    .strength = strength,
                                                    .axes = axes_of( rule ),
                                                    .priority = tr_rule_priority( rule ) };
    return true;
}

static bool build_props( job_window *w )
{
    const fitter *s = w->s;
    const tr_stage *stage = s->def.stage;
    double size = 0; // a graph may move a prop by any distance; those who hold it follow at most this far
    for ( int i = 0; i < s->body_count; ++i )
        size = fmax( size, s->bodies[i].fit.size );
    for ( int i = 0; i < s->prop_count; ++i ) {
        int prop = s->props[i].prop, node = stage->actor_count + prop, begin = w->pull_count;
        const rigid *track = s->def.result->tracks[prop];
        vec3 *place = numbers( w, w->frames, sizeof( vec3 ) ), *way = numbers( w, w->frames, sizeof( vec3 ) ),
             *near = numbers( w, w->frames, sizeof( vec3 ) );
        bool *held = numbers( w, w->frames, sizeof( bool ) );
        if ( place == NULL || way == NULL || near == NULL || held == NULL )
            return false;
        for ( int f = s->from; f <= s->to; ++f ) {
            size_t cell = fitter_cell( s, f );
            way[cell] = tr_group_place( &stage->groups[stage->props[prop].group],
                                        stage->props[prop].track[f].position );
            held[cell] = !fitter_affects( s, node, f );
            vec3 moved = v3_sub( track[f].position, way[cell] );
            double far = v3_length( moved );
            bool too_far = far > size && !held[cell] && s->body_count > 0;
            place[cell] = near[cell] = too_far ? v3_mad( way[cell], size / far, moved ) : track[f].position;
        }
        for ( int r = 0; r < s->props[i].rule_count; ++r )
            for ( int end = 0; end < 2; ++end )
                if ( !build_pull( w, i, s->props[i].rules[r], end ) )
                    return false;
        w->points[w->job.point_count++] = ( tr_window_point ){ .place = place,
                                                               .way = way,
                                                               .near = near,
                                                               .held = held,
                                                               .pulls = w->pulls + begin,
                                                               .pull_count = w->pull_count - begin };
    }
    return true;
}

static void write_tracks( const job_window *w )
{
    const fitter *s = w->s;
    for ( int i = 0; i < s->prop_count; ++i )
        for ( int f = s->from; f <= s->to; ++f )
            if ( fitter_affects( s, s->def.stage->actor_count + s->props[i].prop, f ) )
                s->def.result->tracks[s->props[i].prop][f].position = w->points[i].place[fitter_cell( s, f )];
}

// ---------------------------------------------------------------------------------------------------- bodies

static void ask( job_window *w, int i, int frame )
{
    const fit_body *body = &w->s->bodies[i];
    size_t cell = fitter_cell( w->s, frame );
    w->goal_counts[i][cell] =
        tr_fitter_goals( w->s, body, frame, w->goals[i] + cell * (size_t)body->most_goals );
}

// As deep as the source goes, in the size of the body or of its legs, which carry it. Joints that nothing
// drives go by their own animation.
static void find_floor( const fitter *s, const fit_body *body, float *floor )
{
    const tr_actor *a = &s->def.stage->actors[body->actor];
    int joints = a->target.joint_count;
    double ground = s->def.stage->ground, ratio = fmax( a->height_ratio, a->leg_ratio );
    for ( int f = s->from; f <= s->to; ++f ) {
        const vec3 *source = tr_world_pose( &a->world, f ).positions;
        float *row = floor + fitter_cell( s, f ) * (size_t)joints;
        for ( int j = 0; j < joints; ++j ) {
            int from = a->map[j];
            bool own = from < 0 && a->own.frame_count > 0;
            double depth = from >= 0 ? fmin( source[from].y - ground, 0 ) : 0;
            row[j] = own ? -INFINITY : (float)( ground + depth * ratio );
        }
        for ( int i = 0; i < a->footing_count; ++i ) // a foot that stands is where its stance has it
            for ( int j = a->footings[i].joint; a->footings[i].strength[f] >= 1 && j < joints; ++j )
                if ( j == a->footings[i].joint || row[a->target.joints[j].parent] == -INFINITY )
                    row[j] = -INFINITY;
    }
}

static bool build_body( job_window *w, int i )
{
    fitter *s = w->s;
    fit_body *body = &s->bodies[i];
    size_t joints = (size_t)fitter_skeleton( s, body )->joint_count;
    vec3 *root = numbers( w, w->frames, sizeof( vec3 ) );
    bool *held = numbers( w, w->frames, sizeof( bool ) );
    w->goals[i] = numbers( w, w->frames * (size_t)body->most_goals, sizeof( tr_fit_goal ) );
    w->goal_counts[i] = numbers( w, w->frames, sizeof( int ) );
    bool minds_ground = s->def.stage->scene->cast[body->actor].contacts;
    float *floor = minds_ground ? numbers( w, w->frames * joints, sizeof( float ) ) : NULL;
    int *carrier = numbers( w, joints, sizeof( int ) );
    if ( root == NULL || held == NULL || carrier == NULL || w->goals[i] == NULL ||
         w->goal_counts[i] == NULL || ( minds_ground && floor == NULL ) )
        return false;
    if ( minds_ground )
        find_floor( s, body, floor );
    for ( int j = 0; j < (int)joints; ++j ) {
        int foot = tr_extremity_carrier( fitter_skeleton( s, body ), j );
        carrier[j] = tr_role_is_extremity( fitter_skeleton( s, body )->joints[foot].role ) ? foot : j;
    }
    for ( int f = s->from; f <= s->to; ++f ) {
        size_t cell = fitter_cell( s, f );
        held[cell] = !fitter_affects( s, body->actor, f );
        if ( held[cell] )
            continue;
        root[cell] = v3_add( fitter_copied_pose( s, body, f ).positions[0], tr_fitter_shift( s, body, f ) );
        ask( w, i, f );
        body->stale[cell] = false;
    }
    const tr_clip *clip = &s->def.result->motions[body->actor].clip;
    const tr_world *world = &s->def.result->worlds[body->actor];
    size_t skip = (size_t)s->from * joints;
    w->bodies[i] = ( tr_window_body ){ .fit = &body->fit,
                                       .start = body->start,
                                       .root = root,
                                       .held = held,
                                       .goals = w->goals[i],
                                       .goal_count = w->goal_counts[i],
                                       .goal_limit = body->most_goals,
                                       .floor = floor,
                                       .carrier = carrier };
    w->bodies[i].clip = *clip;
    w->bodies[i].clip.frame_count = (int)w->frames;
    w->bodies[i].clip.rotations += skip;
    w->bodies[i].clip.root += s->from;
    w->bodies[i].world = ( tr_world ){ .joint_count = (int)joints,
                                       .frame_count = (int)w->frames,
                                       .rotations = world->rotations + skip,
                                       .positions = world->positions + skip };
    w->job.body_count++;
    return true;
}

// ---------------------------------------------------------------------------------------------------- rounds

// What moves with the poses.
static void follow( void *context )
{
    job_window *w = context;
    fitter *s = w->s;
    write_tracks( w );
    for ( int n = 0; n < w->rule_count; ++n ) {
        const window_rule *r = &w->rules[n];
        for ( int end = 0; end < 2 && away_changes( s, r ); ++end ) {
            const tr_window_tie *tie = r->tie[end] >= 0 ? &w->ties[r->tie[end]] : NULL;
            vec3 *away = tie != NULL ? (vec3 *)tie->away : NULL;
            for ( int f = s->from; tie != NULL && f <= s->to; ++f )
                if ( tie->strength[fitter_cell( s, f )] > 0 )
                    away[fitter_cell( s, f )] = away_of( w, r, end, f );
        }
    }
    for ( int n = 0; n < w->pull_count; ++n ) {
        const window_pull *pull = &w->asked[n];
        const tr_rule *rule = fitter_rule( s, pull->rule );
        bool two = prop_of( s, rule, 0 ) >= 0 && prop_of( s, rule, 1 ) >= 0; // otherwise it stays
        for ( int f = s->from; two && f <= s->to; ++f )
            prop_place( s, rule, pull->end, f, &pull->places[fitter_cell( s, f )] );
    }
    for ( int n = 0; n < w->mass_count; ++n ) {
        const window_mass *m = &w->masses[n];
        for ( int f = s->from; f <= s->to; ++f )
            if ( m->strength[fitter_cell( s, f )] > 0 )
                m->place[fitter_cell( s, f )] = mass_place( s, m, f );
    }
}

static bool build( job_window *w )
{
    fitter *s = w->s;
    size_t bodies = (size_t)s->body_count, rules = (size_t)s->rule_count, props = (size_t)s->prop_count;
    size_t masses = 0;
    for ( size_t i = 0; i < bodies; ++i )
        masses += (size_t)s->bodies[i].mass_count;
    w->bodies = numbers( w, bodies, sizeof( tr_window_body ) );
    w->points = numbers( w, props + rules + masses, sizeof( tr_window_point ) );
    w->ties = numbers( w, 2 * rules + masses, sizeof( tr_window_tie ) );
    w->rules = numbers( w, rules, sizeof( window_rule ) );
    w->masses = numbers( w, masses, sizeof( window_mass ) );
    w->pulls = numbers( w, 2 * rules, sizeof( tr_window_pull ) );
    w->asked = numbers( w, 2 * rules, sizeof( window_pull ) );
    w->goals = numbers( w, bodies, sizeof( tr_fit_goal * ) );
    w->goal_counts = numbers( w, bodies, sizeof( int * ) );
    bool ok = w->bodies != NULL && w->points != NULL && w->ties != NULL && w->rules != NULL &&
              w->masses != NULL && w->pulls != NULL && w->asked != NULL && w->goals != NULL &&
              w->goal_counts != NULL && build_props( w );
    for ( int i = 0; ok && i < s->body_count; ++i )
        ok = build_body( w, i );
    for ( int k = 0; ok && k < s->rule_count; ++k )
        ok = build_rule( w, k );
    for ( int i = 0; ok && i < s->body_count; ++i )
        for ( int m = 0; ok && m < s->bodies[i].mass_count; ++m )
            ok = build_mass( w, &s->bodies[i], m );
    return ok;
}

bool tr_fitter_run_window( fitter *s, long *steps, tr_error *error )
{
    job_window w = { .s = s, .frames = (size_t)( s->to - s->from + 1 ) };
    w.job = ( tr_window_job ){ .frame_count = (int)w.frames, .follow = follow, .context = &w };
    tr_window *window = NULL;
    bool ok = build( &w ) || tr_error_memory( error );
    if ( ok ) {
        w.job.bodies = w.bodies;
        w.job.points = w.points;
        w.job.ties = w.ties;
        window = tr_window_create( &w.job, &s->def.window, error );
        ok = window != NULL && tr_window_solve( window, error );
        *steps = window != NULL ? tr_window_steps( window ) : 0;
        write_tracks( &w );
    }
    tr_window_destroy( window );
    free_window( &w );
    return ok;
}
