// Figures with their graphs, rows and goals, and two people with a box between them, shared by the tests of
// pose graphs.
#ifndef TROUPE_TESTS_POSEGRAPH_FIXTURE_H
#define TROUPE_TESTS_POSEGRAPH_FIXTURE_H

#include "check.h"
#include "posegraph/posegraph.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------- figures

typedef struct actor { // a skeleton with its graph and some frames of motion
    tr_skeleton skeleton;
    tr_body body;
    tr_posegraph graph;
    tr_motion motion; // borrows nothing
    int frames;
    vec3 *reference, *out; // [frames · 3 · joints]
    quat *turns;           // [frames · joints]
} actor;

// Takes the skeleton over and moves its joints by up to `swing` radians, smoothly and differently each.
static inline void start_actor( actor *a, int frames, double swing, vec3 place )
{
    tr_error error;
    int joints = a->skeleton.joint_count;
    check_ok( tr_skeleton_classify( &a->skeleton, &error ), &error );
    check_ok( tr_body_build( &a->body, &a->skeleton, NULL, 0, &error ), &error );
    tr_posegraph_def def = tr_default_posegraph_def();
    check_ok( tr_posegraph_build( &a->graph, &a->skeleton, &a->body, &def, &error ), &error );
    check_ok( tr_skeleton_copy( &a->motion.skeleton, &a->skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &a->motion.clip, frames, joints, 30, false, &error ), &error );
    for ( int f = 0; f < frames; ++f ) {
        a->motion.clip.root[f] = v3_add( place, v3( 0.02 * f, 1.0 + 0.03 * sin( 0.4 * f ), 0.01 * f ) );
        for ( int j = 0; j < joints; ++j ) {
            vec3 turn = v3( sin( 0.3 * f + j ), sin( 0.2 * f + 2.0 * j ), sin( 0.25 * f + 3.0 * j ) );
            tr_clip_frame( &a->motion.clip, f )[j] =
                q_mul( a->skeleton.joints[j].rest, q_from_vector( v3_scale( swing, turn ) ) );
        }
    }
    tr_world world;
    check_ok( tr_world_build( &world, &a->motion, &error ), &error );
    a->frames = frames;
    a->reference = tr_alloc( (size_t)( frames * 3 * joints ), sizeof( vec3 ) );
    a->out = tr_alloc( (size_t)( frames * 3 * joints ), sizeof( vec3 ) );
    a->turns = tr_alloc( (size_t)( frames * joints ), sizeof( quat ) );
    for ( int f = 0; f < frames; ++f )
        tr_posegraph_pose( &a->graph, tr_world_pose( &world, f ), a->reference + f * 3 * joints );
    tr_world_free( &world );
}

static inline void end_actor( actor *a )
{
    tr_skeleton_free( &a->skeleton );
    tr_body_free( &a->body );
    tr_posegraph_free( &a->graph );
    tr_motion_free( &a->motion );
    tr_free( a->reference );
    tr_free( a->out );
    tr_free( a->turns );
}

// Pelvis, spine, two arms and two legs; joints 8 and 11 are the hands, 14 and 17 the feet.
static inline tr_skeleton make_figure( double size )
{
    static const struct {
        const char *name;
        int parent;
        vec3 offset;
    } joints[] = { { "Hips", -1, { 0, 0, 0 } },
                   { "Spine", 0, { 0, 0.2, 0 } },
                   { "Chest", 1, { 0, 0.25, 0.02 } },
                   { "Neck", 2, { 0, 0.15, 0 } },
                   { "Head", 3, { 0, 0.12, 0.03 } },
                   { "LeftShoulder", 2, { 0, 0, 0 } }, // no length
                   { "LeftArm", 5, { 0.18, 0.1, 0 } },
                   { "LeftForeArm", 6, { 0.28, 0, 0 } },
                   { "LeftHand", 7, { 0.25, 0, 0.01 } },
                   { "RightArm", 2, { -0.18, 0.1, 0 } },
                   { "RightForeArm", 9, { -0.28, 0, 0 } },
                   { "RightHand", 10, { -0.25, 0, 0.01 } },
                   { "LeftUpLeg", 0, { 0.1, 0, 0 } },
                   { "LeftLeg", 12, { 0, -0.42, 0.01 } },
                   { "LeftFoot", 13, { 0, -0.42, -0.02 } },
                   { "RightUpLeg", 0, { -0.1, 0, 0 } },
                   { "RightLeg", 15, { 0, -0.42, 0.01 } },
                   { "RightFoot", 16, { 0, -0.42, -0.02 } } };
    tr_skeleton skeleton = { 0 };
    for ( size_t j = 0; j < sizeof joints / sizeof joints[0]; ++j )
        tr_skeleton_add( &skeleton, joints[j].name, joints[j].parent, v3_scale( size, joints[j].offset ) );
    return skeleton;
}
enum { HEAD = 4, LEFT_HAND = 8, RIGHT_HAND = 11, LEFT_FOOT = 14, RIGHT_FOOT = 17 };

