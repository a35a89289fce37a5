// Live drags: the worker's side solves poses, the other side shows them; a lock is between them.
#include "ui/session/live_drag.h"
#include "ui/session/poses.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct tr_live {
    tr_scene scene;
    tr_stage stage;
    const tr_stage *on; // its own stage, or for a held frame that of `below`
    tr_stage_files files;
    const tr_method *method;
    tr_outcome *root, *below;
    tr_result own_below; // when it had to be computed
    char layer[TR_ID_MAX], handle[TR_ID_MAX];
    tr_drag *drag;
    tr_live_hold hold; // instead of a handle; who "" = nothing
    tr_hold *held;
    bool *idle, *sent; // [frame_count] the layer does not reach them; handed over since the last move
    tr_error error;
    bool failed;

    pthread_mutex_t lock; // for the fields below
    pthread_cond_t changed;
    vec3 move, turn;
    int frame;
    bool stop, started;
    bool *fresh; // [frame_count] frames of `handed` that the other side has not taken
    bool any_fresh;
    double asked_ms, latency_ms;
    bool measured;     // the latency was not returned yet
    bool showing;      // the visible frames are being solved; newer moves do not stop them
    int handed_number; // number of the move that gave `handed`
    tr_text handed_ops;
    tr_result handed; // worlds and tracks, as the worker last had them
    tr_cage_outline handed_cage;

    atomic_int latest; // number of the last move
    atomic_int alarm;  // changes when work on other frames is to stop
    tr_result shown;   // worlds and tracks, for the thread that draws
    tr_cage_outline shown_cage;
    bool has_shown;
    int shown_number;
    char *shown_ops; // ops of the held frame
};

// ---------------------------------------------------------------------------------------------------- life

tr_live *tr_live_create( tr_live_def *def, tr_error *error )
{
    tr_live *live = tr_alloc( 1, sizeof *live );
    if ( live == NULL ) {
        tr_scene_free( &def->scene );
        tr_outcome_release( def->root );
        tr_error_memory( error );
        return NULL;
    }
    live->scene = def->scene;
    def->scene = ( tr_scene ){ 0 };
    live->files = def->files;
    live->method = def->method;
    live->root = def->root;
    live->below = def->below;
    if ( live->below != NULL )
        ++live->below->users;
    live->hold = def->hold;
    live->on = def->hold.who[0] != 0 ? &live->below->stage : &live->stage;
    snprintf( live->layer, sizeof live->layer, "%s", def->layer != NULL ? def->layer : "" );
    snprintf( live->handle, sizeof live->handle, "%s", def->handle != NULL ? def->handle : "" );
    pthread_mutex_init( &live->lock, NULL );
    pthread_cond_init( &live->changed, NULL );
    return live;
}

void tr_live_destroy( tr_live *live )
{
    if ( live == NULL )
        return;
    tr_drag_end( live->drag );
    tr_hold_end( live->held );
    tr_text_free( &live->handed_ops );
    tr_free( live->shown_ops );
    tr_cage_outline_free( &live->handed_cage );
    tr_cage_outline_free( &live->shown_cage );
    tr_result_free( &live->handed );
    tr_result_free( &live->shown );
    tr_result_free( &live->own_below );
    tr_stage_free( &live->stage );
    tr_scene_free( &live->scene );
    tr_outcome_release( live->below );
    tr_outcome_release( live->root );
    tr_free( live->fresh );
    tr_free( live->idle );
    tr_free( live->sent );
    pthread_mutex_destroy( &live->lock );
    pthread_cond_destroy( &live->changed );
    tr_free( live );
}

// ------------------------------------------------------------------------------------------- worker's thread

