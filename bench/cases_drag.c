// Cases of dragging: one move of the mouse, from the cage to skeletons posed in all frames of a clip or in
// the visible ones.
#include "cases.h"
#include "plain_arap.h"
#include "pose_task.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <string.h>

#define FRAMES 120

typedef struct drag_state {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result below;
    tr_drag *drag;
    int characters, first, last; // window of the layer
    bool visible_only;
    int ticks;
} drag_state;

static void drag_teardown( void *pointer )
{
    drag_state *s = pointer;
    tr_drag_end( s->drag );
    tr_result_free( &s->below );
    tr_stage_free( &s->stage );
    tr_library_free( &s->library );
    tr_scene_free( &s->scene );
    tr_free( s );
}

static bool add_layer( drag_state *s, tr_error *error )
{
    tr_layer layer = tr_default_layer( "edit", TR_LAYER_CAGE );
    tr_handle handle = tr_default_handle( "grip", "edit", s->scene.first + ( s->first + s->last ) / 2 );
    snprintf( layer.members, sizeof layer.members, s->characters == 1 ? "%s" : "p*", s->scene.cast[0].id );
    layer.first = s->scene.first + s->first;
    layer.last = s->scene.first + s->last;
    if ( s->characters == 1 )
        handle.point = tr_point_joint( s->scene.cast[0].id, "LeftHand" );
    return ( tr_scene_add_layer( &s->scene, &layer ) != NULL &&
             tr_scene_add_handle( &s->scene, &handle ) != NULL ) ||
           tr_error_memory( error );
}

// "characters frames first last": walkers of the corridor, without links, with the clip cut or held to a
// number of frames, dragged in a window of it.
static bool drag_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)quick;
    drag_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    int frames = FRAMES;
    sscanf( argument, "%d %d %d %d", &s->characters, &frames, &s->first, &s->last );
    int cast = s->characters > 2 ? s->characters : 2;
    if ( !tr_scene_build( tr_scene_entry_find( "corridor" ), cast, &s->scene, &s->library, error ) )
        return false;
    s->scene.last = s->scene.first + frames - 1;
    return add_layer( s, error ) && tr_stage_build( &s->stage, &s->scene, NULL, &s->library, NULL, error ) &&
           tr_pipeline_run_below( &s->below, &s->stage, tr_method_find( NULL ), 0, error ) &&
           ( s->drag = tr_drag_begin( &s->stage, &s->below, 0, 0, error ) ) != NULL;
}

static bool visible_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    if ( !drag_setup( out, argument, quick, error ) )
        return false;
    ( (drag_state *)*out )->visible_only = true;
    return true;
}

// The mouse moves in a circle of 5 cm, 1 cm per tick.
static bool drag_run( void *pointer, tr_error *error )
{
    drag_state *s = pointer;
    double angle = 0.2 * s->ticks++;
    tr_drag_move move = { 0, v3( 0.05 * cos( angle ), 0.1 + 0.05 * sin( angle ), 0.05 ), v3_zero };
    tr_drag_tick tick = { .moves = &move, .move_count = 1, .frame = ( s->first + s->last ) / 2 };
    if ( !tr_drag_visible( s->drag, &tick ) )
        return tr_error_set( error, "the drag did not come to an end" );
    while ( !s->visible_only && tr_drag_more( s->drag, 1000 ) )
        ;
    return true;
}

static void drag_describe( const void *pointer, tr_bench_row *row )
{
    const drag_state *s = pointer;
    int frames = s->visible_only ? TR_DRAG_BLOCK : s->last - s->first - 1; // pinned at both ends
    bench_field( row, "characters", s->characters );
    bench_field( row, "frames", frames );
    bench_field( row, "us_character_frame", row->ms * 1e3 / ( (double)s->characters * frames ) );
}

// --------------------------------------------------------------------------------------------------- paper
// The same update as the paper describes it: the cage as rigid as possible, points by mean value coordinates,
// hands and feet of the pose graph where the points of the cage are, frame by frame. No skeleton is fitted.

typedef struct paper_state {
    tr_motion source;
    pose_task task;
    pose_kkt kkt;
    tr_cage cage;
    tr_cage_handle handle;
    plain_arap plain;
    double *weights; // [frames · joints · vertex_count]
    vec3 *moved;     // [frames · joints]
    vec3 *vertices;  // [frames · 3 · joints]
    int ticks;
} paper_state;

static void paper_teardown( void *pointer )
{
    paper_state *s = pointer;
    pose_kkt_free( &s->kkt );
    pose_task_free( &s->task );
    tr_motion_free( &s->source );
    plain_arap_free( &s->plain );
    tr_cage_free( &s->cage );
    tr_free( s->weights );
    tr_free( s->moved );
    tr_free( s->vertices );
    tr_free( s );
}

static bool paper_memory( paper_state *s, tr_error *error )
{
    size_t cells = (size_t)s->task.frame_count * (size_t)s->task.joint_count,
           weights = cells * (size_t)s->cage.vertex_count;
    s->weights = tr_alloc( weights, sizeof( double ) );
    s->moved = tr_alloc( cells, sizeof( vec3 ) );
    s->vertices = tr_alloc( 3 * cells, sizeof( vec3 ) );
    if ( s->weights == NULL || s->moved == NULL || s->vertices == NULL )
        return tr_error_memory( error );
    for ( size_t i = 0; i < weights; ++i )
        s->weights[i] = s->cage.weights[i];
    return true;
}

