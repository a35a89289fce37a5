// From moved points to moved bodies. Every bone of a grabbed character is aimed along its moved joints, so
// that lengths stay what they are; a prop takes the rigid motion nearest to that of its corners.
#include "layer/private.h"

#include <assert.h>
#include <string.h>

typedef struct tr_aiming { // one character in some frames
    tr_fit fit;
    tr_fit_scratch scratch;
    tr_fit_frame *frames; // [chunk]
    tr_fit_result *results;
    vec3 *positions; // [chunk * joint_count]
    quat *rotations;
    int *stage_frames, count;
} tr_aiming;

void tr_posing_free( tr_moved_body *body )
{
    tr_aiming *a = body->aiming;
    if ( a == NULL )
        return;
    tr_fit_free( &a->fit );
    tr_fit_scratch_free( &a->scratch );
    tr_free( a->frames );
    tr_free( a->results );
    tr_free( a->positions );
    tr_free( a->rotations );
    tr_free( a->stage_frames );
    tr_free( a );
}

bool tr_posing_build( tr_cage_layer *l, tr_moved_body *body, tr_error *error )
{
    if ( body->node >= l->stage->actor_count )
        return true;
    tr_aiming *a = body->aiming = tr_alloc( 1, sizeof *a );
    if ( a == NULL )
        return tr_error_memory( error );
    const tr_skeleton *skeleton = &l->stage->actors[body->node].target;
    size_t frames = (size_t)l->chunk, cells = frames * (size_t)skeleton->joint_count;
    a->frames = tr_alloc( frames, sizeof( tr_fit_frame ) );
    a->results = tr_alloc( frames, sizeof( tr_fit_result ) );
    a->positions = tr_alloc( cells, sizeof( vec3 ) );
    a->rotations = tr_alloc( cells, sizeof( quat ) );
    a->stage_frames = tr_alloc( frames, sizeof( int ) );
    bool turns = body->lead < 0 || tr_result_turns( l->result, body->node ) != NULL;
    if ( a->frames == NULL || a->results == NULL || a->positions == NULL || a->rotations == NULL ||
         a->stage_frames == NULL || !turns )
        return tr_error_memory( error );
    return tr_fit_build( &a->fit, skeleton, &l->def.posing, error ) &&
           tr_fit_scratch_build( &a->scratch, &a->fit, 1, tr_parallel_threads(), error );
}

// Place of a body's root so that its pelvis is at the place that leads it.
static vec3 root_place( const tr_cage_layer *l, const tr_moved_body *body, int frame, vec3 pelvis, quat turn )
{
    const vec3 *below = tr_world_pose( &l->below->worlds[body->node], frame ).positions;
    return v3_add( pelvis, q_rotate( turn, v3_sub( below[0], below[tr_moved_root( l, body )] ) ) );
}

static void aim_frame( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    tr_aiming *a = body->aiming;
    assert( a->count < l->chunk );
    int joints = l->stage->actors[body->node].target.joint_count, n = a->count++;
    size_t at = (size_t)n * (size_t)joints;
    tr_pose below = tr_world_pose( &l->below->worlds[body->node], frame );
    quat turn = body->frames[frame - l->begin].turn;
    double drop = tr_room_drop( l, body, frame );
    memcpy( a->positions + at, below.positions, (size_t)joints * sizeof( vec3 ) );
    memcpy( a->rotations + at, below.rotations, (size_t)joints * sizeof( quat ) );
    for ( int p = body->first; p < body->first + body->count; ++p ) {
        size_t j = at + (size_t)l->bound[p].part;
        a->positions[j] = v3_mad( l->after[tr_layer_cell( l, frame, p )], -drop, v3_y );
        a->rotations[j] = q_mul( turn, a->rotations[j] );
    }
    if ( tr_moved_root( l, body ) > 0 )
        a->positions[at] =
            root_place( l, body, frame, a->positions[at + (size_t)tr_moved_root( l, body )], turn );
    a->stage_frames[n] = frame;
    a->frames[n] = ( tr_fit_frame ){ .start = tr_clip_frame( &l->below->motions[body->node].clip, frame ),
                                     .root = a->positions[at],
                                     .positions = a->positions + at,
                                     .rotations = a->rotations + at };
    a->results[n] =
        ( tr_fit_result ){ .local = tr_clip_frame( &l->result->motions[body->node].clip, frame ) };
}