static bool prepare_hold( tr_live *live )
{
    const tr_stage *stage = live->on;
    const tr_result *below = &live->below->solved;
    const tr_live_hold *hold = &live->hold;
    int actor = tr_scene_find_cast( stage->scene, hold->who );
    int joint = actor >= 0 ? tr_skeleton_find( &stage->actors[actor].target, hold->joint ) : -1;
    if ( joint < 0 || hold->frame < 0 || hold->frame >= stage->frame_count )
        return tr_error_set( &live->error, "%s has no joint %s to hold", hold->who, hold->joint );
    live->held = tr_hold_begin( stage, below, hold->frame, actor, joint, &live->error );
    live->fresh = tr_alloc( (size_t)stage->frame_count, sizeof( bool ) );
    return live->held != NULL && ( ( live->fresh != NULL && tr_poses_copy( &live->handed, below ) &&
                                     tr_poses_copy( &live->shown, below ) ) ||
                                   tr_error_memory( &live->error ) );
}

bool tr_stage_files_build( const tr_stage_files *files, const tr_outcome *root, const tr_scene *scene,
                           tr_stage *out, tr_log *warnings, tr_error *error )
{
    if ( root != NULL )
        return tr_stage_build_on( out, &root->stage, scene, warnings, error );
    pthread_mutex_lock( files->lock );
    bool ok = tr_stage_build( out, scene, files->base, files->library, warnings, error );
    pthread_mutex_unlock( files->lock );
    return ok;
}

static bool prepare( tr_live *live, tr_worker *worker )
{
    tr_progress link = tr_worker_link( worker );
    tr_error *error = &live->error;
    bool carried = live->root != NULL && tr_stage_carries( &live->root->stage, &live->scene );
    bool ok = tr_stage_files_build( &live->files, carried ? live->root : NULL, &live->scene, &live->stage,
                                    NULL, error );
    int layer = tr_scene_find_layer( &live->scene, live->layer ),
        handle = tr_scene_find_handle( &live->scene, live->handle );
    if ( ok && live->below == NULL ) {
        live->stage.progress = &link;
        ok = tr_pipeline_run_below( &live->own_below, &live->stage, live->method, layer, error );
        live->stage.progress = NULL;
    }
    const tr_result *below = live->below != NULL ? &live->below->solved : &live->own_below;
    live->drag = ok ? tr_drag_begin( &live->stage, below, layer, handle, error ) : NULL;
    if ( live->drag == NULL )
        return false;
    size_t frames = (size_t)live->stage.frame_count;
    live->fresh = tr_alloc( frames, sizeof( bool ) );
    live->idle = tr_alloc( frames, sizeof( bool ) );
    live->sent = tr_alloc( frames, sizeof( bool ) );
    for ( int f = 0; live->idle != NULL && f < live->stage.frame_count; ++f )
        live->idle[f] = tr_drag_is_solved( live->drag, f );
    const tr_cage_outline *cage = tr_drag_cage( live->drag );
    if ( cage != NULL && ( !tr_cage_outline_copy( &live->handed_cage, cage, error ) ||
                           !tr_cage_outline_copy( &live->shown_cage, cage, error ) ) )
        return false;
    const tr_result *start = tr_drag_result( live->drag );
    return ( live->fresh != NULL && live->idle != NULL && live->sent != NULL &&
             tr_poses_copy( &live->handed, start ) && tr_poses_copy( &live->shown, start ) ) ||
           tr_error_memory( error );
}

// Hands over the frames that are solved for the last move; those with `is_done`.
static void hand_over( tr_live *live, bool ( *is_done )( const tr_drag *, int ) )
{
    const tr_result *result = tr_drag_result( live->drag );
    pthread_mutex_lock( &live->lock );
    for ( int f = 0; f < result->frame_count; ++f ) {
        bool done = is_done( live->drag, f ); // false again: it will come later
        if ( !live->idle[f] && !live->sent[f] && done ) {
            tr_poses_copy_frame( &live->handed, result, f );
            live->fresh[f] = true;
        }
        live->sent[f] = done;
    }
    live->any_fresh = true;
    pthread_mutex_unlock( &live->lock );
}

