// Pose graphs: their shape on any skeleton, the two steps against sparse QR, constraints of every kind,
// links.
#include "check.h"
#include "posegraph/posegraph.h"
#include "scenes/scenes.h"

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
static void start_actor( actor *a, int frames, double swing, vec3 place )
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

static void end_actor( actor *a )
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
static tr_skeleton make_figure( double size )
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

static tr_skeleton make_chain( int joints, double bone )
{
    tr_skeleton skeleton = { 0 };
    char name[32];
    for ( int j = 0; j < joints; ++j ) {
        snprintf( name, sizeof name, "c%d", j );
        tr_skeleton_add( &skeleton, name, j - 1, v3( 0, j == 0 ? 0 : bone, 0.2 * bone * sin( j ) ) );
    }
    return skeleton;
}

static tr_skeleton make_star( int rays )
{
    tr_skeleton skeleton = { 0 };
    tr_skeleton_add( &skeleton, "hub", -1, v3_zero );
    char name[32];
    for ( int j = 0; j < rays; ++j ) {
        snprintf( name, sizeof name, "r%d", j );
        tr_skeleton_add( &skeleton, name, 0, v3( cos( j ), sin( 2.0 * j ), sin( j ) ) );
    }
    return skeleton;
}

// --------------------------------------------------------------------------------------------------- graphs

