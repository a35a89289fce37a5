// Cases of the motion core: BVH text, forward kinematics, contact labels.
#include "cases.h"
#include "motion/motion.h"
#include "scenes/scenes.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ subjects

typedef struct motion_state {
    tr_motion *motions; // [count], of any length
    int count;
    tr_world world;       // world of the first clip, for contacts
    tr_contacts contacts; // contacts of the last run
    tr_text text;         // the first as BVH
    tr_bvh bvh;           // and as parsed
    double *numbers;      // the strtod baseline's
} motion_state;

static void motion_teardown( void *pointer )
{
    motion_state *state = pointer;
    for ( int i = 0; i < state->count; ++i )
        tr_motion_free( &state->motions[i] );
    tr_free( state->motions );
    tr_world_free( &state->world );
    tr_contacts_free( &state->contacts );
    tr_text_free( &state->text );
    tr_bvh_free( &state->bvh );
    tr_free( state->numbers );
    tr_free( state );
}

// The characters' clips of a built-in scene; only the first unless `all`.
static bool load_clips( motion_state *state, const char *scene_name, bool all, tr_error *error )
{
    tr_scene scene = tr_default_scene();
    tr_library library = { 0 };
    const tr_scene_entry *entry = tr_scene_entry_find( scene_name );
    bool ok = entry != NULL ? tr_scene_build( entry, 0, &scene, &library, error )
                            : tr_error_set( error, "there is no built-in scene '%s'", scene_name );
    int wanted = all ? scene.cast_count : 1;
    state->motions = ok ? tr_alloc( (size_t)wanted, sizeof state->motions[0] ) : NULL;
    if ( ok && state->motions == NULL )
        ok = tr_error_memory( error );
    for ( int i = 0; ok && i < wanted; ++i ) {
        const tr_motion *motion = tr_library_find( &library, scene.cast[i].source.file );
        ok = motion != NULL ? tr_motion_copy( &state->motions[i], motion, error )
                            : tr_error_set( error, "%s has no clip", scene.cast[i].id );
        state->count += ok;
    }
    tr_library_free( &library );
    tr_scene_free( &scene );
    return ok;
}

static bool motion_setup( void **out, const char *scene_name, bool quick, tr_error *error )
{
    (void)quick;
    motion_state *state = tr_alloc( 1, sizeof *state );
    *out = state;
    return state != NULL ? load_clips( state, scene_name, false, error ) : tr_error_memory( error );
}

static bool crowd_setup( void **out, const char *scene_name, bool quick, tr_error *error )
{
    (void)quick;
    motion_state *state = tr_alloc( 1, sizeof *state );
    *out = state;
    return state != NULL ? load_clips( state, scene_name, true, error ) : tr_error_memory( error );
}

// -------------------------------------------------------------------------------------------- BVH as text

#define TEXT_FRAMES 3000 // some megabytes: a long take

static bool text_setup( void **out, const char *scene_name, bool quick, tr_error *error )
{
    if ( !motion_setup( out, scene_name, quick, error ) )
        return false;
    motion_state *state = *out;
    tr_motion *motion = &state->motions[0];
    tr_clip longer = { 0 };
    double frames = quick ? TEXT_FRAMES / 10.0 : TEXT_FRAMES;
    if ( !tr_clip_resample( &longer, &motion->clip, motion->clip.fps * frames / motion->clip.frame_count,
                            error ) )
        return false;
    tr_clip_free( &motion->clip );
    motion->clip = longer;
    if ( !tr_bvh_from_motion( &state->bvh, motion, NULL, NULL, error ) )
        return false;
    tr_bvh_print( &state->bvh, &state->text );
    size_t values = (size_t)state->bvh.frame_count * (size_t)state->bvh.channel_count;
    state->numbers = tr_alloc( values, sizeof( double ) );
    return ( !state->text.failed && state->numbers != NULL ) || tr_error_memory( error );
}

static bool bvh_read( void *pointer, tr_error *error )
{
    motion_state *state = pointer;
    tr_bvh bvh = { 0 };
    bool ok = tr_bvh_parse( &bvh, state->text.data, state->text.size, "benchmark", NULL, error );
    tr_bvh_free( &bvh );
    return ok;
}