// The visible frames of a move are there.
static void hand_over_first( tr_live *live, double asked_ms )
{
    hand_over( live, tr_drag_is_solved );
    pthread_mutex_lock( &live->lock );
    if ( tr_drag_cage( live->drag ) != NULL )
        tr_cage_outline_follow( &live->handed_cage, tr_drag_cage( live->drag ) );
    live->latency_ms = tr_clock_ms() - asked_ms;
    live->measured = true;
    live->showing = false;
    pthread_mutex_unlock( &live->lock );
}

// Solves the other frames until there is a newer move: quickly, then exactly.
static void go_on( tr_live *live, int done )
{
    bool more = true, refines = true;
    while ( more && atomic_load( &live->latest ) == done ) {
        more = tr_drag_more( live->drag, 4 );
        hand_over( live, tr_drag_is_solved );
    }
    memset( live->sent, 0, (size_t)live->stage.frame_count * sizeof( bool ) );
    while ( refines && atomic_load( &live->latest ) == done )
        refines = tr_drag_refine( live->drag, 1 );
    if ( atomic_load( &live->latest ) == done ) // not before: handles may yield once more
        hand_over( live, tr_drag_is_refined );
}

// Waits for a move that is newer than `done`; the lock is held when it returns. 0: the drag has ended.
static int next_move( tr_live *live, int done )
{
    pthread_mutex_lock( &live->lock );
    while ( !live->stop && atomic_load( &live->latest ) == done )
        pthread_cond_wait( &live->changed, &live->lock );
    return live->stop ? 0 : atomic_load( &live->latest );
}

// Follows the pointer: the visible block first, then the others. The first is always finished: if every newer
// move stopped it, a mouse faster than the solver would show nothing until it rests.
static void follow( tr_live *live )
{
    tr_drag_move move = { .handle = tr_scene_find_handle( &live->scene, live->handle ) };
    for ( int done = 0; ( done = next_move( live, done ) ) != 0; ) {
        move.move = live->move;
        move.turn = live->turn;
        tr_drag_tick tick = { .moves = &move,
                              .move_count = 1,
                              .frame = live->frame,
                              .latest = &live->alarm,
                              .number = atomic_load( &live->alarm ) };
        double asked_ms = live->asked_ms;
        live->showing = true;
        pthread_mutex_unlock( &live->lock );
        memset( live->sent, 0, (size_t)live->stage.frame_count * sizeof( bool ) );
        if ( !tr_drag_visible( live->drag, &tick ) )
            continue;
        hand_over_first( live, asked_ms );
        go_on( live, done );
    }
    pthread_mutex_unlock( &live->lock );
}

// The same for a held frame: all members that are close, at once, and the ops.
static void follow_hold( tr_live *live )
{
    const tr_live_hold *hold = &live->hold;
    for ( int done = 0; ( done = next_move( live, done ) ) != 0; ) {
        vec3 place = live->move;
        double asked_ms = live->asked_ms;
        pthread_mutex_unlock( &live->lock );
        if ( !tr_hold_move( live->held, place, &live->error ) ) {
            live->failed = true;
            return;
        }
        pthread_mutex_lock( &live->lock );
        for ( int i = 0; i < live->on->actor_count; ++i )
            tr_hold_pose( live->held, i, tr_world_pose( &live->handed.worlds[i], hold->frame ) );
        tr_text_free( &live->handed_ops );
        tr_hold_print( live->held, hold->id, hold->document_frame, hold->ease, &live->handed_ops );
        live->handed_number = done;
        live->fresh[hold->frame] = live->any_fresh = true;
        live->latency_ms = tr_clock_ms() - asked_ms;
        live->measured = true;
        pthread_mutex_unlock( &live->lock );
    }
    pthread_mutex_unlock( &live->lock );
}

void tr_live_work( tr_live *live, tr_worker *worker )
{
    bool holds = live->hold.who[0] != 0;
    live->failed = !( holds ? prepare_hold( live ) : prepare( live, worker ) );
    pthread_mutex_lock( &live->lock );
    live->started = !live->failed;
    pthread_mutex_unlock( &live->lock );
    if ( !live->failed && holds )
        follow_hold( live );
    else if ( !live->failed )
        follow( live );
}