// Corners around their joint, perpendicular to a bone, as thick as asked for, corresponding ones side by
// side.
static void check_graph( const tr_skeleton *skeleton )
{
    tr_error error;
    tr_body body;
    tr_posegraph g;
    tr_posegraph_def def = tr_default_posegraph_def();
    check_ok( tr_body_build( &body, skeleton, NULL, 0, &error ), &error );
    check_ok( tr_posegraph_build( &g, skeleton, &body, &def, &error ), &error );
    assert_int_equal( g.joint_count, skeleton->joint_count );
    size_t n = (size_t)g.joint_count;
    tr_pose rest = { tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    vec3 *v = tr_alloc( 3 * n, sizeof( vec3 ) );
    tr_forward_rest( skeleton, rest );
    tr_posegraph_pose( &g, rest, v );
    for ( int j = 0; j < g.joint_count; ++j ) {
        check_v3( tr_posegraph_joint( v, j ), rest.positions[j], 1e-12 );
        vec3 bone = q_rotate( rest.rotations[j], g.bones[j] );
        double radius = v3_length( g.corners[3 * j] ), beside = 0;
        assert_true( radius >= 1e-3 );
        for ( int k = 0; k < 3; ++k ) {
            vec3 corner = v3_sub( v[3 * j + k], rest.positions[j] );
            check_near( v3_length( corner ), radius, 1e-12 );
            check_near( v3_dot( corner, bone ), 0, 1e-12 );
            check_near( v3_distance( v[3 * j + k], v[3 * j + ( k + 1 ) % 3] ), sqrt( 3.0 ) * radius, 1e-12 );
            if ( j > 0 )
                beside += v3_dot( corner, v3_sub( v[3 * g.parents[j] + k], rest.positions[g.parents[j]] ) );
        }
        if ( j > 0 ) // three rails cannot cross: at worst the planes are at right angles
            assert_true( beside > 1.4 * radius * v3_length( g.corners[3 * g.parents[j]] ) );
    }
    tr_free( rest.rotations );
    tr_free( rest.positions );
    tr_free( v );
    tr_posegraph_free( &g );
    tr_body_free( &body );
}

static void graphs_of_built_in_bodies( void **state )
{
    (void)state;
    static const char *const names[] = { "box_relay", "spider", "wolf" };
    for ( int i = 0; i < 3; ++i ) {
        tr_scene scene = tr_default_scene();
        tr_library library = { 0 };
        tr_error error;
        const tr_scene_entry *entry = tr_scene_entry_find( names[i] );
        check_ok( tr_scene_build( entry, entry->min_cast, &scene, &library, &error ), &error );
        int largest = 0; // of characters and props
        for ( int k = 1; k < library.count; ++k )
            if ( library.items[k].motion.skeleton.joint_count >
                 library.items[largest].motion.skeleton.joint_count )
                largest = k;
        assert_true( library.items[largest].motion.skeleton.joint_count > 30 );
        check_graph( &library.items[largest].motion.skeleton );
        tr_library_free( &library );
        tr_scene_free( &scene );
    }
}

static void graphs_of_strange_skeletons( void **state )
{
    (void)state;
    tr_skeleton skeletons[6] = { make_chain( 1, 0 ),
                                 make_chain( 200, 0.05 ),
                                 make_star( 20 ),
                                 make_figure( 1 ),
                                 make_chain( 5, 0 ) /* all in one place */,
                                 make_figure( 0.001 ) };
    for ( int i = 0; i < 6; ++i ) {
        tr_error error;
        check_ok( tr_skeleton_classify( &skeletons[i], &error ), &error );
        check_graph( &skeletons[i] );
        tr_skeleton_free( &skeletons[i] );
    }
}

// ------------------------------------------------------------------------------------------------ reference
// The same problem written out as one big least-squares problem per frame and axis, solved by sparse QR with
// the constraints eliminated, and rotations by eigenvectors: everything the fast path does not use.

typedef struct slow {
    const tr_cluster *cluster;
    const vec3 *const *reference;
    const tr_goal *goals;
    int frame, begin[9];
    vec3 *v; // [total] where the vertices are
    quat *r; // [total / 3]
    tr_sparse a, h;
    vec3 *b, *want;
    int b_capacity, want_capacity;
} slow;

static const vec3 *slow_reference( const slow *s, int graph )
{
    return s->reference[graph] + (size_t)s->frame * 3 * (size_t)s->cluster->graphs[graph]->joint_count;
}

static void slow_right( slow *s, vec3 value )
{
    assert_true( tr_array_reserve( (void **)&s->b, &s->b_capacity, s->a.row_count + 1, sizeof( vec3 ) ) );
    s->b[s->a.row_count] = value;
}

// w ‖(v_a − v_b) − R ē‖²
static void slow_edge( slow *s, int graph, int a, int b, quat r, double weight )
{
    const vec3 *ref = slow_reference( s, graph );
    double root = sqrt( weight );
    slow_right( s, v3_scale( root, q_rotate( r, v3_sub( ref[a], ref[b] ) ) ) );
    int columns[2] = { s->begin[graph] + a, s->begin[graph] + b };
    assert_true( tr_sparse_add( &s->a, columns, ( double[] ){ root, -root }, 2 ) );
}

static void slow_length( slow *s, int graph, int j, double weight )
{
    const tr_posegraph *g = s->cluster->graphs[graph];
    const vec3 *v = s->v + s->begin[graph];
    int p = g->parents[j], columns[6];
    vec3 bone = v3_sub( tr_posegraph_joint( v, j ), tr_posegraph_joint( v, p ) );
    double root = sqrt( weight ), values[6];
    bool real_bone = v3_length( bone ) > 1e-6;
    slow_right( s, v3_scale( real_bone ? root * g->lengths[j] / v3_length( bone ) : root, bone ) );
    for ( int k = 0; k < 6; ++k ) {
        columns[k] = s->begin[graph] + ( k < 3 ? 3 * j + k : 3 * p + k - 3 );
        values[k] = k < 3 ? root / 3 : -root / 3;
    }
    assert_true( tr_sparse_add( &s->a, columns, values, 6 ) );
}

static void slow_graph( slow *s, int graph, bool deform )
{
    const tr_posegraph *g = s->cluster->graphs[graph];
    const quat *r = s->r + s->begin[graph] / 3;
    for ( int j = 0; j < g->joint_count; ++j ) {
        int p = g->parents[j];
        for ( int k = 0; k < 3; ++k ) {
            slow_edge( s, graph, 3 * j + k, 3 * j + ( k + 1 ) % 3, r[j],
                       deform ? 2 * g->def.edge : g->def.edge );
            if ( p >= 0 )
                slow_edge( s, graph, 3 * j + k, 3 * p + k, r[j], g->def.edge );
            if ( p >= 0 && deform )
                slow_edge( s, graph, 3 * j + k, 3 * p + k, r[p], g->def.edge );
        }
        if ( p >= 0 && deform )
            slow_length( s, graph, j, g->def.length );
        for ( int k = 0; k < 3; ++k ) {
            double root = sqrt( g->def.anchor );
            int column = s->begin[graph] + 3 * j + k;
            slow_right( s, v3_scale( root, slow_reference( s, graph )[3 * j + k] ) );
            assert_true( tr_sparse_add( &s->a, &column, &root, 1 ) );
        }
    }
}

// Rows must act on all axes alike here.
static void slow_rows( slow *s )
{
    for ( int r = 0; r < s->cluster->row_count; ++r ) {
        const tr_goal *goal = &s->goals[s->frame * s->cluster->row_count + r];
        double c = goal->compliance[0];
        if ( c < 0 )
            continue;
        tr_sparse *to = c == 0 ? &s->h : &s->a;
        double root = c == 0 ? 1 : 1 / sqrt( c );
        if ( c == 0 ) {
            assert_true(
                tr_array_reserve( (void **)&s->want, &s->want_capacity, to->row_count + 1, sizeof( vec3 ) ) );
            s->want[to->row_count] = goal->target;
        } else
            slow_right( s, v3_scale( root, goal->target ) );
        assert_true( tr_sparse_add( to, NULL, NULL, 0 ) );
        const tr_port_row *row = &s->cluster->rows[r];
        for ( int e = 0; e < 2 && row->tree[e] >= 0; ++e ) {
            const tr_sparse *points = &s->cluster->points[row->tree[e]];
            for ( int k = points->start[row->port[e]]; k < points->start[row->port[e] + 1]; ++k )
                assert_true( tr_sparse_extend( to, s->begin[row->tree[e]] + points->columns[k],
                                               ( e == 0 ? root : -root ) * points->values[k] ) );
        }
    }
}

static double axis_of( vec3 v, int axis )
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static void slow_global( slow *s, bool deform )
{
    int total = s->begin[s->cluster->graph_count];
    s->a = ( tr_sparse ){ .column_count = total };
    s->h = ( tr_sparse ){ .column_count = total };
    for ( int g = 0; g < s->cluster->graph_count; ++g )
        slow_graph( s, g, deform );
    slow_rows( s );
    double *b = tr_alloc( 3 * (size_t)s->a.row_count, sizeof( double ) ),
           *h = tr_alloc( 3 * (size_t)s->h.row_count, sizeof( double ) ),
           *x = tr_alloc( 3 * (size_t)total, sizeof( double ) );
    for ( int c = 0; c < 3; ++c ) {
        for ( int i = 0; i < s->a.row_count; ++i )
            b[c * s->a.row_count + i] = axis_of( s->b[i], c );
        for ( int i = 0; i < s->h.row_count; ++i )
            h[c * s->h.row_count + i] = axis_of( s->want[i], c );
    }
    tr_error error;
    check_ok( tr_least_squares( &s->a, b, &s->h, h, 3, x, &error ), &error );
    for ( int i = 0; i < total; ++i )
        s->v[i] = v3( x[i], x[total + i], x[2 * total + i] );
    tr_sparse_free( &s->a );
    tr_sparse_free( &s->h );
    tr_free( b );
    tr_free( h );
    tr_free( x );
}

static void slow_add( mat3 *m, vec3 now, vec3 before, double weight )
{
    m->cx = v3_mad( m->cx, weight * before.x, now );
    m->cy = v3_mad( m->cy, weight * before.y, now );
    m->cz = v3_mad( m->cz, weight * before.z, now );
}

static void slow_local( slow *s )
{
    for ( int graph = 0; graph < s->cluster->graph_count; ++graph ) {
        const tr_posegraph *g = s->cluster->graphs[graph];
        const vec3 *v = s->v + s->begin[graph], *ref = slow_reference( s, graph );
        for ( int j = 0; j < g->joint_count; ++j ) {
            mat3 m = { 0 };
            for ( int k = 0; k < 3; ++k ) {
                int a = 3 * j + k, b = 3 * j + ( k + 1 ) % 3;
                slow_add( &m, v3_sub( v[a], v[b] ), v3_sub( ref[a], ref[b] ), 2 );
                for ( int c = 1; c < g->joint_count; ++c ) {
                    int p = g->parents[c];
                    if ( c == j || p == j )
                        slow_add( &m, v3_sub( v[3 * c + k], v[3 * p + k] ),
                                  v3_sub( ref[3 * c + k], ref[3 * p + k] ), 1 );
                }
            }
            s->r[s->begin[graph] / 3 + j] = q_fit( m );
        }
    }
}

// Iterations ≥ 1 of the deformation at one frame, or the transfer (0); the largest distance to what `out`
// holds.
static double slow_distance( const tr_cluster_job *job, int frame, int iterations )
{
    slow s = { .cluster = job->cluster, .reference = job->reference, .goals = job->goals, .frame = frame };
    int total = 0;
    for ( int g = 0; g < job->cluster->graph_count; ++g )
        s.begin[g + 1] = total += 3 * job->cluster->graphs[g]->joint_count;
    s.v = tr_alloc( (size_t)total, sizeof( vec3 ) );
    s.r = tr_alloc( (size_t)total / 3, sizeof( quat ) );
    for ( int i = 0; i < total / 3; ++i )
        s.r[i] = q_identity;
    for ( int g = 0; g < job->cluster->graph_count; ++g )
        memcpy( s.v + s.begin[g], slow_reference( &s, g ),
                (size_t)( s.begin[g + 1] - s.begin[g] ) * sizeof( vec3 ) );
    if ( iterations == 0 )
        slow_global( &s, false );
    for ( int i = 0; i < iterations; ++i ) {
        if ( i > 0 )
            slow_local( &s );
        slow_global( &s, true );
    }
    double most = 0;
    for ( int g = 0; g < job->cluster->graph_count; ++g )
        for ( int i = s.begin[g]; i < s.begin[g + 1]; ++i ) {
            const vec3 *out = job->vertices[g] + (size_t)frame * (size_t)( s.begin[g + 1] - s.begin[g] );
            most = fmax( most, v3_distance( s.v[i], out[i - s.begin[g]] ) );
        }
    tr_free( s.v );
    tr_free( s.r );
    tr_free( s.b );
    tr_free( s.want );
    return most;
}

// ------------------------------------------------------------------------------------------------ one figure

enum { FRAMES = 13, MAX_ROWS = 12 };

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

static void add_actor( rig *r, tr_skeleton skeleton, double swing, vec3 place )
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

static int add_joint_row( rig *r, int graph, int joint )
{
    return tr_cluster_add_row( &r->cluster, graph, tr_cluster_add_joint( &r->cluster, graph, joint ), -1,
                               -1 );
}

static void ready( rig *r )
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

static void end_rig( rig *r )
{
    tr_cluster_free( &r->cluster );
    for ( int i = 0; i < r->actor_count; ++i )
        end_actor( &r->actors[i] );
}

static tr_goal *goal_at( rig *r, int row, int frame )
{
    return &r->goals[frame * r->cluster.row_count + row];
}

static double error_at( const rig *r, int row, int frame )
{
    return r->errors[frame * r->cluster.row_count + row];
}

static void deform( rig *r )
{
    tr_error error;
    check_ok( tr_cluster_deform( &r->job, &error ), &error );
}

static vec3 joint_at( const rig *r, const vec3 *const *arrays, int graph, int joint, int frame )
{
    return tr_posegraph_joint( arrays[graph] + (size_t)frame * 3 * (size_t)r->actors[graph].graph.joint_count,
                               joint );
}

static vec3 before( const rig *r, int graph, int joint, int frame )
{
    return joint_at( r, r->reference, graph, joint, frame );
}

static vec3 after( const rig *r, int graph, int joint, int frame )
{
    return joint_at( r, (const vec3 *const *)r->out, graph, joint, frame );
}

static void set_goal( rig *r, int row, int frame, vec3 target, double compliance )
{
    *goal_at( r, row, frame ) = ( tr_goal ){ target, { compliance, compliance, compliance } };
}

// A figure with feet that rest at times, hands that reach, all by a few centimetres.
static void make_reaching( rig *r, tr_skeleton skeleton, const int joints[4] )
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

static void transfer_without_rows_is_the_posed_body( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.5, v3( 100, 0, -50 ) );
    ready( &r );
    tr_error error;
    check_ok( tr_cluster_transfer( &r.job, &error ), &error );
    size_t bytes = FRAMES * 3 * (size_t)r.actors[0].graph.joint_count * sizeof( vec3 );
    assert_memory_equal( r.out[0], r.reference[0], bytes );
    // And deformation finds nothing to do: lengths are the target's up to the rounding of a float.
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        for ( int j = 0; j < r.actors[0].graph.joint_count; ++j )
            check_v3( after( &r, 0, j, f ), before( &r, 0, j, f ), 1e-6 );
        assert_true( r.iterations[f] <= 2 );
        check_rotation( r.turns[0][f], q_identity, 1e-5 );
    }
    end_rig( &r );
}

