// Built-in characters and an arm of two bones with everything to fit them with, shared by the tests of the
// skeleton fit.
#ifndef TROUPE_TESTS_FIT_FIXTURE_H
#define TROUPE_TESTS_FIT_FIXTURE_H

#include "check_motion.h"

#include "scenes/kit/kit.h"
#include "scenes/scenes.h"

#include <string.h>

#ifndef MAX_GOALS
#define MAX_GOALS 24
#endif

// -------------------------------------------------------------------------------------------------- bodies

typedef struct actor { // a built-in character, its motion, and everything to fit it with
    tr_scene scene;
    tr_library library;
    const tr_motion *motion;
    const tr_skeleton *skeleton;
    tr_world world;
    tr_fit fit;
    tr_fit_scratch scratch;
    quat *local;
    double residuals[MAX_GOALS];
    tr_fit_goal goals[MAX_GOALS];
} actor;

static inline void ready( actor *a, const tr_fit_def *def )
{
    tr_error error;
    check_ok( tr_fit_build( &a->fit, a->skeleton, def, &error ), &error );
    check_ok( tr_fit_scratch_build( &a->scratch, &a->fit, MAX_GOALS, 1, &error ), &error );
    a->local = tr_alloc( (size_t)a->skeleton->joint_count, sizeof( quat ) );
}

static inline void make_actor( actor *a, const char *scene, const tr_fit_def *def )
{
    *a = ( actor ){ 0 };
    tr_error error;
    const tr_scene_entry *entry = tr_scene_entry_find( scene );
    check_ok( tr_scene_build( entry, entry->min_cast, &a->scene, &a->library, &error ), &error );
    a->motion = tr_library_find( &a->library, a->scene.cast[0].source.file );
    a->skeleton = &a->motion->skeleton;
    check_ok( tr_world_build( &a->world, a->motion, &error ), &error );
    ready( a, def );
}

static inline void drop_actor( actor *a )
{
    tr_fit_scratch_free( &a->scratch );
    tr_fit_free( &a->fit );
    tr_world_free( &a->world );
    tr_library_free( &a->library );
    tr_scene_free( &a->scene );
    tr_free( a->local );
}

static inline tr_fit_frame frame_of( const actor *a, int frame, int goal_count )
{
    return ( tr_fit_frame ){ .start = tr_clip_frame( &a->motion->clip, frame ),
                             .root = a->motion->clip.root[frame],
                             .goals = a->goals,
                             .goal_count = goal_count };
}

static inline tr_fit_result solve( actor *a, const tr_fit_frame *frame )
{
    tr_error error;
    tr_fit_result result = { .local = a->local, .residuals = a->residuals };
    check_ok( tr_fit_solve( &a->fit, &a->scratch, frame, &result, 1, &error ), &error );
    return result;
}

// World pose of a result into arrays of the caller, by the library's own forward kinematics.
static inline void pose_result( const tr_skeleton *skeleton, const tr_fit_result *result, tr_pose pose )
{
    tr_clip clip = { .joint_count = skeleton->joint_count,
                     .frame_count = 1,
                     .rotations = result->local,
                     .root = (vec3 *)&result->root };
    tr_forward( skeleton, &clip, 0, pose );
}

// Feet and hands; of the spider the tips of its legs.
static inline int find_ends( const actor *a, int *joints )
{
    int count = 0;
    bool spider = a->skeleton->limb_count > 8;
    for ( int j = 0; j < a->skeleton->joint_count && count < 8; ++j ) {
        const tr_joint *joint = &a->skeleton->joints[j];
        bool end = spider ? joint->role == TR_ROLE_TOE && joint->end_site
                          : joint->role == TR_ROLE_FOOT || joint->role == TR_ROLE_HAND;
        if ( end )
            joints[count++] = j;
    }
    return count;
}

static inline vec3 random_in_ball( uint64_t seed, uint64_t index )
{
    for ( uint64_t i = 0;; i += 3 ) {
        vec3 v = v3( tr_chance_between( seed, 1000 * index + i, -1, 1 ),
                     tr_chance_between( seed, 1000 * index + i + 1, -1, 1 ),
                     tr_chance_between( seed, 1000 * index + i + 2, -1, 1 ) );
        if ( v3_dot( v, v ) <= 1 )
            return v;
    }
}

static inline void check_finite( const actor *a, const tr_fit_result *result )
{
    assert_true( v3_finite( result->root ) && isfinite( result->worst ) );
    for ( int j = 0; j < a->skeleton->joint_count; ++j )
        check_near( q_dot( a->local[j], a->local[j] ), 1, 1e-9 );
}

// -------------------------------------------------------------------------------------------------- an arm

// Root at the origin, upper arm of 3 along +X from it, forearm of 4, hand: the only joints that turn are
// shoulder and elbow, 0.5 rad bent at the start towards +Y.
typedef struct arm {
    posed body;
    actor a;
} arm;

enum { ARM_ROOT, ARM_UPPER, ARM_LOWER, ARM_HAND };

static inline tr_fit_def only_arms( void )
{
    tr_fit_def def = tr_default_fit_def();
    for ( int r = 0; r < TR_ROLE_COUNT; ++r )
        if ( r != TR_ROLE_UPPER_ARM && r != TR_ROLE_FOREARM )
            def.stiffness[r] = INFINITY;
    def.root_stiffness = INFINITY;
    return def;
}

static inline void make_arm( arm *m, double bend, const tr_fit_def *def )
{
    static const tr_role roles[4] = { TR_ROLE_ROOT, TR_ROLE_UPPER_ARM, TR_ROLE_FOREARM, TR_ROLE_HAND };
    tr_error error;
    *m = ( arm ){ 0 };
    tr_skeleton *skeleton = &m->body.skeleton;
    tr_skeleton_add( skeleton, "root", -1, v3_zero );
    tr_skeleton_add( skeleton, "upper", 0, v3_zero );
    tr_skeleton_add( skeleton, "lower", 1, v3( 3, 0, 0 ) );
    tr_skeleton_add( skeleton, "hand", 2, v3( 4, 0, 0 ) );
    skeleton->joints[ARM_LOWER].rest = q_axis_angle( v3_z, 0.5 ); // the way it bends
    check_ok( tr_skeleton_classify( skeleton, &error ), &error );
    for ( int j = 0; j < 4; ++j ) {
        skeleton->joints[j].role = roles[j];
        skeleton->joints[j].limb = 0;
    }
    posed_start( &m->body );
    m->body.local[ARM_LOWER] = q_axis_angle( v3_z, bend );
    m->a.skeleton = skeleton;
    ready( &m->a, def );
}

static inline void drop_arm( arm *m )
{
    tr_fit_scratch_free( &m->a.scratch );
    tr_fit_free( &m->a.fit );
    tr_free( m->a.local );
    posed_end( &m->body );
}

static inline tr_fit_result reach( arm *m, int goal_count )
{
    tr_fit_frame frame = { .start = m->body.local, .goals = m->a.goals, .goal_count = goal_count };
    tr_fit_result result = solve( &m->a, &frame );
    pose_result( m->a.skeleton, &result, m->body.pose );
    return result;
}

#endif