static inline tr_skeleton make_chain( int joints, double bone )
{
    tr_skeleton skeleton = { 0 };
    char name[32];
    for ( int j = 0; j < joints; ++j ) {
        snprintf( name, sizeof name, "c%d", j );
        tr_skeleton_add( &skeleton, name, j - 1, v3( 0, j == 0 ? 0 : bone, 0.2 * bone * sin( j ) ) );
    }
    return skeleton;
}

// ------------------------------------------------------------------------------------------ rows and goals

#ifndef FRAMES
#define FRAMES 13
#endif
enum { MAX_ROWS = 12 };

typedef struct rig { // up to three graphs, their rows and goals
    actor actors[3];
    int actor_count;
    tr_cluster cluster;
    tr_goal goals[FRAMES * MAX_ROWS];
    const vec3 *reference[3];
    vec3 *out[3];
    quat *turns[3];
    double errors[FRAMES * MAX_ROWS];
    bool relaxed[FRAMES * MAX_ROWS];
    int iterations[FRAMES];
    tr_cluster_job job;
} rig;

static inline void add_actor( rig *r, tr_skeleton skeleton, double swing, vec3 place )
{
    actor *a = &r->actors[r->actor_count];
    a->skeleton = skeleton;
    start_actor( a, FRAMES, swing, place );
    r->reference[r->actor_count] = a->reference;
    r->out[r->actor_count] = a->out;
    r->turns[r->actor_count] = a->turns;
    assert_int_equal( tr_cluster_add_graph( &r->cluster, &a->graph ), r->actor_count );
    r->actor_count++;
}

static inline int add_joint_row( rig *r, int graph, int joint )
{
    return tr_cluster_add_row( &r->cluster, graph, tr_cluster_add_joint( &r->cluster, graph, joint ), -1,
                               -1 );
}

static inline void ready( rig *r )
{
    tr_error error;
    assert_true( r->cluster.row_count <= MAX_ROWS );
    check_ok( tr_cluster_factor( &r->cluster, &error ), &error );
    for ( int i = 0; i < FRAMES * MAX_ROWS; ++i )
        r->goals[i] = tr_goal_off();
    r->job = ( tr_cluster_job ){ .cluster = &r->cluster,
                                 .def = tr_default_cluster_def(),
                                 .frame_count = FRAMES,
                                 .reference = r->reference,
                                 .goals = r->goals,
                                 .vertices = r->out,
                                 .rotations = r->turns,
                                 .errors = r->errors,
                                 .relaxed = r->relaxed,
                                 .iterations = r->iterations };
}

static inline void end_rig( rig *r )
{
    tr_cluster_free( &r->cluster );
    for ( int i = 0; i < r->actor_count; ++i )
        end_actor( &r->actors[i] );
}

static inline tr_goal *goal_at( rig *r, int row, int frame )
{
    return &r->goals[frame * r->cluster.row_count + row];
}

static inline double error_at( const rig *r, int row, int frame )
{
    return r->errors[frame * r->cluster.row_count + row];
}

static inline void deform( rig *r )
{
    tr_error error;
    check_ok( tr_cluster_deform( &r->job, &error ), &error );
}

static inline vec3 joint_at( const rig *r, const vec3 *const *arrays, int graph, int joint, int frame )
{
    return tr_posegraph_joint( arrays[graph] + (size_t)frame * 3 * (size_t)r->actors[graph].graph.joint_count,
                               joint );
}

static inline vec3 before( const rig *r, int graph, int joint, int frame )
{
    return joint_at( r, r->reference, graph, joint, frame );
}

static inline vec3 after( const rig *r, int graph, int joint, int frame )
{
    return joint_at( r, (const vec3 *const *)r->out, graph, joint, frame );
}

static inline void set_goal( rig *r, int row, int frame, vec3 target, double compliance )
{
    *goal_at( r, row, frame ) = ( tr_goal ){ target, { compliance, compliance, compliance } };
}