static void steps_agree_with_sparse_qr( void **state )
{
    (void)state;
    tr_error error;
    for ( int shape = 0; shape < 2; ++shape ) {
        rig r = { 0 };
        make_reaching( &r, shape == 0 ? make_figure( 1 ) : make_chain( 30, 0.1 ),
                       shape == 0 ? extremities : ( int[4] ){ 29, 3, 12, 20 } );
        r.job.def.fit_steps = 8;
        r.job.def.newton = false;
        r.job.def.tolerance = 0;
        for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes )
            for ( int iterations = 0; iterations <= 4; iterations += 2 ) {
                if ( !tr_lanes_supported( lanes ) )
                    continue;
                r.job.def.lanes = lanes;
                r.job.def.max_iterations = iterations;
                check_ok( iterations == 0 ? tr_cluster_transfer( &r.job, &error )
                                          : tr_cluster_deform( &r.job, &error ),
                          &error );
                for ( int f = 0; f < FRAMES; f += 4 )
                    check_near( slow_distance( &r.job, f, iterations ), 0,
                                lanes == TR_LANES_DOUBLE ? 1e-9 : 1e-5 );
            }
        end_rig( &r );
    }
}

// Cells turned together come to rest where cells turned one by one do, in far fewer steps.
static void newton_finds_the_same_rest( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    r.job.def.lanes = TR_LANES_DOUBLE;
    r.job.def.tolerance = 1e-9;
    r.job.def.max_iterations = 400;
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f )
        assert_true( r.iterations[f] < 40 );
    size_t count = FRAMES * 3 * (size_t)r.actors[0].graph.joint_count;
    vec3 *kept = tr_alloc( count, sizeof( vec3 ) );
    memcpy( kept, r.out[0], count * sizeof( vec3 ) );
    r.job.def.newton = false;
    r.job.def.max_iterations = 4000;
    r.job.def.tolerance = 1e-10;
    deform( &r );
    for ( size_t i = 0; i < count; ++i )
        check_v3( r.out[0][i], kept[i], 1e-6 );
    // In floats, no further from it than the tolerance says.
    r.job.def = tr_default_cluster_def();
    deform( &r );
    for ( size_t i = 0; i < count; ++i )
        check_v3( r.out[0][i], kept[i], r.job.def.tolerance );
    tr_free( kept );
    end_rig( &r );
}

