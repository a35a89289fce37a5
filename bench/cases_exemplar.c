// Cases of exemplars: poses of the elephant from those of its performer, by the published scheme and by ours.
#include "bench/poster.h"
#include "cases.h"
#include "scenes/scenes.h"

#include <string.h>

typedef struct exemplar_state {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    const tr_actor_examples *examples;
    const tr_skeleton *target;
    quat *poses;       // [pair_count * joint_count] of the target
    tr_poster *poster; // NULL: ours
    quat *local;       // [frame_count * joint_count]
} exemplar_state;

static void exemplar_teardown( void *pointer )
{
    exemplar_state *s = pointer;
    if ( s == NULL )
        return;
    tr_poster_destroy( s->poster );
    tr_stage_free( &s->stage );
    tr_library_free( &s->library );
    tr_scene_free( &s->scene );
    tr_free( s->poses );
    tr_free( s->local );
    tr_free( s );
}

// The poster sees the same pairs and part. Damping as in tests/exemplar_truth.h.
static bool start_poster( exemplar_state *s, tr_error *error )
{
    const tr_actor_examples *e = s->examples;
    const tr_skeleton *source = &e->performer.skeleton;
    const tr_part_drive *part = &s->scene.parts[0];
    size_t joints = (size_t)source->joint_count;
    tr_exemplar_part chain = {
        part->id,
        { tr_skeleton_find( source, part->source_first ), tr_skeleton_find( source, part->source_last ) },
        { tr_skeleton_find( s->target, part->target_first ),
          tr_skeleton_find( s->target, part->target_last ) },
        0 };
    tr_exemplar_pair pairs[TR_EXEMPLAR_PAIRS];
    quat *locals = tr_alloc( (size_t)e->pair_count * joints, sizeof( quat ) );
    if ( locals == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < e->pair_count; ++i ) {
        memcpy( locals + (size_t)i * joints, tr_clip_frame( &e->performer.clip, e->frames[i] ),
                joints * sizeof( quat ) );
        pairs[i] = ( tr_exemplar_pair ){ "", tr_world_pose( &e->world, e->frames[i] ),
                                         s->poses + (size_t)i * (size_t)s->target->joint_count };
    }
    tr_exemplar_job job = { source, s->target, pairs, e->pair_count, &chain, 1 };
    s->poster = tr_poster_create( &job, locals, 0.1, 1.0, error );
    tr_free( locals );
    return s->poster != NULL;
}

static bool exemplar_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)quick;
    exemplar_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    if ( !tr_scene_build( tr_scene_entry_find( "elephant" ), 0, &s->scene, &s->library, error ) )
        return false;
    s->scene.parts[0].aim = 0;
    if ( !tr_stage_build( &s->stage, &s->scene, NULL, &s->library, NULL, error ) )
        return false;
    s->examples = s->stage.actors[0].examples;
    s->target = &s->stage.actors[0].target;
    size_t joints = (size_t)s->target->joint_count;
    const tr_motion *file = tr_library_find_file( &s->library, &s->scene.cast[0].target.skeleton );
    s->local = tr_alloc( (size_t)s->stage.frame_count * joints, sizeof( quat ) );
    s->poses = tr_alloc( (size_t)s->examples->pair_count * joints, sizeof( quat ) );
    if ( s->local == NULL || s->poses == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < s->examples->pair_count; ++i )
        memcpy( s->poses + (size_t)i * joints,
                tr_clip_frame( &file->clip, s->scene.examples[s->examples->pairs[i]].target ),
                joints * sizeof( quat ) );
    return strcmp( argument, "dls" ) != 0 || start_poster( s, error );
}

static bool exemplar_run( void *pointer, tr_error *error )
{
    exemplar_state *s = pointer;
    const tr_actor_examples *e = s->examples;
    if ( s->poster == NULL )
        return tr_exemplar_motion( e->exemplar, &e->world, s->stage.fps, e->frames, s->local, NULL, error );
    for ( int f = 0; f < s->stage.frame_count; ++f ) {
        tr_pose pose = tr_world_pose( &e->world, f );
        tr_poster_pose( s->poster, tr_clip_frame( &e->performer.clip, f ), pose,
                        tr_exemplar_facing( e->exemplar, pose ),
                        s->local + (size_t)f * (size_t)s->target->joint_count );
    }
    return true;
}

// at_examples_deg: the worst joint at an example. spike_deg: the largest change, from a frame to the next, of
// how far a joint turns.
static void exemplar_describe( const void *pointer, tr_bench_row *row )
{
    const exemplar_state *s = pointer;
    int joints = s->target->joint_count;
    double worst = 0, spike = 0;
    for ( int i = 0; i < s->examples->pair_count; ++i )
        for ( int j = 0; j < joints; ++j )
            worst = fmax(
                worst, q_angle( s->local[s->examples->frames[i] * joints + j], s->poses[i * joints + j] ) );
    for ( int i = 2 * joints; i < s->stage.frame_count * joints; ++i ) {
        vec3 now = q_to_vector( q_mul( q_conj( s->local[i - joints] ), s->local[i] ) ),
             before = q_to_vector( q_mul( q_conj( s->local[i - 2 * joints] ), s->local[i - joints] ) );
        spike = fmax( spike, v3_distance( now, before ) );
    }
    bench_field( row, "us_frame", 1000.0 * row->ms / s->stage.frame_count );
    bench_field( row, "at_examples_deg", worst / TR_DEGREE );
    bench_field( row, "spike_deg", spike / TR_DEGREE );
}

static const bench_kind exemplar_kind = { exemplar_setup, exemplar_run, exemplar_describe,
                                          exemplar_teardown };

const bench_case bench_exemplar_cases[] = {
    { "exemplar/dls", "dls", 1, &exemplar_kind },
    { "exemplar/krige", "krige", 1, &exemplar_kind, "exemplar/dls", "times_dls" },
    { NULL },
};