// The usual way: strtod over the motion block, without checks and allocations.
static bool bvh_read_strtod( void *pointer, tr_error *error )
{
    motion_state *state = pointer;
    const char *at = strstr( state->text.data, "Frame Time:" );
    at = at != NULL ? strchr( at, '\n' ) : NULL;
    if ( at == NULL )
        return tr_error_set( error, "the benchmark's own text has no motion block" );
    size_t values = (size_t)state->bvh.frame_count * (size_t)state->bvh.channel_count;
    for ( size_t i = 0; i < values; ++i ) {
        char *end;
        state->numbers[i] = strtod( at, &end );
        if ( end == at )
            return tr_error_set( error, "the benchmark's own text is cut short" );
        at = end;
    }
    return true;
}

static bool bvh_write( void *pointer, tr_error *error )
{
    motion_state *state = pointer;
    tr_text text = { 0 };
    tr_bvh_print( &state->bvh, &text );
    bool ok = !text.failed || tr_error_memory( error );
    tr_text_free( &text );
    return ok;
}

static void describe_text( const void *pointer, tr_bench_row *row )
{
    const motion_state *state = pointer;
    double megabytes = (double)state->text.size / 1e6;
    bench_field( row, "MB", megabytes );
    bench_field( row, "MB_s", megabytes / ( row->ms / 1000 ) );
}

// ------------------------------------------------------------------------------------ forward and contacts

static bool forward_run( void *pointer, tr_error *error )
{
    motion_state *state = pointer;
    tr_world *worlds = tr_alloc( (size_t)state->count, sizeof( tr_world ) );
    bool ok = worlds != NULL ? tr_worlds_build( worlds, state->motions, state->count, error )
                             : tr_error_memory( error );
    for ( int i = 0; worlds != NULL && i < state->count; ++i )
        tr_world_free( &worlds[i] );
    tr_free( worlds );
    return ok;
}

static void describe_forward( const void *pointer, tr_bench_row *row )
{
    const motion_state *state = pointer;
    double joint_frames = 0;
    for ( int i = 0; i < state->count; ++i )
        joint_frames += (double)state->motions[i].skeleton.joint_count * state->motions[i].clip.frame_count;
    bench_field( row, "characters", state->count );
    bench_field( row, "joints", state->motions[0].skeleton.joint_count );
    bench_field( row, "frames", state->motions[0].clip.frame_count );
    bench_field( row, "ns_joint_frame", row->ms * 1e6 / joint_frames );
}

static bool contacts_setup( void **out, const char *scene_name, bool quick, tr_error *error )
{
    if ( !motion_setup( out, scene_name, quick, error ) )
        return false;
    motion_state *state = *out;
    return tr_world_build( &state->world, &state->motions[0], error );
}

static bool contacts_run( void *pointer, tr_error *error )
{
    motion_state *state = pointer;
    tr_surface ground = { .kind = TR_SURFACE_GROUND };
    tr_contact_def def = tr_default_contact_def();
    tr_contacts_free( &state->contacts );
    const tr_motion *motion = &state->motions[0];
    tr_contact_scene scene = { &motion->skeleton, &state->world, motion->clip.fps, &ground, 1 };
    return tr_contacts_label( &state->contacts, &scene, &def, error );
}

static void describe_contacts( const void *pointer, tr_bench_row *row )
{
    const motion_state *state = pointer;
    bench_field( row, "frames", state->motions[0].clip.frame_count );
    bench_field( row, "contacts", state->contacts.count );
}

// --------------------------------------------------------------------------------------------------- table

static const bench_kind read_kind = { text_setup, bvh_read, describe_text, motion_teardown };
static const bench_kind strtod_kind = { text_setup, bvh_read_strtod, describe_text, motion_teardown };
static const bench_kind write_kind = { text_setup, bvh_write, describe_text, motion_teardown };
static const bench_kind forward_kind = { motion_setup, forward_run, describe_forward, motion_teardown };
static const bench_kind crowd_kind = { crowd_setup, forward_run, describe_forward, motion_teardown };
static const bench_kind contacts_kind = { contacts_setup, contacts_run, describe_contacts, motion_teardown };

const bench_case bench_motion_cases[] = {
    { "bvh/read_strtod", "box_relay", 1, &strtod_kind },
    { "bvh/read", "box_relay", 1, &read_kind, "bvh/read_strtod", "times_strtod" },
    { "bvh/write", "box_relay", 1, &write_kind },
    { "forward/human", "box_relay", 1, &forward_kind },
    { "forward/spider", "spider", 1, &forward_kind },
    { "forward/wolf", "wolf", 1, &forward_kind },
    { "forward/crowd", "box_relay", 1, &crowd_kind },
    { "forward/crowd", "box_relay", 2, &crowd_kind, "forward/crowd", "times_1_thread" },
    { "contacts/label", "box_relay", 1, &contacts_kind },
    { NULL },
};