static void hard_rows_are_met( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int k = 0; k < 4; ++k ) {
            const tr_goal *goal = goal_at( &r, k, f );
            double miss = v3_distance( after( &r, 0, extremities[k], f ), goal->target );
            if ( goal->compliance[0] == 0 )
                check_near( miss, 0, 1e-5 );
            if ( goal->compliance[0] >= 0 )
                check_near( error_at( &r, k, f ), miss, 1e-9 );
            else
                assert_true( error_at( &r, k, f ) == 0 );
            if ( k == 3 ) // soft: part of the way
                assert_true( miss > 1e-3 && miss < 0.06 );
            assert_false( r.relaxed[f * 4 + k] );
        }
    end_rig( &r );
}

static void axes_and_strength( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.2, v3_zero );
    int row = add_joint_row( &r, 0, LEFT_HAND );
    ready( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        vec3 target = v3_add( before( &r, 0, LEFT_HAND, f ), v3( 0.5, 0.04, 0.5 ) );
        set_goal( &r, row, f, target, TR_ROW_OFF );
        goal_at( &r, row, f )->compliance[1] = tr_cluster_compliance( &r.cluster, row, true, 0, f / 10.0 );
    }
    r.job.def.max_iterations = 1; // linear: exactly the fraction
    r.job.def.newton = false;
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        vec3 moved = v3_sub( after( &r, 0, LEFT_HAND, f ), before( &r, 0, LEFT_HAND, f ) );
        check_v3( moved, v3( 0, 0.04 * fmin( f / 10.0, 1 ), 0 ), 1e-6 );
    }
    assert_true( tr_cluster_compliance( &r.cluster, row, true, 0, 0 ) == TR_ROW_OFF );
    assert_true( tr_cluster_compliance( &r.cluster, row, false, 0, 1 ) == TR_ROW_OFF );
    check_near( tr_cluster_compliance( &r.cluster, row, false, 4, 1 ), 0.25, 0 );
    end_rig( &r );
}

