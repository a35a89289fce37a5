// Aligns the rest poses of source and target.
//
// World rotation of a target joint = that of its source joint · (source's rest)⁻¹ · posture · target's rest.
// Skeletons of different files rest in different postures (arms out, arms down, lying). The posture of a
// joint is the turn that lays the target's bones along the source's in the rest pose: the parent's posture,
// turned on by the least angle that brings the joint's own bone in line; where several bones hang on a joint,
// the turn that fits them best.
//
// Some files have no meaningful rest pose: every bone points along the same axis, and legs are folded along
// the back. The smallest turn of such a bone is nearly half a turn about an arbitrary axis. Then frames of
// the files replace the rest poses: the pair of poses whose bones need the smallest turns.

#include "actor/posture.h"

enum { MOST_BONES = 8 }; // bones of one joint that are compared: a pelvis or chest has at most five

vec3 tr_lateral_axis( const tr_skeleton *skeleton, const vec3 *positions )
{
    int left, right;
    if ( tr_skeleton_find_role( skeleton, TR_ROLE_THIGH, TR_SIDE_LEFT, &left, 1 ) == 0 ||
         tr_skeleton_find_role( skeleton, TR_ROLE_THIGH, TR_SIDE_RIGHT, &right, 1 ) == 0 )
        return v3_zero;
    return v3_unit( v3_sub( positions[left], positions[right] ) );
}

// Follows a child of a joint down to the first joint that is driven and has a bone of some length above it on
// both bodies. False if there is none.
static bool bone_below( const tr_rest_pair *rest, int joint, int child, vec3 *source, vec3 *target, int *end )
{
    const tr_actor *actor = rest->actor;
    int below = child;
    for ( int c = child; c < actor->target.joint_count; ++c ) {
        if ( c != child && actor->target.joints[c].parent != below )
            continue;
        *end = below = c;
        if ( actor->map[c] < 0 )
            continue;
        *source = v3_sub( tr_actor_source_place( actor, c, rest->source.positions ),
                          tr_actor_source_place( actor, joint, rest->source.positions ) );
        *target = v3_sub( rest->target.positions[c], rest->target.positions[joint] );
        if ( v3_length( *source ) > TR_SHORT_BONE && v3_length( *target ) > TR_SHORT_BONE )
            return true;
    }
    return false;
}

typedef struct bone_pairs { // the same ways on both bodies
    vec3 source[MOST_BONES], target[MOST_BONES];
    int below[MOST_BONES]; // the joint each leads to
    int count;
} bone_pairs;

static bone_pairs bones_of( const tr_rest_pair *rest, int joint )
{
    const tr_actor *actor = rest->actor;
    bone_pairs bones = { .count = 0 };
    for ( int c = joint + 1; c < actor->target.joint_count && bones.count < MOST_BONES; ++c )
        if ( actor->target.joints[c].parent == joint && actor->map[joint] >= 0 &&
             bone_below( rest, joint, c, &bones.source[bones.count], &bones.target[bones.count],
                         &bones.below[bones.count] ) )
            bones.count++;
    return bones;
}

static void add_pair( mat3 *moment, vec3 source, vec3 target )
{
    if ( v3_length( source ) <= TR_SHORT_BONE || v3_length( target ) <= TR_SHORT_BONE )
        return;
    vec3 s = v3_unit( source ), t = v3_unit( target );
    moment->cx = v3_mad( moment->cx, t.x, s );
    moment->cy = v3_mad( moment->cy, t.y, s );
    moment->cz = v3_mad( moment->cz, t.z, s );
}

// Whether any two of the directions span a plane.
static bool spread_out( const tr_rest_pair *rest, const vec3 *bones, int count )
{
    for ( int i = 1; i < count; ++i )
        if ( v3_length( v3_cross( v3_unit( bones[0] ), v3_unit( bones[i] ) ) ) > rest->def->least_spread )
            return true;
    return false;
}

// A chain of smallest turns depends on the poses between: from the chest to a hanging arm directly is not the
// same as by way of an arm held out. Arms always turn by way of the latter.
static quat lay_along( const tr_rest_pair *rest, int joint, vec3 from, vec3 to )
{
    const tr_joint *j = &rest->actor->target.joints[joint];
    bool arm = j->role == TR_ROLE_UPPER_ARM || j->role == TR_ROLE_FOREARM || j->role == TR_ROLE_HAND;
    vec3 out = v3_scale( j->side == TR_SIDE_RIGHT ? -1 : 1, rest->lateral );
    bool turned_in = v3_dot( v3_unit( from ), out ) < -0.5 || v3_dot( v3_unit( to ), out ) < -0.5;
    if ( !arm || j->side == TR_SIDE_NONE || v3_length( out ) < 0.5 || turned_in )
        return q_between( from, to );
    return q_mul( q_between( out, to ), q_between( from, out ) );
}

