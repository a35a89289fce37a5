#include "pose_task.h"

#include "scenes/scenes.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------ figures

typedef struct figure {
    const char *name, *scene;
    tr_limb_value limbs[3]; // the target's
    int limb_count;
    const char *joints[BENCH_ROWS_MAX]; // with targets, hands and feet first
    int row_count;
} figure;

static const figure figures[] = {
    { "human",
      "box_relay",
      { { "legs", 0.8 }, { "arms", 1.25 } },
      2,
      { "LeftFoot", "RightFoot", "LeftHand", "RightHand" },
      4 },
    { "spider",
      "spider",
      { { "legs", 0.8 }, { "left_leg_1", 1.25 }, { "right_leg_1", 1.25 } },
      3,
      { "L1Tip_End", "R1Tip_End", "L2Tip_End", "R2Tip_End", "L3Tip_End", "R3Tip_End", "L4Tip_End",
        "R4Tip_End", "L2Tibia", "R2Tibia", "L4Tibia", "R4Tibia" },
      12 },
    { "wolf",
      "wolf",
      { { "legs", 0.8 }, { "head", 1.25 } },
      2,
      { "LeftFrontPaw", "RightFrontPaw", "LeftHindPaw", "RightHindPaw", "Snout", "Tail10" },
      6 },
};

static const figure *find_figure( const char *name )
{
    for ( size_t i = 0; i < sizeof figures / sizeof figures[0]; ++i )
        if ( strcmp( figures[i].name, name ) == 0 )
            return &figures[i];
    return NULL;
}

bool pose_sources_load( tr_motion *out, int count, const char *name, int frame_count, tr_error *error )
{
    tr_scene scene = tr_default_scene();
    tr_library library = { 0 };
    memset( out, 0, (size_t)count * sizeof( tr_motion ) );
    const figure *f = find_figure( name );
    if ( f == NULL )
        return tr_error_set( error, "there is no figure '%s'", name );
    const tr_scene_entry *entry = tr_scene_entry_find( f->scene );
    int cast = count > entry->min_cast ? count : entry->min_cast;
    bool ok = tr_scene_build( entry, cast, &scene, &library, error );
    for ( int i = 0; ok && i < count; ++i ) {
        const tr_motion *motion = tr_library_find( &library, scene.cast[i].source.file );
        if ( motion == NULL || motion->clip.frame_count < frame_count )
            ok = tr_error_set( error, "%s has no clip of %d frames", f->scene, frame_count );
        ok = ok && tr_skeleton_copy( &out[i].skeleton, &motion->skeleton, error ) &&
             tr_clip_slice( &out[i].clip, &motion->clip, 0, frame_count - 1, error );
    }
    tr_library_free( &library );
    tr_scene_free( &scene );
    return ok;
}

// ------------------------------------------------------------------------------------------------- target

// Another body with the same rotations; its path scales with its legs.
static bool make_target( pose_task *task, const figure *f, const tr_motion *source, tr_error *error )
{
    tr_body_scale scale = { .scale = 1, .limbs = f->limbs, .limb_count = f->limb_count };
    if ( !tr_skeleton_scaled( &task->motion.skeleton, &source->skeleton, &scale, error ) ||
         !tr_clip_copy( &task->motion.clip, &source->clip, error ) )
        return false;
    task->path =
        tr_skeleton_leg_length( &task->motion.skeleton ) / tr_skeleton_leg_length( &source->skeleton );
    for ( int i = 0; i < task->frame_count; ++i )
        task->motion.clip.root[i] = v3_scale( task->path, task->motion.clip.root[i] );
    return tr_world_build( &task->world, &task->motion, error );
}

// Each row is on for 12 frames of 20, and they take turns. Targets are a fifth of the way from the copied
// place of the joint to its place in the source, which all bodies can reach.
static tr_goal make_goal( const pose_task *task, const tr_world *source, int row, int frame )
{
    if ( ( frame + 7 * row ) % 20 >= 12 )
        return tr_goal_off();
    vec3 own = tr_world_pose( &task->world, frame ).positions[task->joints[row]];
    vec3 there = tr_world_pose( source, frame ).positions[task->joints[row]];
    return ( tr_goal ){ v3_lerp( own, v3_scale( task->path, there ), 0.2 ), { 0, 0, 0 } };
}