static void contradictions_give_way_and_are_told( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.2, v3_zero );
    int hand = tr_cluster_add_joint( &r.cluster, 0, LEFT_HAND );
    assert_int_equal( hand, tr_cluster_add_joint( &r.cluster, 0, LEFT_HAND ) );
    const int both[2] = { LEFT_HAND, RIGHT_HAND };
    const double half[2] = { 0.5, 0.5 };
    int middle = tr_cluster_add_point( &r.cluster, 0, both, half, 2, v3_zero );
    tr_cluster_add_row( &r.cluster, 0, hand, -1, -1 );
    tr_cluster_add_row( &r.cluster, 0, hand, -1, -1 );
    add_joint_row( &r, 0, RIGHT_HAND );
    tr_cluster_add_row( &r.cluster, 0, middle, -1, -1 );
    ready( &r );
    assert_int_equal( r.cluster.deform.rank, 2 );
    for ( int f = 0; f < FRAMES; ++f ) {
        vec3 left = before( &r, 0, LEFT_HAND, f ), right = before( &r, 0, RIGHT_HAND, f );
        set_goal( &r, 0, f, v3_add( left, v3( 0.05, 0, 0 ) ), 0 );
        set_goal( &r, 1, f, v3_add( left, v3( 0.05, 0.03, 0 ) ), f == 0 ? TR_ROW_OFF : 0 );
        set_goal( &r, 2, f, right, f % 2 == 0 ? 0 : TR_ROW_OFF );
        set_goal( &r, 3, f, v3_lerp( left, right, 0.5 ), 0 );
    }
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        check_near( error_at( &r, 0, f ), 0, 1e-5 );
        check_near( error_at( &r, 1, f ), f == 0 ? 0 : 0.03, 1e-5 );
        assert_int_equal( r.relaxed[f * 4 + 1], f > 0 );
        // The middle of both hands is one hand too many only while both are held.
        assert_int_equal( r.relaxed[f * 4 + 3], f % 2 == 0 );
        check_near( error_at( &r, 3, f ), f % 2 == 0 ? 0.025 : 0, 1e-5 );
    }
    end_rig( &r );
}

static void orientation_offset_and_mass( void **state )
{
    (void)state;
    rig r = { 0 };
    add_actor( &r, make_figure( 1 ), 0.3, v3_zero );
    const double one = 1;
    const int arm = 7; // the left forearm, whose triangle faces the hand
    vec3 palm = v3( 0.1, 0.03, -0.02 );
    for ( int k = 0; k < 2; ++k )
        tr_cluster_add_row( &r.cluster, 0, tr_cluster_add_corner( &r.cluster, 0, LEFT_FOOT, k ), -1, -1 );
    tr_cluster_add_row( &r.cluster, 0, tr_cluster_add_point( &r.cluster, 0, &arm, &one, 1, palm ), -1, -1 );
    tr_cluster_add_row( &r.cluster, 0, tr_cluster_add_mass( &r.cluster, 0, r.actors[0].body.masses ), -1,
                        -1 );
    ready( &r );
    tr_world world;
    tr_error error;
    check_ok( tr_world_build( &world, &r.actors[0].motion, &error ), &error );
    for ( int f = 0; f < FRAMES; ++f ) {
        tr_pose pose = tr_world_pose( &world, f );
        // The point on the arm is where forward kinematics puts it: asking for just that moves nothing.
        vec3 there = v3_add( pose.positions[arm], q_rotate( pose.rotations[arm], palm ) );
        set_goal( &r, 2, f, f == 0 ? there : v3_add( there, v3( 0, 0.05, 0 ) ), 0 );
        vec3 centre = tr_body_centre_of_mass( &r.actors[0].body, &r.actors[0].skeleton, pose );
        set_goal( &r, 3, f, v3_add( centre, v3( 0.02, 0, 0 ) ), f == 0 ? TR_ROW_OFF : 0 );
        for ( int k = 0; k < 2; ++k )
            set_goal( &r, k, f, r.actors[0].graph.corners[3 * LEFT_FOOT + k], f == 0 ? TR_ROW_OFF : 0 );
    }
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f ) {
        for ( int row = 0; row < 4; ++row )
            check_near( error_at( &r, row, f ), 0, 1e-5 );
        size_t at = (size_t)f * 3 * (size_t)r.actors[0].graph.joint_count;
        quat turn = tr_posegraph_turn( r.reference[0] + at, r.out[0] + at, LEFT_FOOT );
        quat foot = q_mul( turn, tr_world_pose( &world, f ).rotations[LEFT_FOOT] );
        if ( f == 0 )
            check_v3( after( &r, 0, arm, 0 ), before( &r, 0, arm, 0 ), 1e-6 );
        else
            check_rotation( foot, q_identity, 1e-4 );
    }
    tr_world_free( &world );
    end_rig( &r );
}