static bool paper_setup( void **out, const char *argument, bool quick, tr_error *error )
{
    (void)argument, (void)quick;
    paper_state *s = tr_alloc( 1, sizeof *s );
    *out = s;
    if ( s == NULL )
        return tr_error_memory( error );
    tr_cage_def def = tr_default_cage_def();
    if ( !pose_sources_load( &s->source, 1, "human", FRAMES, error ) ||
         !pose_task_build( &s->task, "human", &s->source, error ) ||
         !pose_kkt_build( &s->kkt, &s->task, false, error ) )
        return false;
    s->kkt.edits = true;
    tr_cage_points points = { s->task.world.positions, s->task.joint_count, 0, FRAMES, 30 };
    if ( !tr_cage_build( &s->cage, &points, 0, FRAMES - 1, &def, error ) )
        return false;
    s->handle = ( tr_cage_handle ){ .section = s->cage.section_count / 2, .vertex = 1 };
    return plain_arap_build( &s->plain, &s->cage, &s->handle, error ) && paper_memory( s, error );
}

// Sections between keys are interpolated; a point is the weighted sum of its section's vertices.
static void move_frame( paper_state *s, int frame )
{
    const tr_cage *cage = &s->cage;
    int k = 0, count = cage->vertex_count, joints = s->task.joint_count;
    while ( k + 2 < cage->section_count && cage->sections[k + 1] <= frame )
        ++k;
    double t = (double)( frame - cage->sections[k] ) / ( cage->sections[k + 1] - cage->sections[k] );
    vec3 shift[TR_CAGE_MAX_VERTICES];
    for ( int i = 0; i < count; ++i ) {
        int a = k * count + i, b = a + count;
        shift[i] =
            v3_lerp( v3_sub( s->plain.v[a], cage->rest[a] ), v3_sub( s->plain.v[b], cage->rest[b] ), t );
    }
    for ( int j = 0; j < joints; ++j ) {
        size_t at = (size_t)frame * (size_t)joints + (size_t)j;
        vec3 sum = s->task.world.positions[at];
        for ( int i = 0; i < count; ++i )
            sum = v3_mad( sum, s->weights[at * (size_t)count + (size_t)i], shift[i] );
        s->moved[at] = sum;
    }
}

static bool paper_run( void *pointer, tr_error *error )
{
    paper_state *s = pointer;
    double angle = 0.2 * s->ticks++;
    int dragged = s->handle.section * s->cage.vertex_count + s->handle.vertex,
        rows = s->task.cluster.row_count;
    s->plain.v[dragged] =
        v3_add( s->cage.rest[dragged], v3( 0.05 * cos( angle ), 0.1 + 0.05 * sin( angle ), 0.05 ) );
    for ( int i = 0; i < BENCH_ITERATIONS; ++i ) {
        plain_arap_rotations( &s->plain, &s->cage );
        plain_arap_positions( &s->plain, &s->cage );
    }
    for ( int f = 0; f < FRAMES; ++f ) {
        move_frame( s, f );
        for ( int r = 0; r < rows; ++r )
            s->task.goals[f * rows + r] =
                ( tr_goal ){ .target = s->moved[f * s->task.joint_count + s->task.joints[r]] };
    }
    return pose_kkt_solve( &s->kkt, s->vertices, error );
}

static void paper_describe( const void *pointer, tr_bench_row *row )
{
    (void)pointer;
    bench_field( row, "characters", 1 );
    bench_field( row, "frames", FRAMES );
    bench_field( row, "us_character_frame", row->ms * 1e3 / FRAMES );
}

// --------------------------------------------------------------------------------------------------- table

static const bench_kind drag_kind = { drag_setup, drag_run, drag_describe, drag_teardown };
static const bench_kind visible_kind = { visible_setup, drag_run, drag_describe, drag_teardown };
static const bench_kind paper_kind = { paper_setup, paper_run, paper_describe, paper_teardown };

// Both ends of the window are pinned: 120 frames of 122 move.
const bench_case bench_drag_cases[] = {
    { "cage/drag/1/paper", "", 1, &paper_kind },
    { "cage/drag/1", "1 122 0 121", 1, &drag_kind, "cage/drag/1/paper", "times_paper" },
    { "cage/drag/1", "1 122 0 121", 2, &drag_kind, "cage/drag/1", "times_1_thread" },
    { "cage/drag/30", "30 122 0 121", 2, &drag_kind },
    { "cage/drag/100", "100 122 0 121", 2, &drag_kind, .long_only = true },
    { "cage/drag/visible100", "100 122 0 121", 2, &visible_kind, .long_only = true },
    { "cage/drag/clip/240", "1 240 80 159", 1, &drag_kind },
    { "cage/drag/clip/2400", "1 2400 80 159", 1, &drag_kind, "cage/drag/clip/240", "times_240",
      .long_only = true },
    { NULL },
};