// The body moves as one: bones need not be aimed.
static void pose_rigid( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    const tr_clip *in = &l->below->motions[body->node].clip;
    tr_clip *out = &l->result->motions[body->node].clip;
    quat turn = body->frames[frame - l->begin].turn;
    tr_clip_frame( out, frame )[0] = q_unit( q_mul( turn, tr_clip_frame( in, frame )[0] ) );
    vec3 pelvis =
        v3_mad( l->after[tr_layer_cell( l, frame, body->lead )], -tr_room_drop( l, body, frame ), v3_y );
    out->root[frame] = root_place( l, body, frame, pelvis, turn );
}

static quat local_rotation( const tr_skeleton *skeleton, tr_pose pose, int joint )
{
    return q_unit( q_mul( q_conj( pose.rotations[skeleton->joints[joint].parent] ), pose.rotations[joint] ) );
}

// Hands and feet are too small to be bent by a cage around the whole limb: they keep the way they are held
// against it. One that is grabbed without the limb above it turns with the cage.
static void keep_hands( const tr_cage_layer *l, int actor, tr_pose below, quat *local )
{
    const tr_skeleton *skeleton = &l->stage->actors[actor].target;
    const bool *grabbed = l->grab->joints[actor];
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        tr_role role = skeleton->joints[j].role;
        bool extremity =
            role == TR_ROLE_HAND || role == TR_ROLE_FINGER || role == TR_ROLE_FOOT || role == TR_ROLE_TOE;
        int above = extremity ? skeleton->joints[tr_extremity_carrier( skeleton, j )].parent : -1;
        if ( above >= 0 && grabbed[above] )
            local[j] = local_rotation( skeleton, below, j );
    }
}

// Positions of joints in frames [count] whose rotations and roots are there.
static void place_joints( tr_cage_layer *l, const tr_moved_body *body, const int *frames, int count )
{
    tr_motion *motion = &l->result->motions[body->node];
    for ( int n = 0; n < count; ++n )
        if ( !body->frames[frames[n] - l->begin].rigid )
            keep_hands( l, body->node, tr_world_pose( &l->below->worlds[body->node], frames[n] ),
                        tr_clip_frame( &motion->clip, frames[n] ) );
    tr_forward_frames( &motion->skeleton, &motion->clip, frames, count, &l->result->worlds[body->node] );
}

// Feet that stand keep the way they roll and tilt in the result below; about the vertical they turn with
// their step, not with the body above.
static void orient_feet( tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    tr_motion *motion = &l->result->motions[body->node];
    const tr_skeleton *skeleton = &motion->skeleton;
    tr_pose below = tr_world_pose( &l->below->worlds[body->node], frame ),
            pose = tr_world_pose( &l->result->worlds[body->node], frame );
    quat *local = tr_clip_frame( &motion->clip, frame );
    for ( int i = 0; i < body->foot_count; ++i ) {
        const tr_moved_foot *foot = &body->feet[i];
        for ( int j = foot->joint + 1; !body->frames[frame - l->begin].rigid && j < skeleton->joint_count;
              ++j )
            if ( tr_joint_is_above( skeleton, foot->joint, j ) )
                local[j] = local_rotation( skeleton, below, j );
        tr_ik_orient( skeleton, local, pose, foot->joint,
                      q_mul( q_axis_angle( v3_y, foot->own.turn ), below.rotations[foot->joint] ) );
    }
}

static void turn_body( tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    if ( body->lead < 0 )
        return;
    const double *below = l->below->turns[body->node];
    l->result->turns[body->node][frame] =
        ( below != NULL ? below[frame] : 0 ) + body->frames[frame - l->begin].yaw;
}

