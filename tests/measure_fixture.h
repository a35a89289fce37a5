// A puppet theatre: a few straight chains of joints one metre apart, moved by hand; how figures are
// read from it; and a crowd.
#ifndef TROUPE_TESTS_MEASURE_FIXTURE_H
#define TROUPE_TESTS_MEASURE_FIXTURE_H

#include "check.h"
#include "troupe.h"

#include <string.h>

typedef struct theatre {
    tr_scene scene;
    tr_stage stage;
    tr_result result;
    tr_measures measures;
} theatre;

// A vertical chain of joints, 1 m apart, all in one limb.
static inline void make_chain( tr_skeleton *skeleton, int joints )
{
    for ( int j = 0; j < joints; ++j )
        assert_int_equal( tr_skeleton_add( skeleton, "joint", j - 1, j == 0 ? v3_zero : v3_y ), j );
    skeleton->limbs = tr_alloc( 1, sizeof( tr_limb ) );
    skeleton->limb_count = 1;
    for ( int j = 0; j < joints; ++j )
        skeleton->joints[j].limb = 0;
}

static inline void make_motion( tr_motion *motion, int joints, int frames, double fps )
{
    make_chain( &motion->skeleton, joints );
    assert_true( tr_clip_alloc( &motion->clip, frames, joints, fps, false, NULL ) );
}

static inline void make_world( tr_world *world, int actor, int joints, int frames )
{
    size_t cells = (size_t)joints * (size_t)frames;
    *world =
        ( tr_world ){ joints, frames, tr_alloc( cells, sizeof( quat ) ), tr_alloc( cells, sizeof( vec3 ) ) };
    for ( size_t i = 0; i < cells; ++i ) {
        world->rotations[i] = q_identity;
        world->positions[i] = v3( 10.0 * actor, (double)( i % (size_t)joints ), 0 );
    }
}

// `actors` chains, 10 m apart along x, standing still; nothing else on stage. The result equals the source.
static inline theatre *open_theatre( int actors, int joints, int frames, double fps )
{
    theatre *t = tr_alloc( 1, sizeof *t );
    t->scene.last = frames - 1;
    t->stage = ( tr_stage ){ .scene = &t->scene, .frame_count = frames, .fps = fps, .actor_count = actors };
    t->stage.actors = tr_alloc( (size_t)actors, sizeof( tr_actor ) );
    t->stage.groups = tr_alloc( 1, sizeof( tr_group ) );
    t->stage.groups[0] = ( tr_group ){ .path_scale = 1, .rise = 1, .size_ratio = 1 };
    t->stage.group_count = 1;
    t->result = ( tr_result ){ .actor_count = actors, .frame_count = frames };
    t->result.motions = tr_alloc( (size_t)actors, sizeof( tr_motion ) );
    t->result.worlds = tr_alloc( (size_t)actors, sizeof( tr_world ) );
    for ( int c = 0; c < actors; ++c ) {
        tr_actor *actor = &t->stage.actors[c];
        make_motion( &actor->source, joints, frames, fps );
        make_motion( &t->result.motions[c], joints, frames, fps );
        make_chain( &actor->target, joints );
        make_world( &actor->world, c, joints, frames );
        make_world( &t->result.worlds[c], c, joints, frames );
        actor->map = tr_alloc( (size_t)joints, sizeof( int ) );
        actor->align = tr_alloc( (size_t)joints, sizeof( quat ) );
        for ( int j = 0; j < joints; ++j ) {
            actor->map[j] = j;
            actor->align[j] = q_identity;
        }
    }
    return t;
}

static inline void close_theatre( theatre *t )
{
    tr_measures_free( &t->measures );
    tr_result_free( &t->result );
    tr_stage_free( &t->stage );
    tr_free( t );
}

static inline vec3 *source_at( theatre *t, int actor, int frame, int joint )
{
    return tr_world_pose( &t->stage.actors[actor].world, frame ).positions + joint;
}

static inline vec3 *out_at( theatre *t, int actor, int frame, int joint )
{
    return tr_world_pose( &t->result.worlds[actor], frame ).positions + joint;
}

static inline void put_both( theatre *t, int actor, int frame, int joint, vec3 place )
{
    *source_at( t, actor, frame, joint ) = *out_at( t, actor, frame, joint ) = place;
}

// A target body `factor` times as large; positions stay as they are.
static inline void resize_target( theatre *t, int actor, double factor )
{
    tr_skeleton *target = &t->stage.actors[actor].target;
    for ( int j = 0; j < target->joint_count; ++j )
        target->joints[j].offset = v3_scale( factor, target->joints[j].offset );
}

static inline void add_capsule_to( tr_body *body, tr_capsule capsule )
{
    body->capsules = tr_realloc( body->capsules, (size_t)body->capsule_count + 1, sizeof( tr_capsule ) );
    body->capsules[body->capsule_count++] = capsule;
}

// The capsule of the bone above `joint`, on both bodies.
static inline void add_capsule( theatre *t, int actor, int joint, double radius )
{
    tr_capsule capsule = { joint, joint - 1, v3_zero, v3_y, radius };
    add_capsule_to( &t->stage.actors[actor].body, capsule );
    add_capsule_to( &t->stage.actors[actor].source_body, capsule );
}

// A ball around `joint`, on both bodies.
static inline void add_ball( theatre *t, int actor, int joint, double radius )
{
    tr_capsule capsule = { joint, joint, v3_zero, v3_zero, radius };
    add_capsule_to( &t->stage.actors[actor].body, capsule );
    add_capsule_to( &t->stage.actors[actor].source_body, capsule );
}

