// A small cast of stick bodies on a stage, shared by the tests of stage and methods.
#ifndef TROUPE_TESTS_STAGE_FIXTURE_H
#define TROUPE_TESTS_STAGE_FIXTURE_H

#include "check.h"
#include "troupe.h"

#include <string.h>
#include <unistd.h>

#define FPS    30.0
#define FRAMES 31

// A body of sticks, one metre from hip to sole: hips at 1 m, legs of two 0.5 m bones, arms of two 0.3 m
// bones.
static inline void add_side( tr_skeleton *s, int hips, int chest, const char *side, double x )
{
    char name[64];
#define JOINT( part, parent, offset )                                                                        \
    ( snprintf( name, sizeof name, "%s%s", side, part ), tr_skeleton_add( s, name, parent, offset ) )
    int thigh = JOINT( "UpLeg", hips, v3( 0.1 * x, 0, 0 ) );
    int shin = JOINT( "Leg", thigh, v3( 0, -0.5, 0 ) );
    int foot = JOINT( "Foot", shin, v3( 0, -0.45, 0 ) );
    int toe = JOINT( "ToeBase", foot, v3( 0, -0.05, 0.15 ) );
    int arm = JOINT( "Arm", chest, v3( 0.2 * x, 0, 0 ) );
    int forearm = JOINT( "ForeArm", arm, v3( 0.3 * x, 0, 0 ) );
    int hand = JOINT( "Hand", forearm, v3( 0.3 * x, 0, 0 ) );
#undef JOINT
    (void)toe;
    (void)hand;
}

static inline void make_body( tr_motion *motion, int frames )
{
    tr_error error;
    *motion = ( tr_motion ){ 0 };
    tr_skeleton *s = &motion->skeleton;
    int hips = tr_skeleton_add( s, "Hips", -1, v3( 0, 1, 0 ) );
    int chest = tr_skeleton_add( s, "Spine", hips, v3( 0, 0.45, 0 ) );
    int head = tr_skeleton_add( s, "Head", chest, v3( 0, 0.3, 0 ) );
    (void)head;
    add_side( s, hips, chest, "Left", 1 );
    add_side( s, hips, chest, "Right", -1 );
    check_ok( tr_skeleton_classify( s, &error ), &error );
    check_ok( tr_clip_alloc( &motion->clip, frames, s->joint_count, FPS, false, &error ), &error );
    for ( int f = 0; f < frames; ++f )
        motion->clip.root[f] = v3( 0, 1, 0 );
}

static inline void bend_a_little( tr_motion *motion ) // so that knees and elbows know which way to go
{
    for ( int f = 0; f < motion->clip.frame_count; ++f )
        for ( int j = 0; j < motion->skeleton.joint_count; ++j ) {
            const char *name = motion->skeleton.joints[j].name;
            quat *q = &tr_clip_frame( &motion->clip, f )[j];
            if ( strstr( name, "UpLeg" ) != NULL )
                *q = q_axis_angle( v3_x, -0.3 );
            else if ( strstr( name, "Leg" ) != NULL )
                *q = q_axis_angle( v3_x, 0.6 );
            else if ( strstr( name, "ForeArm" ) != NULL )
                *q = q_axis_angle( v3_y, name[0] == 'L' ? -0.8 : 0.8 );
        }
}

typedef struct fixture {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_error error;
} fixture;

static inline void begin( fixture *x )
{
    *x = ( fixture ){ .scene = tr_default_scene() };
    x->scene.fps = FPS;
    x->scene.last = FRAMES - 1;
}

static inline tr_cast *add_character( fixture *x, const char *id, vec3 position, double scale,
                                      tr_motion *motion )
{
    tr_cast cast = tr_default_cast( id );
    snprintf( cast.source.file, sizeof cast.source.file, "%s.bvh", id );
    cast.position = position;
    cast.target.scale = scale;
    check_ok( tr_library_add( &x->library, cast.source.file, motion, &x->error ), &x->error );
    return tr_scene_add_cast( &x->scene, &cast );
}

// A straight body that stands still.
static inline tr_cast *add_straight( fixture *x, const char *id, vec3 position, double scale )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    return add_character( x, id, position, scale, &motion );
}

// A bent body that stands still: enough for most tests.
static inline tr_cast *add_bent( fixture *x, const char *id, vec3 position, double scale )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    return add_character( x, id, position, scale, &motion );
}