// ------------------------------------------------------------------------------------------- reproducibility

static void threads_and_neighbours_change_nothing( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    size_t joints = 3 * (size_t)r.actors[0].graph.joint_count, bytes = FRAMES * joints * sizeof( vec3 );
    vec3 *kept = tr_alloc( 1, bytes );
    for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        r.job.def.lanes = lanes;
        tr_parallel_set_threads( 1 );
        deform( &r );
        memcpy( kept, r.out[0], bytes );
        static const int threads[] = { 2, 3, 8 };
        for ( int t = 0; t < 3; ++t ) {
            tr_parallel_set_threads( threads[t] );
            memset( r.out[0], 0, bytes );
            deform( &r );
            assert_memory_equal( r.out[0], kept, bytes );
        }
        // From another first frame: every frame in another lane, beside others.
        const vec3 *later = r.reference[0] + 3 * joints;
        tr_cluster_job job = r.job;
        job.frame_count = FRAMES - 3;
        job.reference = &later;
        job.goals = r.goals + 3 * 4;
        tr_error error;
        check_ok( tr_cluster_deform( &job, &error ), &error );
        assert_memory_equal( r.out[0], kept + 3 * joints, bytes - 3 * joints * sizeof( vec3 ) );
    }
    tr_parallel_set_threads( 0 );
    tr_free( kept );
    end_rig( &r );
}

static void processors_agree( void **state )
{
    (void)state;
    if ( !tr_lanes_supported( TR_LANES_AVX2 ) )
        skip();
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    size_t bytes = FRAMES * 3 * (size_t)r.actors[0].graph.joint_count * sizeof( vec3 );
    vec3 *kept = tr_alloc( 1, bytes );
    r.job.def.lanes = TR_LANES_FLOAT;
    deform( &r );
    memcpy( kept, r.out[0], bytes );
    r.job.def.lanes = TR_LANES_AVX2;
    deform( &r );
    assert_memory_equal( r.out[0], kept, bytes );
    tr_free( kept );
    end_rig( &r );
}

static void scratch_is_reused_and_guarded( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    deform( &r );
    vec3 place = after( &r, 0, LEFT_HAND, 5 );
    tr_error error;
    r.job.scratch = tr_cluster_scratch_create( &r.job, &error );
    assert_non_null( r.job.scratch );
    tr_memory_fail_from( 1 ); // nothing is allocated from here on
    for ( int again = 0; again < 2; ++again )
        assert_true( tr_cluster_deform( &r.job, &error ) );
    tr_memory_fail_from( 0 );
    check_v3( after( &r, 0, LEFT_HAND, 5 ), place, 0 );
    tr_cluster_scratch_destroy( r.job.scratch );
    // Scratch for no rows at all does not do for four of them.
    tr_goal none[FRAMES * 4];
    for ( int i = 0; i < FRAMES * 4; ++i )
        none[i] = tr_goal_off();
    tr_cluster_job bare = r.job;
    bare.goals = none;
    bare.scratch = NULL;
    r.job.scratch = tr_cluster_scratch_create( &bare, &error );
    assert_non_null( r.job.scratch );
    assert_false( tr_cluster_deform( &r.job, &error ) );
    assert_non_null( strstr( error.message, "memory" ) );
    tr_cluster_scratch_destroy( r.job.scratch );
    end_rig( &r );
}

static void far_from_the_origin_nothing_is_lost( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    deform( &r );
    vec3 far = v3( 2000, -30, 1000 );
    int count = FRAMES * 3 * r.actors[0].graph.joint_count;
    vec3 *kept = tr_alloc( (size_t)count, sizeof( vec3 ) );
    for ( int i = 0; i < count; ++i ) {
        kept[i] = v3_add( r.out[0][i], far );
        r.actors[0].reference[i] = v3_add( r.actors[0].reference[i], far );
    }
    for ( int i = 0; i < FRAMES * 4; ++i )
        r.goals[i].target = v3_add( r.goals[i].target, far );
    deform( &r );
    for ( int i = 0; i < count; ++i )
        check_v3( r.out[0][i], kept[i], 1e-4 );
    tr_free( kept );
    end_rig( &r );
}