static inline void add_prop( theatre *t, vec3 size, vec3 position )
{
    int frames = t->stage.frame_count;
    t->stage.props = tr_alloc( 1, sizeof( tr_stage_prop ) );
    t->stage.props[0] =
        ( tr_stage_prop ){ tr_alloc( (size_t)frames, sizeof( rigid ) ), tr_shape_box( size ), 1.0, 0 };
    t->result.tracks = tr_alloc( 1, sizeof( rigid * ) );
    t->result.tracks[0] = tr_alloc( (size_t)frames, sizeof( rigid ) );
    for ( int f = 0; f < frames; ++f )
        t->stage.props[0].track[f] = t->result.tracks[0][f] = ( rigid ){ q_identity, position };
    t->stage.prop_count = t->result.prop_count = 1;
}

static inline tr_rule *add_rule( theatre *t, tr_constraint_kind kind, int actor, int joint, int first,
                                 int last )
{
    int n = t->stage.rule_count++;
    t->stage.rules = tr_realloc( t->stage.rules, (size_t)n + 1, sizeof( tr_rule ) );
    t->result.reports = tr_realloc( t->result.reports, (size_t)n + 1, sizeof( tr_rule_report ) );
    t->result.rule_count = n + 1;
    t->stage.rules[n] = ( tr_rule ){ .kind = kind,
                                     .constraint = n,
                                     .a = { actor, -1, { joint }, { 1 }, 1 },
                                     .b = { -1, -1 },
                                     .first = first,
                                     .last = last,
                                     .hard = true,
                                     .axis = { true, true, true },
                                     .given = true,
                                     .rotation = q_identity,
                                     .surface_prop = -1 };
    return &t->stage.rules[n];
}

static inline void add_contact( theatre *t, int actor, int joint, int first, int last )
{
    tr_contacts *contacts = &t->stage.actors[actor].contacts;
    assert_true( tr_array_reserve( (void **)&contacts->items, &contacts->capacity, contacts->count + 1,
                                   sizeof( tr_contact ) ) );
    contacts->items[contacts->count++] = ( tr_contact ){ joint, first, last, TR_SURFACE_GROUND, 0 };
    t->stage.actors[actor].source.skeleton.joints[joint].role = TR_ROLE_FOOT;
}

// ------------------------------------------------------------------------------------------------- reading

static inline const tr_metric *metric_of( theatre *t, const char *key )
{
    if ( t->measures.count == 0 ) {
        tr_error error = { 0 };
        check_ok( tr_measure( &t->measures, &t->stage, &t->result, &error ), &error );
    }
    const tr_metric *metric = tr_measures_find( &t->measures, key );
    assert_non_null( metric );
    return metric;
}

static inline void measure_again( theatre *t )
{
    tr_measures_free( &t->measures );
}

static inline const tr_metric_field *field_of( theatre *t, const char *key, const char *name )
{
    const tr_metric *metric = metric_of( t, key );
    for ( int i = 0; i < metric->field_count; ++i )
        if ( strcmp( metric->fields[i].name, name ) == 0 )
            return &metric->fields[i];
    return NULL;
}

static inline double out_of( theatre *t, const char *key, const char *name )
{
    const tr_metric_field *field = field_of( t, key, name );
    assert_non_null( field );
    assert_false( field->out_null );
    return field->out;
}

static inline double source_of( theatre *t, const char *key, const char *name )
{
    const tr_metric_field *field = field_of( t, key, name );
    assert_non_null( field );
    assert_false( field->source_null );
    return field->source;
}

// All fields are null and there is a reason with this word in it.
static inline void check_null( theatre *t, const char *key, const char *word )
{
    const tr_metric *metric = metric_of( t, key );
    assert_true( metric->field_count > 0 );
    for ( int i = 0; i < metric->field_count; ++i )
        assert_true( metric->fields[i].out_null && metric->fields[i].source_null );
    assert_non_null( metric->reason );
    if ( strstr( metric->reason, word ) == NULL )
        fail_msg( "%s: \"%s\" does not say \"%s\"", key, metric->reason, word );
}

// ------------------------------------------------------------------------------------------------- a crowd

// Bodies that mill about and into each other: every figure has something to count.
static inline theatre *crowd( int actors, int frames )
{
    theatre *t = open_theatre( actors, 6, frames, 30 );
    uint64_t state = 7;
    for ( int c = 0; c < actors; ++c ) {
        for ( int j = 1; j < 6; ++j )
            add_capsule( t, c, j, 0.05 + 0.01 * j );
        add_contact( t, c, 0, 1, frames - 2 );
        for ( int f = 0; f < frames; ++f )
            for ( int j = 0; j < 6; ++j ) {
                double x[3];
                for ( int i = 0; i < 3; ++i ) {
                    state = state * 6364136223846793005u + 1442695040888963407u;
                    x[i] = (double)( state >> 40 ) / (double)( 1 << 24 );
                }
                vec3 base = v3( 0.25 * c + 0.3 * sin( 0.1 * f ), 0.3 * j - 0.1, 0 );
                *source_at( t, c, f, j ) = v3_add( base, v3( 0.1 * x[0], 0, 0.2 * x[1] ) );
                *out_at( t, c, f, j ) = v3_add( base, v3( 0.1 * x[1], 0.1 * x[2], 0.2 * x[0] ) );
            }
    }
    add_prop( t, v3_one, v3( 0.4, 0.5, 0.6 ) );
    return t;
}

#endif
