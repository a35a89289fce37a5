// The layers of a scene, one after the other, each on the result of those before it.
#include "scene/layer.h"

#include <string.h>

double tr_yaw( quat rotation )
{
    quat swing, twist;
    q_swing_twist( rotation, v3_y, &swing, &twist );
    return wrap_angle( 2 * atan2( twist.y, twist.w ) );
}

tr_step *tr_result_steps( tr_result *result, const tr_stage *stage, int actor )
{
    if ( result->steps[actor] == NULL )
        result->steps[actor] = tr_alloc(
            (size_t)stage->frame_count * (size_t)stage->actors[actor].target.joint_count, sizeof( tr_step ) );
    return result->steps[actor];
}

double *tr_result_turns( tr_result *result, int actor )
{
    if ( result->turns[actor] == NULL )
        result->turns[actor] = tr_alloc( (size_t)result->frame_count, sizeof( double ) );
    return result->turns[actor];
}

// ----------------------------------------------------------------------------------------------------- leak

typedef struct snapshot { // of everything there is
    vec3 **joints;        // [actor_count][frame_count * joint_count]
    rigid **tracks;       // [prop_count][frame_count]
} snapshot;

static void snapshot_free( snapshot *s, const tr_stage *stage )
{
    for ( int i = 0; s->joints != NULL && i < stage->actor_count; ++i )
        tr_free( s->joints[i] );
    for ( int p = 0; s->tracks != NULL && p < stage->prop_count; ++p )
        tr_free( s->tracks[p] );
    tr_free( s->joints );
    tr_free( s->tracks );
}

static void *duplicate( const void *data, size_t count, size_t size )
{
    void *copy = tr_alloc( count, size );
    return copy != NULL ? memcpy( copy, data, count * size ) : NULL;
}

static bool snapshot_take( snapshot *s, const tr_stage *stage, const tr_result *result )
{
    size_t frames = (size_t)stage->frame_count;
    s->joints = tr_alloc( (size_t)stage->actor_count, sizeof( vec3 * ) );
    s->tracks = tr_alloc( (size_t)stage->prop_count, sizeof( rigid * ) );
    bool ok = s->joints != NULL && s->tracks != NULL;
    for ( int i = 0; ok && i < stage->actor_count; ++i ) {
        const tr_world *world = &result->worlds[i];
        s->joints[i] = duplicate( world->positions, frames * (size_t)world->joint_count, sizeof( vec3 ) );
        ok = s->joints[i] != NULL;
    }
    for ( int p = 0; ok && p < stage->prop_count; ++p ) {
        s->tracks[p] = duplicate( result->tracks[p], frames, sizeof( rigid ) );
        ok = s->tracks[p] != NULL;
    }
    return ok;
}

// How far a character or prop moved at a frame, metres.
static double moved( const snapshot *s, const tr_stage *stage, const tr_result *result, int node, int frame )
{
    if ( node >= stage->actor_count ) {
        int prop = node - stage->actor_count;
        vec3 arm = v3_scale( 0.5 * stage->props[prop].scale, stage->props[prop].size );
        return v3_distance( rigid_apply( s->tracks[prop][frame], arm ),
                            rigid_apply( result->tracks[prop][frame], arm ) );
    }
    const tr_world *world = &result->worlds[node];
    size_t at = (size_t)frame * (size_t)world->joint_count;
    double most = 0;
    for ( int j = 0; j < world->joint_count; ++j )
        most = fmax( most, v3_distance( s->joints[node][at + (size_t)j], world->positions[at + (size_t)j] ) );
    return most;
}

// Whom rules join to the members anywhere in the window and its ease. Judged by the document alone, not by
// what was solved.
static bool find_linked( tr_cage_layer *l, tr_error *error )
{
    const tr_stage *stage = l->stage;
    int before, after;
    bool *linked = tr_alloc( (size_t)( stage->actor_count + stage->prop_count ), sizeof( bool ) );
    l->linked = linked;
    if ( linked == NULL )
        return tr_error_memory( error );
    tr_cage_layer_limits( l, &before, &after );
    for ( int i = 0; i < stage->actor_count; ++i )
        linked[i] = l->grab->joints[i] != NULL;
    memcpy( linked + stage->actor_count, l->grab->props, (size_t)stage->prop_count * sizeof( bool ) );
    for ( int f = before < 0 ? 0 : before + 1; f < after && f < stage->frame_count; ++f )
        tr_stage_reach( stage, f, linked );
    return true;
}