// Whether the drag is of a document's handle: moves it on to where the document has it.
static bool catch_up( tr_live *live, const tr_scene *scene )
{
    int handle = tr_scene_find_handle( scene, live->handle );
    if ( handle < 0 || handle != tr_scene_find_handle( &live->scene, live->handle ) )
        return false;
    const tr_handle *wanted = &scene->handles[handle];
    if ( tr_drag_holds( live->drag, handle, wanted->move, wanted->turn ) )
        return true;
    pthread_mutex_lock( &live->lock );
    int frame = live->frame;
    pthread_mutex_unlock( &live->lock );
    tr_drag_move move = { handle, wanted->move, wanted->turn };
    return tr_drag_visible( live->drag,
                            &( tr_drag_tick ){ .moves = &move, .move_count = 1, .frame = frame } );
}

tr_drag *tr_live_finish( tr_live *live, const tr_stage *stage, const tr_method *method )
{
    bool ok = live->drag != NULL && !live->failed && live->method == method &&
              catch_up( live, stage->scene ) && tr_drag_finish( live->drag, stage->scene, stage->progress );
    return ok ? live->drag : NULL;
}

// --------------------------------------------------------------------------------------------- other thread

void tr_live_move( tr_live *live, vec3 move, vec3 turn, int frame, double asked_ms )
{
    pthread_mutex_lock( &live->lock );
    bool same = v3_distance( move, live->move ) == 0.0 && v3_distance( turn, live->turn ) == 0.0 &&
                frame == live->frame && atomic_load( &live->latest ) > 0;
    if ( !same ) {
        live->move = move;
        live->turn = turn;
        live->frame = frame;
        live->asked_ms = asked_ms;
        atomic_fetch_add( &live->latest, 1 );
        atomic_fetch_add( &live->alarm, live->showing ? 0 : 1 );
        pthread_cond_broadcast( &live->changed );
    }
    pthread_mutex_unlock( &live->lock );
}

void tr_live_stop( tr_live *live )
{
    pthread_mutex_lock( &live->lock );
    live->stop = true;
    atomic_fetch_add( &live->latest, 1 );
    atomic_fetch_add( &live->alarm, 1 );
    pthread_cond_broadcast( &live->changed );
    pthread_mutex_unlock( &live->lock );
}

bool tr_live_poll( tr_live *live )
{
    pthread_mutex_lock( &live->lock );
    bool news = live->started && live->any_fresh;
    for ( int f = 0; news && f < live->handed.frame_count; ++f ) {
        if ( live->fresh[f] )
            tr_poses_copy_frame( &live->shown, &live->handed, f );
        live->fresh[f] = false;
    }
    if ( news && live->shown_cage.section_count > 0 )
        tr_cage_outline_follow( &live->shown_cage, &live->handed_cage );
    if ( news && live->handed_ops.data != NULL && !live->handed_ops.failed ) {
        tr_free( live->shown_ops );
        live->shown_ops = tr_string_copy( live->handed_ops.data );
        live->shown_number = live->handed_number;
    }
    live->has_shown |= news;
    live->any_fresh = false;
    pthread_mutex_unlock( &live->lock );
    return news;
}

const tr_result *tr_live_result( const tr_live *live, const tr_stage **stage )
{
    *stage = live->has_shown ? live->on : NULL;
    return live->has_shown ? &live->shown : NULL;
}

const tr_cage_outline *tr_live_cage( const tr_live *live )
{
    return live->has_shown && live->shown_cage.section_count > 0 ? &live->shown_cage : NULL;
}

const char *tr_live_ops( const tr_live *live )
{
    return live->shown_number == atomic_load( &live->latest ) ? live->shown_ops : NULL;
}

bool tr_live_failed( const tr_live *live, tr_error *error )
{
    if ( live->failed )
        *error = live->error;
    return live->failed;
}

bool tr_live_latency( tr_live *live, double *ms )
{
    pthread_mutex_lock( &live->lock );
    bool news = live->measured;
    *ms = live->latency_ms;
    live->measured = false;
    pthread_mutex_unlock( &live->lock );
    return news;
}