static void bodies_of_any_size_stay_whole( void **state )
{
    (void)state;
    static const double sizes[] = { 0.2, 5, 0.01 };
    for ( int i = 0; i < 3; ++i ) {
        rig r = { 0 };
        tr_skeleton skeleton = make_figure( 1 );
        for ( int j = 6; j <= 8; ++j ) // one arm alone
            skeleton.joints[j].offset = v3_scale( sizes[i], skeleton.joints[j].offset );
        make_reaching( &r, skeleton, extremities );
        for ( int f = 0; f < FRAMES; ++f ) // out of all reach
            set_goal( &r, 2, f, v3( 40, f, 7 ), 0 );
        deform( &r );
        for ( int f = 0; f < FRAMES; ++f ) {
            for ( int j = 0; j < r.actors[0].graph.joint_count; ++j )
                assert_true( v3_finite( after( &r, 0, j, f ) ) && v3_length( after( &r, 0, j, f ) ) < 100 );
            check_near( error_at( &r, 2, f ), 0, 1e-3 );
        }
        end_rig( &r );
    }
}

static void nan_does_not_get_out( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    r.actors[0].reference[4 * 3 * r.actors[0].graph.joint_count + 7].y = NAN;
    goal_at( &r, 1, 9 )->target.x = INFINITY;
    goal_at( &r, 1, 9 )->compliance[0] = 0;
    deform( &r );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 0; j < r.actors[0].graph.joint_count; ++j ) {
            assert_true( v3_finite( after( &r, 0, j, f ) ) );
            assert_true( q_finite( r.turns[0][f * r.actors[0].graph.joint_count + j] ) );
            if ( f == 9 )
                check_v3( after( &r, 0, j, f ), before( &r, 0, j, f ), 0 ); // as it was
        }
    end_rig( &r );
}

// --------------------------------------------------------------------------------------------------- links

// Two people of different size and a box between them, hands on its sides.
typedef struct meeting {
    rig r;
    tr_posegraph box;
    rigid places[FRAMES];
    vec3 *box_reference, *box_out;
    quat *box_turns;
} meeting;

static void make_meeting( meeting *m )
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

static void end_meeting( meeting *m )
{
    end_rig( &m->r );
    tr_posegraph_free( &m->box );
    tr_free( m->box_reference );
    tr_free( m->box_out );
    tr_free( m->box_turns );
}

static void links_agree_with_sparse_qr( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    m.r.job.def.fit_steps = 8;
    m.r.job.def.newton = false;
    m.r.job.def.tolerance = 0;
    m.r.job.def.max_iterations = 3;
    for ( tr_lanes lanes = 0; lanes < TR_LANES_KINDS; ++lanes ) {
        if ( !tr_lanes_supported( lanes ) )
            continue;
        m.r.job.def.lanes = lanes;
        deform( &m.r );
        for ( int f = 0; f < FRAMES; f += 3 )
            check_near( slow_distance( &m.r.job, f, 3 ), 0, lanes == TR_LANES_DOUBLE ? 1e-9 : 1e-5 );
    }
    end_meeting( &m );
}

static void linked_bodies_and_box_meet( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    deform( &m.r );
    for ( int f = 0; f < FRAMES; ++f ) {
        for ( int row = 0; row < 4; ++row )
            check_near( error_at( &m.r, row, f ), 0, 1e-5 );
        // The box is still a box: its own place moves the reference onto the result within 1 mm.
        rigid place = tr_posegraph_box( m.box_reference + 6 * f, m.box_out + 6 * f, m.places[f] );
        vec3 again[6];
        tr_posegraph_pose_box( &m.box, place, again );
        for ( int v = 0; v < 6; ++v )
            check_v3( again[v], m.box_out[6 * f + v], 1e-3 );
        if ( f % 5 != 4 ) // and the hand lies where the box really is
            check_v3( after( &m.r, 0, LEFT_HAND, f ), rigid_apply( place, v3( -0.2, 0, 0 ) ), 1e-3 );
    }
    end_meeting( &m );
}

// Whoever is in the same cluster but not linked at a frame has no influence on it, to the bit.
static void strangers_change_nothing( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    deform( &m.r );
    vec3 kept[6];
    const int frame = 7; // both hold the box, their heads are free
    memcpy( kept, m.box_out + 6 * frame, sizeof kept );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int row = 0; row < 5; ++row )
            if ( f != frame )
                *goal_at( &m.r, row, f ) = tr_goal_off();
    deform( &m.r );
    assert_memory_equal( m.box_out + 6 * frame, kept, sizeof kept );
    // The first figure alone, its rows off the box: as if the others were not there.
    for ( int row = 2; row < 5; ++row )
        *goal_at( &m.r, row, frame ) = tr_goal_off();
    deform( &m.r );
    vec3 alone = after( &m.r, 0, LEFT_HAND, frame );
    set_goal( &m.r, 1, frame, v3( 5, 5, 5 ), 0 ); // the second is torn away
    deform( &m.r );
    check_v3( after( &m.r, 0, LEFT_HAND, frame ), alone, 0 );
    end_meeting( &m );
}