static double slope( const tr_rest_pair *rest, double drop, double length )
{
    return asin( clampd( drop / length, -rest->def->steepest, rest->def->steepest ) );
}

// Direction of the target's foot when its sole is as flat as the source's: the source's direction, turned
// down in the plane of foot and shin by as much as the target's foot is steeper when both stand.
static vec3 foot_way( const tr_rest_pair *rest, int joint, const bone_pairs *bones )
{
    const tr_actor *actor = rest->actor;
    int knee = actor->target.joints[joint].parent;
    tr_sole ankle = tr_actor_sole( actor, joint ), toe = tr_actor_sole( actor, bones->below[0] );
    if ( actor->target.joints[joint].role != TR_ROLE_FOOT || !ankle.known || !toe.known || knee < 0 )
        return bones->source[0];
    vec3 shin = v3_sub( tr_actor_source_place( actor, joint, rest->source.positions ),
                        tr_actor_source_place( actor, knee, rest->source.positions ) );
    vec3 axis = v3_cross( v3_unit_or( bones->source[0], v3_z ), v3_unit_or( shin, v3_z ) );
    if ( v3_length( axis ) < rest->def->least_plane )
        return bones->source[0];
    double steeper = slope( rest, ankle.target - toe.target, v3_length( bones->target[0] ) ) -
                     slope( rest, ankle.source - toe.source, v3_length( bones->source[0] ) );
    return q_rotate( q_axis_angle( axis, steeper ), bones->source[0] );
}

// A joint with several bones gets the turn that fits them and the lines between their ends best: hips follow
// the line between the legs, wherever a file has the pelvis.
static quat posture( const tr_rest_pair *rest, int joint, quat above )
{
    bone_pairs bones = bones_of( rest, joint );
    bool thumb_alone = bones.count == 1 && tr_joint_is_thumb( &rest->actor->target, bones.below[0] );
    if ( bones.count == 0 || thumb_alone ) // a thumb points its own way
        return above;
    if ( !spread_out( rest, bones.source, bones.count ) || !spread_out( rest, bones.target, bones.count ) )
        return q_mul(
            lay_along( rest, joint, q_rotate( above, bones.target[0] ), foot_way( rest, joint, &bones ) ),
            above );
    mat3 moment = { { 0 } };
    for ( int i = 0; i < bones.count; ++i ) {
        add_pair( &moment, bones.source[i], bones.target[i] );
        for ( int k = 0; k < i; ++k )
            add_pair( &moment, v3_sub( bones.source[i], bones.source[k] ),
                      v3_sub( bones.target[i], bones.target[k] ) );
    }
    return q_fit( moment );
}

static tr_effort find_postures( const tr_rest_pair *rest, quat *postures )
{
    tr_effort total = { 0, false };
    const tr_skeleton *target = &rest->actor->target;
    if ( tr_actor_legs_differ( rest->actor ) )
        return tr_stand_alike( rest, postures );
    bool whole = true; // still above the first joint that determines the turn of the whole body
    for ( int j = 0; j < target->joint_count; ++j ) {
        int parent = target->joints[j].parent;
        quat above = parent < 0 ? q_identity : postures[parent];
        postures[j] = posture( rest, j, above );
        double turn = q_angle( above, postures[j] );
        if ( !whole ) {
            total.sum += turn * turn;
            total.too_far = total.too_far || turn >= rest->def->most_turn;
        }
        whole = whole && ( parent < 0 || target->joints[j].role == TR_ROLE_ROOT );
    }
    return total;
}

// ------------------------------------------------------------------------------------------------- search

typedef struct search {
    tr_rest_pair rest;
    const tr_clip *source, *target; // clips of the files, without translations
    quat *postures;                 // [target joints]
} search;

static void pose_source( search *s, int frame ) // -1: the rest pose
{
    if ( frame < 0 )
        tr_forward_rest( &s->rest.actor->source.skeleton, s->rest.source );
    else
        tr_forward( &s->rest.actor->source.skeleton, s->source, frame, s->rest.source );
    s->rest.lateral = tr_lateral_axis( &s->rest.actor->source.skeleton, s->rest.source.positions );
}