// Steps of feet, and poses aimed along the moved points.
static bool pose_actor( tr_cage_layer *l, tr_moved_body *body, const tr_some_frames *frames, tr_error *error )
{
    tr_aiming *a = body->aiming;
    bool *affected = l->affected + (size_t)body->node * (size_t)l->stage->frame_count;
    a->count = 0;
    for ( int f = frames->first; f <= frames->last; ++f ) {
        const tr_moved_frame *moved = tr_some_have( frames, f ) ? tr_moved_at( l, body, f ) : NULL;
        if ( moved == NULL || !moved->moves )
            continue;
        if ( moved->rigid )
            pose_rigid( l, body, f );
        else
            aim_frame( l, body, f );
        turn_body( l, body, f );
        affected[f] = true;
    }
    if ( a->count > 0 && !tr_fit_solve( &a->fit, &a->scratch, a->frames, a->results, a->count, error ) )
        return false;
    for ( int n = 0; n < a->count; ++n )
        l->result->motions[body->node].clip.root[a->stage_frames[n]] = a->results[n].root;
    a->count = 0;
    for ( int f = frames->first; f <= frames->last; ++f )
        if ( affected[f] && tr_some_have( frames, f ) )
            a->stage_frames[a->count++] = f;
    place_joints( l, body, a->stage_frames, a->count );
    for ( int f = frames->first; f <= frames->last; ++f ) {
        if ( !tr_some_have( frames, f ) )
            continue;
        bool moved = affected[f];
        affected[f] = tr_steps_frame( l, body, f ) || moved;
        if ( moved )
            orient_feet( l, body, f );
    }
    return true;
}

static tr_moved_frame carried_along( const tr_cage_layer *l, tr_step step )
{
    quat turn = q_axis_angle( v3_y, step.turn );
    return ( tr_moved_frame ){ .stamp = l->stamp,
                               .moves = !tr_step_is_none( step ),
                               .rigid = true,
                               .turn = turn,
                               .yaw = step.turn,
                               .heading = turn };
}

void tr_posing_follower( tr_cage_layer *l, tr_moved_body *body, const tr_some_frames *frames )
{
    const tr_clip *in = &l->below->motions[body->node].clip;
    tr_clip *out = &l->result->motions[body->node].clip;
    const double *turns = l->below->turns[body->node];
    bool *affected = l->affected + (size_t)body->node * (size_t)l->stage->frame_count;
    for ( int f = frames->first; f <= frames->last; ++f ) {
        if ( !tr_some_have( frames, f ) || f < l->begin || f >= l->begin + l->frame_count )
            continue;
        bool steps = tr_steps_frame( l, body, f );
        tr_step step = tr_follow_asked( body ) ? tr_follow_body( l, body, f ) : ( tr_step ){ 0 };
        tr_moved_frame *moved = &body->frames[f - l->begin];
        *moved = carried_along( l, step );
        affected[f] = steps || moved->moves;
        if ( !affected[f] )
            continue;
        tr_clip_frame( out, f )[0] = q_unit( q_mul( moved->turn, tr_clip_frame( in, f )[0] ) );
        out->root[f] = tr_step_apply( step, in->root[f] );
        l->result->turns[body->node][f] = ( turns != NULL ? turns[f] : 0 ) + moved->yaw;
        place_joints( l, body, &f, 1 );
        orient_feet( l, body, f );
    }
}

static void pose_prop( tr_cage_layer *l, tr_moved_body *body, const tr_some_frames *frames )
{
    int prop = body->node - l->stage->actor_count;
    bool *affected = l->affected + (size_t)body->node * (size_t)l->stage->frame_count;
    for ( int f = frames->first; f <= frames->last; ++f ) {
        if ( !tr_some_have( frames, f ) )
            continue;
        affected[f] = affected[f] || tr_moved_at( l, body, f )->moves;
        if ( f < l->begin || f >= l->begin + l->frame_count )
            continue;
        l->result->tracks[prop][f] = tr_layer_prop_place( l, body, f );
        body->path[f] = l->result->tracks[prop][f].position;
        *tr_cage_layer_touched( l, body->node, f ) = true;
    }
}

bool tr_posing_frames( tr_cage_layer *l, tr_moved_body *body, const tr_some_frames *frames, tr_error *error )
{
    if ( body->node < l->stage->actor_count )
        return pose_actor( l, body, frames, error );
    pose_prop( l, body, frames );
    return true;
}