// A figure with feet that rest at times, hands that reach, all by a few centimetres.
static inline void make_reaching( rig *r, tr_skeleton skeleton, const int joints[4] )
{
    add_actor( r, skeleton, 0.3, v3( 3, 0, -2 ) );
    for ( int k = 0; k < 4; ++k )
        assert_int_equal( add_joint_row( r, 0, joints[k] ), k );
    ready( r );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int k = 0; k < 4; ++k ) {
            vec3 shift = v3_scale( 0.06, v3( sin( f + k ), cos( 2.0 * k ), sin( 3.0 * k + 1 ) ) );
            double compliance = k == 3 ? 0.5 : ( f + k ) % 3 == 0 ? TR_ROW_OFF : 0;
            set_goal( r, k, f, v3_add( before( r, 0, joints[k], f ), shift ), compliance );
        }
}

static const int extremities[4] = { LEFT_FOOT, RIGHT_FOOT, LEFT_HAND, RIGHT_HAND };

// ----------------------------------------------------------------------------------------------- a meeting

// Two people of different size and a box between them, hands on its sides.
typedef struct meeting {
    rig r;
    tr_posegraph box;
    rigid places[FRAMES];
    vec3 *box_reference, *box_out;
    quat *box_turns;
} meeting;

static inline void make_meeting( meeting *m )
{
    rig *r = &m->r;
    tr_error error;
    tr_posegraph_def def = tr_default_posegraph_def();
    add_actor( r, make_figure( 1 ), 0.2, v3( 0, 0, 0 ) );
    add_actor( r, make_figure( 1.3 ), 0.2, v3( 2.05, -0.1, 0.1 ) );
    check_ok( tr_posegraph_build_box( &m->box, v3( 0.4, 0.3, 0.3 ), &def, &error ), &error );
    m->box_reference = tr_alloc( FRAMES * 6, sizeof( vec3 ) );
    m->box_out = tr_alloc( FRAMES * 6, sizeof( vec3 ) );
    m->box_turns = tr_alloc( FRAMES * 2, sizeof( quat ) );
    for ( int f = 0; f < FRAMES; ++f ) {
        m->places[f] = ( rigid ){ q_axis_angle( v3( 1, 2, 1 ), 0.1 * f ), v3( 0.93, 1.6, 0.1 ) };
        tr_posegraph_pose_box( &m->box, m->places[f], m->box_reference + 6 * f );
    }
    r->reference[2] = m->box_reference;
    r->out[2] = m->box_out;
    r->turns[2] = m->box_turns;
    tr_cluster_add_graph( &r->cluster, &m->box );
    add_joint_row( r, 0, LEFT_FOOT );
    add_joint_row( r, 1, RIGHT_FOOT );
    // A hand of each on the box; their heads come a little nearer at times.
    const int bottom = 0;
    const double one = 1;
    int left = tr_cluster_add_point( &r->cluster, 2, &bottom, &one, 1, v3( -0.2, 0.15, 0 ) );
    int right = tr_cluster_add_point( &r->cluster, 2, &bottom, &one, 1, v3( 0.2, 0.15, 0.05 ) );
    tr_cluster_add_row( &r->cluster, 0, tr_cluster_add_joint( &r->cluster, 0, LEFT_HAND ), 2, left );
    tr_cluster_add_row( &r->cluster, 1, tr_cluster_add_joint( &r->cluster, 1, RIGHT_HAND ), 2, right );
    tr_cluster_add_row( &r->cluster, 0, tr_cluster_add_joint( &r->cluster, 0, HEAD ), 1,
                        tr_cluster_add_joint( &r->cluster, 1, HEAD ) );
    ready( r );
    for ( int f = 0; f < FRAMES; ++f ) {
        set_goal( r, 0, f, before( r, 0, LEFT_FOOT, f ), 0 );
        set_goal( r, 1, f, v3_add( before( r, 1, RIGHT_FOOT, f ), v3( 0.02, 0, 0 ) ), 0 );
        set_goal( r, 2, f, v3_zero, f % 5 == 4 ? TR_ROW_OFF : 0 );
        set_goal( r, 3, f, v3_zero, f % 5 == 3 ? TR_ROW_OFF : 0 );
        vec3 apart = v3_sub( before( r, 0, HEAD, f ), before( r, 1, HEAD, f ) );
        set_goal( r, 4, f, v3_add( apart, v3( 0.05, 0, 0 ) ), f % 2 ? TR_ROW_OFF : 0.2 );
    }
}

static inline void end_meeting( meeting *m )
{
    end_rig( &m->r );
    tr_posegraph_free( &m->box );
    tr_free( m->box_reference );
    tr_free( m->box_out );
    tr_free( m->box_turns );
}

#endif