// Three in a row; the one in the middle holds hands with the first in one block of frames, with the last in
// the next.
static void make_row( rig *r, int people )
{
    for ( int i = 0; i < people; ++i )
        add_actor( r, make_figure( 1 + 0.1 * i ), 0.3, v3( 0.8 * i, 0, 0 ) );
    for ( int i = people - 2; i >= 0; --i ) { // the last link first: parts are not in order of their rows
        int a = tr_cluster_add_joint( &r->cluster, i, LEFT_HAND ),
            b = tr_cluster_add_joint( &r->cluster, i + 1, RIGHT_HAND );
        tr_cluster_add_row( &r->cluster, i, a, i + 1, b );
    }
    add_joint_row( r, 0, RIGHT_FOOT );
    ready( r );
    for ( int f = 0; f < FRAMES; ++f ) {
        int row = f < 8 ? people - 2 : 0; // between the first two, between the others
        if ( f < 8 || people > 2 )
            set_goal( r, row, f, v3_zero, 0 );
        set_goal( r, people - 1, f, before( r, 0, RIGHT_FOOT, f ), 0 );
    }
}

// Graphs are solved in parts, block by block: as if every part were a cluster of its own, to the bit.
static void parts_are_clusters_of_their_own( void **state )
{
    (void)state;
    rig three = { 0 }, two = { 0 };
    make_row( &three, 3 );
    make_row( &two, 2 );
    deform( &three );
    deform( &two );
    for ( int g = 0; g < 2; ++g ) {
        size_t frame = 3 * (size_t)three.actors[g].graph.joint_count * sizeof( vec3 );
        assert_memory_equal( three.out[g], two.out[g], 8 * frame );
        if ( g == 0 ) // alone from there on in both
            assert_memory_equal( three.out[g], two.out[g], FRAMES * frame );
    }
    for ( int f = 0; f < FRAMES; ++f ) {
        bool first = f < 8;
        check_v3( after( &three, first ? 0 : 1, LEFT_HAND, f ), after( &three, first ? 1 : 2, RIGHT_HAND, f ),
                  1e-4 );
        assert_true( error_at( &three, 0, f ) < 1e-4 && error_at( &three, 1, f ) < 1e-4 );
        assert_true( three.iterations[f] >= two.iterations[f] );
    }
    end_rig( &three );
    end_rig( &two );
}

static void a_free_box_stays( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int row = 2; row < 5; ++row )
            *goal_at( &m.r, row, f ) = tr_goal_off();
    deform( &m.r );
    for ( int i = 0; i < 6 * FRAMES; ++i )
        check_v3( m.box_out[i], m.box_reference[i], 0 );
    end_meeting( &m );
}

// -------------------------------------------------------------------------------------------------- memory

static void failing_allocations_leave_nothing_behind( void **state )
{
    (void)state;
    rig r = { 0 };
    make_reaching( &r, make_figure( 1 ), extremities );
    size_t live = tr_memory_live();
    tr_error error;
    bool done = false;
    for ( long n = 1; !done; ++n ) {
        tr_memory_fail_from( n );
        tr_posegraph graph, box = { 0 };
        tr_cluster cluster = { 0 };
        tr_posegraph_def def = tr_default_posegraph_def();
        bool built = tr_posegraph_build( &graph, &r.actors[0].skeleton, NULL, &def, &error );
        done = built && tr_posegraph_build_box( &box, v3_one, &def, &error ) &&
               tr_cluster_add_graph( &cluster, &graph ) == 0;
        int point = done ? tr_cluster_add_joint( &cluster, 0, 3 ) : -1;
        done = point >= 0 && tr_cluster_add_row( &cluster, 0, point, -1, -1 ) == 0 &&
               tr_cluster_factor( &cluster, &error ) && tr_cluster_deform( &r.job, &error );
        tr_memory_fail_from( 0 );
        tr_cluster_free( &cluster );
        tr_posegraph_free( &box );
        if ( built )
            tr_posegraph_free( &graph );
        assert_int_equal( tr_memory_live(), live );
        assert_true( n < 1000 );
    }
    end_rig( &r );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( graphs_of_built_in_bodies ),
        TEST( graphs_of_strange_skeletons ),
        TEST( transfer_without_rows_is_the_posed_body ),
        TEST( steps_agree_with_sparse_qr ),
        TEST( newton_finds_the_same_rest ),
        TEST( hard_rows_are_met ),
        TEST( axes_and_strength ),
        TEST( contradictions_give_way_and_are_told ),
        TEST( orientation_offset_and_mass ),
        TEST( threads_and_neighbours_change_nothing ),
        TEST( processors_agree ),
        TEST( scratch_is_reused_and_guarded ),
        TEST( far_from_the_origin_nothing_is_lost ),
        TEST( bodies_of_any_size_stay_whole ),
        TEST( nan_does_not_get_out ),
        TEST( links_agree_with_sparse_qr ),
        TEST( linked_bodies_and_box_meet ),
        TEST( strangers_change_nothing ),
        TEST( parts_are_clusters_of_their_own ),
        TEST( a_free_box_stays ),
        TEST( failing_allocations_leave_nothing_behind ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