static bool add_rows( pose_task *task, const figure *f, const tr_world *source, tr_error *error )
{
    tr_cluster *cluster = &task->cluster;
    if ( tr_cluster_add_graph( cluster, &task->graph ) < 0 )
        return tr_error_memory( error );
    for ( int r = 0; r < f->row_count; ++r ) {
        task->joints[r] = tr_skeleton_find( &task->motion.skeleton, f->joints[r] );
        if ( task->joints[r] < 0 )
            return tr_error_set( error, "%s has no joint '%s'", f->scene, f->joints[r] );
        int point = tr_cluster_add_joint( cluster, 0, task->joints[r] );
        if ( point < 0 || tr_cluster_add_row( cluster, 0, point, -1, -1 ) < 0 )
            return tr_error_memory( error );
    }
    for ( int i = 0; i < task->frame_count; ++i )
        for ( int r = 0; r < f->row_count; ++r )
            task->goals[i * f->row_count + r] = make_goal( task, source, r, i );
    return tr_cluster_factor( cluster, error );
}

static bool make_graph( pose_task *task, tr_error *error )
{
    tr_posegraph_def def = tr_default_posegraph_def();
    const tr_skeleton *skeleton = &task->motion.skeleton;
    if ( !tr_body_build( &task->body, skeleton, NULL, 0, error ) ||
         !tr_posegraph_build( &task->graph, skeleton, &task->body, &def, error ) )
        return false;
    size_t vertices = 3 * (size_t)task->joint_count;
    task->reference = tr_alloc( (size_t)task->frame_count * vertices, sizeof( vec3 ) );
    task->goals = tr_alloc( (size_t)task->frame_count * BENCH_ROWS_MAX, sizeof( tr_goal ) );
    if ( task->reference == NULL || task->goals == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < task->frame_count; ++i )
        tr_posegraph_pose( &task->graph, tr_world_pose( &task->world, i ),
                           task->reference + (size_t)i * vertices );
    return true;
}

bool pose_task_build( pose_task *out, const char *name, const tr_motion *source, tr_error *error )
{
    const figure *f = find_figure( name );
    *out = ( pose_task ){ .frame_count = source->clip.frame_count, .joint_count = source->clip.joint_count };
    tr_world source_world = { 0 };
    bool ok = tr_world_build( &source_world, source, error ) && make_target( out, f, source, error ) &&
              make_graph( out, error ) && add_rows( out, f, &source_world, error );
    tr_world_free( &source_world );
    if ( ok ) {
        tr_cluster_job job = { .cluster = &out->cluster,
                               .def = tr_default_cluster_def(),
                               .frame_count = out->frame_count,
                               .goals = out->goals };
        out->scratch = tr_cluster_scratch_create( &job, error );
    }
    return out->scratch != NULL;
}

void pose_task_free( pose_task *task )
{
    tr_motion_free( &task->motion );
    tr_world_free( &task->world );
    tr_body_free( &task->body );
    tr_cluster_free( &task->cluster );
    tr_posegraph_free( &task->graph );
    tr_cluster_scratch_destroy( task->scratch );
    tr_free( task->reference );
    tr_free( task->goals );
}

// -------------------------------------------------------------------------------------------------- solve

tr_cluster_def pose_task_same_def( void )
{
    tr_cluster_def def = tr_default_cluster_def();
    def.max_iterations = BENCH_ITERATIONS;
    def.newton = false;
    def.tolerance = 0;
    def.fit_steps = 1; // from the last rotation: converged far below the precision of floats
    return def;
}

bool pose_task_solve( const pose_task *task, const tr_cluster_def *def, vec3 *vertices, quat *turns,
                      tr_error *error )
{
    const vec3 *first[] = { task->reference }, *second[] = { vertices };
    vec3 *out[] = { vertices };
    quat *rotations[] = { turns };
    tr_cluster_job job = { .cluster = &task->cluster,
                           .def = *def,
                           .frame_count = task->frame_count,
                           .reference = first,
                           .goals = task->goals,
                           .vertices = out,
                           .scratch = task->scratch };
    if ( !tr_cluster_transfer( &job, error ) )
        return false;
    job.reference = second;
    job.rotations = turns != NULL ? rotations : NULL;
    return tr_cluster_deform( &job, error );
}