static void measure_leak( const tr_cage_layer *l, const snapshot *s )
{
    const tr_stage *stage = l->stage;
    int before, after, nodes = stage->actor_count + stage->prop_count;
    tr_cage_layer_limits( l, &before, &after );
    for ( int n = 0; n < nodes; ++n )
        for ( int f = 0; f < stage->frame_count; ++f )
            if ( !l->linked[n] || f <= before || f >= after )
                l->result->leak_mm = fmax( l->result->leak_mm, 1e3 * moved( s, stage, l->result, n, f ) );
}

// -------------------------------------------------------------------------------------------------- reports

static bool is_affected( const tr_cage_layer *l, int node, int frame )
{
    return node >= 0 && l->affected[(size_t)node * (size_t)l->stage->frame_count + (size_t)frame];
}

// What handles of earlier layers hold may have been moved on.
static void pass_on( const tr_cage_layer *l )
{
    const tr_scene *scene = l->stage->scene;
    for ( int i = 0; i < scene->handle_count; ++i ) {
        tr_handle_report *report = &l->result->handles[i];
        int node = tr_anchor_node( l->stage, &l->stage->handles[i] );
        if ( report->acted && is_affected( l, node, scene->handles[i].frame - scene->first ) )
            report->passed_on = true;
    }
}

static void report_handles( const tr_cage_layer *l )
{
    pass_on( l );
    for ( int h = 0; h < l->handle_count; ++h ) {
        int index = l->handle_index[h];
        const tr_cage_handle *handle = &l->handles[h];
        tr_handle_report *report = &l->result->handles[index];
        *report = ( tr_handle_report ){ .acted = true, .error_mm = 1e3 * l->handle_errors[h] };
        if ( handle->kind != TR_HANDLE_POINT )
            continue;
        report->place = v3_add( handle->place, handle->offset );
        vec3 now = tr_anchor_position( l->stage, l->result, &l->stage->handles[index], handle->frame );
        report->error_mm = 1e3 * v3_distance( now, report->place );
    }
}

// ---------------------------------------------------------------------------------------------------- apply

// Everybody who has to be solved again, and the frames in which anybody has.
static bool reach( tr_cage_layer *l, int *first, int *last, tr_error *error )
{
    const tr_stage *stage = l->stage;
    int nodes = stage->actor_count + stage->prop_count, frames = stage->frame_count;
    bool *set = tr_alloc( (size_t)nodes, sizeof( bool ) );
    if ( set == NULL )
        return tr_error_memory( error );
    *first = frames;
    *last = -1;
    for ( int f = 0; f < frames; ++f ) {
        bool any = false;
        for ( int n = 0; n < nodes; ++n )
            any = ( set[n] = is_affected( l, n, f ) ) || any;
        if ( !any )
            continue;
        tr_stage_reach( stage, f, set );
        for ( int n = 0; n < nodes; ++n )
            l->affected[(size_t)n * (size_t)frames + (size_t)f] = set[n];
        *first = f < *first ? f : *first;
        *last = f;
    }
    tr_free( set );
    return true;
}

bool tr_cage_layer_move( tr_cage_layer *l, int *first, int *last, tr_error *error )
{
    return find_linked( l, error ) && tr_cage_layer_rules( l, error ) && tr_cage_layer_turn( l, error ) &&
           tr_cage_layer_steps( l, error ) && tr_cage_layer_pose( l, error ) &&
           reach( l, first, last, error );
}

static bool solve( tr_cage_layer *l, tr_error *error )
{
    int first = 0, last = -1;
    if ( !tr_cage_layer_move( l, &first, &last, error ) )
        return false;
    return last < first || tr_cluster_settle( &l->edited, l->result, l->affected, first, last, error );
}

static bool apply( const tr_stage *stage, const tr_grab *grab, tr_result *result, tr_error *error )
{
    tr_cage_layer l;
    snapshot before = { 0 };
    bool ok = tr_cage_layer_build( &l, stage, grab, result, error );
    if ( ok && l.built ) {
        ok = snapshot_take( &before, stage, result ) || tr_error_memory( error );
        ok = ok && solve( &l, error );
        if ( ok ) {
            measure_leak( &l, &before );
            report_handles( &l );
        }
        snapshot_free( &before, stage );
    }
    tr_cage_layer_free( &l );
    return ok;
}

bool tr_layers_apply( const tr_stage *stage, tr_result *result, int end, tr_error *error )
{
    for ( int i = 0; stage->grab_count > 0 && i < stage->actor_count; ++i )
        if ( result->worlds[i].positions == NULL &&
             !tr_world_build( &result->worlds[i], &result->motions[i], error ) )
            return false;
    for ( int g = 0; g < stage->grab_count && stage->grabs[g].layer < end; ++g )
        if ( !apply( stage, &stage->grabs[g], result, error ) )
            return false;
    return true;
}