static inline tr_constraint relation( const char *id, tr_point a, tr_point b )
{
    tr_constraint link = tr_default_constraint( id, TR_CONSTRAINT_RELATIVE );
    link.a = a;
    link.b = b;
    link.first = 0;
    return link;
}

static inline tr_result solve( fixture *x, const char *method )
{
    tr_result result;
    check_ok( tr_pipeline_run( &result, &x->stage, tr_method_find( method ), &x->error ), &x->error );
    return result;
}

// Memory runs out earlier or later while it is solved: each time that is said, until there is enough.
static inline void solve_with_less_memory( fixture *x )
{
    bool done = false;
    for ( long n = 1; !done; n += 1 + n / 16 ) {
        tr_result result;
        tr_memory_fail_from( n );
        done = tr_pipeline_run( &result, &x->stage, tr_method_find( NULL ), &x->error );
        tr_memory_fail_from( 0 );
        if ( done )
            tr_result_free( &result );
        else
            assert_string_equal( x->error.message, "out of memory" );
    }
}

static inline void build( fixture *x )
{
    check_ok( tr_stage_build( &x->stage, &x->scene, NULL, &x->library, NULL, &x->error ), &x->error );
}

// Stages the scene of a folder of results; freed by end.
static inline void open_folder( fixture *x, const char *folder )
{
    char path[128];
    *x = ( fixture ){ 0 };
    snprintf( path, sizeof path, "%s/scene.json", folder );
    check_ok( tr_scene_load( &x->scene, path, &x->error ), &x->error );
    check_ok( tr_stage_build( &x->stage, &x->scene, path, &x->library, NULL, &x->error ), &x->error );
}

// Runs ops on the scene of a fixture, which the edited scene then replaces.
static inline void edit( fixture *x, const char *ops )
{
    tr_document *document = tr_document_create( &x->scene, &x->error );
    assert_non_null( document );
    check_ok( tr_document_run( document, ops, strlen( ops ), "ops", &x->error ), &x->error );
    tr_scene_free( &x->scene );
    check_ok( tr_scene_copy( &x->scene, tr_document_scene( document ), &x->error ), &x->error );
    tr_document_destroy( document );
}

static inline void rebuild( fixture *x )
{
    tr_stage_free( &x->stage );
    build( x );
}

static inline bool same_frame( const tr_result *a, const tr_result *b, int actor, int frame )
{
    size_t joints = (size_t)a->motions[actor].skeleton.joint_count;
    return memcmp( tr_clip_frame( &a->motions[actor].clip, frame ),
                   tr_clip_frame( &b->motions[actor].clip, frame ), joints * sizeof( quat ) ) == 0 &&
           memcmp( &a->motions[actor].clip.root[frame], &b->motions[actor].clip.root[frame],
                   sizeof( vec3 ) ) == 0;
}

// Largest distance of a joint or prop in a frame, metres.
static inline double apart( const tr_result *a, const tr_result *b, int frame )
{
    double most = 0;
    for ( int i = 0; i < a->actor_count; ++i )
        for ( int j = 0; j < a->worlds[i].joint_count; ++j )
            most = fmax( most, v3_distance( tr_world_pose( &a->worlds[i], frame ).positions[j],
                                            tr_world_pose( &b->worlds[i], frame ).positions[j] ) );
    for ( int p = 0; p < a->prop_count; ++p )
        most = fmax( most, v3_distance( a->tracks[p][frame].position, b->tracks[p][frame].position ) );
    return most;
}

static inline void end( fixture *x )
{
    tr_stage_free( &x->stage );
    tr_library_free( &x->library );
    tr_scene_free( &x->scene );
}

// The first field of a figure; 0: nothing of the kind in this scene.
static inline double figure_of( const tr_measures *measures, const char *key )
{
    const tr_metric *metric = tr_measures_find( measures, key );
    return metric->fields[0].out_null ? 0 : metric->fields[0].out;
}

static inline int find_rule( const tr_stage *stage, const char *id )
{
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( strcmp( stage->rules[r].id, id ) == 0 )
            return r;
    fail_msg( "no rule %s", id );
    return -1;
}

static inline int joint( const tr_stage *stage, int actor, const char *name )
{
    return tr_skeleton_find( &stage->actors[actor].target, name );
}

#endif