static void pose_target( search *s, int frame )
{
    if ( frame < 0 )
        tr_forward_rest( &s->rest.actor->target, s->rest.target );
    else
        tr_forward( &s->rest.actor->target, s->target, frame, s->rest.target );
}

// Candidate 0 of n is the rest pose, the others are frames, the first and the last among them.
static int candidates( const tr_clip *clip, int most )
{
    return 1 + ( clip->frame_count < most ? clip->frame_count : most );
}

static int candidate_frame( const tr_clip *clip, int candidate, int count )
{
    if ( candidate == 0 || count == 2 )
        return candidate - 1;
    return (int)( (long long)( candidate - 1 ) * ( clip->frame_count - 1 ) / ( count - 2 ) );
}

// Leaves the poses to go by in s->rest and the postures in s->postures.
static void choose_poses( search *s, int reference )
{
    int best_source = reference, best_target = -1;
    pose_source( s, best_source );
    pose_target( s, best_target );
    tr_effort best = find_postures( &s->rest, s->postures );
    if ( reference >= 0 || !best.too_far )
        return;
    int sources = candidates( s->source, s->rest.def->source_frames ),
        targets = candidates( s->target, s->rest.def->target_frames );
    for ( int t = 0; t < targets; ++t ) {
        pose_target( s, candidate_frame( s->target, t, targets ) );
        for ( int c = 0; c < sources; ++c ) {
            pose_source( s, candidate_frame( s->source, c, sources ) );
            tr_effort found = find_postures( &s->rest, s->postures );
            if ( found.sum < best.sum ) {
                best = found;
                best_source = candidate_frame( s->source, c, sources );
                best_target = candidate_frame( s->target, t, targets );
            }
        }
    }
    pose_source( s, best_source );
    pose_target( s, best_target );
    find_postures( &s->rest, s->postures );
}

static void fill_align( tr_actor *actor, const search *s )
{
    const tr_pose *source = &s->rest.source;
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        quat to = q_mul( s->postures[j], s->rest.target.rotations[j] );
        actor->align[j] = q_mul( q_conj( source->rotations[actor->map[j] < 0 ? 0 : actor->map[j]] ), to );
        if ( tr_joint_blends( actor, j ) )
            actor->blends[j].align = q_mul( q_conj( source->rotations[actor->blends[j].next] ), to );
    }
}

// ------------------------------------------------------------------------------------------------ aligning

static void search_free( search *s )
{
    tr_free( s->rest.source.rotations );
    tr_free( s->rest.source.positions );
    tr_free( s->postures );
}

static bool search_build( search *s )
{
    const tr_actor *actor = s->rest.actor;
    size_t targets = (size_t)actor->target.joint_count, sources = (size_t)actor->source.skeleton.joint_count;
    s->rest.source.rotations = tr_alloc( sources + targets, sizeof( quat ) );
    s->rest.source.positions = tr_alloc( sources + targets, sizeof( vec3 ) );
    s->postures = tr_alloc( targets, sizeof( quat ) );
    if ( s->rest.source.rotations == NULL || s->rest.source.positions == NULL || s->postures == NULL )
        return false;
    s->rest.target = ( tr_pose ){ s->rest.source.rotations + sources, s->rest.source.positions + sources };
    return true;
}

static tr_clip without_translations( const tr_clip *clip )
{
    tr_clip out = *clip;
    out.translations = NULL; // the bones have settled
    return out;
}

bool tr_actor_align( tr_actor *actor, const tr_posture_def *def, const tr_clip *source, const tr_clip *target,
                     int reference, tr_error *error )
{
    tr_clip none = { 0 }, source_clip = without_translations( source ),
            target_clip = without_translations( target != NULL ? target : &none );
    search s = { .rest.def = def, .rest.actor = actor, .source = &source_clip, .target = &target_clip };
    actor->align = tr_alloc( (size_t)actor->target.joint_count, sizeof( quat ) );
    bool ok = actor->align != NULL && search_build( &s );
    if ( ok && target != NULL )
        choose_poses( &s, reference );
    else if ( ok ) { // the same skeleton: rest poses agree
        pose_source( &s, -1 );
        pose_target( &s, -1 );
        for ( int j = 0; j < actor->target.joint_count; ++j )
            s.postures[j] = q_identity;
    }
    if ( ok )
        fill_align( actor, &s );
    search_free( &s );
    return ok || tr_error_memory( error );
}
